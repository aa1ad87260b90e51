/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Induced edges: bytes that a node took and another gave back. Bytes that nobody has used yet are there
 * from the beginning; whatever a node takes beside those must be brought by edges. An edge may stand
 * several times for the same bytes, when the copy that they were ended with the last of several uses, so
 * that edges may bring more than was taken, and never less. */
#include <inttypes.h>
#include <stdlib.h>

#include "judge/verify_internal.h"

/* Bytes that a node takes, or that edges bring it. */
struct amount {
    uint32_t turn, domain, node;
    int64_t taken_bytes, brought_bytes;
};

static int by_turn(const void *left, const void *right)
{
    const struct amount *a = left, *b = right;

    if (a->turn != b->turn) {
        return a->turn < b->turn ? -1 : 1;
    }
    return (a->domain > b->domain) - (a->domain < b->domain);
}

static void check_edge(struct verify *verify, const struct timeline_induced *induced)
{
    struct moment given = verify->done[induced->producer.index];
    struct moment start = verify->start[induced->consumer.index];
    struct verify_at at = verify_at(VERIFY_INDUCED_EARLY, induced->consumer.index, start.ns);
    bool is_late = given.ns == NEVER_NS || start.ns == NEVER_NS ||
                   (verify->is_lenient
                        ? start.ns < given.ns - verify->tolerance_ns
                        : given.ns > start.ns || (given.ns == start.ns && given.turn != TURN_LAST &&
                                                  given.turn >= start.turn));

    at.other = induced->producer;
    at.domain = induced->domain;
    verify_checked(verify, VERIFY_CHECK_INDUCED, 1);
    if (is_late) {
        verify_add(verify, at,
                   "node %s started at %" PRId64
                   " ns with bytes of %s that node %s gave back at %" PRId64 " ns",
                   node_name(verify, induced->consumer.index), start.ns == NEVER_NS ? -1 : start.ns,
                   domain_name(verify, induced->domain.index),
                   node_name(verify, induced->producer.index),
                   given.ns == NEVER_NS ? -1 : given.ns);
    }
}

/* Does the node end anything there: a copy, by its use, its hold or its reclamation, workspace, staging? */
static bool gives_in(const struct verify *verify, weir_node node, weir_domain domain)
{
    struct graph_node value;

    for (uint32_t i = verify->touch_first[node.index]; i < verify->touch_first[node.index + 1];
         i++) {
        const struct verify_copy *copy = &verify->copies[verify->touches[i].copy];

        if (weir_same(copy->domain, domain) && copy->end.ns != NEVER_NS && copy->bytes > 0) {
            return true;
        }
    }
    graph_node(verify->graph, node, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        if (weir_same(graph_charge_domain(verify->graph, node, &value.workspace[i]), domain)) {
            return true;
        }
    }
    return false;
}

/* Staging goes with the last use of a copy that its node filled: by whoever uses that. */
static bool ends_staging(const struct verify *verify, weir_node node)
{
    for (uint32_t i = verify->touch_first[node.index]; i < verify->touch_first[node.index + 1];
         i++) {
        if ((verify->touches[i].roles & TOUCH_USES) != 0) {
            return true;
        }
    }
    return false;
}

static void check_givers(struct verify *verify)
{
    for (size_t i = 0; i < verify->timeline->n_induced; i++) {
        const struct timeline_induced *induced = &verify->timeline->induced[i];
        struct verify_at at = verify_at(VERIFY_INDUCED_GIVER, induced->producer.index,
                                        verify->start[induced->consumer.index].ns);
        struct graph_node value;

        graph_node(verify->graph, induced->producer, &value);
        at.other = induced->consumer;
        at.domain = induced->domain;
        if (!gives_in(verify, induced->producer, induced->domain) &&
            !(verify->is_staged[induced->domain.index] &&
              (value.staging.bytes > 0 || ends_staging(verify, induced->producer)))) {
            verify_add(verify, at,
                       "node %s is said to have had %" PRId64
                       " bytes of %s from node %s, which gives "
                       "nothing back there",
                       node_name(verify, induced->consumer.index), induced->bytes,
                       domain_name(verify, induced->domain.index),
                       node_name(verify, induced->producer.index));
        }
    }
}

