#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A short fuzz of each parser, tests/fuzz/fuzz_*.c, from the seeds in tests/fuzz/corpus/NAME, or those
# that tests/fuzz/seed_NAME.sh writes.
# FUZZ_SECONDS sets how long each runs; an input that breaks one is left in OUT/fuzz.
#
# usage: fuzz.sh OUT      (builds in OUT/fuzz)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${FUZZ_SECONDS:-8}
mkdir -p "${1:?usage: fuzz.sh OUT}/fuzz" && cd "$1/fuzz" || exit 1
[ -e Makefile ] ||
    "$top/configure" --enable-fuzzing --enable-werror CC=clang 'CFLAGS=-g -O1' || exit 1
make -j "$(nproc)" fuzz || exit 1

n=0
status=0
for source in "$top"/tests/fuzz/fuzz_*.c; do
    [ -e "$source" ] || break
    name=$(basename "$source" .c)
    n=$((n + 1))
    mkdir -p "corpus-$name"
    seeds=$top/tests/fuzz/corpus/${name#fuzz_}
    [ -d "$seeds" ] || seeds=
    [ ! -e "$top/tests/fuzz/seed_${name#fuzz_}.sh" ] ||
        sh "$top/tests/fuzz/seed_${name#fuzz_}.sh" "corpus-$name" || exit 1
    echo "--- $name"
    # shellcheck disable=SC2086  # none, or one folder
    "tests/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="broke-$name-" "corpus-$name" $seeds || status=1
done
[ $n != 0 ] || {
    echo 'tests/fuzz holds no fuzz_*.c'
    exit 1
}
exit $status
