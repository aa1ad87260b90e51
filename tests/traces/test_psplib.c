/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems of PSPLIB become graphs; what is none is refused with where, what was found, what was
 * expected and how to mend it; and memory that runs out at the first, second ... allocation is told.
 * The linker puts the functions below in the place of the allocator's. */
#include <stddef.h>
#include <string.h>

#include "graph/bind.h"
#include "graph/text.h"
#include "tests/suite.h"
#include "traces/psplib.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long allocations_left = -1; /* negative: any number */

static bool is_out(void)
{
    if (allocations_left < 0) {
        return false;
    }
    if (allocations_left == 0) {
        return true;
    }
    allocations_left--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return is_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_out() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_out() ? NULL : __real_realloc(old, size);
}

/* Line numbers of what the faults below are put in stand in front. */
static const char problem[] =
    /*  1 */ "************\n"
             /*  2 */ "file with basedata            : made by hand\n"
             /*  3 */ "initial value random generator: 1\n"
             /*  4 */ "************\n"
             /*  5 */ "projects                      :  1\n"
             /*  6 */ "jobs (incl. supersource/sink ):  4\n"
             /*  7 */ "horizon                       :  12\n"
             /*  8 */ "RESOURCES\n"
             /*  9 */ "  - renewable                 :  2   R\n"
             /* 10 */ "  - nonrenewable              :  0   N\n"
             /* 11 */ "  - doubly constrained        :  0   D\n"
             /* 12 */ "************\n"
             /* 13 */ "PROJECT INFORMATION:\n"
             /* 14 */ "pronr.  #jobs rel.date duedate tardcost  MPM-Time\n"
             /* 15 */ "    1      2      0        9        5        8\n"
             /* 16 */ "************\n"
             /* 17 */ "PRECEDENCE RELATIONS:\n"
             /* 18 */ "jobnr.    #modes  #successors   successors\n"
             /* 19 */ "   1        1          2           2   3\n"
             /* 20 */ "   2        1          1           4\n"
             /* 21 */ "   3        1          1           4\n"
             /* 22 */ "   4        1          0        \n"
             /* 23 */ "************\n"
             /* 24 */ "REQUESTS/DURATIONS:\n"
             /* 25 */ "jobnr. mode duration  R 1  R 2\n"
             /* 26 */ "------------\n"
             /* 27 */ "  1      1     0       0    0\n"
             /* 28 */ "  2      1     8       4    0\n"
             /* 29 */ "  3      1     4       3    1\n"
             /* 30 */ "  4      1     0       0    0\n"
             /* 31 */ "************\n"
             /* 32 */ "RESOURCEAVAILABILITIES:\n"
             /* 33 */ "  R 1  R 2\n"
             /* 34 */ "    6    1\n"
             /* 35 */ "************\n";

static const char canonical[] = "weir 1\n"
                                "graph made\n"
                                "domain R1 capacity=6 evidence=declared\n"
                                "domain R2 capacity=1 evidence=declared\n"
                                "node j1 compute duration=0 evidence=declared\n"
                                "node j2 compute duration=8000 workspace=4@R1 evidence=declared\n"
                                "node j3 compute duration=4000 workspace=3@R1,1@R2 "
                                "evidence=declared\n"
                                "node j4 compute duration=0 evidence=declared\n"
                                "edge j1 j2 ordering evidence=declared\n"
                                "edge j1 j3 ordering evidence=declared\n"
                                "edge j2 j4 ordering evidence=declared\n"
                                "edge j3 j4 ordering evidence=declared\n";

static enum weir_status read_made(const char *text, struct import_result *out,
                                  struct weir_error *err)
{
    struct import_options options = import_default();

    memset(out, 0, sizeof *out);
    return psplib_read_text(text, strlen(text), "folder/made.sm", &options, out, err);
}

static void check_canonical(const struct graph *graph, const char *expected)
{
    char *text;
    size_t length;
    struct weir_error err;

    ck_assert_int_eq(graph_write_text(graph, &text, &length, &err), WEIR_OK);
    ck_assert_str_eq(text, expected);
    free(text);
}

static int64_t reported(const struct import_result *result, const char *section, const char *key)
{
    const struct import_item *item = import_report_find(&result->report, section, key);

    ck_assert_ptr_nonnull(item);
    return item->integer;
}

START_TEST(test_becomes_a_graph)
{
    struct import_result result;
    struct weir_error err;

    ck_assert_msg(read_made(problem, &result, &err) == WEIR_OK, "%s", err.text);
    check_canonical(result.graph, canonical);
    ck_assert_ptr_null(result.timeline);
    ck_assert_str_eq(import_grade_name(result.report.grade), "A");
    ck_assert_int_eq(reported(&result, "read", "jobs"), 4);
    ck_assert_int_eq(reported(&result, "read", "precedence_relations"), 4);
    ck_assert_int_eq(reported(&result, "source", "unit_ns"), 1000);
    ck_assert_int_eq(reported(&result, "not_used", "due_date_units"), 9);
    import_result_free(&result);
}
END_TEST

