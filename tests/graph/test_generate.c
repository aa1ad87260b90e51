/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generated graphs are legal, of the size asked for, and the same for the same options; the
 * training step has the sizes and durations that its formulas give. */
#include "graph/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "tests/suite.h"

/* One billion flops and one billion bytes a second: a nanosecond each. */
#define MACHINE                                         \
    "weir 1\n"                                          \
    "domain hbm capacity=1MB\n"                         \
    "domain host capacity=1MB\n"                        \
    "engine sm domain=hbm flops=1G/s bandwidth=1GB/s\n" \
    "engine h2d from=host to=hbm bandwidth=1GB/s latency=10ns\n"

/* Fails the test with the first findings when the graph is not legal. */
static void check_legal(const struct graph *graph)
{
    struct report *report = report_new(5);
    struct weir_error err = {.text = ""};
    struct binding *binding = NULL;
    enum weir_status status;

    ck_assert_ptr_nonnull(report);
    graph_check_statements(graph, report);
    status = bind_graph(graph, report, &binding, &err);
    for (uint32_t i = 0; i < report_count(report); i++) {
        const struct finding *finding = report_finding(report, i);

        if (finding->severity != SEVERITY_NOTE)
            ck_abort_msg("%s", finding->message);
    }
    ck_assert_msg(status == WEIR_OK, "%s", err.text);
    bind_free(binding);
    report_free(report);
}

static struct graph *read_machine(const char *text)
{
    struct report *report = report_new(5);
    struct weir_error err;
    struct graph *graph = NULL;

    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(graph_read_text(text, strlen(text), "machine", report, &graph, &err), WEIR_OK);
    report_free(report);
    return graph;
}

static char *text_of(const struct graph *graph)
{
    struct weir_error err;
    size_t length;
    char *text = NULL;

    ck_assert_int_eq(graph_write_text(graph, &text, &length, &err), WEIR_OK);
    return text;
}

static weir_node node_named(const struct graph *graph, const char *name)
{
    weir_node node = graph_find_node(graph, graph_find_text(graph, name));

    ck_assert_msg(weir_is(node), "no node %s", name);
    return node;
}

static struct graph_object object_named(const struct graph *graph, const char *name)
{
    weir_object object = graph_find_object(graph, graph_find_text(graph, name));
    struct graph_object value;

    ck_assert_msg(weir_is(object), "no object %s", name);
    graph_object(graph, object, &value);
    return value;
}

static int64_t length_of(const struct graph *graph, const char *name)
{
    int64_t length_ns;

    ck_assert(graph_node_length_ns(graph, node_named(graph, name), &length_ns));
    return length_ns;
}

/* ---- chain ---- */

START_TEST(chain_without_seed_is_even)
{
    struct generate_chain_options options = generate_chain_default();
    struct weir_error err;
    struct graph *graph;

    options.n_nodes = 7;
    ck_assert_int_eq(generate_chain(&options, &graph, &err), WEIR_OK);
    check_legal(graph);
    ck_assert_uint_eq(graph_n_nodes(graph), 7);
    ck_assert_uint_eq(graph_n_edges(graph), 6);
    ck_assert_uint_eq(graph_n_objects(graph), 7);
    ck_assert_int_eq(length_of(graph, "n0"), options.duration_ns);
    ck_assert_int_eq(length_of(graph, "n6"), options.duration_ns);
    ck_assert_int_eq(graph_domain(graph, (weir_domain){0})->capacity_bytes, 2 * options.size_bytes);
    graph_free(graph);
}
END_TEST

START_TEST(chain_with_a_seed_varies)
{
    struct generate_chain_options options = generate_chain_default();
    struct weir_error err;
    struct graph *graph;
    int64_t least_ns = INT64_MAX, most_ns = 0;

    options.is_seeded = true;
    options.seed = 3;
    ck_assert_int_eq(generate_chain(&options, &graph, &err), WEIR_OK);
    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        int64_t ns;

        ck_assert(graph_node_length_ns(graph, (weir_node){i}, &ns));
        least_ns = ns < least_ns ? ns : least_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    ck_assert_int_ge(least_ns, 1);
    ck_assert_int_lt(most_ns, 2 * options.duration_ns);
    ck_assert_int_lt(least_ns, most_ns / 2);
    graph_free(graph);
}
END_TEST

