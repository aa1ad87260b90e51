/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a makespan is made of: its critical chain, summed up and condensed. */
#ifndef WEIR_JUDGE_MAKEUP_H
#define WEIR_JUDGE_MAKEUP_H

#include "judge/stalls.h"
#include "store/store.h"

/* Consecutive links on one engine (or none), each bound by the one before it, by an edge or by its slot:
 * one piece of work, for whoever reads the chain. */
struct makeup_stretch {
    size_t first, n_links; /* of the chain */
    weir_engine engine;    /* none: its nodes need none */
    const char *cause;     /* of the first link: what the stretch waited for */
    int64_t start_ns, finish_ns;
};

/* What the nodes of one engine add. */
struct makeup_engine {
    weir_engine engine; /* none: of nodes that need none */
    uint64_t n_links;
    int64_t ran_ns;
};

#define MAKEUP_LONGEST 10

struct makeup {
    int64_t ran_ns; /* nodes of the chain ran; the rest it waited: together the makespan */
    int64_t kind_ns[NODE_KINDS];   /* of what ran, by kind */
    struct makeup_engine *engines; /* those with links, by id, none last */
    uint32_t n_engines;
    int64_t waited_ns[STALL_CAUSES];  /* lag, release, admission, window, unknown; else 0 */
    struct makeup_stretch *stretches; /* first to last: they add up to the makespan */
    size_t n_stretches;
    size_t longest[MAKEUP_LONGEST]; /* links: longest first, then the earlier */
    uint32_t n_longest;
};

/** Sums up. @param links the chain of the timeline that the index is of, whoever found it
 *  @return WEIR_OK; WEIR_MEMORY. The caller frees with makeup_free. */
MUST_CHECK enum weir_status makeup_find(const struct bound_index *index,
                                        const struct run_link *links, size_t n_links,
                                        struct makeup *out, struct weir_error *err);
/** The numbers of the @p most longest stretches, of equal ones the earlier, in the order of time,
 *  malloc'ed.  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status makeup_longest_stretches(const struct makeup *makeup, size_t most,
                                                     size_t **out, size_t *n,
                                                     struct weir_error *err);
void makeup_free(struct makeup *makeup);

#endif
