/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which family is the best: by its error on sets that no fit saw, first the median, then the 95th
 * percentile, each only where two families differ in it by more than chance; else by Akaike's criterion
 * on the sets that were fitted.
 *
 * Chance is what sets were drawn and how exactly each was measured: the sets are drawn anew with
 * repetition, each measurement is moved by its own error, and both families are judged on the same
 * sample. Where the interval that holds 95 % of the differences holds 0, they do not differ. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "replay/families.h"

#define SAMPLES 1000
#define SAMPLE_SEED 20150801
#define PI 3.14159265358979323846
#define TAIL 0.025
#define HUBER 1.345        /* as in the fits: from so many deviations on a distance counts once */
#define LEAST_SQUARES 0.01 /* of a set: nobody measures to a tenth of a deviation */

/* ---- errors ---- */

/* How many numbers the family took from the sets that were fitted. */
static uint32_t count_parameters(const struct families_demands *demands,
                                 const struct families_model *model, enum family family,
                                 const struct families_set *sets, uint32_t n_sets)
{
    uint32_t n = family == FAMILY_PAIRWISE ? 0 : demands->n_resources;

    for (uint32_t i = 0; i < n_sets && family == FAMILY_PAIRWISE; i++) {
        uint32_t n_beside = 0;

        for (uint32_t c = 0; c < demands->n_classes; c++)
            n_beside += sets[i].n_beside[c];
        n += n_beside == 1 ? 1 : 0; /* a pair: its factor */
    }
    for (uint32_t c = 0; c < demands->n_classes && family != FAMILY_PAIRWISE; c++)
        n += demands->weighted[c] != UINT32_MAX ? 1 : 0;
    return n + (family == FAMILY_ROOFLINE && model->power_basis == FAMILIES_POWER_FITTED ? 1 : 0);
}

/* Distances in standard deviations, squared, and beyond HUBER in proportion. */
static double sum_distances(const struct families_demands *demands,
                            const struct families_model *model, enum family family,
                            const struct families_set *sets, uint32_t n_sets)
{
    double sum = 0;

    for (uint32_t i = 0; i < n_sets; i++) {
        double kappa = families_kappa(demands, model, family, &sets[i]);
        double distance = fabs(log(kappa / sets[i].kappa)) / sets[i].sigma;

        sum += distance <= HUBER ? distance * distance : HUBER * (2 * distance - HUBER);
    }
    return sum;
}

/* Akaike's information criterion for few values, of normal errors whose common scale is a parameter too
 * (C. Hurvich, C.-L. Tsai, Regression and time series model selection in small samples, 1989). */
