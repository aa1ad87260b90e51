/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of lists of buffers: solved by hand, and thousands drawn at random, each compared with a
 * check of every pair that is written here once more; and that the checks can say no. */
#include <inttypes.h>

#include "policies/arena_bytes.h"
#include "policies/arena_check.h"
#include "tests/policies/arena_random.h"
#include "tests/suite.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define FREE .align_bytes = 1, .fixed_bytes = -1, .hint_bytes = -1
#define MOST_READ INT64_MAX

static struct arena_plan planned(const struct arena_problem *problem, const char *method)
{
    struct arena_plan plan;
    struct weir_error err;

    ck_assert_msg(arena_problem_check(problem, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(arena_plan_make(problem, arena_method_find(method), &plan, &err) == WEIR_OK, "%s",
                  err.text);
    return plan;
}

static struct arena_execution executed(const struct arena_problem *problem,
                                       const struct arena_plan *plan, int64_t most_bytes)
{
    struct arena_execution execution;
    struct weir_error err;

    ck_assert_msg(arena_execute(problem, plan, most_bytes, &execution, &err) == WEIR_OK, "%s",
                  err.text);
    return execution;
}

/* 1024 over the steps 0-2 and 512 over step 1 live together: 1536, which no plan is below. 768 over
 * 3-4 finds both slots free; only the first holds it. */
START_TEST(a_freed_slot_is_used_again)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 3, .size_bytes = 1024, FREE},
        {.name = "b", .lower = 1, .upper = 2, .size_bytes = 512, FREE},
        {.name = "c", .lower = 3, .upper = 5, .size_bytes = 768, FREE}};
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = 3};

    for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
        struct arena_plan plan = planned(&problem, at->name);

        ck_assert_int_eq(plan.peak_bytes, 1536);
        ck_assert_int_eq(plan.lower_bound_bytes, 1536);
        ck_assert_int_eq(plan.offsets_bytes[0], 0);
        ck_assert_int_eq(plan.offsets_bytes[1], 1024);
        ck_assert_int_eq(plan.offsets_bytes[2], 0);
        arena_plan_free(&plan);
    }
}
END_TEST

/* Slots of 100, 60, 40 and 10 are free when 50 comes: it takes the one of 60. 5 takes that of 10. 101
 * fits none, and is put behind all: 210 + 101. */
START_TEST(the_smallest_slot_that_holds_it)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 1, .size_bytes = 100, FREE},
        {.name = "b", .lower = 0, .upper = 1, .size_bytes = 60, FREE},
        {.name = "c", .lower = 0, .upper = 1, .size_bytes = 40, FREE},
        {.name = "d", .lower = 0, .upper = 1, .size_bytes = 10, FREE},
        {.name = "e", .lower = 1, .upper = 2, .size_bytes = 50, FREE},
        {.name = "f", .lower = 1, .upper = 2, .size_bytes = 5, FREE},
        {.name = "g", .lower = 1, .upper = 2, .size_bytes = 101, FREE},
    };
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = COUNT(buffers)};
    struct arena_plan plan = planned(&problem, "best-fit");

    ck_assert_int_eq(plan.offsets_bytes[4], 100);
    ck_assert_int_eq(plan.offsets_bytes[5], 200);
    ck_assert_int_eq(plan.offsets_bytes[6], 210);
    ck_assert_int_eq(plan.peak_bytes, 311);
    ck_assert_int_eq(plan.lower_bound_bytes, 210);
    arena_plan_free(&plan);
    /* By size: g at 0 and a, whose life does not meet its, too; e and b behind, c behind b. */
    plan = planned(&problem, "greedy");
    ck_assert_int_eq(plan.offsets_bytes[6], 0);
    ck_assert_int_eq(plan.offsets_bytes[0], 0);
    ck_assert_int_eq(plan.offsets_bytes[1], 100);
    ck_assert_int_eq(plan.offsets_bytes[4], 101);
    ck_assert_int_eq(plan.peak_bytes, 210);
    arena_plan_free(&plan);
}
END_TEST

