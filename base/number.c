/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing quantities. A number with a unit is exact: its fraction is multiplied out
 * digit by digit, so that 0.5KiB is 512 and 0.1B is refused, however many digits there are. */
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

struct unit {
    const char *name;
    int64_t of;
};

static const struct unit size_units[] = {
    {"B", 1},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
    {NULL, 0},
};
static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};
static const struct unit flops_units[] = {
    {"K", 1000},          {"M", 1000000},          {"G", 1000000000},
    {"T", 1000000000000}, {"P", 1000000000000000}, {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_digit(text[n]))
        n++;
    return n;
}

#define SAFE_DIGITS 18 /* of any value, which 64 bits hold */

/* Multiplies the digits before the point by @p unit. */
static enum number_fault whole_part(const char *digits, size_t n, int64_t unit, int64_t *out)
{
    int64_t value = 0;
    size_t at = 0;

    for (; at < n && at < SAFE_DIGITS; at++)
        value = value * 10 + (digits[at] - '0');
    for (size_t i = at; i < n; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digits[i] - '0', &value))
            return NUMBER_RANGE;
    }
    return __builtin_mul_overflow(value, unit, out) ? NUMBER_RANGE : NUMBER_OK;
}

/* Multiplies 0.DIGITS by @p unit, at most 2^50, from the last digit to the first: each digit of
 * the product behind the point must be 0, and what is carried past the point is the result. */
static enum number_fault fraction_part(const char *digits, size_t n, int64_t unit, int64_t *out)
{
    int64_t carry = 0;

    while (n-- > 0) {
        int64_t sum = (digits[n] - '0') * unit + carry;
        if (sum % 10 != 0)
            return NUMBER_FRACTION;
        carry = sum / 10;
    }
    *out = carry;
    return NUMBER_OK;
}

static const struct unit *unit_named(const struct unit *units, const char *name, size_t length)
{
    for (; units->name != NULL; units++) {
        if (strncmp(units->name, name, length) == 0 && units->name[length] == '\0')
            return units;
    }
    return NULL;
}

/* DIGITS[.DIGITS][UNIT] */
static enum number_fault read_quantity(const char *text, size_t length, const struct unit *units,
                                       int64_t *out)
{
    size_t n_whole, n_fraction = 0, used;
    int64_t unit = 1, whole, fraction = 0;
    enum number_fault fault;

    if (length == 0)
        return NUMBER_EMPTY;
    if (length > 1 && text[0] == '-' && is_digit(text[1]))
        return NUMBER_NEGATIVE;
    n_whole = used = count_digits(text, length);
    if (n_whole == 0)
        return NUMBER_SYNTAX;
    if (used < length && text[used] == '.') {
        n_fraction = count_digits(text + used + 1, length - used - 1);
        if (n_fraction == 0)
            return NUMBER_SYNTAX;
        used += 1 + n_fraction;
    }
    if (used < length) {
        const struct unit *found = unit_named(units, text + used, length - used);
        if (found == NULL)
            return NUMBER_UNIT;
        unit = found->of;
    }
    fault = whole_part(text, n_whole, unit, &whole);
    if (fault == NUMBER_OK && n_fraction > 0)
        fault = fraction_part(text + n_whole + 1, n_fraction, unit, &fraction);
    if (fault != NUMBER_OK)
        return fault;
    if (__builtin_add_overflow(whole, fraction, &whole))
        return NUMBER_RANGE;
    *out = whole;
    return NUMBER_OK;
}

enum number_fault number_size(const char *text, size_t length, int64_t *bytes)
{
    return read_quantity(text, length, size_units, bytes);
}

enum number_fault number_time(const char *text, size_t length, int64_t *ns)
{
    return read_quantity(text, length, time_units, ns);
}

/* A quantity by the second: a unit must be followed by /s, a bare number may be. */
static enum number_fault per_second(const char *text, size_t length, const struct unit *units,
                                    int64_t *out)
{
    static const struct unit none[] = {{NULL, 0}};

    if (length > 2 && memcmp(text + length - 2, "/s", 2) == 0)
        return read_quantity(text, length - 2, units, out);
    return read_quantity(text, length, none, out);
}

enum number_fault number_rate(const char *text, size_t length, int64_t *bytes_per_s)
{
    return per_second(text, length, size_units, bytes_per_s);
}

enum number_fault number_flops(const char *text, size_t length, int64_t *per_s)
{
    return per_second(text, length, flops_units, per_s);
}

enum number_fault number_integer(const char *text, size_t length, int64_t *out)
{
    bool is_negative = length > 0 && text[0] == '-';
    size_t sign = is_negative ? 1 : 0;
    int64_t value = 0;

    if (length == 0)
        return NUMBER_EMPTY;
    if (sign == length || count_digits(text + sign, length - sign) != length - sign)
        return NUMBER_SYNTAX;
    for (size_t i = sign; i < length; i++) {
        int64_t digit = is_negative ? '0' - text[i] : text[i] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return NUMBER_RANGE;
    }
    *out = value;
    return NUMBER_OK;
}

