/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A realized order that is timed anew: with the lengths that it had it starts every node when it did;
 * with others it stays legal. Graphs are drawn with everything that may bind a start: edges with lags
 * and from starts, releases, slots, bytes, forbidden overlaps, guards, fallbacks, a policy that holds.
 * What is legal is judged here from the binding alone, by quadratic counts. */
#include "sim/retime.h"

#include <string.h>

#include "base/random.h"
#include "graph/text.h"
#include "policies/registry.h"
#include "sim/retime_holds.h"
#include "tests/suite.h"

enum { NODES_MOST = 64, OBJECTS_MOST = 12 };

/* --- graphs --- */

struct drawing {
    struct random_stream random;
    uint32_t n_nodes, n_objects;
    bool is_valid[OBJECTS_MOST];
    uint32_t user[OBJECTS_MOST]; /* that wrote it last; WEIR_NONE */
    char text[32768];
    size_t used;
};

PRINTF_LIKE(2, 3)
static void put(struct drawing *drawing, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    drawing->used += (size_t)vsnprintf(drawing->text + drawing->used,
                                       sizeof drawing->text - drawing->used, format, args);
    va_end(args);
    ck_assert_uint_lt(drawing->used, sizeof drawing->text);
}

static uint32_t below(struct drawing *drawing, uint32_t bound)
{
    return (uint32_t)random_below(&drawing->random, bound);
}

static bool one_in(struct drawing *drawing, uint32_t n)
{
    return below(drawing, n) == 0;
}

static void put_common(struct drawing *drawing)
{
    if (one_in(drawing, 3)) {
        put(drawing, " priority=%u", below(drawing, 4));
    }
    if (one_in(drawing, 6)) {
        put(drawing, " release=%u", below(drawing, 40));
    }
    if (one_in(drawing, 4)) {
        put(drawing, " workspace=%u", 1 + below(drawing, 6));
    }
}

/* A node that touches objects. */
static void put_worker(struct drawing *drawing)
{
    static const char *const engines[] = {" engine=sm", " engine=side", " engine=wide", ""};
    uint32_t written = below(drawing, drawing->n_objects), n_reads = 0, n_writes = 0;

    put(drawing, "node n%u compute%s duration=%u", drawing->n_nodes++, engines[below(drawing, 4)],
        one_in(drawing, 5) ? 0 : 1 + below(drawing, 12));
    for (uint32_t i = 0; i < drawing->n_objects && n_reads < 3; i++) {
        if (drawing->is_valid[i] && one_in(drawing, 4)) {
            put(drawing, "%so%u", n_reads++ == 0 ? " reads=" : ",", i);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!one_in(drawing, 3)) {
            uint32_t object = (written + i) % drawing->n_objects;

            put(drawing, "%so%u", n_writes++ == 0 ? " writes=" : ",", object);
            drawing->is_valid[object] = true;
            drawing->user[object] = drawing->n_nodes - 1;
        }
    }
    if (n_writes > 0 && one_in(drawing, 3)) {
        put(drawing, " staging=%u@m", 1 + below(drawing, 6));
    }
    put_common(drawing);
    put(drawing, "\n");
}

/* Two nodes that fill the halves of an object, in any order. */
static void put_halves(struct drawing *drawing)
{
    static const char *const engines[] = {"sm", "side", "wide"};
    uint32_t object = below(drawing, drawing->n_objects);

    for (int i = 0; i < 2; i++) {
        put(drawing, "node n%u compute engine=%s duration=%u writes=%c%u", drawing->n_nodes,
            engines[below(drawing, 3)], 1 + below(drawing, 12), "xy"[i], object);
        put_common(drawing);
        put(drawing, "\n");
        drawing->user[object] = drawing->n_nodes++;
    }
    drawing->is_valid[object] = true;
}

