/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How planning of storage grows with the buffers: nanoseconds of CPU for each of N, and how many times
 * more that is than at the size before; beside the greedy method what it costs to compare each buffer with
 * all that is placed below it, which has to give the same offsets, up to 20000 buffers without gaps. Where it grows with N, time goes with the square. The lists are
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
#include "tests/bench/rounds.h"
#include "tests/policies/arena_random.h"

#define TOO_LONG_S 10.0 /* of the size before */
#define PARTS 6
#define MOST_PLAIN 20000 /* buffers */

static const char *const part_names[PARTS] = {"bound", "best-fit", "greedy",
                                              "plain", "check",    "execute"};

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

/* --- greedy by comparing with each --- */

struct turn {
    int64_t bytes, life, lower;
    uint32_t buffer;
};

/* What is fixed is not drawn here. */
static int turn_compare(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->life != y->life)
        return x->life > y->life ? -1 : 1;
    if (x->lower != y->lower)
        return x->lower < y->lower ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static bool has_gaps(const struct arena_problem *problem)
{
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (problem->buffers[i].n_gaps > 0)
            return true;
    }
    return false;
}

static int64_t plain_lowest(const struct arena_problem *problem, uint32_t buffer,
                            const uint32_t *placed, uint32_t n_placed, const int64_t *offsets)
{
    const struct arena_buffer *at = &problem->buffers[buffer];
    int64_t offset = 0;

    for (uint32_t i = 0; i < n_placed && offsets[placed[i]] < offset + at->size_bytes; i++) {
        int64_t end = offsets[placed[i]] + problem->buffers[placed[i]].size_bytes;

        if (end > offset && arena_conflict(problem, buffer, placed[i]))
            offset = arena_align(end, at->align_bytes);
    }
    return offset;
}

static void plain(const struct arena_problem *problem, int64_t *offsets)
{
    uint32_t n = problem->n_buffers, n_placed = 0;
    struct turn *turns = malloc(((size_t)n + 1) * sizeof *turns);
    uint32_t *placed = malloc(((size_t)n + 1) * sizeof *placed);

    if (turns == NULL || placed == NULL)
        exit(7);
    for (uint32_t i = 0; i < n; i++) {
        const struct arena_buffer *at = &problem->buffers[i];

        turns[i] = (struct turn){at->size_bytes, at->upper - at->lower, at->lower, i};
    }
    qsort(turns, n, sizeof *turns, turn_compare);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t buffer = turns[i].buffer, at = n_placed;

        offsets[buffer] = 0;
        if (problem->buffers[buffer].size_bytes == 0)
            continue;
        offsets[buffer] = plain_lowest(problem, buffer, placed, n_placed, offsets);
        for (; at > 0 && offsets[placed[at - 1]] > offsets[buffer]; at--)
            placed[at] = placed[at - 1];
        placed[at] = buffer;
        n_placed++;
    }
    free(turns);
    free(placed);
}

/* @return nanoseconds for each; 0 where it is not tried */
static double compare_plain(const struct arena_problem *problem, const int64_t *offsets)
{
    int64_t *others = calloc((size_t)problem->n_buffers + 1, sizeof *others);
    int64_t begin_ns = cpu_clock_ns();

    if (others == NULL)
        exit(7);
    if (problem->n_buffers > MOST_PLAIN || has_gaps(problem)) {
        free(others);
        return 0;
    }
    plain(problem, others);
    begin_ns = cpu_clock_ns() - begin_ns;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (others[i] != offsets[i]) {
            fprintf(stderr,
                    "buffer %" PRIu32 ": greedy says %" PRId64 ", plainly it is %" PRId64 "\n", i,
                    offsets[i], others[i]);
            exit(EXIT_FAILURE);
        }
    }
    free(others);
    return (double)begin_ns / problem->n_buffers;
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
    cost_ns[3] = compare_plain(problem, plan.offsets_bytes) * problem->n_buffers / n;
    (void)lap(&since_ns, n);
    must(arena_check(problem, plan.offsets_bytes, &err), &err);
    cost_ns[4] = lap(&since_ns, n);
    plan.peak_bytes = INT64_MAX / 4; /* too large to be carried out whole */
    must(arena_execute(problem, &plan, INT64_C(1) << 30, &execution, &err), &err);
    cost_ns[5] = lap(&since_ns, n);
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
