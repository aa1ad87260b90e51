/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every fault of a text, with its code, its line and column, and what the message must say. The
 * fault is one more line behind a graph that is right; columns count bytes from 1. */
#include "tests/graph/texts.h"

#define GOOD                          \
    "weir 1\n"                        \
    "domain hbm capacity=80GB\n"      \
    "engine sm\n"                     \
    "resource pcie capacity=64GB/s\n" \
    "guard g on\n"                    \
    "object act size=1KB\n"           \
    "node first compute engine=sm duration=1us\n"
#define GOOD_LINES 7

struct fault {
    const char *line;
    enum finding_code code;
    uint32_t column;
    const char *says;
};

static const struct fault faults[] = {
    /* Words. */
    {"nod x compute", FINDING_UNKNOWN_STATEMENT, 1, "\"nod\"; did you mean node?"},
    {"something else", FINDING_UNKNOWN_STATEMENT, 1, "\"something\""},
    {"Node x compute", FINDING_UNKNOWN_STATEMENT, 1, "\"Node\"; did you mean node?"},
    {"weir 1", FINDING_SYNTAX, 1, "a second time"},
    {"node \"x barrier", FINDING_SYNTAX, 6, "quote that is not closed"},
    {"node x barrier origin=\"a", FINDING_SYNTAX, 23, "quote that is not closed"},
    {"node x\"y barrier", FINDING_SYNTAX, 7, "a quote inside a bare word"},
    {"node \"x\"y barrier", FINDING_SYNTAX, 9, "right behind a closing quote"},
    {"node \"x\\n\" barrier", FINDING_SYNTAX, 8, "backslash"},
    {"node \"x\\x0g\" barrier", FINDING_SYNTAX, 8, "backslash"},
    {"node \"x\\x00\" barrier", FINDING_SYNTAX, 8, "backslash"},
    {"node \"\" barrier", FINDING_SYNTAX, 6, "empty"},
    {"node x\001 barrier", FINDING_ENCODING, 7, "\\x01 is a control character"},
    {"node x \x7f", FINDING_ENCODING, 8, "\\x7f"},
    {"node x barrier \r origin=y", FINDING_ENCODING, 16, "\\x0d"},
    {"node \xc3( barrier", FINDING_ENCODING, 6, "\\xc3 is not UTF-8"},
    {"node x barrier origin=\xff", FINDING_ENCODING, 23, "\\xff"},
    {"\x1fnode", FINDING_ENCODING, 1, "\\x1f"},
    /* Fields. */
    {"node", FINDING_MISSING_FIELD, 5, "the node statement has no name"},
    {"node x", FINDING_MISSING_FIELD, 7, "no kind, one of compute, allocation"},
    {"edge first", FINDING_MISSING_FIELD, 11, "no consumer"},
    {"edge first first", FINDING_MISSING_FIELD, 17, "no type, one of data-ready"},
    {"kappa a", FINDING_MISSING_FIELD, 8, "no class"},
    {"kappa a b", FINDING_MISSING_FIELD, 10, "no factor"},
    {"overlap sm sm", FINDING_MISSING_FIELD, 14, "no rule, one of allowed, forbidden, unknown"},
    {"param a b", FINDING_MISSING_FIELD, 10, "no value"},
    {"guard h", FINDING_MISSING_FIELD, 8, "no state, one of off, on"},
    {"graph", FINDING_MISSING_FIELD, 6, "no name"},
    {"domain d reserve=1", FINDING_MISSING_FIELD, 19, "no capacity="},
    {"resource r", FINDING_MISSING_FIELD, 11, "no capacity="},
    {"object o domain=hbm", FINDING_MISSING_FIELD, 20, "no size="},
    {"node x barrier engin=sm", FINDING_UNKNOWN_FIELD, 16, "\"engin\" (engine?)"},
    {"node x barrier extra", FINDING_UNKNOWN_FIELD, 16, "\"extra\""},
    {"node x barrier =3", FINDING_UNKNOWN_FIELD, 16, "\"\""},
    {"node x barrier \"engine=sm\"", FINDING_UNKNOWN_FIELD, 16, "its fields are"},
    {"engine e bandwith=1GB/s", FINDING_UNKNOWN_FIELD, 10, "\"bandwith\" (bandwidth?)"},
    {"node x barrier engine=sm engine=sm", FINDING_DUPLICATE_FIELD, 26, "engine= stands a second"},
    {"node x barrier pure pure", FINDING_DUPLICATE_FIELD, 21, "pure"},
    {"node x barrier pure impure", FINDING_DUPLICATE_FIELD, 21, "impure"},
    {"node x barrier impure pure", FINDING_DUPLICATE_FIELD, 23, "pure"},
    {"node x barrier engine", FINDING_BAD_VALUE, 22, "engine has no value"},
    {"node x barrier engine=", FINDING_BAD_VALUE, 22, "engine has no value"},
    {"object o size=1 initial=yes", FINDING_BAD_VALUE, 24, "initial takes no value"},
    {"node x barrier reads=act,,act", FINDING_SYNTAX, 26, "nothing where a name"},
    {"node x barrier reads=act,", FINDING_SYNTAX, 26, "nothing where a name"},
    {"node x barrier reads=,act", FINDING_SYNTAX, 22, "nothing where a name"},
    {"node x barrier reads=act@", FINDING_SYNTAX, 26, "nothing where a name"},
    /* Words of a list. */
    {"node x compte", FINDING_BAD_VALUE, 8, "\"compte\" (compute?)"},
    {"node x engine=sm", FINDING_BAD_VALUE, 8, "kind is \"engine=sm\""},
    {"edge first first after", FINDING_BAD_VALUE, 18, "type is \"after\""},
    {"edge first first ordering from=end", FINDING_BAD_VALUE, 32, "from is \"end\""},
    {"overlap sm sm maybe", FINDING_BAD_VALUE, 15, "rule is \"maybe\""},
    {"guard h yes", FINDING_BAD_VALUE, 9, "state is \"yes\""},
    {"graph x scope=none", FINDING_BAD_VALUE, 15, "expected one of cold, warm"},
    {"graph x implied=some", FINDING_BAD_VALUE, 17, "none, all"},
    {"node x barrier evidence=guessed", FINDING_BAD_VALUE, 25, "evidence is \"guessed\""},
    {"node x barrier evidence=\"guessed:by, me\"", FINDING_BAD_VALUE, 25, "\"guessed\""},
    /* Names. */
    {"node x barrier engine=sn", FINDING_UNKNOWN_NAME, 23,
     "no engine is called \"sn\"; the nearest is \"sm\""},
    {"node x barrier reads=acct", FINDING_UNKNOWN_NAME, 22, "the nearest is \"act\""},
    {"node x barrier reads=act@hbn", FINDING_UNKNOWN_NAME, 26, "the nearest is \"hbm\""},
    {"node x barrier reads=act,nothing", FINDING_UNKNOWN_NAME, 26,
     "no object is called \"nothing\""},
    {"node x barrier writes=nothing", FINDING_UNKNOWN_NAME, 23, "no object"},
    {"node x barrier object=first", FINDING_UNKNOWN_NAME, 23, "no object is called \"first\""},
    {"node x barrier from=sm", FINDING_UNKNOWN_NAME, 21, "no domain"},
    {"node x barrier to=sm", FINDING_UNKNOWN_NAME, 19, "no domain"},
    {"node x barrier domain=sm", FINDING_UNKNOWN_NAME, 23, "no domain"},
    {"node x barrier workspace=1@sm", FINDING_UNKNOWN_NAME, 28, "no domain"},
    {"node x barrier staging=1@sm", FINDING_UNKNOWN_NAME, 26, "no domain"},
    {"node x barrier uses=sm:1", FINDING_UNKNOWN_NAME, 21, "no resource"},
    {"node x barrier guard=h", FINDING_UNKNOWN_NAME, 22, "no guard"},
    {"node x barrier fallback=y", FINDING_UNKNOWN_NAME, 25, "no node is called \"y\""},
    {"node x barrier fallback=\"wait\"", FINDING_UNKNOWN_NAME, 25, "no node is called \"wait\""},
    {"edge y first ordering", FINDING_UNKNOWN_NAME, 6, "no node"},
    {"edge first y ordering", FINDING_UNKNOWN_NAME, 12, "no node"},
    {"edge first firts ordering", FINDING_UNKNOWN_NAME, 12, "the nearest is \"first\""},
    {"edge first first ordering object=o", FINDING_UNKNOWN_NAME, 34, "no object"},
    {"engine e domain=d", FINDING_UNKNOWN_NAME, 17, "no domain"},
    {"engine e from=hbm to=d", FINDING_UNKNOWN_NAME, 22, "no domain"},
    {"object o size=1 alias=q", FINDING_UNKNOWN_NAME, 23, "no object"},
    {"object o size=1 recompute=q", FINDING_UNKNOWN_NAME, 27, "no node"},
    {"object o size=1 placements=hbm,q", FINDING_UNKNOWN_NAME, 32, "no domain"},
    {"object o size=1 offset=0@q", FINDING_UNKNOWN_NAME, 26, "no domain"},
    {"domain hbm capacity=1", FINDING_DUPLICATE_NAME, 8, "already, on line 2"},
    {"engine sm", FINDING_DUPLICATE_NAME, 8, "already, on line 3"},
    {"resource pcie capacity=1", FINDING_DUPLICATE_NAME, 10, "already, on line 4"},
    {"guard g off", FINDING_DUPLICATE_NAME, 7, "already, on line 5"},
    {"object act size=1", FINDING_DUPLICATE_NAME, 8, "already, on line 6"},
    {"node \"first\" barrier", FINDING_DUPLICATE_NAME, 6, "already, on line 7"},
    /* Quantities. */
    {"domain d capacity=1XB", FINDING_BAD_VALUE, 19, "a unit that this quantity does not have"},
    {"domain d capacity=lots", FINDING_BAD_VALUE, 19, "not a decimal number"},
    {"domain d capacity=1.5", FINDING_BAD_VALUE, 19, "a fraction of a byte"},
    {"domain d capacity=\"\"", FINDING_BAD_VALUE, 19, "nothing where a number should be"},
    {"domain d capacity=-1", FINDING_OUT_OF_RANGE, 19, "below 0"},
    {"domain d capacity=0", FINDING_OUT_OF_RANGE, 19, "from 1 to 9223372036854775807"},
    {"domain d capacity=9300000000GB", FINDING_OUT_OF_RANGE, 19, "past what 64 bits hold"},
    {"domain d capacity=1 granule=0", FINDING_OUT_OF_RANGE, 29, "from 1"},
    {"domain d capacity=1 reserve=-2", FINDING_OUT_OF_RANGE, 29, "below 0"},
    {"engine e slots=0", FINDING_OUT_OF_RANGE, 16, "from 1"},
    {"engine e slots=-1", FINDING_OUT_OF_RANGE, 16, "from 1"},
    {"engine e slots=1.5", FINDING_BAD_VALUE, 16, "whole number"},
    {"engine e bandwidth=0", FINDING_OUT_OF_RANGE, 20, "from 1"},
    {"engine e bandwidth=10GB", FINDING_BAD_VALUE, 20, "expected a rate such as 25GB/s"},
    {"engine e flops=0", FINDING_OUT_OF_RANGE, 16, "from 1"},
    {"engine e flops=1TB/s", FINDING_BAD_VALUE, 16, "989T/s"},
    {"engine e latency=-1", FINDING_OUT_OF_RANGE, 18, "below 0"},
    {"resource r capacity=0", FINDING_OUT_OF_RANGE, 21, "from 1"},
    {"object o size=-1", FINDING_OUT_OF_RANGE, 15, "below 0"},
    {"object o size=1 align=0", FINDING_OUT_OF_RANGE, 23, "from 1"},
    {"object o size=1 ready=-1", FINDING_OUT_OF_RANGE, 23, "below 0"},
    {"object o size=1 alias=act+-1", FINDING_OUT_OF_RANGE, 27, "below 0"},
    {"object o size=1 alias=act+x", FINDING_BAD_VALUE, 27, "not a decimal number"},
    {"object o size=1 offset=1", FINDING_BAD_VALUE, 25, "BYTES@DOMAIN"},
    {"object o size=1 offset=1@hbm,2", FINDING_BAD_VALUE, 29, "one value, not a list"},
    {"node x compute duration=-1", FINDING_OUT_OF_RANGE, 25, "below 0"},
    {"node x compute duration=1h", FINDING_BAD_VALUE, 25, "a time such as 20us"},
    {"node x compute duration=normal(1us)", FINDING_BAD_VALUE, 25, "mean and standard deviation"},
    {"node x compute duration=normal(1,2,3)", FINDING_BAD_VALUE, 25, "expected 2"},
    {"node x compute duration=normal(1,-2)", FINDING_OUT_OF_RANGE, 25, "below 0"},
    {"node x compute duration=lognormal(0,1)", FINDING_OUT_OF_RANGE, 25, "a time above 0"},
    {"node x compute duration=gamma(0,1)", FINDING_OUT_OF_RANGE, 25, "a time above 0"},
    {"node x compute duration=uniform(2,1)", FINDING_OUT_OF_RANGE, 25, "LEAST,GREATEST"},
    {"node x compute duration=empirical()", FINDING_BAD_VALUE, 25, "nothing where a number"},
    {"node x compute duration=unknown(1)", FINDING_BAD_VALUE, 25, "duration=unknown"},
    {"node x compute duration=normal(1,2", FINDING_BAD_VALUE, 25, "not closed"},
    {"node x compute duration=norml(1,2)", FINDING_BAD_VALUE, 25, "(normal?)"},
    {"node x compute duration=(1,2)", FINDING_BAD_VALUE, 25, "expected one of normal"},
    {"node x compute bytes=-1", FINDING_OUT_OF_RANGE, 22, "below 0"},
    {"node x compute priority=high", FINDING_BAD_VALUE, 25, "a whole number"},
    {"node x compute release=-1", FINDING_OUT_OF_RANGE, 24, "below 0"},
    {"node x compute deadline=-1", FINDING_OUT_OF_RANGE, 25, "below 0"},
    {"node x compute workspace=-1", FINDING_OUT_OF_RANGE, 26, "below 0"},
    {"node x compute workspace=1,2x", FINDING_BAD_VALUE, 28, "a unit that"},
    {"node x compute staging=1@hbm,2@hbm", FINDING_BAD_VALUE, 29, "one value, not a list"},
    {"node x compute uses=pcie", FINDING_BAD_VALUE, 25, "no rate for the resource \"pcie\""},
    {"node x compute uses=pcie:1,pcie:2", FINDING_BAD_VALUE, 28, "\"pcie\" twice"},
    {"node x compute uses=pcie:-1", FINDING_OUT_OF_RANGE, 26, "below 0"},
    {"node x barrier confidence=1.5", FINDING_OUT_OF_RANGE, 27, "from 0 to 1"},
    {"node x barrier confidence=-0.5", FINDING_OUT_OF_RANGE, 27, "from 0 to 1"},
    {"node x barrier confidence=nan", FINDING_BAD_VALUE, 27, "not a decimal number"},
    {"edge first first ordering lag=-1", FINDING_OUT_OF_RANGE, 31, "below 0"},
    {"kappa a b 0", FINDING_OUT_OF_RANGE, 11, "above 0"},
    {"kappa a b -1", FINDING_OUT_OF_RANGE, 11, "above 0"},
    {"kappa a b inf", FINDING_BAD_VALUE, 11, "not a decimal number"},
    {"kappa a b 1e999", FINDING_OUT_OF_RANGE, 11, "past what 64 bits hold"},
    {"kappa \"\" b 1", FINDING_BAD_VALUE, 7, "class is empty"},
    {"overlap sm sm allowed earliest=-1", FINDING_OUT_OF_RANGE, 32, "below 0"},
    {"param f n x", FINDING_BAD_VALUE, 11, "a decimal number"},
    /* What holds between fields and statements. */
    {"object o size=600 alias=act+500", FINDING_BAD_ALIAS, 25, "reaches past its 1000 bytes"},
    {"object o size=1 alias=o", FINDING_BAD_ALIAS, 23, "in a circle"},
    {"object o size=1 alias=act initial", FINDING_ALIAS_STORAGE, 23, "`initial`"},
    {"object o size=1 offset=9223372036854775807@hbm", FINDING_OUT_OF_RANGE, 24,
     "past what 64 bits"},
    {"overlap sm sm allowed earliest=2 latest=1", FINDING_OUT_OF_RANGE, 32,
     "earliest up to latest"},
    {"domain d capacity=1 reserve=2", FINDING_OUT_OF_RANGE, 29, "reserves 2 of 1 bytes"},
    {"node x transfer object=act duration=1", FINDING_BAD_COPY_NODE, 24, "no domain to copy it to"},
    {"node x compute duration=1 uses=pcie:65GB/s", FINDING_OVER_RESOURCE, 32,
     "65000000000 bytes/s"},
    {"object o size=9223372036854775807", FINDING_OUT_OF_RANGE, 0, "sizes of all objects"},
    {"node x compute duration=1 workspace=9223372036854775807", FINDING_OUT_OF_RANGE, 0,
     "workspaces"},
    {"node x compute duration=1 staging=9223372036854775807@hbm", FINDING_OUT_OF_RANGE, 0,
     "staging"},
    {"node x compute duration=9223372036854775807", FINDING_OUT_OF_RANGE, 0, "lengths and lags"},
    {"edge first first ordering lag=9223372036854775807", FINDING_OUT_OF_RANGE, 0, "lags"},
    {"node x barrier release=9223372036854775807", FINDING_OUT_OF_RANGE, 0, "release times"},
    {"object o size=1 ready=9223372036854775807", FINDING_OUT_OF_RANGE, 0, "release times"},
};

