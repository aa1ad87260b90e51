/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons solved by hand. */
#include "judge/compare.h"

#include <math.h>
#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"

/* a, b, c one after another on e; d on f; z takes no time. */
#define GRAPH                                                                               \
    "weir 1\ngraph g\ndomain m capacity=1000\ndomain n capacity=1000\nengine e\nengine f\n" \
    "node a compute engine=e duration=100\n"                                                \
    "node b compute engine=e duration=200\n"                                                \
    "node c compute engine=e duration=400\n"                                                \
    "node d compute engine=f duration=50\n"                                                 \
    "node z barrier\n"

enum { A, B, C, D, Z, NODES };

static void make_run(struct stored_run *run, int64_t id, const char *text)
{
    struct report *report = report_new(5);
    struct weir_error err;

    memset(run, 0, sizeof *run);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(graph_read_text(text, strlen(text), "g", report, &run->graph, &err), WEIR_OK);
    report_free(report);
    run->timeline = timeline_new(graph_n_nodes(run->graph), graph_n_domains(run->graph));
    ck_assert_ptr_nonnull(run->timeline);
    run->run = (struct run){.id = id,
                            .graph = run->graph,
                            .timeline = run->timeline,
                            .graph_name = "g",
                            .policy = "",
                            .machine = "",
                            .settings = "{}",
                            .graph_hash = "0123456789abcdef0123456789abcdef"};
}

static void free_run(struct stored_run *run)
{
    graph_free(run->graph);
    timeline_free(run->timeline);
}

static void set_span(struct stored_run *run, uint32_t node, int64_t start_ns, int64_t finish_ns)
{
    run->timeline->spans[node].start_ns = start_ns;
    run->timeline->spans[node].finish_ns = finish_ns;
    if (finish_ns > run->timeline->makespan_ns)
        run->timeline->makespan_ns = finish_ns;
}

/* As planned: a 0-100, b 100-300, c 300-700, d 0-50, z at 700. */
static void make_planned(struct stored_run *run)
{
    make_run(run, 1, GRAPH);
    set_span(run, A, 0, 100);
    set_span(run, B, 100, 300);
    set_span(run, C, 300, 700);
    set_span(run, D, 0, 50);
    set_span(run, Z, 700, 700);
    run->timeline->peak_bytes[0] = 600;
    run->timeline->peak_bytes[1] = 10;
}

static struct comparison compare(const struct stored_run *a, const struct stored_run *b)
{
    struct comparison comparison;
    struct weir_error err = {.text = ""};

    ck_assert_msg(compare_runs(a, b, &comparison, &err) == WEIR_OK, "%s", err.text);
    return comparison;
}

START_TEST(a_run_equals_itself)
{
    struct stored_run a;
    struct comparison c;

    make_planned(&a);
    c = compare(&a, &a);
    ck_assert_double_eq(c.makespan_error_ratio, 0);
    ck_assert_uint_eq(c.n_pairs, NODES);
    ck_assert_uint_eq(c.n_zero, 1);
    ck_assert_uint_eq(c.n_only_a + c.n_only_b, 0);
    ck_assert_double_eq(c.duration_error_ratio.worst, 0);
    ck_assert_double_eq(c.start_error_ns.worst, 0);
    ck_assert_uint_eq(c.order_inversions, 0);
    ck_assert_uint_eq(c.order_pairs, 3);
    ck_assert_uint_eq(c.n_worst_duration + c.n_worst_start, 0);
    comparison_free(&c);
    free_run(&a);
}
END_TEST

/* The second: a 0-110, c 110-490, b 490-790, d 5-55, z at 790.
 * Makespan (790 - 700) / 700. Durations: a +10 %, b +100 = +50 %, c -20 = -5 %, d 0; z has no ratio.
 * Their absolute values 0, 0.05, 0.1, 0.5: median 0.075, p95 at place 2.85 of 0..3: 0.1 + 0.85 * 0.4.
 * Starts: a 0, b +390, c -190, d +5, z +90; absolute 0, 5, 90, 190, 390: median 90, p95 at place 3.8:
 * 190 + 0.8 * 200. b and c have changed places: one inversion of the three pairs on e. */
