/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress line: written over itself, gone when the work is done. */
#include "cmd/progress.h"

#include <time.h>

#define PATIENCE_NS 1000000000
#define BAR_WIDTH 30

static int64_t clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, const struct cmd_context *context, const char *what,
                    bool is_quiet)
{
    progress->what = context->is_terminal && !is_quiet ? what : NULL;
    progress->begin_ns = clock_ns();
    progress->shown_percent = -1;
}

void progress_show(void *arg, double part)
{
    struct progress *progress = arg;
    int percent = part < 0 ? 0 : part > 1 ? 100 : (int)(part * 100);
    int filled = percent * BAR_WIDTH / 100;

    if (progress->what == NULL || percent == progress->shown_percent ||
        clock_ns() - progress->begin_ns < PATIENCE_NS)
        return;
    progress->shown_percent = percent;
    fprintf(stderr, "\r%s [%.*s%*s] %3d %%", progress->what, filled,
            "##############################", BAR_WIDTH - filled, "", percent);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->what != NULL && progress->shown_percent >= 0)
        fprintf(stderr, "\r%*s\r", (int)strlen(progress->what) + BAR_WIDTH + 9, "");
    progress->what = NULL;
}
