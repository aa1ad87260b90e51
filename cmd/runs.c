/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir runs: what the store holds; one run in full; runs deleted. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/runs_internal.h"

extern const struct cmd_verb cmd_verb_runs;

static const char usage[] =
    "usage: weir runs [--db FILE] [--json]\n"
    "       weir runs show RUN [--actions] [--db FILE] [--json]\n"
    "       weir runs delete RUN... [--db FILE] [--json]\n\n"
    "Lists the runs of a store: simulations, replays, and what imports recorded. `show` tells all\n"
    "of one, with its peaks, waits and samples, and of a replay how it did its actions; `delete`\n"
    "removes runs, and graphs that no other run has. A RUN is its number, or latest, sim, replay "
    "or\n"
    "recorded: the newest of that kind.\n\n"
    "  --actions  show: each action of a replay, with its mechanism, place and deviation; with\n"
    "             --json the critical chain too\n"
    "  --db FILE  the file that holds the runs (weir.db)\n"
    "  --json     answer with one JSON object\n\n"
    "The file is an SQLite database, which weir-store(5) describes. `weir export` writes tables "
    "of\n"
    "a run as CSV, and timelines for Perfetto.\n\n"
    "example:\n"
    "  weir runs show latest\n";

/* ---- the list ---- */

/* The runs go by once to find how wide each column is, and again to be printed. */
#define COLUMNS 9

struct list {
    size_t widths[COLUMNS];
    bool is_printed;
    uint64_t n_runs;
};

/* A column's texts fill at most this many characters; the full ones are in --json. */
#define MOST_WIDTH 32

static void put_cells(struct list *list, const char *const cells[COLUMNS])
{
    /* The numbers, at 0, 4 and 5, end at one place; the others begin at one. */
    static const bool is_right[COLUMNS] = {[0] = true, [4] = true, [5] = true};

    for (int i = 0; i < COLUMNS; i++) {
        size_t length = strlen(cells[i]);

        length = length > MOST_WIDTH ? MOST_WIDTH : length;
        if (!list->is_printed) {
            list->widths[i] = length > list->widths[i] ? length : list->widths[i];
            continue;
        }
        if (i == COLUMNS - 1) {
            cmd_show(stdout, cells[i]);
            putchar('\n');
        } else if (is_right[i])
            printf("%*.*s  ", (int)list->widths[i], MOST_WIDTH, cells[i]);
        else
            printf("%-*.*s  ", (int)list->widths[i], MOST_WIDTH, cells[i]);
    }
}

static enum weir_status list_row(void *arg, const struct run_row *row)
{
    char id[24], n_nodes[24], makespan[NUMBER_TEXT_BYTES];
    const char *const cells[COLUMNS] = {
        id,
        run_kind_name(row->kind),
        row->created,
        run_status_name(row->status),
        n_nodes,
        makespan,
        runs_or_dash(row->policy),
        runs_or_dash(row->machine),
        runs_or_dash(row->graph_name),
    };
    struct list *list = arg;

    (void)snprintf(id, sizeof id, "%" PRId64, row->id);
    (void)snprintf(n_nodes, sizeof n_nodes, "%" PRId64, row->n_nodes);
    number_time_text(row->makespan_ns, makespan);
    put_cells(list, cells);
    list->n_runs++;
    return WEIR_OK;
}

static enum weir_status print_list(struct store *store, struct weir_error *err)
{
    static const char *const heads[COLUMNS] = {"run",      "kind",   "created", "status", "nodes",
                                               "makespan", "policy", "machine", "graph"};
    struct list list = {.is_printed = false};
    enum weir_status status;

    put_cells(&list, heads);
    status = store_list_runs(store, list_row, &list, err);
    if (status != WEIR_OK)
        return status;
    if (list.n_runs == 0) {
        printf("no runs yet: import, simulate and replay add them\n");
        return WEIR_OK;
    }
    list.is_printed = true;
    put_cells(&list, heads);
    return store_list_runs(store, list_row, &list, err);
}

void runs_json_row(struct json *json, const struct run_row *row)
{
    json_integer(json, "run", row->id);
    json_text(json, "kind", run_kind_name(row->kind));
    json_text(json, "scope", graph_scope_name(row->scope));
    json_text(json, "status", run_status_name(row->status));
    json_text(json, "created", row->created);
    json_text(json, "graph_name", row->graph_name);
    json_text(json, "graph_hash", row->graph_hash);
    json_text(json, "plan_hash", row->plan_hash);
    json_text(json, "policy", row->policy);
    json_text(json, "machine", row->machine);
    json_integer(json, "seed", row->seed);
    json_integer(json, "nodes_run", row->n_nodes);
    json_integer(json, "makespan_ns", row->makespan_ns);
    if (row->critical_path_ns >= 0)
        json_integer(json, "critical_path_ns", row->critical_path_ns);
    else
        json_null(json, "critical_path_ns");
}

