/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the host device itself costs an action, beside a floor in the same run. Every chain is of
 * actions that do nothing, or next to nothing, so that all the time that it takes is overhead.
 *
 *     one queue     actions one after another on one thread
 *     hand-over     each action on the other of two threads than the one before, which it waits for
 *     no queue      actions that the thread runs which ends what they wait for
 *     paced         each is due 20 us after the one before: how late it begins
 *
 * "timed" actions do one iteration of arithmetic, and the processor time of each is measured, as in a
 * replay; the others are marks. The floor of a chain on one thread reads the clock twice an action,
 * and the thread's processor clock twice more where the action is timed; that of a hand-over passes a
 * word between two threads that spin, and reads the clock twice.
 *
 * usage: replay_overhead [ACTIONS [REPEATS]] (20000, 15); the figures are those of the fastest repeat
 * and of the median one. Run it on an idle machine: a hand-over needs two processors. The last line
 * says for which part of the floor's time this program had its processor: well below 100 %, the
 * figures are those of a machine that does something else. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/host.h"
#include "replay/device.h"

#define LIMIT_NS 2000
#define PACE_NS 20000

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static volatile double sink;
static volatile int64_t stamps;

/* ---- floors ---- */

/* Of the floors on one thread. */
static int64_t had_ns, passed_ns;

static int64_t floor_one_thread(uint32_t n, bool is_timed)
{
    int64_t had_from_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t from_ns = now_ns(CLOCK_MONOTONIC), took_ns;

    for (uint32_t i = 0; i < n; i++) {
        stamps = now_ns(CLOCK_MONOTONIC);
        if (is_timed) {
            stamps = now_ns(CLOCK_THREAD_CPUTIME_ID);
            sink = kernel_fma(1, 1.0 + (double)(i & 7));
            stamps = now_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        stamps = now_ns(CLOCK_MONOTONIC);
    }
    took_ns = now_ns(CLOCK_MONOTONIC) - from_ns;
    had_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - had_from_ns;
    passed_ns += took_ns;
    return took_ns;
}

struct ball {
    _Alignas(64) _Atomic uint32_t at;
    _Alignas(64) uint32_t n;
    bool is_timed;
};

/* Takes every second turn. */
static void play(struct ball *ball, uint32_t first)
{
    for (uint32_t i = first; i < ball->n; i += 2) {
        while (atomic_load(&ball->at) != i) {
        }
        stamps = now_ns(CLOCK_MONOTONIC);
        if (ball->is_timed) {
            stamps = now_ns(CLOCK_THREAD_CPUTIME_ID);
            sink = kernel_fma(1, 1.0 + (double)(i & 7));
            stamps = now_ns(CLOCK_THREAD_CPUTIME_ID);
        }
        stamps = now_ns(CLOCK_MONOTONIC);
        atomic_store(&ball->at, i + 1);
    }
}

static void *play_second(void *ball)
{
    play(ball, 1);
    return NULL;
}

static int64_t floor_hand_over(uint32_t n, bool is_timed)
{
    struct ball ball = {.n = n, .is_timed = is_timed};
    pthread_t second;
    int64_t from_ns;

    if (pthread_create(&second, NULL, play_second, &ball) != 0)
        return -1;
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    from_ns = now_ns(CLOCK_MONOTONIC);
    play(&ball, 0);
    (void)pthread_join(second, NULL);
    return now_ns(CLOCK_MONOTONIC) - from_ns;
}

/* ---- chains on the device ---- */

struct chain {
    const char *name;
    uint32_t n_queues; /* 0: no queue */
    bool is_timed, is_paced;
    int64_t (*floor)(uint32_t n, bool is_timed);
};

static enum weir_status submit_chain(struct device *device, const struct chain *chain, uint32_t n,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n && status == WEIR_OK; i++) {
        const struct step_wait before = {.step = i - 1, .lag_ns = chain->is_paced ? PACE_NS : 0};
        const struct step step = {
            .node = {i},
            .queue = chain->n_queues == 0 ? STEP_NO_QUEUE : i % chain->n_queues,
            .action = chain->is_timed ? STEP_COMPUTE : STEP_MARK,
            .amount = chain->is_timed ? 1 : 0,
            .waits = &before,
            .n_waits = i > 0 && (chain->n_queues != 1 || chain->is_paced),
        };
        struct mechanism how;

        status = device->ops->submit(device, &step, &how, err);
    }
    return status;
}

