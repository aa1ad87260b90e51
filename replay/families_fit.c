/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters are fitted as logarithms, and a power by the logarithm of what it is above 1, so that none
 * needs a bound. Each is held weakly where it would be if nothing were known (1, and 3 of a power): a
 * resource that no set overcommitted stays there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/families.h"
#include "replay/fit_curve.h"

#define LEAST_ETA 0.05
#define MOST_ETA 16.0
#define MOST_POWER 16.0
#define QUARTERS 4
#define NORMAL_95 1.96
#define PRIOR_SIGMA 1.0 /* of each logarithm */

static double between(double least, double value, double most)
{
    return fmin(fmax(value, least), most);
}

static bool is_weighted(const struct families_demands *demands, uint32_t class_)
{
    return demands->weighted[class_] != UINT32_MAX;
}

/* What is fitted at a time: parameters are the etas, then weights, then a power. */
struct fitting {
    const struct families_demands *demands;
    const struct families_set *sets;
    uint32_t n_sets;
    struct families_model model; /* what is not fitted */
    enum family family;
    bool has_power;
};

static size_t count_parameters(const struct fitting *fitting)
{
    size_t n = fitting->demands->n_resources;

    for (uint32_t c = 0; c < fitting->demands->n_classes; c++)
        n += is_weighted(fitting->demands, c) ? 1 : 0;
    return n + (fitting->has_power ? 1 : 0);
}

/* The model that the parameters are. */
static struct families_model model_of(const struct fitting *fitting, const double *parameters)
{
    struct families_model model = fitting->model;
    bool is_share = fitting->family == FAMILY_SHARE;
    double *eta = is_share ? model.share_eta : model.eta;
    double *weight = is_share ? model.share_weight : model.weight;
    size_t n = 0;

    for (uint32_t r = 0; r < fitting->demands->n_resources; r++)
        eta[r] = between(LEAST_ETA, exp(parameters[n++]), MOST_ETA);
    for (uint32_t c = 0; c < fitting->demands->n_classes; c++) {
        if (is_weighted(fitting->demands, c))
            weight[c] = exp(parameters[n++]);
    }
    if (fitting->has_power)
        model.power = fmin(MOST_POWER, 1 + exp(parameters[n]));
    return model;
}

static void predict(const void *context, const double *parameters, double *predicted)
{
    const struct fitting *fitting = context;
    const struct families_model model = model_of(fitting, parameters);

    for (uint32_t i = 0; i < fitting->n_sets; i++)
        predicted[i] =
            log(families_kappa(fitting->demands, &model, fitting->family, &fitting->sets[i]));
}

/* The columns that a fit wants. */
struct columns {
    double *values, *sigmas;
    size_t *blocks;
    size_t n_blocks;
};

static void columns_free(struct columns *columns)
{
    free(columns->values);
    free(columns->sigmas);
    free(columns->blocks);
}

static enum weir_status columns_make(const struct families_set *sets, uint32_t n_sets,
                                     struct columns *out, struct weir_error *err)
{
    *out = (struct columns){.values = malloc(((size_t)n_sets + 1) * sizeof *out->values),
                            .sigmas = malloc(((size_t)n_sets + 1) * sizeof *out->sigmas),
                            .blocks = malloc(((size_t)n_sets + 1) * sizeof *out->blocks)};
    if (out->values == NULL || out->sigmas == NULL || out->blocks == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < n_sets; i++) {
        out->values[i] = log(sets[i].kappa);
        out->sigmas[i] = sets[i].sigma;
        out->blocks[i] = sets[i].block;
        if (sets[i].block >= out->n_blocks)
            out->n_blocks = sets[i].block + 1;
    }
    return WEIR_OK;
}

/* What one fit gave. */
struct fitted {
    double parameters[FIT_CURVE_PARAMETERS];
    struct fit_curve_quality quality;
    struct fit_interval ranges[FIT_CURVE_PARAMETERS];
    size_t n;
};

/* What no set tells anything about is the same in every sample: its covariance knows better. */
static void widen(struct fit_interval *range, double value, double half_width)
{
    range->low = fmin(range->low, value - half_width);
    range->high = fmax(range->high, value + half_width);
}

static enum weir_status fit(const struct fitting *fitting, const struct columns *columns,
                            bool has_ranges, struct fitted *out, struct weir_error *err)
{
    double prior[FIT_CURVE_PARAMETERS] = {0};
    double prior_sigmas[FIT_CURVE_PARAMETERS];
    struct fit_curve curve = {.n_parameters = count_parameters(fitting),
                              .n_values = fitting->n_sets,
                              .predict = predict,
                              .context = fitting,
                              .values = columns->values,
                              .sigmas = columns->sigmas,
                              .prior = prior,
                              .prior_sigmas = prior_sigmas};
    enum weir_status status;

    out->n = curve.n_parameters;
    for (size_t i = 0; i < out->n; i++)
        prior_sigmas[i] = PRIOR_SIGMA;
    if (fitting->has_power)
        prior[out->n - 1] = log(FAMILIES_POWER - 1);
    /* From where a resource has a slope: a roofline's where it is overcommitted; a share's where no
     * node asks for more of it than there is. */
    for (size_t i = 0; i < out->n; i++)
        out->parameters[i] = i >= fitting->demands->n_resources ? prior[i]
                             : fitting->family == FAMILY_SHARE  ? 0.05
                                                                : -0.1;
    status = fit_curve(&curve, out->parameters, &out->quality, err);
    if (status == WEIR_OK && has_ranges)
        status = fit_curve_intervals(&curve, out->parameters, columns->blocks, columns->n_blocks,
                                     out->ranges, err);
    for (size_t i = 0; i < out->n && status == WEIR_OK && has_ranges; i++)
        widen(&out->ranges[i], out->parameters[i], NORMAL_95 * out->quality.deviations[i]);
    return status;
}

