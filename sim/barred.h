/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ready nodes that wait because a forbidden overlap would arise. Nodes of one kind (of one class, and
 * named by no overlap line) are held back by the same running nodes. A kind stands under one of the
 * keys that hold it back and costs nothing until no running node has that key. When nothing holds it
 * back any more it is awake, and the first of its nodes on each engine may try again; the next may
 * when that one has started and still nothing holds them back, for else it would try in vain. */
#ifndef WEIR_SIM_BARRED_H
#define WEIR_SIM_BARRED_H

#include "sim/simulate_internal.h"

struct barred_kind {
    uint32_t node;         /* one of those that wait: what holds it back holds back all */
    uint32_t shelf;        /* the first of its shelves, plus one; 0: none */
    uint32_t next;         /* kind that stands under the same key, plus one */
    uint32_t ended;        /* while it is awake: the node whose end woke it */
    bool is_standing;      /* under a key */
    bool is_awake;         /* woken in this instant: nothing held it back when time came to start */
    struct waiting singly; /* those that each try again when the kind is woken */
};

/* Nodes of one kind and one engine that take their turns from each other. */
struct barred_shelf {
    uint32_t engine;
    uint32_t root; /* of a tree in simulation.shelves */
    uint32_t next; /* of the same kind, plus one */
    uint32_t kind;
    uint32_t next_awake; /* of the same engine, plus one */
};

struct barred {
    bool takes_turns;   /* nothing looks at those that wait: no policy, no window that closes */
    bool has_room;      /* no node ever lacks bytes */
    uint32_t *standing; /* by key: the first kind under it, plus one */
    struct barred_kind *kinds;
    uint32_t n_kinds;
    struct barred_shelf *shelves;
    size_t shelves_room;
    uint32_t n_shelves;
    uint32_t *awake; /* kinds */
    size_t awake_room;
    uint32_t n_awake;
    bool has_reached;         /* someone's turn has come since kinds were woken */
    struct candidate reached; /* the last of those in dispatch order: all before had theirs */
};

/** For the pairs of sim->forbidden. */
MUST_CHECK enum weir_status barred_new(struct simulation *sim);
void barred_free(struct simulation *sim);
size_t barred_memory_bytes(const struct barred *barred);
/** The candidate, whose turn has come, must not overlap a node that runs. */
MUST_CHECK enum weir_status barred_add(struct simulation *sim, struct candidate candidate);
/** The node has ended: those may try again that must not overlap it, and no other that runs. */
MUST_CHECK enum weir_status barred_end(struct simulation *sim, uint32_t node);
/** The node has started, while some kind is awake: the turn of the next of its kind has come, if
 *  nothing holds it back; or its engine has no slot left for those that were woken. */
MUST_CHECK enum weir_status barred_started(struct simulation *sim, uint32_t node);
/** All that could start has started: who is held back again stands under a key. */
void barred_settle(struct simulation *sim);

/** The candidate's turn has come. */
static inline void barred_turn(struct barred *barred, const struct candidate *candidate)
{
    if (barred->n_awake > 0 &&
        (!barred->has_reached || candidate_before(&barred->reached, candidate))) {
        barred->reached = *candidate;
        barred->has_reached = true;
    }
}

#endif
