/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the audit of a graph promises, held against simulations under random priorities:
 *  - a graph that passes has the data flow of its program in every run, and no use of bytes that are not
 *    there, as the judge finds it;
 *  - an edge that is dropped, a reclamation that is moved, a domain that is changed is found, or does no
 *    harm: every run has the same data flow;
 *  - a proof of progress holds: no run is stuck; and what is proved to be short never completes;
 *  - no run ends, and no node starts or finishes, before the analysis says it can.
 * A node that gives way to its fallback leaves the data flow of the program without it. */
#include "graph/analyze.h"
#include "graph/check.h"
#include "graph/text.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/sim/draw.h"
#include "tests/suite.h"

#define RUNS 3 /* of each graph, each with other priorities */

/* --- what is done with them --- */

static bool has(const struct report *report, enum finding_code code)
{
    for (uint32_t i = 0; i < report_count(report); i++) {
        if (report_finding(report, i)->code == code) {
            return true;
        }
    }
    return false;
}

/* NULL when it is not legal, or the audit says that bytes may not be there. */
static struct graph *read_legal(const char *text, size_t length)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct binding *binding = NULL;
    struct weir_error err;

    if (graph_read_text(text, length, "drawn", report, &graph, &err) == WEIR_OK) {
        ck_assert_int_eq(check_graph(graph, report, &binding, &err), WEIR_OK);
        if (report_errors(report) > 0 || has(report, FINDING_MAPPED_EARLY) ||
            has(report, FINDING_FALLBACK_GAP)) {
            graph_free(graph);
            graph = NULL;
        }
    }
    bind_free(binding);
    report_free(report);
    return graph;
}

static struct graph *expanded(const struct graph *graph)
{
    struct report *report = report_new(0);
    struct binding *binding;
    struct graph *out;
    struct weir_error err;

    ck_assert_int_eq(bind_graph(graph, report, &binding, &err), WEIR_OK);
    ck_assert_int_eq(bind_expand(binding, &out, &err), WEIR_OK);
    bind_free(binding);
    report_free(report);
    return out;
}

static void set_priorities(struct graph *graph, struct random_stream *random)
{
    struct weir_error err;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node value;

        graph_node(graph, (weir_node){i}, &value);
        value.priority = (int64_t)random_below(random, 10);
        ck_assert_int_eq(graph_set_node(graph, (weir_node){i}, &value, &err), WEIR_OK);
    }
}

/* Simulates; the caller frees the timeline. */
static struct timeline *simulated(const struct graph *graph, enum contention contention)
{
    const struct weir_policy *policy;
    struct plan_options plan_options = {.policy = NULL};
    struct simulate_options options = simulate_default();
    struct simulate_result result;
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;

    options.contention = contention;
    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    plan_options.policy = policy;
    ck_assert_msg(plan_make(graph, &plan_options, report, &plan, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(simulate(plan, &options, &result, &err) == WEIR_OK, "%s", err.text);
    plan_free(plan);
    report_free(report);
    free(result.explanation);
    return result.timeline;
}

/* Nodes with a fallback that did not run. */
static unsigned n_gave_way(const struct graph *graph, const struct timeline *timeline)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node value;

        graph_node(graph, (weir_node){i}, &value);
        n += value.fallback == FALLBACK_NODE && timeline->spans[i].start_ns < 0 &&
                     graph_node_is_on(graph, (weir_node){i})
                 ? 1
                 : 0;
    }
    return n;
}

/* Reads what each node got under the same name: a mutation may have moved nodes. */
static void arrange(struct judge *judge, const struct graph *from, const struct graph *to)
{
    struct judge before = *judge;

    memset(judge->got, 0, sizeof judge->got);
    for (uint32_t i = 0; i < graph_n_nodes(to); i++) {
        const char *name = graph_node_name(to, (weir_node){i});
        uint32_t old = graph_find_node(from, graph_find_text(from, name)).index;
        int *got = &judge->got[i][0][0];

        memcpy(judge->got[i], before.got[old], sizeof before.got[old]);
        for (int j = 0; j < JUDGE_READS * JUDGE_BYTES; j++) {
            if (got[j] >= 1000) { /* by a node whose id may have changed */
                const char *writer = graph_node_name(from, (weir_node){(uint32_t)got[j] - 1000});

                got[j] = 1000 + (int)graph_find_node(to, graph_find_text(to, writer)).index;
            }
        }
    }
}

