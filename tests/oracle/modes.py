#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `weir simulate` finds wrong with a schedule against the schedule itself. Prints TAP, one
test a seed.

modes.py [WEIR] [--seeds A:B]

Each finding says what would be otherwise with everything else as it was. Here the schedule is made
otherwise, node by node, and every rule is asked again in the plainest way: edges, slots, bytes at
every instant. What does not hold is a false alarm. A prefetch that could start later is simulated
again with that release: nothing else may have moved, and the peak must be the one that was told.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True    # leaves nothing in the source tree

import model
from bind import Walker, bind
from draw_schedule import draw

UNITS = {'ns': 1, 'us': 1000, 'ms': 10**6, 's': 10**9}
FOREVER = 1 << 62
MANY = 100        # seeds, of which some have every mistake
ROUNDED = 500     # nanoseconds that a text of milliseconds is off; only contention makes such times
TIME = r'(\d+(?:\.\d+)? (?:ns|us|ms|s))'


def time(text):
    number, unit = text.split()
    return round(float(number) * UNITS[unit])


class Run:
    """A schedule: spans by index, and what the bytes make of them. Rows of the store are kept for
    what cannot be derived: who waited for what, and the chain."""

    def __init__(self, text, store):
        self.graph = model.read(text)
        self.bound = bind(self.graph)
        self.index = {node.name: node.index for node in self.graph.nodes}
        self.spans, self.ready, self.isolated = {}, {}, {}
        with sqlite3.connect(store) as rows:
            self.status, = rows.execute('SELECT status FROM run').fetchone()
            for name, ready, start, finish, isolated in rows.execute(
                    'SELECT node.name, ready_ns, start_ns, finish_ns, isolated_ns FROM span '
                    'JOIN node ON node.run_id = span.run_id AND node.id = span.node_id'):
                if finish is not None and finish >= 0:
                    at = self.index[name]
                    self.spans[at], self.ready[at] = (start, finish), ready
                    self.isolated[at] = isolated
            self.waits = [(self.index[name], cause, start, end) for name, cause, start, end in
                          rows.execute('SELECT node.name, cause, from_ns, to_ns FROM wait '
                                       'JOIN node ON node.run_id = wait.run_id '
                                       'AND node.id = wait.node_id')]
            self.chain = {name for name, in rows.execute(
                'SELECT node.name FROM chain JOIN node ON node.run_id = chain.run_id '
                'AND node.id = chain.node_id')}
        rows.close()

    def node(self, at):
        return self.graph.nodes[at]

    # ---- edges

    def end_of(self, edge, spans):
        start, finish = spans[edge.producer]
        return (start if edge.from_start else finish) + edge.lag

    def ready_by(self, at, spans, without=()):
        """When its edges let a node go, its release and the readiness of what it reads."""
        ends = [self.end_of(edge, spans) for edge in self.bound.constraints
                if edge.consumer == at and edge.producer in spans and edge.producer not in without]
        return max(ends + [self.node(at).release, self.bound.floor.get(at, 0), 0])

    # ---- bytes

    def life(self, copy, spans):
        """[begin, end) of a copy; None when it never begins."""
        if copy.initial:
            begin = 0
        elif copy.allocation is not None:
            begin = spans.get(copy.allocation.index, (None,))[0]
        else:
            begin = min((spans[node.index][0] for node in copy.fillers if node.index in spans),
                        default=None)
        if begin is None:
            return None
        if copy.reclamation is not None:
            return begin, spans.get(copy.reclamation.index, (0, FOREVER))[1]
        if copy.stays:
            return begin, FOREVER
        return begin, max([begin] + [self.end(node.index, spans)
                                     for node in copy.users + copy.holders])

    def end(self, at, spans):
        """When a node has finished. What a complete run did not run, was off or not needed."""
        return spans.get(at, (0, 0 if self.status == 'complete' else FOREVER))[1]

    def charges(self, at, span, spans):
        """(domain, bytes, from, to) of workspace and staging."""
        node = self.node(at)
        for size, domain in node.workspace:
            yield domain or self.graph.works_in(node), size, *span
        if node.staging is not None:
            users = [user.index for copy in self.bound.fills.get(at, ()) for user in copy.users]
            end = max([span[1]] + [self.end(user, spans) for user in users])
            yield node.staging[1] or self.graph.works_in(node), node.staging[0], span[0], end

    def size(self, copy):
        granule = self.graph.domains[copy.domain].granule
        return -(-self.graph.objects[copy.root].size // granule) * granule

    def held(self, spans, keeps=()):
        """(domain, bytes, from, to) of all that is held. keeps: copies and how long they stay."""
        keeps = dict(keeps)
        for number, copy in enumerate(self.bound.copies):
            life = self.life(copy, spans)
            if life is not None:
                yield copy.domain, self.size(copy), life[0], max(life[1], keeps.get(number, 0))
        for at, span in spans.items():
            yield from self.charges(at, span, spans)

    def over(self, spans, extra=(), keeps=(), domains=None):
        """What is held over capacity, at any instant."""
        held = [row for row in list(self.held(spans, keeps)) + list(extra) if row[2] < row[3]]
        for domain in self.graph.domains.values():
            if domains is not None and domain.name not in domains:
                continue
            usable = domain.capacity - domain.reserve
            mine = [row for row in held if row[0] == domain.name]
            for at in {row[2] for row in mine} | {row[3] for row in mine}:
                used = sum(row[1] for row in mine if row[2] <= at < row[3])
                if used > usable:
                    yield f'{used} of {usable} bytes in {domain.name} at {at}'

    def peak(self, spans, domain):
        held = [row for row in self.held(spans) if row[0] == domain and row[2] < row[3]]
        return max((sum(row[1] for row in held if row[2] <= at < row[3])
                    for at in {row[2] for row in held}), default=0)

    # ---- all rules

    def broken(self, spans, extra=(), keeps=(), engines=None, without=()):
        """Lines that say which rule does not hold. engines: other engines of nodes; without: edges
        from and into these nodes are not asked for."""
        for edge in self.bound.constraints:
            ends = {edge.producer, edge.consumer}
            if ends <= spans.keys() and not ends & set(without) \
                    and self.end_of(edge, spans) > spans[edge.consumer][0]:
                yield f'{self.node(edge.consumer).name} starts before ' \
                      f'{self.node(edge.producer).name} lets it go'
        for at, (start, _) in spans.items():
            if at not in without and \
                    start < max(self.node(at).release, self.bound.floor.get(at, 0)):
                yield f'{self.node(at).name} starts before its release'
        for engine in self.graph.engines.values():
            mine = [spans[at] for at in spans if spans[at][0] < spans[at][1]
                    and (engines or {}).get(at, self.node(at).engine) == engine.name]
            for at, _ in mine:
                if sum(start <= at < finish for start, finish in mine) > engine.slots:
                    yield f'more than {engine.slots} on {engine.name} at {at}'
        yield from self.over(spans, extra, keeps)

    def needs(self, at, start, end):
        """What a node that starts takes, from then on until it did."""
        spans = dict(self.spans)
        del spans[at]
        mine = collections.Counter()
        for copy in self.bound.copies:
            life = self.life(copy, self.spans)
            if life is not None and life[0] == self.spans[at][0] and not copy.initial and (
                    copy.allocation is self.node(at) if copy.allocation is not None
                    else self.node(at) in copy.fillers):
                mine[copy.domain] += self.size(copy)
        for domain, size, _, _ in self.charges(at, self.spans[at], self.spans):
            mine[domain] += size
        return [(domain, size, start, end) for domain, size in mine.items()]

    def touched(self, at):
        """Copies that the node touches, by number: does it change them?"""
        node, found = self.node(at), {}
        for number, copy in enumerate(self.bound.copies):
            if node in copy.users + copy.holders or node in (copy.allocation, copy.reclamation):
                found[number] = node in copy.fillers or \
                    node in (copy.allocation, copy.reclamation)
        return found


def moved(run, at, start, finish=None):
    spans = dict(run.spans)
    old = spans[at]
    spans[at] = (start, start + old[1] - old[0] if finish is None else finish)
    return spans


# ---------------------------------------------------------------- what each code claims


def premature_prefetch(run, finding, again):
    found = re.search(rf'at {TIME} and (\S+) reads it at {TIME}: started up to {TIME} later',
                      finding['message'])
    prefetch, user = run.index[finding['names'][0]], run.index[finding['names'][1]]
    later = time(found[4])
    spans = moved(run, prefetch, run.spans[prefetch][0] + later)
    yield from run.broken(spans)
    if run.spans[user][0] != time(found[3]):
        yield f'the user starts at {run.spans[user][0]}'
    peak = re.search(r'the peak of (\S+) would be (\S+) (\S+) instead of', finding['message'])
    if peak is not None:
        domain, told = peak[1], round(float(peak[2]) * {'B': 1, 'kB': 1000, 'KB': 1000,
                                                        'MB': 10**6}[peak[3]])
        if run.peak(spans, domain) != told or told >= run.peak(run.spans, domain):
            yield f'the peak would be {run.peak(spans, domain)}, told {told}'
        other = again(prefetch, spans[prefetch][0])
        if other is not None and (other.spans != spans or other.peak(other.spans, domain) != told):
            yield f'simulated again it is otherwise: {other.spans} for {spans}'
        return
    waits = re.search(rf'and (\S+), which waits {TIME} for bytes of (\S+), would have them {TIME} '
                      'sooner', finding['message'])
    waiter = run.index[waits[1]]
    ends = [end for at, cause, start, end in run.waits
            if at == waiter and cause == 'capacity' and end - start == time(waits[2])]
    if not ends:
        yield 'nobody waits as long'
    for end in ends[:1]:
        yield from run.over(spans, run.needs(waiter, end - time(waits[4]), end))


def contention_on_chain(run, finding, _):
    found = re.search(rf'took {TIME} instead of {TIME}', finding['message'])
    at = run.index[finding['names'][0]]
    start, finish = run.spans[at]
    if abs(finish - start - time(found[1])) > ROUNDED or run.isolated[at] != time(found[2]):
        yield f'it took {finish - start} instead of {run.isolated[at]}'
    if finding['names'][0] not in run.chain:
        yield 'it is not on the chain'
    for name in finding['names'][1:]:
        other = run.spans[run.index[name]]
        kappa = run.graph.kappa.get((run.node(at).klass or run.node(at).engine,
                                     run.node(run.index[name]).klass
                                     or run.node(run.index[name]).engine), 1)
        if min(finish, other[1]) <= max(start, other[0]) or kappa <= 1:
            yield f'{name} does not slow it'
    if len(finding['names']) < 2:
        yield 'nobody slows it'


def exposed_round_trip(run, finding, _):
    cost = time(re.search(rf'waits {TIME} for', finding['message'])[1])
    out, back, user = (run.index[name] for name in finding['names'][:3])
    spans = dict(run.spans)
    spans[out] = (spans[out][0], spans[out][0])
    here = [copy for copy in run.bound.copies if run.node(back) in copy.fillers]
    left = [copy for copy in run.bound.copies
            if run.node(out) in copy.users and run.node(out) not in copy.fillers]
    for node in [copy.reclamation for copy in left] + [copy.allocation for copy in here]:
        if node is not None and run.spans[node.index][0] == run.ready[node.index]:
            ready = run.ready_by(node.index, spans)
            spans[node.index] = (ready, ready)
    start = run.spans[user][0] - cost
    if run.spans[back][0] == run.ready[back]:
        begin = min(max(run.ready_by(back, {at: spans[at] for at in spans if at != back}), start),
                    run.spans[back][0])
    else:
        begin = run.spans[back][0]
    spans[back] = (begin, begin)
    spans[user] = (start, start + run.spans[user][1] - run.spans[user][0])
    yield from run.broken(spans)


def first_gap(run, engine, begin, length):
    """The earliest instant from which a slot is free that long."""
    mine = [run.spans[at] for at in run.spans if run.node(at).engine == engine
            and run.spans[at][0] < run.spans[at][1]]
    slots = run.graph.engines[engine].slots
    for at in sorted({begin} | {finish for _, finish in mine if finish > begin}):
        points = [at] + [start for start, _ in mine if at < start < at + length]
        if all(sum(s <= point < f for s, f in mine) < slots for point in points):
            return at
    return None


def content_at(run, at, name):
    """Valid copies of an object when program order comes to that node, by domain."""
    walker = Walker(run.graph)
    for node in run.graph.nodes[:at]:
        walker.step(node)
    pieces = set(walker.pieces(name))
    return {domain: copy for (root, domain), copy in walker.live.items()
            if root == name and pieces <= copy.valid}


def recompute_delays(run, finding, _):
    message = finding['message']
    waits = time(re.search(rf'waits {TIME} for', message)[1])
    sooner = time(re.search(rf'start {TIME} sooner', message)[1])
    again, user, name = run.index[finding['names'][0]], run.index[finding['names'][1]], \
        finding['names'][2]
    start = run.spans[user][0]
    begin = run.spans[again][0]
    new = (start - sooner, start - sooner + run.spans[user][1] - start)
    if waits < 0 or start - waits < begin:
        yield f'{user} cannot have waited longer than {again} ran'
    without = [again]
    spans = dict(run.spans)
    spans[user] = new
    away = re.search(rf'its copy in (\S+) is valid and {TIME} away', message)
    if away is not None:
        copy = content_at(run, again, name).get(away[1])
        if copy is None:
            yield f'there is no valid copy of {name} in {away[1]}'
            return
        filled = max([run.spans[node.index][1] for node in copy.fillers] + [0])
        arrivals = []
        for engine in run.graph.engines.values():
            if engine.source == away[1] and engine.target == run.graph.works_in(run.node(again)):
                length = engine.latency + -(-run.graph.objects[name].size * 10**9
                                            // engine.bandwidth)
                gap = first_gap(run, engine.name, max(begin, filled), length)
                arrivals.append((gap + length, gap, length, engine.name))
        arrival, gap, length, engine = min(arrivals)
        if length != time(away[2]) or arrival > new[0]:
            yield f'it arrives at {arrival} after {length}, and {user} starts at {new[0]}'
        spans[again] = (gap, arrival)
        kept = [number for number, one in enumerate(run.bound.copies)
                if (one.root, one.domain) == (name, away[1])
                and [node.index for node in one.fillers] == [node.index for node in copy.fillers]]
        keeps = {number: arrival for number in kept}
        for number in kept:
            if run.bound.copies[number].reclamation is not None and \
                    run.spans[run.bound.copies[number].reclamation.index][1] < arrival:
                yield 'the copy is given back before it has arrived'
        extra = [(domain, size, begin, gap) for domain, size, start_, _ in
                 [(copy_.domain, run.size(copy_), 0, 0)
                  for copy_ in run.bound.copies if run.node(again) in copy_.fillers]]
        yield from run.broken(spans, extra, keeps, {again: engine}, without)
    else:
        giver = run.index[finding['names'][3]]
        kept = [number for number, one in enumerate(run.bound.copies)
                if one.reclamation is run.node(giver)]
        if not content_at(run, giver, name).keys() & {run.bound.copies[kept[0]].domain}:
            yield f'{name} was out of date when it was given back'
        for node in run.graph.nodes[giver:again]:
            if name in node.writes:
                yield f'{node.name} changed {name}'
        spans[again] = (begin, begin)
        made = [copy for copy in run.bound.copies if run.node(again) in copy.fillers]
        once = [(copy.domain, -run.size(copy), run.life(copy, spans)[0], begin) for copy in made]
        yield from run.broken(spans, once, {kept[0]: begin}, None, without)
    for at in run.touched(user):
        if at in run.touched(again) and run.touched(again)[at] and \
                run.bound.copies[at].root != name:
            yield f'it needs {run.bound.copies[at].root} of it as well'
    if run.ready_by(user, spans, without) > new[0]:
        yield 'its other edges do not let it go'


def wait_of(run, at, cost, cause='capacity'):
    """The waits of that node that are as long or longer."""
    return [(start, end) for who, why, start, end in run.waits
            if who == at and why == cause and end - start >= cost]


def starved_staging(run, finding, _):
    cost = time(re.search(rf'waited {TIME} for staging', finding['message'])[1])
    at, holder, domain = run.index[finding['names'][0]], run.index[finding['names'][1]], \
        finding['names'][2]
    others = [(domain, -size, begin, end) for one, span in run.spans.items() if one != at
              and run.node(one).staging is not None
              for name, size, begin, end in list(run.charges(one, span, run.spans))[-1:]
              if name == domain]
    fits = False
    for _, end in wait_of(run, at, cost):
        needs = run.needs(at, end - cost, end)
        own = [(domain, -run.node(at).staging[0], end - cost, end)]
        fits = fits or (not list(run.over(run.spans, needs + others))
                        and not list(run.over(run.spans, needs + own))
                        and bool(list(run.over(run.spans, needs, domains=[domain]))))
    if not fits:
        yield 'it was not staging that was missing, or not that long'
    if not any(begin < end and size < 0 for _, size, begin, end in others) or holder == at:
        yield 'nobody held staging'


def held_too_long(run, finding, _):
    found = re.search(rf'waits {TIME} longer .* gives them back {TIME} after', finding['message'])
    waiter, giver, user = (run.index[finding['names'][i]] for i in (0, 2, 3))
    number, copy = next((n, c) for n, c in enumerate(run.bound.copies)
                        if c.reclamation is run.node(giver))
    last = max(run.spans[at][1] for at in run.spans
               if at != giver and number in run.touched(at))
    last = max([last] + [run.end_of(edge, run.spans) for edge in run.bound.constraints
                         if edge.consumer == giver and run.node(edge.producer).kind == 'barrier'])
    if last != run.spans[user][1] or run.spans[giver][1] - last != time(found[2]):
        yield f'it is used until {last}'
    early = (copy.domain, -run.size(copy), last, run.spans[giver][1])
    cost = time(found[1])
    if not any(not list(run.over(run.spans, run.needs(waiter, end - cost, end) + [early]))
               for _, end in wait_of(run, waiter, cost)):
        yield 'it would not have fitted that early'


def speculative_passes(run, finding, _):
    slot = re.search(rf'waited {TIME} for (\S+) while speculative', finding['message'])
    at, guess = run.index[finding['names'][0]], run.index[finding['names'][1]]
    ready, (start, _) = run.ready[at], run.spans[at]
    with_guesses = [line for line in run.lines if ' speculative' in line]
    guesses = {run.index[line.split()[1]] for line in with_guesses}
    if at in guesses or guess not in guesses or not ready <= run.spans[guess][0] < start:
        yield 'it passed nobody'
    if slot is not None:
        passing = [run.spans[one] for one in guesses & run.spans.keys()
                   if run.node(one).engine == slot[2] and ready <= run.spans[one][0] < start]
        told = time(slot[1])
        if run.node(at).engine != slot[2] or \
                min(sum(f - s for s, f in passing), start - ready) != told:
            yield f'{passing} ran in {ready} to {start}'
        begin = run.spans[guess][0]
        needs = run.needs(at, begin, begin + 1) + \
            [(d, -s, a, b) for d, s, a, b in run.needs(guess, begin, begin + 1)]
        held = [(d, s, a, b) for d, s, a, b in run.held(run.spans) if a <= begin < b]
        for domain in run.graph.domains.values():
            used = sum(s for d, s, _, _ in held + needs if d == domain.name)
            if used > domain.capacity and any(d == domain.name and s > 0 for d, s, _, _ in needs):
                yield 'its bytes would not have fitted'
        return
    told = time(re.search(rf'waited {TIME} for bytes', finding['message'])[1])
    domain = finding['names'][2]
    taken = sum(size for where, size, _, _ in run.needs(guess, 0, 1) if where == domain)
    fits = False
    for begin, end in wait_of(run, at, told):
        for stop in sorted({end} | {b for d, _, _, b in run.held(run.spans) if begin < b <= end}):
            needs = run.needs(at, stop - told, stop)
            fits = fits or (stop - told >= max(begin, run.spans[guess][0]) and not list(
                run.over(run.spans, needs + [(domain, -taken, stop - told, stop)])))
    if not fits:
        yield 'without the guess it would not have fitted either'


def barrier_delays(run, finding, _):
    found = re.search(rf'waits {TIME} at .* was there at {TIME}', finding['message'])
    barrier, at, last = (run.index[name] for name in finding['names'][:3])
    cost, needed = time(found[1]), time(found[2])
    start = run.spans[at][0] - cost
    spans = moved(run, at, start)
    mine = run.touched(at)
    if run.touched(last).keys() & mine.keys():
        yield 'the two have bytes in common'
    for one, (begin, finish) in run.spans.items():
        theirs = run.touched(one)
        if one != at and (begin, one) < (run.spans[at][0], at) and finish > start and any(
                mine[number] or theirs[number] for number in mine.keys() & theirs.keys()):
            yield f'it needs bytes of {run.node(one).name}'
    if run.ready_by(at, run.spans, [barrier]) > needed or needed > start:
        yield 'not all that it needs was there'
    edges = [edge for edge in run.bound.constraints
             if (edge.producer, edge.consumer) == (barrier, at)]
    run.bound.constraints = [edge for edge in run.bound.constraints if edge not in edges]
    yield from run.broken(spans)
    run.bound.constraints += edges


def wait_circle(run, finding, _):
    """Each clause: who waits for whom, and that this is so."""
    message, names = finding['message'], finding['names']

    def is_before(first, second):
        return any((edge.producer, edge.consumer) == (run.index[first], run.index[second])
                   for edge in run.bound.constraints)

    def would_give(giver, waiter):
        node = run.node(run.index[giver])
        usable = {d.name: d.capacity - d.reserve for d in run.graph.domains.values()}
        for copy in run.bound.copies:
            life = run.life(copy, run.spans)
            if life is not None and life[1] == FOREVER and (
                    node is copy.reclamation or (copy.reclamation is None and not copy.stays
                                                 and node in copy.users + copy.holders)):
                held = sum(s for d, s, a, b in run.held(run.spans)
                           if d == copy.domain and b == FOREVER)
                need = sum(run.size(c) for c in run.bound.copies
                           if c.domain == copy.domain and run.life(c, run.spans) is None
                           and run.node(run.index[waiter]) in c.fillers + [c.allocation])
                need += sum(s for d, s, _, _ in run.charges(run.index[waiter], (0, 1), run.spans)
                            if d == copy.domain)
                if held + need > usable[copy.domain]:
                    return True
        held = [row for row in run.held(run.spans) if row[3] == FOREVER]
        for at, span in run.spans.items():
            users = [user for copy in run.bound.fills.get(at, ()) for user in copy.users]
            for domain, size, _, end in list(run.charges(at, span, run.spans))[-1:]:
                need = sum(s for d, s, _, _ in run.charges(run.index[waiter], (0, 1), run.spans)
                           if d == domain)
                if run.node(at).staging and end == FOREVER and node in users and \
                        need + sum(s for d, s, _, _ in held if d == domain) > usable[domain]:
                    return True
        return False

    if run.status != 'deadlock' or any(run.index[name] in run.spans for name in names):
        yield 'some of the circle have run'
    both = re.fullmatch(r'(\S+) and (\S+) wait for bytes that each other holds', message)
    if both is not None:
        if not would_give(both[1], both[2]) or not would_give(both[2], both[1]):
            yield 'they do not hold what the other lacks'
        return
    firsts, ends = [], []
    for clause in message.split('; '):
        waits = re.fullmatch(r'(\S+) waits for bytes that (\S+) (holds|gives back)'
                             r'(?:, and \S+ for (.*))?', clause)
        way = re.split(r', | and ', waits[4]) if waits[4] else []
        if not would_give(waits[2], waits[1]):
            yield f'{waits[2]} gives back nothing that {waits[1]} lacks'
        for first, second in zip(way, [waits[2]] + way):
            if 'more' not in first + second and not is_before(first, second):
                yield f'{second} does not wait for {first}'
        firsts.append(waits[1])
        ends.append(way[-1] if way else waits[2])
    if ends != firsts[1:] + firsts[:1]:
        yield f'{firsts} and {ends} are no circle'


CHECKS = {'premature-prefetch': premature_prefetch, 'contention-on-chain': contention_on_chain,
          'exposed-round-trip': exposed_round_trip, 'starved-staging': starved_staging,
          'recompute-delays': recompute_delays, 'held-too-long': held_too_long,
          'speculative-passes': speculative_passes, 'barrier-delays': barrier_delays,
          'wait-circle': wait_circle}


# ---------------------------------------------------------------- runs


class Weir:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)

    def simulate(self, text, family):
        graph, store = self.folder / 'g.weir', self.folder / 'runs.db'
        for path in self.folder.glob('runs.db*'):
            path.unlink()
        graph.write_text(text, encoding='utf-8')
        done = subprocess.run([self.program, 'simulate', graph, '--contention', family, '--json',
                               '--db', store], capture_output=True, text=True, timeout=60)
        if done.returncode not in (0, 4):
            raise ValueError(f'exit status {done.returncode}: {done.stderr.strip()}')
        run = Run(text, store)
        run.lines = [line for line in text.splitlines() if line.startswith('node ')]
        return run, json.loads(done.stdout)['findings']


def check(weir, seed, counts):
    """Lines that say what is wrong with what is found of the seed's graph."""
    text = draw(random.Random(seed))
    problems = []
    for family in ('none', 'pairwise'):
        run, findings = weir.simulate(text, family)

        def again(at, release):
            line = run.lines[at]
            if ' release=' in line or family != 'none':
                return None
            other, _ = weir.simulate(text.replace(line + '\n',
                                                  f'{line} release={release}ns\n'), family)
            return other

        for finding in findings:
            if 'are not shown' in finding['message']:
                continue
            counts[finding['code']] += 1
            problems += [f'{family}: {finding["message"]}: {line}'
                         for line in CHECKS[finding['code']](run, finding, again)]
    return text, problems


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('weir', nargs='?', default=os.environ.get('WEIR', 'weir'))
    brief = os.environ.get('WEIR_BRIEF')    # enough to see that all is there
    parser.add_argument('--seeds', default='0:20' if brief else '0:120')
    options = parser.parse_args(arguments)
    first, end = (int(part) for part in options.seeds.split(':'))
    counts, n_bad = collections.Counter(), 0
    print(f'1..{end - first + 1}', flush=True)
    with tempfile.TemporaryDirectory(prefix='weir-modes-') as folder:
        weir = Weir(options.weir, folder)
        for seed in range(first, end):
            text, problems = check(weir, seed, counts)
            n_bad += bool(problems)
            print(f'{"not ok" if problems else "ok"} {seed - first + 1} - seed {seed}', flush=True)
            for line in problems[:5] + (text.splitlines() if problems else []):
                print(f'# {line}')
    missing = [code for code in CHECKS if counts[code] == 0 and end - first >= MANY]
    print(f'{"not ok" if missing else "ok"} {end - first + 1} - every code was found:'
          f' {dict(sorted(counts.items()))}')
    return 1 if n_bad or missing else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
