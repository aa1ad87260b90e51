/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each statement says when it has no optional field. */
#include "graph/graph.h"

#define NO_EVIDENCE      \
    {                    \
        .confidence = -1 \
    }

const struct graph_node graph_node_default = {
    .engine = {WEIR_NONE},
    .bytes = -1,
    .object = {WEIR_NONE},
    .from = {WEIR_NONE},
    .to = {WEIR_NONE},
    .domain = {WEIR_NONE},
    .staging = {.bytes = -1, .domain = {WEIR_NONE}},
    .class_given = {WEIR_NONE},
    .deadline_ns = -1,
    .guard = {WEIR_NONE},
    .fallback_node = {WEIR_NONE},
    .evidence = NO_EVIDENCE,
};

const struct graph_edge graph_edge_default = {.object = {WEIR_NONE}, .evidence = NO_EVIDENCE};

const struct graph_object graph_object_default = {
    .domain = {WEIR_NONE},
    .alias_of = {WEIR_NONE},
    .recompute = {WEIR_NONE},
    .planned_offset_bytes = -1,
    .planned_domain = {WEIR_NONE},
    .evidence = NO_EVIDENCE,
};

const struct graph_domain graph_domain_default = {.evidence = NO_EVIDENCE};

const struct graph_engine graph_engine_default = {
    .class_ = {WEIR_NONE},
    .slots = 1,
    .domain = {WEIR_NONE},
    .from = {WEIR_NONE},
    .to = {WEIR_NONE},
    .evidence = NO_EVIDENCE,
};

const struct graph_resource graph_resource_default = {.evidence = NO_EVIDENCE};

const struct graph_kappa graph_kappa_default = {.factor = 1, .evidence = NO_EVIDENCE};

const struct graph_overlap graph_overlap_default = {
    .earliest_ns = -1, .latest_ns = -1, .evidence = NO_EVIDENCE};

const struct graph_param graph_param_default = {.evidence = NO_EVIDENCE};

const struct graph_guard graph_guard_default = {.evidence = NO_EVIDENCE};
