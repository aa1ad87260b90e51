/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who was to run: every node whose guard is on, but those that gave way when their windows closed, and
 * but fallbacks to which nobody gave way. A node is needed from the beginning, a fallback from when the
 * first node that it stands in for gives way; it is known that it is not needed when the last of them
 * has started, or is not needed itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "judge/verify_internal.h"

struct fates {
    struct verify *verify;
    uint32_t *fallback; /* by node: who stands in for it; NONE */
    int64_t *closes_ns; /* by node: its window; NEVER_NS: it does not close */
    bool *is_failing;   /* by node: the run fails when its window closes */
    uint32_t *n_open;   /* by node: whom it stands in for, and of whom nothing is known yet */
    bool *is_standin;   /* by node: it stands in for somebody whose guard is on */
    bool *is_unsettled; /* by node: of somebody it stands in for nothing came to be known */
    uint32_t *line;     /* nodes in an order in which each comes after those it stands in for */
};

static enum weir_status fates_begin(struct fates *fates)
{
    struct verify *verify = fates->verify;
    size_t n = (size_t)verify->n_nodes + 1;

    fates->fallback = malloc(n * sizeof *fates->fallback);
    fates->closes_ns = malloc(n * sizeof *fates->closes_ns);
    fates->is_failing = calloc(n, sizeof *fates->is_failing);
    fates->n_open = calloc(n, sizeof *fates->n_open);
    fates->is_standin = calloc(n, sizeof *fates->is_standin);
    fates->is_unsettled = calloc(n, sizeof *fates->is_unsettled);
    fates->line = malloc(n * sizeof *fates->line);
    verify->armed = malloc(n * sizeof *verify->armed);
    verify->settled = malloc(n * sizeof *verify->settled);
    if (fates->fallback == NULL || fates->closes_ns == NULL || fates->is_failing == NULL ||
        fates->n_open == NULL || fates->is_standin == NULL || fates->is_unsettled == NULL ||
        fates->line == NULL || verify->armed == NULL || verify->settled == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        fates->fallback[i] = NONE;
        fates->closes_ns[i] = NEVER_NS;
        verify->armed[i] = (struct moment){0, TURN_ENDS};
        verify->settled[i] = (struct moment){NEVER_NS, 0};
    }
    return WEIR_OK;
}

static void fates_free(struct fates *fates)
{
    free(fates->fallback);
    free(fates->closes_ns);
    free(fates->is_failing);
    free(fates->n_open);
    free(fates->is_standin);
    free(fates->is_unsettled);
    free(fates->line);
}

/* @return is there any fallback, or any window that fails the run? */
static bool read_windows(struct fates *fates)
{
    const struct verify *verify = fates->verify;
    bool is_any = false;

    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        struct graph_node value;
        int64_t length_ns;

        graph_node(verify->graph, (weir_node){i}, &value);
        if (value.fallback == FALLBACK_NODE) {
            fates->is_standin[value.fallback_node.index] = true;
            is_any = true;
        }
        if (!verify->nodes[i].is_on ||
            (value.fallback != FALLBACK_NODE && value.fallback != FALLBACK_FAIL)) {
            continue;
        }
        is_any = true;
        if (value.fallback == FALLBACK_NODE) {
            fates->fallback[i] = value.fallback_node.index;
            fates->n_open[value.fallback_node.index]++;
        }
        fates->is_failing[i] = value.fallback == FALLBACK_FAIL;
        length_ns = verify->nodes[i].length_ns;
        if (value.deadline_ns >= 0 && length_ns >= 0) {
            fates->closes_ns[i] = value.deadline_ns > length_ns ? value.deadline_ns - length_ns : 0;
        }
    }
    return is_any;
}

static struct moment start_of(const struct verify *verify, uint32_t node)
{
    const struct timeline_span *span = &verify->timeline->spans[node];

    return (struct moment){span->start_ns, span->order + 1};
}

/* The node gives way at that time: its fallback is needed from then on. */
static enum weir_status give_way(struct fates *fates, uint32_t node, int64_t at_ns)
{
    struct verify *verify = fates->verify;
    uint32_t fallback = fates->fallback[node];
    enum weir_status status =
        array_grow(&verify->way_ns, &verify->ways_room, verify->n_ways + 1, verify->err);

    if (status != WEIR_OK) {
        return status;
    }
    verify->way_ns[verify->n_ways++] = at_ns;
    verify->has_ways = true;
    verify->settled[node] = (struct moment){at_ns, TURN_LAST};
    if (at_ns < verify->armed[fallback].ns) {
        verify->armed[fallback] = (struct moment){at_ns, TURN_LAST};
    }
    return WEIR_OK;
}

/* Nobody gave way to the fallback: it is not needed since all those are known to run, or not. */
static void check_standin(struct fates *fates, uint32_t node)
{
    struct verify *verify = fates->verify;
    bool is_needed = verify->armed[node].ns != NEVER_NS; /* and then may give way */

    if (is_needed || fates->is_unsettled[node]) {
        verify->settled[node] = (struct moment){NEVER_NS, 0};
    } else if (verify->settled[node].ns == NEVER_NS) {
        verify->settled[node] = (struct moment){0, TURN_ENDS}; /* it stands in for nobody */
    }
}

