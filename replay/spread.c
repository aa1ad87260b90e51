/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay/spread.h"

#include <math.h>
#include <stdlib.h>

#include "replay/fit.h"

/* @param sorted in ascending order */
static enum weir_status find_interval(double *sorted, size_t n, struct spread *out,
                                      struct weir_error *err)
{
    struct fit_ratio fit;

    for (size_t i = 0; i < n; i++)
        sorted[i] = log(sorted[i] + 1); /* a time may be 0 */
    if (fit_ratio(sorted, n, &fit, err) != WEIR_OK)
        return err->status;
    out->has_interval = true;
    out->low_ns = llround(fit.interval.low - 1);
    out->high_ns = llround(fit.interval.high - 1);
    return WEIR_OK;
}

enum weir_status spread_find(const int64_t *values_ns, size_t n, struct spread *out,
                             struct weir_error *err)
{
    double *values = malloc((n + 1) * sizeof *values);
    double width_ns;
    enum weir_status status = WEIR_OK;

    if (values == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)values_ns[i];
    width_ns = fit_quantile(values, n, 0.75) - fit_quantile(values, n, 0.25); /* sorts them */
    *out = (struct spread){.least_ns = (int64_t)values[0],
                           .median_ns = (int64_t)values[(n - 1) / 2],
                           .greatest_ns = (int64_t)values[n - 1]};
    if (out->median_ns > 0)
        out->quartiles_ratio = width_ns / (double)out->median_ns;
    if (n >= FIT_FEWEST_BLOCKS)
        status = find_interval(values, n, out, err);
    free(values);
    return status;
}
