/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deviations in four parts, on times made up by hand and on random graphs that the host replays. */
#include "replay/deviate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "replay/device.h"
#include "tests/replay/plan.h"

struct rig {
    struct test_plan plan;
    struct schedule *schedule;
    struct timeline *timeline; /* of the replay */
    struct step_order order;
    struct step_times *times;
    int64_t *submit_ns; /* by step */
    int64_t *submits;   /* by node, as the test says */
    struct arena arena;
    struct deviate deviate;
};

static void rig_begin(struct rig *rig, const char *text)
{
    uint32_t n;

    memset(rig, 0, sizeof *rig);
    plan_begin(&rig->plan, text);
    n = graph_n_nodes(rig->plan.graph);
    rig->timeline = timeline_new(n, graph_n_domains(rig->plan.graph));
    rig->submits = calloc(n, sizeof *rig->submits);
    ck_assert(rig->timeline != NULL && rig->submits != NULL);
}

/* What a node did in the replay. */
static void real(struct rig *rig, const char *name, int64_t submit_ns, int64_t start_ns,
                 int64_t finish_ns)
{
    weir_node node = plan_node(&rig->plan, name);

    rig->timeline->spans[node.index].start_ns = start_ns;
    rig->timeline->spans[node.index].finish_ns = finish_ns;
    rig->timeline->spans[node.index].order = rig->plan.timeline->spans[node.index].order;
    rig->submits[node.index] = submit_ns;
    if (finish_ns > rig->timeline->makespan_ns)
        rig->timeline->makespan_ns = finish_ns;
}

static void rig_schedule(struct rig *rig, double scale_time)
{
    const struct schedule_options options = {
        .scale_time = scale_time, .scale_bytes = 1, .memory_bytes = 1 << 30};
    const struct rates rates = {.work = {[STEP_COMPUTE] = {.unit_ns = 10}}};
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(schedule_make(rig->plan.binding, rig->plan.timeline, &options, &rates,
                                &rig->schedule, &err) == WEIR_OK,
                  "%s", err.text);
}

static void rig_deviate(struct rig *rig)
{
    uint32_t n_steps = rig->schedule->steps.n_steps;
    struct weir_error err;

    rig->times = calloc(n_steps, sizeof *rig->times);
    ck_assert_int_eq(step_order_make(rig->schedule, &rig->order, &err), WEIR_OK);
    ck_assert_uint_eq(rig->order.n_steps, n_steps);
    times_find(rig->schedule, &rig->order, rig->timeline, 1, rig->times);
    ck_assert_int_eq(deviate_find(rig->schedule, &rig->order, rig->timeline, rig->times,
                                  rig->submit_ns, &rig->arena, &rig->deviate, &err),
                     WEIR_OK);
}

static void rig_find(struct rig *rig, double scale_time)
{
    rig_schedule(rig, scale_time);
    rig->submit_ns = calloc(rig->schedule->steps.n_steps, sizeof *rig->submit_ns);
    for (uint32_t s = 0; s < rig->schedule->steps.n_steps; s++)
        rig->submit_ns[s] = rig->submits[rig->schedule->steps.node_of[s]];
    rig_deviate(rig);
}

static void rig_end(struct rig *rig)
{
    step_order_free(&rig->order);
    free(rig->times);
    free(rig->submit_ns);
    free(rig->submits);
    arena_free(&rig->arena);
    schedule_free(rig->schedule);
    timeline_free(rig->timeline);
    plan_end(&rig->plan);
}

static const struct deviate_action *action_of(const struct rig *rig, const char *name)
{
    uint32_t node = plan_node(&rig->plan, name).index;

    return &rig->deviate.actions[rig->schedule->steps.step_of[node]];
}

