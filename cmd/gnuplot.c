/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts gnuplot and waits for it. The child tells through a pipe that closes when it becomes
 * gnuplot whether it could; nothing of ours passes through a shell. */
#include "cmd/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ending.h"

#define LOG "gnuplot.log"

/* In the child: goes to the folder, turns its output into the log, becomes gnuplot. What keeps it
 * from that goes into the pipe. */
static void become_gnuplot(const char *folder, const char *script, int failed)
{
    static char name[] = "gnuplot", own_settings[] = "-d";
    char word[64];
    char *const words[] = {name, own_settings, word, NULL};
    int null = open("/dev/null", O_RDONLY), log = -1, error;

    (void)snprintf(word, sizeof word, "%s", script);
    if (chdir(folder) == 0)
        log = open(LOG, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (null >= 0 && log >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
        dup2(log, STDERR_FILENO) >= 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        /* The tables are UTF-8: the same figure whatever the user's locale is. */
        (void)setenv("LC_ALL", "C.UTF-8", 1);
        (void)execvp(name, words);
    }
    error = errno;
    while (write(failed, &error, sizeof error) < 0 && errno == EINTR) {
    }
    _exit(127);
}

/* The first line of the log that says something, for a message. */
static void read_complaint(const char *folder, char *out, size_t out_bytes)
{
    char path[4096], line[256];
    FILE *file;

    (void)snprintf(out, out_bytes, "it gave no reason");
    (void)snprintf(path, sizeof path, "%s/" LOG, folder);
    file = fopen(path, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t^")] != '\0') {
            (void)snprintf(out, out_bytes, "%.200s", line);
            break;
        }
    }
    (void)fclose(file);
}

static enum weir_status not_started(int error, struct weir_error *err)
{
    if (error == ENOENT || error == ENOTDIR) {
        return weir_error_set(err, WEIR_DEVICE,
                              "gnuplot, which draws the figures, is not in PATH; install it "
                              "(Debian: gnuplot-nox) and draw again");
    }
    return weir_error_set(err, WEIR_DEVICE, "gnuplot cannot be started: %s", strerror(error));
}

static enum weir_status wait_for(pid_t child, int failed, const char *folder,
                                 struct weir_error *err)
{
    int error = 0, status = 0;
    ssize_t n;
    char complaint[256];

    do {
        n = read(failed, &error, sizeof error);
    } while (n < 0 && errno == EINTR);
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return weir_error_set(err, WEIR_DEVICE, "waiting for gnuplot: %s", strerror(errno));
    }
    if (n == (ssize_t)sizeof error)
        return not_started(error, err);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return WEIR_OK;
    if (WIFSIGNALED(status)) {
        return weir_error_set(err, WEIR_DEVICE, "gnuplot was ended by signal %d", WTERMSIG(status));
    }
    read_complaint(folder, complaint, sizeof complaint);
    return weir_error_set(err, WEIR_DEVICE,
                          "gnuplot failed: %s; 5.4 or later is needed, and --tables FOLDER keeps "
                          "what it was given",
                          complaint);
}

enum weir_status gnuplot_run(const char *folder, const char *script, struct weir_error *err)
{
    int ends[2];
    ending_slot slot;
    pid_t child;
    enum weir_status status;

    if (pipe(ends) != 0)
        return weir_error_set(err, WEIR_DEVICE, "starting gnuplot: %s", strerror(errno));
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    (void)fflush(NULL);
    child = ending_fork(&slot);
    if (child < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return weir_error_set(err, WEIR_DEVICE, "starting gnuplot: %s", strerror(errno));
    }
    if (child == 0)
        become_gnuplot(folder, script, ends[1]);
    (void)close(ends[1]);
    status = wait_for(child, ends[0], folder, err);
    ending_forget(slot);
    (void)close(ends[0]);
    return status;
}
