/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curve first, which says when the peak was; then the holds, of which those that span it count. */
#include "judge/pressure.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* Where the curve of a domain stands. */
struct level {
    int64_t bytes, since_ns;
};

/* The level lasted until then. */
static void close_level(struct pressure_domain *domain, const struct level *level, int64_t until_ns)
{
    int64_t for_ns = until_ns - level->since_ns;

    if (!domain->is_known || for_ns < 0) {
        return;
    }
    domain->integral += (byte_ns)level->bytes * for_ns;
    if (level->bytes == domain->peak_bytes) {
        domain->peak_for_ns += for_ns;
    }
}

static void open_level(struct pressure_domain *domain, struct level *level,
                       const struct timeline_pressure *row)
{
    if (!domain->is_known || row->bytes > domain->peak_bytes) {
        domain->peak_bytes = row->bytes;
        domain->peak_at_ns = row->t_ns;
        domain->peak_for_ns = 0;
    }
    domain->is_known = true;
    *level = (struct level){row->bytes, row->t_ns};
}

static enum weir_status follow_curves(const struct timeline *timeline,
                                      struct pressure_domain *domains, struct weir_error *err)
{
    struct level *levels = calloc((size_t)timeline->n_domains + 1, sizeof *levels);

    if (levels == NULL) {
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];

        if (row->domain.index < timeline->n_domains) {
            struct pressure_domain *domain = &domains[row->domain.index];

            close_level(domain, &levels[row->domain.index], row->t_ns);
            open_level(domain, &levels[row->domain.index], row);
        }
    }
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        close_level(&domains[i], &levels[i], timeline->makespan_ns);
    }
    free(levels);
    return WEIR_OK;
}

bool pressure_is_staging(const struct graph *graph, const struct timeline_hold *hold)
{
    struct graph_node node;

    if (weir_is(hold->object) || !weir_is(hold->node)) {
        return false;
    }
    graph_node(graph, hold->node, &node);
    return node.staging.bytes == hold->bytes &&
           weir_same(graph_charge_domain(graph, hold->node, &node.staging), hold->domain);
}

static void keep_holder(struct pressure_domain *domain, const struct timeline *timeline, size_t row)
{
    const struct timeline_hold *holds = timeline->holds;
    uint32_t at = domain->n_holders;

    if (at == PRESSURE_HOLDERS && holds[row].bytes <= holds[domain->holders[at - 1]].bytes) {
        return;
    }
    at -= at == PRESSURE_HOLDERS ? 1 : 0;
    for (; at > 0 && holds[row].bytes > holds[domain->holders[at - 1]].bytes; at--) {
        domain->holders[at] = domain->holders[at - 1];
    }
    domain->holders[at] = row;
    domain->n_holders += domain->n_holders < PRESSURE_HOLDERS ? 1 : 0;
}

static void add_staging(struct pressure_domain *domain, const struct timeline_hold *hold,
                        int64_t end_ns)
{
    int64_t for_ns = end_ns - hold->acquire_ns;

    domain->n_stagings++;
    domain->staging_integral += (byte_ns)hold->bytes * for_ns;
    if (__builtin_add_overflow(domain->staging_ns, for_ns, &domain->staging_ns)) {
        domain->staging_ns = INT64_MAX;
    }
    if (!weir_is(domain->staging_longest) || for_ns > domain->staging_longest_ns) {
        domain->staging_longest_ns = for_ns;
        domain->staging_longest = hold->node;
    }
}

static void add_hold(const struct graph *graph, const struct timeline *timeline,
                     struct pressure_domain *domain, size_t row)
{
    const struct timeline_hold *hold = &timeline->holds[row];
    int64_t end_ns = hold->release_ns < 0 ? timeline->makespan_ns : hold->release_ns;

    if (domain->is_known && hold->bytes > 0 && hold->acquire_ns <= domain->peak_at_ns &&
        (hold->release_ns < 0 || hold->release_ns > domain->peak_at_ns)) {
        domain->n_held++;
        domain->held_bytes += hold->bytes;
        keep_holder(domain, timeline, row);
    }
    if (!weir_is(hold->object) && pressure_is_staging(graph, hold)) {
        add_staging(domain, hold, end_ns > hold->acquire_ns ? end_ns : hold->acquire_ns);
    }
}

enum weir_status pressure_find(const struct graph *graph, const struct timeline *timeline,
                               struct pressure_domain **out, struct weir_error *err)
{
    struct pressure_domain *domains = calloc((size_t)timeline->n_domains + 1, sizeof *domains);
    enum weir_status status =
        domains == NULL ? weir_error_memory(err) : follow_curves(timeline, domains, err);

    if (status != WEIR_OK) {
        free(domains);
        return status;
    }
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        domains[i].staging_longest.index = WEIR_NONE;
        if (!domains[i].is_known) {
            domains[i].peak_bytes = timeline->peak_bytes[i];
        }
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        if (timeline->holds[i].domain.index < timeline->n_domains) {
            add_hold(graph, timeline, &domains[timeline->holds[i].domain.index], i);
        }
    }
    *out = domains;
    return WEIR_OK;
}

void byte_ns_text(byte_ns value, char out[BYTE_NS_TEXT])
{
    char digits[BYTE_NS_TEXT];
    size_t at = sizeof digits;
    bool is_negative = value < 0;

    do {
        int digit = (int)(value % 10);

        digits[--at] = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value != 0);
    if (is_negative) {
        digits[--at] = '-';
    }
    memcpy(out, digits + at, sizeof digits - at);
    out[sizeof digits - at] = '\0';
}

void byte_ns_show(byte_ns value, char out[BYTE_NS_TEXT])
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    double byte_s = (double)value / 1e9;
    int unit = 0;

    while (byte_s >= 1000 && unit < 6) {
        byte_s /= 1000;
        unit++;
    }
    (void)snprintf(out, BYTE_NS_TEXT, "%.3g %s s", byte_s, units[unit]);
}
