#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans every list of buffers that lies in WEIR_SHARED/data, by every method, and checks each plan
here again, from the file that was written. Prints TAP, with each peak beside what is known: the most
alive at once, and the capacity that stands in the name of the file.

environment: WEIR the program; WEIR_SHARED where data/minimalloc and data/idealloc are
"""

import bisect
import csv
import io
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

WEIR = str(pathlib.Path(os.environ.get("WEIR", "weir")).resolve())
SHARED = pathlib.Path(os.environ.get("WEIR_SHARED", "nowhere"))
METHODS = ("best-fit", "greedy")


def lists():
    """(name, text) of each list there is."""
    for folder in ("minimalloc", "idealloc"):
        for path in sorted((SHARED / "data" / folder).glob("*.csv*")):
            raw = path.read_bytes()
            yield path.name, lzma.decompress(raw) if path.suffix == ".xz" else raw


def most_alive(rows):
    """The most bytes in one step."""
    changes = sorted([(int(r["upper"]), -int(r["size"])) for r in rows] +
                     [(int(r["lower"]), int(r["size"])) for r in rows])
    now = most = 0
    for _, size in changes:
        now += size
        most = max(most, now)
    return most


def overlaps(rows):
    """Two buffers that share a byte while both live, or None. Live ones stand by their offset; what
    begins need only be held against its neighbours."""
    events = sorted([(int(r["lower"]), 1, i) for i, r in enumerate(rows)] +
                    [(int(r["upper"]), 0, i) for i, r in enumerate(rows)])
    live = []
    for _, begins, i in events:
        row = rows[i]
        if int(row["size"]) == 0:
            continue
        here = (int(row["offset"]), int(row["offset"]) + int(row["size"]), row["id"])
        at = bisect.bisect_left(live, here)
        if not begins:
            del live[at]
            continue
        if at > 0 and live[at - 1][1] > here[0]:
            return live[at - 1][2], here[2]
        if at < len(live) and live[at][0] < here[1]:
            return here[2], live[at][2]
        live.insert(at, here)
    return None


def plan(text, method, folder):
    """(answer, rows of the plan)."""
    path = pathlib.Path(folder) / "list.csv"
    path.write_bytes(text)
    out = pathlib.Path(folder) / "plan.csv"
    done = subprocess.run([WEIR, "arena", str(path), "--method", method, "--json", "-o", str(out)],
                          capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), list(csv.DictReader(io.StringIO(out.read_text())))


def check(name, text, method, folder):
    """One plan; the line that tells of it."""
    given = list(csv.DictReader(io.StringIO(text.decode())))
    answer, rows = plan(text, method, folder)
    bound = most_alive(given)
    same = [{k: r[k] for k in ("id", "lower", "upper", "size")} for r in rows]
    assert same == given, "the plan is of other buffers"
    assert overlaps(rows) is None, f"{overlaps(rows)} share bytes"
    peak = max(int(r["offset"]) + int(r["size"]) for r in rows)
    assert answer["peak_bytes"] == peak, f"peak_bytes {answer['peak_bytes']}, found {peak}"
    assert answer["lower_bound_bytes"] == bound, f"the bound is {bound}"
    assert answer["proved"] == (peak == bound)
    assert answer["executed"] != "no"
    parts = name.split(".")
    known = f", capacity {parts[1]}" if parts[1].isdigit() else ""
    return f"{peak} bytes, {peak / bound:.4f} of the {bound} alive at once{known}"


def main():
    found = list(lists())
    if not found:
        print("1..0 # SKIP no data/minimalloc and no data/idealloc in WEIR_SHARED")
        return 0
    print(f"1..{len(found) * len(METHODS)}", flush=True)
    n = n_bad = 0
    with tempfile.TemporaryDirectory(prefix="weir-arena-") as folder:
        for name, text in found:
            for method in METHODS:
                n += 1
                try:
                    print(f"ok {n} - {name}, {method}: {check(name, text, method, folder)}")
                except (AssertionError, ValueError, KeyError) as problem:
                    n_bad += 1
                    print(f"not ok {n} - {name}, {method}")
                    print("# " + str(problem).replace("\n", "\n# "))
                sys.stdout.flush()
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
