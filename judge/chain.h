/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The realized critical chain: from the last finish back through what really bound each start. */
#ifndef WEIR_JUDGE_CHAIN_H
#define WEIR_JUDGE_CHAIN_H

#include "judge/bound.h"
#include "store/store.h"

/** Walks back from the node that finished last (of several, the one that started last).
 *
 *  A node that waited was bound by what gave way last, its blocker: an engine's slot, bytes, the end
 *  of a forbidden overlap. One that started when it was ready was bound by the producer whose edge
 *  made it ready last, by its release, or, a fallback, by the window of the node it stands in for;
 *  and so was one that a policy held, from when it was ready on.
 *
 *  Each link reaches from where the link before it ends to where its own node let the next one go:
 *  its finish, or its start, when the edge leaves that. The first begins at 0: their lengths add up
 *  to the makespan exactly. cause is begin, release, predecessor,
 *  engine, capacity, overlap, admission, window, or unknown, when the timeline does not tell.
 *
 *  @param binding of the graph that ran, for its implied edges
 *  @param links  the caller frees them; none when nothing ran
 *  @return WEIR_OK; WEIR_MEMORY */
MUST_CHECK enum weir_status chain_find(const struct binding *binding,
                                       const struct timeline *timeline, struct run_link **links,
                                       size_t *n_links, struct weir_error *err);
/** The same, where an index is there already. */
MUST_CHECK enum weir_status chain_walk(const struct bound_index *index, struct run_link **links,
                                       size_t *n_links, struct weir_error *err);

#endif
