/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which record is whose, and whether it can be believed.
 *
 * An operation is known in two ways that must agree: by the id that was pushed around its call, and
 * as the k-th of its kind in its stream. A run with a record that is lost, that nobody asked for, or
 * that says what cannot be, counts for nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/cuda_internal.h"

/* The times of events lie between operations, and are told in floats of milliseconds: two that tell of
 * one run are apart by some tens of microseconds (NVIDIA/nvbench#184). */
#define EVENTS_APART_NS 100000
#define EVENTS_APART_RATIO 0.01
#define CLOCK_CHANGE_RATIO 0.02 /* of the multiprocessors, from before a run to after it */
#define STREAM_ERROR_NS 2000    /* of the device's times against each other */
/* Of the device's times on the host's clock: a virtual machine knows the one by the other badly, but
 * beyond this it is another clock. */
#define HOST_ERROR_NS 5000000

/* An operation with its times. */
struct timed {
    const struct cuda_record *record; /* NULL: none was found */
    int64_t start_ns, end_ns;         /* since the run began */
};

struct matching {
    struct cuda *cuda;
    struct timed *timed; /* by operation */
    char *why;           /* CUDA_WHY_BYTES */
};

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {"kernel", "copy", "memset"};

    return names[kind];
}

/* "the kernel of k1" */
static const char *op_name(const struct matching *m, size_t index, char *out, size_t out_bytes)
{
    const struct cuda_op *op = &m->cuda->ops[index];
    char name[120];

    if (op->step == WEIR_NONE) {
        (void)snprintf(out, out_bytes, "a kernel that keeps time");
    } else {
        (void)snprintf(out, out_bytes, "the %s of %s", kind_name(op->kind),
                       cuda_step_name(m->cuda, op->step, name, sizeof name));
    }
    return out;
}

