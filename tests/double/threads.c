/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device in real time: a thread does the work of each stream, one looks at the words of the
 * host's that streams wait for, and one calls back for CUPTI.
 *
 * An operation begins when what it waits for is over, and ends when its time has passed on the host's
 * clock: its thread sleeps until then. How late threads are run is no part of it, since a device has
 * no such delays: what a record says lies in the past, never in the future. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/double/double.h"

#define LOOK_NS 100000       /* between two looks at a word */
#define LIMIT_NS 100000000   /* between two looks at whether a wait has a limit */
#define STILL_NS 60000000000 /* a device that does nothing for so long never will */
#define WORDS 16

const char double_name[] = "Weir's test double with threads, no GPU";

/* A word that commands which were handed over wait for. */
struct word {
    uint64_t address;
    uint32_t value;
    bool is_awaited;
    int64_t seen_ns; /* when it was last found to be that or more */
};

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_killed;
    struct word words[WORDS];
    struct {
        pthread_mutex_t lock;
        int64_t free_ns;
    } engines[DOUBLE_CLASSES]; /* of copies, by direction */
} state = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* What is done by a thread that the program did not make. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void);
    uint64_t n_asked, n_done;
} helper = {.once = PTHREAD_ONCE_INIT,
            .lock = PTHREAD_MUTEX_INITIALIZER,
            .changed = PTHREAD_COND_INITIALIZER};

/* ---- time ---- */

int64_t double_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

