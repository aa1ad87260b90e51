/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs in which one thing has very many of another: where a reader or a check that looks through a
 * list for each item of a list takes time in the square of N. */
#ifndef TESTS_BENCH_HARD_TEXTS_H
#define TESTS_BENCH_HARD_TEXTS_H

#include "tests/bench/texts.h"

struct hard_text {
    const char *name;
    struct text (*make)(uint32_t n);
    struct text (*machine)(uint32_t n); /* a machine file to lay over it; NULL: none */
};

extern const struct hard_text hard_texts[];
extern const unsigned n_hard_texts;

#endif
