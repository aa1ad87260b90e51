/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every edge is either kept by the order on a queue, or covered by a wait on a later step of the
 * same queue, or waited for: none is dropped, and the counts add up. All waits go back in the order
 * of the plan's starts, as do the queues, so no replay can wait in a circle. */
#include "replay/waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/waits_internal.h"

/* An edge into a step, before it is reduced. */
struct incoming {
    uint32_t producer; /* step */
    bool is_from_start;
    int64_t lag_ns; /* scaled */
};

struct making {
    const struct graph *graph;
    const struct binding *binding;
    const struct timeline *plan;
    const struct waits_steps *steps;
    const struct lanes *lanes;
    const struct waits_options *options;
    struct fallbacks fallbacks;
    struct made_edges made;
    struct incoming *incoming; /* of step s: from first[s] up to first[s + 1] */
    size_t *first;
    bool *is_open; /* by step: no edge puts it behind the one before on its queue */
    struct waits *out;
};

int64_t waits_scaled_ns(int64_t ns, double scale_time)
{
    double scaled = (double)ns * scale_time;

    if (scale_time == 1 && ns < INT64_MAX / 4)
        return ns;
    return scaled < 2e18 ? (int64_t)llround(scaled) : INT64_MAX / 4;
}

enum weir_status made_edges_add(struct made_edges *edges, struct made_edge edge,
                                struct weir_error *err)
{
    enum weir_status status = array_grow(&edges->edges, &edges->room, edges->n_edges + 1, err);

    if (status == WEIR_OK)
        edges->edges[edges->n_edges++] = edge;
    return status;
}

/* ---- copies that several nodes may begin ---- */

/* By object: is it cut by aliases, so that nodes may fill parts of it in no order? */
static bool *find_cut_objects(const struct graph *graph)
{
    bool *is_cut = calloc((size_t)graph_n_objects(graph) + 1, sizeof *is_cut);

    for (uint32_t o = 0; is_cut != NULL && o < graph_n_objects(graph); o++) {
        weir_object root = graph_object_root(graph, (weir_object){o}, NULL);

        if (root.index != o)
            is_cut[root.index] = true;
    }
    return is_cut;
}

/* In the order of the plan: the first filler of a copy is put in first, by copy; the others wait for
 * its start. */
static enum weir_status walk_fillers(struct making *m, const bool *is_cut, uint32_t *first,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t s = 0; s < m->steps->n_started && status == WEIR_OK; s++) {
        weir_node node = {m->steps->node_of[s]};
        uint32_t n_touches;
        const struct bind_touch *touches = bind_touches(m->binding, node, &n_touches);

        for (uint32_t t = 0; t < n_touches && status == WEIR_OK; t++) {
            const struct bind_copy *copy = bind_copy(m->binding, touches[t].copy);
            uint32_t *begins = &first[touches[t].copy.index];

            if ((touches[t].roles & BIND_FILLS) == 0 || copy->is_initial ||
                weir_is(copy->allocation) || !is_cut[copy->object.index])
                continue;
            if (*begins == WEIR_NONE)
                *begins = node.index;
            else if (*begins != node.index)
                status = made_edges_add(
                    &m->made, (struct made_edge){*begins, node.index, true, INSERTED_BEGINS}, err);
        }
    }
    return status;
}

/* Of several fillers that nothing orders, the one that began a copy in the plan, and had room for
 * it, begins it in the replay. */
static enum weir_status add_first_fillers(struct making *m, struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(m->binding);
    bool *is_cut = find_cut_objects(m->graph);
    uint32_t *first = malloc((n_copies + (size_t)1) * sizeof *first);
    enum weir_status status = WEIR_OK;

    if (is_cut == NULL || first == NULL) {
        status = weir_error_memory(err);
    } else {
        memset(first, 0xff, n_copies * sizeof *first);
        status = walk_fillers(m, is_cut, first, err);
    }
    free(is_cut);
    free(first);
    return status;
}

/* ---- releases ---- */

int64_t waits_settled_ns(const struct waits *waits, weir_node node)
{
    return waits->settled_ns == NULL || waits->settled_ns[node.index] < 0
               ? 0
               : waits->settled_ns[node.index];
}

/* A fallback that ran did so because another gave way; none does so after the fallback's own start. */
static int64_t called_ns(const struct making *m, weir_node node)
{
    int64_t ns = m->fallbacks.called_ns == NULL ? -1 : m->fallbacks.called_ns[node.index];

    return ns <= m->plan->spans[node.index].start_ns ? ns : -1;
}

