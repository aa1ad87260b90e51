/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One statement: its value begins as what is there already (nothing, for what is new), each field
 * written replaces its own, and the whole is kept when no word of the line was at fault. */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/read_internal.h"

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

    assert(fields != NULL); /* every statement has some */
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
bool read_words(struct reader *reader, struct state *state)
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
    read_begin_blank(state);
    if (!find_row(reader, state, &name)) {
        state->is_new = false;
        (void)read_words(reader, state); /* for the faults of the other words */
        return;
    }
    text = graph_row_name(reader->graph, state->kind, state->row);
    if (state->is_new)
        memcpy((char *)&state->value + state->statement->fields[0].offset, &text, sizeof text);
    else
        read_load_row(reader->graph, state);
    if (read_words(reader, state))
        (void)read_keep(reader, read_keep_row(reader->graph, state, reader->err));
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
        (void)read_keep(reader, read_keep_row(reader->graph, state, reader->err));
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
