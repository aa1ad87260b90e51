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
        places[i] = (struct place){recording->actions[i].start_ns, i, recording->actions[i].rank};
    }
    qsort(places, order->n, sizeof *places, by_place);
    for (uint32_t at = 0; at < order->n; at++) {
        order->actions[at] = places[at].action;
        order->positions[places[at].action] = at;
    }
    free(places);
    return WEIR_OK;
}

/* Links into groups by consumer: a counting sort, then each group by producer. */

static bool comes_first(const struct recording_order *order, const struct link_row *a,
                        const struct link_row *b)
{
    if (a->producer != b->producer)
        return order->positions[a->producer] < order->positions[b->producer];
    return a->rule < b->rule;
}

/* Groups are small and their links come nearly sorted. */
static void sort_group(const struct recording_order *order, struct link_row *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct link_row link = links[i];
        size_t at = i;

        while (at > 0 && comes_first(order, &link, &links[at - 1])) {
            links[at] = links[at - 1];
            at--;
        }
        links[at] = link;
    }
}

/* Of several links between two actions the first rule is kept: they say the same of the times. */
static size_t drop_repeats(struct link_row *links, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || links[kept - 1].producer != links[i].producer)
            links[kept++] = links[i];
    }
    return kept;
}

static void group_links(const struct recording *recording, struct recording_order *order)
{
    size_t *first = order->first_link;
    size_t kept = 0;

    for (size_t i = 0; i < recording->n_links; i++)
        first[order->positions[recording->links[i].consumer] + 1]++;
    for (uint32_t at = 0; at < order->n; at++)
        first[at + 1] += first[at];
    for (size_t i = recording->n_links; i > 0; i--) {
        const struct link_row *link = &recording->links[i - 1];
        order->links[--first[order->positions[link->consumer] + 1]] = *link;
    }
    /* first[at + 1] is now where the group of `at` begins, and first[at + 2] where it ends. */
    for (uint32_t at = 0; at < order->n; at++) {
        size_t begin = first[at + 1];
        size_t end = at + 1 < order->n ? first[at + 2] : recording->n_links;
        size_t n;

        sort_group(order, &order->links[begin], end - begin);
        n = drop_repeats(&order->links[begin], end - begin);
        for (size_t i = 0; i < n; i++)
            order->links[kept + i] = order->links[begin + i];
        first[at] = kept;
        kept += n;
    }
    first[order->n] = kept;
}

/* What bound each action, and the least lag of each rule. */

static int64_t slack_ns(const struct recording *recording, const struct link_row *link)
{
    return recording->actions[link->consumer].start_ns - recording_link_ns(recording, link);
}

/* The later one let go, the more it held; and a link that leaves nothing unexplained is a likelier
 * cause than one that does: a copy that began while its own call was still running waited for that
 * call, not for the copy before it that had ended long ago. */
static bool binds_more(const struct recording *recording, const struct link_row *a,
                       const struct link_row *b)
{
    int64_t a_ns = slack_ns(recording, a), b_ns = slack_ns(recording, b);
    bool is_a_known = recording_gap_of(a, a_ns) != GAP_UNEXPLAINED;
    bool is_b_known = recording_gap_of(b, b_ns) != GAP_UNEXPLAINED;

    if (is_a_known != is_b_known)
        return is_a_known;
    return a_ns != b_ns ? a_ns < b_ns : a->rule < b->rule;
}

static bool may_bind(const struct recording *recording, const struct link_row *link)
{
    return recording_rules[link->rule].may_be_late || slack_ns(recording, link) == 0;
}

static size_t binding_of(const struct recording *recording, const struct recording_order *order,
                         uint32_t at)
{
    size_t best = NO_LINK;

    for (size_t i = order->first_link[at]; i < order->first_link[at + 1]; i++) {
        const struct link_row *link = &order->links[i];

        if (may_bind(recording, link) &&
            (best == NO_LINK || binds_more(recording, link, &order->links[best])))
            best = i;
    }
    return best;
}

static void find_bindings(const struct recording *recording, struct recording_order *order)
{
    for (int rule = 0; rule < RECORDING_RULES; rule++)
        order->least_lag_ns[rule] = INT64_MAX;
    for (uint32_t at = 0; at < order->n; at++) {
        const struct link_row *link;
        int64_t lag_ns;

        order->binding[at] = binding_of(recording, order, at);
        if (order->binding[at] == NO_LINK)
            continue;
        link = &order->links[order->binding[at]];
        lag_ns = slack_ns(recording, link);
        if ((link->flags & LINK_FROM_START) == 0 && lag_ns < order->least_lag_ns[link->rule])
            order->least_lag_ns[link->rule] = lag_ns;
    }
}

