#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the graphs of the cases, which stand below "--- file SOMETHING.weir", as files.
#
# usage: case-graphs.sh FOLDER
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:?usage: case-graphs.sh FOLDER}

for case in "$top"/tests/cases/*.case; do
    awk -v stem="$folder/case-$(basename "$case" .case)-" '
        /^--- / { file = $2 == "file" && $3 ~ /\.weir$/ ? stem $3 : ""; next }
        file != "" { print >file }' "$case" || exit 1
done
