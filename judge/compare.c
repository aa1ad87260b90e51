/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares two timelines of one graph. Every figure is over the nodes that ran in both, paired by
 * name, in the program order of the first; errors are second minus first, after the first's times
 * were multiplied by the scale that a replay ran at. */
#include "judge/compare.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "judge/inversions.h"
#include "judge/settings.h"

#define HASH_SHOWN 8 /* digits that tell two graphs apart in a message */

struct pairing {
    const struct stored_run *a, *b;
    double scale;
    struct compare_pair *pairs;
    double *values; /* room for one number a pair */
    uint32_t n_pairs;
};

static double scale_of(const struct run *run, const char *key)
{
    double scale;

    return settings_ratio(run->settings, key, &scale) && scale > 0 ? scale : 1;
}

static int64_t preempted(const struct run *run)
{
    double count;

    return settings_ratio(run->settings, "preempted", &count) && count > 0 ? (int64_t)count : 0;
}

static int64_t scaled(int64_t value, double scale)
{
    double product;

    if (scale == 1)
        return value;
    product = (double)value * scale;
    return product >= 9.2e18 ? INT64_MAX : (int64_t)llround(product);
}

static enum weir_status check_ended(const struct run *run, struct weir_error *err)
{
    if (run->timeline->status == RUN_COMPLETE)
        return WEIR_OK;
    return weir_error_set(err, WEIR_INPUT,
                          "run %" PRId64
                          " ended as %s: its times are not those of the whole graph, "
                          "and cannot be compared; compare a run that is complete",
                          run->id, run_status_name(run->timeline->status));
}

/* May the two be held against each other at all? */
static enum weir_status check_runs(const struct run *a, const struct run *b, struct weir_error *err)
{
    enum weir_status status;

    if (strcmp(a->graph_hash, b->graph_hash) != 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "run %" PRId64 " is of graph '%.60s' (%.*s) and run %" PRId64
                              " of graph '%.60s' (%.*s): only runs of one graph can be compared; "
                              "`weir runs` shows which have the same graph",
                              a->id, a->graph_name, HASH_SHOWN, a->graph_hash, b->id, b->graph_name,
                              HASH_SHOWN, b->graph_hash);
    }
    if (a->scope != SCOPE_NONE && b->scope != SCOPE_NONE && a->scope != b->scope) {
        return weir_error_set(err, WEIR_INPUT,
                              "run %" PRId64 " is %s and run %" PRId64 " is %s: a cold run says "
                              "nothing about a warm one; compare two of the same scope",
                              a->id, graph_scope_name(a->scope), b->id, graph_scope_name(b->scope));
    }
    status = check_ended(a, err);
    return status == WEIR_OK ? check_ended(b, err) : status;
}

static bool has_run(const struct stored_run *run, weir_node node)
{
    return run->timeline->spans[node.index].finish_ns >= 0;
}

static weir_node same_name(const struct graph *from, weir_node node, const struct graph *in)
{
    return graph_find_node(in, graph_find_text(in, graph_node_name(from, node)));
}

static double ratio_of(int64_t error, int64_t of)
{
    if (of == 0)
        return error == 0 ? 0 : error > 0 ? INFINITY : -INFINITY;
    return (double)error / (double)of;
}

static int64_t duration_of(const struct timeline_span *span)
{
    return span->finish_ns - span->start_ns;
}

static struct compare_pair pair_of(const struct pairing *p, weir_node a, weir_node b)
{
    const struct timeline_span *in_a = &p->a->timeline->spans[a.index];
    const struct timeline_span *in_b = &p->b->timeline->spans[b.index];
    int64_t duration_a_ns = scaled(duration_of(in_a), p->scale);
    int64_t error_ns = duration_of(in_b) - duration_a_ns;

    return (struct compare_pair){
        .a = a,
        .b = b,
        .duration_error_ns = error_ns,
        .start_error_ns = in_b->start_ns - scaled(in_a->start_ns, p->scale),
        .duration_error_ratio = ratio_of(error_ns, duration_a_ns),
    };
}

