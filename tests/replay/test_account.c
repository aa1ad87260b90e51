/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the times of a replay say, on times made up by hand. */
#include "replay/account.h"

#include "tests/replay/plan.h"

struct rig {
    struct test_plan plan;
    struct schedule *schedule;
    struct timeline *timeline; /* of the replay */
    struct account_overhead overhead;
};

static void rig_begin(struct rig *rig, const char *text)
{
    plan_begin(&rig->plan, text);
    rig->timeline = timeline_new(graph_n_nodes(rig->plan.graph), graph_n_domains(rig->plan.graph));
    ck_assert_ptr_nonnull(rig->timeline);
}

/* The node ran then in the plan, and then in the replay. */
static void ran(struct rig *rig, const char *name, int64_t planned_start_ns,
                int64_t planned_finish_ns, int64_t start_ns, int64_t finish_ns)
{
    struct timeline_span *span = plan_ran(&rig->plan, name, planned_start_ns, planned_finish_ns);
    struct timeline_span *real = &rig->timeline->spans[plan_node(&rig->plan, name).index];

    real->start_ns = start_ns;
    real->finish_ns = finish_ns;
    real->order = span->order;
}

static void rig_account(struct rig *rig, double scale_time, double scale_bytes)
{
    const struct schedule_options options = {
        .scale_time = scale_time, .scale_bytes = scale_bytes, .memory_bytes = 1 << 30};
    const struct rates rates = {.work = {[STEP_COMPUTE] = {.unit_ns = 10}}};
    struct step_order order;
    struct step_times *times;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(schedule_make(rig->plan.binding, rig->plan.timeline, &options, &rates,
                                &rig->schedule, &err) == WEIR_OK,
                  "%s", err.text);
    times = calloc(rig->schedule->steps.n_steps, sizeof *times);
    ck_assert_ptr_nonnull(times);
    ck_assert_int_eq(step_order_make(rig->schedule, &order, &err), WEIR_OK);
    times_find(rig->schedule, &order, rig->timeline, 1, times);
    ck_assert_msg(account_complete(rig->schedule, times, rig->timeline, &rig->overhead, &err) ==
                      WEIR_OK,
                  "%s", err.text);
    step_order_free(&order);
    free(times);
}

static void rig_end(struct rig *rig)
{
    schedule_free(rig->schedule);
    timeline_free(rig->timeline);
    plan_end(&rig->plan);
}

static void check_span(const struct rig *rig, const char *name, int64_t ready_ns,
                       enum wait_cause cause, const char *blocker)
{
    const struct timeline_span *span = &rig->timeline->spans[plan_node(&rig->plan, name).index];

    ck_assert_msg(span->ready_ns == ready_ns && span->cause == cause, "%s: ready %lld, cause %s",
                  name, (long long)span->ready_ns, wait_cause_name((enum wait_cause)span->cause));
    if (blocker == NULL)
        ck_assert(!weir_is(span->blocker));
    else
        ck_assert_uint_eq(span->blocker.index, plan_node(&rig->plan, blocker).index);
}

/* a on sm; b on sm, ready at once, waits for a (engine); c on dma needs a's finish + 500 (ready) and
 * was induced to wait for b (capacity); d is forbidden beside c (overlap); e is held by the policy
 * until 9000; f is ready at a's start + 100 and starts 40 later: that is overhead. */
START_TEST(causes_are_what_came_last)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nengine dma\nengine x\noverlap d c forbidden\n"
                    "node a compute engine=sm duration=1us\nnode b compute engine=sm duration=1us\n"
                    "node c compute engine=dma duration=1us\nnode d compute engine=x duration=1us\n"
                    "node e compute duration=1us\nnode f barrier\n"
                    "edge a c ordering lag=500\nedge a f ordering from=start lag=100\n");
    ran(&rig, "a", 0, 1000, 10, 1100);
    ran(&rig, "f", 100, 100, 150, 150);
    ran(&rig, "b", 1000, 2000, 1110, 2200);
    ran(&rig, "c", 2000, 3000, 2250, 3300);
    ran(&rig, "d", 3000, 4000, 3310, 4400);
    ran(&rig, "e", 9000, 10000, 9003, 10100);
    rig.plan.timeline->spans[plan_node(&rig.plan, "e").index].cause = WAIT_ADMISSION;
    plan_induces(&rig.plan, "b", "c");
    rig_account(&rig, 1, 1);

    check_span(&rig, "a", 0, WAIT_NONE, NULL);
    check_span(&rig, "f", 110, WAIT_NONE, NULL);
    check_span(&rig, "b", 0, WAIT_ENGINE, "a");
    check_span(&rig, "c", 1600, WAIT_CAPACITY, "b");
    check_span(&rig, "d", 0, WAIT_OVERLAP, "c");
    check_span(&rig, "e", 0, WAIT_ADMISSION, NULL);
    /* Overheads: a 10, f 40, b 10, c 50, d 10, e 3. */
    ck_assert_int_eq(rig.overhead.total_ns, 123);
    ck_assert_int_eq(rig.overhead.median_ns, 10);
    ck_assert_uint_eq(rig.timeline->n_waits, 4);
    ck_assert_int_eq(rig.timeline->waits[1].from_ns, 1600);
    ck_assert_int_eq(rig.timeline->waits[1].to_ns, 2250);
    ck_assert_uint_eq(rig.timeline->n_induced, 1);
    rig_end(&rig);
}
END_TEST

