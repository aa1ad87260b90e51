/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can every schedule go on to its end with the bytes that there are?
 *
 * A run is stuck when nothing runs, something is left, and nothing that is ready fits. Then the nodes
 * that have started are those that have finished, and with a node all that leads to it. Take the
 * longest chain of nodes c1 < c2 < ... < ck. A stuck run has finished the first j of them, for some j,
 * and then
 *   - a copy may be live only if what begins it is not behind c(j+1), and what ends it is not before cj;
 *   - some node that leads to c(j+1), or is it, and does not lead to cj, is ready (if j = k: some node
 *     that leads to none of them).
 * If for every j the copies that may be live leave room for each of those nodes, no run is stuck. A node
 * that always fits is never what a stuck run waits with: so it has finished as soon as all before it
 * have. That is so of nodes that take no bytes, reclamations above all, and, once a bound on the live
 * bytes is known, of more nodes; so the bound is found a few times over. It counts too many bytes, never
 * too few: what it proves holds, what it does not prove is unknown. */
#include <stdlib.h>
#include <string.h>

#include "graph/analyze.h"
#include "graph/graph_internal.h"

#define ROUNDS 4
#define MOST_DOMAINS \
    64 /* for more the proof is not tried: it keeps their bytes for each node of the chain */

struct proof {
    const struct analysis *analysis;
    const struct graph *graph;
    uint32_t n_nodes, n_domains, n_chain;
    uint32_t *after;       /* by node: the last of the chain that is it or leads to it; 0: none */
    uint32_t *until;       /* by node: the first of the chain that it is or leads to; n_chain + 1 */
    uint32_t *settled;     /* by node: a stuck run with that many of the chain has finished it */
    uint32_t *users_until; /* by copy: the greatest `settled` of what touches it */
    uint32_t *begins;      /* by copy: least `after` of what may begin it */
    bool *always_fits;     /* by node */
    int64_t *held;         /* by place in the chain, then domain */
    int64_t *most;         /* by domain: the greatest of held */
    int64_t *need;         /* by domain, of the node at hand */
};

static int64_t room_of(const struct graph *graph, uint32_t domain)
{
    return graph->domains[domain].capacity_bytes - graph->domains[domain].reserve_bytes;
}

/* Workspace and staging of a node that runs, that many times. */
static void add_charges(const struct graph *graph, weir_node node, int64_t times, int64_t *bytes)
{
    struct graph_node value;

    if (graph->nodes[node.index].rare == 0 || !graph_node_is_on(graph, node)) {
        return;
    }
    graph_node(graph, node, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        bytes[graph_charge_domain(graph, node, &value.workspace[i]).index] +=
            times * value.workspace[i].bytes;
    }
    if (value.staging.bytes > 0) {
        bytes[graph_charge_domain(graph, node, &value.staging).index] +=
            times * value.staging.bytes;
    }
}

void analyze_charges(const struct graph *graph, weir_node node, int64_t *bytes)
{
    add_charges(graph, node, 1, bytes);
}

/* --- what is certain --- */

void analyze_always(const struct binding *binding, int64_t *always_bytes, int64_t *initial_bytes)
{
    uint32_t n_domains = graph_n_domains(bind_of(binding));

    memset(always_bytes, 0, n_domains * sizeof *always_bytes);
    memset(initial_bytes, 0, n_domains * sizeof *initial_bytes);
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});

        if (copy->is_initial) {
            initial_bytes[copy->domain.index] += copy->bytes;
            always_bytes[copy->domain.index] += copy->stays ? copy->bytes : 0;
        }
    }
}

static void add_touches(const struct binding *binding, weir_node node, int64_t times,
                        int64_t *bytes)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(binding, touches[i].copy);

        if (!(copy->is_initial && copy->stays)) {
            bytes[copy->domain.index] += times * copy->bytes;
        }
    }
}

static void note_excess(const struct graph *graph, weir_domain domain, const int64_t *bytes,
                        weir_domain *over)
{
    if (bytes[domain.index] > room_of(graph, domain.index) &&
        (!weir_is(*over) || domain.index < over->index)) {
        *over = domain;
    }
}

