/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text form: every statement and field read, written, and read again. */
#include <unistd.h>

#include "tests/graph/texts.h"

#define MACHINE                            \
    "domain hbm capacity=80000000000\n"    \
    "domain host capacity=1099511627776\n" \
    "engine sm slots=2\n"                  \
    "engine h2d from=host to=hbm\n"

START_TEST(every_field_of_every_statement)
{
    check_form(
        "weir 1   # the version\n"
        "graph \"full one\" scope=cold implied=none evidence=declared:me confidence=0.5\n"
        "domain hbm capacity=80GB reserve=1GB granule=2MiB evidence=datasheet:H200 confidence=1\n"
        "domain host capacity=1TiB\n"
        "engine sm slots=2 domain=hbm flops=989T/s evidence=datasheet\n"
        "engine h2d bandwidth=4.8TB/s latency=2us from=host to=hbm\n"
        "resource pcie capacity=64GB/s evidence=measured\n"
        "kappa gemm sm 1.25 evidence=measured confidence=0.9\n"
        "overlap gemm n1 forbidden proof=\"one stream\" earliest=0 latest=5us evidence=inferred\n"
        "param measured alpha -0.5 evidence=fitted\n"
        "guard g on evidence=declared\n"
        "object x size=1KB domain=host align=256 placements=host,hbm initial retained ready=3us "
        "offloadable recompute=n1 offset=4KiB@hbm origin=mod evidence=declared confidence=0.5\n"
        "object v size=400 alias=x+500\n"
        "node n1 compute engine=sm duration=normal(10us,2us) bytes=5KB reads=x@host,v writes=v "
        "workspace=1KiB@hbm,5 uses=pcie:10GB/s class=gemm priority=-3 release=1us deadline=1s "
        "guard=g pure speculative group=team fallback=n2 origin=a.py:3 "
        "evidence=\"measured:n=20, H200\" confidence=1e-1\n"
        "node n2 transfer engine=h2d object=x from=host to=hbm domain=hbm staging=10@host impure "
        "fallback=wait\n"
        "edge n1 n2 lifetime-hold from=start object=x lag=1.5us evidence=observed confidence=0\n",

        "weir 1\n"
        "graph \"full one\" scope=cold implied=none evidence=declared:me confidence=0.5\n"
        "domain hbm capacity=80000000000 reserve=1000000000 granule=2097152 "
        "evidence=datasheet:H200 confidence=1\n"
        "domain host capacity=1099511627776\n"
        "engine sm slots=2 domain=hbm flops=989000000000000/s evidence=datasheet\n"
        "engine h2d bandwidth=4800000000000/s latency=2000 from=host to=hbm\n"
        "resource pcie capacity=64000000000/s evidence=measured\n"
        "kappa gemm sm 1.25 evidence=measured confidence=0.9\n"
        "overlap gemm n1 forbidden proof=\"one stream\" earliest=0 latest=5000 evidence=inferred\n"
        "param measured alpha -0.5 evidence=fitted\n"
        "guard g on evidence=declared\n"
        "object x size=1000 domain=host align=256 placements=host,hbm initial retained ready=3000 "
        "offloadable recompute=n1 offset=4096@hbm origin=mod evidence=declared confidence=0.5\n"
        "object v size=400 alias=x+500\n"
        "node n1 compute engine=sm duration=normal(10000,2000) bytes=5000 reads=x@host,v writes=v "
        "workspace=1024@hbm,5 uses=pcie:10000000000/s class=gemm priority=-3 release=1000 "
        "deadline=1000000000 guard=g pure speculative group=team fallback=n2 origin=a.py:3 "
        "evidence=\"measured:n=20, H200\" confidence=0.1\n"
        "node n2 transfer engine=h2d object=x from=host to=hbm domain=hbm staging=10@host impure "
        "fallback=wait\n"
        "edge n1 n2 lifetime-hold from=start object=x lag=1500 evidence=observed confidence=0\n");
}
END_TEST

