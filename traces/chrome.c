/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of each timeline in turn: names of the process and its threads, slices by thread,
 * counters of pressure, arrows. Counting comes first, so that nothing is written of what would pass
 * the limit. */
#include "traces/chrome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/quote.h"
#include "traces/chrome_internal.h"

struct chrome_options chrome_default(void)
{
    return (struct chrome_options){
        .from_ns = 0, .to_ns = INT64_MAX, .limit_events = 1000000, .has_arrows = true};
}

/* Kinds of edges, in the order in which their arrows stay. */
enum arrow_kind { ARROW_INDUCED, ARROW_GIVEN, ARROW_IMPLIED };
#define ARROW_KINDS 3

/* What is known while the file is written. */
struct file {
    struct writer *writer;
    const struct chrome_options *options;
    bool has_event;            /* a comma is due before the next */
    bool is_kept[ARROW_KINDS]; /* whether arrows of the kind are written */
    int64_t next_arrow;        /* arrows have numbers of their own in the whole file */
    struct chrome_result result;
};

/* One timeline at work. */
struct part {
    const struct chrome_timeline *given;
    struct chrome_layout layout;
    int64_t process;         /* from 1 */
    unsigned char *is_chain; /* by node; NULL without a chain */
};

/* ---- pieces of JSON ---- */

static void put(void *writer, const char *bytes, size_t n)
{
    writer_put(writer, bytes, n);
}

static void put_quoted(struct writer *writer, const char *text)
{
    writer_put(writer, "\"", 1);
    quote_json(text, put, writer);
    writer_put(writer, "\"", 1);
}

/* Nanoseconds, none negative, as microseconds with three decimals: digits and a point, so that no
 * reader's double can round what is written. */
static void put_time(struct writer *writer, int64_t ns)
{
    int64_t decimals = ns % 1000;
    const char digits[] = {'.', (char)('0' + decimals / 100), (char)('0' + decimals / 10 % 10),
                           (char)('0' + decimals % 10)};

    writer_integer(writer, ns / 1000);
    writer_put(writer, digits, sizeof digits);
}

