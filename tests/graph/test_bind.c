/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding: which copy an access means, which hazards follow, what is refused. */
#include "graph/bind.h"

#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"

#define HEAD                                                                                  \
    "weir 1\ngraph g\ndomain hbm capacity=1KB\ndomain host capacity=1KB\nengine sm slots=4\n" \
    "engine cpu domain=host\nengine in from=host to=hbm\nengine out from=hbm to=host\n"

/* Reads and binds HEAD and the lines; the graph is given back by the caller. */
static enum weir_status bind_lines(const char *lines, struct report *report, struct graph **graph,
                                   struct binding **binding)
{
    char text[4096];
    struct weir_error err;
    enum weir_status status;

    (void)snprintf(text, sizeof text, "%s%s", HEAD, lines);
    status = graph_read_text(text, strlen(text), "test", report, graph, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.text);
    return bind_graph(*graph, report, binding, &err);
}

static weir_node node_named(const struct graph *graph, const char *name)
{
    weir_node node = graph_find_node(graph, graph_find_text(graph, name));

    ck_assert(weir_is(node));
    return node;
}

/* Is there an implied edge from one to the other, of that type? */
static bool implies(const struct binding *binding, const char *producer, const char *consumer,
                    enum edge_type type)
{
    const struct graph *graph = bind_of(binding);
    weir_node from = node_named(graph, producer), to = node_named(graph, consumer);

    for (uint32_t i = 0; i < bind_n_edges(binding); i++) {
        const struct bind_edge *edge = &bind_edges(binding)[i];

        if (weir_same(edge->producer, from) && weir_same(edge->consumer, to)) {
            return edge->type == type;
        }
    }
    return false;
}

static const struct finding *find(const struct report *report, enum finding_code code)
{
    for (uint32_t i = 0; i < report_count(report); i++) {
        if (report_finding(report, i)->code == code) {
            return report_finding(report, i);
        }
    }
    return NULL;
}

static void expect_refusal(const char *lines, enum finding_code code, const char *node,
                           const char *object)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct binding *binding = NULL;
    const struct finding *finding;

    ck_assert_int_eq(bind_lines(lines, report, &graph, &binding), WEIR_INPUT);
    ck_assert_ptr_null(binding);
    finding = find(report, code);
    ck_assert_msg(finding != NULL, "no %s for:\n%s", finding_name(code), lines);
    ck_assert_str_eq(finding->names[0], node);
    if (object != NULL) {
        ck_assert_str_eq(finding->names[1], object);
    }
    graph_free(graph);
    report_free(report);
}

START_TEST(test_hazards_of_one_copy)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct binding *binding;

    /* w fills x, r1 and r2 read it, w2 changes it after both, free reclaims it after the change. */
    ck_assert_int_eq(bind_lines("object x size=8\n"
                                "node w compute engine=sm duration=1 writes=x\n"
                                "node r1 compute engine=sm duration=1 reads=x\n"
                                "node r2 compute engine=sm duration=1 reads=x\n"
                                "node w2 compute engine=sm duration=1 writes=x\n"
                                "node free reclamation object=x\n",
                                report, &graph, &binding),
                     WEIR_OK);
    ck_assert(implies(binding, "w", "r1", EDGE_DATA_READY));
    ck_assert(implies(binding, "w", "r2", EDGE_DATA_READY));
    ck_assert(implies(binding, "r1", "w2", EDGE_STORAGE_READY));
    ck_assert(implies(binding, "r2", "w2", EDGE_STORAGE_READY));
    ck_assert(implies(binding, "w2", "free", EDGE_LIFETIME_HOLD));
    /* What those imply is not said twice: w before w2, r1 before free. */
    ck_assert_uint_eq(bind_n_edges(binding), 5);
    ck_assert_uint_eq(bind_n_copies(binding), 1);
    ck_assert_uint_eq(bind_copy(binding, (weir_copy){0})->n_uses, 4);
    bind_free(binding);
    graph_free(graph);
    report_free(report);
}
END_TEST

