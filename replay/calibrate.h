/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures a device and writes what was measured as a machine. */
#ifndef WEIR_REPLAY_CALIBRATE_H
#define WEIR_REPLAY_CALIBRATE_H

#include "replay/families.h"
#include "replay/measure.h"

/* What is measured: the engines of a machine, and of the computing one the classes of nodes that do
 * other work on it. */
enum calibrate_class {
    CALIBRATE_COMPUTE, /* engine sm: multiply-add loops */
    CALIBRATE_STREAM,  /* class stream on it: streaming reads */
    CALIBRATE_CACHE,   /* class cache: reads of what stays in a cache */
    CALIBRATE_MIX,     /* class mix: bytes that are read, reckoned with and written */
    CALIBRATE_H2D,
    CALIBRATE_D2H,
    CALIBRATE_D2D
};
#define CALIBRATE_CLASSES 7

/* What classes share. Its capacity is what the class that asks for most of it has alone. */
enum calibrate_resource {
    CALIBRATE_ISSUE,      /* arithmetic */
    CALIBRATE_MEMORY,     /* what copies within it, and class mix, read and write counts twice */
    CALIBRATE_CACHE_PORT, /* what the cache gives out: all that passes the memory passes it too */
    CALIBRATE_H2D_LINK,
    CALIBRATE_D2H_LINK
};
#define CALIBRATE_RESOURCES 5

/* Beside pairs: each class beside two of one class, and beside three of its own, which are fitted; and
 * beside two of different classes, a quarter of all, drawn by a seed, which no fit sees. Three of every
 * class would be half as many sets again, and tell of resources only what two and four of one class do. */
#define CALIBRATE_UNSEEN 37
#define CALIBRATE_SETS \
    (CALIBRATE_CLASSES * CALIBRATE_CLASSES + CALIBRATE_CLASSES + CALIBRATE_UNSEEN)

struct calibrate_set {
    enum calibrate_class slowed;
    uint32_t n_beside[CALIBRATE_CLASSES]; /* by class */
    bool is_unseen;
    struct measure_kappa kappa;
};

/* A figure is noisy, and a simulation with it not to be trusted, from here on. */
#define CALIBRATE_NOISY_SPREAD 0.10    /* of one measurement about the figure */
#define CALIBRATE_NOISY_WIDTH 0.10     /* of half of its 95 % interval */
#define CALIBRATE_NOISY_PREEMPTED 0.25 /* part of the measurements that lost their processor */

struct calibrate_options {
    uint32_t n_repeats;  /* of each size and each pair: FIT_FEWEST_BLOCKS or more */
    bool has_contention; /* measure pairs too, which needs two processors, and sets of more, which
                            needs a processor for each */
    /* Told how much of the work is done, 0 to 1; NULL: nobody is. */
    void (*progress)(void *arg, double part);
    void *progress_arg;
};

struct calibrate_options calibrate_default(void);

struct calibration {
    const struct device_ops *ops;
    struct device_info info;
    struct measure_condition before, after;       /* all measurements */
    struct measure_rate rates[CALIBRATE_CLASSES]; /* copies: duration = latency + bytes * unit_ns */
    bool has_kappa;
    struct measure_kappa kappas[CALIBRATE_CLASSES][CALIBRATE_CLASSES]; /* [slowed][beside] */
    uint32_t n_noisy;                                                  /* figures that are */

    struct calibrate_set sets[CALIBRATE_SETS];
    uint32_t n_sets, n_unseen; /* n_unseen: that ran at once, and judge the families */
    bool is_fitted; /* models to pairs and sets; else only the factors of pairs are known */
    struct families_demands demands;
    struct families_model model;
    /* On sets that no fit saw; of pairwise also when nothing was fitted, if there are any. */
    struct families_error errors[FAMILIES];
    struct families_choice choice; /* of what was fitted */
};

/** Measures. WEIR_DEVICE when the device is not there, fails, or is too busy for any figure. */
MUST_CHECK enum weir_status calibrate_measure(const char *device,
                                              const struct calibrate_options *options,
                                              struct calibration *out, struct weir_error *err);
/** The machine: two domains, an engine for work and one for each direction of copies, contention.
 *  Each figure has its evidence. The caller frees *out. */
MUST_CHECK enum weir_status calibrate_machine(const struct calibration *calibration,
                                              struct graph **out, struct weir_error *err);

/* Of a resource: its name in the machine, the class that asks for most of it alone, and how much that is
 * a second, which is all there is. */
const char *calibrate_resource_name(enum calibrate_resource);
enum calibrate_class calibrate_fullest(const struct calibration *calibration,
                                       enum calibrate_resource);
double calibrate_capacity(const struct calibration *calibration, enum calibrate_resource);
/** The family that a simulation takes: of those that are known the best. */
enum family calibrate_family(const struct calibration *calibration);
/* Of a class: its name in the machine. */
const char *calibrate_class_name(enum calibrate_class);
bool calibrate_is_noisy(const struct measure_noise *noise);
/** 0 to 1, from the noise alone. */
double calibrate_confidence(const struct measure_noise *noise);

/* A rate as people know it: amounts a second of the class's unit (operations or bytes). */
struct calibrate_rate {
    double per_s;
    struct fit_interval range_per_s;
};
struct calibrate_rate calibrate_rate_of(const struct calibration *calibration,
                                        enum calibrate_class);

#endif
