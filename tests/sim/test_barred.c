/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that must not overlap take turns: under a policy that looks at nothing, those of one class try
 * again only when they may start; under one that is told of every event, each of them tries again
 * whenever nothing holds it back. Nobody can tell the difference. */
#include "tests/sim/pen.h"
#include "tests/sim/scene.h"
#include "tests/suite.h"

enum { NODES = 60, SEEDS = 300 };

static void put_machine(struct pen *pen, bool is_scarce)
{
    pen_put(pen, "weir 1\ngraph g\ndomain m capacity=%u\n", is_scarce ? 12u : 100000u);
    for (uint32_t i = 0; i < 3; i++) {
        pen_put(pen, "engine e%u slots=%u domain=m\n", i,
                1 + pen_below(pen, pen_one_in(pen, 3) ? 40 : 3));
    }
    pen_put(pen, "kappa c0 c1 1.3\nkappa c1 c0 1.7\nkappa c0 c0 1.1\n");
    for (uint32_t i = 0; i < NODES; i++) {
        pen_put(pen, "object o%u size=%u\n", i, 1 + pen_below(pen, 5));
    }
}

static void put_node(struct pen *pen, uint32_t node, uint32_t n_classes)
{
    pen_put(pen, "node n%u compute duration=%u", node,
            pen_one_in(pen, 8) ? 0 : 1 + pen_below(pen, 6));
    if (!pen_one_in(pen, 5)) {
        pen_put(pen, " engine=e%u", pen_below(pen, 3));
    }
    if (!pen_one_in(pen, 9)) {
        pen_put(pen, " class=c%u", pen_below(pen, n_classes));
    }
    if (pen_one_in(pen, 3)) {
        pen_put(pen, " priority=%u", pen_below(pen, 4));
    }
    if (pen_one_in(pen, 4)) {
        pen_put(pen, " release=%u", pen_below(pen, 40));
    }
    if (pen_one_in(pen, 4)) {
        pen_put(pen, " writes=o%u", node);
    }
    pen_put(pen, "\n");
}

static void draw(struct pen *pen, uint64_t seed)
{
    uint32_t n_nodes, n_classes;

    pen_begin(pen, seed);
    n_nodes = 10 + pen_below(pen, NODES - 9);
    n_classes = 1 + pen_below(pen, 4);
    put_machine(pen, pen_one_in(pen, 2));
    for (uint32_t i = 0; i < n_nodes; i++) {
        put_node(pen, i, n_classes);
    }
    for (uint32_t i = pen_below(pen, n_nodes / 2); i > 0; i--) {
        uint32_t to = 1 + pen_below(pen, n_nodes - 1);

        pen_put(pen, "edge n%u n%u ordering%s\n", pen_below(pen, to), to,
                pen_one_in(pen, 4) ? " from=start" : "");
    }
    for (uint32_t i = 1 + pen_below(pen, 6); i > 0; i--) {
        bool is_named = pen_one_in(pen, 5);

        pen_put(pen, "overlap c%u %c%u %s\n", pen_below(pen, n_classes), is_named ? 'n' : 'c',
                pen_below(pen, is_named ? n_nodes : n_classes),
                pen_one_in(pen, 5) ? "unknown" : "forbidden");
    }
}

static enum weir_status look_on(void *state, const struct weir_view *view,
                                const struct weir_event *event, struct weir_draft *draft,
                                struct weir_error *err)
{
    (void)state;
    (void)view;
    (void)event;
    (void)draft;
    (void)err;
    return WEIR_OK;
}

static const struct weir_policy idle = {
    .version = WEIR_POLICY_VERSION, .size = sizeof idle, .name = "idle", .summary = "a test"};
static const struct weir_policy watching = {.version = WEIR_POLICY_VERSION,
                                            .size = sizeof watching,
                                            .name = "watching",
                                            .summary = "a test",
                                            .on_event = look_on};

/* The caller frees the timeline. */
static struct timeline *run(const struct pen *pen, const struct weir_policy *policy,
                            const struct simulate_options *options)
{
    struct timeline *timeline;
    struct scene scene;
    struct weir_error err;

    ck_assert_msg(scene_plan(scene_read(pen->text), policy, NULL, &scene, &err) == WEIR_OK,
                  "%s\n%s", err.text, pen->text);
    scene.options = *options;
    scene_simulate(&scene);
    timeline = scene.result.timeline;
    scene.result.timeline = NULL;
    scene_free(&scene);
    return timeline;
}

static bool same_span(const struct timeline_span *a, const struct timeline_span *b)
{
    return a->ready_ns == b->ready_ns && a->start_ns == b->start_ns &&
           a->finish_ns == b->finish_ns && a->blocker.index == b->blocker.index &&
           a->order == b->order && a->cause == b->cause;
}

static bool same_wait(const struct timeline_wait *a, const struct timeline_wait *b)
{
    return a->node.index == b->node.index && a->cause == b->cause &&
           a->blocker.index == b->blocker.index && a->object.index == b->object.index &&
           a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

START_TEST(test_turns_change_nothing)
{
    struct pen pen;
    uint32_t n_overlaps = 0, n_complete = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct simulate_options options = simulate_default();
        struct timeline *a, *b;

        options.unknown_overlap = seed % 3 == 0 ? UNKNOWN_FORBID : UNKNOWN_MARK;
        options.contention = seed % 4 == 0 ? CONTENTION_PAIRWISE : CONTENTION_NONE;
        draw(&pen, seed);
        a = run(&pen, &idle, &options);
        b = run(&pen, &watching, &options);
        ck_assert_int_eq(a->status, b->status);
        ck_assert_uint_eq(a->n_waits, b->n_waits);
        for (uint32_t i = 0; i < a->n_nodes; i++) {
            ck_assert_msg(same_span(&a->spans[i], &b->spans[i]), "n%u\n%s", i, pen.text);
        }
        for (uint32_t i = 0; i < a->n_waits; i++) {
            ck_assert_msg(same_wait(&a->waits[i], &b->waits[i]), "wait %u\n%s", i, pen.text);
            n_overlaps += a->waits[i].cause == WAIT_OVERLAP;
        }
        n_complete += a->status == RUN_COMPLETE;
        timeline_free(a);
        timeline_free(b);
    }
    ck_assert_uint_gt(n_overlaps, 10 * SEEDS);
    ck_assert_uint_gt(n_complete, SEEDS / 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("barred");
    TCase *tests = tcase_create("barred");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_turns_change_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
