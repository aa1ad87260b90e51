/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lifetimes of graphs: by positions on one queue, by happens-before on several; what is outside of the
 * arena, what is fixed; and drawn graphs, whose plans are carried out in drawn orders of their nodes. */
#include <inttypes.h>

#include "graph/adjacency.h"
#include "graph/generate.h"
#include "graph/text.h"
#include "policies/arena_bytes.h"
#include "policies/arena_check.h"
#include "policies/arena_graph.h"
#include "policies/arena_order.h"
#include "tests/policies/arena_random.h"
#include "tests/suite.h"

/* A graph and the problem of one of its domains. */
struct made {
    struct graph *graph;
    struct binding *binding;
    struct arena_problem problem;
    struct arena_left_out left_out;
};

static void bind(struct made *made, uint32_t domain, enum arena_queues queues)
{
    struct report *report = report_new(0);
    struct arena_source source = {{domain}, queues};
    struct weir_error err;

    ck_assert_msg(bind_graph(made->graph, report, &made->binding, &err) == WEIR_OK, "%s",
                  report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
    report_free(report);
    ck_assert_msg(arena_from_graph(made->binding, &source, &made->problem, &made->left_out, &err) ==
                      WEIR_OK,
                  "%s", err.text);
}

static struct made make(const char *text, uint32_t domain, enum arena_queues queues)
{
    struct report *report = report_new(0);
    struct made made = {.graph = NULL};
    struct weir_error err;

    ck_assert_msg(graph_read_text(text, strlen(text), "t", report, &made.graph, &err) == WEIR_OK,
                  "%s", report_count(report) > 0 ? report_finding(report, 0)->message : err.text);
    report_free(report);
    bind(&made, domain, queues);
    return made;
}

static void made_free(struct made *made)
{
    arena_problem_free(&made->problem);
    bind_free(made->binding);
    graph_free(made->graph);
}

static struct arena_plan planned(const struct arena_problem *problem, const char *method)
{
    struct arena_plan plan;
    struct weir_error err;

    ck_assert_msg(arena_plan_make(problem, arena_method_find(method), &plan, &err) == WEIR_OK, "%s",
                  err.text);
    return plan;
}

static int64_t peak(const struct made *made, const char *method)
{
    struct arena_plan plan = planned(&made->problem, method);

    arena_plan_free(&plan);
    return plan.peak_bytes;
}

static const struct arena_buffer *buffer(const struct made *made, const char *name)
{
    for (uint32_t i = 0; i < made->problem.n_buffers; i++) {
        if (strcmp(made->problem.buffers[i].name, name) == 0) {
            return &made->problem.buffers[i];
        }
    }
    ck_abort_msg("there is no buffer %s", name);
    return NULL;
}

static void ck_life(const struct made *made, const char *name, int64_t lower, int64_t upper,
                    int64_t bytes)
{
    ck_assert_msg(buffer(made, name)->lower == lower && buffer(made, name)->upper == upper &&
                      buffer(made, name)->size_bytes == bytes,
                  "%s: %" PRId64 " bytes, [%" PRId64 ", %" PRId64 ")", name,
                  buffer(made, name)->size_bytes, buffer(made, name)->lower,
                  buffer(made, name)->upper);
}

/* a lives over the nodes 0-2, b over 1, c over 3-4: 1536 on one queue. */
#define THREE(first, second)                                     \
    "weir 1\ndomain hbm capacity=1MB\nengine " first "\n" second \
    "object a size=1024\nobject b size=512\nobject c size=768\n" \
    "node n0 compute engine=sm duration=1 writes=a\n"            \
    "node n1 compute engine=sm duration=1 writes=b\n"            \
    "node n2 compute engine=sm duration=1 reads=a\n"

START_TEST(one_queue_goes_by_positions)
{
    struct made made = make(THREE("sm", "") "node n3 compute engine=sm duration=1 writes=c\n"
                                            "node n4 compute engine=sm duration=1 reads=c\n",
                            0, ARENA_QUEUES_FOUND);

    ck_assert_ptr_null(made.problem.lifetimes);
    ck_life(&made, "a", 0, 3, 1024);
    ck_life(&made, "b", 1, 2, 512);
    ck_life(&made, "c", 3, 5, 768);
    ck_assert_int_eq(peak(&made, "best-fit"), 1536);
    ck_assert_int_eq(peak(&made, "greedy"), 1536);
    made_free(&made);
}
END_TEST

/* Two slots of one engine run side by side, as do two engines: 2304, and 1536 once an edge leaves
 * the finish of what reads a last. One that leaves its start does not do. A lag changes nothing. */
START_TEST(several_queues_go_by_happens_before)
{
    static const struct {
        const char *edge;
        int64_t peak;
    } tries[] = {
        {"", 2304},
        {"edge n2 n3 ordering\n", 1536},
        {"edge n2 n3 ordering from=start\n", 2304},
        {"edge n2 n3 ordering lag=5\n", 1536},
        {"edge n1 n3 ordering\n", 1792}, /* c where b was, which grows to 768: 1024 + 768 */
        {"edge n2 n4 ordering\n", 2304}, /* c has begun by then */
        {"node m barrier\nedge n2 m ordering\nedge m n3 ordering\n", 1536},
        {"node m barrier\nedge n2 m ordering\nedge m n3 ordering from=start\n", 1536},
    };
    char text[1000];

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct made made;

        (void)snprintf(text, sizeof text, "%s%s",
                       THREE("sm", "engine sn\n") "node n3 compute engine=sn duration=1 writes=c\n"
                                                  "node n4 compute engine=sn duration=1 reads=c\n",
                       tries[i].edge);
        made = make(text, 0, ARENA_QUEUES_FOUND);
        ck_assert_ptr_nonnull(made.problem.lifetimes);
        ck_assert_int_eq(peak(&made, "greedy"), tries[i].peak);
        made_free(&made);
        made = make(text, 0, ARENA_QUEUES_ONE);
        ck_assert_int_eq(peak(&made, "best-fit"), 1536);
        made_free(&made);
    }
}
END_TEST

