/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a scale and a delay change in a graph, and whom a name means. */
#include "graph/what_if.h"

#include "graph/analyze.h"
#include "tests/graph/texts.h"

/* ---- whom ---- */

#define NAMED                                      \
    "weir 1\nengine sm\nengine both\n"             \
    "node gemm#1 compute engine=sm duration=1\n"   \
    "node gemm#2 compute engine=sm duration=1\n"   \
    "node both compute engine=both duration=1\n"   \
    "node class:sm compute engine=sm duration=1\n" \
    "node softmax compute duration=1 class=small\n"

static void finds(const char *text, const char *node, const char *class_)
{
    struct graph *graph = graph_of(NAMED);
    struct what_if_target found;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(what_if_find(graph, text, strlen(text), false, &found, &err) == WEIR_OK, "%s",
                  err.text);
    if (node == NULL)
        ck_assert(!weir_is(found.node));
    else
        ck_assert_str_eq(graph_node_name(graph, found.node), node);
    if (class_ == NULL)
        ck_assert(!weir_is(found.class_));
    else
        ck_assert_str_eq(graph_text(graph, graph_class_name(graph, found.class_)), class_);
    graph_free(graph);
}

static void finds_none(const char *text, bool nodes_only, const char *message)
{
    struct graph *graph = graph_of(NAMED);
    struct what_if_target found;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_int_eq(what_if_find(graph, text, strlen(text), nodes_only, &found, &err), WEIR_USAGE);
    ck_assert_str_eq(err.text, message);
    graph_free(graph);
}

START_TEST(names_of_nodes_and_classes)
{
    finds("gemm#1", "gemm#1", NULL);
    finds("sm", NULL, "sm");
    finds("small", NULL, "small");
    finds("node:both", "both", NULL);
    finds("class:both", NULL, "both");
    finds("node:class:sm", "class:sm", NULL);
    finds("class:sm", NULL, "sm");
    finds_none("both", false, "a node and a class are called 'both'; say node:both or class:both");
    finds_none(
        "gemm", false,
        "the graph has no node and no class 'gemm'; near it are node 'gemm#1', node 'gemm#2'");
    finds_none("smal", false,
               "the graph has no node and no class 'smal'; near it are class 'small'");
    finds_none("softmex", true, "the graph has no node 'softmex'; near it are node 'softmax'");
    finds_none("class:gemm#1", false,
               "the graph has no class 'gemm#1'; it has class 'sm', class 'both', class 'small'");
    finds_none("node:sm", false, "the graph has no node 'sm'");
    finds_none(
        "", false,
        "the graph has no node and no class ''; it has class 'sm', class 'both', class 'small'");
}
END_TEST

/* ---- lengths ---- */

static void check_scaled(int64_t ns, double factor, int64_t expected)
{
    int64_t scaled = -1;

    ck_assert(what_if_scaled_ns(ns, factor, &scaled));
    ck_assert_int_eq(scaled, expected);
}

START_TEST(to_the_nearest_nanosecond)
{
    int64_t scaled;

    check_scaled(5, 0.5, 3); /* 2.5: away from zero */
    check_scaled(7, 0.5, 4);
    check_scaled(100, 0.994, 99);
    check_scaled(3, 0.1, 0);
    check_scaled(INT64_MAX, 1, INT64_MAX);
    check_scaled(INT64_MAX, 0, 0);
    check_scaled(INT64_C(1) << 61, 3.9999999999999996, INT64_MAX - 1023);
    ck_assert(!what_if_scaled_ns(INT64_C(1) << 61, 4, &scaled));
    ck_assert(!what_if_scaled_ns(2, 1e308, &scaled));
    ck_assert(!what_if_scaled_ns(INT64_MAX, 1.0000000000000002, &scaled));
}
END_TEST

static enum weir_status scale(struct graph *graph, const char *name, double factor,
                              struct weir_error *err)
{
    struct what_if_target target;
    enum weir_status status = what_if_find(graph, name, strlen(name), false, &target, err);

    return status == WEIR_OK ? what_if_scale(graph, target, factor, err) : status;
}

