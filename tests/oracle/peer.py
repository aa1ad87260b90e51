#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates graphs of the peers' generator and compares every finish with that of the floor program, in
its modes static, fifo and cap, where the peers lie beside the checkout. Durations are whole ticks, a
nanosecond each, so both are exact and equal to the last digit; runs in which two ends fall together
are told and left out, since the order of simultaneous ends is each program's own (not in static,
where all of the order is fixed). Prints TAP, a point for each run.

usage: peer.py [WEIR]
environment: WEIR the program, WEIR_SHARED where peers/floor.c is, CC a compiler
"""

import os
import pathlib
import shlex
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("WEIR_SHARED", HERE.parents[2] / "shared")).resolve()
WEIR = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WEIR", "weir")

# nodes, width of a layer, layers that edges span, tasks at a time in cap, parts of a tick, seeds
SETS = (
    (1000, 32, 1, 64, 1, range(1, 11)),
    (1000, 32, 1, 3, 4096, range(1, 11)),
    (1000, 1, 1, 2, 1, range(1, 3)),
    (2000, 200, 5, 16, 4096, range(1, 6)),
    (10000, 32, 1, 64, 4096, range(1, 4)),
    (10000, 1024, 30, 64, 4096, range(1, 3)),
    (100000, 32, 1, 64, 4096, range(1, 3)),
    (100000, 1024, 9, 8, 4096, range(1, 2)),
)
MODES = ("static", "fifo", "cap")
if os.environ.get("WEIR_BRIEF"):  # enough to see that all is there
    SETS = tuple((*numbers, seeds[:1]) for *numbers, seeds in SETS if numbers[0] <= 2000)


def build(folder):
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-I", str(SHARED / "peers"), "-o",
               "peer_floor", str(HERE / "peer_floor.c"), "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)


def floor_finishes(folder, nodes, width, span, cap, fine, seed, mode):
    """Finishes by node, and how many fall together; leaves the graph in g.weir."""
    words = [str(word) for word in (nodes, width, span, seed, cap, fine, mode, "g.weir", "floor.txt")]
    done = subprocess.run(["./peer_floor", *words], cwd=folder, check=True, capture_output=True,
                          text=True, timeout=120)
    lines = (folder / "floor.txt").read_text().split()
    return [int(line) for line in lines], int(done.stdout)


def weir_finishes(folder):
    (folder / "weir.db").unlink(missing_ok=True)
    subprocess.run([WEIR, "simulate", "g.weir", "--quiet"], cwd=folder, check=True,
                   capture_output=True, text=True, timeout=120)
    base = sqlite3.connect(folder / "weir.db")
    finishes = [row[0] for row in base.execute("SELECT finish_ns FROM span ORDER BY node_id")]
    base.close()
    return finishes


def difference(theirs, ours):
    """What differs first, as a text; empty when nothing does."""
    if len(theirs) != len(ours):
        return f"{len(ours)} nodes ran, not {len(theirs)}"
    if max(theirs) != max(ours):
        return f"the makespan is {max(ours)}, not {max(theirs)}"
    for node, (their, our) in enumerate(zip(theirs, ours)):
        if their != our:
            return f"n{node} ends at {our}, not at {their}"
    return ""


def compare(folder, point, mode, seed, *numbers):
    name = f"{mode}, {numbers[0]} nodes, seed {seed}"
    theirs, n_together = floor_finishes(folder, *numbers, seed, mode)
    if n_together > 0 and mode != "static":
        print(f"ok {point} - {name} # SKIP {n_together} ends fall together with others")
        return 0
    found = difference(theirs, weir_finishes(folder))
    print(f"{'not ok' if found else 'ok'} {point} - {name}: makespan {max(theirs)} ticks")
    if found:
        print(f"# {found}")
    return -1 if found else 1


def main():
    if not (SHARED / "peers/floor.c").exists():
        print("1..0 # SKIP no peers beside the checkout (WEIR_SHARED/peers/floor.c)")
        return 0
    runs = [(mode, seed, *numbers) for *numbers, seeds in SETS for seed in seeds for mode in MODES]
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder)
        print(f"1..{len(runs) + 1}")
        for point, run in enumerate(runs, 1):
            results.append(compare(folder, point, *run))
            sys.stdout.flush()
    n_compared = sum(result != 0 for result in results)
    is_enough = n_compared > 0.8 * len(runs)
    print(f"{'ok' if is_enough else 'not ok'} {len(runs) + 1} - {n_compared} of {len(runs)} compared")
    return 0 if is_enough and -1 not in results else 1


if __name__ == "__main__":
    sys.exit(main())
