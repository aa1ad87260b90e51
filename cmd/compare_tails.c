/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of two runs, held against each other. */
#include "cmd/compare_tails.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/findings.h"
#include "judge/settings.h"
#include "judge/widest.h"

#define WIDEST_NAMED 3 /* nodes whose length is drawn, with a tail that got worse */

static uint32_t count_complete(const struct stored_run *stored)
{
    uint32_t n = 0;

    for (size_t i = 0; i < stored->n_samples; i++) {
        n += stored->samples[i].status == RUN_COMPLETE ? 1 : 0;
    }
    return n;
}

static bool has_samples(const struct stored_run *stored)
{
    return stored->run.kind == RUN_SIM && count_complete(stored) > 0;
}

static bool has_peaks(const struct stored_run *stored)
{
    for (size_t i = 0; i < stored->n_samples; i++) {
        if (stored->samples[i].peak_bytes == NULL) {
            return false;
        }
    }
    return true;
}

static bool declares(const struct run *run, enum tails_figure *out)
{
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        if (settings_is(run->settings, "quantile", tails_figure_name((enum tails_figure)i))) {
            *out = (enum tails_figure)i;
            return true;
        }
    }
    return false;
}

static enum weir_status read_quantile(const struct stored_run *a, const struct stored_run *b,
                                      const char *quantile, struct compared_tails *out,
                                      struct weir_error *err)
{
    if (quantile == NULL) {
        out->has_quantile = declares(&b->run, &out->quantile) || declares(&a->run, &out->quantile);
        return WEIR_OK;
    }
    out->has_quantile = tails_figure_from(quantile, &out->quantile);
    if (!out->has_quantile) {
        return weir_error_set(err, WEIR_USAGE,
                              "--quantile %.80s: expected mean, median, p90, p95, p99 or worst",
                              quantile);
    }
    return WEIR_OK;
}

/* Sample k of one seed draws the same for the same nodes, whatever becomes of it. */
static enum tails_pairing pairing_of(const struct stored_run *a, const struct stored_run *b)
{
    bool all_complete = count_complete(a) == a->n_samples && count_complete(b) == b->n_samples;

    return all_complete && a->n_samples == b->n_samples && a->run.seed == b->run.seed ? TAILS_PAIRED
                                                                                      : TAILS_APART;
}

/* --- the work --------------------------------------------------------------------------------- */

/* Of the complete samples. @param domain none: their makespans */
static size_t list_values(const struct stored_run *stored, weir_domain domain, int64_t *values)
{
    size_t n = 0;

    for (size_t i = 0; i < stored->n_samples; i++) {
        const struct run_sample *sample = &stored->samples[i];

        if (sample->status == RUN_COMPLETE) {
            values[n++] = weir_is(domain) ? sample->peak_bytes[domain.index] : sample->makespan_ns;
        }
    }
    return n;
}

/* @param in_b the same domain there */
static enum weir_status compare_values(const struct stored_run *a, const struct stored_run *b,
                                       weir_domain in_a, weir_domain in_b,
                                       struct tails_comparison *out, struct weir_error *err)
{
    int64_t *before = malloc((a->n_samples + 1) * sizeof *before);
    int64_t *after = malloc((b->n_samples + 1) * sizeof *after);
    enum weir_status status = before == NULL || after == NULL ? weir_error_memory(err) : WEIR_OK;

    if (status == WEIR_OK) {
        size_t n_before = list_values(a, in_a, before), n_after = list_values(b, in_b, after);

        status = tails_compare(before, n_before, after, n_after, pairing_of(a, b),
                               (uint64_t)a->run.seed, out, err);
    }
    free(before);
    free(after);
    return status;
}

static const char *domain_name(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_domain(graph, (weir_domain){index})->name);
}

