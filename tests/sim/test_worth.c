/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nodes are worth in fixed order: solved by hand, and beside every node tried alone. */
#include "sim/worth.h"

#include "base/random.h"
#include "tests/suite.h"

#define MOST 40

struct order {
    weir_node nodes[MOST];
    uint32_t first[MOST + 1], from[MOST * 4], group_of[MOST];
    int64_t lag_ns[MOST * 4], release_ns[MOST], length_ns[MOST];
    uint32_t n_groups;
    struct retime retime;
};

static void finish_order(struct order *order, uint32_t n)
{
    for (uint32_t p = 0; p < n; p++)
        order->nodes[p].index = p;
    order->retime = (struct retime){.n_nodes = n,
                                    .nodes = order->nodes,
                                    .first = order->first,
                                    .from = order->from,
                                    .lag_ns = order->lag_ns,
                                    .release_ns = order->release_ns};
}

static void find(const struct order *order, struct worth *worth)
{
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(worth_find(&order->retime, order->length_ns, worth, &err) == WEIR_OK, "%s",
                  err.text);
}

static uint32_t groups(const struct order *order, uint32_t most, struct worth_group *out)
{
    struct weir_error err = {WEIR_OK, ""};
    uint32_t n;

    ck_assert_int_eq(worth_groups(&order->retime, order->length_ns, order->group_of,
                                  order->n_groups, most, NULL, NULL, out, &n, &err),
                     WEIR_OK);
    return n;
}

/* On sm: a 0-6, c 6-10. On dma: b 0-5. d, on sm behind c, needs b with a lag of 2: 10-13. The end is 13.
 *     a: without it c is 0-4, d max(4, 7) = 7-10: saves 3. Half of it, 3: c 3-7, d 7-10: saves 3.
 *     b: d still waits for c: saves 0. Slack: c ends at 10, b + 2 may end there: 3.
 *     c: d waits for b until 7, a ends at 6: saves 3. Half, 2: a, c end at 8: d 8-11: saves 2.
 *     d: saves its 3: the rest ends at 10. Half of 3 is 2 (halves up): saves 1.
 * a and c together (group 0): d max(0, 7): the end is 10, saves 3, though each saves as much alone.
 * a and b (group 1): c 0-4, d 4-7 (b + 2 = 2): saves 6. */
START_TEST(two_branches)
{
    struct order order = {.first = {0, 0, 0, 1, 3},
                          .from = {0, 2, 1},
                          .lag_ns = {0, 0, 2},
                          .length_ns = {6, 5, 4, 3}};
    struct worth worth;
    struct worth_group found[2];

    finish_order(&order, 4);
    find(&order, &worth);
    ck_assert_int_eq(worth.makespan_ns, 13);
    ck_assert_int_eq(worth.saves_ns[0], 3);
    ck_assert_int_eq(worth.saves_ns[1], 0);
    ck_assert_int_eq(worth.saves_ns[2], 3);
    ck_assert_int_eq(worth.saves_ns[3], 3);
    ck_assert_int_eq(worth.half_saves_ns[0], 3);
    ck_assert_int_eq(worth.half_saves_ns[1], 0);
    ck_assert_int_eq(worth.half_saves_ns[2], 2);
    ck_assert_int_eq(worth.half_saves_ns[3], 1);
    ck_assert_int_eq(worth.slack_ns[0], 0);
    ck_assert_int_eq(worth.slack_ns[1], 3);
    ck_assert_int_eq(worth.slack_ns[2], 0);
    ck_assert_int_eq(worth.slack_ns[3], 0);
    worth_free(&worth);

    order.n_groups = 1;
    order.group_of[1] = order.group_of[3] = WEIR_NONE;
    ck_assert_uint_eq(groups(&order, 2, found), 1);
    ck_assert_int_eq(found[0].saves_ns, 3);
    ck_assert_int_eq(found[0].length_ns, 10);
    ck_assert_uint_eq(found[0].n_nodes, 2);

    order.n_groups = 2;
    order.group_of[0] = order.group_of[1] = 1;
    order.group_of[2] = order.group_of[3] = 0;
    ck_assert_uint_eq(groups(&order, 2, found), 2);
    /* c and d: the end is that of b's 5 + 2 and a's 6: 7, saves 6; so does the other: by number. */
    ck_assert_uint_eq(found[0].group, 0);
    ck_assert_int_eq(found[0].saves_ns, 6);
    ck_assert_uint_eq(found[1].group, 1);
    ck_assert_int_eq(found[1].saves_ns, 6);
}
END_TEST

/* a 0-9; b from a's start after 4: 4-6; p, a point, after b by 1: 7; c after p: 7-12, released at 7 as
 * well. a's length is on no longest way: it saves nothing, and may take 3 longer. b saves nothing, for
 * the release of c, and has no slack. */
START_TEST(a_start_a_point_and_a_release)
{
    struct order order = {.first = {0, 0, 1, 2, 3},
                          .from = {0 | RETIME_FROM_START, 1, 2},
                          .lag_ns = {4, 1, 0},
                          .release_ns = {0, 0, 0, 7},
                          .length_ns = {9, 2, 0, 5}};
    struct worth worth;

    finish_order(&order, 4);
    order.nodes[2].index = WEIR_NONE;
    find(&order, &worth);
    ck_assert_int_eq(worth.makespan_ns, 12);
    ck_assert_int_eq(worth.saves_ns[0], 0);
    ck_assert_int_eq(worth.slack_ns[0], 3);
    ck_assert_int_eq(worth.saves_ns[1], 0);
    ck_assert_int_eq(worth.slack_ns[1], 0);
    ck_assert_int_eq(worth.saves_ns[3], 3);
    worth_free(&worth);
}
END_TEST

