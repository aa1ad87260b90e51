/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph in a file, which is there whole or not at all. */
#include "base/output.h"
#include "graph/text.h"

enum weir_status graph_write_file(const struct graph *graph, const char *path,
                                  struct weir_error *err)
{
    struct output output;
    enum weir_status status = output_begin(&output, path, err);

    if (status != WEIR_OK)
        return status;
    status = graph_write(graph, output.file, err);
    if (status == WEIR_STORE)
        status = weir_error_within(err, "%.200s", output.path);
    return output_end(&output, status, err);
}
