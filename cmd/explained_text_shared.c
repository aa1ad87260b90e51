/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In words: who held the memory when it was tightest, and what ran beside what. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/explained_put.h"

/* --- memory ---------------------------------------------------------------------------------- */

static void put_holder(const struct explained *explained, const struct timeline_hold *hold)
{
    if (weir_is(hold->object)) {
        cmd_show(stdout, graph_object_name(explained->graph, hold->object));
    } else {
        fputs(pressure_is_staging(explained->graph, hold) ? "staging of " : "workspace of ",
              stdout);
        explained_put_node(explained, hold->node);
    }
    putchar(' ');
    explained_put_size(hold->bytes);
}

#define HOLDERS_SHOWN 4

static void print_domain(const struct explained *explained, uint32_t index)
{
    const struct pressure_domain *of = &explained->pressure[index];
    const struct graph_domain *domain = graph_domain(explained->graph, (weir_domain){index});
    char text[BYTE_NS_TEXT];

    fputs("  ", stdout);
    cmd_show(stdout, explained_domain(explained, (weir_domain){index}));
    fputs(": peak ", stdout);
    explained_put_size(of->peak_bytes);
    fputs(" of ", stdout);
    explained_put_size(domain->capacity_bytes - domain->reserve_bytes);
    if (!of->is_known) {
        puts("; its curve is not recorded");
        return;
    }
    fputs(", first at ", stdout);
    explained_put_at(of->peak_at_ns);
    fputs(", for ", stdout);
    explained_put_time(of->peak_for_ns);
    byte_ns_show(of->integral, text);
    printf(" in all; pressure-time %s\n", text);
    if (of->n_holders > 0) {
        printf("    held then, by %" PRIu64 ": ", of->n_held);
        for (uint32_t i = 0; i < of->n_holders && i < HOLDERS_SHOWN; i++) {
            fputs(i == 0 ? "" : ", ", stdout);
            put_holder(explained, &explained->timeline->holds[of->holders[i]]);
        }
        puts(of->n_held > HOLDERS_SHOWN ? ", ..." : "");
    }
    if (of->n_stagings > 0) {
        byte_ns_show(of->staging_integral, text);
        printf("    staging: %" PRIu64 " times, pressure-time %s, the longest ", of->n_stagings,
               text);
        explained_put_time(of->staging_longest_ns);
        fputs(" of ", stdout);
        explained_put_node(explained, of->staging_longest);
        putchar('\n');
    }
}

void explained_print_pressure(const struct explained *explained)
{
    if (explained->timeline->n_domains > 0) {
        puts("\nmemory");
    }
    for (uint32_t i = 0; i < explained->timeline->n_domains; i++) {
        print_domain(explained, i);
    }
}

/* --- overlap --------------------------------------------------------------------------------- */

static void put_class(const struct explained *explained, weir_class class_)
{
    const char *name = explained_class(explained, class_);

    cmd_show(stdout, name[0] == '\0' ? "no class" : name);
}

#define PAIRS_SHOWN 10

/* The pair after @p last in falling order of time, then as they stand; n_pairs when there is none. */
static size_t next_pair(const struct overlaps *overlaps, size_t last)
{
    size_t best = overlaps->n_pairs;

    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        int64_t ns = overlaps->pairs[i].overlap_ns;
        int64_t last_ns = last == SIZE_MAX ? INT64_MAX : overlaps->pairs[last].overlap_ns;
        bool is_later = last == SIZE_MAX || ns < last_ns || (ns == last_ns && i > last);

        if (is_later && (best == overlaps->n_pairs || ns > overlaps->pairs[best].overlap_ns)) {
            best = i;
        }
    }
    return best;
}

static void print_pairs(const struct explained *explained)
{
    const struct overlaps *overlaps = &explained->overlaps;
    size_t at = SIZE_MAX;

    if (overlaps->n_pairs == 0) {
        puts("\noverlap: nothing ran beside anything");
        return;
    }
    puts("\noverlap, summed over pairs of nodes");
    for (int i = 0; i < PAIRS_SHOWN; i++) {
        at = next_pair(overlaps, at);
        if (at == overlaps->n_pairs) {
            break;
        }
        explained_begin_row(explained, overlaps->pairs[at].overlap_ns);
        put_class(explained, overlaps->pairs[at].a);
        fputs(" beside ", stdout);
        put_class(explained, overlaps->pairs[at].b);
        puts(explained->is_hypothetical != NULL && explained->is_hypothetical[at]
                 ? ": hypothetical, nobody knows what that does"
                 : "");
    }
    if (overlaps->n_pairs > PAIRS_SHOWN) {
        printf("  and %zu pairs of classes more: weir export csv overlaps lists them\n",
               overlaps->n_pairs - PAIRS_SHOWN);
    }
}

static void print_kappa(const struct explained *explained, uint32_t index)
{
    const struct overlap_kappa *kappa = &explained->overlaps.kappa[index];
    weir_class class_ = {index == explained->overlaps.n_classes ? WEIR_NONE : index};

    if (kappa->isolated_ns == 0 || kappa->worst_ratio <= 1) {
        return;
    }
    printf("  %.3f  ", (double)kappa->ran_ns / (double)kappa->isolated_ns);
    put_class(explained, class_);
    printf(" over %" PRIu32 " node%s; at most %.3f, of ", kappa->n_nodes,
           kappa->n_nodes == 1 ? "" : "s", kappa->worst_ratio);
    explained_put_node(explained, kappa->worst);
    putchar('\n');
}

void explained_print_overlaps(const struct explained *explained)
{
    bool is_slowed = false;

    print_pairs(explained);
    for (uint32_t i = 0; i <= explained->overlaps.n_classes; i++) {
        is_slowed |= explained->overlaps.kappa[i].worst_ratio > 1;
    }
    if (!is_slowed) {
        return;
    }
    puts("\nkappa: so many times longer than alone");
    for (uint32_t i = 0; i <= explained->overlaps.n_classes; i++) {
        print_kappa(explained, i);
    }
}
