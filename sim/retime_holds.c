/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds of a realized order, and the peaks that they make. What begins with the same node in the same
 * domain is one taking; what ends with the same node alone is one giving; what ends with the last of
 * several nodes is a giving of its own. In every list the domains stand one after another. */
#include "sim/retime_holds.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Bytes of a domain that come with the start of a position, or go with the last finish of some. */
struct change {
    uint32_t domain;
    uint32_t position; /* of a giving of several: the first of them */
    uint32_t first;    /* of several: others[first] and on are the rest of them */
    uint32_t n_others;
    int64_t bytes;
};

struct changes {
    struct change *items;
    size_t room, n;
    uint32_t *first; /* by domain, one more ends the last */
};

struct retime_holds {
    uint32_t n_domains;
    int64_t *initial_bytes; /* by domain */
    struct changes takings, givings;
    uint32_t *others; /* positions */
    size_t others_room, n_others;
};

/* --- compiling ------------------------------------------------------------------------------- */

struct build {
    const struct binding *binding;
    const struct graph *graph;
    struct retime_holds *holds;
    uint32_t *position; /* by node; WEIR_NONE */
    uint32_t *begins;   /* by copy: the position with which it begins; WEIR_NONE */
    bool is_known;
    struct weir_error *err;
};

static enum weir_status add_change(struct build *build, struct changes *to, struct change change)
{
    enum weir_status status = WEIR_OK;

    if (change.bytes == 0) {
        return WEIR_OK;
    }
    status = array_grow(&to->items, &to->room, to->n + 1, build->err);
    if (status == WEIR_OK) {
        to->items[to->n++] = change;
    }
    return status;
}

static enum weir_status add_taking(struct build *build, uint32_t domain, uint32_t position,
                                   int64_t bytes)
{
    return add_change(build, &build->holds->takings,
                      (struct change){domain, position, 0, 0, bytes});
}

static bool uses(const struct build *build, weir_node node, weir_copy copy)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(build->binding, node, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        if (touches[i].copy.index == copy.index) {
            return (touches[i].roles & (BIND_READS | BIND_FILLS)) != 0;
        }
    }
    return false;
}

/* The last uses of the copy are among those that end it; its holds too, unless it is about what was
 * staged for it. */
static enum weir_status add_enders(struct build *build, struct change *giving, weir_copy copy,
                                   bool is_staging)
{
    struct retime_holds *holds = build->holds;
    uint32_t cursor = 0;
    weir_node node;
    enum weir_status status = WEIR_OK;

    while (status == WEIR_OK && bind_last_use(build->binding, copy, &cursor, &node)) {
        uint32_t position = build->position[node.index];

        if (is_staging && !uses(build, node, copy)) {
            continue;
        }
        build->is_known = build->is_known && position != WEIR_NONE;
        if (giving->position == WEIR_NONE) {
            giving->position = position;
            continue;
        }
        status = array_grow(&holds->others, &holds->others_room, holds->n_others + 1, build->err);
        if (status == WEIR_OK) {
            holds->others[holds->n_others++] = position;
            giving->n_others++;
        }
    }
    return status;
}

static struct change new_giving(const struct build *build, uint32_t domain, int64_t bytes)
{
    return (struct change){domain, WEIR_NONE, (uint32_t)build->holds->n_others, 0, bytes};
}

static enum weir_status add_copy(struct build *build, weir_copy id)
{
    const struct bind_copy *copy = bind_copy(build->binding, id);
    struct change giving = new_giving(build, copy->domain.index, copy->bytes);
    enum weir_status status = WEIR_OK;

    if (copy->is_initial) {
        build->holds->initial_bytes[copy->domain.index] += copy->bytes;
    } else if (build->begins[id.index] == WEIR_NONE) {
        return WEIR_OK; /* it never lives */
    } else {
        status = add_taking(build, copy->domain.index, build->begins[id.index], copy->bytes);
    }
    if (status != WEIR_OK || copy->bytes == 0) {
        return status;
    }
    if (weir_is(copy->reclamation)) {
        giving.position = build->position[copy->reclamation.index];
    } else if (!copy->stays) {
        status = add_enders(build, &giving, id, false);
    }
    return status == WEIR_OK && giving.position != WEIR_NONE
               ? add_change(build, &build->holds->givings, giving)
               : status;
}

static enum weir_status add_staging(struct build *build, weir_node node,
                                    const struct graph_charge *staging)
{
    uint32_t domain = graph_charge_domain(build->graph, node, staging).index, n_touches;
    const struct bind_touch *touches = bind_touches(build->binding, node, &n_touches);
    struct change giving = new_giving(build, domain, staging->bytes);
    enum weir_status status =
        add_taking(build, domain, build->position[node.index], staging->bytes);

    giving.position = build->position[node.index];
    for (uint32_t i = 0; i < n_touches && status == WEIR_OK; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0) {
            status = add_enders(build, &giving, touches[i].copy, true);
        }
    }
    return status == WEIR_OK ? add_change(build, &build->holds->givings, giving) : status;
}

