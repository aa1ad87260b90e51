/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the repeats of a replay say together: of the makespan, of each kind of node, and of what it
 * costs to time them. */
#include <math.h>
#include <stdlib.h>

#include "replay/fit.h"
#include "replay/runner_internal.h"

const char *replay_disturbance_name(enum replay_disturbance disturbance)
{
    static const char *const names[] = {"undisturbed", "perturbed", "undecided"};

    return names[disturbance];
}

/* ---- makespans ---- */

enum weir_status runner_spread(const struct runner *r, struct spread *out, struct weir_error *err)
{
    int64_t *values_ns = malloc((r->n_passes + (size_t)1) * sizeof *values_ns);
    enum weir_status status;

    if (values_ns == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < r->n_passes; i++)
        values_ns[i] = r->passes[i].timeline->makespan_ns;
    status = spread_find(values_ns, r->n_passes, out, err);
    free(values_ns);
    return status;
}

/* ---- kinds ---- */

/* @param n_nodes counts them; NULL: they are not counted */
static void sum_kinds(const struct schedule *schedule, const struct timeline *timeline,
                      int64_t kind_ns[NODE_KINDS], uint32_t *n_nodes)
{
    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        weir_node node = {schedule->steps.node_of[s]};
        const struct timeline_span *span = &timeline->spans[node.index];
        enum node_kind kind = graph_node_kind(schedule->graph, node);

        kind_ns[kind] += span->finish_ns - span->start_ns;
        if (n_nodes != NULL)
            n_nodes[kind]++;
    }
}

void runner_sum_kinds(const struct schedule *schedule, struct runner_pass *pass)
{
    sum_kinds(schedule, pass->timeline, pass->kind_ns, NULL);
}

static enum weir_status find_kinds(struct runner *r, int64_t *values_ns, struct weir_error *err)
{
    struct replay_result *result = r->result;
    const struct schedule *schedule = result->schedule;
    int64_t planned_ns[NODE_KINDS] = {0};
    uint32_t n_nodes[NODE_KINDS] = {0};
    enum weir_status status = WEIR_OK;

    sum_kinds(schedule, schedule->plan, planned_ns, n_nodes);
    for (int k = 0; k < NODE_KINDS && status == WEIR_OK; k++) {
        struct replay_kind *kind = &result->kinds[result->n_kinds];

        if (n_nodes[k] == 0)
            continue;
        result->n_kinds++;
        kind->kind = (enum node_kind)k;
        kind->n_nodes = n_nodes[k];
        kind->planned_ns = waits_scaled_ns(planned_ns[k], schedule->scale_time);
        for (uint32_t i = 0; i < r->n_passes; i++)
            values_ns[i] = r->passes[i].kind_ns[k];
        status = spread_find(values_ns, r->n_passes, &kind->spread, err);
    }
    return status;
}

/* ---- timing ---- */

static enum replay_disturbance judge(const struct replay_timing *timing)
{
    if (timing->has_interval && timing->low > REPLAY_PERTURBED_RATIO)
        return REPLAY_PERTURBED;
    return timing->has_interval && timing->high <= REPLAY_PERTURBED_RATIO ? REPLAY_UNDISTURBED
                                                                          : REPLAY_UNDECIDED;
}

static enum weir_status find_ratio(struct replay_timing *timing, double *log_ratios,
                                   struct weir_error *err)
{
    struct fit_ratio fit;

    if (timing->n_pairs < FIT_FEWEST_BLOCKS) {
        timing->ratio = exp(fit_quantile(log_ratios, timing->n_pairs, 0.5));
        return WEIR_OK;
    }
    if (fit_ratio(log_ratios, timing->n_pairs, &fit, err) != WEIR_OK)
        return err->status;
    timing->has_interval = true;
    timing->ratio = fit.ratio;
    timing->low = fit.interval.low;
    timing->high = fit.interval.high;
    return WEIR_OK;
}

/* @param values_ns, log_ratios room for all repeats */
static enum weir_status find_timing(struct replay_result *result, int64_t *values_ns,
                                    double *log_ratios, struct weir_error *err)
{
    struct replay_timing *timing = &result->timing;
    struct spread untimed;
    uint32_t n = 0;

    *timing = (struct replay_timing){.untimed_ns = -1, .disturbance = REPLAY_UNDECIDED};
    for (uint32_t i = 0; i < result->n_samples; i++) {
        const struct replay_sample *sample = &result->samples[i];

        if (sample->is_warm_up || sample->untimed_ns < 0)
            continue;
        values_ns[n++] = sample->untimed_ns;
        if (sample->untimed_ns > 0 && sample->whole_ns > 0)
            log_ratios[timing->n_pairs++] =
                log((double)sample->whole_ns / (double)sample->untimed_ns);
    }
    if (n == 0)
        return WEIR_OK;
    if (spread_find(values_ns, n, &untimed, err) != WEIR_OK)
        return err->status;
    timing->untimed_ns = untimed.median_ns;
    if (timing->n_pairs > 0 && find_ratio(timing, log_ratios, err) != WEIR_OK)
        return err->status;
    timing->disturbance = judge(timing);
    return WEIR_OK;
}

enum weir_status runner_figures(struct runner *r, struct weir_error *err)
{
    struct replay_result *result = r->result;
    int64_t *values_ns = malloc((result->n_samples + (size_t)1) * sizeof *values_ns);
    double *log_ratios = malloc((result->n_samples + (size_t)1) * sizeof *log_ratios);
    enum weir_status status;

    if (values_ns == NULL || log_ratios == NULL) {
        status = weir_error_memory(err);
    } else {
        status = runner_spread(r, &result->spread, err);
        if (status == WEIR_OK)
            status = find_kinds(r, values_ns, err);
        if (status == WEIR_OK)
            status = find_timing(result, values_ns, log_ratios, err);
    }
    free(values_ns);
    free(log_ratios);
    return status;
}
