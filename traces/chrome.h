/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines in the JSON that chrome://tracing began and ui.perfetto.dev reads, several in one file so
 * that they stand one below the other.
 *
 * What readers of the format need, and what is always true here:
 * - times are microseconds with three decimals, from the beginning of the run;
 * - a timeline is a process; an engine is a thread of it, with more lanes ("NAME (2)") where slices
 *   would overlap, so that slices of one thread never do;
 * - a slice of length zero is drawn a nanosecond long, on a lane for such slices ("NAME (instants)"),
 *   where those of one instant follow each other; the true times are among its arguments;
 * - an arrow begins inside the producer's slice and ends inside the consumer's, and not before. */
#ifndef WEIR_TRACES_CHROME_H
#define WEIR_TRACES_CHROME_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "traces/writer.h"

struct chrome_timeline {
    const char *label; /* of the process */
    const struct graph *graph;
    const struct timeline *timeline;
    const struct binding *binding; /* of the graph, for arrows of implied edges; NULL: none */
    const weir_node *chain; /* the realized critical chain, repeated on a thread of its own */
    uint32_t n_chain;
};

struct chrome_options {
    int64_t from_ns, to_ns; /* slices that reach into this window are kept, whole */
    uint64_t limit_events;  /* no more than this */
    bool has_arrows;
};

struct chrome_options chrome_default(void); /* everything, a million events, arrows */

struct chrome_result {
    uint64_t n_events;
    uint64_t n_slices, n_counters, n_arrows;
    uint64_t n_arrows_left_out; /* for the limit, or because no slice could hold an end of it */
};

/** Writes the timelines as one JSON object. Arrows are left out, kind by kind (implied, given, then
 *  induced edges), when they pass the limit; WEIR_USAGE when slices and counters alone do, saying
 *  how many there are; WEIR_MEMORY. Failures of the writer wait for writer_end. */
MUST_CHECK enum weir_status chrome_write(struct writer *writer,
                                         const struct chrome_timeline *timelines,
                                         uint32_t n_timelines, const struct chrome_options *options,
                                         struct chrome_result *result, struct weir_error *err);

#endif
