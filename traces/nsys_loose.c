/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory events that are actions of their own: those of no call in the file, those that do not lie
 * within their call, and the stream-ordered ones, whose place is in a stream. */
#include "traces/nsys_internal.h"

struct loose {
    uint32_t alloc, free, table, host_class;
    uint32_t engine; /* RECORDING_NONE until there is one */
};

static enum weir_status make_loose(struct nsys *nsys, struct loose *loose, struct weir_error *err)
{
    enum weir_status status = recording_word(nsys->recording, "alloc", &loose->alloc, err);

    loose->engine = RECORDING_NONE;
    if (status == WEIR_OK)
        status = recording_word(nsys->recording, "free", &loose->free, err);
    if (status == WEIR_OK)
        status = recording_word(nsys->recording, "MEMORY_USAGE", &loose->table, err);
    if (status == WEIR_OK)
        status = recording_word(nsys->recording, "host", &loose->host_class, err);
    return status;
}

static enum weir_status allocator(struct nsys *nsys, struct loose *loose, uint32_t *engine,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    uint32_t name;

    if (loose->engine == RECORDING_NONE) {
        status = recording_word(nsys->recording, "host:allocator", &name, err);
        if (status == WEIR_OK)
            status =
                recording_add_engine(nsys->recording, name, nsys->host_domain, &loose->engine, err);
    }
    *engine = loose->engine;
    return status;
}

static enum weir_status add_memory_action(struct nsys *nsys, const struct loose *loose,
                                          struct nsys_memory *memory, bool is_free, int64_t at_ns,
                                          uint32_t engine, uint32_t *id, struct weir_error *err)
{
    const struct recording_action action = {
        .start_ns = at_ns,
        .finish_ns = at_ns,
        .bytes = -1,
        .origin_row = memory->row,
        .name = is_free ? loose->free : loose->alloc,
        .lead = RECORDING_NONE,
        .engine = engine,
        .object = memory->object,
        .class_name = loose->host_class,
        .domain = recording_object_domain(nsys->recording, memory->object),
        .from = RECORDING_NONE,
        .to = RECORDING_NONE,
        .origin_table = loose->table,
        .origin_call = memory->call == NSYS_NONE ? 0 : nsys->calls[memory->call].name,
        .kind = is_free ? NODE_RECLAMATION : NODE_ALLOCATION,
        .rank = is_free ? RANK_RECLAMATION : RANK_ALLOCATION,
        .source = TIME_HOST,
    };

    return recording_add_action(nsys->recording, &action, id, err);
}

static enum weir_status link_memory(struct nsys *nsys, uint32_t producer, uint32_t consumer,
                                    enum recording_rule rule, struct weir_error *err)
{
    const struct recording_link link = {.producer = producer, .consumer = consumer, .rule = rule};
    enum recording_fit fit;

    if (producer == NSYS_NONE || consumer == NSYS_NONE)
        return WEIR_OK;
    return recording_link(nsys->recording, &link, &fit, err);
}

/* An allocation comes before its reclamation, whatever their streams were doing. */
static int64_t within_life(const struct nsys *nsys, const struct nsys_memory *memory, int64_t at_ns)
{
    int64_t other_ns;
    uint32_t action = NSYS_NONE;

    if (memory->partner != NSYS_NONE && !memory->is_replaced)
        action = nsys->memories[memory->partner].action;
    if (action == NSYS_NONE)
        return at_ns;
    if (memory->is_free) {
        other_ns = recording_finish_ns(nsys->recording, action);
        return at_ns < other_ns ? other_ns : at_ns;
    }
    other_ns = recording_start_ns(nsys->recording, action);
    return at_ns >= other_ns ? other_ns - 1 : at_ns;
}

/* The stream that a stream-ordered event names, if it had work. */
static const struct nsys_stream *stream_of(const struct nsys *nsys,
                                           const struct nsys_memory *memory)
{
    uint32_t from, to;

    if (!memory->is_pooled || memory->correlation == 0 || memory->stream == NSYS_NO_ID)
        return NULL;
    nsys_streams_of(nsys, memory->process, &from, &to);
    for (uint32_t i = from; i < to; i++) {
        const struct nsys_stream *stream = &nsys->streams[i];
        if (stream->context == memory->context && stream->id == memory->stream && stream->n > 0 &&
            stream->kind != STREAM_MIGRATIONS)
            return stream;
    }
    return NULL;
}

