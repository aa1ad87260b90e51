/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strings stand back to back in one buffer, each with its NUL; starts[id] says where. The table
 * is open addressing with linear steps, never more than two thirds full; a slot keeps half of the
 * hash so that most strangers are told apart, and the table grows, without a look at the text. */
#include "base/names.h"

#include <assert.h>
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
    uint64_t *starts; /* count + 1 of them once there is a string */
    size_t starts_room;
    struct slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    uint32_t count;
};

#define FIRST_SLOTS ((size_t)64)
#define LINE_MASK UINT32_C(7) /* slots of a cache line, less one */

__extension__ typedef unsigned __int128 wide;

/* The high and the low half of a product, folded: every bit of both factors counts. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of_bytes(const char *text, size_t length)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = fold(length ^ odd, UINT64_C(0xd1342543de82ef95));
    uint64_t word = 0;

    while (length >= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = fold(hash ^ word, odd);
        text += sizeof word;
        length -= sizeof word;
    }
    word = 0;
    if (length > 0)
        memcpy(&word, text, length);
    hash = fold(hash ^ word, UINT64_C(0xaf251af3b0f025b5));
    return hash ^ hash >> 32;
}

/* The low three bits are those of the name's last digit, which is left out of the rest: names that
 * count up stand together in one line of the processor's cache, and are mostly met together. */
static uint32_t hash_of(const char *text, size_t length)
{
    char key[48];
    size_t at = length;
    uint32_t hash, low;

    if (length > sizeof key)
        return (uint32_t)hash_of_bytes(text, length);
    while (at > 0 && (text[at - 1] < '0' || text[at - 1] > '9'))
        at--;
    if (at == 0)
        return (uint32_t)hash_of_bytes(text, length);
    memcpy(key, text, length);
    low = (uint32_t)key[at - 1] & LINE_MASK;
    key[at - 1] = (char)(key[at - 1] - (char)low);
    hash = (uint32_t)hash_of_bytes(key, length);
    return (hash & ~LINE_MASK) | low;
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
    free(names->starts);
    free(names->slots);
    free(names);
}

static bool is_text_of(const struct names *names, uint32_t id, const char *text, size_t length)
{
    uint64_t start = names->starts[id];

    return names->starts[id + 1] - start == (uint64_t)length + 1 &&
           memcmp(names->bytes + start, text, length) == 0;
}

/* The slot that holds the string, or the free one where it belongs. n_slots is not 0. */
static size_t slot_of(const struct names *names, const char *text, size_t length, uint32_t hash)
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

static enum weir_status grow_slots(struct names *names, struct weir_error *err)
{
    size_t n_slots = names->n_slots == 0 ? FIRST_SLOTS : names->n_slots * 2;
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

static enum weir_status make_room(struct names *names, size_t length, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    if (names->count >= NAMES_NONE - 1)
        return weir_error_set(err, WEIR_INPUT,
                              "more than 4294967293 distinct names; split the input into parts");
    if (length >= SIZE_MAX - names->n_bytes)
        return weir_error_memory(err);
    if ((size_t)names->count + 1 > names->n_slots / 3 * 2)
        status = grow_slots(names, err);
    if (status == WEIR_OK)
        status = array_grow(&names->bytes, &names->bytes_room, names->n_bytes + length + 1, err);
    if (status == WEIR_OK)
        status = array_grow(&names->starts, &names->starts_room, (size_t)names->count + 2, err);
    return status;
}

enum weir_status names_intern(struct names *names, const char *text, size_t length, uint32_t *id,
                              struct weir_error *err)
{
    uint32_t hash = hash_of(text, length);
    enum weir_status status;
    size_t at;

    assert(length == 0 || memchr(text, '\0', length) == NULL);
    if (names->n_slots > 0) {
        at = slot_of(names, text, length, hash);
        if (names->slots[at].id_plus_1 != 0) {
            *id = names->slots[at].id_plus_1 - 1;
            return WEIR_OK;
        }
    }
    status = make_room(names, length, err);
    if (status != WEIR_OK)
        return status;
    if (length > 0)
        memcpy(names->bytes + names->n_bytes, text, length);
    names->bytes[names->n_bytes + length] = '\0';
    at = slot_of(names, text, length, hash);
    names->slots[at] = (struct slot){.hash = hash, .id_plus_1 = names->count + 1};
    names->starts[names->count] = names->n_bytes;
    names->n_bytes += length + 1;
    names->starts[names->count + 1] = names->n_bytes;
    *id = names->count++;
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

const char *names_text(const struct names *names, uint32_t id)
{
    assert(id < names->count);
    return names->bytes + names->starts[id];
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}

void names_trim(struct names *names)
{
    array_trim(&names->bytes, &names->bytes_room, names->n_bytes);
    array_trim(&names->starts, &names->starts_room, (size_t)names->count + 1);
}

size_t names_memory_bytes(const struct names *names)
{
    return sizeof *names + names->bytes_room + names->starts_room * sizeof *names->starts +
           names->n_slots * sizeof *names->slots;
}
