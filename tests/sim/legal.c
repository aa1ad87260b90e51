/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts and finishes by node; then each edge, each pair, each instant at which a node starts. */
#include "tests/sim/legal.h"

#include <string.h>

#include "tests/sim/draw_starts.h"
#include "tests/suite.h"

struct schedule {
    const struct scene *scene;
    const struct graph *graph;
    const struct binding *binding;
    int64_t start_ns[STARTS_NODES], finish_ns[STARTS_NODES]; /* -1: does not run */
    const char *text;
};

static bool runs(const struct schedule *schedule, weir_node node)
{
    return schedule->start_ns[node.index] >= 0;
}

static void check_edges(const struct schedule *schedule)
{
    for (uint32_t i = 0; i < graph_n_edges(schedule->graph); i++) {
        struct graph_edge edge;

        graph_edge(schedule->graph, (weir_edge){i}, &edge);
        if (runs(schedule, edge.producer) && runs(schedule, edge.consumer)) {
            int64_t from_ns = edge.is_from_start ? schedule->start_ns[edge.producer.index]
                                                 : schedule->finish_ns[edge.producer.index];

            ck_assert_int_ge(schedule->start_ns[edge.consumer.index], from_ns + edge.lag_ns);
        }
    }
    for (uint32_t i = 0; i < bind_n_edges(schedule->binding); i++) {
        const struct bind_edge *edge = &bind_edges(schedule->binding)[i];

        if (runs(schedule, edge->producer) && runs(schedule, edge->consumer)) {
            ck_assert_int_ge(schedule->start_ns[edge->consumer.index],
                             schedule->finish_ns[edge->producer.index]);
        }
    }
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        struct graph_node value;

        graph_node(schedule->graph, (weir_node){i}, &value);
        ck_assert(schedule->start_ns[i] < 0 || schedule->start_ns[i] >= value.release_ns);
    }
}

/* Does the name stand for the node or its class? */
static bool names(const struct graph *graph, weir_text name, weir_node node)
{
    weir_class class_ = graph_node_class(graph, node);
    const char *text = graph_text(graph, name);

    return strcmp(text, graph_node_name(graph, node)) == 0 ||
           (weir_is(class_) &&
            strcmp(text, graph_text(graph, graph_class_name(graph, class_))) == 0);
}

static bool is_forbidden(const struct schedule *schedule, weir_node a, weir_node b)
{
    for (uint32_t i = 0; i < graph_n_overlaps(schedule->graph); i++) {
        const struct graph_overlap *line = graph_overlap(schedule->graph, i);
        bool counts = line->rule == OVERLAP_FORBIDDEN ||
                      (line->rule == OVERLAP_UNKNOWN &&
                       schedule->scene->options.unknown_overlap == UNKNOWN_FORBID);

        if (counts &&
            ((names(schedule->graph, line->a, a) && names(schedule->graph, line->b, b)) ||
             (names(schedule->graph, line->a, b) && names(schedule->graph, line->b, a)))) {
            return true;
        }
    }
    return false;
}

static bool overlap(const struct schedule *schedule, uint32_t a, uint32_t b)
{
    return schedule->start_ns[a] < schedule->finish_ns[b] &&
           schedule->start_ns[b] < schedule->finish_ns[a] &&
           schedule->start_ns[a] < schedule->finish_ns[a] &&
           schedule->start_ns[b] < schedule->finish_ns[b];
}

static void check_overlaps(const struct schedule *schedule)
{
    uint32_t n = graph_n_nodes(schedule->graph);

    for (uint32_t i = 0; i < n; i++) {
        weir_engine engine = graph_node_engine(schedule->graph, (weir_node){i});
        int64_t n_beside = 0;

        for (uint32_t j = 0; j < n; j++) {
            if (i == j || schedule->start_ns[i] < 0 || schedule->start_ns[j] < 0) {
                continue;
            }
            if (overlap(schedule, i, j)) {
                ck_assert_msg(!is_forbidden(schedule, (weir_node){i}, (weir_node){j}),
                              "n%u and n%u overlap\n%s", i, j, schedule->text);
            }
            n_beside += weir_is(engine) && schedule->start_ns[i] < schedule->finish_ns[i] &&
                        weir_same(engine, graph_node_engine(schedule->graph, (weir_node){j})) &&
                        schedule->start_ns[j] <= schedule->start_ns[i] &&
                        schedule->finish_ns[j] > schedule->start_ns[i];
        }
        if (weir_is(engine)) {
            ck_assert_int_lt(n_beside, graph_engine(schedule->graph, engine)->slots);
        }
    }
}

