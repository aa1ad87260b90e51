/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical form: statements sort by sort and each in the order of its ids, fields in the order
 * of their tables, numbers bare (bytes, nanoseconds, by the second), what is not given left out. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/fields.h"
#include "graph/write_internal.h"

static void put_text(const struct output *out, weir_text text, const char *stops)
{
    sink_name(out->sink, graph_text(out->graph, text), stops);
}

static void put_domain(const struct output *out, weir_domain domain, const char *stops)
{
    put_text(out, out->graph->domains[domain.index].name, stops);
}

/* " name=" of a field that is not known by its position. */
static void put_key(const struct output *out, const struct field *field)
{
    sink_char(out->sink, ' ');
    if (field->is_positional)
        return;
    sink_put(out->sink, field->name, field->name_length);
    sink_char(out->sink, '=');
}

static void put_comma(const struct output *out, uint32_t position)
{
    if (position > 0)
        sink_char(out->sink, ',');
}

/* Lists and what takes several members. Each writes nothing for a value that is not given. */

static void write_evidence(const struct output *out, const struct field *field, const void *member)
{
    const struct graph_evidence *evidence = member;
    const char *detail = graph_text(out->graph, evidence->detail);
    bool is_quoted = *detail != '\0' && sink_needs_quotes(detail, "");

    if (evidence->kind == EVIDENCE_NONE && *detail == '\0')
        return;
    put_key(out, field);
    if (is_quoted)
        sink_char(out->sink, '"');
    sink_word(out->sink, evidence_words[evidence->kind]);
    if (*detail != '\0')
        sink_char(out->sink, ':');
    if (is_quoted)
        sink_quoted(out->sink, detail);
    else
        sink_word(out->sink, detail);
    if (is_quoted)
        sink_char(out->sink, '"');
}

static void write_duration(const struct output *out, const struct field *field,
                           const union statement_value *value)
{
    const struct graph_duration *duration = &value->node.duration;

    if (!value->node.has_duration)
        return;
    put_key(out, field);
    sink_word(out->sink, distribution_words[duration->kind]);
    if (duration->kind == DISTRIBUTION_UNKNOWN)
        return;
    if (duration->kind != DISTRIBUTION_FIXED)
        sink_char(out->sink, '(');
    for (uint32_t i = 0; i < duration->n_values; i++) {
        put_comma(out, i);
        sink_integer(out->sink, duration->values_ns[i]);
    }
    if (duration->kind != DISTRIBUTION_FIXED)
        sink_char(out->sink, ')');
}

static void put_object(const struct output *out, weir_object object, const char *stops)
{
    sink_name(out->sink, graph_object_name(out->graph, object), stops);
}

static void write_reads(const struct output *out, const struct field *field,
                        const union statement_value *value)
{
    const struct graph_node *node = &value->node;

    for (uint32_t i = 0; i < node->n_reads; i++) {
        if (i == 0)
            put_key(out, field);
        put_comma(out, i);
        put_object(out, node->reads[i].object, "@");
        if (!weir_is(node->reads[i].domain))
            continue;
        sink_char(out->sink, '@');
        put_domain(out, node->reads[i].domain, "");
    }
}

static void write_writes(const struct output *out, const struct field *field,
                         const union statement_value *value)
{
    for (uint32_t i = 0; i < value->node.n_writes; i++) {
        if (i == 0)
            put_key(out, field);
        put_comma(out, i);
        put_object(out, value->node.writes[i], "");
    }
}

static void write_placements(const struct output *out, const struct field *field,
                             const union statement_value *value)
{
    for (uint32_t i = 0; i < value->object.n_placements; i++) {
        if (i == 0)
            put_key(out, field);
        put_comma(out, i);
        put_domain(out, value->object.placements[i], "");
    }
}

/* SIZE[@DOMAIN] */
static void put_charge(const struct output *out, int64_t bytes, weir_domain domain)
{
    sink_integer(out->sink, bytes);
    if (!weir_is(domain))
        return;
    sink_char(out->sink, '@');
    put_domain(out, domain, "");
}

static void write_workspace(const struct output *out, const struct field *field,
                            const union statement_value *value)
{
    const struct graph_node *node = &value->node;

    for (uint32_t i = 0; i < node->n_workspace; i++) {
        if (i == 0)
            put_key(out, field);
        put_comma(out, i);
        put_charge(out, node->workspace[i].bytes, node->workspace[i].domain);
    }
}

