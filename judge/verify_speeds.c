/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speeds from their definitions: a product of factors, a level that rises until a resource is full, or
 * a norm over how far each resource is overcommitted. */
#include "judge/verify_speeds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* --- pairwise -------------------------------------------------------------------------------- */

/* A slowing and when the class of the other was mentioned first. */
struct ranked {
    struct slowing slowing;
    uint32_t rank;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->slowing.slowed != b->slowing.slowed) {
        return a->slowing.slowed < b->slowing.slowed ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void rank_all(const struct graph *graph, uint32_t *rank, struct ranked *list)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < graph_n_classes(graph); i++) {
        rank[i] = NONE;
    }
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        rank[kappa->slowed.index] =
            rank[kappa->slowed.index] == NONE ? next++ : rank[kappa->slowed.index];
        rank[kappa->beside.index] =
            rank[kappa->beside.index] == NONE ? next++ : rank[kappa->beside.index];
    }
    for (uint32_t i = 0; i < graph_n_kappas(graph); i++) {
        const struct graph_kappa *kappa = graph_kappa(graph, i);

        list[i] = (struct ranked){{kappa->slowed.index, kappa->beside.index, kappa->factor},
                                  rank[kappa->beside.index]};
    }
}

static enum weir_status make_pairwise(struct speeds *speeds)
{
    const struct verify *verify = speeds->verify;
    uint32_t n_kappas = graph_n_kappas(verify->graph), n_classes = graph_n_classes(verify->graph);
    uint32_t *rank = malloc(((size_t)n_classes + 1) * sizeof *rank);
    struct ranked *list = malloc(((size_t)n_kappas + 1) * sizeof *list);

    speeds->n_groups = n_classes + 1; /* the last: nodes without a class */
    speeds->slowings = malloc(((size_t)n_kappas + 1) * sizeof *speeds->slowings);
    speeds->slowing_first = calloc((size_t)n_classes + 2, sizeof *speeds->slowing_first);
    if (rank == NULL || list == NULL || speeds->slowings == NULL || speeds->slowing_first == NULL) {
        free(rank);
        free(list);
        return weir_error_memory(verify->err);
    }
    rank_all(verify->graph, rank, list);
    qsort(list, n_kappas, sizeof *list, by_rank);
    for (uint32_t i = 0; i < n_kappas; i++) {
        speeds->slowings[i] = list[i].slowing;
        speeds->slowing_first[list[i].slowing.slowed + 1]++;
    }
    for (uint32_t i = 0; i <= n_classes; i++) {
        speeds->slowing_first[i + 1] += speeds->slowing_first[i];
    }
    free(rank);
    free(list);
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        weir_class class_ = graph_node_class(verify->graph, (weir_node){i});

        speeds->group_of[i] = weir_is(class_) ? class_.index : n_classes;
    }
    return WEIR_OK;
}

/* 1 multiplied n times by the factor, but for what that rounds. */
static double power(double factor, uint32_t n)
{
    double product = 1;

    for (; n > 0; n /= 2) {
        product *= n % 2 == 1 ? factor : 1;
        factor *= factor;
    }
    return product;
}

static double pairwise_speed(const struct speeds *speeds, uint32_t group)
{
    double kappa = 1;

    for (uint32_t i = speeds->slowing_first[group]; i < speeds->slowing_first[group + 1]; i++) {
        const struct slowing *slowing = &speeds->slowings[i];
        uint32_t n = speeds->running[slowing->beside];

        kappa *= power(slowing->factor, slowing->beside == group && n > 0 ? n - 1 : n);
    }
    return 1 / kappa;
}

static double roofline_speed(const struct speeds *speeds, uint32_t group, const uint32_t *running);

double speeds_most(const struct speeds *speeds, uint32_t group, const uint32_t *least,
                   const uint32_t *most)
{
    double kappa = 1;

    if (speeds->parts != NULL) {
        return roofline_speed(speeds, group, least);
    }
    if (speeds->slowing_first == NULL) {
        return 1;
    }
    for (uint32_t i = speeds->slowing_first[group]; i < speeds->slowing_first[group + 1]; i++) {
        const struct slowing *slowing = &speeds->slowings[i];
        uint32_t n = slowing->factor < 1 ? most[slowing->beside] : least[slowing->beside];

        kappa *= power(slowing->factor, slowing->beside == group && n > 0 ? n - 1 : n);
    }
    return 1 / kappa;
}

