/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the tables of a figure. A name can hold anything and reaches gnuplot as data alone: in
 * quotes, without quotes, backslashes, control characters or broken UTF-8 in it, and cut to a length
 * that can be shown. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/utf8.h"
#include "cmd/figure_internal.h"
#include "cmd/replayed.h"

#define LABEL_CHAR_PX 6.4 /* of the labels in bars, a little more than the mean */
#define LABEL_ROW_PX 12   /* lower rows take none */
#define TOP_PX 58         /* title and what the runs are */
#define LEGEND_ROW_PX 16
#define LEGEND_CHAR_PX 7
#define LEGEND_BOX_PX 58 /* of an entry, beside its name */
#define CLASS_CHARS 28
#define BOTTOM_PX 52 /* axis and its name */
#define PANEL_PX 200 /* of pressure, with its title */
#define ERRORS_PX 150
#define CURVE_PLAIN 4000 /* up to so many points a curve is written whole */
#define DOMAINS_MOST 6

/* A table being written. */
struct sheet {
    FILE *file;
    const char *folder, *name;
};

static enum weir_status sheet_failed(const struct sheet *sheet, struct weir_error *err)
{
    if (errno == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(err, WEIR_STORE, "%s/%s: %s; the figure needs room there for its tables",
                          sheet->folder, sheet->name, strerror(errno));
}

/* @param columns their names, with tabs between them */
static enum weir_status open_sheet(struct sheet *sheet, const char *folder, const char *name,
                                   const char *columns, struct weir_error *err)
{
    char path[4096];

    *sheet = (struct sheet){.folder = folder, .name = name};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    sheet->file = fopen(path, "w");
    if (sheet->file == NULL)
        return sheet_failed(sheet, err);
    fprintf(sheet->file, "%s\n", columns);
    return WEIR_OK;
}

static enum weir_status close_sheet(struct sheet *sheet, struct weir_error *err)
{
    bool has_failed = ferror(sheet->file) != 0;

    if (fclose(sheet->file) != 0 || has_failed)
        return sheet_failed(sheet, err);
    return WEIR_OK;
}

/* ---- texts ---- */

/* What stands for a character that gnuplot would read as something else; NULL when it may stay.
 * Control characters are no text in SVG either; of two bytes, those of C1. */
static const char *stand_in(const unsigned char *text, size_t length)
{
    if (length == 0)
        return "\xef\xbf\xbd";
    if (text[0] < 0x20 || text[0] == 0x7f || (length == 2 && text[0] == 0xc2 && text[1] < 0xa0))
        return "\xc2\xb7";
    if (length == 3 && text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe)
        return "\xef\xbf\xbd"; /* U+FFFE and U+FFFF are in no XML */
    if (text[0] == '"')
        return "'";
    return text[0] == '\\' ? "\xe2\x88\x96" : NULL;
}

/* Characters as shown; broken bytes count one each. */
static size_t count_chars(const char *text)
{
    size_t n = 0;

    while (*text != '\0') {
        size_t length = utf8_length(text, NULL);

        text += length == 0 ? 1 : length;
        n++;
    }
    return n;
}

/* In quotes, cut to chars_most characters with an ellipsis as the last. */
static void put_text(FILE *file, const char *text, size_t chars_most)
{
    bool is_cut = count_chars(text) > chars_most;

    fputc('"', file);
    for (size_t n = 0; *text != '\0' && n < chars_most; n++) {
        size_t length = utf8_length(text, NULL);
        const char *other = stand_in((const unsigned char *)text, length);

        if (is_cut && n + 1 == chars_most)
            other = "\xe2\x80\xa6";
        length = length == 0 ? 1 : length;
        if (other != NULL)
            fputs(other, file);
        else
            fwrite(text, 1, length, file);
        text += length;
    }
    fputc('"', file);
}

/* ---- the head ---- */

static void describe(const struct figure_run *drawn, FILE *file)
{
    static const char *const done[] = {"simulated", "replayed", "recorded"};
    const struct run *run = &drawn->stored->run;
    char text[4 * FIGURE_NAME_CHARS + REPLAYED_DEVICE_BYTES], makespan[NUMBER_TEXT_BYTES];
    char scale[48] = "", device[REPLAYED_DEVICE_BYTES];
    bool is_whole = run->timeline->status == RUN_COMPLETE;

    number_time_text(run->timeline->makespan_ns, makespan);
    if (drawn->time_scale != 1)
        (void)snprintf(scale, sizeof scale, ", drawn %.4g times as long", drawn->time_scale);
    (void)snprintf(
        text, sizeof text, "run %" PRId64 ", %s%s%s%.40s%s%.60s: %s%s%s%s", run->id,
        done[run->kind], replayed_device(run, device), run->policy[0] == '\0' ? "" : ", policy ",
        run->policy, run->machine[0] == '\0' ? "" : ", on ", run->machine, makespan, scale,
        is_whole ? "" : ", ended as ", is_whole ? "" : run_status_name(run->timeline->status));
    put_text(file, text, sizeof text);
    fputc('\n', file);
}

static enum weir_status write_texts(const struct figure *figure, const char *folder,
                                    struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status = open_sheet(&sheet, folder, "texts.tsv", "text", err);

    if (status != WEIR_OK)
        return status;
    put_text(sheet.file, figure->runs[0].stored->run.graph_name, FIGURE_NAME_CHARS);
    fputc('\n', sheet.file);
    for (uint32_t side = 0; side < figure->n_runs; side++)
        describe(&figure->runs[side], sheet.file);
    return close_sheet(&sheet, err);
}

/* ---- the timeline ---- */

static enum weir_status write_classes(const struct figure *figure, const char *folder,
                                      struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "classes.tsv", "colour\tbusy_ns\tname", err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < figure->n_classes; i++) {
        fprintf(sheet.file, "%" PRIu32 "\t%" PRId64 "\t", figure->classes[i].colour,
                figure->classes[i].busy_ns);
        put_text(sheet.file, figure->classes[i].name, CLASS_CHARS);
        fputc('\n', sheet.file);
    }
    return close_sheet(&sheet, err);
}

