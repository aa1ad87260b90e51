/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from a graph, beside what each statement says: where things are, how long they take, whose
 * bytes come and go with which node, what has to be over before a copy can end. */
#include <stdlib.h>
#include <string.h>

#include "cmd/graph_json_internal.h"
#include "graph/evidence.h"

static const char *domain_name(const struct graph *graph, weir_domain domain)
{
    return graph_text(graph, graph_domain(graph, domain)->name);
}

/* --- in program order --- */

static void note_touch(struct derived *derived, uint32_t node, const struct bind_touch *touch)
{
    const struct bind_copy *copy = bind_copy(derived->binding, touch->copy);
    uint32_t *begins = &derived->begins[touch->copy.index];
    bool may_begin = !copy->is_initial && (touch->roles & (BIND_FILLS | BIND_ALLOCATES)) != 0 &&
                     (!weir_is(copy->allocation) || copy->allocation.index == node);

    if (may_begin && *begins == WEIR_NONE) {
        *begins = node;
    }
    if (!copy->stays && (!weir_is(copy->reclamation) || copy->reclamation.index == node)) {
        derived->ends[touch->copy.index] = node;
    }
}

static void note_nodes(struct derived *derived)
{
    for (uint32_t i = 0; i < graph_n_nodes(derived->graph); i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(derived->binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            note_touch(derived, i, &touches[j]);
        }
    }
}

static void sum_copies(struct derived *derived)
{
    for (uint32_t i = 0; i < bind_n_copies(derived->binding); i++) {
        const struct bind_copy *copy = bind_copy(derived->binding, (weir_copy){i});
        uint32_t domain = copy->domain.index;

        derived->initial[domain] += copy->is_initial ? copy->bytes : 0;
        derived->stays[domain] += derived->ends[i] == WEIR_NONE ? copy->bytes : 0;
    }
}

/* Copies by their object. */
static void sort_copies(struct derived *derived)
{
    uint32_t n_objects = graph_n_objects(derived->graph), n = bind_n_copies(derived->binding);
    uint32_t sum = 0;

    memset(derived->first_copy, 0, ((size_t)n_objects + 1) * sizeof *derived->first_copy);
    for (uint32_t i = 0; i < n; i++) {
        derived->first_copy[bind_copy(derived->binding, (weir_copy){i})->object.index]++;
    }
    for (uint32_t i = 0; i <= n_objects; i++) {
        sum += derived->first_copy[i];
        derived->first_copy[i] = sum;
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t object = bind_copy(derived->binding, (weir_copy){i})->object.index;

        derived->copies[--derived->first_copy[object]] = i;
    }
}

static bool has_staging(const struct graph *graph, uint32_t node)
{
    struct graph_node value;

    graph_node(graph, (weir_node){node}, &value);
    return value.staging.bytes > 0 && graph_node_is_on(graph, (weir_node){node});
}

/* The last, in program order, that uses what the node fills; the node itself when it fills nothing. */
static uint32_t last_to_use(const struct derived *derived, const uint32_t *last_use, uint32_t node)
{
    uint32_t n, last = node;
    const struct bind_touch *touches = bind_touches(derived->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t use = last_use[touches[i].copy.index];

        if ((touches[i].roles & BIND_FILLS) != 0 && use > last) {
            last = use;
        }
    }
    return last;
}

static enum weir_status find_stagings(struct derived *derived, struct weir_error *err)
{
    uint32_t n_nodes = graph_n_nodes(derived->graph);
    size_t n = (size_t)n_nodes + 1;
    uint32_t *last_use = calloc((size_t)bind_n_copies(derived->binding) + 1, sizeof *last_use);

    derived->first_staged = malloc(n * sizeof *derived->first_staged);
    derived->next_staged = malloc(n * sizeof *derived->next_staged);
    derived->staging_ends = malloc(n * sizeof *derived->staging_ends);
    if (last_use == NULL || derived->first_staged == NULL || derived->next_staged == NULL ||
        derived->staging_ends == NULL) {
        free(last_use);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(derived->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            if ((touches[j].roles & (BIND_READS | BIND_FILLS)) != 0) {
                last_use[touches[j].copy.index] = i;
            }
        }
        derived->first_staged[i] = WEIR_NONE;
    }
    for (uint32_t i = n_nodes; i-- > 0;) {
        uint32_t last =
            has_staging(derived->graph, i) ? last_to_use(derived, last_use, i) : WEIR_NONE;

        derived->staging_ends[i] = last;
        if (last != WEIR_NONE) {
            derived->next_staged[i] = derived->first_staged[last];
            derived->first_staged[last] = i;
        }
    }
    free(last_use);
    return WEIR_OK;
}