/* Opens an event up to its thread: {"ph":"X","pid":1,"tid":2 */
static void begin_event(struct file *file, const char *phase, int64_t process, int64_t thread)
{
    struct writer *writer = file->writer;

    writer_text(writer, file->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    writer_text(writer, phase);
    writer_text(writer, "\",\"pid\":");
    writer_integer(writer, process);
    writer_text(writer, ",\"tid\":");
    writer_integer(writer, thread);
    file->has_event = true;
    file->result.n_events++;
}

static void put_pair(struct writer *writer, const char *key, const char *text)
{
    writer_text(writer, ",\"");
    writer_text(writer, key);
    writer_text(writer, "\":");
    put_quoted(writer, text);
}

static void put_number(struct writer *writer, const char *key, int64_t value)
{
    writer_text(writer, ",\"");
    writer_text(writer, key);
    writer_text(writer, "\":");
    writer_integer(writer, value);
}

static void put_moment(struct writer *writer, const char *key, int64_t ns)
{
    writer_text(writer, ",\"");
    writer_text(writer, key);
    writer_text(writer, "\":");
    put_time(writer, ns);
}

/* ---- names of processes and threads ---- */

static void name_event(struct file *file, int64_t process, int64_t thread, const char *what,
                       const char *name)
{
    begin_event(file, "M", process, thread);
    put_pair(file->writer, "name", what);
    writer_text(file->writer, ",\"args\":{\"name\":");
    put_quoted(file->writer, name);
    writer_text(file->writer, "}}");
}

static void sort_event(struct file *file, int64_t process, int64_t thread, const char *what,
                       int64_t index)
{
    begin_event(file, "M", process, thread);
    put_pair(file->writer, "name", what);
    writer_text(file->writer, ",\"args\":{\"sort_index\":");
    writer_integer(file->writer, index);
    writer_text(file->writer, "}}");
}

#define THREAD_NAME_BYTES 512

static void thread_name(const struct chrome_timeline *timeline, const struct chrome_thread *thread,
                        char out[THREAD_NAME_BYTES])
{
    const char *engine = "no engine";
    char number[16] = "";

    if (weir_is(thread->engine))
        engine = graph_text(timeline->graph, graph_engine(timeline->graph, thread->engine)->name);
    if (thread->number > 1)
        (void)snprintf(number, sizeof number, " (%" PRIu32 ")", thread->number);
    (void)snprintf(out, THREAD_NAME_BYTES, "%.470s%s%s", engine,
                   thread->is_instants ? " (instants)" : "", number);
}

/* Threads are numbered from 1; the chain comes before those of the engines. */
static int64_t thread_number(const struct part *part, size_t thread)
{
    return (int64_t)thread + 1 + (part->given->n_chain > 0);
}

static void write_names(struct file *file, const struct part *part)
{
    char name[THREAD_NAME_BYTES];

    name_event(file, part->process, 0, "process_name", part->given->label);
    sort_event(file, part->process, 0, "process_sort_index", part->process);
    if (part->given->n_chain > 0) {
        name_event(file, part->process, 1, "thread_name", "critical chain");
        sort_event(file, part->process, 1, "thread_sort_index", 1);
    }
    for (size_t i = 0; i < part->layout.n_threads; i++) {
        thread_name(part->given, &part->layout.threads[i], name);
        name_event(file, part->process, thread_number(part, i), "thread_name", name);
        sort_event(file, part->process, thread_number(part, i), "thread_sort_index",
                   thread_number(part, i));
    }
}

/* ---- slices ---- */

static void put_arguments(struct writer *writer, const struct part *part, weir_node node)
{
    const struct graph *graph = part->given->graph;
    const struct timeline_span *span = &part->given->timeline->spans[node.index];

    writer_text(writer, ",\"args\":{\"node\":");
    writer_integer(writer, node.index);
    put_pair(writer, "kind", node_kind_name(graph_node_kind(graph, node)));
    put_number(writer, "start_ns", span->start_ns);
    if (span->finish_ns >= 0)
        put_number(writer, "finish_ns", span->finish_ns);
    put_number(writer, "ready_ns", span->ready_ns);
    if (span->isolated_ns >= 0)
        put_number(writer, "isolated_ns", span->isolated_ns);
    if (span->cause != WAIT_NONE)
        put_pair(writer, "wait_cause", wait_cause_name((enum wait_cause)span->cause));
    if (weir_is(span->blocker))
        put_pair(writer, "blocker", graph_node_name(graph, span->blocker));
    if (span->source != TIME_SIMULATED)
        put_pair(writer, "time_source", time_source_name((enum time_source)span->source));
    if (part->is_chain != NULL && part->is_chain[node.index])
        put_number(writer, "critical", 1);
    writer_text(writer, "}}");
}

static void write_slice(struct file *file, const struct part *part,
                        const struct chrome_slice *slice, int64_t thread)
{
    const struct graph *graph = part->given->graph;
    weir_node node = {slice->node};
    weir_class class_of_node = graph_node_class(graph, node);

    begin_event(file, "X", part->process, thread);
    put_moment(file->writer, "ts", slice->start_ns);
    put_moment(file->writer, "dur", slice->end_ns - slice->start_ns);
    put_pair(file->writer, "cat",
             weir_is(class_of_node) ? graph_text(graph, graph_class_name(graph, class_of_node))
                                    : node_kind_name(graph_node_kind(graph, node)));
    put_pair(file->writer, "name", graph_node_name(graph, node));
    put_arguments(file->writer, part, node);
    file->result.n_slices++;
}

/* From the end back: a link that reaches into a later one (an instant drawn a nanosecond long, say)
 * is left to its own thread. */
static void write_chain(struct file *file, const struct part *part)
{
    int64_t limit_ns = INT64_MAX;

    for (uint32_t i = part->given->n_chain; i > 0; i--) {
        uint32_t at = part->layout.slice_of[part->given->chain[i - 1].index];

        if (at == UINT32_MAX || part->layout.slices[at].end_ns > limit_ns)
            continue;
        write_slice(file, part, &part->layout.slices[at], 1);
        limit_ns = part->layout.slices[at].start_ns;
    }
}

static void write_slices(struct file *file, const struct part *part)
{
    for (uint32_t i = 0; i < part->layout.n_slices; i++) {
        const struct chrome_slice *slice = &part->layout.slices[i];

        write_slice(file, part, slice, thread_number(part, slice->thread));
    }
}

/* ---- pressure ---- */

static void write_counter(struct file *file, const struct part *part, weir_domain domain,
                          int64_t t_ns, int64_t bytes)
{
    const struct graph *graph = part->given->graph;

    begin_event(file, "C", part->process, 0);
    put_moment(file->writer, "ts", t_ns);
    writer_text(file->writer, ",\"name\":\"bytes in ");
    quote_json(graph_text(graph, graph_domain(graph, domain)->name), put, file->writer);
    writer_text(file->writer, "\",\"args\":{\"bytes\":");
    writer_integer(file->writer, bytes);
    writer_text(file->writer, "}}");
    file->result.n_counters++;
}

/* The bytes of every domain at the beginning of the window. */
static void write_levels(struct file *file, const struct part *part)
{
    const struct timeline *timeline = part->given->timeline;
    int64_t from_ns = file->options->from_ns;

    for (uint32_t d = 0; d < timeline->n_domains; d++) {
        int64_t bytes = 0;

        for (size_t i = 0; i < timeline->n_pressures && timeline->pressures[i].t_ns <= from_ns; i++)
            bytes = timeline->pressures[i].domain.index == d ? timeline->pressures[i].bytes : bytes;
        write_counter(file, part, (weir_domain){d}, from_ns, bytes);
    }
}

static bool is_in_window(const struct chrome_options *options, int64_t t_ns)
{
    return t_ns > options->from_ns && t_ns < options->to_ns;
}

static void write_counters(struct file *file, const struct part *part)
{
    const struct timeline *timeline = part->given->timeline;

    if (timeline->n_pressures == 0)
        return;
    write_levels(file, part);
    for (size_t i = 0; i < timeline->n_pressures; i++) {
        const struct timeline_pressure *row = &timeline->pressures[i];

        if (is_in_window(file->options, row->t_ns))
            write_counter(file, part, row->domain, row->t_ns, row->bytes);
    }
}

/* ---- arrows ---- */

struct arrow {
    weir_node producer, consumer;
    enum edge_type type;
    bool is_from_start;
};

static size_t n_edges(const struct part *part, enum arrow_kind kind)
{
    switch (kind) {
    case ARROW_INDUCED:
        return part->given->timeline->n_induced;
    case ARROW_GIVEN:
        return graph_n_edges(part->given->graph);
    case ARROW_IMPLIED:
        return part->given->binding == NULL ? 0 : bind_n_edges(part->given->binding);
    }
    return 0;
}

static struct arrow arrow_at(const struct part *part, enum arrow_kind kind, size_t at)
{
    struct graph_edge edge;

    switch (kind) {
    case ARROW_INDUCED:
        return (struct arrow){part->given->timeline->induced[at].producer,
                              part->given->timeline->induced[at].consumer, EDGE_CAPACITY_WAIT,
                              false};
    case ARROW_GIVEN:
        graph_edge(part->given->graph, (weir_edge){(uint32_t)at}, &edge);
        return (struct arrow){edge.producer, edge.consumer, edge.type, edge.is_from_start};
    case ARROW_IMPLIED:
        break;
    }
    return (struct arrow){bind_edges(part->given->binding)[at].producer,
                          bind_edges(part->given->binding)[at].consumer,
                          bind_edges(part->given->binding)[at].type, false};
}

/* Where the arrow begins and ends. A slice holds its start and not its end: an arrow from a finish
 * leaves a nanosecond before. False when a node is not drawn, or the consumer started before the
 * producer: nothing can be drawn then. */
static bool place_arrow(const struct part *part, const struct arrow *arrow,
                        const struct chrome_slice **from, const struct chrome_slice **to,
                        int64_t *leave_ns)
{
    uint32_t producer = part->layout.slice_of[arrow->producer.index];
    uint32_t consumer = part->layout.slice_of[arrow->consumer.index];

    if (producer == UINT32_MAX || consumer == UINT32_MAX)
        return false;
    *from = &part->layout.slices[producer];
    *to = &part->layout.slices[consumer];
    *leave_ns = arrow->is_from_start ? (*from)->start_ns : (*from)->end_ns - 1;
    if (*leave_ns > (*to)->start_ns)
        *leave_ns = (*to)->start_ns;
    return *leave_ns >= (*from)->start_ns;
}

static void write_arrow(struct file *file, const struct part *part, const struct arrow *arrow)
{
    const struct chrome_slice *from, *to;
    int64_t leave_ns;

    if (!place_arrow(part, arrow, &from, &to, &leave_ns)) {
        file->result.n_arrows_left_out++;
        return;
    }
    for (int end = 0; end < 2; end++) {
        const struct chrome_slice *slice = end == 0 ? from : to;

        begin_event(file, end == 0 ? "s" : "f", part->process, thread_number(part, slice->thread));
        put_moment(file->writer, "ts", end == 0 ? leave_ns : to->start_ns);
        writer_text(file->writer, end == 0 ? "" : ",\"bp\":\"e\"");
        put_number(file->writer, "id", file->next_arrow);
        put_pair(file->writer, "cat", "edge");
        put_pair(file->writer, "name", edge_type_name(arrow->type));
        writer_text(file->writer, "}");
    }
    file->next_arrow++;
    file->result.n_arrows++;
}

static void write_arrows(struct file *file, const struct part *part)
{
    for (enum arrow_kind kind = ARROW_INDUCED; kind <= ARROW_IMPLIED; kind++) {
        if (!file->is_kept[kind]) {
            file->result.n_arrows_left_out += n_edges(part, kind);
            continue;
        }
        for (size_t i = 0; i < n_edges(part, kind); i++) {
            struct arrow arrow = arrow_at(part, kind, i);

            write_arrow(file, part, &arrow);
        }
    }
}

/* ---- the whole ---- */

static uint64_t count_solid(const struct part *part, const struct chrome_options *options)
{
    const struct timeline *timeline = part->given->timeline;
    uint64_t n = 4 + 2 * part->layout.n_threads + part->layout.n_slices + part->given->n_chain;

    if (timeline->n_pressures > 0)
        n += timeline->n_domains;
    for (size_t i = 0; i < timeline->n_pressures; i++)
        n += is_in_window(options, timeline->pressures[i].t_ns);
    return n;
}

/* Decides which kinds of arrows there is room for; all of them are counted, also those that cannot
 * be drawn. */
static enum weir_status keep_limit(struct file *file, const struct part *parts, uint32_t n_parts,
                                   struct weir_error *err)
{
    uint64_t limit = file->options->limit_events, n = 0;

    for (uint32_t i = 0; i < n_parts; i++)
        n += count_solid(&parts[i], file->options);
    if (n > limit) {
        return weir_error_set(err, WEIR_USAGE,
                              "%" PRIu64 " events, and the limit is %" PRIu64
                              ", which viewers still take; choose a window with --from and --to, "
                              "or raise --limit",
                              n, limit);
    }
    for (enum arrow_kind kind = ARROW_INDUCED; kind <= ARROW_IMPLIED; kind++) {
        uint64_t arrows = 0;

        for (uint32_t i = 0; i < n_parts; i++)
            arrows += 2 * (uint64_t)n_edges(&parts[i], kind);
        file->is_kept[kind] = file->options->has_arrows && n + arrows <= limit;
        n += arrows;
    }
    return WEIR_OK;
}

static enum weir_status mark_chain(struct part *part, struct weir_error *err)
{
    if (part->given->n_chain == 0)
        return WEIR_OK;
    part->is_chain = calloc((size_t)part->given->timeline->n_nodes + 1, 1);
    if (part->is_chain == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < part->given->n_chain; i++)
        part->is_chain[part->given->chain[i].index] = 1;
    return WEIR_OK;
}

static void write_parts(struct file *file, const struct part *parts, uint32_t n_parts)
{
    writer_text(file->writer, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (uint32_t i = 0; i < n_parts; i++) {
        write_names(file, &parts[i]);
        write_chain(file, &parts[i]);
        write_slices(file, &parts[i]);
        write_counters(file, &parts[i]);
        write_arrows(file, &parts[i]);
    }
    writer_text(file->writer, "\n]}\n");
}

enum weir_status chrome_write(struct writer *writer, const struct chrome_timeline *timelines,
                              uint32_t n_timelines, const struct chrome_options *options,
                              struct chrome_result *result, struct weir_error *err)
{
    struct file file = {.writer = writer, .options = options, .next_arrow = 1};
    struct part *parts = calloc((size_t)n_timelines + 1, sizeof *parts);
    enum weir_status status = WEIR_OK;

    if (parts == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < n_timelines && status == WEIR_OK; i++) {
        parts[i].given = &timelines[i];
        parts[i].process = (int64_t)i + 1;
        status = chrome_layout_make(&timelines[i], options, &parts[i].layout, err);
        if (status == WEIR_OK)
            status = mark_chain(&parts[i], err);
    }
    if (status == WEIR_OK)
        status = keep_limit(&file, parts, n_timelines, err);
    if (status == WEIR_OK) {
        write_parts(&file, parts, n_timelines);
        *result = file.result;
    }
    for (uint32_t i = 0; i < n_timelines; i++) {
        chrome_layout_free(&parts[i].layout);
        free(parts[i].is_chain);
    }
    free(parts);
    return status;
}
