/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir runs: what the store holds; one run in full; runs deleted. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"

extern const struct cmd_verb cmd_verb_runs;

static const char usage[] =
    "usage: weir runs [--db FILE] [--json]\n"
    "       weir runs show RUN [--db FILE] [--json]\n"
    "       weir runs delete RUN... [--db FILE] [--json]\n\n"
    "Lists the runs of a store: simulations, replays, and what imports recorded. `show` tells all\n"
    "of one, with its peaks, waits and samples; `delete` removes runs, and graphs that no other\n"
    "run has. A RUN is its number, or latest, sim, replay or recorded: the newest of that kind.\n\n"
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

static const char *or_dash(const char *text)
{
    return text[0] == '\0' ? "-" : text;
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
        or_dash(row->policy),
        or_dash(row->machine),
        or_dash(row->graph_name),
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

static void json_row(struct json *json, const struct run_row *row)
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
    json_row(arg, row);
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

/* ---- one run ---- */

#define CAUSES ((int)WAIT_OVERLAP + 1)

/* What is said of a run beside its row. */
struct summary {
    int64_t waited_ns[CAUSES];
    uint64_t n_waits[CAUSES];
    uint64_t n_started;
};

static void summarize(const struct timeline *timeline, struct summary *summary)
{
    *summary = (struct summary){.n_started = 0};
    for (size_t i = 0; i < timeline->n_waits; i++) {
        summary->waited_ns[timeline->waits[i].cause] +=
            timeline->waits[i].to_ns - timeline->waits[i].from_ns;
        summary->n_waits[timeline->waits[i].cause]++;
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++)
        summary->n_started += timeline->spans[i].start_ns >= 0;
}

static const char *domain_name(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_domain(graph, (weir_domain){index})->name);
}

static void print_run(const struct stored_run *stored, const struct summary *summary)
{
    const struct run *run = &stored->run;
    const struct timeline *timeline = stored->timeline;
    char time[NUMBER_TEXT_BYTES], size[NUMBER_TEXT_BYTES], room[NUMBER_TEXT_BYTES];

    number_time_text(timeline->makespan_ns, time);
    printf("run            %" PRId64 ", %s, %s\n", run->id, run_kind_name(run->kind),
           run_status_name(timeline->status));
    printf("created        %s\n", run->created);
    printf("graph          ");
    cmd_show(stdout, or_dash(run->graph_name));
    printf(", %" PRIu32 " nodes, %" PRIu32 " edges given, %" PRIu32 " objects\n",
           graph_n_nodes(stored->graph), graph_n_edges(stored->graph),
           graph_n_objects(stored->graph));
    printf("graph hash     %s\nplan hash      %s\n", run->graph_hash, run->plan_hash);
    printf("policy         %s\nmachine        %s\nseed           %" PRId64 "\n",
           or_dash(run->policy), or_dash(run->machine), run->seed);
    printf("nodes run      %" PRIu64 "\n", summary->n_started);
    printf("makespan       %s\n", time);
    if (run->critical_path_ns >= 0) {
        number_time_text(run->critical_path_ns, time);
        printf("critical path  %s\n", time);
    }
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(stored->graph, (weir_domain){i});

        number_size_text(timeline->peak_bytes[i], size);
        number_size_text(domain->capacity_bytes - domain->reserve_bytes, room);
        printf("peak           %s of %s in ", size, room);
        cmd_show(stdout, domain_name(stored->graph, i));
        putchar('\n');
    }
    for (int i = WAIT_ENGINE; i < CAUSES; i++) {
        number_time_text(summary->waited_ns[i], time);
        if (summary->n_waits[i] > 0)
            printf("waited         %s for %s, %" PRIu64 " times\n", time,
                   wait_cause_name((enum wait_cause)i), summary->n_waits[i]);
    }
    for (size_t i = 0; i < stored->n_samples; i++) {
        number_time_text(stored->samples[i].makespan_ns, time);
        printf("sample %-7" PRId64 " %s%s\n", stored->samples[i].number, time,
               stored->samples[i].is_warm_up ? ", warm-up" : "");
    }
    if (run->n_decisions + run->n_deviations > 0)
        printf("policy edits   %zu\ndeviations     %zu\n", run->n_decisions, run->n_deviations);
    printf("settings       %s\n", run->settings);
}

static void json_run(const struct stored_run *stored, const struct summary *summary)
{
    const struct run *run = &stored->run;
    const struct timeline *timeline = stored->timeline;
    struct json json = {.file = stdout};
    const struct run_row row = {
        .id = run->id,
        .kind = run->kind,
        .scope = run->scope,
        .status = timeline->status,
        .seed = run->seed,
        .makespan_ns = timeline->makespan_ns,
        .critical_path_ns = run->critical_path_ns,
        .graph_hash = run->graph_hash,
        .plan_hash = run->plan_hash,
        .graph_name = run->graph_name,
        .policy = run->policy,
        .machine = run->machine,
        .created = run->created,
        .n_nodes = (int64_t)summary->n_started,
    };

    json_open_object(&json, NULL);
    json_row(&json, &row);
    json_integer(&json, "nodes", graph_n_nodes(stored->graph));
    json_integer(&json, "edges", graph_n_edges(stored->graph));
    json_integer(&json, "objects", graph_n_objects(stored->graph));
    json_open_object(&json, "peak_bytes");
    for (uint32_t i = 0; i < timeline->n_domains; i++)
        json_integer(&json, domain_name(stored->graph, i), timeline->peak_bytes[i]);
    json_close_object(&json);
    json_open_object(&json, "waited_ns");
    for (int i = WAIT_ENGINE; i < CAUSES; i++)
        json_integer(&json, wait_cause_name((enum wait_cause)i), summary->waited_ns[i]);
    json_close_object(&json);
    json_open_array(&json, "samples");
    for (size_t i = 0; i < stored->n_samples; i++) {
        json_open_object(&json, NULL);
        json_integer(&json, "number", stored->samples[i].number);
        json_integer(&json, "makespan_ns", stored->samples[i].makespan_ns);
        json_boolean(&json, "is_warm_up", stored->samples[i].is_warm_up);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_integer(&json, "decisions", (int64_t)run->n_decisions);
    json_open_array(&json, "deviations");
    for (size_t i = 0; i < run->n_deviations; i++)
        json_text(&json, NULL, run->deviations[i].what);
    json_close_array(&json);
    json_raw(&json, "settings", run->settings);
    json_close_object(&json);
}

static enum weir_status show_run(struct store *store, const char *name,
                                 const struct cmd_common *common, struct weir_error *err)
{
    struct stored_run stored;
    struct summary summary;
    int64_t run_id = 0;
    enum weir_status status = store_resolve_run(store, name, &run_id, err);

    if (status == WEIR_OK)
        status = store_read_run(store, run_id, &stored, err);
    if (status != WEIR_OK)
        return status;
    summarize(stored.timeline, &summary);
    if (common->is_json)
        json_run(&stored, &summary);
    else
        print_run(&stored, &summary);
    stored_run_free(&stored);
    return WEIR_OK;
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

static enum weir_status check_words(const char *const *words, uint32_t n_words,
                                    struct weir_error *err)
{
    static const char *const names[] = {"show", "delete", NULL};
    const char *closest;

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
    const struct cmd_option options[] = {{.name = NULL}};
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
    status = check_words(words, n_words, err);
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
        status = show_run(store, words[1], &common, err);
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
