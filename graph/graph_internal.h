/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a graph keeps its statements. What nearly every node has stands in a row of 48 bytes; what
 * few have (a release, a guard, a fallback ...) in a rare record of just those fields; lists in
 * pools shared by all rows. Position 0 of a pool is nothing: an empty list, no rare field. */
#ifndef WEIR_GRAPH_GRAPH_INTERNAL_H
#define WEIR_GRAPH_GRAPH_INTERNAL_H

#include <assert.h>

#include "base/names.h"
#include "graph/graph.h"
#include "graph/keys.h"

/* Items back to back; a list is its length, in the room of one item, and then its items. */
struct list_pool {
    void *items;
    size_t room, count; /* in items */
    size_t item_bytes;
};

/* A rare record is a mask of the fields it has, then one word for each, by rising bit. */
struct rare_pool {
    int64_t *words;
    size_t room, count;
};

/* What a record is built in. Fields are added by rising bit. */
struct rare_draft {
    uint64_t mask;
    unsigned n_words;
    int64_t words[32];
};

/* From a text to the one thing of a sort that has it as its name: texts from @c first on. */
struct name_index {
    uint32_t *ids_plus_1; /* by text, less the first; 0: none */
    size_t room, count;
    uint32_t first;
};

enum node_flag { NODE_IS_SPECULATIVE = 1, NODE_COST_IS_BYTES = 2, NODE_COST_IS_DURATION = 4 };

enum node_rare {
    NODE_RARE_BYTES, /* when the cost in the row is the duration */
    NODE_RARE_TIMES, /* values of a distribution */
    NODE_RARE_FROM,
    NODE_RARE_TO,
    NODE_RARE_STAGING_BYTES,
    NODE_RARE_STAGING_DOMAIN,
    NODE_RARE_WORKSPACE,
    NODE_RARE_USES,
    NODE_RARE_PRIORITY,
    NODE_RARE_RELEASE,
    NODE_RARE_DEADLINE,
    NODE_RARE_GUARD,
    NODE_RARE_GROUP,
    NODE_RARE_FALLBACK,
    NODE_RARE_FALLBACK_NODE,
    NODE_RARE_ORIGIN
};

struct node_row {
    int64_t cost; /* ns or bytes, as the flags say */
    uint32_t name, engine, object, domain, class_given, evidence;
    uint32_t reads, writes; /* lists */
    uint32_t rare;
    uint8_t kind, distribution, purity, flags; /* distribution 0: no duration; else kind + 1 */
};

enum object_flag { OBJECT_IS_INITIAL = 1, OBJECT_IS_RETAINED = 2, OBJECT_IS_OFFLOADABLE = 4 };

enum object_rare {
    OBJECT_RARE_ALIGN,
    OBJECT_RARE_PLACEMENTS,
    OBJECT_RARE_ALIAS_OFFSET,
    OBJECT_RARE_READY,
    OBJECT_RARE_RECOMPUTE,
    OBJECT_RARE_PLANNED_OFFSET,
    OBJECT_RARE_PLANNED_DOMAIN,
    OBJECT_RARE_ORIGIN
};

struct object_row {
    int64_t size_bytes;
    uint32_t name, domain, alias_of, evidence, rare;
    uint8_t flags;
};

struct edge_row {
    int64_t lag_ns;
    uint32_t producer, consumer, object, evidence;
    uint8_t type;
    bool is_from_start;
};

struct edge_ends {
    uint32_t producer, consumer;
};

/* Columns by edge. What few graphs say of an edge has a column once one edge says it. */
struct edge_table {
    struct edge_ends *ends;
    uint8_t *kinds;      /* type, and EDGE_IS_FROM_START */
    uint32_t *objects;   /* NULL: all WEIR_NONE */
    uint32_t *evidences; /* NULL: all none */
    int64_t *lags_ns;    /* NULL: all 0 */
    size_t room;         /* of each that is not NULL */
};

enum { EDGE_TYPE_MASK = 0x0f, EDGE_IS_FROM_START = 0x10 };

struct graph {
    struct names *texts;

    weir_text name;
    enum graph_scope scope;
    bool is_implied;
    struct graph_evidence evidence;

    struct node_row *nodes;
    struct object_row *objects;
    struct edge_table edges;
    struct graph_domain *domains;
    struct graph_engine *engines;
    struct graph_resource *resources;
    struct graph_guard *guards;
    struct graph_kappa *kappas;
    struct graph_overlap *overlaps;
    struct graph_param *params;
    weir_text *classes;
    uint32_t n_nodes, n_objects, n_edges, n_domains, n_engines, n_resources, n_guards, n_kappas,
        n_overlaps, n_params, n_classes;
    size_t nodes_room, objects_room, domains_room, engines_room, resources_room, guards_room,
        kappas_room, overlaps_room, params_room, classes_room;

