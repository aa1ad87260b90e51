/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts, each of about N statements or of a statement with N items. */
#include "tests/bench/hard_texts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"

struct growing {
    struct text text;
    size_t room;
};

PRINTF_LIKE(2, 3)
static void put(struct growing *out, const char *format, ...)
{
    va_list args;

    if (out->room - out->text.length < 256) {
        out->room = out->room * 2 + 4096;
        out->text.bytes = realloc(out->text.bytes, out->room);
        if (out->text.bytes == NULL) {
            fprintf(stderr, "out of memory\n");
            exit(7);
        }
    }
    va_start(args, format);
    out->text.length += (size_t)vsnprintf(out->text.bytes + out->text.length,
                                          out->room - out->text.length, format, args);
    va_end(args);
}

static void begin(struct growing *out, const char *implied)
{
    put(out, "weir 1\ngraph hard implied=%s\ndomain m capacity=1TB\nengine e slots=1000\n",
        implied);
}

static void put_objects(struct growing *out, uint32_t n, const char *more)
{
    for (uint32_t i = 0; i < n; i++) {
        put(out, "object o%" PRIu32 " size=1%s\n", i, more);
    }
}

/* " reads=o0,o1,..." */
static void put_list(struct growing *out, const char *field, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put(out, "%s%so%" PRIu32, i == 0 ? " " : "", i == 0 ? field : ",", i);
    }
}

/* One object that N nodes read, and one writes then. */
static struct text many_readers(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object o size=1 initial\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 reads=o\n", i);
    }
    put(&out, "node last compute duration=1 writes=o\n");
    return out.text;
}

/* One node with N edges to others, and one with N edges from them. */
static struct text many_edges(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "node first compute duration=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1\n", i);
    }
    put(&out, "node last compute duration=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge first n%" PRIu32 " ordering\nedge n%" PRIu32 " last ordering\n", i, i);
    }
    return out.text;
}

/* N aliases of one object, side by side, each written and read; then the whole is read. */
static struct text many_aliases(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object pool size=%" PRIu32 "\n", n);
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "object a%" PRIu32 " size=1 alias=pool+%" PRIu32 "\n", i, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 writes=a%" PRIu32 "\n", i, i);
        put(&out, "node r%" PRIu32 " compute duration=1 reads=a%" PRIu32 "\n", i, i);
    }
    put(&out, "node last compute duration=1 reads=pool\n");
    return out.text;
}

/* Aliases of aliases, a thousand deep. */
static struct text deep_aliases(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, i % 1000 == 0 ? "object o%" PRIu32 " size=8 initial\n" : "object o%" PRIu32, i);
        if (i % 1000 != 0) {
            put(&out, " size=8 alias=o%" PRIu32 "\n", i - 1);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 reads=o%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* One node that reads N objects, and one that writes them. */
static struct text long_lists(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial");
    put(&out, "node reader compute duration=1");
    put_list(&out, "reads=", n);
    put(&out, "\nnode writer compute duration=1");
    put_list(&out, "writes=", n);
    put(&out, "\n");
    return out.text;
}

/* N copies that one node holds. */
static struct text many_holds(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, "");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 writes=o%" PRIu32 "\n", i, i);
    }
    put(&out, "node holder compute duration=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge n%" PRIu32 " holder lifetime-hold object=o%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* One node that uses N objects, each of which another node holds by an edge from it. */
static struct text many_holders(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, "");
    put(&out, "node writer compute duration=1");
    put_list(&out, "writes=", n);
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge writer n%" PRIu32 " lifetime-hold object=o%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* An object that is filled and reclaimed N times. */
static struct text many_copies(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object o size=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 writes=o\n", i);
        put(&out, "node f%" PRIu32 " reclamation object=o\n", i);
    }
    return out.text;
}

/* N nodes that fall back on one, which writes N objects. */
static struct text many_fallbacks(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, "");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 writes=o%" PRIu32 " fallback=all\n", i, i);
    }
    put(&out, "node all compute duration=1");
    put_list(&out, "writes=", n);
    put(&out, "\n");
    return out.text;
}

/* One node that uses N resources. */
static struct text many_resources(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "resource r%" PRIu32 " capacity=10\n", i);
    }
    put(&out, "node n compute duration=1");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "%sr%" PRIu32 ":1", i == 0 ? " uses=" : ",", i);
    }
    put(&out, "\n");
    return out.text;
}

/* N copies of one object, each in a domain of its own, from where the next is filled; then every
 * one of them is written. */
static struct text many_domains(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "domain d%" PRIu32 " capacity=1KB\n", i);
    }
    put(&out, "object o size=1 domain=d0 initial\n");
    for (uint32_t i = 1; i < n; i++) {
        put(&out,
            "node c%" PRIu32 " transfer duration=1 object=o from=d%" PRIu32 " to=d%" PRIu32 "\n", i,
            i - 1, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 domain=d%" PRIu32 " writes=o\n", i, i);
    }
    return out.text;
}