/* One that touches none, and may be off, or give way. */
static void put_plain(struct drawing *drawing)
{
    uint32_t node = drawing->n_nodes++, length = 1 + below(drawing, 12);

    put(drawing, "node n%u compute%s duration=%u", node, one_in(drawing, 2) ? " engine=sm" : "",
        length);
    put_common(drawing);
    if (one_in(drawing, 3)) {
        put(drawing, " guard=closed");
    } else if (one_in(drawing, 2) && drawing->n_nodes + 2 < NODES_MOST) {
        uint32_t fallback = drawing->n_nodes++;
        bool has_second = one_in(drawing, 2);

        put(drawing, " deadline=%u fallback=n%u", length + below(drawing, 60), fallback);
        put(drawing, "\nnode n%u compute engine=side duration=%u%s", fallback, below(drawing, 9),
            one_in(drawing, 8) ? " guard=closed" : "");
        if (has_second) {
            put(drawing, " deadline=%u fallback=n%u", 10 + below(drawing, 60), drawing->n_nodes);
            put(drawing, "\nnode n%u compute duration=%u", drawing->n_nodes++, below(drawing, 9));
        }
    }
    put(drawing, "\n");
}

static void put_edge(struct drawing *drawing)
{
    uint32_t to = 1 + below(drawing, drawing->n_nodes - 1), from = below(drawing, to);

    put(drawing, "edge n%u n%u ordering%s", from, to, one_in(drawing, 4) ? " from=start" : "");
    if (one_in(drawing, 3)) {
        put(drawing, " lag=%u", below(drawing, 9));
    }
    put(drawing, "\n");
}

static void put_hold(struct drawing *drawing)
{
    uint32_t object = below(drawing, drawing->n_objects), from = drawing->user[object];

    if (from != WEIR_NONE && from + 1 < drawing->n_nodes) {
        put(drawing, "edge n%u n%u lifetime-hold object=o%u\n", from,
            from + 1 + below(drawing, drawing->n_nodes - from - 1), object);
    }
}

static void put_overlap(struct drawing *drawing)
{
    static const char *const classes[] = {"sm", "side", "wide"};

    if (one_in(drawing, 2)) {
        put(drawing, "overlap %s %s %s\n", classes[below(drawing, 3)], classes[below(drawing, 3)],
            one_in(drawing, 4) ? "unknown" : "forbidden");
    } else {
        put(drawing, "overlap n%u n%u forbidden\n", below(drawing, drawing->n_nodes),
            below(drawing, drawing->n_nodes));
    }
}

