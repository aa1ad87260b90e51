/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thing of a graph or its machine is changed, and all is planned and simulated again: what does
 * dispatch make of it? Each of many, on several threads; the results are the same for any number. */
#ifndef WEIR_SIM_VARIANT_H
#define WEIR_SIM_VARIANT_H

#include "sim/simulate.h"

enum variant_kind {
    VARIANT_NODE_GONE,      /* the node takes no time */
    VARIANT_NODE_HALF,      /* half, as what_if_scale says */
    VARIANT_ENGINE_FASTER,  /* each node of the engine takes half */
    VARIANT_ENGINE_SLOT,    /* one slot more */
    VARIANT_ENGINE_WIDER,   /* twice the bandwidth */
    VARIANT_ENGINE_PROMPT,  /* no latency */
    VARIANT_DOMAIN_MORE,    /* a tenth more capacity, rounded down */
    VARIANT_DOMAIN_ENDLESS, /* a capacity of VARIANT_ENDLESS_BYTES, or its own if that is more */
    VARIANT_DOMAIN_LESS,    /* a tenth less, rounded down */
    VARIANT_RESOURCE_WIDER, /* twice the capacity */
    VARIANT_NO_CONTENTION   /* nodes that run together do not slow each other down */
};
#define VARIANT_ENDLESS_BYTES (INT64_C(1) << 60)

enum variant_end {
    VARIANT_COMPLETE,
    VARIANT_STOPPED, /* in a shortage, a deadlock, or a window that was missed */
    VARIANT_REFUSED  /* the graph, or what the policy makes of it, is not legal like that */
};

struct variant {
    enum variant_kind kind;
    uint32_t index; /* of the node, engine, domain or resource */
    /* What came of it. */
    enum variant_end end;
    enum run_status status; /* unless refused */
    int64_t makespan_ns;    /* when complete, else -1 */
    char why[200];          /* it was refused; "" otherwise */
};

struct variant_base {
    const struct graph *graph; /* as it would be planned without a change */
    const struct plan_options *planning;
    const struct simulate_options *options; /* without progress */
    uint32_t n_threads;                     /* 1 where the policy may not be on several */
    void (*progress)(void *arg, double part);
    void *progress_arg; /* called on the caller's thread alone */
};

/** Fills in what came of each. WEIR_MEMORY; WEIR_INPUT when a number cannot be changed like that. */
MUST_CHECK enum weir_status variant_run(const struct variant_base *base, struct variant *variants,
                                        uint32_t n_variants, struct weir_error *err);

#endif
