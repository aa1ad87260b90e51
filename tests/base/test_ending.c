/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a signal leaves behind. Each test ends a child of its own, and looks at what is left. */
#include "base/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/suite.h"

static char folder[64];

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/weir-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void tear_down(void)
{
    char command[96];

    ck_assert_int_eq(chdir("/"), 0);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The child has ended by itself (0 to 255), or by a signal (negative). */
static int end_of(pid_t child)
{
    int status;

    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void make_file(const char *path)
{
    ending_slot slot;
    int fd = ending_open(path, O_WRONLY, 0666, &slot);

    if (fd < 0 || close(fd) != 0 || slot == 0)
        _exit(99);
}

START_TEST(what_is_not_whole_is_removed)
{
    pid_t child = fork();

    if (child == 0) {
        char inner[] = "moment-XXXXXX";
        char path[32];
        ending_slot whole, slot;
        int fd;

        ending_begin();
        make_file("part");
        fd = ending_open("whole", O_WRONLY, 0666, &whole);
        ending_forget(whole);
        if (fd < 0 || ending_folder(inner, &slot) == NULL || slot == 0)
            _exit(99);
        (void)snprintf(path, sizeof path, "%s/x", inner);
        if (ending_list(path) == 0 || rename("whole", path) != 0)
            _exit(99);
        make_file("whole");
        ending_forget(slot - 1); /* of "part": a later slot stands for itself */
        make_file("other");
        (void)raise(SIGTERM);
        _exit(98);
    }
    ck_assert_int_eq(end_of(child), -SIGTERM);
    ck_assert(is_there("part"));
    ck_assert(!is_there("whole"));
    ck_assert(!is_there("other"));
    ck_assert_int_eq(system("ls -d moment-* 2>/dev/null | grep -q ."), 256);
}
END_TEST

START_TEST(what_belongs_to_others_stays)
{
    pid_t child;
    int fd = open("theirs", O_WRONLY | O_CREAT, 0666);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
    child = fork();
    if (child == 0) {
        ending_slot slot;

        ending_begin();
        if (ending_open("theirs", O_WRONLY, 0666, &slot) >= 0 || errno != EEXIST || slot != 0)
            _exit(99);
        (void)raise(SIGINT);
        _exit(98);
    }
    ck_assert_int_eq(end_of(child), -SIGINT);
    ck_assert(is_there("theirs"));
}
END_TEST

static void note(void *arg)
{
    *(volatile int *)arg += 1;
}

/* Put off until what was open is closed; then all is undone. */
START_TEST(a_signal_is_put_off)
{
    pid_t child = fork();

    if (child == 0) {
        int n_interrupts = 0;

        ending_begin();
        make_file("part");
        ending_defer(note, &n_interrupts);
        ending_defer(note, &n_interrupts);
        (void)raise(SIGINT);
        if (n_interrupts != 1 || !ending_is_due() || !is_there("part"))
            _exit(99);
        ending_leave();
        make_file("closed");
        ending_forget(2);
        ending_leave();
        _exit(98);
    }
    ck_assert_int_eq(end_of(child), -SIGINT);
    ck_assert(!is_there("part"));
    ck_assert(is_there("closed"));
}
END_TEST

START_TEST(a_second_signal_kills_at_once)
{
    pid_t child = fork();

    if (child == 0) {
        ending_begin();
        ending_defer(NULL, NULL);
        (void)raise(SIGINT);
        (void)raise(SIGTERM);
        _exit(98);
    }
    ck_assert_int_eq(end_of(child), -SIGTERM);
}
END_TEST

START_TEST(an_ignored_signal_stays_ignored)
{
    pid_t child = fork();

    if (child == 0) {
        (void)signal(SIGHUP, SIG_IGN);
        ending_begin();
        (void)raise(SIGHUP);
        _exit(7);
    }
    ck_assert_int_eq(end_of(child), 7);
}
END_TEST

START_TEST(a_child_is_killed)
{
    int ends[2];
    char byte;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        ending_slot slot;
        pid_t inner;

        ending_begin();
        inner = ending_fork(&slot);
        if (inner == 0) {
            const struct timespec long_time = {.tv_sec = 60};

            (void)nanosleep(&long_time, NULL);
            _exit(0);
        }
        (void)raise(SIGTERM);
        _exit(98);
    }
    ck_assert_int_eq(close(ends[1]), 0);
    ck_assert_int_eq(end_of(child), -SIGTERM);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* nobody holds the other end any more */
    ck_assert_int_eq(close(ends[0]), 0);
}
END_TEST

/* What a crash says, on a stack that has gone over too. */
START_TEST(a_crash_is_blamed)
{
    char text[64] = "";
    int fd = open("said", O_RDWR | O_CREAT, 0666);
    pid_t child;

    ck_assert_int_ge(fd, 0);
    child = fork();
    if (child == 0) {
        ending_begin();
        make_file("part");
        if (dup2(fd, STDERR_FILENO) < 0)
            _exit(99);
        ending_blame("it was them\n");
        (void)raise(SIGABRT);
        _exit(98);
    }
    ck_assert_int_eq(end_of(child), -SIGABRT);
    ck_assert_int_eq(pread(fd, text, sizeof text - 1, 0), 12);
    ck_assert_str_eq(text, "it was them\n");
    ck_assert(!is_there("part"));
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

/* More than there is room for: it works, and what is not listed is not removed. */
START_TEST(there_is_an_end_to_the_list)
{
    int n = 0;
    ending_slot slots[100];

    for (int i = 0; i < 100; i++) {
        slots[i] = ending_list("nothing");
        n += slots[i] != 0;
    }
    ck_assert_int_gt(n, 30);
    ck_assert_int_lt(n, 100);
    for (int i = 0; i < 100; i++)
        ending_forget(slots[i]);
    ck_assert_int_eq(ending_list("again"), 1);
    ending_forget(1);
}
END_TEST

static Suite *suite(void)
{
    const TTest *const tests[] = {
        what_is_not_whole_is_removed,
        what_belongs_to_others_stays,
        a_signal_is_put_off,
        a_second_signal_kills_at_once,
        an_ignored_signal_stays_ignored,
        a_child_is_killed,
        a_crash_is_blamed,
        there_is_an_end_to_the_list,
    };
    Suite *made = suite_create("ending");
    TCase *cases = tcase_create("ending");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
