/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small run that has one of everything, for the tests of the store. */
#ifndef TESTS_STORE_MADE_RUN_H
#define TESTS_STORE_MADE_RUN_H

#include "store/store.h"

#define MADE_SAMPLES 3

struct made_run {
    struct graph *graph;
    struct timeline *timeline;
    struct run run;
    struct run_sample samples[MADE_SAMPLES];
};

/* Fills *out; every failure fails the test. */
void made_run(struct made_run *out);
/* The same with n more nodes, all compute, one after another. */
void made_run_of(struct made_run *out, uint32_t n_more);
void made_run_free(struct made_run *made);

/* Fails the test when anything differs but the ids and `created`. */
void check_equal_runs(const struct run *a, const struct run *b);

/* A fresh path in a folder of this test; the same for the same name. */
const char *scratch_path(const char *name);

/* The store of that name there, to write to; the caller closes it. */
struct store *opened(const char *name);
/* Writes it with its samples; gives its number. */
int64_t write_made(struct store *store, struct made_run *made);
/* All rows that a query gives: values parted by |, rows by a line break, NULL as nothing. Good
 * until the next call. */
char *query(struct store *store, const char *sql);

#endif
