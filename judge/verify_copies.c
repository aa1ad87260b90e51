/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which copies there are, who touches them and who must be done before whom, from the statements
 * alone: the nodes are taken in program order, and of every object in every domain it is kept which
 * copy lives there, and of each of its pieces who changed it last and who has read it since.
 *
 * Every hazard is listed, also one that follows from others. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/keys.h"
#include "judge/verify_internal.h"
#include "judge/verify_pieces.h"

/* Who has read a piece: a list in a pool. */
struct reader {
    uint32_t node, next;
};

struct piece {
    uint32_t changer; /* the last, since the copy began; NONE */
    uint32_t readers; /* since that change; NONE */
    uint32_t mapping; /* the last that made the home copy visible here; NONE */
};

/* An object in a domain. */
struct place {
    uint32_t root, domain;
    uint32_t copy;         /* that lives there; NONE */
    uint32_t last_reclaim; /* the node that ended the copy before; NONE */
    uint32_t first_piece;
};

struct flow {
    struct verify *verify;
    const struct graph *graph;
    struct pieces pieces;
    struct keys *place_of; /* by root and domain */
    struct place *places;
    struct piece *state;
    struct reader *readers;
    uint32_t *touch_of; /* by copy: its newest touch */
    size_t places_room, state_room, readers_room, touch_of_room;
    uint32_t n_places, n_state, n_readers;

    uint32_t node; /* at work */
    weir_domain works;
    struct graph_node value;
    enum weir_status status; /* of what goes wrong deep below: then nothing more is done */
};

/* --- places and copies ---------------------------------------------------------------------- */

static uint32_t find_place(const struct flow *flow, uint32_t root, uint32_t domain)
{
    const struct key key = {{root, domain, 0, 0}};

    return keys_find(flow->place_of, &key);
}

/* Finds or makes it; NONE when memory ran out. */
static uint32_t make_place(struct flow *flow, uint32_t root, uint32_t domain)
{
    const struct key key = {{root, domain, 0, 0}};
    uint32_t found = find_place(flow, root, domain), n = flow->pieces.count[root];
    struct weir_error *err = flow->verify->err;

    if (found != KEYS_NONE) {
        return found;
    }
    flow->status = array_grow(&flow->places, &flow->places_room, (size_t)flow->n_places + 1, err);
    if (flow->status == WEIR_OK) {
        flow->status = array_grow(&flow->state, &flow->state_room, (size_t)flow->n_state + n, err);
    }
    if (flow->status == WEIR_OK) {
        flow->status = keys_put(flow->place_of, &key, flow->n_places, err);
    }
    if (flow->status != WEIR_OK) {
        return NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        flow->state[flow->n_state + i] = (struct piece){NONE, NONE, NONE};
    }
    flow->places[flow->n_places] = (struct place){root, domain, NONE, NONE, flow->n_state};
    flow->n_state += n;
    return flow->n_places++;
}

static int64_t charged_bytes(const struct graph *graph, uint32_t root, uint32_t domain)
{
    int64_t granule = graph_domain(graph, (weir_domain){domain})->granule_bytes, rest;
    struct graph_object object;

    graph_object(graph, (weir_object){root}, &object);
    rest = granule > 0 ? object.size_bytes % granule : 0;
    return rest == 0 ? object.size_bytes : object.size_bytes - rest + granule;
}

static void begin_copy(struct flow *flow, uint32_t place_index, uint32_t allocation,
                       bool is_initial)
{
    struct verify *verify = flow->verify;
    struct place *place = &flow->places[place_index];
    const struct moment never = {NEVER_NS, 0};

    flow->status = array_grow(&verify->copies, &verify->copies_room, (size_t)verify->n_copies + 1,
                              verify->err);
    if (flow->status == WEIR_OK) {
        flow->status = array_grow(&flow->touch_of, &flow->touch_of_room,
                                  (size_t)verify->n_copies + 1, verify->err);
    }
    if (flow->status != WEIR_OK) {
        return;
    }
    flow->touch_of[verify->n_copies] = NONE;
    verify->copies[verify->n_copies] = (struct verify_copy){
        .object = {place->root},
        .domain = {place->domain},
        .bytes = charged_bytes(flow->graph, place->root, place->domain),
        .allocation = {allocation},
        .before = {place->last_reclaim},
        .reclamation = {NONE},
        .is_initial = is_initial,
        .begin = is_initial ? (struct moment){0, 0} : never,
        .end = never,
        .begun_by = {NONE},
        .last_use = never,
    };
    place->copy = verify->n_copies++;
    for (uint32_t i = 0; i < flow->pieces.count[place->root]; i++) {
        flow->state[place->first_piece + i].changer = NONE;
        flow->state[place->first_piece + i].readers = NONE;
    }
}

