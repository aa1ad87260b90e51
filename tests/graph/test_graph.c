/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model: what goes in comes out, also when it is replaced and when its lists lie in the graph
 * already; and what the defaults of the text form make of it. */
#include "tests/graph/texts.h"

static weir_text text_of(struct graph *graph, const char *text)
{
    struct weir_error err;
    weir_text id;

    ck_assert_int_eq(graph_intern_text(graph, text, &id, &err), WEIR_OK);
    return id;
}

static weir_node add_node(struct graph *graph, const struct graph_node *value)
{
    struct weir_error err;
    weir_node node;

    ck_assert_int_eq(graph_add_node(graph, value, &node, &err), WEIR_OK);
    return node;
}

/* A value with every field set. */
static const int64_t times[] = {10, 20, 30};
static const struct graph_access reads[] = {{{1}, {WEIR_NONE}}, {{2}, {0}}};
static const weir_object writes[] = {{3}, {4}, {5}};
static const struct graph_charge workspace[] = {{100, {0}}, {200, {WEIR_NONE}}};
static const struct graph_demand uses[] = {{{0}, 5}, {{1}, 6}};

static struct graph_node full_node(struct graph *graph)
{
    struct graph_node node = graph_node_default;

    node.name = text_of(graph, "full");
    node.kind = NODE_PREFETCH;
    node.engine.index = 1;
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_EMPIRICAL, times, 3};
    node.bytes = 77;
    node.reads = reads;
    node.n_reads = 2;
    node.writes = writes;
    node.n_writes = 3;
    node.workspace = workspace;
    node.n_workspace = 2;
    node.uses = uses;
    node.n_uses = 2;
    node.object.index = 9;
    node.from.index = 1;
    node.to.index = 2;
    node.domain.index = 3;
    node.staging = (struct graph_charge){50, {1}};
    node.class_given.index = 4;
    node.priority = -6;
    node.release_ns = 7;
    node.deadline_ns = 8;
    node.guard.index = 5;
    node.purity = PURITY_IMPURE;
    node.is_speculative = true;
    node.group = text_of(graph, "team");
    node.fallback = FALLBACK_NODE;
    node.fallback_node.index = 6;
    node.origin = text_of(graph, "a.py:3");
    node.evidence = (struct graph_evidence){EVIDENCE_MEASURED, text_of(graph, "n=20"), 0.25};
    return node;
}

static void check_lists(const struct graph_node *found)
{
    ck_assert_uint_eq(found->n_reads, 2);
    ck_assert_uint_eq(found->reads[0].object.index, 1);
    ck_assert(!weir_is(found->reads[0].domain));
    ck_assert_uint_eq(found->reads[1].domain.index, 0);
    ck_assert_uint_eq(found->n_writes, 3);
    ck_assert_uint_eq(found->writes[2].index, 5);
    ck_assert_uint_eq(found->n_workspace, 2);
    ck_assert_int_eq(found->workspace[1].bytes, 200);
    ck_assert_uint_eq(found->n_uses, 2);
    ck_assert_int_eq(found->uses[1].rate_per_s, 6);
    ck_assert_uint_eq(found->duration.n_values, 3);
    ck_assert_int_eq(found->duration.values_ns[2], 30);
}

