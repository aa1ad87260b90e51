/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks and lines, made once: all ready times are known. */
#include "judge/verify_lines.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/keys.h"

/* --- order ------------------------------------------------------------------------------------ */

struct standing {
    int64_t priority, ready_ns;
    uint32_t node;
};

static int by_dispatch(const void *left, const void *right)
{
    const struct standing *a = left, *b = right;

    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->ready_ns != b->ready_ns) {
        return a->ready_ns < b->ready_ns ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

enum weir_status lines_rank(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    struct standing *list = malloc(((size_t)verify->n_nodes + 1) * sizeof *list);

    if (list == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        struct graph_node value;

        graph_node(verify->graph, (weir_node){i}, &value);
        list[i] = (struct standing){value.priority,
                                    moment_later(verify->ready[i], verify->armed[i]).ns, i};
    }
    qsort(list, verify->n_nodes, sizeof *list, by_dispatch);
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        dispatch->rank[list[i].node] = i;
        dispatch->by_rank[i] = list[i].node;
    }
    free(list);
    return WEIR_OK;
}

/* --- lines ------------------------------------------------------------------------------------ */

static enum weir_status find_line(struct dispatch *dispatch, struct keys *known, uint32_t node)
{
    struct verify *verify = dispatch->verify;
    weir_class class_ = graph_node_class(verify->graph, (weir_node){node});
    uint32_t keys[2];
    struct key key = {{verify->nodes[node].engine, NONE, NONE, NONE - 1}};
    uint32_t found;
    enum weir_status status = WEIR_OK;

    if (!verify->nodes[node].is_lengthless) {
        apart_keys(&dispatch->pairs, node, keys);
        key.part[1] = keys[0];
        key.part[2] = keys[1];
        key.part[3] = dispatch->pairs.has_unlisted ? class_.index : NONE;
    }
    found = keys_find(known, &key);
    if (found == KEYS_NONE) {
        status = array_grow(&dispatch->lines, &dispatch->lines_room, (size_t)dispatch->n_lines + 1,
                            verify->err);
        if (status == WEIR_OK) {
            status = keys_put(known, &key, dispatch->n_lines, verify->err);
        }
        if (status != WEIR_OK) {
            return status;
        }
        found = dispatch->n_lines++;
        dispatch->lines[found] = (struct line){.engine = verify->nodes[node].engine,
                                               .any_node = node,
                                               .is_lengthless = verify->nodes[node].is_lengthless,
                                               .candidate = NONE};
    }
    dispatch->line_of[node] = found;
    dispatch->lines[found].n++;
    return WEIR_OK;
}

static enum weir_status index_lines(struct dispatch *dispatch)
{
    const struct verify *verify = dispatch->verify;
    uint32_t sum = 0;

    dispatch->engine_first = calloc((size_t)verify->n_engines + 3, sizeof *dispatch->engine_first);
    dispatch->engine_lines =
        malloc(((size_t)dispatch->n_lines + 1) * sizeof *dispatch->engine_lines);
    dispatch->dirty = malloc(((size_t)dispatch->n_lines + 1) * sizeof *dispatch->dirty);
    if (dispatch->engine_first == NULL || dispatch->engine_lines == NULL ||
        dispatch->dirty == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        struct line *line = &dispatch->lines[i];

        line->first = sum;
        sum += line->n;
        line->n = 0;
        dispatch->engine_first[(line->engine == NONE ? verify->n_engines : line->engine) + 2]++;
    }
    for (uint32_t i = 1; i < verify->n_engines + 3; i++) {
        dispatch->engine_first[i] += dispatch->engine_first[i - 1];
    }
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        uint32_t engine = dispatch->lines[i].engine;

        engine = engine == NONE ? verify->n_engines : engine;
        dispatch->engine_lines[dispatch->engine_first[engine + 1]++] = i;
    }
    for (uint32_t rank = 0; rank < verify->n_nodes; rank++) {
        struct line *line = &dispatch->lines[dispatch->line_of[dispatch->by_rank[rank]]];

        dispatch->in_line[line->first + line->n++] = dispatch->by_rank[rank];
    }
    return WEIR_OK;
}

