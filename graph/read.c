/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two passes over a file, its version, and how faults are told. */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/read_file.h"
#include "graph/read_internal.h"
#include "graph/text.h"

/* What a file that is no graph seems to be. */
static const char *guess(const char *text, const char *end)
{
    static const struct {
        const char *start;
        size_t length;
        const char *what;
    } known[] = {
        {"\x1f\x8b", 2, "; this file is packed with gzip: unpack it first"},
        {"\x28\xb5\x2f\xfd", 4, "; this file is packed with zstd: unpack it first"},
        {"\xfd"
         "7zXZ",
         5, "; this file is packed with xz: unpack it first"},
        {"SQLite format 3", 15, "; this file is an SQLite database: weir import reads profiles"},
        {"{", 1, "; this file looks like JSON: weir import reads profiles"},
        {"[", 1, "; this file looks like JSON: weir import reads profiles"},
        {"\x7f"
         "ELF",
         4, "; this file is a program"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if ((size_t)(end - text) >= known[i].length &&
            memcmp(text, known[i].start, known[i].length) == 0)
            return known[i].what;
    }
    return "";
}

bool read_fault(struct reader *reader, enum finding_code code, const char *where,
                const char *format, ...)
{
    struct report_at at = {.file = reader->file, .line = reader->line};
    char message[1024];
    va_list args;
    size_t column;

    assert(where >= reader->text && where <= reader->line_end);
    column = (size_t)(where - reader->text);
    at.column = column >= UINT32_MAX ? UINT32_MAX : (uint32_t)column + 1;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    report_add(reader->report, code, at, "%s", message);
    reader->n_faults++;
    return false;
}

bool read_token_fault(struct reader *reader, enum token_fault fault, const char *where)
{
    struct shown shown;

    if (fault == TOKEN_CONTROL || fault == TOKEN_NOT_UTF8)
        return read_fault(reader, FINDING_ENCODING, where, "the byte %s is %s%s",
                          read_shown(&shown, where, 1), token_fault_text(fault),
                          reader->is_hopeless ? guess(reader->text, reader->line_end) : "");
    return read_fault(reader, FINDING_SYNTAX, where, "%s", token_fault_text(fault));
}

bool read_keep(struct reader *reader, enum weir_status status)
{
    if (status == WEIR_OK)
        return true;
    reader->status = status;
    return false;
}

bool read_need_scratch(struct reader *reader)
{
    size_t length = (size_t)(reader->line_end - reader->text);

    return length < reader->scratch_room ||
           read_keep(reader, array_grow_raw(&reader->scratch, &reader->scratch_room, length + 1,
                                            reader->err));
}

bool read_next_line(struct reader *reader, const char **at, const char *end)
{
    const char *newline;

    if (*at == end)
        return false;
    newline = memchr(*at, '\n', (size_t)(end - *at));
    reader->text = *at;
    reader->line_end = newline == NULL ? end : newline;
    *at = newline == NULL ? end : newline + 1;
    if (reader->line_end > reader->text && reader->line_end[-1] == '\r')
        reader->line_end--;
    reader->line++;
    return true;
}

enum statement_kind read_statement_kind(struct span word)
{
    for (int i = 0; i < STATEMENT_KINDS; i++) {
        const struct statement *statement = &statements[i];
        if (statement->word_length == word.length &&
            memcmp(statement->word, word.text, word.length) == 0)
            return (enum statement_kind)i;
    }
    return STATEMENT_KINDS;
}

const struct name_index *graph_name_index(const struct graph *graph, enum statement_kind kind)
{
    if (kind == STATEMENT_NODE)
        return &graph->node_by_name;
    if (kind == STATEMENT_OBJECT)
        return &graph->object_by_name;
    if (kind == STATEMENT_DOMAIN)
        return &graph->domain_by_name;
    if (kind == STATEMENT_ENGINE)
        return &graph->engine_by_name;
    return kind == STATEMENT_RESOURCE ? &graph->resource_by_name : &graph->guard_by_name;
}

uint32_t graph_count(const struct graph *graph, enum statement_kind kind)
{
    switch (kind) {
    case STATEMENT_NODE:
        return graph->n_nodes;
    case STATEMENT_EDGE:
        return graph->n_edges;
    case STATEMENT_OBJECT:
        return graph->n_objects;
    case STATEMENT_DOMAIN:
        return graph->n_domains;
    case STATEMENT_ENGINE:
        return graph->n_engines;
    case STATEMENT_RESOURCE:
        return graph->n_resources;
    case STATEMENT_GUARD:
        return graph->n_guards;
    case STATEMENT_KAPPA:
        return graph->n_kappas;
    case STATEMENT_OVERLAP:
        return graph->n_overlaps;
    case STATEMENT_PARAM:
        return graph->n_params;
    case STATEMENT_GRAPH:
    case STATEMENT_KINDS:
        break;
    }
    return 0;
}

weir_text graph_row_name(const struct graph *graph, enum statement_kind kind, uint32_t row)
{
    if (kind == STATEMENT_NODE)
        return (weir_text){graph->nodes[row].name};
    if (kind == STATEMENT_OBJECT)
        return (weir_text){graph->objects[row].name};
    if (kind == STATEMENT_DOMAIN)
        return graph->domains[row].name;
    if (kind == STATEMENT_ENGINE)
        return graph->engines[row].name;
    return kind == STATEMENT_RESOURCE ? graph->resources[row].name : graph->guards[row].name;
}

/* The version, which comes first. */

static bool is_word(struct span word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* Behind the word `weir`. */
static void read_version(struct reader *reader, const char *at)
{
    struct span word = {.text = at};
    enum token_fault fault = token_word(&at, reader->line_end, reader->end, &word);
    struct shown shown;

    if (fault != TOKEN_OK || !is_word(word, "1")) {
        (void)read_fault(reader, FINDING_VERSION, word.text,
                         "the version is \"%s\", and this Weir reads version 1",
                         read_shown(&shown, word.text, fault == TOKEN_OK ? word.length : 0));
        reader->is_hopeless = fault == TOKEN_OK;
    } else if (token_word(&at, reader->line_end, reader->end, &word) != TOKEN_END) {
        (void)read_fault(reader, FINDING_SYNTAX, word.text,
                         "something follows the version; expected `weir 1` alone");
    }
}

/* The first statement. True when it is the version, and so done with. */
static bool begin_version(struct reader *reader, struct span word, const char *at)
{
    struct shown shown;

    reader->has_version = true;
    if (is_word(word, "weir")) {
        read_version(reader, at);
        return true;
    }
    reader->is_hopeless = read_statement_kind(word) == STATEMENT_KINDS;
    (void)read_fault(
        reader, FINDING_VERSION, word.text, "the first statement is \"%s\"; expected `weir 1`%s",
        read_shown(&shown, word.text, word.length), guess(word.text, reader->line_end));
    return reader->is_hopeless;
}

/* The second pass. */

static void unknown_statement(struct reader *reader, struct span word)
{
    const char *words[STATEMENT_KINDS + 1] = {0};
    struct shown shown;
    const char *nearest;

    for (int i = 0; i < STATEMENT_KINDS; i++)
        words[i] = statements[i].word;
    nearest = nearest_word(words, word.text, word.length);
    (void)read_fault(
        reader, FINDING_UNKNOWN_STATEMENT, word.text, "no statement begins with \"%s\"%s%s%s",
        read_shown(&shown, word.text, word.length), nearest == NULL ? "" : "; did you mean ",
        nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
}

static void read_line(struct reader *reader)
{
    const char *at = reader->text;
    enum statement_kind kind;
    struct span word;
    enum token_fault fault = token_word(&at, reader->line_end, reader->end, &word);

    if (fault == TOKEN_END)
        return;
    if (fault != TOKEN_OK) {
        reader->is_hopeless = !reader->has_version;
        (void)read_token_fault(reader, fault, at);
        return;
    }
    if (!reader->has_version && begin_version(reader, word, at))
        return;
    kind = read_statement_kind(word);
    if (kind != STATEMENT_KINDS)
        read_statement(reader, kind, at);
    else if (is_word(word, "weir"))
        (void)read_fault(reader, FINDING_SYNTAX, word.text,
                         "the version stands a second time; expected it once, first");
    else
        unknown_statement(reader, word);
}

static void read_lines(struct reader *reader, const char *text, size_t length)
{
    const char *at = text;

    while (reader->status == WEIR_OK && !reader->is_hopeless &&
           read_next_line(reader, &at, text + length)) {
        if (read_need_scratch(reader))
            read_line(reader);
        if (reader->line % LINES_BETWEEN == 0)
            report_progress(reader->report, DECLARING_PART + (1 - DECLARING_PART) *
                                                                 (double)(at - text) /
                                                                 (double)length);
    }
    if (reader->status == WEIR_OK && !reader->has_version && !reader->is_hopeless) {
        reader->text = reader->line_end = text;
        reader->line = 1;
        (void)read_fault(reader, FINDING_VERSION, text,
                         length == 0 ? "the file is empty; expected `weir 1` and a graph"
                                     : "the file holds no statement; expected `weir 1` first");
    }
}

static void count_rows(struct reader *reader)
{
    for (int i = 0; i < STATEMENT_KINDS; i++)
        reader->n_before[i] = graph_count(reader->graph, (enum statement_kind)i);
}

static void free_reader(struct reader *reader)
{
    for (int i = 0; i < STATEMENT_KINDS; i++) {
        free(reader->lines[i].of);
        keys_free(reader->keys[i]);
        free(reader->same[i]);
    }
    free(reader->scratch);
    free(reader->reads);
    free(reader->writes);
    free(reader->placements);
    free(reader->workspace);
    free(reader->uses);
    free(reader->times);
    free(reader->used_on);
}

/* Whole file read without a fault: what is left to be found, and the order of the classes. */
static void finish(struct reader *reader, const char *text, size_t length, enum check_part part)
{
    const struct statement_places places = {
        .file = reader->file, .text = text, .length = length, .lines = reader->lines};
    uint32_t n_errors = report_errors(reader->report);

    if (!read_keep(reader, graph_order_classes(reader->graph, reader->err)))
        return;
    statements_check(reader->graph, reader->report, part, &places);
    reader->n_faults += report_errors(reader->report) - n_errors;
    if (report_is_short(reader->report))
        (void)read_keep(reader, weir_error_memory(reader->err));
}

/* Reads the text over the graph. */
static enum weir_status read_over(struct graph *graph, const char *text, size_t length,
                                  const char *name, enum check_part part, struct report *report,
                                  struct weir_error *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    struct reader reader = {.graph = graph, .report = report, .err = err, .file = name};
    enum weir_status status;

    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    reader.end = text + length;
    count_rows(&reader);
    read_declare(&reader, text, length);
    if (reader.status == WEIR_OK)
        read_lines(&reader, text, length);
    if (reader.status == WEIR_OK && reader.n_faults == 0)
        finish(&reader, text, length, part);
    status = reader.status;
    if (status == WEIR_OK && reader.n_faults > 0)
        status = weir_error_set(err, WEIR_INPUT, "%.300s: %u error%s", name, reader.n_faults,
                                reader.n_faults == 1 ? "" : "s");
    free_reader(&reader);
    return status;
}

static const char *file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static enum weir_status read_new(const char *text, size_t length, const char *name,
                                 enum check_part part, struct report *report, struct graph **out,
                                 struct weir_error *err)
{
    struct graph *graph = graph_new();
    enum weir_status status;

    if (graph == NULL)
        return weir_error_memory(err);
    status = read_over(graph, text, length, name, part, report, err);
    if (status != WEIR_OK) {
        graph_free(graph);
        return status;
    }
    graph_trim(graph);
    *out = graph;
    return status;
}

static enum weir_status read_path(const char *path, enum check_part part, struct report *report,
                                  struct graph **out, struct weir_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum weir_status status = read_file(path, &text, &length, err);

    if (status == WEIR_OK)
        status = read_new(text, length, file_name(path), part, report, out, err);
    free(text);
    return status;
}

enum weir_status graph_read_text(const char *text, size_t length, const char *name,
                                 struct report *report, struct graph **out, struct weir_error *err)
{
    return read_new(length == 0 ? "" : text, length, name, CHECK_ALL, report, out, err);
}

enum weir_status graph_read(const char *path, struct report *report, struct graph **out,
                            struct weir_error *err)
{
    return read_path(path, CHECK_ALL, report, out, err);
}

enum weir_status graph_read_for_machine(const char *path, struct report *report, struct graph **out,
                                        struct weir_error *err)
{
    return read_path(path, CHECK_GRAPH, report, out, err);
}

enum weir_status graph_overlay_text(struct graph *graph, const char *text, size_t length,
                                    const char *name, struct report *report, struct weir_error *err)
{
    return read_over(graph, length == 0 ? "" : text, length, name, CHECK_GRAPH, report, err);
}

enum weir_status graph_overlay(struct graph *graph, const char *path, struct report *report,
                               struct weir_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum weir_status status = read_file(path, &text, &length, err);

    if (status == WEIR_OK)
        status = graph_overlay_text(graph, text, length, file_name(path), report, err);
    free(text);
    return status;
}
