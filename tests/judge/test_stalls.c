/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stalls found by hand, and random schedules whose every idle nanosecond is asked for its cause. */
#include "judge/stalls.h"

#include "tests/judge/scene.h"

/* Parts as "engine ends cause [on] from-to; ...". */
struct told {
    const struct graph *graph;
    char text[1024];
    size_t length;
};

static enum weir_status tell(void *arg, const struct stall_part *part, struct weir_error *err)
{
    struct told *told = arg;
    weir_text engine = graph_engine(told->graph, part->engine)->name;

    (void)err;
    told->length +=
        (size_t)snprintf(told->text + told->length, sizeof told->text - told->length,
                         "%s%s %s %s%s%s %d-%d", told->length == 0 ? "" : "; ",
                         graph_text(told->graph, engine), graph_node_name(told->graph, part->ends),
                         stall_cause_name(part->cause), weir_is(part->on) ? " " : "",
                         weir_is(part->on) ? graph_node_name(told->graph, part->on) : "",
                         (int)part->from_ns, (int)part->to_ns);
    return WEIR_OK;
}

static void find(const struct scene *scene, struct told *told, struct stalls *out)
{
    struct bound_index *index = scene_index(scene, false);
    struct weir_error err;

    *told = (struct told){.graph = scene->graph};
    ck_assert_int_eq(stalls_find(index, tell, told, out, &err), WEIR_OK);
    bound_index_free(index);
}

/* gpu runs a from 0 to 10 and b from 47 to 50. b reads what load brings from 27 to 47, which could not
 * start before the bytes that spill gives back at 25, and then waited for its lag of 2; spill runs from
 * 5 to 25 on the same copy engine. So gpu is idle from 10 to 47: 20 of them a transfer ran, before
 * that 2 of lag, before that, from 10 to 25, load lacked bytes that spill gave back. The copy engine
 * is idle from 0 to 5, waiting for a release, and from 25 to 27 for the lag; it is drained from 47 on:
 * 3 to the makespan of 50. */
START_TEST(test_by_hand)
{
    struct scene scene;
    struct stalls stalls;
    struct told told;

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\nengine gpu\nengine copy\nengine idle\n"
                        "node a compute engine=gpu duration=10\n"
                        "node spill offload engine=copy duration=20 release=5\n"
                        "node load prefetch engine=copy duration=20\n"
                        "node b compute engine=gpu duration=3\n"
                        "edge spill load ordering lag=2\nedge load b ordering\n");
    scene_ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "spill", 5, 5, 25, WAIT_NONE, NULL);
    scene_ran(&scene, "load", 27, 27, 47, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 47, 47, 50, WAIT_NONE, NULL);
    find(&scene, &told, &stalls);
    ck_assert_str_eq(told.text, "copy spill release 0-5; copy load lag 25-27; "
                                "gpu b transfer load 27-47; gpu b lag 25-27; "
                                "gpu b transfer spill 10-25");
    ck_assert_int_eq(stalls.engines[0].busy_ns, 13);
    ck_assert_int_eq(stalls.engines[0].exposed_ns, 37);
    ck_assert_int_eq(stalls.engines[0].drained_ns, 0);
    ck_assert_int_eq(stalls.engines[1].exposed_ns, 7);
    ck_assert_int_eq(stalls.engines[1].drained_ns, 3);
    ck_assert_uint_eq(stalls.engines[2].n_nodes, 0);
    ck_assert_int_eq(stalls.exposed_ns, 44);
    ck_assert_int_eq(stalls.by_cause_ns[STALL_TRANSFER], 35);
    ck_assert_uint_eq(stalls.n_longest, 3);
    ck_assert_int_eq(stalls.longest[0].end_ns, 47);
    ck_assert_int_eq(stalls.longest[0].cause, STALL_TRANSFER);
    ck_assert_uint_eq(stalls.longest[0].on.index, scene_node(&scene, "load").index);

    /* The same, when load waited for the bytes and not for an edge. */
    scene.timeline->spans[scene_node(&scene, "load").index].ready_ns = 0;
    scene.timeline->spans[scene_node(&scene, "load").index].cause = WAIT_CAPACITY;
    scene.timeline->spans[scene_node(&scene, "load").index].blocker = scene_node(&scene, "spill");
    stalls_free(&stalls);
    find(&scene, &told, &stalls);
    ck_assert_str_eq(told.text, "copy spill release 0-5; copy load unknown 25-27; "
                                "gpu b transfer load 27-47; gpu b unknown 25-27; "
                                "gpu b capacity spill 10-25");
    stalls_free(&stalls);
    scene_end(&scene);
}
END_TEST

/* c on e waits for d on f, which waited for a slot of f while x held it, and then, until 30, for the
 * policy: e stands from 0 to 40 for engine f (10), the policy (20) and a compute node (10). */
