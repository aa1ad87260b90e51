/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What precedence alone says of a bound graph, before any schedule: when each node can and must start,
 * the critical path, what no schedule can beat, how long copies live, who comes before whom, and
 * whether the run can always go on.
 *
 * A node that is off has length 0 and passes its edges on. One that stands in for another by
 * fallback= runs only where that one gives way, which happens when its window closes: of the two only
 * what holds whichever runs is taken as certain. A distribution counts as its mean. */
#ifndef WEIR_GRAPH_ANALYZE_H
#define WEIR_GRAPH_ANALYZE_H

#include "graph/adjacency.h"
#include "graph/bind.h"

/** The precedence critical path: the greatest sum of lengths and lags along any path of given and
 *  implied edges, which no schedule can beat. Releases are not part of it. A node that is off has
 *  length 0; an edge from a start leaves its producer's length out; of a node and those that stand in
 *  for it the shortest counts. WEIR_INPUT when a cost is missing, WEIR_MEMORY. */
MUST_CHECK enum weir_status analyze_critical_path(const struct binding *binding,
                                                  int64_t *critical_path_ns,
                                                  struct weir_error *err);

/** The same with other lengths. @param length_ns by node; of nodes that are off: anything */
MUST_CHECK enum weir_status analyze_critical_path_with(const struct binding *binding,
                                                       const int64_t *length_ns,
                                                       int64_t *critical_path_ns,
                                                       struct weir_error *err);

#define ANALYZE_NEVER INT64_MAX /* no deadline asks for it */

/* Times of nodes, by id. The edges are those of `next`: given ones first, then implied ones. */
struct analysis {
    const struct binding *binding;
    struct adjacency next;
    bool *is_standby;   /* a node that some fallback= names */
    bool *gives_way;    /* it runs or, when its window closes before, its fallback does */
    bool *is_uncertain; /* an unknown length is on a path to its start, or is its own */
    int64_t *length_ns; /* the mean, when it runs; 0 where it is unknown */
    /* r_i = max(release, max over producers of (f_j + lag)): no run starts it, or passes it over, before */
    int64_t *earliest_ns;
    int64_t
        *over_ns; /* f_i: no run has finished it, or passed it over, before; NULL: earliest_ns and
                           length_ns, since nothing has a fallback */
    int64_t *latest_ns; /* LS_i = LF_i - length, where who has no consumer must finish by end_ns */
    int64_t *due_ns;    /* the same by deadlines alone; ANALYZE_NEVER where none asks */
    uint32_t *bound_by; /* the producer that settles earliest_ns; WEIR_NONE: its release, or 0 */
    int64_t end_ns;     /* no run ends before */
    uint32_t n_unknown; /* nodes that may run and whose length nothing says */
};

/** WEIR_MEMORY; WEIR_INPUT when times pass 64 bits. The caller frees with analyze_free. */
MUST_CHECK enum weir_status analyze(const struct binding *binding, struct analysis *out,
                                    struct weir_error *err);
/** The same without latest_ns and due_ns, which stay NULL: for those who look no later than at
 *  earliest starts. */
MUST_CHECK enum weir_status analyze_early(const struct binding *binding, struct analysis *out,
                                          struct weir_error *err);
void analyze_free(struct analysis *analysis);

/** The lag and the kind of an edge of `next`. */
struct analyze_link {
    int64_t lag_ns;
    bool is_from_start;
};
struct analyze_link analyze_link(const struct graph *graph, uint32_t edge);

/** Does it run in every run that completes? */
bool analyze_surely_runs(const struct analysis *analysis, uint32_t node);
/** f_i: no run has finished the node, or passed it over, before. */
int64_t analyze_over_ns(const struct analysis *analysis, uint32_t node);
/** When the node must have finished; -1: nothing says, or it is off. */
int64_t analyze_deadline_ns(const struct graph *graph, uint32_t node);

/** Earliest starts again, with these lengths, by id. @param over_ns may be NULL: then each node
 *  is over when its length has passed, as if none could give way. @param bound_by may be NULL */
