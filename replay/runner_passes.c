/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the device with the steps, running them, and which of the runs is the replay's. */
#include <stdlib.h>
#include <string.h>

#include "replay/runner_internal.h"

#define ACTIONS (STEP_PASS + 1)

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

enum weir_status runner_open(struct runner *r, struct weir_error *err)
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

void runner_end_pass(struct runner_pass *pass)
{
    timeline_free(pass->timeline);
    free(pass->processor_ns);
    free(pass->submit_ns);
}

enum weir_status runner_run_pass(struct runner *r, bool is_warm_up, struct weir_error *err)
{
    struct replay_result *result = r->result;
    struct runner_pass *pass = &r->passes[r->n_passes];
    enum weir_status status = r->device == NULL ? runner_open(r, err) : WEIR_OK;

    if (status == WEIR_OK)
        status = begin_pass(result->schedule, pass, err);
    if (status == WEIR_OK)
        status = result->ops->drain(r->device, pass->timeline, err);
    if (status != WEIR_OK) {
        runner_end_pass(pass);
        *pass = (struct runner_pass){NULL, NULL, NULL};
        return status;
    }
    for (uint32_t s = 0; s < result->schedule->steps.n_steps; s++) {
        pass->processor_ns[s] = result->ops->processor_ns(r->device, s);
        pass->submit_ns[s] = result->ops->submitted_ns(r->device, s);
    }
    result->ops->remark(r->device, r->remark, sizeof r->remark);
    if (result->ops->placed != NULL)
        result->ops->placed(r->device, &result->placed);
    result->samples[result->n_samples++] =
        (struct replay_sample){pass->timeline->makespan_ns, is_warm_up};
    if (is_warm_up)
        runner_end_pass(pass);
    else
        r->n_passes++;
    if (r->options->is_cold)
        runner_close(r);
    return WEIR_OK;
}

/* The pass with the median makespan, the shorter of two; of equal ones the first. */
uint32_t runner_median(const struct runner *r)
{
    for (uint32_t i = 0; i < r->n_passes; i++) {
        uint32_t n_before = 0;

        for (uint32_t j = 0; j < r->n_passes; j++) {
            int64_t other_ns = r->passes[j].timeline->makespan_ns;
            int64_t own_ns = r->passes[i].timeline->makespan_ns;

            n_before += other_ns < own_ns || (other_ns == own_ns && j < i);
        }
        if (n_before == (r->n_passes - 1) / 2)
            return i;
    }
    return 0;
}
