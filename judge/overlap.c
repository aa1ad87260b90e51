/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two nodes that run together do so from the later start to the earlier finish. So over all pairs of two
 * classes, with c_a and c_b of them running, the overlap is the integral of c_a c_b over time (of
 * c (c - 1) / 2 within a class), and since that is 0 in the end, it is minus the sum over instants of
 * t times how much the product changes at t. Only classes whose number changed at an instant take
 * part: engines that go from one node to the next at once cost nothing. */
#include "judge/overlap.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/overlap_keys.h"
#include "judge/pairs.h"

/* A running node, by its finish. */
struct running {
    int64_t finish_ns;
    uint32_t class_;
};

struct class_state {
    uint32_t before, now; /* running at the last instant, and now */
    uint32_t active_at;   /* where it stands among the active ones */
    bool is_active;       /* before or now is above 0 */
    bool has_changed;     /* stands among the changed ones */
};

struct overlap_sweep {
    const struct graph *graph;
    const struct timeline *timeline;
    struct running *heap; /* least finish first */
    size_t heap_room;
    uint32_t n_running; /* in the heap, with the hole */
    bool has_hole;      /* heap[0] has been taken: mostly another comes at once */
    int64_t now_ns;
    struct class_state *classes; /* by class, and one for nodes without */
    uint32_t *active, *changed;  /* room for all classes */
    uint32_t n_classes, n_active, n_changed;
    pairs_sum *dense; /* n_classes by n_classes, a row by class; NULL: there are too many */
    struct pairs pairs;
    struct overlaps out;
    struct weir_error *err;
};

#define DENSE_CLASSES 512 /* 4 MiB */

/* --- the heap ------------------------------------------------------------------------------- */

/* Puts the item where heap[0] is free. */
static void sift_down(struct overlap_sweep *sweep, struct running item)
{
    struct running *heap = sweep->heap;
    uint32_t at = 0, n = sweep->n_running;

    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1].finish_ns < heap[child].finish_ns) {
            child++;
        }
        if (heap[child].finish_ns >= item.finish_ns) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static enum weir_status heap_add(struct overlap_sweep *sweep, struct running item)
{
    uint32_t at = sweep->n_running;
    enum weir_status status;

    if (sweep->has_hole) {
        sweep->has_hole = false;
        sift_down(sweep, item);
        return WEIR_OK;
    }
    status = array_grow_raw(&sweep->heap, &sweep->heap_room, (size_t)at + 1, sweep->err);
    if (status != WEIR_OK) {
        return status;
    }
    while (at > 0 && sweep->heap[(at - 1) / 2].finish_ns > item.finish_ns) {
        sweep->heap[at] = sweep->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sweep->heap[at] = item;
    sweep->n_running++;
    return WEIR_OK;
}

/* Is there one that finishes up to t_ns? */
static bool ends_by(const struct overlap_sweep *sweep, int64_t t_ns)
{
    const struct running *heap = sweep->heap;
    uint32_t n = sweep->n_running;

    if (!sweep->has_hole) {
        return n > 0 && heap[0].finish_ns <= t_ns;
    }
    return (n > 1 && heap[1].finish_ns <= t_ns) || (n > 2 && heap[2].finish_ns <= t_ns);
}

/* The first to finish, which there is. */
static struct running heap_take(struct overlap_sweep *sweep)
{
    if (sweep->has_hole) {
        sweep->n_running--;
        sift_down(sweep, sweep->heap[sweep->n_running]);
    }
    sweep->has_hole = true;
    return sweep->heap[0];
}

/* --- instants ------------------------------------------------------------------------------- */

static void change(struct overlap_sweep *sweep, uint32_t class_, uint32_t by)
{
    struct class_state *state = &sweep->classes[class_];

    state->now += by;
    if (!state->has_changed) {
        state->has_changed = true;
        sweep->changed[sweep->n_changed++] = class_;
    }
    if (!state->is_active) {
        state->is_active = true;
        state->active_at = sweep->n_active;
        sweep->active[sweep->n_active++] = class_;
    }
}

/* n (n - 1) / 2 */
static int64_t within(uint32_t n)
{
    return n == 0 ? 0 : (int64_t)n * (n - 1) / 2;
}

/* The products of one class with all that run, when its number changes by so much at t_ns: in its row. */
static void add_to_row(const struct overlap_sweep *sweep, pairs_sum *row, uint32_t class_,
                       int64_t t_ns, int64_t more)
{
    for (uint32_t i = 0; i < sweep->n_active; i++) {
        uint32_t other = sweep->active[i];

        if (other != class_) {
            row[other] -= (pairs_sum)t_ns * (more * sweep->classes[other].before);
        }
    }
}

/* The same where there are too many classes for rows. */
static enum weir_status add_to_pairs(struct overlap_sweep *sweep, uint32_t class_, int64_t t_ns,
                                     int64_t more)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sweep->n_active && status == WEIR_OK; i++) {
        uint32_t other = sweep->active[i], before = sweep->classes[other].before;
        uint32_t a = class_ < other ? class_ : other, b = class_ < other ? other : class_;

        if (other != class_ && before > 0) {
            status = pairs_add(&sweep->pairs, a, b, -(pairs_sum)t_ns * (more * before), sweep->err);
        }
    }
    return status;
}