static enum weir_status write_lanes(const struct figure *figure, const char *folder,
                                    struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "lanes.tsv", "first_row\trows\tside\tname", err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < figure->n_lanes; i++) {
        const struct figure_lane *lane = &figure->lanes[i];

        fprintf(sheet.file, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t", lane->first_row,
                lane->n_rows, lane->side);
        put_text(sheet.file, figure_lane_name(lane), 26);
        fputc('\n', sheet.file);
    }
    return close_sheet(&sheet, err);
}

static bool fits(const char *text, double px)
{
    return (double)(count_chars(text) + 1) * LABEL_CHAR_PX <= px;
}

/* The name, else as many of its last parts as fit into the bar, else nothing. */
static const char *fitting_label(const struct figure *figure, const struct figure_bar *bar)
{
    double px = (double)(bar->finish_ns - bar->start_ns) * figure_time_px(figure) /
                (double)(figure->end_ns - figure->begin_ns);
    const char *name;

    if (!weir_is(bar->node) || figure->row_px < LABEL_ROW_PX || px < 2 * LABEL_CHAR_PX)
        return "";
    name = graph_node_name(figure->runs[bar->side].stored->graph, bar->node);
    if (strnlen(name, 8192) == 8192)
        return "";
    while (name[0] != '\0' && !fits(name, px)) {
        name += strcspn(name, "./:");
        name += strspn(name, "./:");
    }
    return name;
}

static enum weir_status write_bars(const struct figure *figure, const char *folder,
                                   struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "bars.tsv",
                   "row\tstart_ns\tfinish_ns\tcolour\tjoined\tbusy_percent\tlabel", err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < figure->n_bars; i++) {
        const struct figure_bar *bar = &figure->bars[i];

        fprintf(sheet.file, "%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu32 "\t%d\t%" PRIu32 "\t",
                figure->lanes[bar->lane].first_row + bar->row, bar->start_ns, bar->finish_ns,
                bar->colour, weir_is(bar->node) ? 0 : 1, bar->busy_percent);
        put_text(sheet.file, fitting_label(figure, bar), FIGURE_NAME_CHARS);
        fputc('\n', sheet.file);
    }
    return close_sheet(&sheet, err);
}

/* ---- pressure ---- */

/* A domain of the first run, with the same of the second. */
struct panel {
    weir_domain domain[2]; /* by side; none when that run has no such domain */
    int64_t peak_bytes, limit_bytes;
};

