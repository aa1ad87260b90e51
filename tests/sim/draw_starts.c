/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects, then nodes that read only what is valid, then edges forward in program order. */
#include "tests/sim/draw_starts.h"

#include "graph/id.h"

static void put_common(struct starts_drawing *drawing)
{
    if (pen_one_in(&drawing->pen, 3)) {
        pen_put(&drawing->pen, " priority=%u", pen_below(&drawing->pen, 4));
    }
    if (pen_one_in(&drawing->pen, 6)) {
        pen_put(&drawing->pen, " release=%u", pen_below(&drawing->pen, 40));
    }
    if (pen_one_in(&drawing->pen, 4)) {
        pen_put(&drawing->pen, " workspace=%u", 1 + pen_below(&drawing->pen, 6));
    }
}

/* A node that touches objects. */
static void put_worker(struct starts_drawing *drawing)
{
    static const char *const engines[] = {" engine=sm", " engine=side", " engine=wide", ""};
    uint32_t written = pen_below(&drawing->pen, drawing->n_objects), n_reads = 0, n_writes = 0;

    pen_put(&drawing->pen, "node n%u compute%s duration=%u", drawing->n_nodes++,
            engines[pen_below(&drawing->pen, 4)],
            pen_one_in(&drawing->pen, 5) ? 0 : 1 + pen_below(&drawing->pen, 12));
    for (uint32_t i = 0; i < drawing->n_objects && n_reads < 3; i++) {
        if (drawing->is_valid[i] && pen_one_in(&drawing->pen, 4)) {
            pen_put(&drawing->pen, "%so%u", n_reads++ == 0 ? " reads=" : ",", i);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!pen_one_in(&drawing->pen, 3)) {
            uint32_t object = (written + i) % drawing->n_objects;

            pen_put(&drawing->pen, "%so%u", n_writes++ == 0 ? " writes=" : ",", object);
            drawing->is_valid[object] = true;
            drawing->user[object] = drawing->n_nodes - 1;
        }
    }
    if (n_writes > 0 && pen_one_in(&drawing->pen, 3)) {
        pen_put(&drawing->pen, " staging=%u@m", 1 + pen_below(&drawing->pen, 6));
    }
    put_common(drawing);
    pen_put(&drawing->pen, "\n");
}

/* Two nodes that fill the halves of an object, in any order. */
static void put_halves(struct starts_drawing *drawing)
{
    static const char *const engines[] = {"sm", "side", "wide"};
    uint32_t object = pen_below(&drawing->pen, drawing->n_objects);

    for (int i = 0; i < 2; i++) {
        pen_put(&drawing->pen, "node n%u compute engine=%s duration=%u writes=%c%u",
                drawing->n_nodes, engines[pen_below(&drawing->pen, 3)],
                1 + pen_below(&drawing->pen, 12), "xy"[i], object);
        put_common(drawing);
        pen_put(&drawing->pen, "\n");
        drawing->user[object] = drawing->n_nodes++;
    }
    drawing->is_valid[object] = true;
}

/* One that touches none, and may be off, or give way. */
static void put_plain(struct starts_drawing *drawing)
{
    uint32_t node = drawing->n_nodes++, length = 1 + pen_below(&drawing->pen, 12);

    pen_put(&drawing->pen, "node n%u compute%s duration=%u", node,
            pen_one_in(&drawing->pen, 2) ? " engine=sm" : "", length);
    put_common(drawing);
    if (pen_one_in(&drawing->pen, 3)) {
        pen_put(&drawing->pen, " guard=closed");
    } else if (pen_one_in(&drawing->pen, 2) && drawing->n_nodes + 2 < STARTS_NODES) {
        uint32_t fallback = drawing->n_nodes++;
        bool has_second = pen_one_in(&drawing->pen, 2);

        pen_put(&drawing->pen, " deadline=%u fallback=n%u", length + pen_below(&drawing->pen, 60),
                fallback);
        pen_put(&drawing->pen, "\nnode n%u compute engine=side duration=%u%s", fallback,
                pen_below(&drawing->pen, 9), pen_one_in(&drawing->pen, 8) ? " guard=closed" : "");
        if (has_second) {
            pen_put(&drawing->pen, " deadline=%u fallback=n%u", 10 + pen_below(&drawing->pen, 60),
                    drawing->n_nodes);
            pen_put(&drawing->pen, "\nnode n%u compute duration=%u", drawing->n_nodes++,
                    pen_below(&drawing->pen, 9));
        }
    }
    pen_put(&drawing->pen, "\n");
}

