# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of graph/; each links what that folder may use, $(graph_test_libs).

check_PROGRAMS += tests/graph/test_generate
tests_graph_test_generate_SOURCES = tests/graph/test_generate.c
tests_graph_test_generate_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_analyze
tests_graph_test_analyze_SOURCES = tests/graph/test_analyze.c
tests_graph_test_analyze_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_around
tests_graph_test_around_SOURCES = tests/graph/test_around.c
tests_graph_test_around_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_audit_codes
tests_graph_test_audit_codes_SOURCES = tests/graph/test_audit_codes.c
tests_graph_test_audit_codes_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_bind
tests_graph_test_bind_SOURCES = tests/graph/test_bind.c
tests_graph_test_bind_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_graph
tests_graph_test_graph_SOURCES = tests/graph/test_graph.c tests/graph/texts.h
tests_graph_test_graph_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_text
tests_graph_test_text_SOURCES = tests/graph/test_text.c tests/graph/texts.h
tests_graph_test_text_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_faults
tests_graph_test_faults_SOURCES = tests/graph/test_faults.c tests/graph/texts.h
tests_graph_test_faults_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_overlap_keys
tests_graph_test_overlap_keys_SOURCES = tests/graph/test_overlap_keys.c
tests_graph_test_overlap_keys_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_overlay
tests_graph_test_overlay_SOURCES = tests/graph/test_overlay.c tests/graph/texts.h
tests_graph_test_overlay_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_roundtrip
tests_graph_test_roundtrip_SOURCES = tests/graph/test_roundtrip.c tests/graph/texts.h
tests_graph_test_roundtrip_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_what_if
tests_graph_test_what_if_SOURCES = tests/graph/test_what_if.c tests/graph/texts.h
tests_graph_test_what_if_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_write
tests_graph_test_write_SOURCES = tests/graph/test_write.c
tests_graph_test_write_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_timeline
tests_graph_test_timeline_SOURCES = tests/graph/test_timeline.c
tests_graph_test_timeline_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_reach
tests_graph_test_reach_SOURCES = tests/graph/test_reach.c
tests_graph_test_reach_LDADD = $(graph_test_libs)

# How fast graphs are read, bound and checked: make tests/bench/read_bench
EXTRA_PROGRAMS += tests/bench/read_bench
tests_bench_read_bench_SOURCES = \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/read_bench.c \
	tests/bench/resident.c \
	tests/bench/resident.h \
	tests/bench/rounds.h \
	tests/bench/text_floor.c \
	tests/bench/texts.c \
	tests/bench/texts.h
tests_bench_read_bench_LDADD = graph/libgraph.a base/libbase.a

# How reading and checking grow on graphs made to be hard: make tests/bench/check_bench
EXTRA_PROGRAMS += tests/bench/check_bench
tests_bench_check_bench_SOURCES = \
	tests/bench/check_bench.c \
	tests/bench/hard_texts.c \
	tests/bench/hard_texts.h \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h \
	tests/bench/texts.h
tests_bench_check_bench_LDADD = graph/libgraph.a base/libbase.a

# What auditing and analyzing a large graph costs: make tests/bench/audit_bench
EXTRA_PROGRAMS += tests/bench/audit_bench
tests_bench_audit_bench_SOURCES = \
	tests/bench/audit_bench.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/resident.c \
	tests/bench/resident.h \
	tests/bench/rounds.h
tests_bench_audit_bench_LDADD = graph/libgraph.a base/libbase.a

# The fuzz target over its corpus, in every check.
check_PROGRAMS += tests/fuzz/corpus_graph
tests_fuzz_corpus_graph_SOURCES = tests/fuzz/fuzz_graph.c tests/fuzz/run_corpus.c
tests_fuzz_corpus_graph_CPPFLAGS = $(AM_CPPFLAGS) '-DCORPUS="graph"'
tests_fuzz_corpus_graph_LDADD = graph/libgraph.a base/libbase.a

check_PROGRAMS += tests/graph/test_no_memory
tests_graph_test_no_memory_SOURCES = tests/graph/test_no_memory.c tests/graph/texts.h
tests_graph_test_no_memory_LDADD = $(graph_test_libs)
tests_graph_test_no_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc
