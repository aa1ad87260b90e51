/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run has beside its timeline, in order: decisions, mechanisms, deviations, overlaps; and
 * its samples, by store/sample_rows.c. */
#include "store/store_internal.h"
#include "store/values.h"

/* ---- writing ---- */

/* What the rows of one run are made from. */
struct lists_of_run {
    int64_t first_key;
    const struct run *run;
};

static void give_decision(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct lists_of_run *of = arg;
    const struct run_decision *decision = &of->run->decisions[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_text(out, decision->what);
        break;
    case 2:
        give_text(out, decision->reason);
        break;
    case 3:
        give_text(out, decision->instead_of);
        break;
    }
}

static void give_mechanism(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct lists_of_run *of = arg;
    const struct run_mechanism *mechanism = &of->run->mechanisms[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, mechanism->node.index);
        break;
    case 2:
        give_text(out, mechanism->mechanism);
        break;
    case 3:
        give_text(out, mechanism->note);
        break;
    }
}

static void give_deviation(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct lists_of_run *of = arg;
    const struct run_deviation *deviation = &of->run->deviations[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, deviation->node.index);
        break;
    case 2:
        give_text(out, deviation->what);
        break;
    case 3:
        give_known(out, deviation->cost_ns);
        break;
    }
}

static void give_overlap(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct lists_of_run *of = arg;
    const struct run_overlap *overlap = &of->run->overlaps[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key >> STORE_KEY_BITS);
        break;
    case 1:
        give_text(out, overlap->class_a);
        break;
    case 2:
        give_text(out, overlap->class_b);
        break;
    case 3:
        sqlite3_result_int64(out, overlap->overlap_ns);
        break;
    }
}

enum weir_status run_lists_write(struct store *store, int64_t run_id, const struct run *run,
                                 const struct run_sample *written, size_t n_written,
                                 struct weir_error *err)
{
    struct lists_of_run of = {run_id << STORE_KEY_BITS, run};
    const struct {
        const char *sql;
        size_t n_rows;
        void (*value)(const void *, int64_t, int, sqlite3_context *);
    } lists[] = {
        {"INSERT INTO decision_row SELECT c0, c1, c2, c3 FROM weir_rows", run->n_decisions,
         give_decision},
        {"INSERT INTO mechanism_row SELECT c0, c1, c2, c3 FROM weir_rows", run->n_mechanisms,
         give_mechanism},
        {"INSERT INTO deviation_row SELECT c0, c1, c2, c3 FROM weir_rows", run->n_deviations,
         give_deviation},
        {"INSERT INTO overlap SELECT c0, c1, c2, c3 FROM weir_rows", run->n_overlaps, give_overlap},
    };
    enum weir_status status =
        sample_rows_write(store, run_id, graph_n_domains(run->graph), written, n_written, err);

    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == WEIR_OK; i++)
        status = store_move_rows(store, lists[i].sql, lists[i].n_rows, lists[i].value, &of, err);
    return status;
}

/* ---- reading ---- */

bool run_list_keep(struct arena *arena, sqlite3_stmt *row, int column, const char **out)
{
    *out = NULL;
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return true;
    *out = arena_text(arena, text_at(row, column), strlen(text_at(row, column)));
    return *out != NULL;
}

static bool take_decision(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_decision *decision = item;

    return run_list_keep(arena, row, 0, &decision->what) &&
           run_list_keep(arena, row, 1, &decision->reason) &&
           run_list_keep(arena, row, 2, &decision->instead_of);
}

static bool take_mechanism(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_mechanism *mechanism = item;

    mechanism->node.index = id_at(row, 0);
    return run_list_keep(arena, row, 1, &mechanism->mechanism) &&
           run_list_keep(arena, row, 2, &mechanism->note);
}

static bool take_deviation(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_deviation *deviation = item;

    deviation->node.index = id_at(row, 0);
    deviation->cost_ns = known_at(row, 2);
    return run_list_keep(arena, row, 1, &deviation->what);
}

static bool take_overlap(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_overlap *overlap = item;

    overlap->overlap_ns = sqlite3_column_int64(row, 2);
    return run_list_keep(arena, row, 0, &overlap->class_a) &&
           run_list_keep(arena, row, 1, &overlap->class_b);
}

static const struct run_list decisions = {
    "SELECT count(*) FROM decision_row" KEYS_OF_RUN,
    "SELECT what, reason, instead_of FROM decision_row" KEYS_OF_RUN " ORDER BY key",
    sizeof(struct run_decision), take_decision};
static const struct run_list mechanisms = {
    "SELECT count(*) FROM mechanism_row" KEYS_OF_RUN,
    "SELECT node_id, mechanism, note FROM mechanism_row" KEYS_OF_RUN " ORDER BY key",
    sizeof(struct run_mechanism), take_mechanism};
static const struct run_list deviations = {
    "SELECT count(*) FROM deviation_row" KEYS_OF_RUN,
    "SELECT node_id, what, cost_ns FROM deviation_row" KEYS_OF_RUN " ORDER BY key",
    sizeof(struct run_deviation), take_deviation};
static const struct run_list overlaps = {
    "SELECT count(*) FROM overlap WHERE run_id = ?1",
    "SELECT class_a, class_b, overlap_ns FROM overlap WHERE run_id = ?1 ORDER BY class_a, class_b",
    sizeof(struct run_overlap), take_overlap};
enum weir_status run_list_read(struct store *store, int64_t run_id, const struct run_list *list,
                               struct arena *arena, void **items, size_t *n_items,
                               struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    int64_t n = 0;
    size_t at = 0;
    bool found = false, has_row = true;
    char *made;
    enum weir_status status = store_number(store, list->count, run_id, 0, &n, &found, err);

    if (status != WEIR_OK || n <= 0)
        return status;
    made = arena_array(arena, (size_t)n, list->item_bytes);
    if (made == NULL)
        return weir_error_memory(err);
    status = statement_prepare(store, list->select, &select, err);
    if (status == WEIR_OK)
        (void)sqlite3_bind_int64(select, 1, run_id);
    while (status == WEIR_OK && at < (size_t)n) {
        status = statement_step(store, select, &has_row, err);
        if (status != WEIR_OK || !has_row)
            break;
        if (!list->take(arena, select, made + at * list->item_bytes))
            status = weir_error_memory(err);
        at++;
    }
    (void)sqlite3_finalize(select);
    *items = made;
    *n_items = at;
    return status;
}

enum weir_status run_lists_read(struct store *store, struct stored_run *stored,
                                struct weir_error *err)
{
    struct run *run = &stored->run;
    void *items[4] = {NULL, NULL, NULL, NULL};
    const struct run_list *const lists[] = {&decisions, &mechanisms, &deviations, &overlaps};
    size_t *const counts[] = {&run->n_decisions, &run->n_mechanisms, &run->n_deviations,
                              &run->n_overlaps};
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < 4 && status == WEIR_OK; i++) {
        status = run_list_read(store, run->id, lists[i], &stored->arena, &items[i], counts[i], err);
    }
    run->decisions = items[0];
    run->mechanisms = items[1];
    run->deviations = items[2];
    run->overlaps = items[3];
    return status == WEIR_OK ? sample_rows_read(store, stored, err) : status;
}
