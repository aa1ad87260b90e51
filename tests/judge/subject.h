/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that the verifier judges: a graph drawn from a seed, with all that makes a schedule hard, and what
 * the simulator made of it. One thing in it may then be damaged: the graph, the run, or what was
 * recorded of it; the verifier must say so, by a code that names the damage. */
#ifndef TESTS_JUDGE_SUBJECT_H
#define TESTS_JUDGE_SUBJECT_H

#include "base/random.h"
#include "judge/overlap.h"
#include "judge/verify.h"
#include "sim/simulate.h"
#include "tests/suite.h"

/* The nodes n0, n1, ... of a drawn graph have the ids 1 to N_NODES. */
enum { TEXT_BYTES = 16384, N_NODES = 26, N_SEEDS = 60 };

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

struct subject {
    struct graph *graph;
    struct report *report;
    struct plan *plan;
    struct simulate_result result;
    struct timeline *timeline;
    struct overlaps overlaps;
    struct run_overlap *rows;
    char settings[128];
    struct run_link *links;
    struct run run;
};

/** Writes the graph of that seed. Domain 0 is the device's; engine 0, a, has one slot. */
void subject_draw(struct text *text, uint64_t seed);

/** Simulates a graph, and keeps of it what a store keeps. To be freed whatever is returned.
 *  @return false when it did not end well: a damage to it shows nothing */
bool subject_make(struct subject *subject, const char *text, enum contention contention);

void subject_free(struct subject *subject);

/** Verifies the run, with no tolerance. */
void subject_verify(const struct subject *subject, struct verify_result *result);

struct timeline_span *subject_span(struct subject *subject, uint32_t node);

/** Some node for which it holds; WEIR_NONE when there is none. */
uint32_t subject_pick(struct subject *subject, struct random_stream *random,
                      bool (*holds)(const struct subject *, uint32_t));

uint32_t subject_node(const struct subject *subject, const char *name);

static inline uint32_t below(struct random_stream *random, uint32_t n)
{
    return (uint32_t)random_below(random, n);
}

struct damage {
    const char *name;
    bool (*does)(struct subject *, struct random_stream *); /* false: this run is not fit for it */
    enum contention contention;
    enum verify_code
        codes[4]; /* one of them must be told; the first again, where there are fewer */
};

/* The codes of a damage that one code alone names. */
#define ONE(code)                                                  \
    {                                                              \
        VERIFY_##code, VERIFY_##code, VERIFY_##code, VERIFY_##code \
    }

/** Does it to the run of every seed that is fit for it, of which there must be one, and asserts that it
 *  is told every time. */
void damage_is_told(const struct damage *damage);

#endif
