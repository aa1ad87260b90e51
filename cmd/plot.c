/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir plot: figures of runs. Tables of the run and the scripts of plots/ are put into a folder,
 * gnuplot draws in it, and the figure takes its name when it is whole. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/figure.h"
#include "cmd/figure_folder.h"
#include "cmd/gnuplot.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "judge/compare.h"

extern const struct cmd_verb cmd_verb_plot;

#define WIDTH_LEAST 400
#define WIDTH_MOST 20000

static const char usage[] =
    "usage: weir plot timeline RUN -o FILE.svg|FILE.png [options]\n"
    "       weir plot pressure RUN -o FILE.svg|FILE.png [options]\n"
    "       weir plot compare RUN RUN -o FILE.svg|FILE.png [options]\n\n"
    "Draws a run with gnuplot: when each node ran, a row for each engine; the bytes that each\n"
    "domain held; or two runs of one graph against each other. A RUN is a number of `weir runs`,\n"
    "or latest, sim, replay or recorded: the newest of that kind.\n\n"
    "  -o FILE          the figure; its ending says which format\n"
    "  --width PX       how wide (1200)\n"
    "  --from T --to T  draw this window alone (2ms, 150us, ...)\n"
    "  --tables FOLDER  leave tables and scripts there, to draw with changes\n"
    "  --db FILE        the file that holds the runs (weir.db)\n\n"
    "example:\n"
    "  weir plot compare sim replay -o compare.svg\n";

struct request {
    const char *output, *width, *from, *to, *tables;
    const char *operands[3]; /* kind, run, run */
    uint32_t n_operands;
    struct cmd_common common;
    struct figure_options figure;
    const char *script; /* of the kind */
};

/* ---- options ---- */

static enum weir_status read_kind(struct request *r, struct weir_error *err)
{
    static const struct {
        const char *name, *script;
        uint32_t n_runs;
        enum figure_kind kind;
    } kinds[] = {
        {"timeline", "timeline.gp", 1, FIGURE_TIMELINE},
        {"pressure", "pressure.gp", 1, FIGURE_PRESSURE},
        {"compare", "compare.gp", 2, FIGURE_COMPARE},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(r->operands[0], kinds[i].name) != 0)
            continue;
        r->figure.kind = kinds[i].kind;
        r->script = kinds[i].script;
        if (r->n_operands - 1 == kinds[i].n_runs)
            return WEIR_OK;
        return weir_error_set(err, WEIR_USAGE,
                              "weir plot %s: %" PRIu32 " runs given, %" PRIu32 " expected",
                              kinds[i].name, r->n_operands - 1, kinds[i].n_runs);
    }
    return weir_error_set(err, WEIR_USAGE,
                          "'%.80s' is no figure; timeline, pressure or compare was expected",
                          r->operands[0]);
}

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);

    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static enum weir_status read_output(struct request *r, struct weir_error *err)
{
    if (r->output == NULL)
        return weir_error_set(err, WEIR_USAGE,
                              "nothing says where to draw: give -o FILE.svg or "
                              "-o FILE.png");
    r->figure.is_png = ends_in(r->output, ".png");
    if (r->figure.is_png || ends_in(r->output, ".svg"))
        return WEIR_OK;
    return weir_error_set(err, WEIR_USAGE,
                          "-o %.200s: a name that ends in .svg or .png was expected", r->output);
}

static enum weir_status read_time(const char *option, const char *text, int64_t *out,
                                  struct weir_error *err)
{
    enum number_fault fault;

    *out = -1;
    if (text == NULL)
        return WEIR_OK;
    fault = number_time(text, strlen(text), out);
    if (fault == NUMBER_OK)
        return WEIR_OK;
    return weir_error_set(err, WEIR_USAGE, "%s %.80s: %s; a time such as 150us was expected",
                          option, text, number_fault_text(fault));
}

static enum weir_status read_options(struct request *r, struct weir_error *err)
{
    int64_t width = 1200;
    enum weir_status status = read_kind(r, err);

    if (status == WEIR_OK)
        status = read_output(r, err);
    if (status == WEIR_OK && r->width != NULL)
        status = cmd_option_integer("--width", r->width, WIDTH_LEAST, WIDTH_MOST, &width, err);
    r->figure.width_px = (uint32_t)width;
    if (status == WEIR_OK)
        status = read_time("--from", r->from, &r->figure.from_ns, err);
    if (status == WEIR_OK)
        status = read_time("--to", r->to, &r->figure.to_ns, err);
    return status;
}

