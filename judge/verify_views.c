/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that users read, row by row, against the run as it is read whole: two ways through the
 * store that must end in the same. And how long classes ran at once, which is in a table only. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge/verify_internal.h"

/* Takes the rows of one table. */
struct view {
    struct verify *verify;
    const struct run *run;
    const char *name;
    weir_node *order;
    uint32_t n_started;
    size_t at; /* rows so far */
    bool has_head;
    /* Says whether row `at` of the run is that; NULL when the run has no such row. */
    bool (*is_same)(const struct view *view, size_t at, const char *const *values);
    size_t n;
    int64_t *class_ns;  /* by pair of classes: how long they ran at once */
    const char *wanted; /* what was expected, of the last comparison */
};

static bool is_number(const char *value, int64_t number, bool is_there)
{
    char text[24];

    if (value == NULL || !is_there) {
        return value == NULL && !is_there;
    }
    (void)snprintf(text, sizeof text, "%" PRId64, number);
    return strcmp(value, text) == 0;
}

static bool is_id(const char *value, uint32_t id)
{
    return is_number(value, id, id != NONE);
}

static bool is_text(const char *value, const char *text)
{
    return value == NULL || text == NULL ? value == text : strcmp(value, text) == 0;
}

static bool is_object(const struct view *view, const char *value, weir_object object)
{
    return is_text(value, weir_is(object) ? graph_object_name(view->run->graph, object) : NULL);
}

static bool is_domain(const struct view *view, const char *value, weir_domain domain)
{
    return is_text(value,
                   graph_text(view->run->graph, graph_domain(view->run->graph, domain)->name));
}

/* node_id, name, kind, engine, class, ready_ns, start_ns, finish_ns, isolated_ns, wait_cause, blocker,
 * time_source, start_order */
static bool is_span(const struct view *view, size_t at, const char *const *values)
{
    weir_node node = view->order[at];
    const struct timeline_span *span = &view->run->timeline->spans[node.index];

    return is_id(values[0], node.index) &&
           is_text(values[1], graph_node_name(view->run->graph, node)) &&
           is_number(values[5], span->ready_ns, true) &&
           is_number(values[6], span->start_ns, true) &&
           is_number(values[7], span->finish_ns, span->finish_ns >= 0) &&
           is_number(values[8], span->isolated_ns, span->isolated_ns >= 0) &&
           is_text(values[9], wait_cause_name((enum wait_cause)span->cause)) &&
           is_id(values[10], span->blocker.index) &&
           is_text(values[11], time_source_name((enum time_source)span->source)) &&
           is_id(values[12], span->order);
}

/* node_id, cause, blocker, from_ns, to_ns, object */
static bool is_wait(const struct view *view, size_t at, const char *const *values)
{
    const struct timeline_wait *wait = &view->run->timeline->waits[at];

    return is_id(values[0], wait->node.index) && is_text(values[1], wait_cause_name(wait->cause)) &&
           is_id(values[2], wait->blocker.index) && is_number(values[3], wait->from_ns, true) &&
           is_number(values[4], wait->to_ns, true) && is_object(view, values[5], wait->object);
}

/* domain, t_ns, bytes */
static bool is_pressure(const struct view *view, size_t at, const char *const *values)
{
    const struct timeline_pressure *row = &view->run->timeline->pressures[at];

    return is_domain(view, values[0], row->domain) && is_number(values[1], row->t_ns, true) &&
           is_number(values[2], row->bytes, true);
}

/* domain, object, acquire_ns, release_ns, bytes, node_id */
static bool is_hold(const struct view *view, size_t at, const char *const *values)
{
    const struct timeline_hold *hold = &view->run->timeline->holds[at];

    return is_domain(view, values[0], hold->domain) &&
           (!weir_is(hold->object) || is_object(view, values[1], hold->object)) &&
           is_number(values[2], hold->acquire_ns, true) &&
           is_number(values[3], hold->release_ns, hold->release_ns >= 0) &&
           is_number(values[4], hold->bytes, true) && is_id(values[5], hold->node.index);
}

/* domain, bytes */
static bool is_peak(const struct view *view, size_t at, const char *const *values)
{
    return is_domain(view, values[0], (weir_domain){(uint32_t)at}) &&
           is_number(values[1], view->run->timeline->peak_bytes[at], true);
}

/* position, node_id, cause, via, start_ns, finish_ns, ... */
static bool is_link(const struct view *view, size_t at, const char *const *values)
{
    const struct run_link *link = &view->run->links[at];

    return is_number(values[0], (int64_t)at, true) && is_id(values[1], link->node.index) &&
           is_text(values[2], link->cause) && is_text(values[3], link->via) &&
           is_number(values[4], link->start_ns, true) &&
           is_number(values[5], link->finish_ns, true);
}

static enum weir_status take_row(void *arg, uint32_t n_values, const char *const *values,
                                 struct weir_error *err)
{
    struct view *view = arg;

    (void)n_values;
    (void)err;
    if (!view->has_head) {
        view->has_head = true; /* the names of the columns */
        return WEIR_OK;
    }
    if (view->at >= view->n || !view->is_same(view, view->at, values)) {
        verify_add(view->verify, verify_at(VERIFY_VIEW, NONE, -1),
                   "row %zu of the table %s (%s, %s, ...) is not what the run says", view->at,
                   view->name, values[0] == NULL ? "NULL" : values[0],
                   values[1] == NULL ? "NULL" : values[1]);
    }
    view->at++;
    verify_checked(view->verify, VERIFY_CHECK_VIEWS, 1);
    return WEIR_OK;
}

static enum weir_status check_table(struct store *store, struct view *view, struct weir_error *err)
{
    enum weir_status status =
        store_read_table(store, view->name, &view->run->id, 1, take_row, view, err);

    if (status == WEIR_OK && view->at < view->n) {
        verify_add(view->verify, verify_at(VERIFY_VIEW, NONE, -1),
                   "the table %s has %zu rows, and the run makes %zu", view->name, view->at,
                   view->n);
    }
    return status;
}

static enum weir_status check_tables(struct store *store, struct verify *verify,
                                     struct weir_error *err)
{
    const struct run *run = verify->run;
    const struct timeline *timeline = run->timeline;
    const struct view views[] = {
        {.name = "spans", .is_same = is_span, .n = verify->n_started},
        {.name = "waits", .is_same = is_wait, .n = timeline->n_waits},
        {.name = "pressure", .is_same = is_pressure, .n = timeline->n_pressures},
        {.name = "holds", .is_same = is_hold, .n = timeline->n_holds},
        {.name = "peaks", .is_same = is_peak, .n = timeline->n_domains},
        {.name = "chain", .is_same = is_link, .n = run->n_links},
    };
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < sizeof views / sizeof *views && status == WEIR_OK; i++) {
        struct view view = views[i];

        view.verify = verify;
        view.run = run;
        view.order = verify->order;
        status = check_table(store, &view, err);
    }
    return status;
}

enum weir_status verify_views(struct store *store, const struct run *run,
                              struct verify_result *result, struct weir_error *err)
{
    struct verify verify = {
        .run = run, .graph = run->graph, .timeline = run->timeline, .result = result, .err = err};
    enum weir_status status = timeline_order(run->timeline, &verify.order, &verify.n_started, err);

    if (status == WEIR_OK) {
        status = check_tables(store, &verify, err);
    }
    free(verify.order);
    verify_sort(result);
    return status == WEIR_OK && verify.is_out_of_memory ? weir_error_memory(err) : status;
}