static void check_scale(const char *name, double factor, const char *node, const char *expected)
{
    struct graph *graph = graph_of(
        "weir 1\ndomain d capacity=1KB\nengine sm\nengine dma bandwidth=1GB/s latency=5 to=d\n"
        "engine dark\nobject o size=100 initial\n"
        "node fixed compute engine=sm duration=10 evidence=measured:cupti confidence=0.5\n"
        "node bell compute engine=sm duration=normal(10,4)\n"
        "node skew compute engine=sm duration=lognormal(10,3)\n"
        "node flat compute engine=sm duration=uniform(3,9)\n"
        "node seen compute engine=sm duration=empirical(1,2,3,9)\n"
        "node dark compute engine=sm duration=unknown\n"
        "node sent transfer engine=dma bytes=20\n"
        "node copied transfer engine=dma object=o\n"
        "node made allocation domain=d\n");
    struct weir_error err = {WEIR_OK, ""};
    char *form, *line;
    size_t length;

    ck_assert_msg(scale(graph, name, factor, &err) == WEIR_OK, "%s", err.text);
    ck_assert_int_eq(graph_write_text(graph, &form, &length, &err), WEIR_OK);
    line = strstr(form, node);
    ck_assert_ptr_nonnull(line);
    *strchr(line, '\n') = '\0';
    ck_assert_str_eq(line, expected);
    free(form);
    graph_free(graph);
}

START_TEST(every_kind_of_length)
{
    check_scale("fixed", 0.25, "node fixed",
                "node fixed compute engine=sm duration=3 evidence=\"assumed:what if: times 0.25\"");
    check_scale("class:sm", 2, "node bell",
                "node bell compute engine=sm duration=normal(20,8) "
                "evidence=\"assumed:what if: times 2\"");
    check_scale("class:sm", 0.5, "node skew",
                "node skew compute engine=sm duration=lognormal(5,2) "
                "evidence=\"assumed:what if: times 0.5\"");
    check_scale("class:sm", 0.01, "node skew",
                "node skew compute engine=sm duration=0 "
                "evidence=\"assumed:what if: times 0.01\"");
    check_scale("flat", 0.5, "node flat",
                "node flat compute engine=sm duration=uniform(2,5) "
                "evidence=\"assumed:what if: times 0.5\"");
    check_scale("class:sm", 3, "node seen",
                "node seen compute engine=sm duration=empirical(3,6,9,27) "
                "evidence=\"assumed:what if: times 3\"");
    /* 5 + 20 = 25; 5 + 100 = 105. */
    check_scale("class:dma", 2, "node sent",
                "node sent transfer engine=dma duration=50 bytes=20 "
                "evidence=\"assumed:what if: times 2\"");
    check_scale("copied", 0.1, "node copied",
                "node copied transfer engine=dma duration=11 object=o "
                "evidence=\"assumed:what if: times 0.1\"");
    /* What nothing says stays unsaid, but nothing is no time. */
    check_scale("node:dark", 2, "node dark", "node dark compute engine=sm duration=unknown");
    check_scale("node:dark", 0, "node dark",
                "node dark compute engine=sm duration=0 evidence=\"assumed:what if: times 0\"");
    check_scale("made", 2, "node made", "node made allocation domain=d");
}
END_TEST

START_TEST(what_cannot_be_scaled_is_told)
{
    struct graph *graph = graph_of("weir 1\nengine sm\nengine idle\n"
                                   "node n compute engine=sm duration=2305843009213693952\n");
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_int_eq(scale(graph, "idle", 2, &err), WEIR_USAGE);
    ck_assert_str_eq(err.text,
                     "class 'idle' has no node; a node that says class= is none of its engine's");
    ck_assert_int_eq(scale(graph, "n", 4, &err), WEIR_USAGE);
    ck_assert_str_eq(err.text, "node 'n': 2305843009213693952 ns times 4 is more than 2^63 - 1 ns");
    graph_free(graph);
}
END_TEST

/* ---- delays ---- */

static void delay(struct graph *graph, const char *name, int64_t first_ns, int64_t second_ns)
{
    struct what_if_target target;
    struct report *report = report_new(0);
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_int_eq(what_if_find(graph, name, strlen(name), true, &target, &err), WEIR_OK);
    const struct what_if_delay delays[] = {{target.node, first_ns}, {target.node, second_ns}};
    ck_assert_msg(what_if_delay(graph, delays, 2, report, &err) == WEIR_OK, "%s", err.text);
    report_free(report);
}

