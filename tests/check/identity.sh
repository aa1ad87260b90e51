#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A simulation gives the same timeline, byte for byte, however the program was compiled: with gcc and
# with clang, with and without optimization, with and without fused multiply-add.
#
# Each build simulates the same graphs (the examples, those of the cases, random ones made by the
# first build) and exports each timeline; the exports must be equal.
#
# usage: identity.sh OUT BUILD      (BUILD: of gcc with -O2; the others are built in OUT/identity-*)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:?usage: identity.sh OUT BUILD}
first=${2:?usage: identity.sh OUT BUILD}
# Neither a simulation nor an export calls these: every program has them as the first build made them.
same='kernels/libkernels.a replay/libreplay.a'
shared=${WEIR_SHARED:-$top/../shared}
# In memory where there is such a folder: a store that is written safely waits for its disk.
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

has_fma() {
    grep -qw fma /proc/cpuinfo 2>/dev/null
}

# configured NAME OPTIONS...: a build with these options in OUT/identity-NAME, begun in the background:
# to configure takes one processor.
variants=gcc-O2
configured() {
    folder=$out/identity-$1
    variants="$variants $1"
    shift
    mkdir -p "$folder" || exit 1
    (cd "$folder" && { [ -e Makefile ] || "$top/configure" --without-cuda "$@"; } >configure.log 2>&1) &
}

# program NAME: where the program is that NAME stands for.
program() {
    case $1 in
    gcc-O2) echo "$first/weir" ;;
    *) echo "$out/identity-$1/weir" ;;
    esac
}

# timelines PROGRAM FOLDER: what the program makes of every graph, tables as CSV in FOLDER; "end" there
# when all was made.
timelines() {
    mkdir "$2" && cd "$2" || exit 1
    for graph in "$graphs"/*.weir; do
        for contention in none pairwise share measured; do
            timeline=$(basename "$graph" .weir).$contention
            mkdir "$timeline" && rm -f run.db* || exit 1
            "$1" simulate "$graph" --contention $contention --db run.db --quiet \
                >"$timeline/answer" 2>"$timeline/message"
            status=$?
            echo "exit $status" >>"$timeline/answer"
            case $status in
            0 | 4) "$1" export csv latest --db run.db --quiet -o "$timeline/tables/" || exit 1 ;;
            esac
        done
    done
    rm -f run.db*
    : >end
}

configured gcc-O0 CC=gcc 'CFLAGS=-O0'
if has_fma; then
    configured gcc-fma CC=gcc 'CFLAGS=-O2 -mfma -mavx2'
    configured clang-fma CC=clang 'CFLAGS=-O2 -mfma -mavx2'
else
    configured clang-O2 CC=clang 'CFLAGS=-O2'
    echo 'this processor has no fused multiply-add: that comparison is left out'
fi
wait
for variant in ${variants#gcc-O2}; do
    (
        cd "$out/identity-$variant" && mkdir -p kernels replay || exit 1
        for library in $same; do
            cp -p "$first/$library" "$library" || exit 1
        done
        # shellcheck disable=SC2046,SC2086  # -o LIBRARY: as it is
        make -j "$(nproc)" $(printf -- '-o %s ' $same) weir >make.log 2>&1
    ) || {
        tail -n 20 "$out/identity-$variant/configure.log" "$out/identity-$variant/make.log"
        exit 1
    }
done

graphs=$out/identity-graphs
rm -rf "$graphs"
mkdir -p "$graphs"
find "$top/doc/examples" -name '*.weir' -exec cp {} "$graphs" \;
sh "$top/tests/check/case-graphs.sh" "$graphs" || exit 1
find "$shared/cases" -name '*.weir' -exec cp {} "$graphs" \; 2>/dev/null
for seed in 1 2 3 4 5; do
    "$first/weir" generate random --nodes 400 --seed $seed -o "$graphs/random-$seed.weir" --quiet ||
        exit 1
done
# What calibration fits: a roofline of each kind of power, and fair shares.
for fitted in 'roofline 1.25' 'roofline 2.75' 'roofline 3' 'roofline 11.5' 'share 0'; do
    file="$graphs/fitted-${fitted#* }.weir"
    "$first/weir" generate random --nodes 400 --engines 3 --width 12 --seed 9 -o "$file" --quiet || exit 1
    {
        echo 'resource memory capacity=1000B/s'
        echo 'resource issue capacity=777B/s'
        echo "param measured ${fitted% *} 0.01"
        [ "${fitted#* }" = 0 ] || echo "param roofline p ${fitted#* }"
        echo "param ${fitted% *}.eta memory 0.93"
        for demand in 'memory sm0 900' 'memory sm1 333' 'issue sm1 700' 'issue sm2 777' \
            'memory h2d 120' 'memory d2h 71'; do
            echo "param ${fitted% *}.demand.$demand"
        done
    } >>"$file"
done

for variant in $variants; do
    (timelines "$(program "$variant")" "$work/$variant") &
done
wait
status=0
for variant in $variants; do
    [ -e "$work/$variant/end" ] || {
        echo "$variant broke off"
        status=1
    }
    diff -r -u "$work/gcc-O2" "$work/$variant" || status=1
done
n_spans=$(cat "$work"/gcc-O2/*/tables/spans.csv | wc -l)
echo "$(find "$graphs" -name '*.weir' | wc -l) graphs, $n_spans lines of spans, in: $variants"
[ "$n_spans" -gt 1000 ] || status=1
exit $status
