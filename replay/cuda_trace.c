/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one session with CUPTI.
 *
 * CUPTI asks for buffers and gives them back from any thread, inside calls of the driver: what it
 * calls here takes a lock that nobody holds while calling CUPTI or the driver, and calls neither. */
#include "replay/cuda_trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES ((size_t)4 << 20)
#define FIRST_BUFFERS 4
#define DEVICE_BUFFER_BYTES ((size_t)8 << 20) /* inside CUPTI: tens of thousands of records */
#define DEVICE_BUFFERS ((size_t)1000)

/* A buffer, free or full. */
struct buffer {
    struct buffer *after;
    uint8_t *memory;
    size_t valid_bytes;
};

/* See the header for why this is here. */
static struct {
    pthread_mutex_t lock;
    bool is_begun, has_failed, is_paused;
    char why_not[CUDA_WHY_BYTES]; /* when it failed: it is not tried again */
    struct cupti cupti;
    cupti_subscriber subscriber;
    struct buffer *idle, *full, *full_last;
    bool is_lost; /* memory for one ran out: CUPTI was given the spare */
    uint64_t last_id;
    FILE *kept; /* gets every buffer as it came; NULL: nobody asked for that */
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what CUPTI calls ---- */

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct buffer *make_buffer(void)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);

    if (buffer == NULL) {
        return NULL;
    }
    buffer->memory = aligned_alloc(4096, BUFFER_BYTES);
    if (buffer->memory == NULL) {
        free(buffer);
        return NULL;
    }
    memset(buffer->memory, 0, BUFFER_BYTES);
    return buffer;
}

/* The buffer's own struct is found again by the last bytes of its memory. */
static void hide(struct buffer *buffer)
{
    memcpy(buffer->memory + BUFFER_BYTES - sizeof buffer, &buffer, sizeof(buffer));
}

static struct buffer *seek(const uint8_t *memory)
{
    struct buffer *buffer;

    memcpy(&buffer, memory + BUFFER_BYTES - sizeof buffer, sizeof(buffer));
    return buffer;
}

static void request(uint8_t **memory, size_t *bytes, size_t *max_records)
{
    static _Alignas(8) uint8_t spare[4096]; /* some versions crash on none */
    struct buffer *buffer;

    (void)pthread_mutex_lock(&session.lock);
    buffer = session.idle;
    if (buffer != NULL) {
        session.idle = buffer->after;
    }
    (void)pthread_mutex_unlock(&session.lock);
    if (buffer == NULL) {
        buffer = make_buffer();
    }
    *max_records = 0;
    if (buffer == NULL) {
        (void)pthread_mutex_lock(&session.lock);
        session.is_lost = true;
        (void)pthread_mutex_unlock(&session.lock);
        *memory = spare;
        *bytes = sizeof spare;
        return;
    }
    hide(buffer);
    *memory = buffer->memory;
    *bytes = BUFFER_BYTES - sizeof buffer;
}

static void done(cu_context context, uint32_t stream, uint8_t *memory, size_t bytes,
                 size_t valid_bytes)
{
    struct buffer *buffer;

    (void)context;
    (void)stream;
    if (bytes < BUFFER_BYTES - sizeof buffer) { /* the spare */
        return;
    }
    buffer = seek(memory);
    buffer->valid_bytes = valid_bytes < bytes ? valid_bytes : bytes;
    buffer->after = NULL;
    (void)pthread_mutex_lock(&session.lock);
    if (session.full == NULL) {
        session.full = buffer;
    } else {
        session.full_last->after = buffer;
    }
    session.full_last = buffer;
    (void)pthread_mutex_unlock(&session.lock);
}

static void ignore(void *arg, int domain, uint32_t call, const void *data)
{
    (void)arg;
    (void)domain;
    (void)call;
    (void)data;
}

/* ---- beginning ---- */

