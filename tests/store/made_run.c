/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run is not one that a simulator would give: its times are chosen so that every field of every
 * row has a value of its own. */
#include "tests/store/made_run.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "graph/text.h"
#include "store/store_internal.h"

/* Every kind of node, every type of edge, evidence of each sort, and names that would be trouble if
 * they were ever part of a statement. */
static const char text[] =
    "weir 1\n"
    "graph demo scope=warm\n"
    "domain gpu capacity=1000 reserve=10 granule=4 evidence=datasheet:card confidence=0.5\n"
    "domain host capacity=5000\n"
    "engine sm domain=gpu slots=2 evidence=measured:probe confidence=1\n"
    "engine down domain=gpu from=gpu to=host bandwidth=1GB/s\n"
    "engine up domain=gpu from=host to=gpu bandwidth=1GB/s\n"
    "object a size=60\n"
    "object \"b'); DROP TABLE run; --\" size=40 evidence=observed:driver\n"
    "object m size=10 domain=host initial\n"
    "node alloc allocation object=a domain=gpu\n"
    "node \"k,1 \\\"quoted\\\"\" compute engine=sm duration=10 writes=a workspace=30 "
    "evidence=fitted:probe confidence=0.25\n"
    "node map mapping object=m domain=gpu\n"
    "node tr transfer engine=down bytes=5\n"
    "node off offload engine=down object=a staging=7@host\n"
    "node k2 compute engine=sm duration=5 reads=a writes=\"b'); DROP TABLE run; --\" "
    "workspace=7@host staging=7@host class=heavy\n"
    "node pre prefetch engine=up object=m\n"
    "node rem rematerialization engine=sm duration=3 reads=m\n"
    "node bar barrier\n"
    "node rec reclamation object=a domain=gpu\n"
    "edge \"k,1 \\\"quoted\\\"\" k2 ordering lag=2 evidence=observed:ids\n"
    "edge tr bar barrier from=start lag=1\n"
    "edge k2 rec lifetime-hold object=a\n"
    "edge alloc map storage-ready\n"
    "edge map tr data-ready object=m\n"
    "edge pre rem capacity-wait\n";

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static void read_graph(uint32_t n_more, struct graph **out)
{
    struct report *report = report_new(0);
    struct weir_error err;
    size_t room = sizeof text + (size_t)n_more * 64, used = sizeof text - 1;
    char *whole = malloc(room);

    ck_assert_ptr_nonnull(whole);
    memcpy(whole, text, sizeof text);
    for (uint32_t i = 0; i < n_more; i++)
        used += (size_t)snprintf(whole + used, room - used,
                                 "node more%u compute engine=sm duration=%u\n", i, i % 7 + 1);
    OK(graph_read_text(whole, used, "made", report, out, &err));
    report_free(report);
    free(whole);
}

