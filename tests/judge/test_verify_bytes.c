/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier tells of every damage to the bytes of a run: holds, pressure, peaks, capacity, and who gave
 * back what another took. */
#include <string.h>

#include "tests/judge/subject.h"

static bool loses_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    size_t at = timeline->n_holds == 0 ? 0 : below(random, (uint32_t)timeline->n_holds);

    if (timeline->n_holds == 0) {
        return false;
    }
    timeline->holds[at] = timeline->holds[--timeline->n_holds];
    return true;
}

static bool doubles_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct weir_error err;
    struct timeline_hold hold;

    if (timeline->n_holds == 0) {
        return false;
    }
    hold = timeline->holds[below(random, (uint32_t)timeline->n_holds)];
    return timeline_add_hold(timeline, &hold, &err) == WEIR_OK;
}

static bool moves_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_hold *hold;

    if (timeline->n_holds == 0) {
        return false;
    }
    hold = &timeline->holds[below(random, (uint32_t)timeline->n_holds)];
    hold->release_ns = hold->release_ns < 0 ? timeline->makespan_ns : hold->release_ns + 1;
    return true;
}

static bool raises_pressure(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    if (timeline->n_pressures > 0) {
        timeline->pressures[below(random, (uint32_t)timeline->n_pressures)].bytes++;
    }
    return timeline->n_pressures > 0;
}

static bool moves_pressure(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    size_t at =
        timeline->n_pressures < 2 ? 0 : 1 + below(random, (uint32_t)timeline->n_pressures - 1);

    if (at == 0 || timeline->pressures[at].t_ns == 0) {
        return false;
    }
    timeline->pressures[at].t_ns++;
    return true;
}

static bool lowers_peak(struct subject *subject, struct random_stream *random)
{
    (void)random;
    subject->timeline->peak_bytes[0]--;
    return true;
}

/* One that was given back by one alone: an edge may stand for each of several last uses. */
static bool loses_induced(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    int64_t brought = 0;
    size_t at;

    if (timeline->n_induced == 0) {
        return false;
    }
    at = below(random, (uint32_t)timeline->n_induced);
    for (size_t i = 0; i < timeline->n_induced; i++) {
        brought += weir_same(timeline->induced[i].consumer, timeline->induced[at].consumer) ? 1 : 0;
    }
    if (brought != 1) {
        return false;
    }
    memmove(&timeline->induced[at], &timeline->induced[at + 1],
            (timeline->n_induced - at - 1) * sizeof *timeline->induced);
    timeline->n_induced--;
    return true;
}

static bool turns_induced(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_induced *induced;
    weir_node producer;

    if (timeline->n_induced == 0) {
        return false;
    }
    induced = &timeline->induced[below(random, (uint32_t)timeline->n_induced)];
    producer = induced->producer;
    induced->producer = induced->consumer;
    induced->consumer = producer;
    return true;
}

static bool invents_giver(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    for (uint32_t i = 0; i < timeline->n_nodes && timeline->n_induced > 0; i++) {
        struct graph_node value;

        graph_node(subject->graph, (weir_node){i}, &value);
        if (value.n_reads == 0 && value.n_writes == 0 && value.n_workspace == 0 &&
            !weir_is(value.object) && timeline->spans[i].finish_ns >= 0) {
            timeline->induced[below(random, (uint32_t)timeline->n_induced)].producer.index = i;
            return true;
        }
    }
    return false;
}

static bool shrinks_domain(struct subject *subject, struct random_stream *random)
{
    struct graph_domain domain = *graph_domain(subject->graph, (weir_domain){0});

    (void)random;
    domain.capacity_bytes = subject->timeline->peak_bytes[0] - 1;
    graph_set_domain(subject->graph, (weir_domain){0}, &domain);
    return subject->timeline->peak_bytes[0] > 0;
}

static const struct damage damages[] = {
    {"a hold is lost",
     loses_hold,
     CONTENTION_NONE,
     {VERIFY_HOLD_MISSING, VERIFY_HOLD_TIMES, VERIFY_HOLD_MISSING, VERIFY_HOLD_MISSING}},
    {"a hold stands twice",
     doubles_hold,
     CONTENTION_NONE,
     {VERIFY_HOLD_EXTRA, VERIFY_HOLD_TIMES, VERIFY_HOLD_EXTRA, VERIFY_HOLD_EXTRA}},
    {"a hold ends later", moves_hold, CONTENTION_NONE, ONE(HOLD_TIMES)},
    {"pressure is raised", raises_pressure, CONTENTION_NONE, ONE(PRESSURE)},
    {"pressure changes later", moves_pressure, CONTENTION_NONE, ONE(PRESSURE)},
    {"a peak is lowered", lowers_peak, CONTENTION_NONE, ONE(PEAK)},
    {"an induced edge is lost", loses_induced, CONTENTION_NONE, ONE(INDUCED_SHORT)},
    {"an induced edge is turned round", turns_induced, CONTENTION_NONE, ONE(INDUCED_EARLY)},
    {"one gave back what it never had", invents_giver, CONTENTION_NONE, ONE(INDUCED_GIVER)},
    {"the domain is smaller", shrinks_domain, CONTENTION_NONE, ONE(OVER)},
};

START_TEST(test_every_damage_is_told)
{
    damage_is_told(&damages[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify bytes");
    TCase *tests = tcase_create("verify bytes");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
