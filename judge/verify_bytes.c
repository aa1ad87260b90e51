/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes: when each copy begins and ends by the times of the run, what is held from when to when, and
 * what that adds up to. All of it is found anew, and then held against what the run says. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "judge/verify_internal.h"

/* --- lifetimes ------------------------------------------------------------------------------- */

/* Some of those that use it may not be done; then it has no last use, and no end by one. */
struct uses {
    struct moment last_use, last_hold;
    bool is_used_on, is_held_on;
};

static void see_touch(struct verify *verify, uint32_t node, const struct verify_touch *touch,
                      struct uses *uses)
{
    struct verify_copy *copy = &verify->copies[touch->copy];
    struct uses *of = &uses[touch->copy];
    struct moment done = verify->done[node];

    if (verify_may_begin(verify, touch) && verify->nodes[node].has_started &&
        moment_before(verify->start[node], copy->begin)) {
        copy->begin = verify->start[node];
        copy->begun_by.index = node;
    }
    if ((touch->roles & TOUCH_USES) != 0) {
        of->is_used_on = of->is_used_on || done.ns == NEVER_NS;
        of->last_use = moment_later(of->last_use, done);
    }
    if ((touch->roles & TOUCH_HOLDS) != 0) {
        of->is_held_on = of->is_held_on || done.ns == NEVER_NS;
        of->last_hold = moment_later(of->last_hold, done);
    }
}

static void end_copy(const struct verify *verify, struct verify_copy *copy, const struct uses *uses)
{
    const struct moment never = {NEVER_NS, 0};

    copy->last_use = uses->is_used_on ? never : uses->last_use;
    if (weir_is(copy->reclamation)) {
        copy->end = verify->nodes[copy->reclamation.index].has_started
                        ? verify->done[copy->reclamation.index]
                        : never;
    } else if (!copy->stays && !uses->is_used_on && !uses->is_held_on) {
        copy->end = moment_later(uses->last_use, uses->last_hold);
        if (weir_is(copy->begun_by)) { /* which may be an allocation, after all that use it */
            copy->end = moment_later(copy->end, verify->done[copy->begun_by.index]);
        }
    }
}

static enum weir_status find_lives(struct verify *verify)
{
    struct uses *uses = calloc((size_t)verify->n_copies + 1, sizeof *uses);

    if (uses == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        for (uint32_t j = verify->touch_first[i]; j < verify->touch_first[i + 1]; j++) {
            see_touch(verify, i, &verify->touches[j], uses);
        }
    }
    for (uint32_t i = 0; i < verify->n_copies; i++) {
        end_copy(verify, &verify->copies[i], &uses[i]);
    }
    free(uses);
    return WEIR_OK;
}

/* --- holds ----------------------------------------------------------------------------------- */

static int64_t scaled_bytes(const struct verify *verify, int64_t bytes)
{
    double product = (double)bytes * verify->scale_bytes;

    return verify->scale_bytes == 1 ? bytes
           : product < 9e18         ? (int64_t)llround(product)
                                    : INT64_MAX;
}

static enum weir_status hold(struct verify *verify, uint32_t domain, uint32_t object, uint32_t node,
                             int64_t bytes, int64_t from_ns, struct moment end)
{
    int64_t held_bytes = scaled_bytes(verify, bytes);
    enum weir_status status;

    if (held_bytes <= 0) {
        return WEIR_OK; /* of no bytes nothing needs to be told */
    }
    status = array_grow(&verify->holds, &verify->holds_room, verify->n_holds + 1, verify->err);
    if (status == WEIR_OK) {
        verify->holds[verify->n_holds++] = (struct verify_hold){
            {domain}, {object}, {node}, held_bytes, from_ns, end.ns == NEVER_NS ? -1 : end.ns, end};
    }
    return status;
}

/* Until every node that uses a copy that the node filled is done, and the node itself. */
static struct moment staging_end(const struct verify *verify, uint32_t node)
{
    struct moment end = verify->done[node];

    for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
        if ((verify->touches[i].roles & TOUCH_FILLS) != 0) {
            end = moment_later(end, verify->copies[verify->touches[i].copy].last_use);
        }
    }
    return end;
}

static enum weir_status hold_charges(struct verify *verify, uint32_t node)
{
    struct graph_node value;
    enum weir_status status = WEIR_OK;
    int64_t start_ns = verify->start[node].ns;

