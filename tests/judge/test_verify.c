/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier: silent about every simulation, and never silent when one thing in it is changed. Graphs
 * are drawn with all that makes a schedule hard; each kind of damage is done to many runs, and must be
 * told by a code that names it. */
#include "judge/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "graph/analyze.h"
#include "graph/text.h"
#include "judge/chain.h"
#include "judge/overlap.h"
#include "policies/registry.h"
#include "sim/simulate.h"
#include "tests/suite.h"

enum { TEXT_BYTES = 16384, N_NODES = 26, N_OBJECTS = 6, N_SEEDS = 60 };

/* --- graphs ----------------------------------------------------------------------------------- */

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text->length +=
        (size_t)vsnprintf(text->bytes + text->length, TEXT_BYTES - text->length, format, args);
    va_end(args);
    ck_assert_uint_lt(text->length, TEXT_BYTES);
}

static uint32_t below(struct random_stream *random, uint32_t n)
{
    return (uint32_t)random_below(random, n);
}

static void put_machine(struct text *text, struct random_stream *random)
{
    put(text, "weir 1\ngraph drawn\ndomain m capacity=%u\ndomain h capacity=1000 granule=8\n",
        90 + below(random, 60));
    put(text, "engine a domain=m\nengine b slots=2 domain=m\nengine d from=h to=m\n");
    put(text, "kappa a b 1.3\nkappa b a 1.7\nkappa b b 1.2\nkappa d a 1.5\nkappa a d 1.1\n");
    put(text, "param measured roofline 0.01\nparam roofline p 2.75\nparam roofline.eta r 0.9\n"
              "param roofline.demand.r a 60\nparam roofline.demand.r b 45\n"
              "param roofline.demand.q b 50\nparam roofline.demand.q d 70\n"
              "resource q capacity=70\n");
    put(text,
        "resource r capacity=100\nguard off off\nobject k size=10 domain=h initial ready=%u\n",
        below(random, 20));
    for (uint32_t i = 0; i < N_OBJECTS; i++) {
        put(text, "object x%u size=%u domain=m%s\n", i, 10 + below(random, 30),
            i == 0 ? " retained" : "");
    }
}

/* A compute node: writes one object, reads some that were written. */
static void put_compute(struct text *text, struct random_stream *random, uint32_t i,
                        bool *is_written)
{
    uint32_t object = below(random, N_OBJECTS), other = below(random, N_OBJECTS);

    put(text, "node n%u compute engine=%s duration=%u", i, below(random, 2) == 0 ? "a" : "b",
        below(random, 8) == 0 ? 0 : 1 + below(random, 40));
    if (is_written[other]) {
        put(text, " reads=x%u", other);
    }
    if (below(random, 3) > 0) {
        put(text, " writes=x%u", object);
        is_written[object] = true;
    }
    put(text, "%s", below(random, 3) == 0 ? " workspace=15" : "");
    put(text, " uses=r:%u priority=%u\n", 20 + below(random, 60), below(random, 2));
}

static void put_node(struct text *text, struct random_stream *random, uint32_t i, bool *is_written)
{
    switch (below(random, 12)) {
    case 0:
        put(text, "node n%u barrier release=%u\n", i, below(random, 60));
        break;
    case 1:
        put(text, "node n%u compute engine=a duration=5 guard=off\n", i);
        break;
    case 2:
        put(text, "node n%u transfer engine=d duration=%u staging=%u@m object=k\n", i,
            1 + below(random, 20), 5 + below(random, 10));
        break;
    case 3:
        put(text, "node n%u compute duration=%u domain=h\n", i, below(random, 15));
        break;
    default:
        put_compute(text, random, i, is_written);
        break;
    }
}

static void put_graph(struct text *text, uint64_t seed)
{
    struct random_stream random;
    bool is_written[N_OBJECTS] = {false};

    random_seed(&random, seed, 7);
    text->length = 0;
    put_machine(text, &random);
    put(text, "node first compute engine=a duration=2 writes=x0\n");
    is_written[0] = true;
    for (uint32_t i = 0; i < N_NODES; i++) {
        put_node(text, &random, i, is_written);
    }
    put(text, "node late compute engine=a duration=3 deadline=%u fallback=other\n",
        5 + below(&random, 60));
    put(text, "node other compute engine=b duration=4\n");
    for (uint32_t i = 0; i < N_NODES / 2; i++) {
        uint32_t from = below(&random, N_NODES - 1);

        put(text, "edge n%u n%u ordering lag=%u%s\n", from,
            from + 1 + below(&random, N_NODES - 1 - from), below(&random, 4),
            below(&random, 4) == 0 ? " from=start" : "");
    }
    for (uint32_t i = 0; i < 3; i++) {
        put(text, "overlap n%u n%u %s\n", below(&random, N_NODES), below(&random, N_NODES),
            i < 2 ? "forbidden" : "unknown");
    }
}

