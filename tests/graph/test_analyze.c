/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analysis of a graph: small ones solved by hand, and order held against a search without an index. */
#include <string.h>

#include "graph/analyze.h"
#include "graph/generate.h"
#include "graph/text.h"
#include "tests/suite.h"

struct fixture {
    struct graph *graph;
    struct binding *binding;
    struct analysis analysis;
};

static void bind_it(struct fixture *fixture)
{
    struct report *report = report_new(0);
    struct weir_error err;

    ck_assert_msg(bind_graph(fixture->graph, report, &fixture->binding, &err) == WEIR_OK, "%s",
                  report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
    report_free(report);
    ck_assert_int_eq(analyze(fixture->binding, &fixture->analysis, &err), WEIR_OK);
}

static void begin(struct fixture *fixture, const char *text)
{
    struct report *report = report_new(0);
    struct weir_error err;

    ck_assert_msg(graph_read_text(text, strlen(text), "test", report, &fixture->graph, &err) ==
                      WEIR_OK,
                  "%s", err.text);
    report_free(report);
    bind_it(fixture);
}

static void end(struct fixture *fixture)
{
    analyze_free(&fixture->analysis);
    bind_free(fixture->binding);
    graph_free(fixture->graph);
}

static uint32_t node_of(const struct fixture *fixture, const char *name)
{
    weir_node node = graph_find_node(fixture->graph, graph_find_text(fixture->graph, name));

    ck_assert_msg(weir_is(node), "no node %s", name);
    return node.index;
}

static weir_copy copy_of(const struct fixture *fixture, const char *object, uint32_t domain)
{
    weir_object id = graph_find_object(fixture->graph, graph_find_text(fixture->graph, object));

    for (uint32_t i = 0; i < bind_n_copies(fixture->binding); i++) {
        const struct bind_copy *copy = bind_copy(fixture->binding, (weir_copy){i});

        if (weir_same(copy->object, id) && copy->domain.index == domain) {
            return (weir_copy){i};
        }
    }
    ck_abort_msg("no copy of %s", object);
}

#define MACHINE                                                                       \
    "weir 1\ngraph g\ndomain hbm capacity=1GB\ndomain host capacity=1GB\nengine sm\n" \
    "engine side\nengine d2h from=hbm to=host bandwidth=1GB/s latency=5\n"

START_TEST(test_times)
{
    struct fixture f;
    struct analysis *a = &f.analysis;

    /* a ends at 10. b is released at 15, ends at 20; c follows b's start by 3 and a's finish by 4: it
     * is ready at max(18, 14) = 18 and ends at 20; d follows b and c: 20 to 27, the end.
     * Back from 27: d starts by 20; c finishes by 20, starts by 18; b finishes by 20, and starts by
     * 18 - 3 = 15 for c: LS 15. a finishes by 18 - 4 = 14, starts by 4. */
    begin(&f, MACHINE "node a compute duration=10\nnode b compute duration=5 release=15\n"
                      "node c compute duration=2\nnode d compute duration=7\n"
                      "edge b c ordering from=start lag=3\nedge a c ordering lag=4\n"
                      "edge b d ordering\nedge c d ordering\n");
    ck_assert_int_eq(a->earliest_ns[node_of(&f, "b")], 15);
    ck_assert_int_eq(a->earliest_ns[node_of(&f, "c")], 18);
    ck_assert_int_eq(a->earliest_ns[node_of(&f, "d")], 20);
    ck_assert_int_eq(a->end_ns, 27);
    ck_assert_int_eq(a->latest_ns[node_of(&f, "d")], 20);
    ck_assert_int_eq(a->latest_ns[node_of(&f, "c")], 18);
    ck_assert_int_eq(a->latest_ns[node_of(&f, "b")], 15);
    ck_assert_int_eq(a->latest_ns[node_of(&f, "a")], 4);
    ck_assert_uint_eq(a->bound_by[node_of(&f, "c")], node_of(&f, "b"));
    ck_assert(a->due_ns[node_of(&f, "d")] == ANALYZE_NEVER);
    end(&f);
}
END_TEST

START_TEST(test_deadlines)
{
    struct fixture f;
    struct analyze_slow slow;
    struct weir_error err;

    /* c must finish by 30 and takes 10: it starts by 20, so b finishes by 20 and starts by 15. a leads
     * to no deadline. c's window: opens at 5, open; when b takes 5 + 3 * 6 = 23 it opens at 23 > 20. */
    begin(&f, MACHINE "node a compute duration=40\nnode b compute duration=normal(5,6)\n"
                      "node c compute duration=10 deadline=30\nedge b c ordering\n");
    ck_assert_int_eq(f.analysis.due_ns[node_of(&f, "b")], 15);
    ck_assert_int_eq(f.analysis.due_ns[node_of(&f, "c")], 20);
    ck_assert(f.analysis.due_ns[node_of(&f, "a")] == ANALYZE_NEVER);
    ck_assert_int_eq(analyze_slow_make(&f.analysis, &slow, &err), WEIR_OK);
    ck_assert_int_eq(slow.earliest_ns[node_of(&f, "c")], 23);
    ck_assert_int_eq(analyze_window(&f.analysis, &slow, (weir_node){node_of(&f, "c")}),
                     WINDOW_UNCERTAIN);
    ck_assert_int_eq(analyze_window(&f.analysis, &slow, (weir_node){node_of(&f, "a")}),
                     WINDOW_NONE);
    analyze_slow_free(&slow);
    end(&f);
}
END_TEST

START_TEST(test_critical_path)
{
    struct fixture f;
    weir_node *path;
    uint32_t n;
    int64_t length_ns;
    struct weir_error err;

    /* a b d take 10 + 1 (lag) + 5 + 7 = 23, a c d only 10 + 2 + 7; the release of c is no part. */
    begin(&f, MACHINE "node a compute duration=10\nnode b compute duration=5\n"
                      "node c compute duration=2 release=100\nnode d compute duration=7\n"
                      "edge a b ordering lag=1\nedge a c ordering\nedge b d ordering\n"
                      "edge c d ordering\n");
    ck_assert_int_eq(analyze_path(&f.analysis, &path, &n, &length_ns, &err), WEIR_OK);
    ck_assert_int_eq(length_ns, 23);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(path[0].index, node_of(&f, "a"));
    ck_assert_uint_eq(path[1].index, node_of(&f, "b"));
    ck_assert_uint_eq(path[2].index, node_of(&f, "d"));
    free(path);
    end(&f);
}
END_TEST

#define WITH_FALLBACK                                                                       \
    MACHINE "object x size=9\nnode p compute engine=sm duration=20 writes=x fallback=f%s\n" \
            "node f compute engine=side duration=4 writes=x\n"                              \
            "node r compute engine=sm duration=1 reads=x\n"

static int64_t critical_path_of(const struct fixture *f)
{
    int64_t length_ns;
    struct weir_error err;

    ck_assert_int_eq(analyze_critical_path(f->binding, &length_ns, &err), WEIR_OK);
    return length_ns;
}

START_TEST(test_bounds_hold_whichever_runs)
{
    struct fixture f;
    struct analyze_bounds bounds;
    struct analysis *a = &f.analysis;
    char text[1024];
    struct weir_error err;

    /* Along p, f and r either p takes 20, f nothing and r 1, or p nothing, f 4 and r 1: 5 are certain. But
     * p's window closes at 25 - 20 = 5, and no sooner does f run: from 5 to 9, and r to 10. Of sm's
     * work only r is certain: it begins at 9. */
    (void)snprintf(text, sizeof text, WITH_FALLBACK, " deadline=25");
    begin(&f, text);
    ck_assert_int_eq(critical_path_of(&f), 5);
    ck_assert_int_eq(a->earliest_ns[node_of(&f, "f")], 5);
    ck_assert_int_eq(a->earliest_ns[node_of(&f, "r")], 9);
    ck_assert_int_eq(a->end_ns, 10);
    ck_assert(!analyze_surely_runs(a, node_of(&f, "p")));
    ck_assert(analyze_surely_runs(a, node_of(&f, "r")));
    ck_assert_int_eq(analyze_bounds(a, &bounds, &err), WEIR_OK);
    ck_assert_int_eq(bounds.engines[0].work_ns, 1);
    ck_assert_int_eq(bounds.engines[0].bound_ns, 10);
    ck_assert_uint_eq(bounds.engines[1].n_nodes, 0);
    analyze_bounds_free(&bounds);
    end(&f);
    /* A window that never closes: p runs, and f never does. */
    (void)snprintf(text, sizeof text, WITH_FALLBACK, "");
    begin(&f, text);
    ck_assert_int_eq(critical_path_of(&f), 21);
    ck_assert_int_eq(a->end_ns, 21);
    end(&f);
}
END_TEST

START_TEST(test_a_lag_to_what_does_not_run_is_no_bound)
{
    struct fixture f;
    struct analyze_bounds bounds;
    struct weir_error err;

    /* b is off: nothing has to wait 90 after a, which ends at 10. */
    begin(&f, MACHINE "guard no off\nnode a compute engine=sm duration=10\n"
                      "node b compute engine=sm duration=3 guard=no\nedge a b ordering lag=90\n");
    ck_assert_int_eq(analyze_bounds(&f.analysis, &bounds, &err), WEIR_OK);
    ck_assert_int_eq(bounds.bound_ns, 10);
    ck_assert_int_eq(critical_path_of(&f), 10);
    analyze_bounds_free(&bounds);
    end(&f);
}
END_TEST

START_TEST(test_bounds)
{
    struct fixture f;
    struct analyze_bounds bounds;
    struct weir_error err;

    /* On sm b, c and d take 30 one after another; a has to be over before the first (4), and e after the
     * last (6): 40. Precedence alone: 4 + 10 + 6 = 20. The copy moves 100 bytes at 1 B/ns. */
    begin(&f,
          MACHINE "object x size=100 initial\nnode a compute engine=side duration=4\n"
                  "node b compute engine=sm duration=10\nnode c compute engine=sm duration=10\n"
                  "node d compute engine=sm duration=10\nnode e compute engine=side duration=6\n"
                  "node out offload engine=d2h object=x duration=1\n"
                  "edge a b ordering\nedge a c ordering\nedge a d ordering\n"
                  "edge b e ordering\nedge c e ordering\nedge d e ordering\n");
    ck_assert_int_eq(analyze_bounds(&f.analysis, &bounds, &err), WEIR_OK);
    ck_assert_int_eq(bounds.engines[0].work_ns, 30);
    ck_assert_int_eq(bounds.engines[0].bound_ns, 40);
    ck_assert_int_eq(bounds.engines[2].bytes, 100);
    ck_assert_int_eq(bounds.engines[2].bytes_ns, 100);
    ck_assert_int_eq(bounds.bound_ns, 40);
    ck_assert_int_eq(f.analysis.end_ns, 20);
    analyze_bounds_free(&bounds);
    end(&f);
}
END_TEST

/* x is used by r (an alias reader, to 30), out (a transfer, 10 to 115) and h (a hold, to 40). */
START_TEST(test_lives)
{
    struct fixture f;
    struct analyze_life *lives;
    const struct analyze_life *x;
    struct weir_error err;

    begin(&f, MACHINE
          "object x size=100\nobject v size=10 alias=x\nnode w compute duration=10 writes=x\n"
          "node r compute duration=20 reads=v\nnode out offload engine=d2h object=x\n"
          "node h compute duration=10\nnode z compute duration=500\nnode f reclamation object=x\n"
          "node k compute duration=1 reads=x@host\n"
          "edge r h lifetime-hold object=x\nedge z f ordering\n");
    ck_assert_int_eq(analyze_lives(&f.analysis, &lives, &err), WEIR_OK);
    x = &lives[copy_of(&f, "x", 0).index];
    ck_assert_uint_eq(x->begins.index, node_of(&f, "w"));
    ck_assert_int_eq(x->begin_ns, 0);
    ck_assert_int_eq(x->reclaim_ready_ns, 115); /* 10 + 5 latency + 100 */
    ck_assert_uint_eq(x->ready_by.index, node_of(&f, "out"));
    ck_assert_int_eq(x->role, ROLE_TRANSFER);
    ck_assert_uint_eq(x->late_by.index, node_of(&f, "z"));
    ck_assert_int_eq(x->end_ns, 500);
    x = &lives[copy_of(&f, "x", 1).index];
    ck_assert_int_eq(x->begin_ns, 10);
    ck_assert_int_eq(x->reclaim_ready_ns, 116);
    ck_assert_int_eq(x->role, ROLE_READER);
    ck_assert_int_eq(x->end_ns, 116);
    free(lives);
    end(&f);
}
END_TEST

static enum analyze_role role_of(const char *text)
{
    struct fixture f;
    struct analyze_life *lives;
    enum analyze_role role;
    struct weir_error err;

    begin(&f, text);
    ck_assert_int_eq(analyze_lives(&f.analysis, &lives, &err), WEIR_OK);
    role = lives[copy_of(&f, "x", 0).index].role;
    free(lives);
    end(&f);
    return role;
}

START_TEST(test_what_binds_a_reclamation)
{
    ck_assert_int_eq(role_of(MACHINE "object x size=9 initial\nobject v size=3 alias=x\n"
                                     "node r compute duration=20 reads=v\n"
                                     "node f reclamation object=x\n"),
                     ROLE_ALIAS);
    ck_assert_int_eq(role_of(MACHINE "object x size=9 initial\nnode r compute duration=2 reads=x\n"
                                     "node b compute duration=9\nnode all barrier\n"
                                     "node f reclamation object=x\nedge b all barrier\n"
                                     "edge all f barrier\n"),
                     ROLE_BARRIER);
    ck_assert_int_eq(role_of(MACHINE
                             "object x size=9 initial\nnode r compute duration=2 reads=x\n"
                             "node h compute duration=9\nedge r h lifetime-hold object=x\n"),
                     ROLE_HOLD);
    ck_assert_int_eq(role_of(MACHINE "object x size=9 initial\nnode m mapping object=x domain=host "
                                     "duration=9\n"),
                     ROLE_MAPPING);
    ck_assert_int_eq(role_of(MACHINE "object x size=9 initial retained\n"
                                     "node a compute duration=9\n"),
                     ROLE_NONE);
}
END_TEST

/* --- order --- */

/* A search without an index, from the finish of the first. */
static bool reaches(const struct analysis *analysis, uint32_t node, uint32_t to, bool is_first,
                    bool *seen)
{
    const struct adjacency *next = &analysis->next;

    for (uint32_t i = next->first[node]; i < next->first[node + 1]; i++) {
        uint32_t consumer = next->items[i].consumer;

        if (is_first &&
            analyze_link(bind_of(analysis->binding), next->items[i].edge).is_from_start) {
            continue;
        }
        if (consumer == to) {
            return true;
        }
        if (!seen[consumer]) {
            seen[consumer] = true;
            if (reaches(analysis, consumer, to, false, seen)) {
                return true;
            }
        }
    }
    return false;
}

START_TEST(test_order_is_that_of_a_search)
{
    struct generate_random_options options = generate_random_default();
    struct fixture f;
    struct analyze_order *order;
    struct weir_error err;
    uint32_t n_before = 0, n_nodes;

    options.n_nodes = 150;
    options.seed = (uint64_t)_i + 1;
    options.width = 2 + (uint32_t)_i % 7;
    ck_assert_int_eq(generate_random(&options, &f.graph, &err), WEIR_OK);
    bind_it(&f);
    n_nodes = graph_n_nodes(f.graph);
    ck_assert_int_eq(analyze_order_make(&f.analysis, &order, &err), WEIR_OK);
    for (uint32_t a = 0; a < n_nodes; a++) {
        for (uint32_t b = 0; b < n_nodes; b++) {
            bool *seen = calloc(n_nodes, sizeof *seen);
            bool expected = a != b && reaches(&f.analysis, a, b, true, seen);

            free(seen);
            ck_assert_msg(analyze_before(order, (weir_node){a}, (weir_node){b}) == expected,
                          "%s before %s: expected %d", graph_node_name(f.graph, (weir_node){a}),
                          graph_node_name(f.graph, (weir_node){b}), expected);
            n_before += expected ? 1 : 0;
        }
    }
    ck_assert_uint_gt(n_before, 0);
    analyze_order_free(order);
    end(&f);
}
END_TEST

START_TEST(test_order_by_a_start_is_none)
{
    struct fixture f;
    struct analyze_order *order;
    weir_node *path;
    uint32_t n;
    struct weir_error err;

    /* b follows only the start of a: a may still run. c follows a by way of d. */
    begin(&f, MACHINE "node a compute duration=9\nnode b compute duration=9\n"
                      "node d compute duration=9\nnode c compute duration=9\n"
                      "edge a b ordering from=start\nedge a d ordering\n"
                      "edge d c ordering from=start\n");
    ck_assert_int_eq(analyze_order_make(&f.analysis, &order, &err), WEIR_OK);
    ck_assert(!analyze_before(order, (weir_node){0}, (weir_node){1}));
    ck_assert(!analyze_before(order, (weir_node){3}, (weir_node){0}));
    ck_assert(analyze_before(order, (weir_node){0}, (weir_node){3}));
    ck_assert_int_eq(analyze_before_path(order, (weir_node){0}, (weir_node){3}, &path, &n, &err),
                     WEIR_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(path[1].index, 2);
    free(path);
    analyze_order_free(order);
    end(&f);
}
END_TEST

/* --- progress --- */

static struct analyze_progress progress_of(const char *text)
{
    struct fixture f;
    struct analyze_progress progress;
    struct weir_error err;

    begin(&f, text);
    ck_assert_int_eq(analyze_progress(&f.analysis, &progress, &err), WEIR_OK);
    end(&f);
    return progress;
}

#define CHAIN                                                                            \
    "engine sm\nobject x size=6\nobject y size=6\nnode wx compute duration=1 writes=x\n" \
    "node rx compute duration=1 reads=x\nnode fx reclamation object=x\n"                 \
    "node wy compute duration=1 writes=y\nnode ry compute duration=1 reads=y\n"

START_TEST(test_progress)
{
    /* Together x and y take 12. Where wy follows rx, the reclamation of x, which takes nothing, has run
     * whenever wy waits: 6 are enough. 5 never are. */
    ck_assert(progress_of("weir 1\ngraph g\ndomain m capacity=12\n" CHAIN).fits_at_once);
    ck_assert_int_eq(
        progress_of("weir 1\ngraph g\ndomain m capacity=6\n" CHAIN "edge rx wy ordering\n").verdict,
        PROGRESS_FREE);
    ck_assert_int_eq(progress_of("weir 1\ngraph g\ndomain m capacity=5\n" CHAIN).verdict,
                     PROGRESS_SHORT);
    /* na and nb may hold 4 each of 11, and then nc and nd need 4 more each. */
    ck_assert_int_eq(progress_of("weir 1\ngraph g\ndomain m capacity=11\nengine e slots=2\n"
                                 "object a size=4\nobject b size=4\nobject c size=4\n"
                                 "object d size=4\nnode na compute duration=1 writes=a\n"
                                 "node nb compute duration=1 writes=b\n"
                                 "node nc compute duration=1 reads=a writes=c\n"
                                 "node nd compute duration=1 reads=b writes=d\n")
                         .verdict,
                     PROGRESS_UNKNOWN);
}
END_TEST

START_TEST(test_progress_with_fallbacks)
{
    /* As above with 6, and rx may give way to z: it lets wy go either way, and x is given back by then. */
    ck_assert_int_eq(progress_of("weir 1\ngraph g\ndomain m capacity=6\nengine sm\n"
                                 "object x size=6\nobject y size=6\n"
                                 "node wx compute duration=1 writes=x\n"
                                 "node rx compute duration=1 reads=x deadline=9 fallback=z\n"
                                 "node z compute duration=1\nnode fx reclamation object=x\n"
                                 "node wy compute duration=1 writes=y\nedge rx wy ordering\n")
                         .verdict,
                     PROGRESS_FREE);
    /* The reclamation itself may give way: then nothing gives x back. */
    ck_assert_int_eq(progress_of("weir 1\ngraph g\ndomain m capacity=6\nengine sm\n"
                                 "object x size=6\nobject y size=6\n"
                                 "node wx compute duration=1 writes=x\n"
                                 "node rx compute duration=1 reads=x\n"
                                 "node fx reclamation object=x deadline=9 fallback=z\n"
                                 "node z compute duration=1\n"
                                 "node wy compute duration=1 writes=y\nedge rx wy ordering\n")
                         .verdict,
                     PROGRESS_UNKNOWN);
    /* f, which p waits for, waits to know whether p gives way. */
    ck_assert_int_eq(progress_of("weir 1\ngraph g\ndomain m capacity=60\n"
                                 "node f compute duration=1\nnode p compute duration=1 fallback=f\n"
                                 "edge f p ordering\n")
                         .verdict,
                     PROGRESS_UNKNOWN);
}
END_TEST

/* One after another, in a domain each. */
START_TEST(test_progress_in_many_domains)
{
    enum { DOMAINS = 100 };
    char text[DOMAINS * 400];
    size_t n = (size_t)sprintf(text, "weir 1\ngraph g\nengine sm\n");

    for (int i = 0; i < DOMAINS; i++) {
        n += (size_t)sprintf(text + n,
                             "domain m%d capacity=6\nobject x%d size=6 domain=m%d\n"
                             "object y%d size=6 domain=m%d\n"
                             "node wx%d compute duration=1 writes=x%d domain=m%d\n"
                             "node rx%d compute duration=1 reads=x%d domain=m%d\n"
                             "node wy%d compute duration=1 writes=y%d domain=m%d\n"
                             "edge rx%d wy%d ordering\n",
                             i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i);
        n += i == 0 ? 0 : (size_t)sprintf(text + n, "edge wy%d wx%d ordering\n", i - 1, i);
    }
    ck_assert_int_eq(progress_of(text).verdict, PROGRESS_FREE);
    /* The last has no order between them. */
    *strstr(text, "edge rx99") = '#';
    ck_assert_int_eq(progress_of(text).verdict, PROGRESS_UNKNOWN);
    ck_assert_uint_eq(progress_of(text).domain.index, DOMAINS - 1);
}
END_TEST

START_TEST(test_a_circle_of_waits)
{
    struct fixture f;
    struct analyze_waits waits = {NULL, 0, 0};
    bool is_finished[] = {true, true, false, false};
    weir_node *circle;
    uint32_t n;
    struct weir_error err;

    /* As above: na and nb have finished, nc and nd wait for the bytes of each other. */
    begin(&f, "weir 1\ngraph g\ndomain m capacity=11\nengine e slots=2\nobject a size=4\n"
              "object b size=4\nobject c size=4\nobject d size=4\n"
              "node na compute duration=1 writes=a\nnode nb compute duration=1 writes=b\n"
              "node nc compute duration=1 reads=a writes=c\n"
              "node nd compute duration=1 reads=b writes=d\n");
    ck_assert_int_eq(analyze_circle(f.binding, &waits, &circle, &n, &err), WEIR_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(analyze_stuck_waits(&f.analysis, is_finished, &waits, &err), WEIR_OK);
    ck_assert_int_eq(analyze_circle(f.binding, &waits, &circle, &n, &err), WEIR_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(circle[0].index + circle[1].index, 2 + 3);
    free(circle);
    analyze_waits_free(&waits);
    end(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph/analyze");
    TCase *tcase = tcase_create("analyze");

    tcase_add_test(tcase, test_times);
    tcase_add_test(tcase, test_deadlines);
    tcase_add_test(tcase, test_critical_path);
    tcase_add_test(tcase, test_bounds);
    tcase_add_test(tcase, test_bounds_hold_whichever_runs);
    tcase_add_test(tcase, test_a_lag_to_what_does_not_run_is_no_bound);
    tcase_add_test(tcase, test_lives);
    tcase_add_test(tcase, test_what_binds_a_reclamation);
    tcase_add_loop_test(tcase, test_order_is_that_of_a_search, 0, 20);
    tcase_add_test(tcase, test_order_by_a_start_is_none);
    tcase_add_test(tcase, test_progress);
    tcase_add_test(tcase, test_progress_with_fallbacks);
    tcase_add_test(tcase, test_progress_in_many_domains);
    tcase_add_test(tcase, test_a_circle_of_waits);
    suite_add_tcase(suite, tcase);
    return run_suite_together(suite);
}