START_TEST(test_copies_in_two_domains)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct binding *binding;

    /* The copy in host begins with out; the one in hbm is reclaimed, begins again with back, and the
     * new filler follows the reclamation. */
    ck_assert_int_eq(bind_lines("object x size=8\n"
                                "node w compute engine=sm duration=1 writes=x\n"
                                "node away offload engine=out duration=1 object=x\n"
                                "node free reclamation object=x\n"
                                "node back prefetch engine=in duration=1 object=x\n"
                                "node r compute engine=sm duration=1 reads=x\n",
                                report, &graph, &binding),
                     WEIR_OK);
    ck_assert_uint_eq(bind_n_copies(binding), 3);
    ck_assert(implies(binding, "w", "away", EDGE_DATA_READY));
    ck_assert(implies(binding, "away", "free", EDGE_LIFETIME_HOLD));
    ck_assert(implies(binding, "away", "back", EDGE_DATA_READY));
    ck_assert(implies(binding, "free", "back", EDGE_STORAGE_READY));
    ck_assert(implies(binding, "back", "r", EDGE_DATA_READY));
    bind_free(binding);
    graph_free(graph);
    report_free(report);
}
END_TEST

START_TEST(test_last_uses_end_a_copy)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct binding *binding;
    uint32_t cursor = 0, n = 0;
    weir_node node;

    /* x ends after r1, r2, and h, which holds it; w lies before them. */
    ck_assert_int_eq(bind_lines("object x size=8\n"
                                "node w compute engine=sm duration=1 writes=x\n"
                                "node r1 compute engine=sm duration=1 reads=x\n"
                                "node r2 compute engine=sm duration=1 reads=x\n"
                                "node h compute engine=sm duration=1\n"
                                "edge w h lifetime-hold object=x\n",
                                report, &graph, &binding),
                     WEIR_OK);
    while (bind_last_use(binding, (weir_copy){0}, &cursor, &node)) {
        ck_assert_uint_ne(node.index, node_named(graph, "w").index);
        n++;
    }
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(bind_copy(binding, (weir_copy){0})->n_holds, 1);
    bind_free(binding);
    graph_free(graph);
    report_free(report);
}
END_TEST

START_TEST(test_refusals)
{
    expect_refusal("object x size=8\nnode r compute engine=sm duration=1 reads=x\n",
                   FINDING_MISSING_COPY, "r", "x");
    expect_refusal("object x size=8\nnode a allocation object=x\n"
                   "node r compute engine=sm duration=1 reads=x\n",
                   FINDING_UNWRITTEN, "r", "x");
    expect_refusal("object x size=8 domain=host initial\n"
                   "node r compute engine=sm duration=1 reads=x\n",
                   FINDING_NO_MAPPING, "r", "x");
    expect_refusal("object x size=8 domain=host initial\n"
                   "node b prefetch engine=in duration=1 object=x\n"
                   "node w compute engine=sm duration=1 writes=x\n"
                   "node r compute engine=cpu duration=1 reads=x\n",
                   FINDING_STALE_COPY, "r", "x");
    expect_refusal("object x size=8\nnode a allocation object=x\nnode b allocation object=x\n",
                   FINDING_ALLOCATED_TWICE, "b", "x");
    expect_refusal("object x size=8\nnode f reclamation object=x\n", FINDING_RECLAIMED_MISSING, "f",
                   "x");
    expect_refusal("object x size=8\nnode m mapping object=x\n", FINDING_MAPPED_MISSING, "m", "x");
    expect_refusal("object x size=8\nobject v size=4 alias=x\nnode a allocation object=v\n",
                   FINDING_ALIAS_STORAGE, "a", "v");
    expect_refusal("object x size=8 retained\n", FINDING_RETAINED_GONE, "x", NULL);
    expect_refusal("object x size=8\nnode w compute engine=sm duration=1 writes=x\n"
                   "node f reclamation object=x\nnode h barrier\n"
                   "edge w h lifetime-hold object=x\n",
                   FINDING_HOLD_PAST_END, "h", "x");
    /* The second half of x was never written. */
    expect_refusal("object x size=8\nobject v size=4 alias=x\n"
                   "node w compute engine=sm duration=1 writes=v\n"
                   "node r compute engine=sm duration=1 reads=x\n",
                   FINDING_UNWRITTEN, "r", "x");
}
END_TEST

