/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Program order, the link that bound each action, and what the waits are put down to.
 *
 * Program order is by start, rank and id, which no link goes against: it is topological. The
 * binding link of an action is the one that let it go last, if that explains its start, else one
 * that does. Its lag is the rest of the wait, so
 * that `ready = max(time of link + lag)` is the recorded start exactly; any other link keeps a lag
 * too, the least that a link of its rule took where it was binding, as far as it fits: a launch or
 * a switch from one action to the next costs that much also in another schedule. */
#include <stdlib.h>

#include "traces/recording_internal.h"
#include "traces/runs.h"

struct place {
    int64_t start_ns;
    uint32_t action;
    uint8_t rank;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->action < b->action ? -1 : 1;
}

static enum weir_status order_actions(const struct recording *recording,
                                      struct recording_order *order, struct weir_error *err)
{
    struct place *places = malloc(((size_t)order->n + 1) * sizeof *places);

    if (places == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < order->n; i++) {
        const struct action_row *row = &recording->actions[i];
        places[i] = (struct place){row->start_ns, i, recording->forms.forms[row->form].rank};
    }
    if (!runs_order(places, order->n, sizeof *places, by_place, order->actions)) {
        qsort(places, order->n, sizeof *places, by_place);
        for (uint32_t at = 0; at < order->n; at++)
            order->actions[at] = places[at].action;
    }
    for (uint32_t at = 0; at < order->n; at++)
        order->positions[order->actions[at]] = at;
    free(places);
    return WEIR_OK;
}

/* The times, from the first start on, as the timeline has them. */
static void fill_spans(const struct recording *recording, struct recording_order *order)
{
    order->origin_ns = recording->actions[order->actions[0]].start_ns;
    for (uint32_t at = 0; at < order->n; at++) {
        const struct action_row *action = &recording->actions[order->actions[at]];
        struct timeline_span *span = &order->spans[at];

        span->ready_ns = span->start_ns = action->start_ns - order->origin_ns;
        span->finish_ns = action->finish_ns - order->origin_ns;
        span->order = at;
        span->source = recording->forms.forms[action->form].source;
    }
}

/* Links into groups by consumer: a counting sort, then each group by producer. */

static bool comes_first(const struct order_link *a, const struct order_link *b)
{
    return a->producer != b->producer ? a->producer < b->producer : a->rule < b->rule;
}

/* Groups are small and their links come nearly sorted. */
static void sort_group(struct order_link *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct order_link link = links[i];
        size_t at = i;

        while (at > 0 && comes_first(&link, &links[at - 1])) {
            links[at] = links[at - 1];
            at--;
        }
        links[at] = link;
    }
}

/* Of several links between two actions the first rule is kept: they say the same of the times. */
static uint32_t drop_repeats(struct order_link *links, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || links[kept - 1].producer != links[i].producer)
            links[kept++] = links[i];
    }
    return kept;
}

/* Where each group ends, at first, and then begins: links are put from the back, so that those of a
 * group stay in the order of adding. */
static void place_links(const struct recording *recording, struct recording_order *order)
{
    uint32_t *first = order->first_link;

    for (size_t i = 0; i < recording->n_links; i++)
        first[order->positions[recording->links[i].consumer]]++;
    for (uint32_t at = 1; at <= order->n; at++)
        first[at] += first[at - 1];
    for (size_t i = recording->n_links; i > 0; i--) {
        const struct link_row *link = &recording->links[i - 1];

        order->links[--first[order->positions[link->consumer]]] = (struct order_link){
            order->positions[link->producer], link->rule, link->flags, link->alternatives};
    }
}

static void group_links(const struct recording *recording, struct recording_order *order)
{
    uint32_t *first = order->first_link;
    uint32_t kept = 0;

    place_links(recording, order);
    for (uint32_t at = 0; at < order->n; at++) {
        uint32_t begin = first[at], n = first[at + 1] - begin;

        sort_group(&order->links[begin], n);
        n = drop_repeats(&order->links[begin], n);
        for (uint32_t i = 0; i < n; i++)
            order->links[kept + i] = order->links[begin + i];
        first[at] = kept;
        kept += n;
    }
    first[order->n] = kept;
}

/* What bound each action, and the least lag of each rule. */

/* From when the link lets its consumer at `at` go, without a lag, to the start of that. */
static int64_t slack_ns(const struct recording_order *order, uint32_t at,
                        const struct order_link *link)
{
    const struct timeline_span *producer = &order->spans[link->producer];
    bool is_from_start = (link->flags & LINK_FROM_START) != 0;

    return order->spans[at].start_ns - (is_from_start ? producer->start_ns : producer->finish_ns);
}

/* The later one let go, the more it held; and a link that leaves nothing unexplained is a likelier
 * cause than one that does: a copy that began while its own call was still running waited for that
 * call, not for the copy before it that had ended long ago. */
static bool binds_more(const struct order_link *a, int64_t a_ns, const struct order_link *b,
                       int64_t b_ns)
{
    bool is_a_known = recording_gap_of(a, a_ns) != GAP_UNEXPLAINED;
    bool is_b_known = recording_gap_of(b, b_ns) != GAP_UNEXPLAINED;

    if (is_a_known != is_b_known)
        return is_a_known;
    return a_ns != b_ns ? a_ns < b_ns : a->rule < b->rule;
}

static uint32_t binding_of(const struct recording_order *order, uint32_t at)
{
    uint32_t best = NO_LINK;
    int64_t best_ns = 0;

    for (uint32_t i = order->first_link[at]; i < order->first_link[at + 1]; i++) {
        const struct order_link *link = &order->links[i];
        int64_t link_ns = slack_ns(order, at, link);

        if (!recording_rules[link->rule].may_be_late && link_ns != 0)
            continue;
        if (best == NO_LINK || binds_more(link, link_ns, &order->links[best], best_ns)) {
            best = i;
            best_ns = link_ns;
        }
    }
    return best;
}