static uint32_t count_run(const struct stored_run *run)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < run->timeline->n_nodes; i++)
        n += has_run(run, (weir_node){i}) ? 1 : 0;
    return n;
}

static enum weir_status find_pairs(struct pairing *p, struct comparison *out,
                                   struct weir_error *err)
{
    uint32_t n_a = count_run(p->a), n_b = count_run(p->b);

    p->pairs = calloc((size_t)n_a + 1, sizeof *p->pairs);
    p->values = calloc((size_t)n_a + 1, sizeof *p->values);
    if (p->pairs == NULL || p->values == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < p->a->timeline->n_nodes; i++) {
        weir_node a = {i}, b;

        if (!has_run(p->a, a))
            continue;
        b = same_name(p->a->graph, a, p->b->graph);
        if (weir_is(b) && has_run(p->b, b))
            p->pairs[p->n_pairs++] = pair_of(p, a, b);
    }
    if (p->n_pairs == 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "no node ran in both run %" PRId64 " (%" PRIu32
                              " nodes) and run %" PRId64 " (%" PRIu32 " nodes): there is nothing "
                              "to compare",
                              p->a->run.id, n_a, p->b->run.id, n_b);
    }
    out->n_pairs = p->n_pairs;
    out->n_only_a = n_a - p->n_pairs;
    out->n_only_b = n_b - p->n_pairs;
    return WEIR_OK;
}

/* p->values[0..n) hold absolute errors. */
static void fill_spread(struct pairing *p, uint32_t n, weir_node worst_node,
                        struct compare_spread *out)
{
    *out = (struct compare_spread){.worst_node = {WEIR_NONE}};
    if (n == 0)
        return;
    gsl_sort(p->values, 1, n);
    out->median = gsl_stats_quantile_from_sorted_data(p->values, 1, n, 0.5);
    out->p95 = gsl_stats_quantile_from_sorted_data(p->values, 1, n, 0.95);
    out->worst = p->values[n - 1];
    out->worst_node = worst_node;
}

static void spread_of_durations(struct pairing *p, struct comparison *out)
{
    weir_node worst = {WEIR_NONE};
    double most = -1;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_pairs; i++) {
        double error = fabs(p->pairs[i].duration_error_ratio);

        if (duration_of(&p->a->timeline->spans[p->pairs[i].a.index]) == 0 || isinf(error))
            continue;
        if (error > most) {
            most = error;
            worst = p->pairs[i].a;
        }
        p->values[n++] = error;
    }
    out->n_zero = p->n_pairs - n;
    fill_spread(p, n, worst, &out->duration_error_ratio);
}

static void spread_of_starts(struct pairing *p, struct comparison *out)
{
    weir_node worst = {WEIR_NONE};
    double most = -1;

    for (uint32_t i = 0; i < p->n_pairs; i++) {
        p->values[i] = fabs((double)p->pairs[i].start_error_ns);
        if (p->values[i] > most) {
            most = p->values[i];
            worst = p->pairs[i].a;
        }
    }
    fill_spread(p, p->n_pairs, worst, &out->start_error_ns);
}

static enum weir_status count_order(const struct pairing *p, struct comparison *out,
                                    struct weir_error *err)
{
    struct inversion_item *items = calloc((size_t)p->n_pairs + 1, sizeof *items);
    enum weir_status status;
    size_t n = 0;

    if (items == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < p->n_pairs; i++) {
        weir_engine engine = graph_node_engine(p->a->graph, p->pairs[i].a);

        if (weir_is(engine)) {
            items[n++] = (struct inversion_item){
                .group = engine.index,
                .first = p->a->timeline->spans[p->pairs[i].a.index].start_ns,
                .second = p->b->timeline->spans[p->pairs[i].b.index].start_ns,
            };
        }
    }
    status = count_inversions(items, n, &out->order_inversions, &out->order_pairs, err);
    free(items);
    return status;
}

