/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be said of statements without looking at order. Each check takes time in proportion to
 * what it looks at: chains of aliases are short, or refused. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/read_internal.h"
#include "graph/text.h"

#define DEEPEST_ALIAS 1000u

struct check {
    const struct graph *graph;
    struct report *report;
    const struct statement_places *places;
    /* The line looked for last: the next is mostly further down. */
    uint32_t line;
    const char *line_text;
};

/* Where statements stand. */

/* The column of the field in the line, of the line's first word when it is not there. */
static uint32_t column_of(const char *line, const char *end, const char *field)
{
    size_t length = strlen(field);
    const char *at = line, *found = NULL;
    struct span word;

    while (token_word(&at, end, end, &word) == TOKEN_OK) {
        if (found == NULL)
            found = word.text;
        if (word.length > length && memcmp(word.text, field, length) == 0 &&
            word.text[length] == '=')
            found = word.text + length + 1;
    }
    return found == NULL ? 1 : (uint32_t)(found - line) + 1;
}

static struct report_at place_of(struct check *check, enum statement_kind kind, uint32_t row,
                                 const char *field)
{
    const struct statement_places *places = check->places;
    struct report_at at = {0};
    const char *end, *text_end;

    if (places->file == NULL || row >= places->lines[kind].room ||
        places->lines[kind].of[row] == 0 || report_is_full(check->report))
        return at;
    at.file = places->file;
    at.line = places->lines[kind].of[row];
    if (at.line < check->line) {
        check->line = 1;
        check->line_text = places->text;
    }
    text_end = places->text + places->length;
    for (; check->line < at.line; check->line++)
        check->line_text =
            (const char *)memchr(check->line_text, '\n', (size_t)(text_end - check->line_text)) + 1;
    end = memchr(check->line_text, '\n', (size_t)(text_end - check->line_text));
    at.column = column_of(check->line_text, end == NULL ? text_end : end, field);
    return at;
}

static const char *object_name(struct check *check, uint32_t row, struct shown *shown)
{
    const char *name = graph_object_name(check->graph, (weir_object){row});

    return read_shown(shown, name, strlen(name));
}

static const char *node_name(struct check *check, uint32_t row, struct shown *shown)
{
    const char *name = graph_node_name(check->graph, (weir_node){row});

    return read_shown(shown, name, strlen(name));
}

/* Objects. */

/* Whether the chain of aliases ends; *depth is its length. */
static bool chain_ends(const struct graph *graph, uint32_t row)
{
    uint32_t depth = 0;

    for (; graph->objects[row].alias_of != WEIR_NONE; row = graph->objects[row].alias_of) {
        if (++depth > DEEPEST_ALIAS)
            return false;
    }
    return true;
}

static void check_alias(struct check *check, uint32_t row)
{
    const struct object_row *object = &check->graph->objects[row];
    const struct object_row *target = &check->graph->objects[object->alias_of];
    int64_t offset = rare_get(&check->graph->rares, object->rare, OBJECT_RARE_ALIAS_OFFSET, 0);
    struct shown name, other;
    int64_t end;

    (void)object_name(check, row, &name);
    (void)object_name(check, object->alias_of, &other);
    if (!chain_ends(check->graph, row)) {
        report_add(check->report, FINDING_BAD_ALIAS,
                   place_of(check, STATEMENT_OBJECT, row, "alias"),
                   "object \"%s\" is an alias of \"%s\" in a circle, or more than %u aliases deep",
                   name.text, other.text, DEEPEST_ALIAS);
    } else if (__builtin_add_overflow(offset, object->size_bytes, &end) ||
               end > target->size_bytes) {
        report_add(check->report, FINDING_BAD_ALIAS,
                   place_of(check, STATEMENT_OBJECT, row, "alias"),
                   "object \"%s\" of %" PRId64 " bytes at offset %" PRId64
                   " of \"%s\" reaches past its %" PRId64 " bytes",
                   name.text, object->size_bytes, offset, other.text, target->size_bytes);
    } else {
        return;
    }
    report_name(check->report, graph_object_name(check->graph, (weir_object){row}));
    report_name(check->report, graph_object_name(check->graph, (weir_object){object->alias_of}));
}