/* [-]DIGITS[.DIGITS][e[+-]DIGITS]: what strtod reads in the C locale, less names and hexadecimal. */
static bool is_decimal(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-' ? 1 : 0;
    size_t n = count_digits(text + at, length - at);

    if (n == 0)
        return false;
    at += n;
    if (at < length && text[at] == '.') {
        n = count_digits(text + at + 1, length - at - 1);
        if (n == 0)
            return false;
        at += 1 + n;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-'))
            at++;
        n = count_digits(text + at, length - at);
        if (n == 0)
            return false;
        at += n;
    }
    return at == length;
}

enum number_fault number_ratio(const char *text, size_t length, double *out)
{
    char copy[512];
    double value;

    if (length == 0)
        return NUMBER_EMPTY;
    if (!is_decimal(text, length))
        return NUMBER_SYNTAX;
    if (length >= sizeof copy)
        return NUMBER_RANGE;
    memcpy(copy, text, length);
    copy[length] = '\0';
    value = strtod(copy, NULL);
    if (!isfinite(value))
        return NUMBER_RANGE;
    *out = value;
    return NUMBER_OK;
}

const char *number_fault_text(enum number_fault fault)
{
    switch (fault) {
    case NUMBER_OK:
        return "a number";
    case NUMBER_EMPTY:
        return "nothing where a number should be";
    case NUMBER_SYNTAX:
        return "not a decimal number";
    case NUMBER_UNIT:
        return "a unit that this quantity does not have";
    case NUMBER_FRACTION:
        return "a fraction of a byte or nanosecond";
    case NUMBER_RANGE:
        return "past what 64 bits hold";
    case NUMBER_NEGATIVE:
        return "below 0";
    }
    return "not a number";
}

void number_ratio_text(double value, char out[NUMBER_TEXT_BYTES])
{
    int digits = 1;

    do {
        (void)snprintf(out, NUMBER_TEXT_BYTES, "%.*g", digits, value);
    } while (strtod(out, NULL) != value && digits++ < 17);
    /* 100 and not 1e+02: more digits may need no exponent. */
    for (; strchr(out, 'e') != NULL && digits <= 17; digits++) {
        char longer[NUMBER_TEXT_BYTES];
        (void)snprintf(longer, sizeof longer, "%.*g", digits, value);
        if (strlen(longer) < strlen(out))
            memcpy(out, longer, sizeof longer);
    }
}

/* WHOLE.FRACTION UNIT with at most @p places digits behind the point, rounded half up; fewer when
 * the last are zeros, but not fewer than @p least_places. */
static void people_text(int64_t value, const struct unit *unit, int places, int least_places,
                        char out[NUMBER_TEXT_BYTES])
{
    wide magnitude = value < 0 ? (wide)(-(value + 1)) + 1 : (wide)value;
    wide scale = 1, of = (uint64_t)unit->of;

    for (int i = 0; i < places; i++)
        scale *= 10;
    magnitude = (magnitude * scale * 2 + of) / (of * 2);
    while (places > least_places && magnitude % 10 == 0) {
        magnitude /= 10;
        scale /= 10;
        places--;
    }
    if (places == 0)
        (void)snprintf(out, NUMBER_TEXT_BYTES, "%s%llu %s", value < 0 ? "-" : "",
                       (unsigned long long)magnitude, unit->name);
    else
        (void)snprintf(out, NUMBER_TEXT_BYTES, "%s%llu.%0*llu %s", value < 0 ? "-" : "",
                       (unsigned long long)(magnitude / scale), places,
                       (unsigned long long)(magnitude % scale), unit->name);
}

/* The greatest of the units of 1000 that @p value reaches; the first when it reaches none. */
static const struct unit *unit_for(int64_t value, const struct unit *units, int n_units)
{
    int at = n_units - 1;

    while (at > 0 && value < units[at].of && value > -units[at].of)
        at--;
    return &units[at];
}

void number_time_text(int64_t ns, char out[NUMBER_TEXT_BYTES])
{
    people_text(ns, unit_for(ns, time_units, 4), 3, 0, out);
}

void number_size_text(int64_t bytes, char out[NUMBER_TEXT_BYTES])
{
    const struct unit *unit = unit_for(bytes, size_units, 5);
    int places = unit->of == 1 ? 0 : 1;

    people_text(bytes, unit, places, places, out);
}

bool number_mul_div_ceil(int64_t a, int64_t b, int64_t c, int64_t *out)
{
    wide product = (wide)a * (wide)b, divisor = (uint64_t)c;
    wide result = (product + divisor - 1) / divisor;

    if (result > INT64_MAX)
        return false;
    *out = (int64_t)result;
    return true;
}
