/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device work to actions, one engine a stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/nsys_internal.h"

/* Domains: one a device, in the order of their numbers, then the host. */

static enum weir_status add_domain(struct nsys *nsys, const char *name, int64_t bytes,
                                   const char *detail, uint32_t *id, struct weir_error *err)
{
    struct recording_domain domain = {.capacity_bytes = bytes};
    enum weir_status status = recording_word(nsys->recording, name, &domain.name, err);

    if (status == WEIR_OK)
        status = recording_word(nsys->recording, detail, &domain.detail, err);
    return status == WEIR_OK ? recording_add_domain(nsys->recording, &domain, id, err) : status;
}

static int by_number(const void *left, const void *right)
{
    const struct nsys_gpu *const *a = left, *const *b = right;

    return nsys_compare((*a)->number, (*b)->number);
}

enum weir_status nsys_add_domains(struct nsys *nsys, struct weir_error *err)
{
    struct nsys_gpu **gpus = malloc(((size_t)nsys->n_gpus + 1) * sizeof *gpus);
    enum weir_status status = WEIR_OK;

    if (gpus == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < nsys->n_gpus; i++)
        gpus[i] = &nsys->gpus[i];
    qsort(gpus, nsys->n_gpus, sizeof(*gpus), by_number);
    for (uint32_t i = 0; i < nsys->n_gpus && status == WEIR_OK; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "gpu%" PRId64, gpus[i]->number);
        status = add_domain(nsys, name, gpus[i]->memory_bytes, "TARGET_INFO_GPU: totalMemory",
                            &gpus[i]->domain, err);
    }
    free(gpus);
    if (status == WEIR_OK)
        status = add_domain(nsys, "host", 0, "", &nsys->host_domain, err);
    return status;
}

/* What an op is called and where it moves bytes. */

static const char *const directions[NSYS_COPY_KINDS] = {
    "copy", "h2d", "d2h", "h2a",     "a2h",     "a2a",     "a2d", "d2a",
    "d2d",  "h2h", "p2p", "uvm-h2d", "uvm-d2h", "uvm-d2d", "copy"};
static const char *const host_kinds[NSYS_HOST_KINDS] = {
    "pageable",      "pinned",         "device",  "array", "managed",
    "device-static", "managed-static", "unknown", ""};

static bool is_host_kind(uint8_t kind)
{
    return kind == 0 || kind == 1;
}

/* The direction of a copy; where its own kind says nothing, the kinds of memory do. */
static uint8_t direction_of(const struct nsys_op *op)
{
    if (op->copy_kind != 0 && op->copy_kind != NSYS_COPY_KINDS - 1)
        return op->copy_kind;
    if (op->from_kind >= 7 || op->to_kind >= 7)
        return op->copy_kind;
    if (is_host_kind(op->from_kind))
        return is_host_kind(op->to_kind) ? 9 : 1;
    return is_host_kind(op->to_kind) ? 2 : 8;
}

/* The kind of the memory on the host's side; NSYS_HOST_KINDS - 1 where no side is the host's. */
static uint8_t host_kind_of(uint8_t direction, const struct nsys_op *op)
{
    switch (direction) {
    case 1:
    case 3:
    case 9:
        return op->from_kind;
    case 2:
    case 4:
        return op->to_kind;
    default:
        return NSYS_HOST_KINDS - 1;
    }
}

void nsys_copy_name(int direction, int host_kind, char between, char *out, size_t out_bytes)
{
    const char *kind = host_kinds[host_kind];
    char separator[2] = {kind[0] == '\0' ? '\0' : between, '\0'};

    (void)snprintf(out, out_bytes, "%s%s%s", directions[direction], separator, kind);
    for (char *c = out; *c != '\0'; c++) {
        if (*c == '-')
            *c = between;
    }
}

static uint32_t domain_of_device(const struct nsys *nsys, const struct nsys_stream *stream,
                                 int32_t device)
{
    int64_t process, its_device;
    uint32_t *gpu;

    for (uint32_t i = 0; i < nsys->n_streams; i++) {
        if (nsys->streams[i].process == stream->process && nsys->streams[i].device == device)
            return nsys->gpus[nsys->streams[i].gpu].domain;
    }
    for (size_t at = 0; nsys_window_device(nsys, at, &process, &its_device, &gpu); at++) {
        if (process == stream->process && its_device == device)
            return nsys->gpus[*gpu].domain;
    }
    return RECORDING_NONE;
}

