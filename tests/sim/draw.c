/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements drawn one after another, each with what it does to the bytes noted. */
#include "tests/sim/draw.h"

static const char *const domains[] = {"hbm", "host"};

/* --- nodes --- */

static void begin_node(struct drawing *drawing, const char *kind)
{
    uint32_t guard = pen_below(&drawing->pen, 16);

    pen_put(&drawing->pen, "node n%u %s", drawing->n_nodes++, kind);
    drawing->is_off = guard == 0;
    if (guard < 2) {
        pen_put(&drawing->pen, " guard=%s", guard == 0 ? "never" : "always");
    }
}

static void end_node(struct drawing *drawing)
{
    if (pen_one_in(&drawing->pen, 4)) {
        pen_put(&drawing->pen, " workspace=%u", 1 + pen_below(&drawing->pen, 4));
    }
    if (pen_one_in(&drawing->pen, 16)) {
        pen_put(&drawing->pen, " release=%u", pen_below(&drawing->pen, 20));
    }
    pen_put(&drawing->pen, "\n");
}

/* A window, and who runs when it closes: the next node, or one that others name already. */
static void put_fallback(struct drawing *drawing, uint32_t fallback)
{
    if (!pen_one_in(&drawing->pen, 6)) {
        pen_put(&drawing->pen, " deadline=%u", pen_below(&drawing->pen, 60));
    }
    pen_put(&drawing->pen, " fallback=n%u", fallback);
    drawing->last_standby = fallback;
}

static bool can_read(const struct drawing *drawing, const struct draw_name *name, int domain)
{
    int home = drawing->homes[name->root];
    int from = drawing->is_live[name->root][domain] ? domain : home;

    return (from == domain || drawing->is_visible[name->root][domain]) &&
           (drawing->valid[name->root][from] & name->mask) == name->mask;
}

static void put_reads(struct drawing *drawing, int domain)
{
    uint32_t first = pen_below(&drawing->pen, drawing->n_names), n_reads = 0;

    for (uint32_t i = 0; i < drawing->n_names && n_reads < 3; i++) {
        uint32_t at = (first + i) % drawing->n_names;
        const struct draw_name *name = &drawing->names[at];
        int elsewhere = 1 - domain;

        if (can_read(drawing, name, domain) && pen_one_in(&drawing->pen, 2)) {
            pen_put(&drawing->pen, "%so%u", n_reads++ == 0 ? " reads=" : ",", at);
        } else if (drawing->is_live[name->root][elsewhere] &&
                   (drawing->valid[name->root][elsewhere] & name->mask) == name->mask &&
                   pen_one_in(&drawing->pen, 8)) {
            pen_put(&drawing->pen, "%so%u@%s", n_reads++ == 0 ? " reads=" : ",", at,
                    domains[elsewhere]);
        }
    }
}

static void wrote(struct drawing *drawing, const struct draw_name *name, int domain)
{
    if (drawing->is_off) {
        return;
    }
    for (int d = 0; d < DRAW_DOMAINS; d++) {
        drawing->valid[name->root][d] &= ~name->mask;
    }
    drawing->valid[name->root][domain] |= name->mask;
    drawing->is_live[name->root][domain] = true;
}

/* @param written WEIR_NONE: nothing. @param has_fallback the next node */
static void draw_compute(struct drawing *drawing, int domain, uint32_t written, bool has_fallback)
{
    static const char *const engines[] = {"sm", "side", "cpu"};

    begin_node(drawing, pen_one_in(&drawing->pen, 8) ? "rematerialization" : "compute");
    pen_put(&drawing->pen, " engine=%s duration=%u",
            engines[domain == DRAW_HOST ? 2 : pen_below(&drawing->pen, 2)],
            pen_one_in(&drawing->pen, 5) ? 0 : 1 + pen_below(&drawing->pen, 9));
    put_reads(drawing, domain);
    if (written != WEIR_NONE) {
        pen_put(&drawing->pen, " writes=o%u", written);
        wrote(drawing, &drawing->names[written], domain);
    }
    if (has_fallback) {
        put_fallback(drawing, drawing->n_nodes);
    } else if (drawing->has_fallbacks && drawing->last_standby != WEIR_NONE &&
               drawing->last_standby + 1 < drawing->n_nodes && pen_one_in(&drawing->pen, 24)) {
        put_fallback(drawing, drawing->last_standby);
    }
    end_node(drawing);
}