static void check_parts(const struct rig *rig, const char *name, int64_t dependency_ns,
                        int64_t submission_ns, int64_t queue_ns, int64_t stretch_ns)
{
    const struct deviation *parts = &action_of(rig, name)->deviation;

    ck_assert_msg(parts->dependency_ns == dependency_ns && parts->submission_ns == submission_ns &&
                      parts->queue_ns == queue_ns && parts->stretch_ns == stretch_ns,
                  "%s: dependency %lld, submission %lld, queue %lld, stretch %lld", name,
                  (long long)parts->dependency_ns, (long long)parts->submission_ns,
                  (long long)parts->queue_ns, (long long)parts->stretch_ns);
}

static void check_link(const struct rig *rig, uint32_t number, const char *name,
                       enum deviate_cause cause, const char *via, int64_t start_ns,
                       int64_t finish_ns)
{
    const struct deviate_link *link = &rig->deviate.links[number];

    ck_assert_uint_lt(number, rig->deviate.n_links);
    ck_assert_str_eq(graph_node_name(rig->plan.graph, link->node), name);
    ck_assert_str_eq(deviate_cause_name(link->cause), deviate_cause_name(cause));
    ck_assert_str_eq(link->via == NULL ? "" : link->via, via);
    ck_assert_int_eq(link->start_ns, start_ns);
    ck_assert_int_eq(link->finish_ns, finish_ns);
}

static void check_makespan(const struct rig *rig, int64_t dependency_ns, int64_t submission_ns,
                           int64_t queue_ns, int64_t stretch_ns)
{
    const struct deviation *parts = &rig->deviate.makespan;

    ck_assert_int_eq(parts->dependency_ns, dependency_ns);
    ck_assert_int_eq(parts->submission_ns, submission_ns);
    ck_assert_int_eq(parts->queue_ns, queue_ns);
    ck_assert_int_eq(parts->stretch_ns, stretch_ns);
}

/* ---- solved by hand ---- */

/* On sm a then b, planned 0-1000 and 1000-2000.
 *     a: ready at 0, come to at 0, begins at 30, takes 1100: queue 30, stretch 100.
 *     b: ready when a ends, at 1130 (planned 1000): dependency 130. Its thread comes to it at 1150:
 *        submission 20. It begins at 1155: queue 5. It takes 990: stretch -10. Sum 145 = 2145 - 2000.
 * The path is a, b; what the makespan is late is all that a and b did themselves: 130 + 15. */
START_TEST(a_chain_on_one_queue)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nnode a compute engine=sm duration=1us\n"
                    "node b compute engine=sm duration=1us\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "b", 1000, 2000);
    real(&rig, "a", 0, 30, 1130);
    real(&rig, "b", 1150, 1155, 2145);
    rig_find(&rig, 1);
    check_parts(&rig, "a", 0, 0, 30, 100);
    check_parts(&rig, "b", 130, 20, 5, -10);
    ck_assert_uint_eq(rig.deviate.n_links, 2);
    check_link(&rig, 0, "a", DEVIATE_BEGINS, "", 0, 1130);
    check_link(&rig, 1, "b", DEVIATE_ENGINE, "", 1130, 2145);
    check_makespan(&rig, 0, 20, 35, 90);
    ck_assert_int_eq(action_of(&rig, "a")->cost_ns, 130);
    ck_assert_int_eq(action_of(&rig, "b")->cost_ns, 15);
    rig_end(&rig);
}
END_TEST

/* c needs a (sm) and b (dma). Planned a 0-1000, b 0-900, c 1000-2000: b has 100 to spare.
 * In the replay a takes 1000, b 1250 (stretch 350), c begins at 1260 and ends at 2260.
 *     c: ready at 1250 and not at 1000: dependency 250; queue 10.
 * The path is b, c. Of b's 350 the first 100 were spare: c's link has dependency -100, and
 * -100 + 10 + 350 = 260 = 2260 - 2000. Had b been as planned, a would have bound c: c at 1010, end
 * at 2010: b costs 250. c costs its 10. a costs nothing. */