START_TEST(a_run_of_ages_is_refused)
{
    struct order order = {.first = {0, 0}, .length_ns = {INT64_C(1) << 61}};
    struct worth worth;
    struct weir_error err = {WEIR_OK, ""};

    finish_order(&order, 1);
    ck_assert_int_eq(worth_find(&order.retime, order.length_ns, &worth, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "2^61"));
}
END_TEST

/* ---- every node alone, every group ---- */

static void draw(struct order *order, uint64_t seed)
{
    struct random_stream random;
    uint32_t n_edges = 0, n;

    random_seed(&random, seed, 0);
    n = 1 + (uint32_t)random_below(&random, MOST);
    order->n_groups = 1 + (uint32_t)random_below(&random, 9);
    for (uint32_t p = 0; p < n; p++) {
        order->first[p] = n_edges;
        for (uint32_t i = 0; i < 3 && p > 0; i++) {
            if (random_below(&random, 2) == 0)
                continue;
            order->from[n_edges] = (uint32_t)random_below(&random, p);
            if (random_below(&random, 4) == 0)
                order->from[n_edges] |= RETIME_FROM_START;
            order->lag_ns[n_edges++] =
                random_below(&random, 3) == 0 ? (int64_t)random_below(&random, 9) : 0;
        }
        order->release_ns[p] =
            random_below(&random, 4) == 0 ? (int64_t)random_below(&random, 20) : 0;
        order->length_ns[p] = (int64_t)random_below(&random, 12);
        order->group_of[p] = (uint32_t)random_below(&random, order->n_groups);
    }
    order->first[n] = n_edges;
    finish_order(order, n);
}

static void check_nodes(const struct order *order)
{
    struct worth worth;
    int64_t start_ns[MOST], length_ns[MOST];

    find(order, &worth);
    ck_assert_int_eq(worth.makespan_ns, retime_pass(&order->retime, order->length_ns, start_ns));
    for (uint32_t p = 0; p < order->retime.n_nodes; p++) {
        memcpy(length_ns, order->length_ns, sizeof length_ns);
        length_ns[p] = 0;
        ck_assert_int_eq(worth.saves_ns[p],
                         worth.makespan_ns - retime_pass(&order->retime, length_ns, start_ns));
        length_ns[p] = (order->length_ns[p] + 1) / 2;
        ck_assert_int_eq(worth.half_saves_ns[p],
                         worth.makespan_ns - retime_pass(&order->retime, length_ns, start_ns));
        length_ns[p] = order->length_ns[p] + worth.slack_ns[p];
        ck_assert_int_eq(worth.makespan_ns, retime_pass(&order->retime, length_ns, start_ns));
        length_ns[p]++;
        ck_assert_int_eq(worth.makespan_ns + 1, retime_pass(&order->retime, length_ns, start_ns));
    }
    worth_free(&worth);
}

static void check_groups(const struct order *order, uint32_t most)
{
    struct worth_group found[MOST];
    uint32_t n = groups(order, most, found);
    int64_t start_ns[MOST], length_ns[MOST], saves_ns[MOST];
    bool is_taken[MOST] = {false};

    for (uint32_t g = 0; g < order->n_groups; g++) {
        for (uint32_t p = 0; p < order->retime.n_nodes; p++)
            length_ns[p] = order->group_of[p] == g ? 0 : order->length_ns[p];
        saves_ns[g] = retime_pass(&order->retime, order->length_ns, start_ns) -
                      retime_pass(&order->retime, length_ns, start_ns);
    }
    for (uint32_t i = 0; i < most; i++) {
        uint32_t best = WEIR_NONE;

        for (uint32_t g = 0; g < order->n_groups; g++) {
            if (!is_taken[g] && saves_ns[g] > 0 &&
                (best == WEIR_NONE || saves_ns[g] > saves_ns[best]))
                best = g;
        }
        ck_assert_int_eq(i < n, best != WEIR_NONE);
        if (best == WEIR_NONE)
            break;
        is_taken[best] = true;
        ck_assert_uint_eq(found[i].group, best);
        ck_assert_int_eq(found[i].saves_ns, saves_ns[best]);
    }
}

START_TEST(as_when_each_is_tried_alone)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct order order = {.n_groups = 0};

        draw(&order, (uint64_t)_i * 50 + seed);
        check_nodes(&order);
        check_groups(&order, 1);
        check_groups(&order, 3);
        check_groups(&order, 9);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim/worth");
    TCase *models = tcase_create("models"), *properties = tcase_create("properties");

    tcase_add_test(models, two_branches);
    tcase_add_test(models, a_start_a_point_and_a_release);
    tcase_add_test(models, a_run_of_ages_is_refused);
    tcase_add_loop_test(properties, as_when_each_is_tried_alone, 0, 10);
    suite_add_tcase(suite, models);
    suite_add_tcase(suite, properties);
    return run_suite(suite);
}