START_TEST(chain_refuses_sums_past_64_bits)
{
    struct generate_chain_options options = generate_chain_default();
    struct weir_error err;
    struct graph *graph;

    options.duration_ns = INT64_MAX / 100;
    ck_assert_int_eq(generate_chain(&options, &graph, &err), WEIR_USAGE);
    options = generate_chain_default();
    options.size_bytes = INT64_MAX / 2;
    ck_assert_int_eq(generate_chain(&options, &graph, &err), WEIR_USAGE);
    options = generate_chain_default();
    options.n_nodes = 0;
    ck_assert_int_eq(generate_chain(&options, &graph, &err), WEIR_USAGE);
}
END_TEST

/* ---- random ---- */

static struct graph *make_random(uint32_t n_nodes, uint32_t width, uint32_t n_engines,
                                 uint64_t seed)
{
    struct generate_random_options options = generate_random_default();
    struct weir_error err = {.text = ""};
    struct graph *graph = NULL;

    options.n_nodes = n_nodes;
    options.width = width;
    options.n_engines = n_engines;
    options.seed = seed;
    ck_assert_msg(generate_random(&options, &graph, &err) == WEIR_OK, "%s", err.text);
    return graph;
}

START_TEST(random_is_legal_and_of_the_size_asked_for)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 17, 129, 130, 1000, 5000};
    static const uint32_t widths[] = {1, 2, 8, 50};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            struct graph *graph = make_random(sizes[i], widths[k], 1 + (uint32_t)k, 11 * i + k);

            ck_assert_uint_eq(graph_n_nodes(graph), sizes[i]);
            check_legal(graph);
            graph_free(graph);
        }
    }
}
END_TEST

START_TEST(random_is_its_seed)
{
    struct graph *graphs[] = {make_random(600, 8, 2, 5), make_random(600, 8, 2, 5),
                              make_random(600, 8, 2, 6)};
    char *texts[3];

    for (int i = 0; i < 3; i++)
        texts[i] = text_of(graphs[i]);
    ck_assert_str_eq(texts[0], texts[1]);
    ck_assert_str_ne(texts[0], texts[2]);
    for (int i = 0; i < 3; i++) {
        free(texts[i]);
        graph_free(graphs[i]);
    }
}
END_TEST

/* Every kind of thing that it promises is there, in a graph of some size. */
START_TEST(random_has_all_it_promises)
{
    struct graph *graph = make_random(5000, 8, 3, 1);
    uint32_t kinds[NODE_KINDS] = {0}, n_workspace = 0, n_uses = 0, n_updates = 0, n_views = 0;
    uint32_t n_lags = 0;

    for (uint32_t i = 0; i < graph_n_nodes(graph); i++) {
        struct graph_node node;

        graph_node(graph, (weir_node){i}, &node);
        kinds[node.kind]++;
        n_workspace += node.n_workspace;
        n_uses += node.n_uses;
        for (uint32_t k = 0; k < node.n_reads; k++) {
            if (node.n_writes > 0 && weir_same(node.reads[k].object, node.writes[0]))
                n_updates++;
        }
    }
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        struct graph_object object;

        graph_object(graph, (weir_object){i}, &object);
        n_views += weir_is(object.alias_of) ? 1 : 0;
    }
    for (uint32_t i = 0; i < graph_n_edges(graph); i++) {
        struct graph_edge edge;

        graph_edge(graph, (weir_edge){i}, &edge);
        n_lags += edge.lag_ns > 0 ? 1 : 0;
    }
    ck_assert_uint_gt(kinds[NODE_COMPUTE], 3000);
    ck_assert_uint_gt(kinds[NODE_OFFLOAD], 50);
    ck_assert_uint_gt(kinds[NODE_PREFETCH], 50);
    ck_assert_uint_eq(kinds[NODE_OFFLOAD], kinds[NODE_RECLAMATION]);
    ck_assert_uint_gt(kinds[NODE_BARRIER], 10);
    ck_assert_uint_gt(n_workspace, 100);
    ck_assert_uint_gt(n_uses, 100);
    ck_assert_uint_gt(n_updates, 100);
    ck_assert_uint_gt(n_views, 20);
    ck_assert_uint_gt(n_lags, 20);
    graph_free(graph);
}
END_TEST

