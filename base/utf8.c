/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table is that of RFC 3629, section 4. */
#include "base/utf8.h"

size_t utf8_length(const char *at, const char *end)
{
    static const struct {
        unsigned char first, last, second_least, second_most, length;
    } kinds[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    const unsigned char *s = (const unsigned char *)at;

    if (*s < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (*s < kinds[i].first || *s > kinds[i].last)
            continue;
        if (end != NULL && (size_t)(end - at) < kinds[i].length)
            return 0;
        /* Where a NUL ends the text, no byte behind it is looked at: it is in no range. */
        if (s[1] < kinds[i].second_least || s[1] > kinds[i].second_most)
            return 0;
        for (size_t k = 2; k < kinds[i].length; k++) {
            if (s[k] < 0x80 || s[k] > 0xBF)
                return 0;
        }
        return kinds[i].length;
    }
    return 0;
}
