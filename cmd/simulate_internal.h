/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulation makes, and how it is told. */
#ifndef WEIR_CMD_SIMULATE_INTERNAL_H
#define WEIR_CMD_SIMULATE_INTERNAL_H

#include "cmd/scenario.h"
#include "graph/report.h"
#include "judge/gave_way.h"

struct simulated {
    struct scenario scenario;
    int64_t critical_path_ns;
    struct simulate_result result;
    struct run_link *links; /* the realized critical chain */
    size_t n_links;
    struct gave_way *ways; /* fallbacks that were taken */
    size_t n_ways;
    struct report *findings; /* what is wrong with the schedule */
    struct run_deviation *deviations; /* the same, for the store */
    struct arena texts;
    char *settings;
    struct run run;
};

/* simulate_store.c */
/** Stores the run and fills it in. */
MUST_CHECK enum weir_status simulate_store(const struct scenario_request *request,
                                           const struct cmd_common *common,
                                           struct simulated *simulated, struct weir_error *err);

/* simulate_answer.c */
void simulate_answer_json(const struct simulated *simulated);
void simulate_answer_text(const struct simulated *simulated);

#endif