static void put_edge(struct starts_drawing *drawing)
{
    uint32_t to = 1 + pen_below(&drawing->pen, drawing->n_nodes - 1),
             from = pen_below(&drawing->pen, to);

    pen_put(&drawing->pen, "edge n%u n%u ordering%s", from, to,
            pen_one_in(&drawing->pen, 4) ? " from=start" : "");
    if (pen_one_in(&drawing->pen, 3)) {
        pen_put(&drawing->pen, " lag=%u", pen_below(&drawing->pen, 9));
    }
    pen_put(&drawing->pen, "\n");
}

static void put_hold(struct starts_drawing *drawing)
{
    uint32_t object = pen_below(&drawing->pen, drawing->n_objects), from = drawing->user[object];

    if (from != WEIR_NONE && from + 1 < drawing->n_nodes) {
        pen_put(&drawing->pen, "edge n%u n%u lifetime-hold object=o%u\n", from,
                from + 1 + pen_below(&drawing->pen, drawing->n_nodes - from - 1), object);
    }
}

static void put_overlap(struct starts_drawing *drawing)
{
    static const char *const classes[] = {"sm", "side", "wide"};

    if (pen_one_in(&drawing->pen, 2)) {
        pen_put(&drawing->pen, "overlap %s %s %s\n", classes[pen_below(&drawing->pen, 3)],
                classes[pen_below(&drawing->pen, 3)],
                pen_one_in(&drawing->pen, 4) ? "unknown" : "forbidden");
    } else {
        pen_put(&drawing->pen, "overlap n%u n%u forbidden\n",
                pen_below(&drawing->pen, drawing->n_nodes),
                pen_below(&drawing->pen, drawing->n_nodes));
    }
}

void draw_starts(struct starts_drawing *drawing, uint64_t seed)
{
    uint32_t n_rounds;

    drawing->n_nodes = 0;
    pen_begin(&drawing->pen, seed);
    drawing->n_objects = 2 + pen_below(&drawing->pen, STARTS_OBJECTS - 2);
    n_rounds = 4 + pen_below(&drawing->pen, 30);
    pen_put(&drawing->pen,
            "weir 1\ngraph g%u\ndomain m capacity=%u\nengine sm slots=%u\nengine side\n"
            "engine wide slots=3\nguard closed off\nkappa sm side 1.7\nkappa side sm 1.3\n",
            (unsigned)seed, 14 + pen_below(&drawing->pen, pen_one_in(&drawing->pen, 2) ? 20 : 80),
            1 + pen_below(&drawing->pen, 3));
    for (uint32_t i = 0; i < drawing->n_objects; i++) {
        bool is_initial = pen_one_in(&drawing->pen, 4);

        uint32_t half = 1 + pen_below(&drawing->pen, 4);

        pen_put(&drawing->pen, "object o%u size=%u%s\n", i, 2 * half, is_initial ? " initial" : "");
        pen_put(&drawing->pen, "object x%u size=%u alias=o%u\nobject y%u size=%u alias=o%u+%u\n", i,
                half, i, i, half, i, half);
        drawing->is_valid[i] = is_initial;
        drawing->user[i] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < n_rounds && drawing->n_nodes < STARTS_NODES; i++) {
        if (pen_one_in(&drawing->pen, 3)) {
            put_plain(drawing);
        } else if (pen_one_in(&drawing->pen, 3) && drawing->n_nodes + 1 < STARTS_NODES) {
            put_halves(drawing);
        } else {
            put_worker(drawing);
        }
    }
    for (uint32_t i = pen_below(&drawing->pen, drawing->n_nodes); i > 0 && drawing->n_nodes > 1;
         i--) {
        put_edge(drawing);
    }
    for (uint32_t i = pen_below(&drawing->pen, 4); i > 0; i--) {
        put_hold(drawing);
    }
    for (uint32_t i = pen_below(&drawing->pen, 3); i > 0; i--) {
        put_overlap(drawing);
    }
}
