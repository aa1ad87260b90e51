/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with an input, or worth knowing of a graph: a list of findings. */
#ifndef WEIR_GRAPH_REPORT_H
#define WEIR_GRAPH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

/* One for each line of graph/findings.def. */
enum finding_code {
#define FINDING(code, severity, name, summary, remedy) FINDING_##code,
#include "graph/findings.def"
#undef FINDING
    FINDING_CODES
};

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

/* Where: file NULL when the finding is about the graph as a whole; line 0 when unknown. */
struct report_at {
    const char *file;
    uint32_t line, column; /* from 1; columns count bytes */
};

#define FINDING_NAMES 8

struct finding {
    enum finding_code code;
    enum severity severity;
    struct report_at at;
    const char *message;              /* one sentence or two: what was found, what was expected */
    const char *names[FINDING_NAMES]; /* the nodes and objects involved, NULL after the last */
    const char *remedy;               /* how to mend it */
};

struct report;

/** @param limit how many findings of severity error are kept (0: all); the rest are counted */
struct report *report_new(uint32_t limit);
void report_free(struct report *report);

/** Adds a finding; file and message are copied. When memory runs out the finding is counted and
 *  report_is_short says so. */
PRINTF_LIKE(4, 5)
void report_add(struct report *report, enum finding_code code, struct report_at at,
                const char *format, ...);
/** Names a node or object of the finding added last, up to FINDING_NAMES. */
void report_name(struct report *report, const char *name);

uint32_t report_count(const struct report *report);  /* findings kept */
uint32_t report_errors(const struct report *report); /* errors found, kept or not */
bool report_is_full(const struct report *report);    /* no further error would be kept */
bool report_is_short(const struct report *report);   /* memory ran out: some are missing */
const struct finding *report_finding(const struct report *report, uint32_t index);

/** Who waits for a file to be read is told how far that is, now and then. @param part 0 to 1 */
void report_watch(struct report *report, void (*progress)(void *arg, double part), void *arg);
/** Tells whoever watches. */
void report_progress(const struct report *report, double part);

/** Says that memory ran out while findings were looked for. */
void report_fell_short(struct report *report);

/** "file:12:7: error[unknown-name]: message; remedy" of one finding into @p out. */
void report_line(const struct finding *finding, char *out, size_t out_bytes);

/* Of a code: its stable name, a line that explains it, what to do about it. */
const char *finding_name(enum finding_code code);
const char *finding_summary(enum finding_code code);
const char *finding_remedy(enum finding_code code);
enum severity finding_severity(enum finding_code code);
const char *severity_name(enum severity severity);
/** Does only a run show it, and no graph? */
bool finding_is_of_run(enum finding_code code);
/** Of these: do only the samples of two runs show it? */
bool finding_is_of_samples(enum finding_code code);

#endif
