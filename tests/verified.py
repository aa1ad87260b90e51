# SPDX-License-Identifier: GPL-3.0-or-later
"""Has the verifier anything to say of the runs that a test left behind? Every test that simulates or
replays asks."""

import pathlib
import sqlite3
import subprocess

TIMEOUT_S = 120


def runs_of(store):
    """The numbers of the runs of a store."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return [number for number, in connection.execute("SELECT id FROM run ORDER BY id")]
    finally:
        connection.close()


def wrong_runs(program, folder):
    """What is wrong with the runs of every store of a folder; empty when nothing is."""
    found = []
    for store in sorted(pathlib.Path(folder).glob("*.db")):
        try:
            runs = runs_of(store)
        except sqlite3.Error as error:
            found.append(f"{store.name} cannot be read: {error}")
            continue
        for number in runs:
            done = subprocess.run([program, "verify", str(number), "--db", store.name],
                                  cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="backslashreplace", timeout=TIMEOUT_S)
            if done.returncode != 0:
                found.append(f"weir verify {number} --db {store.name}: exit status {done.returncode}")
                found += (done.stdout + done.stderr).splitlines()[-8:]
    return found
