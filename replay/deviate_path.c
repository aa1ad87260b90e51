/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The path is walked back from the last finish, from each step to what it followed last. How late a
 * step was ready is how late that was, less the time by which the plan made the step wait longer for
 * something else; so what the links add, with that, is the deviation of the makespan, exactly. */
#include <stdlib.h>
#include <string.h>

#include "replay/deviate_internal.h"

struct path {
    const struct deviating *d;
    struct deviate *out;
    uint32_t *steps; /* by link: its step, last to first */
    bool *is_to_start;
    uint32_t n;
    uint32_t *link_of; /* by node: its link; WEIR_NONE */
};

/* The last to finish; of several the first of the plan. */
static uint32_t last_step(const struct deviating *d)
{
    uint32_t last = WEIR_NONE;

    for (uint32_t s = 0; s < d->schedule->steps.n_started; s++) {
        if (last == WEIR_NONE || d->real[s].finish_ns > d->real[last].finish_ns)
            last = s;
    }
    return last;
}

static void walk(struct path *path)
{
    uint32_t s = last_step(path->d);
    bool is_to_start = false;

    for (; s != WEIR_NONE; s = path->d->real[s].bound_by) {
        path->steps[path->n] = s;
        path->is_to_start[path->n++] = is_to_start;
        is_to_start = path->d->real[s].is_from_start;
    }
}

static int64_t end_ns(const struct step_times *times, bool is_to_start)
{
    return is_to_start ? times->start_ns : times->finish_ns;
}

/* What the link adds. @param number of the link, from the last */
static struct deviation link_deviation(const struct path *path, uint32_t number)
{
    const struct deviating *d = path->d;
    uint32_t s = path->steps[number];
    uint32_t before = d->real[s].bound_by;
    int64_t bound_ns = d->schedule->step[s].release_ns; /* when the plan had over what bound it */
    struct deviation parts = {0, 0, 0, 0};

    if (s < d->schedule->steps.n_started)
        parts = path->out->actions[s].deviation;
    if (path->is_to_start[number])
        parts.stretch_ns = 0;
    if (before != WEIR_NONE)
        bound_ns = end_ns(&d->planned[before], d->real[s].is_from_start) + d->real[s].ready_ns -
                   end_ns(&d->real[before], d->real[s].is_from_start);
    parts.dependency_ns = bound_ns - d->planned[s].ready_ns;
    if (number == 0) /* the plan ended with another action */
        parts.dependency_ns += d->planned[s].finish_ns - d->schedule->makespan_ns;
    return parts;
}

static void fill_links(struct path *path)
{
    struct deviate *out = path->out;

    for (uint32_t i = 0; i < path->n; i++) {
        uint32_t s = path->steps[i];
        const struct step_times *real = &path->d->real[s];
        struct deviate_link *link = &out->links[path->n - 1 - i];

        link->node.index = path->d->schedule->steps.node_of[s];
        link->cause = real->bound_by != WEIR_NONE                  ? DEVIATE_ENGINE
                      : path->d->schedule->step[s].release_ns != 0 ? DEVIATE_RELEASE
                                                                   : DEVIATE_BEGINS;
        link->finish_ns = end_ns(real, path->is_to_start[i]);
        if (real->bound_by != WEIR_NONE)
            link->start_ns = end_ns(&path->d->real[real->bound_by], real->is_from_start);
        link->deviation = link_deviation(path, i);
        out->makespan.dependency_ns += link->deviation.dependency_ns;
        out->makespan.submission_ns += link->deviation.submission_ns;
        out->makespan.queue_ns += link->deviation.queue_ns;
        out->makespan.stretch_ns += link->deviation.stretch_ns;
        path->link_of[link->node.index] = path->n - 1 - i;
    }
    out->n_links = path->n;
}

/* ---- what the links waited for ---- */

/* The link that this edge binds; NULL: none, or something before said what binds it. */
static struct deviate_link *bound_link(const struct path *path, weir_node producer,
                                       weir_node consumer)
{
    uint32_t number = path->link_of[consumer.index];
    struct deviate_link *link = &path->out->links[number == WEIR_NONE ? 0 : number];

    return number != WEIR_NONE && number > 0 && link->cause == DEVIATE_ENGINE &&
                   weir_same(path->out->links[number - 1].node, producer)
               ? link
               : NULL;
}

static void name_link(struct deviate_link *link, enum deviate_cause cause, const char *via)
{
    if (link == NULL)
        return;
    link->cause = cause;
    link->via = via;
}

static void name_inserted(const struct path *path)
{
    const struct waits *waits = &path->d->schedule->waits;

    for (size_t i = 0; i < waits->n_inserted; i++) {
        const struct waits_inserted *item = &waits->inserted[i];
        uint32_t number = path->link_of[item->consumer.index];

        if (item->why == INSERTED_QUEUE || number == WEIR_NONE)
            continue;
        if (weir_is(item->producer))
            name_link(bound_link(path, item->producer, item->consumer), DEVIATE_INSERTED,
                      inserted_why_text(item->why));
        else if (path->out->links[number].cause == DEVIATE_RELEASE)
            name_link(&path->out->links[number], DEVIATE_INSERTED, inserted_why_text(item->why));
    }
}

/* The graph's own edges come first; that the two also share a queue says less. */
static void name_links(const struct path *path)
{
    const struct schedule *schedule = path->d->schedule;
    const struct bind_edge *implied = bind_edges(schedule->binding);

    for (uint32_t i = 0; i < graph_n_edges(schedule->graph); i++) {
        struct graph_edge edge;

        graph_edge(schedule->graph, (weir_edge){i}, &edge);
        name_link(bound_link(path, edge.producer, edge.consumer), DEVIATE_PREDECESSOR,
                  edge_type_name(edge.type));
    }
    for (uint32_t i = 0; i < bind_n_edges(schedule->binding); i++)
        name_link(bound_link(path, implied[i].producer, implied[i].consumer), DEVIATE_PREDECESSOR,
                  edge_type_name(implied[i].type));
    for (size_t i = 0; i < schedule->plan->n_induced; i++)
        name_link(bound_link(path, schedule->plan->induced[i].producer,
                             schedule->plan->induced[i].consumer),
                  DEVIATE_CAPACITY, edge_type_name(EDGE_CAPACITY_WAIT));
    name_inserted(path);
}

enum weir_status deviate_path(const struct deviating *d, struct arena *arena, struct deviate *out,
                              struct weir_error *err)
{
    size_t n = d->schedule->steps.n_steps + (size_t)1;
    struct path path = {.d = d,
                        .out = out,
                        .steps = malloc(n * sizeof *path.steps),
                        .is_to_start = malloc(n * sizeof *path.is_to_start),
                        .link_of = malloc(n * sizeof *path.link_of)};
    enum weir_status status = WEIR_OK;

    if (path.steps == NULL || path.is_to_start == NULL || path.link_of == NULL) {
        status = weir_error_memory(err);
    } else {
        memset(path.link_of, 0xff, n * sizeof *path.link_of);
        walk(&path);
        out->links = arena_array(arena, path.n, sizeof *out->links);
        if (out->links == NULL)
            status = weir_error_memory(err);
    }
    if (status == WEIR_OK && path.n > 0) {
        fill_links(&path);
        name_links(&path);
    }
    free(path.steps);
    free(path.is_to_start);
    free(path.link_of);
    return status;
}
