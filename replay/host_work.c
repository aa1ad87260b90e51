/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a step does: its buffers, its tags, its work, its stamps. Work is a fixed amount, cut in
 * pieces of some tens of microseconds so that a run that was stopped ends soon. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/host.h"
#include "replay/host_internal.h"
#include "replay/steps.h"

#define PIECE_ITERATIONS 8192
#define PIECE_BYTES (512 << 10)
#define PIECE_MIX_BYTES (64 << 10)

/* Results of the loops end here, where no compiler can do without them. */
static _Thread_local volatile double sink_ratio;
static _Thread_local volatile uint64_t sink_sum;

static int64_t processor_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- buffers ---- */

static const char *object_name(const struct host *host, uint32_t buffer, char *out,
                               size_t out_bytes)
{
    weir_object object = host->setup.buffers[buffer].object;

    if (host->setup.graph != NULL && weir_is(object))
        return graph_object_name(host->setup.graph, object);
    (void)snprintf(out, out_bytes, "buffer %u", buffer);
    return out;
}

/* Gets the buffer's memory, with no valid tag in it. @return false when there is none */
static bool begin_buffer(struct host *host, uint32_t index)
{
    const struct device_buffer *given = &host->setup.buffers[index];
    struct host_buffer *buffer = &host->buffers[index];
    static const uint64_t no_tag;
    unsigned char *memory;

    memory = host_pool_take(&host->pool, given->size_bytes, given->align_bytes, &buffer->got_bytes);
    if (memory == NULL)
        return false;
    for (uint32_t i = 0; i < given->n_stretches; i++)
        memcpy(memory + given->stretches[i].offset, &no_tag, sizeof no_tag);
    atomic_store(&buffer->memory, memory);
    return true;
}

static void end_buffer(struct host *host, uint32_t index)
{
    struct host_buffer *buffer = &host->buffers[index];
    unsigned char *memory = atomic_exchange(&buffer->memory, NULL);

    if (memory != NULL)
        host_pool_give(&host->pool, memory, buffer->got_bytes);
}

enum weir_status host_buffers_reset(struct host *host, struct weir_error *err)
{
    for (uint32_t i = 0; i < host->setup.n_buffers; i++) {
        const struct device_buffer *given = &host->setup.buffers[i];
        unsigned char *memory;

        end_buffer(host, i);
        atomic_store(&host->buffers[i].n_uses_left, given->n_uses);
        if (!given->is_initial)
            continue;
        if (!begin_buffer(host, i)) {
            char name[160];

            return weir_error_set(err, WEIR_DEVICE,
                                  "%s needs %lld bytes before the run, and %lld are to be used in "
                                  "all: use a smaller --scale-bytes",
                                  object_name(host, i, name, sizeof name),
                                  (long long)given->size_bytes,
                                  (long long)host->setup.memory_bytes);
        }
        memory = atomic_load(&host->buffers[i].memory);
        for (uint32_t s = 0; s < given->n_stretches; s++)
            memcpy(memory + given->stretches[s].offset, &given->stretches[s].tag,
                   sizeof given->stretches[s].tag);
    }
    return WEIR_OK;
}

static bool fail_memory(struct host *host, uint32_t step, uint32_t buffer)
{
    char step_name[160];
    char buffer_name[160];

    host_fail(host, WEIR_DEVICE,
              "%s cannot have the %lld bytes of %s: %lld may be used in all; use a smaller "
              "--scale-bytes",
              host_step_name(host, step, step_name, sizeof step_name),
              (long long)host->setup.buffers[buffer].size_bytes,
              object_name(host, buffer, buffer_name, sizeof buffer_name),
              (long long)host->setup.memory_bytes);
    return false;
}

/* Buffers that begin with the first step that writes to them: several may be first at once. */
static bool begin_written(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;

    for (uint32_t i = 0; i < step->n_writes; i++) {
        uint32_t b = step->writes[i].buffer;
        bool is_there = true;

        if (weir_is((weir_node){host->setup.buffers[b].allocate_step}) ||
            atomic_load(&host->buffers[b].memory) != NULL)
            continue;
        (void)pthread_mutex_lock(&host->buffer_lock);
        if (atomic_load(&host->buffers[b].memory) == NULL)
            is_there = begin_buffer(host, b);
        (void)pthread_mutex_unlock(&host->buffer_lock);
        if (!is_there)
            return fail_memory(host, index, b);
    }
    return true;
}

