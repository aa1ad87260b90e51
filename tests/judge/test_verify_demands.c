/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier tells of every demand of the graph that a run did not keep: edges, hazards, releases,
 * windows, guards, fallbacks, and pairs that must not overlap. */
#include "tests/judge/subject.h"

static bool is_off(const struct subject *subject, uint32_t node)
{
    return !graph_node_is_on(subject->graph, (weir_node){node});
}

static uint32_t n_started(const struct timeline *timeline)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        n += timeline->spans[i].start_ns >= 0 ? 1 : 0;
    }
    return n;
}

static void start_at_end(struct subject *subject, uint32_t node)
{
    struct timeline_span *span = subject_span(subject, node);

    span->order = n_started(subject->timeline);
    span->start_ns = subject->timeline->makespan_ns;
    span->isolated_ns = 0;
    span->finish_ns = span->start_ns;
}

static bool runs_guarded(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, is_off);

    if (node != WEIR_NONE) {
        start_at_end(subject, node);
    }
    return node != WEIR_NONE;
}

static bool runs_fallback(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_node(subject, "other");

    (void)random;
    if (subject_span(subject, node)->start_ns >= 0) {
        return false;
    }
    start_at_end(subject, node);
    return true;
}

/* The node did not run; its fallback, to which it gave way, did not either. */
static bool forgets_fallback(struct subject *subject, struct random_stream *random)
{
    static const struct timeline_span none = {.start_ns = -1,
                                              .finish_ns = -1,
                                              .isolated_ns = -1,
                                              .blocker = {WEIR_NONE},
                                              .order = WEIR_NONE};
    struct timeline_span *span = subject_span(subject, subject_node(subject, "other"));

    (void)random;
    if (span->start_ns < 0) {
        return false;
    }
    *span = none;
    return true;
}

static bool forgets_node(struct subject *subject, struct random_stream *random)
{
    static const struct timeline_span none = {.start_ns = -1,
                                              .finish_ns = -1,
                                              .isolated_ns = -1,
                                              .blocker = {WEIR_NONE},
                                              .order = WEIR_NONE};
    uint32_t node = below(random, N_NODES);

    if (subject_span(subject, node)->start_ns < 0) {
        return false;
    }
    *subject_span(subject, node) = none;
    return true;
}

static bool passes_window(struct subject *subject, struct random_stream *random)
{
    struct timeline_span *span = subject_span(subject, subject_node(subject, "late"));

    (void)random;
    if (span->start_ns < 0) {
        return false;
    }
    span->start_ns += 100;
    span->finish_ns += 100;
    return true;
}

/* Whatever ran beside another must not. */
static bool forbids(struct subject *subject, struct random_stream *random)
{
    struct graph_overlap overlap = *graph_overlap(subject->graph, 0);
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct timeline_span *a = &timeline->spans[i], *b = &timeline->spans[j];
            struct graph_node x, y;

            if (a->start_ns < 0 || b->start_ns < 0 || a->start_ns >= b->finish_ns ||
                b->start_ns >= a->finish_ns || a->finish_ns == a->start_ns ||
                b->finish_ns == b->start_ns) {
                continue;
            }
            graph_node(subject->graph, (weir_node){i}, &x);
            graph_node(subject->graph, (weir_node){j}, &y);
            overlap.a = x.name;
            overlap.b = y.name;
            graph_set_overlap(subject->graph, 0, &overlap);
            return true;
        }
    }
    return false;
}

static bool adds_edge(struct subject *subject, struct random_stream *random)
{
    struct graph_edge edge = graph_edge_default;
    struct weir_error err;
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < N_NODES; i++) {
        if (timeline->spans[i].start_ns >= 0 && timeline->spans[0].start_ns >= 0 &&
            timeline->spans[0].finish_ns > timeline->spans[i].start_ns) {
            edge.producer.index = 0;
            edge.consumer.index = i;
            edge.type = EDGE_ORDERING;
            return graph_add_edge(subject->graph, &edge, &err) == WEIR_OK;
        }
    }
    return false;
}

static bool adds_release(struct subject *subject, struct random_stream *random)
{
    uint32_t node = below(random, N_NODES);
    struct graph_node value;
    struct weir_error err;

    if (subject_span(subject, node)->start_ns < 0) {
        return false;
    }
    graph_node(subject->graph, (weir_node){node}, &value);
    value.release_ns = subject_span(subject, node)->start_ns + 1;
    return graph_set_node(subject->graph, (weir_node){node}, &value, &err) == WEIR_OK;
}

/* A hazard that the run did not keep: a node reads, in the graph, what was written later. */
static bool reads_too_early(struct subject *subject, struct random_stream *random)
{
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < N_NODES; i++) {
        struct graph_access access = {{0}, {WEIR_NONE}};
        struct graph_node value, writer;
        struct weir_error err;

        graph_node(subject->graph, (weir_node){i}, &value);
        for (uint32_t j = 0; j < i && value.n_reads == 0 && value.kind == NODE_COMPUTE; j++) {
            graph_node(subject->graph, (weir_node){j}, &writer);
            if (writer.n_writes == 1 && timeline->spans[i].start_ns >= 0 &&
                timeline->spans[j].finish_ns > timeline->spans[i].start_ns &&
                weir_same(graph_node_domain(subject->graph, (weir_node){i}), (weir_domain){0})) {
                access.object = writer.writes[0];
                value.reads = &access;
                value.n_reads = 1;
                return graph_set_node(subject->graph, (weir_node){i}, &value, &err) == WEIR_OK;
            }
        }
    }
    return false;
}

static const struct damage damages[] = {
    {"one ran whose guard is off", runs_guarded, CONTENTION_NONE, ONE(GUARD)},
    {"a fallback ran that nobody needed", runs_fallback, CONTENTION_NONE, ONE(FALLBACK)},
    {"a fallback did not run", forgets_fallback, CONTENTION_NONE, ONE(NOT_RUN)},
    {"a node did not run", forgets_node, CONTENTION_NONE, ONE(NOT_RUN)},
    {"one started after its window", passes_window, CONTENTION_NONE, ONE(WINDOW)},
    {"two must not overlap", forbids, CONTENTION_NONE, ONE(FORBIDDEN)},
    {"two must not overlap: no start", forbids, CONTENTION_NONE, ONE(NOT_APART)},
    {"an edge is not kept", adds_edge, CONTENTION_NONE, ONE(EDGE)},
    {"a release is not kept", adds_release, CONTENTION_NONE, ONE(RELEASE)},
    {"a hazard is not kept", reads_too_early, CONTENTION_NONE, ONE(HAZARD)},
};

START_TEST(test_every_damage_is_told)
{
    damage_is_told(&damages[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify demands");
    TCase *tests = tcase_create("verify demands");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
