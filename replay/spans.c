/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay/spans.h"

#include <stdlib.h>

static int compare_items(const void *a, const void *b)
{
    const struct spans_item *x = a;
    const struct spans_item *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    return x->step < y->step ? -1 : 1;
}

void spans_write(struct spans_item *items, uint32_t n, enum time_source source,
                 struct timeline *out)
{
    if (n > 0)
        qsort(items, n, sizeof *items, compare_items);
    out->makespan_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct timeline_span *span = &out->spans[items[i].node.index];

        span->start_ns = items[i].start_ns;
        span->finish_ns = items[i].finish_ns;
        span->order = i;
        span->source = (uint8_t)source;
        if (span->finish_ns > out->makespan_ns)
            out->makespan_ns = span->finish_ns;
    }
}

int64_t spans_stretch_bytes(const struct step_buffer *stretches, uint32_t n)
{
    return n == 0 ? 0 : stretches[n - 1].offset + stretches[n - 1].size_bytes - stretches[0].offset;
}
