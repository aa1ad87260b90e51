/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of whole numbers. The base is the least value, or one less where 0 stands for NULL, and the
 * differences are not negative; only when they would not fit 63 bits is the base one in the middle
 * that none of the values is, and the differences have a sign. */
#include "store/packed.h"

#include <assert.h>
#include <string.h>

struct range {
    int64_t least, most; /* least > most: there are only NULLs */
};

static struct range range_of(const int64_t *values, unsigned n)
{
    struct range range = {INT64_MAX, INT64_MIN};

    for (unsigned i = 0; i < n; i++) {
        int64_t least = values[i] == PACKED_NULL ? INT64_MAX : values[i];

        range.least = least < range.least ? least : range.least;
        range.most = values[i] > range.most ? values[i] : range.most; /* NULL is the least of all */
    }
    return range;
}

static bool is_among(int64_t value, const int64_t *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (values[i] == value)
            return true;
    }
    return false;
}

/* The least number that no value is further from than 2^63 - 1, and that none of them is where 0
 * stands for NULL. */
static bool find_base(int64_t *base, const int64_t *values, unsigned n, struct range range,
                      bool may_be_null)
{
    int64_t most = range.least <= 0 ? range.least + INT64_MAX : INT64_MAX;

    *base = range.most >= 0 ? range.most - INT64_MAX : -INT64_MAX;
    while (may_be_null && is_among(*base, values, n)) {
        if (*base == most)
            return false;
        ++*base;
    }
    return true;
}

/* Differences of 64 bits: a sign and 19 digits. */
static void write_signed(struct packed *packed, const int64_t *values, unsigned n, bool may_be_null)
{
    char *to = packed->room;

    for (unsigned i = 0; i < n; i++, to += DIGITS_MOST) {
        bool is_null = may_be_null && values[i] == PACKED_NULL;
        int64_t difference = is_null ? 0 : values[i] - packed->base;

        *to = difference < 0 ? '-' : '+';
        digits_put(to + 1, difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference,
                   DIGITS_MOST - 1);
    }
    packed->digits = packed->room;
    packed->n_digits = (size_t)n * DIGITS_MOST;
}

/* Eight digits are stored at once, from the last row to the first, so that what hangs over the front
 * of a row is overwritten by the row before. */
static void write_narrow(struct packed *packed, const int64_t *values, size_t n, size_t width)
{
    char *digits = packed->room + DIGITS_ROOM;

    for (size_t i = n; i > 0; i--) {
        uint64_t difference =
            values[i - 1] == PACKED_NULL ? 0 : (uint64_t)values[i - 1] - (uint64_t)packed->base;

        digits_store(digits + i * width - 8, digits_word(difference));
    }
}

static void write_wide(struct packed *packed, const int64_t *values, unsigned n, unsigned width)
{
    char *digits = packed->room + DIGITS_ROOM;

    for (unsigned i = 0; i < n; i++) {
        uint64_t difference =
            values[i] == PACKED_NULL ? 0 : (uint64_t)values[i] - (uint64_t)packed->base;

        digits_put(digits + (size_t)i * width, difference, width);
    }
}

bool packed_write(struct packed *packed, const int64_t *values, unsigned n, bool may_be_null)
{
    struct range range = range_of(values, n);
    int64_t first = may_be_null ? 1 : 0, most;
    unsigned width;

    assert(n > 0 && n <= PACKED_ROWS);
    packed->digits = packed->room + DIGITS_ROOM;
    packed->base = 0;
    packed->n_digits = 0;
    if (range.least > range.most)
        return true;
    if (__builtin_sub_overflow(range.least, first, &packed->base) ||
        __builtin_sub_overflow(range.most, packed->base, &most)) {
        if (!find_base(&packed->base, values, n, range, may_be_null))
            return false;
        write_signed(packed, values, n, may_be_null);
        return true;
    }
    if (most == 0)
        return true;
    width = digits_count((uint64_t)most);
    packed->n_digits = (size_t)n * width;
    if (width <= 8)
        write_narrow(packed, values, n, width);
    else
        write_wide(packed, values, n, width);
    return true;
}

/* ---- reading ---- */

/* A difference; false when it is none. */
static bool read_difference(const char *digits, unsigned width, int64_t *out)
{
    bool is_signed = width == DIGITS_MOST;
    uint64_t value = 0;

    if (is_signed && *digits != '+' && *digits != '-')
        return false;
    for (unsigned i = is_signed ? 1 : 0; i < width; i++) {
        unsigned digit = (unsigned)(unsigned char)digits[i] - '0';

        if (digit > 9)
            return false;
        value = 10 * value + digit; /* at most 19 digits, which fit */
    }
    if (value > INT64_MAX)
        return false;
    *out = is_signed && *digits == '-' ? -(int64_t)value : (int64_t)value;
    return true;
}

bool packed_read(int64_t base, const char *digits, size_t n_digits, unsigned n, bool may_be_null,
                 int64_t *values)
{
    unsigned width = n == 0 ? 0 : (unsigned)(n_digits / n);

    if (n == 0 || n > PACKED_ROWS || n_digits % n != 0 || n_digits / n > DIGITS_MOST)
        return false;
    for (unsigned i = 0; i < n; i++) {
        int64_t difference = 0;

        if (width > 0 && !read_difference(digits + (size_t)i * width, width, &difference))
            return false;
        if (difference == 0 && may_be_null)
            values[i] = PACKED_NULL;
        else if (__builtin_add_overflow(base, difference, &values[i]))
            return false;
    }
    return true;
}

/* ---- from rows of their own ---- */

/* Until it is full of rows, 0 or NULL where none came. */
struct gathered {
    int64_t values[PACKED_ROWS];
    unsigned n; /* one more than the last place */
    bool may_be_null;
};

static void gather(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct gathered *gathered = sqlite3_aggregate_context(context, sizeof *gathered);
    int64_t place = sqlite3_value_int64(argv[0]);

    (void)argc;
    if (gathered == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (place < 0 || place >= (int64_t)PACKED_ROWS)
        return;
    gathered->may_be_null = sqlite3_value_int(argv[2]) != 0;
    while (gathered->n <= place)
        gathered->values[gathered->n++] = gathered->may_be_null ? PACKED_NULL : 0;
    if (sqlite3_value_type(argv[1]) != SQLITE_NULL)
        gathered->values[place] = sqlite3_value_int64(argv[1]);
}

static bool pack_gathered(sqlite3_context *context, struct packed *packed)
{
    const struct gathered *gathered = sqlite3_aggregate_context(context, 0);

    if (gathered == NULL || gathered->n == 0)
        return false;
    if (packed_write(packed, gathered->values, gathered->n, gathered->may_be_null))
        return true;
    sqlite3_result_error(context, PACKED_FAULT, -1);
    return false;
}

static void give_base(sqlite3_context *context)
{
    struct packed packed;

    if (pack_gathered(context, &packed))
        sqlite3_result_int64(context, packed.base);
}

static void give_digits(sqlite3_context *context)
{
    struct packed packed;

    if (pack_gathered(context, &packed))
        sqlite3_result_blob(context, packed.digits, (int)packed.n_digits, SQLITE_TRANSIENT);
}

int packed_register(sqlite3 *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int code =
        sqlite3_create_function_v2(db, "weir_base", 3, flags, NULL, NULL, gather, give_base, NULL);

    if (code != SQLITE_OK)
        return code;
    return sqlite3_create_function_v2(db, "weir_digits", 3, flags, NULL, NULL, gather, give_digits,
                                      NULL);
}
