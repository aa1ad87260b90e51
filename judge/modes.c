/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the finders share, and the call of each. A finder first asks whether there is anything of its
 * kind at all, so that a run without mistakes costs a pass over its nodes and its waits. */
#include "judge/modes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "judge/modes_internal.h"

struct modes_settings modes_default(void)
{
    return (struct modes_settings){.least_ratio = 0.01, .most_shown = 20};
}

/* --- cases --- */

enum weir_status modes_add(struct modes *modes, struct modes_cases *cases,
                           const struct modes_case *one)
{
    enum weir_status status = array_grow_raw(&cases->items, &cases->room, cases->n + 1, modes->err);

    if (status == WEIR_OK) {
        cases->items[cases->n++] = *one;
    }
    return status;
}

static int by_cost(const void *left, const void *right)
{
    const struct modes_case *a = left, *b = right;

    if (a->cost != b->cost) {
        return a->cost > b->cost ? -1 : 1;
    }
    for (size_t i = 0; i < sizeof a->ids / sizeof a->ids[0]; i++) {
        if (a->ids[i] != b->ids[i]) {
            return a->ids[i] < b->ids[i] ? -1 : 1;
        }
    }
    return 0;
}

/* INT64_MAX when it passes that */
static int64_t cost_of(const struct modes_case *items, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(sum, items[i].cost, &sum)) {
            return INT64_MAX;
        }
    }
    return sum;
}

void modes_tell(struct modes *modes, struct modes_cases *cases, enum finding_code code,
                int64_t least, void unit(int64_t, char *),
                void tell(struct modes *, const struct modes_case *))
{
    size_t n_shown =
        cases->n < modes->settings->most_shown ? cases->n : modes->settings->most_shown;

    if (cases->n > 0 && cost_of(cases->items, cases->n) >= least) {
        qsort(cases->items, cases->n, sizeof *cases->items, by_cost);
        for (size_t i = 0; i < n_shown; i++) {
            tell(modes, &cases->items[i]);
        }
        if (n_shown < cases->n) {
            char sum[NUMBER_TEXT_BYTES];

            unit(cost_of(cases->items + n_shown, cases->n - n_shown), sum);
            report_add(modes->report, code, MODES_NOWHERE,
                       "%zu more of these, %s together, are not shown", cases->n - n_shown, sum);
        }
    }
    free(cases->items);
    *cases = (struct modes_cases){NULL, 0, 0};
}

/* --- nodes and edges --- */

const char *modes_domain(const struct modes *modes, uint32_t domain)
{
    return graph_text(modes->graph, graph_domain(modes->graph, (weir_domain){domain})->name);
}

int64_t modes_usable(const struct modes *modes, uint32_t domain)
{
    const struct graph_domain *of = graph_domain(modes->graph, (weir_domain){domain});

    return of->capacity_bytes - of->reserve_bytes;
}

/* Turns the edges round. */
static enum weir_status turn(const struct modes *modes, struct adjacency *out)
{
    const struct adjacency *next = &modes->next;
    uint32_t n_nodes = modes->timeline->n_nodes, n_edges = next->first[n_nodes];

    out->first = calloc((size_t)n_nodes + 2, sizeof *out->first);
    out->items = malloc(((size_t)n_edges + 1) * sizeof *out->items);
    if (out->first == NULL || out->items == NULL) {
        return weir_error_memory(modes->err);
    }
    for (uint32_t i = 0; i < n_edges; i++) {
        out->first[next->items[i].consumer + 2]++;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        out->first[i + 2] += out->first[i + 1];
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        for (uint32_t j = next->first[i]; j < next->first[i + 1]; j++) {
            out->items[out->first[next->items[j].consumer + 1]++] =
                (struct adjacent){i, next->items[j].edge};
        }
    }
    return WEIR_OK;
}

static bool has_edges(struct modes *modes)
{
    if (modes->status == WEIR_OK && modes->next.first == NULL) {
        modes->status = adjacency_make(modes->graph, bind_edges(modes->binding),
                                       bind_n_edges(modes->binding), &modes->next, modes->err);
        if (modes->status == WEIR_OK) {
            modes->status = turn(modes, &modes->before);
        }
    }
    return modes->status == WEIR_OK;
}

static const struct adjacent *edges_of(struct modes *modes, const struct adjacency *of,
                                       uint32_t node, uint32_t *n)
{
    if (!has_edges(modes)) {
        *n = 0;
        return NULL;
    }
    *n = of->first[node + 1] - of->first[node];
    return of->items + of->first[node];
}

const struct adjacent *modes_after(struct modes *modes, uint32_t node, uint32_t *n)
{
    return edges_of(modes, &modes->next, node, n);
}

const struct adjacent *modes_before(struct modes *modes, uint32_t node, uint32_t *n)
{
    return edges_of(modes, &modes->before, node, n);
}

