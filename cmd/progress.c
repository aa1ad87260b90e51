/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress line: written over itself, never longer than a narrow terminal. */
#include "cmd/progress.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "base/ending.h"

#define SECOND_NS INT64_C(1000000000)
#define PATIENCE_NS SECOND_NS
#define REDRAW_NS (SECOND_NS / 4)
#define BAR_WIDTH 20
#define LEAST_PERMILLE 20 /* an estimate from less would jump about */

/* Over whatever was drawn. */
static const char erase[] =
    "\r                                                                               \r";

static int64_t clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* ---- the line ---- */

/* "12 s", "3 min", "2 h". */
static void put_time(int64_t ns, char *out, size_t out_bytes)
{
    int64_t s = (ns + SECOND_NS / 2) / SECOND_NS;

    if (s < 120)
        (void)snprintf(out, out_bytes, "%" PRId64 " s", s);
    else if (s < 7200)
        (void)snprintf(out, out_bytes, "%" PRId64 " min", (s + 30) / 60);
    else
        (void)snprintf(out, out_bytes, "%" PRId64 " h", (s + 1800) / 3600);
}

void progress_line(const char *what, int permille, int64_t elapsed_ns,
                   char out[PROGRESS_LINE_BYTES])
{
    char time[24]; /* "2562047 h" is the longest */
    int filled = permille * BAR_WIDTH / 1000;

    if (permille < LEAST_PERMILLE) {
        put_time(elapsed_ns, time, sizeof time);
        (void)snprintf(out, PROGRESS_LINE_BYTES, "%.20s ... %s", what, time);
        return;
    }
    put_time((int64_t)((double)elapsed_ns / permille * (1000 - permille)), time, sizeof time);
    (void)snprintf(out, PROGRESS_LINE_BYTES, "%.20s [%.*s%*s] %3d %%, %s left", what, filled,
                   "####################", BAR_WIDTH - filled, "", permille / 10, time);
}

/* Under the lock. */
static void draw(struct progress *progress, int64_t now_ns)
{
    char line[PROGRESS_LINE_BYTES];
    int permille = atomic_load_explicit(&progress->permille, memory_order_relaxed);

    progress_line(progress->what, permille, now_ns - progress->phase_ns, line);
    fprintf(stderr, "%s%s", erase, line);
    (void)fflush(stderr);
    progress->drawn_ns = now_ns;
    progress->drawn_permille = permille;
}

/* ---- the thread ---- */

static void *draw_on(void *arg)
{
    struct progress *progress = arg;
    int64_t due_ns = progress->begin_ns + PATIENCE_NS;

    (void)pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        const struct timespec due = {.tv_sec = (time_t)(due_ns / SECOND_NS),
                                     .tv_nsec = (long)(due_ns % SECOND_NS)};
        int64_t now_ns;

        (void)pthread_cond_timedwait(&progress->wake, &progress->lock, &due);
        now_ns = clock_ns();
        if (progress->is_over || now_ns < due_ns)
            continue;
        draw(progress, now_ns);
        due_ns = now_ns + REDRAW_NS;
    }
    (void)pthread_mutex_unlock(&progress->lock);
    return NULL;
}

/* Without a thread nothing is shown: that is no reason not to do the work. */
static void start_thread(struct progress *progress)
{
    pthread_condattr_t attributes;
    int fault;

    if (pthread_condattr_init(&attributes) != 0)
        return;
    fault = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (fault == 0)
        fault = pthread_cond_init(&progress->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (fault != 0)
        return;
    ending_threads_begin();
    fault = pthread_create(&progress->thread, NULL, draw_on, progress);
    ending_threads_end();
    progress->has_thread = fault == 0;
    if (fault != 0)
        (void)pthread_cond_destroy(&progress->wake);
}

static void stop_thread(struct progress *progress)
{
    (void)pthread_mutex_lock(&progress->lock);
    progress->is_over = true;
    (void)pthread_cond_signal(&progress->wake);
    (void)pthread_mutex_unlock(&progress->lock);
    (void)pthread_join(progress->thread, NULL);
    (void)pthread_cond_destroy(&progress->wake);
    progress->has_thread = false;
}

/* ---- for who works ---- */

void progress_begin_told(struct progress *progress, const struct cmd_context *context,
                         const char *what, bool is_quiet)
{
    progress->is_shown = context->is_terminal && !is_quiet;
    progress->has_thread = false;
    progress->worker_fd = context->worker_fd;
    atomic_init(&progress->permille, -1);
    if (!progress->is_shown || pthread_mutex_init(&progress->lock, NULL) != 0) {
        progress->is_shown = false;
        return;
    }
    progress->is_over = false;
    progress->what = what;
    progress->begin_ns = progress->phase_ns = clock_ns();
    progress->drawn_ns = progress->drawn_permille = -1;
    ending_erase(erase);
}

void progress_begin(struct progress *progress, const struct cmd_context *context, const char *what,
                    bool is_quiet)
{
    progress_begin_told(progress, context, what, is_quiet);
    if (progress->is_shown)
        start_thread(progress);
}

void progress_phase(struct progress *progress, const char *what)
{
    if (!progress->is_shown)
        return;
    (void)pthread_mutex_lock(&progress->lock);
    progress->what = what;
    progress->phase_ns = clock_ns();
    atomic_store(&progress->permille, -1);
    (void)pthread_mutex_unlock(&progress->lock);
}

/* To whoever watches over a worker; when nobody does any more, there is nobody to tell. */
static void show_life(const struct progress *progress)
{
    if (progress->worker_fd >= 0 && write(progress->worker_fd, "", 1) < 0)
        return;
}

void progress_show(void *arg, double part)
{
    struct progress *progress = arg;
    int permille = part < 0 ? 0 : part > 1 ? 1000 : (int)(part * 1000);
    int64_t now_ns;

    show_life(progress);
    if (!progress->is_shown)
        return;
    atomic_store_explicit(&progress->permille, permille, memory_order_relaxed);
    if (progress->has_thread)
        return;
    now_ns = clock_ns();
    if (now_ns - progress->begin_ns >= PATIENCE_NS && permille != progress->drawn_permille &&
        (progress->drawn_ns < 0 || now_ns - progress->drawn_ns >= REDRAW_NS))
        draw(progress, now_ns);
}

void progress_end(struct progress *progress)
{
    if (!progress->is_shown)
        return;
    if (progress->has_thread)
        stop_thread(progress);
    if (progress->drawn_ns >= 0) {
        fputs(erase, stderr);
        (void)fflush(stderr);
    }
    ending_erase(NULL);
    (void)pthread_mutex_destroy(&progress->lock);
    progress->is_shown = false;
}
