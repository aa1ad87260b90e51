/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a device works right now: what turns a planned duration into an amount of work. */
#ifndef WEIR_REPLAY_RATES_H
#define WEIR_REPLAY_RATES_H

#include "replay/measure.h"

/* Copies are measured through buffers of these sizes, since caches make small ones faster. */
#define RATES_POINTS 8
extern const int64_t rates_sizes[RATES_POINTS];

struct rates_direction {
    struct measure_direction direction; /* domains none: of copies that name none */
    uint32_t n_points; /* the first of rates_sizes that were measured, at least 1 */
    struct measure_rate at[RATES_POINTS];
};

struct rates {
    struct measure_rate work[STEP_WORKS]; /* unit_ns 0: not measured, not needed */
    struct rates_direction *directions;   /* malloc'ed */
    uint32_t n_directions;
    double footprint_bytes; /* as needed */
};

/* What a plan needs. */
struct rates_needs {
    bool has_work[STEP_WORKS];
    struct rates_direction *directions; /* without the rates: malloc'ed */
    uint32_t n_directions;
    double footprint_bytes; /* of all buffers that copies use */
};

/** Measures what is needed, in a second or two at most. The caller frees with rates_free. */
MUST_CHECK enum weir_status rates_measure(const struct device_ops *ops,
                                          const struct rates_needs *needs,
                                          void (*progress)(void *arg, double part),
                                          void *progress_arg, struct rates *out,
                                          struct weir_error *err);
void rates_free(struct rates *rates);

/** Adds a direction to the needs unless it is there, with points for buffers of up to that size. */
MUST_CHECK enum weir_status rates_need_copy(struct rates_needs *needs, struct place from,
                                            struct place to, int64_t window_bytes,
                                            struct weir_error *err);
void rates_needs_free(struct rates_needs *needs);

/** The rate of copies in that direction through buffers of that size, for amounts of at least one
 *  pass; it must have been needed. Between two sizes that were measured the size says which part of
 *  the duration of a pass counts, and its logarithm which part of the rate of further passes. */
struct measure_rate rates_copy(const struct rates *rates, weir_domain from, weir_domain to,
                               int64_t window_bytes);
/** How long one pass through such a buffer takes. */
double rates_pass_ns(const struct rates *rates, weir_domain from, weir_domain to,
                     int64_t window_bytes);
/** The largest buffer, up to @p most_bytes, through which one pass takes no longer than that;
 *  0 when none does. */
int64_t rates_fitting_bytes(const struct rates *rates, weir_domain from, weir_domain to,
                            double duration_ns, int64_t most_bytes);

#endif
