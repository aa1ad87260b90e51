/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines: spans by node, and lists that only grow. What the pressure rows of each domain say
 * last is kept beside them, so that a row costs the same however long the run was. */
#include "graph/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* One domain's latest pressure. */
struct timeline_level {
    int64_t bytes;        /* now */
    int64_t bytes_before; /* before the row at t_ns */
    int64_t t_ns;         /* of its latest row */
    bool has_rows;        /* any */
    bool has_before;      /* a row earlier than the one at t_ns */
};

struct timeline *timeline_new(uint32_t n_nodes, uint32_t n_domains)
{
    static const struct timeline_span did_not_run = {.start_ns = -1,
                                                     .finish_ns = -1,
                                                     .isolated_ns = -1,
                                                     .blocker = {WEIR_NONE},
                                                     .order = WEIR_NONE};
    struct timeline *timeline = calloc(1, sizeof *timeline);

    if (timeline == NULL)
        return NULL;
    timeline->n_nodes = n_nodes;
    timeline->n_domains = n_domains;
    timeline->spans = malloc(((size_t)n_nodes + 1) * sizeof *timeline->spans);
    timeline->peak_bytes = calloc((size_t)n_domains + 1, sizeof *timeline->peak_bytes);
    timeline->levels = calloc((size_t)n_domains + 1, sizeof *timeline->levels);
    if (timeline->spans == NULL || timeline->peak_bytes == NULL || timeline->levels == NULL) {
        timeline_free(timeline);
        return NULL;
    }
    for (uint32_t i = 0; i < n_nodes; i++)
        timeline->spans[i] = did_not_run;
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    if (timeline == NULL)
        return;
    free(timeline->spans);
    free(timeline->peak_bytes);
    free(timeline->waits);
    free(timeline->pressures);
    free(timeline->holds);
    free(timeline->induced);
    free(timeline->levels);
    free(timeline);
}

enum weir_status timeline_add_wait(struct timeline *timeline, const struct timeline_wait *wait,
                                   struct weir_error *err)
{
    enum weir_status status =
        array_grow(&timeline->waits, &timeline->waits_room, timeline->n_waits + 1, err);

    if (status == WEIR_OK)
        timeline->waits[timeline->n_waits++] = *wait;
    return status;
}

enum weir_status timeline_add_hold(struct timeline *timeline, const struct timeline_hold *hold,
                                   struct weir_error *err)
{
    enum weir_status status =
        array_grow(&timeline->holds, &timeline->holds_room, timeline->n_holds + 1, err);

    if (status == WEIR_OK)
        timeline->holds[timeline->n_holds++] = *hold;
    return status;
}

enum weir_status timeline_add_induced(struct timeline *timeline,
                                      const struct timeline_induced *induced,
                                      struct weir_error *err)
{
    enum weir_status status =
        array_grow(&timeline->induced, &timeline->induced_room, timeline->n_induced + 1, err);

    if (status == WEIR_OK)
        timeline->induced[timeline->n_induced++] = *induced;
    return status;
}

/* Where the row of this instant and domain stands or belongs: rows of one instant are the last,
 * at most one a domain. */
static size_t place_of(const struct timeline *timeline, const struct timeline_pressure *row)
{
    size_t at = timeline->n_pressures;

    while (at > 0 && timeline->pressures[at - 1].t_ns == row->t_ns &&
           timeline->pressures[at - 1].domain.index >= row->domain.index)
        at--;
    return at;
}

static enum weir_status insert_pressure(struct timeline *timeline,
                                        const struct timeline_pressure *row, struct weir_error *err)
{
    size_t at = place_of(timeline, row);
    enum weir_status status =
        array_grow(&timeline->pressures, &timeline->pressures_room, timeline->n_pressures + 1, err);

    if (status != WEIR_OK)
        return status;
    memmove(&timeline->pressures[at + 1], &timeline->pressures[at],
            (timeline->n_pressures - at) * sizeof *row);
    timeline->pressures[at] = *row;
    timeline->n_pressures++;
    return WEIR_OK;
}

static void remove_pressure(struct timeline *timeline, const struct timeline_pressure *row)
{
    size_t at = place_of(timeline, row);

    timeline->n_pressures--;
    memmove(&timeline->pressures[at], &timeline->pressures[at + 1],
            (timeline->n_pressures - at) * sizeof *row);
}

enum weir_status timeline_add_pressure(struct timeline *timeline,
                                       const struct timeline_pressure *row, struct weir_error *err)
{
    struct timeline_level *level = &timeline->levels[row->domain.index];
    enum weir_status status;

    if (level->has_rows && level->bytes == row->bytes)
        return WEIR_OK;
    if (!level->has_rows || level->t_ns != row->t_ns) {
        status = insert_pressure(timeline, row, err);
        if (status != WEIR_OK)
            return status;
        level->has_before = level->has_rows;
        level->bytes_before = level->bytes;
    } else if (level->has_before && level->bytes_before == row->bytes) {
        /* Back to what it was: nothing changed here. -1 is no time that a row has. */
        remove_pressure(timeline, row);
        level->bytes = row->bytes;
        level->t_ns = -1;
        return WEIR_OK;
    } else {
        timeline->pressures[place_of(timeline, row)].bytes = row->bytes;
    }
    level->has_rows = true;
    level->bytes = row->bytes;
    level->t_ns = row->t_ns;
    return WEIR_OK;
}

