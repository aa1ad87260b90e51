/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A random layered graph. Layers are cut into windows of LAYERS layers with a barrier between them:
 * every node of a window that nothing in it follows is followed by the barrier, and the barrier by
 * every node of the next one that nothing in it precedes. So all of a window has finished before
 * any of the next begins, whatever the order of dispatch. An object is read in the window that made
 * it and in the next; hence the objects of two windows with the workspace of one are never exceeded,
 * and that is the capacity. Only the state of two windows is kept, whatever the number of nodes. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/random.h"
#include "graph/generate_internal.h"

#define LAYERS 16     /* of a window */
#define REACH 4       /* layers back that a node reads from */
#define SIZE_UNIT 256 /* bytes: objects are 1 to SIZE_UNITS of them */
#define SIZE_UNITS 4096
#define LONGEST_NS 100000
#define READS_MOST 5
#define NOT_THERE UINT64_MAX

/* An object as the generator knows it. Those of two windows are kept, in a ring by number. */
struct made {
    weir_object object;
    weir_node writer;
    int64_t size_bytes;
    uint32_t window; /* that made it */
    bool is_away;    /* only the host has a copy */
};

struct lane {
    uint64_t last;    /* number of the object that its last node wrote; NOT_THERE at first */
    uint64_t away;    /* number of an object that has to come back; NOT_THERE when none */
    uint32_t away_to; /* layer in which it comes back */
};

/* Bytes that could be alive together. */
struct bytes_bound {
    int64_t made, made_before, workspace, away; /* of this window, of the one before */
    int64_t most, most_away;
};

struct random_build {
    struct build build;
    struct random_stream random;
    uint32_t n_nodes, n_added, width, n_engines;
    weir_engine first_engine, h2d, d2h; /* engines that compute have ids from first_engine */
    weir_resource bus;
    weir_domain hbm, host;
    uint32_t layer, window;
    struct made *ring;
    uint64_t n_made, ring_size;
    struct lane *lanes;
    bool *is_followed;     /* by node of this window, from window_first */
    uint32_t window_first; /* program order of its first node */
    weir_node barrier;     /* before this window; none in the first */
    uint32_t n_views;
    struct bytes_bound bound;
    struct graph_evidence assumed;
    struct generate_progress progress;
};

/* One node in the making: what it reads and whether this window holds what comes before it. */
struct draft_node {
    struct graph_access reads[READS_MOST];
    uint32_t n_reads;
    bool is_preceded;
};

struct generate_random_options generate_random_default(void)
{
    return (struct generate_random_options){.n_nodes = 1000, .width = 8, .n_engines = 2, .seed = 1};
}

static enum weir_status check_options(const struct generate_random_options *o,
                                      struct weir_error *err)
{
    if (o->n_nodes < 1 || o->n_nodes > GENERATE_NODES_MOST) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu32 " nodes: a number from 1 to %d was expected", o->n_nodes,
                              GENERATE_NODES_MOST);
    }
    if (o->width < 1 || o->width > GENERATE_WIDTH_MOST) {
        return weir_error_set(err, WEIR_USAGE,
                              "a width of %" PRIu32 ": from 1 to %d nodes in a layer were expected",
                              o->width, GENERATE_WIDTH_MOST);
    }
    if (o->n_engines < 1 || o->n_engines > GENERATE_ENGINES_MOST) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu32 " engines: a number from 1 to %d was expected",
                              o->n_engines, GENERATE_ENGINES_MOST);
    }
    return WEIR_OK;
}

static uint64_t draw(struct random_build *b, uint64_t bound)
{
    return random_below(&b->random, bound);
}

static bool one_in(struct random_build *b, uint64_t n)
{
    return draw(b, n) == 0;
}

static bool is_full(const struct random_build *b)
{
    return b->n_added == b->n_nodes;
}

static struct made *made_of(struct random_build *b, uint64_t number)
{
    return &b->ring[number % b->ring_size];
}

static void follow(struct random_build *b, weir_node producer)
{
    if (weir_is(producer) && producer.index >= b->window_first)
        b->is_followed[producer.index - b->window_first] = true;
}

/* Adds the node; one that nothing in this window precedes waits for the barrier before it. */
static weir_node add_node(struct random_build *b, const struct graph_node *node, bool is_preceded)
{
    weir_node id = build_node(&b->build, node);

    b->n_added++;
    generate_show(&b->progress, b->n_added, b->n_nodes);
    if (!is_preceded && weir_is(b->barrier)) {
        struct graph_edge edge = generate_edge(b->barrier, id, EDGE_BARRIER, b->assumed);

        build_edge(&b->build, &edge);
    }
    return id;
}