static struct report *report_of(const char *text)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;

    ck_assert_int_eq(graph_read_text(text, strlen(text), "f.weir", report, &graph, &err),
                     WEIR_INPUT);
    ck_assert_ptr_null(graph);
    ck_assert_ptr_nonnull(strstr(err.text, "f.weir"));
    return report;
}

static void check_finding(const char *line, const struct finding *found, const struct fault *fault,
                          uint32_t on_line)
{
    char shown[2048];

    report_line(found, shown, sizeof shown);
    ck_assert_msg(found->code == fault->code, "%s\n%s", line, shown);
    ck_assert_msg(strstr(found->message, fault->says) != NULL, "%s\n%s\nlacks: %s", line, shown,
                  fault->says);
    ck_assert_msg(found->at.column == fault->column, "%s\n%s\nexpected column %u", line, shown,
                  fault->column);
    if (fault->column == 0)
        return; /* of the graph as a whole */
    ck_assert_str_eq(found->at.file, "f.weir");
    ck_assert_msg(found->at.line == on_line, "%s\n%s", line, shown);
}

START_TEST(fault_is_found_where_it_is)
{
    const struct fault *fault = &faults[_i];
    char text[2048];

    (void)snprintf(text, sizeof text, GOOD "%s\n", fault->line);
    struct report *report = report_of(text);
    ck_assert_uint_eq(report_errors(report), 1);
    check_finding(fault->line, report_finding(report, 0), fault, GOOD_LINES + 1);
    report_free(report);
}
END_TEST