bool analyze_never_fits(const struct binding *binding, weir_node node, int64_t *always_bytes,
                        weir_domain *domain, int64_t *live_bytes)
{
    const struct graph *graph = bind_of(binding);
    struct graph_node value;
    uint32_t n;
    const struct bind_touch *touches = bind_touches(binding, node, &n);

    domain->index = WEIR_NONE;
    add_touches(binding, node, 1, always_bytes);
    add_charges(graph, node, 1, always_bytes);
    for (uint32_t i = 0; i < n; i++) {
        note_excess(graph, bind_copy(binding, touches[i].copy)->domain, always_bytes, domain);
    }
    if (graph->nodes[node.index].rare != 0) {
        graph_node(graph, node, &value);
        for (uint32_t i = 0; i < value.n_workspace; i++) {
            note_excess(graph, graph_charge_domain(graph, node, &value.workspace[i]), always_bytes,
                        domain);
        }
        if (value.staging.bytes > 0) {
            note_excess(graph, graph_charge_domain(graph, node, &value.staging), always_bytes,
                        domain);
        }
    }
    *live_bytes = weir_is(*domain) ? always_bytes[domain->index] : 0;
    add_touches(binding, node, -1, always_bytes);
    add_charges(graph, node, -1, always_bytes);
    return weir_is(*domain);
}

/* A node that can never have its bytes, or the initial copies. */
static bool is_short(const struct proof *proof, struct analyze_progress *out)
{
    const struct binding *binding = proof->analysis->binding;
    int64_t *always = proof->held, *initial = proof->most; /* room that is not used yet */
    weir_domain domain;
    int64_t live;

    analyze_always(binding, always, initial);
    for (uint32_t d = 0; d < proof->n_domains; d++) {
        if (initial[d] > room_of(proof->graph, d)) {
            *out = (struct analyze_progress){
                PROGRESS_SHORT, false, {WEIR_NONE}, {d}, 0, initial[d], room_of(proof->graph, d)};
            return true;
        }
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        if (proof->analysis->is_standby[i] || !graph_node_is_on(proof->graph, (weir_node){i}) ||
            rare_id(&proof->graph->rares, proof->graph->nodes[i].rare, NODE_RARE_FALLBACK_NODE) !=
                WEIR_NONE) {
            continue; /* it need not run */
        }
        if (analyze_never_fits(binding, (weir_node){i}, always, &domain, &live)) {
            *out = (struct analyze_progress){PROGRESS_SHORT,
                                             false,
                                             {i},
                                             domain,
                                             always[domain.index],
                                             live - always[domain.index],
                                             room_of(proof->graph, domain.index)};
            return true;
        }
    }
    return false;
}

bool analyze_all_fits(const struct binding *binding, int64_t *copies_bytes, int64_t *charges_bytes)
{
    const struct graph *graph = bind_of(binding);

    memset(copies_bytes, 0, graph->n_domains * sizeof *copies_bytes);
    memset(charges_bytes, 0, graph->n_domains * sizeof *charges_bytes);
    for (uint32_t i = 0; i < bind_n_copies(binding); i++) {
        const struct bind_copy *copy = bind_copy(binding, (weir_copy){i});
        int64_t *sum = &copies_bytes[copy->domain.index];

        if (__builtin_add_overflow(*sum, copy->bytes, sum)) {
            return false; /* an object may have very many copies one after another */
        }
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        analyze_charges(graph, (weir_node){i}, charges_bytes);
    }
    for (uint32_t d = 0; d < graph->n_domains; d++) {
        if (copies_bytes[d] > room_of(graph, d) - charges_bytes[d]) {
            return false;
        }
    }
    return true;
}

/* --- the chain --- */

