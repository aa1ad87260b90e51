# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += graph/libgraph.a

graph_libgraph_a_SOURCES =
