/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized plan made into steps of a device: which queue, which waits, which buffers, how much
 * work. What cannot be done as planned is a deviation with a name, or is refused. */
#ifndef WEIR_REPLAY_SCHEDULE_H
#define WEIR_REPLAY_SCHEDULE_H

#include "graph/bind.h"
#include "replay/lanes.h"
#include "replay/rates.h"
#include "replay/waits.h"

struct schedule_options {
    double scale_time;    /* planned times are multiplied by it; above 0 */
    double scale_bytes;   /* and sizes by this; 0: chosen, so that buffers fit in memory_bytes and
                               each copy of 20 us or more can move its object in its planned time */
    int64_t memory_bytes; /* for all buffers that live at once */
    int64_t host_memory_bytes; /* the same in the host's, where the device has its own; 0: it has
                                  none, and memory_bytes is for all */
    bool forbids_unknown;      /* as in struct waits_options */
    bool unknown_by_factor;
};

/* Where the replay is known not to be able to do what is planned. */
struct schedule_deviation {
    weir_node node; /* none: the run as a whole */
    const char *what;
    int64_t cost_ns;
};

struct schedule {
    const struct graph *graph;
    const struct binding *binding;
    const struct timeline *plan;
    double scale_time, scale_bytes;
    const char *scale_bytes_why; /* when it was chosen: by what */
    struct waits_steps steps;    /* nodes in the order of the plan's starts, then the others */
    struct lanes lanes;
    struct waits waits;
    struct step *step;   /* by step */
    const char **notes;  /* by step: what had to be done beside the action; NULL mostly */
    int64_t *planned_ns; /* by step: its length alone, scaled */
    int64_t makespan_ns; /* planned, scaled */
    struct device_buffer *buffers;
    uint32_t n_buffers;
    struct schedule_deviation *deviations; /* malloc'ed */
    size_t n_deviations, deviations_room;
    struct arena arena;
};

/** Which rates a plan needs. WEIR_INFEASIBLE when the plan did not complete; WEIR_INPUT when it is no
 *  plan: a node ran whose length alone is not known. The caller frees with rates_needs_free. */
MUST_CHECK enum weir_status schedule_needs(const struct graph *graph, const struct timeline *plan,
                                           const struct schedule_options *options,
                                           struct rates_needs *out, struct weir_error *err);

/** Makes the steps. Binding and plan outlive the schedule, which the caller frees.
 *  WEIR_INPUT, WEIR_DEVICE when the plan needs more queues than there can be, WEIR_MEMORY */
MUST_CHECK enum weir_status schedule_make(const struct binding *binding,
                                          const struct timeline *plan,
                                          const struct schedule_options *options,
                                          const struct rates *rates, struct schedule **out,
                                          struct weir_error *err);
void schedule_free(struct schedule *schedule);

/** Adds a deviation; @p what is kept as it is, and must live as long as the schedule. */
MUST_CHECK enum weir_status schedule_deviates(struct schedule *schedule, weir_node node,
                                              const char *what, int64_t cost_ns,
                                              struct weir_error *err);
/** A text that lives as long as the schedule; NULL when memory ran out. */
PRINTF_LIKE(2, 3)
const char *schedule_text(struct schedule *schedule, const char *format, ...);

#endif
