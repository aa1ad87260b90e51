/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of samples and their bootstrap. The values are sorted once; a resample is how often each of
 * them was drawn, and is read in order: no sorting after that. Figures are doubles until they are
 * told: sums of up to 2^53 are exact, and beyond that nobody counts nanoseconds. */
#include "judge/tails.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

static const double parts[N_TAILS_FIGURES] = {[TAILS_MEDIAN] = 0.5,
                                              [TAILS_P90] = 0.9,
                                              [TAILS_P95] = 0.95,
                                              [TAILS_P99] = 0.99,
                                              [TAILS_WORST] = 1};

static int64_t to_whole(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : (int64_t)llround(value);
}

/* --- one set of samples ----------------------------------------------------------------------- */

struct set {
    size_t n;
    double *sorted;
    size_t *rank;     /* by sample: its place there */
    uint32_t *counts; /* by place: how often a resample drew it */
};

static void set_free(struct set *set)
{
    free(set->sorted);
    free(set->rank);
    free(set->counts);
}

/* Sorts, and keeps where each sample went. */
static enum weir_status rank_values(struct set *set, struct weir_error *err)
{
    size_t *order = malloc(set->n * sizeof *order);

    if (order == NULL) {
        return weir_error_memory(err);
    }
    gsl_sort_index(order, set->sorted, 1, set->n);
    for (size_t i = 0; i < set->n; i++) {
        set->rank[order[i]] = i;
    }
    free(order);
    gsl_sort(set->sorted, 1, set->n);
    return WEIR_OK;
}

static enum weir_status set_make(struct set *set, const int64_t *values, size_t n,
                                 struct weir_error *err)
{
    assert(n > 0);
    *set = (struct set){.n = n,
                        .sorted = malloc(n * sizeof *set->sorted),
                        .rank = malloc(n * sizeof *set->rank),
                        .counts = malloc(n * sizeof *set->counts)};
    if (set->sorted == NULL || set->rank == NULL || set->counts == NULL) {
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        set->sorted[i] = (double)values[i];
    }
    return rank_values(set, err);
}

static void figures_of(const struct set *set, double out[N_TAILS_FIGURES])
{
    double sum = 0;

    for (size_t i = 0; i < set->n; i++) {
        sum += set->sorted[i];
    }
    out[TAILS_MEAN] = sum / (double)set->n;
    for (int i = TAILS_MEDIAN; i < N_TAILS_FIGURES; i++) {
        out[i] = gsl_stats_quantile_from_sorted_data(set->sorted, 1, set->n, parts[i]);
    }
}

/* The quantiles of the resample, read off in one walk: *at is how far it has come, *n_passed how many
 * of the drawn lie before that. */
static double drawn_at(const struct set *set, size_t position, size_t *at, size_t *n_passed)
{
    while (*n_passed <= position) {
        *n_passed += set->counts[(*at)++];
    }
    return set->sorted[*at - 1];
}

/* Draws as many samples as the set has, with replacement; of @p beside, unless that is NULL, those of
 * the same numbers. */
static void draw(struct set *set, struct set *beside, gsl_rng *rng)
{
    double n = (double)set->n;

    memset(set->counts, 0, set->n * sizeof *set->counts);
    if (beside != NULL) {
        memset(beside->counts, 0, beside->n * sizeof *beside->counts);
    }
    for (size_t i = 0; i < set->n; i++) {
        size_t drawn = (size_t)(gsl_rng_uniform(rng) * n);

        set->counts[set->rank[drawn]]++;
        if (beside != NULL) {
            beside->counts[beside->rank[drawn]]++;
        }
    }
}

static void read_off(const struct set *set, double out[N_TAILS_FIGURES])
{
    double n = (double)set->n, sum = 0;
    size_t at = 0, n_passed = 0;

    for (size_t i = 0; i < set->n; i++) {
        sum += (double)set->counts[i] * set->sorted[i];
    }
    out[TAILS_MEAN] = sum / n;
    for (int i = TAILS_MEDIAN; i < N_TAILS_FIGURES; i++) {
        double place = parts[i] * (n - 1), before = floor(place), after;
        size_t position = (size_t)before;

        out[i] = drawn_at(set, position, &at, &n_passed);
        if (position + 1 < set->n && place > before) {
            after = drawn_at(set, position + 1, &at, &n_passed);
            out[i] += (place - before) * (after - out[i]);
        }
    }
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Each figure in each resample: those of a figure stand together. */
struct resamples {
    double *of[N_TAILS_FIGURES];
    gsl_rng *rng;
};

static void resamples_free(struct resamples *resamples)
{
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        free(resamples->of[i]);
    }
    if (resamples->rng != NULL) {
        gsl_rng_free(resamples->rng);
    }
}

static enum weir_status resamples_make(struct resamples *resamples, uint64_t seed,
                                       struct weir_error *err)
{
    bool is_whole = true;

    *resamples = (struct resamples){.rng = gsl_rng_alloc(gsl_rng_mt19937)};
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        resamples->of[i] = malloc(TAILS_RESAMPLES * sizeof *resamples->of[i]);
        is_whole = is_whole && resamples->of[i] != NULL;
    }
    if (!is_whole || resamples->rng == NULL) {
        return weir_error_memory(err);
    }
    gsl_rng_set(resamples->rng,
                (unsigned long)(seed + 1)); /* GSL takes 0 for a default of its own */
    return WEIR_OK;
}

