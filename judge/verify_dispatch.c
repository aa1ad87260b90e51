/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who starts: the run is gone through start by start, and each time it is asked whether the node could
 * start, and whether one that goes before it could have; when an instant is over, whether anybody
 * still could.
 *
 * Nodes of one engine that may overlap the same others stand in one line, in dispatch order: what keeps
 * one of them from starting, but for bytes, keeps all. Those that have been looked at and lack bytes of
 * a domain stand apart, in a tree that finds the first whose need the free bytes cover: so one that
 * cannot start is not looked at again until it might. Order is a number, since all ready times are
 * known. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/keys.h"
#include "judge/verify_internal.h"

enum { NOT_READY, WAITING, LACKING, GONE };

/* Nodes of a line that may lack bytes of a domain, in dispatch order: needs of leaves that wait there,
 * INT64_MAX of others, and of each vertex the least below it. */
struct shelf {
    uint32_t domain, n;
    size_t leaves; /* a power of two, n at least */
    int64_t *least;
    uint32_t *nodes; /* by leaf */
};

struct line {
    uint32_t engine;   /* NONE */
    uint32_t any_node; /* stands for all, when it comes to overlaps */
    bool is_lengthless;
    uint32_t first, n; /* its nodes: in_line[first], in dispatch order */
    uint32_t *heap;    /* ranks of those that are ready and have not been looked at */
    size_t heap_room;
    uint32_t n_heap;
    struct shelf *shelves;
    size_t shelves_room;
    uint32_t n_shelves;
    uint32_t candidate; /* rank of the first that could start when it was last looked; NONE */
    bool is_dirty;
};

struct list {
    uint32_t *items, n;
    size_t room;
};

/* Bytes come back, a node gets ready, a node ends or gives way. */
enum { EVENT_GIVE, EVENT_END, EVENT_READY, EVENT_GO };

struct event {
    struct moment at;
    int kind;
    uint32_t what; /* a hold, or a node */
};

struct dispatch {
    struct verify *verify;
    uint32_t *rank, *by_rank; /* of each node, and back */
    uint32_t *line_of, *in_line;
    uint8_t *state;
    uint32_t *lacks; /* by node: the shelf of its line on which it stands */
    struct line *lines;
    size_t lines_room;
    uint32_t n_lines;
    int64_t *free_slots, *free_bytes;
    struct apart pairs;
    uint32_t *key_first, *key_lines;       /* by key of pairs: the lines whose nodes have it */
    struct list *lacking;                  /* by domain: the lines with a shelf for it */
    bool *has_begun;                       /* by copy */
    uint32_t *beginners_first, *beginners; /* by copy: who might begin it */
    uint32_t *engine_first, *engine_lines; /* by engine */
    uint32_t *dirty, n_dirty;
    uint32_t *heads,
        n_heads; /* lines with a candidate, a heap by its rank; one may be there twice */
    size_t heads_room;
    struct event *events;
    size_t events_room, n_events;
    struct verify_need *needs;
    bool is_loose; /* in this instant who came first cannot be told */
    bool *is_told; /* by node: told to have stood idle */
    size_t at_late, at_way;
};

/* --- order ------------------------------------------------------------------------------------ */

struct standing {
    int64_t priority, ready_ns;
    uint32_t node;
};

static int by_dispatch(const void *left, const void *right)
{
    const struct standing *a = left, *b = right;

    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->ready_ns != b->ready_ns) {
        return a->ready_ns < b->ready_ns ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static enum weir_status rank_all(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    struct standing *list = malloc(((size_t)verify->n_nodes + 1) * sizeof *list);

    if (list == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        struct graph_node value;

        graph_node(verify->graph, (weir_node){i}, &value);
        list[i] = (struct standing){value.priority, verify->ready[i].ns, i};
    }
    qsort(list, verify->n_nodes, sizeof *list, by_dispatch);
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        dispatch->rank[list[i].node] = i;
        dispatch->by_rank[i] = list[i].node;
    }
    free(list);
    return WEIR_OK;
}

/* --- lines ------------------------------------------------------------------------------------ */

static enum weir_status find_line(struct dispatch *dispatch, struct keys *known, uint32_t node)
{
    struct verify *verify = dispatch->verify;
    weir_class class_ = graph_node_class(verify->graph, (weir_node){node});
    uint32_t keys[2];
    struct key key = {{verify->nodes[node].engine, NONE, NONE, NONE - 1}};
    uint32_t found;
    enum weir_status status = WEIR_OK;

