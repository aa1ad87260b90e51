#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How far a replay on the host is from what was simulated: calibrates this machine, simulates graphs
# of several shapes on it, replays each, and prints a table. Run it while nothing else runs.
#
#   error      median of the replays' makespans over the simulated one, less 1
#   spread     the same of the least and of the greatest repeat
#   middle     width of the middle half of the repeats, as a part of their median
#   lost       actions of the median repeat that lost their processor to something else
#
# usage: host_error.sh [FOLDER]     (default: a temporary one, taken away at the end)
# environment: WEIR the program (weir), REPEATS (15), SCALE_TIME (1), MACHINE a machine file that is
# there already
set -eu

weir=${WEIR:-weir}
repeats=${REPEATS:-15}
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

printf '%-12s %6s %6s %6s %6s %11s %11s %8s %19s %7s %5s %9s\n' graph nodes queues bytes waits \
    'simulated' 'replayed' error 'spread' middle lost overhead
for graph in chain transformer pipeline offload random random-2; do
    simulated=$("$weir" simulate $graph.weir --machine "$machine" --contention pairwise \
        --db error.db --json)
    run=$(printf '%s\n' "$simulated" | value run)
    replayed=$("$weir" replay "$run" --device host --repeats "$repeats" --warm-up 3 \
        --scale-time "$scale" --db error.db --json)
    printf '%s\n' "$replayed" >$graph.json
    {
        echo "$graph"
        printf '%s\n' "$simulated" | value nodes
        for key in queues scale_bytes induced planned_makespan_ns makespan_ns least_makespan_ns \
            greatest_makespan_ns quartiles_ratio preempted median_ns; do
            printf '%s\n' "$replayed" | value $key
        done
    } | tr '\n' ' ' | awk '{
        printf "%-12s %6d %6d %6.3g %6d %8.3f ms %8.3f ms %+7.2f%% %+8.2f%% %+8.2f%% %6.2f%% %5d %6d ns\n",
            $1, $2, $3, $4, $5, $6 / 1e6, $7 / 1e6, 100 * ($7 / $6 - 1), 100 * ($8 / $6 - 1),
            100 * ($9 / $6 - 1), 100 * $10, $11, $12
    }'
done