static void fill_timeline(struct timeline *timeline, uint32_t n_nodes)
{
    struct weir_error err;
    const weir_node none = {WEIR_NONE};
    const weir_object a = {0};

    for (uint32_t i = 0; i < n_nodes; i++) {
        timeline->spans[i] = (struct timeline_span){
            .ready_ns = 3 * i,
            .start_ns = 3 * i + i % 5,
            .finish_ns = 3 * i + i % 5 + 10,
            .isolated_ns = i % 3 == 0 ? -1 : 7 + (int64_t)(i % 4),
            .blocker = {i % 2 == 0 ? WEIR_NONE : i - 1},
            .order = n_nodes - 1 - i,
            .cause = (uint8_t)(i % 5),
            .source = (uint8_t)(i % 4),
        };
    }
    /* One that never started, one that never finished. */
    timeline->spans[7] = (struct timeline_span){.ready_ns = 99,
                                                .start_ns = -1,
                                                .finish_ns = -1,
                                                .isolated_ns = 4,
                                                .blocker = none,
                                                .order = WEIR_NONE,
                                                .cause = WAIT_CAPACITY};
    timeline->spans[8].finish_ns = -1;
    timeline->spans[8].isolated_ns = 2;
    timeline->makespan_ns = 123;
    timeline->status = RUN_DEADLOCK;
    timeline->peak_bytes[0] = 150;
    timeline->peak_bytes[1] = 17;
    OK(timeline_add_wait(timeline,
                         &(struct timeline_wait){{1}, WAIT_ENGINE, {0}, {WEIR_NONE}, 3, 4}, &err));
    OK(timeline_add_wait(timeline, &(struct timeline_wait){{2}, WAIT_CAPACITY, {1}, a, 6, 8},
                         &err));
    OK(timeline_add_wait(
        timeline, &(struct timeline_wait){{3}, WAIT_ADMISSION, none, {WEIR_NONE}, 9, 10}, &err));
    OK(timeline_add_wait(
        timeline, &(struct timeline_wait){{4}, WAIT_OVERLAP, {3}, {WEIR_NONE}, 10, 16}, &err));
    OK(timeline_add_pressure(timeline, &(struct timeline_pressure){{1}, 0, 10}, &err));
    OK(timeline_add_pressure(timeline, &(struct timeline_pressure){{0}, 4, 90}, &err));
    OK(timeline_add_pressure(timeline, &(struct timeline_pressure){{1}, 4, 17}, &err));
    OK(timeline_add_pressure(timeline, &(struct timeline_pressure){{0}, 14, 60}, &err));
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{1}, {2}, none, 10, 0, -1}, &err));
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{0}, a, {0}, 60, 0, 40}, &err));
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{0}, {WEIR_NONE}, {1}, 30, 4, 14},
                         &err));
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{1}, {WEIR_NONE}, {4}, 7, 16, 26},
                         &err));
    /* k2 has workspace and staging of one size in one domain: the staging stays longer. */
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{1}, {WEIR_NONE}, {5}, 7, 15, 25},
                         &err));
    OK(timeline_add_hold(timeline, &(struct timeline_hold){{1}, {WEIR_NONE}, {5}, 7, 15, 33},
                         &err));
    OK(timeline_add_induced(timeline, &(struct timeline_induced){{1}, {5}, {0}, 30}, &err));
}

/* Of the second and the third sample: nobody knows those of the first. */
static const int64_t sample_peaks[MADE_SAMPLES - 1][2] = {{31, 32}, {41, 42}};

void made_run_of(struct made_run *out, uint32_t n_more)
{
    static const struct run_decision decisions[] = {
        {"priority of k2: 5", "it is on the critical path", "priority 0"},
        {"order", "because; 'quotes'", NULL},
    };
    static const struct run_mechanism mechanisms[] = {
        {{1}, "FMA loop", NULL},
        {{4}, "memcpy on a copy thread", "pageable, not pinned"},
    };
    static const struct run_deviation deviations[] = {
        {{4}, "waited for the copy thread", 12},
        {{WEIR_NONE}, "pre-empted", -1},
    };
    static const struct run_overlap overlaps[] = {
        {"", "down", 3},
        {"it's", "sm", INT64_MAX},
    };

    static const char *const queues[] = {"sm/0", "down"};
    static const struct run_action actions[] = {
        {{1}, 0, 0, 1, 3, 4, 15, {1, 2, 3, -4}},
        {{4}, 1, 0, 0, 2, 9, -5, {-6, 7, 8, 9}},
        {{8}, WEIR_NONE, WEIR_NONE, WEIR_NONE, 5, 0, 0, {10, 0, 0, 0}},
    };
    static const struct run_inserted inserted[] = {
        {{1}, {5}, true, -1, "one queue runs both"},
        {{WEIR_NONE}, {4}, false, 12, "the policy held it until then"},
    };
    static const struct run_link links[] = {
        {{1}, "begin", NULL, 0, 100, {0, 2, 3, -4}},
        {{4}, "predecessor", "data-ready", 100, 123, {-6, 7, 8, 9}},
    };

    *out = (struct made_run){.graph = NULL};
    read_graph(n_more, &out->graph);
    out->timeline = timeline_new(graph_n_nodes(out->graph), graph_n_domains(out->graph));
    ck_assert_ptr_nonnull(out->timeline);
    fill_timeline(out->timeline, graph_n_nodes(out->graph));
    out->run = (struct run){
        .kind = RUN_REPLAY,
        .scope = SCOPE_WARM,
        .graph = out->graph,
        .graph_hash = "00112233445566778899aabbccddeeff",
        .graph_name = "demo",
        .policy = "retain",
        .machine = "h200.weir",
        .settings = "{\n  \"repeats\": 3\n}\n",
        .seed = -5,
        .critical_path_ns = 77,
        .timeline = out->timeline,
        .decisions = decisions,
        .n_decisions = 2,
        .mechanisms = mechanisms,
        .n_mechanisms = 2,
        .deviations = deviations,
        .n_deviations = 2,
        .overlaps = overlaps,
        .n_overlaps = 2,
        .actions = actions,
        .n_actions = 3,
        .queues = queues,
        .n_queues = 2,
        .inserted = inserted,
        .n_inserted = 2,
        .links = links,
        .n_links = 2,
    };
    for (int i = 0; i < MADE_SAMPLES; i++) {
        out->samples[i] = (struct run_sample){.number = i,
                                              .makespan_ns = 120 + i,
                                              .is_warm_up = i == 0,
                                              .status = i == 2 ? RUN_SHORTAGE : RUN_COMPLETE,
                                              .peak_bytes = i == 0 ? NULL : sample_peaks[i - 1]};
    }
}

