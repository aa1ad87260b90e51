/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an import may be used for, and the refusal of what cannot be imported: with the cause, as far
 * as the file tells it, and the command that records what was missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/nsys_internal.h"

const char nsys_capture_command[] =
    "nsys profile --trace=cuda,nvtx --cuda-memory-usage=true --cuda-graph-trace=node -o profile "
    "PROGRAM && nsys export --type sqlite -o profile.sqlite profile.nsys-rep";

/* Of waits, launches or steps along a stream more than one in this many may not be contradicted. */
#define CONTRADICTED_ONE_IN 20
/* Waits count as resolved when not more than one in this many is not; each of those is replaced by a
 * wait for all streams. */
#define UNRESOLVED_ONE_IN 100

static enum weir_status set_texts(struct nsys *nsys, enum import_grade grade, const char *reason,
                                  const char *remedy, struct weir_error *err)
{
    struct import_report *report = nsys->report;

    report->grade = grade;
    report->reason = arena_text(&report->arena, reason, strlen(reason));
    report->remedy = NULL;
    if (remedy[0] != '\0')
        report->remedy = arena_text(&report->arena, remedy, strlen(remedy));
    if (report->reason == NULL || (remedy[0] != '\0' && report->remedy == NULL))
        return weir_error_memory(err);
    return WEIR_OK;
}

static enum weir_status refuse(struct nsys *nsys, const char *reason, struct weir_error *err)
{
    enum weir_status status = set_texts(nsys, IMPORT_REFUSED, reason, nsys_capture_command, err);

    if (status != WEIR_OK)
        return status;
    return weir_error_set(err, WEIR_INPUT, "%.120s: %.220s; record again: %s", nsys->path, reason,
                          nsys_capture_command);
}

/* What the profiler itself said of why there is no CUDA in the file. Only phrases that are known are
 * looked for, and only they are told. */
static enum weir_status find_hint(struct nsys *nsys, const char **hint, struct weir_error *err)
{
    static const struct {
        const char *phrase, *meaning;
    } hints[] = {
        {"CUDA profiling might have not been started correctly",
         "the profiler says that CUDA profiling may not have been started"},
        {"No CUDA events collected", "the profiler says that it collected no CUDA events"},
    };
    sqlite3_stmt *statement;
    enum weir_status status = nsys_select(nsys, NSYS_DIAGNOSTIC, NULL, &statement, err);
    int result;

    if (status != WEIR_OK || statement == NULL)
        return status;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(statement, 0);

        for (size_t i = 0; said != NULL && i < sizeof hints / sizeof *hints; i++) {
            if (strstr(said, hints[i].phrase) != NULL && *hint == NULL)
                *hint = hints[i].meaning;
        }
    }
    return nsys_end(nsys, NSYS_DIAGNOSTIC, statement, result, err);
}

static bool has_any(const struct nsys *nsys)
{
    for (int t = 0; t < NSYS_TABLES; t++) {
        if (nsys->tables[t].name != NULL)
            return true;
    }
    return false;
}

static enum weir_status refuse_without_work(struct nsys *nsys, struct weir_error *err)
{
    const char *hint = NULL;
    char reason[256];
    enum weir_status status = find_hint(nsys, &hint, err);

    if (status != WEIR_OK)
        return status;
    if (nsys->tables[NSYS_RUNTIME].name != NULL) {
        (void)snprintf(reason, sizeof reason,
                       "CUDA calls were recorded but no work of a GPU%s%s: the driver did not let "
                       "it be measured, or the capture ended before it was written out",
                       hint == NULL ? "" : "; ", hint == NULL ? "" : hint);
    } else {
        (void)snprintf(reason, sizeof reason,
                       "no work of a GPU was recorded%s%s: CUDA was not traced, or the program did "
                       "not use it",
                       hint == NULL ? "" : "; ", hint == NULL ? "" : hint);
    }
    return refuse(nsys, reason, err);
}

enum weir_status nsys_check_content(struct nsys *nsys, struct weir_error *err)
{
    if (!has_any(nsys))
        return weir_error_set(err, WEIR_INPUT,
                              "%.200s: an SQLite file, but not one that Nsight Systems exported: "
                              "it has none of its tables; export with: nsys export --type sqlite "
                              "-o profile.sqlite profile.nsys-rep",
                              nsys->path);
    if (nsys->tables[NSYS_KERNEL].name == NULL && nsys->tables[NSYS_MEMCPY].name == NULL &&
        nsys->tables[NSYS_MEMSET].name == NULL && nsys->tables[NSYS_GRAPH_TRACE].name == NULL)
        return refuse_without_work(nsys, err);
    return WEIR_OK;
}