/* What is known of the node goes on to its fallback. */
static enum weir_status pass_fate(struct fates *fates, uint32_t node)
{
    struct verify *verify = fates->verify;
    uint32_t fallback = fates->fallback[node];
    bool is_needed = verify->armed[node].ns != NEVER_NS;
    struct moment known = verify->settled[node];
    int64_t at_ns = verify->armed[node].ns > fates->closes_ns[node] ? verify->armed[node].ns
                                                                    : fates->closes_ns[node];

    if (verify->nodes[node].has_started) {
        known = start_of(verify, node);
    } else if (is_needed && fates->closes_ns[node] != NEVER_NS &&
               (verify->is_whole || at_ns <= verify->end_ns)) {
        return give_way(fates, node, at_ns);
    }
    if (known.ns == NEVER_NS) {
        fates->is_unsettled[fallback] = true;
    } else if (verify->settled[fallback].ns == NEVER_NS ||
               moment_before(verify->settled[fallback], known)) {
        verify->settled[fallback] = known;
    }
    return WEIR_OK;
}

/* Chains of fallbacks, each after those that it stands in for. */
static enum weir_status go_along(struct fates *fates)
{
    struct verify *verify = fates->verify;
    uint32_t n = 0;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        if (fates->is_standin[i]) {
            verify->armed[i].ns = NEVER_NS;
        }
        if (fates->n_open[i] == 0) {
            fates->line[n++] = i;
        }
    }
    for (uint32_t at = 0; at < n && status == WEIR_OK; at++) {
        uint32_t node = fates->line[at], fallback = fates->fallback[node];

        if (fates->is_standin[node]) {
            check_standin(fates, node);
        }
        if (fallback != NONE) {
            status = pass_fate(fates, node);
            if (--fates->n_open[fallback] == 0) {
                fates->line[n++] = fallback;
            }
        }
    }
    return status;
}

/* --- what the run says ----------------------------------------------------------------------- */

static void check_started(const struct fates *fates, uint32_t node)
{
    struct verify *verify = fates->verify;
    int64_t start_ns = verify->timeline->spans[node].start_ns;
    struct verify_at at = verify_at(VERIFY_GUARD, node, start_ns);
    struct moment armed = verify->armed[node];

    if (!verify->nodes[node].is_on) {
        verify_add(verify, at, "node %s ran, from %" PRId64 " ns on, and its guard is off",
                   node_name(verify, node), start_ns);
    } else if (armed.ns == NEVER_NS && !verify->is_lenient) {
        at.code = VERIFY_FALLBACK;
        verify_add(verify, at,
                   "node %s ran, from %" PRId64
                   " ns on, and is a fallback to which nobody gave way",
                   node_name(verify, node), start_ns);
    } else if (start_ns < armed.ns && !verify->is_lenient) {
        at.code = VERIFY_FALLBACK;
        verify_add(verify, at,
                   "node %s started at %" PRId64 " ns, and is a fallback to which nobody gave way "
                   "before %" PRId64 " ns",
                   node_name(verify, node), start_ns, armed.ns);
    } else if (start_ns > fates->closes_ns[node] && !verify->is_lenient) {
        at.code = VERIFY_WINDOW;
        verify_add(verify, at,
                   "node %s started at %" PRId64 " ns, and its window closed at %" PRId64 " ns",
                   node_name(verify, node), start_ns, fates->closes_ns[node]);
    }
}

/* Does the node, or whoever stands in for it, run? */
static bool is_stood_in_for(const struct fates *fates, uint32_t node)
{
    uint32_t n = 0;

    while (node != NONE && n++ <= fates->verify->n_nodes) {
        if (fates->verify->nodes[node].has_started || !fates->verify->nodes[node].is_on) {
            return true;
        }
        node = fates->fallback[node];
    }
    return false;
}

static void check_idle(const struct fates *fates, uint32_t node)
{
    struct verify *verify = fates->verify;
    bool may_be = verify->settled[node].ns != NEVER_NS || !verify->nodes[node].is_on;

    if (verify->is_lenient && (fates->is_standin[node] || is_stood_in_for(fates, node))) {
        may_be = true;
    }
    if (!may_be && verify->is_whole) {
        verify_add(verify, verify_at(VERIFY_NOT_RUN, node, -1),
                   "node %s did not run, its guard is on, and the run is complete",
                   node_name(verify, node));
    }
}

static void check_all(const struct fates *fates)
{
    for (uint32_t i = 0; i < fates->verify->n_nodes; i++) {
        if (fates->verify->nodes[i].has_started) {
            check_started(fates, i);
        } else {
            check_idle(fates, i);
        }
    }
    verify_checked(fates->verify, VERIFY_CHECK_RAN, fates->verify->n_nodes);
    if (fates->verify->is_lenient) {
        verify_skip(fates->verify, VERIFY_CHECK_RAN,
                    "windows and what is given way to: it runs a plan, in which they are settled");
    }
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

enum weir_status verify_ran(struct verify *verify)
{
    struct fates fates = {.verify = verify};
    enum weir_status status = fates_begin(&fates);

    if (status == WEIR_OK && read_windows(&fates)) {
        status = go_along(&fates);
    }
    if (status == WEIR_OK) {
        check_all(&fates);
    }
    if (verify->n_ways > 0) {
        qsort(verify->way_ns, verify->n_ways, sizeof *verify->way_ns, by_time);
    }
    fates_free(&fates);
    return status;
}
