/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tags are worked out in program order, which is what says which write a read means; the replay runs
 * in the order of the plan, and finds the same tags when that order kept every edge. */
#include "replay/contents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/segments.h"

#define LEAST_BYTES 64 /* of a stretch, and what its size is a multiple of */
#define MOST_ALIGN_BYTES (2 << 20)

/* Stretches first to first + count - 1 of a copy, with a tag each from tags on. */
struct access {
    uint32_t copy;
    uint32_t first, count;
    uint32_t is_write;
    size_t tags;
};

struct contents {
    const struct binding *binding;
    const struct graph *graph;
    const struct timeline *plan;
    /* By object, for roots: its stretches begin at [first_stretch], each at at_bytes in the object. */
    size_t *first_stretch; /* n_objects + 1 */
    int64_t *at_bytes;     /* of stretch s of root r: [first_stretch[r] + r + s], and the end */
    struct step_buffer *stretches; /* laid out, with the tags of initial copies */
    size_t *first_tag;             /* by copy: its tags now, while they are worked out */
    size_t *first_access;          /* by node, n_nodes + 1; copied ones first, source then target */
    struct access *accesses;
    size_t n_accesses, accesses_room;
    uint64_t *tags;
    size_t n_tags, tags_room;
    uint32_t *first_use; /* by node, n_nodes + 1 */
    uint32_t *uses;      /* copies that may end with the node */
};

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

static uint64_t initial_tag(weir_object root, uint32_t stretch)
{
    return tag_of(root, stretch, WEIR_NONE, 0);
}

/* ---- stretches ---- */

static uint32_t n_stretches_of(const struct contents *contents, weir_object root)
{
    return (uint32_t)(contents->first_stretch[root.index + 1] -
                      contents->first_stretch[root.index]);
}

static int64_t *positions_of(const struct contents *contents, weir_object root)
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
    int64_t *at_bytes = positions_of(contents, root);

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

        for (uint32_t s = 0; copy->is_initial && s < n_stretches_of(contents, copy->object); s++)
            tags[contents->first_tag[c] + s] = initial_tag(copy->object, s);
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
            n_stretches_of(contents, bind_copy(contents->binding, (weir_copy){c})->object);
    state.tags = initial_tags(contents);
    if (state.tags == NULL)
        return weir_error_memory(err);
    status = add_nodes(contents, &state, err);
    free(state.tags);
    return status;
}