/* The slot at 4 has room for 8, but not from a multiple of 16 on: the next comes behind it at 32. */
START_TEST(offsets_meet_their_alignment)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 9, .size_bytes = 4, FREE},
        {.name = "b", .lower = 1, .upper = 2, .size_bytes = 20, FREE},
        {.name = "c", .lower = 2, .upper = 3, .size_bytes = 12, FREE},
    };
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = COUNT(buffers)};
    struct arena_plan plan;

    buffers[2].align_bytes = 16;
    plan = planned(&problem, "best-fit");
    ck_assert_int_eq(plan.base_align_bytes, 16);
    ck_assert_int_eq(plan.offsets_bytes[2], 32);
    ck_assert_int_eq(executed(&problem, &plan, MOST_READ).how, ARENA_WHOLE);
    arena_plan_free(&plan);
    buffers[2].size_bytes = 8; /* [16, 24) is in the slot [4, 24) */
    plan = planned(&problem, "best-fit");
    ck_assert_int_eq(plan.offsets_bytes[2], 16);
    arena_plan_free(&plan);
    buffers[1].align_bytes = 6; /* both: the base at a multiple of 48 */
    plan = planned(&problem, "greedy");
    ck_assert_int_eq(plan.base_align_bytes, 48);
    arena_plan_free(&plan);
}
END_TEST

START_TEST(what_is_fixed_stays)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 4, .size_bytes = 10, FREE},
        {.name = "b", .lower = 1, .upper = 3, .size_bytes = 10, FREE},
        {.name = "c", .lower = 3, .upper = 4, .size_bytes = 10, FREE},
    };
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = COUNT(buffers)};
    struct weir_error err;
    struct arena_plan plan;

    buffers[1].fixed_bytes = 5;
    /* Slots keep out of [5, 15) for good; by size a comes behind it, and c under it once it ended. */
    plan = planned(&problem, "best-fit");
    ck_assert_int_eq(plan.offsets_bytes[0], 15);
    ck_assert_int_eq(plan.offsets_bytes[2], 25);
    arena_plan_free(&plan);
    plan = planned(&problem, "greedy");
    ck_assert_int_eq(plan.offsets_bytes[1], 5);
    ck_assert_int_eq(plan.offsets_bytes[0], 15);
    ck_assert_int_eq(plan.offsets_bytes[2], 0);
    ck_assert_int_eq(plan.lower_bound_bytes, 20);
    arena_plan_free(&plan);
    buffers[0].fixed_bytes = 14;
    ck_assert_int_eq(arena_plan_make(&problem, &arena_methods[0], &plan, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "share addresses"));
    buffers[0].align_bytes = 4;
    ck_assert_int_eq(arena_problem_check(&problem, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "expected a multiple of its alignment 4"));
}
END_TEST

/* a is away in the steps 2-4 but for its bytes [6, 8): b, of 6 bytes, has room below. */
START_TEST(gaps_give_room)
{
    struct arena_gap gap = {2, 5, 6, 8};
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 9, .size_bytes = 10, .gaps = &gap, .n_gaps = 1, FREE},
        {.name = "b", .lower = 2, .upper = 5, .size_bytes = 6, FREE},
    };
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = COUNT(buffers)};
    struct arena_plan plan = planned(&problem, "greedy");

    ck_assert_int_eq(plan.offsets_bytes[1], 0);
    ck_assert_int_eq(plan.peak_bytes, 10);
    ck_assert_int_eq(plan.lower_bound_bytes, 10);
    arena_plan_free(&plan);
    buffers[1].size_bytes = 7;
    plan = planned(&problem, "greedy");
    ck_assert_int_eq(plan.offsets_bytes[1], 8);
    ck_assert_int_eq(executed(&problem, &plan, MOST_READ).n_steps, 4);
    arena_plan_free(&plan);
}
END_TEST

