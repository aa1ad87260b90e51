#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How far a replay on the host is from what was simulated: calibrates this machine, simulates graphs
# that calibration never saw, replays each several times, and prints a line for each and then how the
# errors are distributed. Run it while nothing else runs: it looks how much of the processors' time
# other programs take, does not begin when that is much, and leaves out of the distribution what they
# disturbed.
#
#   graphs        random ones (wide and narrow on one engine, two on two), training steps of
#                 transformers of several sizes (step), steps that move activations away and bring
#                 them back (swap with an engine for each direction, turns with one for both),
#                 pipelines of chunks, a chain, and doc/examples/offload.weir. Every node gets the
#                 class of what the host does for it, since that is what was calibrated
#   none          contention is not modelled
#   pairwise      with the factors that were calibrated
#   share         of graphs that keep more queues busy than there are processors: these, shared evenly
#   busy          queues that work at once in the plan, at most; over: part of the plan in which they
#                 are more than the processors
#   error         median of the makespans of all repeats of all replays, over the simulated one, less 1
#   least, greatest, quartiles    the same of the repeats
#   lost          actions that lost their processor to something else, in the median repeat, at most
#   others        part of the processors' time that other programs took meanwhile; * too much
#
# usage: host_error.sh [FOLDER]     (default: a temporary one, taken away at the end)
# environment: WEIR the program (weir); REPLAYS (3) of REPEATS (7) each; SCALE_TIME (1); MACHINE a
# machine file that is there already; GRAPHS a pattern of names (*), such as 'chain|swap-*'; FORCE=1
# begins on a busy machine too, to try the script out: no line of it is about Weir
#
# exit status: 0; 1 other programs took too much of the processors' time for a result
set -eu

weir=$(command -v "${WEIR:-weir}") || {
    echo "host_error.sh: no program ${WEIR:-weir}: set WEIR to it" >&2
    exit 2
}
weir=$(cd "$(dirname "$weir")" && pwd)/$(basename "$weir")
replays=${REPLAYS:-3}
repeats=${REPEATS:-7}
scale=${SCALE_TIME:-1}
chosen=${GRAPHS:-*}
most_others=3 # percent of the processors' time
examples=$(cd "$(dirname "$0")/../../doc/examples" && pwd)
folder=${1:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
machine=${MACHINE:-}
if [ -n "$machine" ]; then
    machine=$(cd "$(dirname "$machine")" && pwd)/$(basename "$machine")
fi
cd "$folder"
rm -f error.db error.db-wal error.db-shm errors

# ---- who else takes the processors' time ----

ticks=$(getconf CLK_TCK)

# look FILE: the time that all processors had, and worked, and that this script's programs had so far.
look() {
    times >own_times
    awk -v ticks="$ticks" '
        FILENAME == "own_times" {
            for (i = 1; i <= NF; i++) {
                split($i, part, "m")
                own += part[1] * 60 + part[2]
            }
        }
        FILENAME != "own_times" && $1 == "cpu" {
            for (i = 2; i <= 9; i++)
                all += $i / ticks
            print all, all - ($5 + $6) / ticks, own
        }' own_times /proc/stat >"$1"
}

# others BEFORE AFTER: percent of the processors' time that other programs took between two looks.
others() {
    paste -d ' ' "$1" "$2" | awk '{
        percent = 100 * ($5 - $2 - ($6 - $3)) / ($4 - $1)
        printf "%.1f\n", (percent > 0 ? percent : 0)
    }'
}

# is_more PERCENT: than a result bears?
is_more() {
    awk -v percent="$1" -v most="$most_others" 'BEGIN { exit !(percent > most) }'
}

if [ ! -r /proc/stat ]; then
    echo "host_error.sh: there is no /proc/stat to see what else runs: no result here" >&2
    exit 1
fi
look before
sleep 2
look after
idle=$(others before after)
if is_more "$idle"; then
    echo "host_error.sh: other programs take $idle % of the processors' time, and more than" \
        "$most_others % would be taken for an error of Weir's: end them and begin again" >&2
    [ "${FORCE:-0}" = 1 ] || exit 1
