/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the device with the steps, and running them, timed or not. */
#include <stdlib.h>
#include <string.h>

#include "replay/runner_internal.h"

#define ACTIONS (STEP_PASS + 1)

/* ---- opening ---- */

static const char *queue_mechanism(struct replay_result *result, const struct step *step,
                                   const char *how, const char **known)
{
    const char **slot =
        step->queue == STEP_NO_QUEUE ? NULL : &known[step->queue * ACTIONS + step->action];
    char lane[160];
    char text[320];

    if (slot == NULL)
        return how;
    if (*slot == NULL) {
        lanes_name(result->schedule->graph, &result->schedule->lanes.lanes[step->queue], lane,
                   sizeof lane);
        (void)snprintf(text, sizeof text, "%s, queue %s", how, lane);
        *slot = arena_text(&result->arena, text, strlen(text));
    }
    return *slot;
}

/* Takes note of how the device does the step. @param known names made so far; NULL: nothing is noted */
static enum weir_status submit_step(struct runner *r, uint32_t index, const char **known,
                                    struct weir_error *err)
{
    struct schedule *schedule = r->result->schedule;
    const struct step *step = &schedule->step[index];
    struct mechanism how = {NULL, NULL};
    struct replay_mechanism *mechanism;
    enum weir_status status = r->result->ops->submit(r->device, step, &how, err);

    if (status != WEIR_OK || known == NULL || step->action == STEP_PASS)
        return status;
    mechanism = &r->result->mechanisms[r->result->n_mechanisms++];
    mechanism->node = step->node;
    mechanism->name = queue_mechanism(r->result, step, how.name, known);
    mechanism->note = schedule->notes[index];
    if (how.note != NULL)
        mechanism->note = schedule->notes[index] == NULL
                              ? how.note
                              : schedule_text(schedule, "%s; %s", schedule->notes[index], how.note);
    return mechanism->name == NULL ? weir_error_memory(err) : WEIR_OK;
}

/* The first time, how the device does each step is noted. */
static enum weir_status open_device(struct runner *r, struct weir_error *err)
{
    struct schedule *schedule = r->result->schedule;
    bool is_first = r->result->mechanisms == NULL;
    const char **known = NULL;
    enum weir_status status = WEIR_OK;

    if (is_first) {
        size_t n_known = (size_t)schedule->lanes.n_lanes * ACTIONS;

        known = arena_array(&r->result->arena, n_known, sizeof *known);
        r->result->mechanisms = arena_array(&r->result->arena, schedule->steps.n_started,
                                            sizeof *r->result->mechanisms);
        if (known == NULL || r->result->mechanisms == NULL)
            return weir_error_memory(err);
    }
    status = r->result->ops->open(&r->setup, &r->device, err);
    for (uint32_t s = 0; s < schedule->steps.n_steps && status == WEIR_OK; s++)
        status = submit_step(r, s, known, err);
    return status;
}

void runner_close(struct runner *r)
{
    if (r->device != NULL)
        r->result->ops->close(r->device);
    r->device = NULL;
}

/* ---- a run ---- */

static enum weir_status begin_pass(const struct schedule *schedule, struct runner_pass *pass,
                                   struct weir_error *err)
{
    pass->timeline = timeline_new(schedule->plan->n_nodes, graph_n_domains(schedule->graph));
    pass->processor_ns = malloc((schedule->steps.n_steps + (size_t)1) * sizeof(int64_t));
    pass->submit_ns = malloc((schedule->steps.n_steps + (size_t)1) * sizeof(int64_t));
    return pass->timeline == NULL || pass->processor_ns == NULL || pass->submit_ns == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

static void end_pass(struct runner_pass *pass)
{
    timeline_free(pass->timeline);
    free(pass->processor_ns);
    free(pass->submit_ns);
    free(pass->remark);
    *pass = (struct runner_pass){.timeline = NULL};
}

/* What the device says of the run that it has just done. */
static enum weir_status take_words(const struct runner *r, struct runner_pass *pass,
                                   struct weir_error *err)
{
    char remark[1000];

    r->result->ops->state(r->device, &pass->state);
    r->result->ops->remark(r->device, remark, sizeof remark);
    if (remark[0] == '\0')
        return WEIR_OK;
    pass->remark = strdup(remark);
    return pass->remark == NULL ? weir_error_memory(err) : WEIR_OK;
}

static void take_pass(struct runner *r, struct runner_pass *pass, struct replay_sample *sample)
{
    const struct device_ops *ops = r->result->ops;

    for (uint32_t s = 0; s < r->result->schedule->steps.n_steps; s++) {
        pass->processor_ns[s] = ops->processor_ns(r->device, s);
        pass->submit_ns[s] = ops->submitted_ns(r->device, s);
    }
    runner_sum_kinds(r->result->schedule, pass);
    if (ops->placed != NULL)
        ops->placed(r->device, &r->result->placed);
    sample->makespan_ns = pass->timeline->makespan_ns;
    sample->whole_ns = ops->whole_ns(r->device);
    if (sample->is_warm_up)
        end_pass(pass);
    else
        r->n_passes++;
}

static enum weir_status run_timed(struct runner *r, struct replay_sample *sample,
                                  struct weir_error *err)
{
    struct runner_pass *pass = &r->passes[r->n_passes];
    enum weir_status status = begin_pass(r->result->schedule, pass, err);

    if (status == WEIR_OK)
        status = r->result->ops->drain(r->device, pass->timeline, err);
    if (status == WEIR_OK && !sample->is_warm_up)
        status = take_words(r, pass, err);
    if (status == WEIR_OK)
        take_pass(r, pass, sample);
    else
        end_pass(pass);
    return status;
}

static enum weir_status run_untimed(struct runner *r, struct replay_sample *sample,
                                    struct weir_error *err)
{
    enum weir_status status = r->result->ops->drain(r->device, NULL, err);

    if (status == WEIR_OK)
        sample->untimed_ns = r->result->ops->whole_ns(r->device);
    return status;
}

enum weir_status runner_run_one(struct runner *r, bool is_timed, struct replay_sample *sample,
                                struct weir_error *err)
{
    enum weir_status status = r->device == NULL ? open_device(r, err) : WEIR_OK;

    if (status == WEIR_OK)
        status = is_timed ? run_timed(r, sample, err) : run_untimed(r, sample, err);
    if (r->options->is_cold)
        runner_close(r);
    return status;
}

void runner_end(struct runner *r)
{
    for (uint32_t i = 0; i < r->n_passes; i++)
        end_pass(&r->passes[i]);
    free(r->passes);
}
