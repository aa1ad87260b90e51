/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each node did while it ran. Without contention that is its span. Else the sets that ran are gone
 * through as they are recorded: from one instant in which the set changes to the next, every node of a
 * group does elapsed * speed; what a node did is what its group did between its start and its finish.
 * Nothing is simulated: no end is computed, each is only held against the sets before it.
 *
 * The bound: a node ends at the whole nanosecond next to where its length is done, so that what it did
 * may differ from its length by half a nanosecond at the speed it ran at last. One that is done in less
 * than half a nanosecond once others have ended or begun ends within that instant: the speed that counts
 * then is that of a set which no instant shows, and is at most that with all others that ended gone.
 * To this come the roundings of the clocks: each step of a progress clock rounds twice, so that over k
 * steps up to C it is within (k + 2) units in the last place of C; and a speed that is a product, or a
 * sum, over n nodes is within n + 4 of them. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "judge/verify_speeds.h"

/* A sum that keeps what each addition rounds away. */
struct clock {
    double high, low;
    uint64_t n_steps;
};

static void clock_add(struct clock *clock, double value)
{
    double sum = clock->high + value;

    clock->low += fabs(clock->high) >= fabs(value) ? (clock->high - sum) + value
                                                   : (value - sum) + clock->high;
    clock->high = sum;
    clock->n_steps++;
}

static double clock_since(const struct clock *clock, const struct clock *begin)
{
    return (clock->high - begin->high) + (clock->low - begin->low);
}

struct integral {
    struct verify *verify;
    struct speeds speeds;
    struct clock *clocks; /* by group: 0 whenever none of it runs */
    struct clock *begun;  /* by started node, in the order of starts: its group's clock then */
    uint32_t *started;    /* in the order of starts: those of some length */
    uint32_t *ended;      /* the same, in the order of ends */
    uint32_t n, at_start, at_end, n_ends;
    uint32_t *least, *most; /* by group: how many may have run in this instant */
};

struct end {
    int64_t finish_ns;
    uint32_t node;
};