    struct name_index node_by_name, object_by_name, domain_by_name, engine_by_name,
        resource_by_name, guard_by_name, class_by_name;

    struct list_pool accesses, object_lists, domain_lists, charges, demands, times;
    struct rare_pool rares;

    struct graph_evidence *evidences; /* distinct; the first is none */
    size_t evidences_room;
    uint32_t n_evidences;
    uint32_t last_evidence; /* put last: most repeat */
    struct keys *evidence_keys;
};

/** Rows of a graph are counted in 32 bits, less WEIR_NONE: may there be one more? */
MUST_CHECK enum weir_status graph_row_count(uint32_t count, struct weir_error *err);
/** Room for one more row, which is to be written whole. */
MUST_CHECK enum weir_status graph_row_room(void *rows, size_t *room, uint32_t count,
                                           size_t row_bytes, struct weir_error *err);

/** All that is kept of an edge. */
static inline struct edge_row edge_row_of(const struct graph *graph, uint32_t row)
{
    const struct edge_table *edges = &graph->edges;

    return (struct edge_row){
        .producer = edges->ends[row].producer,
        .consumer = edges->ends[row].consumer,
        .object = edges->objects == NULL ? WEIR_NONE : edges->objects[row],
        .evidence = edges->evidences == NULL ? 0 : edges->evidences[row],
        .lag_ns = edges->lags_ns == NULL ? 0 : edges->lags_ns[row],
        .type = edges->kinds[row] & EDGE_TYPE_MASK,
        .is_from_start = (edges->kinds[row] & EDGE_IS_FROM_START) != 0,
    };
}

/** Room for that many edges in all. */
MUST_CHECK enum weir_status graph_edge_room(struct graph *, size_t need, struct weir_error *err);
void edge_table_trim(struct edge_table *, uint32_t n_edges);
void edge_table_free(struct edge_table *);
size_t edge_table_bytes(const struct edge_table *);

/** Adds a row that has only a name and defaults: a reader fills it in later. */
MUST_CHECK enum weir_status graph_declare_node(struct graph *, weir_text name, weir_node *,
                                               struct weir_error *);
MUST_CHECK enum weir_status graph_declare_object(struct graph *, weir_text name, weir_object *,
                                                 struct weir_error *);

/** Gives back the room that growth left behind the rows. */
void graph_trim(struct graph *);
/** Numbers the classes in the order of the canonical form: of engines, of kappas, of nodes. */
MUST_CHECK enum weir_status graph_order_classes(struct graph *, struct weir_error *);

static inline uint32_t name_index_find(const struct name_index *index, weir_text name)
{
    uint32_t at = name.index - index->first; /* wraps round below the first, past the count */

    return at >= index->count ? WEIR_NONE : index->ids_plus_1[at] - 1; /* 0 - 1 is WEIR_NONE */
}
/** Another id for a text that is there. */
static inline void name_index_change(struct name_index *index, weir_text name, uint32_t id)
{
    index->ids_plus_1[name.index - index->first] = id + 1;
}
MUST_CHECK enum weir_status name_index_put(struct name_index *, weir_text, uint32_t id,
                                           struct weir_error *);

/** Keeps a list: at its old position when it fits there, else at a new one. The items may lie in
 *  the pool itself. */
MUST_CHECK enum weir_status list_put(struct list_pool *, const void *items, uint32_t n,
                                     uint32_t *position, struct weir_error *);
/** @return the items, NULL when the list is empty */
const void *list_get(const struct list_pool *, uint32_t position, uint32_t *n);

/** Adds the field unless its value is the absent one. */
static inline void rare_add(struct rare_draft *draft, unsigned bit, int64_t value, int64_t absent)
{
    assert(draft->mask >> bit == 0 && draft->n_words < sizeof draft->words / sizeof *draft->words);
    if (value == absent)
        return;
    draft->mask |= UINT64_C(1) << bit;
    draft->words[draft->n_words++] = value;
}
MUST_CHECK enum weir_status rare_put(struct rare_pool *, const struct rare_draft *,
                                     uint32_t *position, struct weir_error *);
static inline int64_t rare_get(const struct rare_pool *pool, uint32_t position, unsigned bit,
                               int64_t absent)
{
    const uint64_t flag = UINT64_C(1) << bit;
    uint64_t mask;

    if (position == 0)
        return absent;
    mask = (uint64_t)pool->words[position];
    if ((mask & flag) == 0)
        return absent;
    return pool->words[position + 1 + (unsigned)__builtin_popcountll(mask & (flag - 1))];
}
/** A field that is an id: WEIR_NONE when absent. */
uint32_t rare_id(const struct rare_pool *, uint32_t position, unsigned bit);

MUST_CHECK enum weir_status evidence_put(struct graph *, const struct graph_evidence *,
                                         uint32_t *position, struct weir_error *);

#endif
