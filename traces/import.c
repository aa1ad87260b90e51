/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of formats, the recognition of files, and the report that every importer fills. */
#include "traces/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "traces/nsys.h"
#include "traces/psplib.h"

static const struct import_format formats[] = {
    {"nsys", "Nsight Systems, exported to SQLite (plain, gzip or zstd)", nsys_read, nsys_looks_like,
     false},
    {"psplib", "scheduling problems of PSPLIB, single mode (.sm)", psplib_read, psplib_looks_like,
     true},
    {NULL, NULL, NULL, NULL, false},
};

const struct import_format *import_formats(void)
{
    return formats;
}

struct import_options import_default(void)
{
    return (struct import_options){.window = NULL};
}

/* Recognition. */

#define SNIFF_BYTES 512

static enum weir_status cannot_read(const char *path, int error, struct weir_error *err)
{
    if (error == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(
        err, WEIR_INPUT, "%.200s: cannot be read: %s; give the path of a profile that you may read",
        path, strerror(error));
}

static enum weir_status read_head(const char *path, unsigned char head[SNIFF_BYTES], size_t *n,
                                  struct weir_error *err)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        return cannot_read(path, errno, err);
    errno = 0;
    *n = fread(head, 1, SNIFF_BYTES, file);
    if (ferror(file) != 0) {
        int error = errno;
        (void)fclose(file);
        return cannot_read(path, error, err);
    }
    (void)fclose(file);
    return WEIR_OK;
}

static enum weir_status recognize(const char *path, const struct import_format **out,
                                  struct weir_error *err)
{
    unsigned char head[SNIFF_BYTES];
    size_t n = 0;
    enum weir_status status = read_head(path, head, &n, err);

    if (status != WEIR_OK)
        return status;
    for (const struct import_format *f = formats; f->name != NULL; f++) {
        if (f->looks_like(head, n)) {
            *out = f;
            return WEIR_OK;
        }
    }
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: %s is no profile that Weir knows; weir import --help lists the "
                          "formats",
                          path, n == 0 ? "an empty file" : "this");
}

static enum weir_status find_format(const char *name, const char *path,
                                    const struct import_format **out, struct weir_error *err)
{
    if (strcmp(name, "auto") == 0)
        return recognize(path, out, err);
    for (const struct import_format *f = formats; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            *out = f;
            return WEIR_OK;
        }
    }
    return weir_error_set(err, WEIR_USAGE,
                          "'%.80s' is not a format; weir import --help lists them, and 'auto' "
                          "finds out by the file",
                          name);
}

enum weir_status import_read(const char *format, const char *path,
                             const struct import_options *options, struct import_result *out,
                             struct weir_error *err)
{
    const struct import_format *found = NULL;
    enum weir_status status;

    memset(out, 0, sizeof *out);
    status = find_format(format, path, &found, err);
    if (status == WEIR_OK && options->unit_ns > 0 && !found->counts_units) {
        return weir_error_set(
            err, WEIR_USAGE,
            "--unit is for files that count in units without a name, and the times "
            "of %s are in nanoseconds; leave it out",
            found->name);
    }
    return status == WEIR_OK ? found->read(path, options, out, err) : status;
}

void import_result_free(struct import_result *result)
{
    graph_free(result->graph);
    timeline_free(result->timeline);
    import_report_free(&result->report);
    memset(result, 0, sizeof *result);
}

/* The report. */

static enum weir_status add_item(struct import_report *report, const char *section, const char *key,
                                 const struct import_item *value, struct weir_error *err)
{
    struct import_item item = *value;
    enum weir_status status =
        array_grow(&report->items, &report->items_room, report->n_items + 1, err);

    if (status != WEIR_OK)
        return status;
    item.section = arena_text(&report->arena, section, strlen(section));
    item.key = arena_text(&report->arena, key, strlen(key));
    if (value->text != NULL)
        item.text = arena_text(&report->arena, value->text, strlen(value->text));
    if (item.section == NULL || item.key == NULL || (value->text != NULL && item.text == NULL))
        return weir_error_memory(err);
    report->items[report->n_items++] = item;
    return WEIR_OK;
}

enum weir_status import_report_integer(struct import_report *report, const char *section,
                                       const char *key, int64_t value, struct weir_error *err)
{
    return add_item(report, section, key,
                    &(struct import_item){.kind = IMPORT_INTEGER, .integer = value}, err);
}

enum weir_status import_report_ratio(struct import_report *report, const char *section,
                                     const char *key, double value, struct weir_error *err)
{
    return add_item(report, section, key,
                    &(struct import_item){.kind = IMPORT_RATIO, .ratio = value}, err);
}

enum weir_status import_report_text(struct import_report *report, const char *section,
                                    const char *key, const char *value, struct weir_error *err)
{
    return add_item(report, section, key, &(struct import_item){.kind = IMPORT_TEXT, .text = value},
                    err);
}

const struct import_item *import_report_find(const struct import_report *report,
                                             const char *section, const char *key)
{
    for (size_t i = 0; i < report->n_items; i++) {
        const struct import_item *item = &report->items[i];
        if (strcmp(item->section, section) == 0 && strcmp(item->key, key) == 0)
            return item;
    }
    return NULL;
}

void import_report_free(struct import_report *report)
{
    free(report->items);
    arena_free(&report->arena);
    memset(report, 0, sizeof *report);
}

static const char *const grade_names[] = {"refused", "A", "B", "C", "D"};

const char *import_grade_name(enum import_grade grade)
{
    return grade_names[grade];
}

const char *import_grade_meaning(enum import_grade grade)
{
    switch (grade) {
    case IMPORT_REFUSED:
        return "nothing was imported";
    case IMPORT_A:
        return "every policy";
    case IMPORT_B:
        return "timeline, pressure, reclamation and the order of transfers; to move or recompute "
               "an object, say who reads it";
    case IMPORT_C:
        return "timeline, critical path and the order of transfers; there are no objects";
    case IMPORT_D:
        return "as recorded, and its critical path, only: what waited for what is not all known";
    }
    return "";
}
