/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SQLite file that holds runs: weir-store(5). A run is there whole or not at all. */
#ifndef WEIR_STORE_STORE_H
#define WEIR_STORE_STORE_H

#include "base/hash.h"
#include "graph/bind.h"
#include "graph/deviation.h"
#include "graph/timeline.h"

struct store;

enum run_kind { RUN_SIM, RUN_REPLAY, RUN_RECORDED };

/* One edit of the plan: what a policy did, why, and instead of what. */
struct run_decision {
    const char *what, *reason;
    const char *instead_of; /* NULL: not said */
};

/* What the device used for an action of the plan. */
struct run_mechanism {
    weir_node node;
    const char *mechanism;
    const char *note; /* what had to be inserted or was refused; NULL mostly */
};

/* Where what was done is not what was planned. */
struct run_deviation {
    weir_node node; /* none: the run as a whole */
    const char *what;
    int64_t cost_ns; /* -1 unknown */
};

/* What a replay did with an action of the plan. */
struct run_action {
    weir_node node;
    uint32_t queue;                      /* among the run's queues; WEIR_NONE: none */
    uint32_t position, planned_position; /* on its queue, from 0; WEIR_NONE without one */
    uint32_t planned_order;              /* the how-manieth to start in the plan */
    int64_t submit_ns;                   /* when it was the next to be run by whoever ran it */
    int64_t cost_ns; /* so much sooner the run would have ended, had it alone done as planned */
    struct deviation deviation;
};

/* An order, or a time, that the replay keeps though no edge and no release says it. */
struct run_inserted {
    weir_node producer; /* none: a time */
    weir_node consumer;
    bool is_from_start;    /* of the producer, else from its finish */
    int64_t not_before_ns; /* -1 with a producer */
    const char *why;
};

/* A link of the realized critical chain, first to last: their lengths add up to the makespan. */
struct run_link {
    weir_node node;
    const char *cause; /* what its start waited for last */
    const char *via;   /* type of the edge, or why it was inserted; NULL: neither */
    int64_t start_ns, finish_ns;
    struct deviation deviation; /* what it adds to that of the makespan */
};

/* How long nodes of two classes ran at once, summed over pairs of nodes. */
struct run_overlap {
    const char *class_a, *class_b; /* "" for nodes without one; each pair stands once */
    int64_t overlap_ns;
};

/* One timeline with all that is needed to produce it again. Texts are UTF-8, never NULL ("" when
 * there is none) when written. */
struct run {
    int64_t id; /* given by the store */
    enum run_kind kind;
    enum graph_scope scope;
    const struct graph *graph;        /* the one that ran: with the machine over it, and planned */
    char graph_hash[HASH_TEXT_BYTES]; /* of the graph as read, before a machine file and a policy:
                                         runs with equal hashes can be compared */
    char ran_hash[HASH_TEXT_BYTES];   /* of graph, when who writes knows it: mostly graph_hash, when
                                         no machine file and no policy changed it; "": the store
                                         finds it. Filled in when read */
    char plan_hash[HASH_TEXT_BYTES];  /* of the realized plan: the graph that ran, the order of
                                         starts, the induced edges. store_write_run fills it when
                                         it is "": a replay gives that of the run it replays */
    const char *graph_name;
    const char *policy;
    const char *machine;  /* how the user named it: a file name, "" when the graph's own */
    const char *settings; /* a JSON object: options, device, scales, repeats, versions;
                             read back without blanks */
    const char *created;  /* ISO 8601, UTC; NULL when writing: now */
    int64_t seed;
    int64_t critical_path_ns;        /* -1 unknown */
    const struct timeline *timeline; /* holds makespan and status */
    const struct binding *binding;   /* of graph, for its implied edges; NULL: the store binds it */
    /* Each may be absent. */
    const struct run_decision *decisions;
    const struct run_mechanism *mechanisms;
    const struct run_deviation *deviations;
    const struct run_overlap *overlaps;
    size_t n_decisions, n_mechanisms, n_deviations, n_overlaps;
    /* Of a replay. */
    const struct run_action *actions; /* by node */
    const char *const *queues;        /* their names */
    const struct run_inserted *inserted;
    const struct run_link *links;
    size_t n_actions, n_queues, n_inserted, n_links;
};

/* What a list of runs shows. */
struct run_row {
    int64_t id;
    enum run_kind kind;
    enum graph_scope scope;
    enum run_status status;
    int64_t seed, makespan_ns, critical_path_ns;
    const char *graph_hash, *plan_hash, *graph_name, *policy, *machine, *created, *settings;
    int64_t n_nodes; /* that ran */
};