START_TEST(nothing_is_a_plan_too)
{
    struct arena_buffer none = {.name = "a", .lower = 0, .upper = 1, FREE};
    struct arena_problem problem = {.buffers = &none, .n_buffers = 0};

    for (problem.n_buffers = 0; problem.n_buffers < 2; problem.n_buffers++) {
        for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
            struct arena_plan plan = planned(&problem, at->name);

            ck_assert_int_eq(plan.peak_bytes, 0);
            ck_assert_int_eq(executed(&problem, &plan, MOST_READ).read_bytes, 0);
            arena_plan_free(&plan);
        }
    }
}
END_TEST

START_TEST(sums_stay_in_64_bits)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = INT64_MIN, .upper = INT64_MAX, .size_bytes = INT64_MAX / 4, FREE},
        {.name = "b", .lower = 1, .upper = 2, .size_bytes = 1, FREE},
    };
    struct arena_problem problem = {.buffers = buffers, .n_buffers = 1};
    struct weir_error err;
    struct arena_plan plan;

    for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
        plan = planned(&problem, at->name);
        ck_assert_int_eq(plan.peak_bytes, INT64_MAX / 4);
        ck_assert_int_eq(executed(&problem, &plan, 100).how, ARENA_CELLS);
        arena_plan_free(&plan);
    }
    problem.n_buffers = 2;
    ck_assert_int_eq(arena_problem_check(&problem, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "come to more than"));
    buffers[0].size_bytes = 1;
    buffers[0].align_bytes = INT64_C(1) << 20;
    buffers[1].align_bytes = 3486784401; /* 3^20 */
    ck_assert_int_eq(arena_problem_check(&problem, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "multiple of every alignment"));
}
END_TEST

/* --- the checks can say no --- */

START_TEST(a_wrong_plan_is_refused)
{
    static const struct {
        uint32_t buffer;
        int64_t offset;
        const char *why;
    } wrong[] = {
        {1, 1023, "buffers a (1024 bytes at 0, steps 0 to 2) and b (512 bytes at 1023"},
        {1, 0, "share addresses while both"},
        {2, -1, "expected an offset from 0 on"},
        {1, 1025, "expected a multiple of its alignment 2"},
        {0, 8, "expected 0, where it is fixed"},
        {2, INT64_MAX, "in 64 bits"},
    };
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 3, .size_bytes = 1024, FREE},
        {.name = "b", .lower = 1, .upper = 2, .size_bytes = 512, FREE},
        {.name = "c", .lower = 3, .upper = 5, .size_bytes = 768, FREE}};
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = 3};
    struct weir_error err;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t offsets[] = {0, 1024, 0};

        buffers[1].align_bytes = i == 3 ? 2 : 1;
        buffers[0].fixed_bytes = i == 4 ? 0 : -1;
        ck_assert_int_eq(arena_check(&problem, offsets, &err), WEIR_OK);
        offsets[wrong[i].buffer] = wrong[i].offset;
        ck_assert_int_eq(arena_check(&problem, offsets, &err), WEIR_NO);
        ck_assert_msg(strstr(err.text, wrong[i].why) != NULL, "%s", err.text);
    }
}
END_TEST

/* b is put a byte into a, in each of the ways of carrying a plan out. */
START_TEST(carrying_out_finds_what_is_overwritten)
{
    struct arena_buffer buffers[] = {
        {.name = "a", .lower = 0, .upper = 3, .size_bytes = 1024, FREE},
        {.name = "b", .lower = 1, .upper = 2, .size_bytes = 512, FREE}};
    const struct arena_problem problem = {.buffers = buffers, .n_buffers = 2};
    static const int64_t most[] = {1 << 20, 100, 60};
    static const enum arena_executed how[] = {ARENA_WHOLE, ARENA_CELLS, ARENA_CELLS_ONCE};

    for (int i = 0; i < 3; i++) {
        struct arena_plan plan = planned(&problem, "best-fit");
        struct arena_execution execution;
        struct weir_error err;

        /* Whole: 3 * 1024 + 512. By cells: 1 cell of a at 3 steps, 1 of b: 32, and 40 once they
         * share one and b has one more. */
        ck_assert_int_eq(executed(&problem, &plan, i == 2 ? 31 : most[i]).how, how[i]);
        plan.offsets_bytes[1] = 1023;
        plan.peak_bytes = 1535;
        ck_assert_int_eq(arena_execute(&problem, &plan, most[i], &execution, &err), WEIR_NO);
        ck_assert_msg(strstr(err.text, "buffer a, at 0, does not read in step") != NULL, "%s",
                      err.text);
        arena_plan_free(&plan);
    }
}
END_TEST

