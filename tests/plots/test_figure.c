/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of figures: who gets which row and colour, which labels fit, and that names which hold
 * anything stay text on their way through gnuplot. */
#include "cmd/figure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/figure_folder.h"
#include "cmd/gnuplot.h"
#include "tests/suite.h"

static const char *const hostile[] = {
    "$(touch owned)",
    "`touch owned`",
    "\"; system(\"touch owned\"); print \"",
    "'; system('touch owned'); '",
    "@owned ${owned} %s%n%d \\n\\\\\\\" %",
    "line\nbreak\ttab\rreturn\x1b[31m",
    "# no comment",
    "{/Symbol a}_b^c <&> ]]> <script>alert(1)</script>",
    "\xff\xfe broken \xc3( \xed\xa0\x80 \xef\xbf\xbf \xf4\x90\x80\x80",
    "-",
    "?",
    "NaN",
    "| touch owned",
    "< touch owned",
    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e \xd0\xb8\xd0\xbc\xd1\x8f",
};
#define N_HOSTILE (sizeof hostile / sizeof *hostile)

static char folder[FIGURE_PATH_BYTES];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "figure-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    struct figure_folder made = {.is_kept = false};

    memcpy(made.path, folder, sizeof folder);
    figure_folder_close(&made);
    ck_assert_int_ne(access(folder, F_OK), 0);
}

/* The whole of a file of the folder, NUL-terminated. */
static char *read_file(const char *name)
{
    char path[FIGURE_PATH_BYTES + 64], *text;
    size_t room = 1 << 22, n;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "no %s", path);
    text = calloc(1, room);
    ck_assert_ptr_nonnull(text);
    n = fread(text, 1, room - 1, file);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

static weir_text intern(struct graph *graph, const char *text)
{
    struct weir_error err;
    weir_text id;

    ck_assert_int_eq(graph_intern_text(graph, text, &id, &err), WEIR_OK);
    return id;
}

static weir_engine add_engine(struct graph *graph, const char *name)
{
    struct graph_engine engine = graph_engine_default;
    struct weir_error err;
    weir_engine id;

    engine.name = intern(graph, name);
    ck_assert_int_eq(graph_add_engine(graph, &engine, &id, &err), WEIR_OK);
    return id;
}

static void add_domain(struct graph *graph, const char *name, int64_t capacity_bytes)
{
    struct graph_domain domain = graph_domain_default;
    struct weir_error err;
    weir_domain id;

    domain.name = intern(graph, name);
    domain.capacity_bytes = capacity_bytes;
    ck_assert_int_eq(graph_add_domain(graph, &domain, &id, &err), WEIR_OK);
}

static void add_node(struct graph *graph, const char *name, weir_engine engine, const char *class_)
{
    struct graph_node node = graph_node_default;
    struct weir_error err;
    weir_node id;

    node.name = intern(graph, name);
    node.kind = NODE_COMPUTE;
    node.engine = engine;
    if (class_ != NULL) {
        ck_assert_int_eq(graph_class_of(graph, intern(graph, class_), &node.class_given, &err),
                         WEIR_OK);
    }
    ck_assert_int_eq(graph_add_node(graph, &node, &id, &err), WEIR_OK);
}

static void begin_run(struct stored_run *run, struct graph *graph)
{
    memset(run, 0, sizeof *run);
    run->graph = graph;
    run->timeline = timeline_new(graph_n_nodes(graph), graph_n_domains(graph));
    ck_assert_ptr_nonnull(run->timeline);
    run->run = (struct run){.id = 1,
                            .graph = graph,
                            .timeline = run->timeline,
                            .graph_name = graph_text(graph, graph_name(graph)),
                            .policy = "retain",
                            .machine = "",
                            .settings = "{}"};
}

static void set_span(struct stored_run *run, uint32_t node, int64_t start_ns, int64_t finish_ns)
{
    struct timeline_span *span = &run->timeline->spans[node];

    span->start_ns = start_ns;
    span->finish_ns = finish_ns;
    span->order = node;
    if (finish_ns > run->timeline->makespan_ns)
        run->timeline->makespan_ns = finish_ns;
}

static void add_pressure(struct stored_run *run, uint32_t domain, int64_t t_ns, int64_t bytes)
{
    struct timeline_pressure row = {{domain}, t_ns, bytes};
    struct weir_error err;

    ck_assert_int_eq(timeline_add_pressure(run->timeline, &row, &err), WEIR_OK);
    if (bytes > run->timeline->peak_bytes[domain])
        run->timeline->peak_bytes[domain] = bytes;
}

static void free_run(struct stored_run *run)
{
    graph_free(run->graph);
    timeline_free(run->timeline);
}

