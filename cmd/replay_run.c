/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened, in the store's words, and into the store. */
#include <stdlib.h>

#include "cmd/replay_internal.h"
#include "judge/overlap.h"

void replay_lists_free(struct replay_lists *lists)
{
    free(lists->mechanisms);
    free(lists->deviations);
    free(lists->samples);
    free(lists->actions);
    free(lists->queues);
    free(lists->inserted);
    free(lists->links);
    free(lists->overlaps);
    *lists = (struct replay_lists){.mechanisms = NULL};
}

static bool have_room(const struct replay_result *result, struct replay_lists *lists)
{
    const struct schedule *schedule = result->schedule;

    lists->mechanisms = malloc((result->n_mechanisms + (size_t)1) * sizeof *lists->mechanisms);
    lists->deviations = malloc((result->n_deviations_kept + (size_t)1) * sizeof *lists->deviations);
    lists->samples = malloc((result->n_samples + (size_t)1) * sizeof *lists->samples);
    lists->actions = malloc((schedule->steps.n_started + (size_t)1) * sizeof *lists->actions);
    lists->queues = calloc(schedule->lanes.n_lanes + (size_t)1, sizeof *lists->queues);
    lists->inserted = malloc((schedule->waits.n_inserted + 1) * sizeof *lists->inserted);
    lists->links = malloc((result->deviate.n_links + (size_t)1) * sizeof *lists->links);
    return lists->mechanisms != NULL && lists->deviations != NULL && lists->samples != NULL &&
           lists->actions != NULL && lists->queues != NULL && lists->inserted != NULL &&
           lists->links != NULL;
}

static void list_what_was_said(const struct replay_result *result, struct replay_lists *lists)
{
    for (uint32_t i = 0; i < result->n_mechanisms; i++)
        lists->mechanisms[i] = (struct run_mechanism){.node = result->mechanisms[i].node,
                                                      .mechanism = result->mechanisms[i].name,
                                                      .note = result->mechanisms[i].note};
    for (uint32_t i = 0; i < result->n_deviations_kept; i++)
        lists->deviations[i] =
            (struct run_deviation){.node = result->deviations.list[i].node,
                                   .what = result->deviations.list[i].what,
                                   .cost_ns = result->deviations.list[i].cost_ns};
    for (uint32_t i = 0; i < result->n_samples; i++)
        lists->samples[i] = (struct run_sample){.number = i,
                                                .makespan_ns = result->samples[i].makespan_ns,
                                                .is_warm_up = result->samples[i].is_warm_up};
}

/* By node. @return how many */
static size_t list_actions(const struct replay_result *result, struct run_action *actions)
{
    const struct schedule *schedule = result->schedule;
    size_t n = 0;

    for (uint32_t i = 0; i < schedule->plan->n_nodes; i++) {
        uint32_t s = schedule->steps.step_of[i];
        const struct deviate_action *action = &result->deviate.actions[s];
        bool has_queue;

        if (s >= schedule->steps.n_started)
            continue;
        has_queue = schedule->step[s].queue != STEP_NO_QUEUE;
        actions[n++] = (struct run_action){.node = {i},
                                           .queue = has_queue ? schedule->step[s].queue : WEIR_NONE,
                                           .position = has_queue ? action->position : WEIR_NONE,
                                           .planned_position =
                                               has_queue ? action->planned_position : WEIR_NONE,
                                           .planned_order = s,
                                           .submit_ns = action->submit_ns,
                                           .cost_ns = action->cost_ns,
                                           .deviation = action->deviation};
    }
    return n;
}

static enum weir_status list_queues(struct replay_result *result, const char **queues,
                                    struct weir_error *err)
{
    struct schedule *schedule = result->schedule;

    for (uint32_t q = 0; q < schedule->lanes.n_lanes; q++) {
        char name[160];

        lanes_name(schedule->graph, &schedule->lanes.lanes[q], name, sizeof name);
        queues[q] = schedule_text(schedule, "%s", name);
        if (queues[q] == NULL)
            return weir_error_memory(err);
    }
    return WEIR_OK;
}

