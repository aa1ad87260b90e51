/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activity records of any bytes: reading them never fails but for want of memory or by saying so. */
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record's fifth byte says how long it is, in words of 8 bytes. */
static cupti_result next(uint8_t *buffer, size_t valid_bytes, cupti_record *record)
{
    size_t at = 0;

    if (*record != NULL) {
        const uint8_t *last = *record;

        if ((size_t)(last - buffer) + 4 >= valid_bytes) {
            return CUPTI_UNKNOWN;
        }
        at = (size_t)(last - buffer) + (size_t)(last[4] % 32 + 1) * 8;
    }
    if (at >= valid_bytes) {
        return at == valid_bytes ? CUPTI_MAX_LIMIT_REACHED : CUPTI_UNKNOWN;
    }
    *record = buffer + at;
    return CUPTI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *buffer = malloc(size + 1);
    struct cuda_records records = {.n_records = 0};
    struct weir_error err = {.status = WEIR_OK};
    enum weir_status status;

    if (buffer == NULL) {
        return 0;
    }
    memcpy(buffer, data, size);
    status = cuda_records_read(buffer, size, next, &records, &err);
    cuda_records_join(&records);
    if (status != WEIR_OK && err.text[0] == '\0') {
        abort();
    }
    for (size_t i = 0; i < records.n_records; i++) {
        if (records.records[i].start_ns < 0 || records.records[i].end_ns < 0) {
            abort();
        }
    }
    cuda_records_free(&records);
    free(buffer);
    return 0;
}
