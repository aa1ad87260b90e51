/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline as rows of its run, and back. Every field of every list comes back as it was; the order
 * of a list is the order of its keys. */
#include <stdlib.h>

#include "store/store_internal.h"
#include "store/values.h"

/* What the rows of one run are made from. */
struct rows_of_run {
    int64_t first_key;
    const struct graph *graph;
    const struct timeline *timeline;
};

static void give_span(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;
    const struct timeline_span *span = &of->timeline->spans[row];
    bool has_started = span->start_ns != -1;
    bool has_finished = has_started && span->finish_ns != -1;
    int64_t length_ns = has_finished ? span->finish_ns - span->start_ns : 0;

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        if (has_started)
            sqlite3_result_int64(out, span->start_ns);
        break;
    case 2:
        sqlite3_result_int64(out, (has_started ? span->start_ns : 0) - span->ready_ns);
        break;
    case 3:
        if (has_finished)
            sqlite3_result_int64(out, length_ns);
        break;
    case 4:
        if (span->isolated_ns != -1)
            sqlite3_result_int64(out, length_ns - span->isolated_ns);
        break;
    case 5:
        sqlite3_result_int(out, span->cause + 16 * span->source);
        break;
    case 6:
        if (weir_is(span->blocker))
            sqlite3_result_int64(out, (int64_t)span->blocker.index - row);
        break;
    case 7:
        if (span->order != WEIR_NONE)
            sqlite3_result_int64(out, (int64_t)span->order - row);
        break;
    }
}

static void give_wait(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;
    const struct timeline_wait *wait = &of->timeline->waits[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, wait->node.index);
        break;
    case 2:
        sqlite3_result_int(out, (int)wait->cause);
        break;
    case 3:
        give_id(out, wait->blocker.index);
        break;
    case 4:
        give_id(out, wait->object.index);
        break;
    case 5:
        sqlite3_result_int64(out, wait->from_ns);
        break;
    case 6:
        sqlite3_result_int64(out, wait->to_ns);
        break;
    }
}

static void give_pressure(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;
    const struct timeline_pressure *pressure = &of->timeline->pressures[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, pressure->domain.index);
        break;
    case 2:
        sqlite3_result_int64(out, pressure->t_ns);
        break;
    case 3:
        sqlite3_result_int64(out, pressure->bytes);
        break;
    }
}

/* Bytes without an object are the node's workspace or its staging: staging when they are as many as
 * its statement says and its workspace there is not, or when they outlive the node. */
static bool is_staging(const struct rows_of_run *of, const struct timeline_hold *hold)
{
    struct graph_node node;
    bool is_workspace = false;

    if (weir_is(hold->object) || !weir_is(hold->node))
        return false;
    graph_node(of->graph, hold->node, &node);
    if (node.staging.bytes != hold->bytes ||
        !weir_same(graph_charge_domain(of->graph, hold->node, &node.staging), hold->domain))
        return false;
    for (uint32_t i = 0; i < node.n_workspace; i++) {
        weir_domain domain = graph_charge_domain(of->graph, hold->node, &node.workspace[i]);

        if (weir_same(domain, hold->domain) && node.workspace[i].bytes == hold->bytes)
            is_workspace = true;
    }
    return !is_workspace || hold->release_ns != of->timeline->spans[hold->node.index].finish_ns;
}

static void give_hold(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;
    const struct timeline_hold *hold = &of->timeline->holds[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, hold->domain.index);
        break;
    case 2:
        give_id(out, hold->object.index);
        break;
    case 3:
        give_id(out, hold->node.index);
        break;
    case 4:
        sqlite3_result_int64(out, hold->bytes);
        break;
    case 5:
        sqlite3_result_int64(out, hold->acquire_ns);
        break;
    case 6:
        give_known(out, hold->release_ns);
        break;
    case 7:
        sqlite3_result_int(out, is_staging(of, hold));
        break;
    }
}