static void draw(struct drawing *drawing, uint64_t seed)
{
    uint32_t n_rounds;

    *drawing = (struct drawing){.n_objects = 0};
    random_seed(&drawing->random, seed, 0);
    drawing->n_objects = 2 + below(drawing, OBJECTS_MOST - 2);
    n_rounds = 4 + below(drawing, 30);
    put(drawing,
        "weir 1\ngraph g%u\ndomain m capacity=%u\nengine sm slots=%u\nengine side\n"
        "engine wide slots=3\nguard closed off\nkappa sm side 1.7\nkappa side sm 1.3\n",
        (unsigned)seed, 14 + below(drawing, one_in(drawing, 2) ? 20 : 80), 1 + below(drawing, 3));
    for (uint32_t i = 0; i < drawing->n_objects; i++) {
        bool is_initial = one_in(drawing, 4);

        uint32_t half = 1 + below(drawing, 4);

        put(drawing, "object o%u size=%u%s\n", i, 2 * half, is_initial ? " initial" : "");
        put(drawing, "object x%u size=%u alias=o%u\nobject y%u size=%u alias=o%u+%u\n", i, half, i,
            i, half, i, half);
        drawing->is_valid[i] = is_initial;
        drawing->user[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < n_rounds && drawing->n_nodes < NODES_MOST; i++) {
        if (one_in(drawing, 3)) {
            put_plain(drawing);
        } else if (one_in(drawing, 3) && drawing->n_nodes + 1 < NODES_MOST) {
            put_halves(drawing);
        } else {
            put_worker(drawing);
        }
    }
    for (uint32_t i = below(drawing, drawing->n_nodes); i > 0 && drawing->n_nodes > 1; i--) {
        put_edge(drawing);
    }
    for (uint32_t i = below(drawing, 4); i > 0; i--) {
        put_hold(drawing);
    }
    for (uint32_t i = below(drawing, 3); i > 0; i--) {
        put_overlap(drawing);
    }
}

/* --- what ran --- */

struct outcome {
    struct graph *graph;
    struct report *report;
    struct plan *plan;
    struct simulate_options options;
    struct simulate_result result;
};

/* Holds every fifth node until a time of its own. */
static enum weir_admission holding_admit(void *state, const struct weir_view *view, weir_node node,
                                         int64_t *until_ns, const char **why)
{
    (void)state;
    *why = "a test";
    *until_ns = 7 + 3 * (int64_t)node.index;
    return node.index % 5 == 0 && view->now_ns < *until_ns ? WEIR_HOLD : WEIR_ADMIT;
}

static const struct weir_policy holding = {.version = WEIR_POLICY_VERSION,
                                           .size = sizeof holding,
                                           .name = "holding",
                                           .summary = "a test",
                                           .admit = holding_admit};

/* @return false when the graph is not legal, or the run gets stuck */
static bool run(const struct drawing *drawing, const struct weir_policy *policy,
                struct outcome *out)
{
    struct plan_options plan_options = {.policy = policy};
    struct report *report = report_new(0);
    struct weir_error err;

    out->plan = NULL;
    out->result = (struct simulate_result){0};
    out->report = report_new(0);
    ck_assert_msg(
        graph_read_text(drawing->text, drawing->used, "test", report, &out->graph, &err) == WEIR_OK,
        "%s\n%s", err.text, drawing->text);
    report_free(report);
    if (plan_make(out->graph, &plan_options, out->report, &out->plan, &err) != WEIR_OK) {
        return false;
    }
    ck_assert_msg(simulate(out->plan, &out->options, &out->result, &err) == WEIR_OK, "%s",
                  err.text);
    return out->result.timeline->status == RUN_COMPLETE;
}

static void outcome_free(struct outcome *outcome)
{
    timeline_free(outcome->result.timeline);
    free(outcome->result.explanation);
    plan_free(outcome->plan);
    report_free(outcome->report);
    graph_free(outcome->graph);
}

/* --- what is legal --- */

struct schedule {
    const struct outcome *outcome;
    const struct graph *graph;
    const struct binding *binding;
    int64_t start_ns[NODES_MOST], finish_ns[NODES_MOST]; /* -1: does not run */
    const char *text;
};

static bool runs(const struct schedule *schedule, weir_node node)
{
    return schedule->start_ns[node.index] >= 0;
}

static void check_edges(const struct schedule *schedule)
{
    for (uint32_t i = 0; i < graph_n_edges(schedule->graph); i++) {
        struct graph_edge edge;

        graph_edge(schedule->graph, (weir_edge){i}, &edge);
        if (runs(schedule, edge.producer) && runs(schedule, edge.consumer)) {
            int64_t from_ns = edge.is_from_start ? schedule->start_ns[edge.producer.index]
                                                 : schedule->finish_ns[edge.producer.index];

            ck_assert_int_ge(schedule->start_ns[edge.consumer.index], from_ns + edge.lag_ns);
        }
    }
    for (uint32_t i = 0; i < bind_n_edges(schedule->binding); i++) {
        const struct bind_edge *edge = &bind_edges(schedule->binding)[i];

        if (runs(schedule, edge->producer) && runs(schedule, edge->consumer)) {
            ck_assert_int_ge(schedule->start_ns[edge->consumer.index],
                             schedule->finish_ns[edge->producer.index]);
        }
    }
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        struct graph_node value;

        graph_node(schedule->graph, (weir_node){i}, &value);
        ck_assert(schedule->start_ns[i] < 0 || schedule->start_ns[i] >= value.release_ns);
    }
}

/* Does the name stand for the node or its class? */
static bool names(const struct graph *graph, weir_text name, weir_node node)
{
    weir_class class_ = graph_node_class(graph, node);
    const char *text = graph_text(graph, name);

    return strcmp(text, graph_node_name(graph, node)) == 0 ||
           (weir_is(class_) &&
            strcmp(text, graph_text(graph, graph_class_name(graph, class_))) == 0);
}

static bool is_forbidden(const struct schedule *schedule, weir_node a, weir_node b)
{
    for (uint32_t i = 0; i < graph_n_overlaps(schedule->graph); i++) {
        const struct graph_overlap *line = graph_overlap(schedule->graph, i);
        bool counts = line->rule == OVERLAP_FORBIDDEN ||
                      (line->rule == OVERLAP_UNKNOWN &&
                       schedule->outcome->options.unknown_overlap == UNKNOWN_FORBID);

        if (counts &&
            ((names(schedule->graph, line->a, a) && names(schedule->graph, line->b, b)) ||
             (names(schedule->graph, line->a, b) && names(schedule->graph, line->b, a)))) {
            return true;
        }
    }
    return false;
}

