/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph with a timeline told by hand, or made from a seed: what the tests of this folder judge. */
#ifndef TESTS_JUDGE_SCENE_H
#define TESTS_JUDGE_SCENE_H

#include <string.h>

#include "base/random.h"
#include "graph/text.h"
#include "graph/timeline.h"
#include "judge/bound.h"
#include "tests/suite.h"

struct scene {
    struct graph *graph;
    struct binding *binding;
    struct timeline *timeline;
};

static inline void scene_begin(struct scene *scene, const char *text)
{
    struct report *report = report_new(5);
    struct weir_error err;

    memset(scene, 0, sizeof *scene);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(graph_read_text(text, strlen(text), "g", report, &scene->graph, &err),
                     WEIR_OK);
    ck_assert_int_eq(bind_graph(scene->graph, report, &scene->binding, &err), WEIR_OK);
    report_free(report);
    scene->timeline = timeline_new(graph_n_nodes(scene->graph), graph_n_domains(scene->graph));
    ck_assert_ptr_nonnull(scene->timeline);
}

static inline void scene_end(struct scene *scene)
{
    timeline_free(scene->timeline);
    bind_free(scene->binding);
    graph_free(scene->graph);
}

static inline weir_node scene_node(const struct scene *scene, const char *name)
{
    weir_node node = graph_find_node(scene->graph, graph_find_text(scene->graph, name));

    ck_assert(weir_is(node));
    return node;
}

/* Nodes are told of in the order of their starts. */
static inline void scene_ran(struct scene *scene, const char *name, int64_t ready_ns,
                             int64_t start_ns, int64_t finish_ns, enum wait_cause cause,
                             const char *blocker)
{
    struct timeline_span *span = &scene->timeline->spans[scene_node(scene, name).index];
    uint32_t order = 0;

    for (uint32_t i = 0; i < scene->timeline->n_nodes; i++)
        order += scene->timeline->spans[i].start_ns >= 0 ? 1 : 0;
    span->ready_ns = ready_ns;
    span->start_ns = start_ns;
    span->finish_ns = finish_ns;
    span->isolated_ns = finish_ns - start_ns;
    span->order = order;
    span->cause = (uint8_t)cause;
    if (blocker != NULL)
        span->blocker = scene_node(scene, blocker);
    if (finish_ns > scene->timeline->makespan_ns)
        scene->timeline->makespan_ns = finish_ns;
}

static inline struct bound_index *scene_index(const struct scene *scene, bool is_recorded)
{
    struct bound_index *index = NULL;
    struct weir_error err;

    ck_assert_int_eq(bound_index_make(scene->binding, scene->timeline, is_recorded, &index, &err),
                     WEIR_OK);
    return index;
}

/* --- made from a seed ------------------------------------------------------------------------ */

enum { SCENE_NODES = 40, SCENE_ENGINES = 4 };

/* A node that is ready is kept back: by nobody, by the policy for a time, or until a node ends. */
struct scene_hold {
    enum wait_cause cause;
    int64_t until_ns;
    weir_node until;
    bool is_settled;
};

static inline uint32_t scene_draw(struct random_stream *stream, uint32_t below)
{
    return (uint32_t)random_below(stream, below);
}

static inline void scene_text(struct random_stream *stream, char *text, size_t room)
{
    static const char *const kinds[] = {"compute",  "compute",           "transfer", "prefetch",
                                        "offload",  "rematerialization", "mapping",  "barrier",
                                        "transfer", "allocation"};
    size_t at = (size_t)snprintf(text, room, "weir 1\ndomain m capacity=1000\nobject x size=1\n");

    for (int e = 0; e < SCENE_ENGINES; e++)
        at += (size_t)snprintf(text + at, room - at, "engine e%d slots=%d\n", e, e % 2 + 1);
    for (uint32_t i = 0; i < SCENE_NODES; i++) {
        const char *kind = kinds[scene_draw(stream, 10)];
        uint32_t length = scene_draw(stream, 5) == 0 ? 0 : scene_draw(stream, 20);

        /* Without an object, a copy only takes time; what acts on one stands for compute here. */
        if (strcmp(kind, "mapping") == 0 || strcmp(kind, "allocation") == 0)
            kind = i == 0 ? "allocation" : "barrier";
        at += (size_t)snprintf(text + at, room - at, "node n%u %s duration=%u release=%u", i, kind,
                               length, scene_draw(stream, 4) == 0 ? scene_draw(stream, 60) : 0);
        if (strcmp(kind, "allocation") == 0)
            at += (size_t)snprintf(text + at, room - at, " object=x");
        if (scene_draw(stream, 8) != 0)
            at += (size_t)snprintf(text + at, room - at, " engine=e%u",
                                   scene_draw(stream, SCENE_ENGINES));
        if (scene_draw(stream, 3) == 0)
            at += (size_t)snprintf(text + at, room - at, " group=g%u", scene_draw(stream, 3));
        if (scene_draw(stream, 6) == 0)
            at += (size_t)snprintf(text + at, room - at, " class=c%u", scene_draw(stream, 2));
        at += (size_t)snprintf(text + at, room - at, "\n");
        for (uint32_t k = scene_draw(stream, 3); k > 0 && i > 0; k--)
            at += (size_t)snprintf(text + at, room - at, "edge n%u n%u ordering%s lag=%u\n",
                                   scene_draw(stream, i), i,
                                   scene_draw(stream, 5) == 0 ? " from=start" : "",
                                   scene_draw(stream, 4) == 0 ? scene_draw(stream, 9) : 0);
    }
    ck_assert_uint_lt(at, room);
}

