/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings of bytes that nothing has filled yet: no hazard orders them behind what begins the copy. */
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

#define NOWHERE ((struct report_at){NULL, 0, 0})

/* What a mapping waits for, when it waits for what begins or fills its copy. */
struct mappings {
    bool *is_sure;        /* by node: an implied edge leads from a filler to it */
    uint32_t *first_fill; /* by copy, so far: WEIR_NONE */
    uint32_t *last_fill;
    struct analyze_order *order; /* NULL: nobody has asked */
};

/* The copy that a mapping that runs maps; none: there at once, or it is no mapping. */
static weir_copy copy_mapped(const struct audit *audit, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    if (audit->graph->nodes[node].kind != NODE_MAPPING || n == 0 ||
        bind_copy(audit->binding, touches[0].copy)->is_initial) {
        return (weir_copy){WEIR_NONE};
    }
    return touches[0].copy;
}

static void find_sure(struct audit *audit, bool *is_sure)
{
    const struct bind_edge *edges = bind_edges(audit->binding);

    for (uint32_t i = 0; i < bind_n_edges(audit->binding); i++) {
        is_sure[edges[i].consumer.index] |=
            edges[i].type == EDGE_DATA_READY &&
            weir_same(edges[i].copy, copy_mapped(audit, edges[i].consumer.index));
    }
}

/* Is there surely a copy when the mapping runs? */
static enum weir_status is_there(struct audit *audit, struct mappings *of, uint32_t node,
                                 weir_copy copy, bool *out)
{
    weir_node allocation = bind_copy(audit->binding, copy)->allocation;
    enum weir_status status = WEIR_OK;

    *out = of->is_sure[node];
    if (*out) {
        return WEIR_OK;
    }
    if (of->order == NULL) {
        status = analyze_order_make(&audit->analysis, &of->order, audit->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (weir_is(allocation)) {
        *out = analyze_before(of->order, allocation, (weir_node){node});
    } else if (of->first_fill[copy.index] != WEIR_NONE) {
        *out =
            analyze_before(of->order, (weir_node){of->first_fill[copy.index]}, (weir_node){node}) ||
            analyze_before(of->order, (weir_node){of->last_fill[copy.index]}, (weir_node){node});
    }
    return WEIR_OK;
}

static void note_fills(const struct audit *audit, struct mappings *of, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t copy = touches[i].copy.index;

        if ((touches[i].roles & BIND_FILLS) != 0) {
            of->last_fill[copy] = node;
            of->first_fill[copy] = of->first_fill[copy] == WEIR_NONE ? node : of->first_fill[copy];
        }
    }
}

static enum weir_status check_mapping(struct audit *audit, struct mappings *of, uint32_t node,
                                      weir_copy copy)
{
    const struct bind_copy *value = bind_copy(audit->binding, copy);
    uint32_t begins =
        weir_is(value->allocation) ? value->allocation.index : of->first_fill[copy.index];
    bool is_sure;
    enum weir_status status = is_there(audit, of, node, copy, &is_sure);

    if (status != WEIR_OK || is_sure || begins == WEIR_NONE ||
        !audit_takes(audit, FINDING_MAPPED_EARLY)) {
        return status;
    }
    report_add(
        audit->report, FINDING_MAPPED_EARLY, NOWHERE,
        "node %s maps object %s in %s, and nothing orders it behind %s, with which that copy "
        "begins",
        audit_node(audit, node), graph_object_name(audit->graph, value->object),
        audit_domain(audit, value->domain), audit_node(audit, begins));
    report_name(audit->report, audit_node(audit, node));
    report_name(audit->report, audit_node(audit, begins));
    report_name(audit->report, graph_object_name(audit->graph, value->object));
    return WEIR_OK;
}

enum weir_status audit_mappings(struct audit *audit)
{
    size_t n_copies = (size_t)bind_n_copies(audit->binding) + 1;
    struct mappings of = {.order = NULL};
    enum weir_status status = WEIR_OK;

    if (!audit_has_kind(audit, NODE_MAPPING)) {
        return WEIR_OK;
    }
    of.is_sure = calloc((size_t)audit->graph->n_nodes + 1, sizeof *of.is_sure);
    of.first_fill = malloc(n_copies * sizeof *of.first_fill);
    of.last_fill = malloc(n_copies * sizeof *of.last_fill);
    if (of.is_sure == NULL || of.first_fill == NULL || of.last_fill == NULL) {
        status = weir_error_memory(audit->err);
    } else {
        memset(of.first_fill, 0xff, n_copies * sizeof *of.first_fill);
        find_sure(audit, of.is_sure);
    }
    for (uint32_t i = 0; i < audit->graph->n_nodes && status == WEIR_OK; i++) {
        weir_copy copy = copy_mapped(audit, i);

        if (weir_is(copy)) {
            status = check_mapping(audit, &of, i, copy);
        }
        note_fills(audit, &of, i);
    }
    analyze_order_free(of.order);
    free(of.is_sure);
    free(of.first_fill);
    free(of.last_fill);
    return status;
}
