/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor program of the peers, asked for its schedule: it is included whole from beside the checkout,
 * with its main out of the way. Writes the graph of its generator as a graph of Weir, a tick of work a
 * nanosecond, and the finish of each node, in ticks, one a line. peer.py builds and runs it:
 *
 *     cc -O2 -I SHARED/peers -o peer_floor peer_floor.c -lm
 *     peer_floor N WIDTH SPAN SEED CAP FINE MODE GRAPH FINISHES
 *
 * MODE is static (on each resource in the order of the nodes, which edges say), fifo (one at a time, by
 * readiness) or cap (CAP at a time). FINE divides each tick, and each node gets some of the parts on
 * top: so hardly any two ends fall together, whose order the two programs need not see alike. Prints how
 * many ends do. */
#define main floor_main
#include "floor.c"
#undef main

static const char *const engines[DG_RES] = {"h0", "h1", "h2", "h3", "l0", "l1"};

/* As floor.c sets itself up. */
static sim_t set_up(const dag_t *d)
{
    sim_t s;

    memset(&s, 0, sizeof s);
    s.d = d;
    s.r = (rec_t *)dg_alloc((size_t)d->n * sizeof *s.r);
    s.left = (uint8_t *)dg_alloc(d->n);
    s.start = (double *)dg_alloc((size_t)d->n * sizeof *s.start);
    s.fin = (double *)dg_alloc((size_t)d->n * sizeof *s.fin);
    for (int k = 0; k < DG_RES; k++)
        s.q[k] = (uint32_t *)dg_alloc((size_t)d->cnt[k] * sizeof *s.q[k]);
    for (uint32_t v = 0; v < d->n; v++) {
        s.r[v].work = (double)d->ticks[v] / DG_TICK;
        s.r[v].off = d->off[v];
        s.r[v].deg = (uint16_t)(d->off[v + 1] - d->off[v]);
        s.r[v].res = d->res[v];
        s.r[v].indeg = d->indeg[v];
    }
    reset(&s);
    return s;
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void write_graph(const dag_t *d, uint32_t slots, int is_static, const char *path)
{
    FILE *file = create(path);
    uint32_t last[DG_RES];

    fprintf(file, "weir 1\n");
    for (int k = 0; k < DG_RES; k++) {
        fprintf(file, "engine %s slots=%u\n", engines[k], slots);
        last[k] = UINT32_MAX;
    }
    for (uint32_t v = 0; v < d->n; v++)
        fprintf(file, "node n%u compute engine=%s duration=%u\n", v, engines[d->res[v]],
                d->ticks[v]);
    for (uint32_t v = 0; v < d->n; v++) {
        for (uint32_t j = d->off[v]; j < d->off[v + 1]; j++)
            fprintf(file, "edge n%u n%u ordering\n", v, d->succ[j]);
        if (is_static && last[d->res[v]] != UINT32_MAX)
            fprintf(file, "edge n%u n%u ordering\n", last[d->res[v]], v);
        last[d->res[v]] = v;
    }
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* Ends in ticks are whole numbers, far below 2^53: nothing has been rounded. */
static uint32_t write_finishes(const sim_t *s, const char *path)
{
    FILE *file = create(path);
    double *sorted = (double *)dg_alloc((size_t)s->d->n * sizeof *sorted);
    uint32_t n_together = 0;

    for (uint32_t v = 0; v < s->d->n; v++) {
        double ticks = s->fin[v] * DG_TICK;

        if (ticks != floor(ticks)) {
            fprintf(stderr, "node %u ends within a tick\n", v);
            exit(1);
        }
        fprintf(file, "%.0f\n", ticks);
        sorted[v] = ticks;
    }
    qsort(sorted, s->d->n, sizeof *sorted, cmp);
    for (uint32_t v = 1; v < s->d->n; v++)
        n_together += sorted[v] == sorted[v - 1];
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
    free(sorted);
    return n_together;
}

int main(int argc, char **argv)
{
    if (argc != 10) {
        fprintf(stderr, "usage: peer_floor N WIDTH SPAN SEED CAP FINE MODE GRAPH FINISHES\n");
        return 2;
    }
    uint32_t n = (uint32_t)strtoul(argv[1], 0, 10), cap = (uint32_t)strtoul(argv[5], 0, 10);
    uint32_t fine = (uint32_t)strtoul(argv[6], 0, 10);
    const char *mode = argv[7];
    int is_static = !strcmp(mode, "static");
    dag_t d = dg_make(n, (uint32_t)strtoul(argv[2], 0, 10), (uint32_t)strtoul(argv[3], 0, 10),
                      strtoull(argv[4], 0, 10));
    dg_lcg g = {strtoull(argv[4], 0, 10) + 77};

    if (strcmp(mode, "cap"))
        cap = 1;
    for (uint32_t v = 0; v < n; v++)
        d.ticks[v] = d.ticks[v] * fine + dg_below(&g, fine);
    sim_t s = set_up(&d);
    if (is_static)
        run_static(&s);
    else
        run_fifo(&s, cap);
    if (s.events != n) {
        fprintf(stderr, "%llu of %u nodes ran\n", (unsigned long long)s.events, n);
        return 1;
    }
    write_graph(&d, cap, is_static, argv[8]);
    printf("%u\n", write_finishes(&s, argv[9]));
    return 0;
}
