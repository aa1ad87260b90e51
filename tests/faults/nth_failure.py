#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the n-th allocation, write, opening, thread and SQL statement of a verb fail. Whatever n is,
the verb gives its right result, or says what went wrong by message and exit status: no crash, no
part of a file, no file beside one, a store of whole runs. Prints TAP, a point for each verb and kind.

usage: nth_failure.py [--all | --every K] [SCENE[:KIND[:N]]]...
    --all      every n, and every scene when none is named, not a sample (by hand: hours)
    --every K  the same for n = 1, 1 + K, 1 + 2 K, ...
environment: WEIR, WEIR_SOURCE, WEIR_BUILD where tests/faults/shim.so is; WEIR_FAULTS_SECONDS for how
long the sample may compute (15)
"""

import os
import pathlib
import sys

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import scenes

SHIM = pathlib.Path(os.environ.get("WEIR_BUILD", ".")).resolve() / "tests/faults/shim.so"
# The exit statuses that a failure of each kind may have: memory 7, storage 6, device 5, input that
# cannot be read 3. Where a library says no more than that it failed, memory may pass for those.
KINDS = {"memory": {7}, "write": {6}, "open": {3, 5, 6}, "thread": {5}, "sql": {3, 6}}
MEASURING = {"memory": {5, 7}}  # where the memory of the device is that of the machine
PERSISTENT = {"write", "open"}  # a disk that is full stays full: tried both ways
SAMPLED = ("import", "import-packed", "check", "simulate", "simulate-new", "replay", "calibrate",
           "compare", "plot", "export", "export-chrome", "runs-delete")
DEAR = {("calibrate", "write"), ("calibrate", "open"), ("calibrate", "sql")}  # a second each


class Scene:
    """One verb in one folder, run again and again."""

    def __init__(self, name, template, folder):
        self.name = name
        self.words, self.outputs, self.more = scenes.SCENES[name]
        self.template = template
        self.folder = folder
        self.reference = {}
        done = self.run(None, 0, False)
        assert done.returncode == 0, f"without a fault: {done.stderr.decode()}"
        self.said = scenes.told(name, done)
        for output in self.outputs:
            self.reference[output] = (folder / output).read_bytes()
        self.check(done, set())

    def fresh(self, has_old):
        for path in self.folder.iterdir():
            path.unlink()
        scenes.copy_template(self.template, self.folder)
        for output in self.outputs if has_old else []:
            (self.folder / output).write_bytes(b"old")
        self.before = {path.name for path in self.folder.iterdir()}

    def run(self, kind, n, goes_on):
        self.fresh(n % 2 == 1)
        env = {}
        if kind is not None:
            env = {"LD_PRELOAD": str(SHIM), "WEIR_FAULT": f"{kind}:{n}{'+' if goes_on else ''}",
                   "WEIR_FAULT_COUNT": str(self.folder.parent / "count")}
        return scenes.weir(self.folder, self.words, env)

    def count(self, kind):
        path = self.folder.parent / "count"
        path.unlink(missing_ok=True)
        self.run(kind, 0, False)
        return int(path.read_text()) if path.exists() else None

    def check(self, done, statuses):
        status, text = done.returncode, done.stderr.decode(errors="replace")
        assert status >= 0, f"ended by signal {-status}: {text}"
        assert status == 0 or status in statuses, f"exit status {status}: {text}"
        if status != 0:
            verb = f"weir {self.words[0]}: "
            last = text.splitlines()[-1] if text else ""
            assert verb in text and text.endswith("\n"), f"no message: {text!r}"
            assert len(last) > len(verb) + 10, f"no message: {text!r}"
        else:
            assert scenes.told(self.name, done) == self.said, "another answer"
        # All was done when only the answer did not get through.
        is_done = status == 0 or "standard output: " in text
        scenes.check_folder(self.name, self.folder, self.before, is_done, self.reference)


def numbers(n_calls, every, budget):
    """Which n to try: each `every`-th, or about `budget` of them, the first and the last among them."""
    if every or n_calls <= budget:
        return list(range(1, n_calls + 1, every or 1))
    step = (n_calls - 1) / (budget - 1)
    return sorted({1 + round(i * step) for i in range(budget)})


def try_kind(scene, kind, only, every, seconds):
    begun = scenes.cpu_s()
    n_calls = scene.count(kind)
    if n_calls is None:
        return None, "the shim does not load: an instrumented build, or no glibc"
    ways = 2 if kind in PERSISTENT else 1
    budget = max(2, int(seconds / ways / max(scenes.cpu_s() - begun, 0.01)))
    faults, tried = [], 0
    for goes_on in (False, True) if kind in PERSISTENT else (False,):
        for n in [only] if only else numbers(n_calls, every, budget):
            done = scene.run(kind, n, goes_on)
            tried += 1
            try:
                is_measuring = scene.name in scenes.MEASURED and kind in MEASURING
                scene.check(done, MEASURING[kind] if is_measuring else KINDS[kind])
            except AssertionError as fault:
                faults.append((f"{kind}:{n}{'+' if goes_on else ''}", str(fault)))
    return (tried, n_calls), faults


def short(faults):
    """One line for each thing that went wrong, with the first and last time it did."""
    by_text = {}
    for at, text in faults:
        by_text.setdefault(text, []).append(at)
    for text, ats in by_text.items():
        more = "" if len(ats) == 1 else f" ... {ats[-1]} ({len(ats)} in all)"
        yield f"{ats[0]}{more}: {text}"


def chosen(arguments, every):
    if not arguments:
        names = scenes.SCENES if every else SAMPLED
        return [(name, kind, None) for name in names for kind in KINDS
                if every or (name, kind) not in DEAR]
    out = []
    for argument in arguments:
        parts = argument.split(":")
        kinds = parts[1:2] or list(KINDS)
        out += [(parts[0], kind, int(parts[2]) if len(parts) > 2 else None) for kind in kinds]
    return out


def main(arguments):
    every = 0
    if "--all" in arguments:
        every = 1
        arguments.remove("--all")
    elif "--every" in arguments:
        at = arguments.index("--every")
        every = int(arguments[at + 1])
        del arguments[at:at + 2]
    work = chosen(arguments, every)
    seconds = float(os.environ.get("WEIR_FAULTS_SECONDS", "15"))
    print(f"1..{len(work)}", flush=True)
    failed = 0
    begun = scenes.cpu_s()
    with scenes.scratch("weir-faults-") as name:
        top = pathlib.Path(name)
        (top / "template").mkdir()
        (top / "work").mkdir()
        scenes.make_template(top / "template")
        made = {}
        for number, (name, kind, only) in enumerate(work, start=1):
            if name not in made:
                made = {name: Scene(name, top / "template", top / "work")}
            left = seconds - (scenes.cpu_s() - begun)
            share = max(left, 0) / (len(work) - number + 1)
            tried, faults = try_kind(made[name], kind, only, every, share)
            failed += bool(tried and faults)
            note = f"{tried[0]} tried of {tried[1]}" if tried else f"# SKIP {faults}"
            print(f"{'not ok' if tried and faults else 'ok'} {number} - {name}, {kind}: {note}"
                  if tried else f"ok {number} {note}", flush=True)
            for line in short(faults) if tried else []:
                print("\n".join(f"# {part}" for part in line.splitlines()), flush=True)
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