START_TEST(slack_of_the_plan_is_used_up_first)
{
    struct rig rig;

    rig_begin(&rig,
              "weir 1\nengine sm\nengine dma\nnode a compute engine=sm duration=1us\n"
              "node b compute engine=dma duration=900\nnode c compute engine=sm duration=1us\n"
              "edge a c ordering\nedge b c data-ready\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "b", 0, 900);
    plan_ran(&rig.plan, "c", 1000, 2000);
    real(&rig, "a", 0, 0, 1000);
    real(&rig, "b", 0, 0, 1250);
    real(&rig, "c", 1005, 1260, 2260);
    rig_find(&rig, 1);
    check_parts(&rig, "a", 0, 0, 0, 0);
    check_parts(&rig, "b", 0, 0, 0, 350);
    check_parts(&rig, "c", 250, 0, 10, 0);
    check_link(&rig, 0, "b", DEVIATE_BEGINS, "", 0, 1250);
    check_link(&rig, 1, "c", DEVIATE_PREDECESSOR, "data-ready", 1250, 2260);
    check_makespan(&rig, -100, 0, 10, 350);
    ck_assert_int_eq(action_of(&rig, "a")->cost_ns, 0);
    ck_assert_int_eq(action_of(&rig, "b")->cost_ns, 250);
    ck_assert_int_eq(action_of(&rig, "c")->cost_ns, 10);
    rig_end(&rig);
}
END_TEST

/* Times 2. a (sm) 0-1000; b (dma) follows the start of a by 300: planned 300-1300, that is 600-2600.
 * In the replay a begins at 40, b is ready at 640, begins at 700 and ends at 2700; a ends at 2000.
 *     a: queue 40, stretch 1960 - 2000. b: dependency 40, queue 60, stretch 0.
 * The path leaves a at its start: its stretch is none of it. 40 + 60 = 2700 - 2600. */
START_TEST(a_path_through_a_start)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nengine dma\nnode a compute engine=sm duration=1us\n"
                    "node b compute engine=dma duration=1us\n"
                    "edge a b ordering from=start lag=300\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "b", 300, 1300);
    real(&rig, "a", 0, 40, 2000);
    real(&rig, "b", 0, 700, 2700);
    rig_find(&rig, 2);
    check_parts(&rig, "a", 0, 0, 40, -40);
    check_parts(&rig, "b", 40, 0, 60, 0);
    check_link(&rig, 0, "a", DEVIATE_BEGINS, "", 0, 40);
    check_link(&rig, 1, "b", DEVIATE_PREDECESSOR, "ordering", 40, 2700);
    check_makespan(&rig, 0, 0, 100, 0);
    ck_assert_int_eq(action_of(&rig, "a")->cost_ns, 40);
    ck_assert_int_eq(action_of(&rig, "b")->cost_ns, 60);
    rig_end(&rig);
}
END_TEST

/* A release, bytes, an overlap, and a policy that held a node. Planned: a 500-1000 after its release;
 * b on dma 1000-2000 takes bytes of a (induced); c on x 2000-3000 must not overlap b; d on y is held
 * until 3500 and runs to 4000. In the replay each begins 10 after it was ready, and takes as long as
 * planned, but for d, which begins at 3500 exactly and ends at 4100. */
