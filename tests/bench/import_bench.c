/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an import costs, beside a floor: a bare SELECT over the same rows of the same file, in the
 * same run. For each number of rows (default 100000, 1000000, 4000000) it makes a profile of that
 * many, and tells for each step the processor's time (rows a second, times the floor) and the most
 * memory that was resident, over what a program holds that does nothing:
 *
 *   floor    every column that is read, of every row, in SQLite alone
 *   import   to a graph and its timeline
 *   write    that, and the text of the graph written to /dev/null
 *   window   --window of ten steps in the middle, whatever the length of the profile
 *
 * Each step runs in a process of its own, three times; the quickest is told.
 *
 * usage: import_bench [ROWS]...   (the profile is made in $TMPDIR or /tmp: 50 bytes a row) */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/text.h"
#include "tests/bench/made_profile.h"
#include "traces/import.h"

#define WINDOW_STEPS 10

struct sample {
    double cpu_s;
    int64_t peak_bytes;
    int64_t graph_bytes, n_nodes, n_edges; /* of an import */
};

struct job {
    const char *path;
    const char *window; /* NULL: all of it */
};

static bool do_nothing(const struct job *job, struct sample *out)
{
    (void)job;
    (void)out;
    return true;
}

static const char *const floors[] = {
    "SELECT start, end, globalTid, correlationId, nameId, returnValue, rowid FROM "
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName, "
    "demangledName, graphNodeId, rowid FROM CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
    "srcKind, dstKind, rowid FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    "SELECT start, end, contextId, streamId, correlationId, globalPid, syncType, eventId, rowid "
    "FROM "
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "SELECT contextId, streamId, correlationId, globalPid, eventId, rowid FROM "
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "SELECT start, globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType, "
    "correlationId, rowid FROM CUDA_GPU_MEMORY_USAGE_EVENTS",
};

