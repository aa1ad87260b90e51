/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models of how much longer a node takes beside others, fitted to what was measured of few, and judged
 * by sets that the fit never saw. The simulator has the same models, with powers in quarters. */
#ifndef WEIR_REPLAY_FAMILIES_H
#define WEIR_REPLAY_FAMILIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "replay/fit.h"

#define FAMILIES_CLASSES 7
#define FAMILIES_RESOURCES 5

enum family { FAMILY_PAIRWISE, FAMILY_SHARE, FAMILY_ROOFLINE };
#define FAMILIES 3

/* What is known of the classes before a fit. */
struct families_demands {
    uint32_t n_classes, n_resources;
    /* The part of a resource's capacity that a node of the class asks for alone, 0 to 1. */
    double parts[FAMILIES_CLASSES][FAMILIES_RESOURCES];
    /* Of a copy one demand is not known by its bytes alone, since each may be moved more than once: on
     * which resource; UINT32_MAX: on none. A weight is fitted, which multiplies it, up to 1. */
    uint32_t weighted[FAMILIES_CLASSES];
    double factors[FAMILIES_CLASSES]
                  [FAMILIES_CLASSES]; /* [slowed][beside]: of pairs, as measured */
};

/* A node of one class beside others. */
struct families_set {
    uint32_t slowed;
    uint32_t n_beside[FAMILIES_CLASSES]; /* by class */
    double kappa;                        /* measured: how many times longer */
    double sigma;                        /* of its logarithm */
    size_t block; /* measurements that have something in common; counts up from 0 */
};

/* What was fitted, with 95 % intervals. */
struct families_model {
    double power; /* in quarters */
    struct fit_interval power_range;
    double power_deviation; /* of its logarithm less 1, from the covariance */
    double eta[FAMILIES_RESOURCES], share_eta[FAMILIES_RESOURCES];
    struct fit_interval eta_range[FAMILIES_RESOURCES], share_range[FAMILIES_RESOURCES];
    /* 1 where there is none */
    double weight[FAMILIES_CLASSES], share_weight[FAMILIES_CLASSES];
    struct fit_interval weight_range[FAMILIES_CLASSES], share_weight_range[FAMILIES_CLASSES];
    uint32_t n_sets; /* that were fitted */
};

/* How far a family is from sets that it was not fitted to. */
struct families_error {
    double mean, median, p95; /* of |log(predicted / measured)| */
};

/** Fits both models. WEIR_INPUT when none fits, or too few blocks; WEIR_MEMORY */
MUST_CHECK enum weir_status families_fit(const struct families_demands *demands,
                                         const struct families_set *sets, uint32_t n_sets,
                                         struct families_model *out, struct weir_error *err);
/** How many times longer it takes by the family. */
double families_kappa(const struct families_demands *demands, const struct families_model *model,
                      enum family family, const struct families_set *set);
/** The errors on those sets, which should not be among those that were fitted. */
MUST_CHECK enum weir_status families_judge(const struct families_demands *demands,
                                           const struct families_model *model,
                                           const struct families_set *sets, uint32_t n_sets,
                                           struct families_error out[FAMILIES],
                                           struct weir_error *err);
/** The family of least mean error; of equal ones the first. */
enum family families_best(const struct families_error errors[FAMILIES]);
const char *families_name(enum family family);
/** What a node of the class asks of the resource, as the family has it, which is not pairwise. */
double families_part(const struct families_demands *demands, const struct families_model *model,
                     enum family family, uint32_t class_, uint32_t resource);

#endif
