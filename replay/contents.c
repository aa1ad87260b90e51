/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tags are worked out in program order, which is what says which write a read means; the replay runs
 * in the order of the plan, and finds the same tags when that order kept every edge. */
#include "replay/contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/segments.h"
#include "replay/contents_internal.h"

/* ---- tags ---- */

/* Source: the finalizer of splitmix64. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of a stretch that the node wrote after it read what inputs stands for; never 0. */
static uint64_t tag_of(weir_object root, uint32_t stretch, uint32_t node, uint64_t inputs)
{
    uint64_t tag = mix(mix(mix(mix(1, root.index), stretch), node), inputs);

    return tag == 0 ? 1 : tag;
}

uint64_t contents_initial_tag(weir_object root, uint32_t stretch)
{
    return tag_of(root, stretch, WEIR_NONE, 0);
}

/* ---- stretches ---- */

uint32_t contents_n_stretches(const struct contents *contents, weir_object root)
{
    return (uint32_t)(contents->first_stretch[root.index + 1] -
                      contents->first_stretch[root.index]);
}

int64_t *contents_positions(const struct contents *contents, weir_object root)
{
    return contents->at_bytes + contents->first_stretch[root.index] + root.index;
}

static void place_object(const struct contents *contents, const struct segments *segments,
                         weir_object object)
{
    struct segment_range range = segments_of(segments, object);
    struct graph_object value;
    int64_t offset;
    weir_object root = graph_object_root(contents->graph, object, &offset);
    int64_t *at_bytes = contents_positions(contents, root);

    graph_object(contents->graph, object, &value);
    at_bytes[range.first] = offset;
    at_bytes[range.first + range.count] = offset + value.size_bytes;
}

static enum weir_status cut_objects(struct contents *contents, const struct segments *segments,
                                    struct arena *arena, struct weir_error *err)
{
    uint32_t n_objects = graph_n_objects(contents->graph);

    contents->first_stretch =
        arena_array(arena, (size_t)n_objects + 1, sizeof *contents->first_stretch);
    if (contents->first_stretch == NULL)
        return weir_error_memory(err);
    for (uint32_t o = 0; o < n_objects; o++) {
        weir_object object = {o};
        bool is_root = weir_same(graph_object_root(contents->graph, object, NULL), object);

        contents->first_stretch[o + 1] =
            contents->first_stretch[o] + (is_root ? segments_of(segments, object).count : 0);
    }
    contents->at_bytes = arena_array(arena, contents->first_stretch[n_objects] + n_objects + 1,
                                     sizeof *contents->at_bytes);
    contents->stretches =
        arena_array(arena, contents->first_stretch[n_objects], sizeof *contents->stretches);
    if (contents->at_bytes == NULL || contents->stretches == NULL)
        return weir_error_memory(err);
    for (uint32_t o = 0; o < n_objects; o++)
        place_object(contents, segments, (weir_object){o});
    return WEIR_OK;
}

/* ---- accesses, in program order ---- */

/* The tags of all copies as they are when a node runs. */
struct state {
    uint64_t *tags; /* of copy c from first_tag[c] on */
    const struct segments *segments;
    uint64_t inputs; /* of the node at work: a hash of the tags it read */
};

/* The copy of the root in that domain which the node touches in that role; WEIR_NONE. */
static uint32_t find_copy(const struct contents *contents, weir_node node, weir_object root,
                          weir_domain domain, uint32_t role)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(contents->binding, node, &n_touches);

    for (uint32_t t = 0; t < n_touches; t++) {
        const struct bind_copy *copy = bind_copy(contents->binding, touches[t].copy);

        if ((touches[t].roles & role) != 0 && weir_same(copy->object, root) &&
            weir_same(copy->domain, domain))
            return touches[t].copy.index;
    }
    return WEIR_NONE;
}

/* Adds an access to the stretches of the object in the copy, with room for its tags.
 * @return WEIR_OK and *out NULL when there is no such copy */
static enum weir_status add_access(struct contents *contents, const struct state *state,
                                   weir_object object, uint32_t copy, bool is_write,
                                   struct access **out, struct weir_error *err)
{
    struct segment_range range = segments_of(state->segments, object);
    enum weir_status status;

    *out = NULL;
    if (copy == WEIR_NONE)
        return WEIR_OK;
    status =
        array_grow(&contents->accesses, &contents->accesses_room, contents->n_accesses + 1, err);
    if (status == WEIR_OK)
        status =
            array_grow(&contents->tags, &contents->tags_room, contents->n_tags + range.count, err);
    if (status != WEIR_OK)
        return status;
    *out = &contents->accesses[contents->n_accesses++];
    **out = (struct access){copy, range.first, range.count, is_write, contents->n_tags};
    contents->n_tags += range.count;
    return WEIR_OK;
}

static uint64_t *tags_now(const struct contents *contents, const struct state *state,
                          const struct access *access)
{
    return state->tags + contents->first_tag[access->copy] + access->first;
}

