/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier tells of every damage to what a run says of its waits: their times, causes and blockers. */
#include "tests/judge/subject.h"

static bool has_waited(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns > span->ready_ns;
}

static struct timeline_wait *some_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    return timeline->n_waits == 0 ? NULL
                                  : &timeline->waits[below(random, (uint32_t)timeline->n_waits)];
}

/* Its bytes fitted all the time when it takes none. */
static bool changes_cause(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);
    struct graph_node value;

    if (wait == NULL || wait->cause != WAIT_ENGINE) {
        return false;
    }
    graph_node(subject->graph, wait->node, &value);
    if (value.n_writes > 0 || value.n_workspace > 0 || value.staging.bytes > 0 ||
        graph_kind_is_copy(value.kind)) {
        return false;
    }
    wait->cause = WAIT_CAPACITY;
    return true;
}

static bool claims_admission(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->cause = WAIT_ADMISSION;
    }
    return wait != NULL;
}

static bool changes_blocker(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->blocker = wait->node;
    }
    return wait != NULL;
}

static bool loses_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        *wait = timeline->waits[--timeline->n_waits];
    }
    return wait != NULL;
}

static bool shortens_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->from_ns++;
    }
    return wait != NULL;
}

static bool changes_span_cause(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_waited);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->cause = WAIT_NONE;
    }
    return node != WEIR_NONE;
}

static bool changes_span_blocker(struct subject *subject, struct random_stream *random)
{
    uint32_t node = subject_pick(subject, random, has_waited);

    if (node != WEIR_NONE) {
        subject_span(subject, node)->blocker.index = node;
    }
    return node != WEIR_NONE;
}

static const struct damage damages[] = {
    {"a cause is changed", changes_cause, CONTENTION_NONE, ONE(WAIT_CAUSE)},
    {"a policy that holds nobody held it", claims_admission, CONTENTION_NONE, ONE(WAIT_CAUSE)},
    {"a blocker is changed", changes_blocker, CONTENTION_NONE, ONE(WAIT_BLOCKER)},
    {"a wait is lost", loses_wait, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"a wait begins later", shortens_wait, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"a span has another cause", changes_span_cause, CONTENTION_NONE, ONE(SPAN_CAUSE)},
    {"a span has another blocker", changes_span_blocker, CONTENTION_NONE, ONE(SPAN_CAUSE)},
};

START_TEST(test_every_damage_is_told)
{
    damage_is_told(&damages[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify waits");
    TCase *tests = tcase_create("verify waits");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
