/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the steps of the import share: the rows that were read, what links them, and the counts that
 * the report tells. The steps, in this order: nsys_file (open), nsys_schema (what is there),
 * nsys_rows, nsys_ops and nsys_gpus (read; nsys_window and nsys_live leave out what is not wanted),
 * nsys_ranges (the window, NVTX), nsys_ids and nsys_link (ids to ids),
 * nsys_streams (order on the device), nsys_waits and nsys_implicit (who waits for whom), nsys_memory
 * (allocations), nsys_calls, nsys_actions and nsys_loose (rows to actions), nsys_edges (links),
 * nsys_report and nsys_grade. */
#ifndef WEIR_TRACES_NSYS_INTERNAL_H
#define WEIR_TRACES_NSYS_INTERNAL_H

#include <sqlite3.h>

#include "graph/keys.h"
#include "traces/nsys.h"
#include "traces/recording.h"

#define NSYS_NONE UINT32_MAX
/* Later than any clock of a profile, and far enough from the ends of 64 bits for all sums here. */
#define NSYS_TIME_MOST_NS (INT64_C(1) << 60)
#define NSYS_NO_ID 0xFFFFFFFF /* how CUPTI writes that there is no stream or event */

/* The tables that may be read, and nothing else of the file. */
enum nsys_table {
    NSYS_KERNEL,
    NSYS_MEMCPY,
    NSYS_MEMSET,
    NSYS_GRAPH_TRACE,
    NSYS_RUNTIME,
    NSYS_SYNC,
    NSYS_EVENT,
    NSYS_MEMORY,
    NSYS_GRAPH_EVENTS,
    NSYS_NVTX,
    NSYS_STREAM_INFO,
    NSYS_NULL_STREAM_INFO,
    NSYS_CONTEXT_INFO,
    NSYS_GPU_INFO,
    NSYS_DEVICE_INFO,
    NSYS_META,
    NSYS_DIAGNOSTIC,
    NSYS_STRINGS,
    NSYS_TABLES
};

struct nsys_table_state {
    const char *name; /* as this file calls it; NULL: not there */
    bool has_rowid;
    uint32_t missing; /* bit by column of its list: not in this file */
    char *where;      /* which rows a window takes, in SQL; NULL: all */
    int64_t n_read;   /* rows */
    int64_t n_kept;   /* rows that the graph or its links rest on */
};

/* What an API call does, as far as it matters here. */
enum nsys_api {
    API_OTHER,
    API_EVENT_SYNC,
    API_EVENT_QUERY,
    API_STREAM_WAIT,
    API_STREAM_SYNC,
    API_STREAM_QUERY,
    API_CONTEXT_SYNC,
    API_FREE,
    API_PIN, /* page-locked memory, taken or given back */
    API_MODULE_LOAD,
    API_MEMORY_ASYNC, /* stream-ordered allocation or free */
    API_BEGIN_CAPTURE,
    API_END_CAPTURE,
    API_COPY /* that blocks by its name */
};

enum nsys_call_flag {
    CALL_IS_FAILED = 1,
    CALL_IS_REPEAT = 2,    /* shares its correlation id with an earlier row */
    CALL_IS_NESTED = 4,    /* `outer` encloses it */
    CALL_IS_OUTSIDE = 8,   /* of the window */
    CALL_LOADS = 16,       /* a module, by itself or nested */
    CALL_HAS_SYNC = 32,    /* a row of synchronization tells of it */
    CALL_WAITS_FIRST = 64, /* for the device, before it launches what it launches */
    CALL_IS_CAPTURED = 128 /* into a graph: it did nothing on the device */
};

/* A row of the runtime or driver API. */
struct nsys_call {
    int64_t start_ns, end_ns;
    int64_t thread; /* globalTid; the process is what is left of its low 24 bits */
    int64_t correlation;
    int64_t row;
    int64_t wait_begin_ns; /* when the wait inside began, by its own row; INT64_MAX unknown */
    uint32_t name;         /* text, without the version */
    uint32_t range;        /* text of the innermost NVTX range around it; 0 none */
    uint32_t outer;        /* the outermost call around it: itself when not nested; until that is
                              known, its name's rank */
    uint32_t memory;       /* the first memory event of the outermost call, NSYS_NONE */
    uint32_t first_action, launch_action, wait_action, last_action; /* NSYS_NONE: none */
    uint8_t api, flags;
};

