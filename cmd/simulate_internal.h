/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulation makes, and how it is told. */
#ifndef WEIR_CMD_SIMULATE_INTERNAL_H
#define WEIR_CMD_SIMULATE_INTERNAL_H

#include "cmd/explained.h"
#include "cmd/scenario.h"
#include "cmd/simulate_tails.h"
#include "graph/report.h"

struct simulated {
    struct scenario scenario;
    int64_t critical_path_ns;
    struct simulate_result result;
    struct explained explained;       /* of the run below */
    struct report *findings;          /* what is wrong with the schedule */
    struct run_deviation *deviations; /* fallbacks that were taken, for the store */
    struct run_overlap *overlaps;     /* what ran beside what, likewise */
    struct tailed tailed;             /* samples, and what a small change does */
    struct arena texts;
    char *settings;
    struct run run;
};

/* simulate_store.c */
/** Writes the settings and fills in the run, but for its chain and the lists of the store. */
MUST_CHECK enum weir_status simulate_describe(const struct scenario_request *request,
                                              struct simulated *simulated, struct weir_error *err);
/** Stores the run, which is explained. */
MUST_CHECK enum weir_status simulate_store(const struct cmd_common *common,
                                           struct simulated *simulated, struct weir_error *err);

/* simulate_answer.c */
void simulate_answer_json(const struct simulated *simulated);
void simulate_answer_text(const struct simulated *simulated);

#endif
