/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of the text form for the enums of graph.h, in the order of the enums. */
#include "graph/graph.h"

const char *node_kind_name(enum node_kind kind)
{
    static const char *const names[NODE_KINDS] = {"compute",           "allocation", "mapping",
                                                  "transfer",          "prefetch",   "offload",
                                                  "rematerialization", "barrier",    "reclamation"};

    return names[kind];
}

const char *edge_type_name(enum edge_type type)
{
    static const char *const names[EDGE_TYPES] = {
        "data-ready", "storage-ready", "ordering", "lifetime-hold", "barrier", "capacity-wait"};

    return names[type];
}

const char *evidence_name(enum evidence_kind kind)
{
    static const char *const names[] = {"none",     "measured", "fitted",    "datasheet",
                                        "bound",    "unknown",  "declared",  "assumed",
                                        "observed", "ordered",  "contained", "inferred"};

    return names[kind];
}

const char *overlap_rule_name(enum overlap_rule rule)
{
    static const char *const names[] = {"allowed", "forbidden", "unknown"};

    return names[rule];
}

const char *graph_scope_name(enum graph_scope scope)
{
    static const char *const names[] = {"none", "cold", "warm"};

    return names[scope];
}

const char *distribution_name(enum distribution_kind kind)
{
    static const char *const names[] = {"fixed",   "normal",    "lognormal", "gamma",
                                        "uniform", "empirical", "unknown"};

    return names[kind];
}
