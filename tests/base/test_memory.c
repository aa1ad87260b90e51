/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arenas and growable arrays. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "tests/suite.h"

START_TEST(arena_gives_zeroed_aligned_memory)
{
    struct arena arena = {0};

    for (size_t size = 0; size < 300; size++) {
        unsigned char *bytes = arena_alloc(&arena, size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_uint_eq(bytes[i], 0);
        memset(bytes, 0xff, size); /* would show in a later piece that overlaps */
    }
    arena_free(&arena);
}
END_TEST

START_TEST(arena_holds_pieces_larger_than_a_block)
{
    struct arena arena = {0};
    size_t size = (size_t)1 << 20;
    char *small = arena_text(&arena, "before", 6), *large = arena_alloc(&arena, size);

    ck_assert_ptr_nonnull(small);
    ck_assert_ptr_nonnull(large);
    large[size - 1] = 'x';
    ck_assert_str_eq(small, "before");
    ck_assert_uint_ge(arena.total_bytes, size);
    arena_free(&arena);
    ck_assert_uint_eq(arena.total_bytes, 0);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1)); /* usable again */
    arena_free(&arena);
}
END_TEST

START_TEST(arena_refuses_what_overflows)
{
    struct arena arena = {0};

    ck_assert_ptr_null(arena_array(&arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX - 3));
    ck_assert_ptr_null(arena_text(&arena, "", SIZE_MAX));
    ck_assert_ptr_nonnull(arena_array(&arena, 10, 3));
    arena_free(&arena);
}
END_TEST

START_TEST(arena_text_ends_in_nul)
{
    struct arena arena = {0};
    char *text = arena_text(&arena, "abcdef", 3);

    ck_assert_str_eq(text, "abc");
    arena_free(&arena);
}
END_TEST

START_TEST(array_keeps_items_and_zeroes_new_room)
{
    struct weir_error err;
    uint32_t *items = NULL;
    size_t room = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_int_eq(array_grow(&items, &room, (size_t)i + 1, &err), WEIR_OK);
        ck_assert_uint_eq(items[i], 0);
        items[i] = i + 1;
    }
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(items[i], i + 1);
    ck_assert_uint_ge(room, 1000);
    ck_assert_uint_le(room, 2000); /* doubles, and no more */
    free(items);
}
END_TEST

START_TEST(array_stays_as_it_was_when_memory_is_out)
{
    struct weir_error err;
    uint64_t *items = NULL;
    size_t room = 0;

    ck_assert_int_eq(array_grow(&items, &room, 4, &err), WEIR_OK);
    uint64_t *before = items;
    size_t room_before = room;
    ck_assert_int_eq(array_grow(&items, &room, SIZE_MAX / 4, &err), WEIR_MEMORY);
    ck_assert_int_eq(err.status, WEIR_MEMORY);
    ck_assert_ptr_eq(items, before);
    ck_assert_uint_eq(room, room_before);
    free(items);
}
END_TEST

START_TEST(array_gives_room_back)
{
    struct weir_error err;
    uint32_t *items = NULL;
    size_t room = 0;

    array_trim(&items, &room, 0);
    ck_assert_int_eq(array_grow(&items, &room, 1000, &err), WEIR_OK);
    items[99] = 7;
    array_trim(&items, &room, 100);
    ck_assert_uint_eq(room, 100);
    ck_assert_uint_eq(items[99], 7);
    array_trim(&items, &room, 500); /* nothing to give */
    ck_assert_uint_eq(room, 100);
    ck_assert_int_eq(array_grow(&items, &room, 101, &err), WEIR_OK);
    ck_assert_uint_eq(items[100], 0); /* new room is zeroed, as ever */
    free(items);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *arena = tcase_create("arena"), *array = tcase_create("array");

    tcase_add_test(arena, arena_gives_zeroed_aligned_memory);
    tcase_add_test(arena, arena_holds_pieces_larger_than_a_block);
    tcase_add_test(arena, arena_refuses_what_overflows);
    tcase_add_test(arena, arena_text_ends_in_nul);
    tcase_add_test(array, array_keeps_items_and_zeroes_new_room);
    tcase_add_test(array, array_stays_as_it_was_when_memory_is_out);
    tcase_add_test(array, array_gives_room_back);
    suite_add_tcase(suite, arena);
    suite_add_tcase(suite, array);
    return run_suite(suite);
}
