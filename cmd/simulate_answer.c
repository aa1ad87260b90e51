/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `weir simulate` prints of a run. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/findings.h"
#include "cmd/simulate_internal.h"

static void sum_waits(const struct timeline *timeline, int64_t waited_ns[WAIT_OVERLAP + 1])
{
    for (size_t i = 0; i < timeline->n_waits; i++) {
        waited_ns[timeline->waits[i].cause] +=
            timeline->waits[i].to_ns - timeline->waits[i].from_ns;
    }
}

static const char *domain_name(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_domain(graph, (weir_domain){index})->name);
}

static void json_fallbacks(struct json *json, const struct simulated *simulated)
{
    const struct graph *graph = plan_graph(simulated->scenario.plan);

    json_open_array(json, "fallbacks");
    for (size_t i = 0; i < simulated->explained.n_ways; i++) {
        json_open_object(json, NULL);
        json_text(json, "node", graph_node_name(graph, simulated->explained.ways[i].node));
        json_text(json, "fallback", graph_node_name(graph, simulated->explained.ways[i].fallback));
        json_integer(json, "at_ns", simulated->explained.ways[i].at_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

void simulate_answer_json(const struct simulated *simulated)
{
    const struct timeline *timeline = simulated->result.timeline;
    const struct graph *graph = plan_graph(simulated->scenario.plan);
    int64_t waited_ns[WAIT_OVERLAP + 1] = {0};
    struct json json = {.file = stdout};

    sum_waits(timeline, waited_ns);
    json_open_object(&json, NULL);
    json_integer(&json, "run", simulated->run.id);
    json_text(&json, "status", run_status_name(timeline->status));
    json_text(&json, "policy", simulated->scenario.policy->name);
    json_integer(&json, "nodes", graph_n_nodes(graph));
    json_integer(&json, "makespan_ns", timeline->makespan_ns);
    json_integer(&json, "critical_path_ns", simulated->critical_path_ns);
    json_open_object(&json, "peak_bytes");
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        json_integer(&json, domain_name(graph, i), timeline->peak_bytes[i]);
    }
    json_close_object(&json);
    json_open_object(&json, "waited_ns");
    for (int i = WAIT_ENGINE; i <= WAIT_OVERLAP; i++) {
        json_integer(&json, wait_cause_name((enum wait_cause)i), waited_ns[i]);
    }
    json_close_object(&json);
    json_integer(&json, "hypothetical_overlap_ns", simulated->result.hypothetical_ns);
    explained_json_makeup(&json, &simulated->explained);
    explained_json_stalls(&json, &simulated->explained);
    explained_json_waits(&json, &simulated->explained);
    json_fallbacks(&json, simulated);
    cmd_json_findings(&json, simulated->findings);
    tailed_json(&json, &simulated->tailed, graph);
    json_integer(&json, "simulate_wall_ns", simulated->result.wall_ns);
    json_integer(&json, "simulate_memory_bytes", (int64_t)simulated->result.memory_bytes);
    json_text(&json, "graph_hash", simulated->run.graph_hash);
    json_text(&json, "plan_hash", simulated->run.plan_hash);
    if (simulated->result.explanation != NULL) {
        json_text(&json, "explanation", simulated->result.explanation);
    }
    json_close_object(&json);
}

void simulate_answer_text(const struct simulated *simulated)
{
    const struct timeline *timeline = simulated->result.timeline;
    const struct graph *graph = plan_graph(simulated->scenario.plan);
    int64_t waited_ns[WAIT_OVERLAP + 1] = {0};
    char a[NUMBER_TEXT_BYTES], b[NUMBER_TEXT_BYTES];

    sum_waits(timeline, waited_ns);
    number_time_text(timeline->makespan_ns, a);
    number_time_text(simulated->critical_path_ns, b);
    printf("run %" PRId64 ": %s, policy %s, %" PRIu32 " nodes\n", simulated->run.id,
           run_status_name(timeline->status), simulated->scenario.policy->name,
           graph_n_nodes(graph));
    printf("  %-15s %s (precedence alone: %s)\n",
           timeline->status == RUN_COMPLETE ? "makespan" : "stopped at", a, b);
    for (uint32_t i = 0; i < timeline->n_domains; i++) {
        const struct graph_domain *domain = graph_domain(graph, (weir_domain){i});

        number_size_text(timeline->peak_bytes[i], a);
        number_size_text(domain->capacity_bytes - domain->reserve_bytes, b);
        printf("  peak %-10s %s of %s\n", domain_name(graph, i), a, b);
    }
    for (int i = WAIT_ENGINE; i <= WAIT_OVERLAP; i++) {
        if (waited_ns[i] > 0) {
            number_time_text(waited_ns[i], a);
            printf("  waits: %-8s %s, summed over nodes\n", wait_cause_name((enum wait_cause)i), a);
        }
    }
    explained_print_brief(&simulated->explained);
    if (simulated->explained.n_ways > 0) {
        printf("  fallbacks       %zu taken, the first by ", simulated->explained.n_ways);
        cmd_show(stdout, graph_node_name(graph, simulated->explained.ways[0].node));
        putchar('\n');
    }
    if (simulated->result.hypothetical_ns > 0) {
        number_time_text(simulated->result.hypothetical_ns, a);
        printf("  hypothetical    %s of overlap of which nobody measured what it does\n", a);
    }
    tailed_print(&simulated->tailed, graph);
}
