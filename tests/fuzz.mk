# SPDX-License-Identifier: GPL-3.0-or-later
# One fuzz target a parser: tests/fuzz/fuzz_NAME.c with LLVMFuzzerTestOneInput, seeds in
# tests/fuzz/corpus/NAME/. Built by `make fuzz` after configure --enable-fuzzing CC=clang.
#
#     fuzz_programs += tests/fuzz/fuzz_graph
#     tests_fuzz_fuzz_graph_SOURCES = tests/fuzz/fuzz_graph.c
#     tests_fuzz_fuzz_graph_LDADD = graph/libgraph.a base/libbase.a
#     tests_fuzz_fuzz_graph_LDFLAGS = $(fuzz_ldflags)

fuzz_programs =
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer

fuzz_programs += tests/fuzz/fuzz_arena
tests_fuzz_fuzz_arena_SOURCES = tests/fuzz/fuzz_arena.c
tests_fuzz_fuzz_arena_LDADD = policies/libpolicies.a graph/libgraph.a base/libbase.a
tests_fuzz_fuzz_arena_LDFLAGS = $(fuzz_ldflags)

fuzz_programs += tests/fuzz/fuzz_graph
tests_fuzz_fuzz_graph_SOURCES = tests/fuzz/fuzz_graph.c
tests_fuzz_fuzz_graph_LDADD = graph/libgraph.a base/libbase.a
tests_fuzz_fuzz_graph_LDFLAGS = $(fuzz_ldflags)

fuzz_programs += tests/fuzz/fuzz_nsys
tests_fuzz_fuzz_nsys_SOURCES = tests/fuzz/fuzz_nsys.c
tests_fuzz_fuzz_nsys_LDADD = traces/libtraces.a graph/libgraph.a base/libbase.a $(SQLITE_LIBS) \
	$(ZLIB_LIBS) $(ZSTD_LIBS)
tests_fuzz_fuzz_nsys_LDFLAGS = $(fuzz_ldflags)

fuzz_programs += tests/fuzz/fuzz_psplib
tests_fuzz_fuzz_psplib_SOURCES = tests/fuzz/fuzz_psplib.c
tests_fuzz_fuzz_psplib_LDADD = traces/libtraces.a graph/libgraph.a base/libbase.a $(SQLITE_LIBS) \
	$(ZLIB_LIBS) $(ZSTD_LIBS)
tests_fuzz_fuzz_psplib_LDFLAGS = $(fuzz_ldflags)

fuzz_programs += tests/fuzz/fuzz_records
tests_fuzz_fuzz_records_SOURCES = tests/fuzz/fuzz_records.c
tests_fuzz_fuzz_records_LDADD = replay/libreplay.a kernels/libkernels.a graph/libgraph.a \
	base/libbase.a $(GSL_LIBS)
tests_fuzz_fuzz_records_LDFLAGS = $(fuzz_ldflags)

fuzz_programs += tests/fuzz/fuzz_simulate
tests_fuzz_fuzz_simulate_SOURCES = tests/fuzz/fuzz_simulate.c
tests_fuzz_fuzz_simulate_LDADD = judge/libjudge.a sim/libsim.a policies/libpolicies.a graph/libgraph.a \
	base/libbase.a $(GSL_LIBS)
tests_fuzz_fuzz_simulate_LDFLAGS = $(fuzz_ldflags)

EXTRA_PROGRAMS += $(fuzz_programs)

if FUZZING
fuzz: $(fuzz_programs)
else
fuzz:
	@echo 'configure with --enable-fuzzing CC=clang first' >&2; exit 1
endif
.PHONY: fuzz

EXTRA_DIST += \
	tests/fuzz/corpus \
	tests/fuzz/seed_nsys.sh \
	tests/fuzz/seed_simulate.sh
