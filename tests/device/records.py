#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what WEIR_CUPTI_RECORDS kept of CUPTI's buffers, without CUPTI: how long the records of each
kind are in this version, and how many there are. Records of a kind have one length, which is found by
trying: with the right ones each buffer can be walked to its end.

usage: records.py FILE
"""

import collections
import struct
import sys

KINDS = {1: "memcpy", 2: "memset", 4: "call", 10: "kernel", 17: "overhead", 39: "external id"}
LONGEST = 512


def buffers(data):
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        if at + 8 + size > len(data):
            sys.exit("the file ends in the middle of a buffer")
        yield data[at + 8:at + 8 + size]
        at += 8 + size


def walks(buffer, lengths, at=0):
    """The lengths with which the buffer can be walked to its end, one for each kind: a search."""
    stack = [(at, dict(lengths))]
    while stack:
        at, known = stack.pop()
        while at < len(buffer):
            (kind,) = struct.unpack_from("<I", buffer, at)
            if kind not in KINDS:
                break
            if kind not in known:
                for length in range(LONGEST, 16, -8):
                    if at + length <= len(buffer):
                        stack.append((at + length, {**known, kind: length}))
                break
            at += known[kind]
        if at == len(buffer):
            return known
    return None


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    lengths, counts = {}, collections.Counter()
    for buffer in buffers(data):
        known = walks(buffer, lengths)
        if known is None:
            sys.exit("a buffer cannot be walked: a kind that is not known, or a record cut off")
        lengths, at = known, 0
        while at < len(buffer):
            (kind,) = struct.unpack_from("<I", buffer, at)
            counts[kind] += 1
            at += lengths[kind]
    for kind in sorted(counts):
        print(f"{KINDS[kind]}: {counts[kind]} records of {lengths[kind]} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
