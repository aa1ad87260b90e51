/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who starts: the run is gone through start by start, and each time it is asked whether the node could
 * start, and whether one that goes before it could have; when an instant is over, whether anybody
 * still could. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "judge/verify_lines.h"

/* Bytes come back, a node gets ready, a node ends or gives way. */
enum { EVENT_GIVE, EVENT_END, EVENT_READY, EVENT_GO };

struct event {
    struct moment at;
    int kind;
    uint32_t what; /* a hold, or a node */
};

/* --- what can start --------------------------------------------------------------------------- */

static uint32_t lines_needs(const struct dispatch *dispatch, uint32_t node)
{
    return verify_needs_of(dispatch->verify, node, dispatch->has_begun, dispatch->needs);
}

/* The first domain in which the node lacks bytes; NONE. @param need_bytes how many it needs there */
static uint32_t short_in(struct dispatch *dispatch, uint32_t node, int64_t *need_bytes)
{
    uint32_t n = lines_needs(dispatch, node);

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

/* --- the first of a line that could start ------------------------------------------------------ */

static uint32_t first_waiting(struct dispatch *dispatch, struct line *line)
{
    while (line->n_heap > 0 && dispatch->state[dispatch->by_rank[line->heap[0]]] != WAITING) {
        ranks_pop(line->heap, &line->n_heap);
    }
    return line->n_heap > 0 ? line->heap[0] : NONE;
}

static uint32_t first_of(struct dispatch *dispatch, struct line *line)
{
    uint32_t best = first_waiting(dispatch, line);

    for (uint32_t i = 0; i < line->n_shelves; i++) {
        uint32_t node =
            lines_first_covered(&line->shelves[i], dispatch->free_bytes[line->shelves[i].domain]);

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
            lines_take_down(dispatch, node);
        } else {
            ranks_pop(line->heap, &line->n_heap);
        }
        status = lines_set_aside(dispatch, line, node, domain, need_bytes);
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
                status = ranks_push(&dispatch->heads, &dispatch->heads_room, &dispatch->n_heads,
                                    line->candidate, dispatch->verify->err);
            }
        }
        if (status != WEIR_OK || dispatch->n_heads == 0) {
            return status;
        }
        rank = dispatch->heads[0];
        line = &dispatch->lines[dispatch->line_of[dispatch->by_rank[rank]]];
        if (line->candidate != rank) { /* it was there twice, or has gone */
            ranks_pop(dispatch->heads, &dispatch->n_heads);
            continue;
        }
        status = look(dispatch, line); /* others have taken since */
        if (line->candidate == rank) {
            *out = dispatch->by_rank[rank];
            return status;
        }
        ranks_pop(dispatch->heads, &dispatch->n_heads);
        if (status == WEIR_OK && line->candidate != NONE) {
            status = ranks_push(&dispatch->heads, &dispatch->heads_room, &dispatch->n_heads,
                                line->candidate, dispatch->verify->err);
        }
    }
    return status;
}

/* --- what happens ------------------------------------------------------------------------------ */

static void leave(struct dispatch *dispatch, uint32_t node)
{
    if (dispatch->state[node] == LACKING) {
        lines_take_down(dispatch, node);
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
        return ranks_push(&dispatch->lines[line].heap, &dispatch->lines[line].heap_room,
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
        n = lines_needs(dispatch, other);
        for (uint32_t j = 0; j < n; j++) {
            need_bytes =
                dispatch->needs[j].domain == shelf->domain ? dispatch->needs[j].bytes : need_bytes;
        }
        lines_set_need(dispatch, shelf, other, need_bytes);
        mark(dispatch, dispatch->line_of[other]);
    }
}

/* The node takes what it takes, whether it is there or not. */
static void take(struct dispatch *dispatch, uint32_t node)
{
    struct verify *verify = dispatch->verify;
    uint32_t n = lines_needs(dispatch, node);

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
        status = lines_rank(dispatch);
    }
    if (status == WEIR_OK) {
        status = lines_make(dispatch);
    }
    if (status == WEIR_OK) {
        status = lines_list_beginners(dispatch);
    }
    return status == WEIR_OK ? list_events(dispatch) : status;
}

static void dispatch_free(struct dispatch *dispatch)
{
    lines_free(dispatch);
    free(dispatch->state);
    free(dispatch->lacks);
    free(dispatch->is_told);
    free(dispatch->free_slots);
    free(dispatch->free_bytes);
    free(dispatch->needs);
    free(dispatch->has_begun);
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