static const char *domain_name(const struct figure *figure, uint32_t side, weir_domain domain)
{
    const struct graph *graph = figure->runs[side].stored->graph;

    return graph_text(graph, graph_domain(graph, domain)->name);
}

static weir_domain same_domain(const struct figure *figure, weir_domain domain)
{
    const struct graph *graph = figure->runs[1].stored->graph;

    return graph_find_domain(graph, graph_find_text(graph, domain_name(figure, 0, domain)));
}

/* Takes out the domains of which next to nothing is used, unless that holds for all. */
static uint32_t drop_idle(struct panel *panels, uint32_t n_panels)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_panels; i++) {
        if (panels[i].peak_bytes >= panels[i].limit_bytes / 1000)
            panels[n++] = panels[i];
    }
    return n > 0 ? n : n_panels;
}

/* Domains that hold bytes at some time, at most DOMAINS_MOST. */
static uint32_t find_panels(const struct figure *figure, struct panel panels[DOMAINS_MOST])
{
    const struct graph *graph = figure->runs[0].stored->graph;
    uint32_t n = 0;

    for (uint32_t i = 0; i < graph_n_domains(graph) && n < DOMAINS_MOST; i++) {
        const struct graph_domain *domain = graph_domain(graph, (weir_domain){i});
        struct panel panel = {
            .domain = {{i}, {WEIR_NONE}},
            .peak_bytes = figure_bytes(figure, 0, figure->runs[0].stored->timeline->peak_bytes[i]),
            .limit_bytes = figure_bytes(figure, 0, domain->capacity_bytes - domain->reserve_bytes),
        };

        if (figure->n_runs == 2) {
            panel.domain[1] = same_domain(figure, panel.domain[0]);
            if (weir_is(panel.domain[1])) {
                int64_t peak_bytes = figure_bytes(
                    figure, 1, figure->runs[1].stored->timeline->peak_bytes[panel.domain[1].index]);

                panel.peak_bytes = peak_bytes > panel.peak_bytes ? peak_bytes : panel.peak_bytes;
            }
        }
        if (panel.peak_bytes > 0)
            panels[n++] = panel;
    }
    return drop_idle(panels, n);
}

static enum weir_status write_domains(const struct figure *figure, const struct panel *panels,
                                      uint32_t n_panels, const char *folder, struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "domains.tsv", "peak_bytes\tlimit_bytes\ttext", err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < n_panels; i++) {
        char peak[NUMBER_TEXT_BYTES], limit[NUMBER_TEXT_BYTES], text[4 * FIGURE_NAME_CHARS];

        number_size_text(panels[i].peak_bytes, peak);
        number_size_text(panels[i].limit_bytes, limit);
        (void)snprintf(text, sizeof text, "%.100s: peak %s of %s (%.0f %%)",
                       domain_name(figure, 0, panels[i].domain[0]), peak, limit,
                       100 * (double)panels[i].peak_bytes / (double)panels[i].limit_bytes);
        fprintf(sheet.file, "%" PRId64 "\t%" PRId64 "\t", panels[i].peak_bytes,
                panels[i].limit_bytes);
        put_text(sheet.file, text, sizeof text);
        fputc('\n', sheet.file);
    }
    return close_sheet(&sheet, err);
}

/* A curve that is written point by point, thinned to what a pixel can show: of the points of one
 * pixel the last, and before it the least and the greatest. */
struct curve {
    FILE *file;
    uint32_t panel, side;
    int64_t begin_ns, pixel_ns; /* 0: every point is written */
    int64_t pixel;
    int64_t least, greatest, last, last_ns;
    bool has_points;
};

static void put_point(const struct curve *curve, int64_t t_ns, int64_t value)
{
    fprintf(curve->file, "%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\n", curve->panel,
            curve->side, t_ns, value);
}

static void flush_curve(struct curve *curve)
{
    if (!curve->has_points)
        return;
    if (curve->least < curve->last)
        put_point(curve, curve->last_ns, curve->least);
    if (curve->greatest > curve->last)
        put_point(curve, curve->last_ns, curve->greatest);
    put_point(curve, curve->last_ns, curve->last);
    curve->has_points = false;
}

