/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the `param` lines of fitted contention. What no line says is 1 (eta) or nothing (a demand). */
#include "graph/measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"", "pairwise", "share", "roofline"};

const char *measured_family_name(enum measured_family family)
{
    return names[family];
}

static const char *family_of(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_param(graph, index)->family);
}

static const char *name_of(const struct graph *graph, uint32_t index)
{
    return graph_text(graph, graph_param(graph, index)->name);
}

static enum measured_family family_named(const char *name)
{
    for (int i = MEASURED_PAIRWISE; i <= MEASURED_ROOFLINE; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum measured_family)i;
        }
    }
    return MEASURED_NONE;
}

/* The family that a `param measured` line names; MEASURED_NONE when it is no such line. */
static enum measured_family family_said(const struct graph *graph, uint32_t index)
{
    return strcmp(family_of(graph, index), "measured") == 0 ? family_named(name_of(graph, index))
                                                            : MEASURED_NONE;
}

/* One that was fitted, as far as it is known which. */
struct candidate {
    enum measured_family family;
    double rank, error;
};

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->rank < b->rank || b->rank < a->rank) {
        return a->rank < b->rank;
    }
    if (a->error < b->error || b->error < a->error) {
        return a->error < b->error;
    }
    return a->family < b->family;
}

enum measured_family measured_family(const struct graph *graph)
{
    struct candidate best = {.family = MEASURED_NONE, .rank = INFINITY, .error = INFINITY};
    double ranks[MEASURED_ROOFLINE + 1] = {INFINITY, INFINITY, INFINITY, INFINITY};

    for (uint32_t i = 0; i < graph_n_params(graph); i++) {
        if (strcmp(family_of(graph, i), "measured.rank") == 0) {
            ranks[family_named(name_of(graph, i))] = graph_param(graph, i)->value;
        }
    }
    for (uint32_t i = 0; i < graph_n_params(graph); i++) {
        struct candidate candidate = {.family = family_said(graph, i),
                                      .error = graph_param(graph, i)->value};

        candidate.rank = ranks[candidate.family];
        if (candidate.family != MEASURED_NONE &&
            (best.family == MEASURED_NONE || is_before(&candidate, &best))) {
            best = candidate;
        }
    }
    return best.family;
}

/* The resource that a demand of the family is of; NULL: it is no such line. */
static const char *demanded(const struct graph *graph, uint32_t index, enum measured_family family)
{
    static const char *const begin[] = {"", "", "share.demand.", "roofline.demand."};
    size_t length = strlen(begin[family]);

    return length > 0 && strncmp(family_of(graph, index), begin[family], length) == 0
               ? family_of(graph, index) + length
               : NULL;
}

/* --- single lines ---------------------------------------------------------------------------- */

static enum weir_status find_resource(const struct graph *graph, uint32_t index, const char *name,
                                      weir_resource *out, struct weir_error *err)
{
    *out = graph_find_resource(graph, graph_find_text(graph, name));
    if (weir_is(*out)) {
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_INPUT,
                          "param %s %s: there is no resource %s; declare it with `resource %s "
                          "capacity=RATE`, or take the line out",
                          family_of(graph, index), name_of(graph, index), name, name);
}

static enum weir_status read_eta(const struct graph *graph, uint32_t index, struct measured *out,
                                 struct weir_error *err)
{
    double value = graph_param(graph, index)->value;
    weir_resource resource;
    enum weir_status status = find_resource(graph, index, name_of(graph, index), &resource, err);

    if (status != WEIR_OK) {
        return status;
    }
    if (!(value >= MEASURED_LEAST_ETA && value <= MEASURED_MOST_ETA)) {
        return weir_error_set(err, WEIR_INPUT,
                              "param %s %s %g: expected the part of its capacity that the resource "
                              "gives to several, from %g to %d; calibrate again",
                              family_of(graph, index), name_of(graph, index), value,
                              MEASURED_LEAST_ETA, MEASURED_MOST_ETA);
    }
    out->eta[resource.index] = value;
    return WEIR_OK;
}