static void check_object(struct check *check, uint32_t row)
{
    const struct object_row *object = &check->graph->objects[row];
    int64_t offset = rare_get(&check->graph->rares, object->rare, OBJECT_RARE_PLANNED_OFFSET, -1);
    struct shown name;
    int64_t end;

    if (object->alias_of != WEIR_NONE)
        check_alias(check, row);
    if (object->alias_of != WEIR_NONE && (object->flags & OBJECT_IS_INITIAL) != 0) {
        report_add(check->report, FINDING_ALIAS_STORAGE,
                   place_of(check, STATEMENT_OBJECT, row, "alias"),
                   "object \"%s\" is an alias and `initial`", object_name(check, row, &name));
        report_name(check->report, graph_object_name(check->graph, (weir_object){row}));
    }
    if (offset >= 0 && __builtin_add_overflow(offset, object->size_bytes, &end)) {
        report_add(check->report, FINDING_OUT_OF_RANGE,
                   place_of(check, STATEMENT_OBJECT, row, "offset"),
                   "object \"%s\" ends past what 64 bits hold: expected offset + size of at most "
                   "%" PRId64,
                   object_name(check, row, &name), INT64_MAX);
        report_name(check->report, graph_object_name(check->graph, (weir_object){row}));
    }
}

/* Sums. */

/* Adds to *sum; false when it does not fit. */
static bool add(int64_t *sum, int64_t more)
{
    return !__builtin_add_overflow(*sum, more, sum);
}

static bool add_charges(const struct graph *graph, uint32_t row, int64_t *sum)
{
    struct graph_node node;
    bool is_fine;

    if (graph->nodes[row].rare == 0)
        return true;
    graph_node(graph, (weir_node){row}, &node);
    is_fine = node.staging.bytes < 0 || add(sum, node.staging.bytes);
    for (uint32_t i = 0; i < node.n_workspace; i++)
        is_fine = is_fine && add(sum, node.workspace[i].bytes);
    return is_fine;
}

static int64_t largest_granule(const struct graph *graph)
{
    int64_t granule = 1;

    for (uint32_t i = 0; i < graph->n_domains; i++) {
        if (graph->domains[i].granule_bytes > granule)
            granule = graph->domains[i].granule_bytes;
    }
    return granule;
}

/* The pressure of a domain is at most the sum of all sizes, rounded up, and all charges. */
static void check_sizes(struct check *check)
{
    const struct graph *graph = check->graph;
    int64_t granule = largest_granule(graph), sum = 0;
    bool is_fine = true;

    for (uint32_t i = 0; i < graph->n_objects && is_fine; i++) {
        int64_t size = graph->objects[i].size_bytes;
        if (graph->objects[i].alias_of == WEIR_NONE)
            is_fine =
                add(&sum, size) && (size % granule == 0 || add(&sum, granule - size % granule));
    }
    for (uint32_t i = 0; i < graph->n_nodes && is_fine; i++)
        is_fine = add_charges(graph, i, &sum);
    if (!is_fine)
        report_add(check->report, FINDING_OUT_OF_RANGE, (struct report_at){0},
                   "the sizes of all objects, workspaces and staging add up to more than %" PRId64
                   " bytes",
                   INT64_MAX);
}

/* No node finishes later than the latest release and every length and lag after one another. */
static void check_times(struct check *check)
{
    const struct graph *graph = check->graph;
    int64_t latest_ns = 0, sum_ns = 0;
    bool is_fine = true;

    for (uint32_t i = 0; i < graph->n_objects; i++) {
        int64_t ready_ns = rare_get(&graph->rares, graph->objects[i].rare, OBJECT_RARE_READY, 0);
        latest_ns = ready_ns > latest_ns ? ready_ns : latest_ns;
    }
    for (uint32_t i = 0; i < graph->n_nodes && is_fine; i++) {
        int64_t release_ns = rare_get(&graph->rares, graph->nodes[i].rare, NODE_RARE_RELEASE, 0);
        int64_t length_ns;
        latest_ns = release_ns > latest_ns ? release_ns : latest_ns;
        if (graph_node_length_ns(graph, (weir_node){i}, &length_ns))
            is_fine = add(&sum_ns, length_ns);
    }
    for (uint32_t i = 0; graph->edges.lags_ns != NULL && i < graph->n_edges && is_fine; i++)
        is_fine = add(&sum_ns, graph->edges.lags_ns[i]);
    if (!is_fine || !add(&sum_ns, latest_ns))
        report_add(check->report, FINDING_OUT_OF_RANGE, (struct report_at){0},
                   "release times, lengths and lags add up to more than %" PRId64 " ns", INT64_MAX);
}

/* Facts. */

