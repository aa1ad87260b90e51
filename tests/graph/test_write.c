/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical form of statements with any choice of the common fields: written here by hand, in the
 * order of weir-graph(5), read, and written again. One rare field more or less must not change how
 * the others are written. */
#include <inttypes.h>
#include <stdio.h>

#include "graph/text.h"
#include "tests/suite.h"

/* A field and where it stands, from the first on; "" for none. */
struct choice {
    const char *words[6]; /* "" among them; NULL after the last */
};

static const struct choice object_fields[] = {
    {{"", " domain=far", NULL}},
    {{"", " align=64", NULL}},
    {{"", " alias=base", " alias=base+8", " alias=\"a+b\"+8", " initial", NULL}},
    {{"", " retained", NULL}},
    {{"", " offloadable", NULL}},
    {{"", " origin=there", NULL}},
    {{"", " evidence=measured:probe", " evidence=\"fitted:two words\" confidence=0.5", NULL}},
};
static const struct choice node_fields[] = {
    {{"", " engine=e", NULL}},
    {{"", " duration=5", " duration=unknown", " duration=normal(7,2)", NULL}},
    {{"", " bytes=0", NULL}},
    {{"", " reads=base,a+b@far,\"a@b\"", NULL}},
    {{"", " writes=a:b", NULL}},
    {{"", " object=base", NULL}},
    {{"", " domain=far", NULL}},
    {{"", " class=heavy", NULL}},
    {{"", " release=3", NULL}},
    {{"", " pure", " impure", NULL}},
    {{"", " speculative", NULL}},
    {{"", " confidence=0.25", NULL}},
};
static const struct choice edge_fields[] = {
    {{" data-ready", " barrier", NULL}},
    {{"", " from=start", NULL}},
    {{"", " object=base", NULL}},
    {{"", " lag=12345678901", NULL}},
    {{"", " evidence=declared", " evidence=observed", NULL}},
};

struct text {
    char *bytes;
    size_t length, room;
};

static void add(struct text *text, const char *more)
{
    size_t n = strlen(more);

    if (text->length + n + 1 > text->room) {
        text->room = 2 * text->room + n + 1000;
        text->bytes = realloc(text->bytes, text->room);
        ck_assert_ptr_nonnull(text->bytes);
    }
    memcpy(text->bytes + text->length, more, n + 1);
    text->length += n;
}

/* One statement for each choice of the fields: the last field turns fastest. */
static void add_choices(struct text *text, const char *start, const struct choice *fields,
                        unsigned n_fields)
{
    unsigned at[16] = {0}, field;
    uint32_t number = 0;

    do {
        char head[80];

        (void)snprintf(head, sizeof head, start, number++);
        add(text, head);
        for (unsigned i = 0; i < n_fields; i++)
            add(text, fields[i].words[at[i]]);
        add(text, "\n");
        for (field = n_fields; field > 0; field--) {
            if (fields[field - 1].words[++at[field - 1]] != NULL)
                break;
            at[field - 1] = 0;
        }
    } while (field > 0);
}

#define MACHINE                                                         \
    "weir 1\ngraph g implied=none\ndomain near capacity=100000000000\n" \
    "domain far capacity=100000000000\nengine e bandwidth=10/s from=near to=far\n"
#define OBJECTS                                                                 \
    "object base size=100\nobject a+b size=100\nobject a@b size=9\nobject a:b " \
    "size=1\n"

/* Line by line: the whole is too long for a message. */
static void check_lines(const char *got, const char *expected)
{
    while (*expected != '\0') {
        size_t n = strcspn(expected, "\n") + 1;

        ck_assert_msg(strncmp(got, expected, n) == 0, "%.*s for %.*s", (int)strcspn(got, "\n"), got,
                      (int)n, expected);
        got += n;
        expected += n;
    }
}

/* The file and its hash, written at once, are those that are written one by one. */
static void check_hashed(const struct graph *graph, const char *expected)
{
    char hash[HASH_TEXT_BYTES], hash_of_both[HASH_TEXT_BYTES], *bytes = NULL;
    size_t length = 0;
    struct weir_error err;
    FILE *file = open_memstream(&bytes, &length);

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(graph_write_hashed(graph, file, hash_of_both, &err), WEIR_OK);
    ck_assert_int_eq(fclose(file), 0);
    check_lines(bytes, expected);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_int_eq(graph_hash(graph, hash, &err), WEIR_OK);
    ck_assert_str_eq(hash, hash_of_both);
    free(bytes);
}

static void check_same(const struct text *text)
{
    struct report *report = report_new(5);
    struct graph *graph = NULL;
    struct weir_error err;
    char *again = NULL;
    size_t length;

    ck_assert_msg(
        graph_read_text(text->bytes, text->length, "text", report, &graph, &err) == WEIR_OK,
        "%s: %s", err.text, report_count(report) > 0 ? report_finding(report, 0)->message : "");
    ck_assert_int_eq(graph_write_text(graph, &again, &length, &err), WEIR_OK);
    check_lines(again, text->bytes);
    ck_assert_uint_eq(length, text->length);
    check_hashed(graph, again);
    free(again);
    graph_free(graph);
    report_free(report);
    free(text->bytes);
}

#define N(fields) (unsigned)(sizeof fields / sizeof *fields)

START_TEST(objects_with_every_choice_of_fields)
{
    struct text text = {NULL, 0, 0};

    add(&text, MACHINE OBJECTS);
    add_choices(&text, "object o%" PRIu32 " size=50", object_fields, N(object_fields));
    check_same(&text);
}
END_TEST

START_TEST(nodes_with_every_choice_of_fields)
{
    struct text text = {NULL, 0, 0};

    add(&text, MACHINE OBJECTS);
    add_choices(&text, "node n%" PRIu32 " compute", node_fields, N(node_fields));
    add_choices(&text, "node \"copy %" PRIu32 "\" transfer engine=e", node_fields + 1,
                N(node_fields) - 1);
    check_same(&text);
}
END_TEST

START_TEST(edges_with_every_choice_of_fields)
{
    struct text text = {NULL, 0, 0};

    add(&text, MACHINE OBJECTS "node a compute\nnode \"b,c\" compute\nnode d\303\251 compute\n");
    add_choices(&text, "edge a \"b,c\"", edge_fields, N(edge_fields));
    add_choices(&text, "edge \"b,c\" d\303\251", edge_fields, N(edge_fields));
    check_same(&text);
}
END_TEST

/* Names and details around every length at which a buffer or a shortcut ends. */
START_TEST(texts_of_every_length)
{
    char line[2400], name[1100];
    struct text text = {NULL, 0, 0};

    add(&text, "weir 1\ngraph g\ndomain d capacity=1000\n");
    for (int n = 1; n < 1100; n += n < 140 || (n > 240 && n < 270) ? 1 : 37) {
        memset(name, 'a' + n % 26, (size_t)n);
        name[n] = '\0';
        (void)snprintf(line, sizeof line, "object %s size=%d evidence=measured:%s\n", name, n,
                       n % 3 == 0 ? "same" : name);
        add(&text, line);
    }
    check_same(&text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("write");
    TCase *tests = tcase_create("write");

    tcase_add_test(tests, objects_with_every_choice_of_fields);
    tcase_add_test(tests, nodes_with_every_choice_of_fields);
    tcase_add_test(tests, edges_with_every_choice_of_fields);
    tcase_add_test(tests, texts_of_every_length);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