START_TEST(facts_are_given_once)
{
    static const struct fault kappa = {"", FINDING_DUPLICATE_FACT, 6, "already, on line 8"};
    struct report *report = report_of(GOOD "kappa a b 2\nkappa b a 2\nkappa a b 2\n");

    ck_assert_uint_eq(report_errors(report), 1);
    check_finding("kappa", report_finding(report, 0), &kappa, 10);
    report_free(report);
    report = report_of(GOOD "param f a 2\nparam f b 2\nparam f a 3\n");
    ck_assert_uint_eq(report_errors(report), 1);
    check_finding("param", report_finding(report, 0), &kappa, 10);
    report_free(report);
    report = report_of(GOOD "graph a\ngraph b\n");
    ck_assert_int_eq(report_finding(report, 0)->code, FINDING_DUPLICATE_NAME);
    ck_assert_uint_eq(report_finding(report, 0)->at.line, 9);
    report_free(report);
}
END_TEST

START_TEST(aliases_are_no_circle)
{
    struct report *report = report_of(
        GOOD "object a size=1 alias=b\nobject b size=1 alias=c\nobject c size=1 alias=a\n");

    ck_assert_uint_eq(report_errors(report), 3);
    ck_assert_str_eq(report_finding(report, 0)->names[0], "a");
    ck_assert_str_eq(report_finding(report, 0)->names[1], "b");
    ck_assert_uint_eq(report_finding(report, 2)->at.line, 10);
    report_free(report);
}
END_TEST