/* The text with the first that is found in it replaced. */
static char *edited(const char *found, const char *instead)
{
    const char *at = strstr(problem, found);
    size_t before;
    char *text = __real_malloc(sizeof problem + strlen(instead));

    ck_assert_ptr_nonnull(at);
    before = (size_t)(at - problem);
    memcpy(text, problem, before);
    strcpy(text + before, instead);
    strcat(text, at + strlen(found));
    return text;
}

START_TEST(test_release_date_and_unit)
{
    struct import_options options = import_default();
    struct import_result result = {.graph = NULL};
    struct graph_node node;
    struct weir_error err;
    char *text = edited("1      2      0        9", "1      2      7        9");

    options.unit_ns = 60;
    ck_assert_int_eq(psplib_read_text(text, strlen(text), "made.sm", &options, &result, &err),
                     WEIR_OK);
    graph_node(result.graph, (weir_node){1}, &node);
    ck_assert_int_eq(node.duration.values_ns[0], 8 * 60);
    graph_node(result.graph, (weir_node){0}, &node);
    ck_assert_int_eq(node.release_ns, 7 * 60);
    import_result_free(&result);
    free(text);
}
END_TEST

/* Windows line ends, no rules, and no line of information: all the same graph. */
START_TEST(test_other_layouts)
{
    static const char bare[] = "projects:1\r\njobs:4\r\n- renewable:2\r\nPRECEDENCE RELATIONS:\r\n"
                               "jobnr.\r\n1 1 2 2 3\r\n2 1 1 4\r\n3 1 1 4\r\n4 1 0\r\n\r\n"
                               "REQUESTS/DURATIONS:\r\njobnr.\r\n1 1 0 0 0\r\n2\t1\t8\t4\t0\r\n"
                               "3 1 4 3 1\r\n4 1 0 0 0\r\nRESOURCEAVAILABILITIES:\r\n6 1";
    struct import_result result;
    struct weir_error err;

    ck_assert_msg(read_made(bare, &result, &err) == WEIR_OK, "%s", err.text);
    check_canonical(result.graph, canonical);
    import_result_free(&result);
}
END_TEST

static const struct {
    const char *found, *instead, *message;
} faults[] = {
    {problem, "",
     "folder/made.sm:1:1: the file ends; expected PRECEDENCE RELATIONS: take it whole"},
    {"projects", "proyects",
     ":5:1: found 'proyects                      :  1'; expected a line of the head"},
    {":  1\njobs", ":  2\njobs", ":5:1: found more or less than one project; expected one"},
    {"):  4", "):  four",
     ":6:34: found 'four'; expected the number of jobs, a whole number from 1"},
    {"):  4", "):  4000000", ":6:34: found '4000000'; expected the number of jobs"},
    {"):  4", ")  4", ":6:1: found 'jobs (incl. supersource/sink )  4'; expected a colon"},
    {":  12\n", ":\n", ":7:32: the line ends; expected the horizon: add it"},
    {"RESOURCES\n", "horizon : 3\n", ":8:1: found the horizon a second time"},
    {"nonrenewable              :  0", "nonrenewable              :  3",
     ":10:3: found 3 nonrenewable resources; expected none, for a job gives back all it takes"},
    {"constrained        :  0", "constrained        :  1",
     ":11:3: found 1 doubly constrained resources; expected none"},
    {"  - renewable                 :  2   R\n", "",
     ":16:1: found 'PRECEDENCE RELATIONS:'; expected the number of renewable resources before it"},
    {"pronr.", "project",
     ":14:1: found 'project  #jobs rel.date duedate tardcost'; expected the line"},
    {"9        5        8\n", "9        5\n",
     "15:38: the line ends; expected the MPM time: add it"},
    {"8\n*", "8 8\n*", ":15:48: found '8'; expected nothing behind the MPM time: remove it"},
    {"jobnr.    #modes", "jobs    #modes", ":18:1: found 'jobs    #modes"},
    {"   2        1          1           4\n", "",
     ":20:4: found '3'; expected the row of job 2 of 4, which begins with that number: correct it"},
    {"   4        1          0        \n", "",
     ":23:1: found 'REQUESTS/DURATIONS:'; expected the row of job 4 of 4"},
    {"2   3\n", "2   5\n", ":19:40: found '5'; expected a successor, a whole number from 1 to 4"},
    {"2   3\n", "2   2\n", ":19:40: found successor 2 of job 1 a second time; expected each once"},
    {"2   3\n", "2\n", ":19:37: the line ends; expected a successor: add it"},
    {"2   3\n", "2   3   4\n", ":19:44: found '4'; expected nothing behind so many successors"},
    {"   2        1 ", "   2        3 ",
     ":20:13: found the number of modes 3; expected 1, for a node has one duration and one demand"},
    {"   3        1          1           4", "   3        1          1           3",
     ":21:1: job 3 comes after itself, by way of job 3; expected no circle"},
    {"   4        1          0        ", "   4        1          1           2",
     "comes after itself, by way of job"},
    {"REQUESTS/DURATIONS", "DURATIONS",
     ":24:1: found 'DURATIONS:'; expected REQUESTS/DURATIONS, behind a row for each job"},
    {"  2      1     8", "  2      2     8", ":28:10: found mode 2; expected 1"},
    {"     8       4", "    -8       4",
     ":28:15: found '-8'; expected a duration, a whole number from 0 to 1000000000: correct it"},
    {"     8       4", "   1.5       4", ":28:14: found '1.5'; expected a duration"},
    {"     8       4", " 2000000000   4", ":28:12: found '2000000000'; expected a duration"},
    {"3    1\n", "3\n", ":29:25: the line ends; expected a request: add it"},
    {"3    1\n", "3    1  6\n", ":29:32: found '6'; expected nothing behind a request for each"},
    {"RESOURCEAVAILABILITIES:\n  R 1  R 2\n    6    1\n", "",
     "the file ends; expected RESOURCEAVAILABILITIES, behind a row for each job"},
    {"    6    1\n", "    6\n", ":34:6: the line ends; expected a capacity: add it"},
    {"    6    1\n", "    6    0\n",
     ":34:10: found '0'; expected a capacity, a whole number from 1 to 1000000000: correct it"},
    {"    6    1\n", "    6    x\n", ":34:10: found 'x'; expected a capacity"},
    {"    6    1\n", "    6    1\n    6    1\n",
     ":35:5: found '6    1'; expected the end of the file behind the capacities: remove the rest"},
    {"made by hand", "made by \x01", ":2:41: byte 0x01, which is no text; expected a PSPLIB file"},
    {"made by hand", "made by \xff", ":2:41: byte 0xff, which is no text"},
};

