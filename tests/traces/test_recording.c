/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording by itself: what binds, what a lag is, how many slots an engine needs, names, bytes. */
#include "traces/recording.h"

#include <string.h>

#include "tests/suite.h"
#include "tests/traces/exact.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;

static uint32_t word(struct recording *recording, const char *text)
{
    uint32_t id = 0;

    OK(recording_word(recording, text, &id, &err));
    return id;
}

static uint32_t engine(struct recording *recording, const char *name)
{
    uint32_t id = 0;

    OK(recording_add_engine(recording, word(recording, name), RECORDING_NONE, &id, &err));
    return id;
}

static struct recording_action action(struct recording *recording, const char *name, uint32_t on,
                                      int64_t start_ns, int64_t finish_ns)
{
    return (struct recording_action){.start_ns = start_ns,
                                     .finish_ns = finish_ns,
                                     .bytes = -1,
                                     .origin_row = -1,
                                     .name = word(recording, name),
                                     .lead = RECORDING_NONE,
                                     .engine = on,
                                     .object = RECORDING_NONE,
                                     .domain = RECORDING_NONE,
                                     .from = RECORDING_NONE,
                                     .to = RECORDING_NONE,
                                     .kind = NODE_COMPUTE};
}

static uint32_t add(struct recording *recording, const char *name, uint32_t on, int64_t start_ns,
                    int64_t finish_ns)
{
    const struct recording_action row = action(recording, name, on, start_ns, finish_ns);
    uint32_t id = 0;

    OK(recording_add_action(recording, &row, &id, &err));
    return id;
}

static enum recording_fit tie(struct recording *recording, uint32_t from, uint32_t to,
                              enum recording_rule rule)
{
    const struct recording_link link = {.producer = from, .consumer = to, .rule = rule};
    enum recording_fit fit = FIT_CONTRADICTED;

    OK(recording_link(recording, &link, &fit, &err));
    return fit;
}

struct built {
    struct graph *graph;
    struct timeline *timeline;
    struct recording_summary summary;
};

/* Builds, checks that all starts come back, and frees the recording. */
static struct built build(struct recording *recording)
{
    const struct recording_head head = {"made", "by hand"};
    struct built built;
    char text[EXACT_TEXT];

    OK(recording_build(recording, &head, &built.graph, &built.timeline, &built.summary, &err));
    recording_free(recording);
    ck_assert_msg(exact_replay(built.graph, built.timeline, text), "%s", text);
    return built;
}

static void clear(struct built *built)
{
    graph_free(built->graph);
    timeline_free(built->timeline);
}

static struct graph_edge edge_between(const struct graph *graph, uint32_t from, uint32_t to)
{
    struct graph_edge edge;

    for (uint32_t i = 0; i < graph_n_edges(graph); i++) {
        graph_edge(graph, (weir_edge){i}, &edge);
        if (edge.producer.index == from && edge.consumer.index == to)
            return edge;
    }
    ck_abort_msg("no edge %u %u", from, to);
    return edge;
}

/* How a consumer at [1000, ...) fits a producer [start, finish). */
static enum recording_fit fit(int64_t start_ns, int64_t finish_ns, enum recording_rule rule)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e"), a = add(recording, "a", e, start_ns, finish_ns);
    uint32_t b = add(recording, "b", e, 1000000, 1000001);
    enum recording_fit result = tie(recording, a, b, rule);

    ck_assert_int_eq(recording_n_links(recording, rule, result), 1);
    recording_free(recording);
    return result;
}

START_TEST(fits)
{
    ck_assert_int_eq(fit(0, 1000000, RULE_EVENT_WAIT), FIT_AFTER);
    ck_assert_int_eq(fit(0, 1001000, RULE_EVENT_WAIT), FIT_OVERLAP);
    ck_assert_int_eq(fit(0, 1001001, RULE_EVENT_WAIT), FIT_CONTRADICTED);
    ck_assert_int_eq(fit(0, 2000000, RULE_STREAM), FIT_OVERLAP);
    ck_assert_int_eq(fit(1000000, 2000000, RULE_STREAM), FIT_OVERLAP);
    ck_assert_int_eq(fit(1000001, 2000000, RULE_STREAM), FIT_CONTRADICTED);
}
END_TEST

/* Actions of length zero at one instant: a link goes from the lower rank to the higher, and among
 * equals from the earlier id, so that no circle can arise. */
