# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of traces/; each links what that folder may use, $(traces_test_libs).

check_PROGRAMS += tests/traces/test_chrome
tests_traces_test_chrome_SOURCES = tests/traces/test_chrome.c
tests_traces_test_chrome_LDADD = $(traces_test_libs)

check_PROGRAMS += tests/traces/test_writer
tests_traces_test_writer_SOURCES = tests/traces/test_writer.c
tests_traces_test_writer_LDADD = $(traces_test_libs)
