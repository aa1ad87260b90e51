/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Critical chains found by hand. */
#include "judge/chain.h"

#include <string.h>

#include "graph/text.h"
#include "tests/suite.h"

struct scene {
    struct graph *graph;
    struct binding *binding;
    struct timeline *timeline;
    struct run_link *links;
    size_t n_links;
};

static void begin(struct scene *scene, const char *text)
{
    struct report *report = report_new(5);
    struct weir_error err;

    memset(scene, 0, sizeof *scene);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(graph_read_text(text, strlen(text), "g", report, &scene->graph, &err),
                     WEIR_OK);
    ck_assert_int_eq(bind_graph(scene->graph, report, &scene->binding, &err), WEIR_OK);
    report_free(report);
    scene->timeline = timeline_new(graph_n_nodes(scene->graph), graph_n_domains(scene->graph));
    ck_assert_ptr_nonnull(scene->timeline);
}

static void end(struct scene *scene)
{
    timeline_free(scene->timeline);
    bind_free(scene->binding);
    graph_free(scene->graph);
    free(scene->links);
}

static weir_node node_of(const struct scene *scene, const char *name)
{
    return graph_find_node(scene->graph, graph_find_text(scene->graph, name));
}

/* Nodes are told of in the order of their starts. */
static void ran(struct scene *scene, const char *name, int64_t ready_ns, int64_t start_ns,
                int64_t finish_ns, enum wait_cause cause, const char *blocker)
{
    struct timeline_span *span = &scene->timeline->spans[node_of(scene, name).index];
    uint32_t order = 0;

    for (uint32_t i = 0; i < scene->timeline->n_nodes; i++) {
        order += scene->timeline->spans[i].start_ns >= 0 ? 1 : 0;
    }
    span->ready_ns = ready_ns;
    span->start_ns = start_ns;
    span->finish_ns = finish_ns;
    span->order = order;
    span->cause = (uint8_t)cause;
    if (blocker != NULL) {
        span->blocker = node_of(scene, blocker);
    }
    if (finish_ns > scene->timeline->makespan_ns) {
        scene->timeline->makespan_ns = finish_ns;
    }
}

/* Finds the chain and writes it as "node cause via start-finish; ...". */
static const char *chain_text(struct scene *scene, char text[512])
{
    int64_t sum_ns = 0;
    struct weir_error err;
    size_t length = 0;

    ck_assert_int_eq(
        chain_find(scene->binding, scene->timeline, &scene->links, &scene->n_links, &err), WEIR_OK);
    text[0] = '\0';
    for (size_t i = 0; i < scene->n_links; i++) {
        const struct run_link *link = &scene->links[i];

        ck_assert_int_eq(link->start_ns, i == 0 ? 0 : scene->links[i - 1].finish_ns);
        sum_ns += link->finish_ns - link->start_ns;
        length += (size_t)snprintf(
            text + length, 512 - length, "%s%s %s%s%s %d-%d", i == 0 ? "" : "; ",
            graph_node_name(scene->graph, link->node), link->cause, link->via == NULL ? "" : " ",
            link->via == NULL ? "" : link->via, (int)link->start_ns, (int)link->finish_ns);
    }
    ck_assert_int_eq(sum_ns, scene->timeline->makespan_ns);
    return text;
}

/* b follows a with a lag of 5; c waits on b's engine until b ends; d was over long ago. */
START_TEST(test_edges_and_engines)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\ndomain m capacity=1000\nengine e\nengine f\n"
                  "node a compute engine=f duration=10\n"
                  "node d compute engine=f duration=3\n"
                  "node b compute engine=e duration=20\n"
                  "node c compute engine=e duration=30\n"
                  "edge a b ordering lag=5\n");
    ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    ran(&scene, "d", 0, 10, 13, WAIT_ENGINE, "a");
    ran(&scene, "b", 15, 15, 35, WAIT_NONE, NULL);
    ran(&scene, "c", 20, 35, 65, WAIT_ENGINE, "b");
    ck_assert_str_eq(chain_text(&scene, text),
                     "a begin 0-10; b predecessor ordering 10-35; c engine 35-65");
    end(&scene);
}
END_TEST

