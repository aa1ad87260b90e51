/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a replay was from its plan: of the makespan, and of the actions that cost it most. */
#include "cmd/replayed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/replayed_internal.h"

#define LAUNCH_BOUND_PART 10 /* the submission part is more than one in so many */

bool replayed_is_known(const struct run *run)
{
    return run->n_actions > 0 && run->n_links > 0;
}

/* A run that was edited by hand may hold what adds up to no number: it wraps around. */
static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct deviation sum_of_links(const struct run *run)
{
    struct deviation sum = {0, 0, 0, 0};

    for (size_t i = 0; i < run->n_links; i++) {
        const struct deviation *parts = &run->links[i].deviation;

        sum.dependency_ns = plus(sum.dependency_ns, parts->dependency_ns);
        sum.submission_ns = plus(sum.submission_ns, parts->submission_ns);
        sum.queue_ns = plus(sum.queue_ns, parts->queue_ns);
        sum.stretch_ns = plus(sum.stretch_ns, parts->stretch_ns);
    }
    return sum;
}

static int64_t whole_ns(const struct deviation *parts)
{
    return plus(plus(parts->dependency_ns, parts->submission_ns),
                plus(parts->queue_ns, parts->stretch_ns));
}

static bool is_launch_bound(const struct run *run, const struct deviation *parts)
{
    return parts->submission_ns > run->timeline->makespan_ns / LAUNCH_BOUND_PART;
}

static int compare_actions(const void *key, const void *action)
{
    uint32_t node = *(const uint32_t *)key;
    uint32_t other = ((const struct run_action *)action)->node.index;

    return node < other ? -1 : node > other;
}

const struct run_action *replayed_action(const struct run *run, weir_node node)
{
    return run->n_actions == 0 ? NULL
                               : bsearch(&node.index, run->actions, run->n_actions,
                                         sizeof *run->actions, compare_actions);
}

/* ---- JSON ---- */

void replayed_json_parts(struct json *json, const struct deviation *parts)
{
    json_integer(json, "deviation_ns", whole_ns(parts));
    json_integer(json, "dependency_ns", parts->dependency_ns);
    json_integer(json, "submission_ns", parts->submission_ns);
    json_integer(json, "queue_ns", parts->queue_ns);
    json_integer(json, "stretch_ns", parts->stretch_ns);
}

static void json_no_parts(struct json *json)
{
    static const char *const keys[] = {"deviation_ns", "dependency_ns", "submission_ns", "queue_ns",
                                       "stretch_ns"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_null(json, keys[i]);
}

void replayed_json_makespan(struct json *json, const struct run *run)
{
    struct deviation sum = sum_of_links(run);

    if (!replayed_is_known(run)) {
        json_null(json, "deviation");
        return;
    }
    json_open_object(json, "deviation");
    replayed_json_parts(json, &sum);
    json_boolean(json, "is_launch_bound", is_launch_bound(run, &sum));
    json_integer(json, "links", (int64_t)run->n_links);
    json_close_object(json);
}

void replayed_json_chain(struct json *json, const struct run *run)
{
    json_open_array(json, "chain");
    for (size_t i = 0; i < run->n_links; i++) {
        const struct run_link *link = &run->links[i];

        json_open_object(json, NULL);
        json_text(json, "node", graph_node_name(run->graph, link->node));
        json_text(json, "cause", link->cause);
        if (link->via == NULL)
            json_null(json, "via");
        else
            json_text(json, "via", link->via);
        json_integer(json, "start_ns", link->start_ns);
        json_integer(json, "finish_ns", link->finish_ns);
        replayed_json_parts(json, &link->deviation);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_deviation(struct json *json, const struct run *run,
                           const struct run_deviation *deviation)
{
    const struct run_action *action =
        weir_is(deviation->node) ? replayed_action(run, deviation->node) : NULL;

    json_open_object(json, NULL);
    if (weir_is(deviation->node))
        json_text(json, "node", graph_node_name(run->graph, deviation->node));
    else
        json_null(json, "node");
    json_text(json, "what", deviation->what);
    json_integer(json, "cost_ns", deviation->cost_ns);
    if (action == NULL)
        json_no_parts(json);
    else
        replayed_json_parts(json, &action->deviation);
    json_close_object(json);
}

void replayed_json_deviations(struct json *json, const struct run *run, size_t n_nodes)
{
    size_t n = 0;

    json_open_array(json, "deviations");
    for (size_t i = 0; i < run->n_deviations && n < n_nodes; i++) {
        if (!weir_is(run->deviations[i].node) && n_nodes != SIZE_MAX)
            continue;
        json_deviation(json, run, &run->deviations[i]);
        n++;
    }
    json_close_array(json);
}

void replayed_json_remarks(struct json *json, const struct run *run)
{
    json_open_array(json, "remarks");
    for (size_t i = 0; i < run->n_deviations; i++) {
        if (!weir_is(run->deviations[i].node))
            json_text(json, NULL, run->deviations[i].what);
    }
    json_close_array(json);
}

/* ---- for people ---- */

const char *replayed_time(int64_t ns, char out[REPLAYED_TIME_BYTES])
{
    if (ns >= 0) {
        number_time_text(ns, out);
        return out;
    }
    number_time_text(ns == INT64_MIN ? INT64_MAX : -ns, out + 1);
    out[0] = '-';
    return out;
}

void replayed_print_makespan(const char *label, const struct run *run)
{
    struct deviation sum = sum_of_links(run);
    char whole[REPLAYED_TIME_BYTES], dependency[REPLAYED_TIME_BYTES];
    char submission[REPLAYED_TIME_BYTES], queue[REPLAYED_TIME_BYTES], stretch[REPLAYED_TIME_BYTES];

    if (!replayed_is_known(run))
        return;
    printf("%s%s: dependency %s, submission %s, queue %s, stretch %s, along %zu links of the "
           "critical chain%s\n",
           label, replayed_time(whole_ns(&sum), whole),
           replayed_time(sum.dependency_ns, dependency),
           replayed_time(sum.submission_ns, submission), replayed_time(sum.queue_ns, queue),
           replayed_time(sum.stretch_ns, stretch), run->n_links,
           is_launch_bound(run, &sum) ? "; launch-bound" : "");
}

static void print_deviation(const struct run *run, const struct run_deviation *deviation)
{
    const struct run_action *action = replayed_action(run, deviation->node);
    static const struct deviation none;
    const struct deviation *parts = action == NULL ? &none : &action->deviation;
    const int64_t columns_ns[] = {deviation->cost_ns, parts->dependency_ns, parts->submission_ns,
                                  parts->queue_ns, parts->stretch_ns};
    char text[REPLAYED_TIME_BYTES];

    for (size_t i = 0; i < sizeof columns_ns / sizeof *columns_ns; i++)
        printf("%12s", replayed_time(columns_ns[i], text));
    printf("  ");
    cmd_show(stdout, graph_node_name(run->graph, deviation->node));
    printf(": %s\n", deviation->what);
}

void replayed_print_deviations(const struct run *run)
{
    size_t n_nodes = 0;

    for (size_t i = 0; i < run->n_deviations && n_nodes < REPLAYED_WORST; i++) {
        if (!weir_is(run->deviations[i].node) || !replayed_is_known(run))
            continue;
        if (n_nodes++ == 0)
            printf("%12s%12s%12s%12s%12s  action\n", "cost", "dependency", "submission", "queue",
                   "stretch");
        print_deviation(run, &run->deviations[i]);
    }
    for (size_t i = 0; i < run->n_deviations; i++) {
        if (!weir_is(run->deviations[i].node))
            printf("  %s\n", run->deviations[i].what);
    }
}
