/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the audit of a graph promises, held against simulations under random priorities:
 *  - a graph that passes has the data flow of its program in every run, and no use of bytes that are not
 *    there, as the judge finds it;
 *  - an edge that is dropped, a reclamation that is moved, a domain that is changed is found, or does no
 *    harm: every run has the same data flow;
 *  - a proof of progress holds: no run is stuck; and what is proved to be short never completes. */
#include "base/random.h"
#include "graph/analyze.h"
#include "graph/check.h"
#include "graph/text.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/sim/judge.h"
#include "tests/suite.h"

#define RUNS 3 /* of each graph, each with other priorities */

/* --- graphs --- */

enum { HBM, HOST, N_DOMAINS };

/* What the graph so far leaves behind, so that most of what is drawn is legal. */
struct drawing {
    struct random_stream random;
    bool is_live[JUDGE_OBJECTS][N_DOMAINS], is_valid[JUDGE_OBJECTS][N_DOMAINS];
    uint32_t n_objects, n_nodes;
    char text[16384];
    size_t used;
};

PRINTF_LIKE(2, 3)
static void put(struct drawing *drawing, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    drawing->used += (size_t)vsnprintf(drawing->text + drawing->used,
                                       sizeof drawing->text - drawing->used, format, args);
    va_end(args);
    ck_assert_uint_lt(drawing->used, sizeof drawing->text);
}

static uint32_t below(struct drawing *drawing, uint32_t bound)
{
    return (uint32_t)random_below(&drawing->random, bound);
}

static void begin_node(struct drawing *drawing, const char *kind)
{
    put(drawing, "node n%u %s", drawing->n_nodes++, kind);
}

static void end_node(struct drawing *drawing)
{
    if (below(drawing, 4) == 0) {
        put(drawing, " workspace=%u", 1 + below(drawing, 4));
    }
    put(drawing, "\n");
}

static void draw_compute(struct drawing *drawing, int domain)
{
    static const char *const engines[] = {"sm", "side", "cpu"};
    uint32_t first = below(drawing, drawing->n_objects), n_reads = 0;
    int written = -1;

    begin_node(drawing, below(drawing, 8) == 0 ? "rematerialization" : "compute");
    put(drawing, " engine=%s duration=%u", engines[domain == HOST ? 2 : below(drawing, 2)],
        below(drawing, 5) == 0 ? 0 : 1 + below(drawing, 9));
    for (uint32_t i = 0; i < drawing->n_objects && n_reads < 3; i++) {
        uint32_t object = (first + i) % drawing->n_objects;

        if (drawing->is_valid[object][domain] && below(drawing, 2) == 0) {
            put(drawing, "%so%u", n_reads++ == 0 ? " reads=" : ",", object);
        }
    }
    if (below(drawing, 3) > 0) {
        written = (int)below(drawing, drawing->n_objects);
        put(drawing, " writes=o%d", written);
        drawing->is_valid[written][HBM] = drawing->is_valid[written][HOST] = false;
        drawing->is_valid[written][domain] = drawing->is_live[written][domain] = true;
    }
    end_node(drawing);
}

static void draw_copy(struct drawing *drawing, uint32_t object)
{
    int from = drawing->is_valid[object][HBM] ? HBM : HOST;

    if (!drawing->is_valid[object][from]) {
        return;
    }
    begin_node(drawing, from == HBM ? "offload" : "prefetch");
    put(drawing, " engine=%s object=o%u", from == HBM ? "d2h" : "h2d", object);
    if (below(drawing, 5) == 0) {
        put(drawing, " staging=%u@host", 1 + below(drawing, 3));
    }
    end_node(drawing);
    drawing->is_live[object][1 - from] = drawing->is_valid[object][1 - from] = true;
}

static void draw_storage(struct drawing *drawing, uint32_t object)
{
    int domain = below(drawing, 4) == 0 ? HOST : HBM;
    bool is_live = drawing->is_live[object][domain];

    begin_node(drawing, is_live ? "reclamation" : "allocation");
    put(drawing, " object=o%u domain=%s\n", object, domain == HBM ? "hbm" : "host");
    drawing->is_live[object][domain] = !is_live;
    drawing->is_valid[object][domain] = false;
}

