#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the GPU is, as the double's NVML tells it, and why one cannot be had: what weir says of it, and
what it makes of runs in which the GPU slowed itself down. Prints TAP.

usage: state.py [NAME]...    only the tests whose names hold one of the words
environment: as for run.py
"""

import json
import os
import sqlite3
import sys

sys.dont_write_bytecode = True    # leaves nothing in the source tree

from messages import heading_of    # noqa: E402
from run import DOUBLE, check, main    # noqa: E402

SMALL = ("--scale-bytes", "0.05")

# Of the double's NVML, by what an answer calls each.
FIGURES = {"driver_version": ("driver", "580.0.double"), "sm_clock_mhz": ("sm", 345),
           "greatest_sm_clock_mhz": ("most_sm", 2000), "memory_clock_mhz": ("memory", 1593),
           "greatest_memory_clock_mhz": ("most_memory", 3201), "temperature_c": ("temperature", 41),
           "power_w": ("power", 75.5), "power_limit_w": ("power_limit", 700),
           "pcie_generation": ("generation", 5), "greatest_pcie_generation": ("most_generation", 5),
           "pcie_lanes": ("lanes", 16), "greatest_pcie_lanes": ("most_lanes", 16),
           "clocks_held_by": ("held", ["idle"]), "is_mig": ("mig", False)}
ALL = {name: value for name, (_, value) in FIGURES.items()}
OF_DRIVER = {"compute_mode": "default"}

POWER_CAP, HARDWARE, HEAT, HARDWARE_HEAT, POWER_BRAKE = 0x4, 0x8, 0x20, 0x40, 0x80
SLOWDOWNS = {HARDWARE: "hardware slowdown", HEAT: "software thermal slowdown",
             HARDWARE_HEAT: "hardware thermal slowdown", POWER_BRAKE: "power brake"}


def state(rig, double="", **how):
    done = rig.weir("devices", "--json", double=double, **how)
    cuda = json.loads(done.stdout)["devices"][1]
    check(cuda["available"], f"'{double}': {done.stdout}")
    return cuda["state"]


def without_nvml(rig):
    """The double's driver and CUPTI, and no NVML where the linker looks first."""
    folder = rig.folder / "bare"
    folder.mkdir()
    for name in ("libcuda.so.1", "libcupti.so.13"):
        (folder / name).symlink_to(DOUBLE / name)
    return {"libraries": folder, "is_alone": True}


# ---- what is told ----

def tells_how_the_gpu_is(rig):
    check(state(rig) == {**ALL, **OF_DRIVER}, state(rig))
    done = rig.weir("devices")
    check("driver 580.0.double, SM clock 345 of 2000 MHz, memory clock 1593 of 3201 MHz, clocks held by: "
          "idle, 41 C, power 76 of 700 W, PCIe 5 x16, MIG off, compute mode default" in done.stdout,
          done.stdout)


def leaves_out_what_is_refused(rig):
    for name, (word, _) in FIGURES.items():
        told = state(rig, f"nvml.refuse={word}")
        left = {key: value for key, value in ALL.items() if key != name}
        check(told == {**left, **OF_DRIVER}, f"without {word}: {told}")
    check(state(rig, "nvml.refuse=all") == OF_DRIVER, "something is known of what is refused")
    rig.simulate()
    answer = rig.replay(*SMALL, double="nvml.refuse=all")
    rig.equals_plan("all refused")
    check(answer["device_state"] == {**OF_DRIVER, "sm_clock_mhz": 2000, "sm_clock_before_mhz": 2000},
          answer["device_state"])
    check(answer["deviations"] == [], answer["deviations"])


def works_without_nvml(rig):
    rig.simulate()
    causes = {"nvml.init=9": "driver is not loaded", "nvml.init=4": "may not talk",
              "nvml.init=18": "not of one version", "nvml.init=999": "does not say more"}
    for double, phrase in causes.items():
        told = state(rig, double)
        note = told["notes"][0]
        check(list(told) == ["compute_mode", "notes"], told)
        check("(" + double.split("=")[1] + ")" in note and phrase in note, note)
        check(heading_of(note) is not None, f"not in the manual: {note}")
        rig.replay(*SMALL, double=double)
        rig.equals_plan(double)
    bare = without_nvml(rig)
    note = state(rig, **bare)["notes"][0]
    check(heading_of(note) is not None, f"not in the manual: {note}")
    rig.replay(*SMALL, **bare)
    rig.equals_plan("no NVML")


