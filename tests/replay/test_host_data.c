/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers of the host device are real: tags in them show when an order was not kept, and what was given
 * back is used again. */
#include <sys/resource.h>

#include "tests/replay/host_rig.h"

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

int main(void)
{
    Suite *suite = suite_create("replay/host_data");
    TCase *data = tcase_create("data");
    TCase *memory = tcase_create("memory");

    tcase_add_test(data, copies_carry_tags);
    tcase_add_test(data, reading_early_fails);
    tcase_add_test(data, reading_what_is_gone_fails);
    tcase_add_test(data, reading_late_fails);
    tcase_add_test(data, work_of_every_kind_finds_and_leaves_tags);
    tcase_add_test(data, stretches_have_tags_of_their_own);
    tcase_add_test(memory, buffers_end_with_their_last_use);
    tcase_add_test(memory, warm_runs_use_memory_again);
    tcase_add_test(memory, initial_bytes_must_fit);
    suite_add_tcase(suite, data);
    suite_add_tcase(suite, memory);
    return run_suite(suite);
}
