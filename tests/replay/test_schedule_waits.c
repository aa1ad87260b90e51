/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay waits for: the edges of a plan, its lags, its bytes, its fallbacks. */
#include "replay/schedule.h"

#include <stdlib.h>

#include "tests/replay/schedule_rig.h"

static const char two_engines[] = "weir 1\nengine sm\nengine dma\n"
                                  "node a compute engine=sm duration=1us\n"
                                  "node b compute engine=sm duration=1us\n"
                                  "node c compute engine=dma duration=1us\n"
                                  "node d compute engine=dma duration=1us\n"
                                  "node e compute engine=dma duration=1us\n";

static void run_two_engines(struct rig *rig)
{
    plan_ran(&rig->plan, "a", 0, 1000);
    plan_ran(&rig->plan, "b", 1000, 2000);
    plan_ran(&rig->plan, "c", 2000, 3000);
    plan_ran(&rig->plan, "d", 3000, 4000);
    plan_ran(&rig->plan, "e", 4000, 5000);
}

/* a->b is kept by the queue. Of a->c and b->c the later covers the other; b->d is covered since c,
 * before d on its queue, has waited for b. */
START_TEST(edges_that_queues_keep_are_not_waited_for)
{
    struct rig rig;
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "%sedge a b ordering\nedge a c ordering\nedge b c ordering\nedge b d ordering\n",
                   two_engines);
    rig_begin(&rig, text);
    run_two_engines(&rig);
    rig_make(&rig);
    ck_assert_uint_eq(step_of(&rig, "b")->n_waits, 0);
    ck_assert_uint_eq(step_of(&rig, "c")->n_waits, 1);
    ck_assert_ptr_nonnull(wait_on(&rig, "c", "b"));
    ck_assert_uint_eq(step_of(&rig, "d")->n_waits, 0);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_by_queue, 1);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_covered, 2);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_waited, 1);
    check_counts(&rig);
    rig_end(&rig);
}
END_TEST

/* Lags and edges from a start are paced, also on one queue; all are scaled with time. */
START_TEST(lags_and_starts_are_paced)
{
    struct rig rig;
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "%snode f barrier release=600\nedge a b ordering lag=500\n"
                   "edge a c ordering from=start lag=700\nedge b c ordering\n"
                   "edge a d ordering from=start\n",
                   two_engines);
    rig_begin(&rig, text);
    run_two_engines(&rig);
    plan_ran(&rig.plan, "f", 600, 600);
    rig.options.scale_time = 3;
    rig_make(&rig);
    ck_assert_int_eq(wait_on(&rig, "b", "a")->lag_ns, 1500);
    ck_assert(!wait_on(&rig, "b", "a")->is_from_start);
    ck_assert_int_eq(wait_on(&rig, "c", "a")->lag_ns, 2100);
    ck_assert(wait_on(&rig, "c", "a")->is_from_start);
    ck_assert_ptr_nonnull(wait_on(&rig, "c", "b"));
    ck_assert(wait_on(&rig, "d", "a")->is_from_start);
    ck_assert_int_eq(step_of(&rig, "f")->release_ns, 1800);
    ck_assert_int_eq(rig.schedule->makespan_ns, 15000);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_paced, 3);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_released, 1);
    ck_assert_str_eq(note_of(&rig, "c"),
                     "1 of its waits paced by the host's clock (a lag, or the start of another)");
    ck_assert_str_eq(note_of(&rig, "f"), "paced: not before 1.8 us");
    check_counts(&rig);
    rig_end(&rig);
}
END_TEST

/* A capacity wait of the plan is an edge of the replay. */
START_TEST(induced_edges_are_waited_for)
{
    struct rig rig;

    rig_begin(&rig, two_engines);
    run_two_engines(&rig);
    plan_induces(&rig.plan, "b", "d");
    plan_induces(&rig.plan, "c", "e");
    rig_make(&rig);
    ck_assert_ptr_nonnull(wait_on(&rig, "d", "b"));
    ck_assert_uint_eq(step_of(&rig, "e")->n_waits, 0);
    ck_assert_uint_eq(rig.schedule->waits.counts.n_induced, 2);
    check_counts(&rig);
    rig_end(&rig);
}
END_TEST

