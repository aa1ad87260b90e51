/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lays a figure out: lanes, rows, colours. A row never holds two bars at once as long as its lane
 * has fewer than ROWS_MOST of them; bars are in the order of lane, row and start at the end. */
#include "cmd/figure.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/figure_internal.h"

#define ROWS_MOST 16     /* of a lane; what overlaps beyond is drawn over the last */
#define BARS_PLAIN 5000  /* up to so many, each span is a bar of its own */
#define LEFT_LEAST_PX 84 /* room for the ticks of bytes and their unit */
#define LEFT_MOST_PX 220
#define NAME_CHAR_PX 7      /* of the names of lanes */
#define HEIGHT_MOST_PX 3000 /* of all rows together */

int64_t figure_time(const struct figure *figure, uint32_t side, int64_t ns)
{
    double scale = figure->runs[side].time_scale;

    return scale == 1 ? ns : (int64_t)llround((double)ns * scale);
}

int64_t figure_bytes(const struct figure *figure, uint32_t side, int64_t bytes)
{
    double scale = figure->runs[side].byte_scale;

    return scale == 1 ? bytes : (int64_t)llround((double)bytes * scale);
}

static const struct timeline *timeline_of(const struct figure *figure, uint32_t side)
{
    return figure->runs[side].stored->timeline;
}

/* A span that has not finished lasts to the end of its run. */
static int64_t finish_of(const struct timeline *timeline, const struct timeline_span *span)
{
    return span->finish_ns >= 0 ? span->finish_ns : timeline->makespan_ns;
}

enum weir_status figure_window(struct figure *figure, struct weir_error *err)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;

    for (uint32_t side = 0; side < figure->n_runs; side++) {
        const struct timeline *timeline = timeline_of(figure, side);

        for (uint32_t i = 0; i < timeline->n_nodes; i++) {
            const struct timeline_span *span = &timeline->spans[i];
            int64_t start_ns, finish_ns;

            if (span->start_ns < 0)
                continue;
            start_ns = figure_time(figure, side, span->start_ns);
            finish_ns = figure_time(figure, side, finish_of(timeline, span));
            first_ns = start_ns < first_ns ? start_ns : first_ns;
            last_ns = finish_ns > last_ns ? finish_ns : last_ns;
        }
    }
    /* From 0, unless that would leave most of the figure empty. */
    if (first_ns > last_ns)
        return weir_error_set(err, WEIR_INPUT,
                              "no node of the run has started: there is nothing "
                              "to draw");
    figure->begin_ns = first_ns > last_ns / 4 ? first_ns : 0;
    figure->end_ns = last_ns > figure->begin_ns ? last_ns : figure->begin_ns + 1;
    if (figure->options->from_ns >= 0)
        figure->begin_ns = figure->options->from_ns;
    if (figure->options->to_ns >= 0)
        figure->end_ns = figure->options->to_ns;
    if (figure->begin_ns >= figure->end_ns) {
        char begin[NUMBER_TEXT_BYTES], end[NUMBER_TEXT_BYTES];

        number_time_text(figure->begin_ns, begin);
        number_time_text(figure->end_ns, end);
        return weir_error_set(err, WEIR_INPUT,
                              "the window from %s to %s is empty; give --from a time before --to "
                              "and before the end of the run",
                              begin, end);
    }
    return WEIR_OK;
}

/* ---- classes ---- */

/* The class of a node, as shown: its own or its engine's, else its kind. */
static const char *class_name(const struct graph *graph, weir_node node)
{
    weir_class class_ = graph_node_class(graph, node);

    return weir_is(class_) ? graph_text(graph, graph_class_name(graph, class_))
                           : node_kind_name(graph_node_kind(graph, node));
}

static int by_class_name(const void *a, const void *b)
{
    return strcmp(((const struct figure_class *)a)->name, ((const struct figure_class *)b)->name);
}

