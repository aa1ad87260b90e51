#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the section FINDINGS of weir-check(1) from what the program says of its codes.

findings.py [--write]: prints the section; with --write puts it between the marks of the page.
environment: WEIR the program, WEIR_SOURCE the top of the sources
"""

import json
import os
import pathlib
import re
import subprocess
import sys

BEGIN = '.\\" The codes: written by doc/man/findings.py.\n'
END = '.\\" The end of the codes.\n'


def mdoc(text):
    """A text as mdoc shows it; what stands in backquotes in quotes."""
    text = text.replace("\\", "\\e")
    return re.sub(r"`([^`]*)`", r"\\(oq\1\\(cq", text)


def lines_of(text):
    """One sentence a line."""
    return "\n".join(re.sub(r"\. (?=[A-Z])", ".\n", mdoc(text)).splitlines())


def section(program):
    answer = subprocess.run([program, "check", "--explain", "--json"], capture_output=True,
                            check=True).stdout.decode("utf-8", "replace")
    parts = [BEGIN, ".Bl -tag -width Ds\n"]
    for code in json.loads(answer)["codes"]:
        seen = {"graph": "", "run": ", of a run", "samples": ", of samples"}[code["seen"]]
        parts.append(f".It Cm {code['code']} Pq {code['severity']}{seen}\n"
                     f"{lines_of(code['meaning'])}\n{lines_of(code['reason'])}\n"
                     f"Remedy:\n{mdoc(code['remedy'])}.\n")
    return "".join(parts) + ".El\n" + END


def main():
    source = pathlib.Path(os.environ.get("WEIR_SOURCE", pathlib.Path(__file__).parents[2]))
    text = section(os.environ.get("WEIR", "weir"))
    if sys.argv[1:] != ["--write"]:
        sys.stdout.write(text)
        return 0
    page = source / "doc" / "man" / "weir-check.1"
    old = page.read_text(encoding="utf-8")
    begin, end = old.index(BEGIN), old.index(END) + len(END)
    page.write_text(old[:begin] + text + old[end:], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
