# SPDX-License-Identifier: GPL-3.0-or-later
# Every test speaks TAP. One NAME.mk a folder registers its unit tests:
#
#     check_PROGRAMS += tests/graph/test_bind
#     tests_graph_test_bind_SOURCES = tests/graph/test_bind.c
#     tests_graph_test_bind_LDADD = $(graph_test_libs)
#
# Tests with threads are named in threaded_tests as well: they also run under ThreadSanitizer.

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh .py
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = $(PYTHON)

# What a test finds in its environment. WEIR_SHARED: real traces and cases beside the checkout.
AM_TESTS_ENVIRONMENT = \
	CK_DEFAULT_TIMEOUT=$${CK_DEFAULT_TIMEOUT:-60}; \
	WEIR=$(abs_top_builddir)/weir; \
	WEIR_SOURCE=$(abs_top_srcdir); \
	WEIR_BUILD=$(abs_top_builddir); \
	WEIR_DATADIR=$(abs_top_srcdir); \
	WEIR_SHARED=$${WEIR_SHARED:-$(abs_top_srcdir)/../shared}; \
	CC='$(CC)'; GNUPLOT='$(GNUPLOT)'; SQLITE3='$(SQLITE3)'; PYTHON='$(PYTHON)'; \
	MANDOC='$(MANDOC)'; \
	export CK_DEFAULT_TIMEOUT WEIR WEIR_SOURCE WEIR_BUILD WEIR_DATADIR WEIR_SHARED CC \
		GNUPLOT SQLITE3 PYTHON MANDOC;

# What the unit tests of a folder may link.
base_test_libs = base/libbase.a $(CHECK_LIBS)
graph_test_libs = graph/libgraph.a $(base_test_libs)
store_test_libs = store/libstore.a $(graph_test_libs) $(SQLITE_LIBS) $(ZLIB_LIBS)
traces_test_libs = traces/libtraces.a $(graph_test_libs) $(SQLITE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
policies_test_libs = policies/libpolicies.a $(graph_test_libs)
sim_test_libs = sim/libsim.a policies/libpolicies.a $(graph_test_libs) $(GSL_LIBS)
replay_test_libs = replay/libreplay.a kernels/libkernels.a $(graph_test_libs) $(GSL_LIBS)
judge_test_libs = judge/libjudge.a store/libstore.a $(graph_test_libs) $(GSL_LIBS) $(SQLITE_LIBS) \
	$(ZLIB_LIBS)

threaded_tests =

# Tests begin in this order: the scripts, which take longest, first, so that in the end nothing long is
# left to one processor while the others have none.
include tests/double.mk
include tests/oracle.mk
include tests/faults.mk

# Cases: tests/cases/NAME.case, each a graph, commands and what they must print; and the examples of
# README.md and of the man pages.
case_scripts = \
	tests/run-cases \
	tests/run-counterexamples \
	tests/run-examples \
	tests/run-shared-cases \
	tests/cmd/arena.py \
	tests/cmd/explain.py \
	tests/cmd/export_chrome.py \
	tests/cmd/graph_json.py \
	tests/cmd/import.py \
	tests/cmd/progress.py

dist_check_SCRIPTS += $(case_scripts)

if HAVE_PYTHON
TESTS += $(case_scripts)
else
TESTS += tests/python-missing.sh
endif

AM_CPPFLAGS += $(CHECK_CFLAGS)

if HAVE_CHECK
include tests/base.mk
include tests/graph.mk
include tests/store.mk
include tests/traces.mk
include tests/policies.mk
include tests/sim.mk
include tests/kernels.mk
include tests/replay.mk
include tests/judge.mk
include tests/plots.mk
include tests/psplib.mk
else
TESTS += tests/check-missing.sh
endif

TESTS += $(check_PROGRAMS)

# The order of the folders.
dist_check_SCRIPTS += tests/layers.sh
TESTS += tests/layers.sh

# `make bless` takes what the program prints now as what it must print: review the difference.
# `make bless CASES="check-cycle"` does it for these alone.
bless: weir
	WEIR=$(abs_top_builddir)/weir $(PYTHON) $(srcdir)/tests/run-cases --bless $(CASES)
.PHONY: bless

# The tests with threads, for a build with --enable-sanitizers=thread: they and weir are built, and not
# the other tests.
check-threads: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(threaded_tests)' check_PROGRAMS='$(threaded_tests)'
.PHONY: check-threads

# What was installed works by itself. WEIR_RESULTS: a file for what came of the tests before, whose build
# may be gone afterwards.
installcheck-local:
	$(SHELL) $(srcdir)/tests/installed.sh '$(CC)' '$(DESTDIR)$(bindir)' \
		'$(DESTDIR)$(includedir)' $(abs_srcdir)/doc/examples
	test -z "$$WEIR_RESULTS" || \
		$(SHELL) $(srcdir)/tests/check/results.sh dist . >"$$WEIR_RESULTS"
.PHONY: installcheck-local

include tests/fuzz.mk

EXTRA_DIST += \
	tests/suite.h \
	tests/check-missing.sh \
	tests/installed.sh \
	tests/python-missing.sh \
	tests/verified.py \
	tests/cases \
	tests/counterexamples
