/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting a schedule together: order, queues, waits, contents, amounts, notes. */
#include "replay/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "replay/amounts.h"
#include "replay/contents.h"

#define SCRATCH_BYTES ((int64_t)1 << 20) /* of a copy that says no size */
#define MOST_SCRATCH_BYTES ((int64_t)64 << 20)

const char *schedule_text(struct schedule *schedule, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_text(&schedule->arena, text, strlen(text));
}

enum weir_status schedule_deviates(struct schedule *schedule, weir_node node, const char *what,
                                   int64_t cost_ns, struct weir_error *err)
{
    enum weir_status status = array_grow(&schedule->deviations, &schedule->deviations_room,
                                         schedule->n_deviations + 1, err);

    if (status == WEIR_OK)
        schedule->deviations[schedule->n_deviations++] =
            (struct schedule_deviation){node, what, cost_ns};
    return status;
}

/* ---- order ---- */

/* Steps are the started nodes in the order of their starts, then the others by id. */
static enum weir_status order_steps(struct schedule *schedule, const weir_node *order,
                                    uint32_t n_started, struct weir_error *err)
{
    uint32_t n_nodes = schedule->plan->n_nodes;
    uint32_t *node_of = arena_array(&schedule->arena, n_nodes, sizeof *node_of);
    uint32_t *step_of = arena_array(&schedule->arena, n_nodes, sizeof *step_of);
    uint32_t n = 0;

    if (node_of == NULL || step_of == NULL)
        return weir_error_memory(err);
    for (; n < n_started; n++)
        node_of[n] = order[n].index;
    for (uint32_t i = 0; i < n_nodes; i++) {
        if (schedule->plan->spans[i].start_ns < 0)
            node_of[n++] = i;
    }
    for (uint32_t s = 0; s < n; s++)
        step_of[node_of[s]] = s;
    schedule->steps = (struct waits_steps){node_of, step_of, n, n_started};
    return WEIR_OK;
}

static enum weir_status assign_order(struct schedule *schedule,
                                     const struct schedule_options *options, struct weir_error *err)
{
    const struct waits_options waits = {.scale_time = options->scale_time,
                                        .forbids_unknown = options->forbids_unknown,
                                        .unknown_by_factor = options->unknown_by_factor};
    weir_node *order = NULL;
    uint32_t n_started = 0;
    enum weir_status status = timeline_order(schedule->plan, &order, &n_started, err);

    if (status != WEIR_OK)
        return status;
    status = order_steps(schedule, order, n_started, err);
    if (status == WEIR_OK)
        status = lanes_assign(schedule->graph, schedule->plan, order, n_started, &schedule->arena,
                              &schedule->lanes, err);
    if (status == WEIR_OK)
        status = waits_make(schedule->binding, schedule->plan, &schedule->steps, &schedule->lanes,
                            &waits, &schedule->arena, &schedule->waits, err);
    free(order);
    return status;
}

/* ---- steps ---- */

static int64_t planned_ns(const struct timeline *plan, weir_node node,
                          const struct schedule_options *options)
{
    return waits_scaled_ns(plan->spans[node.index].isolated_ns, options->scale_time);
}

static enum weir_status begin_steps(struct schedule *schedule,
                                    const struct schedule_options *options, struct weir_error *err)
{
    uint32_t n_steps = schedule->steps.n_steps;

    schedule->step = arena_array(&schedule->arena, n_steps, sizeof *schedule->step);
    schedule->notes = arena_array(&schedule->arena, n_steps, sizeof *schedule->notes);
    schedule->planned_ns = arena_array(&schedule->arena, n_steps, sizeof *schedule->planned_ns);
    if (schedule->step == NULL || schedule->notes == NULL || schedule->planned_ns == NULL)
        return weir_error_memory(err);
    for (uint32_t s = 0; s < n_steps; s++) {
        weir_node node = {schedule->steps.node_of[s]};
        struct step *step = &schedule->step[s];
        bool is_started = s < schedule->steps.n_started;

        schedule->planned_ns[s] = is_started ? planned_ns(schedule->plan, node, options) : 0;
        *step = (struct step){
            .node = node,
            .queue = schedule->lanes.of_node[node.index],
            .action = is_started ? amounts_action(schedule->graph, node,
                                                  schedule->plan->spans[node.index].isolated_ns)
                                 : STEP_PASS,
            .waits = schedule->waits.waits + schedule->waits.first[s],
            .n_waits = (uint32_t)(schedule->waits.first[s + 1] - schedule->waits.first[s]),
            .release_ns = schedule->waits.release_ns[s],
            .planned_ns = is_started ? waits_scaled_ns(schedule->plan->spans[node.index].start_ns,
                                                       options->scale_time)
                                     : 0};
        if (step->queue == WEIR_NONE)
            step->queue = STEP_NO_QUEUE;
    }
    return WEIR_OK;
}

