#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy finds nothing of what .clang-tidy lists, read with the flags of a configured build.
#
# usage: tidy.sh BUILD-FOLDER
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$1" || exit 1
make -s Makefile || exit 1
flags=$(make -s print-flags) || exit 1
cd "$top" || exit 1
# The analyzer follows the paths of a function until it has seen so many states, by itself 225000, most
# of them the same places by other paths. A third takes a third of the time; in the files of which its
# checker debug.Stats was asked it reached every block that it reaches with all.
budget='-Xclang -analyzer-config -Xclang max-nodes=75000'
# One file a process: with several, the analyzer of some releases mistakes their va_lists.
find base graph store traces policies sim kernels replay judge cmd -name '*.c' | LC_ALL=C sort |
    FLAGS="$flags $budget" xargs -P "$(nproc)" -n 1 sh -c \
        'eval "clang-tidy --quiet \"\$1\" -- $FLAGS -include tests/check/analyzer.h"' tidy
