#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# An installed weir runs, finds what it was installed with, and takes a policy that was built against
# the installed headers alone. Called by `make installcheck`.
#
# usage: installed.sh CC BINDIR INCLUDEDIR EXAMPLES
set -eu
cc=$1 weir=$2/weir includes=$3/weir examples=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$weir" --version

# shellcheck disable=SC2086  # a compiler may come with flags
$cc -std=c17 -Wall -Wextra -Wpedantic -Werror -shared -fPIC -I "$includes" \
    "$examples/backwards.c" -o "$work/backwards.so"
cd "$work"
cat >graph.weir <<'GRAPH'
weir 1
# In program order: a 0-1, b 1-6, c 6-11 us. Backwards b goes first: b 0-5, a 5-6, c 5-10.
graph order
domain hbm capacity=1KB
engine sm
engine copy
node a compute engine=sm duration=1us
node b compute engine=sm duration=5us
node c compute engine=copy duration=5us
edge b c ordering
GRAPH

expect() { # expect MAKESPAN-NS POLICY
    "$weir" simulate graph.weir --policy "$2" --json --quiet >answer
    grep -q "\"makespan_ns\": *$1[,}]*\$" answer || {
        echo "installed.sh: with $2 the makespan must be $1 ns; weir answered:" >&2
        cat answer >&2
        exit 1
    }
}
expect 11000 retain
expect 10000 ./backwards.so
