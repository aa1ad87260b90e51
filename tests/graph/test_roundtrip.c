/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random graphs, built with random names and fields: what is written is read as the same graph, and
 * laid over itself it stays so. Then the text is cut and changed at random: whatever comes of it,
 * the reader ends with a graph that can be written, or with findings. */
#include "base/random.h"
#include "tests/graph/texts.h"

struct maker {
    struct random_stream random;
    struct graph *graph;
};

static uint64_t below(struct maker *maker, uint64_t bound)
{
    return random_below(&maker->random, bound);
}

static bool toss(struct maker *maker)
{
    return below(maker, 3) == 0;
}

/* A quantity of any magnitude up to 2^40. */
static int64_t amount(struct maker *maker)
{
    return (int64_t)(random_bits(&maker->random) >> (24 + below(maker, 40)));
}

/* Up to six pieces, of plain letters and of what must be quoted or escaped. */
static weir_text random_text(struct maker *maker)
{
    static const char *const pieces[] = {
        "a", "b1", "7",  "gemm", " ", ",", "#", "\"",   "\\", "@", ":",        "+",
        "=", "\n", "\t", "\x01", "(", ")", "-", "\xff", "\r", "/", "\xc3\xa9", "\xe2\x82"};
    char text[64] = "";
    struct weir_error err;
    weir_text out;

    for (uint64_t n = below(maker, 6) + 1; n > 0; n--) {
        uint64_t range = toss(maker) ? sizeof pieces / sizeof *pieces : 4;
        strcat(text, pieces[below(maker, range)]);
    }
    ck_assert_int_eq(graph_intern_text(maker->graph, text, &out, &err), WEIR_OK);
    return out;
}

static weir_text maybe_text(struct maker *maker)
{
    return toss(maker) ? random_text(maker) : (weir_text){0};
}

static struct graph_evidence random_evidence(struct maker *maker)
{
    struct graph_evidence evidence = {.confidence = -1};

    if (toss(maker))
        evidence.kind = (enum evidence_kind)below(maker, EVIDENCE_INFERRED + 1);
    evidence.detail = maybe_text(maker);
    if (toss(maker))
        evidence.confidence = random_unit(&maker->random);
    return evidence;
}

static uint32_t maybe_id(struct maker *maker, uint32_t n)
{
    return n > 0 && toss(maker) ? (uint32_t)below(maker, n) : WEIR_NONE;
}

#define ADD(sort, find, value)                                                                  \
    do {                                                                                        \
        if (!weir_is(find(maker->graph, (value).name)))                                         \
            ck_assert_int_eq(graph_add_##sort(maker->graph, &(value), &(weir_##sort){0}, &err), \
                             WEIR_OK);                                                          \
    } while (0)

static void make_machine(struct maker *maker)
{
    struct weir_error err;

    for (int i = 0; i < 4; i++) {
        struct graph_domain domain = graph_domain_default;
        struct graph_resource resource = graph_resource_default;
        struct graph_guard guard = graph_guard_default;
        domain.name = random_text(maker);
        domain.capacity_bytes = INT64_MAX;
        domain.reserve_bytes = amount(maker);
        domain.granule_bytes = toss(maker) ? amount(maker) % 512 + 1 : 0;
        domain.evidence = random_evidence(maker);
        ADD(domain, graph_find_domain, domain);
        resource.name = random_text(maker);
        resource.capacity_per_s = INT64_MAX;
        ADD(resource, graph_find_resource, resource);
        guard.name = random_text(maker);
        guard.is_on = toss(maker);
        guard.evidence = random_evidence(maker);
        ADD(guard, graph_find_guard, guard);
    }
    for (int i = 0; i < 4; i++) {
        struct graph_engine engine = graph_engine_default;
        engine.name = random_text(maker);
        engine.slots = amount(maker) + 1;
        engine.domain.index = maybe_id(maker, graph_n_domains(maker->graph));
        engine.from.index = maybe_id(maker, graph_n_domains(maker->graph));
        engine.to.index = maybe_id(maker, graph_n_domains(maker->graph));
        engine.bandwidth_bytes_per_s = toss(maker) ? amount(maker) + 1 : 0;
        engine.latency_ns = toss(maker) ? amount(maker) : 0;
        engine.flops_per_s = toss(maker) ? amount(maker) + 1 : 0;
        engine.evidence = random_evidence(maker);
        ADD(engine, graph_find_engine, engine);
    }
}

