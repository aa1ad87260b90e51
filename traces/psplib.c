/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a PSPLIB problem to a graph. A renewable resource is a domain whose capacity is counted in bytes,
 * one a unit; a job is a node without an engine that holds its requests as workspace while it runs. So
 * a schedule of the one is a schedule of the other, with the same makespan in units of time. */
#include "traces/psplib.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/read_file.h"
#include "traces/psplib_internal.h"

#define UNIT_NS 1000 /* a microsecond, when nothing else is asked for */

bool psplib_looks_like(const unsigned char *bytes, size_t n_bytes)
{
    static const char words[] = "jobs (incl. supersource/sink";

    for (size_t i = 0; i + sizeof words - 1 <= n_bytes; i++) {
        if (memcmp(bytes + i, words, sizeof words - 1) == 0) {
            return true;
        }
    }
    return false;
}

/* --- the graph ---------------------------------------------------------------------------------- */

struct builder {
    const struct psplib *project;
    struct graph *graph;
    int64_t unit_ns;
    struct graph_charge *charges; /* scratch: one a resource */
    struct graph_evidence evidence;
    struct weir_error *err;
};

/* The name of the file without its folder and ending, as the name of the graph. */
static enum weir_status name_graph(struct builder *b)
{
    const char *slash = strrchr(b->project->name, '/');
    const char *name = slash == NULL ? b->project->name : slash + 1;
    size_t length = strlen(name);
    weir_text text;
    enum weir_status status;

    if (length > 3 && strcmp(name + length - 3, ".sm") == 0) {
        length -= 3;
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) {
            name = "psplib";
            length = strlen(name);
        }
    }
    status = graph_intern(b->graph, name, length, &text, b->err);
    if (status == WEIR_OK) {
        graph_set_head(b->graph, text, SCOPE_NONE, true, graph_node_default.evidence);
    }
    return status;
}

static enum weir_status add_domains(struct builder *b)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < b->project->n_capacities && status == WEIR_OK; i++) {
        struct graph_domain domain = graph_domain_default;
        weir_domain id;
        char name[32];

        (void)snprintf(name, sizeof name, "R%zu", i + 1);
        domain.capacity_bytes = b->project->capacities[i];
        domain.evidence = b->evidence;
        status = graph_intern_text(b->graph, name, &domain.name, b->err);
        if (status == WEIR_OK) {
            status = graph_add_domain(b->graph, &domain, &id, b->err);
        }
    }
    return status;
}

/* Its requests, as workspace. */
static void charge(struct builder *b, uint32_t job, struct graph_node *node)
{
    for (size_t i = 0; i < b->project->n_capacities; i++) {
        int64_t request = b->project->requests[(size_t)job * b->project->n_capacities + i];

        if (request > 0) {
            b->charges[node->n_workspace++] = (struct graph_charge){request, {(uint32_t)i}};
        }
    }
    node->workspace = b->charges;
}

/* A release date is one of the whole: nothing starts before it. */
static int64_t release_of(const struct builder *b)
{
    return b->project->release > 0 ? b->project->release : 0;
}

static enum weir_status add_node(struct builder *b, uint32_t job)
{
    struct graph_node node = graph_node_default;
    int64_t duration_ns;
    weir_node id;
    char name[32];
    enum weir_status status;

    if (__builtin_mul_overflow(b->project->jobs[job].duration, b->unit_ns, &duration_ns) ||
        __builtin_mul_overflow(release_of(b), b->unit_ns, &node.release_ns)) {
        return weir_error_set(b->err, WEIR_INPUT,
                              "%.200s:%" PRIu32 ": job %" PRIu32 " takes past 2^63 ns; expected "
                              "less: give a shorter --unit",
                              b->project->name, b->project->jobs[job].line, job + 1);
    }
    node.kind = NODE_COMPUTE;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.evidence = b->evidence;
    charge(b, job, &node);
    (void)snprintf(name, sizeof name, "j%" PRIu32, job + 1);
    status = graph_intern_text(b->graph, name, &node.name, b->err);
    return status == WEIR_OK ? graph_add_node(b->graph, &node, &id, b->err) : status;
}

