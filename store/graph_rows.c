/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph in the file: once, known by the hash of its canonical form. The form itself is kept and is
 * what is read back; the rows beside it are for users and their queries. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/text.h"
#include "store/store_internal.h"
#include "store/values.h"

enum weir_status graph_rows_read(struct store *store, int64_t graph_id, struct graph **out,
                                 struct weir_error *err)
{
    struct report *report = report_new(1);
    char *text = NULL;
    size_t length = 0;
    enum weir_status status;

    if (report == NULL)
        return weir_error_memory(err);
    status = stored_text_read(store, graph_id, &text, &length, err);
    if (status == WEIR_OK) {
        status = graph_read_text(text, length, store->path, report, out, err);
        if (status == WEIR_INPUT)
            status = weir_error_within(err, "graph %lld of the store", (long long)graph_id);
    }
    free(text);
    report_free(report);
    return status;
}

/* What the rows of one graph are made from, and the value that was read last: a row's columns are
 * asked for one after another. */
struct rows_of_graph {
    int64_t first_key;
    const struct graph *graph;
    const struct bind_edge *implied; /* after the given edges */
    const struct binding *binding;
    uint32_t n_given;
    struct latest {
        int64_t row; /* -1: none */
        struct graph_node node;
        struct graph_object object;
        struct graph_edge edge;
    } * latest;
};

/* The three columns that say what something rests on, from `first` on. */
static void give_evidence(sqlite3_context *out, int column, int first,
                          const struct graph_evidence *evidence)
{
    if (column == first)
        sqlite3_result_int(out, (int)evidence->kind);
    else if (column == first + 1 && evidence->detail.index != 0)
        sqlite3_result_int64(out, evidence->detail.index);
    else if (column == first + 2 && evidence->confidence >= 0)
        sqlite3_result_double(out, evidence->confidence);
}

static void give_number(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    (void)column;
    sqlite3_result_int64(out, *(const int64_t *)arg + row);
}

static void give_node(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    weir_node node = {(uint32_t)row};

    if (of->latest->row != row) {
        graph_node(of->graph, node, &of->latest->node);
        of->latest->row = row;
    }
    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_text(out, graph_node_name(of->graph, node));
        break;
    case 2:
        sqlite3_result_int(out, (int)of->latest->node.kind);
        break;
    case 3:
        give_id(out, of->latest->node.engine.index);
        break;
    case 4:
        give_id(out, graph_node_class(of->graph, node).index);
        break;
    default:
        give_evidence(out, column, 5, &of->latest->node.evidence);
        break;
    }
}

static void give_object(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    weir_object object = {(uint32_t)row};

    if (of->latest->row != row) {
        graph_object(of->graph, object, &of->latest->object);
        of->latest->row = row;
    }
    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_text(out, graph_object_name(of->graph, object));
        break;
    case 2:
        sqlite3_result_int64(out, of->latest->object.size_bytes);
        break;
    case 3:
        give_id(out, graph_object_home(of->graph, object).index);
        break;
    default:
        give_evidence(out, column, 4, &of->latest->object.evidence);
        break;
    }
}

static void read_edge(const struct rows_of_graph *of, int64_t row)
{
    struct graph_edge *edge = &of->latest->edge;

    of->latest->row = row;
    if (row < of->n_given) {
        graph_edge(of->graph, (weir_edge){(uint32_t)row}, edge);
        return;
    }
    *edge = (struct graph_edge){
        .producer = of->implied[row - of->n_given].producer,
        .consumer = of->implied[row - of->n_given].consumer,
        .type = of->implied[row - of->n_given].type,
        .object = bind_copy(of->binding, of->implied[row - of->n_given].copy)->object,
        .evidence = {.confidence = -1},
    };
}

