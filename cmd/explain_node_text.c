/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node of a run, in words. */
#include <inttypes.h>

#include "base/number.h"
#include "cmd/explain_internal.h"

static void put_node(const struct explain_node *of, weir_node node)
{
    cmd_show(stdout, graph_node_name(of->explained->graph, node));
}

static void put_engine(const struct explain_node *of, weir_node node)
{
    cmd_show(stdout,
             explained_engine(of->explained, graph_node_engine(of->explained->graph, node)));
}

static void put_time(int64_t ns)
{
    char text[NUMBER_TEXT_BYTES];

    number_time_text(ns, text);
    fputs(text, stdout);
}

static void print_head(const struct explain_node *of)
{
    const struct graph *graph = of->explained->graph;
    const char *class_ = explained_class(of->explained, graph_node_class(graph, of->node));
    weir_text group = graph_node_group(graph, of->node);

    put_node(of, of->node);
    printf(": %s on ", node_kind_name(graph_node_kind(graph, of->node)));
    put_engine(of, of->node);
    if (class_[0] != '\0' &&
        strcmp(class_, explained_engine(of->explained, graph_node_engine(graph, of->node))) != 0) {
        fputs(", class ", stdout);
        cmd_show(stdout, class_);
    }
    if (group.index != 0) {
        fputs(", group ", stdout);
        cmd_show(stdout, graph_text(graph, group));
    }
    printf(", in run %" PRId64 "\n", of->explained->run->id);
}

static void print_times(const struct explain_node *of)
{
    double kappa = overlap_node_kappa(of->span);

    fputs("  ran from ", stdout);
    explained_put_at(of->span->start_ns);
    if (of->span->finish_ns < 0) {
        fputs(", and did not finish", stdout);
    } else {
        fputs(" to ", stdout);
        explained_put_at(of->span->finish_ns);
        fputs(", for ", stdout);
        put_time(of->span->finish_ns - of->span->start_ns);
        if (kappa != 0 && kappa != 1) {
            printf(": %.3f times as long as alone", kappa);
        }
    }
    printf("; %s the critical chain\n", of->is_on_chain ? "on" : "not on");
    if (of->explained->run->kind == RUN_RECORDED) {
        return;
    }
    fputs("  was ready at ", stdout);
    explained_put_at(of->span->ready_ns);
    if (of->span->start_ns > of->span->ready_ns) {
        fputs(" and waited ", stdout);
        put_time(of->span->start_ns - of->span->ready_ns);
        if (of->span->cause != WAIT_NONE) {
            printf(", in the end for %s", wait_cause_name((enum wait_cause)of->span->cause));
        }
    }
    putchar('\n');
}

/* The node that bound it, as the subject of a sentence without its end. */
static void put_bound(const struct explain_node *of, weir_node node, const struct bound *bound)
{
    int64_t start_ns = of->explained->timeline->spans[node.index].start_ns;

    switch (bound->cause) {
    case BOUND_BEGIN:
        fputs("it was ready when the run began", stdout);
        return;
    case BOUND_RELEASE:
        fputs("it is released at ", stdout);
        explained_put_at(bound->ready_ns);
        return;
    case BOUND_WINDOW:
        fputs("it stands in for a node whose window closed at ", stdout);
        explained_put_at(bound->ready_ns);
        return;
    case BOUND_UNKNOWN:
        fputs("the timeline does not tell", stdout);
        return;
    case BOUND_ADMISSION:
        fputs("the policy held it from ", stdout);
        explained_put_at(bound->ready_ns);
        fputs(", when it was ready, to ", stdout);
        explained_put_at(start_ns);
        return;
    case BOUND_PREDECESSOR:
    case BOUND_ENGINE:
    case BOUND_CAPACITY:
    case BOUND_OVERLAP:
        break;
    }
    if (!weir_is(bound->node)) {
        printf("it waited for %s", bound_cause_name(bound->cause));
        return;
    }
    if (bound->cause == BOUND_PREDECESSOR) {
        bool is_start =
            bound->end_ns < of->explained->timeline->spans[bound->node.index].finish_ns &&
            bound->end_ns == of->explained->timeline->spans[bound->node.index].start_ns;

        printf("it follows the %s of ", is_start ? "start" : "end");
        put_node(of, bound->node);
        fputs(", at ", stdout);
    } else {
        put_node(of, bound->node);
        fputs(bound->cause == BOUND_ENGINE     ? " gave back the slot that it took, at "
              : bound->cause == BOUND_CAPACITY ? " gave back the bytes that it lacked, at "
                                               : ", beside which it must not run, ended at ",
              stdout);
    }
    explained_put_at(bound->end_ns);
    if (bound->via != NULL) {
        printf(" (%s)", bound->via);
    }
    if (bound->ready_ns > bound->end_ns) {
        fputs(", with a lag of ", stdout);
        put_time(bound->ready_ns - bound->end_ns);
    }
    if (start_ns > bound->ready_ns) {
        fputs("; it began ", stdout);
        put_time(start_ns - bound->ready_ns);
        fputs(of->explained->run->kind == RUN_REPLAY ? " later, by the replay's own overhead"
                                                     : " later, and the timeline does not tell why",
              stdout);
    }
}

