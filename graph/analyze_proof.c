/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A proof that no run is stuck for want of bytes.
 *
 * A run is stuck when nothing runs, something is left, and nothing that is ready fits. Then the nodes
 * that have started are those that have finished. A node is done when it has finished or, having given
 * way or not being needed, has let its consumers go; and with a node all that leads to it is done. Take
 * the longest chain of nodes c1 < c2 < ... < ck. A stuck run has done the first j of them, for some j,
 * and then
 *   - a copy may be live only if what begins it is not behind c(j+1), and what ends it is not before cj;
 *   - some node that leads to c(j+1), or is it, is not done and does not fit (if j = k: some node).
 * If for every j the copies that may be live leave room for each of those nodes, no run is stuck. A node
 * that always fits is never what a stuck run waits with: so it is done as soon as all before it are.
 * That is so of nodes that take no bytes, reclamations above all, and, once a bound on the live bytes is
 * known, of more nodes; so the bound is found a few times over.
 *
 * A node that stands in for others waits, beside what leads to it, for them: until it is known whether
 * it is needed. That is settled once they are done, and may be before. So a node is asked about at each
 * place of the chain from the first that it leads to, by such waits as well, up to where it must be
 * done by precedence alone. If precedence and such waits close a circle, nothing is proved.
 *
 * The proof counts too many bytes, never too few: what it proves holds, what it does not is unknown. */
#include "graph/analyze_proof.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 4
#define MOST_HELD ((size_t)1 << 26)    /* numbers kept at once: of more domains, some at a time */
#define MOST_QUESTIONS ((uint64_t)256) /* about places, for each node of the graph */

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

/* Where in the chain the copy is surely gone: not at n_chain + 1. One whose reclamation does not run
 * is never given back. */
static uint32_t ends(const struct proof *proof, uint32_t index)
{
    const struct bind_copy *copy = bind_copy(proof->analysis->binding, (weir_copy){index});

    if (copy->stays) {
        return proof->n_chain + 1;
    }
    if (!weir_is(copy->reclamation)) {
        return proof->users_until[index];
    }
    return analyze_surely_runs(proof->analysis, copy->reclamation.index)
               ? proof->settled[copy->reclamation.index]
               : proof->n_chain + 1;
}

static bool is_at_hand(const struct proof *proof, uint32_t domain)
{
    return domain - proof->first < proof->n_domains; /* wraps round below the first */
}

/* Bytes from one place of the chain to before another: differences, added up later. */
static void hold(struct proof *proof, uint32_t domain, uint32_t from, uint32_t to, int64_t bytes)
{
    if (from >= to || !is_at_hand(proof, domain)) {
        return;
    }
    domain -= proof->first;
    proof->held[(size_t)from * proof->n_domains + domain] += bytes;
    proof->held[(size_t)to * proof->n_domains + domain] -= bytes;
}

/* Staging is kept until every node that uses the filled copy is done. */
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

static void need_charge(struct proof *proof, uint32_t node, const struct graph_charge *charge)
{
    uint32_t domain = graph_charge_domain(proof->graph, (weir_node){node}, charge).index;

    if (is_at_hand(proof, domain)) {
        proof->need[domain - proof->first] += charge->bytes;
    }
}

static void need_charges(struct proof *proof, uint32_t node)
{
    struct graph_node value;

    if (proof->graph->nodes[node].rare == 0 || !graph_node_is_on(proof->graph, (weir_node){node})) {
        return;
    }
    graph_node(proof->graph, (weir_node){node}, &value);
    for (uint32_t i = 0; i < value.n_workspace; i++) {
        need_charge(proof, node, &value.workspace[i]);
    }
    if (value.staging.bytes > 0) {
        need_charge(proof, node, &value.staging);
    }
}

