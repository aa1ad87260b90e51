/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of a run: the repeats of a replay, or the draws of a simulation with their peaks. */
#include <inttypes.h>

#include "store/store_internal.h"
#include "store/values.h"

/* ---- writing ---- */

static enum weir_status write_peaks(struct store *store, sqlite3_stmt *insert, int64_t run_id,
                                    const struct run_sample *sample, uint32_t n_domains,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_domains && status == WEIR_OK; i++) {
        (void)sqlite3_bind_int64(insert, 1, run_id);
        (void)sqlite3_bind_int64(insert, 2, sample->number);
        (void)sqlite3_bind_int64(insert, 3, i);
        (void)sqlite3_bind_int64(insert, 4, sample->peak_bytes[i]);
        status = statement_run(store, insert, err);
    }
    return status;
}

enum weir_status sample_rows_write(struct store *store, int64_t run_id, uint32_t n_domains,
                                   const struct run_sample *samples, size_t n_samples,
                                   struct weir_error *err)
{
    sqlite3_stmt *insert = NULL, *insert_peak = NULL;
    enum weir_status status = statement_prepare(
        store,
        "INSERT INTO sample(run_id, number, makespan_ns, is_warm_up, status) VALUES(?, ?, ?, ?, ?)",
        &insert, err);

    if (status == WEIR_OK) {
        status = statement_prepare(
            store, "INSERT INTO sample_peak_row(run_id, number, domain, bytes) VALUES(?, ?, ?, ?)",
            &insert_peak, err);
    }
    for (size_t i = 0; i < n_samples && status == WEIR_OK; i++) {
        (void)sqlite3_bind_int64(insert, 1, run_id);
        (void)sqlite3_bind_int64(insert, 2, samples[i].number);
        (void)sqlite3_bind_int64(insert, 3, samples[i].makespan_ns);
        (void)sqlite3_bind_int(insert, 4, samples[i].is_warm_up);
        (void)sqlite3_bind_text(insert, 5, run_status_name(samples[i].status), -1, SQLITE_STATIC);
        status = statement_run(store, insert, err);
        if (status == WEIR_OK && samples[i].peak_bytes != NULL)
            status = write_peaks(store, insert_peak, run_id, &samples[i], n_domains, err);
    }
    (void)sqlite3_finalize(insert);
    (void)sqlite3_finalize(insert_peak);
    return status;
}

/* ---- reading ---- */

static bool take_sample(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_sample *sample = item;

    (void)arena;
    *sample = (struct run_sample){
        .number = sqlite3_column_int64(row, 0),
        .makespan_ns = sqlite3_column_int64(row, 1),
        .is_warm_up = sqlite3_column_int(row, 2) != 0,
    };
    if (!run_status_from(text_at(row, 3), &sample->status))
        sample->number = -1; /* no word of ours */
    return true;
}

static const struct run_list samples = {
    "SELECT count(*) FROM sample WHERE run_id = ?1",
    "SELECT number, makespan_ns, is_warm_up, status FROM sample WHERE run_id = ?1 ORDER BY number",
    sizeof(struct run_sample), take_sample};

struct sample_peak {
    int64_t number, domain, bytes;
};

static bool take_peak(struct arena *arena, sqlite3_stmt *row, void *item)
{
    (void)arena;
    *(struct sample_peak *)item = (struct sample_peak){
        .number = sqlite3_column_int64(row, 0),
        .domain = sqlite3_column_int64(row, 1),
        .bytes = sqlite3_column_int64(row, 2),
    };
    return true;
}

static const struct run_list peaks = {
    "SELECT count(*) FROM sample_peak_row WHERE run_id = ?1",
    "SELECT number, domain, bytes FROM sample_peak_row WHERE run_id = ?1 ORDER BY number, domain",
    sizeof(struct sample_peak), take_peak};

static enum weir_status damaged(const struct stored_run *stored, const char *what,
                                struct weir_error *err)
{
    return weir_error_set(err, WEIR_STORE,
                          "run %" PRId64 ": the run is damaged: %s; bring the file back from a "
                          "copy, or simulate again",
                          stored->run.id, what);
}

/* Both stand in the order of the numbers: each sample takes all its peaks, or has none. */
static enum weir_status share_out(struct stored_run *stored, const struct sample_peak *items,
                                  size_t n_items, struct weir_error *err)
{
    uint32_t n_domains = graph_n_domains(stored->graph);
    int64_t *bytes = arena_array(&stored->arena, n_items + 1, sizeof *bytes);
    size_t at = 0;

    if (bytes == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < stored->n_samples && at < n_items; i++) {
        if (items[at].number != stored->samples[i].number)
            continue;
        stored->samples[i].peak_bytes = bytes + at;
        for (uint32_t j = 0; j < n_domains; j++, at++) {
            if (at == n_items || items[at].number != stored->samples[i].number ||
                items[at].domain != j || items[at].bytes < 0)
                return damaged(stored, "a sample has not one peak of each domain", err);
            bytes[at] = items[at].bytes;
        }
    }
    return at == n_items ? WEIR_OK : damaged(stored, "it has the peaks of no sample", err);
}

enum weir_status sample_rows_read(struct store *store, struct stored_run *stored,
                                  struct weir_error *err)
{
    void *items = NULL;
    size_t n_peaks = 0;
    enum weir_status status = run_list_read(store, stored->run.id, &samples, &stored->arena, &items,
                                            &stored->n_samples, err);

    stored->samples = items;
    for (size_t i = 0; i < stored->n_samples && status == WEIR_OK; i++) {
        if (stored->samples[i].number < 0)
            status = damaged(stored, "a sample has no number or no status", err);
    }
    items = NULL;
    if (status == WEIR_OK)
        status =
            run_list_read(store, stored->run.id, &peaks, &stored->arena, &items, &n_peaks, err);
    return status == WEIR_OK && n_peaks > 0 ? share_out(stored, items, n_peaks, err) : status;
}
