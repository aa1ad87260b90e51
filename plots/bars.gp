# SPDX-License-Identifier: GPL-3.0-or-later
# The rows of bars, from `top` down, with the legend of classes above them. Rows of a lane touch, a
# line parts the lanes. Of two runs, the names of the lanes have the colour of their run. Bars narrower than three pixels get no edge, which would hide them.

array class_names[8]
stats 'classes.tsv' every ::1 using (class_names[int($1) + 1] = strcol(3), 0) nooutput

legend_top = top - 10.0
top = top + 16.0 * legend_rows
set tmargin at screen y_at(top)
set bmargin at screen y_at(top + n_rows * row_px)
set yrange [n_rows - 0.5 : -0.5]
unset ytics
set grid xtics linecolor rgb light linewidth 0.5
set key at screen x_at(left), y_at(legend_top) left top horizontal Left reverse samplen 1.2 \
    width 1 maxcols legend_columns textcolor rgb dark

half = row_px >= 8 ? 0.42 : 0.5
px_ns = span_ns / (width - left - right)
is_wide(start, finish) = finish - start >= 3 * px_ns
at_least(px, start, finish) = finish > start + px * px_ns ? finish : start + px * px_ns

# Where several nodes are joined to one bar, the paler the less of it they take, but never too pale to
# be seen; each such bar reaches a little under the next, so that no seam shows between them.
paler(channel, part) = int(255 - (255 - channel) * (0.2 + 0.8 * part))
mixed(c, part) = paler(c / 65536, part) * 65536 + paler(c / 256 % 256, part) * 256 + \
    paler(c % 256, part)
plot 'lanes.tsv' every ::1 using (begin_ns / time_unit):($1 - 0.5):(span_ns / time_unit):(0) \
        with vectors nohead linecolor rgb light linewidth 0.5 notitle, \
    'bars.tsv' every ::1 using ($5 == 1 ? $2 / time_unit : NaN):1:($2 / time_unit): \
        (($3 + 0.5 * px_ns) / time_unit):($1 - half):($1 + half):(mixed(colour($4), $6 / 100.0)) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb variable notitle, \
    'bars.tsv' every ::1 using ($5 == 1 || is_wide($2, $3) ? NaN : $2 / time_unit):1: \
        ($2 / time_unit):(at_least(0.7, $2, $3) / time_unit):($1 - half):($1 + half): \
        (colour($4)) with boxxyerror fillstyle solid 1 noborder linecolor rgb variable notitle, \
    'bars.tsv' every ::1 using ($5 == 0 && is_wide($2, $3) ? $2 / time_unit : NaN):1: \
        ($2 / time_unit):($3 / time_unit):($1 - half):($1 + half):(colour($4)) \
        with boxxyerror fillstyle solid 1 border rgb "white" linecolor rgb variable notitle, \
    'bars.tsv' every ::1 using (0.5 * ($2 + $3) / time_unit):1:7:(label_colour($4)) \
        with labels center font label_font textcolor rgb variable notitle, \
    'lanes.tsv' every ::1 \
        using (begin_ns / time_unit):($1 + 0.5 * $2 - 0.5):4:(n_sides == 1 ? dark : side_colour($3)) \
        with labels right offset -0.8, 0 textcolor rgb variable notitle, \
    for [i = 1:n_classes] keyentry with boxes fillstyle solid 1 noborder \
        linecolor rgb colours[i] title class_names[i]