static void touch(struct flow *flow, uint32_t copy, uint32_t roles)
{
    struct verify *verify = flow->verify;
    uint32_t at = flow->touch_of[copy];

    if ((roles & TOUCH_USES) != 0) {
        verify->copies[copy].n_uses++;
    }
    if (at != NONE && at >= verify->touch_first[flow->node]) {
        verify->touches[at].roles |= roles;
        return;
    }
    flow->status = array_grow(&verify->touches, &verify->touches_room,
                              (size_t)verify->n_touches + 1, verify->err);
    if (flow->status == WEIR_OK) {
        flow->touch_of[copy] = verify->n_touches;
        verify->touches[verify->n_touches++] = (struct verify_touch){copy, roles};
    }
}

static void follow(struct flow *flow, uint32_t first, uint32_t second, uint32_t root,
                   enum edge_type type)
{
    struct verify *verify = flow->verify;

    if (first == NONE || first == second || flow->status != WEIR_OK) {
        return;
    }
    flow->status = array_grow(&verify->hazards, &verify->hazards_room,
                              (size_t)verify->n_hazards + 1, verify->err);
    if (flow->status == WEIR_OK) {
        verify->hazards[verify->n_hazards++] = (struct verify_hazard){first, second, {root}, type};
    }
}

static void find_missing(struct flow *flow, weir_object object, weir_domain domain,
                         const char *what)
{
    struct verify_at at = verify_at(VERIFY_NO_COPY, flow->node, -1);

    at.object = object;
    at.domain = domain;
    verify_add(flow->verify, at, "node %s %s object %s in %s, where no copy of it is then",
               node_name(flow->verify, flow->node), what, graph_object_name(flow->graph, object),
               weir_is(domain) ? domain_name(flow->verify, domain.index) : "no domain");
}

/* The place in that domain where a copy of the object lives; NONE. */
static uint32_t live_place(const struct flow *flow, weir_object object, weir_domain domain)
{
    uint32_t place = weir_is(domain)
                         ? find_place(flow, flow->pieces.root[object.index].index, domain.index)
                         : KEYS_NONE;

    return place == KEYS_NONE || flow->places[place].copy == NONE ? NONE : place;
}

static weir_domain home_of(const struct flow *flow, weir_object object)
{
    return graph_object_home(flow->graph, flow->pieces.root[object.index]);
}

/* --- what happens to bytes ------------------------------------------------------------------ */

static void add_reader(struct flow *flow, uint32_t piece)
{
    uint32_t first = flow->state[piece].readers;

    if (first != NONE && flow->readers[first].node == flow->node) {
        return;
    }
    flow->status = array_grow(&flow->readers, &flow->readers_room, (size_t)flow->n_readers + 1,
                              flow->verify->err);
    if (flow->status == WEIR_OK) {
        flow->readers[flow->n_readers] = (struct reader){flow->node, first};
        flow->state[piece].readers = flow->n_readers++;
    }
}

/* The node at work reads what the object covers of the copy that lives there. */
static void read_there(struct flow *flow, weir_object object, uint32_t place_index)
{
    const struct place *place = &flow->places[place_index];
    uint32_t copy = place->copy, root = place->root, begin = place->first_piece;
    uint32_t first = begin + flow->pieces.first[object.index];

    touch(flow, copy, TOUCH_USES);
    for (uint32_t i = first; i < first + flow->pieces.count[object.index]; i++) {
        follow(flow, flow->state[i].changer, flow->node, root, EDGE_DATA_READY);
        if (flow->status == WEIR_OK) {
            add_reader(flow, i);
        }
    }
    if (flow->verify->copies[copy].is_initial) {
        struct graph_object owner;
        int64_t *ready_ns = &flow->verify->object_ready_ns[flow->node];

        graph_object(flow->graph, (weir_object){root}, &owner);
        *ready_ns = owner.ready_ns > *ready_ns ? owner.ready_ns : *ready_ns;
    }
}

