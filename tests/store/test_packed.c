/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of whole numbers: what is packed comes back, in C and by the expression that the views have. */
#include "store/packed.h"

#include <sqlite3.h>
#include <string.h>

#include "base/random.h"
#include "tests/suite.h"

static sqlite3 *db;
static sqlite3_stmt *by_sql[2]; /* may it be null? */

static void set_up(void)
{
    static const char *const statements[2] = {
        "SELECT ?1 + coalesce(CAST(substr(?2, 1 + ?4 * (length(?2) / ?3), length(?2) / ?3) "
        "AS INTEGER), 0)",
        "SELECT ?1 + nullif(CAST(substr(?2, 1 + ?4 * (length(?2) / ?3), length(?2) / ?3) "
        "AS INTEGER), 0)"};

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sqlite3_prepare_v2(db, statements[i], -1, &by_sql[i], NULL), SQLITE_OK);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++)
        (void)sqlite3_finalize(by_sql[i]);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static void check_by_sql(const struct packed *packed, const int64_t *values, unsigned n,
                         bool may_be_null)
{
    sqlite3_stmt *select = by_sql[may_be_null];

    for (unsigned i = 0; i < n; i++) {
        (void)sqlite3_bind_int64(select, 1, packed->base);
        (void)sqlite3_bind_blob(select, 2, packed->digits, (int)packed->n_digits, SQLITE_STATIC);
        (void)sqlite3_bind_int(select, 3, (int)n);
        (void)sqlite3_bind_int(select, 4, (int)i);
        ck_assert_int_eq(sqlite3_step(select), SQLITE_ROW);
        if (may_be_null && values[i] == PACKED_NULL) {
            ck_assert_int_eq(sqlite3_column_type(select, 0), SQLITE_NULL);
        } else {
            ck_assert_int_eq(sqlite3_column_type(select, 0), SQLITE_INTEGER);
            ck_assert_int_eq(sqlite3_column_int64(select, 0), values[i]);
        }
        (void)sqlite3_reset(select);
    }
}

static void check_block(const int64_t *values, unsigned n, bool may_be_null)
{
    struct packed packed;
    int64_t back[PACKED_ROWS];

    ck_assert(packed_write(&packed, values, n, may_be_null));
    ck_assert(packed_read(packed.base, packed.digits, packed.n_digits, n, may_be_null, back));
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(back[i], values[i]);
    check_by_sql(&packed, values, n, may_be_null);
}

/* Values of every magnitude, near to each other and far, some of them NULL. */
START_TEST(random_blocks)
{
    struct random_stream random;
    int64_t values[PACKED_ROWS];

    random_seed(&random, 8, 0);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned n = (unsigned)random_below(&random, PACKED_ROWS) + 1;
        unsigned near = (unsigned)random_below(&random, 64),
                 far = (unsigned)random_below(&random, 64);
        bool may_be_null = random_below(&random, 2) == 1;
        uint64_t from = random_bits(&random) >> far;

        for (unsigned i = 0; i < n; i++) {
            uint64_t bits = from + (random_bits(&random) >> near);

            memcpy(&values[i], &bits, sizeof bits);
            if (values[i] == PACKED_NULL || (may_be_null && random_below(&random, 4) == 0))
                values[i] = may_be_null ? PACKED_NULL : 0;
        }
        check_block(values, n, may_be_null);
    }
}
END_TEST

START_TEST(extremes)
{
    const int64_t most = INT64_MAX, least = -INT64_MAX;
    const int64_t blocks[][4] = {
        {0, 0, 0, 0},
        {1, 1, 1, 1},
        {-1, -1, -1, -1},
        {most, most, most, most},
        {least, least, least, least},
        {most, 0, 1, 2},
        {least, 0, -1, -2},
        {most, least, 1, 7},
        {most, most - 1, 0, -1},
        {least, least + 1, 0, 1},
        {0, 9, 99, 99999999},
        {0, 100000000, 5, 7},
        {most, 1, most, 1},
    };

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        for (unsigned n = 1; n <= 4; n++) {
            int64_t values[5] = {PACKED_NULL};

            check_block(blocks[i], n, false);
            check_block(blocks[i], n, true);
            memcpy(values + 1, blocks[i], n * sizeof *values);
            check_block(values, n + 1, true);
        }
    }
    check_block((const int64_t[]){PACKED_NULL, PACKED_NULL}, 2, true);
}
END_TEST

/* From one end of the numbers to the other only 0 is near enough to both: when it is a value too,
 * and may not be the base since it stands for NULL, no block can be written. */
START_TEST(what_has_no_base_is_refused)
{
    struct packed packed;
    const int64_t values[] = {-INT64_MAX, INT64_MAX, PACKED_NULL, 0};

    check_block(values, 3, true);
    ck_assert(!packed_write(&packed, values, 4, true));
    check_block((const int64_t[]){-INT64_MAX, INT64_MAX, 0}, 3, false);
    check_block((const int64_t[]){-INT64_MAX + 1, INT64_MAX, PACKED_NULL, 0}, 4, true);
}
END_TEST

START_TEST(other_digits_are_refused)
{
    int64_t values[PACKED_ROWS];

    ck_assert(packed_read(5, "0102", 4, 2, false, values));
    ck_assert_int_eq(values[1], 7);
    ck_assert(!packed_read(5, "0102", 4, 0, false, values));
    ck_assert(!packed_read(5, "0102", 4, 3, false, values));
    ck_assert(!packed_read(5, "0102", 4, PACKED_ROWS + 1, false, values));
    ck_assert(!packed_read(5, "01 2", 4, 2, false, values));
    ck_assert(!packed_read(5, "01-2", 4, 2, false, values));
    ck_assert(!packed_read(INT64_MAX, "01", 2, 1, false, values));
    ck_assert(packed_read(INT64_MAX, "00", 2, 1, false, values));
    ck_assert(!packed_read(0, "00000000000000000001", 20, 1, false, values));
    ck_assert(packed_read(0, "-0000000000000000001", 20, 1, false, values));
    ck_assert_int_eq(values[0], -1);
    ck_assert(!packed_read(0, "-9999999999999999999", 20, 1, false, values));
    ck_assert(!packed_read(-9, "-9223372036854775807", 20, 1, false, values));
    ck_assert(!packed_read(0, "000000000000000000001", 21, 1, false, values));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packed");
    TCase *tests = tcase_create("packed");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, random_blocks);
    tcase_add_test(tests, extremes);
    tcase_add_test(tests, what_has_no_base_is_refused);
    tcase_add_test(tests, other_digits_are_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