static bool overlap(const struct schedule *schedule, uint32_t a, uint32_t b)
{
    return schedule->start_ns[a] < schedule->finish_ns[b] &&
           schedule->start_ns[b] < schedule->finish_ns[a] &&
           schedule->start_ns[a] < schedule->finish_ns[a] &&
           schedule->start_ns[b] < schedule->finish_ns[b];
}

static void check_overlaps(const struct schedule *schedule)
{
    uint32_t n = graph_n_nodes(schedule->graph);

    for (uint32_t i = 0; i < n; i++) {
        weir_engine engine = graph_node_engine(schedule->graph, (weir_node){i});
        int64_t n_beside = 0;

        for (uint32_t j = 0; j < n; j++) {
            if (i == j || schedule->start_ns[i] < 0 || schedule->start_ns[j] < 0) {
                continue;
            }
            if (overlap(schedule, i, j)) {
                ck_assert_msg(!is_forbidden(schedule, (weir_node){i}, (weir_node){j}),
                              "n%u and n%u overlap\n%s", i, j, schedule->text);
            }
            n_beside += weir_is(engine) && schedule->start_ns[i] < schedule->finish_ns[i] &&
                        weir_same(engine, graph_node_engine(schedule->graph, (weir_node){j})) &&
                        schedule->start_ns[j] <= schedule->start_ns[i] &&
                        schedule->finish_ns[j] > schedule->start_ns[i];
        }
        if (weir_is(engine)) {
            ck_assert_int_lt(n_beside, graph_engine(schedule->graph, engine)->slots);
        }
    }
}

/* When the copy begins and ends; false when it never lives, or stays. */
static void life_of(const struct schedule *schedule, weir_copy id, int64_t *begin_ns,
                    int64_t *end_ns, int64_t *last_use_ns)
{
    const struct bind_copy *copy = bind_copy(schedule->binding, id);

    *begin_ns = copy->is_initial ? 0 : INT64_MAX;
    *end_ns = *last_use_ns = 0;
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(schedule->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches; j++) {
            if (touches[j].copy.index != id.index || schedule->start_ns[i] < 0) {
                continue;
            }
            if ((touches[j].roles & BIND_FILLS) != 0 && schedule->start_ns[i] < *begin_ns) {
                *begin_ns = schedule->start_ns[i];
            }
            *end_ns = schedule->finish_ns[i] > *end_ns ? schedule->finish_ns[i] : *end_ns;
            if ((touches[j].roles & (BIND_READS | BIND_FILLS)) != 0 &&
                schedule->finish_ns[i] > *last_use_ns) {
                *last_use_ns = schedule->finish_ns[i];
            }
        }
    }
    *end_ns = copy->stays || copy->n_uses == 0 ? INT64_MAX : *end_ns;
}

static int64_t bytes_at(const struct schedule *schedule, int64_t time_ns)
{
    int64_t bytes = 0, begin_ns, end_ns, last_use_ns;

    for (uint32_t i = 0; i < bind_n_copies(schedule->binding); i++) {
        life_of(schedule, (weir_copy){i}, &begin_ns, &end_ns, &last_use_ns);
        bytes += begin_ns <= time_ns && time_ns < end_ns
                     ? bind_copy(schedule->binding, (weir_copy){i})->bytes
                     : 0;
    }
    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        struct graph_node value;
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(schedule->binding, (weir_node){i}, &n_touches);
        int64_t staged_ns = schedule->finish_ns[i];

        if (schedule->start_ns[i] < 0 || schedule->start_ns[i] > time_ns) {
            continue;
        }
        graph_node(schedule->graph, (weir_node){i}, &value);
        for (uint32_t j = 0; j < n_touches; j++) {
            if ((touches[j].roles & BIND_FILLS) != 0) {
                life_of(schedule, touches[j].copy, &begin_ns, &end_ns, &last_use_ns);
                staged_ns = last_use_ns > staged_ns ? last_use_ns : staged_ns;
            }
        }
        for (uint32_t j = 0; j < value.n_workspace && time_ns < schedule->finish_ns[i]; j++) {
            bytes += value.workspace[j].bytes;
        }
        bytes += time_ns < staged_ns && value.staging.bytes > 0 ? value.staging.bytes : 0;
    }
    return bytes;
}