START_TEST(test_faults)
{
    struct import_result result;
    struct weir_error err;
    char *text = edited(faults[_i].found, faults[_i].instead);

    ck_assert_int_eq(read_made(text, &result, &err), WEIR_INPUT);
    ck_assert_msg(strstr(err.text, faults[_i].message) != NULL, "expected: %s\nfound: %s",
                  faults[_i].message, err.text);
    ck_assert_msg(strncmp(err.text, "folder/made.sm:", 15) == 0, "%s", err.text);
    ck_assert_ptr_null(result.graph);
    import_result_free(&result);
    free(text);
}
END_TEST

/* Job 1 is on no circle, though it leads to one. */
START_TEST(test_circle_is_named)
{
    struct import_result result;
    struct weir_error err;
    char *text = edited("   4        1          0        ", "   4        1          1           2");

    ck_assert_int_eq(read_made(text, &result, &err), WEIR_INPUT);
    ck_assert_msg(strstr(err.text, "job 1 ") == NULL && strstr(err.text, "job 3") == NULL, "%s",
                  err.text);
    import_result_free(&result);
    free(text);
}
END_TEST

START_TEST(test_window_is_refused)
{
    struct import_options options = import_default();
    struct import_result result = {.graph = NULL};
    struct weir_error err;

    options.window = "1s:2s";
    ck_assert_int_eq(psplib_read_text(problem, strlen(problem), "made.sm", &options, &result, &err),
                     WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "--window 1s:2s"));
}
END_TEST

START_TEST(test_time_past_64_bits)
{
    struct import_options options = import_default();
    struct import_result result = {.graph = NULL};
    struct weir_error err;

    options.unit_ns = INT64_MAX / 4;
    ck_assert_int_eq(psplib_read_text(problem, strlen(problem), "made.sm", &options, &result, &err),
                     WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "made.sm:20: job 2 takes past 2^63 ns"));
}
END_TEST

START_TEST(test_is_recognized)
{
    ck_assert(psplib_looks_like((const unsigned char *)problem, 512));
    ck_assert(!psplib_looks_like((const unsigned char *)"weir 1\ngraph g\n", 15));
    ck_assert(!psplib_looks_like((const unsigned char *)problem, 3));
}
END_TEST

START_TEST(test_memory_runs_out)
{
    struct import_result result;
    struct weir_error err;
    enum weir_status status = WEIR_MEMORY;

    for (long n = 0; status != WEIR_OK; n++) {
        ck_assert_int_lt(n, 1000);
        allocations_left = n;
        status = read_made(problem, &result, &err);
        allocations_left = -1;
        ck_assert_msg(status == WEIR_OK || status == WEIR_MEMORY, "%s", err.text);
        if (status == WEIR_OK) {
            check_canonical(result.graph, canonical);
        }
        import_result_free(&result);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("psplib");
    TCase *tests = tcase_create("psplib");

    tcase_add_test(tests, test_becomes_a_graph);
    tcase_add_test(tests, test_release_date_and_unit);
    tcase_add_test(tests, test_other_layouts);
    tcase_add_loop_test(tests, test_faults, 0, (int)(sizeof faults / sizeof *faults));
    tcase_add_test(tests, test_circle_is_named);
    tcase_add_test(tests, test_window_is_refused);
    tcase_add_test(tests, test_time_past_64_bits);
    tcase_add_test(tests, test_is_recognized);
    tcase_add_test(tests, test_memory_runs_out);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
