/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line on a terminal that tells what is done, how far it is and how long it will take, of anything
 * that takes longer than a second. It is on standard error alone, and gone at the end. */
#ifndef WEIR_CMD_PROGRESS_H
#define WEIR_CMD_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cmd/cmd.h"

struct progress {
    bool is_shown; /* standard error is a terminal, and the user does not want quiet */
    bool has_thread;
    int worker_fd;       /* that takes signs of life; -1: nobody waits for any */
    atomic_int permille; /* of the phase; -1: not known */
    pthread_t thread;
    /* What follows is the thread's too: under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_over;
    const char *what; /* "simulating" */
    int64_t begin_ns, phase_ns;
    int drawn_permille;
    int64_t drawn_ns; /* -1: nothing is on the terminal */
};

#define PROGRESS_LINE_BYTES 160 /* of which fewer than 80 are used */

/** Begins. Where nothing is to be shown, what follows costs nothing. A thread draws, four times a
 *  second, whatever the work does.
 *  @param what up to 20 characters, static: "importing" */
void progress_begin(struct progress *progress, const struct cmd_context *context, const char *what,
                    bool is_quiet);
/** The same without a thread, which would disturb what is measured: drawn by progress_show alone. */
void progress_begin_told(struct progress *progress, const struct cmd_context *context,
                         const char *what, bool is_quiet);
/** Goes on to the next part of the work, whose end is not known yet. */
void progress_phase(struct progress *progress, const char *what);
/** How far the phase is, and that the work goes on: a store to memory where a thread draws. @param arg a struct progress
 *  @param part 0 to 1 */
void progress_show(void *arg, double part);
/** Takes the line away. Nothing when it has been already. */
void progress_end(struct progress *progress);

/** The line as it is drawn, without what takes it away. @param permille -1: not known */
void progress_line(const char *what, int permille, int64_t elapsed_ns,
                   char out[PROGRESS_LINE_BYTES]);

#endif
