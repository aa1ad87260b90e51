# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of base/; each links what that folder may use, $(base_test_libs).

check_PROGRAMS += tests/base/test_ending
tests_base_test_ending_SOURCES = tests/base/test_ending.c
tests_base_test_ending_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_memory
tests_base_test_memory_SOURCES = tests/base/test_memory.c
tests_base_test_memory_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_names
tests_base_test_names_SOURCES = tests/base/test_names.c
tests_base_test_names_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_number
tests_base_test_number_SOURCES = tests/base/test_number.c
tests_base_test_number_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_random
tests_base_test_random_SOURCES = tests/base/test_random.c
tests_base_test_random_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_output
tests_base_test_output_SOURCES = tests/base/test_output.c
tests_base_test_output_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_quote
tests_base_test_quote_SOURCES = tests/base/test_quote.c
tests_base_test_quote_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_digits
tests_base_test_digits_SOURCES = tests/base/test_digits.c
tests_base_test_digits_LDADD = $(base_test_libs)

check_PROGRAMS += tests/base/test_workers
threaded_tests += tests/base/test_workers
tests_base_test_workers_SOURCES = tests/base/test_workers.c
tests_base_test_workers_LDADD = $(base_test_libs)