START_TEST(random_refuses_what_is_out_of_range)
{
    struct generate_random_options options = generate_random_default();
    struct weir_error err;
    struct graph *graph;

    options.width = 0;
    ck_assert_int_eq(generate_random(&options, &graph, &err), WEIR_USAGE);
    options = generate_random_default();
    options.n_engines = 0;
    ck_assert_int_eq(generate_random(&options, &graph, &err), WEIR_USAGE);
    options = generate_random_default();
    options.n_nodes = 0;
    ck_assert_int_eq(generate_random(&options, &graph, &err), WEIR_USAGE);
}
END_TEST

/* ---- transformer ---- */

/* L=1 H=4 A=2 S=3 B=2 V=5: BS=6, BSH=24, BSV=30, ABS=12, ABSS=36. */
static struct generate_transformer_options tiny(void)
{
    struct generate_transformer_options options = generate_transformer_default();

    options.n_layers = 1;
    options.hidden = 4;
    options.n_heads = 2;
    options.sequence = 3;
    options.batch = 2;
    options.vocabulary = 5;
    options.matmul_workspace_bytes = 0;
    return options;
}

static struct graph *make_step(const struct generate_transformer_options *options,
                               struct generate_transformer_totals *totals)
{
    struct graph *graph = read_machine(MACHINE "param roofline fp32_flops_per_s 5e8\n");
    struct weir_error err = {.text = ""};

    ck_assert_msg(generate_transformer(graph, options, totals, &err) == WEIR_OK, "%s", err.text);
    check_legal(graph);
    return graph;
}

START_TEST(step_has_the_sizes_of_its_formulas)
{
    struct generate_transformer_options options = tiny();
    struct generate_transformer_totals totals;
    struct graph *graph = make_step(&options, &totals);

    /* A layer 12*16 + 13*4 = 244; tables 5*4 + 3*4 + 2*4 = 40. */
    ck_assert_int_eq(totals.n_parameters, 284);
    ck_assert_int_eq(totals.weight_bytes, 284 * 2);
    ck_assert_int_eq(totals.gradient_bytes, 284 * 2);
    /* Master weights and two moments. */
    ck_assert_int_eq(totals.optimizer_bytes, 284 * 12);
    /* Layer 16*2*24 + 2*8*6 + 4*12 = 912, with its input; then the last norm's input 48, output 48
     * and statistics 48, logits 60, loss 24. */
    ck_assert_int_eq(totals.activation_bytes, 912 + 228);

    ck_assert_int_eq(object_named(graph, "layer0.qkv.weight").size_bytes, (3 * 16 + 3 * 4) * 2);
    ck_assert_int_eq(object_named(graph, "layer0.mlp_up.out").size_bytes, 4 * 24 * 2);
    ck_assert_int_eq(object_named(graph, "layer0.attention.rows").size_bytes, 12 * 4);
    ck_assert_int_eq(object_named(graph, "output.logits").size_bytes, 30 * 2);
    ck_assert_int_eq(object_named(graph, "layer0.moment2").size_bytes, 244 * 4);
    ck_assert_int_eq(object_named(graph, "tokens").size_bytes, 2 * 4 * 8);
    graph_free(graph);
}
END_TEST