#define AHEAD 16 /* nodes: so many memory can fetch at once */

struct start {
    int64_t start_ns;
    uint32_t order;
    weir_node node;
};

static int by_start(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->node.index < b->node.index ? -1 : 1;
}

/* By start, then order, then node. */
static enum weir_status sort_by_start(const struct timeline *timeline, weir_node *order, uint32_t n,
                                      struct weir_error *err)
{
    struct start *starts = malloc(((size_t)n + 1) * sizeof *starts);
    uint32_t at = 0;

    if (starts == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        if (span->start_ns >= 0)
            starts[at++] = (struct start){span->start_ns, span->order, {i}};
    }
    qsort(starts, n, sizeof *starts, by_start);
    for (uint32_t i = 0; i < n; i++)
        order[i] = starts[i].node;
    free(starts);
    return WEIR_OK;
}

/* The nodes by their orders, in the room of all of them. False when those are not 0 to n - 1, each once. */
static bool place_by_order(const struct timeline *timeline, weir_node *order, uint32_t *n)
{
    uint32_t n_placed = 0, end = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++)
        order[i].index = WEIR_NONE;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        if (span->start_ns < 0)
            continue;
        if (span->order >= timeline->n_nodes || weir_is(order[span->order]))
            return false;
        order[span->order].index = i;
        end = span->order >= end ? span->order + 1 : end;
        n_placed++;
    }
    *n = n_placed;
    return end == n_placed;
}

/* Is no start before the one before it? */
static bool is_by_start(const struct timeline *timeline, const weir_node *order, uint32_t n)
{
    int64_t before_ns = 0;

    for (uint32_t i = 0; i < n; i++) {
        int64_t start_ns = timeline->spans[order[i].index].start_ns;
        if (i + AHEAD < n)
            timeline_soon(timeline, order[i + AHEAD]);
        if (start_ns < before_ns)
            return false;
        before_ns = start_ns;
    }
    return true;
}

/* Mostly every node has its place already: its order, when starts rise with it. */
enum weir_status timeline_order(const struct timeline *timeline, weir_node **out,
                                uint32_t *n_started, struct weir_error *err)
{
    uint32_t n = 0;
    weir_node *order = malloc(((size_t)timeline->n_nodes + 1) * sizeof *order);
    enum weir_status status = WEIR_OK;

    if (order == NULL)
        return weir_error_memory(err);
    if (!place_by_order(timeline, order, &n) || !is_by_start(timeline, order, n)) {
        n = 0;
        for (uint32_t i = 0; i < timeline->n_nodes; i++)
            n += timeline->spans[i].start_ns >= 0;
        status = sort_by_start(timeline, order, n, err);
    }
    if (status != WEIR_OK) {
        free(order);
        return status;
    }
    *out = order;
    *n_started = n;
    return WEIR_OK;
}

/* Names. */

static const char *const wait_causes[] = {"none", "engine", "capacity", "admission", "overlap"};
static const char *const time_sources[] = {"simulated", "device", "host", "event"};
static const char *const run_statuses[] = {"complete", "shortage", "deadlock", "failed"};

#define COUNT(names) (sizeof(names) / sizeof *(names))

const char *wait_cause_name(enum wait_cause cause)
{
    return wait_causes[cause];
}

const char *time_source_name(enum time_source source)
{
    return time_sources[source];
}

const char *run_status_name(enum run_status status)
{
    return run_statuses[status];
}

/* The place of the name in the list; n when it is not there. */
static unsigned place_in(const char *const *names, size_t n, const char *name)
{
    unsigned at = 0;

    while (at < n && strcmp(names[at], name) != 0)
        at++;
    return at;
}

bool wait_cause_from(const char *name, enum wait_cause *out)
{
    unsigned at = place_in(wait_causes, COUNT(wait_causes), name);

    if (at == COUNT(wait_causes))
        return false;
    *out = (enum wait_cause)at;
    return true;
}

bool time_source_from(const char *name, enum time_source *out)
{
    unsigned at = place_in(time_sources, COUNT(time_sources), name);

    if (at == COUNT(time_sources))
        return false;
    *out = (enum time_source)at;
    return true;
}

bool run_status_from(const char *name, enum run_status *out)
{
    unsigned at = place_in(run_statuses, COUNT(run_statuses), name);

    if (at == COUNT(run_statuses))
        return false;
    *out = (enum run_status)at;
    return true;
}
