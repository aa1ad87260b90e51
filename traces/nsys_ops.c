/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of device work to one array, and the streams that they ran on. Work of all tables is of one
 * kind from here on. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys_internal.h"
#include "traces/runs.h"

static enum weir_status add_op(struct nsys *nsys, const struct nsys_op *op, struct weir_error *err)
{
    enum weir_status status;

    if (nsys->n_ops == NSYS_NONE - 1)
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: more device work than 32 bits count; import a part with "
                              "--window",
                              nsys->path);
    status = array_grow_raw(&nsys->ops, &nsys->ops_room, (size_t)nsys->n_ops + 1, err);
    if (status == WEIR_OK)
        nsys->ops[nsys->n_ops++] = *op;
    return status;
}

/* Streams are found by what names them; until all are known, in the order of first mention. The one
 * that was found last is mostly wanted again. */
struct stream_finder {
    struct keys *keys;
    uint32_t last;
    uint32_t of_context; /* the first of the context that was last asked for */
};

static bool is_stream(const struct nsys_stream *row, const struct nsys_stream *wanted)
{
    return row->process == wanted->process && row->device == wanted->device &&
           row->context == wanted->context && row->id == wanted->id && row->kind == wanted->kind;
}

static enum weir_status find_stream(struct nsys *nsys, const struct nsys_stream *wanted,
                                    struct stream_finder *finder, uint32_t *stream,
                                    struct weir_error *err)
{
    const struct key key = {{(uint32_t)wanted->process,
                             (uint32_t)wanted->device | (uint32_t)wanted->kind << 28,
                             (uint32_t)wanted->context, (uint32_t)wanted->id}};
    struct keys_walk walk;
    enum weir_status status;

    if (finder->last < nsys->n_streams && is_stream(&nsys->streams[finder->last], wanted)) {
        *stream = finder->last;
        return WEIR_OK;
    }
    keys_walk_begin(&walk, finder->keys, &key);
    while ((*stream = keys_walk_next(&walk)) != KEYS_NONE) {
        if (is_stream(&nsys->streams[*stream], wanted)) {
            finder->last = *stream;
            return WEIR_OK;
        }
    }
    status = array_grow(&nsys->streams, &nsys->streams_room, (size_t)nsys->n_streams + 1, err);
    if (status == WEIR_OK)
        status = keys_put(finder->keys, &key, nsys->n_streams, err);
    if (status != WEIR_OK)
        return status;
    nsys->streams[nsys->n_streams] = *wanted;
    nsys->streams[nsys->n_streams].engine = NSYS_NONE;
    *stream = finder->last = nsys->n_streams++;
    return WEIR_OK;
}

static int64_t device_of_context(const struct nsys *nsys, int64_t process, int64_t context,
                                 struct stream_finder *finder)
{
    uint32_t i = finder->of_context < nsys->n_streams ? finder->of_context : 0;

    if (i > 0 && (nsys->streams[i].process != process || nsys->streams[i].context != context))
        i = 0;
    while (i < nsys->n_streams &&
           (nsys->streams[i].process != process || nsys->streams[i].context != context))
        i++;
    finder->of_context = i;
    return i < nsys->n_streams ? nsys->streams[i].device : -1;
}

/* Events name streams that may have had no work. Without a device id, the one of the context. */
static enum weir_status find_event_stream(struct nsys *nsys, int64_t process, int64_t device,
                                          int64_t context, int64_t id, struct stream_finder *finder,
                                          uint32_t *at, struct weir_error *err)
{
    struct nsys_stream wanted = {
        .process = process, .device = device, .context = context, .id = id};

    if (id == NSYS_NO_ID || id < 0)
        return WEIR_OK;
    if (wanted.device < 0)
        wanted.device = device_of_context(nsys, process, context, finder);
    if (wanted.device < 0)
        wanted.device = 0;
    return find_stream(nsys, &wanted, finder, at, err);
}

static enum weir_status note_event_streams(struct nsys *nsys, struct stream_finder *finder,
                                           struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_syncs && status == WEIR_OK; i++) {
        struct nsys_sync *sync = &nsys->syncs[i];
        status = find_event_stream(nsys, sync->process, sync->device, sync->context, sync->stream,
                                   finder, &sync->at, err);
    }
    for (uint32_t i = 0; i < nsys->n_records && status == WEIR_OK; i++) {
        struct nsys_record *record = &nsys->records[i];
        status = find_event_stream(nsys, record->process, record->device, record->context,
                                   record->stream, finder, &record->at, err);
    }
    return status;
}

