/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The longest ways around each place: solved by hand, and beside every place tried alone. */
#include "graph/around.h"

#include "base/random.h"
#include "tests/suite.h"

static struct around found(const struct around_network *network)
{
    struct around around;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_msg(around_find(network, &around, &err) == WEIR_OK, "%s", err.text);
    return around;
}

/* ---- solved by hand ---- */

/* a (5) before c (4), b (3) before c; d (7) stands alone. a 0-5, b 0-3, c 5-9, d 0-7; the end is 9.
 * Around a: b, c = 7, as d. Around c: d = 7. b and d are on no longest way: 9. From a's finish c's 4 are
 * left; from b's too. Were a at no time, 7; were b 5 long, 9, and 6 long, 10. */
START_TEST(a_join_and_one_alone)
{
    const uint32_t first[] = {0, 0, 0, 2, 2}, from[] = {0, 1};
    const int64_t start_ns[] = {0, 0, 5, 0}, length_ns[] = {5, 3, 4, 7};
    const struct around_network network = {
        .n_places = 4, .first = first, .from = from, .start_ns = start_ns, .length_ns = length_ns};
    struct around around = found(&network);

    ck_assert_int_eq(around.end_ns, 9);
    ck_assert_int_eq(around.around_ns[0], 7);
    ck_assert_int_eq(around.around_ns[1], 9);
    ck_assert_int_eq(around.around_ns[2], 7);
    ck_assert_int_eq(around.around_ns[3], 9);
    ck_assert_int_eq(around.onward[0].from_finish_ns, 4);
    ck_assert_int_eq(around.onward[1].from_finish_ns, 4);
    ck_assert_int_eq(around.onward[2].from_finish_ns, 0);
    ck_assert_int_eq(around.onward[0].from_start_ns, AROUND_NO_WAY);
    ck_assert_int_eq(around_end_ns(&around, 0, 0, 0), 7);
    ck_assert_int_eq(around_end_ns(&around, 1, 0, 5), 9);
    ck_assert_int_eq(around_end_ns(&around, 1, 0, 6), 10);
    around_free(&around);
}
END_TEST

/* a (10) starts at 2, its release; b (4) follows its start by 3, at 5, and begins 1 later: 6-10; p, which
 * takes no time and ends no way, follows b's finish by 20: at 30; c (1) follows p: 30-31. The longest
 * way is release, a's start, b, p, c: a's length is none of it. Without a: b's own release, which is 0,
 * then 1 + 4 + 20 + 1 = 26. Without b: a's end 12, p's 0 + 1, so 12. Without p or c: 12. */
START_TEST(starts_lags_releases_waits_and_passages)
{
    const uint32_t first[] = {0, 0, 1, 2, 3}, from[] = {0 | AROUND_FROM_START, 1, 2};
    const int64_t lag_ns[] = {3, 20, 0}, release_ns[] = {2, 0, 0, 0};
    const int64_t ready_ns[] = {2, 5, 30, 30}, start_ns[] = {2, 6, 30, 30};
    const int64_t length_ns[] = {10, 4, 0, 1};
    const bool is_passage[] = {false, false, true, false};
    const struct around_network network = {.n_places = 4,
                                           .first = first,
                                           .from = from,
                                           .lag_ns = lag_ns,
                                           .release_ns = release_ns,
                                           .ready_ns = ready_ns,
                                           .start_ns = start_ns,
                                           .length_ns = length_ns,
                                           .is_passage = is_passage};
    struct around around = found(&network);

    ck_assert_int_eq(around.end_ns, 31);
    ck_assert_int_eq(around.around_ns[0], 26);
    ck_assert_int_eq(around.around_ns[1], 12);
    ck_assert_int_eq(around.around_ns[2], 12);
    ck_assert_int_eq(around.around_ns[3], 12);
    ck_assert_int_eq(around.onward[0].from_start_ns, 29);
    ck_assert_int_eq(around_end_ns(&around, 0, 2, 0), 31);
    ck_assert_int_eq(around_end_ns(&around, 1, 5, 4), 30);
    around_free(&around);
}
END_TEST

START_TEST(nothing_and_one)
{
    const uint32_t first[] = {0, 0}, from[] = {0};
    const int64_t start_ns[] = {0}, length_ns[] = {8};
    struct around_network network = {
        .n_places = 0, .first = first, .from = from, .start_ns = start_ns, .length_ns = length_ns};
    struct around around = found(&network);

    ck_assert_int_eq(around.end_ns, 0);
    around_free(&around);
    network.n_places = 1;
    around = found(&network);
    ck_assert_int_eq(around.end_ns, 8);
    ck_assert_int_eq(around.around_ns[0], AROUND_NO_WAY);
    ck_assert_int_eq(around_end_ns(&around, 0, 0, 3), 3);
    around_free(&around);
}
END_TEST

