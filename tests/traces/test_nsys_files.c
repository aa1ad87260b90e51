/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files as they come: packed, in parts, cut off, empty, damaged, encrypted, of another format, with
 * a log beside them, where nothing may be written. Each is read, or refused with its reason. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "tests/suite.h"
#include "tests/traces/made_export.h"
#include "traces/nsys.h"

static void small_run(struct made_export *made, const char *name)
{
    made_begin(made, name);
    for (int64_t i = 0; i < 50; i++) {
        made_call(made, 2000 * i, 2000 * i + 100, THREAD(1), 11 + i, "cudaLaunchKernel_v7000");
        made_kernel(made, 1000 + 2000 * i, 1800 + 2000 * i, 7, 11 + i, "k");
    }
}

static void check_reads(const char *path)
{
    const struct import_options options = import_default();
    struct import_result result;
    struct weir_error err;
    enum weir_status status = import_read("auto", path, &options, &result, &err);

    ck_assert_msg(status == WEIR_OK, "%s", err.text);
    ck_assert_uint_eq(graph_n_nodes(result.graph), 100);
    import_result_free(&result);
}

/* All of a file, malloc'ed. */
static unsigned char *bytes_of(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);

    ck_assert_ptr_nonnull(file);
    *n = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    ck_assert_int_eq(fclose(file), 0);
}

/* Writes [from, to) as a gzip member at the end of the file. */
static void add_member(const char *path, const unsigned char *bytes, size_t from, size_t to)
{
    gzFile file = gzopen(path, "ab");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(gzwrite(file, bytes + from, (unsigned)(to - from)), (int)(to - from));
    ck_assert_int_eq(gzclose(file), Z_OK);
}

START_TEST(gzip_members)
{
    struct made_export made;
    unsigned char *bytes;
    char path[256];
    size_t n;

    small_run(&made, "plain");
    made_end(&made);
    check_reads(made.path);
    bytes = bytes_of(made.path, &n);
    (void)snprintf(path, sizeof path, "%s", made_path("one.gz"));
    add_member(path, bytes, 0, n);
    check_reads(path);
    (void)snprintf(path, sizeof path, "%s",
                   made_path("three.bin")); /* by its bytes, not its name */
    add_member(path, bytes, 0, 100);
    add_member(path, bytes, 100, 5000);
    add_member(path, bytes, 5000, n);
    check_reads(path);
    free(bytes);
}
END_TEST

START_TEST(packed_badly)
{
    struct made_export made;
    unsigned char *bytes, *packed;
    char path[256];
    size_t n, n_packed;

    small_run(&made, "plain");
    made_end(&made);
    bytes = bytes_of(made.path, &n);
    (void)snprintf(path, sizeof path, "%s", made_path("whole.gz"));
    add_member(path, bytes, 0, n);
    packed = bytes_of(path, &n_packed);
    (void)snprintf(path, sizeof path, "%s", made_path("cut.gz"));
    write_bytes(path, packed, n_packed - 20);
    made_refused(path, WEIR_INPUT, "ends too early");
    packed[n_packed / 2] ^= 0x55;
    write_bytes(path, packed, n_packed);
    made_refused(path, WEIR_INPUT, "damaged gzip file");
    (void)snprintf(path, sizeof path, "%s", made_path("half.gz"));
    add_member(path, bytes, 0, n / 2);
    made_refused(path, WEIR_INPUT, "truncated");
    (void)snprintf(path, sizeof path, "%s", made_path("text.gz"));
    add_member(path, (const unsigned char *)"some text", 0, 9);
    made_refused(path, WEIR_INPUT, "begins otherwise");
    (void)snprintf(path, sizeof path, "%s", made_path("nothing.gz"));
    add_member(path, (const unsigned char *)"", 0, 0);
    made_refused(path, WEIR_INPUT, "empty");
    free(bytes);
    free(packed);
}
END_TEST

