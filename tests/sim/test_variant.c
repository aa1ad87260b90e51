/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every change of a graph or its machine, on graphs solved by hand; the same on any number of threads. */
#include "sim/variant.h"

#include <string.h>

#include "tests/sim/scene.h"
#include "tests/suite.h"

static void run_with(const struct graph *graph, const struct weir_policy *policy,
                     enum contention contention, uint32_t n_threads, struct variant *variants,
                     uint32_t n)
{
    struct plan_options planning = {.policy = policy == NULL ? scene_policy("retain") : policy};
    struct simulate_options options = simulate_default();
    const struct variant_base base = {
        .graph = graph, .planning = &planning, .options = &options, .n_threads = n_threads};
    struct weir_error err = {WEIR_OK, ""};

    options.contention = contention;
    ck_assert_msg(variant_run(&base, variants, n, &err) == WEIR_OK, "%s", err.text);
}

static void gives(const char *text, enum contention contention, enum variant_kind kind,
                  uint32_t index, int64_t makespan_ns)
{
    struct graph *graph = scene_read(text);
    struct variant variant = {.kind = kind, .index = index};

    run_with(graph, NULL, contention, 1, &variant, 1);
    ck_assert_int_eq(variant.end, VARIANT_COMPLETE);
    ck_assert_msg(variant.makespan_ns == makespan_ns, "kind %d of %u: %lld", (int)kind, index,
                  (long long)variant.makespan_ns);
    graph_free(graph);
}

/* On e a 10 and b 7, one after the other: 17. On l c moves 20 bytes: 5 + 20 = 25. */
#define LINKED                                               \
    "weir 1\nengine e\nengine l bandwidth=1GB/s latency=5\n" \
    "node a compute engine=e duration=10\n"                  \
    "node b compute engine=e duration=7\n"                   \
    "node c transfer engine=l bytes=20\n"

/* The same with c as long again, behind b: 17 + 25 = 42. */
#define CHAINED LINKED "edge b c ordering\n"

START_TEST(nodes_engines_and_links)
{
    gives(LINKED, CONTENTION_NONE, VARIANT_NODE_GONE, 0, 25);
    gives(LINKED, CONTENTION_NONE, VARIANT_NODE_GONE, 2, 17);
    gives(LINKED, CONTENTION_NONE, VARIANT_NODE_HALF, 2, 17); /* 12.5, that is 13 */
    gives(CHAINED, CONTENTION_NONE, VARIANT_NODE_GONE, 0, 32);
    gives(CHAINED, CONTENTION_NONE, VARIANT_NODE_HALF, 2, 30);
    gives(CHAINED, CONTENTION_NONE, VARIANT_NODE_HALF, 1, 39);     /* 3.5, that is 4 */
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_FASTER, 0, 34); /* 5 + 4 + 25 */
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_FASTER, 1, 30);
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_SLOT, 0, 32); /* b 0-7, c 7-32 */
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_SLOT, 1, 42);
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_WIDER, 1, 32); /* 5 + 10 */
    gives(CHAINED, CONTENTION_NONE, VARIANT_ENGINE_PROMPT, 1, 37);
}
END_TEST

/* Each takes 60 of the bytes while it runs for 10: at once where there are 120. */
#define TWO(capacity)                                              \
    "weir 1\ndomain d capacity=" capacity "\nengine e\nengine f\n" \
    "node p compute engine=e duration=10 workspace=60\n"           \
    "node q compute engine=f duration=10 workspace=60\n"

START_TEST(capacities)
{
    struct graph *graph = scene_read(TWO("64"));
    struct variant variants[] = {{.kind = VARIANT_DOMAIN_LESS}, {.kind = VARIANT_DOMAIN_MORE}};

    gives(TWO("100"), CONTENTION_NONE, VARIANT_DOMAIN_MORE, 0, 20);
    gives(TWO("110"), CONTENTION_NONE, VARIANT_DOMAIN_MORE, 0, 10); /* 121 */
    gives(TWO("109"), CONTENTION_NONE, VARIANT_DOMAIN_MORE, 0, 20); /* 109 + 10 */
    gives(TWO("100"), CONTENTION_NONE, VARIANT_DOMAIN_ENDLESS, 0, 10);
    gives(TWO("120"), CONTENTION_NONE, VARIANT_DOMAIN_LESS, 0, 20);
    gives(TWO("134"), CONTENTION_NONE, VARIANT_DOMAIN_LESS, 0, 10); /* 134 - 13 */
    /* 64 - 6 is too little for either; the graph that was given is as it was. */
    run_with(graph, NULL, CONTENTION_NONE, 1, variants, 2);
    ck_assert_int_eq(variants[0].end, VARIANT_STOPPED);
    ck_assert_int_eq(variants[0].status, RUN_SHORTAGE);
    ck_assert_int_eq(variants[0].makespan_ns, -1);
    ck_assert_int_eq(variants[1].makespan_ns, 20);
    ck_assert_int_eq(graph_domain(graph, (weir_domain){0})->capacity_bytes, 64);
    graph_free(graph);
}
END_TEST

