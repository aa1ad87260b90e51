/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects that were moved away and back, and a consumer that waited for that: had the two transfers
 * taken no time, and all else been as it was, it would have started sooner. Where a transfer waited for
 * anything itself, its start stays where it was: then only its own length counts. */
#include <stdlib.h>

#include "judge/modes_internal.h"

struct trip {
    uint32_t out, in;
    weir_copy here; /* what the way back fills */
    weir_copy away; /* what lay elsewhere meanwhile */
};

/* The copy that a node touches in that role; none. */
static weir_copy touched(const struct modes *modes, uint32_t node, uint32_t role)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & role) != 0) {
            return touches[i].copy;
        }
    }
    return (weir_copy){WEIR_NONE};
}

static bool is_copy(const struct modes *modes, uint32_t node)
{
    return graph_kind_is_copy(graph_node_kind(modes->graph, (weir_node){node}));
}

/* Is it the way back of what the node `out` moved away? */
static bool is_trip(const struct modes *modes, struct trip *trip)
{
    weir_copy left;

    if (!modes_ran(modes, trip->out) || !is_copy(modes, trip->out)) {
        return false;
    }
    left = touched(modes, trip->out, BIND_READS);
    trip->here = touched(modes, trip->in, BIND_FILLS);
    return weir_is(left) && weir_is(trip->here) &&
           weir_same(bind_copy(modes->binding, left)->domain,
                     bind_copy(modes->binding, trip->here)->domain) &&
           weir_same(bind_copy(modes->binding, left)->object,
                     bind_copy(modes->binding, trip->here)->object);
}

/* When a node of length zero or more, between the transfers, would have finished. */
static int64_t passed_ns(struct modes *modes, uint32_t node, const struct modes_instead *instead,
                         uint32_t n_instead)
{
    const struct timeline_span *span = modes_span(modes, node);
    int64_t ready_ns = modes_ready(modes, node, instead, n_instead);

    return (span->start_ns > span->ready_ns ? span->start_ns : ready_ns) +
           (span->finish_ns - span->start_ns);
}

/* The trip's own nodes, as they would be were its transfers to take no time. */
static uint32_t without_time(struct modes *modes, const struct trip *trip,
                             struct modes_instead instead[4])
{
    weir_copy left = touched(modes, trip->out, BIND_READS);
    weir_node given_back = bind_copy(modes->binding, left)->reclamation;
    weir_node allocated = bind_copy(modes->binding, trip->here)->allocation;
    const struct timeline_span *in = modes_span(modes, trip->in);
    uint32_t n = 0;

    instead[n++] = (struct modes_instead){trip->out, modes_span(modes, trip->out)->start_ns};
    if (weir_is(given_back) && modes_ran(modes, given_back.index)) {
        instead[n] = (struct modes_instead){given_back.index,
                                            passed_ns(modes, given_back.index, instead, n)};
        n++;
    }
    if (weir_is(allocated) && modes_ran(modes, allocated.index)) {
        instead[n] =
            (struct modes_instead){allocated.index, passed_ns(modes, allocated.index, instead, n)};
        n++;
    }
    instead[n] = (struct modes_instead){trip->in, in->start_ns > in->ready_ns
                                                      ? in->start_ns
                                                      : modes_ready(modes, trip->in, instead, n)};
    return n + 1;
}

/* What would be held otherwise: the way back takes its bytes when the consumer starts, and what was left
 * behind has been given back by then, where that waited for the way out alone.
 * @return how many */
static uint32_t bytes_without_time(struct modes *modes, const struct trip *trip,
                                   struct modes_change changes[MODES_MOST_CHANGES])
{
    const struct timeline_span *out = modes_span(modes, trip->out);
    const struct timeline_span *in = modes_span(modes, trip->in);
    weir_copy left = touched(modes, trip->out, BIND_READS);
    const struct bind_copy *copy = bind_copy(modes->binding, left);
    const struct timeline_hold *hold =
        modes_hold_at(modes, copy->object.index, copy->domain.index, out->start_ns);
    uint32_t n, n_changes = 0;
    const uint32_t *acquired = modes_acquired(modes, trip->in, &n);

