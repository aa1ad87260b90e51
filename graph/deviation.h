/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the end of an action is from its plan, in four parts that add up to it exactly: each is
 * what was, less what was planned. */
#ifndef WEIR_GRAPH_DEVIATION_H
#define WEIR_GRAPH_DEVIATION_H

#include <stdint.h>

struct deviation {
    int64_t dependency_ns; /* what it waits for was over so much later */
    int64_t submission_ns; /* and after that nobody had come to it for so long */
    int64_t queue_ns;      /* and after that it did not begin for so much longer */
    int64_t stretch_ns;    /* and it took so much longer */
};

/** The sum: the real finish less the planned. */
static inline int64_t deviation_ns(const struct deviation *parts)
{
    return parts->dependency_ns + parts->submission_ns + parts->queue_ns + parts->stretch_ns;
}

/** What the action did itself: the sum without what came before it. */
static inline int64_t deviation_own_ns(const struct deviation *parts)
{
    return parts->submission_ns + parts->queue_ns + parts->stretch_ns;
}

#endif
