/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recomputations that a consumer waited for although the bytes were nearer: in another domain, a
 * transfer away over an engine that had time for it; else where they lay before they were given back,
 * with room to keep them. Program order tells which copies still hold what is recomputed. */
#include <stdlib.h>

#include "base/number.h"
#include "judge/modes_internal.h"

#define NS_PER_S 1000000000

/* What program order makes of contents, up to the node at hand. A copy is current when it holds what
 * its object holds last: then its version is that of the object. 0: it holds nothing. */
struct contents {
    struct modes *modes;
    uint32_t *object_version; /* by object: of the root */
    uint32_t *copy_version;   /* by copy */
    uint32_t *filler;         /* by copy: the node that filled it last, plus one; 0: none has */
    bool *is_gone;            /* by copy: given back */
    uint32_t *first_of;       /* by object: its first copy, plus one; 0: none */
    uint32_t *next_of;        /* by copy: the next of the same object, likewise */
};

/* How else the bytes could have come. */
struct other_way {
    int64_t could_ns; /* then the consumer could have started */
    uint32_t domain;  /* where they lie; none: they were kept */
    int64_t away_ns;  /* so long does the transfer take */
    uint32_t given_back_by;
};

static enum weir_status begin(struct contents *contents)
{
    const struct binding *binding = contents->modes->binding;
    size_t n_objects = (size_t)graph_n_objects(contents->modes->graph) + 1;
    uint32_t n_copies = bind_n_copies(binding);

    contents->object_version = calloc(n_objects, sizeof *contents->object_version);
    contents->copy_version = calloc((size_t)n_copies + 1, sizeof *contents->copy_version);
    contents->filler = calloc((size_t)n_copies + 1, sizeof *contents->filler);
    contents->is_gone = calloc((size_t)n_copies + 1, sizeof *contents->is_gone);
    contents->first_of = calloc(n_objects, sizeof *contents->first_of);
    contents->next_of = calloc((size_t)n_copies + 1, sizeof *contents->next_of);
    if (contents->object_version == NULL || contents->copy_version == NULL ||
        contents->filler == NULL || contents->is_gone == NULL || contents->first_of == NULL ||
        contents->next_of == NULL) {
        return weir_error_memory(contents->modes->err);
    }
    for (uint32_t i = n_copies; i-- > 0;) { /* so that lists are in the order of copies */
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});

        contents->next_of[i] = contents->first_of[copy->object.index];
        contents->first_of[copy->object.index] = i + 1;
        if (copy->is_initial) {
            contents->copy_version[i] = 1;
            contents->object_version[copy->object.index] = 1;
        }
    }
    return WEIR_OK;
}

static void end(struct contents *contents)
{
    free(contents->object_version);
    free(contents->copy_version);
    free(contents->filler);
    free(contents->is_gone);
    free(contents->first_of);
    free(contents->next_of);
}

/* Does the node write all of the object, and not only a view of it? */
static bool writes_whole(const struct contents *contents, uint32_t node, weir_object root)
{
    struct graph_node value;

    graph_node(contents->modes->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_writes; i++) {
        if (weir_same(value.writes[i], root)) {
            return true;
        }
    }
    return false;
}

/* The version that a copy node brings: that of the copy of the same object which it reads. */
static uint32_t version_brought(const struct contents *contents, const struct bind_touch *touches,
                                uint32_t n, weir_object object)
{
    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_READS) != 0 &&
            weir_same(bind_copy(contents->modes->binding, touches[i].copy)->object, object)) {
            return contents->copy_version[touches[i].copy.index];
        }
    }
    return 0;
}

