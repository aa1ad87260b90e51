# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot scripts: each reads a table that `weir export` wrote.

plotsdir = $(pkgdatadir)/plots
dist_plots_DATA =