static void give_induced(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;
    const struct timeline_induced *induced = &of->timeline->induced[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, induced->producer.index);
        break;
    case 2:
        give_id(out, induced->consumer.index);
        break;
    case 3:
        give_id(out, induced->domain.index);
        break;
    case 4:
        sqlite3_result_int64(out, induced->bytes);
        break;
    }
}

static void give_peak(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_run *of = arg;

    sqlite3_result_int64(out, column == 0 ? of->first_key + row : of->timeline->peak_bytes[row]);
}

enum weir_status timeline_rows_write(struct store *store, int64_t run_id, const struct run *run,
                                     struct weir_error *err)
{
    const struct timeline *timeline = run->timeline;
    struct rows_of_run of = {run_id << STORE_KEY_BITS, run->graph, timeline};
    const struct {
        const char *sql;
        size_t n_rows;
        void (*value)(const void *, int64_t, int, sqlite3_context *);
    } lists[] = {
        {"INSERT INTO span_row SELECT c0, c1, c2, c3, c4, c5, c6, c7 FROM weir_rows",
         timeline->n_nodes, give_span},
        {"INSERT INTO wait_row SELECT c0, c1, c2, c3, c4, c5, c6 FROM weir_rows", timeline->n_waits,
         give_wait},
        {"INSERT INTO pressure_row SELECT c0, c1, c2, c3 FROM weir_rows", timeline->n_pressures,
         give_pressure},
        {"INSERT INTO hold_row SELECT c0, c1, c2, c3, c4, c5, c6, c7 FROM weir_rows",
         timeline->n_holds, give_hold},
        {"INSERT INTO induced_row SELECT c0, c1, c2, c3, c4 FROM weir_rows", timeline->n_induced,
         give_induced},
        {"INSERT INTO peak_row SELECT c0, c1 FROM weir_rows", timeline->n_domains, give_peak},
    };
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == WEIR_OK; i++)
        status = store_move_rows(store, lists[i].sql, lists[i].n_rows, lists[i].value, &of, err);
    return status;
}

/* ---- reading ---- */

/* a - b; what has no such difference is damaged, and becomes what no time can be. */
static int64_t less(int64_t a, int64_t b)
{
    int64_t difference;

    return __builtin_sub_overflow(a, b, &difference) ? INT64_MIN : difference;
}

static enum weir_status take_span(struct timeline *timeline, sqlite3_stmt *row,
                                  struct weir_error *err)
{
    uint32_t node = (uint32_t)sqlite3_column_int64(row, 0);
    bool has_started = sqlite3_column_type(row, 1) != SQLITE_NULL;
    bool has_finished = sqlite3_column_type(row, 3) != SQLITE_NULL;
    int64_t start_ns = sqlite3_column_int64(row, 1); /* 0 when NULL, as below */
    int64_t length_ns = sqlite3_column_int64(row, 3);
    int how = sqlite3_column_int(row, 5);

    if (node >= timeline->n_nodes)
        return weir_error_set(err, WEIR_STORE, "a span is of node %u, which the graph has not",
                              (unsigned)node);
    timeline->spans[node] = (struct timeline_span){
        .ready_ns = less(start_ns, sqlite3_column_int64(row, 2)),
        .start_ns = has_started ? start_ns : -1,
        .finish_ns = has_finished ? less(start_ns, less(0, length_ns)) : -1,
        .isolated_ns = sqlite3_column_type(row, 4) == SQLITE_NULL
                           ? -1
                           : less(length_ns, sqlite3_column_int64(row, 4)),
        .blocker = {id_from(node, row, 6)},
        .order = id_from(node, row, 7),
        .cause = (uint8_t)(how & 15),
        .source = (uint8_t)(how >> 4),
    };
    return WEIR_OK;
}

static enum weir_status take_wait(struct timeline *timeline, sqlite3_stmt *row,
                                  struct weir_error *err)
{
    struct timeline_wait wait = {
        .node = {id_at(row, 1)},
        .cause = (enum wait_cause)sqlite3_column_int(row, 2),
        .blocker = {id_at(row, 3)},
        .object = {id_at(row, 4)},
        .from_ns = sqlite3_column_int64(row, 5),
        .to_ns = sqlite3_column_int64(row, 6),
    };

