/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The import of an Nsight Systems export, step by step. */
#include "traces/nsys.h"

#include <stdlib.h>
#include <string.h>

#include "traces/nsys_internal.h"

/* All but what the report asks for. */
static void free_rows(struct nsys *nsys)
{
    void *rows[] = {nsys->calls, nsys->ops,  nsys->syncs, nsys->records, nsys->memories,
                    nsys->waits, nsys->work, nsys->reach, nsys->latest,  nsys->cut_waits};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        free(rows[i]);
    nsys_ids_free(nsys);
    keys_free(nsys->record_keys);
    nsys->calls = NULL;
    nsys->ops = NULL;
    nsys->syncs = NULL;
    nsys->records = NULL;
    nsys->memories = NULL;
    nsys->waits = nsys->cut_waits = NULL;
    nsys->work = nsys->latest = NULL;
    nsys->reach = NULL;
    nsys->record_keys = NULL;
}

/* Of rows that agree in all but their names, these decide; so the order of rows in the file does not. */
static enum weir_status sort(struct nsys *nsys, struct weir_error *err)
{
    uint32_t *ranks;
    enum weir_status status = nsys_rank_texts(nsys, &ranks, err);

    if (status != WEIR_OK)
        return status;
    nsys_sort_calls(nsys, ranks);
    nsys_sort_ops(nsys, ranks);
    free(ranks);
    return WEIR_OK;
}

/* What the file holds, as arrays with their links. */
static enum weir_status read_file(struct nsys *nsys, const char *window, struct weir_error *err)
{
    enum weir_status status = nsys_probe(nsys, err);

    if (status == WEIR_OK)
        status = nsys_check_content(nsys, err);
    if (status == WEIR_OK)
        status = nsys_strings_new(nsys, err);
    if (status == WEIR_OK)
        status = nsys_find_window(nsys, window, err);
    if (status == WEIR_OK)
        status = nsys_read_rows(nsys, err);
    if (status == WEIR_OK)
        status = nsys_read_graphs(nsys, err);
    if (status == WEIR_OK)
        status = nsys_read_ops(nsys, err);
    if (status == WEIR_OK)
        status = nsys_window_end(nsys, err);
    if (status == WEIR_OK)
        status = sort(nsys, err);
    if (status == WEIR_OK)
        status = nsys_read_gpus(nsys, err);
    if (status == WEIR_OK)
        status = nsys_name_ranges(nsys, err);
    if (status == WEIR_OK)
        status = nsys_link_calls(nsys, err);
    if (status == WEIR_OK)
        status = nsys_link_ops(nsys, err);
    if (status == WEIR_OK)
        status = nsys_check_work(nsys, err);
    return status;
}

/* Who waits for whom, and the memory. */
static enum weir_status relate(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = nsys_order_streams(nsys, err);

    if (status == WEIR_OK)
        status = nsys_find_waits(nsys, err);
    if (status == WEIR_OK)
        status = nsys_find_implicit(nsys, err);
    if (status == WEIR_OK)
        status = nsys_find_barriers(nsys, err);
    if (status == WEIR_OK)
        status = nsys_prune_waits(nsys, err);
    if (status == WEIR_OK)
        status = nsys_pair_memory(nsys, err);
    return status;
}

/* About as many actions as rows; a launch, a step along a stream and one along a thread each. */
static enum weir_status reserve(struct nsys *nsys, struct weir_error *err)
{
    size_t n_actions = (size_t)nsys->n_calls + nsys->n_ops + nsys->n_memories;

    return recording_reserve(nsys->recording, n_actions,
                             n_actions + nsys->n_ops + nsys->n_memories + nsys->n_waits, err);
}

static enum weir_status record(struct nsys *nsys, struct weir_error *err)
{
    enum weir_status status = nsys_add_domains(nsys, err);

    if (status == WEIR_OK)
        status = reserve(nsys, err);
    if (status == WEIR_OK)
        status = nsys_add_objects(nsys, err);
    if (status == WEIR_OK)
        status = nsys_add_calls(nsys, err);
    if (status == WEIR_OK)
        status = nsys_add_ops(nsys, err);
    if (status == WEIR_OK)
        status = nsys_add_loose_memory(nsys, err);
    return status == WEIR_OK ? nsys_add_edges(nsys, err) : status;
}

