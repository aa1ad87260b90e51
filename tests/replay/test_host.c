/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host device runs hand-made steps in the order that their queues and waits give, with real
 * buffers whose tags show when an order was not kept. Nothing here depends on how fast the machine
 * is: order, data and lower bounds of paced times are checked, never durations. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/random.h"
#include "replay/device.h"
#include "tests/suite.h"

#define MS 1000000

/* A run in the making. */
struct rig {
    struct device_setup setup;
    struct device *device;
    struct timeline *timeline;
    uint32_t n_steps;
    struct weir_error err;
};

static void rig_open(struct rig *rig, uint32_t n_queues, uint32_t n_steps,
                     const struct device_buffer *buffers, uint32_t n_buffers)
{
    const struct device_ops *ops;

    memset(rig, 0, sizeof *rig);
    ck_assert_int_eq(device_find("host", &ops, &rig->err), WEIR_OK);
    rig->setup = (struct device_setup){.n_queues = n_queues,
                                       .n_steps = n_steps,
                                       .n_buffers = n_buffers,
                                       .buffers = buffers,
                                       .deadline_ns = (int64_t)50000 * MS,
                                       .memory_bytes = 64 << 20};
    rig->timeline = timeline_new(n_steps, 1);
    ck_assert_ptr_nonnull(rig->timeline);
    ck_assert_int_eq(ops->open(&rig->setup, &rig->device, &rig->err), WEIR_OK);
}

static void rig_reopen(struct rig *rig)
{
    const struct device_ops *ops = rig->device->ops;

    ops->close(rig->device);
    ck_assert_int_eq(ops->open(&rig->setup, &rig->device, &rig->err), WEIR_OK);
}

static void rig_close(struct rig *rig)
{
    rig->device->ops->close(rig->device);
    timeline_free(rig->timeline);
}

/* Submits the step for node number n_steps. */
static void rig_add(struct rig *rig, struct step step)
{
    struct mechanism how = {NULL, NULL};

    step.node.index = rig->n_steps++;
    ck_assert_int_eq(rig->device->ops->submit(rig->device, &step, &how, &rig->err), WEIR_OK);
    ck_assert_ptr_nonnull(how.name);
}

static void rig_run(struct rig *rig)
{
    enum weir_status status = rig->device->ops->drain(rig->device, rig->timeline, &rig->err);

    ck_assert_msg(status == WEIR_OK, "%s", rig->err.text);
}

static void rig_fail(struct rig *rig, const char *part)
{
    enum weir_status status = rig->device->ops->drain(rig->device, rig->timeline, &rig->err);

    ck_assert_int_eq(status, WEIR_DEVICE);
    ck_assert_msg(strstr(rig->err.text, part) != NULL, "'%s' is not in: %s", part, rig->err.text);
}

static const struct timeline_span *span(const struct rig *rig, uint32_t step)
{
    return &rig->timeline->spans[step];
}

static void check_after(const struct rig *rig, uint32_t producer, uint32_t consumer)
{
    ck_assert_int_ge(span(rig, producer)->start_ns, 0);
    ck_assert_int_ge(span(rig, producer)->finish_ns, span(rig, producer)->start_ns);
    ck_assert_int_ge(span(rig, consumer)->start_ns, span(rig, producer)->finish_ns);
}

/* ---- order ---- */

START_TEST(one_queue_keeps_order)
{
    struct rig rig;

    rig_open(&rig, 1, 20, NULL, 0);
    for (int i = 0; i < 20; i++)
        rig_add(&rig, (struct step){.action = i % 3 == 0 ? STEP_MARK : STEP_COMPUTE,
                                    .amount = i % 3 == 0 ? 0 : 1000});
    for (int pass = 0; pass < 3; pass++) {
        rig_run(&rig);
        for (uint32_t i = 1; i < 20; i++)
            check_after(&rig, i - 1, i);
        ck_assert_int_eq(rig.timeline->makespan_ns, span(&rig, 19)->finish_ns);
        ck_assert_uint_eq(span(&rig, 7)->order, 7);
        ck_assert_uint_eq(span(&rig, 7)->source, TIME_HOST);
    }
    ck_assert_int_gt(rig.device->ops->processor_ns(rig.device, 1), 0);
    ck_assert_int_eq(rig.device->ops->processor_ns(rig.device, 0), -1);
    rig_close(&rig);
}
END_TEST

