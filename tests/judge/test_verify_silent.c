/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier has nothing to say of any simulation, whatever the contention. */
#include "tests/judge/subject.h"

START_TEST(test_silent)
{
    static struct text text;

    subject_draw(&text, (uint64_t)_i);
    for (int family = CONTENTION_NONE; family <= CONTENTION_MEASURED; family++) {
        struct subject subject;
        struct verify_result result;

        (void)subject_make(&subject, text.bytes, (enum contention)family);
        subject_verify(&subject, &result);
        ck_assert_msg(
            result.n_wrong == 0, "%s: %s: %s\n%s", contention_name((enum contention)family),
            verify_code_name(result.findings[0].code), result.findings[0].message, text.bytes);
        verify_free(&result);
        subject_free(&subject);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify silent");
    TCase *tests = tcase_create("verify silent");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_silent, 0, N_SEEDS);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