/* sm and dma must not overlap: each waits for the last node of the other engine before it; e, whose
 * class is its own, waits for nobody. Without overlap lines nothing would be waited for. */
START_TEST(forbidden_overlaps_become_edges)
{
    struct rig rig;

    rig_begin(&rig,
              "weir 1\nengine sm\nengine dma\noverlap sm dma forbidden\noverlap sm f forbidden\n"
              "node a compute engine=sm duration=1us\nnode b compute engine=dma duration=1us\n"
              "node c compute engine=sm duration=1us\n"
              "node e compute engine=dma class=own duration=1us\n"
              "node f compute engine=dma class=own duration=1us\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "b", 1000, 2000);
    plan_ran(&rig.plan, "c", 2000, 3000);
    plan_ran(&rig.plan, "e", 2000, 3000);
    plan_ran(&rig.plan, "f", 3000, 4000);
    rig_make(&rig);
    ck_assert_ptr_nonnull(wait_on(&rig, "b", "a"));
    ck_assert_ptr_nonnull(wait_on(&rig, "c", "b"));
    ck_assert_uint_eq(step_of(&rig, "e")->n_waits, 0);
    ck_assert_ptr_nonnull(wait_on(&rig, "f", "c"));
    ck_assert_uint_eq(rig.schedule->waits.counts.n_added, 3);
    check_counts(&rig);
    rig_end(&rig);
}
END_TEST

/* Under pairwise contention with unknown overlaps forbidden, a pair without both factors is kept
 * apart, and one that is said to be allowed is not. */
START_TEST(unknown_overlaps_are_forbidden_when_asked)
{
    static const char text[] =
        "weir 1\nengine sm\nengine dma\nengine x\nkappa sm sm 1\nkappa x x 1\nkappa dma dma 1\n"
        "overlap sm x allowed\nkappa dma x 1.5\nkappa x dma 1.5\nkappa sm dma 2\n"
        "node a compute engine=sm duration=1us\nnode b compute engine=dma duration=1us\n"
        "node c compute engine=x duration=1us\n";

    for (int forbids = 0; forbids < 2; forbids++) {
        struct rig rig;

        rig_begin(&rig, text);
        plan_ran(&rig.plan, "a", 0, 1000);
        plan_ran(&rig.plan, "c", 0, 1000);
        plan_ran(&rig.plan, "b", 1000, 2000);
        rig.options.forbids_unknown = forbids == 1;
        rig.options.unknown_by_factor = true;
        rig_make(&rig);
        ck_assert_uint_eq(rig.schedule->waits.counts.n_added, forbids == 1 ? 1 : 0);
        ck_assert_int_eq(wait_on(&rig, "b", "a") != NULL, forbids);
        ck_assert_uint_eq(step_of(&rig, "c")->n_waits, 0);
        rig_end(&rig);
    }
}
END_TEST

/* p and q are known beside each other, r beside neither. On e (one queue) p1, q1, then p2; c of class r
 * waits for the last of them whatever its class, c2 of class p for none, and d of class q for c, the
 * last of what is not known to it, not for p3, which ran on c's queue after it. */
START_TEST(the_last_of_what_is_not_known_is_waited_for)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine e\nengine f\nengine g\n"
                    "kappa p p 1\nkappa q q 1\nkappa p q 1\nkappa q p 1\n"
                    "node p1 compute engine=e duration=1us class=p\n"
                    "node q1 compute engine=e duration=1us class=q\n"
                    "node p2 compute engine=e duration=1us class=p\n"
                    "node c2 compute engine=g duration=1us class=p\n"
                    "node c compute engine=f duration=1us class=r\n"
                    "node p3 compute engine=f duration=1us class=p\n"
                    "node d compute engine=g duration=1us class=q\n");
    plan_ran(&rig.plan, "p1", 0, 1000);
    plan_ran(&rig.plan, "q1", 1000, 2000);
    plan_ran(&rig.plan, "c2", 1000, 2000);
    plan_ran(&rig.plan, "p2", 2000, 3000);
    plan_ran(&rig.plan, "c", 3000, 4000);
    plan_ran(&rig.plan, "p3", 4000, 5000);
    plan_ran(&rig.plan, "d", 5000, 6000);
    rig.options.forbids_unknown = true;
    rig.options.unknown_by_factor = true;
    rig_make(&rig);
    ck_assert_uint_eq(step_of(&rig, "c2")->n_waits, 0);
    ck_assert_uint_eq(step_of(&rig, "c")->n_waits, 2);
    ck_assert_ptr_nonnull(wait_on(&rig, "c", "p2"));
    ck_assert_ptr_nonnull(wait_on(&rig, "c", "c2"));
    ck_assert_uint_eq(step_of(&rig, "d")->n_waits, 1);
    ck_assert_ptr_nonnull(wait_on(&rig, "d", "c"));
    ck_assert_uint_eq(rig.schedule->waits.counts.n_added, 3);
    rig_end(&rig);
}
END_TEST