#ifdef HAVE_ZSTD
START_TEST(zstd_frames)
{
    struct made_export made;
    unsigned char *bytes, *packed;
    char path[256];
    size_t n, n_first, n_packed, room;

    small_run(&made, "plain");
    made_end(&made);
    bytes = bytes_of(made.path, &n);
    room = ZSTD_compressBound(n);
    packed = malloc(2 * room);
    (void)snprintf(path, sizeof path, "%s", made_path("two.zst"));
    n_first = ZSTD_compress(packed, room, bytes, 3000, 3);
    ck_assert(!ZSTD_isError(n_first));
    n_packed = n_first + ZSTD_compress(packed + n_first, room, bytes + 3000, n - 3000, 3);
    write_bytes(path, packed, n_packed);
    check_reads(path);
    write_bytes(path, packed, n_packed - 5);
    made_refused(path, WEIR_INPUT, "ends too early");
    packed[n_first] ^= 0x55; /* where the second frame begins */
    write_bytes(path, packed, n_packed);
    made_refused(path, WEIR_INPUT, "damaged zstd file");
    free(bytes);
    free(packed);
}
END_TEST
#endif

/* Cut at any length, a file is refused and nothing breaks. */
START_TEST(cut_off)
{
    struct made_export made;
    unsigned char *bytes;
    char path[256];
    size_t n;

    small_run(&made, "plain");
    made_end(&made);
    bytes = bytes_of(made.path, &n);
    (void)snprintf(path, sizeof path, "%s", made_path("cut.sqlite"));
    write_bytes(path, bytes, 0);
    made_refused(path, WEIR_INPUT, "the file is empty");
    write_bytes(path, bytes, 50);
    made_refused(path, WEIR_INPUT, "truncated");
    for (size_t at = 100; at < n; at += 997) {
        write_bytes(path, bytes, at);
        made_refused(path, WEIR_INPUT, "truncated");
    }
    free(bytes);
}
END_TEST

/* Damaged at any place it is refused, or read without breaking anything. */
START_TEST(damaged)
{
    struct made_export made;
    unsigned char *bytes;
    size_t n;

    small_run(&made, "plain");
    made_end(&made);
    bytes = bytes_of(made.path, &n);
    for (size_t at = 0; at < n; at += 61) {
        const struct import_options options = import_default();
        struct import_result result = {.graph = NULL};
        struct weir_error err = {.text = ""};
        enum weir_status status;

        bytes[at] ^= 0xA5;
        status = nsys_read_bytes(bytes, n, "damaged", &options, &result, &err);
        ck_assert(status == WEIR_OK || err.text[0] != '\0');
        ck_assert((status == WEIR_OK) == (result.graph != NULL));
        import_result_free(&result);
        bytes[at] ^= 0xA5;
    }
    free(bytes);
}
END_TEST

START_TEST(other_formats)
{
    static const unsigned char noise[4096] = {0x8d, 0x13, 0x77, 0x01, 0xfe};
    char path[256];
    struct made_export made;

    (void)snprintf(path, sizeof path, "%s", made_path("profile.nsys-rep"));
    write_bytes(path, noise, sizeof noise);
    made_refused(path, WEIR_INPUT, "export it first: nsys export --type sqlite");
    (void)snprintf(path, sizeof path, "%s", made_path("profile.json"));
    write_bytes(path, "{\"traceEvents\": []}", 19);
    made_refused(path, WEIR_INPUT, "this is JSON");
    (void)snprintf(path, sizeof path, "%s", made_path("noise"));
    write_bytes(path, noise, sizeof noise);
    made_refused(path, WEIR_INPUT, "encrypted, damaged, or another format");
    made_refused(made_path("is-not-there"), WEIR_INPUT, "No such file");
    (void)snprintf(path, sizeof path, "%s", made_path("folder"));
    ck_assert_int_eq(mkdir(path, 0777), 0);
    made_refused(path, WEIR_INPUT, "a folder");
    (void)rmdir(path);

    made_begin(&made, "foreign");
    made_sql(&made, "CREATE TABLE people (name)");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "not one that Nsight Systems exported");
    made_begin(&made, "nvprof");
    made_sql(&made, "CREATE TABLE StringTable (_id_ INTEGER, value TEXT); CREATE TABLE "
                    "CUPTI_ACTIVITY_KIND_KERNEL (_id_ INTEGER, start INTEGER, end INTEGER, "
                    "completed INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
                    "correlationId INTEGER, name INTEGER)");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "written by nvprof");
    made_begin(&made, "reduced");
    made_sql(&made, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, deviceId INTEGER)");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "has no column end");
}
END_TEST

