# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of policies/; each links what that folder may use, $(policies_test_libs).

check_PROGRAMS += tests/policies/test_edit
tests_policies_test_edit_SOURCES = tests/policies/test_edit.c
tests_policies_test_edit_LDADD = $(policies_test_libs)
