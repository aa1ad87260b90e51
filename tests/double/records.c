/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of what the device did, in the layout of any version, right or wrong. */
#include "tests/double/records.h"

#include <stdlib.h>
#include <string.h>

/* How long records are, in bytes, by version of CUDA: kernel, memcpy, memset, call, external,
 * overhead. Source: notes on the layouts of CUDA 11.2 to 13.4; the last is made up. */
static const struct {
    int layout;
    size_t kernel, memcpy_, memset_, call, external, overhead;
} layouts[] = {{1120, 168, 80, 80, 40, 24, 40},    {1180, 200, 88, 88, 40, 24, 40},
               {1230, 208, 88, 88, 40, 24, 48},    {1280, 208, 96, 88, 40, 24, 56},
               {1300, 216, 96, 88, 40, 24, 56},    {1340, 248, 112, 104, 40, 24, 56},
               {9990, 408, 264, 200, 136, 72, 128}};

static size_t layout(void)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].layout == double_config.layout)
            return i;
    }
    abort();
}

size_t record_size(uint32_t kind)
{
    size_t l = layout();

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
    case RECORD_LATER:
        return 48;
    default:
        return 0;
    }
}

uint32_t record_kind(const uint8_t *record)
{
    uint32_t kind;

    memcpy(&kind, record, sizeof kind);
    return kind;
}

bool record_times_at(uint32_t kind, struct record_times *out)
{
    switch (kind) {
    case CUPTI_KIND_KERNEL:
        *out = (struct record_times){KERNEL_START, KERNEL_END};
        return true;
    case CUPTI_KIND_MEMCPY:
        *out = (struct record_times){MEMCPY_START, MEMCPY_END};
        return true;
    case CUPTI_KIND_MEMSET:
        *out = (struct record_times){MEMSET_START, MEMSET_END};
        return true;
    default:
        return false;
    }
}

/* ---- making ---- */

static void put_word(struct record *record, size_t offset, uint64_t value)
{
    uint32_t word = (uint32_t)value;

    memcpy(record->bytes + offset, &word, sizeof word);
}

static void put_long(struct record *record, size_t offset, int64_t value)
{
    memcpy(record->bytes + offset, &value, sizeof value);
}

/* What no version has written yet is no 0 for whoever reads it. */
static struct record begin_record(int kind)
{
    struct record record = {.size = record_size((uint32_t)kind)};

    if (double_config.layout == layouts[sizeof layouts / sizeof *layouts - 1].layout)
        memset(record.bytes, 0xa5, sizeof record.bytes);
    put_word(&record, 0, (uint32_t)kind);
    return record;
}

static struct record of_command(const struct double_command *command, int64_t start_ns,
                                int64_t end_ns, uint32_t stream)
{
    struct record record;

    if (command->kind == DOUBLE_KERNEL) {
        record = begin_record(CUPTI_KIND_KERNEL);
        put_long(&record, KERNEL_START, start_ns);
        put_long(&record, KERNEL_END, end_ns);
        put_word(&record, KERNEL_STREAM, stream);
        put_word(&record, KERNEL_CORRELATION, command->correlation);
    } else if (command->kind == DOUBLE_COPY) {
        record = begin_record(CUPTI_KIND_MEMCPY);
        record.bytes[MEMCPY_COPY_KIND] = (uint8_t)command->copy_kind;
        put_long(&record, MEMCPY_BYTES, command->bytes);
        put_long(&record, MEMCPY_START, start_ns);
        put_long(&record, MEMCPY_END, end_ns);
        put_word(&record, MEMCPY_STREAM, stream);
        put_word(&record, MEMCPY_CORRELATION, command->correlation);
    } else {
        record = begin_record(CUPTI_KIND_MEMSET);
        put_long(&record, MEMSET_BYTES, command->bytes);
        put_long(&record, MEMSET_START, start_ns);
        put_long(&record, MEMSET_END, end_ns);
        put_word(&record, MEMSET_STREAM, stream);
        put_word(&record, MEMSET_CORRELATION, command->correlation);
    }
    return record;
}