/* The name of the file without its folder and endings, as the name of the graph. */
static enum weir_status file_name(struct nsys *nsys, uint32_t *text, struct weir_error *err)
{
    static const char *const endings[] = {".gz", ".zst", ".sqlite", ".sqlite3", ".db"};
    const char *slash = strrchr(nsys->path, '/');
    const char *name = slash == NULL ? nsys->path : slash + 1;
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strncmp(name + length - n, endings[i], n) == 0)
            length -= n;
    }
    return recording_text(nsys->recording, name, length, text, err);
}

static enum weir_status build(struct nsys *nsys, struct import_result *out, struct weir_error *err)
{
    char detail[128], name[256];
    struct recording_summary summary;
    const struct recording_head head = {name, detail};
    uint32_t text = 0;
    enum weir_status status = file_name(nsys, &text, err);

    if (status != WEIR_OK)
        return status;
    (void)snprintf(name, sizeof name, "%s", recording_text_of(nsys->recording, text));
    (void)snprintf(detail, sizeof detail, "nsys%s%s, 1 sample", nsys->version[0] == '\0' ? "" : " ",
                   nsys->version);
    status = recording_build(nsys->recording, &head, &out->graph, &out->timeline, &summary, err);
    if (status != WEIR_OK)
        return status;
    out->origin_ns = summary.origin_ns;
    out->makespan_ns = summary.makespan_ns;
    out->chain_unexplained_ns = summary.chain_gap_ns[GAP_UNEXPLAINED] + summary.chain_release_ns;
    out->chain_host_ns = summary.chain_gap_ns[GAP_HOST];
    return nsys_tell(nsys, &summary, err);
}

/* About what of the time has gone when a step has been made. */
static void tell(const struct import_options *options, enum weir_status status, double part)
{
    if (status == WEIR_OK && options->progress != NULL)
        options->progress(options->progress_arg, part);
}

static enum weir_status import(struct nsys *nsys, const struct import_options *options,
                               struct import_result *out, struct weir_error *err)
{
    enum weir_status status;

    nsys->recording = recording_new();
    if (nsys->recording == NULL)
        return weir_error_memory(err);
    status = read_file(nsys, options->window, err);
    tell(options, status, 0.4);
    if (status == WEIR_OK)
        status = relate(nsys, err);
    tell(options, status, 0.5);
    if (status == WEIR_OK)
        status = record(nsys, err);
    tell(options, status, 0.7);
    free_rows(nsys); /* the recording has it all */
    if (status == WEIR_OK)
        status = build(nsys, out, err);
    if (status != WEIR_OK) {
        graph_free(out->graph);
        timeline_free(out->timeline);
        out->graph = NULL;
        out->timeline = NULL;
    }
    return status;
}

static enum weir_status read_open(struct nsys_file *file, const char *path,
                                  const struct import_options *options, struct import_result *out,
                                  struct weir_error *err)
{
    struct nsys *nsys = calloc(1, sizeof *nsys);
    enum weir_status status;

    if (nsys == NULL) {
        nsys_close(file);
        return weir_error_memory(err);
    }
    nsys->path = path;
    nsys->db = file->db;
    nsys->report = &out->report;
    status = import(nsys, options, out, err);
    nsys_strings_free(nsys);
    recording_free(nsys->recording);
    free_rows(nsys);
    for (int i = 0; i < NSYS_TABLES; i++)
        free(nsys->tables[i].where);
    nsys_live_free(nsys);
    nsys_window_free(nsys);
    nsys_graphs_free(nsys);
    free(nsys->streams);
    free(nsys->gpus);
    free(nsys);
    nsys_close(file);
    return status;
}

enum weir_status nsys_read(const char *path, const struct import_options *options,
                           struct import_result *out, struct weir_error *err)
{
    struct nsys_file file;
    enum weir_status status = nsys_open(path, &file, err);

    return status == WEIR_OK ? read_open(&file, path, options, out, err) : status;
}

enum weir_status nsys_read_bytes(const unsigned char *bytes, size_t n_bytes, const char *name,
                                 const struct import_options *options, struct import_result *out,
                                 struct weir_error *err)
{
    struct nsys_file file;
    enum weir_status status = nsys_open_bytes(bytes, n_bytes, name, &file, err);

    return status == WEIR_OK ? read_open(&file, name, options, out, err) : status;
}
