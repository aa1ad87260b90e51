/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lengths drawn from what the graph says of durations. Sample k of a seed has a random stream of its
 * own, seeded from both, and draws the nodes in program order: the same lengths whichever thread draws
 * them, and whatever was drawn before.
 *
 * A draw is whole nanoseconds, to the nearest, halves away from zero. normal(m,s) is cut off at 0: a
 * draw below counts as 0, which moves the mean where s is near m or above it. lognormal(m,s) and
 * gamma(m,s) have mean m and standard deviation s themselves: log x is normal with variance
 * v = log(1 + s^2 / m^2) and mean log m - v / 2; gamma has the shape m^2 / s^2 and the scale s^2 / m.
 * uniform(a,b) takes each whole number from a to b as often; empirical(...) each of its times. With
 * s = 0, or m = 0 of a lognormal or gamma, the draw is m. What has no distribution keeps its length.
 *
 * log and exp differ in their last bit between processors, so that a draw may differ there by a
 * nanosecond now and then. */
#ifndef WEIR_SIM_SAMPLE_H
#define WEIR_SIM_SAMPLE_H

#include "graph/graph.h"

/* What is drawn, node by node; nothing in it changes: threads share it. */
struct sampler;

/** @param places  by node: where in the row of lengths its own stands, WEIR_NONE for nowhere (it is
 *                 drawn all the same); NULL: at its number
 *  @param n_places length of the row; what no node has stays 0
 *  @return WEIR_OK; WEIR_INPUT when a length is missing or unknown; WEIR_MEMORY */
MUST_CHECK enum weir_status sampler_new(const struct graph *graph, const uint32_t *places,
                                        uint32_t n_places, struct sampler **out,
                                        struct weir_error *err);
void sampler_free(struct sampler *sampler);

/** Nodes whose length is drawn. */
uint32_t sampler_n_random(const struct sampler *sampler);
/** The place of one whose mean is 0; WEIR_NONE when there is none. */
uint32_t sampler_zero_mean(const struct sampler *sampler);

/* What one thread draws with. */
struct sampler_source;

struct sampler_source *sampler_source_new(void); /* NULL when memory ran out */
void sampler_source_free(struct sampler_source *source);

/** The row as it is without draws: to be written once before sampler_draw. */
void sampler_fill(const struct sampler *sampler, int64_t *length_ns);
/** Draws that sample into a row that was filled. Its stream is none that a policy with that seed has.
 *  A draw past 2^63 - 1 ns counts as that. */
void sampler_draw(const struct sampler *sampler, struct sampler_source *source, uint64_t seed,
                  uint64_t number, int64_t *length_ns);

#endif
