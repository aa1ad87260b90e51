/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One statement: its value begins as what is there already (nothing, for what is new), each field
 * written replaces its own, and the whole is kept when no word of the line was at fault. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/read_internal.h"

/* A statement at work. */
struct state {
    enum statement_kind kind;
    const struct statement *statement;
    const char *at;    /* behind the words read so far */
    const char *start; /* behind the word that says which statement it is, and its name */
    uint32_t row;      /* WEIR_NONE when it is new or a duplicate */
    bool is_new;       /* so that required fields are required */
    unsigned next_field;
    union statement_value value;
};

/* The words. */

static bool missing(struct reader *reader, const struct state *state, const struct field *field)
{
    const struct statement *statement = state->statement;
    char words[200] = "";
    size_t used = 0;

    for (unsigned i = 0; field->words != NULL && field->words[i] != NULL; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s",
                                 i == 0 ? ", one of " : ", ", field->words[i]);
    return read_fault(reader, FINDING_MISSING_FIELD, reader->line_end,
                      "the %s statement has no %s%s%s", statement->word, field->name,
                      field->is_positional ? "" : "=", words);
}

/* Whether the word is the field's, with or without a value. */
static inline bool is_of_field(const struct field *field, struct span word)
{
    size_t length = field->name_length;

    return *field->name == *word.text && length <= word.length && !field->is_positional &&
           (length == word.length || word.text[length] == '=') &&
           memcmp(field->name, word.text, length) == 0;
}

/* The field that the word is of, looked for from the one numbered @p from, since words mostly stand
 * in the order of the fields; NULL when there is none. */
static const struct field *field_of(const struct statement *statement, unsigned from,
                                    struct span word)
{
    const struct field *fields = statement->fields;

    for (unsigned i = from; i < statement->n_fields; i++) {
        if (is_of_field(&fields[i], word))
            return &fields[i];
    }
    for (unsigned i = 0; i < from; i++) {
        if (is_of_field(&fields[i], word))
            return &fields[i];
    }
    return NULL;
}

/* What stands before the `=` of a word, or all of it. */
static struct span key_before(struct span word)
{
    const char *equals = *word.text == '"' ? NULL : memchr(word.text, '=', word.length);

    if (equals != NULL)
        word.length = (size_t)(equals - word.text);
    return word;
}

/* A machine file may name what is there and go on with single fields. */
static bool is_left_out(const struct state *state, enum token_fault fault, struct span word)
{
    if (state->is_new || !state->statement->is_named)
        return false;
    return fault == TOKEN_END || (fault == TOKEN_OK && field_of(state->statement, 0, word) != NULL);
}

static bool read_positional(struct reader *reader, struct state *state)
{
    const struct statement *statement = state->statement;
    bool is_fine = true;

    for (unsigned i = statement->is_named ? 1 : 0; i < statement->n_fields; i++) {
        const struct field *field = &statement->fields[i];
        const char *at = state->at;
        enum token_fault fault;
        struct span word;
        if (!field->is_positional)
            break;
        fault = token_word(&at, reader->line_end, reader->end, &word);
        if (is_left_out(state, fault, word))
            break;
        state->at = at;
        if (fault == TOKEN_END)
            return missing(reader, state, field);
        if (fault != TOKEN_OK) {
            state->at = reader->line_end; /* the rest of the line cannot be made out */
            return read_token_fault(reader, fault, at);
        }
        if (!read_value(reader, field, &word, &state->value))
            is_fine = false;
    }
    return is_fine;
}

static bool unknown_field(struct reader *reader, const struct statement *statement,
                          struct span word)
{
    const struct span key = key_before(word);
    const char *names[65] = {0};
    char list[400] = "";
    struct shown shown;
    const char *nearest;
    unsigned n = 0;
    size_t used = 0;

