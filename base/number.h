/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact numbers with units: what is written is what is meant, or it is refused. No quantity passes
 * through a double. */
#ifndef WEIR_BASE_NUMBER_H
#define WEIR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_fault {
    NUMBER_OK,
    NUMBER_EMPTY,    /* nothing there */
    NUMBER_SYNTAX,   /* not a decimal number */
    NUMBER_UNIT,     /* a unit that this quantity does not have */
    NUMBER_FRACTION, /* a fraction of a byte or of a nanosecond */
    NUMBER_RANGE,    /* past what 64 bits hold */
    NUMBER_NEGATIVE  /* below 0 */
};

/* Each reads the whole of text[0..length): decimal digits, perhaps a fraction, perhaps a unit.
 * *out is written only on NUMBER_OK. */

/** B, KB ... TB (powers of 1000), KiB ... TiB (powers of 1024); bare is bytes. */
enum number_fault number_size(const char *text, size_t length, int64_t *bytes);
/** ns, us, ms, s; bare is nanoseconds. */
enum number_fault number_time(const char *text, size_t length, int64_t *ns);
/** SIZE/s; bare is bytes per second. */
enum number_fault number_rate(const char *text, size_t length, int64_t *bytes_per_s);
/** N/s with N perhaps in K, M, G, T, P (powers of 1000); bare is per second. */
enum number_fault number_flops(const char *text, size_t length, int64_t *per_s);
/** A whole number, perhaps negative. */
enum number_fault number_integer(const char *text, size_t length, int64_t *out);
/** A finite decimal number, perhaps with an exponent (kappa factors, confidences, parameters). */
enum number_fault number_ratio(const char *text, size_t length, double *out);

/** @return what the fault means, for the end of a message: "a fraction of a byte ..." */
const char *number_fault_text(enum number_fault fault);

/* The longest text below, with its NUL. */
#define NUMBER_TEXT_BYTES 40
/** Writes the shortest decimal text that reads back as the same double. */
void number_ratio_text(double value, char out[NUMBER_TEXT_BYTES]);
/** For people: 1.5 ms, 20 us, 80.0 GB; never for files that are read again. */
void number_time_text(int64_t ns, char out[NUMBER_TEXT_BYTES]);
void number_size_text(int64_t bytes, char out[NUMBER_TEXT_BYTES]);

/** ceil(a * b / c) without overflow in between. a, b >= 0, c > 0.
 *  @return false when the result does not fit. */
bool number_mul_div_ceil(int64_t a, int64_t b, int64_t c, int64_t *out);

#endif