/* Untimed, a run gives no spans, and is as long as it is: here no less than its step is held back. */
START_TEST(a_run_need_not_be_timed)
{
    const struct device_ops *ops;
    struct rig rig;

    rig_open(&rig, 1, 1, NULL, 0);
    ops = rig.device->ops;
    rig_add(&rig, (struct step){.action = STEP_MARK, .release_ns = 2 * MS});
    ck_assert_int_eq(ops->drain(rig.device, NULL, &rig.err), WEIR_OK);
    ck_assert_int_ge(ops->whole_ns(rig.device), 2 * MS);
    ck_assert_int_eq(span(&rig, 0)->start_ns, -1);
    rig_run(&rig);
    ck_assert_int_eq(ops->whole_ns(rig.device), rig.timeline->makespan_ns);
    rig_close(&rig);
}
END_TEST

/* 0 -> 1 -> 2 -> ... hand over between two queues, then between a queue and steps without one. */
START_TEST(waits_cross_queues)
{
    for (int without = 0; without < 2; without++) {
        struct rig rig;

        rig_open(&rig, 2, 200, NULL, 0);
        for (uint32_t i = 0; i < 200; i++) {
            struct step_wait wait = {.step = i - 1};
            uint32_t other = without != 0 ? STEP_NO_QUEUE : 1;

            rig_add(&rig, (struct step){.action = STEP_COMPUTE,
                                        .amount = 200,
                                        .queue = i % 2 == 0 ? 0 : other,
                                        .waits = &wait,
                                        .n_waits = i > 0});
        }
        for (int pass = 0; pass < 3; pass++) {
            rig_run(&rig);
            for (uint32_t i = 1; i < 200; i++)
                check_after(&rig, i - 1, i);
        }
        rig_close(&rig);
    }
}
END_TEST

/* Releases, lags, and edges from a start are waited for; the queue's order holds beside them. */
START_TEST(times_are_paced)
{
    struct rig rig;
    const struct step_wait lag = {.step = 0, .lag_ns = 3 * MS};
    const struct step_wait from_start = {.step = 1, .is_from_start = true, .lag_ns = 2 * MS};
    const struct step_wait soon = {.step = 1, .is_from_start = true};

    rig_open(&rig, 2, 6, NULL, 0);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0, .release_ns = 2 * MS});
    rig_add(&rig,
            (struct step){
                .action = STEP_COMPUTE, .amount = 100, .queue = 0, .waits = &lag, .n_waits = 1});
    rig_add(&rig,
            (struct step){.action = STEP_MARK, .queue = 1, .waits = &from_start, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK,
                                .queue = STEP_NO_QUEUE,
                                .waits = &from_start,
                                .n_waits = 1,
                                .release_ns = MS});
    rig_add(&rig, (struct step){
                      .action = STEP_MARK, .queue = STEP_NO_QUEUE, .waits = &soon, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = STEP_NO_QUEUE, .release_ns = 4 * MS});
    for (int pass = 0; pass < 2; pass++) {
        rig_run(&rig);
        ck_assert_int_ge(span(&rig, 0)->start_ns, 2 * MS);
        ck_assert_int_ge(span(&rig, 1)->start_ns, span(&rig, 0)->finish_ns + 3 * MS);
        ck_assert_int_ge(span(&rig, 2)->start_ns, span(&rig, 1)->start_ns + 2 * MS);
        ck_assert_int_ge(span(&rig, 3)->start_ns, span(&rig, 1)->start_ns + 2 * MS);
        ck_assert_int_ge(span(&rig, 4)->start_ns, span(&rig, 1)->start_ns);
        ck_assert_int_ge(span(&rig, 5)->start_ns, 4 * MS);
    }
    rig_close(&rig);
}
END_TEST

/* 0 --1 ms--> pass(release 3 ms) --2 ms--> pass --> 3: the first pass would have been ready at
 * max(3 ms, finish of 0 + 1 ms), so 3 starts 2 ms after that at the earliest. A pass without waits
 * stands for its release. */