fi

# value KEY of a JSON answer on standard input, one key a line.
value() {
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" | head -n 1
}

if [ -z "$machine" ]; then
    calibrated=$("$weir" calibrate --device host -o host.weir --json --quiet)
    machine=$(pwd)/host.weir
    echo "calibrated: $(printf '%s\n' "$calibrated" | value noisy_figures) figures too noisy to trust"
fi

# ---- graphs ----

processors=$(getconf _NPROCESSORS_ONLN)

# as_host FROM TO: each node has the class of what the host does for it, and uses one processor.
as_host() {
    awk -v n="$processors" '
        /^(kappa|resource) / { next }
        /^graph / { print; print "resource processor capacity=" n "B/s"; next }
        /^node / {
            is_stream = $0 ~ / class=(stream|elementwise|norm)( |$)/
            gsub(/ (class|uses)=[^ ]*/, "")
            if ($3 == "compute")
                $0 = $0 " class=" (is_stream ? "stream" : "sm")
            if ($3 == "prefetch" || $3 == "offload")
                $0 = $0 " class=" ($3 == "prefetch" ? "h2d" : "d2h")
            if ($3 ~ /^(compute|transfer|prefetch|offload)$/)
                $0 = $0 " uses=processor:1B/s"
        }
        { print }' "$1" >"$2"
}

# copy_engines one|two: of the machine's directions, or one that does both in turn, as fast as h2d.
copy_engines() {
    if [ "$1" = two ]; then
        printf 'engine h2d from=host to=hbm\nengine d2h from=hbm to=host\n'
    else
        printf 'engine copies %s\n' "$(sed -n \
            's/^engine h2d .*\(bandwidth=[^ ]*\).*\(latency=[^ ]*\).*/\1 \2/p' "$machine")"
    fi
}

# h2d, d2h one|two: the fields of a node that copies in that direction.
h2d() { if [ "$1" = two ]; then echo engine=h2d; else echo engine=copies from=host to=hbm; fi; }
d2h() { if [ "$1" = two ]; then echo engine=d2h; else echo engine=copies from=hbm to=host; fi; }

# pipeline CHUNKS one|two: chunks come in, are worked on and go out again, with room for three in the device
# memory: what comes in waits for what went out.
pipeline() {
    awk -v n="$1" -v engines="$(copy_engines "$2")" -v h2d="$(h2d "$2")" -v d2h="$(d2h "$2")" 'BEGIN {
        print "weir 1\ngraph pipeline"
        print "domain hbm capacity=7MB\ndomain host capacity=1GB"
        print "engine sm domain=hbm"
        print engines
        for (i = 0; i < n; i++) {
            print "object in" i " size=2MB domain=host initial"
            print "object out" i " size=200KB domain=hbm"
        }
        for (i = 0; i < n; i++) {
            print "node get" i " allocation object=in" i " domain=hbm"
            print "node load" i " prefetch " h2d " object=in" i
            print "node work" i " compute engine=sm duration=" 250 + 40 * (i % 5) "us reads=in" i " writes=out" i
            print "node put" i " reclamation object=in" i " domain=hbm"
            print "node save" i " offload " d2h " object=out" i
        }
    }'
}

# swap LAYERS US KB one|two: a training step whose layers each leave so many KB of activations, which
# go to the host in the forward pass and come back in the backward pass; products of US microseconds,
# and streaming norms of a fifth of that.
swap() {
    awk -v n="$1" -v us="$2" -v kb="$3" -v engines="$(copy_engines "$4")" \
        -v h2d="$(h2d "$4")" -v d2h="$(d2h "$4")" 'BEGIN {
        print "weir 1\ngraph swap"
        print "domain hbm capacity=" 5 * kb "KB\ndomain host capacity=1GB"
        print "engine sm domain=hbm"
        print engines
        for (i = 0; i < n; i++)
            print "object act" i " size=" kb "KB domain=hbm"
        for (i = 0; i < n; i++) {
            before = i == 0 ? "" : " reads=act" i - 1
            print "node norm" i " compute engine=sm duration=" us / 5 "us class=stream" before
            print "node product" i " compute engine=sm duration=" us "us" before " writes=act" i
            print "node away" i " offload " d2h " object=act" i
            if (i > 0)
                print "node free" i - 1 " reclamation object=act" i - 1 " domain=hbm"
        }
        print "node free" n - 1 " reclamation object=act" n - 1 " domain=hbm"
        for (i = n - 1; i >= 0; i--) {
            print "node room" i " allocation object=act" i " domain=hbm"
            print "node back" i " prefetch " h2d " object=act" i
            print "node gradient" i " compute engine=sm duration=" 2 * us "us reads=act" i
            print "node scale" i " compute engine=sm duration=" us / 5 "us class=stream"
            print "node done" i " reclamation object=act" i " domain=hbm"
        }
    }'
}

