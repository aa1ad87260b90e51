# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of replay/; each links what that folder may use, $(replay_test_libs).

replay_tests = \
	tests/replay/test_account \
	tests/replay/test_calibrate \
	tests/replay/test_deviate \
	tests/replay/test_device_state \
	tests/replay/test_families \
	tests/replay/test_fit \
	tests/replay/test_host \
	tests/replay/test_host_data \
	tests/replay/test_reuse \
	tests/replay/test_runner \
	tests/replay/test_schedule \
	tests/replay/test_schedule_waits \
	tests/replay/test_sharing \
	tests/replay/test_spread

check_PROGRAMS += $(replay_tests)
# Not those of a runner: it has no threads beyond those of the device, and copies what ThreadSanitizer takes
# a minute to watch.
threaded_tests += \
	tests/replay/test_calibrate \
	tests/replay/test_deviate \
	tests/replay/test_host \
	tests/replay/test_host_data

tests_replay_test_account_SOURCES = tests/replay/test_account.c tests/replay/plan.h
tests_replay_test_account_LDADD = $(replay_test_libs)
tests_replay_test_calibrate_SOURCES = tests/replay/test_calibrate.c
tests_replay_test_calibrate_LDADD = $(replay_test_libs)
tests_replay_test_deviate_SOURCES = tests/replay/test_deviate.c tests/replay/plan.h
tests_replay_test_deviate_LDADD = $(replay_test_libs)
tests_replay_test_device_state_SOURCES = tests/replay/test_device_state.c
tests_replay_test_device_state_LDADD = $(replay_test_libs)
tests_replay_test_families_SOURCES = tests/replay/test_families.c
tests_replay_test_families_LDADD = $(replay_test_libs)
tests_replay_test_fit_SOURCES = tests/replay/test_fit.c
tests_replay_test_fit_LDADD = $(replay_test_libs)
tests_replay_test_host_SOURCES = tests/replay/host_rig.h tests/replay/test_host.c
tests_replay_test_host_LDADD = $(replay_test_libs)
tests_replay_test_host_data_SOURCES = tests/replay/host_rig.h tests/replay/test_host_data.c
tests_replay_test_host_data_LDADD = $(replay_test_libs)
tests_replay_test_reuse_SOURCES = tests/replay/test_reuse.c
tests_replay_test_reuse_LDADD = $(replay_test_libs)
tests_replay_test_runner_SOURCES = tests/replay/test_runner.c tests/replay/plan.h
tests_replay_test_runner_LDADD = $(replay_test_libs)
tests_replay_test_schedule_SOURCES = \
	tests/replay/plan.h \
	tests/replay/schedule_rig.h \
	tests/replay/test_schedule.c
tests_replay_test_schedule_LDADD = $(replay_test_libs)
tests_replay_test_schedule_waits_SOURCES = \
	tests/replay/plan.h \
	tests/replay/schedule_rig.h \
	tests/replay/test_schedule_waits.c
tests_replay_test_schedule_waits_LDADD = $(replay_test_libs)
tests_replay_test_sharing_SOURCES = tests/replay/test_sharing.c tests/replay/plan.h
tests_replay_test_sharing_LDADD = $(replay_test_libs)
tests_replay_test_spread_SOURCES = tests/replay/test_spread.c
tests_replay_test_spread_LDADD = $(replay_test_libs)

# What a replay on the host costs an action itself, beside a floor: make tests/bench/replay_overhead
EXTRA_PROGRAMS += tests/bench/replay_overhead
tests_bench_replay_overhead_SOURCES = tests/bench/replay_overhead.c
tests_bench_replay_overhead_LDADD = replay/libreplay.a kernels/libkernels.a graph/libgraph.a \
	base/libbase.a $(GSL_LIBS)

# Compiled where NVIDIA's headers are, never run: what Weir declares of the driver, CUPTI and NVML.
check_LIBRARIES =
if HAVE_CUDA_HEADERS
check_LIBRARIES += tests/replay/libcuda_abi_check.a
endif
tests_replay_libcuda_abi_check_a_SOURCES = tests/replay/cuda_abi_check.c
tests_replay_libcuda_abi_check_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_replay_libcuda_abi_check_a_CFLAGS = -std=c17 -Wall -Wextra -Werror=incompatible-pointer-types
if HAVE_NVML_HEADER
check_LIBRARIES += tests/replay/libnvml_abi_check.a
endif
tests_replay_libnvml_abi_check_a_SOURCES = tests/replay/nvml_abi_check.c
tests_replay_libnvml_abi_check_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_replay_libnvml_abi_check_a_CFLAGS = -std=c17 -Wall -Wextra -Werror=incompatible-pointer-types
