/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir compare: one run held against another of the same graph. */
#include "judge/compare.h"

#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/compare_tails.h"
#include "cmd/json.h"
#include "cmd/replayed.h"

extern const struct cmd_verb cmd_verb_compare;

static const char usage[] =
    "usage: weir compare RUN RUN [--tolerance R] [--quantile Q] [--db FILE] [--json]\n\n"
    "Pairs the nodes of two runs of one graph by name and tells how far the second is from the\n"
    "first: makespan, durations, starts, order on each engine, peak of each domain; of a replay\n"
    "against its plan also which nodes made it longer, and by what. A RUN is a\n"
    "number of `weir runs`, or latest, sim, replay or recorded: the newest of that kind. The "
    "times\n"
    "of the first are multiplied by the scale at which a replay ran. A cold run is not compared\n"
    "with a warm one.\n\n"
    "  --tolerance R  exit with 1 when the makespan error is greater than R (0.05: 5 %)\n"
    "  --quantile Q   of two simulations with samples: tells when the mean improves and this gets\n"
    "                 worse (mean, median, p90, p95, p99 or worst; as the runs declare it)\n\n"
    "example:\n"
    "  weir compare sim replay --tolerance 0.1\n";

struct runs {
    struct stored_run a, b;
    bool has_a, has_b;
};

static enum weir_status read_run(struct store *store, const char *text, struct stored_run *out,
                                 bool *is_read, struct weir_error *err)
{
    int64_t run_id = 0;
    enum weir_status status = store_resolve_run(store, text, &run_id, err);

    if (status == WEIR_OK)
        status = store_read_run(store, run_id, out, err);
    *is_read = status == WEIR_OK;
    return status;
}

static enum weir_status read_runs(const char *db, const char *const *names, struct runs *runs,
                                  struct weir_error *err)
{
    struct store *store;
    enum weir_status status = store_open(db, true, &store, err);

    if (status != WEIR_OK)
        return status;
    status = read_run(store, names[0], &runs->a, &runs->has_a, err);
    if (status == WEIR_OK)
        status = read_run(store, names[1], &runs->b, &runs->has_b, err);
    store_close(store);
    return status;
}

static void free_runs(struct runs *runs)
{
    if (runs->has_a)
        stored_run_free(&runs->a);
    if (runs->has_b)
        stored_run_free(&runs->b);
}

/* Is the second a replay that knows how far it was from its plan, and the first that plan? */
static bool is_plan_and_replay(const struct runs *runs)
{
    return runs->a.run.kind == RUN_SIM && runs->b.run.kind == RUN_REPLAY &&
           strcmp(runs->a.run.plan_hash, runs->b.run.plan_hash) == 0 &&
           replayed_is_known(&runs->b.run);
}

static const char *node_name(const struct runs *runs, weir_node node)
{
    return graph_node_name(runs->a.graph, node);
}

static const char *domain_name(const struct runs *runs, uint32_t index)
{
    return graph_text(runs->a.graph, graph_domain(runs->a.graph, (weir_domain){index})->name);
}

static void json_run(struct json *json, const char *key, const struct run *run)
{
    json_open_object(json, key);
    json_integer(json, "run", run->id);
    json_text(json, "kind", run_kind_name(run->kind));
    json_text(json, "policy", run->policy);
    json_text(json, "machine", run->machine);
    replayed_json_device(json, run);
    json_integer(json, "makespan_ns", run->timeline->makespan_ns);
    replayed_json_repeats(json, run);
    replayed_json_remarks(json, run);
    json_close_object(json);
}

/* Of a replay against what is exactly known.
 * @return false when the second is none, or too few repeats tell where its median is */
static bool find_interval(const struct comparison *c, const struct runs *runs, double *low,
                          double *high)
{
    int64_t low_ns, high_ns;

    if (runs->a.run.kind == RUN_REPLAY || c->makespan_a_ns <= 0 ||
        !replayed_interval(&runs->b.run, &low_ns, &high_ns))
        return false;
    *low = (double)low_ns / (double)c->makespan_a_ns - 1;
    *high = (double)high_ns / (double)c->makespan_a_ns - 1;
    return true;
}

