/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of reading a list of buffers share. */
#ifndef WEIR_POLICIES_ARENA_CSV_INTERNAL_H
#define WEIR_POLICIES_ARENA_CSV_INTERNAL_H

#include "base/names.h"
#include "policies/arena_csv.h"

#define ARENA_CSV_FIELDS 32

enum column {
    COLUMN_ID,
    COLUMN_LOWER,
    COLUMN_UPPER,
    COLUMN_SIZE,
    COLUMN_ALIGNMENT,
    COLUMN_HINT,
    COLUMN_GAPS,
    COLUMN_OFFSET,
    COLUMNS
};

struct arena_csv_field {
    const char *text; /* in the file, or of the problem's memory when quotes were doubled */
    size_t length;
    uint32_t column; /* of the line, from 1 */
};

struct arena_csv {
    const char *name;
    const char *at, *end; /* what has not been read */
    uint32_t line;        /* of the row read last, from 1 */
    struct arena_csv_field fields[ARENA_CSV_FIELDS];
    uint32_t n_fields;
    uint32_t field_of[COLUMNS]; /* ARENA_CSV_FIELDS: there is no such column */
    bool has_end;               /* the upper column is called end */
    uint32_t n_columns;
    struct names *names;
    struct arena_problem problem;
    size_t room;
};

/** Reads the next row into fields. *is_done behind the last. */
MUST_CHECK enum weir_status arena_csv_row(struct arena_csv *csv, bool *is_done,
                                          struct weir_error *err);
/** "file:line:column: " in front of a message. @return WEIR_INPUT */
enum weir_status arena_csv_at(const struct arena_csv *csv, uint32_t column, struct weir_error *err);
/** How many bytes are shown of a field. */
int arena_csv_shown(const struct arena_csv_field *field);
/** The whole number that the text is, which stands in the field of that column. */
MUST_CHECK enum weir_status arena_csv_number(const struct arena_csv *csv, enum column column,
                                             const char *text, size_t length, int64_t least,
                                             int64_t *out, struct weir_error *err);
/** Of a column of last steps that are in the lifetime: the step behind. */
MUST_CHECK enum weir_status arena_csv_past_end(const struct arena_csv *csv, enum column column,
                                               int64_t *upper, struct weir_error *err);
/** Reads the gaps of the row into the buffer, whose lifetime and size are there: by step. */
MUST_CHECK enum weir_status arena_csv_gaps(struct arena_csv *csv, struct arena_buffer *buffer,
                                           struct weir_error *err);

#endif
