/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as JSON. */
#include "cmd/findings.h"

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