START_TEST(bytes_need_a_domain)
{
    struct report *report = report_of("weir 1\nobject o size=1\nobject p size=1\n");

    ck_assert_uint_eq(report_errors(report), 1);
    ck_assert_int_eq(report_finding(report, 0)->code, FINDING_NO_DOMAIN);
    ck_assert_uint_eq(report_finding(report, 0)->at.line, 2);
    ck_assert_str_eq(report_finding(report, 0)->names[0], "o");
    report_free(report);
    report = report_of("weir 1\nnode a barrier\nnode b barrier workspace=1\n");
    ck_assert_int_eq(report_finding(report, 0)->code, FINDING_NO_DOMAIN);
    ck_assert_uint_eq(report_finding(report, 0)->at.column, 26);
    report_free(report);
}
END_TEST

START_TEST(all_faults_of_a_line_are_found)
{
    struct report *report = report_of(GOOD "node x compte engine=e duration=-1 fast reads=act@h\n");
    static const uint32_t columns[] = {8, 22, 33, 36, 51};

    ck_assert_uint_eq(report_errors(report), 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(report_finding(report, i)->at.line, GOOD_LINES + 1);
        ck_assert_uint_eq(report_finding(report, i)->at.column, columns[i]);
    }
    report_free(report);
}
END_TEST