enum weir_status derived_make(const struct binding *binding, struct derived *out,
                              struct weir_error *err)
{
    const struct graph *graph = bind_of(binding);
    size_t n_copies = (size_t)bind_n_copies(binding) + 1, n_domains = graph_n_domains(graph) + 1u;

    *out = (struct derived){
        .binding = binding,
        .graph = graph,
        .begins = malloc(n_copies * sizeof *out->begins),
        .ends = malloc(n_copies * sizeof *out->ends),
        .first_copy = malloc(((size_t)graph_n_objects(graph) + 1) * sizeof *out->first_copy),
        .copies = malloc(n_copies * sizeof *out->copies),
        .initial = calloc(n_domains, sizeof *out->initial),
        .stays = calloc(n_domains, sizeof *out->stays),
        .changed = calloc(n_domains, sizeof *out->changed),
        .named = calloc((size_t)graph_n_nodes(graph) + 1, sizeof *out->named),
        .taken = calloc(n_domains, sizeof *out->taken),
        .given = calloc(n_domains, sizeof *out->given),
    };
    if (out->begins == NULL || out->ends == NULL || out->first_copy == NULL ||
        out->copies == NULL || out->initial == NULL || out->stays == NULL || out->changed == NULL ||
        out->named == NULL || out->taken == NULL || out->given == NULL) {
        return weir_error_memory(err);
    }
    memset(out->begins, 0xff, n_copies * sizeof *out->begins);
    memset(out->ends, 0xff, n_copies * sizeof *out->ends);
    note_nodes(out);
    sum_copies(out);
    sort_copies(out);
    return find_stagings(out, err);
}

void derived_free(struct derived *derived)
{
    free(derived->begins);
    free(derived->ends);
    free(derived->first_copy);
    free(derived->copies);
    free(derived->staging_ends);
    free(derived->first_staged);
    free(derived->next_staged);
    free(derived->initial);
    free(derived->stays);
    free(derived->changed);
    free(derived->named);
    free(derived->taken);
    free(derived->given);
}

/* --- nodes --- */

/* Who has to finish before nobody uses the copy; each once in a list. */
static void put_last_uses(struct json *json, const struct derived *derived, weir_copy copy)
{
    uint32_t cursor = 0;
    weir_node last;

    while (bind_last_use(derived->binding, copy, &cursor, &last)) {
        if (derived->named[last.index] != derived->n_lists) {
            json_text(json, NULL, graph_node_name(derived->graph, last));
        }
        derived->named[last.index] = derived->n_lists;
    }
}