START_TEST(what_makes_one_queue)
{
    static const struct {
        const char *nodes;
        bool is_one;
    } tries[] = {
        {"node n compute engine=sm duration=1 reads=a\n", true},
        {"node n reclamation object=a\n", true},        /* keeps books */
        {"node n compute duration=1 reads=a\n", false}, /* runs beside whatever runs */
        {"node n compute engine=two duration=1 reads=a\n", false},
        {"node n compute engine=sn duration=1 reads=a\n", false},
        {"node n compute engine=sn duration=1\n", true}, /* uses no bytes there */
        {"node n compute engine=sn duration=1 workspace=8\n", false},
        {"node n compute engine=sn duration=1 reads=a guard=never\n", true},
    };
    char text[500];

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct made made;

        (void)snprintf(text, sizeof text,
                       "weir 1\ndomain hbm capacity=1MB\nengine sm\nengine sn\nengine two slots=2\n"
                       "guard never off\nobject a size=8\n"
                       "node m compute engine=sm duration=1 writes=a\n%s",
                       tries[i].nodes);
        made = make(text, 0, ARENA_QUEUES_FOUND);
        ck_assert_msg((made.problem.lifetimes == NULL) == tries[i].is_one, "%s", tries[i].nodes);
        made_free(&made);
        made = make(text, 0, ARENA_QUEUES_SEVERAL);
        ck_assert_ptr_nonnull(made.problem.lifetimes);
        made_free(&made);
    }
}
END_TEST

/* w and out stay: w is fixed in the arena, out is outside of it. v is a view of x, whose alignment it
 * raises. y is reclaimed and filled again: two buffers. z is charged a granule. The copy of x on the
 * host is none of this arena's. */