static void json_interval(struct json *json, const struct comparison *c, const struct runs *runs)
{
    double low, high;

    if (!find_interval(c, runs, &low, &high)) {
        json_null(json, "makespan_error_interval_ratio");
        return;
    }
    json_open_object(json, "makespan_error_interval_ratio");
    json_ratio(json, "low", low);
    json_ratio(json, "high", high);
    json_close_object(json);
}

static void json_spread(struct json *json, const char *key, const struct compare_spread *spread,
                        const struct runs *runs)
{
    json_open_object(json, key);
    if (weir_is(spread->worst_node)) {
        json_ratio(json, "median", spread->median);
        json_ratio(json, "p95", spread->p95);
        json_ratio(json, "worst", spread->worst);
        json_text(json, "worst_node", node_name(runs, spread->worst_node));
    } else {
        json_null(json, "median");
        json_null(json, "p95");
        json_null(json, "worst");
        json_null(json, "worst_node");
    }
    json_close_object(json);
}

static void json_pairs(struct json *json, const char *key, const struct compare_pair *pairs,
                       uint32_t n, const struct runs *runs)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < n; i++) {
        json_open_object(json, NULL);
        json_text(json, "node", node_name(runs, pairs[i].a));
        json_integer(json, "duration_error_ns", pairs[i].duration_error_ns);
        json_ratio(json, "duration_error_ratio", pairs[i].duration_error_ratio);
        json_integer(json, "start_error_ns", pairs[i].start_error_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_peaks(struct json *json, const struct comparison *c, const struct runs *runs)
{
    json_open_object(json, "peak_bytes");
    for (uint32_t i = 0; i < c->n_domains; i++) {
        json_open_object(json, domain_name(runs, i));
        json_integer(json, "a", c->peak_a_bytes[i]);
        if (c->peak_b_bytes[i] < 0)
            json_null(json, "b");
        else
            json_integer(json, "b", c->peak_b_bytes[i]);
        json_close_object(json);
    }
    json_close_object(json);
}

static void answer_json(const struct comparison *c, const struct runs *runs,
                        const struct compared_tails *tails, double tolerance)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_run(&json, "a", &runs->a.run);
    json_run(&json, "b", &runs->b.run);
    json_ratio(&json, "time_scale", c->time_scale);
    json_ratio(&json, "byte_scale", c->byte_scale);
    json_integer(&json, "preempted_a", c->preempted_a);
    json_integer(&json, "preempted_b", c->preempted_b);
    json_integer(&json, "makespan_a_ns", c->makespan_a_ns);
    json_integer(&json, "makespan_b_ns", c->makespan_b_ns);
    json_ratio(&json, "makespan_error_ratio", c->makespan_error_ratio);
    json_interval(&json, c, runs);
    json_integer(&json, "nodes", c->n_pairs);
    json_integer(&json, "nodes_only_a", c->n_only_a);
    json_integer(&json, "nodes_only_b", c->n_only_b);
    json_integer(&json, "nodes_of_no_length", c->n_zero);
    json_spread(&json, "duration_error_ratio", &c->duration_error_ratio, runs);
    json_spread(&json, "start_error_ns", &c->start_error_ns, runs);
    json_integer(&json, "order_inversions", (int64_t)c->order_inversions);
    json_integer(&json, "order_pairs", (int64_t)c->order_pairs);
    json_pairs(&json, "worst_durations", c->worst_duration, c->n_worst_duration, runs);
    json_pairs(&json, "worst_starts", c->worst_start, c->n_worst_start, runs);
    json_peaks(&json, c, runs);
    compared_tails_json(&json, tails, runs->a.graph);
    if (is_plan_and_replay(runs)) {
        replayed_json_makespan(&json, &runs->b.run);
        replayed_json_deviations(&json, &runs->b.run, REPLAYED_WORST);
    } else {
        json_null(&json, "deviation");
        json_null(&json, "deviations");
    }
    if (tolerance >= 0) {
        json_ratio(&json, "tolerance_ratio", tolerance);
        json_boolean(&json, "within_tolerance", fabs(c->makespan_error_ratio) <= tolerance);
    }
    json_close_object(&json);
}

#define SIGNED_BYTES (NUMBER_TEXT_BYTES + 1)

/* 1.5 ms, with its sign. */
static const char *time_text(int64_t ns, char out[SIGNED_BYTES])
{
    if (ns >= 0) {
        number_time_text(ns, out);
        return out;
    }
    number_time_text(ns == INT64_MIN ? INT64_MAX : -ns, out + 1);
    out[0] = '-';
    return out;
}

static void print_preempted(const char *side, int64_t n)
{
    if (n > 0) {
        printf("%" PRId64 " actions of %s lost their processor to something else while they ran: "
               "repeat it on an idle machine\n",
               n, side);
    }
}

static void print_head(const struct comparison *c, const struct runs *runs)
{
    const struct run *sides[] = {&runs->a.run, &runs->b.run};
    const int64_t makespans_ns[] = {c->makespan_a_ns, c->makespan_b_ns};
    char text[SIGNED_BYTES], device[REPLAYED_DEVICE_BYTES];

    for (int i = 0; i < 2; i++) {
        printf("%s run %" PRId64 ", %s of ", i == 0 ? "a" : "b", sides[i]->id,
               run_kind_name(sides[i]->kind));
        cmd_show(stdout,
                 sides[i]->graph_name[0] == '\0' ? "a graph without a name" : sides[i]->graph_name);
        cmd_show(stdout, replayed_device(sides[i], device));
        printf("%s%s%s%s: %s\n", sides[i]->policy[0] == '\0' ? "" : ", policy ", sides[i]->policy,
               sides[i]->machine[0] == '\0' ? "" : ", machine ", sides[i]->machine,
               time_text(makespans_ns[i], text));
    }
    if (c->time_scale != 1)
        printf("times of a are multiplied by %g, the scale of the replay\n", c->time_scale);
    if (c->byte_scale != 1)
        printf("peaks of a are multiplied by %g, the scale of the replay\n", c->byte_scale);
    print_preempted("a", c->preempted_a);
    print_preempted("b", c->preempted_b);
}

static void print_errors(const struct comparison *c, const struct runs *runs)
{
    const struct compare_spread *d = &c->duration_error_ratio, *s = &c->start_error_ns;
    char median[NUMBER_TEXT_BYTES], p95[NUMBER_TEXT_BYTES], worst[NUMBER_TEXT_BYTES];

    printf("\nmakespan error    %+.2f %%\n", 100 * c->makespan_error_ratio);
    if (weir_is(d->worst_node)) {
        printf("duration errors   median %.2f %%, p95 %.2f %%, worst %.2f %% (%s)\n",
               100 * d->median, 100 * d->p95, 100 * d->worst, node_name(runs, d->worst_node));
    }
    number_time_text((int64_t)llround(s->median), median);
    number_time_text((int64_t)llround(s->p95), p95);
    number_time_text((int64_t)llround(s->worst), worst);
    printf("start errors      median %s, p95 %s, worst %s (%s)\n", median, p95, worst,
           node_name(runs, s->worst_node));
    printf("order inversions  %" PRIu64 " of %" PRIu64 " pairs on one engine\n",
           c->order_inversions, c->order_pairs);
    printf("nodes             %" PRIu32 " in both, %" PRIu32 " of them of no length; %" PRIu32
           " only in a, %" PRIu32 " only in b\n",
           c->n_pairs, c->n_zero, c->n_only_a, c->n_only_b);
}

/* What the repeats of a replay say. */
static void print_repeats(const struct comparison *c, const struct runs *runs)
{
    const struct run *sides[] = {&runs->a.run, &runs->b.run};
    double low, high;

    for (int i = 0; i < 2; i++) {
        if (sides[i]->kind != RUN_REPLAY)
            continue;
        printf("\nrepeats of %s\n", i == 0 ? "a" : "b");
        if (i == 1 && find_interval(c, runs, &low, &high))
            printf("  makespan error  between %+.2f %% and %+.2f %% with 95 %%\n", 100 * low,
                   100 * high);
        replayed_print_repeats(sides[i]);
    }
}

static void print_worst(const char *title, const struct compare_pair *pairs, uint32_t n,
                        const struct runs *runs)
{
    char duration[SIGNED_BYTES], start[SIGNED_BYTES];

    if (n == 0)
        return;
    printf("\n%s\n  %14s %10s %14s  node\n", title, "duration", "ratio", "start");
    for (uint32_t i = 0; i < n; i++) {
        printf("  %14s %8.1f %% %14s  ", time_text(pairs[i].duration_error_ns, duration),
               100 * pairs[i].duration_error_ratio, time_text(pairs[i].start_error_ns, start));
        cmd_show(stdout, node_name(runs, pairs[i].a));
        putchar('\n');
    }
}

static void answer_text(const struct comparison *c, const struct runs *runs,
                        const struct compared_tails *tails, const struct cmd_common *common)
{
    print_head(c, runs);
    print_errors(c, runs);
    printf("\npeaks\n");
    for (uint32_t i = 0; i < c->n_domains; i++) {
        char a[NUMBER_TEXT_BYTES], b[NUMBER_TEXT_BYTES] = "-";

        number_size_text(c->peak_a_bytes[i], a);
        if (c->peak_b_bytes[i] >= 0)
            number_size_text(c->peak_b_bytes[i], b);
        printf("  %-16s a %12s   b %12s\n", domain_name(runs, i), a, b);
    }
    if (common->is_quiet)
        return;
    compared_tails_print(tails, runs->a.graph);
    print_repeats(c, runs);
    if (is_plan_and_replay(runs)) {
        replayed_print_makespan("\ndeviation of b from its plan  ", &runs->b.run);
        replayed_print_deviations(&runs->b.run);
    }
    print_worst("largest duration errors (b minus a)", c->worst_duration, c->n_worst_duration,
                runs);
    print_worst("largest start errors (b minus a)", c->worst_start, c->n_worst_start, runs);
}

/* @param tolerance -1 when none was given */
static enum weir_status judge(const struct comparison *c, double tolerance, struct weir_error *err)
{
    if (tolerance < 0 || fabs(c->makespan_error_ratio) <= tolerance)
        return WEIR_OK;
    return weir_error_set(err, WEIR_NO,
                          "the makespan error is %+.2f %%, and at most %.2f %% either way was "
                          "allowed",
                          100 * c->makespan_error_ratio, 100 * tolerance);
}

static enum weir_status read_tolerance(const char *text, double *out, struct weir_error *err)
{
    *out = -1;
    if (text == NULL)
        return WEIR_OK;
    if (number_ratio(text, strlen(text), out) == NUMBER_OK && *out >= 0)
        return WEIR_OK;
    return weir_error_set(err, WEIR_USAGE,
                          "--tolerance %.80s: a ratio of 0 or more was expected, such as 0.05",
                          text);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    const char *tolerance_text = NULL, *quantile = NULL;
    const struct cmd_option options[] = {
        {.name = "--tolerance", .takes_value = true, .value = &tolerance_text},
        {.name = "--quantile", .takes_value = true, .value = &quantile},
        {.name = NULL},
    };
    const char *names[2];
    struct runs runs = {.has_a = false, .has_b = false};
    struct comparison comparison;
    struct compared_tails tails = {.is_known = false};
    struct cmd_common common;
    double tolerance;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_compare, argc, argv, options, &common, names, 2,
                                        2, &n_operands, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done)
        return status;
    status = read_tolerance(tolerance_text, &tolerance, err);
    if (status == WEIR_OK)
        status = read_runs(common.db, names, &runs, err);
    if (status == WEIR_OK)
        status = compared_tails_find(&runs.a, &runs.b, quantile, &tails, err);
    if (status == WEIR_OK)
        status = compare_runs(&runs.a, &runs.b, &comparison, err);
    if (status == WEIR_OK) {
        if (common.is_json)
            answer_json(&comparison, &runs, &tails, tolerance);
        else
            answer_text(&comparison, &runs, &tails, &common);
        status = judge(&comparison, tolerance, err);
        comparison_free(&comparison);
    }
    compared_tails_free(&tails);
    free_runs(&runs);
    return status;
}

const struct cmd_verb cmd_verb_compare = {
    .name = "compare",
    .summary = "holds one run against another of the same graph",
    .usage = usage,
    .run = run,
};
