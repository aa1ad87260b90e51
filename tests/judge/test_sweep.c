/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one sweep finds is what the three find alone. */
#include "judge/sweep.h"

#include "tests/judge/scene.h"

static void check_stalls(const struct stalls *a, const struct stalls *b)
{
    ck_assert_uint_eq(a->n_engines, b->n_engines);
    ck_assert_mem_eq(a->engines, b->engines, a->n_engines * sizeof *a->engines);
    ck_assert_int_eq(a->exposed_ns, b->exposed_ns);
    ck_assert_uint_eq(a->n_between, b->n_between);
    for (size_t i = 0; i < a->n_between; i++)
        ck_assert_int_eq(a->between[i].exposed_ns, b->between[i].exposed_ns);
    ck_assert_uint_eq(a->n_longest, b->n_longest);
    for (uint32_t i = 0; i < a->n_longest; i++)
        ck_assert_uint_eq(a->longest[i].ends.index, b->longest[i].ends.index);
}

static void check_overlaps(const struct overlaps *a, const struct overlaps *b)
{
    ck_assert_uint_eq(a->n_pairs, b->n_pairs);
    for (size_t i = 0; i < a->n_pairs; i++)
        ck_assert_int_eq(a->pairs[i].overlap_ns, b->pairs[i].overlap_ns);
    ck_assert_uint_eq(a->most_running, b->most_running);
    for (uint32_t i = 0; i <= a->n_classes; i++)
        ck_assert_int_eq(a->kappa[i].ran_ns, b->kappa[i].ran_ns);
}

static void check_waiting(const struct waiting *a, const struct waiting *b)
{
    ck_assert_uint_eq(a->n_groups, b->n_groups);
    for (uint32_t i = 0; i < a->n_groups; i++) {
        ck_assert_uint_eq(a->groups[i].group.index, b->groups[i].group.index);
        ck_assert_uint_eq(a->groups[i].first.index, b->groups[i].first.index);
        ck_assert_int_eq(a->groups[i].total_ns, b->groups[i].total_ns);
        ck_assert_uint_eq(a->groups[i].longest.index, b->groups[i].longest.index);
    }
    ck_assert_uint_eq(a->n_over, b->n_over);
    ck_assert_uint_eq(a->n_longest, b->n_longest);
    for (uint32_t i = 0; i < a->n_longest; i++) {
        ck_assert_uint_eq(a->longest[i].node.index, b->longest[i].node.index);
        ck_assert_uint_eq(a->longest[i].n_passers, b->longest[i].n_passers);
    }
}

START_TEST(test_one_sweep_is_three)
{
    const struct waiting_options options = {5, 7};
    struct scene scene;
    struct bound_index *index;
    struct stalls stalls[2];
    struct overlaps overlaps[2];
    struct waiting waiting[2];
    struct weir_error err;
    const weir_node *order;
    uint32_t n_started;

    scene_make(&scene, (uint64_t)_i);
    index = scene_index(&scene, false);
    order = bound_order(index, &n_started);
    ck_assert_uint_eq(n_started, SCENE_NODES);
    ck_assert_int_eq(sweep_find(index, &options, &stalls[0], &overlaps[0], &waiting[0], &err),
                     WEIR_OK);
    ck_assert_int_eq(stalls_find(index, NULL, NULL, &stalls[1], &err), WEIR_OK);
    ck_assert_int_eq(
        overlaps_find(scene.graph, scene.timeline, order, n_started, &overlaps[1], &err), WEIR_OK);
    ck_assert_int_eq(waiting_find(scene.graph, scene.timeline, &options, &waiting[1], &err),
                     WEIR_OK);
    check_stalls(&stalls[0], &stalls[1]);
    check_overlaps(&overlaps[0], &overlaps[1]);
    check_waiting(&waiting[0], &waiting[1]);
    for (int i = 0; i < 2; i++) {
        stalls_free(&stalls[i]);
        overlaps_free(&overlaps[i]);
        waiting_free(&waiting[i]);
    }
    bound_index_free(index);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");

    tcase_add_loop_test(tests, test_one_sweep_is_three, 0, 100);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
