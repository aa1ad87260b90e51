/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host device's face: what it is, opening, taking steps, draining, closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/host.h"
#include "replay/devices.h"
#include "replay/host_internal.h"
#include "replay/steps.h"

/* ---- what there is ---- */

/* Copies what follows "key" and its colon in a file of /proc. */
static bool proc_value(const char *path, const char *key, char *out, size_t out_bytes)
{
    char line[256];
    FILE *file = fopen(path, "r");
    bool is_found = false;

    if (file == NULL)
        return false;
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (colon == NULL || strncmp(line, key, strlen(key)) != 0)
            continue;
        colon += strspn(colon, ": \t");
        (void)snprintf(out, out_bytes, "%.*s", (int)strcspn(colon, "\n"), colon);
        is_found = true;
    }
    (void)fclose(file);
    return is_found;
}

static int64_t memory_bytes(void)
{
    char text[64];
    long pages;
    long page_bytes = sysconf(_SC_PAGESIZE);

    if (proc_value("/proc/meminfo", "MemAvailable", text, sizeof text))
        return strtoll(text, NULL, 10) * 1024;
    pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 && page_bytes > 0 ? (int64_t)pages * page_bytes : 0;
}

static enum weir_status host_probe(struct device_info *out, struct weir_error *err)
{
    long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    char model[96];

    (void)err;
    memset(out, 0, sizeof *out);
    out->state = device_state_unknown();
    if (!proc_value("/proc/cpuinfo", "model name", model, sizeof model))
        (void)snprintf(model, sizeof model, "processor");
    out->n_processors = n_processors > 0 ? (uint32_t)n_processors : 1;
    out->memory_bytes = memory_bytes();
    out->compute_flops = KERNEL_FMA_FLOPS;
    (void)snprintf(out->name, sizeof out->name, "%s, %u processors", model, out->n_processors);
    return WEIR_OK;
}

/* ---- messages ---- */

const char *host_step_name(const struct host *host, uint32_t step, char *out, size_t out_bytes)
{
    if (host->setup.graph != NULL)
        (void)snprintf(out, out_bytes, "%s",
                       graph_node_name(host->setup.graph, host->steps[step].given.node));
    else
        (void)snprintf(out, out_bytes, "step %u", step);
    return out;
}

void host_fail(struct host *host, enum weir_status status, const char *format, ...)
{
    va_list args;

    (void)pthread_mutex_lock(&host->lock);
    if (!host->has_failed) {
        host->has_failed = true;
        host->failure.status = status;
        va_start(args, format);
        (void)vsnprintf(host->failure.text, sizeof host->failure.text, format, args);
        va_end(args);
    }
    (void)pthread_mutex_unlock(&host->lock);
    atomic_store(&host->is_stopped, true);
    host_wake_all(host);
}

/* ---- opening and closing ---- */

static void host_free(struct host *host)
{
    for (uint32_t i = 0; host->buffers != NULL && i < host->setup.n_buffers; i++) {
        unsigned char *memory = atomic_load(&host->buffers[i].memory);

        if (memory != NULL)
            host_pool_give(&host->pool, memory, host->buffers[i].got_bytes);
    }
    host_pool_end(&host->pool);
    for (int w = 0; w < STEP_WORKS; w++)
        free(host->windows[w]);
    (void)pthread_mutex_destroy(&host->buffer_lock);
    (void)pthread_mutex_destroy(&host->lock);
    (void)pthread_cond_destroy(&host->wake);
    arena_free(&host->arena);
    free(host);
}

static void host_close(struct device *device)
{
    if (device != NULL && host_queues_stop((struct host *)device))
        host_free((struct host *)device);
}

static bool init_locks(struct host *host)
{
    pthread_condattr_t attributes;
    bool is_done;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    is_done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&host->wake, &attributes) == 0 &&
              pthread_mutex_init(&host->lock, NULL) == 0 &&
              pthread_mutex_init(&host->buffer_lock, NULL) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return is_done;
}

