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

/* The classes of which nodes run, the slowed one first, and what a node of each asks for. */
struct running {
    uint32_t n_classes;
    double n[FAMILIES_CLASSES + 1]; /* nodes: of the first, it alone */
    double parts[FAMILIES_CLASSES + 1][FAMILIES_RESOURCES];
};

static void add_class(struct running *running, const struct families_demands *demands,
                      const struct families_model *model, enum family family, uint32_t class_,
                      double n)
{
    for (uint32_t r = 0; r < demands->n_resources; r++)
        running->parts[running->n_classes][r] = families_part(demands, model, family, class_, r);
    running->n[running->n_classes++] = n;
}

static void find_running(struct running *out, const struct families_demands *demands,
                         const struct families_model *model, enum family family,
                         const struct families_set *set)
{
    add_class(out, demands, model, family, set->slowed, 1);
    for (uint32_t c = 0; c < demands->n_classes; c++) {
        if (set->n_beside[c] > 0)
            add_class(out, demands, model, family, c, set->n_beside[c]);
    }
}

static double roofline_kappa(const struct families_demands *demands,
                             const struct families_model *model, const struct families_set *set)
{
    struct running running = {.n_classes = 0};
    double s = 1;

    find_running(&running, demands, model, FAMILY_ROOFLINE, set);
    for (uint32_t r = 0; r < demands->n_resources; r++) {
        double own = running.parts[0][r];
        double wanted = 0;

        for (uint32_t c = 0; c < running.n_classes; c++)
            wanted += running.n[c] * running.parts[c][r];
        if (own > 0 && wanted > model->eta[r]) /* else it is as alone */
            s += pow(own * wanted / model->eta[r], model->power) -
                 pow(own * fmax(1, own / model->eta[r]), model->power);
    }
    return pow(s, 1 / model->power);
}

/* Speeds of those that run rise together; where a resource is full its users stay. */
struct filling {
    struct running running; /* none asks for more than there is */
    double speed[FAMILIES_CLASSES + 1];
    bool is_frozen[FAMILIES_CLASSES + 1];
};

static double level_of(const struct filling *filling, double eta, uint32_t resource)
{
    const struct running *running = &filling->running;
    double left = eta;
    double open = 0;

    for (uint32_t c = 0; c < running->n_classes; c++) {
        double part = running->n[c] * running->parts[c][resource];

        if (filling->is_frozen[c])
            left -= part * filling->speed[c];
        else
            open += part;
    }
    return open > 0 ? left / open : INFINITY;
}

/* @return false when all run at full speed, or nothing is left to freeze */
static bool freeze(struct filling *filling, const double *eta, uint32_t n_resources)
{
    const struct running *running = &filling->running;
    double least = INFINITY;
    uint32_t full = 0;

    for (uint32_t r = 0; r < n_resources; r++) {
        double level = level_of(filling, eta[r], r);

        if (level < least) {
            least = level;
            full = r;
        }
    }
    if (!(least < 1))
        return false;
    for (uint32_t c = 0; c < running->n_classes; c++) {
        if (!filling->is_frozen[c] && running->parts[c][full] > 0) {
            filling->is_frozen[c] = true;
            filling->speed[c] = fmax(least, 1e-9);
        }
    }
    return true;
}

static double share_kappa(const struct families_demands *demands,
                          const struct families_model *model, const struct families_set *set)
{
    struct filling filling = {.running = {.n_classes = 0}};

    find_running(&filling.running, demands, model, FAMILY_SHARE, set);
    for (uint32_t c = 0; c < filling.running.n_classes; c++) {
        for (uint32_t r = 0; r < demands->n_resources; r++)
            filling.running.parts[c][r] = fmin(filling.running.parts[c][r], model->share_eta[r]);
        filling.speed[c] = 1;
        filling.is_frozen[c] = false;
    }
    while (freeze(&filling, model->share_eta, demands->n_resources)) {
    }
    return 1 / filling.speed[0];
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