/* Rows. The first seven columns and the last are the same in all four tables. */

struct op_reader {
    enum nsys_table table;
    enum nsys_op_kind kind;
    int graph_node; /* column; -1 none */
};

static bool is_migration(int64_t copy_kind)
{
    return copy_kind >= 11 && copy_kind <= 13;
}

static uint8_t small(int64_t value, uint8_t otherwise)
{
    return value >= 0 && value < otherwise ? (uint8_t)value : otherwise;
}

static void read_copy(sqlite3_stmt *statement, struct nsys_op *op)
{
    int64_t copy_kind = nsys_column_or(statement, 8, 0);

    op->copy_kind = small(copy_kind, NSYS_COPY_KINDS - 1);
    op->from_kind = small(nsys_column_or(statement, 9, -1), NSYS_HOST_KINDS - 1);
    op->to_kind = small(nsys_column_or(statement, 10, -1), NSYS_HOST_KINDS - 1);
    op->from_device = (int32_t)small(nsys_column_or(statement, 11, -1), UINT8_MAX);
    op->to_device = (int32_t)small(nsys_column_or(statement, 12, -1), UINT8_MAX);
    op->cause = small(nsys_column_or(statement, 13, 0), UINT8_MAX);
    if (is_migration(copy_kind))
        op->kind = OP_MIGRATION;
}

static enum weir_status name_kernel(struct nsys *nsys, sqlite3_stmt *statement, struct nsys_op *op,
                                    struct weir_error *err)
{
    int64_t id;
    enum weir_status status;

    if (!nsys_column(statement, 7, &id) && !nsys_column(statement, 8, &id))
        return recording_word(nsys->recording, "kernel", &op->name, err);
    status = nsys_string(nsys, id, &op->name, err);
    if (status == WEIR_OK && strncmp(recording_text_of(nsys->recording, op->name), "nccl", 4) == 0)
        op->flags |= OP_IS_COLLECTIVE;
    return status;
}

static enum weir_status read_op(struct nsys *nsys, const struct op_reader *reader,
                                sqlite3_stmt *statement, struct stream_finder *finder,
                                struct weir_error *err)
{
    struct nsys_op op = {.kind = (uint8_t)reader->kind,
                         .table = (uint8_t)reader->table,
                         .bytes = -1,
                         .call = NSYS_NONE,
                         .action = NSYS_NONE,
                         .from_device = -1,
                         .to_device = -1};
    struct nsys_stream stream = {.kind = STREAM_UNKNOWN};
    int64_t graph_node;
    enum weir_status status = WEIR_OK;

    if (!nsys_times(nsys, statement, &op.start_ns, &op.end_ns))
        return WEIR_OK;
    op.correlation = nsys_column_or(statement, 5, 0);
    op.row = nsys_column_or(statement, nsys_row_column(reader->table), -1);
    if (reader->kind == OP_COPY || reader->kind == OP_SET)
        op.bytes = nsys_bytes(statement, 7);
    if (reader->kind == OP_COPY)
        read_copy(statement, &op);
    if (reader->kind == OP_KERNEL)
        status = name_kernel(nsys, statement, &op, err);
    if (reader->kind == OP_GRAPH)
        status = nsys_name_graph(nsys, statement, &op.name, err);
    if (reader->graph_node >= 0 && nsys_column(statement, reader->graph_node, &graph_node) &&
        graph_node != 0)
        op.flags |= OP_IS_GRAPH_CHILD;
    stream.device = nsys_column_or(statement, 2, 0);
    stream.context = nsys_column_or(statement, 3, 0);
    stream.id = nsys_column_or(statement, 4, 0);
    stream.process = nsys_process_of(nsys_column_or(statement, 6, 0));
    if (op.kind == OP_MIGRATION)
        stream.kind = STREAM_MIGRATIONS;
    if (status == WEIR_OK)
        status = find_stream(nsys, &stream, finder, &op.stream, err);
    if (status == WEIR_OK)
        status = nsys_window_note(nsys, stream.process, op.correlation, err);
    return status == WEIR_OK ? add_op(nsys, &op, err) : status;
}

