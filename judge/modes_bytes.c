/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits for bytes, and who held them without need: staging that others still had, copies that were
 * given back long after their last use. */
#include <inttypes.h>
#include <stdlib.h>

#include "judge/modes_internal.h"

/* --- staging --- */

struct staging_wait {
    const struct timeline_wait *wait;
    uint32_t domain, holder; /* that held most */
    int64_t own_bytes;       /* the staging of the one that waits */
    int64_t from_ns;         /* from here on it was staging that was missing, and nothing else */
};

/* Bytes of staging that others hold in the domain at that instant, the one that holds most, and the
 * instant before that at which this last changed. */
static int64_t others_hold(struct modes *modes, const struct staging_wait *of, int64_t at_ns,
                           uint32_t *holder, int64_t *since_ns)
{
    uint32_t n;
    const uint32_t *stagings = modes_stagings(modes, of->domain, &n);
    int64_t bytes = 0, most = 0;

    *since_ns = of->wait->from_ns;
    for (uint32_t i = 0; i < n; i++) {
        const struct timeline_hold *hold = &modes->timeline->holds[stagings[i]];

        if (hold->acquire_ns >= at_ns) {
            break;
        }
        modes->n_steps++;
        if (hold->release_ns >= 0 && hold->release_ns < at_ns) {
            *since_ns = hold->release_ns > *since_ns ? hold->release_ns : *since_ns;
            continue;
        }
        *since_ns = hold->acquire_ns > *since_ns ? hold->acquire_ns : *since_ns;
        bytes += hold->bytes;
        if (hold->bytes > most) {
            most = hold->bytes;
            *holder = hold->node.index;
        }
    }
    return bytes;
}

/* Goes back from the end of the wait, from change to change of the others' staging, as long as theirs
 * and its own are what does not fit. */
static void look_back(struct modes *modes, struct staging_wait *of)
{
    int64_t to_ns = of->wait->to_ns;

    of->from_ns = to_ns;
    while (to_ns > of->wait->from_ns && modes->n_steps < MODES_MOST_STEPS) {
        int64_t since_ns, from_ns;
        uint32_t holder = of->holder;
        int64_t others = others_hold(modes, of, to_ns, &holder, &since_ns);
        struct timeline_wait part = *of->wait;

        part.from_ns = since_ns;
        part.to_ns = to_ns;
        from_ns = modes_room_from(modes, &part, since_ns, of->domain, of->own_bytes);
        if (modes_room_from(modes, &part, since_ns, of->domain, others) > from_ns) {
            from_ns = modes_room_from(modes, &part, since_ns, of->domain, others);
        }
        if (from_ns < to_ns) {
            of->from_ns = from_ns;
            of->holder = of->holder == WEIR_NONE ? holder : of->holder;
        }
        if (from_ns > since_ns) {
            return;
        }
        to_ns = since_ns;
    }
}

static void tell_staging(struct modes *modes, const struct modes_case *one)
{
    const char *node = modes_node(modes, one->ids[0]), *holder = modes_node(modes, one->ids[1]);
    const char *domain = modes_domain(modes, one->ids[2]);
    char cost[NUMBER_TEXT_BYTES];

    number_time_text(one->cost, cost);
    report_add(modes->report, FINDING_STARVED_STAGING, MODES_NOWHERE,
               "%s %s waited %s for staging in %s that %s held",
               node_kind_name(graph_node_kind(modes->graph, (weir_node){one->ids[0]})), node, cost,
               domain, holder);
    report_name(modes->report, node);
    report_name(modes->report, holder);
    report_name(modes->report, domain);
}

enum weir_status modes_staging(struct modes *modes)
{
    const struct timeline *timeline = modes->timeline;
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; modes->waits_for_bytes && i < timeline->n_waits && status == WEIR_OK; i++) {
        struct timeline_wait wait;
        struct staging_wait of = {.wait = &wait, .holder = WEIR_NONE};
        struct graph_node value;

        if (timeline->waits[i].cause != WAIT_CAPACITY) {
            continue;
        }
        graph_node(modes->graph, timeline->waits[i].node, &value);
        if (value.staging.bytes <= 0 || !modes_bytes_wait(modes, i, &wait)) {
            continue;
        }
        of.domain = graph_charge_domain(modes->graph, wait.node, &value.staging).index;
        of.own_bytes = value.staging.bytes;
        look_back(modes, &of);
        if (of.from_ns < wait.to_ns && of.holder != WEIR_NONE) {
            struct modes_case one = {
                wait.to_ns - of.from_ns, {wait.node.index, of.holder, of.domain, 0, 0}, {0}};

            status = modes_add(modes, &cases, &one);
        }
    }
    modes_tell(modes, &cases, FINDING_STARVED_STAGING, modes->least_ns, number_time_text,
               tell_staging);
    return status;
}

/* --- held too long --- */

struct late {
    uint32_t user;        /* the last to finish of those that the reclamation had to wait for */
    uint32_t for_;        /* what it waited for and had not to; none: its engine */
    int64_t could_end_ns; /* then it could have been given back */
};