static int by_finish(const void *left, const void *right)
{
    const struct end *a = left, *b = right;

    if (a->finish_ns != b->finish_ns) {
        return a->finish_ns < b->finish_ns ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static enum weir_status integral_begin(struct integral *integral)
{
    struct verify *verify = integral->verify;
    size_t n_started = (size_t)verify->n_started + 1;
    struct end *ends = malloc(n_started * sizeof *ends);
    enum weir_status status = speeds_make(verify, &integral->speeds);
    size_t n_groups = (size_t)integral->speeds.n_groups + 1;

    integral->clocks = calloc(n_groups, sizeof *integral->clocks);
    integral->least = calloc(n_groups, sizeof *integral->least);
    integral->most = calloc(n_groups, sizeof *integral->most);
    integral->begun = malloc(((size_t)verify->n_nodes + 1) * sizeof *integral->begun);
    integral->started = malloc(n_started * sizeof *integral->started);
    integral->ended = malloc(n_started * sizeof *integral->ended);
    if (status == WEIR_OK && (ends == NULL || integral->clocks == NULL || integral->least == NULL ||
                              integral->most == NULL || integral->begun == NULL ||
                              integral->started == NULL || integral->ended == NULL)) {
        status = weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_started && status == WEIR_OK; i++) {
        uint32_t node = verify->order[i].index;

        if (!verify->nodes[node].is_lengthless) {
            integral->started[integral->n++] = node;
            if (verify->timeline->spans[node].finish_ns >= 0) {
                ends[integral->n_ends++] =
                    (struct end){verify->timeline->spans[node].finish_ns, node};
            }
        }
    }
    if (status == WEIR_OK) {
        qsort(ends, integral->n_ends, sizeof *ends, by_finish);
        for (uint32_t i = 0; i < integral->n_ends; i++) {
            integral->ended[i] = ends[i].node;
        }
    }
    free(ends);
    return status;
}

static void integral_free(struct integral *integral)
{
    speeds_free(&integral->speeds);
    free(integral->clocks);
    free(integral->least);
    free(integral->most);
    free(integral->begun);
    free(integral->started);
    free(integral->ended);
}

/* The set that ran until now did so much. */
static void advance(struct integral *integral, int64_t elapsed_ns)
{
    struct speeds *speeds = &integral->speeds;

    for (uint32_t i = 0; i < speeds->n_active; i++) {
        uint32_t group = speeds->active[i];

        clock_add(&integral->clocks[group], (double)elapsed_ns * speeds->speed[group]);
    }
}

#define LEVELS_SLACK 4e-13 /* of what is done: levels of resources that are so near are one */

/* What the clocks may have rounded away while the node ran. */
static double rounding(const struct integral *integral, uint32_t node, double done)
{
    const struct clock *clock = &integral->clocks[integral->speeds.group_of[node]];
    double steps = (double)(clock->n_steps - integral->begun[node].n_steps) + 2;
    double factors =
        (double)integral->speeds.n_running_most + 4 + speeds_roundings(&integral->speeds);

    return steps * fabs(clock->high) * DBL_EPSILON + factors * done * DBL_EPSILON +
           (integral->verify->family == FAMILY_SHARE ? LEVELS_SLACK * done : 0);
}

static enum weir_status note_late(struct verify *verify, int64_t t_ns)
{
    enum weir_status status;

    if (verify->n_late > 0 && verify->late_ns[verify->n_late - 1] == t_ns) {
        return WEIR_OK;
    }
    status = array_grow(&verify->late_ns, &verify->late_room, verify->n_late + 1, verify->err);
    if (status == WEIR_OK) {
        verify->late_ns[verify->n_late++] = t_ns;
    }
    return status;
}

/* Do others end or begin in the instant, so that the speed may have changed within it? */
static bool has_others(const struct integral *integral, int64_t t_ns, uint32_t node)
{
    const struct timeline_span *spans = integral->verify->timeline->spans;
    uint32_t n = 0;

    for (uint32_t i = integral->at_end;
         i < integral->n_ends && spans[integral->ended[i]].finish_ns == t_ns && n < 2; i++) {
        n += integral->ended[i] != node ? 1 : 0;
    }
    return n > 0 || (integral->at_start < integral->n &&
                     spans[integral->started[integral->at_start]].start_ns == t_ns);
}

static void tell_work(struct verify *verify, uint32_t node, double done, double bound)
{
    const struct timeline_span *span = &verify->timeline->spans[node];

    verify_add(verify, verify_at(VERIFY_WORK, node, span->finish_ns),
               "node %s ran from %" PRId64 " to %" PRId64
               " ns and did %.3f ns of work by the speeds of "
               "the sets that ran, and its length is %" PRId64 " ns (within %.3f)",
               node_name(verify, node), span->start_ns, span->finish_ns, done,
               verify->nodes[node].length_ns, bound);
}

/* The node ends now. @param speed of its group until now; 0: it began in this instant */
static enum weir_status check_end(struct integral *integral, uint32_t node, int64_t t_ns,
                                  double speed)
{
    struct verify *verify = integral->verify;
    uint32_t group = integral->speeds.group_of[node];
    const struct clock *clock = &integral->clocks[group];
    double done = speed == 0 ? 0 : clock_since(clock, &integral->begun[node]);
    double left = (double)verify->nodes[node].length_ns - done;
    double slack = 1e-9 + (speed == 0 ? 0 : rounding(integral, node, done));
    double most;

    if (fabs(left) <= 0.5 * speed + slack) {
        /* Half a nanosecond rounds away: it may have ended only when others had. */
        return left >= 0.5 * speed - slack && has_others(integral, t_ns, node)
                   ? note_late(verify, t_ns)
                   : WEIR_OK;
    }
    if (left > 0 && (speed == 0 || has_others(integral, t_ns, node))) {
        most = speeds_most(&integral->speeds, group, integral->least, integral->most);
        if (left <= 0.5 * most + slack) {
            return note_late(verify, t_ns);
        }
        speed = most;
    }
    tell_work(verify, node, done, 0.5 * speed + slack);
    return WEIR_OK;
}

/* How many of each group have run at least, and at most, in any set of this instant. */
static void count_around(struct integral *integral, int64_t t_ns, int sign)
{
    const struct timeline_span *spans = integral->verify->timeline->spans;
    const struct speeds *speeds = &integral->speeds;

    for (uint32_t i = 0; sign > 0 && i < speeds->n_active; i++) {
        integral->least[speeds->active[i]] = integral->most[speeds->active[i]] =
            speeds->running[speeds->active[i]];
    }
    for (uint32_t i = integral->at_end;
         i < integral->n_ends && spans[integral->ended[i]].finish_ns == t_ns; i++) {
        uint32_t group = speeds->group_of[integral->ended[i]];

        if (sign < 0) {
            integral->least[group] = integral->most[group] = 0;
        } else if (spans[integral->ended[i]].start_ns < t_ns) {
            integral->least[group]--;
        }
    }
    for (uint32_t i = integral->at_start;
         i < integral->n && spans[integral->started[i]].start_ns == t_ns; i++) {
        uint32_t group = speeds->group_of[integral->started[i]];

        integral->most[group] = sign < 0 ? 0 : integral->most[group] + 1;
        integral->least[group] = sign < 0 ? 0 : integral->least[group];
    }
    for (uint32_t i = 0; sign < 0 && i < speeds->n_active; i++) {
        integral->least[speeds->active[i]] = integral->most[speeds->active[i]] = 0;
    }
}

static enum weir_status end_all(struct integral *integral, int64_t t_ns)
{
    const struct timeline_span *spans = integral->verify->timeline->spans;
    struct speeds *speeds = &integral->speeds;
    uint32_t first = integral->at_end, end = first;
    enum weir_status status = WEIR_OK;

    count_around(integral, t_ns, 1);
    for (; end < integral->n_ends && spans[integral->ended[end]].finish_ns == t_ns; end++) {
        uint32_t node = integral->ended[end];
        bool is_here = spans[node].start_ns == t_ns;

        if (status == WEIR_OK) {
            status = check_end(integral, node, t_ns,
                               is_here ? 0 : speeds->speed[speeds->group_of[node]]);
        }
        verify_checked(integral->verify, VERIFY_CHECK_PROGRESS, 1);
    }
    count_around(integral, t_ns, -1);
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = integral->ended[i];

        if (spans[node].start_ns < t_ns) {
            speeds_end(speeds, node);
            if (speeds->running[speeds->group_of[node]] == 0) {
                integral->clocks[speeds->group_of[node]] = (struct clock){0, 0, 0};
            }
        }
    }
    integral->at_end = end;
    return status;
}

/* Those that end where they begin never ran in any set that an instant shows. */
static void start_all(struct integral *integral, int64_t t_ns)
{
    const struct timeline_span *spans = integral->verify->timeline->spans;

    for (; integral->at_start < integral->n &&
           spans[integral->started[integral->at_start]].start_ns == t_ns;
         integral->at_start++) {
        uint32_t node = integral->started[integral->at_start];

        if (spans[node].finish_ns != t_ns) {
            speeds_start(&integral->speeds, node);
            integral->begun[node] = integral->clocks[integral->speeds.group_of[node]];
        }
    }
}

static int64_t next_ns(const struct integral *integral)
{
    const struct timeline_span *spans = integral->verify->timeline->spans;
    int64_t start_ns = integral->at_start < integral->n
                           ? spans[integral->started[integral->at_start]].start_ns
                           : NEVER_NS;
    int64_t finish_ns = integral->at_end < integral->n_ends
                            ? spans[integral->ended[integral->at_end]].finish_ns
                            : NEVER_NS;

    return start_ns < finish_ns ? start_ns : finish_ns;
}

static enum weir_status integrate(struct integral *integral)
{
    int64_t now_ns = 0, t_ns;
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && (t_ns = next_ns(integral)) != NEVER_NS) {
        advance(integral, t_ns - now_ns);
        now_ns = t_ns;
        status = end_all(integral, t_ns);
        start_all(integral, t_ns);
        speeds_set(&integral->speeds);
    }
    return status;
}