/* The node with the most nodes before it, and of each node the one before it on the longest way. */
static uint32_t longest_way(const struct proof *proof, uint32_t *depth, uint32_t *from)
{
    const struct adjacency *next = &proof->analysis->next;
    uint32_t last = 0;

    memset(depth, 0, proof->n_nodes * sizeof *depth);
    memset(from, 0xff, proof->n_nodes * sizeof *from);
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = bind_order(proof->analysis->binding, i).index;

        last = depth[node] > depth[last] ? node : last;
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t consumer = next->items[j].consumer;

            if (depth[node] + 1 > depth[consumer]) {
                depth[consumer] = depth[node] + 1;
                from[consumer] = node;
            }
        }
    }
    return last;
}

/* Fills after and until with the places of the chain, then spreads them. */
static void place_chain(struct proof *proof)
{
    const struct adjacency *next = &proof->analysis->next;
    uint32_t last = longest_way(proof, proof->after, proof->until), place;

    proof->n_chain = proof->after[last] + 1;
    memset(proof->settled, 0, proof->n_nodes * sizeof *proof->settled);
    for (uint32_t at = last, i = proof->n_chain; at != WEIR_NONE; at = proof->until[at]) {
        proof->settled[at] = i--;
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        place = proof->settled[i];
        proof->after[i] = place;
        proof->until[i] = place == 0 ? proof->n_chain + 1 : place;
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = bind_order(proof->analysis->binding, i).index;

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t *to = &proof->after[next->items[j].consumer];

            *to = proof->after[node] > *to ? proof->after[node] : *to;
        }
    }
    for (uint32_t i = proof->n_nodes; i-- > 0;) {
        uint32_t node = bind_order(proof->analysis->binding, i).index;

        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t to = proof->until[next->items[j].consumer];

            proof->until[node] = to < proof->until[node] ? to : proof->until[node];
        }
    }
}

/* A node that always fits has finished once all before it have. `users_until` is not in use yet, and
 * has room for the nodes: here the greatest of what comes before each. */
static void settle(struct proof *proof, uint32_t *before)
{
    const struct adjacency *next = &proof->analysis->next;

    memset(before, 0, proof->n_nodes * sizeof *before);
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t node = bind_order(proof->analysis->binding, i).index;
        uint32_t at = proof->until[node];

        if (proof->always_fits[node] && before[node] < at) {
            at = before[node];
        }
        proof->settled[node] = at;
        for (uint32_t j = next->first[node]; j < next->first[node + 1]; j++) {
            uint32_t *to = &before[next->items[j].consumer];

            *to = at > *to ? at : *to;
        }
    }
}

/* --- what may be live --- */

static bool may_begin(const struct bind_copy *copy, const struct bind_touch *touch, uint32_t node)
{
    return !copy->is_initial && (touch->roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
           (!weir_is(copy->allocation) || copy->allocation.index == node);
}

static void find_users(struct proof *proof)
{
    const struct binding *binding = proof->analysis->binding;
    uint32_t n_copies = bind_n_copies(binding);

    memset(proof->users_until, 0, n_copies * sizeof *proof->users_until);
    for (uint32_t i = 0; i < n_copies; i++) {
        proof->begins[i] = bind_copy(binding, (weir_copy){i})->is_initial ? 0 : proof->n_chain + 1;
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            uint32_t copy = touches[j].copy.index;
            uint32_t *until = &proof->users_until[copy];

            *until = proof->settled[i] > *until ? proof->settled[i] : *until;
            if (may_begin(bind_copy(binding, touches[j].copy), &touches[j], i) &&
                proof->after[i] < proof->begins[copy]) {
                proof->begins[copy] = proof->after[i];
            }
        }
    }
}

/* Where in the chain the copy is surely gone: not at n_chain + 1. */
static uint32_t ends(const struct proof *proof, uint32_t index)
{
    const struct bind_copy *copy = bind_copy(proof->analysis->binding, (weir_copy){index});

    if (copy->stays) {
        return proof->n_chain + 1;
    }
    return weir_is(copy->reclamation) ? proof->settled[copy->reclamation.index]
                                      : proof->users_until[index];
}