START_TEST(every_word)
{
    check_form("weir 1\n"
               "graph g scope=warm\n"
               "guard g off\n"
               "node a compute duration=1\n"
               "node b allocation\n"
               "node c mapping\n"
               "node d transfer duration=1\n"
               "node e prefetch duration=lognormal(1,0)\n"
               "node f offload duration=gamma(2,3)\n"
               "node g rematerialization duration=uniform(1,1)\n"
               "node h barrier deadline=0 fallback=fail\n"
               "node i reclamation\n"
               "node j compute duration=unknown evidence=unknown\n"
               "node k compute duration=empirical(3,1,2) evidence=bound\n"
               "edge a b data-ready evidence=ordered\n"
               "edge a b storage-ready evidence=contained\n"
               "edge a b ordering evidence=assumed\n"
               "edge a b lifetime-hold\n"
               "edge a b barrier\n"
               "edge a b capacity-wait\n",
               "weir 1\n"
               "graph g scope=warm\n"
               "guard g off\n"
               "node a compute duration=1\n"
               "node b allocation\n"
               "node c mapping\n"
               "node d transfer duration=1\n"
               "node e prefetch duration=lognormal(1,0)\n"
               "node f offload duration=gamma(2,3)\n"
               "node g rematerialization duration=uniform(1,1)\n"
               "node h barrier deadline=0 fallback=fail\n"
               "node i reclamation\n"
               "node j compute duration=unknown evidence=unknown\n"
               "node k compute duration=empirical(3,1,2) evidence=bound\n"
               "edge a b data-ready evidence=ordered\n"
               "edge a b storage-ready evidence=contained\n"
               "edge a b ordering evidence=assumed\n"
               "edge a b lifetime-hold\n"
               "edge a b barrier\n"
               "edge a b capacity-wait\n");
}
END_TEST

START_TEST(defaults_are_left_out)
{
    check_form(
        "weir 1\ngraph g implied=all\ndomain d capacity=1 reserve=0\nengine e slots=1 latency=0\n"
        "object o size=0 domain=d ready=0\n"
        "node n barrier priority=0 release=0ms\nnode m barrier\n"
        "edge n m ordering from=finish lag=0 evidence=none\n",
        "weir 1\ngraph g\ndomain d capacity=1\nengine e\nobject o size=0 domain=d\n"
        "node n barrier\nnode m barrier\nedge n m ordering\n");
    check_form("weir 1\n", "weir 1\n");
    check_form("weir 1\ngraph \"\"\n", "weir 1\n");
    check_form("weir 1\ngraph \"\" implied=none\n", "weir 1\ngraph \"\" implied=none\n");
    /* Given is given, even where it is what it would be anyway. */
    check_form("weir 1\nengine e\nnode n barrier duration=0 engine=e class=e bytes=0\n",
               "weir 1\nengine e\nnode n barrier engine=e duration=0 bytes=0 class=e\n");
}
END_TEST

START_TEST(statements_stand_in_any_order)
{
    check_form("weir 1\n"
               "edge late early ordering\n"
               "node late compute engine=e duration=1 reads=o guard=g uses=r:1 fallback=early\n"
               "object o size=1 domain=d recompute=early\n"
               "guard g on\nresource r capacity=2\nengine e domain=d\n"
               "node early compute duration=1\n"
               "domain d capacity=10\ngraph last\n",
               "weir 1\ngraph last\ndomain d capacity=10\nengine e domain=d\n"
               "resource r capacity=2/s\nguard g on\nobject o size=1 domain=d recompute=early\n"
               "node late compute engine=e duration=1 reads=o uses=r:1/s guard=g fallback=early\n"
               "node early compute duration=1\n"
               "edge late early ordering\n");
}
END_TEST

/* The order of classes decides how contention multiplies its factors, so that reading the canonical
 * form must give the order that the graph has. */
START_TEST(classes_are_numbered_as_the_form_lists_them)
{
    struct graph *graph = graph_of("weir 1\n"
                                   "node n compute engine=e1 duration=1 class=z\n"
                                   "kappa y z 2\nkappa x y 3\n"
                                   "engine e1\nengine x\n"
                                   "node m compute engine=e1 duration=1 class=w\n");
    char *form = form_of(graph);
    struct graph *again = graph_of(form);
    static const char *const order[] = {"e1", "x", "y", "z", "w"};

    ck_assert_uint_eq(graph_n_classes(graph), 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_str_eq(graph_text(graph, graph_class_name(graph, (weir_class){i})), order[i]);
        ck_assert_str_eq(graph_text(again, graph_class_name(again, (weir_class){i})), order[i]);
    }
    ck_assert_uint_eq(graph_node_class(graph, (weir_node){0}).index, 3);
    ck_assert_uint_eq(graph_kappa(graph, 1)->slowed.index, 1);
    ck_assert_uint_eq(graph_find_class(graph, graph_find_text(graph, "w")).index, 4);
    free(form);
    graph_free(graph);
    graph_free(again);
}
END_TEST

