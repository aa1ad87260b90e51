/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the replay has inserted, as a list that people read: in the order of the steps that wait. */
#include <stdlib.h>

#include "base/array.h"
#include "replay/waits_internal.h"

struct listing {
    const struct waits_steps *steps;
    struct waits_inserted *items; /* malloc'ed */
    size_t n_items, room;
};

const char *inserted_why_text(enum inserted_why why)
{
    switch (why) {
    case INSERTED_OVERLAP:
        return "the two must not overlap";
    case INSERTED_BEGINS:
        return "begins bytes that both may begin";
    case INSERTED_FALLBACK:
        return "stands in for it and was not needed";
    case INSERTED_QUEUE:
        return "one queue runs both";
    case INSERTED_ADMISSION:
        return "the policy held it until then";
    case INSERTED_WINDOW:
        return "what it stands in for gave way then";
    }
    return "";
}

static enum weir_status add(struct listing *listing, struct waits_inserted item,
                            struct weir_error *err)
{
    enum weir_status status =
        array_grow(&listing->items, &listing->room, listing->n_items + 1, err);

    if (status == WEIR_OK)
        listing->items[listing->n_items++] = item;
    return status;
}

static enum weir_status add_made(struct listing *listing, const struct made_edges *edges,
                                 struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < edges->n_edges && status == WEIR_OK; i++)
        status = add(listing,
                     (struct waits_inserted){.producer = {edges->edges[i].producer},
                                             .consumer = {edges->edges[i].consumer},
                                             .is_from_start = edges->edges[i].is_from_start,
                                             .why = edges->edges[i].why},
                     err);
    return status;
}

static enum weir_status add_on_queues(struct listing *listing, const struct lanes *lanes,
                                      const bool *is_open, struct weir_error *err)
{
    weir_node *last = malloc((lanes->n_lanes + (size_t)1) * sizeof *last);
    enum weir_status status = last == NULL ? weir_error_memory(err) : WEIR_OK;

    for (uint32_t s = 0; s < listing->steps->n_started && status == WEIR_OK; s++) {
        weir_node node = {listing->steps->node_of[s]};
        uint32_t lane = lanes->of_node[node.index];

        if (lane == WEIR_NONE)
            continue;
        if (is_open[s])
            status = add(listing,
                         (struct waits_inserted){
                             .producer = last[lane], .consumer = node, .why = INSERTED_QUEUE},
                         err);
        last[lane] = node;
    }
    free(last);
    return status;
}

/* Of actions that run: times after the release that the graph states. */
static enum weir_status add_times(struct listing *listing, const struct binding *binding,
                                  const struct timeline *plan, double scale_time,
                                  const int64_t *release_ns, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t s = 0; s < listing->steps->n_started && status == WEIR_OK; s++) {
        weir_node node = {listing->steps->node_of[s]};
        int64_t stated_ns = bind_ready_ns(binding, node);
        struct graph_node value;

        graph_node(bind_of(binding), node, &value);
        if (value.release_ns > stated_ns)
            stated_ns = value.release_ns;
        if (release_ns[s] > waits_scaled_ns(stated_ns, scale_time))
            status =
                add(listing,
                    (struct waits_inserted){.producer = {WEIR_NONE},
                                            .consumer = node,
                                            .not_before_ns = release_ns[s],
                                            .why = plan->spans[node.index].cause == WAIT_ADMISSION
                                                       ? INSERTED_ADMISSION
                                                       : INSERTED_WINDOW},
                    err);
    }
    return status;
}

/* ---- order ---- */

struct placed {
    uint32_t consumer, producer; /* steps; none, of a time, comes last */
    struct waits_inserted item;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;

    if (x->consumer != y->consumer)
        return x->consumer < y->consumer ? -1 : 1;
    if (x->producer != y->producer)
        return x->producer < y->producer ? -1 : 1;
    if (x->item.is_from_start != y->item.is_from_start)
        return x->item.is_from_start ? 1 : -1;
    return x->item.why < y->item.why ? -1 : x->item.why > y->item.why;
}

static enum weir_status put_in_order(const struct listing *listing, struct arena *arena,
                                     struct waits *out, struct weir_error *err)
{
    struct placed *placed = malloc((listing->n_items + 1) * sizeof *placed);

    out->inserted = arena_array(arena, listing->n_items, sizeof *out->inserted);
    if (placed == NULL || out->inserted == NULL) {
        free(placed);
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < listing->n_items; i++) {
        const struct waits_inserted *item = &listing->items[i];

        placed[i] = (struct placed){
            listing->steps->step_of[item->consumer.index],
            weir_is(item->producer) ? listing->steps->step_of[item->producer.index] : WEIR_NONE,
            *item};
    }
    qsort(placed, listing->n_items, sizeof *placed, compare_placed);
    for (size_t i = 0; i < listing->n_items; i++) {
        if (i == 0 || compare_placed(&placed[i - 1], &placed[i]) != 0)
            out->inserted[out->n_inserted++] = placed[i].item;
    }
    free(placed);
    return WEIR_OK;
}

enum weir_status waits_list_inserted(const struct binding *binding, const struct timeline *plan,
                                     const struct waits_steps *steps, const struct lanes *lanes,
                                     const struct waits_options *options,
                                     const struct made_edges *edges, const bool *is_open,
                                     struct arena *arena, struct waits *out, struct weir_error *err)
{
    struct listing listing = {.steps = steps};
    enum weir_status status = add_made(&listing, edges, err);

    if (status == WEIR_OK)
        status = add_on_queues(&listing, lanes, is_open, err);
    if (status == WEIR_OK)
        status = add_times(&listing, binding, plan, options->scale_time, out->release_ns, err);
    if (status == WEIR_OK)
        status = put_in_order(&listing, arena, out, err);
    free(listing.items);
    return status;
}