/* What the node takes when it starts, and what of it is among `held` at the place already. */
static void find_need(struct proof *proof, uint32_t node, uint32_t place)
{
    uint32_t n;
    const struct bind_touch *touches =
        bind_touches(proof->analysis->binding, (weir_node){node}, &n);

    memset(proof->need, 0, proof->n_domains * sizeof *proof->need);
    memset(proof->counted, 0, proof->n_domains * sizeof *proof->counted);
    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(proof->analysis->binding, touches[i].copy);
        uint32_t domain = copy->domain.index - proof->first;

        if (!is_at_hand(proof, copy->domain.index) || !may_begin(copy, &touches[i], node)) {
            continue;
        }
        proof->need[domain] += copy->bytes;
        if (is_counted(proof, touches[i].copy.index, place)) {
            proof->counted[domain] += copy->bytes;
        }
    }
    need_charges(proof, node);
}

/* --- some domains at a time --- */

/* The next domains at hand, from the first on. @return false after the last */
static bool next_domains(struct proof *proof, uint32_t first)
{
    uint32_t left = proof->graph->n_domains - first;

    proof->first = first;
    proof->n_domains = left < proof->most_domains ? left : proof->most_domains;
    return left > 0;
}

/* Of the domains at hand: which nodes do not fit, whatever may be live? */
static void find_unfitting(struct proof *proof)
{
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        if (!proof->fits[i]) {
            continue;
        }
        find_need(proof, i, 0);
        for (uint32_t d = 0; d < proof->n_domains && proof->fits[i]; d++) {
            proof->fits[i] =
                proof->need[d] == 0 ||
                proof->most[d] <= analyze_room(proof->graph, proof->first + d) - proof->need[d];
        }
    }
}

/* Marks the nodes that fit whatever may be live; before anything is known of that, those that take
 * nothing. @return whether there are more than before */
static bool find_fitting(struct proof *proof, bool knows_held)
{
    bool is_more = false;

    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        proof->fits[i] = !proof->always_fits[i];
    }
    for (uint32_t first = 0; next_domains(proof, first); first += proof->n_domains) {
        if (knows_held) {
            find_held(proof);
        }
        for (uint32_t d = 0; d < proof->n_domains && !knows_held; d++) {
            proof->most[d] = analyze_room(proof->graph, first + d);
        }
        find_unfitting(proof);
    }
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        is_more |= proof->fits[i];
        proof->always_fits[i] |= proof->fits[i];
    }
    return is_more;
}

/* Of the domains at hand: is there room for the node at that place? */
static bool has_room_at(struct proof *proof, uint32_t node, uint32_t place,
                        struct analyze_progress *out)
{
    const int64_t *held = &proof->held[(size_t)place * proof->n_domains];

    find_need(proof, node, place);
    for (uint32_t d = 0; d < proof->n_domains; d++) {
        int64_t room = analyze_room(proof->graph, proof->first + d);
        int64_t others = held[d] - proof->counted[d];

        if (proof->need[d] > 0 && (others > room - proof->need[d] || proof->n_left == 0)) {
            *out = (struct analyze_progress){
                PROGRESS_UNKNOWN, false, {node}, {proof->first + d}, others, proof->need[d], room};
            return false;
        }
    }
    proof->n_left -= proof->n_left > 0 ? 1 : 0;
    return true;
}

/* Is there room for every node that a stuck run could wait with? */
static bool has_room(struct proof *proof, struct analyze_progress *out)
{
    for (uint32_t i = 0; i < proof->n_nodes; i++) {
        for (uint32_t place = proof->asked[i]; place <= proof->until[i] && !proof->always_fits[i];
             place++) {
            if (!has_room_at(proof, i, place - 1, out)) {
                return false;
            }
        }
    }
    return true;
}

