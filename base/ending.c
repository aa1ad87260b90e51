/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A handler sees nothing but static storage, so here is the one place where Weir keeps some. The
 * main thread changes it with signals blocked, and no other thread takes them: the handler never
 * meets a change half done. It calls only what POSIX lists as safe there. */
#define _XOPEN_SOURCE 700 /* sigaltstack: NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */
#include "base/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_THINGS 64
#define STACK_BYTES (64 << 10) /* for a crash that is a stack gone over */

/* A path or a child; of an empty slot both are empty. */
struct thing {
    char *path;
    pid_t child;
};

static const int enders[] = {SIGINT, SIGTERM, SIGHUP};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct {
    struct thing things[MOST_THINGS];
    const char *erase, *blame;
    void (*interrupt)(void *);
    void *interrupt_arg;
    int n_deferred;
    volatile sig_atomic_t due; /* the signal that was put off */
    pid_t owner;               /* a child that is not another program yet undoes nothing */
    struct sigaction before_blame[COUNT(crashes)];
    sigset_t before_threads;
} ending;

static void all_enders(sigset_t *set)
{
    (void)sigemptyset(set);
    for (size_t i = 0; i < COUNT(enders); i++)
        (void)sigaddset(set, enders[i]);
}

/* Nothing ends the program until release(), which gets what hold() filled. */
static void hold(sigset_t *before)
{
    sigset_t set;

    all_enders(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

static void release(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

void ending_threads_begin(void)
{
    hold(&ending.before_threads);
}

void ending_threads_end(void)
{
    release(&ending.before_threads);
}

/* ---- in the handler ---- */

static void say(const char *text)
{
    if (text != NULL && write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody left to tell */
}

/* Newest first: what is in a folder goes before the folder. */
static void undo(void)
{
    if (ending.owner != getpid())
        return;
    say(ending.erase);
    for (size_t i = MOST_THINGS; i-- > 0;) {
        const struct thing *thing = &ending.things[i];

        if (thing->child > 0) {
            (void)kill(thing->child, SIGKILL);
            while (waitpid(thing->child, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        if (thing->path != NULL && unlink(thing->path) != 0)
            (void)rmdir(thing->path);
    }
}

static void set_handler(int signal_, void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    all_enders(&action.sa_mask);
    (void)sigaction(signal_, &action, NULL);
}

/* The next signal finds the default: it kills at once. */
static void on_end(int signal_)
{
    int error = errno;

    for (size_t i = 0; i < COUNT(enders); i++)
        set_handler(enders[i], SIG_DFL, 0);
    if (ending.n_deferred > 0) {
        ending.due = signal_;
        if (ending.interrupt != NULL)
            ending.interrupt(ending.interrupt_arg);
        errno = error;
        return;
    }
    undo();
    (void)raise(signal_); /* blocked until the handler returns, and then deadly */
}

static void on_crash(int signal_)
{
    set_handler(signal_, SIG_DFL, 0);
    say(ending.blame);
    undo();
    (void)raise(signal_);
}

/* ---- outside ---- */

void ending_begin(void)
{
    ending.owner = getpid();
    for (size_t i = 0; i < COUNT(enders); i++) {
        struct sigaction before;

        if (sigaction(enders[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            set_handler(enders[i], on_end, SA_RESTART);
    }
}

/* With signals blocked. Slots fill from the lowest, so that things in a folder follow it. */
static ending_slot add(const char *path, pid_t child)
{
    size_t i = MOST_THINGS;

    while (i > 0 && ending.things[i - 1].path == NULL && ending.things[i - 1].child == 0)
        i--;
    if (i == MOST_THINGS)
        return 0;
    if (path != NULL) {
        size_t bytes = strlen(path) + 1;
        char *copy = malloc(bytes);

        if (copy == NULL)
            return 0;
        memcpy(copy, path, bytes);
        ending.things[i].path = copy;
    }
    ending.things[i].child = child;
    return (ending_slot)i + 1;
}

int ending_open(const char *path, int flags, mode_t mode, ending_slot *slot)
{
    sigset_t before;
    int fd;

    hold(&before);
    fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    *slot = 0;
    if (fd >= 0)
        *slot = add(path, 0);
    release(&before);
    return fd;
}

char *ending_folder(char *template, ending_slot *slot)
{
    sigset_t before;
    char *path;

    hold(&before);
    path = mkdtemp(template);
    *slot = 0;
    if (path != NULL)
        *slot = add(path, 0);
    release(&before);
    return path;
}

ending_slot ending_list(const char *path)
{
    sigset_t before;
    ending_slot slot;

    hold(&before);
    slot = add(path, 0);
    release(&before);
    return slot;
}

pid_t ending_fork(ending_slot *slot)
{
    sigset_t before;
    pid_t child;

    hold(&before);
    child = fork();
    *slot = child > 0 ? add(NULL, child) : 0;
    for (size_t i = 0; child == 0 && i < COUNT(enders); i++) {
        struct sigaction now;

        if (sigaction(enders[i], NULL, &now) == 0 && now.sa_handler == on_end)
            set_handler(enders[i], SIG_DFL, 0);
    }
    release(&before);
    return child;
}

void ending_forget(ending_slot slot)
{
    sigset_t before;
    char *path;

    if (slot == 0)
        return;
    hold(&before);
    path = ending.things[slot - 1].path;
    ending.things[slot - 1] = (struct thing){.path = NULL};
    release(&before);
    free(path);
}

void ending_erase(const char *text)
{
    ending.erase = text;
}

void ending_defer(void (*interrupt)(void *), void *arg)
{
    sigset_t before;

    hold(&before);
    ending.n_deferred++;
    ending.interrupt = interrupt;
    ending.interrupt_arg = arg;
    release(&before);
}

void ending_leave(void)
{
    sigset_t before;
    int due;

    hold(&before);
    ending.interrupt = NULL;
    due = --ending.n_deferred == 0 ? ending.due : 0;
    release(&before);
    if (due == 0)
        return;
    undo();
    (void)raise(due);
}

int ending_is_due(void)
{
    return ending.due != 0;
}

void ending_blame(const char *text)
{
    static char room[STACK_BYTES];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};

    if (text != NULL && ending.blame == NULL) {
        (void)sigaltstack(&stack, NULL);
        for (size_t i = 0; i < COUNT(crashes); i++)
            (void)sigaction(crashes[i], NULL, &ending.before_blame[i]);
    }
    for (size_t i = 0; i < COUNT(crashes); i++) {
        if (text != NULL)
            set_handler(crashes[i], on_crash, SA_ONSTACK);
        else if (ending.blame != NULL)
            (void)sigaction(crashes[i], &ending.before_blame[i], NULL);
    }
    ending.blame = text;
}
