/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs together: slots of engines, pairs that must not overlap, pairs of which nobody knows what
 * they do, and how long classes ran at once. Nodes of no length are never beside anybody. */
#include <inttypes.h>
#include <stdlib.h>

#include "judge/settings.h"
#include "judge/verify_internal.h"

/* A node begins or ends to run. */
struct event {
    int64_t t_ns;
    uint32_t node;
    bool is_start;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->t_ns != b->t_ns) {
        return a->t_ns < b->t_ns ? -1 : 1;
    }
    if (a->is_start != b->is_start) {
        return a->is_start ? 1 : -1; /* what ends makes room first */
    }
    return (a->node > b->node) - (a->node < b->node);
}

/* Those that run for some time, shortened by what is tolerated, in the order of time. */
static enum weir_status list_events(const struct verify *verify, struct event **out, size_t *n)
{
    struct event *events = malloc((2 * (size_t)verify->n_started + 1) * sizeof *events);

    if (events == NULL) {
        return weir_error_memory(verify->err);
    }
    *n = 0;
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        const struct timeline_span *span = &verify->timeline->spans[node];
        int64_t end_ns = span->finish_ns < 0
                             ? NEVER_NS
                             : span->finish_ns - (verify->is_lenient ? verify->tolerance_ns : 0);

        if (end_ns <= span->start_ns || verify->nodes[node].is_lengthless) {
            continue;
        }
        events[(*n)++] = (struct event){span->start_ns, node, true};
        events[(*n)++] = (struct event){end_ns, node, false};
    }
    qsort(events, *n, sizeof *events, by_time);
    *out = events;
    return WEIR_OK;
}

static void tell_slots(struct verify *verify, uint32_t node, uint32_t last, int64_t running)
{
    const struct graph_engine *engine =
        graph_engine(verify->graph, (weir_engine){verify->nodes[node].engine});
    struct verify_at at =
        verify_at(VERIFY_SLOTS, node, verify->start == NULL ? -1 : verify->start[node].ns);

    at.other.index = last;
    verify_add(verify, at,
               "node %s starts at %" PRId64 " ns as the %" PRId64
               "th on engine %s, which has %" PRId64 " slot%s; node %s runs there",
               node_name(verify, node), at.t_ns, running, graph_text(verify->graph, engine->name),
               engine->slots, engine->slots == 1 ? "" : "s", node_name(verify, last));
}

enum weir_status verify_engines(struct verify *verify)
{
    int64_t *running = calloc((size_t)verify->n_engines + 1, sizeof *running);
    uint32_t *last = malloc(((size_t)verify->n_engines + 1) * sizeof *last);
    struct event *events = NULL;
    size_t n = 0;
    enum weir_status status = running == NULL || last == NULL ? weir_error_memory(verify->err)
                                                              : list_events(verify, &events, &n);

    for (size_t i = 0; i < n && status == WEIR_OK; i++) {
        uint32_t node = events[i].node, engine = verify->nodes[node].engine;

        if (engine == NONE) {
            continue;
        }
        running[engine] += events[i].is_start ? 1 : -1;
        if (events[i].is_start) {
            if (running[engine] > graph_engine(verify->graph, (weir_engine){engine})->slots) {
                tell_slots(verify, node, last[engine], running[engine]);
            }
            last[engine] = node;
            verify_checked(verify, VERIFY_CHECK_ENGINES, 1);
        }
    }
    free(events);
    free(running);
    free(last);
    return status;
}

/* --- pairs ----------------------------------------------------------------------------------- */

/* Names one that runs and must not. */
static void tell_forbidden(struct verify *verify, const struct apart *pairs, uint32_t node)
{
    const struct timeline_span *span = &verify->timeline->spans[node];
    struct verify_at at = verify_at(VERIFY_FORBIDDEN, node, span->start_ns);

    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t other = verify->order[i].index;
        const struct timeline_span *beside = &verify->timeline->spans[other];

        if (other != node && beside->start_ns <= span->start_ns &&
            (beside->finish_ns < 0 || beside->finish_ns > span->start_ns) &&
            apart_has(pairs, node, other)) {
            at.other.index = other;
            break;
        }
    }
    verify_add(verify, at,
               "node %s starts at %" PRId64 " ns while node %s runs, which it must not overlap",
               node_name(verify, node), span->start_ns,
               weir_is(at.other) ? node_name(verify, at.other.index) : "another");
}

