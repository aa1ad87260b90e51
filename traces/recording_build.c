/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a recording to a graph and its timeline. Nodes are added in program order, so the id of a
 * node is the position of its action, and the id of an object or engine is the recording's own. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/recording_internal.h"

#define ALTERNATIVES_TOLD 9

struct builder {
    struct recording *recording;
    struct recording_order order;
    const struct recording_head *head;
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

/* A text that grows at its end; what is over the room is cut off. Millions are made, so printf is
 * too slow. */
struct line {
    char text[3 * NAME_BYTES];
    size_t used, room;
};

static void put_bytes(struct line *line, const char *text, size_t n)
{
    if (n > line->room - line->used)
        n = line->room - line->used;
    memcpy(line->text + line->used, text, n);
    line->used += n;
}

static void put_text(struct line *line, const char *text)
{
    put_bytes(line, text, strlen(text));
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put_bytes(line, digits + at, sizeof digits - at);
}

/* Counts up until nothing in the graph is called so: a name from outside may end in "#2" too. */
static enum weir_status unique_name(struct builder *b, const char *base, const char *suffix,
                                    uint32_t *number, bool is_always_numbered, weir_text *out,
                                    struct weir_error *err)
{
    struct line name = {.room = NAME_BYTES - 1};
    size_t n_base;
    enum weir_status status;

    put_text(&name, base);
    n_base = name.used;
    do {
        name.used = n_base;
        (*number)++;
        if (*number > 1 || is_always_numbered) {
            put_text(&name, "#");
            put_number(&name, *number);
        }
        put_text(&name, suffix);
        status = graph_intern(b->graph, name.text, name.used, out, err);
    } while (status == WEIR_OK && (weir_is(graph_find_node(b->graph, *out)) ||
                                   weir_is(graph_find_object(b->graph, *out))));
    return status;
}

static enum weir_status name_node(struct builder *b, uint32_t action, weir_text *out,
                                  struct weir_error *err)
{
    const struct action_row *row = &b->recording->actions[action];
    bool is_part = (b->recording->forms.forms[row->form].flags & ACTION_IS_PART) != 0;
    const char *base = recording_text_of(b->recording, row->name);
    enum weir_status status;

    if (!is_part && row->about != RECORDING_NONE) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s:%s", base,
                       graph_object_name(b->graph, (weir_object){row->about}));
        b->numbers[action] = 0;
        return unique_name(b, name, "", &b->numbers[action], false, out, err);
    }
    if (is_part && b->numbers[row->about] > 0) {
        uint32_t number = b->numbers[row->about] - 1;
        char suffix[NAME_BYTES];
        (void)snprintf(suffix, sizeof suffix, ":%s", base);
        status =
            unique_name(b, recording_text_of(b->recording, b->recording->actions[row->about].name),
                        suffix, &number, false, out, err);
        b->numbers[action] = number;
        return status;
    }
    status = unique_name(b, base, "", &b->repeats[row->name], false, out, err);
    b->numbers[action] = b->repeats[row->name];
    return status;
}

/* Where a person finds the action again: "KERNEL row 12; cudaLaunchKernel; NVTX forward". */
static enum weir_status put_origin(struct builder *b, const struct action_row *action,
                                   weir_text *out, struct weir_error *err)
{
    const struct action_form *form = &b->recording->forms.forms[action->form];
    struct line line = {.room = sizeof line.text - 1};

    if (form->origin_table == 0)
        return WEIR_OK;
    put_text(&line, recording_text_of(b->recording, form->origin_table));
    if (action->origin_row >= 0) {
        put_text(&line, " row ");
        put_number(&line, (uint64_t)action->origin_row);
    }
    if (form->origin_call != 0) {
        put_text(&line, "; ");
        put_text(&line, recording_text_of(b->recording, form->origin_call));
    }
    if (action->origin_range != 0) {
        put_text(&line, "; NVTX ");
        put_text(&line, recording_text_of(b->recording, action->origin_range));
    }
    /* With a row in it, there is hardly another like it. */
    return action->origin_row >= 0 ? graph_add_text(b->graph, line.text, line.used, out, err)
                                   : graph_intern(b->graph, line.text, line.used, out, err);
}

static enum weir_status put_cost_evidence(struct builder *b, const struct action_row *action,
                                          struct graph_evidence *evidence, struct weir_error *err)
{
    bool is_collective =
        (b->recording->forms.forms[action->form].flags & ACTION_IS_COLLECTIVE) != 0;
    char text[2 * NAME_BYTES];

    evidence->kind = EVIDENCE_MEASURED;
    evidence->detail = is_collective ? b->collective_detail : b->cost_detail;
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
    const struct action_row *row = &b->recording->actions[action];
    const struct action_form *form = &b->recording->forms.forms[row->form];
    struct graph_node node = graph_node_default;
    int64_t duration_ns = row->finish_ns - row->start_ns;
    weir_node id;
    enum weir_status status = name_node(b, action, &node.name, err);