static void keys_of_line(const struct dispatch *dispatch, uint32_t index, uint32_t keys[2])
{
    keys[0] = keys[1] = NONE;
    if (!dispatch->lines[index].is_lengthless) {
        apart_keys(&dispatch->pairs, dispatch->lines[index].any_node, keys);
    }
}

static enum weir_status index_keys(struct dispatch *dispatch)
{
    uint32_t n_keys = dispatch->pairs.n_keys;

    dispatch->key_first = calloc((size_t)n_keys + 2, sizeof *dispatch->key_first);
    dispatch->key_lines = malloc((2 * (size_t)dispatch->n_lines + 1) * sizeof *dispatch->key_lines);
    if (dispatch->key_first == NULL || dispatch->key_lines == NULL) {
        return weir_error_memory(dispatch->verify->err);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < dispatch->n_lines; i++) {
            uint32_t keys[2];

            keys_of_line(dispatch, i, keys);
            for (int j = 0; j < 2; j++) {
                if (keys[j] != NONE && pass == 0) {
                    dispatch->key_first[keys[j] + 2]++;
                } else if (keys[j] != NONE) {
                    dispatch->key_lines[dispatch->key_first[keys[j] + 1]++] = i;
                }
            }
        }
        for (uint32_t i = 1; pass == 0 && i < n_keys + 2; i++) {
            dispatch->key_first[i] += dispatch->key_first[i - 1];
        }
    }
    return WEIR_OK;
}

enum weir_status lines_make(struct dispatch *dispatch)
{
    struct verify *verify = dispatch->verify;
    struct keys *known = keys_new();
    enum weir_status status = known == NULL ? weir_error_memory(verify->err) : WEIR_OK;

    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        status = find_line(dispatch, known, i);
    }
    keys_free(known);
    if (status == WEIR_OK) {
        status = index_lines(dispatch);
    }
    return status == WEIR_OK ? index_keys(dispatch) : status;
}

enum weir_status lines_list_beginners(struct dispatch *dispatch)
{
    const struct verify *verify = dispatch->verify;
    uint32_t *first = calloc((size_t)verify->n_copies + 2, sizeof *first);

    dispatch->beginners_first = first;
    dispatch->beginners = malloc(((size_t)verify->n_touches + 1) * sizeof *dispatch->beginners);
    dispatch->has_begun = calloc((size_t)verify->n_copies + 1, sizeof *dispatch->has_begun);
    if (first == NULL || dispatch->beginners == NULL || dispatch->has_begun == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_touches; i++) {
        first[verify->touches[i].copy + 2] += verify_may_begin(verify, &verify->touches[i]) ? 1 : 0;
    }
    for (uint32_t i = 1; i < verify->n_copies + 2; i++) {
        first[i] += first[i - 1];
    }
    for (uint32_t node = 0; node < verify->n_nodes; node++) {
        for (uint32_t i = verify->touch_first[node]; i < verify->touch_first[node + 1]; i++) {
            if (verify_may_begin(verify, &verify->touches[i])) {
                dispatch->beginners[first[verify->touches[i].copy + 1]++] = node;
            }
        }
    }
    return WEIR_OK;
}

void lines_free(struct dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->n_lines; i++) {
        struct line *line = &dispatch->lines[i];

        for (uint32_t j = 0; j < line->n_shelves; j++) {
            free(line->shelves[j].least);
            free(line->shelves[j].nodes);
        }
        free(line->shelves);
        free(line->heap);
    }
    for (uint32_t i = 0; dispatch->lacking != NULL && i < dispatch->verify->n_domains; i++) {
        free(dispatch->lacking[i].items);
    }
    free(dispatch->lacking);
    free(dispatch->key_first);
    free(dispatch->key_lines);
    free(dispatch->lines);
    free(dispatch->rank);
    free(dispatch->by_rank);
    free(dispatch->line_of);
    free(dispatch->in_line);
    free(dispatch->beginners_first);
    free(dispatch->beginners);
    free(dispatch->engine_first);
    free(dispatch->engine_lines);
}
