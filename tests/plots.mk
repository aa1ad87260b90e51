# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests of the figures: the files of cmd/ that make them, and the scripts of plots/.

check_PROGRAMS += tests/plots/test_figure
tests_plots_test_figure_SOURCES = \
	tests/plots/test_figure.c \
	cmd/figure.c \
	cmd/figure_folder.c \
	cmd/figure_tables.c \
	cmd/gnuplot.c \
	cmd/json.c \
	cmd/replayed_device.c
tests_plots_test_figure_LDADD = $(judge_test_libs)
