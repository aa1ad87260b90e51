/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast nodes run beside each other. Nodes that always run at one speed are a group: of one class
 * under pairwise contention, with one set of resources under share, with equal demands under a
 * roofline. */
#ifndef WEIR_JUDGE_VERIFY_SPEEDS_H
#define WEIR_JUDGE_VERIFY_SPEEDS_H

#include "graph/measured.h"
#include "judge/verify_internal.h"

/* A `kappa` line: a node of `slowed` runs factor times longer for each of `beside`. */
struct slowing {
    uint32_t slowed, beside;
    double factor;
};

struct speeds {
    const struct verify *verify;
    uint32_t n_groups;
    uint32_t *group_of;                 /* by node */
    uint32_t *running;                  /* by group: how many */
    double *speed;                      /* by group, of the set that runs */
    uint32_t n_running, n_running_most; /* in all, so far */

    struct slowing *slowings; /* pairwise: by slowed, in the order of the classes' first mention */
    uint32_t *slowing_first;  /* by group: slowings[slowing_first[g]] up to the next */

    uint32_t n_resources;       /* share */
    int64_t *wanted_per_s;      /* by group and resource */
    uint32_t *set_first, *sets; /* of group g: the resources sets[set_first[g]] up to the next */
    uint32_t *active;           /* groups of which some node runs */
    uint32_t n_active;
    uint32_t *active_at;               /* by group: its place among them */
    bool *is_frozen;                   /* by group */
    double *frozen_per_s, *open_per_s; /* by resource */

    struct measured measured;  /* where the machine was fitted */
    struct graph_demand *uses; /* scratch: of one node */
    int64_t *rates_per_s;      /* scratch: by resource */
    double *parts;             /* roofline: by group and resource, of its capacity */
};

MUST_CHECK enum weir_status speeds_make(const struct verify *verify, struct speeds *out);
void speeds_free(struct speeds *speeds);
void speeds_start(struct speeds *speeds, uint32_t node);
void speeds_end(struct speeds *speeds, uint32_t node);
/** Sets the speed of every active group by the set that runs now. */
void speeds_set(struct speeds *speeds);
/** By how many units in its last place a speed may differ here from the simulated one, beside those of a
 *  product over the nodes that run. */
double speeds_roundings(const struct speeds *speeds);
/** The most that a node of the group can have run at while sets change within an instant.
 *  @param least by group: how many run in every one of them  @param most in any */
double speeds_most(const struct speeds *speeds, uint32_t group, const uint32_t *least,
                   const uint32_t *most);

#endif
