/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How reading and checking grow on graphs that are made to be hard: nanoseconds of CPU for each of N,
 * and how many times more that is than at the size before. Where it grows with N, time goes with the
 * square; a size that would take minutes is left out.
 * Usage: check_bench [-m WORD] [N ...], 10000 100000 1000000 by default; WORD keeps the graphs whose
 * name holds it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/check.h"
#include "graph/text.h"
#include "tests/bench/hard_texts.h"
#include "tests/bench/layers.h"

#define TOO_LONG_S 20.0 /* of the size before */

struct cost {
    double read_ns, check_ns; /* for each of N */
};

static struct graph *read_all(const struct hard_text *hard, uint32_t n, double *read_ns)
{
    struct text text = hard->make(n), machine = {NULL, 0};
    struct report *report = report_new(50);
    struct graph *graph = NULL;
    struct weir_error err;
    enum weir_status status;
    int64_t begin_ns;

    if (hard->machine != NULL) {
        machine = hard->machine(n);
    }
    begin_ns = cpu_clock_ns();
    status = graph_read_text(text.bytes, text.length, "bench", report, &graph, &err);
    if (status == WEIR_OK && machine.bytes != NULL) {
        status = graph_overlay_text(graph, machine.bytes, machine.length, "bench", report, &err);
    }
    *read_ns = (double)(cpu_clock_ns() - begin_ns) / n;
    if (status != WEIR_OK && status != WEIR_INPUT) {
        fprintf(stderr, "%s\n", err.text);
        exit((int)status);
    }
    free(text.bytes);
    free(machine.bytes);
    report_free(report);
    return graph; /* NULL when the text has faults, as one of them is meant to */
}

static struct cost measure(const struct hard_text *hard, uint32_t n)
{
    struct cost cost = {0, 0};
    struct graph *graph = read_all(hard, n, &cost.read_ns);
    struct report *report = report_new(50);
    struct binding *binding = NULL;
    struct weir_error err;
    int64_t begin_ns = cpu_clock_ns();

    if (graph != NULL) {
        enum weir_status status = check_graph(graph, report, &binding, &err);

        if (status != WEIR_OK || binding == NULL) {
            fprintf(stderr, "%s: %s\n", hard->name,
                    status != WEIR_OK ? err.text : report_finding(report, 0)->message);
            exit(EXIT_FAILURE);
        }
        cost.check_ns = (double)(cpu_clock_ns() - begin_ns) / n;
    }
    bind_free(binding);
    report_free(report);
    graph_free(graph);
    return cost;
}

static void tell(double ns, double before_ns)
{
    printf(" %9.1f", ns);
    if (before_ns > 0) {
        printf(" %6.2f", ns / before_ns);
    } else {
        printf(" %6s", "-");
    }
}

static void bench(const struct hard_text *hard, const char *const *sizes, int n_sizes)
{
    struct cost before = {0, 0};
    double took_s = 0;

    for (int i = 0; i < n_sizes; i++) {
        uint32_t n = (uint32_t)strtoul(sizes[i], NULL, 10);

        printf("%-32s %8" PRIu32, hard->name, n);
        if (took_s > TOO_LONG_S) {
            printf("   too long\n");
            continue;
        }
        struct cost cost = measure(hard, n);
        tell(cost.read_ns, before.read_ns);
        tell(cost.check_ns, before.check_ns);
        printf("\n");
        (void)fflush(stdout);
        took_s = (cost.read_ns + cost.check_ns) * n / 1e9;
        before = cost;
    }
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"10000", "100000", "1000000"};
    const char *const *sizes = (const char *const *)argv + 1;
    int n_sizes = argc - 1;
    const char *word = "";

    if (n_sizes >= 2 && strcmp(sizes[0], "-m") == 0) {
        word = sizes[1];
        sizes += 2;
        n_sizes -= 2;
    }
    if (n_sizes == 0) {
        sizes = usual;
        n_sizes = 3;
    }
    printf("%-32s %8s %9s %6s %9s %6s\n", "CPU ns for each of N", "N", "read", "growth", "check",
           "growth");
    for (unsigned i = 0; i < n_hard_texts; i++) {
        if (strstr(hard_texts[i].name, word) != NULL) {
            bench(&hard_texts[i], sizes, n_sizes);
        }
    }
    return EXIT_SUCCESS;
}