    node.kind = (enum node_kind)form->kind;
    node.engine.index = row->engine;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.bytes = row->bytes;
    node.object.index = (form->flags & ACTION_IS_PART) != 0 ? RECORDING_NONE : row->about;
    node.domain.index = form->domain;
    node.from.index = form->from;
    node.to.index = form->to;
    if (b->order.binding[at] == NO_LINK)
        node.release_ns = b->timeline->spans[at].start_ns;
    if (status == WEIR_OK)
        status = class_of(b, form->class_name, &node.class_given, err);
    if (status == WEIR_OK)
        status = put_origin(b, row, &node.origin, err);
    if (status == WEIR_OK)
        status = put_cost_evidence(b, row, &node.evidence, err);
    if (status == WEIR_OK)
        status = graph_add_node(b->graph, &node, &id, err);
    assert(status != WEIR_OK || id.index == at);
    return status;
}

/* All of them; after that the recording's own actions have no use any more. */
static enum weir_status add_nodes(struct builder *b, struct weir_error *err)
{
    struct recording *recording = b->recording;
    enum weir_status status = WEIR_OK;

    for (uint32_t at = 0; at < b->order.n && status == WEIR_OK; at++)
        status = add_node(b, at, err);
    free(recording->actions);
    recording->actions = NULL;
    recording->n_actions = 0;
    recording->actions_room = 0;
    free(b->order.actions);
    free(b->order.positions);
    b->order.actions = b->order.positions = NULL;
    free(b->numbers);
    b->numbers = NULL;
    return status;
}

/* The detail of an edge: its rule, and what its lag is put down to. */
static enum weir_status edge_detail(struct builder *b, const struct order_link *link,
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

static enum weir_status least_detail(struct builder *b, const struct order_link *link,
                                     weir_text *out, struct weir_error *err)
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

    for (uint32_t i = b->order.first_link[at]; i < b->order.first_link[at + 1]; i++) {
        const struct order_link *link = &b->order.links[i];
        const struct rule_facts *rule = &recording_rules[link->rule];
        bool is_binding = i == b->order.binding[at];
        struct graph_edge edge = graph_edge_default;

        edge.producer.index = link->producer;
        edge.consumer.index = at;
        edge.type = (enum edge_type)rule->type;
        edge.is_from_start = (link->flags & LINK_FROM_START) != 0;
        edge.lag_ns = recording_lag_ns(&b->order, at, i, is_binding);
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

/* What was held and when, and the domains and engines that this takes. */
static enum weir_status add_machine(struct builder *b, struct weir_error *err)
{
    int64_t *worst_bytes = calloc((size_t)b->recording->n_domains + 1, sizeof *worst_bytes);
    int64_t *slots = calloc((size_t)b->recording->n_engines + 1, sizeof *slots);
    enum weir_status status;

    if (worst_bytes == NULL || slots == NULL)
        status = weir_error_memory(err);
    else
        status = recording_memory(b->recording, b->order.origin_ns, b->timeline, worst_bytes, err);
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
    return status;
}

static enum weir_status build(struct builder *b, struct weir_error *err)
{
    enum weir_status status = add_head(b, err);

    if (status == WEIR_OK)
        status = add_machine(b, err);
    if (status == WEIR_OK)
        status = add_objects(b, err);
    if (status == WEIR_OK)
        status = add_nodes(b, err);
    for (uint32_t at = 0; at < b->order.n && status == WEIR_OK; at++)
        status = add_edges(b, at, err);
    return status;
}

static enum weir_status make_room(struct builder *b, struct weir_error *err)
{
    size_t n_texts = names_count(b->recording->texts);
    uint32_t n = b->recording->n_actions;
    enum weir_status status;

    b->timeline = timeline_new(n, b->recording->n_domains);
    if (b->timeline == NULL)
        return weir_error_memory(err);
    status = recording_order_make(b->recording, b->timeline->spans, &b->order, err);
    if (status != WEIR_OK)
        return status;
    b->repeats = calloc(n_texts + 1, sizeof *b->repeats);
    b->texts = calloc(n_texts + 1, sizeof *b->texts);
    b->numbers = calloc((size_t)n + 1, sizeof *b->numbers);
    b->graph = graph_new();
    if (b->repeats == NULL || b->texts == NULL || b->numbers == NULL || b->graph == NULL)
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
    free(recording->held_until); /* nobody asks any more */
    recording->held_until = NULL;
    recording->held_room = 0;
    status = make_room(b, err);
    if (status == WEIR_OK) {
        recording_summarize(&b->order, summary);
        b->timeline->makespan_ns = summary->makespan_ns;
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