/* Domains, when a copy goes from one to another. */
static void set_ends(const struct nsys *nsys, const struct nsys_op *op,
                     struct recording_action *action)
{
    const struct nsys_stream *stream = &nsys->streams[op->stream];
    uint32_t device = nsys->gpus[stream->gpu].domain;

    switch (direction_of(op)) {
    case 1:
    case 3:
    case 11:
        action->from = nsys->host_domain;
        action->to = device;
        break;
    case 2:
    case 4:
    case 12:
        action->from = device;
        action->to = nsys->host_domain;
        break;
    case 8:
    case 10:
    case 13:
        if (op->from_device == op->to_device) /* or neither was recorded */
            break;
        action->from = domain_of_device(nsys, stream, op->from_device);
        action->to = domain_of_device(nsys, stream, op->to_device);
        break;
    default:
        break;
    }
    if (action->from == action->to || action->from == RECORDING_NONE ||
        action->to == RECORDING_NONE)
        action->from = action->to = RECORDING_NONE;
}

static const char *const causes[] = {"",         "user prefetch", "page fault", "speculative",
                                     "eviction", "access counter"};
#define CAUSES ((int)(sizeof causes / sizeof *causes))

/* Texts that ops share, each made when it is first needed; 0 not yet. */
struct op_words {
    uint32_t tables[NSYS_TABLES];
    uint32_t copies[NSYS_COPY_KINDS][NSYS_HOST_KINDS];
    uint32_t causes[CAUSES];
    uint32_t kernel, collective, graph, graph_launch, memset;
};

static enum weir_status word(struct nsys *nsys, uint32_t *known, const char *text, uint32_t *out,
                             struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (*known == 0)
        status = recording_word(nsys->recording, text, known, err);
    *out = *known;
    return status;
}

static enum weir_status name_copy(struct nsys *nsys, struct op_words *words,
                                  const struct nsys_op *op, struct recording_action *action,
                                  struct weir_error *err)
{
    uint8_t direction = direction_of(op);
    uint8_t host_kind = host_kind_of(direction, op);
    uint32_t *known = &words->copies[direction][host_kind];
    char name[64] = "";
    enum weir_status status;

    if (*known == 0)
        nsys_copy_name(direction, host_kind, '-', name, sizeof name);
    status = word(nsys, known, name, &action->name, err);
    action->class_name = action->name;
    if (status == WEIR_OK && op->kind == OP_MIGRATION && op->cause >= 1 && op->cause < CAUSES)
        status =
            word(nsys, &words->causes[op->cause], causes[op->cause], &action->origin_call, err);
    return status;
}

static enum weir_status name_op(struct nsys *nsys, struct op_words *words, const struct nsys_op *op,
                                struct recording_action *action, struct weir_error *err)
{
    static const char *const tables[NSYS_TABLES] = {
        [NSYS_KERNEL] = "KERNEL",
        [NSYS_MEMCPY] = "MEMCPY",
        [NSYS_MEMSET] = "MEMSET",
        [NSYS_GRAPH_TRACE] = "GRAPH_TRACE",
    };
    enum weir_status status =
        word(nsys, &words->tables[op->table], tables[op->table], &action->origin_table, err);

    if (status != WEIR_OK)
        return status;
    switch ((enum nsys_op_kind)op->kind) {
    case OP_KERNEL:
        action->name = op->name;
        return (op->flags & OP_IS_COLLECTIVE) != 0
                   ? word(nsys, &words->collective, "collective", &action->class_name, err)
                   : word(nsys, &words->kernel, "kernel", &action->class_name, err);
    case OP_GRAPH:
        status = word(nsys, &words->graph_launch, "graph-launch", &action->name, err);
        return status == WEIR_OK ? word(nsys, &words->graph, "graph", &action->class_name, err)
                                 : status;
    case OP_SET:
        status = word(nsys, &words->memset, "memset", &action->name, err);
        action->class_name = action->name;
        return status;
    case OP_COPY:
    case OP_MIGRATION:
    case OP_KINDS:
        break;
    }
    return name_copy(nsys, words, op, action, err);
}