    for (unsigned i = 0; i < statement->n_fields; i++) {
        if (!statement->fields[i].is_positional)
            names[n++] = statement->fields[i].name;
    }
    for (unsigned i = 0; i < n; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    nearest = nearest_word(names, key.text, key.length);
    return read_fault(reader, FINDING_UNKNOWN_FIELD, key.text,
                      "%s has no field \"%s\"%s%s%s; its fields are %s", statement->word,
                      read_shown(&shown, key.text, key.length), nearest == NULL ? "" : " (",
                      nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?)", list);
}

/* Keeps a word without a value. */
static bool read_flag(struct state *state, const struct field *field)
{
    char *member = (char *)&state->value + field->offset;
    int word = (int)field->least;

    if (field->form == FORM_FLAG)
        *(bool *)(void *)member = true;
    else
        memcpy(member, &word, sizeof word);
    return true;
}

/* One bit for each field; fields that exclude each other share one. */
static inline uint64_t bit_of(const struct statement *statement, const struct field *field)
{
    if (field->form == FORM_FLAG_OF) {
        while (field > statement->fields && (field - 1)->form == FORM_FLAG_OF &&
               (field - 1)->offset == field->offset)
            field--;
    }
    return UINT64_C(1) << (field - statement->fields);
}

static bool read_field(struct reader *reader, struct state *state, struct span word, uint64_t *seen)
{
    const struct statement *statement = state->statement;
    const struct field *field = field_of(statement, state->next_field, word);
    const char *equals;
    uint64_t bit;
    bool is_flag;

    if (field == NULL)
        return unknown_field(reader, statement, word);
    state->next_field = (unsigned)(field - statement->fields) + 1;
    equals = field->name_length == word.length ? NULL : word.text + field->name_length;
    is_flag = field->form == FORM_FLAG || field->form == FORM_FLAG_OF;
    bit = bit_of(statement, field);
    if ((*seen & bit) != 0)
        return read_fault(reader, FINDING_DUPLICATE_FIELD, word.text, "%s%s stands a second time%s",
                          field->name, is_flag ? "" : "=",
                          field->form == FORM_FLAG_OF ? ", or against its opposite" : "");
    *seen |= bit;
    if (is_flag && equals != NULL)
        return read_fault(reader, FINDING_BAD_VALUE, equals,
                          "%s takes no value; expected the word alone", field->name);
    if (is_flag)
        return read_flag(state, field);
    if (equals == NULL || equals + 1 == word.text + word.length)
        return read_fault(reader, FINDING_BAD_VALUE, word.text + field->name_length,
                          "%s has no value; expected %s=VALUE", field->name, field->name);
    word.length -= field->name_length + 1;
    word.text = equals + 1;
    return read_value(reader, field, &word, &state->value);
}

static bool check_required(struct reader *reader, const struct state *state, uint64_t seen)
{
    const struct statement *statement = state->statement;
    bool is_fine = true;

    for (unsigned i = 0; i < statement->n_fields; i++) {
        const struct field *field = &statement->fields[i];
        if (field->is_required && !field->is_positional && (seen & bit_of(statement, field)) == 0)
            is_fine = missing(reader, state, field);
    }
    return is_fine;
}

/* All words behind the name. A field at fault does not keep the others from being read. */
static bool read_words(struct reader *reader, struct state *state)
{
    const char *end = reader->line_end;
    enum token_fault fault = TOKEN_END;
    uint64_t seen = 0;
    struct span word;
    bool is_fine;

    state->at = state->start;
    state->next_field = 0;
    is_fine = read_positional(reader, state);
    if (!is_fine && state->at == end)
        return false;
    while (state->at < end &&
           (fault = token_word(&state->at, end, reader->end, &word)) == TOKEN_OK) {
        if (!read_field(reader, state, word, &seen))
            is_fine = false;
    }
    if (fault != TOKEN_OK && fault != TOKEN_END)
        return read_token_fault(reader, fault, state->at);
    if (is_fine && state->is_new && state->statement->has_required)
        is_fine = check_required(reader, state, seen);
    return is_fine;
}

/* Rows: what is there, and keeping what was read. */

static void load_row(const struct graph *graph, struct state *state)
{
    union statement_value *value = &state->value;
    uint32_t row = state->row;

    switch (state->kind) {
    case STATEMENT_NODE:
        graph_node(graph, (weir_node){row}, &value->node);
        break;
    case STATEMENT_EDGE:
        graph_edge(graph, (weir_edge){row}, &value->edge);
        break;
    case STATEMENT_OBJECT:
        graph_object(graph, (weir_object){row}, &value->object);
        break;
    case STATEMENT_DOMAIN:
        value->domain = graph->domains[row];
        break;
    case STATEMENT_ENGINE:
        value->engine = graph->engines[row];
        break;
    case STATEMENT_RESOURCE:
        value->resource = graph->resources[row];
        break;
    case STATEMENT_GUARD:
        value->guard = graph->guards[row];
        break;
    case STATEMENT_KAPPA:
        value->kappa = graph->kappas[row];
        break;
    case STATEMENT_OVERLAP:
        value->overlap = graph->overlaps[row];
        break;
    case STATEMENT_PARAM:
        value->param = graph->params[row];
        break;
    case STATEMENT_GRAPH:
    case STATEMENT_KINDS:
        break;
    }
}

static enum weir_status keep_row(struct graph *graph, const struct state *state,
                                 struct weir_error *err)
{
    const union statement_value *value = &state->value;
    uint32_t row = state->row;

