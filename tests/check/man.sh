#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The man pages are there and mandoc has nothing to warn of.
cd "$(dirname "$0")/../.." || exit 1
pages=$(find doc/man -name '*.[1-9]' | LC_ALL=C sort)
[ -n "$pages" ] || {
    echo 'doc/man holds no man page'
    exit 1
}
# shellcheck disable=SC2086  # one word a file
exec mandoc -T lint -W warning $pages
