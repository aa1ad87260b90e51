/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How planning of storage grows with the buffers: nanoseconds of CPU for each of N, and how many times
 * more that is than at the size before. Where it grows with N, time goes with the square. The lists are
 * of several shapes, some of them made to be hard; the last two are graphs on several queues, which
 * cost the square by design: there N is nodes.
 * Usage: arena_bench [-m WORD] [N ...], 1000 10000 100000 by default; WORD keeps the shapes whose name
 * holds it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/arena_bytes.h"
#include "policies/arena_check.h"
#include "policies/arena_graph.h"
#include "tests/bench/layers.h"
#include "tests/policies/arena_random.h"

#define TOO_LONG_S 10.0 /* of the size before */
#define PARTS 5

static const char *const part_names[PARTS] = {"bound", "best-fit", "greedy", "check", "execute"};

static struct arena_problem drawn(uint32_t n, int64_t n_steps, int64_t longest, bool has_extras)
{
    struct arena_draw draw = {n, n_steps, longest, 1 << 20, has_extras};

    return arena_draw(&draw, 1);
}

static struct arena_problem short_lives(uint32_t n)
{
    return drawn(n, n, 50, false);
}

static struct arena_problem any_lives(uint32_t n)
{
    return drawn(n, n, n, false);
}

static struct arena_problem all_at_once(uint32_t n)
{
    return drawn(n, 1, 1, false);
}

static struct arena_problem with_gaps(uint32_t n)
{
    return drawn(n, n, 500, true);
}

/* Sizes of no order, each on a page of its own: no two are neighbours. */
static struct arena_problem on_pages(uint32_t n)
{
    struct arena_problem problem = drawn(n, n, n, false);

    for (uint32_t i = 0; i < n; i++) {
        problem.buffers[i].align_bytes = i % 2 == 0 ? 4096 : 64;
    }
    return problem;
}

/* A stack: buffer i lives inside of buffer i - 1. */
static struct arena_problem nested(uint32_t n)
{
    struct arena_problem problem = drawn(n, 1, 1, false);

    for (uint32_t i = 0; i < n; i++) {
        problem.buffers[i].lower = i;
        problem.buffers[i].upper = 2 * (int64_t)n - i;
    }
    return problem;
}

/* Every second of a pile of large ones is gone when small ones come, each a little larger than half
 * of a hole: as many holes as buffers, and each too small for a second one. */
static struct arena_problem holes(uint32_t n)
{
    struct arena_problem problem = drawn(n, 1, 1, false);

    for (uint32_t i = 0; i < n; i++) {
        struct arena_buffer *at = &problem.buffers[i];
        bool is_large = i < n / 2;

        at->size_bytes = is_large ? 1000000 + i : 600000 + i;
        at->lower = is_large ? 0 : 1;
        at->upper = is_large && i % 2 == 0 ? 1 : 2;
    }
    return problem;
}

static const struct {
    const char *name;
    struct arena_problem (*make)(uint32_t n);
} shapes[] = {
    {"short lives", short_lives},
    {"lives of any length", any_lives},
    {"all at once", all_at_once},
    {"nested", nested},
    {"gaps and alignments", with_gaps},
    {"pages", on_pages},
    {"holes", holes},
};

static void must(enum weir_status status, const struct weir_error *err)
{
    if (status != WEIR_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit((int)status);
    }
}

static double lap(int64_t *since_ns, uint32_t n)
{
    int64_t now = cpu_clock_ns();
    double each = (double)(now - *since_ns) / n;

    *since_ns = now;
    return each;
}

static void measure(const struct arena_problem *problem, uint32_t n, double cost_ns[PARTS],
                    double ratio[2])
{
    struct arena_execution execution;
    struct arena_plan plan = {0};
    struct weir_error err;
    int64_t since_ns = cpu_clock_ns();

    must(arena_problem_check(problem, &err), &err);
    must(arena_bound(problem, &plan.lower_bound_bytes, &err), &err);
    cost_ns[0] = lap(&since_ns, n);
    for (int i = 0; i < 2; i++) {
        must(arena_plan_make(problem, &arena_methods[i], &plan, &err), &err);
        ratio[i] = (double)plan.peak_bytes / (double)plan.lower_bound_bytes;
        arena_plan_free(&plan);
    }
    plan.offsets_bytes = calloc((size_t)problem->n_buffers + 1, sizeof *plan.offsets_bytes);
    plan.base_align_bytes = 1;
    (void)lap(&since_ns, n);
    must(arena_best_fit(problem, plan.offsets_bytes, &err), &err);
    cost_ns[1] = lap(&since_ns, n);
    must(arena_greedy(problem, plan.offsets_bytes, &err), &err);
    cost_ns[2] = lap(&since_ns, n);
    must(arena_check(problem, plan.offsets_bytes, &err), &err);
    cost_ns[3] = lap(&since_ns, n);
    plan.peak_bytes = INT64_MAX / 4; /* too large to be carried out whole */
    must(arena_execute(problem, &plan, INT64_C(1) << 30, &execution, &err), &err);
    cost_ns[4] = lap(&since_ns, n);
    arena_plan_free(&plan);
}

