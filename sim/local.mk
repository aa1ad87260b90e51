# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += sim/libsim.a

sim_libsim_a_SOURCES = \
	sim/barred.c \
	sim/barred.h \
	sim/contention.c \
	sim/contention.h \
	sim/contention_internal.h \
	sim/dispatch.c \
	sim/fallback.c \
	sim/lacking.c \
	sim/lacking.h \
	sim/ledger.c \
	sim/ledger.h \
	sim/memory.c \
	sim/memory.h \
	sim/memory_give.c \
	sim/memory_take.c \
	sim/open.c \
	sim/open.h \
	sim/overlap.c \
	sim/overlap.h \
	sim/pairwise.c \
	sim/program.c \
	sim/program.h \
	sim/queue.c \
	sim/queue.h \
	sim/ready.c \
	sim/retime.c \
	sim/retime.h \
	sim/retime_bytes.c \
	sim/retime_edges.c \
	sim/retime_holds.c \
	sim/retime_holds.h \
	sim/retime_internal.h \
	sim/retime_overlap.c \
	sim/retime_passing.c \
	sim/retime_trim.c \
	sim/roofline.c \
	sim/run.c \
	sim/sample.c \
	sim/sample.h \
	sim/sampling.c \
	sim/sampling.h \
	sim/share.c \
	sim/shelf.c \
	sim/shelf.h \
	sim/simulate.c \
	sim/simulate.h \
	sim/simulate_internal.h \
	sim/steer.c \
	sim/stuck.c \
	sim/variant.c \
	sim/variant.h \
	sim/waits.c \
	sim/worth.c \
	sim/worth.h
