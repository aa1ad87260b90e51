/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings in the order in which they were found. Texts lie in the report's arena; the texts that
 * belong to a code lie in the program. */
#include "graph/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"

struct report {
    struct arena texts;
    struct finding *findings;
    size_t room;
    uint32_t count;
    uint32_t limit; /* of errors kept; 0: all */
    uint32_t n_errors, n_errors_kept;
    bool is_last_kept; /* report_name goes to it */
    bool is_short;
    const char *last_file; /* the copy of the file name given last: most findings share one */
    void (*progress)(void *arg, double part); /* NULL: nobody watches */
    void *progress_arg;
};

struct code {
    enum severity severity;
    const char *name, *summary, *remedy;
};

static const struct code codes[FINDING_CODES] = {
#define FINDING(code, severity, name, summary, remedy) \
    [FINDING_##code] = {SEVERITY_##severity, name, summary, remedy},
#include "graph/findings.def"
#undef FINDING
};

struct report *report_new(uint32_t limit)
{
    struct report *report = calloc(1, sizeof *report);

    if (report != NULL)
        report->limit = limit;
    return report;
}

void report_free(struct report *report)
{
    if (report == NULL)
        return;
    arena_free(&report->texts);
    free(report->findings);
    free(report);
}

void report_watch(struct report *report, void (*progress)(void *arg, double part), void *arg)
{
    report->progress = progress;
    report->progress_arg = arg;
}

void report_progress(const struct report *report, double part)
{
    if (report->progress != NULL)
        report->progress(report->progress_arg, part);
}

static const char *kept_text(struct report *report, const char *text)
{
    return arena_text(&report->texts, text, strlen(text));
}

static const char *kept_file(struct report *report, const char *file)
{
    if (file == NULL)
        return NULL;
    if (report->last_file == NULL || strcmp(report->last_file, file) != 0)
        report->last_file = kept_text(report, file);
    return report->last_file;
}

PRINTF_LIKE(2, 0)
static const char *kept_message(struct report *report, const char *format, va_list args)
{
    va_list again;
    int length;
    char *text;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    text = length < 0 ? NULL : arena_alloc(&report->texts, (size_t)length + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

static bool is_wanted(struct report *report, enum severity severity)
{
    if (severity != SEVERITY_ERROR)
        return true;
    if (report->n_errors < UINT32_MAX)
        report->n_errors++;
    return !report_is_full(report);
}

void report_add(struct report *report, enum finding_code code, struct report_at at,
                const char *format, ...)
{
    struct finding finding = {.code = code, .severity = codes[code].severity, .at = at};
    struct weir_error err;
    va_list args;

    report->is_last_kept = false;
    if (!is_wanted(report, finding.severity))
        return;
    va_start(args, format);
    finding.message = kept_message(report, format, args);
    va_end(args);
    finding.at.file = kept_file(report, at.file);
    finding.remedy = codes[code].remedy;
    if (finding.message == NULL || (at.file != NULL && finding.at.file == NULL) ||
        report->count == UINT32_MAX ||
        array_grow(&report->findings, &report->room, (size_t)report->count + 1, &err) != WEIR_OK) {
        report->is_short = true;
        return;
    }
    report->findings[report->count++] = finding;
    report->is_last_kept = true;
    if (finding.severity == SEVERITY_ERROR)
        report->n_errors_kept++;
}

void report_name(struct report *report, const char *name)
{
    struct finding *last;

    if (!report->is_last_kept)
        return;
    last = &report->findings[report->count - 1];
    for (unsigned i = 0; i < FINDING_NAMES; i++) {
        if (last->names[i] != NULL)
            continue;
        last->names[i] = kept_text(report, name);
        report->is_short = report->is_short || last->names[i] == NULL;
        return;
    }
}

uint32_t report_count(const struct report *report)
{
    return report->count;
}

uint32_t report_errors(const struct report *report)
{
    return report->n_errors;
}

bool report_is_full(const struct report *report)
{
    return report->limit != 0 && report->n_errors_kept >= report->limit;
}

bool report_is_short(const struct report *report)
{
    return report->is_short;
}

void report_fell_short(struct report *report)
{
    report->is_short = true;
}

const struct finding *report_finding(const struct report *report, uint32_t index)
{
    return &report->findings[index];
}

void report_line(const struct finding *finding, char *out, size_t out_bytes)
{
    const struct report_at *at = &finding->at;
    char place[64] = "";

    if (at->file != NULL && at->line != 0 && at->column != 0)
        (void)snprintf(place, sizeof place, ":%u:%u", at->line, at->column);
    else if (at->file != NULL && at->line != 0)
        (void)snprintf(place, sizeof place, ":%u", at->line);
    (void)snprintf(out, out_bytes, "%s%s%s%s[%s]: %s; %s", at->file == NULL ? "" : at->file, place,
                   at->file == NULL ? "" : ": ", severity_name(finding->severity),
                   finding_name(finding->code), finding->message, finding->remedy);
}

const char *finding_name(enum finding_code code)
{
    return codes[code].name;
}

const char *finding_summary(enum finding_code code)
{
    return codes[code].summary;
}

const char *finding_remedy(enum finding_code code)
{
    return codes[code].remedy;
}

enum severity finding_severity(enum finding_code code)
{
    return codes[code].severity;
}

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"error", "warning", "note"};

    return names[severity];
}

bool finding_is_of_run(enum finding_code code)
{
    return code >= FINDING_PREMATURE_PREFETCH;
}

bool finding_is_of_samples(enum finding_code code)
{
    return code >= FINDING_WORSE_TAIL;
}
