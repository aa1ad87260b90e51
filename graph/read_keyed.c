/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements without a name: facts and edges, known by what they are about. A machine file replaces
 * the row that says something of the same; where several do, each line one of them, in their order. */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "graph/read_internal.h"

static_assert(KEYS_NONE == WEIR_NONE, "no value is no row");

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

static bool need_tables(struct reader *reader, enum statement_kind kind)
{
    uint32_t n = reader->n_before[kind];

    reader->keys[kind] = keys_new();
    reader->same[kind] = malloc(((size_t)n + 1) * sizeof *reader->same[kind]);
    if (reader->keys[kind] == NULL || reader->same[kind] == NULL)
        return read_keep(reader, weir_error_memory(reader->err));
    memset(reader->same[kind], 0xff, ((size_t)n + 1) * sizeof *reader->same[kind]);
    return true;
}

/* Enters the rows that were there before this file: the first of each key in the table, each other
 * behind the one before it. */
static bool need_keys(struct reader *reader, const struct state *state)
{
    enum statement_kind kind = state->kind;
    struct state other = *state;

    if (reader->keys[kind] != NULL)
        return true;
    if (!need_tables(reader, kind))
        return false;
    for (other.row = reader->n_before[kind]; other.row-- > 0;) {
        struct key key;
        uint32_t after;
        read_load_row(reader->graph, &other);
        key = key_of(&other);
        after = keys_find(reader->keys[kind], &key);
        reader->same[kind][other.row] = after;
        if (after != KEYS_NONE)
            keys_change(reader->keys[kind], &key, other.row);
        else if (!read_keep(reader, keys_put(reader->keys[kind], &key, other.row, reader->err)))
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

/* Reads the words once more, over the row that is there. The next statement of the key is about the
 * next row that has it. */
static bool replace_row(struct reader *reader, struct state *state, const struct key *key)
{
    uint32_t after = reader->same[state->kind][state->row];

    read_load_row(reader->graph, state);
    state->is_new = false;
    if (!read_words(reader, state) ||
        !read_keep(reader, read_keep_row(reader->graph, state, reader->err)) ||
        !mark_line(reader, state->kind, state->row))
        return false;
    if (after != KEYS_NONE)
        keys_change(reader->keys[state->kind], key, after);
    return true;
}

/* The first row of the key that this file has not stated yet; WEIR_NONE when there is none. *line
 * is then that of a row that it has stated, or 0. */
static uint32_t row_to_replace(const struct reader *reader, enum statement_kind kind,
                               const struct key *key, uint32_t *line)
{
    const struct lines *lines = &reader->lines[kind];
    uint32_t row = keys_find(reader->keys[kind], key);

    *line = row != KEYS_NONE && row < lines->room ? lines->of[row] : 0;
    return *line == 0 ? row : WEIR_NONE;
}

void read_keyed(struct reader *reader, struct state *state)
{
    enum statement_kind kind = state->kind;
    uint32_t line = 0;
    struct key key = {{0}};

    read_begin_blank(state);
    if (!read_words(reader, state))
        return;
    if (is_once(kind) || reader->n_before[kind] > 0) {
        if (!need_keys(reader, state))
            return;
        key = key_of(state);
        state->row = row_to_replace(reader, kind, &key, &line);
    }
    if (state->row != WEIR_NONE)
        (void)replace_row(reader, state, &key);
    else if (line != 0 && is_once(kind))
        (void)read_fault(reader, FINDING_DUPLICATE_FACT, state->start,
                         "this %s is given already, on line %u",
                         kind == STATEMENT_KAPPA ? "factor of two classes" : "parameter", line);
    else
        (void)add_new(reader, state, &key);
}
