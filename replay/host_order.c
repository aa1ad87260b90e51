/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order between steps: each counts those that wait for it down when it starts and when it finishes.
 * The lists of who waits for whom are made once; a run changes only counts and times. */
#include <string.h>

#include "replay/host_internal.h"

/* Steps without a queue that this thread is to run, in the order in which they became ready. */
struct ready_list {
    uint32_t first, last; /* WEIR_NONE: empty */
};

static enum weir_status seal_fault(const struct host *host, uint32_t step, uint32_t wait,
                                   struct weir_error *err)
{
    char name[160];

    return weir_error_set(err, WEIR_INPUT,
                          "%s waits for step %u of %u; a step waits for other steps of its run",
                          host_step_name(host, step, name, sizeof name),
                          host->steps[step].given.waits[wait].step, host->n_submitted);
}

/* Counts who waits for each step into first_next, one place further on. */
static enum weir_status count_next(struct host *host, size_t *n_next, struct weir_error *err)
{
    *n_next = 0;
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        const struct step *step = &host->steps[i].given;

        for (uint32_t w = 0; w < step->n_waits; w++) {
            if (step->waits[w].step >= host->n_submitted || step->waits[w].step == i)
                return seal_fault(host, i, w, err);
            host->steps[step->waits[w].step + 1].first_next++;
            ++*n_next;
        }
    }
    if (*n_next >= WEIR_NONE)
        return weir_error_set(err, WEIR_INPUT,
                              "the plan has %zu waits; a host replay takes up to %u", *n_next,
                              WEIR_NONE - 1);
    return WEIR_OK;
}

enum weir_status host_order_seal(struct host *host, struct weir_error *err)
{
    size_t n_next;
    enum weir_status status = count_next(host, &n_next, err);
    uint32_t *at;

    if (status != WEIR_OK)
        return status;
    host->next = arena_array(&host->arena, n_next, sizeof *host->next);
    at = arena_array(&host->arena, host->n_submitted, sizeof *at);
    if (host->next == NULL || at == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 1; i <= host->n_submitted; i++)
        host->steps[i].first_next += host->steps[i - 1].first_next;
    for (uint32_t i = 0; i < host->n_submitted; i++)
        at[i] = host->steps[i].first_next;
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        const struct step *step = &host->steps[i].given;

        for (uint32_t w = 0; w < step->n_waits; w++) {
            const struct step_wait *wait = &step->waits[w];

            host->next[at[wait->step]++] = (struct host_next){
                .step = i, .is_from_start = wait->is_from_start, .lag_ns = wait->lag_ns};
            if (wait->is_from_start)
                host->steps[wait->step].has_from_start = true;
        }
    }
    return WEIR_OK;
}

void host_order_reset(struct host *host)
{
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        struct host_step *step = &host->steps[i];

        atomic_store(&step->n_pending, step->given.n_waits);
        atomic_store(&step->not_before_ns, step->given.release_ns);
        step->submit_ns = -1;
        step->start_ns = -1;
        step->finish_ns = -1;
        step->processor_ns = -1;
    }
    atomic_store(&host->n_left, host->n_submitted);
    atomic_store(&host->n_busy, 0);
    atomic_store(&host->crowded_ns, INT64_MIN);
}

static void list_add(struct host *host, struct ready_list *list, uint32_t step)
{
    host->steps[step].after = WEIR_NONE;
    if (list->first == WEIR_NONE)
        list->first = step;
    else
        host->steps[list->last].after = step;
    list->last = step;
}

static void raise_not_before(struct host_step *step, int64_t ns)
{
    int64_t known = atomic_load(&step->not_before_ns);

    while (known < ns && !atomic_compare_exchange_weak(&step->not_before_ns, &known, ns)) {
    }
}

static int64_t later(int64_t ns, int64_t lag_ns)
{
    int64_t sum;

    return __builtin_add_overflow(ns, lag_ns, &sum) || sum > HOST_LATEST_NS ? HOST_LATEST_NS : sum;
}

/* Counts down those that wait for the step's start, or for its finish. What becomes ready without a
 * queue goes on the list; a queue that sleeps for it is woken. */
static void count_down(struct host *host, uint32_t step, bool is_start, int64_t at_ns,
                       struct ready_list *list)
{
    uint32_t end = host->steps[step + 1].first_next;

    for (uint32_t i = host->steps[step].first_next; i < end; i++) {
        const struct host_next *next = &host->next[i];
        struct host_step *target = &host->steps[next->step];

        if (next->is_from_start != is_start)
            continue;
        raise_not_before(target, later(at_ns, next->lag_ns));
        if (atomic_fetch_sub(&target->n_pending, 1) != 1)
            continue;
        if (target->given.queue == STEP_NO_QUEUE)
            list_add(host, list, next->step);
        else
            host_queue_notify(host, next->step);
    }
}

/* The last touch of a step: when none is left, the draining thread may begin the next run. */
static void count_finished(struct host *host)
{
    if (atomic_fetch_sub(&host->n_left, 1) != 1)
        return;
    (void)pthread_mutex_lock(&host->lock);
    (void)pthread_cond_signal(&host->wake);
    (void)pthread_mutex_unlock(&host->lock);
}

static void run_list(struct host *host, struct ready_list *list, struct host_places *places)
{
    while (list->first != WEIR_NONE && !atomic_load(&host->is_stopped)) {
        uint32_t index = list->first;
        struct host_step *step = &host->steps[index];
        int64_t due_ns = atomic_load(&step->not_before_ns);

        list->first = step->after;
        if (step->given.action != STEP_PASS)
            step->submit_ns = host_now_ns(host);
        if (step->given.action == STEP_PASS) {
            host_pass(host, index);
            count_down(host, index, true, due_ns, list);
            count_down(host, index, false, due_ns, list);
        } else if (due_ns > step->submit_ns) {
            host_timer_add(host, index, due_ns);
            continue;
        } else {
            host_work(host, index, places);
            count_down(host, index, false, step->finish_ns, list);
        }
        count_finished(host);
    }
}

void host_order_started(struct host *host, uint32_t step)
{
    struct ready_list list = {WEIR_NONE, WEIR_NONE};

    count_down(host, step, true, host->steps[step].start_ns, &list);
    while (list.first != WEIR_NONE) {
        uint32_t ready = list.first;

        list.first = host->steps[ready].after;
        host_timer_add(host, ready, atomic_load(&host->steps[ready].not_before_ns));
    }
}

void host_order_finished(struct host *host, uint32_t step, struct host_places *places)
{
    struct ready_list list = {WEIR_NONE, WEIR_NONE};

    count_down(host, step, false, host->steps[step].finish_ns, &list);
    run_list(host, &list, places);
    count_finished(host);
}

void host_order_run(struct host *host, uint32_t step, struct host_places *places)
{
    struct ready_list list = {WEIR_NONE, WEIR_NONE};

    list_add(host, &list, step);
    run_list(host, &list, places);
}