MUST_CHECK enum weir_status analyze_earliest(const struct analysis *analysis,
                                             const int64_t *length_ns, bool has_releases,
                                             int64_t *earliest_ns, int64_t *over_ns,
                                             uint32_t *bound_by, struct weir_error *err);
/** With these starts: when no run ends before. @param last may be NULL: the node that settles it;
 *  WEIR_NONE when no node surely runs */
int64_t analyze_end(const struct analysis *analysis, const int64_t *earliest_ns, uint32_t *last);
/** The longest that the node is likely to take: the greatest of uniform and empirical, the mean and
 *  three standard deviations of the others; its length where it has no distribution. 0 where it
 *  stands in for another: that one is taken to run. */
int64_t analyze_slow_ns(const struct analysis *analysis, weir_node node);

/* Times when every node takes the longest that is likely, by id. */
struct analyze_slow {
    int64_t *length_ns, *earliest_ns;
    uint32_t *bound_by;
};
MUST_CHECK enum weir_status analyze_slow_make(const struct analysis *analysis,
                                              struct analyze_slow *out, struct weir_error *err);
void analyze_slow_free(struct analyze_slow *slow);

/* Of a node with a deadline: can it be met? */
enum analyze_window {
    WINDOW_NONE, /* there is no deadline, or it does not run */
    WINDOW_OPEN,
    WINDOW_UNCERTAIN, /* not when what leads to it takes long, or an unknown length is on its way */
    WINDOW_NEGATIVE   /* in no schedule */
};
enum analyze_window analyze_window(const struct analysis *analysis, const struct analyze_slow *slow,
                                   weir_node node);
const char *analyze_window_name(enum analyze_window window);

/** The nodes of the precedence critical path (without releases) from the first, n of them,
 *  malloc'ed, and its length. */
MUST_CHECK enum weir_status analyze_path(const struct analysis *analysis, weir_node **nodes,
                                         uint32_t *n, int64_t *length_ns, struct weir_error *err);

/* --- what no schedule can beat --- */

struct analyze_engine {
    uint32_t n_nodes; /* that surely run */
    int64_t work_ns;  /* of them */
    int64_t bound_ns; /* least head + work over slots + least tail */
    int64_t bytes;    /* that they move: bytes=, or the object of a copy */
    int64_t bytes_ns; /* over its bandwidth and slots; -1 when it has none */
};

struct analyze_bounds {
    struct analyze_engine *engines; /* by id */
    int64_t *resource_ns; /* by id: demands times lengths over the capacity: under share */
    int64_t bound_ns;     /* the greatest of end_ns and the engines' bounds */
};

MUST_CHECK enum weir_status analyze_bounds(const struct analysis *analysis,
                                           struct analyze_bounds *out, struct weir_error *err);
void analyze_bounds_free(struct analyze_bounds *bounds);

/* --- lives of copies --- */

enum analyze_role {
    ROLE_NONE,     /* nobody uses it */
    ROLE_READER,   /* or writer */
    ROLE_ALIAS,    /* a reader or writer by an alias */
    ROLE_TRANSFER, /* a copy node, out of it or into it */
    ROLE_MAPPING,
    ROLE_BARRIER, /* a barrier before its reclamation, or one that holds it */
    ROLE_HOLD     /* a lifetime-hold */
};

struct analyze_life {
    weir_node begins;   /* none: it is initial */
    weir_node ready_by; /* whose finish settles reclaim_ready_ns; none: nobody uses it */
    weir_node late_by;  /* a producer of the reclamation that neither uses nor holds the copy and
                                 keeps it later than that; none */
    enum analyze_role role;   /* of ready_by */
    int64_t begin_ns;         /* earliest */
    int64_t reclaim_ready_ns; /* the last reader, alias use, transfer or protecting barrier */
    int64_t end_ns;           /* earliest; -1: it stays */
};

/** By copy, malloc'ed. */
MUST_CHECK enum weir_status analyze_lives(const struct analysis *analysis,
                                          struct analyze_life **out, struct weir_error *err);
const char *analyze_role_name(enum analyze_role role);

/* --- who comes before whom, for the reuse of storage on several queues --- */

struct analyze_order;

/** An index over the precedence of the analysis, which must outlive it. */
MUST_CHECK enum weir_status analyze_order_make(const struct analysis *analysis,
                                               struct analyze_order **out, struct weir_error *err);