def knows_the_names_of_older_drivers(rig):
    check(state(rig, libraries=DOUBLE / "old") == {**ALL, **OF_DRIVER}, "old names")
    rig.simulate()
    message = rig.replay(*SMALL, double=f"nvml.held={HEAT}", libraries=DOUBLE / "old", expect=5)
    check("software thermal slowdown" in message, message)


def tells_of_a_bad_link(rig):
    for double, phrase in (("nvml.lanes=8", "8 of 16 lanes"), ("nvml.generation=1", "generation 1 of 5")):
        notes = state(rig, double)["notes"]
        check(len(notes) == 1 and phrase in notes[0], notes)
        check(phrase in rig.weir("devices", double=double).stdout, double)
    for double in ("nvml.lanes=8,nvml.refuse=most_lanes", "nvml.lanes=8,nvml.most_lanes=8"):
        check("notes" not in state(rig, double), double)


def tells_of_a_link_after_a_replay(rig):
    rig.simulate()
    done = rig.weir("replay", "sim", "--device", "cuda", "--repeats", "1", "--warm-up", "0", *SMALL,
                    double="nvml.lanes=8")
    check(done.returncode == 0 and "8 of 16 lanes" in done.stdout
          and "SM clock 2000 of 2000 MHz, 2000 MHz before the run" in done.stdout, done.stdout)


def tells_of_a_part(rig):
    check(state(rig, "nvml.mig=1")["is_mig"], "MIG is on")
    told = state(rig, "mig=1,nvml.refuse=all")
    check(told["is_mig"] and "divided" in told["notes"][0], told)
    rig.simulate()
    answer = rig.replay(*SMALL, double="mig=1,memory_bytes=12000000000")
    rig.equals_plan("a part of a GPU")
    said = [deviation["what"] for deviation in answer["deviations"]]
    check(any("part of a GPU (MIG), with 1 multiprocessors and 12.0 GB" in what for what in said), said)


# ---- what is made of it ----

def doubts_a_gpu_that_slows_down(rig):
    rig.simulate()
    for bit, name in SLOWDOWNS.items():
        message = rig.replay(*SMALL, double=f"nvml.held={bit | POWER_CAP}", expect=5)
        check("3 runs in a row could not be trusted" in message and name in message
              and "at 41 C" in message and "power cap" not in message, message)
        check(heading_of(message.split("of the last:")[1]) is not None, message)
    message = rig.replay(*SMALL, double="nvml.held_ns.heat=1000", expect=5)
    check("software thermal slowdown" in message, message)
    message = rig.replay(*SMALL, double=f"nvml.held={HEAT},nvml.refuse=temperature", expect=5)
    check("(software thermal slowdown)" in message, message)


