# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot scripts: each reads the tables that `weir plot` writes beside it, never the store.

plotsdir = $(pkgdatadir)/plots
dist_plots_DATA = \
	plots/bars.gp \
	plots/compare.gp \
	plots/figure.gp \
	plots/pressure.gp \
	plots/pressure_panels.gp \
	plots/timeline.gp