static void give_edge(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    const struct graph_edge *edge = &of->latest->edge;

    if (of->latest->row != row)
        read_edge(of, row);
    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, edge->producer.index);
        break;
    case 2:
        give_id(out, edge->consumer.index);
        break;
    case 3:
        sqlite3_result_int(out, (int)edge->type);
        break;
    case 4:
        give_id(out, edge->object.index);
        break;
    case 5:
        sqlite3_result_int64(out, edge->lag_ns);
        break;
    case 6:
        sqlite3_result_int(out, row >= of->n_given);
        break;
    case 7:
        sqlite3_result_int(out, edge->is_from_start);
        break;
    default:
        give_evidence(out, column, 8, &edge->evidence);
        break;
    }
}

static void give_domain(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    const struct graph_domain *domain = graph_domain(of->graph, (weir_domain){(uint32_t)row});

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key >> STORE_KEY_BITS);
        break;
    case 1:
        sqlite3_result_int64(out, row);
        break;
    case 2:
        give_text(out, graph_text(of->graph, domain->name));
        break;
    case 3:
        sqlite3_result_int64(out, domain->capacity_bytes);
        break;
    case 4:
        sqlite3_result_int64(out, domain->reserve_bytes);
        break;
    case 5:
        sqlite3_result_int64(out, domain->granule_bytes);
        break;
    default:
        give_evidence(out, column, 6, &domain->evidence);
        break;
    }
}

static void give_engine(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    const struct graph_engine *engine = graph_engine(of->graph, (weir_engine){(uint32_t)row});

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key >> STORE_KEY_BITS);
        break;
    case 1:
        sqlite3_result_int64(out, row);
        break;
    case 2:
        give_text(out, graph_text(of->graph, engine->name));
        break;
    case 3:
        sqlite3_result_int64(out, engine->slots);
        break;
    default:
        give_evidence(out, column, 4, &engine->evidence);
        break;
    }
}

static void give_class(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_graph *of = arg;
    weir_text name = graph_class_name(of->graph, (weir_class){(uint32_t)row});

    if (column == 0)
        sqlite3_result_int64(out, of->first_key >> STORE_KEY_BITS);
    else if (column == 1)
        sqlite3_result_int64(out, row);
    else
        give_text(out, graph_text(of->graph, name));
}

/* Details of evidence: many statements share few. */
struct details {
    weir_text *texts;        /* each once */
    unsigned char *is_there; /* by text id */
    size_t n, texts_room, there_room;
};

static enum weir_status add_detail(struct details *details, const struct graph_evidence *evidence,
                                   struct weir_error *err)
{
    weir_text text = evidence->detail;
    enum weir_status status;

    if (text.index == 0)
        return WEIR_OK;
    status = array_grow(&details->is_there, &details->there_room, (size_t)text.index + 1, err);
    if (status != WEIR_OK || details->is_there[text.index])
        return status;
    status = array_grow(&details->texts, &details->texts_room, details->n + 1, err);
    if (status != WEIR_OK)
        return status;
    details->is_there[text.index] = 1;
    details->texts[details->n++] = text;
    return WEIR_OK;
}

static enum weir_status collect_details(const struct graph *graph, struct details *details,
                                        struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    struct graph_node node;
    struct graph_object object;
    struct graph_edge edge;

    for (uint32_t i = 0; i < graph_n_nodes(graph) && status == WEIR_OK; i++) {
        graph_node(graph, (weir_node){i}, &node);
        status = add_detail(details, &node.evidence, err);
    }
    for (uint32_t i = 0; i < graph_n_objects(graph) && status == WEIR_OK; i++) {
        graph_object(graph, (weir_object){i}, &object);
        status = add_detail(details, &object.evidence, err);
    }
    for (uint32_t i = 0; i < graph_n_edges(graph) && status == WEIR_OK; i++) {
        graph_edge(graph, (weir_edge){i}, &edge);
        status = add_detail(details, &edge.evidence, err);
    }
    for (uint32_t i = 0; i < graph_n_domains(graph) && status == WEIR_OK; i++)
        status = add_detail(details, &graph_domain(graph, (weir_domain){i})->evidence, err);
    for (uint32_t i = 0; i < graph_n_engines(graph) && status == WEIR_OK; i++)
        status = add_detail(details, &graph_engine(graph, (weir_engine){i})->evidence, err);
    return status;
}