/* The audit: N nodes write, all before one, behind which N others read. */
static struct text fork_join(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "none");
    put_objects(&out, n, "");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 writes=o%" PRIu32 "\n", i, i);
    }
    put(&out, "node middle compute duration=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node r%" PRIu32 " compute duration=1 reads=o%" PRIu32 "\n", i, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge w%" PRIu32 " middle ordering\nedge middle r%" PRIu32 " ordering\n", i, i);
    }
    return out.text;
}

/* The audit: what is written first is read last, on four queues that wait for each other. */
static struct text there_and_back(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "none");
    put_objects(&out, n, "");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 writes=o%" PRIu32 "\n", i, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 reads=o%" PRIu32 "\n", n + i, n - 1 - i);
    }
    for (uint32_t i = 4; i < 2 * n; i++) {
        put(&out, "edge n%" PRIu32 " n%" PRIu32 " ordering\n", i - 4, i);
        if (i % 64 == 0) {
            for (uint32_t j = 0; j < 4 && i + j < 2 * n; j++) {
                put(&out, "edge n%" PRIu32 " n%" PRIu32 " ordering\n", i - 1 - j, i + j);
            }
        }
    }
    for (uint32_t j = 0; j < 16; j++) { /* all queues wait for all, between there and back */
        put(&out, "edge n%" PRIu32 " n%" PRIu32 " ordering\n", n - 1 - j / 4, n + j % 4);
    }
    return out.text;
}

/* A node that reads N objects, from whose start an edge leads to the reclamation of each. */
static struct text early_reclamations(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial");
    put(&out, "node hub compute duration=1");
    put_list(&out, "reads=", n);
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node f%" PRIu32 " reclamation object=o%" PRIu32 "\n", i, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge hub f%" PRIu32 " ordering from=start\n", i);
    }
    return out.text;
}

/* A reclamation that reads N objects, behind N nodes that read one each. */
static struct text late_reclamation(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=%" PRIu32 " reads=o%" PRIu32 "\n", i, i, i);
    }
    put(&out, "node last reclamation object=o0");
    put_list(&out, "reads=", n);
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge n%" PRIu32 " last lifetime-hold\n", i);
    }
    return out.text;
}

/* N nodes that wait for bytes of one that touches N objects. */
static struct text capacity_waits(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial retained");
    put(&out, "node hub compute duration=1");
    put_list(&out, "reads=", n);
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge hub n%" PRIu32 " capacity-wait\n", i);
    }
    return out.text;
}

/* An object that N domains may hold, with a copy in each. */
static struct text many_placements(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "domain d%" PRIu32 " capacity=1KB\n", i);
    }
    put(&out, "object o size=1 domain=d0");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "%sd%" PRIu32, i == 0 ? " placements=" : ",", i);
    }
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 domain=d%" PRIu32 " writes=o\n", i, i);
    }
    return out.text;
}

/* One node makes N objects of N others and is named to make each again, which another one does; then
 * all are read. */
static struct text recomputed_at_once(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "object p%" PRIu32 " size=1 recompute=maker\n", i);
    }
    for (int again = 0; again < 2; again++) {
        put(&out, again == 0 ? "node maker compute duration=1 pure"
                             : "node again rematerialization duration=1 pure");
        put_list(&out, "reads=", n);
        for (uint32_t i = 0; i < n; i++) {
            put(&out, "%sp%" PRIu32, i == 0 ? " writes=" : ",", i);
        }
        put(&out, "\n");
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node r%" PRIu32 " compute duration=1 reads=p%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* An input that comes and goes N times, from which each of N objects might be made again. */
static struct text recomputed_one_by_one(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object in size=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "object o%" PRIu32 " size=1 recompute=m%" PRIu32 "\n", i, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node w%" PRIu32 " compute duration=1 writes=in\n", i);
        put(&out, "node m%" PRIu32 " compute duration=1 pure reads=in writes=o%" PRIu32 "\n", i, i);
        put(&out, "node f%" PRIu32 " reclamation object=in\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node r%" PRIu32 " compute duration=1 reads=o%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* Barriers of 64 nodes before and 64 behind, all of which read the same object. */
static struct text barriers(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object o size=1 initial\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 reads=o\n", i);
        if (i % 64 == 63) {
            put(&out, "node b%" PRIu32 " barrier\n", i / 64);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i / 64 < n / 64) {
            put(&out, "edge n%" PRIu32 " b%" PRIu32 " barrier\n", i, i / 64);
        }
        if (i >= 64) {
            put(&out, "edge b%" PRIu32 " n%" PRIu32 " barrier\n", i / 64 - 1, i);
        }
    }
    return out.text;
}

/* One barrier with N nodes before it and N behind, all of which read the same object. */
static struct text broad_barrier(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "object o size=1 initial\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 reads=o\n", i);
    }
    put(&out, "node all barrier\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node m%" PRIu32 " compute duration=1 reads=o\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge n%" PRIu32 " all barrier\nedge all m%" PRIu32 " barrier\n", i, i);
    }
    return out.text;
}

