#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends verbs by a signal at random moments. SIGINT and SIGTERM: the program dies by that signal, its
store is valid and closed in order, its outputs are whole or as they were, nothing lies beside them.
SIGKILL: the store holds whole runs, the outputs are whole or as they were. Prints TAP.

usage: ended.py [--times N] [SCENE]...    N moments a scene and signal (default: as many as fit)
environment: WEIR, WEIR_SOURCE; WEIR_FAULTS_SECONDS for how long it may compute (8)
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import scenes

LARGE = ["generate", "random", "--nodes", "20000", "--quiet", "-o", "large.weir"]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
SECOND_S = 0.02  # from a first signal to the second

# Like scenes.SCENES, of a larger graph, so that there are moments to be ended at.
LONG = {
    "simulate": (["simulate", "large.weir"], [], 1),
    "simulate-new": (["simulate", "large.weir", "--db", "new.db"], [], 1),
    "simulate-samples-new": (["simulate", "large.weir", "--samples", "20", "--threads", "2", "--db",
                              "new.db"], [], 1),
    "generate": (["generate", "random", "--nodes", "40000", "-o", "out.weir"], ["out.weir"], 0),
    "export": (["export", "csv", "spans", "3", "-o", "out.csv"], ["out.csv"], 0),
    "export-chrome": (["export", "chrome", "3", "-o", "out.json.gz"], ["out.json.gz"], 0),
    "plot": (["plot", "timeline", "3", "-o", "out.svg"], ["out.svg"], 0),
    "import": (["import", "nsys", "profile.sqlite", "-o", "out.weir"], ["out.weir"], 1),
    "replay": (["replay", "1", "--repeats", "20"], [], 1),
    "calibrate": (["calibrate", "--repeats", "3", "--no-contention", "-o", "out.weir"],
                  ["out.weir"], 0),
    "runs-delete": (["runs", "delete", "3"], [], -1),
}
BEFORE = scenes.RUNS_BEFORE + 1


class Ended:
    def __init__(self, name, template, folder):
        self.name = name
        self.words, self.outputs, self.more = LONG[name]
        self.template, self.folder = template, folder
        begun = time.monotonic()
        self.fresh(False)
        done = scenes.weir(folder, self.words)
        assert done.returncode == 0, done.stderr.decode()
        self.whole_s = time.monotonic() - begun
        self.reference = {o: (folder / o).read_bytes() for o in self.outputs}

    def fresh(self, has_old):
        for path in self.folder.iterdir():
            if path.is_dir():
                for inner in path.iterdir():
                    inner.unlink()
                path.rmdir()
            else:
                path.unlink()
        scenes.copy_template(self.template, self.folder)
        for output in self.outputs if has_old else []:
            (self.folder / output).write_bytes(b"old")
        self.before = {path.name for path in self.folder.iterdir()}

    def end(self, moment_s, number, is_twice, ignores):
        """Returns the exit status; negative: by that signal."""
        self.fresh(number % 2 == 1)
        env = dict(os.environ, WEIR_DATADIR=str(scenes.SOURCE))
        begin = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignores else None
        with subprocess.Popen([scenes.WEIR, *self.words], cwd=self.folder, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, preexec_fn=begin) as child:
            time.sleep(moment_s)
            child.send_signal(self.signal)
            if is_twice:
                time.sleep(SECOND_S)
                child.send_signal(self.signal)
            child.communicate(timeout=scenes.TIMEOUT_S)
            return child.returncode

    def check(self, status, is_twice):
        assert status in (0, -self.signal), f"exit status {status}"
        is_orderly = self.signal != signal.SIGKILL and not is_twice
        left = {path.name for path in self.folder.iterdir()} - self.before - {"new.db"}
        if is_orderly:
            assert not left - set(self.outputs), f"left behind: {sorted(left)}"
        for output in self.outputs:
            path = self.folder / output
            data = path.read_bytes() if path.exists() else None
            was = b"old" if output in self.before else None
            is_whole = data == self.reference[output] or (self.name == "calibrate" and data and
                                                          data.startswith(b"weir 1\n") and
                                                          data.endswith(b"\n"))
            assert data == was or is_whole, f"{output} is a part of one"
            assert status != 0 or is_whole, f"{output} is not written"
        is_new = self.name.endswith("-new")
        had = 0 if is_new else BEFORE
        found = scenes.n_runs(self.folder / ("new.db" if is_new else "weir.db"))
        allowed = {had + self.more} if status == 0 else {had, had + self.more}
        assert found in allowed or (is_new and found is None), f"{found} runs, {had} before"
        assert not is_new or found != 0, "an empty store"
        done = scenes.weir(self.folder, ["runs"])
        assert done.returncode == 0, done.stderr.decode()


def try_scene(scene, name, random_, seconds, times):
    faults, n = [], 0
    until = scenes.cpu_s() + seconds
    while n < times if times else scenes.cpu_s() < until or n < 2:
        scene.signal = SIGNALS[n % 3] if name is None else name
        is_twice = scene.signal == signal.SIGINT and n % 2 == 1
        moment = random_.uniform(0, scene.whole_s * 1.05)
        status = scene.end(moment, n, is_twice, False)
        n += 1
        try:
            scene.check(status, is_twice)
        except AssertionError as fault:
            faults.append(f"{signal.Signals(scene.signal).name} after {moment * 1e3:.1f} ms: {fault}")
    return n, faults


def try_ignored(scene):
    """Who runs it with SIGINT ignored, as `nohup` and `&` do, wants it to go on."""
    scene.signal = signal.SIGINT
    status = scene.end(scene.whole_s / 3, 0, False, True)
    return [] if status == 0 else [f"exit status {status}"]


def main(arguments):
    times = 0
    if "--times" in arguments:
        at = arguments.index("--times")
        times = int(arguments[at + 1])
        del arguments[at:at + 2]
    names = arguments or list(LONG)
    seconds = float(os.environ.get("WEIR_FAULTS_SECONDS", "8"))
    random_ = random.Random(1)
    failed = 0
    print(f"1..{len(names) + 1}", flush=True)
    with scenes.scratch("weir-ended-") as name:
        top = pathlib.Path(name)
        (top / "template").mkdir()
        (top / "work").mkdir()
        scenes.make_template(top / "template")
        for words in (LARGE, ["simulate", "large.weir", "--quiet"]):
            done = scenes.weir(top / "template", words)
            assert done.returncode == 0, done.stderr.decode()
        begun = scenes.cpu_s()
        for number, scene_name in enumerate(names, start=1):
            scene = Ended(scene_name, top / "template", top / "work")
            share = (seconds - (scenes.cpu_s() - begun)) / (len(names) - number + 1)
            n, faults = try_scene(scene, None, random_, share, times)
            failed += bool(faults)
            print(f"{'not ok' if faults else 'ok'} {number} - {scene_name}: ended {n} times",
                  flush=True)
            for fault in faults:
                print(f"# {fault}", flush=True)
        faults = try_ignored(Ended("simulate", top / "template", top / "work"))
        failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {len(names) + 1} - a signal that is ignored")
        for fault in faults:
            print(f"# {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
