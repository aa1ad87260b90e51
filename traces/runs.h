/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting of rows that mostly stand in order already: those of a profile come as a few sorted
 * sequences, one a table, a thread or a stream, one behind the other or mixed. */
#ifndef WEIR_TRACES_RUNS_H
#define WEIR_TRACES_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** As qsort by a total order. Rows in order cost one look each; a few sorted sequences, however they
 *  are mixed, little more, and 8 bytes a row beside them; anything else what qsort costs. */
void runs_sort(void *rows, size_t n, size_t row_bytes, int (*order)(const void *, const void *));

/** The numbers of the rows in order, which stay where they are. False when it takes qsort: then
 *  nothing was done. @param numbers n of them */
bool runs_order(const void *rows, size_t n, size_t row_bytes,
                int (*order)(const void *, const void *), uint32_t *numbers);

#endif