def tries_again_when_it_slowed_down_once(rig):
    """At one look of all there are, whichever that is: in a run, that run alone counts for nothing."""
    rig.simulate()
    plain = rig.replay(*SMALL, double="nvml.looks=looks")["makespan_ns"]
    n_plain = int((rig.folder / "looks").read_text())
    n_again = 0
    looks = range(1, n_plain + 1, max(1, n_plain // (12 if os.environ.get("WEIR_BRIEF") else 60)))
    for at in looks:
        answer = rig.replay(*SMALL, double=f"nvml.held={POWER_BRAKE},nvml.held_at={at},nvml.looks=looks")
        rig.equals_plan(f"slowed down at look {at}")
        check(answer["makespan_ns"] == plain, f"look {at}: {answer['makespan_ns']}")
        n_again += int((rig.folder / "looks").read_text()) > n_plain
    check(0 < n_again < len(looks), f"{n_again} of {len(looks)} looks made a run be tried again")


def tells_of_a_power_cap(rig):
    rig.simulate()
    for double in (f"nvml.held={POWER_CAP}", "nvml.held_ns.power=1000"):
        answer = rig.replay(*SMALL, double=double)
        rig.equals_plan(double)
        said = [deviation["what"] for deviation in answer["deviations"]]
        check(len(said) == 1 and "software power cap" in said[0], said)
        check(heading_of(said[0]) is not None, f"not in the manual: {said[0]}")
    stored = sqlite3.connect(rig.folder / "weir.db").execute(
        "SELECT count(*) FROM deviation WHERE what LIKE '%software power cap%'").fetchone()[0]
    check(stored == 2, f"{stored} of 2 are in the store")


def keeps_how_the_gpu_was(rig):
    rig.simulate()
    rig.replay(*SMALL, "--repeats", "3")
    settings = sqlite3.connect(rig.folder / "weir.db").execute(
        "SELECT settings FROM run WHERE kind = 'replay'").fetchone()[0]
    # The clock is what the device counts, and not what NVML says.
    was = {**ALL, **OF_DRIVER, "sm_clock_mhz": 2000, "sm_clock_before_mhz": 2000}
    check(json.loads(settings)["device_state"] == was, settings)
    done = rig.weir("calibrate", "--device", "cuda", "-o", "m.weir", "--repeats", "3", "--quiet",
                    "--no-contention")
    check(done.returncode == 0, done.stderr)
    engine = next(line for line in (rig.folder / "m.weir").read_text().splitlines()
                  if line.startswith("engine sm "))
    for word in ("; before: driver 580.0.double, SM clock 2000 of 2000 MHz",
                 "; after: driver 580.0.double, SM clock 2000 of 2000 MHz"):
        check(word in engine, engine)


# ---- why a GPU cannot be had ----

# When the driver starts, by what it answers.
STARTS = {2: "memory ran out", 34: "stub", 46: "does not start", 100: "sees no GPU",
          101: "that was asked for is not there", 102: "no licence", 214: "cannot be corrected",
          304: "/dev/nvidia*", 802: "nvidia-fabricmanager", 803: "not of one version",
          804: "compatibility package", 805: "daemon does not answer", 807: "not ready",
          808: "no room for one more", 999: "/dev/nvidia-uvm"}
# When the context is asked for, by answer and compute mode.
OPENS = {(46, 0): "may have it for itself", (46, 1): "lets one process use it",
         (46, 3): "lets one process use it", (101, 3): "lets one process use it",
         (101, 0): "that was asked for is not there", (2, 0): "nvidia-smi lists who else",
         (214, 0): "cannot be corrected", (805, 0): "daemon does not answer"}


def tells_why_the_driver_does_not_start(rig):
    rig.simulate()
    for answer, phrase in STARTS.items():
        done = rig.weir("devices", double=f"init={answer}")
        check("not available" in done.stdout and phrase in done.stdout, f"{answer}: {done.stdout}")
        message = rig.replay(double=f"init={answer}", expect=5)
        check(phrase in message and f"({answer})" in message, f"{answer}: {message}")
        check(heading_of(message) is not None, f"not in the manual: {message}")


def tells_why_a_gpu_cannot_be_opened(rig):
    rig.simulate()
    said = set()
    for (answer, mode), phrase in OPENS.items():
        message = rig.replay(double=f"open={answer},compute_mode={mode}", expect=5)
        check(phrase in message and f"({answer})" in message, f"{answer}, mode {mode}: {message}")
        check(heading_of(message) is not None, f"not in the manual: {message}")
        said.add(phrase)
    check(len(said) == 6, said)


def has_no_gpu_that_is_prohibited(rig):
    rig.simulate()
    done = rig.weir("devices", "--json", double="compute_mode=2")
    cuda = json.loads(done.stdout)["devices"][1]
    check(not cuda["available"] and "prohibited" in cuda["why_not"], done.stdout)
    message = rig.replay(double="compute_mode=2", expect=5)
    check("compute mode is prohibited" in message and heading_of(message) is not None, message)
    check(state(rig, "compute_mode=3")["compute_mode"] == "exclusive process", "mode 3")


TESTS = [tells_how_the_gpu_is, leaves_out_what_is_refused, works_without_nvml,
         knows_the_names_of_older_drivers, tells_of_a_bad_link,
         tells_of_a_link_after_a_replay, tells_of_a_part,
         doubts_a_gpu_that_slows_down, tries_again_when_it_slowed_down_once, tells_of_a_power_cap,
         keeps_how_the_gpu_was, tells_why_the_driver_does_not_start,
         tells_why_a_gpu_cannot_be_opened, has_no_gpu_that_is_prohibited]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], TESTS))
