/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom a change is for, and changes of lengths. */
#include "graph/what_if.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "graph/read_internal.h"

#define NEAR_ROOM 200

/* ---- whom ---- */

/* Adds "SORT 'NAME'" to the list of what is near. */
static void list_near(char near[NEAR_ROOM], const char *sort, const char *name)
{
    size_t used = strlen(near);
    struct shown shown;

    if (NEAR_ROOM - used < 48)
        return;
    (void)snprintf(near + used, NEAR_ROOM - used, "%s%s '%.60s'", used == 0 ? "" : ", ", sort,
                   read_shown(&shown, name, strlen(name)));
}

static void list_near_classes(const struct graph *graph, const char *text, size_t length,
                              char near[NEAR_ROOM])
{
    const char **names = calloc((size_t)graph_n_classes(graph) + 1, sizeof *names);
    const char *nearest;

    if (names == NULL)
        return; /* a message without them */
    for (uint32_t i = 0; i < graph_n_classes(graph); i++)
        names[i] = graph_text(graph, graph_class_name(graph, (weir_class){i}));
    nearest = nearest_word(names, text, length);
    if (nearest != NULL)
        list_near(near, "class", nearest);
    free(names);
}

/* Who typed a part of a name sees up to three that begin so. */
static void list_near_nodes(const struct graph *graph, const char *text, size_t length,
                            char near[NEAR_ROOM])
{
    weir_text nearest = nearest_name(graph, STATEMENT_NODE, text, length);
    uint32_t n_found = 0;

    if (nearest.index != 0)
        list_near(near, "node", graph_text(graph, nearest));
    for (uint32_t i = 0; i < graph_n_nodes(graph) && n_found < 3 && length > 0; i++) {
        const char *name = graph_node_name(graph, (weir_node){i});

        if (strncmp(name, text, length) != 0 ||
            (nearest.index != 0 && strcmp(name, graph_text(graph, nearest)) == 0))
            continue;
        list_near(near, "node", name);
        n_found++;
    }
}

static enum weir_status nobody(const struct graph *graph, const char *text, size_t length,
                               bool asks_node, bool asks_class, struct weir_error *err)
{
    const char *sorts = !asks_class ? "node" : !asks_node ? "class" : "node and no class";
    char near[NEAR_ROOM] = "";
    struct shown shown;
    bool is_near;

    if (asks_node)
        list_near_nodes(graph, text, length, near);
    if (asks_class)
        list_near_classes(graph, text, length, near);
    is_near = near[0] != '\0';
    for (uint32_t i = 0; asks_class && !is_near && i < graph_n_classes(graph); i++)
        list_near(near, "class", graph_text(graph, graph_class_name(graph, (weir_class){i})));
    (void)read_shown(&shown, text, length);
    return weir_error_set(err, WEIR_USAGE, "the graph has no %s '%.80s'%s%s", sorts, shown.text,
                          is_near           ? "; near it are "
                          : near[0] == '\0' ? ""
                                            : "; it has ",
                          near);
}