static void prove(struct proof *proof, struct analyze_progress *out)
{
    bool has_all = true;

    (void)find_fitting(proof, false);
    for (int round = 0; round < ROUNDS; round++) {
        proof_settle(proof, proof->users_until); /* not in use yet */
        find_users(proof);
        if (!find_fitting(proof, true)) {
            break;
        }
    }
    for (uint32_t first = 0; has_all && next_domains(proof, first); first += proof->n_domains) {
        find_held(proof);
        proof->n_left = MOST_QUESTIONS * ((uint64_t)proof->n_nodes + 1);
        has_all = has_room(proof, out);
    }
    if (has_all) {
        *out = (struct analyze_progress){PROGRESS_FREE, false, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
    }
}

/* --- room to work in --- */

static bool make_room(struct proof *proof, bool has_standbys)
{
    size_t n = (size_t)proof->n_nodes + 1, n_copies = bind_n_copies(proof->analysis->binding);
    size_t n_users = n > n_copies ? n : n_copies;

    proof->order = has_standbys ? malloc(n * sizeof *proof->order) : NULL;
    proof->after = malloc(n * sizeof *proof->after);
    proof->until = malloc(n * sizeof *proof->until);
    proof->asked = has_standbys ? malloc(n * sizeof *proof->asked) : proof->until;
    proof->settled = malloc(n * sizeof *proof->settled);
    proof->users_until = malloc(n_users * sizeof *proof->users_until);
    proof->begins = malloc((n_copies + 1) * sizeof *proof->begins);
    proof->always_fits = calloc(n, sizeof *proof->always_fits);
    proof->fits = malloc(n * sizeof *proof->fits);
    return proof->after != NULL && proof->until != NULL && proof->asked != NULL &&
           proof->settled != NULL && proof->users_until != NULL && proof->begins != NULL &&
           proof->always_fits != NULL && proof->fits != NULL &&
           (!has_standbys || proof->order != NULL);
}

/* Once the chain is known. */
static bool make_held(struct proof *proof)
{
    size_t n_places = (size_t)proof->n_chain + 2, most = MOST_HELD / n_places;

    most = most < 1 ? 1 : most;
    proof->most_domains = most < proof->graph->n_domains ? (uint32_t)most : proof->graph->n_domains;
    proof->held = malloc(n_places * proof->most_domains * sizeof *proof->held);
    proof->most = malloc(proof->most_domains * sizeof *proof->most);
    proof->need = malloc(proof->most_domains * sizeof *proof->need);
    proof->counted = malloc(proof->most_domains * sizeof *proof->counted);
    return proof->held != NULL && proof->most != NULL && proof->need != NULL &&
           proof->counted != NULL;
}

static void give_room(struct proof *proof)
{
    if (proof->asked != proof->until) {
        free(proof->asked);
    }
    free(proof->order);
    free(proof->after);
    free(proof->until);
    free(proof->settled);
    free(proof->users_until);
    free(proof->begins);
    free(proof->always_fits);
    free(proof->fits);
    free(proof->held);
    free(proof->most);
    free(proof->need);
    free(proof->counted);
}

/* With room for all bytes at once, or without any domain, there is nothing left to prove but that no
 * node waits for itself. */
static bool is_circular(struct proof *proof, struct analyze_progress *out)
{
    if (proof->order == NULL || proof_order(proof, proof->after)) {
        return false;
    }
    *out = (struct analyze_progress){PROGRESS_UNKNOWN, false, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
    return true;
}

enum weir_status analyze_prove(const struct analysis *analysis, bool fits_at_once,
                               struct analyze_progress *out, struct weir_error *err)
{
    const struct graph *graph = bind_of(analysis->binding);
    bool has_standbys = analyze_has_standbys(analysis);
    struct proof proof = {.analysis = analysis, .graph = graph, .n_nodes = graph->n_nodes};
    enum weir_status status = WEIR_OK;

    *out = (struct analyze_progress){PROGRESS_FREE, true, {WEIR_NONE}, {WEIR_NONE}, 0, 0, 0};
    if (fits_at_once && !has_standbys) {
        return WEIR_OK;
    }
    if (!make_room(&proof, has_standbys)) {
        status = weir_error_memory(err);
    } else if (!is_circular(&proof, out) && !fits_at_once) {
        proof_place_chain(&proof);
        if (make_held(&proof)) {
            prove(&proof, out);
        } else {
            status = weir_error_memory(err);
        }
    }
    give_room(&proof);
    return status;
}
