/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row a line: fields between commas, in double quotes when they hold commas or quotes. The first
 * blank line ends the file, and nothing may follow it. */
#include "policies/arena_csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/names.h"
#include "base/number.h"
#include "base/utf8.h"

#define FIELDS_MOST 32

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

struct field {
    const char *text; /* in the file, or of the problem's memory when quotes were doubled */
    size_t length;
    uint32_t column; /* of the line, from 1 */
};

struct csv {
    const char *name;
    const char *at, *end; /* what has not been read */
    uint32_t line;        /* of the row read last, from 1 */
    struct field fields[FIELDS_MOST];
    uint32_t n_fields;
    uint32_t field_of[COLUMNS]; /* FIELDS_MOST: there is no such column */
    bool has_end;               /* the upper column is called end */
    uint32_t n_columns;
    struct names *names;
    struct arena_problem problem;
    size_t room;
};

/* "file:line:column: " in front of a message. */
static enum weir_status at_column(const struct csv *csv, uint32_t column, struct weir_error *err)
{
    err->status = WEIR_INPUT;
    return weir_error_within(err, "%.200s:%" PRIu32 ":%" PRIu32, csv->name, csv->line, column);
}

/* What is shown of a field. */
static int shown(const struct field *field)
{
    return field->length > 40 ? 40 : (int)field->length;
}

/* --- rows --- */

/* Behind the line that begins at csv->at, and its end without the line break. */
static const char *line_end(const struct csv *csv, const char **next)
{
    const char *end = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));

    *next = end == NULL ? csv->end : end + 1;
    end = end == NULL ? csv->end : end;
    return end > csv->at && end[-1] == '\r' ? end - 1 : end;
}

static enum weir_status check_text(const struct csv *csv, const char *line, const char *end,
                                   struct weir_error *err)
{
    for (const char *at = line; at < end;) {
        size_t n = utf8_length(at, end);

        if (n == 0 || (unsigned char)*at < ' ' || *at == 0x7f) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "byte 0x%02x, which is no text; expected UTF-8 without control "
                                 "characters: give a CSV file or a graph",
                                 (unsigned)(unsigned char)*at);
            return at_column(csv, (uint32_t)(at - line) + 1, err);
        }
        at += n;
    }
    return WEIR_OK;
}

/* A field in quotes, from the opening one on; *at goes behind it. */
static enum weir_status quoted_field(struct csv *csv, const char *line, const char *end,
                                     const char **at, struct field *field, struct weir_error *err)
{
    const char *begin = *at + 1, *from = begin;
    char *text, *to;

    while (from < end && (*from != '"' || (from + 1 < end && from[1] == '"'))) {
        from += *from == '"' ? 2 : 1;
    }
    if (from == end || (from + 1 < end && from[1] != ',')) {
        uint32_t column = (uint32_t)((from == end ? *at : from + 1) - line) + 1;

        (void)weir_error_set(err, WEIR_INPUT, "%s",
                             from == end ? "a quote that nothing closes on its line; expected "
                                           "another before the next comma: add it"
                                         : "text behind a closing quote; expected a comma: write "
                                           "a quote inside of quotes twice");
        return at_column(csv, column, err);
    }
    text = to = arena_alloc(&csv->problem.memory, (size_t)(from - begin) + 1);
    if (text == NULL) {
        return weir_error_memory(err);
    }
    for (const char *c = begin; c < from; c += *c == '"' ? 2 : 1) {
        *to++ = *c;
    }
    field->text = text;
    field->length = (size_t)(to - text);
    *at = from + 1;
    return WEIR_OK;
}

static enum weir_status cut_fields(struct csv *csv, const char *line, const char *end,
                                   struct weir_error *err)
{
    csv->n_fields = 0;
    for (const char *at = line;; at++) {
        struct field *field = &csv->fields[csv->n_fields];
        enum weir_status status = WEIR_OK;

        if (csv->n_fields == FIELDS_MOST) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "more than %d fields; expected those of weir-arena(1): is this a "
                                 "list of buffers?",
                                 FIELDS_MOST);
            return at_column(csv, (uint32_t)(at - line) + 1, err);
        }
        field->column = (uint32_t)(at - line) + 1;
        if (at < end && *at == '"') {
            status = quoted_field(csv, line, end, &at, field, err);
        } else {
            field->text = at;
            while (at < end && *at != ',') {
                at++;
            }
            field->length = (size_t)(at - field->text);
        }
        if (status != WEIR_OK) {
            return status;
        }
        csv->n_fields++;
        if (at == end) {
            return WEIR_OK;
        }
    }
}

/* Reads the next row into fields. *is_done behind the last. */
static enum weir_status next_row(struct csv *csv, bool *is_done, struct weir_error *err)
{
    const char *next, *line = csv->at, *end = line_end(csv, &next);
    enum weir_status status;