/* The node at work changes what the object covers of its copy there, which begins if there is none. */
static void change_there(struct flow *flow, weir_object object, weir_domain domain)
{
    uint32_t root = flow->pieces.root[object.index].index;
    uint32_t place_index = make_place(flow, root, domain.index), first;

    if (flow->status == WEIR_OK && flow->places[place_index].copy == NONE) {
        begin_copy(flow, place_index, NONE, false);
    }
    if (flow->status != WEIR_OK) {
        return;
    }
    touch(flow, flow->places[place_index].copy, TOUCH_USES | TOUCH_FILLS);
    first = flow->places[place_index].first_piece + flow->pieces.first[object.index];
    for (uint32_t i = first; i < first + flow->pieces.count[object.index]; i++) {
        const struct verify_copy *copy = &flow->verify->copies[flow->places[place_index].copy];

        if (flow->state[i].changer == NONE) {
            follow(flow, copy->allocation.index, flow->node, root, EDGE_STORAGE_READY);
            follow(flow, copy->before.index, flow->node, root, EDGE_STORAGE_READY);
        }
        follow(flow, flow->state[i].changer, flow->node, root, EDGE_STORAGE_READY);
        for (uint32_t at = flow->state[i].readers; at != NONE; at = flow->readers[at].next) {
            follow(flow, flow->readers[at].node, flow->node, root, EDGE_STORAGE_READY);
        }
        flow->state[i].changer = flow->node;
        flow->state[i].readers = NONE;
    }
}

/* --- what nodes do -------------------------------------------------------------------------- */

/* Through mappings: the home copy, which each piece must have been made visible of. */
static void read_mapped(struct flow *flow, weir_object object)
{
    uint32_t home = live_place(flow, object, home_of(flow, object));
    uint32_t here = find_place(flow, flow->pieces.root[object.index].index, flow->works.index);

    if (home == NONE) {
        find_missing(flow, object, flow->works, "reads");
        return;
    }
    for (uint32_t i = 0; i < flow->pieces.count[object.index]; i++) {
        uint32_t mapping =
            here == KEYS_NONE
                ? NONE
                : flow->state[flow->places[here].first_piece + flow->pieces.first[object.index] + i]
                      .mapping;
        uint32_t reclaimed = flow->places[home].last_reclaim;

        if (mapping == NONE || (reclaimed != NONE && mapping < reclaimed)) {
            find_missing(flow, object, flow->works, "reads, through no mapping,");
            return;
        }
        follow(flow, mapping, flow->node, flow->places[home].root, EDGE_DATA_READY);
    }
    read_there(flow, object, home);
}

static void do_read(struct flow *flow, const struct graph_access *access)
{
    weir_domain domain = weir_is(access->domain) ? access->domain : flow->works;
    uint32_t place = live_place(flow, access->object, domain);

    if (place != NONE) {
        read_there(flow, access->object, place);
    } else if (weir_is(access->domain) || weir_same(domain, home_of(flow, access->object))) {
        find_missing(flow, access->object, domain, "reads");
    } else {
        read_mapped(flow, access->object);
    }
}

static void do_copy(struct flow *flow, weir_object object)
{
    struct graph_engine none = graph_engine_default;
    const struct graph_engine *engine =
        weir_is(flow->value.engine) ? graph_engine(flow->graph, flow->value.engine) : &none;
    weir_domain from = weir_is(flow->value.from) ? flow->value.from
                       : weir_is(engine->from)   ? engine->from
                                                 : home_of(flow, object);
    weir_domain to = weir_is(flow->value.to) ? flow->value.to : engine->to;
    uint32_t source = live_place(flow, object, from);

    if (source == NONE || !weir_is(to)) {
        find_missing(flow, object, source == NONE ? from : to, "copies");
        return;
    }
    read_there(flow, object, source);
    if (flow->status == WEIR_OK) {
        change_there(flow, object, to);
    }
}

static void do_map(struct flow *flow, weir_object object)
{
    uint32_t home = live_place(flow, object, home_of(flow, object)), here, first;

    if (home == NONE) {
        find_missing(flow, object, home_of(flow, object), "maps");
        return;
    }
    read_there(flow, object, home);
    here = flow->status == WEIR_OK
               ? make_place(flow, flow->pieces.root[object.index].index, flow->works.index)
               : NONE;
    if (flow->status != WEIR_OK) {
        return;
    }
    first = flow->places[here].first_piece + flow->pieces.first[object.index];
    for (uint32_t i = 0; i < flow->pieces.count[object.index]; i++) {
        flow->state[first + i].mapping = flow->node;
    }
}

static void do_allocate(struct flow *flow, weir_object object)
{
    uint32_t place = make_place(flow, flow->pieces.root[object.index].index, flow->works.index);

    if (flow->status != WEIR_OK || flow->places[place].copy != NONE) {
        return; /* a live copy is never allocated in a graph that was run */
    }
    begin_copy(flow, place, flow->node, false);
    if (flow->status == WEIR_OK) {
        touch(flow, flow->places[place].copy, TOUCH_ALLOCATES);
    }
    follow(flow, flow->places[place].last_reclaim, flow->node, flow->places[place].root,
           EDGE_STORAGE_READY);
}

