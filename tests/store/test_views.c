/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables and views as a user of sqlite3 sees them, and the tables that are read out. */
#include <stdlib.h>

#include "store/store.h"
#include "tests/store/made_run.h"
#include "tests/suite.h"

#define OK(call) ck_assert_msg((call) == WEIR_OK, "%s", err.text)

static struct weir_error err;

/* The names and the columns that stay, whatever lies beneath. */
START_TEST(tables_have_their_columns)
{
    static const char *const selects[] = {
        "SELECT id, kind, scope, graph_hash, plan_hash, graph_name, policy, machine, seed, "
        "makespan_ns, critical_path_ns, status, created, settings FROM run",
        "SELECT run_id, id, name, kind, engine, class FROM node",
        "SELECT run_id, node_id, ready_ns, start_ns, finish_ns, isolated_ns, wait_cause, "
        "time_source FROM span",
        "SELECT run_id, producer, consumer, type, object, lag_ns, origin FROM edge",
        "SELECT run_id, id, name, bytes, domain FROM object",
        "SELECT run_id, domain, object, acquire_ns, release_ns FROM hold",
        "SELECT run_id, node_id, cause, blocker, from_ns, to_ns FROM wait",
        "SELECT run_id, domain, t_ns, bytes FROM pressure",
        "SELECT run_id, position, node_id, cause, via, start_ns, finish_ns FROM chain",
        "SELECT run_id, class_a, class_b, overlap_ns FROM overlap",
        "SELECT run_id, number, makespan_ns, is_warm_up, status FROM sample",
        "SELECT run_id, number, domain, bytes FROM sample_peak",
        "SELECT run_id, subject, id, name, evidence, detail, confidence FROM evidence",
        "SELECT run_id, position, what, reason, instead_of FROM decision",
        "SELECT run_id, node_id, mechanism, note FROM mechanism",
        "SELECT run_id, position, node_id, what, cost_ns FROM deviation",
        "SELECT run_id, position, dependency_ns, submission_ns, queue_ns, stretch_ns FROM chain",
        "SELECT run_id, node_id, deviation_ns, dependency_ns, submission_ns, queue_ns, stretch_ns, "
        "cost_ns, submit_ns FROM deviation_part",
        "SELECT run_id, queue, position, planned_position, node_id FROM queue_order",
        "SELECT run_id, position, producer, consumer, counts_from, not_before_ns, why "
        "FROM inserted",
        "SELECT run_id, domain, bytes FROM peak",
        "SELECT run_id, id, name, slots FROM engine",
        "SELECT run_id, id, name, capacity_bytes, reserve_bytes, granule_bytes FROM domain",
    };
    struct store *store = opened("a.db");

    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++)
        ck_assert_str_eq(query(store, selects[i]), "");
    store_close(store);
}
END_TEST