START_TEST(passed_edges_add_up)
{
    struct rig rig;
    const struct step_wait first = {.step = 0, .lag_ns = MS};
    const struct step_wait second = {.step = 1, .lag_ns = 2 * MS};
    const struct step_wait third = {.step = 2, .is_from_start = true};
    const struct step_wait root = {.step = 4, .lag_ns = MS};

    rig_open(&rig, 1, 6, NULL, 0);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0});
    rig_add(&rig, (struct step){.action = STEP_PASS,
                                .queue = STEP_NO_QUEUE,
                                .waits = &first,
                                .n_waits = 1,
                                .release_ns = 3 * MS});
    rig_add(&rig, (struct step){
                      .action = STEP_PASS, .queue = STEP_NO_QUEUE, .waits = &second, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0, .waits = &third, .n_waits = 1});
    rig_add(&rig, (struct step){.action = STEP_PASS, .queue = STEP_NO_QUEUE, .release_ns = 7 * MS});
    rig_add(&rig, (struct step){
                      .action = STEP_MARK, .queue = STEP_NO_QUEUE, .waits = &root, .n_waits = 1});
    rig_run(&rig);
    ck_assert_int_ge(span(&rig, 3)->start_ns, 5 * MS);
    ck_assert_int_ge(span(&rig, 5)->start_ns, 8 * MS);
    ck_assert_int_eq(span(&rig, 1)->start_ns, -1);
    ck_assert_int_eq(span(&rig, 4)->start_ns, -1);
    rig_close(&rig);
}
END_TEST

#define RANDOM_STEPS 600

/* Random steps on more queues than there are processors; every wait goes to an earlier step. */
static void check_random(uint64_t seed)
{
    struct rig rig;
    struct random_stream random;
    static struct step_wait waits[RANDOM_STEPS][3];
    static struct step steps[RANDOM_STEPS];
    uint32_t last[5] = {WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE};

    random_seed(&random, seed, 0);
    rig_open(&rig, 5, RANDOM_STEPS, NULL, 0);
    for (uint32_t i = 0; i < RANDOM_STEPS; i++) {
        uint32_t queue = (uint32_t)random_below(&random, 7);

        steps[i] = (struct step){.action = queue == 6 ? STEP_MARK : STEP_COMPUTE,
                                 .queue = queue >= 5 ? STEP_NO_QUEUE : queue,
                                 .amount = queue == 6 ? 0 : (int64_t)random_below(&random, 500),
                                 .waits = waits[i],
                                 .n_waits = i < 4 ? 0 : (uint32_t)random_below(&random, 4)};
        for (uint32_t w = 0; w < steps[i].n_waits; w++)
            waits[i][w] = (struct step_wait){.step = (uint32_t)random_below(&random, i),
                                             .is_from_start = random_below(&random, 8) == 0,
                                             .lag_ns = (int64_t)random_below(&random, 20) *
                                                       (random_below(&random, 10) == 0) * 1000};
        rig_add(&rig, steps[i]);
    }
    rig_run(&rig);
    rig_run(&rig);
    for (uint32_t i = 0; i < RANDOM_STEPS; i++) {
        for (uint32_t w = 0; w < steps[i].n_waits; w++) {
            const struct timeline_span *producer = span(&rig, waits[i][w].step);

            ck_assert_int_ge(
                span(&rig, i)->start_ns,
                (waits[i][w].is_from_start ? producer->start_ns : producer->finish_ns) +
                    waits[i][w].lag_ns);
        }
        if (steps[i].queue == STEP_NO_QUEUE)
            continue;
        if (last[steps[i].queue] != WEIR_NONE)
            check_after(&rig, last[steps[i].queue], i);
        last[steps[i].queue] = i;
    }
    rig_close(&rig);
}

START_TEST(random_orders_are_kept)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        check_random(seed);
}
END_TEST

/* ---- data ---- */

#define A_BYTES (256 << 10)
#define TAG_A 11
#define TAG_B 12

static const struct step_buffer a_whole[] = {{.buffer = 0, .size_bytes = A_BYTES, .tag = TAG_A}};
static const struct step_buffer b_whole[] = {{.buffer = 1, .size_bytes = A_BYTES, .tag = TAG_A}};
static const struct step_buffer b_tagless[] = {{.buffer = 1, .size_bytes = A_BYTES}};

/* Buffer 0 is there before the run and holds A; buffer 1 is allocated by step 0 and given back by
 * step 3. */