START_TEST(one_instant)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e"), a, b, high_id = 0;
    struct recording_action high = action(recording, "high", e, 5, 5);
    struct built built;

    high.rank = 1;
    OK(recording_add_action(recording, &high, &high_id, &err));
    a = add(recording, "a", e, 5, 5);
    b = add(recording, "b", e, 5, 5);
    ck_assert_int_eq(tie(recording, a, b, RULE_HOST_ORDER), FIT_AFTER);
    ck_assert_int_eq(tie(recording, b, a, RULE_HOST_ORDER), FIT_CONTRADICTED);
    ck_assert_int_eq(tie(recording, a, a, RULE_HOST_ORDER), FIT_CONTRADICTED);
    ck_assert_int_eq(tie(recording, b, high_id, RULE_HOST_ORDER), FIT_AFTER);
    ck_assert_int_eq(tie(recording, high_id, b, RULE_HOST_ORDER), FIT_CONTRADICTED);
    built = build(recording);
    ck_assert_uint_eq(graph_n_edges(built.graph), 2);
    ck_assert_int_eq(built.summary.makespan_ns, 0);
    clear(&built);
}
END_TEST

/* c was held by b, 10 us before; by a it would have been held 500 us before, which explains nothing.
 * The other way round, a link that explains wins over a later one that does not. */
START_TEST(what_binds)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e"), f = engine(recording, "f");
    uint32_t a = add(recording, "a", e, 0, 500000), b = add(recording, "b", f, 0, 990000);
    uint32_t c = add(recording, "c", e, 1000000, 1100000);
    uint32_t call = add(recording, "call", f, 1050000, 1900000);
    uint32_t d = add(recording, "d", e, 1800000, 1900000);
    const struct recording_link launch = {
        .producer = call, .consumer = d, .rule = RULE_LAUNCH, .is_within = true};
    enum recording_fit how;
    struct built built;

    ck_assert_int_eq(tie(recording, a, c, RULE_STREAM), FIT_AFTER);
    ck_assert_int_eq(tie(recording, b, c, RULE_EVENT_WAIT), FIT_AFTER);
    ck_assert_int_eq(tie(recording, c, d, RULE_STREAM), FIT_AFTER);
    OK(recording_link(recording, &launch, &how, &err));
    built = build(recording);
    ck_assert_int_eq(edge_between(built.graph, 1, 2).lag_ns, 10000);
    ck_assert_int_eq(edge_between(built.graph, 0, 2).lag_ns, 0);
    ck_assert_int_eq(edge_between(built.graph, 2, 4).lag_ns, 0);
    ck_assert_int_eq(edge_between(built.graph, 3, 4).lag_ns, 750000);
    ck_assert(edge_between(built.graph, 3, 4).is_from_start);
    ck_assert_int_eq(built.summary.chain_gap_ns[GAP_UNEXPLAINED], 0);
    /* d ends last with the call; the call stands first in the order of programs: release 1050000. */
    ck_assert_int_eq(built.summary.makespan_ns, 1900000);
    clear(&built);
}
END_TEST

/* The chain: a 100, gap 5 (device), b 200, gap 30000 (unexplained), c 300: what it adds up to. */
START_TEST(chain)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e");
    uint32_t a = add(recording, "a", e, 50, 150), b = add(recording, "b", e, 155, 355);
    uint32_t c = add(recording, "c", e, 30355, 30655);
    struct built built;

    tie(recording, a, b, RULE_STREAM);
    tie(recording, b, c, RULE_STREAM);
    built = build(recording);
    ck_assert_int_eq(built.summary.origin_ns, 50);
    ck_assert_int_eq(built.summary.makespan_ns, 30605);
    ck_assert_int_eq(built.summary.chain_busy_ns, 600);
    ck_assert_int_eq(built.summary.chain_gap_ns[GAP_DEVICE], 5);
    ck_assert_int_eq(built.summary.chain_gap_ns[GAP_UNEXPLAINED], 30000);
    ck_assert_int_eq(built.summary.chain_release_ns, 0);
    clear(&built);
}
END_TEST

static int64_t slots_for(const int64_t (*times)[2], size_t n)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e");
    struct built built;
    int64_t slots;

    for (size_t i = 0; i < n; i++)
        add(recording, "a", e, times[i][0], times[i][1]);
    built = build(recording);
    slots = graph_engine(built.graph, (weir_engine){0})->slots;
    clear(&built);
    return slots;
}

START_TEST(slots)
{
    const int64_t after[][2] = {{0, 10}, {10, 20}, {20, 30}};
    const int64_t together[][2] = {{0, 10}, {5, 15}, {9, 11}, {12, 13}};
    const int64_t instant[][2] = {{0, 10}, {5, 5}, {5, 5}};
    const int64_t edges[][2] = {{0, 10}, {10, 10}, {10, 20}};

    ck_assert_int_eq(slots_for(after, 3), 1);
    ck_assert_int_eq(slots_for(together, 4), 3);
    ck_assert_int_eq(slots_for(instant, 3), 2); /* one at a time, beside the one that runs */
    ck_assert_int_eq(slots_for(edges, 3), 2);   /* the one that starts may start first */
}
END_TEST

