/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran beside what, by hand and against every pair of random schedules. */
#include "judge/overlap.h"

#include "judge/pairs.h"
#include "tests/judge/scene.h"

static int64_t between(const struct timeline_span *a, const struct timeline_span *b)
{
    int64_t from_ns = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
    int64_t to_ns = a->finish_ns < b->finish_ns ? a->finish_ns : b->finish_ns;

    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int64_t of_pair(const struct overlaps *overlaps, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        if (overlaps->pairs[i].a.index == a && overlaps->pairs[i].b.index == b)
            return overlaps->pairs[i].overlap_ns;
    }
    return 0;
}

static enum weir_status find(const struct scene *scene, struct overlaps *out)
{
    weir_node *order;
    uint32_t n_started;
    struct weir_error err;
    enum weir_status status = timeline_order(scene->timeline, &order, &n_started, &err);

    if (status == WEIR_OK)
        status = overlaps_find(scene->graph, scene->timeline, order, n_started, out, &err);
    free(order);
    return status;
}

/* a runs 0-10, b 4-14 and c 6-8 on one engine of three slots, d 5-20 on another; z has no class and runs
 * 0-3, o at 7 for no time. Of class e: ab 6, ac 2, bc 2; e beside f: ad 5, bd 9, cd 2; z beside
 * a: 3. Kappa of e: 10/5, 10/10, 2/2: 22 over 17, the worst a. */
