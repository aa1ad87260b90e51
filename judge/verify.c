/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier from a run to what was found: the parts in the order in which each needs the ones before. */
#include "judge/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "graph/measured.h"
#include "judge/settings.h"
#include "judge/verify_internal.h"

int64_t verify_scaled_ns(const struct verify *verify, int64_t ns)
{
    double product = (double)ns * verify->scale_time;

    return verify->scale_time == 1 ? ns : product < 9e18 ? llround(product) : INT64_MAX;
}

int64_t verify_usable_bytes(const struct verify *verify, uint32_t domain)
{
    const struct graph_domain *of = graph_domain(verify->graph, (weir_domain){domain});

    return of->capacity_bytes - of->reserve_bytes;
}

/* --- what the run says of itself -------------------------------------------------------------- */

static enum verify_family fitted_family(const struct graph *graph)
{
    switch (measured_family(graph)) {
    case MEASURED_PAIRWISE:
        return FAMILY_PAIRWISE;
    case MEASURED_SHARE:
        return FAMILY_SHARE;
    case MEASURED_ROOFLINE:
        return FAMILY_ROOFLINE;
    case MEASURED_NONE:
        break;
    }
    return FAMILY_OTHER;
}

static void read_settings(struct verify *verify)
{
    const char *settings = verify->run->settings;

    verify->scale_time = verify->scale_bytes = 1;
    (void)settings_ratio(settings, "scale_time", &verify->scale_time);
    (void)settings_ratio(settings, "scale_bytes", &verify->scale_bytes);
    verify->is_measured = settings_is(settings, "contention", "measured");
    verify->family =
        verify->is_measured ? fitted_family(verify->graph)
        : !settings_has(settings, "contention") || settings_is(settings, "contention", "none")
            ? FAMILY_NONE
        : settings_is(settings, "contention", "pairwise") ? FAMILY_PAIRWISE
        : settings_is(settings, "contention", "share")    ? FAMILY_SHARE
                                                          : FAMILY_OTHER;
    verify->unknown = settings_is(settings, "unknown_overlap", "forbid")  ? UNKNOWN_IS_FORBIDDEN
                      : settings_is(settings, "unknown_overlap", "allow") ? UNKNOWN_IS_ALLOWED
                                                                          : UNKNOWN_IS_MARKED;
}

static enum weir_status read_nodes(struct verify *verify)
{
    verify->nodes = malloc(((size_t)verify->n_nodes + 1) * sizeof *verify->nodes);
    if (verify->nodes == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        const struct timeline_span *span = &verify->timeline->spans[i];
        struct verify_node *node = &verify->nodes[i];

        *node =
            (struct verify_node){.length_ns = span->isolated_ns,
                                 .engine = graph_node_engine(verify->graph, (weir_node){i}).index,
                                 .is_on = graph_node_is_on(verify->graph, (weir_node){i}),
                                 .has_started = span->start_ns >= 0};
        if (node->length_ns < 0 &&
            !graph_node_length_ns(verify->graph, (weir_node){i}, &node->length_ns)) {
            node->length_ns = -1;
        }
        node->is_lengthless =
            verify->is_lenient ? span->finish_ns == span->start_ns : node->length_ns == 0;
        verify->end_ns = span->start_ns > verify->end_ns ? span->start_ns : verify->end_ns;
        verify->end_ns = span->finish_ns > verify->end_ns ? span->finish_ns : verify->end_ns;
    }
    return timeline_order(verify->timeline, &verify->order, &verify->n_started, verify->err);
}

/* --- facts ------------------------------------------------------------------------------------ */

/* What has made lengths others than the graph says. */
static const char *length_changer(const struct verify *verify)
{
    static const char *const keys[] = {"scale",      "delay", "perturb",
                                       "perturb_ns", "drawn", "sample"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (settings_has(verify->run->settings, keys[i])) {
            return keys[i];
        }
    }
    return NULL;
}

static void check_length(struct verify *verify, uint32_t node)
{
    int64_t length_ns = -1, said_ns = verify->timeline->spans[node].isolated_ns;

    verify_checked(verify, VERIFY_CHECK_FACTS, 1);
    if (graph_node_length_ns(verify->graph, (weir_node){node}, &length_ns) &&
        length_ns != said_ns) {
        verify_add(verify, verify_at(VERIFY_LENGTH, node, verify->timeline->spans[node].start_ns),
                   "node %s is said to take %" PRId64 " ns alone, and its graph says %" PRId64
                   " ns",
                   node_name(verify, node), said_ns, length_ns);
    }
}

static void check_lengths(struct verify *verify)
{
    if (verify->run->kind != RUN_SIM) {
        return;
    }
    if (length_changer(verify) != NULL) {
        verify_skip(verify, VERIFY_CHECK_FACTS,
                    "lengths: the run was asked for others than those of its graph");
        return;
    }
    for (uint32_t i = 0; i < verify->n_started; i++) {
        check_length(verify, verify->order[i].index);
    }
}

/* Each number from 0 to the last once, and none before one that started earlier. */
static enum weir_status check_order(struct verify *verify)
{
    uint32_t *at = malloc(((size_t)verify->n_started + 1) * sizeof *at);