    if (!verify->nodes[node].is_lengthless) {
        apart_keys(&dispatch->pairs, node, keys);
        key.part[1] = keys[0];
        key.part[2] = keys[1];
        key.part[3] = dispatch->pairs.has_unlisted ? class_.index : NONE;
    }
    found = keys_find(known, &key);
    if (found == KEYS_NONE) {
        status = array_grow(&dispatch->lines, &dispatch->lines_room, (size_t)dispatch->n_lines + 1,
                            verify->err);
        if (status == WEIR_OK) {
            status = keys_put(known, &key, dispatch->n_lines, verify->err);
        }
        if (status != WEIR_OK) {
            return status;
        }
        found = dispatch->n_lines++;
        dispatch->lines[found] = (struct line){.engine = verify->nodes[node].engine,
                                               .any_node = node,
                                               .is_lengthless = verify->nodes[node].is_lengthless,
                                               .candidate = NONE};
    }
    dispatch->line_of[node] = found;
    dispatch->lines[found].n++;
    return WEIR_OK;
}

static enum weir_status index_lines(struct dispatch *dispatch)
{
    const struct verify *verify = dispatch->verify;
    uint32_t sum = 0;

    dispatch->engine_first = calloc((size_t)verify->n_engines + 3, sizeof *dispatch->engine_first);
    dispatch->engine_lines =
        malloc(((size_t)dispatch->n_lines + 1) * sizeof *dispatch->engine_lines);
    dispatch->dirty = malloc(((size_t)dispatch->n_lines + 1) * sizeof *dispatch->dirty);
    if (dispatch->engine_first == NULL || dispatch->engine_lines == NULL ||
        dispatch->dirty == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        struct line *line = &dispatch->lines[i];

        line->first = sum;
        sum += line->n;
        line->n = 0;
        dispatch->engine_first[(line->engine == NONE ? verify->n_engines : line->engine) + 2]++;
    }
    for (uint32_t i = 1; i < verify->n_engines + 3; i++) {
        dispatch->engine_first[i] += dispatch->engine_first[i - 1];
    }
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        uint32_t engine = dispatch->lines[i].engine;

        engine = engine == NONE ? verify->n_engines : engine;
        dispatch->engine_lines[dispatch->engine_first[engine + 1]++] = i;
    }
    for (uint32_t rank = 0; rank < verify->n_nodes; rank++) {
        struct line *line = &dispatch->lines[dispatch->line_of[dispatch->by_rank[rank]]];

        dispatch->in_line[line->first + line->n++] = dispatch->by_rank[rank];
    }
    return WEIR_OK;
}

static void keys_of_line(const struct dispatch *dispatch, uint32_t index, uint32_t keys[2])
{
    keys[0] = keys[1] = NONE;
    if (!dispatch->lines[index].is_lengthless) {
        apart_keys(&dispatch->pairs, dispatch->lines[index].any_node, keys);
    }
}

static enum weir_status index_keys(struct dispatch *dispatch)
{
    uint32_t n_keys = dispatch->pairs.n_keys;

    dispatch->key_first = calloc((size_t)n_keys + 2, sizeof *dispatch->key_first);
    dispatch->key_lines = malloc((2 * (size_t)dispatch->n_lines + 1) * sizeof *dispatch->key_lines);
    if (dispatch->key_first == NULL || dispatch->key_lines == NULL) {
        return weir_error_memory(dispatch->verify->err);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < dispatch->n_lines; i++) {
            uint32_t keys[2];

            keys_of_line(dispatch, i, keys);
            for (int j = 0; j < 2; j++) {
                if (keys[j] != NONE && pass == 0) {
                    dispatch->key_first[keys[j] + 2]++;
                } else if (keys[j] != NONE) {
                    dispatch->key_lines[dispatch->key_first[keys[j] + 1]++] = i;
                }
            }
        }
        for (uint32_t i = 1; pass == 0 && i < n_keys + 2; i++) {
            dispatch->key_first[i] += dispatch->key_first[i - 1];
        }
    }
    return WEIR_OK;
}

static enum weir_status make_lines(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    struct keys *known = keys_new();
    enum weir_status status = known == NULL ? weir_error_memory(verify->err) : WEIR_OK;

    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        status = find_line(dispatch, known, i);
    }
    keys_free(known);
    if (status == WEIR_OK) {
        status = index_lines(dispatch);
    }
    return status == WEIR_OK ? index_keys(dispatch) : status;
}

static enum weir_status list_beginners(struct dispatch *dispatch)
{
    const struct verify *verify = dispatch->verify;
    uint32_t *first = calloc((size_t)verify->n_copies + 2, sizeof *first);

    dispatch->beginners_first = first;
    dispatch->beginners = malloc(((size_t)verify->n_touches + 1) * sizeof *dispatch->beginners);
    dispatch->has_begun = calloc((size_t)verify->n_copies + 1, sizeof *dispatch->has_begun);
    if (first == NULL || dispatch->beginners == NULL || dispatch->has_begun == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_touches; i++) {
        first[verify->touches[i].copy + 2] += verify_may_begin(verify, &verify->touches[i]) ? 1 : 0;
    }
    for (uint32_t i = 1; i < verify->n_copies + 2; i++) {
        first[i] += first[i - 1];
    }
    for (uint32_t node = 0; node < verify->n_nodes; node++) {
        for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
            if (verify_may_begin(verify, &verify->touches[i])) {
                dispatch->beginners[first[verify->touches[i].copy + 1]++] = node;
            }
        }
    }
    return WEIR_OK;
}

