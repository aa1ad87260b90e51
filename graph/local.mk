# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += graph/libgraph.a

graph_libgraph_a_SOURCES = \
	graph/analyze.h \
	graph/bind.h \
	graph/findings.def \
	graph/graph.h \
	graph/id.h \
	graph/report.h \
	graph/text.h \
	graph/timeline.h

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += graph/id.h
