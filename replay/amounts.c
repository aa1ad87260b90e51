/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A planned duration becomes the amount of work that took as long when this device was measured, a
 * moment ago, alone: so what a replay takes longer is contention, or the device, and not a guess. */
#include "replay/amounts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

#define SHORT_COPY_NS 20000 /* shorter copies do not decide the scale */
#define ROOM 0.95           /* of its planned time that one pass through its object may take */
#define LATE_RATIO 1.05     /* a pass that takes longer than this is a deviation */
#define LATE_NS 1000

static enum step_action work_of(const struct graph *graph, weir_node node)
{
    static const char *const names[STEP_WORKS] = {[STEP_STREAM] = AMOUNTS_STREAM_CLASS,
                                                  [STEP_CACHE] = AMOUNTS_CACHE_CLASS,
                                                  [STEP_MIX] = AMOUNTS_MIX_CLASS};
    weir_class class_ = graph_node_class(graph, node);
    const char *name = weir_is(class_) ? graph_text(graph, graph_class_name(graph, class_)) : "";

    for (int work = 0; work < STEP_WORKS; work++) {
        if (names[work] != NULL && strcmp(name, names[work]) == 0)
            return (enum step_action)work;
    }
    return STEP_COMPUTE;
}

enum step_action amounts_action(const struct graph *graph, weir_node node, int64_t isolated_ns)
{
    struct graph_node value;

    graph_node(graph, node, &value);
    switch (value.kind) {
    case NODE_ALLOCATION:
        return STEP_ALLOCATE;
    case NODE_RECLAMATION:
        return STEP_RECLAIM;
    case NODE_TRANSFER:
    case NODE_PREFETCH:
    case NODE_OFFLOAD:
        return weir_is(value.object) || isolated_ns > 0 ? STEP_COPY : STEP_MARK;
    case NODE_COMPUTE:
    case NODE_REMATERIALIZATION:
    case NODE_MAPPING:
    case NODE_BARRIER:
        break;
    }
    return isolated_ns == 0 ? STEP_MARK : work_of(graph, node);
}

int64_t amounts_copy_bytes(const struct graph *graph, weir_node node)
{
    struct graph_node value;
    struct graph_object object;

    graph_node(graph, node, &value);
    if (!weir_is(value.object))
        return value.bytes > 0 ? value.bytes : 0;
    graph_object(graph, value.object, &object);
    return object.size_bytes;
}

/* ---- the scale of sizes ---- */

/* The greatest number of at most three digits that is not above the scale. */
static double rounded_down(double scale)
{
    double unit = pow(10, floor(log10(scale)) - 2);

    return fmax(floor(scale / unit * (1 + 1e-12)) * unit, 1e-12);
}

static double fitting(double peak_bytes, int64_t memory_bytes)
{
    return peak_bytes <= (double)memory_bytes ? 1 : (double)memory_bytes / peak_bytes;
}

/* All domains of a host are one memory; a device may have its own. */
static double fitting_memory(const struct schedule *schedule,
                             const struct schedule_options *options)
{
    bool is_shared = options->host_memory_bytes == 0;
    double device = 0, host = 0;

    for (uint32_t d = 0; d < schedule->plan->n_domains; d++) {
        bool is_host = place_of(schedule->graph, (weir_domain){d}).is_host_memory;

        *(is_host && !is_shared ? &host : &device) += (double)schedule->plan->peak_bytes[d];
    }
    return fmin(fitting(device, options->memory_bytes), fitting(host, options->host_memory_bytes));
}

enum weir_status amounts_choose_scale(struct schedule *schedule,
                                      const struct schedule_options *options,
                                      const struct rates *rates, struct weir_error *err)
{
    const struct graph *graph = schedule->graph;
    double scale = fitting_memory(schedule, options);
    weir_node bound_by = {WEIR_NONE};

    schedule->scale_bytes = options->scale_bytes;
    schedule->scale_bytes_why = "";
    if (options->scale_bytes > 0)
        return WEIR_OK;
    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        weir_node node = {schedule->steps.node_of[s]};
        int64_t bytes = amounts_copy_bytes(graph, node);
        int64_t fitting;

        if (!graph_kind_is_copy(graph_node_kind(graph, node)) || bytes == 0 ||
            schedule->planned_ns[s] < SHORT_COPY_NS)
            continue;
        fitting =
            rates_fitting_bytes(rates, graph_node_from(graph, node), graph_node_to(graph, node),
                                ROOM * (double)schedule->planned_ns[s], bytes);
        if ((double)fitting < scale * (double)bytes) {
            scale = (double)fitting / (double)bytes;
            bound_by = node;
        }
    }
    schedule->scale_bytes = scale < 1 ? rounded_down(scale > 1e-12 ? scale : 1e-12) : 1;
    schedule->scale_bytes_why =
        weir_is(bound_by) ? schedule_text(schedule, "copy %s fits its planned time",
                                          graph_node_name(graph, bound_by))
        : scale < 1       ? "the buffers fit in a quarter of the memory that is free"
                          : "nothing needs less";
    return schedule->scale_bytes_why == NULL ? weir_error_memory(err) : WEIR_OK;
}

