/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the GPU is, before and after each run, and what that says of the run: one in which it slowed
 * itself down does not count. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/cuda_internal.h"

void cuda_state_open(struct cuda_context *context)
{
    context->has_nvml = nvml_load(context->bus, &context->nvml, context->why_no_nvml);
}

static const struct nvml *nvml_of(const struct cuda_context *context)
{
    return context->has_nvml ? &context->nvml : NULL;
}

/* The driver names a part of a GPU as such, also where NVML does not tell of the whole. */
static bool is_part(const struct cuda_context *context)
{
    return strstr(context->name, " MIG ") != NULL;
}

void cuda_state_of(const struct cuda_context *context, struct device_state *out)
{
    *out = device_state_unknown();
    if (context->has_nvml) {
        cuda_nvml_state(&context->nvml, out);
    } else {
        (void)snprintf(out->why_unknown, sizeof out->why_unknown, "%.*s",
                       (int)sizeof out->why_unknown - 1, context->why_no_nvml);
    }
    out->compute_mode = cuda_compute_mode_name(context->compute_mode);
    if (is_part(context)) {
        out->share = DEVICE_DIVIDED;
    }
}

void cuda_state_after(const struct cuda *cuda, struct device_state *out)
{
    cuda_state_of(&cuda->context, out);
    out->figures[DEVICE_BEFORE_SM_MHZ] = llround(cuda->begin_clock * 1000);
    out->figures[DEVICE_SM_MHZ] = llround(cuda->end_clock * 1000);
}

/* ---- a run ---- */

void cuda_held_begin(struct cuda *cuda)
{
    cuda->begin_held = cuda_nvml_held(nvml_of(&cuda->context));
}

void cuda_held_end(struct cuda *cuda)
{
    struct cuda_held end = cuda_nvml_held(nvml_of(&cuda->context));

    cuda->held = cuda_held_between(&cuda->begin_held, &end);
}

void cuda_doubt_slowed(struct cuda *cuda, char why[CUDA_WHY_BYTES])
{
    struct device_state state;
    char held[160], heat[40] = "";

    if ((cuda->held & DEVICE_SLOWDOWNS) == 0) {
        return;
    }
    cuda->is_unsteady = true;
    cuda_state_of(&cuda->context, &state);
    if (state.figures[DEVICE_TEMPERATURE_C] != DEVICE_UNKNOWN) {
        (void)snprintf(heat, sizeof heat, ", at %" PRId64 " C",
                       state.figures[DEVICE_TEMPERATURE_C]);
    }
    (void)snprintf(why, CUDA_WHY_BYTES,
                   "the GPU slowed itself down (%s%s): let it cool, and see to its fans, its power "
                   "supply and who else uses it",
                   device_held_text(cuda->held & DEVICE_SLOWDOWNS, held, sizeof held), heat);
}

/* ---- remarks ---- */

void cuda_add_line(char *out, size_t out_bytes, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    if (used > 0 && used + 1 < out_bytes) {
        out[used++] = '\n';
    }
    va_start(args, format);
    (void)vsnprintf(out + used, out_bytes - used, format, args);
    va_end(args);
}

void cuda_state_remark(const struct cuda *cuda, char *out, size_t out_bytes)
{
    const struct cuda_context *context = &cuda->context;

    if ((cuda->held & DEVICE_HELD_BIT(DEVICE_HELD_POWER_CAP)) != 0) {
        cuda_add_line(out, out_bytes,
                      "the GPU's power limit held its clocks down (software power cap): the run is "
                      "as slow as that makes it");
    }
    if (is_part(context)) {
        cuda_add_line(out, out_bytes,
                      "the device is a part of a GPU (MIG), with %d multiprocessors and %.1f GB of "
                      "its own: what the other parts copy from and to the host may slow it",
                      context->n_processors, (double)context->total_bytes * 1e-9);
    }
}
