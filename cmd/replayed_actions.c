/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a replay did its actions: by which mechanisms, in which order on its queues, and with what
 * inserted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cmd/cmd.h"
#include "cmd/replayed_internal.h"
#include "judge/inversions.h"

#define SHOWN_INSERTED 10 /* in the answer for people */

/* ---- mechanisms ---- */

struct counted {
    const char *mechanism;
    uint64_t n_actions;
};

struct counts {
    struct counted *items; /* malloc'ed, in the order in which they are met */
    size_t n, room;
};

static enum weir_status count_mechanisms(const struct run *run, struct counts *out,
                                         struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < run->n_mechanisms && status == WEIR_OK; i++) {
        const char *mechanism = run->mechanisms[i].mechanism;
        size_t at = 0;

        while (at < out->n && strcmp(out->items[at].mechanism, mechanism) != 0)
            at++;
        if (at == out->n) {
            status = array_grow(&out->items, &out->room, out->n + 1, err);
            if (status != WEIR_OK)
                break;
            out->items[out->n++] = (struct counted){mechanism, 0};
        }
        out->items[at].n_actions++;
    }
    return status;
}

/* ---- order ---- */

struct order {
    struct inversion_item *items; /* of actions with a queue, queue after queue */
    size_t *first;                /* by queue, n_queues + 1 */
    uint64_t *n_inverted;         /* by queue */
    uint64_t n_on_engines, n_pairs_on_engines;
};

static void order_free(struct order *order)
{
    free(order->items);
    free(order->first);
    free(order->n_inverted);
}

static void sort_by_queue(const struct run *run, struct order *order)
{
    for (size_t i = 0; i < run->n_actions; i++) {
        if (run->actions[i].queue != WEIR_NONE)
            order->first[run->actions[i].queue + 1]++;
    }
    for (size_t q = 0; q < run->n_queues; q++)
        order->first[q + 1] += order->first[q];
    for (size_t i = 0; i < run->n_actions; i++) {
        const struct run_action *action = &run->actions[i];

        if (action->queue != WEIR_NONE)
            order->items[order->first[action->queue]++] = (struct inversion_item){
                .first = action->planned_position, .second = action->position};
    }
    for (size_t q = run->n_queues; q > 0; q--)
        order->first[q] = order->first[q - 1];
    order->first[0] = 0;
}

/* Its start less what made it late: all but the stretch. */
static int64_t planned_start_ns(const struct run *run, const struct run_action *action)
{
    const struct deviation *parts = &action->deviation;

    return run->timeline->spans[action->node.index].start_ns -
           (parts->dependency_ns + parts->submission_ns + parts->queue_ns);
}

static enum weir_status count_on_engines(const struct run *run, struct order *order,
                                         struct weir_error *err)
{
    struct inversion_item *items = calloc(run->n_actions + 1, sizeof *items);
    enum weir_status status;
    size_t n = 0;

    if (items == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < run->n_actions; i++) {
        const struct run_action *action = &run->actions[i];
        weir_engine engine = graph_node_engine(run->graph, action->node);

        if (weir_is(engine))
            items[n++] = (struct inversion_item){
                .group = engine.index,
                .first = planned_start_ns(run, action),
                .second = run->timeline->spans[action->node.index].start_ns};
    }
    status = count_inversions(items, n, &order->n_on_engines, &order->n_pairs_on_engines, err);
    free(items);
    return status;
}

static enum weir_status find_order(const struct run *run, struct order *order,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint64_t n_pairs;

    *order = (struct order){.items = calloc(run->n_actions + 1, sizeof *order->items),
                            .first = calloc(run->n_queues + 1, sizeof *order->first),
                            .n_inverted = calloc(run->n_queues + 1, sizeof *order->n_inverted)};
    if (order->items == NULL || order->first == NULL || order->n_inverted == NULL)
        return weir_error_memory(err);
    sort_by_queue(run, order);
    for (size_t q = 0; q < run->n_queues && status == WEIR_OK; q++)
        status =
            count_inversions(order->items + order->first[q], order->first[q + 1] - order->first[q],
                             &order->n_inverted[q], &n_pairs, err);
    return status == WEIR_OK ? count_on_engines(run, order, err) : status;
}

/* ---- JSON ---- */

