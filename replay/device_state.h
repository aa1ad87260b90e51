/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a device is at one moment, as far as it tells: how fast its clocks are, and why no faster, how
 * hot it is, how it is connected. What it does not tell is unknown, and never 0. */
#ifndef WEIR_REPLAY_DEVICE_STATE_H
#define WEIR_REPLAY_DEVICE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_figure {
    DEVICE_SM_MHZ,        /* the clock of the multiprocessors now */
    DEVICE_BEFORE_SM_MHZ, /* and when the last run began */
    DEVICE_MOST_SM_MHZ,   /* and the most that it may be */
    DEVICE_MEMORY_MHZ,
    DEVICE_MOST_MEMORY_MHZ,
    DEVICE_TEMPERATURE_C,
    DEVICE_POWER_MW,
    DEVICE_MOST_POWER_MW,
    DEVICE_LINK_GENERATION, /* of PCIe, now, and the most that device and machine can together */
    DEVICE_MOST_LINK_GENERATION,
    DEVICE_LINK_LANES,
    DEVICE_MOST_LINK_LANES,
    DEVICE_FIGURES
};

#define DEVICE_UNKNOWN ((int64_t)-1)

/* Why clocks are lower than they could be. */
enum device_held {
    DEVICE_HELD_IDLE,
    DEVICE_HELD_SETTING,
    DEVICE_HELD_POWER_CAP,
    DEVICE_HELD_SYNC_BOOST,
    DEVICE_HELD_DISPLAY,
    /* From here on a device slows down to protect itself. */
    DEVICE_HELD_HEAT,
    DEVICE_HELD_HARDWARE_HEAT,
    DEVICE_HELD_POWER_BRAKE,
    DEVICE_HELD_HARDWARE,
    DEVICE_HELDS
};
/* Of a set of reasons, one bit each. */
#define DEVICE_HELD_BIT(held) (UINT32_C(1) << (held))
#define DEVICE_SLOWDOWNS                                                              \
    (DEVICE_HELD_BIT(DEVICE_HELD_HEAT) | DEVICE_HELD_BIT(DEVICE_HELD_HARDWARE_HEAT) | \
     DEVICE_HELD_BIT(DEVICE_HELD_POWER_BRAKE) | DEVICE_HELD_BIT(DEVICE_HELD_HARDWARE))

enum device_share { DEVICE_SHARE_UNKNOWN, DEVICE_WHOLE, DEVICE_DIVIDED };

struct device_state {
    char driver_version[80];         /* "" unknown */
    int64_t figures[DEVICE_FIGURES]; /* DEVICE_UNKNOWN or the figure */
    bool knows_held;
    uint32_t held;            /* bits of enum device_held */
    enum device_share share;  /* divided: this is a part of a GPU (MIG) */
    const char *compute_mode; /* who may use it: "default", ...; NULL unknown */
    char why_unknown[200];    /* why nobody could be asked for the most of it; "" */
};

/** Of a device that tells nothing of itself. */
struct device_state device_state_unknown(void);
/** "sm_clock_mhz", "power_limit_w", ...: as in answers. */
const char *device_figure_name(enum device_figure);
/** In the unit of its name. */
double device_figure_value(const struct device_state *, enum device_figure);
/** "hardware thermal slowdown", ... */
const char *device_held_name(enum device_held);
/** The names of all bits of the set, joined by ", ". @return out */
const char *device_held_text(uint32_t held, char *out, size_t out_bytes);

/** All that is known, in a line: "driver 580.65.06, SM clock 1965 of 1980 MHz, ..."; "" when nothing is.
 *  @return out */
const char *device_state_text(const struct device_state *, char *out, size_t out_bytes);

/** Of what should be looked at, such as a link with fewer lanes than it could have, one a line of the
 *  text; "" when there is nothing. @return out */
const char *device_state_notes(const struct device_state *, char *out, size_t out_bytes);

#endif
