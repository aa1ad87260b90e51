/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speculative work that passed work which was asked for: it took a slot, or bytes, that a node which
 * was ready already waited for. */
#include <stdlib.h>

#include "judge/modes_internal.h"

/* The speculative nodes of one engine, by start. */
struct guesses {
    uint32_t *nodes;
    int64_t *sum_ns; /* how long those before ran */
    uint32_t n;
};

static bool is_guess(const struct modes *modes, uint32_t node)
{
    return graph_node_is_speculative(modes->graph, (weir_node){node});
}

static enum weir_status list_guesses(struct modes *modes, uint32_t engine, struct guesses *out)
{
    uint32_t n;
    const uint32_t *nodes = modes_on_engine(modes, engine, &n);

    out->nodes = malloc(((size_t)n + 1) * sizeof *out->nodes);
    out->sum_ns = malloc(((size_t)n + 1) * sizeof *out->sum_ns);
    out->n = 0;
    if (out->nodes == NULL || out->sum_ns == NULL) {
        return weir_error_memory(modes->err);
    }
    out->sum_ns[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct timeline_span *span = modes_span(modes, nodes[i]);

        if (is_guess(modes, nodes[i]) && span->finish_ns > span->start_ns) {
            out->nodes[out->n] = nodes[i];
            out->sum_ns[out->n + 1] = out->sum_ns[out->n] + span->finish_ns - span->start_ns;
            out->n++;
        }
    }
    return WEIR_OK;
}

