/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the detail of evidence says in words that Weir knows: how often something was measured, and under
 * which conditions. The rest is for a person. */
#ifndef WEIR_GRAPH_EVIDENCE_H
#define WEIR_GRAPH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence_words {
    int64_t n_samples;         /* of n=N; -1: it does not say */
    bool says_cold, says_warm; /* as words */
    size_t source_length;      /* of the detail: what stands before the first of these words */
};

struct evidence_words evidence_words_of(const char *detail);

#endif
