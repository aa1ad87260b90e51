/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every code of a finding is explained by a graph that has it and one that has not: both are read and
 * checked here, and those of codes that only a run shows are simulated by tests/run-counterexamples.
 * What is left of a code without an example would be a code that nobody can meet. */
#include <string.h>

#include "graph/check.h"
#include "graph/explain.h"
#include "graph/text.h"
#include "tests/suite.h"

/* All that is found of the text, on the way into the graph and of it. */
static struct report *found_in(const char *text)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct binding *binding = NULL;
    struct weir_error err;

    if (graph_read_text(text, strlen(text), "example", report, &graph, &err) == WEIR_OK) {
        ck_assert_int_eq(check_graph(graph, report, &binding, &err), WEIR_OK);
    }
    bind_free(binding);
    graph_free(graph);
    return report;
}

static bool has(const struct report *report, enum finding_code code)
{
    for (uint32_t i = 0; i < report_count(report); i++) {
        if (report_finding(report, i)->code == code) {
            return true;
        }
    }
    return false;
}

START_TEST(test_a_graph_that_has_it)
{
    enum finding_code code = (enum finding_code)_i;
    struct report *report = found_in(explain_finding(code)->bad);

    ck_assert_msg(finding_is_of_run(code) ? report_errors(report) == 0 : has(report, code),
                  "the example of %s does not have it; its first finding is %s", finding_name(code),
                  report_count(report) == 0 ? "none" : report_finding(report, 0)->message);
    report_free(report);
}
END_TEST

START_TEST(test_mended_it_has_not)
{
    enum finding_code code = (enum finding_code)_i;
    struct report *report = found_in(explain_finding(code)->mended);

    ck_assert_msg(!has(report, code), "the mended example of %s still has it", finding_name(code));
    ck_assert_msg(report_errors(report) == 0, "the mended example of %s has an error: %s",
                  finding_name(code), report_finding(report, 0)->message);
    report_free(report);
}
END_TEST

START_TEST(test_the_text_is_whole)
{
    enum finding_code code = (enum finding_code)_i;
    const struct explanation *explanation = explain_finding(code);

    ck_assert_ptr_nonnull(explanation->why);
    ck_assert_int_eq(explanation->why[strlen(explanation->why) - 1], '.');
    ck_assert_int_eq(finding_summary(code)[strlen(finding_summary(code)) - 1], '.');
    ck_assert_int_ne(finding_remedy(code)[strlen(finding_remedy(code)) - 1], '.');
    ck_assert_int_eq(explain_code(finding_name(code)), code);
}
END_TEST

START_TEST(test_no_such_code)
{
    ck_assert_int_eq(explain_code("no-such-code"), FINDING_CODES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph/explain");
    TCase *tcase = tcase_create("codes");

    tcase_add_loop_test(tcase, test_a_graph_that_has_it, 0, FINDING_CODES);
    tcase_add_loop_test(tcase, test_mended_it_has_not, 0, FINDING_CODES);
    tcase_add_loop_test(tcase, test_the_text_is_whole, 0, FINDING_CODES);
    tcase_add_test(tcase, test_no_such_code);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
