/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities: exact or refused. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "tests/suite.h"

typedef enum number_fault reader(const char *text, size_t length, int64_t *out);

struct quantity {
    const char *text;
    enum number_fault fault;
    int64_t value;
};

static void check_all(reader *read, const struct quantity *cases)
{
    for (; cases->text != NULL; cases++) {
        int64_t value = -77;
        enum number_fault fault = read(cases->text, strlen(cases->text), &value);
        ck_assert_msg(fault == cases->fault, "\"%s\": fault %d, expected %d", cases->text,
                      (int)fault, (int)cases->fault);
        ck_assert_msg(value == (fault == NUMBER_OK ? cases->value : -77),
                      "\"%s\": %lld, expected %lld", cases->text, (long long)value,
                      (long long)cases->value);
    }
}

START_TEST(sizes)
{
    static const struct quantity cases[] = {
        {"0", NUMBER_OK, 0},
        {"5", NUMBER_OK, 5},
        {"007B", NUMBER_OK, 7},
        {"1KB", NUMBER_OK, 1000},
        {"1KiB", NUMBER_OK, 1024},
        {"0.5KiB", NUMBER_OK, 512},
        {"1.5GB", NUMBER_OK, 1500000000},
        {"2.0000000000000000000000000000000000000000B", NUMBER_OK, 2},
        {"80GiB", NUMBER_OK, INT64_C(85899345920)},
        /* 2^-40 of 2^40 bytes, all forty digits of it; then one digit more than is exact. */
        {"0.0000000000009094947017729282379150390625TiB", NUMBER_OK, 1},
        {"0.00000000000090949470177292823791503906251TiB", NUMBER_FRACTION, 0},
        {"9223372036854775807", NUMBER_OK, INT64_MAX},
        {"9223372036854775807.0", NUMBER_OK, INT64_MAX},
        {"9223372036854775808", NUMBER_RANGE, 0},
        {"99999999999999999999999999", NUMBER_RANGE, 0},
        {"8388607.99999904632568359375TiB", NUMBER_OK, INT64_MAX - 1048575},
        {"8388608TiB", NUMBER_RANGE, 0},
        {"9223372036854775.807KB", NUMBER_OK, INT64_MAX},
        {"9223372036854775.808KB", NUMBER_RANGE, 0},
        {"1.5", NUMBER_FRACTION, 0},
        {"0.0001KB", NUMBER_FRACTION, 0},
        {"-5", NUMBER_NEGATIVE, 0},
        {"-5MB", NUMBER_NEGATIVE, 0},
        {"", NUMBER_EMPTY, 0},
        {"-", NUMBER_SYNTAX, 0},
        {"KB", NUMBER_SYNTAX, 0},
        {".5KB", NUMBER_SYNTAX, 0},
        {"5.", NUMBER_SYNTAX, 0},
        {"5.KB", NUMBER_SYNTAX, 0},
        {"+5", NUMBER_SYNTAX, 0},
        {"5kB", NUMBER_UNIT, 0},
        {"5 KB", NUMBER_UNIT, 0},
        {"5PB", NUMBER_UNIT, 0},
        {"5e3", NUMBER_UNIT, 0},
        {"5ns", NUMBER_UNIT, 0},
        {"0x10", NUMBER_UNIT, 0},
        {NULL, NUMBER_OK, 0},
    };

    check_all(number_size, cases);
}
END_TEST

START_TEST(times)
{
    static const struct quantity cases[] = {
        {"12", NUMBER_OK, 12},
        {"12ns", NUMBER_OK, 12},
        {"1.5us", NUMBER_OK, 1500},
        {"0.001us", NUMBER_OK, 1},
        {"3ms", NUMBER_OK, 3000000},
        {"2.000000001s", NUMBER_OK, 2000000001},
        {"0.5ns", NUMBER_FRACTION, 0},
        {"1min", NUMBER_UNIT, 0},
        {"9223372036.854775807s", NUMBER_OK, INT64_MAX},
        {"9223372036.854775808s", NUMBER_RANGE, 0},
        {"-1us", NUMBER_NEGATIVE, 0},
        {NULL, NUMBER_OK, 0},
    };

    check_all(number_time, cases);
}
END_TEST

START_TEST(rates)
{
    static const struct quantity cases[] = {
        {"64GB/s", NUMBER_OK, INT64_C(64000000000)},
        {"1.5KiB/s", NUMBER_OK, 1536},
        {"10/s", NUMBER_OK, 10},
        {"10", NUMBER_OK, 10},
        {"10GB", NUMBER_UNIT, 0},
        {"10GB/m", NUMBER_UNIT, 0},
        {"/s", NUMBER_SYNTAX, 0},
        {"", NUMBER_EMPTY, 0},
        {"-1GB/s", NUMBER_NEGATIVE, 0},
        {NULL, NUMBER_OK, 0},
    };

    check_all(number_rate, cases);
}
END_TEST

START_TEST(flops)
{
    static const struct quantity cases[] = {
        {"989.4T/s", NUMBER_OK, INT64_C(989400000000000)},
        {"1P/s", NUMBER_OK, INT64_C(1000000000000000)},
        {"2K/s", NUMBER_OK, 2000},
        {"7/s", NUMBER_OK, 7},
        {"7", NUMBER_OK, 7},
        {"7T", NUMBER_UNIT, 0},
        {"7TB/s", NUMBER_UNIT, 0},
        {NULL, NUMBER_OK, 0},
    };

    check_all(number_flops, cases);
}
END_TEST

