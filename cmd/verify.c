/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir verify: holds a run of the store against its graph and its machine. */
#include "judge/verify.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "policies/registry.h"

extern const struct cmd_verb cmd_verb_verify;

static const char usage[] =
    "usage: weir verify RUN [--tolerance TIME | --tolerance-ratio R] [--db FILE] [--json]\n\n"
    "Holds a run against its graph and its machine, with code of its own: order, engines, "
    "overlaps,\n"
    "lifetimes, capacity, what each node did while it ran, waits and their causes, who starts "
    "first,\n"
    "induced edges, the critical chain, and the tables of the store. Of a replay or a recording "
    "only\n"
    "what a device has to keep; what is not checked is told. A RUN is a number of `weir runs`, or\n"
    "latest, sim, replay or recorded: the newest of that kind.\n\n"
    "  --tolerance TIME     of a replay or a recording: so much sooner than what it waits for lets "
    "it\n"
    "                       may a node start, and so long may two share a slot (1us)\n"
    "  --tolerance-ratio R  the same as a part of the makespan\n"
    "  --db FILE            the file that holds the runs (weir.db)\n"
    "  --json               answer with one JSON object\n\n"
    "exit status: 0 nothing is wrong; 1 something is\n\n"
    "example:\n"
    "  weir verify latest\n";

#define TOLERANCE_NS 1000

struct request {
    const char *tolerance, *ratio;
    struct cmd_common common;
    struct verify_options options;
};

static enum weir_status read_options(struct request *request, struct weir_error *err)
{
    struct verify_options *options = &request->options;

    if (request->tolerance != NULL && request->ratio != NULL) {
        return weir_error_set(err, WEIR_USAGE,
                              "--tolerance and --tolerance-ratio: one of the two was expected");
    }
    options->tolerance_ns = request->ratio == NULL ? TOLERANCE_NS : 0;
    if (request->tolerance != NULL && number_time(request->tolerance, strlen(request->tolerance),
                                                  &options->tolerance_ns) != NUMBER_OK) {
        return weir_error_set(err, WEIR_USAGE,
                              "--tolerance %.80s: a time was expected, such as 10us",
                              request->tolerance);
    }
    if (request->ratio != NULL && (number_ratio(request->ratio, strlen(request->ratio),
                                                &options->tolerance_ratio) != NUMBER_OK ||
                                   options->tolerance_ratio < 0 || options->tolerance_ratio > 1)) {
        return weir_error_set(
            err, WEIR_USAGE,
            "--tolerance-ratio %.80s: a part of the makespan was expected, from 0 "
            "to 1, such as 0.001",
            request->ratio);
    }
    return WEIR_OK;
}

/* One that Weir does not have may do anything. */
static bool is_steered(const char *name)
{
    const struct weir_policy *const *policies = policy_registry();

    for (size_t i = 0; policies[i] != NULL; i++) {
        if (strcmp(policies[i]->name, name) == 0) {
            return policies[i]->admit != NULL || policies[i]->on_event != NULL;
        }
    }
    return true;
}

static enum weir_status verify_stored(struct request *request, const char *name,
                                      struct stored_run *stored, bool *is_read,
                                      struct verify_result *result, struct weir_error *err)
{
    struct store *store;
    int64_t run_id = 0;
    enum weir_status status = store_open(request->common.db, true, &store, err);

    if (status != WEIR_OK) {
        return status;
    }
    status = store_resolve_run(store, name, &run_id, err);
    if (status == WEIR_OK) {
        status = store_read_run(store, run_id, stored, err);
        *is_read = status == WEIR_OK;
    }
    if (status == WEIR_OK) {
        request->options.is_steered = is_steered(stored->run.policy);
        status = verify_run(&stored->run, &request->options, result, err);
    }
    if (status == WEIR_OK) {
        status = verify_views(store, &stored->run, result, err);
    }
    store_close(store);
    return status;
}

/* ---- answers ---- */

/* Nothing was looked at: that is no pass. */
static const char *skipped(const struct verify_check *check)
{
    return check->skipped == NULL && check->n_checked == 0 ? "the run has nothing of the kind"
                                                           : check->skipped;
}

static const char *outcome(const struct verify_check *check)
{
    return check->n_findings > 0 ? "failed" : check->n_checked > 0 ? "passed" : "skipped";
}

static void json_name(struct json *json, const char *key, bool is_there, const char *name)
{
    if (is_there) {
        json_text(json, key, name);
    } else {
        json_null(json, key);
    }
}