static void json_mechanisms(struct json *json, const struct counts *counts)
{
    json_open_array(json, "mechanisms");
    for (size_t i = 0; i < counts->n; i++) {
        json_open_object(json, NULL);
        json_text(json, "mechanism", counts->items[i].mechanism);
        json_integer(json, "actions", (int64_t)counts->items[i].n_actions);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_inserted(struct json *json, const struct run *run)
{
    json_open_array(json, "inserted");
    for (size_t i = 0; i < run->n_inserted; i++) {
        const struct run_inserted *item = &run->inserted[i];

        json_open_object(json, NULL);
        if (weir_is(item->producer)) {
            json_text(json, "producer", graph_node_name(run->graph, item->producer));
            json_text(json, "counts_from", item->is_from_start ? "start" : "finish");
        } else {
            json_null(json, "producer");
            json_null(json, "counts_from");
        }
        json_text(json, "consumer", graph_node_name(run->graph, item->consumer));
        if (item->not_before_ns >= 0)
            json_integer(json, "not_before_ns", item->not_before_ns);
        else
            json_null(json, "not_before_ns");
        json_text(json, "why", item->why);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_order(struct json *json, const struct run *run, const struct order *order)
{
    json_open_array(json, "queues");
    for (size_t q = 0; q < run->n_queues; q++) {
        json_open_object(json, NULL);
        json_text(json, "queue", run->queues[q]);
        json_integer(json, "actions", (int64_t)(order->first[q + 1] - order->first[q]));
        json_integer(json, "order_inversions", (int64_t)order->n_inverted[q]);
        json_close_object(json);
    }
    json_close_array(json);
    json_integer(json, "order_inversions", (int64_t)order->n_on_engines);
    json_integer(json, "order_pairs", (int64_t)order->n_pairs_on_engines);
}

enum weir_status replayed_json_done(struct json *json, const struct run *run,
                                    struct weir_error *err)
{
    struct counts counts = {.items = NULL};
    struct order order = {.items = NULL};
    enum weir_status status = count_mechanisms(run, &counts, err);

    if (status == WEIR_OK)
        status = find_order(run, &order, err);
    if (status == WEIR_OK) {
        json_mechanisms(json, &counts);
        json_inserted(json, run);
        json_order(json, run, &order);
    }
    free(counts.items);
    order_free(&order);
    return status;
}

static void json_place(struct json *json, const struct run *run, const struct run_action *action)
{
    if (action->queue == WEIR_NONE) {
        json_null(json, "queue");
        json_null(json, "position");
        json_null(json, "planned_position");
    } else {
        json_text(json, "queue", run->queues[action->queue]);
        json_integer(json, "position", action->position);
        json_integer(json, "planned_position", action->planned_position);
    }
    json_integer(json, "submit_ns", action->submit_ns);
}

void replayed_json_actions(struct json *json, const struct run *run)
{
    json_open_array(json, "actions");
    for (size_t i = 0; i < run->n_mechanisms; i++) {
        const struct run_mechanism *mechanism = &run->mechanisms[i];
        const struct run_action *action = replayed_action(run, mechanism->node);

        if (action == NULL)
            continue;
        json_open_object(json, NULL);
        json_text(json, "node", graph_node_name(run->graph, mechanism->node));
        json_text(json, "mechanism", mechanism->mechanism);
        if (mechanism->note == NULL)
            json_null(json, "note");
        else
            json_text(json, "note", mechanism->note);
        json_place(json, run, action);
        json_integer(json, "cost_ns", action->cost_ns);
        replayed_json_parts(json, &action->deviation);
        json_close_object(json);
    }
    json_close_array(json);
}

/* ---- for people ---- */

static void print_inserted(const struct run *run)
{
    char time[REPLAYED_TIME_BYTES];

    printf("inserted       %zu constraints%s\n", run->n_inserted,
           run->n_inserted > SHOWN_INSERTED ? ", the first of them:" : "");
    for (size_t i = 0; i < run->n_inserted && i < SHOWN_INSERTED; i++) {
        const struct run_inserted *item = &run->inserted[i];

        printf("               ");
        cmd_show(stdout, graph_node_name(run->graph, item->consumer));
        if (weir_is(item->producer)) {
            printf(" after the %s of ", item->is_from_start ? "start" : "finish");
            cmd_show(stdout, graph_node_name(run->graph, item->producer));
        } else {
            printf(" not before %s", replayed_time(item->not_before_ns, time));
        }
        printf(": %s\n", item->why);
    }
}

enum weir_status replayed_print_done(const struct run *run, struct weir_error *err)
{
    struct counts counts = {.items = NULL};
    struct order order = {.items = NULL};
    enum weir_status status = count_mechanisms(run, &counts, err);

    if (status == WEIR_OK)
        status = find_order(run, &order, err);
    for (size_t i = 0; status == WEIR_OK && i < counts.n; i++) {
        printf("mechanism      %" PRIu64 " x ", counts.items[i].n_actions);
        cmd_show(stdout, counts.items[i].mechanism);
        putchar('\n');
    }
    if (status == WEIR_OK && replayed_is_known(run)) {
        print_inserted(run);
        printf("order          %" PRIu64 " of %" PRIu64 " pairs on one engine not as planned\n",
               order.n_on_engines, order.n_pairs_on_engines);
        for (size_t q = 0; q < run->n_queues; q++) {
            printf("queue          ");
            cmd_show(stdout, run->queues[q]);
            printf(": %zu actions, %" PRIu64 " pairs not as planned\n",
                   order.first[q + 1] - order.first[q], order.n_inverted[q]);
        }
    }
    free(counts.items);
    order_free(&order);
    return status;
}

static void print_place(const struct run_action *action)
{
    if (action->queue == WEIR_NONE)
        return;
    printf("; place %" PRIu32 ", planned %" PRIu32, action->position + 1,
           action->planned_position + 1);
}

void replayed_print_actions(const struct run *run)
{
    char text[REPLAYED_TIME_BYTES];

    printf("%12s%12s%12s%12s%12s  action: mechanism; place on its queue\n", "cost", "dependency",
           "submission", "queue", "stretch");
    for (size_t i = 0; i < run->n_mechanisms; i++) {
        const struct run_mechanism *mechanism = &run->mechanisms[i];
        const struct run_action *action = replayed_action(run, mechanism->node);

        if (action == NULL)
            continue;
        printf("%12s", replayed_time(action->cost_ns, text));
        printf("%12s", replayed_time(action->deviation.dependency_ns, text));
        printf("%12s", replayed_time(action->deviation.submission_ns, text));
        printf("%12s", replayed_time(action->deviation.queue_ns, text));
        printf("%12s  ", replayed_time(action->deviation.stretch_ns, text));
        cmd_show(stdout, graph_node_name(run->graph, mechanism->node));
        printf(": ");
        cmd_show(stdout, mechanism->mechanism);
        print_place(action);
        if (mechanism->note != NULL) {
            printf("; ");
            cmd_show(stdout, mechanism->note);
        }
        putchar('\n');
    }
}
