/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explains a run, in words: a paragraph for each part, longest and costliest first. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/explained.h"

static void put_node(const struct explained *explained, weir_node node)
{
    cmd_show(stdout, graph_node_name(explained->graph, node));
}

static void put_engine(const struct explained *explained, weir_engine engine)
{
    cmd_show(stdout, explained_engine(explained, engine));
}

static void put_time(int64_t ns)
{
    char text[NUMBER_TEXT_BYTES];

    number_time_text(ns, text);
    fputs(text, stdout);
}

void explained_put_at(int64_t ns)
{
    static const struct {
        int64_t of_ns;
        const char *name;
        int places;
    } units[] = {{1000000000, "s", 9}, {1000000, "ms", 6}, {1000, "us", 3}, {1, "ns", 0}};
    size_t unit = 0;
    char part[16];
    int length;

    while (unit < 3 && units[unit].of_ns > ns) {
        unit++;
    }
    length = snprintf(part, sizeof part, "%0*" PRId64, units[unit].places, ns % units[unit].of_ns);
    while (length > 0 && part[length - 1] == '0') {
        length--;
    }
    printf("%" PRId64 "%s%.*s %s", ns / units[unit].of_ns, length > 0 ? "." : "", length, part,
           units[unit].name);
}

static void put_size(int64_t bytes)
{
    char text[NUMBER_TEXT_BYTES];

    number_size_text(bytes, text);
    fputs(text, stdout);
}

/* A row begins with a time and its part of the makespan. */
static void begin_row(const struct explained *explained, int64_t ns)
{
    char text[NUMBER_TEXT_BYTES];
    int64_t of_ns = explained->timeline->makespan_ns;

    number_time_text(ns, text);
    printf("  %11s %5.1f %%  ", text, of_ns == 0 ? 0 : 100 * (double)ns / (double)of_ns);
}

/* --- what the makespan is made of ------------------------------------------------------------ */

static void print_link(const struct explained *explained, size_t at)
{
    const struct run_link *link = &explained->links[at];

    begin_row(explained, link->finish_ns - link->start_ns);
    put_node(explained, link->node);
    fputs(" on ", stdout);
    put_engine(explained, graph_node_engine(explained->graph, link->node));
    fputs(", from ", stdout);
    explained_put_at(link->start_ns);
    if (at == 0) {
        printf(" (%s)\n", link->cause);
        return;
    }
    fputs(", after ", stdout);
    put_node(explained, explained->links[at - 1].node);
    printf(" (%s%s%s)\n", link->cause, link->via == NULL ? "" : ": ",
           link->via == NULL ? "" : link->via);
}

/* Longest first: kinds of what ran on the chain, as a remark. */
static void put_kinds(const struct makeup *makeup)
{
    const char *before = " (";
    bool is_done[NODE_KINDS] = {false};

    for (;;) {
        int most = -1;

        for (int i = 0; i < NODE_KINDS; i++) {
            if (!is_done[i] && makeup->kind_ns[i] > 0 &&
                (most < 0 || makeup->kind_ns[i] > makeup->kind_ns[most])) {
                most = i;
            }
        }
        if (most < 0) {
            break;
        }
        is_done[most] = true;
        printf("%s%s ", before, node_kind_name((enum node_kind)most));
        put_time(makeup->kind_ns[most]);
        before = ", ";
    }
    puts(before[0] == ',' ? ")" : "");
}

static void print_stretch(const struct explained *explained, const struct makeup_stretch *stretch)
{
    const struct run_link *first = &explained->links[stretch->first];
    const struct run_link *last = first + stretch->n_links - 1;

    begin_row(explained, stretch->finish_ns - stretch->start_ns);
    put_engine(explained, stretch->engine);
    fputs(": ", stdout);
    put_node(explained, first->node);
    if (stretch->n_links > 1) {
        fputs(stretch->n_links > 2 ? " ... " : ", ", stdout);
        put_node(explained, last->node);
        printf(" (%zu nodes)", stretch->n_links);
    }
    fputs(", from ", stdout);
    explained_put_at(stretch->start_ns);
    printf(": %s\n", stretch->cause);
}