    return timeline_add_wait(timeline, &wait, err);
}

static enum weir_status take_pressure(struct timeline *timeline, sqlite3_stmt *row,
                                      struct weir_error *err)
{
    struct timeline_pressure pressure = {
        .domain = {id_at(row, 1)},
        .t_ns = sqlite3_column_int64(row, 2),
        .bytes = sqlite3_column_int64(row, 3),
    };

    if (pressure.domain.index >= timeline->n_domains)
        return weir_error_set(err, WEIR_STORE, "a pressure is of a domain that the graph has not");
    return timeline_add_pressure(timeline, &pressure, err);
}

static enum weir_status take_hold(struct timeline *timeline, sqlite3_stmt *row,
                                  struct weir_error *err)
{
    struct timeline_hold hold = {
        .domain = {id_at(row, 1)},
        .object = {id_at(row, 2)},
        .node = {id_at(row, 3)},
        .bytes = sqlite3_column_int64(row, 4),
        .acquire_ns = sqlite3_column_int64(row, 5),
        .release_ns = known_at(row, 6),
    };

    return timeline_add_hold(timeline, &hold, err);
}

static enum weir_status take_induced(struct timeline *timeline, sqlite3_stmt *row,
                                     struct weir_error *err)
{
    struct timeline_induced induced = {
        .producer = {id_at(row, 1)},
        .consumer = {id_at(row, 2)},
        .domain = {id_at(row, 3)},
        .bytes = sqlite3_column_int64(row, 4),
    };

    return timeline_add_induced(timeline, &induced, err);
}

static enum weir_status take_peak(struct timeline *timeline, sqlite3_stmt *row,
                                  struct weir_error *err)
{
    int64_t domain = sqlite3_column_int64(row, 0);

    if (domain >= timeline->n_domains)
        return weir_error_set(err, WEIR_STORE, "a peak is of a domain that the graph has not");
    timeline->peak_bytes[domain] = sqlite3_column_int64(row, 1);
    return WEIR_OK;
}

/* Rows of a run, in the order of their keys; the first column is the number in the run. */
#define SELECT_ROWS(columns, table)                    \
    "SELECT key - (?1 << 32), " columns " FROM " table \
    " WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32 ORDER BY key"

enum weir_status timeline_rows_read(struct store *store, int64_t run_id, const struct graph *graph,
                                    struct timeline **out, struct weir_error *err)
{
    static const struct {
        const char *sql;
        enum weir_status (*take)(struct timeline *, sqlite3_stmt *, struct weir_error *);
    } lists[] = {
        {SELECT_ROWS("start_ns, waited_ns, length_ns, more_ns, how, blocker, start_order",
                     "span_row"),
         take_span},
        {SELECT_ROWS("node_id, cause, blocker, object, from_ns, to_ns", "wait_row"), take_wait},
        {SELECT_ROWS("domain, t_ns, bytes", "pressure_row"), take_pressure},
        {SELECT_ROWS("domain, object, node_id, bytes, acquire_ns, release_ns", "hold_row"),
         take_hold},
        {SELECT_ROWS("producer, consumer, domain, bytes", "induced_row"), take_induced},
        {SELECT_ROWS("bytes", "peak_row"), take_peak},
    };
    struct timeline *timeline = timeline_new(graph_n_nodes(graph), graph_n_domains(graph));
    enum weir_status status = WEIR_OK;

    if (timeline == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == WEIR_OK; i++) {
        sqlite3_stmt *statement = NULL;
        bool has_row = true;

        status = statement_prepare(store, lists[i].sql, &statement, err);
        if (status == WEIR_OK)
            (void)sqlite3_bind_int64(statement, 1, run_id);
        while (status == WEIR_OK && has_row) {
            status = statement_step(store, statement, &has_row, err);
            if (status == WEIR_OK && has_row)
                status = lists[i].take(timeline, statement, err);
        }
        (void)sqlite3_finalize(statement);
    }
    if (status != WEIR_OK) {
        timeline_free(timeline);
        return status;
    }
    *out = timeline;
    return WEIR_OK;
}
