/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the induced edges do not say about bytes: they hold only if copies begin with the nodes that
 * began them. */
#include <stdlib.h>

#include "sim/retime_internal.h"

static bool may_begin(const struct retime_build *build, const struct bind_touch *touch)
{
    const struct bind_copy *copy = bind_copy(build->binding, touch->copy);

    return !copy->is_initial && !weir_is(copy->allocation) && (touch->roles & BIND_FILLS) != 0;
}

/* In the order of starts the first that may begin a copy begins it. */
enum weir_status retime_order_bytes(struct retime_build *build)
{
    uint32_t n_copies = bind_n_copies(build->binding);
    weir_node *begun_by = malloc(((size_t)n_copies + 1) * sizeof *begun_by);
    enum weir_status status = begun_by == NULL ? weir_error_memory(build->err) : WEIR_OK;

    for (uint32_t i = 0; i < n_copies && begun_by != NULL; i++) {
        begun_by[i].index = WEIR_NONE;
    }
    for (uint32_t i = 0; i < build->n_started && status == WEIR_OK; i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(build->binding, build->order[i], &n_touches);

        for (uint32_t j = 0; j < n_touches && status == WEIR_OK; j++) {
            weir_node *begins = &begun_by[touches[j].copy.index];

            if (!may_begin(build, &touches[j])) {
                continue;
            }
            if (!weir_is(*begins)) {
                *begins = build->order[i];
            } else if (!weir_same(*begins, build->order[i])) {
                status = retime_add_pair(build, *begins, build->order[i], true);
            }
        }
    }
    free(begun_by);
    return status;
}
