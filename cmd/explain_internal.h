/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of weir explain share. */
#ifndef WEIR_CMD_EXPLAIN_INTERNAL_H
#define WEIR_CMD_EXPLAIN_INTERNAL_H

#include "cmd/explained.h"
#include "judge/why.h"

#define EXPLAIN_BACK 5 /* nodes of the way back that are shown */

/* A copy that the node touches, with the hold of its bytes meanwhile. */
struct explain_copy {
    struct bind_copy copy;
    uint32_t roles; /* enum bind_role */
    size_t hold;    /* of the timeline; SIZE_MAX: none is recorded */
};

/* What is found about one node. */
struct explain_node {
    const struct explained *explained;
    weir_node node;
    const struct timeline_span *span;
    bool has_started;
    bool is_on_chain;
    struct why why;
    struct bound
        back[EXPLAIN_BACK]; /* of the node that bound it, of the one that bound that, ... */
    weir_node back_of[EXPLAIN_BACK];
    uint32_t n_back;
    struct overlap_beside *beside;
    size_t n_beside;
    struct explain_copy *copies;
    size_t n_copies;
    struct gave_way *way; /* when it gave way; NULL */
    struct gave_way *ways;
    size_t n_ways;
    size_t n_rows; /* of what ran beside it, and of its waits, that are shown */
};

/** @param explained with its index and chain  @return WEIR_OK; WEIR_MEMORY. The caller frees with
 *  explain_node_free, also after a failure. */
MUST_CHECK enum weir_status explain_node_find(const struct explained *explained, weir_node node,
                                              size_t n_rows, struct explain_node *out,
                                              struct weir_error *err);
void explain_node_free(struct explain_node *of);

/* explain_node_json.c, explain_node_text.c */
void explain_node_json(const struct explain_node *of);
void explain_node_text(const struct explain_node *of);

/** "reads", "fills", ... for each role of a copy, in turn; NULL after the last. @param at from 0 */
const char *explain_role(uint32_t roles, int at);

#endif