static struct fit_interval exp_of(const struct fit_interval *logs)
{
    return (struct fit_interval){exp(logs->low), exp(logs->high)};
}

/* Of etas and weights. */
static void take_ranges(const struct fitting *fitting, const struct fitted *fitted,
                        struct families_model *out)
{
    bool is_share = fitting->family == FAMILY_SHARE;
    struct fit_interval *eta = is_share ? out->share_range : out->eta_range;
    struct fit_interval *weight = is_share ? out->share_weight_range : out->weight_range;
    size_t n = 0;

    for (uint32_t r = 0; r < fitting->demands->n_resources; r++)
        eta[r] = exp_of(&fitted->ranges[n++]);
    for (uint32_t c = 0; c < fitting->demands->n_classes; c++) {
        if (is_weighted(fitting->demands, c))
            weight[c] = exp_of(&fitted->ranges[n++]);
    }
}

/* Whether the sets tell the power. */
static enum families_power power_basis(const struct fit_interval *range, double condition)
{
    if (!(range->high <= FAMILIES_MOST_SPAN * range->low))
        return FAMILIES_POWER_WIDE;
    return condition <= FAMILIES_MOST_CONDITION ? FAMILIES_POWER_FITTED : FAMILIES_POWER_ILL;
}

/* First all at once; then the power goes to the nearest quarter, or, when the sets do not tell it, to
 * where it is fixed, and the rest is fitted to that. */
static enum weir_status fit_roofline(struct fitting *fitting, const struct columns *columns,
                                     struct families_model *out, struct weir_error *err)
{
    struct fitted fitted;
    bool is_fixed;
    enum weir_status status;

    fitting->family = FAMILY_ROOFLINE;
    fitting->has_power = true;
    status = fit(fitting, columns, true, &fitted, err);
    if (status != WEIR_OK)
        return status;
    out->power_range = (struct fit_interval){1 + exp(fitted.ranges[fitted.n - 1].low),
                                             1 + exp(fitted.ranges[fitted.n - 1].high)};
    out->condition = fitted.quality.condition;
    out->power_basis = power_basis(&out->power_range, out->condition);
    is_fixed = out->power_basis != FAMILIES_POWER_FITTED;
    take_ranges(fitting, &fitted, out);
    fitting->model.power =
        is_fixed ? FAMILIES_POWER
                 : round(model_of(fitting, fitted.parameters).power * QUARTERS) / QUARTERS;
    fitting->has_power = false;
    status = fit(fitting, columns, is_fixed, &fitted, err);
    if (status != WEIR_OK)
        return status;
    if (is_fixed)
        take_ranges(fitting, &fitted, out);
    fitting->model = model_of(fitting, fitted.parameters);
    return WEIR_OK;
}

static enum weir_status fit_share(struct fitting *fitting, const struct columns *columns,
                                  struct families_model *out, struct weir_error *err)
{
    struct fitted fitted;
    enum weir_status status;

    fitting->family = FAMILY_SHARE;
    status = fit(fitting, columns, true, &fitted, err);
    if (status != WEIR_OK)
        return status;
    out->share_condition = fitted.quality.condition;
    take_ranges(fitting, &fitted, out);
    fitting->model = model_of(fitting, fitted.parameters);
    return WEIR_OK;
}

enum weir_status families_fit(const struct families_demands *demands,
                              const struct families_set *sets, uint32_t n_sets,
                              struct families_model *out, struct weir_error *err)
{
    struct fitting fitting = {.demands = demands, .sets = sets, .n_sets = n_sets};
    struct families_model model;
    struct columns columns;
    enum weir_status status = columns_make(sets, n_sets, &columns, err);

    memset(&model, 0, sizeof model);
    for (uint32_t c = 0; c < FAMILIES_CLASSES; c++) {
        fitting.model.weight[c] = fitting.model.share_weight[c] = 1;
        model.weight_range[c] = model.share_weight_range[c] = (struct fit_interval){1, 1};
    }
    for (uint32_t r = 0; r < FAMILIES_RESOURCES; r++)
        fitting.model.eta[r] = fitting.model.share_eta[r] = 1;
    if (status == WEIR_OK)
        status = fit_roofline(&fitting, &columns, &model, err);
    if (status == WEIR_OK)
        status = fit_share(&fitting, &columns, &model, err);
    columns_free(&columns);
    if (status != WEIR_OK)
        return status;
    memcpy(model.eta, fitting.model.eta, sizeof model.eta);
    memcpy(model.share_eta, fitting.model.share_eta, sizeof model.share_eta);
    memcpy(model.weight, fitting.model.weight, sizeof model.weight);
    memcpy(model.share_weight, fitting.model.share_weight, sizeof model.share_weight);
    model.power = fitting.model.power;
    model.n_sets = n_sets;
    *out = model;
    return WEIR_OK;
}
