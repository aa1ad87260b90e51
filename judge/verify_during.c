/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes are sorted, and stretches found in one pass; then they are found by bisection. */
#include "judge/verify_during.h"

#include <stdlib.h>

static int by_id_and_time(const void *left, const void *right)
{
    const struct during_change *a = left, *b = right;

    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

enum weir_status during_make(struct during_change *changes, size_t n_changes, const int64_t *least,
                             uint32_t n_ids, struct during *out, struct weir_error *err)
{
    size_t at = 0, n = 0;

    *out = (struct during){calloc((size_t)n_ids + 1, sizeof *out->first),
                           malloc((n_changes + 1) * sizeof *out->stretches)};
    if (out->first == NULL || out->stretches == NULL) {
        return weir_error_memory(err);
    }
    qsort(changes, n_changes, sizeof *changes, by_id_and_time);
    for (uint32_t id = 0; id < n_ids; id++) {
        int64_t count = 0, enough = least == NULL ? 1 : least[id];
        bool holds = false;

        out->first[id] = n;
        while (at < n_changes && changes[at].id == id) {
            int64_t t_ns = changes[at].t_ns;

            for (; at < n_changes && changes[at].id == id && changes[at].t_ns == t_ns; at++) {
                count += changes[at].by;
            }
            if (!holds && count >= enough) {
                out->stretches[n++] = (struct during_stretch){t_ns, INT64_MAX};
            } else if (holds && count < enough) {
                out->stretches[n - 1].to_ns = t_ns;
            }
            holds = count >= enough;
        }
    }
    out->first[n_ids] = n;
    return WEIR_OK;
}

void during_free(struct during *during)
{
    free(during->first);
    free(during->stretches);
}

int64_t during_until(const struct during *during, uint32_t id, int64_t t_ns)
{
    size_t low = during->first[id], high = during->first[id + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (during->stretches[middle].from_ns <= t_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > during->first[id] && during->stretches[low - 1].to_ns > t_ns
               ? during->stretches[low - 1].to_ns
               : t_ns;
}