/* --- what can start --------------------------------------------------------------------------- */

static uint32_t needs_now(const struct dispatch *dispatch, uint32_t node)
{
    return verify_needs_of(dispatch->verify, node, dispatch->has_begun, dispatch->needs);
}

/* The first domain in which the node lacks bytes; NONE. @param need_bytes how many it needs there */
static uint32_t short_in(struct dispatch *dispatch, uint32_t node, int64_t *need_bytes)
{
    uint32_t n = needs_now(dispatch, node);

    for (uint32_t i = 0; i < n; i++) {
        if (dispatch->needs[i].bytes > dispatch->free_bytes[dispatch->needs[i].domain]) {
            *need_bytes = dispatch->needs[i].bytes;
            return dispatch->needs[i].domain;
        }
    }
    return NONE;
}

static bool has_slot(const struct dispatch *dispatch, const struct line *line)
{
    return line->engine == NONE || dispatch->free_slots[line->engine] > 0;
}

static bool is_apart(const struct dispatch *dispatch, const struct line *line)
{
    return line->is_lengthless || apart_is_none(&dispatch->pairs) ||
           apart_count(&dispatch->pairs, line->any_node) == 0;
}

static void mark(struct dispatch *dispatch, uint32_t index)
{
    if (!dispatch->lines[index].is_dirty) {
        dispatch->lines[index].is_dirty = true;
        dispatch->dirty[dispatch->n_dirty++] = index;
    }
}

/* --- those that are ready and have not been looked at ------------------------------------------- */

static enum weir_status heap_push(uint32_t **heap, size_t *room, uint32_t *n, uint32_t value,
                                  struct weir_error *err)
{
    uint32_t at = *n;
    enum weir_status status = array_grow(heap, room, (size_t)*n + 1, err);

    if (status != WEIR_OK) {
        return status;
    }
    (*n)++;
    for (; at > 0 && (*heap)[(at - 1) / 2] > value; at = (at - 1) / 2) {
        (*heap)[at] = (*heap)[(at - 1) / 2];
    }
    (*heap)[at] = value;
    return WEIR_OK;
}

static void heap_pop(uint32_t *heap, uint32_t *n)
{
    uint32_t value = heap[--*n], at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= *n) {
            break;
        }
        child += child + 1 < *n && heap[child + 1] < heap[child] ? 1 : 0;
        if (heap[child] >= value) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    if (*n > 0) {
        heap[at] = value;
    }
}

/* --- those that lack bytes -------------------------------------------------------------------- */

static bool may_need(const struct verify *verify, uint32_t node, uint32_t domain,
                     struct verify_need *needs)
{
    uint32_t n = verify_needs_at(verify, node, -1, needs);

    for (uint32_t i = 0; i < n; i++) {
        if (needs[i].domain == domain) {
            return true;
        }
    }
    return false;
}

static enum weir_status open_shelf(struct dispatch *dispatch, struct line *line,
                                   struct shelf *shelf)
{
    const struct verify *verify = dispatch->verify;

    shelf->nodes = malloc(((size_t)line->n + 1) * sizeof *shelf->nodes);
    if (shelf->nodes == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = line->first; i < line->first + line->n; i++) {
        if (may_need(verify, dispatch->in_line[i], shelf->domain, dispatch->needs)) {
            shelf->nodes[shelf->n++] = dispatch->in_line[i];
        }
    }
    shelf->leaves = 1;
    while (shelf->leaves < shelf->n) {
        shelf->leaves *= 2;
    }
    shelf->least = malloc(2 * shelf->leaves * sizeof *shelf->least);
    if (shelf->least == NULL) {
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < 2 * shelf->leaves; i++) {
        shelf->least[i] = INT64_MAX;
    }
    return WEIR_OK;
}

static enum weir_status find_shelf(struct dispatch *dispatch, struct line *line, uint32_t domain,
                                   uint32_t *out)
{
    struct list *list;
    enum weir_status status;

    for (uint32_t i = 0; i < line->n_shelves; i++) {
        if (line->shelves[i].domain == domain) {
            *out = i;
            return WEIR_OK;
        }
    }
    status = array_grow(&line->shelves, &line->shelves_room, (size_t)line->n_shelves + 1,
                        dispatch->verify->err);
    if (status != WEIR_OK) {
        return status;
    }
    list = &dispatch->lacking[domain];
    status = array_grow(&list->items, &list->room, (size_t)list->n + 1, dispatch->verify->err);
    if (status != WEIR_OK) {
        return status;
    }
    list->items[list->n++] = (uint32_t)(line - dispatch->lines);
    *out = line->n_shelves++;
    line->shelves[*out] = (struct shelf){.domain = domain};
    return open_shelf(dispatch, line, &line->shelves[*out]);
}