static void put_limit(const struct explain_node *of)
{
    const struct why_limit *next = &of->why.next;

    if (next->cause == BOUND_BEGIN) {
        fputs("nothing else held it", stdout);
        return;
    }
    if (!weir_is(next->node)) {
        printf("%s held it", bound_cause_name(next->cause));
        return;
    }
    put_node(of, next->node);
    printf(" held it then (%s%s%s)", bound_cause_name(next->cause), next->via == NULL ? "" : ": ",
           next->via == NULL ? "" : next->via);
}

static void print_why(const struct explain_node *of)
{
    const struct bound *bound = &of->why.bound;

    fputs("\nwhy then: ", stdout);
    put_bound(of, of->node, bound);
    putchar('\n');
    if (bound->cause == BOUND_BEGIN || bound->cause == BOUND_UNKNOWN) {
        return;
    }
    fputs("had ", stdout);
    if (weir_is(bound->node) && bound->cause != BOUND_ADMISSION) {
        put_node(of, bound->node);
        fputs(bound->cause == BOUND_PREDECESSOR && bound->ready_ns > bound->end_ns
                  ? " and the lag been over"
                  : " been over",
              stdout);
    } else {
        fputs("that not been", stdout);
    }
    if (of->why.sooner_ns == 0) {
        fputs(" sooner, it would have started no sooner: ", stdout);
    } else {
        fputs(weir_is(bound->node) && bound->cause != BOUND_ADMISSION
                  ? " soon enough, it could have started "
                  : ", it could have started ",
              stdout);
        put_time(of->why.sooner_ns);
        fputs(" sooner, at ", stdout);
        explained_put_at(of->why.next.until_ns);
        fputs(": ", stdout);
    }
    put_limit(of);
    puts(of->why.needs_bytes && of->why.sooner_ns > 0
             ? "; whether its bytes would have fit then, nobody knows"
             : "");
}

static void print_way_back(const struct explain_node *of)
{
    for (uint32_t i = 0; i < of->n_back; i++) {
        fputs("  ", stdout);
        put_node(of, of->back_of[i]);
        fputs(" began at ", stdout);
        explained_put_at(of->explained->timeline->spans[of->back_of[i].index].start_ns);
        fputs(": ", stdout);
        put_bound(of, of->back_of[i], &of->back[i]);
        putchar('\n');
    }
}

static void print_followers(const struct explain_node *of)
{
    const struct why *why = &of->why;

    if (why->n_followers == 0) {
        puts("\nnothing waited for it");
        return;
    }
    printf("\nwaited for it: %" PRIu64 " node%s\n", why->n_followers,
           why->n_followers == 1 ? "" : "s");
    for (uint32_t i = 0; i < why->n_listed; i++) {
        const struct why_follower *follower = &why->followers[i];

        fputs("  ", stdout);
        put_node(of, follower->node);
        fputs(", from ", stdout);
        explained_put_at(follower->start_ns);
        printf(" (%s%s%s)\n", bound_cause_name(follower->cause), follower->via == NULL ? "" : ": ",
               follower->via == NULL ? "" : follower->via);
    }
    if (why->n_followers > why->n_listed) {
        printf("  and %" PRIu64 " more\n", why->n_followers - why->n_listed);
    }
}