static void make_facts(struct maker *maker)
{
    struct weir_error err;

    for (int i = 0; i < 3; i++) {
        struct graph_kappa kappa = graph_kappa_default;
        struct graph_overlap overlap = graph_overlap_default;
        struct graph_param param = graph_param_default;
        char name[16];
        /* Pairs that are not given before: each has a class or a name of its own. */
        (void)snprintf(name, sizeof name, "own %d", i);
        ck_assert_int_eq(graph_intern_text(maker->graph, name, &param.name, &err), WEIR_OK);
        ck_assert_int_eq(graph_class_of(maker->graph, param.name, &kappa.slowed, &err), WEIR_OK);
        ck_assert_int_eq(graph_class_of(maker->graph, random_text(maker), &kappa.beside, &err),
                         WEIR_OK);
        kappa.factor = (double)(amount(maker) + 1) / 1000;
        kappa.evidence = random_evidence(maker);
        ck_assert_int_eq(graph_add_kappa(maker->graph, &kappa, &err), WEIR_OK);
        param.family = random_text(maker);
        param.value = random_unit(&maker->random) - 0.5;
        ck_assert_int_eq(graph_add_param(maker->graph, &param, &err), WEIR_OK);
        overlap.a = random_text(maker);
        overlap.b = random_text(maker);
        overlap.rule = (enum overlap_rule)below(maker, 3);
        overlap.proof = maybe_text(maker);
        overlap.earliest_ns = toss(maker) ? 0 : -1;
        overlap.latest_ns = toss(maker) ? amount(maker) : -1;
        ck_assert_int_eq(graph_add_overlap(maker->graph, &overlap, &err), WEIR_OK);
    }
}

static void make_objects(struct maker *maker)
{
    struct weir_error err;
    weir_domain placements[3];

    for (int i = 0; i < 8; i++) {
        struct graph_object object = graph_object_default;
        uint32_t n_domains = graph_n_domains(maker->graph);
        object.name = random_text(maker);
        object.size_bytes = amount(maker);
        object.domain.index = maybe_id(maker, n_domains);
        object.align_bytes = toss(maker) ? amount(maker) + 1 : 0;
        object.placements = placements;
        object.n_placements = (uint32_t)below(maker, 4);
        for (int p = 0; p < 3; p++)
            placements[p].index = (uint32_t)below(maker, n_domains);
        object.is_initial = toss(maker);
        object.is_retained = toss(maker);
        object.is_offloadable = toss(maker);
        object.ready_ns = toss(maker) ? amount(maker) : 0;
        if (toss(maker)) {
            object.planned_offset_bytes = amount(maker);
            object.planned_domain.index = (uint32_t)below(maker, n_domains);
        }
        object.recompute.index = toss(maker) ? 0 : WEIR_NONE; /* a node that comes later */
        object.alias_of.index = maybe_id(maker, graph_n_objects(maker->graph));
        if (weir_is(object.alias_of)) {
            struct graph_object target;
            graph_object(maker->graph, object.alias_of, &target);
            object.is_initial = false;
            object.size_bytes = target.size_bytes / 2;
            object.alias_offset_bytes = toss(maker) ? target.size_bytes / 3 : 0;
        }
        object.origin = maybe_text(maker);
        object.evidence = random_evidence(maker);
        ADD(object, graph_find_object, object);
    }
}

static int64_t values[5];

