/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of an action comes from the schedule, which knew what cannot be done as planned, and
 * from the times of the replay. Each action has one entry. */
#include "replay/deviations.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "replay/measure.h"

#define LONGER_RATIO 1.10 /* a duration further off than this, and by this much, is said */
#define LONGER_NS 10000

struct listing {
    struct schedule *schedule;
    const struct timeline *timeline;
    const struct deviate *deviate;
    const char **texts; /* by step: what is said of it; NULL: nothing */
    uint32_t n_texts, n_of_run, n_preempted;
};

/* ---- what is said ---- */

/* @param text NULL: memory ran out */
static enum weir_status say(struct listing *l, uint32_t step, const char *text,
                            struct weir_error *err)
{
    if (text != NULL && l->texts[step] != NULL)
        text = schedule_text(l->schedule, "%s; %s", l->texts[step], text);
    else
        l->n_texts++;
    l->texts[step] = text;
    return text == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status say_what_was_known(struct listing *l, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < l->schedule->n_deviations && status == WEIR_OK; i++) {
        const struct schedule_deviation *known = &l->schedule->deviations[i];

        if (weir_is(known->node))
            status = say(l, l->schedule->steps.step_of[known->node.index], known->what, err);
        else
            l->n_of_run++;
    }
    return status;
}

static const char *preempted_text(struct schedule *schedule, int64_t wall_ns, int64_t processor_ns)
{
    char wall[NUMBER_TEXT_BYTES];
    char processor[NUMBER_TEXT_BYTES];

    number_time_text(wall_ns, wall);
    number_time_text(processor_ns, processor);
    return schedule_text(schedule, "pre-empted: %s on the clock, %s of them on a processor", wall,
                         processor);
}

static const char *duration_text(struct schedule *schedule, int64_t took_ns, int64_t planned_ns)
{
    char took[NUMBER_TEXT_BYTES];
    char planned[NUMBER_TEXT_BYTES];

    number_time_text(took_ns, took);
    number_time_text(planned_ns, planned);
    return schedule_text(schedule, "took %s where the plan has %s", took, planned);
}

static bool is_far_off(int64_t took_ns, int64_t planned_ns)
{
    return (took_ns - planned_ns > LONGER_NS &&
            (double)took_ns > LONGER_RATIO * (double)planned_ns) ||
           (planned_ns - took_ns > LONGER_NS &&
            (double)planned_ns > LONGER_RATIO * (double)took_ns);
}

static enum weir_status say_what_happened(struct listing *l, const int64_t *processor_ns,
                                          struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t s = 0; s < l->schedule->steps.n_started && status == WEIR_OK; s++) {
        const struct timeline_span *span = &l->timeline->spans[l->schedule->steps.node_of[s]];
        int64_t took_ns = span->finish_ns - span->start_ns;
        int64_t planned_ns = took_ns - l->deviate->actions[s].deviation.stretch_ns;

        if (measure_is_preempted(took_ns, processor_ns[s])) {
            l->n_preempted++;
            status = say(l, s, preempted_text(l->schedule, took_ns, processor_ns[s]), err);
        } else if (is_far_off(took_ns, planned_ns)) {
            status = say(l, s, duration_text(l->schedule, took_ns, planned_ns), err);
        }
    }
    return status;
}

/* ---- the list ---- */

/* An entry and what it is ranked by. */
struct ranked {
    struct replay_deviation deviation;
    int64_t own_ns;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->deviation.cost_ns != y->deviation.cost_ns)
        return x->deviation.cost_ns > y->deviation.cost_ns ? -1 : 1;
    if (x->own_ns != y->own_ns)
        return x->own_ns > y->own_ns ? -1 : 1;
    if (x->deviation.node.index != y->deviation.node.index)
        return x->deviation.node.index < y->deviation.node.index ? -1 : 1;
    return strcmp(x->deviation.what, y->deviation.what);
}