static void sleep_until(int64_t ns)
{
    struct timespec until = timespec_of(ns);

    while (ns > double_now_ns() &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void double_spend(int64_t ns)
{
    sleep_until(double_now_ns() + ns);
}

/* Time goes on by itself. */
void double_advance(void)
{
}

void double_skip(void)
{
}

/* ---- threads ---- */

/* Signals are the program's. */
static pthread_t start(void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    pthread_t thread;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, run, arg) != 0) {
        abort();
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

static void wait_changed(void)
{
    (void)pthread_cond_wait(&state.changed, &state.lock);
}

/* @return false when nothing has changed for that long */
static bool wait_changed_for(int64_t ns)
{
    struct timespec until = timespec_of(double_now_ns() + ns);

    return pthread_cond_timedwait(&state.changed, &state.lock, &until) != ETIMEDOUT;
}

/* ---- words of the host's ---- */

static struct word *word_at(uint64_t address)
{
    for (int i = 0; i < WORDS; i++) {
        if (state.words[i].address == address) {
            return &state.words[i];
        }
    }
    for (int i = 0; i < WORDS; i++) {
        if (!state.words[i].is_awaited) {
            state.words[i] = (struct word){.address = address};
            return &state.words[i];
        }
    }
    abort();
}

static bool is_there(const struct word *word)
{
    return __atomic_load_n((const uint32_t *)(uintptr_t)word->address, __ATOMIC_ACQUIRE) >=
           word->value;
}

/* From when a command that waits for it is handed over, and not only when its turn comes: all streams
 * find the word changed at the same time. */
static void await_word(uint64_t address, uint32_t value)
{
    struct word *word = word_at(address);

    word->value = value;
    if (!word->is_awaited && !is_there(word)) {
        word->is_awaited = true;
        (void)pthread_cond_broadcast(&state.changed);
    }
}

/* @return false when no word is awaited */
static bool look_once(void)
{
    bool has_any = false;

    for (int i = 0; i < WORDS; i++) {
        struct word *word = &state.words[i];

        if (word->is_awaited && is_there(word)) {
            word->seen_ns = double_now_ns();
            word->is_awaited = false;
            (void)pthread_cond_broadcast(&state.changed);
        }
        has_any = has_any || word->is_awaited;
    }
    return has_any;
}

/* The eye of the device on the host's memory. */
static void *look(void *arg)
{
    (void)arg;
    (void)pthread_mutex_lock(&state.lock);
    for (;;) {
        if (look_once()) {
            (void)pthread_mutex_unlock(&state.lock);
            sleep_until(double_now_ns() + LOOK_NS);
            (void)pthread_mutex_lock(&state.lock);
        } else {
            wait_changed();
        }
    }
    return NULL;
}

/* Until the word is there, or the command's own limit is over. @return when that was */
static int64_t wait_for_word(const struct double_command *command)
{
    const struct word *word = word_at(command->word);
    int64_t until_ns;

    while (word->is_awaited && !state.is_killed) {
        (void)wait_changed_for(LIMIT_NS);
        if (word->is_awaited && command->is_held != NULL &&
            !command->is_held(command, double_now_ns(), &until_ns) && double_now_ns() >= until_ns) {
            return until_ns;
        }
    }
    return word->seen_ns;
}

/* ---- what streams do ---- */

/* Until the command's time has come. @return when it had */
static int64_t wait_for_time(const struct double_command *command)
{
    int64_t now_ns = double_now_ns(), until_ns = now_ns;

    while (command->is_held(command, now_ns, &until_ns)) {
        int64_t left_ns = until_ns - now_ns;

        if (__atomic_load_n(&state.is_killed, __ATOMIC_RELAXED)) {
            return now_ns;
        }
        sleep_until(now_ns + (left_ns < LIMIT_NS ? left_ns : LIMIT_NS));
        now_ns = double_now_ns();
    }
    return until_ns;
}

/* Holding no lock of the device's.
 * @param held_ns it ends no sooner */
static void do_work(double_stream *stream, struct double_command *command, int64_t held_ns)
{
    bool is_copy = command->kind == DOUBLE_COPY;
    int64_t *free_ns = &state.engines[command->class_].free_ns;

    if (is_copy) {
        (void)pthread_mutex_lock(&state.engines[command->class_].lock);
        command->start_ns = later(command->start_ns, *free_ns);
    }
    command->start_ns += double_config.begin_ns;
    command->end_ns = later(command->start_ns + command->work_ns, held_ns);
    sleep_until(command->start_ns);
    if (command->begin != NULL) {
        command->begin(command);
    }
    if (command->is_held != NULL && command->word == 0) {
        command->end_ns = later(command->end_ns, wait_for_time(command));
    }
    sleep_until(command->end_ns);
    if (command->end != NULL) {
        command->end(command);
    }
    if (is_copy) {
        *free_ns = command->end_ns;
        (void)pthread_mutex_unlock(&state.engines[command->class_].lock);
    }
    double_record(command);
    stream->passed_ns = command->end_ns;
}

static void pass_event(double_stream *stream, const struct double_command *command)
{
    command->event->n_passed = command->generation;
    command->event->passed_ns = stream->passed_ns;
    (void)pthread_cond_broadcast(&state.changed);
}

static void wait_for_event(double_stream *stream, const struct double_command *command)
{
    while (command->event->n_passed < command->generation && !state.is_killed) {
        wait_changed();
    }
    stream->passed_ns = later(stream->passed_ns, command->event->passed_ns);
}

/* A command, holding the lock, but for work. */
static void do_command(double_stream *stream, struct double_command *command)
{
    int64_t held_ns = 0;

    stream->passed_ns = later(stream->passed_ns, command->called_ns);
    command->start_ns = stream->passed_ns;
    if (command->word != 0) {
        held_ns = wait_for_word(command);
    }
    if (state.is_killed) {
        return;
    }
    switch (command->kind) {
    case DOUBLE_RECORD:
        pass_event(stream, command);
        break;
    case DOUBLE_WAIT_EVENT:
        wait_for_event(stream, command);
        break;
    case DOUBLE_WAIT_VALUE:
        stream->passed_ns = later(stream->passed_ns, held_ns);
        break;
    case DOUBLE_FREE:
        free((void *)(uintptr_t)command->args[0]);
        break;
    case DOUBLE_KERNEL:
    case DOUBLE_COPY:
    case DOUBLE_SET:
        (void)pthread_mutex_unlock(&state.lock);
        do_work(stream, command, held_ns);
        (void)pthread_mutex_lock(&state.lock);
        break;
    }
}

static void *run_stream(void *arg)
{
    double_stream *stream = arg;

    (void)pthread_mutex_lock(&state.lock);
    for (;;) {
        while (stream->first == NULL && !stream->is_over) {
            (void)pthread_cond_wait(&stream->pushed, &state.lock);
        }
        if (stream->first == NULL) {
            break;
        }
        if (!state.is_killed) {
            struct double_command command = *stream->first; /* which gets a next one meanwhile */

            do_command(stream, &command);
        }
        stream_pop(stream);
        (void)pthread_cond_broadcast(&state.changed);
    }
    (void)pthread_mutex_unlock(&state.lock);
    return NULL;
}

/* ---- streams and events ---- */

static void begin(void)
{
    pthread_condattr_t monotonic;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&state.changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    for (int i = 0; i < DOUBLE_CLASSES; i++) {
        (void)pthread_mutex_init(&state.engines[i].lock, NULL);
    }
    (void)pthread_detach(start(look, NULL));
}

double_stream *double_stream_make(void)
{
    double_stream *stream;

    (void)pthread_once(&state.once, begin);
    (void)pthread_mutex_lock(&state.lock);
    stream = streams_add();
    (void)pthread_cond_init(&stream->pushed, NULL);
    stream->thread = start(run_stream, stream);
    (void)pthread_mutex_unlock(&state.lock);
    return stream;
}

void double_stream_end(double_stream *stream)
{
    (void)pthread_mutex_lock(&state.lock);
    stream->is_over = true;
    (void)pthread_cond_signal(&stream->pushed);
    (void)pthread_mutex_unlock(&state.lock);
    (void)pthread_join(stream->thread, NULL);
    (void)pthread_cond_destroy(&stream->pushed);
    (void)pthread_mutex_lock(&state.lock);
    streams_remove(stream);
    (void)pthread_mutex_unlock(&state.lock);
}

void double_append(double_stream *stream, const struct double_command *command)
{
    (void)pthread_mutex_lock(&state.lock);
    while (stream_is_full(stream)) {
        if (!wait_changed_for(STILL_NS)) {
            fprintf(stderr,
                    "WEIR_DOUBLE: deadlock: a call waits for room in stream %u, which is full and "
                    "goes on no more\n",
                    stream->number);
            abort();
        }
    }
    if (command->word != 0) {
        await_word(command->word,
                   command->kind == DOUBLE_WAIT_VALUE ? (uint32_t)command->args[1] : 1);
    }
    stream_push(stream, command);
    (void)pthread_cond_signal(&stream->pushed);
    (void)pthread_mutex_unlock(&state.lock);
}

bool double_is_idle(const double_stream *stream)
{
    bool are_idle;

    (void)pthread_mutex_lock(&state.lock);
    are_idle = streams_are_idle(stream);
    (void)pthread_mutex_unlock(&state.lock);
    return are_idle;
}

bool double_drain(double_stream *stream)
{
    bool goes_on = true;

    (void)pthread_once(&state.once, begin);
    (void)pthread_mutex_lock(&state.lock);
    while (!streams_are_idle(stream) && goes_on) {
        goes_on = wait_changed_for(STILL_NS);
    }
    (void)pthread_mutex_unlock(&state.lock);
    return goes_on;
}

void double_kill(void)
{
    (void)pthread_once(&state.once, begin);
    (void)pthread_mutex_lock(&state.lock);
    __atomic_store_n(&state.is_killed, true, __ATOMIC_RELAXED);
    for (int i = 0; i < WORDS; i++) {
        state.words[i].is_awaited = false;
    }
    (void)pthread_cond_broadcast(&state.changed);
    while (!streams_are_idle(NULL)) {
        wait_changed();
    }
    (void)pthread_mutex_unlock(&state.lock);
}

bool double_is_passed(const double_event *event)
{
    bool is_passed;

    (void)pthread_mutex_lock(&state.lock);
    is_passed = event->n_passed == event->n_recorded;
    (void)pthread_mutex_unlock(&state.lock);
    return is_passed;
}

int64_t double_passed_ns(const double_event *event)
{
    int64_t ns;

    (void)pthread_mutex_lock(&state.lock);
    ns = event->passed_ns;
    (void)pthread_mutex_unlock(&state.lock);
    return ns;
}

/* ---- the helper ---- */

static void *help(void *arg)
{
    (void)arg;
    (void)pthread_mutex_lock(&helper.lock);
    for (;;) {
        uint64_t n_asked;
        void (*work)(void);

        while (helper.n_done == helper.n_asked) {
            (void)pthread_cond_wait(&helper.changed, &helper.lock);
        }
        n_asked = helper.n_asked;
        work = helper.work;
        (void)pthread_mutex_unlock(&helper.lock);
        work();
        (void)pthread_mutex_lock(&helper.lock);
        helper.n_done = n_asked;
        (void)pthread_cond_broadcast(&helper.changed);
    }
    return NULL;
}

static void begin_helper(void)
{
    (void)pthread_detach(start(help, NULL));
}

static uint64_t ask(void (*work)(void))
{
    helper.work = work;
    (void)pthread_cond_broadcast(&helper.changed);
    return ++helper.n_asked;
}

void double_elsewhere(void (*work)(void))
{
    uint64_t asked;

    (void)pthread_once(&helper.once, begin_helper);
    (void)pthread_mutex_lock(&helper.lock);
    asked = ask(work);
    while (helper.n_done < asked) {
        (void)pthread_cond_wait(&helper.changed, &helper.lock);
    }
    (void)pthread_mutex_unlock(&helper.lock);
}

void double_soon(void (*work)(void))
{
    (void)pthread_once(&helper.once, begin_helper);
    (void)pthread_mutex_lock(&helper.lock);
    (void)ask(work);
    (void)pthread_mutex_unlock(&helper.lock);
}
