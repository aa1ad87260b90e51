/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device in virtual time: streams pass their commands in order; operations of several streams run
 * at once and slow each other down. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/double/double.h"

#define EXPORT __attribute__((visibility("default")))
#define YIELD_NS 100
#define FIRST_NS 1000000000000 /* of both clocks */
#define SOON_NS 1000000000
#define NAPS 4000 /* of a millisecond that does pass */

const char double_name[] = "Weir's test double, no GPU";

static struct {
    int64_t host_ns, device_ns;
    struct double_command *running[4096];
    size_t n_running;
} state = {.host_ns = FIRST_NS, .device_ns = FIRST_NS};

/* ---- clocks ---- */

int64_t double_now_ns(void)
{
    return state.host_ns;
}

void double_spend(int64_t ns)
{
    state.host_ns += ns;
    double_advance();
}

/* In place of the C library's: only the monotonic clock is virtual. */
EXPORT int clock_gettime(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);

    if (clock == CLOCK_MONOTONIC) {
        out->tv_sec = (time_t)(state.host_ns / 1000000000);
        out->tv_nsec = (long)(state.host_ns % 1000000000);
        return 0;
    }
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "clock_gettime");

        memcpy(&real, &found, sizeof real);
    }
    return real(clock, out);
}

/* Waiting takes the device on. */
EXPORT int nanosleep(const struct timespec *span, struct timespec *left)
{
    (void)left;
    double_spend((int64_t)span->tv_sec * 1000000000 + span->tv_nsec);
    return 0;
}

/* Whoever spins for the clock takes it on. */
EXPORT int sched_yield(void)
{
    double_spend(YIELD_NS);
    return 0;
}

/* ---- running ---- */

/* How many of each class run. */
static void count_running(double n[DOUBLE_CLASSES])
{
    for (int c = 0; c < DOUBLE_CLASSES; c++) {
        n[c] = 0;
    }
    for (size_t i = 0; i < state.n_running; i++) {
        n[state.running[i]->class_] += state.running[i]->is_classless ? 0 : 1;
    }
}

static double roofline(enum double_class slowed)
{
    double n[DOUBLE_CLASSES], sum = 1, p = double_config.power;

    count_running(n);
    for (int r = 0; r < DOUBLE_RESOURCES; r++) {
        double own = double_config.part[slowed][r], eta = double_config.eta[r], wanted = 0;

        for (int c = 0; c < DOUBLE_CLASSES; c++) {
            wanted += n[c] * double_config.part[c][r];
        }
        sum += pow(own * fmax(1, wanted / eta), p) - pow(own * fmax(1, own / eta), p);
    }
    return pow(sum, 1 / p);
}

/* Speeds rise together until a resource is full; its users stay, the others go on. */
static double share(enum double_class slowed)
{
    double n[DOUBLE_CLASSES], speed[DOUBLE_CLASSES] = {0};

    count_running(n);
    while (speed[slowed] <= 0) {
        double least = 1;
        int full = -1;

        for (int r = 0; r < DOUBLE_RESOURCES; r++) {
            double left = double_config.eta[r], open = 0;

            for (int c = 0; c < DOUBLE_CLASSES; c++) {
                left -= n[c] * double_config.part[c][r] * speed[c];
                open += speed[c] > 0 ? 0 : n[c] * double_config.part[c][r];
            }
            if (open > 0 && left / open < least) {
                least = left / open;
                full = r;
            }
        }
        for (int c = 0; c < DOUBLE_CLASSES; c++) {
            if (speed[c] <= 0 && (full < 0 || double_config.part[c][full] > 0)) {
                speed[c] = least;
            }
        }
    }
    return 1 / speed[slowed];
}

static double factor(const struct double_command *slowed)
{
    double kappa = 1;

    if (!slowed->is_classless && double_config.is_share) {
        kappa = share(slowed->class_);
    } else if (!slowed->is_classless && double_config.power > 0) {
        kappa = roofline(slowed->class_);
    }

    for (size_t i = 0; i < state.n_running; i++) {
        const struct double_command *beside = state.running[i];

        if (beside != slowed && !slowed->is_classless && !beside->is_classless) {
            kappa *= double_config.kappa[slowed->class_][beside->class_];
        }
    }
    return kappa;
}

/* When the command ends if nothing changes. */
static int64_t end_of(const struct double_command *command)
{
    return state.device_ns + (int64_t)llroundl(command->left_ns * (long double)factor(command));
}

/* Work goes on until then, at the speeds of now. */
static void work_until(int64_t ns)
{
    long double speeds[sizeof state.running / sizeof *state.running];

    for (size_t i = 0; i < state.n_running; i++) {
        speeds[i] = 1 / (long double)factor(state.running[i]);
    }
    for (size_t i = 0; i < state.n_running; i++) {
        state.running[i]->left_ns -= (long double)(ns - state.device_ns) * speeds[i];
        if (state.running[i]->left_ns < 0) {
            state.running[i]->left_ns = 0;
        }
    }
    state.device_ns = ns;
}

static bool has_engine(const struct double_command *command)
{
    if (!double_config.is_serial || command->kind != DOUBLE_COPY) {
        return true;
    }
    for (size_t i = 0; i < state.n_running; i++) {
        if (state.running[i]->kind == DOUBLE_COPY && state.running[i]->class_ == command->class_) {
            return false;
        }
    }
    return true;
}

static void finish(struct double_command *command)
{
    command->end_ns = state.device_ns;
    if (command->end != NULL) {
        command->end(command);
    }
    double_record(command);
    stream_pop(command->stream);
}