static void set_release(struct making *m, uint32_t step)
{
    weir_node node = {m->steps->node_of[step]};
    const struct timeline_span *span = &m->plan->spans[node.index];
    struct graph_node value;
    int64_t ns = bind_ready_ns(m->binding, node);

    graph_node(m->graph, node, &value);
    if (value.release_ns > ns)
        ns = value.release_ns;
    if (span->start_ns >= 0 && span->cause == WAIT_ADMISSION && span->start_ns > ns)
        ns = span->start_ns; /* the policy held it until then */
    if (waits_settled_ns(m->out, node) > ns)
        ns = waits_settled_ns(m->out, node);
    if (called_ns(m, node) > ns)
        ns = called_ns(m, node);
    m->out->release_ns[step] = waits_scaled_ns(ns, m->options->scale_time);
}

/* ---- all edges, by consumer ---- */

/* Calls for each edge; with m->incoming NULL they are counted. */
static void place(struct making *m, uint32_t producer, uint32_t consumer, bool is_from_start,
                  int64_t lag_ns)
{
    uint32_t step = m->steps->step_of[consumer];

    if (m->incoming == NULL)
        m->first[step + 2]++;
    else
        m->incoming[m->first[step + 1]++] =
            (struct incoming){m->steps->step_of[producer], is_from_start,
                              waits_scaled_ns(lag_ns, m->options->scale_time)};
}

static void place_all(struct making *m)
{
    const struct bind_edge *implied = bind_edges(m->binding);

    for (uint32_t i = 0; i < graph_n_edges(m->graph); i++) {
        struct graph_edge edge;

        graph_edge(m->graph, (weir_edge){i}, &edge);
        place(m, edge.producer.index, edge.consumer.index, edge.is_from_start, edge.lag_ns);
    }
    for (uint32_t i = 0; i < bind_n_edges(m->binding); i++)
        place(m, implied[i].producer.index, implied[i].consumer.index, false, 0);
    for (size_t i = 0; i < m->plan->n_induced; i++)
        place(m, m->plan->induced[i].producer.index, m->plan->induced[i].consumer.index, false, 0);
    for (size_t i = 0; i < m->made.n_edges; i++)
        place(m, m->made.edges[i].producer, m->made.edges[i].consumer,
              m->made.edges[i].is_from_start, 0);
}

static enum weir_status sort_by_consumer(struct making *m, struct weir_error *err)
{
    size_t n_edges = (size_t)graph_n_edges(m->graph) + bind_n_edges(m->binding) +
                     m->plan->n_induced + m->made.n_edges;

    m->first = calloc((size_t)m->steps->n_steps + 2, sizeof *m->first);
    if (m->first == NULL)
        return weir_error_memory(err);
    place_all(m);
    m->incoming = calloc(n_edges + 1, sizeof *m->incoming);
    if (m->incoming == NULL)
        return weir_error_memory(err);
    for (uint32_t s = 1; s < m->steps->n_steps + 2; s++)
        m->first[s] += m->first[s - 1];
    place_all(m);
    m->out->counts.n_given = graph_n_edges(m->graph);
    m->out->counts.n_implied = bind_n_edges(m->binding);
    m->out->counts.n_induced = m->plan->n_induced;
    m->out->counts.n_added = m->made.n_edges;
    return WEIR_OK;
}

/* ---- reducing ---- */

/* What is known while the steps are walked in the order of the plan. */
struct reducing {
    uint32_t n_lanes;
    uint32_t *best;   /* by queue: the last of its steps that this step waits for; WEIR_NONE */
    uint32_t *waited; /* [own queue][other queue]: the last step that some step of the own queue
                         has waited for, and so all that follow; WEIR_NONE */
    uint32_t *lanes_met;
    uint32_t *last; /* by queue: the step before on it; WEIR_NONE */
};

static uint32_t lane_of(const struct making *m, uint32_t step)
{
    return m->lanes->of_node[m->steps->node_of[step]];
}

static bool is_plain(const struct incoming *edge)
{
    return !edge->is_from_start && edge->lag_ns == 0;
}

/* Is the edge kept by the order on the consumer's queue? */
static bool is_by_queue(const struct making *m, const struct incoming *edge, uint32_t step)
{
    uint32_t lane = lane_of(m, step);

    return edge->lag_ns == 0 && lane != WEIR_NONE && edge->producer < m->steps->n_started &&
           step < m->steps->n_started && lane_of(m, edge->producer) == lane &&
           edge->producer < step;
}

