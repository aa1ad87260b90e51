/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine file over a graph: single fields are replaced, what is new is added. */
#include "tests/graph/texts.h"

#define GRAPH                                                          \
    "weir 1\n"                                                         \
    "graph g scope=cold implied=none\n"                                \
    "domain hbm capacity=100 reserve=10\n"                             \
    "engine sm slots=2 domain=hbm latency=5\n"                         \
    "resource r capacity=7\n"                                          \
    "kappa sm sm 2 evidence=measured\n"                                \
    "overlap a b forbidden proof=p\n"                                  \
    "param f x 1\n"                                                    \
    "guard w on\n"                                                     \
    "object o size=10 domain=hbm retained\n"                           \
    "node a compute engine=sm duration=5 reads=o,o writes=o group=t\n" \
    "node b compute duration=uniform(1,3) class=c\n"                   \
    "edge a b ordering lag=3\n"                                        \
    "edge a b data-ready object=o\n"

static void overlay(const char *over, const char *expected)
{
    struct graph *graph = graph_of(GRAPH);
    struct report *report = report_new(0);
    struct weir_error err;

    if (graph_overlay_text(graph, over, strlen(over), "m.weir", report, &err) != WEIR_OK) {
        char *lines = report_lines(report);
        ck_abort_msg("%s", lines);
    }
    char *form = form_of(graph);
    ck_assert_str_eq(form, expected);
    free(form);
    graph_free(graph);
    report_free(report);
}

START_TEST(single_fields_are_replaced)
{
    overlay("weir 1\n"
            "graph h scope=warm\n"
            "domain hbm capacity=1KB\n"
            "engine sm latency=1us bandwidth=2\n"
            "resource r capacity=8\n"
            "kappa sm sm 3\n"
            "overlap b a allowed latest=4\n"
            "param f x 2\n"
            "guard w off\n"
            "object o initial\n"
            "node a compute duration=unknown priority=2\n"
            "node b bytes=7 guard=w\n"
            "edge a b ordering lag=4 evidence=ordered\n",

            "weir 1\n"
            "graph h scope=warm implied=none\n"
            "domain hbm capacity=1000 reserve=10\n"
            "engine sm slots=2 domain=hbm bandwidth=2/s latency=1000\n"
            "resource r capacity=8/s\n"
            "kappa sm sm 3 evidence=measured\n"
            "overlap b a allowed proof=p latest=4\n"
            "param f x 2\n"
            "guard w off\n"
            "object o size=10 domain=hbm initial retained\n"
            "node a compute engine=sm duration=unknown reads=o,o writes=o priority=2 group=t\n"
            "node b compute duration=uniform(1,3) bytes=7 class=c guard=w\n"
            "edge a b ordering lag=4 evidence=ordered\n"
            "edge a b data-ready object=o\n");
}
END_TEST

START_TEST(new_names_are_added)
{
    overlay("weir 1\n"
            "domain host capacity=5\nengine h2d from=host to=hbm\nresource s capacity=1\n"
            "kappa sm h2d 1.5\noverlap a sm unknown\nparam f y 1\nparam g x 1\nguard v off\n"
            "object p size=1\nnode c barrier fallback=a\n"
            "edge a b ordering from=start\nedge b c ordering\n",

            "weir 1\n"
            "graph g scope=cold implied=none\n"
            "domain hbm capacity=100 reserve=10\n"
            "domain host capacity=5\n"
            "engine sm slots=2 domain=hbm latency=5\n"
            "engine h2d from=host to=hbm\n"
            "resource r capacity=7/s\n"
            "resource s capacity=1/s\n"
            "kappa sm sm 2 evidence=measured\n"
            "kappa sm h2d 1.5\n"
            "overlap a b forbidden proof=p\n"
            "overlap a sm unknown\n"
            "param f x 1\n"
            "param f y 1\n"
            "param g x 1\n"
            "guard w on\n"
            "guard v off\n"
            "object o size=10 domain=hbm retained\n"
            "object p size=1\n"
            "node a compute engine=sm duration=5 reads=o,o writes=o group=t\n"
            "node b compute duration=uniform(1,3) class=c\n"
            "node c barrier fallback=a\n"
            "edge a b ordering lag=3\n"
            "edge a b data-ready object=o\n"
            "edge a b ordering from=start\n"
            "edge b c ordering\n");
}
END_TEST

START_TEST(a_graph_over_itself_is_itself)
{
    struct graph *graph = graph_of(GRAPH "edge a b ordering lag=9\noverlap b a allowed\n");
    struct report *report = report_new(0);
    char *form = form_of(graph), *again;
    struct weir_error err;

    ck_assert_int_eq(graph_overlay_text(graph, form, strlen(form), "m", report, &err), WEIR_OK);
    again = form_of(graph);
    ck_assert_str_eq(again, form);
    free(form);
    free(again);
    graph_free(graph);
    report_free(report);
}
END_TEST

