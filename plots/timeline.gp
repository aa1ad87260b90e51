# SPDX-License-Identifier: GPL-3.0-or-later
# When each node ran: a row for each engine (more where nodes of one overlap), a colour for each
# class. Reads figure.tsv, texts.tsv, classes.tsv, lanes.tsv and bars.tsv.

load 'figure.gp'
@show_time
load 'bars.gp'
