/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each family says of a set of nodes. */
#include "replay/families.h"

#include <math.h>

const char *families_name(enum family family)
{
    static const char *const names[] = {"pairwise", "share", "roofline"};

    return names[family];
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
