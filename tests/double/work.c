/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's functions that make the device work: launches, copies, sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda.h"
#include "tests/double/calls.h"

#define MOVED_BYTES ((int64_t)1 << 20) /* of a copy, at most: what is measured carries nothing */

/* ---- kernels ---- */

static void check_reads(struct double_command *command)
{
    const struct kernel_work *given = (const void *)(uintptr_t)command->args[0];
    const struct kernel_tag *reads = (const void *)(uintptr_t)given->reads;
    uint64_t *failure = (void *)(uintptr_t)given->failure;

    for (uint32_t i = 0; i < given->n_reads; i++) {
        uint64_t none = 0, what = (uint64_t)i << 32 | (given->step + 1);

        if (*(const uint64_t *)(uintptr_t)reads[i].at != reads[i].tag)
            (void)__atomic_compare_exchange_n(failure, &none, what, false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED);
    }
}

static void leave_writes(struct double_command *command)
{
    const struct kernel_work *given = (const void *)(uintptr_t)command->args[0];
    const struct kernel_tag *writes = (const void *)(uintptr_t)given->writes;

    for (uint32_t i = 0; i < given->n_writes; i++)
        *(uint64_t *)(uintptr_t)writes[i].at = writes[i].tag;
}

static bool is_gated(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    (void)now_ns;
    *until_ns = command->start_ns + (int64_t)command->args[1];
    if (now_ns >= *until_ns) {
        __atomic_store_n((uint32_t *)(uintptr_t)command->args[2], 1, __ATOMIC_RELEASE);
        return false;
    }
    return __atomic_load_n((const uint32_t *)(uintptr_t)command->args[0], __ATOMIC_ACQUIRE) == 0;
}

static void take_time(struct double_command *command)
{
    *(uint64_t *)(uintptr_t)command->args[0] = (uint64_t)command->start_ns;
}

static bool is_early(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    *until_ns = (int64_t)(*(const uint64_t *)(uintptr_t)command->args[0] + command->args[1]);
    return now_ns < *until_ns;
}

static void count_cycles(struct double_command *command)
{
    uint64_t *out = (void *)(uintptr_t)command->args[1];

    bool fails = double_fails(FAULT_CLOCK);

    /* From then on every other one, so that no run begins and ends alike. */
    fails =
        fails && (double_config.fault[FAULT_CLOCK] > 0 || double_config.n_seen[FAULT_CLOCK] % 2);
    out[0] = command->args[0] * (fails ? 1 : 2);
    out[1] = command->args[0];
}

/* How much longer than it should the next operation takes. */
static double stretch(void)
{
    static uint32_t n_ops, state = 1;
    double slower = pow(1 + double_config.slower, n_ops++);

    state = state * 1664525 + 1013904223;
    return slower * (1 + double_config.noise * (2 * (double)state / UINT32_MAX - 1));
}

static int64_t length_of(enum double_class class_, uint64_t amount)
{
    double ns = (double)amount * double_config.unit_ns[class_] * stretch();

    return double_config.fixed_ns[class_] + (int64_t)(ns + 0.5);
}

/* Parameters of 64 bits come into args; the places of narrower ones stay empty. */
static void take_args(struct double_command *command, void **values, const char *widths)
{
    for (size_t i = 0; widths[i] != '\0'; i++)
        memcpy(&command->args[i], values[i], widths[i] == '8' ? 8 : 4);
}

/* Whatever lies in the window is gone. */
static void write_window(struct double_command *command)
{
    uint64_t *window = (void *)(uintptr_t)command->args[1];
    uint64_t n_words = command->args[2] * KERNEL_CUDA_UNIT_BYTES / sizeof *window;

    for (uint64_t i = 0; i < n_words; i += KERNEL_CUDA_UNIT_BYTES / sizeof *window)
        __atomic_store_n(&window[i], ~(uint64_t)0, __ATOMIC_RELAXED);
    leave_writes(command);
}

/* A kernel that goes through a window masks the numbers of its units. */
static void check_window(const struct double_command *command)
{
    uint64_t n_units = command->args[2];
    uint64_t bytes = n_units * KERNEL_CUDA_UNIT_BYTES;

    if (n_units == 0 || (n_units & (n_units - 1)) != 0 ||
        (command->class_ == DOUBLE_CACHE) != (5 * bytes <= 2 * DOUBLE_L2_BYTES)) {
        fprintf(stderr, "%s got a window of %llu bytes\n", command->name,
                (unsigned long long)bytes);
        abort();
    }
}