static enum weir_status read_power(const struct graph *graph, uint32_t index, struct measured *out,
                                   struct weir_error *err)
{
    double value = graph_param(graph, index)->value;
    double quarters = value * MEASURED_QUARTERS;

    if (!(value >= MEASURED_LEAST_POWER && value <= MEASURED_MOST_POWER) ||
        quarters > (double)(int64_t)quarters) {
        return weir_error_set(err, WEIR_INPUT,
                              "param roofline p %g: expected a power from %d to %d in quarters, "
                              "such as 2.75",
                              value, MEASURED_LEAST_POWER, MEASURED_MOST_POWER);
    }
    out->power_quarters = (uint32_t)quarters;
    return WEIR_OK;
}

static enum weir_status read_demand(const struct graph *graph, uint32_t index, struct measured *out,
                                    struct weir_error *err)
{
    double value = graph_param(graph, index)->value;
    weir_class class_ = graph_find_class(graph, graph_param(graph, index)->name);
    weir_resource resource;
    enum weir_status status =
        find_resource(graph, index, demanded(graph, index, out->family), &resource, err);
    int64_t capacity;

    if (status != WEIR_OK) {
        return status;
    }
    capacity = graph_resource(graph, resource)->capacity_per_s;
    if (!(value >= 0 && value < 9.0e18) || value > (double)(int64_t)value ||
        (int64_t)value > capacity) {
        return weir_error_set(err, WEIR_INPUT,
                              "param %s %s %g: expected what a node of the class asks of the "
                              "resource a second, a whole number up to its capacity of %" PRId64,
                              family_of(graph, index), name_of(graph, index), value, capacity);
    }
    if (weir_is(class_)) {
        out->rates_per_s[(size_t)class_.index * out->n_resources + resource.index] = (int64_t)value;
    }
    return WEIR_OK;
}

static enum weir_status check_family(const struct graph *graph, uint32_t index,
                                     struct weir_error *err)
{
    double value = graph_param(graph, index)->value;
    bool is_rank = strcmp(family_of(graph, index), "measured") != 0;

    if (family_named(name_of(graph, index)) == MEASURED_NONE) {
        return weir_error_set(err, WEIR_INPUT, "param %s %s: expected pairwise, share or roofline",
                              family_of(graph, index), name_of(graph, index));
    }
    if (!(value >= 0) && is_rank) {
        return weir_error_set(err, WEIR_INPUT,
                              "param measured.rank %s %g: expected its place among those that were "
                              "fitted, of which the least is used, 0 or more",
                              name_of(graph, index), value);
    }
    if (!(value >= 0)) {
        return weir_error_set(err, WEIR_INPUT,
                              "param measured %s %g: expected its error on sets of nodes that it "
                              "was not fitted to, 0 or more",
                              name_of(graph, index), value);
    }
    return WEIR_OK;
}

static enum weir_status read_line(const struct graph *graph, uint32_t index, struct measured *out,
                                  struct weir_error *err)
{
    const char *family = family_of(graph, index);
    const char *name = name_of(graph, index);

    if (strcmp(family, "measured") == 0 || strcmp(family, "measured.rank") == 0) {
        return check_family(graph, index, err);
    }
    if (out->family == MEASURED_PAIRWISE) {
        return WEIR_OK;
    }
    if (demanded(graph, index, out->family) != NULL) {
        return read_demand(graph, index, out, err);
    }
    if (strcmp(family, out->family == MEASURED_SHARE ? "share.eta" : "roofline.eta") == 0) {
        return read_eta(graph, index, out, err);
    }
    if (out->family == MEASURED_ROOFLINE && strcmp(family, "roofline") == 0 &&
        strcmp(name, "p") == 0) {
        return read_power(graph, index, out, err);
    }
    return WEIR_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

static enum weir_status refuse(struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "the machine does not say what contention was measured on it; calibrate "
                          "it with `weir calibrate -o MACHINE`, then give --machine MACHINE");
}

