# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of graph/; each links what that folder may use, $(graph_test_libs).

check_PROGRAMS += tests/graph/test_generate
tests_graph_test_generate_SOURCES = tests/graph/test_generate.c
tests_graph_test_generate_LDADD = $(graph_test_libs)

check_PROGRAMS += tests/graph/test_bind
tests_graph_test_bind_SOURCES = tests/graph/test_bind.c
tests_graph_test_bind_LDADD = $(graph_test_libs)