static void end_used(struct host *host, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_uses; i++) {
        const struct device_buffer *given = &host->setup.buffers[step->uses[i]];
        struct host_buffer *buffer = &host->buffers[step->uses[i]];

        if (given->n_uses != 0 && given->reclaim_step == WEIR_NONE &&
            atomic_fetch_sub(&buffer->n_uses_left, 1) == 1)
            end_buffer(host, step->uses[i]);
    }
}

/* ---- tags ---- */

static bool fail_tag(struct host *host, uint32_t step, const struct step_buffer *read,
                     const uint64_t *found)
{
    char step_name[160];
    char buffer_name[160];
    char what[64] = "no such bytes";

    if (found != NULL && *found == 0)
        (void)snprintf(what, sizeof what, "bytes that nothing wrote");
    else if (found != NULL)
        (void)snprintf(what, sizeof what, "other data (tag %016llx, not %016llx)",
                       (unsigned long long)*found, (unsigned long long)read->tag);
    host_fail(host, WEIR_DEVICE,
              "%s uses %s and finds %s: an action that it must follow had not run; an order that "
              "the plan needs was not kept",
              host_step_name(host, step, step_name, sizeof step_name),
              object_name(host, read->buffer, buffer_name, sizeof buffer_name), what);
    return false;
}

static bool check_tags(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;

    for (uint32_t i = 0; i < step->n_reads; i++) {
        const struct step_buffer *read = &step->reads[i];
        const unsigned char *memory = atomic_load(&host->buffers[read->buffer].memory);
        uint64_t found;

        if (memory == NULL)
            return fail_tag(host, index, read, NULL);
        if (read->tag == 0)
            continue;
        memcpy(&found, memory + read->offset, sizeof found);
        if (found != read->tag)
            return fail_tag(host, index, read, &found);
    }
    return true;
}

/* @return false when a buffer to be written is not there */
static bool leave_tags(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;

    for (uint32_t i = step->n_copied; i < step->n_writes; i++) {
        const struct step_buffer *write = &step->writes[i];
        unsigned char *memory = atomic_load(&host->buffers[write->buffer].memory);

        if (memory == NULL)
            return fail_tag(host, index, write, NULL);
        if (write->tag != 0)
            memcpy(memory + write->offset, &write->tag, sizeof write->tag);
    }
    return true;
}

/* ---- work ---- */

static void compute(struct host *host, int64_t iterations)
{
    while (iterations > 0 && !atomic_load(&host->is_stopped)) {
        int64_t piece = iterations < PIECE_ITERATIONS ? iterations : PIECE_ITERATIONS;

        sink_ratio = kernel_fma(piece, 1.0 + (double)(iterations & 7));
        iterations -= piece;
    }
}

static void stream(struct host *host, int64_t bytes, int64_t *stream_at)
{
    while (bytes > 0 && !atomic_load(&host->is_stopped)) {
        int64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

        sink_sum = kernel_read(host->windows[STEP_STREAM], HOST_WINDOW_BYTES, *stream_at, piece);
        *stream_at = (*stream_at + piece + 63) / 64 * 64 % HOST_WINDOW_BYTES;
        bytes -= piece;
    }
}

static void read_cache(struct host *host, int64_t bytes)
{
    while (bytes > 0 && !atomic_load(&host->is_stopped)) {
        int64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

        sink_sum = kernel_read(host->windows[STEP_CACHE], HOST_CACHE_BYTES, 0, piece);
        bytes -= piece;
    }
}

/* A number of 64 bits is half of STEP_MIX_BYTES. */
static void mix(struct host *host, int64_t bytes, int64_t *mix_at)
{
    while (bytes > 0 && !atomic_load(&host->is_stopped)) {
        int64_t piece = bytes < PIECE_MIX_BYTES ? bytes : PIECE_MIX_BYTES;

        *mix_at = kernel_mix(host->windows[STEP_MIX], HOST_WINDOW_BYTES, *mix_at, piece,
                             STEP_MIX_FMAS * 8 / STEP_MIX_BYTES, 1.0);
        bytes -= piece;
    }
}

