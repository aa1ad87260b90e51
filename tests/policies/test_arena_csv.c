/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of buffers as text: every column and every name of one, what is refused and where, and that
 * what is written reads as the same. */
#include "policies/arena_csv.h"
#include "tests/policies/arena_random.h"
#include "tests/suite.h"

static struct arena_problem read_list(const char *text)
{
    struct arena_problem problem;
    struct weir_error err;

    ck_assert_msg(arena_csv_read(text, strlen(text), "t.csv", &problem, &err) == WEIR_OK, "%s",
                  err.text);
    return problem;
}

START_TEST(columns_stand_in_any_order)
{
    struct arena_problem problem =
        read_list("\xef\xbb\xbfsize,offset,gaps,id,upper,alignment,lower,hint\r\n"
                  "10,-1,,\"a, \"\"b\"\"\",5,4,-3,\r\n"
                  "0,,1-3 3-4@0:0,\xc3\xbc,9,,0,7\r\n"
                  "6,64,-2--1@0:6,c,0,64,-9,-1\r\n\r\n \r\n");
    const struct arena_buffer *at = problem.buffers;

    ck_assert_uint_eq(problem.n_buffers, 3);
    ck_assert_str_eq(at[0].name, "a, \"b\"");
    ck_assert_int_eq(at[0].lower, -3);
    ck_assert_int_eq(at[0].upper, 5);
    ck_assert_int_eq(at[0].size_bytes, 10);
    ck_assert_int_eq(at[0].align_bytes, 4);
    ck_assert_int_eq(at[0].fixed_bytes, -1);
    ck_assert_int_eq(at[0].hint_bytes, -1);
    ck_assert_uint_eq(at[0].n_gaps, 0);
    ck_assert_int_eq(at[1].align_bytes, 1);
    ck_assert_int_eq(at[1].hint_bytes, 7);
    ck_assert_int_eq(at[2].fixed_bytes, 64);
    ck_assert_uint_eq(at[2].n_gaps, 1);
    ck_assert_int_eq(at[2].gaps[0].lower, -2);
    ck_assert_int_eq(at[2].gaps[0].upper, -1);
    ck_assert_int_eq(at[2].gaps[0].to_bytes, 6);
    arena_problem_free(&problem);
}
END_TEST

START_TEST(an_end_is_in_the_life)
{
    static const char *const heads[] = {"buffer,start,end,size,gaps",
                                        "buffer_id,begin,end,size,gaps"};

    for (int i = 0; i < 2; i++) {
        char text[100];
        struct arena_problem problem;

        (void)snprintf(text, sizeof text, "%s\na,0,2,8,1-1\n", heads[i]);
        problem = read_list(text);
        ck_assert_int_eq(problem.buffers[0].upper, 3);
        ck_assert_int_eq(problem.buffers[0].gaps[0].upper, 2);
        arena_problem_free(&problem);
    }
}
END_TEST

#define HEAD "id,lower,upper,size\n"
#define FULL "id,lower,upper,size,alignment,hint,gaps,offset\n"

