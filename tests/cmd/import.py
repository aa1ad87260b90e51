#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports profiles with the program: its answers, its exit statuses, and that both ways to replay a
recording, the policies retain and recorded, give every start and finish back. Takes the profile that
comes with Weir, and the real ones where they are there. Prints TAP.

environment: WEIR the program, WEIR_SOURCE the top of the sources, WEIR_SHARED where real exports are
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

WEIR = os.environ.get("WEIR", "weir")
SOURCE = pathlib.Path(os.environ.get("WEIR_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
SHARED = pathlib.Path(os.environ.get("WEIR_SHARED", SOURCE.parent / "shared")).resolve()
REAL = sorted((SHARED / "data/traces/nsys").glob("*.sqlite.gz"))
WITHOUT_WORK = "no-gpu-tables"


def weir(folder, *words, expected=0):
    done = subprocess.run([WEIR, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == expected, (
        f"weir {' '.join(words)}: exit {done.returncode}, not {expected}: {done.stderr}")
    return done


def made(folder):
    path = pathlib.Path(folder) / "profile.sqlite"
    base = sqlite3.connect(path)
    base.executescript((SOURCE / "doc/examples/profile.sql").read_text())
    base.close()
    return path


def spans(base, run):
    return dict((row[0], row[1:]) for row in base.execute(
        "SELECT n.name, s.start_ns, s.finish_ns FROM span s JOIN node n ON n.run_id = s.run_id AND "
        "n.id = s.node_id WHERE s.run_id = ?", (run,)))


def check_replays(folder, profile):
    answer = json.loads(weir(folder, "import", "nsys", str(profile), "-o", "g.weir",
                             "--json").stdout)
    assert answer["nodes"] > 0 and answer["edges"] > 0 and answer["grade"] in "ABCD", answer
    assert answer["report"]["chain"]["makespan_ns"] == answer["makespan_ns"]
    assert 0 <= answer["unexplained_ratio"] <= 1
    runs = [answer["run"]]
    for policy in ("retain", "recorded"):
        runs.append(json.loads(weir(folder, "simulate", "g.weir", "--policy", policy,
                                    "--json").stdout)["run"])
    base = sqlite3.connect(pathlib.Path(folder) / "weir.db")
    assert base.execute("SELECT kind, status FROM run WHERE id = ?", runs[:1]).fetchone() == (
        "recorded", "complete")
    recorded = spans(base, runs[0])
    assert len(recorded) == answer["nodes"], "a node without a span"
    for run in runs[1:]:
        simulated = spans(base, run)
        for name, times in recorded.items():
            assert simulated[name] == times, f"{name}: {simulated[name]}, seen {times}"
    n_pressures = {run: base.execute("SELECT domain, t_ns, bytes FROM pressure WHERE run_id = ? "
                                     "ORDER BY domain, t_ns", (run,)).fetchall() for run in runs}
    peaks = [max((row[2] for row in n_pressures[run]), default=0) for run in runs]
    assert len(set(peaks)) == 1, f"peaks differ: {peaks}"
    base.close()
    return answer


def test_made(folder):
    answer = check_replays(folder, made(folder))
    assert (answer["nodes"], answer["objects"], answer["grade"]) == (40, 4, "B")
    assert answer["report"]["waits"]["resolved"] == 4
    assert answer["unexplained_ratio"] == 0
    weir(folder, "check", "g.weir")


def test_text(folder):
    text = weir(folder, "import", "auto", str(made(folder)), "-o", "g.weir").stdout
    for part in ("kernel_read", "g.weir: 40 nodes", "run 1: recorded", "grade B:", "good for:"):
        assert part in text, f"'{part}' is not told"
    assert weir(folder, "import", "auto", "profile.sqlite", "-o", "g.weir", "--quiet").stdout == ""
    piped = weir(folder, "import", "auto", "profile.sqlite", "-o", "-")
    assert piped.stdout == (pathlib.Path(folder) / "g.weir").read_text()
    assert "grade B:" in piped.stderr


def test_window(folder):
    answer = json.loads(weir(folder, "import", "nsys", str(made(folder)), "-o", "w.weir", "--window",
                             "100ms:100400us", "--json").stdout)
    assert 0 < answer["nodes"] < 40
    assert answer["report"]["source"]["window_from_ns"] == 100000000
    # The same by the clock that graphs and figures have: the first call was at 100 ms.
    again = json.loads(weir(folder, "import", "nsys", "profile.sqlite", "-o", "v.weir", "--window",
                            "+0:+400us", "--json").stdout)
    assert again["graph_hash"] == answer["graph_hash"]
    assert again["report"]["source"]["first_ns"] == 100000000
    weir(folder, "import", "nsys", "profile.sqlite", "-o", "w.weir", "--window", "no such range",
         expected=2)


def test_usage(folder):
    made(folder)
    assert "-o GRAPH is missing" in weir(folder, "import", "nsys", "profile.sqlite",
                                         expected=2).stderr
    weir(folder, "import", "nsys", "-o", "g.weir", expected=2)
    weir(folder, "import", "kineto2", "profile.sqlite", "-o", "g.weir", expected=2)
    weir(folder, "import", "nsys", "profile.sqlite", "-o", "-", "--json", expected=2)
    weir(folder, "import", "nsys", "missing", "-o", "g.weir", expected=3)
    weir(folder, "import", "nsys", "profile.sqlite", "-o", "no/such/folder/g.weir", expected=6)
    assert "usage: weir import" in weir(folder, "import", "--help").stdout


def test_refused(folder):
    base = sqlite3.connect(made(folder))
    base.executescript("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE "
                       "CUPTI_ACTIVITY_KIND_MEMCPY")
    base.close()
    done = weir(folder, "import", "nsys", "profile.sqlite", "-o", "g.weir", "--json", expected=3)
    answer = json.loads(done.stdout)
    assert (answer["nodes"], answer["grade"]) == (0, "refused"), answer
    assert answer["remedy"].startswith("nsys profile --trace=cuda")
    assert "nsys export --type sqlite" in done.stderr
    assert not (pathlib.Path(folder) / "g.weir").exists(), "a refused file made a graph"
    assert not (pathlib.Path(folder) / "weir.db").exists(), "a refused file made a store"


def test_warnings(folder):
    base = sqlite3.connect(made(folder))
    base.executescript("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN returnValue; UPDATE "
                       "META_DATA_EXPORT SET value = '9.1' WHERE name = 'EXPORT_SCHEMA_VERSION'")
    base.close()
    words = ["import", "nsys", "profile.sqlite", "-o", "g.weir"]
    done = weir(folder, *words, "--json")
    warnings = json.loads(done.stdout)["report"]["warnings"]
    assert "returnValue" in warnings["CUPTI_ACTIVITY_KIND_RUNTIME"], warnings
    assert "newer" in warnings["schema"], warnings
    assert done.stderr.count("warning") == 2, done.stderr
    assert weir(folder, *words, "--quiet").stderr == ""


def test_twice(folder):
    made(folder)
    first = json.loads(weir(folder, "import", "nsys", "profile.sqlite", "-o", "a.weir",
                            "--json").stdout)
    second = json.loads(weir(folder, "import", "nsys", "profile.sqlite", "-o", "b.weir",
                             "--json").stdout)
    assert first["graph_hash"] == second["graph_hash"]
    assert (pathlib.Path(folder) / "a.weir").read_bytes() == (
        pathlib.Path(folder) / "b.weir").read_bytes()


def test_real(folder, profile):
    if WITHOUT_WORK in profile.name:
        weir(folder, "import", "nsys", str(profile), "-o", "g.weir", expected=3)
    else:
        check_replays(folder, profile)


def tests():
    for test in (test_made, test_text, test_window, test_usage, test_refused,
                 test_warnings, test_twice):
        yield test.__name__[5:], test
    for profile in REAL:
        yield profile.name, lambda folder, profile=profile: test_real(folder, profile)
    if not REAL:
        yield f"real exports # SKIP {SHARED}/data/traces/nsys is not there", lambda folder: None


def main():
    n = failed = 0
    for name, test in tests():
        n += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {n} - {name}")
            except (AssertionError, KeyError, ValueError, sqlite3.Error) as fault:
                failed += 1
                print(f"not ok {n} - {name}")
                for line in str(fault).splitlines()[:20]:
                    print(f"# {line}")
    print(f"1..{n}")
    return 1 if failed else 0


sys.exit(main())
