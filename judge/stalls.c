/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes are gone through in the order of their starts, with for each engine how far it has been busy:
 * one that starts later than that ends a stretch. The bounds that lead to it cover the stretch without
 * gaps, running nodes and waits in turn, so the parts add up to it exactly. */
#include "judge/stalls.h"

#include <stdlib.h>

#include "judge/pairs.h"

struct stall_sweep {
    const struct bound_index *index;
    const struct graph *graph;
    const struct timeline *timeline;
    stall_visit *visit;
    void *arg;
    struct stalls out;
    int64_t *busy_until_ns; /* by engine */
    struct pairs between;
    struct weir_error *err;
};

/* The stretch that is being walked through. */
struct stretch {
    struct stall_sweep *sweep;
    struct stall_part part; /* what all parts have in common, and the one at hand */
    int64_t by_cause_ns[STALL_CAUSES];
    int64_t longest_ns[STALL_CAUSES]; /* part by cause, and what it waited for */
    weir_node longest_on[STALL_CAUSES];
};

const char *stall_cause_name(enum stall_cause cause)
{
    static const char *const names[STALL_CAUSES] = {
        "transfer", "rematerialization", "allocation", "compute", "engine", "capacity",
        "overlap",  "admission",         "release",    "lag",     "window", "unknown"};

    return names[cause];
}

/* The end of a running node is awaited by an edge from it. */
static enum stall_cause cause_of_kind(enum node_kind kind)
{
    switch (kind) {
    case NODE_TRANSFER:
    case NODE_PREFETCH:
    case NODE_OFFLOAD:
        return STALL_TRANSFER;
    case NODE_REMATERIALIZATION:
        return STALL_REMATERIALIZATION;
    case NODE_ALLOCATION:
    case NODE_MAPPING:
    case NODE_RECLAMATION:
        return STALL_ALLOCATION;
    case NODE_COMPUTE:
    case NODE_BARRIER:
        break;
    }
    return STALL_COMPUTE;
}

/* Did the node wait for bytes, or give them back to one that did as soon as it could? */
static bool is_for_bytes(const struct stall_sweep *f, weir_node node, const struct bound *bound,
                         bool was_for_bytes)
{
    return bound->cause == BOUND_CAPACITY || (was_for_bytes && bound->cause == BOUND_PREDECESSOR &&
                                              graph_node_kind(f->graph, node) == NODE_RECLAMATION);
}

/* While bound->node ran: what the one after it was waiting for. */
static enum stall_cause cause_while_running(const struct stall_sweep *f, const struct bound *bound,
                                            bool for_bytes)
{
    if (for_bytes) {
        return STALL_CAPACITY;
    }
    switch (bound->cause) {
    case BOUND_ENGINE:
        return STALL_ENGINE;
    case BOUND_CAPACITY:
        return STALL_CAPACITY;
    case BOUND_OVERLAP:
        return STALL_OVERLAP;
    case BOUND_PREDECESSOR:
    case BOUND_ADMISSION:
        return cause_of_kind(graph_node_kind(f->graph, bound->node));
    case BOUND_BEGIN:
    case BOUND_RELEASE:
    case BOUND_WINDOW:
    case BOUND_UNKNOWN:
        break;
    }
    return STALL_UNKNOWN;
}

/* From bound->end_ns to bound->ready_ns. */
static enum stall_cause cause_before_ready(const struct bound *bound)
{
    if (weir_is(bound->node)) {
        return STALL_LAG;
    }
    return bound->cause == BOUND_WINDOW                                       ? STALL_WINDOW
           : bound->cause == BOUND_RELEASE || bound->cause == BOUND_ADMISSION ? STALL_RELEASE
                                                                              : STALL_UNKNOWN;
}

/* Charges what of [from, to) lies in the stretch. */
static enum weir_status charge(struct stretch *stretch, enum stall_cause cause, weir_node on,
                               int64_t from_ns, int64_t to_ns)
{
    struct stall_part *part = &stretch->part;
    struct stall_sweep *f = stretch->sweep;
    enum weir_status status = WEIR_OK;

    part->from_ns = from_ns > part->begin_ns ? from_ns : part->begin_ns;
    part->to_ns = to_ns < part->end_ns ? to_ns : part->end_ns;
    if (part->from_ns >= part->to_ns) {
        return WEIR_OK;
    }
    part->cause = cause;
    part->on = on;
    part->on_engine = cause == STALL_ENGINE ? graph_node_engine(f->graph, part->waiting)
                                            : (weir_engine){WEIR_NONE};
    stretch->by_cause_ns[cause] += part->to_ns - part->from_ns;
    if (part->to_ns - part->from_ns > stretch->longest_ns[cause]) {
        stretch->longest_ns[cause] = part->to_ns - part->from_ns;
        stretch->longest_on[cause] = on;
    }
    if (cause == STALL_ENGINE) {
        status = pairs_add(&f->between, part->engine.index, part->on_engine.index,
                           part->to_ns - part->from_ns, f->err);
    }
    return status == WEIR_OK && f->visit != NULL ? f->visit(f->arg, part, f->err) : status;
}

