#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes a C source that holds files as arrays of bytes, with a 0 after each.
#
# usage: embed.sh HEADER NAME=FILE... >OUT      a NAME without a FILE is an empty array
set -eu

echo '/* Made by embed.sh. */'
echo "#include \"$1\""
shift
for item in "$@"; do
    name=${item%%=*} file=${item#*=}
    echo
    echo "const _Alignas(64) unsigned char $name[] = {"
    if [ -n "$file" ]; then
        od -An -v -tu1 "$file" | sed 's/  */ /g; s/^ //; s/ /, /g; s/$/,/'
        bytes=$(($(wc -c <"$file")))
    else
        bytes=0
    fi
    echo '0};'
    echo "const size_t ${name}_bytes = $bytes;"
done