static const struct {
    const char *over;
    enum finding_code code;
    uint32_t line, column;
} faults[] = {
    {"domain hbm capacity=1\n", FINDING_VERSION, 1, 1},
    {"weir 1\ndomain host\n", FINDING_MISSING_FIELD, 2, 12}, /* it is new */
    {"weir 1\nobject p initial\n", FINDING_MISSING_FIELD, 2, 17},
    {"weir 1\nnode c engine=sm\n", FINDING_BAD_VALUE, 2, 8},
    {"weir 1\nnode a comput\n", FINDING_BAD_VALUE, 2, 8},
    {"weir 1\ndomain hbm reserve=1\ndomain hbm reserve=1\n", FINDING_DUPLICATE_NAME, 3, 8},
    {"weir 1\nkappa sm sm 1\nkappa sm sm 1\n", FINDING_DUPLICATE_FACT, 3, 6},
    {"weir 1\nkappa x sm 1\nkappa x sm 1\n", FINDING_DUPLICATE_FACT, 3, 6},
    {"weir 1\nparam f x 1\nparam f x 1\n", FINDING_DUPLICATE_FACT, 3, 6},
    {"weir 1\ngraph a\ngraph b\n", FINDING_DUPLICATE_NAME, 3, 1},
    {"weir 1\nedge a c ordering\n", FINDING_UNKNOWN_NAME, 2, 8},
    {"weir 1\nedge a b ordering lag=x\n", FINDING_BAD_VALUE, 2, 23},
    {"weir 1\nobject o alias=o\n", FINDING_BAD_ALIAS, 2, 16},
};

START_TEST(faults_of_a_machine_file)
{
    struct graph *graph = graph_of(GRAPH);
    struct report *report = report_new(0);
    const char *over = faults[_i].over;
    struct weir_error err;
    char line[1024];

    ck_assert_int_eq(graph_overlay_text(graph, over, strlen(over), "m.weir", report, &err),
                     WEIR_INPUT);
    ck_assert_uint_eq(report_errors(report), 1);
    const struct finding *found = report_finding(report, 0);
    report_line(found, line, sizeof line);
    ck_assert_msg(found->code == faults[_i].code && found->at.line == faults[_i].line &&
                      found->at.column == faults[_i].column,
                  "%s", line);
    ck_assert_str_eq(found->at.file, "m.weir");
    graph_free(graph);
    report_free(report);
}
END_TEST

/* Classes of a machine file come before those that only nodes have, as in the form. */
START_TEST(classes_are_numbered_as_the_form_lists_them)
{
    struct graph *graph = graph_of("weir 1\nengine e\nnode n barrier class=z\n"), *again;
    const char *over = "weir 1\nengine f\nkappa y f 2\n";
    struct report *report = report_new(0);
    struct weir_error err;

    ck_assert_int_eq(graph_overlay_text(graph, over, strlen(over), "m", report, &err), WEIR_OK);
    char *form = form_of(graph);
    again = graph_of(form);
    ck_assert_uint_eq(graph_n_classes(graph), 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_str_eq(graph_text(graph, graph_class_name(graph, (weir_class){i})),
                         graph_text(again, graph_class_name(again, (weir_class){i})));
    free(form);
    graph_free(graph);
    graph_free(again);
    report_free(report);
}
END_TEST

/* What a machine may mend is not held against the graph before the machine is there. */
START_TEST(a_machine_completes_a_graph)
{
    char folder[] = "/tmp/weir-overlay-XXXXXX", path[100];
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/g.weir", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("weir 1\nengine e\nobject o size=1\nnode n transfer engine=e object=o\n", file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(graph_read(path, report, &graph, &err), WEIR_INPUT);
    report_free(report);
    report = report_new(0);
    ck_assert_int_eq(graph_read_for_machine(path, report, &graph, &err), WEIR_OK);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(remove(folder), 0);
    graph_check_statements(graph, report);
    ck_assert_uint_eq(report_errors(report), 2); /* no domain, nothing to copy to */
    const char *over = "weir 1\ndomain d capacity=1KB\nengine e bandwidth=1GB/s to=d\n";
    ck_assert_int_eq(graph_overlay_text(graph, over, strlen(over), "m", report, &err), WEIR_OK);
    report_free(report);
    report = report_new(0);
    graph_check_statements(graph, report);
    ck_assert_uint_eq(report_errors(report), 0);
    graph_free(graph);
    report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlay");
    TCase *all = tcase_create("overlay");

    tcase_add_test(all, single_fields_are_replaced);
    tcase_add_test(all, new_names_are_added);
    tcase_add_test(all, a_graph_over_itself_is_itself);
    tcase_add_loop_test(all, faults_of_a_machine_file, 0, (int)(sizeof faults / sizeof *faults));
    tcase_add_test(all, classes_are_numbered_as_the_form_lists_them);
    tcase_add_test(all, a_machine_completes_a_graph);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