static void check_bytes(const struct schedule *schedule)
{
    const struct graph_domain *domain = graph_domain(schedule->graph, (weir_domain){0});

    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        if (schedule->start_ns[i] >= 0) {
            int64_t bytes = bytes_at(schedule, schedule->start_ns[i]);

            ck_assert_msg(bytes <= domain->capacity_bytes, "%lld bytes when n%u starts at %lld\n%s",
                          (long long)bytes, i, (long long)schedule->start_ns[i], schedule->text);
        }
    }
}

/* The peak of that schedule, at every start and at 0, is what is told of it. */
static void check_peak(const struct schedule *schedule, int64_t told_bytes)
{
    int64_t peak = bytes_at(schedule, 0);

    for (uint32_t i = 0; i < graph_n_nodes(schedule->graph); i++) {
        int64_t bytes = schedule->start_ns[i] < 0 ? 0 : bytes_at(schedule, schedule->start_ns[i]);

        peak = bytes > peak ? bytes : peak;
    }
    ck_assert_msg(told_bytes == peak, "a peak of %lld is told, and it is %lld\n%s",
                  (long long)told_bytes, (long long)peak, schedule->text);
}

static int64_t peak_of(const struct retime_holds *holds, const int64_t *length_ns,
                       const int64_t *start_ns)
{
    struct retime_event *scratch = malloc(retime_holds_room(holds) * sizeof *scratch);
    int64_t peak_bytes;

    retime_peaks(holds, length_ns, start_ns, scratch, &peak_bytes);
    free(scratch);
    return peak_bytes;
}

static void check_legal(const struct retime *retime, const struct retime_holds *holds,
                        const struct outcome *outcome, const char *text, const int64_t *start_ns,
                        const int64_t *length_ns)
{
    struct schedule schedule = {.outcome = outcome,
                                .graph = plan_graph(outcome->plan),
                                .binding = plan_binding(outcome->plan),
                                .text = text};

    memset(schedule.start_ns, 0xff, sizeof schedule.start_ns);
    memset(schedule.finish_ns, 0xff, sizeof schedule.finish_ns);
    for (uint32_t i = 0; i < retime->n_nodes; i++) {
        if (weir_is(retime->nodes[i])) {
            schedule.start_ns[retime->nodes[i].index] = start_ns[i];
            schedule.finish_ns[retime->nodes[i].index] = start_ns[i] + length_ns[i];
        }
    }
    check_edges(&schedule);
    check_overlaps(&schedule);
    check_bytes(&schedule);
    if (holds != NULL) {
        check_peak(&schedule, peak_of(holds, length_ns, start_ns));
    }
}

/* --- the properties --- */

/* Of each sort of thing that may bind, how many of the runs had any. */
struct seen {
    uint32_t runs, induced, fallbacks, passed, overlaps, admissions;
    uint32_t peaks; /* could be told: no node that did not run ends a copy */
};

static void check_same(const struct retime *retime, const struct outcome *outcome,
                       const int64_t *start_ns, int64_t makespan_ns, const char *text)
{
    const struct timeline *timeline = outcome->result.timeline;
    uint32_t n_runs = 0;

    ck_assert_msg(makespan_ns == timeline->makespan_ns, "makespan %lld, was %lld\n%s",
                  (long long)makespan_ns, (long long)timeline->makespan_ns, text);
    for (uint32_t i = 0; i < retime->n_nodes; i++) {
        weir_node node = retime->nodes[i];

        if (!weir_is(node)) {
            continue;
        }
        n_runs++;
        ck_assert_msg(start_ns[i] == timeline->spans[node.index].start_ns,
                      "n%u starts at %lld, was %lld\n%s", node.index, (long long)start_ns[i],
                      (long long)timeline->spans[node.index].start_ns, text);
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        n_runs -= timeline->spans[i].start_ns >= 0 ? 1 : 0;
    }
    ck_assert_uint_eq(n_runs, 0);
}

