/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explains a run, in words: what its makespan is made of, what no schedule beats, and a few lines
 * of it all. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/explained_put.h"

/* --- what the makespan is made of ------------------------------------------------------------ */

static void print_link(const struct explained *explained, size_t at)
{
    const struct run_link *link = &explained->links[at];

    explained_begin_row(explained, link->finish_ns - link->start_ns);
    explained_put_node(explained, link->node);
    fputs(" on ", stdout);
    explained_put_engine(explained, graph_node_engine(explained->graph, link->node));
    fputs(", from ", stdout);
    explained_put_at(link->start_ns);
    if (at == 0) {
        printf(" (%s)\n", link->cause);
        return;
    }
    fputs(", after ", stdout);
    explained_put_node(explained, explained->links[at - 1].node);
    printf(" (%s%s%s)\n", link->cause, link->via == NULL ? "" : ": ",
           link->via == NULL ? "" : link->via);
}

/* Longest first: kinds of what ran on the chain, as a remark. */
static void put_kinds(const struct makeup *makeup)
{
    const char *before = " (";
    bool is_done[NODE_KINDS] = {false};

    for (;;) {
        int most = -1;

        for (int i = 0; i < NODE_KINDS; i++) {
            if (!is_done[i] && makeup->kind_ns[i] > 0 &&
                (most < 0 || makeup->kind_ns[i] > makeup->kind_ns[most])) {
                most = i;
            }
        }
        if (most < 0) {
            break;
        }
        is_done[most] = true;
        printf("%s%s ", before, node_kind_name((enum node_kind)most));
        explained_put_time(makeup->kind_ns[most]);
        before = ", ";
    }
    puts(before[0] == ',' ? ")" : "");
}

static void print_stretch(const struct explained *explained, const struct makeup_stretch *stretch)
{
    const struct run_link *first = &explained->links[stretch->first];
    const struct run_link *last = first + stretch->n_links - 1;

    explained_begin_row(explained, stretch->finish_ns - stretch->start_ns);
    explained_put_engine(explained, stretch->engine);
    fputs(": ", stdout);
    explained_put_node(explained, first->node);
    if (stretch->n_links > 1) {
        fputs(stretch->n_links > 2 ? " ... " : ", ", stdout);
        explained_put_node(explained, last->node);
        printf(" (%zu nodes)", stretch->n_links);
    }
    fputs(", from ", stdout);
    explained_put_at(stretch->start_ns);
    printf(": %s\n", stretch->cause);
}

static void print_stretches(const struct explained *explained)
{
    size_t n = explained->makeup.n_stretches;

    printf("\nthe critical chain%s, in the order of time\n",
           n > explained->n_stretches ? ": its longest stretches" : "");
    for (size_t i = 0; i < explained->n_stretches; i++) {
        print_stretch(explained, &explained->makeup.stretches[explained->stretches[i]]);
    }
    if (n > explained->n_stretches) {
        printf("  of %zu in all\n", n);
    }
}

void explained_print_makeup(const struct explained *explained)
{
    const struct makeup *makeup = &explained->makeup;

    if (explained->n_links == 0) {
        puts("\nnothing ran");
        return;
    }
    fputs("\nwhat the makespan is made of", stdout);
    put_kinds(makeup);
    for (uint32_t i = 0; i < makeup->n_engines; i++) {
        const struct makeup_engine *engine = &makeup->engines[i];

        explained_begin_row(explained, engine->ran_ns);
        printf("%" PRIu64 " node%s on ", engine->n_links, engine->n_links == 1 ? "" : "s");
        explained_put_engine(explained, engine->engine);
        putchar('\n');
    }
    for (int i = 0; i < STALL_CAUSES; i++) {
        if (makeup->waited_ns[i] > 0) {
            explained_begin_row(explained, makeup->waited_ns[i]);
            printf("waiting: %s\n", stall_cause_name((enum stall_cause)i));
        }
    }
    print_stretches(explained);
    if (explained->n_links > makeup->n_stretches) {
        puts("\nits costliest links");
        for (uint32_t i = 0; i < makeup->n_longest; i++) {
            print_link(explained, makeup->longest[i]);
        }
    }
}