static void print_stretches(const struct explained *explained)
{
    size_t n = explained->makeup.n_stretches;

    printf("\nthe critical chain%s, in the order of time\n",
           n > explained->n_stretches ? ": its longest stretches" : "");
    for (size_t i = 0; i < explained->n_stretches; i++) {
        print_stretch(explained, &explained->makeup.stretches[explained->stretches[i]]);
    }
    if (n > explained->n_stretches) {
        printf("  of %zu in all\n", n);
    }
}

void explained_print_makeup(const struct explained *explained)
{
    const struct makeup *makeup = &explained->makeup;

    if (explained->n_links == 0) {
        puts("\nnothing ran");
        return;
    }
    fputs("\nwhat the makespan is made of", stdout);
    put_kinds(makeup);
    for (uint32_t i = 0; i < makeup->n_engines; i++) {
        const struct makeup_engine *engine = &makeup->engines[i];

        begin_row(explained, engine->ran_ns);
        printf("%" PRIu64 " node%s on ", engine->n_links, engine->n_links == 1 ? "" : "s");
        put_engine(explained, engine->engine);
        putchar('\n');
    }
    for (int i = 0; i < STALL_CAUSES; i++) {
        if (makeup->waited_ns[i] > 0) {
            begin_row(explained, makeup->waited_ns[i]);
            printf("waiting: %s\n", stall_cause_name((enum stall_cause)i));
        }
    }
    print_stretches(explained);
    if (explained->n_links > makeup->n_stretches) {
        puts("\nits costliest links");
        for (uint32_t i = 0; i < makeup->n_longest; i++) {
            print_link(explained, makeup->longest[i]);
        }
    }
}

/* --- bounds ---------------------------------------------------------------------------------- */

/* "at least 3 ms by engine gpu" */
static void put_bound(int64_t ns, const char *by, const char *name)
{
    fputs(", ", stdout);
    put_time(ns);
    printf(" by %s", by);
    cmd_show(stdout, name);
}

void explained_print_bounds(const struct explained *explained)
{
    int64_t makespan_ns = explained->timeline->makespan_ns, most_ns = -1;
    uint32_t most = 0;

    if (!explained->has_bounds) {
        return;
    }
    fputs("no schedule is shorter than ", stdout);
    put_time(explained->bounds.bound_ns);
    fputs(": ", stdout);
    put_time(explained->precedence_ns);
    fputs(" by precedence and releases", stdout);
    for (uint32_t i = 0; i < graph_n_engines(explained->graph); i++) {
        if (explained->bounds.engines[i].bound_ns > most_ns &&
            explained->bounds.engines[i].n_nodes > 0) {
            most_ns = explained->bounds.engines[i].bound_ns;
            most = i;
        }
    }
    if (most_ns >= 0) {
        put_bound(most_ns, "engine ", explained_engine(explained, (weir_engine){most}));
    }
    if (explained->bounds.bound_ns > 0 && explained->timeline->status == RUN_COMPLETE) {
        printf(" (this run: %.2f times that)",
               (double)makespan_ns / (double)explained->bounds.bound_ns);
    }
    putchar('\n');
}

/* --- stalls ---------------------------------------------------------------------------------- */

/* The causes of an engine's stalls, longest first. */
static void put_causes(const int64_t by_cause_ns[STALL_CAUSES])
{
    bool is_done[STALL_CAUSES] = {false};
    const char *before = ": ";

    for (;;) {
        int most = -1;

        for (int i = 0; i < STALL_CAUSES; i++) {
            if (!is_done[i] && by_cause_ns[i] > 0 &&
                (most < 0 || by_cause_ns[i] > by_cause_ns[most])) {
                most = i;
            }
        }
        if (most < 0) {
            return;
        }
        is_done[most] = true;
        printf("%s%s ", before, stall_cause_name((enum stall_cause)most));
        put_time(by_cause_ns[most]);
        before = ", ";
    }
}