/* Of started nodes; the others have no step to allocate or reclaim with. */
static enum weir_status storage_steps(struct schedule *schedule, uint32_t **out,
                                      struct weir_error *err)
{
    uint32_t *step_of = malloc((schedule->plan->n_nodes + (size_t)1) * sizeof *step_of);

    if (step_of == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < schedule->plan->n_nodes; i++)
        step_of[i] = schedule->plan->spans[i].start_ns < 0 ? WEIR_NONE : schedule->steps.step_of[i];
    *out = step_of;
    return WEIR_OK;
}

static enum weir_status fill_steps(struct schedule *schedule, struct contents *contents,
                                   struct weir_error *err)
{
    uint32_t *step_of = NULL;
    enum weir_status status = storage_steps(schedule, &step_of, err);

    if (status == WEIR_OK)
        status = contents_lay_out(contents, schedule->scale_bytes, step_of, &schedule->arena,
                                  &schedule->buffers, &schedule->n_buffers, err);
    free(step_of);
    for (uint32_t s = 0; s < schedule->steps.n_steps && status == WEIR_OK; s++)
        status = contents_fill_step(contents, schedule->step[s].node, &schedule->arena,
                                    &schedule->step[s], err);
    return status;
}

/* ---- copies that name no object move real bytes too: between two buffers of their queue ---- */

static bool needs_scratch(const struct step *step)
{
    return step->action == STEP_COPY && step->n_copied == 0;
}

static int64_t scratch_bytes(const struct schedule *schedule, const struct step *step)
{
    double bytes = (double)amounts_copy_bytes(schedule->graph, step->node) * schedule->scale_bytes;
    int64_t whole = bytes == 0                           ? SCRATCH_BYTES
                    : bytes < (double)MOST_SCRATCH_BYTES ? (int64_t)bytes
                                                         : MOST_SCRATCH_BYTES;

    return whole < 64 ? 64 : whole - whole % 64;
}

/* The pair of buffers of each queue, as large as its largest such copy. */
static enum weir_status add_scratch(struct schedule *schedule, uint32_t *first_of_lane,
                                    struct weir_error *err)
{
    uint32_t n_before = schedule->n_buffers;
    size_t n_most = (size_t)n_before + 2 * (size_t)schedule->lanes.n_lanes;
    struct device_buffer *buffers = arena_array(&schedule->arena, n_most, sizeof *buffers);

    if (buffers == NULL)
        return weir_error_memory(err);
    if (n_before > 0)
        memcpy(buffers, schedule->buffers, n_before * sizeof *buffers);
    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        const struct step *step = &schedule->step[s];
        uint32_t *first;

        if (!needs_scratch(step))
            continue;
        first = &first_of_lane[step->queue];
        if (*first == WEIR_NONE) {
            struct place from =
                place_of(schedule->graph, graph_node_from(schedule->graph, step->node));
            struct place to = place_of(schedule->graph, graph_node_to(schedule->graph, step->node));

            *first = schedule->n_buffers;
            schedule->n_buffers += 2;
            buffers[*first] = (struct device_buffer){.is_host_memory = from.is_host_memory,
                                                     .object = {WEIR_NONE},
                                                     .is_initial = true,
                                                     .allocate_step = WEIR_NONE,
                                                     .reclaim_step = WEIR_NONE};
            buffers[*first + 1] = buffers[*first];
            buffers[*first + 1].is_host_memory = to.is_host_memory;
        }
        if (buffers[*first].size_bytes < scratch_bytes(schedule, step)) {
            buffers[*first].size_bytes = scratch_bytes(schedule, step);
            buffers[*first + 1].size_bytes = buffers[*first].size_bytes;
        }
    }
    schedule->buffers = buffers;
    return WEIR_OK;
}

/* Scratch carries no tags. A copy that also reads objects keeps those reads behind. */
static enum weir_status use_scratch(struct schedule *schedule, struct step *step, uint32_t first,
                                    struct weir_error *err)
{
    struct step_buffer *reads =
        arena_array(&schedule->arena, (size_t)step->n_reads + 1, sizeof *reads);
    struct step_buffer *writes =
        arena_array(&schedule->arena, (size_t)step->n_writes + 1, sizeof *writes);
    int64_t bytes = scratch_bytes(schedule, step);

    if (reads == NULL || writes == NULL)
        return weir_error_memory(err);
    reads[0] = (struct step_buffer){.buffer = first, .size_bytes = bytes};
    writes[0] = (struct step_buffer){.buffer = first + 1, .size_bytes = bytes};
    for (uint32_t i = 0; i < step->n_reads; i++)
        reads[i + 1] = step->reads[i];
    for (uint32_t i = 0; i < step->n_writes; i++)
        writes[i + 1] = step->writes[i];
    step->reads = reads;
    step->writes = writes;
    step->n_reads++;
    step->n_writes++;
    step->n_copied = 1;
    return WEIR_OK;
}

static enum weir_status give_scratch(struct schedule *schedule, struct weir_error *err)
{
    uint32_t first_of_lane[LANES_MOST];
    enum weir_status status;

