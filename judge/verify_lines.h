/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the check of dispatch does not move with time: the order of nodes as numbers, the lines in which
 * they stand, and, for each line and domain, a shelf for those that lack bytes of it.
 *
 * Nodes of one engine that may overlap the same others stand in one line, in dispatch order: what keeps
 * one of them from starting, but for bytes, keeps all. */
#ifndef WEIR_JUDGE_VERIFY_LINES_H
#define WEIR_JUDGE_VERIFY_LINES_H

#include "judge/verify_internal.h"

enum { NOT_READY, WAITING, LACKING, GONE };

/* Nodes of a line that may lack bytes of a domain, in dispatch order: needs of leaves that wait there,
 * INT64_MAX of others, and of each vertex the least below it. */
struct shelf {
    uint32_t domain, n;
    size_t leaves; /* a power of two, n at least */
    int64_t *least;
    uint32_t *nodes; /* by leaf */
};

struct line {
    uint32_t engine;   /* NONE */
    uint32_t any_node; /* stands for all, when it comes to overlaps */
    bool is_lengthless;
    uint32_t first, n; /* its nodes: in_line[first], in dispatch order */
    uint32_t *heap;    /* ranks of those that are ready and have not been looked at */
    size_t heap_room;
    uint32_t n_heap;
    struct shelf *shelves;
    size_t shelves_room;
    uint32_t n_shelves;
    uint32_t candidate; /* rank of the first that could start when it was last looked; NONE */
    bool is_dirty;
};

struct list {
    uint32_t *items, n;
    size_t room;
};

struct dispatch {
    struct verify *verify;
    uint32_t *rank, *by_rank; /* of each node, and back */
    uint32_t *line_of, *in_line;
    uint8_t *state;
    uint32_t *lacks; /* by node: the shelf of its line on which it stands */
    struct line *lines;
    size_t lines_room;
    uint32_t n_lines;
    int64_t *free_slots, *free_bytes;
    struct apart pairs;
    uint32_t *key_first, *key_lines;       /* by key of pairs: the lines whose nodes have it */
    struct list *lacking;                  /* by domain: the lines with a shelf for it */
    bool *has_begun;                       /* by copy */
    uint32_t *beginners_first, *beginners; /* by copy: who might begin it */
    uint32_t *engine_first, *engine_lines; /* by engine */
    uint32_t *dirty, n_dirty;
    uint32_t *heads,
        n_heads; /* lines with a candidate, a heap by its rank; one may be there twice */
    size_t heads_room;
    struct event *events; /* verify_dispatch.c */
    size_t events_room, n_events;
    struct verify_need *needs;
    bool is_loose; /* in this instant who came first cannot be told */
    bool *is_told; /* by node: told to have stood idle */
    size_t at_late, at_way;
};

/* --- verify_lines.c --- */
MUST_CHECK enum weir_status lines_rank(struct dispatch *dispatch);
MUST_CHECK enum weir_status lines_make(struct dispatch *dispatch);
MUST_CHECK enum weir_status lines_list_beginners(struct dispatch *dispatch);
void lines_free(struct dispatch *dispatch);

/* --- verify_shelves.c --- */
/** A heap of ranks, the least at the root. */
MUST_CHECK enum weir_status ranks_push(uint32_t **heap, size_t *room, uint32_t *n, uint32_t value,
                                       struct weir_error *err);
void ranks_pop(uint32_t *heap, uint32_t *n);
/** The node lacks bytes of the domain: it stands on the line's shelf for it, with what it needs. */
MUST_CHECK enum weir_status lines_set_aside(struct dispatch *dispatch, struct line *line,
                                            uint32_t node, uint32_t domain, int64_t need_bytes);
/** It stands there no more. */
void lines_take_down(struct dispatch *dispatch, uint32_t node);
/** It needs so much now. */
void lines_set_need(const struct dispatch *dispatch, struct shelf *shelf, uint32_t node,
                    int64_t value);
/** The first on the shelf that needs no more than that; NONE. */
uint32_t lines_first_covered(const struct shelf *shelf, int64_t bytes);

#endif
