/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph as a whole: its texts, its head, and the small tables (domains to params), which are
 * kept as the values they were given as. Nodes, objects and edges are in files of their own. */
#include "graph/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/graph_internal.h"

static void set_item_sizes(struct graph *graph)
{
    graph->accesses.item_bytes = sizeof(struct graph_access);
    graph->object_lists.item_bytes = sizeof(weir_object);
    graph->domain_lists.item_bytes = sizeof(weir_domain);
    graph->charges.item_bytes = sizeof(struct graph_charge);
    graph->demands.item_bytes = sizeof(struct graph_demand);
    graph->times.item_bytes = sizeof(int64_t);
}

struct graph *graph_new(void)
{
    static const struct graph_evidence no_evidence = {.confidence = -1};
    struct graph *graph = calloc(1, sizeof *graph);
    struct weir_error err;
    uint32_t none;

    if (graph == NULL)
        return NULL;
    graph->is_implied = true;
    graph->evidence = no_evidence;
    set_item_sizes(graph);
    graph->texts = names_new();
    graph->evidence_keys = keys_new();
    if (graph->texts == NULL || graph->evidence_keys == NULL ||
        names_intern(graph->texts, "", 0, &none, &err) != WEIR_OK ||
        evidence_put(graph, &no_evidence, &none, &err) != WEIR_OK) {
        graph_free(graph);
        return NULL;
    }
    return graph;
}

static struct name_index *const *indexes_of(struct graph *graph, struct name_index *out[7])
{
    out[0] = &graph->node_by_name;
    out[1] = &graph->object_by_name;
    out[2] = &graph->domain_by_name;
    out[3] = &graph->engine_by_name;
    out[4] = &graph->resource_by_name;
    out[5] = &graph->guard_by_name;
    out[6] = &graph->class_by_name;
    return out;
}

static struct list_pool *const *pools_of(struct graph *graph, struct list_pool *out[6])
{
    out[0] = &graph->accesses;
    out[1] = &graph->object_lists;
    out[2] = &graph->domain_lists;
    out[3] = &graph->charges;
    out[4] = &graph->demands;
    out[5] = &graph->times;
    return out;
}

void graph_free(struct graph *graph)
{
    struct name_index *indexes[7];
    struct list_pool *pools[6];

    if (graph == NULL)
        return;
    for (int i = 0; i < 7; i++)
        free(indexes_of(graph, indexes)[i]->ids_plus_1);
    for (int i = 0; i < 6; i++)
        free(pools_of(graph, pools)[i]->items);
    free(graph->nodes);
    free(graph->objects);
    edge_table_free(&graph->edges);
    free(graph->domains);
    free(graph->engines);
    free(graph->resources);
    free(graph->guards);
    free(graph->kappas);
    free(graph->overlaps);
    free(graph->params);
    free(graph->classes);
    free(graph->rares.words);
    free(graph->evidences);
    keys_free(graph->evidence_keys);
    names_free(graph->texts);
    free(graph);
}

void graph_trim(struct graph *graph)
{
    struct name_index *indexes[7];
    struct list_pool *pools[6];

    names_trim(graph->texts);
    for (int i = 0; i < 7; i++) {
        struct name_index *index = indexes_of(graph, indexes)[i];
        array_trim(&index->ids_plus_1, &index->room, index->count);
    }
    array_trim(&graph->nodes, &graph->nodes_room, graph->n_nodes);
    array_trim(&graph->objects, &graph->objects_room, graph->n_objects);
    edge_table_trim(&graph->edges, graph->n_edges);
    array_trim(&graph->rares.words, &graph->rares.room, graph->rares.count);
    for (int i = 0; i < 6; i++) {
        struct list_pool *pool = pools_of(graph, pools)[i];
        array_shrink(&pool->items, &pool->room, pool->count, pool->item_bytes);
    }
}

size_t graph_memory_bytes(const struct graph *graph)
{
    struct graph copy = *graph; /* for the tables of its members, which are only read */
    struct name_index *indexes[7];
    struct list_pool *pools[6];
    size_t bytes =
        sizeof *graph + names_memory_bytes(graph->texts) + keys_memory_bytes(graph->evidence_keys);

    for (int i = 0; i < 7; i++)
        bytes += indexes_of(&copy, indexes)[i]->room * sizeof(uint32_t);
    for (int i = 0; i < 6; i++)
        bytes += pools_of(&copy, pools)[i]->room * pools[i]->item_bytes;
    bytes += graph->nodes_room * sizeof *graph->nodes;
    bytes += graph->objects_room * sizeof *graph->objects;
    bytes += edge_table_bytes(&graph->edges);
    bytes += graph->domains_room * sizeof *graph->domains;
    bytes += graph->engines_room * sizeof *graph->engines;
    bytes += graph->resources_room * sizeof *graph->resources;
    bytes += graph->guards_room * sizeof *graph->guards;
    bytes += graph->kappas_room * sizeof *graph->kappas;
    bytes += graph->overlaps_room * sizeof *graph->overlaps;
    bytes += graph->params_room * sizeof *graph->params;
    bytes += graph->classes_room * sizeof *graph->classes;
    bytes += graph->evidences_room * sizeof *graph->evidences;
    bytes += graph->rares.room * sizeof *graph->rares.words;
    return bytes;
}