/* --- runs ------------------------------------------------------------------------------------- */

struct subject {
    struct graph *graph;
    struct report *report;
    struct plan *plan;
    struct simulate_result result;
    struct timeline *timeline;
    struct overlaps overlaps;
    struct run_overlap *rows;
    char settings[128];
    struct run_link *links;
    struct run run;
};

static const struct weir_policy *retain(void)
{
    const struct weir_policy *policy;
    struct weir_error err;

    ck_assert_int_eq(policy_find("retain", &policy, &err), WEIR_OK);
    return policy;
}

static void keep_overlaps(struct subject *subject)
{
    weir_node *order;
    uint32_t n_started;
    struct weir_error err;

    ck_assert_int_eq(timeline_order(subject->timeline, &order, &n_started, &err), WEIR_OK);
    ck_assert_int_eq(overlaps_find(subject->run.graph, subject->timeline, order, n_started,
                                   &subject->overlaps, &err),
                     WEIR_OK);
    ck_assert_int_eq(overlaps_list(subject->run.graph, &subject->overlaps, &subject->rows, &err),
                     WEIR_OK);
    free(order);
    subject->run.overlaps = subject->rows;
    subject->run.n_overlaps = subject->overlaps.n_pairs;
}

/* @return false when it did not end well: nothing is learnt from it */
static bool subject_make(struct subject *subject, const char *text, enum contention contention)
{
    struct plan_options planning = {.policy = retain()};
    struct simulate_options options = simulate_default();
    struct weir_error err;

    memset(subject, 0, sizeof *subject);
    subject->report = report_new(3);
    ck_assert_int_eq(
        graph_read_text(text, strlen(text), "drawn", subject->report, &subject->graph, &err),
        WEIR_OK);
    ck_assert_msg(plan_make(subject->graph, &planning, subject->report, &subject->plan, &err) ==
                      WEIR_OK,
                  "%s\n%s", err.text, text);
    options.contention = contention;
    ck_assert_int_eq(simulate(subject->plan, &options, &subject->result, &err), WEIR_OK);
    subject->timeline = subject->result.timeline;
    (void)snprintf(
        subject->settings, sizeof subject->settings,
        "{\"contention\":\"%s\",\"unknown_overlap\":\"mark\",\"hypothetical_overlap_ns\":"
        "%" PRId64 "}",
        contention_name(contention), subject->result.hypothetical_ns);
    subject->run = (struct run){.kind = RUN_SIM,
                                .graph = plan_graph(subject->plan),
                                .graph_name = "drawn",
                                .policy = "retain",
                                .machine = "",
                                .settings = subject->settings,
                                .timeline = subject->timeline};
    ck_assert_int_eq(
        analyze_critical_path(plan_binding(subject->plan), &subject->run.critical_path_ns, &err),
        WEIR_OK);
    ck_assert_int_eq(chain_find(plan_binding(subject->plan), subject->timeline, &subject->links,
                                &subject->run.n_links, &err),
                     WEIR_OK);
    subject->run.links = subject->links;
    keep_overlaps(subject);
    return subject->timeline->status == RUN_COMPLETE;
}

static void subject_free(struct subject *subject)
{
    free(subject->rows);
    overlaps_free(&subject->overlaps);
    free(subject->links);
    timeline_free(subject->timeline);
    free(subject->result.explanation);
    plan_free(subject->plan);
    report_free(subject->report);
    graph_free(subject->graph);
}

static void verify(const struct subject *subject, struct verify_result *result)
{
    const struct verify_options options = {.tolerance_ns = 0};
    struct weir_error err;

    ck_assert_int_eq(verify_run(&subject->run, &options, result, &err), WEIR_OK);
}

