/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records on their way to whoever asked for them. CUPTI asks for buffers and gives them back holding
 * a lock of its own: whoever calls CUPTI with a lock that its callbacks take would wait for ever. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/double/records.h"

#define SCATTERED 4 /* buffers at once */
#define KINDS 128

static struct {
    pthread_mutex_t lock;
    cupti_buffer_request *request;
    cupti_buffer_done *done;
    bool is_enabled[KINDS];
    struct record *records; /* that have not been given out */
    size_t n, room;
    size_t n_lost;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void buffers_set_callbacks(cupti_buffer_request *request, cupti_buffer_done *done)
{
    state.request = request;
    state.done = done;
}

void buffers_enable(cupti_kind kind, bool is_enabled)
{
    (void)pthread_mutex_lock(&state.lock);
    state.is_enabled[kind] = is_enabled;
    (void)pthread_mutex_unlock(&state.lock);
}

bool buffers_keep_kind(cupti_kind kind)
{
    bool is_enabled;

    (void)pthread_mutex_lock(&state.lock);
    is_enabled = state.is_enabled[kind];
    (void)pthread_mutex_unlock(&state.lock);
    return is_enabled;
}

/* Those of later kinds nobody can ask for by name. */
static bool is_wanted(uint32_t kind)
{
    return kind == RECORD_LATER || kind == RECORD_NAMELESS || state.is_enabled[kind];
}

void buffers_keep(const struct record *record)
{
    bool are_many;

    (void)pthread_mutex_lock(&state.lock);
    if (is_wanted(record_kind(record->bytes))) {
        if (state.n == state.room) {
            state.room = state.room * 2 + 64;
            state.records = realloc(state.records, state.room * sizeof *state.records);
            if (state.records == NULL)
                abort();
        }
        state.records[state.n++] = *record;
    }
    are_many = double_config.eager > 0 && state.n >= (size_t)double_config.eager;
    (void)pthread_mutex_unlock(&state.lock);
    if (are_many)
        double_soon(buffers_give);
}

void buffers_lose(void)
{
    (void)pthread_mutex_lock(&state.lock);
    state.n_lost++;
    (void)pthread_mutex_unlock(&state.lock);
}

size_t buffers_lost(void)
{
    size_t n;

    (void)pthread_mutex_lock(&state.lock);
    n = state.n_lost;
    state.n_lost = 0;
    (void)pthread_mutex_unlock(&state.lock);
    return n;
}

/* ---- what goes wrong with all of them ---- */

static int64_t time_at(const struct record *record, size_t offset)
{
    int64_t ns;

    memcpy(&ns, record->bytes + offset, sizeof ns);
    return ns;
}

static void add_time(struct record *record, size_t offset, int64_t ns)
{
    ns += time_at(record, offset);
    memcpy(record->bytes + offset, &ns, sizeof ns);
}

/* @param from_ns those that begin later; what the host did has the host's clock */
static void shift(int64_t from_ns, int64_t by_ns)
{
    struct record_times at;

    for (size_t i = 0; i < state.n; i++) {
        struct record *record = &state.records[i];

        if (record_times_at(record_kind(record->bytes), &at) &&
            time_at(record, at.start) > from_ns) {
            add_time(record, at.start, by_ns);
            add_time(record, at.end, by_ns);
        }
    }
}

/* Halfway from the first begin to the last. */
static int64_t middle_ns(void)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;
    struct record_times at;

    for (size_t i = 0; i < state.n; i++) {
        if (record_times_at(record_kind(state.records[i].bytes), &at)) {
            int64_t ns = time_at(&state.records[i], at.start);

            first_ns = ns < first_ns ? ns : first_ns;
            last_ns = ns > last_ns ? ns : last_ns;
        }
    }
    return last_ns == 0 ? 0 : first_ns + (last_ns - first_ns) / 2;
}

static void shift_as_told(void)
{
    if (double_fails(FAULT_AHEAD))
        shift(0, double_config.shift_ns);
    if (double_fails(FAULT_BEHIND))
        shift(0, -double_config.shift_ns);
    if (double_fails(FAULT_JUMP))
        shift(middle_ns(), double_config.shift_ns);
    if (double_fails(FAULT_JUMP_BACK))
        shift(middle_ns(), -double_config.shift_ns);
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

/* ---- giving out ---- */

struct filling {
    uint8_t *memory;
    size_t bytes, used;
};

static void ask(struct filling *filling)
{
    size_t most;

    state.request(&filling->memory, &filling->bytes, &most);
    filling->used = 0;
}

static bool put(struct filling *filling, const struct record *record)
{
    if (filling->used + record->size > filling->bytes)
        return false;
    memcpy(filling->memory + filling->used, record->bytes, record->size);
    filling->used += record->size;
    return true;
}

static void give(const struct filling *filling)
{
    bool is_short = double_fails(FAULT_SHORT) && filling->used > 8;

    state.done(NULL, 0, filling->memory, filling->bytes, filling->used - (is_short ? 8 : 0));
}

static void give_in_order(void)
{
    struct filling filling;

    for (size_t next = 0; next < state.n; give(&filling)) {
        ask(&filling);
        while (next < state.n && put(&filling, &state.records[next]))
            next++;
    }
}

/* From the last record to the first, each in the next of several buffers; the last buffer is the first
 * to be done. */
static void give_scattered(void)
{
    struct filling fillings[SCATTERED];
    size_t left = state.n;

    while (left > 0) {
        for (size_t b = 0; b < SCATTERED; b++)
            ask(&fillings[b]);
        for (size_t b = 0; left > 0 && put(&fillings[b], &state.records[left - 1]); left--)
            b = (b + 1) % SCATTERED;
        for (size_t b = SCATTERED; b-- > 0;)
            give(&fillings[b]);
    }
}

void buffers_give(void)
{
    (void)pthread_mutex_lock(&state.lock);
    if (state.n > 0) {
        shift_as_told();
        if (double_config.fault[FAULT_SHUFFLED] != 0)
            shuffle();
        if (double_config.fault[FAULT_SCATTERED] != 0)
            give_scattered();
        else
            give_in_order();
        state.n = 0;
    }
    (void)pthread_mutex_unlock(&state.lock);
}

/* ---- walking ---- */

static cupti_result walk_wrong(uint8_t *buffer, size_t valid_bytes, cupti_record *record)
{
    switch (double_config.walk) {
    case WALK_REFUSES:
        return CUPTI_INVALID_KIND;
    case WALK_ENDS:
        return CUPTI_MAX_LIMIT_REACHED;
    case WALK_STAYS:
        return CUPTI_OK;
    case WALK_ESCAPES:
        *record = buffer + valid_bytes + RECORD_BYTES;
        return CUPTI_OK;
    }
    abort();
}

cupti_result buffers_next(uint8_t *buffer, size_t valid_bytes, cupti_record *record)
{
    uint8_t *next = buffer;
    size_t used;

    if (*record != NULL) {
        size_t size = record_size(record_kind(*record));

        if (size == 0)
            return walk_wrong(buffer, valid_bytes, record);
        next = (uint8_t *)*record + size;
    }
    used = (size_t)(next - buffer);
    if (used == valid_bytes)
        return CUPTI_MAX_LIMIT_REACHED;
    if (used + sizeof(uint32_t) > valid_bytes ||
        used + record_size(record_kind(next)) > valid_bytes)
        return CUPTI_UNKNOWN;
    *record = next;
    return CUPTI_OK;
}
