/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever goes wrong while a run is written, it is there whole or not at all, and the runs that were
 * there before still are. What goes wrong: the n-th write to the disk (full, or broken), the n-th
 * allocation of SQLite, the n-th stretch of a statement, a limit on the size of files, and the death
 * of the program at any moment. */
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/store_internal.h"
#include "tests/store/made_run.h"
#include "tests/suite.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)
#define MORE_NODES 300 /* so that a run is many pages */

static struct weir_error err;

/* The store holds whole runs alone, at least `least` and at most `most`. */
static void check_whole(const char *name, int64_t least, int64_t most)
{
    struct store *store = opened(name);
    int64_t n_runs, n_graphs;

    ck_assert_str_eq(query(store, "PRAGMA integrity_check"), "ok\n");
    ck_assert_str_eq(query(store, "PRAGMA foreign_key_check"), "");
    n_runs = atoll(query(store, "SELECT count(*) FROM run"));
    ck_assert_int_ge(n_runs, least);
    ck_assert_int_le(n_runs, most);
    n_graphs = atoll(query(store, "SELECT count(*) FROM graph"));
    ck_assert_int_eq(n_graphs, n_runs > 0);
    /* Rows of no run: a part of one. */
    ck_assert_int_eq(atoll(query(store, "SELECT total(n) FROM span_block")),
                     n_runs * (10 + MORE_NODES));
    ck_assert_int_eq(atoll(query(store, "SELECT count(*) FROM node_row")),
                     n_graphs * (10 + MORE_NODES));
    ck_assert_int_eq(atoll(query(store, "SELECT count(*) FROM sample")), n_runs * MADE_SAMPLES);
    ck_assert_int_eq(atoll(query(store, "SELECT count(*) FROM deviation_row")), n_runs * 2);
    if (n_runs > 0) {
        struct stored_run back;

        OK(store_read_run(store, atoll(query(store, "SELECT max(id) FROM run")), &back, &err));
        stored_run_free(&back);
    }
    store_close(store);
}

/* Writes one run to the store of that name; the status of what failed first. */
static enum weir_status try_to_write(const char *path, struct made_run *made)
{
    struct store *store = NULL;
    enum weir_status status = store_open(path, false, &store, &err);

    if (status != WEIR_OK)
        return status;
    made->run.plan_hash[0] = '\0';
    status = store_write_run(store, &made->run, made->samples, MADE_SAMPLES, &err);
    store_close(store);
    return status;
}

/* ---- the n-th write to the disk ---- */

/* A file system that hands everything on to the real one, but fails writes, syncs and truncations
 * from the n-th on. */
static struct {
    sqlite3_vfs shim, *real;
    int64_t n_left; /* calls until one fails; negative: none fails */
    int code;       /* with which it fails */
} disk;

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

/* Once the disk is full it stays full. */
static bool fails(void)
{
    if (disk.n_left < 0)
        return false;
    if (disk.n_left > 0)
        disk.n_left--;
    return disk.n_left == 0;
}

#define REAL(file) real_of(file)->pMethods

static int shim_close(sqlite3_file *file)
{
    return REAL(file)->xClose(real_of(file));
}
static int shim_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    return REAL(file)->xRead(real_of(file), to, n, at);
}
static int shim_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    return fails() ? disk.code : REAL(file)->xWrite(real_of(file), from, n, at);
}
static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return fails() ? disk.code : REAL(file)->xTruncate(real_of(file), size);
}
static int shim_sync(sqlite3_file *file, int flags)
{
    return fails() ? disk.code : REAL(file)->xSync(real_of(file), flags);
}
static int shim_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return REAL(file)->xFileSize(real_of(file), size);
}
static int shim_lock(sqlite3_file *file, int level)
{
    return REAL(file)->xLock(real_of(file), level);
}
static int shim_unlock(sqlite3_file *file, int level)
{
    return REAL(file)->xUnlock(real_of(file), level);
}
static int shim_reserved(sqlite3_file *file, int *is)
{
    return REAL(file)->xCheckReservedLock(real_of(file), is);
}
static int shim_control(sqlite3_file *file, int op, void *arg)
{
    return REAL(file)->xFileControl(real_of(file), op, arg);
}
static int shim_sector(sqlite3_file *file)
{
    return REAL(file)->xSectorSize(real_of(file));
}
static int shim_device(sqlite3_file *file)
{
    return REAL(file)->xDeviceCharacteristics(real_of(file));
}
static int shim_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return REAL(file)->xShmMap(real_of(file), page, size, extend, out);
}
static int shim_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return REAL(file)->xShmLock(real_of(file), offset, n, flags);
}
static void shim_barrier(sqlite3_file *file)
{
    REAL(file)->xShmBarrier(real_of(file));
}
static int shim_unmap(sqlite3_file *file, int delete)
{
    return REAL(file)->xShmUnmap(real_of(file), delete);
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 2,
        .xClose = shim_close,
        .xRead = shim_read,
        .xWrite = shim_write,
        .xTruncate = shim_truncate,
        .xSync = shim_sync,
        .xFileSize = shim_size,
        .xLock = shim_lock,
        .xUnlock = shim_unlock,
        .xCheckReservedLock = shim_reserved,
        .xFileControl = shim_control,
        .xSectorSize = shim_sector,
        .xDeviceCharacteristics = shim_device,
        .xShmMap = shim_map,
        .xShmLock = shim_shm_lock,
        .xShmBarrier = shim_barrier,
        .xShmUnmap = shim_unmap,
    };
    struct shim_file *shim = (struct shim_file *)file;
    int code;

    (void)vfs;
    shim->real = (sqlite3_file *)(shim + 1);
    code = disk.real->xOpen(disk.real, name, shim->real, flags, out);
    shim->base.pMethods = code == SQLITE_OK ? &methods : NULL;
    return code;
}

