/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON by RFC 8259, indented, one member a line. Whatever a text holds, the output is valid UTF-8
 * and valid JSON. */
#include "cmd/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quote.h"

static void put(void *file, const char *bytes, size_t n_bytes)
{
    (void)fwrite(bytes, 1, n_bytes, file);
}

static void quoted(struct json *json, const char *text)
{
    putc('"', json->file);
    quote_json(text, put, json->file);
    putc('"', json->file);
}

static void indent(struct json *json)
{
    putc('\n', json->file);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->file);
}

static void begin(struct json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->has_item[json->depth])
            putc(',', json->file);
        json->has_item[json->depth] = true;
        indent(json);
    }
    if (key != NULL) {
        quoted(json, key);
        fputs(": ", json->file);
    }
}

static void open_with(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    putc(bracket, json->file);
    json->depth++;
    assert((size_t)json->depth < sizeof json->has_item / sizeof *json->has_item);
    json->has_item[json->depth] = false;
}

static void close_with(struct json *json, char bracket)
{
    bool had_item = json->has_item[json->depth];

    json->depth--;
    if (had_item)
        indent(json);
    putc(bracket, json->file);
    if (json->depth == 0)
        putc('\n', json->file);
}

void json_open_object(struct json *json, const char *key)
{
    open_with(json, key, '{');
}

void json_close_object(struct json *json)
{
    close_with(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
    open_with(json, key, '[');
}

void json_close_array(struct json *json)
{
    close_with(json, ']');
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin(json, key);
    quoted(json, text);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    begin(json, key);
    fprintf(json->file, "%" PRId64, value);
}

void json_ratio(struct json *json, const char *key, double value)
{
    char text[NUMBER_TEXT_BYTES];

    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    number_ratio_text(value, text);
    begin(json, key);
    fputs(text, json->file);
}

void json_boolean(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->file);
}

void json_raw(struct json *json, const char *key, const char *text)
{
    json_raw_part(json, key, text, strlen(text));
}

void json_raw_part(struct json *json, const char *key, const char *text, size_t length)
{
    begin(json, key);
    (void)fwrite(text, 1, length, json->file);
}