    graph_node(verify->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace && status == WEIR_OK; i++) {
        status =
            hold(verify,
                 graph_charge_domain(verify->graph, (weir_node){node}, &value.workspace[i]).index,
                 NONE, node, value.workspace[i].bytes, start_ns, verify->done[node]);
    }
    if (value.staging.bytes > 0 && status == WEIR_OK) {
        verify->is_staged[graph_charge_domain(verify->graph, (weir_node){node}, &value.staging)
                              .index] = true;
        status = hold(verify,
                      graph_charge_domain(verify->graph, (weir_node){node}, &value.staging).index,
                      NONE, node, value.staging.bytes, start_ns, staging_end(verify, node));
    }
    return status;
}

static enum weir_status find_held(struct verify *verify)
{
    enum weir_status status = WEIR_OK;

    verify->is_staged = calloc((size_t)verify->n_domains + 1, sizeof *verify->is_staged);
    if (verify->is_staged == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_copies && status == WEIR_OK; i++) {
        const struct verify_copy *copy = &verify->copies[i];

        if (copy->begin.ns != NEVER_NS) {
            status = hold(verify, copy->domain.index, copy->object.index, copy->begun_by.index,
                          copy->bytes, copy->begin.ns, copy->end);
        }
    }
    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        if (verify->nodes[i].has_started) {
            status = hold_charges(verify, i);
        }
    }
    return status;
}

/* --- what they add up to --------------------------------------------------------------------- */

struct change {
    uint32_t domain;
    int64_t t_ns, bytes;
};

static int by_domain_and_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    if (a->domain != b->domain) {
        return a->domain < b->domain ? -1 : 1;
    }
    if (a->t_ns != b->t_ns) {
        return a->t_ns < b->t_ns ? -1 : 1;
    }
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* One level for each instant that changes something, behind those there are. */
static enum weir_status add_levels(struct verify *verify, const struct change *changes, size_t n,
                                   size_t *at, uint32_t domain, size_t *n_levels)
{
    int64_t bytes = 0, before = 0;
    enum weir_status status = WEIR_OK;

    while (*at < n && changes[*at].domain == domain && status == WEIR_OK) {
        int64_t t_ns = changes[*at].t_ns;

        for (; *at < n && changes[*at].domain == domain && changes[*at].t_ns == t_ns; (*at)++) {
            bytes += changes[*at].bytes;
        }
        if (bytes == before) {
            continue;
        }
        status = array_grow(&verify->levels, &verify->levels_room, *n_levels + 1, verify->err);
        if (status == WEIR_OK) {
            verify->levels[(*n_levels)++] = (struct verify_level){t_ns, bytes};
            before = bytes;
        }
    }
    return status;
}

static enum weir_status sum_up(struct verify *verify)
{
    struct change *changes = malloc((2 * verify->n_holds + 1) * sizeof *changes);
    size_t n = 0, at = 0, n_levels = 0;
    enum weir_status status = WEIR_OK;

    verify->level_first = calloc((size_t)verify->n_domains + 1, sizeof *verify->level_first);
    if (changes == NULL || verify->level_first == NULL) {
        free(changes);
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < verify->n_holds; i++) {
        const struct verify_hold *hold = &verify->holds[i];

        changes[n++] = (struct change){hold->domain.index, hold->acquire_ns, hold->bytes};
        if (hold->release_ns >= 0) {
            changes[n++] = (struct change){hold->domain.index, hold->release_ns, -hold->bytes};
        }
    }
    qsort(changes, n, sizeof *changes, by_domain_and_time);
    for (uint32_t i = 0; i < verify->n_domains && status == WEIR_OK; i++) {
        verify->level_first[i] = n_levels;
        status = add_levels(verify, changes, n, &at, i, &n_levels);
    }
    verify->level_first[verify->n_domains] = n_levels;
    free(changes);
    return status;
}

/* --- against what the run says --------------------------------------------------------------- */

static struct verify_at at_domain(enum verify_code code, uint32_t domain, int64_t t_ns)
{
    struct verify_at at = verify_at(code, NONE, t_ns);

    at.domain.index = domain;
    return at;
}

static void check_capacity(struct verify *verify)
{
    for (uint32_t d = 0; d < verify->n_domains; d++) {
        int64_t usable = scaled_bytes(verify, verify_usable_bytes(verify, d));

        for (size_t i = verify->level_first[d]; i < verify->level_first[d + 1]; i++) {
            const struct verify_level *level = &verify->levels[i];

            if (level->bytes > usable &&
                (i == 0 || i == verify->level_first[d] || level[-1].bytes <= usable)) {
                verify_add(verify, at_domain(VERIFY_OVER, d, level->t_ns),
                           "in %s %" PRId64 " bytes are held from %" PRId64 " ns on, and %" PRId64
                           " are its capacity less its reserve",
                           domain_name(verify, d), level->bytes, level->t_ns, usable);
            }
        }
        verify_checked(verify, VERIFY_CHECK_CAPACITY,
                       (int64_t)(verify->level_first[d + 1] - verify->level_first[d]));
    }
}

