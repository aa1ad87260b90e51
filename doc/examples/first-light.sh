#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The main job from end to end, without a GPU: a profile is imported, checked, simulated, replayed
# for real on this machine's processors and memory, and compared with what was simulated; then the
# same with a training step of a small transformer, as an H100 would run it. Every command is printed
# before it runs.
#
# The profile is made of profile.sql, which lies beside this script; its times are made up. Replays
# are slower than their plans, 4 and 100 times: a node that takes the GPU some microseconds is less
# than a processor can do, or measure.
#
# usage: first-light.sh [FOLDER]     (default: first-light; what it made before is made again)
# environment: WEIR the program (weir), WEIR_DATADIR as for weir
set -eu

weir=${WEIR:-weir}
folder=${1:-first-light}
profile=$(cd "$(dirname "$0")" && pwd)/profile.sql

mkdir -p "$folder"
cd "$folder"
rm -f profile.sqlite profile.weir profile.svg step.weir weir.db weir.db-wal weir.db-shm \
    timeline.svg replay.svg pressure.svg compare.svg both.json.gz

run() {
    printf '\n$ weir %s\n' "$*"
    "$weir" "$@"
}

if command -v sqlite3 >/dev/null 2>&1; then
    printf '\n$ sqlite3 profile.sqlite <%s\n' "$profile"
    sqlite3 profile.sqlite <"$profile"
    run import nsys profile.sqlite -o profile.weir
    run check profile.weir
    run simulate profile.weir
    run compare recorded sim
    run replay sim --device host --scale-time 4
    run compare sim replay
    run plot compare sim replay -o profile.svg
else
    echo 'first-light.sh: the part that imports a profile is left out: it needs sqlite3' >&2
fi

run generate transformer --layers 4 --hidden 1024 --heads 16 --sequence 512 --batch 4 \
    --machine h100-sxm -o step.weir
run check step.weir
run simulate step.weir
run replay sim --device host --scale-time 100
if ! run compare sim replay --tolerance 0.1; then
    echo 'The replay took more than 10 % longer than planned: this machine is busy, or has few processors.'
    echo 'That is no fault of the set-up; repeat `weir replay sim` when it is idle.'
fi
run plot timeline sim -o timeline.svg
run plot timeline replay -o replay.svg
run plot pressure sim -o pressure.svg
run plot compare sim replay -o compare.svg
run export chrome sim replay -o both.json.gz
run runs

here=$(pwd)
cat <<FILES

What to look at:
  $here/compare.svg    the transformer, simulated and replayed against each other
  $here/timeline.svg   what each engine did when, simulated
  $here/replay.svg     the same, measured
  $here/pressure.svg   the bytes that each memory held
  $here/both.json.gz   both timelines, for ui.perfetto.dev
  $here/step.weir      the graph, as text: weir-graph(5)
  $here/weir.db        all runs: sqlite3 weir.db, or weir runs
$([ ! -e profile.svg ] || echo "  $here/profile.svg    the profile, simulated and replayed")
FILES
