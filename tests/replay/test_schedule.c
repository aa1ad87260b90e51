/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay makes of a plan: queues, waits, contents, amounts. The plans are written by hand;
 * rates are made up, so that amounts can be: an iteration of arithmetic takes 10 ns after 100 ns, a
 * copied byte 0.1 ns after 200 ns, whatever the buffer. */
#include "replay/schedule.h"

#include <stdlib.h>

#include "replay/amounts.h"
#include "tests/replay/plan.h"

struct rig {
    struct test_plan plan;
    struct schedule_options options;
    struct rates rates;
    struct schedule *schedule;
};

static void rig_begin(struct rig *rig, const char *text)
{
    memset(rig, 0, sizeof *rig);
    rig->options =
        (struct schedule_options){.scale_time = 1, .scale_bytes = 1, .memory_bytes = 1 << 30};
    plan_begin(&rig->plan, text);
}

static void rig_make(struct rig *rig)
{
    struct rates_needs needs;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(
        schedule_needs(rig->plan.graph, rig->plan.timeline, &rig->options, &needs, &err) == WEIR_OK,
        "%s", err.text);
    rig->rates = (struct rates){.compute = {.fixed_ns = 100, .unit_ns = 10},
                                .stream = {.fixed_ns = 100, .unit_ns = 0.05},
                                .directions = needs.directions,
                                .n_directions = needs.n_directions};
    for (uint32_t d = 0; d < needs.n_directions; d++) {
        for (int p = 0; p < RATES_POINTS; p++)
            needs.directions[d].at[p] = (struct measure_rate){.fixed_ns = 200, .unit_ns = 0.1};
    }
    ck_assert_msg(schedule_make(rig->plan.binding, rig->plan.timeline, &rig->options, &rig->rates,
                                &rig->schedule, &err) == WEIR_OK,
                  "%s", err.text);
}

static void rig_end(struct rig *rig)
{
    schedule_free(rig->schedule);
    rates_free(&rig->rates);
    plan_end(&rig->plan);
}

static const struct step *step_of(const struct rig *rig, const char *name)
{
    uint32_t node = plan_node(&rig->plan, name).index;

    return &rig->schedule->step[rig->schedule->steps.step_of[node]];
}

static const char *note_of(const struct rig *rig, const char *name)
{
    uint32_t node = plan_node(&rig->plan, name).index;
    const char *note = rig->schedule->notes[rig->schedule->steps.step_of[node]];

    return note == NULL ? "" : note;
}

/* The wait of consumer on producer; NULL when there is none. */
static const struct step_wait *wait_on(const struct rig *rig, const char *consumer,
                                       const char *producer)
{
    const struct step *step = step_of(rig, consumer);
    uint32_t target = rig->schedule->steps.step_of[plan_node(&rig->plan, producer).index];

    for (uint32_t w = 0; w < step->n_waits; w++) {
        if (step->waits[w].step == target)
            return &step->waits[w];
    }
    return NULL;
}

/* Every edge is kept by a queue, covered or waited for. */
static void check_counts(const struct rig *rig)
{
    const struct waits_counts *c = &rig->schedule->waits.counts;

    ck_assert_uint_eq(c->n_given + c->n_implied + c->n_induced + c->n_added,
                      c->n_by_queue + c->n_covered + c->n_waited);
}

/* ---- queues ---- */

/* Two slots: a and b run at once, c takes the slot that is free first. Nodes without an engine: e
 * and f at once, g without length needs no queue. */
START_TEST(slots_and_kinds_have_queues)
{
    struct rig rig;

    rig_begin(&rig,
              "weir 1\nengine sm slots=2\nengine dma\n"
              "node a compute engine=sm duration=10us\nnode b compute engine=sm duration=5us\n"
              "node c compute engine=sm duration=5us\nnode d compute engine=dma duration=5us\n"
              "node e compute duration=5us\nnode f compute duration=5us\nnode g barrier\n");
    plan_ran(&rig.plan, "a", 0, 10000);
    plan_ran(&rig.plan, "b", 0, 5000);
    plan_ran(&rig.plan, "d", 0, 5000);
    plan_ran(&rig.plan, "e", 0, 5000);
    plan_ran(&rig.plan, "f", 0, 5000);
    plan_ran(&rig.plan, "g", 0, 0);
    plan_ran(&rig.plan, "c", 5000, 10000);
    rig_make(&rig);
    ck_assert_uint_eq(rig.schedule->lanes.n_lanes, 5);
    ck_assert_uint_ne(step_of(&rig, "a")->queue, step_of(&rig, "b")->queue);
    ck_assert_uint_eq(step_of(&rig, "c")->queue, step_of(&rig, "b")->queue);
    ck_assert_uint_ne(step_of(&rig, "e")->queue, step_of(&rig, "f")->queue);
    ck_assert_uint_eq(step_of(&rig, "g")->queue, STEP_NO_QUEUE);
    /* Nothing in the plan puts c behind b: the replay does. */
    ck_assert_uint_eq(rig.schedule->waits.counts.n_one_queue, 1);
    ck_assert_str_eq(note_of(&rig, "c"), "inserted: after b, on one thread");
    ck_assert_str_eq(note_of(&rig, "a"), "");
    rig_end(&rig);
}
END_TEST

