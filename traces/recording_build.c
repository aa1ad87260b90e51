/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a recording to a graph and its timeline. Nodes are added in program order, so the id of a
 * node is the position of its action, and the id of an object or engine is the recording's own. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "traces/recording_internal.h"

#define ALTERNATIVES_TOLD 9

struct builder {
    struct recording *recording;
    struct recording_order order;
    const struct recording_head *head;
    const struct recording_summary *summary;
    struct graph *graph;
    struct timeline *timeline;
    uint32_t *repeats; /* by text: how often it was a name so far */
    uint32_t *numbers; /* by action: which repeat of its name it is */
    weir_text *texts;  /* by text of the recording: the graph's; 0 not yet */
    /* Of edges, by alternatives: as many as are told, and more. */
    weir_text details[RECORDING_RULES][RECORDING_GAPS][ALTERNATIVES_TOLD + 2];
    weir_text least_details[RECORDING_RULES];
    weir_text cost_detail, collective_detail;
};

static enum weir_status text_of(struct builder *b, uint32_t id, weir_text *out,
                                struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (id != 0 && b->texts[id].index == 0)
        status =
            graph_intern_text(b->graph, recording_text_of(b->recording, id), &b->texts[id], err);
    *out = b->texts[id];
    return status;
}

/* Names. The first of a name has it plain, the others are numbered. */

#define NAME_BYTES 256

/* Counts up until nothing in the graph is called so: a name from outside may end in "#2" too. */
static enum weir_status unique_name(struct builder *b, const char *base, const char *suffix,
                                    uint32_t *number, bool is_always_numbered, weir_text *out,
                                    struct weir_error *err)
{
    char name[NAME_BYTES];
    enum weir_status status;

    do {
        (*number)++;
        if (*number == 1 && !is_always_numbered)
            (void)snprintf(name, sizeof name, "%s%s", base, suffix);
        else
            (void)snprintf(name, sizeof name, "%s#%" PRIu32 "%s", base, *number, suffix);
        status = graph_intern_text(b->graph, name, out, err);
    } while (status == WEIR_OK && (weir_is(graph_find_node(b->graph, *out)) ||
                                   weir_is(graph_find_object(b->graph, *out))));
    return status;
}

static enum weir_status name_node(struct builder *b, uint32_t action, weir_text *out,
                                  struct weir_error *err)
{
    const struct recording_action *row = &b->recording->actions[action];
    const char *base = recording_text_of(b->recording, row->name);
    enum weir_status status;

    if (row->object != RECORDING_NONE) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s:%s", base,
                       graph_object_name(b->graph, (weir_object){row->object}));
        b->numbers[action] = 0;
        return unique_name(b, name, "", &b->numbers[action], false, out, err);
    }
    if ((row->flags & ACTION_IS_PART) != 0 && b->numbers[row->lead] > 0) {
        uint32_t number = b->numbers[row->lead] - 1;
        char suffix[NAME_BYTES];
        (void)snprintf(suffix, sizeof suffix, ":%s", base);
        status =
            unique_name(b, recording_text_of(b->recording, b->recording->actions[row->lead].name),
                        suffix, &number, false, out, err);
        b->numbers[action] = number;
        return status;
    }
    status = unique_name(b, base, "", &b->repeats[row->name], false, out, err);
    b->numbers[action] = b->repeats[row->name];
    return status;
}

/* Where a person finds the action again: "KERNEL row 12; cudaLaunchKernel; NVTX forward". */
static enum weir_status put_origin(struct builder *b, const struct recording_action *action,
                                   weir_text *out, struct weir_error *err)
{
    char text[3 * NAME_BYTES];
    size_t used;

    if (action->origin_table == 0)
        return WEIR_OK;
    used = (size_t)snprintf(text, sizeof text, "%s",
                            recording_text_of(b->recording, action->origin_table));
    if (action->origin_row >= 0) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " row %" PRId64, action->origin_row);
    }
    if (action->origin_call != 0) {
        used += (size_t)snprintf(text + used, sizeof text - used, "; %s",
                                 recording_text_of(b->recording, action->origin_call));
    }
    if (action->origin_range != 0) {
        (void)snprintf(text + used, sizeof text - used, "; NVTX %s",
                       recording_text_of(b->recording, action->origin_range));
    }
    return graph_intern_text(b->graph, text, out, err);
}

