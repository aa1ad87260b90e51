/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every rule of priority over the 480 problems J30 of PSPLIB, whose optima are proved, where they lie
 * beside the checkout ($WEIR_SHARED/data/psplib): the average deviation from the optimum, in percent, is
 * that of independent programs to two decimals, in the parallel scheme (which the simulator's dispatch is)
 * and in the serial one. Prints the table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/read_file.h"
#include "tests/psplib/solve.h"
#include "tests/suite.h"

#define PROBLEMS 480

struct row {
    const char *rule;
    const char *parallel, *serial;  /* the average; NULL: there is no such scheme */
    const char *worst, *at_optimum; /* of the parallel scheme; NULL: not known from elsewhere */
};

static const struct row rows[] = {
    {"lft", "4.39", "5.58", "24.1", "42.9"},   {"lst", "4.53", "4.92", "32.8", "44.4"},
    {"mts", "5.00", "6.56", "25.0", "39.6"},   {"wcs", "3.88", NULL, "26.4", "45.0"},
    {"grpw", "7.85", "10.31", "41.9", "37.3"}, {"grpw-all", "4.65", "5.28", "32.8", "41.9"},
    {"mslk", "6.72", "9.49", NULL, NULL},      {"fifo", "7.00", "9.45", NULL, NULL},
    {"spt", "9.82", "17.10", NULL, NULL},
};

static const char *folder(void)
{
    static char path[4096];
    const char *shared = getenv("WEIR_SHARED");

    (void)snprintf(path, sizeof path, "%s/data/psplib", shared == NULL ? "../shared" : shared);
    return path;
}

static FILE *open_optima(void)
{
    char path[5000];

    (void)snprintf(path, sizeof path, "%s/j30_optima.csv", folder());
    return fopen(path, "r");
}

struct problem {
    struct graph *graph;
    int64_t optimum;
};

/* "instance,optimum", then a line a problem. */
static void read_problems(struct problem problems[PROBLEMS])
{
    FILE *optima = open_optima();
    char line[256], name[64], path[5200];
    int n = 0;

    ck_assert_ptr_nonnull(fgets(line, sizeof line, optima));
    while (n < PROBLEMS && fgets(line, sizeof line, optima) != NULL) {
        char *text, *comma = strchr(line, ',');
        size_t length;
        struct weir_error err;

        ck_assert_ptr_nonnull(comma);
        (void)snprintf(name, sizeof name, "%.*s", (int)(comma - line), line);
        (void)snprintf(path, sizeof path, "%s/j30/%s.sm", folder(), name);
        ck_assert_msg(read_file(path, &text, &length, &err) == WEIR_OK, "%s", err.text);
        problems[n].graph = solve_import(text, length, path);
        problems[n++].optimum = strtoll(comma + 1, NULL, 10);
        free(text);
    }
    ck_assert_int_eq(n, PROBLEMS);
    (void)fclose(optima);
}

static void free_problems(struct problem problems[PROBLEMS])
{
    for (int i = 0; i < PROBLEMS; i++) {
        graph_free(problems[i].graph);
    }
}

struct average {
    char mean[16], worst[16], at_optimum[16];
};

static void average(const struct problem problems[PROBLEMS], const char *rule, const char *setting,
                    struct average *out)
{
    double sum = 0, worst = 0;
    int n_at_optimum = 0;

    for (int i = 0; i < PROBLEMS; i++) {
        int64_t makespan = solve(problems[i].graph, rule, setting, NULL);
        double ratio = (double)(makespan - problems[i].optimum) / (double)problems[i].optimum;

        ck_assert_int_ge(makespan, problems[i].optimum);
        sum += ratio;
        worst = ratio > worst ? ratio : worst;
        n_at_optimum += makespan == problems[i].optimum ? 1 : 0;
    }
    (void)snprintf(out->mean, sizeof out->mean, "%.2f", 100 * sum / PROBLEMS);
    (void)snprintf(out->worst, sizeof out->worst, "%.1f", 100 * worst);
    (void)snprintf(out->at_optimum, sizeof out->at_optimum, "%.1f",
                   100.0 * n_at_optimum / PROBLEMS);
}

START_TEST(test_averages)
{
    static struct problem problems[PROBLEMS];
    const struct row *row = &rows[_i];
    struct average parallel, serial = {"-", "", ""};

    read_problems(problems);
    average(problems, row->rule, NULL, &parallel);
    if (row->serial != NULL) {
        average(problems, row->rule, "serial=1", &serial);
    }
    printf("# %-9s parallel %5s %% (worst %s %%, at the optimum %s %%), serial %5s %%\n", row->rule,
           parallel.mean, parallel.worst, parallel.at_optimum, serial.mean);
    (void)fflush(stdout);
    ck_assert_str_eq(parallel.mean, row->parallel);
    if (row->serial != NULL) {
        ck_assert_str_eq(serial.mean, row->serial);
    }
    if (row->worst != NULL) {
        ck_assert_str_eq(parallel.worst, row->worst);
        ck_assert_str_eq(parallel.at_optimum, row->at_optimum);
    }
    free_problems(problems);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("psplib table");
    TCase *tests = tcase_create("table");
    FILE *optima = open_optima();

    if (optima == NULL) {
        printf("1..0 # SKIP no problems of PSPLIB: %s is not there\n", folder());
        return EXIT_SUCCESS;
    }
    (void)fclose(optima);
    tcase_add_loop_test(tests, test_averages, 0, n_inputs((int)(sizeof rows / sizeof *rows), 1));
    tcase_set_timeout(tests, 300);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
