/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker is this program again, started anew and not forked on, since no driver outlives a fork.
 * It knows that it is the worker, and where to show signs of life, by a variable of its
 * environment. */
#define _GNU_SOURCE
#include "cmd/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/number.h"
#include "replay/device.h"

#define SILENCE_NS ((int64_t)300 * 1000000000)

enum weir_status supervise_is_due(const struct cmd_context *context, const char *device,
                                  bool *is_due, struct weir_error *err)
{
    const struct device_ops *ops;
    enum weir_status status = device_find(device, &ops, err);

    *is_due = status == WEIR_OK && ops->has_modes && context->worker_fd < 0;
    return status;
}

static enum weir_status read_silence(const char *text, int64_t *ns, struct weir_error *err)
{
    *ns = SILENCE_NS;
    if (text != NULL && (number_time(text, strlen(text), ns) != NUMBER_OK || *ns < 1000000)) {
        return weir_error_set(err, WEIR_USAGE,
                              "--deadline %.40s: a time of 1ms or more was expected, such as 300s",
                              text);
    }
    return WEIR_OK;
}

/* In the child: becomes the worker, or ends with 127. */
static void become_worker(const char *verb, int argc, char **argv, int alive)
{
    char name[32];
    char **words = calloc((size_t)argc + 3, sizeof *words);

    (void)snprintf(name, sizeof name, "%d", alive);
    if (words != NULL && setenv(CMD_WORKER_VARIABLE, name, 1) == 0) {
        words[0] = "weir";
        words[1] = (char *)(uintptr_t)verb;
        for (int i = 0; i < argc; i++) {
            words[i + 2] = argv[i];
        }
        (void)execv("/proc/self/exe", words);
    }
    _exit(127);
}

/* Waits for the worker's end as long as it shows signs of life.
 * @return false when it has been silent for too long */
static bool watch(int alive, int64_t silence_ns)
{
    struct pollfd fd = {.fd = alive, .events = POLLIN};
    char signs[256];

    for (;;) {
        int ready =
            poll(&fd, 1, silence_ns / 1000000 > INT32_MAX ? -1 : (int)(silence_ns / 1000000));

        if (ready == 0) {
            return false;
        }
        if (ready > 0 && read(alive, signs, sizeof signs) <= 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            return true;
        }
    }
}

static enum weir_status tell_end(int status, bool was_silent, int64_t silence_ns,
                                 struct weir_error *err)
{
    char silence[NUMBER_TEXT_BYTES];

    if (was_silent) {
        number_time_text(silence_ns, silence);
        return weir_error_set(
            err, WEIR_DEVICE,
            "the device's worker showed no sign of life for %s and was ended: the "
            "driver or CUPTI hangs; the store holds whole runs, as before",
            silence);
    }
    if (WIFSIGNALED(status)) {
        return weir_error_set(err, WEIR_DEVICE,
                              "the device's worker died by signal %d (%s): look for the fault in "
                              "the driver or CUPTI first; the store holds whole runs, as before",
                              WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == 127) {
        return weir_error_set(err, WEIR_DEVICE,
                              "the device's worker cannot be started: this "
                              "program is not found in /proc/self/exe");
    }
    err->text[0] = '\0'; /* the worker has said it */
    return err->status = (enum weir_status)WEXITSTATUS(status);
}

enum weir_status supervise(const char *verb, int argc, char **argv, const char *silence,
                           struct weir_error *err)
{
    int ends[2], status = 0;
    int64_t silence_ns;
    bool was_silent;
    ending_slot slot;
    pid_t child;

    if (read_silence(silence, &silence_ns, err) != WEIR_OK) {
        return err->status;
    }
    if (pipe(ends) != 0) {
        return weir_error_set(err, WEIR_DEVICE, "starting the device's worker: %s",
                              strerror(errno));
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fflush(NULL);
    child = ending_fork(&slot);
    if (child == 0) {
        become_worker(verb, argc, argv, ends[1]);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return weir_error_set(err, WEIR_DEVICE, "starting the device's worker: %s",
                              strerror(errno));
    }
    was_silent = !watch(ends[0], silence_ns);
    if (was_silent) {
        (void)kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ending_forget(slot);
    (void)close(ends[0]);
    return tell_end(status, was_silent, silence_ns, err);
}