/* Sums, for the report. One that would pass 64 bits stays at the most. */
static void add_to(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

static void count_op(struct nsys *nsys, const struct nsys_op *op)
{
    struct nsys_sum *sums[2] = {&nsys->sums[op->kind], NULL};

    if (op->kind == OP_COPY || op->kind == OP_MIGRATION) {
        uint8_t direction = direction_of(op);
        sums[1] = &nsys->copies[direction][host_kind_of(direction, op)];
    }
    for (int i = 0; i < 2 && sums[i] != NULL; i++) {
        sums[i]->n++;
        add_to(&sums[i]->ns, op->end_ns - op->start_ns);
        if (op->bytes >= 0)
            add_to(&sums[i]->bytes, op->bytes);
        else
            sums[i]->without_bytes++;
    }
    nsys->tables[op->table].n_kept++;
    if (op->call != NSYS_NONE)
        nsys->counts.launched++;
    else if (op->kind == OP_KERNEL)
        nsys->counts.kernels_without_launch++;
    if ((op->flags & OP_IS_GRAPH_CHILD) != 0)
        nsys->counts.graph_children++;
}

/* "cudaGraphLaunch; graph 3" */
static enum weir_status add_graph(struct nsys *nsys, const struct nsys_op *op, uint32_t *call,
                                  struct weir_error *err)
{
    char text[256];

    if (*call == 0) {
        *call = op->name;
        return WEIR_OK;
    }
    (void)snprintf(text, sizeof text, "%s; %s", recording_text_of(nsys->recording, *call),
                   recording_text_of(nsys->recording, op->name));
    return recording_word(nsys->recording, text, call, err);
}

static enum weir_status add_op(struct nsys *nsys, struct op_words *words, struct nsys_op *op,
                               struct weir_error *err)
{
    const struct nsys_stream *stream = &nsys->streams[op->stream];
    struct recording_action action = {
        .start_ns = op->start_ns,
        .finish_ns = op->end_ns,
        .bytes = op->bytes,
        .origin_row = op->row,
        .lead = RECORDING_NONE,
        .engine = stream->engine,
        .object = RECORDING_NONE,
        .domain = RECORDING_NONE,
        .from = RECORDING_NONE,
        .to = RECORDING_NONE,
        .kind = op->kind == OP_COPY || op->kind == OP_MIGRATION ? NODE_TRANSFER : NODE_COMPUTE,
        .rank = op->kind == OP_MIGRATION ? RANK_MIGRATION : RANK_OP,
        .source = TIME_DEVICE,
        .flags = (op->flags & OP_IS_COLLECTIVE) != 0 ? ACTION_IS_COLLECTIVE : 0,
    };
    enum weir_status status = name_op(nsys, words, op, &action, err);

    if (action.kind == NODE_TRANSFER)
        set_ends(nsys, op, &action);
    if (op->call != NSYS_NONE) {
        action.origin_call = nsys->calls[op->call].name;
        action.origin_range = nsys->calls[nsys->calls[op->call].outer].range;
    }
    if (status == WEIR_OK && op->kind == OP_GRAPH && op->name != 0)
        status = add_graph(nsys, op, &action.origin_call, err);
    count_op(nsys, op);
    return status == WEIR_OK ? recording_add_action(nsys->recording, &action, &op->action, err)
                             : status;
}

/* "gpu0:stream7"; a second context or process that has one of that number gets a number itself. */
static enum weir_status add_engine(struct nsys *nsys, struct nsys_stream *stream,
                                   struct weir_error *err)
{
    const struct nsys_gpu *gpu = &nsys->gpus[stream->gpu];
    char name[80];
    uint32_t text;
    enum weir_status status;

    if (stream->kind == STREAM_MIGRATIONS)
        (void)snprintf(name, sizeof name, "gpu%" PRId64 ":migration", gpu->number);
    else
        (void)snprintf(name, sizeof name, "gpu%" PRId64 ":stream%" PRId64, gpu->number, stream->id);
    status = recording_word(nsys->recording, name, &text, err);
    return status == WEIR_OK
               ? recording_add_engine(nsys->recording, text, gpu->domain, &stream->engine, err)
               : status;
}

enum weir_status nsys_add_ops(struct nsys *nsys, struct weir_error *err)
{
    struct op_words words = {.kernel = 0};
    enum weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < nsys->n_streams && status == WEIR_OK; i++) {
        struct nsys_stream *stream = &nsys->streams[i];

        if (stream->n > 0)
            status = add_engine(nsys, stream, err);
        for (uint32_t at = 0; at < stream->n && status == WEIR_OK; at++)
            status = add_op(nsys, &words, &nsys->ops[nsys->work[stream->first + at]], err);
    }
    return status;
}
