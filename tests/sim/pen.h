/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a text that is drawn by seed is written with: chance, and room for the text. */
#ifndef TESTS_SIM_PEN_H
#define TESTS_SIM_PEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/random.h"

struct pen {
    struct random_stream random;
    char text[32768]; /* ends in a zero once something is put */
    size_t used;
};

/** A pen without text, whose draws are those of that seed. */
void pen_begin(struct pen *pen, uint64_t seed);

/** Appends to the text; a text that is too long fails the test. */
PRINTF_LIKE(2, 3) void pen_put(struct pen *pen, const char *format, ...);

/** Draws from 0 to @p bound - 1. */
uint32_t pen_below(struct pen *pen, uint32_t bound);

/** True once in @p n draws. */
bool pen_one_in(struct pen *pen, uint32_t n);

#endif
