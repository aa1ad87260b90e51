/* SPDX-License-Identifier: MIT */
/* The policy interface: a policy turns a graph and a machine into a plan. Installed, so that a
 * policy can be built outside Weir; it calls nothing by name, all it needs hangs on its arguments.
 *
 * A plug-in is a shared object that exports
 *     const struct weir_policy *weir_policy_export(void);
 *
 * It decides from its state and the view alone: no clock, no I/O, no randomness but the setup's. */
#ifndef WEIR_POLICIES_POLICY_H
#define WEIR_POLICIES_POLICY_H

#include <stddef.h>

#include "base/error.h"
#include "graph/id.h"

#define WEIR_POLICY_VERSION 1
#define WEIR_POLICY_EXPORT "weir_policy_export"

/* One parameter that `--set NAME=VALUE` gives. */
struct weir_param {
    const char *name;        /* NULL ends a list */
    const char *unit;        /* "ns", "bytes", "ratio", "" */
    const char *description; /* one line */
    double default_value, least, greatest;
};

struct weir_draft;

/* What a run offers a policy before it begins. Read `size` before using a later field. */
struct weir_setup {
    size_t size; /* sizeof (struct weir_setup) in the Weir that calls */
    void *impl;
    /* Zeroed memory that lives as long as the run; NULL when there is none. */
    void *(*alloc)(struct weir_setup *setup, size_t size_bytes);
    /* The value given, else the default; NAME must be one of the policy's params. */
    double (*param)(const struct weir_setup *setup, const char *name);
    /* The next 64 random bits of this policy's stream: same seed, same bits. */
    uint64_t (*random_bits)(struct weir_setup *setup);
    /* Simulates a draft and gives its makespan. NULL where the caller does not offer it. */
    enum weir_status (*evaluate)(struct weir_setup *setup, const struct weir_draft *draft,
                                 int64_t *makespan_ns, struct weir_error *err);
};

/* A node that waits for another: it starts no earlier than lag_ns after that one's finish, or start. */
struct weir_link {
    weir_node node; /* the one that waits */
    int64_t lag_ns;
    bool is_from_start;
};

/* What a policy may know. Before the run (in plan) now_ns is 0 and nothing has started. */
struct weir_view {
    size_t size; /* sizeof (struct weir_view) in the Weir that calls */
    const void *impl;
    const int64_t *used_bytes; /* by domain; NULL before the run. Read it by domain_used_bytes */
    int64_t now_ns;
    uint32_t n_nodes, n_objects, n_domains, n_engines;
    const char *(*node_name)(const struct weir_view *view, weir_node node);
    const char *(*node_kind)(const struct weir_view *view, weir_node node);
    weir_engine (*node_engine)(const struct weir_view *view, weir_node node);
    int64_t (*node_length_ns)(const struct weir_view *view, weir_node node); /* -1 unknown */
    int64_t (*node_priority)(const struct weir_view *view, weir_node node);
    int64_t (*node_deadline_ns)(const struct weir_view *view, weir_node node); /* -1 none */
    const char *(*object_name)(const struct weir_view *view, weir_object object);
    int64_t (*object_bytes)(const struct weir_view *view, weir_object object);
    int64_t (*domain_capacity_bytes)(const struct weir_view *view, weir_domain domain);
    int64_t (*domain_used_bytes)(const struct weir_view *view, weir_domain domain);
    /* When the node started in the recording of this graph; -1 when it did not or there is none. */
    int64_t (*recorded_start_ns)(const struct weir_view *view, weir_node node);

