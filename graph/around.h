/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest ways around each place of a network, all of them together in n log n: what is left of
 * the whole when one place alone takes less.
 *
 * A place has a start and a finish. A way leads from a release into a start, from a start to its
 * finish, and along edges from a start or a finish to another start; it ends at a finish. Into a start
 * it may wait; its length is all the time that it takes, from 0. */
#ifndef WEIR_GRAPH_AROUND_H
#define WEIR_GRAPH_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

#define AROUND_FROM_START 0x80000000u
#define AROUND_NO_WAY (INT64_MIN / 4)

/* What happened, by place: in an order in which each place comes after what it follows. Every start
 * is no earlier than the edges and the release into it allow. All of it is the caller's. */
struct around_network {
    uint32_t n_places; /* below AROUND_FROM_START */
    const uint32_t
        *first; /* its edges are from[first[p]] up to the next one's; one more ends the last */
    const uint32_t *from;      /* place of the producer, or'ed with AROUND_FROM_START */
    const int64_t *lag_ns;     /* by edge; NULL when all are 0 */
    const int64_t *release_ns; /* NULL when all are 0 */
    const int64_t *ready_ns;   /* what it follows is over; NULL: each starts then */
    const int64_t *start_ns;
    const int64_t *length_ns;
    const bool *is_passage; /* its finish ends no way; NULL: no place is */
};

/* The longest ways on from a place to an end. */
struct around_onward {
    int64_t from_start_ns;  /* over edges from its start alone; AROUND_NO_WAY */
    int64_t from_finish_ns; /* over edges from its finish, or 0 to the end there; AROUND_NO_WAY */
};

struct around {
    int64_t end_ns;               /* the last finish: the longest way of all */
    struct around_onward *onward; /* by place */
    int64_t *around_ns;           /* by place: the longest way that does not come through it;
                                     AROUND_NO_WAY when all do */
};

/** Finds them. WEIR_MEMORY. The caller frees with around_free. */
MUST_CHECK enum weir_status around_find(const struct around_network *network, struct around *out,
                                        struct weir_error *err);
void around_free(struct around *around);

/** The longest way of all when the place alone is started and takes as long as this.
 *  @param start_ns @param length_ns 0 or more */
int64_t around_end_ns(const struct around *around, uint32_t place, int64_t start_ns,
                      int64_t length_ns);

#endif