static const struct device_buffer pair[] = {
    {.size_bytes = A_BYTES,
     .object = {WEIR_NONE},
     .is_initial = true,
     .allocate_step = WEIR_NONE,
     .reclaim_step = WEIR_NONE,
     .stretches = a_whole,
     .n_stretches = 1},
    {.size_bytes = A_BYTES,
     .object = {WEIR_NONE},
     .allocate_step = 0,
     .reclaim_step = 3,
     .stretches = b_whole,
     .n_stretches = 1},
};

static const struct step allocate_b = {
    .action = STEP_ALLOCATE, .queue = STEP_NO_QUEUE, .writes = b_tagless, .n_writes = 1};
static const struct step copy_ab = {.action = STEP_COPY,
                                    .amount = 3 * A_BYTES,
                                    .reads = a_whole,
                                    .n_reads = 1,
                                    .writes = b_tagless,
                                    .n_writes = 1,
                                    .n_copied = 1};
static const struct step read_b = {
    .action = STEP_COMPUTE, .amount = 10, .reads = b_whole, .n_reads = 1};
static const struct step reclaim_b = {
    .action = STEP_RECLAIM, .queue = STEP_NO_QUEUE, .writes = b_tagless, .n_writes = 1};

/* The step, after the step before it. */
static struct step after(struct step step, const struct step_wait *wait)
{
    step.waits = wait;
    step.n_waits = 1;
    return step;
}

START_TEST(copies_carry_tags)
{
    static const struct step_wait waits[] = {{.step = 0}, {.step = 1}, {.step = 2}};
    struct rig rig;

    rig_open(&rig, 1, 4, pair, 2);
    rig_add(&rig, allocate_b);
    rig_add(&rig, after(copy_ab, &waits[0]));
    rig_add(&rig, after(read_b, &waits[1]));
    rig_add(&rig, after(reclaim_b, &waits[2]));
    for (int pass = 0; pass < 3; pass++)
        rig_run(&rig);
    rig_close(&rig);
}
END_TEST

/* The reader stands before the copy on its queue: it finds bytes that nothing wrote. */
START_TEST(reading_early_fails)
{
    static const struct step_wait waits[] = {{.step = 0}, {.step = 2}};
    struct rig rig;

    rig_open(&rig, 1, 4, pair, 2);
    rig_add(&rig, allocate_b);
    rig_add(&rig, after(read_b, &waits[0]));
    rig_add(&rig, copy_ab);
    rig_add(&rig, after(reclaim_b, &waits[1]));
    rig_fail(&rig, "step 1 uses buffer 1 and finds bytes that nothing wrote");
    rig_close(&rig);
}
END_TEST

START_TEST(reading_what_is_gone_fails)
{
    static const struct step_wait waits[] = {{.step = 0}, {.step = 1}, {.step = 3}};
    struct rig rig;

    rig_open(&rig, 1, 4, pair, 2);
    rig_add(&rig, allocate_b);
    rig_add(&rig, after(copy_ab, &waits[0]));
    rig_add(&rig, after(read_b, &waits[2]));
    rig_add(&rig, after(reclaim_b, &waits[1]));
    rig_fail(&rig, "step 2 uses buffer 1 and finds no such bytes");
    rig_close(&rig);
}
END_TEST

/* A writer leaves its tag; who expects the one before finds other data. */
START_TEST(reading_late_fails)
{
    static const struct step_buffer rewritten[] = {
        {.buffer = 0, .size_bytes = A_BYTES, .tag = TAG_B}};
    struct rig rig;

    rig_open(&rig, 1, 2, pair, 1);
    rig_add(&rig, (struct step){.action = STEP_COMPUTE,
                                .amount = 10,
                                .reads = a_whole,
                                .n_reads = 1,
                                .writes = rewritten,
                                .n_writes = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .reads = a_whole, .n_reads = 1});
    rig_fail(&rig, "step 1 uses buffer 0 and finds other data (tag 000000000000000c");
    rig_close(&rig);
}
END_TEST

/* Each kind of work finds the tag of the one before it in its queue and leaves its own; several do the
 * same work at once, and one of each is in no queue. */