START_TEST(test_silent)
{
    static struct text text;

    put_graph(&text, (uint64_t)_i);
    for (int family = CONTENTION_NONE; family <= CONTENTION_MEASURED; family++) {
        struct subject subject;
        struct verify_result result;

        (void)subject_make(&subject, text.bytes, (enum contention)family);
        verify(&subject, &result);
        ck_assert_msg(
            result.n_wrong == 0, "%s: %s: %s\n%s", contention_name((enum contention)family),
            verify_code_name(result.findings[0].code), result.findings[0].message, text.bytes);
        verify_free(&result);
        subject_free(&subject);
    }
}
END_TEST

/* --- damage ----------------------------------------------------------------------------------- */

static struct timeline_span *span_at(struct subject *subject, uint32_t node)
{
    return &subject->timeline->spans[node];
}

/* Some node for which it holds; WEIR_NONE when there is none. */
static uint32_t pick(struct subject *subject, struct random_stream *random,
                     bool (*holds)(const struct subject *, uint32_t))
{
    uint32_t n = subject->timeline->n_nodes, from = below(random, n);

    for (uint32_t i = 0; i < n; i++) {
        if (holds(subject, (from + i) % n)) {
            return (from + i) % n;
        }
    }
    return WEIR_NONE;
}

static bool has_run_late(const struct subject *subject, uint32_t node)
{
    return subject->timeline->spans[node].start_ns > 0;
}

static bool has_length(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns > 0 && span->isolated_ns > 2 && span->finish_ns > span->start_ns + 2;
}

static bool has_run_at_once(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns >= 0 && span->start_ns == span->ready_ns && span->isolated_ns > 0;
}

static bool has_waited(const struct subject *subject, uint32_t node)
{
    const struct timeline_span *span = &subject->timeline->spans[node];

    return span->start_ns > span->ready_ns;
}

static bool starts_earlier(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        span_at(subject, node)->start_ns--;
    }
    return node != WEIR_NONE;
}

static bool ends_later(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        span_at(subject, node)->finish_ns += 2;
    }
    return node != WEIR_NONE;
}

static bool moves_forward(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_run_late);

    if (node != WEIR_NONE) {
        span_at(subject, node)->start_ns--;
        span_at(subject, node)->finish_ns--;
    }
    return node != WEIR_NONE;
}

/* Nothing is in its way for the nanosecond that it stands idle. */
static bool stands_idle(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_run_at_once);

    if (node != WEIR_NONE) {
        span_at(subject, node)->start_ns++;
        span_at(subject, node)->finish_ns++;
    }
    return node != WEIR_NONE;
}

/* Two that follow each other on engine a change places, each with its length. */
static bool swaps(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *first = &timeline->spans[i], *second;
        uint32_t j = first->blocker.index;

        if (first->start_ns < 0 || first->cause != WAIT_ENGINE || j == WEIR_NONE ||
            first->isolated_ns == timeline->spans[j].isolated_ns || first->isolated_ns == 0 ||
            graph_node_engine(subject->graph, (weir_node){i}).index != 0) {
            continue;
        }
        second = &timeline->spans[j];
        first->finish_ns = second->start_ns + (first->finish_ns - first->start_ns);
        first->start_ns = second->start_ns;
        second->start_ns = first->finish_ns;
        second->finish_ns = second->start_ns + second->isolated_ns;
        return true;
    }
    return false;
}

static bool runs_beside(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *span = &timeline->spans[i];
        const struct timeline_span *before = &timeline->spans[span->blocker.index];

        if (span->start_ns >= 0 && span->cause == WAIT_ENGINE && span->isolated_ns > 0 &&
            span->blocker.index != WEIR_NONE && before->finish_ns == span->start_ns &&
            graph_node_engine(subject->graph, (weir_node){i}).index == 0) {
            span->start_ns = before->start_ns;
            return true;
        }
    }
    return false;
}

static bool loses_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    size_t at = timeline->n_holds == 0 ? 0 : below(random, (uint32_t)timeline->n_holds);

    if (timeline->n_holds == 0) {
        return false;
    }
    timeline->holds[at] = timeline->holds[--timeline->n_holds];
    return true;
}

static bool doubles_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct weir_error err;
    struct timeline_hold hold;

    if (timeline->n_holds == 0) {
        return false;
    }
    hold = timeline->holds[below(random, (uint32_t)timeline->n_holds)];
    return timeline_add_hold(timeline, &hold, &err) == WEIR_OK;
}

