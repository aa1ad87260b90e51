/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Critical chains found by hand. */
#include "judge/chain.h"

#include "tests/judge/scene.h"

/* Finds the chain and writes it as "node cause via start-finish; ...". */
static const char *chain_text(const struct scene *scene, char text[512])
{
    int64_t sum_ns = 0;
    struct weir_error err;
    struct run_link *links;
    size_t length = 0, n_links;

    ck_assert_int_eq(chain_find(scene->binding, scene->timeline, &links, &n_links, &err), WEIR_OK);
    text[0] = '\0';
    for (size_t i = 0; i < n_links; i++) {
        const struct run_link *link = &links[i];

        ck_assert_int_eq(link->start_ns, i == 0 ? 0 : links[i - 1].finish_ns);
        sum_ns += link->finish_ns - link->start_ns;
        length += (size_t)snprintf(
            text + length, 512 - length, "%s%s %s%s%s %d-%d", i == 0 ? "" : "; ",
            graph_node_name(scene->graph, link->node), link->cause, link->via == NULL ? "" : " ",
            link->via == NULL ? "" : link->via, (int)link->start_ns, (int)link->finish_ns);
    }
    ck_assert_int_eq(sum_ns, scene->timeline->makespan_ns);
    free(links);
    return text;
}

/* b follows a with a lag of 5; c waits on b's engine until b ends; d was over long ago. */
START_TEST(test_edges_and_engines)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\nengine e\nengine f\n"
                        "node a compute engine=f duration=10\n"
                        "node d compute engine=f duration=3\n"
                        "node b compute engine=e duration=20\n"
                        "node c compute engine=e duration=30\n"
                        "edge a b ordering lag=5\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 0, 10, 13, WAIT_ENGINE, "a");
    scene_ran(&scene, "b", 15, 15, 35, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 20, 35, 65, WAIT_ENGINE, "b");
    ck_assert_str_eq(chain_text(&scene, text),
                     "a begin 0-10; b predecessor ordering 10-35; c engine 35-65");
    scene_end(&scene);
}
END_TEST

/* b starts 5 after the start of a, and ends before it. */
START_TEST(test_edges_from_a_start)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene,
                "weir 1\nengine e\nengine f\nengine g\n"
                "node z compute engine=e duration=10\n"
                "node a compute engine=f duration=50\n"
                "node b compute engine=g duration=20\n"
                "node c compute engine=g duration=90\n"
                "edge z a ordering\nedge a b ordering from=start lag=5\nedge b c ordering\n");
    scene_ran(&scene, "z", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "a", 10, 10, 60, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 15, 15, 35, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 35, 35, 125, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text),
                     "z begin 0-10; a predecessor ordering 10-10; b predecessor ordering 10-35; "
                     "c predecessor ordering 35-125");
    scene_end(&scene);
}
END_TEST

/* The reader of x waits for bytes that hog gives back; hog was released at 7. */
START_TEST(test_bytes_and_releases)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\nengine e\nengine f\n"
                        "object x size=10\n"
                        "node hog compute engine=e duration=10 workspace=995 release=7\n"
                        "node writer compute engine=f duration=20 writes=x\n"
                        "node reader compute engine=f duration=1 reads=x\n");
    scene_ran(&scene, "hog", 7, 7, 17, WAIT_NONE, NULL);
    scene_ran(&scene, "writer", 0, 17, 37, WAIT_CAPACITY, "hog");
    scene_ran(&scene, "reader", 37, 37, 38, WAIT_NONE, NULL);
    ck_assert_str_eq(
        chain_text(&scene, text),
        "hog release 0-17; writer capacity 17-37; reader predecessor data-ready 37-38");
    scene_end(&scene);
}
END_TEST

/* The policy holds b, which a made ready at 10, until 30. */
START_TEST(test_a_node_that_was_held)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene, "weir 1\nengine e\n"
                        "node a compute engine=e duration=10\n"
                        "node b compute engine=e duration=10\n"
                        "edge a b ordering\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 10, 30, 40, WAIT_ADMISSION, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "a begin 0-10; b admission ordering 10-40");
    scene_end(&scene);
}
END_TEST

/* off does not run and passes on what a did; give gave way at 50, and stand stood in for it. */
START_TEST(test_what_does_not_run_is_no_link)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene, "weir 1\nengine e\nengine f\nguard g off\n"
                        "node a compute engine=e duration=10\n"
                        "node off compute engine=e duration=10 guard=g\n"
                        "node b compute engine=e duration=10\n"
                        "edge a off ordering\nedge off b ordering\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene.timeline->spans[scene_node(&scene, "off").index].ready_ns = 10;
    scene_ran(&scene, "b", 10, 10, 20, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "a begin 0-10; b predecessor ordering 10-20");
    scene_end(&scene);

    scene_begin(&scene, "weir 1\nengine e\nengine f\n"
                        "node busy compute engine=e duration=90\n"
                        "node give compute engine=e duration=10 deadline=60 fallback=stand\n"
                        "node stand compute engine=f duration=70\n");
    scene_ran(&scene, "busy", 0, 0, 90, WAIT_NONE, NULL);
    scene_ran(&scene, "stand", 50, 50, 120, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "stand window 0-120");
    scene_end(&scene);
}
END_TEST

START_TEST(test_nothing_ran)
{
    struct scene scene;
    char text[512];

    scene_begin(&scene, "weir 1\nengine e\nnode a compute engine=e duration=10\n");
    ck_assert_str_eq(chain_text(&scene, text), "");
    scene_end(&scene);
}
END_TEST

/* Whatever the schedule, the links lie end to end from 0 to the makespan. */
START_TEST(test_links_add_up)
{
    struct scene scene;
    struct weir_error err;
    struct run_link *links;
    size_t n_links;
    int64_t at_ns = 0;

    scene_make(&scene, (uint64_t)_i);
    ck_assert_int_eq(chain_find(scene.binding, scene.timeline, &links, &n_links, &err), WEIR_OK);
    for (size_t i = 0; i < n_links; i++) {
        ck_assert_int_eq(links[i].start_ns, at_ns);
        ck_assert_int_ge(links[i].finish_ns, at_ns);
        ck_assert_str_ne(links[i].cause, "unknown");
        at_ns = links[i].finish_ns;
    }
    ck_assert_int_eq(at_ns, scene.timeline->makespan_ns);
    free(links);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chain");
    TCase *tests = tcase_create("chain");

    tcase_add_test(tests, test_edges_and_engines);
    tcase_add_test(tests, test_edges_from_a_start);
    tcase_add_test(tests, test_bytes_and_releases);
    tcase_add_test(tests, test_a_node_that_was_held);
    tcase_add_test(tests, test_what_does_not_run_is_no_link);
    tcase_add_test(tests, test_nothing_ran);
    tcase_add_loop_test(tests, test_links_add_up, 0, 300);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