static void json_checks(struct json *json, const struct verify_result *result)
{
    json_open_array(json, "checks");
    for (int i = 0; i < VERIFY_CHECKS; i++) {
        const struct verify_check *check = &result->checks[i];

        json_open_object(json, NULL);
        json_text(json, "name", verify_check_name((enum verify_check_id)i));
        json_text(json, "outcome", outcome(check));
        json_integer(json, "checked", check->n_checked);
        json_integer(json, "findings", check->n_findings);
        json_name(json, "skipped", skipped(check) != NULL, skipped(check));
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_finding(struct json *json, const struct graph *graph,
                         const struct verify_finding *finding)
{
    bool has_object = weir_is(finding->object), has_domain = weir_is(finding->domain);

    json_open_object(json, NULL);
    json_text(json, "code", verify_code_name(finding->code));
    json_text(json, "check", verify_check_name(verify_code_check(finding->code)));
    if (finding->t_ns < 0) {
        json_null(json, "t_ns");
    } else {
        json_integer(json, "t_ns", finding->t_ns);
    }
    json_open_array(json, "nodes");
    if (weir_is(finding->node)) {
        json_text(json, NULL, graph_node_name(graph, finding->node));
    }
    if (weir_is(finding->other)) {
        json_text(json, NULL, graph_node_name(graph, finding->other));
    }
    json_close_array(json);
    json_name(json, "object", has_object,
              has_object ? graph_object_name(graph, finding->object) : NULL);
    json_name(json, "domain", has_domain,
              has_domain ? graph_text(graph, graph_domain(graph, finding->domain)->name) : NULL);
    json_text(json, "message", finding->message);
    json_close_object(json);
}

static void answer_json(const struct request *request, const struct run *run,
                        const struct verify_result *result)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_integer(&json, "run", run->id);
    json_text(&json, "kind", run_kind_name(run->kind));
    json_text(&json, "status", run_status_name(run->timeline->status));
    json_boolean(&json, "is_right", result->n_wrong == 0);
    json_integer(&json, "tolerance_ns", run->kind == RUN_SIM ? 0 : request->options.tolerance_ns);
    json_ratio(&json, "tolerance_ratio",
               run->kind == RUN_SIM ? 0 : request->options.tolerance_ratio);
    json_checks(&json, result);
    json_integer(&json, "n_findings", result->n_wrong);
    json_open_array(&json, "findings");
    for (size_t i = 0; i < result->n_findings; i++) {
        json_finding(&json, run->graph, &result->findings[i]);
    }
    json_close_array(&json);
    json_close_object(&json);
}

static void print_findings(const struct verify_result *result)
{
    for (size_t i = 0; i < result->n_findings; i++) {
        const struct verify_finding *finding = &result->findings[i];

        printf("\n%s/%s: ", verify_check_name(verify_code_check(finding->code)),
               verify_code_name(finding->code));
        cmd_show(stdout, finding->message);
    }
    if (result->n_wrong > (int64_t)result->n_findings) {
        printf("\nand %" PRId64 " more", result->n_wrong - (int64_t)result->n_findings);
    }
    if (result->n_wrong > 0) {
        putchar('\n');
    }
}

static void answer_text(const struct request *request, const struct run *run,
                        const struct verify_result *result)
{
    printf("run %" PRId64 ", %s of ", run->id, run_kind_name(run->kind));
    cmd_show(stdout, run->graph_name);
    printf(", %s: %s\n", run_status_name(run->timeline->status),
           result->n_wrong == 0 ? "nothing is wrong" : "not what its graph and its machine make");
    for (int i = 0; i < VERIFY_CHECKS && !request->common.is_quiet; i++) {
        const struct verify_check *check = &result->checks[i];

        printf("  %-10s %-8s", verify_check_name((enum verify_check_id)i), outcome(check));
        if (check->n_findings > 0) {
            printf(" %" PRId64 " wrong of", check->n_findings);
        }
        if (check->n_checked > 0) {
            printf(" %" PRId64 " checked", check->n_checked);
        }
        if (skipped(check) != NULL) {
            printf("%s %s", check->n_checked > 0 ? "; not" : "", skipped(check));
        }
        putchar('\n');
    }
    print_findings(result);
}

static enum weir_status answer(const struct request *request, const struct run *run,
                               const struct verify_result *result, struct weir_error *err)
{
    if (request->common.is_json) {
        answer_json(request, run, result);
    } else if (!request->common.is_quiet || result->n_wrong > 0) {
        answer_text(request, run, result);
    }
    if (result->n_wrong == 0) {
        return WEIR_OK;
    }
    return weir_error_set(
        err, WEIR_NO,
        "run %" PRId64 " is not what its graph and its machine make: %" PRId64
        " finding%s; simulate it again, and if that is wrong too, it is a fault of "
        "Weir worth a report",
        run->id, result->n_wrong, result->n_wrong == 1 ? "" : "s");
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request request = {.tolerance = NULL};
    const struct cmd_option options[] = {
        {.name = "--tolerance", .takes_value = true, .value = &request.tolerance},
        {.name = "--tolerance-ratio", .takes_value = true, .value = &request.ratio},
        {.name = NULL},
    };
    struct stored_run stored;
    struct verify_result result = {.findings = NULL};
    bool is_done, is_read = false;
    const char *name;
    uint32_t n_operands;
    enum weir_status status = cmd_parse(&cmd_verb_verify, argc, argv, options, &request.common,
                                        &name, 1, 1, &n_operands, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done) {
        return status;
    }
    status = read_options(&request, err);
    if (status == WEIR_OK) {
        status = verify_stored(&request, name, &stored, &is_read, &result, err);
    }
    if (status == WEIR_OK) {
        status = answer(&request, &stored.run, &result, err);
    }
    verify_free(&result);
    if (is_read) {
        stored_run_free(&stored);
    }
    return status;
}

const struct cmd_verb cmd_verb_verify = {
    .name = "verify",
    .summary = "holds a run against its graph and its machine",
    .usage = usage,
    .run = run,
};