static enum weir_status add_charges(struct build *build, weir_node node)
{
    uint32_t position = build->position[node.index];
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    if (position == WEIR_NONE) {
        return WEIR_OK;
    }
    graph_node(build->graph, node, &value);
    for (uint32_t i = 0; i < value.n_workspace && status == WEIR_OK; i++) {
        uint32_t domain = graph_charge_domain(build->graph, node, &value.workspace[i]).index;
        struct change giving = new_giving(build, domain, value.workspace[i].bytes);

        giving.position = position;
        status = add_taking(build, domain, position, value.workspace[i].bytes);
        if (status == WEIR_OK) {
            status = add_change(build, &build->holds->givings, giving);
        }
    }
    return status == WEIR_OK && value.staging.bytes > 0 ? add_staging(build, node, &value.staging)
                                                        : status;
}

static bool may_begin(const struct build *build, const struct bind_touch *touch)
{
    const struct bind_copy *copy = bind_copy(build->binding, touch->copy);

    if (copy->is_initial) {
        return false;
    }
    return (touch->roles & (weir_is(copy->allocation) ? BIND_ALLOCATES : BIND_FILLS)) != 0;
}

/* In the order of positions the first that may begin a copy begins it. */
static void find_beginnings(struct build *build, const struct retime *retime)
{
    for (uint32_t p = 0; p < retime->n_nodes; p++) {
        uint32_t n_touches;
        const struct bind_touch *touches;

        if (!weir_is(retime->nodes[p])) {
            continue;
        }
        build->position[retime->nodes[p].index] = p;
        touches = bind_touches(build->binding, retime->nodes[p], &n_touches);
        for (uint32_t i = 0; i < n_touches; i++) {
            uint32_t *begins = &build->begins[touches[i].copy.index];

            if (*begins == WEIR_NONE && may_begin(build, &touches[i])) {
                *begins = p;
            }
        }
    }
}

static int by_place(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    if (a->domain != b->domain) {
        return a->domain < b->domain ? -1 : 1;
    }
    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return (a->n_others > b->n_others) - (a->n_others < b->n_others);
}

/* Puts together what comes, or goes, with one node alone, and finds where each domain begins. */
static enum weir_status merge(struct build *build, struct changes *changes)
{
    size_t n = 0;

    changes->first = calloc((size_t)build->holds->n_domains + 2, sizeof *changes->first);
    if (changes->first == NULL) {
        return weir_error_memory(build->err);
    }
    if (changes->n > 0) {
        qsort(changes->items, changes->n, sizeof *changes->items, by_place);
    }
    for (size_t i = 0; i < changes->n; i++) {
        struct change *last = n == 0 ? NULL : &changes->items[n - 1], *item = &changes->items[i];

        if (last != NULL && last->domain == item->domain && last->position == item->position &&
            last->n_others == 0 && item->n_others == 0) {
            last->bytes += item->bytes;
        } else {
            changes->items[n++] = *item;
            changes->first[item->domain + 1]++;
        }
    }
    changes->n = n;
    for (uint32_t i = 0; i < build->holds->n_domains; i++) {
        changes->first[i + 1] += changes->first[i];
    }
    return WEIR_OK;
}

static enum weir_status compile(struct build *build, const struct retime *retime)
{
    struct retime_holds *holds = build->holds;
    enum weir_status status = WEIR_OK;

    memset(build->position, 0xff, graph_n_nodes(build->graph) * sizeof *build->position);
    memset(build->begins, 0xff, bind_n_copies(build->binding) * sizeof *build->begins);
    find_beginnings(build, retime);
    for (uint32_t i = 0; i < bind_n_copies(build->binding) && status == WEIR_OK; i++) {
        status = add_copy(build, (weir_copy){i});
    }
    for (uint32_t i = 0; i < graph_n_nodes(build->graph) && status == WEIR_OK; i++) {
        status = add_charges(build, (weir_node){i});
    }
    if (status == WEIR_OK) {
        status = merge(build, &holds->takings);
    }
    return status == WEIR_OK ? merge(build, &holds->givings) : status;
}

enum weir_status retime_holds_new(const struct binding *binding, const struct retime *retime,
                                  struct retime_holds **out, struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    struct build build = {.binding = binding,
                          .graph = graph,
                          .holds = calloc(1, sizeof *build.holds),
                          .is_known = true,
                          .err = err};
    enum weir_status status;

    *out = NULL;
    build.position = malloc(((size_t)graph_n_nodes(graph) + 1) * sizeof *build.position);
    build.begins = malloc(((size_t)bind_n_copies(binding) + 1) * sizeof *build.begins);
    if (build.holds != NULL) {
        build.holds->n_domains = graph_n_domains(graph);
        build.holds->initial_bytes =
            calloc((size_t)build.holds->n_domains + 1, sizeof *build.holds->initial_bytes);
    }
    status = build.holds == NULL || build.holds->initial_bytes == NULL || build.position == NULL ||
                     build.begins == NULL
                 ? weir_error_memory(err)
                 : compile(&build, retime);
    free(build.position);
    free(build.begins);
    if (status != WEIR_OK || !build.is_known) {
        retime_holds_free(build.holds);
        return status;
    }
    *out = build.holds;
    return WEIR_OK;
}