START_TEST(work_of_every_kind_finds_and_leaves_tags)
{
    static const struct step_buffer tags[STEP_WORKS + 1] = {{.size_bytes = 64, .tag = 1},
                                                            {.size_bytes = 64, .tag = 2},
                                                            {.size_bytes = 64, .tag = 3},
                                                            {.size_bytes = 64, .tag = 4},
                                                            {.size_bytes = 64, .tag = 5}};
    struct device_buffer buffers[3];
    struct step_buffer given[3][STEP_WORKS + 1];
    struct step_wait last[3] = {{.step = 0}};
    struct rig rig;

    for (uint32_t b = 0; b < 3; b++) {
        for (int i = 0; i <= STEP_WORKS; i++) {
            given[b][i] = tags[i];
            given[b][i].buffer = b;
        }
        buffers[b] = (struct device_buffer){.size_bytes = 64,
                                            .object = {WEIR_NONE},
                                            .is_initial = true,
                                            .allocate_step = WEIR_NONE,
                                            .reclaim_step = WEIR_NONE,
                                            .stretches = given[b],
                                            .n_stretches = 1};
    }
    rig_open(&rig, 2, 3 * STEP_WORKS, buffers, 3);
    for (int work = 0; work < STEP_WORKS; work++) {
        for (uint32_t b = 0; b < 3; b++) {
            const struct step step = {.action = (enum step_action)work,
                                      .queue = b < 2 ? b : STEP_NO_QUEUE,
                                      .amount = work == STEP_COMPUTE ? 20000 : 3000001,
                                      .reads = &given[b][work],
                                      .n_reads = 1,
                                      .writes = &given[b][work + 1],
                                      .n_writes = 1,
                                      .waits = &last[b],
                                      .n_waits = work > 0};

            rig_add(&rig, step);
            last[b].step = rig.n_steps - 1;
        }
    }
    for (int pass = 0; pass < 3; pass++)
        rig_run(&rig);
    for (uint32_t i = 0; i < 3 * STEP_WORKS; i++)
        ck_assert_int_gt(rig.device->ops->processor_ns(rig.device, i), 0);
    rig_close(&rig);
}
END_TEST

/* Three stretches of a buffer have tags of their own; a copy of the middle one leaves the others. */
START_TEST(stretches_have_tags_of_their_own)
{
    static const struct step_buffer source[] = {
        {.buffer = 0, .size_bytes = 64, .tag = 1},
        {.buffer = 0, .offset = 64, .size_bytes = 128, .tag = 2},
        {.buffer = 0, .offset = 192, .size_bytes = 64, .tag = 3}};
    static const struct step_buffer target[] = {
        {.buffer = 1, .size_bytes = 64, .tag = 4},
        {.buffer = 1, .offset = 64, .size_bytes = 128, .tag = 5},
        {.buffer = 1, .offset = 192, .size_bytes = 64, .tag = 6}};
    static const struct step_buffer expected[] = {
        {.buffer = 1, .size_bytes = 64, .tag = 4},
        {.buffer = 1, .offset = 64, .size_bytes = 128, .tag = 2},
        {.buffer = 1, .offset = 192, .size_bytes = 64, .tag = 6}};
    const struct device_buffer buffers[] = {
        {.size_bytes = 256,
         .object = {WEIR_NONE},
         .is_initial = true,
         .allocate_step = WEIR_NONE,
         .reclaim_step = WEIR_NONE,
         .stretches = source,
         .n_stretches = 3},
        {.size_bytes = 256,
         .object = {WEIR_NONE},
         .is_initial = true,
         .allocate_step = WEIR_NONE,
         .reclaim_step = WEIR_NONE,
         .stretches = target,
         .n_stretches = 3},
    };
    struct rig rig;

    rig_open(&rig, 1, 2, buffers, 2);
    rig_add(&rig, (struct step){.action = STEP_COPY,
                                .amount = 128,
                                .reads = source + 1,
                                .n_reads = 1,
                                .writes = target + 1,
                                .n_writes = 1,
                                .n_copied = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK, .reads = expected, .n_reads = 3});
    rig_run(&rig);
    rig_run(&rig);
    rig_close(&rig);
}
END_TEST

/* ---- memory ---- */

#define LIFE_BYTES (768 << 10)

static const struct step_buffer life_tags[] = {
    {.buffer = 0, .size_bytes = LIFE_BYTES, .tag = 1},
    {.buffer = 1, .size_bytes = 2 * LIFE_BYTES / 3, .tag = 2}};
