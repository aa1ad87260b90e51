/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the verifier share.
 *
 * An instant is worked through in turns: first whatever ends there ends, at turn 0; then the nodes
 * that start there start, each at the turn of its number among all starts, plus one; what has no
 * length ends at the turn of its start. A time and a turn together say what was before what. */
#ifndef WEIR_JUDGE_VERIFY_INTERNAL_H
#define WEIR_JUDGE_VERIFY_INTERNAL_H

#include "judge/verify.h"

#define NONE WEIR_NONE

#define NEVER_NS INT64_MAX /* of a time: not in this run */
#define TURN_ENDS 0u
#define TURN_LAST UINT32_MAX /* after all that starts in the instant */

struct moment {
    int64_t ns; /* NEVER_NS: not in this run */
    uint32_t turn;
};

static inline bool moment_before(struct moment a, struct moment b)
{
    return a.ns != b.ns ? a.ns < b.ns : a.turn < b.turn;
}

static inline struct moment moment_later(struct moment a, struct moment b)
{
    return moment_before(a, b) ? b : a;
}

/* A copy: the bytes of a root object in a domain, from one beginning to one end. */
struct verify_copy {
    weir_object object;
    weir_domain domain;
    int64_t bytes;         /* rounded up to the granule */
    weir_node allocation;  /* none */
    weir_node before;      /* the reclamation of the copy before it there; none */
    weir_node reclamation; /* none */
    uint32_t n_uses;       /* accesses that use it */
    bool is_initial, stays;
    struct moment begin, end; /* NEVER_NS: did not; of an initial one begin is 0 */
    weir_node begun_by;       /* none when initial */
    struct moment
        last_use; /* of those that use it, not of those that hold it; NEVER_NS: not all did */
};

enum { TOUCH_USES = 1, TOUCH_FILLS = 2, TOUCH_ALLOCATES = 4, TOUCH_RECLAIMS = 8, TOUCH_HOLDS = 16 };

/* A node and a copy that it touches, once. */
struct verify_touch {
    uint32_t copy, roles;
};

/* first must be done before second starts. */
struct verify_hazard {
    uint32_t first, second;
    weir_object object;
    enum edge_type type;
};

/* Bytes held. */
struct verify_hold {
    weir_domain domain;
    weir_object object;                    /* none: workspace or staging */
    weir_node node;                        /* none: initial */
    int64_t bytes, acquire_ns, release_ns; /* -1: to the end */
    struct moment end;
};

/* Bytes of a domain from that time on. */
struct verify_level {
    int64_t t_ns, bytes;
};

enum verify_family { FAMILY_NONE, FAMILY_PAIRWISE, FAMILY_SHARE, FAMILY_ROOFLINE, FAMILY_OTHER };
enum verify_unknown { UNKNOWN_IS_MARKED, UNKNOWN_IS_FORBIDDEN, UNKNOWN_IS_ALLOWED };

/* What a node needs to know of itself, again and again. */
struct verify_node {
    int64_t length_ns; /* as the run says; of one that did not run, as the graph says; -1 unknown */
    uint32_t engine;   /* NONE */
    bool is_on;        /* its guard is */
    bool has_started;
    bool is_lengthless; /* it takes no slot and overlaps nobody */
};

struct verify {
    const struct run *run;
    const struct graph *graph;
    const struct timeline *timeline;
    struct verify_options options;
    struct verify_result *result;
    struct weir_error *err;
    bool is_lenient; /* a replay or a recording */
    bool is_whole;   /* status complete */
    int64_t tolerance_ns;
    double scale_time, scale_bytes;
    enum verify_family family;
    bool is_measured; /* the family is what the machine was fitted to */
    enum verify_unknown unknown;
    uint32_t n_nodes, n_domains, n_engines;

    struct verify_node *nodes;
    weir_node *order; /* those that started, in that order */
    uint32_t n_started;
    int64_t end_ns; /* the last instant in which anything happened */

    /* verify_copies.c */
    struct verify_copy *copies;
    size_t copies_room;
    uint32_t n_copies;
    struct verify_touch *touches; /* of node i: touches[touch_first[i]] up to the next node's */
    size_t touches_room;
    uint32_t n_touches;
    uint32_t *touch_first;
    struct verify_hazard *hazards;
    size_t hazards_room;
    uint32_t n_hazards;
    int64_t *object_ready_ns; /* by node: no sooner, for the initial copies it reads */

    /* verify_order.c */
    size_t *into_first; /* by node: its edges are into[into_first[i]] up to the next node's */
    uint64_t *into;     /* given edges by number, hazards after those */
    struct moment *start, *done; /* by node; of one that did not run both are when it passed on */
    struct moment *ready;        /* by node: as its edges say; NEVER_NS */
    /* verify_ran.c */
    struct moment *armed;   /* by node: since when it is needed; 0 of most; NEVER_NS: not */
    struct moment *settled; /* by node: since when it was known that it would not run; NEVER_NS */
    bool has_ways;          /* some node gave way to its fallback */
    int64_t *way_ns;        /* when they did, in rising order */
    size_t ways_room, n_ways;