static void check_full(const struct graph *graph, weir_node id, const struct graph_node *value)
{
    struct graph_node found;

    graph_node(graph, id, &found);
    check_lists(&found);
    ck_assert_int_eq(found.kind, value->kind);
    ck_assert_uint_eq(found.engine.index, 1);
    ck_assert(found.has_duration);
    ck_assert_int_eq(found.duration.kind, DISTRIBUTION_EMPIRICAL);
    ck_assert_int_eq(found.bytes, 77);
    ck_assert_uint_eq(found.object.index, 9);
    ck_assert_uint_eq(found.from.index, 1);
    ck_assert_uint_eq(found.to.index, 2);
    ck_assert_uint_eq(found.domain.index, 3);
    ck_assert_int_eq(found.staging.bytes, 50);
    ck_assert_uint_eq(found.staging.domain.index, 1);
    ck_assert_uint_eq(found.class_given.index, 4);
    ck_assert_int_eq(found.priority, -6);
    ck_assert_int_eq(found.release_ns, 7);
    ck_assert_int_eq(found.deadline_ns, 8);
    ck_assert_uint_eq(found.guard.index, 5);
    ck_assert_int_eq(found.purity, PURITY_IMPURE);
    ck_assert(found.is_speculative);
    ck_assert_str_eq(graph_text(graph, found.group), "team");
    ck_assert_int_eq(found.fallback, FALLBACK_NODE);
    ck_assert_uint_eq(found.fallback_node.index, 6);
    ck_assert_str_eq(graph_text(graph, found.origin), "a.py:3");
    ck_assert_int_eq(found.evidence.kind, EVIDENCE_MEASURED);
    ck_assert_double_eq(found.evidence.confidence, 0.25);
}

START_TEST(node_comes_out_as_it_went_in)
{
    struct graph *graph = graph_new();
    struct graph_node value = full_node(graph), plain = graph_node_default, found;
    weir_node full = add_node(graph, &value), bare;

    plain.name = text_of(graph, "plain");
    bare = add_node(graph, &plain);
    ck_assert_uint_eq(full.index, 0);
    ck_assert_uint_eq(bare.index, 1);
    check_full(graph, full, &value);
    graph_node(graph, bare, &found);
    ck_assert(memcmp(&found, &plain, sizeof found) == 0);
    graph_free(graph);
}
END_TEST

START_TEST(node_is_replaced_by_its_own_value)
{
    struct graph *graph = graph_new();
    struct graph_node value = full_node(graph), found;
    weir_node node = add_node(graph, &value);
    struct weir_error err;

    for (int round = 0; round < 3; round++) {
        graph_node(graph, node, &found);
        ck_assert_int_eq(graph_set_node(graph, node, &found, &err), WEIR_OK);
        check_full(graph, node, &value);
    }
    /* Down to nothing, and back. */
    found = graph_node_default;
    found.name = value.name;
    ck_assert_int_eq(graph_set_node(graph, node, &found, &err), WEIR_OK);
    struct graph_node empty;
    graph_node(graph, node, &empty);
    ck_assert(memcmp(&found, &empty, sizeof found) == 0);
    ck_assert_int_eq(graph_set_node(graph, node, &value, &err), WEIR_OK);
    check_full(graph, node, &value);
    graph_free(graph);
}
END_TEST

/* A fixed duration stands in the row itself, which is where the value points to then. */
START_TEST(node_keeps_its_fixed_duration_and_bytes)
{
    struct graph *graph = graph_new();
    struct graph_node value = graph_node_default, found;
    const int64_t five = 5;
    struct weir_error err;

    value.name = text_of(graph, "a");
    value.has_duration = true;
    value.duration = (struct graph_duration){DISTRIBUTION_FIXED, &five, 1};
    value.bytes = 6;
    weir_node node = add_node(graph, &value);
    graph_node(graph, node, &found);
    ck_assert_int_eq(graph_set_node(graph, node, &found, &err), WEIR_OK);
    graph_node(graph, node, &found);
    ck_assert_int_eq(found.duration.values_ns[0], 5);
    ck_assert_int_eq(found.bytes, 6);
    found.has_duration = false;
    ck_assert_int_eq(graph_set_node(graph, node, &found, &err), WEIR_OK);
    graph_node(graph, node, &found);
    ck_assert(!found.has_duration);
    ck_assert_int_eq(found.bytes, 6);
    graph_free(graph);
}
END_TEST

/* Copies made from values that point into the pools, which move while they grow. */
START_TEST(nodes_can_be_copied_within_a_graph)
{
    struct graph *graph = graph_new();
    struct graph_node value = full_node(graph);
    char name[32];

    (void)add_node(graph, &value);
    for (uint32_t i = 1; i < 500; i++) {
        struct graph_node copy;
        graph_node(graph, (weir_node){i / 2}, &copy);
        (void)snprintf(name, sizeof name, "copy%u", i);
        copy.name = text_of(graph, name);
        ck_assert_uint_eq(add_node(graph, &copy).index, i);
    }
    for (uint32_t i = 0; i < 500; i++)
        check_full(graph, (weir_node){i}, &value);
    graph_free(graph);
}
END_TEST

