/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that explains a run, found together: for the verbs that tell of it. */
#ifndef WEIR_CMD_EXPLAINED_H
#define WEIR_CMD_EXPLAINED_H

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "graph/analyze.h"
#include "judge/gave_way.h"
#include "judge/makeup.h"
#include "judge/overlap.h"
#include "judge/pressure.h"
#include "judge/waiting.h"

struct explained_options {
    int64_t wait_bound_ns; /* -1: none is declared */
    uint32_t n_rows;       /* of the longest waits that are listed */
    size_t n_stretches;    /* of the chain that are listed, the longest */
    bool is_brief;         /* without pressure and bounds */
};

/* What is known of the run that is explained. */
struct explained {
    const struct run *run;
    const struct graph *graph;
    const struct timeline *timeline;
    struct bound_index *index;
    const struct run_link *links; /* the critical chain: the run's, else its own */
    struct run_link *own_links;
    size_t n_links;
    struct makeup makeup;
    size_t *stretches; /* of it: those that are listed */
    size_t n_stretches;
    struct stalls stalls;
    struct pressure_domain *pressure; /* by domain */
    struct overlaps overlaps;
    bool *is_hypothetical; /* by pair of overlaps; NULL: nothing is */
    struct waiting waiting;
    struct gave_way *ways;
    size_t n_ways;
    /* What no schedule beats; not of a run at another scale of time, and has_bounds is false then. */
    bool has_bounds;
    int64_t precedence_ns;        /* the least end by precedence and releases */
    struct analyze_bounds bounds; /* by id of engine and resource */
};

/** Finds all of it. @param run with its graph, timeline and, if it has one, its chain; must outlive
 *  the result  @param binding of the graph
 *  @return WEIR_OK; WEIR_MEMORY. The caller frees with explained_free, also after a failure. */
MUST_CHECK enum weir_status explained_find(const struct run *run, const struct binding *binding,
                                           const struct explained_options *options,
                                           struct explained *out, struct weir_error *err);
void explained_free(struct explained *explained);

/** The index and the chain alone, for who asks of one node; the rest stays empty. */
MUST_CHECK enum weir_status explained_index(const struct run *run, const struct binding *binding,
                                            struct explained *out, struct weir_error *err);

/** What a simulation says of itself is not what a recording can: what is missing, as a sentence; NULL
 *  when nothing is. */
const char *explained_missing(const struct run *run);

/* Names, for people and for JSON: "" for a class that is none. */
const char *explained_engine(const struct explained *explained, weir_engine engine);
const char *explained_domain(const struct explained *explained, weir_domain domain);
const char *explained_class(const struct explained *explained, weir_class class_);

/** Prints a time of the run to the nanosecond: 12.518043211 s. (explained_put.c) */
void explained_put_at(int64_t ns);

/* explained_json.c: parts of an answer, each a key of the object that is open. */
void explained_json_makeup(struct json *json, const struct explained *explained);
void explained_json_stalls(struct json *json, const struct explained *explained);
void explained_json_waits(struct json *json, const struct explained *explained);
void explained_json_pressure(struct json *json, const struct explained *explained);
void explained_json_overlaps(struct json *json, const struct explained *explained);
void explained_json_bounds(struct json *json, const struct explained *explained);

/* explained_text*.c: the same for people, each a paragraph. */
void explained_print_makeup(const struct explained *explained);
void explained_print_stalls(const struct explained *explained);
void explained_print_waits(const struct explained *explained);
void explained_print_pressure(const struct explained *explained);
void explained_print_overlaps(const struct explained *explained);
void explained_print_bounds(const struct explained *explained);
/** A few lines: what the makespan is made of, what engines stood still for, the longest wait. */
void explained_print_brief(const struct explained *explained);

#endif
