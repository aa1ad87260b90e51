/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier tells of every damage to when a node started, in what order, and how long it ran. */
#include "tests/judge/subject.h"

static bool has_run_late(const struct subject *subject, uint32_t node)
{
    return subject->timeline->spans[node].start_ns > 0;
}

static bool has_length(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns > 0 && span->isolated_ns > 2 && span->finish_ns > span->start_ns + 2;
}

static bool has_run_at_once(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns >= 0 && span->start_ns == span->ready_ns && span->isolated_ns > 0;
}

static bool starts_earlier(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->start_ns--;
    }
    return node != WEIR_NONE;
}

static bool ends_later(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->finish_ns += 2;
    }
    return node != WEIR_NONE;
}

static bool moves_forward(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_run_late);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->start_ns--;
        subject_span(subject, node)->finish_ns--;
    }
    return node != WEIR_NONE;
}

/* Nothing is in its way for the nanosecond that it stands idle. */
static bool stands_idle(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_run_at_once);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->start_ns++;
        subject_span(subject, node)->finish_ns++;
    }
    return node != WEIR_NONE;
}

/* Two that follow each other on engine a change places, each with its length. */
static bool swaps(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *first = &timeline->spans[i], *second;
        uint32_t j = first->blocker.index;

        if (first->start_ns < 0 || first->cause != WAIT_ENGINE || j == WEIR_NONE ||
            first->isolated_ns == timeline->spans[j].isolated_ns || first->isolated_ns == 0 ||
            graph_node_engine(subject->graph, (weir_node){i}).index != 0) {
            continue;
        }
        second = &timeline->spans[j];
        first->finish_ns = second->start_ns + (first->finish_ns - first->start_ns);
        first->start_ns = second->start_ns;
        second->start_ns = first->finish_ns;
        second->finish_ns = second->start_ns + second->isolated_ns;
        return true;
    }
    return false;
}

static bool runs_beside(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *span = &timeline->spans[i];
        const struct timeline_span *before = &timeline->spans[span->blocker.index];

        if (span->start_ns >= 0 && span->cause == WAIT_ENGINE && span->isolated_ns > 0 &&
            span->blocker.index != WEIR_NONE && before->finish_ns == span->start_ns &&
            graph_node_engine(subject->graph, (weir_node){i}).index == 0) {
            span->start_ns = before->start_ns;
            return true;
        }
    }
    return false;
}

static bool changes_ready(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_run_late);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->ready_ns--;
    }
    return node != WEIR_NONE;
}

static bool changes_length(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->isolated_ns++;
    }
    return node != WEIR_NONE;
}

static bool swaps_orders(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < timeline->n_nodes; i++) {
        uint32_t order = timeline->spans[i].order;

        if (timeline->spans[i].start_ns > timeline->spans[0].start_ns &&
            timeline->spans[0].start_ns >= 0) {
            timeline->spans[i].order = timeline->spans[0].order;
            timeline->spans[0].order = order;
            return true;
        }
    }
    return false;
}

static bool forgets_end(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->finish_ns = -1;
    }
    return node != WEIR_NONE;
}

/* One that could go first, and did not: its priority says so now. */
static bool raises_priority(struct subject *subject, struct random_stream *random)
{
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (size_t i = 0; i < timeline->n_waits; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];
        struct graph_node value;
        struct weir_error err;

        graph_node(subject->graph, wait->node, &value);
        if (wait->cause == WAIT_ENGINE &&
            wait->from_ns == timeline->spans[wait->node.index].ready_ns &&
            timeline->spans[wait->blocker.index].start_ns > wait->from_ns && value.n_writes == 0 &&
            value.n_workspace == 0 && !weir_is(value.object) && value.engine.index == 0) {
            value.priority = 100;
            return graph_set_node(subject->graph, wait->node, &value, &err) == WEIR_OK;
        }
    }
    return false;
}

static const struct damage damages[] = {
    {"starts 1 ns earlier", starts_earlier, CONTENTION_NONE, ONE(WORK)},
    {"starts 1 ns earlier, beside others",
     starts_earlier,
     CONTENTION_PAIRWISE,
     {VERIFY_WORK, VERIFY_WAIT_GAP, VERIFY_WORK, VERIFY_WORK}},
    {"ends 2 ns later, beside others", ends_later, CONTENTION_PAIRWISE, ONE(WORK)},
    {"ends 2 ns later, sharing", ends_later, CONTENTION_SHARE, ONE(WORK)},
    {"ends 2 ns later, under a roofline", ends_later, CONTENTION_MEASURED, ONE(WORK)},
    {"moves 1 ns forward", moves_forward, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"stands idle",
     stands_idle,
     CONTENTION_NONE,
     {VERIFY_IDLE, VERIFY_NOT_FIRST, VERIFY_IDLE, VERIFY_IDLE}},
    {"two change places",
     swaps,
     CONTENTION_NONE,
     {VERIFY_NOT_FIRST, VERIFY_IDLE, VERIFY_START_ORDER, VERIFY_EDGE}},
    {"two on one slot", runs_beside, CONTENTION_NONE, ONE(SLOTS)},
    {"ready 1 ns earlier", changes_ready, CONTENTION_NONE, ONE(READY)},
    {"another length", changes_length, CONTENTION_NONE, ONE(LENGTH)},
    {"numbers of starts change places", swaps_orders, CONTENTION_NONE, ONE(START_ORDER)},
    {"one never ended", forgets_end, CONTENTION_NONE, ONE(UNFINISHED)},
    {"one goes first that did not", raises_priority, CONTENTION_NONE, ONE(NOT_FIRST)},
};

START_TEST(test_every_damage_is_told)
{
    damage_is_told(&damages[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify starts");
    TCase *tests = tcase_create("verify starts");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