/* Of plain edges from steps of queues only the last of each queue counts. */
static uint32_t find_last_of_queues(const struct making *m, struct reducing *r, uint32_t step)
{
    uint32_t n_met = 0;

    for (size_t i = m->first[step]; i < m->first[step + 1]; i++) {
        const struct incoming *edge = &m->incoming[i];
        uint32_t lane = lane_of(m, edge->producer);

        if (lane == WEIR_NONE || !is_plain(edge) || is_by_queue(m, edge, step))
            continue;
        if (r->best[lane] == WEIR_NONE) {
            r->lanes_met[n_met++] = lane;
            r->best[lane] = edge->producer;
        } else if (edge->producer > r->best[lane]) {
            r->best[lane] = edge->producer;
        }
    }
    return n_met;
}

/* Has a step of this queue waited for that one, or a later one of its queue, before? */
static bool is_waited(const struct reducing *r, uint32_t own, uint32_t lane, uint32_t producer)
{
    uint32_t waited = own == WEIR_NONE ? WEIR_NONE : r->waited[own * r->n_lanes + lane];

    return waited != WEIR_NONE && waited >= producer;
}

static void add_wait(struct making *m, const struct incoming *edge, size_t *n_waits)
{
    m->out->waits[(*n_waits)++] = (struct step_wait){
        .step = edge->producer, .is_from_start = edge->is_from_start, .lag_ns = edge->lag_ns};
    m->out->counts.n_waited++;
    m->out->counts.n_paced += !is_plain(edge);
}

static int compare_incoming(const void *a, const void *b)
{
    const struct incoming *x = a;
    const struct incoming *y = b;

    if (x->producer != y->producer)
        return x->producer < y->producer ? -1 : 1;
    if (x->is_from_start != y->is_from_start)
        return x->is_from_start ? 1 : -1;
    return x->lag_ns < y->lag_ns ? 1 : x->lag_ns > y->lag_ns ? -1 : 0;
}

static bool is_repeated(const struct incoming *edge, const struct incoming *before)
{
    return edge->producer == before->producer && edge->is_from_start == before->is_from_start;
}

/* Waits go back in the order of starts, or queues and waits could form a circle. */
static enum weir_status check_order(const struct making *m, uint32_t step, struct weir_error *err)
{
    for (size_t i = m->first[step]; i < m->first[step + 1] && step < m->steps->n_started; i++) {
        uint32_t producer = m->incoming[i].producer;

        if (producer > step && producer < m->steps->n_started)
            return weir_error_set(
                err, WEIR_INPUT,
                "%s starts in the plan before %s, which the graph puts before it: this is no plan "
                "of this graph; simulate it again",
                graph_node_name(m->graph, (weir_node){m->steps->node_of[step]}),
                graph_node_name(m->graph, (weir_node){m->steps->node_of[producer]}));
    }
    return WEIR_OK;
}

/* Has the step one before it on its queue that neither an edge nor an engine with one slot puts there? */
static void note_order(struct making *m, struct reducing *r, uint32_t step, uint32_t own)
{
    if (own == WEIR_NONE)
        return;
    m->is_open[step] =
        r->last[own] != WEIR_NONE && !lanes_is_ordered(m->graph, &m->lanes->lanes[own]);
    for (size_t i = m->first[step]; i < m->first[step + 1] && m->is_open[step]; i++) {
        if (m->incoming[i].producer == r->last[own] && !m->incoming[i].is_from_start)
            m->is_open[step] = false;
    }
    m->out->counts.n_one_queue += m->is_open[step];
    r->last[own] = step;
}

static void reduce_step(struct making *m, struct reducing *r, uint32_t step, size_t *n_waits)
{
    struct waits_counts *counts = &m->out->counts;
    uint32_t own = step < m->steps->n_started ? lane_of(m, step) : WEIR_NONE;
    uint32_t n_met;

    qsort(m->incoming + m->first[step], m->first[step + 1] - m->first[step], sizeof *m->incoming,
          compare_incoming);
    n_met = find_last_of_queues(m, r, step);
    note_order(m, r, step, own);
    for (size_t i = m->first[step]; i < m->first[step + 1]; i++) {
        const struct incoming *edge = &m->incoming[i];
        uint32_t lane = lane_of(m, edge->producer);

        if (is_by_queue(m, edge, step))
            counts->n_by_queue++;
        else if ((i > m->first[step] && is_repeated(edge, edge - 1)) ||
                 (lane != WEIR_NONE && is_plain(edge) &&
                  (edge->producer != r->best[lane] || is_waited(r, own, lane, edge->producer))))
            counts
                ->n_covered++; /* the one before waits as long or longer, or a later step's does */
        else
            add_wait(m, edge, n_waits);
    }
    for (uint32_t i = 0; i < n_met; i++) {
        uint32_t lane = r->lanes_met[i];

        if (own != WEIR_NONE && !is_waited(r, own, lane, r->best[lane]))
            r->waited[own * r->n_lanes + lane] = r->best[lane];
        r->best[lane] = WEIR_NONE;
    }
}

