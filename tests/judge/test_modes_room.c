/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The indexes under the finders of modes, asked in every way and held against what a loop over the rows
 * says: bytes of a domain over time, and when an engine was full. */
#include "judge/modes_internal.h"
#include "tests/judge/scene.h"

#define ROWS 40
#define NODES 30
#define END 200

static const char two_domains[] = "weir 1\ndomain m capacity=100\ndomain k capacity=100\n"
                                  "engine e slots=2\nengine f\n"
                                  "object x size=1\nnode a compute engine=e duration=1 writes=x\n";

static struct modes modes_of(const struct scene *scene, struct weir_error *err)
{
    return (struct modes){.binding = scene->binding,
                          .graph = scene->graph,
                          .timeline = scene->timeline,
                          .least_ns = 1,
                          .status = WEIR_OK,
                          .err = err};
}

static void end(struct modes *modes)
{
    modes_room_free(modes->room);
    modes_engines_free(modes->engines);
    adjacency_free(&modes->next);
    adjacency_free(&modes->before);
}

/* What the domain holds from at_ns on. */
static int64_t held_at(const struct timeline *timeline, uint32_t domain, int64_t at_ns)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];

        if (row->domain.index == domain && row->t_ns <= at_ns) {
            bytes = row->bytes;
        }
    }
    return bytes;
}

static int64_t most_held(const struct timeline *timeline, uint32_t domain, int64_t from_ns,
                         int64_t to_ns)
{
    int64_t most = 0;

    for (int64_t t = from_ns; t < to_ns; t++) {
        most = held_at(timeline, domain, t) > most ? held_at(timeline, domain, t) : most;
    }
    return most;
}

static int64_t held_below(const struct timeline *timeline, uint32_t domain, int64_t from_ns,
                          int64_t to_ns, int64_t limit)
{
    while (to_ns > from_ns && held_at(timeline, domain, to_ns - 1) <= limit) {
        to_ns--;
    }
    return to_ns;
}

static void draw_pressure(struct scene *scene, struct random_stream *random, uint64_t n_rows)
{
    struct weir_error err;
    int64_t t_ns = 0;

    for (uint64_t i = 0; i < n_rows; i++) {
        struct timeline_pressure row = {
            {(uint32_t)random_below(random, 2)}, t_ns, (int64_t)random_below(random, 8)};

        ck_assert_int_eq(timeline_add_pressure(scene->timeline, &row, &err), WEIR_OK);
        t_ns += (int64_t)random_below(random, 9);
    }
}

START_TEST(test_bytes_over_time)
{
    struct random_stream random;
    struct scene scene;
    struct modes modes;
    struct weir_error err;

    random_seed(&random, (uint64_t)_i, 0);
    scene_begin(&scene, two_domains);
    draw_pressure(&scene, &random, (uint64_t)_i % ROWS);
    modes = modes_of(&scene, &err);
    for (int i = 0; i < 300; i++) {
        int64_t from_ns = (int64_t)random_below(&random, END);
        int64_t to_ns = from_ns + (int64_t)random_below(&random, 40);
        int64_t limit = (int64_t)random_below(&random, 8) - 1;
        uint32_t domain = (uint32_t)random_below(&random, 2);

        ck_assert_int_eq(modes_most_held(&modes, domain, from_ns, to_ns),
                         most_held(scene.timeline, domain, from_ns, to_ns));
        ck_assert_int_eq(modes_held_below(&modes, domain, from_ns, to_ns, limit),
                         held_below(scene.timeline, domain, from_ns, to_ns, limit));
    }
    ck_assert_int_eq(modes.status, WEIR_OK);
    end(&modes);
    scene_end(&scene);
}
END_TEST

/* --- engines --- */

static void write_nodes(char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "weir 1\nengine e slots=2\nengine f\n");

    for (int i = 0; i < NODES; i++) {
        used +=
            (size_t)snprintf(text + used, room - used, "node n%d compute engine=%c duration=1\n", i,
                             i % 2 == 0 ? 'e' : 'f');
    }
}