static void add_point(struct curve *curve, int64_t t_ns, int64_t value)
{
    int64_t pixel;

    if (curve->pixel_ns < 2) {
        put_point(curve, t_ns, value);
        return;
    }
    pixel = (t_ns - curve->begin_ns) / curve->pixel_ns;
    if (!curve->has_points || pixel != curve->pixel) {
        flush_curve(curve);
        curve->pixel = pixel;
        curve->least = curve->greatest = value;
    }
    curve->least = value < curve->least ? value : curve->least;
    curve->greatest = value > curve->greatest ? value : curve->greatest;
    curve->last = value;
    curve->last_ns = t_ns;
    curve->has_points = true;
}

static struct curve begin_curve(const struct figure *figure, FILE *file, uint32_t panel,
                                uint32_t side, size_t n_points)
{
    return (struct curve){
        .file = file,
        .panel = panel,
        .side = side,
        .begin_ns = figure->begin_ns,
        .pixel_ns = n_points <= CURVE_PLAIN
                        ? 0
                        : (figure->end_ns - figure->begin_ns) / figure_time_px(figure),
    };
}

/* The steps of one domain, from the beginning of the window to its end or the end of the run. */
static void put_pressure(const struct figure *figure, FILE *file, uint32_t panel, uint32_t side,
                         weir_domain domain)
{
    const struct timeline *timeline = figure->runs[side].stored->timeline;
    struct curve curve = begin_curve(figure, file, panel, side, timeline->n_pressures);
    int64_t end_ns = figure_time(figure, side, timeline->makespan_ns);
    int64_t before = 0;
    bool has_begun = false;

    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];
        int64_t t_ns = figure_time(figure, side, row->t_ns);

        if (!weir_same(row->domain, domain) || t_ns > figure->end_ns)
            continue;
        if (t_ns > figure->begin_ns) {
            if (!has_begun)
                add_point(&curve, figure->begin_ns, before);
            has_begun = true;
            add_point(&curve, t_ns, figure_bytes(figure, side, row->bytes));
        }
        before = figure_bytes(figure, side, row->bytes);
    }
    if (!has_begun)
        add_point(&curve, figure->begin_ns, before);
    flush_curve(&curve);
    put_point(&curve, end_ns < figure->end_ns ? end_ns : figure->end_ns, before);
}

static enum weir_status write_pressure(const struct figure *figure, const struct panel *panels,
                                       uint32_t n_panels, const char *folder,
                                       struct weir_error *err)
{
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "pressure.tsv", "domain\tside\tt_ns\tbytes", err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < n_panels; i++) {
        for (uint32_t side = 0; side < figure->n_runs; side++) {
            if (weir_is(panels[i].domain[side]))
                put_pressure(figure, sheet.file, i, side, panels[i].domain[side]);
        }
    }
    return close_sheet(&sheet, err);
}

/* ---- errors of a comparison ---- */

struct error_point {
    int64_t start_ns, error_ns;
    weir_node node;
};

static int by_time(const void *a, const void *b)
{
    const struct error_point *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->node.index > y->node.index) - (x->node.index < y->node.index);
}

/* Start in the second run less start in the first, of the nodes that started in both. */
static uint32_t find_errors(const struct figure *figure, struct error_point *points)
{
    const struct stored_run *a = figure->runs[0].stored, *b = figure->runs[1].stored;
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->timeline->n_nodes; i++) {
        weir_text name = graph_find_text(b->graph, graph_node_name(a->graph, (weir_node){i}));
        weir_node other = graph_find_node(b->graph, name);
        int64_t start_ns;

        if (!weir_is(other) || a->timeline->spans[i].start_ns < 0 ||
            b->timeline->spans[other.index].start_ns < 0)
            continue;
        start_ns = figure_time(figure, 0, a->timeline->spans[i].start_ns);
        if (start_ns >= figure->begin_ns && start_ns <= figure->end_ns) {
            points[n++] = (struct error_point){
                start_ns,
                figure_time(figure, 1, b->timeline->spans[other.index].start_ns) - start_ns,
                {i}};
        }
    }
    qsort(points, n, sizeof *points, by_time);
    return n;
}