static void do_reclaim(struct flow *flow, weir_object object)
{
    uint32_t place = live_place(flow, object, flow->works);

    if (place == NONE) {
        find_missing(flow, object, flow->works, "reclaims");
        return;
    }
    flow->verify->copies[flow->places[place].copy].reclamation.index = flow->node;
    touch(flow, flow->places[place].copy, TOUCH_RECLAIMS);
    flow->places[place].copy = NONE;
    flow->places[place].last_reclaim = flow->node;
}

static void do_act(struct flow *flow)
{
    if (!weir_is(flow->value.object)) {
        return;
    }
    switch (flow->value.kind) {
    case NODE_MAPPING:
        do_map(flow, flow->value.object);
        break;
    case NODE_ALLOCATION:
        do_allocate(flow, flow->value.object);
        break;
    case NODE_TRANSFER:
    case NODE_PREFETCH:
    case NODE_OFFLOAD:
        do_copy(flow, flow->value.object);
        break;
    case NODE_COMPUTE:
    case NODE_REMATERIALIZATION:
    case NODE_BARRIER:
    case NODE_RECLAMATION:
        break;
    }
}

/* It reads, acts, writes; a reclamation comes last. */
static void do_node(struct flow *flow)
{
    const struct graph_node *value = &flow->value;

    flow->works = graph_node_domain(flow->graph, (weir_node){flow->node});
    for (uint32_t i = 0; i < value->n_reads && flow->status == WEIR_OK; i++) {
        do_read(flow, &value->reads[i]);
    }
    if (flow->status == WEIR_OK) {
        do_act(flow);
    }
    for (uint32_t i = 0; i < value->n_writes && flow->status == WEIR_OK; i++) {
        change_there(flow, value->writes[i], flow->works);
    }
    if (value->kind == NODE_RECLAMATION && weir_is(value->object) && flow->status == WEIR_OK) {
        do_reclaim(flow, value->object);
    }
    verify_checked(flow->verify, VERIFY_CHECK_LIFETIMES,
                   (int64_t)value->n_reads + value->n_writes + (weir_is(value->object) ? 1 : 0));
}

/* --- holds of lifetime-hold edges ------------------------------------------------------------ */

struct held {
    uint32_t node, copy;
};

static int by_node(const void *left, const void *right)
{
    const struct held *a = left, *b = right;

    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    return (a->copy > b->copy) - (a->copy < b->copy);
}

/* The consumer holds the copies of the edge's object that the producer uses. */
static void hold_of(struct flow *flow, const struct graph_edge *edge, struct held **held,
                    size_t *room, size_t *n)
{
    const struct verify *verify = flow->verify;
    uint32_t root = flow->pieces.root[edge->object.index].index;

    for (uint32_t i = verify->touch_first[edge->producer.index];
         i < verify->touch_first[edge->producer.index + 1] && flow->status == WEIR_OK; i++) {
        uint32_t copy = verify->touches[i].copy;

        if (verify->copies[copy].object.index == root &&
            (verify->touches[i].roles & TOUCH_USES) != 0 &&
            !weir_same(verify->copies[copy].reclamation, edge->consumer)) {
            flow->status = array_grow(held, room, *n + 1, verify->err);
            if (flow->status == WEIR_OK) {
                (*held)[(*n)++] = (struct held){edge->consumer.index, copy};
            }
        }
    }
}

/* Builds the list of touches anew with the holds in it, each behind what its node touches. */
static void merge_holds(struct flow *flow, const struct held *held, size_t n)
{
    struct verify *verify = flow->verify;
    struct verify_touch *merged = malloc((verify->n_touches + n + 1) * sizeof *merged);
    uint32_t n_merged = 0;
    size_t at = 0;

    if (merged == NULL) {
        flow->status = weir_error_memory(verify->err);
        return;
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        uint32_t begin = n_merged;

        for (uint32_t j = verify->touch_first[i]; j < verify->touch_first[i + 1]; j++) {
            merged[n_merged++] = verify->touches[j];
        }
        verify->touch_first[i] = begin;
        for (; at < n && held[at].node == i; at++) {
            if (at == 0 || by_node(&held[at - 1], &held[at]) != 0) {
                merged[n_merged++] = (struct verify_touch){held[at].copy, TOUCH_HOLDS};
            }
        }
    }
    verify->touch_first[verify->n_nodes] = n_merged;
    free(verify->touches);
    verify->touches = merged;
    verify->n_touches = n_merged;
}