/* The busiest first, ties by name. */
static int by_busy(const void *a, const void *b)
{
    const struct figure_class *x = a, *y = b;

    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static struct figure_class *find_class(const struct figure *figure, const char *name)
{
    struct figure_class key = {.name = name};

    return bsearch(&key, figure->classes, figure->n_classes, sizeof key, by_class_name);
}

/* All names that a class may have, sorted and each once. */
static enum weir_status list_classes(struct figure *figure, struct weir_error *err)
{
    size_t room = 0;
    uint32_t n = 0;

    for (uint32_t side = 0; side < figure->n_runs; side++)
        room += graph_n_classes(figure->runs[side].stored->graph) + (size_t)NODE_KINDS;
    figure->classes = calloc(room, sizeof *figure->classes);
    if (figure->classes == NULL)
        return weir_error_memory(err);
    for (uint32_t side = 0; side < figure->n_runs; side++) {
        const struct graph *graph = figure->runs[side].stored->graph;

        for (uint32_t i = 0; i < graph_n_classes(graph); i++) {
            figure->classes[n++].name = graph_text(graph, graph_class_name(graph, (weir_class){i}));
        }
    }
    for (int kind = 0; kind < NODE_KINDS; kind++)
        figure->classes[n++].name = node_kind_name((enum node_kind)kind);
    qsort(figure->classes, n, sizeof *figure->classes, by_class_name);
    for (uint32_t i = 0; i < n; i++) {
        if (figure->n_classes == 0 ||
            strcmp(figure->classes[i].name, figure->classes[figure->n_classes - 1].name) != 0)
            figure->classes[figure->n_classes++] = figure->classes[i];
    }
    return WEIR_OK;
}

/* Gives the busiest classes colours of their own, and writes them into the bars. */
static enum weir_status colour_classes(struct figure *figure, struct weir_error *err)
{
    struct figure_class *ranked = calloc((size_t)figure->n_classes + 1, sizeof *ranked);
    uint32_t n = 0;
    int64_t others_ns = 0;

    if (ranked == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < figure->n_bars; i++) {
        const struct figure_bar *bar = &figure->bars[i];

        figure->classes[bar->colour].busy_ns += bar->finish_ns - bar->start_ns;
    }
    for (uint32_t i = 0; i < figure->n_classes; i++) {
        if (figure->classes[i].busy_ns > 0)
            ranked[n++] = figure->classes[i];
    }
    qsort(ranked, n, sizeof *ranked, by_busy);
    for (uint32_t i = 0; i < figure->n_classes; i++)
        figure->classes[i].colour = FIGURE_COLOURS - 1;
    for (uint32_t rank = 0; rank < n; rank++) {
        bool is_other = rank >= FIGURE_COLOURS - 1 && n > FIGURE_COLOURS;

        ranked[rank].colour = is_other ? FIGURE_COLOURS - 1 : rank;
        others_ns += is_other ? ranked[rank].busy_ns : 0;
        find_class(figure, ranked[rank].name)->colour = ranked[rank].colour;
    }
    for (uint32_t i = 0; i < figure->n_bars; i++)
        figure->bars[i].colour = figure->classes[figure->bars[i].colour].colour;
    if (n > FIGURE_COLOURS) {
        ranked[FIGURE_COLOURS - 1] = (struct figure_class){"other", others_ns, FIGURE_COLOURS - 1};
        n = FIGURE_COLOURS;
    }
    free(figure->classes);
    figure->classes = ranked;
    figure->n_classes = n;
    return WEIR_OK;
}

/* ---- bars and rows ---- */

static uint32_t lanes_of(const struct figure *figure, uint32_t side)
{
    return graph_n_engines(figure->runs[side].stored->graph) + 1;
}

/* Lanes of all runs, engine by engine, then what has no engine; empty ones are taken out later. */
static enum weir_status list_lanes(struct figure *figure, struct weir_error *err)
{
    uint32_t most = 0, n = 0;

    for (uint32_t side = 0; side < figure->n_runs; side++)
        most = lanes_of(figure, side) > most ? lanes_of(figure, side) : most;
    figure->lanes = calloc((size_t)most * figure->n_runs + 1, sizeof *figure->lanes);
    if (figure->lanes == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < most; i++) {
        for (uint32_t side = 0; side < figure->n_runs; side++) {
            const struct graph *graph = figure->runs[side].stored->graph;
            bool is_engine = i < graph_n_engines(graph);

            figure->lanes[n++] = (struct figure_lane){
                .name =
                    is_engine ? graph_text(graph, graph_engine(graph, (weir_engine){i})->name) : "",
                .side = side,
            };
        }
    }
    figure->n_lanes = n;
    return WEIR_OK;
}

/* Lane i * n_runs + side belongs to engine i; engines past those of a run stand for none. */
static uint32_t lane_of(const struct figure *figure, uint32_t side, weir_node node)
{
    const struct graph *graph = figure->runs[side].stored->graph;
    weir_engine engine = graph_node_engine(graph, node);

    return (weir_is(engine) ? engine.index : graph_n_engines(graph)) * figure->n_runs + side;
}

static void add_bars(struct figure *figure, uint32_t side)
{
    const struct timeline *timeline = timeline_of(figure, side);
    const struct graph *graph = figure->runs[side].stored->graph;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        struct figure_bar bar = {
            .node = {i}, .side = side, .order = span->order, .busy_percent = 100};

        if (span->start_ns < 0)
            continue;
        bar.start_ns = figure_time(figure, side, span->start_ns);
        bar.finish_ns = figure_time(figure, side, finish_of(timeline, span));
        /* A node of no length has nothing to show but on an engine. */
        if (bar.finish_ns <= figure->begin_ns || bar.start_ns >= figure->end_ns ||
            bar.finish_ns == bar.start_ns)
            continue;
        bar.start_ns = bar.start_ns < figure->begin_ns ? figure->begin_ns : bar.start_ns;
        bar.finish_ns = bar.finish_ns > figure->end_ns ? figure->end_ns : bar.finish_ns;
        bar.lane = lane_of(figure, side, bar.node);
        bar.colour = (uint32_t)(find_class(figure, class_name(graph, bar.node)) - figure->classes);
        figure->bars[figure->n_bars++] = bar;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct figure_bar *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->node.index > y->node.index) - (x->node.index < y->node.index);
}

