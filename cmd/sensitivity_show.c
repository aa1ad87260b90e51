/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir sensitivity prints for a person. */
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "cmd/sensitivity_internal.h"

/* A time in a column of 12. */
static void put_time(int64_t ns)
{
    char text[NUMBER_TEXT_BYTES + 1] = "-";

    number_time_text(ns < 0 ? -ns : ns, text + 1);
    printf(" %12s", ns < 0 ? text : text + 1);
}

static void put_dash(void)
{
    printf(" %12s", "-");
}

static void put_variant(const struct sensitive *s, uint32_t variant)
{
    if (variant == WEIR_NONE || s->variants[variant].end != VARIANT_COMPLETE)
        put_dash();
    else
        put_time(sensitive_saves_ns(s, variant));
}

static const char *verdict_text(enum sensitive_verdict verdict)
{
    static const char *const texts[] = {"",
                                        "",
                                        "  (dispatch saves more)",
                                        "  (dispatch saves less)",
                                        "  (with dispatch the run ends later)",
                                        "  (with dispatch the run does not complete)"};

    return texts[verdict];
}

static void put_more(uint32_t n, uint32_t n_shown)
{
    if (n > n_shown)
        printf("  ... %" PRIu32 " more; --limit 0 shows all\n", n - n_shown);
}

/* ---- fixed order ---- */

static void show_nodes(const struct sensitive *s)
{
    const struct graph *graph = plan_graph(s->scenario.plan);
    bool has_dispatch = !s->is_fixed && s->top > 0;

    printf("\nwithout one node the run takes so much less; %" PRIu32 " of %" PRIu32
           " that take time save something in fixed order\n",
           s->n_saving, s->n_timed);
    if (has_dispatch)
        printf("%26s %25s\n", "in fixed order", "with dispatch");
    printf(" %12s %12s", "all of it", "half of it");
    if (has_dispatch)
        printf(" %12s %12s", "all of it", "half of it");
    printf(" %12s %12s  node\n", "length", "slack");
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct sensitive_node *node = &s->nodes[i];

        put_time(node->saves_ns);
        put_time(node->half_saves_ns);
        if (has_dispatch) {
            put_variant(s, node->gone);
            put_variant(s, node->half);
        }
        put_time(node->length_ns);
        put_time(node->slack_ns);
        fputs("  ", stdout);
        cmd_show(stdout, graph_node_name(graph, node->node));
        puts(verdict_text(sensitive_verdict(s, node)));
    }
    put_more(s->n_timed, s->n_nodes);
}

static void show_groups(const struct sensitive *s, const struct sensitive_groups *groups,
                        const char *what,
                        const char *(*name)(const struct sensitive *, uint32_t group))
{
    if (groups->n_rows == 0)
        return;
    printf("\nwithout all nodes of one %s, in fixed order\n", what);
    printf(" %12s %12s %12s  %s\n", "saves", "their time", "nodes", what);
    for (uint32_t i = 0; i < groups->n_rows; i++) {
        put_time(groups->rows[i].saves_ns);
        put_time(groups->rows[i].length_ns);
        printf(" %12" PRIu32 "  ", groups->rows[i].n_nodes);
        cmd_show(stdout, name(s, groups->rows[i].group));
        putchar('\n');
    }
}

/* ---- resources ---- */

static const char *change_text(enum variant_kind kind)
{
    switch (kind) {
    case VARIANT_NODE_GONE:
    case VARIANT_NODE_HALF:
        return "";
    case VARIANT_ENGINE_FASTER:
        return "engine %: twice as fast";
    case VARIANT_ENGINE_SLOT:
        return "engine %: one slot more";
    case VARIANT_ENGINE_WIDER:
        return "engine %: twice the bandwidth";
    case VARIANT_ENGINE_PROMPT:
        return "engine %: no latency";
    case VARIANT_DOMAIN_MORE:
        return "domain %: a tenth more capacity";
    case VARIANT_DOMAIN_ENDLESS:
        return "domain %: no limit";
    case VARIANT_DOMAIN_LESS:
        return "domain %: a tenth less capacity";
    case VARIANT_RESOURCE_WIDER:
        return "resource %: twice the capacity";
    case VARIANT_NO_CONTENTION:
        return "no contention";
    }
    return "";
}

/* The name stands where the text has a "%". */
static void put_change(const struct sensitive *s, const struct variant *variant)
{
    const char *text = change_text(variant->kind), *at = strchr(text, '%');

    if (at == NULL) {
        fputs(text, stdout);
        return;
    }
    printf("%.*s", (int)(at - text), text);
    cmd_show(stdout, sensitive_resource(s, variant));
    fputs(at + 1, stdout);
}

static void show_resource(const struct sensitive *s, uint32_t number)
{
    const struct variant *variant = &s->variants[number];
    bool is_complete = variant->end == VARIANT_COMPLETE;

    if (is_complete && sensitive_is_complete(s))
        put_time(sensitive_saves_ns(s, number));
    else
        put_dash();
    if (is_complete)
        put_time(variant->makespan_ns);
    else
        put_dash();
    fputs("  ", stdout);
    put_change(s, variant);
    if (variant->end == VARIANT_STOPPED)
        printf(" (%s)", run_status_name(variant->status));
    if (variant->end == VARIANT_REFUSED) {
        fputs(" (refused: ", stdout);
        cmd_show(stdout, variant->why);
        putchar(')');
    }
    putchar('\n');
}

/* Is it worth a line? What changes nothing, or stops as the run does, is counted. */
static bool changes(const struct sensitive *s, uint32_t number)
{
    if (s->variants[number].end != VARIANT_COMPLETE)
        return sensitive_is_complete(s);
    return !sensitive_is_complete(s) || sensitive_saves_ns(s, number) != 0;
}

/* What costs is shown however little is asked for: it comes last. */
static void show_resources(const struct sensitive *s)
{
    uint32_t n = s->n_variants - s->n_of_nodes, n_left_out = 0, n_alike = 0, n_shown = 0;

    if (n == 0)
        return;
    puts("\nwith one resource changed, simulated again");
    printf(" %12s %12s  change\n", "saves", "makespan");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = s->ranked[i];

        if (!changes(s, number)) {
            n_alike++;
        } else if (n_shown >= s->limit && s->variants[number].end == VARIANT_COMPLETE &&
                   (!sensitive_is_complete(s) || sensitive_saves_ns(s, number) > 0)) {
            n_left_out++;
        } else {
            show_resource(s, number);
            n_shown++;
        }
    }
    if (n_left_out > 0)
        printf("  ... %" PRIu32 " more; --limit 0 shows all\n", n_left_out);
    if (n_alike > 0)
        printf("  %" PRIu32 " others %s\n", n_alike,
               sensitive_is_complete(s) ? "change nothing" : "do not complete either");
}

void sensitive_show(const struct sensitive *s)
{
    const struct timeline *timeline = s->result.timeline;
    char text[NUMBER_TEXT_BYTES];

    number_time_text(timeline->makespan_ns, text);
    printf("%s, policy %s, %" PRIu32 " nodes: %s %s\n", run_status_name(timeline->status),
           s->scenario.policy->name, graph_n_nodes(plan_graph(s->scenario.plan)),
           sensitive_is_complete(s) ? "makespan" : "stopped at", text);
    if (sensitive_is_complete(s)) {
        show_nodes(s);
        show_groups(s, &s->classes, "class", sensitive_class);
        show_groups(s, &s->origins, "origin", sensitive_origin);
    }
    show_resources(s);
}