static bool moves_hold(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_hold *hold;

    if (timeline->n_holds == 0) {
        return false;
    }
    hold = &timeline->holds[below(random, (uint32_t)timeline->n_holds)];
    hold->release_ns = hold->release_ns < 0 ? timeline->makespan_ns : hold->release_ns + 1;
    return true;
}

static bool raises_pressure(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    if (timeline->n_pressures > 0) {
        timeline->pressures[below(random, (uint32_t)timeline->n_pressures)].bytes++;
    }
    return timeline->n_pressures > 0;
}

static bool moves_pressure(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    size_t at =
        timeline->n_pressures < 2 ? 0 : 1 + below(random, (uint32_t)timeline->n_pressures - 1);

    if (at == 0 || timeline->pressures[at].t_ns == 0) {
        return false;
    }
    timeline->pressures[at].t_ns++;
    return true;
}

static bool lowers_peak(struct subject *subject, struct random_stream *random)
{
    (void)random;
    subject->timeline->peak_bytes[0]--;
    return true;
}

static struct timeline_wait *some_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    return timeline->n_waits == 0 ? NULL
                                  : &timeline->waits[below(random, (uint32_t)timeline->n_waits)];
}

/* Its bytes fitted all the time when it takes none. */
static bool changes_cause(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);
    struct graph_node value;

    if (wait == NULL || wait->cause != WAIT_ENGINE) {
        return false;
    }
    graph_node(subject->graph, wait->node, &value);
    if (value.n_writes > 0 || value.n_workspace > 0 || value.staging.bytes > 0 ||
        graph_kind_is_copy(value.kind)) {
        return false;
    }
    wait->cause = WAIT_CAPACITY;
    return true;
}

static bool claims_admission(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->cause = WAIT_ADMISSION;
    }
    return wait != NULL;
}

static bool changes_blocker(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->blocker = wait->node;
    }
    return wait != NULL;
}

static bool loses_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        *wait = timeline->waits[--timeline->n_waits];
    }
    return wait != NULL;
}

static bool shortens_wait(struct subject *subject, struct random_stream *random)
{
    struct timeline_wait *wait = some_wait(subject, random);

    if (wait != NULL) {
        wait->from_ns++;
    }
    return wait != NULL;
}

static bool changes_span_cause(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_waited);

    if (node != WEIR_NONE) {
        span_at(subject, node)->cause = WAIT_NONE;
    }
    return node != WEIR_NONE;
}

static bool changes_span_blocker(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_waited);

    if (node != WEIR_NONE) {
        span_at(subject, node)->blocker.index = node;
    }
    return node != WEIR_NONE;
}

static bool changes_ready(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_run_late);

    if (node != WEIR_NONE) {
        span_at(subject, node)->ready_ns--;
    }
    return node != WEIR_NONE;
}

static bool changes_length(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        span_at(subject, node)->isolated_ns++;
    }
    return node != WEIR_NONE;
}

static bool loses_link(struct subject *subject, struct random_stream *random)
{
    size_t n = subject->run.n_links, at = n < 2 ? 0 : below(random, (uint32_t)n - 1);

    if (n < 2 || subject->links[at].start_ns == subject->links[at].finish_ns) {
        return false;
    }
    memmove(&subject->links[at], &subject->links[at + 1], (n - at - 1) * sizeof *subject->links);
    subject->run.n_links--;
    return true;
}

static bool moves_link(struct subject *subject, struct random_stream *random)
{
    size_t n = subject->run.n_links;

    if (n < 2) {
        return false;
    }
    subject->links[below(random, (uint32_t)n)].finish_ns++;
    return true;
}

static bool changes_link(struct subject *subject, struct random_stream *random)
{
    size_t n = subject->run.n_links, at = below(random, (uint32_t)n);
    bool is_engine = strcmp(subject->links[at].cause, "engine") == 0;

    subject->links[at].cause = is_engine ? "predecessor" : "engine";
    return true;
}

static bool lengthens_run(struct subject *subject, struct random_stream *random)
{
    (void)random;
    subject->timeline->makespan_ns++;
    return true;
}

static bool swaps_orders(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < timeline->n_nodes; i++) {
        uint32_t order = timeline->spans[i].order;

        if (timeline->spans[i].start_ns > timeline->spans[0].start_ns &&
            timeline->spans[0].start_ns >= 0) {
            timeline->spans[i].order = timeline->spans[0].order;
            timeline->spans[0].order = order;
            return true;
        }
    }
    return false;
}

