/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it costs to simulate a graph and store the run when the graph is stored already: to hash the
 * graph, to simulate it with all details, to store the run (from opening the file to closing it, with
 * what the journal holds brought over). Each in nanoseconds of CPU and of the clock a node, the growth
 * of CPU from the size before, and the ratio to a floor in the same run: as many bare rows as the run
 * has, into a plain table of SQLite. Then what the three take together, in seconds, and what a node
 * weighs: rows of the run, bytes that the file grows by, and memory that storing takes beside what is
 * simulated.
 *
 * make tests/bench/store_bench, then tests/bench/store_bench [NODES ...] [WORD]; 10000 100000 1000000
 * by default; WORD keeps the graphs whose name holds it. Its files lie in the current folder while it
 * runs. Of some rounds the least counts, since what else the machine does only adds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "graph/generate.h"
#include "graph/text.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "store/store.h"
#include "tests/bench/layers.h"
#include "tests/bench/resident.h"
#include "tests/bench/rounds.h"
#include "tests/bench/store_floor.h"

#define STORE "store_bench.db"
#define FLOOR "store_bench_floor.db"
#define WIDTH 32
#define MOST_SIZES 8

struct shape {
    const char *name;
    struct graph *(*make)(uint32_t n_nodes);
};

struct cost {
    double cpu_ns, wall_ns; /* a node */
};

enum step { STEP_FLOOR, STEP_HASH, STEP_SIMULATE, STEP_STORE, STEPS };

static const char *const step_names[STEPS] = {"floor: bare rows", "hash of the graph", "simulate",
                                              "store a further run"};

/* ---- what is measured ---- */

static struct graph *layers_of(uint32_t n_nodes, bool has_bytes)
{
    struct layers layers = layers_make(n_nodes, WIDTH, 1);
    const int64_t tight = (int64_t)WIDTH * 1400000;
    struct graph *graph = layers_graph(
        &layers, &(struct layers_options){has_bytes, has_bytes ? tight : INT64_MAX / 4, 1, false});

    layers_free(&layers);
    return graph;
}

static struct graph *make_edges(uint32_t n_nodes)
{
    return layers_of(n_nodes, false);
}

static struct graph *make_objects(uint32_t n_nodes)
{
    return layers_of(n_nodes, true);
}

static struct graph *make_random(uint32_t n_nodes)
{
    struct generate_random_options options = generate_random_default();
    struct graph *graph = NULL;
    struct weir_error err;

    options.n_nodes = n_nodes;
    must(generate_random(&options, &graph, &err), &err);
    return graph;
}

/* ---- clocks ---- */

static int64_t wall_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int rounds_of(uint32_t n_nodes)
{
    return n_nodes > 3000000 ? 1 : n_nodes > 300000 ? 3 : 5;
}

/* The least of some rounds of work. */
#define LEAST(best, n_nodes, work)                                    \
    do {                                                              \
        for (int round_ = 0; round_ < rounds_of(n_nodes); round_++) { \
            int64_t wall_ = wall_clock_ns(), cpu_ = cpu_clock_ns();   \
            double took_;                                             \
            work;                                                     \
            took_ = (double)(cpu_clock_ns() - cpu_) / (n_nodes);      \
            if (round_ == 0 || took_ < (best).cpu_ns)                 \
                (best).cpu_ns = took_;                                \
            took_ = (double)(wall_clock_ns() - wall_) / (n_nodes);    \
            if (round_ == 0 || took_ < (best).wall_ns)                \
                (best).wall_ns = took_;                               \
        }                                                             \
    } while (0)

/* ---- steps ---- */

static struct plan *plan_it(const struct graph *graph)
{
    struct plan_options options = {0};
    struct report *report = report_new(1);
    struct plan *plan = NULL;
    struct weir_error err;

    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    report_free(report);
    return plan;
}

static void store_it(struct run *run)
{
    struct store *store = NULL;
    struct weir_error err;

    run->plan_hash[0] = '\0';
    must(store_open(STORE, false, &store, &err), &err);
    must(store_write_run(store, run, NULL, 0, &err), &err);
    store_close(store);
}

static void floor_it(int64_t n_rows)
{
    (void)unlink(FLOOR);
    store_floor(FLOOR, n_rows);
}

static int64_t file_bytes(void)
{
    struct stat st;

    return stat(STORE, &st) == 0 ? (int64_t)st.st_size : 0;
}

