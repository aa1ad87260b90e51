/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text form of a graph: weir-graph(5). */
#ifndef WEIR_GRAPH_TEXT_H
#define WEIR_GRAPH_TEXT_H

#include <stdio.h>

#include "base/hash.h"
#include "graph/graph.h"
#include "graph/report.h"

/** Reads a graph file. Faults of the text go to @p report (syntax, unknown and duplicate names,
 *  quantities, what graph_check_statements finds) and give WEIR_INPUT with a summary in @p err; a
 *  file that cannot be opened or read is WEIR_INPUT too, memory WEIR_MEMORY. On WEIR_OK the caller
 *  owns *out. @param path "-" is standard input */
MUST_CHECK enum weir_status graph_read(const char *path, struct report *report, struct graph **out,
                                       struct weir_error *err);
/** The same from memory. @param name stands for the file name in messages */
MUST_CHECK enum weir_status graph_read_text(const char *text, size_t length, const char *name,
                                            struct report *report, struct graph **out,
                                            struct weir_error *err);
/** As graph_read, for a graph that a machine file is laid over next: leaves out what that may still
 *  mend, such as a missing domain. Call graph_overlay, then graph_check_statements. */
MUST_CHECK enum weir_status graph_read_for_machine(const char *path, struct report *report,
                                                   struct graph **out, struct weir_error *err);
/** Reads the statements of a machine file over the graph: each field given replaces the one that
 *  is there; what is new is added. On failure the graph must not be used any more. */
MUST_CHECK enum weir_status graph_overlay(struct graph *graph, const char *path,
                                          struct report *report, struct weir_error *err);
/** The same from memory. @param name stands for the file name in messages */
MUST_CHECK enum weir_status graph_overlay_text(struct graph *graph, const char *text, size_t length,
                                               const char *name, struct report *report,
                                               struct weir_error *err);

/* Takes some bytes of a text, in order; may fail. */
typedef enum weir_status graph_take(void *arg, const char *bytes, size_t n, struct weir_error *err);

/** Gives the canonical form in pieces to @p take, until it returns something other than WEIR_OK.
 *  @return that, or WEIR_OK, WEIR_MEMORY */
MUST_CHECK enum weir_status graph_write_pieces(const struct graph *graph, graph_take *take,
                                               void *arg, struct weir_error *err);
/** Writes the canonical form: reading it again gives the same graph, to the byte of this form.
 *  @return WEIR_OK, WEIR_STORE when @p file refuses bytes, WEIR_MEMORY */
MUST_CHECK enum weir_status graph_write(const struct graph *graph, FILE *file,
                                        struct weir_error *err);
/** The same, and what graph_hash gives, for the work of one. */
MUST_CHECK enum weir_status graph_write_hashed(const struct graph *graph, FILE *file,
                                               char hash[HASH_TEXT_BYTES], struct weir_error *err);
/** Writes to a new file beside @p path and renames it: the file is whole or not there. "-" is
 *  standard output. */
MUST_CHECK enum weir_status graph_write_file(const struct graph *graph, const char *path,
                                             struct weir_error *err);
/** The canonical form in memory (malloc'ed, NUL-terminated). */
MUST_CHECK enum weir_status graph_write_text(const struct graph *graph, char **text, size_t *length,
                                             struct weir_error *err);
/** The identity of the graph: the hash of its canonical form. */
MUST_CHECK enum weir_status graph_hash(const struct graph *graph, char out[HASH_TEXT_BYTES],
                                       struct weir_error *err);

/** What can be said of a graph's statements without looking at order: objects and charges without
 *  a domain, aliases outside their object or in a circle, aliases that are initial, copy nodes that
 *  have nothing to fill, demands above a resource's capacity, factors given twice, sums of sizes
 *  past 64 bits. graph_read calls it; callers that build or overlay a graph do too. */
void graph_check_statements(const struct graph *graph, struct report *report);

#endif
