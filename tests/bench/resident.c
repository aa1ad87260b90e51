/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VmRSS and VmHWM of /proc/self/status; writing 5 to clear_refs begins a new peak. */
#include "tests/bench/resident.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t status_bytes(const char *format)
{
    FILE *file = fopen("/proc/self/status", "r");
    int64_t kib = 0;
    char line[256];

    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, format, &kib) != 1) {
            kib = 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib * 1024;
}

int64_t resident_bytes(void)
{
    return status_bytes("VmRSS: %" SCNd64);
}

int64_t resident_peak_bytes(void)
{
    return status_bytes("VmHWM: %" SCNd64);
}

void resident_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file != NULL) {
        (void)fputs("5", file);
        (void)fclose(file);
    }
}
