/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The explanations of graph/explain.def, one for each line of graph/findings.def. */
#include "graph/explain.h"

#include <string.h>

/* What most of the graphs begin with. */
#define TOP "weir 1\n"
#define MACHINE TOP "domain hbm capacity=1GB\ndomain host capacity=1GB\nengine sm\n"
#define COPIES                                               \
    MACHINE "engine d2h from=hbm to=host bandwidth=25GB/s\n" \
            "engine h2d from=host to=hbm bandwidth=25GB/s\n"

static const struct explanation explanations[FINDING_CODES] = {
#define EXPLAIN(code, why, bad, mended) [FINDING_##code] = {why, bad, mended},
#include "graph/explain.def"
#undef EXPLAIN
};

const struct explanation *explain_finding(enum finding_code code)
{
    return &explanations[code];
}

enum finding_code explain_code(const char *name)
{
    for (int i = 0; i < FINDING_CODES; i++) {
        if (strcmp(finding_name((enum finding_code)i), name) == 0) {
            return (enum finding_code)i;
        }
    }
    return FINDING_CODES;
}
