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
