/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir policies: which there are, and what each can be told. */
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "policies/registry.h"

extern const struct cmd_verb cmd_verb_policies;

static const char usage[] = "usage: weir policies [./PLUGIN.so...] [--json]\n\n"
                            "Lists the policies that --policy takes, each with its parameters "
                            "(--set NAME=VALUE). A plug-in\n"
                            "is named by a path with a slash: --policy ./mine.so; weir-policy(3) "
                            "shows how to write one.\n\n"
                            "example:\n"
                            "  weir policies --json\n";

static void print_policy(const struct weir_policy *policy)
{
    printf("%-12s %s%s\n", policy->name, policy->summary,
           policy->needs_recording ? " [reads a recording]" : "");
    for (const struct weir_param *at = policy->params; at != NULL && at->name != NULL; at++) {
        printf("    %s=%g%s%s, from %g to %g: %s\n", at->name, at->default_value,
               at->unit[0] == '\0' ? "" : " ", at->unit, at->least, at->greatest, at->description);
    }
}

static void write_policy(struct json *json, const struct weir_policy *policy)
{
    json_open_object(json, NULL);
    json_text(json, "name", policy->name);
    json_text(json, "summary", policy->summary);
    json_integer(json, "interface_version", policy->version);
    json_boolean(json, "needs_recording", policy->needs_recording);
    json_open_array(json, "parameters");
    for (const struct weir_param *at = policy->params; at != NULL && at->name != NULL; at++) {
        json_open_object(json, NULL);
        json_text(json, "name", at->name);
        json_text(json, "unit", at->unit);
        json_text(json, "description", at->description);
        json_ratio(json, "default", at->default_value);
        json_ratio(json, "least", at->least);
        json_ratio(json, "greatest", at->greatest);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void show(struct json *json, bool is_json, const struct weir_policy *policy)
{
    if (is_json) {
        write_policy(json, policy);
    } else {
        print_policy(policy);
    }
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    const struct cmd_option options[] = {{.name = NULL}};
    const char *plugins[CMD_REPEATS];
    struct cmd_common common;
    struct json json = {.file = stdout};
    uint32_t n_plugins;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_policies, argc, argv, options, &common, plugins,
                                        0, CMD_REPEATS, &n_plugins, &is_done, err);

    (void)context;
    if (status != WEIR_OK || is_done) {
        return status;
    }
    if (common.is_json) {
        json_open_object(&json, NULL);
        json_open_array(&json, "policies");
    }
    for (const struct weir_policy *const *at = policy_registry(); *at != NULL; at++) {
        show(&json, common.is_json, *at);
    }
    for (uint32_t i = 0; i < n_plugins && status == WEIR_OK; i++) {
        const struct weir_policy *policy;

        status = policy_find(plugins[i], &policy, err);
        if (status == WEIR_OK) {
            show(&json, common.is_json, policy);
        }
    }
    if (common.is_json) {
        json_close_array(&json);
        json_close_object(&json);
    }
    return status;
}

const struct cmd_verb cmd_verb_policies = {"policies", "list the policies and their parameters",
                                           usage, run};