static enum weir_status put_cost_evidence(struct builder *b, const struct recording_action *action,
                                          struct graph_evidence *evidence, struct weir_error *err)
{
    char text[2 * NAME_BYTES];

    evidence->kind = EVIDENCE_MEASURED;
    evidence->detail =
        (action->flags & ACTION_IS_COLLECTIVE) != 0 ? b->collective_detail : b->cost_detail;
    if (action->n_stalls == 0)
        return WEIR_OK;
    (void)snprintf(text, sizeof text, "%.200s; includes stalls: %" PRIu32 " page migrations within",
                   b->head->cost_detail, action->n_stalls);
    return graph_intern_text(b->graph, text, &evidence->detail, err);
}

/* Statements. */

static enum weir_status add_domains(struct builder *b, const int64_t *worst_bytes,
                                    struct weir_error *err)
{
    const int64_t granule = (int64_t)1 << 30;

    for (uint32_t i = 0; i < b->recording->n_domains; i++) {
        const struct recording_domain *row = &b->recording->domains[i];
        struct graph_domain domain = graph_domain_default;
        weir_domain id;
        enum weir_status status = text_of(b, row->name, &domain.name, err);

        domain.capacity_bytes = row->capacity_bytes;
        domain.evidence.kind = EVIDENCE_OBSERVED;
        if (status == WEIR_OK)
            status = text_of(b, row->detail, &domain.evidence.detail, err);
        if (row->capacity_bytes < worst_bytes[i] || row->capacity_bytes == 0) {
            if (__builtin_add_overflow(worst_bytes[i], granule, &domain.capacity_bytes))
                domain.capacity_bytes = INT64_MAX;
            else
                domain.capacity_bytes -= domain.capacity_bytes % granule;
            domain.evidence.kind = EVIDENCE_ASSUMED;
            if (status == WEIR_OK)
                status = graph_intern_text(b->graph, "the most that was held, rounded up",
                                           &domain.evidence.detail, err);
        }
        if (status == WEIR_OK)
            status = graph_add_domain(b->graph, &domain, &id, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static enum weir_status add_engines(struct builder *b, const int64_t *slots, struct weir_error *err)
{
    for (uint32_t i = 0; i < b->recording->n_engines; i++) {
        struct graph_engine engine = graph_engine_default;
        weir_engine id;
        enum weir_status status = text_of(b, b->recording->engines[i].name, &engine.name, err);

        engine.domain.index = b->recording->engines[i].domain;
        engine.slots = slots[i];
        if (status == WEIR_OK)
            status = graph_add_engine(b->graph, &engine, &id, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static enum weir_status add_objects(struct builder *b, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < b->recording->n_objects && status == WEIR_OK; i++) {
        const struct recording_object *row = &b->recording->objects[i];
        struct graph_object object = graph_object_default;
        weir_object id;

        object.size_bytes = row->bytes;
        object.domain.index = row->domain;
        object.is_initial = row->is_initial;
        object.is_retained = row->is_retained;
        object.evidence.kind = (enum evidence_kind)row->evidence;
        status = unique_name(b, recording_text_of(b->recording, row->name), "",
                             &b->repeats[row->name], true, &object.name, err);
        if (status == WEIR_OK)
            status = text_of(b, row->detail, &object.evidence.detail, err);
        if (status == WEIR_OK)
            status = text_of(b, row->origin, &object.origin, err);
        if (status == WEIR_OK)
            status = graph_add_object(b->graph, &object, &id, err);
    }
    return status;
}

static enum weir_status class_of(struct builder *b, uint32_t text, weir_class *out,
                                 struct weir_error *err)
{
    weir_text name;
    enum weir_status status;

    if (text == 0)
        return WEIR_OK;
    status = text_of(b, text, &name, err);
    return status == WEIR_OK ? graph_class_of(b->graph, name, out, err) : status;
}

static enum weir_status add_node(struct builder *b, uint32_t at, struct weir_error *err)
{
    uint32_t action = b->order.actions[at];
    const struct recording_action *row = &b->recording->actions[action];
    struct graph_node node = graph_node_default;
    int64_t duration_ns = row->finish_ns - row->start_ns;
    weir_node id;
    enum weir_status status = name_node(b, action, &node.name, err);

    node.kind = (enum node_kind)row->kind;
    node.engine.index = row->engine;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.bytes = row->bytes;
    node.object.index = row->object;
    node.domain.index = row->domain;
    node.from.index = row->from;
    node.to.index = row->to;
    if (b->order.binding[at] == NO_LINK)
        node.release_ns = row->start_ns - b->summary->origin_ns;
    if (status == WEIR_OK)
        status = class_of(b, row->class_name, &node.class_given, err);
    if (status == WEIR_OK)
        status = put_origin(b, row, &node.origin, err);
    if (status == WEIR_OK)
        status = put_cost_evidence(b, row, &node.evidence, err);
    if (status == WEIR_OK)
        status = graph_add_node(b->graph, &node, &id, err);
    assert(status != WEIR_OK || id.index == at);
    return status;
}

/* The detail of an edge: its rule, and what its lag is put down to. */
static enum weir_status edge_detail(struct builder *b, const struct link_row *link,
                                    enum recording_gap gap, weir_text *out, struct weir_error *err)
{
    bool are_more = link->alternatives > ALTERNATIVES_TOLD;
    unsigned alternatives = are_more ? ALTERNATIVES_TOLD : link->alternatives;
    weir_text *detail = &b->details[link->rule][gap][alternatives + are_more];
    enum weir_status status = WEIR_OK;

    if (detail->index == 0) {
        char text[NAME_BYTES], choice[64] = "", cause[64] = "";

        if (alternatives > 0)
            (void)snprintf(choice, sizeof choice, "; alternatives: %u%s", alternatives,
                           are_more ? " or more" : "");
        if (gap != GAP_NONE)
            (void)snprintf(cause, sizeof cause, "; gap: %s", recording_gap_name(gap));
        (void)snprintf(text, sizeof text, "%s%s%s",
                       recording_rule_text((enum recording_rule)link->rule), choice, cause);
        status = graph_intern_text(b->graph, text, detail, err);
    }
    *out = *detail;
    return status;
}

static enum weir_status least_detail(struct builder *b, const struct link_row *link, weir_text *out,
                                     struct weir_error *err)
{
    weir_text *detail = &b->least_details[link->rule];
    enum weir_status status = WEIR_OK;

    if (detail->index == 0) {
        char text[NAME_BYTES];
        (void)snprintf(text, sizeof text, "%s; lag: the least that was seen",
                       recording_rule_text((enum recording_rule)link->rule));
        status = graph_intern_text(b->graph, text, detail, err);
    }
    *out = *detail;
    return status;
}

static enum weir_status add_edges(struct builder *b, uint32_t at, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = b->order.first_link[at]; i < b->order.first_link[at + 1]; i++) {
        const struct link_row *link = &b->order.links[i];
        const struct rule_facts *rule = &recording_rules[link->rule];
        bool is_binding = i == b->order.binding[at];
        struct graph_edge edge = graph_edge_default;

        edge.producer.index = b->order.positions[link->producer];
        edge.consumer.index = at;
        edge.type = (enum edge_type)rule->type;
        edge.is_from_start = (link->flags & LINK_FROM_START) != 0;
        edge.lag_ns = recording_lag_ns(b->recording, &b->order, i, is_binding);
        edge.evidence.kind = (enum evidence_kind)rule->evidence;
        if (is_binding || edge.lag_ns == 0) {
            status = edge_detail(b, link, recording_gap_of(link, edge.lag_ns),
                                 &edge.evidence.detail, err);
        } else {
            status = least_detail(b, link, &edge.evidence.detail, err);
        }
        if (status == WEIR_OK)
            status = graph_add_edge(b->graph, &edge, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static enum weir_status add_head(struct builder *b, struct weir_error *err)
{
    struct graph_evidence evidence = {.kind = EVIDENCE_NONE, .confidence = -1};
    char collective[NAME_BYTES];
    weir_text name = {0};
    enum weir_status status = graph_intern_text(b->graph, b->head->graph_name, &name, err);

    (void)snprintf(collective, sizeof collective, "%.180s; includes waiting for other processes",
                   b->head->cost_detail);
    if (status == WEIR_OK)
        status = graph_intern_text(b->graph, b->head->cost_detail, &b->cost_detail, err);
    if (status == WEIR_OK)
        status = graph_intern_text(b->graph, collective, &b->collective_detail, err);
    if (status == WEIR_OK)
        graph_set_head(b->graph, name, SCOPE_NONE, true, evidence);
    return status;
}

static enum weir_status add_spans(struct builder *b, struct weir_error *err)
{
    int64_t *worst_bytes = calloc((size_t)b->recording->n_domains + 1, sizeof *worst_bytes);
    int64_t *slots = calloc((size_t)b->recording->n_engines + 1, sizeof *slots);
    int64_t origin_ns = b->summary->origin_ns;
    enum weir_status status;

    if (worst_bytes == NULL || slots == NULL)
        status = weir_error_memory(err);
    else
        status = recording_memory(b->recording, origin_ns, b->timeline, worst_bytes, err);
    if (status == WEIR_OK)
        status = recording_slots(b->recording, &b->order, slots, err);
    if (status == WEIR_OK)
        status = add_domains(b, worst_bytes, err);
    if (status == WEIR_OK)
        status = add_engines(b, slots, err);
    free(worst_bytes);
    free(slots);
    for (size_t i = 0; i < b->timeline->n_holds && status == WEIR_OK; i++) {
        weir_node *node = &b->timeline->holds[i].node;
        if (node->index != RECORDING_NONE)
            node->index = b->order.positions[node->index];
    }
    for (uint32_t at = 0; at < b->order.n; at++) {
        const struct recording_action *action = &b->recording->actions[b->order.actions[at]];
        struct timeline_span *span = &b->timeline->spans[at];

        span->ready_ns = span->start_ns = action->start_ns - origin_ns;
        span->finish_ns = action->finish_ns - origin_ns;
        span->order = at;
        span->source = action->source;
    }
    b->timeline->makespan_ns = b->summary->makespan_ns;
    return status;
}

static enum weir_status build(struct builder *b, struct weir_error *err)
{
    enum weir_status status = add_head(b, err);

    if (status == WEIR_OK)
        status = add_spans(b, err);
    if (status == WEIR_OK)
        status = add_objects(b, err);
    for (uint32_t at = 0; at < b->order.n && status == WEIR_OK; at++)
        status = add_node(b, at, err);
    for (uint32_t at = 0; at < b->order.n && status == WEIR_OK; at++)
        status = add_edges(b, at, err);
    return status;
}

static enum weir_status make_room(struct builder *b, struct weir_error *err)
{
    size_t n_texts = names_count(b->recording->texts);
    enum weir_status status = recording_order_make(b->recording, &b->order, err);

    if (status != WEIR_OK)
        return status;
    b->repeats = calloc(n_texts + 1, sizeof *b->repeats);
    b->texts = calloc(n_texts + 1, sizeof *b->texts);
    b->numbers = calloc((size_t)b->order.n + 1, sizeof *b->numbers);
    b->graph = graph_new();
    b->timeline = timeline_new(b->order.n, b->recording->n_domains);
    if (b->repeats == NULL || b->texts == NULL || b->numbers == NULL || b->graph == NULL ||
        b->timeline == NULL)
        return weir_error_memory(err);
    return WEIR_OK;
}

enum weir_status recording_build(struct recording *recording, const struct recording_head *head,
                                 struct graph **graph, struct timeline **timeline,
                                 struct recording_summary *summary, struct weir_error *err)
{
    struct builder *b;
    enum weir_status status;

    if (recording->n_actions == 0)
        return weir_error_set(err, WEIR_INPUT, "nothing was recorded");
    b = calloc(1, sizeof *b);
    if (b == NULL)
        return weir_error_memory(err);
    b->recording = recording;
    b->head = head;
    b->summary = summary;
    status = make_room(b, err);
    if (status == WEIR_OK) {
        recording_summarize(recording, &b->order, summary);
        status = build(b, err);
    }
    if (status == WEIR_OK) {
        *graph = b->graph;
        *timeline = b->timeline;
        b->graph = NULL;
        b->timeline = NULL;
    }
    graph_free(b->graph);
    timeline_free(b->timeline);
    recording_order_free(&b->order);
    free(b->repeats);
    free(b->texts);
    free(b->numbers);
    free(b);
    return status;
}
