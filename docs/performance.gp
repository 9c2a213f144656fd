# SPDX-License-Identifier: BSD-3-Clause
#
# Draws performance.svg from what the benchmark measures:
#
#     build/bench/broker --scale scale.dat
#     gnuplot -e "data='scale.dat'; out='docs/performance.svg'" docs/performance.gp

set terminal svg size 820,520 font "sans-serif,13" background rgb "white"
set output out
set logscale xy
set format x "%.0f"
set format y "%.0f"
set xlabel "filtered subscriptions that match the topic"
set ylabel "CPU time of the broker per message, µs"
set xrange [0.8:12500]
set key top left reverse Left
set grid xtics ytics lc rgb "#dddddd"
set datafile missing "-"
set style data linespoints

plot data using 1:($3/1000) title "everything delivered (a callback that does nothing)" lw 2 pt 7 lc rgb "#888888", \
     data using 1:($5/1000) title "all filters match" lw 2 pt 5 lc rgb "#d55e00", \
     data using 1:(strcol(6) eq "-" ? NaN : $6/1000) title "1 % match" lw 2 pt 9 lc rgb "#0072b2", \
     data using 1:($4/1000) title "no filter matches" lw 2 pt 11 lc rgb "#009e73", \
     data using 1:($2/1000) title "floor: a callback that denies at once" lw 2 dt 2 pt 6 lc rgb "#000000"
