/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of buffers in one block, on two queues by hand, and on more at random. */
#include "replay/reuse.h"

#include <stdbool.h>

#include "base/random.h"
#include "tests/suite.h"

static int64_t take(struct reuse *reuse, int64_t size, int64_t align, uint32_t one, uint32_t two)
{
    const uint32_t known[] = {one, two};
    struct weir_error err;
    int64_t offset = -1;

    ck_assert_int_eq(reuse_take(reuse, size, align, known, &offset, &err), WEIR_OK);
    return offset;
}

static void give(struct reuse *reuse, int64_t offset, int64_t size, uint32_t one, uint32_t two)
{
    const uint32_t after[] = {one, two};
    struct weir_error err;

    ck_assert_int_eq(reuse_give(reuse, offset, size, after, &err), WEIR_OK);
}

START_TEST(a_place_is_used_again_by_who_knows_that_it_is_free)
{
    struct reuse reuse;

    reuse_begin(&reuse, 2);
    ck_assert_int_eq(take(&reuse, 100, 1, 0, 0), 0);
    give(&reuse, 0, 100, 3, 5);
    ck_assert_int_eq(take(&reuse, 100, 1, 3, 4), 100); /* the second queue may still use it */
    ck_assert_int_eq(take(&reuse, 100, 1, 2, 9), 200);
    ck_assert_int_eq(take(&reuse, 60, 1, 3, 5), 0);
    ck_assert_int_eq(take(&reuse, 40, 1, 4, 6), 60);
    ck_assert_int_eq(reuse.extent_bytes, 300);
    reuse_end(&reuse);
}
END_TEST

START_TEST(the_tightest_stretch_is_taken)
{
    struct reuse reuse;

    reuse_begin(&reuse, 2);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(take(&reuse, 100, 1, 0, 0), 100 * i);
    give(&reuse, 0, 100, 1, 0);
    give(&reuse, 100, 100, 0, 1); /* of another vector, side by side: 200 for who knows both */
    give(&reuse, 400, 100, 1, 1);
    ck_assert_int_eq(take(&reuse, 90, 1, 1, 1), 400);
    ck_assert_int_eq(take(&reuse, 150, 1, 1, 1), 0);
    ck_assert_int_eq(take(&reuse, 50, 1, 0, 1), 150); /* what is left of the second alone */
    ck_assert_int_eq(take(&reuse, 10, 1, 1, 1), 490);
    ck_assert_int_eq(reuse.extent_bytes, 600);
    reuse_end(&reuse);
}
END_TEST

START_TEST(a_free_end_grows)
{
    struct reuse reuse;

    reuse_begin(&reuse, 2);
    (void)take(&reuse, 100, 1, 0, 0);
    ck_assert_int_eq(take(&reuse, 50, 1, 0, 0), 100);
    give(&reuse, 100, 50, 1, 1);
    ck_assert_int_eq(take(&reuse, 80, 1, 1, 1), 100);
    ck_assert_int_eq(reuse.extent_bytes, 180);
    reuse_end(&reuse);
}
END_TEST

START_TEST(places_are_aligned_and_lose_nothing)
{
    struct reuse reuse;

    reuse_begin(&reuse, 2);
    ck_assert_int_eq(take(&reuse, 10, 1, 0, 0), 0);
    ck_assert_int_eq(take(&reuse, 64, 64, 0, 0), 64);
    ck_assert_int_eq(take(&reuse, 54, 2, 0, 0), 10); /* what alignment left out was never used */
    give(&reuse, 64, 64, 1, 1);
    ck_assert_int_eq(take(&reuse, 32, 32, 1, 1), 64);
    ck_assert_int_eq(take(&reuse, 16, 16, 1, 1), 96);
    ck_assert_int_eq(reuse.extent_bytes, 128);
    reuse_end(&reuse);
}
END_TEST