static void check_order(struct drawing *drawing, const struct outcome *outcome, struct seen *seen)
{
    struct retime retime;
    struct retime_holds *holds;
    struct weir_error err;
    int64_t start_ns[4 * NODES_MOST], length_ns[4 * NODES_MOST], changed_ns[4 * NODES_MOST];

    ck_assert_msg(retime_make(plan_binding(outcome->plan), outcome->result.timeline,
                              &outcome->options, &retime, &err) == WEIR_OK,
                  "%s\n%s", err.text, drawing->text);
    ck_assert_uint_le(retime.n_nodes, 4 * NODES_MOST);
    ck_assert_int_eq(retime_holds_new(plan_binding(outcome->plan), &retime, &holds, &err), WEIR_OK);
    retime_lengths(&retime, outcome->result.timeline, length_ns);
    check_same(&retime, outcome, start_ns, retime_pass(&retime, length_ns, start_ns),
               drawing->text);
    if (holds != NULL) {
        seen->peaks++;
        ck_assert_int_eq(peak_of(holds, length_ns, start_ns),
                         outcome->result.timeline->peak_bytes[0]);
    }
    for (int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < retime.n_nodes; i++) {
            changed_ns[i] =
                length_ns[i] == 0 ? 0 : (int64_t)below(drawing, 4) * (int64_t)below(drawing, 12);
        }
        (void)retime_pass(&retime, changed_ns, start_ns);
        check_legal(&retime, holds, outcome, drawing->text, start_ns, changed_ns);
    }
    retime_holds_free(holds);
    retime_free(&retime);
}

static void note(struct seen *seen, const struct outcome *outcome)
{
    const struct timeline *timeline = outcome->result.timeline;
    const struct graph *graph = plan_graph(outcome->plan);
    bool has_overlap = false, has_admission = false, has_passed = false, has_fallback = false;

    for (size_t i = 0; i < timeline->n_waits; i++) {
        has_overlap = has_overlap || timeline->waits[i].cause == WAIT_OVERLAP;
        has_admission = has_admission || timeline->waits[i].cause == WAIT_ADMISSION;
    }
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct graph_node value;

        graph_node(graph, (weir_node){i}, &value);
        has_passed = has_passed || timeline->spans[i].start_ns < 0;
        has_fallback =
            has_fallback || (value.fallback == FALLBACK_NODE && timeline->spans[i].start_ns < 0 &&
                             timeline->spans[value.fallback_node.index].start_ns >= 0);
    }
    seen->runs++;
    seen->induced += timeline->n_induced > 0;
    seen->overlaps += has_overlap;
    seen->admissions += has_admission;
    seen->passed += has_passed;
    seen->fallbacks += has_fallback;
}

static void check_seed(uint64_t seed, struct seen *seen)
{
    struct drawing drawing;
    struct outcome outcome = {.options = simulate_default()};
    const struct weir_policy *policy;
    struct weir_error err;

    draw(&drawing, seed);
    outcome.options.unknown_overlap = (enum unknown_overlap)(seed % 3);
    outcome.options.contention = seed % 4 == 3 ? CONTENTION_PAIRWISE : CONTENTION_NONE;
    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    if (run(&drawing, seed % 5 == 4 ? &holding : policy, &outcome)) {
        note(seen, &outcome);
        check_order(&drawing, &outcome, seen);
    }
    outcome_free(&outcome);
}

#define SEEDS 2500

START_TEST(test_same_lengths_same_starts_and_others_legal)
{
    struct seen seen = {0};

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        check_seed(seed, &seen);
    }
    ck_assert_uint_gt(seen.runs, SEEDS / 4);
    ck_assert_uint_gt(seen.induced, SEEDS / 20);
    ck_assert_uint_gt(seen.overlaps, SEEDS / 20);
    ck_assert_uint_gt(seen.admissions, SEEDS / 20);
    ck_assert_uint_gt(seen.passed, SEEDS / 20);
    ck_assert_uint_gt(seen.fallbacks, SEEDS / 50);
    ck_assert_uint_gt(seen.peaks, seen.runs * 3 / 4);
}
END_TEST

/* a (3) and b (5) share the one slot of e in that order, c (2) on f reads what b wrote: c starts at 8
 * and ends at 10. With a of 1, b of 4 and c of 7 the same order ends at 1 + 4 + 7 = 12. The edge from a
 * to c says nothing that b does not: it is gone. */