static void keep_external(uint64_t id, uint32_t correlation)
{
    struct record record = begin_record(CUPTI_KIND_EXTERNAL_CORRELATION);

    put_word(&record, EXTERNAL_KIND, CUPTI_EXTERNAL_CUSTOM0);
    put_long(&record, EXTERNAL_ID, (int64_t)id);
    put_word(&record, EXTERNAL_CORRELATION, correlation);
    buffers_keep(&record);
}

void double_call(uint32_t call, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
    struct record record = begin_record(CUPTI_KIND_DRIVER);
    uint64_t id;

    put_word(&record, DRIVER_CALL, call);
    put_long(&record, DRIVER_START, start_ns);
    put_long(&record, DRIVER_END, end_ns);
    put_word(&record, DRIVER_CORRELATION, correlation);
    buffers_keep(&record);
    if (double_external(&id))
        keep_external(id, correlation);
}

/* ---- wrong ones ---- */

static void keep_loading(int64_t start_ns, int64_t end_ns)
{
    struct record record = begin_record(CUPTI_KIND_OVERHEAD);

    put_word(&record, OVERHEAD_KIND, CUPTI_OVERHEAD_LAZY_LOADING);
    put_long(&record, OVERHEAD_START, start_ns);
    put_long(&record, OVERHEAD_END, end_ns);
    buffers_keep(&record);
}

/* Other records that come before it. */
static void keep_others(const struct double_command *command, int64_t start_ns, int64_t end_ns,
                        uint32_t stream)
{
    struct record record;

    if (double_fails(FAULT_TWICE)) {
        record = of_command(command, start_ns, end_ns, stream);
        buffers_keep(&record);
    }
    if (double_fails(FAULT_LOADING))
        keep_loading(start_ns, end_ns);
    if (double_fails(FAULT_UNKNOWN_KIND)) {
        record = begin_record(RECORD_LATER);
        buffers_keep(&record);
    }
    if (double_fails(FAULT_NAMELESS)) {
        record = begin_record(RECORD_NAMELESS);
        record.size = 40;
        buffers_keep(&record);
    }
    if (double_fails(FAULT_STRANGER)) {
        struct double_command stranger = *command;

        stranger.correlation += 1000000;
        keep_external((uint64_t)1 << 40, stranger.correlation);
        record = of_command(&stranger, start_ns, end_ns, stream);
        buffers_keep(&record);
    }
}

/* @return false when there is none at all */
static bool go_wrong(struct double_command *command, uint32_t *stream)
{
    int64_t called_ns = command->called_ns;

    if (double_fails(FAULT_DROPPED)) {
        buffers_lose();
        return false;
    }
    if (double_fails(FAULT_MISSING))
        return false;
    if (double_fails(FAULT_ZERO))
        command->start_ns = command->end_ns = 0;
    if (double_fails(FAULT_UNENDED))
        command->end_ns = 0;
    if (double_fails(FAULT_BACKWARDS))
        command->end_ns = command->start_ns - 1;
    if (double_fails(FAULT_OVERLAP_SMALL))
        command->start_ns -= 300;
    if (double_fails(FAULT_OVERLAP_LARGE))
        command->start_ns -= 5000;
    if (double_fails(FAULT_EARLY))
        command->start_ns = called_ns - 10000000;
    if (double_fails(FAULT_LATE))
        command->end_ns += 1000000000;
    if (double_fails(FAULT_DRIFT)) {
        command->end_ns = called_ns + (command->end_ns - called_ns) / 50 * 49;
        command->start_ns = called_ns + (command->start_ns - called_ns) / 50 * 49;
    }
    if (double_fails(FAULT_MOVED))
        *stream += 100;
    if (double_fails(FAULT_OTHER_KIND))
        command->kind = command->kind == DOUBLE_COPY ? DOUBLE_KERNEL : DOUBLE_COPY;
    if (command->kind == DOUBLE_COPY && double_fails(FAULT_BYTES))
        command->bytes++;
    return true;
}

/* Faults of records meet those that stand for work with an id. */
void double_record(const struct double_command *command)
{
    struct double_command changed = *command;
    uint32_t stream = command->stream->number;
    struct record record;

    if (command->has_external && command->work_ns > 0) {
        if (!go_wrong(&changed, &stream))
            return;
        keep_others(&changed, changed.start_ns, changed.end_ns, stream);
    }
    record = of_command(&changed, changed.start_ns, changed.end_ns, stream);
    buffers_keep(&record);
}
