/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured before each replay, on the device that runs it: a rate of another day, or of a machine
 * file, would make amounts of work that do not take as long as planned. */
#include "replay/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const int64_t rates_sizes[RATES_POINTS] = {64,      1 << 10, 16 << 10, 128 << 10,
                                           1 << 20, 4 << 20, 16 << 20, 64 << 20};

#define LONGEST_NS 400000 /* of the actions that are measured */
#define REPEATS 6         /* of each amount */
#define ROUNDS 3          /* everything is measured so often */

/* ---- what is needed ---- */

enum weir_status rates_need_copy(struct rates_needs *needs, struct place from, struct place to,
                                 int64_t window_bytes, struct weir_error *err)
{
    uint32_t n_points = 1;
    size_t room = needs->n_directions;
    enum weir_status status;

    while (n_points < RATES_POINTS && rates_sizes[n_points - 1] < window_bytes)
        n_points++;
    for (uint32_t i = 0; i < needs->n_directions; i++) {
        struct rates_direction *known = &needs->directions[i];

        if (!weir_same(known->direction.from.domain, from.domain) ||
            !weir_same(known->direction.to.domain, to.domain))
            continue;
        if (known->n_points < n_points)
            known->n_points = n_points;
        return WEIR_OK;
    }
    status = array_grow(&needs->directions, &room, (size_t)needs->n_directions + 1, err);
    if (status != WEIR_OK)
        return status;
    needs->directions[needs->n_directions++] =
        (struct rates_direction){.direction = {.from = from, .to = to}, .n_points = n_points};
    return WEIR_OK;
}

void rates_needs_free(struct rates_needs *needs)
{
    free(needs->directions);
}

void rates_free(struct rates *rates)
{
    free(rates->directions);
}

/* ---- measuring ---- */

struct progress {
    void (*tell)(void *arg, double part);
    void *arg;
    uint32_t done, of;
};

static void advance(struct progress *progress)
{
    progress->done++;
    if (progress->tell != NULL)
        progress->tell(progress->arg, (double)progress->done / progress->of);
}

/* Of two measurements of one thing the faster is less disturbed: machines are slowed down, by what
 * else runs on them, and never sped up. @param amount at which they are compared */
static void keep_faster(struct measure_rate *kept, const struct measure_rate *other, double amount)
{
    if (!measure_has_line(other))
        return;
    if (!measure_has_line(kept) ||
        other->fixed_ns + amount * other->unit_ns < kept->fixed_ns + amount * kept->unit_ns)
        *kept = *other;
}

static enum weir_status measure_work(const struct device_ops *ops, enum step_action action,
                                     struct measure_rate *kept, struct weir_error *err)
{
    const struct measure_action work = {.action = action};
    struct measure_rate rate;
    enum weir_status status =
        measure_rate(ops, &work, LONGEST_NS, REPEATS, MEASURE_LINE, &rate, err);

    if (status == WEIR_OK)
        keep_faster(kept, &rate, LONGEST_NS / rate.unit_ns);
    return status;
}

static enum weir_status measure_copying(const struct device_ops *ops,
                                        struct rates_direction *direction, struct weir_error *err)
{
    struct measure_rate rates[RATES_POINTS];
    enum weir_status status =
        measure_windows(ops, &direction->direction, rates_sizes, direction->n_points, rates, err);

    for (uint32_t p = 0; p < direction->n_points && status == WEIR_OK; p++)
        keep_faster(&direction->at[p], &rates[p], 2 * (double)rates_sizes[p]);
    return status;
}

static enum weir_status measure_round(const struct device_ops *ops, const struct rates_needs *needs,
                                      struct rates *rates, struct progress *progress,
                                      struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (int work = 0; work < STEP_WORKS && status == WEIR_OK; work++) {
        if (needs->has_work[work])
            status = measure_work(ops, (enum step_action)work, &rates->work[work], err);
    }
    advance(progress);
    for (uint32_t i = 0; i < rates->n_directions && status == WEIR_OK; i++) {
        status = measure_copying(ops, &rates->directions[i], err);
        advance(progress);
    }
    return status;
}

