/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the text of a PSPLIB file, line by line. Blank lines and lines of asterisks or dashes only part
 * what stands between them: they are passed over wherever they are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/utf8.h"
#include "traces/psplib_internal.h"

#define MOST 1000000000 /* of a duration, a request and a capacity */
#define SHOWN 40        /* bytes of what was found */

/* --- lines and tokens --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* "file:line:column: " in front of the message. @param at in the line */
static enum weir_status fault(const struct psplib *project, const char *at, struct weir_error *err)
{
    err->status = WEIR_INPUT;
    return weir_error_within(err, "%.160s:%" PRIu32 ":%zu", project->name, project->line_number,
                             (size_t)(at - project->line) + 1);
}

static int shown(const char *begin, const char *end)
{
    return end - begin > SHOWN ? SHOWN : (int)(end - begin);
}

/* The next token of the line ends there; project->token is where it begins. */
static const char *token_end(struct psplib *project)
{
    const char *end;

    while (project->token < project->line_end && is_blank(*project->token)) {
        project->token++;
    }
    for (end = project->token; end < project->line_end && !is_blank(*end);) {
        end++;
    }
    return end;
}

static bool is_rule(const char *begin, const char *end)
{
    for (; begin < end; begin++) {
        if (*begin != '*' && *begin != '-' && !is_blank(*begin)) {
            return false;
        }
    }
    return true;
}

static enum weir_status check_text(const struct psplib *project, struct weir_error *err)
{
    for (const char *at = project->line; at < project->line_end;) {
        size_t n = utf8_length(at, project->line_end);

        if (n == 0 || ((unsigned char)*at < ' ' && !is_blank(*at)) || *at == 0x7f) {
            (void)weir_error_set(
                err, WEIR_INPUT,
                "byte 0x%02x, which is no text; expected a PSPLIB file (.sm) as it "
                "was downloaded, unpacked",
                (unsigned)(unsigned char)*at);
            return fault(project, at, err);
        }
        at += n;
    }
    return WEIR_OK;
}

/* The next line that says something; at the end of the file, an empty one behind the last. */
static enum weir_status next_line(struct psplib *project, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    do {
        const char *end = memchr(project->at, '\n', (size_t)(project->end - project->at));

        project->line = project->token = project->at;
        project->line_end = end == NULL ? project->end : end;
        project->at = end == NULL ? project->end : end + 1;
        project->line_number++;
        status = check_text(project, err);
    } while (status == WEIR_OK && is_rule(project->line, project->line_end) &&
             project->line_end < project->end);
    if (status == WEIR_OK && is_rule(project->line, project->line_end)) {
        project->line = project->line_end = project->token = project->end;
    }
    return status;
}

static bool is_at_end(const struct psplib *project)
{
    return project->line == project->end;
}

/* Does the line begin with these words, blanks before them aside? */
static bool begins_with(struct psplib *project, const char *words)
{
    size_t n = strlen(words);

    (void)token_end(project);
    return (size_t)(project->line_end - project->token) >= n &&
           memcmp(project->token, words, n) == 0;
}

/* Says what the line is, and what it should be. */
static enum weir_status expected(struct psplib *project, const char *what, struct weir_error *err)
{
    const char *end = project->line_end;

    (void)token_end(project);
    if (is_at_end(project)) {
        (void)weir_error_set(err, WEIR_INPUT, "the file ends; expected %s: take it whole", what);
    } else {
        while (end > project->token && is_blank(end[-1])) {
            end--;
        }
        (void)weir_error_set(err, WEIR_INPUT, "found '%.*s'; expected %s",
                             shown(project->token, end), project->token, what);
    }
    return fault(project, project->token, err);
}

