/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is what was read a run of its graph? A store can be damaged, or edited by hand: after this,
 * every id in the run is one of the graph's or WEIR_NONE where there may be none, every word a
 * word of ours, and times run forwards, so that nobody who uses it has to ask again. */
#include <inttypes.h>
#include <stdlib.h>

#include "store/store_internal.h"

static enum weir_status damaged(const char *what, size_t row, struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE,
                          "the run is damaged: %s %zu names what its graph has not, or a time "
                          "that cannot be; bring the file back from a copy, or simulate again",
                          what, row);
}

static bool is_node(const struct timeline *timeline, weir_node node)
{
    return node.index < timeline->n_nodes;
}

static bool is_node_or_none(const struct timeline *timeline, weir_node node)
{
    return !weir_is(node) || is_node(timeline, node);
}

static bool is_object_or_none(const struct graph *graph, weir_object object)
{
    return !weir_is(object) || object.index < graph_n_objects(graph);
}

static bool is_span(const struct timeline *timeline, const struct timeline_span *span)
{
    bool has_started = span->start_ns != -1;
    bool has_order = span->order != WEIR_NONE;

    if (!is_node_or_none(timeline, span->blocker) || span->cause > WAIT_OVERLAP ||
        span->source > TIME_EVENT || (has_order && span->order >= timeline->n_nodes) ||
        span->isolated_ns < -1)
        return false;
    if (!has_started)
        return span->finish_ns == -1;
    return span->start_ns >= 0 && (span->finish_ns == -1 || span->finish_ns >= span->start_ns);
}

static bool is_wait(const struct timeline *timeline, const struct graph *graph,
                    const struct timeline_wait *wait)
{
    return is_node(timeline, wait->node) && (unsigned)wait->cause <= WAIT_OVERLAP &&
           is_node_or_none(timeline, wait->blocker) && is_object_or_none(graph, wait->object) &&
           wait->from_ns >= 0 && wait->to_ns >= wait->from_ns;
}

static bool is_hold(const struct timeline *timeline, const struct graph *graph,
                    const struct timeline_hold *hold)
{
    return hold->domain.index < timeline->n_domains && is_object_or_none(graph, hold->object) &&
           is_node_or_none(timeline, hold->node) && hold->bytes >= 0 && hold->acquire_ns >= 0 &&
           (hold->release_ns == -1 || hold->release_ns >= hold->acquire_ns);
}

static bool is_induced(const struct timeline *timeline, const struct timeline_induced *induced)
{
    return is_node(timeline, induced->producer) && is_node(timeline, induced->consumer) &&
           induced->domain.index < timeline->n_domains && induced->bytes >= 0;
}

static enum weir_status check_lists(const struct timeline *timeline, const struct graph *graph,
                                    struct weir_error *err)
{
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        if (timeline->peak_bytes[i] < 0)
            return damaged("peak", i, err);
    }
    for (size_t i = 0; i < timeline->n_waits; i++) {
        if (!is_wait(timeline, graph, &timeline->waits[i]))
            return damaged("wait", i, err);
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        if (timeline->pressures[i].t_ns < 0 || timeline->pressures[i].bytes < 0)
            return damaged("pressure", i, err);
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        if (!is_hold(timeline, graph, &timeline->holds[i]))
            return damaged("hold", i, err);
    }
    for (size_t i = 0; i < timeline->n_induced; i++) {
        if (!is_induced(timeline, &timeline->induced[i]))
            return damaged("induced edge", i, err);
    }
    return WEIR_OK;
}

static enum weir_status check_spans(const struct timeline *timeline, int64_t n_started,
                                    struct weir_error *err)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        if (!is_span(timeline, &timeline->spans[i]))
            return damaged("span", i, err);
        n += timeline->spans[i].start_ns != -1 ? 1 : 0;
    }
    if (n == n_started)
        return WEIR_OK;
    return weir_error_set(err, WEIR_STORE,
                          "the run is damaged: %" PRId64 " nodes have a start, of the %" PRId64
                          " that it counts; bring the file back from a copy, or simulate again",
                          n, n_started);
}

/* So small that any few of them can be added. */
static bool are_parts(const struct deviation *parts)
{
    const int64_t most_ns = INT64_MAX / 8;

    return llabs(parts->dependency_ns / 2) < most_ns && llabs(parts->submission_ns / 2) < most_ns &&
           llabs(parts->queue_ns / 2) < most_ns && llabs(parts->stretch_ns / 2) < most_ns;
}

static bool is_action(const struct run *run, const struct run_action *action)
{
    uint32_t n_nodes = run->timeline->n_nodes;
    bool has_queue = action->queue != WEIR_NONE;

    return is_node(run->timeline, action->node) && (!has_queue || action->queue < run->n_queues) &&
           (has_queue ? action->position < n_nodes && action->planned_position < n_nodes
                      : action->position == WEIR_NONE && action->planned_position == WEIR_NONE) &&
           action->planned_order < n_nodes && are_parts(&action->deviation);
}

static bool is_link(const struct run *run, const struct run_link *link)
{
    return is_node(run->timeline, link->node) && link->cause != NULL && link->start_ns >= 0 &&
           link->finish_ns >= link->start_ns && are_parts(&link->deviation);
}

static enum weir_status check_replay(const struct run *run, struct weir_error *err)
{
    for (size_t i = 0; i < run->n_queues; i++) {
        if (run->queues[i] == NULL)
            return damaged("queue", i, err);
    }
    for (size_t i = 0; i < run->n_actions; i++) {
        if (!is_action(run, &run->actions[i]))
            return damaged("action", i, err);
    }
    for (size_t i = 0; i < run->n_inserted; i++) {
        if (!is_node(run->timeline, run->inserted[i].consumer) ||
            !is_node_or_none(run->timeline, run->inserted[i].producer) ||
            run->inserted[i].why == NULL)
            return damaged("inserted constraint", i, err);
    }
    for (size_t i = 0; i < run->n_links; i++) {
        if (!is_link(run, &run->links[i]))
            return damaged("link of the chain", i, err);
    }
    return WEIR_OK;
}

static enum weir_status check_run(const struct run *run, struct weir_error *err)
{
    for (size_t i = 0; i < run->n_mechanisms; i++) {
        if (!is_node_or_none(run->timeline, run->mechanisms[i].node) ||
            run->mechanisms[i].mechanism == NULL)
            return damaged("mechanism", i, err);
    }
    for (size_t i = 0; i < run->n_deviations; i++) {
        if (!is_node_or_none(run->timeline, run->deviations[i].node) ||
            run->deviations[i].what == NULL)
            return damaged("deviation", i, err);
    }
    for (size_t i = 0; i < run->n_overlaps; i++) {
        if (run->overlaps[i].class_a == NULL || run->overlaps[i].class_b == NULL ||
            run->overlaps[i].overlap_ns < 0)
            return damaged("overlap", i, err);
    }
    return check_replay(run, err);
}

enum weir_status run_check(const struct run *run, int64_t n_started, struct weir_error *err)
{
    enum weir_status status = check_spans(run->timeline, n_started, err);

    if (status == WEIR_OK)
        status = check_lists(run->timeline, run->graph, err);
    if (status == WEIR_OK)
        status = check_run(run, err);
    return status == WEIR_OK ? status : weir_error_within(err, "run %" PRId64, run->id);
}