static enum weir_status read_table(struct nsys *nsys, const struct op_reader *reader,
                                   struct stream_finder *finder, struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, reader->table, NULL, &statement, err);
    int result = SQLITE_DONE;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while (status == WEIR_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        nsys->tables[reader->table].n_read++;
        status = read_op(nsys, reader, statement, finder, err);
    }
    if (status != WEIR_OK) {
        (void)sqlite3_finalize(statement);
        return status;
    }
    return nsys_end(nsys, reader->table, statement, result, err);
}

static int by_start(const void *left, const void *right)
{
    const struct nsys_op *a = left, *b = right;
    int order = nsys_compare(a->start_ns, b->start_ns);

    if (order == 0)
        order = nsys_compare(a->end_ns, b->end_ns);
    if (order == 0)
        order = nsys_compare(a->stream, b->stream);
    if (order == 0)
        order = nsys_compare(a->correlation, b->correlation);
    if (order == 0)
        order = nsys_compare(a->kind, b->kind);
    if (order == 0)
        order = nsys_compare(a->place, b->place);
    if (order == 0)
        order = nsys_compare(a->bytes, b->bytes);
    return order != 0 ? order : nsys_compare(a->row, b->row);
}

/* Sorted streams, and the numbers in the ops with them. */

struct stream_key {
    struct nsys_stream stream;
    uint32_t was;
};

static int by_ids(const void *left, const void *right)
{
    const struct nsys_stream *a = &((const struct stream_key *)left)->stream;
    const struct nsys_stream *b = &((const struct stream_key *)right)->stream;
    int order = nsys_compare(a->process, b->process);

    if (order == 0)
        order = nsys_compare(a->device, b->device);
    if (order == 0)
        order = nsys_compare(a->context, b->context);
    if (order == 0)
        order = nsys_compare(a->id, b->id);
    return order != 0 ? order : nsys_compare(a->kind, b->kind);
}

static bool is_one_group(const struct nsys_stream *a, const struct nsys_stream *b)
{
    return a->process == b->process && a->device == b->device && a->context == b->context;
}

static enum weir_status sort_streams(struct nsys *nsys, struct weir_error *err)
{
    uint32_t n = nsys->n_streams;
    struct stream_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
    uint32_t *now = malloc(((size_t)n + 1) * sizeof *now);

    if (keys == NULL || now == NULL) {
        free(keys);
        free(now);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct stream_key){nsys->streams[i], i};
    qsort(keys, n, sizeof *keys, by_ids);
    for (uint32_t i = 0; i < n; i++) {
        struct nsys_stream *stream = &nsys->streams[i];

        *stream = keys[i].stream;
        stream->group = i > 0 && is_one_group(stream, stream - 1) ? stream[-1].group : i;
        now[keys[i].was] = i;
    }
    for (uint32_t i = n; i > 0; i--) {
        struct nsys_stream *stream = &nsys->streams[i - 1];
        stream->group_end = i < n && is_one_group(stream, stream + 1) ? stream[1].group_end : i;
    }
    for (uint32_t i = 0; i < nsys->n_ops; i++)
        nsys->ops[i].stream = now[nsys->ops[i].stream];
    for (uint32_t i = 0; i < nsys->n_syncs; i++) {
        if (nsys->syncs[i].at != NSYS_NONE)
            nsys->syncs[i].at = now[nsys->syncs[i].at];
    }
    for (uint32_t i = 0; i < nsys->n_records; i++) {
        if (nsys->records[i].at != NSYS_NONE)
            nsys->records[i].at = now[nsys->records[i].at];
    }
    free(keys);
    free(now);
    return WEIR_OK;
}

/* Kinds of streams, as the target reported them. */

static const uint8_t kind_of_flag[4] = {STREAM_UNKNOWN, STREAM_BLOCKING, STREAM_NON_BLOCKING,
                                        STREAM_NULL};

/* A stream as those tables name it: they have no process but its number, and no device. */
static struct key kind_key(int64_t pid, int64_t context, int64_t id)
{
    return (struct key){{(uint32_t)pid, (uint32_t)context, (uint32_t)id, 0}};
}

