# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of kernels/, which includes nothing of ours.

check_PROGRAMS += tests/kernels/test_host
tests_kernels_test_host_SOURCES = tests/kernels/test_host.c
tests_kernels_test_host_LDADD = kernels/libkernels.a $(CHECK_LIBS) -lm

# Shell scripts, TAP like the rest.
dist_check_SCRIPTS += tests/kernels/ptx-lint.sh
TESTS += tests/kernels/ptx-lint.sh