/* --- bounds ---------------------------------------------------------------------------------- */

/* "at least 3 ms by engine gpu" */
static void put_bound(int64_t ns, const char *by, const char *name)
{
    fputs(", ", stdout);
    explained_put_time(ns);
    printf(" by %s", by);
    cmd_show(stdout, name);
}

void explained_print_bounds(const struct explained *explained)
{
    int64_t makespan_ns = explained->timeline->makespan_ns, most_ns = -1;
    uint32_t most = 0;

    if (!explained->has_bounds) {
        return;
    }
    fputs("no schedule is shorter than ", stdout);
    explained_put_time(explained->bounds.bound_ns);
    fputs(": ", stdout);
    explained_put_time(explained->precedence_ns);
    fputs(" by precedence and releases", stdout);
    for (uint32_t i = 0; i < graph_n_engines(explained->graph); i++) {
        if (explained->bounds.engines[i].bound_ns > most_ns &&
            explained->bounds.engines[i].n_nodes > 0) {
            most_ns = explained->bounds.engines[i].bound_ns;
            most = i;
        }
    }
    if (most_ns >= 0) {
        put_bound(most_ns, "engine ", explained_engine(explained, (weir_engine){most}));
    }
    if (explained->bounds.bound_ns > 0 && explained->timeline->status == RUN_COMPLETE) {
        printf(" (this run: %.2f times that)",
               (double)makespan_ns / (double)explained->bounds.bound_ns);
    }
    putchar('\n');
}

/* --- in brief ------------------------------------------------------------------------------- */

#define BRIEF_ENGINES 6

static void print_brief_chain(const struct explained *explained)
{
    const struct makeup *makeup = &explained->makeup;
    const char *before = "  made of         ";
    int64_t makespan_ns = explained->timeline->makespan_ns;

    for (uint32_t i = 0; i < makeup->n_engines && i < BRIEF_ENGINES; i++) {
        if (makeup->engines[i].ran_ns > 0) {
            fputs(before, stdout);
            explained_put_time(makeup->engines[i].ran_ns);
            fputs(" on ", stdout);
            explained_put_engine(explained, makeup->engines[i].engine);
            before = ", ";
        }
    }
    if (makespan_ns > makeup->ran_ns && explained->n_links > 0) {
        fputs(before, stdout);
        explained_put_time(makespan_ns - makeup->ran_ns);
        fputs(" of waiting", stdout);
        before = ", ";
    }
    fputs(before[0] == ',' ? "\n" : "", stdout);
}

static void print_brief_stalls(const struct explained *explained)
{
    const struct stalls *stalls = &explained->stalls;
    uint32_t n_shown = 0, n_more = 0;

    for (uint32_t i = 0; i < stalls->n_engines; i++) {
        const struct stall_engine *engine = &stalls->engines[i];

        if (engine->exposed_ns == 0) {
            continue;
        }
        if (n_shown == BRIEF_ENGINES) {
            n_more++;
            continue;
        }
        n_shown++;
        fputs("  stalled: ", stdout);
        explained_put_engine(explained, (weir_engine){i});
        putchar(' ');
        explained_put_time(engine->exposed_ns);
        explained_put_causes(engine->by_cause_ns);
        putchar('\n');
    }
    if (n_more > 0) {
        printf("  stalled         and %" PRIu32 " engines more: weir explain tells\n", n_more);
    }
}

void explained_print_brief(const struct explained *explained)
{
    const struct waiting *waiting = &explained->waiting;

    print_brief_chain(explained);
    print_brief_stalls(explained);
    if (waiting->n_longest > 0) {
        fputs("  longest wait    ", stdout);
        explained_put_time(waiting->longest_ns);
        fputs(", by ", stdout);
        explained_put_node(explained, waiting->longest[0].node);
        putchar('\n');
    }
    if (waiting->has_bound) {
        printf("  starved         %" PRIu64 " node%s waited longer than the bound\n",
               waiting->n_over, waiting->n_over == 1 ? "" : "s");
    }
}