static enum weir_status index_streams(const struct nsys *nsys, struct keys *keys,
                                      struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_streams && status == WEIR_OK; i++) {
        const struct nsys_stream *stream = &nsys->streams[i];
        const struct key key = kind_key(stream->process & 0xFFFFFF, stream->context, stream->id);

        if (stream->kind != STREAM_MIGRATIONS)
            status = keys_put(keys, &key, i, err);
    }
    return status;
}

static void set_kind(struct nsys *nsys, const struct keys *keys, int64_t pid, int64_t context,
                     int64_t id, uint8_t kind)
{
    const struct key key = kind_key(pid, context, id);
    struct keys_walk walk;
    uint32_t at;

    keys_walk_begin(&walk, keys, &key);
    while ((at = keys_walk_next(&walk)) != KEYS_NONE) {
        struct nsys_stream *stream = &nsys->streams[at];

        if ((stream->process & 0xFFFFFF) == pid && stream->context == context && stream->id == id)
            stream->kind = kind;
    }
}

static enum weir_status read_kinds(struct nsys *nsys, enum nsys_table table,
                                   const struct keys *keys, struct weir_error *err)
{
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, table, NULL, &statement, err);
    int result;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t flag = table == NSYS_STREAM_INFO ? nsys_column_or(statement, 3, 0) : 3;

        nsys->tables[table].n_read++;
        if (flag >= 1 && flag <= 3)
            set_kind(nsys, keys, nsys_column_or(statement, 1, -1), nsys_column_or(statement, 2, -1),
                     nsys_column_or(statement, 0, -1), kind_of_flag[flag]);
    }
    return nsys_end(nsys, table, statement, result, err);
}

static enum weir_status read_all_kinds(struct nsys *nsys, struct weir_error *err)
{
    static const enum nsys_table tables[] = {NSYS_STREAM_INFO, NSYS_NULL_STREAM_INFO,
                                             NSYS_CONTEXT_INFO};
    struct keys *keys = keys_new();
    enum weir_status status =
        keys == NULL ? weir_error_memory(err) : index_streams(nsys, keys, err);

    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == WEIR_OK; i++)
        status = read_kinds(nsys, tables[i], keys, err);
    keys_free(keys);
    return status;
}

static enum weir_status reserve_ops(struct nsys *nsys, struct weir_error *err)
{
    static const enum nsys_table tables[] = {NSYS_KERNEL, NSYS_MEMCPY, NSYS_MEMSET,
                                             NSYS_GRAPH_TRACE};
    size_t n, sum = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        enum weir_status status = nsys_rows_likely(nsys, tables[i], &n, err);
        if (status != WEIR_OK)
            return status;
        sum += n;
    }
    return array_grow_raw(&nsys->ops, &nsys->ops_room, sum, err);
}

/* After the other rows: events name streams too. */
enum weir_status nsys_read_ops(struct nsys *nsys, struct weir_error *err)
{
    static const struct op_reader readers[] = {
        {NSYS_KERNEL, OP_KERNEL, 9},
        {NSYS_MEMCPY, OP_COPY, 14},
        {NSYS_MEMSET, OP_SET, 9},
        {NSYS_GRAPH_TRACE, OP_GRAPH, -1},
    };
    struct stream_finder finder = {.keys = keys_new()};
    enum weir_status status = finder.keys == NULL ? weir_error_memory(err) : reserve_ops(nsys, err);

    for (size_t i = 0; i < sizeof readers / sizeof *readers && status == WEIR_OK; i++)
        status = read_table(nsys, &readers[i], &finder, err);
    if (status == WEIR_OK)
        status = note_event_streams(nsys, &finder, err);
    keys_free(finder.keys);
    if (status == WEIR_OK)
        status = sort_streams(nsys, err);
    if (status == WEIR_OK)
        status = read_all_kinds(nsys, err);
    return status;
}

void nsys_sort_ops(struct nsys *nsys, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < nsys->n_ops; i++)
        nsys->ops[i].place = ranks[nsys->ops[i].name];
    runs_sort(nsys->ops, nsys->n_ops, sizeof *nsys->ops, by_start);
}
