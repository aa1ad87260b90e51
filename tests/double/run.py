#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs weir on the double of a GPU: what it finds there, replays that must equal their simulation to
the nanosecond, and everything that can go wrong. Prints TAP.

usage: run.py [NAME]...    only the tests whose names hold one of the words
environment: WEIR, WEIR_SOURCE, WEIR_BUILD; with WEIR_BRIEF less is tried
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

WEIR = os.environ["WEIR"]
DOUBLE = pathlib.Path(os.environ["WEIR_BUILD"]) / "tests" / "double"
TIMEOUT_S = 120

# All that a plan can ask of a device: copies both ways, lags, a release, an edge from a start, a
# barrier, allocation and reclamation, two slots, a mapping, capacity that makes somebody wait.
PLAN = """weir 1
graph plan
domain hbm capacity=7MB
domain host capacity=100MB
engine sm domain=hbm slots=2
engine h2d from=host to=hbm bandwidth=1GB/s
engine d2h from=hbm to=host bandwidth=1GB/s
object w size=1MB domain=host initial
object a size=2MB
object b size=2MB
object c size=1MB
object d size=2MB retained
node in prefetch engine=h2d object=w to=hbm
node k1 compute engine=sm duration=1500us writes=a
node k2 compute engine=sm duration=700us reads=w writes=b
node k3 compute engine=sm duration=900us reads=a,b release=2ms
node out offload engine=d2h object=a to=host
node free reclamation object=a domain=hbm
node get allocation object=d
node k4 compute engine=sm duration=400us reads=b writes=c
node sync barrier
node k5 compute engine=sm duration=600us reads=c writes=d
node back prefetch engine=h2d object=a to=hbm
node k6 compute engine=sm duration=500us reads=a,d
edge k1 k2 ordering from=start lag=300us
edge k3 sync barrier
edge sync k5 barrier
edge k4 k6 ordering lag=1ms
"""

# With --scale-bytes 100 the buffers of the plan do not fit beside each other, but in an arena.
SMALL = "memory_bytes=1000000000,unit_ns.h2d=0.01,unit_ns.d2h=0.01"

SPLIT = """weir 1
graph split
domain hbm capacity=10MB
engine sm domain=hbm slots=2
object a size=2MB
object b size=2MB
object c size=2MB
object d size=4MB
object e size=4MB
node k1 compute engine=sm duration=100us writes=a
node k2 compute engine=sm duration=100us reads=a writes=b
node k3 compute engine=sm duration=100us reads=a,b writes=c
node k4 compute engine=sm duration=100us reads=b,c writes=d
node k5 compute engine=sm duration=100us reads=b,d writes=e
node k6 compute engine=sm duration=100us reads=d,e
"""

SPANS = """SELECT node.name, span.start_ns, span.finish_ns, span.time_source
             FROM span JOIN node ON node.run_id = span.run_id AND node.id = span.node_id
            WHERE span.run_id = ? AND span.start_ns >= 0 ORDER BY node.id"""


class Failed(Exception):
    pass


def check(is_true, what):
    if not is_true:
        raise Failed(what)


