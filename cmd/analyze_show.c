/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir analyze prints for a person. */
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "cmd/analyze_internal.h"

const char *analyze_name(const struct analyzed *analyzed, weir_node node)
{
    return weir_is(node) ? graph_node_name(analyzed->graph, node) : "-";
}

const char *analyze_domain_name(const struct analyzed *analyzed, weir_domain domain)
{
    return weir_is(domain)
               ? graph_text(analyzed->graph, graph_domain(analyzed->graph, domain)->name)
               : "-";
}

const char *analyze_verdict_name(enum analyze_verdict verdict)
{
    static const char *const names[] = {"free", "unknown", "short"};

    return names[verdict];
}

const char *analyze_fallback(const struct graph *graph, weir_node node)
{
    struct graph_node value;

    graph_node(graph, node, &value);
    switch (value.fallback) {
    case FALLBACK_NONE:
        return "none";
    case FALLBACK_NODE:
        return graph_node_name(graph, value.fallback_node);
    case FALLBACK_WAIT:
        return "wait";
    case FALLBACK_FAIL:
        return "fail";
    }
    return "none";
}

/* A time in a column of 12, "-" for never. */
static void put_time(int64_t ns)
{
    char text[NUMBER_TEXT_BYTES] = "-";

    if (ns != ANALYZE_NEVER) {
        number_time_text(ns < 0 ? -ns : ns, text);
    }
    printf(" %s%*s", ns < 0 ? "-" : "", ns < 0 ? 11 : 12, text);
}

static void put_name(const char *name)
{
    putchar(' ');
    cmd_show(stdout, name);
}

static void put_more(uint32_t n, uint32_t limit)
{
    if (n > limit) {
        printf("  ... %" PRIu32 " more; --limit 0 shows all\n", n - limit);
    }
}

static void print_path(const struct analyzed *analyzed)
{
    char text[NUMBER_TEXT_BYTES];

    number_time_text(analyzed->critical_path_ns, text);
    printf("critical path: %s over %" PRIu32 " nodes (start, length)\n", text, analyzed->n_path);
    for (uint32_t i = 0; i < analyzed->n_path && i < analyzed->limit; i++) {
        uint32_t node = analyzed->path[i].index;

        putchar(' ');
        put_time(analyzed->analysis.earliest_ns[node]);
        put_time(analyzed->analysis.length_ns[node]);
        putchar(' ');
        put_name(analyze_name(analyzed, analyzed->path[i]));
        putchar('\n');
    }
    put_more(analyzed->n_path, analyzed->limit);
}

static void print_bounds(const struct analyzed *analyzed)
{
    const struct graph *graph = analyzed->graph;

    printf("no schedule ends before\n ");
    put_time(analyzed->analysis.end_ns);
    printf("  by precedence and releases\n");
    for (uint32_t i = 0; i < graph_n_engines(graph); i++) {
        const struct analyze_engine *engine = &analyzed->bounds.engines[i];
        char work[NUMBER_TEXT_BYTES];

        if (engine->n_nodes == 0) {
            continue;
        }
        number_time_text(engine->work_ns, work);
        putchar(' ');
        put_time(engine->bound_ns);
        printf("  by engine");
        put_name(graph_text(graph, graph_engine(graph, (weir_engine){i})->name));
        printf(", %s of work", work);
        if (engine->bytes_ns >= 0 && engine->bytes > 0) {
            char bytes[NUMBER_TEXT_BYTES], at[NUMBER_TEXT_BYTES];

            number_size_text(engine->bytes, bytes);
            number_time_text(engine->bytes_ns, at);
            printf("; %s at its bandwidth take %s", bytes, at);
        }
        putchar('\n');
    }
    for (uint32_t i = 0; i < graph_n_resources(graph); i++) {
        if (analyzed->bounds.resource_ns[i] > 0) {
            putchar(' ');
            put_time(analyzed->bounds.resource_ns[i]);
            printf("  by resource");
            put_name(graph_text(graph, graph_resource(graph, (weir_resource){i})->name));
            printf(", when it is shared\n");
        }
    }
}

