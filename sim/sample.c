/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing lengths. GSL gives the distributions, base/random.h the bits, as a generator of GSL's. */
#include "sim/sample.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/array.h"
#include "base/random.h"
#include "graph/check.h"

/* --- the generator --------------------------------------------------------------------------- */

static void stream_set(void *state, unsigned long seed)
{
    random_seed(state, seed, 0);
}

static unsigned long stream_get(void *state)
{
    return (unsigned long)random_bits(state);
}

static double stream_get_double(void *state)
{
    return random_unit(state);
}

static const gsl_rng_type stream_type = {.name = "xoshiro256**",
                                         .max = ULONG_MAX,
                                         .min = 0,
                                         .size = sizeof(struct random_stream),
                                         .set = stream_set,
                                         .get = stream_get,
                                         .get_double = stream_get_double};

struct sampler_source {
    struct random_stream stream;
    gsl_rng rng; /* whose state is the stream */
};

struct sampler_source *sampler_source_new(void)
{
    struct sampler_source *source = malloc(sizeof *source);

    if (source != NULL) {
        source->rng = (gsl_rng){.type = &stream_type, .state = &source->stream};
    }
    return source;
}

void sampler_source_free(struct sampler_source *source)
{
    free(source);
}

/* --- what is drawn --------------------------------------------------------------------------- */

struct draw {
    enum distribution_kind kind;
    uint32_t place;    /* WEIR_NONE: nowhere */
    uint32_t n_values; /* of an empirical one */
    double a, b;       /* normal: mean, deviation; lognormal: those of the logarithm; gamma: shape,
                          scale */
    int64_t least_ns;  /* of a uniform one */
    uint64_t n_whole;  /* how many whole numbers it has */
    size_t first;      /* of an empirical one: values_ns[first] and on */
};

struct sampler {
    struct draw *draws; /* in program order */
    size_t draws_room;
    uint32_t n_draws;
    int64_t *values_ns;
    size_t values_room, n_values;
    int64_t *fixed_ns; /* the row without draws */
    uint32_t n_places;
};

static enum weir_status keep_values(struct sampler *sampler, const struct graph_duration *duration,
                                    struct weir_error *err)
{
    enum weir_status status = array_grow(&sampler->values_ns, &sampler->values_room,
                                         sampler->n_values + duration->n_values, err);

    for (uint32_t i = 0; i < duration->n_values && status == WEIR_OK; i++) {
        sampler->values_ns[sampler->n_values++] = duration->values_ns[i];
    }
    return status;
}

/* The parameters as they are drawn with; false when it is no more than a number. */
static bool read_parameters(const struct graph_duration *duration, struct draw *draw)
{
    double mean, deviation, ratio;

    if (duration->n_values < 2) {
        return false; /* fixed, or empirical with one time: that is its mean */
    }
    mean = (double)duration->values_ns[0];
    deviation = (double)duration->values_ns[1];
    switch (duration->kind) {
    case DISTRIBUTION_NORMAL:
        draw->a = mean;
        draw->b = deviation;
        return deviation > 0;
    case DISTRIBUTION_LOGNORMAL:
        if (mean <= 0 || deviation <= 0) {
            return false;
        }
        ratio = deviation / mean;
        draw->b = sqrt(log1p(ratio * ratio));
        draw->a = log(mean) - draw->b * draw->b / 2;
        return true;
    case DISTRIBUTION_GAMMA:
        if (mean <= 0 || deviation <= 0) {
            return false;
        }
        draw->a = mean / deviation * (mean / deviation);
        draw->b = deviation / mean * deviation;
        return true;
    case DISTRIBUTION_UNIFORM:
        draw->least_ns = duration->values_ns[0];
        draw->n_whole = (uint64_t)(duration->values_ns[1] - duration->values_ns[0]) + 1;
        return duration->values_ns[1] > duration->values_ns[0];
    case DISTRIBUTION_EMPIRICAL:
        return true;
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_UNKNOWN:
        return false;
    }
    return false;
}

static enum weir_status add_draw(struct sampler *sampler, const struct graph_duration *duration,
                                 uint32_t place, struct weir_error *err)
{
    struct draw draw = {.kind = duration->kind,
                        .place = place,
                        .n_values = duration->n_values,
                        .first = sampler->n_values};
    enum weir_status status = WEIR_OK;

    if (!read_parameters(duration, &draw)) {
        return WEIR_OK;
    }
    if (draw.kind == DISTRIBUTION_EMPIRICAL) {
        status = keep_values(sampler, duration, err);
    }
    if (status == WEIR_OK) {
        status =
            array_grow(&sampler->draws, &sampler->draws_room, (size_t)sampler->n_draws + 1, err);
    }
    if (status == WEIR_OK) {
        sampler->draws[sampler->n_draws++] = draw;
    }
    return status;
}

