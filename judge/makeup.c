/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A link reaches from where the one before it ends to where its node let the next one go: up to the
 * start of the node it waited, from there on the node ran. */
#include "judge/makeup.h"

#include <stdlib.h>

#include "base/array.h"

/* What the link waited for between the end of the one before it and its start, in two parts. */
static void add_waiting(const struct bound_index *index, const struct run_link *link,
                        weir_node before, int64_t start_ns, int64_t waited_ns[STALL_CAUSES])
{
    enum stall_cause first = STALL_LAG;
    struct bound bound;
    int64_t ready_ns;
    bool is_same;

    if (start_ns <= link->start_ns) {
        return;
    }
    bound = bound_of_start(index, link->node);
    is_same = weir_same(bound.node, before);
    ready_ns = is_same && bound.ready_ns > link->start_ns ? bound.ready_ns : link->start_ns;
    ready_ns = ready_ns < start_ns ? ready_ns : start_ns;
    if (!weir_is(before)) {
        first = bound.cause == BOUND_WINDOW                                      ? STALL_WINDOW
                : bound.cause == BOUND_RELEASE || bound.cause == BOUND_ADMISSION ? STALL_RELEASE
                                                                                 : STALL_UNKNOWN;
    }
    waited_ns[first] += ready_ns - link->start_ns;
    waited_ns[is_same && bound.cause == BOUND_ADMISSION ? STALL_ADMISSION : STALL_UNKNOWN] +=
        start_ns - ready_ns;
}

static void keep_longest(struct makeup *out, const struct run_link *links, size_t at)
{
    uint32_t place = out->n_longest;
    int64_t length_ns = links[at].finish_ns - links[at].start_ns;

    if (place == MAKEUP_LONGEST) {
        const struct run_link *last = &links[out->longest[place - 1]];

        if (length_ns <= last->finish_ns - last->start_ns) {
            return;
        }
        place--;
    } else {
        out->n_longest++;
    }
    for (; place > 0; place--) {
        const struct run_link *other = &links[out->longest[place - 1]];

        if (length_ns <= other->finish_ns - other->start_ns) {
            break;
        }
        out->longest[place] = out->longest[place - 1];
    }
    out->longest[place] = at;
}

/* Does the link follow one on its own engine at once, whichever of the two orders them? */
static bool goes_on(const char *cause)
{
    return strcmp(cause, bound_cause_name(BOUND_ENGINE)) == 0 ||
           strcmp(cause, bound_cause_name(BOUND_PREDECESSOR)) == 0;
}

/* The link goes on with the last stretch, or begins another. */
static enum weir_status add_to_stretch(struct makeup *out, size_t *room,
                                       const struct run_link *links, size_t at, weir_engine engine,
                                       struct weir_error *err)
{
    struct makeup_stretch *last =
        out->n_stretches == 0 ? NULL : &out->stretches[out->n_stretches - 1];
    enum weir_status status;

    if (last != NULL && weir_same(last->engine, engine) && goes_on(links[at].cause)) {
        last->n_links++;
        last->finish_ns = links[at].finish_ns;
        return WEIR_OK;
    }
    status = array_grow(&out->stretches, room, out->n_stretches + 1, err);
    if (status == WEIR_OK) {
        out->stretches[out->n_stretches++] =
            (struct makeup_stretch){.first = at,
                                    .n_links = 1,
                                    .engine = engine,
                                    .cause = links[at].cause,
                                    .start_ns = links[at].start_ns,
                                    .finish_ns = links[at].finish_ns};
    }
    return status;
}

#define LINKS_AHEAD 16 /* so many memory can bring at once */

