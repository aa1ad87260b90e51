/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options and operands of a verb. Nothing is taken silently: a word that no option explains is
 * WEIR_USAGE, with the option that it is most likely a slip of. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/cmd.h"

#define LONGEST_NAME 40 /* that a slip is looked for in */

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be put in, taken out, changed or swapped with their neighbour to make a
 * into b (Damerau's distance, each letter touched once). Both at most LONGEST_NAME long. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_NAME + 1];
    size_t n_a = strlen(a), n_b = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= n_b; j++)
        above[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);

            row[j] = least_of(changed, least_of(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least_of(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = spare;
    }
    return above[n_b];
}

const char *cmd_closest(const char *word, const char *const *names)
{
    const char *found = NULL;
    size_t n_word = strlen(word);
    size_t best;

    if (n_word < 2 || n_word > LONGEST_NAME)
        return NULL;
    best = n_word < 5 ? 2 : 3; /* distances below this are slips */
    for (size_t i = 0; names[i] != NULL; i++) {
        size_t n_name = strlen(names[i]);
        size_t d;

        if (n_name > LONGEST_NAME)
            continue;
        /* Who typed only a beginning made no slip, and is nearest to what it begins. */
        d = n_word >= 3 && strncmp(word, names[i], n_word) == 0 ? 1 : distance(word, names[i]);
        if (d < best) {
            best = d;
            found = names[i];
        }
    }
    return found;
}

enum weir_status cmd_option_integer(const char *option, const char *text, int64_t least,
                                    int64_t greatest, int64_t *out, struct weir_error *err)
{
    int64_t value;
    enum number_fault fault = number_integer(text, strlen(text), &value);

    if (fault == NUMBER_OK && value >= least && value <= greatest) {
        *out = value;
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_USAGE,
                          "%s %.80s: a whole number from %" PRId64 " to %" PRId64 " was expected",
                          option, text, least, greatest);
}

/* What the parser knows while it goes through the words. */
struct parser {
    const struct cmd_verb *verb;
    const struct cmd_option *options; /* the verb's */
    const struct cmd_option *common;  /* every verb's */
    int argc;
    char **argv;
    int at; /* the next word */
};

/* Is this word (up to `length`) the option's name? */
static bool is_named(const struct cmd_option *option, const char *word, size_t length)
{
    return strlen(option->name) == length && strncmp(option->name, word, length) == 0;
}

static const struct cmd_option *find_option(const struct parser *parser, const char *word,
                                            size_t length)
{
    for (const struct cmd_option *o = parser->options; o->name != NULL; o++) {
        if (is_named(o, word, length))
            return o;
    }
    for (const struct cmd_option *o = parser->common; o->name != NULL; o++) {
        if (is_named(o, word, length))
            return o;
    }
    return NULL;
}

#define OPTIONS_MOST 64

static enum weir_status unknown_option(const struct parser *parser, const char *word, size_t length,
                                       struct weir_error *err)
{
    const char *names[OPTIONS_MOST + 1] = {"--help"};
    char name[LONGEST_NAME + 1];
    size_t n = 1;
    const char *closest = NULL;

    for (const struct cmd_option *o = parser->options; o->name != NULL && n < OPTIONS_MOST; o++)
        names[n++] = o->name;
    for (const struct cmd_option *o = parser->common; o->name != NULL && n < OPTIONS_MOST; o++)
        names[n++] = o->name;
    if (length <= LONGEST_NAME) {
        memcpy(name, word, length);
        name[length] = '\0';
        closest = cmd_closest(name, names);
    }
    return weir_error_set(
        err, WEIR_USAGE, "'%.80s' is not an option%s%s%s weir %s --help lists them", word,
        closest == NULL ? ";" : "; did you mean '", closest == NULL ? "" : closest,
        closest == NULL ? "" : "'?", parser->verb->name);
}

static enum weir_status take_value(const struct cmd_option *option, const char *value,
                                   struct weir_error *err)
{
    if (value[0] == '\0' && strcmp(option->name, "-o") == 0)
        return weir_error_set(err, WEIR_USAGE, "-o: a file name was expected, and is empty");
    if (option->values == NULL) {
        *option->value = value;
        return WEIR_OK;
    }
    if (*option->n_values == CMD_REPEATS) {
        return weir_error_set(err, WEIR_USAGE, "%s is given more than %d times", option->name,
                              CMD_REPEATS);
    }
    option->values[(*option->n_values)++] = value;
    return WEIR_OK;
}

/* parser->at stands behind the word, and goes past the option's value. */
static enum weir_status parse_option(struct parser *parser, const char *word,
                                     struct weir_error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    const struct cmd_option *option = find_option(parser, word, length);

    if (option == NULL)
        return unknown_option(parser, word, length, err);
    if (!option->takes_value) {
        if (equals != NULL) {
            return weir_error_set(err, WEIR_USAGE, "%s takes no value, and is given '%.80s'",
                                  option->name, equals + 1);
        }
        *option->flag = true;
        return WEIR_OK;
    }
    if (equals != NULL)
        return take_value(option, equals + 1, err);
    if (parser->at == parser->argc) {
        return weir_error_set(err, WEIR_USAGE, "%s needs a value; weir %s --help tells which",
                              option->name, parser->verb->name);
    }
    return take_value(option, parser->argv[parser->at++], err);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static enum weir_status missing_operands(const struct cmd_verb *verb, uint32_t found,
                                         uint32_t expected, struct weir_error *err)
{
    size_t line = strcspn(verb->usage, "\n");

    return weir_error_set(err, WEIR_USAGE, "%" PRIu32 " of %" PRIu32 " operands given; %.*s", found,
                          expected, (int)line, verb->usage);
}

enum weir_status cmd_parse(const struct cmd_verb *verb, int argc, char **argv,
                           const struct cmd_option *options, struct cmd_common *common,
                           const char **operands, uint32_t min_operands, uint32_t max_operands,
                           uint32_t *n_operands, bool *is_done, struct weir_error *err)
{
    const struct cmd_option every[] = {
        {.name = "--db", .takes_value = true, .value = &common->db},
        {.name = "--json", .flag = &common->is_json},
        {.name = "--quiet", .flag = &common->is_quiet},
        {.name = NULL},
    };
    struct parser parser = {verb, options, every, argc, argv, 0};
    bool only_operands = false;
    uint32_t n = 0;

    *common = (struct cmd_common){.db = "weir.db"};
    *is_done = asks_for_help(argc, argv);
    *n_operands = 0;
    if (*is_done) {
        fputs(verb->usage, stdout);
        return WEIR_OK;
    }
    while (parser.at < argc) {
        const char *word = argv[parser.at++];

        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            enum weir_status status = parse_option(&parser, word, err);

            if (status != WEIR_OK)
                return status;
        } else if (n == max_operands) {
            return weir_error_set(err, WEIR_USAGE,
                                  "'%.80s' is one operand too many; weir %s --help shows the "
                                  "usage",
                                  word, verb->name);
        } else {
            operands[n++] = word;
        }
    }
    if (n < min_operands)
        return missing_operands(verb, n, min_operands, err);
    *n_operands = n;
    return WEIR_OK;
}