/* Two of 10, each of which takes twice as long beside the other: 20. */
START_TEST(contention_off)
{
    static const char text[] = "weir 1\nengine e\nengine f\nkappa e f 2\nkappa f e 2\n"
                               "node p compute engine=e duration=10\n"
                               "node q compute engine=f duration=10\n";
    static const char shared[] = "weir 1\nengine e\nengine f\nresource r capacity=10/s\n"
                                 "node p compute engine=e duration=10 uses=r:10/s\n"
                                 "node q compute engine=f duration=10 uses=r:10/s\n";

    gives(text, CONTENTION_PAIRWISE, VARIANT_ENGINE_PROMPT, 0, 20); /* as it is */
    gives(text, CONTENTION_PAIRWISE, VARIANT_NO_CONTENTION, WEIR_NONE, 10);
    gives(shared, CONTENTION_SHARE, VARIANT_ENGINE_PROMPT, 0, 20);
    gives(shared, CONTENTION_SHARE, VARIANT_RESOURCE_WIDER, 0, 10);
    gives(shared, CONTENTION_SHARE, VARIANT_NO_CONTENTION, WEIR_NONE, 10);
}
END_TEST

static enum weir_status refuse(void *state, const struct weir_view *view, struct weir_draft *draft,
                               struct weir_error *err)
{
    (void)state;
    (void)view;
    (void)draft;
    return weir_error_set(err, WEIR_INPUT, "not with me");
}

START_TEST(what_a_policy_refuses_is_an_answer)
{
    static const struct weir_policy policy = {.version = WEIR_POLICY_VERSION,
                                              .size = sizeof policy,
                                              .name = "refuser",
                                              .summary = "refuses",
                                              .plan = refuse};
    struct graph *graph = scene_read(LINKED);
    struct variant variants[] = {{.kind = VARIANT_ENGINE_SLOT}, {.kind = VARIANT_NODE_GONE}};

    run_with(graph, &policy, CONTENTION_NONE, 2, variants, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(variants[i].end, VARIANT_REFUSED);
        ck_assert_ptr_nonnull(strstr(variants[i].why, "not with me"));
    }
    graph_free(graph);
}
END_TEST

#define VARIANTS 60

START_TEST(any_number_of_threads)
{
    struct variant once[VARIANTS], again[VARIANTS];
    struct graph *graph = scene_random((uint64_t)_i, 200);

    for (uint32_t i = 0; i < VARIANTS; i++)
        once[i] = (struct variant){.kind = i % 2 == 0 ? VARIANT_NODE_GONE : VARIANT_NODE_HALF,
                                   .index = i / 2};
    memcpy(again, once, sizeof again);
    run_with(graph, NULL, CONTENTION_NONE, 1, once, VARIANTS);
    run_with(graph, NULL, CONTENTION_NONE, 4, again, VARIANTS);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        ck_assert_int_eq(once[i].end, VARIANT_COMPLETE);
        ck_assert_int_eq(again[i].makespan_ns, once[i].makespan_ns);
    }
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim/variant");
    TCase *models = tcase_create("models"), *properties = tcase_create("properties");

    tcase_add_test(models, nodes_engines_and_links);
    tcase_add_test(models, capacities);
    tcase_add_test(models, contention_off);
    tcase_add_test(models, what_a_policy_refuses_is_an_answer);
    tcase_add_loop_test(properties, any_number_of_threads, 0, 4);
    suite_add_tcase(suite, models);
    suite_add_tcase(suite, properties);
    return run_suite(suite);
}