/* The rows of a domain, without those that change nothing, against the levels. */
static void check_pressure(struct verify *verify, const size_t *rows, size_t n_rows,
                           uint32_t domain)
{
    const struct timeline *timeline = verify->timeline;
    size_t at = verify->level_first[domain], end = verify->level_first[domain + 1], row = 0;
    int64_t found = 0, expected = 0;

    while (at < end || row < n_rows) {
        int64_t level_ns = at < end ? verify->levels[at].t_ns : NEVER_NS;
        int64_t row_ns = row < n_rows ? timeline->pressures[rows[row]].t_ns : NEVER_NS;
        int64_t t_ns = level_ns < row_ns ? level_ns : row_ns;

        if (level_ns == t_ns) {
            expected = verify->levels[at++].bytes;
        }
        for (; row < n_rows && timeline->pressures[rows[row]].t_ns <= t_ns; row++) {
            found = timeline->pressures[rows[row]].bytes;
        }
        if (found != expected) {
            verify_add(verify, at_domain(VERIFY_PRESSURE, domain, t_ns),
                       "the pressure in %s from %" PRId64 " ns on is said to be %" PRId64
                       " bytes, and copies, workspace and staging there take %" PRId64,
                       domain_name(verify, domain), t_ns, found, expected);
        }
        verify_checked(verify, VERIFY_CHECK_BYTES, 1);
    }
}

static enum weir_status check_pressures(struct verify *verify)
{
    const struct timeline *timeline = verify->timeline;
    size_t *rows = malloc((timeline->n_pressures + 1) * sizeof *rows);
    size_t *first = calloc((size_t)verify->n_domains + 2, sizeof *first);

    if (rows == NULL || first == NULL) {
        free(rows);
        free(first);
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        first[timeline->pressures[i].domain.index + 2]++;
    }
    for (uint32_t i = 1; i <= verify->n_domains + 1; i++) {
        first[i] += first[i - 1];
    }
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        rows[first[timeline->pressures[i].domain.index + 1]++] = i;
    }
    for (uint32_t i = 0; i < verify->n_domains; i++) {
        check_pressure(verify, rows + first[i], first[i + 1] - first[i], i);
    }
    free(rows);
    free(first);
    return WEIR_OK;
}

static void check_peaks(struct verify *verify)
{
    for (uint32_t d = 0; d < verify->n_domains; d++) {
        int64_t peak = 0, found = verify->timeline->peak_bytes[d];

        for (size_t i = verify->level_first[d]; i < verify->level_first[d + 1]; i++) {
            peak = verify->levels[i].bytes > peak ? verify->levels[i].bytes : peak;
        }
        if (peak != found) {
            verify_add(verify, at_domain(VERIFY_PEAK, d, -1),
                       "the peak of %s is said to be %" PRId64
                       " bytes, and its greatest pressure is "
                       "%" PRId64,
                       domain_name(verify, d), found, peak);
        }
    }
    verify_checked(verify, VERIFY_CHECK_BYTES, verify->n_domains);
}

/* By whose they are, then when, then how many. */
static int by_holder(const struct verify_hold *a, const struct verify_hold *b)
{
    if (a->object.index != b->object.index) {
        return a->object.index < b->object.index ? -1 : 1;
    }
    if (a->domain.index != b->domain.index) {
        return a->domain.index < b->domain.index ? -1 : 1;
    }
    if (a->node.index != b->node.index) {
        return a->node.index < b->node.index ? -1 : 1;
    }
    return 0;
}