static void write_staging(const struct output *out, const struct field *field,
                          const union statement_value *value)
{
    const struct graph_charge *staging = &value->node.staging;

    if (staging->bytes < 0)
        return;
    put_key(out, field);
    put_charge(out, staging->bytes, staging->domain);
}

/* SIZE/s or N/s */
static void put_rate(const struct output *out, int64_t per_s)
{
    sink_integer(out->sink, per_s);
    sink_char(out->sink, '/');
    sink_char(out->sink, 's');
}

static void write_uses(const struct output *out, const struct field *field,
                       const union statement_value *value)
{
    const struct graph_node *node = &value->node;

    for (uint32_t i = 0; i < node->n_uses; i++) {
        if (i == 0)
            put_key(out, field);
        put_comma(out, i);
        put_text(out, out->graph->resources[node->uses[i].resource.index].name, ":");
        sink_char(out->sink, ':');
        put_rate(out, node->uses[i].rate_per_s);
    }
}

static void write_alias(const struct output *out, const struct field *field,
                        const union statement_value *value)
{
    const struct graph_object *object = &value->object;

    if (!weir_is(object->alias_of))
        return;
    put_key(out, field);
    put_object(out, object->alias_of, "+");
    if (object->alias_offset_bytes == 0)
        return;
    sink_char(out->sink, '+');
    sink_integer(out->sink, object->alias_offset_bytes);
}

static void write_place(const struct output *out, const struct field *field,
                        const union statement_value *value)
{
    if (value->object.planned_offset_bytes < 0)
        return;
    put_key(out, field);
    put_charge(out, value->object.planned_offset_bytes, value->object.planned_domain);
}

static void write_fallback(const struct output *out, const struct field *field,
                           const union statement_value *value)
{
    const struct graph_node *node = &value->node;
    const char *name;

    if (node->fallback == FALLBACK_NONE)
        return;
    put_key(out, field);
    if (node->fallback != FALLBACK_NODE) {
        sink_word(out->sink, node->fallback == FALLBACK_WAIT ? "wait" : "fail");
        return;
    }
    name = graph_node_name(out->graph, node->fallback_node);
    if (strcmp(name, "wait") == 0 || strcmp(name, "fail") == 0) {
        sink_char(out->sink, '"');
        sink_word(out->sink, name);
        sink_char(out->sink, '"');
    } else {
        sink_name(out->sink, name, "");
    }
}

typedef void list_writer(const struct output *, const struct field *,
                         const union statement_value *);

static list_writer *const list_writers[] = {
    [FORM_DURATION] = write_duration,   [FORM_READS] = write_reads,
    [FORM_WRITES] = write_writes,       [FORM_PLACEMENTS] = write_placements,
    [FORM_WORKSPACE] = write_workspace, [FORM_STAGING] = write_staging,
    [FORM_USES] = write_uses,           [FORM_ALIAS] = write_alias,
    [FORM_PLACE] = write_place,         [FORM_FALLBACK] = write_fallback,
};

/* Single members. */

static void write_number(const struct output *out, const struct field *field, const void *member)
{
    int64_t value;

    memcpy(&value, member, sizeof value);
    if (value == field->absent)
        return;
    put_key(out, field);
    if (field->form == FORM_RATE || field->form == FORM_FLOPS)
        put_rate(out, value);
    else
        sink_integer(out->sink, value);
}

static void write_ratio(const struct output *out, const struct field *field, const void *member)
{
    double value;

    memcpy(&value, member, sizeof value);
    if (field->form == FORM_CONFIDENCE && !(value >= 0))
        return;
    put_key(out, field);
    sink_ratio(out->sink, value);
}

static weir_text name_of(const struct output *out, enum field_form form, uint32_t id)
{
    const struct graph *graph = out->graph;

    if (form == FORM_NODE)
        return (weir_text){graph->nodes[id].name};
    if (form == FORM_OBJECT)
        return (weir_text){graph->objects[id].name};
    if (form == FORM_DOMAIN)
        return graph->domains[id].name;
    if (form == FORM_ENGINE)
        return graph->engines[id].name;
    return form == FORM_GUARD ? graph->guards[id].name : graph->classes[id];
}

static void write_id(const struct output *out, const struct field *field, const void *member)
{
    uint32_t id;

    memcpy(&id, member, sizeof id);
    if (id == WEIR_NONE)
        return;
    put_key(out, field);
    put_text(out, name_of(out, field->form, id), "");
}