/* How many of them started before that instant. */
static uint32_t n_before(const struct modes *modes, const struct guesses *guesses, int64_t at_ns)
{
    uint32_t low = 0, high = guesses->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (modes_span(modes, guesses->nodes[middle])->start_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* --- slots --- */

static void tell_slot(struct modes *modes, const struct modes_case *one)
{
    const char *node = modes_node(modes, one->ids[0]), *guess = modes_node(modes, one->ids[1]);
    const char *engine =
        graph_text(modes->graph, graph_engine(modes->graph, (weir_engine){one->ids[2]})->name);
    char cost[NUMBER_TEXT_BYTES], others[64] = "";

    number_time_text(one->cost, cost);
    if (one->ids[3] > 1) {
        (void)snprintf(others, sizeof others, " and %u more", one->ids[3] - 1);
    }
    report_add(modes->report, FINDING_SPECULATIVE_PASSES, MODES_NOWHERE,
               "%s %s was ready and waited %s for %s while speculative %s%s, which started after "
               "that, ran there",
               node_kind_name(graph_node_kind(modes->graph, (weir_node){one->ids[0]})), node, cost,
               engine, guess, others);
    report_name(modes->report, node);
    report_name(modes->report, guess);
    report_name(modes->report, engine);
}

/* Had it been given the slot that the guess took, would its bytes have fitted? */
static bool could_have(struct modes *modes, uint32_t node, uint32_t guess)
{
    int64_t at_ns = modes_span(modes, guess)->start_ns;
    uint32_t n;
    const uint32_t *acquired = modes_acquired(modes, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t domain = modes->timeline->holds[acquired[i]].domain.index;

        if (modes_most_held(modes, domain, at_ns, at_ns + 1) - modes_need(modes, guess, domain) +
                modes_need(modes, node, domain) >
            modes_usable(modes, domain)) {
            return false;
        }
    }
    return true;
}

/* Those that waited for the engine's slots, each with the guesses that took one meanwhile. */
static enum weir_status find_on_engine(struct modes *modes, uint32_t engine,
                                       struct modes_cases *cases)
{
    struct guesses guesses;
    enum weir_status status = list_guesses(modes, engine, &guesses);
    uint32_t n;
    const uint32_t *nodes = modes_on_engine(modes, engine, &n);

    for (uint32_t i = 0; guesses.n > 0 && i < n && status == WEIR_OK; i++) {
        const struct timeline_span *span = modes_span(modes, nodes[i]);
        uint32_t first, end;
        struct modes_case one = {0};

        if (is_guess(modes, nodes[i]) || (enum wait_cause)span->cause != WAIT_ENGINE) {
            continue;
        }
        first = n_before(modes, &guesses, span->ready_ns);
        end = n_before(modes, &guesses, span->start_ns);
        if (first == end || !could_have(modes, nodes[i], guesses.nodes[first])) {
            continue;
        }
        one.cost = guesses.sum_ns[end] - guesses.sum_ns[first];
        if (one.cost > span->start_ns - span->ready_ns) { /* on several slots at once */
            one.cost = span->start_ns - span->ready_ns;
        }
        one.ids[0] = nodes[i];
        one.ids[1] = guesses.nodes[first];
        one.ids[2] = engine;
        one.ids[3] = end - first;
        status = modes_add(modes, cases, &one);
    }
    free(guesses.nodes);
    free(guesses.sum_ns);
    return status;
}

/* --- bytes --- */

static void tell_bytes(struct modes *modes, const struct modes_case *one)
{
    const char *node = modes_node(modes, one->ids[0]), *guess = modes_node(modes, one->ids[1]);
    const char *domain = modes_domain(modes, one->ids[2]);
    char cost[NUMBER_TEXT_BYTES];

    number_time_text(one->cost, cost);
    report_add(modes->report, FINDING_SPECULATIVE_PASSES, MODES_NOWHERE,
               "%s %s was ready and waited %s for bytes of %s that speculative %s, which started "
               "after that, held",
               node_kind_name(graph_node_kind(modes->graph, (weir_node){one->ids[0]})), node, cost,
               domain, guess);
    report_name(modes->report, node);
    report_name(modes->report, guess);
    report_name(modes->report, domain);
}

/* How long the one that waits would have had room, were it not for what the guess took. */
static int64_t kept_out_ns(struct modes *modes, const struct timeline_wait *wait,
                           const struct timeline_hold *hold)
{
    int64_t from_ns = wait->from_ns > hold->acquire_ns ? wait->from_ns : hold->acquire_ns;
    int64_t to_ns =
        hold->release_ns < 0 || hold->release_ns > wait->to_ns ? wait->to_ns : hold->release_ns;
    uint32_t n;
    const uint32_t *acquired = modes_acquired(modes, wait->node.index, &n);

    for (uint32_t i = 0; i < n && from_ns < to_ns; i++) {
        uint32_t domain = modes->timeline->holds[acquired[i]].domain.index;

        from_ns = modes_held_below(modes, domain, from_ns, to_ns,
                                   modes_usable(modes, domain) -
                                       modes_need(modes, wait->node.index, domain) +
                                       (domain == hold->domain.index ? hold->bytes : 0));
    }
    return to_ns - from_ns;
}

/* @param guessed numbers of holds that guesses acquired, n of them, by acquisition */
static enum weir_status look_at(struct modes *modes, const struct timeline_wait *wait,
                                const uint32_t *guessed, size_t n, struct modes_cases *cases)
{
    struct modes_case worst = {0};
    int64_t ready_ns = modes_span(modes, wait->node.index)->ready_ns;
    size_t low = 0, high = n;

    while (low < high) { /* the first that was acquired after the node was ready */
        size_t middle = low + (high - low) / 2;

        if (modes->timeline->holds[guessed[middle]].acquire_ns < ready_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < n && modes->n_steps++ < MODES_MOST_STEPS; low++) {
        const struct timeline_hold *hold = &modes->timeline->holds[guessed[low]];
        int64_t cost;

        if (hold->acquire_ns >= wait->to_ns) {
            break;
        }
        cost = modes_need(modes, wait->node.index, hold->domain.index) == 0
                   ? 0
                   : kept_out_ns(modes, wait, hold);
        if (cost > worst.cost) {
            worst = (struct modes_case){
                cost, {wait->node.index, hold->node.index, hold->domain.index, 0, 0}, {0}};
        }
    }
    return worst.cost > 0 ? modes_add(modes, cases, &worst) : WEIR_OK;
}

static enum weir_status find_bytes(struct modes *modes, struct modes_cases *cases)
{
    const struct timeline *timeline = modes->timeline;
    uint32_t *guessed = malloc((timeline->n_holds + 1) * sizeof *guessed);
    size_t n = 0;
    enum weir_status status = guessed == NULL ? weir_error_memory(modes->err) : WEIR_OK;

    for (size_t i = 0; i < timeline->n_holds && status == WEIR_OK; i++) {
        const struct timeline_hold *hold = &timeline->holds[i];

        if (weir_is(hold->node) && is_guess(modes, hold->node.index)) {
            guessed[n++] = (uint32_t)i;
        }
    }
    for (size_t i = 0; n > 0 && i < timeline->n_waits && status == WEIR_OK; i++) {
        struct timeline_wait wait;

        if (timeline->waits[i].cause == WAIT_CAPACITY &&
            !is_guess(modes, timeline->waits[i].node.index) && modes_bytes_wait(modes, i, &wait)) {
            status = look_at(modes, &wait, guessed, n, cases);
        }
    }
    free(guessed);
    return status;
}

enum weir_status modes_speculative(struct modes *modes)
{
    struct modes_cases cases = {NULL, 0, 0};
    enum weir_status status = WEIR_OK;

    if (modes->n_speculative == 0) {
        return WEIR_OK;
    }
    for (uint32_t e = 0; e < graph_n_engines(modes->graph) && status == WEIR_OK; e++) {
        status = find_on_engine(modes, e, &cases);
    }
    modes_tell(modes, &cases, FINDING_SPECULATIVE_PASSES, modes->least_ns, number_time_text,
               tell_slot);
    if (status == WEIR_OK && modes->waits_for_bytes) {
        status = find_bytes(modes, &cases);
        modes_tell(modes, &cases, FINDING_SPECULATIVE_PASSES, modes->least_ns, number_time_text,
                   tell_bytes);
    }
    return status;
}
