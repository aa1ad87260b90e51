/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor of storing a run. */
#ifndef TESTS_BENCH_STORE_FLOOR_H
#define TESTS_BENCH_STORE_FLOOR_H

#include <stdint.h>

/** Makes a database at @p path, where there is no file, with that many rows of a span each, and
 *  closes it; exits when something fails. */
void store_floor(const char *path, int64_t n_rows);

#endif