static void say_refused(cupti_result result, const char *call, char *why_not)
{
    char text[CUDA_WHY_BYTES];

    (void)cupti_result_text(&session.cupti, result, text);
    if (result == CUPTI_INSUFFICIENT_PRIVILEGES || result == CUPTI_VIRTUALIZED_DEVICE) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "CUPTI may not be used by this user: %.80s; have the driver loaded with "
                       "NVreg_RestrictProfilingToAdminUsers=0, run as root, or start the container "
                       "with --cap-add=SYS_ADMIN (weir-replay(1), PERMISSION)",
                       text);
    } else if (result == CUPTI_MULTIPLE_SUBSCRIBERS) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "another profiler uses CUPTI in this process (%.80s): run without nsys, "
                       "ncu, compute-sanitizer, and without CUDA_INJECTION64_PATH",
                       text);
    } else {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "CUPTI refuses %s: %.200s", call, text);
    }
}

static void set_sizes(void)
{
    size_t bytes = sizeof(size_t);
    size_t device_bytes = DEVICE_BUFFER_BYTES, n = DEVICE_BUFFERS;

    /* Where it does not take them, its own sizes hold: too few show as dropped records. */
    (void)session.cupti.set_attribute(CUPTI_ATTR_DEVICE_BUFFER_BYTES, &bytes, &device_bytes);
    bytes = sizeof(size_t);
    (void)session.cupti.set_attribute(CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT, &bytes, &n);
}

static bool make_buffers(char *why_not)
{
    for (int i = 0; i < FIRST_BUFFERS; i++) {
        struct buffer *buffer = make_buffer();

        if (buffer == NULL) {
            (void)snprintf(why_not, CUDA_WHY_BYTES, "memory for CUPTI's records ran out");
            return false;
        }
        buffer->after = session.idle;
        session.idle = buffer;
    }
    return true;
}

/* Ids come with records only while records of calls are on. */
static const struct {
    int kind;
    const char *name;
} kinds[] = {{CUPTI_KIND_KERNEL, "records of kernels"},
             {CUPTI_KIND_MEMCPY, "records of copies"},
             {CUPTI_KIND_MEMSET, "records of memory that is set"},
             {CUPTI_KIND_DRIVER, "records of the driver's calls"},
             {CUPTI_KIND_OVERHEAD, "records of what itself costs"},
             {CUPTI_KIND_EXTERNAL_CORRELATION, "records of ids"}};

static bool enable_kinds(char *why_not)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cupti_result result = session.cupti.enable(kinds[i].kind);

        if (result != CUPTI_OK) {
            say_refused(result, kinds[i].name, why_not);
            while (i-- > 0) {
                (void)session.cupti.disable(kinds[i].kind);
            }
            return false;
        }
    }
    return true;
}

/* What CUPTI says, to the byte, for whoever wants to know why it is not believed. */
static bool open_kept(char *why_not)
{
    const char *path = getenv("WEIR_CUPTI_RECORDS");

    if (path == NULL || path[0] == '\0') {
        return true;
    }
    session.kept = fopen(path, "ab");
    if (session.kept == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES, "WEIR_CUPTI_RECORDS: %.200s cannot be written: %s",
                       path, strerror(errno));
    }
    return session.kept != NULL;
}

/* Each buffer after its length. */
static enum weir_status keep(const struct buffer *buffer, struct weir_error *err)
{
    uint64_t bytes = buffer->valid_bytes;

    if (session.kept == NULL) {
        return WEIR_OK;
    }
    if (fwrite(&bytes, sizeof bytes, 1, session.kept) != 1 ||
        fwrite(buffer->memory, 1, bytes, session.kept) != bytes || fflush(session.kept) != 0) {
        return weir_error_set(err, WEIR_STORE, "WEIR_CUPTI_RECORDS cannot be written: %s",
                              strerror(errno));
    }
    return WEIR_OK;
}

static bool begin(int driver_version, char *why_not)
{
    cupti_result result;

    if (!cupti_load(driver_version, &session.cupti, why_not)) {
        return false;
    }
    result = session.cupti.subscribe(&session.subscriber, ignore, NULL);
    if (result != CUPTI_OK) {
        say_refused(result, "to be subscribed to", why_not);
        return false;
    }
    if (session.cupti.register_timestamp == NULL) {
        (void)snprintf(why_not, CUDA_WHY_BYTES,
                       "CUPTI is too old to take the clock of the host: that of CUDA 11.6 or later "
                       "is needed");
        return false;
    }
    set_sizes();
    result = session.cupti.register_timestamp(monotonic_ns);
    if (result == CUPTI_OK) {
        result = session.cupti.register_callbacks(request, done);
    }
    if (result != CUPTI_OK) {
        say_refused(result, "callbacks", why_not);
        return false;
    }
    return make_buffers(why_not) && open_kept(why_not) && enable_kinds(why_not);
}