static void write_text(const struct output *out, const struct field *field, const void *member)
{
    weir_text text;

    memcpy(&text, member, sizeof text);
    if (text.index == 0 && !field->is_positional)
        return;
    put_key(out, field);
    put_text(out, text, "");
}

static void write_choice(const struct output *out, const struct field *field, const void *member)
{
    int word;

    if (field->form == FORM_ENUM)
        memcpy(&word, member, sizeof word);
    else
        word = *(const bool *)member ? 1 : 0;
    if (word == field->absent)
        return;
    put_key(out, field);
    sink_word(out->sink, field->words[word]);
}

static void write_flag(const struct output *out, const struct field *field, const void *member)
{
    int word;
    bool is_set;

    if (field->form == FORM_FLAG) {
        is_set = *(const bool *)member;
    } else {
        memcpy(&word, member, sizeof word);
        is_set = word == field->least;
    }
    if (!is_set)
        return;
    sink_char(out->sink, ' ');
    sink_put(out->sink, field->name, field->name_length);
}

static void write_field(const struct output *out, const struct field *field,
                        const union statement_value *value)
{
    const void *member = (const char *)value + field->offset;
    enum field_form form = field->form;

    if (form > FORM_EVIDENCE)
        list_writers[form](out, field, value);
    else if (form <= FORM_INTEGER)
        write_number(out, field, member);
    else if (form <= FORM_CONFIDENCE)
        write_ratio(out, field, member);
    else if (form <= FORM_GUARD || form == FORM_CLASS)
        write_id(out, field, member);
    else if (form <= FORM_CHOICE)
        write_choice(out, field, member);
    else if (form == FORM_TEXT)
        write_text(out, field, member);
    else if (form == FORM_EVIDENCE)
        write_evidence(out, field, member);
    else
        write_flag(out, field, member);
}

static void write_statement(const struct output *out, enum statement_kind kind,
                            const union statement_value *value)
{
    const struct statement *statement = &statements[kind];

    sink_put(out->sink, statement->word, statement->word_length);
    for (unsigned i = 0; i < statement->n_fields; i++)
        write_field(out, &statement->fields[i], value);
    sink_char(out->sink, '\n');
}

void write_evidence_of(const struct output *out, const struct graph_evidence *evidence)
{
    const struct statement *statement = &statements[STATEMENT_EDGE];
    const struct field *fields = &statement->fields[statement->n_fields - 2];

    write_evidence(out, &fields[0], evidence);
    write_ratio(out, &fields[1], &evidence->confidence);
}

static void write_head(const struct output *out)
{
    const struct graph *graph = out->graph;
    union statement_value value = {.head = {.name = graph->name,
                                            .scope = graph->scope,
                                            .is_implied = graph->is_implied,
                                            .evidence = graph->evidence}};

    sink_word(out->sink, "weir 1\n");
    if (graph->name.index == 0 && graph->scope == SCOPE_NONE && graph->is_implied &&
        graph->evidence.kind == EVIDENCE_NONE && graph->evidence.detail.index == 0 &&
        !(graph->evidence.confidence >= 0))
        return;
    write_statement(out, STATEMENT_GRAPH, &value);
}

/* The machine and what is said of it. */
static void write_tables(const struct output *out)
{
    const struct graph *graph = out->graph;
    union statement_value value;

    for (uint32_t i = 0; i < graph->n_domains; i++) {
        value.domain = graph->domains[i];
        write_statement(out, STATEMENT_DOMAIN, &value);
    }
    for (uint32_t i = 0; i < graph->n_engines; i++) {
        value.engine = graph->engines[i];
        write_statement(out, STATEMENT_ENGINE, &value);
    }
    for (uint32_t i = 0; i < graph->n_resources; i++) {
        value.resource = graph->resources[i];
        write_statement(out, STATEMENT_RESOURCE, &value);
    }
    for (uint32_t i = 0; i < graph->n_kappas; i++) {
        value.kappa = graph->kappas[i];
        write_statement(out, STATEMENT_KAPPA, &value);
    }
    for (uint32_t i = 0; i < graph->n_overlaps; i++) {
        value.overlap = graph->overlaps[i];
        write_statement(out, STATEMENT_OVERLAP, &value);
    }
    for (uint32_t i = 0; i < graph->n_params; i++) {
        value.param = graph->params[i];
        write_statement(out, STATEMENT_PARAM, &value);
    }
    for (uint32_t i = 0; i < graph->n_guards; i++) {
        value.guard = graph->guards[i];
        write_statement(out, STATEMENT_GUARD, &value);
    }
}