/* What the change of one class does to its products with all that run. Another that changed too counts
 * as it was while it is not settled, and as it is once it is: so both changes are in the sum. */
static enum weir_status settle_class(struct overlap_sweep *sweep, uint32_t class_, int64_t t_ns)
{
    struct class_state *state = &sweep->classes[class_];
    int64_t more = (int64_t)state->now - state->before;
    pairs_sum own = -(pairs_sum)t_ns * (within(state->now) - within(state->before));
    enum weir_status status = WEIR_OK;

    if (sweep->dense != NULL) {
        pairs_sum *row = sweep->dense + (size_t)class_ * sweep->n_classes;

        row[class_] += own;
        add_to_row(sweep, row, class_, t_ns, more);
    } else {
        status = add_to_pairs(sweep, class_, t_ns, more);
        if (status == WEIR_OK && own != 0) {
            status = pairs_add(&sweep->pairs, class_, class_, own, sweep->err);
        }
    }
    state->before = state->now;
    return status;
}

static void drop_idle(struct overlap_sweep *sweep, uint32_t class_)
{
    struct class_state *state = &sweep->classes[class_];
    uint32_t last;

    state->has_changed = false;
    if (state->now > 0) {
        return;
    }
    last = sweep->active[--sweep->n_active];
    sweep->active[state->active_at] = last;
    sweep->classes[last].active_at = state->active_at;
    state->is_active = false;
}

/* All that starts or ends at t_ns has. */
static enum weir_status settle(struct overlap_sweep *sweep, int64_t t_ns)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < sweep->n_changed && status == WEIR_OK; i++) {
        uint32_t class_ = sweep->changed[i];

        if (sweep->classes[class_].now != sweep->classes[class_].before) {
            status = settle_class(sweep, class_, t_ns);
        }
    }
    for (uint32_t i = 0; i < sweep->n_changed; i++) {
        drop_idle(sweep, sweep->changed[i]);
    }
    sweep->n_changed = 0;
    return status;
}

/* Ends all that ends up to t_ns, instant by instant; what happens at t_ns itself is not settled yet. */
static enum weir_status end_up_to(struct overlap_sweep *sweep, int64_t t_ns)
{
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && ends_by(sweep, t_ns)) {
        struct running first = heap_take(sweep);

        if (first.finish_ns != sweep->now_ns) {
            status = settle(sweep, sweep->now_ns);
            sweep->now_ns = first.finish_ns;
        }
        change(sweep, first.class_, UINT32_MAX);
    }
    if (t_ns != sweep->now_ns && status == WEIR_OK) {
        status = settle(sweep, sweep->now_ns);
        sweep->now_ns = t_ns;
    }
    return status;
}

/* --- nodes ---------------------------------------------------------------------------------- */

double overlap_node_kappa(const struct timeline_span *span)
{
    if (span->start_ns < 0 || span->finish_ns < 0 || span->isolated_ns <= 0) {
        return 0;
    }
    return (double)(span->finish_ns - span->start_ns) / (double)span->isolated_ns;
}

