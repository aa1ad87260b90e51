/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --scale and --delay: another graph is simulated than the one that was read. */
#include "graph/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/scenario.h"

#define FINDINGS_KEPT 50

/* NAME=VALUE, parted at the last "=": names may hold one. @return NULL when there is no name */
static const char *value_of(const char *setting, size_t *name_length)
{
    const char *equals = strrchr(setting, '=');

    if (equals == NULL || equals == setting)
        return NULL;
    *name_length = (size_t)(equals - setting);
    return equals + 1;
}

static enum weir_status scale(struct graph *graph, const char *setting, struct weir_error *err)
{
    size_t length;
    const char *value = value_of(setting, &length);
    struct what_if_target target;
    enum number_fault fault;
    double factor;

    if (value == NULL) {
        return weir_error_set(
            err, WEIR_USAGE,
            "--scale %.80s: NODE=FACTOR or CLASS=FACTOR was expected, as in sm=0.5", setting);
    }
    fault = number_ratio(value, strlen(value), &factor);
    if (fault == NUMBER_OK && factor < 0)
        fault = NUMBER_NEGATIVE;
    if (fault != NUMBER_OK) {
        return weir_error_set(
            err, WEIR_USAGE,
            "--scale %.80s: '%.40s' is %s; a factor of 0 or more was expected, as "
            "0.5",
            setting, value, number_fault_text(fault));
    }
    if (what_if_find(graph, setting, length, false, &target, err) != WEIR_OK ||
        what_if_scale(graph, target, factor == 0 ? 0 : factor, err) != WEIR_OK)
        return weir_error_within(err, "--scale %.80s", setting);
    return WEIR_OK;
}

static enum weir_status read_delay(const struct graph *graph, const char *setting,
                                   struct what_if_delay *delay, struct weir_error *err)
{
    size_t length;
    const char *value = value_of(setting, &length);
    struct what_if_target target;
    enum number_fault fault;

    if (value == NULL) {
        return weir_error_set(err, WEIR_USAGE,
                              "--delay %.80s: NODE=TIME was expected, as in load=20us", setting);
    }
    fault = number_time(value, strlen(value), &delay->delay_ns);
    if (fault != NUMBER_OK) {
        return weir_error_set(err, WEIR_USAGE,
                              "--delay %.80s: '%.40s' is %s; a time of 0 or more was expected, as "
                              "20us",
                              setting, value, number_fault_text(fault));
    }
    if (what_if_find(graph, setting, length, true, &target, err) != WEIR_OK)
        return weir_error_within(err, "--delay %.80s", setting);
    delay->node = target.node;
    return WEIR_OK;
}

static enum weir_status delay_all(const struct scenario_request *request, struct graph *graph,
                                  struct report *report, struct weir_error *err)
{
    struct what_if_delay delays[CMD_REPEATS];
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < request->n_delays && status == WEIR_OK; i++)
        status = read_delay(graph, request->delays[i], &delays[i], err);
    if (status != WEIR_OK || request->n_delays == 0)
        return status;
    status = what_if_delay(graph, delays, request->n_delays, report, err);
    return status == WEIR_USAGE ? weir_error_within(err, "--delay") : status;
}

enum weir_status scenario_what_if(const struct scenario_request *request, struct graph *graph,
                                  struct weir_error *err)
{
    struct report *report = report_new(FINDINGS_KEPT);
    enum weir_status status = report == NULL ? weir_error_memory(err) : WEIR_OK;

    for (uint32_t i = 0; i < request->n_scales && status == WEIR_OK; i++)
        status = scale(graph, request->scales[i], err);
    if (status == WEIR_OK)
        status = delay_all(request, graph, report, err);
    if (status == WEIR_OK) {
        graph_check_statements(graph, report);
        if (report_errors(report) != 0) {
            status = weir_error_set(err, WEIR_INPUT,
                                    "the graph is not legal with its lengths scaled and its starts "
                                    "delayed like that");
        }
    }
    if (status == WEIR_INPUT)
        cmd_print_errors(report);
    report_free(report);
    return status;
}