static void print_beside(const struct explain_node *of)
{
    size_t n = of->n_beside < of->n_rows ? of->n_beside : of->n_rows;

    if (of->n_beside == 0) {
        puts("\nnothing ran beside it");
        return;
    }
    printf("\nran beside it: %zu node%s\n", of->n_beside, of->n_beside == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        put_node(of, of->beside[i].node);
        fputs(" on ", stdout);
        put_engine(of, of->beside[i].node);
        fputs(" for ", stdout);
        put_time(of->beside[i].overlap_ns);
        putchar('\n');
    }
    if (n < of->n_beside) {
        printf("  and %zu more: --rows N shows N\n", of->n_beside - n);
    }
}

static void print_copy(const struct explain_node *of, const struct explain_copy *copy)
{
    char size[NUMBER_TEXT_BYTES];
    const char *role;

    fputs("  ", stdout);
    for (int i = 0; (role = explain_role(copy->roles, i)) != NULL; i++) {
        printf("%s%s", i == 0 ? "" : " and ", role);
    }
    putchar(' ');
    cmd_show(stdout, graph_object_name(of->explained->graph, copy->copy.object));
    number_size_text(copy->copy.bytes, size);
    printf(", %s in ", size);
    cmd_show(stdout, explained_domain(of->explained, copy->copy.domain));
    if (copy->hold != SIZE_MAX) {
        const struct timeline_hold *hold = &of->explained->timeline->holds[copy->hold];

        fputs(": held from ", stdout);
        explained_put_at(hold->acquire_ns);
        if (hold->release_ns < 0) {
            fputs(" to the end", stdout);
        } else {
            fputs(" to ", stdout);
            explained_put_at(hold->release_ns);
        }
    }
    putchar('\n');
}

static void print_copies(const struct explain_node *of)
{
    if (of->n_copies == 0) {
        return;
    }
    puts("\ncopies");
    for (size_t i = 0; i < of->n_copies; i++) {
        print_copy(of, &of->copies[i]);
    }
}

static void print_inserted(const struct explain_node *of)
{
    const struct run *run = of->explained->run;

    for (size_t i = 0; i < run->n_inserted; i++) {
        const struct run_inserted *inserted = &run->inserted[i];

        if (!weir_same(inserted->consumer, of->node)) {
            continue;
        }
        fputs("  the replay had it wait for ", stdout);
        if (weir_is(inserted->producer)) {
            printf("the %s of ", inserted->is_from_start ? "start" : "end");
            put_node(of, inserted->producer);
        } else {
            explained_put_at(inserted->not_before_ns);
        }
        fputs(": ", stdout);
        cmd_show(stdout, inserted->why);
        putchar('\n');
    }
}

static void print_idle(const struct explain_node *of)
{
    fputs("  did not run: ", stdout);
    if (!graph_node_is_on(of->explained->graph, of->node)) {
        puts("its guard is off");
    } else if (of->way != NULL) {
        fputs("it gave way to ", stdout);
        put_node(of, of->way->fallback);
        fputs(" at ", stdout);
        explained_put_at(of->way->at_ns);
        puts(", when its window closed");
    } else if (of->explained->timeline->status != RUN_COMPLETE) {
        fputs("the run could not go on", stdout);
        if (of->span->cause != WAIT_NONE) {
            fputs(", and it had been ready from ", stdout);
            explained_put_at(of->span->ready_ns);
            printf(", waiting for %s", wait_cause_name((enum wait_cause)of->span->cause));
        } else {
            fputs(", and it was not ready yet", stdout);
        }
        putchar('\n');
    } else {
        puts("it stands in for nodes that did not need it, or the run left it out");
    }
}

void explain_node_text(const struct explain_node *of)
{
    print_head(of);
    if (!of->has_started) {
        print_idle(of);
        print_copies(of);
        return;
    }
    print_times(of);
    print_why(of);
    print_way_back(of);
    print_inserted(of);
    print_followers(of);
    print_beside(of);
    print_copies(of);
}
