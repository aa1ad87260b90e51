/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that falls into items, none of which needs another, on several threads. What comes of it is
 * the same for any number of them when each item writes only what is its own. */
#ifndef WEIR_BASE_WORKERS_H
#define WEIR_BASE_WORKERS_H

#include <stdint.h>

#define WORKERS_MOST 256

/** Calls @p work once for each item below @p n_items, begun in that order, on up to so many threads,
 *  of which the caller's is one; returns when all are done. A thread that cannot be made is done
 *  without. Signals that end the program stay with the caller's.
 *  @param n_threads 1 to WORKERS_MOST
 *  @param work gets the number of the thread it is on, below n_threads (the caller's is 0) */
void workers_run(uint32_t n_items, uint32_t n_threads,
                 void (*work)(void *arg, uint32_t item, uint32_t thread), void *arg);

#endif