/* One that was given back by one alone: an edge may stand for each of several last uses. */
static bool loses_induced(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    int64_t brought = 0;
    size_t at;

    if (timeline->n_induced == 0) {
        return false;
    }
    at = below(random, (uint32_t)timeline->n_induced);
    for (size_t i = 0; i < timeline->n_induced; i++) {
        brought += weir_same(timeline->induced[i].consumer, timeline->induced[at].consumer) ? 1 : 0;
    }
    if (brought != 1) {
        return false;
    }
    memmove(&timeline->induced[at], &timeline->induced[at + 1],
            (timeline->n_induced - at - 1) * sizeof *timeline->induced);
    timeline->n_induced--;
    return true;
}

static bool turns_induced(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;
    struct timeline_induced *induced;
    weir_node producer;

    if (timeline->n_induced == 0) {
        return false;
    }
    induced = &timeline->induced[below(random, (uint32_t)timeline->n_induced)];
    producer = induced->producer;
    induced->producer = induced->consumer;
    induced->consumer = producer;
    return true;
}

static bool invents_giver(struct subject *subject, struct random_stream *random)
{
    struct timeline *timeline = subject->timeline;

    for (uint32_t i = 0; i < timeline->n_nodes && timeline->n_induced > 0; i++) {
        struct graph_node value;

        graph_node(subject->graph, (weir_node){i}, &value);
        if (value.n_reads == 0 && value.n_writes == 0 && value.n_workspace == 0 &&
            !weir_is(value.object) && timeline->spans[i].finish_ns >= 0) {
            timeline->induced[below(random, (uint32_t)timeline->n_induced)].producer.index = i;
            return true;
        }
    }
    return false;
}

static bool is_off(const struct subject *subject, uint32_t node)
{
    return !graph_node_is_on(subject->graph, (weir_node){node});
}

static uint32_t n_started(const struct timeline *timeline)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        n += timeline->spans[i].start_ns >= 0 ? 1 : 0;
    }
    return n;
}

static void start_at_end(struct subject *subject, uint32_t node)
{
    struct timeline_span *span = span_at(subject, node);

    span->order = n_started(subject->timeline);
    span->start_ns = subject->timeline->makespan_ns;
    span->isolated_ns = 0;
    span->finish_ns = span->start_ns;
}

static bool runs_guarded(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, is_off);

    if (node != WEIR_NONE) {
        start_at_end(subject, node);
    }
    return node != WEIR_NONE;
}

static uint32_t node_of(const struct subject *subject, const char *name)
{
    return graph_find_node(subject->graph, graph_find_text(subject->graph, name)).index;
}

static bool runs_fallback(struct subject *subject, struct random_stream *random)
{
    uint32_t node = node_of(subject, "other");

    (void)random;
    if (span_at(subject, node)->start_ns >= 0) {
        return false;
    }
    start_at_end(subject, node);
    return true;
}

/* The node did not run; its fallback, to which it gave way, did not either. */
static bool forgets_fallback(struct subject *subject, struct random_stream *random)
{
    static const struct timeline_span none = {.start_ns = -1,
                                              .finish_ns = -1,
                                              .isolated_ns = -1,
                                              .blocker = {WEIR_NONE},
                                              .order = WEIR_NONE};
    struct timeline_span *span = span_at(subject, node_of(subject, "other"));

    (void)random;
    if (span->start_ns < 0) {
        return false;
    }
    *span = none;
    return true;
}

static bool forgets_node(struct subject *subject, struct random_stream *random)
{
    static const struct timeline_span none = {.start_ns = -1,
                                              .finish_ns = -1,
                                              .isolated_ns = -1,
                                              .blocker = {WEIR_NONE},
                                              .order = WEIR_NONE};
    uint32_t node = below(random, N_NODES);

    if (span_at(subject, node)->start_ns < 0) {
        return false;
    }
    *span_at(subject, node) = none;
    return true;
}

static bool passes_window(struct subject *subject, struct random_stream *random)
{
    struct timeline_span *span = span_at(subject, node_of(subject, "late"));

    (void)random;
    if (span->start_ns < 0) {
        return false;
    }
    span->start_ns += 100;
    span->finish_ns += 100;
    return true;
}