/* The middle of what the figure was. */
static void interval(struct resamples *resamples, int figure, int64_t *low, int64_t *high)
{
    double *values = resamples->of[figure], beside = (1 - TAILS_CONFIDENCE) / 2;

    gsl_sort(values, 1, TAILS_RESAMPLES);
    *low = to_whole(gsl_stats_quantile_from_sorted_data(values, 1, TAILS_RESAMPLES, beside));
    *high = to_whole(gsl_stats_quantile_from_sorted_data(values, 1, TAILS_RESAMPLES, 1 - beside));
}

/* All the same: so is every resample. */
static void write_equal(int64_t value, size_t n, struct tails *out)
{
    out->n_samples = n;
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        out->of[i] = (struct tails_value){value, value, value};
    }
}

enum weir_status tails_find(const int64_t *values, size_t n, uint64_t seed, struct tails *out,
                            struct weir_error *err)
{
    struct resamples resamples = {.rng = NULL};
    double figures[N_TAILS_FIGURES];
    struct set set;
    enum weir_status status = set_make(&set, values, n, err);

    if (status == WEIR_OK && set.sorted[0] == set.sorted[n - 1]) {
        write_equal(values[0], n, out);
        set_free(&set);
        return WEIR_OK;
    }
    if (status == WEIR_OK) {
        status = resamples_make(&resamples, seed, err);
    }
    for (int i = 0; i < TAILS_RESAMPLES && status == WEIR_OK; i++) {
        draw(&set, NULL, resamples.rng);
        read_off(&set, figures);
        for (int j = 0; j < N_TAILS_FIGURES; j++) {
            resamples.of[j][i] = figures[j];
        }
    }
    if (status == WEIR_OK) {
        figures_of(&set, figures);
        out->n_samples = n;
        for (int j = 0; j < N_TAILS_FIGURES; j++) {
            out->of[j].value = to_whole(figures[j]);
            interval(&resamples, j, &out->of[j].low, &out->of[j].high);
        }
    }
    resamples_free(&resamples);
    set_free(&set);
    return status;
}

/* --- two sets --------------------------------------------------------------------------------- */

static void write_changes(struct resamples *resamples, const struct set *before,
                          const struct set *after, struct tails_comparison *out)
{
    double a[N_TAILS_FIGURES], b[N_TAILS_FIGURES];

    figures_of(before, a);
    figures_of(after, b);
    out->n_before = before->n;
    out->n_after = after->n;
    for (int j = 0; j < N_TAILS_FIGURES; j++) {
        struct tails_change *change = &out->of[j];

        change->before = to_whole(a[j]);
        change->after = to_whole(b[j]);
        change->change = to_whole(b[j] - a[j]);
        interval(resamples, j, &change->low, &change->high);
    }
}

enum weir_status tails_compare(const int64_t *before, size_t n_before, const int64_t *after,
                               size_t n_after, enum tails_pairing pairing, uint64_t seed,
                               struct tails_comparison *out, struct weir_error *err)
{
    struct resamples resamples = {.rng = NULL};
    double a[N_TAILS_FIGURES], b[N_TAILS_FIGURES];
    struct set sets[2] = {{.n = 0}, {.n = 0}};
    enum weir_status status = set_make(&sets[0], before, n_before, err);

    assert(pairing == TAILS_APART || n_before == n_after);
    if (status == WEIR_OK) {
        status = set_make(&sets[1], after, n_after, err);
    }
    if (status == WEIR_OK) {
        status = resamples_make(&resamples, seed, err);
    }
    for (int i = 0; i < TAILS_RESAMPLES && status == WEIR_OK; i++) {
        draw(&sets[0], pairing == TAILS_PAIRED ? &sets[1] : NULL, resamples.rng);
        if (pairing == TAILS_APART) {
            draw(&sets[1], NULL, resamples.rng);
        }
        read_off(&sets[0], a);
        read_off(&sets[1], b);
        for (int j = 0; j < N_TAILS_FIGURES; j++) {
            resamples.of[j][i] = b[j] - a[j];
        }
    }
    if (status == WEIR_OK) {
        write_changes(&resamples, &sets[0], &sets[1], out);
    }
    resamples_free(&resamples);
    set_free(&sets[0]);
    set_free(&sets[1]);
    return status;
}

enum tails_verdict tails_regress(const struct tails_comparison *comparison,
                                 enum tails_figure declared)
{
    const struct tails_change *mean = &comparison->of[TAILS_MEAN];
    const struct tails_change *tail = &comparison->of[declared];

    if (mean->change >= 0 || tail->change <= 0) {
        return TAILS_FINE;
    }
    return mean->high < 0 && tail->low > 0 ? TAILS_REGRESSES : TAILS_DOUBTFUL;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *const names[N_TAILS_FIGURES] = {"mean", "median", "p90", "p95", "p99", "worst"};

const char *tails_figure_name(enum tails_figure figure)
{
    return names[figure];
}

bool tails_figure_from(const char *name, enum tails_figure *out)
{
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum tails_figure)i;
            return true;
        }
    }
    return false;
}
