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

/* A power is fixed where the sets do not tell it: its interval spans more than so many times, or the
 * fit is ill-conditioned. From a condition number of 30 on parameters can stand for each other to a degree
 * that harms (D. Belsley, E. Kuh, R. Welsch, Regression Diagnostics, 1980, section 3.2). */
#define FAMILIES_POWER 3.0 /* fixed to this, at which it is held weakly in a fit too */
#define FAMILIES_MOST_SPAN 2.0
#define FAMILIES_MOST_CONDITION 30.0
enum families_power { FAMILIES_POWER_FITTED, FAMILIES_POWER_WIDE, FAMILIES_POWER_ILL };

/* What was fitted, with 95 % intervals. */
struct families_model {
    double power;                    /* in quarters */
    struct fit_interval power_range; /* as it was fitted, also where it was fixed then */
    enum families_power power_basis;
    double condition, share_condition; /* of both fits, of a roofline's with its power: see
                                          fit_curve.h */
    double eta[FAMILIES_RESOURCES], share_eta[FAMILIES_RESOURCES];
    struct fit_interval eta_range[FAMILIES_RESOURCES], share_range[FAMILIES_RESOURCES];
    /* 1 where there is none */
    double weight[FAMILIES_CLASSES], share_weight[FAMILIES_CLASSES];
    struct fit_interval weight_range[FAMILIES_CLASSES], share_weight_range[FAMILIES_CLASSES];
    uint32_t n_sets; /* that were fitted */
};

/* How far a family is from sets that it was not fitted to; and what it takes to be as near as it is to
 * those that it was. */
struct families_error {
    double mean, median, p95; /* of |log(predicted / measured)| */
    uint32_t n_parameters;    /* that were taken from the sets that were fitted */
    double aicc; /* Akaike's criterion on these: less is better; INFINITY: too many parameters */
};

/* In what the best family is better than another. */
enum families_basis { FAMILIES_BEST, FAMILIES_BY_MEDIAN, FAMILIES_BY_P95, FAMILIES_BY_AICC };

struct families_choice {
    enum family best;
    uint32_t rank[FAMILIES]; /* from 1, the best */
    enum families_basis basis[FAMILIES];
};

/** Fits both models. WEIR_INPUT when none fits, or too few blocks; WEIR_MEMORY */
MUST_CHECK enum weir_status families_fit(const struct families_demands *demands,
                                         const struct families_set *sets, uint32_t n_sets,
                                         struct families_model *out, struct weir_error *err);
/** How many times longer it takes by the family. */
double families_kappa(const struct families_demands *demands, const struct families_model *model,
                      enum family family, const struct families_set *set);
/** The errors on sets that should not be among those that were fitted, and the criterion on these. */
MUST_CHECK enum weir_status families_judge(const struct families_demands *demands,
                                           const struct families_model *model,
                                           const struct families_set *fitted, uint32_t n_fitted,
                                           const struct families_set *unseen, uint32_t n_unseen,
                                           struct families_error out[FAMILIES],
                                           struct weir_error *err);
/** The order of the families that were judged so: by the median error; where two do not differ in it by
 *  more than chance, by the 95th percentile; where they do not differ in that either, by the criterion.
 *  The same sets give the same order. WEIR_MEMORY */
MUST_CHECK enum weir_status families_choose(const struct families_demands *demands,
                                            const struct families_model *model,
                                            const struct families_set *unseen, uint32_t n_unseen,
                                            const struct families_error errors[FAMILIES],
                                            struct families_choice *out, struct weir_error *err);
const char *families_name(enum family family);
const char *
families_basis_name(enum families_basis basis); /* "median", "p95", "aicc"; of the best "" */
/** What a node of the class asks of the resource, as the family has it, which is not pairwise. */
double families_part(const struct families_demands *demands, const struct families_model *model,
                     enum family family, uint32_t class_, uint32_t resource);

#endif