/* The node's leaf: they are in dispatch order. */
static uint32_t leaf_of(const struct dispatch *dispatch, const struct shelf *shelf, uint32_t node)
{
    uint32_t low = 0, high = shelf->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (dispatch->rank[shelf->nodes[middle]] < dispatch->rank[node]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void set_leaf(const struct dispatch *dispatch, struct shelf *shelf, uint32_t node,
                     int64_t value)
{
    size_t at = shelf->leaves + leaf_of(dispatch, shelf, node);

    shelf->least[at] = value;
    for (at /= 2; at > 0; at /= 2) {
        int64_t left = shelf->least[2 * at], right = shelf->least[2 * at + 1];

        shelf->least[at] = left < right ? left : right;
    }
}

/* The first that needs no more than that; NONE. */
static uint32_t first_covered(const struct shelf *shelf, int64_t bytes)
{
    size_t at = 1;

    if (shelf->least[1] > bytes || shelf->least[1] == INT64_MAX) {
        return NONE;
    }
    while (at < shelf->leaves) {
        at = shelf->least[2 * at] <= bytes ? 2 * at : 2 * at + 1;
    }
    return shelf->nodes[at - shelf->leaves];
}

static enum weir_status set_aside(struct dispatch *dispatch, struct line *line, uint32_t node,
                                  uint32_t domain, int64_t need_bytes)
{
    uint32_t shelf = 0;
    enum weir_status status = find_shelf(dispatch, line, domain, &shelf);

    if (status == WEIR_OK) {
        dispatch->state[node] = LACKING;
        dispatch->lacks[node] = shelf;
        set_leaf(dispatch, &line->shelves[shelf], node, need_bytes);
    }
    return status;
}

static void take_down(struct dispatch *dispatch, uint32_t node)
{
    struct line *line = &dispatch->lines[dispatch->line_of[node]];

    set_leaf(dispatch, &line->shelves[dispatch->lacks[node]], node, INT64_MAX);
}

/* --- the first of a line that could start ------------------------------------------------------ */

static uint32_t first_waiting(struct dispatch *dispatch, struct line *line)
{
    while (line->n_heap > 0 && dispatch->state[dispatch->by_rank[line->heap[0]]] != WAITING) {
        heap_pop(line->heap, &line->n_heap);
    }
    return line->n_heap > 0 ? line->heap[0] : NONE;
}

static uint32_t first_of(struct dispatch *dispatch, struct line *line)
{
    uint32_t best = first_waiting(dispatch, line);

    for (uint32_t i = 0; i < line->n_shelves; i++) {
        uint32_t node =
            first_covered(&line->shelves[i], dispatch->free_bytes[line->shelves[i].domain]);

        if (node != NONE && dispatch->rank[node] < best) {
            best = dispatch->rank[node];
        }
    }
    return best;
}

/* Looks for it, and sets aside those that lack bytes. */
static enum weir_status look(struct dispatch *dispatch, struct line *line)
{
    enum weir_status status = WEIR_OK;

    line->candidate = NONE;
    if (!has_slot(dispatch, line) || !is_apart(dispatch, line)) {
        return WEIR_OK;
    }
    while (status == WEIR_OK) {
        uint32_t rank = first_of(dispatch, line), node, domain;
        int64_t need_bytes = 0;

        if (rank == NONE) {
            return WEIR_OK;
        }
        node = dispatch->by_rank[rank];
        domain = short_in(dispatch, node, &need_bytes);
        if (domain == NONE) {
            line->candidate = rank;
            return WEIR_OK;
        }
        if (dispatch->state[node] == LACKING) {
            take_down(dispatch, node);
        } else {
            heap_pop(line->heap, &line->n_heap);
        }
        status = set_aside(dispatch, line, node, domain, need_bytes);
    }
    return status;
}

/* The first of all that could start now; NONE. */
static enum weir_status first_of_all(struct dispatch *dispatch, uint32_t *out)
{
    enum weir_status status = WEIR_OK;

    *out = NONE;
    while (status == WEIR_OK) {
        struct line *line;
        uint32_t rank;

        while (dispatch->n_dirty > 0 && status == WEIR_OK) {
            line = &dispatch->lines[dispatch->dirty[--dispatch->n_dirty]];
            line->is_dirty = false;
            status = look(dispatch, line);
            if (status == WEIR_OK && line->candidate != NONE) {
                status = heap_push(&dispatch->heads, &dispatch->heads_room, &dispatch->n_heads,
                                   line->candidate, dispatch->verify->err);
            }
        }
        if (status != WEIR_OK || dispatch->n_heads == 0) {
            return status;
        }
        rank = dispatch->heads[0];
        line = &dispatch->lines[dispatch->line_of[dispatch->by_rank[rank]]];
        if (line->candidate != rank) { /* it was there twice, or has gone */
            heap_pop(dispatch->heads, &dispatch->n_heads);
            continue;
        }
        status = look(dispatch, line); /* others have taken since */
        if (line->candidate == rank) {
            *out = dispatch->by_rank[rank];
            return status;
        }
        heap_pop(dispatch->heads, &dispatch->n_heads);
        if (status == WEIR_OK && line->candidate != NONE) {
            status = heap_push(&dispatch->heads, &dispatch->heads_room, &dispatch->n_heads,
                               line->candidate, dispatch->verify->err);
        }
    }
    return status;
}

/* --- what happens ------------------------------------------------------------------------------ */

static void leave(struct dispatch *dispatch, uint32_t node)
{
    if (dispatch->state[node] == LACKING) {
        take_down(dispatch, node);
    }
    if (dispatch->state[node] == WAITING || dispatch->state[node] == LACKING) {
        mark(dispatch, dispatch->line_of[node]);
    }
    dispatch->state[node] = GONE;
}

/* The node ends: those that must not overlap it may start. */
static void mark_apart(struct dispatch *dispatch, uint32_t node)
{
    const struct apart *pairs = &dispatch->pairs;
    uint32_t keys[2];

    apart_keys(pairs, node, keys);
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = keys[i] == NONE ? 0 : pairs->first[keys[i]];
             keys[i] != NONE && j < pairs->first[keys[i] + 1]; j++) {
            uint32_t key = pairs->partners[j];

            for (uint32_t k = dispatch->key_first[key]; k < dispatch->key_first[key + 1]; k++) {
                mark(dispatch, dispatch->key_lines[k]);
            }
        }
    }
    for (uint32_t i = 0; i < dispatch->n_lines && pairs->has_unlisted; i++) {
        mark(dispatch, i);
    }
}

