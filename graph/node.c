/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes: from the value of a statement to a row, a rare record and lists, and back; and what the
 * defaults of the text form make of them. */
#include <assert.h>

#include "graph/graph_internal.h"

/* Lists go to their pools; what is kept there becomes the position of the list. */
static enum weir_status put_lists(struct graph *graph, struct node_row *row,
                                  const struct graph_node *value, uint32_t rare_lists[3],
                                  struct weir_error *err)
{
    bool has_times = value->has_duration && value->duration.kind != DISTRIBUTION_FIXED;
    enum weir_status status;

    status = list_put(&graph->accesses, value->reads, value->n_reads, &row->reads, err);
    if (status == WEIR_OK)
        status = list_put(&graph->object_lists, value->writes, value->n_writes, &row->writes, err);
    if (status == WEIR_OK)
        status = list_put(&graph->times, value->duration.values_ns,
                          has_times ? value->duration.n_values : 0, &rare_lists[0], err);
    if (status == WEIR_OK)
        status =
            list_put(&graph->charges, value->workspace, value->n_workspace, &rare_lists[1], err);
    if (status == WEIR_OK)
        status = list_put(&graph->demands, value->uses, value->n_uses, &rare_lists[2], err);
    return status;
}

static void draft_rares(struct rare_draft *draft, const struct graph_node *value,
                        const uint32_t rare_lists[3])
{
    bool is_cost_taken = value->has_duration && value->duration.kind == DISTRIBUTION_FIXED;

    rare_add(draft, NODE_RARE_BYTES, is_cost_taken ? value->bytes : -1, -1);
    rare_add(draft, NODE_RARE_TIMES, rare_lists[0], 0);
    rare_add(draft, NODE_RARE_FROM, value->from.index, WEIR_NONE);
    rare_add(draft, NODE_RARE_TO, value->to.index, WEIR_NONE);
    rare_add(draft, NODE_RARE_STAGING_BYTES, value->staging.bytes, -1);
    rare_add(draft, NODE_RARE_STAGING_DOMAIN, value->staging.domain.index, WEIR_NONE);
    rare_add(draft, NODE_RARE_WORKSPACE, rare_lists[1], 0);
    rare_add(draft, NODE_RARE_USES, rare_lists[2], 0);
    rare_add(draft, NODE_RARE_PRIORITY, value->priority, 0);
    rare_add(draft, NODE_RARE_RELEASE, value->release_ns, 0);
    rare_add(draft, NODE_RARE_DEADLINE, value->deadline_ns, -1);
    rare_add(draft, NODE_RARE_GUARD, value->guard.index, WEIR_NONE);
    rare_add(draft, NODE_RARE_GROUP, value->group.index, 0);
    rare_add(draft, NODE_RARE_FALLBACK, value->fallback, FALLBACK_NONE);
    rare_add(draft, NODE_RARE_FALLBACK_NODE, value->fallback_node.index, WEIR_NONE);
    rare_add(draft, NODE_RARE_ORIGIN, value->origin.index, 0);
}

static void set_row(struct node_row *row, const struct graph_node *value)
{
    uint8_t flags = value->is_speculative ? NODE_IS_SPECULATIVE : 0;

    int64_t cost = 0;

    if (value->has_duration && value->duration.kind == DISTRIBUTION_FIXED) {
        cost = value->duration.values_ns[0]; /* which may be this row's */
        flags |= NODE_COST_IS_DURATION;
    } else if (value->bytes >= 0) {
        cost = value->bytes;
        flags |= NODE_COST_IS_BYTES;
    }
    row->cost = cost;
    row->distribution = value->has_duration ? (uint8_t)(value->duration.kind + 1) : 0;
    row->engine = value->engine.index;
    row->object = value->object.index;
    row->domain = value->domain.index;
    row->class_given = value->class_given.index;
    row->kind = (uint8_t)value->kind;
    row->purity = (uint8_t)value->purity;
    row->flags = flags;
}

static enum weir_status fill_row(struct graph *graph, struct node_row *row,
                                 const struct graph_node *value, struct weir_error *err)
{
    struct rare_draft draft = {0};
    const struct rare_pool *rares = &graph->rares;
    uint32_t rare_lists[3] = {
        (uint32_t)rare_get(rares, row->rare, NODE_RARE_TIMES, 0),
        (uint32_t)rare_get(rares, row->rare, NODE_RARE_WORKSPACE, 0),
        (uint32_t)rare_get(rares, row->rare, NODE_RARE_USES, 0),
    };
    enum weir_status status;

    set_row(row, value);
    status = put_lists(graph, row, value, rare_lists, err);
    if (status != WEIR_OK)
        return status;
    draft_rares(&draft, value, rare_lists);
    status = rare_put(&graph->rares, &draft, &row->rare, err);
    if (status == WEIR_OK)
        status = evidence_put(graph, &value->evidence, &row->evidence, err);
    return status;
}

