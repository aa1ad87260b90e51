#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Weir cannot prevent: a policy from outside that crashes, and a replay in which an action never
ends. The policy is named, the program dies as the crash it is; the watchdog names the action; the
store is as it was. Prints TAP.

environment: WEIR, WEIR_SOURCE, WEIR_BUILD where tests/faults/shim.so is, CC
"""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import scenes

SHIM = pathlib.Path(os.environ.get("WEIR_BUILD", ".")).resolve() / "tests/faults/shim.so"
CC = shlex.split(os.environ.get("CC", "cc"))

PLUGIN = """
#include <signal.h>
#include <stdlib.h>
#include "policies/policy.h"

const struct weir_policy *weir_policy_export(void);
int dig(volatile int *depth);

int dig(volatile int *depth)
{
    volatile int room[256] = {*depth};

    return dig(room) + room[255];
}

static enum weir_status plan(void *state, const struct weir_view *view, struct weir_draft *draft,
                             struct weir_error *err)
{
    volatile int depth = 1;

    (void)state;
    (void)view;
    (void)draft;
    (void)err;
    FAULT;
    return depth == 2 ? WEIR_INPUT : WEIR_OK;
}

static const struct weir_policy policy = {
    .version = WEIR_POLICY_VERSION,
    .size = sizeof(struct weir_policy),
    .name = "faulty",
    .summary = "crashes",
    .plan = plan,
};

const struct weir_policy *weir_policy_export(void)
{
    return &policy;
}
"""

# A queue that sleeps until another is done, and is never woken.
WAITING = """weir 1
graph waiting scope=cold
engine one
engine two
node first compute engine=one duration=200ms
node "second, which waits" compute engine=two duration=1ms
edge first "second, which waits" ordering
"""


def check_store(folder):
    found = scenes.n_runs(folder / "weir.db")
    assert found == scenes.RUNS_BEFORE, f"{found} runs, {scenes.RUNS_BEFORE} before"


def crash(folder, fault, signals):
    (folder / "faulty.c").write_text(PLUGIN)
    built = subprocess.run([*CC, "-std=c17", "-shared", "-fPIC", f"-DFAULT={fault}",
                            f"-I{scenes.SOURCE}", "-o", "faulty.so", "faulty.c"], cwd=folder,
                           capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()
    before = {path.name for path in folder.iterdir()}
    done = scenes.weir(folder, ["simulate", "step.weir", "--policy", "./faulty.so"])
    text = done.stderr.decode()
    assert -done.returncode in signals, f"exit status {done.returncode}: {text}"
    assert "worked with policy ./faulty.so" in text, f"the policy is not named: {text}"
    left = {path.name for path in folder.iterdir()} - before
    assert not left, f"left behind: {sorted(left)}"
    check_store(folder)


def test_bad_pointer(folder):
    crash(folder, "*(volatile int *)(8 * (depth - 1)) = 1", {signal.SIGSEGV})


def test_endless_recursion(folder):
    crash(folder, "depth = dig(&depth)", {signal.SIGSEGV})


def test_abort(folder):
    crash(folder, "abort()", {signal.SIGABRT})


def test_no_crash(folder):
    """Where nothing crashes, nothing is said of it; and a fault of Weir's own is not a policy's."""
    done = scenes.weir(folder, ["simulate", "step.weir", "--quiet"])
    assert done.returncode == 0 and b"crashed" not in done.stderr, done.stderr


def test_watchdog(folder):
    (folder / "waiting.weir").write_text(WAITING)
    done = scenes.weir(folder, ["simulate", "waiting.weir", "--db", "w.db", "--quiet"])
    assert done.returncode == 0, done.stderr.decode()
    # What is measured before has one thread at a time, the replay two.
    env = {"LD_PRELOAD": str(SHIM), "WEIR_FAULT": "wake:2", "WEIR_FAULT_COUNT": "count"}
    done = scenes.weir(folder, ["replay", "sim", "--db", "w.db", "--repeats", "1"], env)
    if not (folder / "count").exists():
        return "the shim does not load: an instrumented build, or no glibc"
    text = done.stderr.decode()
    assert int((folder / "count").read_text()) > 0, f"no signal was lost: {text}"
    assert done.returncode == 5, f"exit status {done.returncode}: {text}"
    assert re.search(r"(first|second, which waits) had not begun after 12\.0\d* s", text), text
    assert scenes.n_runs(folder / "w.db") == 1, "the replay that failed is stored"
    return None


def tests():
    for test in (test_bad_pointer, test_endless_recursion, test_abort):
        if scenes.is_instrumented():
            yield f"{test.__name__[5:]} # SKIP an instrumented program has crashes of its own", None
        else:
            yield test.__name__[5:], test
    yield "no_crash", test_no_crash
    yield "watchdog", test_watchdog


def main():
    failed = number = 0
    for name, test in tests():
        number += 1
        if test is None:
            print(f"ok {number} - {name}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="weir-crash-") as top:
            folder = pathlib.Path(top)
            try:
                scenes.make_template(folder)
                skipped = test(folder)
                print(f"ok {number} - {name}{' # SKIP ' + skipped if skipped else ''}", flush=True)
            except AssertionError as fault:
                failed += 1
                print(f"not ok {number} - {name}")
                print("\n".join(f"# {line}" for line in str(fault).splitlines()[:20]), flush=True)
    print(f"1..{number}")
    return 1 if failed else 0


sys.exit(main())
