/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a graph, simulates it, keeps of the run what a store keeps, and asks the verifier. A seed gives the
 * same graph and the same run always. */
#include "tests/judge/subject.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/analyze.h"
#include "graph/text.h"
#include "judge/chain.h"
#include "policies/registry.h"

enum { N_OBJECTS = 6 };

/* --- graphs ----------------------------------------------------------------------------------- */

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

void subject_draw(struct text *text, uint64_t seed)
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

bool subject_make(struct subject *subject, const char *text, enum contention contention)
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

void subject_free(struct subject *subject)
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

void subject_verify(const struct subject *subject, struct verify_result *result)
{
    const struct verify_options options = {.tolerance_ns = 0};
    struct weir_error err;

    ck_assert_int_eq(verify_run(&subject->run, &options, result, &err), WEIR_OK);
}

/* --- damage ----------------------------------------------------------------------------------- */

struct timeline_span *subject_span(struct subject *subject, uint32_t node)
{
    return &subject->timeline->spans[node];
}

uint32_t subject_pick(struct subject *subject, struct random_stream *random,
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

uint32_t subject_node(const struct subject *subject, const char *name)
{
    return graph_find_node(subject->graph, graph_find_text(subject->graph, name)).index;
}

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

void damage_is_told(const struct damage *damage)
{
    static struct text text;
    uint32_t n_done = 0;

    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        struct subject subject;
        struct verify_result result;
        struct random_stream random;

        subject_draw(&text, seed);
        random_seed(&random, seed, 11);
        if (subject_make(&subject, text.bytes, damage->contention) &&
            damage->does(&subject, &random)) {
            n_done++;
            subject_verify(&subject, &result);
            ck_assert_msg(is_told(&result, damage->codes),
                          "%s: seed %" PRIu64 ", %" PRId64 " findings, the first %s: %s",
                          damage->name, seed, result.n_wrong,
                          result.n_findings == 0 ? "none"
                                                 : verify_code_name(result.findings[0].code),
                          result.n_findings == 0 ? "" : result.findings[0].message);
            verify_free(&result);
        }
        subject_free(&subject);
    }
    ck_assert_msg(n_done > 0, "%s: no graph is fit for it", damage->name);
}
