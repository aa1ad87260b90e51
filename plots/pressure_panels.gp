# SPDX-License-Identifier: GPL-3.0-or-later
# Panels of pressure from `top` to the bottom of the picture, one for each domain: the curve of each
# run, filled when there is one run alone, and the limit (capacity less reserve) when it is near.

panel = n_domains > 0 ? (height - top - 40.0) / n_domains : 0
in_panel(d) = int(d) == i - 1
set border 3
set ytics nomirror textcolor rgb dark
set grid ytics linecolor rgb light linewidth 0.5
do for [i = 1:n_domains] {
    set yrange [*:*]
    set xrange [*:*]
    array domain[3]
    stats 'domains.tsv' every ::i::i using (domain[1] = $1, domain[2] = $2, \
        domain[3] = strcol(3), 0) nooutput
    set xrange [begin_ns / time_unit : end_ns / time_unit]
    peak = domain[1]
    limit = domain[2]
    unit = size_unit(peak)
    is_near = limit <= 2 * peak
    set tmargin at screen y_at(top + (i - 1) * panel + 26)
    set bmargin at screen y_at(top + i * panel - 14)
    set yrange [0 : 1.12 * (is_near && limit > peak ? limit : peak) / unit]
    set ylabel size_name(peak) textcolor rgb dark
    set label 3 domain[3] at screen x_at(left), y_at(top + (i - 1) * panel + 14) left \
        textcolor rgb 0x000000
    if (i == n_domains) {
        @show_time
    } else {
        @hide_time
    }
    plot 'pressure.tsv' every ::1 \
            using (n_sides == 1 && in_panel($1) ? $3 / time_unit : NaN):($4 / unit) \
            with fillsteps fillcolor rgb 0xCFE3F1 notitle, \
        for [side = 0:n_sides - 1] 'pressure.tsv' every ::1 \
            using (in_panel($1) && int($2) == side ? $3 / time_unit : NaN):($4 / unit) \
            with steps linecolor rgb (n_sides == 1 ? 0x0072B2 : side_colours[side + 1]) \
            linewidth (n_sides == 1 ? 1.4 : side_widths[side + 1]) notitle, \
        (is_near ? limit / unit : NaN) with lines dashtype 2 linecolor rgb dark linewidth 1 notitle
    unset label 1
    unset label 2
}
