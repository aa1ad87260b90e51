/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues whose mean wait is known in closed form, built as graphs: each customer is a node whose release
 * is its arrival, the servers are the slots of one engine. The waits that come out must be those of the
 * recursion that defines the queue, to the nanosecond, and their mean that of the theory within the
 * sampling error:
 *
 *     M/D/1   W = rho / (2 mu (1 - rho))     Pollaczek 1930, Khinchine 1932
 *     M/M/1   W = rho / (mu (1 - rho))
 *     M/M/2   W = C(2, a) / (2 mu - lambda)  Erlang 1917; a = lambda / mu, rho = a / 2,
 *             C(2, a) = a^2 / (2 (1 - rho)) / (1 + a + a^2 / (2 (1 - rho)))
 *
 * Waits that follow each other are alike, and at high load a queue remembers thousands of customers; so
 * the error comes from the means of runs that share nothing. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/suite.h"

#define SERVICE_NS 1000000.0 /* the mean */
#define WARM_UP 5000         /* customers that find the queue emptier than it mostly is */
#define COUNTED 100000
#define CUSTOMERS (WARM_UP + COUNTED)
#define RUNS 16

enum service { FIXED, EXPONENTIAL };

struct queue {
    const char *name;
    enum service service;
    int n_servers;
    double load;
};

static const struct queue queues[] = {
    {"M/D/1", FIXED, 1, 0.5},       {"M/D/1", FIXED, 1, 0.8},       {"M/D/1", FIXED, 1, 0.9},
    {"M/M/1", EXPONENTIAL, 1, 0.5}, {"M/M/1", EXPONENTIAL, 1, 0.8}, {"M/M/1", EXPONENTIAL, 1, 0.9},
    {"M/M/2", EXPONENTIAL, 2, 0.5}, {"M/M/2", EXPONENTIAL, 2, 0.8}, {"M/M/2", EXPONENTIAL, 2, 0.9},
};

struct customers {
    int64_t arrival_ns[CUSTOMERS], service_ns[CUSTOMERS], wait_ns[CUSTOMERS];
};

static int64_t exponential(struct random_stream *random, double mean_ns)
{
    return (int64_t)llround(-mean_ns * log(1 - random_unit(random)));
}

static void draw(const struct queue *queue, uint64_t run, struct customers *customers)
{
    double gap_ns = SERVICE_NS / queue->load / queue->n_servers;
    struct random_stream random;
    int64_t now_ns = 0;

    random_seed(&random, 1, run);
    for (int i = 0; i < CUSTOMERS; i++) {
        now_ns += exponential(&random, gap_ns);
        customers->arrival_ns[i] = now_ns;
        customers->service_ns[i] =
            queue->service == FIXED ? (int64_t)SERVICE_NS : exponential(&random, SERVICE_NS);
    }
}

/* What the recursion says: who comes takes the server that is free first (Kiefer and Wolfowitz 1955;
 * with one server, Lindley 1952). */
static void wait_by_recursion(const struct queue *queue, struct customers *customers)
{
    int64_t free_ns[2] = {0, 0};

    for (int i = 0; i < CUSTOMERS; i++) {
        int server = queue->n_servers == 2 && free_ns[1] < free_ns[0] ? 1 : 0;
        int64_t start_ns = customers->arrival_ns[i];

        start_ns = free_ns[server] > start_ns ? free_ns[server] : start_ns;
        customers->wait_ns[i] = start_ns - customers->arrival_ns[i];
        free_ns[server] = start_ns + customers->service_ns[i];
    }
}

/* An assertion a customer would take longer than all the rest. */
static void must(enum weir_status status, const struct weir_error *err)
{
    if (status != WEIR_OK) {
        ck_abort_msg("%s", err->text);
    }
}

static struct graph *build(const struct queue *queue, const struct customers *customers)
{
    struct graph *graph = graph_new();
    struct graph_engine engine = graph_engine_default;
    weir_engine servers;
    struct weir_error err;