static double tell(const char *name, uint32_t n, const double cost_ns[PARTS],
                   double before_ns[PARTS], const double ratio[2])
{
    double took_s = 0;

    printf("%-22s %8" PRIu32, name, n);
    for (int i = 0; i < PARTS; i++) {
        printf(" %8.0f", cost_ns[i]);
        if (before_ns[i] > 0)
            printf(" %5.1f", cost_ns[i] / before_ns[i]);
        else
            printf(" %5s", "-");
        took_s += cost_ns[i] * n / 1e9;
        before_ns[i] = cost_ns[i];
    }
    printf("  %.4f %.4f\n", ratio[0], ratio[1]);
    (void)fflush(stdout);
    return took_s;
}

static void bench_shape(size_t shape, const uint32_t *sizes, int n_sizes)
{
    double cost_ns[PARTS], before_ns[PARTS] = {0}, ratio[2], took_s = 0;

    for (int i = 0; i < n_sizes && took_s < TOO_LONG_S; i++) {
        struct arena_problem problem = shapes[shape].make(sizes[i]);

        measure(&problem, sizes[i], cost_ns, ratio);
        took_s = tell(shapes[shape].name, sizes[i], cost_ns, before_ns, ratio);
        arena_problem_free(&problem);
    }
}

/* Layers of nodes, each of which writes an object that the next layer reads: happens-before. */
static void bench_graph(const char *name, uint32_t width, const uint32_t *sizes, int n_sizes)
{
    double cost_ns[PARTS], before_ns[PARTS] = {0}, ratio[2], took_s = 0, before_order_ns = 0;

    for (int i = 0; i < n_sizes && took_s < TOO_LONG_S; i++) {
        struct layers layers = layers_make(sizes[i], width, 1);
        struct layers_options options = {true, INT64_MAX / 2, 1, false};
        struct graph *graph = layers_graph(&layers, &options);
        struct report *report = report_new(50);
        struct arena_source source = {{0}, ARENA_QUEUES_SEVERAL};
        struct arena_problem problem;
        struct arena_left_out left_out;
        struct binding *binding;
        struct weir_error err;
        int64_t since_ns;
        double order_ns;

        must(bind_graph(graph, report, &binding, &err), &err);
        since_ns = cpu_clock_ns();
        must(arena_from_graph(binding, &source, &problem, &left_out, &err), &err);
        order_ns = lap(&since_ns, sizes[i]);
        measure(&problem, sizes[i], cost_ns, ratio);
        took_s = tell(name, sizes[i], cost_ns, before_ns, ratio) + order_ns * sizes[i] / 1e9;
        printf("%-22s %8s %8.0f %5.1f ns for the order\n", "", "", order_ns,
               before_order_ns > 0 ? order_ns / before_order_ns : 0);
        before_order_ns = order_ns;
        arena_problem_free(&problem);
        bind_free(binding);
        report_free(report);
        graph_free(graph);
        layers_free(&layers);
    }
}

int main(int argc, char **argv)
{
    uint32_t sizes[16] = {1000, 10000, 100000};
    const char *word = "";
    int first = 1, n_sizes = 3;

    if (argc >= 3 && strcmp(argv[1], "-m") == 0) {
        word = argv[2];
        first = 3;
    }
    for (int i = first; i < argc && i - first < 16; i++) {
        sizes[i - first] = (uint32_t)strtoul(argv[i], NULL, 10);
        n_sizes = i - first + 1;
    }
    printf("%-22s %8s", "CPU ns for each of N", "N");
    for (int i = 0; i < PARTS; i++)
        printf(" %8s %5s", part_names[i], "grows");
    printf("  peak over bound: best-fit, greedy\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strstr(shapes[i].name, word) != NULL)
            bench_shape(i, sizes, n_sizes);
    }
    if (strstr("queues, narrow", word) != NULL)
        bench_graph("queues, narrow", 16, sizes, n_sizes);
    if (strstr("queues, wide", word) != NULL)
        bench_graph("queues, wide", 1000, sizes, n_sizes);
    return EXIT_SUCCESS;
}
