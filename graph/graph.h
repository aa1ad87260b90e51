/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The typed graph: actions (nodes), constraints (edges), bytes with a lifetime (objects), and the
 * machine they run on. This is what the text form says, resolved to ids and nothing more: what
 * program order implies is in graph/bind.h.
 *
 * The structs below are values: what one statement says. Ids are dense and in the order in which
 * things were added; the order of nodes is the program order. Lists that a value points to are
 * copied when it is added, and belong to the graph when it is read: they are valid until the next
 * call that changes the graph. Texts are ids of the graph's table; 0 is none. */
#ifndef WEIR_GRAPH_GRAPH_H
#define WEIR_GRAPH_GRAPH_H

#include <stddef.h>

#include "base/attributes.h"
#include "graph/id.h"

struct graph;

enum graph_scope { SCOPE_NONE, SCOPE_COLD, SCOPE_WARM };

enum node_kind {
    NODE_COMPUTE,
    NODE_ALLOCATION,
    NODE_MAPPING,
    NODE_TRANSFER,
    NODE_PREFETCH,
    NODE_OFFLOAD,
    NODE_REMATERIALIZATION,
    NODE_BARRIER,
    NODE_RECLAMATION
};
#define NODE_KINDS 9

enum edge_type {
    EDGE_DATA_READY,
    EDGE_STORAGE_READY,
    EDGE_ORDERING,
    EDGE_LIFETIME_HOLD,
    EDGE_BARRIER,
    EDGE_CAPACITY_WAIT
};
#define EDGE_TYPES 6

/* What a cost or an object rests on, and, from EVIDENCE_OBSERVED on, what an edge or a link
 * rests on: declared and assumed are on both scales. */
enum evidence_kind {
    EVIDENCE_NONE,
    EVIDENCE_MEASURED,
    EVIDENCE_FITTED,
    EVIDENCE_DATASHEET,
    EVIDENCE_BOUND,
    EVIDENCE_UNKNOWN,
    EVIDENCE_DECLARED,
    EVIDENCE_ASSUMED,
    EVIDENCE_OBSERVED,
    EVIDENCE_ORDERED,
    EVIDENCE_CONTAINED,
    EVIDENCE_INFERRED
};

/* evidence=KIND[:DETAIL] confidence=C, which every statement takes. */
struct graph_evidence {
    enum evidence_kind kind;
    weir_text detail;  /* source, sample count and scope, free text; 0 none */
    double confidence; /* 0 to 1; negative when not given */
};

enum distribution_kind {
    DISTRIBUTION_FIXED,
    DISTRIBUTION_NORMAL,    /* mean, standard deviation */
    DISTRIBUTION_LOGNORMAL, /* mean and standard deviation of the duration itself */
    DISTRIBUTION_GAMMA,     /* mean, standard deviation */
    DISTRIBUTION_UNIFORM,   /* least, greatest */
    DISTRIBUTION_EMPIRICAL, /* any number of observed durations */
    DISTRIBUTION_UNKNOWN    /* refuses to simulate */
};

struct graph_duration {
    enum distribution_kind kind;
    const int64_t *values_ns; /* as listed above; NULL when unknown */
    uint32_t n_values;        /* 1 fixed, 2 for the pairs, 0 unknown */
};

struct graph_access {
    weir_object object;
    weir_domain domain; /* of reads=O@D; none: where the node works */
};

struct graph_charge {
    int64_t bytes;
    weir_domain domain; /* none: where the node works */
};

struct graph_demand {
    weir_resource resource;
    int64_t rate_per_s;
};

enum fallback_kind { FALLBACK_NONE, FALLBACK_NODE, FALLBACK_WAIT, FALLBACK_FAIL };
enum purity { PURITY_UNSAID, PURITY_PURE, PURITY_IMPURE };

struct graph_node {
    weir_text name;
    enum node_kind kind;
    weir_engine engine;
    bool has_duration;
    struct graph_duration duration; /* when has_duration */
    int64_t bytes;                  /* -1 when not given */
    const struct graph_access *reads;
    const weir_object *writes;
    const struct graph_charge *workspace;
    const struct graph_demand *uses;
    uint32_t n_reads, n_writes, n_workspace, n_uses;
    weir_object object;
    weir_domain from, to, domain;
    struct graph_charge staging; /* bytes -1 when not given */
    weir_class class_given;      /* none: the engine's name; see graph_node_class */
    int64_t priority;
    int64_t release_ns;
    int64_t deadline_ns; /* -1 when not given */
    weir_guard guard;
    enum purity purity;
    bool is_speculative;
    weir_text group;
    enum fallback_kind fallback;
    weir_node fallback_node; /* when FALLBACK_NODE */
    weir_text origin;
    struct graph_evidence evidence;
};