START_TEST(what_bound_each_start_is_named)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nengine dma\nengine x\nengine y\n"
                    "overlap b c forbidden\n"
                    "node a compute engine=sm duration=500 release=500\n"
                    "node b compute engine=dma duration=1us\nnode c compute engine=x duration=1us\n"
                    "node d compute engine=y duration=500\nedge c d ordering\n");
    plan_ran(&rig.plan, "a", 500, 1000);
    plan_ran(&rig.plan, "b", 1000, 2000);
    plan_ran(&rig.plan, "c", 2000, 3000);
    plan_ran(&rig.plan, "d", 3500, 4000)->cause = WAIT_ADMISSION;
    plan_induces(&rig.plan, "a", "b");
    real(&rig, "a", 0, 510, 1010);
    real(&rig, "b", 0, 1020, 2020);
    real(&rig, "c", 0, 2030, 3030);
    real(&rig, "d", 0, 3500, 4100);
    rig_find(&rig, 1);
    check_parts(&rig, "c", 20, 0, 10, 0);
    check_parts(&rig, "d", 0, 0, 0, 100);
    ck_assert_uint_eq(rig.deviate.n_links, 1);
    check_link(&rig, 0, "d", DEVIATE_INSERTED, "the policy held it until then", 0, 4100);
    check_makespan(&rig, 0, 0, 0, 100);
    rig_end(&rig);

    rig_begin(&rig,
              "weir 1\nengine sm\nengine dma\nengine x\noverlap b c forbidden\n"
              "node a compute engine=sm duration=500 release=500\n"
              "node b compute engine=dma duration=1us\nnode c compute engine=x duration=1us\n");
    plan_ran(&rig.plan, "a", 500, 1000);
    plan_ran(&rig.plan, "b", 1000, 2000);
    plan_ran(&rig.plan, "c", 2000, 3000);
    plan_induces(&rig.plan, "a", "b");
    real(&rig, "a", 0, 510, 1010);
    real(&rig, "b", 0, 1020, 2020);
    real(&rig, "c", 0, 2030, 3030);
    rig_find(&rig, 1);
    check_link(&rig, 0, "a", DEVIATE_RELEASE, "", 0, 1010);
    check_link(&rig, 1, "b", DEVIATE_CAPACITY, "capacity-wait", 1010, 2020);
    check_link(&rig, 2, "c", DEVIATE_INSERTED, "the two must not overlap", 2020, 3030);
    check_makespan(&rig, 0, 0, 30, 0);
    ck_assert_uint_eq(rig.schedule->waits.n_inserted, 1);
    rig_end(&rig);
}
END_TEST

/* g is off and passes the finish of a on, 100 later: b waits 100 + 300 for it. The plan ends with z,
 * the replay with b, which had 600 to spare: the last link says so. a 0-1000, b 1400-2400, z 0-3000;
 * really a 0-1900, b ready at 2300, 2300-3300, z 0-3000. 3300 - 3000 = 900 - 600. */
START_TEST(a_path_through_what_does_not_run)
{
    struct rig rig;

    rig_begin(&rig, "weir 1\nengine sm\nengine x\nguard never off\n"
                    "node a compute engine=sm duration=1us\n"
                    "node g compute engine=sm duration=9us guard=never\n"
                    "node b compute engine=sm duration=1us\nnode z compute engine=x duration=3us\n"
                    "edge a g ordering lag=100\nedge g b ordering lag=300\n");
    plan_ran(&rig.plan, "a", 0, 1000);
    plan_ran(&rig.plan, "z", 0, 3000);
    plan_ran(&rig.plan, "b", 1400, 2400);
    real(&rig, "a", 0, 0, 1900);
    real(&rig, "z", 0, 0, 3000);
    real(&rig, "b", 1900, 2300, 3300);
    rig_find(&rig, 1);
    check_parts(&rig, "b", 900, 0, 0, 0);
    ck_assert_uint_eq(rig.deviate.n_links, 3);
    check_link(&rig, 0, "a", DEVIATE_BEGINS, "", 0, 1900);
    check_link(&rig, 1, "g", DEVIATE_PREDECESSOR, "ordering", 1900, 2000);
    check_link(&rig, 2, "b", DEVIATE_PREDECESSOR, "ordering", 2000, 3300);
    check_makespan(&rig, -600, 0, 0, 900);
    /* As planned, a would let b end at 2400: then z is last. */
    ck_assert_int_eq(action_of(&rig, "a")->cost_ns, 300);
    rig_end(&rig);
}
END_TEST

/* ---- random graphs on the host ---- */

#define NODES 60
#define ENGINES 4
#define SLOTS 3

/* A graph, and the plan of a scheduler that takes nodes in program order. */
struct random_plan {
    char text[16384];
    size_t used;
    int64_t start_ns[NODES], finish_ns[NODES];
    bool is_on[NODES], has_engine[NODES];
    int64_t ready_ns[NODES];
    int64_t free_ns[ENGINES][SLOTS];
    uint32_t n_slots[ENGINES];
};