/* analyze_link() is for any edge of an adjacency. */
int64_t modes_edge_end(const struct modes *modes, uint32_t producer, uint32_t edge)
{
    const struct timeline_span *span = modes_span(modes, producer);
    struct analyze_link link = analyze_link(modes->graph, edge);

    if (!modes_ran(modes, producer)) {
        return span->ready_ns + link.lag_ns; /* passed on when it would have been ready */
    }
    return (link.is_from_start ? span->start_ns : span->finish_ns) + link.lag_ns;
}

static int64_t end_instead(const struct modes *modes, const struct adjacent *edge,
                           const struct modes_instead *instead, uint32_t n_instead)
{
    for (uint32_t i = 0; i < n_instead; i++) {
        if (instead[i].node == edge->consumer) {
            return instead[i].at_ns < 0
                       ? 0
                       : instead[i].at_ns + analyze_link(modes->graph, edge->edge).lag_ns;
        }
    }
    return modes_edge_end(modes, edge->consumer, edge->edge);
}

int64_t modes_ready(struct modes *modes, uint32_t node, const struct modes_instead *instead,
                    uint32_t n_instead)
{
    int64_t ready_ns = bind_ready_ns(modes->binding, (weir_node){node});
    struct graph_node value;
    uint32_t n;
    const struct adjacent *before = modes_before(modes, node, &n);

    graph_node(modes->graph, (weir_node){node}, &value);
    modes->n_steps += n;
    ready_ns = value.release_ns > ready_ns ? value.release_ns : ready_ns;
    for (uint32_t i = 0; i < n; i++) {
        int64_t end_ns = end_instead(modes, &before[i], instead, n_instead);

        ready_ns = end_ns > ready_ns ? end_ns : ready_ns;
    }
    return ready_ns;
}

uint32_t modes_roles(const struct modes *modes, uint32_t node, uint32_t copy)
{
    uint32_t n, roles = 0;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        roles |= touches[i].copy.index == copy ? touches[i].roles : 0;
    }
    return roles;
}

bool modes_share_bytes(const struct modes *modes, uint32_t a, uint32_t b)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){a}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (modes_roles(modes, b, touches[i].copy.index) != 0) {
            return true;
        }
    }
    return false;
}

/* --- could it have started earlier? --- */

/* Does no line that forbids an overlap speak of the node? */
bool modes_may_move(const struct modes *modes, uint32_t node)
{
    uint32_t n = graph_n_overlaps(modes->graph);
    weir_class class_ = graph_node_class(modes->graph, (weir_node){node});
    struct graph_node value;

    if (modes->settings->forbids_unknown) {
        return false;
    }
    if (n > 0) {
        graph_node(modes->graph, (weir_node){node}, &value);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct graph_overlap *overlap = graph_overlap(modes->graph, i);
        weir_text name = weir_is(class_) ? graph_class_name(modes->graph, class_) : value.name;

        if (overlap->rule == OVERLAP_FORBIDDEN &&
            (weir_same(overlap->a, value.name) || weir_same(overlap->b, value.name) ||
             weir_same(overlap->a, name) || weir_same(overlap->b, name))) {
            return false;
        }
    }
    return true;
}

static int64_t changed_bytes(const struct modes_change *changes, uint32_t n, uint32_t domain,
                             int64_t at_ns)
{
    int64_t bytes = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (changes[i].domain == domain && changes[i].from_ns <= at_ns &&
            at_ns < changes[i].to_ns) {
            bytes += changes[i].bytes;
        }
    }
    return bytes;
}

/* The last instant before @p before_ns, @p from_ns or later, at which a change begins or ends. */
static int64_t change_before(const struct modes_change *changes, uint32_t n, uint32_t domain,
                             int64_t from_ns, int64_t before_ns)
{
    int64_t last_ns = from_ns;

    for (uint32_t i = 0; i < n; i++) {
        if (changes[i].domain != domain) {
            continue;
        }
        if (changes[i].from_ns > last_ns && changes[i].from_ns < before_ns) {
            last_ns = changes[i].from_ns;
        }
        if (changes[i].to_ns > last_ns && changes[i].to_ns < before_ns) {
            last_ns = changes[i].to_ns;
        }
    }
    return last_ns;
}

/* From when on, until the node started, its bytes and the changes fit in the domain. */
static int64_t fits_from(struct modes *modes, uint32_t node, uint32_t domain, int64_t from_ns,
                         const struct modes_change *changes, uint32_t n)
{
    int64_t to_ns = modes_span(modes, node)->start_ns;
    int64_t room = modes_usable(modes, domain) - modes_need(modes, node, domain);

    while (to_ns > from_ns) { /* from change to change, backwards */
        int64_t since_ns = change_before(changes, n, domain, from_ns, to_ns);
        int64_t fits_ns = modes_held_below(modes, domain, since_ns, to_ns,
                                           room - changed_bytes(changes, n, domain, since_ns));

        if (fits_ns > since_ns) {
            return fits_ns;
        }
        to_ns = since_ns;
    }
    return from_ns;
}

