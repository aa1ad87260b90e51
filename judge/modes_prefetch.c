/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prefetches that came too early: started later, as late as everybody who waits for them allows, they
 * would have been in time all the same, and the peak would be lower, or who waited for bytes would have
 * had them sooner.
 *
 * A prefetch is moved only where nothing else would move with it: nobody waits for its engine
 * meanwhile, nothing runs there when it would run, no consumer becomes ready later, and what it reads
 * may be held that much longer. */
#include <stdlib.h>

#include "judge/modes_internal.h"

#define MOST_MOVABLE 256 /* prefetches that are set against waits for bytes: the largest */
#define MOST_WAITS 4096  /* that they are set against: the longest */

/* What is known of a prefetch that could start later. */
struct movable {
    uint32_t node, copy, object, domain;
    uint32_t user;             /* the first that reads what it fills */
    int64_t bytes;             /* of the copy */
    int64_t start_ns, late_ns; /* as it was, and as late as it may */
};

/* The copy that the node fills and that its start began. */
static const struct timeline_hold *filled(struct modes *modes, uint32_t node, uint32_t *copy)
{
    uint32_t n, n_holds;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);
    const uint32_t *acquired = modes_acquired(modes, node, &n_holds);

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *of = bind_copy(modes->binding, touches[i].copy);

        for (uint32_t j = 0; (touches[i].roles & BIND_FILLS) != 0 && j < n_holds; j++) {
            const struct timeline_hold *hold = &modes->timeline->holds[acquired[j]];

            if (weir_is(hold->object) && weir_same(hold->object, of->object) &&
                weir_same(hold->domain, of->domain)) {
                *copy = touches[i].copy.index;
                return hold;
            }
        }
    }
    return NULL;
}

/* The latest start that its consumers allow; the first user of what it fills. */
static int64_t consumers_allow(struct modes *modes, struct movable *one)
{
    const struct timeline_span *span = modes_span(modes, one->node);
    int64_t length_ns = span->finish_ns - span->start_ns;
    int64_t late_ns = modes->timeline->makespan_ns - length_ns;
    uint32_t n;
    const struct adjacent *after = modes_after(modes, one->node, &n);

    one->user = WEIR_NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct analyze_link link = analyze_link(modes->graph, after[i].edge);
        const struct timeline_span *consumer = modes_span(modes, after[i].consumer);
        int64_t allowed_ns =
            consumer->ready_ns - link.lag_ns - (link.is_from_start ? 0 : length_ns);

        late_ns = allowed_ns < late_ns ? allowed_ns : late_ns;
        if (modes_ran(modes, after[i].consumer) &&
            (modes_roles(modes, after[i].consumer, one->copy) & BIND_READS) != 0 &&
            (one->user == WEIR_NONE ||
             consumer->start_ns < modes_span(modes, one->user)->start_ns)) {
            one->user = after[i].consumer;
        }
    }
    return late_ns;
}

/* The latest start for which its engine has room and nobody would start otherwise. */
static int64_t engine_allows(struct modes *modes, uint32_t node, int64_t late_ns)
{
    const struct timeline_span *span = modes_span(modes, node), *next;
    int64_t length_ns = span->finish_ns - span->start_ns;
    weir_engine engine = graph_node_engine(modes->graph, (weir_node){node});
    uint32_t n, position;
    const uint32_t *nodes;

    if (!weir_is(engine)) {
        return late_ns;
    }
    if (graph_engine(modes->graph, engine)->slots > 1) {
        return modes_was_full(modes, engine.index, span->start_ns, late_ns + length_ns)
                   ? span->start_ns
                   : late_ns;
    }
    nodes = modes_on_engine(modes, engine.index, &n);
    position = modes_position(modes, node);
    if (nodes == NULL || position + 1 >= n) {
        return late_ns;
    }
    next = modes_span(modes, nodes[position + 1]);
    if (next->start_ns > next->ready_ns) {
        return span->start_ns; /* it waits, and would go first */
    }
    return next->start_ns - length_ns < late_ns ? next->start_ns - length_ns : late_ns;
}