/* In program order. */
static void print_windows(const struct analyzed *analyzed)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph_n_nodes(analyzed->graph); i++) {
        weir_node node = {i};
        enum analyze_window window = analyze_window(&analyzed->analysis, &analyzed->slow, node);

        if (window == WINDOW_NONE) {
            continue;
        }
        if (n == 0) {
            printf("windows of nodes with a deadline (earliest start, latest start)\n");
        }
        if (n++ < analyzed->limit) {
            putchar(' ');
            put_time(analyzed->analysis.earliest_ns[i]);
            put_time(analyzed->analysis.due_ns[i]);
            printf("  %-9s", analyze_window_name(window));
            put_name(analyze_name(analyzed, node));
            printf(", fallback");
            put_name(analyze_fallback(analyzed->graph, node));
            putchar('\n');
        }
    }
    put_more(n, analyzed->limit);
}

static void print_life(const struct analyzed *analyzed, uint32_t index)
{
    const struct bind_copy *copy = bind_copy(analyzed->binding, (weir_copy){index});
    const struct analyze_life *life = &analyzed->lives[index];
    char bytes[NUMBER_TEXT_BYTES];

    number_size_text(copy->bytes, bytes);
    putchar(' ');
    put_time(life->begin_ns);
    put_time(life->reclaim_ready_ns);
    put_time(life->end_ns < 0 ? ANALYZE_NEVER : life->end_ns);
    printf("  %9s ", bytes);
    put_name(graph_object_name(analyzed->graph, copy->object));
    printf(" in");
    put_name(analyze_domain_name(analyzed, copy->domain));
    if (weir_is(life->ready_by)) {
        printf(", kept by %s", analyze_role_name(life->role));
        put_name(analyze_name(analyzed, life->ready_by));
    }
    if (weir_is(life->late_by)) {
        printf(", held on by");
        put_name(analyze_name(analyzed, life->late_by));
    }
    putchar('\n');
}

static void print_lives(const struct analyzed *analyzed)
{
    uint32_t n = bind_n_copies(analyzed->binding);

    if (n > 0) {
        printf("copies, largest first (earliest begin, reclaimable, earliest end)\n");
    }
    for (uint32_t i = 0; i < n && i < analyzed->limit; i++) {
        print_life(analyzed, analyzed->largest[i]);
    }
    put_more(n, analyzed->limit);
}

static void print_progress(const struct analyzed *analyzed)
{
    const struct analyze_progress *progress = &analyzed->progress;
    char held[NUMBER_TEXT_BYTES], need[NUMBER_TEXT_BYTES], room[NUMBER_TEXT_BYTES];

    number_size_text(progress->held_bytes, held);
    number_size_text(progress->need_bytes, need);
    number_size_text(progress->room_bytes, room);
    printf("progress: ");
    if (progress->verdict == PROGRESS_FREE) {
        printf("proved: no schedule is stuck for want of bytes%s\n",
               progress->fits_at_once ? "; all of them fit at once" : "");
    } else if (!weir_is(progress->domain)) {
        printf("unknown: nodes wait in a circle for what leads to them, and for whether they are "
               "needed as a fallback\n");
    } else if (progress->verdict == PROGRESS_UNKNOWN) {
        printf("unknown:");
        put_name(analyze_name(analyzed, progress->node));
        printf(" needs %s in", need);
        put_name(analyze_domain_name(analyzed, progress->domain));
        printf(", where up to %s of %s may be held by then\n", held, room);
    } else if (weir_is(progress->node)) {
        printf("none: with");
        put_name(analyze_name(analyzed, progress->node));
        printf(" %s more than the %s that stay are live in", need, held);
        put_name(analyze_domain_name(analyzed, progress->domain));
        printf(", which has %s\n", room);
    } else {
        printf("none: the initial copies take %s in", need);
        put_name(analyze_domain_name(analyzed, progress->domain));
        printf(", which has %s\n", room);
    }
}

/* --- what is asked for --- */

