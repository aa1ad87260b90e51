/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where slices and arrows go. That whole files of simulated runs keep the rules of the format,
 * tests/cmd/export_chrome.py checks. */
#include "traces/chrome.h"

#include <stdlib.h>
#include <unistd.h>

#include "graph/text.h"
#include "tests/suite.h"
#include "traces/chrome_internal.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;
static struct writer writer; /* large: not on the stack */

/* Eight nodes: four that last on an engine of two slots, three instants, one without an engine. */
static const char text[] = "weir 1\n"
                           "graph g\n"
                           "domain gpu capacity=100\n"
                           "engine sm slots=2\n"
                           "object a size=10\n"
                           "node n0 compute engine=sm duration=10 writes=a\n"
                           "node n1 compute engine=sm duration=20\n"
                           "node n2 compute engine=sm duration=5 reads=a\n"
                           "node n3 compute engine=sm duration=5\n"
                           "node i0 compute engine=sm duration=0\n"
                           "node i1 compute engine=sm duration=0\n"
                           "node b barrier\n"
                           "node \"<x> \\\"y\\\"\" compute duration=7\n"
                           "edge n0 n2 data-ready object=a\n"
                           "edge n1 n3 ordering from=start\n";

static const int64_t times[8][2] = {{0, 10},  {0, 20},  {10, 15}, {20, 25},
                                    {10, 10}, {10, 10}, {10, 10}, {3, 10}};

struct made {
    struct graph *graph;
    struct timeline *timeline;
    struct chrome_timeline drawn;
};

static struct made made;

static void set_up(void)
{
    struct report *report = report_new(0);

    OK(graph_read_text(text, sizeof text - 1, "made", report, &made.graph, &err));
    report_free(report);
    made.timeline = timeline_new(8, 1);
    ck_assert_ptr_nonnull(made.timeline);
    for (uint32_t i = 0; i < 8; i++) {
        made.timeline->spans[i].start_ns = times[i][0];
        made.timeline->spans[i].finish_ns = times[i][1];
        made.timeline->spans[i].order = i;
    }
    made.timeline->makespan_ns = 25;
    OK(timeline_add_pressure(made.timeline, &(struct timeline_pressure){{0}, 4, 10}, &err));
    OK(timeline_add_pressure(made.timeline, &(struct timeline_pressure){{0}, 15, 0}, &err));
    OK(timeline_add_induced(made.timeline, &(struct timeline_induced){{2}, {3}, {0}, 10}, &err));
    made.drawn = (struct chrome_timeline){
        .label = "run \"1\"", .graph = made.graph, .timeline = made.timeline};
}

static void tear_down(void)
{
    timeline_free(made.timeline);
    graph_free(made.graph);
}

static struct chrome_layout laid_out(const struct chrome_options *options)
{
    struct chrome_layout layout;

    OK(chrome_layout_make(&made.drawn, options, &layout, &err));
    return layout;
}

static void check_slice(const struct chrome_layout *layout, uint32_t node, uint32_t thread,
                        int64_t start_ns, int64_t end_ns)
{
    const struct chrome_slice *slice = &layout->slices[layout->slice_of[node]];

    ck_assert_uint_eq(slice->node, node);
    ck_assert_uint_eq(slice->thread, thread);
    ck_assert_int_eq(slice->start_ns, start_ns);
    ck_assert_int_eq(slice->end_ns, end_ns);
}

/* n0 and n1 begin at once and need two lanes; n2 follows n0 on the first; at 20 both lanes are free.
 * i0 and i1 are of one instant: they follow each other on the lane of instants. */
START_TEST(slices_take_the_first_free_lane)
{
    struct chrome_options options = chrome_default();
    struct chrome_layout layout = laid_out(&options);

    ck_assert_uint_eq(layout.n_slices, 8);
    ck_assert_uint_eq(layout.n_threads, 5);
    check_slice(&layout, 0, 0, 0, 10);
    check_slice(&layout, 1, 1, 0, 20);
    check_slice(&layout, 2, 0, 10, 15);
    check_slice(&layout, 3, 0, 20, 25);
    check_slice(&layout, 4, 2, 10, 11);
    check_slice(&layout, 5, 2, 11, 12);
    check_slice(&layout, 7, 3, 3, 10); /* without an engine: after the engines */
    check_slice(&layout, 6, 4, 10, 11);
    ck_assert_uint_eq(layout.threads[1].number, 2);
    ck_assert(layout.threads[2].is_instants);
    ck_assert(!weir_is(layout.threads[3].engine));
    chrome_layout_free(&layout);
}
END_TEST

