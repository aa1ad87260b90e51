/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work loops do the work that they are asked for: results depend on all of it, and time grows
 * with it. Times are processor time and the least of several runs, so that a busy machine does not
 * fail the test; a loop that was compiled away would take no time at all. */
#include "kernels/host.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/suite.h"

#define WINDOW_BYTES 65536

static volatile double sink_ratio;
static volatile uint64_t sink_sum;

static unsigned char *window_new(int first)
{
    unsigned char *window = malloc(WINDOW_BYTES);

    ck_assert_ptr_nonnull(window);
    for (int i = 0; i < WINDOW_BYTES; i++)
        window[i] = (unsigned char)(first + i * 7);
    return window;
}

static double cpu_s(void)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The least processor time of nine runs of amount. */
static double least_s(void (*work)(int64_t amount, void *window), int64_t amount, void *window)
{
    double least = 1e9;

    for (int run = 0; run < 9; run++) {
        double begin = cpu_s();

        work(amount, window);
        double took = cpu_s() - begin;
        if (took < least)
            least = took;
    }
    return least;
}

static void work_fma(int64_t amount, void *window)
{
    (void)window;
    sink_ratio = kernel_fma(amount, 1.25);
}

static void work_read(int64_t amount, void *window)
{
    sink_sum = kernel_read(window, WINDOW_BYTES, 0, amount);
}

static void work_mix(int64_t amount, void *window)
{
    sink_sum = (uint64_t)kernel_mix(window, WINDOW_BYTES, 0, amount, 16, 1.25);
}

static void work_copy(int64_t amount, void *window)
{
    unsigned char *half = window;

    sink_sum = (uint64_t)kernel_copy(half, half + WINDOW_BYTES / 2, WINDOW_BYTES / 2, 0, amount);
}

/* Eight times the work takes about eight times as long: 5 to 12 leaves room for the machine. */
static void check_linear(void (*work)(int64_t amount, void *window), int64_t amount)
{
    unsigned char *window = window_new(1);
    double once = least_s(work, amount, window);
    double more = least_s(work, 8 * amount, window);

    ck_assert_msg(once > 20e-6, "%lld units of work took only %g s", (long long)amount, once);
    ck_assert_msg(more / once > 5 && more / once < 12, "8 times the work took %g times as long",
                  more / once);
    free(window);
}

START_TEST(fma_time_grows_with_work)
{
    check_linear(work_fma, 40000);
}
END_TEST

START_TEST(read_time_grows_with_work)
{
    check_linear(work_read, 8 << 20);
}
END_TEST

START_TEST(mix_time_grows_with_work)
{
    check_linear(work_mix, 1 << 20);
}
END_TEST

/* Sixteen multiply-adds on each number are more than four: they are not left out. */
START_TEST(mix_time_grows_with_arithmetic)
{
    unsigned char *window = window_new(1);
    double few = 1e9;
    double many = 1e9;

    for (int run = 0; run < 9; run++) {
        double begin = cpu_s();

        (void)kernel_mix((_Atomic double *)(void *)window, WINDOW_BYTES, 0, 4 << 20, 16, 1.25);
        few = fmin(few, cpu_s() - begin);
        begin = cpu_s();
        (void)kernel_mix((_Atomic double *)(void *)window, WINDOW_BYTES, 0, 4 << 20, 128, 1.25);
        many = fmin(many, cpu_s() - begin);
    }
    ck_assert_msg(many / few > 4 && many / few < 12, "8 times the work took %g times as long",
                  many / few);
    free(window);
}
END_TEST

START_TEST(copy_time_grows_with_work)
{
    check_linear(work_copy, 16 << 20);
}
END_TEST

START_TEST(fma_depends_on_every_iteration)
{
    double last = kernel_fma(0, 1.0);

    /* The chains begin at 1, 2, ... 16. */
    ck_assert_double_eq_tol(last, 136.0, 1e-9);
    for (int64_t n = 1; n < 1000; n++) {
        double next = kernel_fma(n, 1.0);

        ck_assert_double_ne(next, last);
        last = next;
    }
    ck_assert_double_ne(kernel_fma(1000000, 1.0), kernel_fma(1000001, 1.0));
    ck_assert_double_ne(kernel_fma(100, 1.0), kernel_fma(100, 2.0));
    ck_assert_double_eq(kernel_fma(100, 3.0), kernel_fma(100, 3.0));
}
END_TEST