    switch (state->kind) {
    case STATEMENT_NODE:
        return graph_set_node(graph, (weir_node){row}, &value->node, err);
    case STATEMENT_EDGE:
        return graph_set_edge(graph, (weir_edge){row}, &value->edge, err);
    case STATEMENT_OBJECT:
        return graph_set_object(graph, (weir_object){row}, &value->object, err);
    case STATEMENT_DOMAIN:
        graph_set_domain(graph, (weir_domain){row}, &value->domain);
        break;
    case STATEMENT_ENGINE:
        graph_set_engine(graph, (weir_engine){row}, &value->engine);
        break;
    case STATEMENT_RESOURCE:
        graph_set_resource(graph, (weir_resource){row}, &value->resource);
        break;
    case STATEMENT_GUARD:
        graph_set_guard(graph, (weir_guard){row}, &value->guard);
        break;
    case STATEMENT_KAPPA:
        graph_set_kappa(graph, row, &value->kappa);
        break;
    case STATEMENT_OVERLAP:
        graph_set_overlap(graph, row, &value->overlap);
        break;
    case STATEMENT_PARAM:
        graph_set_param(graph, row, &value->param);
        break;
    case STATEMENT_GRAPH:
        graph_set_head(graph, value->head.name, value->head.scope, value->head.is_implied,
                       value->head.evidence);
        break;
    case STATEMENT_KINDS:
        break;
    }
    return WEIR_OK;
}

static void begin_blank(struct state *state)
{
    memcpy(&state->value, state->statement->blank, state->statement->value_size);
}

/* Statements with a name, which read_declare has entered. */

/* The row that this line defines; a fault when another line of the file does. */
static bool find_row(struct reader *reader, struct state *state, const struct item *name)
{
    struct lines *lines = &reader->lines[state->kind];
    struct shown shown;
    uint32_t row = lines->next;

    if (row >= lines->room || lines->of[row] != reader->line) {
        if (!read_reference(reader, state->kind, name, &row))
            return false;
        if (lines->of[row] != reader->line)
            return read_fault(reader, FINDING_DUPLICATE_NAME, name->where,
                              "%s \"%s\" is defined already, on line %u", state->statement->word,
                              read_shown(&shown, name->text, name->length), lines->of[row]);
    }
    lines->next = row + 1;
    state->row = row;
    state->is_new = row >= reader->n_before[state->kind];
    return true;
}

static bool read_name(struct reader *reader, struct state *state, struct item *name)
{
    enum token_fault fault;
    struct span word;

    fault = token_word(&state->at, reader->line_end, reader->end, &word);
    if (fault == TOKEN_END)
        return missing(reader, state, &state->statement->fields[0]);
    if (fault != TOKEN_OK)
        return read_token_fault(reader, fault, state->at);
    state->start = state->at;
    if (!read_only_item(reader, &word, name))
        return false;
    if (name->length == 0)
        return read_fault(reader, FINDING_SYNTAX, word.text, "%s: its name is empty",
                          state->statement->word);
    return true;
}

static void read_named(struct reader *reader, struct state *state)
{
    struct item name = {0};
    weir_text text;

    if (!read_name(reader, state, &name))
        return;
    begin_blank(state);
    if (!find_row(reader, state, &name)) {
        state->is_new = false;
        (void)read_words(reader, state); /* for the faults of the other words */
        return;
    }
    text = graph_row_name(reader->graph, state->kind, state->row);
    if (state->is_new)
        memcpy((char *)&state->value + state->statement->fields[0].offset, &text, sizeof text);
    else
        load_row(reader->graph, state);
    if (read_words(reader, state))
        (void)read_keep(reader, keep_row(reader->graph, state, reader->err));
}

/* Facts and edges, known by what they are about. */

static struct key key_of(const struct state *state)
{
    const union statement_value *value = &state->value;
    uint32_t a, b;

    if (state->kind == STATEMENT_KAPPA)
        return (struct key){{value->kappa.slowed.index, value->kappa.beside.index, 0, 0}};
    if (state->kind == STATEMENT_PARAM)
        return (struct key){{value->param.family.index, value->param.name.index, 0, 0}};
    if (state->kind == STATEMENT_OVERLAP) {
        a = value->overlap.a.index;
        b = value->overlap.b.index;
        return (struct key){{a < b ? a : b, a < b ? b : a, 0, 0}};
    }
    return (struct key){{value->edge.producer.index, value->edge.consumer.index,
                         value->edge.object.index,
                         (uint32_t)value->edge.type * 2 + value->edge.is_from_start}};
}

/* The keys of the rows that were there before this file. */
static bool need_keys(struct reader *reader, const struct state *state)
{
    struct state other = *state;

    if (reader->keys[state->kind] != NULL)
        return true;
    reader->keys[state->kind] = keys_new();
    if (reader->keys[state->kind] == NULL)
        return read_keep(reader, weir_error_memory(reader->err));
    for (other.row = 0; other.row < reader->n_before[state->kind]; other.row++) {
        struct key key;
        load_row(reader->graph, &other);
        key = key_of(&other);
        if (!read_keep(reader, keys_put(reader->keys[state->kind], &key, other.row, reader->err)))
            return false;
    }
    return true;
}

static enum weir_status add_row(struct graph *graph, const struct state *state, uint32_t *row,
                                struct weir_error *err)
{
    const union statement_value *value = &state->value;

