/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay/steps.h"

#include <stdlib.h>
#include <string.h>

static const void *keep(struct arena *arena, const void *items, size_t n, size_t item_bytes)
{
    void *copy = arena_array(arena, n, item_bytes);

    if (copy != NULL && n > 0)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

enum weir_status steps_take(const struct device_setup *setup, uint32_t n_taken,
                            const struct step *given, struct arena *arena, struct step *out,
                            struct weir_error *err)
{
    if (n_taken == setup->n_steps)
        return weir_error_set(err, WEIR_INPUT, "more steps than the %u that were announced",
                              setup->n_steps);
    if (given->queue != STEP_NO_QUEUE && given->queue >= setup->n_queues)
        return weir_error_set(err, WEIR_INPUT, "step %u is for queue %u of %u", n_taken,
                              given->queue, setup->n_queues);
    *out = *given;
    out->waits = keep(arena, given->waits, given->n_waits, sizeof *given->waits);
    out->reads = keep(arena, given->reads, given->n_reads, sizeof *given->reads);
    out->writes = keep(arena, given->writes, given->n_writes, sizeof *given->writes);
    out->uses = keep(arena, given->uses, given->n_uses, sizeof *given->uses);
    return out->waits == NULL || out->reads == NULL || out->writes == NULL || out->uses == NULL
               ? weir_error_memory(err)
               : WEIR_OK;
}

static int compare_spans(const void *a, const void *b)
{
    const struct steps_span *x = a;
    const struct steps_span *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    return x->step < y->step ? -1 : 1;
}

void steps_write_spans(struct steps_span *spans, uint32_t n, enum time_source source,
                       struct timeline *out)
{
    if (n > 0)
        qsort(spans, n, sizeof *spans, compare_spans);
    out->makespan_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct timeline_span *span = &out->spans[spans[i].node.index];

        span->start_ns = spans[i].start_ns;
        span->finish_ns = spans[i].finish_ns;
        span->order = i;
        span->source = (uint8_t)source;
        if (span->finish_ns > out->makespan_ns)
            out->makespan_ns = span->finish_ns;
    }
}

int64_t steps_stretch_bytes(const struct step_buffer *stretches, uint32_t n)
{
    return n == 0 ? 0 : stretches[n - 1].offset + stretches[n - 1].size_bytes - stretches[0].offset;
}