static void mark_engine(struct dispatch *dispatch, uint32_t engine)
{
    for (uint32_t i = dispatch->engine_first[engine]; i < dispatch->engine_first[engine + 1]; i++) {
        mark(dispatch, dispatch->engine_lines[i]);
    }
}

static void mark_lacking(struct dispatch *dispatch, uint32_t domain)
{
    for (uint32_t i = 0; i < dispatch->lacking[domain].n; i++) {
        mark(dispatch, dispatch->lacking[domain].items[i]);
    }
}

static enum weir_status happen(struct dispatch *dispatch, const struct event *event)
{
    struct verify *verify = dispatch->verify;
    uint32_t what = event->what, line;

    switch (event->kind) {
    case EVENT_GIVE:
        dispatch->free_bytes[verify->holds[what].domain.index] += verify->holds[what].bytes;
        mark_lacking(dispatch, verify->holds[what].domain.index);
        return WEIR_OK;
    case EVENT_END:
        if (!apart_is_none(&dispatch->pairs)) {
            apart_end(&dispatch->pairs, what);
            mark_apart(dispatch, what);
        }
        if (verify->nodes[what].engine != NONE) {
            dispatch->free_slots[verify->nodes[what].engine]++;
            mark_engine(dispatch, verify->nodes[what].engine);
        }
        return WEIR_OK;
    case EVENT_READY:
        line = dispatch->line_of[what];
        if (dispatch->state[what] != NOT_READY) {
            return WEIR_OK;
        }
        dispatch->state[what] = WAITING;
        mark(dispatch, line);
        return heap_push(&dispatch->lines[line].heap, &dispatch->lines[line].heap_room,
                         &dispatch->lines[line].n_heap, dispatch->rank[what], verify->err);
    case EVENT_GO:
        leave(dispatch, what);
        return WEIR_OK;
    }
    return WEIR_OK;
}

/* A copy has begun: whoever might have begun it needs less, and may stand by what it needed. */
static void need_less(struct dispatch *dispatch, uint32_t copy, uint32_t node)
{
    for (uint32_t i = dispatch->beginners_first[copy]; i < dispatch->beginners_first[copy + 1];
         i++) {
        uint32_t other = dispatch->beginners[i], n;
        int64_t need_bytes = 0;
        struct line *line = &dispatch->lines[dispatch->line_of[other]];
        struct shelf *shelf;

        if (other == node || dispatch->state[other] != LACKING) {
            continue;
        }
        shelf = &line->shelves[dispatch->lacks[other]];
        n = needs_now(dispatch, other);
        for (uint32_t j = 0; j < n; j++) {
            need_bytes =
                dispatch->needs[j].domain == shelf->domain ? dispatch->needs[j].bytes : need_bytes;
        }
        set_leaf(dispatch, shelf, other, need_bytes);
        mark(dispatch, dispatch->line_of[other]);
    }
}