static bool select_all(const struct job *job, struct sample *out)
{
    sqlite3 *db;
    uint64_t sum = 0;

    if (sqlite3_open_v2(job->path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
        sqlite3_stmt *rows;
        int n_columns;

        if (sqlite3_prepare_v2(db, floors[i], -1, &rows, NULL) != SQLITE_OK)
            return false;
        n_columns = sqlite3_column_count(rows);
        while (sqlite3_step(rows) == SQLITE_ROW) {
            for (int column = 0; column < n_columns; column++)
                sum += (uint64_t)sqlite3_column_int64(rows, column);
        }
        (void)sqlite3_finalize(rows);
    }
    out->n_nodes = (int64_t)(sum >> 63); /* so that nothing is left out */
    return sqlite3_close(db) == SQLITE_OK;
}

static bool import(const struct job *job, const char *graph, struct sample *out)
{
    const struct import_options options = {.window = job->window};
    struct import_result result;
    struct weir_error err;
    enum weir_status status = import_read("nsys", job->path, &options, &result, &err);

    if (status == WEIR_OK) {
        out->graph_bytes = (int64_t)graph_memory_bytes(result.graph);
        out->n_nodes = graph_n_nodes(result.graph);
        out->n_edges = graph_n_edges(result.graph);
        if (graph != NULL)
            status = graph_write_file(result.graph, graph, &err);
    }
    if (status != WEIR_OK)
        fprintf(stderr, "%s\n", err.text);
    import_result_free(&result);
    return status == WEIR_OK;
}

static bool import_all(const struct job *job, struct sample *out)
{
    return import(job, NULL, out);
}

static bool import_and_write(const struct job *job, struct sample *out)
{
    return import(job, "/dev/null", out);
}

static const struct {
    const char *name;
    bool (*work)(const struct job *, struct sample *);
} steps[] = {
    {"idle", do_nothing},        {"floor", select_all},  {"import", import_all},
    {"write", import_and_write}, {"window", import_all},
};
enum { IDLE, FLOOR, IMPORT, WRITE, WINDOW };

/* import_bench --step NUMBER PATH [WINDOW]: writes its sample to standard output. */
static int run_step(char **words)
{
    const struct job job = {words[1], words[2]};
    struct sample sample = {.cpu_s = 0};
    struct rusage usage;

    if (!steps[strtol(words[0], NULL, 10)].work(&job, &sample) ||
        getrusage(RUSAGE_SELF, &usage) != 0)
        return EXIT_FAILURE;
    sample.cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                   (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    sample.peak_bytes = (int64_t)usage.ru_maxrss * 1024;
    return fwrite(&sample, sizeof sample, 1, stdout) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* In a new program, so that its peak and the state of its allocator are its own. */
static bool measure(const char *self, int step, const struct job *job, struct sample *out)
{
    char number[16];
    int ends[2], status;
    pid_t child;
    bool is_told;

    (void)snprintf(number, sizeof number, "%d", step);
    (void)fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("import_bench");
        return false;
    }
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execl(self, self, "--step", number, job->path, job->window, (char *)NULL);
        perror(self);
        _exit(EXIT_FAILURE);
    }
    (void)close(ends[1]);
    is_told = read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    (void)close(ends[0]);
    return waitpid(child, &status, 0) == child && is_told && status == 0;
}

/* The quickest of three: others use the machine too. */
static bool measure_best(const char *self, int step, const struct job *job, struct sample *best)
{
    for (int i = 0; i < 3; i++) {
        struct sample sample;

        if (!measure(self, step, job, &sample))
            return false;
        if (i == 0 || sample.cpu_s < best->cpu_s)
            *best = sample;
    }
    return true;
}

static void tell(const char *what, const struct sample *sample, const struct sample *floor,
                 const struct sample *idle, int64_t n_rows)
{
    int64_t bytes = sample->peak_bytes - idle->peak_bytes;

    printf("%10" PRId64 " %-7s %7.3f s %9.0f rows/s %6.2f x %9.1f MiB %7.1f bytes/row", n_rows,
           what, sample->cpu_s, (double)n_rows / sample->cpu_s, sample->cpu_s / floor->cpu_s,
           (double)bytes / (1 << 20), (double)bytes / (double)n_rows);
    if (sample->graph_bytes > 0)
        printf("; graph %.1f MiB, %" PRId64 " nodes, %" PRId64 " edges",
               (double)sample->graph_bytes / (1 << 20), sample->n_nodes, sample->n_edges);
    printf("\n");
}

static bool bench(const char *self, const char *path, int64_t wanted)
{
    int64_t n_rows = made_profile(path, wanted);
    int64_t middle = n_rows / made_profile_step_rows() / 2;
    struct job job = {.path = path};
    struct sample samples[sizeof steps / sizeof *steps];
    char window[64];

    (void)snprintf(window, sizeof window, "%" PRId64 ":%" PRId64, made_profile_step_ns(middle),
                   made_profile_step_ns(middle + WINDOW_STEPS));
    for (int step = IDLE; step <= WINDOW; step++) {
        if (step == WINDOW)
            job.window = window;
        if (n_rows == 0 || !measure_best(self, step, &job, &samples[step]))
            return false;
        if (step != IDLE)
            tell(steps[step].name, &samples[step], &samples[FLOOR], &samples[IDLE], n_rows);
    }
    return true;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"", "100000", "1000000", "4000000", NULL};
    const char *folder = getenv("TMPDIR"), *self = argv[0];
    char path[512];
    bool is_done = true;

    if (argc >= 4 && strcmp(argv[1], "--step") == 0)
        return run_step(argv + 2);
    if (argc < 2)
        argv = defaults;
    (void)snprintf(path, sizeof path, "%.400s/weir-import-bench-%ld.sqlite",
                   folder == NULL ? "/tmp" : folder, (long)getpid());
    for (int i = 1; argv[i] != NULL && is_done; i++)
        is_done = bench(self, path, strtoll(argv[i], NULL, 10));
    (void)remove(path);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