static int by_row(const void *a, const void *b)
{
    const struct figure_bar *x = a, *y = b;

    if (x->lane == y->lane && x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return by_start(a, b);
}

/* Each bar goes to the first row of its lane that is free. */
static void assign_rows(struct figure *figure)
{
    int64_t busy_until[ROWS_MOST] = {0};
    struct figure_lane *lane = NULL;

    for (uint32_t i = 0; i < figure->n_bars; i++) {
        struct figure_bar *bar = &figure->bars[i];
        uint32_t row = 0;

        if (i == 0 || figure->bars[i - 1].lane != bar->lane)
            lane = &figure->lanes[bar->lane];
        while (row < lane->n_rows && busy_until[row] > bar->start_ns)
            row++;
        if (row == ROWS_MOST)
            row--;
        if (row == lane->n_rows)
            lane->n_rows++;
        busy_until[row] = bar->finish_ns;
        bar->row = row;
    }
}

/* Takes out the lanes without bars, and stacks the others. */
static enum weir_status stack_lanes(struct figure *figure, struct weir_error *err)
{
    uint32_t *now = calloc((size_t)figure->n_lanes + 1, sizeof *now);
    uint32_t n = 0;

    if (now == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < figure->n_lanes; i++) {
        if (figure->lanes[i].n_rows == 0)
            continue;
        now[i] = n;
        figure->lanes[n] = figure->lanes[i];
        figure->lanes[n].first_row = figure->n_rows;
        figure->n_rows += figure->lanes[n++].n_rows;
    }
    figure->n_lanes = n;
    for (uint32_t i = 0; i < figure->n_bars; i++)
        figure->bars[i].lane = now[figure->bars[i].lane];
    free(now);
    return WEIR_OK;
}

const char *figure_lane_name(const struct figure_lane *lane)
{
    return lane->name[0] == '\0' ? "no engine" : lane->name;
}

/* Row height and margin, once rows and names are known. */
static void find_sizes(struct figure *figure)
{
    uint32_t name_chars = 0;

    for (uint32_t i = 0; i < figure->n_lanes; i++) {
        uint32_t length = (uint32_t)strnlen(figure_lane_name(&figure->lanes[i]), FIGURE_NAME_CHARS);

        name_chars = length > name_chars ? length : name_chars;
    }
    figure->left_px = 24 + NAME_CHAR_PX * name_chars + (figure->n_runs > 1 ? 20 : 0);
    if (figure->left_px < LEFT_LEAST_PX)
        figure->left_px = LEFT_LEAST_PX;
    if (figure->left_px > LEFT_MOST_PX)
        figure->left_px = LEFT_MOST_PX;
    figure->row_px = figure->n_rows <= 6 ? 34 : figure->n_rows <= 16 ? 24 : 16;
    while (figure->row_px > 2 && figure->row_px * figure->n_rows > HEIGHT_MOST_PX)
        figure->row_px--;
}

enum weir_status figure_lay_out(struct figure *figure, struct weir_error *err)
{
    size_t room = 1;
    enum weir_status status = list_classes(figure, err);

    if (status == WEIR_OK)
        status = list_lanes(figure, err);
    if (status != WEIR_OK)
        return status;
    for (uint32_t side = 0; side < figure->n_runs; side++)
        room += timeline_of(figure, side)->n_nodes;
    figure->bars = calloc(room, sizeof *figure->bars);
    if (figure->bars == NULL)
        return weir_error_memory(err);
    for (uint32_t side = 0; side < figure->n_runs; side++)
        add_bars(figure, side);
    qsort(figure->bars, figure->n_bars, sizeof *figure->bars, by_start);
    assign_rows(figure);
    qsort(figure->bars, figure->n_bars, sizeof *figure->bars, by_row);
    status = stack_lanes(figure, err);
    if (status == WEIR_OK)
        status = colour_classes(figure, err);
    find_sizes(figure);
    return status;
}

/* The column of pixels that a time falls into, and the time at which a column begins. */
static int64_t column_of(const struct figure *figure, int64_t t_ns)
{
    return (int64_t)((double)(t_ns - figure->begin_ns) * figure_time_px(figure) /
                     (double)(figure->end_ns - figure->begin_ns));
}

static int64_t column_begin(const struct figure *figure, int64_t column)
{
    return figure->begin_ns +
           (int64_t)((double)column * (double)(figure->end_ns - figure->begin_ns) /
                     figure_time_px(figure));
}

/* A bar for those of a column: all of the column, as dense as they are there, in the colour that is
 * longest. One alone stays what it is. */
static struct figure_bar join(const struct figure *figure, const struct figure_bar *bars,
                              uint32_t n)
{
    int64_t busy_ns[FIGURE_COLOURS] = {0}, together_ns = 0, column;
    struct figure_bar joined = bars[0];

    if (n == 1)
        return joined;
    for (uint32_t i = 0; i < n; i++) {
        busy_ns[bars[i].colour] += bars[i].finish_ns - bars[i].start_ns;
        together_ns += bars[i].finish_ns - bars[i].start_ns;
    }
    for (uint32_t colour = 0; colour < FIGURE_COLOURS; colour++) {
        if (busy_ns[colour] > busy_ns[joined.colour])
            joined.colour = colour;
    }
    column = column_of(figure, joined.start_ns);
    joined.start_ns = column_begin(figure, column);
    joined.finish_ns = column_begin(figure, column + 1);
    joined.busy_percent = 5 * (uint32_t)llround(20 * (double)together_ns /
                                                (double)(joined.finish_ns - joined.start_ns));
    if (joined.busy_percent > 100)
        joined.busy_percent = 100;
    if (joined.busy_percent < 5)
        joined.busy_percent = 5;
    joined.node = (weir_node){WEIR_NONE};
    return joined;
}

/* Joined bars side by side that look the same become one. */
static bool continues(const struct figure_bar *last, const struct figure_bar *bar)
{
    return !weir_is(last->node) && !weir_is(bar->node) && last->lane == bar->lane &&
           last->row == bar->row && last->colour == bar->colour &&
           last->busy_percent == bar->busy_percent && last->finish_ns == bar->start_ns;
}

void figure_join_narrow(struct figure *figure)
{
    int64_t pixel_ns = (figure->end_ns - figure->begin_ns) / figure_time_px(figure);
    uint32_t n = 0;

    if (figure->n_bars <= BARS_PLAIN || pixel_ns < 2)
        return;
    for (uint32_t i = 0, end; i < figure->n_bars; i = end) {
        const struct figure_bar *first = &figure->bars[i];
        int64_t column = column_of(figure, first->start_ns);
        struct figure_bar joined;

        for (end = i + 1; end < figure->n_bars; end++) {
            const struct figure_bar *bar = &figure->bars[end];

            if (first->finish_ns - first->start_ns >= pixel_ns || bar->lane != first->lane ||
                bar->row != first->row || bar->finish_ns - bar->start_ns >= pixel_ns ||
                column_of(figure, bar->start_ns) != column)
                break;
        }
        joined = join(figure, first, end - i);
        if (n > 0 && continues(&figure->bars[n - 1], &joined))
            figure->bars[n - 1].finish_ns = joined.finish_ns;
        else
            figure->bars[n++] = joined;
    }
    figure->n_bars = n;
}

/* A window between two nodes, or behind the last: there is no bar to draw. */
static enum weir_status check_bars(const struct figure *figure, struct weir_error *err)
{
    char begin[NUMBER_TEXT_BYTES], end[NUMBER_TEXT_BYTES];

    if (figure->n_bars > 0 || figure->options->kind == FIGURE_PRESSURE)
        return WEIR_OK;
    number_time_text(figure->begin_ns, begin);
    number_time_text(figure->end_ns, end);
    return weir_error_set(
        err, WEIR_INPUT,
        "no node runs in the window from %s to %s: there is nothing to draw; give "
        "--from and --to another time, weir export csv spans tells when nodes run",
        begin, end);
}

void figure_free(struct figure *figure)
{
    free(figure->bars);
    free(figure->lanes);
    free(figure->classes);
}

enum weir_status figure_write(const struct figure_options *options, const struct figure_run *runs,
                              const char *folder, struct weir_error *err)
{
    struct figure figure = {
        .options = options,
        .runs = runs,
        .n_runs = options->kind == FIGURE_COMPARE ? 2 : 1,
        .width_px = options->width_px,
    };
    enum weir_status status = figure_window(&figure, err);

    if (status == WEIR_OK)
        status = figure_lay_out(&figure, err);
    if (status == WEIR_OK)
        status = check_bars(&figure, err);
    if (status == WEIR_OK) {
        figure_join_narrow(&figure);
        status = figure_tables(&figure, folder, err);
    }
    figure_free(&figure);
    return status;
}