/* The repeats of a replay, of which the timeline of the run is the median one; or the samples of a
 * simulation, whose timeline is that of the mean lengths. */
struct run_sample {
    int64_t
        number; /* from 0: of repeats in the order in which they ran; a sample's says its stream */
    int64_t makespan_ns;
    bool is_warm_up;
    enum run_status status;
    const int64_t *peak_bytes; /* by domain; NULL: not known */
};

/** Opens or makes the file: WAL, foreign keys, schema brought up to date in one transaction.
 *  WEIR_STORE when it is no store of Weir, newer than this Weir, locked, or cannot be written.
 *  @param is_read_only never writes; the file must exist */
MUST_CHECK enum weir_status store_open(const char *path, bool is_read_only, struct store **out,
                                       struct weir_error *err);
/** As store_open to write, but makes no file: *out is NULL when there is none and one can be made.
 *  For who works long before there is a run to write. */
MUST_CHECK enum weir_status store_look(const char *path, struct store **out,
                                       struct weir_error *err);
/** A signal that ends the program, and came while the file was open, ends it here. */
void store_close(struct store *store);

/** Writes the run with its samples in one transaction, and its graph unless it is there already.
 *  Fills run->id, plan_hash. Nothing is written on failure. */
MUST_CHECK enum weir_status store_write_run(struct store *store, struct run *run,
                                            const struct run_sample *samples, size_t n_samples,
                                            struct weir_error *err);

/** Opens, writes the run as store_write_run does, and closes. A file that is not there appears with
 *  the run in it, or not at all. */
MUST_CHECK enum weir_status store_add_run(const char *path, struct run *run,
                                          const struct run_sample *samples, size_t n_samples,
                                          struct weir_error *err);

/* A run read back: graph, timeline, lists and texts are owned by it; writing it again gives an
 * equal run. There is no binding. */
struct stored_run {
    struct run run;
    struct graph *graph;
    struct timeline *timeline;
    struct run_sample *samples;
    size_t n_samples;
    struct arena arena;
};

/** WEIR_INPUT when there is no such run. The caller frees with stored_run_free. */
MUST_CHECK enum weir_status store_read_run(struct store *store, int64_t run_id,
                                           struct stored_run *out, struct weir_error *err);
void stored_run_free(struct stored_run *stored);

/** Finds the newest recorded run of the graph with that hash; *run_id is 0 when there is none. */
MUST_CHECK enum weir_status store_find_recording(struct store *store,
                                                 const char graph_hash[HASH_TEXT_BYTES],
                                                 int64_t *run_id, struct weir_error *err);
/** "latest", "sim", "replay", "recorded" (the newest of the kind) or a number.
 *  WEIR_INPUT when there is no such run. */
MUST_CHECK enum weir_status store_resolve_run(struct store *store, const char *text,
                                              int64_t *run_id, struct weir_error *err);

/** Calls @p row for every run by id until it returns something other than WEIR_OK. */
MUST_CHECK enum weir_status
store_list_runs(struct store *store, enum weir_status (*row)(void *arg, const struct run_row *),
                void *arg, struct weir_error *err);

/** Deletes the run, and its graph when no other run has it, in one transaction. WEIR_INPUT when
 *  there is no such run. */
MUST_CHECK enum weir_status store_delete_run(struct store *store, int64_t run_id,
                                             struct weir_error *err);

/* A table that can be read out, in the words of weir-store(5). */
struct store_table {
    const char *name;
    const char *columns; /* their names, with commas between them */
    const char *summary; /* one line: what a row is, and in which order they come */
    uint32_t n_runs;     /* that it is about: 0 for all, 1, or 2 for a comparison */
};

/** The tables, from 0; NULL after the last. */
const struct store_table *store_table(uint32_t index);

/* Takes a row; NULL is what SQL calls NULL. */
typedef enum weir_status store_row(void *arg, uint32_t n_values, const char *const *values,
                                   struct weir_error *err);
/** Gives the names of the columns, then the rows one by one, to @p row until it returns something
 *  other than WEIR_OK. Times are nanoseconds, sizes bytes, whole. WEIR_USAGE when there is no such
 *  table or @p n_runs is not its; WEIR_INPUT when there is no such run. */
MUST_CHECK enum weir_status store_read_table(struct store *store, const char *table,
                                             const int64_t *runs, uint32_t n_runs, store_row *row,
                                             void *arg, struct weir_error *err);

const char *run_kind_name(enum run_kind);

#endif