static enum weir_status host_open(const struct device_setup *setup, struct device **out,
                                  struct weir_error *err)
{
    struct device_info info;
    struct host *host = calloc(1, sizeof *host);
    enum weir_status status;

    if (host == NULL)
        return weir_error_memory(err);
    host->base.ops = &device_host;
    host->setup = *setup;
    host->setup.n_queues = 0; /* until there are any */
    if (setup->deadline_ns > HOST_LATEST_NS)
        host->setup.deadline_ns = HOST_LATEST_NS;
    if (!init_locks(host) || host_pool_begin(&host->pool, setup->memory_bytes, err) != WEIR_OK) {
        free(host);
        return weir_error_memory(err);
    }
    status = host_probe(&info, err);
    host->n_processors = info.n_processors;
    host->steps = arena_array(&host->arena, (size_t)setup->n_steps + 1, sizeof *host->steps);
    host->queues = arena_array(&host->arena, setup->n_queues, sizeof *host->queues);
    host->buffers = arena_array(&host->arena, setup->n_buffers, sizeof *host->buffers);
    if (status == WEIR_OK && (host->steps == NULL || host->queues == NULL || host->buffers == NULL))
        status = weir_error_memory(err);
    if (status != WEIR_OK) {
        host_free(host);
        return status;
    }
    host->setup.n_queues = setup->n_queues;
    *out = &host->base;
    return WEIR_OK;
}

/* ---- taking steps ---- */

static const struct mechanism mechanisms[] = {
    [STEP_COMPUTE] = {"multiply-add loop on a queue's thread", NULL},
    [STEP_STREAM] = {"streaming read loop on a queue's thread", NULL},
    [STEP_CACHE] = {"read loop in a core's cache on a queue's thread", NULL},
    [STEP_MIX] = {"loop of reads, multiply-adds and writes on a queue's thread", NULL},
    [STEP_COPY] = {"memcpy on a queue's thread", NULL},
    [STEP_ALLOCATE] = {"block of a pool of touched memory", NULL},
    [STEP_RECLAIM] = {"block given back to the pool", NULL},
    [STEP_MARK] = {"mark", NULL},
    [STEP_PASS] = {"does not run; its edges pass on", NULL},
};

static enum weir_status need_window(struct host *host, enum step_action action,
                                    struct weir_error *err)
{
    static const int64_t bytes[STEP_WORKS] = {[STEP_STREAM] = HOST_WINDOW_BYTES,
                                              [STEP_CACHE] = HOST_CACHE_BYTES,
                                              [STEP_MIX] = HOST_WINDOW_BYTES};
    void **window = action < STEP_WORKS ? &host->windows[action] : NULL;

    if (window == NULL || bytes[action] == 0 || *window != NULL)
        return WEIR_OK;
    *window = aligned_alloc(4096, (size_t)bytes[action]);
    if (*window == NULL)
        return weir_error_memory(err);
    memset(*window, 1, (size_t)bytes[action]);
    return WEIR_OK;
}

static enum weir_status host_submit(struct device *device, const struct step *given,
                                    struct mechanism *how, struct weir_error *err)
{
    struct host *host = (struct host *)device;
    enum weir_status status = steps_take(&host->setup, host->n_submitted, given, &host->arena,
                                         &host->steps[host->n_submitted].given, err);

    if (status != WEIR_OK)
        return status;
    if (need_window(host, given->action, err) != WEIR_OK)
        return err->status;
    *how = mechanisms[given->action];
    host->n_submitted++;
    return WEIR_OK;
}

/* ---- draining ---- */

static enum weir_status list_queues(struct host *host, struct weir_error *err)
{
    uint32_t n_free = 0;