/* What the prefetch reads is held until it has finished: is there room for that, later? */
static bool sources_allow(struct modes *modes, const struct movable *one)
{
    const struct timeline_span *span = modes_span(modes, one->node);
    int64_t end_ns = one->late_ns + (span->finish_ns - span->start_ns);
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){one->node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(modes->binding, touches[i].copy);
        uint32_t domain = copy->domain.index;
        const struct timeline_hold *hold;

        if (touches[i].copy.index == one->copy || copy->stays || copy->bytes == 0) {
            continue;
        }
        hold = modes_hold_at(modes, copy->object.index, domain, span->start_ns);
        if (hold != NULL && hold->release_ns >= 0 && hold->release_ns < end_ns &&
            (modes_most_held(modes, domain, hold->release_ns, end_ns) + copy->bytes >
                 modes->timeline->peak_bytes[domain] ||
             modes_is_awaited(modes, domain, hold->release_ns, end_ns))) {
            return false;
        }
    }
    return true;
}

/* Does it neither slow others nor others it, whenever it runs? */
static bool is_apart(const struct modes *modes, uint32_t node)
{
    const char *family = modes->settings->contention;
    weir_class class_ = graph_node_class(modes->graph, (weir_node){node});
    struct graph_node value;

    if (family != NULL && family[0] == 'n') {
        return true; /* none */
    }
    if (family == NULL || (family[0] != 'p' && family[0] != 's')) {
        return false; /* neither pairwise nor share: nobody knows here */
    }
    if (family != NULL && family[0] == 'm') {
        return false; /* measured: by its class or its demands */
    }
    for (uint32_t i = 0; i < graph_n_kappas(modes->graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(modes->graph, i);

        if (weir_is(class_) &&
            (weir_same(kappa->slowed, class_) || weir_same(kappa->beside, class_)) &&
            (kappa->factor < 1 || kappa->factor > 1)) {
            return false;
        }
    }
    graph_node(modes->graph, (weir_node){node}, &value);
    return value.n_uses == 0 || family[0] == 'p';
}

/* @return false when it cannot start later, or nobody reads what it fills */
static bool find_movable(struct modes *modes, uint32_t node, struct movable *one)
{
    const struct timeline_span *span = modes_span(modes, node);
    const struct timeline_hold *hold = filled(modes, node, &one->copy);
    struct graph_node value;
    int64_t late_ns;

    if (hold == NULL) {
        return false;
    }
    one->node = node;
    one->object = hold->object.index;
    one->domain = hold->domain.index;
    one->bytes = hold->bytes;
    one->start_ns = span->start_ns;
    late_ns = engine_allows(modes, node, consumers_allow(modes, one));
    graph_node(modes->graph, (weir_node){node}, &value);
    if (value.deadline_ns >= 0 &&
        value.deadline_ns - (span->finish_ns - span->start_ns) < late_ns) {
        late_ns = value.deadline_ns - (span->finish_ns - span->start_ns);
    }
    one->late_ns = late_ns;
    return one->user != WEIR_NONE && late_ns > span->start_ns && modes_may_move(modes, node) &&
           is_apart(modes, node) && sources_allow(modes, one);
}

/* --- the peak --- */

static void tell_peak(struct modes *modes, const struct modes_case *one)
{
    const char *prefetch = modes_node(modes, one->ids[0]), *user = modes_node(modes, one->ids[1]);
    const char *object = modes_object(modes, one->ids[2]);
    const char *domain = modes_domain(modes, one->ids[3]);
    char at[NUMBER_TEXT_BYTES], read_at[NUMBER_TEXT_BYTES], later[NUMBER_TEXT_BYTES];
    char peak[NUMBER_TEXT_BYTES], would_be[NUMBER_TEXT_BYTES];

    number_time_text(one->times[0], at);
    number_time_text(modes_span(modes, one->ids[1])->start_ns, read_at);
    number_time_text(one->times[1] - one->times[0], later);
    number_size_text(modes->timeline->peak_bytes[one->ids[3]], peak);
    number_size_text(modes->timeline->peak_bytes[one->ids[3]] - one->cost, would_be);
    report_add(modes->report, FINDING_PREMATURE_PREFETCH, MODES_NOWHERE,
               "prefetch %s fills object %s in %s at %s and %s reads it at %s: started up to %s "
               "later it would be there in time, and the peak of %s would be %s instead of %s",
               prefetch, object, domain, at, user, read_at, later, domain, would_be, peak);
    report_name(modes->report, prefetch);
    report_name(modes->report, user);
    report_name(modes->report, object);
}

/* When each domain first held its peak, and up to when it last did. */
struct peaks {
    int64_t *first_ns, *last_ns;
};

static enum weir_status find_peak(struct modes *modes, const struct peaks *peaks,
                                  const struct movable *one, struct modes_cases *cases)
{
    uint32_t domain = one->domain;
    int64_t peak = modes->timeline->peak_bytes[domain], would_be;
    struct modes_case found = {0};

    if (one->late_ns < peaks->last_ns[domain] || one->start_ns > peaks->first_ns[domain] ||
        modes_is_awaited(modes, domain, one->start_ns, one->late_ns)) {
        return WEIR_OK;
    }
    would_be = modes_most_held(modes, domain, 0, one->start_ns);
    if (modes_most_held(modes, domain, one->late_ns, INT64_MAX) > would_be) {
        would_be = modes_most_held(modes, domain, one->late_ns, INT64_MAX);
    }
    if (modes_most_held(modes, domain, one->start_ns, one->late_ns) - one->bytes > would_be) {
        would_be = modes_most_held(modes, domain, one->start_ns, one->late_ns) - one->bytes;
    }
    found.cost = peak - would_be;
    found.ids[0] = one->node;
    found.ids[1] = one->user;
    found.ids[2] = one->object;
    found.ids[3] = domain;
    found.times[0] = one->start_ns;
    found.times[1] = one->late_ns;
    return (double)found.cost < modes->settings->least_ratio * (double)peak || found.cost <= 0
               ? WEIR_OK
               : modes_add(modes, cases, &found);
}

static enum weir_status find_peaks(struct modes *modes, const struct peaks *peaks)
{
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status = WEIR_OK;

    for (uint32_t d = 0; d < modes->timeline->n_domains; d++) {
        modes_peak(modes, d, &peaks->first_ns[d], &peaks->last_ns[d]);
    }
    for (uint32_t i = 0; i < modes->timeline->n_nodes && status == WEIR_OK; i++) {
        const struct timeline_hold *hold;
        struct movable one;

        if (!modes_ran(modes, i) ||
            graph_node_kind(modes->graph, (weir_node){i}) != NODE_PREFETCH) {
            continue;
        }
        hold = filled(modes, i, &one.copy); /* was it there whenever the domain held its peak? */
        if (hold != NULL && hold->acquire_ns <= peaks->first_ns[hold->domain.index] &&
            (hold->release_ns < 0 || hold->release_ns >= peaks->last_ns[hold->domain.index]) &&
            find_movable(modes, i, &one)) {
            status = find_peak(modes, peaks, &one, &cases);
        }
    }
    modes_tell(modes, &cases, FINDING_PREMATURE_PREFETCH, 1, number_size_text, tell_peak);
    return status;
}

/* --- who waited --- */

static void tell_wait(struct modes *modes, const struct modes_case *one)
{
    const char *prefetch = modes_node(modes, one->ids[0]), *user = modes_node(modes, one->ids[1]);
    const char *object = modes_object(modes, one->ids[2]), *waiter = modes_node(modes, one->ids[4]);
    const char *domain = modes_domain(modes, one->ids[3]);
    char at[NUMBER_TEXT_BYTES], read_at[NUMBER_TEXT_BYTES], later[NUMBER_TEXT_BYTES];
    char wait[NUMBER_TEXT_BYTES], sooner[NUMBER_TEXT_BYTES];

    number_time_text(one->times[0], at);
    number_time_text(modes_span(modes, one->ids[1])->start_ns, read_at);
    number_time_text(one->times[1] - one->times[0], later);
    number_time_text(one->times[2], wait);
    number_time_text(one->cost, sooner);
    report_add(
        modes->report, FINDING_PREMATURE_PREFETCH, MODES_NOWHERE,
        "prefetch %s fills object %s in %s at %s and %s reads it at %s: started up to %s "
        "later it would be there in time, and %s, which waits %s for bytes of %s, would have "
        "them %s sooner",
        prefetch, object, domain, at, user, read_at, later, waiter, wait, domain, sooner);
    report_name(modes->report, prefetch);
    report_name(modes->report, user);
    report_name(modes->report, object);
    report_name(modes->report, waiter);
}

static enum weir_status find_waits(struct modes *modes, const struct movable *movable, uint32_t n,
                                   const struct timeline_wait *wait, struct modes_cases *cases)
{
    struct modes_case best = {0};

    for (uint32_t i = 0; i < n; i++) {
        const struct movable *one = &movable[i];
        int64_t from_ns;

        if (one->late_ns < wait->to_ns || one->start_ns >= wait->to_ns ||
            wait->node.index == one->user ||
            modes_need(modes, wait->node.index, one->domain) == 0) {
            continue;
        }
        from_ns = modes_room_from(modes, wait, one->start_ns, one->domain, one->bytes);
        if (wait->to_ns - from_ns > best.cost) {
            best = (struct modes_case){
                wait->to_ns - from_ns,
                {one->node, one->user, one->object, one->domain, wait->node.index},
                {one->start_ns, one->late_ns, wait->to_ns - wait->from_ns, 0}};
        }
    }
    return best.cost > 0 ? modes_add(modes, cases, &best) : WEIR_OK;
}

static int by_bytes(const void *left, const void *right)
{
    const struct movable *a = left, *b = right;

    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static enum weir_status list_movable(struct modes *modes, struct movable **out, uint32_t *n)
{
    struct movable *list = malloc(((size_t)modes->n_kind[NODE_PREFETCH] + 1) * sizeof *list);

    *out = list;
    *n = 0;
    if (list == NULL) {
        return weir_error_memory(modes->err);
    }
    for (uint32_t i = 0; i < modes->timeline->n_nodes; i++) {
        if (modes_ran(modes, i) && graph_node_kind(modes->graph, (weir_node){i}) == NODE_PREFETCH &&
            find_movable(modes, i, &list[*n])) {
            ++*n;
        }
    }
    qsort(list, *n, sizeof *list, by_bytes);
    *n = *n < MOST_MOVABLE ? *n : MOST_MOVABLE;
    return WEIR_OK;
}

static enum weir_status find_waiters(struct modes *modes)
{
    const struct timeline *timeline = modes->timeline;
    struct modes_cases cases = {NULL, 0, 0};
    struct movable *movable;
    uint32_t n, n_waits = 0;
    enum weir_status status = list_movable(modes, &movable, &n);

    for (size_t i = 0; i < timeline->n_waits && n > 0 && n_waits < MOST_WAITS && status == WEIR_OK;
         i++) {
        struct timeline_wait wait;

        if (timeline->waits[i].cause == WAIT_CAPACITY && modes_bytes_wait(modes, i, &wait)) {
            n_waits++;
            status = find_waits(modes, movable, n, &wait, &cases);
        }
    }
    free(movable);
    modes_tell(modes, &cases, FINDING_PREMATURE_PREFETCH, modes->least_ns, number_time_text,
               tell_wait);
    return status;
}

enum weir_status modes_prefetch(struct modes *modes)
{
    size_t n_domains = modes->timeline->n_domains;
    struct peaks peaks = {NULL, NULL};
    enum weir_status status;

    if (modes->n_kind[NODE_PREFETCH] == 0) {
        return WEIR_OK;
    }
    peaks.first_ns = calloc(n_domains + 1, sizeof *peaks.first_ns);
    peaks.last_ns = calloc(n_domains + 1, sizeof *peaks.last_ns);
    status = peaks.first_ns == NULL || peaks.last_ns == NULL ? weir_error_memory(modes->err)
                                                             : find_peaks(modes, &peaks);
    free(peaks.first_ns);
    free(peaks.last_ns);
    return status == WEIR_OK && modes->waits_for_bytes ? find_waiters(modes) : status;
}