static void find_holds(struct flow *flow)
{
    struct held *held = NULL;
    size_t room = 0, n = 0;

    for (uint32_t i = 0; i < graph_n_edges(flow->graph) && flow->status == WEIR_OK; i++) {
        struct graph_edge edge;

        graph_edge(flow->graph, (weir_edge){i}, &edge);
        if (edge.type == EDGE_LIFETIME_HOLD && weir_is(edge.object) &&
            flow->verify->nodes[edge.producer.index].is_on &&
            flow->verify->nodes[edge.consumer.index].is_on) {
            hold_of(flow, &edge, &held, &room, &n);
        }
    }
    if (n > 0 && flow->status == WEIR_OK) {
        qsort(held, n, sizeof *held, by_node);
        merge_holds(flow, held, n);
    }
    free(held);
}

/* --- all of it ------------------------------------------------------------------------------ */

static void begin_initial(struct flow *flow)
{
    for (uint32_t i = 0; i < graph_n_objects(flow->graph) && flow->status == WEIR_OK; i++) {
        struct graph_object object;
        uint32_t place;

        graph_object(flow->graph, (weir_object){i}, &object);
        if (!object.is_initial || weir_is(object.alias_of)) {
            continue;
        }
        place = make_place(flow, i, graph_object_home(flow->graph, (weir_object){i}).index);
        if (flow->status == WEIR_OK) {
            begin_copy(flow, place, NONE, true);
        }
    }
}

/* What stays to the end: the home copy of what is retained, and what nobody uses. */
static void find_stays(struct flow *flow)
{
    struct verify *verify = flow->verify;

    for (uint32_t i = 0; i < verify->n_copies; i++) {
        verify->copies[i].stays =
            !weir_is(verify->copies[i].reclamation) && verify->copies[i].n_uses == 0;
    }
    for (uint32_t i = 0; i < graph_n_objects(flow->graph); i++) {
        struct graph_object object;
        uint32_t place;

        graph_object(flow->graph, (weir_object){i}, &object);
        place = object.is_retained
                    ? live_place(flow, (weir_object){i}, home_of(flow, (weir_object){i}))
                    : NONE;
        if (place != NONE) {
            verify->copies[flow->places[place].copy].stays = true;
        }
    }
}

/* A reclamation comes after all that touch its copy. */
static void follow_to_ends(struct flow *flow)
{
    const struct verify *verify = flow->verify;

    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        for (uint32_t j = verify->touch_first[i]; j < verify->touch_first[i + 1]; j++) {
            const struct verify_copy *copy = &verify->copies[verify->touches[j].copy];

            if (weir_is(copy->reclamation)) {
                follow(flow, i, copy->reclamation.index, copy->object.index, EDGE_LIFETIME_HOLD);
            }
        }
    }
}

static void walk(struct flow *flow)
{
    struct verify *verify = flow->verify;

    begin_initial(flow);
    for (uint32_t i = 0; i < verify->n_nodes && flow->status == WEIR_OK; i++) {
        flow->node = i;
        verify->touch_first[i] = verify->n_touches;
        if (verify->nodes[i].is_on) {
            graph_node(flow->graph, (weir_node){i}, &flow->value);
            do_node(flow);
        }
    }
    verify->touch_first[verify->n_nodes] = verify->n_touches;
    if (flow->status == WEIR_OK) {
        find_stays(flow);
        find_holds(flow);
    }
    if (flow->status == WEIR_OK) {
        follow_to_ends(flow);
    }
}

enum weir_status verify_copies(struct verify *verify)
{
    struct flow flow = {.verify = verify, .graph = verify->graph, .place_of = keys_new()};

    verify->touch_first = calloc((size_t)verify->n_nodes + 1, sizeof *verify->touch_first);
    verify->object_ready_ns = calloc((size_t)verify->n_nodes + 1, sizeof *verify->object_ready_ns);
    flow.status = pieces_cut(verify->graph, &flow.pieces, verify->err);
    if (flow.status == WEIR_OK &&
        (flow.place_of == NULL || verify->touch_first == NULL || verify->object_ready_ns == NULL)) {
        flow.status = weir_error_memory(verify->err);
    }
    if (flow.status == WEIR_OK) {
        walk(&flow);
    }
    pieces_free(&flow.pieces);
    keys_free(flow.place_of);
    free(flow.places);
    free(flow.state);
    free(flow.readers);
    free(flow.touch_of);
    return flow.status;
}