static int64_t size_of(const struct compare_pair *pair, bool is_by_start)
{
    return llabs(is_by_start ? pair->start_error_ns : pair->duration_error_ns);
}

/* Puts the pair in its place of a list that is sorted by size, the largest first; of equal sizes the
 * one that came first stays in front. */
static void keep_worst(struct compare_pair *list, uint32_t *n, const struct compare_pair *pair,
                       bool is_by_start)
{
    int64_t size = size_of(pair, is_by_start);
    uint32_t at = *n;

    if (size == 0)
        return;
    while (at > 0 && size_of(&list[at - 1], is_by_start) < size) {
        if (at < COMPARE_WORST)
            list[at] = list[at - 1];
        at--;
    }
    if (at < COMPARE_WORST)
        list[at] = *pair;
    if (*n < COMPARE_WORST)
        (*n)++;
}

static void find_worst(const struct pairing *p, struct comparison *out)
{
    for (uint32_t i = 0; i < p->n_pairs; i++) {
        keep_worst(out->worst_duration, &out->n_worst_duration, &p->pairs[i], false);
        keep_worst(out->worst_start, &out->n_worst_start, &p->pairs[i], true);
    }
}

static enum weir_status find_peaks(const struct pairing *p, struct comparison *out,
                                   struct weir_error *err)
{
    uint32_t n = graph_n_domains(p->a->graph);

    out->peak_a_bytes = calloc((size_t)n + 1, sizeof *out->peak_a_bytes);
    out->peak_b_bytes = calloc((size_t)n + 1, sizeof *out->peak_b_bytes);
    if (out->peak_a_bytes == NULL || out->peak_b_bytes == NULL)
        return weir_error_memory(err);
    out->n_domains = n;
    for (uint32_t i = 0; i < n; i++) {
        const char *name =
            graph_text(p->a->graph, graph_domain(p->a->graph, (weir_domain){i})->name);
        weir_domain b = graph_find_domain(p->b->graph, graph_find_text(p->b->graph, name));

        out->peak_a_bytes[i] = scaled(p->a->timeline->peak_bytes[i], out->byte_scale);
        out->peak_b_bytes[i] = weir_is(b) ? p->b->timeline->peak_bytes[b.index] : -1;
    }
    return WEIR_OK;
}

enum weir_status compare_runs(const struct stored_run *a, const struct stored_run *b,
                              struct comparison *out, struct weir_error *err)
{
    struct comparison result = {
        .time_scale = scale_of(&b->run, "scale_time") / scale_of(&a->run, "scale_time"),
        .byte_scale = scale_of(&b->run, "scale_bytes") / scale_of(&a->run, "scale_bytes"),
        .preempted_a = preempted(&a->run),
        .preempted_b = preempted(&b->run),
    };
    struct pairing p = {.a = a, .b = b, .scale = result.time_scale};
    enum weir_status status = check_runs(&a->run, &b->run, err);

    if (status == WEIR_OK)
        status = find_pairs(&p, &result, err);
    if (status == WEIR_OK)
        status = count_order(&p, &result, err);
    if (status == WEIR_OK)
        status = find_peaks(&p, &result, err);
    if (status == WEIR_OK) {
        result.makespan_a_ns = scaled(a->timeline->makespan_ns, p.scale);
        result.makespan_b_ns = b->timeline->makespan_ns;
        result.makespan_error_ratio =
            ratio_of(result.makespan_b_ns - result.makespan_a_ns, result.makespan_a_ns);
        spread_of_durations(&p, &result);
        spread_of_starts(&p, &result);
        find_worst(&p, &result);
        *out = result;
    } else {
        comparison_free(&result);
    }
    free(p.pairs);
    free(p.values);
    return status;
}

void comparison_free(struct comparison *comparison)
{
    free(comparison->peak_a_bytes);
    free(comparison->peak_b_bytes);
    comparison->peak_a_bytes = comparison->peak_b_bytes = NULL;
}
