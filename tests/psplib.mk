# SPDX-License-Identifier: GPL-3.0-or-later
# Scheduling problems through the importer, the policies and the simulator: what project scheduling
# knows of rules of priority, found again. Small ones solved by hand; the 480 of J30 where they lie
# beside the checkout.

psplib_test_libs = sim/libsim.a policies/libpolicies.a traces/libtraces.a $(graph_test_libs) \
	$(GSL_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
psplib_solve_sources = tests/psplib/solve.c tests/psplib/solve.h

check_PROGRAMS += tests/psplib/test_schemes tests/psplib/test_table
tests_psplib_test_schemes_SOURCES = tests/psplib/test_schemes.c $(psplib_solve_sources)
tests_psplib_test_schemes_LDADD = $(psplib_test_libs)
tests_psplib_test_table_SOURCES = tests/psplib/test_table.c $(psplib_solve_sources)
tests_psplib_test_table_LDADD = $(psplib_test_libs)
