/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements as JSON, by the tables that the reader and the writer of the text form go by: a field that
 * they know is here as well. A field that is not given is left out, as in the text. */
#include "cmd/graph_json.h"

#include <assert.h>
#include <string.h>

#include "cmd/graph_json_internal.h"
#include "graph/evidence.h"
#include "graph/fields.h"

#define MOST_SOURCE 512 /* a longer one stands in the detail alone */

void graph_json_evidence(struct json *json, const struct graph *graph,
                         const struct graph_evidence *evidence)
{
    const char *detail = graph_text(graph, evidence->detail);
    const struct evidence_words words = evidence_words_of(detail);
    char source[MOST_SOURCE];

    if (evidence->kind == EVIDENCE_NONE && *detail == '\0') {
        return;
    }
    json_open_object(json, "evidence");
    json_text(json, "kind", evidence_name(evidence->kind));
    if (*detail != '\0') {
        json_text(json, "detail", detail);
    }
    if (words.source_length > 0 && words.source_length < sizeof source) {
        memcpy(source, detail, words.source_length);
        source[words.source_length] = '\0';
        json_text(json, "source", source);
    }
    if (words.n_samples >= 0) {
        json_integer(json, "samples", words.n_samples);
    }
    if (words.says_cold != words.says_warm) {
        json_text(json, "scope", graph_scope_name(words.says_cold ? SCOPE_COLD : SCOPE_WARM));
    }
    json_close_object(json);
}

void graph_json_domain(struct json *json, const char *key, const struct graph *graph,
                       weir_domain domain)
{
    if (weir_is(domain)) {
        json_text(json, key, graph_text(graph, graph_domain(graph, domain)->name));
    }
}

static void put_charges(struct json *json, const char *key, const struct graph *graph,
                        const struct graph_charge *charges, uint32_t n)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < n; i++) {
        json_open_object(json, NULL);
        json_integer(json, "bytes", charges[i].bytes);
        graph_json_domain(json, "domain", graph, charges[i].domain);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_reads(struct json *json, const char *key, const struct graph *graph,
                      const struct graph_node *node)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < node->n_reads; i++) {
        json_open_object(json, NULL);
        json_text(json, "object", graph_object_name(graph, node->reads[i].object));
        graph_json_domain(json, "domain", graph, node->reads[i].domain);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_writes(struct json *json, const char *key, const struct graph *graph,
                       const struct graph_node *node)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < node->n_writes; i++) {
        json_text(json, NULL, graph_object_name(graph, node->writes[i]));
    }
    json_close_array(json);
}