START_TEST(engine_names)
{
    struct recording *recording = recording_new();
    struct built built;

    add(recording, "a", engine(recording, "e"), 0, 1);
    add(recording, "a", engine(recording, "e"), 0, 1);
    add(recording, "a", engine(recording, "e"), 0, 1);
    built = build(recording);
    ck_assert(weir_is(graph_find_engine(built.graph, graph_find_text(built.graph, "e#2"))));
    ck_assert(weir_is(graph_find_engine(built.graph, graph_find_text(built.graph, "e#3"))));
    ck_assert(weir_is(graph_find_node(built.graph, graph_find_text(built.graph, "a#3"))));
    clear(&built);
}
END_TEST

/* Given back and taken at one instant: the pressure settles, and both fit for a moment. */
START_TEST(bytes)
{
    struct recording *recording = recording_new();
    uint32_t e = engine(recording, "e"), domain = 0, objects[2];
    const struct recording_domain d = {.name = word(recording, "hbm"), .capacity_bytes = 150};
    struct built built;

    OK(recording_add_domain(recording, &d, &domain, &err));
    for (int i = 0; i < 2; i++) {
        const struct recording_object object = {.bytes = 100,
                                                .name = word(recording, "o"),
                                                .domain = domain,
                                                .allocation = RECORDING_NONE,
                                                .reclamation = RECORDING_NONE,
                                                .evidence = EVIDENCE_OBSERVED,
                                                .is_initial = i == 0};
        OK(recording_add_object(recording, &object, &objects[i], &err));
    }
    for (int i = 0; i < 2; i++) {
        struct recording_action memory = action(recording, i == 0 ? "free" : "alloc", e, 10, 10);
        uint32_t id;
        memory.kind = i == 0 ? NODE_RECLAMATION : NODE_ALLOCATION;
        memory.object = objects[i];
        memory.domain = domain;
        OK(recording_add_action(recording, &memory, &id, &err));
    }
    add(recording, "a", e, 0, 5);
    built = build(recording);
    ck_assert_int_eq(built.timeline->peak_bytes[0], 100);
    ck_assert_int_ge(graph_domain(built.graph, (weir_domain){0})->capacity_bytes, 200);
    ck_assert_uint_eq(built.timeline->n_pressures, 1);
    ck_assert(weir_is(graph_find_node(built.graph, graph_find_text(built.graph, "alloc:o#2"))));
    clear(&built);
}
END_TEST

START_TEST(nothing)
{
    struct recording *recording = recording_new();
    const struct recording_head head = {"made", "by hand"};
    struct graph *graph;
    struct timeline *timeline;
    struct recording_summary summary;

    ck_assert_int_eq(recording_build(recording, &head, &graph, &timeline, &summary, &err),
                     WEIR_INPUT);
    recording_free(recording);
}
END_TEST

static const char *kept(struct recording *recording, const char *text, size_t length)
{
    uint32_t id;

    OK(recording_text(recording, text, length, &id, &err));
    return recording_text_of(recording, id);
}

START_TEST(texts)
{
    struct recording *recording = recording_new();
    char long_text[400];

    ck_assert_str_eq(kept(recording, "plain", 5), "plain");
    ck_assert_str_eq(kept(recording, "a\nb\tc\0d\x7f", 8), "a b c?d?");
    ck_assert_str_eq(kept(recording, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
                     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(kept(recording, "\xc0\x80 \xed\xa0\x80 \xff \xc3", 10), "?? ??? ? ?");
    ck_assert_str_eq(kept(recording, "\xc2\x85", 2), "?"); /* a control of the second kind */
    ck_assert_str_eq(kept(recording, "", 0), "unnamed");
    memset(long_text, 'x', sizeof long_text);
    memcpy(long_text + 153, "\xf0\x9f\x98\x80", 4); /* is not cut in two */
    ck_assert_uint_le(strlen(kept(recording, long_text, sizeof long_text)), 160);
    ck_assert_str_eq(kept(recording, long_text, sizeof long_text) + 153, "\xf0\x9f\x98\x80...");
    recording_free(recording);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *tcase = tcase_create("recording");

    tcase_add_test(tcase, fits);
    tcase_add_test(tcase, one_instant);
    tcase_add_test(tcase, what_binds);
    tcase_add_test(tcase, chain);
    tcase_add_test(tcase, slots);
    tcase_add_test(tcase, engine_names);
    tcase_add_test(tcase, bytes);
    tcase_add_test(tcase, nothing);
    tcase_add_test(tcase, texts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