static void add_kappa(struct overlap_kappa *kappa, weir_node node, const struct timeline_span *span)
{
    bool is_as_alone = span->finish_ns - span->start_ns == span->isolated_ns;
    double ratio;

    if (span->finish_ns < 0 || span->isolated_ns <= 0) {
        return;
    }
    ratio = is_as_alone ? 1 : overlap_node_kappa(span); /* mostly, and a division less */
    if (ratio == 0) {
        return;
    }
    kappa->n_nodes++;
    kappa->ran_ns = pairs_clamped_add(kappa->ran_ns, span->finish_ns - span->start_ns);
    kappa->isolated_ns = pairs_clamped_add(kappa->isolated_ns, span->isolated_ns);
    if (ratio > kappa->worst_ratio ||
        (ratio == kappa->worst_ratio && weir_is(kappa->worst) && node.index < kappa->worst.index)) {
        kappa->worst_ratio = ratio;
        kappa->worst = node;
    }
}

static int64_t end_of(const struct timeline *timeline, const struct timeline_span *span)
{
    return span->finish_ns < 0 ? timeline->makespan_ns : span->finish_ns;
}

static enum weir_status add_node(struct overlap_sweep *sweep, weir_node node)
{
    const struct timeline_span *span = &sweep->timeline->spans[node.index];
    weir_class class_ = graph_node_class(sweep->graph, node);
    uint32_t index = weir_is(class_) ? class_.index : sweep->n_classes - 1;
    int64_t end_ns = end_of(sweep->timeline, span);
    enum weir_status status;

    add_kappa(&sweep->out.kappa[index], node, span);
    if (end_ns <= span->start_ns) {
        return WEIR_OK;
    }
    status = end_up_to(sweep, span->start_ns);
    if (status == WEIR_OK) {
        change(sweep, index, 1);
        status = heap_add(sweep, (struct running){end_ns, index});
    }
    if (sweep->n_running > sweep->out.most_running) { /* no hole: it was filled */
        sweep->out.most_running = sweep->n_running;
    }
    return status;
}

/* --- the result ----------------------------------------------------------------------------- */

static weir_class class_at(const struct overlap_sweep *sweep, uint32_t index)
{
    return (weir_class){index == sweep->n_classes - 1 ? WEIR_NONE : index};
}

/* Both rows of a pair, for the lower class; 0 for the higher. */
static struct pair_sum dense_at(const struct overlap_sweep *sweep, size_t at)
{
    uint32_t n = sweep->n_classes, a = (uint32_t)(at / n), b = (uint32_t)(at % n);
    pairs_sum sum = a > b ? 0 : sweep->dense[at];

    if (a < b) {
        sum += sweep->dense[(size_t)b * n + a];
    }
    return (struct pair_sum){a, b, sum};
}

/* Every pair that has a sum, in order, to its place; only counted when pairs is NULL. */
static size_t list_pairs(const struct overlap_sweep *sweep, struct overlap_classes *pairs)
{
    bool is_dense = sweep->dense != NULL;
    size_t n = 0, n_items = is_dense ? (size_t)sweep->n_classes * sweep->n_classes : sweep->pairs.n;

    for (size_t i = 0; i < n_items; i++) {
        struct pair_sum item = is_dense ? dense_at(sweep, i) : sweep->pairs.items[i];

        if (item.sum == 0) {
            continue;
        }
        if (pairs != NULL) {
            pairs[n] = (struct overlap_classes){class_at(sweep, item.a), class_at(sweep, item.b),
                                                pairs_clamp(item.sum)};
        }
        n++;
    }
    return n;
}

static enum weir_status take_pairs(struct overlap_sweep *sweep)
{
    pairs_sort(&sweep->pairs);
    sweep->out.n_pairs = list_pairs(sweep, NULL);
    sweep->out.pairs = malloc((sweep->out.n_pairs + 1) * sizeof *sweep->out.pairs);
    if (sweep->out.pairs == NULL) {
        return weir_error_memory(sweep->err);
    }
    (void)list_pairs(sweep, sweep->out.pairs);
    return WEIR_OK;
}

