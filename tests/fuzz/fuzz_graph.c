/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target of the graph reader. Whatever the bytes are, the reader ends with a graph or with
 * findings, never with both missing; a graph it accepts is written, read again and written again,
 * and the two canonical forms are equal to the byte; laid over the graph itself it changes nothing,
 * and the bytes laid over an empty graph give what reading them gives. */
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical form of the graph with the text laid over it. The caller frees. */
static char *overlaid(struct graph *graph, const char *text, size_t length, size_t *out_length)
{
    struct weir_error err;
    struct report *report = report_new(50);
    char *form = NULL;
    if (report == NULL)
        abort();
    if (graph_overlay_text(graph, text, length, "overlay.weir", report, &err) != WEIR_OK)
        abort();
    if (graph_write_text(graph, &form, out_length, &err) != WEIR_OK)
        abort();
    report_free(report);
    return form;
}

/* The canonical form of the text, or NULL when it is refused. The caller frees. */
static char *canonical(const char *text, size_t length, size_t *out_length)
{
    struct weir_error err;
    struct report *report = report_new(50);
    struct graph *graph = NULL;
    char *form = NULL;
    if (report == NULL)
        abort();
    enum weir_status status = graph_read_text(text, length, "fuzz.weir", report, &graph, &err);
    if (status == WEIR_OK && report_errors(report) != 0)
        abort();
    if (status == WEIR_INPUT && report_errors(report) == 0)
        abort();
    if (status == WEIR_OK && graph_write_text(graph, &form, out_length, &err) != WEIR_OK)
        abort();
    if (status == WEIR_OK) {
        size_t again_length = 0;
        char *again = overlaid(graph, form, *out_length, &again_length);
        if (again_length != *out_length || memcmp(form, again, again_length) != 0)
            abort();
        free(again);
    }
    graph_free(graph);
    report_free(report);
    return form;
}

static void lay_over_nothing(const char *text, size_t length, const char *form, size_t form_length)
{
    struct graph *empty = graph_new();
    size_t again_length = 0;
    if (empty == NULL)
        abort();
    char *again = overlaid(empty, text, length, &again_length);
    if (again_length != form_length || memcmp(form, again, again_length) != 0)
        abort();
    free(again);
    graph_free(empty);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = 0;
    char *first = canonical((const char *)data, size, &length);
    if (first == NULL)
        return 0;
    size_t again_length = 0;
    char *again = canonical(first, length, &again_length);
    if (again == NULL || again_length != length || memcmp(first, again, length) != 0)
        abort();
    lay_over_nothing((const char *)data, size, first, length);
    free(first);
    free(again);
    return 0;
}
