#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives every verb that reads or writes a file what is no such file: each must end with the exit
status of its kind, and say where, what was found, what was expected and how to mend it. Prints TAP, a
point for each row of the table below.

usage: bad_input.py [--show] [PART OF A NAME]...   --show prints every message
environment: WEIR, WEIR_SOURCE
"""

import os
import pathlib
import random
import resource
import shutil
import sqlite3
import stat
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import scenes

NOBODY = 65534
MEGABYTE = 1 << 20
IS_INSTRUMENTED = scenes.is_instrumented()


class Row:
    """A command in a folder that holds the template and what `prepare` puts there."""

    def __init__(self, name, words, status, parts, prepare=None, **how):
        self.name = name
        self.words = words
        self.status = status
        self.parts = parts  # of the message
        self.prepare = prepare
        self.how = how  # is_nobody: run as somebody without rights; limit: size of a file


# ---- what is no graph ----

def node(text):
    return ("weir 1\nengine e\nobject o size=1\n" + text + "\n").encode()


def bad_graphs():
    """(name, bytes, parts of the message): what a file holds instead of a graph."""
    noise = random.Random(1)
    good = scenes.GRAPH.encode()
    yield "empty", b"", ["empty", "weir 1"]
    yield "blank", b"\n\n   \n", ["weir 1"]
    yield "comment", b"# nothing\n", ["weir 1"]
    yield "zeros", bytes(4096), []
    yield "noise", bytes(noise.randrange(256) for _ in range(20000)), []
    yield "program", pathlib.Path(scenes.WEIR).read_bytes()[:65536], []
    yield "gzip", b"\x1f\x8b\x08" + bytes(noise.randrange(256) for _ in range(500)), []
    yield "utf-16", "weir 1\n".encode("utf-16"), []
    yield "other version", b"weir 2\n", ["weir 1"]
    yield "no version", good[7:], ["weir 1"]
    yield "cut in a word", good[:len(good) // 2].rsplit(b" ", 1)[0] + b" si", [":"]
    yield "cut in quotes", node('node "a compute'), ["quote"]
    yield "long line", b"weir 1\nnode " + b"a" * 10 * MEGABYTE + b" compute duration=x\n", []
    yield "long word", b"weir 1\nengine e\nnode a compute engine=e duration=" + b"9" * 10 * MEGABYTE, \
        ["duration"]
    yield "many faults", b"weir 1\n" + b"nonsense here\n" * 100000, ["nonsense", "errors in all"]
    yield "2^63 ns", node("node a compute engine=e duration=9223372036854775808"), ["duration"]
    yield "10^30 ns", node("node a compute engine=e duration=1000000000000000000000000000000"), [
        "duration"]
    yield "2^63 bytes", node("object b size=9223372036854775808"), ["size"]
    yield "2^63 by unit", node("object b size=9000000000000000TiB"), ["size"]
    yield "2^64 slots", node("engine f slots=18446744073709551617"), ["slots"]
    yield "negative time", node("node a compute engine=e duration=-1"), ["duration"]
    yield "negative size", node("object b size=-5"), ["size"]
    yield "fraction of a ns", node("node a compute engine=e duration=0.5"), ["duration"]
    yield "fraction of a byte", node("object b size=1.5"), ["size"]
    yield "nan time", node("node a compute engine=e duration=nan"), ["duration"]
    yield "nan in normal", node("node a compute engine=e duration=normal(nan,1)"), ["duration"]
    yield "infinite time", node("node a compute engine=e duration=inf"), ["duration"]
    yield "nan factor", node("kappa e e nan"), ["nan"]
    yield "infinite factor", node("kappa e e 1e999"), ["1e999"]
    yield "nan confidence", node("node a compute engine=e duration=1 confidence=nan"), ["confidence"]
    yield "confidence above 1", node("node a compute engine=e duration=1 confidence=1.5"), [
        "confidence"]
    yield "hexadecimal", node("object b size=0x10"), ["size"]
    yield "unknown unit", node("object b size=5QB"), ["size"]
    yield "control in a name", node("node a\x01b compute engine=e duration=x"), ["\\x01"]
    yield "escape in a name", node("node \x1b[2J compute engine=e duration=1"), ["\\x1b"]
    yield "escape in quotes", node('node "\x1b[2J" compute engine=f duration=1'), ["f"]
    yield "terminal in an unknown name", node('node a compute engine="\\x1b[2J" duration=1'), [
        "engine"]
    yield "newline in a name", node('node "a\nb" compute engine=e duration=1'), []
    yield "not utf-8", b"weir 1\nengine e\nnode \xff\xfe compute engine=e duration=1\n", []
    yield "overlong utf-8", b"weir 1\nengine e\nnode \xc0\xaf compute engine=e duration=1\n", []
    yield "surrogate", b"weir 1\nengine e\nnode \xed\xa0\x80 compute engine=e duration=1\n", []
    yield "zero in a name", b"weir 1\nengine e\nnode a\0b compute engine=e duration=1\n", []
    yield "quote in a word", node('node a"b compute engine=e duration=1'), []
    yield "name twice", node("node a compute engine=e duration=1\n"
                             "node a compute engine=e duration=1"), ["a"]
    yield "unknown engine", node("node a compute engine=nope duration=1"), ["nope"]
    yield "unknown object", node("node a compute engine=e duration=1 reads=nope"), ["nope"]
    yield "no cost", node("node a compute engine=e"), ["a"]


def put(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def graph_rows():
    for name, data, parts in bad_graphs():
        yield Row(f"check: {name}", ["check", "bad.weir"], 3, ["bad.weir"] + parts,
                  put("bad.weir", data))
        yield Row(f"simulate: {name}", ["simulate", "bad.weir"], 3, ["bad.weir"] + parts,
                  put("bad.weir", data))
        yield Row(f"sensitivity: {name}", ["sensitivity", "bad.weir"], 3, ["bad.weir"] + parts,
                  put("bad.weir", data))
    for name in ("empty", "zeros", "noise", "long line", "many faults", "nan factor", "2^63 bytes",
                 "not utf-8"):
        data, parts = {n: (d, p) for n, d, p in bad_graphs()}[name]
        yield Row(f"machine: {name}", ["simulate", "step.weir", "--machine", "./bad.weir"], 3,
                  ["bad.weir"] + parts, put("bad.weir", data))
        yield Row(f"check machine: {name}", ["check", "step.weir", "--machine", "./bad.weir"], 3,
                  ["bad.weir"] + parts, put("bad.weir", data))
        yield Row(f"generate machine: {name}",
                  ["generate", "transformer", "--machine", "./bad.weir", "-o", "out.weir"], 3,
                  ["bad.weir"] + parts, put("bad.weir", data))


# ---- what is no file ----

def make_fifo(data):
    def prepare(folder):
        os.mkfifo(folder / "bad")

        def feed():
            try:
                with open(folder / "bad", "wb") as fifo:
                    fifo.write(data)
            except OSError:
                pass  # it was not read to its end
        threading.Thread(target=feed, daemon=True).start()
    return prepare


def make_secret(name):
    def prepare(folder):
        (folder / name).write_bytes(b"weir 1\n")
        (folder / name).chmod(0)
    return prepare


def place_rows():
    readers = {
        "check": (["check", "bad"], 3),
        "simulate": (["simulate", "bad"], 3),
        "machine": (["simulate", "step.weir", "--machine", "./bad"], 3),
        "generate": (["generate", "transformer", "--machine", "./bad", "-o", "out.weir"], 3),
        "analyze": (["analyze", "bad"], 3),
        "arena": (["arena", "bad"], 3),
        "import": (["import", "nsys", "bad", "-o", "out.weir"], 3),
        "import auto": (["import", "auto", "bad", "-o", "out.weir"], 3),
        "import psplib": (["import", "psplib", "bad", "-o", "out.weir"], 3),
        "store": (["runs", "--db", "bad"], 6),
        "plug-in": (["simulate", "step.weir", "--policy", "./bad"], 3),
    }
    for name, (words, status) in readers.items():
        yield Row(f"{name}: missing", words, status, ["bad"])
        yield Row(f"{name}: folder", words, status, ["bad"], lambda folder: (folder / "bad").mkdir())
        yield Row(f"{name}: unreadable", words, status, ["bad", "ermission"], make_secret("bad"),
                  is_nobody=True)
        yield Row(f"{name}: in no folder", [w.replace("bad", "no/bad") for w in words], status,
                  ["no/bad"])
        yield Row(f"{name}: link to itself", words, status, ["bad"],
                  lambda folder: (folder / "bad").symlink_to("bad"))
        yield Row(f"{name}: long name", [w.replace("bad", "b" * 300) for w in words], status,
                  ["bbb"])
    for name in ("check", "simulate", "machine", "analyze", "arena", "import", "import psplib"):
        words, status = readers[name]
        yield Row(f"{name}: empty pipe", words, status, ["bad"], make_fifo(b""))
        yield Row(f"{name}: pipe of noise", words, status, ["bad"], make_fifo(b"\x01\x02" * 5000))
        yield Row(f"{name}: /dev/null", [w.replace("./bad", "bad").replace("bad", "/dev/null")
                                         for w in words], status, ["/dev/null"])
        yield Row(f"{name}: /dev/zero", [w.replace("./bad", "bad").replace("bad", "/dev/zero")
                                         for w in words], status, ["/dev/zero"])


# ---- buffers ----

def buffer_rows():
    noise = random.Random(3)
    head = b"id,lower,upper,size\n"
    for name, data, parts in (
            ("empty", b"", []),
            ("noise", bytes(noise.randrange(256) for _ in range(5000)), []),
            ("zeros", bytes(5000), []), ("other columns", b"a,b\n1,2\n", []),
            ("too few fields", head + b"x,0,3\n", [":2"]),
            ("too many fields", head + b"x,0,3,10,11,12\n", [":2"]),
            ("no number", head + b"x,0,three,10\n", [":2", "three"]),
            ("2^63", head + b"x,0,3,9223372036854775808\n", [":2"]),
            ("negative size", head + b"x,0,3,-10\n", [":2"]),
            ("nan", head + b"x,0,3,nan\n", [":2"]),
            ("ends before it begins", head + b"x,3,1,10\n", [":2"]),
            ("name twice", head + b"x,0,3,10\nx,0,3,10\n", [":3"]),
            ("quote left open", head + b'"x,0,3,10\n', [":2"]),
            ("control in a name", head + b"\x1b[2J,0,3,x\n", [":2"]),
            ("long line", head + b"x" * 10 * MEGABYTE + b",0,3,y\n", [":2"])):
        yield Row(f"arena: {name}", ["arena", "bad.csv"], 3, ["bad.csv"] + parts,
                  put("bad.csv", data))


# ---- scheduling problems ----

def problem_rows():
    """Each row of the table in tests/traces/test_psplib.c is tried there; here, what no table holds."""
    noise = random.Random(4)
    good = (scenes.SOURCE / "tests/fuzz/corpus/psplib/two-resources.sm").read_bytes()
    words = ["import", "psplib", "bad.sm", "-o", "out.weir"]
    for name, data, parts in (
            ("empty", b"", ["bad.sm:1:1", "PRECEDENCE RELATIONS"]),
            ("noise", bytes(noise.randrange(256) for _ in range(5000)), ["bad.sm:1"]),
            ("zeros", bytes(5000), ["bad.sm:1:1", "0x00"]),
            ("rules only", b"*" * 70 + b"\n" + b"-" * 70 + b"\n", ["PRECEDENCE RELATIONS"]),
            ("a graph", b"weir 1\ngraph g\n", ["bad.sm:1:1", "weir 1"]),
            ("half", good[:len(good) // 2], ["bad.sm:", "expected"]),
            ("without an end", good[:good.index(b"RESOURCEAV")], ["RESOURCEAVAILABILITIES"]),
            ("twice", good + good, ["the end of the file"]),
            ("long line", good[:150] + b"9" * 10 * MEGABYTE + b"\n" + good[150:], ["bad.sm:"]),
            ("many jobs", good.replace(b":  4", b":  999999999"), ["bad.sm:6:", "number of jobs"]),
            ("many successors", good.replace(b"2           2   3", b"4           " + b"2 " * MEGABYTE),
             ["bad.sm:19:", "a second time"])):
        yield Row(f"import psplib: {name}", words, 3, parts, put("bad.sm", data))
    yield Row("import psplib: a window", words + ["--window", "1s:2s"], 2, ["--window"],
              put("bad.sm", good))
    for unit in ("0", "-1us", "1.5", "1h", ""):
        yield Row(f"import psplib: unit '{unit}'", words + ["--unit", unit], 2, ["--unit"],
                  put("bad.sm", good))
    yield Row("import psplib: unit of ages", words + ["--unit", "9000000000s"], 3, ["--unit", "2^63"],
              put("bad.sm", good))
    yield Row("import: unit of a profile", ["import", "nsys", "profile.sqlite", "-o", "out.weir",
                                            "--unit", "1us"], 2, ["--unit", "nsys"])


# ---- profiles ----

def profile_rows():
    def changed(change):
        def prepare(folder):
            path = folder / "profile.sqlite"
            path.write_bytes(change(path.read_bytes()))
        return prepare

    def sql(script):
        def prepare(folder):
            base = sqlite3.connect(folder / "profile.sqlite")
            base.executescript(script)
            base.close()
        return prepare

    noise = random.Random(2)
    words = ["import", "nsys", "profile.sqlite", "-o", "out.weir"]
    for name, change in (("empty", lambda data: b""), ("noise", lambda data: bytes(
            noise.randrange(256) for _ in range(9000))), ("head only", lambda data: data[:100]),
                         ("half", lambda data: data[:len(data) // 2 // 512 * 512]),
                         ("zeroed middle", lambda data: data[:4096] + bytes(len(data) - 4096)),
                         ("text", lambda data: b"not a database\n" * 100),
                         ("gzip cut", lambda data: __import__("gzip").compress(data)[:900]),
                         ("gzip noise", lambda data: b"\x1f\x8b" + data),
                         ("zstd noise", lambda data: b"\x28\xb5\x2f\xfd" + data[:999]),
                         ("gzip of text", lambda data: __import__("gzip").compress(b"hello"))):
        yield Row(f"import: {name}", words, 3, ["profile.sqlite"], changed(change))
    for name, script in (
            ("another program", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; "
             "DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME"),
            ("empty tables", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; "
             "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY")):
        yield Row(f"import: {name}", words, 3, ["profile.sqlite"], sql(script))
    yield Row("import: another database", words, 3, ["profile.sqlite"], lambda folder: shutil.copy(
        folder / "weir.db", folder / "profile.sqlite"))


# ---- stores ----

def store_rows():
    def foreign(folder):
        base = sqlite3.connect(folder / "bad.db")
        base.executescript("CREATE TABLE t(x); INSERT INTO t VALUES(1)")
        base.close()

    def newer(folder):
        shutil.copy(folder / "weir.db", folder / "bad.db")
        base = sqlite3.connect(folder / "bad.db")
        base.execute("PRAGMA user_version = 900")
        base.close()

    def cut(folder):
        data = (folder / "weir.db").read_bytes()
        (folder / "bad.db").write_bytes(data[:len(data) // 3 // 8192 * 8192])

    def zeroed(folder):
        data = bytearray((folder / "weir.db").read_bytes())
        data[8192:] = bytes(len(data) - 8192)
        (folder / "bad.db").write_bytes(data)

    def read_only(folder):
        shutil.copy(folder / "weir.db", folder / "bad.db")
        (folder / "bad.db").chmod(0o444)
        folder.chmod(0o555)

    readers = {
        "runs": ["runs"], "analyze": ["analyze", "--run", "1"], "show": ["runs", "show", "1"], "compare": ["compare", "1", "2"],
        "explain": ["explain", "1"], "verify": ["verify", "1"],
        "plot": ["plot", "timeline", "1", "-o", "out.svg"],
        "csv": ["export", "csv", "spans", "1", "-o", "out.csv"],
        "chrome": ["export", "chrome", "1", "-o", "out.json"],
    }
    writers = {
        "replay": ["replay", "1", "--repeats", "1"], "delete": ["runs", "delete", "1"],
        "simulate": ["simulate", "step.weir"],
        "import": ["import", "nsys", "profile.sqlite", "-o", "/dev/null"],
    }
    kinds = {
        "foreign": (foreign, ["another program", "--db"]),
        "newer": (newer, ["900", "newer"]),
        "noise": (put("bad.db", b"noise" * 3000), ["not a store of Weir"]),
        "cut": (cut, ["damaged"]),
        "zeroed": (zeroed, ["damaged"]),
        "folder": (lambda folder: (folder / "bad.db").mkdir(), ["folder"]),
    }
    for verb, words in {**readers, **writers}.items():
        for kind, (prepare, parts) in kinds.items():
            yield Row(f"{verb}: {kind} store", words + ["--db", "bad.db"], 6, ["bad.db"] + parts,
                      prepare)
        yield Row(f"{verb}: no name of a store", words + ["--db", ""], 2, ["--db"])
    for verb, words in readers.items():
        yield Row(f"{verb}: empty store", words + ["--db", "bad.db"], 6, ["bad.db", "empty"],
                  put("bad.db", b""))
        if verb in ("runs", "show", "compare", "explain", "verify"):
            yield Row(f"{verb}: read-only store", words + ["--db", "bad.db"], 0, [], read_only,
                      is_nobody=True)
    for verb, words in writers.items():
        yield Row(f"{verb}: read-only store", words + ["--db", "bad.db"], 6, ["bad.db"], read_only,
                  is_nobody=True)
        yield Row(f"{verb}: store in no folder", words + ["--db", "no/bad.db"], 6, ["no/bad.db"])
    for verb in ("analyze", "show", "explain", "verify", "compare", "plot", "csv", "chrome", "replay", "delete"):
        words = [w.replace("1", "77") if w == "1" else w for w in {**readers, **writers}[verb]]
        yield Row(f"{verb}: no such run", words, 3, ["77", "weir runs"])


# ---- places to write to ----

def output_rows():
    writers = {
        "import": (["import", "nsys", "profile.sqlite"], "out.weir"),
        "generate": (["generate", "random", "--nodes", "5"], "out.weir"),
        "calibrate": (["calibrate", "--repeats", "3", "--no-contention"], "out.weir"),
        "arena": (["arena", "step.weir"], "out.csv"),
        "plot": (["plot", "timeline", "1"], "out.svg"),
        "csv": (["export", "csv", "spans", "1"], "out.csv"),
        "chrome": (["export", "chrome", "1"], "out.json"),
        "packed": (["export", "chrome", "1"], "out.json.gz"),
    }
    for verb, (words, name) in writers.items():
        yield Row(f"{verb}: -o in no folder", words + ["-o", f"no/{name}"], 6, [f"no/{name}"])
        yield Row(f"{verb}: -o onto a folder", words + ["-o", name], 6, [name, "directory"],
                  lambda folder, name=name: (folder / name).mkdir())
        yield Row(f"{verb}: -o in a file", words + ["-o", f"step.weir/{name}"], 6,
                  [f"step.weir/{name}"])
        yield Row(f"{verb}: -o where nobody may write", words + ["-o", f"shut/{name}"], 6,
                  [f"shut/{name}", "ermission"], lambda folder: (folder / "shut").mkdir(0o555),
                  is_nobody=True)
        yield Row(f"{verb}: -o a name too long", words + ["-o", "n" * 300 + name], 6, ["nnn"])
        yield Row(f"{verb}: -o of no length", words + ["-o", ""], 2, ["-o"])
        yield Row(f"{verb}: -o on a full disk", words + ["-o", name], 6,
                  [{"import": "weir.db", "plot": "figure"}.get(verb, name)], limit=10)
        yield Row(f"{verb}: -o a link to a full device", words + ["-o", name], 6, [name, "space"],
                  lambda folder, name=name: (folder / name).symlink_to("/dev/full"))
    yield Row("csv: a folder of tables in no folder", ["export", "csv", "1", "-o", "no/such/"], 6,
              ["no/such/"])
    yield Row("csv: a folder of tables onto a file", ["export", "csv", "1", "-o", "step.weir/"], 6,
              ["step.weir"])
    for size in (0, 1000, 9000, 40000):
        yield Row(f"simulate: a full disk after {size} bytes",
                  ["simulate", "step.weir", "--db", "new.db"], 6, ["new.db"], limit=size)
        yield Row(f"simulate: no room for a run after {size} bytes", ["simulate", "step.weir"], 6,
                  ["weir.db"], limit=size)


# ---- what-if ----

def what_if_rows():
    """Names and values that no node, factor or time can be; an option as typed is in the message."""
    for name, option, parts in (
            ("no name", "=2", ["expected"]), ("no value", "first", ["expected"]),
            ("nothing", "", ["expected"]), ("empty value", "first=", ["nothing"]),
            ("no such node", "firts=2", ["firts", "first"]),
            ("a part of a name", "fir=2", ["'first'"]),
            ("no such class", "class:dma=2", ["class", "dma", "'sm'"]),
            ("only a prefix", "node:=2", []), ("an object", "w=2", ["'w'"]),
            ("terminal in a name", "\x1b[2J=2", []), ("not utf-8", "\udcff\udcfe=2", []),
            ("a long name", "n" * 100000 + "=2", ["nnn"]),
            ("nan", "sm=nan", ["nan"]), ("inf", "sm=inf", ["inf"]), ("-1", "sm=-1", ["below 0"]),
            ("1e400", "sm=1e400", ["1e400"]), ("hexadecimal", "sm=0x10", ["0x10"]),
            ("a comma", "sm=0,5", ["0,5"]), ("a unit", "sm=2us", ["2us"]),
            ("too long", "sm=1e15", ["2^63"]), ("a quoted name too long", 'third, "quoted"=1e300',
                                                ["2^63"])):
        yield Row(f"simulate: --scale {name}", ["simulate", "step.weir", "--scale", option], 2,
                  ["--scale"] + parts)
    yield Row("simulate: --scale to more than all time", ["simulate", "step.weir", "--scale",
                                                          "sm=2e14"], 3, ["out-of-range"])
    yield Row("simulate: --scale too often", ["simulate", "step.weir"] + ["--scale", "sm=1"] * 65, 2,
              ["--scale", "64"])
    for name, option, parts in (
            ("no name", "=2us", ["expected"]), ("no value", "first", ["expected"]),
            ("no such node", "firts=2us", ["firts", "first"]), ("a class", "sm=2us", ["sm"]),
            ("-1", "first=-1", ["-1"]), ("nan", "first=nan", ["nan"]),
            ("inf", "first=inf", ["inf"]), ("a fraction of a nanosecond", "first=0.5", ["0.5"]),
            ("1e400", "first=1e400", ["1e400"]), ("a size", "first=2GB", ["2GB"]),
            ("2^63", "first=9223372036854775808", ["9223372036854775808"])):
        yield Row(f"simulate: --delay {name}", ["simulate", "step.weir", "--delay", option], 2,
                  ["--delay"] + parts)
    longest = "first=9223372036854775807"
    yield Row("simulate: --delay past all time", ["simulate", "step.weir", "--delay", longest,
                                                  "--delay", "first=1"], 2, ["--delay", "2^63"])
    yield Row("simulate: --delay to the end of time", ["simulate", "step.weir", "--delay", longest],
              3, ["out-of-range"])
    for name, words, status, parts in (
            ("--scale no such node", ["--scale", "firts=2"], 2, ["--scale", "first"]),
            ("--scale nan", ["--scale", "sm=nan"], 2, ["nan"]),
            ("--delay 1e400", ["--delay", "first=1e400"], 2, ["1e400"]),
            ("--top -1", ["--top", "-1"], 2, ["--top"]), ("--top nan", ["--top", "nan"], 2, ["nan"]),
            ("--top 2^32", ["--top", "4294967296"], 2, ["--top"]),
            ("--limit -1", ["--limit", "-1"], 2, ["--limit"]),
            ("--threads 0", ["--threads", "0"], 2, ["--threads"]),
            ("--threads too many", ["--threads", "100000"], 2, ["--threads", "256"]),
            ("a value of --fixed", ["--fixed=yes"], 2, ["--fixed"]),
            ("two graphs", ["step.weir"], 2, ["operand"]),
            ("a run of ages", ["--delay", "first=4e9s"], 2, ["4e9s"]),
            ("a run longer than told of", ["--delay", "first=4000000000s"], 3, ["2^61"]),
            ("no such policy", ["--policy", "nope"], 2, ["nope"]),
            ("no store", ["--db", "step.weir"], 6, ["step.weir"])):
        yield Row(f"sensitivity: {name}", ["sensitivity", "step.weir"] + words, status, parts)


def tails_rows():
    for name, words, status, parts in (
            ("--samples 0", ["--samples", "0"], 2, ["--samples", "1 to"]),
            ("--samples -1", ["--samples", "-1"], 2, ["--samples"]),
            ("--samples nan", ["--samples", "nan"], 2, ["--samples"]),
            ("--samples 2^32", ["--samples", "4294967296"], 2, ["--samples"]),
            ("--threads 0", ["--samples", "2", "--threads", "0"], 2, ["--threads", "256"]),
            ("--threads alone", ["--threads", "2"], 2, ["--threads", "--samples"]),
            ("--fixed-order alone", ["--fixed-order"], 2, ["--fixed-order", "--samples"]),
            ("a family that is none", ["--contention", "cake"], 2, ["cake", "share or measured"]),
            ("contention that nobody measured", ["--contention", "measured"], 3,
             ["weir calibrate"]),
            ("--fixed-order with contention",
             ["--samples", "2", "--fixed-order", "--contention", "pairwise"], 2, ["pairwise"]),
            ("--quantile alone", ["--quantile", "p99"], 2, ["--quantile", "--samples"]),
            ("--quantile p98", ["--samples", "2", "--quantile", "p98"], 2, ["p98", "p99"]),
            ("--quantile that a terminal acts on",
             ["--samples", "2", "--quantile", "\x1b[31m"], 2, ["--quantile"]),
            ("--sample -1", ["--sample", "-1"], 2, ["--sample"]),
            ("--sample and --samples", ["--sample", "1", "--samples", "2"], 2, ["--samples"]),
            ("--sample and --perturb", ["--sample", "1", "--perturb", "1ns"], 2, ["--perturb"]),
            ("--perturb 0", ["--perturb", "0"], 2, ["--perturb"]),
            ("--perturb -1ns", ["--perturb", "-1ns"], 2, ["--perturb"]),
            ("--perturb a size", ["--perturb", "2GB"], 2, ["--perturb", "2GB"]),
            ("--perturb past all time", ["--perturb", "9223372036854775807"], 3, ["2^63"]),
            ("--tries alone", ["--tries", "3"], 2, ["--tries", "--perturb"]),
            ("--tries 0", ["--perturb", "1ns", "--tries", "0"], 2, ["--tries"])):
        yield Row(f"simulate: {name}", ["simulate", "step.weir"] + words, status, parts)
    yield Row("compare: --quantile nonsense", ["compare", "1", "2", "--quantile", "p98"], 2,
              ["--quantile", "p98"])


def explain_rows():
    for name, words, status, parts in (
            ("no run", [], 2, ["operand"]),
            ("no such node", ["1", "nobody"], 3, ["nobody", "weir export"]),
            ("a name that a terminal acts on", ["1", "\x1b[31m"], 3, ["\\x1b"]),
            ("--overlaps no such node", ["1", "--overlaps", "nobody"], 3, ["nobody"]),
            ("--overlaps and a node", ["1", "first", "--overlaps", "first"], 2, ["--overlaps"]),
            ("--wait-bound without a unit", ["1", "--wait-bound", "1x"], 2, ["--wait-bound", "1x"]),
            ("--wait-bound -1ms", ["1", "--wait-bound", "-1ms"], 2, ["--wait-bound"]),
            ("--wait-bound of ages", ["1", "--wait-bound", "1e99s"], 2, ["--wait-bound"]),
            ("--rows -1", ["1", "--rows", "-1"], 2, ["--rows"]),
            ("--rows 2^32", ["1", "--rows", "4294967296"], 2, ["--rows"]),
            ("a run that is none", ["yesterday"], 3, ["yesterday", "latest"])):
        yield Row(f"explain: {name}", ["explain"] + words, status, parts)
    yield Row("simulate: --wait-bound nonsense", ["simulate", "step.weir", "--wait-bound", "soon"], 2,
              ["--wait-bound", "soon"])


def rows():
    yield from graph_rows()
    yield from what_if_rows()
    yield from tails_rows()
    yield from explain_rows()
    yield from place_rows()
    yield from buffer_rows()
    yield from problem_rows()
    yield from profile_rows()
    yield from store_rows()
    yield from output_rows()


# ---- running ----

def run(row, folder):
    def begin():
        if "limit" in row.how:
            resource.setrlimit(resource.RLIMIT_FSIZE, (row.how["limit"], row.how["limit"]))
        if not IS_INSTRUMENTED:
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        if row.how.get("is_nobody") and os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return scenes.weir(folder, row.words, preexec_fn=begin)


def problems(row, folder, before):
    done = run(row, folder)
    text = done.stderr.decode(errors="backslashreplace")
    found = []
    if done.returncode != row.status:
        found.append(f"exit status {done.returncode}, expected {row.status}")
    found += [f"the message lacks {part!r}" for part in row.parts if part not in text]
    if any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 for c in text):
        found.append("the message has control characters")
    if row.status != 0 and (not text.endswith("\n") or "weir " not in text):
        found.append("no message of the verb")
    if len(text) > 64 << 10:
        found.append(f"a message of {len(text)} bytes")
    left = {p.name for p in folder.iterdir()} - before
    left -= {"weir.db" + end for end in ("-wal", "-shm", "-journal")}
    if row.status != 0 and left:
        found.append(f"left behind: {sorted(left)}")
    if scenes.n_runs(folder / "weir.db") not in (scenes.RUNS_BEFORE,) and row.status != 0:
        found.append("the store has changed")
    return found, text


def attempt(row, top, is_shown):
    folder = top / "row"
    folder.mkdir(mode=0o777)
    try:
        scenes.copy_template(top / "template", folder)
        if row.how.get("is_nobody"):
            folder.chmod(0o777)
            for path in folder.iterdir():
                path.chmod(0o666)
        if row.prepare is not None:
            row.prepare(folder)
        before = {p.name for p in folder.iterdir()}
        found, text = problems(row, folder, before)
        if is_shown:
            print("\n".join(f"# {line[:300]}" for line in text.splitlines()[:4]))
        return found + [f"it said: {line[:300]}" for line in text.splitlines()[:3]] if found else []
    finally:
        folder.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def main(arguments):
    is_shown = "--show" in arguments
    wanted = [a for a in arguments if a != "--show"]
    table = [row for row in rows() if not wanted or any(w in row.name for w in wanted)]
    failed = 0
    print(f"1..{len(table)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="weir-bad-") as name:
        top = pathlib.Path(name)
        top.chmod(0o755)
        (top / "template").mkdir()
        # Where everybody may run it: some rows are somebody else's.
        scenes.WEIR = shutil.copy(scenes.WEIR, top / "weir")
        scenes.make_template(top / "template")
        for number, row in enumerate(table, start=1):
            found = attempt(row, top, is_shown)
            failed += bool(found)
            print(f"{'not ok' if found else 'ok'} {number} - {row.name}", flush=True)
            for line in found:
                print(f"# {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