static void start_window(struct random_build *b)
{
    struct bytes_bound *bound = &b->bound;
    int64_t sum = bound->made_before + bound->made + bound->workspace;

    if (sum > bound->most)
        bound->most = sum;
    if (bound->away > bound->most_away)
        bound->most_away = bound->away;
    bound->made_before = bound->made;
    bound->made = bound->workspace = bound->away = 0;
    b->window++;
    b->window_first = b->n_added;
    memset(b->is_followed, 0, (size_t)b->width * LAYERS * 5);
    for (uint32_t i = 0; i < b->width; i++)
        b->lanes[i].away = NOT_THERE;
}

/* Joins what nothing in the window follows. */
static void add_barrier(struct random_build *b)
{
    struct graph_node node = generate_node(NODE_BARRIER);
    uint32_t first = b->window_first, n = b->n_added - first;
    weir_node id;

    node.name = build_text(&b->build, "bar%" PRIu32, b->n_added);
    node.evidence = b->assumed;
    id = add_node(b, &node, true);
    for (uint32_t i = 0; i < n; i++) {
        struct graph_edge edge =
            generate_edge((weir_node){first + i}, id, EDGE_BARRIER, b->assumed);

        if (!b->is_followed[i])
            build_edge(&b->build, &edge);
    }
    b->barrier = id;
    start_window(b);
}

/* The object moves to the host and its bytes are given back; it comes back some layers later. */
static void send_away(struct random_build *b, struct lane *lane, uint64_t number)
{
    uint32_t left = LAYERS - 1 - b->layer % LAYERS;
    struct made *made = made_of(b, number);
    struct graph_node node = generate_node(NODE_OFFLOAD);
    weir_node out;

    node.name = build_text(&b->build, "out%" PRIu32, b->n_added);
    node.engine = b->d2h;
    node.object = made->object;
    node.evidence = b->assumed;
    follow(b, made->writer);
    out = add_node(b, &node, true);
    node = generate_node(NODE_RECLAMATION);
    node.name = build_text(&b->build, "free%" PRIu32, b->n_added);
    node.object = made->object;
    node.domain = b->hbm;
    node.evidence = b->assumed;
    follow(b, out);
    made->writer = add_node(b, &node, true);
    made->is_away = true;
    b->bound.away += made->size_bytes;
    lane->away = number;
    lane->away_to = b->layer + 2 + (uint32_t)draw(b, left - 1);
}

static void bring_back(struct random_build *b, struct lane *lane)
{
    struct made *made = made_of(b, lane->away);
    struct graph_node node = generate_node(NODE_PREFETCH);

    node.name = build_text(&b->build, "in%" PRIu32, b->n_added);
    node.engine = b->h2d;
    node.object = made->object;
    node.evidence = b->assumed;
    follow(b, made->writer);
    made->writer = add_node(b, &node, true);
    made->is_away = false;
}

static void read_made(struct random_build *b, struct draft_node *draft, uint64_t number)
{
    struct made *made = made_of(b, number);

    for (uint32_t i = 0; i < draft->n_reads; i++) {
        if (weir_same(draft->reads[i].object, made->object))
            return;
    }
    draft->reads[draft->n_reads++] = (struct graph_access){made->object, {WEIR_NONE}};
    follow(b, made->writer);
    if (made->writer.index >= b->window_first)
        draft->is_preceded = true;
}

/* May a node of this window read it? */
static bool is_readable(struct random_build *b, uint64_t number)
{
    if (number == NOT_THERE)
        return false;
    return !made_of(b, number)->is_away && made_of(b, number)->window + 1 >= b->window;
}

/* Some of what the layers before this one made. */
static void read_some(struct random_build *b, struct draft_node *draft)
{
    uint64_t reach = (uint64_t)b->width * REACH;
    uint64_t n = draw(b, 4);

    if (reach > b->n_made)
        reach = b->n_made;
    for (uint64_t i = 0; i < n && reach > 0; i++) {
        uint64_t number = b->n_made - 1 - draw(b, reach);

        if (is_readable(b, number))
            read_made(b, draft, number);
    }
}

/* A part of the object, seen through a view: read instead of the object itself. */
static void view_last(struct random_build *b, struct draft_node *draft, struct made *made)
{
    int64_t units = made->size_bytes / SIZE_UNIT;
    int64_t skipped = (int64_t)draw(b, (uint64_t)units);
    struct graph_object view = generate_object(made->size_bytes - skipped * SIZE_UNIT, b->hbm);

    view.name = build_text(&b->build, "view%" PRIu32, b->n_views++);
    view.alias_of = made->object;
    view.alias_offset_bytes = skipped * SIZE_UNIT;
    view.evidence = b->assumed;
    draft->reads[0].object = build_object(&b->build, &view);
}