/* From the first start to the last finish; for a paced chain without what the plan has. */
static double per_action(const struct chain *chain, const struct timeline *timeline, uint32_t n)
{
    double all_ns = (double)(timeline->spans[n - 1].finish_ns - timeline->spans[0].start_ns);

    return chain->is_paced ? all_ns / (double)(n - 1) - PACE_NS : all_ns / (double)n;
}

static int compare_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static enum weir_status measure(const struct device_ops *ops, const struct chain *chain, uint32_t n,
                                uint32_t n_repeats, double *costs_ns, double *floors_ns,
                                struct weir_error *err)
{
    const struct device_setup setup = {.n_queues = chain->n_queues,
                                       .n_steps = n,
                                       .deadline_ns = 60000000000,
                                       .memory_bytes = 1 << 20};
    struct timeline *timeline = timeline_new(n, 1);
    struct device *device = NULL;
    enum weir_status status =
        timeline == NULL ? weir_error_memory(err) : ops->open(&setup, &device, err);

    if (status == WEIR_OK)
        status = submit_chain(device, chain, n, err);
    for (uint32_t i = 0; i < n_repeats && status == WEIR_OK; i++) {
        status = ops->drain(device, timeline, err);
        if (status == WEIR_OK)
            costs_ns[i] = per_action(chain, timeline, n);
        floors_ns[i] =
            chain->floor == NULL ? 0 : (double)chain->floor(n, chain->is_timed) / (double)n;
    }
    if (device != NULL)
        ops->close(device);
    timeline_free(timeline);
    return status;
}

static void tell(const struct chain *chain, const double *costs_ns, const double *floors_ns,
                 uint32_t n_repeats)
{
    double floor_ns = floors_ns[0];

    printf("%-10s %-6s %9.0f %9.0f", chain->name, chain->is_timed ? "timed" : "mark", costs_ns[0],
           costs_ns[n_repeats / 2]);
    if (floor_ns > 0)
        printf(" %9.0f %7.1f", floor_ns, costs_ns[0] / floor_ns);
    else
        printf(" %9s %7s", "-", "-");
    printf("   %s\n", costs_ns[0] <= LIMIT_NS ? "within 2 us" : "MORE THAN 2 us");
}

int main(int argc, char **argv)
{
    static const struct chain chains[] = {
        {"one queue", 1, false, false, floor_one_thread},
        {"one queue", 1, true, false, floor_one_thread},
        {"no queue", 0, false, false, floor_one_thread},
        {"hand-over", 2, false, false, floor_hand_over},
        {"hand-over", 2, true, false, floor_hand_over},
        {"paced", 1, false, true, NULL},
    };
    long n_given = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    long n_repeats_given = argc > 2 ? strtol(argv[2], NULL, 10) : 15;
    uint32_t n = (uint32_t)n_given, n_repeats = (uint32_t)n_repeats_given;
    const struct device_ops *ops;
    struct weir_error err;
    double *costs_ns, *floors_ns;

    if (n_given < 2 || n_given > 10000000 || n_repeats_given < 1 || n_repeats_given > 10000)
        return EXIT_FAILURE;
    costs_ns = calloc(n_repeats, sizeof *costs_ns);
    floors_ns = calloc(n_repeats, sizeof *floors_ns);
    if (costs_ns == NULL || floors_ns == NULL || device_find("host", &ops, &err) != WEIR_OK)
        return EXIT_FAILURE;
    printf("nanoseconds an action, %" PRIu32 " actions, %" PRIu32 " repeats\n", n, n_repeats);
    printf("%-10s %-6s %9s %9s %9s %7s\n", "chain", "action", "fastest", "median", "floor",
           "ratio");
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        uint32_t n_here = chains[i].is_paced && n > 2000 ? 2000 : n;

        if (measure(ops, &chains[i], n_here, n_repeats, costs_ns, floors_ns, &err) != WEIR_OK) {
            fprintf(stderr, "%s\n", err.text);
            return EXIT_FAILURE;
        }
        qsort(costs_ns, n_repeats, sizeof *costs_ns, compare_numbers);
        qsort(floors_ns, n_repeats, sizeof *floors_ns, compare_numbers);
        tell(&chains[i], costs_ns, floors_ns, n_repeats);
    }
    printf("this program had its processor for %.1f %% of the floor's time\n",
           100 * (double)had_ns / (double)passed_ns);
    free(costs_ns);
    free(floors_ns);
    return EXIT_SUCCESS;
}