static bool forgets_end(struct subject *subject, struct random_stream *random)
{
    uint32_t node = pick(subject, random, has_length);

    if (node != WEIR_NONE) {
        span_at(subject, node)->finish_ns = -1;
    }
    return node != WEIR_NONE;
}

static bool lengthens_path(struct subject *subject, struct random_stream *random)
{
    (void)random;
    subject->run.critical_path_ns = subject->timeline->makespan_ns + 1;
    return span_at(subject, node_of(subject, "late"))->start_ns >=
           0; /* else the bound says nothing */
}

static bool shrinks_domain(struct subject *subject, struct random_stream *random)
{
    struct graph_domain domain = *graph_domain(subject->graph, (weir_domain){0});

    (void)random;
    domain.capacity_bytes = subject->timeline->peak_bytes[0] - 1;
    graph_set_domain(subject->graph, (weir_domain){0}, &domain);
    return subject->timeline->peak_bytes[0] > 0;
}

/* Whatever ran beside another must not. */
static bool forbids(struct subject *subject, struct random_stream *random)
{
    struct graph_overlap overlap = *graph_overlap(subject->graph, 0);
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct timeline_span *a = &timeline->spans[i], *b = &timeline->spans[j];
            struct graph_node x, y;

            if (a->start_ns < 0 || b->start_ns < 0 || a->start_ns >= b->finish_ns ||
                b->start_ns >= a->finish_ns || a->finish_ns == a->start_ns ||
                b->finish_ns == b->start_ns) {
                continue;
            }
            graph_node(subject->graph, (weir_node){i}, &x);
            graph_node(subject->graph, (weir_node){j}, &y);
            overlap.a = x.name;
            overlap.b = y.name;
            graph_set_overlap(subject->graph, 0, &overlap);
            return true;
        }
    }
    return false;
}

static bool adds_hypothetical(struct subject *subject, struct random_stream *random)
{
    (void)random;
    (void)snprintf(subject->settings, sizeof subject->settings,
                   "{\"contention\":\"none\",\"hypothetical_overlap_ns\":%" PRId64 "}",
                   subject->result.hypothetical_ns + 1);
    return true;
}

static bool lengthens_classes(struct subject *subject, struct random_stream *random)
{
    if (subject->run.n_overlaps > 0) {
        subject->rows[below(random, (uint32_t)subject->run.n_overlaps)].overlap_ns++;
    }
    return subject->run.n_overlaps > 0;
}

static bool adds_edge(struct subject *subject, struct random_stream *random)
{
    struct graph_edge edge = graph_edge_default;
    struct weir_error err;
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < N_NODES; i++) {
        if (timeline->spans[i].start_ns >= 0 && timeline->spans[0].start_ns >= 0 &&
            timeline->spans[0].finish_ns > timeline->spans[i].start_ns) {
            edge.producer.index = 0;
            edge.consumer.index = i;
            edge.type = EDGE_ORDERING;
            return graph_add_edge(subject->graph, &edge, &err) == WEIR_OK;
        }
    }
    return false;
}

static bool adds_release(struct subject *subject, struct random_stream *random)
{
    uint32_t node = below(random, N_NODES);
    struct graph_node value;
    struct weir_error err;

    if (span_at(subject, node)->start_ns < 0) {
        return false;
    }
    graph_node(subject->graph, (weir_node){node}, &value);
    value.release_ns = span_at(subject, node)->start_ns + 1;
    return graph_set_node(subject->graph, (weir_node){node}, &value, &err) == WEIR_OK;
}

/* One that could go first, and did not: its priority says so now. */
static bool raises_priority(struct subject *subject, struct random_stream *random)
{
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (size_t i = 0; i < timeline->n_waits; i++) {
        const struct timeline_wait *wait = &timeline->waits[i];
        struct graph_node value;
        struct weir_error err;

        graph_node(subject->graph, wait->node, &value);
        if (wait->cause == WAIT_ENGINE &&
            wait->from_ns == timeline->spans[wait->node.index].ready_ns &&
            timeline->spans[wait->blocker.index].start_ns > wait->from_ns && value.n_writes == 0 &&
            value.n_workspace == 0 && !weir_is(value.object) && value.engine.index == 0) {
            value.priority = 100;
            return graph_set_node(subject->graph, wait->node, &value, &err) == WEIR_OK;
        }
    }
    return false;
}

