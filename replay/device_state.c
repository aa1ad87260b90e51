/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a device's state, in words. */
#include "replay/device_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/attributes.h"

/* A text in the making. */
struct writing {
    char *out;
    size_t used, room;
    const char *between; /* parts */
};

PRINTF_LIKE(2, 3)
static void add(struct writing *w, const char *format, ...)
{
    va_list args;
    size_t left = w->room - w->used;
    int added = snprintf(w->out + w->used, left, "%s", w->used == 0 ? "" : w->between);

    if ((size_t)added < left) {
        va_start(args, format);
        added += vsnprintf(w->out + w->used + added, left - (size_t)added, format, args);
        va_end(args);
    }
    w->used += (size_t)added < left ? (size_t)added : left - 1;
}

static struct writing begin(char *out, size_t out_bytes, const char *between)
{
    out[0] = '\0';
    return (struct writing){out, 0, out_bytes, between};
}

struct device_state device_state_unknown(void)
{
    struct device_state state = {.share = DEVICE_SHARE_UNKNOWN};

    for (int i = 0; i < DEVICE_FIGURES; i++)
        state.figures[i] = DEVICE_UNKNOWN;
    return state;
}

const char *device_figure_name(enum device_figure figure)
{
    static const char *const names[DEVICE_FIGURES] = {"sm_clock_mhz",
                                                      "sm_clock_before_mhz",
                                                      "greatest_sm_clock_mhz",
                                                      "memory_clock_mhz",
                                                      "greatest_memory_clock_mhz",
                                                      "temperature_c",
                                                      "power_w",
                                                      "power_limit_w",
                                                      "pcie_generation",
                                                      "greatest_pcie_generation",
                                                      "pcie_lanes",
                                                      "greatest_pcie_lanes"};

    return names[figure];
}

double device_figure_value(const struct device_state *state, enum device_figure figure)
{
    bool is_milli = figure == DEVICE_POWER_MW || figure == DEVICE_MOST_POWER_MW;

    return (double)state->figures[figure] / (is_milli ? 1000 : 1);
}

const char *device_held_name(enum device_held held)
{
    static const char *const names[DEVICE_HELDS] = {"idle",
                                                    "clock setting",
                                                    "software power cap",
                                                    "sync boost",
                                                    "display clock setting",
                                                    "software thermal slowdown",
                                                    "hardware thermal slowdown",
                                                    "power brake",
                                                    "hardware slowdown"};

    return names[held];
}

const char *device_held_text(uint32_t held, char *out, size_t out_bytes)
{
    struct writing w = begin(out, out_bytes, ", ");

    for (int i = 0; i < DEVICE_HELDS; i++) {
        if ((held & DEVICE_HELD_BIT(i)) != 0)
            add(&w, "%s", device_held_name((enum device_held)i));
    }
    return out;
}

static bool knows(const struct device_state *state, enum device_figure figure)
{
    return state->figures[figure] != DEVICE_UNKNOWN;
}

/* "SM clock 345 of 1980 MHz" */
static void add_of(struct writing *w, const struct device_state *state, const char *what,
                   enum device_figure now, enum device_figure most, const char *unit)
{
    if (knows(state, now) && knows(state, most))
        add(w, "%s %.0f of %.0f %s", what, device_figure_value(state, now),
            device_figure_value(state, most), unit);
    else if (knows(state, now))
        add(w, "%s %.0f %s", what, device_figure_value(state, now), unit);
}

const char *device_state_text(const struct device_state *state, char *out, size_t out_bytes)
{
    char held[200];
    struct writing w = begin(out, out_bytes, ", ");

    if (state->driver_version[0] != '\0')
        add(&w, "driver %s", state->driver_version);
    add_of(&w, state, "SM clock", DEVICE_SM_MHZ, DEVICE_MOST_SM_MHZ, "MHz");
    if (knows(state, DEVICE_BEFORE_SM_MHZ))
        add(&w, "%" PRId64 " MHz before the run", state->figures[DEVICE_BEFORE_SM_MHZ]);
    add_of(&w, state, "memory clock", DEVICE_MEMORY_MHZ, DEVICE_MOST_MEMORY_MHZ, "MHz");
    if (state->knows_held && state->held != 0)
        add(&w, "clocks held by: %s", device_held_text(state->held, held, sizeof held));
    if (knows(state, DEVICE_TEMPERATURE_C))
        add(&w, "%" PRId64 " C", state->figures[DEVICE_TEMPERATURE_C]);
    add_of(&w, state, "power", DEVICE_POWER_MW, DEVICE_MOST_POWER_MW, "W");
    if (knows(state, DEVICE_LINK_GENERATION) && knows(state, DEVICE_LINK_LANES))
        add(&w, "PCIe %" PRId64 " x%" PRId64, state->figures[DEVICE_LINK_GENERATION],
            state->figures[DEVICE_LINK_LANES]);
    if (state->share != DEVICE_SHARE_UNKNOWN)
        add(&w, "MIG %s", state->share == DEVICE_DIVIDED ? "on" : "off");
    if (state->compute_mode != NULL)
        add(&w, "compute mode %s", state->compute_mode);
    return out;
}

static bool is_below(const struct device_state *state, enum device_figure now,
                     enum device_figure most)
{
    return knows(state, now) && knows(state, most) && state->figures[now] < state->figures[most];
}

const char *device_state_notes(const struct device_state *state, char *out, size_t out_bytes)
{
    char held[200];
    struct writing w = begin(out, out_bytes, "\n");

    if (is_below(state, DEVICE_LINK_LANES, DEVICE_MOST_LINK_LANES))
        add(&w,
            "the PCIe link has %" PRId64 " of %" PRId64
            " lanes: copies from and to the host are that much slower; seat the card again, or "
            "look "
            "for what shares its slot",
            state->figures[DEVICE_LINK_LANES], state->figures[DEVICE_MOST_LINK_LANES]);
    if (is_below(state, DEVICE_LINK_GENERATION, DEVICE_MOST_LINK_GENERATION))
        add(&w,
            "the PCIe link runs at generation %" PRId64 " of %" PRId64
            ": an idle GPU lowers it; if it stays while copies run, they are slower than they "
            "could "
            "be",
            state->figures[DEVICE_LINK_GENERATION], state->figures[DEVICE_MOST_LINK_GENERATION]);
    if ((state->held & DEVICE_SLOWDOWNS) != 0)
        add(&w,
            "the GPU slows itself down now (%s): a replay will not be trusted until that is over",
            device_held_text(state->held & DEVICE_SLOWDOWNS, held, sizeof held));
    if (state->share == DEVICE_DIVIDED)
        add(&w,
            "this is a part of a GPU that is divided (MIG): the processors and the memory that it "
            "tells are its own, and the link to the host is everybody's");
    if (state->why_unknown[0] != '\0')
        add(&w, "no more is known of the GPU: %s", state->why_unknown);
    return out;
}