START_TEST(retained_pinned_aliased)
{
    struct made made =
        make("weir 1\ndomain hbm capacity=1MB granule=32\ndomain host capacity=1MB\nengine sm\n"
             "engine d2h from=hbm to=host bandwidth=1GB/s\n"
             "object w size=64 initial retained offset=128@hbm\nobject out size=96 retained\n"
             "object x size=64 align=8\nobject v size=8 alias=x+16 align=16\n"
             "object y size=32\nobject z size=33\nobject p size=20 initial\n"
             "node n0 compute engine=sm duration=1 reads=w writes=x workspace=100,7@host\n"
             "node n1 compute engine=sm duration=1 reads=v writes=y\n"
             "node save offload engine=d2h object=x staging=5@hbm\n"
             "node drop reclamation object=y\n"
             "node n4 compute engine=sm duration=1 writes=y,out\n"
             "node n5 compute engine=sm duration=1 reads=y writes=z\n"
             "node n6 compute engine=sm duration=1 reads=z,p domain=hbm\n",
             0, ARENA_QUEUES_ONE);
    struct arena_plan plan = planned(&made.problem, "greedy");

    ck_assert_uint_eq(made.problem.n_buffers, 8);
    ck_assert_uint_eq(made.left_out.n_retained, 1);
    ck_assert_int_eq(made.left_out.retained_bytes, 96);
    ck_assert_uint_eq(made.left_out.n_elsewhere, 1);
    ck_life(&made, "w", 0, 7, 64);
    ck_assert_int_eq(buffer(&made, "w")->fixed_bytes, 128);
    ck_life(&made, "x", 0, 3, 64);
    ck_assert_int_eq(buffer(&made, "x")->align_bytes, 16);
    ck_life(&made, "y", 1, 4, 32); /* to its reclamation */
    ck_life(&made, "y#2", 4, 6, 32);
    ck_life(&made, "z", 5, 7, 64);
    ck_life(&made, "p", 0, 7, 32); /* there at once */
    ck_life(&made, "n0.workspace", 0, 1, 100);
    ck_life(&made, "save.staging", 2, 3, 5);
    ck_assert_int_eq(plan.base_align_bytes, 16);
    ck_assert_int_eq(plan.lower_bound_bytes, 64 + 64 + 32 + 100);
    arena_plan_free(&plan);
    made_free(&made);
}
END_TEST

/* The home is fixed, but the copy elsewhere of a retained object comes and goes. */
START_TEST(copies_away_from_home_are_planned)
{
    struct made made = make("weir 1\ndomain hbm capacity=1MB\ndomain host capacity=1MB\n"
                            "engine sm\nengine h2d from=host to=hbm bandwidth=1GB/s\n"
                            "object w size=64 domain=host initial retained\n"
                            "node load prefetch engine=h2d object=w staging=16@hbm\n"
                            "node use compute engine=sm duration=1 reads=w\n"
                            "node again compute engine=sm duration=1 reads=w\n",
                            0, ARENA_QUEUES_FOUND);

    ck_life(&made, "w", 0, 3, 64);
    ck_life(&made, "load.staging", 0, 3, 16); /* until both have read what it filled */
    ck_assert_uint_eq(made.left_out.n_retained, 0);
    made_free(&made);
}
END_TEST

START_TEST(an_alias_that_cannot_be_aligned)
{
    static const char text[] = "weir 1\ndomain hbm capacity=1MB\nengine sm\n"
                               "object x size=64\nobject v size=8 alias=x+10 align=16\n"
                               "node n0 compute engine=sm duration=1 writes=x\n";
    struct report *report = report_new(0);
    struct arena_source source = {{0}, ARENA_QUEUES_FOUND};
    struct arena_left_out left_out;
    struct made made = {.graph = NULL};
    struct weir_error err;

    ck_assert(graph_read_text(text, strlen(text), "t", report, &made.graph, &err) == WEIR_OK);
    ck_assert(bind_graph(made.graph, report, &made.binding, &err) == WEIR_OK);
    ck_assert_int_eq(arena_from_graph(made.binding, &source, &made.problem, &left_out, &err),
                     WEIR_INPUT);
    ck_assert_msg(strstr(err.text, "object v has align=16 and begins 10 bytes into") != NULL, "%s",
                  err.text);
    report_free(report);
    made_free(&made);
}
END_TEST

/* The check asks the graph itself: c is put where a is, and no edge lets it. */
START_TEST(the_check_asks_the_graph)
{
    struct made made = make(THREE("sm", "engine sn\n") "node n3 compute engine=sn duration=1 "
                                                       "writes=c\n",
                            0, ARENA_QUEUES_FOUND);
    const int64_t apart[] = {0, 1024, 1536}, shared[] = {0, 1024, 0};
    struct weir_error err;

    ck_assert_int_eq(arena_check(&made.problem, apart, &err), WEIR_OK);
    ck_assert_int_eq(arena_check(&made.problem, shared, &err), WEIR_NO);
    ck_assert_msg(strstr(err.text, "buffers a (1024 bytes at 0, steps 0 to 2) and c (768") != NULL,
                  "%s", err.text);
    made_free(&made);
}
END_TEST

