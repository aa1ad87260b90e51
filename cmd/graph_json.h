/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph as JSON: weir-graph(5) lists the keys. */
#ifndef WEIR_CMD_GRAPH_JSON_H
#define WEIR_CMD_GRAPH_JSON_H

#include "cmd/json.h"
#include "graph/bind.h"

/** Writes the graph of the binding as one object: every field that a statement gives, under the name
 *  that it has with its unit; and beside it what follows from all of them, in `derived`.
 *  @return WEIR_OK, WEIR_MEMORY */
MUST_CHECK enum weir_status graph_json(struct json *json, const char *key,
                                       const struct binding *binding, struct weir_error *err);
/** The fields of one node as an object. */
void graph_json_node(struct json *json, const char *key, const struct graph *graph, weir_node node);

#endif