/* Walks back from the start of part.ends to the beginning of the stretch. */
static enum weir_status walk_back(struct stretch *stretch)
{
    const struct stall_sweep *f = stretch->sweep;
    const weir_node nobody = {WEIR_NONE};
    weir_node node = stretch->part.ends;
    int64_t at_ns = stretch->part.end_ns;
    enum weir_status status = WEIR_OK;
    bool for_bytes = false;

    while (status == WEIR_OK && at_ns > stretch->part.begin_ns) {
        struct bound bound = bound_of_start(f->index, node);
        int64_t start_ns = f->timeline->spans[node.index].start_ns;

        stretch->part.waiting = node;
        status = charge(stretch, bound.cause == BOUND_ADMISSION ? STALL_ADMISSION : STALL_UNKNOWN,
                        nobody, bound.ready_ns, start_ns);
        if (status == WEIR_OK) {
            status =
                charge(stretch, cause_before_ready(&bound), nobody, bound.end_ns, bound.ready_ns);
        }
        if (!weir_is(bound.node) || status != WEIR_OK) {
            break;
        }
        for_bytes = is_for_bytes(f, node, &bound, for_bytes);
        at_ns = f->timeline->spans[bound.node.index].start_ns;
        status = charge(stretch, cause_while_running(f, &bound, for_bytes), bound.node, at_ns,
                        bound.end_ns);
        node = bound.node;
    }
    return status;
}

static bool is_longer(const struct stall *a, const struct stall *b)
{
    int64_t a_ns = a->end_ns - a->begin_ns, b_ns = b->end_ns - b->begin_ns;

    if (a_ns != b_ns) {
        return a_ns > b_ns;
    }
    if (!weir_same(a->engine, b->engine)) {
        return a->engine.index < b->engine.index;
    }
    return a->begin_ns < b->begin_ns;
}

static void keep_longest(struct stalls *out, const struct stall *stall)
{
    uint32_t at = out->n_longest;

    if (at == STALLS_LONGEST && !is_longer(stall, &out->longest[at - 1])) {
        return;
    }
    at -= at == STALLS_LONGEST ? 1 : 0;
    for (; at > 0 && is_longer(stall, &out->longest[at - 1]); at--) {
        out->longest[at] = out->longest[at - 1];
    }
    out->longest[at] = *stall;
    out->n_longest += out->n_longest < STALLS_LONGEST ? 1 : 0;
}

static void add_stretch(const struct stretch *stretch, struct stalls *out)
{
    struct stall_engine *engine = &out->engines[stretch->part.engine.index];
    struct stall stall = {stretch->part.engine, stretch->part.ends, stretch->part.begin_ns,
                          stretch->part.end_ns, STALL_UNKNOWN,      {WEIR_NONE}};
    int64_t most_ns = -1;

    for (int i = 0; i < STALL_CAUSES; i++) {
        engine->by_cause_ns[i] += stretch->by_cause_ns[i];
        if (stretch->by_cause_ns[i] > most_ns) {
            most_ns = stretch->by_cause_ns[i];
            stall.cause = (enum stall_cause)i;
            stall.on = stretch->longest_on[i];
        }
    }
    engine->exposed_ns += stall.end_ns - stall.begin_ns;
    engine->n_stalls++;
    keep_longest(out, &stall);
}

/* The node ends a stretch in which its engine was idle. */
static enum weir_status add_stall(struct stall_sweep *f, weir_engine engine, weir_node ends,
                                  int64_t begin_ns, int64_t end_ns)
{
    struct stretch stretch = {
        .sweep = f,
        .part = {.engine = engine, .ends = ends, .begin_ns = begin_ns, .end_ns = end_ns}};
    enum weir_status status = walk_back(&stretch);

    if (status == WEIR_OK) {
        add_stretch(&stretch, &f->out);
    }
    return status;
}

static enum weir_status add_node(struct stall_sweep *f, const struct started *node)
{
    const struct timeline_span *span = node->span;
    weir_engine engine = node->engine;
    int64_t end_ns = span->finish_ns < 0 ? f->timeline->makespan_ns : span->finish_ns;
    int64_t start_ns =
        span->start_ns < f->timeline->makespan_ns ? span->start_ns : f->timeline->makespan_ns;
    struct stall_engine *of;
    enum weir_status status = WEIR_OK;
    int64_t *until_ns;

