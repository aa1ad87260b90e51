/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the repeats are from each other. */
#include <math.h>
#include <stdlib.h>

#include "replay/fit.h"
#include "replay/runner.h"

static void find_interval(double *makespans_ns, uint32_t n, struct replay_spread *spread)
{
    struct weir_error err;
    struct fit_ratio fit;

    for (uint32_t i = 0; i < n; i++)
        makespans_ns[i] = log(makespans_ns[i]);
    if (fit_ratio(makespans_ns, n, &fit, &err) == WEIR_OK) {
        spread->low_ns = llround(fit.interval.low);
        spread->high_ns = llround(fit.interval.high);
    }
}

struct replay_spread replay_spread_of(const struct replay_result *result)
{
    struct replay_spread spread = {.least_ns = INT64_MAX};
    double *makespans_ns = malloc((result->n_samples + (size_t)1) * sizeof *makespans_ns);
    uint32_t n = 0;

    spread.median_ns = result->samples[result->median_sample].makespan_ns;
    for (uint32_t i = 0; i < result->n_samples; i++) {
        int64_t ns = result->samples[i].makespan_ns;

        if (result->samples[i].is_warm_up)
            continue;
        spread.least_ns = ns < spread.least_ns ? ns : spread.least_ns;
        spread.greatest_ns = ns > spread.greatest_ns ? ns : spread.greatest_ns;
        if (makespans_ns != NULL)
            makespans_ns[n++] = (double)ns;
    }
    if (makespans_ns != NULL && spread.median_ns > 0 && n > 0)
        spread.quartiles_ratio =
            (fit_quantile(makespans_ns, n, 0.75) - fit_quantile(makespans_ns, n, 0.25)) /
            (double)spread.median_ns;
    if (makespans_ns != NULL && spread.least_ns > 0)
        find_interval(makespans_ns, n, &spread);
    free(makespans_ns);
    return spread;
}