    /* verify_bytes.c */
    struct verify_hold *holds; /* by time of acquisition, by node */
    size_t holds_room, n_holds;
    bool *is_staged;             /* by domain: something is staged there */
    struct verify_level *levels; /* of domain d: levels[level_first[d]] up to the next's */
    size_t levels_room;
    size_t *level_first;

    bool is_out_of_memory; /* a finding could not be kept */

    /* verify_progress.c */
    int64_t *late_ns; /* instants in which a node ended after others had started, in rising order */
    size_t late_room, n_late;
};

/* --- verify_report.c --- */
struct verify_at {
    enum verify_code code;
    int64_t t_ns;
    weir_node node, other;
    weir_object object;
    weir_domain domain;
};
/* Of a node at a time, the rest none. */
struct verify_at verify_at(enum verify_code code, uint32_t node, int64_t t_ns);
void verify_add(struct verify *verify, struct verify_at at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void verify_checked(struct verify *verify, enum verify_check_id check, int64_t n);
void verify_sort(struct verify_result *result);
/** Nothing of the check is done, or not all of it. */
void verify_skip(struct verify *verify, enum verify_check_id check, const char *why);

static inline const char *node_name(const struct verify *verify, uint32_t node)
{
    return graph_node_name(verify->graph, (weir_node){node});
}

static inline const char *domain_name(const struct verify *verify, uint32_t domain)
{
    return graph_text(verify->graph, graph_domain(verify->graph, (weir_domain){domain})->name);
}

/** A lag or a release as the run kept it: a replay may have been slower. */
int64_t verify_scaled_ns(const struct verify *verify, int64_t ns);
int64_t verify_usable_bytes(const struct verify *verify, uint32_t domain);

/* --- the parts, in the order in which each needs the ones before --- */
MUST_CHECK enum weir_status verify_copies(struct verify *); /* copies, touches, hazards */
MUST_CHECK enum weir_status verify_ran(struct verify *);    /* armed, settled */
MUST_CHECK enum weir_status verify_order(struct verify *);  /* start, done, ready */
MUST_CHECK enum weir_status verify_bytes(struct verify *);  /* holds, levels */
MUST_CHECK enum weir_status verify_engines(struct verify *);
MUST_CHECK enum weir_status verify_overlaps(struct verify *);
MUST_CHECK enum weir_status verify_progress(struct verify *); /* late */
MUST_CHECK enum weir_status verify_waits(struct verify *);
MUST_CHECK enum weir_status verify_dispatch(struct verify *);
MUST_CHECK enum weir_status verify_induced(struct verify *);
MUST_CHECK enum weir_status verify_chain(struct verify *);

/* --- verify_needs.c: what a node takes at its start --- */
struct verify_need {
    uint32_t domain;
    int64_t bytes;
};
uint32_t verify_most_needs(const struct verify *);
/** What the node takes in each domain, those above 0, were it to start when all that begins up to that
 *  time has begun. @param needs room for verify_most_needs()  @return how many */
uint32_t verify_needs_at(const struct verify *, uint32_t node, int64_t t_ns,
                         struct verify_need *needs);
/** The same when those copies have begun. @param has_begun by copy */
uint32_t verify_needs_of(const struct verify *, uint32_t node, const bool *has_begun,
                         struct verify_need *needs);
/** Does the node, were it to start, begin that copy, if nobody has? */
bool verify_may_begin(const struct verify *, const struct verify_touch *);

/* --- verify_apart.c: which nodes a set of `overlap` lines pairs --- */
struct apart {
    const struct verify *verify;
    weir_text *names; /* of nodes or classes, in rising order of the ids of their texts: the keys */
    uint32_t n_keys;
    uint32_t *first, *partners;    /* of key k: partners[first[k]] up to the next */
    bool has_unlisted;             /* and all pairs of classes but the known ones */
    uint32_t *known_first, *known; /* of class c */
    uint32_t *running;             /* by key */
    uint32_t *class_running, n_class_running;
};
/** @param rule whose lines count  @param has_unlisted pairs of classes of which no factor is known, too */
MUST_CHECK enum weir_status apart_make(const struct verify *verify, enum overlap_rule rule,
                                       enum overlap_rule other_rule, bool has_unlisted,
                                       struct apart *out);
void apart_free(struct apart *pairs);
bool apart_is_none(const struct apart *pairs);
/** Its keys: of its name, of its class; NONE. */
void apart_keys(const struct apart *pairs, uint32_t node, uint32_t keys[2]);
/** How many running nodes are paired with this one, counted once for each way in which they are. */
uint64_t apart_count(const struct apart *pairs, uint32_t node);
void apart_start(struct apart *pairs, uint32_t node);
void apart_end(struct apart *pairs, uint32_t node);
bool apart_has(const struct apart *pairs, uint32_t node, uint32_t other);

#endif
