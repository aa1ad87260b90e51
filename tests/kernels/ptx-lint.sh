#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Kernels that are measured must do their work: counts what of it a compiler left in the PTX that
# ships with Weir. Where the nvcc that made it is, it is made again and must come out the same.
set -eu

top=${WEIR_SOURCE:?}
ptx=$top/kernels/cuda.ptx
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

tap() { # tap YES-OR-NO WHAT
    n=$((n + 1))
    if [ "$1" = yes ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        failed=1
    fi
}

body() { # body ENTRY: the text of one kernel
    awk -v entry="$1" '$0 ~ "\\.entry " entry "\\(" { inside = 1 }
        inside { print }
        inside && /^}/ { exit }' "$2"
}

count() { # count ENTRY INSTRUCTION LEAST
    found=$(body "$1" "$ptx" | grep -c "$2" || true)
    if [ "$found" -ge "$3" ]; then
        tap yes "$1 has $found of $2"
    else
        tap no "$1 has $found of $2, not $3"
    fi
}

echo 1..14
count weir_fma 'fma\.rn\.f32' 64
count weir_read 'ld\.global\.cs\.v4' 4
count weir_read_l2 'ld\.global\.cg\.v4' 4
count weir_mix 'ld\.global\.cs\.v4' 4
count weir_mix 'st\.global\.cs\.v4' 4
count weir_mix 'fma\.rn\.f32' 16
count weir_gate 'ld\.volatile\.global' 1
for entry in weir_gate weir_time weir_until weir_clock; do
    count "$entry" globaltimer 1
done
count weir_tags 'atom\..*cas\.b64' 1
if grep -q '^\.version 7\.0$' "$ptx" && grep -q '^\.target sm_70$' "$ptx"; then
    tap yes "any driver since CUDA 11 takes it"
else
    tap no "any driver since CUDA 11 takes it"
fi

nvcc=${NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ]; then
    echo "ok 14 - comes out of kernels/cuda.cu # SKIP no nvcc here"
elif sh "$top/kernels/ptx.sh" "$nvcc" "$top/kernels/cuda.cu" "$work/cuda.ptx" &&
    [ "$(sed -n 3p "$work/cuda.ptx")" != "$(sed -n 3p "$ptx")" ]; then
    echo "ok 14 - comes out of kernels/cuda.cu # SKIP another nvcc made it"
elif cmp -s "$work/cuda.ptx" "$ptx"; then
    tap yes "comes out of kernels/cuda.cu"
else
    tap no "comes out of kernels/cuda.cu: make update-ptx"
fi
exit "$failed"