void made_run(struct made_run *out)
{
    made_run_of(out, 0);
}

void made_run_free(struct made_run *made)
{
    timeline_free(made->timeline);
    graph_free(made->graph);
}

/* ---- equality ---- */

static void check_equal_graphs(const struct graph *a, const struct graph *b)
{
    char *text_a, *text_b;
    size_t n_a, n_b;
    struct weir_error err;

    OK(graph_write_text(a, &text_a, &n_a, &err));
    OK(graph_write_text(b, &text_b, &n_b, &err));
    ck_assert_str_eq(text_a, text_b);
    free(text_a);
    free(text_b);
}

static void check_equal_spans(const struct timeline *a, const struct timeline *b)
{
    ck_assert_uint_eq(a->n_nodes, b->n_nodes);
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        const struct timeline_span *x = &a->spans[i], *y = &b->spans[i];

        ck_assert_int_eq(x->ready_ns, y->ready_ns);
        ck_assert_int_eq(x->start_ns, y->start_ns);
        ck_assert_int_eq(x->finish_ns, y->finish_ns);
        ck_assert_int_eq(x->isolated_ns, y->isolated_ns);
        ck_assert_uint_eq(x->blocker.index, y->blocker.index);
        ck_assert_uint_eq(x->order, y->order);
        ck_assert_uint_eq(x->cause, y->cause);
        ck_assert_uint_eq(x->source, y->source);
    }
}

