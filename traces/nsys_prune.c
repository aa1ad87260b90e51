/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits that say nothing new are left out: a thread that has waited for work has waited for all that
 * came before it on that stream. */
#include <stdlib.h>

#include "traces/nsys_internal.h"
#include "traces/runs.h"

static int by_call(const void *left, const void *right)
{
    const struct nsys_wait *a = left, *b = right;
    int order = nsys_compare(a->call, b->call);

    if (order == 0)
        order = nsys_compare(a->waiting_op, b->waiting_op);
    if (order == 0)
        order = nsys_compare(a->rule, b->rule);
    return order != 0 ? order : nsys_compare(a->op, b->op);
}

/* What a thread has waited for on a stream. */
struct covered {
    int64_t thread;
    int64_t end_ns;
    uint32_t place;
    bool is_any;
};

static bool is_covered(struct covered *covered, int64_t thread, const struct nsys_op *op)
{
    if (covered->is_any && covered->thread == thread && op->place <= covered->place &&
        op->end_ns <= covered->end_ns)
        return true;
    if (!covered->is_any || covered->thread != thread) {
        *covered = (struct covered){thread, op->end_ns, op->place, true};
        return false;
    }
    if (op->place > covered->place)
        covered->place = op->place;
    if (op->end_ns > covered->end_ns)
        covered->end_ns = op->end_ns;
    return false;
}

/* Calls are sorted by thread and start, and waits by call: a thread that has waited for work has
 * waited for all that came before it on that stream. */
enum weir_status nsys_prune_waits(struct nsys *nsys, struct weir_error *err)
{
    struct covered *covered = calloc((size_t)nsys->n_streams + 1, sizeof *covered);
    size_t kept = 0;

    if (covered == NULL)
        return weir_error_memory(err);
    runs_sort(nsys->waits, nsys->n_waits, sizeof *nsys->waits, by_call);
    for (size_t i = 0; i < nsys->n_waits; i++) {
        const struct nsys_wait *wait = &nsys->waits[i];
        const struct nsys_op *op = &nsys->ops[wait->op];

        if (wait->call != NSYS_NONE &&
            is_covered(&covered[op->stream], nsys->calls[wait->call].thread, op))
            continue;
        nsys->waits[kept++] = *wait;
    }
    nsys->n_waits = kept;
    free(covered);
    return WEIR_OK;
}