static uint64_t make_object(struct random_build *b)
{
    int64_t size_bytes = (1 + (int64_t)draw(b, SIZE_UNITS)) * SIZE_UNIT;
    struct graph_object object = generate_object(size_bytes, b->hbm);

    object.name = build_text(&b->build, "o%" PRIu64, b->n_made);
    object.is_offloadable = true;
    object.evidence = b->assumed;
    *made_of(b, b->n_made) = (struct made){
        .object = build_object(&b->build, &object), .size_bytes = size_bytes, .window = b->window};
    b->bound.made += size_bytes;
    return b->n_made++;
}

/* An edge that no object explains, with a lag, sometimes counted from the start. */
static void add_ordering(struct random_build *b, weir_node producer, weir_node consumer)
{
    struct graph_edge edge = generate_edge(producer, consumer, EDGE_ORDERING, b->assumed);

    edge.is_from_start = one_in(b, 2);
    edge.lag_ns = (int64_t)draw(b, LONGEST_NS / 10);
    build_edge(&b->build, &edge);
}

/* What a node demands beside its engine and its objects. */
static void draw_extras(struct random_build *b, struct graph_node *node,
                        struct graph_charge *workspace, struct graph_demand *demand)
{
    node->engine = (weir_engine){b->first_engine.index + (uint32_t)draw(b, b->n_engines)};
    if (one_in(b, 8)) {
        *workspace = (struct graph_charge){(1 + (int64_t)draw(b, SIZE_UNITS)) * SIZE_UNIT, b->hbm};
        node->workspace = workspace;
        node->n_workspace = 1;
        b->bound.workspace += workspace->bytes;
    }
    if (one_in(b, 4)) {
        int64_t rate_per_s = (1 + (int64_t)draw(b, 1000)) * INT64_C(1000000000);

        *demand = (struct graph_demand){b->bus, rate_per_s};
        node->uses = demand;
        node->n_uses = 1;
    }
    if (one_in(b, 16))
        node->priority = (int64_t)draw(b, 4);
}

static void compute(struct random_build *b, struct lane *lane)
{
    struct graph_node node = generate_node(NODE_COMPUTE);
    struct draft_node draft = {.n_reads = 0};
    int64_t duration_ns = 1 + (int64_t)draw(b, LONGEST_NS);
    struct graph_charge workspace;
    struct graph_demand demand;
    bool is_update = false;
    struct made *made;
    weir_node id, before = {WEIR_NONE};

    draw_extras(b, &node, &workspace, &demand);
    if (is_readable(b, lane->last)) {
        made = made_of(b, lane->last);
        before = made->writer;
        read_made(b, &draft, lane->last);
        is_update = made->window == b->window && one_in(b, 8);
        if (!is_update && one_in(b, 16))
            view_last(b, &draft, made);
    }
    if (lane->away != NOT_THERE && !made_of(b, lane->away)->is_away) {
        read_made(b, &draft, lane->away);
        lane->away = NOT_THERE;
    }
    read_some(b, &draft);
    if (!is_update)
        lane->last = make_object(b);
    made = made_of(b, lane->last);
    node.name = build_text(&b->build, "n%" PRIu32, b->n_added);
    node.has_duration = true;
    node.duration = (struct graph_duration){DISTRIBUTION_FIXED, &duration_ns, 1};
    node.reads = draft.reads;
    node.n_reads = draft.n_reads;
    node.writes = &made->object;
    node.n_writes = 1;
    node.evidence = b->assumed;
    id = add_node(b, &node, draft.is_preceded);
    made->writer = id;
    if (weir_is(before) && one_in(b, 16))
        add_ordering(b, before, id);
}

static void add_lane_node(struct random_build *b, struct lane *lane)
{
    uint32_t left = LAYERS - 1 - b->layer % LAYERS;

    if (lane->away != NOT_THERE && lane->away_to == b->layer) {
        bring_back(b, lane);
        if (is_full(b))
            return;
    }
    compute(b, lane);
    if (left >= 3 && lane->away == NOT_THERE && b->n_nodes - b->n_added >= 2 && one_in(b, 12))
        send_away(b, lane, lane->last);
}