static enum weir_status add_edges(struct builder *b, uint32_t job)
{
    const struct psplib_job *from = &b->project->jobs[job];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = from->successors; i < from[1].successors && status == WEIR_OK; i++) {
        struct graph_edge edge = graph_edge_default;

        edge.producer.index = job;
        edge.consumer.index = b->project->successors[i];
        edge.type = EDGE_ORDERING;
        edge.evidence = b->evidence;
        status = graph_add_edge(b->graph, &edge, b->err);
    }
    return status;
}

static enum weir_status fill(struct builder *b)
{
    uint32_t n_jobs = (uint32_t)b->project->n_jobs;
    enum weir_status status = name_graph(b);

    b->evidence = (struct graph_evidence){EVIDENCE_DECLARED, {0}, -1};
    if (status == WEIR_OK) {
        status = add_domains(b);
    }
    for (uint32_t i = 0; i < n_jobs && status == WEIR_OK; i++) {
        status = add_node(b, i);
    }
    for (uint32_t i = 0; i < n_jobs && status == WEIR_OK; i++) {
        status = add_edges(b, i);
    }
    return status;
}

static enum weir_status build(const struct psplib *project, int64_t unit_ns, struct graph **out,
                              struct weir_error *err)
{
    struct builder b = {.project = project, .unit_ns = unit_ns, .err = err};
    enum weir_status status;

    b.graph = graph_new();
    b.charges = calloc(project->n_capacities + 1, sizeof *b.charges);
    status = b.graph == NULL || b.charges == NULL ? weir_error_memory(err) : fill(&b);
    free(b.charges);
    if (status != WEIR_OK) {
        graph_free(b.graph);
        return status;
    }
    *out = b.graph;
    return WEIR_OK;
}

/* --- the report --------------------------------------------------------------------------------- */

static enum weir_status tell(const struct psplib *project, int64_t unit_ns,
                             struct import_report *report, struct weir_error *err)
{
    const struct {
        const char *section, *key;
        int64_t value;
    } items[] = {
        {"source", "unit_ns", unit_ns},
        {"read", "jobs", project->n_jobs},
        {"read", "precedence_relations", (int64_t)project->n_successors},
        {"read", "renewable_resources", project->n_renewable},
        {"read", "release_date_units", release_of(&(struct builder){.project = project})},
        {"not_used", "horizon_units", project->horizon},
        {"not_used", "mpm_time_units", project->mpm_time},
        {"not_used", "due_date_units", project->due_date},
        {"not_used", "tardiness_cost", project->tardiness_cost},
    };
    enum weir_status status = import_report_text(report, "source", "format", "psplib", err);

    for (size_t i = 0; i < sizeof items / sizeof *items && status == WEIR_OK; i++) {
        if (items[i].value >= 0) {
            status =
                import_report_integer(report, items[i].section, items[i].key, items[i].value, err);
        }
    }
    report->grade = IMPORT_A;
    report->reason =
        "jobs, precedence, requests and capacities are all stated; nothing was recorded";
    return status;
}

/* ------------------------------------------------------------------------------------------------ */

enum weir_status psplib_read_text(const char *text, size_t length, const char *name,
                                  const struct import_options *options, struct import_result *out,
                                  struct weir_error *err)
{
    int64_t unit_ns = options->unit_ns > 0 ? options->unit_ns : UNIT_NS;
    struct psplib project;
    enum weir_status status;

    if (options->window != NULL) {
        return weir_error_set(
            err, WEIR_USAGE,
            "--window %.80s: a PSPLIB problem has no times that a window could cut; "
            "leave it out",
            options->window);
    }
    status = psplib_parse(&project, text, length, name, err);
    if (status == WEIR_OK) {
        status = build(&project, unit_ns, &out->graph, err);
    }
    if (status == WEIR_OK) {
        status = tell(&project, unit_ns, &out->report, err);
    }
    psplib_free(&project);
    return status;
}

enum weir_status psplib_read(const char *path, const struct import_options *options,
                             struct import_result *out, struct weir_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum weir_status status = read_file(path, &text, &length, err);

    if (status == WEIR_OK) {
        status = psplib_read_text(text, length, path, options, out, err);
    }
    free(text);
    return status;
}