START_TEST(errors_are_those_found_by_hand)
{
    struct stored_run a, b;
    struct comparison c;

    make_planned(&a);
    make_planned(&b);
    b.run.id = 2;
    set_span(&b, A, 0, 110);
    set_span(&b, C, 110, 490);
    set_span(&b, B, 490, 790);
    set_span(&b, D, 5, 55);
    set_span(&b, Z, 790, 790);
    b.timeline->peak_bytes[0] = 700;
    c = compare(&a, &b);
    ck_assert_double_eq_tol(c.makespan_error_ratio, 90.0 / 700, 1e-12);
    ck_assert_double_eq_tol(c.duration_error_ratio.median, 0.075, 1e-12);
    ck_assert_double_eq_tol(c.duration_error_ratio.p95, 0.1 + 0.85 * 0.4, 1e-12);
    ck_assert_double_eq_tol(c.duration_error_ratio.worst, 0.5, 1e-12);
    ck_assert_uint_eq(c.duration_error_ratio.worst_node.index, B);
    ck_assert_double_eq_tol(c.start_error_ns.median, 90, 1e-9);
    ck_assert_double_eq_tol(c.start_error_ns.p95, 190 + 0.8 * 200, 1e-9);
    ck_assert_double_eq_tol(c.start_error_ns.worst, 390, 1e-9);
    ck_assert_uint_eq(c.start_error_ns.worst_node.index, B);
    ck_assert_uint_eq(c.order_inversions, 1);
    ck_assert_uint_eq(c.n_worst_duration, 3);
    ck_assert_uint_eq(c.worst_duration[0].a.index, B);
    ck_assert_uint_eq(c.worst_duration[1].a.index, C);
    ck_assert_uint_eq(c.worst_duration[2].a.index, A);
    ck_assert_int_eq(c.worst_duration[1].duration_error_ns, -20);
    ck_assert_uint_eq(c.n_worst_start, 4);
    ck_assert_uint_eq(c.worst_start[0].a.index, B);
    ck_assert_uint_eq(c.worst_start[3].a.index, D);
    ck_assert_int_eq(c.peak_a_bytes[0], 600);
    ck_assert_int_eq(c.peak_b_bytes[0], 700);
    comparison_free(&c);
    free_run(&a);
    free_run(&b);
}
END_TEST

/* A replay at a hundredth of the speed and a tenth of the bytes: what was planned is multiplied. */
START_TEST(the_scale_of_a_replay_is_taken_into_account)
{
    struct stored_run a, b;
    struct comparison c;

    make_planned(&a);
    make_planned(&b);
    b.run.settings = "{\"device\":\"host\",\"scale_bytes\":0.1,\"scale_time\":100}";
    set_span(&b, A, 0, 10000);
    set_span(&b, B, 10000, 30000);
    set_span(&b, C, 30000, 77000);
    set_span(&b, D, 0, 5000);
    set_span(&b, Z, 77000, 77000);
    c = compare(&a, &b);
    ck_assert_double_eq(c.time_scale, 100);
    ck_assert_int_eq(c.makespan_a_ns, 70000);
    ck_assert_double_eq_tol(c.makespan_error_ratio, 0.1, 1e-12);
    ck_assert_double_eq_tol(c.duration_error_ratio.worst, 7000.0 / 40000, 1e-12);
    ck_assert_int_eq(c.peak_a_bytes[0], 60);
    ck_assert_int_eq(c.peak_b_bytes[0], 600);
    comparison_free(&c);
    /* The other way round the replay is the first: its times shrink. */
    c = compare(&b, &a);
    ck_assert_double_eq(c.time_scale, 0.01);
    ck_assert_int_eq(c.makespan_a_ns, 770);
    comparison_free(&c);
    /* Two replays on one scale need none. */
    c = compare(&b, &b);
    ck_assert_double_eq(c.time_scale, 1);
    comparison_free(&c);
    free_run(&a);
    free_run(&b);
}
END_TEST

/* Nodes that ran in one run only are counted, and those with other ids are found by name. */
START_TEST(nodes_are_paired_by_name)
{
    struct stored_run a, b;
    struct comparison c;

    make_planned(&a);
    make_run(&b, 2,
             "weir 1\ngraph g\ndomain m capacity=1000\nengine e\nengine f\n"
             "node new compute engine=f duration=1\n"
             "node b compute engine=e duration=200\n"
             "node a compute engine=e duration=100\n");
    set_span(&b, 0, 0, 1);
    set_span(&b, 1, 120, 320);
    set_span(&b, 2, 0, 100);
    c = compare(&a, &b);
    ck_assert_uint_eq(c.n_pairs, 2);
    ck_assert_uint_eq(c.n_only_a, 3);
    ck_assert_uint_eq(c.n_only_b, 1);
    ck_assert_uint_eq(c.n_worst_start, 1);
    ck_assert_uint_eq(c.worst_start[0].a.index, B);
    ck_assert_uint_eq(c.worst_start[0].b.index, 1);
    ck_assert_int_eq(c.worst_start[0].start_error_ns, 20);
    ck_assert_int_eq(c.peak_b_bytes[1], -1);
    comparison_free(&c);
    free_run(&a);
    free_run(&b);
}
END_TEST

