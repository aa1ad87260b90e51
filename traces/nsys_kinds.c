/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row of synchronization is. The name of its call tells; where the call is not in the file, the
 * fields of the row do; the number of its kind has changed its meaning several times, while the table
 * that explains the numbers stayed as it was, and is asked last. */
#include "traces/nsys_internal.h"

static enum nsys_wait_kind kind_by_api(const struct nsys *nsys, const struct nsys_sync *sync)
{
    if (sync->call == NSYS_NONE)
        return WAIT_IS_UNKNOWN;
    switch ((enum nsys_api)nsys->calls[sync->call].api) {
    case API_EVENT_SYNC:
    case API_EVENT_QUERY:
        return WAIT_FOR_EVENT;
    case API_STREAM_WAIT:
        return WAIT_STREAM_FOR_EVENT;
    case API_STREAM_SYNC:
    case API_STREAM_QUERY:
        return WAIT_FOR_STREAM;
    case API_CONTEXT_SYNC:
        return WAIT_FOR_CONTEXT;
    case API_OTHER:
    case API_FREE:
    case API_PIN:
    case API_MODULE_LOAD:
    case API_MEMORY_ASYNC:
    case API_BEGIN_CAPTURE:
    case API_END_CAPTURE:
    case API_COPY:
        break;
    }
    return WAIT_IS_UNKNOWN;
}

/* Bits of the columns eventId and streamId in the list of nsys_schema.c. */
#define STREAM_COLUMN (1U << 3)
#define EVENT_COLUMN (1U << 7)

static enum nsys_wait_kind kind_by_fields(const struct nsys *nsys, const struct nsys_sync *sync)
{
    bool has_stream = sync->stream != NSYS_NO_ID && sync->stream >= 0;

    if (sync->event != NSYS_NO_ID && sync->event >= 0)
        return has_stream ? WAIT_STREAM_FOR_EVENT : WAIT_FOR_EVENT;
    if ((nsys->tables[NSYS_SYNC].missing & EVENT_COLUMN) != 0)
        return WAIT_IS_UNKNOWN;
    if (has_stream)
        return WAIT_FOR_STREAM;
    return (nsys->tables[NSYS_SYNC].missing & STREAM_COLUMN) != 0 ? WAIT_IS_UNKNOWN
                                                                  : WAIT_FOR_CONTEXT;
}

/* What the numbers meant, by version, joined to names of calls in files of each. One that stands for
 * two kinds is taken for the wait of the host, which orders more. */
static enum nsys_wait_kind kind_by_type(const struct nsys *nsys, int64_t type)
{
    static const enum nsys_wait_kind until_2024_2[5] = {
        WAIT_IS_UNKNOWN, WAIT_FOR_CONTEXT, WAIT_FOR_EVENT, WAIT_FOR_STREAM, WAIT_IS_UNKNOWN};
    static const enum nsys_wait_kind at_2024_6_2_0[5] = {
        WAIT_FOR_CONTEXT, WAIT_FOR_EVENT, WAIT_FOR_STREAM, WAIT_IS_UNKNOWN, WAIT_IS_UNKNOWN};
    static const enum nsys_wait_kind from_2024_6_2_25[5] = {
        WAIT_IS_UNKNOWN, WAIT_FOR_EVENT, WAIT_FOR_STREAM, WAIT_IS_UNKNOWN, WAIT_FOR_CONTEXT};
    static const enum nsys_wait_kind from_2026_2[5] = {
        WAIT_IS_UNKNOWN, WAIT_FOR_EVENT, WAIT_STREAM_FOR_EVENT, WAIT_FOR_STREAM, WAIT_FOR_CONTEXT};

    if (type < 0 || type > 4)
        return WAIT_IS_UNKNOWN;
    if (nsys_is_at_least(nsys, 2026, 2, 0, 0))
        return from_2026_2[type];
    if (nsys_is_at_least(nsys, 2024, 6, 2, 25))
        return from_2024_6_2_25[type];
    if (nsys_is_at_least(nsys, 2024, 6, 0, 0))
        return at_2024_6_2_0[type];
    return until_2024_2[type];
}

enum nsys_wait_kind nsys_kind_of(struct nsys *nsys, const struct nsys_sync *sync)
{
    enum nsys_wait_kind kind = kind_by_api(nsys, sync);

    if (kind != WAIT_IS_UNKNOWN) {
        nsys->counts.by_api++;
        return kind;
    }
    kind = kind_by_fields(nsys, sync);
    if (kind != WAIT_IS_UNKNOWN) {
        nsys->counts.by_fields++;
        return kind;
    }
    nsys->counts.by_type++;
    return kind_by_type(nsys, sync->sync_type);
}
