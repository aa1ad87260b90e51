/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes one JSON object: escapes every text, keeps integers whole, puts the commas. */
#ifndef WEIR_CMD_JSON_H
#define WEIR_CMD_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Zeroed but for file is ready. */
struct json {
    FILE *file;
    int depth;
    bool has_item[64]; /* at each depth: a comma is due before the next */
};

/* key NULL inside an array and for the outermost value. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_text(struct json *json, const char *key, const char *text);
void json_integer(struct json *json, const char *key, int64_t value);
/** Shortest round-trip form; null when not finite. */
void json_ratio(struct json *json, const char *key, double value);
void json_boolean(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/** A value that is JSON already, such as the settings of a run. */
void json_raw(struct json *json, const char *key, const char *text);
void json_raw_part(struct json *json, const char *key, const char *text, size_t length);

#endif