static struct figure_options options_of(enum figure_kind kind)
{
    return (struct figure_options){
        .kind = kind, .width_px = 1200, .from_ns = -1, .to_ns = -1, .is_png = false};
}

static enum weir_status write_figure(const struct figure_options *options,
                                     const struct stored_run *run, struct weir_error *err)
{
    struct figure_run runs[2] = {{run, 1, 1}, {run, 1, 1}};

    return figure_write(options, runs, folder, err);
}

static void check_table(const char *name, const char *expected)
{
    char *text = read_file(name);

    ck_assert_str_eq(text, expected);
    free(text);
}

/* ---- layout ---- */

/* e: n0 0-400, n1 200-600 beside it in a second row, n2 400-1000 in the first again. f idles and gets
 * no lane; the node without an engine comes last. Busy: c 1000, d 400, compute 100. 320 pixels show
 * 1000 ns, so 600 ns have room for 29 characters of 6.4 pixels and a bit of air. */
START_TEST(rows_and_colours)
{
    struct graph *graph = graph_new();
    struct figure_options options = options_of(FIGURE_TIMELINE);
    struct stored_run run;
    struct weir_error err;
    weir_engine e = add_engine(graph, "e");

    (void)add_engine(graph, "f");
    options.width_px = 400;
    add_domain(graph, "m", 100);
    add_node(graph, "n0", e, "c");
    add_node(graph, "n1", e, "d");
    add_node(graph, "module.submodule.layer0.attention.forward", e, "c");
    add_node(graph, "n3", (weir_engine){WEIR_NONE}, NULL);
    begin_run(&run, graph);
    set_span(&run, 0, 0, 400);
    set_span(&run, 1, 200, 600);
    set_span(&run, 2, 400, 1000);
    set_span(&run, 3, 100, 200);
    make_folder();
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    check_table("lanes.tsv", "first_row\trows\tside\tname\n"
                             "0\t2\t0\t\"e\"\n"
                             "2\t1\t0\t\"no engine\"\n");
    check_table("classes.tsv", "colour\tbusy_ns\tname\n"
                               "0\t1000\t\"c\"\n"
                               "1\t400\t\"d\"\n"
                               "2\t100\t\"compute\"\n");
    check_table("bars.tsv", "row\tstart_ns\tfinish_ns\tcolour\tjoined\tbusy_percent\tlabel\n"
                            "0\t0\t400\t0\t0\t100\t\"n0\"\n"
                            "0\t400\t1000\t0\t0\t100\t\"layer0.attention.forward\"\n"
                            "1\t200\t600\t1\t0\t100\t\"n1\"\n"
                            "2\t100\t200\t2\t0\t100\t\"n3\"\n");
    remove_folder();
    free_run(&run);
}
END_TEST

/* A window cuts bars; one without anything in it is refused. */
START_TEST(windows)
{
    struct graph *graph = graph_new();
    struct figure_options options = options_of(FIGURE_TIMELINE);
    struct stored_run run;
    struct weir_error err;
    weir_engine e = add_engine(graph, "e");

    add_domain(graph, "m", 100);
    add_node(graph, "n0", e, NULL);
    add_node(graph, "n1", e, NULL);
    begin_run(&run, graph);
    set_span(&run, 0, 0, 400);
    set_span(&run, 1, 400, 1000);
    make_folder();
    options.from_ns = 300;
    options.to_ns = 500;
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    check_table("bars.tsv", "row\tstart_ns\tfinish_ns\tcolour\tjoined\tbusy_percent\tlabel\n"
                            "0\t300\t400\t0\t0\t100\t\"n0\"\n"
                            "0\t400\t500\t0\t0\t100\t\"n1\"\n");
    options.from_ns = 500;
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_INPUT);
    set_span(&run, 0, -1, -1);
    set_span(&run, 1, -1, -1);
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_INPUT);
    remove_folder();
    free_run(&run);
}
END_TEST

/* What the bars cover, by their density, and how many there are. */
static double covered_ns(int *n_bars)
{
    char *text = read_file("bars.tsv");
    double sum = 0;

    *n_bars = 0;
    for (char *line = strchr(text, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        long long start, finish;
        int busy_percent;

        ck_assert_int_eq(sscanf(line, "%*d %lld %lld %*d %*d %d", &start, &finish, &busy_percent),
                         3);
        sum += (double)(finish - start) * busy_percent / 100;
        (*n_bars)++;
    }
    free(text);
    return sum;
}

/* 20,000 nodes, one every 10 ns, in blocks of 100 of a class, on 1000 pixels or so. */
static void make_many(struct stored_run *run, int64_t length_ns)
{
    struct graph *graph = graph_new();
    weir_engine e = add_engine(graph, "e");
    char name[32];

    add_domain(graph, "m", 100000);
    for (uint32_t i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)i);
        add_node(graph, name, e, i / 100 % 2 == 0 ? "c" : "d");
    }
    begin_run(run, graph);
    for (uint32_t i = 0; i < 20000; i++) {
        set_span(run, i, 10 * (int64_t)i, 10 * (int64_t)i + length_ns);
        add_pressure(run, 0, 10 * (int64_t)i, i == 7777 ? 70000 : (int64_t)(i % 50));
    }
}

