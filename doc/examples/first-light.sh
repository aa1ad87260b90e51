#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The main job from end to end, without a GPU: a training step of a small transformer, as an H100
# would run it, is checked, simulated, replayed for real on this machine's processors and memory,
# and compared with what was simulated. Every command is printed before it runs.
#
# The replay is 100 times slower than the plan: a node that takes the GPU some microseconds is less
# than a processor can do, or measure.
#
# usage: first-light.sh [FOLDER]     (default: first-light; what it made before is made again)
# environment: WEIR the program (weir), WEIR_DATADIR as for weir
set -eu

weir=${WEIR:-weir}
folder=${1:-first-light}

mkdir -p "$folder"
cd "$folder"
rm -f step.weir weir.db weir.db-wal weir.db-shm timeline.svg replay.svg pressure.svg compare.svg

run() {
    printf '\n$ weir %s\n' "$*"
    "$weir" "$@"
}

run generate transformer --layers 4 --hidden 1024 --heads 16 --sequence 512 --batch 4 \
    --machine h100-sxm -o step.weir
run check step.weir
run simulate step.weir
run replay sim --device host --scale-time 100
# Exit status 1 says that the two are further apart than the tolerance: on a busy machine they are.
run compare sim replay --tolerance 0.1 || [ $? = 1 ]
run plot timeline sim -o timeline.svg
run plot timeline replay -o replay.svg
run plot pressure sim -o pressure.svg
run plot compare sim replay -o compare.svg
run runs

here=$(pwd)
cat <<FILES

What to look at:
  $here/compare.svg    simulated and replayed against each other
  $here/timeline.svg   what each engine did when, simulated
  $here/replay.svg     the same, measured
  $here/pressure.svg   the bytes that each memory held
  $here/step.weir      the graph, as text: weir-graph(5)
  $here/weir.db        both runs: sqlite3 weir.db, or weir runs
FILES