/* ---- amounts ---- */

static enum weir_status deviate_copy(struct schedule *schedule, uint32_t index,
                                     int64_t window_bytes, double pass_ns, struct weir_error *err)
{
    int64_t planned_ns = schedule->planned_ns[index];
    char bytes[NUMBER_TEXT_BYTES];
    char taken[NUMBER_TEXT_BYTES];
    char planned[NUMBER_TEXT_BYTES];
    const char *what;

    number_size_text(window_bytes, bytes);
    number_time_text((int64_t)pass_ns, taken);
    number_time_text(planned_ns, planned);
    what = schedule_text(schedule,
                         "moves %s in %s where the plan has %s: use a smaller --scale-bytes than "
                         "%.3g",
                         bytes, taken, planned, schedule->scale_bytes);
    return what == NULL ? weir_error_memory(err)
                        : schedule_deviates(schedule, (weir_node){schedule->steps.node_of[index]},
                                            what, (int64_t)pass_ns - planned_ns, err);
}

static int64_t copied_bytes(const struct step *step)
{
    const struct step_buffer *last;

    if (step->n_copied == 0)
        return 0;
    last = &step->reads[step->n_copied - 1];
    return last->offset + last->size_bytes - step->reads[0].offset;
}

/* At least the whole object, once: its contents are to be real. */
static enum weir_status set_copy(struct schedule *schedule, uint32_t index,
                                 const struct rates *rates, struct weir_error *err)
{
    struct step *step = &schedule->step[index];
    weir_domain from = graph_node_from(schedule->graph, step->node);
    weir_domain to = graph_node_to(schedule->graph, step->node);
    int64_t window_bytes = copied_bytes(step);
    int64_t planned_ns = schedule->planned_ns[index];
    struct measure_rate rate = rates_copy(rates, from, to, window_bytes);
    double pass_ns = rates_pass_ns(rates, from, to, window_bytes);

    step->amount = planned_ns > 0 ? measure_amount(&rate, (double)planned_ns) : 0;
    if (step->amount < window_bytes)
        step->amount = window_bytes;
    if (pass_ns > LATE_RATIO * (double)planned_ns + LATE_NS &&
        step->reads[0].buffer != step->writes[0].buffer)
        return deviate_copy(schedule, index, window_bytes, pass_ns, err);
    return WEIR_OK;
}

static enum weir_status set_amount(struct schedule *schedule, uint32_t index,
                                   const struct rates *rates, uint32_t *n_short,
                                   struct weir_error *err)
{
    struct step *step = &schedule->step[index];
    double planned_ns = (double)schedule->planned_ns[index];
    /* Beside an allocation and a reclamation there is arithmetic. */
    const struct measure_rate *rate =
        &rates->work[step->action < STEP_WORKS ? step->action : STEP_COMPUTE];

    if (step->action == STEP_COPY)
        return step->n_copied > 0 ? set_copy(schedule, index, rates, err) : WEIR_OK;
    if (step->action == STEP_PASS || schedule->planned_ns[index] == 0)
        return WEIR_OK;
    *n_short += planned_ns < rate->fixed_ns;
    step->amount = measure_amount(rate, planned_ns);
    return WEIR_OK;
}

enum weir_status amounts_set(struct schedule *schedule, const struct rates *rates,
                             struct weir_error *err)
{
    uint32_t n_short = 0;
    enum weir_status status = WEIR_OK;
    const char *what;

    for (uint32_t s = 0; s < schedule->steps.n_steps && status == WEIR_OK; s++)
        status = set_amount(schedule, s, rates, &n_short, err);
    if (status != WEIR_OK || n_short == 0)
        return status;
    what = schedule_text(schedule,
                         "%" PRIu32 " actions are planned shorter than the %.0f ns that the least "
                         "work takes here: use a greater --scale-time",
                         n_short, rates->work[STEP_COMPUTE].fixed_ns);
    return what == NULL
               ? weir_error_memory(err)
               : schedule_deviates(schedule, (weir_node){WEIR_NONE}, what,
                                   (int64_t)(rates->work[STEP_COMPUTE].fixed_ns * n_short), err);
}