PRINTF_LIKE(3, 4)
static bool doubt(const struct matching *m, size_t index, const char *format, ...)
{
    char name[160];
    va_list args;
    int used = snprintf(m->why, CUDA_WHY_BYTES, "%s ", op_name(m, index, name, sizeof name));

    va_start(args, format);
    (void)vsnprintf(m->why + used, CUDA_WHY_BYTES - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* ---- by id ---- */

static bool take_record(struct matching *m, const struct cuda_record *record)
{
    struct cuda *cuda = m->cuda;
    uint64_t index = record->external_id - cuda->first_id;

    if (record->external_id < cuda->first_id || index >= cuda->n_ops) {
        /* Contents are set before the run and looked at after it, by calls without an id. */
        return record->external_id == 0 || record->end_ns < cuda->begin_ns;
    }
    if (m->timed[index].record != NULL) {
        return doubt(m, index, "has two records");
    }
    if (record->kind != cuda->ops[index].kind) {
        return doubt(m, index, "has the record of a %s", kind_name((uint8_t)record->kind));
    }
    if (record->bytes != cuda->ops[index].bytes) {
        return doubt(m, index, "moved %" PRId64 " bytes, and not %" PRId64, record->bytes,
                     cuda->ops[index].bytes);
    }
    m->timed[index] =
        (struct timed){record, record->start_ns - cuda->begin_ns, record->end_ns - cuda->begin_ns};
    return true;
}

/* The run begins with the first that the device did of it: the host's word to begin takes a while to
 * get there. */
static void begin_on_device(struct matching *m)
{
    int64_t first_ns = INT64_MAX;

    for (size_t i = 0; i < m->cuda->n_ops; i++) {
        bool counts = m->cuda->ops[i].is_work || i == m->cuda->begin_op;

        if (counts && m->timed[i].start_ns < first_ns) {
            first_ns = m->timed[i].start_ns;
        }
    }
    for (size_t i = 0; i < m->cuda->n_ops; i++) {
        m->timed[i].start_ns -= first_ns;
        m->timed[i].end_ns -= first_ns;
    }
    m->cuda->begin_ns += first_ns;
}

static bool take_records(struct matching *m, const struct cuda_records *records)
{
    if (records->n_dropped > 0) {
        (void)snprintf(m->why, CUDA_WHY_BYTES, "CUPTI dropped %" PRIu64 " records",
                       records->n_dropped);
        return false;
    }
    if (records->has_two_ids) {
        (void)snprintf(m->why, CUDA_WHY_BYTES, "CUPTI gives one call two ids");
        return false;
    }
    if (records->is_broken) {
        (void)snprintf(
            m->why, CUDA_WHY_BYTES,
            "CUPTI's records cannot be read to their end: one is cut off, or of a kind that "
            "CUPTI itself does not know");
        return false;
    }
    for (size_t i = 0; i < records->n_records; i++) {
        if (!take_record(m, &records->records[i])) {
            if (m->why[0] == '\0') {
                (void)snprintf(m->why, CUDA_WHY_BYTES, "a record is of no call of this run");
            }
            return false;
        }
    }
    for (size_t i = 0; i < m->cuda->n_ops; i++) {
        if (m->timed[i].record == NULL) {
            return doubt(m, i, "has no record");
        }
    }
    return true;
}

/* ---- what can be believed ---- */

/* The device's times and the host's were apart by at least that long. */
static bool is_same_clock(const struct matching *m, int64_t apart_ns)
{
    struct cuda *cuda = m->cuda;

    cuda->clock_off_ns = apart_ns > cuda->clock_off_ns ? apart_ns : cuda->clock_off_ns;
    return apart_ns <= HOST_ERROR_NS;
}

/* A record of its own can be believed. @param end_ns when the run was over, CLOCK_MONOTONIC */
static bool is_possible(const struct matching *m, size_t index, int64_t end_ns)
{
    const struct cuda_op *op = &m->cuda->ops[index];
    const struct cuda_record *record = m->timed[index].record;
    bool is_gate = op->step == WEIR_NONE && !m->cuda->context.has_wait_value;

    if (record->start_ns == 0 || record->end_ns == 0) {
        return doubt(m, index, "has no times");
    }
    if (record->end_ns < record->start_ns) {
        return doubt(m, index, "ends before it begins");
    }
    if (!is_same_clock(m, op->called_ns - record->start_ns)) {
        return doubt(m, index, "begins %" PRId64 " ns before it was called",
                     op->called_ns - record->start_ns);
    }
    if (!is_gate && !is_same_clock(m, -m->timed[index].start_ns)) {
        return doubt(m, index, "begins %" PRId64 " ns before the run does",
                     -m->timed[index].start_ns);
    }
    if (!is_same_clock(m, record->end_ns - end_ns)) {
        return doubt(m, index, "ends %" PRId64 " ns after the device was done",
                     record->end_ns - end_ns);
    }
    return true;
}

/* A stream runs one operation after another, in the order in which it got them: so the k-th of a kind
 * has the k-th record. */
static bool is_in_order(const struct matching *m, size_t *last_of_queue)
{
    struct cuda *cuda = m->cuda;

    for (uint32_t q = 0; q <= cuda->setup.n_queues; q++) {
        last_of_queue[q] = SIZE_MAX;
    }
    for (size_t i = 0; i < cuda->n_ops; i++) {
        uint32_t q =
            cuda->ops[i].queue == STEP_NO_QUEUE ? cuda->setup.n_queues : cuda->ops[i].queue;
        size_t before = last_of_queue[q];
        char name[160];

        last_of_queue[q] = i;
        if (before == SIZE_MAX) {
            continue;
        }
        if (m->timed[i].record->stream != m->timed[before].record->stream) {
            return doubt(m, i, "ran in another stream than %s, though both were given to one",
                         op_name(m, before, name, sizeof name));
        }
        if (m->timed[i].start_ns < m->timed[before].end_ns - STREAM_ERROR_NS) {
            return doubt(m, i, "begins before %s has ended, in one stream",
                         op_name(m, before, name, sizeof name));
        }
    }
    return true;
}

/* What the driver or CUPTI did in the middle of the run and a step had to wait for. */
static bool is_undisturbed(const struct matching *m, const struct cuda_records *records,
                           int64_t end_ns)
{
    for (size_t i = 0; i < records->n_overheads; i++) {
        const struct cuda_overhead *overhead = &records->overheads[i];
        bool is_loading = overhead->kind == CUPTI_OVERHEAD_COMPILER ||
                          overhead->kind == CUPTI_OVERHEAD_MODULE_LOADING ||
                          overhead->kind == CUPTI_OVERHEAD_LAZY_LOADING;

        if (is_loading && overhead->start_ns < end_ns && overhead->end_ns > m->cuda->begin_ns) {
            (void)snprintf(m->why, CUDA_WHY_BYTES,
                           "the driver loaded code for %" PRId64 " ns in the middle of the run",
                           overhead->end_ns - overhead->start_ns);
            return false;
        }
    }
    return true;
}

/* The device was as fast at the end as at the beginning. */
static bool is_steady(const struct matching *m)
{
    double begin = m->cuda->begin_clock, end = m->cuda->end_clock;

    if (fabs(end - begin) <= CLOCK_CHANGE_RATIO * begin) {
        return true;
    }
    m->cuda->is_unsteady = true;
    (void)snprintf(m->why, CUDA_WHY_BYTES,
                   "the clock of the device went from %.0f to %.0f MHz during the run",
                   begin * 1000, end * 1000);
    return false;
}

/* How far events are from finding a run that long. An event does not pass before it is recorded: that
 * of the begin may have passed as late as the host recorded it, and so may those that tell that streams
 * are over. */
static int64_t apart_from_events(const struct matching *m, int64_t trace_ns, int64_t events_ns)
{
    const struct cuda *cuda = m->cuda;
    int64_t begun_ns = cuda->begin_ns + m->timed[cuda->begin_op].end_ns;
    int64_t late_ns = cuda->recorded_ns > begun_ns ? cuda->recorded_ns - begun_ns : 0;
    int64_t marked_ns = cuda->marked_ns - begun_ns;
    int64_t longest_ns = marked_ns > trace_ns ? marked_ns : trace_ns;

    if (events_ns < trace_ns - late_ns) {
        return trace_ns - late_ns - events_ns;
    }
    return events_ns > longest_ns ? events_ns - longest_ns : 0;
}

/* Events, which count on the device alone, find the run as long as CUPTI does. */
static enum weir_status hold_against_events(const struct matching *m, struct weir_error *err)
{
    int64_t events_ns = 0, trace_ns = 0, apart_ns;
    enum weir_status status = cuda_run_length(m->cuda, &events_ns, err);

    for (size_t i = 0; i < m->cuda->n_ops; i++) {
        if (m->cuda->ops[i].is_work && m->timed[i].end_ns > trace_ns) {
            trace_ns = m->timed[i].end_ns;
        }
    }
    trace_ns -= m->cuda->setup.mode == DEVICE_GATED ? 0 : m->timed[m->cuda->begin_op].end_ns;
    apart_ns = apart_from_events(m, trace_ns, events_ns);
    if (status == WEIR_OK && apart_ns > EVENTS_APART_NS &&
        (double)apart_ns > EVENTS_APART_RATIO * (double)events_ns) {
        (void)snprintf(m->why, CUDA_WHY_BYTES,
                       "the run took %" PRId64 " ns by CUPTI and %" PRId64 " by events", trace_ns,
                       events_ns);
    }
    return status;
}

static enum weir_status match_records(struct matching *m, struct weir_error *err)
{
    int64_t end_ns = m->cuda->over_ns;
    size_t *last_of_queue = malloc(((size_t)m->cuda->setup.n_queues + 1) * sizeof *last_of_queue);
    struct cuda_records records;
    enum weir_status status =
        last_of_queue == NULL ? weir_error_memory(err) : cuda_trace_collect(&records, err);
    bool is_good;

    if (status == WEIR_DEVICE) { /* then it may be tried again, or done without */
        (void)snprintf(m->why, CUDA_WHY_BYTES, "%.*s", CUDA_WHY_BYTES - 1, err->text);
        status = WEIR_OK;
    }
    if (status != WEIR_OK || m->why[0] != '\0') {
        free(last_of_queue);
        return status;
    }
    is_good = take_records(m, &records);
    for (size_t i = 0; i < m->cuda->n_ops && is_good; i++) {
        is_good = is_possible(m, i, end_ns);
    }
    is_good = is_good && is_in_order(m, last_of_queue) && is_undisturbed(m, &records, end_ns);
    if (is_good && m->cuda->setup.mode == DEVICE_GATED) {
        begin_on_device(m);
    }
    if (is_good) {
        status = hold_against_events(m, err);
    }
    cuda_records_free(&records);
    free(last_of_queue);
    return status;
}

/* ---- without CUPTI ---- */

static enum weir_status match_events(struct matching *m, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < m->cuda->n_ops && status == WEIR_OK; i++) {
        if (!m->cuda->ops[i].is_work) {
            continue;
        }
        status = cuda_since_open(m->cuda, m->cuda->timers[2 * i], &m->timed[i].start_ns, err);
        if (status == WEIR_OK) {
            status = cuda_since_open(m->cuda, m->cuda->timers[2 * i + 1], &m->timed[i].end_ns, err);
        }
    }
    return status;
}

/* ---- the times of steps ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t point_ns(struct cuda *cuda, uint32_t queue, uint32_t point)
{
    const struct cuda_step *step;

    if (queue == STEP_NO_QUEUE || point == 0) {
        return 0;
    }
    step = cuda_step_at(cuda, queue, point);
    return point % 2 == 1 ? step->start_ns : step->finish_ns;
}

/* Of a step without an operation: when all that it waits for is over. */
static int64_t over_ns(struct cuda *cuda, const struct cuda_step *step)
{
    int64_t ns = 0;

    for (uint32_t q = 0; q < cuda->setup.n_queues; q++) {
        ns = later(ns, point_ns(cuda, q, step->requires.points[q]));
    }
    for (uint32_t d = 0; d < step->requires.n_delays; d++) {
        const struct cuda_delay *delay = &step->requires.delays[d];

        ns = later(ns, point_ns(cuda, delay->queue, delay->point) + delay->after_ns);
    }
    if (step->given.queue != STEP_NO_QUEUE && step->position > 0) {
        ns = later(ns, point_ns(cuda, step->given.queue, 2 * step->position));
    }
    return ns;
}

static void take_work_times(const struct matching *m)
{
    struct cuda *cuda = m->cuda;

    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        cuda->steps[i].start_ns = -1;
        cuda->steps[i].finish_ns = -1;
    }
    for (size_t i = 0; i < cuda->n_ops; i++) {
        struct cuda_step *step;

        if (!cuda->ops[i].is_work) {
            continue;
        }
        step = &cuda->steps[cuda->ops[i].step];
        if (step->start_ns < 0) {
            step->start_ns = later(m->timed[i].start_ns, 0);
        }
        step->finish_ns = later(m->timed[i].end_ns, step->start_ns);
    }
}