START_TEST(object_comes_out_as_it_went_in)
{
    static const weir_domain placements[] = {{1}, {0}};
    struct graph *graph = graph_new();
    struct graph_object value = graph_object_default, found;
    struct weir_error err;
    weir_object object;

    value.name = text_of(graph, "o");
    value.size_bytes = 4096;
    value.domain.index = 1;
    value.align_bytes = 256;
    value.placements = placements;
    value.n_placements = 2;
    value.alias_of.index = 3;
    value.alias_offset_bytes = 12;
    value.is_initial = value.is_retained = value.is_offloadable = true;
    value.ready_ns = 9;
    value.recompute.index = 4;
    value.planned_offset_bytes = 0; /* an offset of 0 is not the same as none */
    value.planned_domain.index = 1;
    value.origin = text_of(graph, "model.py");
    ck_assert_int_eq(graph_add_object(graph, &value, &object, &err), WEIR_OK);
    for (int round = 0; round < 2; round++) {
        graph_object(graph, object, &found);
        ck_assert_int_eq(found.size_bytes, 4096);
        ck_assert_int_eq(found.align_bytes, 256);
        ck_assert_uint_eq(found.n_placements, 2);
        ck_assert_uint_eq(found.placements[1].index, 0);
        ck_assert_uint_eq(found.alias_of.index, 3);
        ck_assert_int_eq(found.alias_offset_bytes, 12);
        ck_assert(found.is_initial && found.is_retained && found.is_offloadable);
        ck_assert_int_eq(found.ready_ns, 9);
        ck_assert_uint_eq(found.recompute.index, 4);
        ck_assert_int_eq(found.planned_offset_bytes, 0);
        ck_assert_uint_eq(found.planned_domain.index, 1);
        ck_assert_int_eq(graph_set_object(graph, object, &found, &err), WEIR_OK);
    }
    graph_free(graph);
}
END_TEST

