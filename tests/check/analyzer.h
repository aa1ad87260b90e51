/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Included before each file that clang-tidy reads.
 *
 * The analyzer does not look into functions with variable arguments: without this it takes the
 * status that weir_error_set returns to be any, WEIR_OK too, and follows paths on which a function
 * failed and yet succeeded.
 *
 * Nor does it see that the loop which fills an array runs as often as the loop which reads it, and
 * calls the elements of every array uninitialized; so arrays count as filled with zeros.
 *
 * What base/ending.c asks of the headers has to be asked before the first of them. */
#ifndef TESTS_CHECK_ANALYZER_H
#define TESTS_CHECK_ANALYZER_H

#define _XOPEN_SOURCE 700

#include <stdlib.h>

#include "base/error.h"

#define malloc(size) calloc(1, (size))

#define weir_error_set(err, status, ...) \
    ((void)weir_error_set((err), (status), __VA_ARGS__), (status))
#define weir_error_memory(err) ((void)weir_error_memory(err), WEIR_MEMORY)

#endif