static const uint32_t life_uses[] = {0, 1};

/* Neither is allocated: each begins with its writer and ends with its second use. */
static const struct device_buffer lives[] = {
    {.size_bytes = LIFE_BYTES,
     .object = {WEIR_NONE},
     .allocate_step = WEIR_NONE,
     .reclaim_step = WEIR_NONE,
     .n_uses = 2,
     .stretches = life_tags,
     .n_stretches = 1},
    {.size_bytes = 2 * LIFE_BYTES / 3,
     .object = {WEIR_NONE},
     .allocate_step = WEIR_NONE,
     .reclaim_step = WEIR_NONE,
     .n_uses = 2,
     .stretches = life_tags + 1,
     .n_stretches = 1},
};

static void add_life(struct rig *rig, int b)
{
    rig_add(rig, (struct step){.action = STEP_MARK,
                               .writes = life_tags + b,
                               .n_writes = 1,
                               .uses = life_uses + b,
                               .n_uses = 1});
    rig_add(rig, (struct step){.action = STEP_MARK,
                               .reads = life_tags + b,
                               .n_reads = 1,
                               .uses = life_uses + b,
                               .n_uses = 1});
}

/* 768 KiB and 512 KiB do not fit 1 MiB together, but one after the other. */
START_TEST(buffers_end_with_their_last_use)
{
    struct rig rig;

    rig_open(&rig, 1, 4, lives, 2);
    rig.setup.memory_bytes = 1 << 20;
    rig_reopen(&rig);
    add_life(&rig, 0);
    add_life(&rig, 1);
    rig_run(&rig);
    rig_run(&rig);
    rig_close(&rig);

    rig_open(&rig, 1, 4, lives, 2);
    rig.setup.memory_bytes = 1 << 20;
    rig_reopen(&rig);
    rig_add(&rig, (struct step){.action = STEP_MARK,
                                .writes = life_tags,
                                .n_writes = 1,
                                .uses = life_uses,
                                .n_uses = 1});
    rig_add(&rig, (struct step){.action = STEP_MARK,
                                .writes = life_tags + 1,
                                .n_writes = 1,
                                .uses = life_uses + 1,
                                .n_uses = 1});
    rig_fail(&rig, "step 1 cannot have the 524288 bytes of buffer 1: 1048576 may be used");
    rig_close(&rig);
}
END_TEST

static long page_faults(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* A warm run meets no page fault, whatever the sizes of its buffers: each is given back and is there
 * for the next that is as large. New, the two of each run would take 1700 pages. */
START_TEST(warm_runs_use_memory_again)
{
    static const struct device_buffer buffers[] = {
        {.size_bytes = 4 * MS + 724736, .allocate_step = 0, .reclaim_step = 1},
        {.size_bytes = 2 * MS + 240000, .allocate_step = 2, .reclaim_step = 3},
    };
    static const struct step_buffer all[] = {{.buffer = 0, .size_bytes = 4 * MS + 724736},
                                             {.buffer = 1, .size_bytes = 2 * MS + 240000}};
    struct rig rig;
    long before;

    rig_open(&rig, 1, 4, buffers, 2);
    for (int i = 0; i < 4; i++)
        rig_add(&rig, (struct step){.action = i % 2 == 0 ? STEP_ALLOCATE : STEP_RECLAIM,
                                    .writes = all + i / 2,
                                    .n_writes = 1});
    rig_run(&rig);
    rig_run(&rig);
    before = page_faults();
    rig_run(&rig);
    ck_assert_int_lt(page_faults() - before, 200);
    rig_close(&rig);
}
END_TEST

START_TEST(initial_bytes_must_fit)
{
    struct rig rig;

    rig_open(&rig, 1, 1, pair, 1);
    rig.setup.memory_bytes = 1000;
    rig_reopen(&rig);
    rig_add(&rig, (struct step){.action = STEP_MARK});
    rig_fail(&rig, "buffer 0 needs 262144 bytes before the run, and 1000 are");
    rig_close(&rig);
}
END_TEST

/* ---- what never ends ---- */

START_TEST(endless_work_is_stopped)
{
    struct rig rig;

    rig_open(&rig, 2, 3, NULL, 0);
    rig.setup.deadline_ns = 50 * MS;
    rig_reopen(&rig);
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 0});
    rig_add(&rig, (struct step){.action = STEP_COMPUTE, .queue = 0, .amount = INT64_MAX / 2});
    rig_add(&rig, (struct step){.action = STEP_MARK, .queue = 1});
    rig_fail(&rig, "step 1 had not finished after 0.050 s");
    rig_close(&rig);
}
END_TEST