int64_t modes_could_start(struct modes *modes, uint32_t node, int64_t from_ns, uint32_t except,
                          const struct modes_change *changes, uint32_t n_changes)
{
    int64_t start_ns = modes_span(modes, node)->start_ns;
    weir_engine engine = graph_node_engine(modes->graph, (weir_node){node});
    uint32_t n;
    const uint32_t *acquired = modes_acquired(modes, node, &n);

    if (from_ns >= start_ns || !modes_may_move(modes, node)) {
        return start_ns;
    }
    if (weir_is(engine)) {
        int64_t full_ns = modes_full_until(modes, engine.index, start_ns, except);

        from_ns = full_ns > from_ns ? full_ns : from_ns;
    }
    for (uint32_t i = 0; i < n && from_ns < start_ns; i++) {
        from_ns = fits_from(modes, node, modes->timeline->holds[acquired[i]].domain.index, from_ns,
                            changes, n_changes);
    }
    for (uint32_t i = 0; i < n_changes && from_ns < start_ns; i++) {
        from_ns = fits_from(modes, node, changes[i].domain, from_ns, changes, n_changes);
    }
    return modes->status == WEIR_OK && from_ns < start_ns ? from_ns : start_ns;
}

/* --- waits for bytes --- */

int64_t modes_room_from(struct modes *modes, const struct timeline_wait *wait, int64_t from_ns,
                        uint32_t domain, int64_t bytes)
{
    uint32_t n;
    const uint32_t *acquired = modes_acquired(modes, wait->node.index, &n);

    from_ns = wait->from_ns > from_ns ? wait->from_ns : from_ns;
    for (uint32_t i = 0; i < n && from_ns < wait->to_ns; i++) {
        uint32_t in = modes->timeline->holds[acquired[i]].domain.index;
        int64_t room = modes_usable(modes, in) - modes_need(modes, wait->node.index, in);

        from_ns =
            modes_held_below(modes, in, from_ns, wait->to_ns, room + (in == domain ? bytes : 0));
    }
    return from_ns;
}

bool modes_bytes_wait(struct modes *modes, size_t row, struct timeline_wait *out)
{
    *out = modes->timeline->waits[row];
    if (!modes_ran(modes, out->node.index)) {
        return false;
    }
    out->to_ns = modes_room_from(modes, out, out->from_ns, WEIR_NONE, 0);
    return out->to_ns > out->from_ns;
}

/* --- all of them --- */

static void count_nodes(struct modes *modes)
{
    for (uint32_t i = 0; i < modes->timeline->n_nodes; i++) {
        if (modes_ran(modes, i)) {
            modes->n_kind[graph_node_kind(modes->graph, (weir_node){i})]++;
            modes->n_speculative += graph_node_is_speculative(modes->graph, (weir_node){i}) ? 1 : 0;
        }
    }
}

static void look_for_waits(struct modes *modes)
{
    const struct timeline *timeline = modes->timeline;
    int64_t sum_ns = 0;

    for (size_t i = 0; i < timeline->n_waits && sum_ns < modes->least_ns; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];

        if (wait->cause == WAIT_CAPACITY) {
            sum_ns += wait->to_ns - wait->from_ns; /* stops long before it passes 64 bits */
        }
    }
    modes->waits_for_bytes = sum_ns >= modes->least_ns;
}

static enum weir_status find_all(struct modes *modes)
{
    static enum weir_status (*const finders[])(struct modes *) = {
        modes_prefetch, modes_contention, modes_trips,       modes_recompute,
        modes_staging,  modes_held,       modes_speculative, modes_barriers,
    };
    enum weir_status status = WEIR_OK;

    count_nodes(modes);
    look_for_waits(modes);
    for (size_t i = 0; i < sizeof finders / sizeof finders[0] && status == WEIR_OK; i++) {
        modes->n_steps = 0;
        status = finders[i](modes);
        status = status == WEIR_OK ? modes->status : status;
    }
    return status;
}

enum weir_status modes_find(const struct binding *binding, const struct timeline *timeline,
                            const struct modes_settings *settings, struct report *report,
                            struct weir_error *err)
{
    struct modes modes = {.binding = binding,
                          .graph = bind_of(binding),
                          .timeline = timeline,
                          .settings = settings,
                          .report = report,
                          .least_ns =
                              (int64_t)((double)timeline->makespan_ns * settings->least_ratio),
                          .status = WEIR_OK,
                          .err = err};
    enum weir_status status = WEIR_OK;

    modes.least_ns = modes.least_ns > 0 ? modes.least_ns : 1;
    switch (timeline->status) {
    case RUN_COMPLETE:
        status = find_all(&modes);
        break;
    case RUN_DEADLOCK:
        status = modes_circle(&modes);
        break;
    case RUN_SHORTAGE: /* what is short is told already, and no other order would help */
    case RUN_FAILED:
        break;
    }
    adjacency_free(&modes.next);
    adjacency_free(&modes.before);
    modes_room_free(modes.room);
    modes_engines_free(modes.engines);
    return status == WEIR_OK && report_is_short(report) ? weir_error_memory(err) : status;
}