START_TEST(quotes_tell_names_from_what_follows)
{
    check_form("weir 1\n"
               "domain \"d@1\" capacity=100\ndomain \"d 2\" capacity=\"100B\"\n"
               "resource \"r:1\" capacity=10\nresource r+ capacity=10\n"
               "object \"a b\" size=10\nobject c,d size=10\nobject e@f size=10 domain=\"d 2\"\n"
               "object g+h size=10\nobject \"q\\\"\\\\\" size=10\nobject back\\slash size=10\n"
               "object x#k size=10\nobject = size=1\nobject size=3 size=1\n"
               "object v size=5 alias=\"g+h\"+5\nobject w size=5 alias=\"g+h\"\n"
               "object p size=1 placements=\"d 2\",d@1 offset=3@\"d 2\"\n"
               "node wait barrier\nnode \"fail \" barrier\n"
               "node n compute duration=\" normal( 5us , 1us ) \" "
               "reads=\"a b\",\"e@f\"@d@1,\"c,d\"@\"d 2\" writes=e@f,\"q\\\"\\\\\",= "
               "workspace=1@d@1,\"2\"@\"d 2\" uses=\"r:1\":5,r+:6 fallback=\"wait\" "
               "group=\"a#b\" origin=\"\" evidence=measured:\"one, two\"\n",
               "weir 1\n"
               "domain d@1 capacity=100\ndomain \"d 2\" capacity=100\n"
               "resource r:1 capacity=10/s\nresource r+ capacity=10/s\n"
               "object \"a b\" size=10\nobject \"c,d\" size=10\nobject e@f size=10 domain=\"d 2\"\n"
               "object g+h size=10\nobject \"q\\\"\\\\\" size=10\nobject back\\slash size=10\n"
               "object \"x#k\" size=10\nobject = size=1\nobject size=3 size=1\n"
               "object v size=5 alias=\"g+h\"+5\nobject w size=5 alias=\"g+h\"\n"
               "object p size=1 placements=\"d 2\",d@1 offset=3@\"d 2\"\n"
               "node wait barrier\nnode \"fail \" barrier\n"
               "node n compute duration=normal(5000,1000) "
               "reads=\"a b\",\"e@f\"@d@1,\"c,d\"@\"d 2\" writes=e@f,\"q\\\"\\\\\",= "
               "workspace=1@d@1,2@\"d 2\" uses=\"r:1\":5/s,r+:6/s group=\"a#b\" fallback=\"wait\" "
               "evidence=\"measured:one, two\"\n");
}
END_TEST

START_TEST(bytes_that_are_no_text_are_escaped)
{
    /* In quotes any byte but NUL and a line's end may stand; the form writes it as text. */
    check_form("weir 1\nnode \"a\x01"
               "b\tc\xff\" barrier\nnode \"\\x41\\x0a\\xC3\\xa9\" barrier\nnode \xc3\xa9t\xc3\xa9 "
               "barrier\n",
               "weir 1\nnode \"a\\x01"
               "b\\x09c\\xff\" barrier\nnode \"A\\x0a\xc3\xa9\" barrier\nnode \xc3\xa9t\xc3\xa9 "
               "barrier\n");
}
END_TEST

START_TEST(lines_may_end_in_both_ways)
{
    check_form("\xef\xbb\xbfweir 1\r\n\r\n  \t node a barrier # comment\r\n#node b barrier\nnode c "
               "barrier",
               "weir 1\nnode a barrier\nnode c barrier\n");
}
END_TEST

/* One line of some ten megabytes. */
START_TEST(long_lines_are_lines)
{
    size_t n = 1000000, used = 0, room = n * 10 + 200;
    char *text = malloc(room);
    struct graph *graph;
    struct graph_node node;

    used += (size_t)snprintf(text, room,
                             "weir 1\ndomain d capacity=1\nobject object10 size=1\n"
                             "node n compute duration=1 reads=object10");
    for (size_t i = 1; i < n; i++) {
        memcpy(text + used, ",object10", 9);
        used += 9;
    }
    memcpy(text + used, "\n", 2);
    graph = graph_of(text);
    graph_node(graph, (weir_node){0}, &node);
    ck_assert_uint_eq(node.n_reads, n);
    graph_free(graph);
    free(text);
}
END_TEST

