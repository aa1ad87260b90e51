/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When engines were full. Of each engine that is asked about: the stretches in which all its slots were
 * taken, in order and apart from each other. Nodes of length zero take none. */
#include <stdlib.h>
#include <string.h>

#include "judge/modes_internal.h"

struct stretch {
    int64_t from_ns, to_ns;
};

struct full {
    struct stretch *items;
    uint32_t n;
    bool is_made;
};

struct modes_engines {
    uint32_t n_engines;
    uint32_t *first;    /* by engine: its nodes are nodes[first[e]] up to the next one's */
    uint32_t *nodes;    /* by start */
    uint32_t *position; /* by node: where it stands there, from the first of its engine */
    struct full *full;  /* by engine */
};

void modes_engines_free(struct modes_engines *engines)
{
    for (uint32_t i = 0; engines != NULL && engines->full != NULL && i < engines->n_engines; i++) {
        free(engines->full[i].items);
    }
    if (engines != NULL) {
        free(engines->first);
        free(engines->nodes);
        free(engines->position);
        free(engines->full);
    }
    free(engines);
}

/* Those that ran, in the order of their starts. */
static uint32_t *in_order(const struct modes *modes, uint32_t *n)
{
    const struct timeline *timeline = modes->timeline;
    uint32_t *order = malloc(((size_t)timeline->n_nodes + 1) * sizeof *order), n_ran = 0;

    for (uint32_t i = 0; order != NULL && i < timeline->n_nodes; i++) {
        order[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; order != NULL && i < timeline->n_nodes; i++) {
        if (modes_ran(modes, i) && timeline->spans[i].order < timeline->n_nodes) {
            order[timeline->spans[i].order] = i;
        }
    }
    for (uint32_t i = 0; order != NULL && i < timeline->n_nodes; i++) {
        if (order[i] != WEIR_NONE) {
            order[n_ran++] = order[i];
        }
    }
    *n = n_ran;
    return order;
}

static void place(const struct modes *modes, struct modes_engines *engines, const uint32_t *order,
                  uint32_t n)
{
    uint32_t *first = engines->first;

    for (uint32_t i = 0; i < n; i++) {
        weir_engine engine = graph_node_engine(modes->graph, (weir_node){order[i]});

        first[weir_is(engine) ? engine.index + 2 : engines->n_engines + 2]++;
    }
    for (uint32_t i = 0; i <= engines->n_engines; i++) {
        first[i + 2] += first[i + 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        weir_engine engine = graph_node_engine(modes->graph, (weir_node){order[i]});
        uint32_t *at = &first[weir_is(engine) ? engine.index + 1 : engines->n_engines + 1];

        engines->nodes[(*at)++] = order[i];
    }
    for (uint32_t e = 0; e <= engines->n_engines; e++) {
        for (uint32_t i = first[e]; i < first[e + 1]; i++) {
            engines->position[engines->nodes[i]] = i - first[e];
        }
    }
}

static enum weir_status make(struct modes *modes)
{
    struct modes_engines *engines = calloc(1, sizeof *engines);
    uint32_t n = 0, n_nodes = modes->timeline->n_nodes;
    uint32_t *order = in_order(modes, &n);

    modes->engines = engines;
    if (engines == NULL || order == NULL) {
        free(order);
        return weir_error_memory(modes->err);
    }
    engines->n_engines = graph_n_engines(modes->graph);
    engines->first = calloc((size_t)engines->n_engines + 3, sizeof *engines->first);
    engines->nodes = malloc(((size_t)n + 1) * sizeof *engines->nodes);
    engines->position = calloc((size_t)n_nodes + 1, sizeof *engines->position);
    engines->full = calloc((size_t)engines->n_engines + 1, sizeof *engines->full);
    if (engines->first == NULL || engines->nodes == NULL || engines->position == NULL ||
        engines->full == NULL) {
        free(order);
        return weir_error_memory(modes->err);
    }
    place(modes, engines, order, n);
    free(order);
    return WEIR_OK;
}

static bool has_engines(struct modes *modes)
{
    if (modes->status == WEIR_OK && modes->engines == NULL) {
        modes->status = make(modes);
    }
    return modes->status == WEIR_OK;
}

const uint32_t *modes_on_engine(struct modes *modes, uint32_t engine, uint32_t *n)
{
    *n = 0;
    if (!has_engines(modes)) {
        return NULL;
    }
    *n = modes->engines->first[engine + 1] - modes->engines->first[engine];
    return modes->engines->nodes + modes->engines->first[engine];
}

uint32_t modes_position(struct modes *modes, uint32_t node)
{
    return has_engines(modes) ? modes->engines->position[node] : 0;
}

/* --- stretches --- */

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* Starts are in order already; a finish at an instant comes before a start at it. */
static void sweep(const int64_t *starts, const int64_t *finishes, uint32_t n, int64_t slots,
                  struct full *full)
{
    int64_t n_running = 0, since_ns = 0;
    uint32_t s = 0, f = 0;

    while (f < n) {
        bool is_start = s < n && starts[s] < finishes[f];
        int64_t at_ns = is_start ? starts[s++] : finishes[f++];

        if (is_start && ++n_running == slots) {
            since_ns = at_ns;
        } else if (!is_start && n_running-- == slots && at_ns > since_ns) {
            if (full->n > 0 && full->items[full->n - 1].to_ns == since_ns) {
                full->items[full->n - 1].to_ns = at_ns;
            } else {
                full->items[full->n++] = (struct stretch){since_ns, at_ns};
            }
        }
    }
}

static enum weir_status make_full(struct modes *modes, uint32_t engine, struct full *full)
{
    uint32_t n_nodes, n = 0;
    const uint32_t *nodes = modes_on_engine(modes, engine, &n_nodes);
    int64_t *starts = malloc(((size_t)n_nodes + 1) * sizeof *starts);
    int64_t *finishes = malloc(((size_t)n_nodes + 1) * sizeof *finishes);
    enum weir_status status = WEIR_OK;

    full->items = malloc(((size_t)n_nodes + 1) * sizeof *full->items);
    if (starts == NULL || finishes == NULL || full->items == NULL) {
        status = weir_error_memory(modes->err);
    } else {
        for (uint32_t i = 0; i < n_nodes; i++) {
            const struct timeline_span *span = modes_span(modes, nodes[i]);

            if (span->finish_ns > span->start_ns) {
                starts[n] = span->start_ns;
                finishes[n++] = span->finish_ns;
            }
        }
        qsort(finishes, n, sizeof *finishes, by_time);
        sweep(starts, finishes, n, graph_engine(modes->graph, (weir_engine){engine})->slots, full);
        full->is_made = true;
    }
    free(starts);
    free(finishes);
    return status;
}

static const struct full *full_of(struct modes *modes, uint32_t engine)
{
    struct full *full;

    if (!has_engines(modes)) {
        return NULL;
    }
    full = &modes->engines->full[engine];
    if (!full->is_made) {
        modes->status = make_full(modes, engine, full);
    }
    return modes->status == WEIR_OK ? full : NULL;
}

/* How many stretches begin before that instant. */
static uint32_t n_before(const struct full *full, int64_t at_ns)
{
    uint32_t low = 0, high = full->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (full->items[middle].from_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t modes_full_until(struct modes *modes, uint32_t engine, int64_t before_ns, uint32_t except)
{
    const struct full *full = full_of(modes, engine);
    bool has_except =
        except != WEIR_NONE && graph_node_engine(modes->graph, (weir_node){except}).index == engine;
    uint32_t i;

    if (full == NULL) {
        return before_ns;
    }
    for (i = n_before(full, before_ns); i > 0; i--) {
        const struct stretch *stretch = &full->items[i - 1];
        int64_t to_ns = stretch->to_ns < before_ns ? stretch->to_ns : before_ns;
        const struct timeline_span *span = has_except ? modes_span(modes, except) : NULL;

        if (span == NULL || to_ns > span->finish_ns || to_ns <= span->start_ns) {
            return to_ns;
        }
        if (stretch->from_ns < span->start_ns) {
            return span->start_ns;
        }
    }
    return 0;
}

bool modes_was_full(struct modes *modes, uint32_t engine, int64_t from_ns, int64_t to_ns)
{
    const struct full *full = full_of(modes, engine);
    uint32_t i = full == NULL ? 0 : n_before(full, to_ns);

    return full == NULL || (i > 0 && from_ns < to_ns && full->items[i - 1].to_ns > from_ns);
}

int64_t modes_first_gap(struct modes *modes, uint32_t engine, int64_t from_ns, int64_t length_ns)
{
    const struct full *full = full_of(modes, engine);
    uint32_t i = full == NULL ? 0 : n_before(full, from_ns);

    if (full == NULL) {
        return INT64_MAX;
    }
    length_ns = length_ns > 0 ? length_ns : 1; /* one that takes no time needs a slot as well */
    if (i > 0 && full->items[i - 1].to_ns > from_ns) {
        from_ns = full->items[i - 1].to_ns;
    }
    for (; i < full->n && full->items[i].from_ns - from_ns < length_ns; i++) {
        from_ns = full->items[i].to_ns;
    }
    return from_ns;
}
