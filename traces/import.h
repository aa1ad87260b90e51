/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers: from a profile to a graph, to the timeline that the profile saw, and to a report that
 * says how much of the profile was understood. One row of a table a format. */
#ifndef WEIR_TRACES_IMPORT_H
#define WEIR_TRACES_IMPORT_H

#include "base/arena.h"
#include "graph/timeline.h"

/* What the result may be used for; weir-import(1) has the conditions. */
enum import_grade {
    IMPORT_REFUSED, /* nothing was made */
    IMPORT_A,       /* objects with their reads: every policy */
    IMPORT_B,       /* objects, reads unknown: pressure and reclamation, order of transfers */
    IMPORT_C,       /* no objects: timeline, critical path, order of transfers */
    IMPORT_D        /* waits unresolved: as recorded, and its critical path, only */
};

struct import_options {
    const char *window; /* a marker's text, or FROM:TO since the profile began; NULL: all of it */
    int64_t unit_ns;    /* what a file that counts in units counts in; 0: the format's own */
    void (*progress)(void *arg, double part); /* after each step of the work; NULL: to nobody */
    void *progress_arg;
};

struct import_options import_default(void);

enum import_value { IMPORT_INTEGER, IMPORT_RATIO, IMPORT_TEXT };

/* One line of the report. A ratio may be NaN: there was nothing to divide by. */
struct import_item {
    const char *section, *key; /* snake_case, with the unit at the end */
    enum import_value kind;
    int64_t integer;
    double ratio;
    const char *text;
};

/* What was read, kept, skipped, resolved and assumed, in the order in which it is told. A zeroed
 * one is empty. */
struct import_report {
    struct arena arena; /* holds the texts */
    struct import_item *items;
    size_t n_items, items_room;
    enum import_grade grade;
    const char *reason; /* of the grade or of the refusal; NULL when the file could not be read */
    const char *remedy; /* how to record better, NULL when nothing is missing */
};

/* Each copies its texts; section and key may be built on the stack. */
MUST_CHECK enum weir_status import_report_integer(struct import_report *, const char *section,
                                                  const char *key, int64_t value,
                                                  struct weir_error *);
MUST_CHECK enum weir_status import_report_ratio(struct import_report *, const char *section,
                                                const char *key, double value, struct weir_error *);
MUST_CHECK enum weir_status import_report_text(struct import_report *, const char *section,
                                               const char *key, const char *value,
                                               struct weir_error *);
/** The item, NULL when it is not there. */
const struct import_item *import_report_find(const struct import_report *, const char *section,
                                             const char *key);
void import_report_free(struct import_report *);

struct import_result {
    struct graph *graph; /* NULL when refused */
    /* What the profile saw, of that graph; NULL when refused, or when nothing was recorded. */
    struct timeline *timeline;
    struct import_report report;
    int64_t origin_ns;   /* the profile's time that is 0 in the graph */
    int64_t makespan_ns; /* of the timeline, which is its precedence bound too */
    /* Of the recording's critical chain: lags without a known cause, and the program's own time
     * between two calls, which no schedule of the device shortens. */
    int64_t chain_unexplained_ns, chain_host_ns;
};

/* A format: its reader, and how its files are recognized. */
struct import_format {
    const char *name, *summary;
    /** Fills @p out; the report also on failure, as far as it came. WEIR_INPUT when the file is
     *  refused: the message says why and how to record one that works. */
    enum weir_status (*read)(const char *path, const struct import_options *options,
                             struct import_result *out, struct weir_error *err);
    /** Does a file that begins with these bytes look like one? */
    bool (*looks_like)(const unsigned char *bytes, size_t n_bytes);
    bool counts_units; /* its times have no unit: options->unit_ns is for it */
};

/* Ends with a NULL name. */
const struct import_format *import_formats(void);

/** Reads the file. @param format a name of the table, or "auto"; *out is to be freed also on failure
 *  @return WEIR_OK; WEIR_USAGE unknown format or window; WEIR_INPUT refused or unreadable;
 *  WEIR_STORE no room for what is unpacked; WEIR_MEMORY */
MUST_CHECK enum weir_status import_read(const char *format, const char *path,
                                        const struct import_options *options,
                                        struct import_result *out, struct weir_error *err);
void import_result_free(struct import_result *);

const char *import_grade_name(enum import_grade);
/** One line: what a graph of that grade may be used for. */
const char *import_grade_meaning(enum import_grade);

#endif