static void draw_edge(struct drawing *drawing)
{
    uint32_t to = 1 + below(drawing, drawing->n_nodes - 1), from = below(drawing, to);

    put(drawing, "edge n%u n%u ordering%s", from, to, below(drawing, 4) == 0 ? " from=start" : "");
    if (below(drawing, 4) == 0) {
        put(drawing, " lag=%u", below(drawing, 5));
    }
    put(drawing, "\n");
}

static void draw(struct drawing *drawing, uint64_t seed)
{
    *drawing = (struct drawing){.n_objects = 0};
    random_seed(&drawing->random, seed, 0);
    drawing->n_objects = 3 + below(drawing, 5);
    put(drawing,
        "weir 1\ngraph g%u\ndomain hbm capacity=%u\ndomain host capacity=%u\n"
        "engine sm slots=%u domain=hbm\nengine side domain=hbm\nengine cpu domain=host\n"
        "engine d2h from=hbm to=host bandwidth=1GB/s\n"
        "engine h2d from=host to=hbm bandwidth=1GB/s\n",
        (unsigned)seed, 10 + below(drawing, 40), 10 + below(drawing, 60), 1 + below(drawing, 2));
    for (uint32_t i = 0; i < drawing->n_objects; i++) {
        bool is_initial = below(drawing, 3) == 0;

        put(drawing, "object o%u size=%u%s\n", i, 1 + below(drawing, 8),
            is_initial ? " initial" : "");
        drawing->is_live[i][HBM] = drawing->is_valid[i][HBM] = is_initial;
    }
    for (uint32_t i = 8 + below(drawing, 20); i > 0; i--) {
        uint32_t what = below(drawing, 10), object = below(drawing, drawing->n_objects);

        if (what < 6) {
            draw_compute(drawing, what == 0 ? HOST : HBM);
        } else if (what < 8) {
            draw_copy(drawing, object);
        } else {
            draw_storage(drawing, object);
        }
    }
    for (uint32_t i = drawing->n_nodes < 2 ? 0 : below(drawing, 6); i > 0; i--) {
        draw_edge(drawing);
    }
}

/* --- what is done with them --- */

