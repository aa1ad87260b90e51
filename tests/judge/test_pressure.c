/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves and holds whose peaks and integrals are known. */
#include "judge/pressure.h"

#include "tests/judge/scene.h"

static void add_pressure(struct scene *scene, uint32_t domain, int64_t t_ns, int64_t bytes)
{
    const struct timeline_pressure row = {{domain}, t_ns, bytes};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_pressure(scene->timeline, &row, &err), WEIR_OK);
}

static void add_hold(struct scene *scene, uint32_t domain, const char *object, const char *node,
                     int64_t bytes, int64_t acquire_ns, int64_t release_ns)
{
    const struct timeline_hold row = {
        {domain},
        object == NULL ? (weir_object){WEIR_NONE}
                       : graph_find_object(scene->graph, graph_find_text(scene->graph, object)),
        node == NULL ? (weir_node){WEIR_NONE} : scene_node(scene, node),
        bytes,
        acquire_ns,
        release_ns};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_hold(scene->timeline, &row, &err), WEIR_OK);
}

static struct pressure_domain *find(const struct scene *scene)
{
    struct pressure_domain *found;
    struct weir_error err;

    ck_assert_int_eq(pressure_find(scene->graph, scene->timeline, &found, &err), WEIR_OK);
    return found;
}

/* Domain m holds x (100) from 0 on, the workspace of a (50) from 10 to 30, the staging of t (50) from
 * 30 to 45 and of u (50) from 50 to 60. So 100 to 10, 150 to 45, 100 to 50, 150 to 60, 100 to 100: at
 * its peak of 150 first at 10, for 45 in all; 100 * 55 + 150 * 45 = 12250. Nobody knows of domain n. */
START_TEST(test_by_hand)
{
    struct scene scene;
    struct pressure_domain *found;
    char text[BYTE_NS_TEXT];

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\ndomain n capacity=1000\nengine e\n"
                        "object x size=100 initial retained\n"
                        "node a compute engine=e duration=20 workspace=50\n"
                        "node t transfer engine=e duration=5 staging=50\n"
                        "node u transfer engine=e duration=5 staging=50\n");
    scene.timeline->makespan_ns = 100;
    add_pressure(&scene, 0, 0, 100);
    add_pressure(&scene, 0, 10, 150);
    add_pressure(&scene, 0, 45, 100);
    add_pressure(&scene, 0, 50, 150);
    add_pressure(&scene, 0, 60, 100);
    add_hold(&scene, 0, "x", NULL, 100, 0, -1);
    add_hold(&scene, 0, NULL, "a", 50, 10, 30);
    add_hold(&scene, 0, NULL, "t", 50, 30, 45);
    add_hold(&scene, 0, NULL, "u", 50, 50, 60);
    found = find(&scene);
    ck_assert(found[0].is_known);
    ck_assert_int_eq(found[0].peak_bytes, 150);
    ck_assert_int_eq(found[0].peak_at_ns, 10);
    ck_assert_int_eq(found[0].peak_for_ns, 45);
    byte_ns_text(found[0].integral, text);
    ck_assert_str_eq(text, "12250");
    ck_assert_uint_eq(found[0].n_held, 2);
    ck_assert_int_eq(found[0].held_bytes, 150);
    ck_assert_uint_eq(found[0].n_holders, 2);
    ck_assert_uint_eq(found[0].holders[0], 0);
    ck_assert_uint_eq(found[0].holders[1], 1);
    /* Workspace is none of it. */
    ck_assert_uint_eq(found[0].n_stagings, 2);
    ck_assert_int_eq(found[0].staging_longest_ns, 15);
    ck_assert_uint_eq(found[0].staging_longest.index, scene_node(&scene, "t").index);
    ck_assert_int_eq(found[0].staging_ns, 25);
    byte_ns_text(found[0].staging_integral, text);
    ck_assert_str_eq(text, "1250");
    ck_assert(!found[1].is_known);
    free(found);
    scene_end(&scene);
}
END_TEST

/* Twelve objects of rising size at once: the ten largest are told of. */
START_TEST(test_the_largest_holders)
{
    struct scene scene;
    struct pressure_domain *found;
    char text[512] = "weir 1\ndomain m capacity=1000\n", name[16];
    size_t at = strlen(text);

    for (int i = 0; i < 12; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "object o%d size=%d initial\n", i,
                               i / 2 + 1);
    scene_begin(&scene, text);
    scene.timeline->makespan_ns = 1;
    add_pressure(&scene, 0, 0, 42);
    for (int i = 0; i < 12; i++) {
        (void)snprintf(name, sizeof name, "o%d", i);
        add_hold(&scene, 0, name, NULL, i / 2 + 1, 0, -1);
    }
    found = find(&scene);
    ck_assert_uint_eq(found[0].n_held, 12);
    ck_assert_int_eq(found[0].held_bytes, 42);
    ck_assert_uint_eq(found[0].n_holders, PRESSURE_HOLDERS);
    for (size_t i = 0; i < PRESSURE_HOLDERS; i++) /* 10, 11, 8, 9, ... */
        ck_assert_uint_eq(found[0].holders[i], 10 - i / 2 * 2 + i % 2);
    free(found);
    scene_end(&scene);
}
END_TEST

/* More than 64 bits hold: 2^62 bytes for 2^62 ns are 2^124. */
START_TEST(test_wide_integrals)
{
    struct scene scene;
    struct pressure_domain *found;
    char text[BYTE_NS_TEXT];

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\n");
    scene.timeline->makespan_ns = INT64_C(1) << 62;
    add_pressure(&scene, 0, 0, INT64_C(1) << 62);
    found = find(&scene);
    byte_ns_text(found[0].integral, text);
    ck_assert_str_eq(text, "21267647932558653966460912964485513216");
    free(found);
    scene_end(&scene);
    byte_ns_text(0, text);
    ck_assert_str_eq(text, "0");
    byte_ns_show((byte_ns)1500000000 * 1000000000, text);
    ck_assert_str_eq(text, "1.5 GB s");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pressure");
    TCase *tests = tcase_create("pressure");

    tcase_add_test(tests, test_by_hand);
    tcase_add_test(tests, test_the_largest_holders);
    tcase_add_test(tests, test_wide_integrals);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