static void print_touches(const struct analyzed *analyzed)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(analyzed->binding, analyzed->node, &n);

    for (uint32_t i = 0; i < n; i++) {
        printf("  %s%s%s%s%s", (touches[i].roles & BIND_READS) != 0 ? "reads " : "",
               (touches[i].roles & BIND_FILLS) != 0 ? "fills " : "",
               (touches[i].roles & BIND_ALLOCATES) != 0 ? "allocates " : "",
               (touches[i].roles & BIND_RECLAIMS) != 0 ? "reclaims " : "",
               (touches[i].roles & BIND_HOLDS) != 0 ? "holds " : "");
        printf("(earliest begin, reclaimable, earliest end)\n");
        print_life(analyzed, touches[i].copy.index);
    }
}

static void print_fact(const char *what, int64_t ns)
{
    printf("  %-15s", what);
    put_time(ns);
    putchar('\n');
}

static void print_node(const struct analyzed *analyzed)
{
    const struct analysis *analysis = &analyzed->analysis;
    uint32_t i = analyzed->node.index;

    printf("node");
    put_name(analyze_name(analyzed, analyzed->node));
    printf(", %s%s\n", node_kind_name(graph_node_kind(analyzed->graph, analyzed->node)),
           analysis->is_standby[i] ? ", runs only where another gives way" : "");
    print_fact("length", analysis->length_ns[i]);
    print_fact("earliest start", analysis->earliest_ns[i]);
    print_fact("latest start", analysis->latest_ns[i]);
    print_fact("slack", analysis->latest_ns[i] - analysis->earliest_ns[i]);
    print_fact("due start", analysis->due_ns[i]);
    printf("  window          %12s, fallback",
           analyze_window_name(analyze_window(analysis, &analyzed->slow, analyzed->node)));
    put_name(analyze_fallback(analyzed->graph, analyzed->node));
    printf("\n  waits for      ");
    put_name(analyze_name(analyzed, (weir_node){analysis->bound_by[i]}));
    putchar('\n');
    print_touches(analyzed);
}

static void print_chain(const struct analyzed *analyzed, const weir_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < analyzed->limit; i++) {
        printf("%s", i == 0 ? "" : " ->");
        put_name(analyze_name(analyzed, nodes[i]));
    }
    printf("%s\n", n > analyzed->limit ? " -> ..." : "");
}

static void print_order(const struct analyzed *analyzed)
{
    weir_node early = analyzed->is_after ? analyzed->second : analyzed->first;
    weir_node late = analyzed->is_after ? analyzed->first : analyzed->second;

    cmd_show(stdout, analyze_name(analyzed, early));
    if (!analyzed->is_before && !analyzed->is_after) {
        printf(" and");
        put_name(analyze_name(analyzed, late));
        printf(" are not ordered: they may run at the same time\n");
        return;
    }
    printf(" has finished whenever");
    put_name(analyze_name(analyzed, late));
    printf(" starts:");
    print_chain(analyzed, analyzed->order_path, analyzed->n_order_path);
}

static void print_circle(const struct analyzed *analyzed)
{
    printf("run %" PRId64 ", %s: %" PRIu32 " waits for bytes; with precedence they %s",
           analyzed->run->id, run_status_name(analyzed->run->timeline->status), analyzed->n_waits,
           analyzed->n_circle > 0 ? "close a circle:" : "close no circle\n");
    if (analyzed->n_circle > 0) {
        print_chain(analyzed, analyzed->circle, analyzed->n_circle);
    }
}

void analyze_print(const struct analyzed *analyzed)
{
    if (weir_is(analyzed->node)) {
        print_node(analyzed);
    }
    if (weir_is(analyzed->first)) {
        print_order(analyzed);
    }
    if (analyzed->run != NULL) {
        print_circle(analyzed);
    }
    if (weir_is(analyzed->node) || weir_is(analyzed->first) || analyzed->run != NULL) {
        return;
    }
    print_path(analyzed);
    print_bounds(analyzed);
    print_windows(analyzed);
    print_lives(analyzed);
    print_progress(analyzed);
    if (analyzed->analysis.n_unknown > 0) {
        printf("%" PRIu32 " node%s an unknown length, taken as 0\n", analyzed->analysis.n_unknown,
               analyzed->analysis.n_unknown == 1 ? " has" : "s have");
    }
}
