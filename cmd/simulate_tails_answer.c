/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir simulate tells of samples and perturbations. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/simulate_tails.h"

static const char *domain_name(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_domain(graph, (weir_domain){index})->name);
}

static uint32_t count(const struct tailed *tailed, enum run_status status)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < tailed->sampling.n_samples; i++) {
        n += tailed->sampling.status[i] == status ? 1 : 0;
    }
    return n;
}

/* --- JSON ------------------------------------------------------------------------------------- */

void tailed_settings(struct json *json, const struct tailed *tailed)
{
    if (tailed->sample >= 0) {
        json_integer(json, "sample", tailed->sample);
    }
    if (tailed->n_samples > 0) {
        json_integer(json, "samples", tailed->n_samples);
        json_boolean(json, "fixed_order", tailed->is_fixed_order);
    }
    if (tailed->has_quantile) {
        json_text(json, "quantile", tails_figure_name(tailed->quantile));
    }
}

static void json_tails(struct json *json, const char *key, const struct tails *tails)
{
    json_open_object(json, key);
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        json_open_object(json, tails_figure_name((enum tails_figure)i));
        json_integer(json, "value", tails->of[i].value);
        json_integer(json, "low", tails->of[i].low);
        json_integer(json, "high", tails->of[i].high);
        json_close_object(json);
    }
    json_close_object(json);
}

static void json_peaks(struct json *json, const struct tailed *tailed, const struct graph *graph)
{
    json_open_object(json, "peak_quantiles_bytes");
    for (uint32_t i = 0; i < tailed->sampling.n_domains; i++) {
        json_tails(json, domain_name(graph, i), &tailed->peak_bytes[i]);
    }
    json_close_object(json);
}

static void json_samples(struct json *json, const struct tailed *tailed, const struct graph *graph)
{
    json_integer(json, "samples", tailed->sampling.n_samples);
    json_integer(json, "drawn_durations", tailed->sampling.n_random);
    json_boolean(json, "fixed_order", tailed->is_fixed_order);
    json_open_object(json, "samples_by_status");
    for (int i = RUN_COMPLETE; i <= RUN_FAILED; i++) {
        json_integer(json, run_status_name((enum run_status)i), count(tailed, (enum run_status)i));
    }
    json_close_object(json);
    if (tailed->sampling.explanation != NULL) {
        json_text(json, "samples_explanation", tailed->sampling.explanation);
    }
    json_ratio(json, "confidence_ratio", TAILS_CONFIDENCE);
    if (tailed->is_spread) {
        json_tails(json, "makespan_quantiles_ns", &tailed->makespan_ns);
    } else {
        json_null(json, "makespan_quantiles_ns");
    }
    if (tailed->peak_bytes != NULL) {
        json_peaks(json, tailed, graph);
    } else {
        json_null(json, "peak_quantiles_bytes");
    }
    if (tailed->has_quantile) {
        json_text(json, "quantile", tails_figure_name(tailed->quantile));
    } else {
        json_null(json, "quantile");
    }
}

static void json_move(struct json *json, const char *key, const struct perturbation *move,
                      const struct graph *graph)
{
    json_open_object(json, key);
    json_text(json, "node", graph_node_name(graph, (weir_node){move->node}));
    json_integer(json, "moved_ns", move->moved_ns);
    json_close_object(json);
}

static void json_moves(struct json *json, const struct tailed *tailed, const struct graph *graph)
{
    json_open_object(json, "perturbation");
    json_integer(json, "longer_ns", tailed->perturb_ns);
    json_integer(json, "tries", tailed->n_moves + tailed->n_stuck);
    json_integer(json, "stuck", tailed->n_stuck);
    if (tailed->n_moves > 0) {
        json_move(json, "least", &tailed->moves[0], graph);
        json_move(json, "median", &tailed->moves[(tailed->n_moves - 1) / 2], graph);
        json_move(json, "greatest", &tailed->moves[tailed->n_moves - 1], graph);
    }
    json_close_object(json);
}

void tailed_json(struct json *json, const struct tailed *tailed, const struct graph *graph)
{
    if (tailed->sample >= 0) {
        json_integer(json, "sample", tailed->sample);
    }
    if (tailed->rows != NULL) {
        json_samples(json, tailed, graph);
    } else if (tailed->n_samples > 0) {
        json_integer(json, "samples", 0);
    }
    if (tailed->moves != NULL) {
        json_moves(json, tailed, graph);
    } else if (tailed->perturb_ns > 0) {
        json_null(json, "perturbation");
    }
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_tails(const struct tails *tails, void (*text)(int64_t, char *))
{
    char value[NUMBER_TEXT_BYTES], low[NUMBER_TEXT_BYTES], high[NUMBER_TEXT_BYTES];

    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        text(tails->of[i].value, value);
        text(tails->of[i].low, low);
        text(tails->of[i].high, high);
        printf("    %-13s %s (%s to %s)\n", tails_figure_name((enum tails_figure)i), value, low,
               high);
    }
}