/* Bytes from one place of the chain to before another: differences, added up later. */
static void hold(struct proof *proof, uint32_t domain, uint32_t from, uint32_t to, int64_t bytes)
{
    if (from >= to) {
        return;
    }
    proof->held[(size_t)from * proof->n_domains + domain] += bytes;
    proof->held[(size_t)to * proof->n_domains + domain] -= bytes;
}

/* Staging is kept until every node that uses the filled copy has finished. */
static void hold_staging(struct proof *proof, uint32_t node)
{
    struct graph_node value;
    uint32_t n, until = 0;
    const struct bind_touch *touches;

    if (proof->graph->nodes[node].rare == 0 ||
        rare_get(&proof->graph->rares, proof->graph->nodes[node].rare, NODE_RARE_STAGING_BYTES,
                 0) <= 0) {
        return;
    }
    graph_node(proof->graph, (weir_node){node}, &value);
    touches = bind_touches(proof->analysis->binding, (weir_node){node}, &n);
    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0 &&
            proof->users_until[touches[i].copy.index] > until) {
            until = proof->users_until[touches[i].copy.index];
        }
    }
    hold(proof, graph_charge_domain(proof->graph, (weir_node){node}, &value.staging).index,
         proof->after[node], until, value.staging.bytes);
}

static void find_held(struct proof *proof)
{
    size_t n = ((size_t)proof->n_chain + 2) * proof->n_domains;

    memset(proof->held, 0, n * sizeof *proof->held);
    for (uint32_t i = 0; i < bind_n_copies(proof->analysis->binding); i++) {
        const struct bind_copy *copy = bind_copy(proof->analysis->binding, (weir_copy){i});

        hold(proof, copy->domain.index, proof->begins[i], ends(proof, i), copy->bytes);
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        hold_staging(proof, i);
    }
    memset(proof->most, 0, proof->n_domains * sizeof *proof->most);
    for (size_t i = 0; i < n; i++) {
        int64_t *most = &proof->most[i % proof->n_domains];

        proof->held[i] += i >= proof->n_domains ? proof->held[i - proof->n_domains] : 0;
        *most = proof->held[i] > *most ? proof->held[i] : *most;
    }
}

/* --- what is needed --- */

/* Is the copy among those that may be live at that place of the chain? */
static bool is_counted(const struct proof *proof, uint32_t copy, uint32_t place)
{
    return proof->begins[copy] <= place && place < ends(proof, copy);
}

/* What the node takes when it starts, and what of it is among `held` at the place already (counted; NULL:
 * nobody asks). */
static void find_need(struct proof *proof, uint32_t node, uint32_t place, int64_t *counted)
{
    uint32_t n;
    const struct bind_touch *touches =
        bind_touches(proof->analysis->binding, (weir_node){node}, &n);

    memset(proof->need, 0, proof->n_domains * sizeof *proof->need);
    if (counted != NULL) {
        memset(counted, 0, proof->n_domains * sizeof *counted);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(proof->analysis->binding, touches[i].copy);

        if (!may_begin(copy, &touches[i], node)) {
            continue;
        }
        proof->need[copy->domain.index] += copy->bytes;
        if (counted != NULL && is_counted(proof, touches[i].copy.index, place)) {
            counted[copy->domain.index] += copy->bytes;
        }
    }
    analyze_charges(proof->graph, (weir_node){node}, proof->need);
}

/* Marks the nodes that fit whatever may be live. @return whether there are more than before */
static bool find_fitting(struct proof *proof)
{
    bool is_more = false;

    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        bool fits = true;

        if (proof->always_fits[i]) {
            continue;
        }
        find_need(proof, i, 0, NULL);
        for (uint32_t d = 0; d < proof->n_domains && fits; d++) {
            fits =
                proof->need[d] == 0 || proof->most[d] <= room_of(proof->graph, d) - proof->need[d];
        }
        proof->always_fits[i] = fits;
        is_more |= fits;
    }
    return is_more;
}

