/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an import tells: what was read and left out, what is known of the order and why, and where
 * the time of the recording went. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "traces/nsys_internal.h"

/* Adds lines to the report until one fails. */
struct teller {
    struct nsys *nsys;
    struct weir_error *err;
    enum weir_status status;
    const char *section;
};

static void integer(struct teller *t, const char *key, int64_t value)
{
    if (t->status == WEIR_OK)
        t->status = import_report_integer(t->nsys->report, t->section, key, value, t->err);
}

static void ratio(struct teller *t, const char *key, int64_t part, int64_t whole)
{
    double value = whole == 0 ? (double)NAN : (double)part / (double)whole;

    if (t->status == WEIR_OK)
        t->status = import_report_ratio(t->nsys->report, t->section, key, value, t->err);
}

static void text(struct teller *t, const char *key, const char *value)
{
    if (t->status == WEIR_OK)
        t->status = import_report_text(t->nsys->report, t->section, key, value, t->err);
}

static void tell_source(struct teller *t, int64_t origin_ns)
{
    const struct nsys *nsys = t->nsys;

    t->section = "source";
    text(t, "format", "nsys");
    text(t, "version", nsys->version[0] == '\0' ? "unknown" : nsys->version);
    text(t, "schema", nsys->schema[0] == '\0' ? "unknown" : nsys->schema);
    integer(t, "origin_ns", origin_ns);
    if (nsys->from_ns == INT64_MIN && nsys->to_ns == INT64_MAX)
        return;
    if (nsys->has_first)
        integer(t, "first_ns", nsys->first_ns);
    integer(t, "window_from_ns", nsys->from_ns);
    integer(t, "window_to_ns", nsys->to_ns);
}

static void tell_rows(struct teller *t)
{
    static const struct {
        enum nsys_table table;
        const char *key;
        bool has_kept;
    } tables[] = {
        {NSYS_KERNEL, "kernel", true},
        {NSYS_MEMCPY, "memcpy", true},
        {NSYS_MEMSET, "memset", true},
        {NSYS_GRAPH_TRACE, "graph_trace", true},
        {NSYS_RUNTIME, "runtime", true},
        {NSYS_SYNC, "synchronization", true},
        {NSYS_EVENT, "cuda_event", false},
        {NSYS_MEMORY, "memory_usage", true},
        {NSYS_GRAPH_EVENTS, "graph_events", false},
        {NSYS_NVTX, "nvtx", false},
        {NSYS_STRINGS, "strings", false},
    };
    int64_t n_read = 0;

    t->section = "rows";
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct nsys_table_state *state = &t->nsys->tables[tables[i].table];
        char key[40];

        (void)snprintf(key, sizeof key, "%s_read", tables[i].key);
        integer(t, key, state->n_read);
        if (tables[i].has_kept) {
            (void)snprintf(key, sizeof key, "%s_kept", tables[i].key);
            integer(t, key, state->n_kept);
        }
        n_read += state->n_read;
    }
    integer(t, "read", n_read);
}

static void tell_skipped(struct teller *t)
{
    const struct nsys_counts *counts = &t->nsys->counts;

    t->section = "skipped";
    integer(t, "without_time", counts->bad_time);
    integer(t, "unfinished", counts->unfinished);
    integer(t, "failed_calls", counts->failed_calls);
    integer(t, "nested_calls", counts->nested_calls);
    integer(t, "repeated_correlation_ids", counts->repeated_calls);
    integer(t, "second_graph_rows", counts->second_graph_rows);
    integer(t, "second_graph_ns", counts->second_graph_ns);
    integer(t, "outside_window_calls", counts->outside_calls);
    integer(t, "outside_window_device_ops", counts->outside_ops);
    integer(t, "negative_durations_clamped", counts->negative_duration);
}

static int64_t n_streams_with_work(const struct nsys *nsys)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < nsys->n_streams; i++) {
        if (nsys->streams[i].n > 0 && nsys->streams[i].kind != STREAM_MIGRATIONS)
            n++;
    }
    return n;
}

static int64_t n_launchable(const struct nsys *nsys)
{
    return nsys->sums[OP_KERNEL].n + nsys->sums[OP_COPY].n + nsys->sums[OP_SET].n +
           nsys->sums[OP_GRAPH].n;
}