/* g is off: it becomes a step that passes its edges on. */
START_TEST(a_guard_that_is_off_passes_edges_on)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nguard never off\n"
                    "node a compute engine=sm duration=1us\n"
                    "node g compute engine=sm duration=9us guard=never release=2us\n"
                    "node b compute engine=sm duration=1us\n"
                    "edge a g ordering lag=1us\nedge g b ordering lag=3us\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "b", 5000, 6000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "g")->action, STEP_PASS);
    ck_assert_uint_eq(step_of(&rig, "g")->queue, STEP_NO_QUEUE);
    ck_assert_int_eq(step_of(&rig, "g")->release_ns, 2000);
    ck_assert_int_eq(wait_on(&rig, "g", "a")->lag_ns, 1000);
    ck_assert_int_eq(wait_on(&rig, "b", "g")->lag_ns, 3000);
    ck_assert_uint_eq(rig.schedule->steps.n_started, 2);
    rig_end(&rig);
}
END_TEST

/* p has its deadline at 5 us and takes 2: its window closes at 3 us. It had not started, so q ran. */
START_TEST(a_fallback_waits_for_the_window)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\n"
                    "node a compute engine=sm duration=4us\n"
                    "node p compute engine=sm duration=2us deadline=5us fallback=q\n"
                    "node q compute engine=sm duration=1us\n");
    plan_ran(&rig.plan, "a", 0, 4000);
    plan_ran(&rig.plan, "q", 4000, 5000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "p")->action, STEP_PASS);
    ck_assert_int_eq(step_of(&rig, "p")->release_ns, 3000);
    ck_assert_int_eq(step_of(&rig, "q")->release_ns, 3000);
    rig_end(&rig);
}
END_TEST

/* q stands in for p, and r for q. Windows close at 3 us (p), 6 us (q) and never (r). */
static const char standing_in[] = "weir 1\nengine sm\nengine x\n"
                                  "node a compute engine=sm duration=4us\n"
                                  "node p compute engine=x duration=2us deadline=5us fallback=q\n"
                                  "node q compute engine=sm duration=1us deadline=7us fallback=r\n"
                                  "node r compute engine=sm duration=1us\nnode s barrier\n"
                                  "edge r s ordering\n";

/* p started at 1: neither q, nor r, which stands in for q alone, is needed from then on. Neither gave
 * way: r passes its edge to s on at the start of p, not at 6 us. */
START_TEST(what_stands_in_for_what_is_not_needed_is_not_either)
{
    struct rig rig;

    rig_begin(&rig, standing_in);
    plan_ran(&rig.plan, "a", 0, 4000);
    plan_ran(&rig.plan, "p", 1000, 3000);
    plan_ran(&rig.plan, "s", 1000, 1000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "q")->action, STEP_PASS);
    ck_assert_int_eq(step_of(&rig, "q")->release_ns, 0);
    ck_assert(wait_on(&rig, "q", "p")->is_from_start);
    ck_assert_int_eq(step_of(&rig, "r")->action, STEP_PASS);
    ck_assert_int_eq(step_of(&rig, "r")->release_ns, 0);
    ck_assert(wait_on(&rig, "r", "p")->is_from_start);
    ck_assert_ptr_null(wait_on(&rig, "r", "q"));
    ck_assert_uint_eq(rig.schedule->waits.n_inserted, 2);
    ck_assert_uint_eq(rig.schedule->waits.inserted[1].why, INSERTED_FALLBACK);
    rig_end(&rig);
}
END_TEST

