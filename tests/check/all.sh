#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The whole check, called by `./quickstart check`: builds with both compilers, runs every test plain
# and under the sanitizers, and every check of the sources. Prints one TAP line a step.
#
# build/check/results gets a line "pass NAME", "fail NAME" or "skip NAME" for each step and each test
# of a suite; build/check/STEP.log what the step printed. Exits 1 when anything failed.
#
# Where a step does less than it could, since all of it together would take too long:
#   clang-sanitizers         what tries very many inputs tries fewer (WEIR_BRIEF): dist tries them all,
#                            and fuzz tries more of what is read under the sanitizers
#   gcc-threads              builds weir and the tests with threads, and no other test
#   identity                 takes the program of gcc, and the libraries that no timeline comes from
#   gcc                      is in no list: it runs the tests of dist in a build that stays, to work on
#   tidy                     stops to follow the paths of a function earlier (see tidy.sh)
#   fuzz                     takes the libraries of clang-sanitizers; two targets run at once on two
#                            processors, each as long as it would alone
#
# usage: all.sh [STEP]...      (default: every step, in the order of the list at the end)
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
out=$top/build/check
jobs=$(nproc)
mkdir -p "$out"
: >"$out/results"
cd "$top" || exit 1

n_steps=0
any_failed=0

# complaints LOG: its lines that tell what is wrong, with what failed tests said of it; its end when
# none is known by sight.
complaints() {
    LC_ALL=C awk '
        /^#/ && of_failed && n_said++ < 10 { print; next }
        { of_failed = /^not ok /; if (of_failed) n_said = 0 }
        /^PASS/ { next }
        /^(FAIL|ERROR): |^not ok |(error|warning): |SUMMARY: |\*\*\* / { print }' "$1" | head -n 60 |
        grep -a . || tail -n 40 "$1"
}

# verdict RESULT STEP SECONDS: prints the step's line and keeps it.
verdict() {
    n_steps=$((n_steps + 1))
    echo "$1 $2" >>"$out/results"
    case $1 in
    pass) echo "ok $n_steps - $2 ($3 s)" ;;
    skip) echo "ok $n_steps - $2 # SKIP $(tail -n 1 "$out/$2.log")" ;;
    fail)
        any_failed=1
        echo "not ok $n_steps - $2 ($3 s)"
        complaints "$out/$2.log" | sed 's/^/# /'
        echo "# all of it: build/check/$2.log"
        ;;
    esac
}

# step NAME COMMAND...: a command that exits with 0 passes, with 77 is skipped.
step() {
    name=$1
    shift
    begin=$(date +%s)
    "$@" >"$out/$name.log" 2>&1
    case $? in
    0) result=pass ;;
    77) result=skip ;;
    *) result=fail ;;
    esac
    verdict $result "$name" $(($(date +%s) - begin))
}

unwatched=-fno-sanitize-coverage=trace-cmp

# configured BUILD: one of the builds that steps share, in a folder under build/check; configured once,
# and from nothing when its options have changed.
configured() {
    build=$out/$1
    case $1 in
    gcc) set -- CC=gcc ;;
    # Its libraries are built to be fuzzed as well, so that the step fuzz does not build all of it again.
    # What is compared they do not watch: that would take tests that only compute four times as long.
    clang-sanitizers) set -- CC=clang --enable-sanitizers=address,undefined --enable-fuzzing \
        "CFLAGS=-gline-tables-only -O1 $unwatched" ;;
    gcc-threads) set -- CC=gcc --enable-sanitizers=thread 'CFLAGS=-g1 -O1' ;;
    esac
    [ "$(cat "$build/options" 2>/dev/null)" = "$*" ] || rm -rf "$build"
    mkdir -p "$build" && cd "$build" || return 1
    [ -e options ] || { "$top/configure" --enable-werror "$@" && echo "$*" >options; }
}

# One test more at once than there are processors, since some wait for a time to pass.
many=$((jobs + 1))

# suite BUILD TARGET [VARIABLE=VALUE]...: builds with warnings as errors, runs the tests of the make
# target; the variables hold for what the target builds beyond `make all`.
suite() (
    build_name=$1
    target=$2
    shift 2
    configured "$build_name" || exit 1
    find . -name '*.trs' -exec rm -f {} +
    make -k -j "$jobs" all
    at_once=$many
    [ "$target" != check-threads ] || at_once=$jobs # of those with threads some measure
    make -k -j "$at_once" "$target" AM_COLOR_TESTS=no VERBOSE=yes "$@"
    status=$?
    sh "$top/tests/check/results.sh" "$build_name" . >>"$out/results" || exit 1
    exit $status
)

configure_made() {
    [ -e configure ] && [ configure -nt configure.ac ] && [ -e Makefile.in ] || autoreconf -fi
}

# Of the build of the step gcc: compiled by gcc with -O2, it is one of those that are compared.
identity() (
    configured gcc && make -j "$jobs" weir &&
        exec sh "$top/tests/check/identity.sh" "$out" "$out/gcc"
)

tidy() (
    configured gcc && exec sh "$top/tests/check/tidy.sh" "$out/gcc"
)

fuzz() (
    configured clang-sanitizers && make -j "$jobs" fuzz &&
        exec sh "$top/tests/check/fuzz.sh" "$out/clang-sanitizers" "$out/fuzz"
)

# Every test, in a build of what is packed: its sources are read-only, and it is installed and
# uninstalled. It goes when all is well; what came of its tests it leaves before.
dist() (
    configured gcc || exit 1
    export VERBOSE=yes WEIR_RESULTS="$out/dist.results" WEIR_SHARED="${WEIR_SHARED:-$top/../shared}"
    rm -f "$WEIR_RESULTS"
    make -j "$many" distcheck AM_COLOR_TESTS=no DISTCHECK_CONFIGURE_FLAGS='CC=gcc --enable-werror'
    status=$?
    [ -e "$WEIR_RESULTS" ] || sh "$top/tests/check/results.sh" dist weir-*/_build/sub >"$WEIR_RESULTS"
    cat "$WEIR_RESULTS" >>"$out/results"
    exit $status
)

run() {
    case $1 in
    configure) step configure configure_made ;;
    format) step format sh tests/check/format.sh ;;
    dist) step dist dist ;;
    gcc) step gcc suite gcc check ;;
    # Under the sanitizers everything runs, but what tries very many inputs fewer of them. The tests'
    # own code is not optimized: it compiles in half the time, and what is tested is optimized.
    clang-sanitizers)
        export WEIR_BRIEF=yes WEIR_FAULTS_SECONDS=2
        step clang-sanitizers suite clang-sanitizers check \
            "CFLAGS=-gline-tables-only -O0 $unwatched"
        unset WEIR_BRIEF WEIR_FAULTS_SECONDS
        ;;
    # Of what has no threads of its own few inputs do.
    gcc-threads)
        export WEIR_BRIEF=threads
        step gcc-threads suite gcc-threads check-threads
        unset WEIR_BRIEF
        ;;
    identity) step identity identity ;;
    tidy) step tidy tidy ;;
    cppcheck) step cppcheck sh tests/check/cppcheck.sh ;;
    man) step man sh tests/check/man.sh ;;
    fuzz) step fuzz fuzz ;;
    *)
        echo "all.sh: '$1' is not a step" >&2
        exit 2
        ;;
    esac
}

[ $# != 0 ] || set -- format configure dist clang-sanitizers gcc-threads identity tidy cppcheck man fuzz
echo "1..$#"
for one in "$@"; do
    run "$one"
done
exit $any_failed