# transformer NAME OPTIONS...
transformer() {
    name=$1
    shift
    "$weir" generate transformer --dtype fp32 --workspace 256KiB --machine "$machine" "$@" \
        -o raw.weir --quiet
    as_host raw.weir "$name.weir"
}

# random NAME OPTIONS...
random() {
    name=$1
    shift
    "$weir" generate random "$@" -o raw.weir --quiet
    as_host raw.weir "$name.weir"
}

# made NAME COMMAND...
made() {
    name=$1
    shift
    "$@" >raw.weir
    as_host raw.weir "$name.weir"
}

"$weir" generate chain --nodes 3000 --seed 1 -o raw.weir --quiet
as_host raw.weir chain.weir
as_host "$examples/offload.weir" offload.weir
for seed in 1 2 3; do
    random wide-$seed --nodes 600 --seed $seed --engines 1
done
for seed in 4 5 6; do
    random narrow-$seed --nodes 600 --seed $seed --engines 1 --width 2
done
for seed in 7 8 9 10; do
    random two-$seed --nodes 900 --seed $seed --engines 2 --width $((seed - 4))
done
transformer step-32 --layers 12 --hidden 32 --heads 4 --sequence 32 --batch 4 --vocabulary 300
transformer step-48 --layers 6 --hidden 48 --heads 4 --sequence 64 --batch 2 --vocabulary 400
transformer step-64 --layers 4 --hidden 64 --heads 4 --sequence 64 --batch 2 --vocabulary 500
transformer step-96 --layers 3 --hidden 96 --heads 4 --sequence 96 --batch 1 --vocabulary 800 \
    --attention full
transformer step-128 --layers 2 --hidden 128 --heads 4 --sequence 64 --batch 2 --vocabulary 1000
made swap-300KB swap 60 150 300 two
made swap-1MB swap 16 400 1000 two
made swap-2MB swap 24 500 2000 two
made swap-4MB swap 12 1000 4000 two
made turns-300KB swap 60 150 300 one
made turns-1MB swap 16 400 1000 one
made turns-2MB swap 24 500 2000 one
made turns-4MB swap 12 1000 4000 one
made pipeline-50 pipeline 50 two
made pipeline-100 pipeline 100 two
made pipeline-one pipeline 60 one

# ---- measuring ----

# error_line GRAPH CONTENTION LOST OTHERS: one line of the table from the makespans in samples; errors
# gets its figures.
error_line() {
    sort -n samples | awk -v graph="$1" -v contention="$2" -v lost="$3" -v others="$4" \
        -v most="$most_others" \
        -v nodes="$(printf '%s\n' "$simulated" | value nodes)" \
        -v queues="$(printf '%s\n' "$replayed" | value n_queues)" \
        -v busy="$(printf '%s\n' "$replayed" | value busy_queues)" \
        -v shared="$(printf '%s\n' "$replayed" | value is_time_shared)" \
        -v shared_ns="$(printf '%s\n' "$replayed" | value time_shared_ns)" \
        -v induced="$(printf '%s\n' "$replayed" | value induced)" \
        -v bytes="$(printf '%s\n' "$replayed" | value scale_bytes)" \
        -v planned="$(printf '%s\n' "$replayed" | value planned_makespan_ns)" '
        function error(part) { return 100 * (ns[1 + int(part * (NR - 1) + 0.5)] / planned - 1) }
        { ns[NR] = $1 }
        END {
            printf "%-12s %-8s %5d %6d %4d %5.1f%% %5d %5.3g %10.3f ms %10.3f ms %+7.2f%% %+8.2f %+8.2f %+8.2f %+8.2f %5d %5.1f%%%s\n",
                graph, contention, nodes, queues, busy, 100 * shared_ns / planned, induced, bytes,
                planned / 1e6, ns[1 + int((NR - 1) / 2)] / 1e6, error(0.5), error(0), error(0.25),
                error(0.75), error(1), lost, others, (others > most ? " *" : "")
            print contention, shared, (others > most), error(0.5), graph >>"errors"
        }'
}