START_TEST(test_by_hand)
{
    struct scene scene;
    struct overlaps overlaps;
    struct overlap_beside *beside;
    struct weir_error err;
    uint32_t e, f;
    size_t n;

    scene_begin(&scene, "weir 1\nengine e slots=3\nengine f\n"
                        "node a compute engine=e duration=5\nnode b compute engine=e duration=10\n"
                        "node c compute engine=e duration=2\nnode d compute engine=f duration=15\n"
                        "node z compute duration=3\nnode o compute engine=e duration=0\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "z", 0, 0, 3, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 4, 4, 14, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 5, 5, 20, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 6, 6, 8, WAIT_NONE, NULL);
    scene_ran(&scene, "o", 7, 7, 7, WAIT_NONE, NULL);
    scene.timeline->spans[0].isolated_ns = 5;
    e = graph_engine(scene.graph, (weir_engine){0})->class_.index;
    f = graph_engine(scene.graph, (weir_engine){1})->class_.index;
    ck_assert_int_eq(find(&scene, &overlaps), WEIR_OK);
    ck_assert_uint_eq(overlaps.n_pairs, 3);
    ck_assert_int_eq(of_pair(&overlaps, e, e), 10);
    ck_assert_int_eq(of_pair(&overlaps, e, f), 16);
    ck_assert_int_eq(of_pair(&overlaps, e, WEIR_NONE), 3);
    ck_assert_uint_eq(overlaps.most_running, 4);
    ck_assert_uint_eq(overlaps.kappa[e].n_nodes, 3);
    ck_assert_int_eq(overlaps.kappa[e].ran_ns, 22);
    ck_assert_int_eq(overlaps.kappa[e].isolated_ns, 17);
    ck_assert_uint_eq(overlaps.kappa[e].worst.index, 0);
    ck_assert_double_eq(overlaps.kappa[e].worst_ratio, 2);
    overlaps_free(&overlaps);

    ck_assert_int_eq(overlaps_beside(scene.timeline, scene_node(&scene, "a"), &beside, &n, &err),
                     WEIR_OK);
    ck_assert_uint_eq(n, 4); /* b 6, d 5, z 3, c 2 */
    ck_assert_uint_eq(beside[0].node.index, scene_node(&scene, "b").index);
    ck_assert_uint_eq(beside[1].node.index, scene_node(&scene, "d").index);
    ck_assert_int_eq(beside[1].overlap_ns, 5);
    ck_assert_uint_eq(beside[2].node.index, scene_node(&scene, "z").index);
    ck_assert_uint_eq(beside[3].node.index, scene_node(&scene, "c").index);
    free(beside);
    scene_end(&scene);
}
END_TEST

/* Half a million nodes' worth of pairs cannot be had here; sums past 64 bits can: two nodes that run
 * for nearly all of time, three times over. */
START_TEST(test_sums_past_64_bits)
{
    struct scene scene;
    struct overlaps overlaps;

    scene_begin(&scene, "weir 1\nengine e slots=3\nnode a compute engine=e duration=1\n"
                        "node b compute engine=e duration=1\nnode c compute engine=e duration=1\n");
    scene_ran(&scene, "a", 0, 0, INT64_MAX, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 0, 0, INT64_MAX, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 1, 1, INT64_MAX - 1, WAIT_NONE, NULL);
    ck_assert_int_eq(find(&scene, &overlaps), WEIR_OK);
    ck_assert_uint_eq(overlaps.n_pairs, 1);
    ck_assert_int_eq(overlaps.pairs[0].overlap_ns, INT64_MAX);
    overlaps_free(&overlaps);
    scene_end(&scene);
}
END_TEST

START_TEST(test_every_pair)
{
    struct scene scene;
    struct overlaps overlaps;
    int64_t total_ns = 0, listed_ns = 0;

    scene_make(&scene, (uint64_t)_i);
    ck_assert_int_eq(find(&scene, &overlaps), WEIR_OK);
    for (uint32_t a = 0; a <= overlaps.n_classes; a++) {
        for (uint32_t b = a; b <= overlaps.n_classes; b++) {
            uint32_t class_a = a == overlaps.n_classes ? WEIR_NONE : a;
            uint32_t class_b = b == overlaps.n_classes ? WEIR_NONE : b;
            int64_t sum_ns = 0;

            for (uint32_t i = 0; i < SCENE_NODES; i++) {
                for (uint32_t j = 0; j < i; j++) {
                    uint32_t of_i = graph_node_class(scene.graph, (weir_node){i}).index;
                    uint32_t of_j = graph_node_class(scene.graph, (weir_node){j}).index;

                    if ((of_i == class_a && of_j == class_b) ||
                        (of_i == class_b && of_j == class_a))
                        sum_ns += between(&scene.timeline->spans[i], &scene.timeline->spans[j]);
                }
            }
            ck_assert_int_eq(of_pair(&overlaps, class_a, class_b), sum_ns);
            total_ns += sum_ns;
        }
    }
    for (size_t i = 0; i < overlaps.n_pairs; i++)
        listed_ns += overlaps.pairs[i].overlap_ns;
    ck_assert_int_eq(listed_ns, total_ns);
    ck_assert_int_gt(total_ns, 0);
    overlaps_free(&overlaps);
    scene_end(&scene);
}
END_TEST

/* More classes than the dense table holds: each of 600 nodes has its own, and node i runs from i to
 * i + 3, so it overlaps the next for 2 and the one after for 1. */
START_TEST(test_very_many_classes)
{
    enum { NODES = 600 };
    static char text[64 * NODES];
    struct scene scene;
    struct overlaps overlaps;
    size_t at = (size_t)snprintf(text, sizeof text, "weir 1\n");

    for (int i = 0; i < NODES; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "node n%d compute duration=3 class=c%d\n", i, i);
    scene_begin(&scene, text);
    for (uint32_t i = 0; i < NODES; i++) {
        struct timeline_span *span = &scene.timeline->spans[i];

        span->start_ns = span->ready_ns = i;
        span->finish_ns = i + 3;
        span->order = i;
    }
    scene.timeline->makespan_ns = NODES + 2;
    ck_assert_int_eq(find(&scene, &overlaps), WEIR_OK);
    ck_assert_uint_eq(overlaps.n_pairs, 2 * NODES - 3);
    for (uint32_t i = 0; i + 2 < NODES; i++) {
        ck_assert_int_eq(of_pair(&overlaps, i, i + 1), 2);
        ck_assert_int_eq(of_pair(&overlaps, i, i + 2), 1);
    }
    overlaps_free(&overlaps);
    scene_end(&scene);
}
END_TEST

/* a beside b is called unknown; a beside c has both factors; b beside c has one, which is not enough. */
START_TEST(test_what_is_hypothetical)
{
    struct scene scene;
    struct overlaps overlaps;
    struct weir_error err;
    bool *is_hypothetical;

    scene_begin(&scene, "weir 1\nengine a\nengine b\nengine c\n"
                        "kappa a c 1.5\nkappa c a 1.5\nkappa b c 2\n"
                        "overlap a b unknown\n"
                        "node na compute engine=a duration=9\nnode nb compute engine=b duration=9\n"
                        "node nc compute engine=c duration=9\n");
    scene_ran(&scene, "na", 0, 0, 9, WAIT_NONE, NULL);
    scene_ran(&scene, "nb", 0, 0, 9, WAIT_NONE, NULL);
    scene_ran(&scene, "nc", 0, 0, 9, WAIT_NONE, NULL);
    ck_assert_int_eq(find(&scene, &overlaps), WEIR_OK);
    ck_assert_uint_eq(overlaps.n_pairs, 3); /* ab, ac, bc */
    for (int by_factor = 0; by_factor < 2; by_factor++) {
        ck_assert_int_eq(
            overlaps_hypothetical(scene.graph, &overlaps, by_factor == 1, &is_hypothetical, &err),
            WEIR_OK);
        ck_assert(is_hypothetical[0]);
        ck_assert(!is_hypothetical[1]);
        ck_assert_int_eq(is_hypothetical[2], by_factor);
        free(is_hypothetical);
    }
    overlaps_free(&overlaps);
    scene_end(&scene);
}
END_TEST

START_TEST(test_pairs_are_sorted)
{
    struct pairs pairs = {NULL, 0, 0};
    struct weir_error err;

    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_int_eq(pairs_add(&pairs, i * 7919 % 50, i * 104729 % 37, 1, &err), WEIR_OK);
    ck_assert_int_eq(pairs_add(&pairs, 3, 5, (pairs_sum)INT64_MAX * 4, &err), WEIR_OK);
    pairs_sort(&pairs);
    for (size_t i = 1; i < pairs.n; i++)
        ck_assert(
            pairs.items[i - 1].a < pairs.items[i].a ||
            (pairs.items[i - 1].a == pairs.items[i].a && pairs.items[i - 1].b < pairs.items[i].b));
    pairs_free(&pairs);
    ck_assert_int_eq(pairs_clamp((pairs_sum)INT64_MAX + 1), INT64_MAX);
    ck_assert_int_eq(pairs_clamped_add(INT64_MAX, 1), INT64_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlap");
    TCase *tests = tcase_create("overlap");

    tcase_add_test(tests, test_by_hand);
    tcase_add_test(tests, test_sums_past_64_bits);
    tcase_add_loop_test(tests, test_every_pair, 0, 200);
    tcase_add_test(tests, test_very_many_classes);
    tcase_add_test(tests, test_what_is_hypothetical);
    tcase_add_test(tests, test_pairs_are_sorted);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