    csv->line++;
    *is_done = csv->at == csv->end || end == line;
    if (*is_done) {
        for (const char *at = csv->at; at < csv->end; at++) {
            if (*at != '\n' && *at != '\r' && *at != ' ' && *at != '\t') {
                (void)weir_error_set(err, WEIR_INPUT,
                                     "a blank line, and more behind it; expected the end of the "
                                     "file, which a blank line is: remove it");
                return at_column(csv, 1, err);
            }
        }
        return WEIR_OK;
    }
    csv->at = next;
    status = check_text(csv, line, end, err);
    return status == WEIR_OK ? cut_fields(csv, line, end, err) : status;
}

/* --- the header --- */

static bool is_word(const struct field *field, const char *word)
{
    return strlen(word) == field->length && memcmp(word, field->text, field->length) == 0;
}

static enum column column_of(const struct field *field)
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

static enum weir_status take_column(struct csv *csv, uint32_t index, struct weir_error *err)
{
    const struct field *field = &csv->fields[index];
    enum column column = column_of(field);

    if (column == COLUMNS) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "column '%.*s' is none of id, lower, upper, size, alignment, hint, "
                             "gaps and offset; remove or rename it",
                             shown(field), field->text);
        return at_column(csv, field->column, err);
    }
    if (csv->field_of[column] != FIELDS_MOST) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "column '%.*s' says what column '%.*s' does; expected one of them: "
                             "remove the other",
                             shown(field), field->text, shown(&csv->fields[csv->field_of[column]]),
                             csv->fields[csv->field_of[column]].text);
        return at_column(csv, field->column, err);
    }
    csv->field_of[column] = index;
    csv->has_end |= is_word(field, "end");
    return WEIR_OK;
}

static enum weir_status read_header(struct csv *csv, struct weir_error *err)
{
    bool is_done;
    enum weir_status status;

    for (int i = 0; i < COLUMNS; i++) {
        csv->field_of[i] = FIELDS_MOST;
    }
    status = next_row(csv, &is_done, err);
    if (status == WEIR_OK && is_done) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "nothing; expected a graph, or a first line such as "
                             "id,lower,upper,size and a buffer in each line below");
        return at_column(csv, 1, err);
    }
    for (uint32_t i = 0; i < csv->n_fields && status == WEIR_OK; i++) {
        status = take_column(csv, i, err);
    }
    for (int i = 0; i <= COLUMN_SIZE && status == WEIR_OK; i++) {
        if (csv->field_of[i] == FIELDS_MOST) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "there is no column '%s'; expected id, lower, upper and size: "
                                 "add it to every line",
                                 column_names[i]);
            return at_column(csv, 1, err);
        }
    }
    csv->n_columns = csv->n_fields;
    return status;
}

/* --- values --- */

static enum weir_status take_number(const struct csv *csv, enum column column, const char *text,
                                    size_t length, int64_t least, int64_t *out,
                                    struct weir_error *err)
{
    const struct field *field = &csv->fields[csv->field_of[column]];
    uint32_t at = field->column + (uint32_t)(text - field->text);
    int64_t value = 0;
    enum number_fault fault = number_integer(text, length, &value);

    if (fault != NUMBER_OK) {
        (void)weir_error_set(
            err, WEIR_INPUT, "%s '%.*s': %s; expected a whole number in 64 bits: write one",
            column_names[column], length > 40 ? 40 : (int)length, text, number_fault_text(fault));
        return at_column(csv, at, err);
    }
    if (value < least) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "%s %" PRId64 "; expected %" PRId64 " or more: correct it",
                             column_names[column], value, least);
        return at_column(csv, at, err);
    }
    *out = value;
    return WEIR_OK;
}

/* The number in a column; what is there stays when there is no such column, or nothing in one that
 * need not be there. */
static enum weir_status read_number(const struct csv *csv, enum column column, int64_t least,
                                    int64_t *out, struct weir_error *err)
{
    const struct field *field;

    if (csv->field_of[column] == FIELDS_MOST) {
        return WEIR_OK;
    }
    field = &csv->fields[csv->field_of[column]];
    if (column > COLUMN_SIZE && field->length == 0) {
        return WEIR_OK;
    }
    return take_number(csv, column, field->text, field->length, least, out, err);
}

/* The step behind a last one that is in the lifetime. */
static enum weir_status past_end(const struct csv *csv, enum column column, int64_t *upper,
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
        return at_column(csv, csv->fields[csv->field_of[column]].column, err);
    }
    (*upper)++;
    return WEIR_OK;
}

/* --- gaps --- */

static enum weir_status bad_gap(const struct csv *csv, const char *text, size_t length,
                                const char *what, struct weir_error *err)
{
    const struct field *field = &csv->fields[csv->field_of[COLUMN_GAPS]];

    (void)weir_error_set(err, WEIR_INPUT, "gap '%.*s' %s", length > 40 ? 40 : (int)length, text,
                         what);
    return at_column(csv, field->column + (uint32_t)(text - field->text), err);
}

