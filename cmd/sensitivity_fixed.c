/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nodes are worth in the order that was realized: one by one, by class, by origin. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/sensitivity_internal.h"

/* ---- nodes ---- */

static int by_worth(const void *a, const void *b)
{
    const struct sensitive_node *x = a, *y = b;

    if (x->saves_ns != y->saves_ns)
        return x->saves_ns < y->saves_ns ? 1 : -1;
    if (x->slack_ns != y->slack_ns)
        return x->slack_ns > y->slack_ns ? 1 : -1;
    if (x->length_ns != y->length_ns)
        return x->length_ns < y->length_ns ? 1 : -1;
    return (x->node.index > y->node.index) - (x->node.index < y->node.index);
}

/* What takes no time cannot take less. */
static enum weir_status list_nodes(struct sensitive *s, struct weir_error *err)
{
    s->nodes = malloc((s->retime.n_nodes + (size_t)1) * sizeof *s->nodes);
    if (s->nodes == NULL)
        return weir_error_memory(err);
    for (uint32_t p = 0; p < s->retime.n_nodes; p++) {
        if (!weir_is(s->retime.nodes[p]) || s->length_ns[p] == 0)
            continue;
        s->nodes[s->n_timed++] = (struct sensitive_node){
            .node = s->retime.nodes[p],
            .length_ns = s->length_ns[p],
            .slack_ns = s->worth.slack_ns[p],
            .saves_ns = s->worth.saves_ns[p],
            .half_saves_ns = s->worth.half_saves_ns[p],
            .gone = WEIR_NONE,
            .half = WEIR_NONE,
        };
        s->n_saving += s->worth.saves_ns[p] > 0;
    }
    qsort(s->nodes, s->n_timed, sizeof *s->nodes, by_worth);
    s->n_nodes = s->n_timed < s->limit ? s->n_timed : s->limit;
    return WEIR_OK;
}

/* ---- groups ---- */

static void group_by_class(const struct sensitive *s, uint32_t *group_of)
{
    const struct graph *graph = plan_graph(s->scenario.plan);

    for (uint32_t p = 0; p < s->retime.n_nodes; p++) {
        weir_node node = s->retime.nodes[p];

        group_of[p] =
            weir_is(node) && s->length_ns[p] > 0 ? graph_node_class(graph, node).index : WEIR_NONE;
    }
}

/* The length of a number that is of one action alone, with what leads to it: a row of a profile, what
 * PyTorch numbers its operators with; 0: there is none. */
static size_t own_number(const char *text)
{
    static const char *const leads[] = {" row ", ", op_id = ", ", seq = "};

    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        size_t lead = strlen(leads[i]), digits;

        if (strncmp(text, leads[i], lead) != 0)
            continue;
        digits = strspn(text + lead, "0123456789");
        if (digits > 0 && strchr(";,", text[lead + digits]) != NULL) /* or the end */
            return lead + digits;
    }
    return 0;
}

/* An origin without such numbers: "KERNEL row 12; NVTX step" is of "KERNEL; NVTX step". @param out room
 * for the text  @return its length */
static size_t origin_key(const char *origin, char *out)
{
    size_t used = 0;

    while (*origin != '\0') {
        size_t skipped = own_number(origin);

        if (skipped > 0)
            origin += skipped;
        else
            out[used++] = *origin++;
    }
    out[used] = '\0';
    return used;
}

static enum weir_status origin_group(struct sensitive *s, const char *origin, char **key,
                                     size_t *key_room, uint32_t *group, struct weir_error *err)
{
    size_t length = strlen(origin);

    if (length == 0) {
        *group = WEIR_NONE;
        return WEIR_OK;
    }
    if (length + 1 > *key_room) {
        char *grown = realloc(*key, 2 * length + 64);

        if (grown == NULL)
            return weir_error_memory(err);
        *key = grown;
        *key_room = 2 * length + 64;
    }
    length = origin_key(origin, *key);
    return names_intern(s->origin_names, *key, length, group, err);
}

static enum weir_status group_by_origin(struct sensitive *s, uint32_t *group_of,
                                        struct weir_error *err)
{
    const struct graph *graph = plan_graph(s->scenario.plan);
    enum weir_status status = WEIR_OK;
    char *key = NULL;
    size_t key_room = 0;

    for (uint32_t p = 0; p < s->retime.n_nodes && status == WEIR_OK; p++) {
        weir_node node = s->retime.nodes[p];
        struct graph_node value;

        group_of[p] = WEIR_NONE;
        if (!weir_is(node) || s->length_ns[p] == 0)
            continue;
        graph_node(graph, node, &value);
        status =
            origin_group(s, graph_text(graph, value.origin), &key, &key_room, &group_of[p], err);
    }
    free(key);
    return status;
}

static enum weir_status rank_groups(const struct sensitive *s, const uint32_t *group_of,
                                    uint32_t n_groups, struct progress *progress,
                                    struct sensitive_groups *out, struct weir_error *err)
{
    uint32_t most = n_groups < s->limit ? n_groups : s->limit;

    out->n_groups = n_groups;
    out->rows = malloc((most + (size_t)1) * sizeof *out->rows);
    if (out->rows == NULL)
        return weir_error_memory(err);
    if (most == 0)
        return WEIR_OK;
    return worth_groups(&s->retime, s->length_ns, group_of, n_groups, most, progress_show, progress,
                        out->rows, &out->n_rows, err);
}

static enum weir_status find_groups(struct sensitive *s, struct progress *progress,
                                    struct weir_error *err)
{
    const struct graph *graph = plan_graph(s->scenario.plan);
    uint32_t *group_of = malloc((s->retime.n_nodes + (size_t)1) * sizeof *group_of);
    enum weir_status status = WEIR_OK;

    s->origin_names = names_new();
    if (group_of == NULL || s->origin_names == NULL) {
        free(group_of);
        return weir_error_memory(err);
    }
    group_by_class(s, group_of);
    status = rank_groups(s, group_of, graph_n_classes(graph), progress, &s->classes, err);
    if (status == WEIR_OK)
        status = group_by_origin(s, group_of, err);
    if (status == WEIR_OK)
        status = rank_groups(s, group_of, names_count(s->origin_names), progress, &s->origins, err);
    free(group_of);
    return status;
}

enum weir_status sensitive_order(struct sensitive *s, struct progress *progress,
                                 struct weir_error *err)
{
    enum weir_status status = retime_make(plan_binding(s->scenario.plan), s->result.timeline,
                                          &s->scenario.simulate, &s->retime, err);

    if (status != WEIR_OK)
        return status;
    s->length_ns = malloc((s->retime.n_nodes + (size_t)1) * sizeof *s->length_ns);
    if (s->length_ns == NULL)
        return weir_error_memory(err);
    retime_lengths(&s->retime, s->result.timeline, s->length_ns);
    status = worth_find(&s->retime, s->length_ns, &s->worth, err);
    assert(status != WEIR_OK || s->worth.makespan_ns == s->result.timeline->makespan_ns);
    if (status == WEIR_OK)
        status = list_nodes(s, err);
    return status == WEIR_OK ? find_groups(s, progress, err) : status;
}
