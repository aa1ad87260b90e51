/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node takes when it starts: the copies that begin with it, its workspace, its staging. */
#include "judge/verify_internal.h"

bool verify_may_begin(const struct verify *verify, const struct verify_touch *touch)
{
    const struct verify_copy *copy = &verify->copies[touch->copy];

    if (copy->is_initial) {
        return false;
    }
    return (touch->roles & (weir_is(copy->allocation) ? TOUCH_ALLOCATES : TOUCH_FILLS)) != 0;
}

uint32_t verify_most_needs(const struct verify *verify)
{
    return verify->n_domains + 1;
}

static uint32_t add(struct verify_need *needs, uint32_t n, uint32_t domain, int64_t bytes)
{
    if (bytes <= 0) {
        return n;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (needs[i].domain == domain) {
            needs[i].bytes += bytes;
            return n;
        }
    }
    needs[n] = (struct verify_need){domain, bytes};
    return n + 1;
}

/* Workspace and staging, behind what is there. */
static uint32_t add_charges(const struct verify *verify, uint32_t node, struct verify_need *needs,
                            uint32_t n)
{
    struct graph_node value;

    graph_node(verify->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        n = add(needs, n,
                graph_charge_domain(verify->graph, (weir_node){node}, &value.workspace[i]).index,
                value.workspace[i].bytes);
    }
    if (value.staging.bytes > 0) {
        n = add(needs, n,
                graph_charge_domain(verify->graph, (weir_node){node}, &value.staging).index,
                value.staging.bytes);
    }
    return n;
}

uint32_t verify_needs_at(const struct verify *verify, uint32_t node, int64_t t_ns,
                         struct verify_need *needs)
{
    uint32_t n = 0;

    for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
        const struct verify_copy *copy = &verify->copies[verify->touches[i].copy];

        if (verify_may_begin(verify, &verify->touches[i]) && copy->begin.ns > t_ns) {
            n = add(needs, n, copy->domain.index, copy->bytes);
        }
    }
    return add_charges(verify, node, needs, n);
}

uint32_t verify_needs_of(const struct verify *verify, uint32_t node, const bool *has_begun,
                         struct verify_need *needs)
{
    uint32_t n = 0;

    for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
        const struct verify_copy *copy = &verify->copies[verify->touches[i].copy];

        if (verify_may_begin(verify, &verify->touches[i]) && !has_begun[verify->touches[i].copy]) {
            n = add(needs, n, copy->domain.index, copy->bytes);
        }
    }
    return add_charges(verify, node, needs, n);
}
