/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk. Every step goes to a node that started earlier, so it ends. */
#include "judge/chain.h"

#include <stdlib.h>

#include "base/array.h"

static void turn_round(struct run_link *links, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct run_link moved = links[i];

        links[i] = links[n - 1 - i];
        links[n - 1 - i] = moved;
    }
}

#define NODES_BEHIND 64
#define NODES_AT_ONCE 16

/* A node mostly waited for one shortly before it in the program: memory brings those while the walk goes
 * on. @param fetched all from there to the node have been */
static void fetch_before(const struct timeline *timeline, weir_node node, uint32_t *fetched)
{
    uint32_t to = node.index > NODES_BEHIND ? node.index - NODES_BEHIND : 0;
    uint32_t at = *fetched > node.index || *fetched < to ? node.index : *fetched;
    uint32_t end = at - to > NODES_AT_ONCE ? at - NODES_AT_ONCE : to;

    while (at > end) {
        timeline_soon(timeline, (weir_node){--at});
    }
    *fetched = at;
}

enum weir_status chain_walk(const struct bound_index *index, struct run_link **links,
                            size_t *n_links, struct weir_error *err)
{
    weir_node node = bound_last_finished(index);
    int64_t end_ns = bound_timeline(index)->makespan_ns;
    struct run_link *walked = NULL; /* last first */
    size_t room = 0, n = 0;
    uint32_t fetched = UINT32_MAX;
    enum weir_status status = WEIR_OK;

    while (weir_is(node)) {
        struct bound bound = bound_of_start(index, node);

        fetch_before(bound_timeline(index), node, &fetched);
        status = array_grow_raw(&walked, &room, n + 1, err);
        if (status != WEIR_OK) {
            free(walked);
            return status;
        }
        walked[n++] = (struct run_link){.node = node,
                                        .cause = bound_cause_name(bound.cause),
                                        .via = bound.via,
                                        .start_ns = bound.end_ns,
                                        .finish_ns = end_ns};
        end_ns = bound.end_ns;
        node = bound.node;
    }
    turn_round(walked, n);
    *links = walked;
    *n_links = n;
    return WEIR_OK;
}

enum weir_status chain_find(const struct binding *binding, const struct timeline *timeline,
                            struct run_link **links, size_t *n_links, struct weir_error *err)
{
    struct bound_index *index = NULL;
    enum weir_status status = bound_index_make(binding, timeline, false, &index, err);

    if (status == WEIR_OK) {
        status = chain_walk(index, links, n_links, err);
    }
    bound_index_free(index);
    return status;
}