static enum weir_status write_errors(const struct figure *figure, const char *folder,
                                     struct weir_error *err)
{
    size_t room = (size_t)figure->runs[0].stored->timeline->n_nodes + 1;
    struct error_point *points = calloc(room, sizeof *points);
    struct sheet sheet;
    struct curve curve;
    enum weir_status status;
    uint32_t n;

    if (points == NULL)
        return weir_error_memory(err);
    n = find_errors(figure, points);
    status = open_sheet(&sheet, folder, "errors.tsv", "domain\tside\tstart_ns\terror_ns", err);
    if (status == WEIR_OK) {
        curve = begin_curve(figure, sheet.file, 0, 0, n);
        for (uint32_t i = 0; i < n; i++)
            add_point(&curve, points[i].start_ns, points[i].error_ns);
        flush_curve(&curve);
        status = close_sheet(&sheet, err);
    }
    free(points);
    return status;
}

/* ---- all ---- */

/* Entries of the legend that stand side by side: all are as wide as the widest. */
static uint32_t legend_columns(const struct figure *figure)
{
    uint32_t columns = figure_time_px(figure);
    size_t chars = 1;

    for (uint32_t i = 0; i < figure->n_classes; i++) {
        size_t n = count_chars(figure->classes[i].name);

        chars = n > chars ? n : chars;
    }
    chars = chars < CLASS_CHARS ? chars : CLASS_CHARS;
    columns /= (uint32_t)chars * LEGEND_CHAR_PX + LEGEND_BOX_PX;
    return columns > 0 ? columns : 1;
}

static enum weir_status write_head(const struct figure *figure, uint32_t n_panels,
                                   const char *folder, struct weir_error *err)
{
    uint32_t columns = legend_columns(figure);
    uint32_t legend_rows = (figure->n_classes + columns - 1) / columns;
    uint32_t bars_px = figure->row_px * figure->n_rows + LEGEND_ROW_PX * legend_rows;
    uint32_t height_px = TOP_PX + BOTTOM_PX;
    struct sheet sheet;
    enum weir_status status =
        open_sheet(&sheet, folder, "figure.tsv",
                   "is_png\twidth_px\theight_px\tleft_px\trow_px\trows\tclasses\tdomains\t"
                   "begin_ns\tend_ns\tlegend_columns\tlegend_rows",
                   err);

    if (status != WEIR_OK)
        return status;
    switch (figure->options->kind) {
    case FIGURE_TIMELINE:
        height_px += bars_px;
        break;
    case FIGURE_PRESSURE:
        height_px += PANEL_PX * n_panels;
        break;
    case FIGURE_COMPARE:
        height_px += bars_px + ERRORS_PX + PANEL_PX * n_panels;
        break;
    }
    fprintf(sheet.file,
            "%d\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32
            "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu32 "\t%" PRIu32 "\n",
            figure->options->is_png ? 1 : 0, figure->width_px, height_px, figure->left_px,
            figure->row_px, figure->n_rows, figure->n_classes, n_panels, figure->begin_ns,
            figure->end_ns, columns, legend_rows);
    return close_sheet(&sheet, err);
}

enum weir_status figure_tables(const struct figure *figure, const char *folder,
                               struct weir_error *err)
{
    struct panel panels[DOMAINS_MOST];
    uint32_t n_panels = figure->options->kind == FIGURE_TIMELINE ? 0 : find_panels(figure, panels);
    enum weir_status status;

    if (figure->options->kind == FIGURE_PRESSURE && n_panels == 0) {
        return weir_error_set(err, WEIR_INPUT,
                              "no domain held a byte during this run: its graph has no objects, or "
                              "its recording saw no allocations; there is no pressure to draw");
    }
    status = write_head(figure, n_panels, folder, err);
    if (status == WEIR_OK)
        status = write_texts(figure, folder, err);
    if (status == WEIR_OK)
        status = write_classes(figure, folder, err);
    if (status == WEIR_OK)
        status = write_lanes(figure, folder, err);
    if (status == WEIR_OK)
        status = write_bars(figure, folder, err);
    if (status == WEIR_OK)
        status = write_domains(figure, panels, n_panels, folder, err);
    if (status == WEIR_OK)
        status = write_pressure(figure, panels, n_panels, folder, err);
    if (status == WEIR_OK && figure->options->kind == FIGURE_COMPARE)
        status = write_errors(figure, folder, err);
    return status;
}