/* b starts 5 after the start of a, and ends before it. */
START_TEST(test_edges_from_a_start)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\nengine e\nengine f\nengine g\n"
                  "node z compute engine=e duration=10\n"
                  "node a compute engine=f duration=50\n"
                  "node b compute engine=g duration=20\n"
                  "node c compute engine=g duration=90\n"
                  "edge z a ordering\nedge a b ordering from=start lag=5\nedge b c ordering\n");
    ran(&scene, "z", 0, 0, 10, WAIT_NONE, NULL);
    ran(&scene, "a", 10, 10, 60, WAIT_NONE, NULL);
    ran(&scene, "b", 15, 15, 35, WAIT_NONE, NULL);
    ran(&scene, "c", 35, 35, 125, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text),
                     "z begin 0-10; a predecessor ordering 10-10; b predecessor ordering 10-35; "
                     "c predecessor ordering 35-125");
    end(&scene);
}
END_TEST

/* The reader of x waits for bytes that hog gives back; hog was released at 7. */
START_TEST(test_bytes_and_releases)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\ndomain m capacity=1000\nengine e\nengine f\n"
                  "object x size=10\n"
                  "node hog compute engine=e duration=10 workspace=995 release=7\n"
                  "node writer compute engine=f duration=20 writes=x\n"
                  "node reader compute engine=f duration=1 reads=x\n");
    ran(&scene, "hog", 7, 7, 17, WAIT_NONE, NULL);
    ran(&scene, "writer", 0, 17, 37, WAIT_CAPACITY, "hog");
    ran(&scene, "reader", 37, 37, 38, WAIT_NONE, NULL);
    ck_assert_str_eq(
        chain_text(&scene, text),
        "hog release 0-17; writer capacity 17-37; reader predecessor data-ready 37-38");
    end(&scene);
}
END_TEST

/* The policy holds b, which a made ready at 10, until 30. */
START_TEST(test_a_node_that_was_held)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\nengine e\n"
                  "node a compute engine=e duration=10\n"
                  "node b compute engine=e duration=10\n"
                  "edge a b ordering\n");
    ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    ran(&scene, "b", 10, 30, 40, WAIT_ADMISSION, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "a begin 0-10; b admission ordering 10-40");
    end(&scene);
}
END_TEST

/* off does not run and passes on what a did; give gave way at 50, and stand stood in for it. */
START_TEST(test_what_does_not_run_is_no_link)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\nengine e\nengine f\nguard g off\n"
                  "node a compute engine=e duration=10\n"
                  "node off compute engine=e duration=10 guard=g\n"
                  "node b compute engine=e duration=10\n"
                  "edge a off ordering\nedge off b ordering\n");
    ran(&scene, "a", 0, 0, 10, WAIT_NONE, NULL);
    scene.timeline->spans[node_of(&scene, "off").index].ready_ns = 10;
    ran(&scene, "b", 10, 10, 20, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "a begin 0-10; b predecessor ordering 10-20");
    end(&scene);

    begin(&scene, "weir 1\nengine e\nengine f\n"
                  "node busy compute engine=e duration=90\n"
                  "node give compute engine=e duration=10 deadline=60 fallback=stand\n"
                  "node stand compute engine=f duration=70\n");
    ran(&scene, "busy", 0, 0, 90, WAIT_NONE, NULL);
    ran(&scene, "stand", 50, 50, 120, WAIT_NONE, NULL);
    ck_assert_str_eq(chain_text(&scene, text), "stand window 0-120");
    end(&scene);
}
END_TEST

START_TEST(test_nothing_ran)
{
    struct scene scene;
    char text[512];

    begin(&scene, "weir 1\nengine e\nnode a compute engine=e duration=10\n");
    ck_assert_str_eq(chain_text(&scene, text), "");
    ck_assert_uint_eq(scene.n_links, 0);
    end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chain");
    TCase *tests = tcase_create("chain");

    tcase_add_test(tests, test_edges_and_engines);
    tcase_add_test(tests, test_edges_from_a_start);
    tcase_add_test(tests, test_bytes_and_releases);
    tcase_add_test(tests, test_a_node_that_was_held);
    tcase_add_test(tests, test_what_does_not_run_is_no_link);
    tcase_add_test(tests, test_nothing_ran);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