static void put_uses(struct json *json, const char *key, const struct graph *graph,
                     const struct graph_node *node)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < node->n_uses; i++) {
        const struct graph_resource *resource = graph_resource(graph, node->uses[i].resource);

        json_open_object(json, NULL);
        json_text(json, "resource", graph_text(graph, resource->name));
        json_integer(json, "rate_per_s", node->uses[i].rate_per_s);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_duration(struct json *json, const char *key, const struct graph_duration *duration)
{
    json_open_object(json, key);
    json_text(json, "distribution", distribution_name(duration->kind));
    json_open_array(json, "values_ns");
    for (uint32_t i = 0; i < duration->n_values; i++) {
        json_integer(json, NULL, duration->values_ns[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_fallback(struct json *json, const char *key, const struct graph *graph,
                         const struct graph_node *node)
{
    static const char *const kinds[] = {"none", "node", "wait", "fail"};

    json_open_object(json, key);
    json_text(json, "kind", kinds[node->fallback]);
    if (node->fallback == FALLBACK_NODE) {
        json_text(json, "node", graph_node_name(graph, node->fallback_node));
    }
    json_close_object(json);
}

static void put_placements(struct json *json, const char *key, const struct graph *graph,
                           const struct graph_object *object)
{
    json_open_array(json, key);
    for (uint32_t i = 0; i < object->n_placements; i++) {
        graph_json_domain(json, NULL, graph, object->placements[i]);
    }
    json_close_array(json);
}

/* What takes several members of the value, or a list. */
static void put_list(struct json *json, const struct field *field, const struct graph *graph,
                     const union statement_value *value)
{
    const struct graph_node *node = &value->node;
    const struct graph_object *object = &value->object;

    switch (field->form) {
    case FORM_EVIDENCE:
        graph_json_evidence(json, graph,
                            (const struct graph_evidence *)((const char *)value + field->offset));
        break;
    case FORM_DURATION:
        if (node->has_duration) {
            put_duration(json, field->member, &node->duration);
        }
        break;
    case FORM_READS:
        if (node->n_reads > 0) {
            put_reads(json, field->member, graph, node);
        }
        break;
    case FORM_WRITES:
        if (node->n_writes > 0) {
            put_writes(json, field->member, graph, node);
        }
        break;
    case FORM_WORKSPACE:
        if (node->n_workspace > 0) {
            put_charges(json, field->member, graph, node->workspace, node->n_workspace);
        }
        break;
    case FORM_STAGING:
        if (node->staging.bytes >= 0) {
            put_charges(json, field->member, graph, &node->staging, 1);
        }
        break;
    case FORM_USES:
        if (node->n_uses > 0) {
            put_uses(json, field->member, graph, node);
        }
        break;
    case FORM_FALLBACK:
        if (node->fallback != FALLBACK_NONE) {
            put_fallback(json, field->member, graph, node);
        }
        break;
    case FORM_PLACEMENTS:
        if (object->n_placements > 0) {
            put_placements(json, field->member, graph, object);
        }
        break;
    case FORM_ALIAS:
        if (weir_is(object->alias_of)) {
            json_text(json, field->member, graph_object_name(graph, object->alias_of));
            json_integer(json, "alias_offset_bytes", object->alias_offset_bytes);
        }
        break;
    case FORM_PLACE:
        if (object->planned_offset_bytes >= 0) {
            json_integer(json, field->member, object->planned_offset_bytes);
            graph_json_domain(json, "planned_domain", graph, object->planned_domain);
        }
        break;
    case FORM_SIZE:
    case FORM_TIME:
    case FORM_RATE:
    case FORM_FLOPS:
    case FORM_INTEGER:
    case FORM_FACTOR:
    case FORM_NUMBER:
    case FORM_CONFIDENCE:
    case FORM_DOMAIN:
    case FORM_ENGINE:
    case FORM_OBJECT:
    case FORM_NODE:
    case FORM_GUARD:
    case FORM_ENUM:
    case FORM_CHOICE:
    case FORM_CLASS:
    case FORM_TEXT:
    case FORM_FLAG:
    case FORM_FLAG_OF:
        break;
    }
}

static const char *name_of(const struct graph *graph, enum field_form form, uint32_t id)
{
    if (form == FORM_NODE) {
        return graph_node_name(graph, (weir_node){id});
    }
    if (form == FORM_OBJECT) {
        return graph_object_name(graph, (weir_object){id});
    }
    if (form == FORM_DOMAIN) {
        return graph_text(graph, graph_domain(graph, (weir_domain){id})->name);
    }
    if (form == FORM_ENGINE) {
        return graph_text(graph, graph_engine(graph, (weir_engine){id})->name);
    }
    if (form == FORM_GUARD) {
        return graph_text(graph, graph_guard(graph, (weir_guard){id})->name);
    }
    assert(form == FORM_CLASS);
    return graph_text(graph, graph_class_name(graph, (weir_class){id}));
}

/* A whole or decimal number, unless it is what a field holds that is not given. */
static void put_number(struct json *json, const struct field *field, const char *key,
                       const void *member)
{
    int64_t whole;
    double ratio;

    if (field->form <= FORM_INTEGER) {
        memcpy(&whole, member, sizeof whole);
        if (whole != field->absent) {
            json_integer(json, key, whole);
        }
        return;
    }
    memcpy(&ratio, member, sizeof ratio);
    if (field->form != FORM_CONFIDENCE || ratio >= 0) {
        json_ratio(json, key, ratio);
    }
}

static void put_word(struct json *json, const struct field *field, const void *member)
{
    int word;

    memcpy(&word, member, sizeof word);
    if (field->form == FORM_FLAG_OF ? word == field->least : word != field->absent) {
        json_text(json, field->member,
                  field->form == FORM_FLAG_OF ? field->name : field->words[word]);
    }
}

static void put_truth(struct json *json, const struct field *field, const void *member)
{
    bool is_true = *(const bool *)member;

    if (field->form == FORM_CHOICE ? (int)is_true != field->absent : is_true) {
        json_boolean(json, field->member, is_true);
    }
}

static void put_name(struct json *json, const struct graph *graph, const struct field *field,
                     const void *member)
{
    uint32_t id;

    memcpy(&id, member, sizeof id);
    if (field->form == FORM_TEXT) {
        if (id != 0 || field->is_positional) {
            json_text(json, field->member, graph_text(graph, (weir_text){id}));
        }
    } else if (id != WEIR_NONE) {
        json_text(json, field->member, name_of(graph, field->form, id));
    }
}

static void put_field(struct json *json, const struct graph *graph, const struct field *field,
                      const union statement_value *value)
{
    const void *member = (const char *)value + field->offset;

    if (field->form >= FORM_EVIDENCE) {
        put_list(json, field, graph, value);
    } else if (field->form == FORM_CONFIDENCE) {
        put_number(json, field, field->name, member); /* a member of evidence */
    } else if (field->form <= FORM_NUMBER) {
        put_number(json, field, field->member, member);
    } else if (field->form <= FORM_GUARD || field->form == FORM_CLASS || field->form == FORM_TEXT) {
        put_name(json, graph, field, member);
    } else if (field->form == FORM_ENUM || field->form == FORM_FLAG_OF) {
        put_word(json, field, member);
    } else {
        put_truth(json, field, member);
    }
}

static void put_fields(struct json *json, const struct graph *graph, enum statement_kind kind,
                       const union statement_value *value)
{
    for (unsigned i = 0; i < statements[kind].n_fields; i++) {
        put_field(json, graph, &statements[kind].fields[i], value);
    }
}

static void put_statement(struct json *json, const struct graph *graph, enum statement_kind kind,
                          const union statement_value *value)
{
    json_open_object(json, NULL);
    put_fields(json, graph, kind, value);
    json_close_object(json);
}

void graph_json_node(struct json *json, const char *key, const struct graph *graph, weir_node node)
{
    union statement_value value;

    graph_node(graph, node, &value.node);
    json_open_object(json, key);
    put_fields(json, graph, STATEMENT_NODE, &value);
    json_close_object(json);
}

/* --- the graph --- */

static void put_machine(struct json *json, const struct derived *derived)
{
    const struct graph *graph = derived->graph;
    union statement_value value;

    json_open_array(json, "domains");
    for (uint32_t i = 0; i < graph_n_domains(graph); i++) {
        value.domain = *graph_domain(graph, (weir_domain){i});
        json_open_object(json, NULL);
        put_fields(json, graph, STATEMENT_DOMAIN, &value);
        derived_domain(json, derived, (weir_domain){i});
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "engines");
    for (uint32_t i = 0; i < graph_n_engines(graph); i++) {
        value.engine = *graph_engine(graph, (weir_engine){i});
        put_statement(json, graph, STATEMENT_ENGINE, &value);
    }
    json_close_array(json);
    json_open_array(json, "resources");
    for (uint32_t i = 0; i < graph_n_resources(graph); i++) {
        value.resource = *graph_resource(graph, (weir_resource){i});
        put_statement(json, graph, STATEMENT_RESOURCE, &value);
    }
    json_close_array(json);
}

static void put_facts(struct json *json, const struct graph *graph)
{
    union statement_value value;

    json_open_array(json, "kappas");
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        value.kappa = *graph_kappa(graph, i);
        put_statement(json, graph, STATEMENT_KAPPA, &value);
    }
    json_close_array(json);
    json_open_array(json, "overlaps");
    for (uint32_t i = 0; i < graph_n_overlaps(graph); i++) {
        value.overlap = *graph_overlap(graph, i);
        json_open_object(json, NULL);
        put_fields(json, graph, STATEMENT_OVERLAP, &value);
        derived_overlap(json, graph, &value.overlap);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "params");
    for (uint32_t i = 0; i < graph_n_params(graph); i++) {
        value.param = *graph_param(graph, i);
        put_statement(json, graph, STATEMENT_PARAM, &value);
    }
    json_close_array(json);
    json_open_array(json, "guards");
    for (uint32_t i = 0; i < graph_n_guards(graph); i++) {
        value.guard = *graph_guard(graph, (weir_guard){i});
        put_statement(json, graph, STATEMENT_GUARD, &value);
    }
    json_close_array(json);
}

static void put_actions(struct json *json, struct derived *derived)
{
    const struct graph *graph = derived->graph;
    union statement_value value;

    json_open_array(json, "objects");
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        graph_object(graph, (weir_object){i}, &value.object);
        json_open_object(json, NULL);
        put_fields(json, graph, STATEMENT_OBJECT, &value);
        derived_object(json, derived, (weir_object){i});
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "nodes");
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        graph_node(graph, (weir_node){i}, &value.node);
        json_open_object(json, NULL);
        put_fields(json, graph, STATEMENT_NODE, &value);
        derived_node(json, derived, (weir_node){i});
        json_close_object(json);
    }
    json_close_array(json);
}

/* Given ones, then those that program order implies. */
static void put_edges(struct json *json, const struct derived *derived)
{
    const struct graph *graph = derived->graph;
    const struct bind_edge *implied = bind_edges(derived->binding);
    union statement_value value;

    json_open_array(json, "edges");
    for (uint32_t i = 0; i < graph_n_edges(graph) + bind_n_edges(derived->binding); i++) {
        bool is_implied = i >= graph_n_edges(graph);

        if (is_implied) {
            const struct bind_edge *edge = &implied[i - graph_n_edges(graph)];

            value.edge = graph_edge_default;
            value.edge.producer = edge->producer;
            value.edge.consumer = edge->consumer;
            value.edge.type = edge->type;
            value.edge.object = bind_copy(derived->binding, edge->copy)->object;
        } else {
            graph_edge(graph, (weir_edge){i}, &value.edge);
        }
        json_open_object(json, NULL);
        put_fields(json, graph, STATEMENT_EDGE, &value);
        json_text(json, "origin", is_implied ? "implied" : "given");
        derived_edge(json, graph, &value.edge.evidence);
        json_close_object(json);
    }
    json_close_array(json);
}

enum weir_status graph_json(struct json *json, const char *key, const struct binding *binding,
                            struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    union statement_value head = {.head = {.name = graph_name(graph),
                                           .scope = graph_scope(graph),
                                           .is_implied = graph_is_implied(graph),
                                           .evidence = graph_evidence(graph)}};
    struct derived derived;
    enum weir_status status = derived_make(binding, &derived, err);

    if (status == WEIR_OK) {
        json_open_object(json, key);
        put_fields(json, graph, STATEMENT_GRAPH, &head);
        put_machine(json, &derived);
        put_facts(json, graph);
        put_actions(json, &derived);
        put_edges(json, &derived);
        json_close_object(json);
    }
    derived_free(&derived);
    return status;
}
