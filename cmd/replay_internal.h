/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call of weir replay, as its files share it. */
#ifndef WEIR_CMD_REPLAY_INTERNAL_H
#define WEIR_CMD_REPLAY_INTERNAL_H

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "replay/runner.h"

/* The lists of the run, in the store's words. */
struct replay_lists {
    struct run_mechanism *mechanisms;
    struct run_deviation *deviations;
    struct run_sample *samples;
    struct run_action *actions;
    const char **queues;
    struct run_inserted *inserted;
    struct run_link *links;
    struct run_overlap *overlaps;
};

struct replay_work {
    struct replay_options options;
    struct store *store;
    struct stored_run planned;
    bool has_planned;
    struct binding *binding;
    struct replay_result *result;
    char *settings; /* malloc'ed */
    enum graph_scope scope;
    struct replay_lists lists;
    struct run run; /* what is stored */
};

/** What settings and answer have in common: plan, device, scales, repeats, overhead, constraints. */
void replay_write_common(struct json *json, const struct replay_work *work);
/** Fills work->settings. */
MUST_CHECK enum weir_status replay_write_settings(struct replay_work *work, struct weir_error *err);

/** Fills work->lists and work->run, and writes the run to the file. */
MUST_CHECK enum weir_status replay_write_run(const char *db, struct replay_work *work,
                                             struct weir_error *err);
void replay_lists_free(struct replay_lists *lists);

MUST_CHECK enum weir_status replay_answer_json(const struct replay_work *work,
                                               struct weir_error *err);
void replay_answer_text(const struct replay_work *work);

#endif