void retime_holds_free(struct retime_holds *holds)
{
    if (holds == NULL) {
        return;
    }
    free(holds->initial_bytes);
    free(holds->takings.items);
    free(holds->takings.first);
    free(holds->givings.items);
    free(holds->givings.first);
    free(holds->others);
    free(holds);
}

/* --- peaks ----------------------------------------------------------------------------------- */

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

size_t retime_holds_room(const struct retime_holds *holds)
{
    size_t n_most = holds->takings.n > holds->givings.n ? holds->takings.n : holds->givings.n;

    return holds->takings.n + holds->givings.n + n_most + 1;
}

/* One digit's worth of sorting. */
static void spread(const struct retime_event *from, struct retime_event *to, size_t n, int shift)
{
    size_t at[DIGITS + 1] = {0};

    for (size_t i = 0; i < n; i++) {
        at[((uint64_t)from[i].time_ns >> shift & (DIGITS - 1)) + 1]++;
    }
    for (int i = 0; i < DIGITS; i++) {
        at[i + 1] += at[i];
    }
    for (size_t i = 0; i < n; i++) {
        to[at[(uint64_t)from[i].time_ns >> shift & (DIGITS - 1)]++] = from[i];
    }
}

/* By time: digit by digit, the least first. @param beside room for as many */
static void sort_events(struct retime_event *events, struct retime_event *beside, size_t n)
{
    struct retime_event *from = events, *to = beside;
    bool is_sorted = true;
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++) {
        all |= (uint64_t)events[i].time_ns;
        is_sorted = is_sorted && (i == 0 || events[i - 1].time_ns <= events[i].time_ns);
    }
    for (int shift = 0; !is_sorted && shift < 64 && all >> shift != 0; shift += DIGIT_BITS) {
        struct retime_event *swapped = from;

        spread(from, to, n, shift);
        from = to;
        to = swapped;
    }
    if (from != events) {
        memcpy(events, from, n * sizeof *events);
    }
}

static int64_t finish_ns(const int64_t *length_ns, const int64_t *start_ns, uint32_t position)
{
    return start_ns[position] + length_ns[position];
}

static int64_t giving_ns(const struct retime_holds *holds, const struct change *giving,
                         const int64_t *length_ns, const int64_t *start_ns)
{
    int64_t last_ns = finish_ns(length_ns, start_ns, giving->position);

    for (uint32_t i = 0; i < giving->n_others; i++) {
        int64_t other_ns = finish_ns(length_ns, start_ns, holds->others[giving->first + i]);

        last_ns = other_ns > last_ns ? other_ns : last_ns;
    }
    return last_ns;
}

/* Goes along the takings; at each instant everything that goes by then has gone. */
static int64_t peak_of(int64_t bytes, const struct retime_event *takings, size_t n_takings,
                       const struct retime_event *givings, size_t n_givings)
{
    size_t given = 0;
    int64_t peak = 0;

    if (n_takings == 0 || takings[0].time_ns > 0) { /* what is there from the first, at 0 */
        for (; given < n_givings && givings[given].time_ns == 0; given++) {
            bytes -= givings[given].bytes;
        }
        peak = bytes;
    }
    for (size_t i = 0; i < n_takings; i++) {
        bytes += takings[i].bytes;
        if (i + 1 < n_takings && takings[i + 1].time_ns == takings[i].time_ns) {
            continue;
        }
        for (; given < n_givings && givings[given].time_ns <= takings[i].time_ns; given++) {
            bytes -= givings[given].bytes;
        }
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

void retime_peaks(const struct retime_holds *holds, const int64_t *length_ns,
                  const int64_t *start_ns, struct retime_event *scratch, int64_t *peak_bytes)
{
    struct retime_event *takings = scratch, *givings = takings + holds->takings.n;
    struct retime_event *beside = givings + holds->givings.n;

    for (uint32_t d = 0; d < holds->n_domains; d++) {
        const struct change *taking = holds->takings.items + holds->takings.first[d];
        const struct change *giving = holds->givings.items + holds->givings.first[d];
        size_t n_takings = holds->takings.first[d + 1] - holds->takings.first[d];
        size_t n_givings = holds->givings.first[d + 1] - holds->givings.first[d];

        for (size_t i = 0; i < n_takings; i++) {
            takings[i] = (struct retime_event){start_ns[taking[i].position], taking[i].bytes};
        }
        for (size_t i = 0; i < n_givings; i++) {
            givings[i] = (struct retime_event){giving_ns(holds, &giving[i], length_ns, start_ns),
                                               giving[i].bytes};
        }
        sort_events(takings, beside, n_takings);
        sort_events(givings, beside, n_givings);
        peak_bytes[d] = peak_of(holds->initial_bytes[d], takings, n_takings, givings, n_givings);
    }
}