static enum weir_status check_forbidden(struct verify *verify, const struct event *events, size_t n)
{
    bool is_unknown = verify->unknown == UNKNOWN_IS_FORBIDDEN;
    struct apart pairs;
    enum weir_status status =
        apart_make(verify, OVERLAP_FORBIDDEN, is_unknown ? OVERLAP_UNKNOWN : OVERLAP_FORBIDDEN,
                   is_unknown && verify->family == FAMILY_PAIRWISE, &pairs);

    for (size_t i = 0; i < n && status == WEIR_OK && !apart_is_none(&pairs); i++) {
        if (!events[i].is_start) {
            apart_end(&pairs, events[i].node);
            continue;
        }
        if (apart_count(&pairs, events[i].node) > 0) {
            tell_forbidden(verify, &pairs, events[i].node);
        }
        apart_start(&pairs, events[i].node);
        verify_checked(verify, VERIFY_CHECK_OVERLAPS, 1);
    }
    apart_free(&pairs);
    return status;
}

/* How long any pair ran of which nobody knows what it does. */
static enum weir_status sum_hypothetical(struct verify *verify, const struct event *events,
                                         size_t n, int64_t *out)
{
    struct apart pairs;
    uint64_t n_pairs = 0;
    int64_t sum_ns = 0;
    enum weir_status status = apart_make(verify, OVERLAP_UNKNOWN, OVERLAP_UNKNOWN,
                                         verify->family == FAMILY_PAIRWISE, &pairs);

    for (size_t i = 0; i < n && status == WEIR_OK && !apart_is_none(&pairs); i++) {
        int64_t until_ns =
            i + 1 < n && events[i + 1].t_ns != NEVER_NS ? events[i + 1].t_ns : verify->end_ns;

        if (events[i].t_ns == NEVER_NS) {
            break;
        }
        if (events[i].is_start) {
            n_pairs += apart_count(&pairs, events[i].node);
            apart_start(&pairs, events[i].node);
        } else {
            apart_end(&pairs, events[i].node);
            n_pairs -= apart_count(&pairs, events[i].node);
        }
        sum_ns += n_pairs > 0 ? until_ns - events[i].t_ns : 0;
    }
    apart_free(&pairs);
    *out = sum_ns;
    return status;
}

