# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += judge/libjudge.a

judge_libjudge_a_SOURCES = \
	judge/bound.c \
	judge/bound.h \
	judge/chain.c \
	judge/chain.h \
	judge/compare.c \
	judge/compare.h \
	judge/gave_way.c \
	judge/gave_way.h \
	judge/inversions.c \
	judge/inversions.h \
	judge/makeup.c \
	judge/makeup.h \
	judge/modes.c \
	judge/modes.h \
	judge/modes_barriers.c \
	judge/modes_bytes.c \
	judge/modes_circle.c \
	judge/modes_contention.c \
	judge/modes_engines.c \
	judge/modes_internal.h \
	judge/modes_prefetch.c \
	judge/modes_recompute.c \
	judge/modes_room.c \
	judge/modes_speculative.c \
	judge/modes_trips.c \
	judge/overlap.c \
	judge/overlap.h \
	judge/pairs.c \
	judge/pairs.h \
	judge/pressure.c \
	judge/pressure.h \
	judge/settings.c \
	judge/settings.h \
	judge/stalls.c \
	judge/stalls.h \
	judge/tails.c \
	judge/tails.h \
	judge/waiting.c \
	judge/waiting.h \
	judge/why.c \
	judge/why.h
