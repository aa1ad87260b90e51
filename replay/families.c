/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters are fitted as logarithms, and a power by the logarithm of what it is above 1, so that none
 * needs a bound. Each is held weakly where it would be if nothing were known (1, and 3 of a power): a
 * resource that no set overcommitted stays there. */
#include "replay/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/fit_curve.h"

#define LEAST_ETA 0.05
#define MOST_ETA 16.0
#define MOST_POWER 16.0
#define QUARTERS 4
#define PRIOR_POWER 3.0
#define NORMAL_95 1.96
#define PRIOR_SIGMA 1.0 /* of each logarithm */

const char *families_name(enum family family)
{
    static const char *const names[] = {"pairwise", "share", "roofline"};

    return names[family];
}

static double between(double least, double value, double most)
{
    return fmin(fmax(value, least), most);
}

static bool is_weighted(const struct families_demands *demands, uint32_t class_)
{
    return demands->weighted[class_] != UINT32_MAX;
}

double families_part(const struct families_demands *demands, const struct families_model *model,
                     enum family family, uint32_t class_, uint32_t resource)
{
    const double *weight = family == FAMILY_SHARE ? model->share_weight : model->weight;
    double part = demands->parts[class_][resource];

    return demands->weighted[class_] == resource ? fmin(1, part * weight[class_]) : part;
}

/* ---- what each family says ---- */

static double pairwise_kappa(const struct families_demands *demands, const struct families_set *set)
{
    double kappa = 1;

    for (uint32_t c = 0; c < demands->n_classes; c++)
        kappa *= pow(fmax(1, demands->factors[set->slowed][c]), set->n_beside[c]);
    return kappa;
}

static double roofline_kappa(const struct families_demands *demands,
                             const struct families_model *model, const struct families_set *set)
{
    double s = 1;

    for (uint32_t r = 0; r < demands->n_resources; r++) {
        double own = families_part(demands, model, FAMILY_ROOFLINE, set->slowed, r);
        double wanted = own;

        for (uint32_t c = 0; c < demands->n_classes; c++)
            wanted += set->n_beside[c] * families_part(demands, model, FAMILY_ROOFLINE, c, r);
        if (own > 0 && wanted > model->eta[r]) /* else it is as alone */
            s += pow(own * wanted / model->eta[r], model->power) -
                 pow(own * fmax(1, own / model->eta[r]), model->power);
    }
    return pow(s, 1 / model->power);
}

/* Speeds of the classes that run rise together; where a resource is full its users stay. */
struct filling {
    double n[FAMILIES_CLASSES]; /* nodes that run, by class */
    double speed[FAMILIES_CLASSES];
    bool is_frozen[FAMILIES_CLASSES];
};

static double share_part(const struct families_demands *demands, const struct families_model *model,
                         uint32_t class_, uint32_t resource)
{
    return fmin(families_part(demands, model, FAMILY_SHARE, class_, resource),
                model->share_eta[resource]);
}

static double level_of(const struct families_demands *demands, const struct families_model *model,
                       const struct filling *filling, uint32_t resource)
{
    double left = model->share_eta[resource];
    double open = 0;

    for (uint32_t c = 0; c < demands->n_classes; c++) {
        double part = filling->n[c] * share_part(demands, model, c, resource);

        if (filling->is_frozen[c])
            left -= part * filling->speed[c];
        else
            open += part;
    }
    return open > 0 ? left / open : INFINITY;
}

/* @return false when all run at full speed, or nothing is left to freeze */
static bool freeze(const struct families_demands *demands, const struct families_model *model,
                   struct filling *filling)
{
    double least = INFINITY;
    uint32_t full = 0;

    for (uint32_t r = 0; r < demands->n_resources; r++) {
        double level = level_of(demands, model, filling, r);

        if (level < least) {
            least = level;
            full = r;
        }
    }
    if (!(least < 1))
        return false;
    for (uint32_t c = 0; c < demands->n_classes; c++) {
        if (filling->n[c] > 0 && !filling->is_frozen[c] &&
            share_part(demands, model, c, full) > 0) {
            filling->is_frozen[c] = true;
            filling->speed[c] = fmax(least, 1e-9);
        }
    }
    return true;
}

static double share_kappa(const struct families_demands *demands,
                          const struct families_model *model, const struct families_set *set)
{
    struct filling filling = {{0}, {0}, {false}};

    for (uint32_t c = 0; c < demands->n_classes; c++) {
        filling.n[c] = set->n_beside[c] + (c == set->slowed ? 1.0 : 0.0);
        filling.speed[c] = 1;
    }
    while (freeze(demands, model, &filling)) {
    }
    return 1 / filling.speed[set->slowed];
}