static void put_touches(struct json *json, const struct derived *derived, weir_node node)
{
    static const char *const names[] = {"reads", "fills", "allocates", "reclaims", "holds"};
    uint32_t n;
    const struct bind_touch *touches = bind_touches(derived->binding, node, &n);

    if (n == 0) {
        return;
    }
    json_open_array(json, "copies");
    for (uint32_t i = 0; i < n; i++) {
        const struct bind_copy *copy = bind_copy(derived->binding, touches[i].copy);

        json_open_object(json, NULL);
        json_text(json, "object", graph_object_name(derived->graph, copy->object));
        json_text(json, "domain", domain_name(derived->graph, copy->domain));
        json_open_array(json, "roles");
        for (int j = 0; j < 5; j++) {
            if ((touches[i].roles >> j & 1u) != 0) {
                json_text(json, NULL, names[j]);
            }
        }
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}

/* Adds bytes that come and go with the node at hand. @return how many domains there are by now */
static uint32_t change(const struct derived *derived, uint32_t n, weir_domain domain, int64_t taken,
                       int64_t given)
{
    if (taken == 0 && given == 0) {
        return n;
    }
    if (derived->taken[domain.index] == 0 && derived->given[domain.index] == 0) {
        derived->changed[n++] = domain.index;
    }
    derived->taken[domain.index] += taken;
    derived->given[domain.index] += given;
    return n;
}

static uint32_t change_charges(const struct derived *derived, uint32_t n, weir_node node)
{
    const struct graph *graph = derived->graph;
    struct graph_node value;

    graph_node(graph, node, &value);
    for (uint32_t i = 0; i < value.n_workspace && graph_node_is_on(graph, node); i++) {
        n = change(derived, n, graph_charge_domain(graph, node, &value.workspace[i]),
                   value.workspace[i].bytes, value.workspace[i].bytes);
    }
    if (derived->staging_ends[node.index] != WEIR_NONE) {
        n = change(derived, n, graph_charge_domain(graph, node, &value.staging),
                   value.staging.bytes, 0);
    }
    for (uint32_t at = derived->first_staged[node.index]; at != WEIR_NONE;
         at = derived->next_staged[at]) {
        graph_node(graph, (weir_node){at}, &value);
        n = change(derived, n, graph_charge_domain(graph, (weir_node){at}, &value.staging), 0,
                   value.staging.bytes);
    }
    return n;
}

static void put_changes(struct json *json, const struct derived *derived, weir_node node)
{
    uint32_t n_touches, n = change_charges(derived, 0, node);
    const struct bind_touch *touches = bind_touches(derived->binding, node, &n_touches);

    for (uint32_t i = 0; i < n_touches; i++) {
        uint32_t id = touches[i].copy.index;
        const struct bind_copy *copy = bind_copy(derived->binding, touches[i].copy);

        n = change(derived, n, copy->domain, derived->begins[id] == node.index ? copy->bytes : 0,
                   derived->ends[id] == node.index ? copy->bytes : 0);
    }
    if (n == 0) {
        return;
    }
    json_open_array(json, "capacity_change");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t domain = derived->changed[i];

        json_open_object(json, NULL);
        json_text(json, "domain", domain_name(derived->graph, (weir_domain){domain}));
        json_integer(json, "taken_bytes", derived->taken[domain]);
        json_integer(json, "given_back_bytes", derived->given[domain]);
        json_close_object(json);
        derived->taken[domain] = derived->given[domain] = 0;
    }
    json_close_array(json);
}

/* From its start until all have finished that use what it fills; else to its own finish. */
static void put_staging(struct json *json, struct derived *derived, weir_node node)
{
    struct graph_node value;
    uint32_t n, n_filled = 0;
    const struct bind_touch *touches = bind_touches(derived->binding, node, &n);

    if (derived->staging_ends[node.index] == WEIR_NONE) {
        return;
    }
    graph_node(derived->graph, node, &value);
    json_open_object(json, "staging");
    json_integer(json, "bytes", value.staging.bytes);
    json_text(
        json, "domain",
        domain_name(derived->graph, graph_charge_domain(derived->graph, node, &value.staging)));
    json_open_array(json, "until_finish_of");
    derived->n_lists++;
    for (uint32_t i = 0; i < n; i++) {
        if ((touches[i].roles & BIND_FILLS) != 0) {
            put_last_uses(json, derived, touches[i].copy);
            n_filled++;
        }
    }
    if (n_filled == 0) {
        json_text(json, NULL, graph_node_name(derived->graph, node));
    }
    json_close_array(json);
    json_close_object(json);
}

void derived_node(struct json *json, struct derived *derived, weir_node node)
{
    const struct graph *graph = derived->graph;
    weir_class of = graph_node_class(graph, node);
    weir_domain domain = graph_node_domain(graph, node);
    int64_t length_ns;

    json_open_object(json, "derived");
    json_boolean(json, "is_on", graph_node_is_on(graph, node));
    if (graph_node_length_ns(graph, node, &length_ns)) {
        json_integer(json, "length_ns", length_ns);
    }
    if (weir_is(of)) {
        json_text(json, "class", graph_text(graph, graph_class_name(graph, of)));
    }
    graph_json_domain(json, "domain", graph, domain);
    if (graph_kind_is_copy(graph_node_kind(graph, node))) {
        graph_json_domain(json, "from", graph, graph_node_from(graph, node));
        graph_json_domain(json, "to", graph, graph_node_to(graph, node));
    }
    put_touches(json, derived, node);
    put_staging(json, derived, node);
    put_changes(json, derived, node);
    json_close_object(json);
}

/* --- objects --- */