static enum weir_status compare_peaks(const struct stored_run *a, const struct stored_run *b,
                                      struct compared_tails *out, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    out->n_domains = graph_n_domains(a->graph);
    out->peak_bytes = calloc((size_t)out->n_domains + 1, sizeof *out->peak_bytes);
    if (out->peak_bytes == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < out->n_domains && status == WEIR_OK; i++) {
        weir_domain in_b =
            graph_find_domain(b->graph, graph_find_text(b->graph, domain_name(a->graph, i)));

        if (weir_is(in_b)) {
            status = compare_values(a, b, (weir_domain){i}, in_b, &out->peak_bytes[i], err);
        }
    }
    return status;
}

/* Whose lengths the tail may come from. */
static void name_widest(const struct stored_run *b, struct report *report)
{
    weir_node widest[WIDEST_NAMED];
    uint32_t n = widest_find(b->graph, b->timeline, widest, WIDEST_NAMED);

    for (uint32_t i = 0; i < n; i++) {
        report_name(report, graph_node_name(b->graph, widest[i]));
    }
}

static void find_regression(const struct stored_run *b, struct compared_tails *out)
{
    const struct tails_change *mean = &out->makespan_ns.of[TAILS_MEAN];
    const struct tails_change *tail = &out->makespan_ns.of[out->quantile];
    char text[6][NUMBER_TEXT_BYTES];

    if (!out->has_quantile) {
        return;
    }
    out->verdict = tails_regress(&out->makespan_ns, out->quantile);
    if (out->verdict != TAILS_REGRESSES) {
        return;
    }
    number_time_text(mean->before, text[0]);
    number_time_text(mean->after, text[1]);
    number_time_text(tail->before, text[2]);
    number_time_text(tail->after, text[3]);
    number_time_text(tail->low, text[4]);
    number_time_text(tail->high, text[5]);
    report_add(
        out->findings, FINDING_WORSE_TAIL, (struct report_at){NULL, 0, 0},
        "the mean makespan goes from %s to %s, and its %s, which counts, from %s to %s: worse "
        "by %s%s%s",
        text[0], text[1], tails_figure_name(out->quantile), text[2], text[3], text[4],
        tail->low == tail->high ? "" : " to ", tail->low == tail->high ? "" : text[5]);
    name_widest(b, out->findings);
}

enum weir_status compared_tails_find(const struct stored_run *a, const struct stored_run *b,
                                     const char *quantile, struct compared_tails *out,
                                     struct weir_error *err)
{
    enum weir_status status;

    *out = (struct compared_tails){.verdict = TAILS_FINE, .findings = report_new(0)};
    if (out->findings == NULL) {
        return weir_error_memory(err);
    }
    status = read_quantile(a, b, quantile, out, err);
    if (status != WEIR_OK || !has_samples(a) || !has_samples(b)) {
        return status;
    }
    status = compare_values(a, b, (weir_domain){WEIR_NONE}, (weir_domain){WEIR_NONE},
                            &out->makespan_ns, err);
    if (status == WEIR_OK && has_peaks(a) && has_peaks(b)) {
        status = compare_peaks(a, b, out, err);
    }
    if (status == WEIR_OK) {
        out->is_known = true;
        find_regression(b, out);
    }
    return status;
}

void compared_tails_free(struct compared_tails *tails)
{
    free(tails->peak_bytes);
    report_free(tails->findings);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_changes(struct json *json, const char *key, const struct tails_comparison *changes)
{
    json_open_object(json, key);
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        json_open_object(json, tails_figure_name((enum tails_figure)i));
        json_integer(json, "a", changes->of[i].before);
        json_integer(json, "b", changes->of[i].after);
        json_integer(json, "change", changes->of[i].change);
        json_integer(json, "low", changes->of[i].low);
        json_integer(json, "high", changes->of[i].high);
        json_close_object(json);
    }
    json_close_object(json);
}