START_TEST(a_window_keeps_what_reaches_into_it)
{
    struct chrome_options options = chrome_default();
    struct chrome_layout layout;

    options.from_ns = 12;
    options.to_ns = 20;
    layout = laid_out(&options);
    ck_assert_uint_eq(layout.n_slices, 2); /* n1 and n2, whole; n3 begins at the end */
    check_slice(&layout, 1, 0, 0, 20);
    check_slice(&layout, 2, 1, 10, 15);
    ck_assert_uint_eq(layout.slice_of[3], UINT32_MAX);
    chrome_layout_free(&layout);
}
END_TEST

START_TEST(what_never_ran_is_not_drawn_and_what_never_ended_ends_with_the_run)
{
    struct chrome_options options = chrome_default();
    struct chrome_layout layout;

    made.timeline->spans[3].finish_ns = -1;
    made.timeline->spans[7].start_ns = -1;
    made.timeline->spans[7].finish_ns = -1;
    made.timeline->makespan_ns = 90;
    layout = laid_out(&options);
    ck_assert_uint_eq(layout.n_slices, 7);
    ck_assert_uint_eq(layout.slice_of[7], UINT32_MAX);
    check_slice(&layout, 3, 0, 20, 90);
    chrome_layout_free(&layout);
}
END_TEST

/* Thousands of instants at one moment do not spread over thousands of lanes, nor far in time. */
START_TEST(a_lane_of_instants_has_patience)
{
    enum { N = 2500 };
    char *many = malloc(N * 32 + 64);
    size_t used;
    struct report *report = report_new(0);
    struct chrome_options options = chrome_default();
    struct chrome_layout layout;

    ck_assert_ptr_nonnull(many);
    used = (size_t)snprintf(many, 64, "weir 1\n");
    for (int i = 0; i < N; i++)
        used += (size_t)snprintf(many + used, 32, "node n%d barrier\n", i);
    tear_down();
    OK(graph_read_text(many, used, "many", report, &made.graph, &err));
    made.timeline = timeline_new(N, 0);
    ck_assert_ptr_nonnull(made.timeline);
    for (uint32_t i = 0; i < N; i++)
        made.timeline->spans[i] = (struct timeline_span){
            .start_ns = 0, .finish_ns = 0, .blocker = {WEIR_NONE}, .order = i};
    made.drawn = (struct chrome_timeline){.graph = made.graph, .timeline = made.timeline};
    layout = laid_out(&options);
    ck_assert_uint_eq(layout.n_threads, 3);
    for (uint32_t i = 0; i < layout.n_slices; i++)
        ck_assert_int_le(layout.slices[i].start_ns, 1000);
    chrome_layout_free(&layout);
    report_free(report);
    free(many);
}
END_TEST

/* Writes the made timeline, and gives the text back, good until the next call. */
static const char *written(const struct chrome_options *options, struct chrome_result *result)
{
    static char out[1 << 14];
    char path[] = "/tmp/weir-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file;
    size_t n;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
    OK(writer_begin(&writer, path, &err));
    OK(chrome_write(&writer, &made.drawn, 1, options, result, &err));
    OK(writer_end(&writer, WEIR_OK));
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    n = fread(out, 1, sizeof out - 1, file);
    out[n] = '\0';
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(unlink(path), 0);
    return out;
}

static void check_has(const char *out, const char *piece)
{
    ck_assert_msg(strstr(out, piece) != NULL, "no %s in:\n%s", piece, out);
}