static void fill(struct contents *contents, uint32_t node, const struct bind_touch *touches,
                 uint32_t n, uint32_t copy)
{
    weir_object object = bind_copy(contents->modes->binding, (weir_copy){copy})->object;
    uint32_t *version = &contents->object_version[object.index];

    contents->filler[copy] = node + 1;
    if (graph_kind_is_copy(graph_node_kind(contents->modes->graph, (weir_node){node}))) {
        struct graph_node value;

        graph_node(contents->modes->graph, (weir_node){node}, &value);
        contents->copy_version[copy] =
            weir_same(value.object, object) ? version_brought(contents, touches, n, object) : 0;
    } else if (writes_whole(contents, node, object) ||
               (*version > 0 && contents->copy_version[copy] == *version)) {
        contents->copy_version[copy] = ++*version;
    } else {
        ++*version; /* a part of it, in a copy that was not current, or not whole: no copy is */
        contents->copy_version[copy] = 0;
    }
}

static void pass(struct contents *contents, uint32_t node)
{
    uint32_t n;
    const struct bind_touch *touches =
        bind_touches(contents->modes->binding, (weir_node){node}, &n);

    if (!graph_node_is_on(contents->modes->graph, (weir_node){node})) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0) {
            fill(contents, node, touches, n, touches[i].copy.index);
        }
        if ((touches[i].roles & BIND_RECLAIMS) != 0) {
            contents->is_gone[touches[i].copy.index] = true;
        }
    }
}

/* --- the other ways --- */

/* When the copy came to hold what it does. */
static int64_t filled_ns(const struct contents *contents, uint32_t copy)
{
    return contents->filler[copy] == 0
               ? 0
               : modes_span(contents->modes, contents->filler[copy] - 1)->finish_ns;
}

/* When the user could have started, were what the node makes there at that instant and not the node.
 * @param change of what is held meanwhile; NULL: none.
 * What it waited for by way of the node, because of other bytes, it still waits for. */
static int64_t without(struct modes *modes, uint32_t user, uint32_t node, int64_t at_ns,
                       const struct modes_change *change)
{
    struct modes_instead instead = {node, at_ns};
    int64_t ready_ns = modes_ready(modes, user, &instead, 1);
    uint32_t n;
    const struct adjacent *before = modes_before(modes, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        int64_t end_ns = modes_edge_end(modes, before[i].consumer, before[i].edge);

        if (end_ns > ready_ns && modes_share_bytes(modes, before[i].consumer, user)) {
            ready_ns = end_ns;
        }
    }
    return modes_could_start(modes, user, ready_ns, node, change, change == NULL ? 0 : 1);
}

/* Would the copy be there until that instant, were it read then? One that nobody gives back stays as
 * long as it is used, where there is room for it. */
static bool may_stay(struct modes *modes, const struct bind_copy *copy,
                     const struct timeline_hold *hold, int64_t until_ns)
{
    if (hold->release_ns < 0 || hold->release_ns >= until_ns) {
        return true;
    }
    return !weir_is(copy->reclamation) &&
           modes_most_held(modes, copy->domain.index, hold->release_ns, until_ns) + copy->bytes <=
               modes_usable(modes, copy->domain.index);
}

/* Over each engine that leads from there to where the node works. */
static void try_transfers(const struct contents *contents, uint32_t node, uint32_t user,
                          uint32_t copy, weir_domain to, struct other_way *best)
{
    struct modes *modes = contents->modes;
    const struct bind_copy *from = bind_copy(modes->binding, (weir_copy){copy});
    struct graph_object object;
    int64_t begin_ns = modes_span(modes, node)->start_ns;

    graph_object(modes->graph, from->object, &object);
    begin_ns = filled_ns(contents, copy) > begin_ns ? filled_ns(contents, copy) : begin_ns;
    for (uint32_t e = 0; e < graph_n_engines(modes->graph); e++) {
        const struct graph_engine *engine = graph_engine(modes->graph, (weir_engine){e});
        const struct timeline_hold *hold;
        int64_t moving_ns, at_ns, could_ns;

        if (!weir_same(engine->from, from->domain) || !weir_same(engine->to, to) ||
            engine->bandwidth_bytes_per_s <= 0 ||
            !number_mul_div_ceil(object.size_bytes, NS_PER_S, engine->bandwidth_bytes_per_s,
                                 &moving_ns) ||
            __builtin_add_overflow(moving_ns, engine->latency_ns, &moving_ns)) {
            continue;
        }
        at_ns = modes_first_gap(modes, e, begin_ns, moving_ns);
        hold = modes_hold_before(modes, from->object.index, from->domain.index, begin_ns);
        if (hold == NULL || __builtin_add_overflow(at_ns, moving_ns, &at_ns) ||
            !may_stay(modes, from, hold, at_ns)) {
            continue;
        }
        could_ns = without(modes, user, node, at_ns, NULL);
        if (could_ns < best->could_ns) {
            *best = (struct other_way){could_ns, from->domain.index, moving_ns, WEIR_NONE};
        }
    }
}