/* What the program gives when just those nodes run that ran. @return false when it cannot run so: a node
 * that gave way left out what another reads */
static bool find_wanted(struct judge *wanted, const struct graph *program,
                        const struct graph *graph, const struct timeline *timeline)
{
    bool runs[JUDGE_NODES];

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        const char *name = graph_node_name(graph, (weir_node){i});
        uint32_t node = graph_find_node(program, graph_find_text(program, name)).index;

        runs[node] = timeline->spans[i].start_ns >= 0;
    }
    judge_program(wanted, program, runs);
    if (wanted->fault[0] != '\0') {
        return false;
    }
    arrange(wanted, program, graph);
    return true;
}

struct tally {
    unsigned n_judged, n_gave_way;
};

/* Every run that completes must have the flow of the program: which has the same nodes, by name. */
static void judge_runs(struct graph *graph, const struct graph *program,
                       struct random_stream *random, const char *text, struct tally *tally)
{
    for (int i = 0; i < RUNS; i++) {
        struct timeline *timeline;
        struct judge judge, wanted;

        set_priorities(graph, random);
        timeline = simulated(graph, CONTENTION_NONE);
        if (timeline->status == RUN_COMPLETE && find_wanted(&wanted, program, graph, timeline)) {
            judge_timeline(&judge, graph, timeline);
            ck_assert_msg(judge.fault[0] == '\0', "%s in\n%s", judge.fault, text);
            ck_assert_msg(judge_is_same(&judge, &wanted), "another flow in\n%s", text);
            tally->n_judged++;
            tally->n_gave_way += n_gave_way(graph, timeline) > 0 ? 1 : 0;
        }
        timeline_free(timeline);
    }
}

/* --- properties --- */

#define GRAPHS 300 /* of each of the loops below */

START_TEST(test_legal_graphs_run_as_their_program)
{
    struct tally tally = {0, 0};
    unsigned n_legal = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct graph *graph;
        struct judge program;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        graph = read_legal(drawing.pen.text, drawing.pen.used);
        if (graph == NULL) {
            continue;
        }
        n_legal++;
        judge_program(&program, graph, NULL);
        ck_assert_msg(program.fault[0] == '\0', "%s in\n%s", program.fault, drawing.pen.text);
        judge_runs(graph, graph, &drawing.pen.random, drawing.pen.text, &tally);
        graph_free(graph);
    }
    ck_assert_uint_gt(n_legal, GRAPHS / 2);
    ck_assert_uint_gt(tally.n_judged, GRAPHS / 2);
    ck_assert_uint_gt(tally.n_gave_way, GRAPHS / 100);
}
END_TEST

/* The canonical text of the graph, malloc'ed. */
static char *text_of(const struct graph *graph)
{
    struct weir_error err;
    char *text;
    size_t length;

    ck_assert_int_eq(graph_write_text(graph, &text, &length, &err), WEIR_OK);
    return text;
}

static uint32_t count_lines(const char *text, const char *head)
{
    uint32_t n = 0;

    for (const char *line = text; line != NULL && *line != '\0';) {
        n += strncmp(line, head, strlen(head)) == 0 ? 1 : 0;
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return n;
}

/* The n-th line that begins so. */
static char *find_line(char *text, const char *head, uint32_t n)
{
    for (char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, head, strlen(head)) == 0 && n-- == 0) {
            return line;
        }
    }
    return NULL;
}

static void drop_edge(char *text, struct random_stream *random)
{
    uint32_t n = count_lines(text, "edge ");
    char *line = n == 0 ? NULL : find_line(text, "edge ", (uint32_t)random_below(random, n));
    char *end = line == NULL ? NULL : strchr(line, '\n') + 1;

    if (line != NULL) {
        memmove(line, end, strlen(end) + 1);
    }
}

/* Swaps the line of a reclamation with that of the node before or behind it. */
static void move_reclamation(char *text, struct random_stream *random)
{
    uint32_t n = count_lines(text, "node "), first = (uint32_t)random_below(random, n);

    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t at = (first + i) % (n - 1);
        char *one = find_line(text, "node ", at), *two = strchr(one, '\n') + 1;
        char *end = strchr(two, '\n') + 1;
        char copy[512];
        size_t n_one = (size_t)(two - one), n_two = (size_t)(end - two);
        char *found = strstr(one, " reclamation ");

        if (found == NULL || found > end || n_one >= sizeof copy) {
            continue;
        }
        memcpy(copy, one, n_one);
        memmove(one, two, n_two);
        memcpy(one + n_two, copy, n_one);
        return;
    }
}

