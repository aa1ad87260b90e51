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
    bool is_terminal;     /* standard error is one: progress may be drawn */
    const char *data_dir; /* what was installed beside the program: holds machines/ and plots/ */
    int worker_fd; /* of the worker of a device, to show signs of life: supervise.h; else -1 */
};

/* Says to a process that it is the worker, and which file that is. */
#define CMD_WORKER_VARIABLE "WEIR_WORKER"

/* A verb NAME stands in cmd/NAME.c as `const struct cmd_verb cmd_verb_NAME`, and in the list at the
 * top of main.c. It prints results on standard output and leaves that open: main.c flushes it and
 * turns a write that failed into WEIR_STORE. */
struct cmd_verb {
    const char *name;
    const char *summary; /* one line for `weir --help`, without a full stop */
    const char *usage;   /* what --help prints: synopsis, options, an example; ends in a newline */
    /* @param argv what follows the verb: argc words. A status with err->text empty prints no message:
     * the verb has said enough. SIGPIPE is ignored; a child process that is started gets it back. */
    enum weir_status (*run)(const struct cmd_context *, int argc, char **argv, struct weir_error *);
};

/* Options every verb takes, with --help. */
struct cmd_common {
    const char *db; /* weir.db by default */
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

/** Parses options and operands. Options may stand anywhere; `--` ends them; --name=value works; of
 *  an option given twice the last counts. --help prints the verb's usage and sets *is_done.
 *  WEIR_USAGE names the word that is wrong, and the closest option. @param options ends with a NULL
 *  name; their values and flags are set by the caller to what holds without them
 *  @param operands room for max_operands; fewer than min_operands is WEIR_USAGE */
MUST_CHECK enum weir_status cmd_parse(const struct cmd_verb *verb, int argc, char **argv,
                                      const struct cmd_option *options, struct cmd_common *common,
                                      const char **operands, uint32_t min_operands,
                                      uint32_t max_operands, uint32_t *n_operands, bool *is_done,
                                      struct weir_error *err);

/** The whole number that an option was given, in [least, greatest]; WEIR_USAGE otherwise. */
MUST_CHECK enum weir_status cmd_option_integer(const char *option, const char *text, int64_t least,
                                               int64_t greatest, int64_t *out,
                                               struct weir_error *err);

/** Of the names (NULL after the last) the one that @p word is most likely a slip of; NULL when none
 *  is near. */
const char *cmd_closest(const char *word, const char *const *names);

/** Prints a text that holds names, for a person: what a terminal would act on is shown as \xNN, line
 *  breaks too. cmd_show_lines leaves line breaks be. */
void cmd_show(FILE *to, const char *text);
void cmd_show_lines(FILE *to, const char *text);

/** Prints the findings to standard error, one a line, errors first counted in a last line when some
 *  were not kept. */
void cmd_print_report(const struct report *report);
/** The same without warnings and notes, for --quiet. */
void cmd_print_errors(const struct report *report);

/** Reads a graph with a machine file over it (NULL: none) and --capacity D=SIZE settings, printing
 *  what was found to standard error. A machine without a slash that is no file here is looked up as
 *  NAME.weir among the installed machines. @param hash gets the identity of the graph as read,
 *  before the machine. The caller frees *out. */
MUST_CHECK enum weir_status cmd_read_graph(const struct cmd_context *context, const char *path,
                                           const char *machine, const char *const *capacities,
                                           uint32_t n_capacities, bool is_quiet, struct graph **out,
                                           char hash[HASH_TEXT_BYTES], struct weir_error *err);

/** The path of the machine file that --machine NAME means, malloc'ed. WEIR_INPUT lists the installed
 *  machines when there is none of that name. */
MUST_CHECK enum weir_status cmd_find_machine(const struct cmd_context *context, const char *name,
                                             char **path, struct weir_error *err);

#endif