/* ---- lifetimes ---- */

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
        for (uint32_t at = 0; bind_last_use(contents->binding, (weir_copy){c}, &at, &node);)
            first[node.index + 2]++;
    }
    for (uint32_t i = 1; i < n_nodes + 2; i++)
        first[i] += first[i - 1];
    contents->uses = arena_array(arena, first[n_nodes + 1], sizeof *contents->uses);
    if (contents->uses == NULL)
        return weir_error_memory(err);
    for (uint32_t c = 0; c < bind_n_copies(contents->binding); c++) {
        for (uint32_t at = 0; bind_last_use(contents->binding, (weir_copy){c}, &at, &node);)
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

/* ---- laying out ---- */

static int64_t scaled_bytes(int64_t bytes, double scale)
{
    double scaled = (double)bytes * scale;
    int64_t whole = scaled < 1e15 ? (int64_t)llround(scaled) : (int64_t)1e15;

    whole += (LEAST_BYTES - whole % LEAST_BYTES) % LEAST_BYTES;
    return whole < LEAST_BYTES ? LEAST_BYTES : whole;
}

static void lay_out_object(const struct contents *contents, weir_object root, double scale)
{
    const int64_t *at_bytes = positions_of(contents, root);
    struct step_buffer *stretches = contents->stretches + contents->first_stretch[root.index];
    int64_t offset = 0;

    for (uint32_t s = 0; s < n_stretches_of(contents, root); s++) {
        int64_t size = scaled_bytes(at_bytes[s + 1] - at_bytes[s], scale);

        stretches[s] =
            (struct step_buffer){.offset = offset, .size_bytes = size, .tag = initial_tag(root, s)};
        offset += size;
    }
}

/* A power of two that the object's alignment divides into, as far as a device goes. */
static int64_t align_of(const struct graph *graph, weir_object object)
{
    struct graph_object value;
    int64_t align = LEAST_BYTES;

    graph_object(graph, object, &value);
    while (align < value.align_bytes && align < MOST_ALIGN_BYTES)
        align *= 2;
    return align;
}

static struct device_buffer make_buffer(const struct contents *contents, weir_copy index,
                                        const uint32_t *step_of)
{
    const struct bind_copy *copy = bind_copy(contents->binding, index);
    uint32_t n = n_stretches_of(contents, copy->object);
    const struct step_buffer *stretches =
        contents->stretches + contents->first_stretch[copy->object.index];
    struct device_buffer buffer = {
        .size_bytes = n == 0 ? LEAST_BYTES : stretches[n - 1].offset + stretches[n - 1].size_bytes,
        .align_bytes = align_of(contents->graph, copy->object),
        .domain = copy->domain,
        .object = copy->object,
        .is_initial = copy->is_initial,
        .allocate_step = WEIR_NONE,
        .reclaim_step = WEIR_NONE,
        .stretches = stretches,
        .n_stretches = n};
    weir_node node;

    if (weir_is(copy->allocation))
        buffer.allocate_step = step_of[copy->allocation.index];
    if (weir_is(copy->reclamation))
        buffer.reclaim_step = step_of[copy->reclamation.index];
    for (uint32_t at = 0; bind_last_use(contents->binding, index, &at, &node);)
        buffer.n_uses++;
    return buffer;
}

enum weir_status contents_lay_out(struct contents *contents, double scale_bytes,
                                  const uint32_t *step_of, struct arena *arena,
                                  struct device_buffer **out, uint32_t *n_buffers,
                                  struct weir_error *err)
{
    uint32_t n_copies = bind_n_copies(contents->binding);
    struct device_buffer *buffers = arena_array(arena, n_copies, sizeof *buffers);

    if (buffers == NULL)
        return weir_error_memory(err);
    for (uint32_t o = 0; o < graph_n_objects(contents->graph); o++) {
        if (n_stretches_of(contents, (weir_object){o}) > 0)
            lay_out_object(contents, (weir_object){o}, scale_bytes);
    }
    for (uint32_t c = 0; c < n_copies; c++)
        buffers[c] = make_buffer(contents, (weir_copy){c}, step_of);
    *out = buffers;
    *n_buffers = n_copies;
    return WEIR_OK;
}

/* ---- steps ---- */

static const struct step_buffer *stretches_of(const struct contents *contents,
                                              const struct access *access)
{
    weir_object root = bind_copy(contents->binding, (weir_copy){access->copy})->object;

    return contents->stretches + contents->first_stretch[root.index] + access->first;
}

/* The stretches of the node's reads, or of its writes, in order. */
static enum weir_status list_stretches(const struct contents *contents, weir_node node,
                                       bool is_write, struct arena *arena,
                                       const struct step_buffer **out, uint32_t *n_out,
                                       struct weir_error *err)
{
    const struct access *end = contents->accesses + contents->first_access[node.index + 1];
    const struct access *begin = contents->accesses + contents->first_access[node.index];
    struct step_buffer *list;
    uint32_t n = 0;

    for (const struct access *access = begin; access < end; access++)
        n += (access->is_write != 0) == is_write ? access->count : 0;
    list = arena_array(arena, n, sizeof *list);
    if (list == NULL)
        return weir_error_memory(err);
    *out = list;
    *n_out = n;
    for (const struct access *access = begin; access < end; access++) {
        for (uint32_t s = 0; (access->is_write != 0) == is_write && s < access->count; s++) {
            *list = stretches_of(contents, access)[s];
            list->buffer = access->copy;
            list->tag = contents->tags[access->tags + s];
            list++;
        }
    }
    return WEIR_OK;
}

/* How many stretches of its source a copy node moves. */
static uint32_t count_copied(const struct contents *contents, weir_node node)
{
    size_t first = contents->first_access[node.index];
    struct graph_node value;

    graph_node(contents->graph, node, &value);
    if (!graph_kind_is_copy(value.kind) || !weir_is(value.object) ||
        first == contents->first_access[node.index + 1])
        return 0;
    return contents->accesses[first].count;
}

enum weir_status contents_fill_step(const struct contents *contents, weir_node node,
                                    struct arena *arena, struct step *step, struct weir_error *err)
{
    enum weir_status status =
        list_stretches(contents, node, false, arena, &step->reads, &step->n_reads, err);

    if (status == WEIR_OK)
        status = list_stretches(contents, node, true, arena, &step->writes, &step->n_writes, err);
    step->n_copied = count_copied(contents, node);
    step->uses = contents->uses + contents->first_use[node.index];
    step->n_uses = contents->first_use[node.index + 1] - contents->first_use[node.index];
    return status;
}
