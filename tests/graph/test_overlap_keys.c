/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom overlap lines speak of, and which pairs of classes are known. */
#include "graph/overlap_keys.h"

#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"

static struct graph *read_graph(const char *text)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;

    ck_assert_int_eq(graph_read_text(text, strlen(text), "test", report, &graph, &err), WEIR_OK);
    report_free(report);
    return graph;
}

static uint32_t node_of(const struct graph *graph, const char *name)
{
    return graph_find_node(graph, graph_find_text(graph, name)).index;
}

static uint32_t class_of(const struct graph *graph, const char *name)
{
    return graph_find_class(graph, graph_find_text(graph, name)).index;
}

/* "x" is a class and a node: a line that names it speaks of both. a is of class x, b of class y; c of
 * class z, of which no line speaks, is named itself. */
static const char lines[] =
    "weir 1\nengine e\nnode a compute engine=e duration=1 class=x\n"
    "node x compute engine=e duration=1 class=z\nnode b compute engine=e duration=1 class=y\n"
    "node c compute engine=e duration=1 class=z\nnode d compute engine=e duration=1 class=z\n"
    "overlap x y forbidden\noverlap c c forbidden\noverlap y y unknown\n";

START_TEST(a_name_is_a_class_a_node_or_both)
{
    struct graph *graph = read_graph(lines);
    struct overlap_keys keys;
    struct weir_error err;
    uint32_t own[2];

    ck_assert_int_eq(overlap_keys_begin(&keys, graph, &err), WEIR_OK);
    ck_assert_int_eq(overlap_keys_add(&keys, OVERLAP_FORBIDDEN, &err), WEIR_OK);
    ck_assert_uint_eq(keys.n_keys, 4); /* class x, node x, class y, node c */
    ck_assert_uint_eq(keys.n_pairs, 3);
    ck_assert_uint_eq(overlap_keys_of(&keys, node_of(graph, "a"), own), 1);
    ck_assert_uint_eq(own[0], keys.of_class[class_of(graph, "x")]);
    ck_assert_uint_eq(overlap_keys_of(&keys, node_of(graph, "x"), own), 1);
    ck_assert_uint_eq(own[0], keys.of_node[node_of(graph, "x")]);
    ck_assert_uint_eq(overlap_keys_of(&keys, node_of(graph, "c"), own), 1);
    ck_assert_uint_eq(overlap_keys_of(&keys, node_of(graph, "d"), own), 0);
    overlap_keys_free(&keys);
    graph_free(graph);
}
END_TEST

/* Class y has class x and node x as partners, and itself once the unknown are added; c has itself,
 * once. */
START_TEST(partners_stand_with_both_keys)
{
    struct graph *graph = read_graph(lines);
    struct overlap_keys keys;
    struct weir_error err;
    uint32_t y, c;

    ck_assert_int_eq(overlap_keys_begin(&keys, graph, &err), WEIR_OK);
    ck_assert_int_eq(overlap_keys_add(&keys, OVERLAP_FORBIDDEN, &err), WEIR_OK);
    ck_assert_int_eq(overlap_keys_add(&keys, OVERLAP_UNKNOWN, &err), WEIR_OK);
    ck_assert_int_eq(overlap_keys_index(&keys, &err), WEIR_OK);
    y = keys.of_class[class_of(graph, "y")];
    c = keys.of_node[node_of(graph, "c")];
    ck_assert_uint_eq(keys.first[y + 1] - keys.first[y], 3);
    ck_assert_uint_eq(keys.partners[keys.first[y]], keys.of_class[class_of(graph, "x")]);
    ck_assert_uint_eq(keys.partners[keys.first[y] + 1], keys.of_node[node_of(graph, "x")]);
    ck_assert_uint_eq(keys.partners[keys.first[y] + 2], y);
    ck_assert_uint_eq(keys.first[c + 1] - keys.first[c], 1);
    ck_assert_uint_eq(keys.partners[keys.first[c]], c);
    overlap_keys_free(&keys);
    graph_free(graph);
}
END_TEST

/* x and y have a factor both ways, x and z only one, y and z are allowed. */
START_TEST(classes_are_known_both_ways)
{
    struct graph *graph = read_graph(
        "weir 1\nengine e\nnode a compute engine=e duration=1 class=x\n"
        "node b compute engine=e duration=1 class=y\nnode c compute engine=e duration=1 class=z\n"
        "kappa x y 1.5\nkappa y x 1.2\nkappa x z 1.1\noverlap y z allowed\n");
    struct overlap_known known;
    struct weir_error err;
    uint32_t x = class_of(graph, "x"), y = class_of(graph, "y"), z = class_of(graph, "z");

    ck_assert_int_eq(overlap_known_find(graph, &known, &err), WEIR_OK);
    ck_assert_uint_eq(known.first[x + 1] - known.first[x], 1);
    ck_assert_uint_eq(known.classes[known.first[x]], y);
    ck_assert_uint_eq(known.first[y + 1] - known.first[y], 2);
    ck_assert_uint_eq(known.first[z + 1] - known.first[z], 1);
    ck_assert_uint_eq(known.classes[known.first[z]], y);
    overlap_known_free(&known);
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph/overlap_keys");
    TCase *cases = tcase_create("overlap_keys");

    tcase_add_test(cases, a_name_is_a_class_a_node_or_both);
    tcase_add_test(cases, partners_stand_with_both_keys);
    tcase_add_test(cases, classes_are_known_both_ways);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
