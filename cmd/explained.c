/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding what explains a run: one pass after the other, each over the whole run. */
#include "cmd/explained.h"

#include <stdlib.h>

#include "graph/measured.h"
#include "judge/chain.h"
#include "judge/settings.h"
#include "judge/sweep.h"

const char *explained_engine(const struct explained *explained, weir_engine engine)
{
    return weir_is(engine)
               ? graph_text(explained->graph, graph_engine(explained->graph, engine)->name)
               : "no engine";
}

const char *explained_domain(const struct explained *explained, weir_domain domain)
{
    return graph_text(explained->graph, graph_domain(explained->graph, domain)->name);
}

const char *explained_class(const struct explained *explained, weir_class class_)
{
    return weir_is(class_)
               ? graph_text(explained->graph, graph_class_name(explained->graph, class_))
               : "";
}

const char *explained_missing(const struct run *run)
{
    switch (run->kind) {
    case RUN_SIM:
        return NULL;
    case RUN_REPLAY:
        return "a replay waits for its own overhead too: it counts as unknown";
    case RUN_RECORDED:
        break;
    }
    return "a recording does not say when an action was ready or what it waited for: an action is "
           "taken to have followed the latest of its producers and of the one before it on its "
           "engine, and the time in between is unknown; nothing is said of waits";
}

enum weir_status explained_index(const struct run *run, const struct binding *binding,
                                 struct explained *out, struct weir_error *err)
{
    enum weir_status status;

    *out = (struct explained){.run = run, .graph = run->graph, .timeline = run->timeline};
    status = bound_index_make(binding, run->timeline, run->kind == RUN_RECORDED, &out->index, err);
    if (status == WEIR_OK && run->n_links == 0) {
        status = chain_walk(out->index, &out->own_links, &out->n_links, err);
        out->links = out->own_links;
    } else {
        out->links = run->links;
        out->n_links = run->n_links;
    }
    return status;
}

static bool runs_at_scale(const struct run *run)
{
    double scale;

    return settings_ratio(run->settings, "scale_time", &scale) && scale != 1;
}

/* That lengths pass 64 bits is no reason to explain nothing. */
static enum weir_status find_bounds(const struct binding *binding, struct explained *out,
                                    struct weir_error *err)
{
    struct weir_error why = {.status = WEIR_OK};
    struct analysis analysis;
    enum weir_status status;

    if (runs_at_scale(out->run)) {
        return WEIR_OK;
    }
    status = analyze(binding, &analysis, &why);
    if (status == WEIR_OK) {
        status = analyze_bounds(&analysis, &out->bounds, &why);
        out->has_bounds = status == WEIR_OK;
        out->precedence_ns = analysis.end_ns;
        analyze_free(&analysis);
    }
    if (status == WEIR_MEMORY) {
        *err = why;
        return status;
    }
    return WEIR_OK;
}

/* Only of a run that slowed nodes down by class, or marked pairs: what the store knows of it. */
static enum weir_status find_hypothetical(struct explained *out, struct weir_error *err)
{
    const char *settings = out->run->settings;

    if (out->run->kind == RUN_RECORDED || settings_is(settings, "unknown_overlap", "allow")) {
        return WEIR_OK;
    }
    return overlaps_hypothetical(out->graph, &out->overlaps,
                                 settings_is(settings, "contention", "pairwise") ||
                                     (settings_is(settings, "contention", "measured") &&
                                      measured_family(out->graph) == MEASURED_PAIRWISE),
                                 &out->is_hypothetical, err);
}

enum weir_status explained_find(const struct run *run, const struct binding *binding,
                                const struct explained_options *options, struct explained *out,
                                struct weir_error *err)
{
    const struct waiting_options waits = {options->wait_bound_ns, options->n_rows};
    enum weir_status status = explained_index(run, binding, out, err);

    if (status == WEIR_OK && !options->is_brief) {
        status = find_bounds(binding, out, err);
    }
    if (status == WEIR_OK) {
        status = makeup_find(out->index, out->links, out->n_links, &out->makeup, err);
    }
    if (status == WEIR_OK) {
        status = makeup_longest_stretches(&out->makeup, options->n_stretches, &out->stretches,
                                          &out->n_stretches, err);
    }
    if (status == WEIR_OK) {
        status = sweep_find(out->index, &waits, &out->stalls, &out->overlaps, &out->waiting, err);
    }
    if (status == WEIR_OK && !options->is_brief) {
        status = pressure_find(out->graph, out->timeline, &out->pressure, err);
    }
    if (status == WEIR_OK) {
        status = find_hypothetical(out, err);
    }
    if (status == WEIR_OK) {
        status = gave_way_find(out->graph, out->timeline, &out->ways, &out->n_ways, err);
    }
    return status;
}

void explained_free(struct explained *explained)
{
    bound_index_free(explained->index);
    free(explained->own_links);
    makeup_free(&explained->makeup);
    free(explained->stretches);
    stalls_free(&explained->stalls);
    free(explained->pressure);
    overlaps_free(&explained->overlaps);
    free(explained->is_hypothetical);
    waiting_free(&explained->waiting);
    free(explained->ways);
    if (explained->has_bounds) {
        analyze_bounds_free(&explained->bounds);
    }
    *explained = (struct explained){.n_links = 0};
}
