/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of every object that has aliases, cut wherever one of them begins or ends: what holds for
 * each byte range holds for each piece. An object without aliases is one piece. */
#ifndef WEIR_JUDGE_VERIFY_PIECES_H
#define WEIR_JUDGE_VERIFY_PIECES_H

#include "graph/graph.h"

struct pieces {
    weir_object *root; /* by object: who owns the bytes */
    uint32_t *first;   /* by object: the first of its pieces, among those of its root */
    uint32_t *count;   /* by object: how many; 0 of an alias without bytes */
};

/** The caller ends it with pieces_free, also when this fails. WEIR_MEMORY */
MUST_CHECK enum weir_status pieces_cut(const struct graph *graph, struct pieces *out,
                                       struct weir_error *err);
void pieces_free(struct pieces *pieces);

#endif
