/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person should know of a finding's code: why it matters, a graph that has it, and the same
 * graph mended. The graphs are whole files: what is shown is what the tests read. */
#ifndef WEIR_GRAPH_EXPLAIN_H
#define WEIR_GRAPH_EXPLAIN_H

#include "graph/report.h"

struct explanation {
    const char *why;    /* sentences: what goes wrong where it is not mended */
    const char *bad;    /* a graph file with this finding */
    const char *mended; /* the same without it, and without any error */
};

const struct explanation *explain_finding(enum finding_code code);

/** The code of that name. @return FINDING_CODES when there is none */
enum finding_code explain_code(const char *name);

#endif