/* --- share ----------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* What a node asks of resources: its own, or as the machine says of its class. Valid until asked again. */
static const struct graph_demand *uses_of(const struct speeds *speeds, uint32_t node, uint32_t *n)
{
    const struct graph *graph = speeds->verify->graph;
    struct graph_node value;

    if (!speeds->verify->is_measured) {
        graph_node(graph, (weir_node){node}, &value);
        *n = value.n_uses;
        return value.uses;
    }
    *n = 0;
    measured_rates(&speeds->measured, graph, (weir_node){node}, speeds->rates_per_s);
    for (uint32_t r = 0; r < speeds->n_resources; r++) {
        int64_t limit = measured_limit(&speeds->measured, graph, (weir_resource){r});
        int64_t rate = speeds->rates_per_s[r];

        if (rate > 0) {
            speeds->uses[(*n)++] = (struct graph_demand){{r}, rate < limit ? rate : limit};
        }
    }
    return speeds->uses;
}

/* The set of resources as a text of their numbers. */
static size_t set_text(const struct graph_demand *uses, uint32_t n_uses, uint32_t *numbers,
                       char *text)
{
    size_t length = 0;

    for (uint32_t i = 0; i < n_uses; i++) {
        numbers[i] = uses[i].resource.index;
    }
    qsort(numbers, n_uses, sizeof *numbers, by_number);
    for (uint32_t i = 0; i < n_uses; i++) {
        if (i == 0 || numbers[i] != numbers[i - 1]) {
            length += (size_t)sprintf(text + length, "%" PRIu32 ",", numbers[i]);
        }
    }
    return length;
}

#define NUMBER_ROOM 12 /* of a number and a comma */

static uint32_t most_uses(const struct speeds *speeds)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < speeds->verify->n_nodes; i++) {
        uint32_t n;

        (void)uses_of(speeds, i, &n);
        most = n > most ? n : most;
    }
    return most;
}

/* Fills group_of, and notes the first node of each group. */
static enum weir_status find_sets(struct speeds *speeds, struct names *sets, uint32_t *first_node)
{
    const struct verify *verify = speeds->verify;
    size_t most = most_uses(speeds);
    uint32_t *numbers = malloc((most + 1) * sizeof *numbers);
    char *text = malloc((most + 1) * NUMBER_ROOM);
    enum weir_status status =
        numbers == NULL || text == NULL ? weir_error_memory(verify->err) : WEIR_OK;

    for (uint32_t i = 0; i < verify->n_nodes && status == WEIR_OK; i++) {
        uint32_t n;
        const struct graph_demand *uses = uses_of(speeds, i, &n);

        status = names_intern(sets, text, set_text(uses, n, numbers, text), &speeds->group_of[i],
                              verify->err);
        if (status == WEIR_OK && speeds->group_of[i] == speeds->n_groups) {
            first_node[speeds->n_groups++] = i;
        }
    }
    free(numbers);
    free(text);
    return status;
}

static enum weir_status list_sets(struct speeds *speeds, const uint32_t *first_node)
{
    size_t n = 0;

    speeds->set_first = calloc((size_t)speeds->n_groups + 2, sizeof *speeds->set_first);
    for (uint32_t pass = 0; pass < 2 && speeds->set_first != NULL; pass++) {
        n = 0;
        for (uint32_t g = 0; g < speeds->n_groups; g++) {
            uint32_t n_uses;
            const struct graph_demand *uses = uses_of(speeds, first_node[g], &n_uses);

            speeds->set_first[g] = (uint32_t)n;
            for (uint32_t i = 0; pass == 1 && i < n_uses; i++) {
                speeds->sets[n + i] = uses[i].resource.index;
            }
            n += n_uses;
        }
        speeds->set_first[speeds->n_groups] = (uint32_t)n;
        if (pass == 0) {
            speeds->sets = malloc((n + 1) * sizeof *speeds->sets);
            if (speeds->sets == NULL) {
                break;
            }
        }
    }
    return speeds->set_first == NULL || speeds->sets == NULL
               ? weir_error_memory(speeds->verify->err)
               : WEIR_OK;
}