enum nsys_op_kind { OP_KERNEL, OP_COPY, OP_SET, OP_GRAPH, OP_MIGRATION, OP_KINDS };

enum nsys_op_flag {
    OP_IS_GRAPH_CHILD = 1,
    OP_IS_DROPPED = 2, /* outside of the window, or a second row for a graph launch */
    OP_IS_COLLECTIVE = 4
};

/* A row of device work. */
struct nsys_op {
    int64_t start_ns, end_ns;
    int64_t correlation;
    int64_t row;
    int64_t bytes;                  /* -1 not recorded */
    uint32_t stream;                /* into streams */
    uint32_t place;                 /* in the stream's order, from 0; until then its name's rank */
    uint32_t name;                  /* text */
    uint32_t call;                  /* the row that launched it; NSYS_NONE */
    uint32_t action;                /* NSYS_NONE before it is one */
    int32_t from_device, to_device; /* of peer copies; -1 */
    uint8_t kind, table, copy_kind, from_kind, to_kind, cause, flags;
};

enum nsys_stream_kind {
    STREAM_UNKNOWN,
    STREAM_BLOCKING,
    STREAM_NON_BLOCKING,
    STREAM_NULL,
    STREAM_MIGRATIONS /* no stream: the page migrations of a process and device */
};

/* A (process, device, context, stream) that had work, or events, or was waited for. Sorted by these
 * four. */
struct nsys_stream {
    int64_t process; /* globalPid >> 24 */
    int64_t device, context, id;
    uint32_t first, n;         /* its work, in order: into work, reach and latest */
    uint32_t gpu;              /* into gpus */
    uint32_t engine;           /* NSYS_NONE: no work */
    uint32_t group, group_end; /* streams of one process, device and context: from, to */
    uint8_t kind;
};

/* A row of synchronization: how long, for what. */
struct nsys_sync {
    int64_t start_ns;
    int64_t process, device, context, stream, event, event_sync;
    int64_t correlation;
    int64_t row, sync_type;
    uint32_t at;   /* its stream, into streams; NSYS_NONE */
    uint32_t call; /* the row of that id; NSYS_NONE */
};

/* A row of an event record. */
struct nsys_record {
    int64_t process, device, context, stream, event, event_sync;
    int64_t correlation;
    int64_t row;
    uint32_t at; /* its stream, into streams; NSYS_NONE */
};

/* A memory event. */
struct nsys_memory {
    int64_t t_ns;
    int64_t process, device, context, address, bytes, correlation, stream;
    int64_t row;
    uint32_t symbol;  /* text of its name; 0 none */
    uint32_t call;    /* the outermost, NSYS_NONE */
    uint32_t next;    /* memory event of that call; NSYS_NONE */
    uint32_t partner; /* the free of an allocation (or, with is_replaced, the allocation that took
                         its address), the allocation of a free; NSYS_NONE */
    uint32_t object;  /* of the recording; NSYS_NONE: none was made */
    uint32_t action;
    uint32_t gpu; /* into gpus */
    uint8_t kind; /* as ENUM_CUDA_MEM_KIND numbers them */
    bool is_free;
    bool is_pooled;   /* stream-ordered */
    bool acts;        /* an allocation or reclamation of the graph */
    bool is_replaced; /* its address was given out again before it was seen freed */
    bool is_ignored;  /* of a failed call, without bytes, or outside of the window */
};

enum nsys_wait_kind {
    WAIT_IS_UNKNOWN,
    WAIT_STREAM_FOR_EVENT,
    WAIT_FOR_EVENT,
    WAIT_FOR_STREAM,
    WAIT_FOR_CONTEXT
};

/* A call or device work that waits for device work. */
struct nsys_wait {
    uint32_t op;         /* what is waited for */
    uint32_t call;       /* who waits: an outermost call, */
    uint32_t waiting_op; /* or device work; the other is NSYS_NONE */
    uint8_t rule;        /* enum recording_rule */
};

/* Of actions that start together the begin of a window comes first, then the host's, then memory (taken before it is given back),
 * then device work, and last what happened within it. */
enum nsys_rank {
    RANK_WINDOW,
    RANK_HOST,
    RANK_ALLOCATION,
    RANK_RECLAMATION,
    RANK_OP,
    RANK_MIGRATION
};

