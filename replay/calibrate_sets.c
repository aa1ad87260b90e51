/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of more than two actions at once, and the models that are fitted to them. What classes ask of
 * resources follows from their rates alone; the fit finds what several get of each together, and for
 * each direction of copies how often its bytes pass the memory. */
#include <math.h>
#include <string.h>

#include "replay/calibrate_internal.h"

#define FEWER 3             /* sets are measured in so many times fewer blocks than pairs */
#define FLOOR_SIGMA 0.005   /* of a logarithm: no measurement is better */
#define INTERVAL_SIGMA 3.92 /* a 95 % interval is so many standard deviations wide */
#define AT_ONCE 0.9         /* of the others ran meanwhile: else they were not beside it */
#define TRIPLES (CALIBRATE_CLASSES * CALIBRATE_CLASSES * (CALIBRATE_CLASSES - 1) / 2)
#define SEED 20150801

const char *calibrate_resource_name(enum calibrate_resource resource)
{
    static const char *const names[] = {"issue", "memory", "cache", "h2d-link", "d2h-link"};

    return names[resource];
}

/* ---- which sets ---- */

/* Are there processors for so many queues? */
static bool has_room(const struct calibration *c, uint32_t n_queues)
{
    return c->has_kappa && c->info.n_processors >= n_queues;
}

uint32_t calibrate_count_sets(const struct calibration *c)
{
    return !has_room(c, 3)  ? 0
           : has_room(c, 4) ? CALIBRATE_SETS
                            : CALIBRATE_SETS - CALIBRATE_CLASSES;
}

static void add_level(struct calibration *c, int slowed, int beside, uint32_t n)
{
    struct calibrate_set *set = &c->sets[c->n_sets++];

    *set = (struct calibrate_set){.slowed = (enum calibrate_class)slowed};
    set->n_beside[beside] = n;
}

static void add_levels(struct calibration *c)
{
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES; p++)
        add_level(c, p / CALIBRATE_CLASSES, p % CALIBRATE_CLASSES, 2);
    for (int i = 0; i < CALIBRATE_CLASSES && has_room(c, 4); i++)
        add_level(c, i, i, 3);
}

static void list_triples(struct calibrate_set triples[TRIPLES])
{
    uint32_t n = 0;

    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        for (int j = 0; j < CALIBRATE_CLASSES; j++) {
            for (int k = j + 1; k < CALIBRATE_CLASSES; k++) {
                struct calibrate_set *set = &triples[n++];

                *set = (struct calibrate_set){.slowed = (enum calibrate_class)i, .is_unseen = true};
                set->n_beside[j] = 1;
                set->n_beside[k] = 1;
            }
        }
    }
}

/* The first of a shuffle by a fixed seed. */
static void add_triples(struct calibration *c)
{
    struct calibrate_set triples[TRIPLES];
    uint64_t state = SEED;

    list_triples(triples);
    for (uint32_t i = 0; i < CALIBRATE_UNSEEN; i++) {
        uint32_t other;
        struct calibrate_set kept = triples[i];

        state = state * 6364136223846793005u + 1442695040888963407u;
        other = i + (uint32_t)((state >> 33) % (TRIPLES - i));
        triples[i] = triples[other];
        triples[other] = kept;
        c->sets[c->n_sets++] = triples[i];
    }
}

/* ---- measuring ---- */

static enum weir_status measure_set(const struct calibration *c, struct calibrate_set *set,
                                    uint32_t n_blocks, struct weir_error *err)
{
    const struct measure_runner slowed = {calibrate_action(set->slowed), &c->rates[set->slowed]};
    struct measure_runner others[MEASURE_OTHERS];
    uint32_t n = 0;

    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        for (uint32_t k = 0; k < set->n_beside[i] && n < MEASURE_OTHERS; k++)
            others[n++] =
                (struct measure_runner){calibrate_action((enum calibrate_class)i), &c->rates[i]};
    }
    return measure_kappa(c->ops, &slowed, others, n, CALIBRATE_PAIR_NS, n_blocks, &set->kappa, err);
}