static enum weir_status make_share(struct speeds *speeds)
{
    const struct verify *verify = speeds->verify;
    struct names *sets = names_new();
    uint32_t *first_node = malloc(((size_t)verify->n_nodes + 1) * sizeof *first_node);
    enum weir_status status =
        sets == NULL || first_node == NULL ? weir_error_memory(verify->err) : WEIR_OK;

    if (status == WEIR_OK) {
        status = find_sets(speeds, sets, first_node);
    }
    if (status == WEIR_OK) {
        status = list_sets(speeds, first_node);
    }
    names_free(sets);
    free(first_node);
    if (status != WEIR_OK) {
        return status;
    }
    speeds->wanted_per_s =
        calloc((size_t)speeds->set_first[speeds->n_groups] + 1, sizeof *speeds->wanted_per_s);
    speeds->is_frozen = calloc((size_t)speeds->n_groups + 1, sizeof *speeds->is_frozen);
    speeds->frozen_per_s = calloc((size_t)speeds->n_resources + 1, sizeof *speeds->frozen_per_s);
    speeds->open_per_s = calloc((size_t)speeds->n_resources + 1, sizeof *speeds->open_per_s);
    return speeds->wanted_per_s == NULL || speeds->is_frozen == NULL ||
                   speeds->frozen_per_s == NULL || speeds->open_per_s == NULL
               ? weir_error_memory(verify->err)
               : WEIR_OK;
}

/* What the nodes of the group want of each of its resources changes by those of one node. */
static void want(struct speeds *speeds, uint32_t node, int64_t sign)
{
    uint32_t group = speeds->group_of[node], n;
    const struct graph_demand *uses = uses_of(speeds, node, &n);

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = speeds->set_first[group]; j < speeds->set_first[group + 1]; j++) {
            if (speeds->sets[j] == uses[i].resource.index) {
                speeds->wanted_per_s[j] += sign * uses[i].rate_per_s;
                break;
            }
        }
    }
}

static void sum_demands(struct speeds *speeds)
{
    for (uint32_t r = 0; r < speeds->n_resources; r++) {
        speeds->frozen_per_s[r] = speeds->open_per_s[r] = 0;
    }
    for (uint32_t i = 0; i < speeds->n_active; i++) {
        uint32_t g = speeds->active[i];

        for (uint32_t j = speeds->set_first[g]; j < speeds->set_first[g + 1]; j++) {
            if (speeds->is_frozen[g]) {
                speeds->frozen_per_s[speeds->sets[j]] +=
                    (double)speeds->wanted_per_s[j] * speeds->speed[g];
            } else {
                speeds->open_per_s[speeds->sets[j]] += (double)speeds->wanted_per_s[j];
            }
        }
    }
}

static double level_of(const struct speeds *speeds, uint32_t resource)
{
    const struct graph *graph = speeds->verify->graph;
    double capacity =
        (double)(speeds->verify->is_measured
                     ? measured_limit(&speeds->measured, graph, (weir_resource){resource})
                     : graph_resource(graph, (weir_resource){resource})->capacity_per_s);

    return speeds->open_per_s[resource] > 0
               ? (capacity - speeds->frozen_per_s[resource]) / speeds->open_per_s[resource]
               : INFINITY;
}

#define EQUAL 1e-13 /* levels that differ by less are one: sums were added in another order */

/* The users of every resource at the least level stay there. @return false when that is 1 or more */
static bool freeze(struct speeds *speeds)
{
    double least = INFINITY;
    bool is_any = false;

    sum_demands(speeds);
    for (uint32_t r = 0; r < speeds->n_resources; r++) {
        least = fmin(least, level_of(speeds, r));
    }
    if (!(least < 1)) {
        return false;
    }
    for (uint32_t i = 0; i < speeds->n_active; i++) {
        uint32_t g = speeds->active[i];
        bool is_full = false;

        for (uint32_t j = speeds->set_first[g]; j < speeds->set_first[g + 1]; j++) {
            is_full = is_full || level_of(speeds, speeds->sets[j]) <= least * (1 + EQUAL);
        }
        if (is_full && !speeds->is_frozen[g]) {
            speeds->is_frozen[g] = true;
            speeds->speed[g] = least;
            is_any = true;
        }
    }
    return is_any;
}

