/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With c_a and c_b nodes of two classes running, c_a c_b pairs run (within a class c (c - 1) / 2), and
 * the integral of that from t_0 to t_1 is t_1 times its last value, less t_0 times its first, less the sum
 * over instants of t times how much it changes at t.
 *
 * Few classes: each start and end is a change, and changes a row of products. Those are summed modulo
 * 2^64 over a period that is kept so short that its integral is below 2^63: so it is exact, whatever the
 * parts of the sum are. Many classes: only those take part whose number changed at an instant, with those
 * that run then; where all engines go from one node to the next at once, that is none. */
#include "judge/together.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

#define FEW_CLASSES 16
#define DENSE_CLASSES 512 /* 4 MiB */

struct class_state {
    uint32_t before, now; /* running at the last instant, and now */
    uint32_t active_at;   /* where it stands among the active ones */
    bool is_active;       /* before or now is above 0 */
    bool has_changed;     /* stands among the changed ones */
};

/* Of few classes. */
struct few {
    uint64_t now[FEW_CLASSES]; /* running */
    uint64_t rows[FEW_CLASSES]
                 [FEW_CLASSES]; /* since the period began, a row by the class that changed */
    int64_t since_ns, most_ns;  /* the period's begin, and how long it may be */
    uint64_t n_running, most_running;
};

/* Of many. */
struct many {
    struct class_state *classes; /* by class */
    uint32_t *active, *changed;  /* room for all classes */
    uint32_t n_active, n_changed;
};

struct together {
    uint32_t n_classes;
    int64_t now_ns;
    pairs_sum *dense;   /* n_classes by n_classes, a row by class; NULL: there are too many */
    struct pairs pairs; /* then */
    struct few few;
    struct many many;
};

/* n (n - 1) / 2 */
static int64_t within(uint32_t n)
{
    return n == 0 ? 0 : (int64_t)n * (n - 1) / 2;
}

/* --- few classes ---------------------------------------------------------------------------- */

/* The period ends with the last change; from then to t_ns nothing changed; there another begins. */
static void begin_period(struct together *together, int64_t t_ns)
{
    struct few *few = &together->few;
    uint32_t n = together->n_classes;

    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = a; b < n; b++) {
            pairs_sum running = a == b ? (pairs_sum)within((uint32_t)few->now[a])
                                       : (pairs_sum)few->now[a] * few->now[b];
            uint64_t sum = few->rows[a][b] + (a == b ? 0 : few->rows[b][a]);

            sum += (uint64_t)together->now_ns * (uint64_t)running;
            together->dense[(size_t)a * n + b] += sum + running * (t_ns - together->now_ns);
            few->rows[b][a] = 0;
            few->rows[a][b] = -((uint64_t)t_ns * (uint64_t)running);
        }
    }
    few->since_ns = t_ns;
}

/* Something changes at t_ns. At most most_running^2 pairs run at once. */
static void go_on(struct together *together, int64_t t_ns)
{
    if (t_ns - together->few.since_ns > together->few.most_ns) {
        begin_period(together, t_ns);
    }
    together->now_ns = t_ns;
}

static void few_start(struct together *together, int64_t t_ns, uint32_t class_)
{
    struct few *few = &together->few;
    uint64_t *row = few->rows[class_];

    go_on(together, t_ns);
    for (uint32_t i = 0; i < together->n_classes; i++) {
        row[i] -= (uint64_t)t_ns * few->now[i];
    }
    few->now[class_]++;
    few->n_running++;
    if (few->n_running > few->most_running) {
        few->most_running = few->n_running;
        few->most_ns =
            few->n_running > INT32_MAX ? 0 : INT64_MAX / (int64_t)(few->n_running * few->n_running);
    }
}

static void few_end(struct together *together, int64_t t_ns, uint32_t class_)
{
    struct few *few = &together->few;
    uint64_t *row = few->rows[class_];

    go_on(together, t_ns);
    few->now[class_]--;
    few->n_running--;
    for (uint32_t i = 0; i < together->n_classes; i++) {
        row[i] += (uint64_t)t_ns * few->now[i];
    }
}

/* --- many ----------------------------------------------------------------------------------- */

/* The products of one class with all that run, when its number changes by so much at t_ns: in its row. */
static void add_to_row(const struct many *many, pairs_sum *row, uint32_t class_, int64_t t_ns,
                       int64_t more)
{
    for (uint32_t i = 0; i < many->n_active; i++) {
        uint32_t other = many->active[i];

        if (other != class_) {
            row[other] -= (pairs_sum)t_ns * more * many->classes[other].before;
        }
    }
}

/* The same where there are too many classes for rows. */
static enum weir_status add_to_pairs(struct together *together, uint32_t class_, int64_t t_ns,
                                     int64_t more, struct weir_error *err)
{
    const struct many *many = &together->many;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < many->n_active && status == WEIR_OK; i++) {
        uint32_t other = many->active[i], before = many->classes[other].before;
        uint32_t a = class_ < other ? class_ : other, b = class_ < other ? other : class_;

        if (other != class_ && before > 0) {
            status = pairs_add(&together->pairs, a, b, -(pairs_sum)t_ns * more * before, err);
        }
    }
    return status;
}

/* What the change of one class does to its products with all that run. Another that changed too counts
 * as it was while it is not settled, and as it is once it is: so both changes are in the sum. */
static enum weir_status settle_class(struct together *together, uint32_t class_, int64_t t_ns,
                                     struct weir_error *err)
{
    struct class_state *state = &together->many.classes[class_];
    int64_t more = (int64_t)state->now - state->before;
    pairs_sum own = -(pairs_sum)t_ns * (within(state->now) - within(state->before));
    enum weir_status status = WEIR_OK;