static enum weir_status make_room(struct overlap_sweep *sweep)
{
    size_t n = sweep->n_classes;

    sweep->classes = calloc(n, sizeof *sweep->classes);
    sweep->active = malloc(n * sizeof *sweep->active);
    sweep->changed = malloc(n * sizeof *sweep->changed);
    sweep->dense = n <= DENSE_CLASSES ? calloc(n * n, sizeof *sweep->dense) : NULL;
    sweep->out.kappa = calloc(n, sizeof *sweep->out.kappa);
    if (sweep->classes == NULL || sweep->active == NULL || sweep->changed == NULL ||
        sweep->out.kappa == NULL || (n <= DENSE_CLASSES && sweep->dense == NULL)) {
        return weir_error_memory(sweep->err);
    }
    for (size_t i = 0; i < n; i++) {
        sweep->out.kappa[i].worst.index = WEIR_NONE;
    }
    return WEIR_OK;
}

enum weir_status overlap_sweep_begin(const struct graph *graph, const struct timeline *timeline,
                                     struct overlap_sweep **out, struct weir_error *err)
{
    struct overlap_sweep *sweep = calloc(1, sizeof *sweep);
    enum weir_status status;

    if (sweep == NULL) {
        return weir_error_memory(err);
    }
    sweep->graph = graph;
    sweep->timeline = timeline;
    sweep->out.n_classes = graph_n_classes(graph);
    sweep->n_classes = sweep->out.n_classes + 1;
    sweep->err = err;
    status = make_room(sweep);
    if (status != WEIR_OK) {
        overlap_sweep_free(sweep);
        return status;
    }
    *out = sweep;
    return WEIR_OK;
}

enum weir_status overlap_sweep_add(struct overlap_sweep *sweep, const weir_node *nodes, uint32_t n,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    sweep->err = err;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = add_node(sweep, nodes[i]);
    }
    return status;
}

enum weir_status overlap_sweep_end(struct overlap_sweep *sweep, struct overlaps *out,
                                   struct weir_error *err)
{
    enum weir_status status;

    sweep->err = err;
    status = end_up_to(sweep, INT64_MAX);
    if (status == WEIR_OK) {
        status = settle(sweep, INT64_MAX); /* what runs to the end of time */
    }
    if (status == WEIR_OK) {
        status = take_pairs(sweep);
    }
    if (status == WEIR_OK) {
        *out = sweep->out;
        sweep->out = (struct overlaps){.n_pairs = 0};
    }
    return status;
}

void overlap_sweep_free(struct overlap_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    free(sweep->heap);
    free(sweep->classes);
    free(sweep->active);
    free(sweep->changed);
    free(sweep->dense);
    pairs_free(&sweep->pairs);
    overlaps_free(&sweep->out);
    free(sweep);
}

enum weir_status overlaps_find(const struct graph *graph, const struct timeline *timeline,
                               const weir_node *order, uint32_t n_started, struct overlaps *out,
                               struct weir_error *err)
{
    struct overlap_sweep *sweep = NULL;
    enum weir_status status = overlap_sweep_begin(graph, timeline, &sweep, err);

    if (status == WEIR_OK) {
        status = overlap_sweep_add(sweep, order, n_started, err);
    }
    if (status == WEIR_OK) {
        status = overlap_sweep_end(sweep, out, err);
    }
    overlap_sweep_free(sweep);
    return status;
}

void overlaps_free(struct overlaps *overlaps)
{
    free(overlaps->pairs);
    free(overlaps->kappa);
    *overlaps = (struct overlaps){.n_pairs = 0};
}

static const char *class_text(const struct graph *graph, weir_class class_)
{
    return weir_is(class_) ? graph_text(graph, graph_class_name(graph, class_)) : "";
}

enum weir_status overlaps_list(const struct graph *graph, const struct overlaps *overlaps,
                               struct run_overlap **out, struct weir_error *err)
{
    struct run_overlap *list = malloc((overlaps->n_pairs + 1) * sizeof *list);