START_TEST(test_another_engine)
{
    struct scene scene;
    struct stalls stalls;
    struct told told;

    scene_begin(&scene, "weir 1\nengine e\nengine f\n"
                        "node x compute engine=f duration=10\n"
                        "node d compute engine=f duration=10\n"
                        "node y compute engine=f duration=10\n"
                        "node c compute engine=e duration=5\n"
                        "edge y c ordering\nedge x d ordering from=start\n");
    scene_ran(&scene, "x", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 0, 10, 30, WAIT_ENGINE, "x");
    scene_ran(&scene, "y", 0, 30, 40, WAIT_ENGINE, "d");
    scene_ran(&scene, "c", 40, 40, 45, WAIT_NONE, NULL);
    find(&scene, &told, &stalls);
    ck_assert_str_eq(told.text, "e c compute y 30-40; e c engine d 10-30; e c engine x 0-10");
    ck_assert_uint_eq(stalls.n_between, 1);
    ck_assert_uint_eq(stalls.between[0].engine.index, 0);
    ck_assert_uint_eq(stalls.between[0].on_engine.index, 1);
    ck_assert_int_eq(stalls.between[0].exposed_ns, 30);
    ck_assert_int_eq(stalls.engines[1].drained_ns, 5);
    stalls_free(&stalls);

    /* Held by the policy from 10, when it became ready, to 30. */
    scene.timeline->spans[scene_node(&scene, "y").index].ready_ns = 0;
    scene.timeline->spans[scene_node(&scene, "y").index].cause = WAIT_ADMISSION;
    scene.timeline->spans[scene_node(&scene, "y").index].blocker.index = WEIR_NONE;
    find(&scene, &told, &stalls);
    ck_assert_str_eq(told.text, "e c compute y 30-40; e c admission 0-30");
    stalls_free(&stalls);
    scene_end(&scene);
}
END_TEST

/* b lacks the bytes of x, which free gives back in no time at 30, when spill, its last reader, has
 * ended; free could not come sooner for the bytes' sake, so from 10 to 30 b waited for bytes. Before
 * that spill waited for w, which is no matter of bytes. */
START_TEST(test_bytes_that_a_reclamation_gives)
{
    struct scene scene;
    struct stalls stalls;
    struct told told;

    scene_begin(&scene, "weir 1\ndomain m capacity=1000\nengine gpu\nengine copy\nengine other\n"
                        "object x size=900 initial\n"
                        "node w compute engine=other duration=10\n"
                        "node spill compute engine=copy duration=20 reads=x\n"
                        "node free reclamation object=x\n"
                        "node b compute engine=gpu duration=3 workspace=200\n"
                        "edge w spill ordering\n");
    scene_ran(&scene, "w", 0, 0, 10, WAIT_NONE, NULL);
    scene_ran(&scene, "spill", 10, 10, 30, WAIT_NONE, NULL);
    scene_ran(&scene, "free", 30, 30, 30, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 0, 30, 33, WAIT_CAPACITY, "free");
    find(&scene, &told, &stalls);
    ck_assert_str_eq(told.text, "copy spill compute w 0-10; gpu b capacity spill 10-30; "
                                "gpu b compute w 0-10");
    stalls_free(&stalls);
    scene_end(&scene);
}
END_TEST

/* A recording tells no causes: b follows a on its engine after 5 that nobody explains, and d, which
 * starts when the clock says that c has not finished yet, is taken to follow it at once. */
START_TEST(test_a_recording)
{
    struct scene scene;
    struct stalls stalls;
    struct weir_error err;
    struct bound_index *index;
    struct told told;

    scene_begin(&scene, "weir 1\nengine e\nengine f\n"
                        "node a compute engine=e duration=10\n"
                        "node b compute engine=e duration=10\n"
                        "node c transfer engine=f duration=12\n"
                        "node d compute engine=e duration=10\n"
                        "edge c d ordering\n");
    scene_ran(&scene, "a", 3, 3, 13, WAIT_NONE, NULL);
    scene_ran(&scene, "b", 18, 18, 28, WAIT_NONE, NULL);
    scene_ran(&scene, "c", 20, 20, 33, WAIT_NONE, NULL);
    scene_ran(&scene, "d", 32, 32, 42, WAIT_NONE, NULL);
    index = scene_index(&scene, true);
    told = (struct told){.graph = scene.graph};
    ck_assert_int_eq(stalls_find(index, tell, &told, &stalls, &err), WEIR_OK);
    ck_assert_str_eq(told.text, "e a unknown 0-3; e b unknown 13-18; f c unknown 0-20; "
                                "e d transfer c 28-32");
    ck_assert_uint_eq(bound_of_start(index, scene_node(&scene, "b")).node.index,
                      scene_node(&scene, "a").index);
    bound_index_free(index);
    stalls_free(&stalls);
    scene_end(&scene);
}
END_TEST