static bool begins(const char *text, size_t length, const char *prefix)
{
    return length > strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

enum weir_status what_if_find(const struct graph *graph, const char *text, size_t length,
                              bool nodes_only, struct what_if_target *out, struct weir_error *err)
{
    bool asks_node = true, asks_class = !nodes_only;
    struct what_if_target found = {{WEIR_NONE}, {WEIR_NONE}};
    uint32_t name;

    if (begins(text, length, "node:")) {
        asks_class = false;
        text += strlen("node:");
        length -= strlen("node:");
    } else if (asks_class && begins(text, length, "class:")) {
        asks_node = false;
        text += strlen("class:");
        length -= strlen("class:");
    }
    name = length == 0 ? NAMES_NONE : names_find(graph->texts, text, length);
    if (name != NAMES_NONE && asks_node)
        found.node = graph_find_node(graph, (weir_text){name});
    if (name != NAMES_NONE && asks_class)
        found.class_ = graph_find_class(graph, (weir_text){name});
    if (weir_is(found.node) && weir_is(found.class_)) {
        struct shown shown;

        (void)read_shown(&shown, text, length);
        return weir_error_set(
            err, WEIR_USAGE, "a node and a class are called '%.80s'; say node:%.80s or class:%.80s",
            shown.text, shown.text, shown.text);
    }
    if (!weir_is(found.node) && !weir_is(found.class_))
        return nobody(graph, text, length, asks_node, asks_class, err);
    *out = found;
    return WEIR_OK;
}

/* ---- lengths ---- */

bool what_if_scaled_ns(int64_t ns, double factor, int64_t *out)
{
    double product = (double)ns * factor;

    if (factor == 1) { /* exactly, also where a double is not */
        *out = ns;
        return true;
    }
    if (!(product < 0x1p63))
        return false;
    *out = (int64_t)product;
    *out += product - (double)*out >= 0.5; /* past 2^52 there are no halves */
    return true;
}

/* Lognormal and gamma have a mean above 0. */
static bool needs_mean(enum distribution_kind kind)
{
    return kind == DISTRIBUTION_LOGNORMAL || kind == DISTRIBUTION_GAMMA;
}

static void set_fixed(struct graph_node *node, const int64_t *length_ns)
{
    node->has_duration = true;
    node->duration = (struct graph_duration){DISTRIBUTION_FIXED, length_ns, 1};
}

/* A node at work: what it says now, and room for its times. */
struct scaling {
    struct graph *graph;
    double factor;
    struct graph_evidence evidence;
    int64_t *times_ns;
    size_t times_room;
};

static enum weir_status scale_times(struct scaling *scaling, struct graph_node *node,
                                    struct weir_error *err)
{
    uint32_t n = node->duration.n_values;
    enum weir_status status = array_grow(&scaling->times_ns, &scaling->times_room, n, err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++) {
        int64_t ns = node->duration.values_ns[i];

        if (!what_if_scaled_ns(ns, scaling->factor, &scaling->times_ns[i])) {
            struct shown shown;
            char factor[NUMBER_TEXT_BYTES];
            const char *name = graph_text(scaling->graph, node->name);

            number_ratio_text(scaling->factor, factor);
            return weir_error_set(err, WEIR_USAGE,
                                  "node '%.80s': %" PRId64 " ns times %s is more than 2^63 - 1 ns",
                                  read_shown(&shown, name, strlen(name)), ns, factor);
        }
    }
    node->duration.values_ns = scaling->times_ns;
    if (needs_mean(node->duration.kind) && scaling->times_ns[0] == 0)
        set_fixed(node, scaling->times_ns);
    return WEIR_OK;
}

static enum weir_status scale_node(struct scaling *scaling, weir_node id, struct weir_error *err)
{
    static const int64_t no_time = 0;
    struct graph_node node;
    enum weir_status status = WEIR_OK;
    int64_t length_ns;

    graph_node(scaling->graph, id, &node);
    if (scaling->factor == 0) {
        set_fixed(&node, &no_time);
    } else if (node.has_duration) {
        if (node.duration.kind == DISTRIBUTION_UNKNOWN)
            return WEIR_OK;
        status = scale_times(scaling, &node, err);
    } else {
        if (!graph_node_length_ns(scaling->graph, id, &length_ns) || length_ns == 0)
            return WEIR_OK;
        set_fixed(&node, &length_ns);
        status = scale_times(scaling, &node, err);
    }
    if (status != WEIR_OK)
        return status;
    node.evidence = scaling->evidence;
    return graph_set_node(scaling->graph, id, &node, err);
}

/* What the changed costs rest on. */
static enum weir_status begin_scaling(struct scaling *scaling, struct graph *graph, double factor,
                                      struct weir_error *err)
{
    char number[NUMBER_TEXT_BYTES], text[NUMBER_TEXT_BYTES + 32];

    *scaling = (struct scaling){.graph = graph, .factor = factor};
    scaling->evidence = (struct graph_evidence){.kind = EVIDENCE_ASSUMED, .confidence = -1};
    number_ratio_text(factor, number);
    (void)snprintf(text, sizeof text, "what if: times %s", number);
    return graph_intern_text(graph, text, &scaling->evidence.detail, err);
}

enum weir_status what_if_scale(struct graph *graph, struct what_if_target target, double factor,
                               struct weir_error *err)
{
    struct scaling scaling;
    enum weir_status status = begin_scaling(&scaling, graph, factor, err);
    bool has_node = weir_is(target.node);

    if (status == WEIR_OK && weir_is(target.node))
        status = scale_node(&scaling, target.node, err);
    for (uint32_t i = 0; i < graph_n_nodes(graph) && weir_is(target.class_) && status == WEIR_OK;
         i++) {
        if (!weir_same(graph_node_class(graph, (weir_node){i}), target.class_))
            continue;
        has_node = true;
        status = scale_node(&scaling, (weir_node){i}, err);
    }
    free(scaling.times_ns);
    if (status == WEIR_OK && !has_node) {
        const char *name = graph_text(graph, graph_class_name(graph, target.class_));
        struct shown shown;

        return weir_error_set(err, WEIR_USAGE,
                              "class '%.80s' has no node; a node that says class= is none of its "
                              "engine's",
                              read_shown(&shown, name, strlen(name)));
    }
    return status;
}

enum weir_status what_if_scale_engine(struct graph *graph, weir_engine engine, double factor,
                                      struct weir_error *err)
{
    struct scaling scaling;
    enum weir_status status = begin_scaling(&scaling, graph, factor, err);

    for (uint32_t i = 0; i < graph_n_nodes(graph) && status == WEIR_OK; i++) {
        if (weir_same(graph_node_engine(graph, (weir_node){i}), engine))
            status = scale_node(&scaling, (weir_node){i}, err);
    }
    free(scaling.times_ns);
    return status;
}