struct rows_of_details {
    int64_t graph_id;
    const struct graph *graph;
    const struct details *details;
};

static void give_detail(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_details *of = arg;
    weir_text text = of->details->texts[row];

    if (column == 0)
        sqlite3_result_int64(out, of->graph_id);
    else if (column == 1)
        sqlite3_result_int64(out, text.index);
    else
        give_text(out, graph_text(of->graph, text));
}

static enum weir_status write_details(struct store *store, int64_t graph_id,
                                      const struct graph *graph, struct weir_error *err)
{
    struct details details = {.n = 0};
    struct rows_of_details of = {graph_id, graph, &details};
    enum weir_status status = collect_details(graph, &details, err);

    if (status == WEIR_OK) {
        status = store_move_rows(store, "INSERT INTO text_row SELECT c0, c1, c2 FROM weir_rows",
                                 details.n, give_detail, &of, err);
    }
    free(details.texts);
    free(details.is_there);
    return status;
}

/* Numbers up to the most ids of this graph. */
static enum weir_status write_numbers(struct store *store, const struct graph *graph,
                                      struct weir_error *err)
{
    int64_t need = graph_n_nodes(graph) > graph_n_objects(graph) ? graph_n_nodes(graph)
                                                                 : graph_n_objects(graph);
    int64_t first = 0;
    bool found = false;
    enum weir_status status =
        store_number(store, "SELECT max(id) + 1 FROM number", 0, 0, &first, &found, err);

    if (status != WEIR_OK || first >= need)
        return status;
    return store_move_rows(store, "INSERT INTO number SELECT c0 FROM weir_rows",
                           (size_t)(need - first), give_number, &first, err);
}

static enum weir_status write_rows(struct store *store, int64_t graph_id, const struct graph *graph,
                                   const struct binding *binding, struct weir_error *err)
{
    size_t n_implied = binding == NULL ? 0 : bind_n_edges(binding);
    struct latest latest;
    struct rows_of_graph of = {
        .first_key = graph_id << STORE_KEY_BITS,
        .graph = graph,
        .implied = binding == NULL ? NULL : bind_edges(binding),
        .binding = binding,
        .n_given = graph_n_edges(graph),
        .latest = &latest,
    };
    const struct {
        const char *sql;
        size_t n_rows;
        void (*value)(const void *, int64_t, int, sqlite3_context *);
    } lists[] = {
        {"INSERT INTO domain_row SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8 FROM weir_rows",
         graph_n_domains(graph), give_domain},
        {"INSERT INTO engine_row SELECT c0, c1, c2, c3, c4, c5, c6 FROM weir_rows",
         graph_n_engines(graph), give_engine},
        {"INSERT INTO class_row SELECT c0, c1, c2 FROM weir_rows", graph_n_classes(graph),
         give_class},
        {"INSERT INTO node_row SELECT c0, c1, c2, c3, c4, c5, c6, c7 FROM weir_rows",
         graph_n_nodes(graph), give_node},
        {"INSERT INTO object_row SELECT c0, c1, c2, c3, c4, c5, c6 FROM weir_rows",
         graph_n_objects(graph), give_object},
        {"INSERT INTO edge_row SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 "
         "FROM weir_rows",
         of.n_given + n_implied, give_edge},
    };
    enum weir_status status = write_details(store, graph_id, graph, err);

    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == WEIR_OK; i++) {
        latest.row = -1;
        status = store_move_rows(store, lists[i].sql, lists[i].n_rows, lists[i].value, &of, err);
    }
    return status;
}

/* The rows with the implied edges, which need a binding. What was recorded may not bind (bytes that
 * nobody wrote, say): then there are none. */
