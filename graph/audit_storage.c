/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offsets that a plan of storage gave: bytes that two objects share must not be live for both, in any
 * schedule. That is so where the end of one is before the beginning of the other: on several queues
 * along edges; where one queue runs all that takes time and bytes, as the nodes stand in the order,
 * which is what a plan for one queue relies on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})
#define MOST_PAIRS 4000000u /* that are looked at; a plan of more is told to be looked at in part */

struct placed {
    uint32_t object, domain;
    int64_t begin, end;
};

struct storage {
    struct audit *audit;
    struct analyze_order *order;
    uint32_t *copy_of;     /* by object: its newest copy; WEIR_NONE */
    uint32_t *copy_before; /* by copy: the one of the same object before it; WEIR_NONE */
    uint32_t *begin_first; /* by copy: where its list of nodes that may begin it starts */
    uint32_t *begins;      /* nodes */
    uint32_t *position;    /* by node, in the order, when there is one queue; NULL */
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->domain != y->domain) {
        return x->domain < y->domain ? -1 : 1;
    }
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return x->object < y->object ? -1 : 1;
}

/* --- lives --- */

static bool may_begin(const struct bind_copy *copy, const struct bind_touch *touch, uint32_t node)
{
    return (touch->roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
           (!weir_is(copy->allocation) || copy->allocation.index == node);
}

/* Counts the nodes that may begin each copy, or, where there is room, lists them. */
static void walk_begins(struct storage *storage, uint32_t *at, uint32_t *list)
{
    const struct binding *binding = storage->audit->binding;

    for (uint32_t i = 0; i < storage->audit->graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            if (!may_begin(bind_copy(binding, touches[j].copy), &touches[j], i)) {
                continue;
            }
            if (list != NULL) {
                list[at[touches[j].copy.index]] = i;
            }
            at[touches[j].copy.index]++;
        }
    }
}

static enum weir_status list_lives(struct storage *storage)
{
    const struct audit *audit = storage->audit;
    uint32_t n_copies = bind_n_copies(audit->binding), sum = 0;
    uint32_t *at = calloc((size_t)n_copies + 1, sizeof *at);

    storage->copy_of = malloc(((size_t)audit->graph->n_objects + 1) * sizeof *storage->copy_of);
    storage->copy_before = malloc(((size_t)n_copies + 1) * sizeof *storage->copy_before);
    storage->begin_first = malloc(((size_t)n_copies + 1) * sizeof *storage->begin_first);
    if (at == NULL || storage->copy_of == NULL || storage->copy_before == NULL ||
        storage->begin_first == NULL) {
        free(at);
        return weir_error_memory(audit->err);
    }
    memset(storage->copy_of, 0xff, audit->graph->n_objects * sizeof *storage->copy_of);
    walk_begins(storage, at, NULL);
    for (uint32_t i = 0; i < n_copies; i++) {
        uint32_t *newest =
            &storage->copy_of[bind_copy(audit->binding, (weir_copy){i})->object.index];

        storage->copy_before[i] = *newest;
        *newest = i;
        storage->begin_first[i] = sum;
        sum += at[i];
        at[i] = storage->begin_first[i];
    }
    storage->begin_first[n_copies] = sum;
    storage->begins = malloc(((size_t)sum + 1) * sizeof *storage->begins);
    if (storage->begins != NULL) {
        walk_begins(storage, at, storage->begins);
    }
    free(at);
    return storage->begins == NULL ? weir_error_memory(audit->err) : WEIR_OK;
}

/* One slot of one engine runs every node that takes time and touches bytes. */
static bool is_one_queue(const struct audit *audit)
{
    uint32_t engine = WEIR_NONE, n;

    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        uint32_t of = audit->graph->nodes[i].engine;

        (void)bind_touches(audit->binding, (weir_node){i}, &n);
        if (n == 0 || audit->analysis.length_ns[i] == 0 || !audit_runs(audit, i)) {
            continue;
        }
        if (of == WEIR_NONE || audit->graph->engines[of].slots != 1 ||
            (engine != WEIR_NONE && of != engine)) {
            return false;
        }
        engine = of;
    }
    return true;
}

static enum weir_status number_nodes(struct storage *storage)
{
    uint32_t n_nodes = storage->audit->graph->n_nodes;

