/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the audit one after another, on one analysis. */
#include "graph/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/audit_internal.h"

bool audit_takes(struct audit *audit, enum finding_code code)
{
    return audit->n_found[code]++ < AUDIT_SHOWN;
}

const char *audit_domain(const struct audit *audit, weir_domain domain)
{
    return weir_is(domain) ? graph_text(audit->graph, graph_domain(audit->graph, domain)->name)
                           : "(none)";
}

bool audit_touches(const struct audit *audit, uint32_t node, weir_copy copy)
{
    uint32_t n;
    const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){node}, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (weir_same(touches[i].copy, copy)) {
            return true;
        }
    }
    return false;
}

#define MOST_TOUCHES 1024 /* of a node that is compared with others */

bool audit_are_independent(struct audit *audit, uint32_t a, uint32_t b)
{
    uint32_t n_a, n_b, stamp = ++audit->n_stamps;
    const struct bind_touch *of_a = bind_touches(audit->binding, (weir_node){a}, &n_a);
    const struct bind_touch *of_b = bind_touches(audit->binding, (weir_node){b}, &n_b);

    if (n_a == 0 || n_b == 0 || n_a > MOST_TOUCHES || n_b > MOST_TOUCHES) {
        return false;
    }
    for (uint32_t i = 0; i < n_a; i++) {
        audit->stamp[of_a[i].copy.index] = stamp;
    }
    for (uint32_t i = 0; i < n_b; i++) {
        if (audit->stamp[of_b[i].copy.index] == stamp) {
            return false;
        }
    }
    return true;
}

static void find_last_readers(struct audit *audit)
{
    memset(audit->last_reader, 0xff, bind_n_copies(audit->binding) * sizeof *audit->last_reader);
    for (uint32_t i = 0; i < audit->graph->n_nodes; i++) {
        uint32_t n;
        const struct bind_touch *touches = bind_touches(audit->binding, (weir_node){i}, &n);

        for (uint32_t j = 0; j < n; j++) {
            if ((touches[j].roles & (BIND_READS | BIND_HOLDS)) != 0) {
                audit->last_reader[touches[j].copy.index] = i;
            }
        }
    }
}

static enum weir_status begin(struct audit *audit)
{
    size_t n_copies = (size_t)bind_n_copies(audit->binding) + 1;
    enum weir_status status = analyze(audit->binding, &audit->analysis, audit->err);

    if (status != WEIR_OK) {
        return status;
    }
    audit->last_reader = malloc(n_copies * sizeof *audit->last_reader);
    audit->stamp = calloc(n_copies, sizeof *audit->stamp);
    if (audit->last_reader == NULL || audit->stamp == NULL) {
        return weir_error_memory(audit->err);
    }
    find_last_readers(audit);
    return analyze_lives(&audit->analysis, &audit->lives, audit->err);
}

static void tell_how_many(struct audit *audit)
{
    for (int i = 0; i < FINDING_CODES; i++) {
        if (audit->n_found[i] > AUDIT_SHOWN) {
            report_add(audit->report, (enum finding_code)i, (struct report_at){NULL, 0, 0},
                       "%" PRIu32 " more of these are not shown", audit->n_found[i] - AUDIT_SHOWN);
        }
    }
}

enum weir_status audit_graph(const struct binding *binding, struct report *report,
                             struct weir_error *err)
{
    struct audit audit = {
        .graph = bind_of(binding), .binding = binding, .report = report, .err = err};
    enum weir_status status = begin(&audit);

    if (status == WEIR_OK) {
        status = audit_bytes(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_storage(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_recompute(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_order(&audit);
    }
    if (status == WEIR_OK) {
        status = audit_windows(&audit);
    }
    if (status == WEIR_OK) {
        audit_evidence(&audit);
        tell_how_many(&audit);
    }
    analyze_free(&audit.analysis);
    free(audit.lives);
    free(audit.last_reader);
    free(audit.stamp);
    return status;
}
