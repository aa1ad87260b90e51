# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += graph/libgraph.a

graph_libgraph_a_SOURCES = \
	graph/adjacency.c \
	graph/adjacency.h \
	graph/analyze.c \
	graph/analyze.h \
	graph/bind.c \
	graph/bind.h \
	graph/bind_audit.c \
	graph/bind_expand.c \
	graph/bind_holds.c \
	graph/bind_internal.h \
	graph/bind_sort.c \
	graph/bind_walk.c \
	graph/check.c \
	graph/check.h \
	graph/class_order.c \
	graph/defaults.c \
	graph/deviation.h \
	graph/edge.c \
	graph/explain.c \
	graph/explain.def \
	graph/explain.h \
	graph/fields.c \
	graph/fields.h \
	graph/findings.def \
	graph/generate.h \
	graph/generate_build.c \
	graph/generate_chain.c \
	graph/generate_internal.h \
	graph/generate_layers.c \
	graph/generate_random.c \
	graph/generate_step.c \
	graph/generate_step.h \
	graph/generate_transformer.c \
	graph/graph.c \
	graph/graph.h \
	graph/graph_internal.h \
	graph/id.h \
	graph/keys.c \
	graph/keys.h \
	graph/length.c \
	graph/nearest.c \
	graph/node.c \
	graph/object.c \
	graph/overlap_keys.c \
	graph/overlap_keys.h \
	graph/pools.c \
	graph/reach.c \
	graph/reach.h \
	graph/reach_bits.c \
	graph/reach_chains.c \
	graph/read.c \
	graph/read_declare.c \
	graph/read_file.c \
	graph/read_internal.h \
	graph/read_keyed.c \
	graph/read_rows.c \
	graph/read_statement.c \
	graph/report.c \
	graph/report.h \
	graph/segments.c \
	graph/segments.h \
	graph/sink.c \
	graph/sink.h \
	graph/statements_check.c \
	graph/text.h \
	graph/timeline.c \
	graph/timeline.h \
	graph/token.c \
	graph/token.h \
	graph/value.c \
	graph/value_list.c \
	graph/walk_access.c \
	graph/walk_internal.h \
	graph/walk_places.c \
	graph/walk_visit.c \
	graph/words.c \
	graph/write.c \
	graph/write_file.c \
	graph/write_internal.h \
	graph/write_quick.c

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += graph/id.h
