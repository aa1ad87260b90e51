#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every C file is laid out as .clang-format says. To mend: clang-format -i FILE.
cd "$(dirname "$0")/../.." || exit 1
files=$(find base graph store traces policies sim kernels replay judge cmd tests -name '*.[ch]' |
    LC_ALL=C sort)
[ -n "$files" ] || {
    echo 'no C file found'
    exit 1
}
# shellcheck disable=SC2086  # one word a file
exec clang-format --dry-run --Werror $files