/* What has a class. @return false when the kernel has none */
static bool describe_work(struct double_command *command, void **values)
{
    static const struct {
        const char *name, *widths;
        enum double_class class_;
        int amount_at;
        uint64_t unit;
    } works[] = {{"weir_fma", "8848", DOUBLE_FMA, 1, 1},
                 {"weir_read", "8888848", DOUBLE_READ, 4, KERNEL_CUDA_UNIT_BYTES},
                 {"weir_read_l2", "8888848", DOUBLE_CACHE, 4, KERNEL_CUDA_UNIT_BYTES},
                 {"weir_mix", "8888844", DOUBLE_MIX, 4, KERNEL_CUDA_UNIT_BYTES}};

    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (strcmp(command->name, works[i].name) != 0)
            continue;
        take_args(command, values, works[i].widths);
        command->class_ = works[i].class_;
        command->work_ns =
            length_of(works[i].class_, command->args[works[i].amount_at] * works[i].unit);
        command->begin = check_reads;
        command->end = works[i].class_ == DOUBLE_MIX ? write_window : leave_writes;
        if (works[i].class_ != DOUBLE_FMA)
            check_window(command);
        return true;
    }
    return false;
}

static void describe(struct double_command *command, const char *name, void **values)
{
    command->name = name;
    command->is_classless = true;
    if (describe_work(command, values)) {
        command->is_classless = false;
    } else if (strcmp(name, "weir_tags") == 0) {
        take_args(command, values, "8");
        command->begin = check_reads;
        command->end = leave_writes;
    } else if (strcmp(name, "weir_gate") == 0) {
        take_args(command, values, "888");
        command->word = command->args[0];
        command->is_held = is_gated;
    } else if (strcmp(name, "weir_time") == 0) {
        take_args(command, values, "8");
        command->begin = take_time;
    } else if (strcmp(name, "weir_clock") == 0) {
        take_args(command, values, "88");
        command->end = count_cycles;
    } else {
        take_args(command, values, "8888");
        command->is_held = is_early;
    }
}

static bool is_never_over(const struct double_command *command, int64_t now_ns, int64_t *until_ns)
{
    (void)command;
    (void)now_ns;
    *until_ns = INT64_MAX;
    return true;
}

cu_result cuLaunchKernel(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cu_stream stream, void **values, void **extra)
{
    struct call call;
    struct double_command command;

    (void)grid_x;
    (void)grid_y;
    (void)grid_z;
    (void)block_x;
    (void)block_y;
    (void)block_z;
    (void)shared_bytes;
    (void)extra;
    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    if (double_fails(FAULT_LAUNCH))
        return call_lose(GPU_LAUNCH_FAILED);
    call = call_begin();
    command = call_work(&call, DOUBLE_KERNEL);
    describe(&command, ((const struct CUfunc_st *)function)->name, values);
    if (command.work_ns > 0 && double_fails(FAULT_HANG))
        command.is_held = is_never_over;
    double_append(stream, &command);
    return call_end(&call);
}

/* ---- copies ---- */

static void move_bytes(struct double_command *command)
{
    int64_t most = command->has_external ? double_config.moved_bytes : MOVED_BYTES;
    size_t bytes = (size_t)(command->bytes < most ? command->bytes : most);

    memcpy((void *)(uintptr_t)command->args[0], (const void *)(uintptr_t)command->args[1], bytes);
}

static cu_result copy(enum double_class class_, int copy_kind, uint64_t to, uint64_t from,
                      size_t bytes, cu_stream stream)
{
    struct call call;
    struct double_command command;

    if (call_lost() == GPU_SUCCESS && double_fails(FAULT_LOST))
        (void)call_lose(GPU_ILLEGAL_ADDRESS);
    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    call = call_begin();
    command = call_work(&call, DOUBLE_COPY);
    command.class_ = class_;
    command.copy_kind = copy_kind;
    command.bytes = (int64_t)bytes;
    command.work_ns = length_of(class_, bytes);
    command.args[0] = to;
    command.args[1] = from;
    command.end = move_bytes;
    double_append(stream, &command);
    return call_end(&call);
}

cu_result cuMemcpyHtoDAsync_v2(cu_deviceptr to, const void *from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_H2D, 1, to, (uintptr_t)from, bytes, stream);
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_deviceptr from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_D2H, 2, (uintptr_t)to, from, bytes, stream);
}

cu_result cuMemcpyDtoDAsync_v2(cu_deviceptr to, cu_deviceptr from, size_t bytes, cu_stream stream)
{
    return copy(DOUBLE_D2D, 8, to, from, bytes, stream);
}

static void set_words(struct double_command *command)
{
    uint32_t *words = (void *)(uintptr_t)command->args[0];

    for (int64_t i = 0; i < command->bytes / 4; i++)
        words[i] = (uint32_t)command->args[1];
}

cu_result cuMemsetD32Async(cu_deviceptr to, unsigned value, size_t n_words, cu_stream stream)
{
    struct call call;
    struct double_command command;

    if (call_lost() != GPU_SUCCESS)
        return call_lost();
    call = call_begin();
    command = call_work(&call, DOUBLE_SET);
    command.is_classless = true;
    command.bytes = (int64_t)n_words * 4;
    command.args[0] = to;
    command.args[1] = value;
    command.end = set_words;
    double_append(stream, &command);
    return call_end(&call);
}