/* Was there room for the copy from when it was given back until the node made another? */
static void try_keeping(const struct contents *contents, uint32_t node, uint32_t user,
                        uint32_t copy, bool changes_it, struct other_way *best)
{
    struct modes *modes = contents->modes;
    const struct bind_copy *kept = bind_copy(modes->binding, (weir_copy){copy});
    int64_t from_ns = modes_span(modes, kept->reclamation.index)->finish_ns;
    int64_t to_ns = modes_span(modes, node)->start_ns, could_ns;
    uint32_t domain = kept->domain.index;
    struct modes_change stays;

    if (from_ns < 0 || from_ns > to_ns ||
        modes_most_held(modes, domain, from_ns, to_ns) + kept->bytes >
            modes_usable(modes, domain)) {
        return;
    }
    stays = (struct modes_change){domain, from_ns, to_ns, kept->bytes};
    could_ns = without(modes, user, node, changes_it ? from_ns : filled_ns(contents, copy),
                       &stays); /* who changes it comes behind its readers */
    if (could_ns < best->could_ns) {
        *best = (struct other_way){could_ns, WEIR_NONE, 0, kept->reclamation.index};
    }
}

static struct other_way find_way(const struct contents *contents, uint32_t node, uint32_t user,
                                 uint32_t made)
{
    struct modes *modes = contents->modes;
    const struct bind_copy *of = bind_copy(modes->binding, (weir_copy){made});
    uint32_t version = contents->object_version[of->object.index];
    struct other_way best = {modes_span(modes, user)->start_ns, WEIR_NONE, 0, WEIR_NONE};
    struct other_way kept = best;

    for (uint32_t at = contents->first_of[of->object.index]; at > 0 && version > 0;
         at = contents->next_of[at - 1]) {
        uint32_t copy = at - 1;
        const struct bind_copy *other = bind_copy(modes->binding, (weir_copy){copy});

        if (copy == made || contents->copy_version[copy] != version) {
            continue;
        }
        if (!contents->is_gone[copy] && !weir_same(other->domain, of->domain)) {
            try_transfers(contents, node, user, copy, of->domain, &best);
        } else if (contents->is_gone[copy] && weir_same(other->domain, of->domain)) {
            try_keeping(contents, node, user, copy,
                        (modes_roles(modes, user, made) & ~(uint32_t)BIND_READS) != 0, &kept);
        }
    }
    return best.domain != WEIR_NONE ? best : kept;
}

/* --- cases --- */

/* Of what the node makes, the one copy that the user reads; none when it reads several. */
static weir_copy read_of(const struct modes *modes, uint32_t node, uint32_t user)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(modes->binding, (weir_node){node}, &n);
    weir_copy found = {WEIR_NONE};

    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_FILLS) == 0 ||
            modes_roles(modes, user, touches[i].copy.index) == 0) {
            continue;
        }
        if (weir_is(found)) {
            return (weir_copy){WEIR_NONE};
        }
        found = touches[i].copy;
    }
    return weir_is(found) && (modes_roles(modes, user, found.index) & BIND_READS) != 0
               ? found
               : (weir_copy){WEIR_NONE};
}