/* The next token as a whole number in [least, most]. */
static enum weir_status take_number(struct psplib *project, const char *what, int64_t least,
                                    int64_t most, int64_t *out, struct weir_error *err)
{
    const char *end = token_end(project), *begin = project->token;
    int64_t value = 0;

    if (begin == end) {
        (void)weir_error_set(err, WEIR_INPUT, "the line ends; expected %s: add it", what);
        return fault(project, begin, err);
    }
    if (number_integer(begin, (size_t)(end - begin), &value) != NUMBER_OK || value < least ||
        value > most) {
        char range[64];

        (void)snprintf(range, sizeof range, "a whole number from %" PRId64 " to %" PRId64, least,
                       most);
        (void)weir_error_set(err, WEIR_INPUT, "found '%.*s'; expected %s, %s: correct it",
                             shown(begin, end), begin, what,
                             least == most ? "which begins with that number" : range);
        return fault(project, begin, err);
    }
    project->token = end;
    *out = value;
    return WEIR_OK;
}

static enum weir_status end_of_line(struct psplib *project, const char *what,
                                    struct weir_error *err)
{
    const char *end = token_end(project);

    if (project->token == end) {
        return WEIR_OK;
    }
    (void)weir_error_set(err, WEIR_INPUT, "found '%.*s'; expected nothing behind %s: remove it",
                         shown(project->token, end), project->token, what);
    return fault(project, project->token, err);
}

/* --- what stands before the jobs -------------------------------------------------------------------- */

/* The number behind the colon of a line such as "horizon : 158". */
static enum weir_status take_field(struct psplib *project, const char *what, int64_t least,
                                   int64_t most, int64_t *out, struct weir_error *err)
{
    const char *colon = memchr(project->token, ':', (size_t)(project->line_end - project->token));

    if (*out >= 0) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "found %s a second time; expected it once: remove one", what);
        return fault(project, project->token, err);
    }
    if (colon == NULL) {
        return expected(project, "a colon and a number behind it", err);
    }
    project->token = colon + 1;
    return take_number(project, what, least, most, out, err);
}

static enum weir_status refuse(const struct psplib *project, const char *at, const char *found,
                               const char *remedy, struct weir_error *err)
{
    (void)weir_error_set(err, WEIR_INPUT, "found %s; expected %s", found, remedy);
    return fault(project, at, err);
}

/* Bytes of a domain are given back: what is used up for good has no like in Weir. */
static enum weir_status take_none(struct psplib *project, const char *what, int64_t *out,
                                  struct weir_error *err)
{
    const char *at = project->token;
    char found[80];
    enum weir_status status = take_field(project, what, 0, MOST, out, err);

    if (status != WEIR_OK || *out == 0) {
        return status;
    }
    (void)snprintf(found, sizeof found, "%" PRId64 " %s", *out, what);
    return refuse(project, at, found,
                  "none, for a job gives back all it takes of a domain; import a problem with "
                  "renewable resources alone (a .sm file)",
                  err);
}

static enum weir_status take_projects(struct psplib *project, struct weir_error *err)
{
    const char *at = project->token;
    enum weir_status status =
        take_field(project, "the number of projects", 0, MOST, &project->n_projects, err);

    if (status != WEIR_OK || project->n_projects == 1) {
        return status;
    }
    return refuse(project, at, "more or less than one project",
                  "one: give each project a file of its own", err);
}

/* No more jobs than bytes: so what they need is bounded by the file. */
static enum weir_status take_jobs(struct psplib *project, const char *text, struct weir_error *err)
{
    int64_t most = project->end - text < MOST ? project->end - text : MOST;

    return take_field(project, "the number of jobs", 1, most, &project->n_jobs, err);
}

/* number, jobs, release date, due date, cost of tardiness, length of the critical path */
static enum weir_status take_information(struct psplib *project, struct weir_error *err)
{
    struct {
        const char *what;
        int64_t *out;
    } fields[] = {
        {"the number of the project", &(int64_t){0}},
        {"the number of jobs without source and sink", &(int64_t){0}},
        {"the release date", &project->release},
        {"the due date", &project->due_date},
        {"the cost of tardiness", &project->tardiness_cost},
        {"the MPM time", &project->mpm_time},
    };
    enum weir_status status = next_line(project, err);

    if (status == WEIR_OK && !begins_with(project, "pronr.")) {
        status =
            expected(project, "the line 'pronr. #jobs rel.date duedate tardcost MPM-Time'", err);
    }
    if (status == WEIR_OK) {
        status = next_line(project, err);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == WEIR_OK; i++) {
        status = take_number(project, fields[i].what, 0, MOST, fields[i].out, err);
    }
    return status == WEIR_OK ? end_of_line(project, "the MPM time", err) : status;
}

