/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the double is told to be, and to get wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/double/double.h"

struct double_config double_config;

static const char *const class_names[DOUBLE_CLASSES] = {"fma", "read", "cache", "mix",
                                                        "h2d", "d2h",  "d2d"};
static const char *const resource_names[DOUBLE_RESOURCES] = {"issue", "memory", "cache", "up",
                                                             "down"};
static const char *const fault_names[DOUBLE_FAULTS] = {
    "no_device",  "stub",          "mismatch",      "memory",       "pool",     "pool_busy",
    "launch",     "lost",          "hang",          "subscribe",    "kind",     "enable",
    "dropped",    "missing",       "zero",          "backwards",    "twice",    "stranger",
    "unended",    "overlap_small", "overlap_large", "early",        "late",     "moved",
    "other_kind", "bytes",         "short",         "unknown_kind", "loading",  "drift",
    "pool_waits", "clock",         "flush",         "flush_hangs",  "shuffled", "scattered",
    "nameless",   "ahead",         "behind",        "jump",         "jump_back"};

static void fail(const char *word)
{
    fprintf(stderr, "WEIR_DOUBLE: what is '%s'?\n", word);
    abort();
}

/* The one of the names that the text begins with; its end goes to *end. */
static int one_of(const char *text, const char *const *names, int n, const char **end)
{
    for (int i = 0; i < n; i++) {
        size_t length = strlen(names[i]);

        if (strncmp(text, names[i], length) == 0 && (text[length] == '.' || text[length] == '=')) {
            *end = text + length;
            return i;
        }
    }
    fail(text);
    return 0;
}

static enum double_class class_of(const char *text, const char **end)
{
    return (enum double_class)one_of(text, class_names, DOUBLE_CLASSES, end);
}

static int resource_of(const char *text, const char **end)
{
    return one_of(text, resource_names, DOUBLE_RESOURCES, end);
}

static double value_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (*text == '\0' || *end != '\0') {
        fail(text);
    }
    return value;
}

static void set_fault(const char *name, const char *value)
{
    for (int i = 0; i < DOUBLE_FAULTS; i++) {
        size_t length = strlen(fault_names[i]);

        if (strncmp(name, fault_names[i], length) == 0 && name[length] == '=') {
            double_config.fault[i] = (int64_t)value_of(value);
            return;
        }
    }
    fail(name);
}

static bool is_key(const char *word, const char *key)
{
    return strncmp(word, key, strlen(key)) == 0;
}

static void set(const char *word)
{
    const char *value = strchr(word, '='), *end;

    if (value == NULL) {
        fail(word);
        return;
    }
    value++;
    if (is_key(word, "fault.")) {
        set_fault(word + strlen("fault."), value);
    } else if (is_key(word, "kappa.")) {
        enum double_class slowed = class_of(word + strlen("kappa."), &end);
        enum double_class beside = class_of(end + 1, &end);

        double_config.kappa[slowed][beside] = value_of(value);
    } else if (is_key(word, "part.")) {
        enum double_class class_ = class_of(word + strlen("part."), &end);
        int resource = resource_of(end + 1, &end);

        double_config.part[class_][resource] = value_of(value);
    } else if (is_key(word, "eta.")) {
        double_config.eta[resource_of(word + strlen("eta."), &end)] = value_of(value);
    } else if (is_key(word, "power=")) {
        double_config.power = value_of(value);
    } else if (is_key(word, "share=")) {
        double_config.is_share = value_of(value) != 0;
    } else if (is_key(word, "unit_ns.")) {
        double_config.unit_ns[class_of(word + strlen("unit_ns."), &end)] = value_of(value);
    } else if (is_key(word, "fixed_ns.")) {
        double_config.fixed_ns[class_of(word + strlen("fixed_ns."), &end)] =
            (int64_t)value_of(value);
    } else if (is_key(word, "launch_ns=")) {
        double_config.launch_ns = (int64_t)value_of(value);
    } else if (is_key(word, "trace_ns=")) {
        double_config.trace_ns = (int64_t)value_of(value);
    } else if (is_key(word, "noise=")) {
        double_config.noise = value_of(value);
    } else if (is_key(word, "slower=")) {
        double_config.slower = value_of(value);
    } else if (is_key(word, "begin_ns=")) {
        double_config.begin_ns = (int64_t)value_of(value);
    } else if (is_key(word, "serial=")) {
        double_config.is_serial = value_of(value) != 0;
    } else if (is_key(word, "shift_ns=")) {
        double_config.shift_ns = (int64_t)value_of(value);
    } else if (is_key(word, "memory_bytes=")) {
        double_config.memory_bytes = (int64_t)value_of(value);
    } else if (is_key(word, "moved_bytes=")) {
        double_config.moved_bytes = (int64_t)value_of(value);
    } else if (is_key(word, "eager=")) {
        double_config.eager = (int64_t)value_of(value);
    } else if (is_key(word, "room=")) {
        double_config.room = (int64_t)value_of(value);
    } else if (is_key(word, "depth=")) {
        double_config.depth = (int64_t)value_of(value);
    } else if (is_key(word, "version=")) {
        double_config.version = (int)value_of(value);
    } else if (is_key(word, "layout=")) {
        double_config.layout = (int)value_of(value);
    } else if (is_key(word, "refused_kind=")) {
        double_config.refused_kind = (int)value_of(value);
    } else if (is_key(word, "walk=")) {
        double_config.walk = (enum double_walk)value_of(value);
    } else if (is_key(word, "init=")) {
        double_config.init_result = (cu_result)value_of(value);
    } else if (is_key(word, "open=")) {
        double_config.open_result = (cu_result)value_of(value);
    } else if (is_key(word, "compute_mode=")) {
        double_config.compute_mode = (int)value_of(value);
    } else if (is_key(word, "mig=")) {
        double_config.is_part = value_of(value) != 0;
    } else if (is_key(word, "wait_value=")) {
        double_config.has_wait_value = value_of(value) != 0;
    } else {
        fail(word);
    }
}

void double_configure(void)
{
    static bool is_done;
    const char *text = getenv("WEIR_DOUBLE");
    char words[4096], *rest = words;

    if (is_done) {
        return;
    }
    is_done = true;
    double_config = (struct double_config){.shift_ns = 10000000,
                                           .memory_bytes = (int64_t)8 << 30,
                                           .moved_bytes = 1 << 20,
                                           .version = 13000,
                                           .layout = 1300,
                                           .refused_kind = CUPTI_KIND_MEMSET,
                                           .has_wait_value = true};
    for (int i = 0; i < DOUBLE_RESOURCES; i++) {
        double_config.eta[i] = 1;
    }
    for (int i = 0; i < DOUBLE_CLASSES; i++) {
        double_config.unit_ns[i] = 1;
        for (int j = 0; j < DOUBLE_CLASSES; j++) {
            double_config.kappa[i][j] = 1;
        }
    }
    (void)snprintf(words, sizeof words, "%s", text == NULL ? "" : text);
    for (char *word = strtok_r(words, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        if (!is_key(word, "nvml.")) {
            set(word);
        }
    }
}

bool double_fails(enum double_fault fault)
{
    int64_t at = double_config.fault[fault];
    int64_t n = __atomic_add_fetch(&double_config.n_seen[fault], 1, __ATOMIC_RELAXED);

    return at < 0 ? n >= -at : n == at;
}