bool cuda_trace_begin(int driver_version, char why_not[CUDA_WHY_BYTES])
{
    if (!session.is_begun && !session.has_failed) {
        session.is_begun = begin(driver_version, session.why_not);
        session.has_failed = !session.is_begun;
    }
    if (session.has_failed) {
        memcpy(why_not, session.why_not, sizeof session.why_not);
    }
    return session.is_begun;
}

static void disable_kinds(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        (void)session.cupti.disable(kinds[i].kind);
    }
}

void cuda_trace_give_up(const char *why_not)
{
    disable_kinds();
    session.is_begun = false;
    session.has_failed = true;
    (void)snprintf(session.why_not, sizeof session.why_not, "%s", why_not);
}

enum weir_status cuda_trace_pause(bool is_paused, struct weir_error *err)
{
    char why[CUDA_WHY_BYTES];

    if (!session.is_begun || session.is_paused == is_paused) {
        return WEIR_OK;
    }
    session.is_paused = is_paused;
    if (is_paused) {
        disable_kinds();
    }
    return is_paused || enable_kinds(why)
               ? WEIR_OK
               : weir_error_set(err, WEIR_DEVICE, "CUPTI does not go on: %.300s", why);
}

/* ---- while it is on ---- */

uint64_t cuda_trace_next_id(void)
{
    return session.last_id + 1;
}

void cuda_trace_push(uint64_t id)
{
    session.last_id = id;
    (void)session.cupti.push_external(CUPTI_EXTERNAL_CUSTOM0, id);
}

void cuda_trace_pop(void)
{
    uint64_t id;

    (void)session.cupti.pop_external(CUPTI_EXTERNAL_CUSTOM0, &id);
}

static struct buffer *take_full(void)
{
    struct buffer *full;

    (void)pthread_mutex_lock(&session.lock);
    full = session.full;
    session.full = NULL;
    session.full_last = NULL;
    (void)pthread_mutex_unlock(&session.lock);
    return full;
}

static void give_back(struct buffer *buffer)
{
    (void)pthread_mutex_lock(&session.lock);
    buffer->after = session.idle;
    session.idle = buffer;
    (void)pthread_mutex_unlock(&session.lock);
}

static enum weir_status flush(uint32_t flag, struct cuda_records *out, struct weir_error *err)
{
    cupti_result result = session.cupti.flush_all(flag);
    enum weir_status status = WEIR_OK;
    char text[CUDA_WHY_BYTES];

    if (result != CUPTI_OK) {
        return weir_error_set(err, WEIR_DEVICE, "CUPTI does not give its records: %.200s",
                              cupti_result_text(&session.cupti, result, text));
    }
    for (struct buffer *full = take_full(), *after; full != NULL; full = after) {
        after = full->after;
        if (status == WEIR_OK) {
            status = keep(full, err);
        }
        if (status == WEIR_OK) {
            status = cuda_records_read(full->memory, full->valid_bytes, session.cupti.next_record,
                                       out, err);
        }
        give_back(full);
    }
    return status;
}

static void count_lost(struct cuda_records *out)
{
    size_t n = 0;

    if (session.cupti.n_dropped(NULL, 0, &n) == CUPTI_OK) {
        out->n_dropped += n;
    }
    (void)pthread_mutex_lock(&session.lock);
    out->n_dropped += session.is_lost;
    session.is_lost = false;
    (void)pthread_mutex_unlock(&session.lock);
}

enum weir_status cuda_trace_collect(struct cuda_records *out, struct weir_error *err)
{
    enum weir_status status;

    memset(out, 0, sizeof *out);
    status = flush(0, out, err);
    if (status == WEIR_OK) {
        status = flush(CUPTI_FLUSH_FORCED, out, err);
    }
    if (status == WEIR_OK) {
        count_lost(out);
        cuda_records_join(out);
    }
    if (status != WEIR_OK) {
        cuda_records_free(out);
    }
    return status;
}
