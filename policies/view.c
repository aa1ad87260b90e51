/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a policy may know: the planned graph, how far it has run, and, for one that needs it, the order
 * that the graph given asks for. A policy may come from outside: what it asks of an id that is none
 * gets the answer for nothing. */
#include <stdlib.h>

#include "graph/analyze.h"
#include "policies/draft_internal.h"

/* --- the graph ------------------------------------------------------------------------------- */

static const struct graph *seen(const struct weir_view *view)
{
    return plan_graph(view->impl);
}

static bool has_node(const struct weir_view *view, weir_node node)
{
    return node.index < view->n_nodes;
}

static const char *view_node_name(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? graph_node_name(seen(view), node) : "";
}

static const char *view_node_kind(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? node_kind_name(graph_node_kind(seen(view), node)) : "";
}

static weir_engine view_node_engine(const struct weir_view *view, weir_node node)
{
    return has_node(view, node) ? graph_node_engine(seen(view), node) : (weir_engine){WEIR_NONE};
}

static int64_t view_node_length_ns(const struct weir_view *view, weir_node node)
{
    int64_t length_ns;

    return has_node(view, node) && graph_node_length_ns(seen(view), node, &length_ns) ? length_ns
                                                                                      : -1;
}

static int64_t view_node_priority(const struct weir_view *view, weir_node node)
{
    struct graph_node value = {.priority = 0};

    if (has_node(view, node)) {
        graph_node(seen(view), node, &value);
    }
    return value.priority;
}

static int64_t view_node_deadline_ns(const struct weir_view *view, weir_node node)
{
    struct graph_node value = {.deadline_ns = -1};

    if (has_node(view, node)) {
        graph_node(seen(view), node, &value);
    }
    return value.deadline_ns;
}

static const char *view_object_name(const struct weir_view *view, weir_object object)
{
    return object.index < view->n_objects ? graph_object_name(seen(view), object) : "";
}

static int64_t view_object_bytes(const struct weir_view *view, weir_object object)
{
    struct graph_object value = {.size_bytes = 0};

    if (object.index < view->n_objects) {
        graph_object(seen(view), object, &value);
    }
    return value.size_bytes;
}

static int64_t view_domain_capacity_bytes(const struct weir_view *view, weir_domain domain)
{
    return domain.index < view->n_domains ? graph_domain(seen(view), domain)->capacity_bytes : 0;
}

static int64_t view_domain_used_bytes(const struct weir_view *view, weir_domain domain)
{
    return view->used_bytes == NULL || domain.index >= view->n_domains
               ? 0
               : view->used_bytes[domain.index];
}

static int64_t view_recorded_start_ns(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = has_node(view, node) ? plan_origin(plan, node) : (weir_node){WEIR_NONE};

    if (plan->recording == NULL || !weir_is(given)) {
        return -1;
    }
    return plan->recording->spans[given.index].start_ns;
}

/* --- the run --------------------------------------------------------------------------------- */

static int64_t view_node_start_ns(const struct weir_view *view, weir_node node)
{
    const struct timeline *timeline = view->run;

    return timeline == NULL || !has_node(view, node) ? -1 : timeline->spans[node.index].start_ns;
}

static int64_t view_node_finish_ns(const struct weir_view *view, weir_node node)
{
    const struct timeline *timeline = view->run;

    return timeline == NULL || !has_node(view, node) ? -1 : timeline->spans[node.index].finish_ns;
}

static int64_t view_domain_room_bytes(const struct weir_view *view, weir_domain domain)
{
    const struct graph_domain *value;

    if (domain.index >= view->n_domains) {
        return 0;
    }
    value = graph_domain(seen(view), domain);
    return value->capacity_bytes - value->reserve_bytes;
}

static int64_t view_engine_slots(const struct weir_view *view, weir_engine engine)
{
    return engine.index < view->n_engines ? graph_engine(seen(view), engine)->slots : 0;
}

/* --- the order of the graph given ------------------------------------------------------------ */

struct plan_order {
    struct binding *binding;
    struct analysis analysis;
    uint32_t *begun_by; /* by copy: the node that begins it in program order; WEIR_NONE: none */
};

/* Who begins each copy: its allocation, else the first node that fills it. */
static enum weir_status find_begins(struct plan_order *order, struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(order->binding), n_touches;

    order->begun_by = malloc(((size_t)n_copies + 1) * sizeof *order->begun_by);
    if (order->begun_by == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_copies; i++) {
        order->begun_by[i] = bind_copy(order->binding, (weir_copy){i})->allocation.index;
    }
    for (uint32_t i = 0; i < graph_n_nodes(bind_of(order->binding)); i++) {
        const struct bind_touch *touches = bind_touches(order->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            uint32_t *begun_by = &order->begun_by[touches[j].copy.index];

            if (*begun_by == WEIR_NONE && (touches[j].roles & BIND_FILLS) != 0 &&
                !bind_copy(order->binding, touches[j].copy)->is_initial) {
                *begun_by = i;
            }
        }
    }
    return WEIR_OK;
}

enum weir_status plan_order_make(const struct graph *graph, struct report *report,
                                 struct plan_order **out, struct weir_error *err)
{
    struct plan_order *order = calloc(1, sizeof *order);
    enum weir_status status;

    if (order == NULL) {
        return weir_error_memory(err);
    }
    status = bind_graph(graph, report, &order->binding, err);
    if (status == WEIR_OK) {
        status = analyze(order->binding, &order->analysis, err);
    }
    if (status == WEIR_OK) {
        status = find_begins(order, err);
    }
    if (status != WEIR_OK) {
        plan_order_free(order);
        return status;
    }
    *out = order;
    return WEIR_OK;
}