static void check_equal_timelines(const struct timeline *a, const struct timeline *b)
{
    check_equal_spans(a, b);
    ck_assert_int_eq(a->makespan_ns, b->makespan_ns);
    ck_assert_int_eq(a->status, b->status);
    ck_assert_uint_eq(a->n_domains, b->n_domains);
    for (uint32_t i = 0; i < a->n_domains; i++)
        ck_assert_int_eq(a->peak_bytes[i], b->peak_bytes[i]);
    ck_assert_uint_eq(a->n_waits, b->n_waits);
    for (size_t i = 0; i < a->n_waits; i++) {
        ck_assert_uint_eq(a->waits[i].node.index, b->waits[i].node.index);
        ck_assert_int_eq(a->waits[i].cause, b->waits[i].cause);
        ck_assert_uint_eq(a->waits[i].blocker.index, b->waits[i].blocker.index);
        ck_assert_uint_eq(a->waits[i].object.index, b->waits[i].object.index);
        ck_assert_int_eq(a->waits[i].from_ns, b->waits[i].from_ns);
        ck_assert_int_eq(a->waits[i].to_ns, b->waits[i].to_ns);
    }
    ck_assert_uint_eq(a->n_pressures, b->n_pressures);
    for (size_t i = 0; i < a->n_pressures; i++) {
        ck_assert_uint_eq(a->pressures[i].domain.index, b->pressures[i].domain.index);
        ck_assert_int_eq(a->pressures[i].t_ns, b->pressures[i].t_ns);
        ck_assert_int_eq(a->pressures[i].bytes, b->pressures[i].bytes);
    }
    ck_assert_uint_eq(a->n_holds, b->n_holds);
    for (size_t i = 0; i < a->n_holds; i++) {
        ck_assert_uint_eq(a->holds[i].domain.index, b->holds[i].domain.index);
        ck_assert_uint_eq(a->holds[i].object.index, b->holds[i].object.index);
        ck_assert_uint_eq(a->holds[i].node.index, b->holds[i].node.index);
        ck_assert_int_eq(a->holds[i].bytes, b->holds[i].bytes);
        ck_assert_int_eq(a->holds[i].acquire_ns, b->holds[i].acquire_ns);
        ck_assert_int_eq(a->holds[i].release_ns, b->holds[i].release_ns);
    }
    ck_assert_uint_eq(a->n_induced, b->n_induced);
    for (size_t i = 0; i < a->n_induced; i++) {
        ck_assert_uint_eq(a->induced[i].producer.index, b->induced[i].producer.index);
        ck_assert_uint_eq(a->induced[i].consumer.index, b->induced[i].consumer.index);
        ck_assert_uint_eq(a->induced[i].domain.index, b->induced[i].domain.index);
        ck_assert_int_eq(a->induced[i].bytes, b->induced[i].bytes);
    }
}

static void check_equal_parts(const struct deviation *a, const struct deviation *b)
{
    ck_assert_int_eq(a->dependency_ns, b->dependency_ns);
    ck_assert_int_eq(a->submission_ns, b->submission_ns);
    ck_assert_int_eq(a->queue_ns, b->queue_ns);
    ck_assert_int_eq(a->stretch_ns, b->stretch_ns);
}

static void check_equal_replays(const struct run *a, const struct run *b)
{
    ck_assert_uint_eq(a->n_actions, b->n_actions);
    for (size_t i = 0; i < a->n_actions; i++) {
        const struct run_action *x = &a->actions[i], *y = &b->actions[i];

        ck_assert_uint_eq(x->node.index, y->node.index);
        ck_assert_uint_eq(x->queue, y->queue);
        ck_assert_uint_eq(x->position, y->position);
        ck_assert_uint_eq(x->planned_position, y->planned_position);
        ck_assert_uint_eq(x->planned_order, y->planned_order);
        ck_assert_int_eq(x->submit_ns, y->submit_ns);
        ck_assert_int_eq(x->cost_ns, y->cost_ns);
        check_equal_parts(&x->deviation, &y->deviation);
    }
    ck_assert_uint_eq(a->n_queues, b->n_queues);
    for (size_t i = 0; i < a->n_queues; i++)
        ck_assert_str_eq(a->queues[i], b->queues[i]);
    ck_assert_uint_eq(a->n_inserted, b->n_inserted);
    for (size_t i = 0; i < a->n_inserted; i++) {
        ck_assert_uint_eq(a->inserted[i].producer.index, b->inserted[i].producer.index);
        ck_assert_uint_eq(a->inserted[i].consumer.index, b->inserted[i].consumer.index);
        ck_assert_int_eq(a->inserted[i].is_from_start, b->inserted[i].is_from_start);
        ck_assert_int_eq(a->inserted[i].not_before_ns, b->inserted[i].not_before_ns);
        ck_assert_str_eq(a->inserted[i].why, b->inserted[i].why);
    }
    ck_assert_uint_eq(a->n_links, b->n_links);
    for (size_t i = 0; i < a->n_links; i++) {
        ck_assert_uint_eq(a->links[i].node.index, b->links[i].node.index);
        ck_assert_str_eq(a->links[i].cause, b->links[i].cause);
        ck_assert_pstr_eq(a->links[i].via, b->links[i].via);
        ck_assert_int_eq(a->links[i].start_ns, b->links[i].start_ns);
        ck_assert_int_eq(a->links[i].finish_ns, b->links[i].finish_ns);
        check_equal_parts(&a->links[i].deviation, &b->links[i].deviation);
    }
}

