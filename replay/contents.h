/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a plan: the buffers that stand for copies of objects, and what each action must find
 * in them and leaves there.
 *
 * An object that has aliases is cut into stretches where one of them begins or ends: a node that
 * writes an alias changes the contents of its stretches alone. What a stretch holds is a tag, a hash
 * of the object, the node that wrote it and the tags that the node read; copies carry tags along. So
 * data that comes from the wrong node, or too early, or too late, has another tag. */
#ifndef WEIR_REPLAY_CONTENTS_H
#define WEIR_REPLAY_CONTENTS_H

#include "graph/bind.h"
#include "graph/timeline.h"
#include "replay/device.h"

struct contents;

/** Works out stretches and tags for the nodes that started in the plan. @param arena owns the
 *  result. WEIR_MEMORY */
MUST_CHECK enum weir_status contents_make(const struct binding *binding,
                                          const struct timeline *plan, struct arena *arena,
                                          struct contents **out, struct weir_error *err);

/** Lays the stretches out, each its size times the scale and at least 64 bytes, and makes a buffer
 *  for each copy of the binding, with the same number. @param step_of by node: steps of allocations
 *  and reclamations that run, WEIR_NONE for nodes that do not */
MUST_CHECK enum weir_status contents_lay_out(struct contents *contents, double scale_bytes,
                                             const uint32_t *step_of, struct arena *arena,
                                             struct device_buffer **out, uint32_t *n_buffers,
                                             struct weir_error *err);

/** What a node reads, writes and uses, after contents_lay_out: fills those fields of the step. A
 *  copy node's reads and writes are its two sides. */
MUST_CHECK enum weir_status contents_fill_step(const struct contents *contents, weir_node node,
                                               struct arena *arena, struct step *step,
                                               struct weir_error *err);

#endif