/* ---- every place alone ---- */

#define MOST 40

struct drawn {
    uint32_t first[MOST + 1], from[MOST * 4];
    int64_t lag_ns[MOST * 4], release_ns[MOST], wait_ns[MOST], length_ns[MOST];
    int64_t ready_ns[MOST], start_ns[MOST];
    bool is_passage[MOST];
    uint32_t n;
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Times of all, when one place starts and takes as said (MOST: none). @return the end */
static int64_t pass(const struct drawn *d, uint32_t changed, int64_t wait_ns, int64_t length_ns,
                    int64_t *ready_ns, int64_t *start_ns)
{
    int64_t end_ns = 0;

    for (uint32_t p = 0; p < d->n; p++) {
        ready_ns[p] = d->release_ns[p];
        for (uint32_t e = d->first[p]; e < d->first[p + 1]; e++) {
            uint32_t producer = d->from[e] & ~AROUND_FROM_START;
            int64_t ns = start_ns[producer] + d->lag_ns[e];

            if ((d->from[e] & AROUND_FROM_START) == 0)
                ns += producer == changed ? length_ns : d->length_ns[producer];
            ready_ns[p] = at_least(ready_ns[p], ns);
        }
        start_ns[p] = ready_ns[p] + (p == changed ? wait_ns : d->wait_ns[p]);
        if (!d->is_passage[p])
            end_ns = at_least(end_ns, start_ns[p] + (p == changed ? length_ns : d->length_ns[p]));
    }
    return end_ns;
}

static void draw(struct drawn *d, uint64_t seed)
{
    struct random_stream random;
    uint32_t n_edges = 0;

    random_seed(&random, seed, 0);
    d->n = 1 + (uint32_t)random_below(&random, MOST);
    for (uint32_t p = 0; p < d->n; p++) {
        d->first[p] = n_edges;
        for (uint32_t i = 0; i < 4 && p > 0; i++) {
            if (random_below(&random, 2) == 0)
                continue;
            d->from[n_edges] = (uint32_t)random_below(&random, p);
            if (random_below(&random, 4) == 0)
                d->from[n_edges] |= AROUND_FROM_START;
            d->lag_ns[n_edges++] =
                random_below(&random, 3) == 0 ? (int64_t)random_below(&random, 9) : 0;
        }
        d->release_ns[p] = random_below(&random, 4) == 0 ? (int64_t)random_below(&random, 40) : 0;
        d->wait_ns[p] = random_below(&random, 4) == 0 ? (int64_t)random_below(&random, 5) : 0;
        d->length_ns[p] = (int64_t)random_below(&random, 12); /* few, so that ways tie */
        d->is_passage[p] = random_below(&random, 8) == 0;
    }
    d->first[d->n] = n_edges;
    (void)pass(d, MOST, 0, 0, d->ready_ns, d->start_ns);
}

START_TEST(as_when_each_is_tried_alone)
{
    struct drawn d;
    int64_t ready_ns[MOST], start_ns[MOST];

    draw(&d, (uint64_t)_i);
    const struct around_network network = {.n_places = d.n,
                                           .first = d.first,
                                           .from = d.from,
                                           .lag_ns = d.lag_ns,
                                           .release_ns = d.release_ns,
                                           .ready_ns = d.ready_ns,
                                           .start_ns = d.start_ns,
                                           .length_ns = d.length_ns,
                                           .is_passage = d.is_passage};
    struct around around = found(&network);

    ck_assert_int_eq(around.end_ns, pass(&d, MOST, 0, 0, ready_ns, start_ns));
    for (uint32_t p = 0; p < d.n; p++) {
        for (int64_t wait_ns = 0; wait_ns < 8; wait_ns += 3) {
            for (int64_t length_ns = 0; length_ns < 30; length_ns += 7)
                ck_assert_int_eq(around_end_ns(&around, p, d.ready_ns[p] + wait_ns, length_ns),
                                 pass(&d, p, wait_ns, length_ns, ready_ns, start_ns));
        }
    }
    around_free(&around);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph/around");
    TCase *models = tcase_create("models"), *properties = tcase_create("properties");

    tcase_add_test(models, a_join_and_one_alone);
    tcase_add_test(models, starts_lags_releases_waits_and_passages);
    tcase_add_test(models, nothing_and_one);
    tcase_add_loop_test(properties, as_when_each_is_tried_alone, 0, n_inputs(400, 100));
    suite_add_tcase(suite, models);
    suite_add_tcase(suite, properties);
    return run_suite_together(suite);
}