static void use_shim(void)
{
    disk.real = sqlite3_vfs_find(NULL);
    disk.shim = *disk.real;
    disk.shim.zName = "shim";
    disk.shim.szOsFile += (int)sizeof(struct shim_file);
    disk.shim.xOpen = shim_open;
    disk.n_left = -1;
    ck_assert_int_eq(sqlite3_vfs_register(&disk.shim, 1), SQLITE_OK);
}

/* Fails the n-th write for n = 1, 2, ... until a run gets through. */
static void fail_each_write(const char *name, int code, const char *message, int64_t n_before)
{
    struct made_run made;
    char path[200];
    int64_t n = 0;
    enum weir_status status = WEIR_STORE;

    (void)snprintf(path, sizeof path, "%s", scratch_path(name));
    made_run_of(&made, MORE_NODES);
    use_shim();
    for (int64_t i = 0; i < n_before; i++)
        ck_assert_int_eq(try_to_write(path, &made), WEIR_OK);
    while (status != WEIR_OK) {
        disk.n_left = ++n;
        disk.code = code;
        status = try_to_write(path, &made);
        disk.n_left = -1;
        ck_assert_msg(status == WEIR_OK || status == WEIR_STORE, "%s", err.text);
        if (status != WEIR_OK)
            ck_assert_msg(strstr(err.text, message) != NULL, "%s", err.text);
        /* A commit may be in the journal when only the bringing over to the file failed. */
        check_whole(name, n_before, n_before + 1);
        ck_assert_int_lt(n, 5000);
    }
    ck_assert_int_gt(n, 10);
    check_whole(name, n_before + 1, n_before + 1);
    made_run_free(&made);
}

START_TEST(a_disk_that_is_full_while_a_file_is_made)
{
    fail_each_write("new.db", SQLITE_FULL, "disk is full", 0);
}
END_TEST

START_TEST(a_disk_that_is_full_while_a_run_is_added)
{
    fail_each_write("old.db", SQLITE_FULL, "disk is full", 2);
}
END_TEST

START_TEST(a_disk_that_breaks_while_a_run_is_added)
{
    fail_each_write("old.db", SQLITE_IOERR, "could not be read or written", 2);
}
END_TEST

/* ---- the n-th allocation ---- */

static struct {
    sqlite3_mem_methods real;
    int64_t n_left; /* allocations until one fails; negative: none fails */
} memory;

static bool is_out(void)
{
    if (memory.n_left < 0)
        return false;
    if (memory.n_left > 0)
        memory.n_left--;
    return memory.n_left == 0;
}

static void *short_malloc(int n)
{
    return is_out() ? NULL : memory.real.xMalloc(n);
}

static void *short_realloc(void *old, int n)
{
    return is_out() ? NULL : memory.real.xRealloc(old, n);
}

