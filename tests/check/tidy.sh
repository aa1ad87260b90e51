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
find base graph store traces policies sim kernels replay judge cmd -name '*.c' | LC_ALL=C sort |
    FLAGS="$flags" xargs -P "$(nproc)" -n 4 sh -c 'eval "clang-tidy --quiet \"\$@\" -- $FLAGS"' tidy
