/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of the text form for the enums of graph.h. Each list follows its enum, ends with NULL,
 * and has "" for a value that is said by writing nothing. */
#include "graph/fields.h"

const char *const node_kind_words[] = {"compute",     "allocation", "mapping",           "transfer",
                                       "prefetch",    "offload",    "rematerialization", "barrier",
                                       "reclamation", NULL};
const char *const edge_type_words[] = {"data-ready", "storage-ready", "ordering", "lifetime-hold",
                                       "barrier",    "capacity-wait", NULL};
const char *const scope_words[] = {"", "cold", "warm", NULL};
const char *const rule_words[] = {"allowed", "forbidden", "unknown", NULL};
const char *const evidence_words[] = {"none",      "measured", "fitted",  "datasheet", "bound",
                                      "unknown",   "declared", "assumed", "observed",  "ordered",
                                      "contained", "inferred", NULL};
const char *const distribution_words[] = {"",        "normal",    "lognormal", "gamma",
                                          "uniform", "empirical", "unknown",   NULL};

const char *node_kind_name(enum node_kind kind)
{
    return node_kind_words[kind];
}

const char *edge_type_name(enum edge_type type)
{
    return edge_type_words[type];
}

const char *evidence_name(enum evidence_kind kind)
{
    return evidence_words[kind];
}

const char *graph_scope_name(enum graph_scope scope)
{
    return scope == SCOPE_NONE ? "none" : scope_words[scope];
}

const char *distribution_name(enum distribution_kind kind)
{
    return kind == DISTRIBUTION_FIXED ? "fixed" : distribution_words[kind];
}
