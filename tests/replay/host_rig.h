/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of hand-made steps on the host device. */
#ifndef TESTS_REPLAY_HOST_RIG_H
#define TESTS_REPLAY_HOST_RIG_H

#include <string.h>

#include "replay/device.h"
#include "tests/suite.h"

#define MS 1000000

/* A run in the making. */
struct rig {
    struct device_setup setup;
    struct device *device;
    struct timeline *timeline;
    uint32_t n_steps;
    struct weir_error err;
};

static inline void rig_open(struct rig *rig, uint32_t n_queues, uint32_t n_steps,
                            const struct device_buffer *buffers, uint32_t n_buffers)
{
    const struct device_ops *ops;

    memset(rig, 0, sizeof *rig);
    ck_assert_int_eq(device_find("host", &ops, &rig->err), WEIR_OK);
    rig->setup = (struct device_setup){.n_queues = n_queues,
                                       .n_steps = n_steps,
                                       .n_buffers = n_buffers,
                                       .buffers = buffers,
                                       .deadline_ns = (int64_t)50000 * MS,
                                       .memory_bytes = 64 << 20};
    rig->timeline = timeline_new(n_steps, 1);
    ck_assert_ptr_nonnull(rig->timeline);
    ck_assert_int_eq(ops->open(&rig->setup, &rig->device, &rig->err), WEIR_OK);
}

static inline void rig_reopen(struct rig *rig)
{
    const struct device_ops *ops = rig->device->ops;

    ops->close(rig->device);
    ck_assert_int_eq(ops->open(&rig->setup, &rig->device, &rig->err), WEIR_OK);
}

static inline void rig_close(struct rig *rig)
{
    rig->device->ops->close(rig->device);
    timeline_free(rig->timeline);
}

/* Submits the step for node number n_steps. */
static inline void rig_add(struct rig *rig, struct step step)
{
    struct mechanism how = {NULL, NULL};

    step.node.index = rig->n_steps++;
    ck_assert_int_eq(rig->device->ops->submit(rig->device, &step, &how, &rig->err), WEIR_OK);
    ck_assert_ptr_nonnull(how.name);
}

static inline void rig_run(struct rig *rig)
{
    enum weir_status status = rig->device->ops->drain(rig->device, rig->timeline, &rig->err);

    ck_assert_msg(status == WEIR_OK, "%s", rig->err.text);
}

static inline void rig_fail(struct rig *rig, const char *part)
{
    enum weir_status status = rig->device->ops->drain(rig->device, rig->timeline, &rig->err);

    ck_assert_int_eq(status, WEIR_DEVICE);
    ck_assert_msg(strstr(rig->err.text, part) != NULL, "'%s' is not in: %s", part, rig->err.text);
}

static inline const struct timeline_span *span(const struct rig *rig, uint32_t step)
{
    return &rig->timeline->spans[step];
}

static inline void check_after(const struct rig *rig, uint32_t producer, uint32_t consumer)
{
    ck_assert_int_ge(span(rig, producer)->start_ns, 0);
    ck_assert_int_ge(span(rig, producer)->finish_ns, span(rig, producer)->start_ns);
    ck_assert_int_ge(span(rig, consumer)->start_ns, span(rig, producer)->finish_ns);
}

/* The step, after the step before it. */
static inline struct step after(struct step step, const struct step_wait *wait)
{
    step.waits = wait;
    step.n_waits = 1;
    return step;
}

#endif
