# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of store/; each links what that folder may use, $(store_test_libs).

check_PROGRAMS += \
	tests/store/test_damage \
	tests/store/test_faults \
	tests/store/test_open \
	tests/store/test_packed \
	tests/store/test_schema \
	tests/store/test_store \
	tests/store/test_views

made_run_sources = \
	tests/store/made_run.c \
	tests/store/made_run.h

tests_store_test_damage_SOURCES = tests/store/test_damage.c $(made_run_sources)
tests_store_test_damage_LDADD = $(store_test_libs)
tests_store_test_faults_SOURCES = tests/store/test_faults.c $(made_run_sources)
tests_store_test_faults_LDADD = $(store_test_libs)
tests_store_test_open_SOURCES = tests/store/test_open.c $(made_run_sources)
tests_store_test_open_LDADD = $(store_test_libs)
tests_store_test_packed_SOURCES = tests/store/test_packed.c
tests_store_test_packed_LDADD = $(store_test_libs)
tests_store_test_schema_SOURCES = tests/store/test_schema.c $(made_run_sources)
tests_store_test_schema_LDADD = $(store_test_libs)
tests_store_test_store_SOURCES = tests/store/test_store.c $(made_run_sources)
tests_store_test_store_LDADD = $(store_test_libs)
tests_store_test_views_SOURCES = tests/store/test_views.c $(made_run_sources)
tests_store_test_views_LDADD = $(store_test_libs)

# What simulating and storing a run costs, beside a floor: make tests/bench/store_bench
EXTRA_PROGRAMS += tests/bench/store_bench
tests_bench_store_bench_SOURCES = \
	tests/bench/floor.c \
	tests/bench/layers.c \
	tests/bench/layers.h \
	tests/bench/resident.c \
	tests/bench/resident.h \
	tests/bench/rounds.h \
	tests/bench/store_bench.c \
	tests/bench/store_floor.c \
	tests/bench/store_floor.h
tests_bench_store_bench_LDADD = sim/libsim.a policies/libpolicies.a $(store_test_libs)
