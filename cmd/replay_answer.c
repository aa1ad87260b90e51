/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir replay answers. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/device_state.h"
#include "cmd/replay_internal.h"
#include "cmd/replayed.h"

enum weir_status replay_answer_json(const struct replay_work *work, struct weir_error *err)
{
    const struct replay_result *result = work->result;
    const struct spread *spread = &result->spread;
    struct json json = {.file = stdout};
    enum weir_status status;

    json_open_object(&json, NULL);
    json_integer(&json, "run", work->run.id);
    json_integer(&json, "makespan_ns", spread->median_ns);
    json_integer(&json, "planned_makespan_ns", result->schedule->makespan_ns);
    json_integer(&json, "least_makespan_ns", spread->least_ns);
    json_integer(&json, "greatest_makespan_ns", spread->greatest_ns);
    json_open_array(&json, "makespans_ns");
    for (uint32_t i = 0; i < result->n_samples; i++) {
        if (!result->samples[i].is_warm_up)
            json_integer(&json, NULL, result->samples[i].makespan_ns);
    }
    json_close_array(&json);
    replay_write_common(&json, work);
    status = replayed_json_done(&json, &work->run, err);
    replayed_json_makespan(&json, &work->run);
    json_integer(&json, "n_deviations", result->deviations.n_list);
    replayed_json_deviations(&json, &work->run, SIZE_MAX);
    json_close_object(&json);
    return status;
}

static void print_makespan(const struct replay_work *work)
{
    const struct replay_result *result = work->result;
    const struct spread *spread = &result->spread;
    char a[NUMBER_TEXT_BYTES];
    char b[NUMBER_TEXT_BYTES];

    number_time_text(spread->median_ns, a);
    number_time_text(result->schedule->makespan_ns, b);
    printf("  makespan        %s, planned %s", a, b);
    if (result->schedule->makespan_ns > 0)
        printf(" (%+.2f %%)",
               100 * ((double)spread->median_ns / (double)result->schedule->makespan_ns - 1));
    number_time_text(spread->least_ns, a);
    number_time_text(spread->greatest_ns, b);
    printf("\n  repeats         %" PRIu32 " after %" PRIu32
           " to warm up: %s to %s, middle half %.2f %% wide\n",
           result->n_repeats, work->options.n_warm_up, a, b, 100 * spread->quartiles_ratio);
}

static void print_queues(const struct replay_result *result)
{
    const struct sharing *sharing = &result->sharing;

    printf("  queues          %" PRIu32 ", %" PRIu32 " busy at once, on %" PRIu32
           " processors; %" PRIu32 " actions pre-empted\n",
           result->schedule->lanes.n_lanes, sharing->busy_queues, result->info.n_processors,
           result->deviations.n_preempted);
    if (sharing->is_time_shared)
        printf("                  more than processors for %.1f %% of the plan: the replay is "
               "time-shared there\n",
               100 * (double)sharing->shared_ns / (double)result->schedule->makespan_ns);
}

/* Where a device with memory of its own had the buffers. */
static void print_storage(const struct replay_result *result)
{
    const struct device_placed *placed = &result->placed;
    char block[NUMBER_TEXT_BYTES], apart[NUMBER_TEXT_BYTES];

    if (result->ops->placed == NULL)
        return;
    number_size_text(placed->block_bytes, block);
    number_size_text(placed->apart_bytes, apart);
    if (placed->storage == DEVICE_APART)
        printf("  memory          %s, each buffer apart\n", block);
    else if (placed->storage == DEVICE_ARENA)
        printf("  memory          an arena of %s, planned; apart it would be %s\n", block, apart);
    else
        printf("  memory          %s from the beginning, the rest from the driver's pool\n", block);
}

void replay_answer_text(const struct replay_work *work)
{
    const struct replay_result *result = work->result;
    const struct waits_counts *counts = &result->schedule->waits.counts;
    char a[NUMBER_TEXT_BYTES];
    char b[NUMBER_TEXT_BYTES];

    printf("run %" PRId64 ": replay of run %" PRId64 " on %s (%s), scope %s\n", work->run.id,
           work->planned.run.id, result->ops->name, result->info.name,
           graph_scope_name(work->scope));
    print_makespan(work);
    printf("  scale           time %g, bytes %g (%s)\n", result->schedule->scale_time,
           result->schedule->scale_bytes,
           work->options.scale_bytes > 0 ? "as given" : result->schedule->scale_bytes_why);
    print_queues(result);
    print_storage(result);
    device_state_print("  device          ", "                  ", &result->state);
    printf("  constraints     %" PRIu64 " given, %" PRIu64 " implied, %" PRIu64 " induced, %" PRIu64
           " added: %" PRIu64 " kept by queues, %" PRIu64 " waited for; %zu inserted\n",
           counts->n_given, counts->n_implied, counts->n_induced, counts->n_added,
           counts->n_by_queue, counts->n_waited, result->schedule->waits.n_inserted);
    number_time_text(result->overhead.median_ns, a);
    number_time_text(result->overhead.p95_ns, b);
    printf("  overhead        median %s an action, p95 %s\n", a, b);
    replayed_print_repeats(&work->run);
    replayed_print_makespan("  deviation       ", &work->run);
    printf("  deviations      %" PRIu32 "; the actions that cost most:\n",
           result->deviations.n_list);
    replayed_print_deviations(&work->run);
}
