/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay/place.h"

struct place place_of(const struct graph *graph, weir_domain domain)
{
    bool is_host_memory = weir_is(domain) && domain.index != 0;

    for (uint32_t i = 0; i < graph_n_engines(graph) && is_host_memory; i++) {
        const struct graph_engine *engine = graph_engine(graph, (weir_engine){i});

        if (!weir_is(engine->from) && !weir_is(engine->to) && weir_same(engine->domain, domain))
            is_host_memory = false;
    }
    return (struct place){domain, is_host_memory};
}
