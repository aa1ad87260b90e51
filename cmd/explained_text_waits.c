/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In words, the costliest first: what engines stood still for, and who waited longest. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/explained_put.h"

/* --- stalls ---------------------------------------------------------------------------------- */

static void print_stall(const struct explained *explained, const struct stall *stall)
{
    explained_begin_row(explained, stall->end_ns - stall->begin_ns);
    explained_put_engine(explained, stall->engine);
    fputs(" from ", stdout);
    explained_put_at(stall->begin_ns);
    fputs(", ended by ", stdout);
    explained_put_node(explained, stall->ends);
    printf(": mostly %s", stall_cause_name(stall->cause));
    if (weir_is(stall->on)) {
        fputs(", ", stdout);
        explained_put_node(explained, stall->on);
    }
    putchar('\n');
}

void explained_print_stalls(const struct explained *explained)
{
    const struct stalls *stalls = &explained->stalls;
    bool has_any = false;

    for (uint32_t i = 0; i < stalls->n_engines; i++) {
        const struct stall_engine *engine = &stalls->engines[i];

        if (engine->n_nodes == 0) {
            continue;
        }
        if (!has_any) {
            puts("\nengines: stalled while work for them was to come, drained after their last");
        }
        has_any = true;
        explained_begin_row(explained, engine->exposed_ns);
        explained_put_engine(explained, (weir_engine){i});
        fputs(" stalled", stdout);
        explained_put_causes(engine->by_cause_ns);
        fputs("; busy ", stdout);
        explained_put_time(engine->busy_ns);
        fputs(", drained ", stdout);
        explained_put_time(engine->drained_ns);
        putchar('\n');
    }
    for (size_t i = 0; i < stalls->n_between; i++) {
        explained_begin_row(explained, stalls->between[i].exposed_ns);
        explained_put_engine(explained, stalls->between[i].engine);
        fputs(" stalled for what lacked a slot of ", stdout);
        explained_put_engine(explained, stalls->between[i].on_engine);
        putchar('\n');
    }
    if (stalls->n_longest > 0) {
        puts("\nthe longest stalls");
    }
    for (uint32_t i = 0; i < stalls->n_longest; i++) {
        print_stall(explained, &stalls->longest[i]);
    }
}

/* --- waits ----------------------------------------------------------------------------------- */

static void print_event(const struct explained *explained, const struct waiting_event *event)
{
    explained_begin_row(explained, event->to_ns - event->from_ns);
    explained_put_node(explained, event->node);
    fputs(" from ", stdout);
    explained_put_at(event->from_ns);
    printf(", %s", event->cause == WAIT_NONE ? "unknown why" : wait_cause_name(event->cause));
    if (weir_is(event->blocker)) {
        fputs(" until ", stdout);
        explained_put_node(explained, event->blocker);
    }
    if (!event->has_started) {
        fputs(", and still at the end", stdout);
    }
    if (event->n_passers > 0) {
        printf("; passed by %" PRIu64 " ready later: ", event->n_passers);
        for (uint32_t i = 0; i < event->n_named; i++) {
            fputs(i == 0 ? "" : ", ", stdout);
            explained_put_node(explained, event->passers[i]);
        }
        fputs(event->n_passers > event->n_named ? ", ..." : "", stdout);
    }
    putchar('\n');
}

static void print_group(const struct explained *explained, const struct waiting_group *group)
{
    explained_begin_row(explained, group->longest_ns);
    fputs("at most in ", stdout);
    if (group->group.index == 0) {
        fputs("no group", stdout);
    } else {
        fputs("group ", stdout);
        cmd_show(stdout, graph_text(explained->graph, group->group));
    }
    if (weir_is(group->longest)) {
        fputs(", by ", stdout);
        explained_put_node(explained, group->longest);
    }
    printf("; %" PRIu32 " of %" PRIu32 " waited, ", group->n_waited, group->n_nodes);
    explained_put_time(group->total_ns);
    puts(" in all");
}

static void print_starvation(const struct waiting *waiting, const struct explained *explained)
{
    if (!waiting->has_bound) {
        puts("  no bound on waits is declared: whether a node starves is not established "
             "(--wait-bound TIME)");
    } else if (waiting->n_over == 0) {
        puts("  no node waited longer than the bound");
    } else {
        printf("  %" PRIu64 " node%s waited longer than the bound%s\n", waiting->n_over,
               waiting->n_over == 1 ? "" : "s",
               waiting->n_over > waiting->n_longest ? "; the longest are listed" : "");
    }
    (void)explained;
}

#define GROUPS_SHOWN 12

void explained_print_waits(const struct explained *explained)
{
    const struct waiting *waiting = &explained->waiting;

    if (explained->run->kind == RUN_RECORDED) {
        return;
    }
    puts("\nwaits of nodes that were ready");
    for (int i = WAIT_ENGINE; i < WAITING_CAUSES; i++) {
        const struct waiting_cause *cause = &waiting->causes[i];

        if (cause->n_waits == 0) {
            continue;
        }
        explained_begin_row(explained, cause->longest_ns);
        printf("at most for %s, by ", wait_cause_name((enum wait_cause)i));
        explained_put_node(explained, cause->longest);
        printf("; %" PRIu64 " time%s, ", cause->n_waits, cause->n_waits == 1 ? "" : "s");
        explained_put_time(cause->total_ns);
        puts(" in all");
    }
    if (waiting->n_groups > 1) {
        for (uint32_t i = 0; i < waiting->n_groups && i < GROUPS_SHOWN; i++) {
            print_group(explained, &waiting->groups[i]);
        }
        if (waiting->n_groups > GROUPS_SHOWN) {
            printf("  and %" PRIu32 " groups more: --json lists them\n",
                   waiting->n_groups - GROUPS_SHOWN);
        }
    }
    print_starvation(waiting, explained);
    if (waiting->n_longest > 0) {
        printf("\nthe longest waits, of %" PRIu64 "\n", waiting->n_waited);
    }
    for (uint32_t i = 0; i < waiting->n_longest; i++) {
        print_event(explained, &waiting->longest[i]);
    }
}
