/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row a line: fields between commas, in double quotes when they hold commas or quotes. The first
 * blank line ends the file, and nothing may follow it. */
#include <inttypes.h>

#include "base/utf8.h"
#include "policies/arena_csv_internal.h"

enum weir_status arena_csv_at(const struct arena_csv *csv, uint32_t column, struct weir_error *err)
{
    err->status = WEIR_INPUT;
    return weir_error_within(err, "%.200s:%" PRIu32 ":%" PRIu32, csv->name, csv->line, column);
}

int arena_csv_shown(const struct arena_csv_field *field)
{
    return field->length > 40 ? 40 : (int)field->length;
}

/* Behind the line that begins at csv->at, and its end without the line break. */
static const char *line_end(const struct arena_csv *csv, const char **next)
{
    const char *end = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));

    *next = end == NULL ? csv->end : end + 1;
    end = end == NULL ? csv->end : end;
    return end > csv->at && end[-1] == '\r' ? end - 1 : end;
}

static enum weir_status check_text(const struct arena_csv *csv, const char *line, const char *end,
                                   struct weir_error *err)
{
    for (const char *at = line; at < end;) {
        size_t n = utf8_length(at, end);

        if (n == 0 || (unsigned char)*at < ' ' || *at == 0x7f) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "byte 0x%02x, which is no text; expected UTF-8 without control "
                                 "characters: give a CSV file or a graph",
                                 (unsigned)(unsigned char)*at);
            return arena_csv_at(csv, (uint32_t)(at - line) + 1, err);
        }
        at += n;
    }
    return WEIR_OK;
}

/* A field in quotes, from the opening one on; *at goes behind it. */
static enum weir_status quoted_field(struct arena_csv *csv, const char *line, const char *end,
                                     const char **at, struct arena_csv_field *field,
                                     struct weir_error *err)
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
        return arena_csv_at(csv, column, err);
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

static enum weir_status cut_fields(struct arena_csv *csv, const char *line, const char *end,
                                   struct weir_error *err)
{
    csv->n_fields = 0;
    for (const char *at = line;; at++) {
        struct arena_csv_field *field = &csv->fields[csv->n_fields];
        enum weir_status status = WEIR_OK;

        if (csv->n_fields == ARENA_CSV_FIELDS) {
            (void)weir_error_set(err, WEIR_INPUT,
                                 "more than %d fields; expected those of weir-arena(1): is this a "
                                 "list of buffers?",
                                 ARENA_CSV_FIELDS);
            return arena_csv_at(csv, (uint32_t)(at - line) + 1, err);
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

enum weir_status arena_csv_row(struct arena_csv *csv, bool *is_done, struct weir_error *err)
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
                return arena_csv_at(csv, 1, err);
            }
        }
        return WEIR_OK;
    }
    csv->at = next;
    status = check_text(csv, line, end, err);
    return status == WEIR_OK ? cut_fields(csv, line, end, err) : status;
}