/* --- drawn graphs --- */

static struct made drawn(uint64_t seed)
{
    struct made made = {.graph = NULL};
    struct generate_random_options options = generate_random_default();
    struct weir_error err;

    options.n_nodes = 20 + (uint32_t)(seed % 90);
    options.seed = seed;
    options.width = 1 + (uint32_t)(seed % 9);
    options.n_engines = 1 + (uint32_t)(seed % 3);
    ck_assert_msg(generate_random(&options, &made.graph, &err) == WEIR_OK, "%s", err.text);
    bind(&made, 0, ARENA_QUEUES_SEVERAL);
    return made;
}

/* Who leads to whom, node by node: reached[i * n + j]: i has finished when j starts. */
static bool *closure(const struct made *made)
{
    uint32_t n = graph_n_nodes(made->graph);
    bool *reached = calloc((size_t)n * n, sizeof *reached);
    bool *leads = calloc((size_t)n * n, sizeof *leads); /* the same, or from its start */

    ck_assert(reached != NULL && leads != NULL);
    for (uint32_t at = n; at-- > 0;) { /* from the last, all whose edges lead to later ones */
        uint32_t i = bind_order(made->binding, at).index;

        for (uint32_t e = 0; e < graph_n_edges(made->graph) + bind_n_edges(made->binding); e++) {
            struct graph_edge given = {.is_from_start = false};
            uint32_t producer, consumer;

            if (e < graph_n_edges(made->graph)) {
                graph_edge(made->graph, (weir_edge){e}, &given);
                producer = given.producer.index;
                consumer = given.consumer.index;
            } else {
                producer = bind_edges(made->binding)[e - graph_n_edges(made->graph)].producer.index;
                consumer = bind_edges(made->binding)[e - graph_n_edges(made->graph)].consumer.index;
            }
            for (uint32_t j = 0; j < n && producer == i; j++) {
                bool is_behind = j == consumer || leads[consumer * n + j];

                leads[i * n + j] |= is_behind;
                reached[i * n + j] |= is_behind && !given.is_from_start;
            }
        }
    }
    free(leads);
    return reached;
}

static bool ends_before(const struct made *made, const bool *reached, uint32_t a, uint32_t b)
{
    const struct arena_lifetimes *l = made->problem.lifetimes;
    uint32_t n = graph_n_nodes(made->graph);
    bool is_before =
        l->end_first[a] < l->end_first[a + 1] && l->begin_first[b] < l->begin_first[b + 1];

    for (uint32_t i = l->end_first[a]; i < l->end_first[a + 1]; i++) {
        for (uint32_t j = l->begin_first[b]; j < l->begin_first[b + 1]; j++) {
            is_before &= reached[l->ends[i].index * n + l->begins[j].index];
        }
    }
    return is_before;
}

START_TEST(order_is_what_paths_say)
{
    uint32_t n_before = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct made made = drawn(seed);
        bool *reached = closure(&made);

        for (uint32_t a = 0; a < made.problem.n_buffers; a++) {
            for (uint32_t b = 0; b < made.problem.n_buffers; b++) {
                bool is_before = a != b && ends_before(&made, reached, a, b);

                n_before += is_before;
                ck_assert_msg(arena_order_before(made.problem.order, a, b) == is_before,
                              "seed %" PRIu64 ": %s before %s", seed, made.problem.buffers[a].name,
                              made.problem.buffers[b].name);
            }
        }
        free(reached);
        made_free(&made);
    }
    ck_assert_uint_gt(n_before, 1000);
}
END_TEST

/* An order of the nodes that respects every edge, drawn: again and again one of those that nothing
 * is in front of any more. */