static enum weir_status reduce(struct making *m, struct arena *arena, struct weir_error *err)
{
    uint32_t n_lanes = m->lanes->n_lanes;
    size_t n_pairs = (size_t)n_lanes * n_lanes;
    struct reducing r = {.n_lanes = n_lanes,
                         .best = malloc((n_lanes + (size_t)1) * sizeof *r.best),
                         .waited = malloc((n_pairs + 1) * sizeof *r.waited),
                         .lanes_met = calloc(n_lanes + (size_t)1, sizeof *r.lanes_met),
                         .last = malloc((n_lanes + (size_t)1) * sizeof *r.last)};
    size_t n_waits = 0;
    enum weir_status status = WEIR_OK;

    m->out->waits = arena_array(arena, m->first[m->steps->n_steps], sizeof *m->out->waits);
    m->out->first = arena_array(arena, (size_t)m->steps->n_steps + 1, sizeof *m->out->first);
    if (r.best == NULL || r.waited == NULL || r.lanes_met == NULL || r.last == NULL ||
        m->out->waits == NULL || m->out->first == NULL) {
        status = weir_error_memory(err);
    } else {
        memset(r.best, 0xff, n_lanes * sizeof *r.best);
        memset(r.last, 0xff, n_lanes * sizeof *r.last);
        memset(r.waited, 0xff, n_pairs * sizeof *r.waited);
        for (uint32_t s = 0; s < m->steps->n_steps && status == WEIR_OK; s++) {
            m->out->first[s] = n_waits;
            status = check_order(m, s, err);
            reduce_step(m, &r, s, &n_waits);
            m->out->counts.n_released += m->out->release_ns[s] > 0;
        }
        m->out->first[m->steps->n_steps] = n_waits;
    }
    free(r.best);
    free(r.waited);
    free(r.lanes_met);
    free(r.last);
    return status;
}

/* Waits that the simulation saw for an overlap, whatever rule made them. */
static enum weir_status add_seen_overlaps(struct making *m, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < m->plan->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_span *span = &m->plan->spans[i];

        if (span->start_ns >= 0 && span->cause == WAIT_OVERLAP && weir_is(span->blocker))
            status = made_edges_add(
                &m->made, (struct made_edge){span->blocker.index, i, false, INSERTED_OVERLAP}, err);
    }
    return status;
}

enum weir_status waits_make(const struct binding *binding, const struct timeline *plan,
                            const struct waits_steps *steps, const struct lanes *lanes,
                            const struct waits_options *options, struct arena *arena,
                            struct waits *out, struct weir_error *err)
{
    struct waits waits = {.release_ns =
                              arena_array(arena, steps->n_steps, sizeof *waits.release_ns)};
    struct making m = {.graph = bind_of(binding),
                       .binding = binding,
                       .plan = plan,
                       .steps = steps,
                       .lanes = lanes,
                       .options = options,
                       .out = &waits};
    enum weir_status status = WEIR_OK;

    m.is_open = calloc(steps->n_steps + (size_t)1, sizeof *m.is_open);
    if (waits.release_ns == NULL || m.is_open == NULL)
        status = weir_error_memory(err);
    if (status == WEIR_OK)
        status = waits_fallbacks(m.graph, plan, arena, &m.fallbacks, &m.made, err);
    waits.settled_ns = m.fallbacks.settled_ns;
    for (uint32_t s = 0; s < steps->n_steps && status == WEIR_OK; s++)
        set_release(&m, s);
    if (status == WEIR_OK)
        status = add_first_fillers(&m, err);
    if (status == WEIR_OK)
        status = add_seen_overlaps(&m, err);
    if (status == WEIR_OK)
        status = waits_forbid(m.graph, plan, steps, lanes, options, &m.made, err);
    if (status == WEIR_OK)
        status = sort_by_consumer(&m, err);
    if (status == WEIR_OK)
        status = reduce(&m, arena, err);
    if (status == WEIR_OK)
        status = waits_list_inserted(binding, plan, steps, lanes, options, &m.made, m.is_open,
                                     arena, &waits, err);
    free(m.is_open);
    free(m.made.edges);
    free(m.incoming);
    free(m.first);
    if (status == WEIR_OK)
        *out = waits;
    return status;
}
