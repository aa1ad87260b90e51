/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUPTI's functions: records of what the virtual device did, in the layout of any version, right or
 * wrong. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/double/double.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(field, symbol, parameters) EXPORT cupti_result symbol parameters;
CUPTI_REQUIRED_FUNCTIONS(DECLARE)
CUPTI_OPTIONAL_FUNCTIONS(DECLARE)

#define RECORD_BYTES 256 /* no record is longer */

struct record {
    uint8_t bytes[RECORD_BYTES];
    size_t size;
};

static struct {
    cupti_buffer_request *request;
    cupti_buffer_done *done;
    cupti_clock *clock;
    bool is_enabled[64];
    struct record *records; /* that have not been given out */
    size_t n, room;
    uint64_t externals[16];
    int n_externals;
    size_t n_dropped;
} state;

/* How long records are, in bytes, by version of CUDA: kernel, memcpy, memset, call, external,
 * overhead. Source: notes on the layouts of CUDA 11.2 to 13.4. */
static const struct {
    int layout;
    size_t kernel, memcpy_, memset_, call, external, overhead;
} layouts[] = {{1120, 168, 80, 80, 40, 24, 40}, {1180, 200, 88, 88, 40, 24, 40},
               {1230, 208, 88, 88, 40, 24, 48}, {1280, 208, 96, 88, 40, 24, 56},
               {1300, 216, 96, 88, 40, 24, 56}, {1340, 248, 112, 104, 40, 24, 56}};

static size_t layout(void)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].layout == double_config.layout)
            return i;
    }
    abort();
}

/* ---- records ---- */

static void put_word(struct record *record, size_t offset, uint64_t value)
{
    uint32_t word = (uint32_t)value;

    memcpy(record->bytes + offset, &word, sizeof word);
}

static void put_long(struct record *record, size_t offset, int64_t value)
{
    memcpy(record->bytes + offset, &value, sizeof value);
}

static struct record begin_record(int kind, size_t size)
{
    struct record record = {.size = size};

    put_word(&record, 0, (uint32_t)kind);
    return record;
}

static void keep(const struct record *record)
{
    uint32_t kind;

    memcpy(&kind, record->bytes, sizeof kind);
    if (kind < 64 && !state.is_enabled[kind])
        return;
    if (state.n == state.room) {
        state.room = state.room * 2 + 64;
        state.records = realloc(state.records, state.room * sizeof *state.records);
        if (state.records == NULL)
            abort();
    }
    state.records[state.n++] = *record;
}

static struct record of_command(const struct double_command *command, int64_t start_ns,
                                int64_t end_ns, uint32_t stream)
{
    size_t l = layout();
    struct record record;

    if (command->kind == DOUBLE_KERNEL) {
        record = begin_record(CUPTI_KIND_KERNEL, layouts[l].kernel);
        put_long(&record, KERNEL_START, start_ns);
        put_long(&record, KERNEL_END, end_ns);
        put_word(&record, KERNEL_STREAM, stream);
        put_word(&record, KERNEL_CORRELATION, command->correlation);
    } else if (command->kind == DOUBLE_COPY) {
        record = begin_record(CUPTI_KIND_MEMCPY, layouts[l].memcpy_);
        record.bytes[MEMCPY_COPY_KIND] = (uint8_t)command->copy_kind;
        put_long(&record, MEMCPY_BYTES, command->bytes);
        put_long(&record, MEMCPY_START, start_ns);
        put_long(&record, MEMCPY_END, end_ns);
        put_word(&record, MEMCPY_STREAM, stream);
        put_word(&record, MEMCPY_CORRELATION, command->correlation);
    } else {
        record = begin_record(CUPTI_KIND_MEMSET, layouts[l].memset_);
        put_long(&record, MEMSET_BYTES, command->bytes);
        put_long(&record, MEMSET_START, start_ns);
        put_long(&record, MEMSET_END, end_ns);
        put_word(&record, MEMSET_STREAM, stream);
        put_word(&record, MEMSET_CORRELATION, command->correlation);
    }
    return record;
}

static void keep_loading(int64_t start_ns, int64_t end_ns)
{
    struct record record = begin_record(CUPTI_KIND_OVERHEAD, layouts[layout()].overhead);

    put_word(&record, OVERHEAD_KIND, CUPTI_OVERHEAD_LAZY_LOADING);
    put_long(&record, OVERHEAD_START, start_ns);
    put_long(&record, OVERHEAD_END, end_ns);
    keep(&record);
}