START_TEST(memory_that_runs_out_while_a_run_is_added)
{
    sqlite3_mem_methods methods;
    struct made_run made;
    char path[200];
    enum weir_status status = WEIR_MEMORY;
    int64_t n = 0;

    (void)snprintf(path, sizeof path, "%s", scratch_path("m.db"));
    made_run_of(&made, MORE_NODES);
    memory.n_left = -1;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real), SQLITE_OK);
    methods = memory.real;
    methods.xMalloc = short_malloc;
    methods.xRealloc = short_realloc;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
    ck_assert_int_eq(try_to_write(path, &made), WEIR_OK);
    while (status != WEIR_OK) {
        /* Some are tried again in another way, so that not every failure is one. Strides keep it
         * short: 1, 2, 3, ... then each third, and so on. */
        memory.n_left = n += 1 + n / 40;
        status = try_to_write(path, &made);
        memory.n_left = -1;
        ck_assert_msg(status == WEIR_OK || status == WEIR_MEMORY || status == WEIR_STORE, "%s",
                      err.text);
        if (status != WEIR_OK)
            check_whole("m.db", 1, 1);
        ck_assert_int_lt(n, 1000000);
    }
    ck_assert_int_gt(n, 100);
    check_whole("m.db", 2, 2);
    made_run_free(&made);
}
END_TEST

/* ---- the n-th stretch of a statement ---- */

static int64_t n_stretches_left;

static int stretch(void *arg)
{
    (void)arg;
    return n_stretches_left > 0 && --n_stretches_left == 0;
}

START_TEST(statements_that_are_cut_off_while_a_run_is_added)
{
    struct made_run made;
    struct store *store = opened("c.db");
    enum weir_status status = WEIR_STORE;
    int64_t n = 0;

    made_run_of(&made, MORE_NODES);
    write_made(store, &made);
    sqlite3_progress_handler(store->db, 2, stretch, NULL);
    while (status != WEIR_OK) {
        n_stretches_left = n += 1 + n / 40;
        made.run.plan_hash[0] = '\0';
        made.run.id = -1;
        status = store_write_run(store, &made.run, made.samples, MADE_SAMPLES, &err);
        n_stretches_left = 0;
        if (status != WEIR_OK) {
            ck_assert_msg(strstr(err.text, "interrupted") != NULL, "%s", err.text);
            ck_assert_int_eq(made.run.id, -1);
            ck_assert_str_eq(made.run.plan_hash, "");
            ck_assert_str_eq(query(store, "SELECT count(*) FROM run"), "1\n");
        }
    }
    ck_assert_int_gt(n, 100);
    store_close(store);
    check_whole("c.db", 2, 2);
    made_run_free(&made);
}
END_TEST

/* ---- limits, and death ---- */

START_TEST(a_limit_on_the_size_of_files)
{
    struct made_run made;
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    char path[200];

    (void)snprintf(path, sizeof path, "%s", scratch_path("l.db"));
    made_run_of(&made, MORE_NODES);
    ck_assert_int_eq(try_to_write(path, &made), WEIR_OK);
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    limit.rlim_cur = 50000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(try_to_write(path, &made), WEIR_STORE);
    ck_assert_msg(strstr(err.text, "could not be read or written") != NULL, "%s", err.text);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_whole("l.db", 1, 1);
    ck_assert_int_eq(try_to_write(path, &made), WEIR_OK);
    check_whole("l.db", 2, 2);
    made_run_free(&made);
}
END_TEST

START_TEST(a_program_that_is_killed_at_any_moment)
{
    enum { DEATHS = 40 };
    struct made_run made;
    char path[200];
    int64_t n_before = 0;
    unsigned state = 1;

    (void)snprintf(path, sizeof path, "%s", scratch_path("k.db"));
    made_run_of(&made, MORE_NODES);
    for (int i = 0; i < DEATHS; i++) {
        struct timespec pause = {.tv_nsec = 0};
        struct store *store;
        pid_t child = fork();
        int status;

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            for (int k = 0; k < 1000 && try_to_write(path, &made) == WEIR_OK; k++) {
            }
            _exit(1);
        }
        state = state * 1103515245u + 12345u;
        pause.tv_nsec = (long)(state >> 16 & 0x7fff) * 900; /* up to 30 ms */
        (void)nanosleep(&pause, NULL);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        check_whole("k.db", n_before, n_before + 1000);
        store = opened("k.db");
        n_before = atoll(query(store, "SELECT count(*) FROM run"));
        store_close(store);
    }
    ck_assert_int_gt(n_before, 0);
    made_run_free(&made);
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        a_disk_that_is_full_while_a_file_is_made,         a_disk_that_is_full_while_a_run_is_added,
        a_disk_that_breaks_while_a_run_is_added,          memory_that_runs_out_while_a_run_is_added,
        statements_that_are_cut_off_while_a_run_is_added, a_limit_on_the_size_of_files,
        a_program_that_is_killed_at_any_moment,
    };
    Suite *made = suite_create("faults");
    TCase *cases = tcase_create("faults");

    tcase_set_timeout(cases, 120);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
