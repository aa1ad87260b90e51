/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory the process has resident, from Linux's /proc: 0 where there is none. */
#ifndef TESTS_BENCH_RESIDENT_H
#define TESTS_BENCH_RESIDENT_H

#include <stdint.h>

int64_t resident_bytes(void);
/** The most since the last call of resident_reset_peak. */
int64_t resident_peak_bytes(void);
void resident_reset_peak(void);

#endif