START_TEST(too_many_queues_are_refused)
{
    struct rig rig;
    struct weir_error err;
    char text[32768] = "weir 1\nengine sm slots=1000\n";
    struct rates rates = {.n_directions = 0};
    size_t used = strlen(text);

    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "node n%d compute engine=sm duration=1us\n", i);
    rig_begin(&rig, text);
    for (int i = 0; i < 300; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "n%d", i);
        plan_ran(&rig.plan, name, 0, 1000);
    }
    ck_assert_int_eq(schedule_make(rig.plan.binding, rig.plan.timeline, &rig.options, &rates,
                                   &rig.schedule, &err),
                     WEIR_DEVICE);
    ck_assert_ptr_nonnull(strstr(err.text, "more than 256 queues (one more is sm/"));
    plan_end(&rig.plan);
}
END_TEST

/* ---- waits ---- */

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

/* ---- contents ---- */

static const char move_and_use[] =
    "weir 1\ndomain hbm capacity=1MB\ndomain host capacity=1MB\n"
    "engine sm domain=hbm\nengine h2d from=host to=hbm bandwidth=1GB/s\n"
    "object w size=1000 domain=host initial\nobject y size=500 domain=hbm\n"
    "object head size=200 alias=y\nobject tail size=300 alias=y+200\n"
    "node get allocation object=w domain=hbm\n"
    "node load prefetch engine=h2d object=w duration=20us\n"
    "node one compute engine=sm duration=2us reads=w writes=head\n"
    "node two compute engine=sm duration=2us reads=head writes=tail\n"
    "node all compute engine=sm duration=2us reads=y\n"
    "node put reclamation object=w domain=hbm\n";

static void run_move_and_use(struct rig *rig)
{
    plan_ran(&rig->plan, "get", 0, 0);
    plan_ran(&rig->plan, "load", 0, 20000);
    plan_ran(&rig->plan, "one", 20000, 22000);
    plan_ran(&rig->plan, "put", 22000, 22000);
    plan_ran(&rig->plan, "two", 22000, 24000);
    plan_ran(&rig->plan, "all", 24000, 26000);
}

START_TEST(tags_follow_the_data)
{
    struct rig rig;
    const struct step *load;
    const struct step *one;
    const struct step *two;
    const struct step *all;

    rig_begin(&rig, move_and_use);
    run_move_and_use(&rig);
    rig_make(&rig);
    load = step_of(&rig, "load");
    one = step_of(&rig, "one");
    two = step_of(&rig, "two");
    all = step_of(&rig, "all");

    /* The copy finds the initial tag at the host and the reader finds it in hbm. */
    ck_assert_uint_eq(load->n_copied, 1);
    ck_assert_uint_ne(load->reads[0].buffer, load->writes[0].buffer);
    ck_assert_uint_ne(load->reads[0].tag, 0);
    ck_assert_uint_eq(one->n_reads, 1);
    ck_assert_uint_eq(one->reads[0].tag, load->reads[0].tag);
    ck_assert_uint_eq(one->reads[0].buffer, load->writes[0].buffer);
    /* head and tail are two stretches of y with tags of their own; reading y reads both. */
    ck_assert_uint_eq(one->n_writes, 1);
    ck_assert_uint_eq(two->reads[0].tag, one->writes[0].tag);
    ck_assert_uint_ne(two->writes[0].tag, one->writes[0].tag);
    ck_assert_uint_eq(all->n_reads, 2);
    ck_assert_uint_eq(all->reads[0].tag, one->writes[0].tag);
    ck_assert_uint_eq(all->reads[1].tag, two->writes[0].tag);
    /* 200 bytes take 256 of the buffer, 300 take 320: multiples of 64. */
    ck_assert_int_eq(all->reads[0].offset, 0);
    ck_assert_int_eq(all->reads[0].size_bytes, 256);
    ck_assert_int_eq(all->reads[1].offset, 256);
    ck_assert_int_eq(all->reads[1].size_bytes, 320);
    rig_end(&rig);
}
END_TEST

