/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts made safe: what may stand as it is stands as it is, and nothing else gets through. */
#include "base/quote.h"

#include "tests/suite.h"

struct gathered {
    char text[256];
    size_t used;
};

static void gather(void *to, const char *bytes, size_t n)
{
    struct gathered *out = to;

    ck_assert_uint_lt(out->used + n, sizeof out->text);
    memcpy(out->text + out->used, bytes, n);
    out->used += n;
}

static const char *quoted(void (*quote)(const char *, quote_put *, void *), const char *text)
{
    static struct gathered out;

    out = (struct gathered){.used = 0};
    quote(text, gather, &out);
    return out.text;
}

START_TEST(json_escapes_what_it_must)
{
    ck_assert_str_eq(quoted(quote_json, ""), "");
    ck_assert_str_eq(quoted(quote_json, "plain name, #1 </script>"), "plain name, #1 </script>");
    ck_assert_str_eq(quoted(quote_json, "a\"b\\c"), "a\\\"b\\\\c");
    ck_assert_str_eq(quoted(quote_json, "\b\f\n\r\t"), "\\b\\f\\n\\r\\t");
    ck_assert_str_eq(quoted(quote_json, "\x01\x1f\x7f"), "\\u0001\\u001f\\u007f");
}
END_TEST

START_TEST(json_keeps_valid_utf8)
{
    ck_assert_str_eq(quoted(quote_json, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(quoted(quote_json, "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"),
                     "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}
END_TEST

/* One mark for each byte that begins nothing valid: what follows is read again. */
START_TEST(json_marks_what_is_no_utf8)
{
#define MARK "\xef\xbf\xbd"
    ck_assert_str_eq(quoted(quote_json, "a\xff"
                                        "b"),
                     "a" MARK "b");
    ck_assert_str_eq(quoted(quote_json, "\xc3"), MARK); /* cut off */
    ck_assert_str_eq(quoted(quote_json, "\xe2\x82\"x"), MARK MARK "\\\"x");
    ck_assert_str_eq(quoted(quote_json, "\xc0\xaf"), MARK MARK);          /* too long a form of / */
    ck_assert_str_eq(quoted(quote_json, "\xed\xa0\x80"), MARK MARK MARK); /* a surrogate */
    ck_assert_str_eq(quoted(quote_json, "\xf4\x90\x80\x80"), MARK MARK MARK MARK);
    ck_assert_str_eq(quoted(quote_json, "\x80\x80"), MARK MARK);
}
END_TEST

START_TEST(csv_quotes_what_would_end_a_field)
{
    ck_assert_str_eq(quoted(quote_csv, "plain name"), "plain name");
    ck_assert_str_eq(quoted(quote_csv, "a,b"), "\"a,b\"");
    ck_assert_str_eq(quoted(quote_csv, "say \"hi\""), "\"say \"\"hi\"\"\"");
    ck_assert_str_eq(quoted(quote_csv, "\""), "\"\"\"\"");
    ck_assert_str_eq(quoted(quote_csv, "two\nlines\r"), "\"two\nlines\r\"");
    ck_assert_str_eq(quoted(quote_csv, " edge"), "\" edge\"");
    ck_assert_str_eq(quoted(quote_csv, "edge "), "\"edge \"");
}
END_TEST

/* What a spreadsheet would run is shown to it as a text; numbers stay numbers. */
START_TEST(csv_has_no_formulas)
{
    static const char *const numbers[] = {"0", "-1", "-0.5", "1e9", "-1.5e-09", "2E+3", ".5"};

    ck_assert_str_eq(quoted(quote_csv, "=1+2"), "'=1+2");
    ck_assert_str_eq(quoted(quote_csv, "+5"), "'+5");
    ck_assert_str_eq(quoted(quote_csv, "-x"), "'-x");
    ck_assert_str_eq(quoted(quote_csv, "-"), "'-");
    ck_assert_str_eq(quoted(quote_csv, "@SUM(a)"), "'@SUM(a)");
    ck_assert_str_eq(quoted(quote_csv, "\tx"), "'\tx");
    ck_assert_str_eq(quoted(quote_csv, "=cmd|'/c calc',1"), "\"'=cmd|'/c calc',1\"");
    ck_assert_str_eq(quoted(quote_csv, "-1+cmd"), "'-1+cmd");
    ck_assert_str_eq(quoted(quote_csv, "-1e"), "'-1e");
    ck_assert_str_eq(quoted(quote_csv, "'=x"), "''=x"); /* so that one can be taken away again */
    ck_assert_str_eq(quoted(quote_csv, "a=b"), "a=b");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ck_assert_str_eq(quoted(quote_csv, numbers[i]), numbers[i]);
}
END_TEST

START_TEST(terminal_shows_what_would_act)
{
    ck_assert_str_eq(quoted(quote_terminal, "plain \xc3\xa9 \"name\" \\ %s"),
                     "plain \xc3\xa9 \"name\" \\ %s");
    ck_assert_str_eq(quoted(quote_terminal, "a\x1b[31m\r\n\t\x7f"),
                     "a\\x1b[31m\\x0d\\x0a\\x09\\x7f");
    ck_assert_str_eq(quoted(quote_terminal, "\xc2\x9b\xc2\xa0"),
                     "\\xc2\\x9b\xc2\xa0"); /* a C1 CSI */
    ck_assert_str_eq(quoted(quote_terminal, "\xff\xe2\x82"), "\\xff\\xe2\\x82");
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("quote");
    TCase *cases = tcase_create("quote");

    tcase_add_test(cases, json_escapes_what_it_must);
    tcase_add_test(cases, json_keeps_valid_utf8);
    tcase_add_test(cases, json_marks_what_is_no_utf8);
    tcase_add_test(cases, csv_quotes_what_would_end_a_field);
    tcase_add_test(cases, csv_has_no_formulas);
    tcase_add_test(cases, terminal_shows_what_would_act);
    suite_add_tcase(made, cases);
    return made;
}

int main(void)
{
    return run_suite(suite());
}