/* The head. */

weir_text graph_name(const struct graph *graph)
{
    return graph->name;
}

enum graph_scope graph_scope(const struct graph *graph)
{
    return graph->scope;
}

bool graph_is_implied(const struct graph *graph)
{
    return graph->is_implied;
}

struct graph_evidence graph_evidence(const struct graph *graph)
{
    return graph->evidence;
}

void graph_set_head(struct graph *graph, weir_text name, enum graph_scope scope, bool is_implied,
                    struct graph_evidence evidence)
{
    graph->name = name;
    graph->scope = scope;
    graph->is_implied = is_implied;
    graph->evidence = evidence;
}

/* Texts. */

enum weir_status graph_intern(struct graph *graph, const char *text, size_t length, weir_text *out,
                              struct weir_error *err)
{
    return names_intern(graph->texts, text, length, &out->index, err);
}

enum weir_status graph_add_text(struct graph *graph, const char *text, size_t length,
                                weir_text *out, struct weir_error *err)
{
    return names_add(graph->texts, text, length, &out->index, err);
}

enum weir_status graph_intern_text(struct graph *graph, const char *text, weir_text *out,
                                   struct weir_error *err)
{
    return graph_intern(graph, text, strlen(text), out, err);
}

const char *graph_text(const struct graph *graph, weir_text text)
{
    return names_text(graph->texts, text.index);
}

weir_text graph_find_text(const struct graph *graph, const char *text)
{
    uint32_t found = names_find(graph->texts, text, strlen(text));

    return (weir_text){found == NAMES_NONE ? 0 : found};
}

/* Adding to the small tables. */

#define ADD_ROW(graph, rows, room, n, value, err)                                             \
    do {                                                                                      \
        enum weir_status status_ = graph_row_room(&(graph)->rows, &(graph)->room, (graph)->n, \
                                                  sizeof *(graph)->rows, err);                \
        if (status_ != WEIR_OK)                                                               \
            return status_;                                                                   \
        (graph)->rows[(graph)->n] = *(value);                                                 \
    } while (0)

/* A row under a name that must be new: the name is entered and the row counted. */
static enum weir_status count_named(struct name_index *index, weir_text name, uint32_t *n,
                                    uint32_t *id, struct weir_error *err)
{
    enum weir_status status;

    assert(name.index != 0 && name_index_find(index, name) == WEIR_NONE);
    status = name_index_put(index, name, *n, err);
    if (status == WEIR_OK)
        *id = (*n)++;
    return status;
}

enum weir_status graph_add_domain(struct graph *graph, const struct graph_domain *value,
                                  weir_domain *out, struct weir_error *err)
{
    ADD_ROW(graph, domains, domains_room, n_domains, value, err);
    return count_named(&graph->domain_by_name, value->name, &graph->n_domains, &out->index, err);
}

enum weir_status graph_add_engine(struct graph *graph, const struct graph_engine *value,
                                  weir_engine *out, struct weir_error *err)
{
    struct graph_engine engine = *value;
    enum weir_status status = graph_class_of(graph, value->name, &engine.class_, err);

    if (status != WEIR_OK)
        return status;
    ADD_ROW(graph, engines, engines_room, n_engines, &engine, err);
    return count_named(&graph->engine_by_name, value->name, &graph->n_engines, &out->index, err);
}

enum weir_status graph_add_resource(struct graph *graph, const struct graph_resource *value,
                                    weir_resource *out, struct weir_error *err)
{
    ADD_ROW(graph, resources, resources_room, n_resources, value, err);
    return count_named(&graph->resource_by_name, value->name, &graph->n_resources, &out->index,
                       err);
}

enum weir_status graph_add_guard(struct graph *graph, const struct graph_guard *value,
                                 weir_guard *out, struct weir_error *err)
{
    ADD_ROW(graph, guards, guards_room, n_guards, value, err);
    return count_named(&graph->guard_by_name, value->name, &graph->n_guards, &out->index, err);
}

enum weir_status graph_add_kappa(struct graph *graph, const struct graph_kappa *value,
                                 struct weir_error *err)
{
    ADD_ROW(graph, kappas, kappas_room, n_kappas, value, err);
    graph->n_kappas++;
    return WEIR_OK;
}

enum weir_status graph_add_overlap(struct graph *graph, const struct graph_overlap *value,
                                   struct weir_error *err)
{
    ADD_ROW(graph, overlaps, overlaps_room, n_overlaps, value, err);
    graph->n_overlaps++;
    return WEIR_OK;
}

enum weir_status graph_add_param(struct graph *graph, const struct graph_param *value,
                                 struct weir_error *err)
{
    ADD_ROW(graph, params, params_room, n_params, value, err);
    graph->n_params++;
    return WEIR_OK;
}

