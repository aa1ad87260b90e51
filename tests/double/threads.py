#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs weir on the double of a GPU that has threads and takes real time: what races there do is for
ThreadSanitizer to see, in a build with --enable-sanitizers=thread. Prints TAP.

usage: threads.py [NAME]...    only the tests whose names hold one of the words
environment: as of run.py
"""

import json
import os
import sys

sys.dont_write_bytecode = True  # leaves nothing in the source tree

from run import DOUBLE, check, main

REAL = DOUBLE / "real"
# Copies leave little more than their tags, and memory is small: to watch all bytes takes long.
SHORT = "eager=100,moved_bytes=4096,memory_bytes=100000000"


def weir(rig, *words, double="", expect=0):
    done = rig.weir(*words, double=f"{SHORT},{double}".rstrip(","), libraries=REAL)
    check("ThreadSanitizer" not in done.stderr, done.stderr)
    check(done.returncode == expect, f"{words} on '{double}' ended with {done.returncode}: "
          f"{done.stderr}{done.stdout}")
    return done


def replay(rig, *words, double="", expect=0):
    done = weir(rig, "replay", "sim", "--device", "cuda", "--json", *words, double=double,
                expect=expect)
    if expect != 0:
        return done.stderr
    weir(rig, "verify", "replay")
    return json.loads(done.stdout)


def was_opened_early(answer):
    return any("the gate was opened before" in one["what"] for one in answer["deviations"])


def says_that_it_has_threads(rig):
    done = weir(rig, "devices")
    check("Weir's test double with threads, no GPU" in done.stdout, done.stdout)


def replays_again_and_again(rig):
    """What waits for no call takes what was planned, whatever else the machine does."""
    rig.simulate()
    for double in ("wait_value=0", "fault.scattered=1"):
        answer = replay(rig, "--scale-bytes", "0.05", "--repeats", "4", "--warm-up", "2",
                        double=double)
        check(len(answer["makespans_ns"]) == 4, answer["makespans_ns"])
        if not was_opened_early(answer):
            rig.equals_plan(f"'{double}'")


def replays_in_every_mode(rig):
    # The start of what is handed over late is marked before it: nothing here follows a start.
    plan = rig.folder / "plan.weir"
    plan.write_text(plan.read_text().replace("from=start lag=300us", "lag=0"))
    rig.simulate()
    for mode in ("stream", "paced", "serial"):
        answer = replay(rig, "--scale-bytes", "0.05", "--mode", mode, "--repeats", "1",
                        "--warm-up", "1")
        check(answer["makespan_ns"] >= rig.spans("sim")[-1][2], f"{mode}: {answer['makespan_ns']}")


def replays_in_every_storage(rig):
    rig.simulate()
    for storage, double in (("arena", ""), ("pool", ""), ("pool", "fault.pool_busy=3")):
        replay(rig, "--scale-bytes", "0.05", "--storage", storage, "--repeats", "1", "--warm-up",
               "1", double=double)


def replays_by_events(rig):
    rig.simulate()
    replay(rig, "--scale-bytes", "0.05", "--repeats", "1", "--warm-up", "1",
           double="fault.subscribe=39")
    check(all(row[3] == "event" for row in rig.spans("replay")), "times are not of events")


def replays_a_random_plan(rig):
    rig.weir("generate", "random", "--nodes", "40", "--seed", "0", "-o", "r.weir", "--quiet",
             has_driver=False)
    rig.simulate("r.weir")
    replay(rig, "--scale-bytes", "0.001", "--repeats", "1", "--warm-up", "0")


def replays_on_the_host(rig):
    """The host's own threads, from what is measured first to the end of the last repeat."""
    rig.simulate()
    done = rig.weir("replay", "sim", "--device", "host", "--scale-bytes", "0.001", "--repeats", "2",
                    "--warm-up", "1", has_driver=False)
    check(done.returncode == 0 and "ThreadSanitizer" not in done.stderr, done.stderr)
    done = rig.weir("verify", "replay", has_driver=False)
    check(done.returncode == 0, done.stdout)


def opens_the_gate_of_a_stream_that_is_full(rig):
    graph = ["weir 1", "graph long", "engine sm"]
    graph += [f"node k{i} compute engine=sm duration=20us" for i in range(600)]
    (rig.folder / "long.weir").write_text("\n".join(graph) + "\n")
    rig.simulate("long.weir")
    for depth in (1024, 300):
        answer = replay(rig, "--repeats", "1", "--warm-up", "0", double=f"depth={depth}")
        check(was_opened_early(answer), f"{depth}: {answer['deviations']}")


def goes_wrong_in_order(rig):
    (rig.folder / "small.weir").write_text("""weir 1
graph small
engine a
engine b
node k1 compute engine=a duration=500us
node k2 compute engine=b duration=300us
node k3 compute engine=a duration=200us
edge k2 k3 ordering
""")
    rig.simulate("small.weir")
    one = ("--repeats", "1", "--warm-up", "0")
    replay(rig, *one, double="fault.dropped=400")
    answer = replay(rig, *one, double="fault.dropped=-1")
    check(any("could not be trusted" in one["what"] for one in answer["deviations"]), answer)
    for fault, phrase in (("launch=200", "LAUNCH_FAILED"), ("lost=30", "700")):
        message = replay(rig, *one, double=f"fault.{fault}", expect=5)
        check(phrase in message, f"{fault}: {message}")


def calibrates(rig):
    weir(rig, "calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "3", "--quiet",
         "--no-contention", double="memory_bytes=4000000000")
    check("with threads, no GPU" in (rig.folder / "m.weir").read_text(), "the machine does not say")


TESTS = [
    says_that_it_has_threads,
    replays_again_and_again,
    replays_in_every_mode,
    replays_in_every_storage,
    replays_by_events,
    replays_a_random_plan,
    replays_on_the_host,
    opens_the_gate_of_a_stream_that_is_full,
    goes_wrong_in_order,
    calibrates,
]

# They wait in real time; where the sanitizer of threads watches all of them are tried.
LONG = (replays_in_every_mode, replays_in_every_storage, replays_by_events, replays_a_random_plan,
        replays_on_the_host, calibrates)
if os.environ.get("WEIR_BRIEF") == "threads":
    LONG = ()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], TESTS, LONG))