static void list_inserted(const struct waits *waits, struct run_inserted *inserted)
{
    for (size_t i = 0; i < waits->n_inserted; i++) {
        const struct waits_inserted *item = &waits->inserted[i];

        inserted[i] = (struct run_inserted){.producer = item->producer,
                                            .consumer = item->consumer,
                                            .is_from_start = item->is_from_start,
                                            .not_before_ns =
                                                weir_is(item->producer) ? -1 : item->not_before_ns,
                                            .why = inserted_why_text(item->why)};
    }
}

static void list_links(const struct deviate *deviate, struct run_link *links)
{
    for (uint32_t i = 0; i < deviate->n_links; i++) {
        const struct deviate_link *link = &deviate->links[i];

        links[i] = (struct run_link){.node = link->node,
                                     .cause = deviate_cause_name(link->cause),
                                     .via = link->via,
                                     .start_ns = link->start_ns,
                                     .finish_ns = link->finish_ns,
                                     .deviation = link->deviation};
    }
}

static enum weir_status list_overlaps(struct replay_work *work, struct weir_error *err)
{
    struct overlaps overlaps;
    weir_node *order = NULL;
    uint32_t n_started = 0;
    enum weir_status status = timeline_order(work->result->timeline, &order, &n_started, err);

    if (status == WEIR_OK)
        status = overlaps_find(work->run.graph, work->result->timeline, order, n_started, &overlaps,
                               err);
    free(order);
    if (status != WEIR_OK)
        return status;
    status = overlaps_list(work->run.graph, &overlaps, &work->lists.overlaps, err);
    work->run.overlaps = work->lists.overlaps;
    work->run.n_overlaps = overlaps.n_pairs;
    overlaps_free(&overlaps);
    return status;
}

static enum weir_status make_lists(struct replay_work *work, struct weir_error *err)
{
    struct replay_result *result = work->result;
    struct replay_lists *lists = &work->lists;
    enum weir_status status;

    if (!have_room(result, lists))
        return weir_error_memory(err);
    list_what_was_said(result, lists);
    work->run.mechanisms = lists->mechanisms;
    work->run.n_mechanisms = result->n_mechanisms;
    work->run.deviations = lists->deviations;
    work->run.n_deviations = result->n_deviations_kept;
    work->run.actions = lists->actions;
    work->run.n_actions = list_actions(result, lists->actions);
    status = list_queues(result, lists->queues, err);
    work->run.queues = lists->queues;
    work->run.n_queues = result->schedule->lanes.n_lanes;
    list_inserted(&result->schedule->waits, lists->inserted);
    work->run.inserted = lists->inserted;
    work->run.n_inserted = result->schedule->waits.n_inserted;
    list_links(&result->deviate, lists->links);
    work->run.links = lists->links;
    work->run.n_links = result->deviate.n_links;
    return status == WEIR_OK ? list_overlaps(work, err) : status;
}

enum weir_status replay_write_run(const char *db, struct replay_work *work, struct weir_error *err)
{
    const struct replay_result *result = work->result;
    enum weir_status status;

    work->run = work->planned.run; /* hashes, names, policy, machine, seed: those of the plan */
    work->run.id = 0;
    work->run.kind = RUN_REPLAY;
    work->run.scope = work->scope;
    work->run.settings = work->settings;
    work->run.created = NULL;
    work->run.decisions = NULL; /* a replay decides nothing */
    work->run.n_decisions = 0;
    work->run.timeline = result->timeline;
    work->run.binding = work->binding;
    if (work->run.critical_path_ns >= 0)
        work->run.critical_path_ns =
            waits_scaled_ns(work->run.critical_path_ns, result->schedule->scale_time);
    status = make_lists(work, err);
    if (status == WEIR_OK)
        status = store_open(db, false, &work->store, err);
    return status == WEIR_OK ? store_write_run(work->store, &work->run, work->lists.samples,
                                               result->n_samples, err)
                             : status;
}