/* In its stream: after the work launched before it, not before its call, and an allocation not
 * after the work launched next. */
static enum weir_status add_in_stream(struct nsys *nsys, const struct loose *loose,
                                      struct nsys_memory *memory, const struct nsys_stream *stream,
                                      struct weir_error *err)
{
    uint32_t before = nsys_last_before(nsys, stream, memory->correlation);
    uint32_t after = nsys_first_after(nsys, stream, memory->correlation);
    const struct nsys_op *last =
        before == NSYS_NONE ? NULL : &nsys->ops[nsys->latest[stream->first + before]];
    const struct nsys_op *next =
        after == NSYS_NONE ? NULL : &nsys->ops[nsys->work[stream->first + after]];
    int64_t at_ns = memory->t_ns;
    enum weir_status status;

    if (last != NULL && last->end_ns > at_ns)
        at_ns = last->end_ns;
    if (!memory->is_free && next != NULL && next->start_ns < at_ns)
        at_ns = next->start_ns;
    status =
        add_memory_action(nsys, loose, memory, memory->is_free, within_life(nsys, memory, at_ns),
                          stream->engine, &memory->action, err);
    if (status == WEIR_OK && memory->call != NSYS_NONE)
        status = link_memory(nsys, nsys->calls[memory->call].launch_action, memory->action,
                             RULE_MEMORY_CALL, err);
    if (status == WEIR_OK && last != NULL)
        status = link_memory(nsys, last->action, memory->action, RULE_STREAM_MEMORY, err);
    if (status == WEIR_OK && next != NULL && !memory->is_free)
        status = link_memory(nsys, memory->action, next->action, RULE_STREAM_MEMORY, err);
    return status;
}

static enum weir_status add_alone(struct nsys *nsys, struct loose *loose,
                                  struct nsys_memory *memory, struct weir_error *err)
{
    uint32_t engine;
    enum weir_status status = allocator(nsys, loose, &engine, err);

    nsys->counts.memory_outside_calls++;
    if (status == WEIR_OK)
        status = add_memory_action(nsys, loose, memory, memory->is_free,
                                   within_life(nsys, memory, memory->t_ns), engine, &memory->action,
                                   err);
    if (status == WEIR_OK && memory->call != NSYS_NONE)
        status = link_memory(nsys, nsys->calls[memory->call].first_action, memory->action,
                             RULE_MEMORY_CALL, err);
    return status;
}

/* An allocation whose free was not seen, although its address was given out again: it is taken back
 * just before that. */
static enum weir_status add_unseen_free(struct nsys *nsys, struct loose *loose,
                                        struct nsys_memory *memory, struct weir_error *err)
{
    struct nsys_memory *taker = &nsys->memories[memory->partner];
    int64_t at_ns = taker->t_ns;
    uint32_t engine, id;
    enum weir_status status;

    if (!taker->acts)
        return WEIR_OK;
    if (memory->action != NSYS_NONE) {
        int64_t there_ns = recording_finish_ns(nsys->recording, memory->action);
        if (there_ns > at_ns)
            at_ns = there_ns;
    }
    status = allocator(nsys, loose, &engine, err);
    if (status == WEIR_OK)
        status = add_memory_action(nsys, loose, memory, true, at_ns, engine, &id, err);
    if (status == WEIR_OK && taker->call != NSYS_NONE)
        status = link_memory(nsys, nsys->calls[taker->call].first_action, id, RULE_REPLACED, err);
    return status;
}

enum weir_status nsys_add_loose_memory(struct nsys *nsys, struct weir_error *err)
{
    struct loose loose;
    enum weir_status status = make_loose(nsys, &loose, err);

    for (uint32_t i = 0; i < nsys->n_memories && status == WEIR_OK; i++) {
        struct nsys_memory *memory = &nsys->memories[i];
        const struct nsys_stream *stream;

        if (memory->object == NSYS_NONE)
            continue;
        if (memory->acts && memory->action == NSYS_NONE) {
            stream = stream_of(nsys, memory);
            status = stream != NULL ? add_in_stream(nsys, &loose, memory, stream, err)
                                    : add_alone(nsys, &loose, memory, err);
        }
        if (status == WEIR_OK && memory->is_replaced)
            status = add_unseen_free(nsys, &loose, memory, err);
    }
    return status;
}