START_TEST(names_of_each_sort_are_apart)
{
    struct graph *graph = graph_of("weir 1\ndomain x capacity=1\nengine x\nobject x size=1\n"
                                   "node x compute engine=x duration=1\nresource x capacity=1\n"
                                   "guard x on\nobject y size=1\n");
    weir_text x = graph_find_text(graph, "x"), y = graph_find_text(graph, "y");

    ck_assert_uint_eq(graph_find_node(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_object(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_domain(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_engine(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_resource(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_guard(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_class(graph, x).index, 0);
    ck_assert_uint_eq(graph_find_object(graph, y).index, 1);
    ck_assert(!weir_is(graph_find_node(graph, y)));
    ck_assert_uint_eq(graph_find_text(graph, "z").index, 0);
    ck_assert(!weir_is(graph_find_node(graph, graph_find_text(graph, "z"))));
    graph_free(graph);
}
END_TEST

START_TEST(defaults_say_where_nodes_work)
{
    struct graph *graph =
        graph_of("weir 1\ndomain d0 capacity=1\ndomain d1 capacity=1\ndomain d2 capacity=1\n"
                 "engine plain\nengine placed domain=d1\nengine copies from=d2 to=d0\n"
                 "object o size=1 domain=d1\nobject v size=1 alias=o\n"
                 "node bare compute duration=1\n"
                 "node on compute engine=placed duration=1\n"
                 "node own compute engine=placed domain=d2 duration=1\n"
                 "node c0 transfer engine=copies object=o duration=1\n"
                 "node c1 transfer engine=plain object=o to=d2 duration=1\n"
                 "node c2 transfer engine=copies from=d0 to=d1 object=o duration=1\n"
                 "node c3 transfer object=v to=d0 duration=1\n"
                 "node c4 transfer duration=1 class=k\n");

    ck_assert_uint_eq(graph_node_domain(graph, node_named(graph, "bare")).index, 0);
    ck_assert_uint_eq(graph_node_domain(graph, node_named(graph, "on")).index, 1);
    ck_assert_uint_eq(graph_node_domain(graph, node_named(graph, "own")).index, 2);
    ck_assert_uint_eq(graph_node_from(graph, node_named(graph, "c0")).index, 2);
    ck_assert_uint_eq(graph_node_to(graph, node_named(graph, "c0")).index, 0);
    ck_assert_uint_eq(graph_node_from(graph, node_named(graph, "c1")).index, 1);
    ck_assert_uint_eq(graph_node_to(graph, node_named(graph, "c1")).index, 2);
    ck_assert_uint_eq(graph_node_from(graph, node_named(graph, "c2")).index, 0);
    ck_assert_uint_eq(graph_node_to(graph, node_named(graph, "c2")).index, 1);
    ck_assert_uint_eq(graph_node_from(graph, node_named(graph, "c3")).index, 1);
    ck_assert(!weir_is(graph_node_from(graph, node_named(graph, "c4"))));
    ck_assert(!weir_is(graph_node_to(graph, node_named(graph, "c4"))));
    weir_class k = graph_node_class(graph, node_named(graph, "c4"));
    ck_assert_str_eq(graph_text(graph, graph_class_name(graph, k)), "k");
    weir_class copies = graph_node_class(graph, node_named(graph, "c0"));
    ck_assert_str_eq(graph_text(graph, graph_class_name(graph, copies)), "copies");
    ck_assert(!weir_is(graph_node_class(graph, node_named(graph, "bare"))));
    graph_free(graph);
}
END_TEST

START_TEST(aliases_lead_to_their_root)
{
    struct graph *graph = graph_of(
        "weir 1\ndomain d capacity=1\ndomain e capacity=1\n"
        "object c size=10 alias=b+5\nobject b size=50 alias=a+20\nobject a size=100 domain=e\n");
    int64_t offset = -1;

    ck_assert_uint_eq(graph_object_root(graph, object_named(graph, "c"), &offset).index,
                      object_named(graph, "a").index);
    ck_assert_int_eq(offset, 25);
    ck_assert_uint_eq(graph_object_root(graph, object_named(graph, "a"), &offset).index,
                      object_named(graph, "a").index);
    ck_assert_int_eq(offset, 0);
    ck_assert_uint_eq(graph_object_home(graph, object_named(graph, "c")).index, 1);
    graph_free(graph);
}
END_TEST

START_TEST(guards_turn_nodes_off)
{
    struct graph *graph = graph_of("weir 1\nguard on on\nguard off off\nnode a barrier guard=on\n"
                                   "node b barrier guard=off\nnode c barrier\n");

    ck_assert(graph_node_is_on(graph, node_named(graph, "a")));
    ck_assert(!graph_node_is_on(graph, node_named(graph, "b")));
    ck_assert(graph_node_is_on(graph, node_named(graph, "c")));
    graph_free(graph);
}
END_TEST

/* Lengths in ns, by hand; -1: nothing says.
 * uniform(1,4): 2.5 -> 3. uniform(0,0): 0. empirical(1,2,2): 5/3 -> 2. empirical(1,1,2): 4/3 -> 1.
 * bytes 10 at 3 B/s with latency 5: 5 + ceil(10e9 / 3) = 5 + 3333333334.
 * A copy of 7 bytes at 3 B/s: 5 + ceil(7e9 / 3) = 5 + 2333333334.
 * The greatest bytes at 3 B/s pass 64 bits; at 1e9 B/s they take 2^63 - 1 ns, with latency too long. */
START_TEST(lengths_follow_from_what_is_given)
{
    static const struct {
        const char *fields;
        int64_t length_ns;
    } cases[] = {
        {"compute duration=12us", 12000},
        {"compute duration=normal(10us,3us)", 10000},
        {"compute duration=lognormal(11us,3us)", 11000},
        {"compute duration=gamma(12us,3us)", 12000},
        {"compute duration=uniform(1,4)", 3},
        {"compute duration=uniform(0,0)", 0},
        {"compute duration=empirical(1,2,2)", 2},
        {"compute duration=empirical(1,1,2)", 1},
        {"compute duration=uniform(9223372036854775807,9223372036854775807)", INT64_MAX},
        {"compute duration=unknown", -1},
        {"compute", -1},
        {"compute bytes=10", -1},
        {"compute engine=none bytes=10", -1},
        {"compute engine=slow bytes=10", 3333333339},
        {"compute engine=slow bytes=0", 5},
        {"compute engine=slow bytes=10 duration=4", 4},
        {"compute engine=slow", -1},
        {"compute engine=slow object=seven", -1},
        {"transfer engine=slow object=seven", 2333333339},
        {"prefetch engine=slow object=seven", 2333333339},
        {"offload engine=slow object=seven", 2333333339},
        {"offload engine=slow object=seven bytes=10", 3333333339},
        {"transfer engine=slow", -1},
        {"compute engine=slow bytes=9223372036854775807", -1},
        {"compute engine=ns bytes=9223372036854775807", INT64_MAX},
        {"compute engine=late bytes=9223372036854775807", -1},
        {"rematerialization", -1},
        {"allocation", 0},
        {"mapping", 0},
        {"reclamation", 0},
        {"barrier", 0},
        {"barrier engine=slow bytes=10", 3333333339},
        {"allocation bytes=10", 0},
        {"barrier duration=unknown", -1},
        {"allocation duration=8", 8},
    };
    char text[512];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)snprintf(text, sizeof text,
                       "weir 1\ndomain d capacity=900\n"
                       "engine none\nengine slow bandwidth=3 latency=5 to=d\n"
                       "engine ns bandwidth=1GB/s\nengine late bandwidth=1GB/s latency=1\n"
                       "object seven size=7\nnode n %s\n",
                       cases[i].fields);
        struct graph *graph = graph_of(text);
        int64_t length_ns = -1;
        bool is_known = graph_node_length_ns(graph, (weir_node){0}, &length_ns);
        ck_assert_msg(length_ns == cases[i].length_ns, "%s: %lld", cases[i].fields,
                      (long long)length_ns);
        ck_assert_msg(is_known == (cases[i].length_ns >= 0), "%s", cases[i].fields);
        graph_free(graph);
    }
}
END_TEST

START_TEST(plain_nodes_are_small)
{
    struct graph *graph = graph_new();
    struct graph_node value = graph_node_default;
    const int64_t duration = 5;
    size_t before = graph_memory_bytes(graph);
    char name[32];

    value.has_duration = true;
    value.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration, 1};
    for (uint32_t i = 0; i < 1 << 16; i++) {
        (void)snprintf(name, sizeof name, "n%u", i);
        value.name = text_of(graph, name);
        (void)add_node(graph, &value);
    }
    /* A row of 48 bytes, the name and its entries; all of it at most doubled by growth. */
    ck_assert_uint_lt((graph_memory_bytes(graph) - before) / (1 << 16), 2 * (48 + 8 + 8 + 8 + 12));
    graph_free(graph);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph");
    TCase *rows = tcase_create("rows"), *defaults = tcase_create("defaults");

    tcase_add_test(rows, node_comes_out_as_it_went_in);
    tcase_add_test(rows, node_is_replaced_by_its_own_value);
    tcase_add_test(rows, node_keeps_its_fixed_duration_and_bytes);
    tcase_add_test(rows, nodes_can_be_copied_within_a_graph);
    tcase_add_test(rows, object_comes_out_as_it_went_in);
    tcase_add_test(rows, names_of_each_sort_are_apart);
    tcase_add_test(rows, plain_nodes_are_small);
    tcase_add_test(defaults, defaults_say_where_nodes_work);
    tcase_add_test(defaults, aliases_lead_to_their_root);
    tcase_add_test(defaults, guards_turn_nodes_off);
    tcase_add_test(defaults, lengths_follow_from_what_is_given);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, defaults);
    return run_suite(suite);
}