/* A device, by its number on the machine where that is known. */
struct nsys_gpu {
    int64_t number;
    int64_t memory_bytes;   /* 0 unknown */
    int64_t n_copy_engines; /* 0 unknown */
    uint32_t domain;        /* NSYS_NONE: nothing ran there */
};

struct nsys_counts {
    int64_t bad_time, negative_duration, unfinished;
    int64_t failed_calls, captured_calls, repeated_calls, nested_calls, overlapping_calls,
        host_calls, blocking_calls;
    int64_t launched, kernels_without_launch, graph_children, second_graph_rows, second_graph_ns;
    int64_t graphs_made, graph_execs_made, graph_execs_launched, launches_of_unseen_graphs;
    int64_t rows_with_event, record_rows, event_waits, event_syncs, resolved, resolved_by_sync_id,
        unresolved, contradicted, without_row, without_source, without_consumer, record_outside;
    int64_t stream_syncs, context_syncs, syncs_without_row, sync_edges_contradicted;
    int64_t by_api, by_fields, by_type; /* how rows of synchronization were classified */
    int64_t barriers, barriers_contradicted;
    int64_t implicit, implicit_contradicted;
    int64_t allocations, frees, paired, frees_without_allocation, allocations_without_free,
        allocations_replaced, static_symbols, stream_ordered, memory_without_bytes,
        memory_outside_calls;
    int64_t migrations_in_kernels, migrations_after_calls;
    int64_t overlaps, overlap_most_ns;
    int64_t outside_ops, outside_calls;
};

/* Sums by copy kind (14: any other), and by kind of the memory on the host side (8: none). */
#define NSYS_COPY_KINDS 15
#define NSYS_HOST_KINDS 9
struct nsys_sum {
    int64_t n, bytes, ns, without_bytes;
};

struct nsys {
    const char *path; /* for messages */
    sqlite3 *db;
    struct nsys_table_state tables[NSYS_TABLES];
    struct recording *recording;
    struct import_report *report;
    struct nsys_counts counts;
    struct nsys_sum copies[NSYS_COPY_KINDS][NSYS_HOST_KINDS];
    struct nsys_sum sums[OP_KINDS];
    char version[64];   /* "2025.1.1.110"; "" unknown */
    char schema[32];    /* "3.17.1" */
    int64_t release[4]; /* the version's parts, 0 unknown */

    struct nsys_strings *strings;
    struct nsys_window *window;                /* NULL: all of the file is wanted */
    struct nsys_live *live;                    /* while memory events of a window are read */
    struct nsys_ids *ids;                      /* (process, correlation) to call */
    struct keys *graph_execs, *launched_execs; /* executable graphs: made, and launched */
    struct keys *record_keys;                  /* (process, event sync id) to record */
    struct nsys_call *calls;                   /* by thread and start, the enclosing first */
    struct nsys_op *ops;                       /* by start */
    struct nsys_sync *syncs;                   /* by process and correlation */
    struct nsys_record *records;               /* by process, context, event and correlation */
    struct nsys_memory *memories;              /* by time */
    struct nsys_stream *streams;
    struct nsys_wait *waits;
    struct nsys_wait *cut_waits; /* for what was recorded before the window: `op` is NSYS_NONE */
    struct nsys_gpu *gpus;
    uint32_t n_calls, n_ops, n_syncs, n_records, n_memories, n_streams, n_gpus;
    size_t n_waits, n_cut_waits;
    size_t cut_waits_room;
    size_t calls_room, ops_room, syncs_room, records_room, memories_room, streams_room, waits_room,
        gpus_room;

    uint32_t *work;   /* ops by stream, in the order of the stream */
    int64_t *reach;   /* beside work: the greatest correlation id so far */
    uint32_t *latest; /* beside work: the op so far that finished last */

    bool has_framework;     /* a range around a call is called as PyTorch calls its operators */
    int64_t from_ns, to_ns; /* the window; INT64_MIN and INT64_MAX without one */
    int64_t first_ns;       /* the first event of the whole file, where it was asked for; else 0 */
    bool has_first;
    uint32_t host_domain;
};