/* Spans that keep to the slots: e has two, f one. Some nodes do not run, some take no time. */
static void draw_spans(struct timeline *timeline, struct random_stream *random)
{
    int64_t free_ns[3] = {0, 0, 0};
    uint32_t order = 0;

    for (uint32_t i = 0; i < timeline->n_nodes; i++) {
        struct timeline_span *span = &timeline->spans[i];
        int slot = i % 2 == 1 ? 2 : free_ns[0] <= free_ns[1] ? 0 : 1;

        if (random_below(random, 8) == 0) {
            continue;
        }
        span->start_ns =
            free_ns[slot] + (int64_t)(random_below(random, 3) == 0 ? random_below(random, 9) : 0);
        span->ready_ns = span->start_ns;
        span->finish_ns = span->start_ns + (int64_t)random_below(random, 7);
        free_ns[slot] = span->finish_ns;
    }
    for (int64_t t = 0; t < 10 * END; t++) { /* in order of starts, as a simulation numbers them */
        for (uint32_t i = 0; i < timeline->n_nodes; i++) {
            if (timeline->spans[i].start_ns == t) {
                timeline->spans[i].order = order++;
            }
        }
    }
}

static bool is_full(const struct timeline *timeline, uint32_t engine, int64_t at_ns,
                    uint32_t except)
{
    uint32_t n = 0;

    for (uint32_t i = engine; i < timeline->n_nodes; i += 2) {
        n += i != except && timeline->spans[i].start_ns >= 0 &&
                     timeline->spans[i].start_ns <= at_ns && at_ns < timeline->spans[i].finish_ns
                 ? 1
                 : 0;
    }
    return n == (engine == 0 ? 2 : 1);
}

static int64_t full_until(const struct timeline *timeline, uint32_t engine, int64_t before_ns,
                          uint32_t except)
{
    while (before_ns > 0 && !is_full(timeline, engine, before_ns - 1, except)) {
        before_ns--;
    }
    return before_ns;
}

static int64_t first_gap(const struct timeline *timeline, uint32_t engine, int64_t from_ns,
                         int64_t length_ns)
{
    for (;; from_ns++) {
        int64_t t = from_ns;

        while (t < from_ns + length_ns && !is_full(timeline, engine, t, WEIR_NONE)) {
            t++;
        }
        if (t >= from_ns + length_ns && !is_full(timeline, engine, from_ns, WEIR_NONE)) {
            return from_ns;
        }
    }
}

START_TEST(test_full_engines)
{
    struct random_stream random;
    static char text[4096];
    struct scene scene;
    struct modes modes;
    struct weir_error err;

    random_seed(&random, (uint64_t)_i, 1);
    write_nodes(text, sizeof text);
    scene_begin(&scene, text);
    draw_spans(scene.timeline, &random);
    modes = modes_of(&scene, &err);
    for (int i = 0; i < 300; i++) {
        int64_t at_ns = (int64_t)random_below(&random, END);
        int64_t length_ns = (int64_t)random_below(&random, 12);
        uint32_t engine = (uint32_t)random_below(&random, 2);
        uint32_t except = random_below(&random, 2) == 0
                              ? WEIR_NONE
                              : 2 * (uint32_t)random_below(&random, NODES / 2) + engine;
        bool was_full = full_until(scene.timeline, engine, at_ns + length_ns, WEIR_NONE) > at_ns;

        ck_assert_int_eq(modes_full_until(&modes, engine, at_ns, except),
                         full_until(scene.timeline, engine, at_ns, except));
        ck_assert_int_eq(modes_was_full(&modes, engine, at_ns, at_ns + length_ns), was_full);
        ck_assert_int_eq(modes_first_gap(&modes, engine, at_ns, length_ns),
                         first_gap(scene.timeline, engine, at_ns, length_ns));
    }
    ck_assert_int_eq(modes.status, WEIR_OK);
    end(&modes);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("judge/modes_room");
    TCase *tcase = tcase_create("indexes");

    tcase_add_loop_test(tcase, test_bytes_over_time, 0, 80);
    tcase_add_loop_test(tcase, test_full_engines, 0, 80);
    suite_add_tcase(suite, tcase);
    return run_suite_together(suite);
}
