/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording: the actions that a profile saw, with their times, and what is known of why each one
 * came after others. It becomes a graph and the timeline of that graph.
 *
 * The graph gives the recording back: of the links into an action, the one that held it longest
 * gets the rest of its wait as a lag, with the cause in its evidence; an action without links is
 * released at its time. So a simulation with these durations and without contention starts every
 * action when it was seen to start. A link that the times contradict is counted and never used.
 *
 * Importers fill it; it knows no format. Ids are dense, in the order of adding. */
#ifndef WEIR_TRACES_RECORDING_H
#define WEIR_TRACES_RECORDING_H

#include "graph/timeline.h"

struct recording;

#define RECORDING_NONE UINT32_MAX

/* Why one action comes after another: traces/recording_rules.def. */
enum recording_rule {
#define RULE(code, evidence, type, gap, overlap, late, text) RULE_##code,
#include "traces/recording_rules.def"
#undef RULE
    RECORDING_RULES
};

/* What a lag is put down to. */
enum recording_gap {
    GAP_NONE,
    GAP_LAUNCH,      /* the host was late: launch-bound */
    GAP_DEVICE,      /* between two actions on the device, as short as these always are */
    GAP_HOST,        /* between two calls of a thread: the program's own time */
    GAP_INSIDE,      /* how far into a call or a kernel something happened */
    GAP_UNEXPLAINED, /* longer than any of these: something that was not recorded */
    RECORDING_GAPS
};

/* A link and the times. */
enum recording_fit {
    FIT_AFTER,        /* the consumer started when the producer had finished */
    FIT_OVERLAP,      /* before that, but not before the producer started */
    FIT_CONTRADICTED, /* the times say no: no link was made */
    RECORDING_FITS
};

enum recording_flag {
    ACTION_IS_COLLECTIVE = 1, /* waits for other processes are inside its duration */
    ACTION_IS_PART = 2        /* a later part of the call `lead` */
};

/* What was seen. Texts are ids of recording_text; 0 is none. */
struct recording_action {
    int64_t start_ns, finish_ns; /* by the profile's clock; finish not before start */
    int64_t bytes;               /* moved or set; -1: does not apply, or not recorded */
    int64_t origin_row;          /* in the table; -1 unknown */
    uint32_t name;               /* before repeats are numbered */
    uint32_t lead;   /* with ACTION_IS_PART: the first part, whose number this one shares */
    uint32_t engine; /* RECORDING_NONE: none */
    uint32_t object; /* of an allocation or reclamation; else RECORDING_NONE */
    uint32_t class_name;
    uint32_t domain, from, to;                        /* RECORDING_NONE: not said */
    uint32_t origin_table, origin_call, origin_range; /* where a person finds it again */
    uint32_t n_stalls; /* page migrations that its duration contains */
    uint8_t kind;      /* enum node_kind */
    uint8_t rank;      /* of actions that start together, lower ranks come first */
    uint8_t source;    /* enum time_source */
    uint8_t flags;     /* enum recording_flag, or'ed */
};

struct recording_object {
    int64_t bytes;
    uint32_t name; /* numbered always: name#1, name#2 ... unless is_named */
    uint32_t domain;
    uint32_t origin;                  /* text */
    uint32_t detail;                  /* text: what its evidence rests on */
    uint32_t allocation, reclamation; /* actions, RECORDING_NONE when there is none; set when the
                                         action is added */
    uint8_t evidence;                 /* enum evidence_kind */
    bool is_initial, is_retained;
};

struct recording_domain {
    uint32_t name;
    int64_t capacity_bytes; /* 0: not recorded; what was held at most, rounded up, is assumed */
    uint32_t detail;        /* text: where the capacity comes from */
};

/* What building found. Chain: walked back from the last finish through what held each start. */
struct recording_summary {
    int64_t origin_ns;   /* the first start: 0 in the graph */
    int64_t makespan_ns; /* chain_busy + chain_release + all of chain_gap */
    int64_t chain_busy_ns;
    int64_t
        chain_release_ns; /* the first of the chain has no link: nothing says why it began then */
    int64_t chain_gap_ns[RECORDING_GAPS];
    int64_t gap_ns[RECORDING_GAPS], n_gaps[RECORDING_GAPS]; /* over all actions */
    int64_t n_released;                                     /* actions without a link */
};