/* A node that reads a thousand objects, with N bare edges to others of its engine. */
static struct text many_links(uint32_t n)
{
    struct growing out = {{0}, 0};
    uint32_t n_read = n < 1000 ? n : 1000;

    begin(&out, "all");
    put_objects(&out, n_read + 1, " initial");
    put(&out, "node hub compute engine=e duration=1");
    put_list(&out, "reads=", n_read);
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute engine=e duration=1 reads=o%" PRIu32 "\n", i, n_read);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge hub n%" PRIu32 " ordering\n", i);
    }
    return out.text;
}

/* A node that reads N objects by a view of each. */
static struct text many_views(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put_objects(&out, n, " initial");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "object v%" PRIu32 " size=1 alias=o%" PRIu32 "\n", i, i);
    }
    put(&out, "node reader compute duration=1");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "%sv%" PRIu32, i == 0 ? " reads=" : ",", i);
    }
    put(&out, "\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node f%" PRIu32 " reclamation object=o%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* A chain of N nodes, each on an engine of its own, of which each overlap with the next is a line. */
static struct text many_engines(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "engine e%" PRIu32 "\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute engine=e%" PRIu32 " duration=1 deadline=1s\n", i, i);
    }
    for (uint32_t i = 1; i < n; i++) {
        put(&out, "edge n%" PRIu32 " n%" PRIu32 " ordering\n", i - 1, i);
        put(&out, "overlap n%" PRIu32 " n%" PRIu32 " allowed latest=1s proof=none\n", i - 1, i);
        put(&out, "overlap e%" PRIu32 " e%" PRIu32 " forbidden\n", i - 1, i);
    }
    return out.text;
}

/* Two chains, whose objects a plan puts at the same few places, one after another. */
static struct text planned(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "engine f\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "object o%" PRIu32 " size=8 offset=%" PRIu32 "@m\n", i, i % 64 * 8);
    }
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute engine=%s duration=1", i, i % 2 == 0 ? "e" : "f");
        if (i > 0) {
            put(&out, " reads=o%" PRIu32, i - 1);
        }
        put(&out, " writes=o%" PRIu32 "\n", i);
    }
    return out.text;
}

/* A name that nothing defines, in each of N lines. */
static struct text many_faults(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "node n%" PRIu32 " compute duration=1 fallback=m%" PRIu32 "\n", i, i);
    }
    return out.text;
}

/* N edges between the same two nodes, and a machine file that says all of them again. */
static struct text same_edges(uint32_t n)
{
    struct growing out = {{0}, 0};

    begin(&out, "all");
    put(&out, "node a compute duration=1\nnode b compute duration=1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge a b ordering\n");
    }
    return out.text;
}

static struct text same_edges_again(uint32_t n)
{
    struct growing out = {{0}, 0};

    put(&out, "weir 1\n");
    for (uint32_t i = 0; i < n; i++) {
        put(&out, "edge a b ordering lag=1\n");
    }
    return out.text;
}

const struct hard_text hard_texts[] = {
    {"an object that N nodes read", many_readers, NULL},
    {"a node with N edges", many_edges, NULL},
    {"N aliases of one object", many_aliases, NULL},
    {"aliases a thousand deep", deep_aliases, NULL},
    {"lists of N objects", long_lists, NULL},
    {"a node that holds N copies", many_holds, NULL},
    {"N nodes that hold what one uses", many_holders, NULL},
    {"an object reclaimed N times", many_copies, NULL},
    {"N fallbacks on one node", many_fallbacks, NULL},
    {"a node that uses N resources", many_resources, NULL},
    {"an object in N domains", many_domains, NULL},
    {"audit: N before one before N", fork_join, NULL},
    {"audit: there and back", there_and_back, NULL},
    {"N reclaimed on submission", early_reclamations, NULL},
    {"a reclamation that reads N", late_reclamation, NULL},
    {"N waits for bytes of one node", capacity_waits, NULL},
    {"an object with N placements", many_placements, NULL},
    {"N objects recomputed at once", recomputed_at_once, NULL},
    {"N recomputed from one that goes", recomputed_one_by_one, NULL},
    {"barriers, 64 before and behind", barriers, NULL},
    {"a barrier, N before and behind", broad_barrier, NULL},
    {"N links of one queue", many_links, NULL},
    {"N views that one node reads", many_views, NULL},
    {"N engines, deadlines, overlaps", many_engines, NULL},
    {"N planned into a few places", planned, NULL},
    {"N names that nothing defines", many_faults, NULL},
    {"N edges said twice", same_edges, same_edges_again},
};

const unsigned n_hard_texts = sizeof hard_texts / sizeof *hard_texts;