/* What took no time in the first has no ratio, however long it takes in the second. */
START_TEST(no_length_has_no_ratio)
{
    struct stored_run a, b;
    struct comparison c;

    make_planned(&a);
    make_planned(&b);
    set_span(&b, Z, 700, 790);
    c = compare(&a, &b);
    ck_assert_double_eq(c.duration_error_ratio.worst, 0);
    ck_assert_uint_eq(c.n_worst_duration, 1);
    ck_assert_uint_eq(c.worst_duration[0].a.index, Z);
    ck_assert(isinf(c.worst_duration[0].duration_error_ratio));
    comparison_free(&c);
    free_run(&a);
    free_run(&b);
}
END_TEST

/* More than COMPARE_WORST errors: the largest are kept, in order. */
START_TEST(the_worst_are_kept)
{
    char text[4096] = "weir 1\ngraph g\ndomain m capacity=1\nengine e\n";
    struct stored_run a, b;
    struct comparison c;

    for (int i = 0; i < 30; i++) {
        char line[64];

        (void)snprintf(line, sizeof line, "node n%d compute engine=e duration=10\n", i);
        strcat(text, line);
    }
    make_run(&a, 1, text);
    make_run(&b, 2, text);
    for (uint32_t i = 0; i < 30; i++) {
        int64_t error_ns = (int64_t)(i * 7 % 30); /* 0 to 29, each once */

        set_span(&a, i, i * 100, i * 100 + 10);
        set_span(&b, i, i * 100, i * 100 + 10 + (i % 2 == 0 ? error_ns : -error_ns / 10));
    }
    c = compare(&a, &b);
    ck_assert_uint_eq(c.n_worst_duration, COMPARE_WORST);
    for (uint32_t i = 1; i < COMPARE_WORST; i++) {
        ck_assert_int_ge(llabs(c.worst_duration[i - 1].duration_error_ns),
                         llabs(c.worst_duration[i].duration_error_ns));
    }
    ck_assert_int_eq(c.worst_duration[0].duration_error_ns, 28);
    ck_assert_int_eq(c.worst_duration[9].duration_error_ns, 10);
    comparison_free(&c);
    free_run(&a);
    free_run(&b);
}
END_TEST

static void check_refused(const struct stored_run *a, const struct stored_run *b, const char *word)
{
    struct comparison comparison;
    struct weir_error err;

    ck_assert_int_eq(compare_runs(a, b, &comparison, &err), WEIR_INPUT);
    ck_assert_msg(strstr(err.text, word) != NULL, "'%s' lacks '%s'", err.text, word);
}

START_TEST(what_cannot_be_compared_is_refused)
{
    struct stored_run a, b;

    make_planned(&a);
    make_planned(&b);
    b.run.id = 2;
    strcpy(b.run.graph_hash, "ffffffffffffffffffffffffffffffff");
    check_refused(&a, &b, "one graph");
    strcpy(b.run.graph_hash, a.run.graph_hash);
    a.run.scope = SCOPE_COLD;
    b.run.scope = SCOPE_WARM;
    check_refused(&a, &b, "cold");
    b.run.scope = SCOPE_COLD;
    b.timeline->status = RUN_SHORTAGE;
    check_refused(&a, &b, "run 2 ended as shortage");
    b.timeline->status = RUN_COMPLETE;
    for (uint32_t i = 0; i < NODES; i++)
        set_span(&b, i, -1, -1);
    check_refused(&a, &b, "no node ran in both");
    free_run(&a);
    free_run(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");

    tcase_add_test(tests, a_run_equals_itself);
    tcase_add_test(tests, errors_are_those_found_by_hand);
    tcase_add_test(tests, the_scale_of_a_replay_is_taken_into_account);
    tcase_add_test(tests, nodes_are_paired_by_name);
    tcase_add_test(tests, no_length_has_no_ratio);
    tcase_add_test(tests, the_worst_are_kept);
    tcase_add_test(tests, what_cannot_be_compared_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
