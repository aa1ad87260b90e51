# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += policies/libpolicies.a

policies_libpolicies_a_SOURCES = \
	policies/arena_best_fit.c \
	policies/arena_bound.c \
	policies/arena_bytes.c \
	policies/arena_bytes.h \
	policies/arena_check.c \
	policies/arena_check.h \
	policies/arena_csv.c \
	policies/arena_csv.h \
	policies/arena_csv_gaps.c \
	policies/arena_csv_internal.h \
	policies/arena_csv_rows.c \
	policies/arena_csv_write.c \
	policies/arena_graph.c \
	policies/arena_graph.h \
	policies/arena_graph_internal.h \
	policies/arena_greedy.c \
	policies/arena_lifetimes.c \
	policies/arena_order.c \
	policies/arena_order.h \
	policies/arena_plan.c \
	policies/arena_plan.h \
	policies/arena_ranges.c \
	policies/arena_ranges.h \
	policies/arena_taken.c \
	policies/arena_taken.h \
	policies/builtin.h \
	policies/draft.c \
	policies/draft.h \
	policies/draft_internal.h \
	policies/edit.c \
	policies/links.c \
	policies/links.h \
	policies/policy.h \
	policies/ranking.c \
	policies/ranking.h \
	policies/recorded.c \
	policies/registry.c \
	policies/registry.h \
	policies/retain.c \
	policies/rules.c \
	policies/serial.c \
	policies/serial.h \
	policies/setup.c \
	policies/view.c \
	policies/wcs.c

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += policies/policy.h