static enum weir_status go_through(const struct bound_index *index, const struct run_link *links,
                                   size_t n_links, struct makeup *out, struct weir_error *err)
{
    const struct graph *graph = bind_of(bound_binding(index));
    const struct timeline *timeline = bound_timeline(index);
    enum weir_status status = WEIR_OK;
    size_t room = 0;

    for (size_t i = 0; i < n_links && status == WEIR_OK; i++) {
        weir_node node = links[i].node;
        weir_engine engine = graph_node_engine(graph, node);
        struct makeup_engine *of =
            &out->engines[weir_is(engine) ? engine.index : graph_n_engines(graph)];
        int64_t start_ns = timeline->spans[node.index].start_ns, ran_ns;

        if (i + LINKS_AHEAD < n_links) {
            timeline_soon(timeline, links[i + LINKS_AHEAD].node);
            graph_node_soon(graph, links[i + LINKS_AHEAD].node);
        }
        start_ns = start_ns > links[i].start_ns ? start_ns : links[i].start_ns;
        start_ns = start_ns < links[i].finish_ns ? start_ns : links[i].finish_ns;
        ran_ns = links[i].finish_ns - start_ns;
        add_waiting(index, &links[i], (weir_node){i == 0 ? WEIR_NONE : links[i - 1].node.index},
                    start_ns, out->waited_ns);
        out->ran_ns += ran_ns;
        out->kind_ns[graph_node_kind(graph, node)] += ran_ns;
        of->n_links++;
        of->ran_ns += ran_ns;
        keep_longest(out, links, i);
        status = add_to_stretch(out, &room, links, i, engine, err);
    }
    return status;
}

enum weir_status makeup_find(const struct bound_index *index, const struct run_link *links,
                             size_t n_links, struct makeup *out, struct weir_error *err)
{
    uint32_t n_engines = graph_n_engines(bind_of(bound_binding(index)));
    struct makeup makeup = {.engines = calloc((size_t)n_engines + 1, sizeof *makeup.engines)};
    enum weir_status status;

    if (makeup.engines == NULL) {
        return weir_error_memory(err);
    }
    status = go_through(index, links, n_links, &makeup, err);
    if (status != WEIR_OK) {
        makeup_free(&makeup);
        return status;
    }
    for (uint32_t i = 0; i <= n_engines; i++) {
        if (makeup.engines[i].n_links > 0) {
            makeup.engines[i].engine.index = i == n_engines ? WEIR_NONE : i;
            makeup.engines[makeup.n_engines++] = makeup.engines[i];
        }
    }
    *out = makeup;
    return WEIR_OK;
}

struct length {
    int64_t for_ns;
    size_t at;
};

static int by_length(const void *left, const void *right)
{
    const struct length *a = left, *b = right;

    if (a->for_ns != b->for_ns) {
        return a->for_ns > b->for_ns ? -1 : 1;
    }
    return (a->at > b->at) - (a->at < b->at);
}

static int by_place(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

enum weir_status makeup_longest_stretches(const struct makeup *makeup, size_t most, size_t **out,
                                          size_t *n, struct weir_error *err)
{
    size_t n_all = makeup->n_stretches, n_kept = n_all < most ? n_all : most;
    struct length *lengths = malloc((n_all + 1) * sizeof *lengths);
    size_t *kept = malloc((n_kept + 1) * sizeof *kept);

    if (lengths == NULL || kept == NULL) {
        free(lengths);
        free(kept);
        return weir_error_memory(err);
    }
    for (size_t i = 0; i < n_all; i++) {
        const struct makeup_stretch *stretch = &makeup->stretches[i];

        lengths[i] = (struct length){stretch->finish_ns - stretch->start_ns, i};
    }
    qsort(lengths, n_all, sizeof *lengths, by_length);
    for (size_t i = 0; i < n_kept; i++) {
        kept[i] = lengths[i].at;
    }
    qsort(kept, n_kept, sizeof *kept, by_place);
    free(lengths);
    *out = kept;
    *n = n_kept;
    return WEIR_OK;
}

void makeup_free(struct makeup *makeup)
{
    free(makeup->engines);
    free(makeup->stretches);
    *makeup = (struct makeup){.n_engines = 0};
}