START_TEST(read_sums_every_word)
{
    unsigned char *window = window_new(3);
    uint64_t sum = 0;
    uint64_t word;

    for (int i = 0; i < WINDOW_BYTES; i += 8) {
        memcpy(&word, window + i, 8);
        sum += word;
    }
    ck_assert_uint_eq(kernel_read(window, WINDOW_BYTES, 0, WINDOW_BYTES), sum);
    /* Once round from anywhere is the same sum, three times round is three times as much. */
    ck_assert_uint_eq(kernel_read(window, WINDOW_BYTES, 6400, WINDOW_BYTES), sum);
    ck_assert_uint_eq(kernel_read(window, WINDOW_BYTES, 64, 3 * WINDOW_BYTES), 3 * sum);
    ck_assert_uint_eq(kernel_read(window, WINDOW_BYTES, 0, 0), 0);
    /* 1 byte is rounded up to the 64 at the place. */
    ck_assert_uint_eq(kernel_read(window, WINDOW_BYTES, 128, 1),
                      kernel_read(window, WINDOW_BYTES, 128, 64));
    free(window);
}
END_TEST

/* What is left of 1.0 after so many steps of x * (1 - 1e-9 / 2) + 1e-3. */
static double mixed(double x, int n_steps)
{
    for (int i = 0; i < n_steps; i++)
        x = x * (1.0 - 0.5e-9) + 1e-3;
    return x;
}

static void check_numbers(const _Atomic double *window, int first, int n, double expected)
{
    for (int i = first; i < first + n; i++)
        ck_assert_double_eq_tol(window[i], expected, 1e-12);
}

START_TEST(mix_goes_through_each_number)
{
    _Atomic double window[32];

    for (int i = 0; i < 32; i++)
        atomic_init(&window[i], 1.0);
    /* 4 lines of 64 bytes: the second and the third. */
    ck_assert_int_eq(kernel_mix(window, 256, 64, 128, 3, 1.0), 192);
    check_numbers(window, 0, 8, 1.0);
    check_numbers(window, 8, 16, mixed(1.0, 3));
    check_numbers(window, 24, 8, 1.0);
    /* The last and, of one byte that is rounded up to a line, the first. */
    ck_assert_int_eq(kernel_mix(window, 256, 192, 65, 5, 1.0), 64);
    check_numbers(window, 24, 8, mixed(1.0, 5));
    check_numbers(window, 0, 8, mixed(1.0, 5));
    check_numbers(window, 8, 16, mixed(1.0, 3));
    ck_assert_int_eq(kernel_mix(window, 256, 64, 256, 0, 1.0), 64);
    check_numbers(window, 8, 16, mixed(1.0, 3));
    ck_assert_int_eq(kernel_mix(window, 256, 192, 64, 1, 1.0), 0);
    ck_assert_int_eq(kernel_mix(window, 256, 128, 0, 9, 1.0), 128);
}
END_TEST

START_TEST(copy_goes_round)
{
    unsigned char *source = window_new(5);
    unsigned char *target = window_new(90);

    /* 100 bytes from 950 of a window of 1000: 50 at its end, 50 at its beginning. */
    ck_assert_int_eq(kernel_copy(target, source, 1000, 950, 100), 50);
    ck_assert_mem_eq(target + 950, source + 950, 50);
    ck_assert_mem_eq(target, source, 50);
    ck_assert_int_ne(memcmp(target + 50, source + 50, 900), 0);
    ck_assert_int_eq(kernel_copy(target, source, 1000, 50, 900), 950);
    ck_assert_mem_eq(target, source, 1000);
    ck_assert_int_ne(memcmp(target + 1000, source + 1000, 100), 0);
    ck_assert_int_eq(kernel_copy(target, source, 1000, 0, 3000), 0);
    ck_assert_int_eq(kernel_copy(target, source, 1000, 7, 0), 7);
    free(source);
    free(target);
}
END_TEST

START_TEST(touch_writes_each_page)
{
    unsigned char *window = window_new(1);

    memset(window, 1, WINDOW_BYTES);
    kernel_touch(window, WINDOW_BYTES, 4096);
    for (int i = 0; i < WINDOW_BYTES; i++)
        ck_assert_uint_eq(window[i], i % 4096 != 0);
    free(window);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels/host");
    TCase *results = tcase_create("results");
    TCase *times = tcase_create("times");

    tcase_add_test(results, fma_depends_on_every_iteration);
    tcase_add_test(results, read_sums_every_word);
    tcase_add_test(results, mix_goes_through_each_number);
    tcase_add_test(results, copy_goes_round);
    tcase_add_test(results, touch_writes_each_page);
    tcase_add_test(times, fma_time_grows_with_work);
    tcase_add_test(times, read_time_grows_with_work);
    tcase_add_test(times, mix_time_grows_with_work);
    tcase_add_test(times, mix_time_grows_with_arithmetic);
    tcase_add_test(times, copy_time_grows_with_work);
    suite_add_tcase(suite, results);
    suite_add_tcase(suite, times);
    return run_suite(suite);
}