enum weir_status calibrate_measure_sets(const struct calibrate_options *options,
                                        struct calibration *c, struct weir_error *err)
{
    uint32_t n_blocks = options->n_repeats / FEWER < FIT_FEWEST_BLOCKS ? FIT_FEWEST_BLOCKS
                                                                       : options->n_repeats / FEWER;
    enum weir_status status = WEIR_OK;

    if (calibrate_count_sets(c) == 0)
        return WEIR_OK;
    add_levels(c);
    add_triples(c);
    for (uint32_t i = 0; i < c->n_sets && status == WEIR_OK; i++) {
        status = measure_set(c, &c->sets[i], n_blocks, err);
        c->n_noisy += status == WEIR_OK && calibrate_is_noisy(&c->sets[i].kappa.noise);
        calibrate_tell(options, c, CALIBRATE_CLASSES * (CALIBRATE_CLASSES + 1) + i + 1);
    }
    return status;
}

/* ---- fitting ---- */

static double per_s(const struct calibration *c, enum calibrate_class class_)
{
    return calibrate_rate_of(c, class_).per_s;
}

/* How often a byte that the class counts is an amount of the resource: 0 when it asks for none. */
static double times_of(enum calibrate_class class_, enum calibrate_resource resource)
{
    static const double times[CALIBRATE_CLASSES][CALIBRATE_RESOURCES] = {
        [CALIBRATE_COMPUTE] = {[CALIBRATE_ISSUE] = 1},
        [CALIBRATE_STREAM] = {[CALIBRATE_MEMORY] = 1, [CALIBRATE_CACHE_PORT] = 1},
        [CALIBRATE_CACHE] = {[CALIBRATE_CACHE_PORT] = 1},
        [CALIBRATE_MIX] = {[CALIBRATE_ISSUE] = 2.0 * STEP_MIX_FMAS / STEP_MIX_BYTES,
                           [CALIBRATE_MEMORY] = 2,
                           [CALIBRATE_CACHE_PORT] = 2},
        [CALIBRATE_H2D] =
            {[CALIBRATE_MEMORY] = 1, [CALIBRATE_CACHE_PORT] = 1, [CALIBRATE_H2D_LINK] = 1},
        [CALIBRATE_D2H] =
            {[CALIBRATE_MEMORY] = 1, [CALIBRATE_CACHE_PORT] = 1, [CALIBRATE_D2H_LINK] = 1},
        [CALIBRATE_D2D] = {[CALIBRATE_MEMORY] = 2, [CALIBRATE_CACHE_PORT] = 2},
    };

    return times[class_][resource];
}

static double demand_of(const struct calibration *c, enum calibrate_class class_,
                        enum calibrate_resource resource)
{
    return times_of(class_, resource) * per_s(c, class_);
}

enum calibrate_class calibrate_fullest(const struct calibration *c,
                                       enum calibrate_resource resource)
{
    enum calibrate_class fullest = CALIBRATE_COMPUTE;

    for (int i = 1; i < CALIBRATE_CLASSES; i++) {
        if (demand_of(c, (enum calibrate_class)i, resource) > demand_of(c, fullest, resource))
            fullest = (enum calibrate_class)i;
    }
    return fullest;
}

double calibrate_capacity(const struct calibration *c, enum calibrate_resource resource)
{
    return demand_of(c, calibrate_fullest(c, resource), resource);
}

static void find_demands(struct calibration *c)
{
    struct families_demands *demands = &c->demands;

    *demands = (struct families_demands){.n_classes = CALIBRATE_CLASSES,
                                         .n_resources = CALIBRATE_RESOURCES};
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        demands->weighted[i] = i >= CALIBRATE_H2D ? CALIBRATE_MEMORY : UINT32_MAX;
        for (int r = 0; r < CALIBRATE_RESOURCES; r++)
            demands->parts[i][r] =
                demand_of(c, (enum calibrate_class)i, (enum calibrate_resource)r) /
                calibrate_capacity(c, (enum calibrate_resource)r);
        for (int j = 0; j < CALIBRATE_CLASSES; j++)
            demands->factors[i][j] = fmax(1, c->kappas[i][j].factor);
    }
}