static void random_node(struct random_plan *p, struct random_stream *random, uint32_t i)
{
    uint32_t engine = (uint32_t)random_below(random, ENGINES);
    int64_t length_ns = 1000 + 1000 * (int64_t)random_below(random, 12);
    uint32_t slot = 0;

    p->is_on[i] = random_below(random, 8) != 0;
    p->has_engine[i] = random_below(random, 5) != 0;
    if (random_below(random, 6) == 0)
        p->ready_ns[i] = 1000 * (int64_t)random_below(random, 60);
    p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used, "node n%u ", i);
    if (p->has_engine[i])
        p->used +=
            (size_t)snprintf(p->text + p->used, sizeof p->text - p->used,
                             "compute engine=e%u duration=%lld", engine, (long long)length_ns);
    else
        p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used, "barrier");
    p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used, " release=%lld%s\n",
                                (long long)p->ready_ns[i], p->is_on[i] ? "" : " guard=never");
    for (uint32_t e = 0; e < 3 && i > 0; e++) {
        uint32_t producer = (uint32_t)random_below(random, i);
        bool is_from_start = random_below(random, 4) == 0;
        int64_t lag_ns = random_below(random, 3) == 0 ? 1000 * (int64_t)random_below(random, 9) : 0;
        int64_t ns = lag_ns + (is_from_start ? p->start_ns[producer] : p->finish_ns[producer]);

        if (random_below(random, 2) == 0)
            continue;
        p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used,
                                    "edge n%u n%u ordering lag=%lld%s\n", producer, i,
                                    (long long)lag_ns, is_from_start ? " from=start" : "");
        p->ready_ns[i] = ns > p->ready_ns[i] ? ns : p->ready_ns[i];
    }
    p->start_ns[i] = p->finish_ns[i] = p->ready_ns[i];
    if (!p->is_on[i] || !p->has_engine[i])
        return;
    for (uint32_t s = 1; s < p->n_slots[engine]; s++)
        slot = p->free_ns[engine][s] < p->free_ns[engine][slot] ? s : slot;
    if (p->free_ns[engine][slot] > p->start_ns[i])
        p->start_ns[i] = p->free_ns[engine][slot];
    p->finish_ns[i] = p->free_ns[engine][slot] = p->start_ns[i] + length_ns;
}

static void random_begin(struct rig *rig, struct random_plan *p, uint64_t seed)
{
    struct random_stream random;
    bool is_taken[NODES] = {false};

    random_seed(&random, seed, 0);
    memset(p, 0, sizeof *p);
    p->used = (size_t)snprintf(p->text, sizeof p->text, "weir 1\nguard never off\n");
    for (uint32_t e = 0; e < ENGINES; e++) {
        p->n_slots[e] = 1 + (uint32_t)random_below(&random, SLOTS);
        p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used,
                                    "engine e%u slots=%u\n", e, p->n_slots[e]);
    }
    for (uint32_t i = 0; i < NODES; i++)
        random_node(p, &random, i);
    rig_begin(rig, p->text);
    /* In the order of starts; those of one instant in program order, in which edges go forward. */
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t first = NODES;
        char name[16];

        for (uint32_t i = 0; i < NODES; i++) {
            if (!is_taken[i] && (first == NODES || p->start_ns[i] < p->start_ns[first]))
                first = i;
        }
        is_taken[first] = true;
        (void)snprintf(name, sizeof name, "n%u", first);
        if (p->is_on[first])
            plan_ran(&rig->plan, name, p->start_ns[first], p->finish_ns[first]);
    }
}

