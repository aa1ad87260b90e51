/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts from outside: names can hold anything, and become one line of UTF-8 without control
 * characters, so that every form in which Weir writes them can. */
#include <string.h>

#include "base/utf8.h"
#include "traces/recording_internal.h"

#define TEXT_BYTES 160 /* kept of a text at most */

/* One character of the text, or what stands for it, at the end of the result.
 * @param length of it; 0: this byte is none */
static size_t put_character(const char *at, size_t length, char *out)
{
    const unsigned char *text = (const unsigned char *)at;

    /* The controls of ASCII, and those from U+0080 to U+009F. */
    if (length == 0 || (length == 2 && text[0] == 0xC2 && text[1] < 0xA0)) {
        *out = '?';
    } else if (length == 1 && (text[0] < 0x20 || text[0] == 0x7F)) {
        *out = text[0] >= '\t' && text[0] <= '\r' ? ' ' : '?';
    } else {
        memcpy(out, text, length);
        return length;
    }
    return 1;
}

enum weir_status recording_text(struct recording *recording, const char *text, size_t length,
                                uint32_t *id, struct weir_error *err)
{
    static const char cut[] = "...";
    char out[TEXT_BYTES];
    size_t used = 0, i = 0;

    /* One more character, of 4 bytes at most, and the dots must fit. */
    while (i < length && used + 4 + sizeof cut - 1 <= TEXT_BYTES) {
        size_t taken = utf8_length(text + i, text + length);

        used += put_character(text + i, taken, out + used);
        i += taken == 0 ? 1 : taken;
    }
    if (i < length) {
        memcpy(out + used, cut, sizeof cut - 1);
        used += sizeof cut - 1;
    }
    if (used == 0)
        return names_intern(recording->texts, "unnamed", strlen("unnamed"), id, err);
    return names_intern(recording->texts, out, used, id, err);
}

enum weir_status recording_word(struct recording *recording, const char *text, uint32_t *id,
                                struct weir_error *err)
{
    return names_intern(recording->texts, text, strlen(text), id, err);
}

const char *recording_text_of(const struct recording *recording, uint32_t id)
{
    return names_text(recording->texts, id);
}

uint32_t recording_n_texts(const struct recording *recording)
{
    return names_count(recording->texts);
}
