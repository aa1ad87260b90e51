/* SPDX-License-Identifier: GPL-3.0-or-later */
/* During which time something holds, without a gap: an engine is full, nodes of a class run. What holds
 * once an instant has settled holds until the next in which it does not. */
#ifndef WEIR_JUDGE_VERIFY_DURING_H
#define WEIR_JUDGE_VERIFY_DURING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* At that time one more, or one less, of the number of an id. */
struct during_change {
    uint32_t id;
    int by;
    int64_t t_ns;
};

struct during_stretch {
    int64_t from_ns, to_ns;
};

struct during {
    size_t *first; /* by id, n_ids + 1 */
    struct during_stretch *stretches;
};

/** @param changes are sorted  @param least by id: holds while there are so many; NULL: one
 *  @return WEIR_OK, WEIR_MEMORY; the caller frees with during_free, also then */
MUST_CHECK enum weir_status during_make(struct during_change *changes, size_t n_changes,
                                        const int64_t *least, uint32_t n_ids, struct during *out,
                                        struct weir_error *err);
void during_free(struct during *during);
/** @return when the stretch that holds at t_ns ends; t_ns when none does */
int64_t during_until(const struct during *during, uint32_t id, int64_t t_ns);

#endif
