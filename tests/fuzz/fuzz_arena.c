/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target of the reader of lists of buffers, and of what is made of them. Whatever the bytes are,
 * the reader ends with a list or with a message that says where; a list is planned by every method,
 * each plan stands up to its check and to being carried out, and is what reading its text gives. */
#include <stdlib.h>

#include "policies/arena_bytes.h"
#include "policies/arena_csv.h"

#define MOST_BUFFERS 500
#define MOST_READ_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct arena_problem *problem, const int64_t *offsets_bytes,
                     size_t *length)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);

    if (file == NULL)
        abort();
    arena_csv_write(problem, offsets_bytes, file);
    if (fclose(file) != 0)
        abort();
    return text;
}

/* What was written is a list whose offsets are fixed, and is written the same again. */
static void read_again(const struct arena_problem *problem, const struct arena_plan *plan)
{
    struct arena_problem again;
    struct weir_error err;
    size_t length, again_length;
    char *text = written(problem, plan->offsets_bytes, &length), *same;

    if (arena_csv_read(text, length, "again", &again, &err) != WEIR_OK)
        abort();
    same = written(&again, plan->offsets_bytes, &again_length);
    if (again_length != length || memcmp(text, same, length) != 0)
        abort();
    free(text);
    free(same);
    arena_problem_free(&again);
}

static void try_method(const struct arena_problem *problem, const struct arena_method *method)
{
    struct arena_execution execution;
    struct arena_plan plan;
    struct weir_error err;
    enum weir_status status = arena_plan_make(problem, method, &plan, &err);

    if (status == WEIR_INPUT)
        return; /* what is fixed is in the way of each other */
    if (status != WEIR_OK || plan.peak_bytes < plan.lower_bound_bytes)
        abort();
    if (arena_execute(problem, &plan, MOST_READ_BYTES, &execution, &err) != WEIR_OK)
        abort();
    if (plan.peak_bytes <= INT64_MAX / 4) /* offsets may be given up to there */
        read_again(problem, &plan);
    arena_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena_problem problem;
    struct weir_error err;

    if (arena_csv_read((const char *)data, size, "fuzz", &problem, &err) != WEIR_OK) {
        if (err.status != WEIR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
            abort();
        return 0;
    }
    for (const struct arena_method *at = arena_methods;
         at->name != NULL && problem.n_buffers <= MOST_BUFFERS; at++)
        try_method(&problem, at);
    arena_problem_free(&problem);
    return 0;
}
