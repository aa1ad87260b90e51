/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that must not overlap take turns: under a policy that looks at nothing, those of one class try
 * again only when they may start; under one that is told of every event, each of them tries again
 * whenever nothing holds it back. Nobody can tell the difference. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/random.h"
#include "graph/text.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/suite.h"

enum { NODES = 60, SEEDS = 300 };

struct drawing {
    struct random_stream random;
    char text[16384];
    size_t used;
};

PRINTF_LIKE(2, 3)
static void put(struct drawing *drawing, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    drawing->used += (size_t)vsnprintf(drawing->text + drawing->used,
                                       sizeof drawing->text - drawing->used, format, args);
    va_end(args);
    ck_assert_uint_lt(drawing->used, sizeof drawing->text);
}

static uint32_t below(struct drawing *drawing, uint32_t bound)
{
    return (uint32_t)random_below(&drawing->random, bound);
}

static bool one_in(struct drawing *drawing, uint32_t n)
{
    return below(drawing, n) == 0;
}

static void put_machine(struct drawing *drawing, bool is_scarce)
{
    put(drawing, "weir 1\ngraph g\ndomain m capacity=%u\n", is_scarce ? 12u : 100000u);
    for (uint32_t i = 0; i < 3; i++) {
        put(drawing, "engine e%u slots=%u domain=m\n", i,
            1 + below(drawing, one_in(drawing, 3) ? 40 : 3));
    }
    put(drawing, "kappa c0 c1 1.3\nkappa c1 c0 1.7\nkappa c0 c0 1.1\n");
    for (uint32_t i = 0; i < NODES; i++) {
        put(drawing, "object o%u size=%u\n", i, 1 + below(drawing, 5));
    }
}

static void put_node(struct drawing *drawing, uint32_t node, uint32_t n_classes)
{
    put(drawing, "node n%u compute duration=%u", node,
        one_in(drawing, 8) ? 0 : 1 + below(drawing, 6));
    if (!one_in(drawing, 5)) {
        put(drawing, " engine=e%u", below(drawing, 3));
    }
    if (!one_in(drawing, 9)) {
        put(drawing, " class=c%u", below(drawing, n_classes));
    }
    if (one_in(drawing, 3)) {
        put(drawing, " priority=%u", below(drawing, 4));
    }
    if (one_in(drawing, 4)) {
        put(drawing, " release=%u", below(drawing, 40));
    }
    if (one_in(drawing, 4)) {
        put(drawing, " writes=o%u", node);
    }
    put(drawing, "\n");
}

static void draw(struct drawing *drawing, uint64_t seed)
{
    uint32_t n_nodes, n_classes;

    *drawing = (struct drawing){.used = 0};
    random_seed(&drawing->random, seed, 0);
    n_nodes = 10 + below(drawing, NODES - 9);
    n_classes = 1 + below(drawing, 4);
    put_machine(drawing, one_in(drawing, 2));
    for (uint32_t i = 0; i < n_nodes; i++) {
        put_node(drawing, i, n_classes);
    }
    for (uint32_t i = below(drawing, n_nodes / 2); i > 0; i--) {
        uint32_t to = 1 + below(drawing, n_nodes - 1);

        put(drawing, "edge n%u n%u ordering%s\n", below(drawing, to), to,
            one_in(drawing, 4) ? " from=start" : "");
    }
    for (uint32_t i = 1 + below(drawing, 6); i > 0; i--) {
        bool is_named = one_in(drawing, 5);

        put(drawing, "overlap c%u %c%u %s\n", below(drawing, n_classes), is_named ? 'n' : 'c',
            below(drawing, is_named ? n_nodes : n_classes),
            one_in(drawing, 5) ? "unknown" : "forbidden");
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
static struct timeline *run(const struct drawing *drawing, const struct weir_policy *policy,
                            const struct simulate_options *options)
{
    struct plan_options plan_options = {.policy = policy};
    struct report *report = report_new(0);
    struct simulate_result result;
    struct graph *graph;
    struct plan *plan;
    struct weir_error err;

    ck_assert_msg(graph_read_text(drawing->text, drawing->used, "test", report, &graph, &err) ==
                      WEIR_OK,
                  "%s\n%s", err.text, drawing->text);
    ck_assert_msg(plan_make(graph, &plan_options, report, &plan, &err) == WEIR_OK, "%s\n%s",
                  err.text, drawing->text);
    ck_assert_msg(simulate(plan, options, &result, &err) == WEIR_OK, "%s", err.text);
    free(result.explanation);
    plan_free(plan);
    report_free(report);
    graph_free(graph);
    return result.timeline;
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
    struct drawing drawing;
    uint32_t n_overlaps = 0, n_complete = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct simulate_options options = simulate_default();
        struct timeline *a, *b;

        options.unknown_overlap = seed % 3 == 0 ? UNKNOWN_FORBID : UNKNOWN_MARK;
        options.contention = seed % 4 == 0 ? CONTENTION_PAIRWISE : CONTENTION_NONE;
        draw(&drawing, seed);
        a = run(&drawing, &idle, &options);
        b = run(&drawing, &watching, &options);
        ck_assert_int_eq(a->status, b->status);
        ck_assert_uint_eq(a->n_waits, b->n_waits);
        for (uint32_t i = 0; i < a->n_nodes; i++) {
            ck_assert_msg(same_span(&a->spans[i], &b->spans[i]), "n%u\n%s", i, drawing.text);
        }
        for (uint32_t i = 0; i < a->n_waits; i++) {
            ck_assert_msg(same_wait(&a->waits[i], &b->waits[i]), "wait %u\n%s", i, drawing.text);
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
