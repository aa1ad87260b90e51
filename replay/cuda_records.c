/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activity records, read field by field. A kind that is not known is passed over: newer CUPTIs have
 * more. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/cuda_trace.h"

static uint32_t word_at(const unsigned char *record, size_t offset)
{
    uint32_t value;

    memcpy(&value, record + offset, sizeof value);
    return value;
}

static uint64_t long_at(const unsigned char *record, size_t offset)
{
    uint64_t value;

    memcpy(&value, record + offset, sizeof value);
    return value;
}

/* A time that no clock of nanoseconds reaches is none: 0. */
static int64_t time_at(const unsigned char *record, size_t offset)
{
    uint64_t value = long_at(record, offset);

    return value > INT64_MAX ? 0 : (int64_t)value;
}

static enum weir_status add_record(struct cuda_records *out, const struct cuda_record *record,
                                   struct weir_error *err)
{
    enum weir_status status =
        array_grow(&out->records, &out->records_room, out->n_records + 1, err);

    if (status == WEIR_OK) {
        out->records[out->n_records++] = *record;
    }
    return status;
}

static enum weir_status add_external(struct cuda_records *out, const unsigned char *record,
                                     struct weir_error *err)
{
    enum weir_status status;

    if (word_at(record, EXTERNAL_KIND) != CUPTI_EXTERNAL_CUSTOM0) {
        return WEIR_OK;
    }
    status = array_grow(&out->externals, &out->externals_room, out->n_externals + 1, err);
    if (status == WEIR_OK) {
        out->externals[out->n_externals++] = (struct cuda_external){
            word_at(record, EXTERNAL_CORRELATION), long_at(record, EXTERNAL_ID)};
    }
    return status;
}

static enum weir_status add_overhead(struct cuda_records *out, const unsigned char *record,
                                     struct weir_error *err)
{
    enum weir_status status =
        array_grow(&out->overheads, &out->overheads_room, out->n_overheads + 1, err);

    if (status == WEIR_OK) {
        out->overheads[out->n_overheads++] =
            (struct cuda_overhead){(int)word_at(record, OVERHEAD_KIND),
                                   time_at(record, OVERHEAD_START), time_at(record, OVERHEAD_END)};
    }
    return status;
}

static enum weir_status read_one(const unsigned char *record, struct cuda_records *out,
                                 struct weir_error *err)
{
    switch (word_at(record, 0)) {
    case CUPTI_KIND_KERNEL:
        return add_record(out,
                          &(struct cuda_record){.kind = RECORD_KERNEL,
                                                .correlation = word_at(record, KERNEL_CORRELATION),
                                                .stream = word_at(record, KERNEL_STREAM),
                                                .start_ns = time_at(record, KERNEL_START),
                                                .end_ns = time_at(record, KERNEL_END)},
                          err);
    case CUPTI_KIND_MEMCPY:
        return add_record(out,
                          &(struct cuda_record){.kind = RECORD_MEMCPY,
                                                .correlation = word_at(record, MEMCPY_CORRELATION),
                                                .stream = word_at(record, MEMCPY_STREAM),
                                                .start_ns = time_at(record, MEMCPY_START),
                                                .end_ns = time_at(record, MEMCPY_END),
                                                .bytes = time_at(record, MEMCPY_BYTES)},
                          err);
    case CUPTI_KIND_MEMSET:
        return add_record(out,
                          &(struct cuda_record){.kind = RECORD_MEMSET,
                                                .correlation = word_at(record, MEMSET_CORRELATION),
                                                .stream = word_at(record, MEMSET_STREAM),
                                                .start_ns = time_at(record, MEMSET_START),
                                                .end_ns = time_at(record, MEMSET_END),
                                                .bytes = time_at(record, MEMSET_BYTES)},
                          err);
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        return add_external(out, record, err);
    case CUPTI_KIND_OVERHEAD:
        return add_overhead(out, record, err);
    default:
        return WEIR_OK;
    }
}

/* So many bytes of a record are read. */
static size_t bytes_read(uint32_t kind)
{
    switch (kind) {
    case CUPTI_KIND_KERNEL:
        return KERNEL_CORRELATION + sizeof(uint32_t);
    case CUPTI_KIND_MEMCPY:
        return MEMCPY_CORRELATION + sizeof(uint32_t);
    case CUPTI_KIND_MEMSET:
        return MEMSET_CORRELATION + sizeof(uint32_t);
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        return EXTERNAL_CORRELATION + sizeof(uint32_t);
    case CUPTI_KIND_OVERHEAD:
        return OVERHEAD_END + sizeof(uint64_t);
    default:
        return sizeof kind;
    }
}

/* The record lies in the buffer, and after the one before: a library that meets a kind it does not
 * know itself may go anywhere. @param from where the next record can begin at the earliest */
static bool is_within(const uint8_t *buffer, size_t valid_bytes, size_t from, const uint8_t *record)
{
    uintptr_t begin = (uintptr_t)buffer, at = (uintptr_t)record;
    size_t left;

    if (at < begin + from || at - begin > valid_bytes) {
        return false;
    }
    left = valid_bytes - (at - begin);
    return left >= sizeof(uint32_t) && left >= bytes_read(word_at(record, 0));
}

enum weir_status cuda_records_read(uint8_t *buffer, size_t valid_bytes,
                                   cupti_result (*next)(uint8_t *buffer, size_t valid_bytes,
                                                        cupti_record *record),
                                   struct cuda_records *out, struct weir_error *err)
{
    cupti_record record = NULL;
    enum weir_status status = WEIR_OK;
    cupti_result result = CUPTI_OK;
    size_t from = 0;

    while (status == WEIR_OK && valid_bytes > 0) {
        result = next(buffer, valid_bytes, &record);
        if (result != CUPTI_OK || !is_within(buffer, valid_bytes, from, record)) {
            break;
        }
        from = (size_t)((uint8_t *)record - buffer) + bytes_read(word_at(record, 0));
        status = read_one(record, out, err);
    }
    if (status == WEIR_OK && valid_bytes > 0 && result != CUPTI_MAX_LIMIT_REACHED) {
        out->is_broken = true;
    }
    return status;
}

static int compare_externals(const void *a, const void *b)
{
    const struct cuda_external *x = a;
    const struct cuda_external *y = b;

    if (x->correlation != y->correlation) {
        return x->correlation < y->correlation ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

void cuda_records_join(struct cuda_records *records)
{
    struct cuda_external *externals = records->externals;

    if (records->n_externals > 0) {
        qsort(externals, records->n_externals, sizeof *externals, compare_externals);
    }
    for (size_t i = 1; i < records->n_externals; i++) {
        if (externals[i].correlation == externals[i - 1].correlation) {
            records->has_two_ids = true;
        }
    }
    for (size_t i = 0; i < records->n_records; i++) {
        struct cuda_record *record = &records->records[i];
        size_t low = 0, high = records->n_externals;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (externals[middle].correlation < record->correlation) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        record->external_id =
            low < records->n_externals && externals[low].correlation == record->correlation
                ? externals[low].id
                : 0;
    }
}

void cuda_records_free(struct cuda_records *records)
{
    free(records->records);
    free(records->overheads);
    free(records->externals);
}
