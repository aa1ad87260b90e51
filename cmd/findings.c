/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as JSON, and what settings of a run say about who may slow whom. */
#include "cmd/findings.h"

#include "graph/measured.h"
#include "judge/modes.h"
#include "judge/settings.h"

static void json_finding(struct json *json, const struct finding *finding)
{
    json_open_object(json, NULL);
    json_text(json, "code", finding_name(finding->code));
    json_text(json, "severity", severity_name(finding->severity));
    json_open_array(json, "names");
    for (uint32_t i = 0; i < FINDING_NAMES && finding->names[i] != NULL; i++) {
        json_text(json, NULL, finding->names[i]);
    }
    json_close_array(json);
    json_text(json, "message", finding->message);
    json_text(json, "remedy", finding->remedy);
    if (finding->at.file != NULL) {
        json_text(json, "file", finding->at.file);
        json_integer(json, "line", finding->at.line);
        json_integer(json, "column", finding->at.column);
    }
    json_close_object(json);
}

void cmd_json_findings(struct json *json, const struct report *report)
{
    json_open_array(json, "findings");
    for (uint32_t i = 0; i < report_count(report); i++) {
        json_finding(json, report_finding(report, i));
    }
    json_close_array(json);
}

enum weir_status cmd_find_modes(const struct run *run, const struct binding *binding,
                                const struct run_link *links, size_t n_links, uint32_t most_shown,
                                struct report **report, struct weir_error *err)
{
    static const char *const families[] = {"none", "pairwise", "share", "measured"};
    struct modes_settings settings = modes_default();

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (settings_is(run->settings, "contention", families[i])) {
            settings.contention = families[i];
        }
    }
    if (settings_is(run->settings, "contention", "measured") &&
        measured_family(bind_of(binding)) == MEASURED_PAIRWISE) {
        settings.contention = "pairwise";
    }
    settings.forbids_unknown = settings_is(run->settings, "unknown_overlap", "forbid");
    settings.links = links;
    settings.n_links = n_links;
    settings.most_shown = most_shown;
    *report = report_new(0);
    return *report == NULL ? weir_error_memory(err)
                           : modes_find(binding, run->timeline, &settings, *report, err);
}
