/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the verbs share: the table they stand in, options, and how they answer. Only this folder
 * prints or exits. */
#ifndef WEIR_CMD_CMD_H
#define WEIR_CMD_CMD_H

#include <stdio.h>

#include "base/attributes.h"
#include "graph/report.h"
#include "graph/text.h"
#include "store/store.h"

/* Environment variables are read in main.c only. */
struct cmd_context {
    bool is_terminal; /* standard error is one: progress may be drawn */
};

struct cmd_verb {
    const char *name;
    const char *summary; /* one line for `weir --help` */
    const char *usage;   /* what --help prints: synopsis, options, an example */
    enum weir_status (*run)(const struct cmd_context *, int argc, char **argv, struct weir_error *);
};

/* Options every verb takes. */
struct cmd_common {
    const char *db; /* weir.db */
    bool is_json, is_quiet;
};

/* One option of a verb. A flag has takes_value false and sets *flag; another sets *value, or calls
 * add for each of its uses when it may be repeated. */
struct cmd_option {
    const char *name; /* "--policy" or "-o" */
    bool takes_value;
    bool *flag;
    const char **value;
    const char **values; /* repeated: room for CMD_REPEATS */
    uint32_t *n_values;
};
#define CMD_REPEATS 64

/** Parses options and operands. Options may stand anywhere; `--` ends them; --name=value works.
 *  --help prints the verb's usage and sets *is_done. @param options ends with a NULL name
 *  @param operands room for max_operands; fewer than min_operands is WEIR_USAGE */
MUST_CHECK enum weir_status cmd_parse(const struct cmd_verb *verb, int argc, char **argv,
                                      const struct cmd_option *options, struct cmd_common *common,
                                      const char **operands, uint32_t min_operands,
                                      uint32_t max_operands, uint32_t *n_operands, bool *is_done,
                                      struct weir_error *err);

/** Prints the findings to standard error, one a line, errors first counted in a last line when some
 *  were not kept. */
void cmd_print_report(const struct report *report);

/** Reads a graph with a machine file over it (NULL: none) and --capacity D=SIZE settings, printing
 *  findings on failure. @param hash gets the identity of the graph as read, before the machine */
MUST_CHECK enum weir_status cmd_read_graph(const char *path, const char *machine,
                                           const char *const *capacities, uint32_t n_capacities,
                                           struct graph **out, char hash[HASH_TEXT_BYTES],
                                           struct weir_error *err);

#endif
