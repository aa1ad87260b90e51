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

struct engine_row {
    uint32_t name, domain;
};

struct recording {
    struct names *texts;
    struct recording_action *actions;
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

/* The actions in program order (by start, rank and id), their links, and what bound each. */
struct recording_order {
    uint32_t n;
    uint32_t *actions;      /* by position */
    uint32_t *positions;    /* by action */
    size_t *first_link;     /* by position, n + 1: into links */
    struct link_row *links; /* by consumer's position, then producer's; no pair twice */
    size_t *binding;        /* by position: the link that held it longest, NO_LINK */
    int64_t least_lag_ns[RECORDING_RULES]; /* of binding links from a finish; INT64_MAX: none */
};

#define NO_LINK SIZE_MAX

MUST_CHECK enum weir_status recording_order_make(struct recording *, struct recording_order *out,
                                                 struct weir_error *);
void recording_order_free(struct recording_order *);

/** When the link lets its consumer go, without a lag. */
static inline int64_t recording_link_ns(const struct recording *recording,
                                        const struct link_row *link)
{
    const struct recording_action *producer = &recording->actions[link->producer];

    return (link->flags & LINK_FROM_START) != 0 ? producer->start_ns : producer->finish_ns;
}

/** The lag that the link gets: what is left of the wait when it is the binding one, else no more
 *  than the least that its rule was ever seen to take. */
int64_t recording_lag_ns(const struct recording *, const struct recording_order *, size_t link,
                         bool is_binding);
/** What the lag of a binding link is put down to. */
enum recording_gap recording_gap_of(const struct link_row *, int64_t lag_ns);
void recording_summarize(const struct recording *, const struct recording_order *,
                         struct recording_summary *);

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