/* Names are of one length: hbm becomes cpu's neighbour. */
static void change_domain(char *text, struct random_stream *random)
{
    uint32_t n = count_lines(text, "node ");
    char *line = find_line(text, "node ", (uint32_t)random_below(random, n));
    char *end = strchr(line, '\n');
    char rest[16384];
    bool has_domain = false;

    for (char *at = line; at < end; at++) {
        has_domain |= strncmp(at, " domain=", 8) == 0;
    }
    if (has_domain) {
        return;
    }
    ck_assert_uint_lt(strlen(end), sizeof rest);
    (void)snprintf(rest, sizeof rest, "%s", end);
    (void)sprintf(end, " domain=%s%s", random_below(random, 2) == 0 ? "hbm" : "host", rest);
}

START_TEST(test_mutations_are_found_or_harmless)
{
    static void (*const mutations[])(char *, struct random_stream *) = {drop_edge, move_reclamation,
                                                                        change_domain};
    struct tally tally = {0, 0};
    unsigned n_found[3] = {0}, n_harmless[3] = {0};

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct graph *graph, *explicit_graph;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        graph = read_legal(drawing.pen.text, drawing.pen.used);
        if (graph == NULL || graph_n_nodes(graph) < 2) {
            graph_free(graph);
            continue;
        }
        explicit_graph = expanded(graph);
        for (unsigned m = 0; m < 3; m++) {
            char *plain = text_of(explicit_graph), *text = malloc(strlen(plain) + 64);
            struct graph *mutant;

            ck_assert_ptr_nonnull(text);
            memcpy(text, plain, strlen(plain) + 1);
            mutations[m](text, &drawing.pen.random);
            mutant = read_legal(text, strlen(text));
            if (mutant == NULL) {
                n_found[m]++;
            } else {
                judge_runs(mutant, explicit_graph, &drawing.pen.random, text, &tally);
                n_harmless[m]++;
            }
            graph_free(mutant);
            free(plain);
            free(text);
        }
        graph_free(explicit_graph);
        graph_free(graph);
    }
    for (unsigned m = 0; m < 3; m++) {
        ck_assert_uint_gt(n_found[m], 0);
        ck_assert_uint_gt(n_harmless[m], 0);
    }
    ck_assert_uint_gt(tally.n_judged, GRAPHS / 2);
}
END_TEST

/* The text of the drawing, when it is legal, as a graph and all that is told of it. */
struct told {
    struct graph *graph;
    struct binding *binding;
    struct analysis analysis;
    struct analyze_progress progress;
    struct analyze_bounds bounds;
    struct analyze_life *lives;
    int64_t critical_path_ns;
};

static bool tell(const struct drawing *drawing, struct told *told)
{
    struct report *report = report_new(0);
    struct weir_error err;

    told->graph = read_legal(drawing->pen.text, drawing->pen.used);
    if (told->graph != NULL) {
        ck_assert_int_eq(bind_graph(told->graph, report, &told->binding, &err), WEIR_OK);
        ck_assert_int_eq(analyze(told->binding, &told->analysis, &err), WEIR_OK);
        ck_assert_int_eq(analyze_progress(&told->analysis, &told->progress, &err), WEIR_OK);
        ck_assert_int_eq(analyze_bounds(&told->analysis, &told->bounds, &err), WEIR_OK);
        ck_assert_int_eq(analyze_lives(&told->analysis, &told->lives, &err), WEIR_OK);
        ck_assert_int_eq(analyze_critical_path(told->binding, &told->critical_path_ns, &err),
                         WEIR_OK);
    }
    report_free(report);
    return told->graph != NULL;
}

static void told_free(struct told *told)
{
    analyze_free(&told->analysis);
    analyze_bounds_free(&told->bounds);
    free(told->lives);
    bind_free(told->binding);
    graph_free(told->graph);
}