START_TEST(hash_is_that_of_the_form)
{
    struct graph *a = graph_of("weir 1\n" MACHINE "node n compute duration=1us\n");
    struct graph *b = graph_of("weir 1\nnode n compute duration=1000 # same\n" MACHINE);
    struct graph *c = graph_of("weir 1\n" MACHINE "node n compute duration=1001\n");
    char hash_a[HASH_TEXT_BYTES], hash_b[HASH_TEXT_BYTES], hash_c[HASH_TEXT_BYTES];
    char direct[HASH_TEXT_BYTES], *form = form_of(a);
    struct weir_error err;
    struct hash hash;

    ck_assert_int_eq(graph_hash(a, hash_a, &err), WEIR_OK);
    ck_assert_int_eq(graph_hash(b, hash_b, &err), WEIR_OK);
    ck_assert_int_eq(graph_hash(c, hash_c, &err), WEIR_OK);
    hash_begin(&hash);
    hash_add(&hash, form, strlen(form));
    hash_text(&hash, direct);
    ck_assert_str_eq(hash_a, direct);
    ck_assert_str_eq(hash_a, hash_b);
    ck_assert_str_ne(hash_a, hash_c);
    free(form);
    graph_free(a);
    graph_free(b);
    graph_free(c);
}
END_TEST

static char folder[] = "/tmp/weir-text-XXXXXX";

static char *path_in(const char *name)
{
    static char path[200];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    (void)unlink(path_in("link"));
    (void)unlink(path_in("g.weir"));
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

START_TEST(files_are_replaced_whole)
{
    struct graph *graph = graph_of("weir 1\n" MACHINE), *again = NULL;
    struct report *report = report_new(0);
    struct weir_error err;

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(graph_write_file(graph, path_in("g.weir"), &err), WEIR_OK);
    /* Through a link the file is replaced, and the link stays. */
    char target[200];
    (void)snprintf(target, sizeof target, "%s", path_in("link"));
    ck_assert_int_eq(symlink("g.weir", target), 0);
    ck_assert_int_eq(graph_write_file(graph, target, &err), WEIR_OK);
    char leads_to[10];
    ck_assert_int_eq(readlink(target, leads_to, sizeof leads_to), 6);
    ck_assert_int_eq(graph_read(path_in("link"), report, &again, &err), WEIR_OK);
    char *form = form_of(graph), *form_again = form_of(again);
    ck_assert_str_eq(form, form_again);
    free(form);
    free(form_again);
    graph_free(graph);
    graph_free(again);
    report_free(report);
}
END_TEST

START_TEST(files_that_cannot_be_written_say_so)
{
    struct graph *graph = graph_of("weir 1\n");
    struct weir_error err;

    ck_assert_int_eq(graph_write_file(graph, path_in("none/g.weir"), &err), WEIR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "none/g.weir"));
    ck_assert_int_eq(graph_write_file(graph, folder, &err), WEIR_STORE);
    if (access("/dev/full", W_OK) == 0) {
        ck_assert_int_eq(graph_write_file(graph, "/dev/full", &err), WEIR_STORE);
        ck_assert_int_eq(access("/dev/full", W_OK), 0); /* still there */
    }
    graph_free(graph);
}
END_TEST

START_TEST(files_that_cannot_be_read_say_so)
{
    struct report *report = report_new(0);
    struct graph *graph = NULL;
    struct weir_error err;

    ck_assert_int_eq(graph_read(path_in("none.weir"), report, &graph, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "none.weir"));
    ck_assert_int_eq(graph_read(folder, report, &graph, &err), WEIR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "directory"));
    ck_assert_ptr_null(graph);
    report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *form = tcase_create("form"), *files = tcase_create("files");

    tcase_add_test(form, every_field_of_every_statement);
    tcase_add_test(form, every_word);
    tcase_add_test(form, defaults_are_left_out);
    tcase_add_test(form, statements_stand_in_any_order);
    tcase_add_test(form, classes_are_numbered_as_the_form_lists_them);
    tcase_add_test(form, quotes_tell_names_from_what_follows);
    tcase_add_test(form, bytes_that_are_no_text_are_escaped);
    tcase_add_test(form, lines_may_end_in_both_ways);
    tcase_add_test(form, long_lines_are_lines);
    tcase_add_test(form, hash_is_that_of_the_form);
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, files_are_replaced_whole);
    tcase_add_test(files, files_that_cannot_be_written_say_so);
    tcase_add_test(files, files_that_cannot_be_read_say_so);
    suite_add_tcase(suite, form);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