/* nsys_file.c: an open database, and what must go with it. */
struct nsys_file {
    sqlite3 *db;
    FILE *unpacked; /* a copy that has no name; NULL none */
    struct nsys_nameless *nameless;
};
MUST_CHECK enum weir_status nsys_open(const char *path, struct nsys_file *out, struct weir_error *);
MUST_CHECK enum weir_status nsys_open_bytes(const unsigned char *bytes, size_t n_bytes,
                                            const char *name, struct nsys_file *out,
                                            struct weir_error *);
void nsys_close(struct nsys_file *);

/* nsys_unpack.c: gzip and zstd into a file without a name. */
enum nsys_packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };
enum nsys_packing nsys_packing_of(const unsigned char *head, size_t n_bytes);
/** @param fd stands at the start of the packed file; the caller closes both */
MUST_CHECK enum weir_status nsys_unpack(enum nsys_packing, int fd, const char *path, FILE **out,
                                        struct weir_error *);

/* nsys_nameless.c: SQLite on an open file. */
/** Opens the database in it, read-only, and returns SQLite's result. @param out to be freed when the
 *  database is closed, also on failure; the caller closes @p fd after that */
int nsys_nameless_open(int fd, struct nsys_nameless **out, sqlite3 **db);
void nsys_nameless_free(struct nsys_nameless *);

/* nsys_schema.c: which tables and columns there are. */
MUST_CHECK enum weir_status nsys_probe(struct nsys *, struct weir_error *);
/** A statement over the table: the columns of its list in that order, NULL for those this file
 *  lacks, and last the row id (NULL where there is none), of the rows that its `where` takes. NULL
 *  statement when there is no table.
 *  @param order of the rows; NULL: by row id, else as is usual for the table */
MUST_CHECK enum weir_status nsys_select(struct nsys *, enum nsys_table, const char *order,
                                        sqlite3_stmt **, struct weir_error *);
/** Finalizes a statement that has ended with @p step_result, and turns a failure into an error. */
MUST_CHECK enum weir_status nsys_end(struct nsys *, enum nsys_table, sqlite3_stmt *,
                                     int step_result, struct weir_error *);
/** The integer that a query gives; @p absent when it gives none. */
MUST_CHECK enum weir_status nsys_ask(const struct nsys *, const char *query, int64_t absent,
                                     int64_t *value, struct weir_error *);
/** WEIR_INPUT that says what SQLite said; WEIR_MEMORY when it ran out of that. */
MUST_CHECK enum weir_status nsys_failed(const struct nsys *, const char *what, int result,
                                        struct weir_error *);
/** How many rows the table is likely to have, so that arrays are made once: 0 when that is not known,
 *  or when only a window of them is wanted. */
MUST_CHECK enum weir_status nsys_rows_likely(const struct nsys *, enum nsys_table, size_t *n,
                                             struct weir_error *);
MUST_CHECK enum weir_status nsys_count_rows(const struct nsys *, enum nsys_table, int64_t *n,
                                            struct weir_error *);
const char *nsys_table_name(enum nsys_table);
/** The column as a query names it: "NULL" when this file lacks it. */
const char *nsys_column_name(const struct nsys *, enum nsys_table, const char *column);
int nsys_row_column(enum nsys_table); /* where the row id stands */
/** Does the program that wrote the file have at least this version? False when unknown. */
bool nsys_is_at_least(const struct nsys *, int64_t year, int64_t minor, int64_t micro,
                      int64_t build);

/* nsys_names.c: names behind ids, and what API names mean. */
MUST_CHECK enum weir_status nsys_strings_new(struct nsys *, struct weir_error *);
void nsys_strings_free(struct nsys *);
/** The text of a string id: "string ID" when the file does not say. */
MUST_CHECK enum weir_status nsys_string(struct nsys *, int64_t id, uint32_t *text,
                                        struct weir_error *);
/** The same of an API name: without its version, and what it does. */
MUST_CHECK enum weir_status nsys_api_name(struct nsys *, int64_t id, uint32_t *text, uint8_t *api,
                                          struct weir_error *);
uint8_t nsys_api_of(const char *name);
/** By text, its place among all texts so far; malloc'ed. */
MUST_CHECK enum weir_status nsys_rank_texts(const struct nsys *, uint32_t **ranks,
                                            struct weir_error *);

