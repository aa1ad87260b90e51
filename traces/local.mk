# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += traces/libtraces.a

traces_libtraces_a_SOURCES = \
	traces/chrome.c \
	traces/chrome.h \
	traces/chrome_internal.h \
	traces/chrome_layout.c \
	traces/csv.c \
	traces/csv.h \
	traces/import.c \
	traces/import.h \
	traces/nsys.c \
	traces/nsys.h \
	traces/nsys_actions.c \
	traces/nsys_calls.c \
	traces/nsys_edges.c \
	traces/nsys_file.c \
	traces/nsys_gpus.c \
	traces/nsys_grade.c \
	traces/nsys_graphs.c \
	traces/nsys_ids.c \
	traces/nsys_implicit.c \
	traces/nsys_internal.h \
	traces/nsys_kinds.c \
	traces/nsys_link.c \
	traces/nsys_live.c \
	traces/nsys_loose.c \
	traces/nsys_memory.c \
	traces/nsys_nameless.c \
	traces/nsys_names.c \
	traces/nsys_ops.c \
	traces/nsys_prune.c \
	traces/nsys_ranges.c \
	traces/nsys_report.c \
	traces/nsys_rows.c \
	traces/nsys_schema.c \
	traces/nsys_streams.c \
	traces/nsys_unpack.c \
	traces/nsys_waits.c \
	traces/nsys_window.c \
	traces/psplib.c \
	traces/psplib.h \
	traces/psplib_internal.h \
	traces/psplib_text.c \
	traces/recording.c \
	traces/recording.h \
	traces/recording_build.c \
	traces/recording_forms.c \
	traces/recording_internal.h \
	traces/recording_memory.c \
	traces/recording_order.c \
	traces/recording_rules.def \
	traces/recording_text.c \
	traces/runs.c \
	traces/runs.h \
	traces/writer.c \
	traces/writer.h