static enum weir_status add_node(struct sampler *sampler, const struct graph *graph, weir_node node,
                                 uint32_t place, struct weir_error *err)
{
    struct graph_node value;
    int64_t length_ns;

    if (!graph_node_is_on(graph, node)) {
        return WEIR_OK;
    }
    if (!graph_node_length_ns(graph, node, &length_ns)) {
        return check_cost_error(graph, node, err);
    }
    if (place != WEIR_NONE) {
        sampler->fixed_ns[place] = length_ns;
    }
    graph_node(graph, node, &value);
    return value.has_duration ? add_draw(sampler, &value.duration, place, err) : WEIR_OK;
}

enum weir_status sampler_new(const struct graph *graph, const uint32_t *places, uint32_t n_places,
                             struct sampler **out, struct weir_error *err)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);
    enum weir_status status = WEIR_OK;

    if (sampler == NULL) {
        return weir_error_memory(err);
    }
    sampler->n_places = n_places;
    sampler->fixed_ns = calloc((size_t)n_places + 1, sizeof *sampler->fixed_ns);
    if (sampler->fixed_ns == NULL) {
        status = weir_error_memory(err);
    }
    for (uint32_t i = 0; i < graph_n_nodes(graph) && status == WEIR_OK; i++) {
        status = add_node(sampler, graph, (weir_node){i}, places == NULL ? i : places[i], err);
    }
    if (status != WEIR_OK) {
        sampler_free(sampler);
        return status;
    }
    *out = sampler;
    return WEIR_OK;
}

void sampler_free(struct sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    free(sampler->draws);
    free(sampler->values_ns);
    free(sampler->fixed_ns);
    free(sampler);
}

uint32_t sampler_n_random(const struct sampler *sampler)
{
    return sampler->n_draws;
}

uint32_t sampler_zero_mean(const struct sampler *sampler)
{
    for (uint32_t i = 0; i < sampler->n_draws; i++) {
        uint32_t place = sampler->draws[i].place;

        if (place != WEIR_NONE && sampler->fixed_ns[place] == 0) {
            return place;
        }
    }
    return WEIR_NONE;
}

/* Streams below are for others of the same seed. */
#define SAMPLE_STREAMS (UINT64_C(1) << 32)

/* --- drawing --------------------------------------------------------------------------------- */

static int64_t to_ns(double value)
{
    return value <= 0 ? 0 : value >= 0x1p63 ? INT64_MAX : (int64_t)llround(value);
}

static int64_t draw_one(const struct sampler *sampler, const struct draw *draw,
                        struct sampler_source *source)
{
    switch (draw->kind) {
    case DISTRIBUTION_NORMAL:
        return to_ns(draw->a + draw->b * gsl_ran_gaussian_ziggurat(&source->rng, 1));
    case DISTRIBUTION_LOGNORMAL:
        return to_ns(exp(draw->a + draw->b * gsl_ran_gaussian_ziggurat(&source->rng, 1)));
    case DISTRIBUTION_GAMMA:
        return to_ns(gsl_ran_gamma(&source->rng, draw->a, draw->b));
    case DISTRIBUTION_UNIFORM:
        return draw->least_ns + (int64_t)random_below(&source->stream, draw->n_whole);
    case DISTRIBUTION_EMPIRICAL:
        return sampler->values_ns[draw->first + random_below(&source->stream, draw->n_values)];
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_UNKNOWN:
        break;
    }
    return 0;
}

void sampler_fill(const struct sampler *sampler, int64_t *length_ns)
{
    for (uint32_t i = 0; i < sampler->n_places; i++) {
        length_ns[i] = sampler->fixed_ns[i];
    }
}

void sampler_draw(const struct sampler *sampler, struct sampler_source *source, uint64_t seed,
                  uint64_t number, int64_t *length_ns)
{
    random_seed(&source->stream, seed, number + SAMPLE_STREAMS);
    for (uint32_t i = 0; i < sampler->n_draws; i++) {
        const struct draw *draw = &sampler->draws[i];
        int64_t drawn_ns = draw_one(sampler, draw, source);

        if (draw->place != WEIR_NONE) {
            length_ns[draw->place] = drawn_ns;
        }
    }
}