static enum weir_status check_hypothetical(struct verify *verify, const struct event *events,
                                           size_t n)
{
    double said;
    int64_t sum_ns = 0;
    enum weir_status status;

    if (verify->unknown != UNKNOWN_IS_MARKED ||
        !settings_ratio(verify->run->settings, "hypothetical_overlap_ns", &said)) {
        return WEIR_OK;
    }
    status = sum_hypothetical(verify, events, n, &sum_ns);
    verify_checked(verify, VERIFY_CHECK_OVERLAPS, 1);
    if (status == WEIR_OK && said != (double)sum_ns) {
        verify_add(verify, verify_at(VERIFY_HYPOTHETICAL, NONE, -1),
                   "pairs of which nobody knows what they do are said to have run for %.0f ns, and "
                   "they ran for %" PRId64 " ns",
                   said, sum_ns);
    }
    return status;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Nanoseconds by pair of classes, a <= b, the last being nodes without one. */
struct sums {
    uint32_t n; /* classes, and one */
    double *ns; /* exact up to 2^53; then compared as such */
    uint32_t *running, *active, n_active;
};

/* The set that ran until now did so for so long: each pair of its nodes. */
static void add_pairs(struct sums *sums, int64_t elapsed_ns)
{
    for (uint32_t i = 0; i < sums->n_active; i++) {
        uint32_t a = sums->active[i], n = sums->running[a];

        sums->ns[(size_t)a * sums->n + a] += (double)elapsed_ns * n * (n - 1.0) / 2;
        for (uint32_t j = 0; j < i; j++) {
            uint32_t b = sums->active[j], low = a < b ? a : b, high = a < b ? b : a;

            sums->ns[(size_t)low * sums->n + high] += (double)elapsed_ns * n * sums->running[b];
        }
    }
}

static void run_class(struct sums *sums, uint32_t class_, bool is_start)
{
    if (is_start && sums->running[class_]++ == 0) {
        sums->active[sums->n_active++] = class_;
    } else if (!is_start && --sums->running[class_] == 0) {
        for (uint32_t i = 0; i < sums->n_active; i++) {
            if (sums->active[i] == class_) {
                sums->active[i] = sums->active[--sums->n_active];
                break;
            }
        }
    }
}

static void sum_classes(const struct verify *verify, const struct event *events, size_t n,
                        struct sums *sums)
{
    int64_t last_ns = 0, end_ns = verify->timeline->makespan_ns;

    for (size_t i = 0; i < n; i++) {
        weir_class class_ = graph_node_class(verify->graph, (weir_node){events[i].node});
        int64_t t_ns = events[i].t_ns < end_ns ? events[i].t_ns : end_ns;

        if (t_ns > last_ns) {
            add_pairs(sums, t_ns - last_ns);
            last_ns = t_ns;
        }
        run_class(sums, weir_is(class_) ? class_.index : sums->n - 1, events[i].is_start);
    }
}

/* The number of the class of that name; the last, of "". */
static uint32_t class_of(const struct verify *verify, const struct sums *sums, const char *name)
{
    weir_text text = graph_find_text(verify->graph, name);

    return name[0] == '\0'   ? sums->n - 1
           : text.index == 0 ? NONE
                             : graph_find_class(verify->graph, text).index;
}

static const char *class_name(const struct verify *verify, const struct sums *sums, uint32_t class_)
{
    return class_ == sums->n - 1
               ? "none"
               : graph_text(verify->graph, graph_class_name(verify->graph, (weir_class){class_}));
}

static void tell_class(struct verify *verify, const char *a, const char *b, double said, double sum)
{
    verify_add(
        verify, verify_at(VERIFY_CLASS_OVERLAP, NONE, -1),
        "nodes of classes %s and %s are said to have run at once for %.0f ns, and they did for "
        "%.0f ns",
        a, b, said, sum);
}

/* Each row that the run has against the sum, which is then 0; what is left has no row. */
static void match_classes(struct verify *verify, struct sums *sums)
{
    const struct run *run = verify->run;

    for (size_t i = 0; i < run->n_overlaps; i++) {
        uint32_t a = class_of(verify, sums, run->overlaps[i].class_a);
        uint32_t b = class_of(verify, sums, run->overlaps[i].class_b);
        double said = (double)run->overlaps[i].overlap_ns, sum = 0;

        if (a < sums->n && b < sums->n) {
            double *at = &sums->ns[(size_t)(a < b ? a : b) * sums->n + (a < b ? b : a)];

            sum = *at;
            *at = 0;
        }
        verify_checked(verify, VERIFY_CHECK_CLASSES, 1);
        if (said != sum && !(said > 9e15 && said / sum > 1 - 1e-9 && said / sum < 1 + 1e-9)) {
            tell_class(verify, run->overlaps[i].class_a, run->overlaps[i].class_b, said, sum);
        }
    }
    for (uint32_t a = 0; a < sums->n; a++) {
        for (uint32_t b = a; b < sums->n; b++) {
            double sum = sums->ns[(size_t)a * sums->n + b];

            if (sum > 0) {
                tell_class(verify, class_name(verify, sums, a), class_name(verify, sums, b), 0,
                           sum);
            }
        }
    }
}

#define MOST_CLASSES 4096 /* of which all pairs are summed */

static enum weir_status check_classes(struct verify *verify, const struct event *events, size_t n)
{
    struct sums sums = {.n = graph_n_classes(verify->graph) + 1};
    enum weir_status status = WEIR_OK;

    if (verify->run->n_overlaps == 0) {
        verify_skip(verify, VERIFY_CHECK_CLASSES,
                    "the run does not say how long classes ran at once");
        return WEIR_OK;
    }
    if (sums.n > MOST_CLASSES) {
        verify_skip(verify, VERIFY_CHECK_CLASSES, "there are too many pairs of classes");
        return WEIR_OK;
    }
    sums.ns = calloc((size_t)sums.n * sums.n, sizeof *sums.ns);
    sums.running = calloc(sums.n, sizeof *sums.running);
    sums.active = malloc(sums.n * sizeof *sums.active);
    if (sums.ns == NULL || sums.running == NULL || sums.active == NULL) {
        status = weir_error_memory(verify->err);
    } else {
        sum_classes(verify, events, n, &sums);
        match_classes(verify, &sums);
    }
    free(sums.ns);
    free(sums.running);
    free(sums.active);
    return status;
}

enum weir_status verify_overlaps(struct verify *verify)
{
    struct event *events = NULL;
    size_t n = 0;
    enum weir_status status = list_events(verify, &events, &n);

    if (status == WEIR_OK) {
        status = check_forbidden(verify, events, n);
    }
    if (status == WEIR_OK && verify->run->kind == RUN_SIM) {
        status = check_hypothetical(verify, events, n);
    }
    if (status == WEIR_OK && verify->run->kind == RUN_SIM) {
        status = check_classes(verify, events, n);
    }
    free(events);
    return status;
}
