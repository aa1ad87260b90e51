/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the slices of one timeline go. */
#ifndef WEIR_TRACES_CHROME_INTERNAL_H
#define WEIR_TRACES_CHROME_INTERNAL_H

#include "traces/chrome.h"

/* A slice as it is drawn; one for each node that ran and reaches into the window. */
struct chrome_slice {
    uint32_t node;
    uint32_t thread;          /* of the threads below */
    int64_t start_ns, end_ns; /* start < end; apart from other slices of the thread */
};

/* A lane of an engine. */
struct chrome_thread {
    weir_engine engine; /* none: nodes without one */
    bool is_instants;
    uint32_t number; /* from 1 among those of its engine and sort */
};

struct chrome_layout {
    struct chrome_slice *slices; /* by thread, then start */
    uint32_t *slice_of;          /* by node: index of its slice; UINT32_MAX: none */
    struct chrome_thread *threads;
    uint32_t n_slices;
    size_t n_threads, threads_room;
};

/** Finds a thread and a place for each slice. The caller frees with chrome_layout_free, also after a
 *  failure (WEIR_MEMORY). */
MUST_CHECK enum weir_status chrome_layout_make(const struct chrome_timeline *timeline,
                                               const struct chrome_options *options,
                                               struct chrome_layout *out, struct weir_error *err);
void chrome_layout_free(struct chrome_layout *layout);

#endif