static enum weir_status add_row(struct graph *graph, const struct node_row *row, weir_node *out,
                                struct weir_error *err)
{
    weir_text name = {row->name};
    enum weir_status status;

    assert(row->name != 0 && name_index_find(&graph->node_by_name, name) == WEIR_NONE);
    status = graph_row_room(&graph->nodes, &graph->nodes_room, graph->n_nodes, sizeof *graph->nodes,
                            err);
    if (status == WEIR_OK)
        status = name_index_put(&graph->node_by_name, name, graph->n_nodes, err);
    if (status != WEIR_OK)
        return status;
    graph->nodes[graph->n_nodes] = *row;
    out->index = graph->n_nodes++;
    return WEIR_OK;
}

enum weir_status graph_declare_node(struct graph *graph, weir_text name, weir_node *out,
                                    struct weir_error *err)
{
    const struct node_row row = {
        .name = name.index,
        .engine = WEIR_NONE,
        .object = WEIR_NONE,
        .domain = WEIR_NONE,
        .class_given = WEIR_NONE,
    };

    return add_row(graph, &row, out, err);
}

enum weir_status graph_add_node(struct graph *graph, const struct graph_node *value, weir_node *out,
                                struct weir_error *err)
{
    struct node_row row = {.name = value->name.index};
    enum weir_status status = fill_row(graph, &row, value, err);

    return status != WEIR_OK ? status : add_row(graph, &row, out, err);
}

enum weir_status graph_set_node(struct graph *graph, weir_node id, const struct graph_node *value,
                                struct weir_error *err)
{
    assert(id.index < graph->n_nodes && value->name.index == graph->nodes[id.index].name);
    return fill_row(graph, &graph->nodes[id.index], value, err);
}

uint32_t graph_n_nodes(const struct graph *graph)
{
    return graph->n_nodes;
}

static const struct node_row *row_of(const struct graph *graph, weir_node id)
{
    assert(id.index < graph->n_nodes);
    return &graph->nodes[id.index];
}

static void get_costs(const struct graph *graph, const struct node_row *row, struct graph_node *out)
{
    out->has_duration = row->distribution != 0;
    out->bytes = rare_get(&graph->rares, row->rare, NODE_RARE_BYTES, -1);
    if ((row->flags & NODE_COST_IS_BYTES) != 0)
        out->bytes = row->cost;
    if (!out->has_duration)
        return;
    out->duration.kind = (enum distribution_kind)(row->distribution - 1);
    if ((row->flags & NODE_COST_IS_DURATION) != 0) {
        out->duration.values_ns = &row->cost;
        out->duration.n_values = 1;
    } else {
        uint32_t at = (uint32_t)rare_get(&graph->rares, row->rare, NODE_RARE_TIMES, 0);
        out->duration.values_ns = list_get(&graph->times, at, &out->duration.n_values);
    }
}

static void get_rares(const struct graph *graph, uint32_t rare, struct graph_node *out)
{
    const struct rare_pool *rares = &graph->rares;
    uint32_t at;

    out->from.index = rare_id(rares, rare, NODE_RARE_FROM);
    out->to.index = rare_id(rares, rare, NODE_RARE_TO);
    out->staging.bytes = rare_get(rares, rare, NODE_RARE_STAGING_BYTES, -1);
    out->staging.domain.index = rare_id(rares, rare, NODE_RARE_STAGING_DOMAIN);
    at = (uint32_t)rare_get(rares, rare, NODE_RARE_WORKSPACE, 0);
    out->workspace = list_get(&graph->charges, at, &out->n_workspace);
    at = (uint32_t)rare_get(rares, rare, NODE_RARE_USES, 0);
    out->uses = list_get(&graph->demands, at, &out->n_uses);
    out->priority = rare_get(rares, rare, NODE_RARE_PRIORITY, 0);
    out->release_ns = rare_get(rares, rare, NODE_RARE_RELEASE, 0);
    out->deadline_ns = rare_get(rares, rare, NODE_RARE_DEADLINE, -1);
    out->guard.index = rare_id(rares, rare, NODE_RARE_GUARD);
    out->group.index = (uint32_t)rare_get(rares, rare, NODE_RARE_GROUP, 0);
    out->fallback = (enum fallback_kind)rare_get(rares, rare, NODE_RARE_FALLBACK, FALLBACK_NONE);
    out->fallback_node.index = rare_id(rares, rare, NODE_RARE_FALLBACK_NODE);
    out->origin.index = (uint32_t)rare_get(rares, rare, NODE_RARE_ORIGIN, 0);
}