/* --- drawn at random --- */

/* Do two parts of buffers share a byte in a step? By the definition, part by part. */
static bool share(const struct arena_part *x, int64_t x_at, const struct arena_part *y,
                  int64_t y_at)
{
    return x->lower < y->upper && y->lower < x->upper &&
           x_at + x->from_bytes < y_at + y->to_bytes && y_at + y->from_bytes < x_at + x->to_bytes;
}

static bool is_sound(const struct arena_problem *problem, const int64_t *offsets)
{
    struct arena_part *parts;
    struct weir_error err;
    uint32_t n;
    bool sound = true;

    ck_assert(arena_parts(problem, &parts, &n, &err) == WEIR_OK);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            sound &=
                parts[i].buffer == parts[j].buffer ||
                !share(&parts[i], offsets[parts[i].buffer], &parts[j], offsets[parts[j].buffer]);
        }
    }
    free(parts);
    return sound;
}

static struct arena_draw some_draw(uint64_t seed)
{
    return (struct arena_draw){
        .n_buffers = (uint32_t)(seed % 37),
        .n_steps = 1 + (int64_t)(seed % 23),
        .longest = 1 + (int64_t)(seed % 11),
        .most_bytes = 1 + (int64_t)(seed % 7 * 31),
        .has_extras = seed % 3 != 0,
    };
}

START_TEST(drawn_lists_are_planned_right)
{
    for (uint64_t seed = (uint64_t)_i * 500; seed < ((uint64_t)_i + 1) * 500; seed++) {
        struct arena_draw draw = some_draw(seed);
        struct arena_problem problem = arena_draw(&draw, seed);

        for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
            struct arena_plan plan = planned(&problem, at->name);

            ck_assert_msg(is_sound(&problem, plan.offsets_bytes), "%s, seed %" PRIu64, at->name,
                          seed);
            ck_assert_int_le(plan.lower_bound_bytes, plan.peak_bytes);
            ck_assert_int_eq(executed(&problem, &plan, MOST_READ).how, ARENA_WHOLE);
            (void)executed(&problem, &plan, 500);
            arena_plan_free(&plan);
        }
        arena_problem_free(&problem);
    }
}
END_TEST

/* Offsets that nobody planned: the check, the pairs above and the bytes agree on every one. */
START_TEST(checks_agree_on_drawn_offsets)
{
    int n_sound = 0, n_wrong = 0;

    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct arena_draw draw = {3 + (uint32_t)(seed % 4), 6, 4, 12, true};
        struct arena_problem problem = arena_draw(&draw, seed);
        struct arena_plan plan = {.base_align_bytes = 48};
        struct arena_execution execution;
        struct random_stream random;
        struct weir_error err;
        bool sound;

        random_seed(&random, seed, 1);
        plan.offsets_bytes = calloc(draw.n_buffers, sizeof *plan.offsets_bytes);
        for (uint32_t i = 0; i < draw.n_buffers; i++) {
            int64_t end;

            plan.offsets_bytes[i] = problem.buffers[i].align_bytes * arena_draw_below(&random, 30);
            end = plan.offsets_bytes[i] + problem.buffers[i].size_bytes;
            plan.peak_bytes = end > plan.peak_bytes ? end : plan.peak_bytes;
        }
        sound = is_sound(&problem, plan.offsets_bytes);
        n_sound += sound;
        n_wrong += !sound;
        ck_assert_int_eq(arena_check(&problem, plan.offsets_bytes, &err) == WEIR_OK, sound);
        for (int64_t most = 1 << 20; most > 100; most /= 16) {
            ck_assert_int_eq(arena_execute(&problem, &plan, most, &execution, &err) == WEIR_OK,
                             sound);
        }
        arena_plan_free(&plan);
        arena_problem_free(&problem);
    }
    ck_assert_int_gt(n_sound, 100);
    ck_assert_int_gt(n_wrong, 100);
}
END_TEST