double families_kappa(const struct families_demands *demands, const struct families_model *model,
                      enum family family, const struct families_set *set)
{
    switch (family) {
    case FAMILY_PAIRWISE:
        return pairwise_kappa(demands, set);
    case FAMILY_SHARE:
        return share_kappa(demands, model, set);
    case FAMILY_ROOFLINE:
        break;
    }
    return roofline_kappa(demands, model, set);
}

/* ---- fits ---- */

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
    double parameters[FIT_CURVE_PARAMETERS], deviations[FIT_CURVE_PARAMETERS];
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
        prior[out->n - 1] = log(PRIOR_POWER - 1);
    /* From where a resource has a slope: a roofline's where it is overcommitted; a share's where no
     * node asks for more of it than there is. */
    for (size_t i = 0; i < out->n; i++)
        out->parameters[i] = i >= fitting->demands->n_resources ? prior[i]
                             : fitting->family == FAMILY_SHARE  ? 0.05
                                                                : -0.1;
    status = fit_curve(&curve, out->parameters, out->deviations, err);
    if (status == WEIR_OK && has_ranges)
        status = fit_curve_intervals(&curve, out->parameters, columns->blocks, columns->n_blocks,
                                     out->ranges, err);
    for (size_t i = 0; i < out->n && status == WEIR_OK && has_ranges; i++)
        widen(&out->ranges[i], out->parameters[i], NORMAL_95 * out->deviations[i]);
    return status;
}

static struct fit_interval exp_of(const struct fit_interval *logs)
{
    return (struct fit_interval){exp(logs->low), exp(logs->high)};
}

/* First all at once; then the power goes to the nearest quarter, and the rest is fitted to that. */
static enum weir_status fit_roofline(struct fitting *fitting, const struct columns *columns,
                                     struct families_model *out, struct weir_error *err)
{
    const struct families_demands *demands = fitting->demands;
    struct fitted fitted;
    enum weir_status status;
    size_t n = 0;

    fitting->family = FAMILY_ROOFLINE;
    fitting->has_power = true;
    status = fit(fitting, columns, true, &fitted, err);
    if (status != WEIR_OK)
        return status;
    out->power_range = (struct fit_interval){1 + exp(fitted.ranges[fitted.n - 1].low),
                                             1 + exp(fitted.ranges[fitted.n - 1].high)};
    out->power_deviation = fitted.deviations[fitted.n - 1];
    for (uint32_t r = 0; r < demands->n_resources; r++)
        out->eta_range[r] = exp_of(&fitted.ranges[n++]);
    for (uint32_t c = 0; c < demands->n_classes; c++) {
        if (is_weighted(demands, c))
            out->weight_range[c] = exp_of(&fitted.ranges[n++]);
    }
    fitting->model.power = round(model_of(fitting, fitted.parameters).power * QUARTERS) / QUARTERS;
    fitting->has_power = false;
    status = fit(fitting, columns, false, &fitted, err);
    fitting->has_power = false;
    if (status == WEIR_OK)
        fitting->model = model_of(fitting, fitted.parameters);
    return status;
}

static enum weir_status fit_share(struct fitting *fitting, const struct columns *columns,
                                  struct families_model *out, struct weir_error *err)
{
    struct fitted fitted;
    enum weir_status status;

    size_t n = fitting->demands->n_resources;

    fitting->family = FAMILY_SHARE;
    status = fit(fitting, columns, true, &fitted, err);
    if (status != WEIR_OK)
        return status;
    for (uint32_t r = 0; r < fitting->demands->n_resources; r++)
        out->share_range[r] = exp_of(&fitted.ranges[r]);
    for (uint32_t c = 0; c < fitting->demands->n_classes; c++) {
        if (is_weighted(fitting->demands, c))
            out->share_weight_range[c] = exp_of(&fitted.ranges[n++]);
    }
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

/* ---- judging ---- */

enum weir_status families_judge(const struct families_demands *demands,
                                const struct families_model *model, const struct families_set *sets,
                                uint32_t n_sets, struct families_error out[FAMILIES],
                                struct weir_error *err)
{
    double *errors = malloc(((size_t)n_sets + 1) * sizeof *errors);

    if (errors == NULL)
        return weir_error_memory(err);
    for (int f = 0; f < FAMILIES; f++) {
        out[f].mean = 0;
        for (uint32_t i = 0; i < n_sets; i++) {
            double kappa = families_kappa(demands, model, (enum family)f, &sets[i]);

            errors[i] = fabs(log(kappa / sets[i].kappa));
            out[f].mean += errors[i] / n_sets;
        }
        out[f].median = fit_quantile(errors, n_sets, 0.5);
        out[f].p95 = fit_quantile(errors, n_sets, 0.95);
    }
    free(errors);
    return WEIR_OK;
}

enum family families_best(const struct families_error errors[FAMILIES])
{
    enum family best = FAMILY_PAIRWISE;

    for (int f = 1; f < FAMILIES; f++) {
        if (errors[f].mean < errors[best].mean)
            best = (enum family)f;
    }
    return best;
}