/* nsys_rows.c: tables to arrays. */
MUST_CHECK enum weir_status nsys_read_rows(struct nsys *, struct weir_error *);
/** More API calls: those that the `where` of their table takes. */
MUST_CHECK enum weir_status nsys_read_calls(struct nsys *, struct weir_error *);
/** Once all rows are read. @param ranks of texts */
void nsys_sort_calls(struct nsys *, const uint32_t *ranks);
MUST_CHECK enum weir_status nsys_add_record(struct nsys *, const struct nsys_record *,
                                            struct weir_error *);
MUST_CHECK enum weir_status nsys_add_memory(struct nsys *, const struct nsys_memory *,
                                            struct weir_error *);
/** The order of records: by process, context, event and correlation id. */
int nsys_compare_records(const struct nsys_record *, const struct nsys_record *);
/** An integer of a row; false when there is none. */
bool nsys_column(sqlite3_stmt *, int column, int64_t *value);
int64_t nsys_column_or(sqlite3_stmt *, int column, int64_t absent);
/** A clock of a profile may say so. */
bool nsys_is_time(int64_t t_ns);
/** Start and end from the first two columns; false when the row cannot be used, which is counted. */
bool nsys_times(struct nsys *, sqlite3_stmt *, int64_t *start_ns, int64_t *end_ns);
/** A number of bytes; -1 when there is none, or one that no memory has. */
int64_t nsys_bytes(sqlite3_stmt *, int column);
/** The process of a globalPid or globalTid. */
static inline int64_t nsys_process_of(int64_t global_id)
{
    return (int64_t)((uint64_t)global_id >> 24);
}
static inline int nsys_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* nsys_ops.c: rows of device work, and streams; after the other rows, for events name streams too. */
MUST_CHECK enum weir_status nsys_read_ops(struct nsys *, struct weir_error *);
/** Once all rows are read. @param ranks of texts */
void nsys_sort_ops(struct nsys *, const uint32_t *ranks);
/* nsys_window.c: what of each table a window takes; without one these do nothing. The steps, in this
 * order: begin, API calls are read, calls, waits are read, waits, records are read, records, memory
 * and device work are read, end. */