static void rank_actions(const struct listing *l, struct ranked *ranked)
{
    uint32_t n = l->schedule->steps.n_started;

    for (uint32_t s = 0; s < n; s++) {
        const struct deviate_action *action = &l->deviate->actions[s];

        ranked[s].deviation =
            (struct replay_deviation){{l->schedule->steps.node_of[s]}, "", action->cost_ns};
        ranked[s].own_ns = deviation_own_ns(&action->deviation);
    }
    if (n > 0)
        qsort(ranked, n, sizeof *ranked, compare_ranked);
}

/* Of an action that is named for what it costs alone. */
static const char *end_text(struct schedule *schedule, int64_t late_ns)
{
    char time[NUMBER_TEXT_BYTES];

    number_time_text(late_ns < 0 ? -late_ns : late_ns, time);
    return schedule_text(schedule, "ended %s %s than planned", time,
                         late_ns < 0 ? "earlier" : "later");
}

/* Keeps the entries that are named, at the front. @return how many; WEIR_NONE: no memory */
static uint32_t keep_named(const struct listing *l, struct ranked *ranked)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < l->schedule->steps.n_started; i++) {
        struct ranked entry = ranked[i];
        uint32_t s = l->schedule->steps.step_of[entry.deviation.node.index];
        int64_t late_ns = deviation_ns(&l->deviate->actions[s].deviation);

        entry.deviation.what = l->texts[s];
        if (entry.deviation.what == NULL && i < DEVIATIONS_NAMED &&
            (late_ns != 0 || entry.own_ns != 0 || entry.deviation.cost_ns != 0)) {
            entry.deviation.what = end_text(l->schedule, late_ns);
            if (entry.deviation.what == NULL)
                return WEIR_NONE;
        }
        if (entry.deviation.what != NULL)
            ranked[n_kept++] = entry;
    }
    return n_kept;
}

static uint32_t add_of_run(const struct listing *l, struct ranked *ranked, uint32_t n)
{
    for (size_t i = 0; i < l->schedule->n_deviations; i++) {
        const struct schedule_deviation *known = &l->schedule->deviations[i];

        if (!weir_is(known->node))
            ranked[n++] =
                (struct ranked){{known->node, known->what, known->cost_ns}, known->cost_ns};
    }
    return n;
}

static enum weir_status make_list(const struct listing *l, struct arena *arena,
                                  struct deviations *out, struct weir_error *err)
{
    size_t n_most = (size_t)l->schedule->steps.n_started + l->n_of_run;
    struct ranked *ranked = malloc((n_most + 1) * sizeof *ranked);
    uint32_t n = WEIR_NONE;

    if (ranked != NULL) {
        rank_actions(l, ranked);
        n = keep_named(l, ranked);
    }
    if (n != WEIR_NONE) {
        n = add_of_run(l, ranked, n);
        qsort(ranked, n, sizeof *ranked, compare_ranked);
        out->list = arena_array(arena, n, sizeof *out->list);
    }
    for (uint32_t i = 0; out->list != NULL && i < n; i++)
        out->list[i] = ranked[i].deviation;
    free(ranked);
    out->n_list = n;
    out->n_preempted = l->n_preempted;
    return out->list == NULL ? weir_error_memory(err) : WEIR_OK;
}

enum weir_status deviations_list(struct schedule *schedule, const struct timeline *timeline,
                                 const int64_t *processor_ns, const struct deviate *deviate,
                                 struct arena *arena, struct deviations *out,
                                 struct weir_error *err)
{
    struct listing l = {.schedule = schedule,
                        .timeline = timeline,
                        .deviate = deviate,
                        .texts = calloc(schedule->steps.n_started + (size_t)1, sizeof *l.texts)};
    struct deviations made = {.list = NULL};
    enum weir_status status = l.texts == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK)
        status = say_what_was_known(&l, err);
    if (status == WEIR_OK)
        status = say_what_happened(&l, processor_ns, err);
    if (status == WEIR_OK)
        status = make_list(&l, arena, &made, err);
    free(l.texts);
    if (status == WEIR_OK)
        *out = made;
    return status;
}
