/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that runs out at the first, second, third ... allocation: reading, laying over, hashing,
 * writing, auditing and analyzing say so and leave nothing behind (a sanitized build sees leaks), until all succeeds. The
 * linker puts the functions below in the place of the allocator's. */
#include <stddef.h>

#include "graph/analyze.h"
#include "graph/check.h"
#include "tests/graph/texts.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long allocations_left = -1; /* negative: any number */

static bool is_out(void)
{
    if (allocations_left < 0)
        return false;
    if (allocations_left == 0)
        return true;
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

static const char graph_text_[] =
    "weir 1\ngraph g evidence=declared:x\n"
    "domain hbm capacity=80GB\ndomain host capacity=1TB\nengine sm\nengine h2d from=host to=hbm\n"
    "resource r capacity=5\nkappa sm h2d 2\nkappa z sm 2\noverlap sm h2d allowed\nparam f x 1\n"
    "guard w on\nobject o size=1 placements=hbm,host origin=a\nobject v size=1 alias=\"o\"\n"
    "node \"a\\x20b\" compute engine=sm duration=normal(1,2) reads=o,v@hbm writes=o "
    "workspace=1,2@host uses=r:1 class=k priority=1 evidence=measured:y confidence=0.5\n"
    "node b transfer engine=h2d object=o duration=3\nedge b \"a b\" ordering lag=2\n";
static const char over_text[] =
    "weir 1\ndomain new capacity=1\nengine sm slots=2\nkappa sm h2d 3\nparam f x 2\n"
    "overlap h2d sm forbidden\nedge b \"a b\" ordering lag=3\nobject o initial\n";

/* All of it once, with what is allocated from here on limited to @p n. */
static enum weir_status read_and_write(long n, char hash[HASH_TEXT_BYTES])
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err = {0};
    char *form = NULL;
    size_t length;
    enum weir_status status;

    allocations_left = n;
    status = graph_read_text(graph_text_, sizeof graph_text_ - 1, "g", report, &graph, &err);
    if (status == WEIR_OK)
        status = graph_overlay_text(graph, over_text, sizeof over_text - 1, "m", report, &err);
    if (status == WEIR_OK)
        status = graph_hash(graph, hash, &err);
    if (status == WEIR_OK)
        status = graph_write_text(graph, &form, &length, &err);
    allocations_left = -1;
    ck_assert_uint_eq(report_count(report), 0);
    if (status != WEIR_OK)
        ck_assert_ptr_nonnull(strstr(err.text, "out of memory"));
    free(form);
    graph_free(graph);
    report_free(report);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    char whole[HASH_TEXT_BYTES], hash[HASH_TEXT_BYTES];
    enum weir_status status;
    long n = 0;

    ck_assert_int_eq(read_and_write(-1, whole), WEIR_OK);
    while ((status = read_and_write(n, hash)) == WEIR_MEMORY)
        n++;
    ck_assert_int_eq(status, WEIR_OK);
    ck_assert_str_eq(hash, whole);
    ck_assert_int_gt(n, 50); /* the allocator really was ours */
}
END_TEST

/* It has fallbacks, a mapping that may come too early, and too little room for the proof to be easy. */
static const char hard_text[] =
    "weir 1\ndomain hbm capacity=20\ndomain host capacity=20\nengine sm domain=hbm slots=2\n"
    "engine d2h from=hbm to=host bandwidth=1GB/s\nobject x size=8\nobject v size=4 alias=x+2\n"
    "object y size=8\nobject z size=8\nnode ax allocation object=x domain=hbm\n"
    "node m mapping object=x domain=host\nnode a compute engine=sm duration=5 writes=x\n"
    "node b compute engine=sm duration=5 reads=v writes=y deadline=20 fallback=c\n"
    "node c compute engine=sm duration=3 reads=v writes=y\n"
    "node out offload engine=d2h object=y staging=2@host\n"
    "node fx reclamation object=x domain=hbm\n"
    "node d compute engine=sm duration=normal(4,1) reads=y writes=z deadline=90 workspace=2\n"
    "edge a d ordering lag=1\n";

static enum weir_status analyze_all(const struct binding *binding, struct weir_error *err)
{
    struct analysis analysis;
    struct analyze_slow slow = {NULL, NULL, NULL};
    struct analyze_bounds bounds = {NULL, NULL, 0};
    struct analyze_progress progress;
    struct analyze_life *lives = NULL;
    weir_node *path = NULL;
    uint32_t n_path;
    int64_t length_ns;
    enum weir_status status = analyze(binding, &analysis, err);

    if (status != WEIR_OK)
        return status;
    status = analyze_slow_make(&analysis, &slow, err);
    if (status == WEIR_OK)
        status = analyze_path(&analysis, &path, &n_path, &length_ns, err);
    if (status == WEIR_OK)
        status = analyze_critical_path(binding, &length_ns, err);
    if (status == WEIR_OK)
        status = analyze_bounds(&analysis, &bounds, err);
    if (status == WEIR_OK)
        status = analyze_lives(&analysis, &lives, err);
    if (status == WEIR_OK)
        status = analyze_progress(&analysis, &progress, err);
    analyze_free(&analysis);
    analyze_slow_free(&slow);
    analyze_bounds_free(&bounds);
    free(lives);
    free(path);
    return status;
}

/* The audit and the analysis, with what is allocated limited to @p n. @return WEIR_MEMORY also when a
 * finding is missing */
static enum weir_status audit_and_analyze(const struct graph *graph, long n, uint32_t *n_findings)
{
    struct report *report = report_new(0);
    struct binding *binding = NULL;
    struct weir_error err = {0};
    enum weir_status status;

    allocations_left = n;
    status = check_graph(graph, report, &binding, &err);
    if (status == WEIR_OK)
        status = report_is_short(report) ? WEIR_MEMORY : analyze_all(binding, &err);
    allocations_left = -1;
    *n_findings = report_count(report);
    ck_assert_uint_eq(report_errors(report), 0);
    bind_free(binding);
    report_free(report);
    return status;
}

START_TEST(every_allocation_of_an_audit_may_fail)
{
    struct graph *graph = graph_of(hard_text);
    uint32_t n_whole, n_findings;
    enum weir_status status;
    long n = 0;

    ck_assert_int_eq(audit_and_analyze(graph, -1, &n_whole), WEIR_OK);
    while ((status = audit_and_analyze(graph, n, &n_findings)) == WEIR_MEMORY)
        n++;
    ck_assert_int_eq(status, WEIR_OK);
    ck_assert_uint_eq(n_findings, n_whole);
    ck_assert_int_gt(n, 50);
    graph_free(graph);
}
END_TEST

START_TEST(findings_that_find_no_memory_are_counted)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;
    const char *text = "weir 1\nnope\nnope\n";

    report_add(report, FINDING_SYNTAX, (struct report_at){"f", 1, 1}, "kept");
    allocations_left = 0;
    for (int i = 0; i < 5000; i++)
        report_add(report, FINDING_SYNTAX, (struct report_at){"f", 1, 1}, "lost");
    allocations_left = -1;
    ck_assert(report_is_short(report));
    ck_assert_uint_eq(report_errors(report), 5001);
    ck_assert_uint_lt(report_count(report), 5001);
    ck_assert_int_eq(graph_read_text(text, strlen(text), "f", report, &graph, &err), WEIR_INPUT);
    report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("no memory");
    TCase *all = tcase_create("no memory");

    tcase_add_test(all, every_allocation_may_fail);
    tcase_add_test(all, every_allocation_of_an_audit_may_fail);
    tcase_add_test(all, findings_that_find_no_memory_are_counted);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
