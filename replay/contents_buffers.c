/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers laid out, and what each step reads, writes and may end. */
#include <math.h>

#include "replay/contents_internal.h"
#include "replay/place.h"

#define LEAST_BYTES 64 /* of a stretch, and what its size is a multiple of */
#define MOST_ALIGN_BYTES (2 << 20)

static int64_t scaled_bytes(int64_t bytes, double scale)
{
    double scaled = (double)bytes * scale;
    int64_t whole = scaled < 1e15 ? (int64_t)llround(scaled) : (int64_t)1e15;

    whole += (LEAST_BYTES - whole % LEAST_BYTES) % LEAST_BYTES;
    return whole < LEAST_BYTES ? LEAST_BYTES : whole;
}

static void lay_out_object(const struct contents *contents, weir_object root, double scale)
{
    const int64_t *at_bytes = contents_positions(contents, root);
    struct step_buffer *stretches = contents->stretches + contents->first_stretch[root.index];
    int64_t offset = 0;

    for (uint32_t s = 0; s < contents_n_stretches(contents, root); s++) {
        int64_t size = scaled_bytes(at_bytes[s + 1] - at_bytes[s], scale);

        stretches[s] = (struct step_buffer){
            .offset = offset, .size_bytes = size, .tag = contents_initial_tag(root, s)};
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
    uint32_t n = contents_n_stretches(contents, copy->object);
    const struct step_buffer *stretches =
        contents->stretches + contents->first_stretch[copy->object.index];
    struct device_buffer buffer = {
        .size_bytes = n == 0 ? LEAST_BYTES : stretches[n - 1].offset + stretches[n - 1].size_bytes,
        .align_bytes = align_of(contents->graph, copy->object),
        .is_host_memory = place_of(contents->graph, copy->domain).is_host_memory,
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
    for (uint32_t at = 0; contents_last_use(contents, index, &at, &node);)
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
        if (contents_n_stretches(contents, (weir_object){o}) > 0)
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
