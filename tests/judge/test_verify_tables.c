/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verifier tells of every damage to what is derived from the spans and stored beside them: the chain,
 * the makespan and its bound, and how long classes overlapped. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/judge/subject.h"

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

static bool lengthens_path(struct subject *subject, struct random_stream *random)
{
    (void)random;
    subject->run.critical_path_ns = subject->timeline->makespan_ns + 1;
    return subject_span(subject, subject_node(subject, "late"))->start_ns >=
           0; /* else the bound says nothing */
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

static const struct damage damages[] = {
    {"a link is lost", loses_link, CONTENTION_NONE, ONE(CHAIN_SUM)},
    {"a link is longer", moves_link, CONTENTION_NONE, ONE(CHAIN_SUM)},
    {"a link has another cause", changes_link, CONTENTION_NONE, ONE(CHAIN_CAUSE)},
    {"the makespan is longer", lengthens_run, CONTENTION_NONE, ONE(MAKESPAN)},
    {"the critical path is longer", lengthens_path, CONTENTION_NONE, ONE(CRITICAL_PATH)},
    {"more is hypothetical", adds_hypothetical, CONTENTION_NONE, ONE(HYPOTHETICAL)},
    {"classes ran longer at once", lengthens_classes, CONTENTION_NONE, ONE(CLASS_OVERLAP)},
};

START_TEST(test_every_damage_is_told)
{
    damage_is_told(&damages[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify tables");
    TCase *tests = tcase_create("verify tables");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_every_damage_is_told, 0,
                        (int)(sizeof damages / sizeof *damages));
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
