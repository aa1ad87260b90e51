# SPDX-License-Identifier: GPL-3.0-or-later
# Two runs of one graph: their timelines, engine by engine, the first above the second; how much
# later each node started in the second; their pressure. Reads figure.tsv, texts.tsv, classes.tsv,
# lanes.tsv, bars.tsv, errors.tsv, domains.tsv and pressure.tsv.

load 'figure.gp'
set multiplot
set label 4 texts[3] at screen x_at(12.0), y_at(54.0) left textcolor rgb side_colours[2]
set label 2 textcolor rgb side_colours[1]
top = top + 16.0
@hide_time
load 'bars.gp'
unset label 1
unset label 2
unset label 4
unset key

# How much later the nodes started: starts in the first run along the axis.
top = top + n_rows * row_px + 24.0
set tmargin at screen y_at(top + 26)
set bmargin at screen y_at(top + 120.0)
set border 3
set ytics nomirror textcolor rgb dark
set grid ytics linecolor rgb light linewidth 0.5
set yrange [*:*]
set xrange [*:*]
stats 'errors.tsv' using (1) nooutput # the head line too
n_errors = STATS_records - 1          # none where the window shows one long node from within
STATS_min = 0
STATS_max = 0
if (n_errors > 0) {
    stats 'errors.tsv' every ::1 using 4 nooutput
}
set xrange [begin_ns / time_unit : end_ns / time_unit]
most_ns = STATS_max > -STATS_min ? STATS_max : -STATS_min
error_unit = most_ns < 3e3 ? 1 : most_ns < 3e6 ? 1e3 : most_ns < 3e9 ? 1e6 : 1e9
error_name = error_unit == 1 ? "ns" : error_unit == 1e3 ? "us" : error_unit == 1e6 ? "ms" : "s"
low = STATS_min < 0 ? STATS_min : 0
high = STATS_max > 0 ? STATS_max : 0
margin = low == high ? 1 : 0.08 * (high - low)
set yrange [(low - margin) / error_unit : (high + margin) / error_unit]
set ylabel error_name textcolor rgb dark
set label 3 "how much later nodes started in the second run" at screen x_at(left), y_at(top + 14) \
    left textcolor rgb 0x000000
range = (high - low + 2 * margin) / error_unit
step = 10 ** floor(log10(range / 3.0))
set ytics step * (range / step > 15 ? 5 : range / step > 6 ? 2 : 1)
if (n_domains == 0) {
    @show_time
}
set xzeroaxis linecolor rgb dark linewidth 0.6
if (n_errors > 0) {
    plot 'errors.tsv' every ::1 using ($3 / time_unit):($4 / error_unit) \
        with points pointtype 7 pointsize 0.25 linecolor rgb dark notitle
} else {
    plot NaN notitle
}
unset xzeroaxis
set ytics autofreq

top = top + 126.0
load 'pressure_panels.gp'
unset multiplot
