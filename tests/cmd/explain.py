#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains simulations of random graphs and finds every sum again from the tables of the run, pair by
pair and interval by interval. Prints TAP.

environment: WEIR the program
usage: explain.py [SEED]...      (default: a few)
"""

import csv
import io
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

WEIR = str(pathlib.Path(os.environ.get("WEIR", "weir")).resolve())
SETTINGS = (["--contention", "none"], ["--contention", "pairwise"], ["--contention", "share"])


class Wrong(Exception):
    """What was found is not what stands in the tables."""


def same(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {found}, expected {expected}")


def weir(folder, *words):
    done = subprocess.run([WEIR, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        raise Wrong(f"weir {' '.join(words)}: {done.stderr.strip()[:300]}")
    return done.stdout


def table(folder, name):
    rows = csv.DictReader(io.StringIO(weir(folder, "export", "csv", name, "latest")))
    return [{key: int(value) if value.lstrip("-").isdigit() and key not in ("class", "name", "group")
             else value for key, value in row.items()} for row in rows]


def union_ns(spans):
    """How long at least one of them ran."""
    covered, until = 0, 0
    for start, finish in sorted(spans):
        covered += max(0, finish - max(start, until))
        until = max(until, finish)
    return covered


def check_chain(told, makespan):
    chain = told["chain"]
    same("ran and waited", chain["ran_ns"] + sum(chain["waited_ns"].values()), makespan)
    same("by engine", sum(e["ran_ns"] for e in chain["engines"]), chain["ran_ns"])
    same("by kind", sum(chain["ran_by_kind_ns"].values()), chain["ran_ns"])
    at = 0
    if chain["stretches_in_all"] == len(chain["stretches"]):
        for stretch in chain["stretches"]:
            same("a stretch begins", stretch["start_ns"], at)
            at = stretch["finish_ns"]
        same("the last ends", at, makespan)
    if told["bounds"] is not None and makespan < told["bounds"]["bound_ns"]:
        raise Wrong(f"{makespan} ns beat what no schedule beats, {told['bounds']['bound_ns']}")


def check_stalls(told, spans, makespan):
    exposed = 0
    for name, engine in told["stalls"]["engines"].items():
        mine = [(s["start_ns"], s["finish_ns"]) for s in spans if s["engine"] == name]
        last = max(finish for _, finish in mine)
        same(f"{name} is busy", engine["busy_ns"], union_ns(mine))
        same(f"{name} is drained", engine["drained_ns"], makespan - last)
        same(f"{name} stands still", engine["exposed_ns"], last - union_ns(mine))
        same(f"{name} by cause", sum(engine["by_cause_ns"].values()), engine["exposed_ns"])
        same(f"{name} tells of what it does not know", engine["by_cause_ns"]["unknown"], 0)
        exposed += engine["exposed_ns"]
    same("engines", set(told["stalls"]["engines"]), {s["engine"] for s in spans if s["engine"]})
    same("exposed", told["stalls"]["exposed_ns"], exposed)
    same("by cause", sum(told["stalls"]["by_cause_ns"].values()), exposed)


def check_overlap(told, spans, kept):
    pairs = {}
    for a, b in itertools.combinations(spans, 2):
        ns = min(a["finish_ns"], b["finish_ns"]) - max(a["start_ns"], b["start_ns"])
        if ns > 0:
            key = frozenset((a["class"], b["class"]))
            pairs[key] = pairs.get(key, 0) + ns
    same("overlap", {frozenset((r["class_a"], r["class_b"])): r["overlap_ns"]
                     for r in told["overlap"]}, pairs)
    same("overlap kept", {frozenset((r["class_a"], r["class_b"])): r["overlap_ns"] for r in kept},
         pairs)
    for row in told["kappa"]:
        mine = [s for s in spans if s["class"] == row["class"] and s["isolated_ns"] > 0]
        ran = sum(s["finish_ns"] - s["start_ns"] for s in mine)
        kappa = ran / sum(s["isolated_ns"] for s in mine)
        if abs(row["kappa"] - kappa) > 1e-9 * kappa:
            raise Wrong(f"kappa of {row['class']}: {row['kappa']}, expected {kappa}")


def check_pressure(told, pressure, holds, makespan):
    for name, domain in told["pressure"].items():
        rows = [(p["t_ns"], p["bytes"]) for p in pressure if p["domain"] == name]
        ends = [t for t, _ in rows[1:]] + [makespan]
        same(f"pressure-time of {name}", domain["pressure_time_byte_ns"],
             sum(size * (end - t) for (t, size), end in zip(rows, ends)))
        peak = max(size for _, size in rows)
        at = min(t for t, size in rows if size == peak)
        same(f"peak of {name}", (domain["peak_bytes"], domain["peak_at_ns"]), (peak, at))
        held = [h for h in holds if h["domain"] == name and h["bytes"] > 0 and
                h["acquire_ns"] <= at and (h["release_ns"] == "" or h["release_ns"] > at)]
        same(f"who holds {name} then", (domain["held"], domain["held_bytes"]),
             (len(held), sum(h["bytes"] for h in held)))
        same(f"what they hold of {name}", domain["held_bytes"], peak)
        same(f"the largest of {name}", [h["bytes"] for h in domain["holders"]],
             sorted((h["bytes"] for h in held), reverse=True)[:10])


def check_waits(told, spans, waits, bound):
    for cause, row in told["waits"]["by_cause"].items():
        mine = [w["to_ns"] - w["from_ns"] for w in waits if w["cause"] == cause]
        same(f"waits for {cause}", (row["waits"], row["total_ns"], row["longest_ns"]),
             (len(mine), sum(mine), max(mine, default=0)))
    lengths = sorted((s["start_ns"] - s["ready_ns"] for s in spans), reverse=True)
    same("starved", told["waits"]["starved"], sum(ns > bound for ns in lengths))
    same("the longest waits", [w["to_ns"] - w["from_ns"] for w in told["waits"]["longest"]],
         [ns for ns in lengths[:10] if ns > 0])
    of = {s["name"]: s for s in spans}
    for wait in told["waits"]["longest"]:
        me = of[wait["node"]]
        passed = sum(s["engine"] == me["engine"] and me["ready_ns"] < s["ready_ns"] < me["start_ns"]
                     and s["start_order"] < me["start_order"] for s in spans) if me["engine"] else 0
        same(f"who passed {wait['node']}", wait["passed_by"], passed)


def check_node(folder, spans, name):
    of = {s["name"]: s for s in spans}
    me = of[name]
    told = json.loads(weir(folder, "explain", "latest", name, "--json", "--rows", "1000"))
    same(f"start of {name}", told["start_ns"], me["start_ns"])
    bound = told["bound"]
    if bound["after"] is not None:
        before = of[bound["after"]]
        if bound["end_ns"] not in (before["start_ns"], before["finish_ns"]):
            raise Wrong(f"{name} is bound by {bound['after']} at neither its start nor its end")
    if not 0 <= bound["end_ns"] <= bound["ready_ns"] <= me["start_ns"]:
        raise Wrong(f"the bound of {name} is no time before its start")
    same(f"how much sooner {name} could start", told["sooner_ns"],
         me["start_ns"] - told["next_bound"]["until_ns"])
    beside = {s["name"]: min(s["finish_ns"], me["finish_ns"]) - max(s["start_ns"], me["start_ns"])
              for s in spans if s is not me}
    same(f"what ran beside {name}", {r["node"]: r["overlap_ns"] for r in told["overlap"]},
         {n: ns for n, ns in beside.items() if ns > 0})


def check(folder, seed, settings):
    draw = random.Random(seed)
    nodes = draw.choice((20, 60, 150))
    weir(folder, "generate", "random", "--nodes", str(nodes), "--seed", str(seed), "-o", "g.weir",
         "--quiet")
    sets = list(settings)
    if draw.random() < 0.6: # several nodes of an engine at once
        (pathlib.Path(folder) / "slots.weir").write_text(
            f"weir 1\nengine sm0 slots={draw.choice((2, 3, 9))}\nengine h2d slots=2\n")
        sets += ["--machine", "./slots.weir"]
    answer = json.loads(weir(folder, "simulate", "g.weir", "--json", "--quiet", *sets))
    if draw.random() < 0.5: # scarcer
        sets += ["--capacity", f"hbm={max(answer['peak_bytes']['hbm'] * 3 // 4, 1)}"]
        answer = json.loads(weir(folder, "simulate", "g.weir", "--json", "--quiet", *sets))
    if answer["status"] != "complete":
        weir(folder, "explain", "latest")
        weir(folder, "explain", "latest", "--json")
        return
    bound = draw.randrange(0, 200000)
    told = json.loads(weir(folder, "explain", "latest", "--json", "--wait-bound", f"{bound}ns"))
    spans, makespan = table(folder, "spans"), answer["makespan_ns"]
    same("makespan", told["makespan_ns"], makespan)
    same("what the simulation said", told["stalls"], answer["stalls"])
    check_chain(told, makespan)
    check_stalls(told, spans, makespan)
    check_overlap(told, spans, table(folder, "overlaps"))
    check_pressure(told, table(folder, "pressure"), table(folder, "holds"), makespan)
    check_waits(told, spans, table(folder, "waits"), bound)
    for span in draw.sample(spans, min(6, len(spans))):
        check_node(folder, spans, span["name"])


def main(arguments):
    seeds = [int(a) for a in arguments] or range(1, 9)
    runs = [(seed, settings) for seed in seeds for settings in SETTINGS]
    failed = 0
    print(f"1..{len(runs)}", flush=True)
    for number, (seed, settings) in enumerate(runs, start=1):
        with tempfile.TemporaryDirectory(prefix="weir-explain-") as folder:
            try:
                check(folder, seed, settings)
                wrong = None
            except Wrong as found:
                wrong = found
        failed += wrong is not None
        print(f"{'ok' if wrong is None else 'not ok'} {number} - seed {seed}, {settings[1]}",
              flush=True)
        if wrong is not None:
            print(f"# {wrong}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
