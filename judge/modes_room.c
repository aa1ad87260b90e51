/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many bytes each domain held when. The curve of a domain is its rows of pressure in order of time,
 * under a tree of maxima: the greatest of a stretch, and where it was last above a level, cost the
 * logarithm of the rows. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "judge/modes_internal.h"

struct curve {
    const int64_t *t_ns;
    const int64_t *bytes;
    int64_t *tree; /* tree[1] over all; leaf of row i at n_leaves + i */
    uint32_t n, n_leaves;
};

/* While somebody waited for bytes of a domain; of one domain in order, and apart from each other. */
struct awaited {
    uint32_t domain;
    int64_t from_ns, to_ns;
};

struct modes_room {
    uint32_t n_domains;
    struct awaited *awaited; /* by domain, then time; NULL until asked for */
    size_t n_awaited;
    struct curve *curves;   /* by domain */
    int64_t *t_ns, *values; /* of all curves */
    int64_t *trees;
    uint32_t *first_by_node, *by_node; /* holds by the node that acquired them */
    uint32_t *first_by_object, *by_object;
    uint32_t **stagings; /* by domain; NULL until asked for */
    uint32_t *n_stagings;
};

void modes_room_free(struct modes_room *room)
{
    if (room == NULL) {
        return;
    }
    for (uint32_t i = 0; room->stagings != NULL && i < room->n_domains; i++) {
        free(room->stagings[i]);
    }
    free(room->awaited);
    free(room->curves);
    free(room->t_ns);
    free(room->values);
    free(room->trees);
    free(room->first_by_node);
    free(room->by_node);
    free(room->first_by_object);
    free(room->by_object);
    free(room->stagings);
    free(room->n_stagings);
    free(room);
}

/* More than rows, so that the place behind the last one is in the tree. */
static uint32_t leaves_for(uint32_t n)
{
    uint32_t leaves = 1;

    while (leaves <= n) {
        leaves *= 2;
    }
    return leaves;
}

static void grow_tree(struct curve *curve)
{
    for (uint32_t i = 0; i < curve->n_leaves; i++) {
        curve->tree[curve->n_leaves + i] = i < curve->n ? curve->bytes[i] : INT64_MIN;
    }
    for (uint32_t i = curve->n_leaves - 1; i > 0; i--) {
        int64_t left = curve->tree[2 * (size_t)i], right = curve->tree[2 * (size_t)i + 1];

        curve->tree[i] = left > right ? left : right;
    }
}

static enum weir_status make_curves(const struct modes *modes, struct modes_room *room)
{
    const struct timeline *timeline = modes->timeline;
    size_t at = 0, tree_at = 0;

    room->curves = calloc((size_t)room->n_domains + 1, sizeof *room->curves);
    room->t_ns = malloc((timeline->n_pressures + 1) * sizeof *room->t_ns);
    room->values = malloc((timeline->n_pressures + 1) * sizeof *room->values);
    if (room->curves == NULL || room->t_ns == NULL || room->values == NULL) {
        return weir_error_memory(modes->err);
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        room->curves[timeline->pressures[i].domain.index].n++;
    }
    for (uint32_t d = 0; d < room->n_domains; d++) {
        struct curve *curve = &room->curves[d];

        curve->t_ns = room->t_ns + at;
        curve->bytes = room->values + at;
        at += curve->n;
        curve->n_leaves = leaves_for(curve->n);
        tree_at += 2 * (size_t)curve->n_leaves;
        curve->n = 0;
    }
    room->trees = malloc((tree_at + 1) * sizeof *room->trees);
    if (room->trees == NULL) {
        return weir_error_memory(modes->err);
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];
        struct curve *curve = &room->curves[row->domain.index];
        size_t to = (size_t)(curve->t_ns - room->t_ns) + curve->n++;

        room->t_ns[to] = row->t_ns;
        room->values[to] = row->bytes;
    }
    tree_at = 0;
    for (uint32_t d = 0; d < room->n_domains; d++) {
        room->curves[d].tree = room->trees + tree_at;
        tree_at += 2 * (size_t)room->curves[d].n_leaves;
        grow_tree(&room->curves[d]);
    }
    return WEIR_OK;
}

