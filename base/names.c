/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strings stand back to back in one buffer, each with its NUL. Where each starts is kept in 32
 * bits, counted from the start of its block of 64 strings. The table is open addressing with linear
 * steps, never more than two thirds full; a slot keeps half of the hash so that most strangers are
 * told apart, and the table grows, without a look at the text. */
#include "base/names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct slot {
    uint32_t hash;
    uint32_t id_plus_1; /* 0: free */
};

struct names {
    char *bytes;
    size_t n_bytes, bytes_room;
    uint64_t *blocks; /* where the first string of each block starts */
    uint32_t *starts; /* from there; one more than there are strings */
    size_t blocks_room, starts_room;
    struct slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    uint32_t count;
    uint32_t n_unlisted; /* of them: names_add put these beside the table */
};

#define BLOCK UINT32_C(64)
#define SLACK 8 /* zeros behind the last string */
#define FIRST_SLOTS ((size_t)64)
#define LINE_MASK UINT32_C(7)     /* slots of a cache line, less one */
#define DIGIT_WITHIN ((size_t)48) /* of the end of a string */

__extension__ typedef unsigned __int128 wide;

/* The high and the low half of a product, folded: every bit of both factors counts. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load_8(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* All of up to 8 bytes, some of them twice. */
static inline uint64_t load_short(const char *at, size_t length)
{
    uint32_t first = 0, last = 0;

    if (length == 8)
        return load_8(at);
    if (length >= 4) {
        memcpy(&first, at, 4);
        memcpy(&last, at + length - 4, 4);
        return (uint64_t)last << 32 | first;
    }
    if (length == 0)
        return 0;
    return (uint64_t)(unsigned char)at[0] | (uint64_t)(unsigned char)at[length / 2] << 8 |
           (uint64_t)(unsigned char)at[length - 1] << 16;
}

static inline uint64_t hash_of_bytes(const char *text, size_t length)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (length + 1) * UINT64_C(0xd1342543de82ef95);

    for (; length > 8; text += 8, length -= 8)
        hash = fold(hash ^ load_8(text), odd);
    return fold(hash ^ load_short(text, length), UINT64_C(0xaf251af3b0f025b5));
}

/* Where the last digit stands; the length when there is none near the end. */
static inline size_t last_digit(const char *text, size_t length)
{
    size_t stop = length > DIGIT_WITHIN ? length - DIGIT_WITHIN : 0;

    for (size_t at = length; at > stop; at--) {
        if (text[at - 1] >= '0' && text[at - 1] <= '9')
            return at - 1;
    }
    return length;
}

/* The low three bits are those of the name's last digit, which count for nothing else: names that
 * count up stand together in one line of the processor's cache, and are mostly met together. */
static inline uint32_t hash_of(const char *text, size_t length)
{
    size_t digit = last_digit(text, length);
    uint64_t hash = hash_of_bytes(text, digit);
    uint32_t low;

    if (digit == length)
        return (uint32_t)(hash ^ hash >> 32);
    low = (uint32_t)text[digit] & LINE_MASK;
    hash += (uint64_t)text[digit] - low;
    if (digit + 1 < length)
        hash ^= hash_of_bytes(text + digit + 1, length - digit - 1);
    hash = fold(hash, UINT64_C(0x9e3779b97f4a7c15));
    return ((uint32_t)(hash ^ hash >> 32) & ~LINE_MASK) | low;
}

struct names *names_new(void)
{
    return calloc(1, sizeof(struct names));
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    free(names->bytes);
    free(names->blocks);
    free(names->starts);
    free(names->slots);
    free(names);
}

static inline uint64_t start_of(const struct names *names, uint32_t id)
{
    return names->blocks[id / BLOCK] + names->starts[id];
}

static inline bool is_equal(const char *a, const char *b, size_t length)
{
    for (; length > 8; a += 8, b += 8, length -= 8) {
        if (load_8(a) != load_8(b))
            return false;
    }
    return load_short(a, length) == load_short(b, length);
}