/* NULL when it is not legal. */
static struct graph *read_legal(const char *text, size_t length)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct binding *binding = NULL;
    struct weir_error err;

    if (graph_read_text(text, length, "drawn", report, &graph, &err) == WEIR_OK) {
        ck_assert_int_eq(check_graph(graph, report, &binding, &err), WEIR_OK);
        if (report_errors(report) > 0) {
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
static struct timeline *simulated(const struct graph *graph)
{
    const struct weir_policy *policy;
    struct plan_options plan_options = {.policy = NULL};
    struct simulate_options options = simulate_default();
    struct simulate_result result;
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;

    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    plan_options.policy = policy;
    ck_assert_msg(plan_make(graph, &plan_options, report, &plan, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(simulate(plan, &options, &result, &err) == WEIR_OK, "%s", err.text);
    plan_free(plan);
    report_free(report);
    free(result.explanation);
    return result.timeline;
}

/* Every run that completes must have the flow that is wanted. */
static void judge_runs(struct graph *graph, const struct judge *wanted,
                       struct random_stream *random, const char *text, unsigned *n_judged)
{
    for (int i = 0; i < RUNS; i++) {
        struct timeline *timeline;
        struct judge judge;

        set_priorities(graph, random);
        timeline = simulated(graph);
        if (timeline->status == RUN_COMPLETE) {
            judge_timeline(&judge, graph, timeline);
            ck_assert_msg(judge.fault[0] == '\0', "%s in\n%s", judge.fault, text);
            ck_assert_msg(judge_is_same(&judge, wanted), "another flow in\n%s", text);
            (*n_judged)++;
        }
        timeline_free(timeline);
    }
}

/* --- properties --- */

#define GRAPHS 300 /* of each of the loops below */

START_TEST(test_legal_graphs_run_as_their_program)
{
    unsigned n_judged = 0, n_legal = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct graph *graph;
        struct judge wanted;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        graph = read_legal(drawing.text, drawing.used);
        if (graph == NULL) {
            continue;
        }
        n_legal++;
        judge_program(&wanted, graph);
        ck_assert_str_eq(wanted.fault, "");
        judge_runs(graph, &wanted, &drawing.random, drawing.text, &n_judged);
        graph_free(graph);
    }
    ck_assert_uint_gt(n_legal, GRAPHS / 2);
    ck_assert_uint_gt(n_judged, GRAPHS / 2);
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

/* Reads what each node got under the same name: a mutation may have moved nodes. */
static void arrange(struct judge *judge, const struct graph *from, const struct graph *to)
{
    struct judge before = *judge;

    memset(judge->got, 0, sizeof judge->got);
    for (uint32_t i = 0; i < graph_n_nodes(to); i++) {
        const char *name = graph_node_name(to, (weir_node){i});
        uint32_t old = graph_find_node(from, graph_find_text(from, name)).index;

        memcpy(judge->got[i], before.got[old], sizeof before.got[old]);
        for (int j = 0; j < JUDGE_READS; j++) {
            int version = judge->got[i][j];

            if (version >= 1000) { /* by a node whose id may have changed */
                const char *writer = graph_node_name(from, (weir_node){(uint32_t)version - 1000});

                judge->got[i][j] =
                    1000 + (int)graph_find_node(to, graph_find_text(to, writer)).index;
            }
        }
    }
}

START_TEST(test_mutations_are_found_or_harmless)
{
    static void (*const mutations[])(char *, struct random_stream *) = {drop_edge, move_reclamation,
                                                                        change_domain};
    unsigned n_found[3] = {0}, n_harmless[3] = {0}, n_judged = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct graph *graph, *explicit_graph;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        graph = read_legal(drawing.text, drawing.used);
        if (graph == NULL || graph_n_nodes(graph) < 2) {
            graph_free(graph);
            continue;
        }
        explicit_graph = expanded(graph);
        for (unsigned m = 0; m < 3; m++) {
            char *plain = text_of(explicit_graph), *text = malloc(strlen(plain) + 64);
            struct graph *mutant;
            struct judge wanted;

            ck_assert_ptr_nonnull(text);
            memcpy(text, plain, strlen(plain) + 1);
            mutations[m](text, &drawing.random);
            mutant = read_legal(text, strlen(text));
            if (mutant == NULL) {
                n_found[m]++;
            } else {
                judge_program(&wanted, explicit_graph);
                arrange(&wanted, explicit_graph, mutant);
                judge_runs(mutant, &wanted, &drawing.random, text, &n_judged);
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
    ck_assert_uint_gt(n_judged, GRAPHS / 2);
}
END_TEST

START_TEST(test_progress_is_proved_or_unknown)
{
    unsigned n[3] = {0}, n_by_chain = 0;

    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct drawing drawing;
        struct report *report = report_new(0);
        struct binding *binding;
        struct analysis analysis;
        struct analyze_progress progress;
        struct graph *graph;
        struct weir_error err;

        draw(&drawing, (uint64_t)_i * GRAPHS + seed);
        graph = read_legal(drawing.text, drawing.used);
        if (graph == NULL) {
            report_free(report);
            continue;
        }
        ck_assert_int_eq(bind_graph(graph, report, &binding, &err), WEIR_OK);
        ck_assert_int_eq(analyze(binding, &analysis, &err), WEIR_OK);
        ck_assert_int_eq(analyze_progress(&analysis, &progress, &err), WEIR_OK);
        analyze_free(&analysis);
        bind_free(binding);
        n[progress.verdict]++;
        n_by_chain += progress.verdict == PROGRESS_FREE && !progress.fits_at_once ? 1 : 0;
        for (int i = 0; i < 2 * RUNS; i++) {
            struct timeline *timeline;

            set_priorities(graph, &drawing.random);
            timeline = simulated(graph);
            ck_assert_msg(progress.verdict != PROGRESS_FREE || timeline->status == RUN_COMPLETE,
                          "stuck:\n%s", drawing.text);
            ck_assert_msg(progress.verdict != PROGRESS_SHORT || timeline->status != RUN_COMPLETE,
                          "not short:\n%s", drawing.text);
            timeline_free(timeline);
        }
        graph_free(graph);
        report_free(report);
    }
    ck_assert_uint_gt(n[PROGRESS_FREE], GRAPHS / 20);
    ck_assert_uint_gt(n_by_chain, 0);
    ck_assert_uint_gt(n[PROGRESS_UNKNOWN], 0);
    ck_assert_uint_gt(n[PROGRESS_SHORT], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim/audit");
    TCase *tcase = tcase_create("properties");

    tcase_add_loop_test(tcase, test_legal_graphs_run_as_their_program, 0, 8);
    tcase_add_loop_test(tcase, test_mutations_are_found_or_harmless, 0, 8);
    tcase_add_loop_test(tcase, test_progress_is_proved_or_unknown, 0, 8);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