/* LOWER-UPPER, or LOWER-UPPER@FROM:TO. */
static enum weir_status read_gap(const struct csv *csv, const char *text, size_t length,
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
    status =
        take_number(csv, COLUMN_GAPS, text, (size_t)(dash - text), INT64_MIN, &gap->lower, err);
    if (status == WEIR_OK) {
        status = take_number(csv, COLUMN_GAPS, dash + 1, (size_t)(steps_end - dash) - 1, INT64_MIN,
                             &gap->upper, err);
    }
    if (status == WEIR_OK) {
        status = past_end(csv, COLUMN_GAPS, &gap->upper, err);
    }
    if (status == WEIR_OK && window != NULL) {
        status = take_number(csv, COLUMN_GAPS, window + 1, (size_t)(colon - window) - 1, 0,
                             &gap->from_bytes, err);
    }
    if (status == WEIR_OK && window != NULL) {
        status = take_number(csv, COLUMN_GAPS, colon + 1, (size_t)(end - colon) - 1, 0,
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

static enum weir_status read_gaps(struct csv *csv, struct arena_buffer *buffer,
                                  struct weir_error *err)
{
    const struct field *field;
    struct arena_gap *gaps;
    size_t n = 0;

    if (csv->field_of[COLUMN_GAPS] == FIELDS_MOST) {
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

/* --- buffers --- */

static enum weir_status read_id(struct csv *csv, struct arena_buffer *buffer,
                                struct weir_error *err)
{
    const struct field *field = &csv->fields[csv->field_of[COLUMN_ID]];
    uint32_t id, before = names_count(csv->names);
    enum weir_status status;

    if (field->length == 0) {
        (void)weir_error_set(err, WEIR_INPUT, "an empty id; expected a name: give one");
        return at_column(csv, field->column, err);
    }
    status = names_intern(csv->names, field->text, field->length, &id, err);
    if (status != WEIR_OK) {
        return status;
    }
    if (names_count(csv->names) == before) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "id '%.*s' stands in line %" PRIu32 " too; expected one line for each "
                             "id: rename one of them",
                             shown(field), field->text, id + 2);
        return at_column(csv, field->column, err);
    }
    buffer->name = arena_text(&csv->problem.memory, field->text, field->length);
    return buffer->name == NULL ? weir_error_memory(err) : WEIR_OK;
}

static enum weir_status read_buffer(struct csv *csv, struct arena_buffer *buffer,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (csv->n_fields != csv->n_columns) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "%" PRIu32 " fields; expected %" PRIu32 ", as the first line has: add "
                             "or remove some",
                             csv->n_fields, csv->n_columns);
        return at_column(csv, csv->fields[csv->n_fields - 1].column, err);
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
        status = past_end(csv, COLUMN_UPPER, &buffer->upper, err);
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
        return at_column(csv, csv->fields[csv->field_of[COLUMN_UPPER]].column, err);
    }
    return status == WEIR_OK ? read_gaps(csv, buffer, err) : status;
}

static enum weir_status read_all(struct csv *csv, struct weir_error *err)
{
    enum weir_status status = read_header(csv, err);

    while (status == WEIR_OK) {
        bool is_done;

        status = next_row(csv, &is_done, err);
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
    struct csv csv = {.name = name, .at = text, .end = text + length};
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

/* --- writing --- */

/* The id as it is, for programs that look for it: nothing is put in front of what a spreadsheet would
 * take for a formula, as quote_csv does. */
static void write_id(const char *id, FILE *file)
{
    if (strpbrk(id, ",\"\r\n") == NULL) {
        fputs(id, file);
        return;
    }
    putc('"', file);
    for (const char *at = id; *at != '\0'; at++) {
        if (*at == '"') {
            putc('"', file);
        }
        putc(*at, file);
    }
    putc('"', file);
}

static void write_gaps(const struct arena_buffer *buffer, FILE *file)
{
    putc(',', file);
    for (uint32_t i = 0; i < buffer->n_gaps; i++) {
        const struct arena_gap *gap = &buffer->gaps[i];

        fprintf(file, "%s%" PRId64 "-%" PRId64, i == 0 ? "" : " ", gap->lower, gap->upper);
        if (gap->from_bytes < gap->to_bytes) {
            fprintf(file, "@%" PRId64 ":%" PRId64, gap->from_bytes, gap->to_bytes);
        }
    }
}

void arena_csv_write(const struct arena_problem *problem, const int64_t *offsets_bytes, FILE *file)
{
    bool has_align = false, has_hint = false, has_gaps = false;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        has_align |= problem->buffers[i].align_bytes != 1;
        has_hint |= problem->buffers[i].hint_bytes >= 0;
        has_gaps |= problem->buffers[i].n_gaps > 0;
    }
    fprintf(file, "id,lower,upper,size%s%s%s,offset\n", has_align ? ",alignment" : "",
            has_hint ? ",hint" : "", has_gaps ? ",gaps" : "");
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];

        write_id(at->name, file);
        fprintf(file, ",%" PRId64 ",%" PRId64 ",%" PRId64, at->lower, at->upper, at->size_bytes);
        if (has_align) {
            fprintf(file, ",%" PRId64, at->align_bytes);
        }
        if (has_hint) {
            fprintf(file, ",%" PRId64, at->hint_bytes);
        }
        if (has_gaps) {
            write_gaps(at, file);
        }
        fprintf(file, ",%" PRId64 "\n", offsets_bytes[i]);
    }
}