/* Faults of records meet those that stand for work with an id. */
void double_record(const struct double_command *command)
{
    struct double_command changed = *command;
    int64_t start_ns = command->start_ns, end_ns = command->end_ns;
    uint32_t stream = command->stream->number;
    struct record record;

    if (command->has_external && command->work_ns > 0) {
        if (double_fails(FAULT_DROPPED)) {
            state.n_dropped++;
            return;
        }
        if (double_fails(FAULT_MISSING))
            return;
        if (double_fails(FAULT_ZERO))
            start_ns = end_ns = 0;
        if (double_fails(FAULT_UNENDED))
            end_ns = 0;
        if (double_fails(FAULT_BACKWARDS))
            end_ns = start_ns - 1;
        if (double_fails(FAULT_OVERLAP_SMALL))
            start_ns -= 300;
        if (double_fails(FAULT_OVERLAP_LARGE))
            start_ns -= 5000;
        if (double_fails(FAULT_EARLY))
            start_ns = command->called_ns - 5000;
        if (double_fails(FAULT_LATE))
            end_ns += 1000000000;
        if (double_fails(FAULT_DRIFT)) {
            end_ns = command->called_ns + (end_ns - command->called_ns) / 50 * 49;
            start_ns = command->called_ns + (start_ns - command->called_ns) / 50 * 49;
        }
        if (double_fails(FAULT_MOVED))
            stream += 100;
        if (double_fails(FAULT_OTHER_KIND))
            changed.kind = changed.kind == DOUBLE_COPY ? DOUBLE_KERNEL : DOUBLE_COPY;
        if (command->kind == DOUBLE_COPY && double_fails(FAULT_BYTES))
            changed.bytes++;
        if (double_fails(FAULT_TWICE)) {
            record = of_command(&changed, start_ns, end_ns, stream);
            keep(&record);
        }
        if (double_fails(FAULT_LOADING))
            keep_loading(start_ns, end_ns);
        if (double_fails(FAULT_UNKNOWN_KIND)) {
            record = begin_record(77, 48);
            keep(&record);
        }
        if (double_fails(FAULT_STRANGER)) {
            struct double_command stranger = changed;
            struct record external =
                begin_record(CUPTI_KIND_EXTERNAL_CORRELATION, layouts[layout()].external);

            stranger.correlation += 1000000;
            put_word(&external, EXTERNAL_KIND, CUPTI_EXTERNAL_CUSTOM0);
            put_long(&external, EXTERNAL_ID, 1LL << 40);
            put_word(&external, EXTERNAL_CORRELATION, stranger.correlation);
            keep(&external);
            record = of_command(&stranger, start_ns, end_ns, stream);
            keep(&record);
        }
    }
    record = of_command(&changed, start_ns, end_ns, stream);
    keep(&record);
}

bool double_external(uint64_t *id)
{
    if (state.n_externals == 0)
        return false;
    *id = state.externals[state.n_externals - 1];
    return true;
}

void double_call(uint32_t call, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
    struct record record = begin_record(CUPTI_KIND_DRIVER, layouts[layout()].call);
    uint64_t id;

    put_word(&record, DRIVER_CALL, call);
    put_long(&record, DRIVER_START, start_ns);
    put_long(&record, DRIVER_END, end_ns);
    put_word(&record, DRIVER_CORRELATION, correlation);
    keep(&record);
    if (double_external(&id)) {
        record = begin_record(CUPTI_KIND_EXTERNAL_CORRELATION, layouts[layout()].external);
        put_word(&record, EXTERNAL_KIND, CUPTI_EXTERNAL_CUSTOM0);
        put_long(&record, EXTERNAL_ID, (int64_t)id);
        put_word(&record, EXTERNAL_CORRELATION, correlation);
        keep(&record);
    }
}

/* ---- the session ---- */

cupti_result cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)double_config.version * 10 + 1;
    return CUPTI_OK;
}

cupti_result cuptiGetResultString(cupti_result result, const char **text)
{
    *text = result == CUPTI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : result == CUPTI_MULTIPLE_SUBSCRIBERS
                ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                : "CUPTI_ERROR_OF_THE_DOUBLE";
    return CUPTI_OK;
}

cupti_result cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback *callback, void *arg)
{
    (void)callback;
    (void)arg;
    *subscriber = (cupti_subscriber)&state;
    return (cupti_result)double_config.fault[FAULT_SUBSCRIBE];
}

cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_request *request, cupti_buffer_done *done)
{
    state.request = request;
    state.done = done;
    return CUPTI_OK;
}

cupti_result cuptiActivityRegisterTimestampCallback(cupti_clock *now)
{
    state.clock = now;
    return CUPTI_OK;
}

cupti_result cuptiActivityEnable(cupti_kind kind)
{
    if (double_config.fault[FAULT_KIND] != 0 && kind == CUPTI_KIND_MEMSET)
        return (cupti_result)double_config.fault[FAULT_KIND];
    state.is_enabled[kind] = true;
    return CUPTI_OK;
}

cupti_result cuptiActivityDisable(cupti_kind kind)
{
    state.is_enabled[kind] = false;
    return CUPTI_OK;
}

/* The later half before the earlier one. */
static void shuffle(void)
{
    size_t half = state.n / 2;
    struct record *moved = malloc((state.n + 1) * sizeof *moved);

    if (moved == NULL)
        abort();
    memcpy(moved, state.records + half, (state.n - half) * sizeof *moved);
    memcpy(moved + (state.n - half), state.records, half * sizeof *moved);
    memcpy(state.records, moved, state.n * sizeof *moved);
    free(moved);
}

cupti_result cuptiActivityFlushAll(uint32_t flag)
{
    size_t next = 0;

    (void)flag;
    if (double_fails(FAULT_FLUSH))
        return CUPTI_UNKNOWN;
    while (double_config.fault[FAULT_FLUSH_HANGS] != 0 && double_fails(FAULT_FLUSH_HANGS)) {
        for (;;)
            (void)pause();
    }
    if (double_config.fault[FAULT_SHUFFLED] != 0)
        shuffle();
    while (next < state.n) {
        uint8_t *buffer;
        size_t bytes, most, used = 0;

        state.request(&buffer, &bytes, &most);
        while (next < state.n && used + state.records[next].size <= bytes) {
            memcpy(buffer + used, state.records[next].bytes, state.records[next].size);
            used += state.records[next++].size;
        }
        state.done(NULL, 0, buffer, bytes, double_fails(FAULT_SHORT) && used > 8 ? used - 8 : used);
    }
    state.n = 0;
    return CUPTI_OK;
}

static size_t size_of(const uint8_t *record)
{
    size_t l = layout();
    uint32_t kind;

    memcpy(&kind, record, sizeof kind);
    switch (kind) {
    case CUPTI_KIND_KERNEL:
        return layouts[l].kernel;
    case CUPTI_KIND_MEMCPY:
        return layouts[l].memcpy_;
    case CUPTI_KIND_MEMSET:
        return layouts[l].memset_;
    case CUPTI_KIND_DRIVER:
        return layouts[l].call;
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        return layouts[l].external;
    case CUPTI_KIND_OVERHEAD:
        return layouts[l].overhead;
    case 77:
        return 48;
    default:
        return 0;
    }
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, cupti_record *record)
{
    uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + size_of(*record);
    size_t used = (size_t)(next - buffer);

    if (used == valid_bytes)
        return CUPTI_MAX_LIMIT_REACHED;
    if (used + 4 > valid_bytes || size_of(next) == 0 || used + size_of(next) > valid_bytes)
        return CUPTI_UNKNOWN;
    *record = next;
    return CUPTI_OK;
}

cupti_result cuptiActivityGetNumDroppedRecords(cu_context context, uint32_t stream, size_t *n)
{
    (void)context;
    (void)stream;
    *n = state.n_dropped;
    state.n_dropped = 0;
    return CUPTI_OK;
}

cupti_result cuptiActivitySetAttribute(cupti_attribute attribute, size_t *bytes, void *value)
{
    (void)attribute;
    (void)bytes;
    (void)value;
    return CUPTI_OK;
}

cupti_result cuptiActivityPushExternalCorrelationId(cupti_external_kind kind, uint64_t id)
{
    (void)kind;
    if (state.n_externals < 16)
        state.externals[state.n_externals++] = id;
    return CUPTI_OK;
}

cupti_result cuptiActivityPopExternalCorrelationId(cupti_external_kind kind, uint64_t *id)
{
    (void)kind;
    if (state.n_externals == 0)
        return CUPTI_UNKNOWN;
    *id = state.externals[--state.n_externals];
    return CUPTI_OK;
}