/* One or more that stand in for each other, and mostly write the same. */
static void draw_computes(struct drawing *drawing, int domain)
{
    uint32_t written =
        pen_one_in(&drawing->pen, 3) ? WEIR_NONE : pen_below(&drawing->pen, drawing->n_names);
    bool has_fallback = drawing->has_fallbacks && pen_one_in(&drawing->pen, 4);

    draw_compute(drawing, domain, written, has_fallback);
    for (int i = 0; i < 4 && has_fallback; i++) {
        has_fallback = i < 3 && pen_one_in(&drawing->pen, 4);
        if (pen_one_in(&drawing->pen, 12)) { /* one that has to come before it */
            draw_compute(drawing, DRAW_HBM, WEIR_NONE, false);
            pen_put(&drawing->pen, "edge n%u n%u ordering\n", drawing->n_nodes - 1,
                    drawing->n_nodes - 2);
            return;
        }
        draw_compute(drawing, domain, pen_one_in(&drawing->pen, 10) ? WEIR_NONE : written,
                     has_fallback);
    }
}

/* A copy that comes too late gives way to making the bytes where it would have brought them. */
static void draw_copy(struct drawing *drawing, uint32_t at)
{
    const struct draw_name *name = &drawing->names[at];
    const unsigned *valid = drawing->valid[name->root];
    bool has_fallback = drawing->has_fallbacks && pen_one_in(&drawing->pen, 4);
    int from = (valid[DRAW_HBM] & name->mask) == name->mask ? DRAW_HBM : DRAW_HOST;

    if ((valid[from] & name->mask) != name->mask) {
        return;
    }
    begin_node(drawing, from == DRAW_HBM ? "offload" : "prefetch");
    pen_put(&drawing->pen, " engine=%s object=o%u", from == DRAW_HBM ? "d2h" : "h2d", at);
    if (pen_one_in(&drawing->pen, 5)) {
        pen_put(&drawing->pen, " staging=%u@host", 1 + pen_below(&drawing->pen, 3));
    }
    if (has_fallback) {
        put_fallback(drawing, drawing->n_nodes);
    }
    end_node(drawing);
    if (!drawing->is_off) {
        drawing->is_live[name->root][1 - from] = true;
        drawing->valid[name->root][1 - from] |= name->mask;
    }
    if (has_fallback) {
        draw_compute(drawing, 1 - from, at, false);
    }
}

static void draw_mapping(struct drawing *drawing, uint32_t at)
{
    uint32_t root = drawing->names[at].root;
    int home = drawing->homes[root];

    if (!drawing->is_live[root][home]) {
        return;
    }
    begin_node(drawing, "mapping");
    pen_put(&drawing->pen, " object=o%u domain=%s duration=%u", at, domains[1 - home],
            pen_below(&drawing->pen, 4));
    end_node(drawing);
    drawing->is_visible[root][1 - home] |= !drawing->is_off;
}

static void draw_storage(struct drawing *drawing, uint32_t root)
{
    int domain = pen_one_in(&drawing->pen, 4) ? DRAW_HOST : DRAW_HBM;
    bool is_live = drawing->is_live[root][domain];

    begin_node(drawing, is_live ? "reclamation" : "allocation");
    pen_put(&drawing->pen, " object=o%u domain=%s", root, domains[domain]);
    if (drawing->has_fallbacks && is_live && pen_one_in(&drawing->pen, 4)) {
        put_fallback(drawing, drawing->n_nodes); /* whatever comes next: the bytes may stay */
    }
    pen_put(&drawing->pen, "\n");
    if (drawing->is_off) {
        return;
    }
    drawing->is_live[root][domain] = !is_live;
    drawing->valid[root][domain] = 0;
    for (int d = 0; d < DRAW_DOMAINS && domain == drawing->homes[root]; d++) {
        drawing->is_visible[root][d] = false;
    }
}