static struct key pair_of(const struct graph *graph, enum statement_kind kind, uint32_t row)
{
    struct key key = {{0}};

    if (kind == STATEMENT_KAPPA) {
        key.part[0] = graph->classes[graph->kappas[row].slowed.index].index;
        key.part[1] = graph->classes[graph->kappas[row].beside.index].index;
    } else {
        key.part[0] = graph->params[row].family.index;
        key.part[1] = graph->params[row].name.index;
    }
    return key;
}

static const char *shown_text(struct check *check, weir_text text, struct shown *shown)
{
    const char *bytes = graph_text(check->graph, text);

    return read_shown(shown, bytes, strlen(bytes));
}

/* Reports the rows whose pair an earlier row has. */
static void check_twice(struct check *check, enum statement_kind kind, uint32_t n_rows)
{
    struct keys *keys = keys_new();
    struct shown first, second;
    struct weir_error err;
    bool is_fine = keys != NULL;

    for (uint32_t i = 0; i < n_rows && is_fine; i++) {
        struct key key = pair_of(check->graph, kind, i);
        if (keys_find(keys, &key) != KEYS_NONE)
            report_add(check->report, FINDING_DUPLICATE_FACT, place_of(check, kind, i, ""),
                       "%s \"%s\" \"%s\" is given twice", statements[kind].word,
                       shown_text(check, (weir_text){key.part[0]}, &first),
                       shown_text(check, (weir_text){key.part[1]}, &second));
        else
            is_fine = keys_put(keys, &key, i, &err) == WEIR_OK;
    }
    keys_free(keys);
    if (!is_fine)
        report_fell_short(check->report);
}

static void check_overlap_names(struct check *check, uint32_t row, weir_text name)
{
    struct shown shown;

    if (weir_is(graph_find_node(check->graph, name)) ||
        weir_is(graph_find_class(check->graph, name)))
        return;
    report_add(check->report, FINDING_UNUSED_FACT, place_of(check, STATEMENT_OVERLAP, row, ""),
               "the overlap fact of \"%s\" is about no node and no class",
               shown_text(check, name, &shown));
    report_name(check->report, graph_text(check->graph, name));
}

static void check_overlap_window(struct check *check, uint32_t row)
{
    const struct graph_overlap *overlap = &check->graph->overlaps[row];

    if (overlap->latest_ns >= 0 && overlap->earliest_ns > overlap->latest_ns)
        report_add(check->report, FINDING_OUT_OF_RANGE,
                   place_of(check, STATEMENT_OVERLAP, row, "earliest"),
                   "an overlap starts at %" PRId64 " ns at the earliest and %" PRId64
                   " ns at the latest; expected earliest up to latest",
                   overlap->earliest_ns, overlap->latest_ns);
}

/* The machine. */

static void check_domain(struct check *check, uint32_t row)
{
    const struct graph_domain *domain = &check->graph->domains[row];
    struct shown name;

    if (domain->reserve_bytes <= domain->capacity_bytes)
        return;
    report_add(
        check->report, FINDING_OUT_OF_RANGE, place_of(check, STATEMENT_DOMAIN, row, "reserve"),
        "domain \"%s\" reserves %" PRId64 " of %" PRId64
        " bytes; expected a reserve of at most its capacity",
        shown_text(check, domain->name, &name), domain->reserve_bytes, domain->capacity_bytes);
    report_name(check->report, graph_text(check->graph, domain->name));
}

static bool has_charges(const struct graph *graph, uint32_t row)
{
    int64_t sum = 0;

    return !add_charges(graph, row, &sum) || sum > 0;
}

/* Without any domain, bytes have no place to be. */
static void check_has_domain(struct check *check)
{
    const struct graph *graph = check->graph;
    struct shown name;

    if (graph->n_domains > 0)
        return;
    if (graph->n_objects > 0) {
        report_add(check->report, FINDING_NO_DOMAIN, place_of(check, STATEMENT_OBJECT, 0, ""),
                   "object \"%s\" has no domain to be in", object_name(check, 0, &name));
        report_name(check->report, graph_object_name(graph, (weir_object){0}));
        return;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (!has_charges(graph, i))
            continue;
        report_add(
            check->report, FINDING_NO_DOMAIN, place_of(check, STATEMENT_NODE, i, "workspace"),
            "the workspace of node \"%s\" has no domain to be in", node_name(check, i, &name));
        report_name(check->report, graph_node_name(graph, (weir_node){i}));
        return;
    }
}