    ck_assert_ptr_nonnull(graph);
    engine.slots = queue->n_servers;
    must(graph_intern_text(graph, "servers", &engine.name, &err), &err);
    must(graph_add_engine(graph, &engine, &servers, &err), &err);
    for (int i = 0; i < CUSTOMERS; i++) {
        struct graph_node node = graph_node_default;
        weir_node id;
        char name[32];

        (void)snprintf(name, sizeof name, "c%d", i);
        must(graph_intern_text(graph, name, &node.name, &err), &err);
        node.kind = NODE_COMPUTE;
        node.engine = servers;
        node.release_ns = customers->arrival_ns[i];
        node.has_duration = true;
        node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &customers->service_ns[i], 1};
        must(graph_add_node(graph, &node, &id, &err), &err);
    }
    return graph;
}

/* Replaces the waits by those of the simulator, which must be the same. */
static void wait_by_simulation(const struct graph *graph, struct customers *customers)
{
    struct plan_options options = {.seed = 0};
    struct simulate_options how = simulate_default();
    struct simulate_result result;
    struct report *report = report_new(0);
    struct plan *plan;
    struct weir_error err;

    how.keeps_details = false;
    must(policy_find("retain", &options.policy, &err), &err);
    must(plan_make(graph, &options, report, &plan, &err), &err);
    must(simulate(plan, &how, &result, &err), &err);
    for (int i = 0; i < CUSTOMERS; i++) {
        const struct timeline_span *span = &result.timeline->spans[i];

        if (span->ready_ns != customers->arrival_ns[i] ||
            span->start_ns - span->ready_ns != customers->wait_ns[i]) {
            ck_abort_msg("customer %d comes at %lld and waits %lld ns; the recursion says %lld and "
                         "%lld ns",
                         i, (long long)span->ready_ns, (long long)(span->start_ns - span->ready_ns),
                         (long long)customers->arrival_ns[i], (long long)customers->wait_ns[i]);
        }
        customers->wait_ns[i] = span->start_ns - span->ready_ns;
    }
    timeline_free(result.timeline);
    free(result.explanation);
    plan_free(plan);
    report_free(report);
}

static double mean_wait_ns(const struct customers *customers)
{
    double sum = 0;

    for (int i = WARM_UP; i < CUSTOMERS; i++) {
        sum += (double)customers->wait_ns[i];
    }
    return sum / COUNTED;
}

static double run_ns(const struct queue *queue, uint64_t run)
{
    struct customers *customers = malloc(sizeof *customers);
    struct graph *graph;
    double mean_ns;

    if (customers == NULL) {
        ck_abort_msg("out of memory");
    }
    draw(queue, run, customers);
    wait_by_recursion(queue, customers);
    graph = build(queue, customers);
    wait_by_simulation(graph, customers);
    mean_ns = mean_wait_ns(customers);
    graph_free(graph);
    free(customers);
    return mean_ns;
}

static double theory_ns(const struct queue *queue)
{
    double rho = queue->load, a = 2 * rho, waiting = a * a / (2 * (1 - rho));

    if (queue->n_servers == 2) {
        return waiting / (1 + a + waiting) * SERVICE_NS / (2 * (1 - rho));
    }
    return rho / (1 - rho) * SERVICE_NS * (queue->service == FIXED ? 0.5 : 1);
}

START_TEST(test_mean_wait)
{
    const struct queue *queue = &queues[_i];
    double sum = 0, squares = 0, mean_ns, error_ns, expected_ns = theory_ns(queue);

    for (int i = 0; i < RUNS; i++) {
        double run_mean_ns = run_ns(queue, (uint64_t)(_i * RUNS + i));

        sum += run_mean_ns;
        squares += run_mean_ns * run_mean_ns;
    }
    mean_ns = sum / RUNS;
    error_ns = sqrt((squares / RUNS - mean_ns * mean_ns) / (RUNS - 1));
    printf("# %s at load %.1f: mean wait %.4f ms, theory %.4f ms, standard error %.4f ms\n",
           queue->name, queue->load, mean_ns / 1e6, expected_ns / 1e6, error_ns / 1e6);
    (void)fflush(stdout);
    ck_assert_double_le(fabs(mean_ns - expected_ns), 4 * error_ns);
    ck_assert_double_le(error_ns, 0.02 * expected_ns); /* else it would prove little */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queueing");
    TCase *tests = tcase_create("queueing");

    tcase_add_loop_test(tests, test_mean_wait, 0,
                        n_inputs((int)(sizeof queues / sizeof *queues), 1));
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
