/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers by the block: PACKED_ROWS rows of a list are one row of a table, and each field of
 * theirs is a whole number, the base, and a blob of digits, the same number of them for each row:
 *
 *     value of row i = base + CAST(substr(digits, 1 + width * i, width) AS INTEGER)
 *
 * where width = length(digits) / rows, so that a stock SQLite reads it and one row costs no more than
 * another. No digits at all, which SQLite takes for NULL, are differences of 0. A field that may be
 * NULL never has a difference of 0 but for that:
 *
 *     value of row i = base + nullif(CAST(...), 0)
 *
 * Written in blocks, a row costs a tenth of what a row of its own does, and takes half the room. */
#ifndef WEIR_STORE_PACKED_H
#define WEIR_STORE_PACKED_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/digits.h"

/* The same two numbers in C and in SQL. */
#define PACKED_BITS 6
#define PACKED_BITS_SQL "6"
#define PACKED_PLACE_SQL "63"
#define PACKED_ROWS (1U << PACKED_BITS)

#define PACKED_NULL \
    INT64_MIN /* in an array of values: no time, size or difference of ours is that */

/* Why a block cannot be packed. */
#define PACKED_FAULT "the times of a run are too far apart to be stored"

struct packed {
    int64_t base;
    size_t n_digits; /* in all, no NUL behind them */
    char room[DIGITS_ROOM + PACKED_ROWS * DIGITS_MOST + DIGITS_ROOM];
    const char *digits; /* in the room */
};

/** Packs n values, 1 to PACKED_ROWS. @param may_be_null else none is PACKED_NULL
 *  @return false when there is no base for them, which takes values all over the 64 bits */
MUST_CHECK bool packed_write(struct packed *packed, const int64_t *values, unsigned n,
                             bool may_be_null);
/** Unpacks n values.
 *  @return whether the digits are some that packed_write writes, and the sums whole
 *  numbers of 64 bits */
MUST_CHECK bool packed_read(int64_t base, const char *digits, size_t n_digits, unsigned n,
                            bool may_be_null, int64_t *values);

/** Gives the connection the aggregates weir_base(place, value, may_be_null) and weir_digits(...), by
 *  which rows of their own become blocks: place is the row's in the block. @return of SQLite */
int packed_register(sqlite3 *db);

#endif