    if (!weir_is(engine)) {
        return WEIR_OK;
    }
    of = &f->out.engines[engine.index];
    until_ns = &f->busy_until_ns[engine.index];
    if (start_ns > *until_ns) {
        status = add_stall(f, engine, node->node, *until_ns, start_ns);
        *until_ns = start_ns;
    }
    of->n_nodes++;
    if (end_ns > start_ns) {
        of->work_ns = pairs_clamped_add(of->work_ns, end_ns - start_ns);
    }
    end_ns = end_ns > *until_ns ? end_ns : *until_ns;
    of->busy_ns += end_ns - *until_ns;
    *until_ns = end_ns;
    return status;
}

static enum weir_status sum_up(struct stall_sweep *f)
{
    struct stalls *out = &f->out;

    for (uint32_t i = 0; i < out->n_engines; i++) {
        struct stall_engine *engine = &out->engines[i];

        if (engine->n_nodes > 0) {
            engine->drained_ns = f->timeline->makespan_ns - f->busy_until_ns[i];
        }
        out->exposed_ns = pairs_clamped_add(out->exposed_ns, engine->exposed_ns);
        for (int c = 0; c < STALL_CAUSES; c++) {
            out->by_cause_ns[c] = pairs_clamped_add(out->by_cause_ns[c], engine->by_cause_ns[c]);
        }
    }
    pairs_sort(&f->between);
    out->between = malloc((f->between.n + 1) * sizeof *out->between);
    if (out->between == NULL) {
        return weir_error_memory(f->err);
    }
    for (size_t i = 0; i < f->between.n; i++) {
        const struct pair_sum *pair = &f->between.items[i];

        out->between[i] = (struct stall_between){{pair->a}, {pair->b}, pairs_clamp(pair->sum)};
    }
    out->n_between = f->between.n;
    return WEIR_OK;
}

enum weir_status stall_sweep_begin(const struct bound_index *index, stall_visit *visit, void *arg,
                                   struct stall_sweep **out, struct weir_error *err)
{
    struct stall_sweep *sweep = calloc(1, sizeof *sweep);
    size_t n_engines;

    if (sweep == NULL) {
        return weir_error_memory(err);
    }
    sweep->index = index;
    sweep->graph = bind_of(bound_binding(index));
    sweep->timeline = bound_timeline(index);
    sweep->visit = visit;
    sweep->arg = arg;
    sweep->err = err;
    sweep->out.n_engines = graph_n_engines(sweep->graph);
    n_engines = sweep->out.n_engines;
    sweep->out.engines = calloc(n_engines + 1, sizeof *sweep->out.engines);
    sweep->busy_until_ns = calloc(n_engines + 1, sizeof *sweep->busy_until_ns);
    if (sweep->out.engines == NULL || sweep->busy_until_ns == NULL) {
        stall_sweep_free(sweep);
        return weir_error_memory(err);
    }
    *out = sweep;
    return WEIR_OK;
}

enum weir_status stall_sweep_add(struct stall_sweep *sweep, const struct started *nodes, uint32_t n,
                                 struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    sweep->err = err;
    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        status = add_node(sweep, &nodes[i]);
    }
    return status;
}

enum weir_status stall_sweep_end(struct stall_sweep *sweep, struct stalls *out,
                                 struct weir_error *err)
{
    enum weir_status status;

    sweep->err = err;
    status = sum_up(sweep);
    if (status == WEIR_OK) {
        *out = sweep->out;
        sweep->out = (struct stalls){.n_engines = 0};
    }
    return status;
}

void stall_sweep_free(struct stall_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    stalls_free(&sweep->out);
    pairs_free(&sweep->between);
    free(sweep->busy_until_ns);
    free(sweep);
}

static enum weir_status take_some(void *arg, const struct started *nodes, uint32_t n,
                                  struct weir_error *err)
{
    return stall_sweep_add(arg, nodes, n, err);
}

enum weir_status stalls_find(const struct bound_index *index, stall_visit *visit, void *arg,
                             struct stalls *out, struct weir_error *err)
{
    struct stall_sweep *sweep = NULL;
    uint32_t n_started;
    const weir_node *order = bound_order(index, &n_started);
    enum weir_status status = stall_sweep_begin(index, visit, arg, &sweep, err);

    if (status == WEIR_OK) {
        status =
            started_each(sweep->graph, sweep->timeline, order, n_started, take_some, sweep, err);
    }
    if (status == WEIR_OK) {
        status = stall_sweep_end(sweep, out, err);
    }
    stall_sweep_free(sweep);
    return status;
}

void stalls_free(struct stalls *stalls)
{
    free(stalls->engines);
    free(stalls->between);
    *stalls = (struct stalls){.n_engines = 0};
}
