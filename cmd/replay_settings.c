/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a replay: what was asked for, on what it ran, and the rates that were measured. */
#include <inttypes.h>

#include "cmd/device_state.h"
#include "cmd/replay_internal.h"

static void write_rates(struct json *json, const struct rates *rates)
{
    static const char *const names[STEP_WORKS] = {[STEP_STREAM] = "stream_bytes_per_s",
                                                  [STEP_CACHE] = "cache_bytes_per_s",
                                                  [STEP_MIX] = "mix_bytes_per_s"};
    const struct measure_rate *compute = &rates->work[STEP_COMPUTE];

    json_open_object(json, "rates");
    if (compute->unit_ns > 0) {
        json_ratio(json, "compute_ns_per_iteration", compute->unit_ns);
        json_ratio(json, "compute_fixed_ns", compute->fixed_ns);
        json_ratio(json, "compute_spread_ratio", compute->noise.spread_ratio);
    }
    for (int work = 0; work < STEP_WORKS; work++) {
        if (names[work] != NULL && rates->work[work].unit_ns > 0)
            json_ratio(json, names[work], 1e9 / rates->work[work].unit_ns);
    }
    json_open_array(json, "copies");
    for (uint32_t i = 0; i < rates->n_directions; i++) {
        const struct rates_direction *direction = &rates->directions[i];

        for (uint32_t p = 0; p < direction->n_points; p++) {
            json_open_object(json, NULL);
            json_integer(json, "direction", i);
            json_integer(json, "buffer_bytes", rates_sizes[p]);
            json_ratio(json, "bytes_per_s", 1e9 / direction->at[p].unit_ns);
            json_ratio(json, "spread_ratio", direction->at[p].noise.spread_ratio);
            json_close_object(json);
        }
    }
    json_close_array(json);
    json_close_object(json);
}

static void write_constraints(struct json *json, const struct replay_result *result)
{
    const struct waits_counts *counts = &result->schedule->waits.counts;

    json_open_object(json, "constraints");
    json_integer(json, "given", (int64_t)counts->n_given);
    json_integer(json, "implied", (int64_t)counts->n_implied);
    json_integer(json, "induced", (int64_t)counts->n_induced);
    json_integer(json, "added", (int64_t)counts->n_added);
    json_integer(json, "kept_by_queues", (int64_t)counts->n_by_queue);
    json_integer(json, "covered", (int64_t)counts->n_covered);
    json_integer(json, "waited", (int64_t)counts->n_waited);
    json_integer(json, "paced", (int64_t)counts->n_paced);
    json_integer(json, "released", (int64_t)counts->n_released);
    json_integer(json, "inserted", (int64_t)result->schedule->waits.n_inserted);
    json_close_object(json);
}

static void write_overhead(struct json *json, const struct replay_result *result)
{
    json_open_object(json, "overhead");
    json_integer(json, "median_ns", result->overhead.median_ns);
    json_integer(json, "p95_ns", result->overhead.p95_ns);
    json_integer(json, "total_ns", result->overhead.total_ns);
    json_close_object(json);
}

/* How buffers got their memory. */
static void write_memory(struct json *json, const struct replay_work *work)
{
    const struct device_placed *placed = &work->result->placed;

    if (work->result->ops->placed == NULL) {
        json_text(json, "memory",
                  work->options.is_cold ? "blocks are touched by the action that allocates them"
                                        : "blocks are touched when they are new, and used again");
        return;
    }
    json_text(json, "storage", device_storage_name(placed->storage));
    json_integer(json, "block_bytes", placed->block_bytes);
    json_integer(json, "apart_bytes", placed->apart_bytes);
}

static void write_interval(struct json *json, const char *key, const struct spread *spread)
{
    if (!spread->has_interval) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_integer(json, "low", spread->low_ns);
    json_integer(json, "high", spread->high_ns);
    json_close_object(json);
}