class Rig:
    def __init__(self, folder):
        self.folder = folder
        (folder / "plan.weir").write_text(PLAN)

    def weir(self, *words, double="", libraries=None, is_alone=False, has_driver=True, more={}):
        environment = dict(os.environ, WEIR_DOUBLE=double, **more)
        if has_driver:
            driver = libraries or DOUBLE
            environment["LD_PRELOAD"] = str(driver / "libcuda.so.1")
            environment["LD_LIBRARY_PATH"] = str(driver) if is_alone else f"{driver}:{DOUBLE}"
            # The driver comes before the sanitizer, which holds nothing against it.
            environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
        return subprocess.run([WEIR, *words], cwd=self.folder, env=environment, timeout=TIMEOUT_S,
                              capture_output=True, text=True)

    def simulate(self, graph="plan.weir", *words):
        done = self.weir("simulate", graph, "--quiet", *words, has_driver=False)
        check(done.returncode == 0, f"simulate: {done.stderr}")

    def replay(self, *words, double="", expect=0, **how):
        done = self.weir("replay", "sim", "--device", "cuda", "--json", "--repeats", "1",
                         "--warm-up", "0", *words, double=double, **how)
        check(done.returncode == expect,
              f"replay on '{double}' ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout) if expect == 0 else done.stderr

    def repeated(self, *words, double=""):
        """A replay with as many repeats as the words say, or as it needs: its answer, and its text."""
        words = ("replay", "1", "--device", "cuda", "--scale-bytes", "0.05", *words)
        answer = self.weir(*words, "--json", double=double)
        text = self.weir(*words, double=double)
        check(answer.returncode == 0 and text.returncode == 0, f"{double}: {answer.stderr}")
        return json.loads(answer.stdout), text.stdout

    def spans(self, kind):
        store = sqlite3.connect(self.folder / "weir.db")
        run = store.execute("SELECT max(id) FROM run WHERE kind = ?", (kind,)).fetchone()[0]
        rows = store.execute(SPANS, (run,)).fetchall()
        store.close()
        return rows

    def goes_by_events(self, double, phrase):
        """CUPTI is never right: events tell the times instead, and the run says why."""
        answer = self.replay("--scale-bytes", "0.05", double=double)
        check(all(row[3] == "event" for row in self.spans("replay")),
              f"{double}: times do not say that events took them")
        check(any("could not be trusted" in d["what"] and phrase in d["what"]
                  for d in answer["deviations"]), f"{double}: {answer['deviations']}")

    def equals_plan(self, what):
        planned = [row[:3] for row in self.spans("sim")]
        real = self.spans("replay")
        for one, other in zip(planned, real):
            check(one == other[:3], f"{what}: planned {one}, was {other[:3]}")
        check(len(planned) == len(real), f"{what}: {len(planned)} planned, {len(real)} were")
        return real


# ---- what there is ----

def finds_the_double(rig):
    done = rig.weir("devices", "--json")
    cuda = json.loads(done.stdout)["devices"][1]
    check(cuda["device"] == "cuda" and cuda["available"], done.stdout)
    check("double, no GPU" in cuda["name"], "the double does not say what it is")
    check("times of CUPTI; memory pools: yes; a gate of memory" in cuda["abilities"], done.stdout)
    done = rig.weir("devices", libraries=DOUBLE / "old")
    check("memory pools: no; a gate of a kernel" in done.stdout, done.stdout)


def passes_for_no_gpu(rig):
    """Whatever comes of a run on the double says where it ran, and so does what follows from it."""
    name = "test double, no GPU"
    rig.simulate()
    answer = rig.replay("--scale-bytes", "0.05")
    check(name in answer["device_name"], answer["device_name"])
    store = sqlite3.connect(rig.folder / "weir.db")
    kept = store.execute("SELECT settings FROM run WHERE kind = 'replay'").fetchone()[0]
    store.close()
    check(name in json.loads(kept)["device_name"], kept)
    for words in (("compare", "sim", "replay"), ("compare", "sim", "replay", "--json"),
                  ("runs", "show", "replay"), ("runs", "show", "replay", "--json")):
        done = rig.weir(*words, has_driver=False)
        check(name in done.stdout, f"{words}: {done.stdout}")
    files = [("export", "chrome", "sim", "replay", "-o", "both.json"),
             ("export", "csv", "runs", "-o", "runs.csv")]
    if os.environ.get("GNUPLOT"):
        files += [("plot", "timeline", "replay", "-o", "timeline.svg"),
                  ("plot", "pressure", "replay", "-o", "pressure.svg"),
                  ("plot", "compare", "sim", "replay", "-o", "compare.svg")]
    for words in files:
        done = rig.weir(*words, has_driver=False)
        check(done.returncode == 0, f"{words}: {done.stderr}")
        check(name in (rig.folder / words[-1]).read_text(), f"{words}: does not say so")
    done = rig.weir("calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "3", "--quiet")
    check(done.returncode == 0, done.stderr)
    for line in (rig.folder / "m.weir").read_text().splitlines():
        check("evidence" not in line or "evidence=unknown" in line or name in line, line)


def tells_causes_apart(rig):
    causes = {"fault.no_device=1": "sees no GPU", "fault.stub=1": "stub",
              "fault.mismatch=1": "not of one version", "version=11000": "11.2 or later"}
    rig.simulate()
    for double, phrase in causes.items():
        done = rig.weir("devices", double=double)
        check(phrase in done.stdout, f"{double}: {done.stdout}")
        message = rig.replay(double=double, expect=5)
        check(phrase in message, f"{double}: {message}")


# ---- replays that equal their plans ----

def equals_a_plan_of_everything(rig):
    rig.simulate()
    answer = rig.replay("--scale-bytes", "0.05")
    check(all(row[3] == "device" for row in rig.equals_plan("plan")), "times are not of the device")
    check(answer["makespan_ns"] == rig.spans("replay")[-1][2], "the makespan is not the last finish")
    # Events count in floats of milliseconds.
    check(abs(answer["untimed_makespan_ns"] - answer["makespan_ns"]) < 1000, answer)
    for name, kind in answer["kinds"].items():
        check(kind["median_ns"] == kind["planned_ns"], f"{name}: {kind}")


def equals_random_plans(rig):
    for seed in range(3 if os.environ.get("WEIR_BRIEF") else 12):
        made = rig.weir("generate", "random", "--nodes", "40", "--seed", str(seed), "-o", "r.weir",
                        "--quiet", has_driver=False)
        check(made.returncode == 0, made.stderr)
        if rig.weir("simulate", "r.weir", "--quiet", has_driver=False).returncode != 0:
            continue
        for storage in ("apart", "arena", "pool"):
            rig.replay("--scale-bytes", "0.000001", "--storage", storage)
            rig.equals_plan(f"seed {seed}, {storage}")
        done = rig.weir("verify", "replay", has_driver=False)
        check(done.returncode == 0, f"seed {seed}: {done.stdout}")


# Work of each class, side by side and one after another, and a node that computes again. Kernels go
# through 64 bytes at a time: at a byte a nanosecond durations are multiples of as many.
WORKS = """weir 1
graph works
domain hbm capacity=7MB
engine sm domain=hbm slots=4
object a size=2MB
object b size=2MB
node k1 compute engine=sm duration=1500us writes=a
node k2 compute engine=sm class=stream duration=704us writes=b
node k3 compute engine=sm class=cache duration=896us reads=a
node k4 compute engine=sm class=mix duration=832us reads=b
node k5 compute engine=sm class=mix duration=320us reads=a,b
node k6 rematerialization engine=sm class=cache duration=448us reads=a
node k7 compute engine=sm class=stream duration=512us reads=a release=2ms
node k8 compute engine=sm class=sm duration=500us reads=b
"""


def equals_a_plan_of_every_class(rig):
    (rig.folder / "works.weir").write_text(WORKS)
    rig.simulate("works.weir")
    answer = rig.replay()
    rig.equals_plan("works")
    names = {one["mechanism"].split(" in a stream")[0] for one in answer["mechanisms"]}
    check(names == {"multiply-add kernel", "streaming read kernel", "read kernel in the second cache",
                    "kernel of reads, multiply-adds and writes"}, names)
    # Other rates make other amounts of the same times.
    rig.replay(double="unit_ns.cache=0.25,unit_ns.mix=2,unit_ns.read=0.5")
    rig.equals_plan("works at other rates")


def equals_its_plan_in_every_layout(rig):
    rig.simulate()
    for layout in (1120, 1180, 1230, 1280, 1300, 1340, 9990):
        rig.replay("--scale-bytes", "0.05", double=f"layout={layout}")
        rig.equals_plan(f"layout {layout}")


def equals_its_plan_by_a_gate_kernel(rig):
    rig.simulate()
    rig.replay("--scale-bytes", "0.05", double="wait_value=0")
    rig.equals_plan("gate kernel")
    rig.replay("--scale-bytes", "0.05", libraries=DOUBLE / "old")
    rig.equals_plan("old driver")


def equals_its_plan_in_every_storage(rig):
    rig.simulate()
    for storage in ("apart", "arena", "pool"):
        answer = rig.replay("--scale-bytes", "0.05", "--storage", storage)
        rig.equals_plan(storage)
        check(answer["storage"] == storage, answer["storage"])
        check((answer["block_bytes"] < answer["apart_bytes"]) == (storage != "apart"), answer)
    for scale, double, storage in (("0.05", "", "apart"), ("100", SMALL, "arena")):
        answer = rig.replay("--scale-bytes", scale, double=double)
        check(answer["storage"] == storage, f"'{double}': {answer['storage']}")
        rig.equals_plan(f"fitting, {storage}")
    message = rig.replay("--scale-bytes", "100", "--storage", "apart", double=SMALL, expect=5)
    check("of the device's memory at once" in message, message)
    message = rig.replay("--storage", "heap", expect=2)
    check("fitting, apart, arena or pool was expected" in message, message)
    done = rig.weir("replay", "sim", "--storage", "pool", has_driver=False)
    check(done.returncode == 2 and "leave --storage out" in done.stderr, done.stderr)


# Two buffers of 4 MB after two of 2 MB that are freed apart from each other: an arena of the
# device's memory has no room for the second, a pool has.
def takes_a_pool_where_an_arena_does_not_fit(rig):
    (rig.folder / "plan.weir").write_text(SPLIT)
    rig.simulate()
    answer = rig.replay("--scale-bytes", "1", double="memory_bytes=12000000")
    check(answer["storage"] == "pool", answer["storage"])
    rig.equals_plan("pool, since no arena fits")
    message = rig.replay("--scale-bytes", "1", double="memory_bytes=12000000", libraries=DOUBLE / "old",
                         expect=5)
    check("no memory pools" in message, message)


def catches_up_for_a_pool(rig):
    rig.simulate()
    answer = rig.replay("--scale-bytes", "0.05", "--storage", "pool", double="fault.pool_busy=2")
    check(any("only when all that was handed over before" in d["what"]
              for d in answer["deviations"]), answer["deviations"])
    check(answer["makespan_ns"] >= rig.spans("sim")[-1][2], "faster than its plan")


def equals_its_plan_by_events(rig):
    rig.simulate()
    for refusal, phrase in (("35", "NVreg_RestrictProfilingToAdminUsers"), ("39", "nsys"),
                            ("15", "refuses"), ("999", "refuses")):
        for fault in ("subscribe", "kind"):
            answer = rig.replay("--scale-bytes", "0.05", double=f"fault.{fault}={refusal}")
            real = rig.spans("replay")
            planned = rig.spans("sim")
            for one, other in zip(planned, real):
                check(abs(one[1] - other[1]) < 1000, f"{fault} {refusal}: {one}, {other}")
            check(all(row[3] == "event" for row in real), "times do not say that events took them")
            check(any(phrase in deviation["what"] for deviation in answer["deviations"]),
                  f"{fault} {refusal}: {answer['deviations']}")
            check(abs(answer["timing"]["ratio"] - 1) < 1e-6, "events of the double cost nothing")


def does_without_a_kind_that_is_refused(rig):
    rig.simulate()
    for kind, name in (("1", "copies"), ("2", "memory that is set"), ("4", "the driver's calls"),
                       ("10", "kernels"), ("17", "what itself costs"), ("39", "ids")):
        answer = rig.replay("--scale-bytes", "0.05", double=f"fault.kind=999,refused_kind={kind}")
        check(all(row[3] == "event" for row in rig.spans("replay")), f"kind {kind}: not by events")
        check(any(f"CUPTI refuses records of {name}" in deviation["what"]
                  for deviation in answer["deviations"]), f"kind {kind}: {answer['deviations']}")


def tells_what_the_device_adds(rig):
    rig.simulate()
    rig.replay("--scale-bytes", "100", double=SMALL + ",serial=1")
    rig.equals_plan("copies of one direction on one engine")
    answer = rig.replay("--scale-bytes", "100", "--storage", "pool",
                        double=SMALL + ",fault.pool_waits=-1")
    check(answer["makespan_ns"] > rig.spans("sim")[-1][2], "waits of the pool cost nothing")
    parts = answer["deviation"]
    check(parts["queue_ns"] > 0 and parts["submission_ns"] == 0, parts)
    check(sum(parts[f"{p}_ns"] for p in ("dependency", "submission", "queue", "stretch")) ==
          parts["deviation_ns"], parts)


def runs_in_every_mode(rig):
    rig.simulate()
    for mode in ("stream", "paced"):
        rig.replay("--scale-bytes", "0.05", "--mode", mode)
        rig.equals_plan(mode)
    rig.replay("--scale-bytes", "0.05", "--mode", "serial")
    real = sorted(row[1:3] for row in rig.spans("replay") if row[2] > row[1])
    for (_, finish), (start, _) in zip(real, real[1:]):
        check(start >= finish, "two ran at once in a serial replay")


def opens_the_gate_of_a_stream_that_is_full(rig):
    """A stream takes so many commands; who adds more waits until the device has taken one."""
    graph = ["weir 1", "graph long", "engine sm"]
    graph += [f"node k{i} compute engine=sm duration=20us" for i in range(3000)]
    (rig.folder / "long.weir").write_text("\n".join(graph) + "\n")
    rig.simulate("long.weir")
    # Above what Weir hands over to one stream, and below, where only its watch can help.
    for double in ("depth=1024", "depth=1024,wait_value=0", "depth=400"):
        answer = rig.replay(double=double)
        rig.equals_plan(double)
        check(any("the gate was opened before all was handed over" in deviation["what"]
                  for deviation in answer["deviations"]), f"{double}: {answer['deviations']}")
    # No stream holds much, all of them together do.
    graph = ["weir 1", "graph wide"] + [f"engine e{e}" for e in range(8)]
    graph += [f"node k{i} compute engine=e{i % 8} duration=20us" for i in range(1600)]
    (rig.folder / "wide.weir").write_text("\n".join(graph) + "\n")
    rig.simulate("wide.weir")
    answer = rig.replay(double="room=1000")
    rig.equals_plan("room for 1000 commands")
    check(any("the gate was opened before all was handed over" in deviation["what"]
              for deviation in answer["deviations"]), answer["deviations"])
    answer = rig.replay(double="depth=1024", *("--mode", "stream"))
    check(not any("gate" in one["what"] for one in answer["deviations"]), answer["deviations"])
    message = rig.replay(double="depth=3,fault.hang=40", expect=5)
    check("WEIR_DOUBLE: deadlock" in message and "died by signal 6" in message, message)


# ---- what goes wrong ----

# Each at its third record, once: the run is tried again, and is good.
DOUBTFUL = {"dropped": "dropped", "missing": "no record", "zero": "no times",
            "unended": "no times", "backwards": "ends before it begins", "twice": "two records",
            "stranger": "no call of this run", "overlap_large": "begins",
            "early": "before", "late": "after the device was done", "moved": "another stream",
            "drift": "by CUPTI and", "other_kind": "has the record of a", "bytes": "moved",
            "short": "cannot be read to their end", "loading": "loaded code",
            "flush": "does not give its records"}
# Of all records of a run at once.
SHIFTED = {"ahead": "after the device was done", "behind": "before", "jump": "after the device was done",
           "jump_back": "begins"}


# What CUPTI said can be kept, and read without it: each layout shows how long its records are.
def keeps_what_cupti_says(rig):
    rig.simulate()
    for layout, lengths in ((1120, (80, 168)), (1300, (96, 216)), (9990, (264, 408))):
        kept = rig.folder / f"records.{layout}"
        rig.replay("--scale-bytes", "0.05", double=f"layout={layout}",
                   more={"WEIR_CUPTI_RECORDS": str(kept)})
        script = pathlib.Path(os.environ["WEIR_SOURCE"]) / "tests" / "device" / "records.py"
        done = subprocess.run([sys.executable, script, kept], capture_output=True, text=True)
        for kind, length in zip(("memcpy", "kernel"), lengths):
            check(any(line.startswith(f"{kind}: ") and line.endswith(f"of {length} bytes")
                      for line in done.stdout.splitlines()), f"{layout}: {done.stdout}{done.stderr}")
    answer = rig.replay("--scale-bytes", "0.05",
                        more={"WEIR_CUPTI_RECORDS": str(rig.folder / "none" / "records")})
    check(any("cannot be written" in d["what"] for d in answer["deviations"]), answer["deviations"])


def doubts_records(rig):
    rig.simulate()
    for fault, phrase in DOUBTFUL.items():
        rig.replay("--scale-bytes", "0.05", double=f"fault.{fault}=3")
        rig.equals_plan(f"{fault} once")
        rig.goes_by_events(f"fault.{fault}=-1", phrase)


def doubts_a_device_that_changes_its_speed(rig):
    """Events would tell nothing better."""
    rig.simulate()
    rig.replay("--scale-bytes", "0.05", double="fault.clock=8")
    rig.equals_plan("clock once")
    message = rig.replay("--scale-bytes", "0.05", double="fault.clock=-8", expect=5)
    check("could not be trusted" in message and "clock of the device" in message, message)


def doubts_a_clock_that_is_off(rig):
    rig.simulate()
    for fault, phrase in SHIFTED.items():
        rig.replay("--scale-bytes", "0.05", double=f"fault.{fault}=4")
        rig.equals_plan(f"{fault} once")
        rig.goes_by_events(f"fault.{fault}=-1", phrase)


def tells_a_clock_that_is_off_a_little(rig):
    rig.simulate()
    for fault in ("ahead", "behind"):
        for shift_ns, is_told in ((3000, False), (60000, True)):
            answer = rig.replay("--scale-bytes", "0.05",
                                double=f"fault.{fault}=-1,shift_ns={shift_ns}")
            rig.equals_plan(f"{fault} by {shift_ns} ns")
            told = [d["what"] for d in answer["deviations"] if "off the host's clock" in d["what"]]
            check(bool(told) == is_told, f"{fault} by {shift_ns} ns: {told}")


def walks_no_further_than_the_buffer(rig):
    rig.simulate()
    for walk, phrase in enumerate(("cannot be read to their end", "has no record",
                                   "cannot be read to their end", "cannot be read to their end")):
        double = f"walk={walk},fault.nameless="
        rig.replay("--scale-bytes", "0.05", double=double + "3")
        rig.equals_plan(f"walk {walk} once")
        rig.goes_by_events(double + "-1", phrase)


def minds_no_harmless_record(rig):
    rig.simulate()
    for fault in ("overlap_small", "unknown_kind", "shuffled", "scattered"):
        answer = rig.replay("--scale-bytes", "0.05", double=f"fault.{fault}=3")
        check(abs(answer["makespan_ns"] - rig.spans("sim")[-1][2]) <= 300, fault)
    # Buffers that are given back in the middle of the run.
    rig.replay("--scale-bytes", "0.05", double="eager=7")
    rig.equals_plan("eager")


def names_what_fails(rig):
    rig.simulate()
    runs = sqlite3.connect(rig.folder / "weir.db").execute("SELECT count(*) FROM run").fetchone()[0]
    failures = {"fault.memory=1": "OUT_OF_MEMORY", "fault.memory=5": "OUT_OF_MEMORY",
                "fault.launch=1": "LAUNCH_FAILED", "fault.launch=40": "LAUNCH_FAILED",
                "fault.lost=2": "700",
                "fault.hang=20": "had not finished"}
    for double, phrase in failures.items():
        message = rig.replay("--scale-bytes", "0.05", double=double, expect=5)
        check(phrase in message, f"{double}: {message}")
    message = rig.replay("--scale-bytes", "100", "--storage", "pool",
                         double=SMALL + ",fault.pool=-2", expect=5)
    check("from the pool" in message, message)
    # Of six kinds, when records go on after a run without any.
    done = rig.weir("replay", "sim", "--device", "cuda", "--scale-bytes", "0.05", "--repeats", "2",
                    double="fault.enable=8")
    check(done.returncode == 5 and "CUPTI does not go on: CUPTI refuses records of copies"
          in done.stderr, done.stderr)
    after = sqlite3.connect(rig.folder / "weir.db").execute("SELECT count(*) FROM run").fetchone()[0]
    check(runs == after, "a replay that failed is in the store")


def gives_a_silent_device_up(rig):
    rig.simulate()
    message = rig.replay("--deadline", "1s", double="fault.flush_hangs=3", expect=5)
    check("no sign of life for 1 s" in message, message)
    message = rig.replay("--deadline", "1h", expect=2)
    check("a time of 1ms or more" in message, message)


# ---- what a device costs ----

def names_the_cost_of_submission(rig):
    rig.simulate()
    answer = rig.replay("--scale-bytes", "0.05", double="launch_ns=5000")
    rig.equals_plan("the gate hides the launches")
    answer = rig.replay("--scale-bytes", "0.05", "--mode", "serial", double="launch_ns=5000")
    check(answer["makespan_ns"] > rig.spans("sim")[-1][2], "launches cost nothing")
    answer = rig.replay("--scale-bytes", "0.05", "--mode", "stream", double="launch_ns=500000")
    check(any("launch-bound" in d["what"] for d in answer["deviations"]), answer["deviations"])


# ---- repeats ----

def tells_what_timing_costs(rig):
    """Each call takes 30 us longer while CUPTI keeps records: behind the gate nobody waits for calls."""
    rig.simulate()
    answer, text = rig.repeated("--mode", "gated", double="trace_ns=30000")
    timing = answer["timing"]
    check(timing["verdict"] == "undisturbed" and abs(timing["ratio"] - 1) < 1e-6, timing)
    check(timing["pairs"] == answer["repeats"] == 30 and "by 30 pairs of runs: undisturbed" in text, text)
    check(len(answer["untimed_makespans_ns"]) == len(answer["makespans_ns"]) == 30, answer)
    check(len(answer["untimed_warm_up_makespans_ns"]) == answer["warm_up"] == 5, answer)
    answer, text = rig.repeated("--mode", "serial", double="trace_ns=30000")
    timing = answer["timing"]
    cost_ns = (timing["ratio"] - 1) * answer["untimed_makespan_ns"]
    n_calls = round(cost_ns / 30000)
    check(n_calls >= 9 and abs(cost_ns - n_calls * 30000) < 100, f"{n_calls} calls cost {cost_ns}")
    interval = timing["interval_ratio"]
    check(timing["verdict"] == "perturbed" and 1.02 < interval["low"] <= timing["ratio"] + 1e-9 and
          timing["ratio"] <= interval["high"] + 1e-9, timing)
    check(any(d["what"].startswith("perturbed: ") for d in answer["deviations"]), answer["deviations"])
    check("by 30 pairs of runs: perturbed" in text, text)
    compared = json.loads(rig.weir("compare", "sim", "replay", "--json").stdout)["b"]
    check(compared["timing"] == timing and compared["repeats"] == 30, compared)
    check(any(remark.startswith("perturbed: ") for remark in compared["remarks"]), compared)
    text = rig.weir("compare", "sim", "replay").stdout
    check("by 30 pairs of runs: perturbed" in text and "launch-bound" in text, text)


def decides_nothing_from_few_pairs(rig):
    rig.simulate()
    answer, text = rig.repeated("--repeats", "2", "--mode", "serial", double="trace_ns=30000")
    timing = answer["timing"]
    check(timing["verdict"] == "undecided" and timing["interval_ratio"] is None, timing)
    check(answer["median_interval_ns"] is None, answer)
    check(timing["ratio"] > 1.02 and "by 2 pairs of runs: undecided" in text, text)
    check(any(d["what"].startswith("perhaps perturbed: ") for d in answer["deviations"]), answer)


def is_cold_in_every_run(rig):
    """Each of a pair opens the device anew."""
    (rig.folder / "cold.weir").write_text(PLAN.replace("graph plan", "graph plan scope=cold"))
    rig.simulate("cold.weir")
    answer, _ = rig.repeated("--repeats", "4")
    check(answer["scope"] == "cold" and answer["warm_up"] == 0, answer)
    check(set(answer["makespans_ns"]) == {6000000} and answer["timing"]["pairs"] == 4, answer)
    check(all(abs(ns - 6000000) < 1000 for ns in answer["untimed_makespans_ns"]), answer)


def pairs_cancel_a_drift(rig):
    """Each operation takes a part longer than the one before, timed or not: the ratio does not show it."""
    rig.simulate()
    answer, _ = rig.repeated("--repeats", "30", double="slower=1e-5")
    makespans_ns = answer["makespans_ns"]
    check(makespans_ns[-1] > 1.005 * makespans_ns[0], makespans_ns)
    ratios = [a / b for a, b in zip(makespans_ns, answer["untimed_makespans_ns"])]
    check(all((ratio > 1) == (after % 2 == 0) for after, ratio in enumerate(ratios)), ratios)
    check(abs(answer["timing"]["ratio"] - 1) < 1e-6, answer["timing"])


def repeats_until_the_median_is_known(rig):
    (rig.folder / "g.weir").write_text("weir 1\ngraph g\nengine sm\n"
                                       "node a compute engine=sm duration=1ms\n")
    rig.simulate("g.weir")
    ends = {("noise=0.02",): (30, 30, "narrow enough"), ("noise=0.05",): (32, 98, "narrow enough"),
            ("noise=0.3",): (100, 100, "as many as may be"),
            ("noise=0.3", "--scale-time", "1000"): (30, 30, "took too long"),
            ("noise=0.3", "--repeats", "12"): (12, 12, "as asked"),
            ("noise=0.02", "--repeats", "auto"): (30, 30, "narrow enough")}
    for (double, *words), (least, most, end) in ends.items():
        answer, text = rig.repeated(*words, double=double)
        n, interval = answer["repeats"], answer["median_interval_ns"]
        check(least <= n <= most and answer["repeats_end"] == end, f"{double} {words}: {n}, {answer}")
        check(len(answer["makespans_ns"]) == n and f"{n} after 5 to warm up" in text, text)
        check((interval["high"] - interval["low"] <= 0.02 * answer["makespan_ns"]) ==
              (end == "narrow enough"), f"{double} {words}: {interval}")
        again, _ = rig.repeated(*words, double=double)
        del answer["run"], again["run"]
        check(answer == again, f"{double} {words}: two replays alike differ")


def finds_contention(rig):
    done = rig.weir("calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "5", "--quiet",
                    double="kappa.fma.h2d=1.3,kappa.h2d.fma=1.1,kappa.read.read=1.9")
    check(done.returncode == 0, done.stderr)
    factors = {}
    for line in (rig.folder / "m.weir").read_text().splitlines():
        words = line.split()
        if words[:1] == ["kappa"]:
            factors[tuple(words[1:3])] = float(words[3])
    check("domain hbm capacity=7730102272" in (rig.folder / "m.weir").read_text(), "nine tenths of 8 GiB")
    check(abs(factors[("sm", "h2d")] - 1.3) < 0.01, factors)
    check(abs(factors[("h2d", "sm")] - 1.1) < 0.01, factors)
    check(abs(factors[("stream", "stream")] - 1.9) < 0.01, factors)
    check(abs(factors[("d2h", "sm")] - 1) < 0.01, factors)


def is_checked_whole(rig):
    """With the program and the scripts that are made for a machine that has no library of Weir's."""
    made = rig.folder / "made"
    done = subprocess.run(["sh", pathlib.Path(os.environ["WEIR_SOURCE"]) / "tests/device/build", made],
                          cwd=os.environ["WEIR_BUILD"], env=dict(os.environ, MAKEFLAGS=""),
                          timeout=TIMEOUT_S, capture_output=True, text=True)
    check(done.returncode == 0, done.stdout[-1000:] + done.stderr)
    wrapper = rig.folder / "weir"
    wrapper.write_text(f"#!/bin/sh\nWEIR_DOUBLE=memory_bytes=150000000000,unit_ns.h2d=0.02,"
                       f"unit_ns.d2h=0.02,unit_ns.d2d=0.001,unit_ns.read=0.001,kappa.fma.h2d=1.05 "
                       f"LD_PRELOAD={DOUBLE}/libcuda.so.1 LD_LIBRARY_PATH={DOUBLE} "
                       f"ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 exec {made}/weir \"$@\"\n")
    wrapper.chmod(0o755)
    n = 4 if os.environ.get("WEIR_BRIEF") else 24
    environment = dict(os.environ, WEIR_CHECK_REPEATS="1", WEIR_CHECK_WARM_UP="1",
                       WEIR_CHECK_PLANS=str(n))
    del environment["WEIR_DATADIR"]
    done = subprocess.run(["sh", made / "check", "all", wrapper, "out"], cwd=rig.folder,
                          env=environment, timeout=2 * TIMEOUT_S, capture_output=True, text=True)
    check(done.returncode == 0, done.stdout[-2000:] + done.stderr)
    report = (rig.folder / "out" / "report.txt").read_text()
    check("test double" in report, "the report does not say that it is of the double")
    check(f"where the order was kept, of {n} plans: median 0.00 %, worst 0.0" in report,
          report[-3000:])
    check(f"cost of timing, of {n} plans: median 0.00 %" in report, report[-3000:])
    for storage in ("each buffer apart", "an arena of", "the driver's pool"):
        check(storage in report, f"{storage}: {report[-3000:]}")


# What the device is: each class asks for what its rate says. Bytes a nanosecond: 10 of the memory, and of
# the cache 25; a copy within the memory and the mix read and write each, and the bytes of a copy to the
# device pass the memory one and a half times. All that passes the memory passes the cache. An iteration
# is of 2 * 64 * 256 operations on the one multiprocessor; the mix has four to a byte.
UNIT_NS = {"fma": 1000, "read": 0.1, "cache": 0.04, "mix": 0.32, "h2d": 0.5, "d2h": 0.4, "d2d": 0.25}
PASSES = {"read": 1, "mix": 2, "h2d": 1, "d2h": 1, "d2d": 2}
RESOURCES = {"issue": "issue", "memory": "memory", "cache": "cache", "h2d-link": "up",
             "d2h-link": "down"}
TRUTH = {"eta.issue": 1.3, "eta.memory": 0.93, "eta.cache": 0.9, "eta.up": 1.25, "eta.down": 0.97,
         "part.fma.issue": 1, "part.mix.issue": 4 / 0.32 / (32768 / 1000), "part.cache.cache": 1,
         "part.h2d.up": 1, "part.d2h.down": 1,
         **{f"unit_ns.{name}": unit for name, unit in UNIT_NS.items()},
         **{f"part.{name}.memory": n / UNIT_NS[name] / 10 for name, n in PASSES.items()},
         **{f"part.{name}.cache": n / UNIT_NS[name] / 25 for name, n in PASSES.items()}}
TRUTH["part.h2d.memory"] *= 1.5
CLASSES = {"sm": "fma", "stream": "read", "cache": "cache", "mix": "mix", "h2d": "h2d", "d2h": "d2h",
           "d2d": "d2d"}


def calibrated(rig, extra):
    double = ",".join(f"{key}={value}" for key, value in {**TRUTH, **extra}.items())
    done = rig.weir("calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "3", "--json",
                    double=double)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["contention"]


def calibrates_by_events(rig):
    """Where CUPTI refuses, who reads the machine file learns what took the times."""
    done = rig.weir("calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "3", "--json",
                    "--no-contention", double="fault.subscribe=39")
    check(done.returncode == 0, done.stderr)
    phrase = "times are of events around each operation, not of CUPTI"
    check(json.loads(done.stdout)["remark"].startswith(phrase), done.stdout)
    check(phrase in done.stderr, done.stderr)
    check(phrase in (rig.folder / "m.weir").read_text(), "the machine file does not say so")


def roofline_of(slowed, beside, power):
    """How many times longer, by TRUTH."""
    total = 1
    for resource in RESOURCES.values():
        parts = [TRUTH.get(f"part.{CLASSES[name]}.{resource}", 0) for name in [slowed] + beside]
        eta = TRUTH[f"eta.{resource}"]
        total += (parts[0] * max(1, sum(parts) / eta)) ** power \
            - (parts[0] * max(1, parts[0] / eta)) ** power
    return total ** (1 / power)


def params_of(path):
    found = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["param"]:
            found[words[1], words[2]] = float(words[3])
    return found


def finds_a_roofline_again(rig):
    found = calibrated(rig, {"power": 3})
    check(found["family"] == "roofline" and found["unseen_sets"] == 37, found["families"])
    beside = [sorted(one["beside"]) for one in found["sets"] if one["fitted"]]
    check(len(found["sets"]) == 93 and sum(len(names) == 3 for names in beside) == 7 and
          all(len(set(names)) == 1 for names in beside), "other sets than two, and three of its own")
    for one in found["sets"]:
        truth = roofline_of(one["slowed"], one["beside"], 3)
        check(abs(one["factor"] / truth - 1) < 0.01, f"{one}: was {truth}")
    errors = {one["family"]: one for one in found["families"]}
    check(errors["roofline"]["p95_error_ratio"] < 0.01, errors)
    check(errors["pairwise"]["mean_error_ratio"] > 0.01, errors)
    check(errors["roofline"]["rank"] == 1 and errors["roofline"]["behind_by"] == "", errors)
    check(errors["pairwise"]["behind_by"] in ("median", "p95"), errors)
    check(min(errors, key=lambda name: errors[name]["aicc"]) == "roofline", errors)
    check([errors[name]["parameters"] for name in ("pairwise", "share", "roofline")] == [49, 8, 9],
          errors)
    check(found["power_basis"] == "fitted" and 1 <= found["condition_number"] < 30, found)
    params = params_of(rig.folder / "m.weir")
    check(params["roofline", "p"] == 3 and params["measured.rank", "roofline"] == 1, params)
    for name, unit in (("cache", "cache"), ("mix", "mix")):
        check(abs(params["roofline", f"{name}_bytes_per_s"] * UNIT_NS[unit] / 1e9 - 1) < 0.01, params)
    for name, resource in RESOURCES.items():
        check(abs(params["roofline.eta", name] / TRUTH[f"eta.{resource}"] - 1) < 0.01,
              f"eta of {name}: {params['roofline.eta', name]}")
    weights = {one["class"]: one["weight"] for one in found["weights"]}
    check(abs(weights["h2d"] - 1.5) < 0.03 and abs(weights["d2h"] - 1) < 0.03, weights)


def learns_nothing_from_copies_in_turn(rig):
    """With one engine a direction two copies are never at once: the roofline of the rest is found."""
    found = calibrated(rig, {"power": 3, "serial": 1})
    for one in found["sets"]:
        n_apart = sum(one["beside"].count(name) - 1 for name in ("h2d", "d2h", "d2d")
                      if one["beside"].count(name) > 1)
        check((one["ran_beside"] > 0.9 * len(one["beside"])) ==
              (n_apart == 0 and not (one["slowed"] in ("h2d", "d2h", "d2d")
                                     and one["slowed"] in one["beside"])), one)
    params = params_of(rig.folder / "m.weir")
    check(found["family"] == "roofline", found["families"])
    check(params["roofline", "p"] == 3, params)
    check(abs(params["roofline.eta", "memory"] / TRUTH["eta.memory"] - 1) < 0.01, params)
    links = [one for one in found["resources"] if one["resource"].endswith("link")]
    check(all(one["low_eta"] < 0.5 and one["high_eta"] > 2 for one in links), links)


def simulates_what_it_measured(rig):
    """Three at once: what the simulator says with the machine is what the device does."""
    calibrated(rig, {"power": 3})
    for slowed, beside in (("stream", ["d2d", "h2d"]), ("cache", ["cache", "mix"]),
                           ("mix", ["cache", "sm"])):
        lines = "".join(f"node beside{n} compute engine=sm class={name} duration=100ms\n"
                        for n, name in enumerate(beside))
        (rig.folder / "g.weir").write_text("weir 1\ngraph g\nengine sm slots=3\n"
                                           f"node a compute engine=sm class={slowed} duration=1ms\n"
                                           + lines)
        rig.simulate("g.weir", "--machine", "m.weir", "--contention", "measured")
        finish = rig.spans("sim")[0][2]
        truth = roofline_of(slowed, beside, 3) * 1e6
        check(abs(finish / truth - 1) < 0.01, f"simulated {finish} ns, on the device {truth}")
        done = rig.weir("verify", "latest", "--quiet", has_driver=False)
        check(done.returncode == 0, done.stdout + done.stderr)


def fixes_a_power_that_nothing_tells(rig):
    """Where nobody slows anybody down all families are right: the one of fewest parameters is used."""
    found = calibrated(rig, {"power": 0})
    check(found["power_basis"].startswith("fixed") and found["power"] == 3, found["power_basis"])
    check(found["high_power"] > 2 * found["low_power"], found)
    check(params_of(rig.folder / "m.weir")["roofline", "p"] == 3, "another power is written")
    check("do not tell it" in (rig.folder / "m.weir").read_text(), "the file does not say so")
    check(found["family"] == "share", found["families"])
    check(all(one["behind_by"] == "aicc" for one in found["families"] if one["rank"] > 1),
          found["families"])


def finds_factors_again(rig):
    found = calibrated(rig, {"kappa.fma.h2d": 1.3, "kappa.read.d2d": 1.9, "kappa.read.h2d": 1.2,
                             "kappa.d2d.read": 1.4, "kappa.d2d.h2d": 1.1, "kappa.h2d.read": 1.15,
                             "kappa.fma.d2h": 1.2, "kappa.fma.read": 1.1, "kappa.d2h.read": 1.3,
                             "kappa.d2h.h2d": 1.5, "kappa.h2d.d2h": 1.5, "kappa.d2h.fma": 1.05})
    check(found["family"] == "pairwise", found["families"])
    check(found["families"][0]["p95_error_ratio"] < 0.01, found["families"])


def finds_fair_shares_again(rig):
    """As the model has it: no class asks alone for more than there is."""
    etas = {"eta.memory": 1.05, "eta.cache": 1.1, "eta.down": 1.15}
    found = calibrated(rig, {"share": 1, **etas})
    check(found["family"] == "share", found["families"])
    check(found["families"][1]["p95_error_ratio"] < 0.01, found["families"])
    for one in found["resources"]:
        eta = {**TRUTH, **etas}[f"eta.{RESOURCES[one['resource']]}"]
        check(abs(one["share_eta"] / eta - 1) < 0.01, f"{one}: was {eta}")


TESTS = [
    finds_the_double,
    passes_for_no_gpu,
    tells_causes_apart,
    equals_a_plan_of_everything,
    equals_random_plans,
    equals_a_plan_of_every_class,
    equals_its_plan_in_every_layout,
    equals_its_plan_by_a_gate_kernel,
    equals_its_plan_in_every_storage,
    takes_a_pool_where_an_arena_does_not_fit,
    catches_up_for_a_pool,
    equals_its_plan_by_events,
    does_without_a_kind_that_is_refused,
    tells_what_the_device_adds,
    runs_in_every_mode,
    opens_the_gate_of_a_stream_that_is_full,
    keeps_what_cupti_says,
    doubts_records,
    doubts_a_device_that_changes_its_speed,
    doubts_a_clock_that_is_off,
    tells_a_clock_that_is_off_a_little,
    walks_no_further_than_the_buffer,
    minds_no_harmless_record,
    names_what_fails,
    gives_a_silent_device_up,
    names_the_cost_of_submission,
    tells_what_timing_costs,
    decides_nothing_from_few_pairs,
    is_cold_in_every_run,
    pairs_cancel_a_drift,
    repeats_until_the_median_is_known,
    finds_contention,
    is_checked_whole,
    finds_a_roofline_again,
    learns_nothing_from_copies_in_turn,
    simulates_what_it_measured,
    fixes_a_power_that_nothing_tells,
    finds_factors_again,
    finds_fair_shares_again,
    calibrates_by_events,
]


# What is found out by very many runs.
LONG = (repeats_until_the_median_is_known, pairs_cancel_a_drift, finds_contention,
        learns_nothing_from_copies_in_turn, simulates_what_it_measured,
        fixes_a_power_that_nothing_tells, finds_factors_again, finds_fair_shares_again)


def main(words, tests, long=()):
    """With WEIR_BRIEF those that take long are left out."""
    tests = [t for t in tests if not words or any(word in t.__name__ for word in words)]
    if os.environ.get("WEIR_BRIEF"):
        tests = [t for t in tests if t not in long]
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Rig(pathlib.Path(folder)))
                print(f"ok {number} - {test.__name__}", flush=True)
            except (Failed, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"not ok {number} - {test.__name__}")
                for line in str(failure).splitlines():
                    print(f"# {line}")
                sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], TESTS, LONG))
