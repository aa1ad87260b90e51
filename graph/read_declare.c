/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first pass over a file: the names that its statements define get their ids, in the order of the
 * lines. Rows and names are counted before, so that nothing grows on the way. */
#include <stdlib.h>

#include "base/array.h"
#include "graph/read_internal.h"

/* Lines that begin like statements which files have many of; a guess, for room alone. */
struct counts {
    uint32_t nodes, objects, edges;
};

static bool begins(const char *line, const char *end, const char *word, size_t length)
{
    return (size_t)(end - line) > length && memcmp(line, word, length) == 0;
}

static struct counts count_lines(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    struct counts counts = {0};

    while (at != NULL && at < end) {
        if (begins(at, end, "edge ", 5))
            counts.edges++;
        else if (begins(at, end, "node ", 5))
            counts.nodes++;
        else if (begins(at, end, "object ", 7))
            counts.objects++;
        at = memchr(at, '\n', (size_t)(end - at));
        at = at == NULL ? NULL : at + 1;
    }
    return counts;
}

static bool reserve(struct reader *reader, const struct counts *counts)
{
    struct graph *graph = reader->graph;
    struct weir_error *err = reader->err;
    struct lines *nodes = &reader->lines[STATEMENT_NODE];
    struct lines *objects = &reader->lines[STATEMENT_OBJECT];
    size_t n_nodes = (size_t)graph->n_nodes + counts->nodes;
    size_t n_objects = (size_t)graph->n_objects + counts->objects;

    return read_keep(reader, names_reserve(graph->texts, counts->nodes + counts->objects, err)) &&
           read_keep(reader, array_grow_raw(&graph->nodes, &graph->nodes_room, n_nodes, err)) &&
           read_keep(reader,
                     array_grow_raw(&graph->objects, &graph->objects_room, n_objects, err)) &&
           read_keep(reader, graph_edge_room(graph, (size_t)graph->n_edges + counts->edges, err)) &&
           (counts->nodes == 0 ||
            read_keep(reader, array_grow(&nodes->of, &nodes->room, n_nodes, err))) &&
           (counts->objects == 0 ||
            read_keep(reader, array_grow(&objects->of, &objects->room, n_objects, err)));
}

static enum weir_status declare_row(struct graph *graph, enum statement_kind kind, weir_text name,
                                    uint32_t *row, struct weir_error *err)
{
    union statement_value value;
    const struct statement *statement = &statements[kind];

    *row = graph_count(graph, kind);
    if (kind == STATEMENT_NODE)
        return graph_declare_node(graph, name, &(weir_node){0}, err);
    if (kind == STATEMENT_OBJECT)
        return graph_declare_object(graph, name, &(weir_object){0}, err);
    memcpy(&value, statement->blank, statement->value_size);
    memcpy((char *)&value + statement->fields[0].offset, &name, sizeof name);
    if (kind == STATEMENT_DOMAIN)
        return graph_add_domain(graph, &value.domain, &(weir_domain){0}, err);
    if (kind == STATEMENT_ENGINE)
        return graph_add_engine(graph, &value.engine, &(weir_engine){0}, err);
    if (kind == STATEMENT_RESOURCE)
        return graph_add_resource(graph, &value.resource, &(weir_resource){0}, err);
    return graph_add_guard(graph, &value.guard, &(weir_guard){0}, err);
}

/* The first line of the file that defines the name has its row; others are duplicates. */
static enum weir_status declare(struct reader *reader, enum statement_kind kind,
                                const struct item *item)
{
    struct graph *graph = reader->graph;
    struct lines *lines = &reader->lines[kind];
    weir_text name;
    uint32_t row;
    enum weir_status status = graph_intern(graph, item->text, item->length, &name, reader->err);

    if (status != WEIR_OK)
        return status;
    row = name_index_find(graph_name_index(graph, kind), name);
    if (row == WEIR_NONE) {
        status = declare_row(graph, kind, name, &row, reader->err);
        if (status != WEIR_OK)
            return status;
    }
    status = array_grow(&lines->of, &lines->room, (size_t)row + 1, reader->err);
    if (status == WEIR_OK && lines->of[row] == 0)
        lines->of[row] = reader->line;
    return status;
}

void read_declare(struct reader *reader, const char *text, size_t length)
{
    const struct counts counts = count_lines(text, length);
    const char *at = text;

    if (!reserve(reader, &counts))
        return;
    while (reader->status == WEIR_OK && read_next_line(reader, &at, text + length)) {
        const char *p = reader->text;
        enum statement_kind kind;
        struct span word;
        struct item item;
        if (reader->line % LINES_BETWEEN == 0)
            report_progress(reader->report, DECLARING_PART * (double)(at - text) / (double)length);
        if (begins(p, reader->line_end, "edge ", 5))
            continue; /* most lines, and they define no name */
        if (token_word(&p, reader->line_end, reader->end, &word) != TOKEN_OK)
            continue;
        kind = read_statement_kind(word);
        if (kind == STATEMENT_KINDS || !statements[kind].is_named ||
            token_word(&p, reader->line_end, reader->end, &word) != TOKEN_OK ||
            !read_need_scratch(reader))
            continue;
        p = word.text;
        if (token_item(&p, word.text + word.length, "", reader->scratch, &item) == TOKEN_OK &&
            item.length > 0)
            (void)read_keep(reader, declare(reader, kind, &item));
    }
    reader->line = 0;
}
