/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots are not in a timeline; they follow from it, since a node takes a slot that is free. Any
 * choice is one that the plan allows: the first free one keeps the queues few. */
#include "replay/lanes.h"

#include <string.h>

/* Lanes of one engine, or of one kind without an engine, in the order of their slots. */
struct group {
    uint32_t first, last; /* WEIR_NONE: none yet */
    uint32_t n_lanes;
};

bool lanes_needs_queue(enum node_kind kind, int64_t isolated_ns)
{
    return isolated_ns > 0 || graph_kind_is_copy(kind);
}

void lanes_name(const struct graph *graph, const struct lane *lane, char *out, size_t out_bytes)
{
    if (!weir_is(lane->engine))
        (void)snprintf(out, out_bytes, "%s without engine/%u", node_kind_name(lane->kind),
                       lane->slot);
    else if (graph_engine(graph, lane->engine)->slots == 1)
        (void)snprintf(out, out_bytes, "%s",
                       graph_text(graph, graph_engine(graph, lane->engine)->name));
    else
        (void)snprintf(out, out_bytes, "%s/%u",
                       graph_text(graph, graph_engine(graph, lane->engine)->name), lane->slot);
}

static enum weir_status too_many(const struct graph *graph, const struct lane *lane,
                                 struct weir_error *err)
{
    char name[160];

    lanes_name(graph, lane, name, sizeof name);
    return weir_error_set(err, WEIR_DEVICE,
                          "the plan needs more than %d queues (one more is %s): a replay runs each "
                          "slot of an engine that is used at once on a thread of its own; give the "
                          "engines fewer slots, or put the nodes on an engine, and simulate again",
                          LANES_MOST, name);
}

/* The group's first lane that is free at that time, or a new one. */
static enum weir_status find_lane(const struct graph *graph, struct lanes *lanes,
                                  struct group *group, const struct lane *like, int64_t start_ns,
                                  uint32_t *out, struct weir_error *err)
{
    struct lane *lane;

    for (uint32_t l = group->first; l != WEIR_NONE; l = lanes->lanes[l].next_of_group) {
        if (lanes->lanes[l].busy_until_ns <= start_ns) {
            *out = l;
            return WEIR_OK;
        }
    }
    if (lanes->n_lanes == LANES_MOST)
        return too_many(graph, like, err);
    lane = &lanes->lanes[lanes->n_lanes];
    *lane = *like;
    lane->slot = group->n_lanes++;
    lane->busy_until_ns = INT64_MIN;
    lane->next_of_group = WEIR_NONE;
    if (group->first == WEIR_NONE)
        group->first = lanes->n_lanes;
    else
        lanes->lanes[group->last].next_of_group = lanes->n_lanes;
    group->last = lanes->n_lanes;
    *out = lanes->n_lanes++;
    return WEIR_OK;
}

bool lanes_is_ordered(const struct graph *graph, const struct lane *lane)
{
    return weir_is(lane->engine) && graph_engine(graph, lane->engine)->slots == 1;
}

static enum weir_status assign_node(const struct graph *graph, const struct timeline *plan,
                                    weir_node node, struct group *groups, struct lanes *lanes,
                                    struct weir_error *err)
{
    const struct timeline_span *span = &plan->spans[node.index];
    struct lane like = {.engine = graph_node_engine(graph, node),
                        .kind = graph_node_kind(graph, node)};
    struct group *group;
    enum weir_status status;
    uint32_t l = 0;

    if (!weir_is(like.engine) && !lanes_needs_queue(like.kind, span->isolated_ns))
        return WEIR_OK;
    group = weir_is(like.engine) ? &groups[like.engine.index]
                                 : &groups[graph_n_engines(graph) + (uint32_t)like.kind];
    status = find_lane(graph, lanes, group, &like, span->start_ns, &l, err);
    if (status != WEIR_OK)
        return status;
    lanes->lanes[l].busy_until_ns = span->finish_ns;
    lanes->of_node[node.index] = l;
    return WEIR_OK;
}

enum weir_status lanes_assign(const struct graph *graph, const struct timeline *plan,
                              const weir_node *order, uint32_t n_started, struct arena *arena,
                              struct lanes *out, struct weir_error *err)
{
    size_t n_groups = (size_t)graph_n_engines(graph) + NODE_KINDS;
    struct group *groups = arena_array(arena, n_groups, sizeof *groups);
    struct lanes lanes = {.lanes = arena_array(arena, LANES_MOST, sizeof *lanes.lanes),
                          .of_node = arena_array(arena, plan->n_nodes, sizeof *lanes.of_node)};
    enum weir_status status = WEIR_OK;

    if (groups == NULL || lanes.lanes == NULL || lanes.of_node == NULL)
        return weir_error_memory(err);
    memset(lanes.of_node, 0xff, plan->n_nodes * sizeof *lanes.of_node);
    for (size_t g = 0; g < n_groups; g++)
        groups[g] = (struct group){.first = WEIR_NONE, .last = WEIR_NONE};
    for (uint32_t i = 0; i < n_started && status == WEIR_OK; i++)
        status = assign_node(graph, plan, order[i], groups, &lanes, err);
    if (status == WEIR_OK)
        *out = lanes;
    return status;
}
