/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target of everything behind the reader: binding, expansion, plan and simulation of any graph
 * that the reader accepts, under each contention family, and by rules of priority. Whatever the graph
 * is, the simulation ends: with a timeline that keeps to readiness and capacity and of which the
 * verifier says nothing, or with a reason. The graph with all implied actions written out gives the
 * same timeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "judge/chain.h"
#include "judge/verify.h"
#include "policies/registry.h"
#include "sim/simulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct report *new_report(void)
{
    struct report *report = report_new(50);
    if (report == NULL)
        abort();
    return report;
}

/* The timeline must be one that can be: nothing starts before it is ready or ends before it starts,
 * no domain overflows, the makespan is the last finish. */
static void must_be_possible(const struct graph *graph, const struct timeline *timeline)
{
    int64_t last_ns = 0;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        if (span->start_ns < 0)
            continue;
        if (span->ready_ns < 0 || span->start_ns < span->ready_ns)
            abort();
        if (span->finish_ns < 0)
            continue;
        if (span->finish_ns < span->start_ns)
            abort();
        last_ns = span->finish_ns > last_ns ? span->finish_ns : last_ns;
    }
    if (timeline->status == RUN_COMPLETE && timeline->makespan_ns != last_ns)
        abort();
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(graph, (weir_domain){i});
        if (timeline->status == RUN_COMPLETE &&
            timeline->peak_bytes[i] > domain->capacity_bytes - domain->reserve_bytes)
            abort();
    }
}

/* The verifier finds nothing wrong. */
static void must_be_right(const struct plan *plan, const struct weir_policy *policy,
                          enum contention contention, const struct simulate_result *result)
{
    const struct verify_options options = {.is_steered =
                                               policy->admit != NULL || policy->on_event != NULL};
    char settings[128];
    struct weir_error err;
    struct verify_result found;
    struct run_link *links = NULL;
    struct run run = {.kind = RUN_SIM,
                      .graph = plan_graph(plan),
                      .graph_name = "",
                      .policy = policy->name,
                      .machine = "",
                      .settings = settings,
                      .critical_path_ns = -1,
                      .timeline = result->timeline};

    (void)snprintf(settings, sizeof settings,
                   "{\"contention\":\"%s\",\"hypothetical_overlap_ns\":%" PRId64 "}",
                   contention_name(contention), result->hypothetical_ns);
    if (chain_find(plan_binding(plan), result->timeline, &links, &run.n_links, &err) != WEIR_OK)
        abort();
    run.links = links;
    if (verify_run(&run, &options, &found, &err) != WEIR_OK)
        abort();
    for (size_t i = 0; i < found.n_findings; i++)
        fprintf(stderr, "%s: %s\n", verify_code_name(found.findings[i].code),
                found.findings[i].message);
    if (found.n_wrong > 0)
        abort();
    verify_free(&found);
    free(links);
}

/* A policy, and a setting of it; NULL: none. */
struct choice {
    const char *policy, *setting;
};

/* Simulates the graph; NULL when it is refused, with a message. */
static struct timeline *simulated(const struct graph *graph, const struct choice *choice,
                                  enum contention contention)
{
    struct weir_error err = {.status = WEIR_OK};
    struct plan_options options = {
        .seed = 1, .sets = &choice->setting, .n_sets = choice->setting == NULL ? 0 : 1};
    struct simulate_options how = simulate_default();
    struct simulate_result result = {.timeline = NULL};
    struct report *report = new_report();
    struct plan *plan = NULL;

    how.contention = contention;
    how.keeps_details = true;
    if (policy_find(choice->policy, &options.policy, &err) != WEIR_OK)
        abort();
    enum weir_status status = plan_make(graph, &options, report, &plan, &err);
    if (status == WEIR_OK)
        status = simulate(plan, &how, &result, &err);
    if (status == WEIR_OK &&
        (result.timeline->status == RUN_COMPLETE) != (result.explanation == NULL))
        abort();
    if (status != WEIR_OK && err.text[0] == '\0')
        abort();
    if (status == WEIR_OK) {
        must_be_possible(graph, result.timeline);
        must_be_right(plan, options.policy, contention, &result);
    }
    free(result.explanation);
    plan_free(plan);
    report_free(report);
    return status == WEIR_OK ? result.timeline : NULL;
}

/* The nodes keep their ids where everything implied is written out: what is added is edges. */
static void must_be_equal(const struct timeline *a, const struct timeline *b)
{
    if ((a == NULL) != (b == NULL))
        abort();
    if (a == NULL)
        return;
    if (a->status != b->status || a->makespan_ns != b->makespan_ns || a->n_nodes > b->n_nodes)
        abort();
}

static void try_both(const struct graph *graph, const struct graph *expanded,
                     const struct choice *choice, enum contention contention)
{
    struct timeline *timeline = simulated(graph, choice, contention);
    struct timeline *again = simulated(expanded, choice, contention);

    must_be_equal(timeline, again);
    timeline_free(timeline);
    timeline_free(again);
}

static void try_families(const struct graph *graph, const struct graph *expanded)
{
    static const struct choice retain = {"retain", NULL};

    for (int family = CONTENTION_NONE; family <= CONTENTION_MEASURED; family++)
        try_both(graph, expanded, &retain, (enum contention)family);
}

/* Rules of priority see the same order in both. */
static void try_rules(const struct graph *graph, const struct graph *expanded)
{
    static const struct choice choices[] = {
        {"lft", NULL}, {"lst", "serial=1"}, {"grpw-all", NULL}, {"mts", "serial=1"}, {"wcs", NULL}};

    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        try_both(graph, expanded, &choices[i], CONTENTION_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_error err;
    struct report *report = new_report();
    struct graph *graph = NULL, *expanded = NULL;
    struct binding *binding = NULL;

    enum weir_status status =
        graph_read_text((const char *)data, size, "fuzz.weir", report, &graph, &err);
    if (status == WEIR_OK)
        status = bind_graph(graph, report, &binding, &err);
    if (status == WEIR_OK) {
        if (bind_expand(binding, &expanded, &err) != WEIR_OK)
            abort();
        try_families(graph, expanded);
        try_rules(graph, expanded);
    }
    bind_free(binding);
    graph_free(expanded);
    graph_free(graph);
    report_free(report);
    return 0;
}
