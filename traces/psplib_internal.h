/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file of PSPLIB says. */
#ifndef WEIR_TRACES_PSPLIB_INTERNAL_H
#define WEIR_TRACES_PSPLIB_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Jobs and resources count from 0 here, from 1 in the file. */
struct psplib_job {
    int64_t duration;    /* in units */
    uint32_t successors; /* of the project, up to the next job's; there is one job more than jobs */
    uint32_t line;       /* of its row among the precedence relations */
};

struct psplib {
    const char *name;
    const char *at, *end; /* what has not been read */
    const char *line, *line_end;
    uint32_t line_number; /* of that line, from 1 */
    const char *token;    /* the next one of that line */

    int64_t n_projects, n_jobs, n_renewable, n_nonrenewable, n_doubly; /* -1: not said */
    int64_t horizon, release, due_date, tardiness_cost, mpm_time;      /* -1: not said */
    struct psplib_job *jobs;
    size_t jobs_room;
    uint32_t n_read; /* jobs whose precedence relations have been read */
    uint32_t *successors;
    size_t successors_room, n_successors;
    uint32_t *seen_by; /* by job: the number of the job that named it last as a successor */
    int64_t *requests; /* by job, then resource */
    size_t requests_room, n_requests;
    int64_t *capacities;
    size_t capacities_room, n_capacities;
};

/** Reads the whole text: all counts agree, all jobs are there, and none comes after itself.
 *  @return WEIR_INPUT with file, line and column, WEIR_MEMORY; psplib_free in any case */
MUST_CHECK enum weir_status psplib_parse(struct psplib *project, const char *text, size_t length,
                                         const char *name, struct weir_error *err);
void psplib_free(struct psplib *project);

#endif
