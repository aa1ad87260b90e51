/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loaded in front of the C library (LD_PRELOAD), makes one call of a kind fail: the n-th, or all from
 * the n-th on, and tells how many there were. Read from the environment, which children do not see:
 *
 *     WEIR_FAULT=KIND:N     the N-th alone; KIND:N+ from the N-th on; KIND:0 none
 *     WEIR_FAULT_COUNT=FILE gets the number of calls of that kind when the program exits
 *
 * KIND is memory (malloc and its like), write (write, pwrite, fsync, ftruncate, fflush, fclose,
 * link, rename), open (open, fopen, tmpfile, mkdtemp, pipe, fork), thread (pthread_create) or sql
 * (sqlite3_prepare_v2, sqlite3_step, sqlite3_exec). Of kind wake, once N threads are there beside the
 * first, pthread_cond_signal wakes nobody. glibc alone: its allocator has second names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { NOTHING, MEMORY, WRITE, OPEN, THREAD, WAKE, SQL };

static enum kind kind;
static long at;
static bool goes_on;
static atomic_long n_calls;
static char count_path[4096];

static atomic_long n_threads;  /* beside the first, that nobody has joined */
static atomic_bool wakes_none; /* for good */

static bool fails(enum kind of)
{
    long n;

    if (of != kind)
        return false;
    n = atomic_fetch_add(&n_calls, 1) + 1;
    return at > 0 && (n == at || (goes_on && n > at));
}

/* Where GSL is: inside its decompositions it allocates without looking, so that what fails there is
 * no fault of Weir. */
static uintptr_t gsl_begin, gsl_end;

static int find_gsl(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (strstr(info->dlpi_name, "libgsl.") == NULL)
        return 0;
    gsl_begin = (uintptr_t)info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t end = (uintptr_t)(info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);

        if (info->dlpi_phdr[i].p_type == PT_LOAD && gsl_begin + end > gsl_end)
            gsl_end = gsl_begin + end;
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"", "memory", "write", "open", "thread", "wake", "sql"};
    const char *what = getenv("WEIR_FAULT"), *count = getenv("WEIR_FAULT_COUNT");
    const char *colon = what == NULL ? NULL : strchr(what, ':');
    char *end;

    if (colon == NULL)
        return;
    (void)snprintf(count_path, sizeof count_path, "%s", count == NULL ? "" : count);
    at = strtol(colon + 1, &end, 10);
    goes_on = *end == '+';
    for (int i = 1; i <= SQL; i++) {
        if (strncmp(what, names[i], (size_t)(colon - what)) == 0 && names[i][colon - what] == '\0')
            kind = (enum kind)i;
    }
    (void)dl_iterate_phdr(find_gsl, NULL);
    (void)unsetenv("WEIR_FAULT");
    (void)unsetenv("WEIR_FAULT_COUNT");
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&n_calls)), fd;

    kind = NOTHING;
    if (count_path[0] == '\0')
        return;
    fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0 && write(fd, text, (size_t)n) == n)
        (void)close(fd);
}

/* Where the call goes that does not fail. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- memory ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static bool is_out(const void *caller)
{
    if (((uintptr_t)caller >= gsl_begin && (uintptr_t)caller < gsl_end) || !fails(MEMORY))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return is_out(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return is_out(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return is_out(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return is_out(__builtin_return_address(0)) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    *out = is_out(__builtin_return_address(0)) ? NULL : __libc_memalign(align, size);
    return *out == NULL ? ENOMEM : 0;
}

/* ---- writing ---- */