START_TEST(test_chain_by_hand)
{
    static const char text[] = "weir 1\ngraph g\nengine e\nengine f\ndomain m capacity=10\n"
                               "object o size=1\n"
                               "node a compute engine=e duration=3\n"
                               "node b compute engine=e duration=5 writes=o\n"
                               "node c compute engine=f duration=2 reads=o\n"
                               "edge a c ordering\n";
    struct drawing drawing = {.used = sizeof text - 1};
    struct outcome outcome = {.options = simulate_default()};
    const struct weir_policy *policy;
    int64_t length_ns[3] = {1, 4, 7}, start_ns[3];
    struct retime retime;
    struct weir_error err;

    memcpy(drawing.text, text, sizeof text);
    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    ck_assert(run(&drawing, policy, &outcome));
    ck_assert_int_eq(outcome.result.timeline->makespan_ns, 10);
    ck_assert_int_eq(retime_make(plan_binding(outcome.plan), outcome.result.timeline,
                                 &outcome.options, &retime, &err),
                     WEIR_OK);
    ck_assert_uint_eq(retime.n_nodes, 3);
    ck_assert_uint_eq(retime.first[3], 2);
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), 12);
    ck_assert_int_eq(start_ns[2], 5);
    length_ns[1] = INT64_MAX - 1; /* what passes 2^63 ns is told, not wrapped */
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), INT64_MAX);
    retime_free(&retime);
    outcome_free(&outcome);
}
END_TEST

/* Two of p and two of q run in turn, since p and q may not overlap, though every one has an engine
 * slot: both q wait for both p. The many wait for the many by one point. */
START_TEST(test_many_that_may_not_overlap_wait_by_a_point)
{
    static const char text[] = "weir 1\ngraph g\nengine p slots=3\nengine q slots=3\n"
                               "overlap p q forbidden\n"
                               "node p1 compute engine=p duration=3\n"
                               "node p2 compute engine=p duration=4\n"
                               "node p3 compute engine=p duration=2\n"
                               "node q1 compute engine=q duration=5\n"
                               "node q2 compute engine=q duration=6\n"
                               "node q3 compute engine=q duration=7\n";
    struct drawing drawing = {.used = sizeof text - 1};
    struct outcome outcome = {.options = simulate_default()};
    const struct weir_policy *policy;
    int64_t length_ns[7], start_ns[7];
    struct retime retime;
    struct weir_error err;

    memcpy(drawing.text, text, sizeof text);
    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    ck_assert(run(&drawing, policy, &outcome));
    ck_assert_int_eq(retime_make(plan_binding(outcome.plan), outcome.result.timeline,
                                 &outcome.options, &retime, &err),
                     WEIR_OK);
    ck_assert_uint_eq(retime.n_nodes, 7);
    ck_assert_uint_eq(retime.first[7], 6); /* three into the point, three out of it; not nine */
    ck_assert(!weir_is(retime.nodes[3]));
    retime_lengths(&retime, outcome.result.timeline, length_ns);
    length_ns[2] = 9; /* p3 */
    ck_assert_int_eq(retime_pass(&retime, length_ns, start_ns), 16);
    ck_assert_int_eq(start_ns[4], 9);
    retime_free(&retime);
    outcome_free(&outcome);
}
END_TEST

START_TEST(test_only_a_complete_run_has_an_order)
{
    static const char text[] = "weir 1\ngraph g\nengine e\ndomain m capacity=3\nobject o size=5\n"
                               "node a compute engine=e duration=3 writes=o\n";
    struct drawing drawing = {.used = sizeof text - 1};
    struct outcome outcome = {.options = simulate_default()};
    const struct weir_policy *policy;
    struct retime retime;
    struct weir_error err;

    memcpy(drawing.text, text, sizeof text);
    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    ck_assert(!run(&drawing, policy, &outcome));
    ck_assert_int_eq(retime_make(plan_binding(outcome.plan), outcome.result.timeline,
                                 &outcome.options, &retime, &err),
                     WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "ended in a shortage"));
    outcome_free(&outcome);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("retime");
    TCase *tests = tcase_create("retime");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, test_same_lengths_same_starts_and_others_legal);
    tcase_add_test(tests, test_chain_by_hand);
    tcase_add_test(tests, test_many_that_may_not_overlap_wait_by_a_point);
    tcase_add_test(tests, test_only_a_complete_run_has_an_order);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
