/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was checked and what was found, in words. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "judge/verify_internal.h"

static const struct {
    const char *name, *what;
} checks[] = {
#define VERIFY_CHECK(id, name, what) {name, what},
#define VERIFY_CODE(id, check, name, what)
#include "judge/verify.def"
};

static const struct {
    const char *name, *what;
    enum verify_check_id check;
} codes[] = {
#define VERIFY_CHECK(id, name, what)
#define VERIFY_CODE(id, check, name, what) {name, what, VERIFY_CHECK_##check},
#include "judge/verify.def"
};

const char *verify_check_name(enum verify_check_id check)
{
    return checks[check].name;
}

const char *verify_check_what(enum verify_check_id check)
{
    return checks[check].what;
}

const char *verify_code_name(enum verify_code code)
{
    return codes[code].name;
}

const char *verify_code_what(enum verify_code code)
{
    return codes[code].what;
}

enum verify_check_id verify_code_check(enum verify_code code)
{
    return codes[code].check;
}

struct verify_at verify_at(enum verify_code code, uint32_t node, int64_t t_ns)
{
    return (struct verify_at){code, t_ns, {node}, {NONE}, {NONE}, {NONE}};
}

/* Writes the text; a failure is told at the end. */
static void keep(struct verify *verify, const struct verify_at *at, const char *format,
                 va_list args)
{
    struct verify_result *result = verify->result;
    va_list again;
    int length;
    char *text;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = arena_alloc(&result->texts, length < 0 ? 1 : (size_t)length + 1);
    if (length < 0 || text == NULL ||
        array_grow(&result->findings, &result->findings_room, result->n_findings + 1,
                   verify->err) != WEIR_OK) {
        verify->is_out_of_memory = true;
        return;
    }
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    result->findings[result->n_findings++] = (struct verify_finding){
        at->code, at->node, at->other, at->object, at->domain, at->t_ns, text};
}

void verify_add(struct verify *verify, struct verify_at at, const char *format, ...)
{
    struct verify_check *check = &verify->result->checks[verify_code_check(at.code)];
    va_list args;

    verify->result->n_wrong++;
    if (check->n_findings++ >= VERIFY_KEPT) {
        return;
    }
    va_start(args, format);
    keep(verify, &at, format, args);
    va_end(args);
}

void verify_checked(struct verify *verify, enum verify_check_id check, int64_t n)
{
    verify->result->checks[check].n_checked += n;
}

void verify_skip(struct verify *verify, enum verify_check_id check, const char *why)
{
    verify->result->checks[check].skipped = why;
}

static int by_check(const void *left, const void *right)
{
    const struct verify_finding *a = left, *b = right;

    return (codes[a->code].check > codes[b->code].check) -
           (codes[a->code].check < codes[b->code].check);
}

/* In the order of checks; of one check, in the order in which they were found. */
void verify_sort(struct verify_result *result)
{
    struct verify_finding *sorted = malloc((result->n_findings + 1) * sizeof *sorted);
    size_t n = 0;

    if (sorted == NULL) {
        qsort(result->findings, result->n_findings, sizeof *result->findings, by_check);
        return;
    }
    for (int check = 0; check < VERIFY_CHECKS; check++) {
        for (size_t i = 0; i < result->n_findings; i++) {
            if (codes[result->findings[i].code].check == (enum verify_check_id)check) {
                sorted[n++] = result->findings[i];
            }
        }
    }
    if (n > 0) {
        memcpy(result->findings, sorted, n * sizeof *sorted);
    }
    free(sorted);
}

void verify_free(struct verify_result *result)
{
    free(result->findings);
    arena_free(&result->texts);
    *result = (struct verify_result){.findings = NULL};
}