/** NULL when memory ran out. */
struct recording *recording_new(void);
void recording_free(struct recording *);

/** Keeps a text from outside: control characters become blanks or '?', bytes that are no UTF-8
 *  become '?', and it ends at 160 bytes at most. *id is never 0. */
MUST_CHECK enum weir_status recording_text(struct recording *, const char *text, size_t length,
                                           uint32_t *id, struct weir_error *);
/** The same of a text of ours. */
MUST_CHECK enum weir_status recording_word(struct recording *, const char *text, uint32_t *id,
                                           struct weir_error *);
/** "" for 0; valid until the next text. */
const char *recording_text_of(const struct recording *, uint32_t id);
uint32_t recording_n_texts(const struct recording *);

/* Domains and engines with the name of an earlier one get a number: name#2. */
MUST_CHECK enum weir_status recording_add_domain(struct recording *,
                                                 const struct recording_domain *, uint32_t *id,
                                                 struct weir_error *);
MUST_CHECK enum weir_status recording_add_engine(struct recording *, uint32_t name, uint32_t domain,
                                                 uint32_t *id, struct weir_error *);
MUST_CHECK enum weir_status recording_add_object(struct recording *,
                                                 const struct recording_object *, uint32_t *id,
                                                 struct weir_error *);
/** Adds an action; the object of an allocation or reclamation learns of it. */
MUST_CHECK enum weir_status recording_add_action(struct recording *,
                                                 const struct recording_action *, uint32_t *id,
                                                 struct weir_error *);
uint32_t recording_object_domain(const struct recording *, uint32_t object);
/** Room for that many actions and links in all, so that none is grown into. */
MUST_CHECK enum weir_status recording_reserve(struct recording *, size_t n_actions, size_t n_links,
                                              struct weir_error *);
uint32_t recording_n_actions(const struct recording *);
int64_t recording_start_ns(const struct recording *, uint32_t action);
int64_t recording_finish_ns(const struct recording *, uint32_t action);
/** One more page migration lies within the action. */
void recording_add_stall(struct recording *, uint32_t action);

/* How far a consumer may have started before its producer finished, by two clocks that agree. */
#define RECORDING_TOLERANCE_NS 1000
/* Gaps longer than this have no cause that was recorded. The greatest seen between two queued
 * actions on eight devices is 12 us, from a launch to a start on an idle stream 3.3 us. */
#define RECORDING_GAP_NS 20000

struct recording_link {
    uint32_t producer, consumer; /* actions */
    enum recording_rule rule;
    bool is_within;       /* the consumer started while the call of the producer ran */
    uint8_t alternatives; /* of an inferred link: how many producers would have done; 0 unsaid */
};

/** Links two actions if the times allow it, and counts how they fit. */
MUST_CHECK enum weir_status recording_link(struct recording *, const struct recording_link *,
                                           enum recording_fit *fit, struct weir_error *);
/** How many links of the rule fitted so. */
int64_t recording_n_links(const struct recording *, enum recording_rule, enum recording_fit);
/** The time that held the action longest among its links so far; INT64_MIN when it has none. Known
 *  after recording_settle, until an action or link is added. */
int64_t recording_held_until(const struct recording *, uint32_t action);
/** Sorts what there is, so that recording_held_until can be asked. */
MUST_CHECK enum weir_status recording_settle(struct recording *, struct weir_error *);

struct recording_head {
    const char *graph_name;
    const char *cost_detail; /* what measured durations rest on: source, samples */
};

/** Makes the graph and its timeline. The actions and links of the recording are freed as soon as
 *  they are nodes and edges: after that only texts and counts can be asked.
 *  @return WEIR_OK; WEIR_INPUT without an action or with too many; WEIR_MEMORY */
MUST_CHECK enum weir_status recording_build(struct recording *, const struct recording_head *,
                                            struct graph **graph, struct timeline **timeline,
                                            struct recording_summary *summary, struct weir_error *);

const char *recording_gap_name(enum recording_gap);
const char *recording_rule_text(enum recording_rule);

#endif