    if (state->kind == STATEMENT_KAPPA) {
        *row = graph->n_kappas;
        return graph_add_kappa(graph, &value->kappa, err);
    }
    if (state->kind == STATEMENT_PARAM) {
        *row = graph->n_params;
        return graph_add_param(graph, &value->param, err);
    }
    if (state->kind == STATEMENT_OVERLAP) {
        *row = graph->n_overlaps;
        return graph_add_overlap(graph, &value->overlap, err);
    }
    *row = graph->n_edges;
    return graph_add_edge(graph, &value->edge, err);
}

static bool mark_line(struct reader *reader, enum statement_kind kind, uint32_t row)
{
    struct lines *lines = &reader->lines[kind];

    if (!read_keep(reader, array_grow(&lines->of, &lines->room, (size_t)row + 1, reader->err)))
        return false;
    lines->of[row] = reader->line;
    return true;
}

/* A factor or a parameter is stated once in a file; edges and overlaps may be repeated. */
static bool is_once(enum statement_kind kind)
{
    return kind == STATEMENT_KAPPA || kind == STATEMENT_PARAM;
}

static bool add_new(struct reader *reader, const struct state *state, const struct key *key)
{
    enum statement_kind kind = state->kind;
    uint32_t row;

    if (!read_keep(reader, add_row(reader->graph, state, &row, reader->err)))
        return false;
    if (is_once(kind) && !read_keep(reader, keys_put(reader->keys[kind], key, row, reader->err)))
        return false;
    return kind == STATEMENT_EDGE || mark_line(reader, kind, row);
}

/* Reads the words once more, over the row that is there. */
static bool replace_row(struct reader *reader, struct state *state)
{
    load_row(reader->graph, state);
    state->is_new = false;
    return read_words(reader, state) &&
           read_keep(reader, keep_row(reader->graph, state, reader->err)) &&
           mark_line(reader, state->kind, state->row);
}

/* The first row of the key that this file has not stated yet; WEIR_NONE when there is none. *line
 * is then that of a row that it has stated, or 0. */
static uint32_t row_to_replace(const struct reader *reader, enum statement_kind kind,
                               const struct key *key, uint32_t *line)
{
    const struct lines *lines = &reader->lines[kind];
    struct keys_walk walk;
    uint32_t row;

    *line = 0;
    keys_walk_begin(&walk, reader->keys[kind], key);
    while ((row = keys_walk_next(&walk)) != KEYS_NONE) {
        if (row >= lines->room || lines->of[row] == 0)
            return row;
        *line = lines->of[row];
    }
    return WEIR_NONE;
}

static void read_keyed(struct reader *reader, struct state *state)
{
    enum statement_kind kind = state->kind;
    uint32_t line = 0;
    struct key key = {{0}};

    begin_blank(state);
    if (!read_words(reader, state))
        return;
    if (is_once(kind) || reader->n_before[kind] > 0) {
        if (!need_keys(reader, state))
            return;
        key = key_of(state);
        state->row = row_to_replace(reader, kind, &key, &line);
    }
    if (state->row != WEIR_NONE)
        (void)replace_row(reader, state);
    else if (line != 0 && is_once(kind))
        (void)read_fault(reader, FINDING_DUPLICATE_FACT, state->start,
                         "this %s is given already, on line %u",
                         kind == STATEMENT_KAPPA ? "factor of two classes" : "parameter", line);
    else
        (void)add_new(reader, state, &key);
}

static void read_head(struct reader *reader, struct state *state)
{
    const struct graph *graph = reader->graph;

    if (reader->head_line != 0) {
        (void)read_fault(reader, FINDING_DUPLICATE_NAME, reader->text,
                         "a graph statement stands already, on line %u", reader->head_line);
        return;
    }
    reader->head_line = reader->line;
    state->value.head = (struct graph_head){.name = graph->name,
                                            .scope = graph->scope,
                                            .is_implied = graph->is_implied,
                                            .evidence = graph->evidence};
    if (read_words(reader, state))
        (void)read_keep(reader, keep_row(reader->graph, state, reader->err));
}

void read_statement(struct reader *reader, enum statement_kind kind, const char *at)
{
    struct state state;

    state.kind = kind;
    state.statement = &statements[kind];
    state.at = state.start = at;
    state.row = WEIR_NONE;
    state.is_new = kind != STATEMENT_GRAPH;
    if (state.statement->is_named)
        read_named(reader, &state);
    else if (kind == STATEMENT_GRAPH)
        read_head(reader, &state);
    else
        read_keyed(reader, &state);
}