/* What no round could measure is not known. */
static enum weir_status check_lines(const struct device_ops *ops, const struct rates_needs *needs,
                                    const struct rates *rates, struct weir_error *err)
{
    for (int work = 0; work < STEP_WORKS; work++) {
        if (needs->has_work[work] && !measure_has_line(&rates->work[work]))
            return measure_no_line(ops, err);
    }
    for (uint32_t i = 0; i < rates->n_directions; i++) {
        for (uint32_t p = 0; p < rates->directions[i].n_points; p++) {
            if (!measure_has_line(&rates->directions[i].at[p]))
                return measure_no_line(ops, err);
        }
    }
    return WEIR_OK;
}

enum weir_status rates_measure(const struct device_ops *ops, const struct rates_needs *needs,
                               void (*progress)(void *arg, double part), void *progress_arg,
                               struct rates *out, struct weir_error *err)
{
    struct progress told = {
        .tell = progress, .arg = progress_arg, .of = ROUNDS * (needs->n_directions + 1)};
    size_t bytes = ((size_t)needs->n_directions + 1) * sizeof *out->directions;
    struct rates rates = {.directions = malloc(bytes),
                          .n_directions = needs->n_directions,
                          .footprint_bytes = needs->footprint_bytes};
    enum weir_status status = WEIR_OK;

    if (rates.directions == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < needs->n_directions; i++)
        rates.directions[i] = needs->directions[i];
    for (int round = 0; round < ROUNDS && status == WEIR_OK; round++)
        status = measure_round(ops, needs, &rates, &told, err);
    if (status == WEIR_OK)
        status = check_lines(ops, needs, &rates, err);
    if (status != WEIR_OK) {
        rates_free(&rates);
        return status;
    }
    *out = rates;
    return WEIR_OK;
}

/* ---- asking ---- */

static const struct rates_direction *find_direction(const struct rates *rates, weir_domain from,
                                                    weir_domain to)
{
    for (uint32_t i = 0; i < rates->n_directions; i++) {
        if (weir_same(rates->directions[i].direction.from.domain, from) &&
            weir_same(rates->directions[i].direction.to.domain, to))
            return &rates->directions[i];
    }
    return NULL;
}

static double pass_ns(const struct measure_rate *rate, int64_t bytes)
{
    return rate->fixed_ns + (double)bytes * rate->unit_ns;
}

/* Between two measured sizes. */
static struct measure_rate between(const struct measure_rate *below, int64_t below_bytes,
                                   const struct measure_rate *above, int64_t above_bytes,
                                   int64_t bytes)
{
    double part = (double)(bytes - below_bytes) / (double)(above_bytes - below_bytes);
    double log_part =
        log2((double)bytes / (double)below_bytes) / log2((double)above_bytes / (double)below_bytes);
    double once_ns = (1 - part) * pass_ns(below, below_bytes) + part * pass_ns(above, above_bytes);
    struct measure_rate rate = *above;

    rate.unit_ns = (1 - log_part) * below->unit_ns + log_part * above->unit_ns;
    rate.fixed_ns = once_ns - (double)bytes * rate.unit_ns;
    return rate;
}

struct measure_rate rates_copy(const struct rates *rates, weir_domain from, weir_domain to,
                               int64_t window_bytes)
{
    const struct rates_direction *direction = find_direction(rates, from, to);
    uint32_t above = 0;

    if (direction == NULL)
        return (struct measure_rate){.unit_ns = 1};
    while (above < direction->n_points && rates_sizes[above] < window_bytes)
        above++;
    if (above == 0)
        return direction->at[0];
    if (above == direction->n_points) {
        /* A longer pass takes longer in proportion. */
        struct measure_rate rate = direction->at[above - 1];

        rate.fixed_ns *= (double)window_bytes / (double)rates_sizes[above - 1];
        return rate;
    }
    return between(&direction->at[above - 1], rates_sizes[above - 1], &direction->at[above],
                   rates_sizes[above], window_bytes);
}

double rates_pass_ns(const struct rates *rates, weir_domain from, weir_domain to,
                     int64_t window_bytes)
{
    struct measure_rate rate = rates_copy(rates, from, to, window_bytes);

    return pass_ns(&rate, window_bytes);
}

int64_t rates_fitting_bytes(const struct rates *rates, weir_domain from, weir_domain to,
                            double duration_ns, int64_t most_bytes)
{
    int64_t low = 0;
    int64_t high = most_bytes;

    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;

        if (rates_pass_ns(rates, from, to, middle) <= duration_ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
