# SPDX-License-Identifier: GPL-3.0-or-later
# Bytes held in each domain over time, a panel for each domain that holds any. Reads figure.tsv,
# texts.tsv, domains.tsv and pressure.tsv.

load 'figure.gp'
set multiplot
top = 48.0
load 'pressure_panels.gp'
unset multiplot