static enum weir_status add_read(struct contents *contents, struct state *state, weir_object object,
                                 uint32_t copy, struct weir_error *err)
{
    struct access *access;
    enum weir_status status = add_access(contents, state, object, copy, false, &access, err);

    if (status != WEIR_OK || access == NULL)
        return status;
    for (uint32_t s = 0; s < access->count; s++) {
        contents->tags[access->tags + s] = tags_now(contents, state, access)[s];
        state->inputs = mix(state->inputs, contents->tags[access->tags + s]);
    }
    return WEIR_OK;
}

/* A copy fills its target with what it found in its source. */
static enum weir_status add_copied(struct contents *contents, struct state *state, weir_node node,
                                   const struct graph_node *value, struct weir_error *err)
{
    weir_object root = graph_object_root(contents->graph, value->object, NULL);
    uint32_t source =
        find_copy(contents, node, root, graph_node_from(contents->graph, node), BIND_READS);
    uint32_t target =
        find_copy(contents, node, root, graph_node_to(contents->graph, node), BIND_FILLS);
    struct access *access;
    size_t found = contents->n_tags;
    enum weir_status status;

    if (source == WEIR_NONE || target == WEIR_NONE)
        return WEIR_OK;
    status = add_read(contents, state, value->object, source, err);
    if (status == WEIR_OK)
        status = add_access(contents, state, value->object, target, true, &access, err);
    for (uint32_t s = 0; status == WEIR_OK && s < access->count; s++) {
        contents->tags[access->tags + s] = contents->tags[found + s];
        tags_now(contents, state, access)[s] = contents->tags[found + s];
    }
    return status;
}

static enum weir_status add_reads(struct contents *contents, struct state *state, weir_node node,
                                  const struct graph_node *value, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < value->n_reads && status == WEIR_OK; i++) {
        weir_object root = graph_object_root(contents->graph, value->reads[i].object, NULL);
        weir_domain domain = weir_is(value->reads[i].domain)
                                 ? value->reads[i].domain
                                 : graph_node_domain(contents->graph, node);
        uint32_t copy = find_copy(contents, node, root, domain, BIND_READS);

        if (copy == WEIR_NONE && !weir_is(value->reads[i].domain)) /* through a mapping */
            copy =
                find_copy(contents, node, root,
                          graph_object_home(contents->graph, value->reads[i].object), BIND_READS);
        status = add_read(contents, state, value->reads[i].object, copy, err);
    }
    return status;
}

static enum weir_status add_writes(struct contents *contents, struct state *state, weir_node node,
                                   const struct graph_node *value, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < value->n_writes && status == WEIR_OK; i++) {
        weir_object root = graph_object_root(contents->graph, value->writes[i], NULL);
        struct access *access;

        status = add_access(
            contents, state, value->writes[i],
            find_copy(contents, node, root, graph_node_domain(contents->graph, node), BIND_FILLS),
            true, &access, err);
        for (uint32_t s = 0; status == WEIR_OK && access != NULL && s < access->count; s++) {
            uint64_t tag = tag_of(root, access->first + s, node.index, state->inputs);

            contents->tags[access->tags + s] = tag;
            tags_now(contents, state, access)[s] = tag;
        }
    }
    return status;
}

/* A copy that begins holds nothing; one that ends holds nothing any more. */
static enum weir_status add_storage(struct contents *contents, struct state *state, weir_node node,
                                    struct weir_error *err)
{
    uint32_t n_touches;
    const struct bind_touch *touches = bind_touches(contents->binding, node, &n_touches);
    enum weir_status status = WEIR_OK;

    for (uint32_t t = 0; t < n_touches && status == WEIR_OK; t++) {
        struct access *access;

        if ((touches[t].roles & (BIND_ALLOCATES | BIND_RECLAIMS)) == 0)
            continue;
        status = add_access(contents, state, bind_copy(contents->binding, touches[t].copy)->object,
                            touches[t].copy.index, true, &access, err);
        for (uint32_t s = 0; status == WEIR_OK && s < access->count; s++) {
            contents->tags[access->tags + s] = 0;
            tags_now(contents, state, access)[s] = 0;
        }
        if (status == WEIR_OK)
            access->count = 1; /* one stretch stands for the buffer */
    }
    return status;
}

static enum weir_status add_node(struct contents *contents, struct state *state, weir_node node,
                                 struct weir_error *err)
{
    struct graph_node value;
    enum weir_status status = WEIR_OK;

    graph_node(contents->graph, node, &value);
    state->inputs = 0;
    if (graph_kind_is_copy(value.kind) && weir_is(value.object))
        status = add_copied(contents, state, node, &value, err);
    if (status == WEIR_OK)
        status = add_reads(contents, state, node, &value, err);
    if (status == WEIR_OK)
        status = add_writes(contents, state, node, &value, err);
    return status == WEIR_OK ? add_storage(contents, state, node, err) : status;
}

static enum weir_status add_nodes(struct contents *contents, struct state *state,
                                  struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(contents->graph);
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        contents->first_access[i] = contents->n_accesses;
        if (contents->plan->spans[i].start_ns >= 0)
            status = add_node(contents, state, (weir_node){i}, err);
    }
    contents->first_access[n_nodes] = contents->n_accesses;
    return status;
}

