/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A schedule made of a plan that is written by hand. Rates are made up, so that amounts can be: an
 * iteration of arithmetic takes 10 ns after 100 ns, a copied byte 0.1 ns after 200 ns, whatever the
 * buffer. */
#ifndef TESTS_REPLAY_SCHEDULE_RIG_H
#define TESTS_REPLAY_SCHEDULE_RIG_H

#include "replay/schedule.h"
#include "tests/replay/plan.h"

struct rig {
    struct test_plan plan;
    struct schedule_options options;
    struct rates rates;
    struct schedule *schedule;
};

static inline void rig_begin(struct rig *rig, const char *text)
{
    memset(rig, 0, sizeof *rig);
    rig->options =
        (struct schedule_options){.scale_time = 1, .scale_bytes = 1, .memory_bytes = 1 << 30};
    plan_begin(&rig->plan, text);
}

static inline void rig_make(struct rig *rig)
{
    struct rates_needs needs;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(
        schedule_needs(rig->plan.graph, rig->plan.timeline, &rig->options, &needs, &err) == WEIR_OK,
        "%s", err.text);
    rig->rates = (struct rates){.work = {[STEP_COMPUTE] = {.fixed_ns = 100, .unit_ns = 10},
                                         [STEP_STREAM] = {.fixed_ns = 100, .unit_ns = 0.05},
                                         [STEP_CACHE] = {.fixed_ns = 100, .unit_ns = 0.02},
                                         [STEP_MIX] = {.fixed_ns = 100, .unit_ns = 0.1}},
                                .directions = needs.directions,
                                .n_directions = needs.n_directions};
    for (uint32_t d = 0; d < needs.n_directions; d++) {
        for (int p = 0; p < RATES_POINTS; p++)
            needs.directions[d].at[p] = (struct measure_rate){.fixed_ns = 200, .unit_ns = 0.1};
    }
    ck_assert_msg(schedule_make(rig->plan.binding, rig->plan.timeline, &rig->options, &rig->rates,
                                &rig->schedule, &err) == WEIR_OK,
                  "%s", err.text);
}

static inline void rig_end(struct rig *rig)
{
    schedule_free(rig->schedule);
    rates_free(&rig->rates);
    plan_end(&rig->plan);
}

static inline const struct step *step_of(const struct rig *rig, const char *name)
{
    uint32_t node = plan_node(&rig->plan, name).index;

    return &rig->schedule->step[rig->schedule->steps.step_of[node]];
}

static inline const char *note_of(const struct rig *rig, const char *name)
{
    uint32_t node = plan_node(&rig->plan, name).index;
    const char *note = rig->schedule->notes[rig->schedule->steps.step_of[node]];

    return note == NULL ? "" : note;
}

/* The wait of consumer on producer; NULL when there is none. */
static inline const struct step_wait *wait_on(const struct rig *rig, const char *consumer,
                                              const char *producer)
{
    const struct step *step = step_of(rig, consumer);
    uint32_t target = rig->schedule->steps.step_of[plan_node(&rig->plan, producer).index];

    for (uint32_t w = 0; w < step->n_waits; w++) {
        if (step->waits[w].step == target)
            return &step->waits[w];
    }
    return NULL;
}

/* Every edge is kept by a queue, covered or waited for. */
static inline void check_counts(const struct rig *rig)
{
    const struct waits_counts *c = &rig->schedule->waits.counts;

    ck_assert_uint_eq(c->n_given + c->n_implied + c->n_induced + c->n_added,
                      c->n_by_queue + c->n_covered + c->n_waited);
}

#endif
