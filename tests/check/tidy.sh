#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy finds nothing of what .clang-tidy lists, read with the flags of a configured build.
#
# usage: tidy.sh BUILD-FOLDER
# environment: TIDY_NODES how many states the analyzer looks at in a function
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$1" || exit 1
make -s Makefile || exit 1
flags=$(make -s print-flags) || exit 1
cd "$top" || exit 1
# The analyzer follows the paths of a function until it has seen so many states, by itself 225000, most
# of them the same places by other paths. With a ninth it takes a seventh of the time, and of 170
# functions whose blocks its checker debug.Stats counted it missed three blocks of one.
budget="-Xclang -analyzer-config -Xclang max-nodes=${TIDY_NODES:-25000}"
# One file a process: with several, the analyzer of some releases mistakes their va_lists.
find base graph store traces policies sim kernels replay judge cmd -name '*.c' | LC_ALL=C sort |
    FLAGS="$flags $budget" xargs -P "$(nproc)" -n 1 sh -c \
        'eval "clang-tidy --quiet \"\$1\" -- $FLAGS -include tests/check/analyzer.h"' tidy
