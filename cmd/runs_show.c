/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run in full: what it was made from, its peaks, waits and samples; of a replay how it did its
 * actions, and how far it was from its plan. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/replayed.h"
#include "cmd/runs_internal.h"

const char *runs_or_dash(const char *text)
{
    return text[0] == '\0' ? "-" : text;
}

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

/* Nothing of a run that is no replay. */
static enum weir_status print_replay(const struct run *run, bool wants_actions,
                                     struct weir_error *err)
{
    enum weir_status status;

    replayed_print_makespan("deviation      ", run);
    replayed_print_deviations(run);
    status = replayed_print_done(run, err);
    if (status == WEIR_OK && wants_actions && replayed_is_known(run))
        replayed_print_actions(run);
    return status;
}

#define OVERLAPS_SHOWN 10

/* What stands in the store of its explanation; weir explain tells all. */
static void print_explanation(const struct run *run)
{
    char time[NUMBER_TEXT_BYTES];

    if (run->n_links > 0)
        printf("chain          %zu links; weir explain %" PRId64 " tells of them\n", run->n_links,
               run->id);
    for (size_t i = 0; i < run->n_overlaps && i < OVERLAPS_SHOWN; i++) {
        number_time_text(run->overlaps[i].overlap_ns, time);
        printf("overlap        %s of ", time);
        cmd_show(stdout, runs_or_dash(run->overlaps[i].class_a));
        fputs(" beside ", stdout);
        cmd_show(stdout, runs_or_dash(run->overlaps[i].class_b));
        putchar('\n');
    }
    if (run->n_overlaps > OVERLAPS_SHOWN)
        printf("overlap        of %zu pairs of classes more\n", run->n_overlaps - OVERLAPS_SHOWN);
}

/* @param wants_actions each action of a replay is told */
static enum weir_status print_run(const struct stored_run *stored, const struct summary *summary,
                                  bool wants_actions, struct weir_error *err)
{
    enum weir_status status;
    const struct run *run = &stored->run;
    const struct timeline *timeline = stored->timeline;
    char time[NUMBER_TEXT_BYTES], size[NUMBER_TEXT_BYTES], room[NUMBER_TEXT_BYTES];
    char device[REPLAYED_DEVICE_BYTES];

    number_time_text(timeline->makespan_ns, time);
    printf("run            %" PRId64 ", %s, %s\n", run->id, run_kind_name(run->kind),
           run_status_name(timeline->status));
    printf("created        %s\n", run->created);
    printf("graph          ");
    cmd_show(stdout, runs_or_dash(run->graph_name));
    printf(", %" PRIu32 " nodes, %" PRIu32 " edges given, %" PRIu32 " objects\n",
           graph_n_nodes(stored->graph), graph_n_edges(stored->graph),
           graph_n_objects(stored->graph));
    printf("graph hash     %s\nplan hash      %s\n", run->graph_hash, run->plan_hash);
    printf("policy         %s\nmachine        %s\nseed           %" PRId64 "\n",
           runs_or_dash(run->policy), runs_or_dash(run->machine), run->seed);
    if (replayed_device(run, device)[0] != '\0') {
        printf("device         ");
        cmd_show(stdout, device + strlen(" on "));
        putchar('\n');
    }
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
    print_explanation(run);
    if (run->kind == RUN_SIM && stored->n_samples > 0) {
        printf("samples        %zu drawn; weir export csv samples lists them\n", stored->n_samples);
    }
    for (size_t i = 0; i < stored->n_samples && run->kind != RUN_SIM; i++) {
        number_time_text(stored->samples[i].makespan_ns, time);
        printf("sample %-7" PRId64 " %s%s\n", stored->samples[i].number, time,
               stored->samples[i].is_warm_up ? ", warm-up" : "");
    }
    if (run->n_decisions + run->n_deviations > 0)
        printf("policy edits   %zu\ndeviations     %zu\n", run->n_decisions, run->n_deviations);
    status = print_replay(run, wants_actions, err);
    printf("settings       %s\n", run->settings);
    return status;
}

static enum weir_status json_replay(struct json *json, const struct run *run, bool wants_actions,
                                    struct weir_error *err)
{
    enum weir_status status = replayed_json_done(json, run, err);

    replayed_json_makespan(json, run);
    if (wants_actions) {
        replayed_json_chain(json, run);
        replayed_json_actions(json, run);
    }
    return status;
}

static void json_overlaps(struct json *json, const struct run *run)
{
    json_open_array(json, "overlap");
    for (size_t i = 0; i < run->n_overlaps; i++) {
        json_open_object(json, NULL);
        json_text(json, "class_a", run->overlaps[i].class_a);
        json_text(json, "class_b", run->overlaps[i].class_b);
        json_integer(json, "overlap_ns", run->overlaps[i].overlap_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static enum weir_status json_run(const struct stored_run *stored, const struct summary *summary,
                                 bool wants_actions, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
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
    runs_json_row(&json, &row);
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
    json_integer(&json, "chain_links", (int64_t)run->n_links);
    json_overlaps(&json, run);
    json_open_array(&json, "samples");
    for (size_t i = 0; i < stored->n_samples; i++) {
        json_open_object(&json, NULL);
        json_integer(&json, "number", stored->samples[i].number);
        json_integer(&json, "makespan_ns", stored->samples[i].makespan_ns);
        json_boolean(&json, "is_warm_up", stored->samples[i].is_warm_up);
        json_text(&json, "status", run_status_name(stored->samples[i].status));
        json_close_object(&json);
    }
    json_close_array(&json);
    json_integer(&json, "decisions", (int64_t)run->n_decisions);
    replayed_json_deviations(&json, run, SIZE_MAX);
    if (run->kind == RUN_REPLAY)
        status = json_replay(&json, run, wants_actions, err);
    json_raw(&json, "settings", run->settings);
    json_close_object(&json);
    return status;
}

enum weir_status runs_show(struct store *store, const char *name, bool wants_actions,
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
    status = common->is_json ? json_run(&stored, &summary, wants_actions, err)
                             : print_run(&stored, &summary, wants_actions, err);
    stored_run_free(&stored);
    return status;
}