    if (!is_one_queue(storage->audit)) {
        return WEIR_OK;
    }
    storage->position = malloc(((size_t)n_nodes + 1) * sizeof *storage->position);
    if (storage->position == NULL) {
        return weir_error_memory(storage->audit->err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        storage->position[bind_order(storage->audit->binding, i).index] = i;
    }
    return WEIR_OK;
}

/* Has the node finished whenever the copy begins? */
static bool is_before_all(const struct storage *storage, weir_node node, uint32_t copy)
{
    for (uint32_t i = storage->begin_first[copy]; i < storage->begin_first[copy + 1]; i++) {
        weir_node begin = {storage->begins[i]};
        bool is_before = storage->position == NULL
                             ? analyze_before(storage->order, node, begin)
                             : storage->position[node.index] < storage->position[begin.index];

        if (!is_before) {
            return false;
        }
    }
    return true;
}

/* Has the first ended whenever the second begins? */
static bool is_over(const struct storage *storage, uint32_t first, uint32_t second)
{
    const struct binding *binding = storage->audit->binding;
    const struct bind_copy *a = bind_copy(binding, (weir_copy){first});
    uint32_t cursor = 0;
    weir_node last;

    if (a->stays || bind_copy(binding, (weir_copy){second})->is_initial) {
        return false;
    }
    if (weir_is(a->reclamation)) {
        return is_before_all(storage, a->reclamation, second);
    }
    while (bind_last_use(binding, (weir_copy){first}, &cursor, &last)) {
        if (!is_before_all(storage, last, second)) {
            return false;
        }
    }
    return true;
}

/* Are any copies of the two in that domain live together in some schedule? */
static bool may_meet(const struct storage *storage, const struct placed *a, const struct placed *b)
{
    const struct binding *binding = storage->audit->binding;

    for (uint32_t i = storage->copy_of[a->object]; i != WEIR_NONE; i = storage->copy_before[i]) {
        for (uint32_t j = storage->copy_of[b->object]; j != WEIR_NONE;
             j = storage->copy_before[j]) {
            if (bind_copy(binding, (weir_copy){i})->domain.index == a->domain &&
                bind_copy(binding, (weir_copy){j})->domain.index == a->domain &&
                !is_over(storage, i, j) && !is_over(storage, j, i)) {
                return true;
            }
        }
    }
    return false;
}

/* --- plans --- */

static void check_pair(struct storage *storage, const struct placed *a, const struct placed *b)
{
    struct audit *audit = storage->audit;
    const char *first = graph_object_name(audit->graph, (weir_object){a->object});
    const char *second = graph_object_name(audit->graph, (weir_object){b->object});

    if (!may_meet(storage, a, b) || !audit_takes(audit, FINDING_STORAGE_OVERLAP)) {
        return;
    }
    report_add(audit->report, FINDING_STORAGE_OVERLAP, NOWHERE,
               "objects %s and %s are planned to share the bytes %" PRId64 " to %" PRId64
               " of %s, and no edges keep their lives apart",
               first, second, b->begin, a->end < b->end ? a->end : b->end,
               audit_domain(audit, (weir_domain){a->domain}));
    report_name(audit->report, first);
    report_name(audit->report, second);
}

static enum weir_status check_pairs(struct storage *storage, const struct placed *placed,
                                    uint32_t n)
{
    uint32_t n_pairs = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1;
             j < n && placed[j].domain == placed[i].domain && placed[j].begin < placed[i].end;
             j++) {
            if (n_pairs++ == MOST_PAIRS) {
                report_add(storage->audit->report, FINDING_STORAGE_OVERLAP, NOWHERE,
                           "more than %u pairs of objects share planned bytes: the others were not "
                           "looked at",
                           MOST_PAIRS);
                return WEIR_OK;
            }
            if (storage->order == NULL) {
                enum weir_status status = analyze_order_make(&storage->audit->analysis,
                                                             &storage->order, storage->audit->err);

                if (status == WEIR_OK) {
                    status = list_lives(storage);
                }
                if (status == WEIR_OK) {
                    status = number_nodes(storage);
                }
                if (status != WEIR_OK) {
                    return status;
                }
            }
            check_pair(storage, &placed[i], &placed[j]);
        }
    }
    return WEIR_OK;
}

static void check_alignment(struct audit *audit, const struct graph_object *object)
{
    if (object->align_bytes > 0 && object->planned_offset_bytes % object->align_bytes != 0 &&
        audit_takes(audit, FINDING_MISALIGNED)) {
        const char *name = graph_text(audit->graph, object->name);

        report_add(audit->report, FINDING_MISALIGNED, NOWHERE,
                   "object %s is planned at offset %" PRId64 ", which is no multiple of %" PRId64,
                   name, object->planned_offset_bytes, object->align_bytes);
        report_name(audit->report, name);
    }
}

/* Views have the place of their object. */
static uint32_t collect(struct audit *audit, struct placed *placed)
{
    const struct graph *graph = audit->graph;
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph->n_objects; i++) {
        struct graph_object object;

        if (graph->objects[i].rare == 0 || graph->objects[i].alias_of != WEIR_NONE) {
            continue;
        }
        graph_object(graph, (weir_object){i}, &object);
        if (object.planned_offset_bytes < 0 || object.size_bytes == 0) {
            continue;
        }
        check_alignment(audit, &object);
        placed[n++] = (struct placed){i, object.planned_domain.index, object.planned_offset_bytes,
                                      object.planned_offset_bytes + object.size_bytes};
    }
    return n;
}

enum weir_status audit_storage(struct audit *audit)
{
    struct storage storage = {.audit = audit};
    struct placed *placed = malloc(((size_t)audit->graph->n_objects + 1) * sizeof *placed);
    enum weir_status status;
    uint32_t n;

    if (placed == NULL) {
        return weir_error_memory(audit->err);
    }
    n = collect(audit, placed);
    qsort(placed, n, sizeof *placed, by_place);
    status = check_pairs(&storage, placed, n);
    analyze_order_free(storage.order);
    free(storage.copy_of);
    free(storage.copy_before);
    free(storage.begin_first);
    free(storage.begins);
    free(storage.position);
    free(placed);
    return status;
}