static void draw_order(const struct made *made, struct random_stream *random, uint32_t *position)
{
    uint32_t n = graph_n_nodes(made->graph), n_ready = 0;
    uint32_t *in = calloc(n, sizeof *in), *ready = malloc(n * sizeof *ready);
    struct adjacency next;
    struct weir_error err;

    ck_assert(in != NULL && ready != NULL);
    ck_assert(adjacency_make(made->graph, bind_edges(made->binding), bind_n_edges(made->binding),
                             &next, &err) == WEIR_OK);
    for (uint32_t i = 0; i < next.first[n]; i++) {
        in[next.items[i].consumer]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (in[i] == 0) {
            ready[n_ready++] = i;
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        uint32_t pick = (uint32_t)arena_draw_below(random, n_ready), node = ready[pick];

        ready[pick] = ready[--n_ready];
        position[node] = at;
        for (uint32_t i = next.first[node]; i < next.first[node + 1]; i++) {
            if (--in[next.items[i].consumer] == 0) {
                ready[n_ready++] = next.items[i].consumer;
            }
        }
    }
    adjacency_free(&next);
    free(in);
    free(ready);
}

/* The same buffers, whose lives are what they are in that order. */
static void relive(const struct made *made, const uint32_t *position, struct arena_problem *out)
{
    const struct arena_lifetimes *l = made->problem.lifetimes;
    uint32_t n = graph_n_nodes(made->graph);

    for (uint32_t i = 0; i < made->problem.n_buffers; i++) {
        struct arena_buffer *at = &out->buffers[i];

        *at = made->problem.buffers[i];
        at->lower = l->begin_first[i] == l->begin_first[i + 1] ? 0 : INT64_MAX;
        at->upper = l->end_first[i] == l->end_first[i + 1] ? n : 0;
        for (uint32_t j = l->begin_first[i]; j < l->begin_first[i + 1]; j++) {
            int64_t first = position[l->begins[j].index];

            at->lower = first < at->lower ? first : at->lower;
        }
        for (uint32_t j = l->end_first[i]; j < l->end_first[i + 1]; j++) {
            int64_t behind = (int64_t)position[l->ends[j].index] + 1;

            at->upper = behind > at->upper ? behind : at->upper;
        }
    }
}

START_TEST(plans_hold_in_every_order)
{
    for (uint64_t seed = (uint64_t)_i * 25; seed < ((uint64_t)_i + 1) * 25; seed++) {
        struct made made = drawn(seed);
        uint32_t *position = calloc(graph_n_nodes(made.graph), sizeof *position);
        struct arena_problem again = {.n_buffers = made.problem.n_buffers};
        struct random_stream random;

        random_seed(&random, seed, 2);
        again.buffers = calloc(again.n_buffers + 1, sizeof *again.buffers);
        for (const struct arena_method *at = arena_methods; at->name != NULL; at++) {
            struct arena_plan plan = planned(&made.problem, at->name);

            ck_assert_int_le(plan.lower_bound_bytes, plan.peak_bytes);
            for (int k = 0; k < 10; k++) {
                struct arena_execution execution;
                struct weir_error err;

                draw_order(&made, &random, position);
                relive(&made, position, &again);
                ck_assert_msg(arena_execute(&again, &plan, 1 << 20, &execution, &err) == WEIR_OK,
                              "%s, seed %" PRIu64 ": %s", at->name, seed, err.text);
                ck_assert_msg(arena_check(&again, plan.offsets_bytes, &err) == WEIR_OK, "%s",
                              err.text);
            }
            arena_plan_free(&plan);
        }
        free(again.buffers);
        free(position);
        made_free(&made);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("policies/arena_graph");
    TCase *by_hand = tcase_create("by hand"), *random = tcase_create("drawn");

    tcase_add_test(by_hand, one_queue_goes_by_positions);
    tcase_add_test(by_hand, several_queues_go_by_happens_before);
    tcase_add_test(by_hand, what_makes_one_queue);
    tcase_add_test(by_hand, retained_pinned_aliased);
    tcase_add_test(by_hand, copies_away_from_home_are_planned);
    tcase_add_test(by_hand, an_alias_that_cannot_be_aligned);
    tcase_add_test(by_hand, the_check_asks_the_graph);
    tcase_add_test(random, order_is_what_paths_say);
    tcase_add_loop_test(random, plans_hold_in_every_order, 0, 4);
    suite_add_tcase(suite, by_hand);
    suite_add_tcase(suite, random);
    return run_suite(suite);
}
