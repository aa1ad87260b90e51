/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier: holds a run against its graph and its machine. It derives which copies there are,
 * how long they live and which order follows from them on its own, from the graph as it is read and
 * the times of the run; it shares no code with what simulates, binds or replays. Every cost is
 * n log n in nodes, accesses and rows, but for the sets of contention and pairs of classes, which
 * cost as many steps an instant as they have members. */
#ifndef WEIR_JUDGE_VERIFY_H
#define WEIR_JUDGE_VERIFY_H

#include "base/arena.h"
#include "store/store.h"

enum verify_check_id {
#define VERIFY_CHECK(id, name, what) VERIFY_CHECK_##id,
#define VERIFY_CODE(id, check, name, what)
#include "judge/verify.def"
    VERIFY_CHECKS
};

enum verify_code {
#define VERIFY_CHECK(id, name, what)
#define VERIFY_CODE(id, check, name, what) VERIFY_##id,
#include "judge/verify.def"
    VERIFY_CODES
};

struct verify_options {
    int64_t tolerance_ns;   /* so much sooner than its order lets it may a node start */
    double tolerance_ratio; /* the same as a part of the makespan; the greater of the two counts */
    bool is_steered; /* the policy may hold nodes and change priorities while time runs, so that who
                        starts first is its own affair */
};

/* One thing that is wrong. Ids are none where they say nothing. */
struct verify_finding {
    enum verify_code code;
    weir_node node, other;
    weir_object object;
    weir_domain domain;
    int64_t t_ns;        /* the instant; -1: none */
    const char *message; /* what was found, and what was expected */
};

struct verify_check {
    int64_t n_checked;   /* facts that were looked at */
    int64_t n_findings;  /* of which so many are wrong */
    const char *skipped; /* why nothing, or not all, was checked; NULL */
};

struct verify_result {
    struct verify_check checks[VERIFY_CHECKS];
    struct verify_finding
        *findings; /* of each check no more than VERIFY_KEPT, in the order of checks */
    size_t n_findings, findings_room;
    int64_t n_wrong; /* all of them */
    struct arena texts;
};

#define VERIFY_KEPT 20

/** Verifies. Of a simulation everything; of a replay or a recording what a device has to keep: the
 *  order, the lifetimes, engines and capacity, within the tolerance. What is not checked says so.
 *  @param run as it was read from a store, or as one would be written: with graph, timeline and
 *         settings
 *  @param out the caller frees it with verify_free, also when this fails
 *  @return WEIR_OK, whatever was found; WEIR_MEMORY */
MUST_CHECK enum weir_status verify_run(const struct run *run, const struct verify_options *options,
                                       struct verify_result *out, struct weir_error *err);
/** Does every table that users read say what the run says? Adds to @p result. */
MUST_CHECK enum weir_status verify_views(struct store *store, const struct run *run,
                                         struct verify_result *result, struct weir_error *err);
void verify_free(struct verify_result *result);

const char *verify_check_name(enum verify_check_id);
const char *verify_check_what(enum verify_check_id);
const char *verify_code_name(enum verify_code);
const char *verify_code_what(enum verify_code);
enum verify_check_id verify_code_check(enum verify_code);

#endif