enum weir_status measured_read(const struct graph *graph, struct measured *out,
                               struct weir_error *err)
{
    uint32_t n = graph_n_resources(graph), n_classes = graph_n_classes(graph);
    struct measured measured = {.family = measured_family(graph), .n_resources = n};
    enum weir_status status = WEIR_OK;

    measured.eta = malloc(((size_t)n + 1) * sizeof *measured.eta);
    measured.rates_per_s = calloc((size_t)n_classes * n + 1, sizeof *measured.rates_per_s);
    if (measured.eta == NULL || measured.rates_per_s == NULL) {
        measured_free(&measured);
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        measured.eta[i] = 1;
    }
    for (uint32_t i = 0; i < graph_n_params(graph) && status == WEIR_OK; i++) {
        status = read_line(graph, i, &measured, err);
    }
    if (status == WEIR_OK && measured.family == MEASURED_NONE) {
        status = refuse(err);
    }
    if (status == WEIR_OK && measured.family == MEASURED_ROOFLINE && measured.power_quarters == 0) {
        status = weir_error_set(err, WEIR_INPUT,
                                "the machine says `param measured roofline` but no power; add "
                                "`param roofline p P`, or calibrate it again");
    }
    if (status != WEIR_OK) {
        measured_free(&measured);
        return status;
    }
    *out = measured;
    return WEIR_OK;
}

void measured_free(struct measured *measured)
{
    free(measured->eta);
    free(measured->rates_per_s);
}

void measured_rates(const struct measured *measured, const struct graph *graph, weir_node node,
                    int64_t *rates_per_s)
{
    weir_class class_ = graph_node_class(graph, node);
    struct graph_node value;

    graph_node(graph, node, &value);
    for (uint32_t i = 0; i < measured->n_resources; i++) {
        rates_per_s[i] =
            value.n_uses == 0 && weir_is(class_)
                ? measured->rates_per_s[(size_t)class_.index * measured->n_resources + i]
                : 0;
    }
    for (uint32_t i = 0; i < value.n_uses; i++) {
        int64_t *rate_per_s = &rates_per_s[value.uses[i].resource.index];

        if (__builtin_add_overflow(*rate_per_s, value.uses[i].rate_per_s, rate_per_s)) {
            *rate_per_s = INT64_MAX;
        }
    }
}

static bool asks(const struct graph *graph, enum measured_family family, weir_node node,
                 weir_resource resource)
{
    const char *name = graph_text(graph, graph_resource(graph, resource)->name);
    weir_class class_ = graph_node_class(graph, node);
    struct graph_node value;

    graph_node(graph, node, &value);
    for (uint32_t i = 0; i < value.n_uses; i++) {
        if (weir_same(value.uses[i].resource, resource)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < graph_n_params(graph) && value.n_uses == 0 && weir_is(class_); i++) {
        const char *of = demanded(graph, i, family);

        if (of != NULL && strcmp(of, name) == 0 && graph_param(graph, i)->value > 0 &&
            weir_same(graph_find_class(graph, graph_param(graph, i)->name), class_)) {
            return true;
        }
    }
    return false;
}

bool measured_meet(const struct graph *graph, weir_node a, weir_node b)
{
    enum measured_family family = measured_family(graph);

    for (uint32_t i = 0; i < graph_n_resources(graph); i++) {
        if (asks(graph, family, a, (weir_resource){i}) &&
            asks(graph, family, b, (weir_resource){i})) {
            return true;
        }
    }
    return false;
}

int64_t measured_limit(const struct measured *measured, const struct graph *graph,
                       weir_resource resource)
{
    double limit =
        measured->eta[resource.index] * (double)graph_resource(graph, resource)->capacity_per_s;

    return limit < 1 ? 1 : limit < 9.0e18 ? (int64_t)limit : INT64_MAX;
}
