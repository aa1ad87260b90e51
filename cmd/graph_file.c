/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How verbs read a graph: the file, a machine over it, capacities from the command line; and how
 * findings are shown. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/progress.h"

#define FINDINGS_KEPT 50 /* errors of one file */
#define MACHINE_SUFFIX ".weir"

static void print_report(const struct report *report, bool has_remarks)
{
    uint32_t n_kept_errors = 0;
    char line[2048];

    for (uint32_t i = 0; i < report_count(report); i++) {
        const struct finding *finding = report_finding(report, i);

        if (finding->severity == SEVERITY_ERROR)
            n_kept_errors++;
        else if (!has_remarks)
            continue;
        report_line(finding, line, sizeof line);
        cmd_show(stderr, line);
        putc('\n', stderr);
    }
    if (report_errors(report) > n_kept_errors) {
        fprintf(stderr, "%" PRIu32 " errors in all; the first %" PRIu32 " are shown\n",
                report_errors(report), n_kept_errors);
    }
    if (report_is_short(report))
        fprintf(stderr, "memory ran out while findings were kept: some are missing\n");
}

void cmd_print_report(const struct report *report)
{
    print_report(report, true);
}

void cmd_print_errors(const struct report *report)
{
    print_report(report, false);
}

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* "a, b, c" of the machines installed, by name, into out; "none" when there are none. */
static void list_machines(const char *folder, char *out, size_t out_bytes)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    size_t used = 0;

    (void)snprintf(out, out_bytes, "none");
    for (int i = 0; i < n; i++) {
        size_t length = strlen(entries[i]->d_name);
        size_t suffix = strlen(MACHINE_SUFFIX);

        if (length > suffix && used < out_bytes &&
            strcmp(entries[i]->d_name + length - suffix, MACHINE_SUFFIX) == 0) {
            int added = snprintf(out + used, out_bytes - used, "%s%.*s", used == 0 ? "" : ", ",
                                 (int)(length - suffix), entries[i]->d_name);

            used += added < 0 ? 0 : (size_t)added;
        }
        free(entries[i]);
    }
    free(entries);
}

/* FOLDER/machines/NAME.weir, malloc'ed; the suffix may be there already. NULL when memory ran
 * out. */
static char *installed_path(const struct cmd_context *context, const char *name)
{
    size_t length = strlen(name), suffix = strlen(MACHINE_SUFFIX);
    bool has_suffix = length > suffix && strcmp(name + length - suffix, MACHINE_SUFFIX) == 0;
    size_t room = strlen(context->data_dir) + length + suffix + sizeof "/machines/";
    char *path = malloc(room);

    if (path != NULL) {
        (void)snprintf(path, room, "%s/machines/%s%s", context->data_dir, name,
                       has_suffix ? "" : MACHINE_SUFFIX);
    }
    return path;
}

enum weir_status cmd_find_machine(const struct cmd_context *context, const char *name, char **path,
                                  struct weir_error *err)
{
    char *found;

    if (strchr(name, '/') != NULL || strcmp(name, "-") == 0 || is_file(name)) {
        size_t bytes = strlen(name) + 1;

        found = malloc(bytes);
        if (found == NULL)
            return weir_error_memory(err);
        memcpy(found, name, bytes);
        *path = found;
        return WEIR_OK;
    }
    found = installed_path(context, name);
    if (found == NULL)
        return weir_error_memory(err);
    if (!is_file(found)) {
        char machines[200];
        char *slash = strrchr(found, '/');

        *slash = '\0';
        list_machines(found, machines, sizeof machines);
        (void)weir_error_set(err, WEIR_INPUT,
                             "machine '%.60s': no file of that name here, and none among the "
                             "machines of %.120s, which are: %s",
                             name, found, machines);
        free(found);
        return WEIR_INPUT;
    }
    *path = found;
    return WEIR_OK;
}