START_TEST(rows_read_as_a_user_expects)
{
    struct made_run made;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    ck_assert_str_eq(query(store, "SELECT kind, scope, graph_name, policy, machine, seed, "
                                  "makespan_ns, critical_path_ns, status, settings FROM run"),
                     "replay|warm|demo|retain|h200.weir|-5|123|77|deadlock|{\"repeats\":3}\n");
    ck_assert_str_eq(query(store, "SELECT * FROM node WHERE run_id = 1 AND id IN (1, 5, 8)"),
                     "1|1|k,1 \"quoted\"|compute|sm|sm\n1|5|k2|compute|sm|heavy\n"
                     "1|8|bar|barrier||\n");
    /* Node 7 never started and has no span; node 8 started and never finished. */
    ck_assert_str_eq(
        query(store, "SELECT node_id, ready_ns, start_ns, finish_ns, isolated_ns, wait_cause, "
                     "time_source, blocker, start_order FROM span WHERE node_id > 5"),
        "6|18|19|29||engine|host||3\n8|24|27||2|admission|simulated||1\n"
        "9|27|31|41||overlap|device|8|0\n");
    ck_assert_str_eq(query(store, "SELECT domain, object, acquire_ns, release_ns, bytes, node_id "
                                  "FROM hold"),
                     "host|m|0||10|\ngpu|a|0|40|60|0\n"
                     "gpu|workspace of k,1 \"quoted\"|4|14|30|1\nhost|staging of off|16|26|7|4\n"
                     "host|workspace of k2|15|25|7|5\nhost|staging of k2|15|33|7|5\n");
    ck_assert_str_eq(query(store, "SELECT node_id, cause, blocker, from_ns, to_ns, object "
                                  "FROM wait"),
                     "1|engine|0|3|4|\n2|capacity|1|6|8|a\n3|admission||9|10|\n4|overlap|3|10|16|"
                     "\n");
    ck_assert_str_eq(query(store, "SELECT domain, t_ns, bytes FROM pressure"),
                     "host|0|10\ngpu|4|90\nhost|4|17\ngpu|14|60\n");
    ck_assert_str_eq(query(store, "SELECT domain, bytes FROM peak"), "gpu|150\nhost|17\n");
    ck_assert_str_eq(query(store, "SELECT name, bytes, domain FROM object"),
                     "a|60|gpu\nb'); DROP TABLE run; --|40|gpu\nm|10|host\n");
    ck_assert_str_eq(query(store, "SELECT number, makespan_ns, is_warm_up, status FROM sample"),
                     "0|120|1|complete\n1|121|0|complete\n2|122|0|shortage\n");
    ck_assert_str_eq(query(store, "SELECT number, domain, bytes FROM sample_peak"),
                     "1|gpu|31\n1|host|32\n2|gpu|41\n2|host|42\n");
    ck_assert_str_eq(query(store, "SELECT position, what, instead_of FROM decision"),
                     "0|priority of k2: 5|priority 0\n1|order|\n");
    ck_assert_str_eq(query(store, "SELECT node_id, mechanism, note FROM mechanism"),
                     "1|FMA loop|\n4|memcpy on a copy thread|pageable, not pinned\n");
    ck_assert_str_eq(query(store, "SELECT node_id, what, cost_ns FROM deviation"),
                     "4|waited for the copy thread|12\n|pre-empted|\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(replays_read_as_a_user_expects)
{
    struct made_run made;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    ck_assert_str_eq(query(store, "SELECT * FROM deviation_part"),
                     "1|1|2|1|2|3|-4|15|4\n1|4|18|-6|7|8|9|-5|9\n1|8|10|10|0|0|0|0|0\n");
    ck_assert_str_eq(query(store, "SELECT * FROM queue_order"), "1|sm/0|0|1|1\n1|down|0|0|4\n");
    ck_assert_str_eq(query(store, "SELECT * FROM inserted"),
                     "1|0|1|5|start||one queue runs both\n"
                     "1|1||4||12|the policy held it until then\n");
    ck_assert_str_eq(query(store, "SELECT * FROM chain"),
                     "1|0|1|begin||0|100|0|2|3|-4\n"
                     "1|1|4|predecessor|data-ready|100|123|-6|7|8|9\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

START_TEST(edges_and_evidence_read_as_a_user_expects)
{
    struct made_run made;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    ck_assert_str_eq(
        query(store, "SELECT producer, consumer, type, object, lag_ns, counts_from FROM edge "
                     "WHERE origin = 'given'"),
        "1|5|ordering||2|finish\n3|8|barrier||1|start\n5|9|lifetime-hold|a|0|finish\n"
        "0|2|storage-ready||0|finish\n2|3|data-ready|m|0|finish\n6|7|capacity-wait||0|finish\n");
    /* The first writer follows the allocation of its copy; the offload and k2 read what k,1 wrote;
     * the reclamation follows every use. */
    ck_assert_str_eq(query(store, "SELECT producer, consumer, type, object FROM edge "
                                  "WHERE origin = 'implied' AND object = 'a' "
                                  "ORDER BY consumer, producer"),
                     "0|1|storage-ready|a\n1|4|data-ready|a\n1|5|data-ready|a\n"
                     "4|9|lifetime-hold|a\n5|9|lifetime-hold|a\n");
    ck_assert_str_eq(query(store, "SELECT producer, consumer, type, lag_ns, domain, bytes "
                                  "FROM edge WHERE origin = 'induced'"),
                     "1|5|capacity-wait|0|gpu|30\n");
    ck_assert_str_eq(query(store, "SELECT subject, id, name, evidence, detail, confidence "
                                  "FROM evidence"),
                     "domain|0|gpu|datasheet|card|0.5\nengine|0|sm|measured|probe|1.0\n"
                     "object|1|b'); DROP TABLE run; --|observed|driver|\n"
                     "node|1|k,1 \"quoted\"|fitted|probe|0.25\n"
                     "edge|0|k,1 \"quoted\" -> k2|observed|ids|\n");
    store_close(store);
    made_run_free(&made);
}
END_TEST

/* The views spell out what the enums mean: one word a value, the same as in C. */
START_TEST(words_of_the_views_are_those_of_the_program)
{
    struct made_run made;
    char sql[160], expected[64];
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
#define CHECK_WORDS(count, set, get, name_of)                       \
    for (int i = 0; i < (count); i++) {                             \
        (void)snprintf(sql, sizeof sql, set, i);                    \
        (void)query(store, sql);                                    \
        (void)snprintf(expected, sizeof expected, "%s\n", name_of); \
        ck_assert_str_eq(query(store, get), expected);              \
    }
    CHECK_WORDS(NODE_KINDS, "UPDATE node_row SET kind = %d WHERE key & 4294967295 = 0",
                "SELECT kind FROM node WHERE id = 0", node_kind_name((enum node_kind)i))
    CHECK_WORDS(EDGE_TYPES, "UPDATE edge_row SET type = %d WHERE key & 4294967295 = 0",
                "SELECT type FROM edge LIMIT 1", edge_type_name((enum edge_type)i))
    CHECK_WORDS(WAIT_OVERLAP + 1, "UPDATE wait_block SET cause = %d, cause_digits = X''",
                "SELECT cause FROM wait LIMIT 1", wait_cause_name((enum wait_cause)i))
    CHECK_WORDS(WAIT_OVERLAP + 1, "UPDATE span_block SET how = %d, how_digits = X''",
                "SELECT wait_cause FROM span LIMIT 1", wait_cause_name((enum wait_cause)i))
    CHECK_WORDS(TIME_EVENT + 1, "UPDATE span_block SET how = 16 * %d, how_digits = X''",
                "SELECT time_source FROM span LIMIT 1", time_source_name((enum time_source)i))
    for (int i = EVIDENCE_MEASURED; i <= EVIDENCE_INFERRED; i++) {
        (void)snprintf(sql, sizeof sql, "UPDATE domain_row SET evidence = %d", i);
        (void)query(store, sql);
        (void)snprintf(expected, sizeof expected, "%s\n", evidence_name((enum evidence_kind)i));
        ck_assert_str_eq(query(store, "SELECT evidence FROM evidence LIMIT 1"), expected);
    }
    store_close(store);
    made_run_free(&made);
}
END_TEST

/* A join of the wide views by their ids must look each row up, or a large run takes for ever. */
START_TEST(joins_by_id_are_look_ups)
{
    static const char *const selects[] = {
        "SELECT * FROM span JOIN node ON node.run_id = span.run_id AND node.id = span.node_id "
        "WHERE span.run_id = 1",
        "SELECT * FROM wait JOIN span ON span.run_id = wait.run_id AND span.node_id = wait.node_id "
        "WHERE wait.run_id = 1",
        "SELECT * FROM node WHERE run_id = 1 AND id = 7",
        "SELECT * FROM object WHERE run_id = 1 AND id = 2",
        "SELECT * FROM pressure WHERE run_id = 1",
        "SELECT * FROM deviation_part AS d JOIN node ON node.run_id = d.run_id AND node.id = "
        "d.node_id WHERE d.run_id = 1",
        "SELECT * FROM queue_order WHERE run_id = 1",
        "SELECT * FROM inserted WHERE run_id = 1",
    };
    char sql[400];
    struct store *store = opened("a.db");

    for (size_t i = 0; i < sizeof selects / sizeof *selects; i++) {
        (void)snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", selects[i]);
        ck_assert_msg(strstr(query(store, sql), "SCAN") == NULL, "%s:\n%s", selects[i],
                      query(store, sql));
    }
    store_close(store);
}
END_TEST

struct read_out {
    uint32_t n_rows, n_values;
    char head[512];
};

static enum weir_status take_row(void *arg, uint32_t n_values, const char *const *values,
                                 struct weir_error *e)
{
    struct read_out *out = arg;

    (void)e;
    if (out->n_rows++ > 0)
        return WEIR_OK;
    out->n_values = n_values;
    for (uint32_t i = 0; i < n_values; i++) {
        strcat(out->head, i == 0 ? "" : ",");
        strcat(out->head, values[i]);
    }
    return WEIR_OK;
}

START_TEST(tables_read_out_as_described)
{
    static const struct {
        const char *name;
        uint32_t n_rows;
    } expected[] = {
        {"runs", 2},       {"nodes", 10},      {"spans", 9},           {"objects", 3},
        {"domains", 2},    {"engines", 3},     {"holds", 6},           {"waits", 4},
        {"pressure", 4},   {"peaks", 2},       {"chain", 2},           {"overlaps", 2},
        {"samples", 3},    {"evidence", 5},    {"decisions", 2},       {"mechanisms", 2},
        {"deviations", 2}, {"compare", 9},     {"deviation_parts", 3}, {"queue_order", 2},
        {"inserted", 2},   {"sample_peaks", 4}};
    static const int64_t runs[] = {1, 2};
    struct made_run made;
    const struct store_table *table;
    uint32_t n_tables = 0;
    struct store *store = opened("a.db");

    made_run(&made);
    write_made(store, &made);
    write_made(store, &made);
    for (; (table = store_table(n_tables)) != NULL; n_tables++) {
        struct read_out out = {.n_rows = 0};

        OK(store_read_table(store, table->name, runs, table->n_runs, take_row, &out, &err));
        ck_assert_str_eq(out.head, table->columns);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            if (strcmp(expected[i].name, table->name) == 0)
                ck_assert_msg(out.n_rows - 1 == expected[i].n_rows, "%s: %u rows", table->name,
                              out.n_rows - 1);
        }
    }
    ck_assert_uint_eq(n_tables, 23);
    ck_assert_int_eq(store_read_table(store, "nodes", runs, 2, take_row, NULL, &err), WEIR_USAGE);
    ck_assert_int_eq(store_read_table(store, "node", runs, 1, take_row, NULL, &err), WEIR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "nodes, spans, edges"));
    ck_assert_int_eq(store_read_table(store, "nodes", &(int64_t){9}, 1, take_row, NULL, &err),
                     WEIR_INPUT);
    store_close(store);
    made_run_free(&made);
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        tables_have_their_columns,
        rows_read_as_a_user_expects,
        replays_read_as_a_user_expects,
        edges_and_evidence_read_as_a_user_expects,
        words_of_the_views_are_those_of_the_program,
        joins_by_id_are_look_ups,
        tables_read_out_as_described,
    };
    Suite *made = suite_create("views");
    TCase *cases = tcase_create("views");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