static void share_speeds(struct speeds *speeds)
{
    for (uint32_t i = 0; i < speeds->n_active; i++) {
        speeds->is_frozen[speeds->active[i]] = false;
        speeds->speed[speeds->active[i]] = 1;
    }
    while (freeze(speeds)) {
    }
}

/* --- roofline -------------------------------------------------------------------------------- */

/* Every node its own rates; those of equal rates are found by sorting them. */
struct rated {
    const int64_t *rates_per_s;
    uint32_t n, node;
};

static int by_rates(const void *left, const void *right)
{
    const struct rated *a = left, *b = right;

    for (uint32_t r = 0; r < a->n; r++) {
        if (a->rates_per_s[r] != b->rates_per_s[r]) {
            return a->rates_per_s[r] < b->rates_per_s[r] ? -1 : 1;
        }
    }
    return (a->node > b->node) - (a->node < b->node);
}

static bool has_equal_rates(const struct rated *a, const struct rated *b)
{
    return memcmp(a->rates_per_s, b->rates_per_s, a->n * sizeof *a->rates_per_s) == 0;
}

/* @param sorted every node */
static enum weir_status number_groups(struct speeds *speeds, const struct rated *sorted)
{
    const struct verify *verify = speeds->verify;
    uint32_t n = speeds->n_resources;

    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        speeds->n_groups += i == 0 || !has_equal_rates(&sorted[i], &sorted[i - 1]) ? 1 : 0;
        speeds->group_of[sorted[i].node] = speeds->n_groups - 1;
    }
    speeds->parts = malloc(((size_t)speeds->n_groups * n + 1) * sizeof *speeds->parts);
    if (speeds->parts == NULL) {
        return weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < verify->n_nodes; i++) {
        for (uint32_t r = 0; r < n; r++) {
            speeds->parts[(size_t)speeds->group_of[sorted[i].node] * n + r] =
                (double)sorted[i].rates_per_s[r] /
                (double)graph_resource(verify->graph, (weir_resource){r})->capacity_per_s;
        }
    }
    return WEIR_OK;
}

static enum weir_status make_roofline(struct speeds *speeds)
{
    const struct verify *verify = speeds->verify;
    size_t n = speeds->n_resources, n_nodes = verify->n_nodes;
    struct rated *sorted = malloc((n_nodes + 1) * sizeof *sorted);
    int64_t *rates_per_s = malloc((n_nodes * n + 1) * sizeof *rates_per_s);
    enum weir_status status = WEIR_OK;

    if (sorted == NULL || rates_per_s == NULL) {
        status = weir_error_memory(verify->err);
    }
    for (uint32_t i = 0; i < n_nodes && status == WEIR_OK; i++) {
        sorted[i] = (struct rated){rates_per_s + i * n, (uint32_t)n, i};
        measured_rates(&speeds->measured, verify->graph, (weir_node){i}, rates_per_s + i * n);
    }
    if (status == WEIR_OK) {
        qsort(sorted, n_nodes, sizeof *sorted, by_rates);
        status = number_groups(speeds, sorted);
    }
    free(sorted);
    free(rates_per_s);
    return status;
}

/* @param running by group: how many */
static double roofline_speed(const struct speeds *speeds, uint32_t group, const uint32_t *running)
{
    double p = (double)speeds->measured.power_quarters / MEASURED_QUARTERS, s = 1;
    uint32_t n = speeds->n_resources;

    for (uint32_t r = 0; r < n; r++) {
        double own = speeds->parts[(size_t)group * n + r], eta = speeds->measured.eta[r];
        double wanted = running[group] == 0 ? own : 0;

        for (uint32_t i = 0; i < speeds->n_active; i++) {
            uint32_t g = speeds->active[i];

            wanted += running[g] * speeds->parts[(size_t)g * n + r];
        }
        s += pow(own * fmax(1, wanted / eta), p) - pow(own * fmax(1, own / eta), p);
    }
    return pow(s, -1 / p);
}

