/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the spread of samples changed from one run to another. */
#ifndef WEIR_CMD_COMPARE_TAILS_H
#define WEIR_CMD_COMPARE_TAILS_H

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "judge/tails.h"

struct compared_tails {
    bool is_known; /* both are simulations with samples of which some are complete */
    bool has_quantile;
    enum tails_figure quantile; /* the one that counts */
    struct tails_comparison makespan_ns;
    struct tails_comparison *peak_bytes; /* by domain of the first; NULL: not known of both */
    uint32_t n_domains;
    enum tails_verdict verdict; /* of the makespan, when there is a quantile that counts */
    struct report *findings;
};

/** @param quantile as given to the verb; NULL: as the second run declares it, else the first
 *  WEIR_USAGE when that is none; WEIR_MEMORY. The caller frees, also after a failure. */
MUST_CHECK enum weir_status compared_tails_find(const struct stored_run *a,
                                                const struct stored_run *b, const char *quantile,
                                                struct compared_tails *out, struct weir_error *err);
void compared_tails_free(struct compared_tails *tails);

/** Keys of the object that is open: tails and findings. */
void compared_tails_json(struct json *json, const struct compared_tails *tails,
                         const struct graph *graph);
/** The table on standard output; what was found goes to standard error. */
void compared_tails_print(const struct compared_tails *tails, const struct graph *graph);

#endif