START_TEST(waiting_for_each_other_is_stopped)
{
    struct rig rig;
    const struct step_wait second = {.step = 1};
    const struct step_wait first = {.step = 0};

    rig_open(&rig, 2, 2, NULL, 0);
    rig.setup.deadline_ns = 50 * MS;
    rig_reopen(&rig);
    rig_add(&rig, after((struct step){.action = STEP_MARK, .queue = 0}, &second));
    rig_add(&rig, after((struct step){.action = STEP_MARK, .queue = 1}, &first));
    rig_fail(&rig, "step 0 had not begun after 0.050 s");
    rig_close(&rig);
}
END_TEST

START_TEST(bad_steps_are_refused)
{
    struct rig rig;
    struct mechanism how;
    const struct step_wait beyond = {.step = 5};
    const struct step wrong_queue = {.action = STEP_MARK, .queue = 3};

    rig_open(&rig, 1, 1, NULL, 0);
    ck_assert_int_eq(rig.device->ops->submit(rig.device, &wrong_queue, &how, &rig.err), WEIR_INPUT);
    rig_add(&rig, after((struct step){.action = STEP_MARK}, &beyond));
    ck_assert_int_eq(rig.device->ops->submit(rig.device, &read_b, &how, &rig.err), WEIR_INPUT);
    ck_assert_int_eq(rig.device->ops->drain(rig.device, rig.timeline, &rig.err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(rig.err.text, "step 0 waits for step 5 of 1"));
    rig_close(&rig);
}
END_TEST

/* ---- the registry ---- */

START_TEST(devices_are_found)
{
    const struct device_ops *ops = NULL;
    struct device_info info;
    struct weir_error err;

    ck_assert_int_eq(device_find_ready("host", &ops, &info, &err), WEIR_OK);
    ck_assert_str_eq(ops->name, "host");
    ck_assert_uint_ge(info.n_processors, 1);
    ck_assert_int_gt(info.memory_bytes, 1 << 20);
    ck_assert_int_eq(device_find("cuda", &ops, &err), WEIR_OK);
    if (device_find_ready("cuda", &ops, &info, &err) != WEIR_OK) {
        const struct device_setup none = {.n_queues = 0};
        struct device *device = NULL;

        ck_assert_ptr_nonnull(strstr(err.text, "'cuda' is not available"));
        ck_assert_int_eq(ops->open(&none, &device, &err), WEIR_DEVICE);
        ck_assert_ptr_null(device);
    }
    ck_assert_int_eq(device_find("abacus", &ops, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "host, cuda"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/host");
    TCase *order = tcase_create("order");
    TCase *data = tcase_create("data");
    TCase *ends = tcase_create("ends");

    tcase_add_test(order, one_queue_keeps_order);
    tcase_add_test(order, a_run_need_not_be_timed);
    tcase_add_test(order, waits_cross_queues);
    tcase_add_test(order, times_are_paced);
    tcase_add_test(order, passed_edges_add_up);
    tcase_add_test(order, random_orders_are_kept);
    tcase_add_test(data, copies_carry_tags);
    tcase_add_test(data, reading_early_fails);
    tcase_add_test(data, reading_what_is_gone_fails);
    tcase_add_test(data, reading_late_fails);
    tcase_add_test(data, work_of_every_kind_finds_and_leaves_tags);
    tcase_add_test(data, stretches_have_tags_of_their_own);
    tcase_add_test(data, buffers_end_with_their_last_use);
    tcase_add_test(data, warm_runs_use_memory_again);
    tcase_add_test(data, initial_bytes_must_fit);
    tcase_add_test(ends, endless_work_is_stopped);
    tcase_add_test(ends, waiting_for_each_other_is_stopped);
    tcase_add_test(ends, bad_steps_are_refused);
    tcase_add_test(ends, devices_are_found);
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, data);
    suite_add_tcase(suite, ends);
    return run_suite(suite);
}