static bool uses(const struct rig *rig, const char *name, const struct device_buffer *buffer)
{
    const struct step *step = step_of(rig, name);

    for (uint32_t u = 0; u < step->n_uses; u++) {
        if (rig->schedule->buffers + step->uses[u] == buffer)
            return true;
    }
    return false;
}

/* How many steps may be the buffer's last use. */
static uint32_t count_uses(const struct rig *rig, const struct device_buffer *buffer)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < rig->schedule->steps.n_steps; s++) {
        for (uint32_t u = 0; u < rig->schedule->step[s].n_uses; u++)
            n += rig->schedule->buffers + rig->schedule->step[s].uses[u] == buffer;
    }
    return n;
}

START_TEST(buffers_live_as_copies_do)
{
    struct rig rig;
    const struct device_buffer *moved;
    const struct device_buffer *made;

    rig_begin(&rig, move_and_use);
    run_move_and_use(&rig);
    rig_make(&rig);
    moved = &rig.schedule->buffers[step_of(&rig, "load")->writes[0].buffer];
    made = &rig.schedule->buffers[step_of(&rig, "one")->writes[0].buffer];
    ck_assert_uint_eq(moved->allocate_step, 0);
    ck_assert_uint_eq(moved->reclaim_step, 3);
    ck_assert(!moved->is_initial);
    ck_assert(rig.schedule->buffers[step_of(&rig, "load")->reads[0].buffer].is_initial);
    /* y begins with its first writer and ends with its last reader. */
    ck_assert_uint_eq(made->allocate_step, WEIR_NONE);
    ck_assert_uint_eq(made->reclaim_step, WEIR_NONE);
    ck_assert_uint_ge(made->n_uses, 1);
    ck_assert_uint_eq(made->n_uses, count_uses(&rig, made));
    ck_assert(uses(&rig, "all", made));
    ck_assert(!uses(&rig, "one", made));
    ck_assert_int_eq(made->size_bytes, 576);
    rig_end(&rig);
}
END_TEST

/* ---- amounts ---- */

/* 2 us of arithmetic: (2000 - 100) / 10 iterations. 20 us of copying: (20000 - 200) / 0.1 bytes, 193
 * times round through 1024 bytes. */
START_TEST(durations_become_amounts)
{
    struct rig rig;

    rig_begin(&rig, move_and_use);
    run_move_and_use(&rig);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "one")->action, STEP_COMPUTE);
    ck_assert_int_eq(step_of(&rig, "one")->amount, 190);
    ck_assert_int_eq(step_of(&rig, "load")->action, STEP_COPY);
    ck_assert_int_eq(step_of(&rig, "load")->amount, 198000);
    ck_assert_int_eq(step_of(&rig, "get")->action, STEP_ALLOCATE);
    ck_assert_int_eq(step_of(&rig, "get")->amount, 0);
    ck_assert_uint_eq(rig.schedule->n_deviations, 0);
    rig_end(&rig);

    rig_begin(&rig, move_and_use);
    run_move_and_use(&rig);
    rig.options.scale_time = 0.5;
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "one")->amount, 90);
    ck_assert_int_eq(step_of(&rig, "load")->amount, 98000);
    rig_end(&rig);
}
END_TEST

/* Isolated, not realized, duration counts: contention must come about by itself. */
START_TEST(contention_is_not_planned_in)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nnode a compute engine=sm duration=2us\n"
                    "node s compute engine=sm class=stream duration=2us\n");
    plan_ran_alone(&rig.plan, "a", 0, 5000, 2000);
    plan_ran(&rig.plan, "s", 5000, 7000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "a")->amount, 190);
    ck_assert_int_eq(step_of(&rig, "s")->action, STEP_STREAM);
    ck_assert_int_eq(step_of(&rig, "s")->amount, 38000);
    rig_end(&rig);
}
END_TEST

/* 1 MB takes 200 ns + 100 us; the plan has 20 us. At scale 1 that is a deviation with a name; left
 * open, the scale is such that one pass takes 95 % of the planned time: (19000 - 200) / 0.1 bytes of
 * 1,000,000 is 0.188. */