struct graph_edge {
    weir_node producer, consumer;
    enum edge_type type;
    bool is_from_start; /* the lag counts from the producer's start */
    weir_object object;
    int64_t lag_ns;
    struct graph_evidence evidence;
};

/* The same, without what few ask for. */
struct graph_arc {
    weir_node producer, consumer;
    int64_t lag_ns;
    enum edge_type type;
    bool is_from_start;
};

struct graph_object {
    weir_text name;
    int64_t size_bytes;
    weir_domain domain;  /* none: the first declared; see graph_object_home */
    int64_t align_bytes; /* 0 when not given */
    const weir_domain *placements;
    uint32_t n_placements;
    weir_object alias_of;
    int64_t alias_offset_bytes;
    bool is_initial, is_retained, is_offloadable;
    int64_t ready_ns;
    weir_node recompute;
    int64_t planned_offset_bytes; /* of offset=N@D; -1 when not given */
    weir_domain planned_domain;
    weir_text origin;
    struct graph_evidence evidence;
};

struct graph_domain {
    weir_text name;
    int64_t capacity_bytes;
    int64_t reserve_bytes;
    int64_t granule_bytes; /* 0 when not given */
    struct graph_evidence evidence;
};

struct graph_engine {
    weir_text name;
    weir_class class_; /* of the engine's name */
    int64_t slots;
    weir_domain domain, from, to;
    int64_t bandwidth_bytes_per_s; /* 0 when not given */
    int64_t latency_ns;
    int64_t flops_per_s; /* 0 when not given */
    struct graph_evidence evidence;
};

struct graph_resource {
    weir_text name;
    int64_t capacity_per_s;
    struct graph_evidence evidence;
};

struct graph_kappa {
    weir_class slowed, beside; /* slowed runs factor times longer while a node of beside runs */
    double factor;
    struct graph_evidence evidence;
};

enum overlap_rule { OVERLAP_ALLOWED, OVERLAP_FORBIDDEN, OVERLAP_UNKNOWN };

struct graph_overlap {
    weir_text a, b; /* each the name of a node, of a class, or of both */
    enum overlap_rule rule;
    weir_text proof;
    int64_t earliest_ns, latest_ns; /* -1 when not given */
    struct graph_evidence evidence;
};

struct graph_param {
    weir_text family, name;
    double value;
    struct graph_evidence evidence;
};

struct graph_guard {
    weir_text name;
    bool is_on;
    struct graph_evidence evidence;
};

/* Each statement without any optional field: begin from these, set the name and what else is known.
 * In all of them ids are none, evidence and confidence not given. */
extern const struct graph_node graph_node_default;
extern const struct graph_edge graph_edge_default;
extern const struct graph_object graph_object_default;
extern const struct graph_domain graph_domain_default;
extern const struct graph_engine graph_engine_default; /* one slot */
extern const struct graph_resource graph_resource_default;
extern const struct graph_kappa graph_kappa_default;
extern const struct graph_overlap graph_overlap_default;
extern const struct graph_param graph_param_default;
extern const struct graph_guard graph_guard_default;

/** An empty graph (scope none, implied all, no name); NULL when memory ran out. */
struct graph *graph_new(void);
void graph_free(struct graph *graph);

/* The `graph` statement. */
weir_text graph_name(const struct graph *graph);
enum graph_scope graph_scope(const struct graph *graph);
bool graph_is_implied(const struct graph *graph); /* implied=all */
struct graph_evidence graph_evidence(const struct graph *graph);
void graph_set_head(struct graph *graph, weir_text name, enum graph_scope scope, bool is_implied,
                    struct graph_evidence evidence);

/* Texts. */
MUST_CHECK enum weir_status graph_intern(struct graph *graph, const char *text, size_t length,
                                         weir_text *out, struct weir_error *err);