static enum weir_status read_head_line(struct psplib *project, const char *text,
                                       struct weir_error *err)
{
    if (begins_with(project, "file with basedata") || begins_with(project, "initial value") ||
        begins_with(project, "RESOURCES")) {
        return WEIR_OK;
    }
    if (begins_with(project, "projects")) {
        return take_projects(project, err);
    }
    if (begins_with(project, "jobs")) {
        return take_jobs(project, text, err);
    }
    if (begins_with(project, "horizon")) {
        return take_field(project, "the horizon", 0, INT64_MAX, &project->horizon, err);
    }
    if (begins_with(project, "- renewable")) {
        return take_field(project, "the number of renewable resources", 0, MOST,
                          &project->n_renewable, err);
    }
    if (begins_with(project, "- nonrenewable")) {
        return take_none(project, "nonrenewable resources", &project->n_nonrenewable, err);
    }
    if (begins_with(project, "- doubly constrained")) {
        return take_none(project, "doubly constrained resources", &project->n_doubly, err);
    }
    if (begins_with(project, "PROJECT INFORMATION")) {
        return take_information(project, err);
    }
    return expected(
        project, "a line of the head of a PSPLIB file, or PRECEDENCE RELATIONS: is it one?", err);
}

static enum weir_status read_head(struct psplib *project, const char *text, struct weir_error *err)
{
    enum weir_status status = next_line(project, err);

    while (status == WEIR_OK && !is_at_end(project) &&
           !begins_with(project, "PRECEDENCE RELATIONS")) {
        status = read_head_line(project, text, err);
        if (status == WEIR_OK) {
            status = next_line(project, err);
        }
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (is_at_end(project)) {
        return expected(project, "PRECEDENCE RELATIONS", err);
    }
    if (project->n_jobs < 0) {
        return expected(project, "the number of jobs before it", err);
    }
    return project->n_renewable < 0
               ? expected(project, "the number of renewable resources before it", err)
               : WEIR_OK;
}

/* --- jobs ------------------------------------------------------------------------------------------- */

/* The line of column names below a heading, then the first row. */
static enum weir_status begin_table(struct psplib *project, const char *columns,
                                    struct weir_error *err)
{
    enum weir_status status = next_line(project, err);

    if (status == WEIR_OK && !begins_with(project, "jobnr.")) {
        status = expected(project, columns, err);
    }
    return status == WEIR_OK ? next_line(project, err) : status;
}

/* The number of a job, which is that of its row. */
static enum weir_status take_job(struct psplib *project, uint32_t index, struct weir_error *err)
{
    int64_t number = 0;
    char what[80];

    (void)snprintf(what, sizeof what, "the row of job %" PRIu32 " of %" PRId64, index + 1,
                   project->n_jobs);
    if (is_at_end(project)) {
        return expected(project, what, err);
    }
    return take_number(project, what, (int64_t)index + 1, (int64_t)index + 1, &number, err);
}

static enum weir_status take_mode(struct psplib *project, const char *what, struct weir_error *err)
{
    const char *end = token_end(project), *begin = project->token;
    int64_t mode = 0;
    enum weir_status status = take_number(project, what, 0, MOST, &mode, err);

    if (status != WEIR_OK || mode == 1) {
        return status;
    }
    (void)weir_error_set(err, WEIR_INPUT,
                         "found %s %.*s; expected 1, for a node has one duration and one demand: "
                         "choose a mode for each job, and write a single-mode file",
                         what, shown(begin, end), begin);
    return fault(project, begin, err);
}

static enum weir_status take_successor(struct psplib *project, uint32_t index,
                                       struct weir_error *err)
{
    const char *begin;
    int64_t number = 0;
    enum weir_status status;