static bool copy(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;
    int64_t source_bytes = steps_stretch_bytes(step->reads, step->n_copied);
    int64_t target_bytes = steps_stretch_bytes(step->writes, step->n_copied);
    int64_t window_bytes = source_bytes < target_bytes ? source_bytes : target_bytes;
    unsigned char *source;
    unsigned char *target;
    int64_t at = 0;

    if (window_bytes == 0)
        return true;
    source = atomic_load(&host->buffers[step->reads[0].buffer].memory);
    target = atomic_load(&host->buffers[step->writes[0].buffer].memory);
    if (target == NULL)
        return fail_tag(host, index, &step->writes[0], NULL);
    if (step->reads[0].buffer == step->writes[0].buffer)
        return true; /* a copy of a domain onto itself: the bytes are there */
    for (int64_t left = step->amount; left > 0 && !atomic_load(&host->is_stopped);) {
        int64_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;

        at = kernel_copy(target + step->writes[0].offset, source + step->reads[0].offset,
                         window_bytes, at, piece);
        left -= piece;
    }
    return true;
}

static bool allocate(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;

    for (uint32_t i = 0; i < step->n_writes; i++) {
        uint32_t b = step->writes[i].buffer;

        if (atomic_load(&host->buffers[b].memory) == NULL && !begin_buffer(host, b))
            return fail_memory(host, index, b);
    }
    compute(host, step->amount);
    return true;
}

static bool reclaim(struct host *host, uint32_t index)
{
    const struct step *step = &host->steps[index].given;

    for (uint32_t i = 0; i < step->n_writes; i++) {
        if (atomic_load(&host->buffers[step->writes[i].buffer].memory) == NULL)
            return fail_tag(host, index, &step->writes[i], NULL);
        end_buffer(host, step->writes[i].buffer);
    }
    compute(host, step->amount);
    return true;
}

/* @return false when the run has failed */
static bool act(struct host *host, uint32_t index, struct host_places *places)
{
    const struct step *step = &host->steps[index].given;

    switch (step->action) {
    case STEP_COMPUTE:
        compute(host, step->amount);
        return leave_tags(host, index);
    case STEP_STREAM:
        stream(host, step->amount, &places->stream_at);
        return leave_tags(host, index);
    case STEP_CACHE:
        read_cache(host, step->amount);
        return leave_tags(host, index);
    case STEP_MIX:
        mix(host, step->amount, &places->mix_at);
        return leave_tags(host, index);
    case STEP_COPY:
        return copy(host, index) && leave_tags(host, index);
    case STEP_ALLOCATE:
        return allocate(host, index);
    case STEP_RECLAIM:
        return reclaim(host, index);
    case STEP_MARK:
        return leave_tags(host, index);
    case STEP_PASS:
        break;
    }
    return true;
}

void host_pass(struct host *host, uint32_t index)
{
    end_used(host, &host->steps[index].given);
}

/* Marks and plain allocations are too short for a clock that costs half a microsecond. */
static bool is_timed(const struct step *step)
{
    return step->amount > 0;
}

void host_work(struct host *host, uint32_t index, struct host_places *places)
{
    struct host_step *step = &host->steps[index];
    int64_t processor_ns = 0;

    if (!begin_written(host, index))
        return;
    (void)atomic_fetch_add(&host->n_busy, 1);
    step->start_ns = host_now_ns(host);
    if (step->has_from_start)
        host_order_started(host, index);
    if (is_timed(&step->given))
        processor_ns = processor_clock_ns();
    if (check_tags(host, index) && act(host, index, places) && is_timed(&step->given))
        step->processor_ns = processor_clock_ns() - processor_ns;
    if (!atomic_load(&host->is_stopped)) /* else its work may have been cut short */
        step->finish_ns = host_now_ns(host);
    end_used(host, &step->given);
    (void)atomic_fetch_sub(&host->n_busy, 1);
}
