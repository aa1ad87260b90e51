/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A statement's value and the row of the graph that keeps it. */
#include "graph/read_internal.h"

void read_load_row(const struct graph *graph, struct state *state)
{
    union statement_value *value = &state->value;
    uint32_t row = state->row;

    switch (state->kind) {
    case STATEMENT_NODE:
        graph_node(graph, (weir_node){row}, &value->node);
        break;
    case STATEMENT_EDGE:
        graph_edge(graph, (weir_edge){row}, &value->edge);
        break;
    case STATEMENT_OBJECT:
        graph_object(graph, (weir_object){row}, &value->object);
        break;
    case STATEMENT_DOMAIN:
        value->domain = graph->domains[row];
        break;
    case STATEMENT_ENGINE:
        value->engine = graph->engines[row];
        break;
    case STATEMENT_RESOURCE:
        value->resource = graph->resources[row];
        break;
    case STATEMENT_GUARD:
        value->guard = graph->guards[row];
        break;
    case STATEMENT_KAPPA:
        value->kappa = graph->kappas[row];
        break;
    case STATEMENT_OVERLAP:
        value->overlap = graph->overlaps[row];
        break;
    case STATEMENT_PARAM:
        value->param = graph->params[row];
        break;
    case STATEMENT_GRAPH:
    case STATEMENT_KINDS:
        break;
    }
}

enum weir_status read_keep_row(struct graph *graph, const struct state *state,
                               struct weir_error *err)
{
    const union statement_value *value = &state->value;
    uint32_t row = state->row;

    switch (state->kind) {
    case STATEMENT_NODE:
        return graph_set_node(graph, (weir_node){row}, &value->node, err);
    case STATEMENT_EDGE:
        return graph_set_edge(graph, (weir_edge){row}, &value->edge, err);
    case STATEMENT_OBJECT:
        return graph_set_object(graph, (weir_object){row}, &value->object, err);
    case STATEMENT_DOMAIN:
        graph_set_domain(graph, (weir_domain){row}, &value->domain);
        break;
    case STATEMENT_ENGINE:
        graph_set_engine(graph, (weir_engine){row}, &value->engine);
        break;
    case STATEMENT_RESOURCE:
        graph_set_resource(graph, (weir_resource){row}, &value->resource);
        break;
    case STATEMENT_GUARD:
        graph_set_guard(graph, (weir_guard){row}, &value->guard);
        break;
    case STATEMENT_KAPPA:
        graph_set_kappa(graph, row, &value->kappa);
        break;
    case STATEMENT_OVERLAP:
        graph_set_overlap(graph, row, &value->overlap);
        break;
    case STATEMENT_PARAM:
        graph_set_param(graph, row, &value->param);
        break;
    case STATEMENT_GRAPH:
        graph_set_head(graph, value->head.name, value->head.scope, value->head.is_implied,
                       value->head.evidence);
        break;
    case STATEMENT_KINDS:
        break;
    }
    return WEIR_OK;
}

void read_begin_blank(struct state *state)
{
    memcpy(&state->value, state->statement->blank, state->statement->value_size);
}