/** A text that is no name and hardly occurs twice, as an origin that names a row: two equal ones get
 *  two ids, and none is found by graph_find_text. Saves the search. */
MUST_CHECK enum weir_status graph_add_text(struct graph *graph, const char *text, size_t length,
                                           weir_text *out, struct weir_error *err);
/** As graph_intern, of a NUL-terminated text. */
MUST_CHECK enum weir_status graph_intern_text(struct graph *graph, const char *text, weir_text *out,
                                              struct weir_error *err);
/** @return the text, valid until the next graph_intern; "" for none. */
const char *graph_text(const struct graph *graph, weir_text text);

/* Adding. Each copies the value; names must be set and not yet taken by another of the same sort
 * (asserted: readers find duplicates first with graph_find_*). Ids inside may point forward. */
MUST_CHECK enum weir_status graph_add_node(struct graph *, const struct graph_node *, weir_node *,
                                           struct weir_error *);
MUST_CHECK enum weir_status graph_add_edge(struct graph *, const struct graph_edge *,
                                           struct weir_error *);
MUST_CHECK enum weir_status graph_add_object(struct graph *, const struct graph_object *,
                                             weir_object *, struct weir_error *);
MUST_CHECK enum weir_status graph_add_domain(struct graph *, const struct graph_domain *,
                                             weir_domain *, struct weir_error *);
/* The engine's class is made from its name: value->class_ is ignored. */
MUST_CHECK enum weir_status graph_add_engine(struct graph *, const struct graph_engine *,
                                             weir_engine *, struct weir_error *);
MUST_CHECK enum weir_status graph_add_resource(struct graph *, const struct graph_resource *,
                                               weir_resource *, struct weir_error *);
MUST_CHECK enum weir_status graph_add_guard(struct graph *, const struct graph_guard *,
                                            weir_guard *, struct weir_error *);
MUST_CHECK enum weir_status graph_add_kappa(struct graph *, const struct graph_kappa *,
                                            struct weir_error *);
MUST_CHECK enum weir_status graph_add_overlap(struct graph *, const struct graph_overlap *,
                                              struct weir_error *);
MUST_CHECK enum weir_status graph_add_param(struct graph *, const struct graph_param *,
                                            struct weir_error *);
/** Finds or makes the class of that name. */
MUST_CHECK enum weir_status graph_class_of(struct graph *, weir_text name, weir_class *,
                                           struct weir_error *);

/* Replacing what is there; the name stays. */
MUST_CHECK enum weir_status graph_set_node(struct graph *, weir_node, const struct graph_node *,
                                           struct weir_error *);
MUST_CHECK enum weir_status graph_set_object(struct graph *, weir_object,
                                             const struct graph_object *, struct weir_error *);
MUST_CHECK enum weir_status graph_set_edge(struct graph *, weir_edge, const struct graph_edge *,
                                           struct weir_error *);
void graph_set_domain(struct graph *, weir_domain, const struct graph_domain *);
void graph_set_engine(struct graph *, weir_engine, const struct graph_engine *);
void graph_set_resource(struct graph *, weir_resource, const struct graph_resource *);
void graph_set_guard(struct graph *, weir_guard, const struct graph_guard *);
void graph_set_kappa(struct graph *, uint32_t index, const struct graph_kappa *);
void graph_set_overlap(struct graph *, uint32_t index, const struct graph_overlap *);
void graph_set_param(struct graph *, uint32_t index, const struct graph_param *);

