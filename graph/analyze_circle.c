/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Precedence together with waits for bytes: is it still free of circles? Of a run that went through the
 * waits are those that it had; of one that is stuck, those of who is ready for who would give back. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/analyze.h"
#include "graph/graph_internal.h"

static enum weir_status add_wait(struct analyze_waits *waits, uint32_t producer, uint32_t consumer,
                                 struct weir_error *err)
{
    enum weir_status status;

    if (producer == consumer) {
        return WEIR_OK; /* what it gives back itself it does not wait for */
    }
    status = array_grow_raw(&waits->items, &waits->room, (size_t)waits->n + 1, err);
    if (status == WEIR_OK) {
        waits->items[waits->n++] =
            (struct bind_edge){{producer}, {consumer}, {WEIR_NONE}, EDGE_CAPACITY_WAIT};
    }
    return status;
}

enum weir_status analyze_waits_add(struct analyze_waits *waits, weir_node producer,
                                   weir_node consumer, struct weir_error *err)
{
    return add_wait(waits, producer.index, consumer.index, err);
}

void analyze_waits_free(struct analyze_waits *waits)
{
    free(waits->items);
}

/* --- what a stuck run waits for --- */

/* Staging that a finished node still holds, until those that use the copy it filled have finished. */
struct staged {
    uint32_t copy, domain;
    int64_t bytes;
};

struct stuck {
    const struct analysis *analysis;
    const bool *is_finished;
    const bool *has_run; /* and is not only out of the way */
    bool *is_live;       /* by copy */
    struct staged *staged;
    size_t n_staged, staged_room;
    int64_t *free; /* by domain */
    int64_t *need; /* by domain, of the node at hand */
    struct analyze_waits *waits;
    struct weir_error *err;
};

static enum weir_status wait_for_uses(struct stuck *stuck, weir_copy id, uint32_t consumer)
{
    uint32_t cursor = 0;
    weir_node last;
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && bind_last_use(stuck->analysis->binding, id, &cursor, &last)) {
        if (!stuck->is_finished[last.index]) {
            status = add_wait(stuck->waits, last.index, consumer, stuck->err);
        }
    }
    return status;
}

/* Nodes that have to finish before the copy has ended. */
static enum weir_status wait_for_end(struct stuck *stuck, weir_copy id, uint32_t consumer)
{
    const struct bind_copy *copy = bind_copy(stuck->analysis->binding, id);

    if (weir_is(copy->reclamation)) {
        return add_wait(stuck->waits, copy->reclamation.index, consumer, stuck->err);
    }
    return copy->stays ? WEIR_OK : wait_for_uses(stuck, id, consumer);
}

/* Has every node before it finished? */
static void find_ready(const struct stuck *stuck, bool *is_ready)
{
    const struct adjacency *next = &stuck->analysis->next;
    const struct graph *graph = bind_of(stuck->analysis->binding);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        is_ready[i] = !stuck->is_finished[i];
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        for (uint32_t j = next->first[i]; j < next->first[i + 1] && !stuck->is_finished[i]; j++) {
            is_ready[next->items[j].consumer] = false;
        }
    }
}

/* Has the copy begun and not ended? */
static void find_live(struct stuck *stuck)
{
    const struct binding *binding = stuck->analysis->binding;
    const struct graph *graph = bind_of(binding);

    for (uint32_t d = 0; d < graph->n_domains; d++) {
        stuck->free[d] = graph->domains[d].capacity_bytes - graph->domains[d].reserve_bytes;
    }
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        stuck->is_live[i] = bind_copy(binding, (weir_copy){i})->is_initial;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n && stuck->has_run[i]; j++) {
            stuck->is_live[touches[j].copy.index] |=
                (touches[j].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0;
        }
    }
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});
        uint32_t cursor = 0;
        weir_node last;
        bool has_ended = !copy->stays;

        if (weir_is(copy->reclamation)) {
            has_ended = stuck->has_run[copy->reclamation.index];
        } else {
            while (bind_last_use(binding, (weir_copy){i}, &cursor, &last)) {
                has_ended = has_ended && stuck->is_finished[last.index];
            }
        }
        stuck->is_live[i] = stuck->is_live[i] && !has_ended;
        stuck->free[copy->domain.index] -= stuck->is_live[i] ? copy->bytes : 0;
    }
}

