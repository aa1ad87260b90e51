# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += store/libstore.a

store_libstore_a_SOURCES = \
	store/add.c \
	store/graph_rows.c \
	store/packed.c \
	store/packed.h \
	store/read.c \
	store/replay_rows.c \
	store/rows.c \
	store/rows.h \
	store/run_check.c \
	store/run_lists.c \
	store/sample_rows.c \
	store/schema.c \
	store/schema.h \
	store/schema_internal.h \
	store/schema_packed.c \
	store/schema_replay.c \
	store/schema_samples.c \
	store/store.c \
	store/store.h \
	store/store_internal.h \
	store/stored_text.c \
	store/tables.c \
	store/timeline_rows.c \
	store/timeline_values.c \
	store/timeline_values.h \
	store/values.h \
	store/write.c