static void replay_once(struct rig *rig)
{
    const struct device_ops *ops;
    struct device *device = NULL;
    struct weir_error err = {WEIR_OK, ""};
    const struct device_setup setup = {.n_queues = rig->schedule->lanes.n_lanes,
                                       .n_steps = rig->schedule->steps.n_steps,
                                       .graph = rig->plan.graph,
                                       .deadline_ns = 50000000000,
                                       .memory_bytes = 1 << 20};

    ck_assert_int_eq(device_find("host", &ops, &err), WEIR_OK);
    ck_assert_int_eq(ops->open(&setup, &device, &err), WEIR_OK);
    for (uint32_t s = 0; s < rig->schedule->steps.n_steps; s++) {
        struct mechanism how;

        ck_assert_int_eq(ops->submit(device, &rig->schedule->step[s], &how, &err), WEIR_OK);
    }
    ck_assert_msg(ops->drain(device, rig->timeline, &err) == WEIR_OK, "%s", err.text);
    rig->submit_ns = calloc(setup.n_steps, sizeof *rig->submit_ns);
    for (uint32_t s = 0; s < setup.n_steps; s++)
        rig->submit_ns[s] = ops->submitted_ns(device, s);
    ops->close(device);
}

static void check_sums(const struct rig *rig)
{
    const struct schedule *schedule = rig->schedule;
    int64_t end_ns = 0, sum_ns = 0;

    for (uint32_t s = 0; s < schedule->steps.n_started; s++) {
        uint32_t node = schedule->steps.node_of[s];
        const struct deviate_action *action = &rig->deviate.actions[s];
        int64_t planned_ns =
            waits_scaled_ns(schedule->plan->spans[node].finish_ns, schedule->scale_time);

        ck_assert_int_eq(deviation_ns(&action->deviation),
                         rig->timeline->spans[node].finish_ns - planned_ns);
        ck_assert_int_ge(action->deviation.submission_ns, 0);
        ck_assert_int_ge(action->submit_ns, 0);
        /* Nothing starts before what it follows was over. */
        ck_assert_int_ge(rig->timeline->spans[node].start_ns, rig->times[s].ready_ns);
        ck_assert_uint_eq(action->position, action->planned_position);
    }
    for (uint32_t i = 0; i < rig->deviate.n_links; i++) {
        ck_assert_int_eq(rig->deviate.links[i].start_ns, end_ns);
        ck_assert_int_ge(rig->deviate.links[i].finish_ns, end_ns);
        ck_assert_int_le(rig->deviate.links[i].deviation.dependency_ns, 1); /* rounded */
        end_ns = rig->deviate.links[i].finish_ns;
        sum_ns += deviation_ns(&rig->deviate.links[i].deviation);
    }
    ck_assert_int_eq(end_ns, rig->timeline->makespan_ns);
    ck_assert_int_eq(sum_ns, rig->timeline->makespan_ns - schedule->makespan_ns);
    ck_assert_int_eq(deviation_ns(&rig->deviate.makespan), sum_ns);
}

/* The makespan, were the step that number as planned, and all others as they were: step by step. */
static int64_t makespan_without(const struct rig *rig, const struct step_times *planned,
                                uint32_t changed, struct step_times *at)
{
    int64_t makespan_ns = 0;

    for (uint32_t i = 0; i < rig->order.n_steps; i++) {
        uint32_t s = rig->order.steps[i];
        const struct step *step = &rig->schedule->step[s];
        const struct step_times *own = s == changed ? &planned[s] : &rig->times[s];
        int64_t ready_ns = step->release_ns;

        for (uint32_t w = 0; w < step->n_waits; w++) {
            const struct step_times *producer = &at[step->waits[w].step];
            int64_t ns = step->waits[w].lag_ns +
                         (step->waits[w].is_from_start ? producer->start_ns : producer->finish_ns);

            ready_ns = ns > ready_ns ? ns : ready_ns;
        }
        if (rig->order.before[s] != WEIR_NONE && at[rig->order.before[s]].finish_ns > ready_ns)
            ready_ns = at[rig->order.before[s]].finish_ns;
        at[s].start_ns = ready_ns + own->start_ns - own->ready_ns;
        at[s].finish_ns = at[s].start_ns + own->finish_ns - own->start_ns;
        if (s < rig->schedule->steps.n_started && at[s].finish_ns > makespan_ns)
            makespan_ns = at[s].finish_ns;
    }
    return makespan_ns;
}

