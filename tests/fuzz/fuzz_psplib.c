/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target of the importer of PSPLIB problems. Whatever the bytes are, it ends with a graph or with a
 * message that says where. A graph that it makes is legal: its canonical form reads back equal, and
 * binding finds no error in it. */
#include <stdlib.h>
#include <string.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "traces/psplib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_legal(const struct graph *graph)
{
    struct report *report = report_new(1);
    struct graph *again = NULL;
    struct binding *binding = NULL;
    char *text = NULL, *same = NULL;
    size_t length, same_length;
    struct weir_error err;

    if (report == NULL || bind_graph(graph, report, &binding, &err) != WEIR_OK ||
        graph_write_text(graph, &text, &length, &err) != WEIR_OK ||
        graph_read_text(text, length, "again", report, &again, &err) != WEIR_OK ||
        graph_write_text(again, &same, &same_length, &err) != WEIR_OK)
        abort();
    if (length != same_length || memcmp(text, same, length) != 0)
        abort();
    free(text);
    free(same);
    bind_free(binding);
    graph_free(again);
    report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_options options = import_default();
    struct import_result result = {.graph = NULL};
    struct weir_error err;
    enum weir_status status = psplib_read_text(size == 0 ? "" : (const char *)data, size, "fuzz",
                                               &options, &result, &err);

    if (status == WEIR_OK)
        check_legal(result.graph);
    else if (status != WEIR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
        abort();
    import_result_free(&result);
    return 0;
}