/* Times are scaled, and a node that is off passes its edges on: g would have been ready at the finish
 * of a + 2 * 100, so b is ready 2 * 300 after that. */
START_TEST(ready_times_are_scaled_and_passed_on)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nguard never off\n"
                    "node a compute engine=sm duration=1us\n"
                    "node g compute engine=sm duration=9us guard=never\n"
                    "node b compute engine=sm duration=1us\nnode c barrier release=900\n"
                    "edge a g ordering lag=100\nedge g b ordering lag=300\n");
    ran(&rig, "a", 0, 1000, 0, 2000);
    ran(&rig, "c", 900, 900, 1801, 1801);
    ran(&rig, "b", 1400, 2400, 2850, 4900);
    rig_account(&rig, 2, 1);
    check_span(&rig, "b", 2800, WAIT_NONE, NULL);
    check_span(&rig, "c", 1800, WAIT_NONE, NULL);
    ck_assert_int_eq(rig.timeline->spans[plan_node(&rig.plan, "a").index].isolated_ns, 2000);
    ck_assert_int_eq(rig.overhead.total_ns, 51);
    rig_end(&rig);
}
END_TEST

static void check_pressure(const struct rig *rig, size_t row, uint32_t domain, int64_t t_ns,
                           int64_t bytes)
{
    const struct timeline_pressure *pressure = &rig->timeline->pressures[row];

    ck_assert_uint_lt(row, rig->timeline->n_pressures);
    ck_assert_msg(pressure->domain.index == domain && pressure->t_ns == t_ns &&
                      pressure->bytes == bytes,
                  "row %zu: domain %u, %lld ns, %lld bytes", row, pressure->domain.index,
                  (long long)pressure->t_ns, (long long)pressure->bytes);
}

/* At half size: w (1000) is there from the start and stays, as it is retained; y (2000) begins with a
 * and ends with b, its last reader; b has 600 of workspace; c stages 400 at the host until d, which
 * uses what it filled (w in far, 1000), has finished.
 *     a 0-10 (y), b 20-30, c 40-50, d 60-70. */
START_TEST(bytes_are_charged_by_the_replays_times)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\ndomain hbm capacity=1MB\ndomain host capacity=1MB\n"
                    "domain far capacity=1MB\nengine sm domain=hbm\nengine c from=hbm to=far\n"
                    "engine f domain=far\n"
                    "object w size=1000 initial retained\nobject y size=2000\n"
                    "node a compute engine=sm duration=10 writes=y\n"
                    "node b compute engine=sm duration=10 reads=y workspace=600\n"
                    "node c transfer engine=c duration=10 object=w staging=400@host\n"
                    "node d compute engine=f duration=10 reads=w\n");
    ran(&rig, "a", 0, 10, 0, 10);
    ran(&rig, "b", 10, 20, 20, 30);
    ran(&rig, "c", 20, 30, 40, 50);
    ran(&rig, "d", 30, 40, 60, 70);
    rig_account(&rig, 1, 0.5);
    ck_assert_uint_eq(rig.timeline->n_pressures, 9);
    check_pressure(&rig, 0, 0, 0, 1500);
    check_pressure(&rig, 1, 1, 0, 0);
    check_pressure(&rig, 2, 2, 0, 0);
    check_pressure(&rig, 3, 0, 20, 1800);
    check_pressure(&rig, 4, 0, 30, 500);
    check_pressure(&rig, 5, 1, 40, 200);
    check_pressure(&rig, 6, 2, 40, 500);
    check_pressure(&rig, 7, 1, 70, 0);
    check_pressure(&rig, 8, 2, 70, 0);
    ck_assert_int_eq(rig.timeline->peak_bytes[0], 1800);
    ck_assert_int_eq(rig.timeline->peak_bytes[1], 200);
    ck_assert_int_eq(rig.timeline->peak_bytes[2], 500);
    ck_assert_uint_eq(rig.timeline->n_holds, 5);
    ck_assert_int_eq(rig.timeline->holds[0].release_ns, -1);
    rig_end(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/account");
    TCase *times = tcase_create("times");
    TCase *bytes = tcase_create("bytes");

    tcase_add_test(times, causes_are_what_came_last);
    tcase_add_test(times, ready_times_are_scaled_and_passed_on);
    tcase_add_test(bytes, bytes_are_charged_by_the_replays_times);
    suite_add_tcase(suite, times);
    suite_add_tcase(suite, bytes);
    return run_suite(suite);
}