/* The node takes what it takes, whether it is there or not. */
static void take(struct dispatch *dispatch, uint32_t node)
{
    struct verify *verify = dispatch->verify;
    uint32_t n = needs_now(dispatch, node);

    for (uint32_t i = 0; i < n; i++) {
        dispatch->free_bytes[dispatch->needs[i].domain] -= dispatch->needs[i].bytes;
    }
    leave(dispatch, node);
    for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
        uint32_t copy = verify->touches[i].copy;

        if (verify_may_begin(verify, &verify->touches[i]) && !dispatch->has_begun[copy]) {
            dispatch->has_begun[copy] = true;
            need_less(dispatch, copy, node);
        }
    }
    if (verify->nodes[node].is_lengthless) {
        return;
    }
    if (verify->nodes[node].engine != NONE) {
        dispatch->free_slots[verify->nodes[node].engine]--;
    }
    if (!apart_is_none(&dispatch->pairs)) {
        apart_start(&dispatch->pairs, node);
    }
}

/* --- the questions ------------------------------------------------------------------------------ */

/* In this instant. */
static void check_start(struct dispatch *dispatch, uint32_t node, int64_t t_ns)
{
    struct verify *verify = dispatch->verify;
    const struct line *line = &dispatch->lines[dispatch->line_of[node]];
    struct verify_at at = verify_at(VERIFY_NO_SLOT, node, t_ns);
    int64_t need_bytes = 0;
    uint32_t domain;

    verify_checked(verify, VERIFY_CHECK_DISPATCH, 1);
    if (!has_slot(dispatch, line)) {
        verify_add(verify, at, "node %s started at %" PRId64 " ns, and engine %s had no free slot",
                   node_name(verify, node), t_ns,
                   graph_text(verify->graph,
                              graph_engine(verify->graph, (weir_engine){line->engine})->name));
    }
    domain = short_in(dispatch, node, &need_bytes);
    if (domain != NONE) {
        at.code = VERIFY_NO_ROOM;
        at.domain.index = domain;
        verify_add(verify, at,
                   "node %s started at %" PRId64 " ns and took %" PRId64
                   " bytes in %s, where %" PRId64 " were free",
                   node_name(verify, node), t_ns, need_bytes, domain_name(verify, domain),
                   dispatch->free_bytes[domain]);
    }
    if (!is_apart(dispatch, line)) {
        at.code = VERIFY_NOT_APART;
        at.domain.index = NONE;
        verify_add(verify, at,
                   "node %s started at %" PRId64 " ns while one ran that it must not overlap",
                   node_name(verify, node), t_ns);
    }
}

/* Was one before it in the order, that could have started? */
static enum weir_status check_first(struct dispatch *dispatch, uint32_t node, int64_t t_ns)
{
    struct verify *verify = dispatch->verify;
    struct verify_at at = verify_at(VERIFY_NOT_FIRST, node, t_ns);
    uint32_t first = NONE;
    enum weir_status status = first_of_all(dispatch, &first);

    if (status == WEIR_OK && first != NONE && dispatch->rank[first] < dispatch->rank[node] &&
        !dispatch->is_told[first]) {
        dispatch->is_told[first] = true;
        at.other.index = first;
        verify_add(verify, at,
                   "node %s started at %" PRId64 " ns, and node %s, ready since %" PRId64
                   " ns, goes before it and could have started",
                   node_name(verify, node), t_ns, node_name(verify, first),
                   verify->ready[first].ns);
    }
    return status;
}

/* The instant is over: nobody can start. */
static enum weir_status check_idle(struct dispatch *dispatch, int64_t t_ns)
{
    struct verify *verify = dispatch->verify;
    uint32_t node = NONE;
    enum weir_status status;

    while ((status = first_of_all(dispatch, &node)) == WEIR_OK && node != NONE) {
        if (!dispatch->is_told[node]) {
            dispatch->is_told[node] = true;
            verify_add(verify, verify_at(VERIFY_IDLE, node, t_ns),
                       "node %s, ready since %" PRId64 " ns, could have started at %" PRId64
                       " ns and did not",
                       node_name(verify, node), verify->ready[node].ns, t_ns);
        }
        leave(dispatch, node); /* told once */
    }
    verify_checked(verify, VERIFY_CHECK_DISPATCH, 1);
    return status;
}

/* --- going through it ---------------------------------------------------------------------------- */

static int by_moment(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->at.ns != b->at.ns) {
        return a->at.ns < b->at.ns ? -1 : 1;
    }
    if (a->at.turn != b->at.turn) {
        return a->at.turn < b->at.turn ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind - b->kind;
    }
    return (a->what > b->what) - (a->what < b->what);
}

static enum weir_status add_event(struct dispatch *dispatch, struct moment at, int kind,
                                  uint32_t what)
{
    enum weir_status status;

    if (at.ns == NEVER_NS) {
        return WEIR_OK;
    }
    status = array_grow(&dispatch->events, &dispatch->events_room, dispatch->n_events + 1,
                        dispatch->verify->err);
    if (status == WEIR_OK) {
        dispatch->events[dispatch->n_events++] = (struct event){at, kind, what};
    }
    return status;
}