static int by_holder_and_time(const void *left, const void *right)
{
    const struct verify_hold *a = left, *b = right;
    int order = by_holder(a, b);

    if (order != 0) {
        return order;
    }
    if (a->acquire_ns != b->acquire_ns) {
        return a->acquire_ns < b->acquire_ns ? -1 : 1;
    }
    if (a->release_ns != b->release_ns) {
        return a->release_ns < b->release_ns ? -1 : 1;
    }
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static struct verify_at at_hold(enum verify_code code, const struct verify_hold *hold)
{
    struct verify_at at = verify_at(code, hold->node.index, hold->acquire_ns);

    at.object = hold->object;
    at.domain = hold->domain;
    return at;
}

/* Whose bytes: "object x", "workspace or staging". */
static const char *what_of(const struct verify *verify, const struct verify_hold *hold)
{
    return weir_is(hold->object) ? graph_object_name(verify->graph, hold->object)
                                 : "workspace or staging";
}

static const char *who_of(const struct verify *verify, const struct verify_hold *hold)
{
    return weir_is(hold->node) ? node_name(verify, hold->node.index) : "nobody, from the beginning";
}

static void tell_hold(struct verify *verify, enum verify_code code, const struct verify_hold *found,
                      const struct verify_hold *expected)
{
    const struct verify_hold *hold = found != NULL ? found : expected;

    if (code == VERIFY_HOLD_TIMES) {
        verify_add(verify, at_hold(code, hold),
                   "%" PRId64 " bytes in %s of %s, taken by %s, are said to be held from %" PRId64
                   " to %" PRId64 " ns, and it is %" PRId64 " bytes from %" PRId64 " to %" PRId64
                   " ns (-1: the end)",
                   found->bytes, domain_name(verify, hold->domain.index), what_of(verify, hold),
                   who_of(verify, hold), found->acquire_ns, found->release_ns, expected->bytes,
                   expected->acquire_ns, expected->release_ns);
        return;
    }
    verify_add(verify, at_hold(code, hold),
               "%" PRId64 " bytes in %s of %s, taken by %s, %s held from %" PRId64 " to %" PRId64
               " ns (-1: the end), %s",
               hold->bytes, domain_name(verify, hold->domain.index), what_of(verify, hold),
               who_of(verify, hold), found != NULL ? "are said to be" : "are", hold->acquire_ns,
               hold->release_ns,
               found != NULL ? "and the graph knows of none" : "and the run does not say so");
}

/* Both are sorted. Holds of one holder are paired as they stand. */
static void match_holds(struct verify *verify, const struct verify_hold *said, size_t n_said)
{
    const struct verify_hold *held = verify->holds;
    size_t i = 0, j = 0;

    while (i < n_said || j < verify->n_holds) {
        int order = i == n_said ? 1 : j == verify->n_holds ? -1 : by_holder(&said[i], &held[j]);

        if (order < 0) {
            tell_hold(verify, VERIFY_HOLD_EXTRA, &said[i++], NULL);
        } else if (order > 0) {
            tell_hold(verify, VERIFY_HOLD_MISSING, NULL, &held[j++]);
        } else {
            if (by_holder_and_time(&said[i], &held[j]) != 0) {
                tell_hold(verify, VERIFY_HOLD_TIMES, &said[i], &held[j]);
            }
            i++;
            j++;
        }
    }
    verify_checked(verify, VERIFY_CHECK_BYTES, (int64_t)verify->n_holds);
}

static enum weir_status check_holds(struct verify *verify)
{
    const struct timeline *timeline = verify->timeline;
    struct verify_hold *said = malloc((timeline->n_holds + 1) * sizeof *said);
    size_t n = 0;

    if (said == NULL) {
        return weir_error_memory(verify->err);
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        const struct timeline_hold *hold = &timeline->holds[i];

        if (hold->bytes > 0) {
            said[n++] = (struct verify_hold){.domain = hold->domain,
                                             .object = hold->object,
                                             .node = hold->node,
                                             .bytes = hold->bytes,
                                             .acquire_ns = hold->acquire_ns,
                                             .release_ns = hold->release_ns};
        }
    }
    qsort(said, n, sizeof *said, by_holder_and_time);
    match_holds(verify, said, n);
    free(said);
    return WEIR_OK;
}

enum weir_status verify_bytes(struct verify *verify)
{
    enum weir_status status = find_lives(verify);

    if (status == WEIR_OK) {
        status = find_held(verify);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (verify->n_holds > 0) {
        qsort(verify->holds, verify->n_holds, sizeof *verify->holds, by_holder_and_time);
    }
    status = sum_up(verify);
    if (status != WEIR_OK) {
        return status;
    }
    if (verify->run->kind == RUN_RECORDED) {
        verify_skip(
            verify, VERIFY_CHECK_BYTES,
            "a recording says what its profile saw, and that is not all of what the graph holds");
        verify_skip(verify, VERIFY_CHECK_CAPACITY, "a recording ran on the machine that it ran on");
        return WEIR_OK;
    }
    if (verify->timeline->status == RUN_SHORTAGE && verify->n_started == 0) {
        verify_skip(verify, VERIFY_CHECK_CAPACITY,
                    "the run ended at 0, for its initial objects do not fit");
    } else {
        check_capacity(verify);
    }
    status = check_holds(verify);
    if (status == WEIR_OK) {
        status = check_pressures(verify);
    }
    check_peaks(verify);
    return status;
}