    (void)token_end(project);
    begin = project->token;
    status = take_number(project, "a successor", 1, project->n_jobs, &number, err);
    if (status == WEIR_OK) {
        status = array_grow(&project->successors, &project->successors_room,
                            project->n_successors + 1, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    if (project->seen_by[number - 1] == index + 1) {
        (void)weir_error_set(err, WEIR_INPUT,
                             "found successor %" PRId64 " of job %" PRIu32
                             " a second time; expected each once: remove one",
                             number, index + 1);
        return fault(project, begin, err);
    }
    project->seen_by[number - 1] = index + 1;
    project->successors[project->n_successors++] = (uint32_t)(number - 1);
    return WEIR_OK;
}

/* jobnr., number of modes, number of successors, successors */
static enum weir_status read_relations_of(struct psplib *project, uint32_t index,
                                          struct weir_error *err)
{
    int64_t n_successors = 0;
    enum weir_status status = take_job(project, index, err);

    if (status == WEIR_OK) {
        status = array_grow(&project->jobs, &project->jobs_room, (size_t)index + 2, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    project->jobs[index] = (struct psplib_job){
        .successors = (uint32_t)project->n_successors,
        .line = project->line_number,
    };
    status = take_mode(project, "the number of modes", err);
    if (status == WEIR_OK) {
        status = take_number(project, "the number of successors", 0, project->n_jobs, &n_successors,
                             err);
    }
    for (int64_t i = 0; i < n_successors && status == WEIR_OK; i++) {
        status = take_successor(project, index, err);
    }
    project->jobs[index + 1].successors = (uint32_t)project->n_successors;
    project->n_read = index + 1;
    return status == WEIR_OK ? end_of_line(project, "so many successors", err) : status;
}

static enum weir_status read_relations(struct psplib *project, struct weir_error *err)
{
    enum weir_status status =
        begin_table(project, "the line 'jobnr. #modes #successors successors'", err);

    project->seen_by = calloc((size_t)project->n_jobs, sizeof *project->seen_by);
    if (status == WEIR_OK && project->seen_by == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < project->n_jobs && status == WEIR_OK; i++) {
        status = read_relations_of(project, i, err);
        if (status == WEIR_OK) {
            status = next_line(project, err);
        }
    }
    return status;
}

/* jobnr., mode, duration, requests */
static enum weir_status read_requests_of(struct psplib *project, uint32_t index,
                                         struct weir_error *err)
{
    enum weir_status status = take_job(project, index, err);

    if (status == WEIR_OK) {
        status = take_mode(project, "mode", err);
    }
    if (status == WEIR_OK) {
        status = take_number(project, "a duration", 0, MOST, &project->jobs[index].duration, err);
    }
    for (int64_t i = 0; i < project->n_renewable && status == WEIR_OK; i++) {
        status =
            array_grow(&project->requests, &project->requests_room, project->n_requests + 1, err);
        if (status == WEIR_OK) {
            status = take_number(project, "a request", 0, MOST,
                                 &project->requests[project->n_requests++], err);
        }
    }
    return status == WEIR_OK ? end_of_line(project, "a request for each resource", err) : status;
}

static enum weir_status read_requests(struct psplib *project, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (!begins_with(project, "REQUESTS/DURATIONS")) {
        return expected(project, "REQUESTS/DURATIONS, behind a row for each job", err);
    }
    status = begin_table(project, "the line 'jobnr. mode duration R 1 ...'", err);
    for (uint32_t i = 0; i < project->n_jobs && status == WEIR_OK; i++) {
        status = read_requests_of(project, i, err);
        if (status == WEIR_OK) {
            status = next_line(project, err);
        }
    }
    return status;
}

static enum weir_status read_capacities(struct psplib *project, struct weir_error *err)
{
    enum weir_status status;

    if (!begins_with(project, "RESOURCEAVAILABILITIES")) {
        return expected(project, "RESOURCEAVAILABILITIES, behind a row for each job", err);
    }
    status = next_line(project, err);
    if (status == WEIR_OK && begins_with(project, "R")) {
        status = next_line(project, err);
    }
    for (int64_t i = 0; i < project->n_renewable && status == WEIR_OK; i++) {
        status = array_grow(&project->capacities, &project->capacities_room,
                            project->n_capacities + 1, err);
        if (status == WEIR_OK) {
            status = take_number(project, "a capacity", 1, MOST,
                                 &project->capacities[project->n_capacities++], err);
        }
    }
    if (status == WEIR_OK) {
        status = end_of_line(project, "a capacity for each resource", err);
    }
    if (status == WEIR_OK && !is_at_end(project)) {
        status = next_line(project, err);
    }
    return status == WEIR_OK && !is_at_end(project)
               ? expected(project, "the end of the file behind the capacities: remove the rest",
                          err)
               : status;
}

/* --- circles ---------------------------------------------------------------------------------------- */

/* Takes away the jobs that nothing left comes before, until none is left. @return how many were */
static uint32_t take_away(const struct psplib *project, uint32_t *n_before, uint32_t *taken)
{
    uint32_t n_taken = 0;

    for (size_t i = 0; i < project->n_successors; i++) {
        n_before[project->successors[i]]++;
    }
    for (uint32_t i = 0; i < project->n_jobs; i++) {
        if (n_before[i] == 0) {
            taken[n_taken++] = i;
        }
    }
    for (uint32_t i = 0; i < n_taken; i++) {
        const struct psplib_job *job = &project->jobs[taken[i]];

        for (uint32_t j = job->successors; j < job[1].successors; j++) {
            if (--n_before[project->successors[j]] == 0) {
                taken[n_taken++] = project->successors[j];
            }
        }
    }
    return n_taken;
}

/* Of what is left, everything comes after something left: walking back must come around. The step
 * back is the least job that the one at hand is a successor of. */
static uint32_t find_on_circle(const struct psplib *project, const uint32_t *n_before,
                               uint32_t *before)
{
    uint32_t at = 0;

    for (uint32_t i = (uint32_t)project->n_jobs; i-- > 0;) {
        const struct psplib_job *job = &project->jobs[i];

        for (uint32_t j = job->successors; n_before[i] > 0 && j < job[1].successors; j++) {
            before[project->successors[j]] = i;
        }
        at = n_before[i] > 0 ? i : at;
    }
    for (int64_t i = 0; i < project->n_jobs; i++) {
        at = before[at];
    }
    return at;
}

static enum weir_status check_circles(struct psplib *project, struct weir_error *err)
{
    size_t n = (size_t)project->n_jobs + 1;
    uint32_t *n_before = calloc(n, sizeof *n_before), *taken = calloc(n, sizeof *taken);
    enum weir_status status = WEIR_OK;

    if (n_before == NULL || taken == NULL) {
        status = weir_error_memory(err);
    } else if (take_away(project, n_before, taken) < project->n_jobs) {
        uint32_t job = find_on_circle(project, n_before, taken);

        (void)weir_error_set(err, WEIR_INPUT,
                             "job %" PRIu32 " comes after itself, by way of job %" PRIu32
                             "; expected no circle of successors: remove one of them",
                             job + 1, taken[job] + 1);
        project->line_number = project->jobs[job].line;
        status = fault(project, project->line, err);
    }
    free(n_before);
    free(taken);
    return status;
}

/* ------------------------------------------------------------------------------------------------ */

enum weir_status psplib_parse(struct psplib *project, const char *text, size_t length,
                              const char *name, struct weir_error *err)
{
    enum weir_status status;

    *project = (struct psplib){
        .name = name,
        .at = text,
        .end = text + length,
        .n_projects = -1,
        .n_jobs = -1,
        .n_renewable = -1,
        .n_nonrenewable = -1,
        .n_doubly = -1,
        .horizon = -1,
        .release = -1,
        .due_date = -1,
        .tardiness_cost = -1,
        .mpm_time = -1,
    };
    status = read_head(project, text, err);
    if (status == WEIR_OK) {
        status = read_relations(project, err);
    }
    if (status == WEIR_OK) {
        status = read_requests(project, err);
    }
    if (status == WEIR_OK) {
        status = read_capacities(project, err);
    }
    return status == WEIR_OK ? check_circles(project, err) : status;
}

void psplib_free(struct psplib *project)
{
    free(project->jobs);
    free(project->successors);
    free(project->seen_by);
    free(project->requests);
    free(project->capacities);
}
