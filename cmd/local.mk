# SPDX-License-Identifier: GPL-3.0-or-later
# The program: cmd/main.c holds the verb table, one file per verb beside it.

bin_PROGRAMS += weir

# A library stands before those it uses.
weir_LDADD = \
	judge/libjudge.a \
	store/libstore.a \
	traces/libtraces.a \
	replay/libreplay.a \
	sim/libsim.a \
	policies/libpolicies.a \
	kernels/libkernels.a \
	graph/libgraph.a \
	base/libbase.a \
	$(GSL_LIBS) \
	$(SQLITE_LIBS) \
	$(ZLIB_LIBS) \
	$(ZSTD_LIBS)

weir_SOURCES = \
	cmd/analyze.c \
	cmd/analyze_internal.h \
	cmd/analyze_json.c \
	cmd/analyze_show.c \
	cmd/arena.c \
	cmd/arena_answer.c \
	cmd/arena_internal.h \
	cmd/arena_load.c \
	cmd/calibrate.c \
	cmd/check.c \
	cmd/check_explain.c \
	cmd/check_explain.h \
	cmd/cmd.h \
	cmd/compare.c \
	cmd/compare_tails.c \
	cmd/compare_tails.h \
	cmd/device_state.c \
	cmd/device_state.h \
	cmd/devices.c \
	cmd/explain.c \
	cmd/explain_internal.h \
	cmd/explain_node.c \
	cmd/explain_node_json.c \
	cmd/explain_node_text.c \
	cmd/explained.c \
	cmd/explained.h \
	cmd/explained_json.c \
	cmd/explained_put.c \
	cmd/explained_put.h \
	cmd/explained_text.c \
	cmd/explained_text_shared.c \
	cmd/explained_text_waits.c \
	cmd/export.c \
	cmd/figure.c \
	cmd/figure.h \
	cmd/figure_folder.c \
	cmd/figure_folder.h \
	cmd/figure_internal.h \
	cmd/figure_tables.c \
	cmd/generate.c \
	cmd/gnuplot.c \
	cmd/gnuplot.h \
	cmd/findings.c \
	cmd/findings.h \
	cmd/graph_file.c \
	cmd/graph_json.c \
	cmd/graph_json.h \
	cmd/graph_json_derived.c \
	cmd/graph_json_internal.h \
	cmd/import.c \
	cmd/json.c \
	cmd/json.h \
	cmd/main.c \
	cmd/options.c \
	cmd/plot.c \
	cmd/policies.c \
	cmd/progress.c \
	cmd/progress.h \
	cmd/replay.c \
	cmd/replay_answer.c \
	cmd/replay_internal.h \
	cmd/replay_run.c \
	cmd/replay_settings.c \
	cmd/replayed.c \
	cmd/replayed.h \
	cmd/replayed_actions.c \
	cmd/replayed_device.c \
	cmd/replayed_internal.h \
	cmd/replayed_repeats.c \
	cmd/runs.c \
	cmd/runs_internal.h \
	cmd/runs_show.c \
	cmd/scenario.c \
	cmd/scenario.h \
	cmd/scenario_what_if.c \
	cmd/sensitivity.c \
	cmd/sensitivity_again.c \
	cmd/sensitivity_fixed.c \
	cmd/sensitivity_internal.h \
	cmd/sensitivity_json.c \
	cmd/sensitivity_show.c \
	cmd/shown.c \
	cmd/simulate.c \
	cmd/simulate_answer.c \
	cmd/simulate_internal.h \
	cmd/simulate_store.c \
	cmd/simulate_tails.c \
	cmd/simulate_tails.h \
	cmd/simulate_tails_answer.c \
	cmd/supervise.c \
	cmd/supervise.h \
	cmd/verify.c
