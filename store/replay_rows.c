/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay did with its plan, as rows of its run, and back: actions, queues, what was inserted,
 * the critical chain, which simulations have too; of the others no run but a replay has any. */
#include "store/store_internal.h"
#include "store/values.h"

/* ---- writing ---- */

/* What the rows of one run are made from. */
struct rows_of_replay {
    int64_t run_id, first_key;
    const struct run *run;
};

static void give_part(sqlite3_context *out, const struct deviation *parts, int part)
{
    const int64_t in_order[] = {parts->dependency_ns, parts->submission_ns, parts->queue_ns,
                                parts->stretch_ns};

    sqlite3_result_int64(out, in_order[part]);
}

static void give_action(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_replay *of = arg;
    const struct run_action *action = &of->run->actions[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + action->node.index);
        break;
    case 1:
        give_id(out, action->queue);
        break;
    case 2:
        give_id(out, action->position);
        break;
    case 3:
        give_id(out, action->planned_position);
        break;
    case 4:
        give_id(out, action->planned_order);
        break;
    case 5:
        sqlite3_result_int64(out, action->submit_ns);
        break;
    case 6:
        sqlite3_result_int64(out, action->cost_ns);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
        give_part(out, &action->deviation, column - 7);
        break;
    }
}

static void give_queue(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_replay *of = arg;

    if (column == 0)
        sqlite3_result_int64(out, of->first_key + row);
    else
        give_text(out, of->run->queues[row]);
}

static void give_inserted(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_replay *of = arg;
    const struct run_inserted *inserted = &of->run->inserted[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->first_key + row);
        break;
    case 1:
        give_id(out, inserted->producer.index);
        break;
    case 2:
        give_id(out, inserted->consumer.index);
        break;
    case 3:
        sqlite3_result_int(out, inserted->is_from_start);
        break;
    case 4:
        give_known(out, inserted->not_before_ns);
        break;
    case 5:
        give_text(out, inserted->why);
        break;
    }
}

static void give_link(const void *arg, int64_t row, int column, sqlite3_context *out)
{
    const struct rows_of_replay *of = arg;
    const struct run_link *link = &of->run->links[row];

    switch (column) {
    case 0:
        sqlite3_result_int64(out, of->run_id);
        break;
    case 1:
        sqlite3_result_int64(out, row);
        break;
    case 2:
        give_id(out, link->node.index);
        break;
    case 3:
        give_text(out, link->cause);
        break;
    case 4:
        give_text(out, link->via);
        break;
    case 5:
        sqlite3_result_int64(out, link->start_ns);
        break;
    case 6:
        sqlite3_result_int64(out, link->finish_ns);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
        if (of->run->kind == RUN_REPLAY)
            give_part(out, &link->deviation, column - 7);
        break;
    }
}

enum weir_status replay_rows_write(struct store *store, int64_t run_id, const struct run *run,
                                   struct weir_error *err)
{
    const struct rows_of_replay of = {run_id, run_id << STORE_KEY_BITS, run};
    const struct {
        const char *sql;
        size_t n_rows;
        void (*value)(const void *, int64_t, int, sqlite3_context *);
    } lists[] = {
        {"INSERT INTO action_row SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 FROM weir_rows",
         run->n_actions, give_action},
        {"INSERT INTO queue_row SELECT c0, c1 FROM weir_rows", run->n_queues, give_queue},
        {"INSERT INTO inserted_row SELECT c0, c1, c2, c3, c4, c5 FROM weir_rows", run->n_inserted,
         give_inserted},
        {"INSERT INTO chain SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 FROM weir_rows",
         run->n_links, give_link},
    };
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == WEIR_OK; i++)
        status = store_move_rows(store, lists[i].sql, lists[i].n_rows, lists[i].value, &of, err);
    return status;
}

/* ---- reading ---- */

static struct deviation parts_at(sqlite3_stmt *row, int column)
{
    return (struct deviation){.dependency_ns = sqlite3_column_int64(row, column),
                              .submission_ns = sqlite3_column_int64(row, column + 1),
                              .queue_ns = sqlite3_column_int64(row, column + 2),
                              .stretch_ns = sqlite3_column_int64(row, column + 3)};
}

static bool take_action(struct arena *arena, sqlite3_stmt *row, void *item)
{
    (void)arena;
    *(struct run_action *)item = (struct run_action){
        .node = {id_at(row, 0)},
        .queue = id_at(row, 1),
        .position = id_at(row, 2),
        .planned_position = id_at(row, 3),
        .planned_order = id_at(row, 4),
        .submit_ns = sqlite3_column_int64(row, 5),
        .cost_ns = sqlite3_column_int64(row, 6),
        .deviation = parts_at(row, 7),
    };
    return true;
}

static bool take_queue(struct arena *arena, sqlite3_stmt *row, void *item)
{
    return run_list_keep(arena, row, 0, item);
}

static bool take_inserted(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_inserted *inserted = item;

    inserted->producer.index = id_at(row, 0);
    inserted->consumer.index = id_at(row, 1);
    inserted->is_from_start = sqlite3_column_int(row, 2) != 0;
    inserted->not_before_ns = known_at(row, 3);
    return run_list_keep(arena, row, 4, &inserted->why);
}

static bool take_link(struct arena *arena, sqlite3_stmt *row, void *item)
{
    struct run_link *link = item;

    link->node.index = id_at(row, 0);
    link->start_ns = sqlite3_column_int64(row, 3);
    link->finish_ns = sqlite3_column_int64(row, 4);
    link->deviation = parts_at(row, 5);
    return run_list_keep(arena, row, 1, &link->cause) && run_list_keep(arena, row, 2, &link->via);
}

static const struct run_list actions = {
    "SELECT count(*) FROM action_row" KEYS_OF_RUN,
    "SELECT key - (?1 << 32), queue, position, planned_position, planned_order, submit_ns, "
    "cost_ns, dependency_ns, submission_ns, queue_ns, stretch_ns FROM action_row" KEYS_OF_RUN
    " ORDER BY key",
    sizeof(struct run_action), take_action};
static const struct run_list queues = {"SELECT count(*) FROM queue_row" KEYS_OF_RUN,
                                       "SELECT name FROM queue_row" KEYS_OF_RUN " ORDER BY key",
                                       sizeof(const char *), take_queue};
static const struct run_list inserted = {
    "SELECT count(*) FROM inserted_row" KEYS_OF_RUN,
    "SELECT producer, consumer, is_from_start, not_before_ns, why FROM inserted_row" KEYS_OF_RUN
    " ORDER BY key",
    sizeof(struct run_inserted), take_inserted};
static const struct run_list links = {
    "SELECT count(*) FROM chain WHERE run_id = ?1",
    "SELECT node_id, cause, via, start_ns, finish_ns, dependency_ns, submission_ns, queue_ns, "
    "stretch_ns FROM chain WHERE run_id = ?1 ORDER BY position",
    sizeof(struct run_link), take_link};

enum weir_status replay_rows_read(struct store *store, struct stored_run *stored,
                                  struct weir_error *err)
{
    struct run *run = &stored->run;
    void *items[4] = {NULL, NULL, NULL, NULL};
    const struct run_list *const lists[] = {&actions, &queues, &inserted, &links};
    size_t *const counts[] = {&run->n_actions, &run->n_queues, &run->n_inserted, &run->n_links};
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < 4 && status == WEIR_OK; i++)
        status = run_list_read(store, run->id, lists[i], &stored->arena, &items[i], counts[i], err);
    run->actions = items[0];
    run->queues = items[1];
    run->inserted = items[2];
    run->links = items[3];
    return status;
}
