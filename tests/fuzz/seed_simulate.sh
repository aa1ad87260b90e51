#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes seeds for tests/fuzz/fuzz_simulate.c: the graphs of the cases, and those of the examples.
#
# usage: seed_simulate.sh FOLDER
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$1" || exit 1
sh "$top/tests/check/case-graphs.sh" . && cp "$top"/doc/examples/*.weir .
