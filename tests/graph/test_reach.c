/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths from finishes to starts: both ways of finding them, and the choice between them, against a
 * walk from each producer on random graphs. */
#include "graph/reach.h"

#include <string.h>

#include "base/random.h"
#include "tests/suite.h"

#define MOST_NODES 6000u

/* A graph, its edges by producer, and its nodes in an order that respects them. */
struct drawn {
    struct graph *graph;
    struct binding *binding;
    struct adjacency next;
    uint32_t position[MOST_NODES];
    struct reach reach;
};

static weir_text name_of(struct graph *graph, uint32_t i)
{
    struct weir_error err;
    weir_text text;
    char name[16];

    (void)snprintf(name, sizeof name, "n%u", i);
    ck_assert_int_eq(graph_intern_text(graph, name, &text, &err), WEIR_OK);
    return text;
}

static void add_edge(struct graph *graph, uint32_t producer, uint32_t consumer, bool is_from_start)
{
    struct graph_edge edge = graph_edge_default;
    struct weir_error err;

    edge.producer.index = producer;
    edge.consumer.index = consumer;
    edge.type = EDGE_ORDERING;
    edge.is_from_start = is_from_start;
    ck_assert_int_eq(graph_add_edge(graph, &edge, &err), WEIR_OK);
}

/* n nodes that do not stand in the order of their edges, of which each node has about so many to
 * nodes at most @p reach_of further on; one in four leaves a start. */
static void draw(struct drawn *out, struct random_stream *random, uint32_t n, double n_edges,
                 uint32_t reach_of)
{
    struct report *report = report_new(0);
    uint32_t *rank = malloc(n * sizeof *rank);
    struct weir_error err;

    out->graph = graph_new();
    for (uint32_t i = 0; i < n; i++) {
        struct graph_node node = graph_node_default;
        weir_node id;

        node.name = name_of(out->graph, i);
        ck_assert_int_eq(graph_add_node(out->graph, &node, &id, &err), WEIR_OK);
        rank[i] = i;
    }
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = (uint32_t)random_below(random, i), kept = rank[i - 1];

        rank[i - 1] = rank[other];
        rank[other] = kept;
    }
    for (uint32_t i = 0; i < (uint32_t)(n_edges * n); i++) {
        uint32_t from = (uint32_t)random_below(random, n);
        uint32_t to = from + 1 + (uint32_t)random_below(random, reach_of);

        if (to < n) {
            add_edge(out->graph, rank[from], rank[to], random_below(random, 4) == 0);
        }
    }
    graph_set_head(out->graph, graph_name(out->graph), SCOPE_NONE, false,
                   (struct graph_evidence){EVIDENCE_NONE, {0}, -1});
    ck_assert_int_eq(bind_graph(out->graph, report, &out->binding, &err), WEIR_OK);
    ck_assert_int_eq(adjacency_make(out->graph, NULL, 0, &out->next, &err), WEIR_OK);
    for (uint32_t i = 0; i < n; i++) {
        out->position[bind_order(out->binding, i).index] = i;
    }
    out->reach = (struct reach){out->binding, &out->next, out->position};
    free(rank);
    report_free(report);
}

static void drop(struct drawn *drawn)
{
    adjacency_free(&drawn->next);
    bind_free(drawn->binding);
    graph_free(drawn->graph);
}

/* Marks every node that starts after the finish of the producer. */
static void walk_from(const struct drawn *drawn, uint32_t producer, bool *is_after)
{
    uint32_t n = graph_n_nodes(drawn->graph);

    memset(is_after, 0, n * sizeof *is_after);
    for (uint32_t at = drawn->position[producer]; at < n; at++) {
        uint32_t node = bind_order(drawn->binding, at).index;

        for (uint32_t i = drawn->next.first[node]; i < drawn->next.first[node + 1]; i++) {
            struct adjacent edge = drawn->next.items[i];
            bool leaves = reach_leaves_finish(drawn->graph, edge.edge);

            is_after[edge.consumer] |= is_after[node] || (node == producer && leaves);
        }
    }
}