static bool is_full(void)
{
    if (!fails(WRITE))
        return false;
    errno = ENOSPC;
    return true;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return is_full() ? -1 : REAL(write)(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t where)
{
    return is_full() ? -1 : REAL(pwrite)(fd, bytes, n, where);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t where)
{
    return is_full() ? -1 : REAL(pwrite64)(fd, bytes, n, where);
}

int fsync(int fd)
{
    return is_full() ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return is_full() ? -1 : REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t size)
{
    return is_full() ? -1 : REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return is_full() ? -1 : REAL(ftruncate64)(fd, size);
}

/* Streams over memory have no file, and are never full. */
static bool is_full_file(FILE *file)
{
    return file != NULL && fileno(file) >= 0 && is_full();
}

int fflush(FILE *file)
{
    return is_full_file(file) ? EOF : REAL(fflush)(file);
}

/* It closes all the same, as the C library does. */
int fclose(FILE *file)
{
    bool is = is_full_file(file);
    int closed = REAL(fclose)(file);

    if (is)
        errno = ENOSPC;
    return is ? EOF : closed;
}

int link(const char *from, const char *to)
{
    return is_full() ? -1 : REAL(link)(from, to);
}

int rename(const char *from, const char *to)
{
    return is_full() ? -1 : REAL(rename)(from, to);
}

/* ---- opening ---- */

static bool is_refused(void)
{
    if (!fails(OPEN))
        return false;
    errno = EMFILE;
    return true;
}

#define OPENS(name)                                               \
    int name(const char *path, int flags, ...)                    \
    {                                                             \
        mode_t mode = 0;                                          \
                                                                  \
        if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {             \
            va_list args;                                         \
                                                                  \
            va_start(args, flags);                                \
            mode = va_arg(args, mode_t);                          \
            va_end(args);                                         \
        }                                                         \
        return is_refused() ? -1 : REAL(name)(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

FILE *fopen(const char *path, const char *mode)
{
    return is_refused() ? NULL : REAL(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return is_refused() ? NULL : REAL(fopen64)(path, mode);
}

FILE *tmpfile(void)
{
    return is_refused() ? NULL : REAL(tmpfile)();
}

FILE *tmpfile64(void)
{
    return is_refused() ? NULL : REAL(tmpfile64)();
}

char *mkdtemp(char *template)
{
    return is_refused() ? NULL : REAL(mkdtemp)(template);
}

int pipe(int ends[2])
{
    return is_refused() ? -1 : REAL(pipe)(ends);
}

pid_t fork(void)
{
    return is_refused() ? -1 : REAL(fork)();
}

/* ---- threads ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    if (atomic_fetch_add(&n_threads, 1) + 1 >= at && at > 0 && kind == WAKE)
        atomic_store(&wakes_none, true);
    return fails(THREAD) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, arg);
}

int pthread_join(pthread_t thread, void **result)
{
    (void)atomic_fetch_sub(&n_threads, 1);
    return REAL(pthread_join)(thread, result);
}

int pthread_cond_signal(pthread_cond_t *wake)
{
    if (atomic_load(&wakes_none)) {
        (void)fails(WAKE);
        return 0;
    }
    return REAL(pthread_cond_signal)(wake);
}

/* ---- SQLite, without its header ---- */

#define SQLITE_IOERR 10

int sqlite3_step(void *statement);
int sqlite3_exec(void *db, const char *sql, void *row, void *arg, char **message);
int sqlite3_prepare_v2(void *db, const char *sql, int n, void **out, const char **tail);

static _Thread_local bool is_inside; /* one of them called another */

int sqlite3_step(void *statement)
{
    bool was_inside = is_inside;
    int code;

    if (!was_inside && fails(SQL))
        return SQLITE_IOERR;
    is_inside = true;
    code = REAL(sqlite3_step)(statement);
    is_inside = was_inside;
    return code;
}

/* Undoing is not among what fails: SQLite does not fail at it. */
int sqlite3_exec(void *db, const char *sql, void *row, void *arg, char **message)
{
    bool was_inside = is_inside;
    int code;

    if (!was_inside && sql != NULL && strncmp(sql, "ROLLBACK", 8) != 0 && fails(SQL))
        return SQLITE_IOERR;
    is_inside = true;
    code = REAL(sqlite3_exec)(db, sql, row, arg, message);
    is_inside = was_inside;
    return code;
}

int sqlite3_prepare_v2(void *db, const char *sql, int n, void **out, const char **tail)
{
    bool was_inside = is_inside;
    int code;

    *out = NULL;
    if (!was_inside && fails(SQL))
        return SQLITE_IOERR;
    is_inside = true;
    code = REAL(sqlite3_prepare_v2)(db, sql, n, out, tail);
    is_inside = was_inside;
    return code;
}
