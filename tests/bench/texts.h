/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts for the benchmarks of the reader, and the floors under reading them: the least that any
 * reader of the same text must do. */
#ifndef TESTS_BENCH_TEXTS_H
#define TESTS_BENCH_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *bytes; /* malloc'ed */
    size_t length;
};

/* What each makes of N nodes. Each exits when memory runs out. */

/** Layers of 32 nodes: a node and 2.5 edges. */
struct text text_edges(uint32_t n_nodes);
/** The same order by objects: an object, and a node that reads 2.5 and writes it. */
struct text text_objects(uint32_t n_nodes);
/** As an importer writes it: long names, an object, a node of two reads and evidence, an edge. */
struct text text_trace(uint32_t n_nodes);

/** Splits the text into words. @return how many there are */
size_t floor_words(const struct text *text);
/** Splits it, and gives an id to each name in a place where names stand.
 *  @return how many names there are */
size_t floor_names(const struct text *text);

#endif