static void add_machine(struct random_build *b)
{
    struct build *build = &b->build;
    struct graph_engine engine = graph_engine_default;
    struct graph_resource bus = {.name = build_text(build, "bus"),
                                 .capacity_per_s = INT64_C(1000000000000),
                                 .evidence = b->assumed};

    b->hbm = build_domain(build, "hbm", 0);
    b->host = build_domain(build, "host", 0);
    engine.domain = b->hbm;
    for (uint32_t i = 0; i < b->n_engines; i++) {
        char name[32];
        weir_engine id;

        (void)snprintf(name, sizeof name, "sm%" PRIu32, i);
        id = build_engine(build, name, &engine);
        if (i == 0)
            b->first_engine = id;
    }
    engine = graph_engine_default;
    engine.bandwidth_bytes_per_s = INT64_C(25000000000);
    engine.latency_ns = 2000;
    engine.from = b->host;
    engine.to = b->hbm;
    b->h2d = build_engine(build, "h2d", &engine);
    engine.from = b->hbm;
    engine.to = b->host;
    b->d2h = build_engine(build, "d2h", &engine);
    if (build->status == WEIR_OK)
        build->status = graph_add_resource(build->graph, &bus, &b->bus, build->err);
}

/* Copies and compute slow each other a little. */
static void add_contention(struct random_build *b)
{
    static const double slower = 1.25, copies_slower = 1.0625;
    const weir_engine copies[2] = {b->h2d, b->d2h};

    for (uint32_t i = 0; i < 2 * b->n_engines && b->build.status == WEIR_OK; i++) {
        weir_engine compute_engine = {b->first_engine.index + i / 2};
        struct graph_kappa kappa = {
            .slowed = graph_engine(b->build.graph, compute_engine)->class_,
            .beside = graph_engine(b->build.graph, copies[i % 2])->class_,
            .factor = copies_slower,
            .evidence = b->assumed,
        };

        b->build.status = graph_add_kappa(b->build.graph, &kappa, b->build.err);
        kappa.beside = kappa.slowed;
        kappa.slowed = graph_engine(b->build.graph, copies[i % 2])->class_;
        kappa.factor = slower;
        if (b->build.status == WEIR_OK)
            b->build.status = graph_add_kappa(b->build.graph, &kappa, b->build.err);
    }
}

static void set_capacity(struct random_build *b, weir_domain id, int64_t bytes)
{
    struct graph_domain domain;

    if (b->build.status != WEIR_OK)
        return;
    domain = *graph_domain(b->build.graph, id);
    domain.capacity_bytes = bytes > SIZE_UNIT ? bytes : SIZE_UNIT;
    graph_set_domain(b->build.graph, id, &domain);
}

static void add_layers(struct random_build *b)
{
    for (uint32_t i = 0; i < b->width; i++)
        b->lanes[i] = (struct lane){.last = NOT_THERE, .away = NOT_THERE};
    while (!is_full(b) && b->build.status == WEIR_OK) {
        for (uint32_t i = 0; i < b->width && !is_full(b) && b->build.status == WEIR_OK; i++)
            add_lane_node(b, &b->lanes[i]);
        b->layer++;
        if (b->layer % LAYERS == 0 && !is_full(b) && b->build.status == WEIR_OK)
            add_barrier(b);
    }
    start_window(b); /* counts the last one */
}

enum weir_status generate_random(const struct generate_random_options *options, struct graph **out,
                                 struct weir_error *err)
{
    struct random_build b = {.build = {.status = check_options(options, err), .err = err},
                             .n_nodes = options->n_nodes,
                             .width = options->width,
                             .n_engines = options->n_engines,
                             .progress = options->progress,
                             .barrier = {WEIR_NONE}};

    if (b.build.status != WEIR_OK)
        return b.build.status;
    b.assumed = generate_evidence(EVIDENCE_ASSUMED, (weir_text){0});
    b.ring_size = (uint64_t)b.width * LAYERS * 2;
    b.build.graph = graph_new();
    b.ring = calloc(b.ring_size, sizeof *b.ring);
    b.lanes = calloc(b.width, sizeof *b.lanes);
    b.is_followed = calloc((size_t)b.width * LAYERS * 5, sizeof *b.is_followed);
    if (b.build.graph == NULL || b.ring == NULL || b.lanes == NULL || b.is_followed == NULL) {
        b.build.status = weir_error_memory(err);
        goto done;
    }
    random_seed(&b.random, options->seed, 0);
    graph_set_head(b.build.graph, build_text(&b.build, "random"), SCOPE_NONE, true,
                   generate_evidence(EVIDENCE_NONE, (weir_text){0}));
    add_machine(&b);
    add_contention(&b);
    if (b.build.status == WEIR_OK)
        add_layers(&b);
    set_capacity(&b, b.hbm, b.bound.most);
    set_capacity(&b, b.host, b.bound.most_away);
done:
    free(b.ring);
    free(b.lanes);
    free(b.is_followed);
    if (b.build.status != WEIR_OK) {
        graph_free(b.build.graph);
        return b.build.status;
    }
    *out = b.build.graph;
    return WEIR_OK;
}