/* p gave way at 3 us and q ran: r was not needed, from the start of q on. */
START_TEST(a_fallback_that_ran_needs_none)
{
    struct rig rig;

    rig_begin(&rig, standing_in);
    plan_ran(&rig.plan, "a", 0, 4000);
    plan_ran(&rig.plan, "q", 4000, 5000);
    plan_ran(&rig.plan, "s", 4000, 4000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "p")->release_ns, 3000);
    ck_assert_int_eq(step_of(&rig, "q")->release_ns, 3000);
    ck_assert_int_eq(step_of(&rig, "r")->release_ns, 0);
    ck_assert(wait_on(&rig, "r", "q")->is_from_start);
    ck_assert_ptr_null(wait_on(&rig, "r", "p"));
    /* The time that q waits for is one that no statement gives. */
    ck_assert_uint_eq(rig.schedule->waits.n_inserted, 2);
    ck_assert_uint_eq(rig.schedule->waits.inserted[0].why, INSERTED_WINDOW);
    ck_assert_int_eq(rig.schedule->waits.inserted[0].not_before_ns, 3000);
    rig_end(&rig);
}
END_TEST

/* Both gave way: q was called for at 3 us, and its own window closed at 6: r ran then. With a window
 * of q that closed at 1 us, q gave way when it was called for, at 3 us. */
START_TEST(one_after_the_other_gives_way)
{
    struct rig rig;

    rig_begin(&rig, standing_in);
    plan_ran(&rig.plan, "a", 0, 8000);
    plan_ran(&rig.plan, "r", 8000, 9000);
    plan_ran(&rig.plan, "s", 9000, 9000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "p")->release_ns, 3000);
    ck_assert_int_eq(step_of(&rig, "q")->release_ns, 6000);
    ck_assert_int_eq(step_of(&rig, "r")->release_ns, 6000);
    rig_end(&rig);

    rig_begin(&rig, "weir 1\nengine sm\nengine x\n"
                    "node a compute engine=sm duration=4us\n"
                    "node p compute engine=x duration=2us deadline=5us fallback=q release=4us\n"
                    "node q compute engine=sm duration=1us deadline=2us fallback=r\n"
                    "node r compute engine=sm duration=1us\n");
    plan_ran(&rig.plan, "a", 0, 4000);
    plan_ran(&rig.plan, "r", 4000, 5000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "q")->release_ns, 3000);
    ck_assert_int_eq(step_of(&rig, "r")->release_ns, 3000);
    rig_end(&rig);
}
END_TEST

/* What a policy held until 7 us is not started before. */
START_TEST(admissions_are_kept)
{
    struct rig rig;
    struct timeline_span *span;

    rig_begin(&rig, "weir 1\nengine sm\nnode a compute engine=sm duration=1us\n");
    span = plan_ran(&rig.plan, "a", 7000, 8000);
    span->ready_ns = 0;
    span->cause = WAIT_ADMISSION;
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "a")->release_ns, 7000);
    ck_assert_str_eq(note_of(&rig, "a"), "paced: not before 7 us, when the policy admitted it");
    rig_end(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/schedule waits");
    TCase *waits = tcase_create("waits");

    tcase_add_test(waits, edges_that_queues_keep_are_not_waited_for);
    tcase_add_test(waits, lags_and_starts_are_paced);
    tcase_add_test(waits, induced_edges_are_waited_for);
    tcase_add_test(waits, forbidden_overlaps_become_edges);
    tcase_add_test(waits, unknown_overlaps_are_forbidden_when_asked);
    tcase_add_test(waits, the_last_of_what_is_not_known_is_waited_for);
    tcase_add_test(waits, a_guard_that_is_off_passes_edges_on);
    tcase_add_test(waits, a_fallback_waits_for_the_window);
    tcase_add_test(waits, what_stands_in_for_what_is_not_needed_is_not_either);
    tcase_add_test(waits, a_fallback_that_ran_needs_none);
    tcase_add_test(waits, one_after_the_other_gives_way);
    tcase_add_test(waits, admissions_are_kept);
    suite_add_tcase(suite, waits);
    return run_suite(suite);
}
