/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store that was damaged or edited by hand: reading a run says so, whatever the rows hold. */
#include "store/store.h"
#include "tests/store/made_run.h"
#include "tests/suite.h"

static struct weir_error err;

/* Each makes a row of the run hold what no run has. */
static const char *const damages[] = {
    /* A base moves all values of a field; without digits each is the base, or NULL. */
    "UPDATE span_block SET start_ns = -7000",
    "UPDATE span_block SET length_ns = -7000",
    "UPDATE span_block SET length_ns = 9223372036854775807",
    "UPDATE span_block SET start_ns_digits = X''",
    "UPDATE span_block SET start_ns_digits = zeroblob(length(start_ns_digits))",
    "UPDATE span_block SET start_ns_digits = replace(start_ns_digits, '1', '-')",
    "UPDATE span_block SET start_ns_digits = start_ns_digits || '1'",
    "UPDATE span_block SET start_ns_digits = randomblob(n * 21)",
    "UPDATE span_block SET start_ns_digits = replace(hex(zeroblob(n * 10)), '0', '9')",
    "UPDATE span_block SET blocker = 4294967290",
    "UPDATE span_block SET blocker = -9223372036854775808",
    "UPDATE span_block SET start_order = 99999",
    "UPDATE span_block SET how = 15, how_digits = X''",
    "UPDATE span_block SET how = 16 * 9, how_digits = X''",
    "UPDATE span_block SET how = 1 << 20",
    "UPDATE span_block SET how = -1, how_digits = X''",
    "UPDATE span_block SET n = n - 1",
    "UPDATE span_block SET n = 0",
    "UPDATE span_block SET n = NULL",
    "UPDATE span_block SET n = -n",
    "UPDATE span_block SET n = 1 << 40",
    "UPDATE span_block SET key = key + 1",
    "DELETE FROM span_block",
    "UPDATE wait_block SET node_id = 1 << 40",
    "UPDATE wait_block SET cause = 77",
    "UPDATE wait_block SET cause = -1, cause_digits = X''",
    "UPDATE wait_block SET blocker = 99999",
    "UPDATE wait_block SET object = -200",
    "UPDATE wait_block SET length_ns = -700",
    "UPDATE wait_block SET from_ns = 9223372036854775807",
    "UPDATE pressure_block SET domain = -1, domain_digits = X''",
    "UPDATE pressure_block SET domain = 99",
    "UPDATE pressure_block SET bytes = -1000",
    "UPDATE pressure_block SET n = 65",
    "UPDATE hold_block SET domain = 99",
    "UPDATE hold_block SET object = 99999",
    "UPDATE hold_block SET node_id = 99999",
    "UPDATE hold_block SET bytes = -1000",
    "UPDATE hold_block SET length_ns = -9000",
    "UPDATE induced_block SET producer = -1",
    "UPDATE induced_block SET consumer = -1",
    "UPDATE induced_block SET consumer = 4294967296 * 3",
    "UPDATE induced_block SET domain = 99",
    "UPDATE peak_row SET bytes = -1",
    "UPDATE mechanism_row SET node_id = 99999",
    "UPDATE deviation_row SET node_id = 99999",
    "UPDATE mechanism_row SET mechanism = NULL",
    "UPDATE deviation_row SET what = NULL",
    "UPDATE action_row SET key = key + 99999",
    "UPDATE action_row SET queue = 2 WHERE queue = 1",
    "UPDATE action_row SET position = 99999 WHERE queue = 1",
    "UPDATE action_row SET position = 1 WHERE queue IS NULL",
    "UPDATE action_row SET planned_order = NULL",
    "UPDATE action_row SET stretch_ns = 9223372036854775807",
    "UPDATE action_row SET queue_ns = -9223372036854775807 - 1",
    "UPDATE queue_row SET name = NULL",
    "UPDATE inserted_row SET consumer = NULL",
    "UPDATE inserted_row SET producer = 99999 WHERE producer IS NOT NULL",
    "UPDATE inserted_row SET why = NULL",
    "UPDATE chain SET node_id = NULL",
    "UPDATE chain SET cause = NULL",
    "UPDATE chain SET finish_ns = start_ns - 1",
    "UPDATE chain SET submission_ns = 9223372036854775807",
};

START_TEST(reading_says_what_is_damaged)
{
    struct made_run made;
    struct stored_run back;
    struct store *store = opened("a.db");
    int64_t run_id;

    made_run(&made);
    run_id = write_made(store, &made);
    ck_assert_msg(store_read_run(store, run_id, &back, &err) == WEIR_OK, "%s", err.text);
    stored_run_free(&back);
    (void)query(store, damages[_i]);
    ck_assert_msg(atoi(query(store, "SELECT changes()")) > 0, "%s: changes nothing", damages[_i]);
    ck_assert_msg(store_read_run(store, run_id, &back, &err) == WEIR_STORE, "%s: is not noticed",
                  damages[_i]);
    ck_assert_str_ne(err.text, "");
    store_close(store);
    made_run_free(&made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damage");
    TCase *tests = tcase_create("damage");

    tcase_add_loop_test(tests, reading_says_what_is_damaged, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