# measure GRAPH CONTENTION [CAPACITY]: the machine's capacity is that of this machine's memory, so what
# is to be short must be said.
measure() {
    look before
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
        [ "$more" -le "$lost" ] || lost=$more
        n=$((n + 1))
    done
    look after
    error_line "$1" "$2" "$lost" "$(others before after)"
}

printf '%-12s %-8s %5s %6s %4s %6s %5s %5s %13s %13s %8s %8s %8s %8s %8s %5s %6s\n' graph contention \
    nodes queues busy over waits bytes simulated replayed error least 'lower q' 'upper q' greatest \
    lost others
: >errors
for file in *.weir; do
    graph=${file%.weir}
    case $graph in
    raw | host) continue ;;
    esac
    printf '%s\n' "$graph" | grep -Eqx "$(printf '%s\n' "$chosen" | sed 's/\*/.*/g')" || continue
    # Domains as the graph has them.
    capacity=$(sed -n 's/^domain hbm .*capacity=\([^ ]*\).*/hbm=\1/p' "$file")
    measure "$graph" none "$capacity"
    measure "$graph" pairwise "$capacity"
    if [ "$(printf '%s\n' "$replayed" | value is_time_shared)" = true ]; then
        measure "$graph" share "$capacity"
    fi
done

# ---- the distribution ----

# distribution CONTENTION TIME_SHARED WHAT: of |error|, of the lines that nobody disturbed; the pattern
# says of which graphs.
distribution() {
    awk -v contention="$1" -v shared="$2" '
        $1 == contention && $2 ~ shared && $3 == 0 { print ($4 < 0 ? -$4 : $4), $5 }' errors |
        sort -n | awk -v contention="$1" -v what="$3" '
        function quantile(part,    at, below) {
            at = 1 + part * (NR - 1)
            below = int(at)
            return below == NR ? error[NR] : error[below] + (at - below) * (error[below + 1] - error[below])
        }
        { error[NR] = $1; name[NR] = $2 }
        END {
            if (NR > 0)
                printf "%-9s %-40s %6d %7.2f%% %7.2f%% %7.2f%% %7.2f%% %7.2f%% %s\n", contention, what,
                    NR, quantile(0.25), quantile(0.5), quantile(0.75), quantile(0.95), error[NR],
                    name[NR]
        }'
}

n_lines=$(grep -c . errors || true)
n_disturbed=$(awk '$3 == 1' errors | grep -c . || true)
echo
if [ "$n_lines" = 0 ]; then
    echo "host_error.sh: no graph is called $chosen" >&2
    exit 2
fi
printf '%-9s %-40s %6s %8s %8s %8s %8s %8s\n' '|error|' 'of graphs with' graphs 'lower q' median \
    'upper q' 'p95' worst
for contention in none pairwise; do
    distribution $contention . 'any number of busy queues'
    distribution $contention false "no more busy queues than $processors processors"
    distribution $contention true "more busy queues than processors"
done
distribution share true "more busy queues than processors"
if [ "$n_disturbed" -gt 0 ]; then
    echo "$n_disturbed of $n_lines lines are left out (*): other programs took more than" \
        "$most_others % of the processors' time"
fi
if [ $((4 * n_disturbed)) -gt "$n_lines" ]; then
    echo "host_error.sh: that is more than a quarter: this is no result; end the other programs and" \
        "begin again" >&2
    exit 1
fi