int64_t recording_lag_ns(const struct recording *recording, const struct recording_order *order,
                         size_t link, bool is_binding)
{
    const struct link_row *row = &order->links[link];
    int64_t lag_ns = slack_ns(recording, row);
    int64_t least_ns = order->least_lag_ns[row->rule];

    /* One that began a little early by two clocks is held by when the producer started. */
    if (is_binding ||
        ((row->flags & LINK_FROM_START) != 0 && !recording_rules[row->rule].may_overlap))
        return lag_ns;
    if ((row->flags & LINK_FROM_START) != 0 || least_ns == INT64_MAX)
        return 0;
    return lag_ns < least_ns ? lag_ns : least_ns;
}

enum recording_gap recording_gap_of(const struct link_row *link, int64_t lag_ns)
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

static uint32_t last_to_finish(const struct recording *recording,
                               const struct recording_order *order)
{
    uint32_t last = 0;

    for (uint32_t at = 1; at < order->n; at++) {
        if (recording->actions[order->actions[at]].finish_ns >
            recording->actions[order->actions[last]].finish_ns)
            last = at;
    }
    return last;
}

static void walk_chain(const struct recording *recording, const struct recording_order *order,
                       struct recording_summary *summary)
{
    uint32_t at = last_to_finish(recording, order);
    const struct recording_action *action = &recording->actions[order->actions[at]];

    summary->makespan_ns = action->finish_ns - summary->origin_ns;
    summary->chain_busy_ns = action->finish_ns - action->start_ns;
    while (order->binding[at] != NO_LINK) {
        const struct link_row *link = &order->links[order->binding[at]];
        int64_t lag_ns = slack_ns(recording, link);

        summary->chain_gap_ns[recording_gap_of(link, lag_ns)] += lag_ns;
        at = order->positions[link->producer];
        action = &recording->actions[link->producer];
        if ((link->flags & LINK_FROM_START) == 0)
            summary->chain_busy_ns += action->finish_ns - action->start_ns;
    }
    summary->chain_release_ns = action->start_ns - summary->origin_ns;
}

void recording_summarize(const struct recording *recording, const struct recording_order *order,
                         struct recording_summary *summary)
{
    *summary = (struct recording_summary){
        .origin_ns = recording->actions[order->actions[0]].start_ns,
    };
    for (uint32_t at = 0; at < order->n; at++) {
        const struct link_row *link;
        int64_t lag_ns;
        enum recording_gap gap;

        if (order->binding[at] == NO_LINK) {
            summary->n_released++;
            continue;
        }
        link = &order->links[order->binding[at]];
        lag_ns = slack_ns(recording, link);
        gap = recording_gap_of(link, lag_ns);
        if (__builtin_add_overflow(summary->gap_ns[gap], lag_ns, &summary->gap_ns[gap]))
            summary->gap_ns[gap] = INT64_MAX;
        summary->n_gaps[gap]++;
    }
    walk_chain(recording, order, summary);
}

enum weir_status recording_order_make(struct recording *recording, struct recording_order *out,
                                      struct weir_error *err)
{
    size_t n = recording->n_actions;
    enum weir_status status;

    *out = (struct recording_order){.n = recording->n_actions};
    out->actions = malloc((n + 1) * sizeof *out->actions);
    out->positions = malloc((n + 1) * sizeof *out->positions);
    out->first_link = calloc(n + 2, sizeof *out->first_link);
    out->binding = malloc((n + 1) * sizeof *out->binding);
    out->links = calloc(recording->n_links + 1, sizeof *out->links);
    if (out->actions == NULL || out->positions == NULL || out->first_link == NULL ||
        out->binding == NULL || out->links == NULL)
        status = weir_error_memory(err);
    else
        status = order_actions(recording, out, err);
    if (status != WEIR_OK) {
        recording_order_free(out);
        return status;
    }
    group_links(recording, out);
    free(recording->links); /* they are in the order now */
    recording->links = NULL;
    recording->links_room = recording->n_links = 0;
    find_bindings(recording, out);
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