/* Without contention a node runs for its length. */
static void check_lengths(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        const struct timeline_span *span = &verify->timeline->spans[node];

        if (span->finish_ns >= 0 &&
            span->finish_ns - span->start_ns != verify->nodes[node].length_ns) {
            tell_work(verify, node, (double)(span->finish_ns - span->start_ns), 0);
        }
        verify_checked(verify, VERIFY_CHECK_PROGRESS, 1);
    }
}

/* A node of no length ends where it starts, whatever runs beside it. */
static void check_lengthless(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        const struct timeline_span *span = &verify->timeline->spans[node];

        if (verify->nodes[node].is_lengthless && span->finish_ns != span->start_ns) {
            tell_work(verify, node, (double)(span->finish_ns - span->start_ns), 0);
        }
    }
}

enum weir_status verify_progress(struct verify *verify)
{
    struct integral integral = {.verify = verify};
    enum weir_status status;

    if (verify->is_lenient) {
        verify_skip(
            verify, VERIFY_CHECK_PROGRESS,
            "on a device a node takes as long as it takes; weir compare tells how far that is "
            "from the model");
        return WEIR_OK;
    }
    if (verify->family == FAMILY_OTHER) {
        verify_skip(verify, VERIFY_CHECK_PROGRESS,
                    "this Weir does not know the contention of the run");
        return WEIR_OK;
    }
    if (verify->family == FAMILY_NONE) {
        check_lengths(verify);
        return WEIR_OK;
    }
    check_lengthless(verify);
    status = integral_begin(&integral);
    if (status == WEIR_OK) {
        status = integrate(&integral);
    }
    integral_free(&integral);
    return status;
}