/* Numbers of holds by what key() says of each, WEIR_NONE for none, in their order. */
static enum weir_status sort_holds(const struct modes *modes, uint32_t n_keys,
                                   uint32_t key(const struct timeline_hold *), uint32_t **first,
                                   uint32_t **numbers)
{
    const struct timeline *timeline = modes->timeline;

    *first = calloc((size_t)n_keys + 2, sizeof **first);
    *numbers = malloc((timeline->n_holds + 1) * sizeof **numbers);
    if (*first == NULL || *numbers == NULL) {
        return weir_error_memory(modes->err);
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        uint32_t of = key(&timeline->holds[i]);

        if (of != WEIR_NONE) {
            (*first)[of + 2]++;
        }
    }
    for (uint32_t i = 0; i < n_keys; i++) {
        (*first)[i + 2] += (*first)[i + 1];
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        uint32_t of = key(&timeline->holds[i]);

        if (of != WEIR_NONE) {
            (*numbers)[(*first)[of + 1]++] = (uint32_t)i;
        }
    }
    return WEIR_OK;
}

static uint32_t node_of(const struct timeline_hold *hold)
{
    return hold->node.index;
}

static uint32_t object_of(const struct timeline_hold *hold)
{
    return hold->object.index;
}

static enum weir_status make(struct modes *modes)
{
    struct modes_room *room = calloc(1, sizeof *room);
    enum weir_status status;

    modes->room = room;
    if (room == NULL) {
        return weir_error_memory(modes->err);
    }
    room->n_domains = modes->timeline->n_domains;
    status = make_curves(modes, room);
    if (status == WEIR_OK) {
        status = sort_holds(modes, modes->timeline->n_nodes, node_of, &room->first_by_node,
                            &room->by_node);
    }
    if (status == WEIR_OK) {
        status = sort_holds(modes, graph_n_objects(modes->graph), object_of, &room->first_by_object,
                            &room->by_object);
    }
    return status;
}

static bool has_room(struct modes *modes)
{
    if (modes->status == WEIR_OK && modes->room == NULL) {
        modes->status = make(modes);
    }
    return modes->status == WEIR_OK;
}

/* --- the curve --- */

