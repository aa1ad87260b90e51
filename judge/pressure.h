/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes over time, domain by domain: how many at most and when, who held them then, how much of it
 * over the run, and what staging had of that. */
#ifndef WEIR_JUDGE_PRESSURE_H
#define WEIR_JUDGE_PRESSURE_H

#include "graph/timeline.h"

/* Bytes times nanoseconds. */
__extension__ typedef __int128 byte_ns;

#define PRESSURE_HOLDERS 10

struct pressure_domain {
    bool is_known; /* the timeline has rows of it; else there is nothing below but peak_bytes */
    int64_t peak_bytes;  /* after an instant has settled, as the curve says */
    int64_t peak_at_ns;  /* the first time */
    int64_t peak_for_ns; /* in all */
    byte_ns integral;    /* of the curve from 0 to the makespan */
    /* The largest at the first peak, by size, then as they were acquired: rows of timeline->holds. */
    size_t holders[PRESSURE_HOLDERS];
    uint32_t n_holders;
    uint64_t n_held;    /* all that were held then */
    int64_t held_bytes; /* their bytes, which make up the peak */
    /* Staging: bytes that a copy node needs beside its object. */
    uint64_t n_stagings;
    int64_t staging_longest_ns;
    weir_node staging_longest; /* none without staging */
    int64_t staging_ns;        /* lifetimes summed; INT64_MAX when past it */
    byte_ns staging_integral;  /* staging pressure-time */
};

/** Finds them, by domain, malloc'ed: rows of pressure and holds are read twice.
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status pressure_find(const struct graph *graph,
                                          const struct timeline *timeline,
                                          struct pressure_domain **out, struct weir_error *err);

/** Is the hold staging of its node, and not workspace? Bytes without an object are staging when they
 *  are as many as the node's staging and lie where that does. */
bool pressure_is_staging(const struct graph *graph, const struct timeline_hold *hold);

/** In decimal. */
#define BYTE_NS_TEXT 48
void byte_ns_text(byte_ns value, char out[BYTE_NS_TEXT]);
/** For people: 1.5 GB s. */
void byte_ns_show(byte_ns value, char out[BYTE_NS_TEXT]);

#endif
