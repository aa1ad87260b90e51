/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a device is, in words: what is known and no more, in as much room as there is. */
#include "replay/device_state.h"

#include <string.h>

#include "tests/suite.h"

static struct device_state some(void)
{
    struct device_state state = device_state_unknown();

    state.figures[DEVICE_SM_MHZ] = 1965;
    state.figures[DEVICE_BEFORE_SM_MHZ] = 1980;
    state.figures[DEVICE_MOST_SM_MHZ] = 1980;
    state.figures[DEVICE_POWER_MW] = 310400;
    state.figures[DEVICE_MOST_POWER_MW] = 700000;
    state.knows_held = true;
    state.held = DEVICE_HELD_BIT(DEVICE_HELD_POWER_CAP) | DEVICE_HELD_BIT(DEVICE_HELD_HARDWARE);
    state.share = DEVICE_WHOLE;
    return state;
}

START_TEST(what_is_unknown_is_not_told)
{
    struct device_state unknown = device_state_unknown();
    char text[300];

    ck_assert_str_eq(device_state_text(&unknown, text, sizeof text), "");
    ck_assert_str_eq(device_state_notes(&unknown, text, sizeof text), "");
    unknown.figures[DEVICE_LINK_LANES] = 8; /* of who knows how many, of a generation unknown */
    unknown.figures[DEVICE_MOST_SM_MHZ] = 1980;
    ck_assert_str_eq(device_state_text(&unknown, text, sizeof text), "");
    ck_assert_str_eq(device_state_notes(&unknown, text, sizeof text), "");
}
END_TEST

START_TEST(what_is_known_is_told)
{
    struct device_state state = some();
    char text[300];

    ck_assert_str_eq(device_state_text(&state, text, sizeof text),
                     "SM clock 1965 of 1980 MHz, 1980 MHz before the run, clocks held by: software "
                     "power cap, hardware slowdown, power 310 of 700 W, MIG off");
    ck_assert_double_eq_tol(device_figure_value(&state, DEVICE_POWER_MW), 310.4, 1e-9);
    ck_assert_str_eq(device_figure_name(DEVICE_POWER_MW), "power_w");
    ck_assert_str_eq(device_figure_name(DEVICE_MOST_LINK_LANES), "greatest_pcie_lanes");
}
END_TEST

/* A power cap is no slowdown. */
START_TEST(notes_are_lines)
{
    struct device_state state = some();
    char text[600];

    state.figures[DEVICE_LINK_LANES] = 4;
    state.figures[DEVICE_MOST_LINK_LANES] = 16;
    (void)device_state_notes(&state, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "has 4 of 16 lanes"));
    ck_assert_ptr_nonnull(strstr(text, "\nthe GPU slows itself down now (hardware slowdown)"));
    ck_assert_ptr_null(strchr(strchr(text, '\n') + 1, '\n'));
    state.held = DEVICE_HELD_BIT(DEVICE_HELD_POWER_CAP);
    (void)device_state_notes(&state, text, sizeof text);
    ck_assert_ptr_null(strchr(text, '\n'));
}
END_TEST

/* Whatever the room, the text is the beginning of the whole. */
START_TEST(texts_fit_their_room)
{
    struct device_state state = some();
    char whole[300];
    size_t length = strlen(device_state_text(&state, whole, sizeof whole));

    for (size_t room = 1; room <= length + 2; room++) {
        char part[304];

        memset(part, '#', sizeof part);
        (void)device_state_text(&state, part, room);
        ck_assert_uint_eq(strlen(part), room <= length ? room - 1 : length);
        ck_assert_int_eq(strncmp(part, whole, strlen(part)), 0);
        ck_assert_int_eq(part[room], '#');
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/device_state");
    TCase *texts = tcase_create("texts");

    tcase_add_test(texts, what_is_unknown_is_not_told);
    tcase_add_test(texts, what_is_known_is_told);
    tcase_add_test(texts, notes_are_lines);
    tcase_add_test(texts, texts_fit_their_room);
    suite_add_tcase(suite, texts);
    return run_suite(suite);
}
