/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a node started then, and what a makespan is made of: by hand, and held against every node of
 * random schedules. */
#include "judge/why.h"

#include "judge/chain.h"
#include "judge/makeup.h"
#include "tests/judge/scene.h"

static struct why ask(const struct scene *scene, const char *name)
{
    struct bound_index *index = scene_index(scene, false);
    struct why why;
    struct weir_error err;

    ck_assert_int_eq(why_find(index, scene_node(scene, name), &why, &err), WEIR_OK);
    bound_index_free(index);
    return why;
}

/* c follows a (to 10) and b (to 7, and a lag of 1), is released at 4, and its engine is free from 3 on,
 * when d ends. Without a it could start at 8; without what b does nothing changes for it. e waited for
 * the slot until c ended at 15, and was ready at 6: with c gone, d held the slot until 3, and its edge
 * from f until 6. */
START_TEST(test_by_hand)
{
    struct scene scene;
    struct why why;

    scene_begin(&scene, "weir 1\nengine x\nengine y\nengine z\nengine w\n"
                        "node a compute engine=x duration=10\n"
                        "node b compute engine=y duration=7\n"
                        "node d compute engine=z duration=3\n"
                        "node f compute engine=w duration=6\n"
                        "node c compute engine=z duration=5 release=4 priority=1\n"
                        "node e compute engine=z duration=5\n"
                        "edge a c ordering\nedge b c ordering lag=1\nedge f e ordering\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 0, 0, 7, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 0, 0, 3, WAIT_NONE, NULL);
    scene_ran(&scene, "f", 0, 0, 6, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 10, 10, 15, WAIT_NONE, NULL);
    scene_ran(&scene, "e", 6, 15, 20, WAIT_ENGINE, "c");

    why = ask(&scene, "c");
    ck_assert_int_eq(why.bound.cause, BOUND_PREDECESSOR);
    ck_assert_uint_eq(why.bound.node.index, scene_node(&scene, "a").index);
    ck_assert_int_eq(why.next.cause, BOUND_PREDECESSOR);
    ck_assert_uint_eq(why.next.node.index, scene_node(&scene, "b").index);
    ck_assert_int_eq(why.next.until_ns, 8);
    ck_assert_int_eq(why.sooner_ns, 2);
    ck_assert_uint_eq(why.n_followers, 1);
    ck_assert_uint_eq(why.followers[0].node.index, scene_node(&scene, "e").index);

    why = ask(&scene, "e");
    ck_assert_int_eq(why.bound.cause, BOUND_ENGINE);
    ck_assert_int_eq(why.next.cause, BOUND_PREDECESSOR);
    ck_assert_uint_eq(why.next.node.index, scene_node(&scene, "f").index);
    ck_assert_int_eq(why.sooner_ns, 9);
    scene_end(&scene);
}
END_TEST

/* Two slots. c and d were running when a, released at 20, could have started for all else from 0 on:
 * both ran to 12, so a slot was free from 12 on. With e, of 18, too, not before 12 still: the second
 * latest of those that had to make room. */
START_TEST(test_two_slots)
{
    struct scene scene;
    struct why why;

    scene_begin(&scene, "weir 1\nengine x slots=2\n"
                        "node c compute engine=x duration=12\n"
                        "node d compute engine=x duration=12\n"
                        "node e compute engine=x duration=6\n"
                        "node a compute engine=x duration=1 release=20\n");
    scene_ran(&scene, "c", 0, 0, 12, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 0, 0, 12, WAIT_NONE, NULL);
    scene_ran(&scene, "e", 0, 12, 18, WAIT_ENGINE, "c");
    scene_ran(&scene, "a", 20, 20, 21, WAIT_NONE, NULL);
    why = ask(&scene, "a");
    ck_assert_int_eq(why.bound.cause, BOUND_RELEASE);
    ck_assert_int_eq(why.next.cause, BOUND_ENGINE);
    ck_assert_int_eq(why.next.until_ns, 12);
    ck_assert_int_eq(why.sooner_ns, 8);
    ck_assert(why.engine_is_known);
    scene_end(&scene);
}
END_TEST

/* The policy held b, which a made ready at 10: without the policy it would have started then. */
START_TEST(test_admission)
{
    struct scene scene;
    struct why why;

    scene_begin(&scene, "weir 1\nengine e\nnode a compute engine=e duration=10\n"
                        "node b compute engine=e duration=10\nedge a b ordering\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 10, 30, 40, WAIT_ADMISSION, NULL);
    why = ask(&scene, "b");
    ck_assert_int_eq(why.bound.cause, BOUND_ADMISSION);
    ck_assert_int_eq(why.next.until_ns, 10);
    ck_assert_int_eq(why.sooner_ns, 20);
    scene_end(&scene);
}
END_TEST

/* Nothing that is asked for sooner than it was, and followers are those whose bound names the node. */
START_TEST(test_every_node)
{
    struct scene scene;
    struct bound_index *index;
    struct weir_error err;

    scene_make(&scene, (uint64_t)_i);
    index = scene_index(&scene, false);
    for (uint32_t i = 0; i < SCENE_NODES; i++) {
        struct why why;
        uint64_t n_followers = 0;

        ck_assert_int_eq(why_find(index, (weir_node){i}, &why, &err), WEIR_OK);
        ck_assert_int_ge(why.sooner_ns, 0);
        ck_assert_int_le(why.sooner_ns, scene.timeline->spans[i].start_ns);
        for (uint32_t j = 0; j < SCENE_NODES; j++)
            n_followers += bound_of_start(index, (weir_node){j}).node.index == i;
        ck_assert_uint_eq(why.n_followers, n_followers);
    }
    bound_index_free(index);
    scene_end(&scene);
}
END_TEST

/* Engines, kinds and waits add up to the makespan, and so do the stretches; the costliest links are. */
START_TEST(test_it_adds_up)
{
    struct scene scene;
    struct bound_index *index;
    struct run_link *links;
    struct makeup makeup;
    struct weir_error err;
    size_t n_links, n_of_stretches = 0, n, *longest;
    int64_t engines_ns = 0, kinds_ns = 0, waited_ns = 0, at_ns = 0;

    scene_make(&scene, (uint64_t)_i);
    index = scene_index(&scene, false);
    ck_assert_int_eq(chain_walk(index, &links, &n_links, &err), WEIR_OK);
    ck_assert_int_eq(makeup_find(index, links, n_links, &makeup, &err), WEIR_OK);
    for (uint32_t i = 0; i < makeup.n_engines; i++)
        engines_ns += makeup.engines[i].ran_ns;
    for (int i = 0; i < NODE_KINDS; i++)
        kinds_ns += makeup.kind_ns[i];
    for (int i = 0; i < STALL_CAUSES; i++)
        waited_ns += makeup.waited_ns[i];
    ck_assert_int_eq(engines_ns, makeup.ran_ns);
    ck_assert_int_eq(kinds_ns, makeup.ran_ns);
    ck_assert_int_eq(makeup.ran_ns + waited_ns, scene.timeline->makespan_ns);
    ck_assert_int_eq(makeup.waited_ns[STALL_UNKNOWN], 0);
    for (size_t i = 0; i < makeup.n_stretches; i++) {
        ck_assert_uint_eq(makeup.stretches[i].first, n_of_stretches);
        ck_assert_int_eq(makeup.stretches[i].start_ns, at_ns);
        at_ns = makeup.stretches[i].finish_ns;
        n_of_stretches += makeup.stretches[i].n_links;
    }
    ck_assert_uint_eq(n_of_stretches, n_links);
    ck_assert_int_eq(at_ns, scene.timeline->makespan_ns);
    for (uint32_t i = 1; i < makeup.n_longest; i++)
        ck_assert_int_ge(links[makeup.longest[i - 1]].finish_ns -
                             links[makeup.longest[i - 1]].start_ns,
                         links[makeup.longest[i]].finish_ns - links[makeup.longest[i]].start_ns);
    ck_assert_int_eq(makeup_longest_stretches(&makeup, 3, &longest, &n, &err), WEIR_OK);
    ck_assert_uint_le(n, 3);
    for (size_t i = 1; i < n; i++)
        ck_assert_uint_lt(longest[i - 1], longest[i]);
    free(longest);
    free(links);
    makeup_free(&makeup);
    bound_index_free(index);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("why");
    TCase *tests = tcase_create("why");

    tcase_add_test(tests, test_by_hand);
    tcase_add_test(tests, test_two_slots);
    tcase_add_test(tests, test_admission);
    tcase_add_loop_test(tests, test_every_node, 0, 100);
    tcase_add_loop_test(tests, test_it_adds_up, 0, 200);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
