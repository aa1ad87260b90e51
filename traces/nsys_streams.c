/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the work on each stream: as it was launched, which the correlation ids give. Work
 * that shares an id (inside a graph launch) or has no launcher in the file goes by its start. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys_internal.h"
#include "traces/runs.h"

struct place {
    uint32_t stream, op;
    bool is_linked;
    int64_t correlation, start_ns;
};

/* By stream; the launched ones first, by id; then the others. Ops come sorted by start. */
static int by_launch(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = nsys_compare(a->stream, b->stream);

    if (order == 0)
        order = nsys_compare(b->is_linked, a->is_linked);
    if (order == 0 && a->is_linked)
        order = nsys_compare(a->correlation, b->correlation);
    return order != 0 ? order : nsys_compare(a->op, b->op);
}

/* Two orders that are each right become one, by start. */
static void merge(const struct place *linked, size_t n_linked, const struct place *others,
                  size_t n_others, uint32_t *work)
{
    size_t i = 0, j = 0, n = 0;

    while (i < n_linked || j < n_others) {
        bool is_linked_next =
            j == n_others || (i < n_linked && linked[i].start_ns <= others[j].start_ns);
        work[n++] = is_linked_next ? linked[i++].op : others[j++].op;
    }
}

static void order_one(struct nsys *nsys, struct nsys_stream *stream, const struct place *places)
{
    size_t n_linked = 0;
    int64_t reach = 0;
    uint32_t latest = NSYS_NONE;

    while (n_linked < stream->n && places[n_linked].is_linked)
        n_linked++;
    merge(places, n_linked, places + n_linked, stream->n - n_linked, &nsys->work[stream->first]);
    for (uint32_t at = 0; at < stream->n; at++) {
        uint32_t id = nsys->work[stream->first + at];
        struct nsys_op *op = &nsys->ops[id];

        op->place = at;
        if (op->correlation > reach)
            reach = op->correlation;
        if (latest == NSYS_NONE || op->end_ns > nsys->ops[latest].end_ns)
            latest = id;
        nsys->reach[stream->first + at] = reach;
        nsys->latest[stream->first + at] = latest;
    }
}

enum weir_status nsys_order_streams(struct nsys *nsys, struct weir_error *err)
{
    size_t n = 0;
    struct place *places = malloc(((size_t)nsys->n_ops + 1) * sizeof *places);

    nsys->work = malloc(((size_t)nsys->n_ops + 1) * sizeof *nsys->work);
    nsys->reach = malloc(((size_t)nsys->n_ops + 1) * sizeof *nsys->reach);
    nsys->latest = malloc(((size_t)nsys->n_ops + 1) * sizeof *nsys->latest);
    if (places == NULL || nsys->work == NULL || nsys->reach == NULL || nsys->latest == NULL) {
        free(places);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < nsys->n_ops; i++) {
        const struct nsys_op *op = &nsys->ops[i];
        if ((op->flags & OP_IS_DROPPED) == 0)
            places[n++] =
                (struct place){op->stream, i, op->call != NSYS_NONE, op->correlation, op->start_ns};
    }
    runs_sort(places, n, sizeof *places, by_launch);
    for (size_t i = 0; i < n; i++) {
        struct nsys_stream *stream = &nsys->streams[places[i].stream];
        if (stream->n++ == 0)
            stream->first = (uint32_t)i;
    }
    for (uint32_t i = 0; i < nsys->n_streams; i++)
        order_one(nsys, &nsys->streams[i], places + nsys->streams[i].first);
    free(places);
    return WEIR_OK;
}

/* The first place whose reach is at least the id. */
static uint32_t first_reaching(const struct nsys *nsys, const struct nsys_stream *stream,
                               int64_t correlation)
{
    uint32_t low = 0, high = stream->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (nsys->reach[stream->first + middle] < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t nsys_last_before(const struct nsys *nsys, const struct nsys_stream *stream,
                          int64_t correlation)
{
    uint32_t place = first_reaching(nsys, stream, correlation);

    return place == 0 ? NSYS_NONE : place - 1;
}

uint32_t nsys_first_after(const struct nsys *nsys, const struct nsys_stream *stream,
                          int64_t correlation)
{
    uint32_t place =
        correlation == INT64_MAX ? stream->n : first_reaching(nsys, stream, correlation + 1);

    return place == stream->n ? NSYS_NONE : place;
}

void nsys_streams_of(const struct nsys *nsys, int64_t process, uint32_t *from, uint32_t *to)
{
    uint32_t low = 0, high = nsys->n_streams;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (nsys->streams[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    *from = low;
    for (*to = low; *to < nsys->n_streams && nsys->streams[*to].process == process; (*to)++)
        continue;
}

static enum weir_status put(struct nsys_frontier *frontier, uint32_t op, struct weir_error *err)
{
    enum weir_status status = array_grow(&frontier->ops, &frontier->room, frontier->n + 1, err);

    if (status == WEIR_OK)
        frontier->ops[frontier->n++] = op;
    return status;
}

static enum weir_status add_stream(const struct nsys *nsys, const struct nsys_stream *stream,
                                   int64_t correlation, struct nsys_frontier *out,
                                   struct weir_error *err)
{
    uint32_t place =
        stream->kind == STREAM_MIGRATIONS ? NSYS_NONE : nsys_last_before(nsys, stream, correlation);
    enum weir_status status;

    if (place == NSYS_NONE)
        return WEIR_OK;
    status = put(out, nsys->work[stream->first + place], err);
    if (status == WEIR_OK &&
        nsys->latest[stream->first + place] != nsys->work[stream->first + place])
        status = put(out, nsys->latest[stream->first + place], err);
    return status;
}

enum weir_status nsys_add_frontier(const struct nsys *nsys, uint32_t from, uint32_t to,
                                   int64_t correlation, struct nsys_frontier *out,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = from; i < to && status == WEIR_OK; i++)
        status = add_stream(nsys, &nsys->streams[i], correlation, out, err);
    return status;
}

/* What is recorded in the null stream comes after all blocking streams, and the other way round. */
enum weir_status nsys_stream_frontier(const struct nsys *nsys, uint32_t stream, int64_t correlation,
                                      struct nsys_frontier *out, struct weir_error *err)
{
    const struct nsys_stream *of = &nsys->streams[stream];
    uint8_t other = of->kind == STREAM_NULL       ? STREAM_BLOCKING
                    : of->kind == STREAM_BLOCKING ? STREAM_NULL
                                                  : STREAM_MIGRATIONS;
    enum weir_status status;

    out->n = 0;
    status = add_stream(nsys, of, correlation, out, err);
    out->n_own = out->n;
    for (uint32_t i = of->group; i < of->group_end && status == WEIR_OK; i++) {
        if (nsys->streams[i].kind == other && other != STREAM_MIGRATIONS)
            status = add_stream(nsys, &nsys->streams[i], correlation, out, err);
    }
    return status;
}