START_TEST(step_of_32_bits_keeps_no_master)
{
    struct generate_transformer_options options = tiny();
    struct generate_transformer_totals totals;
    struct graph *graph;

    options.dtype = DTYPE_FP32;
    graph = make_step(&options, &totals);
    ck_assert_int_eq(totals.weight_bytes, 284 * 4);
    ck_assert_int_eq(totals.optimizer_bytes, 284 * 8);
    ck_assert_int_eq(totals.activation_bytes, (16 * 4 * 24 + 96 + 48) + 96 + 96 + 48 + 120 + 24);
    ck_assert_uint_eq(graph_find_text(graph, "layer0.master").index, 0);
    /* 576 flops at half a billion a second: twice as long. */
    ck_assert_int_eq(length_of(graph, "layer0.qkv"), 2 * 576);
    graph_free(graph);

    options.optimizer = OPTIMIZER_SGD;
    graph = make_step(&options, &totals);
    ck_assert_int_eq(totals.optimizer_bytes, 0);
    graph_free(graph);

    options.dtype = DTYPE_FP16;
    graph = make_step(&options, &totals);
    ck_assert_int_eq(totals.optimizer_bytes, 284 * 4);
    graph_free(graph);
}
END_TEST

START_TEST(step_can_keep_the_scores)
{
    struct generate_transformer_options options = tiny();
    struct generate_transformer_totals totals;
    struct graph *graph;
    struct graph_node node;

    options.attention = ATTENTION_FULL;
    graph = make_step(&options, &totals);
    /* 36 scores of 2 bytes instead of 12 rows of 4. */
    ck_assert_int_eq(totals.activation_bytes, 1140 - 48 + 72);
    graph_node(graph, node_named(graph, "layer0.attention"), &node);
    ck_assert_int_eq(node.workspace[0].bytes, 72);
    /* Bytes bound it: qkv 144, out 48, scores 72, and three times 72 of workspace and scores; the
     * flops are 4 BHSS = 288. */
    ck_assert_int_eq(length_of(graph, "layer0.attention"), 144 + 48 + 72 + 3 * 72);
    graph_free(graph);
}
END_TEST

START_TEST(step_takes_as_long_as_the_roofline)
{
    struct generate_transformer_options options = tiny();
    struct graph *graph;
    struct graph_node node;

    options.matmul_workspace_bytes = 1000;
    graph = make_step(&options, NULL);
    /* Flops bound it: 2 * 6 * 4 * 12 = 576; bytes 48 + 120 + 144 = 312. */
    ck_assert_int_eq(length_of(graph, "layer0.qkv"), 576);
    /* Bytes bound it: 48 + 48 + 48; flops 24. */
    ck_assert_int_eq(length_of(graph, "layer0.add1"), 144);
    /* 2 BH S(S+1) = 2*2*4*12 = 192 flops; bytes 144 + 48 + 48 = 240. */
    ck_assert_int_eq(length_of(graph, "layer0.attention"), 240);
    /* 5/2 of them = 480; bytes 144 + 48 + 48 + 48 + 144 = 432. */
    ck_assert_int_eq(length_of(graph, "layer0.attention.backward"), 480);
    /* Latency 10 and 64 bytes. */
    ck_assert_int_eq(length_of(graph, "load_tokens"), 74);
    /* Tokens 64, positions 24, out 48, and all 5 rows of the table, 40: the 6 tokens can touch no
     * more. */
    ck_assert_int_eq(length_of(graph, "embedding"), 176);
    graph_node(graph, node_named(graph, "layer0.qkv"), &node);
    ck_assert_int_eq(node.workspace[0].bytes, 1000);
    ck_assert_int_eq(node.evidence.kind, EVIDENCE_BOUND);
    ck_assert_ptr_nonnull(strstr(graph_text(graph, node.evidence.detail), "576 flops"));
    graph_free(graph);
}
END_TEST

