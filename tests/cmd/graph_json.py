#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the text form, the store and `weir check --expand --json` to the tables of graph/fields.c: a graph
that uses every field of every statement is simulated, read back from the store as it was, and has every
field in JSON, under its name and with its value. A new field is drawn from the tables by itself; one of a
new form fails here until it is said how it looks. Then what is derived: bytes that come go again. Prints TAP.

environment: WEIR the program; WEIR_SOURCE the top of the sources
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEIR = str(pathlib.Path(os.environ.get("WEIR", "weir")).resolve())
SOURCE = pathlib.Path(os.environ.get("WEIR_SOURCE", ".")).resolve()

EVIDENCE = {"kind": "measured", "detail": "bench.csv, n=12, warm", "source": "bench.csv", "samples": 12,
            "scope": "warm"}

# Of each form: what is written behind the `=`, and what JSON holds under the member's name.
FORMS = {
    "SIZE": ("7", 7), "TIME": ("7", 7), "RATE": ("7/s", 7), "FLOPS": ("7/s", 7), "INTEGER": ("7", 7),
    "FACTOR": ("1.5", 1.5), "NUMBER": ("2.5", 2.5), "CONFIDENCE": ("0.25", 0.25),
    "DOMAIN": ("d2", "d2"), "ENGINE": ("e", "e"), "OBJECT": ("init", "init"), "NODE": ("base", "base"),
    "GUARD": ("g", "g"), "CLASS": ("c", "c"), "TEXT": ("t", "t"), "FLAG": (None, True),
    "EVIDENCE": ('measured:"bench.csv, n=12, warm"', EVIDENCE),
    "DURATION": ("normal(10,2)", {"distribution": "normal", "values_ns": [10, 2]}),
    "READS": ("init@d1", [{"object": "init", "domain": "d1"}]), "WRITES": ("scratch", ["scratch"]),
    "PLACEMENTS": ("d1,d2", ["d1", "d2"]), "WORKSPACE": ("7@d2", [{"bytes": 7, "domain": "d2"}]),
    "STAGING": ("7@d2", [{"bytes": 7, "domain": "d2"}]),
    "USES": ("res:7/s", [{"resource": "res", "rate_per_s": 7}]),
    "ALIAS": ("init+1", "init"), "PLACE": ("7@d2", 7),
    "FALLBACK": ("base", {"kind": "node", "node": "base"}),
}
# What a form says beside its own member.
BESIDE = {"ALIAS": {"alias_offset_bytes": 1}, "PLACE": {"planned_domain": "d2"}}
# Of a field of a few words: the one that is not its default, and what JSON holds.
WORDS = {"scope": ("warm", "warm"), "implied": ("none", False), "from": ("start", True)}

# What a field cannot do without.
NEEDS = {"retained": " initial"}

# How a statement begins: %s is a name that no other has; and the keys of what stands there.
BEGIN = {
    "graph": ("graph every", {"name": "every"}),
    "domain": ("domain %s capacity=1000", {"name": "%s", "capacity_bytes": 1000}),
    "engine": ("engine %s", {"name": "%s"}),
    "resource": ("resource %s capacity=1000/s", {"name": "%s", "capacity_per_s": 1000}),
    "kappa": ("kappa %s c 1.5", {"slowed": "%s", "beside": "c", "factor": 1.5}),
    "overlap": ("overlap %s c allowed", {"a": "%s", "b": "c", "rule": "allowed"}),
    "param": ("param %s p 2.5", {"family": "%s", "name": "p", "value": 2.5}),
    "guard": ("guard %s on", {"name": "%s", "is_on": True}),
    "object": ("object %s size=1", {"name": "%s", "size_bytes": 1}),
    "node": ("node %s compute duration=1", {"name": "%s", "kind": "compute"}),
    "edge": ("edge base %s ordering", {"producer": "base", "consumer": "%s", "type": "ordering"}),
}
ARRAYS = {"domain": "domains", "engine": "engines", "resource": "resources", "kappa": "kappas",
          "overlap": "overlaps", "param": "params", "guard": "guards", "object": "objects",
          "node": "nodes", "edge": "edges"}

GIVEN = """weir 1
domain d1 capacity=1000
domain d2 capacity=1000
engine e
resource res capacity=1000/s
guard g on
object init size=9 domain=d1 initial
object scratch size=3 domain=d1
node base compute duration=1
"""


class Failed(Exception):
    """What is not as it should be."""


