# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of policies/; each links what that folder may use, $(policies_test_libs).

check_PROGRAMS += tests/policies/test_edit
tests_policies_test_edit_SOURCES = tests/policies/test_edit.c
tests_policies_test_edit_LDADD = $(policies_test_libs)

check_PROGRAMS += tests/policies/test_arena_plan
tests_policies_test_arena_plan_SOURCES = \
	tests/policies/arena_random.h \
	tests/policies/test_arena_plan.c
tests_policies_test_arena_plan_LDADD = $(policies_test_libs)

check_PROGRAMS += tests/policies/test_arena_taken
tests_policies_test_arena_taken_SOURCES = tests/policies/test_arena_taken.c
tests_policies_test_arena_taken_LDADD = $(policies_test_libs)

check_PROGRAMS += tests/policies/test_arena_csv
tests_policies_test_arena_csv_SOURCES = \
	tests/policies/arena_random.h \
	tests/policies/test_arena_csv.c
tests_policies_test_arena_csv_LDADD = $(policies_test_libs)

check_PROGRAMS += tests/policies/test_arena_graph
tests_policies_test_arena_graph_SOURCES = \
	tests/policies/arena_random.h \
	tests/policies/test_arena_graph.c
tests_policies_test_arena_graph_LDADD = $(policies_test_libs)

# The fuzz target over its corpus, in every check.
check_PROGRAMS += tests/fuzz/corpus_arena
tests_fuzz_corpus_arena_SOURCES = tests/fuzz/fuzz_arena.c tests/fuzz/run_corpus.c
tests_fuzz_corpus_arena_CPPFLAGS = $(AM_CPPFLAGS) '-DCORPUS="arena"'
tests_fuzz_corpus_arena_LDADD = policies/libpolicies.a graph/libgraph.a base/libbase.a

# How planning grows with the buffers: make tests/bench/arena_bench
EXTRA_PROGRAMS += tests/bench/arena_bench
tests_bench_arena_bench_SOURCES = \
	tests/bench/arena_bench.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h \
	tests/policies/arena_random.h
tests_bench_arena_bench_LDADD = policies/libpolicies.a graph/libgraph.a base/libbase.a