void plan_order_free(struct plan_order *order)
{
    if (order == NULL) {
        return;
    }
    analyze_free(&order->analysis);
    bind_free(order->binding);
    free(order->begun_by);
    free(order);
}

/* The node of the graph given; none when the plan added it, or there is no order. */
static weir_node ordered(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;

    return plan->order != NULL && has_node(view, node) ? plan_origin(plan, node)
                                                       : (weir_node){WEIR_NONE};
}

static uint32_t view_node_n_next(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);
    const uint32_t *first;

    if (!weir_is(given)) {
        return 0;
    }
    first = plan->order->analysis.next.first;
    return first[given.index + 1] - first[given.index];
}

static struct weir_link view_node_next(const struct weir_view *view, weir_node node, uint32_t index)
{
    const struct plan *plan = view->impl;
    const struct adjacent *adjacent;
    struct analyze_link link;

    if (index >= view_node_n_next(view, node)) {
        return (struct weir_link){{WEIR_NONE}, 0, false};
    }
    adjacent = &plan->order->analysis.next
                    .items[plan->order->analysis.next.first[ordered(view, node).index] + index];
    link = analyze_link(plan->given, adjacent->edge);
    return (struct weir_link){plan_planned(plan, (weir_node){adjacent->consumer}), link.lag_ns,
                              link.is_from_start};
}

static int64_t view_node_earliest_ns(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);

    return weir_is(given) ? plan->order->analysis.earliest_ns[given.index] : -1;
}

static int64_t view_node_latest_start_ns(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);

    return weir_is(given) ? plan->order->analysis.latest_ns[given.index] : -1;
}

/* Behind the latest start by the node's length, which is 0 for one that runs only when another gives
 * way. */
static int64_t view_node_latest_finish_ns(const struct weir_view *view, weir_node node)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);
    const struct analysis *analysis;

    if (!weir_is(given)) {
        return -1;
    }
    analysis = &plan->order->analysis;
    return analysis->latest_ns[given.index] +
           (analysis->is_standby[given.index] ? 0 : analysis->length_ns[given.index]);
}

static int64_t view_node_workspace_bytes(const struct weir_view *view, weir_node node,
                                         weir_domain domain)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);
    struct graph_node value;
    int64_t bytes = 0;

    if (!weir_is(given) || !graph_node_is_on(plan->given, given)) {
        return 0;
    }
    graph_node(plan->given, given, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        if (weir_same(graph_charge_domain(plan->given, given, &value.workspace[i]), domain)) {
            bytes += value.workspace[i].bytes;
        }
    }
    return bytes;
}

/* The bytes of copies in the domain that begin with the node. */
static int64_t begun_bytes(const struct plan_order *order, weir_node given, weir_domain domain)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(order->binding, given, &n_touches);
    int64_t bytes = 0;

    for (uint32_t i = 0; i < n_touches; i++) {
        const struct bind_copy *copy = bind_copy(order->binding, touches[i].copy);

        if (weir_same(copy->domain, domain) &&
            order->begun_by[touches[i].copy.index] == given.index) {
            bytes += copy->bytes;
        }
    }
    return bytes;
}

static int64_t view_node_takes_bytes(const struct weir_view *view, weir_node node,
                                     weir_domain domain)
{
    const struct plan *plan = view->impl;
    weir_node given = ordered(view, node);
    struct graph_node value;
    int64_t bytes;

    if (!weir_is(given) || !graph_node_is_on(plan->given, given)) {
        return 0;
    }
    graph_node(plan->given, given, &value);
    bytes = view_node_workspace_bytes(view, node, domain) + begun_bytes(plan->order, given, domain);
    if (value.staging.bytes > 0 &&
        weir_same(graph_charge_domain(plan->given, given, &value.staging), domain)) {
        bytes += value.staging.bytes;
    }
    return bytes;
}

/* --------------------------------------------------------------------------------------------- */

void plan_view(const struct plan *plan, int64_t now_ns, const int64_t *used_bytes,
               const struct timeline *timeline, struct weir_view *out)
{
    const struct graph *graph = plan_graph(plan);

    *out = (struct weir_view){
        .size = sizeof *out,
        .impl = plan,
        .used_bytes = used_bytes,
        .now_ns = now_ns,
        .n_nodes = graph_n_nodes(graph),
        .n_objects = graph_n_objects(graph),
        .n_domains = graph_n_domains(graph),
        .n_engines = graph_n_engines(graph),
        .node_name = view_node_name,
        .node_kind = view_node_kind,
        .node_engine = view_node_engine,
        .node_length_ns = view_node_length_ns,
        .node_priority = view_node_priority,
        .node_deadline_ns = view_node_deadline_ns,
        .object_name = view_object_name,
        .object_bytes = view_object_bytes,
        .domain_capacity_bytes = view_domain_capacity_bytes,
        .domain_used_bytes = view_domain_used_bytes,
        .recorded_start_ns = view_recorded_start_ns,
        .run = timeline,
        .node_start_ns = view_node_start_ns,
        .node_finish_ns = view_node_finish_ns,
        .domain_room_bytes = view_domain_room_bytes,
        .engine_slots = view_engine_slots,
        .node_n_next = view_node_n_next,
        .node_next = view_node_next,
        .node_earliest_ns = view_node_earliest_ns,
        .node_latest_start_ns = view_node_latest_start_ns,
        .node_latest_finish_ns = view_node_latest_finish_ns,
        .node_takes_bytes = view_node_takes_bytes,
        .node_workspace_bytes = view_node_workspace_bytes,
    };
}