MUST_CHECK enum weir_status nsys_window_begin(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_window_calls(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_window_waits(struct nsys *, struct weir_error *);
/** Is the record to be added now? Else it is no more, or noted if a wait may be for it, */
bool nsys_window_record(struct nsys *, const struct nsys_record *);
/** and those that were noted are added here. */
MUST_CHECK enum weir_status nsys_window_records(struct nsys *, struct weir_error *);
/** A kept row names that call: it is read at the end, wherever it is. */
MUST_CHECK enum weir_status nsys_window_note(struct nsys *, int64_t process, int64_t correlation,
                                             struct weir_error *);
MUST_CHECK enum weir_status nsys_window_end(struct nsys *, struct weir_error *);
/** The call of that id among those kept so far; NSYS_NONE. */
uint32_t nsys_window_call(const struct nsys *, int64_t process, int64_t correlation);
/** The devices that rows were on, also those outside of the window, and where their places among the
 *  gpus are kept; false after the last. */
bool nsys_window_device(const struct nsys *, size_t at, int64_t *process, int64_t *device,
                        uint32_t **gpu);
void nsys_window_free(struct nsys *);

/* nsys_live.c: memory events of a window, given in the order of time. */
MUST_CHECK enum weir_status nsys_live_take(struct nsys *, const struct nsys_memory *,
                                           struct weir_error *);
void nsys_live_free(struct nsys *);

/* nsys_graphs.c: CUDA graphs. */
MUST_CHECK enum weir_status nsys_read_graphs(struct nsys *, struct weir_error *);
/** "graph 3", of a row of a launch; 0 when the file does not say. Counts what was launched. */
MUST_CHECK enum weir_status nsys_name_graph(struct nsys *, sqlite3_stmt *, uint32_t *text,
                                            struct weir_error *);
/** Drops the rows of launches whose nodes have rows too, which is counted. */
MUST_CHECK enum weir_status nsys_drop_second_rows(struct nsys *, struct weir_error *);
void nsys_graphs_free(struct nsys *);

/* nsys_gpus.c: devices. */
MUST_CHECK enum weir_status nsys_read_gpus(struct nsys *, struct weir_error *);

/* nsys_ranges.c: the window, and the NVTX ranges around calls. */
MUST_CHECK enum weir_status nsys_find_window(struct nsys *, const char *window,
                                             struct weir_error *);
MUST_CHECK enum weir_status nsys_name_ranges(struct nsys *, struct weir_error *);

/* nsys_ids.c: calls by correlation id, once they are sorted. */
MUST_CHECK enum weir_status nsys_ids_new(struct nsys *, struct weir_error *);
void nsys_ids_free(struct nsys *);
/** The call of that correlation id; NSYS_NONE. */
uint32_t nsys_find_call(const struct nsys *, int64_t process, int64_t correlation);

/* nsys_link.c: calls nested, device work found by its call. */
MUST_CHECK enum weir_status nsys_link_calls(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_link_ops(struct nsys *, struct weir_error *);

/* nsys_streams.c: the order of the work on each stream. */
MUST_CHECK enum weir_status nsys_order_streams(struct nsys *, struct weir_error *);
/** The last work of the stream that was launched before that id, and the first after it: places in
 *  its order; NSYS_NONE. */
uint32_t nsys_last_before(const struct nsys *, const struct nsys_stream *, int64_t correlation);
uint32_t nsys_first_after(const struct nsys *, const struct nsys_stream *, int64_t correlation);

/* Work that must be done when all that was launched on some streams before an id is done: the last
 * of each stream, and what finishes later than that. */
struct nsys_frontier {
    uint32_t *ops;
    size_t n, room;
    size_t n_own; /* the first ones are of the stream that was asked for itself */
};
/** Of one stream, and of those that it waits for by being the null stream or a blocking one. */
MUST_CHECK enum weir_status nsys_stream_frontier(const struct nsys *, uint32_t stream,
                                                 int64_t correlation, struct nsys_frontier *out,
                                                 struct weir_error *);
/** Adds that of streams [from, to). */
MUST_CHECK enum weir_status nsys_add_frontier(const struct nsys *, uint32_t from, uint32_t to,
                                              int64_t correlation, struct nsys_frontier *out,
                                              struct weir_error *);
/** The streams of a process: [*from, *to). */
void nsys_streams_of(const struct nsys *, int64_t process, uint32_t *from, uint32_t *to);

/* nsys_kinds.c; counts by what it was told. */
enum nsys_wait_kind nsys_kind_of(struct nsys *, const struct nsys_sync *);

/* nsys_waits.c: explicit waits; nsys_implicit.c: those that calls and streams imply; nsys_prune.c. */
MUST_CHECK enum weir_status nsys_find_waits(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_find_implicit(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_find_barriers(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_wait(struct nsys *, const struct nsys_wait *,
                                          struct weir_error *);
/** Waits by call, without those that an earlier wait of the thread covers. */
MUST_CHECK enum weir_status nsys_prune_waits(struct nsys *, struct weir_error *);
/** Whether the call may have waited for the work: it ended no earlier, but for the tolerance. */
static inline bool nsys_call_fits(const struct nsys_call *call, const struct nsys_op *op)
{
    return op->end_ns - call->end_ns <= RECORDING_TOLERANCE_NS;
}

/* nsys_memory.c: allocations with their frees. */
MUST_CHECK enum weir_status nsys_pair_memory(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_objects(struct nsys *, struct weir_error *);

/* nsys_calls.c, nsys_actions.c, nsys_loose.c: rows to actions; nsys_edges.c: links between them. */
MUST_CHECK enum weir_status nsys_add_domains(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_calls(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_ops(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_loose_memory(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_add_edges(struct nsys *, struct weir_error *);
/** "h2d-pinned": direction by copy kind, with the kind of the memory on the host side. */
void nsys_copy_name(int direction, int host_kind, char between, char *out, size_t out_bytes);

/* nsys_report.c: what was understood; nsys_grade.c: what it may be used for. */
/** Refuses a file without tables of device work, and one without a row of it to import. */
MUST_CHECK enum weir_status nsys_check_content(struct nsys *, struct weir_error *);
MUST_CHECK enum weir_status nsys_check_work(struct nsys *, struct weir_error *);
/** Gives the grade; WEIR_INPUT when too much is contradicted. */
MUST_CHECK enum weir_status nsys_grade(struct nsys *, struct weir_error *);
/** Fills the report, the grade included. */
MUST_CHECK enum weir_status nsys_tell(struct nsys *, const struct recording_summary *,
                                      struct weir_error *);
extern const char nsys_capture_command[];

#endif