static enum weir_status json_list_row(void *arg, const struct run_row *row)
{
    json_open_object(arg, NULL);
    runs_json_row(arg, row);
    json_close_object(arg);
    return WEIR_OK;
}

static enum weir_status list_runs(struct store *store, const struct cmd_common *common,
                                  struct weir_error *err)
{
    struct json json = {.file = stdout};
    enum weir_status status;

    if (!common->is_json)
        return print_list(store, err);
    json_open_object(&json, NULL);
    json_open_array(&json, "runs");
    status = store_list_runs(store, json_list_row, &json, err);
    json_close_array(&json);
    json_close_object(&json);
    return status;
}

/* ---- deleting ---- */

/* Names mean what they mean now: all are looked up before the first run goes. */
/* A run named twice is deleted once: how many are left. */
static uint32_t keep_first(int64_t *runs, uint32_t n)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0;

        while (at < n_kept && runs[at] != runs[i])
            at++;
        if (at == n_kept)
            runs[n_kept++] = runs[i];
    }
    return n_kept;
}

static enum weir_status delete_runs(struct store *store, const char *const *names, uint32_t n_names,
                                    const struct cmd_common *common, struct weir_error *err)
{
    struct json json = {.file = stdout};
    int64_t runs[CMD_REPEATS];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_names && status == WEIR_OK; i++)
        status = store_resolve_run(store, names[i], &runs[i], err);
    if (status == WEIR_OK)
        n_names = keep_first(runs, n_names);
    for (uint32_t i = 0; i < n_names && status == WEIR_OK; i++)
        status = store_delete_run(store, runs[i], err);
    if (status != WEIR_OK)
        return status;
    if (common->is_json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "deleted");
        for (uint32_t i = 0; i < n_names; i++)
            json_integer(&json, NULL, runs[i]);
        json_close_array(&json);
        json_close_object(&json);
    } else if (!common->is_quiet) {
        for (uint32_t i = 0; i < n_names; i++)
            printf("run %" PRId64 " deleted\n", runs[i]);
    }
    return WEIR_OK;
}

/* ---- the verb ---- */

static enum weir_status check_words(const char *const *words, uint32_t n_words, bool wants_actions,
                                    struct weir_error *err)
{
    static const char *const names[] = {"show", "delete", NULL};
    const char *closest;

    if (wants_actions && (n_words == 0 || strcmp(words[0], "show") != 0))
        return weir_error_set(err, WEIR_USAGE, "--actions: it goes with show");
    if (n_words == 0 || (strcmp(words[0], "show") == 0 && n_words == 2) ||
        (strcmp(words[0], "delete") == 0 && n_words >= 2))
        return WEIR_OK;
    if (strcmp(words[0], "show") == 0 || strcmp(words[0], "delete") == 0) {
        return weir_error_set(err, WEIR_USAGE, "%s: %s was expected after it", words[0],
                              strcmp(words[0], "show") == 0 ? "one run" : "at least one run");
    }
    closest = cmd_closest(words[0], names);
    return weir_error_set(err, WEIR_USAGE,
                          "'%.80s' is not known here%s%s%s weir runs --help shows the usage",
                          words[0], closest == NULL ? ";" : "; did you mean '",
                          closest == NULL ? "" : closest, closest == NULL ? "" : "'?");
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    bool wants_actions = false;
    const struct cmd_option options[] = {{.name = "--actions", .flag = &wants_actions},
                                         {.name = NULL}};
    const char *words[CMD_REPEATS];
    struct cmd_common common;
    struct store *store = NULL;
    uint32_t n_words;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_runs, argc, argv, options, &common, words, 0,
                                        CMD_REPEATS, &n_words, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done)
        return status;
    status = check_words(words, n_words, wants_actions, err);
    if (status == WEIR_OK)
        status = store_open(common.db, true, &store, err);
    if (status == WEIR_OK && n_words > 0 && strcmp(words[0], "delete") == 0) {
        store_close(store); /* it is there, and ours: a file is not made by deleting from it */
        status = store_open(common.db, false, &store, err);
    }
    if (status != WEIR_OK)
        return status;
    if (n_words == 0)
        status = list_runs(store, &common, err);
    else if (strcmp(words[0], "show") == 0)
        status = runs_show(store, words[1], wants_actions, &common, err);
    else
        status = delete_runs(store, words + 1, n_words - 1, &common, err);
    store_close(store);
    return status;
}

const struct cmd_verb cmd_verb_runs = {
    .name = "runs",
    .summary = "list, show and delete the runs of a store",
    .usage = usage,
    .run = run,
};
