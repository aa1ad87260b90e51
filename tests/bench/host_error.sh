#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How far a replay on the host is from what was simulated: calibrates this machine, simulates graphs
# of several shapes on it, replays each several times, and prints a table. Run it while nothing else
# runs.
#
#   error      median of the makespans of all repeats of all replays, over the simulated one, less 1
#   least, greatest, quartiles    the same of the repeats
#   lost       actions that lost their processor to something else, in the median repeat, at most
#
# usage: host_error.sh [FOLDER]     (default: a temporary one, taken away at the end)
# environment: WEIR the program (weir), REPLAYS (5) of REPEATS (7) each, SCALE_TIME (1), MACHINE a
# machine file that is there already
set -eu

weir=${WEIR:-weir}
replays=${REPLAYS:-5}
repeats=${REPEATS:-7}
scale=${SCALE_TIME:-1}
examples=$(cd "$(dirname "$0")/../../doc/examples" && pwd)
folder=${1:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"

machine=${MACHINE:-$folder/host.weir}
if [ ! -e "$machine" ]; then
    "$weir" calibrate --device host -o "$machine" --quiet
fi
cd "$folder"
rm -f error.db error.db-wal error.db-shm

# pipeline CHUNKS: chunks come in, are worked on and go out again, with room for three in the device
# memory: what comes in waits for what went out.
pipeline() {
    awk -v n="$1" 'BEGIN {
        print "weir 1\ngraph pipeline"
        print "domain hbm capacity=7MB\ndomain host capacity=1GB"
        print "engine sm domain=hbm\nengine h2d from=host to=hbm\nengine d2h from=hbm to=host"
        for (i = 0; i < n; i++) {
            print "object in" i " size=2MB domain=host initial"
            print "object out" i " size=200KB domain=hbm"
        }
        for (i = 0; i < n; i++) {
            print "node get" i " allocation object=in" i " domain=hbm"
            print "node load" i " prefetch engine=h2d object=in" i
            print "node work" i " compute engine=sm duration=" 250 + 40 * (i % 5) "us reads=in" i " writes=out" i
            print "node put" i " reclamation object=in" i " domain=hbm"
            print "node save" i " offload engine=d2h object=out" i
        }
    }'
}

"$weir" generate chain --nodes 300 --seed 1 -o chain.weir --quiet
"$weir" generate random --nodes 600 --seed 1 --engines 1 -o random.weir --quiet
"$weir" generate random --nodes 600 --seed 2 --engines 2 -o random-2.weir --quiet
"$weir" generate transformer --layers 2 --hidden 128 --heads 4 --sequence 64 --batch 2 \
    --vocabulary 1000 --dtype fp32 --workspace 1MiB --machine "$machine" -o transformer.weir --quiet
pipeline 100 >pipeline.weir
cp "$examples/offload.weir" offload.weir

# value KEY of a JSON answer on standard input, one key a line.
value() {
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" | head -n 1
}

# measure GRAPH CONTENTION [CAPACITY]: one line of the table. The machine's capacity is that of this
# machine's memory, so what is to be short must be said.
measure() {
    simulated=$("$weir" simulate "$1.weir" --machine "$machine" --contention "$2" \
        ${3:+--capacity "$3"} --db error.db --json)
    run=$(printf '%s\n' "$simulated" | value run)
    : >samples
    lost=0
    n=0
    while [ $n -lt "$replays" ]; do
        replayed=$("$weir" replay "$run" --device host --repeats "$repeats" --scale-time "$scale" \
            --db error.db --json)
        "$weir" export csv samples "$(printf '%s\n' "$replayed" | value run)" --db error.db |
            awk -F, '$3 == 0 { print $2 }' >>samples
        more=$(printf '%s\n' "$replayed" | value preempted)
        [ "$more" -le $lost ] || lost=$more
        n=$((n + 1))
    done
    sort -n samples | awk -v graph="$1" -v contention="$2" -v lost="$lost" \
        -v nodes="$(printf '%s\n' "$simulated" | value nodes)" \
        -v queues="$(printf '%s\n' "$replayed" | value queues)" \
        -v induced="$(printf '%s\n' "$replayed" | value induced)" \
        -v bytes="$(printf '%s\n' "$replayed" | value scale_bytes)" \
        -v planned="$(printf '%s\n' "$replayed" | value planned_makespan_ns)" '
        function error(part) { return 100 * (ns[1 + int(part * (NR - 1) + 0.5)] / planned - 1) }
        { ns[NR] = $1 }
        END {
            printf "%-12s %-9s %5d %6d %6d %6.3g %10.3f ms %10.3f ms %+8.2f %% %+8.2f %+8.2f %+8.2f %+8.2f %5d\n",
                graph, contention, nodes, queues, induced, bytes, planned / 1e6,
                ns[1 + int((NR - 1) / 2)] / 1e6, error(0.5), error(0), error(0.25), error(0.75),
                error(1), lost
        }'
}

printf '%-12s %-9s %5s %6s %6s %6s %13s %13s %10s %8s %8s %8s %8s %5s\n' graph contention nodes \
    queues waits bytes simulated replayed error least 'lower q' 'upper q' greatest lost
for contention in none pairwise; do
    measure chain $contention
    measure transformer $contention
    measure pipeline $contention hbm=7MB
    measure offload $contention hbm=512MB
    measure random $contention
    measure random-2 $contention
done