static void tell_device(struct teller *t)
{
    const struct nsys *nsys = t->nsys;
    const struct nsys_sum *sums = nsys->sums;

    t->section = "device";
    integer(t, "ops", n_launchable(nsys) + sums[OP_MIGRATION].n);
    integer(t, "kernels", sums[OP_KERNEL].n);
    integer(t, "kernel_ns", sums[OP_KERNEL].ns);
    integer(t, "copies", sums[OP_COPY].n);
    integer(t, "copy_ns", sums[OP_COPY].ns);
    integer(t, "memsets", sums[OP_SET].n);
    integer(t, "memset_bytes", sums[OP_SET].bytes);
    integer(t, "graph_launches", sums[OP_GRAPH].n);
    integer(t, "graph_ns", sums[OP_GRAPH].ns);
    integer(t, "graph_children", nsys->counts.graph_children);
    integer(t, "graphs_made", nsys->counts.graphs_made);
    integer(t, "graph_executables_made", nsys->counts.graph_execs_made);
    integer(t, "graph_executables_launched", nsys->counts.graph_execs_launched);
    integer(t, "graph_launches_of_unseen_making", nsys->counts.launches_of_unseen_graphs);
    integer(t, "migrations", sums[OP_MIGRATION].n);
    integer(t, "migrations_in_kernels", nsys->counts.migrations_in_kernels);
    integer(t, "migrations_after_calls", nsys->counts.migrations_after_calls);
    integer(t, "streams", n_streams_with_work(nsys));
    integer(t, "launched", nsys->counts.launched);
    integer(t, "kernels_without_launch", nsys->counts.kernels_without_launch);
    integer(t, "without_launch", n_launchable(nsys) - nsys->counts.launched);
    ratio(t, "launched_ratio", nsys->counts.launched, n_launchable(nsys));
    integer(t, "overlaps_on_a_stream", nsys->counts.overlaps);
    integer(t, "overlap_most_ns", nsys->counts.overlap_most_ns);
}

/* One group of lines a class: "h2d_pinned_count", "h2d_pinned_bytes", "h2d_pinned_ns". */
static void tell_copies(struct teller *t)
{
    t->section = "copies";
    for (int kind = 0; kind < NSYS_COPY_KINDS; kind++) {
        for (int host = 0; host < NSYS_HOST_KINDS; host++) {
            const struct nsys_sum *sum = &t->nsys->copies[kind][host];
            char name[48], key[64];

            if (sum->n == 0)
                continue;
            nsys_copy_name(kind, host, '_', name, sizeof name);
            (void)snprintf(key, sizeof key, "%s_count", name);
            integer(t, key, sum->n);
            (void)snprintf(key, sizeof key, "%s_bytes", name);
            integer(t, key, sum->bytes);
            (void)snprintf(key, sizeof key, "%s_ns", name);
            integer(t, key, sum->ns);
            if (sum->without_bytes > 0) {
                (void)snprintf(key, sizeof key, "%s_without_bytes", name);
                integer(t, key, sum->without_bytes);
            }
        }
    }
}

static void tell_host(struct teller *t)
{
    const struct nsys_counts *counts = &t->nsys->counts;

    t->section = "host";
    integer(t, "calls", counts->host_calls);
    integer(t, "calls_that_waited", counts->blocking_calls);
    integer(t, "overlapping_calls", counts->overlapping_calls);
    integer(t, "calls_captured_into_graphs", counts->captured_calls);
}

static void tell_waits(struct teller *t)
{
    const struct nsys *nsys = t->nsys;
    const struct nsys_counts *counts = &nsys->counts;

    t->section = "waits";
    integer(t, "rows_with_event", counts->rows_with_event);
    integer(t, "record_rows", counts->record_rows);
    integer(t, "stream_waits_for_event", counts->event_waits);
    integer(t, "host_waits_for_event", counts->event_syncs);
    integer(t, "host_waits_for_stream", counts->stream_syncs);
    integer(t, "host_waits_for_context", counts->context_syncs);
    integer(t, "resolved", counts->resolved);
    integer(t, "resolved_by_sync_id", counts->resolved_by_sync_id);
    integer(t, "unresolved", counts->unresolved);
    ratio(t, "resolved_ratio", counts->resolved, counts->resolved + counts->unresolved);
    integer(t, "contradicted", counts->contradicted);
    integer(t, "host_edges_contradicted", counts->sync_edges_contradicted);
    integer(t, "nothing_recorded_before", counts->without_source);
    integer(t, "nothing_waits", counts->without_consumer);
    integer(t, "record_outside_window", counts->record_outside);
    integer(t, "calls_without_row", counts->without_row + counts->syncs_without_row);
    integer(t, "classified_by_call", counts->by_api);
    integer(t, "classified_by_fields", counts->by_fields);
    integer(t, "classified_by_type", counts->by_type);
    t->section = "implied";
    integer(t, "host_waits", counts->implicit);
    integer(t, "host_waits_contradicted", counts->implicit_contradicted);
    integer(t, "stream_barriers", counts->barriers);
    integer(t, "stream_barriers_contradicted", counts->barriers_contradicted);
}