/* @return the tags before anything ran, malloc'ed; NULL when memory ran out */
static uint64_t *initial_tags(const struct contents *contents)
{
    uint32_t n_copies = bind_n_copies(contents->binding);
    uint64_t *tags = calloc(contents->first_tag[n_copies] + 1, sizeof *tags);

    for (uint32_t c = 0; c < n_copies && tags != NULL; c++) {
        const struct bind_copy *copy = bind_copy(contents->binding, (weir_copy){c});

        for (uint32_t s = 0; copy->is_initial && s < contents_n_stretches(contents, copy->object);
             s++)
            tags[contents->first_tag[c] + s] = contents_initial_tag(copy->object, s);
    }
    return tags;
}

static enum weir_status work_out_tags(struct contents *contents, const struct segments *segments,
                                      struct arena *arena, struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(contents->binding);
    struct state state = {.segments = segments};
    enum weir_status status;

    contents->first_tag = arena_array(arena, (size_t)n_copies + 1, sizeof *contents->first_tag);
    contents->first_access = arena_array(arena, (size_t)graph_n_nodes(contents->graph) + 1,
                                         sizeof *contents->first_access);
    if (contents->first_tag == NULL || contents->first_access == NULL)
        return weir_error_memory(err);
    for (uint32_t c = 0; c < n_copies; c++)
        contents->first_tag[c + 1] =
            contents->first_tag[c] +
            contents_n_stretches(contents, bind_copy(contents->binding, (weir_copy){c})->object);
    state.tags = initial_tags(contents);
    if (state.tags == NULL)
        return weir_error_memory(err);
    status = add_nodes(contents, &state, err);
    free(state.tags);
    return status;
}

/* ---- lifetimes ---- */

bool contents_last_use(const struct contents *contents, weir_copy index, uint32_t *at,
                       weir_node *node)
{
    const struct bind_copy *copy = bind_copy(contents->binding, index);

    return !copy->stays && !weir_is(copy->reclamation) &&
           bind_last_use(contents->binding, index, at, node);
}

/* Which copies may end with each node. */
static enum weir_status list_uses(struct contents *contents, struct arena *arena,
                                  struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(contents->graph);
    uint32_t *first = arena_array(arena, (size_t)n_nodes + 2, sizeof *first);
    weir_node node;

    if (first == NULL)
        return weir_error_memory(err);
    for (uint32_t c = 0; c < bind_n_copies(contents->binding); c++) {
        for (uint32_t at = 0; contents_last_use(contents, (weir_copy){c}, &at, &node);)
            first[node.index + 2]++;
    }
    for (uint32_t i = 1; i < n_nodes + 2; i++)
        first[i] += first[i - 1];
    contents->uses = arena_array(arena, first[n_nodes + 1], sizeof *contents->uses);
    if (contents->uses == NULL)
        return weir_error_memory(err);
    for (uint32_t c = 0; c < bind_n_copies(contents->binding); c++) {
        for (uint32_t at = 0; contents_last_use(contents, (weir_copy){c}, &at, &node);)
            contents->uses[first[node.index + 1]++] = c;
    }
    contents->first_use = first;
    return WEIR_OK;
}

/* Moves the growing arrays into the arena. */
static enum weir_status settle(struct contents *contents, struct arena *arena,
                               struct weir_error *err)
{
    struct access *accesses = arena_array(arena, contents->n_accesses, sizeof *accesses);
    uint64_t *tags = arena_array(arena, contents->n_tags, sizeof *tags);
    bool is_there = accesses != NULL && tags != NULL;

    if (is_there && contents->n_accesses > 0)
        memcpy(accesses, contents->accesses, contents->n_accesses * sizeof *accesses);
    if (is_there && contents->n_tags > 0)
        memcpy(tags, contents->tags, contents->n_tags * sizeof *tags);
    free(contents->accesses);
    free(contents->tags);
    contents->accesses = accesses;
    contents->tags = tags;
    return is_there ? WEIR_OK : weir_error_memory(err);
}

enum weir_status contents_make(const struct binding *binding, const struct timeline *plan,
                               struct arena *arena, struct contents **out, struct weir_error *err)
{
    struct contents *contents = arena_alloc(arena, sizeof *contents);
    struct segments segments;
    enum weir_status status;

    if (contents == NULL)
        return weir_error_memory(err);
    *contents = (struct contents){.binding = binding, .graph = bind_of(binding), .plan = plan};
    status = segments_cut(contents->graph, &segments, err);
    if (status != WEIR_OK)
        return status;
    status = cut_objects(contents, &segments, arena, err);
    if (status == WEIR_OK)
        status = work_out_tags(contents, &segments, arena, err);
    segments_free(&segments);
    if (status != WEIR_OK) {
        free(contents->accesses);
        free(contents->tags);
        return status;
    }
    status = settle(contents, arena, err);
    if (status == WEIR_OK)
        status = list_uses(contents, arena, err);
    if (status == WEIR_OK)
        *out = contents;
    return status;
}
