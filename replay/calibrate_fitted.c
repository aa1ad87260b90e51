/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was fitted, as statements of the machine: the resources, what classes ask of them, and each
 * family with its error on sets that no fit saw. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "replay/calibrate_internal.h"

#define DIGITS 10000.0 /* of what is fitted: a ten-thousandth is less than any interval */

static double rounded(double value)
{
    return round(value * DIGITS) / DIGITS;
}

static enum weir_status add_param(struct graph *graph, const char *family, const char *name,
                                  double value, const struct graph_evidence *evidence,
                                  struct weir_error *err)
{
    struct graph_param param = graph_param_default;
    enum weir_status status = graph_intern_text(graph, family, &param.family, err);

    param.value = value;
    param.evidence = *evidence;
    if (status == WEIR_OK)
        status = graph_intern_text(graph, name, &param.name, err);
    return status == WEIR_OK ? graph_add_param(graph, &param, err) : status;
}

/* Confidence by half of the interval, as a part of the figure. */
static enum weir_status fitted_evidence(struct graph *graph, const struct calibration *c,
                                        const char *what, double value,
                                        const struct fit_interval *range,
                                        struct graph_evidence *out, struct weir_error *err)
{
    const struct measure_noise noise = {.width_ratio = (range->high - range->low) / 2 / value};
    char text[500];

    (void)snprintf(text, sizeof text,
                   "weir calibrate on %s: %s, fitted to %" PRIu32
                   " sets of actions at once; 95 %% %.3f..%.3f",
                   c->info.name, what, c->model.n_sets, range->low, range->high);
    *out = (struct graph_evidence){.kind = EVIDENCE_FITTED,
                                   .confidence = calibrate_confidence(&noise)};
    return graph_intern_text(graph, text, &out->detail, err);
}

/* ---- resources and demands ---- */

static enum weir_status add_resource(struct graph *graph, const struct calibration *c,
                                     enum calibrate_resource resource, struct weir_error *err)
{
    struct graph_resource added = graph_resource_default;
    enum calibrate_class fullest = calibrate_fullest(c, resource);
    weir_resource id;
    char text[256];
    enum weir_status status =
        graph_intern_text(graph, calibrate_resource_name(resource), &added.name, err);

    added.capacity_per_s = calibrate_rounded(calibrate_capacity(c, resource));
    added.evidence = (struct graph_evidence){
        .kind = EVIDENCE_MEASURED, .confidence = calibrate_confidence(&c->rates[fullest].noise)};
    (void)snprintf(
        text, sizeof text,
        "weir calibrate on %s: the most that a class of actions has of it alone, which is "
        "%s",
        c->info.name, calibrate_class_name(fullest));
    if (status == WEIR_OK)
        status = graph_intern_text(graph, text, &added.evidence.detail, err);
    return status == WEIR_OK ? graph_add_resource(graph, &added, &id, err) : status;
}

static enum weir_status demand_evidence(struct graph *graph, const struct calibration *c,
                                        enum family family, uint32_t class_, uint32_t resource,
                                        struct graph_evidence *out, struct weir_error *err)
{
    bool is_share = family == FAMILY_SHARE;
    double weight = is_share ? c->model.share_weight[class_] : c->model.weight[class_];
    char text[256];

    if (c->demands.weighted[class_] == resource) {
        (void)snprintf(text, sizeof text, "its rate, times %.3f for how its bytes pass the memory",
                       weight);
        return fitted_evidence(graph, c, text, weight,
                               is_share ? &c->model.share_weight_range[class_]
                                        : &c->model.weight_range[class_],
                               out, err);
    }
    (void)snprintf(text, sizeof text, "weir calibrate on %s: its rate alone", c->info.name);
    *out = (struct graph_evidence){.kind = EVIDENCE_MEASURED,
                                   .confidence = calibrate_confidence(&c->rates[class_].noise)};
    return graph_intern_text(graph, text, &out->detail, err);
}