static void check_copy_node(struct check *check, uint32_t row)
{
    struct shown name;

    if (check->graph->nodes[row].object == WEIR_NONE ||
        weir_is(graph_node_to(check->graph, (weir_node){row})))
        return;
    report_add(check->report, FINDING_BAD_COPY_NODE, place_of(check, STATEMENT_NODE, row, "object"),
               "copy node \"%s\" has an object but no domain to copy it to",
               node_name(check, row, &name));
    report_name(check->report, graph_node_name(check->graph, (weir_node){row}));
}

/* The node that stands in for this one; WEIR_NONE. */
static uint32_t fallback_of(const struct graph *graph, uint32_t row)
{
    return (uint32_t)rare_get(&graph->rares, graph->nodes[row].rare, NODE_RARE_FALLBACK_NODE,
                              WEIR_NONE);
}

/* Nodes that stand in for each other in a circle would all wait for another to give way. Each walk
 * leaves its number on the nodes it passes: one that meets its own has come round. */
static void check_fallbacks(struct check *check)
{
    const struct graph *graph = check->graph;
    uint32_t *walk = calloc((size_t)graph->n_nodes + 1, sizeof *walk);

    if (walk == NULL) {
        report_fell_short(check->report);
        return;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t at = i;
        struct shown name;

        while (at != WEIR_NONE && walk[at] == 0) {
            walk[at] = i + 1;
            at = fallback_of(graph, at);
        }
        if (at == WEIR_NONE || walk[at] != i + 1)
            continue;
        report_add(check->report, FINDING_FALLBACK_CIRCLE,
                   place_of(check, STATEMENT_NODE, at, "fallback"),
                   "node \"%s\" falls back on itself, by way of others or at once",
                   node_name(check, at, &name));
        report_name(check->report, graph_node_name(graph, (weir_node){at}));
    }
    free(walk);
}

static void check_demands(struct check *check, uint32_t row)
{
    const struct graph *graph = check->graph;
    uint32_t n, at = (uint32_t)rare_get(&graph->rares, graph->nodes[row].rare, NODE_RARE_USES, 0);
    const struct graph_demand *uses = list_get(&graph->demands, at, &n);
    struct shown node, name;

    for (uint32_t i = 0; i < n; i++) {
        const struct graph_resource *resource = &graph->resources[uses[i].resource.index];
        if (uses[i].rate_per_s <= resource->capacity_per_s)
            continue;
        report_add(check->report, FINDING_OVER_RESOURCE,
                   place_of(check, STATEMENT_NODE, row, "uses"),
                   "node \"%s\" uses %" PRId64 " bytes/s of resource \"%s\", which has %" PRId64,
                   node_name(check, row, &node), uses[i].rate_per_s,
                   shown_text(check, resource->name, &name), resource->capacity_per_s);
        report_name(check->report, graph_node_name(graph, (weir_node){row}));
    }
}

static void check_nodes(struct check *check)
{
    for (uint32_t i = 0; i < check->graph->n_nodes; i++) {
        weir_node node = {i};
        if (!graph_node_is_on(check->graph, node))
            continue;
        if (graph_kind_is_copy(graph_node_kind(check->graph, node)))
            check_copy_node(check, i);
        check_demands(check, i);
    }
}

void statements_check(const struct graph *graph, struct report *report, enum check_part part,
                      const struct statement_places *places)
{
    struct check check = {graph, report, places, 1, places->text};

    for (uint32_t i = 0; i < graph->n_objects; i++)
        check_object(&check, i);
    for (uint32_t i = 0; i < graph->n_overlaps; i++)
        check_overlap_window(&check, i);
    check_twice(&check, STATEMENT_KAPPA, graph->n_kappas);
    check_twice(&check, STATEMENT_PARAM, graph->n_params);
    if (part == CHECK_GRAPH)
        return;
    check_has_domain(&check);
    for (uint32_t i = 0; i < graph->n_domains; i++)
        check_domain(&check, i);
    for (uint32_t i = 0; i < graph->n_overlaps; i++) {
        check_overlap_names(&check, i, graph->overlaps[i].a);
        check_overlap_names(&check, i, graph->overlaps[i].b);
    }
    check_nodes(&check);
    check_fallbacks(&check);
    check_sizes(&check);
    check_times(&check);
}

void graph_check_statements(const struct graph *graph, struct report *report)
{
    const struct statement_places unknown = {0};

    statements_check(graph, report, CHECK_ALL, &unknown);
}