/* Is there room for every node that a stuck run could wait with? */
static bool has_room(struct proof *proof, struct analyze_progress *out)
{
    int64_t *counted = proof->most; /* of no use any more */

    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        uint32_t place = proof->until[i] - 1;
        const int64_t *held = &proof->held[(size_t)place * proof->n_domains];

        if (proof->always_fits[i]) {
            continue;
        }
        find_need(proof, i, place, counted);
        for (uint32_t d = 0; d < proof->n_domains; d++) {
            int64_t room = room_of(proof->graph, d), others = held[d] - counted[d];

            if (proof->need[d] > 0 && others > room - proof->need[d]) {
                *out = (struct analyze_progress){PROGRESS_UNKNOWN, false,          {i}, {d},
                                                 others,           proof->need[d], room};
                return false;
            }
        }
    }
    *out = (struct analyze_progress){PROGRESS_FREE, false, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
    return true;
}

static bool has_fallback(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (rare_id(&graph->rares, graph->nodes[i].rare, NODE_RARE_FALLBACK_NODE) != WEIR_NONE) {
            return true;
        }
    }
    return false;
}

static void prove(struct proof *proof, struct analyze_progress *out)
{
    memset(proof->most, 0, proof->n_domains * sizeof *proof->most);
    for (uint32_t d = 0; d < proof->n_domains; d++) {
        proof->most[d] = room_of(proof->graph, d); /* at first only what takes nothing fits */
    }
    place_chain(proof);
    (void)find_fitting(proof);
    for (int round = 0; round < ROUNDS; round++) {
        settle(proof, proof->users_until);
        find_users(proof);
        find_held(proof);
        if (!find_fitting(proof)) {
            break;
        }
    }
    (void)has_room(proof, out);
}

static bool make_room(struct proof *proof)
{
    size_t n = (size_t)proof->n_nodes + 1, n_copies = bind_n_copies(proof->analysis->binding);
    size_t n_users = n > n_copies ? n : n_copies;

    proof->after = malloc(n * sizeof *proof->after);
    proof->until = malloc(n * sizeof *proof->until);
    proof->settled = malloc(n * sizeof *proof->settled);
    proof->users_until = malloc(n_users * sizeof *proof->users_until);
    proof->begins = malloc((n_copies + 1) * sizeof *proof->begins);
    proof->always_fits = calloc(n, sizeof *proof->always_fits);
    proof->held = malloc((proof->n_domains > MOST_DOMAINS ? 1 : n + 2) *
                         ((size_t)proof->n_domains + 1) * sizeof *proof->held);
    proof->most = calloc((size_t)proof->n_domains + 1, sizeof *proof->most);
    proof->need = calloc((size_t)proof->n_domains + 1, sizeof *proof->need);
    return proof->after != NULL && proof->until != NULL && proof->settled != NULL &&
           proof->users_until != NULL && proof->begins != NULL && proof->always_fits != NULL &&
           proof->held != NULL && proof->most != NULL && proof->need != NULL;
}

static void give_room(struct proof *proof)
{
    free(proof->after);
    free(proof->until);
    free(proof->settled);
    free(proof->users_until);
    free(proof->begins);
    free(proof->always_fits);
    free(proof->held);
    free(proof->most);
    free(proof->need);
}

enum weir_status analyze_progress(const struct analysis *analysis, struct analyze_progress *out,
                                  struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    struct proof proof = {.analysis = analysis,
                          .graph = graph,
                          .n_nodes = graph->n_nodes,
                          .n_domains = graph->n_domains};
    struct analyze_progress found = {PROGRESS_FREE, true, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};

    if (!make_room(&proof)) {
        give_room(&proof);
        return weir_error_memory(err);
    }
    if (!is_short(&proof, &found) && graph->n_nodes > 0 && graph->n_domains > 0 &&
        !analyze_all_fits(analysis->binding, proof.need, proof.most)) {
        /* Who gives way to whom depends on the schedule. */
        if (has_fallback(graph) || graph->n_domains > MOST_DOMAINS) {
            found = (struct analyze_progress){
                PROGRESS_UNKNOWN, false, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
        } else {
            prove(&proof, &found);
        }
    }
    give_room(&proof);
    *out = found;
    return WEIR_OK;
}
