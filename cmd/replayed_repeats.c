/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the repeats of a replay say together, out of the settings of its run: how exactly its median is
 * known, how long the nodes of each kind took, and what it cost to time them. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "cmd/replayed_internal.h"
#include "judge/settings.h"
#include "replay/device.h"

#define MOST_NS 9e18 /* that a number of the settings may say */

/* The object under the key; NULL. */
static const char *object_of(const char *settings, const char *key)
{
    size_t length;
    const char *value = settings == NULL ? NULL : settings_value(settings, key, &length);

    return value != NULL && *value == '{' ? value : NULL;
}

static bool integer_of(const char *settings, const char *key, int64_t *out)
{
    double value;

    if (!settings_ratio(settings, key, &value) || !(fabs(value) < MOST_NS))
        return false;
    *out = (int64_t)value;
    return true;
}

/* @param of the settings, or an object of them */
static bool interval_of(const char *of, int64_t *low_ns, int64_t *high_ns)
{
    const char *interval = object_of(of, "median_interval_ns");

    return interval != NULL && integer_of(interval, "low", low_ns) &&
           integer_of(interval, "high", high_ns);
}

bool replayed_interval(const struct run *run, int64_t *low_ns, int64_t *high_ns)
{
    return run->kind == RUN_REPLAY && interval_of(run->settings, low_ns, high_ns);
}

void replayed_json_repeats(struct json *json, const struct run *run)
{
    static const char *const keys[] = {"repeats", "warm_up", "repeats_end", "median_interval_ns",
                                       "kinds",   "timing"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = 0;
        const char *value =
            run->kind == RUN_REPLAY ? settings_value(run->settings, keys[i], &length) : NULL;

        if (value == NULL)
            json_null(json, keys[i]);
        else
            json_raw_part(json, keys[i], value, length);
    }
}

/* ---- for people ---- */

static void print_kind(const char *name, const char *kind)
{
    int64_t n_nodes = 0, planned_ns = 0, median_ns = 0, low_ns, high_ns;
    char planned[NUMBER_TEXT_BYTES], median[NUMBER_TEXT_BYTES];
    char low[NUMBER_TEXT_BYTES], high[NUMBER_TEXT_BYTES];

    if (!integer_of(kind, "nodes", &n_nodes) || !integer_of(kind, "planned_ns", &planned_ns) ||
        !integer_of(kind, "median_ns", &median_ns))
        return;
    number_time_text(planned_ns, planned);
    number_time_text(median_ns, median);
    printf("    %-18s %7" PRId64 " %14s %14s", name, n_nodes, planned, median);
    if (interval_of(kind, &low_ns, &high_ns)) {
        number_time_text(low_ns, low);
        number_time_text(high_ns, high);
        printf("   %s to %s", low, high);
    }
    putchar('\n');
}

static void print_kinds(const struct run *run)
{
    const char *kinds = object_of(run->settings, "kinds");

    if (kinds == NULL)
        return;
    printf("  %-20s %7s %14s %14s   95 %% of it\n", "together, by kind", "nodes", "planned",
           "median");
    for (int k = 0; k < NODE_KINDS; k++) {
        const char *name = node_kind_name((enum node_kind)k);
        const char *kind = object_of(kinds, name);

        if (kind != NULL)
            print_kind(name, kind);
    }
}

static const char *verdict_of(const char *timing)
{
    return settings_is(timing, "verdict", "perturbed")     ? "perturbed"
           : settings_is(timing, "verdict", "undisturbed") ? "undisturbed"
                                                           : "undecided";
}

static const char *mode_of(const char *settings)
{
    for (int m = DEVICE_GATED; m <= DEVICE_SERIAL; m++) {
        if (settings_is(settings, "mode", device_mode_name((enum device_mode)m)))
            return device_mode_name((enum device_mode)m);
    }
    return "unknown";
}

/* How a GPU got its work, and what it costs to time it. */
static void print_timing(const struct run *run)
{
    const char *timing = object_of(run->settings, "timing");
    const char *interval = object_of(timing, "interval_ratio");
    double ratio, low, high;
    int64_t untimed_ns = 0, n_pairs = 0;
    char untimed[NUMBER_TEXT_BYTES];

    if (timing == NULL || !settings_ratio(timing, "ratio", &ratio) ||
        !integer_of(timing, "pairs", &n_pairs) ||
        !integer_of(run->settings, "untimed_makespan_ns", &untimed_ns))
        return;
    number_time_text(untimed_ns, untimed);
    printf("  timing          mode %s; %s when nothing is timed: timing costs %+.2f %%",
           mode_of(run->settings), untimed, 100 * (ratio - 1));
    if (interval != NULL && settings_ratio(interval, "low", &low) &&
        settings_ratio(interval, "high", &high))
        printf(" (95 %%: %+.2f %% to %+.2f %%)", 100 * (low - 1), 100 * (high - 1));
    printf(", by %" PRId64 " pairs of runs: %s\n", n_pairs, verdict_of(timing));
}

void replayed_print_repeats(const struct run *run)
{
    int64_t low_ns, high_ns;
    char low[NUMBER_TEXT_BYTES], high[NUMBER_TEXT_BYTES];

    if (run->kind != RUN_REPLAY)
        return;
    if (replayed_interval(run, &low_ns, &high_ns)) {
        number_time_text(low_ns, low);
        number_time_text(high_ns, high);
        printf("  median          between %s and %s with 95 %%\n", low, high);
    }
    print_timing(run);
    print_kinds(run);
}