static void find_bindings(struct recording_order *order)
{
    for (int rule = 0; rule < RECORDING_RULES; rule++)
        order->least_lag_ns[rule] = INT64_MAX;
    for (uint32_t at = 0; at < order->n; at++) {
        const struct order_link *link;
        int64_t lag_ns;

        order->binding[at] = binding_of(order, at);
        if (order->binding[at] == NO_LINK)
            continue;
        link = &order->links[order->binding[at]];
        lag_ns = slack_ns(order, at, link);
        if ((link->flags & LINK_FROM_START) == 0 && lag_ns < order->least_lag_ns[link->rule])
            order->least_lag_ns[link->rule] = lag_ns;
    }
}

int64_t recording_lag_ns(const struct recording_order *order, uint32_t at, uint32_t link,
                         bool is_binding)
{
    const struct order_link *row = &order->links[link];
    int64_t lag_ns = slack_ns(order, at, row);
    int64_t least_ns = order->least_lag_ns[row->rule];

    /* One that began a little early by two clocks is held by when the producer started. */
    if (is_binding ||
        ((row->flags & LINK_FROM_START) != 0 && !recording_rules[row->rule].may_overlap))
        return lag_ns;
    if ((row->flags & LINK_FROM_START) != 0 || least_ns == INT64_MAX)
        return 0;
    return lag_ns < least_ns ? lag_ns : least_ns;
}

enum recording_gap recording_gap_of(const struct order_link *link, int64_t lag_ns)
{
    enum recording_gap gap = recording_rules[link->rule].gap;

    if (lag_ns == 0)
        return GAP_NONE;
    if ((link->flags & LINK_FROM_START) != 0)
        return gap == GAP_DEVICE ? GAP_INSIDE : gap;
    if ((gap == GAP_DEVICE || gap == GAP_LAUNCH) && lag_ns > RECORDING_GAP_NS &&
        (link->flags & LINK_IS_WITHIN) == 0)
        return GAP_UNEXPLAINED;
    return gap;
}

/* The critical chain of the recording. */

static uint32_t last_to_finish(const struct recording_order *order)
{
    uint32_t last = 0;

    for (uint32_t at = 1; at < order->n; at++) {
        if (order->spans[at].finish_ns > order->spans[last].finish_ns)
            last = at;
    }
    return last;
}

static void walk_chain(const struct recording_order *order, struct recording_summary *summary)
{
    uint32_t at = last_to_finish(order);
    const struct timeline_span *span = &order->spans[at];

    summary->makespan_ns = span->finish_ns;
    summary->chain_busy_ns = span->finish_ns - span->start_ns;
    while (order->binding[at] != NO_LINK) {
        const struct order_link *link = &order->links[order->binding[at]];
        int64_t lag_ns = slack_ns(order, at, link);

        summary->chain_gap_ns[recording_gap_of(link, lag_ns)] += lag_ns;
        at = link->producer;
        span = &order->spans[at];
        if ((link->flags & LINK_FROM_START) == 0)
            summary->chain_busy_ns += span->finish_ns - span->start_ns;
    }
    summary->chain_release_ns = span->start_ns;
}

void recording_summarize(const struct recording_order *order, struct recording_summary *summary)
{
    *summary = (struct recording_summary){.origin_ns = order->origin_ns};
    for (uint32_t at = 0; at < order->n; at++) {
        const struct order_link *link;
        int64_t lag_ns;
        enum recording_gap gap;

        if (order->binding[at] == NO_LINK) {
            summary->n_released++;
            continue;
        }
        link = &order->links[order->binding[at]];
        lag_ns = slack_ns(order, at, link);
        gap = recording_gap_of(link, lag_ns);
        if (__builtin_add_overflow(summary->gap_ns[gap], lag_ns, &summary->gap_ns[gap]))
            summary->gap_ns[gap] = INT64_MAX;
        summary->n_gaps[gap]++;
    }
    walk_chain(order, summary);
}

static bool make_arrays(const struct recording *recording, struct recording_order *order)
{
    size_t n = recording->n_actions;

    order->actions = malloc((n + 1) * sizeof *order->actions);
    order->positions = malloc((n + 1) * sizeof *order->positions);
    order->first_link = calloc(n + 1, sizeof *order->first_link);
    order->binding = malloc((n + 1) * sizeof *order->binding);
    order->links = malloc((recording->n_links + 1) * sizeof *order->links);
    return order->actions != NULL && order->positions != NULL && order->first_link != NULL &&
           order->binding != NULL && order->links != NULL;
}

enum weir_status recording_order_make(struct recording *recording, struct timeline_span *spans,
                                      struct recording_order *out, struct weir_error *err)
{
    enum weir_status status;

    *out = (struct recording_order){.n = recording->n_actions, .spans = spans};
    status =
        make_arrays(recording, out) ? order_actions(recording, out, err) : weir_error_memory(err);
    if (status != WEIR_OK) {
        recording_order_free(out);
        return status;
    }
    fill_spans(recording, out);
    group_links(recording, out);
    free(recording->links); /* they are in the order now */
    recording->links = NULL;
    recording->links_room = recording->n_links = 0;
    find_bindings(out);
    return WEIR_OK;
}

void recording_order_free(struct recording_order *order)
{
    free(order->actions);
    free(order->positions);
    free(order->first_link);
    free(order->binding);
    free(order->links);
    *order = (struct recording_order){.n = 0};
}
