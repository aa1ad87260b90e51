/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast graphs are read, written and hashed, and what they weigh. Makes a text of N nodes (default
 * a million) with an object, two reads and an edge each, and prints a line for each step.
 * usage: read_bench [N] */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "graph/text.h"

/* Of the processor: other work on the machine does not count. */
static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* malloc'ed; NULL when memory ran out */
static char *make_text(int64_t n, size_t *length)
{
    size_t room = (size_t)n * 256 + 4096, used = 0;
    char *text = malloc(room);

    if (text == NULL)
        return NULL;
    used += (size_t)snprintf(text, room,
                             "weir 1\ngraph bench\ndomain hbm capacity=80GB\n"
                             "engine sm0 slots=1\nengine sm1\n");
    for (int64_t i = 0; i < n; i++)
        used +=
            (size_t)snprintf(text + used, room - used,
                             "object layer%" PRId64 ".act size=%" PRId64 "KiB\n", i, i % 977 + 1);
    for (int64_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "node layer%" PRId64 ".gemm compute engine=sm%d duration=%" PRId64
                                 "us reads=layer%" PRId64 ".act,layer%" PRId64
                                 ".act writes=layer%" PRId64 ".act evidence=measured:kineto\n",
                                 i, (int)(i % 2), i % 991 + 1, i, i * 7919 % n, i);
    for (int64_t i = 1; i < n; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "edge layer%" PRId64 ".gemm layer%" PRId64 ".gemm ordering\n",
                                 i - 1, i);
    *length = used;
    return text;
}

static void tell(const char *what, int64_t from_ns, int64_t n, double bytes)
{
    int64_t took_ns = now_ns() - from_ns;

    printf("%-6s %8.3f s %7.1f ns/node %7.1f bytes/node\n", what, (double)took_ns / 1e9,
           (double)took_ns / (double)n, bytes / (double)n);
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000, from_ns;
    struct report *report = report_new(50);
    struct graph *graph = NULL;
    char hash[HASH_TEXT_BYTES];
    size_t length, written;
    struct weir_error err;
    char *text, *form;

    text = n > 0 ? make_text(n, &length) : NULL;
    if (text == NULL || report == NULL)
        return EXIT_FAILURE;
    from_ns = now_ns();
    if (graph_read_text(text, length, "bench", report, &graph, &err) != WEIR_OK) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    tell("read", from_ns, n, (double)graph_memory_bytes(graph));
    from_ns = now_ns();
    if (graph_hash(graph, hash, &err) != WEIR_OK)
        return EXIT_FAILURE;
    tell("hash", from_ns, n, 0);
    from_ns = now_ns();
    if (graph_write_text(graph, &form, &written, &err) != WEIR_OK)
        return EXIT_FAILURE;
    tell("write", from_ns, n, (double)written);
    printf("text   %7.1f bytes/node, hash %s\n", (double)length / (double)n, hash);
    free(form);
    free(text);
    graph_free(graph);
    report_free(report);
    return EXIT_SUCCESS;
}