static enum weir_status add_demands(struct graph *graph, const struct calibration *c,
                                    enum family family, uint32_t resource, struct weir_error *err)
{
    int64_t capacity = calibrate_rounded(calibrate_capacity(c, (enum calibrate_resource)resource));
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < CALIBRATE_CLASSES && status == WEIR_OK; i++) {
        double part = families_part(&c->demands, &c->model, family, i, resource);
        struct graph_evidence evidence;
        char name[60];

        if (!(part > 0))
            continue;
        (void)snprintf(name, sizeof name, "%s.demand.%s", families_name(family),
                       calibrate_resource_name((enum calibrate_resource)resource));
        status = demand_evidence(graph, c, family, i, resource, &evidence, err);
        if (status == WEIR_OK)
            status =
                add_param(graph, name, calibrate_class_name((enum calibrate_class)i),
                          fmin(round(part * (double)capacity), (double)capacity), &evidence, err);
    }
    return status;
}

static enum weir_status add_eta(struct graph *graph, const struct calibration *c,
                                enum family family, uint32_t resource, struct weir_error *err)
{
    bool is_share = family == FAMILY_SHARE;
    double eta = is_share ? c->model.share_eta[resource] : c->model.eta[resource];
    struct graph_evidence evidence;
    char name[60];
    enum weir_status status = fitted_evidence(
        graph, c, "the part of its capacity that several get", eta,
        is_share ? &c->model.share_range[resource] : &c->model.eta_range[resource], &evidence, err);

    (void)snprintf(name, sizeof name, "%s.eta", families_name(family));
    return status == WEIR_OK
               ? add_param(graph, name, calibrate_resource_name((enum calibrate_resource)resource),
                           rounded(eta), &evidence, err)
               : status;
}

static enum weir_status add_model(struct graph *graph, const struct calibration *c,
                                  enum family family, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t r = 0; r < CALIBRATE_RESOURCES && status == WEIR_OK; r++) {
        status = add_demands(graph, c, family, r, err);
        if (status == WEIR_OK)
            status = add_eta(graph, c, family, r, err);
    }
    return status;
}

/* Where the sets do not tell the power it is an assumption. */
static enum weir_status power_evidence(struct graph *graph, const struct calibration *c,
                                       struct graph_evidence *out, struct weir_error *err)
{
    const struct families_model *model = &c->model;
    char why[120];
    char text[400];

    if (model->power_basis == FAMILIES_POWER_FITTED) {
        (void)snprintf(text, sizeof text,
                       "the power, to the nearest quarter (condition number of the fit %.1f)",
                       model->condition);
        return fitted_evidence(graph, c, text, model->power, &model->power_range, out, err);
    }
    if (model->power_basis == FAMILIES_POWER_WIDE)
        (void)snprintf(why, sizeof why, "its 95 %% interval %.3g..%.3g spans more than %g times",
                       model->power_range.low, model->power_range.high, FAMILIES_MOST_SPAN);
    else
        (void)snprintf(why, sizeof why, "the fit is ill-conditioned, by %.3g, more than %g",
                       model->condition, FAMILIES_MOST_CONDITION);
    (void)snprintf(text, sizeof text,
                   "weir calibrate on %s: the power is fixed, since %" PRIu32
                   " sets of actions at once do not tell it: %s",
                   c->info.name, model->n_sets, why);
    *out = (struct graph_evidence){.kind = EVIDENCE_ASSUMED, .confidence = 0.2};
    return graph_intern_text(graph, text, &out->detail, err);
}

static enum weir_status add_models(struct graph *graph, const struct calibration *c,
                                   struct weir_error *err)
{
    struct graph_evidence evidence;
    enum weir_status status = WEIR_OK;

    for (int r = 0; r < CALIBRATE_RESOURCES && status == WEIR_OK; r++)
        status = add_resource(graph, c, (enum calibrate_resource)r, err);
    if (status == WEIR_OK)
        status = add_model(graph, c, FAMILY_SHARE, err);
    if (status == WEIR_OK)
        status = add_model(graph, c, FAMILY_ROOFLINE, err);
    if (status == WEIR_OK)
        status = power_evidence(graph, c, &evidence, err);
    return status == WEIR_OK ? add_param(graph, "roofline", "p", c->model.power, &evidence, err)
                             : status;
}

/* ---- families ---- */

/* Of sets of three that no fit saw. */
static enum weir_status add_family(struct graph *graph, const struct calibration *c,
                                   enum family family, struct weir_error *err)
{
    const struct families_error *error = &c->errors[family];
    struct graph_evidence evidence = {.kind = EVIDENCE_MEASURED};
    char text[400];
    enum weir_status status;

