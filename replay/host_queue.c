/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the host device, and how they wait. A thread whose turn has not come spins while a
 * processor is idle (a hand-over then costs about a microsecond), and sleeps when none is, or when
 * it has spun for long: threads that work never share their processors with threads that wait. */
#include <errno.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/ending.h"
#include "replay/host_internal.h"

#define SPIN_NS 20000000     /* at most, for one wait */
#define SPIN_ROUNDS 32       /* between two looks at the clock */
#define LOST_NS 50000        /* between two looks: this thread was not running */
#define CROWDED_NS 100000000 /* how long nobody spins then */
#define WAKE_NS 80000   /* a sleeping thread is awake this long after it was due at the latest */
#define START_NS 300000 /* from waking the threads to the beginning of the run */
#define GRACE_NS 5000000000 /* for threads to leave a run that was stopped */
#define LONGEST_SLEEP_NS 1000000000

int64_t host_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t host_now_ns(const struct host *host)
{
    return host_clock_ns() - host->begin_ns;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- spinning ---- */

static bool spin_begin(struct host *host)
{
    if (atomic_load(&host->crowded_ns) > host_now_ns(host))
        return false;
    if (atomic_fetch_add(&host->n_busy, 1) < (int)host->n_processors)
        return true;
    (void)atomic_fetch_sub(&host->n_busy, 1);
    return false;
}

/* Spins on: no thread that works or was woken needs this processor, and no other program does.
 * *seen_ns is when this thread last looked, and becomes now. */
static bool spin_may_go_on(struct host *host, int64_t *seen_ns)
{
    int64_t now_ns = host_now_ns(host);
    bool is_lost = now_ns - *seen_ns > LOST_NS;

    *seen_ns = now_ns;
    if (is_lost)
        atomic_store(&host->crowded_ns, now_ns + CROWDED_NS);
    return !is_lost && atomic_load(&host->n_busy) <= (int)host->n_processors &&
           !atomic_load(&host->is_stopped);
}

static void spin_until_ready(struct host *host, struct host_step *step)
{
    int64_t seen_ns = host_now_ns(host);
    int64_t until_ns = seen_ns + SPIN_NS;

    if (!spin_begin(host))
        return;
    do {
        for (int i = 0; i < SPIN_ROUNDS && atomic_load(&step->n_pending) != 0; i++)
            relax();
    } while (atomic_load(&step->n_pending) != 0 && spin_may_go_on(host, &seen_ns) &&
             seen_ns < until_ns);
    (void)atomic_fetch_sub(&host->n_busy, 1);
}

static void spin_until(struct host *host, int64_t due_ns)
{
    int64_t seen_ns = host_now_ns(host);

    if (!spin_begin(host))
        return;
    while (seen_ns < due_ns && spin_may_go_on(host, &seen_ns))
        relax();
    (void)atomic_fetch_sub(&host->n_busy, 1);
}

/* ---- sleeping ---- */

static struct timespec clock_time(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

/* Sleeps until that long after the run began, a signal, or at most a second. */
static void sleep_until(struct host *host, pthread_cond_t *wake, pthread_mutex_t *lock,
                        int64_t until_ns)
{
    int64_t now_ns = host_now_ns(host);
    struct timespec until;

    if (until_ns - now_ns > LONGEST_SLEEP_NS)
        until_ns = now_ns + LONGEST_SLEEP_NS;
    until = clock_time(host->begin_ns + until_ns);
    (void)pthread_cond_timedwait(wake, lock, &until);
}

static void sleep_until_ready(struct host_queue *queue, uint32_t index)
{
    struct host *host = queue->host;
    struct host_step *step = &host->steps[index];

    (void)pthread_mutex_lock(&queue->lock);
    /* Whoever makes the step ready looks at asleep_for after it counted down, and this thread at
     * the count after it set asleep_for: one of the two sees the other. */
    atomic_store(&queue->asleep_for, index);
    while (atomic_load(&step->n_pending) != 0 && !atomic_load(&host->is_stopped))
        (void)pthread_cond_wait(&queue->wake, &queue->lock);
    if (atomic_exchange(&queue->asleep_for, WEIR_NONE) == WEIR_NONE)
        (void)atomic_fetch_sub(&host->n_busy, 1); /* it was counted by who woke it */
    (void)pthread_mutex_unlock(&queue->lock);
}

static void wait_until_due(struct host_queue *queue, int64_t due_ns)
{
    struct host *host = queue->host;

    while (host_now_ns(host) < due_ns && !atomic_load(&host->is_stopped)) {
        if (due_ns - host_now_ns(host) <= WAKE_NS)
            spin_until(host, due_ns);
        if (host_now_ns(host) >= due_ns)
            break;
        (void)pthread_mutex_lock(&queue->lock);
        if (!atomic_load(&host->is_stopped)) {
            int64_t early_ns = due_ns - host_now_ns(host) > WAKE_NS ? WAKE_NS : 0;

            sleep_until(host, &queue->wake, &queue->lock, due_ns - early_ns);
        }
        (void)pthread_mutex_unlock(&queue->lock);
    }
}

void host_queue_notify(struct host *host, uint32_t step)
{
    struct host_queue *queue = &host->queues[host->steps[step].given.queue];

    /* Counted as busy at once, it has a processor to wake on: threads that spin make room. */
    if (atomic_load(&queue->asleep_for) != step ||
        !atomic_compare_exchange_strong(&queue->asleep_for, &step, WEIR_NONE))
        return;
    (void)atomic_fetch_add(&host->n_busy, 1);
    (void)pthread_mutex_lock(&queue->lock);
    (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
}

void host_wake_all(struct host *host)
{
    for (uint32_t q = 0; q < host->setup.n_queues; q++) {
        if (!host->queues[q].is_running)
            continue;
        (void)pthread_mutex_lock(&host->queues[q].lock);
        (void)pthread_cond_broadcast(&host->queues[q].wake);
        (void)pthread_mutex_unlock(&host->queues[q].lock);
    }
    (void)pthread_mutex_lock(&host->lock);
    (void)pthread_cond_broadcast(&host->wake);
    (void)pthread_mutex_unlock(&host->lock);
}

/* ---- a queue's thread ---- */

/* Runs the queue's steps, in order, until the run is stopped. */
static void run_steps(struct host_queue *queue)
{
    struct host *host = queue->host;

    for (uint32_t i = 0; i < queue->n_steps; i++) {
        uint32_t index = queue->steps[i];
        struct host_step *step = &host->steps[index];
        int64_t due_ns;

        step->submit_ns = host_now_ns(host);
        if (atomic_load(&step->n_pending) != 0)
            spin_until_ready(host, step);
        if (atomic_load(&step->n_pending) != 0)
            sleep_until_ready(queue, index);
        due_ns = atomic_load(&step->not_before_ns);
        if (due_ns > step->submit_ns)
            wait_until_due(queue, due_ns);
        if (atomic_load(&host->is_stopped))
            return;
        host_work(host, index, &queue->places);
        if (atomic_load(&host->is_stopped))
            return;
        host_order_finished(host, index, &queue->places);
    }
}

/* Waits for the next run. @return false when there is none */
static bool wait_at_gate(struct host_queue *queue, uint32_t passes)
{
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->pass == passes && !atomic_load(&queue->host->is_closing))
        (void)pthread_cond_wait(&queue->wake, &queue->lock);
    (void)pthread_mutex_unlock(&queue->lock);
    return !atomic_load(&queue->host->is_closing);
}

static void report_at_gate(struct host *host)
{
    (void)pthread_mutex_lock(&host->lock);
    if (--host->n_working == 0)
        (void)pthread_cond_signal(&host->wake);
    (void)pthread_mutex_unlock(&host->lock);
}

static void *queue_main(void *arg)
{
    struct host_queue *queue = arg;

#ifdef __linux__
    /* Timed sleeps end when they are due, not up to 50 us later. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
    for (uint32_t passes = 0; wait_at_gate(queue, passes); passes++) {
        run_steps(queue);
        report_at_gate(queue->host);
    }
    return NULL;
}

static enum weir_status start_queue(struct host *host, struct host_queue *queue,
                                    struct weir_error *err)
{
    pthread_condattr_t attributes;
    int fault;

    queue->host = host;
    atomic_store(&queue->asleep_for, WEIR_NONE);
    if (pthread_condattr_init(&attributes) != 0)
        return weir_error_memory(err);
    fault = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (fault == 0)
        fault = pthread_cond_init(&queue->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (fault == 0)
        fault = pthread_mutex_init(&queue->lock, NULL);
    if (fault == 0) {
        ending_threads_begin();
        fault = pthread_create(&queue->thread, NULL, queue_main, queue);
        ending_threads_end();
    }
    queue->is_running = fault == 0;
    if (fault != 0)
        return weir_error_set(err, WEIR_DEVICE,
                              "the host cannot start thread %u of %u: %s; use a plan with fewer "
                              "queues, or raise the limit on threads",
                              (unsigned)(queue - host->queues) + 1, host->setup.n_queues,
                              strerror(fault));
    return WEIR_OK;
}

enum weir_status host_queues_start(struct host *host, struct weir_error *err)
{
    for (uint32_t q = 0; q < host->setup.n_queues; q++) {
        enum weir_status status = start_queue(host, &host->queues[q], err);

        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

bool host_queues_stop(struct host *host)
{
    if (host->is_abandoned)
        return false;
    atomic_store(&host->is_closing, true);
    host_wake_all(host);
    for (uint32_t q = 0; q < host->setup.n_queues; q++) {
        if (!host->queues[q].is_running)
            continue;
        (void)pthread_join(host->queues[q].thread, NULL);
        (void)pthread_mutex_destroy(&host->queues[q].lock);
        (void)pthread_cond_destroy(&host->queues[q].wake);
        host->queues[q].is_running = false;
    }
    return true;
}

/* ---- steps without a queue that are due later: a heap, under host->lock ---- */

static bool is_earlier(const struct host_timer *a, const struct host_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->step < b->step;
}

void host_timer_add(struct host *host, uint32_t step, int64_t due_ns)
{
    struct host_timer timer = {.due_ns = due_ns, .step = step};
    size_t at;

    (void)pthread_mutex_lock(&host->lock);
    at = host->n_timers++;
    while (at > 0 && is_earlier(&timer, &host->timers[(at - 1) / 2])) {
        host->timers[at] = host->timers[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    host->timers[at] = timer;
    if (at == 0)
        (void)pthread_cond_signal(&host->wake);
    (void)pthread_mutex_unlock(&host->lock);
}

static uint32_t timer_take(struct host *host)
{
    uint32_t first = host->timers[0].step;
    struct host_timer last = host->timers[--host->n_timers];
    size_t at = 0;

    for (size_t child = 1; child < host->n_timers; child = 2 * at + 1) {
        if (child + 1 < host->n_timers &&
            is_earlier(&host->timers[child + 1], &host->timers[child]))
            child++;
        if (!is_earlier(&host->timers[child], &last))
            break;
        host->timers[at] = host->timers[child];
        at = child;
    }
    host->timers[at] = last;
    return first;
}

/* ---- the draining thread ---- */

static void open_gates(struct host *host)
{
    for (uint32_t q = 0; q < host->setup.n_queues; q++) {
        (void)pthread_mutex_lock(&host->queues[q].lock);
        host->queues[q].pass++;
        (void)pthread_cond_signal(&host->queues[q].wake);
        (void)pthread_mutex_unlock(&host->queues[q].lock);
    }
}

static void add_roots(struct host *host)
{
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        const struct step *step = &host->steps[i].given;

        if (step->queue == STEP_NO_QUEUE && step->n_waits == 0)
            host_timer_add(host, i, step->action == STEP_PASS ? 0 : step->release_ns);
    }
}

/* The first step that began and did not finish, else the first that did not begin. */
static uint32_t find_unfinished(const struct host *host)
{
    uint32_t found = WEIR_NONE;

    for (uint32_t i = 0; i < host->n_submitted; i++) {
        const struct host_step *step = &host->steps[i];

        if (step->given.action == STEP_PASS || step->finish_ns >= 0)
            continue;
        if (step->start_ns >= 0)
            return i;
        if (found == WEIR_NONE)
            found = i;
    }
    return found;
}

/* Stops a run that is past its deadline. Other threads may still write the stamps that are read
 * for the message, so it is made when they have stopped. */
static void name_overdue(struct host *host)
{
    char name[160];
    uint32_t step = find_unfinished(host);
    double deadline_s = (double)host->setup.deadline_ns * 1e-9;

    if (step == WEIR_NONE)
        (void)snprintf(name, sizeof name, "the run");
    else
        (void)host_step_name(host, step, name, sizeof name);
    host_fail(host, WEIR_DEVICE,
              "%s %s after %.3f s, the most that this replay may take: the machine is far slower "
              "than the plan, or an action waits for ever",
              name,
              step != WEIR_NONE && host->steps[step].start_ns < 0 ? "had not begun"
                                                                  : "had not finished",
              deadline_s);
}

/* Under host->lock: runs what is due; sleeps until something is, or until until_ns. */
static void serve_timers(struct host *host, int64_t until_ns, struct host_places *places)
{
    int64_t now_ns = host_now_ns(host);
    int64_t due_ns = host->n_timers == 0 ? until_ns : host->timers[0].due_ns;

    if (host->n_timers != 0 && due_ns <= now_ns) {
        uint32_t step = timer_take(host);

        (void)pthread_mutex_unlock(&host->lock);
        host_order_run(host, step, places);
        (void)pthread_mutex_lock(&host->lock);
        return;
    }
    if (host->n_timers != 0 && due_ns - now_ns <= WAKE_NS) {
        (void)pthread_mutex_unlock(&host->lock);
        spin_until(host, due_ns);
        (void)pthread_mutex_lock(&host->lock);
        if (host_now_ns(host) >= due_ns)
            return;
    } else if (host->n_timers != 0) {
        due_ns -= WAKE_NS;
    }
    if (host->n_timers != 0 && host->timers[0].due_ns < due_ns)
        return; /* something earlier came in while this thread was spinning */
    sleep_until(host, &host->wake, &host->lock, due_ns < until_ns ? due_ns : until_ns);
}

static bool is_over(const struct host *host)
{
    return host->n_working == 0 &&
           (atomic_load(&host->n_left) == 0 || atomic_load(&host->is_stopped));
}

void host_queues_run(struct host *host)
{
    struct host_places places = {0, 0};
    int64_t until_ns = host->setup.deadline_ns;
    bool is_late = false;

    host->n_timers = 0;
    host->n_working = host->setup.n_queues;
    host->begin_ns = host_clock_ns() + START_NS;
    add_roots(host);
    open_gates(host);
    (void)pthread_mutex_lock(&host->lock);
    while (!is_over(host)) {
        if (host_now_ns(host) < until_ns) {
            serve_timers(host, until_ns, &places);
        } else if (!is_late) {
            is_late = true;
            until_ns = host_now_ns(host) + GRACE_NS;
            atomic_store(&host->is_stopped, true);
            (void)pthread_mutex_unlock(&host->lock);
            host_wake_all(host);
            (void)pthread_mutex_lock(&host->lock);
            host->n_timers = 0;
        } else {
            host->is_abandoned = true;
            break;
        }
    }
    (void)pthread_mutex_unlock(&host->lock);
    if (is_late)
        name_overdue(host);
}