static int64_t earliest_ns(const struct graph *graph, const char *name)
{
    struct report *report = report_new(0);
    struct binding *binding;
    struct analysis analysis;
    struct weir_error err;
    int64_t ns;

    ck_assert_int_eq(bind_graph(graph, report, &binding, &err), WEIR_OK);
    ck_assert_int_eq(analyze(binding, &analysis, &err), WEIR_OK);
    ns = analysis.earliest_ns[graph_find_node(graph, graph_find_text(graph, name)).index];
    analyze_free(&analysis);
    bind_free(binding);
    report_free(report);
    return ns;
}

/* Whatever binds a start, it moves by the delay: a given edge from a finish (r: 10 + 3) or a start (s: 0 +
 * 4), an implied edge (u: 10, of o, which a writes), a release (t: 8), the ready of an initial copy (v: 30),
 * and nothing at all (w: 0). Who follows them moves with them. */
START_TEST(whatever_binds_a_start_moves)
{
    static const char text[] =
        "weir 1\ndomain d capacity=1KB\nengine sm\nobject o size=10\n"
        "object i size=10 initial ready=30\n"
        "node a compute engine=sm duration=10 writes=o\n"
        "node r compute engine=sm duration=1\nnode s compute engine=sm duration=1\n"
        "node u compute engine=sm duration=1 reads=o\n"
        "node t compute engine=sm duration=1 release=8\n"
        "node v compute engine=sm duration=1 reads=i\nnode w compute engine=sm duration=1\n"
        "node after compute engine=sm duration=1\n"
        "edge a r ordering lag=3\nedge a s ordering from=start lag=4\nedge v after ordering\n";
    static const char *const names[] = {"r", "s", "u", "t", "v", "w"};
    static const int64_t before_ns[] = {13, 4, 10, 8, 30, 0};

    for (size_t i = 0; i < 6; i++) {
        struct graph *graph = graph_of(text);

        ck_assert_int_eq(earliest_ns(graph, names[i]), before_ns[i]);
        delay(graph, names[i], 100, 7);
        for (size_t j = 0; j < 6; j++)
            ck_assert_int_eq(earliest_ns(graph, names[j]), before_ns[j] + (i == j ? 107 : 0));
        ck_assert_int_eq(earliest_ns(graph, "after"), 31 + (i == 4 ? 107 : 0));
        graph_free(graph);
    }
}
END_TEST

START_TEST(no_delay_is_no_change)
{
    struct graph *graph = graph_of("weir 1\nengine sm\nnode a compute engine=sm duration=10\n");
    char *before = form_of(graph), *after;

    delay(graph, "a", 0, 0);
    after = form_of(graph);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    graph_free(graph);
}
END_TEST

START_TEST(a_delay_past_the_end_of_time)
{
    static const char *const texts[] = {
        "weir 1\nengine sm\nnode a compute engine=sm duration=10\n",
        "weir 1\nengine sm\nnode a compute engine=sm duration=10 release=9\n",
        ("weir 1\nengine sm\nnode b compute engine=sm duration=1\n"
         "node a compute engine=sm duration=10\nedge b a ordering lag=9\n")};

    for (size_t i = 0; i < 3; i++) {
        struct graph *graph = graph_of(texts[i]);
        weir_node a = graph_find_node(graph, graph_find_text(graph, "a"));
        const struct what_if_delay delays[] = {{a, INT64_MAX - 5}, {a, i == 0 ? 6 : 0}};
        struct report *report = report_new(0);
        struct weir_error err = {WEIR_OK, ""};

        ck_assert_int_eq(what_if_delay(graph, delays, 2, report, &err), WEIR_USAGE);
        ck_assert_str_eq(err.text, "node 'a': with its delay a time is more than 2^63 - 1 ns");
        report_free(report);
        graph_free(graph);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph/what_if");
    TCase *models = tcase_create("models");

    tcase_add_test(models, names_of_nodes_and_classes);
    tcase_add_test(models, to_the_nearest_nanosecond);
    tcase_add_test(models, every_kind_of_length);
    tcase_add_test(models, what_cannot_be_scaled_is_told);
    tcase_add_test(models, whatever_binds_a_start_moves);
    tcase_add_test(models, no_delay_is_no_change);
    tcase_add_test(models, a_delay_past_the_end_of_time);
    suite_add_tcase(suite, models);
    return run_suite(suite);
}