/* Two or three questions about each of some nodes, by position; a consumer may be anywhere. */
static uint32_t ask(const struct drawn *drawn, struct random_stream *random, unsigned one_in,
                    struct reach_question *questions)
{
    uint32_t n = graph_n_nodes(drawn->graph), n_questions = 0;

    for (uint32_t at = 0; at < n; at++) {
        for (uint32_t k = 0; random_below(random, one_in) == 0 && k < 3; k++) {
            questions[n_questions++] = (struct reach_question){
                bind_order(drawn->binding, at).index, (uint32_t)random_below(random, n), false};
        }
    }
    return n_questions;
}

static void expect_right(const struct drawn *drawn, const struct reach_question *questions,
                         uint32_t n_questions, const char *what)
{
    bool *is_after = malloc(graph_n_nodes(drawn->graph) * sizeof *is_after);

    for (uint32_t i = 0; i < n_questions; i++) {
        if (i == 0 || questions[i].producer != questions[i - 1].producer) {
            walk_from(drawn, questions[i].producer, is_after);
        }
        ck_assert_msg(questions[i].is_met == is_after[questions[i].consumer],
                      "%s: from n%u to n%u: %d", what, questions[i].producer, questions[i].consumer,
                      questions[i].is_met);
    }
    free(is_after);
}

static void expect_all_right(struct drawn *drawn, struct random_stream *random, unsigned one_in)
{
    size_t bytes = 3 * (size_t)graph_n_nodes(drawn->graph) * sizeof(struct reach_question);
    struct reach_question *questions = malloc(bytes), *asked = malloc(bytes);
    uint32_t n = ask(drawn, random, one_in, asked);
    struct weir_error err;
    bool is_done = false;

    memcpy(questions, asked, bytes);
    ck_assert_int_eq(reach_by_bits(&drawn->reach, questions, n, &err), WEIR_OK);
    expect_right(drawn, questions, n, "bits");
    memcpy(questions, asked, bytes);
    ck_assert_int_eq(reach_by_chains(&drawn->reach, questions, n, UINT64_MAX, &is_done, &err),
                     WEIR_OK);
    ck_assert(is_done);
    expect_right(drawn, questions, n, "chains");
    memcpy(questions, asked, bytes);
    ck_assert_int_eq(reach_answer(&drawn->reach, questions, n, &err), WEIR_OK);
    expect_right(drawn, questions, n, "both");
    free(questions);
    free(asked);
}

START_TEST(small_graphs_are_answered_right)
{
    struct random_stream random;
    struct drawn *drawn = malloc(sizeof *drawn);

    random_seed(&random, 7, (uint64_t)_i);
    draw(drawn, &random, 2 + (uint32_t)random_below(&random, 300),
         (double)random_below(&random, 40) / 10, 1 + (uint32_t)random_below(&random, 40));
    expect_all_right(drawn, &random, 1 + (unsigned)random_below(&random, 5));
    drop(drawn);
    free(drawn);
}
END_TEST

/* So many producers, all over the graph, that other ways than the first are looked for. */
START_TEST(large_graphs_are_answered_right)
{
    struct random_stream random;
    struct drawn *drawn = malloc(sizeof *drawn);

    random_seed(&random, 8, (uint64_t)_i);
    draw(drawn, &random, MOST_NODES, _i == 0 ? 1.5 : 0.8, _i == 0 ? 4 : 400);
    expect_all_right(drawn, &random, 2);
    drop(drawn);
    free(drawn);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reach");
    TCase *tests = tcase_create("reach");

    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, small_graphs_are_answered_right, 0, n_inputs(200, 50));
    tcase_add_loop_test(tests, large_graphs_are_answered_right, 0, n_inputs(2, 1));
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