/* The copies that a node with staging filled, as long as others are still to use them. */
static enum weir_status find_staged(struct stuck *stuck)
{
    const struct binding *binding = stuck->analysis->binding;
    const struct graph *graph = bind_of(binding);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph->n_nodes && status == WEIR_OK; i++) {
        struct graph_node node;
        bool is_held = false;
        uint32_t n, domain;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        if (!stuck->has_run[i] || !graph_node_is_on(graph, (weir_node){i})) {
            continue;
        }
        graph_node(graph, (weir_node){i}, &node);
        if (node.staging.bytes <= 0) {
            continue;
        }
        domain = graph_charge_domain(graph, (weir_node){i}, &node.staging).index;
        for (uint32_t j = 0; j < n && status == WEIR_OK; j++) {
            uint32_t cursor = 0;
            weir_node last;
            bool is_used = false;

            while ((touches[j].roles & BIND_FILLS) != 0 && !is_used &&
                   bind_last_use(binding, touches[j].copy, &cursor, &last)) {
                is_used = !stuck->is_finished[last.index];
            }
            if (is_used) {
                is_held = true;
                status = array_grow(&stuck->staged, &stuck->staged_room, stuck->n_staged + 1,
                                    stuck->err);
            }
            if (is_used && status == WEIR_OK) {
                stuck->staged[stuck->n_staged++] =
                    (struct staged){touches[j].copy.index, domain, node.staging.bytes};
            }
        }
        stuck->free[domain] -= is_held ? node.staging.bytes : 0;
    }
    return status;
}

/* What it takes when it starts. */
static void find_need(struct stuck *stuck, uint32_t node)
{
    const struct binding *binding = stuck->analysis->binding;
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, (weir_node){node}, &n);

    memset(stuck->need, 0, graph_n_domains(bind_of(binding)) * sizeof *stuck->need);
    analyze_charges(bind_of(binding), (weir_node){node}, stuck->need);
    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(binding, touches[i].copy);

        if ((touches[i].roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
            !stuck->is_live[touches[i].copy.index]) {
            stuck->need[copy->domain.index] += copy->bytes;
        }
    }
}

static bool lacks_bytes(const struct stuck *stuck)
{
    for (uint32_t d = 0; d < graph_n_domains(bind_of(stuck->analysis->binding)); d++) {
        if (stuck->need[d] > stuck->free[d]) {
            return true;
        }
    }
    return false;
}

static enum weir_status wait_for_all(struct stuck *stuck, uint32_t node)
{
    const struct binding *binding = stuck->analysis->binding;
    enum weir_status status = WEIR_OK;

    for (uint32_t c = 0; c < bind_n_copies(binding) && status == WEIR_OK; c++) {
        uint32_t domain = bind_copy(binding, (weir_copy){c})->domain.index;

        if (stuck->is_live[c] && stuck->need[domain] > stuck->free[domain]) {
            status = wait_for_end(stuck, (weir_copy){c}, node);
        }
    }
    for (size_t i = 0; i < stuck->n_staged && status == WEIR_OK; i++) {
        const struct staged *staged = &stuck->staged[i];

        if (stuck->need[staged->domain] > stuck->free[staged->domain]) {
            status = wait_for_uses(stuck, (weir_copy){staged->copy}, node);
        }
    }
    return status;
}

/* Of each domain two different nodes that would give bytes back, those that would give most: whoever
 * waits waits for one that is not itself. */
struct giver {
    uint32_t node; /* WEIR_NONE: there is none */
    int64_t bytes;
};

struct givers {
    struct giver (*of)[2]; /* by domain, the greater first */
};

static void add_giver(const struct givers *givers, uint32_t domain, struct giver giver)
{
    struct giver *of = givers->of[domain];

    if (of[0].node == giver.node) {
        of[0].bytes = giver.bytes > of[0].bytes ? giver.bytes : of[0].bytes;
    } else if (of[0].node == WEIR_NONE || giver.bytes > of[0].bytes) {
        of[1] = of[0];
        of[0] = giver;
    } else if (of[1].node == WEIR_NONE || giver.bytes > of[1].bytes) {
        of[1] = giver;
    }
}

