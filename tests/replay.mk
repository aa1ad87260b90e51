# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of replay/; each links what that folder may use, $(replay_test_libs).

check_PROGRAMS += tests/replay/test_host
tests_replay_test_host_SOURCES = tests/replay/test_host.c
tests_replay_test_host_LDADD = $(replay_test_libs)
threaded_tests += tests/replay/test_host
