# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of faults share: the verbs they run, in folders that hold all each of them needs,
and what must be true of such a folder whatever went wrong.

environment: WEIR the program, WEIR_SOURCE the top of the sources
"""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

WEIR = str(pathlib.Path(os.environ.get("WEIR", "weir")).resolve())
SOURCE = pathlib.Path(os.environ.get("WEIR_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
TIMEOUT_S = 120

GRAPH = """weir 1
graph step scope=cold
domain gpu capacity=100
domain host capacity=1000
engine sm domain=gpu
engine up domain=gpu from=host to=gpu bandwidth=1GB/s
engine down domain=gpu from=gpu to=host bandwidth=1GB/s
kappa sm up 1.5
kappa sm sm 1
object w size=40 domain=host initial
object a size=50
object b size=40
node load prefetch engine=up object=w
node first compute engine=sm duration=20us reads=w@gpu writes=a workspace=10
node save offload engine=down object=a
node second compute engine=sm duration=30us reads=a writes=b
node drop reclamation object=a domain=gpu
node "third, \\"quoted\\"" compute engine=sm duration=10us reads=b
"""
BUFFERS = "id,lower,upper,size\nx,0,3,100\ny,1,4,200\nz,3,9,50\n"
MACHINE = "weir 1\ndomain gpu capacity=200\nengine sm slots=2\n"

# The verbs: name, words, what they write beside the store, how many runs they add to it. A scene
# runs where the graph, a machine, a profile and a store with a simulation and a replay are.
SCENES = {
    "import": (["import", "nsys", "profile.sqlite", "-o", "out.weir", "--json"], ["out.weir"], 1),
    "import-packed": (["import", "auto", "profile.gz", "-o", "out.weir"], ["out.weir"], 1),
    "generate": (["generate", "random", "--nodes", "60", "-o", "out.weir"], ["out.weir"], 0),
    "generate-step": (["generate", "transformer", "--layers", "1", "-o", "out.weir", "--json"],
                      ["out.weir"], 0),
    "check": (["check", "step.weir", "--machine", "m.weir", "--json"], [], 0),
    "check-expand": (["check", "step.weir", "--expand"], [], 0),
    "analyze": (["analyze", "step.weir", "--json"], [], 0),
    "analyze-run": (["analyze", "--run", "1"], [], 0),
    "arena": (["arena", "buffers.csv", "-o", "out.csv"], ["out.csv"], 0),
    "arena-graph": (["arena", "step.weir", "--json"], [], 0),
    "simulate": (["simulate", "step.weir", "--machine", "m.weir", "--contention", "pairwise",
                  "--json"], [], 1),
    "simulate-what-if": (["simulate", "step.weir", "--scale", "sm=0.5", "--delay", "second=5us",
                          "--quiet"], [], 1),
    "simulate-samples": (["simulate", "step.weir", "--samples", "9", "--threads", "2", "--quantile",
                          "p90", "--perturb", "1ns", "--json"], [], 1),
    "simulate-fixed": (["simulate", "step.weir", "--samples", "9", "--fixed-order"], [], 1),
    "simulate-sample": (["simulate", "step.weir", "--sample", "3", "--quiet"], [], 1),
    "sensitivity": (["sensitivity", "step.weir", "--threads", "2", "--top", "2", "--json"], [], 0),
    "simulate-new": (["simulate", "step.weir", "--db", "new.db"], [], 1),
    "replay": (["replay", "1", "--repeats", "1", "--json"], [], 1),
    "calibrate": (["calibrate", "--repeats", "3", "--no-contention", "-o", "out.weir"],
                  ["out.weir"], 0),
    "compare": (["compare", "1", "2", "--json"], [], 0),
    "explain": (["explain", "1", "--wait-bound", "1us", "--json"], [], 0),
    "explain-node": (["explain", "2", "second"], [], 0),
    "explain-overlaps": (["explain", "1", "--overlaps", "second"], [], 0),
    "verify": (["verify", "1", "--json"], [], 0),
    "verify-replay": (["verify", "2", "--tolerance", "1ms"], [], 0),
    "plot": (["plot", "timeline", "1", "-o", "out.svg"], ["out.svg"], 0),
    "plot-compare": (["plot", "compare", "1", "2", "-o", "out.svg"], ["out.svg"], 0),
    "export": (["export", "csv", "spans", "1", "-o", "out.csv"], ["out.csv"], 0),
    "export-chrome": (["export", "chrome", "1", "2", "-o", "out.json.gz"], ["out.json.gz"], 0),
    "export-print": (["export", "csv", "nodes", "1"], [], 0),
    "runs": (["runs", "--json"], [], 0),
    "runs-show": (["runs", "show", "1"], [], 0),
    "runs-delete": (["runs", "delete", "2"], [], -1),
    "policies": (["policies", "--json"], [], 0),
    "devices": (["devices", "--json"], [], 0),
}
# Measured times differ from one time to the next: only that they are there can be compared.
MEASURED = {"replay", "calibrate", "devices"}
RUNS_BEFORE = 2


def scratch(prefix):
    """A folder for the moment: in memory where that can be, so that nobody waits for a disk."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(prefix=prefix,
                                       dir=memory if os.access(memory, os.W_OK) else None)