    if (together->dense != NULL) {
        pairs_sum *row = together->dense + (size_t)class_ * together->n_classes;

        row[class_] += own;
        add_to_row(&together->many, row, class_, t_ns, more);
    } else {
        status = add_to_pairs(together, class_, t_ns, more, err);
        if (status == WEIR_OK && own != 0) {
            status = pairs_add(&together->pairs, class_, class_, own, err);
        }
    }
    state->before = state->now;
    return status;
}

static void drop_idle(struct many *many, uint32_t class_)
{
    struct class_state *state = &many->classes[class_];
    uint32_t last;

    state->has_changed = false;
    if (state->now > 0) {
        return;
    }
    last = many->active[--many->n_active];
    many->active[state->active_at] = last;
    many->classes[last].active_at = state->active_at;
    state->is_active = false;
}

/* All that starts or ends at now_ns has. */
static enum weir_status settle(struct together *together, struct weir_error *err)
{
    struct many *many = &together->many;
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < many->n_changed && status == WEIR_OK; i++) {
        uint32_t class_ = many->changed[i];

        if (many->classes[class_].now != many->classes[class_].before) {
            status = settle_class(together, class_, together->now_ns, err);
        }
    }
    for (uint32_t i = 0; i < many->n_changed; i++) {
        drop_idle(many, many->changed[i]);
    }
    many->n_changed = 0;
    return status;
}

static enum weir_status change(struct together *together, int64_t t_ns, uint32_t class_,
                               uint32_t by, struct weir_error *err)
{
    struct many *many = &together->many;
    struct class_state *state = &many->classes[class_];
    enum weir_status status = WEIR_OK;

    if (t_ns != together->now_ns) {
        status = settle(together, err);
        together->now_ns = t_ns;
    }
    state->now += by;
    if (!state->has_changed) {
        state->has_changed = true;
        many->changed[many->n_changed++] = class_;
    }
    if (!state->is_active) {
        state->is_active = true;
        state->active_at = many->n_active;
        many->active[many->n_active++] = class_;
    }
    return status;
}

/* --- either --------------------------------------------------------------------------------- */

static bool are_few(const struct together *together)
{
    return together->n_classes <= FEW_CLASSES;
}

enum weir_status together_start(struct together *together, int64_t t_ns, uint32_t class_,
                                struct weir_error *err)
{
    if (are_few(together)) {
        few_start(together, t_ns, class_);
        return WEIR_OK;
    }
    return change(together, t_ns, class_, 1, err);
}

enum weir_status together_end(struct together *together, int64_t t_ns, uint32_t class_,
                              struct weir_error *err)
{
    if (are_few(together)) {
        few_end(together, t_ns, class_);
        return WEIR_OK;
    }
    return change(together, t_ns, class_, UINT32_MAX, err);
}

/* Both rows of a pair, for the lower class; 0 for the higher. */
static struct pair_sum dense_at(const struct together *together, size_t at)
{
    uint32_t n = together->n_classes, a = (uint32_t)(at / n), b = (uint32_t)(at % n);
    pairs_sum sum = a > b ? 0 : together->dense[at];

    if (a < b) {
        sum += together->dense[(size_t)b * n + a];
    }
    return (struct pair_sum){a, b, sum};
}

/* Every pair that has a sum, in order, to its place; only counted when out is NULL. */
static size_t list_pairs(const struct together *together, struct pair_sum *out)
{
    bool is_dense = together->dense != NULL;
    size_t n = 0;
    size_t n_items =
        is_dense ? (size_t)together->n_classes * together->n_classes : together->pairs.n;

    for (size_t i = 0; i < n_items; i++) {
        struct pair_sum item = is_dense ? dense_at(together, i) : together->pairs.items[i];

        if (item.sum == 0) {
            continue;
        }
        if (out != NULL) {
            out[n] = item;
        }
        n++;
    }
    return n;
}

enum weir_status together_pairs(struct together *together, struct pair_sum **out, size_t *n,
                                struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    struct pair_sum *list;
    size_t count;

    if (are_few(together)) {
        begin_period(together, together->now_ns);
    } else {
        status = settle(together, err);
    }
    if (status != WEIR_OK) {
        return status;
    }
    pairs_sort(&together->pairs);
    count = list_pairs(together, NULL);
    list = malloc((count + 1) * sizeof *list);
    if (list == NULL) {
        return weir_error_memory(err);
    }
    (void)list_pairs(together, list);
    *out = list;
    *n = count;
    return WEIR_OK;
}

enum weir_status together_new(uint32_t n_classes, struct together **out, struct weir_error *err)
{
    struct together *together = calloc(1, sizeof *together);
    size_t n = n_classes;

    if (together == NULL) {
        return weir_error_memory(err);
    }
    together->n_classes = n_classes;
    together->few.most_ns = INT64_MAX;
    together->many.classes = calloc(n, sizeof *together->many.classes);
    together->many.active = malloc(n * sizeof *together->many.active);
    together->many.changed = malloc(n * sizeof *together->many.changed);
    together->dense = n <= DENSE_CLASSES ? calloc(n * n, sizeof *together->dense) : NULL;
    if (together->many.classes == NULL || together->many.active == NULL ||
        together->many.changed == NULL || (n <= DENSE_CLASSES && together->dense == NULL)) {
        together_free(together);
        return weir_error_memory(err);
    }
    *out = together;
    return WEIR_OK;
}

void together_free(struct together *together)
{
    if (together == NULL) {
        return;
    }
    free(together->many.classes);
    free(together->many.active);
    free(together->many.changed);
    free(together->dense);
    pairs_free(&together->pairs);
    free(together);
}
