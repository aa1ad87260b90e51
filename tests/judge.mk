# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of judge/; each links what that folder may use, $(judge_test_libs).

check_PROGRAMS += \
	tests/judge/test_chain \
	tests/judge/test_compare \
	tests/judge/test_inversions \
	tests/judge/test_modes_room \
	tests/judge/test_overlap \
	tests/judge/test_pressure \
	tests/judge/test_settings \
	tests/judge/test_stalls \
	tests/judge/test_sweep \
	tests/judge/test_tails \
	tests/judge/test_together \
	tests/judge/test_verify_bytes \
	tests/judge/test_verify_demands \
	tests/judge/test_verify_silent \
	tests/judge/test_verify_starts \
	tests/judge/test_verify_tables \
	tests/judge/test_verify_waits \
	tests/judge/test_waiting \
	tests/judge/test_why

tests_judge_test_chain_SOURCES = tests/judge/scene.h tests/judge/test_chain.c
tests_judge_test_chain_LDADD = $(judge_test_libs)
tests_judge_test_compare_SOURCES = tests/judge/test_compare.c
tests_judge_test_compare_LDADD = $(judge_test_libs)
tests_judge_test_inversions_SOURCES = tests/judge/test_inversions.c
tests_judge_test_inversions_LDADD = $(judge_test_libs)
tests_judge_test_modes_room_SOURCES = tests/judge/scene.h tests/judge/test_modes_room.c
tests_judge_test_modes_room_LDADD = $(judge_test_libs)
tests_judge_test_overlap_SOURCES = tests/judge/scene.h tests/judge/test_overlap.c
tests_judge_test_overlap_LDADD = $(judge_test_libs)
tests_judge_test_pressure_SOURCES = tests/judge/scene.h tests/judge/test_pressure.c
tests_judge_test_pressure_LDADD = $(judge_test_libs)
tests_judge_test_settings_SOURCES = tests/judge/test_settings.c
tests_judge_test_settings_LDADD = $(judge_test_libs)
tests_judge_test_stalls_SOURCES = tests/judge/scene.h tests/judge/test_stalls.c
tests_judge_test_stalls_LDADD = $(judge_test_libs)
tests_judge_test_tails_SOURCES = tests/judge/test_tails.c
tests_judge_test_tails_LDADD = $(judge_test_libs)
tests_judge_test_together_SOURCES = tests/judge/test_together.c
tests_judge_test_together_LDADD = $(judge_test_libs)
tests_judge_test_sweep_SOURCES = tests/judge/scene.h tests/judge/test_sweep.c
tests_judge_test_sweep_LDADD = $(judge_test_libs)
# They verify what the simulator makes.
verify_test_libs = sim/libsim.a policies/libpolicies.a $(judge_test_libs)
subject_sources = tests/judge/subject.c tests/judge/subject.h
tests_judge_test_verify_bytes_SOURCES = $(subject_sources) tests/judge/test_verify_bytes.c
tests_judge_test_verify_bytes_LDADD = $(verify_test_libs)
tests_judge_test_verify_demands_SOURCES = $(subject_sources) tests/judge/test_verify_demands.c
tests_judge_test_verify_demands_LDADD = $(verify_test_libs)
tests_judge_test_verify_silent_SOURCES = $(subject_sources) tests/judge/test_verify_silent.c
tests_judge_test_verify_silent_LDADD = $(verify_test_libs)
tests_judge_test_verify_starts_SOURCES = $(subject_sources) tests/judge/test_verify_starts.c
tests_judge_test_verify_starts_LDADD = $(verify_test_libs)
tests_judge_test_verify_tables_SOURCES = $(subject_sources) tests/judge/test_verify_tables.c
tests_judge_test_verify_tables_LDADD = $(verify_test_libs)
tests_judge_test_verify_waits_SOURCES = $(subject_sources) tests/judge/test_verify_waits.c
tests_judge_test_verify_waits_LDADD = $(verify_test_libs)
tests_judge_test_waiting_SOURCES = tests/judge/scene.h tests/judge/test_waiting.c
tests_judge_test_waiting_LDADD = $(judge_test_libs)
tests_judge_test_why_SOURCES = tests/judge/scene.h tests/judge/test_why.c
tests_judge_test_why_LDADD = $(judge_test_libs)

# What explaining a run costs, beside simulating it: make tests/bench/explain_bench
EXTRA_PROGRAMS += tests/bench/explain_bench
tests_bench_explain_bench_SOURCES = \
	tests/bench/explain_bench.c \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h
tests_bench_explain_bench_LDADD = sim/libsim.a policies/libpolicies.a $(judge_test_libs)

# What looking for mistakes of a schedule costs, beside simulating it: make tests/bench/modes_bench
EXTRA_PROGRAMS += tests/bench/modes_bench
tests_bench_modes_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/modes_bench.c \
	tests/bench/rounds.h
tests_bench_modes_bench_LDADD = sim/libsim.a policies/libpolicies.a $(judge_test_libs)