/* Of 200 blocks without a gap some bars are left (a pixel has 17 or 18 nodes of 10 ns in 178.6 ns:
 * 95 or 100 %), which cover all of it; the pressure keeps its greatest and its last value. */
START_TEST(many_nodes_become_few_bars)
{
    struct figure_options options = options_of(FIGURE_TIMELINE);
    struct stored_run run;
    struct weir_error err;
    char *text;
    int64_t greatest = 0, last = -1;
    int n_bars;

    make_many(&run, 10);
    make_folder();
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    ck_assert_double_eq_tol(covered_ns(&n_bars), 200000, 4000);
    ck_assert_int_ge(n_bars, 200);
    ck_assert_int_lt(n_bars, 1200);
    options = options_of(FIGURE_PRESSURE);
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    text = read_file("pressure.tsv");
    for (char *line = strchr(text, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
        long long bytes;

        ck_assert_int_eq(sscanf(line, "%*d %*d %*d %lld", &bytes), 1);
        greatest = bytes > greatest ? bytes : greatest;
        last = bytes;
    }
    ck_assert_int_eq(greatest, 70000);
    ck_assert_int_eq(last, 19999 % 50);
    free(text);
    remove_folder();
    free_run(&run);
}
END_TEST

/* Busy half of the time: half is covered, spread over every pixel. */
START_TEST(joined_bars_are_as_dense_as_the_nodes)
{
    struct figure_options options = options_of(FIGURE_TIMELINE);
    struct stored_run run;
    struct weir_error err;
    int n_bars;

    make_many(&run, 5);
    make_folder();
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    ck_assert_double_eq_tol(covered_ns(&n_bars), 100000, 4000);
    ck_assert_int_lt(n_bars, 1200);
    remove_folder();
    free_run(&run);
}
END_TEST

/* Nine classes and more: the busiest seven have colours, the others one together. */
START_TEST(classes_beyond_the_colours_are_other)
{
    struct graph *graph = graph_new();
    struct figure_options options = options_of(FIGURE_TIMELINE);
    struct stored_run run;
    struct weir_error err;
    weir_engine e = add_engine(graph, "e");
    char name[32], class_[32], *text;

    add_domain(graph, "m", 100);
    for (uint32_t i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)i);
        (void)snprintf(class_, sizeof class_, "c%u", (unsigned)i);
        add_node(graph, name, e, class_);
    }
    begin_run(&run, graph);
    for (uint32_t i = 0; i < 10; i++)
        set_span(&run, i, 100 * (int64_t)i, 100 * (int64_t)i + 10 + i);
    make_folder();
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    text = read_file("classes.tsv");
    ck_assert_ptr_nonnull(strstr(text, "0\t19\t\"c9\"\n1\t18\t\"c8\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "6\t13\t\"c3\"\n7\t33\t\"other\"\n"));
    free(text);
    remove_folder();
    free_run(&run);
}
END_TEST

/* ---- names that hold anything ---- */