static void make_duration(struct maker *maker, struct graph_node *node)
{
    node->has_duration = toss(maker) || toss(maker);
    if (!node->has_duration)
        return;
    node->duration.kind = (enum distribution_kind)below(maker, DISTRIBUTION_UNKNOWN + 1);
    node->duration.values_ns = values;
    node->duration.n_values = 2;
    for (int i = 0; i < 5; i++)
        values[i] = amount(maker) + 1;
    if (values[1] < values[0])
        values[1] = values[0];
    if (node->duration.kind == DISTRIBUTION_FIXED)
        node->duration.n_values = 1;
    if (node->duration.kind == DISTRIBUTION_EMPIRICAL)
        node->duration.n_values = (uint32_t)below(maker, 5) + 1;
    if (node->duration.kind == DISTRIBUTION_UNKNOWN)
        node->duration = (struct graph_duration){.kind = DISTRIBUTION_UNKNOWN};
}

static struct graph_access reads[4];
static weir_object writes[4];
static struct graph_charge workspace[2];
static struct graph_demand uses[2];

static void make_lists(struct maker *maker, struct graph_node *node)
{
    uint32_t n_objects = graph_n_objects(maker->graph), n_domains = graph_n_domains(maker->graph);

    node->reads = reads;
    node->n_reads = (uint32_t)below(maker, 5);
    node->writes = writes;
    node->n_writes = (uint32_t)below(maker, 3);
    node->workspace = workspace;
    node->n_workspace = (uint32_t)below(maker, 3);
    node->uses = uses;
    node->n_uses = (uint32_t)below(maker, 2);
    for (int i = 0; i < 4; i++) {
        reads[i].object.index = (uint32_t)below(maker, n_objects);
        reads[i].domain.index = maybe_id(maker, n_domains);
        writes[i].index = (uint32_t)below(maker, n_objects);
    }
    for (int i = 0; i < 2; i++) {
        workspace[i].bytes = amount(maker);
        workspace[i].domain.index = maybe_id(maker, n_domains);
        uses[i].resource.index = 0;
        uses[i].rate_per_s = amount(maker);
    }
}

static void make_nodes(struct maker *maker)
{
    struct weir_error err;
    uint32_t n_domains = graph_n_domains(maker->graph);

    for (uint32_t i = 0; i < 20; i++) {
        struct graph_node node = graph_node_default;
        node.name = random_text(maker);
        node.kind = (enum node_kind)below(maker, NODE_KINDS);
        node.engine.index = maybe_id(maker, graph_n_engines(maker->graph));
        node.bytes = toss(maker) ? amount(maker) % 1000000 : -1;
        make_duration(maker, &node);
        make_lists(maker, &node);
        node.object.index = maybe_id(maker, graph_n_objects(maker->graph));
        node.from.index = maybe_id(maker, n_domains);
        node.to.index = (uint32_t)below(maker, n_domains);
        node.domain.index = maybe_id(maker, n_domains);
        if (toss(maker))
            node.staging = (struct graph_charge){amount(maker), {maybe_id(maker, n_domains)}};
        if (toss(maker))
            ck_assert_int_eq(
                graph_class_of(maker->graph, random_text(maker), &node.class_given, &err), WEIR_OK);
        node.priority = toss(maker) ? amount(maker) - 1000 : 0;
        node.release_ns = toss(maker) ? amount(maker) : 0;
        node.deadline_ns = toss(maker) ? amount(maker) : -1;
        node.guard.index = maybe_id(maker, graph_n_guards(maker->graph));
        node.purity = (enum purity)below(maker, 3);
        node.is_speculative = toss(maker);
        node.group = maybe_text(maker);
        node.fallback = (enum fallback_kind)below(maker, 4);
        if (node.fallback == FALLBACK_NODE && graph_n_nodes(maker->graph) == 0)
            node.fallback = FALLBACK_WAIT; /* not on itself, which is a circle */
        node.fallback_node.index = node.fallback == FALLBACK_NODE ? 0 : WEIR_NONE;
        node.origin = maybe_text(maker);
        node.evidence = random_evidence(maker);
        ADD(node, graph_find_node, node);
    }
}

static void make_edges(struct maker *maker)
{
    struct weir_error err;
    uint32_t n = graph_n_nodes(maker->graph);

    for (int i = 0; i < 20; i++) {
        struct graph_edge edge = graph_edge_default;
        edge.producer.index = (uint32_t)below(maker, n);
        edge.consumer.index = (uint32_t)below(maker, n);
        edge.type = (enum edge_type)below(maker, EDGE_TYPES);
        edge.is_from_start = toss(maker);
        edge.object.index = maybe_id(maker, graph_n_objects(maker->graph));
        edge.lag_ns = toss(maker) ? amount(maker) : 0;
        edge.evidence = random_evidence(maker);
        ck_assert_int_eq(graph_add_edge(maker->graph, &edge, &err), WEIR_OK);
    }
}