/* Two of those that are still to use the copy. */
static void add_users(const struct stuck *stuck, const struct givers *givers, uint32_t domain,
                      weir_copy copy, int64_t bytes)
{
    uint32_t cursor = 0, n = 0, first = WEIR_NONE;
    weir_node last;

    while (n < 2 && bind_last_use(stuck->analysis->binding, copy, &cursor, &last)) {
        if (!stuck->is_finished[last.index] && last.index != first) {
            add_giver(givers, domain, (struct giver){last.index, bytes});
            first = last.index;
            n++;
        }
    }
}

static void find_givers(const struct stuck *stuck, const struct givers *givers)
{
    const struct binding *binding = stuck->analysis->binding;

    for (uint32_t d = 0; d < graph_n_domains(bind_of(binding)); d++) {
        givers->of[d][0].node = givers->of[d][1].node = WEIR_NONE;
    }
    for (uint32_t c = 0; c < bind_n_copies(binding); c++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){c});

        if (!stuck->is_live[c] || copy->bytes == 0) {
            continue;
        }
        if (weir_is(copy->reclamation)) {
            add_giver(givers, copy->domain.index,
                      (struct giver){copy->reclamation.index, copy->bytes});
        } else if (!copy->stays) {
            add_users(stuck, givers, copy->domain.index, (weir_copy){c}, copy->bytes);
        }
    }
    for (size_t i = 0; i < stuck->n_staged; i++) {
        const struct staged *staged = &stuck->staged[i];

        add_users(stuck, givers, staged->domain, (weir_copy){staged->copy}, staged->bytes);
    }
}

static enum weir_status wait_for_one(struct stuck *stuck, const struct givers *givers,
                                     uint32_t node)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t d = 0; d < graph_n_domains(bind_of(stuck->analysis->binding)); d++) {
        uint32_t giver = givers->of[d][givers->of[d][0].node == node ? 1 : 0].node;

        if (stuck->need[d] > stuck->free[d] && giver != WEIR_NONE && status == WEIR_OK) {
            status = add_wait(stuck->waits, giver, node, stuck->err);
        }
    }
    return status;
}

/* @param givers NULL: each waits for all */
static enum weir_status collect(struct stuck *stuck, const bool *is_ready,
                                const struct givers *givers)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < graph_n_nodes(bind_of(stuck->analysis->binding)) && status == WEIR_OK;
         i++) {
        if (!is_ready[i]) {
            continue;
        }
        find_need(stuck, i);
        if (lacks_bytes(stuck)) {
            status = givers == NULL ? wait_for_all(stuck, i) : wait_for_one(stuck, givers, i);
        }
    }
    return status;
}

static enum weir_status find_stuck(const struct analysis *analysis, const bool *is_finished,
                                   const bool *has_run, bool takes_all, struct analyze_waits *waits,
                                   struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    size_t n_domains = (size_t)graph->n_domains + 1;
    struct stuck stuck = {
        .analysis = analysis,
        .is_finished = is_finished,
        .has_run = has_run,
        .is_live = calloc((size_t)bind_n_copies(analysis->binding) + 1, sizeof *stuck.is_live),
        .free = calloc(n_domains, sizeof *stuck.free),
        .need = calloc(n_domains, sizeof *stuck.need),
        .waits = waits,
        .err = err,
    };
    struct givers givers = {calloc(n_domains, sizeof *givers.of)};
    bool *is_ready = calloc((size_t)graph->n_nodes + 1, sizeof *is_ready);
    enum weir_status status = WEIR_OK;

    if (stuck.is_live == NULL || stuck.free == NULL || stuck.need == NULL || givers.of == NULL ||
        is_ready == NULL) {
        status = weir_error_memory(err);
    } else {
        find_live(&stuck);
        status = find_staged(&stuck);
    }
    if (status == WEIR_OK) {
        find_ready(&stuck, is_ready);
        find_givers(&stuck, &givers);
        status = collect(&stuck, is_ready, takes_all ? NULL : &givers);
    }
    free(stuck.is_live);
    free(stuck.staged);
    free(stuck.free);
    free(stuck.need);
    free(givers.of);
    free(is_ready);
    return status;
}