    (void)snprintf(text, sizeof text,
                   "weir calibrate on %s: mean of |log(predicted / measured)| over %" PRIu32
                   " sets of three actions that it was not fitted to; median %.1f %%, 95th "
                   "percentile %.1f %%",
                   c->info.name, c->n_unseen, 100 * error->median, 100 * error->p95);
    evidence.confidence = error->p95 > 0.25 ? 0.2 : error->p95 > 0.1 ? 0.5 : 0.8;
    status = graph_intern_text(graph, text, &evidence.detail, err);
    return status == WEIR_OK ? add_param(graph, "measured", families_name(family),
                                         rounded(error->mean), &evidence, err)
                             : status;
}

/* The family's place in the order of choice, and what decided. */
static enum weir_status add_rank(struct graph *graph, const struct calibration *c,
                                 enum family family, struct weir_error *err)
{
    static const char *const said[] = {
        [FAMILIES_BY_MEDIAN] = "by the median error, by more than chance",
        [FAMILIES_BY_P95] = "by the 95th percentile of the errors, by more than chance, where the "
                            "medians do not differ",
        [FAMILIES_BY_AICC] =
            "by Akaike's criterion, where the errors differ by no more than chance"};
    struct graph_evidence evidence = {.kind = EVIDENCE_FITTED,
                                      .confidence =
                                          c->choice.basis[family] == FAMILIES_BY_AICC ? 0.5 : 0.8};
    char text[400];
    char place[200] = "the best";
    enum weir_status status;

    if (family != c->choice.best)
        (void)snprintf(place, sizeof place, "behind %s %s", families_name(c->choice.best),
                       said[c->choice.basis[family]]);
    (void)snprintf(text, sizeof text,
                   "weir calibrate on %s: %s; corrected Akaike criterion %.1f, of %" PRIu32
                   " parameters",
                   c->info.name, place, c->errors[family].aicc, c->errors[family].n_parameters);
    status = graph_intern_text(graph, text, &evidence.detail, err);
    return status == WEIR_OK ? add_param(graph, "measured.rank", families_name(family),
                                         c->choice.rank[family], &evidence, err)
                             : status;
}

/* What half of the pairs' intervals are no wider than. */
static double pairs_width(const struct calibration *c)
{
    double widths[CALIBRATE_CLASSES * CALIBRATE_CLASSES];

    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES; p++)
        widths[p] = c->kappas[p / CALIBRATE_CLASSES][p % CALIBRATE_CLASSES].noise.width_ratio;
    return fit_quantile(widths, sizeof widths / sizeof *widths, 0.5);
}

static enum weir_status add_pairs_only(struct graph *graph, const struct calibration *c,
                                       struct weir_error *err)
{
    struct graph_evidence evidence = {.kind = EVIDENCE_ASSUMED, .confidence = 0.2};
    char text[400];
    enum weir_status status;

    (void)snprintf(text, sizeof text,
                   "weir calibrate on %s: no three actions were seen at once on %" PRIu32
                   " processors, so no family could be judged; this is how well the pairs "
                   "themselves are known, and nothing is known of larger sets",
                   c->info.name, c->info.n_processors);
    status = graph_intern_text(graph, text, &evidence.detail, err);
    return status == WEIR_OK ? add_param(graph, "measured", families_name(FAMILY_PAIRWISE),
                                         rounded(pairs_width(c)), &evidence, err)
                             : status;
}

enum weir_status calibrate_add_fitted(struct graph *graph, const struct calibration *c,
                                      struct weir_error *err)
{
    enum weir_status status;

    if (c->n_unseen == 0)
        return add_pairs_only(graph, c, err);
    status = add_family(graph, c, FAMILY_PAIRWISE, err);
    if (status != WEIR_OK || !c->is_fitted)
        return status;
    status = add_family(graph, c, FAMILY_SHARE, err);
    if (status == WEIR_OK)
        status = add_family(graph, c, FAMILY_ROOFLINE, err);
    for (int f = 0; f < FAMILIES && status == WEIR_OK; f++)
        status = add_rank(graph, c, (enum family)f, err);
    return status == WEIR_OK ? add_models(graph, c, err) : status;
}