/* How many rows come no later than that instant. */
static uint32_t rows_until(const struct curve *curve, int64_t at_ns)
{
    uint32_t low = 0, high = curve->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (curve->t_ns[middle] <= at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The rows whose bytes were held at some time of the stretch. */
static bool rows_of(const struct curve *curve, int64_t from_ns, int64_t to_ns, uint32_t *first,
                    uint32_t *end)
{
    uint32_t until = rows_until(curve, from_ns);

    *first = until > 0 ? until - 1 : 0;
    *end = to_ns > from_ns ? rows_until(curve, to_ns - 1) : *first;
    return *first < *end;
}

int64_t modes_most_held(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns)
{
    int64_t most = 0;
    uint32_t first, end;
    const struct curve *curve;

    if (!has_room(modes)) {
        return INT64_MAX / 2; /* nothing fits */
    }
    curve = &modes->room->curves[domain];
    if (!rows_of(curve, from_ns, to_ns, &first, &end)) {
        return 0;
    }
    for (size_t low = (size_t)first + curve->n_leaves, high = (size_t)end + curve->n_leaves;
         low < high; low /= 2, high /= 2) {
        if ((low & 1) != 0) {
            most = curve->tree[low] > most ? curve->tree[low] : most;
            low++;
        }
        if ((high & 1) != 0) {
            high--;
            most = curve->tree[high] > most ? curve->tree[high] : most;
        }
    }
    return most;
}

/* The last row before @p end that is above the level, plus one; 0: none. */
static uint32_t last_above(const struct curve *curve, uint32_t end, int64_t level)
{
    size_t at = (size_t)end + curve->n_leaves;

    while ((at & 1) == 0 || curve->tree[at - 1] <= level) { /* up, until one is to the left */
        if ((at & (at - 1)) == 0) {
            return 0; /* the left edge of the tree */
        }
        at /= 2;
    }
    if ((at & (at - 1)) == 0) {
        return 0;
    }
    at--;
    while (at < curve->n_leaves) { /* down, to the right where it can */
        at = curve->tree[2 * at + 1] > level ? 2 * at + 1 : 2 * at;
    }
    return (uint32_t)(at - curve->n_leaves) + 1;
}

int64_t modes_held_below(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns,
                         int64_t limit_bytes)
{
    const struct curve *curve;
    uint32_t first, end, last;

    if (!has_room(modes) || (limit_bytes < 0 && from_ns < to_ns)) {
        return to_ns;
    }
    curve = &modes->room->curves[domain];
    if (!rows_of(curve, from_ns, to_ns, &first, &end)) {
        return from_ns;
    }
    last = last_above(curve, end, limit_bytes);
    if (last <= first) {
        return from_ns;
    }
    return last >= curve->n || curve->t_ns[last] > to_ns ? to_ns : curve->t_ns[last];
}

void modes_peak(struct modes *modes, uint32_t domain, int64_t *first_ns, int64_t *last_ns)
{
    int64_t peak = modes->timeline->peak_bytes[domain];
    const struct curve *curve;

    *first_ns = 0;
    *last_ns = INT64_MAX;
    if (!has_room(modes)) {
        return;
    }
    curve = &modes->room->curves[domain];
    for (uint32_t i = 0; i < curve->n; i++) {
        if (curve->bytes[i] >= peak) {
            *first_ns = curve->t_ns[i];
            break;
        }
    }
    for (uint32_t i = curve->n; i > 0; i--) {
        if (curve->bytes[i - 1] >= peak) {
            *last_ns = i < curve->n ? curve->t_ns[i] : INT64_MAX;
            break;
        }
    }
}

/* --- holds --- */

const uint32_t *modes_acquired(struct modes *modes, uint32_t node, uint32_t *n)
{
    *n = 0;
    if (!has_room(modes)) {
        return NULL;
    }
    *n = modes->room->first_by_node[node + 1] - modes->room->first_by_node[node];
    return modes->room->by_node + modes->room->first_by_node[node];
}

int64_t modes_need(struct modes *modes, uint32_t node, uint32_t domain)
{
    uint32_t n;
    const uint32_t *acquired = modes_acquired(modes, node, &n);
    int64_t need = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct timeline_hold *hold = &modes->timeline->holds[acquired[i]];

        need += hold->domain.index == domain ? hold->bytes : 0;
    }
    return need;
}

const struct timeline_hold *modes_hold_before(struct modes *modes, uint32_t object, uint32_t domain,
                                              int64_t at_ns)
{
    const struct timeline_hold *last = NULL;

    if (!has_room(modes)) {
        return NULL;
    }
    for (uint32_t i = modes->room->first_by_object[object];
         i < modes->room->first_by_object[object + 1]; i++) {
        const struct timeline_hold *hold = &modes->timeline->holds[modes->room->by_object[i]];

        if (hold->acquire_ns > at_ns) {
            break; /* they come by acquisition */
        }
        last = hold->domain.index == domain ? hold : last;
    }
    return last;
}

const struct timeline_hold *modes_hold_at(struct modes *modes, uint32_t object, uint32_t domain,
                                          int64_t at_ns)
{
    const struct timeline_hold *last = modes_hold_before(modes, object, domain, at_ns);

    return last != NULL && (last->release_ns < 0 || last->release_ns > at_ns) ? last : NULL;
}

static int by_domain_and_time(const void *left, const void *right)
{
    const struct awaited *a = left, *b = right;

    if (a->domain != b->domain) {
        return a->domain < b->domain ? -1 : 1;
    }
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static void join_awaited(struct modes_room *room)
{
    size_t n = 0;

    qsort(room->awaited, room->n_awaited, sizeof *room->awaited, by_domain_and_time);
    for (size_t i = 0; i < room->n_awaited; i++) {
        struct awaited *last = n > 0 ? &room->awaited[n - 1] : NULL, *one = &room->awaited[i];

        if (last != NULL && last->domain == one->domain && last->to_ns >= one->from_ns) {
            last->to_ns = last->to_ns > one->to_ns ? last->to_ns : one->to_ns;
        } else {
            room->awaited[n++] = *one;
        }
    }
    room->n_awaited = n;
}

/* A node may wait in each domain where it takes bytes. */
static enum weir_status make_awaited(struct modes *modes, struct modes_room *room)
{
    const struct timeline *timeline = modes->timeline;
    size_t have = 0;
    enum weir_status status = array_grow(&room->awaited, &have, 1, modes->err);

    for (size_t i = 0; i < timeline->n_waits && status == WEIR_OK; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];
        uint32_t n = 0;
        const uint32_t *acquired =
            wait->cause == WAIT_CAPACITY ? modes_acquired(modes, wait->node.index, &n) : NULL;

        for (uint32_t j = 0; j < n && status == WEIR_OK; j++) {
            status = array_grow(&room->awaited, &have, room->n_awaited + 1, modes->err);
            if (status == WEIR_OK) {
                room->awaited[room->n_awaited++] = (struct awaited){
                    timeline->holds[acquired[j]].domain.index, wait->from_ns, wait->to_ns};
            }
        }
    }
    if (status == WEIR_OK) {
        join_awaited(room);
    }
    return status;
}

bool modes_is_awaited(struct modes *modes, uint32_t domain, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high;

    if (has_room(modes) && modes->room->awaited == NULL) {
        modes->status = make_awaited(modes, modes->room);
    }
    if (modes->status != WEIR_OK) {
        return true;
    }
    high = modes->room->n_awaited;
    while (low < high) { /* the first that ends behind from_ns */
        size_t middle = low + (high - low) / 2;
        const struct awaited *one = &modes->room->awaited[middle];

        if (one->domain < domain || (one->domain == domain && one->to_ns <= from_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < modes->room->n_awaited && modes->room->awaited[low].domain == domain &&
           modes->room->awaited[low].from_ns < to_ns && from_ns < to_ns;
}

/* Is the hold the staging of its node, and not its workspace? */
static bool is_staging(const struct modes *modes, const struct timeline_hold *hold)
{
    struct graph_node value;

    if (weir_is(hold->object) || !weir_is(hold->node)) {
        return false;
    }
    graph_node(modes->graph, hold->node, &value);
    return value.staging.bytes == hold->bytes &&
           weir_same(graph_charge_domain(modes->graph, hold->node, &value.staging), hold->domain);
}

static enum weir_status make_stagings(const struct modes *modes, struct modes_room *room)
{
    const struct timeline *timeline = modes->timeline;

    room->stagings = calloc((size_t)room->n_domains + 1, sizeof *room->stagings);
    room->n_stagings = calloc((size_t)room->n_domains + 1, sizeof *room->n_stagings);
    if (room->stagings == NULL || room->n_stagings == NULL) {
        return weir_error_memory(modes->err);
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        room->n_stagings[timeline->holds[i].domain.index] +=
            weir_is(timeline->holds[i].object) ? 0 : 1;
    }
    for (uint32_t d = 0; d < room->n_domains; d++) {
        room->stagings[d] = malloc(((size_t)room->n_stagings[d] + 1) * sizeof *room->stagings[d]);
        room->n_stagings[d] = 0;
        if (room->stagings[d] == NULL) {
            return weir_error_memory(modes->err);
        }
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        uint32_t domain = timeline->holds[i].domain.index;

        if (is_staging(modes, &timeline->holds[i])) {
            room->stagings[domain][room->n_stagings[domain]++] = (uint32_t)i;
        }
    }
    return WEIR_OK;
}

const uint32_t *modes_stagings(struct modes *modes, uint32_t domain, uint32_t *n)
{
    *n = 0;
    if (!has_room(modes)) {
        return NULL;
    }
    if (modes->room->stagings == NULL) {
        modes->status = make_stagings(modes, modes->room);
    }
    if (modes->status != WEIR_OK) {
        return NULL;
    }
    *n = modes->room->n_stagings[domain];
    return modes->room->stagings[domain];
}