static void write_repeats(struct json *json, const struct replay_work *work)
{
    const struct replay_result *result = work->result;

    json_integer(json, "warm_up", work->options.n_warm_up);
    json_integer(json, "repeats", result->n_repeats);
    json_text(json, "repeats_end", replay_end_name(result->end));
    json_ratio(json, "quartiles_ratio", result->spread.quartiles_ratio);
    write_interval(json, "median_interval_ns", &result->spread);
    json_open_object(json, "kinds");
    for (uint32_t i = 0; i < result->n_kinds; i++) {
        const struct replay_kind *kind = &result->kinds[i];

        json_open_object(json, node_kind_name(kind->kind));
        json_integer(json, "nodes", kind->n_nodes);
        json_integer(json, "planned_ns", kind->planned_ns);
        json_integer(json, "median_ns", kind->spread.median_ns);
        write_interval(json, "median_interval_ns", &kind->spread);
        json_close_object(json);
    }
    json_close_object(json);
}

/* The runs that were not timed, each of which is the pair of one that was, in the same order. */
static void write_untimed(struct json *json, const char *key, const struct replay_result *result,
                          bool is_warm_up)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < result->n_samples; i++) {
        if (result->samples[i].is_warm_up == is_warm_up)
            json_integer(json, NULL, result->samples[i].untimed_ns);
    }
    json_close_array(json);
}

static void write_timing(struct json *json, const struct replay_work *work)
{
    const struct replay_result *result = work->result;
    const struct replay_timing *timing = &result->timing;

    json_text(json, "mode", device_mode_name(work->options.mode));
    json_integer(json, "untimed_makespan_ns", timing->untimed_ns);
    write_untimed(json, "untimed_makespans_ns", result, false);
    write_untimed(json, "untimed_warm_up_makespans_ns", result, true);
    json_open_object(json, "timing");
    json_integer(json, "pairs", timing->n_pairs);
    if (timing->n_pairs > 0)
        json_ratio(json, "ratio", timing->ratio);
    else
        json_null(json, "ratio");
    if (timing->has_interval) {
        json_open_object(json, "interval_ratio");
        json_ratio(json, "low", timing->low);
        json_ratio(json, "high", timing->high);
        json_close_object(json);
    } else {
        json_null(json, "interval_ratio");
    }
    json_ratio(json, "perturbed_above_ratio", REPLAY_PERTURBED_RATIO);
    json_text(json, "verdict", replay_disturbance_name(timing->disturbance));
    json_close_object(json);
}

void replay_write_common(struct json *json, const struct replay_work *work)
{
    const struct replay_result *result = work->result;

    json_integer(json, "replay_of", work->planned.run.id);
    json_text(json, "device", result->ops->name);
    json_text(json, "device_name", result->info.name);
    json_text(json, "clock", result->ops->clock);
    if (result->ops->has_modes) {
        write_timing(json, work);
        device_state_json(json, "device_state", &result->state);
    }
    json_text(json, "scope", graph_scope_name(work->scope));
    json_ratio(json, "scale_time", result->schedule->scale_time);
    json_ratio(json, "scale_bytes", result->schedule->scale_bytes);
    json_text(json, "scale_bytes_why",
              work->options.scale_bytes > 0 ? "--scale-bytes" : result->schedule->scale_bytes_why);
    write_repeats(json, work);
    json_integer(json, "n_queues", result->schedule->lanes.n_lanes);
    json_integer(json, "processors", result->info.n_processors);
    json_integer(json, "busy_queues", result->sharing.busy_queues);
    json_boolean(json, "is_time_shared", result->sharing.is_time_shared);
    json_integer(json, "time_shared_ns", result->sharing.shared_ns);
    json_integer(json, "preempted", result->deviations.n_preempted);
    write_memory(json, work);
    write_overhead(json, result);
    write_constraints(json, result);
}

enum weir_status replay_write_settings(struct replay_work *work, struct weir_error *err)
{
    size_t length;
    struct json json = {.file = open_memstream(&work->settings, &length)};

    if (json.file == NULL)
        return weir_error_memory(err);
    json_open_object(&json, NULL);
    replay_write_common(&json, work);
    json_integer(&json, "memory_limit_bytes", work->result->memory_bytes);
    json_text(&json, "timeline", "of the repeat with the median makespan");
    write_rates(&json, &work->result->rates);
    json_close_object(&json);
    return fclose(json.file) == 0 ? WEIR_OK : weir_error_memory(err);
}