/* When the reclamation could have given the copy back: when the last of those that touch it had
 * finished. A barrier before it may protect the copy: then it stands. */
static struct late find_late(struct modes *modes, uint32_t reclamation, uint32_t copy)
{
    const struct timeline_span *span = modes_span(modes, reclamation);
    struct late late = {WEIR_NONE, WEIR_NONE, 0};
    int64_t last_ns = -1;
    uint32_t n, cursor = 0;
    weir_node user;
    const struct adjacent *before = modes_before(modes, reclamation, &n);

    modes->n_steps += n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t producer = before[i].consumer;
        int64_t end_ns = modes_edge_end(modes, producer, before[i].edge);
        bool is_needed = modes_roles(modes, producer, copy) != 0 ||
                         graph_node_kind(modes->graph, (weir_node){producer}) == NODE_BARRIER;

        if (is_needed && end_ns >= late.could_end_ns) {
            late.could_end_ns = end_ns;
            late.user = producer;
        }
        if (!is_needed && end_ns > last_ns) {
            last_ns = end_ns;
            late.for_ = producer;
        }
    }
    while (bind_last_use(modes->binding, (weir_copy){copy}, &cursor, &user)) {
        int64_t end_ns = modes_span(modes, user.index)->finish_ns;

        if (user.index != reclamation && end_ns >= late.could_end_ns) {
            late.could_end_ns = end_ns;
            late.user = user.index;
        }
    }
    if (last_ns <= late.could_end_ns || last_ns < span->ready_ns) {
        late.for_ = WEIR_NONE;
    }
    late.could_end_ns += span->finish_ns - span->start_ns;
    return late;
}

static void tell_held(struct modes *modes, const struct modes_case *one)
{
    const char *waiter = modes_node(modes, one->ids[0]), *object = modes_object(modes, one->ids[1]);
    const char *reclamation = modes_node(modes, one->ids[2]);
    const char *user = modes_node(modes, one->ids[3]);
    const char *other = one->ids[4] == WEIR_NONE ? NULL : modes_node(modes, one->ids[4]);
    char cost[NUMBER_TEXT_BYTES], late[NUMBER_TEXT_BYTES];

    number_time_text(one->cost, cost);
    number_time_text(one->times[0], late);
    report_add(
        modes->report, FINDING_HELD_TOO_LONG, MODES_NOWHERE,
        "%s waits %s longer than it had to for the bytes of object %s: %s gives them back %s "
        "after %s, the last that uses them%s%s",
        waiter, cost, object, reclamation, late, user,
        other == NULL ? "" : ", because it waits for ", other == NULL ? "" : other);
    report_name(modes->report, waiter);
    report_name(modes->report, object);
    report_name(modes->report, reclamation);
    report_name(modes->report, user);
    if (other != NULL) {
        report_name(modes->report, other);
    }
}

static enum weir_status look_at(struct modes *modes, const struct timeline_wait *wait,
                                struct modes_cases *cases)
{
    uint32_t reclamation = wait->blocker.index, n;
    const struct bind_touch *touches = bind_touches(modes->binding, wait->blocker, &n);
    int64_t finish_ns = modes_span(modes, reclamation)->finish_ns;

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(modes->binding, touches[i].copy);
        struct late late;
        int64_t from_ns;
        struct modes_case one = {0};

        if ((touches[i].roles & BIND_RECLAIMS) == 0 ||
            modes_need(modes, wait->node.index, copy->domain.index) == 0) {
            continue;
        }
        late = find_late(modes, reclamation, touches[i].copy.index);
        if (late.user == WEIR_NONE || late.could_end_ns >= finish_ns) {
            continue;
        }
        from_ns = modes_room_from(modes, wait, late.could_end_ns, copy->domain.index, copy->bytes);
        one = (struct modes_case){
            wait->to_ns - from_ns,
            {wait->node.index, copy->object.index, reclamation, late.user, late.for_},
            {finish_ns - modes_span(modes, late.user)->finish_ns, 0, 0, 0}};
        return one.cost > 0 ? modes_add(modes, cases, &one) : WEIR_OK;
    }
    return WEIR_OK;
}

enum weir_status modes_held(struct modes *modes)
{
    const struct timeline *timeline = modes->timeline;
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status = WEIR_OK;

    if (!modes->waits_for_bytes || modes->n_kind[NODE_RECLAMATION] == 0) {
        return WEIR_OK;
    }
    for (size_t i = 0; i < timeline->n_waits && status == WEIR_OK; i++) {
        weir_node blocker = timeline->waits[i].blocker;
        struct timeline_wait wait;

        if (timeline->waits[i].cause == WAIT_CAPACITY && modes->n_steps < MODES_MOST_STEPS &&
            weir_is(blocker) && modes_ran(modes, blocker.index) &&
            graph_node_kind(modes->graph, blocker) == NODE_RECLAMATION &&
            modes_bytes_wait(modes, i, &wait)) {
            status = look_at(modes, &wait, &cases);
        }
    }
    modes_tell(modes, &cases, FINDING_HELD_TOO_LONG, modes->least_ns, number_time_text, tell_held);
    return status;
}