    memset(first_of_lane, 0xff, sizeof first_of_lane);
    status = add_scratch(schedule, first_of_lane, err);
    for (uint32_t s = 0; s < schedule->steps.n_started && status == WEIR_OK; s++) {
        struct step *step = &schedule->step[s];

        if (needs_scratch(step))
            status = use_scratch(schedule, step, first_of_lane[step->queue], err);
    }
    return status;
}

/* ---- notes ---- */

/* Appends ", phrase". */
PRINTF_LIKE(3, 4)
static void append(char *text, size_t text_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    if (used + 2 < text_bytes && used > 0)
        used += (size_t)snprintf(text + used, text_bytes - used, "; ");
    va_start(args, format);
    (void)vsnprintf(text + used, text_bytes - used, format, args);
    va_end(args);
}

static void note_waits(const struct schedule *schedule, uint32_t index, char *text, size_t bytes)
{
    const struct step *step = &schedule->step[index];
    char time[NUMBER_TEXT_BYTES];
    uint32_t n_paced = 0;

    for (uint32_t w = 0; w < step->n_waits; w++)
        n_paced += step->waits[w].is_from_start || step->waits[w].lag_ns > 0;
    if (n_paced > 0)
        append(text, bytes,
               "%u of its waits paced by the host's clock (a lag, or the start of another)",
               n_paced);
    if (step->release_ns == 0)
        return;
    number_time_text(step->release_ns, time);
    append(text, bytes, "paced: not before %s%s", time,
           schedule->plan->spans[step->node.index].cause == WAIT_ADMISSION
               ? ", when the policy admitted it"
               : "");
}

static void note_charges(const struct schedule *schedule, weir_node node, char *text, size_t bytes)
{
    struct graph_node value;

    graph_node(schedule->graph, node, &value);
    if (value.n_workspace > 0)
        append(text, bytes, "workspace is accounted for, not allocated");
    if (value.staging.bytes > 0)
        append(text, bytes, "staging is accounted for, not allocated");
}

/* @param at where those of the step begin, in the order of steps; moves on to the next step's */
static void note_order(const struct schedule *schedule, weir_node node, size_t *at, char *text,
                       size_t bytes)
{
    const struct waits *waits = &schedule->waits;

    for (; *at < waits->n_inserted && weir_same(waits->inserted[*at].consumer, node); ++*at) {
        if (waits->inserted[*at].why == INSERTED_QUEUE)
            append(text, bytes, "inserted: after %s, on one thread",
                   graph_node_name(schedule->graph, waits->inserted[*at].producer));
    }
}

static enum weir_status write_notes(struct schedule *schedule, struct weir_error *err)
{
    size_t at = 0;

    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        const struct step *step = &schedule->step[s];
        char text[480] = "";

        note_waits(schedule, s, text, sizeof text);
        note_charges(schedule, step->node, text, sizeof text);
        note_order(schedule, step->node, &at, text, sizeof text);
        if (text[0] == '\0')
            continue;
        schedule->notes[s] = schedule_text(schedule, "%s", text);
        if (schedule->notes[s] == NULL)
            return weir_error_memory(err);
    }
    return WEIR_OK;
}

/* ---- putting it together ---- */

static enum weir_status fill(struct schedule *schedule, const struct schedule_options *options,
                             const struct rates *rates, struct weir_error *err)
{
    struct contents *contents = NULL;
    enum weir_status status = assign_order(schedule, options, err);

    if (status == WEIR_OK)
        status = begin_steps(schedule, options, err);
    if (status == WEIR_OK)
        status = amounts_choose_scale(schedule, options, rates, err);
    if (status == WEIR_OK)
        status = contents_make(schedule->binding, schedule->plan, &schedule->arena, &contents, err);
    if (status == WEIR_OK)
        status = fill_steps(schedule, contents, err);
    if (status == WEIR_OK)
        status = give_scratch(schedule, err);
    if (status == WEIR_OK)
        status = amounts_set(schedule, rates, err);
    return status == WEIR_OK ? write_notes(schedule, err) : status;
}

enum weir_status schedule_make(const struct binding *binding, const struct timeline *plan,
                               const struct schedule_options *options, const struct rates *rates,
                               struct schedule **out, struct weir_error *err)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);
    enum weir_status status;

    if (schedule == NULL)
        return weir_error_memory(err);
    schedule->graph = bind_of(binding);
    schedule->binding = binding;
    schedule->plan = plan;
    schedule->scale_time = options->scale_time;
    schedule->makespan_ns = waits_scaled_ns(plan->makespan_ns, options->scale_time);
    status = fill(schedule, options, rates, err);
    if (status != WEIR_OK) {
        schedule_free(schedule);
        return status;
    }
    *out = schedule;
    return WEIR_OK;
}

void schedule_free(struct schedule *schedule)
{
    if (schedule == NULL)
        return;
    free(schedule->deviations);
    arena_free(&schedule->arena);
    free(schedule);
}
