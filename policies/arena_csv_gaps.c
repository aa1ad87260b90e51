/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps of a buffer: steps of its life in which only some of its bytes are in use, or none. */
#include <inttypes.h>
#include <stdlib.h>

#include "policies/arena_csv_internal.h"

static enum weir_status bad_gap(const struct arena_csv *csv, const char *text, size_t length,
                                const char *what, struct weir_error *err)
{
    const struct arena_csv_field *field = &csv->fields[csv->field_of[COLUMN_GAPS]];

    (void)weir_error_set(err, WEIR_INPUT, "gap '%.*s' %s", length > 40 ? 40 : (int)length, text,
                         what);
    return arena_csv_at(csv, field->column + (uint32_t)(text - field->text), err);
}

/* LOWER-UPPER, or LOWER-UPPER@FROM:TO. */
static enum weir_status read_gap(const struct arena_csv *csv, const char *text, size_t length,
                                 const struct arena_buffer *buffer, struct arena_gap *gap,
                                 struct weir_error *err)
{
    const char *end = text + length, *window = memchr(text, '@', length);
    const char *steps_end = window == NULL ? end : window;
    size_t n_steps = (size_t)(steps_end - text);
    const char *dash = n_steps < 2 ? NULL : memchr(text + 1, '-', n_steps - 1);
    const char *colon = window == NULL ? NULL : memchr(window, ':', (size_t)(end - window));
    enum weir_status status;

    if (dash == NULL || (window != NULL && colon == NULL)) {
        return bad_gap(csv, text, length,
                       "is of no form that is known; expected LOWER-UPPER, or "
                       "LOWER-UPPER@FROM:TO: write it so",
                       err);
    }
    *gap = (struct arena_gap){0, 0, 0, 0};
    status = arena_csv_number(csv, COLUMN_GAPS, text, (size_t)(dash - text), INT64_MIN, &gap->lower,
                              err);
    if (status == WEIR_OK) {
        status = arena_csv_number(csv, COLUMN_GAPS, dash + 1, (size_t)(steps_end - dash) - 1,
                                  INT64_MIN, &gap->upper, err);
    }
    if (status == WEIR_OK) {
        status = arena_csv_past_end(csv, COLUMN_GAPS, &gap->upper, err);
    }
    if (status == WEIR_OK && window != NULL) {
        status = arena_csv_number(csv, COLUMN_GAPS, window + 1, (size_t)(colon - window) - 1, 0,
                                  &gap->from_bytes, err);
    }
    if (status == WEIR_OK && window != NULL) {
        status = arena_csv_number(csv, COLUMN_GAPS, colon + 1, (size_t)(end - colon) - 1, 0,
                                  &gap->to_bytes, err);
    }
    if (status == WEIR_OK &&
        (gap->lower >= gap->upper || gap->lower < buffer->lower || gap->upper > buffer->upper)) {
        return bad_gap(csv, text, length,
                       "is no stretch of its buffer's life; expected one that begins before it "
                       "ends and lies inside: correct it",
                       err);
    }
    if (status == WEIR_OK &&
        (gap->from_bytes > gap->to_bytes || gap->to_bytes > buffer->size_bytes)) {
        return bad_gap(csv, text, length,
                       "keeps bytes that its buffer does not have; expected FROM:TO inside of its "
                       "size: correct it",
                       err);
    }
    return status;
}

static int gap_compare(const void *a, const void *b)
{
    const struct arena_gap *x = a, *y = b;

    return (x->lower > y->lower) - (x->lower < y->lower);
}

enum weir_status arena_csv_gaps(struct arena_csv *csv, struct arena_buffer *buffer,
                                struct weir_error *err)
{
    const struct arena_csv_field *field;
    struct arena_gap *gaps;
    size_t n = 0;

    if (csv->field_of[COLUMN_GAPS] == ARENA_CSV_FIELDS) {
        return WEIR_OK;
    }
    field = &csv->fields[csv->field_of[COLUMN_GAPS]];
    gaps = arena_array(&csv->problem.memory, field->length / 2 + 1, sizeof *gaps);
    if (gaps == NULL) {
        return weir_error_memory(err);
    }
    for (size_t at = 0; at < field->length;) {
        size_t length = 0;
        enum weir_status status;

        while (at + length < field->length && field->text[at + length] != ' ') {
            length++;
        }
        if (length > 0) {
            status = read_gap(csv, field->text + at, length, buffer, &gaps[n], err);
            if (status != WEIR_OK) {
                return status;
            }
            n++;
        }
        at += length + 1;
    }
    qsort(gaps, n, sizeof *gaps, gap_compare);
    for (size_t i = 1; i < n; i++) {
        if (gaps[i].lower < gaps[i - 1].upper) {
            return bad_gap(csv, field->text, field->length,
                           "has two that meet; expected gaps apart from each other: join them",
                           err);
        }
    }
    buffer->gaps = gaps;
    buffer->n_gaps = (uint32_t)n;
    return WEIR_OK;
}