static void print_stall(const struct explained *explained, const struct stall *stall)
{
    begin_row(explained, stall->end_ns - stall->begin_ns);
    put_engine(explained, stall->engine);
    fputs(" from ", stdout);
    explained_put_at(stall->begin_ns);
    fputs(", ended by ", stdout);
    put_node(explained, stall->ends);
    printf(": mostly %s", stall_cause_name(stall->cause));
    if (weir_is(stall->on)) {
        fputs(", ", stdout);
        put_node(explained, stall->on);
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
        begin_row(explained, engine->exposed_ns);
        put_engine(explained, (weir_engine){i});
        fputs(" stalled", stdout);
        put_causes(engine->by_cause_ns);
        fputs("; busy ", stdout);
        put_time(engine->busy_ns);
        fputs(", drained ", stdout);
        put_time(engine->drained_ns);
        putchar('\n');
    }
    for (size_t i = 0; i < stalls->n_between; i++) {
        begin_row(explained, stalls->between[i].exposed_ns);
        put_engine(explained, stalls->between[i].engine);
        fputs(" stalled for what lacked a slot of ", stdout);
        put_engine(explained, stalls->between[i].on_engine);
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
    begin_row(explained, event->to_ns - event->from_ns);
    put_node(explained, event->node);
    fputs(" from ", stdout);
    explained_put_at(event->from_ns);
    printf(", %s", event->cause == WAIT_NONE ? "unknown why" : wait_cause_name(event->cause));
    if (weir_is(event->blocker)) {
        fputs(" until ", stdout);
        put_node(explained, event->blocker);
    }
    if (!event->has_started) {
        fputs(", and still at the end", stdout);
    }
    if (event->n_passers > 0) {
        printf("; passed by %" PRIu64 " ready later: ", event->n_passers);
        for (uint32_t i = 0; i < event->n_named; i++) {
            fputs(i == 0 ? "" : ", ", stdout);
            put_node(explained, event->passers[i]);
        }
        fputs(event->n_passers > event->n_named ? ", ..." : "", stdout);
    }
    putchar('\n');
}

static void print_group(const struct explained *explained, const struct waiting_group *group)
{
    begin_row(explained, group->longest_ns);
    fputs("at most in ", stdout);
    if (group->group.index == 0) {
        fputs("no group", stdout);
    } else {
        fputs("group ", stdout);
        cmd_show(stdout, graph_text(explained->graph, group->group));
    }
    if (weir_is(group->longest)) {
        fputs(", by ", stdout);
        put_node(explained, group->longest);
    }
    printf("; %" PRIu32 " of %" PRIu32 " waited, ", group->n_waited, group->n_nodes);
    put_time(group->total_ns);
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
        begin_row(explained, cause->longest_ns);
        printf("at most for %s, by ", wait_cause_name((enum wait_cause)i));
        put_node(explained, cause->longest);
        printf("; %" PRIu64 " time%s, ", cause->n_waits, cause->n_waits == 1 ? "" : "s");
        put_time(cause->total_ns);
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

/* --- memory ---------------------------------------------------------------------------------- */

static void put_holder(const struct explained *explained, const struct timeline_hold *hold)
{
    if (weir_is(hold->object)) {
        cmd_show(stdout, graph_object_name(explained->graph, hold->object));
    } else {
        fputs(pressure_is_staging(explained->graph, hold) ? "staging of " : "workspace of ",
              stdout);
        put_node(explained, hold->node);
    }
    putchar(' ');
    put_size(hold->bytes);
}

#define HOLDERS_SHOWN 4

static void print_domain(const struct explained *explained, uint32_t index)
{
    const struct pressure_domain *of = &explained->pressure[index];
    const struct graph_domain *domain = graph_domain(explained->graph, (weir_domain){index});
    char text[BYTE_NS_TEXT];

    fputs("  ", stdout);
    cmd_show(stdout, explained_domain(explained, (weir_domain){index}));
    fputs(": peak ", stdout);
    put_size(of->peak_bytes);
    fputs(" of ", stdout);
    put_size(domain->capacity_bytes - domain->reserve_bytes);
    if (!of->is_known) {
        puts("; its curve is not recorded");
        return;
    }
    fputs(", first at ", stdout);
    explained_put_at(of->peak_at_ns);
    fputs(", for ", stdout);
    put_time(of->peak_for_ns);
    byte_ns_show(of->integral, text);
    printf(" in all; pressure-time %s\n", text);
    if (of->n_holders > 0) {
        printf("    held then, by %" PRIu64 ": ", of->n_held);
        for (uint32_t i = 0; i < of->n_holders && i < HOLDERS_SHOWN; i++) {
            fputs(i == 0 ? "" : ", ", stdout);
            put_holder(explained, &explained->timeline->holds[of->holders[i]]);
        }
        puts(of->n_held > HOLDERS_SHOWN ? ", ..." : "");
    }
    if (of->n_stagings > 0) {
        byte_ns_show(of->staging_integral, text);
        printf("    staging: %" PRIu64 " times, pressure-time %s, the longest ", of->n_stagings,
               text);
        put_time(of->staging_longest_ns);
        fputs(" of ", stdout);
        put_node(explained, of->staging_longest);
        putchar('\n');
    }
}

void explained_print_pressure(const struct explained *explained)
{
    if (explained->timeline->n_domains > 0) {
        puts("\nmemory");
    }
    for (uint32_t i = 0; i < explained->timeline->n_domains; i++) {
        print_domain(explained, i);
    }
}

/* --- overlap --------------------------------------------------------------------------------- */

static void put_class(const struct explained *explained, weir_class class_)
{
    const char *name = explained_class(explained, class_);

    cmd_show(stdout, name[0] == '\0' ? "no class" : name);
}

#define PAIRS_SHOWN 10

/* The pair after @p last in falling order of time, then as they stand; n_pairs when there is none. */
static size_t next_pair(const struct overlaps *overlaps, size_t last)
{
    size_t best = overlaps->n_pairs;

    for (size_t i = 0; i < overlaps->n_pairs; i++) {
        int64_t ns = overlaps->pairs[i].overlap_ns;
        int64_t last_ns = last == SIZE_MAX ? INT64_MAX : overlaps->pairs[last].overlap_ns;
        bool is_later = last == SIZE_MAX || ns < last_ns || (ns == last_ns && i > last);

        if (is_later && (best == overlaps->n_pairs || ns > overlaps->pairs[best].overlap_ns)) {
            best = i;
        }
    }
    return best;
}

static void print_pairs(const struct explained *explained)
{
    const struct overlaps *overlaps = &explained->overlaps;
    size_t at = SIZE_MAX;

    if (overlaps->n_pairs == 0) {
        puts("\noverlap: nothing ran beside anything");
        return;
    }
    puts("\noverlap, summed over pairs of nodes");
    for (int i = 0; i < PAIRS_SHOWN; i++) {
        at = next_pair(overlaps, at);
        if (at == overlaps->n_pairs) {
            break;
        }
        begin_row(explained, overlaps->pairs[at].overlap_ns);
        put_class(explained, overlaps->pairs[at].a);
        fputs(" beside ", stdout);
        put_class(explained, overlaps->pairs[at].b);
        puts(explained->is_hypothetical != NULL && explained->is_hypothetical[at]
                 ? ": hypothetical, nobody knows what that does"
                 : "");
    }
    if (overlaps->n_pairs > PAIRS_SHOWN) {
        printf("  and %zu pairs of classes more: weir export csv overlaps lists them\n",
               overlaps->n_pairs - PAIRS_SHOWN);
    }
}

static void print_kappa(const struct explained *explained, uint32_t index)
{
    const struct overlap_kappa *kappa = &explained->overlaps.kappa[index];
    weir_class class_ = {index == explained->overlaps.n_classes ? WEIR_NONE : index};

    if (kappa->isolated_ns == 0 || kappa->worst_ratio <= 1) {
        return;
    }
    printf("  %.3f  ", (double)kappa->ran_ns / (double)kappa->isolated_ns);
    put_class(explained, class_);
    printf(" over %" PRIu32 " node%s; at most %.3f, of ", kappa->n_nodes,
           kappa->n_nodes == 1 ? "" : "s", kappa->worst_ratio);
    put_node(explained, kappa->worst);
    putchar('\n');
}

void explained_print_overlaps(const struct explained *explained)
{
    bool is_slowed = false;

    print_pairs(explained);
    for (uint32_t i = 0; i <= explained->overlaps.n_classes; i++) {
        is_slowed |= explained->overlaps.kappa[i].worst_ratio > 1;
    }
    if (!is_slowed) {
        return;
    }
    puts("\nkappa: so many times longer than alone");
    for (uint32_t i = 0; i <= explained->overlaps.n_classes; i++) {
        print_kappa(explained, i);
    }
}

/* --- in brief ------------------------------------------------------------------------------- */

#define BRIEF_ENGINES 6

static void print_brief_chain(const struct explained *explained)
{
    const struct makeup *makeup = &explained->makeup;
    const char *before = "  made of         ";
    int64_t makespan_ns = explained->timeline->makespan_ns;

    for (uint32_t i = 0; i < makeup->n_engines && i < BRIEF_ENGINES; i++) {
        if (makeup->engines[i].ran_ns > 0) {
            fputs(before, stdout);
            put_time(makeup->engines[i].ran_ns);
            fputs(" on ", stdout);
            put_engine(explained, makeup->engines[i].engine);
            before = ", ";
        }
    }
    if (makespan_ns > makeup->ran_ns && explained->n_links > 0) {
        fputs(before, stdout);
        put_time(makespan_ns - makeup->ran_ns);
        fputs(" of waiting", stdout);
        before = ", ";
    }
    fputs(before[0] == ',' ? "\n" : "", stdout);
}

static void print_brief_stalls(const struct explained *explained)
{
    const struct stalls *stalls = &explained->stalls;
    uint32_t n_shown = 0, n_more = 0;

    for (uint32_t i = 0; i < stalls->n_engines; i++) {
        const struct stall_engine *engine = &stalls->engines[i];

        if (engine->exposed_ns == 0) {
            continue;
        }
        if (n_shown == BRIEF_ENGINES) {
            n_more++;
            continue;
        }
        n_shown++;
        fputs("  stalled: ", stdout);
        put_engine(explained, (weir_engine){i});
        putchar(' ');
        put_time(engine->exposed_ns);
        put_causes(engine->by_cause_ns);
        putchar('\n');
    }
    if (n_more > 0) {
        printf("  stalled         and %" PRIu32 " engines more: weir explain tells\n", n_more);
    }
}

void explained_print_brief(const struct explained *explained)
{
    const struct waiting *waiting = &explained->waiting;

    print_brief_chain(explained);
    print_brief_stalls(explained);
    if (waiting->n_longest > 0) {
        fputs("  longest wait    ", stdout);
        put_time(waiting->longest_ns);
        fputs(", by ", stdout);
        put_node(explained, waiting->longest[0].node);
        putchar('\n');
    }
    if (waiting->has_bound) {
        printf("  starved         %" PRIu64 " node%s waited longer than the bound\n",
               waiting->n_over, waiting->n_over == 1 ? "" : "s");
    }
}