/* Reading. The id must be one of the graph (asserted). */
uint32_t graph_n_nodes(const struct graph *);
uint32_t graph_n_edges(const struct graph *);
uint32_t graph_n_objects(const struct graph *);
uint32_t graph_n_domains(const struct graph *);
uint32_t graph_n_engines(const struct graph *);
uint32_t graph_n_resources(const struct graph *);
uint32_t graph_n_guards(const struct graph *);
uint32_t graph_n_classes(const struct graph *);
uint32_t graph_n_kappas(const struct graph *);
uint32_t graph_n_overlaps(const struct graph *);
uint32_t graph_n_params(const struct graph *);
/** Fills the whole value; lists point into the graph. */
void graph_node(const struct graph *, weir_node, struct graph_node *);
void graph_object(const struct graph *, weir_object, struct graph_object *);
void graph_edge(const struct graph *, weir_edge, struct graph_edge *);
/** What a loop over edges mostly wants of one. */
struct graph_arc graph_arc(const struct graph *, weir_edge);
/** The same of n edges, from the first on. */
void graph_arcs(const struct graph *, weir_edge first, uint32_t n, struct graph_arc *out);
const struct graph_domain *graph_domain(const struct graph *, weir_domain);
const struct graph_engine *graph_engine(const struct graph *, weir_engine);
const struct graph_resource *graph_resource(const struct graph *, weir_resource);
const struct graph_guard *graph_guard(const struct graph *, weir_guard);
const struct graph_kappa *graph_kappa(const struct graph *, uint32_t index);
const struct graph_overlap *graph_overlap(const struct graph *, uint32_t index);
const struct graph_param *graph_param(const struct graph *, uint32_t index);
weir_text graph_class_name(const struct graph *, weir_class);

/* By name; none when there is no such thing. */
weir_node graph_find_node(const struct graph *, weir_text);
weir_object graph_find_object(const struct graph *, weir_text);
weir_domain graph_find_domain(const struct graph *, weir_text);
weir_engine graph_find_engine(const struct graph *, weir_text);
weir_resource graph_find_resource(const struct graph *, weir_text);
weir_guard graph_find_guard(const struct graph *, weir_text);
weir_class graph_find_class(const struct graph *, weir_text);
/** The id of a text that the graph knows already, else 0. */
weir_text graph_find_text(const struct graph *, const char *text);

/* What the defaults of the text form make of a statement, cheap enough for a loop over nodes. */
/** The node will be asked for soon: a loop that goes from node to node in another order than theirs says
 *  so some nodes ahead, and does not wait for memory at each. */
void graph_node_soon(const struct graph *, weir_node);
const char *graph_node_name(const struct graph *, weir_node);
const char *graph_object_name(const struct graph *, weir_object);
enum node_kind graph_node_kind(const struct graph *, weir_node);
weir_engine graph_node_engine(const struct graph *, weir_node);
/** The class given, else that of the engine, else none. */
weir_class graph_node_class(const struct graph *, weir_node);
/* What a loop over nodes mostly asks for where each belongs: as the calls beside say. */
struct graph_node_place {
    weir_engine engine;
    weir_class class_;
    weir_text group;
};
struct graph_node_place graph_node_place(const struct graph *, weir_node);
/** Where the node works: its domain, else its engine's, else the first declared, else none. */
weir_domain graph_node_domain(const struct graph *, weir_node);
/** Where workspace or staging of the node is charged: where it says, else where the node works. */
weir_domain graph_charge_domain(const struct graph *, weir_node, const struct graph_charge *);
/** Where a copy node reads and what it fills: its own, else the engine's, else (from) the home of
 *  its object; none when nothing says. */
weir_domain graph_node_from(const struct graph *, weir_node);
weir_domain graph_node_to(const struct graph *, weir_node);
weir_text graph_node_group(const struct graph *, weir_node);
bool graph_node_is_speculative(const struct graph *, weir_node);
/** False when the node's guard is off. */
bool graph_node_is_on(const struct graph *, weir_node);
weir_domain graph_object_home(const struct graph *, weir_object);
/** The object that owns the bytes: itself, or what its chain of aliases ends in.
 *  @param offset_bytes where the object begins in it; may be NULL */
weir_object graph_object_root(const struct graph *, weir_object, int64_t *offset_bytes);
/** Transfer, prefetch, offload. */
bool graph_kind_is_copy(enum node_kind);

/** The node's length: the mean of its duration, else latency + bytes / bandwidth of its engine
 *  rounded up, else 0 for the kinds that cost nothing by default.
 *  @return false when nothing says, or the duration is unknown, or the result passes 64 bits */
bool graph_node_length_ns(const struct graph *, weir_node, int64_t *length_ns);

/** Bytes held by the graph, for reports on memory. */
size_t graph_memory_bytes(const struct graph *);

/* Names as the text form writes them. */
const char *node_kind_name(enum node_kind);
const char *edge_type_name(enum edge_type);
const char *evidence_name(enum evidence_kind);
const char *graph_scope_name(enum graph_scope);
const char *distribution_name(enum distribution_kind);

#endif