/* One for each node and domain of what is taken, and of what is brought; to be merged. */
static size_t list_amounts(const struct verify *verify, struct amount *amounts)
{
    size_t n = 0;

    for (size_t i = 0; i < verify->n_holds; i++) {
        const struct verify_hold *hold = &verify->holds[i];

        if (weir_is(hold->node)) {
            amounts[n++] = (struct amount){verify->start[hold->node.index].turn, hold->domain.index,
                                           hold->node.index, hold->bytes, 0};
        }
    }
    for (size_t i = 0; i < verify->timeline->n_induced; i++) {
        const struct timeline_induced *induced = &verify->timeline->induced[i];

        if (verify->nodes[induced->consumer.index].has_started) {
            amounts[n++] =
                (struct amount){verify->start[induced->consumer.index].turn, induced->domain.index,
                                induced->consumer.index, 0, induced->bytes};
        }
    }
    qsort(amounts, n, sizeof *amounts, by_turn);
    return n;
}

static void check_amount(struct verify *verify, const struct amount *amount, int64_t *unused_bytes)
{
    int64_t missing = amount->taken_bytes - amount->brought_bytes;
    struct verify_at at =
        verify_at(VERIFY_INDUCED_SHORT, amount->node, verify->start[amount->node].ns);

    at.domain.index = amount->domain;
    verify_checked(verify, VERIFY_CHECK_INDUCED, 1);
    if (missing <= 0) {
        return;
    }
    if (missing > unused_bytes[amount->domain]) {
        verify_add(verify, at,
                   "node %s took %" PRId64 " bytes of %s, edges brought it %" PRId64
                   ", and %" PRId64 " were left that nobody had used",
                   node_name(verify, amount->node), amount->taken_bytes,
                   domain_name(verify, amount->domain), amount->brought_bytes,
                   unused_bytes[amount->domain]);
        missing = unused_bytes[amount->domain];
    }
    unused_bytes[amount->domain] -= missing;
}

static enum weir_status check_amounts(struct verify *verify)
{
    struct amount *amounts =
        malloc((verify->n_holds + verify->timeline->n_induced + 1) * sizeof *amounts);
    int64_t *unused_bytes = calloc((size_t)verify->n_domains + 1, sizeof *unused_bytes);
    size_t n;

    if (amounts == NULL || unused_bytes == NULL) {
        free(amounts);
        free(unused_bytes);
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_domains; i++) {
        unused_bytes[i] = verify_usable_bytes(verify, i);
    }
    for (size_t i = 0; i < verify->n_holds; i++) {
        if (!weir_is(verify->holds[i].node)) {
            unused_bytes[verify->holds[i].domain.index] -= verify->holds[i].bytes;
        }
    }
    n = list_amounts(verify, amounts);
    for (size_t i = 0; i < n;) {
        struct amount sum = amounts[i++];

        for (; i < n && by_turn(&amounts[i], &sum) == 0; i++) {
            sum.taken_bytes += amounts[i].taken_bytes;
            sum.brought_bytes += amounts[i].brought_bytes;
        }
        check_amount(verify, &sum, unused_bytes);
    }
    free(amounts);
    free(unused_bytes);
    return WEIR_OK;
}

enum weir_status verify_induced(struct verify *verify)
{
    for (size_t i = 0; i < verify->timeline->n_induced; i++) {
        check_edge(verify, &verify->timeline->induced[i]);
    }
    check_givers(verify);
    if (verify->is_lenient) {
        verify_skip(verify, VERIFY_CHECK_INDUCED,
                    "whether they bring all that is taken: they are those of the plan");
        return WEIR_OK;
    }
    return verify->timeline->status == RUN_SHORTAGE && verify->n_started == 0
               ? WEIR_OK
               : check_amounts(verify);
}
