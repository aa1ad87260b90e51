#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A short fuzz of each parser, tests/fuzz/fuzz_*.c, from the seeds in tests/fuzz/corpus/NAME, or those
# that tests/fuzz/seed_NAME.sh writes; one target a processor at a time.
# FUZZ_SECONDS sets how long each runs; an input that breaks one is left in OUT.
#
# usage: fuzz.sh BUILD OUT      (BUILD: where `make fuzz` has been)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: fuzz.sh BUILD OUT}" && pwd) || exit 1
mkdir -p "${2:?usage: fuzz.sh BUILD OUT}" && cd "$2" || exit 1
export top build

# One target: its name is the argument, what it prints is left in NAME.log.
# shellcheck disable=SC2016  # for the shells that xargs starts
one='
    name=$1
    seeds=$top/tests/fuzz/corpus/${name#fuzz_}
    made=$top/tests/fuzz/seed_${name#fuzz_}.sh
    mkdir -p "corpus-$name" || exit 1
    [ -d "$seeds" ] || seeds=
    {
        { [ ! -e "$made" ] || sh "$made" "corpus-$name"; } &&
            "$build/tests/fuzz/$name" -max_total_time="${FUZZ_SECONDS:-8}" -timeout=10 \
                -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
                -artifact_prefix="broke-$name-" "corpus-$name" $seeds
    } >"$name.log" 2>&1 || { echo "$name failed" >>"$name.log"; exit 1; }'

names=$(for source in "$top"/tests/fuzz/fuzz_*.c; do basename "$source" .c; done)
[ -e "$top/tests/fuzz/${names%%
*}.c" ] || {
    echo 'tests/fuzz holds no fuzz_*.c'
    exit 1
}
echo "$names" | xargs -P "$(nproc)" -n 1 sh -c "$one" fuzz
status=$?
for name in $names; do
    echo "--- $name"
    cat "$name.log"
done
exit $status