START_TEST(limit_counts_what_it_does_not_keep)
{
    struct report *report = report_new(50);
    char *text = calloc(1, 100000);
    struct graph *graph = NULL;
    struct weir_error err;

    strcpy(text, "weir 1\n");
    for (int i = 0; i < 300; i++)
        strcat(text, "oops\n");
    ck_assert_int_eq(graph_read_text(text, strlen(text), "f.weir", report, &graph, &err),
                     WEIR_INPUT);
    ck_assert_uint_eq(report_count(report), 50);
    ck_assert_uint_eq(report_errors(report), 300);
    ck_assert(report_is_full(report));
    ck_assert_ptr_nonnull(strstr(err.text, "300 errors"));
    free(text);
    report_free(report);
}
END_TEST

/* What is no graph at all gives one finding, which says what it seems to be. */
START_TEST(other_files_are_recognized)
{
    static const struct {
        const char *text;
        size_t length;
        enum finding_code code;
        uint32_t line, column;
        const char *says;
    } cases[] = {
        {"", 0, FINDING_VERSION, 1, 1, "the file is empty"},
        {"\n# only this\n\n", 14, FINDING_VERSION, 1, 1, "holds no statement"},
        {"\x1f\x8b\x08 and so on\nmore\n", 20, FINDING_ENCODING, 1, 1, "gzip"},
        {"\x28\xb5\x2f\xfd\n", 5, FINDING_ENCODING, 1, 2, "zstd"},
        {"SQLite format 3\0\x10\n", 18, FINDING_VERSION, 1, 1, "SQLite"},
        {"{\"traceEvents\": [\n{\n", 20, FINDING_VERSION, 1, 1, "JSON"},
        {"\x7f"
         "ELF\x02\x01\n",
         7, FINDING_ENCODING, 1, 1, "a program"},
        {"hello\nworld\n", 12, FINDING_VERSION, 1, 1, "\"hello\"; expected `weir 1`"},
        {"weir\n", 5, FINDING_VERSION, 1, 5, "this Weir reads version 1"},
        {"\n weir 2\nfuture x\n", 17, FINDING_VERSION, 2, 7, "the version is \"2\""},
        {"weir 1 2\n", 9, FINDING_SYNTAX, 1, 8, "`weir 1` alone"},
        {"node a barrier\n", 15, FINDING_VERSION, 1, 1, "the first statement is \"node\""},
        {"weir 1\nnode \"a\0b\" barrier\n", 26, FINDING_ENCODING, 2, 8, "\\x00"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report *report = report_new(0);
        struct graph *graph = NULL;
        struct weir_error err;
        char line[2048] = "";
        ck_assert_int_eq(graph_read_text(cases[i].text, cases[i].length, "f", report, &graph, &err),
                         WEIR_INPUT);
        ck_assert_uint_eq(report_count(report), 1);
        const struct finding *found = report_finding(report, 0);
        report_line(found, line, sizeof line);
        ck_assert_msg(found->code == cases[i].code && found->at.line == cases[i].line &&
                          found->at.column == cases[i].column &&
                          strstr(line, cases[i].says) != NULL,
                      "case %zu: %s", i, line);
        report_free(report);
    }
}
END_TEST

START_TEST(long_and_wild_texts_are_shown_tamely)
{
    char text[4096] = GOOD "node x barrier engine=\"";

    memset(text + strlen(text), 'a', 2000);
    strcat(text, "\xff\x01\"\n");
    struct report *report = report_of(text);
    char line[2048];
    report_line(report_finding(report, 0), line, sizeof line);
    ck_assert_uint_lt(strlen(line), 300);
    ck_assert_ptr_nonnull(strstr(line, "aaa..."));
    report_free(report);
    report = report_of(GOOD "node x barrier engine=\"a\xff\x01\xc3\xa9\"\n");
    report_line(report_finding(report, 0), line, sizeof line);
    ck_assert_ptr_nonnull(strstr(line, "\"a\\xff\\x01\xc3\xa9\""));
    report_free(report);
}
END_TEST

START_TEST(report_tells_place_severity_and_remedy)
{
    struct report *report = report_new(1);
    char line[300];

    report_add(report, FINDING_RACE, (struct report_at){0}, "%s and %s", "a", "b");
    report_name(report, "a");
    report_add(report, FINDING_RACE, (struct report_at){0}, "not kept");
    report_name(report, "not kept");
    report_add(report, FINDING_UNUSED_OBJECT, (struct report_at){"g.weir", 3, 0}, "warned");
    ck_assert_uint_eq(report_count(report), 2);
    ck_assert_uint_eq(report_errors(report), 2);
    ck_assert(!report_is_short(report));
    report_line(report_finding(report, 0), line, sizeof line);
    ck_assert_str_eq(line, "error[race]: a and b; add an edge between the two nodes");
    ck_assert_str_eq(report_finding(report, 0)->names[0], "a");
    ck_assert_ptr_null(report_finding(report, 0)->names[1]);
    report_line(report_finding(report, 1), line, sizeof line);
    ck_assert_ptr_eq(strstr(line, "g.weir:3: warning[unused-object]: warned; "), line);
    report_line(report_finding(report, 1), line, 10); /* cut, not overrun */
    ck_assert_str_eq(line, "g.weir:3:");
    for (int i = 0; i < 20; i++)
        report_name(report, "n");
    ck_assert_str_eq(report_finding(report, 1)->names[FINDING_NAMES - 1], "n");
    for (int i = 0; i < FINDING_CODES; i++) {
        ck_assert_ptr_nonnull(finding_name((enum finding_code)i));
        ck_assert_ptr_nonnull(finding_summary((enum finding_code)i));
        ck_assert_ptr_nonnull(finding_remedy((enum finding_code)i));
    }
    report_free(report);
}
END_TEST

/* An overlap fact about nothing is told, and no more: a machine file may serve several graphs. */
START_TEST(overlap_of_strangers_is_a_warning)
{
    const char *text = GOOD "overlap sm nobody allowed\noverlap first sm allowed\n";
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;

    ck_assert_int_eq(graph_read_text(text, strlen(text), "f", report, &graph, &err), WEIR_OK);
    ck_assert_uint_eq(report_count(report), 1);
    ck_assert_int_eq(report_finding(report, 0)->code, FINDING_UNUSED_FACT);
    ck_assert_uint_eq(report_finding(report, 0)->at.line, 8);
    ck_assert_str_eq(report_finding(report, 0)->names[0], "nobody");
    graph_free(graph);
    report_free(report);
}
END_TEST

/* Built graphs are checked as read ones are, without places. */
START_TEST(built_graphs_are_checked)
{
    struct graph *graph = graph_of(GOOD "kappa a b 2\n");
    struct graph_kappa again = *graph_kappa(graph, 0);
    struct report *report = report_new(0);
    struct weir_error err;

    graph_check_statements(graph, report);
    ck_assert_uint_eq(report_count(report), 0);
    ck_assert_int_eq(graph_add_kappa(graph, &again, &err), WEIR_OK);
    graph_check_statements(graph, report);
    ck_assert_uint_eq(report_errors(report), 1);
    ck_assert_int_eq(report_finding(report, 0)->code, FINDING_DUPLICATE_FACT);
    ck_assert_ptr_null(report_finding(report, 0)->at.file);
    graph_free(graph);
    report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("faults");
    TCase *lines = tcase_create("lines"), *files = tcase_create("files");

    tcase_add_loop_test(lines, fault_is_found_where_it_is, 0,
                        (int)(sizeof faults / sizeof *faults));
    tcase_add_test(files, facts_are_given_once);
    tcase_add_test(files, aliases_are_no_circle);
    tcase_add_test(files, bytes_need_a_domain);
    tcase_add_test(files, all_faults_of_a_line_are_found);
    tcase_add_test(files, limit_counts_what_it_does_not_keep);
    tcase_add_test(files, other_files_are_recognized);
    tcase_add_test(files, long_and_wild_texts_are_shown_tamely);
    tcase_add_test(files, report_tells_place_severity_and_remedy);
    tcase_add_test(files, overlap_of_strangers_is_a_warning);
    tcase_add_test(files, built_graphs_are_checked);
    suite_add_tcase(suite, lines);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