/* A file with a page size in its header, and behind it nothing that makes sense: a key is missing. */
START_TEST(encrypted)
{
    struct made_export made;
    unsigned char *bytes;
    char path[256];
    size_t n;

    small_run(&made, "plain");
    made_end(&made);
    bytes = bytes_of(made.path, &n);
    for (size_t i = 16; i < n; i++)
        bytes[i] = (unsigned char)(bytes[i] * 7 + i * 13 + (i >> 8) * 31 + 5);
    bytes[92] ^= 1; /* the size in the header does not count */
    (void)snprintf(path, sizeof path, "%s", made_path("encrypted"));
    write_bytes(path, bytes, n);
    made_refused(path, WEIR_INPUT, "encrypted or damaged");
    free(bytes);
}
END_TEST

/* Nothing of a GPU: the reason, as far as the file tells it, and the command that would have worked. */
START_TEST(without_work)
{
    struct made_export made;

    made_begin(&made, "no-cuda");
    made_sql(&made, "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, text TEXT); INSERT INTO "
                    "DIAGNOSTIC_EVENT VALUES (0, 'No CUDA events collected. Does the process use "
                    "CUDA?'); INSERT INTO DIAGNOSTIC_EVENT VALUES (0, '/home/somebody/secret')");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "the profiler says that it collected no CUDA events");
    made_refused(made.path, WEIR_INPUT, "nsys profile --trace=cuda,nvtx --cuda-memory-usage=true");
    made_begin(&made, "no-device");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "CUDA calls were recorded but no work of a GPU");
    made_begin(&made, "no-rows");
    made_call(&made, 0, 100, THREAD(1), 11, "cudaLaunchKernel_v7000");
    made_kernel(&made, 0, 100, 7, 11, "k");
    made_sql(&made, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL");
    made_end(&made);
    made_refused(made.path, WEIR_INPUT, "the driver did not let it be measured");
}
END_TEST

/* A name that is no URI as it stands, and a file that may only be read: nothing is left beside it. */
START_TEST(read_only)
{
    struct made_export made;
    char path[256], log[300];
    struct stat info;

    small_run(&made, "plain");
    made_sql(&made, "COMMIT; PRAGMA journal_mode = wal; BEGIN");
    made_end(&made);
    (void)snprintf(path, sizeof path, "%s", made_path("a b?c#d%41&mode=rw"));
    made_copy_file(made.path, path);
    ck_assert_int_eq(chmod(path, 0444), 0);
    check_reads(path);
    (void)snprintf(log, sizeof log, "%s-wal", path);
    ck_assert_int_ne(stat(log, &info), 0);
    (void)snprintf(log, sizeof log, "%s-shm", path);
    ck_assert_int_ne(stat(log, &info), 0);
}
END_TEST

/* A writer has left its log behind: what stands there is read too. */
START_TEST(log_left)
{
    struct made_export made;
    char path[256], from[300], to[300];

    small_run(&made, "busy");
    made_sql(&made, "COMMIT; PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; BEGIN;"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM "
                    "CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
                    "rowid > 50; UPDATE StringIds SET value = 'renamed' WHERE value = 'k'; COMMIT; "
                    "BEGIN");
    (void)snprintf(path, sizeof path, "%s", made_path("logged"));
    (void)snprintf(from, sizeof from, "%s-wal", made.path);
    (void)snprintf(to, sizeof to, "%s-wal", path);
    made_copy_file(made.path, path);
    made_copy_file(from, to);
    made_end(&made);
    {
        const struct import_options options = import_default();
        struct import_result result;
        struct weir_error err;

        ck_assert_int_eq(import_read("nsys", path, &options, &result, &err), WEIR_OK);
        ck_assert(has_node(&result, "renamed"));
        import_result_free(&result);
    }
}
END_TEST