START_TEST(copies_that_do_not_fit_are_named_or_scaled)
{
    static const char text[] = "weir 1\ndomain hbm capacity=10MB\ndomain host capacity=10MB\n"
                               "engine h2d from=host to=hbm\n"
                               "object w size=1MB domain=host initial\n"
                               "node load prefetch engine=h2d object=w duration=20us\n";
    struct rig rig;

    rig_begin(&rig, text);
    plan_ran(&rig.plan, "load", 0, 20000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "load")->amount, 1000000);
    ck_assert_uint_eq(rig.schedule->n_deviations, 1);
    ck_assert_str_eq(rig.schedule->deviations[0].what,
                     "moves 1.0 MB in 100.2 us where the plan has 20 us: use a smaller "
                     "--scale-bytes than 1");
    ck_assert_int_eq(rig.schedule->deviations[0].cost_ns, 80200);
    rig_end(&rig);

    rig_begin(&rig, text);
    plan_ran(&rig.plan, "load", 0, 20000);
    rig.options.scale_bytes = 0;
    rig_make(&rig);
    ck_assert_double_eq_tol(rig.schedule->scale_bytes, 0.188, 1e-12);
    ck_assert_str_eq(rig.schedule->scale_bytes_why, "copy load fits its planned time");
    ck_assert_uint_eq(rig.schedule->n_deviations, 0);
    ck_assert_int_eq(step_of(&rig, "load")->amount, 198000);
    rig_end(&rig);
}
END_TEST

/* The plan held 8 MB at its peak, and 2 MB may be used. */
START_TEST(buffers_are_scaled_to_memory)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\ndomain hbm capacity=10MB\nengine sm\nobject w size=8MB initial\n"
                    "node a compute engine=sm duration=2us reads=w\n");
    plan_ran(&rig.plan, "a", 0, 2000);
    rig.plan.timeline->peak_bytes[0] = 8000000;
    rig.options.scale_bytes = 0;
    rig.options.memory_bytes = 2000000;
    rig_make(&rig);
    ck_assert_double_eq_tol(rig.schedule->scale_bytes, 0.25, 1e-12);
    ck_assert_int_eq(rig.schedule->buffers[0].size_bytes, 2000000);
    rig_end(&rig);
}
END_TEST

/* A copy that names no object moves bytes between two buffers of its queue; one that takes no time
 * and names nothing is a mark. */
START_TEST(copies_without_objects_move_bytes)
{
    struct rig rig;
    const struct step *step;

    rig_begin(&rig, "weir 1\nengine h2d\nnode a transfer engine=h2d bytes=6400 duration=2us\n"
                    "node b transfer engine=h2d bytes=64000 duration=20us\n"
                    "node c transfer engine=h2d duration=0\n");
    plan_ran(&rig.plan, "a", 0, 2000);
    plan_ran(&rig.plan, "b", 2000, 22000);
    plan_ran(&rig.plan, "c", 22000, 22000);
    rig_make(&rig);
    step = step_of(&rig, "a");
    ck_assert_uint_eq(rig.schedule->n_buffers, 2);
    ck_assert_int_eq(rig.schedule->buffers[0].size_bytes, 64000);
    ck_assert_int_eq(step->reads[0].size_bytes, 6400);
    ck_assert_uint_eq(step->writes[0].buffer, 1);
    ck_assert_int_eq(step->amount, 18000);
    ck_assert_int_eq(step_of(&rig, "c")->action, STEP_MARK);
    rig_end(&rig);
}
END_TEST

/* ---- refusals ---- */

START_TEST(what_is_no_plan_is_refused)
{
    struct rig rig;
    struct rates_needs needs;
    struct weir_error err;

    rig_begin(&rig, "weir 1\nengine sm\nnode a compute engine=sm duration=1us\n");
    plan_ran_alone(&rig.plan, "a", 0, 1000, -1);
    ck_assert_int_eq(schedule_needs(rig.plan.graph, rig.plan.timeline, &rig.options, &needs, &err),
                     WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "a ran, and nothing says how long it takes alone"));
    rig.plan.timeline->status = RUN_DEADLOCK;
    ck_assert_int_eq(schedule_needs(rig.plan.graph, rig.plan.timeline, &rig.options, &needs, &err),
                     WEIR_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(err.text, "the run ended in a deadlock"));
    plan_end(&rig.plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/schedule");
    TCase *queues = tcase_create("queues");
    TCase *waits = tcase_create("waits");
    TCase *contents = tcase_create("contents");
    TCase *amounts = tcase_create("amounts");

    tcase_add_test(queues, slots_and_kinds_have_queues);
    tcase_add_test(queues, too_many_queues_are_refused);
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
    tcase_add_test(contents, tags_follow_the_data);
    tcase_add_test(contents, buffers_live_as_copies_do);
    tcase_add_test(amounts, durations_become_amounts);
    tcase_add_test(amounts, contention_is_not_planned_in);
    tcase_add_test(amounts, copies_that_do_not_fit_are_named_or_scaled);
    tcase_add_test(amounts, buffers_are_scaled_to_memory);
    tcase_add_test(amounts, copies_without_objects_move_bytes);
    tcase_add_test(amounts, what_is_no_plan_is_refused);
    suite_add_tcase(suite, queues);
    suite_add_tcase(suite, waits);
    suite_add_tcase(suite, contents);
    suite_add_tcase(suite, amounts);
    return run_suite(suite);
}