/* When the copy begins and ends; false when it never lives, or stays. */
static void life_of(const struct schedule *schedule, weir_copy id, int64_t *begin_ns,
                    int64_t *end_ns, int64_t *last_use_ns)
{
    const struct bind_copy *copy = bind_copy(schedule->binding, id);

    *begin_ns = copy->is_initial ? 0 : INT64_MAX;
    *end_ns = *last_use_ns = 0;
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(schedule->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            if (touches[j].copy.index != id.index || schedule->start_ns[i] < 0) {
                continue;
            }
            if ((touches[j].roles & BIND_FILLS) != 0 && schedule->start_ns[i] < *begin_ns) {
                *begin_ns = schedule->start_ns[i];
            }
            *end_ns = schedule->finish_ns[i] > *end_ns ? schedule->finish_ns[i] : *end_ns;
            if ((touches[j].roles & (BIND_READS | BIND_FILLS)) != 0 &&
                schedule->finish_ns[i] > *last_use_ns) {
                *last_use_ns = schedule->finish_ns[i];
            }
        }
    }
    *end_ns = copy->stays || copy->n_uses == 0 ? INT64_MAX : *end_ns;
}

static int64_t bytes_at(const struct schedule *schedule, int64_t time_ns)
{
    int64_t bytes = 0, begin_ns, end_ns, last_use_ns;

    for (uint32_t i = 0; i < bind_n_copies(schedule->binding); i++) {
        life_of(schedule, (weir_copy){i}, &begin_ns, &end_ns, &last_use_ns);
        bytes += begin_ns <= time_ns && time_ns < end_ns
                     ? bind_copy(schedule->binding, (weir_copy){i})->bytes
                     : 0;
    }
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        struct graph_node value;
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(schedule->binding, (weir_node){i}, &n_touches);
        int64_t staged_ns = schedule->finish_ns[i];

        if (schedule->start_ns[i] < 0 || schedule->start_ns[i] > time_ns) {
            continue;
        }
        graph_node(schedule->graph, (weir_node){i}, &value);
        for (uint32_t j = 0; j < n_touches; j++) {
            if ((touches[j].roles & BIND_FILLS) != 0) {
                life_of(schedule, touches[j].copy, &begin_ns, &end_ns, &last_use_ns);
                staged_ns = last_use_ns > staged_ns ? last_use_ns : staged_ns;
            }
        }
        for (uint32_t j = 0; j < value.n_workspace && time_ns < schedule->finish_ns[i]; j++) {
            bytes += value.workspace[j].bytes;
        }
        bytes += time_ns < staged_ns && value.staging.bytes > 0 ? value.staging.bytes : 0;
    }
    return bytes;
}

static void check_bytes(const struct schedule *schedule)
{
    const struct graph_domain *domain = graph_domain(schedule->graph, (weir_domain){0});

    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        if (schedule->start_ns[i] >= 0) {
            int64_t bytes = bytes_at(schedule, schedule->start_ns[i]);

            ck_assert_msg(bytes <= domain->capacity_bytes, "%lld bytes when n%u starts at %lld\n%s",
                          (long long)bytes, i, (long long)schedule->start_ns[i], schedule->text);
        }
    }
}

/* The peak of that schedule, at every start and at 0, is what is told of it. */
static void check_peak(const struct schedule *schedule, int64_t told_bytes)
{
    int64_t peak = bytes_at(schedule, 0);

    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        int64_t bytes = schedule->start_ns[i] < 0 ? 0 : bytes_at(schedule, schedule->start_ns[i]);

        peak = bytes > peak ? bytes : peak;
    }
    ck_assert_msg(told_bytes == peak, "a peak of %lld is told, and it is %lld\n%s",
                  (long long)told_bytes, (long long)peak, schedule->text);
}

int64_t legal_peak(const struct retime_holds *holds, const int64_t *length_ns,
                   const int64_t *start_ns)
{
    struct retime_event *scratch = malloc(retime_holds_room(holds) * sizeof *scratch);
    int64_t peak_bytes;

    retime_peaks(holds, length_ns, start_ns, scratch, &peak_bytes);
    free(scratch);
    return peak_bytes;
}

void legal_check(const struct retime *retime, const struct retime_holds *holds,
                 const struct scene *scene, const char *text, const int64_t *start_ns,
                 const int64_t *length_ns)
{
    struct schedule schedule = {.scene = scene,
                                .graph = plan_graph(scene->plan),
                                .binding = plan_binding(scene->plan),
                                .text = text};

    memset(schedule.start_ns, 0xff, sizeof schedule.start_ns);
    memset(schedule.finish_ns, 0xff, sizeof schedule.finish_ns);
    for (uint32_t i = 0; i < retime->n_nodes; i++) {
        if (weir_is(retime->nodes[i])) {
            schedule.start_ns[retime->nodes[i].index] = start_ns[i];
            schedule.finish_ns[retime->nodes[i].index] = start_ns[i] + length_ns[i];
        }
    }
    check_edges(&schedule);
    check_overlaps(&schedule);
    check_bytes(&schedule);
    if (holds != NULL) {
        check_peak(&schedule, legal_peak(holds, length_ns, start_ns));
    }
}