def weir(*words, **more):
    done = subprocess.run([WEIR, *words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failed(f"weir {' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def tables():
    """(statement, field, form, member, is_positional) of graph/fields.c."""
    text = (SOURCE / "graph" / "fields.c").read_text(encoding="utf-8")
    words = dict((name, word) for word, name in re.findall(r'STATEMENT\("(\w+)", (\w+),', text))
    for name, body in re.findall(r"static const struct field (\w+)_fields\[\] = \{\n(.*?)\n\};", text, re.S):
        flat = re.sub(r"\s+", " ", body).replace(
            f"EVIDENCE(graph_{name})", f'OTHER("evidence", FORM_EVIDENCE, graph_{name}, evidence), '
            f'OTHER("confidence", FORM_CONFIDENCE, graph_{name}, confidence)')
        for macro, field, form, member in re.findall(
                r'(\w+)\("([^"]+)", FORM_(\w+), \w+, ([\w.]+)', flat):
            yield words[name], field, form, member, macro in ("FIRST", "FIRST_WORD", "REQUIRED")


def draw():
    """The text of a graph with every field, and of each statement drawn what JSON must hold."""
    lines, wanted, heads = [], [], []
    edges = []
    for number, (word, field, form, member, is_first) in enumerate(tables()):
        name = f"x{number}"
        begin, expected = BEGIN[word]
        expected = {key: value.replace("%s", name) if isinstance(value, str) else value
                    for key, value in expected.items()}
        if not is_first:
            if form in ("ENUM", "CHOICE"):
                written, value = WORDS[field]
            elif form == "FLAG_OF":
                written, value = None, field
            elif form in FORMS:
                written, value = FORMS[form]
            else:
                raise Failed(f"graph/fields.c: {field} is of a new form, {form}: say here how it looks")
            extra = f" {field}" if written is None else f" {field}={written}"
            extra += NEEDS.get(field, "")
            expected[member] = value
            expected.update(BESIDE.get(form, {}))
        else:
            extra = ""
            if member not in expected and member not in ("class_",):
                raise Failed(f"{word}: nothing here tells of {member}, with which it begins")
        if word == "graph":
            heads.append(extra)
            wanted.append((None, expected))
            continue
        line = (begin.replace("%s", name) if "%s" in begin else begin) + extra
        if form == "DURATION":
            line = line.replace(" duration=1 ", " ")
        if word == "edge":
            lines.append(f"node {name} compute duration=1")
            edges.append(line)
        else:
            lines.append(line)
        wanted.append((ARRAYS[word], expected))
    head = BEGIN["graph"][0] + "".join(heads)
    return GIVEN.replace("weir 1\n", f"weir 1\n{head}\n") + "\n".join(lines + edges) + "\n", wanted


def is_in(expected, item):
    return all(item.get(key) == value for key, value in expected.items())


def check_fields(graph, wanted):
    for array, expected in wanted:
        items = [graph] if array is None else graph[array]
        if not any(is_in(expected, item) for item in items):
            close = [item for item in items if item.get("name") == expected.get("name")] or items[-1:]
            raise Failed(f"{array or 'graph'}: none is {expected}; it is {close[0]}")


def graph_of(path):
    answer = json.loads(weir("check", str(path), "--expand", "--json"))
    if not answer["is_legal"]:
        raise Failed(f"{path.name} is not legal: {answer['findings']}")
    return answer["graph"]


def test_every_field(folder):
    text, wanted = draw()
    if len(wanted) < 80:
        raise Failed(f"only {len(wanted)} fields were found in graph/fields.c")
    path = folder / "every.weir"
    path.write_text(text, encoding="utf-8")
    check_fields(graph_of(path), wanted)


def test_the_store(folder):
    """What a run is read back with is the same graph: the text, and so all that is known of it."""
    path, back = folder / "every.weir", folder / "back.weir"
    canonical = weir("check", str(path), "--expand")
    weir("simulate", str(path), "--quiet", cwd=folder)
    weir("export", "graph", "latest", "-o", str(back), "--quiet", cwd=folder)
    if back.read_text(encoding="utf-8") != canonical:
        raise Failed("the graph of the run is not the one that was simulated")
    if graph_of(back) != graph_of(path):
        raise Failed("the graph of the run has other fields")


def check_balance(graph):
    """In program order, what is taken is given back, but for what stays."""
    held = {d["name"]: d["derived"]["initial_bytes"] for d in graph["domains"]}
    for node in graph["nodes"]:
        for change in node["derived"].get("capacity_change", []):
            held[change["domain"]] += change["taken_bytes"]
        for change in node["derived"].get("capacity_change", []):
            held[change["domain"]] -= change["given_back_bytes"]
            if held[change["domain"]] < 0:
                raise Failed(f"{node['name']} gives back more than is there")
    for domain in graph["domains"]:
        if held[domain["name"]] != domain["derived"]["staying_bytes"]:
            raise Failed(f"{domain['name']}: {held[domain['name']]} bytes are left, "
                         f"{domain['derived']['staying_bytes']} stay")


def implied_of(path):
    """(producer, consumer, type) of the edges that --expand adds, of a graph that gives none."""
    return sorted(tuple(line.split()[1:4]) for line in weir("check", str(path), "--expand").splitlines()
                  if line.startswith("edge "))


def test_what_is_derived(folder):
    for seed in range(8):
        path = folder / f"random{seed}.weir"
        weir("generate", "random", "--nodes", "300", "--seed", str(seed), "-o", str(path), "--quiet")
        graph = graph_of(path)
        check_balance(graph)
        edges = sorted((e["producer"], e["consumer"], e["type"]) for e in graph["edges"])
        if edges != implied_of(path):
            raise Failed(f"seed {seed}: the edges are not those that --expand writes")


OFFLOAD = """weir 1
graph offload scope=warm
domain hbm capacity=1000 granule=64
domain host capacity=1000
engine sm domain=hbm
engine d2h from=hbm to=host bandwidth=1GB/s
engine h2d from=host to=hbm bandwidth=1GB/s
kappa sm d2h 1.25 evidence=fitted:"n=30"
overlap make out forbidden earliest=5 latest=9
object a size=100 offloadable recompute=make
object view size=10 alias=a+20
node make compute engine=sm duration=7 writes=a pure workspace=5
node out offload engine=d2h object=a staging=30@host
node free reclamation object=a domain=hbm
node in prefetch engine=h2d object=a
node use compute engine=sm duration=7 reads=view
edge make use ordering lag=3 evidence=observed:"trace.json, n=4, cold" confidence=0.5
"""


def test_a_graph_by_hand(folder):
    """a takes two granules in hbm, 128 bytes, twice: from make to free, and from in to use. Its copy in
    host, 100 bytes, begins with out and ends with in, and so does what out staged, 30."""
    path = folder / "offload.weir"
    path.write_text(OFFLOAD, encoding="utf-8")
    graph = graph_of(path)
    check_balance(graph)
    nodes = {node["name"]: node["derived"] for node in graph["nodes"]}
    first, away, again = graph["objects"][0]["derived"]["copies"]
    checks = [
        (nodes["make"]["capacity_change"], [{"domain": "hbm", "taken_bytes": 133, "given_back_bytes": 5}]),
        (nodes["out"]["capacity_change"], [{"domain": "host", "taken_bytes": 130, "given_back_bytes": 0}]),
        (nodes["out"]["staging"], {"bytes": 30, "domain": "host", "until_finish_of": ["in"]}),
        (sorted((c["domain"], c["taken_bytes"], c["given_back_bytes"])
                for c in nodes["in"]["capacity_change"]),
         [("hbm", 128, 0), ("host", 0, 130)]),
        (nodes["use"]["capacity_change"], [{"domain": "hbm", "taken_bytes": 0, "given_back_bytes": 128}]),
        ((first["begins_with"], first["reclamation"], first["reclaim_after"]), ("make", "free", ["out"])),
        ((away["domain"], away["bytes"], away["begins_with"], away["reclaim_after"]),
         ("host", 100, "out", ["in"])),
        ((again["begins_with"], again["stays"]), ("in", False)),
        (graph["objects"][0]["derived"]["recompute_purity"], "pure"),
        (graph["objects"][1]["derived"]["owner_offset_bytes"], 20),
        (graph["edges"][0]["evidence"],
         {"kind": "observed", "detail": "trace.json, n=4, cold", "source": "trace.json", "samples": 4,
          "scope": "cold"}),
        (graph["edges"][0]["derived"]["scope"], "cold"),
        (graph["edges"][1]["derived"]["scope"], "warm"),
        (graph["edges"][1]["origin"], "implied"),
        (graph["overlaps"][0]["derived"]["contention"][0]["factor"], 1.25),
    ]
    for found, expected in checks:
        if found != expected:
            raise Failed(f"{found} is not {expected}")


def main():
    tests = [test_every_field, test_the_store, test_what_is_derived, test_a_graph_by_hand]
    n_failed = 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            try:
                test(pathlib.Path(folder))
                print(f"ok {number} - {test.__name__}")
            except Failed as why:
                n_failed += 1
                print(f"not ok {number} - {test.__name__}\n# {why}")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