static void write_graph(struct output *out)
{
    const struct graph *graph = out->graph;
    struct sink *sink = out->sink;
    union statement_value value;

    write_head(out);
    write_tables(out);
    for (uint32_t i = 0; i < graph->n_objects && sink->status == WEIR_OK; i++) {
        if (quick_object(out, &graph->objects[i]))
            continue;
        graph_object(graph, (weir_object){i}, &value.object);
        write_statement(out, STATEMENT_OBJECT, &value);
    }
    for (uint32_t i = 0; i < graph->n_nodes && sink->status == WEIR_OK; i++) {
        if (quick_node(out, &graph->nodes[i]))
            continue;
        graph_node(graph, (weir_node){i}, &value.node);
        write_statement(out, STATEMENT_NODE, &value);
    }
    for (uint32_t i = 0; i < graph->n_edges && sink->status == WEIR_OK; i++) {
        const struct edge_row row = edge_row_of(graph, i);
        quick_edge(out, &row);
    }
}

enum weir_status graph_write_pieces(const struct graph *graph, graph_take *take, void *arg,
                                    struct weir_error *err)
{
    /* Large buffers, so not on the stack. */
    struct output *out = calloc(1, sizeof *out);
    struct sink *sink = calloc(1, sizeof *sink);
    enum weir_status status;

    if (out == NULL || sink == NULL) {
        status = weir_error_memory(err);
    } else {
        sink->take = take;
        sink->arg = arg;
        sink->err = err;
        out->sink = sink;
        out->graph = graph;
        write_graph(out);
        status = sink_finish(sink);
    }
    free(sink);
    free(out);
    return status;
}

static enum weir_status take_to_file(void *arg, const char *bytes, size_t n, struct weir_error *err)
{
    if (fwrite(bytes, 1, n, arg) == n)
        return WEIR_OK;
    return weir_error_set(err, WEIR_STORE,
                          "the graph cannot be written: %s; make room, or give another path",
                          strerror(errno));
}

enum weir_status graph_write(const struct graph *graph, FILE *file, struct weir_error *err)
{
    return graph_write_pieces(graph, take_to_file, file, err);
}

static enum weir_status take_to_hash(void *arg, const char *bytes, size_t n, struct weir_error *err)
{
    (void)err;
    hash_add(arg, bytes, n);
    return WEIR_OK;
}

struct hashed_file {
    FILE *file;
    struct hash hash;
};

static enum weir_status take_to_both(void *arg, const char *bytes, size_t n, struct weir_error *err)
{
    struct hashed_file *both = arg;

    hash_add(&both->hash, bytes, n);
    return take_to_file(both->file, bytes, n, err);
}

enum weir_status graph_write_hashed(const struct graph *graph, FILE *file,
                                    char hash[HASH_TEXT_BYTES], struct weir_error *err)
{
    struct hashed_file both = {.file = file};
    enum weir_status status;

    hash_begin(&both.hash);
    status = graph_write_pieces(graph, take_to_both, &both, err);
    if (status == WEIR_OK)
        hash_text(&both.hash, hash);
    return status;
}

struct whole_text {
    char *bytes;
    size_t room, length;
};

static enum weir_status take_to_text(void *arg, const char *bytes, size_t n, struct weir_error *err)
{
    struct whole_text *text = arg;
    enum weir_status status = array_grow(&text->bytes, &text->room, text->length + n + 1, err);

    if (status != WEIR_OK)
        return status;
    memcpy(text->bytes + text->length, bytes, n);
    text->length += n;
    text->bytes[text->length] = '\0';
    return WEIR_OK;
}

enum weir_status graph_write_text(const struct graph *graph, char **text, size_t *length,
                                  struct weir_error *err)
{
    struct whole_text whole = {.length = 0};
    enum weir_status status = graph_write_pieces(graph, take_to_text, &whole, err);

    if (status != WEIR_OK) {
        free(whole.bytes);
        return status;
    }
    *text = whole.bytes;
    *length = whole.length;
    return WEIR_OK;
}

enum weir_status graph_hash(const struct graph *graph, char out[HASH_TEXT_BYTES],
                            struct weir_error *err)
{
    struct hash hash;
    enum weir_status status;

    hash_begin(&hash);
    status = graph_write_pieces(graph, take_to_hash, &hash, err);
    if (status == WEIR_OK)
        hash_text(&hash, out);
    return status;
}
