/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must be measured before a plan can be replayed, and whether it is a plan at all. */
#include <stdlib.h>

#include "replay/amounts.h"
#include "replay/schedule.h"

#define SCRATCH_BYTES ((int64_t)1 << 20) /* of a copy that says no size */
#define FASTEST_BYTES_PER_NS 200 /* no device copies faster: a longer window is never needed */

static enum weir_status refuse_incomplete(const struct timeline *plan, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INFEASIBLE,
                          "the run ended in a %s: there is no whole plan to replay; change the "
                          "graph, the machine or the policy until `weir simulate` completes",
                          run_status_name(plan->status));
}

static enum weir_status refuse_unknown(const struct graph *graph, weir_node node,
                                       struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "%s ran, and nothing says how long it takes alone: replay a run of `weir "
                          "simulate`",
                          graph_node_name(graph, node));
}

static int64_t planned_ns(const struct timeline *plan, weir_node node,
                          const struct schedule_options *options)
{
    return waits_scaled_ns(plan->spans[node.index].isolated_ns, options->scale_time);
}

static enum weir_status need_copy(const struct graph *graph, const struct timeline *plan,
                                  weir_node node, const struct schedule_options *options,
                                  struct rates_needs *needs, struct weir_error *err)
{
    double scale = options->scale_bytes > 0 ? options->scale_bytes : 1;
    double bytes = (double)amounts_copy_bytes(graph, node) * scale;
    double most = (double)planned_ns(plan, node, options) * FASTEST_BYTES_PER_NS;

    if (bytes < (double)SCRATCH_BYTES)
        bytes = (double)SCRATCH_BYTES;
    if (options->scale_bytes == 0 && bytes > most && most > (double)SCRATCH_BYTES)
        bytes = most;
    return rates_need_copy(needs, place_of(graph, graph_node_from(graph, node)),
                           place_of(graph, graph_node_to(graph, node)),
                           bytes < 1e18 ? (int64_t)bytes : (int64_t)1e18, err);
}

static enum weir_status need_node(const struct graph *graph, const struct timeline *plan,
                                  weir_node node, const struct schedule_options *options,
                                  struct rates_needs *needs, struct weir_error *err)
{
    const struct timeline_span *span = &plan->spans[node.index];
    enum step_action action;

    if (span->start_ns < 0)
        return WEIR_OK;
    if (span->isolated_ns < 0)
        return refuse_unknown(graph, node, err);
    action = amounts_action(graph, node, span->isolated_ns);
    needs->has_work[STEP_COMPUTE] |= span->isolated_ns > 0;
    if (action < STEP_WORKS)
        needs->has_work[action] = true;
    return action == STEP_COPY ? need_copy(graph, plan, node, options, needs, err) : WEIR_OK;
}

/* What copies use in each domain, each object once, and no more than the plan holds there at once:
 * memory that is given back is used again. The place after the last domain is of copies that name
 * none. */
struct footprint {
    uint32_t n_domains;
    double *bytes;
    bool *is_counted; /* [object][domain] */
};

static uint32_t bytes_of(const struct footprint *footprint, weir_domain domain)
{
    return weir_is(domain) ? domain.index : footprint->n_domains;
}

static void count_side(struct footprint *footprint, weir_object object, weir_domain domain,
                       double bytes)
{
    uint32_t place = bytes_of(footprint, domain);
    bool *is_counted = footprint->is_counted;

    if (weir_is(object)) {
        is_counted += (size_t)object.index * (footprint->n_domains + 1) + place;
        if (*is_counted)
            return;
        *is_counted = true;
    }
    footprint->bytes[place] += bytes;
}

static void count_copies(struct footprint *footprint, const struct graph *graph,
                         const struct timeline *plan, double scale_bytes)
{
    for (uint32_t i = 0; i < plan->n_nodes; i++) {
        weir_node node = {i};
        struct graph_node value;
        double bytes;

        graph_node(graph, node, &value);
        if (plan->spans[i].start_ns < 0 || !graph_kind_is_copy(value.kind))
            continue;
        bytes = scale_bytes * (double)amounts_copy_bytes(graph, node);
        count_side(footprint, value.object, graph_node_from(graph, node), bytes);
        count_side(footprint, value.object, graph_node_to(graph, node), bytes);
    }
    for (uint32_t d = 0; d < footprint->n_domains; d++) {
        double peak_bytes = scale_bytes * (double)plan->peak_bytes[d];

        if (peak_bytes > 0 && footprint->bytes[d] > peak_bytes)
            footprint->bytes[d] = peak_bytes;
    }
}

static int64_t whole(double bytes)
{
    return bytes < 1e18 ? (int64_t)bytes : (int64_t)1e18;
}

static enum weir_status need_footprint(const struct graph *graph, const struct timeline *plan,
                                       const struct schedule_options *options,
                                       struct rates_needs *needs, struct weir_error *err)
{
    size_t n_places = (size_t)plan->n_domains + 1;
    struct footprint footprint = {.n_domains = plan->n_domains,
                                  .bytes = calloc(n_places, sizeof *footprint.bytes),
                                  .is_counted =
                                      calloc((graph_n_objects(graph) + (size_t)1) * n_places, 1)};
    enum weir_status status = WEIR_OK;

    if (footprint.bytes == NULL || footprint.is_counted == NULL) {
        status = weir_error_memory(err);
    } else {
        count_copies(&footprint, graph, plan, options->scale_bytes > 0 ? options->scale_bytes : 1);
        for (size_t d = 0; d < n_places; d++)
            needs->footprint_bytes += footprint.bytes[d];
        for (uint32_t i = 0; i < needs->n_directions; i++) {
            struct measure_direction *direction = &needs->directions[i].direction;

            direction->from_bytes =
                whole(footprint.bytes[bytes_of(&footprint, direction->from.domain)]);
            direction->to_bytes =
                whole(footprint.bytes[bytes_of(&footprint, direction->to.domain)]);
        }
    }
    free(footprint.bytes);
    free(footprint.is_counted);
    return status;
}

enum weir_status schedule_needs(const struct graph *graph, const struct timeline *plan,
                                const struct schedule_options *options, struct rates_needs *out,
                                struct weir_error *err)
{
    struct rates_needs needs = {.directions = NULL};
    enum weir_status status = WEIR_OK;

    if (plan->status != RUN_COMPLETE)
        return refuse_incomplete(plan, err);
    for (uint32_t i = 0; i < plan->n_nodes && status == WEIR_OK; i++)
        status = need_node(graph, plan, (weir_node){i}, options, &needs, err);
    if (status == WEIR_OK)
        status = need_footprint(graph, plan, options, &needs, err);
    if (status == WEIR_OK)
        *out = needs;
    else
        rates_needs_free(&needs);
    return status;
}
