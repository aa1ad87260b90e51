/* SPDX-License-Identifier: MIT */
/* The one way in which a function of Weir says that it failed. Installed with the plug-in
 * interface, so everything here is inline and starts with weir_. */
#ifndef WEIR_BASE_ERROR_H
#define WEIR_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The value is the exit status of the program. */
enum weir_status {
    WEIR_OK,         /* done */
    WEIR_NO,         /* the check, the gate or the comparison says no */
    WEIR_USAGE,      /* wrong usage */
    WEIR_INPUT,      /* bad input */
    WEIR_INFEASIBLE, /* the schedule cannot run: shortage or deadlock */
    WEIR_DEVICE,     /* the device is not available or failed */
    WEIR_STORE,      /* storage failed */
    WEIR_MEMORY      /* out of memory */
};

/* Lives on the caller's stack; text is a whole sentence without a newline. */
struct weir_error {
    enum weir_status status;
    char text[512];
};

#if defined(__GNUC__)
#define WEIR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define WEIR_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WEIR_PRINTF(text, first)
#define WEIR_MUST_CHECK
#endif

/** Fills @p err and returns @p status, so that `return weir_error_set(...)` is one statement. */
WEIR_PRINTF(3, 4)
static inline enum weir_status weir_error_set(struct weir_error *err, enum weir_status status,
                                              const char *format, ...)
{
    va_list args;

    err->status = status;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

/** Puts "phrase: " in front of the text that is there; returns the status that is there. */
WEIR_PRINTF(2, 3)
static inline enum weir_status weir_error_within(struct weir_error *err, const char *format, ...)
{
    char inner[sizeof err->text];
    va_list args;
    size_t used;

    memcpy(inner, err->text, sizeof inner);
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ": %s", inner);
    return err->status;
}

/** The failure that every allocation shares. */
static inline enum weir_status weir_error_memory(struct weir_error *err)
{
    return weir_error_set(err, WEIR_MEMORY,
                          "out of memory; give Weir more, or a smaller graph or window");
}

#endif
