/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An edge without a lag is dropped when it says no more than another path does: by another producer of
 * its consumer that itself waits for this one's, or for one that came after it on the same slot of an
 * engine. Paths are looked for in the lists as they were: they have no circles, so that all edges that
 * others cover may go at once. */
#include <stdlib.h>

#include "sim/retime_internal.h"

#define PRODUCERS_MOST \
    16 /* whose own producers are looked through: more would cost more than gain */

struct trim {
    struct retime *retime;
    const uint32_t *slot;
    uint32_t *seen;      /* by position: the consumer, plus one, that is known to start after it
                           finishes, by a path of two */
    uint32_t *begun;     /* likewise: to start after it starts */
    uint32_t *slot_seen; /* by slot: for which consumer, plus one, slot_last is known */
    uint32_t *slot_last; /* by slot: the last position that is known to finish before it starts */
};

static void see_slot(struct trim *trim, uint32_t consumer, uint32_t position)
{
    uint32_t slot = trim->slot[position];

    if (slot != WEIR_NONE &&
        (trim->slot_seen[slot] != consumer + 1 || trim->slot_last[slot] < position)) {
        trim->slot_seen[slot] = consumer + 1;
        trim->slot_last[slot] = position;
    }
}

/* Marks what lies two edges before the consumer, and the last on each slot. */
static void look_back(struct trim *trim, uint32_t consumer)
{
    const struct retime *retime = trim->retime;

    for (uint32_t i = retime->first[consumer]; i < retime->first[consumer + 1]; i++) {
        uint32_t q = retime->from[i] & ~RETIME_FROM_START;

        if (retime->from[i] == q) {
            see_slot(trim, consumer, q);
        }
        if (retime->first[q + 1] - retime->first[q] > PRODUCERS_MOST) {
            continue;
        }
        for (uint32_t j = retime->first[q]; j < retime->first[q + 1]; j++) {
            uint32_t r = retime->from[j] & ~RETIME_FROM_START;

            trim->begun[r] = consumer + 1;
            if (retime->from[j] == r) {
                trim->seen[r] = consumer + 1;
                see_slot(trim, consumer, r);
            }
        }
    }
}

static bool is_covered(const struct trim *trim, uint32_t consumer, uint32_t from)
{
    uint32_t p = from & ~RETIME_FROM_START, slot = trim->slot[p];

    if (trim->seen[p] == consumer + 1 || (from != p && trim->begun[p] == consumer + 1)) {
        return true;
    }
    return slot != WEIR_NONE && trim->slot_seen[slot] == consumer + 1 && trim->slot_last[slot] > p;
}

static int64_t lag_at(const struct retime *retime, uint32_t edge)
{
    return retime->lag_ns == NULL ? 0 : retime->lag_ns[edge];
}

/* Is the same edge, or one from the finish, among those of the consumer that were kept? */
static bool is_kept(const struct retime *kept, uint32_t begin, uint32_t n_kept, uint32_t from)
{
    for (uint32_t i = begin; i < n_kept; i++) {
        if (kept->from[i] == from || kept->from[i] == (from & ~RETIME_FROM_START)) {
            return true;
        }
    }
    return false;
}

/* Keeps what is needed, each once. @param kept whose lists are written */
static uint32_t trim_node(struct trim *trim, struct retime *kept, uint32_t consumer,
                          uint32_t n_kept)
{
    const struct retime *retime = trim->retime;
    uint32_t begin = n_kept;
    bool is_long = retime->first[consumer + 1] - retime->first[consumer] > 4 * PRODUCERS_MOST;

    look_back(trim, consumer);
    for (uint32_t i = retime->first[consumer]; i < retime->first[consumer + 1]; i++) {
        if (lag_at(retime, i) == 0 &&
            (is_covered(trim, consumer, retime->from[i]) ||
             (!is_long && is_kept(kept, begin, n_kept, retime->from[i])))) {
            continue;
        }
        kept->from[n_kept] = retime->from[i];
        if (kept->lag_ns != NULL) {
            kept->lag_ns[n_kept] = lag_at(retime, i);
        }
        n_kept++;
    }
    return n_kept;
}

static enum weir_status allocate(struct trim *trim, struct retime *kept, uint32_t n_slots)
{
    const struct retime *retime = trim->retime;
    size_t n_nodes = retime->n_nodes, n_edges = retime->first[n_nodes];

    trim->seen = calloc(n_nodes + 1, sizeof *trim->seen);
    trim->begun = calloc(n_nodes + 1, sizeof *trim->begun);
    trim->slot_seen = calloc((size_t)n_slots + 1, sizeof *trim->slot_seen);
    trim->slot_last = calloc((size_t)n_slots + 1, sizeof *trim->slot_last);
    kept->first = malloc((n_nodes + 1) * sizeof *kept->first);
    kept->from = malloc((n_edges + 1) * sizeof *kept->from);
    if (retime->lag_ns != NULL) {
        kept->lag_ns = malloc((n_edges + 1) * sizeof *kept->lag_ns);
    }
    return trim->seen == NULL || trim->begun == NULL || trim->slot_seen == NULL ||
                   trim->slot_last == NULL || kept->first == NULL || kept->from == NULL ||
                   (retime->lag_ns != NULL && kept->lag_ns == NULL)
               ? WEIR_MEMORY
               : WEIR_OK;
}

static void swap_lists(struct retime *retime, struct retime *kept)
{
    struct retime before = *retime;

    retime->first = kept->first;
    retime->from = kept->from;
    retime->lag_ns = kept->lag_ns;
    kept->first = before.first;
    kept->from = before.from;
    kept->lag_ns = before.lag_ns;
}

enum weir_status retime_trim(struct retime_build *build)
{
    struct trim trim = {.retime = build->out, .slot = build->slot};
    struct retime kept = {0};
    uint32_t n_kept = 0;
    enum weir_status status = allocate(&trim, &kept, build->n_slots);

    if (status != WEIR_OK) {
        status = weir_error_memory(build->err);
    } else {
        for (uint32_t i = 0; i < build->out->n_nodes; i++) {
            kept.first[i] = n_kept;
            n_kept = trim_node(&trim, &kept, i, n_kept);
        }
        kept.first[build->out->n_nodes] = n_kept;
        swap_lists(build->out, &kept);
    }
    free(trim.seen);
    free(trim.begun);
    free(trim.slot_seen);
    free(trim.slot_last);
    retime_free(&kept);
    return status;
}