    if (at == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_started; i++) {
        at[i] = NONE;
    }
    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        const struct timeline_span *span = &verify->timeline->spans[node];
        const struct timeline_span *before =
            i == 0 ? NULL : &verify->timeline->spans[verify->order[i - 1].index];
        bool is_wrong = span->order >= verify->n_started || at[span->order] != NONE ||
                        (before != NULL && before->order >= span->order);

        if (is_wrong) {
            verify_add(verify, verify_at(VERIFY_START_ORDER, node, span->start_ns),
                       "node %s is said to be the start of number %" PRIu32
                       ", from 0, and by the start times it is that of number %" PRIu32,
                       node_name(verify, node), span->order, i);
        } else {
            at[span->order] = node;
        }
    }
    verify_checked(verify, VERIFY_CHECK_FACTS, verify->n_started);
    free(at);
    return WEIR_OK;
}

static void check_makespan(struct verify *verify)
{
    int64_t last_ns = 0;

    for (uint32_t i = 0; i < verify->n_started; i++) {
        uint32_t node = verify->order[i].index;
        int64_t finish_ns = verify->timeline->spans[node].finish_ns;

        last_ns = finish_ns > last_ns ? finish_ns : last_ns;
        if (finish_ns < 0 && verify->is_whole) {
            verify_add(verify,
                       verify_at(VERIFY_UNFINISHED, node, verify->timeline->spans[node].start_ns),
                       "node %s has started and not finished, and the run is complete",
                       node_name(verify, node));
        }
    }
    verify_checked(verify, VERIFY_CHECK_FACTS, 1);
    if (last_ns != verify->timeline->makespan_ns) {
        verify_add(verify, verify_at(VERIFY_MAKESPAN, NONE, last_ns),
                   "the makespan is said to be %" PRId64 " ns, and the last finish is at %" PRId64
                   " ns",
                   verify->timeline->makespan_ns, last_ns);
    }
}

static enum weir_status check_facts(struct verify *verify)
{
    check_lengths(verify);
    check_makespan(verify);
    return check_order(verify);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* A run that got stuck may have gone on for a while: nodes gave way, and what they would have used ended. */
static void find_end(struct verify *verify)
{
    const struct timeline *timeline = verify->timeline;

    for (size_t i = 0; i < timeline->n_pressures; i++) {
        verify->end_ns = timeline->pressures[i].t_ns > verify->end_ns ? timeline->pressures[i].t_ns
                                                                      : verify->end_ns;
    }
    for (size_t i = 0; i < timeline->n_holds; i++) {
        verify->end_ns = timeline->holds[i].release_ns > verify->end_ns
                             ? timeline->holds[i].release_ns
                             : verify->end_ns;
    }
}

static enum weir_status begin(struct verify *verify)
{
    double part;

    verify->is_whole = verify->timeline->status == RUN_COMPLETE;
    verify->is_lenient = verify->run->kind != RUN_SIM;
    read_settings(verify);
    part = (double)verify->timeline->makespan_ns * verify->options.tolerance_ratio;
    verify->tolerance_ns = verify->options.tolerance_ns;
    if (part > (double)verify->tolerance_ns) {
        verify->tolerance_ns = part < 9e18 ? (int64_t)part : INT64_MAX / 2;
    }
    find_end(verify);
    return read_nodes(verify);
}

typedef enum weir_status part(struct verify *verify);

static part *const parts[] = {
    begin,           check_facts,    verify_copies,   verify_ran,      verify_order,
    verify_bytes,    verify_engines, verify_overlaps, verify_progress, verify_waits,
    verify_dispatch, verify_induced, verify_chain,
};

static enum weir_status go_through(struct verify *verify)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == WEIR_OK; i++) {
        status = parts[i](verify);
    }
    return status == WEIR_OK && verify->is_out_of_memory ? weir_error_memory(verify->err) : status;
}

static void clear_away(struct verify *verify)
{
    free(verify->nodes);
    free(verify->order);
    free(verify->copies);
    free(verify->touches);
    free(verify->touch_first);
    free(verify->hazards);
    free(verify->object_ready_ns);
    free(verify->into_first);
    free(verify->into);
    free(verify->start);
    free(verify->done);
    free(verify->ready);
    free(verify->armed);
    free(verify->settled);
    free(verify->way_ns);
    free(verify->holds);
    free(verify->is_staged);
    free(verify->levels);
    free(verify->level_first);
    free(verify->late_ns);
}

enum weir_status verify_run(const struct run *run, const struct verify_options *options,
                            struct verify_result *out, struct weir_error *err)
{
    struct verify verify = {
        .run = run,
        .graph = run->graph,
        .timeline = run->timeline,
        .options = *options,
        .result = out,
        .err = err,
        .n_nodes = graph_n_nodes(run->graph),
        .n_domains = graph_n_domains(run->graph),
        .n_engines = graph_n_engines(run->graph),
    };
    enum weir_status status;

    *out = (struct verify_result){.findings = NULL};
    status = go_through(&verify);
    clear_away(&verify);
    verify_sort(out);
    return status;
}