static enum weir_status list_events(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < verify->n_holds && status == WEIR_OK; i++) {
        if (!weir_is(verify->holds[i].node)) {
            dispatch->free_bytes[verify->holds[i].domain.index] -= verify->holds[i].bytes;
        }
        status = add_event(dispatch, verify->holds[i].end, EVENT_GIVE, (uint32_t)i);
    }
    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        bool is_needed = verify->nodes[i].is_on && verify->armed[i].ns != NEVER_NS;
        struct moment ready = moment_later(verify->ready[i], verify->armed[i]);

        if (is_needed) {
            status = add_event(dispatch, ready, EVENT_READY, i);
        }
        if (status == WEIR_OK && is_needed && !verify->nodes[i].has_started) {
            status = add_event(dispatch, verify->settled[i], EVENT_GO, i);
        }
        if (status == WEIR_OK && verify->nodes[i].has_started && !verify->nodes[i].is_lengthless) {
            status = add_event(dispatch, verify->done[i], EVENT_END, i);
        }
    }
    if (dispatch->n_events > 0) {
        qsort(dispatch->events, dispatch->n_events, sizeof *dispatch->events, by_moment);
    }
    return status;
}

/* Is it one of the instants in which nodes end, or give way, after others have started? */
static bool is_loose(struct dispatch *dispatch, int64_t t_ns)
{
    const struct verify *verify = dispatch->verify;

    while (dispatch->at_late < verify->n_late && verify->late_ns[dispatch->at_late] < t_ns) {
        dispatch->at_late++;
    }
    while (dispatch->at_way < verify->n_ways && verify->way_ns[dispatch->at_way] < t_ns) {
        dispatch->at_way++;
    }
    return (dispatch->at_late < verify->n_late && verify->late_ns[dispatch->at_late] == t_ns) ||
           (dispatch->at_way < verify->n_ways && verify->way_ns[dispatch->at_way] == t_ns);
}

/* What happens up to that turn of the instant; in a loose one all of it, but for who goes. */
static enum weir_status happen_until(struct dispatch *dispatch, size_t *at, struct moment until)
{
    enum weir_status status = WEIR_OK;

    while (*at < dispatch->n_events && status == WEIR_OK) {
        const struct event *event = &dispatch->events[*at];

        if (moment_before(until, event->at)) {
            break;
        }
        status = happen(dispatch, event);
        (*at)++;
    }
    return status;
}

static enum weir_status start_one(struct dispatch *dispatch, uint32_t node, int64_t t_ns)
{
    enum weir_status status = WEIR_OK;

    if (!dispatch->verify->options.is_steered && !dispatch->is_loose) {
        status = check_first(dispatch, node, t_ns);
    }
    check_start(dispatch, node, t_ns);
    take(dispatch, node);
    return status;
}

static enum weir_status do_instant(struct dispatch *dispatch, size_t *at, uint32_t *next,
                                   int64_t t_ns)
{
    struct verify *verify = dispatch->verify;
    enum weir_status status = WEIR_OK;

    dispatch->is_loose = is_loose(dispatch, t_ns);
    while (*next < verify->n_started && verify->start[verify->order[*next].index].ns == t_ns &&
           status == WEIR_OK) {
        uint32_t node = verify->order[*next].index;
        struct moment before = verify->start[node];

        /* What has its turn is after the start of that number, and before this one. */
        before.turn = dispatch->is_loose ? TURN_LAST : before.turn - 1;
        status = happen_until(dispatch, at, before);
        if (status == WEIR_OK) {
            status = start_one(dispatch, node, t_ns);
        }
        (*next)++;
    }
    if (status == WEIR_OK) {
        status = happen_until(dispatch, at, (struct moment){t_ns, TURN_LAST});
    }
    if (status == WEIR_OK && !verify->options.is_steered) {
        status = check_idle(dispatch, t_ns);
    }
    return status;
}

static enum weir_status go_through(struct dispatch *dispatch)
{
    const struct verify *verify = dispatch->verify;
    size_t at = 0;
    uint32_t next = 0;
    enum weir_status status = WEIR_OK;

    while ((at < dispatch->n_events || next < verify->n_started) && status == WEIR_OK) {
        int64_t event_ns = at < dispatch->n_events ? dispatch->events[at].at.ns : NEVER_NS;
        int64_t start_ns =
            next < verify->n_started ? verify->start[verify->order[next].index].ns : NEVER_NS;
        int64_t t_ns = event_ns < start_ns ? event_ns : start_ns;

        if (t_ns > verify->end_ns && !verify->is_whole) {
            break; /* the run ended before */
        }
        status = do_instant(dispatch, &at, &next, t_ns);
    }
    return status;
}

