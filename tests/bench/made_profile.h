/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile of any length, as Nsight Systems exports one: steps of a training run on three streams,
 * with events between them, memory given out and taken back, and an NVTX range a step. */
#ifndef TESTS_BENCH_MADE_PROFILE_H
#define TESTS_BENCH_MADE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/** Writes a profile of at least @p n_rows rows (API calls, device work, synchronization, event
 *  records, memory events). @param path is replaced
 *  @return how many rows it got; 0 when it could not be written, which is told on standard error */
int64_t made_profile(const char *path, int64_t n_rows);

/* When a step begins, by the clock of the profile. */
int64_t made_profile_step_ns(int64_t step);
/* Rows of one step. */
int64_t made_profile_step_rows(void);

#endif