START_TEST(events_are_as_the_format_wants_them)
{
    struct chrome_options options = chrome_default();
    struct chrome_result result;
    const char *out;

    made.timeline->spans[3].ready_ns = 15;
    made.timeline->spans[3].cause = WAIT_CAPACITY;
    made.timeline->spans[3].blocker = (weir_node){2};
    out = written(&options, &result);
    check_has(out, "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\","
                   "\"args\":{\"name\":\"run \\\"1\\\"\"}}");
    check_has(out, "\"args\":{\"name\":\"sm (2)\"}}");
    check_has(out, "\"args\":{\"name\":\"sm (instants)\"}}");
    check_has(out, "\"args\":{\"name\":\"no engine\"}}");
    check_has(out, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0.020,\"dur\":0.005,\"cat\":\"sm\","
                   "\"name\":\"n3\",\"args\":{\"node\":3,\"kind\":\"compute\",\"start_ns\":20,"
                   "\"finish_ns\":25,\"ready_ns\":15,\"wait_cause\":\"capacity\","
                   "\"blocker\":\"n2\"}}");
    check_has(out, "\"name\":\"<x> \\\"y\\\"\"");
    /* An instant: drawn a nanosecond long, with its true times. */
    check_has(out, "\"ts\":0.011,\"dur\":0.001,\"cat\":\"sm\",\"name\":\"i1\",\"args\":{\"node\":5,"
                   "\"kind\":\"compute\",\"start_ns\":10,\"finish_ns\":10");
    /* Pressure begins with the run. */
    check_has(out, "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"name\":\"bytes in gpu\","
                   "\"args\":{\"bytes\":0}}");
    check_has(out, "\"ts\":0.004,\"name\":\"bytes in gpu\",\"args\":{\"bytes\":10}}");
    /* Arrows: from a finish, a nanosecond before; from a start, at it. */
    check_has(out, "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0.014,\"id\":1,\"cat\":\"edge\","
                   "\"name\":\"capacity-wait\"}");
    check_has(out, "{\"ph\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0.020,\"bp\":\"e\",\"id\":1,"
                   "\"cat\":\"edge\",\"name\":\"capacity-wait\"}");
    check_has(out, "{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"id\":3,\"cat\":\"edge\","
                   "\"name\":\"ordering\"}");
    ck_assert_uint_eq(result.n_slices, 8);
    ck_assert_uint_eq(result.n_counters, 3);
    ck_assert_uint_eq(result.n_arrows, 3);
    ck_assert_uint_eq(result.n_arrows_left_out, 0);
    ck_assert_uint_eq(result.n_events, 2 + 2 * 5 + 8 + 3 + 6);
}
END_TEST

START_TEST(an_arrow_that_nothing_can_hold_is_left_out)
{
    struct chrome_options options = chrome_default();
    struct chrome_result result;

    /* n2 started before n0 did, as recordings may have it. */
    made.timeline->spans[0].start_ns = 50;
    made.timeline->spans[0].finish_ns = 60;
    (void)written(&options, &result);
    ck_assert_uint_eq(result.n_arrows, 2);
    ck_assert_uint_eq(result.n_arrows_left_out, 1);
}
END_TEST

START_TEST(the_limit_takes_arrows_first_and_never_slices)
{
    struct chrome_options options = chrome_default();
    struct chrome_result result;

    options.limit_events = 2 + 2 + 2 * 5 + 8 + 3 + 2; /* room for the induced edge alone */
    (void)written(&options, &result);
    ck_assert_uint_eq(result.n_arrows, 1);
    ck_assert_uint_eq(result.n_arrows_left_out, 2);
    ck_assert_uint_le(result.n_events, options.limit_events);
    options.limit_events = 12;
    OK(writer_begin(&writer, "/dev/null", &err));
    ck_assert_int_eq(chrome_write(&writer, &made.drawn, 1, &options, &result, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "the limit is 12"));
    ck_assert_int_eq(writer_end(&writer, WEIR_USAGE), WEIR_USAGE);
}
END_TEST

START_TEST(the_chain_has_a_thread_of_its_own)
{
    static const weir_node chain[] = {{0}, {4}, {2}, {3}};
    struct chrome_options options = chrome_default();
    struct chrome_result result;
    const char *out;

    made.drawn.chain = chain;
    made.drawn.n_chain = 4;
    out = written(&options, &result);
    check_has(out, "\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"critical chain\"}}");
    check_has(out, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0.010,\"dur\":0.005,\"cat\":\"sm\","
                   "\"name\":\"n2\"");
    check_has(out, "\"critical\":1}}");
    /* The instant i0 would reach into n2 on that thread: it is on its own alone. */
    ck_assert_uint_eq(result.n_slices, 8 + 3);
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        slices_take_the_first_free_lane,
        a_window_keeps_what_reaches_into_it,
        what_never_ran_is_not_drawn_and_what_never_ended_ends_with_the_run,
        a_lane_of_instants_has_patience,
        events_are_as_the_format_wants_them,
        an_arrow_that_nothing_can_hold_is_left_out,
        the_limit_takes_arrows_first_and_never_slices,
        the_chain_has_a_thread_of_its_own,
    };
    Suite *all = suite_create("chrome");
    TCase *cases = tcase_create("chrome");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(all, cases);
    return all;
}

int main(void)
{
    return run_suite(suite());
}
