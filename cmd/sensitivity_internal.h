/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir sensitivity finds out, and how it is told. */
#ifndef WEIR_CMD_SENSITIVITY_INTERNAL_H
#define WEIR_CMD_SENSITIVITY_INTERNAL_H

#include "base/names.h"
#include "cmd/progress.h"
#include "cmd/scenario.h"
#include "sim/variant.h"
#include "sim/worth.h"

/* One node, alone. */
struct sensitive_node {
    weir_node node; /* of the planned graph */
    int64_t length_ns, slack_ns;
    int64_t saves_ns, half_saves_ns; /* in fixed order, of the makespan */
    uint32_t gone, half;             /* variants; WEIR_NONE: it was not simulated again */
};

/* Does dispatch answer as the fixed order does? */
enum sensitive_verdict {
    VERDICT_NONE, /* it was not asked */
    VERDICT_AGREES,
    VERDICT_MORE,
    VERDICT_LESS,
    VERDICT_LATER, /* with less to do the run ends later */
    VERDICT_STOPS  /* or not at all */
};

struct sensitive_groups {
    struct worth_group *rows; /* those that save most in fixed order, all their nodes taken away */
    uint32_t n_rows;
    uint32_t n_groups; /* in all */
};

struct sensitive {
    struct scenario scenario;
    uint32_t limit; /* rows of each list; UINT32_MAX: all */
    uint32_t top;   /* nodes that are simulated again */
    uint32_t n_threads;
    bool is_fixed; /* nothing is simulated again */
    struct simulate_result result;
    struct retime retime;
    int64_t *length_ns; /* by position of it */
    struct worth worth;
    struct sensitive_node *nodes; /* by what they save, then by slack */
    uint32_t n_nodes;
    uint32_t n_timed; /* nodes that take time */
    uint32_t n_saving;
    struct sensitive_groups classes, origins;
    struct names *origin_names; /* by group: its number is that of the text */
    struct variant *variants;   /* of nodes, then of resources */
    uint32_t n_variants, n_of_nodes;
    uint32_t *ranked; /* variants of resources, by what they save */
};

bool sensitive_is_complete(const struct sensitive *s);
enum sensitive_verdict sensitive_verdict(const struct sensitive *s, const struct sensitive_node *n);
/** So much less the run takes; only where the variant is complete, as is the run. */
int64_t sensitive_saves_ns(const struct sensitive *s, uint32_t variant);
const char *sensitive_class(const struct sensitive *s, uint32_t group);
const char *sensitive_origin(const struct sensitive *s, uint32_t group);
/** The name of the engine, domain or resource; "" for none. */
const char *sensitive_resource(const struct sensitive *s, const struct variant *variant);

/* sensitivity_fixed.c: in fixed order. */
MUST_CHECK enum weir_status sensitive_order(struct sensitive *s, struct progress *progress,
                                            struct weir_error *err);
/* sensitivity_again.c: with dispatch. */
MUST_CHECK enum weir_status sensitive_again(struct sensitive *s, struct progress *progress,
                                            struct weir_error *err);
/* sensitivity_show.c, sensitivity_json.c */
void sensitive_show(const struct sensitive *s);
void sensitive_json(const struct sensitive *s);

#endif