static void put_copy(struct json *json, struct derived *derived, weir_copy id)
{
    const struct bind_copy *copy = bind_copy(derived->binding, id);
    uint32_t begins = derived->begins[id.index];

    json_open_object(json, NULL);
    json_text(json, "domain", domain_name(derived->graph, copy->domain));
    json_integer(json, "bytes", copy->bytes);
    json_boolean(json, "is_initial", copy->is_initial);
    if (begins != WEIR_NONE) {
        json_text(json, "begins_with", graph_node_name(derived->graph, (weir_node){begins}));
    }
    json_integer(json, "uses", copy->n_uses);
    if (weir_is(copy->reclamation)) {
        json_text(json, "reclamation", graph_node_name(derived->graph, copy->reclamation));
    }
    json_open_array(json, "reclaim_after");
    derived->n_lists++;
    put_last_uses(json, derived, id);
    json_close_array(json);
    json_boolean(json, "stays", copy->stays);
    json_close_object(json);
}

void derived_object(struct json *json, struct derived *derived, weir_object object)
{
    const struct graph *graph = derived->graph;
    struct graph_object value;
    struct graph_node maker;
    int64_t offset_bytes;
    weir_object root = graph_object_root(graph, object, &offset_bytes);

    graph_object(graph, object, &value);
    json_open_object(json, "derived");
    graph_json_domain(json, "home", graph, graph_object_home(graph, root));
    if (weir_is(value.alias_of)) {
        json_text(json, "owner", graph_object_name(graph, root));
        json_integer(json, "owner_offset_bytes", offset_bytes);
    }
    if (weir_is(value.recompute)) {
        static const char *const purities[] = {"unknown", "pure", "impure"};

        graph_node(graph, value.recompute, &maker);
        json_text(json, "recompute_purity", purities[maker.purity]);
    }
    json_open_array(json, "copies");
    for (uint32_t i = derived->first_copy[object.index]; i < derived->first_copy[object.index + 1];
         i++) {
        put_copy(json, derived, (weir_copy){derived->copies[i]});
    }
    json_close_array(json);
    json_close_object(json);
}

/* --- the rest --- */

void derived_edge(struct json *json, const struct graph *graph,
                  const struct graph_evidence *evidence)
{
    const struct evidence_words words = evidence_words_of(graph_text(graph, evidence->detail));
    enum graph_scope scope = graph_scope(graph);

    if (words.says_cold != words.says_warm) {
        scope = words.says_cold ? SCOPE_COLD : SCOPE_WARM;
    }
    json_open_object(json, "derived");
    json_text(json, "scope", graph_scope_name(scope));
    json_close_object(json);
}

/* A name of an overlap fact: a class, or the class of a node. */
static weir_class class_named(const struct graph *graph, weir_text name)
{
    weir_class class_ = graph_find_class(graph, name);
    weir_node node = graph_find_node(graph, name);

    return weir_is(class_) || !weir_is(node) ? class_ : graph_node_class(graph, node);
}

static void put_factor(struct json *json, const struct graph *graph, weir_class slowed,
                       weir_class beside)
{
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        if (!weir_same(kappa->slowed, slowed) || !weir_same(kappa->beside, beside)) {
            continue;
        }
        json_open_object(json, NULL);
        json_text(json, "slowed", graph_text(graph, graph_class_name(graph, slowed)));
        json_text(json, "beside", graph_text(graph, graph_class_name(graph, beside)));
        json_ratio(json, "factor", kappa->factor);
        graph_json_evidence(json, graph, &kappa->evidence);
        json_close_object(json);
    }
}

void derived_overlap(struct json *json, const struct graph *graph,
                     const struct graph_overlap *overlap)
{
    weir_class a = class_named(graph, overlap->a), b = class_named(graph, overlap->b);

    json_open_object(json, "derived");
    json_open_array(json, "contention");
    if (weir_is(a) && weir_is(b)) {
        put_factor(json, graph, a, b);
        if (!weir_same(a, b)) {
            put_factor(json, graph, b, a);
        }
    }
    json_close_array(json);
    json_close_object(json);
}

void derived_domain(struct json *json, const struct derived *derived, weir_domain domain)
{
    json_open_object(json, "derived");
    json_integer(json, "initial_bytes", derived->initial[domain.index]);
    json_integer(json, "staying_bytes", derived->stays[domain.index]);
    json_close_object(json);
}
