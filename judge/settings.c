/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds a key of a JSON object without building anything of it. The settings are written by Weir;
 * a text that is no JSON gives "not there", never a read past its end. */
#include "judge/settings.h"

#include <string.h>

#include "base/number.h"

/* Past the string that begins at its opening quote; NULL when it does not end. */
static const char *past_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at++;
        if (*at == '\0')
            return NULL;
    }
    return at + 1;
}

static const char *past_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Is the string from its opening quote this key, written without escapes? */
static bool is_key(const char *at, const char *end, const char *key)
{
    size_t length = strlen(key);

    return (size_t)(end - at) == length + 2 && strncmp(at + 1, key, length) == 0;
}

static int change_of_depth(char c)
{
    return c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
}

/* Where the value of that key of the outermost object begins; NULL. What follows that object is not
 * looked at. */
static const char *value_of(const char *settings, const char *key)
{
    int depth = 0;

    for (const char *at = settings; *at != '\0';) {
        const char *end, *value;

        if (*at != '"') {
            depth += change_of_depth(*at);
            if (depth == 0 && change_of_depth(*at) < 0)
                return NULL;
            at++;
            continue;
        }
        end = past_string(at);
        if (end == NULL)
            return NULL;
        value = past_blanks(end);
        if (depth == 1 && *value == ':' && is_key(at, end, key))
            return past_blanks(value + 1);
        at = end;
    }
    return NULL;
}

bool settings_ratio(const char *settings, const char *key, double *out)
{
    const char *value = value_of(settings, key);

    return value != NULL && number_ratio(value, strcspn(value, " \t\r\n,}"), out) == NUMBER_OK;
}

/* NULL when the value does not end. */
static const char *past_value(const char *at)
{
    int depth = 0;

    do {
        if (*at == '"') {
            at = past_string(at);
            if (at == NULL)
                return NULL;
        } else if (change_of_depth(*at) != 0) {
            depth += change_of_depth(*at++);
        } else {
            at += depth == 0 ? strcspn(at, " \t\r\n,}]") : strcspn(at, "\"{}[]");
        }
    } while (depth > 0 && *at != '\0');
    return depth == 0 ? at : NULL;
}

const char *settings_value(const char *settings, const char *key, size_t *length)
{
    const char *value = value_of(settings, key);
    const char *end = value == NULL ? NULL : past_value(value);

    if (end == NULL || end == value)
        return NULL;
    *length = (size_t)(end - value);
    return value;
}

bool settings_has(const char *settings, const char *key)
{
    const char *value = value_of(settings, key);

    return value != NULL && strncmp(value, "[]", 2) != 0 && strncmp(value, "{}", 2) != 0 &&
           strncmp(value, "null", 4) != 0;
}

const char *settings_text(const char *settings, const char *key, char *out, size_t out_bytes)
{
    const char *at = value_of(settings, key);
    const char *end = at == NULL || *at != '"' ? NULL : past_string(at);
    size_t n = 0;

    out[0] = '\0';
    if (end == NULL)
        return out;
    for (at++; at + 1 < end && n + 1 < out_bytes; at++) {
        if (*at == '\\') {
            at++;
            out[n++] = strchr("\"\\/", *at) != NULL ? *at : ' ';
            at += *at == 'u' && end - at > 5 ? 4 : 0;
        } else {
            out[n++] = *at;
        }
    }
    out[n] = '\0';
    return out;
}

bool settings_is(const char *settings, const char *key, const char *word)
{
    const char *value = value_of(settings, key);
    size_t length = strlen(word);

    return value != NULL && *value == '"' && strncmp(value + 1, word, length) == 0 &&
           value[1 + length] == '"';
}
