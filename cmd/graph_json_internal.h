/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that write a graph as JSON share. */
#ifndef WEIR_CMD_GRAPH_JSON_INTERNAL_H
#define WEIR_CMD_GRAPH_JSON_INTERNAL_H

#include "cmd/graph_json.h"

/** kind, confidence and, as far as the detail says, source, samples and scope. */
void graph_json_evidence(struct json *json, const struct graph *graph,
                         const struct graph_evidence *evidence);
/** A member only where there is one. */
void graph_json_domain(struct json *json, const char *key, const struct graph *graph,
                       weir_domain domain);

/* What follows from the whole graph, as far as it is asked for again and again. In program order, one
 * node after another, each copy begins with one node and ends with one. */
struct derived {
    const struct binding *binding;
    const struct graph *graph;
    uint32_t *begins, *ends; /* by copy: a node; WEIR_NONE: it is initial, or stays */
    uint32_t *first_copy;    /* by object: its copies are copies[first_copy[o]] up to the next */
    uint32_t *copies;
    uint32_t
        *staging_ends; /* by node: the one with which its staging ends; WEIR_NONE: it has none */
    uint32_t *first_staged;   /* by node: the first whose staging ends with it; WEIR_NONE */
    uint32_t *next_staged;    /* by node: the next that ends with the same */
    int64_t *initial, *stays; /* by domain: bytes there at first, and at the end */
    int64_t *taken, *given;   /* by domain, of the node at hand */
    uint32_t *changed;        /* the domains of which these are not both 0 */
    uint32_t *named;          /* by node: the list that named it last */
    uint32_t n_lists;
};

MUST_CHECK enum weir_status derived_make(const struct binding *binding, struct derived *out,
                                         struct weir_error *err);
void derived_free(struct derived *derived);
/* The member `derived` of a statement. */
void derived_node(struct json *json, struct derived *derived, weir_node node);
void derived_object(struct json *json, struct derived *derived, weir_object object);
void derived_edge(struct json *json, const struct graph *graph,
                  const struct graph_evidence *evidence);
void derived_overlap(struct json *json, const struct graph *graph,
                     const struct graph_overlap *overlap);
void derived_domain(struct json *json, const struct derived *derived, weir_domain domain);

#endif