static enum weir_status overlay_machine(const struct cmd_context *context, struct graph *graph,
                                        const char *machine, struct report *report,
                                        struct weir_error *err)
{
    char *path;
    enum weir_status status = cmd_find_machine(context, machine, &path, err);

    if (status != WEIR_OK)
        return status;
    status = graph_overlay(graph, path, report, err);
    free(path);
    return status;
}

/* One --capacity D=SIZE. */
static enum weir_status set_capacity(struct graph *graph, const char *setting,
                                     struct weir_error *err)
{
    const char *equals = strrchr(setting, '=');
    char name[256];
    weir_text text;
    weir_domain domain = {WEIR_NONE};
    struct graph_domain value;
    enum number_fault fault;

    if (equals == NULL || equals == setting || (size_t)(equals - setting) >= sizeof name) {
        return weir_error_set(
            err, WEIR_USAGE, "--capacity %.80s: DOMAIN=SIZE was expected, as in gpu=8GiB", setting);
    }
    memcpy(name, setting, (size_t)(equals - setting));
    name[equals - setting] = '\0';
    text = graph_find_text(graph, name);
    if (text.index != 0)
        domain = graph_find_domain(graph, text);
    if (!weir_is(domain)) {
        return weir_error_set(err, WEIR_USAGE,
                              "--capacity %.80s: the graph and its machine have no domain '%.80s'",
                              setting, name);
    }
    value = *graph_domain(graph, domain);
    fault = number_size(equals + 1, strlen(equals + 1), &value.capacity_bytes);
    if (fault != NUMBER_OK) {
        return weir_error_set(err, WEIR_USAGE,
                              "--capacity %.80s: '%.40s' is %s; a size such as "
                              "8GiB was expected",
                              setting, equals + 1, number_fault_text(fault));
    }
    value.evidence = (struct graph_evidence){.kind = EVIDENCE_DECLARED, .confidence = -1};
    graph_set_domain(graph, domain, &value);
    return WEIR_OK;
}

/* The machine and the capacities over a graph that has been read. */
static enum weir_status change_machine(const struct cmd_context *context, struct graph *graph,
                                       const char *machine, const char *const *capacities,
                                       uint32_t n_capacities, struct report *report,
                                       struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (machine == NULL && n_capacities == 0)
        return WEIR_OK;
    if (machine != NULL)
        status = overlay_machine(context, graph, machine, report, err);
    for (uint32_t i = 0; i < n_capacities && status == WEIR_OK; i++)
        status = set_capacity(graph, capacities[i], err);
    if (status != WEIR_OK)
        return status;
    graph_check_statements(graph, report);
    if (report_errors(report) != 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "the graph and its machine do not fit each other: %" PRIu32 " errors",
                              report_errors(report));
    }
    return WEIR_OK;
}

enum weir_status cmd_read_graph(const struct cmd_context *context, const char *path,
                                const char *machine, const char *const *capacities,
                                uint32_t n_capacities, bool is_quiet, struct graph **out,
                                char hash[HASH_TEXT_BYTES], struct weir_error *err)
{
    struct report *report = report_new(FINDINGS_KEPT);
    struct graph *graph = NULL;
    struct progress progress;
    char as_read[HASH_TEXT_BYTES];
    enum weir_status status;

    if (report == NULL)
        return weir_error_memory(err);
    progress_begin(&progress, context, "reading", is_quiet);
    report_watch(report, progress_show, &progress);
    status = machine == NULL && n_capacities == 0
                 ? graph_read(path, report, &graph, err)
                 : graph_read_for_machine(path, report, &graph, err);
    if (status == WEIR_OK)
        status = graph_hash(graph, as_read, err);
    if (status == WEIR_OK) {
        status = change_machine(context, graph, machine, capacities, n_capacities, report, err);
    }
    progress_end(&progress);
    cmd_print_report(report);
    report_free(report);
    if (status != WEIR_OK) {
        graph_free(graph);
        return status;
    }
    memcpy(hash, as_read, sizeof as_read);
    *out = graph;
    return WEIR_OK;
}
