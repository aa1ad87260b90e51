/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay makes of a plan: queues, contents, amounts. Waits: test_schedule_waits.c. */
#include "replay/schedule.h"

#include <stdlib.h>

#include "replay/amounts.h"
#include "tests/replay/schedule_rig.h"

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
                    "node s compute engine=sm class=stream duration=2us\n"
                    "node c compute engine=sm class=cache duration=2us\n"
                    "node m rematerialization engine=sm class=mix duration=2us\n");
    plan_ran_alone(&rig.plan, "a", 0, 5000, 2000);
    plan_ran(&rig.plan, "s", 5000, 7000);
    plan_ran(&rig.plan, "c", 7000, 9000);
    plan_ran(&rig.plan, "m", 9000, 11000);
    rig_make(&rig);
    ck_assert_int_eq(step_of(&rig, "a")->amount, 190);
    ck_assert_int_eq(step_of(&rig, "s")->action, STEP_STREAM);
    ck_assert_int_eq(step_of(&rig, "s")->amount, 38000);
    ck_assert_int_eq(step_of(&rig, "c")->action, STEP_CACHE);
    ck_assert_int_eq(step_of(&rig, "c")->amount, 95000);
    ck_assert_int_eq(step_of(&rig, "m")->action, STEP_MIX);
    ck_assert_int_eq(step_of(&rig, "m")->amount, 19000);
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
    TCase *contents = tcase_create("contents");
    TCase *amounts = tcase_create("amounts");

    tcase_add_test(queues, slots_and_kinds_have_queues);
    tcase_add_test(queues, too_many_queues_are_refused);
    tcase_add_test(contents, tags_follow_the_data);
    tcase_add_test(contents, buffers_live_as_copies_do);
    tcase_add_test(amounts, durations_become_amounts);
    tcase_add_test(amounts, contention_is_not_planned_in);
    tcase_add_test(amounts, copies_that_do_not_fit_are_named_or_scaled);
    tcase_add_test(amounts, buffers_are_scaled_to_memory);
    tcase_add_test(amounts, copies_without_objects_move_bytes);
    tcase_add_test(amounts, what_is_no_plan_is_refused);
    suite_add_tcase(suite, queues);
    suite_add_tcase(suite, contents);
    suite_add_tcase(suite, amounts);
    return run_suite(suite);
}