START_TEST(activations_can_be_moved_or_made_again)
{
    struct generate_transformer_options options = tiny();
    struct graph *graph = make_step(&options, NULL);
    struct graph_object kept = object_named(graph, "layer0.mlp_up.out");
    struct graph_object passing = object_named(graph, "layer0.projection.out");
    struct graph_object weight = object_named(graph, "layer0.qkv.weight");
    struct graph_node node;

    ck_assert(kept.is_offloadable && !kept.is_retained);
    ck_assert_str_eq(graph_node_name(graph, kept.recompute), "layer0.mlp_up");
    graph_node(graph, kept.recompute, &node);
    ck_assert_int_eq(node.purity, PURITY_PURE);
    ck_assert(!passing.is_offloadable && !weir_is(passing.recompute));
    ck_assert(weight.is_initial && weight.is_retained);
    graph_node(graph, node_named(graph, "layer0.adam"), &node);
    ck_assert_int_eq(node.purity, PURITY_IMPURE);
    /* Every recomputing node writes its object. */
    for (uint32_t i = 0; i < graph_n_objects(graph); i++) {
        struct graph_object object;
        bool is_written = false;

        graph_object(graph, (weir_object){i}, &object);
        if (!weir_is(object.recompute))
            continue;
        graph_node(graph, object.recompute, &node);
        for (uint32_t k = 0; k < node.n_writes; k++)
            is_written = is_written || node.writes[k].index == i;
        ck_assert_msg(is_written, "%s", graph_text(graph, object.name));
    }
    graph_free(graph);
}
END_TEST

START_TEST(default_step_is_gpt2_small)
{
    struct generate_transformer_options options = generate_transformer_default();
    struct generate_transformer_totals totals;
    struct graph *graph = make_step(&options, &totals);

    ck_assert_int_eq(totals.n_parameters, 124439808);
    graph_free(graph);
}
END_TEST

static enum weir_status try_step(const char *machine,
                                 const struct generate_transformer_options *options,
                                 struct weir_error *err)
{
    struct graph *graph = read_machine(machine);
    enum weir_status status = generate_transformer(graph, options, NULL, err);

    graph_free(graph);
    return status;
}

START_TEST(step_refuses_what_it_cannot_make)
{
    struct generate_transformer_options options = tiny();
    struct weir_error err;

    options.hidden = 5;
    ck_assert_int_eq(try_step(MACHINE, &options, &err), WEIR_USAGE);
    options = tiny();
    options.batch = 0;
    ck_assert_int_eq(try_step(MACHINE, &options, &err), WEIR_USAGE);
    options = tiny();
    options.batch = options.sequence = options.vocabulary = 1000000000;
    ck_assert_int_eq(try_step(MACHINE, &options, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "64 bits"));
    options = tiny();
    options.dtype = DTYPE_FP32;
    ck_assert_int_eq(try_step(MACHINE, &options, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "fp32_flops_per_s"));
    options = tiny();
    ck_assert_int_eq(try_step("weir 1\ndomain hbm capacity=1MB\nengine sm\n", &options, &err),
                     WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "flops="));
    ck_assert_int_eq(try_step(MACHINE "node n compute duration=1\n", &options, &err), WEIR_INPUT);
}
END_TEST

/* A machine of one domain: the tokens are there. */
START_TEST(step_needs_no_copies)
{
    struct generate_transformer_options options = tiny();
    struct graph *graph = read_machine("weir 1\ndomain hbm capacity=1MB\n"
                                       "engine sm flops=1G/s bandwidth=1GB/s\n");
    struct weir_error err;

    ck_assert_int_eq(generate_transformer(graph, &options, NULL, &err), WEIR_OK);
    check_legal(graph);
    ck_assert_uint_eq(graph_find_text(graph, "load_tokens").index, 0);
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("generate");
    TCase *tests = tcase_create("generate");

    tcase_add_test(tests, chain_without_seed_is_even);
    tcase_add_test(tests, chain_with_a_seed_varies);
    tcase_add_test(tests, chain_refuses_sums_past_64_bits);
    tcase_add_test(tests, random_is_legal_and_of_the_size_asked_for);
    tcase_add_test(tests, random_is_its_seed);
    tcase_add_test(tests, random_has_all_it_promises);
    tcase_add_test(tests, random_refuses_what_is_out_of_range);
    tcase_add_test(tests, step_has_the_sizes_of_its_formulas);
    tcase_add_test(tests, step_of_32_bits_keeps_no_master);
    tcase_add_test(tests, step_can_keep_the_scores);
    tcase_add_test(tests, step_takes_as_long_as_the_roofline);
    tcase_add_test(tests, activations_can_be_moved_or_made_again);
    tcase_add_test(tests, default_step_is_gpt2_small);
    tcase_add_test(tests, step_refuses_what_it_cannot_make);
    tcase_add_test(tests, step_needs_no_copies);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