static void time_text(int64_t value, char *out)
{
    number_time_text(value, out);
}

static void size_text(int64_t value, char *out)
{
    number_size_text(value, out);
}

static void print_peaks(const struct tailed *tailed, const struct graph *graph)
{
    char text[NUMBER_TEXT_BYTES];

    for (uint32_t i = 0; i < tailed->sampling.n_domains; i++) {
        const struct tails *tails = &tailed->peak_bytes[i];

        if (tails->of[TAILS_MEAN].low == tails->of[TAILS_WORST].value) {
            number_size_text(tails->of[TAILS_WORST].value, text);
            printf("  peak %-10s %s in every sample\n", domain_name(graph, i), text);
            continue;
        }
        printf("  peak %s\n", domain_name(graph, i));
        print_tails(tails, size_text);
    }
}

static void print_samples(const struct tailed *tailed, const struct graph *graph)
{
    uint32_t n = tailed->sampling.n_samples, n_stuck = n - tailed->sampling.n_complete;

    printf("  samples         %" PRIu32 ", %s; durations drawn in each: %" PRIu32 "%s\n", n,
           tailed->is_fixed_order ? "timed in the order of the run" : "each simulated",
           tailed->sampling.n_random,
           tailed->sampling.n_random == 0 ? " (none is a distribution)" : "");
    if (n_stuck > 0) {
        printf("    %" PRIu32 " of them did not complete and are in no figure below: %" PRIu32
               " in a shortage, %" PRIu32 " in a deadlock, %" PRIu32 " failed\n",
               n_stuck, count(tailed, RUN_SHORTAGE), count(tailed, RUN_DEADLOCK),
               count(tailed, RUN_FAILED));
        printf("    the first: ");
        cmd_show_lines(stdout, tailed->sampling.explanation == NULL ? "no reason is known"
                                                                    : tailed->sampling.explanation);
        putchar('\n');
    }
    if (!tailed->is_spread) {
        return;
    }
    printf("  makespan, with intervals at %g %%%s%s\n", 100 * TAILS_CONFIDENCE,
           tailed->has_quantile ? "; what counts: " : "",
           tailed->has_quantile ? tails_figure_name(tailed->quantile) : "");
    print_tails(&tailed->makespan_ns, time_text);
    if (tailed->peak_bytes != NULL) {
        print_peaks(tailed, graph);
    } else {
        printf("  peaks           not known: a node that did not run ends a copy\n");
    }
}

static void print_move(const char *name, const struct perturbation *move, const struct graph *graph)
{
    char text[NUMBER_TEXT_BYTES];
    int64_t ns = move->moved_ns;

    number_time_text(ns < 0 ? -ns : ns, text);
    printf("    %-13s %s%s, by ", name, ns < 0 ? "-" : "+", text);
    cmd_show(stdout, graph_node_name(graph, (weir_node){move->node}));
    putchar('\n');
}

static void print_moves(const struct tailed *tailed, const struct graph *graph)
{
    char text[NUMBER_TEXT_BYTES];

    number_time_text(tailed->perturb_ns, text);
    printf("  perturbed       %" PRIu32 " times, one node longer by %s; the makespan moves\n",
           tailed->n_moves + tailed->n_stuck, text);
    if (tailed->n_stuck > 0) {
        printf("    %" PRIu32 " of these runs did not complete\n", tailed->n_stuck);
    }
    if (tailed->n_moves > 0) {
        print_move("least", &tailed->moves[0], graph);
        print_move("median", &tailed->moves[(tailed->n_moves - 1) / 2], graph);
        print_move("greatest", &tailed->moves[tailed->n_moves - 1], graph);
    }
}

void tailed_print(const struct tailed *tailed, const struct graph *graph)
{
    if (tailed->sample >= 0) {
        printf("  lengths         those of sample %" PRId64 "\n", tailed->sample);
    }
    if (tailed->rows != NULL) {
        print_samples(tailed, graph);
    } else if (tailed->n_samples > 0) {
        printf("  samples         none: the run did not complete, and has no order to keep\n");
    }
    if (tailed->moves != NULL) {
        print_moves(tailed, graph);
    } else if (tailed->perturb_ns > 0) {
        printf("  perturbed       not: the run did not complete\n");
    }
}
