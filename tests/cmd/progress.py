#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress line: there on a terminal for what takes longer than a second, taken away at the end,
also by a signal; not there with --quiet, without a terminal, or for what is quick; never on standard
output. Prints TAP.

environment: WEIR the program
"""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile

WEIR = str(pathlib.Path(os.environ.get("WEIR", "weir")).resolve())
BLANKS = " " * 79
DRAWN = re.compile(r"\r {79}\r([a-z]+) (?:\.\.\. \d+ s|\[#* *\] +\d+ %, \d+ (?:s|min|h) left)")


def heed_interrupts():
    """A shell's background jobs ignore them, and what they start does too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(folder, words, interrupts=False):
    """Runs with standard error on a terminal; returns (status, standard output, what was drawn).

    interrupts: sends SIGINT as soon as something is drawn."""
    own, its = pty.openpty()
    with subprocess.Popen([WEIR, *words], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=its, preexec_fn=heed_interrupts) as child:
        os.close(its)
        drawn = b""
        while True:
            ready, _, _ = select.select([own], [], [], 0.1)
            if interrupts and drawn:
                child.send_signal(signal.SIGINT)
                interrupts = False
            try:
                part = os.read(own, 65536) if ready else None
            except OSError:  # the other end is closed
                part = b""
            if part == b"":
                break
            drawn += part or b""
        said = child.stdout.read()
        child.wait(timeout=60)
    os.close(own)
    return child.returncode, said.decode(), drawn.decode()


def visible(drawn):
    """What stays on the last line of a terminal that got this."""
    line, at = [], 0
    for char in drawn:
        if char == "\r":
            at = 0
        elif char == "\n":
            line, at = [], 0
        else:
            line[at:at + 1] = [char]
            at += 1
    return "".join(line).rstrip()


def wait_for_pipe(folder, seconds=2):
    """A graph that takes its time: read from a pipe that is slow to be filled."""
    path = pathlib.Path(folder) / "slow.weir"
    os.mkfifo(path)
    text = "weir 1\nengine e\nnode a compute engine=e duration=1 evidence=assumed\n"
    return subprocess.Popen(["sh", "-c", f"exec > '{path}'; sleep {seconds}; printf '%s' '{text}'"])


def test_drawn(folder):
    with wait_for_pipe(folder):
        status, said, drawn = run(folder, ["check", "slow.weir"])
    assert status == 0, drawn
    assert said == "slow.weir: legal: 1 nodes, 0 edges, 0 objects\n", said
    found = DRAWN.findall(drawn)
    assert found and set(found) == {"reading"}, drawn
    assert 2 <= len(found) <= 8, f"drawn {len(found)} times in 2 s"
    assert visible(drawn) == "", f"it stays: {visible(drawn)!r}"


def test_simulate(folder):
    with wait_for_pipe(folder):
        status, said, drawn = run(folder, ["simulate", "slow.weir", "--json"])
    assert status == 0 and said.startswith("{"), said
    assert DRAWN.search(drawn) and visible(drawn) == "", drawn


def test_quiet(folder):
    with wait_for_pipe(folder):
        status, _, drawn = run(folder, ["check", "slow.weir", "--quiet"])
    assert (status, drawn) == (0, ""), drawn


def test_without_terminal(folder):
    with wait_for_pipe(folder):
        done = subprocess.run([WEIR, "check", "slow.weir"], cwd=folder, capture_output=True,
                              timeout=60)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr


def test_quick(folder):
    status, _, drawn = run(folder, ["generate", "random", "--nodes", "100", "-o", "g.weir"])
    assert (status, drawn) == (0, ""), drawn


def test_estimate(folder):
    """calibrate tells how far it is, and draws without a thread."""
    words = ["calibrate", "--repeats", "40", "--no-contention", "--json", "-o", "m.weir"]
    status, said, drawn = run(folder, words)
    assert status == 0 and said.startswith("{"), drawn
    lines = drawn.split(f"\r{BLANKS}\r")
    assert any(re.fullmatch(r"calibrating \[#+ *\] +\d+ %, \d+ s left", line) for line in lines), drawn
    assert "calibrating" not in visible(drawn), drawn


def test_signal(folder):
    with wait_for_pipe(folder, seconds=10) as writer:
        status, _, drawn = run(folder, ["check", "slow.weir"], interrupts=True)
        writer.kill()
    assert status == -signal.SIGINT, status
    assert DRAWN.search(drawn) and visible(drawn) == "", drawn


def main():
    tests = (test_drawn, test_simulate, test_quiet, test_without_terminal, test_quick, test_estimate,
             test_signal)
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, start=1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {number} - {test.__name__[5:]}", flush=True)
            except AssertionError as fault:
                failed += 1
                print(f"not ok {number} - {test.__name__[5:]}")
                print("\n".join(f"# {line!r}" for line in str(fault).splitlines()[:20]), flush=True)
    return 1 if failed else 0


sys.exit(main())