static const struct {
    const char *text, *at, *why;
} refused[] = {
    {"", "t.csv:1:1: ", "nothing; expected a graph, or a first line such as id,lower,upper,size"},
    {"\nid\n", "t.csv:1:1: ", "a blank line, and more behind it"},
    {"id,lower,upper\n", "t.csv:1:1: ", "there is no column 'size'"},
    {"id,lower,upper,size,colour\n", "t.csv:1:21: ", "column 'colour' is none of"},
    {"id,lower,upper,size,end\n", "t.csv:1:21: ", "column 'end' says what column 'upper' does"},
    {HEAD "a,0,1\n", "t.csv:2:5: ", "3 fields; expected 4"},
    {HEAD "a,0,1,2,3\n", "t.csv:2:9: ", "5 fields; expected 4"},
    {HEAD "a,0,1,2\nb,x,1,2\n", "t.csv:3:3: ", "lower 'x': "},
    {HEAD "a,0,1,2.5\n", "t.csv:2:7: ", "size '2.5': "},
    {HEAD "a,0,,2\n", "t.csv:2:5: ", "upper '': "},
    {HEAD "a,0,1,-2\n", "t.csv:2:7: ", "size -2; expected 0 or more"},
    {HEAD "a,0,1,9223372036854775808\n", "t.csv:2:7: ", "size '9223372036854775808': "},
    {HEAD "a,3,3,2\n", "t.csv:2:5: ", "a life of the steps [3, 3)"},
    {HEAD ",3,4,2\n", "t.csv:2:1: ", "an empty id"},
    {HEAD "a,0,1,2\nb,0,1,2\na,0,1,2\n", "t.csv:4:1: ", "id 'a' stands in line 2 too"},
    {HEAD "a,0,1,2\n\nb,0,1,2\n", "t.csv:3:1: ", "a blank line, and more behind it"},
    {HEAD "a,0,1,\x01\n", "t.csv:2:7: ", "byte 0x01"},
    {HEAD "a\xff,0,1,2\n", "t.csv:2:2: ", "byte 0xff"},
    {HEAD "\"a,0,1,2\n", "t.csv:2:1: ", "a quote that nothing closes"},
    {HEAD "\"a\"b,0,1,2\n", "t.csv:2:4: ", "text behind a closing quote"},
    {"id,lower,end,size\na,0,9223372036854775807,1\n", "t.csv:2:5: ", "an end at "},
    {FULL "a,0,1,2,0,,,\n", "t.csv:2:9: ", "alignment 0; expected 1 or more"},
    {FULL "a,0,1,2,1,-2,,\n", "t.csv:2:11: ", "hint -2"},
    {FULL "a,0,1,2,1,,,-2\n", "t.csv:2:13: ", "offset -2; expected -1 or more"},
    {FULL "a,0,9,2,1,,3,\n", "t.csv:2:12: ", "gap '3' is of no form"},
    {FULL "a,0,9,2,1,,1-2 3-4@1,\n", "t.csv:2:16: ", "gap '3-4@1' is of no form"},
    {FULL "a,0,9,2,1,,1-x,\n", "t.csv:2:14: ", "gaps 'x': "},
    {FULL "a,0,9,2,1,,4-4,\n", "t.csv:2:12: ", "gap '4-4' is no stretch"},
    {FULL "a,0,9,2,1,,4-10,\n", "t.csv:2:12: ", "gap '4-10' is no stretch"},
    {FULL "a,0,9,2,1,,4-5@1:3,\n", "t.csv:2:12: ", "keeps bytes that its buffer does not have"},
    {FULL "a,0,9,2,1,,4-6 5-7,\n", "t.csv:2:12: ", "has two that meet"},
    {FULL "a,0,9,2,4,,,6\n", "t.csv: ", "fixed at 6; expected a multiple of its alignment 4"},
    {HEAD "a,0,9,9223372036854775807\n", "t.csv: ", "come to more than"},
};

START_TEST(what_is_wrong_is_told_with_its_place)
{
    struct arena_problem problem;
    struct weir_error err;

    ck_assert_msg(arena_csv_read(refused[_i].text, strlen(refused[_i].text), "t.csv", &problem,
                                 &err) == WEIR_INPUT,
                  "%s", refused[_i].text);
    ck_assert_msg(strncmp(err.text, refused[_i].at, strlen(refused[_i].at)) == 0, "%s", err.text);
    ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s", err.text);
    ck_assert_msg(strstr(err.text, "expected") != NULL || strstr(err.text, "remove") != NULL, "%s",
                  err.text);
}
END_TEST

static char *written(const struct arena_problem *problem, const int64_t *offsets)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    ck_assert_ptr_nonnull(file);
    arena_csv_write(problem, offsets, file);
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

START_TEST(only_what_is_there_is_written)
{
    struct arena_problem problem = read_list(FULL "\"a,b\",0,5,8,1,,,\n"
                                                  "=c,0,5,8,1,-1,,-1\n");
    static const int64_t offsets[] = {8, 0};
    char *text = written(&problem, offsets);

    ck_assert_str_eq(text, "id,lower,upper,size,offset\n\"a,b\",0,5,8,8\n=c,0,5,8,0\n");
    free(text);
    arena_problem_free(&problem);
    problem = read_list(FULL "a,0,5,8,2,3,1-2 3-4@0:4,\n"
                             "c,0,5,8,1,-1,,-1\n");
    text = written(&problem, offsets);
    ck_assert_str_eq(text, FULL "a,0,5,8,2,3,1-2 3-4@0:4,8\nc,0,5,8,1,-1,,0\n");
    free(text);
    arena_problem_free(&problem);
}
END_TEST

START_TEST(what_is_written_reads_as_the_same)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct arena_draw draw = {(uint32_t)(seed % 20), 30, 10, 100, true};
        struct arena_problem problem = arena_draw(&draw, seed), again;
        int64_t offsets[20];
        char *first, *second;

        for (int i = 0; i < 20; i++) {
            offsets[i] = 48 * i;
        }
        first = written(&problem, offsets);
        again = read_list(first);
        for (uint32_t i = 0; i < again.n_buffers; i++) {
            ck_assert_int_eq(again.buffers[i].fixed_bytes, offsets[i]);
        }
        second = written(&again, offsets);
        ck_assert_str_eq(first, second);
        free(first);
        free(second);
        arena_problem_free(&problem);
        arena_problem_free(&again);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policies/arena_csv");
    TCase *all = tcase_create("all");

    tcase_add_test(all, columns_stand_in_any_order);
    tcase_add_test(all, an_end_is_in_the_life);
    tcase_add_loop_test(all, what_is_wrong_is_told_with_its_place, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(all, only_what_is_there_is_written);
    tcase_add_test(all, what_is_written_reads_as_the_same);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