START_TEST(test_mapping_ends_with_its_copy)
{
    /* After the home copy was reclaimed and filled again, the old mapping shows nothing. */
    expect_refusal("object x size=8 domain=host initial\n"
                   "node m mapping engine=sm object=x\n"
                   "node r compute engine=sm duration=1 reads=x\n"
                   "node f reclamation engine=cpu object=x\n"
                   "node w compute engine=cpu duration=1 writes=x\n"
                   "node late compute engine=sm duration=1 reads=x\n",
                   FINDING_NO_MAPPING, "late", "x");
}
END_TEST

START_TEST(test_cycle_is_shown)
{
    struct report *report = report_new(0);
    struct graph *graph;
    struct binding *binding = NULL;
    const struct finding *finding;

    /* The data go from w to r; the edge goes back. */
    ck_assert_int_eq(bind_lines("object x size=8\n"
                                "node w compute engine=sm duration=1 writes=x\n"
                                "node r compute engine=sm duration=1 reads=x\n"
                                "node after compute engine=sm duration=1\n"
                                "edge r after ordering\nedge r w ordering\n",
                                report, &graph, &binding),
                     WEIR_INPUT);
    finding = find(report, FINDING_CYCLE);
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding->message, "2 nodes"));
    ck_assert_ptr_nonnull(strstr(finding->message, "w -> (implied by program order) r"));
    ck_assert_ptr_nonnull(strstr(finding->message, "r -> (ordering) w"));
    ck_assert_ptr_null(strstr(finding->message, "after"));
    graph_free(graph);
    report_free(report);
}
END_TEST

START_TEST(test_expanded_graph_says_the_same)
{
    struct report *report = report_new(0);
    struct graph *graph, *expanded;
    struct binding *binding, *again;
    struct weir_error err;

    ck_assert_int_eq(bind_lines("object x size=8\nobject v size=4 alias=x+4\n"
                                "node w compute engine=sm duration=1 writes=x\n"
                                "node r compute engine=sm duration=1 reads=v\n"
                                "node away offload engine=out duration=1 object=x\n"
                                "node free reclamation object=x\n",
                                report, &graph, &binding),
                     WEIR_OK);
    ck_assert_int_eq(bind_expand(binding, &expanded, &err), WEIR_OK);
    ck_assert(!graph_is_implied(expanded));
    ck_assert_uint_eq(graph_n_edges(expanded), bind_n_edges(binding));
    /* The audit finds every hazard covered, and the copies are the same. */
    ck_assert_int_eq(bind_graph(expanded, report, &again, &err), WEIR_OK);
    ck_assert_uint_eq(bind_n_edges(again), 0);
    ck_assert_uint_eq(bind_n_copies(again), bind_n_copies(binding));
    for (uint32_t i = 0; i < bind_n_copies(again); i++) {
        ck_assert_uint_eq(bind_copy(again, (weir_copy){i})->n_holds, 0);
    }
    bind_free(again);
    bind_free(binding);
    graph_free(expanded);
    graph_free(graph);
    report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bind");
    TCase *tests = tcase_create("bind");

    tcase_add_test(tests, test_hazards_of_one_copy);
    tcase_add_test(tests, test_copies_in_two_domains);
    tcase_add_test(tests, test_last_uses_end_a_copy);
    tcase_add_test(tests, test_refusals);
    tcase_add_test(tests, test_mapping_ends_with_its_copy);
    tcase_add_test(tests, test_cycle_is_shown);
    tcase_add_test(tests, test_expanded_graph_says_the_same);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
