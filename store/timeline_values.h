/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lists of a timeline that there are many rows of, each with its table of blocks. */
#ifndef WEIR_STORE_TIMELINE_VALUES_H
#define WEIR_STORE_TIMELINE_VALUES_H

#include "store/packed.h"
#include "store/store.h"

#define TIMELINE_LISTS 5
#define TIMELINE_FIELDS 7 /* at most */

/* Rows of a block: by field, and then by their place. */
typedef int64_t timeline_values[TIMELINE_FIELDS][PACKED_ROWS];

struct timeline_list {
    /* From weir_rows, and of the run ?1 in order: the key, how many rows the block has, then base and
     * digits of each field. */
    const char *insert, *select;
    unsigned n_fields;
    bool may_be_null[TIMELINE_FIELDS];
    size_t (*count)(const struct timeline *timeline);
    /* The fields of a row of the run's list, to place i of a block. */
    void (*get)(const struct run *run, size_t row, unsigned i, timeline_values values);
    /* And from there to the timeline, row after row. */
    enum weir_status (*take)(struct timeline *timeline, size_t row, unsigned i,
                             timeline_values values, struct weir_error *err);
};

extern const struct timeline_list timeline_lists[TIMELINE_LISTS];

#endif