void graph_node(const struct graph *graph, weir_node id, struct graph_node *out)
{
    const struct node_row *row = row_of(graph, id);

    *out = graph_node_default;
    out->name.index = row->name;
    out->kind = (enum node_kind)row->kind;
    out->engine.index = row->engine;
    out->object.index = row->object;
    out->domain.index = row->domain;
    out->class_given.index = row->class_given;
    out->purity = (enum purity)row->purity;
    out->is_speculative = (row->flags & NODE_IS_SPECULATIVE) != 0;
    out->evidence = graph->evidences[row->evidence];
    out->reads = list_get(&graph->accesses, row->reads, &out->n_reads);
    out->writes = list_get(&graph->object_lists, row->writes, &out->n_writes);
    get_costs(graph, row, out);
    if (row->rare != 0)
        get_rares(graph, row->rare, out);
}

weir_node graph_find_node(const struct graph *graph, weir_text name)
{
    return (weir_node){name_index_find(&graph->node_by_name, name)};
}

const char *graph_node_name(const struct graph *graph, weir_node id)
{
    return names_text(graph->texts, row_of(graph, id)->name);
}

enum node_kind graph_node_kind(const struct graph *graph, weir_node id)
{
    return (enum node_kind)row_of(graph, id)->kind;
}

weir_engine graph_node_engine(const struct graph *graph, weir_node id)
{
    return (weir_engine){row_of(graph, id)->engine};
}

weir_class graph_node_class(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);

    if (row->class_given != WEIR_NONE || row->engine == WEIR_NONE)
        return (weir_class){row->class_given};
    return graph->engines[row->engine].class_;
}

weir_domain graph_node_domain(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);

    if (row->domain != WEIR_NONE)
        return (weir_domain){row->domain};
    if (row->engine != WEIR_NONE && weir_is(graph->engines[row->engine].domain))
        return graph->engines[row->engine].domain;
    return (weir_domain){graph->n_domains > 0 ? 0 : WEIR_NONE};
}

weir_domain graph_charge_domain(const struct graph *graph, weir_node node,
                                const struct graph_charge *charge)
{
    return weir_is(charge->domain) ? charge->domain : graph_node_domain(graph, node);
}

weir_domain graph_node_from(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);
    weir_domain from = {rare_id(&graph->rares, row->rare, NODE_RARE_FROM)};

    if (!weir_is(from) && row->engine != WEIR_NONE)
        from = graph->engines[row->engine].from;
    if (!weir_is(from) && row->object != WEIR_NONE)
        from = graph_object_home(graph, (weir_object){row->object});
    return from;
}

weir_domain graph_node_to(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);
    weir_domain to = {rare_id(&graph->rares, row->rare, NODE_RARE_TO)};

    if (!weir_is(to) && row->engine != WEIR_NONE)
        to = graph->engines[row->engine].to;
    return to;
}

void graph_node_soon(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);

    __builtin_prefetch(row); /* a row may lie across two lines */
    __builtin_prefetch((const char *)row + sizeof *row - 1);
}

weir_text graph_node_group(const struct graph *graph, weir_node id)
{
    return (weir_text){
        (uint32_t)rare_get(&graph->rares, row_of(graph, id)->rare, NODE_RARE_GROUP, 0)};
}

struct graph_node_place graph_node_place(const struct graph *graph, weir_node id)
{
    const struct node_row *row = row_of(graph, id);
    uint32_t class_ = row->class_given;

    if (class_ == WEIR_NONE && row->engine != WEIR_NONE)
        class_ = graph->engines[row->engine].class_.index;
    return (struct graph_node_place){
        {row->engine},
        {class_},
        {(uint32_t)rare_get(&graph->rares, row->rare, NODE_RARE_GROUP, 0)}};
}

bool graph_node_is_speculative(const struct graph *graph, weir_node id)
{
    return (row_of(graph, id)->flags & NODE_IS_SPECULATIVE) != 0;
}

bool graph_node_is_on(const struct graph *graph, weir_node id)
{
    uint32_t guard = rare_id(&graph->rares, row_of(graph, id)->rare, NODE_RARE_GUARD);

    return guard == WEIR_NONE || graph->guards[guard].is_on;
}
