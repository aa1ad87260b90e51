/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUPTI's records: made by records.c, kept and given out by buffers.c. */
#ifndef WEIR_TESTS_DOUBLE_RECORDS_H
#define WEIR_TESTS_DOUBLE_RECORDS_H

#include "tests/double/double.h"

#define RECORD_BYTES 512 /* no record is longer */

/* Kinds of later versions: one that CUPTI knows, and one that it does not. */
enum { RECORD_LATER = 77, RECORD_NAMELESS = 78 };

#define CUPTI_INVALID_KIND 21 /* what it says then */

struct record {
    uint8_t bytes[RECORD_BYTES];
    size_t size;
};

/* Where a record of the device's work has its times. */
struct record_times {
    size_t start, end;
};

/** How long records of that kind are, in the layout that was asked for; 0: CUPTI does not know. */
size_t record_size(uint32_t kind);
uint32_t record_kind(const uint8_t *record);
/** @return false when the record is not of the device's work */
bool record_times_at(uint32_t kind, struct record_times *out);

/* ---- buffers.c; any thread may call these ---- */

void buffers_set_callbacks(cupti_buffer_request *request, cupti_buffer_done *done);
/** Records of that kind are kept from now on, or are not. */
void buffers_enable(cupti_kind kind, bool is_enabled);
bool buffers_keep_kind(cupti_kind kind);
/** For the next buffer, when somebody wants its kind. */
void buffers_keep(const struct record *record);
/** One was lost; @return how many since the last time */
void buffers_lose(void);
size_t buffers_lost(void);
/** All that were kept go out in buffers. */
void buffers_give(void);
/** As cuptiActivityGetNextRecord. */
cupti_result buffers_next(uint8_t *buffer, size_t valid_bytes, cupti_record *record);

#endif