enum weir_status graph_class_of(struct graph *graph, weir_text name, weir_class *out,
                                struct weir_error *err)
{
    uint32_t found = name_index_find(&graph->class_by_name, name);

    if (found != WEIR_NONE) {
        out->index = found;
        return WEIR_OK;
    }
    ADD_ROW(graph, classes, classes_room, n_classes, &name, err);
    return count_named(&graph->class_by_name, name, &graph->n_classes, &out->index, err);
}

/* Replacing in the small tables. */

void graph_set_domain(struct graph *graph, weir_domain id, const struct graph_domain *value)
{
    assert(id.index < graph->n_domains && weir_same(value->name, graph->domains[id.index].name));
    graph->domains[id.index] = *value;
}

void graph_set_engine(struct graph *graph, weir_engine id, const struct graph_engine *value)
{
    weir_class made;

    assert(id.index < graph->n_engines && weir_same(value->name, graph->engines[id.index].name));
    made = graph->engines[id.index].class_;
    graph->engines[id.index] = *value;
    graph->engines[id.index].class_ = made;
}

void graph_set_resource(struct graph *graph, weir_resource id, const struct graph_resource *value)
{
    assert(id.index < graph->n_resources &&
           weir_same(value->name, graph->resources[id.index].name));
    graph->resources[id.index] = *value;
}

void graph_set_guard(struct graph *graph, weir_guard id, const struct graph_guard *value)
{
    assert(id.index < graph->n_guards && weir_same(value->name, graph->guards[id.index].name));
    graph->guards[id.index] = *value;
}

void graph_set_kappa(struct graph *graph, uint32_t index, const struct graph_kappa *value)
{
    assert(index < graph->n_kappas);
    graph->kappas[index] = *value;
}

void graph_set_overlap(struct graph *graph, uint32_t index, const struct graph_overlap *value)
{
    assert(index < graph->n_overlaps);
    graph->overlaps[index] = *value;
}

void graph_set_param(struct graph *graph, uint32_t index, const struct graph_param *value)
{
    assert(index < graph->n_params);
    graph->params[index] = *value;
}

/* Reading the small tables. */

uint32_t graph_n_domains(const struct graph *graph)
{
    return graph->n_domains;
}

uint32_t graph_n_engines(const struct graph *graph)
{
    return graph->n_engines;
}

uint32_t graph_n_resources(const struct graph *graph)
{
    return graph->n_resources;
}

uint32_t graph_n_guards(const struct graph *graph)
{
    return graph->n_guards;
}

uint32_t graph_n_classes(const struct graph *graph)
{
    return graph->n_classes;
}

uint32_t graph_n_kappas(const struct graph *graph)
{
    return graph->n_kappas;
}

uint32_t graph_n_overlaps(const struct graph *graph)
{
    return graph->n_overlaps;
}

uint32_t graph_n_params(const struct graph *graph)
{
    return graph->n_params;
}

const struct graph_domain *graph_domain(const struct graph *graph, weir_domain id)
{
    assert(id.index < graph->n_domains);
    return &graph->domains[id.index];
}

const struct graph_engine *graph_engine(const struct graph *graph, weir_engine id)
{
    assert(id.index < graph->n_engines);
    return &graph->engines[id.index];
}

const struct graph_resource *graph_resource(const struct graph *graph, weir_resource id)
{
    assert(id.index < graph->n_resources);
    return &graph->resources[id.index];
}

const struct graph_guard *graph_guard(const struct graph *graph, weir_guard id)
{
    assert(id.index < graph->n_guards);
    return &graph->guards[id.index];
}

const struct graph_kappa *graph_kappa(const struct graph *graph, uint32_t index)
{
    assert(index < graph->n_kappas);
    return &graph->kappas[index];
}

const struct graph_overlap *graph_overlap(const struct graph *graph, uint32_t index)
{
    assert(index < graph->n_overlaps);
    return &graph->overlaps[index];
}

const struct graph_param *graph_param(const struct graph *graph, uint32_t index)
{
    assert(index < graph->n_params);
    return &graph->params[index];
}

weir_text graph_class_name(const struct graph *graph, weir_class id)
{
    assert(id.index < graph->n_classes);
    return graph->classes[id.index];
}

weir_domain graph_find_domain(const struct graph *graph, weir_text name)
{
    return (weir_domain){name_index_find(&graph->domain_by_name, name)};
}

weir_engine graph_find_engine(const struct graph *graph, weir_text name)
{
    return (weir_engine){name_index_find(&graph->engine_by_name, name)};
}

weir_resource graph_find_resource(const struct graph *graph, weir_text name)
{
    return (weir_resource){name_index_find(&graph->resource_by_name, name)};
}

weir_guard graph_find_guard(const struct graph *graph, weir_text name)
{
    return (weir_guard){name_index_find(&graph->guard_by_name, name)};
}

weir_class graph_find_class(const struct graph *graph, weir_text name)
{
    return (weir_class){name_index_find(&graph->class_by_name, name)};
}