START_TEST(integers)
{
    static const struct quantity cases[] = {
        {"0", NUMBER_OK, 0},
        {"-0", NUMBER_OK, 0},
        {"-12", NUMBER_OK, -12},
        {"9223372036854775807", NUMBER_OK, INT64_MAX},
        {"-9223372036854775808", NUMBER_OK, INT64_MIN},
        {"9223372036854775808", NUMBER_RANGE, 0},
        {"-9223372036854775809", NUMBER_RANGE, 0},
        {"1.0", NUMBER_SYNTAX, 0},
        {"--1", NUMBER_SYNTAX, 0},
        {"-", NUMBER_SYNTAX, 0},
        {"", NUMBER_EMPTY, 0},
        {NULL, NUMBER_OK, 0},
    };

    check_all(number_integer, cases);
}
END_TEST

START_TEST(ratios_are_finite_decimals)
{
    static const char *const bad[] = {"nan", "inf", "-inf", "0x1p3", ".5", "1.",
                                      "1e",  "1e+", "1,5",  " 1",    "1 ", "1f"};
    char many[600];
    double value = 7;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(number_ratio(bad[i], strlen(bad[i]), &value), NUMBER_SYNTAX);
    ck_assert_int_eq(number_ratio("", 0, &value), NUMBER_EMPTY);
    ck_assert_int_eq(number_ratio("1e999", 5, &value), NUMBER_RANGE);
    memset(many, '1', sizeof many);
    ck_assert_int_eq(number_ratio(many, sizeof many, &value), NUMBER_RANGE);
    ck_assert_double_eq(value, 7); /* not written on a fault */
    ck_assert_int_eq(number_ratio("-1.5e-3", 7, &value), NUMBER_OK);
    ck_assert_double_eq(value, -0.0015);
    ck_assert_int_eq(number_ratio("1e-999", 6, &value), NUMBER_OK);
    ck_assert_double_eq(value, 0);
}
END_TEST

START_TEST(ratios_are_written_short_and_read_back)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {{1, "1"},           {0.1, "0.1"},   {1.25, "1.25"}, {100, "100"},
                 {1e300, "1e+300"},  {0, "0"},       {-0.5, "-0.5"}, {123456789, "123456789"},
                 {5e-324, "5e-324"}, {1e15, "1e+15"}};
    char text[NUMBER_TEXT_BYTES];
    struct random_stream random;
    double back;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        number_ratio_text(known[i].value, text);
        ck_assert_str_eq(text, known[i].text);
    }
    random_seed(&random, 3, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_bits(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        number_ratio_text(value, text);
        ck_assert_int_eq(number_ratio(text, strlen(text), &back), NUMBER_OK);
        ck_assert_int_eq(memcmp(&back, &value, sizeof value), 0);
    }
    number_ratio_text(-DBL_MAX, text);
    ck_assert_uint_lt(strlen(text), NUMBER_TEXT_BYTES);
}
END_TEST

START_TEST(people_read_rounded_numbers)
{
    static const struct {
        int64_t value;
        const char *time, *size;
    } cases[] = {
        {0, "0 ns", "0 B"},
        {999, "999 ns", "999 B"},
        {1500, "1.5 us", "1.5 KB"},
        {20000, "20 us", "20.0 KB"},
        {1234567, "1.235 ms", "1.2 MB"},
        {-20000, "-20 us", "-20.0 KB"},
        {80000000000, "80 s", "80.0 GB"},
        {INT64_MAX, "9223372036.855 s", "9223372.0 TB"},
        {INT64_MIN, "-9223372036.855 s", "-9223372.0 TB"},
    };
    char text[NUMBER_TEXT_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number_time_text(cases[i].value, text);
        ck_assert_str_eq(text, cases[i].time);
        number_size_text(cases[i].value, text);
        ck_assert_str_eq(text, cases[i].size);
    }
}
END_TEST

START_TEST(products_do_not_overflow_in_between)
{
    int64_t out = -1;

    ck_assert(number_mul_div_ceil(10, 3, 4, &out)); /* 30 / 4 = 7.5 */
    ck_assert_int_eq(out, 8);
    ck_assert(number_mul_div_ceil(10, 2, 4, &out));
    ck_assert_int_eq(out, 5);
    ck_assert(number_mul_div_ceil(0, 5, 7, &out));
    ck_assert_int_eq(out, 0);
    ck_assert(number_mul_div_ceil(INT64_MAX, INT64_MAX, INT64_MAX, &out));
    ck_assert_int_eq(out, INT64_MAX);
    out = -1;
    ck_assert(!number_mul_div_ceil(INT64_MAX, 2, 1, &out));
    ck_assert(!number_mul_div_ceil(INT64_MAX, INT64_MAX, INT64_MAX - 1, &out));
    ck_assert_int_eq(out, -1);
}
END_TEST

START_TEST(every_fault_has_a_text)
{
    for (int i = NUMBER_OK; i <= NUMBER_NEGATIVE; i++)
        ck_assert_uint_gt(strlen(number_fault_text((enum number_fault)i)), 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *all = tcase_create("number");

    tcase_add_test(all, sizes);
    tcase_add_test(all, times);
    tcase_add_test(all, rates);
    tcase_add_test(all, flops);
    tcase_add_test(all, integers);
    tcase_add_test(all, ratios_are_finite_decimals);
    tcase_add_test(all, ratios_are_written_short_and_read_back);
    tcase_add_test(all, people_read_rounded_numbers);
    tcase_add_test(all, products_do_not_overflow_in_between);
    tcase_add_test(all, every_fault_has_a_text);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
