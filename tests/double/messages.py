#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever sees a message of the GPU device finds it in weir-replay(1), WHEN IT GOES WRONG: every text
of the sources that can be part of one holds what one of the headings there says, and every heading
stands for such a text. Prints TAP.

usage: messages.py     environment: WEIR_SOURCE
"""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["WEIR_SOURCE"])
MANUAL = SOURCE / "doc" / "man" / "weir-replay.1"

# Texts that are no messages: how things are called, and pieces around what a message holds.
NO_MESSAGES = {
    "multiply-add kernel in a stream", "streaming read kernel in a stream",
    "read kernel in the second cache in a stream",
    "kernel of reads, multiply-adds and writes in a stream", "asynchronous copy in a stream",
    "place in memory", "place given back", "no operation: its time is that of what it waits for",
    "does not run; its edges pass on", "CUPTI on CLOCK_MONOTONIC", "a kernel that keeps time",
    "the . of .", ". at ., driver for CUDA ...", "CUPTI is not there",
    ". multiprocessors; times of ..; memory pools: .; a gate of .",
    "; the driver's compiler says: ", "device cuda: .", ". (.): .", "error . of the driver",
    "an unknown result", ".; the driver says .", ", at . C", "device cuda: .; the driver says .",
    # What follows "CUPTI is too old: it", "NVML does not start" and "CUPTI refuses".
    "does not tell its version", "the driver is not loaded", "this user may not talk to the driver",
    "it and the driver in the kernel are not of one version", "it does not say more",
    "records of kernels", "records of copies", "records of memory that is set",
    "records of the driver's calls", "records of what itself costs", "records of ids",
    "to be subscribed to",
    # What follows "this driver has no memory pools".
    "--storage pool asks for", "buffers need that fit no arena: use a smaller --scale-bytes",
    # In front of what cannot be trusted, which has headings of its own.
    "the device's times of . runs in a row could not be trusted; of the last: .",
    "its records of . runs in a row could not be trusted; of the last: .",
    # What failed, where it is no call.
    "a first kernel or copy"}

LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
DIRECTIVE = re.compile(r"%[-+#0]*[\d*]*(?:\.[\d*]+)?(?:ll|l|z)?[a-zA-Z]")


def texts(path):
    """Those of three words and more; a dot stands for each value."""
    source = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    source = re.sub(r"_Static_assert\(.*?\);", "", source, flags=re.S)
    source = re.sub(r"\bPRI[a-zA-Z]+\d+\b", '"d"', re.sub(r"^#.*$", "", source, flags=re.M))
    for found in LITERALS.finditer(source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(0))).replace("\\n", "\n")
        if len(text.split()) >= 3:
            yield DIRECTIVE.sub(".", text)


def headings():
    """The headings as they stand, and what finds them in a message."""
    section = re.search(r"^\.Ss When it goes wrong$(.*?)^\.Ss ", MANUAL.read_text(), re.S | re.M)
    found = re.findall(r"^\.It (.*)$", section.group(1), re.M)
    return {one: re.compile(".*".join(map(re.escape, one.split("...")))) for one in found}


def heading_of(message):
    """None when nothing in the manual stands for it."""
    return next((one for one, pattern in headings().items() if pattern.search(message)), None)


def main():
    messages = {text: path.name
                for path in [*sorted((SOURCE / "replay").glob("cuda*.c")), SOURCE / "cmd" / "supervise.c"]
                for text in texts(path) if text not in NO_MESSAGES}
    everything = [text for path in [*(SOURCE / "replay").glob("*.c"), SOURCE / "cmd" / "supervise.c"]
                  for text in texts(path)]
    lost = [f"{name}: {text}" for text, name in messages.items() if heading_of(text) is None]
    idle = [one for one, pattern in headings().items()
            if not any(pattern.search(text) for text in everything)]
    stale = NO_MESSAGES - set(everything)
    checks = [("every message has a heading in weir-replay(1)", lost),
              ("every heading there is of a message", idle),
              ("what is called no message is in the sources", sorted(stale)),
              ("there are messages", [] if len(messages) > 50 else [str(len(messages))])]
    print(f"1..{len(checks)}")
    for number, (what, wrong) in enumerate(checks, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {what}")
        for one in wrong:
            print("# " + one.replace("\n", " "))
    return any(wrong for _, wrong in checks)


if __name__ == "__main__":
    sys.exit(main())
