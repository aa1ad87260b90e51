#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes seeds for tests/fuzz/fuzz_nsys.c: exports as rows, a table's number and then its values.
# A value up to 159 is that number, 200 a text and then its number in the list, 255 NULL.
#
# usage: seed_nsys.sh FOLDER
cd "$1" || exit 1

bytes() { # decimal numbers as bytes
    for value in "$@"; do
        # shellcheck disable=SC2059  # the format is the byte
        printf "\\$(printf '%03o' "$value")"
    done
}

strings() {
    bytes 16 1 200 12 # a kernel
    bytes 16 2 200 0  # cudaLaunchKernel
    bytes 16 3 200 1  # cudaMemcpyAsync
    bytes 16 4 200 2  # cudaEventRecord
    bytes 16 5 200 3  # cudaStreamWaitEvent
    bytes 16 6 200 4  # cudaStreamSynchronize
}

# Two launches on one stream.
{
    bytes 1
    strings
    bytes 4 1 3 1 11 2 0
    bytes 0 10 20 0 1 7 11 1 1 1 255
    bytes 4 4 6 1 12 2 0
    bytes 0 22 30 0 1 7 12 1 1 1 255
    bytes 4 7 32 1 13 6 0
    bytes 5 8 32 1 7 13 1 3 0 0 0
} >launches

# A copy on another stream waits for an event that the first recorded.
{
    bytes 1
    strings
    bytes 9 7 1 1 1
    bytes 9 8 1 1 1
    bytes 4 1 3 1 11 2 0
    bytes 0 10 20 0 1 7 11 1 1 1 255
    bytes 4 4 5 1 12 4 0
    bytes 6 1 7 12 1 40 1 0
    bytes 4 6 7 1 13 5 0
    bytes 5 6 7 1 8 13 1 2 40 1 0
    bytes 4 8 9 1 14 3 0
    bytes 1 24 40 0 1 8 14 1 100 2 2 0 0 0 255 255
} >event

# Memory given out, used and given back.
{
    bytes 1
    strings
    bytes 16 7 200 7 16 8 200 8
    bytes 4 1 3 1 10 7 0
    bytes 7 2 1 0 1 64 100 2 0 255 10 255 255
    bytes 4 4 5 1 11 2 0
    bytes 0 10 20 0 1 7 11 1 1 1 255
    bytes 4 25 30 1 12 8 0
    bytes 7 28 1 0 1 64 100 2 1 255 12 255 255
} >memory

# The same of a part: some of it was launched before, some after.
for first in 2 5 7; do
    for seed in launches event memory; do
        {
            bytes $first
            tail -c +2 $seed
        } >"$seed-window-$first"
    done
done