/* --- all of it ----------------------------------------------------------------------------------- */

static enum weir_status dispatch_begin(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    bool is_unknown = verify->unknown == UNKNOWN_IS_FORBIDDEN;
    size_t n = (size_t)verify->n_nodes + 1;
    enum weir_status status =
        apart_make(verify, OVERLAP_FORBIDDEN, is_unknown ? OVERLAP_UNKNOWN : OVERLAP_FORBIDDEN,
                   is_unknown && verify->family == FAMILY_PAIRWISE, &dispatch->pairs);

    dispatch->rank = malloc(n * sizeof *dispatch->rank);
    dispatch->by_rank = malloc(n * sizeof *dispatch->by_rank);
    dispatch->line_of = malloc(n * sizeof *dispatch->line_of);
    dispatch->in_line = malloc(n * sizeof *dispatch->in_line);
    dispatch->state = calloc(n, sizeof *dispatch->state);
    dispatch->lacks = calloc(n, sizeof *dispatch->lacks);
    dispatch->is_told = calloc(n, sizeof *dispatch->is_told);
    dispatch->lacking = calloc((size_t)verify->n_domains + 1, sizeof *dispatch->lacking);
    dispatch->free_slots = calloc((size_t)verify->n_engines + 1, sizeof *dispatch->free_slots);
    dispatch->free_bytes = calloc((size_t)verify->n_domains + 1, sizeof *dispatch->free_bytes);
    dispatch->needs = malloc(verify_most_needs(verify) * sizeof *dispatch->needs);
    if (status == WEIR_OK &&
        (dispatch->rank == NULL || dispatch->by_rank == NULL || dispatch->line_of == NULL ||
         dispatch->in_line == NULL || dispatch->state == NULL || dispatch->lacks == NULL ||
         dispatch->is_told == NULL || dispatch->lacking == NULL || dispatch->free_slots == NULL ||
         dispatch->free_bytes == NULL || dispatch->needs == NULL)) {
        status = weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_engines && status == WEIR_OK; i++) {
        dispatch->free_slots[i] = graph_engine(verify->graph, (weir_engine){i})->slots;
    }
    for (uint32_t i = 0; i < verify->n_domains && status == WEIR_OK; i++) {
        dispatch->free_bytes[i] = verify_usable_bytes(verify, i);
    }
    if (status == WEIR_OK) {
        status = rank_all(dispatch);
    }
    if (status == WEIR_OK) {
        status = make_lines(dispatch);
    }
    if (status == WEIR_OK) {
        status = list_beginners(dispatch);
    }
    return status == WEIR_OK ? list_events(dispatch) : status;
}

static void dispatch_free(struct dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        struct line *line = &dispatch->lines[i];

        for (uint32_t j = 0; j < line->n_shelves; j++) {
            free(line->shelves[j].least);
            free(line->shelves[j].nodes);
        }
        free(line->shelves);
        free(line->heap);
    }
    for (uint32_t i = 0; dispatch->lacking != NULL && i < dispatch->verify->n_domains; i++) {
        free(dispatch->lacking[i].items);
    }
    free(dispatch->lacking);
    free(dispatch->key_first);
    free(dispatch->key_lines);
    free(dispatch->lines);
    free(dispatch->rank);
    free(dispatch->by_rank);
    free(dispatch->line_of);
    free(dispatch->in_line);
    free(dispatch->state);
    free(dispatch->lacks);
    free(dispatch->is_told);
    free(dispatch->free_slots);
    free(dispatch->free_bytes);
    free(dispatch->needs);
    free(dispatch->has_begun);
    free(dispatch->beginners_first);
    free(dispatch->beginners);
    free(dispatch->engine_first);
    free(dispatch->engine_lines);
    free(dispatch->dirty);
    free(dispatch->heads);
    free(dispatch->events);
    apart_free(&dispatch->pairs);
}

enum weir_status verify_dispatch(struct verify *verify)
{
    struct dispatch dispatch = {.verify = verify};
    enum weir_status status;

    if (verify->is_lenient) {
        verify_skip(verify, VERIFY_CHECK_DISPATCH,
                    "on a device the plan has settled who starts first");
        return WEIR_OK;
    }
    if (verify->timeline->status == RUN_SHORTAGE && verify->n_started == 0) {
        verify_skip(verify, VERIFY_CHECK_DISPATCH,
                    "nothing started: the initial objects do not fit");
        return WEIR_OK;
    }
    if (verify->options.is_steered) {
        verify_skip(
            verify, VERIFY_CHECK_DISPATCH,
            "who starts first: the policy may hold nodes and change their order as time runs");
    }
    status = dispatch_begin(&dispatch);
    if (status == WEIR_OK) {
        status = go_through(&dispatch);
    }
    dispatch_free(&dispatch);
    return status;
}