    const void *run; /* Weir's own */
    /* When it started and finished in this run; -1: not yet. */
    int64_t (*node_start_ns)(const struct weir_view *view, weir_node node);
    int64_t (*node_finish_ns)(const struct weir_view *view, weir_node node);
    /* The capacity less the reserve. */
    int64_t (*domain_room_bytes)(const struct weir_view *view, weir_domain domain);
    int64_t (*engine_slots)(const struct weir_view *view, weir_engine engine);
    /* The order that the graph given asks for, edges that program order implies included. These are
     * for a policy with needs_order: for others, and of nodes that the plan adds, there are no links,
     * times are -1 and bytes 0. A node that is off, or runs only when another gives way, takes no
     * time here and passes its links on. */
    uint32_t (*node_n_next)(const struct weir_view *view, weir_node node);
    struct weir_link (*node_next)(const struct weir_view *view, weir_node node, uint32_t index);
    /* By links and releases alone. */
    int64_t (*node_earliest_ns)(const struct weir_view *view, weir_node node);
    /* For the least time that links and releases allow the whole, and every deadline; below 0 when a
     * deadline cannot be met. */
    int64_t (*node_latest_start_ns)(const struct weir_view *view, weir_node node);
    int64_t (*node_latest_finish_ns)(const struct weir_view *view, weir_node node);
    /* What the node takes in the domain when it starts: workspace, staging, and copies that begin
     * with it in program order; and the workspace alone, which it gives back when it finishes. */
    int64_t (*node_takes_bytes)(const struct weir_view *view, weir_node node, weir_domain domain);
    int64_t (*node_workspace_bytes)(const struct weir_view *view, weir_node node,
                                    weir_domain domain);
};

/* The plan in the making. Each edit takes its reason, and what it was preferred to (may be NULL). */
struct weir_draft {
    size_t size; /* sizeof (struct weir_draft) in the Weir that calls */
    void *impl;
    enum weir_status (*set_priority)(struct weir_draft *draft, weir_node node, int64_t priority,
                                     const char *reason, const char *instead_of,
                                     struct weir_error *err);
    /* Adds a constraint from producer's finish to consumer's start. */
    enum weir_status (*add_ordering)(struct weir_draft *draft, weir_node producer,
                                     weir_node consumer, int64_t lag_ns, const char *reason,
                                     const char *instead_of, struct weir_error *err);
    /* Adds an action: one `node` statement of weir-graph(5) without the word, put before the node
     * `before` in program order (none: at the end). *out is its id in the draft; ids of the view
     * stay what they are. */
    enum weir_status (*add_node)(struct weir_draft *draft, weir_node before, const char *statement,
                                 const char *reason, const char *instead_of, weir_node *out,
                                 struct weir_error *err);
};

enum weir_admission {
    WEIR_ADMIT, /* it may start now */
    WEIR_HOLD   /* not before *until_ns */
};

enum weir_event_kind { WEIR_EVENT_FINISHED, WEIR_EVENT_ARRIVED, WEIR_EVENT_STARVED };

struct weir_event {
    enum weir_event_kind kind;
    weir_node node;     /* that finished or arrived; none when starved */
    weir_domain domain; /* short of bytes, when starved */
    int64_t needed_bytes;
};

struct weir_policy {
    unsigned version;           /* WEIR_POLICY_VERSION it was written for */
    size_t size;                /* sizeof (struct weir_policy) there: callbacks are only appended */
    const char *name, *summary; /* as typed after --policy; one line for `weir policies` */
    const struct weir_param *params; /* ends with a NULL name; NULL: none */
    bool needs_recording;            /* reads recorded_start_ns: refuse to run without one */

    /* Reads its parameters. State lives in setup's memory. WEIR_INPUT names the parameter. NULL:
     * no state. */
    enum weir_status (*begin)(struct weir_setup *setup, void **state, struct weir_error *err);
    /* Inserts actions, sets priorities. NULL: nothing to do. */
    enum weir_status (*plan)(void *state, const struct weir_view *view, struct weir_draft *draft,
                             struct weir_error *err);
    /* May this node, which could start now, start now? Not before *until_ns, if not. NULL: always. */
    enum weir_admission (*admit)(void *state, const struct weir_view *view, weir_node node,
                                 int64_t *until_ns, const char **why);
    /* A node finished, work arrived, or nothing can run for want of bytes. May change priorities of
     * nodes that have not started. NULL: nothing to do. */
    enum weir_status (*on_event)(void *state, const struct weir_view *view,
                                 const struct weir_event *event, struct weir_draft *draft,
                                 struct weir_error *err);
    /* Gives back what the setup's memory does not own. NULL: nothing. */
    void (*end)(void *state);

    bool needs_order; /* reads node_n_next and what follows it in the view */
    /* Somebody is about to be chosen to start, and something has happened since the last choice: the
     * last chance to change priorities of nodes that have not started. NULL: nothing to do. */
    enum weir_status (*rank)(void *state, const struct weir_view *view, struct weir_draft *draft,
                             struct weir_error *err);
};

#endif