/* The head of a stream does what it can now. @return true when something changed */
static bool step_head(double_stream *stream)
{
    struct double_command *command = stream->first;
    int64_t until_ns;

    if (command == NULL || command->is_running) {
        return false;
    }
    switch (command->kind) {
    case DOUBLE_RECORD:
        command->event->n_passed = command->generation;
        command->event->passed_ns = state.device_ns;
        stream_pop(stream);
        return true;
    case DOUBLE_WAIT_EVENT:
        if (command->event->n_passed < command->generation) {
            return false;
        }
        stream_pop(stream);
        return true;
    case DOUBLE_WAIT_VALUE:
        if (__atomic_load_n((const uint32_t *)(uintptr_t)command->args[0], __ATOMIC_ACQUIRE) <
            (uint32_t)command->args[1]) {
            return false;
        }
        stream_pop(stream);
        return true;
    case DOUBLE_FREE:
        free((void *)(uintptr_t)command->args[0]);
        stream_pop(stream);
        return true;
    case DOUBLE_KERNEL:
    case DOUBLE_COPY:
    case DOUBLE_SET:
        break;
    }
    if (!has_engine(command)) {
        return false;
    }
    if (command->start_ns < 0) {
        command->start_ns = state.device_ns + double_config.begin_ns;
        command->left_ns = command->work_ns + double_config.begin_ns;
        if (command->begin != NULL) {
            command->begin(command);
        }
    }
    if (command->is_held != NULL && command->is_held(command, state.device_ns, &until_ns)) {
        return false;
    }
    if (command->left_ns <= 0) {
        finish(command);
        return true;
    }
    command->is_running = true;
    state.running[state.n_running++] = command;
    return true;
}

static void settle(void)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (double_stream *stream = streams_first(); stream != NULL; stream = stream->next) {
            has_changed = step_head(stream) || has_changed;
        }
    }
}

/* When something happens next of itself; INT64_MAX: nothing does. */
static int64_t next_ns(void)
{
    int64_t next = INT64_MAX, until_ns;

    for (size_t i = 0; i < state.n_running; i++) {
        int64_t end_ns = end_of(state.running[i]);

        next = end_ns < next ? end_ns : next;
    }
    for (double_stream *stream = streams_first(); stream != NULL; stream = stream->next) {
        const struct double_command *command = stream->first;

        if (command != NULL && command->start_ns >= 0 && command->is_held != NULL &&
            command->is_held(command, state.device_ns, &until_ns) && until_ns < next) {
            next = until_ns;
        }
    }
    return next;
}

static void end_due(int64_t due_ns)
{
    struct double_command *ended[sizeof state.running / sizeof *state.running];
    size_t n_ended = 0, n = 0;

    for (size_t i = 0; i < state.n_running; i++) {
        if (end_of(state.running[i]) <= due_ns) {
            ended[n_ended++] = state.running[i];
        }
    }
    work_until(due_ns);
    for (size_t i = 0; i < state.n_running; i++) {
        bool is_ended = false;

        for (size_t e = 0; e < n_ended; e++) {
            is_ended = is_ended || ended[e] == state.running[i];
        }
        if (!is_ended) {
            state.running[n++] = state.running[i];
        }
    }
    state.n_running = n;
    for (size_t e = 0; e < n_ended; e++) {
        finish(ended[e]);
    }
}

void double_advance(void)
{
    settle();
    for (;;) {
        int64_t due_ns = next_ns();

        if (due_ns > state.host_ns) {
            break;
        }
        end_due(due_ns);
        settle();
    }
    if (state.device_ns < state.host_ns) {
        work_until(state.host_ns);
    }
}

void double_skip(void)
{
    int64_t due_ns;

    double_advance();
    due_ns = next_ns();
    if (due_ns != INT64_MAX && due_ns > state.host_ns) {
        state.host_ns = due_ns;
        double_advance();
    }
}

bool double_is_idle(const double_stream *stream)
{
    return streams_are_idle(stream);
}

void double_kill(void)
{
    state.n_running = 0;
    for (double_stream *stream = streams_first(); stream != NULL; stream = stream->next) {
        while (stream->first != NULL) {
            stream_pop(stream);
        }
    }
}

void double_stream_end(double_stream *stream)
{
    if (double_drain(stream)) {
        streams_remove(stream);
    }
}

bool double_drain(double_stream *stream)
{
    double_advance();
    while (!double_is_idle(stream)) {
        if (next_ns() == INT64_MAX) {
            return false;
        }
        double_skip();
    }
    return true;
}

/* There is one thread. */
void double_elsewhere(void (*work)(void))
{
    work();
}

void double_soon(void (*work)(void))
{
    work();
}

/* ---- streams and events ---- */

double_stream *double_stream_make(void)
{
    return streams_add();
}

/* A call waits until there is room. Nothing happens of itself for long: another thread may yet open a
 * gate, and has some time to do so, by a clock that goes on. */
static void wait_for_room(const double_stream *stream)
{
    int n_naps = 0;

    while (stream_is_full(stream)) {
        int64_t due_ns = next_ns();

        if (due_ns < state.host_ns + SOON_NS || (due_ns != INT64_MAX && n_naps == NAPS)) {
            double_skip();
        } else if (n_naps < NAPS) {
            n_naps++;
            (void)poll(NULL, 0, 1);
            double_advance();
        } else {
            fprintf(stderr,
                    "WEIR_DOUBLE: deadlock: a call waits for room in stream %u, which is full and "
                    "goes on no more\n",
                    stream->number);
            abort();
        }
    }
}

void double_append(double_stream *stream, const struct double_command *command)
{
    wait_for_room(stream);
    stream_push(stream, command);
    double_advance();
}

bool double_is_passed(const double_event *event)
{
    return event->n_passed == event->n_recorded;
}

int64_t double_passed_ns(const double_event *event)
{
    return event->passed_ns;
}
