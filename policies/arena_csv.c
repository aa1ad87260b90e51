/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A header that names the columns, and a buffer in each row below. */
#include "policies/arena_csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/number.h"
#include "policies/arena_csv_internal.h"

static const char *const column_names[COLUMNS] = {"id",        "lower", "upper", "size",
                                                  "alignment", "hint",  "gaps",  "offset"};

/* Other names for the same. */
static const struct {
    const char *name;
    enum column column;
} other_names[] = {
    {"buffer", COLUMN_ID},   {"buffer_id", COLUMN_ID}, {"start", COLUMN_LOWER},
    {"begin", COLUMN_LOWER}, {"end", COLUMN_UPPER},
};

/* --- the header --- */

static bool is_word(const struct arena_csv_field *field, const char *word)
{
    return strlen(word) == field->length && memcmp(word, field->text, field->length) == 0;
}

static enum column column_of(const struct arena_csv_field *field)
{
    for (int i = 0; i < COLUMNS; i++) {
        if (is_word(field, column_names[i])) {
            return (enum column)i;
        }
    }
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (is_word(field, other_names[i].name)) {
            return other_names[i].column;
        }
    }
    return COLUMNS;
}

static enum weir_status take_column(struct arena_csv *csv, uint32_t index, struct weir_error *err)
{
    const struct arena_csv_field *field = &csv->fields[index];
    enum column column = column_of(field);

    if (column == COLUMNS) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "column '%.*s' is none of id, lower, upper, size, alignment, hint, "
                             "gaps and offset; remove or rename it",
                             arena_csv_shown(field), field->text);
        return arena_csv_at(csv, field->column, err);
    }
    if (csv->field_of[column] != ARENA_CSV_FIELDS) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "column '%.*s' says what column '%.*s' does; expected one of them: "
                             "remove the other",
                             arena_csv_shown(field), field->text,
                             arena_csv_shown(&csv->fields[csv->field_of[column]]),
                             csv->fields[csv->field_of[column]].text);
        return arena_csv_at(csv, field->column, err);
    }
    csv->field_of[column] = index;
    csv->has_end |= is_word(field, "end");
    return WEIR_OK;
}

static enum weir_status read_header(struct arena_csv *csv, struct weir_error *err)
{
    bool is_done;
    enum weir_status status;

    for (int i = 0; i < COLUMNS; i++) {
        csv->field_of[i] = ARENA_CSV_FIELDS;
    }
    status = arena_csv_row(csv, &is_done, err);
    if (status == WEIR_OK && is_done) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "nothing; expected a graph, or a first line such as "
                             "id,lower,upper,size and a buffer in each line below");
        return arena_csv_at(csv, 1, err);
    }
    for (uint32_t i = 0; i < csv->n_fields && status == WEIR_OK; i++) {
        status = take_column(csv, i, err);
    }
    for (int i = 0; i <= COLUMN_SIZE && status == WEIR_OK; i++) {
        if (csv->field_of[i] == ARENA_CSV_FIELDS) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "there is no column '%s'; expected id, lower, upper and size: "
                                 "add it to every line",
                                 column_names[i]);
            return arena_csv_at(csv, 1, err);
        }
    }
    csv->n_columns = csv->n_fields;
    return status;
}

/* --- values --- */

enum weir_status arena_csv_number(const struct arena_csv *csv, enum column column, const char *text,
                                  size_t length, int64_t least, int64_t *out,
                                  struct weir_error *err)
{
    const struct arena_csv_field *field = &csv->fields[csv->field_of[column]];
    uint32_t at = field->column + (uint32_t)(text - field->text);
    int64_t value = 0;
    enum number_fault fault = number_integer(text, length, &value);

    if (fault != NUMBER_OK) {
        (void)weir_error_set(
            err, WEIR_INPUT, "%s '%.*s': %s; expected a whole number in 64 bits: write one",
            column_names[column], length > 40 ? 40 : (int)length, text, number_fault_text(fault));
        return arena_csv_at(csv, at, err);
    }
    if (value < least) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "%s %" PRId64 "; expected %" PRId64 " or more: correct it",
                             column_names[column], value, least);
        return arena_csv_at(csv, at, err);
    }
    *out = value;
    return WEIR_OK;
}

/* The number in a column; what is there stays when there is no such column, or nothing in one that
 * need not be there. */
static enum weir_status read_number(const struct arena_csv *csv, enum column column, int64_t least,
                                    int64_t *out, struct weir_error *err)
{
    const struct arena_csv_field *field;

    if (csv->field_of[column] == ARENA_CSV_FIELDS) {
        return WEIR_OK;
    }
    field = &csv->fields[csv->field_of[column]];
    if (column > COLUMN_SIZE && field->length == 0) {
        return WEIR_OK;
    }
    return arena_csv_number(csv, column, field->text, field->length, least, out, err);
}