/* Fixing what a plan gives to half of the buffers: the rest still finds room. */
START_TEST(drawn_lists_with_fixed_offsets)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct arena_draw draw = some_draw(seed);
        struct arena_problem problem = arena_draw(&draw, seed);
        struct arena_plan plan = planned(&problem, "greedy");

        for (uint32_t i = 0; i < problem.n_buffers; i += 2) {
            problem.buffers[i].fixed_bytes = plan.offsets_bytes[i];
        }
        for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
            struct arena_plan again = planned(&problem, at->name);

            ck_assert(is_sound(&problem, again.offsets_bytes));
            for (uint32_t i = 0; i < problem.n_buffers; i += 2) {
                ck_assert_int_eq(again.offsets_bytes[i], plan.offsets_bytes[i]);
            }
            arena_plan_free(&again);
        }
        arena_plan_free(&plan);
        arena_problem_free(&problem);
    }
}
END_TEST

/* The tree finds the same address as going through everything that is placed. */
START_TEST(greedy_is_what_it_says)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct arena_draw draw = {40, 20, 10, 50, false};
        struct arena_problem problem = arena_draw(&draw, seed);
        struct arena_plan plan = planned(&problem, "greedy");

        for (uint32_t i = 0; i < problem.n_buffers; i++) {
            const struct arena_buffer *at = &problem.buffers[i];

            /* One byte lower, and it would stand in something larger, or as large. */
            bool is_held = plan.offsets_bytes[i] == 0;

            for (uint32_t j = 0; j < problem.n_buffers; j++) {
                is_held |=
                    arena_conflict(&problem, i, j) && j != i &&
                    problem.buffers[j].size_bytes >= at->size_bytes &&
                    plan.offsets_bytes[j] + problem.buffers[j].size_bytes == plan.offsets_bytes[i];
            }
            ck_assert_msg(is_held, "seed %" PRIu64 ", buffer %s", seed, at->name);
        }
        arena_plan_free(&plan);
        arena_problem_free(&problem);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policies/arena_plan");
    TCase *by_hand = tcase_create("by hand"), *drawn = tcase_create("drawn");

    tcase_add_test(by_hand, a_freed_slot_is_used_again);
    tcase_add_test(by_hand, the_smallest_slot_that_holds_it);
    tcase_add_test(by_hand, offsets_meet_their_alignment);
    tcase_add_test(by_hand, what_is_fixed_stays);
    tcase_add_test(by_hand, gaps_give_room);
    tcase_add_test(by_hand, nothing_is_a_plan_too);
    tcase_add_test(by_hand, sums_stay_in_64_bits);
    tcase_add_test(by_hand, a_wrong_plan_is_refused);
    tcase_add_test(by_hand, carrying_out_finds_what_is_overwritten);
    tcase_add_loop_test(drawn, drawn_lists_are_planned_right, 0, 8);
    tcase_add_test(drawn, checks_agree_on_drawn_offsets);
    tcase_add_test(drawn, drawn_lists_with_fixed_offsets);
    tcase_add_test(drawn, greedy_is_what_it_says);
    suite_add_tcase(suite, by_hand);
    suite_add_tcase(suite, drawn);
    return run_suite_together(suite);
}
