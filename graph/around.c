/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A way that does not come through a place passes over it in the order by one edge, or ends before
 * it, or begins behind it: so each edge, with the longest way that it lies on, counts for every place
 * between its two. Places that are on no longest way have one around them: only the others, the
 * critical ones, are asked. */
#include "graph/around.h"

#include <stdlib.h>

struct finding {
    const struct around_network *network;
    struct around *around;
    uint32_t *n_critical; /* by place: critical places before it; one more than there are places */
    /* A tree over the critical places, its leaves in the second half: the longest way that passes over
     * all places below the branch. */
    int64_t *over_ns;
};

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t ready_ns(const struct around_network *network, uint32_t place)
{
    return network->ready_ns == NULL ? network->start_ns[place] : network->ready_ns[place];
}

static bool is_end(const struct around_network *network, uint32_t place)
{
    return network->is_passage == NULL || !network->is_passage[place];
}

/* From when the place is ready, through its start, to an end. */
static int64_t from_ready_ns(const struct finding *f, uint32_t place)
{
    const struct around_network *network = f->network;
    const struct around_onward *onward = &f->around->onward[place];

    return longer(onward->from_start_ns, network->length_ns[place] + onward->from_finish_ns) +
           network->start_ns[place] - ready_ns(network, place);
}

static void find_onward(struct finding *f)
{
    const struct around_network *network = f->network;
    struct around_onward *onward = f->around->onward;

    for (uint32_t p = 0; p < network->n_places; p++) {
        int64_t end_ns = is_end(network, p) ? 0 : AROUND_NO_WAY;

        onward[p] = (struct around_onward){AROUND_NO_WAY, end_ns};
        if (end_ns == 0)
            f->around->end_ns =
                longer(f->around->end_ns, network->start_ns[p] + network->length_ns[p]);
    }
    for (uint32_t p = network->n_places; p-- > 0;) {
        int64_t on_ns = from_ready_ns(f, p);

        for (uint32_t e = network->first[p]; e < network->first[p + 1]; e++) {
            struct around_onward *producer = &onward[network->from[e] & ~AROUND_FROM_START];
            int64_t *way = (network->from[e] & AROUND_FROM_START) != 0 ? &producer->from_start_ns
                                                                       : &producer->from_finish_ns;
            int64_t lag_ns = network->lag_ns == NULL ? 0 : network->lag_ns[e];

            *way = longer(*way, lag_ns + on_ns);
        }
    }
}

static bool is_critical(const struct finding *f, uint32_t place)
{
    return ready_ns(f->network, place) + from_ready_ns(f, place) == f->around->end_ns;
}

/* ---- ways around ---- */

static uint32_t count_critical(const struct finding *f)
{
    return f->n_critical[f->network->n_places];
}

/* A way of that length passes over the places from first up to end. */
static void pass_over(struct finding *f, uint32_t first, uint32_t end, int64_t way_ns)
{
    size_t low, high;

    if (first >= end)
        return;
    low = count_critical(f) + (size_t)f->n_critical[first];
    high = count_critical(f) + (size_t)f->n_critical[end];
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1) {
            f->over_ns[low] = longer(f->over_ns[low], way_ns);
            low++;
        }
        if (high % 2 == 1) {
            high--;
            f->over_ns[high] = longer(f->over_ns[high], way_ns);
        }
    }
}

static void pass_all(struct finding *f)
{
    const struct around_network *network = f->network;

    for (uint32_t p = 0; p < network->n_places; p++) {
        int64_t on_ns = from_ready_ns(f, p);

        pass_over(f, 0, p, (network->release_ns == NULL ? 0 : network->release_ns[p]) + on_ns);
        if (is_end(network, p))
            pass_over(f, p + 1, network->n_places, network->start_ns[p] + network->length_ns[p]);
        for (uint32_t e = network->first[p]; e < network->first[p + 1]; e++) {
            uint32_t producer = network->from[e] & ~AROUND_FROM_START;
            int64_t ns = network->start_ns[producer];

            if ((network->from[e] & AROUND_FROM_START) == 0)
                ns += network->length_ns[producer];
            if (network->lag_ns != NULL)
                ns += network->lag_ns[e];
            pass_over(f, producer + 1, p, ns + on_ns);
        }
    }
}

/* What stands on the way from a leaf to the root counts for it. */
static void read_all(const struct finding *f)
{
    for (uint32_t p = 0; p < f->network->n_places; p++) {
        int64_t way_ns = AROUND_NO_WAY;

        if (f->n_critical[p] == f->n_critical[p + 1]) {
            f->around->around_ns[p] = f->around->end_ns;
            continue;
        }
        for (size_t at = count_critical(f) + (size_t)f->n_critical[p]; at > 0; at /= 2)
            way_ns = longer(way_ns, f->over_ns[at]);
        f->around->around_ns[p] = way_ns;
    }
}

static enum weir_status find_around(struct finding *f, struct weir_error *err)
{
    size_t n_branches;

    for (uint32_t p = 0; p < f->network->n_places; p++)
        f->n_critical[p + 1] = f->n_critical[p] + is_critical(f, p);
    n_branches = 2 * (size_t)count_critical(f);
    f->over_ns = malloc((n_branches + 1) * sizeof *f->over_ns);
    if (f->over_ns == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < n_branches; i++)
        f->over_ns[i] = AROUND_NO_WAY;
    pass_all(f);
    read_all(f);
    return WEIR_OK;
}

enum weir_status around_find(const struct around_network *network, struct around *out,
                             struct weir_error *err)
{
    size_t n = network->n_places + (size_t)1;
    struct around around = {.onward = malloc(n * sizeof *around.onward),
                            .around_ns = malloc(n * sizeof *around.around_ns)};
    struct finding f = {
        .network = network, .around = &around, .n_critical = calloc(n, sizeof *f.n_critical)};
    enum weir_status status;

    if (around.onward == NULL || around.around_ns == NULL || f.n_critical == NULL) {
        status = weir_error_memory(err);
    } else {
        find_onward(&f);
        status = find_around(&f, err);
    }
    free(f.n_critical);
    free(f.over_ns);
    if (status == WEIR_OK)
        *out = around;
    else
        around_free(&around);
    return status;
}

void around_free(struct around *around)
{
    free(around->onward);
    free(around->around_ns);
    *around = (struct around){.end_ns = 0};
}

int64_t around_end_ns(const struct around *around, uint32_t place, int64_t start_ns,
                      int64_t length_ns)
{
    const struct around_onward *onward = &around->onward[place];
    int64_t through_ns =
        longer(start_ns + onward->from_start_ns, start_ns + length_ns + onward->from_finish_ns);

    return longer(through_ns, around->around_ns[place]);
}