    for (uint32_t i = 0; i < n && n_changes + 1 < MODES_MOST_CHANGES; i++) {
        const struct timeline_hold *taken = &modes->timeline->holds[acquired[i]];

        changes[n_changes++] =
            (struct modes_change){taken->domain.index, 0, in->start_ns, taken->bytes};
    }
    if (hold != NULL && hold->release_ns >= 0 &&
        (weir_is(copy->reclamation) || hold->release_ns == out->finish_ns)) {
        changes[n_changes++] =
            (struct modes_change){copy->domain.index, 0, hold->release_ns, -hold->bytes};
    }
    return n_changes;
}

/* The consumer that waited longest for the way back. */
static struct modes_case find_user(struct modes *modes, const struct trip *trip)
{
    struct modes_case worst = {0};
    int64_t arrived_ns = modes_span(modes, trip->in)->finish_ns;
    uint32_t n;
    const struct adjacent *after = modes_after(modes, trip->in, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t user = after[i].consumer, n_instead;
        struct modes_change changes[MODES_MOST_CHANGES];
        const struct timeline_span *span = modes_span(modes, user);
        struct modes_instead instead[4];
        int64_t could_ns;

        if (modes->n_steps > MODES_MOST_STEPS || !modes_ran(modes, user) ||
            span->start_ns != span->ready_ns || span->ready_ns < arrived_ns ||
            modes_edge_end(modes, trip->in, after[i].edge) != span->ready_ns ||
            (modes_roles(modes, user, trip->here.index) & BIND_READS) == 0) {
            continue;
        }
        n_instead = without_time(modes, trip, instead);
        could_ns = modes_could_start(modes, user, modes_ready(modes, user, instead, n_instead),
                                     trip->in, changes, bytes_without_time(modes, trip, changes));
        if (span->start_ns - could_ns > worst.cost) {
            worst = (struct modes_case){
                span->start_ns - could_ns,
                {trip->out, trip->in, user, bind_copy(modes->binding, trip->here)->object.index, 0},
                {0}};
        }
    }
    return worst;
}

static void tell(struct modes *modes, const struct modes_case *one)
{
    const char *out = modes_node(modes, one->ids[0]), *in = modes_node(modes, one->ids[1]);
    const char *user = modes_node(modes, one->ids[2]), *object = modes_object(modes, one->ids[3]);
    char cost[NUMBER_TEXT_BYTES];

    number_time_text(one->cost, cost);
    report_add(modes->report, FINDING_EXPOSED_ROUND_TRIP, MODES_NOWHERE,
               "%s waits %s for the round trip of object %s by %s and %s: were these to take no "
               "time, it would start that much sooner",
               user, cost, object, out, in);
    report_name(modes->report, out);
    report_name(modes->report, in);
    report_name(modes->report, user);
    report_name(modes->report, object);
}

/* @param filler by copy: the last node that filled it so far, plus one */
static enum weir_status find_all(struct modes *modes, uint32_t *filler, struct modes_cases *cases)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < modes->timeline->n_nodes && status == WEIR_OK; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){i}, &n);

        if (!graph_node_is_on(modes->graph, (weir_node){i})) {
            continue;
        }
        if (is_copy(modes, i) && modes_ran(modes, i)) {
            struct trip trip = {.in = i, .away = touched(modes, i, BIND_READS)};
            uint32_t by = weir_is(trip.away) ? filler[trip.away.index] : 0;

            trip.out = by > 0 ? by - 1 : 0;
            if (by > 0 && is_trip(modes, &trip)) {
                struct modes_case one = find_user(modes, &trip);

                status = one.cost > 0 ? modes_add(modes, cases, &one) : WEIR_OK;
            }
        }
        for (uint32_t j = 0; j < n; j++) {
            if ((touches[j].roles & BIND_FILLS) != 0) {
                filler[touches[j].copy.index] = i + 1;
            }
        }
    }
    return status;
}

enum weir_status modes_trips(struct modes *modes)
{
    struct modes_cases cases = {NULL, 0, 0};
    uint32_t *filler;
    enum weir_status status;

    if (modes->n_kind[NODE_OFFLOAD] + modes->n_kind[NODE_TRANSFER] == 0 ||
        modes->n_kind[NODE_PREFETCH] + modes->n_kind[NODE_TRANSFER] == 0) {
        return WEIR_OK;
    }
    filler = calloc((size_t)bind_n_copies(modes->binding) + 1, sizeof *filler);
    if (filler == NULL) {
        return weir_error_memory(modes->err);
    }
    status = find_all(modes, filler, &cases);
    free(filler);
    modes_tell(modes, &cases, FINDING_EXPOSED_ROUND_TRIP, modes->least_ns, number_time_text, tell);
    return status;
}