static void tell(enum step step, uint32_t n_nodes, const struct cost *cost,
                 const struct cost *before, const struct cost *floor)
{
    printf("  %-22s %9" PRIu32 " %8.1f %8.1f", step_names[step], n_nodes, cost->cpu_ns,
           cost->wall_ns);
    if (before->cpu_ns > 0)
        printf(" %7.2f", cost->cpu_ns / before->cpu_ns);
    else
        printf(" %7s", "-");
    printf(" %7.2f\n", cost->cpu_ns / floor->cpu_ns);
}

/* @param before costs at the size before, and then those at this one */
static void bench(const struct shape *shape, uint32_t n_nodes, struct cost before[STEPS])
{
    struct graph *graph = shape->make(n_nodes);
    struct plan *plan = plan_it(graph);
    const struct simulate_options options = simulate_default();
    struct simulate_result result = {.timeline = NULL};
    struct cost cost[STEPS] = {{0, 0}};
    struct run run;
    struct weir_error err;
    char hash[HASH_TEXT_BYTES];
    int64_t n_rows, held, n_bytes, peak;

    LEAST(cost[STEP_SIMULATE], n_nodes, {
        timeline_free(result.timeline);
        free(result.explanation);
        must(simulate(plan, &options, &result, &err), &err);
    });
    LEAST(cost[STEP_HASH], n_nodes, must(graph_hash(graph, hash, &err), &err));
    n_rows = (int64_t)(n_nodes + result.timeline->n_waits + result.timeline->n_pressures +
                       result.timeline->n_holds + result.timeline->n_induced);
    LEAST(cost[STEP_FLOOR], n_nodes, floor_it(n_rows));
    run = (struct run){.kind = RUN_SIM,
                       .graph = plan_graph(plan),
                       .binding = plan_binding(plan),
                       .graph_name = "bench",
                       .policy = "retain",
                       .machine = "",
                       .settings = "{}",
                       .critical_path_ns = -1,
                       .timeline = result.timeline};
    memcpy(run.graph_hash, hash, sizeof hash);
    memcpy(run.ran_hash, hash, sizeof hash);
    (void)unlink(STORE);
    store_it(&run);
    n_bytes = file_bytes();
    held = resident_bytes();
    resident_reset_peak();
    store_it(&run);
    peak = resident_peak_bytes() - held;
    n_bytes = file_bytes() - n_bytes;
    LEAST(cost[STEP_STORE], n_nodes, store_it(&run));
    for (enum step step = STEP_FLOOR; step < STEPS; step++)
        tell(step, n_nodes, &cost[step], &before[step], &cost[STEP_FLOOR]);
    printf("  simulate and store: %.3f s of CPU, %.3f s of the clock\n",
           (cost[STEP_SIMULATE].cpu_ns + cost[STEP_HASH].cpu_ns + cost[STEP_STORE].cpu_ns) *
               n_nodes / 1e9,
           (cost[STEP_SIMULATE].wall_ns + cost[STEP_HASH].wall_ns + cost[STEP_STORE].wall_ns) *
               n_nodes / 1e9);
    printf("  a node: %.2f rows, %.1f bytes of the file, %.1f bytes of memory to store it\n",
           (double)n_rows / n_nodes, (double)n_bytes / n_nodes, (double)peak / n_nodes);
    memcpy(before, cost, sizeof cost);
    timeline_free(result.timeline);
    free(result.explanation);
    plan_free(plan);
    graph_free(graph);
    (void)unlink(STORE);
    (void)unlink(FLOOR);
}

int main(int argc, char **argv)
{
    static const struct shape shapes[] = {
        {"layers of 32 nodes, edges only", make_edges},
        {"layers of 32 nodes, objects in a memory that just holds them", make_objects},
        {"as weir generate random makes it", make_random},
    };
    uint32_t sizes[MOST_SIZES] = {10000, 100000, 1000000}, n_sizes = 0;
    const char *word = "";

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] < '0' || argv[i][0] > '9')
            word = argv[i];
        else if (n_sizes < MOST_SIZES)
            sizes[n_sizes++] = (uint32_t)strtoul(argv[i], NULL, 10);
    }
    n_sizes = n_sizes == 0 ? 3 : n_sizes;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct cost before[STEPS] = {{0, 0}};

        if (strstr(shapes[i].name, word) == NULL)
            continue;
        printf("%s\n  %-22s %9s %8s %8s %7s %7s\n", shapes[i].name, "", "nodes", "CPU ns",
               "wall ns", "growth", "/floor");
        for (uint32_t k = 0; k < n_sizes; k++)
            bench(&shapes[i], sizes[k], before);
    }
    return 0;
}
