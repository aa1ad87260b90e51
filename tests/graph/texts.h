/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs from texts, for the tests of this folder. */
#ifndef TESTS_GRAPH_TEXTS_H
#define TESTS_GRAPH_TEXTS_H

#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"

/* All findings of a report, a line each; the caller frees. */
static inline char *report_lines(const struct report *report)
{
    size_t room = (size_t)report_count(report) * 2048 + 1, used = 0;
    char *lines = calloc(room, 1);
    for (uint32_t i = 0; i < report_count(report); i++) {
        report_line(report_finding(report, i), lines + used, 2047);
        used += strlen(lines + used);
        lines[used++] = '\n';
    }
    return lines;
}

/* The graph of a text that must be read without a fault. */
static inline struct graph *graph_of(const char *text)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;
    if (graph_read_text(text, strlen(text), "test.weir", report, &graph, &err) != WEIR_OK) {
        char *lines = report_lines(report);
        ck_abort_msg("%s\n%s", err.text, lines);
    }
    report_free(report);
    return graph;
}

/* The canonical form; the caller frees. */
static inline char *form_of(const struct graph *graph)
{
    struct weir_error err;
    size_t length;
    char *form;
    ck_assert_int_eq(graph_write_text(graph, &form, &length, &err), WEIR_OK);
    ck_assert_uint_eq(strlen(form), length);
    return form;
}

/* Reads the text, compares its canonical form, and reads and writes that once more. */
static inline void check_form(const char *text, const char *expected)
{
    struct graph *graph = graph_of(text), *again;
    char *form = form_of(graph), *form_again;
    ck_assert_str_eq(form, expected);
    again = graph_of(form);
    form_again = form_of(again);
    ck_assert_str_eq(form_again, form);
    free(form);
    free(form_again);
    graph_free(graph);
    graph_free(again);
}

static inline weir_node node_named(const struct graph *graph, const char *name)
{
    weir_node node = graph_find_node(graph, graph_find_text(graph, name));
    ck_assert_msg(weir_is(node), "no node %s", name);
    return node;
}

static inline weir_object object_named(const struct graph *graph, const char *name)
{
    weir_object object = graph_find_object(graph, graph_find_text(graph, name));
    ck_assert_msg(weir_is(object), "no object %s", name);
    return object;
}

#endif