/* ---- drawing ---- */

static enum weir_status draw(const struct cmd_context *context, const struct request *r,
                             const struct figure_run *runs, struct weir_error *err)
{
    struct figure_folder folder;
    struct progress progress;
    enum weir_status status = figure_folder_make(&folder, r->output, r->tables, err);

    if (status != WEIR_OK)
        return status;
    progress_begin(&progress, context, "drawing", r->common.is_quiet);
    status = figure_write(&r->figure, runs, folder.path, err);
    if (status == WEIR_OK)
        status = figure_folder_scripts(&folder, context->data_dir, err);
    if (status == WEIR_OK)
        status = gnuplot_run(folder.path, r->script, err);
    if (status == WEIR_OK)
        status = figure_folder_take(&folder, r->output, err);
    progress_end(&progress);
    figure_folder_close(&folder);
    return status;
}

/* Two runs may only be drawn together when they can be compared; the first on the second's scale. */
static enum weir_status find_scales(const struct request *r, struct figure_run *runs,
                                    struct weir_error *err)
{
    struct comparison comparison;
    enum weir_status status;

    runs[0].time_scale = runs[0].byte_scale = 1;
    runs[1].time_scale = runs[1].byte_scale = 1;
    if (r->figure.kind != FIGURE_COMPARE)
        return WEIR_OK;
    status = compare_runs(runs[0].stored, runs[1].stored, &comparison, err);
    if (status != WEIR_OK)
        return status;
    runs[0].time_scale = comparison.time_scale;
    runs[0].byte_scale = comparison.byte_scale;
    comparison_free(&comparison);
    return WEIR_OK;
}

static enum weir_status read_runs(const struct request *r, struct stored_run *stored,
                                  uint32_t *n_read, struct weir_error *err)
{
    struct store *store;
    enum weir_status status = store_open(r->common.db, true, &store, err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 1; i < r->n_operands && status == WEIR_OK; i++) {
        int64_t run_id = 0;

        status = store_resolve_run(store, r->operands[i], &run_id, err);
        if (status == WEIR_OK)
            status = store_read_run(store, run_id, &stored[i - 1], err);
        if (status == WEIR_OK)
            (*n_read)++;
    }
    store_close(store);
    return status;
}

static void answer(const struct request *r, const struct stored_run *stored, uint32_t n_runs)
{
    struct json json = {.file = stdout};

    if (!r->common.is_json) {
        if (!r->common.is_quiet)
            printf("%s\n", r->output);
        return;
    }
    json_open_object(&json, NULL);
    json_text(&json, "figure", r->output);
    json_text(&json, "kind", r->operands[0]);
    json_open_array(&json, "runs");
    for (uint32_t i = 0; i < n_runs; i++)
        json_integer(&json, NULL, stored[i].run.id);
    json_close_array(&json);
    json_close_object(&json);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request r = {.output = NULL};
    const struct cmd_option options[] = {
        {.name = "-o", .takes_value = true, .value = &r.output},
        {.name = "--width", .takes_value = true, .value = &r.width},
        {.name = "--from", .takes_value = true, .value = &r.from},
        {.name = "--to", .takes_value = true, .value = &r.to},
        {.name = "--tables", .takes_value = true, .value = &r.tables},
        {.name = NULL},
    };
    struct stored_run stored[2];
    struct figure_run runs[2] = {{.stored = &stored[0]}, {.stored = &stored[1]}};
    uint32_t n_read = 0;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_plot, argc, argv, options, &r.common, r.operands,
                                        2, 3, &r.n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    status = read_options(&r, err);
    if (status == WEIR_OK)
        status = read_runs(&r, stored, &n_read, err);
    if (status == WEIR_OK)
        status = find_scales(&r, runs, err);
    if (status == WEIR_OK)
        status = draw(context, &r, runs, err);
    if (status == WEIR_OK)
        answer(&r, stored, n_read);
    for (uint32_t i = 0; i < n_read; i++)
        stored_run_free(&stored[i]);
    return status;
}

const struct cmd_verb cmd_verb_plot = {
    .name = "plot",
    .summary = "draws a timeline, the pressure, or two runs against each other",
    .usage = usage,
    .run = run,
};
