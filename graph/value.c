/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of single fields: numbers, names, words, evidence. */
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "base/utf8.h"
#include "graph/read_internal.h"

const char *read_shown(struct shown *shown, const char *text, size_t length)
{
    const size_t room = sizeof shown->text - sizeof "...";
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        size_t bytes = utf8_length(text + i, text + length);
        bool is_plain = bytes > 0 && (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
        size_t need = is_plain ? bytes : 4;
        if (used + need > room) {
            memcpy(shown->text + used, "...", 3);
            used += 3;
            break;
        }
        if (is_plain)
            memcpy(shown->text + used, text + i, bytes);
        else
            (void)snprintf(shown->text + used, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
        used += need;
        i += is_plain ? bytes : 1;
    }
    shown->text[used] = '\0';
    return shown->text;
}

/* How each form of number is read, and what a message says was expected. */
struct number_form {
    enum number_fault (*read)(const char *text, size_t length, int64_t *out);
    const char *expected;
};

static const struct number_form number_forms[] = {
    [FORM_SIZE] = {number_size, "a size such as 512MiB or 80GB"},
    [FORM_TIME] = {number_time, "a time such as 20us or 1.5ms"},
    [FORM_RATE] = {number_rate, "a rate such as 25GB/s"},
    [FORM_FLOPS] = {number_flops, "operations a second, such as 989T/s"},
    [FORM_INTEGER] = {number_integer, "a whole number"},
    [FORM_FACTOR] = {NULL, "a decimal number above 0"},
    [FORM_NUMBER] = {NULL, "a decimal number"},
    [FORM_CONFIDENCE] = {NULL, "a decimal number from 0 to 1"},
};

bool read_item(struct reader *reader, const char **at, const struct span *word, const char *stops,
               struct item *item)
{
    enum token_fault fault =
        token_item(at, word->text + word->length, stops, reader->scratch, item);

    if (fault == TOKEN_OK)
        return true;
    return read_fault(reader, FINDING_SYNTAX, *at, "%s", token_fault_text(fault));
}

bool read_only_item(struct reader *reader, const struct span *word, struct item *item)
{
    const char *at = word->text;

    if (!word->has_quote && word->length > 0) {
        *item = (struct item){word->text, word->length, word->text, false};
        return true;
    }
    return read_item(reader, &at, word, "", item);
}

static bool number_fault(struct reader *reader, const struct field *field, enum field_form form,
                         const struct item *item, enum number_fault fault)
{
    struct shown shown;
    bool is_range = fault == NUMBER_RANGE || fault == NUMBER_NEGATIVE;

    return read_fault(reader, is_range ? FINDING_OUT_OF_RANGE : FINDING_BAD_VALUE, item->where,
                      "%s is \"%s\", which is %s; expected %s", field->name,
                      read_shown(&shown, item->text, item->length), number_fault_text(fault),
                      number_forms[form].expected);
}

bool read_quantity(struct reader *reader, const struct field *field, enum field_form form,
                   const struct item *item, int64_t least, int64_t *out)
{
    enum number_fault fault = number_forms[form].read(item->text, item->length, out);
    struct shown shown;

    if (fault != NUMBER_OK)
        return number_fault(reader, field, form, item, fault);
    if (*out < least)
        return read_fault(reader, FINDING_OUT_OF_RANGE, item->where,
                          "%s is \"%s\"; expected %s, from %" PRId64 " to %" PRId64, field->name,
                          read_shown(&shown, item->text, item->length), number_forms[form].expected,
                          least, INT64_MAX);
    return true;
}

static bool read_ratio(struct reader *reader, const struct field *field, const struct item *item,
                       double *out)
{
    struct shown shown;
    double value;
    enum number_fault fault = number_ratio(item->text, item->length, &value);

    if (fault != NUMBER_OK)
        return number_fault(reader, field, field->form, item, fault);
    if ((field->form == FORM_FACTOR && !(value > 0)) ||
        (field->form == FORM_CONFIDENCE && !(value >= 0 && value <= 1)))
        return read_fault(reader, FINDING_OUT_OF_RANGE, item->where, "%s is \"%s\"; expected %s",
                          field->name, read_shown(&shown, item->text, item->length),
                          number_forms[field->form].expected);
    *out = value;
    return true;
}

static bool unknown_name(struct reader *reader, enum statement_kind kind, const struct item *item)
{
    const char *word = statements[kind].word;
    struct shown shown, other;
    weir_text nearest = {0};
    const char *name;

    if (!report_is_full(reader->report))
        nearest = nearest_name(reader->graph, kind, item->text, item->length);
    (void)read_shown(&shown, item->text, item->length);
    if (nearest.index == 0)
        return read_fault(reader, FINDING_UNKNOWN_NAME, item->where, "no %s is called \"%s\"", word,
                          shown.text);
    name = graph_text(reader->graph, nearest);
    return read_fault(reader, FINDING_UNKNOWN_NAME, item->where,
                      "no %s is called \"%s\"; the nearest is \"%s\"", word, shown.text,
                      read_shown(&other, name, strlen(name)));
}

/* The row whose name that text is. */
static uint32_t row_named(const struct graph *graph, enum statement_kind kind, uint32_t text)
{
    return text == NAMES_NONE || text == 0
               ? WEIR_NONE
               : name_index_find(graph_name_index(graph, kind), (weir_text){text});
}

bool read_reference(struct reader *reader, enum statement_kind kind, const struct item *item,
                    uint32_t *id)
{
    const struct graph *graph = reader->graph;
    uint32_t *last = &reader->last[kind];
    uint32_t text = names_find_near(graph->texts, item->text, item->length, *last);
    bool is_jump = text != *last && text != *last + 1;

    *id = row_named(graph, kind, text);
    if (*id == WEIR_NONE) /* a text that names_add put beside the table may be the same and near */
        *id = row_named(graph, kind, names_find(graph->texts, item->text, item->length));
    if (*id == WEIR_NONE)
        return unknown_name(reader, kind, item);
    /* Names are mostly met in the order of their definitions, if with a jump here and there. */
    if (!is_jump || reader->has_jumped[kind])
        *last = text;
    reader->has_jumped[kind] = is_jump && !reader->has_jumped[kind];
    return true;
}

/* Lists the words for a message: "a, b, c". */
static void list_words(const char *const *words, char *out, size_t room)
{
    size_t used = 0;

    *out = '\0';
    for (; *words != NULL && used < room; words++) {
        if (**words != '\0')
            used +=
                (size_t)snprintf(out + used, room - used, "%s%s", used == 0 ? "" : ", ", *words);
    }
}

bool read_word(struct reader *reader, const struct field *field, const char *const *words,
               const struct item *item, int *out)
{
    struct shown shown;
    char list[256];
    const char *nearest;

    for (int i = 0; item->length > 0 && words[i] != NULL; i++) {
        if (*words[i] == *item->text && strncmp(words[i], item->text, item->length) == 0 &&
            words[i][item->length] == '\0') {
            *out = i;
            return true;
        }
    }
    list_words(words, list, sizeof list);
    nearest = nearest_word(words, item->text, item->length);
    return read_fault(reader, FINDING_BAD_VALUE, item->where,
                      "%s is \"%s\"%s%s%s; expected one of %s", field->name,
                      read_shown(&shown, item->text, item->length), nearest == NULL ? "" : " (",
                      nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?)", list);
}

static bool read_text(struct reader *reader, const struct item *item, weir_text *out)
{
    return read_keep(reader,
                     graph_intern(reader->graph, item->text, item->length, out, reader->err));
}

static bool read_class(struct reader *reader, const struct field *field, const struct item *item,
                       weir_class *out)
{
    weir_text name;

    if (item->length == 0)
        return read_fault(reader, FINDING_BAD_VALUE, item->where,
                          "%s is empty; expected the name of a class", field->name);
    return read_text(reader, item, &name) &&
           read_keep(reader, graph_class_of(reader->graph, name, out, reader->err));
}

/* KIND[:DETAIL]; quotes may stand around all of it or around the detail. */
static bool read_new_evidence(struct reader *reader, const struct field *field,
                              const struct span *word, struct graph_evidence *evidence)
{
    const char *at = word->text;
    struct item kind, detail = {.text = "", .length = 0, .where = word->text};
    const char *colon;
    int found = EVIDENCE_NONE;

    if (!read_item(reader, &at, word, ":", &kind))
        return false;
    colon = kind.is_quoted ? memchr(kind.text, ':', kind.length) : NULL;
    if (colon != NULL) {
        detail.text = colon + 1;
        detail.length = kind.length - (size_t)(colon + 1 - kind.text);
        kind.length = (size_t)(colon - kind.text);
    }
    if (!read_word(reader, field, evidence_words, &kind, &found))
        return false;
    if (at < word->text + word->length) {
        at++;
        if (!read_item(reader, &at, word, "", &detail))
            return false;
    }
    evidence->kind = (enum evidence_kind)found;
    return read_text(reader, &detail, &evidence->detail);
}

/* Mostly the words are those of the statement before. */
static bool read_evidence(struct reader *reader, const struct field *field, const struct span *word,
                          struct graph_evidence *evidence)
{
    const struct span *last = &reader->evidence_word;

    if (last->length == word->length && memcmp(last->text, word->text, word->length) == 0) {
        evidence->kind = reader->evidence.kind;
        evidence->detail = reader->evidence.detail;
        return true;
    }
    if (!read_new_evidence(reader, field, word, evidence))
        return false;
    reader->evidence_word = *word;
    reader->evidence = *evidence;
    return true;
}

/* The forms that are names of what other statements define. */
static const enum statement_kind referred[] = {
    [FORM_DOMAIN] = STATEMENT_DOMAIN, [FORM_ENGINE] = STATEMENT_ENGINE,
    [FORM_OBJECT] = STATEMENT_OBJECT, [FORM_NODE] = STATEMENT_NODE,
    [FORM_GUARD] = STATEMENT_GUARD,
};

static bool read_id(struct reader *reader, const struct field *field, const struct item *item,
                    void *member)
{
    uint32_t id;

    if (!read_reference(reader, referred[field->form], item, &id))
        return false;
    memcpy(member, &id, sizeof id); /* each id is a struct of one uint32_t */
    return true;
}

static bool read_choice(struct reader *reader, const struct field *field, const struct item *item,
                        void *member)
{
    int word = 0;

    if (!read_word(reader, field, field->words, item, &word))
        return false;
    if (field->form == FORM_ENUM)
        memcpy(member, &word, sizeof word);
    else
        *(bool *)member = word == 1;
    return true;
}

bool read_value(struct reader *reader, const struct field *field, const struct span *word,
                union statement_value *value)
{
    void *member = (char *)value + field->offset;
    enum field_form form = field->form;
    struct item item;

    if (form > FORM_EVIDENCE)
        return read_list_value(reader, field, word, value);
    if (form == FORM_EVIDENCE)
        return read_evidence(reader, field, word, member);
    if (!read_only_item(reader, word, &item))
        return false;
    if (form <= FORM_INTEGER)
        return read_quantity(reader, field, form, &item, field->least, member);
    if (form <= FORM_CONFIDENCE)
        return read_ratio(reader, field, &item, member);
    if (form <= FORM_GUARD)
        return read_id(reader, field, &item, member);
    if (form <= FORM_CHOICE)
        return read_choice(reader, field, &item, member);
    return form == FORM_CLASS ? read_class(reader, field, &item, member)
                              : read_text(reader, &item, member);
}