static struct graph *make_graph(uint64_t seed)
{
    struct maker made = {.graph = graph_new()}, *maker = &made;

    random_seed(&maker->random, 2024, seed);
    graph_set_head(maker->graph, maybe_text(maker), (enum graph_scope)below(maker, 3), toss(maker),
                   random_evidence(maker));
    make_machine(maker);
    make_facts(maker);
    make_objects(maker);
    make_nodes(maker);
    make_edges(maker);
    return maker->graph;
}

START_TEST(random_graphs_are_read_as_they_were_written)
{
    struct graph *graph = make_graph((uint64_t)_i), *again;
    struct report *report = report_new(0);
    char *form = form_of(graph), *form_again, *form_over;
    struct weir_error err;

    again = graph_of(form);
    form_again = form_of(again);
    ck_assert_str_eq(form_again, form);
    ck_assert_int_eq(graph_overlay_text(again, form, strlen(form), "over", report, &err), WEIR_OK);
    form_over = form_of(again);
    ck_assert_str_eq(form_over, form);
    /* It is text, whatever the names are. */
    for (const char *at = form; *at != '\0'; at++)
        ck_assert((unsigned char)*at >= ' ' || *at == '\n');
    free(form);
    free(form_again);
    free(form_over);
    graph_free(graph);
    graph_free(again);
    report_free(report);
}
END_TEST

/* Reads from a block of exactly that size, so that a sanitizer sees a step past its end. */
static void read_anything(const char *bytes, size_t n)
{
    char *text = malloc(n > 0 ? n : 1);
    struct report *report = report_new(50);
    struct graph *graph = NULL;
    struct weir_error err;

    memcpy(text, bytes, n);
    if (graph_read_text(text, n, "any", report, &graph, &err) == WEIR_OK) {
        char *form = form_of(graph);
        struct graph *again = graph_of(form);
        graph_free(again);
        free(form);
    } else {
        ck_assert_int_eq(err.status, WEIR_INPUT);
        ck_assert_uint_gt(report_errors(report), 0);
    }
    graph_free(graph);
    report_free(report);
    free(text);
}

START_TEST(cut_texts_are_read_or_refused)
{
    struct graph *graph = make_graph((uint64_t)_i);
    char *form = form_of(graph);
    size_t length = strlen(form);

    for (size_t n = 0; n < length; n += 7)
        read_anything(form, n);
    free(form);
    graph_free(graph);
}
END_TEST

START_TEST(changed_texts_are_read_or_refused)
{
    struct graph *graph = make_graph((uint64_t)_i);
    struct random_stream random;
    char *form = form_of(graph), *changed = malloc(strlen(form) + 1);
    size_t length = strlen(form);

    random_seed(&random, 77, (uint64_t)_i);
    for (int round = 0; round < 200; round++) {
        memcpy(changed, form, length);
        for (uint64_t n = random_below(&random, 4) + 1; n > 0; n--) {
            size_t at = random_below(&random, length), from = random_below(&random, length);
            size_t piece = random_below(&random, 30);
            if (random_below(&random, 2) == 0)
                changed[at] = (char)random_below(&random, 256);
            else if (at + piece < length && from + piece < length)
                memmove(changed + at, changed + from, piece);
        }
        read_anything(changed, length);
    }
    free(form);
    free(changed);
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roundtrip");
    TCase *all = tcase_create("roundtrip");

    tcase_add_loop_test(all, random_graphs_are_read_as_they_were_written, 0, n_inputs(200, 50));
    tcase_add_loop_test(all, cut_texts_are_read_or_refused, 0, 4);
    tcase_add_loop_test(all, changed_texts_are_read_or_refused, 0, n_inputs(10, 3));
    suite_add_tcase(suite, all);
    return run_suite_together(suite);
}