static void tell_memory(struct teller *t)
{
    const struct nsys_counts *counts = &t->nsys->counts;

    t->section = "memory";
    integer(t, "allocations", counts->allocations);
    integer(t, "frees", counts->frees);
    integer(t, "paired", counts->paired);
    ratio(t, "paired_ratio", counts->paired, counts->allocations - counts->static_symbols);
    integer(t, "frees_without_allocation", counts->frees_without_allocation);
    integer(t, "allocations_without_free", counts->allocations_without_free);
    integer(t, "addresses_reused_without_free", counts->allocations_replaced);
    integer(t, "static_symbols", counts->static_symbols);
    integer(t, "stream_ordered", counts->stream_ordered);
    integer(t, "without_bytes", counts->memory_without_bytes);
    integer(t, "outside_of_calls", counts->memory_outside_calls);
}

/* Links by rule: "launch" kept, overlapped, contradicted. */
static void tell_links(struct teller *t)
{
    static const char *const names[RECORDING_RULES] = {
#define RULE(code, evidence, type, gap, overlap, late, text) #code,
#include "traces/recording_rules.def"
#undef RULE
    };
    const struct recording *recording = t->nsys->recording;

    t->section = "links";
    for (int rule = 0; rule < RECORDING_RULES; rule++) {
        int64_t n_kept = recording_n_links(recording, (enum recording_rule)rule, FIT_AFTER) +
                         recording_n_links(recording, (enum recording_rule)rule, FIT_OVERLAP);
        int64_t n_contradicted =
            recording_n_links(recording, (enum recording_rule)rule, FIT_CONTRADICTED);
        char key[64];

        for (size_t i = 0; i <= strlen(names[rule]); i++)
            key[i] = (char)(names[rule][i] >= 'A' && names[rule][i] <= 'Z' ? names[rule][i] + 32
                                                                           : names[rule][i]);
        if (n_kept > 0)
            integer(t, key, n_kept);
        if (n_contradicted > 0) {
            memcpy(key + strlen(names[rule]), "_contradicted", sizeof "_contradicted");
            integer(t, key, n_contradicted);
        }
    }
}

static void tell_time(struct teller *t, const struct recording_summary *summary)
{
    t->section = "gaps";
    integer(t, "launch_bound_ns", summary->gap_ns[GAP_LAUNCH]);
    integer(t, "device_idle_ns", summary->gap_ns[GAP_DEVICE]);
    integer(t, "host_between_calls_ns", summary->gap_ns[GAP_HOST]);
    integer(t, "inside_a_call_ns", summary->gap_ns[GAP_INSIDE]);
    integer(t, "unexplained_ns", summary->gap_ns[GAP_UNEXPLAINED]);
    integer(t, "unexplained_count", summary->n_gaps[GAP_UNEXPLAINED]);
    integer(t, "released_count", summary->n_released);
    t->section = "chain";
    integer(t, "makespan_ns", summary->makespan_ns);
    integer(t, "busy_ns", summary->chain_busy_ns);
    integer(t, "launch_bound_ns", summary->chain_gap_ns[GAP_LAUNCH]);
    integer(t, "device_idle_ns", summary->chain_gap_ns[GAP_DEVICE]);
    integer(t, "host_between_calls_ns", summary->chain_gap_ns[GAP_HOST]);
    integer(t, "inside_a_call_ns", summary->chain_gap_ns[GAP_INSIDE]);
    integer(t, "release_ns", summary->chain_release_ns);
    integer(t, "unexplained_ns",
            summary->chain_gap_ns[GAP_UNEXPLAINED] + summary->chain_release_ns);
    ratio(t, "unexplained_ratio",
          summary->chain_gap_ns[GAP_UNEXPLAINED] + summary->chain_release_ns, summary->makespan_ns);
}

enum weir_status nsys_tell(struct nsys *nsys, const struct recording_summary *summary,
                           struct weir_error *err)
{
    struct teller t = {.nsys = nsys, .err = err, .status = WEIR_OK};

    tell_source(&t, summary->origin_ns);
    tell_rows(&t);
    tell_skipped(&t);
    tell_device(&t);
    tell_copies(&t);
    tell_host(&t);
    tell_waits(&t);
    tell_memory(&t);
    tell_links(&t);
    tell_time(&t, summary);
    return t.status == WEIR_OK ? nsys_grade(nsys, err) : t.status;
}