/* When the node is ready; -1: not known yet. */
static inline int64_t scene_ready_ns(const struct scene *scene, uint32_t node)
{
    struct graph_node value;
    int64_t ready_ns;

    graph_node(scene->graph, (weir_node){node}, &value);
    ready_ns = value.release_ns;
    for (uint32_t i = 0; i < graph_n_edges(scene->graph); i++) {
        struct graph_edge edge;
        const struct timeline_span *span;

        graph_edge(scene->graph, (weir_edge){i}, &edge);
        if (edge.consumer.index != node)
            continue;
        span = &scene->timeline->spans[edge.producer.index];
        if (span->start_ns < 0)
            return -1;
        if ((edge.is_from_start ? span->start_ns : span->finish_ns) + edge.lag_ns > ready_ns)
            ready_ns = (edge.is_from_start ? span->start_ns : span->finish_ns) + edge.lag_ns;
    }
    return ready_ns;
}

/* What keeps the node, which became ready now. */
static inline struct scene_hold scene_keep(const struct scene *scene, struct random_stream *stream,
                                           int64_t now_ns)
{
    struct scene_hold hold = {WAIT_NONE, now_ns, {WEIR_NONE}, true};
    uint32_t draw = scene_draw(stream, 8);

    if (draw == 0) {
        hold.cause = WAIT_ADMISSION;
        hold.until_ns = now_ns + scene_draw(stream, 15);
    }
    for (uint32_t i = 0; i < SCENE_NODES && (draw == 1 || draw == 2); i++) {
        const struct timeline_span *span = &scene->timeline->spans[i];

        if (span->start_ns >= 0 && span->start_ns <= now_ns && span->finish_ns > now_ns) {
            hold.cause = draw == 1 ? WAIT_CAPACITY : WAIT_OVERLAP;
            hold.until_ns = span->finish_ns;
            hold.until.index = i;
        }
    }
    return hold;
}

/* A schedule that lists nodes in program order, one nanosecond after the other. */
static inline void scene_make(struct scene *scene, uint64_t seed)
{
    static char text[16384];
    struct random_stream stream;
    struct scene_hold holds[SCENE_NODES];
    weir_node freed[SCENE_ENGINES];
    uint32_t n_started = 0;

    random_seed(&stream, seed, 0);
    scene_text(&stream, text, sizeof text);
    scene_begin(scene, text);
    memset(holds, 0, sizeof holds);
    for (int e = 0; e < SCENE_ENGINES; e++)
        freed[e].index = WEIR_NONE;
    for (int64_t now_ns = 0; n_started < SCENE_NODES; now_ns++) {
        ck_assert_int_lt(now_ns, 100000);
        for (uint32_t i = 0; i < SCENE_NODES; i++) { /* who gives back a slot now */
            const struct timeline_span *span = &scene->timeline->spans[i];
            weir_engine engine = graph_node_engine(scene->graph, (weir_node){i});

            if (span->finish_ns == now_ns && span->start_ns < now_ns && weir_is(engine))
                freed[engine.index].index = i;
        }
        for (uint32_t i = 0; i < SCENE_NODES; i++) {
            struct timeline_span *span = &scene->timeline->spans[i];
            weir_engine engine = graph_node_engine(scene->graph, (weir_node){i});
            int64_t ready_ns = scene_ready_ns(scene, i), length_ns = 0, n_running = 0;

            if (span->start_ns >= 0 || ready_ns < 0 || ready_ns > now_ns)
                continue;
            if (!holds[i].is_settled)
                holds[i] = scene_keep(scene, &stream, now_ns);
            for (uint32_t j = 0; j < SCENE_NODES; j++)
                n_running += scene->timeline->spans[j].start_ns >= 0 &&
                             scene->timeline->spans[j].finish_ns > now_ns && weir_is(engine) &&
                             weir_same(graph_node_engine(scene->graph, (weir_node){j}), engine);
            if (holds[i].until_ns > now_ns)
                continue;
            if (weir_is(engine) && n_running >= graph_engine(scene->graph, engine)->slots) {
                holds[i].cause = WAIT_ENGINE;
                continue;
            }
            ck_assert(graph_node_length_ns(scene->graph, (weir_node){i}, &length_ns));
            span->ready_ns = ready_ns;
            span->start_ns = now_ns;
            span->finish_ns = now_ns + length_ns;
            span->isolated_ns = length_ns;
            span->order = n_started++;
            if (now_ns > ready_ns)
                span->cause =
                    (uint8_t)(holds[i].cause == WAIT_NONE ? WAIT_ADMISSION : holds[i].cause);
            if (span->cause == WAIT_ENGINE)
                span->blocker = freed[engine.index];
            else if (span->cause == WAIT_CAPACITY || span->cause == WAIT_OVERLAP)
                span->blocker = holds[i].until;
            if (span->finish_ns > scene->timeline->makespan_ns)
                scene->timeline->makespan_ns = span->finish_ns;
            i = UINT32_MAX; /* from the head again: it may have made others ready */
        }
    }
}

#endif