/* A hazard that the run did not keep: a node reads, in the graph, what was written later. */
static bool reads_too_early(struct subject *subject, struct random_stream *random)
{
    const struct timeline *timeline = subject->timeline;

    (void)random;
    for (uint32_t i = 1; i < N_NODES; i++) {
        struct graph_access access = {{0}, {WEIR_NONE}};
        struct graph_node value, writer;
        struct weir_error err;

        graph_node(subject->graph, (weir_node){i}, &value);
        for (uint32_t j = 0; j < i && value.n_reads == 0 && value.kind == NODE_COMPUTE; j++) {
            graph_node(subject->graph, (weir_node){j}, &writer);
            if (writer.n_writes == 1 && timeline->spans[i].start_ns >= 0 &&
                timeline->spans[j].finish_ns > timeline->spans[i].start_ns &&
                weir_same(graph_node_domain(subject->graph, (weir_node){i}), (weir_domain){0})) {
                access.object = writer.writes[0];
                value.reads = &access;
                value.n_reads = 1;
                return graph_set_node(subject->graph, (weir_node){i}, &value, &err) == WEIR_OK;
            }
        }
    }
    return false;
}

static const struct {
    const char *name;
    bool (*does)(struct subject *, struct random_stream *);
    enum contention contention;
    enum verify_code
        codes[4]; /* one of them must be told; the first again, where there are fewer */
} damages[] = {
#define ONE(code)                                                  \
    {                                                              \
        VERIFY_##code, VERIFY_##code, VERIFY_##code, VERIFY_##code \
    }
    {"starts 1 ns earlier", starts_earlier, CONTENTION_NONE, ONE(WORK)},
    {"starts 1 ns earlier, beside others",
     starts_earlier,
     CONTENTION_PAIRWISE,
     {VERIFY_WORK, VERIFY_WAIT_GAP, VERIFY_WORK, VERIFY_WORK}},
    {"ends 2 ns later, beside others", ends_later, CONTENTION_PAIRWISE, ONE(WORK)},
    {"ends 2 ns later, sharing", ends_later, CONTENTION_SHARE, ONE(WORK)},
    {"ends 2 ns later, under a roofline", ends_later, CONTENTION_MEASURED, ONE(WORK)},
    {"moves 1 ns forward", moves_forward, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"stands idle",
     stands_idle,
     CONTENTION_NONE,
     {VERIFY_IDLE, VERIFY_NOT_FIRST, VERIFY_IDLE, VERIFY_IDLE}},
    {"two change places",
     swaps,
     CONTENTION_NONE,
     {VERIFY_NOT_FIRST, VERIFY_IDLE, VERIFY_START_ORDER, VERIFY_EDGE}},
    {"two on one slot", runs_beside, CONTENTION_NONE, ONE(SLOTS)},
    {"a hold is lost",
     loses_hold,
     CONTENTION_NONE,
     {VERIFY_HOLD_MISSING, VERIFY_HOLD_TIMES, VERIFY_HOLD_MISSING, VERIFY_HOLD_MISSING}},
    {"a hold stands twice",
     doubles_hold,
     CONTENTION_NONE,
     {VERIFY_HOLD_EXTRA, VERIFY_HOLD_TIMES, VERIFY_HOLD_EXTRA, VERIFY_HOLD_EXTRA}},
    {"a hold ends later", moves_hold, CONTENTION_NONE, ONE(HOLD_TIMES)},
    {"pressure is raised", raises_pressure, CONTENTION_NONE, ONE(PRESSURE)},
    {"pressure changes later", moves_pressure, CONTENTION_NONE, ONE(PRESSURE)},
    {"a peak is lowered", lowers_peak, CONTENTION_NONE, ONE(PEAK)},
    {"a cause is changed", changes_cause, CONTENTION_NONE, ONE(WAIT_CAUSE)},
    {"a policy that holds nobody held it", claims_admission, CONTENTION_NONE, ONE(WAIT_CAUSE)},
    {"a blocker is changed", changes_blocker, CONTENTION_NONE, ONE(WAIT_BLOCKER)},
    {"a wait is lost", loses_wait, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"a wait begins later", shortens_wait, CONTENTION_NONE, ONE(WAIT_GAP)},
    {"a span has another cause", changes_span_cause, CONTENTION_NONE, ONE(SPAN_CAUSE)},
    {"a span has another blocker", changes_span_blocker, CONTENTION_NONE, ONE(SPAN_CAUSE)},
    {"ready 1 ns earlier", changes_ready, CONTENTION_NONE, ONE(READY)},
    {"another length", changes_length, CONTENTION_NONE, ONE(LENGTH)},
    {"a link is lost", loses_link, CONTENTION_NONE, ONE(CHAIN_SUM)},
    {"a link is longer", moves_link, CONTENTION_NONE, ONE(CHAIN_SUM)},
    {"a link has another cause", changes_link, CONTENTION_NONE, ONE(CHAIN_CAUSE)},
    {"the makespan is longer", lengthens_run, CONTENTION_NONE, ONE(MAKESPAN)},
    {"numbers of starts change places", swaps_orders, CONTENTION_NONE, ONE(START_ORDER)},
    {"an induced edge is lost", loses_induced, CONTENTION_NONE, ONE(INDUCED_SHORT)},
    {"an induced edge is turned round", turns_induced, CONTENTION_NONE, ONE(INDUCED_EARLY)},
    {"one gave back what it never had", invents_giver, CONTENTION_NONE, ONE(INDUCED_GIVER)},
    {"one ran whose guard is off", runs_guarded, CONTENTION_NONE, ONE(GUARD)},
    {"a fallback ran that nobody needed", runs_fallback, CONTENTION_NONE, ONE(FALLBACK)},
    {"a fallback did not run", forgets_fallback, CONTENTION_NONE, ONE(NOT_RUN)},
    {"a node did not run", forgets_node, CONTENTION_NONE, ONE(NOT_RUN)},
    {"one started after its window", passes_window, CONTENTION_NONE, ONE(WINDOW)},
    {"one never ended", forgets_end, CONTENTION_NONE, ONE(UNFINISHED)},
    {"the critical path is longer", lengthens_path, CONTENTION_NONE, ONE(CRITICAL_PATH)},
    {"the domain is smaller", shrinks_domain, CONTENTION_NONE, ONE(OVER)},
    {"two must not overlap", forbids, CONTENTION_NONE, ONE(FORBIDDEN)},
    {"two must not overlap: no start", forbids, CONTENTION_NONE, ONE(NOT_APART)},
    {"more is hypothetical", adds_hypothetical, CONTENTION_NONE, ONE(HYPOTHETICAL)},
    {"classes ran longer at once", lengthens_classes, CONTENTION_NONE, ONE(CLASS_OVERLAP)},
    {"an edge is not kept", adds_edge, CONTENTION_NONE, ONE(EDGE)},
    {"a release is not kept", adds_release, CONTENTION_NONE, ONE(RELEASE)},
    {"one goes first that did not", raises_priority, CONTENTION_NONE, ONE(NOT_FIRST)},
    {"a hazard is not kept", reads_too_early, CONTENTION_NONE, ONE(HAZARD)},
#undef ONE
};

