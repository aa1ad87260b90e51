/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of given sizes: two are the canonical form of the layers of layers.h, one is written here. */
#include "tests/bench/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/text.h"
#include "tests/bench/layers.h"

#define WIDTH 32

static struct text layers_text(uint32_t n_nodes, bool has_objects)
{
    const struct layers_options options = {has_objects, INT64_MAX / 4, 1, false};
    struct layers layers = layers_make(n_nodes, WIDTH, 1);
    struct graph *graph = layers_graph(&layers, &options);
    struct text text;
    struct weir_error err;

    layers_free(&layers);
    if (graph_write_text(graph, &text.bytes, &text.length, &err) != WEIR_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit((int)err.status);
    }
    graph_free(graph);
    return text;
}

struct text text_edges(uint32_t n_nodes)
{
    return layers_text(n_nodes, false);
}

struct text text_objects(uint32_t n_nodes)
{
    return layers_text(n_nodes, true);
}

static size_t put_objects(char *at, size_t room, uint32_t n)
{
    size_t used = 0;

    for (uint32_t i = 0; i < n; i++) {
        used += (size_t)snprintf(at + used, room - used,
                                 "object layer%" PRIu32 ".act size=%" PRIu32 "KiB%s\n", i,
                                 i % 977 + 1, i == 0 ? " initial" : "");
    }
    return used;
}

/* Each reads what the node before it wrote and what a distant one did. */
static size_t put_nodes(char *at, size_t room, uint32_t n)
{
    size_t used = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = (uint32_t)((uint64_t)i * 7919 % (i / 2 + 1));

        used += (size_t)snprintf(at + used, room - used,
                                 "node layer%" PRIu32 ".gemm compute engine=sm%" PRIu32
                                 " duration=%" PRIu32 "us reads=layer%" PRIu32 ".act,layer%" PRIu32
                                 ".act writes=layer%" PRIu32 ".act evidence=measured:kineto\n",
                                 i, i % 2, i % 991 + 1, i == 0 ? 0 : i - 1, other, i);
    }
    return used;
}

static size_t put_edges(char *at, size_t room, uint32_t n)
{
    size_t used = 0;

    for (uint32_t i = 1; i < n; i++) {
        used += (size_t)snprintf(at + used, room - used,
                                 "edge layer%" PRIu32 ".gemm layer%" PRIu32 ".gemm ordering\n",
                                 i - 1, i);
    }
    return used;
}

struct text text_trace(uint32_t n_nodes)
{
    size_t room = (size_t)n_nodes * 256 + 4096;
    struct text text = {malloc(room), 0};

    if (text.bytes == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(7);
    }
    text.length = (size_t)snprintf(text.bytes, room,
                                   "weir 1\ngraph bench\ndomain hbm capacity=80TB\n"
                                   "engine sm0 slots=1\nengine sm1\n");
    text.length += put_objects(text.bytes + text.length, room - text.length, n_nodes);
    text.length += put_nodes(text.bytes + text.length, room - text.length, n_nodes);
    text.length += put_edges(text.bytes + text.length, room - text.length, n_nodes);
    return text;
}