/* A string that is shorter than the text differs from it at its NUL at the latest: what is read
 * behind that is within the slack. */
static inline bool is_text_of(const struct names *names, uint32_t id, const char *text,
                              size_t length)
{
    const char *start = names->bytes + start_of(names, id);

    return is_equal(start, text, length) && start[length] == '\0';
}

/* The slot that holds the string, or the free one where it belongs. n_slots is not 0. */
static inline size_t slot_of(const struct names *names, const char *text, size_t length,
                             uint32_t hash)
{
    size_t mask = names->n_slots - 1;
    size_t at = hash & mask;

    while (names->slots[at].id_plus_1 != 0) {
        if (names->slots[at].hash == hash &&
            is_text_of(names, names->slots[at].id_plus_1 - 1, text, length))
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static enum weir_status grow_slots(struct names *names, size_t n_slots, struct weir_error *err)
{
    struct slot *slots = calloc(n_slots, sizeof *slots);

    if (slots == NULL)
        return weir_error_memory(err);
    for (size_t i = 0; i < names->n_slots; i++) {
        size_t at = names->slots[i].hash & (n_slots - 1);
        if (names->slots[i].id_plus_1 == 0)
            continue;
        while (slots[at].id_plus_1 != 0)
            at = (at + 1) & (n_slots - 1);
        slots[at] = names->slots[i];
    }
    free(names->slots);
    names->slots = slots;
    names->n_slots = n_slots;
    return WEIR_OK;
}

static bool are_enough(size_t n_slots, size_t count)
{
    return count <= n_slots / 3 * 2;
}

enum weir_status names_reserve(struct names *names, uint32_t n_more, struct weir_error *err)
{
    size_t count = (size_t)names->count + n_more, n_slots = names->n_slots;
    size_t n_listed = count - names->n_unlisted;
    enum weir_status status = WEIR_OK;

    if (n_more == 0)
        return WEIR_OK;
    n_slots = n_slots == 0 ? FIRST_SLOTS : n_slots;
    while (!are_enough(n_slots, n_listed))
        n_slots *= 2;
    if (n_slots != names->n_slots)
        status = grow_slots(names, n_slots, err);
    if (status == WEIR_OK)
        status = array_grow_raw(&names->starts, &names->starts_room, count + 1, err);
    return status;
}

/* Room for a string and for the start of the one after it. */
static enum weir_status make_room(struct names *names, size_t length, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    size_t need = (size_t)names->count + 2;

    if (names->count >= NAMES_NONE - 1)
        return weir_error_set(err, WEIR_INPUT,
                              "more than 4294967293 distinct names; split the input into parts");
    if (length >= UINT32_MAX / BLOCK)
        return weir_error_set(err, WEIR_INPUT,
                              "a name or text of %zu bytes; expected at most %" PRIu32
                              ": shorten it",
                              length, UINT32_MAX / BLOCK - 1);
    if (!are_enough(names->n_slots, (size_t)names->count - names->n_unlisted + 1))
        status = grow_slots(names, names->n_slots == 0 ? FIRST_SLOTS : names->n_slots * 2, err);
    if (status == WEIR_OK)
        status = array_grow_raw(&names->bytes, &names->bytes_room,
                                names->n_bytes + length + 1 + SLACK, err);
    if (status == WEIR_OK)
        status = array_grow_raw(&names->starts, &names->starts_room, need, err);
    if (status == WEIR_OK)
        status = array_grow_raw(&names->blocks, &names->blocks_room, need / BLOCK + 1, err);
    return status;
}

/* Says that the string of that number starts where the bytes end. */
static void begin(struct names *names, uint32_t id)
{
    if (id % BLOCK == 0)
        names->blocks[id / BLOCK] = names->n_bytes;
    names->starts[id] = (uint32_t)(names->n_bytes - names->blocks[id / BLOCK]);
}

static void append(struct names *names, const char *text, size_t length)
{
    if (names->count == 0)
        begin(names, 0);
    if (length > 0)
        memcpy(names->bytes + names->n_bytes, text, length);
    memset(names->bytes + names->n_bytes + length, 0, 1 + SLACK);
    names->n_bytes += length + 1;
    begin(names, ++names->count);
}

enum weir_status names_intern(struct names *names, const char *text, size_t length, uint32_t *id,
                              struct weir_error *err)
{
    uint32_t hash = hash_of(text, length);
    size_t n_slots = names->n_slots, at = 0;
    enum weir_status status;

    assert(length == 0 || memchr(text, '\0', length) == NULL);
    if (n_slots > 0) {
        at = slot_of(names, text, length, hash);
        if (names->slots[at].id_plus_1 != 0) {
            *id = names->slots[at].id_plus_1 - 1;
            return WEIR_OK;
        }
    }
    status = make_room(names, length, err);
    if (status != WEIR_OK)
        return status;
    if (names->n_slots != n_slots)
        at = slot_of(names, text, length, hash);
    *id = names->count;
    names->slots[at] = (struct slot){.hash = hash, .id_plus_1 = names->count + 1};
    append(names, text, length);
    return WEIR_OK;
}

enum weir_status names_add(struct names *names, const char *text, size_t length, uint32_t *id,
                           struct weir_error *err)
{
    enum weir_status status = make_room(names, length, err);

    assert(length == 0 || memchr(text, '\0', length) == NULL);
    if (status != WEIR_OK)
        return status;
    *id = names->count;
    names->n_unlisted++;
    append(names, text, length);
    return WEIR_OK;
}

uint32_t names_find(const struct names *names, const char *text, size_t length)
{
    size_t at;

    if (names->n_slots == 0)
        return NAMES_NONE;
    at = slot_of(names, text, length, hash_of(text, length));
    return names->slots[at].id_plus_1 == 0 ? NAMES_NONE : names->slots[at].id_plus_1 - 1;
}

/* Names that end in the same number of digits, or have them before the same end, are often counted
 * up: then the difference of the numbers is that of the ids. A guess. */
static inline uint32_t guess(const struct names *names, const char *text, size_t length,
                             uint32_t near)
{
    const char *other = names_text(names, near);
    uint64_t other_length = start_of(names, near + 1) - start_of(names, near) - 1;
    size_t last = last_digit(text, length), at = last;
    uint32_t difference = 0;

    if (other_length != length || last == length)
        return near;
    while (at > 0 && last - at < 8 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    for (; at <= last; at++)
        difference = difference * 10 + (uint32_t)(text[at] - other[at]);
    return near + difference; /* modulo 2^32 where the other has no digits there */
}

uint32_t names_find_near(const struct names *names, const char *text, size_t length, uint32_t near)
{
    uint32_t guessed;

    if (near >= names->count)
        return names_find(names, text, length);
    guessed = guess(names, text, length, near);
    if (guessed < names->count && is_text_of(names, guessed, text, length))
        return guessed;
    if (guessed != near + 1 && near + 1 < names->count && is_text_of(names, near + 1, text, length))
        return near + 1;
    return names_find(names, text, length);
}

const char *names_text(const struct names *names, uint32_t id)
{
    assert(id < names->count);
    return names->bytes + start_of(names, id);
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}

void names_trim(struct names *names)
{
    array_trim(&names->bytes, &names->bytes_room, names->n_bytes + SLACK);
    array_trim(&names->starts, &names->starts_room, (size_t)names->count + 1);
    array_trim(&names->blocks, &names->blocks_room, (size_t)names->count / BLOCK + 1);
}

size_t names_memory_bytes(const struct names *names)
{
    return sizeof *names + names->bytes_room + names->starts_room * sizeof *names->starts +
           names->blocks_room * sizeof *names->blocks + names->n_slots * sizeof *names->slots;
}