START_TEST(too_much_is_an_error)
{
    const uint32_t known[] = {0, 0};
    struct reuse reuse;
    struct weir_error err;
    int64_t offset;

    reuse_begin(&reuse, 2);
    ck_assert_int_eq(reuse_take(&reuse, INT64_MAX - 300, 256, known, &offset, &err), WEIR_INPUT);
    ck_assert_int_eq(reuse_take(&reuse, (int64_t)1 << 61, 256, known, &offset, &err), WEIR_OK);
    ck_assert_int_eq(reuse_take(&reuse, (int64_t)1 << 61, 256, known, &offset, &err), WEIR_INPUT);
    reuse_end(&reuse);
}
END_TEST

/* ---- at random: two that share bytes must be kept apart by what the later one knows ---- */

#define QUEUES 3
#define BUFFERS 300

struct life {
    int64_t offset, end;
    uint32_t known[QUEUES], after[QUEUES];
    bool is_given;
};

static bool comes_after(const struct life *later, const struct life *earlier)
{
    for (int q = 0; q < QUEUES; q++) {
        if (!earlier->is_given || later->known[q] < earlier->after[q])
            return false;
    }
    return true;
}

/* The queues come forward; who takes lags behind on each by a little. */
static void draw_life(struct life *life, uint32_t now, struct random_stream *random)
{
    for (int q = 0; q < QUEUES; q++) {
        uint32_t lag = (uint32_t)random_below(random, 20);

        life->known[q] = now > lag ? now - lag : 0;
        life->after[q] = now + 1 + (uint32_t)random_below(random, 10);
    }
    life->is_given = false;
}

static void live(struct reuse *reuse, struct life *lives, struct random_stream *random)
{
    struct weir_error err;

    for (uint32_t i = 0; i < BUFFERS; i++) {
        int64_t size = 1 + (int64_t)random_below(random, 1000);
        int64_t align = (int64_t)1 << random_below(random, 9);
        uint32_t ended = (uint32_t)random_below(random, i + 1);

        draw_life(&lives[i], i, random);
        ck_assert_int_eq(reuse_take(reuse, size, align, lives[i].known, &lives[i].offset, &err),
                         WEIR_OK);
        ck_assert_int_eq(lives[i].offset % align, 0);
        lives[i].end = lives[i].offset + size;
        ck_assert_int_le(lives[i].end, reuse->extent_bytes);
        for (uint32_t j = 0; j < i; j++) {
            if (lives[j].offset < lives[i].end && lives[i].offset < lives[j].end)
                ck_assert_msg(comes_after(&lives[i], &lives[j]), "%u and %u share bytes", j, i);
        }
        if (!lives[ended].is_given) {
            lives[ended].is_given = true;
            ck_assert_int_eq(reuse_give(reuse, lives[ended].offset,
                                        lives[ended].end - lives[ended].offset, lives[ended].after,
                                        &err),
                             WEIR_OK);
        }
    }
}

START_TEST(none_shares_bytes_with_one_that_may_still_live)
{
    struct random_stream random;
    struct life lives[BUFFERS];
    struct reuse reuse;
    int64_t all_bytes = 0;

    random_seed(&random, (uint64_t)_i, 0);
    reuse_begin(&reuse, QUEUES);
    live(&reuse, lives, &random);
    for (uint32_t i = 0; i < BUFFERS; i++)
        all_bytes += lives[i].end - lives[i].offset;
    ck_assert_int_lt(reuse.extent_bytes, all_bytes);
    reuse_end(&reuse);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/reuse");
    TCase *hand = tcase_create("by hand");
    TCase *draws = tcase_create("random");

    tcase_add_test(hand, a_place_is_used_again_by_who_knows_that_it_is_free);
    tcase_add_test(hand, the_tightest_stretch_is_taken);
    tcase_add_test(hand, a_free_end_grows);
    tcase_add_test(hand, places_are_aligned_and_lose_nothing);
    tcase_add_test(hand, too_much_is_an_error);
    tcase_add_loop_test(draws, none_shares_bytes_with_one_that_may_still_live, 0, 20);
    suite_add_tcase(suite, hand);
    suite_add_tcase(suite, draws);
    return run_suite(suite);
}