/* --- every nanosecond ------------------------------------------------------------------------ */

static bool runs_at(const struct timeline_span *span, int64_t t_ns)
{
    return span->start_ns <= t_ns && t_ns < span->finish_ns;
}

/* The node of the engine that ends the idle time at t; none. */
static weir_node next_of(const struct scene *scene, weir_engine engine, int64_t t_ns)
{
    const struct timeline_span *spans = scene->timeline->spans;
    weir_node next = {WEIR_NONE};

    for (uint32_t i = 0; i < scene->timeline->n_nodes; i++) {
        if (weir_same(graph_node_engine(scene->graph, (weir_node){i}), engine) &&
            spans[i].start_ns > t_ns &&
            (!weir_is(next) || spans[i].order < spans[next.index].order))
            next.index = i;
    }
    return next;
}

static enum stall_cause cause_at(const struct scene *scene, const struct bound_index *index,
                                 weir_node node, int64_t t_ns)
{
    for (;;) {
        struct bound bound = bound_of_start(index, node);

        ck_assert_int_lt(t_ns, scene->timeline->spans[node.index].start_ns);
        if (t_ns >= bound.ready_ns)
            return bound.cause == BOUND_ADMISSION ? STALL_ADMISSION : STALL_UNKNOWN;
        if (t_ns >= bound.end_ns)
            return weir_is(bound.node) ? STALL_LAG : STALL_RELEASE;
        ck_assert(weir_is(bound.node));
        if (t_ns >= scene->timeline->spans[bound.node.index].start_ns) {
            enum node_kind kind = graph_node_kind(scene->graph, bound.node);

            ck_assert(runs_at(&scene->timeline->spans[bound.node.index], t_ns));
            return bound.cause == BOUND_ENGINE      ? STALL_ENGINE
                   : bound.cause == BOUND_CAPACITY  ? STALL_CAPACITY
                   : bound.cause == BOUND_OVERLAP   ? STALL_OVERLAP
                   : graph_kind_is_copy(kind)       ? STALL_TRANSFER
                   : kind == NODE_REMATERIALIZATION ? STALL_REMATERIALIZATION
                   : kind == NODE_ALLOCATION        ? STALL_ALLOCATION
                                                    : STALL_COMPUTE;
        }
        node = bound.node;
    }
}

START_TEST(test_every_nanosecond)
{
    struct scene scene;
    struct bound_index *index;
    struct stalls stalls;
    struct weir_error err;
    int64_t exposed_ns = 0;

    scene_make(&scene, (uint64_t)_i);
    index = scene_index(&scene, false);
    ck_assert_int_eq(stalls_find(index, NULL, NULL, &stalls, &err), WEIR_OK);
    for (uint32_t e = 0; e < SCENE_ENGINES; e++) {
        int64_t by_cause_ns[STALL_CAUSES] = {0}, busy_ns = 0, drained_ns = 0;

        for (int64_t t_ns = 0; t_ns < scene.timeline->makespan_ns; t_ns++) {
            weir_node next = next_of(&scene, (weir_engine){e}, t_ns);
            bool is_busy = false;

            for (uint32_t i = 0; i < SCENE_NODES; i++)
                is_busy |= graph_node_engine(scene.graph, (weir_node){i}).index == e &&
                           runs_at(&scene.timeline->spans[i], t_ns);
            if (is_busy)
                busy_ns++;
            else if (!weir_is(next))
                drained_ns++;
            else
                by_cause_ns[cause_at(&scene, index, next, t_ns)]++;
        }
        ck_assert_int_eq(stalls.engines[e].busy_ns, busy_ns);
        if (stalls.engines[e].n_nodes > 0)
            ck_assert_int_eq(stalls.engines[e].drained_ns, drained_ns);
        for (int c = 0; c < STALL_CAUSES; c++) {
            ck_assert_int_eq(stalls.engines[e].by_cause_ns[c], by_cause_ns[c]);
            exposed_ns += by_cause_ns[c];
        }
    }
    ck_assert_int_eq(stalls.exposed_ns, exposed_ns);
    stalls_free(&stalls);
    bound_index_free(index);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stalls");
    TCase *tests = tcase_create("stalls");

    tcase_add_test(tests, test_by_hand);
    tcase_add_test(tests, test_another_engine);
    tcase_add_test(tests, test_bytes_that_a_reclamation_gives);
    tcase_add_test(tests, test_a_recording);
    tcase_add_loop_test(tests, test_every_nanosecond, 0, 300);
    suite_add_tcase(suite, tests);
    return run_suite_together(suite);
}
