#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cppcheck finds nothing in the sources. A finding that is wrong is answered in the source, with
# a comment "cppcheck-suppress ID" that says why.
cd "$(dirname "$0")/../.." || exit 1
exec cppcheck --quiet --std=c11 --language=c --platform=unix64 --library=posix --inline-suppr \
    --enable=warning,performance,portability --error-exitcode=1 -j "$(nproc)" -I . \
    -D__GNUC__=12 -D_POSIX_C_SOURCE=200809L --suppress=missingIncludeSystem \
    base graph store traces policies sim kernels replay judge cmd
