/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir check --explain: one code in full, or a line for each. The examples are the files that the
 * tests read. */
#include "cmd/check_explain.h"

#include "cmd/json.h"
#include "graph/explain.h"

#define WIDTH 79 /* of a line of prose */

/* Prose in lines of at most WIDTH. */
static void print_prose(const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");

        if (column > 0 && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column > 0) {
            putchar(' ');
            column++;
        }
        (void)fwrite(text, 1, word, stdout);
        column += word;
        text += word + (text[word] == ' ' ? 1 : 0);
    }
    putchar('\n');
}

/* A graph, indented; bytes that are no text are shown as \xNN. */
static void print_graph(const char *title, const char *text)
{
    printf("\n%s:\n", title);
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char line[256];

        (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
        printf("    ");
        cmd_show(stdout, line);
        putchar('\n');
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

static void print_one(enum finding_code code)
{
    const struct explanation *explanation = explain_finding(code);

    printf("%s (%s)\n\n", finding_name(code), severity_name(finding_severity(code)));
    print_prose(finding_summary(code));
    print_prose(explanation->why);
    if (finding_is_of_samples(code)) {
        printf("\nOnly the samples of two runs show it: weir compare tells it.\n");
    } else if (finding_is_of_run(code)) {
        printf("\nOnly a run shows it: weir simulate tells it, and weir explain.\n");
    }
    print_graph("A graph that has it", explanation->bad);
    print_graph("Mended", explanation->mended);
    printf("\nTo mend it: %s.\n", finding_remedy(code));
}

static void print_all(void)
{
    for (int i = 0; i < FINDING_CODES; i++) {
        enum finding_code code = (enum finding_code)i;

        printf("%-20s %-7s  %s\n", finding_name(code), severity_name(finding_severity(code)),
               finding_summary(code));
    }
}

static void json_one(struct json *json, enum finding_code code)
{
    const struct explanation *explanation = explain_finding(code);

    json_open_object(json, NULL);
    json_text(json, "code", finding_name(code));
    json_text(json, "severity", severity_name(finding_severity(code)));
    json_text(json, "seen",
              finding_is_of_samples(code) ? "samples"
              : finding_is_of_run(code)   ? "run"
                                          : "graph");
    json_text(json, "meaning", finding_summary(code));
    json_text(json, "reason", explanation->why);
    json_text(json, "example", explanation->bad);
    json_text(json, "mended", explanation->mended);
    json_text(json, "remedy", finding_remedy(code));
    json_close_object(json);
}

static void print_json(enum finding_code first, enum finding_code end)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_open_array(&json, "codes");
    for (int i = (int)first; i < (int)end; i++) {
        json_one(&json, (enum finding_code)i);
    }
    json_close_array(&json);
    json_close_object(&json);
}

static enum weir_status no_such_code(const char *name, struct weir_error *err)
{
    const char *names[FINDING_CODES + 1] = {NULL};
    const char *closest;

    for (int i = 0; i < FINDING_CODES; i++) {
        names[i] = finding_name((enum finding_code)i);
    }
    closest = cmd_closest(name, names);
    return weir_error_set(err, WEIR_USAGE,
                          "'%.80s' is no code of a finding%s%s%s weir check --explain lists them",
                          name, closest == NULL ? ";" : "; did you mean '",
                          closest == NULL ? "" : closest, closest == NULL ? "" : "'?");
}

enum weir_status check_explain(const char *name, bool is_json, struct weir_error *err)
{
    enum finding_code code = name == NULL ? FINDING_CODES : explain_code(name);

    if (name != NULL && code == FINDING_CODES) {
        return no_such_code(name, err);
    }
    if (is_json) {
        print_json(name == NULL ? (enum finding_code)0 : code,
                   name == NULL ? FINDING_CODES : (enum finding_code)(code + 1));
    } else if (name == NULL) {
        print_all();
    } else {
        print_one(code);
    }
    return WEIR_OK;
}