    for (uint32_t i = 0; i < host->n_submitted; i++) {
        if (host->steps[i].given.queue == STEP_NO_QUEUE)
            n_free++;
        else
            host->queues[host->steps[i].given.queue].n_steps++;
    }
    host->timers = arena_array(&host->arena, n_free, sizeof *host->timers);
    if (host->timers == NULL)
        return weir_error_memory(err);
    for (uint32_t q = 0; q < host->setup.n_queues; q++) {
        struct host_queue *queue = &host->queues[q];

        queue->steps = arena_array(&host->arena, queue->n_steps, sizeof *queue->steps);
        queue->n_steps = 0;
        queue->places.stream_at = HOST_WINDOW_BYTES / 64 / (host->setup.n_queues + 1) * q * 64;
        queue->places.mix_at = queue->places.stream_at;
        if (queue->steps == NULL)
            return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        if (host->steps[i].given.queue != STEP_NO_QUEUE) {
            struct host_queue *queue = &host->queues[host->steps[i].given.queue];

            queue->steps[queue->n_steps++] = i;
        }
    }
    return WEIR_OK;
}

static enum weir_status seal(struct host *host, struct weir_error *err)
{
    enum weir_status status = host_order_seal(host, err);

    if (status == WEIR_OK)
        status = list_queues(host, err);
    if (status == WEIR_OK)
        status = host_queues_start(host, err);
    host->is_sealed = status == WEIR_OK;
    return status;
}

static enum weir_status write_spans(const struct host *host, struct timeline *out,
                                    struct weir_error *err)
{
    struct steps_span *spans = malloc((host->n_submitted + (size_t)1) * sizeof *spans);
    uint32_t n = 0;

    if (spans == NULL)
        return weir_error_memory(err);
    for (uint32_t i = 0; i < host->n_submitted; i++) {
        const struct host_step *step = &host->steps[i];

        if (step->given.action != STEP_PASS)
            spans[n++] = (struct steps_span){step->start_ns, step->finish_ns, i, step->given.node};
    }
    steps_write_spans(spans, n, TIME_HOST, out);
    free(spans);
    return WEIR_OK;
}

static enum weir_status host_drain(struct device *device, struct timeline *out,
                                   struct weir_error *err)
{
    struct host *host = (struct host *)device;
    enum weir_status status = host->is_sealed ? WEIR_OK : seal(host, err);

    if (status == WEIR_OK)
        status = host_buffers_reset(host, err);
    if (status != WEIR_OK)
        return status;
    host_order_reset(host);
    host_queues_run(host);
    if (host->has_failed) {
        *err = host->failure;
        return err->status;
    }
    return out == NULL ? WEIR_OK : write_spans(host, out, err);
}

static int64_t host_whole_ns(const struct device *device)
{
    const struct host *host = (const struct host *)device;
    int64_t whole_ns = 0;

    for (uint32_t i = 0; i < host->n_submitted; i++) {
        if (host->steps[i].finish_ns > whole_ns)
            whole_ns = host->steps[i].finish_ns;
    }
    return whole_ns;
}

static int64_t host_processor_ns(const struct device *device, uint32_t step)
{
    return ((const struct host *)device)->steps[step].processor_ns;
}

static int64_t host_submitted_ns(const struct device *device, uint32_t step)
{
    const struct host_step *asked = &((const struct host *)device)->steps[step];

    if (asked->start_ns < 0)
        return -1;
    return asked->submit_ns > 0 ? asked->submit_ns
                                : 0; /* threads are there before the run begins */
}

static void host_state(const struct device *device, struct device_state *out)
{
    (void)device;
    *out = device_state_unknown();
}

static void host_remark(const struct device *device, char *out, size_t out_bytes)
{
    (void)device;
    (void)out_bytes;
    out[0] = '\0';
}

const struct device_ops device_host = {
    .name = "host",
    .clock = "CLOCK_MONOTONIC",
    .probe = host_probe,
    .open = host_open,
    .submit = host_submit,
    .drain = host_drain,
    .whole_ns = host_whole_ns,
    .processor_ns = host_processor_ns,
    .submitted_ns = host_submitted_ns,
    .state = host_state,
    .remark = host_remark,
    .close = host_close,
};