enum weir_status arena_csv_past_end(const struct arena_csv *csv, enum column column, int64_t *upper,
                                    struct weir_error *err)
{
    if (!csv->has_end) {
        return WEIR_OK;
    }
    if (*upper == INT64_MAX) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "an end at %" PRId64 ", behind which no step is in 64 bits; expected "
                             "less",
                             *upper);
        return arena_csv_at(csv, csv->fields[csv->field_of[column]].column, err);
    }
    (*upper)++;
    return WEIR_OK;
}

/* --- buffers --- */

static enum weir_status read_id(struct arena_csv *csv, struct arena_buffer *buffer,
                                struct weir_error *err)
{
    const struct arena_csv_field *field = &csv->fields[csv->field_of[COLUMN_ID]];
    uint32_t id, before = names_count(csv->names);
    enum weir_status status;

    if (field->length == 0) {
        (void)weir_error_set(err, WEIR_INPUT, "an empty id; expected a name: give one");
        return arena_csv_at(csv, field->column, err);
    }
    status = names_intern(csv->names, field->text, field->length, &id, err);
    if (status != WEIR_OK) {
        return status;
    }
    if (names_count(csv->names) == before) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "id '%.*s' stands in line %" PRIu32 " too; expected one line for each "
                             "id: rename one of them",
                             arena_csv_shown(field), field->text, id + 2);
        return arena_csv_at(csv, field->column, err);
    }
    buffer->name = arena_text(&csv->problem.memory, field->text, field->length);
    return buffer->name == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status read_buffer(struct arena_csv *csv, struct arena_buffer *buffer,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (csv->n_fields != csv->n_columns) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "%" PRIu32 " fields; expected %" PRIu32 ", as the first line has: add "
                             "or remove some",
                             csv->n_fields, csv->n_columns);
        return arena_csv_at(csv, csv->fields[csv->n_fields - 1].column, err);
    }
    *buffer = (struct arena_buffer){.align_bytes = 1, .fixed_bytes = -1, .hint_bytes = -1};
    status = read_id(csv, buffer, err);
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_LOWER, INT64_MIN, &buffer->lower, err);
    }
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_UPPER, INT64_MIN, &buffer->upper, err);
    }
    if (status == WEIR_OK) {
        status = arena_csv_past_end(csv, COLUMN_UPPER, &buffer->upper, err);
    }
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_SIZE, 0, &buffer->size_bytes, err);
    }
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_ALIGNMENT, 1, &buffer->align_bytes, err);
    }
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_HINT, -1, &buffer->hint_bytes, err);
    }
    if (status == WEIR_OK) {
        status = read_number(csv, COLUMN_OFFSET, -1, &buffer->fixed_bytes, err);
    }
    if (status == WEIR_OK && buffer->lower >= buffer->upper) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "a life of the steps [%" PRId64 ", %" PRId64 "); expected one step at "
                             "least: let lower be below upper",
                             buffer->lower, buffer->upper);
        return arena_csv_at(csv, csv->fields[csv->field_of[COLUMN_UPPER]].column, err);
    }
    return status == WEIR_OK ? arena_csv_gaps(csv, buffer, err) : status;
}

static enum weir_status read_all(struct arena_csv *csv, struct weir_error *err)
{
    enum weir_status status = read_header(csv, err);

    while (status == WEIR_OK) {
        bool is_done;

        status = arena_csv_row(csv, &is_done, err);
        if (status != WEIR_OK || is_done) {
            break;
        }
        status = array_grow_raw(&csv->problem.buffers, &csv->room,
                                (size_t)csv->problem.n_buffers + 1, err);
        if (status == WEIR_OK) {
            status = read_buffer(csv, &csv->problem.buffers[csv->problem.n_buffers], err);
            csv->problem.n_buffers++;
        }
    }
    return status;
}

enum weir_status arena_csv_read(const char *text, size_t length, const char *name,
                                struct arena_problem *out, struct weir_error *err)
{
    struct arena_csv csv = {.name = name, .at = text, .end = text + length};
    enum weir_status status;

    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        csv.at += 3; /* a byte order mark */
    }
    csv.names = names_new();
    if (csv.names == NULL) {
        return weir_error_memory(err);
    }
    status = read_all(&csv, err);
    if (status == WEIR_OK) {
        status = arena_problem_check(&csv.problem, err);
        if (status == WEIR_INPUT) {
            (void)weir_error_within(err, "%.200s", name);
        }
    }
    names_free(csv.names);
    if (status != WEIR_OK) {
        arena_problem_free(&csv.problem);
        return status;
    }
    *out = csv.problem;
    return WEIR_OK;
}