START_TEST(test_progress_is_proved_or_unknown)
{
    unsigned n[3] = {0}, n_by_chain = 0, n_with_fallbacks = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct told told;
        bool is_proved;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        if (!tell(&drawing, &told)) {
            continue;
        }
        is_proved = told.progress.verdict == PROGRESS_FREE && !told.progress.fits_at_once;
        n[told.progress.verdict]++;
        n_by_chain += is_proved ? 1 : 0;
        n_with_fallbacks += is_proved && drawing.last_standby != WEIR_NONE ? 1 : 0;
        for (int i = 0; i < 2 * RUNS; i++) {
            struct timeline *timeline;

            /* The binding is of the graph as it was: its answers are not asked for any more. */
            set_priorities(told.graph, &drawing.pen.random);
            timeline = simulated(told.graph, CONTENTION_NONE);
            ck_assert_msg(told.progress.verdict != PROGRESS_FREE ||
                              timeline->status == RUN_COMPLETE,
                          "stuck:\n%s", drawing.pen.text);
            ck_assert_msg(told.progress.verdict != PROGRESS_SHORT ||
                              timeline->status != RUN_COMPLETE,
                          "not short:\n%s", drawing.pen.text);
            timeline_free(timeline);
        }
        told_free(&told);
    }
    ck_assert_uint_gt(n[PROGRESS_FREE], GRAPHS / 20);
    ck_assert_uint_gt(n_by_chain, 0);
    ck_assert_uint_gt(n_with_fallbacks, 0);
    ck_assert_uint_gt(n[PROGRESS_UNKNOWN], 0);
    ck_assert_uint_gt(n[PROGRESS_SHORT], 0);
}
END_TEST

/* Of a run that completes. */
static void check_bounds(const struct told *told, const struct timeline *timeline, const char *text)
{
    const struct analysis *analysis = &told->analysis;

    ck_assert_msg(told->critical_path_ns <= timeline->makespan_ns,
                  "a critical path of %lld, a makespan of %lld in\n%s",
                  (long long)told->critical_path_ns, (long long)timeline->makespan_ns, text);
    ck_assert_msg(told->critical_path_ns <= analysis->end_ns, "%s", text);
    ck_assert_msg(told->bounds.bound_ns <= timeline->makespan_ns,
                  "a bound of %lld, a makespan of %lld in\n%s", (long long)told->bounds.bound_ns,
                  (long long)timeline->makespan_ns, text);
    for (uint32_t i = 0; i < graph_n_nodes(told->graph); i++) {
        const struct timeline_span *span = &timeline->spans[i];

        ck_assert_msg(span->start_ns < 0 || (analysis->earliest_ns[i] <= span->start_ns &&
                                             analyze_over_ns(analysis, i) <= span->finish_ns),
                      "node n%u in\n%s", i, text);
        ck_assert_msg(span->start_ns >= 0 || !analyze_surely_runs(analysis, i),
                      "n%u did not run in\n%s", i, text);
    }
}

START_TEST(test_no_run_is_shorter_than_the_bounds)
{
    unsigned n_runs = 0, n_fell_back = 0, n_tight = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct told told;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        if (!tell(&drawing, &told)) {
            continue;
        }
        for (int i = 0; i < 2 * RUNS; i++) {
            struct timeline *timeline;

            set_priorities(told.graph, &drawing.pen.random);
            timeline = simulated(told.graph, i % 2 == 0 ? CONTENTION_NONE : CONTENTION_PAIRWISE);
            if (timeline->status == RUN_COMPLETE) {
                check_bounds(&told, timeline, drawing.pen.text);
                n_runs++;
                n_fell_back += n_gave_way(told.graph, timeline) > 0 ? 1 : 0;
                n_tight += told.bounds.bound_ns == timeline->makespan_ns ? 1 : 0;
            }
            timeline_free(timeline);
        }
        told_free(&told);
    }
    ck_assert_uint_gt(n_runs, GRAPHS);
    ck_assert_uint_gt(n_fell_back, GRAPHS / 50);
    ck_assert_uint_gt(n_tight, GRAPHS / 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim/audit");
    TCase *tcase = tcase_create("properties");

    tcase_add_loop_test(tcase, test_legal_graphs_run_as_their_program, 0, n_inputs(8, 2));
    tcase_add_loop_test(tcase, test_mutations_are_found_or_harmless, 0, n_inputs(8, 2));
    tcase_add_loop_test(tcase, test_progress_is_proved_or_unknown, 0, n_inputs(8, 2));
    tcase_add_loop_test(tcase, test_no_run_is_shorter_than_the_bounds, 0, n_inputs(8, 2));
    suite_add_tcase(suite, tcase);
    return run_suite_together(suite);
}