/* A writer was interrupted: its journal says what must be taken back before the file can be read. */
START_TEST(journal_left)
{
    struct made_export made;
    char path[256], from[300], to[300];
    unsigned char *before, *after;
    size_t n_before, n_after;
    struct stat info;

    small_run(&made, "interrupted");
    made_sql(&made,
             "COMMIT; PRAGMA synchronous = normal; PRAGMA cache_size = 4; PRAGMA cache_spill "
             "= 1; BEGIN IMMEDIATE; CREATE TABLE more(x); WITH RECURSIVE n(i) AS (SELECT 1 "
             "UNION ALL SELECT i + 1 FROM n WHERE i < 800) INSERT INTO more SELECT "
             "randomblob(400) FROM n; UPDATE StringIds SET value = 'half'");
    (void)snprintf(path, sizeof path, "%s", made_path("hot"));
    (void)snprintf(from, sizeof from, "%s-journal", made.path);
    (void)snprintf(to, sizeof to, "%s-journal", path);
    made_copy_file(made.path, path);
    made_copy_file(from, to);
    made_end(&made);
    before = bytes_of(path, &n_before);
    made_refused(path, WEIR_INPUT, "has left its journal beside it");
    after = bytes_of(path, &n_after); /* and it is as it was */
    ck_assert_uint_eq(n_before, n_after);
    ck_assert_int_eq(memcmp(before, after, n_before), 0);
    ck_assert_int_eq(stat(to, &info), 0);
    free(before);
    free(after);
}
END_TEST

/* In a folder where nothing may be made, a file that was written with a log. */
START_TEST(read_only_folder)
{
    struct made_export made;
    char path[300], log[320];
    struct stat info;

    small_run(&made, "plain");
    made_sql(&made, "COMMIT; PRAGMA journal_mode = wal; BEGIN");
    made_end(&made);
    (void)snprintf(path, sizeof path, "%s", made_path("closed"));
    ck_assert_int_eq(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof path, "%s/profile", made_path("closed"));
    made_copy_file(made.path, path);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(made_path("closed"), 0555), 0);
    check_reads(path);
    (void)snprintf(log, sizeof log, "%s-shm", path);
    ck_assert_int_ne(stat(log, &info), 0);
    ck_assert_int_eq(chmod(made_path("closed"), 0755), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(made_path("closed")), 0);
}
END_TEST

/* Packed, all is as it is when it is not: also a file that was written with a log, and a window. */
START_TEST(packed_with_log)
{
    struct made_export made;
    unsigned char *bytes;
    char *plain, *packed;
    size_t n;

    small_run(&made, "logged");
    made_sql(&made, "COMMIT; PRAGMA journal_mode = wal; BEGIN");
    made_end(&made);
    plain = made_form(&made, "10us:30us");
    bytes = bytes_of(made.path, &n);
    (void)snprintf(made.path, sizeof made.path, "%s", made_path("logged.gz"));
    add_member(made.path, bytes, 0, n);
    packed = made_form(&made, "10us:30us");
    made_same_forms(plain, packed);
    free(plain);
    free(packed);
    free(bytes);
}
END_TEST

START_TEST(formats)
{
    const struct import_options options = import_default();
    struct import_result result;
    struct weir_error err;
    char path[256];

    ck_assert_str_eq(import_formats()[0].name, "nsys");
    ck_assert_int_eq(import_read("chrome", "x", &options, &result, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "'chrome' is not a format"));
    (void)snprintf(path, sizeof path, "%s", made_path("text"));
    write_bytes(path, "hello", 5);
    ck_assert_int_eq(import_read("auto", path, &options, &result, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "no profile that Weir knows"));
    import_result_free(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nsys-files");
    TCase *tcase = tcase_create("files");

    tcase_add_test(tcase, gzip_members);
    tcase_add_test(tcase, packed_badly);
#ifdef HAVE_ZSTD
    tcase_add_test(tcase, zstd_frames);
#endif
    tcase_add_test(tcase, cut_off);
    tcase_add_test(tcase, damaged);
    tcase_add_test(tcase, other_formats);
    tcase_add_test(tcase, encrypted);
    tcase_add_test(tcase, without_work);
    tcase_add_test(tcase, read_only);
    tcase_add_test(tcase, log_left);
    tcase_add_test(tcase, journal_left);
    tcase_add_test(tcase, read_only_folder);
    tcase_add_test(tcase, packed_with_log);
    tcase_add_test(tcase, formats);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
