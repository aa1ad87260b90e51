/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects: from the value of a statement to a row and a rare record, and back; where they live and
 * whose bytes they are. */
#include <assert.h>
#include <stddef.h>

#include "graph/graph_internal.h"

static enum weir_status fill_row(struct graph *graph, struct object_row *row,
                                 const struct graph_object *value, struct weir_error *err)
{
    struct rare_draft draft = {0};
    uint32_t placements = (uint32_t)rare_get(&graph->rares, row->rare, OBJECT_RARE_PLACEMENTS, 0);
    enum weir_status status =
        list_put(&graph->domain_lists, value->placements, value->n_placements, &placements, err);

    if (status != WEIR_OK)
        return status;
    rare_add(&draft, OBJECT_RARE_ALIGN, value->align_bytes, 0);
    rare_add(&draft, OBJECT_RARE_PLACEMENTS, placements, 0);
    rare_add(&draft, OBJECT_RARE_ALIAS_OFFSET, value->alias_offset_bytes, 0);
    rare_add(&draft, OBJECT_RARE_READY, value->ready_ns, 0);
    rare_add(&draft, OBJECT_RARE_RECOMPUTE, value->recompute.index, WEIR_NONE);
    rare_add(&draft, OBJECT_RARE_PLANNED_OFFSET, value->planned_offset_bytes, -1);
    rare_add(&draft, OBJECT_RARE_PLANNED_DOMAIN, value->planned_domain.index, WEIR_NONE);
    rare_add(&draft, OBJECT_RARE_ORIGIN, value->origin.index, 0);
    status = rare_put(&graph->rares, &draft, &row->rare, err);
    if (status != WEIR_OK)
        return status;
    row->size_bytes = value->size_bytes;
    row->domain = value->domain.index;
    row->alias_of = value->alias_of.index;
    row->flags = (uint8_t)((value->is_initial ? OBJECT_IS_INITIAL : 0) |
                           (value->is_retained ? OBJECT_IS_RETAINED : 0) |
                           (value->is_offloadable ? OBJECT_IS_OFFLOADABLE : 0));
    return evidence_put(graph, &value->evidence, &row->evidence, err);
}

static enum weir_status add_row(struct graph *graph, const struct object_row *row, weir_object *out,
                                struct weir_error *err)
{
    weir_text name = {row->name};
    enum weir_status status;

    assert(row->name != 0 && name_index_find(&graph->object_by_name, name) == WEIR_NONE);
    status = graph_row_room(&graph->objects, &graph->objects_room, graph->n_objects,
                            sizeof *graph->objects, err);
    if (status == WEIR_OK)
        status = name_index_put(&graph->object_by_name, name, graph->n_objects, err);
    if (status != WEIR_OK)
        return status;
    graph->objects[graph->n_objects] = *row;
    out->index = graph->n_objects++;
    return WEIR_OK;
}

enum weir_status graph_declare_object(struct graph *graph, weir_text name, weir_object *out,
                                      struct weir_error *err)
{
    const struct object_row row = {.name = name.index, .domain = WEIR_NONE, .alias_of = WEIR_NONE};

    return add_row(graph, &row, out, err);
}

enum weir_status graph_add_object(struct graph *graph, const struct graph_object *value,
                                  weir_object *out, struct weir_error *err)
{
    struct object_row row = {.name = value->name.index};
    enum weir_status status = fill_row(graph, &row, value, err);

    return status != WEIR_OK ? status : add_row(graph, &row, out, err);
}

enum weir_status graph_set_object(struct graph *graph, weir_object id,
                                  const struct graph_object *value, struct weir_error *err)
{
    assert(id.index < graph->n_objects && value->name.index == graph->objects[id.index].name);
    return fill_row(graph, &graph->objects[id.index], value, err);
}

uint32_t graph_n_objects(const struct graph *graph)
{
    return graph->n_objects;
}

static const struct object_row *row_of(const struct graph *graph, weir_object id)
{
    assert(id.index < graph->n_objects);
    return &graph->objects[id.index];
}

static void get_rares(const struct graph *graph, uint32_t rare, struct graph_object *out)
{
    const struct rare_pool *rares = &graph->rares;
    uint32_t at = (uint32_t)rare_get(rares, rare, OBJECT_RARE_PLACEMENTS, 0);

    out->placements = list_get(&graph->domain_lists, at, &out->n_placements);
    out->align_bytes = rare_get(rares, rare, OBJECT_RARE_ALIGN, 0);
    out->alias_offset_bytes = rare_get(rares, rare, OBJECT_RARE_ALIAS_OFFSET, 0);
    out->ready_ns = rare_get(rares, rare, OBJECT_RARE_READY, 0);
    out->recompute.index = rare_id(rares, rare, OBJECT_RARE_RECOMPUTE);
    out->planned_offset_bytes = rare_get(rares, rare, OBJECT_RARE_PLANNED_OFFSET, -1);
    out->planned_domain.index = rare_id(rares, rare, OBJECT_RARE_PLANNED_DOMAIN);
    out->origin.index = (uint32_t)rare_get(rares, rare, OBJECT_RARE_ORIGIN, 0);
}

void graph_object(const struct graph *graph, weir_object id, struct graph_object *out)
{
    const struct object_row *row = row_of(graph, id);

    *out = graph_object_default;
    out->name.index = row->name;
    out->size_bytes = row->size_bytes;
    out->domain.index = row->domain;
    out->alias_of.index = row->alias_of;
    out->is_initial = (row->flags & OBJECT_IS_INITIAL) != 0;
    out->is_retained = (row->flags & OBJECT_IS_RETAINED) != 0;
    out->is_offloadable = (row->flags & OBJECT_IS_OFFLOADABLE) != 0;
    out->evidence = graph->evidences[row->evidence];
    if (row->rare != 0)
        get_rares(graph, row->rare, out);
}

weir_object graph_find_object(const struct graph *graph, weir_text name)
{
    return (weir_object){name_index_find(&graph->object_by_name, name)};
}

const char *graph_object_name(const struct graph *graph, weir_object id)
{
    return names_text(graph->texts, row_of(graph, id)->name);
}

weir_object graph_object_root(const struct graph *graph, weir_object id, int64_t *offset_bytes)
{
    const struct object_row *row = row_of(graph, id);
    int64_t offset = 0;

    /* A circle of aliases, which the check of statements refuses, ends after n_objects steps. */
    for (uint32_t step = 0; row->alias_of != WEIR_NONE && step < graph->n_objects; step++) {
        int64_t inner = rare_get(&graph->rares, row->rare, OBJECT_RARE_ALIAS_OFFSET, 0);
        if (__builtin_add_overflow(offset, inner, &offset))
            offset = INT64_MAX;
        id.index = row->alias_of;
        row = row_of(graph, id);
    }
    if (offset_bytes != NULL)
        *offset_bytes = offset;
    return id;
}

weir_domain graph_object_home(const struct graph *graph, weir_object id)
{
    /* An alias has its object's copies, so the home of those. */
    uint32_t domain = row_of(graph, graph_object_root(graph, id, NULL))->domain;

    if (domain == WEIR_NONE && graph->n_domains > 0)
        domain = 0;
    return (weir_domain){domain};
}
