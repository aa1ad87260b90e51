#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What came of each test of a finished `make check`, from the .trs and .log files that automake left:
# one line "pass NAME", "fail NAME" or "skip NAME" a test, NAME beginning with SUITE. A program that
# printed no failure of its own and yet broke (a crash, a leak, a wrong plan) is one failure more.
# Exits 1 when there was no test at all.
#
# usage: results.sh SUITE BUILD-FOLDER
suite=$1
cd "$2" || exit 1

find . -name '*.trs' | LC_ALL=C sort | while read -r trs; do
    test=${trs#./}
    awk -v name="$suite/${test%.trs}" '
        $1 == ":test-result:" {
            if ($2 == "PASS" || $2 == "XFAIL") print "pass " name
            else if ($2 == "SKIP") print "skip " name
            else if ($2 == "ERROR") n_errors++
            else { print "fail " name; n_failed++ }
        }
        END { if (n_errors && !n_failed) print "fail " name }' "$trs"
done | awk '{ print } END { exit NR == 0 }'
