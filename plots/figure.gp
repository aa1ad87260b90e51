# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures share: the tables are read, the picture is opened, colours and axes are set. Names
# come from the tables as text and are never part of a command. `weir plot --tables FOLDER` leaves
# scripts and tables in FOLDER; `gnuplot -d timeline.gp` there draws figure.out again.

set encoding utf8
set datafile separator tab
set datafile commentschars ""
set datafile missing ""

stats 'figure.tsv' every ::1 using (is_png = $1, width = $2, height = $3, left = $4, row_px = $5, \
    n_rows = $6, n_classes = $7, n_domains = $8, begin_ns = $9, end_ns = $10, \
    legend_columns = $11, legend_rows = $12, 0) nooutput
array texts[3] = ["", "", ""]
stats 'texts.tsv' every ::1 using (texts[int($0) + 1] = strcol(1), 0) nooutput

if (is_png == 1) {
    set terminal pngcairo noenhanced size width, height font "sans,9" background "white"
} else {
    set terminal svg noenhanced size width, height font "sans-serif,12" background "white"
}
set output 'figure.out'
# PNG counts points of 4/3 pixels, SVG pixels.
title_font = is_png == 1 ? ",14" : ",18"
label_font = is_png == 1 ? ",8" : ",11"

# The palette of Okabe and Ito, which people with any of the common colour blindnesses can tell
# apart; the last is for all classes that get no colour of their own.
array colours[8] = [0x0072B2, 0xE69F00, 0x009E73, 0xD55E00, 0x56B4E9, 0xCC79A7, 0xF0E442, 0x999999]
array on_colour[8] = [0xFFFFFF, 0x000000, 0xFFFFFF, 0xFFFFFF, 0x000000, 0x000000, 0x000000, 0x000000]
colour(i) = colours[int(i) + 1]
label_colour(i) = on_colour[int(i) + 1]
# Of two runs: no class has these.
array side_colours[2] = [0x404040, 0xAA3377]
array side_widths[2] = [2.4, 1.2]
side_colour(i) = side_colours[int(i) + 1]
n_sides = strlen(texts[3]) > 0 ? 2 : 1
dark = 0x333333
light = 0xD9D9D9

# Times in the unit that suits the range, sizes in the one that suits their greatest.
span_ns = end_ns - begin_ns
time_unit = span_ns < 3e3 ? 1 : span_ns < 3e6 ? 1e3 : span_ns < 3e9 ? 1e6 : 1e9
time_name = time_unit == 1 ? "ns" : time_unit == 1e3 ? "us" : time_unit == 1e6 ? "ms" : "s"
size_unit(b) = b < 3e3 ? 1 : b < 3e6 ? 1e3 : b < 3e9 ? 1e6 : b < 3e12 ? 1e9 : 1e12
size_name(b) = b < 3e3 ? "bytes" : b < 3e6 ? "KB" : b < 3e9 ? "MB" : b < 3e12 ? "GB" : "TB"

# The lowest panel shows the numbers of the time axis and its name, the others ticks alone.
show_time = 'set xlabel sprintf("time (%s)", time_name) offset 0, 0.4 textcolor rgb dark; set xtics format "%g"'
hide_time = 'unset xlabel; set xtics format ""'

# Places in pixels from the top left corner.
x_at(px) = px / width
y_at(px) = 1 - px / height
right = 24.0
top = 58.0

set border 1 linecolor rgb dark linewidth 0.8
set tics nomirror out textcolor rgb dark scale 0.6
set style fill solid 1 noborder
unset key
set xrange [begin_ns / time_unit : end_ns / time_unit]
set lmargin at screen x_at(left)
set rmargin at screen x_at(width - right)

# Title and what each run is, at the top left.
set label 1 texts[1] at screen x_at(12.0), y_at(18.0) left font title_font textcolor rgb 0x000000
set label 2 texts[2] at screen x_at(12.0), y_at(38.0) left textcolor rgb dark