    if (list == NULL) {
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        list[i] = (struct run_overlap){class_text(graph, overlaps->pairs[i].a),
                                       class_text(graph, overlaps->pairs[i].b),
                                       overlaps->pairs[i].overlap_ns};
    }
    *out = list;
    return WEIR_OK;
}

/* --- one node ------------------------------------------------------------------------------- */

static int by_overlap(const void *left, const void *right)
{
    const struct overlap_beside *a = left, *b = right;

    if (a->overlap_ns != b->overlap_ns) {
        return a->overlap_ns > b->overlap_ns ? -1 : 1;
    }
    return (a->node.index > b->node.index) - (a->node.index < b->node.index);
}

enum weir_status overlaps_beside(const struct timeline *timeline, weir_node node,
                                 struct overlap_beside **out, size_t *n, struct weir_error *err)
{
    const struct timeline_span *of = &timeline->spans[node.index];
    struct overlap_beside *list = NULL;
    size_t room = 0, count = 0;

    for (uint32_t i = 0; i < timeline->n_nodes && of->start_ns >= 0; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        int64_t from_ns = span->start_ns > of->start_ns ? span->start_ns : of->start_ns;
        int64_t end_ns = end_of(timeline, span), of_end_ns = end_of(timeline, of);
        int64_t to_ns = end_ns < of_end_ns ? end_ns : of_end_ns;

        if (i == node.index || span->start_ns < 0 || from_ns >= to_ns) {
            continue;
        }
        if (array_grow_raw(&list, &room, count + 1, err) != WEIR_OK) {
            free(list);
            return err->status;
        }
        list[count++] = (struct overlap_beside){{i}, to_ns - from_ns};
    }
    if (count > 0) {
        qsort(list, count, sizeof *list, by_overlap);
    }
    *out = list;
    *n = count;
    return WEIR_OK;
}

/* --- what is hypothetical ------------------------------------------------------------------- */

static bool is_known(const struct overlap_known *known, weir_class a, weir_class b)
{
    for (uint32_t i = known->first[a.index]; i < known->first[a.index + 1]; i++) {
        if (known->classes[i] == b.index) {
            return true;
        }
    }
    return false;
}

/* Does a line call the pair unknown? */
static bool is_called_unknown(const struct overlap_keys *keys, weir_class a, weir_class b)
{
    uint32_t of_a = keys->of_class[a.index], of_b = keys->of_class[b.index];

    if (of_a == WEIR_NONE || of_b == WEIR_NONE) {
        return false;
    }
    for (uint32_t i = keys->first[of_a]; i < keys->first[of_a + 1]; i++) {
        if (keys->partners[i] == of_b) {
            return true;
        }
    }
    return false;
}

enum weir_status overlaps_hypothetical(const struct graph *graph, const struct overlaps *overlaps,
                                       bool by_factor, bool **is_hypothetical,
                                       struct weir_error *err)
{
    struct overlap_keys keys;
    struct overlap_known known = {NULL, NULL};
    bool *is_one = calloc(overlaps->n_pairs + 1, sizeof *is_one);
    enum weir_status status = overlap_keys_begin(&keys, graph, err);

    if (status == WEIR_OK && is_one == NULL) {
        status = weir_error_memory(err);
    }
    if (status == WEIR_OK) {
        status = overlap_keys_add(&keys, OVERLAP_UNKNOWN, err);
    }
    if (status == WEIR_OK) {
        status = overlap_keys_index(&keys, err);
    }
    if (status == WEIR_OK && by_factor) {
        status = overlap_known_find(graph, &known, err);
    }
    for (size_t i = 0; i < overlaps->n_pairs && status == WEIR_OK; i++) {
        weir_class a = overlaps->pairs[i].a, b = overlaps->pairs[i].b;

        is_one[i] = weir_is(a) && weir_is(b) &&
                    (is_called_unknown(&keys, a, b) || (by_factor && !is_known(&known, a, b)));
    }
    overlap_keys_free(&keys);
    overlap_known_free(&known);
    if (status != WEIR_OK) {
        free(is_one);
        return status;
    }
    *is_hypothetical = is_one;
    return WEIR_OK;
}