static double find_aicc(const struct families_demands *demands, const struct families_model *model,
                        enum family family, const struct families_set *sets, uint32_t n_sets,
                        uint32_t n_parameters)
{
    double n = n_sets;
    double k = n_parameters + 1;
    double sum = sum_distances(demands, model, family, sets, n_sets);

    if (n - k - 1 <= 0)
        return INFINITY;
    return n * log(fmax(sum / n, LEAST_SQUARES)) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

enum weir_status families_judge(const struct families_demands *demands,
                                const struct families_model *model,
                                const struct families_set *fitted, uint32_t n_fitted,
                                const struct families_set *unseen, uint32_t n_unseen,
                                struct families_error out[FAMILIES], struct weir_error *err)
{
    double *errors = malloc(((size_t)n_unseen + 1) * sizeof *errors);

    if (errors == NULL)
        return weir_error_memory(err);
    for (int f = 0; f < FAMILIES; f++) {
        enum family family = (enum family)f;

        out[f] = (struct families_error){
            .n_parameters = count_parameters(demands, model, family, fitted, n_fitted)};
        out[f].aicc = find_aicc(demands, model, family, fitted, n_fitted, out[f].n_parameters);
        for (uint32_t i = 0; i < n_unseen; i++) {
            double kappa = families_kappa(demands, model, family, &unseen[i]);

            errors[i] = fabs(log(kappa / unseen[i].kappa));
            out[f].mean += errors[i] / n_unseen;
        }
        out[f].median = fit_quantile(errors, n_unseen, 0.5);
        out[f].p95 = fit_quantile(errors, n_unseen, 0.95);
    }
    free(errors);
    return WEIR_OK;
}

/* ---- differences ---- */

/* Two families, a and b with a < b, have one number. */
#define PAIRS 3

static int pair_of(int a, int b)
{
    return a + b - 1;
}

/* What each sample says: a's less b's. */
struct differences {
    double median[PAIRS][SAMPLES], p95[PAIRS][SAMPLES];
};

/* Of a standard deviation of 1, by G. Box and M. Muller's rule. */
static double normal(struct random_stream *random)
{
    double radius = sqrt(-2 * log(1 - random_unit(random)));

    return radius * cos(2 * PI * random_unit(random));
}

/* Judges all families by one sample of the sets. @param off by family and set: the logarithm of what was
 * predicted over what was measured @param errors room for all */
static void judge_sample(struct random_stream *random, const struct families_set *sets,
                         uint32_t n_sets, const double *off, double *errors, uint32_t sample,
                         struct differences *out)
{
    double median[FAMILIES];
    double p95[FAMILIES];

    for (uint32_t i = 0; i < n_sets; i++) {
        size_t set = random_below(random, n_sets);
        double moved = sets[set].sigma * normal(random);

        for (size_t f = 0; f < FAMILIES; f++)
            errors[f * n_sets + i] = fabs(off[f * n_sets + set] + moved);
    }
    for (size_t f = 0; f < FAMILIES; f++) {
        median[f] = fit_quantile(errors + f * n_sets, n_sets, 0.5);
        p95[f] = fit_quantile(errors + f * n_sets, n_sets, 0.95);
    }
    for (int a = 0; a < FAMILIES; a++) {
        for (int b = a + 1; b < FAMILIES; b++) {
            out->median[pair_of(a, b)][sample] = median[a] - median[b];
            out->p95[pair_of(a, b)][sample] = p95[a] - p95[b];
        }
    }
}

static enum weir_status find_differences(const struct families_demands *demands,
                                         const struct families_model *model,
                                         const struct families_set *sets, uint32_t n_sets,
                                         struct differences *out, struct weir_error *err)
{
    double *off = malloc(((size_t)n_sets * FAMILIES + 1) * sizeof *off);
    double *errors = malloc(((size_t)n_sets * FAMILIES + 1) * sizeof *errors);
    struct random_stream random;
    bool has_room = off != NULL && errors != NULL;

    for (size_t f = 0; f < FAMILIES && has_room; f++) {
        for (uint32_t i = 0; i < n_sets; i++)
            off[f * n_sets + i] =
                log(families_kappa(demands, model, (enum family)f, &sets[i]) / sets[i].kappa);
    }
    random_seed(&random, SAMPLE_SEED, 0);
    for (uint32_t sample = 0; sample < SAMPLES && has_room; sample++)
        judge_sample(&random, sets, n_sets, off, errors, sample, out);
    free(errors);
    free(off);
    return has_room ? WEIR_OK : weir_error_memory(err);
}

/* @return -1 when the first of the pair is the better one, 1 when the second is; 0: they do not differ.
 * Sorts the differences. */
static int sign_of(double differences[SAMPLES])
{
    if (fit_quantile(differences, SAMPLES, 1 - TAIL) < 0)
        return -1;
    return fit_quantile(differences, SAMPLES, TAIL) > 0 ? 1 : 0;
}

/* ---- the choice ---- */

/* @return as of sign_of, of a and b @param basis what tells */
static int compare(struct differences *differences, const struct families_error *errors, int a,
                   int b, enum families_basis *basis)
{
    int sign = sign_of(differences->median[pair_of(a, b)]);

    *basis = FAMILIES_BY_MEDIAN;
    if (sign != 0)
        return sign;
    *basis = FAMILIES_BY_P95;
    sign = sign_of(differences->p95[pair_of(a, b)]);
    if (sign != 0)
        return sign;
    *basis = FAMILIES_BY_AICC;
    return errors[a].aicc <= errors[b].aicc ? -1 : 1;
}

/* The first wins against the most others; where as many are won, the least median tells. */
static bool is_before(const struct families_error *errors, const int n_won[FAMILIES], int a, int b)
{
    if (n_won[a] != n_won[b])
        return n_won[a] > n_won[b];
    if (errors[a].median < errors[b].median || errors[b].median < errors[a].median)
        return errors[a].median < errors[b].median;
    return a < b;
}

static void rank_all(struct differences *differences, const struct families_error *errors,
                     struct families_choice *out)
{
    enum families_basis basis[FAMILIES][FAMILIES] = {{FAMILIES_BEST}};
    int n_won[FAMILIES] = {0};

    for (int a = 0; a < FAMILIES; a++) {
        for (int b = a + 1; b < FAMILIES; b++) {
            n_won[compare(differences, errors, a, b, &basis[a][b]) < 0 ? a : b]++;
            basis[b][a] = basis[a][b];
        }
    }
    for (int f = 0; f < FAMILIES; f++) {
        out->rank[f] = 1;
        for (int other = 0; other < FAMILIES; other++)
            out->rank[f] += other != f && is_before(errors, n_won, other, f) ? 1 : 0;
        if (out->rank[f] == 1)
            out->best = (enum family)f;
    }
    for (int f = 0; f < FAMILIES; f++)
        out->basis[f] = basis[f][out->best];
}

enum weir_status families_choose(const struct families_demands *demands,
                                 const struct families_model *model,
                                 const struct families_set *unseen, uint32_t n_unseen,
                                 const struct families_error errors[FAMILIES],
                                 struct families_choice *out, struct weir_error *err)
{
    struct differences *differences = malloc(sizeof *differences);
    enum weir_status status =
        differences == NULL ? weir_error_memory(err)
                            : find_differences(demands, model, unseen, n_unseen, differences, err);

    if (status == WEIR_OK)
        rank_all(differences, errors, out);
    free(differences);
    return status;
}

const char *families_basis_name(enum families_basis basis)
{
    static const char *const names[] = {"", "median", "p95", "aicc"};

    return names[basis];
}