static double sigma_of(const struct measure_kappa *kappa)
{
    double width = log(fmax(kappa->range.high, 1e-9) / fmax(kappa->range.low, 1e-9));

    return hypot(FLOOR_SIGMA, width / INTERVAL_SIGMA);
}

/* @param pair all that has to do with one pair of classes is one block */
static struct families_set set_of(const struct measure_kappa *kappa, uint32_t slowed, size_t pair)
{
    return (struct families_set){
        .slowed = slowed, .kappa = kappa->factor, .sigma = sigma_of(kappa), .block = pair};
}

/* Where copies wait for one engine, the set is another than it says: nothing is learned from it. */
static bool was_at_once(const struct families_set *set, const struct measure_kappa *kappa)
{
    uint32_t n = 0;

    for (uint32_t j = 0; j < CALIBRATE_CLASSES; j++)
        n += set->n_beside[j];
    return kappa->n_beside >= AT_ONCE * n;
}

/* @param fitted, unseen room for all *n_unseen of them 0 before
 * @return how many are fitted */
static uint32_t sort_sets(const struct calibration *c, struct families_set *fitted,
                          struct families_set *unseen, uint32_t *n_unseen)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES; p++) {
        uint32_t i = p / CALIBRATE_CLASSES;
        uint32_t j = p % CALIBRATE_CLASSES;

        fitted[n] = set_of(&c->kappas[i][j], i, p);
        fitted[n].n_beside[j] = 1;
        n += was_at_once(&fitted[n], &c->kappas[i][j]) ? 1 : 0;
    }
    for (uint32_t s = 0; s < c->n_sets; s++) {
        const struct calibrate_set *set = &c->sets[s];
        struct families_set one = set_of(&set->kappa, set->slowed, 0);

        for (uint32_t j = 0; j < CALIBRATE_CLASSES; j++) {
            one.n_beside[j] = set->n_beside[j];
            if (set->n_beside[j] > 0)
                one.block = (size_t)set->slowed * CALIBRATE_CLASSES + j;
        }
        if (!was_at_once(&one, &set->kappa))
            continue;
        if (set->is_unseen)
            unseen[(*n_unseen)++] = one;
        else
            fitted[n++] = one;
    }
    return n;
}

/* That no model fits is an answer: then factors are all there is. */
enum weir_status calibrate_fit_sets(struct calibration *c, struct weir_error *err)
{
    struct families_set fitted[CALIBRATE_SETS + CALIBRATE_CLASSES * CALIBRATE_CLASSES];
    struct families_set unseen[CALIBRATE_UNSEEN];
    uint32_t n;
    enum weir_status status;

    if (c->n_sets == 0)
        return WEIR_OK;
    find_demands(c);
    n = sort_sets(c, fitted, unseen, &c->n_unseen);
    if (c->n_unseen == 0)
        return WEIR_OK;
    status = families_fit(&c->demands, fitted, n, &c->model, err);
    if (status != WEIR_OK && status != WEIR_INPUT)
        return status;
    c->is_fitted = status == WEIR_OK;
    if (!c->is_fitted) {
        memset(&c->model, 0, sizeof c->model);
        for (int r = 0; r < CALIBRATE_RESOURCES; r++)
            c->model.eta[r] = c->model.share_eta[r] = 1;
        for (int i = 0; i < CALIBRATE_CLASSES; i++)
            c->model.weight[i] = c->model.share_weight[i] = 1;
        c->model.power = 1;
    }
    status = families_judge(&c->demands, &c->model, fitted, n, unseen, c->n_unseen, c->errors, err);
    if (status == WEIR_OK && c->is_fitted)
        status = families_choose(&c->demands, &c->model, unseen, c->n_unseen, c->errors, &c->choice,
                                 err);
    /* As they will stand in the machine, so that whoever compares them there finds the same. */
    for (int f = 0; f < FAMILIES && status == WEIR_OK; f++)
        c->errors[f].mean = round(c->errors[f].mean * 1e4) / 1e4;
    return status;
}

enum family calibrate_family(const struct calibration *c)
{
    return c->is_fitted ? c->choice.best : FAMILY_PAIRWISE;
}