static enum weir_status write_bound_rows(struct store *store, int64_t graph_id,
                                         const struct graph *graph, const struct binding *given,
                                         struct weir_error *err)
{
    struct binding *made = NULL;
    struct report *report;
    enum weir_status status = WEIR_OK;

    if (given == NULL && graph_is_implied(graph)) {
        report = report_new(1);
        if (report == NULL)
            return weir_error_memory(err);
        status = bind_graph(graph, report, &made, err);
        report_free(report);
        if (status == WEIR_INPUT)
            status = WEIR_OK;
    }
    if (status == WEIR_OK)
        status = write_rows(store, graph_id, graph, given == NULL ? made : given, err);
    bind_free(made);
    return status;
}

static enum weir_status write_head(struct store *store, const struct graph *graph, const char *hash,
                                   int64_t *graph_id, struct weir_error *err)
{
    sqlite3_stmt *insert = NULL;
    enum weir_status status =
        statement_prepare(store,
                          "INSERT INTO graph(hash, name, n_nodes, n_edges, n_objects, text_bytes) "
                          "VALUES(?, ?, ?, ?, ?, 0)",
                          &insert, err);

    if (status == WEIR_OK) {
        (void)sqlite3_bind_text(insert, 1, hash, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(insert, 2, graph_text(graph, graph_name(graph)), -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(insert, 3, graph_n_nodes(graph));
        (void)sqlite3_bind_int64(insert, 4, graph_n_edges(graph));
        (void)sqlite3_bind_int64(insert, 5, graph_n_objects(graph));
        status = statement_run(store, insert, err);
    }
    (void)sqlite3_finalize(insert);
    if (status == WEIR_OK)
        *graph_id = sqlite3_last_insert_rowid(store->db);
    return status;
}

/* *graph_id is 0 when there is none of that hash. */
static enum weir_status find_graph(struct store *store, const char *hash, int64_t *graph_id,
                                   struct weir_error *err)
{
    sqlite3_stmt *select = NULL;
    bool has_row = false;
    enum weir_status status =
        statement_prepare(store, "SELECT id FROM graph WHERE hash = ?", &select, err);

    if (status == WEIR_OK) {
        (void)sqlite3_bind_text(select, 1, hash, -1, SQLITE_STATIC);
        status = statement_step(store, select, &has_row, err);
    }
    if (status == WEIR_OK)
        *graph_id = has_row ? sqlite3_column_int64(select, 0) : 0;
    (void)sqlite3_finalize(select);
    return status;
}

/* The text, whose length is known only then. */
static enum weir_status write_text(struct store *store, int64_t graph_id, const struct graph *graph,
                                   struct weir_error *err)
{
    int64_t n_bytes = 0, ignored;
    bool found;
    enum weir_status status = stored_text_write(store, graph_id, graph, &n_bytes, err);

    if (status != WEIR_OK)
        return status;
    return store_number(store, "UPDATE graph SET text_bytes = ?1 WHERE id = ?2", n_bytes, graph_id,
                        &ignored, &found, err);
}

enum weir_status graph_rows_write(struct store *store, const struct graph *graph,
                                  const struct binding *binding, int64_t *graph_id,
                                  char hash[HASH_TEXT_BYTES], struct weir_error *err)
{
    enum weir_status status = hash[0] == '\0' ? graph_hash(graph, hash, err) : WEIR_OK;

    if (status == WEIR_OK)
        status = find_graph(store, hash, graph_id, err);
    if (status != WEIR_OK || *graph_id != 0)
        return status;
    status = write_head(store, graph, hash, graph_id, err);
    if (status == WEIR_OK)
        status = write_text(store, *graph_id, graph, err);
    if (status == WEIR_OK)
        status = write_numbers(store, graph, err);
    if (status == WEIR_OK)
        status = write_bound_rows(store, *graph_id, graph, binding, err);
    return status;
}
