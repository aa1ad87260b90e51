#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports timelines for Perfetto and checks what its importer relies on: valid JSON, times with
three decimals, no two slices of one thread at once, both ends of each arrow inside a slice and the
first not after the second, and every node, pressure and duration as the store has it. Prints TAP.

environment: WEIR the program
"""

import collections
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

WEIR = os.environ.get("WEIR", "weir")

# Names that a careless writer would trip over.
NAMES = """weir 1
graph "g \\"quoted\\" </script>"
domain "gpu \\\\ 0" capacity=1000
engine "e,\\"1\\"" slots=2
object "o \\x0a" size=10 retained
object p size=10
node "n\\"0\\"" compute engine="e,\\"1\\"" duration=10 writes="o \\x0a"
node "back\\\\slash" compute engine="e,\\"1\\"" duration=7 reads="o \\x0a" writes=p
node "\u00fc\u20ac\U0001f600" compute duration=3 reads=p
node alone barrier
node wait compute engine="e,\\"1\\"" duration=4 release=30
edge "n\\"0\\"" wait ordering from=start lag=2
"""


def weir(folder, *words):
    done = subprocess.run([WEIR, *words], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 4):
        raise AssertionError(f"weir {' '.join(words)}: {done.returncode}: {done.stderr}")
    return done.stdout


def load(path):
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    bad = re.search(r'"(ts|dur)":(?!\d+\.\d{3}[,}])[^,}]*', text)
    assert not bad, f"a time without three decimals: {bad.group()}"
    return json.loads(text)["traceEvents"]


def ns(event, key):
    """Exact: what stands there has three decimals."""
    return round(event[key] * 1000)


def check_slices(events):
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert ns(event, "dur") >= 1, f"not to be seen: {event}"
            threads[event["pid"], event["tid"]].append(event)
    for thread, slices in threads.items():
        slices.sort(key=lambda e: ns(e, "ts"))
        for a, b in zip(slices, slices[1:]):
            assert ns(a, "ts") + ns(a, "dur") <= ns(b, "ts"), f"overlap on {thread}: {a} {b}"
    return threads


def inside(threads, event):
    return any(ns(s, "ts") <= ns(event, "ts") < ns(s, "ts") + ns(s, "dur")
               for s in threads[event["pid"], event["tid"]])


def check_arrows(events, threads):
    ends = collections.defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            key = event["cat"], event["name"], event["id"]
            assert event["ph"] not in ends[key], f"an arrow with two such ends: {event}"
            assert event["ph"] == "s" or event["bp"] == "e", f"bound to the next slice: {event}"
            assert inside(threads, event), f"no slice holds it: {event}"
            ends[key][event["ph"]] = event
    ids = [key[2] for key in ends]
    assert len(set(ids)) == len(ids), "two arrows with one id"
    for pair in ends.values():
        assert set(pair) == {"s", "f"}, f"half an arrow: {pair}"
        assert ns(pair["s"], "ts") <= ns(pair["f"], "ts"), f"backwards: {pair}"
        assert pair["s"]["pid"] == pair["f"]["pid"], f"from one run to another: {pair}"
    return len(ends)


def check_names(events):
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    for event in events:
        assert isinstance(event["tid"], int) and isinstance(event["pid"], int)
        if event["ph"] == "X":
            assert (event["pid"], event["tid"]) in named, f"a thread without a name: {event}"
            assert event["pid"] in processes, f"a process without a name: {event}"


def check_against_store(events, db, runs):
    """Every span is there once, on its engine, with its times; pressure changes are all there."""
    base = sqlite3.connect(db)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    for pid, run in enumerate(runs, start=1):
        seen = {}
        for event in events:
            if event["ph"] == "X" and event["pid"] == pid:
                args = event["args"]
                track = re.sub(r"( \(instants\))?( \(\d+\))?$", "", names[pid, event["tid"]])
                seen[args["node"]] = (event["name"], None if track == "no engine" else track,
                                      args["start_ns"], args.get("finish_ns"))
                if args["finish_ns"] > args["start_ns"]:
                    assert ns(event, "ts") == args["start_ns"], f"moved: {event}"
                    assert ns(event, "dur") == args["finish_ns"] - args["start_ns"], f"{event}"
                else:
                    assert 0 <= ns(event, "ts") - args["start_ns"] <= 1000, f"moved: {event}"
        spans = base.execute("""SELECT node_id, name, engine, start_ns, finish_ns FROM span
            JOIN node ON node.run_id = span.run_id AND node.id = span.node_id
            WHERE span.run_id = ?""", (run,)).fetchall()
        assert seen == {row[0]: row[1:] for row in spans}, "the slices are not the spans"
        curve = {(e["name"], ns(e, "ts"), e["args"]["bytes"])
                 for e in events if e["ph"] == "C" and e["pid"] == pid}
        for domain, t_ns, n_bytes in base.execute(
                "SELECT domain, t_ns, bytes FROM pressure WHERE run_id = ?", (run,)):
            assert (f"bytes in {domain}", t_ns, n_bytes) in curve, f"no point at {t_ns}"
    base.close()


def check(folder, output, runs):
    events = load(folder / output)
    threads = check_slices(events)
    check_names(events)
    n_arrows = check_arrows(events, threads)
    check_against_store(events, folder / "weir.db", runs)
    return len(events), n_arrows


def simulated(folder, graph):
    return json.loads(weir(folder, "simulate", graph, "--json"))["run"]


def test_random_graphs(folder):
    for seed in range(1, 6):
        weir(folder, "generate", "random", "--nodes", "400", "--seed", str(seed), "-o", "r.weir",
             "--quiet")
        run = simulated(folder, "r.weir")
        told = json.loads(weir(folder, "export", "chrome", str(run), "-o", "r.json", "--json"))
        n_events, n_arrows = check(folder, "r.json", [run])
        assert told["events"] == n_events and told["arrows"] == n_arrows
        assert n_arrows > 0 and told["arrows_left_out"] == 0


def test_training_step(folder):
    weir(folder, "generate", "transformer", "-o", "t.weir", "--quiet")
    run = simulated(folder, "t.weir")
    weir(folder, "export", "chrome", str(run), "-o", "t.json.gz")
    check(folder, "t.json.gz", [run])


def test_two_runs(folder):
    weir(folder, "generate", "random", "--nodes", "100", "--seed", "9", "-o", "r.weir", "--quiet")
    runs = [simulated(folder, "r.weir"), simulated(folder, "r.weir")]
    weir(folder, "export", "chrome", *map(str, runs), "-o", "two.json")
    check(folder, "two.json", runs)


def test_names(folder):
    (folder / "n.weir").write_text(NAMES, encoding="utf-8")
    run = simulated(folder, "n.weir")
    weir(folder, "export", "chrome", str(run), "-o", "n.json")
    check(folder, "n.json", [run])
    events = load(folder / "n.json")
    names = {e["name"] for e in events if e["ph"] == "X"}
    assert {'n"0"', "back\\slash", "\u00fc\u20ac\U0001f600"} <= names, names


def test_limit(folder):
    run = simulated(folder, "r.weir")
    whole = json.loads(weir(folder, "export", "chrome", str(run), "-o", "l.json", "--json"))
    limit = whole["events"] - 1
    told = json.loads(weir(folder, "export", "chrome", str(run), "-o", "l.json", "--json",
                           "--limit", str(limit)))
    assert told["events"] <= limit and told["slices"] == whole["slices"]
    assert told["arrows"] + told["arrows_left_out"] == whole["arrows"]
    check(folder, "l.json", [run])


def main():
    tests = [test_random_graphs, test_training_step, test_two_runs, test_names, test_limit]
    print(f"1..{len(tests)}")
    n_failed = 0
    with tempfile.TemporaryDirectory(prefix="weir-export-") as name:
        for number, test in enumerate(tests, start=1):
            try:
                test(pathlib.Path(name))
                print(f"ok {number} - {test.__name__}")
            except Exception as error:  # each test is to print its line
                n_failed += 1
                print(f"not ok {number} - {test.__name__}")
                print("# " + f"{type(error).__name__}: {error}".replace("\n", "\n# "))
            sys.stdout.flush()
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