void check_equal_runs(const struct run *a, const struct run *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->scope, b->scope);
    ck_assert_str_eq(a->graph_hash, b->graph_hash);
    ck_assert_str_eq(a->plan_hash, b->plan_hash);
    ck_assert_str_eq(a->graph_name, b->graph_name);
    ck_assert_str_eq(a->policy, b->policy);
    ck_assert_str_eq(a->machine, b->machine);
    ck_assert_int_eq(a->seed, b->seed);
    ck_assert_int_eq(a->critical_path_ns, b->critical_path_ns);
    check_equal_graphs(a->graph, b->graph);
    check_equal_timelines(a->timeline, b->timeline);
    ck_assert_uint_eq(a->n_decisions, b->n_decisions);
    for (size_t i = 0; i < a->n_decisions; i++) {
        ck_assert_str_eq(a->decisions[i].what, b->decisions[i].what);
        ck_assert_str_eq(a->decisions[i].reason, b->decisions[i].reason);
        ck_assert_pstr_eq(a->decisions[i].instead_of, b->decisions[i].instead_of);
    }
    ck_assert_uint_eq(a->n_mechanisms, b->n_mechanisms);
    for (size_t i = 0; i < a->n_mechanisms; i++) {
        ck_assert_uint_eq(a->mechanisms[i].node.index, b->mechanisms[i].node.index);
        ck_assert_str_eq(a->mechanisms[i].mechanism, b->mechanisms[i].mechanism);
        ck_assert_pstr_eq(a->mechanisms[i].note, b->mechanisms[i].note);
    }
    ck_assert_uint_eq(a->n_deviations, b->n_deviations);
    for (size_t i = 0; i < a->n_deviations; i++) {
        ck_assert_uint_eq(a->deviations[i].node.index, b->deviations[i].node.index);
        ck_assert_str_eq(a->deviations[i].what, b->deviations[i].what);
        ck_assert_int_eq(a->deviations[i].cost_ns, b->deviations[i].cost_ns);
    }
    ck_assert_uint_eq(a->n_overlaps, b->n_overlaps);
    for (size_t i = 0; i < a->n_overlaps; i++) {
        ck_assert_str_eq(a->overlaps[i].class_a, b->overlaps[i].class_a);
        ck_assert_str_eq(a->overlaps[i].class_b, b->overlaps[i].class_b);
        ck_assert_int_eq(a->overlaps[i].overlap_ns, b->overlaps[i].overlap_ns);
    }
    check_equal_replays(a, b);
}

/* ---- files ---- */

static char folder[64];

static void remove_folder(void)
{
    char command[sizeof folder + 16];

    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

const char *scratch_path(const char *name)
{
    static char path[160];

    if (folder[0] == '\0') {
        (void)snprintf(folder, sizeof folder, "/tmp/weir-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        (void)atexit(remove_folder);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- stores ---- */

struct store *opened(const char *name)
{
    struct store *store = NULL;
    struct weir_error err;

    OK(store_open(scratch_path(name), false, &store, &err));
    return store;
}

int64_t write_made(struct store *store, struct made_run *made)
{
    struct weir_error err;

    OK(store_write_run(store, &made->run, made->samples, MADE_SAMPLES, &err));
    return made->run.id;
}

char *query(struct store *store, const char *sql)
{
    static char out[1 << 14];
    sqlite3_stmt *select = NULL;
    size_t used = 0;

    out[0] = '\0';
    ck_assert_msg(sqlite3_prepare_v2(store->db, sql, -1, &select, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(store->db));
    while (sqlite3_step(select) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(select); i++) {
            const char *value = (const char *)sqlite3_column_text(select, i);

            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", i == 0 ? "" : "|",
                                     value == NULL ? "" : value);
        }
        used += (size_t)snprintf(out + used, sizeof out - used, "\n");
        ck_assert_uint_lt(used, sizeof out - 1);
    }
    ck_assert_msg(sqlite3_finalize(select) == SQLITE_OK, "%s", sqlite3_errmsg(store->db));
    return out;
}
