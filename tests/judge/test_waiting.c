/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits by hand, and random schedules counted again. */
#include "judge/waiting.h"

#include "tests/judge/scene.h"

static void find(const struct scene *scene, int64_t bound_ns, uint32_t n_most, struct waiting *out)
{
    const struct waiting_options options = {bound_ns, n_most};
    struct weir_error err;

    ck_assert_int_eq(waiting_find(scene->graph, scene->timeline, &options, out, &err), WEIR_OK);
}

static void add_wait(struct scene *scene, const char *name, enum wait_cause cause, int64_t from_ns,
                     int64_t to_ns)
{
    const struct timeline_wait wait = {
        scene_node(scene, name), cause, {WEIR_NONE}, {WEIR_NONE}, from_ns, to_ns};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_wait(scene->timeline, &wait, &err), WEIR_OK);
}

/* One engine. long runs from 0 to 10; poor, of group g, is ready at 1, and rich, ready at 5 and of
 * higher priority, and late, ready at 12, pass it: it starts at 30, having waited 29. early was ready
 * before it and passes nobody. other is on an engine of its own. */
static void tell(struct scene *scene)
{
    scene_begin(scene, "weir 1\nengine e\nengine f\n"
                       "node long compute engine=e duration=10\n"
                       "node poor compute engine=e duration=5 group=g\n"
                       "node early compute engine=e duration=2\n"
                       "node rich compute engine=e duration=8 group=h\n"
                       "node late compute engine=e duration=10 group=g\n"
                       "node other compute engine=f duration=4\n");
    scene_ran(scene, "long", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(scene, "other", 7, 7, 11, WAIT_NONE, NULL);
    scene_ran(scene, "early", 0, 10, 12, WAIT_ENGINE, "long");
    scene_ran(scene, "rich", 5, 12, 20, WAIT_ENGINE, "early");
    scene_ran(scene, "late", 12, 20, 30, WAIT_ENGINE, "rich");
    scene_ran(scene, "poor", 1, 30, 35, WAIT_ENGINE, "late");
    add_wait(scene, "early", WAIT_ENGINE, 0, 10);
    add_wait(scene, "rich", WAIT_CAPACITY, 5, 9);
    add_wait(scene, "rich", WAIT_ENGINE, 9, 12);
    add_wait(scene, "late", WAIT_ENGINE, 12, 20);
    add_wait(scene, "poor", WAIT_ENGINE, 1, 30);
}

START_TEST(test_by_hand)
{
    struct scene scene;
    struct waiting waiting;

    tell(&scene);
    find(&scene, 9, 2, &waiting);
    ck_assert_uint_eq(waiting.causes[WAIT_ENGINE].n_waits, 4);
    ck_assert_int_eq(waiting.causes[WAIT_ENGINE].total_ns, 50);
    ck_assert_int_eq(waiting.causes[WAIT_ENGINE].longest_ns, 29);
    ck_assert_int_eq(waiting.causes[WAIT_CAPACITY].total_ns, 4);
    ck_assert_uint_eq(waiting.n_waited, 4);
    ck_assert_uint_eq(waiting.n_over, 2); /* early 10, poor 29 */
    ck_assert_int_eq(waiting.longest_ns, 29);

    /* Groups as their first nodes stand: g, h, and those without, which come last. */
    ck_assert_uint_eq(waiting.n_groups, 3);
    ck_assert_str_eq(graph_text(scene.graph, waiting.groups[0].group), "g");
    ck_assert_int_eq(waiting.groups[0].longest_ns, 29);
    ck_assert_int_eq(waiting.groups[0].total_ns, 37);
    ck_assert_uint_eq(waiting.groups[0].n_nodes, 2);
    ck_assert_uint_eq(waiting.groups[0].n_over, 1);
    ck_assert_str_eq(graph_text(scene.graph, waiting.groups[1].group), "h");
    ck_assert_uint_eq(waiting.groups[2].group.index, 0);
    ck_assert_uint_eq(waiting.groups[2].n_nodes, 3);
    ck_assert_uint_eq(waiting.groups[2].n_waited, 1);

    ck_assert_uint_eq(waiting.n_longest, 2);
    ck_assert_uint_eq(waiting.longest[0].node.index, scene_node(&scene, "poor").index);
    ck_assert_uint_eq(waiting.longest[0].n_passers, 2);
    ck_assert_uint_eq(waiting.longest[0].passers[0].index, scene_node(&scene, "rich").index);
    ck_assert_uint_eq(waiting.longest[0].passers[1].index, scene_node(&scene, "late").index);
    ck_assert_uint_eq(waiting.longest[1].node.index, scene_node(&scene, "early").index);
    ck_assert_uint_eq(waiting.longest[1].n_passers, 0);
    waiting_free(&waiting);

    find(&scene, -1, 0, &waiting); /* no bound, no list */
    ck_assert(!waiting.has_bound);
    ck_assert_uint_eq(waiting.n_over, 0);
    ck_assert_uint_eq(waiting.n_longest, 0);
    waiting_free(&waiting);
    scene_end(&scene);
}
END_TEST

/* The run ended in a shortage: b was ready at 4 and lacked bytes to the end; c was never ready. */
START_TEST(test_who_waits_still)
{
    struct scene scene;
    struct waiting waiting;

    scene_begin(&scene, "weir 1\nengine e\nengine f\n"
                        "node a compute engine=e duration=10\n"
                        "node b compute engine=f duration=10\n"
                        "node c compute engine=f duration=10\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene.timeline->spans[1].ready_ns = 4;
    scene.timeline->spans[1].cause = WAIT_CAPACITY;
    scene.timeline->status = RUN_SHORTAGE;
    find(&scene, 5, 10, &waiting);
    ck_assert_uint_eq(waiting.n_longest, 1);
    ck_assert_int_eq(waiting.longest[0].to_ns, 10);
    ck_assert(!waiting.longest[0].has_started);
    ck_assert_uint_eq(waiting.n_over, 1);
    waiting_free(&waiting);
    scene_end(&scene);
}
END_TEST

START_TEST(test_counted_again)
{
    struct scene scene;
    struct waiting waiting;
    const struct timeline_span *spans;
    int64_t last_ns = INT64_MAX;
    uint64_t n_over = 0;

    scene_make(&scene, (uint64_t)_i);
    spans = scene.timeline->spans;
    find(&scene, 10, _i % 2 == 0 ? 8 : 1,
         &waiting); /* of one, fewer nodes are asked than of eight */
    for (uint32_t i = 0; i < SCENE_NODES; i++)
        n_over += spans[i].start_ns - spans[i].ready_ns > 10;
    ck_assert_uint_eq(waiting.n_over, n_over);
    for (uint32_t i = 1; i < waiting.n_groups; i++)
        ck_assert(waiting.groups[i].group.index == 0 ||
                  waiting.groups[i - 1].first.index < waiting.groups[i].first.index);
    for (uint32_t i = 0; i < waiting.n_groups; i++)
        ck_assert_uint_eq(graph_node_group(scene.graph, waiting.groups[i].first).index,
                          waiting.groups[i].group.index);
    for (uint32_t i = 0; i < waiting.n_longest; i++) {
        const struct waiting_event *event = &waiting.longest[i];
        weir_engine engine = graph_node_engine(scene.graph, event->node);
        uint64_t n_passers = 0, n_longer = 0;

        ck_assert_int_le(event->to_ns - event->from_ns, last_ns);
        last_ns = event->to_ns - event->from_ns;
        for (uint32_t j = 0; j < SCENE_NODES; j++) {
            n_passers += weir_is(engine) &&
                         weir_same(graph_node_engine(scene.graph, (weir_node){j}), engine) &&
                         spans[j].ready_ns > event->from_ns && spans[j].ready_ns < event->to_ns &&
                         spans[j].order < spans[event->node.index].order;
            n_longer += spans[j].start_ns - spans[j].ready_ns > last_ns;
        }
        ck_assert_uint_eq(event->n_passers, n_passers);
        ck_assert_uint_le(n_longer, i);
    }
    waiting_free(&waiting);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("waiting");
    TCase *tests = tcase_create("waiting");

    tcase_add_test(tests, test_by_hand);
    tcase_add_test(tests, test_who_waits_still);
    tcase_add_loop_test(tests, test_counted_again, 0, 200);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
