/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a recording keeps what it was given, and what building knows of it. */
#ifndef WEIR_TRACES_RECORDING_INTERNAL_H
#define WEIR_TRACES_RECORDING_INTERNAL_H

#include "base/names.h"
#include "traces/recording.h"

enum link_flag { LINK_FROM_START = 1, LINK_IS_WITHIN = 2 };

struct link_row {
    uint32_t producer, consumer; /* actions */
    uint8_t rule, flags, alternatives;
};

/* What many actions have in common. */
struct action_form {
    uint32_t class_name, domain, from, to, origin_table, origin_call;
    uint8_t kind, rank, source, flags;
};

/* An action is kept in 56 bytes: there are millions of them, and few forms. */
struct action_row {
    int64_t start_ns, finish_ns;
    int64_t bytes;
    int64_t origin_row;
    uint32_t name, engine;
    uint32_t about; /* with ACTION_IS_PART: the first part; else the object */
    uint32_t form;
    uint32_t origin_range;
    uint32_t n_stalls;
};

/* recording_forms.c: distinct forms, found by hash. */
struct form_table {
    struct action_form *forms;
    uint32_t *slots; /* form + 1; 0 free */
    size_t forms_room, n_slots;
    uint32_t n;
};

MUST_CHECK enum weir_status form_table_find(struct form_table *, const struct action_form *,
                                            uint32_t *id, struct weir_error *);
void form_table_free(struct form_table *);

struct engine_row {
    uint32_t name, domain;
};

struct recording {
    struct names *texts;
    struct action_row *actions;
    struct form_table forms;
    struct link_row *links;
    struct recording_object *objects;
    struct recording_domain *domains;
    struct engine_row *engines;
    uint32_t n_actions, n_objects, n_domains, n_engines;
    size_t n_links;
    size_t actions_room, links_room, objects_room, domains_room, engines_room, held_room;
    int64_t *held_until; /* by action, after recording_settle */
    int64_t n_fits[RECORDING_RULES][RECORDING_FITS];
};

struct rule_facts {
    uint8_t evidence, type, gap;
    bool may_overlap, may_be_late;
    const char *text;
};

extern const struct rule_facts recording_rules[RECORDING_RULES];

/* A link into an action, by positions. */
struct order_link {
    uint32_t producer; /* position */
    uint8_t rule, flags, alternatives;
};

/* The actions in program order (by start, rank and id), their links, and what bound each. What is
 * asked once the actions are nodes is here and in their spans, so that they can be freed by then. */
struct recording_order {
    uint32_t n;
    uint32_t *actions;           /* by position */
    uint32_t *positions;         /* by action */
    uint32_t *first_link;        /* by position, n + 1: into links */
    struct order_link *links;    /* by consumer's position, then producer's; no pair twice */
    uint32_t *binding;           /* by position: the link that held it longest, NO_LINK */
    struct timeline_span *spans; /* by position: the timeline's, times since the first start */
    int64_t origin_ns;           /* that first start */
    int64_t least_lag_ns[RECORDING_RULES]; /* of binding links from a finish; INT64_MAX: none */
};

#define NO_LINK UINT32_MAX

/** Takes the links of the recording. @param spans one an action; they get their times */
MUST_CHECK enum weir_status recording_order_make(struct recording *, struct timeline_span *spans,
                                                 struct recording_order *out, struct weir_error *);
void recording_order_free(struct recording_order *);

/** The lag that a link to the action at @p at gets: what is left of the wait when it is the binding
 *  one, else no more than the least that its rule was ever seen to take. */
int64_t recording_lag_ns(const struct recording_order *, uint32_t at, uint32_t link,
                         bool is_binding);
/** What the lag of a binding link is put down to. */
enum recording_gap recording_gap_of(const struct order_link *, int64_t lag_ns);
void recording_summarize(const struct recording_order *, struct recording_summary *);

/** Adds to the timeline what each domain held and when. @param worst_bytes by domain: the most that
 *  may be held at an instant, when what begins then comes before what ends then */
MUST_CHECK enum weir_status recording_memory(const struct recording *, int64_t origin_ns,
                                             struct timeline *timeline, int64_t *worst_bytes,
                                             struct weir_error *);
/** How many actions of each engine ran at once, 1 at least. @param slots by engine */
MUST_CHECK enum weir_status recording_slots(const struct recording *,
                                            const struct recording_order *, int64_t *slots,
                                            struct weir_error *);

#endif