/* Hostile names for everything that has one. */
static void make_hostile(struct stored_run *run)
{
    struct graph *graph = graph_new();
    char name[5000];
    uint32_t n;

    graph_set_head(graph, intern(graph, hostile[2]), SCOPE_NONE, true,
                   (struct graph_evidence){.confidence = -1});
    for (uint32_t i = 0; i < N_HOSTILE; i++) {
        weir_engine engine = add_engine(graph, hostile[i]);

        add_domain(graph, hostile[i], 1000);
        add_node(graph, hostile[i], engine, hostile[(i + 1) % N_HOSTILE]);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    add_node(graph, name, add_engine(graph, name), name);
    begin_run(run, graph);
    run->run.policy = "`touch owned`\n\"";
    run->run.machine = "$(touch owned)\\";
    for (n = 0; n <= N_HOSTILE; n++)
        set_span(run, n, 100 * (int64_t)n, 100 * (int64_t)n + 1000);
    for (n = 0; n < N_HOSTILE; n++)
        add_pressure(run, n, 0, 500 + (int64_t)n);
}

/* Between the quotes of its field a name holds nothing that gnuplot could take for an end. */
static void check_fields(const char *table)
{
    char *text = read_file(table);

    for (char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;

        ck_assert_msg(c >= 0x20 || c == '\n' || c == '\t', "%s holds byte %d", table, c);
        ck_assert_msg(c != '\\', "%s holds a backslash", table);
        if (c == '"') {
            ck_assert(at[1] == '\t' || at[1] == '\n' || at == text || at[-1] == '\t' ||
                      at[-1] == '\n');
        }
    }
    free(text);
}

START_TEST(hostile_names_are_text_in_the_tables)
{
    struct figure_options options = options_of(FIGURE_COMPARE);
    struct stored_run run;
    struct weir_error err;

    make_hostile(&run);
    make_folder();
    ck_assert_int_eq(write_figure(&options, &run, &err), WEIR_OK);
    check_fields("texts.tsv");
    check_fields("classes.tsv");
    check_fields("lanes.tsv");
    check_fields("bars.tsv");
    check_fields("domains.tsv");
    remove_folder();
    free_run(&run);
}
END_TEST

static bool has_gnuplot(void)
{
    const char *gnuplot = getenv("GNUPLOT");

    return gnuplot == NULL || gnuplot[0] != '\0';
}

static void draw(const struct stored_run *run, enum figure_kind kind, const char *script,
                 bool is_png)
{
    struct figure_options options = options_of(kind);
    struct figure_folder made = {.is_kept = true};
    struct weir_error err = {.text = ""};
    const char *source = getenv("WEIR_DATADIR");
    char *text;

    options.is_png = is_png;
    make_folder();
    memcpy(made.path, folder, sizeof folder);
    ck_assert_msg(write_figure(&options, run, &err) == WEIR_OK, "%s", err.text);
    ck_assert_msg(figure_folder_scripts(&made, source != NULL ? source : ".", &err) == WEIR_OK,
                  "%s", err.text);
    ck_assert_msg(gnuplot_run(folder, script, &err) == WEIR_OK, "%s", err.text);
    /* No warning either. */
    text = read_file("gnuplot.log");
    ck_assert_str_eq(text, "");
    free(text);
    text = read_file("figure.out");
    if (is_png) {
        ck_assert_int_eq(memcmp(text, "\x89PNG", 4), 0);
    } else {
        ck_assert_ptr_nonnull(strstr(text, "</svg>"));
        ck_assert_ptr_nonnull(strstr(text, "touch owned"));
        ck_assert_ptr_null(strstr(text, "<script>alert"));
    }
    free(text);
    text = malloc(sizeof folder + 16);
    ck_assert_ptr_nonnull(text);
    (void)snprintf(text, sizeof folder + 16, "%s/owned", folder);
    ck_assert_msg(access(text, F_OK) != 0, "a name ran as a command");
    ck_assert_msg(access("owned", F_OK) != 0, "a name ran as a command");
    free(text);
    remove_folder();
}

START_TEST(hostile_names_are_text_to_gnuplot)
{
    struct stored_run run;

    if (!has_gnuplot())
        return;
    make_hostile(&run);
    draw(&run, FIGURE_TIMELINE, "timeline.gp", false);
    draw(&run, FIGURE_PRESSURE, "pressure.gp", false);
    draw(&run, FIGURE_COMPARE, "compare.gp", false);
    draw(&run, FIGURE_TIMELINE, "timeline.gp", true);
    free_run(&run);
}
END_TEST

/* ---- gnuplot ---- */

START_TEST(without_gnuplot_the_package_is_named)
{
    struct weir_error err;

    make_folder();
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    ck_assert_int_eq(gnuplot_run(folder, "timeline.gp", &err), WEIR_DEVICE);
    ck_assert_ptr_nonnull(strstr(err.text, "gnuplot-nox"));
    remove_folder();
}
END_TEST

START_TEST(a_failure_of_gnuplot_is_told)
{
    struct weir_error err;

    if (!has_gnuplot())
        return;
    make_folder();
    ck_assert_int_eq(gnuplot_run(folder, "missing.gp", &err), WEIR_DEVICE);
    ck_assert_msg(strstr(err.text, "missing.gp") != NULL, "%s", err.text);
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("figure");
    TCase *tests = tcase_create("figure");

    tcase_add_test(tests, rows_and_colours);
    tcase_add_test(tests, windows);
    tcase_add_test(tests, many_nodes_become_few_bars);
    tcase_add_test(tests, joined_bars_are_as_dense_as_the_nodes);
    tcase_add_test(tests, classes_beyond_the_colours_are_other);
    tcase_add_test(tests, hostile_names_are_text_in_the_tables);
    tcase_add_test(tests, hostile_names_are_text_to_gnuplot);
    tcase_add_test(tests, without_gnuplot_the_package_is_named);
    tcase_add_test(tests, a_failure_of_gnuplot_is_told);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