enum weir_status analyze_stuck_waits(const struct analysis *analysis, const bool *is_finished,
                                     struct analyze_waits *waits, struct weir_error *err)
{
    return find_stuck(analysis, is_finished, is_finished, true, waits, err);
}

enum weir_status analyze_stuck_for_one(const struct analysis *analysis, const bool *is_finished,
                                       const bool *has_run, struct analyze_waits *waits,
                                       struct weir_error *err)
{
    return find_stuck(analysis, is_finished, has_run, false, waits, err);
}

/* --- circles --- */

enum colour { WHITE, GREY, BLACK };

struct search {
    const struct adjacency *next;
    uint8_t *colour; /* by node */
    uint32_t *at;    /* by node: the edge to follow next */
    uint32_t *stack;
    uint32_t n_stack;
};

/* Goes on until a node comes up that is on the stack already: the circle begins there. */
static uint32_t find_circle(struct search *search, uint32_t root)
{
    search->stack[search->n_stack++] = root;
    search->colour[root] = GREY;
    while (search->n_stack > 0) {
        uint32_t node = search->stack[search->n_stack - 1], consumer;

        if (search->at[node] == search->next->first[node + 1]) {
            search->colour[node] = BLACK;
            search->n_stack--;
            continue;
        }
        consumer = search->next->items[search->at[node]++].consumer;
        if (search->colour[consumer] == GREY) {
            return consumer;
        }
        if (search->colour[consumer] == WHITE) {
            search->colour[consumer] = GREY;
            search->stack[search->n_stack++] = consumer;
        }
    }
    return WEIR_NONE;
}

static enum weir_status copy_circle(const struct search *search, uint32_t first, weir_node **nodes,
                                    uint32_t *n, struct weir_error *err)
{
    uint32_t begin = search->n_stack;
    weir_node *list;

    while (search->stack[begin - 1] != first) {
        begin--;
    }
    list = malloc(((size_t)search->n_stack - begin + 1) * sizeof *list);
    if (list == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = begin - 1; i < search->n_stack; i++) {
        list[i - begin + 1].index = search->stack[i];
    }
    *nodes = list;
    *n = search->n_stack - begin + 1;
    return WEIR_OK;
}

static enum weir_status search_all(struct search *search, uint32_t n_nodes, weir_node **nodes,
                                   uint32_t *n, struct weir_error *err)
{
    memcpy(search->at, search->next->first, n_nodes * sizeof *search->at);
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t first = search->colour[i] == WHITE ? find_circle(search, i) : WEIR_NONE;

        if (first != WEIR_NONE) {
            return copy_circle(search, first, nodes, n, err);
        }
    }
    *nodes = NULL;
    *n = 0;
    return WEIR_OK;
}

/* The implied edges and the waits in one array. */
static struct bind_edge *joined(const struct binding *binding, const struct analyze_waits *waits)
{
    uint32_t n = bind_n_edges(binding);
    struct bind_edge *edges = malloc(((size_t)n + waits->n + 1) * sizeof *edges);

    if (edges != NULL && n > 0) {
        memcpy(edges, bind_edges(binding), n * sizeof *edges);
    }
    if (edges != NULL && waits->n > 0) {
        memcpy(edges + n, waits->items, waits->n * sizeof *edges);
    }
    return edges;
}

enum weir_status analyze_circle(const struct binding *binding, const struct analyze_waits *waits,
                                weir_node **nodes, uint32_t *n, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(bind_of(binding));
    struct bind_edge *edges = joined(binding, waits);
    struct adjacency next = {NULL, NULL};
    struct search search = {&next, calloc((size_t)n_nodes + 1, 1),
                            malloc(((size_t)n_nodes + 1) * sizeof *search.at),
                            malloc(((size_t)n_nodes + 1) * sizeof *search.stack), 0};
    enum weir_status status = WEIR_OK;

    if (edges == NULL || search.colour == NULL || search.at == NULL || search.stack == NULL) {
        status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status =
            adjacency_make(bind_of(binding), edges, bind_n_edges(binding) + waits->n, &next, err);
    }
    if (status == WEIR_OK) {
        status = search_all(&search, n_nodes, nodes, n, err);
    }
    adjacency_free(&next);
    free(edges);
    free(search.colour);
    free(search.at);
    free(search.stack);
    return status;
}
