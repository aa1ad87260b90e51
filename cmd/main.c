/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: the table of verbs, what holds for all of them (environment, signals, standard
 * streams), and the exit status. Every status and message of a verb passes through here; what a
 * verb printed has reached its file, or the exit status says that it has not. */
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ending.h"
#include "cmd/cmd.h"

/* Every verb, in the order in which they are used: one line each. */
/* clang-format off */
#define VERBS(VERB)     \
    VERB(import)        \
    VERB(generate)      \
    VERB(check)         \
    VERB(analyze)       \
    VERB(simulate)      \
    VERB(explain)       \
    VERB(sensitivity)   \
    VERB(policies)      \
    VERB(arena)         \
    VERB(replay)        \
    VERB(calibrate)     \
    VERB(devices)       \
    VERB(compare)       \
    VERB(verify)        \
    VERB(plot)          \
    VERB(runs)          \
    VERB(export)
/* clang-format on */

#define DECLARE(name) extern const struct cmd_verb cmd_verb_##name;
VERBS(DECLARE)
#undef DECLARE

static const struct cmd_verb *const verbs[] = {
#define ENTRY(name) &cmd_verb_##name,
    VERBS(ENTRY)
#undef ENTRY
        NULL};

static const struct cmd_verb *find_verb(const char *name)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    }
    return NULL;
}

static void print_help(void)
{
    printf("usage: weir VERB [options]\n"
           "       weir VERB --help | weir --help | weir --version\n\n"
           "Simulates GPU memory schedules, replays them on a device, and says whether what was\n"
           "simulated is what happened.\n\n"
           "verbs:\n");
    for (size_t i = 0; verbs[i] != NULL; i++)
        printf("  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
    printf(
        "\noptions of every verb:\n"
        "  --db FILE    the file that holds the runs (weir.db)\n"
        "  --json       answer with one JSON object\n"
        "  --quiet      no progress and no remarks\n"
        "  --help       what the verb does, and its options\n\n"
        "exit status: 0 done; 1 the check or comparison says no; 2 wrong usage; 3 bad input;\n"
        "4 infeasible or deadlocked schedule; 5 device not available or failed; 6 storage failed;\n"
        "7 out of memory\n\n"
        "environment:\n"
        "  WEIR_DATADIR  where machines/ and plots/ are (%s)\n\n"
        "weir(1) tells more.\n",
        WEIR_DATADIR);
}

static enum weir_status unknown_verb(const char *word, struct weir_error *err)
{
    const char *names[sizeof verbs / sizeof *verbs] = {NULL};
    const char *closest;

    for (size_t i = 0; verbs[i] != NULL; i++)
        names[i] = verbs[i]->name;
    closest = cmd_closest(word, names);
    return weir_error_set(err, WEIR_USAGE, "'%.80s' is not a verb%s%s%s weir --help lists them",
                          word, closest == NULL ? ";" : "; did you mean '",
                          closest == NULL ? "" : closest, closest == NULL ? "" : "'?");
}

/* `weir help VERB` is `weir VERB --help`, as people expect. */
static enum weir_status run_words(const struct cmd_context *context, int argc, char **argv,
                                  const char **verb_name, struct weir_error *err)
{
    static char help_word[] = "--help";
    char *help[] = {help_word, NULL};
    const struct cmd_verb *verb;
    bool is_help;

    if (argc < 2) {
        return weir_error_set(err, WEIR_USAGE, "a verb is missing; weir --help lists them all");
    }
    is_help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (is_help && argc == 2)) {
        print_help();
        return WEIR_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("weir %s\n", PACKAGE_VERSION);
        return WEIR_OK;
    }
    if (argv[1][0] == '-') {
        return weir_error_set(err, WEIR_USAGE,
                              "'%.80s' stands where a verb was expected; options "
                              "follow the verb: weir VERB %.80s",
                              argv[1], argv[1]);
    }
    verb = find_verb(argv[is_help ? 2 : 1]);
    if (verb == NULL)
        return unknown_verb(argv[is_help ? 2 : 1], err);
    *verb_name = verb->name;
    return is_help ? verb->run(context, 1, help, err) : verb->run(context, argc - 2, argv + 2, err);
}

/* With one of the standard streams closed, the next file opened would take its place, and what is
 * printed would land in it. Reading standard output or writing standard input fails instead. */
static bool streams_are_open(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    }
    return true;
}

/* A write that failed earlier has left its mark in the stream, one that was held back fails here. */
static enum weir_status close_output(struct weir_error *err)
{
    bool had_failed = ferror(stdout) != 0;

    errno = 0;
    if (fclose(stdout) == 0 && !had_failed)
        return WEIR_OK;
    return weir_error_set(err, WEIR_STORE,
                          "standard output: %s; what was printed there is not whole",
                          errno == 0 ? "a write failed" : strerror(errno));
}

int main(int argc, char **argv)
{
    struct weir_error err = {.status = WEIR_OK};
    struct weir_error output = {.status = WEIR_OK};
    const char *data_dir = getenv("WEIR_DATADIR"), *worker = getenv(CMD_WORKER_VARIABLE);
    const char *verb_name = NULL;
    struct cmd_context context;
    enum weir_status status;

    if (!streams_are_open())
        return WEIR_STORE;
    ending_begin();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file past its limit: the write fails and is reported */
    (void)gsl_set_error_handler_off();
    context = (struct cmd_context){
        .is_terminal = isatty(STDERR_FILENO) == 1,
        .data_dir = data_dir != NULL && data_dir[0] != '\0' ? data_dir : WEIR_DATADIR,
        .worker_fd = worker != NULL ? (int)strtol(worker, NULL, 10) : -1,
    };
    status = run_words(&context, argc, argv, &verb_name, &err);
    if (close_output(&output) != WEIR_OK && status == WEIR_OK) {
        status = output.status;
        err = output;
    }
    if (status != WEIR_OK && err.text[0] != '\0') {
        fprintf(stderr, "weir%s%s: ", verb_name == NULL ? "" : " ",
                verb_name == NULL ? "" : verb_name);
        cmd_show_lines(stderr, err.text);
        putc('\n', stderr);
    }
    return (int)status;
}
