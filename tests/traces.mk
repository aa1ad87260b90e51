# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of traces/; each links what that folder may use, $(traces_test_libs).

check_PROGRAMS += tests/traces/test_chrome
tests_traces_test_chrome_SOURCES = tests/traces/test_chrome.c
tests_traces_test_chrome_LDADD = $(traces_test_libs)

check_PROGRAMS += tests/traces/test_writer
tests_traces_test_writer_SOURCES = tests/traces/test_writer.c
tests_traces_test_writer_LDADD = $(traces_test_libs)

# Importers: small exports made by the tests, and real ones where they are there.
made_export_sources = \
	tests/traces/exact.h \
	tests/traces/made_export.c \
	tests/traces/made_export.h

check_PROGRAMS += \
	tests/traces/test_nsys_device \
	tests/traces/test_nsys_faults \
	tests/traces/test_nsys_files \
	tests/traces/test_nsys_host \
	tests/traces/test_nsys_memory \
	tests/traces/test_nsys_real \
	tests/traces/test_nsys_rows \
	tests/traces/test_nsys_schema \
	tests/traces/test_nsys_window \
	tests/traces/test_recording \
	tests/traces/test_runs

tests_traces_test_nsys_device_SOURCES = tests/traces/test_nsys_device.c $(made_export_sources)
tests_traces_test_nsys_device_LDADD = $(traces_test_libs)
tests_traces_test_nsys_files_SOURCES = tests/traces/test_nsys_files.c $(made_export_sources)
tests_traces_test_nsys_files_LDADD = $(traces_test_libs)
tests_traces_test_nsys_host_SOURCES = tests/traces/test_nsys_host.c $(made_export_sources)
tests_traces_test_nsys_host_LDADD = $(traces_test_libs)
tests_traces_test_nsys_memory_SOURCES = tests/traces/test_nsys_memory.c $(made_export_sources)
tests_traces_test_nsys_memory_LDADD = $(traces_test_libs)
tests_traces_test_nsys_real_SOURCES = tests/traces/test_nsys_real.c tests/traces/exact.h
tests_traces_test_nsys_real_LDADD = $(traces_test_libs)
tests_traces_test_nsys_rows_SOURCES = tests/traces/test_nsys_rows.c $(made_export_sources)
tests_traces_test_nsys_rows_LDADD = $(traces_test_libs)
tests_traces_test_nsys_schema_SOURCES = tests/traces/test_nsys_schema.c $(made_export_sources)
tests_traces_test_nsys_schema_LDADD = $(traces_test_libs)
tests_traces_test_nsys_window_SOURCES = tests/traces/test_nsys_window.c $(made_export_sources)
tests_traces_test_nsys_window_LDADD = $(traces_test_libs)
tests_traces_test_runs_SOURCES = tests/traces/test_runs.c
tests_traces_test_runs_LDADD = $(traces_test_libs)
tests_traces_test_nsys_faults_SOURCES = tests/traces/test_nsys_faults.c $(made_export_sources)
tests_traces_test_nsys_faults_LDADD = $(traces_test_libs)
tests_traces_test_nsys_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc
tests_traces_test_recording_SOURCES = tests/traces/test_recording.c tests/traces/exact.h
tests_traces_test_recording_LDADD = $(traces_test_libs)

check_PROGRAMS += tests/traces/test_psplib
tests_traces_test_psplib_SOURCES = tests/traces/test_psplib.c
tests_traces_test_psplib_LDADD = $(traces_test_libs)
tests_traces_test_psplib_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc

# The fuzz target over its corpus, in every check.
check_PROGRAMS += tests/fuzz/corpus_psplib
tests_fuzz_corpus_psplib_SOURCES = tests/fuzz/fuzz_psplib.c tests/fuzz/run_corpus.c
tests_fuzz_corpus_psplib_CPPFLAGS = $(AM_CPPFLAGS) '-DCORPUS="psplib"'
tests_fuzz_corpus_psplib_LDADD = traces/libtraces.a graph/libgraph.a base/libbase.a \
	$(SQLITE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)

# What an import costs, beside a bare SELECT over the same rows: make tests/bench/import_bench
EXTRA_PROGRAMS += tests/bench/import_bench
tests_bench_import_bench_SOURCES = \
	tests/bench/import_bench.c \
	tests/bench/made_profile.c \
	tests/bench/made_profile.h
tests_bench_import_bench_LDADD = traces/libtraces.a graph/libgraph.a base/libbase.a \
	$(SQLITE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