/* Steps come after all that they wait for, in their order, but for those that do not run. */
static void give_times(const struct matching *m)
{
    struct cuda *cuda = m->cuda;

    take_work_times(m);
    for (uint32_t i = 0; i < cuda->n_submitted; i++) {
        struct cuda_step *step = &cuda->steps[i];

        step->submit_ns = later(step->submit_ns - cuda->begin_ns, 0);
        if (step->start_ns < 0 && step->given.action != STEP_PASS) {
            step->start_ns = over_ns(cuda, step);
            step->finish_ns = step->start_ns;
            step->submit_ns = step->given.queue == STEP_NO_QUEUE ? 0 : step->submit_ns;
        }
    }
}

enum weir_status cuda_match(struct cuda *cuda, char why[CUDA_WHY_BYTES], struct weir_error *err)
{
    struct matching m = {
        .cuda = cuda, .timed = calloc(cuda->n_ops + 1, sizeof *m.timed), .why = why};
    enum weir_status status = m.timed == NULL ? weir_error_memory(err) : WEIR_OK;

    why[0] = '\0';
    if (status == WEIR_OK) {
        status = cuda->timing == CUDA_BY_TRACE    ? match_records(&m, err)
                 : cuda->timing == CUDA_BY_EVENTS ? match_events(&m, err)
                                                  : WEIR_OK;
    }
    if (status == WEIR_OK && why[0] == '\0' && is_steady(&m) && cuda->timing != CUDA_BARE) {
        give_times(&m);
    }
    free(m.timed);
    return status;
}