void analyze_order_free(struct analyze_order *order);
/** Has @p first finished whenever @p second starts, in every schedule? Then a path of edges leads
 *  from the finish of the first to the second. */
bool analyze_before(struct analyze_order *order, weir_node first, weir_node second);
/** After analyze_before said yes: such a path, from the first to the second, malloc'ed. */
MUST_CHECK enum weir_status analyze_before_path(const struct analyze_order *order, weir_node first,
                                                weir_node second, weir_node **nodes, uint32_t *n,
                                                struct weir_error *err);

/* --- can the run always go on? --- */

enum analyze_verdict {
    PROGRESS_FREE,    /* in no schedule does everything wait for bytes */
    PROGRESS_UNKNOWN, /* some schedule may; no proof either way */
    PROGRESS_SHORT    /* no schedule completes: a node can never have its bytes */
};

struct analyze_progress {
    enum analyze_verdict verdict;
    /* Free because all bytes fit at once. Else, unless short: the node that might not fit, when all
     * that waits may hold held_bytes of room_bytes in the domain and it needs need_bytes more. */
    bool fits_at_once;
    weir_node node; /* short: none when it is the initial copies */
    /* Unknown: none when precedence and waits to know whether a fallback is needed close a circle. */
    weir_domain domain;
    int64_t held_bytes, need_bytes, room_bytes;
};

MUST_CHECK enum weir_status analyze_progress(const struct analysis *analysis,
                                             struct analyze_progress *out, struct weir_error *err);

/** Are there too many bytes for a domain whenever the node runs, whatever the schedule: what it touches,
 *  its workspace and staging, and the initial copies that stay? Then *domain is the first such and
 *  *live_bytes what is live there. @param always_bytes of analyze_always; unchanged in the end */
bool analyze_never_fits(const struct binding *binding, weir_node node, int64_t *always_bytes,
                        weir_domain *domain, int64_t *live_bytes);
/** By domain id: the initial copies that are never given back; all initial copies. */
void analyze_always(const struct binding *binding, int64_t *always_bytes, int64_t *initial_bytes);
/** Would all copies that there ever are, with all workspace and staging, fit at once? Then nothing ever
 *  lacks bytes. @param copies_bytes, charges_bytes room for a number by domain each */
bool analyze_all_fits(const struct binding *binding, int64_t *copies_bytes, int64_t *charges_bytes);
/** Adds workspace and staging of a node that runs, by domain id. */
void analyze_charges(const struct graph *graph, weir_node node, int64_t *bytes);

/* --- circles of precedence and waits --- */

/* Who waited for whose bytes; zeroed is none. */
struct analyze_waits {
    struct bind_edge *items;
    uint32_t n;
    size_t room;
};

MUST_CHECK enum weir_status analyze_waits_add(struct analyze_waits *waits, weir_node producer,
                                              weir_node consumer, struct weir_error *err);
void analyze_waits_free(struct analyze_waits *waits);
/** Of a run that can go no further: adds, for each node that is ready and lacks bytes, who would have
 *  to finish for the bytes that are held there. @param is_finished by node */
MUST_CHECK enum weir_status analyze_stuck_waits(const struct analysis *analysis,
                                                const bool *is_finished,
                                                struct analyze_waits *waits,
                                                struct weir_error *err);
/** The same, but of all who would give bytes of a domain back each node waits for one alone. That is
 *  enough for a circle, and costs no more than the graph.
 *  @param is_finished by node, or it will never run  @param has_run by node */
MUST_CHECK enum weir_status analyze_stuck_for_one(const struct analysis *analysis,
                                                  const bool *is_finished, const bool *has_run,
                                                  struct analyze_waits *waits,
                                                  struct weir_error *err);
/** A circle of given and implied edges and waits, malloc'ed: each node before the next, and the last
 *  before the first. *nodes NULL and *n 0 when there is none. */
MUST_CHECK enum weir_status analyze_circle(const struct binding *binding,
                                           const struct analyze_waits *waits, weir_node **nodes,
                                           uint32_t *n, struct weir_error *err);

#endif