static bool is_told(const struct verify_result *result, const enum verify_code codes[4])
{
    for (size_t i = 0; i < result->n_findings; i++) {
        for (int j = 0; j < 4; j++) {
            if (result->findings[i].code == codes[j]) {
                return true;
            }
        }
    }
    return false;
}

START_TEST(test_every_damage_is_told)
{
    static struct text text;
    uint32_t n_done = 0;

    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        struct subject subject;
        struct verify_result result;
        struct random_stream random;

        put_graph(&text, seed);
        random_seed(&random, seed, 11);
        if (subject_make(&subject, text.bytes, damages[_i].contention) &&
            damages[_i].does(&subject, &random)) {
            n_done++;
            verify(&subject, &result);
            ck_assert_msg(is_told(&result, damages[_i].codes),
                          "%s: seed %" PRIu64 ", %" PRId64 " findings, the first %s: %s",
                          damages[_i].name, seed, result.n_wrong,
                          result.n_findings == 0 ? "none"
                                                 : verify_code_name(result.findings[0].code),
                          result.n_findings == 0 ? "" : result.findings[0].message);
            verify_free(&result);
        }
        subject_free(&subject);
    }
    ck_assert_msg(n_done > 0, "%s: no graph is fit for it", damages[_i].name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify");
    TCase *tests = tcase_create("verify");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_silent, 0, N_SEEDS);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