def is_instrumented():
    """Was the program built with a sanitizer? It has crashes, and a use of memory, of its own."""
    program = pathlib.Path(WEIR).read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def cpu_s():
    """What this test and all it ran have computed: whatever else the machine does meanwhile."""
    return sum(os.times()[:4])


def weir(folder, words, env=None, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    full = dict(os.environ, LC_ALL="C", WEIR_DATADIR=str(SOURCE), **(env or {}))
    return subprocess.run([WEIR, *words], cwd=folder, env=full, timeout=TIMEOUT_S, **more)


def make_template(folder):
    """Fills a folder with what the scenes need; raises AssertionError when that fails."""
    (folder / "step.weir").write_text(GRAPH)
    (folder / "m.weir").write_text(MACHINE)
    (folder / "buffers.csv").write_text(BUFFERS)
    base = sqlite3.connect(folder / "profile.sqlite")
    base.executescript((SOURCE / "doc/examples/profile.sql").read_text())
    base.close()
    import gzip  # pylint: disable=import-outside-toplevel
    (folder / "profile.gz").write_bytes(gzip.compress((folder / "profile.sqlite").read_bytes()))
    for words in (["simulate", "step.weir", "--quiet"], ["replay", "1", "--repeats", "1",
                                                        "--quiet"]):
        done = weir(folder, words)
        assert done.returncode == 0, done.stderr.decode()


def copy_template(template, folder):
    for path in template.iterdir():
        shutil.copy2(path, folder / path.name)


def told(name, done):
    """What a scene prints, without what a clock says."""
    if name in MEASURED:
        return b""
    return re.sub(rb'("[a-z_]*wall_ns"|"simulate_memory_bytes"): \d+', rb"\1: *", done.stdout)


def n_runs(path):
    """How many whole runs a store holds. AssertionError when it is damaged or holds a part of one;
    None when there is no store."""
    if not path.exists():
        return None
    base = sqlite3.connect(path)
    try:
        assert base.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "damaged store"
        assert not base.execute("PRAGMA foreign_key_check").fetchall(), "broken keys in the store"
        if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'run'").fetchall():
            return 0
        runs = base.execute("SELECT id, n_started FROM run").fetchall()
        for run, n_started in runs:
            n = base.execute("SELECT count(*) FROM span WHERE run_id = ? AND start_ns IS NOT NULL",
                             (run,)).fetchone()[0]
            assert n == n_started > 0, f"run {run} has {n} of {n_started} spans"
        keys = base.execute("SELECT DISTINCT key >> 32 FROM span_block").fetchall()
        assert len(keys) == len(runs), f"spans of {len(keys)} runs, where {len(runs)} are"
        return len(runs)
    finally:
        base.close()


def check_folder(name, folder, before, is_done, reference):
    """What must hold after a scene that ended well (is_done) or did not.

    before: the names that were in the folder; reference: {file: bytes} that a good scene wrote, the
    files being those that were "old" before."""
    _, outputs, more = SCENES[name]
    allowed = {"weir.db" + end for end in ("-wal", "-shm", "-journal")}
    allowed |= {"new.db"} if more > 0 and name.endswith("-new") else set()
    left = {p.name for p in folder.iterdir()} - before - allowed
    assert not left - set(outputs), f"left behind: {sorted(left)}"
    for output in outputs:
        path = folder / output
        if is_done:
            assert path.exists(), f"{output} is missing"
            whole = path.read_bytes()
            assert name in MEASURED or whole == reference[output], f"{output} is another"
            assert whole and whole != b"old", f"{output} was not written"
        elif output in before:
            assert path.read_bytes() == b"old", f"{output} was changed by what failed"
        else:
            assert not path.exists(), f"what failed left {output}"
    is_new = name.endswith("-new")  # appears with its run or not at all
    had = 0 if is_new else RUNS_BEFORE
    found = n_runs(folder / ("new.db" if is_new else "weir.db"))
    assert not is_new or found != 0, "an empty store"
    if is_done:
        assert found == had + more, f"{found} runs, expected {had + more}"
    else:
        assert (is_new and found is None) or found in (had, had + more), f"{found} runs, {had} before"
