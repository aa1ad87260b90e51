/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single values out of the settings of a run, which are a JSON object. */
#ifndef WEIR_JUDGE_SETTINGS_H
#define WEIR_JUDGE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/** The number under that key of the outermost object (the first, when it stands there twice).
 *  @return false when there is none, or what stands there is no finite number */
bool settings_ratio(const char *settings, const char *key, double *out);
/** Is there something under the key, and no empty list or object, and not null? */
bool settings_has(const char *settings, const char *key);
/** Where the value of that key begins, and how long it is; NULL when there is none. Of an object the
 *  functions here find the keys. */
const char *settings_value(const char *settings, const char *key, size_t *length);
/** The text under the key, cut when it is longer than the room; its escapes but those of quotes and
 *  slashes become blanks. "" when there is none */
const char *settings_text(const char *settings, const char *key, char *out, size_t out_bytes);
/** Is that word, which needs no escapes, the text under the key? */
bool settings_is(const char *settings, const char *key, const char *word);

#endif
