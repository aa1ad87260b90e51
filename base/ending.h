/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a signal that ends the program must not leave behind: files that are not whole, a folder that
 * was for the moment, a child, a line on the terminal. It is undone, and then the program dies by
 * the signal, as whoever sent it expects. A second signal kills at once. */
#ifndef WEIR_BASE_ENDING_H
#define WEIR_BASE_ENDING_H

#include <sys/types.h>

/** Takes SIGINT, SIGTERM and SIGHUP over, unless they are ignored (nohup, a job in the background).
 *  Without it nothing below does anything. For main alone. */
void ending_begin(void);

/* Everything below is for the main thread. Other threads block the signals:
 * ending_threads_begin. */

/* A thing that is to be undone; 0 is none. */
typedef int ending_slot;

/** open(2) of a new file (O_CREAT | O_EXCL | O_CLOEXEC), to be removed by a signal until it is
 *  forgotten. @return as open does: -1 with errno; *slot is 0 when it cannot be listed */
int ending_open(const char *path, int flags, mode_t mode, ending_slot *slot);
/** mkdtemp(3), the same way. What is put into it is listed before it is made, by ending_list. */
char *ending_folder(char *template, ending_slot *slot);
/** A path that a signal removes. */
ending_slot ending_list(const char *path);
/** A signal leaves the thing be: it is whole, or gone. */
void ending_forget(ending_slot slot);
/** fork(2), whose child a signal kills and waits for until it is forgotten. */
pid_t ending_fork(ending_slot *slot);

/** Bytes that a signal writes to standard error first, to take a line away there; NULL: none.
 *  @param text of static storage */
void ending_erase(const char *text);

/** Until ending_leave a signal is put off: it calls @p interrupt (which may be NULL) and no more.
 *  For what has to be closed in order. May be nested: the last interrupt counts. */
void ending_defer(void (*interrupt)(void *), void *arg);
/** What is deferred happens at ending_leave: undoes all and does not return when a signal came. */
void ending_leave(void);
/** Has a signal been put off? Who works long looks, and fails. */
int ending_is_due(void);

/** While the program runs code that is not its own: a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 *  SIGABRT) says @p text on standard error, undoes all, and goes on as the crash it is. NULL: no
 *  longer. @param text has to live until then */
void ending_blame(const char *text);

/** Around the creation of threads, which then never take the signals that end the program. Not
 *  nested. */
void ending_threads_begin(void);
void ending_threads_end(void);

#endif