static void json_known(struct json *json, const struct compared_tails *tails,
                       const struct graph *graph)
{
    static const char *const verdicts[] = {"fine", "doubtful", "regresses"};

    json_integer(json, "samples_a", (int64_t)tails->makespan_ns.n_before);
    json_integer(json, "samples_b", (int64_t)tails->makespan_ns.n_after);
    json_ratio(json, "confidence_ratio", TAILS_CONFIDENCE);
    if (tails->has_quantile) {
        json_text(json, "quantile", tails_figure_name(tails->quantile));
        json_text(json, "verdict", verdicts[tails->verdict]);
    } else {
        json_null(json, "quantile");
        json_null(json, "verdict");
    }
    json_changes(json, "makespan_ns", &tails->makespan_ns);
    if (tails->peak_bytes == NULL) {
        json_null(json, "peak_bytes");
        return;
    }
    json_open_object(json, "peak_bytes");
    for (uint32_t i = 0; i < tails->n_domains; i++) {
        if (tails->peak_bytes[i].n_before > 0) {
            json_changes(json, domain_name(graph, i), &tails->peak_bytes[i]);
        }
    }
    json_close_object(json);
}

void compared_tails_json(struct json *json, const struct compared_tails *tails,
                         const struct graph *graph)
{
    if (tails->is_known) {
        json_open_object(json, "tails");
        json_known(json, tails, graph);
        json_close_object(json);
    } else {
        json_null(json, "tails");
    }
    cmd_json_findings(json, tails->findings);
}

/* --- text ------------------------------------------------------------------------------------- */

typedef void value_text(int64_t value, char *out);

static void time_text(int64_t value, char *out)
{
    number_time_text(value, out);
}

static void size_text(int64_t value, char *out)
{
    number_size_text(value, out);
}

static void signed_text(value_text *text, int64_t value, char out[NUMBER_TEXT_BYTES + 1])
{
    out[0] = value < 0 ? '-' : '+';
    text(value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value, out + 1);
}

static void print_changes(const char *title, const struct tails_comparison *changes,
                          value_text *text)
{
    printf("  %s\n", title);
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        const struct tails_change *change = &changes->of[i];
        char a[NUMBER_TEXT_BYTES], b[NUMBER_TEXT_BYTES];
        char by[NUMBER_TEXT_BYTES + 1], low[NUMBER_TEXT_BYTES + 1], high[NUMBER_TEXT_BYTES + 1];

        text(change->before, a);
        text(change->after, b);
        signed_text(text, change->change, by);
        signed_text(text, change->low, low);
        signed_text(text, change->high, high);
        printf("    %-8s a %12s   b %12s   %s (%s to %s)\n",
               tails_figure_name((enum tails_figure)i), a, b, by, low, high);
    }
}

static bool is_unchanged(const struct tails_comparison *changes)
{
    for (int i = 0; i < N_TAILS_FIGURES; i++) {
        if (changes->of[i].low != 0 || changes->of[i].high != 0 || changes->of[i].change != 0) {
            return false;
        }
    }
    return changes->n_before > 0;
}

void compared_tails_print(const struct compared_tails *tails, const struct graph *graph)
{
    char title[300];

    if (!tails->is_known) {
        return;
    }
    printf("\nsamples           %zu of a, %zu of b; changes with intervals at %g %%\n",
           tails->makespan_ns.n_before, tails->makespan_ns.n_after, 100 * TAILS_CONFIDENCE);
    print_changes("makespan", &tails->makespan_ns, time_text);
    for (uint32_t i = 0; tails->peak_bytes != NULL && i < tails->n_domains; i++) {
        bool is_same = is_unchanged(&tails->peak_bytes[i]);

        (void)snprintf(title, sizeof title, "peak %.250s%s", domain_name(graph, i),
                       is_same ? ": the same in both" : "");
        if (is_same) {
            printf("  %s\n", title);
        } else if (tails->peak_bytes[i].n_before > 0) {
            print_changes(title, &tails->peak_bytes[i], size_text);
        }
    }
    if (tails->verdict == TAILS_DOUBTFUL) {
        printf(
            "  the mean improves and %s, which counts, gets worse, but it may be chance: draw more "
            "samples\n",
            tails_figure_name(tails->quantile));
    }
    cmd_print_report(tails->findings);
}