enum weir_status nsys_check_work(struct nsys *nsys, struct weir_error *err)
{
    if (nsys->n_ops == 0 && nsys->counts.outside_ops == 0)
        return refuse_without_work(nsys, err);
    for (uint32_t i = 0; i < nsys->n_ops; i++) {
        if ((nsys->ops[i].flags & OP_IS_DROPPED) == 0)
            return WEIR_OK;
    }
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: no work of a GPU was launched within the window from %" PRId64
                          " to %" PRId64 " ns; give another",
                          nsys->path, nsys->from_ns, nsys->to_ns);
}

/* Grades. */

static bool is_too_much(int64_t part, int64_t whole)
{
    return part > 0 && part > whole / CONTRADICTED_ONE_IN;
}

static bool is_rule_broken(const struct nsys *nsys, enum recording_rule rule)
{
    int64_t n_bad = recording_n_links(nsys->recording, rule, FIT_CONTRADICTED);
    int64_t n_good = recording_n_links(nsys->recording, rule, FIT_AFTER) +
                     recording_n_links(nsys->recording, rule, FIT_OVERLAP);

    return is_too_much(n_bad, n_good + n_bad);
}

/* NULL when the times agree with the order well enough. */
static const char *contradiction(const struct nsys *nsys)
{
    const struct nsys_counts *counts = &nsys->counts;

    if (is_too_much(counts->contradicted, counts->resolved))
        return "more than 5 % of the waits are contradicted by the times of what they waited for";
    if (is_rule_broken(nsys, RULE_LAUNCH))
        return "more than 5 % of the device work began before the call that launched it";
    if (is_rule_broken(nsys, RULE_STREAM))
        return "more than 5 % of the device work began before work launched earlier on its stream";
    return NULL;
}

static bool is_unresolved(const struct nsys_counts *counts)
{
    return counts->unresolved > (counts->resolved + counts->unresolved) / UNRESOLVED_ONE_IN;
}

#define REMEDY_BYTES 1024

static void add_remedy(char remedy[REMEDY_BYTES], const char *more)
{
    size_t used = strlen(remedy);

    (void)snprintf(remedy + used, REMEDY_BYTES - used, "%s%s", used == 0 ? "" : "; ", more);
}

static void put_remedy(const struct nsys *nsys, bool has_objects, char remedy[REMEDY_BYTES])
{
    const struct nsys_counts *counts = &nsys->counts;

    remedy[0] = '\0';
    if (is_unresolved(counts))
        add_remedy(remedy, "record the whole run, or a range that begins at a device "
                           "synchronization, so that every wait has its event record");
    if (nsys->tables[NSYS_RUNTIME].n_kept == 0)
        add_remedy(remedy, "record with --trace=cuda, which writes the API calls too");
    if (!has_objects)
        add_remedy(remedy, "record with --cuda-memory-usage=true to see allocations");
    else if (nsys->has_framework)
        add_remedy(remedy, "allocations seen here are the segments of the framework's caching "
                           "allocator, not tensors: record those with its own profiler too");
    if (nsys->sums[OP_GRAPH].n > 0)
        add_remedy(remedy, "record with --cuda-graph-trace=node to see inside graph launches");
    if (remedy[0] != '\0') {
        add_remedy(remedy, "all of it: ");
        (void)snprintf(remedy + strlen(remedy), REMEDY_BYTES - strlen(remedy), "%s",
                       nsys_capture_command);
    }
}

static enum import_grade grade_of(const struct nsys *nsys, bool has_objects, const char **reason)
{
    if (nsys->tables[NSYS_RUNTIME].n_kept == 0) {
        *reason = "no API calls were recorded, so what waited for what is not known";
        return IMPORT_D;
    }
    if (is_unresolved(&nsys->counts)) {
        *reason =
            "waits for events have no record in the file; streams are ordered at each of them";
        return IMPORT_D;
    }
    if (!has_objects) {
        *reason = "every wait is known; no allocations were recorded";
        return IMPORT_C;
    }
    *reason = "every wait is known, and allocations; who reads them is not recorded";
    return IMPORT_B;
}

enum weir_status nsys_grade(struct nsys *nsys, struct weir_error *err)
{
    bool has_objects = nsys->tables[NSYS_MEMORY].n_kept > 0;
    const char *reason = contradiction(nsys);
    char remedy[REMEDY_BYTES];
    enum import_grade grade;

    if (reason != NULL)
        return refuse(nsys, reason, err);
    grade = grade_of(nsys, has_objects, &reason);
    put_remedy(nsys, has_objects, remedy);
    return set_texts(nsys, grade, reason, remedy, err);
}
