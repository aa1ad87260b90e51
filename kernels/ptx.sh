#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes PTX of kernels/cuda.cu that every driver since CUDA 11 takes for every GPU since Volta: a
# newer compiler writes its own version and the least GPU that it knows at the top, though the code
# needs neither.
#
# usage: ptx.sh NVCC SOURCE OUT
set -eu

nvcc=$1 source=$2 out=$3
made=$out.made
trap 'rm -f "$made"' EXIT
"$nvcc" -O3 -ptx -o "$made" "$source"
{
    echo '// SPDX-License-Identifier: GPL-3.0-or-later'
    echo '// Made from cuda.cu: change that one, then make update-ptx.'
    echo "// nvcc $("$nvcc" --version | sed -n 's/.*release .*, V//p')"
    sed -e '/^\/\//d' -e '1,/^\.version/{/^$/d;}' \
        -e 's/^\.version .*/.version 7.0/' -e 's/^\.target .*/.target sm_70/' "$made"
} >"$out"