/* The consumer that would have gained most. */
static struct modes_case find_user(struct contents *contents, uint32_t node)
{
    struct modes *modes = contents->modes;
    struct modes_case worst = {0};
    uint32_t n;
    const struct adjacent *after = modes_after(modes, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t user = after[i].consumer;
        const struct timeline_span *span = modes_span(modes, user);
        weir_copy made;
        struct other_way way;

        if (modes->n_steps > MODES_MOST_STEPS || !modes_ran(modes, user) ||
            span->start_ns != span->ready_ns ||
            modes_edge_end(modes, node, after[i].edge) != span->ready_ns) {
            continue;
        }
        made = read_of(modes, node, user);
        if (!weir_is(made) ||
            !writes_whole(contents, node, bind_copy(modes->binding, made)->object)) {
            continue;
        }
        way = find_way(contents, node, user, made.index);
        if (span->start_ns - way.could_ns > worst.cost) {
            worst = (struct modes_case){
                span->start_ns - way.could_ns,
                {node, user, bind_copy(modes->binding, made)->object.index, way.domain,
                 way.given_back_by},
                {span->start_ns -
                     without(modes, user, node, modes_span(modes, node)->start_ns, NULL),
                 way.away_ns, bind_copy(modes->binding, made)->domain.index, 0}};
        }
    }
    return worst;
}

static void tell(struct modes *modes, const struct modes_case *one)
{
    const char *node = modes_node(modes, one->ids[0]), *user = modes_node(modes, one->ids[1]);
    const char *object = modes_object(modes, one->ids[2]);
    char waits[NUMBER_TEXT_BYTES], away[NUMBER_TEXT_BYTES], sooner[NUMBER_TEXT_BYTES];

    number_time_text(one->times[0], waits);
    number_time_text(one->times[1], away);
    number_time_text(one->cost, sooner);
    if (one->ids[3] != WEIR_NONE) {
        report_add(
            modes->report, FINDING_RECOMPUTE_DELAYS, MODES_NOWHERE,
            "%s waits %s for %s to make object %s anew; its copy in %s is valid and %s away: "
            "brought from there it would let %s start %s sooner",
            user, waits, node, object, modes_domain(modes, one->ids[3]), away, user, sooner);
    } else {
        report_add(modes->report, FINDING_RECOMPUTE_DELAYS, MODES_NOWHERE,
                   "%s waits %s for %s to make object %s anew, and there was room in %s to keep it "
                   "when %s gave it back: kept, it would let %s start %s sooner",
                   user, waits, node, object, modes_domain(modes, (uint32_t)one->times[2]),
                   modes_node(modes, one->ids[4]), user, sooner);
    }
    report_name(modes->report, node);
    report_name(modes->report, user);
    report_name(modes->report, object);
    if (one->ids[4] != WEIR_NONE) {
        report_name(modes->report, modes_node(modes, one->ids[4]));
    }
}

enum weir_status modes_recompute(struct modes *modes)
{
    struct contents contents = {.modes = modes};
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status;

    if (modes->n_kind[NODE_REMATERIALIZATION] == 0) {
        return WEIR_OK;
    }
    status = begin(&contents);
    for (uint32_t i = 0; i < modes->timeline->n_nodes && status == WEIR_OK; i++) {
        if (graph_node_kind(modes->graph, (weir_node){i}) == NODE_REMATERIALIZATION &&
            modes_ran(modes, i)) {
            struct modes_case one = find_user(&contents, i);

            status = one.cost > 0 ? modes_add(modes, &cases, &one) : WEIR_OK;
        }
        pass(&contents, i);
    }
    end(&contents);
    modes_tell(modes, &cases, FINDING_RECOMPUTE_DELAYS, modes->least_ns, number_time_text, tell);
    return status;
}