static void draw_node(struct drawing *drawing)
{
    uint32_t what = pen_below(&drawing->pen, 12), at = pen_below(&drawing->pen, drawing->n_names);

    if (what < 7) {
        draw_computes(drawing, what < 2 ? DRAW_HOST : DRAW_HBM);
    } else if (what < 9) {
        draw_copy(drawing, at);
    } else if (what < 10) {
        draw_mapping(drawing, at);
    } else {
        draw_storage(drawing, drawing->names[at].root);
    }
}

static void draw_edge(struct drawing *drawing)
{
    uint32_t to = 1 + pen_below(&drawing->pen, drawing->n_nodes - 1),
             from = pen_below(&drawing->pen, to);

    pen_put(&drawing->pen, "edge n%u n%u ordering%s", from, to,
            pen_one_in(&drawing->pen, 4) ? " from=start" : "");
    if (pen_one_in(&drawing->pen, 4)) {
        pen_put(&drawing->pen, " lag=%u", pen_below(&drawing->pen, 5));
    }
    pen_put(&drawing->pen, "\n");
}

/* --- the rest --- */

static void draw_objects(struct drawing *drawing)
{
    uint32_t sizes[JUDGE_OBJECTS], n_views;

    drawing->n_roots = 3 + pen_below(&drawing->pen, 5);
    for (uint32_t i = 0; i < drawing->n_roots; i++) {
        int home = pen_one_in(&drawing->pen, 6) ? DRAW_HOST : DRAW_HBM;
        bool is_initial = pen_one_in(&drawing->pen, 3);

        sizes[i] = 1 + pen_below(&drawing->pen, JUDGE_BYTES);
        drawing->names[i] = (struct draw_name){i, (1u << sizes[i]) - 1};
        drawing->homes[i] = home;
        drawing->is_live[i][home] = is_initial;
        drawing->valid[i][home] = is_initial ? drawing->names[i].mask : 0;
        pen_put(&drawing->pen, "object o%u size=%u%s%s%s\n", i, sizes[i],
                home == DRAW_HOST ? " domain=host" : "", is_initial ? " initial" : "",
                is_initial && pen_one_in(&drawing->pen, 8) ? " retained" : "");
    }
    n_views = pen_below(&drawing->pen, 4);
    for (drawing->n_names = drawing->n_roots; n_views > 0; n_views--) {
        uint32_t of = pen_below(&drawing->pen, drawing->n_names), at = drawing->n_names++;
        uint32_t offset = pen_below(&drawing->pen, sizes[of]),
                 size = 1 + pen_below(&drawing->pen, sizes[of] - offset);
        unsigned shift = (unsigned)__builtin_ctz(drawing->names[of].mask) + offset;

        sizes[at] = size;
        drawing->names[at] =
            (struct draw_name){drawing->names[of].root, ((1u << size) - 1) << shift};
        pen_put(&drawing->pen, "object o%u size=%u alias=o%u+%u\n", at, size, of, offset);
    }
}

void draw(struct drawing *drawing, uint64_t seed)
{
    memset(drawing, 0, sizeof *drawing);
    pen_begin(&drawing->pen, seed);
    drawing->has_fallbacks = seed % 3 == 0;
    drawing->last_standby = WEIR_NONE;
    pen_put(&drawing->pen,
            "weir 1\ngraph g%u\ndomain hbm capacity=%u\ndomain host capacity=%u\n"
            "engine sm slots=%u domain=hbm\nengine side domain=hbm\nengine cpu domain=host\n"
            "engine d2h from=hbm to=host bandwidth=1GB/s\n"
            "engine h2d from=host to=hbm bandwidth=1GB/s\n"
            "kappa sm d2h 1.25\nkappa d2h sm 2\nguard never off\nguard always on\n",
            (unsigned)seed, 10 + pen_below(&drawing->pen, 40), 10 + pen_below(&drawing->pen, 60),
            1 + pen_below(&drawing->pen, 2));
    draw_objects(drawing);
    for (uint32_t i = 8 + pen_below(&drawing->pen, 20);
         i > 0 && drawing->n_nodes < JUDGE_NODES - 10; i--) {
        draw_node(drawing);
    }
    for (uint32_t i = drawing->n_nodes < 2 ? 0 : pen_below(&drawing->pen, 6); i > 0; i--) {
        draw_edge(drawing);
    }
}
