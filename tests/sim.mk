# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of sim/; each links what that folder may use, $(sim_test_libs).

check_PROGRAMS += tests/sim/test_audit
tests_sim_test_audit_SOURCES = \
	tests/sim/draw.c \
	tests/sim/draw.h \
	tests/sim/judge.h \
	tests/sim/pen.c \
	tests/sim/pen.h \
	tests/sim/test_audit.c
tests_sim_test_audit_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_barred
tests_sim_test_barred_SOURCES = \
	tests/sim/pen.c \
	tests/sim/pen.h \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_barred.c
tests_sim_test_barred_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_queue
tests_sim_test_queue_SOURCES = tests/sim/test_queue.c
tests_sim_test_queue_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_retime
tests_sim_test_retime_SOURCES = \
	tests/sim/draw_starts.c \
	tests/sim/draw_starts.h \
	tests/sim/legal.c \
	tests/sim/legal.h \
	tests/sim/pen.c \
	tests/sim/pen.h \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_retime.c
tests_sim_test_retime_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_sample
threaded_tests += tests/sim/test_sample
tests_sim_test_sample_SOURCES = \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_sample.c
tests_sim_test_sample_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_queueing
tests_sim_test_queueing_SOURCES = tests/sim/test_queueing.c
tests_sim_test_queueing_LDADD = $(sim_test_libs) -lm

check_PROGRAMS += tests/sim/test_rules
tests_sim_test_rules_SOURCES = \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_rules.c
tests_sim_test_rules_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_shelf
tests_sim_test_shelf_SOURCES = tests/sim/test_shelf.c
tests_sim_test_shelf_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_simulate
tests_sim_test_simulate_SOURCES = \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_simulate.c
tests_sim_test_simulate_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_variant
threaded_tests += tests/sim/test_variant
tests_sim_test_variant_SOURCES = \
	tests/sim/scene.c \
	tests/sim/scene.h \
	tests/sim/test_variant.c
tests_sim_test_variant_LDADD = $(sim_test_libs)

check_PROGRAMS += tests/sim/test_worth
tests_sim_test_worth_SOURCES = tests/sim/test_worth.c
tests_sim_test_worth_LDADD = $(sim_test_libs)

# What it costs to tell what every node is worth: make tests/bench/worth_bench
EXTRA_PROGRAMS += tests/bench/worth_bench
tests_bench_worth_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h \
	tests/bench/worth_bench.c
tests_bench_worth_bench_LDADD = sim/libsim.a policies/libpolicies.a graph/libgraph.a \
	base/libbase.a

# What simulating costs, beside a floor program: make tests/bench/simulate_bench
EXTRA_PROGRAMS += tests/bench/simulate_bench
tests_bench_simulate_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h \
	tests/bench/simulate_bench.c \
	tests/bench/turns.c \
	tests/bench/turns.h
tests_bench_simulate_bench_LDADD = sim/libsim.a policies/libpolicies.a graph/libgraph.a \
	base/libbase.a

# What timing a fixed order costs, beside the floor program: make tests/bench/retime_bench
EXTRA_PROGRAMS += tests/bench/retime_bench
tests_bench_retime_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/retime_bench.c \
	tests/bench/rounds.h
tests_bench_retime_bench_LDADD = sim/libsim.a policies/libpolicies.a graph/libgraph.a \
	base/libbase.a

# Samples a second and core: make tests/bench/sample_bench
EXTRA_PROGRAMS += tests/bench/sample_bench
tests_bench_sample_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/rounds.h \
	tests/bench/sample_bench.c
tests_bench_sample_bench_LDADD = sim/libsim.a policies/libpolicies.a graph/libgraph.a \
	base/libbase.a $(GSL_LIBS)