static void check_costs(const struct rig *rig)
{
    uint32_t n_steps = rig->schedule->steps.n_steps;
    struct step_times *planned = calloc(n_steps, sizeof *planned);
    struct step_times *at = calloc(n_steps, sizeof *at);

    times_find(rig->schedule, &rig->order, rig->schedule->plan, rig->schedule->scale_time, planned);
    ck_assert_int_eq(makespan_without(rig, planned, WEIR_NONE, at), rig->timeline->makespan_ns);
    for (uint32_t s = 0; s < rig->schedule->steps.n_started; s++)
        ck_assert_int_eq(rig->deviate.actions[s].cost_ns,
                         rig->timeline->makespan_ns - makespan_without(rig, planned, s, at));
    free(planned);
    free(at);
}

START_TEST(parts_add_up_on_random_graphs)
{
    struct random_plan *plan = malloc(sizeof *plan);

    for (uint64_t seed = 0; seed < 5; seed++) {
        struct rig rig;

        random_begin(&rig, plan, (uint64_t)_i * 5 + seed);
        rig_schedule(&rig, seed % 2 == 0 ? 1 : 1.37);
        replay_once(&rig);
        rig_deviate(&rig);
        check_sums(&rig);
        check_costs(&rig);
        rig_end(&rig);
    }
    free(plan);
}
END_TEST

/* Each step is given a wait and a length of its own: the times of a replay follow from that. */
static void draw_times(struct rig *rig, struct random_stream *random)
{
    struct step_times *own = calloc(NODES, sizeof *own);
    struct step_times *at = calloc(NODES, sizeof *at);
    struct weir_error err;

    ck_assert(own != NULL && at != NULL);
    ck_assert_int_eq(step_order_make(rig->schedule, &rig->order, &err), WEIR_OK);
    for (uint32_t s = 0; s < rig->schedule->steps.n_started; s++) {
        own[s].start_ns = 100 * (int64_t)random_below(random, 4);
        own[s].finish_ns = own[s].start_ns + 1000 * (int64_t)random_below(random, 9);
    }
    rig->times = own;
    (void)makespan_without(rig, own, WEIR_NONE, at);
    for (uint32_t s = 0; s < rig->schedule->steps.n_started; s++) {
        struct timeline_span *span = &rig->timeline->spans[rig->schedule->steps.node_of[s]];

        span->start_ns = at[s].start_ns;
        span->finish_ns = at[s].finish_ns;
        span->order = s;
        if (span->finish_ns > rig->timeline->makespan_ns)
            rig->timeline->makespan_ns = span->finish_ns;
    }
    rig->times = NULL;
    step_order_free(&rig->order);
    free(own);
    free(at);
}

/* Times drawn at random, so that ties, early ends and long waits all come. */
START_TEST(costs_are_those_of_a_run_without_the_deviation)
{
    struct random_plan *plan = malloc(sizeof *plan);

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct random_stream random;
        struct rig rig;

        random_seed(&random, seed, 1);
        random_begin(&rig, plan, seed);
        rig_schedule(&rig, 1);
        draw_times(&rig, &random);
        rig.submit_ns = calloc(NODES, sizeof *rig.submit_ns);
        rig_deviate(&rig);
        check_sums(&rig);
        check_costs(&rig);
        rig_end(&rig);
    }
    free(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/deviate");
    TCase *models = tcase_create("models");
    TCase *properties = tcase_create("properties");

    tcase_add_test(models, a_chain_on_one_queue);
    tcase_add_test(models, slack_of_the_plan_is_used_up_first);
    tcase_add_test(models, a_path_through_a_start);
    tcase_add_test(models, what_bound_each_start_is_named);
    tcase_add_test(models, a_path_through_what_does_not_run);
    tcase_add_loop_test(properties, parts_add_up_on_random_graphs, 0, 8);
    tcase_add_test(properties, costs_are_those_of_a_run_without_the_deviation);
    suite_add_tcase(suite, models);
    suite_add_tcase(suite, properties);
    return run_suite(suite);
}