double speeds_roundings(const struct speeds *speeds)
{
    return speeds->parts == NULL ? 0
                                 : 4.0 * speeds->n_resources + 2.0 * speeds->n_running_most + 32;
}

/* --- all ------------------------------------------------------------------------------------- */

static enum weir_status make_family(struct speeds *speeds)
{
    const struct verify *verify = speeds->verify;
    size_t n = graph_n_resources(verify->graph);
    enum weir_status status = WEIR_OK;

    speeds->n_resources = (uint32_t)n;
    if (verify->is_measured) {
        speeds->uses = malloc((n + 1) * sizeof *speeds->uses);
        speeds->rates_per_s = malloc((n + 1) * sizeof *speeds->rates_per_s);
        status = speeds->uses == NULL || speeds->rates_per_s == NULL
                     ? weir_error_memory(verify->err)
                     : measured_read(verify->graph, &speeds->measured, verify->err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (verify->family == FAMILY_ROOFLINE) {
        return make_roofline(speeds);
    }
    return verify->family == FAMILY_SHARE ? make_share(speeds) : make_pairwise(speeds);
}

enum weir_status speeds_make(const struct verify *verify, struct speeds *out)
{
    size_t n;
    enum weir_status status;

    *out = (struct speeds){.verify = verify};
    out->group_of = malloc(((size_t)verify->n_nodes + 1) * sizeof *out->group_of);
    if (out->group_of == NULL) {
        return weir_error_memory(verify->err);
    }
    status = make_family(out);
    if (status != WEIR_OK) {
        return status;
    }
    n = (size_t)out->n_groups + 1;
    out->running = calloc(n, sizeof *out->running);
    out->speed = calloc(n, sizeof *out->speed);
    out->active = malloc(n * sizeof *out->active);
    out->active_at = malloc(n * sizeof *out->active_at);
    return out->running == NULL || out->speed == NULL || out->active == NULL ||
                   out->active_at == NULL
               ? weir_error_memory(verify->err)
               : WEIR_OK;
}

void speeds_free(struct speeds *speeds)
{
    free(speeds->group_of);
    free(speeds->running);
    free(speeds->speed);
    free(speeds->slowings);
    free(speeds->slowing_first);
    free(speeds->wanted_per_s);
    free(speeds->set_first);
    free(speeds->sets);
    free(speeds->active);
    free(speeds->active_at);
    free(speeds->is_frozen);
    free(speeds->frozen_per_s);
    free(speeds->open_per_s);
    free(speeds->uses);
    free(speeds->rates_per_s);
    free(speeds->parts);
    measured_free(&speeds->measured);
}

void speeds_start(struct speeds *speeds, uint32_t node)
{
    uint32_t group = speeds->group_of[node];

    speeds->n_running++;
    speeds->n_running_most =
        speeds->n_running > speeds->n_running_most ? speeds->n_running : speeds->n_running_most;
    if (speeds->running[group]++ == 0) {
        speeds->active_at[group] = speeds->n_active;
        speeds->active[speeds->n_active++] = group;
    }
    if (speeds->wanted_per_s != NULL) {
        want(speeds, node, 1);
    }
}

void speeds_end(struct speeds *speeds, uint32_t node)
{
    uint32_t group = speeds->group_of[node];

    speeds->n_running--;
    if (--speeds->running[group] == 0) {
        uint32_t last = speeds->active[--speeds->n_active];

        speeds->active[speeds->active_at[group]] = last;
        speeds->active_at[last] = speeds->active_at[group];
    }
    if (speeds->wanted_per_s != NULL) {
        want(speeds, node, -1);
    }
}

void speeds_set(struct speeds *speeds)
{
    if (speeds->wanted_per_s != NULL) {
        share_speeds(speeds);
        return;
    }
    for (uint32_t i = 0; i < speeds->n_active; i++) {
        uint32_t group = speeds->active[i];

        speeds->speed[group] = speeds->parts == NULL
                                   ? pairwise_speed(speeds, group)
                                   : roofline_speed(speeds, group, speeds->running);
    }
}
