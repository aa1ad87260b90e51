/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each call draws or writes once, so that a seed always gives the same text. */
#include "tests/sim/pen.h"

#include <stdarg.h>
#include <stdio.h>

#include "tests/suite.h"

void pen_begin(struct pen *pen, uint64_t seed)
{
    pen->text[0] = '\0';
    pen->used = 0;
    random_seed(&pen->random, seed, 0);
}

void pen_put(struct pen *pen, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pen->used +=
        (size_t)vsnprintf(pen->text + pen->used, sizeof pen->text - pen->used, format, args);
    va_end(args);
    ck_assert_uint_lt(pen->used, sizeof pen->text);
}

uint32_t pen_below(struct pen *pen, uint32_t bound)
{
    return (uint32_t)random_below(&pen->random, bound);
}

bool pen_one_in(struct pen *pen, uint32_t n)
{
    return pen_below(pen, n) == 0;
}
