# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulation, event by event, with every question asked afresh from the raw facts.

Whether bytes are held, a slot is free or a node is ready is never remembered: it follows each time
from which nodes have started and finished. The only memory beside that is the progress clocks of
contention, whose floating-point order is part of the definition. A Python float is an IEEE double.
"""

import math
from dataclasses import dataclass, field

from bind import bind
from fates import RUNS, SKIPPED, Fates
from quantity import round_half_away
from words import InputError


@dataclass
class Result:
    status: str                                   # 'done', 'deadlock' or 'shortage'
    makespan: int = 0
    spans: dict = field(default_factory=dict)     # name -> (ready, start, finish)
    peak: dict = field(default_factory=dict)      # domain -> bytes
    pressure: dict = field(default_factory=dict)  # domain -> [(time, bytes)], only changes
    waiting: list = field(default_factory=list)   # names of ready nodes that cannot start
    unfinished: list = field(default_factory=list)
    holding: list = field(default_factory=list)   # names of objects whose bytes are held


# ---------------------------------------------------------------- contention

def pairwise_kappa(graph, node, running):
    """The product over every other running node of the factor for its class."""
    order = []    # classes by first mention, each line read from left to right
    for first, second in graph.kappa:
        for klass in (first, second):
            if klass not in order:
                order.append(klass)
    kappa = 1.0
    for klass in order:
        p = 1.0
        for other in running:
            if other is not node and other.klass == klass:
                p *= graph.kappa.get((node.klass, klass), 1.0)
        kappa *= p
    return kappa


def share_speeds(capacities, running, demands):
    """Speeds rise together; the users of each resource at the least level freeze at it."""
    running = sorted(running, key=lambda node: node.index)
    speed = {}
    while len(speed) < len(running):
        levels = {}
        for resource, capacity in capacities.items():
            frozen = wanted = 0.0
            for node in running:
                for name, demand in demands[node.index]:
                    if name == resource and node.index in speed:
                        frozen += demand * speed[node.index]
                    elif name == resource:
                        wanted += demand
            if wanted > 0:
                levels[resource] = (capacity - frozen) / wanted
        least = min(levels.values(), default=1.0)
        if least >= 1.0:
            speed.update({node.index: 1.0 for node in running if node.index not in speed})
            break
        full = {resource for resource, level in levels.items() if level == least}
        speed.update({node.index: least for node in running
                      if node.index not in speed
                      and any(name in full for name, _ in demands[node.index])})
    return speed


# What calibration fitted: `param` lines. A roofline's power is a whole number of quarters.

FITTED = ('pairwise', 'share', 'roofline')


class Fitted:
    """The family of least rank, of equal ones that of least error, then the first; what it says."""

    def __init__(self, graph):
        self.graph = graph
        errors, ranks = {}, {}
        for (family, name), value in graph.params.items():
            if family in ('measured', 'measured.rank'):
                if name not in FITTED or value < 0:
                    raise InputError(f'param {family} {name} {value}: no such family, or below 0',
                                     name)
                (errors if family == 'measured' else ranks)[name] = value
        if not errors:
            raise InputError('no family of contention was measured')
        self.family = min((name for name in FITTED if name in errors),
                          key=lambda name: (ranks.get(name, float('inf')), errors[name]))
        self.power = graph.params.get(('roofline', 'p'))
        self.eta = {name: 1.0 for name in graph.resources}
        self.demand = {}    # class -> resource -> rate
        if self.family != 'pairwise':
            self.read_lines()

    def read_lines(self):
        if self.family == 'roofline':
            if self.power is None:
                raise InputError('a roofline without a power')
            if not 1 <= self.power <= 16 or (self.power * 4) % 1 != 0:
                raise InputError(f'param roofline p {self.power}: no quarters from 1 to 16')
        for (family, name), value in self.graph.params.items():
            if family == self.family + '.eta':
                self.known(name)
                if not 0.01 <= value <= 100:
                    raise InputError(f'param {family} {name} {value}: not from 0.01 to 100', name)
                self.eta[name] = value
            elif family.startswith(self.family + '.demand.'):
                resource = family.removeprefix(self.family + '.demand.')
                self.known(resource)
                if value < 0 or value % 1 != 0 or value > self.graph.resources[resource]:
                    raise InputError(f'param {family} {name} {value}: no rate of it', name)
                self.demand.setdefault(name, {})[resource] = int(value)

    def known(self, resource):
        if resource not in self.graph.resources:
            raise InputError(f'a param names the resource {resource!r}, which is not there',
                             resource)

    def rates(self, node):
        """resource -> rate, in the order of declaration: of the node's own, else of its class."""
        if node.uses:
            asked = {name: sum(rate for other, rate in node.uses if other == name)
                     for name in self.graph.resources}
        else:
            asked = self.demand.get(node.klass, {})
        return {name: asked[name] for name in self.graph.resources if asked.get(name, 0) > 0}

    def group(self, node):
        if self.family == 'pairwise':
            return node.klass
        if self.family == 'share':
            return frozenset(self.rates(node))
        return tuple(self.rates(node).items())

    def limit(self, resource):
        return max(1, int(self.eta[resource] * self.graph.resources[resource]))

    def speeds(self, running):
        if self.family == 'pairwise':
            return {node.index: 1.0 / pairwise_kappa(self.graph, node, running) for node in running}
        if self.family == 'share':
            limits = {name: self.limit(name) for name in self.graph.resources}
            demands = {node.index: [(name, min(rate, limits[name]))
                                    for name, rate in self.rates(node).items()]
                       for node in running}
            return share_speeds(limits, running, demands)
        return {node.index: 1.0 / self.kappa(node, running) for node in running}

    # ---- the roofline

    def parts(self, node):
        return {name: rate / self.graph.resources[name] for name, rate in self.rates(node).items()}

    def first(self, group):
        """The place in the program of the first node of the group, whether it runs or not."""
        return min(node.index for node in self.graph.nodes if self.group(node) == group)

    def raised(self, x):
        """x to the power of p: products, and roots for the quarters."""
        product = 1.0
        for _ in range(int(self.power)):
            product *= x
        quarters = int(self.power * 4) % 4
        if quarters >= 2:
            product *= math.sqrt(x)
        if quarters % 2 == 1:
            product *= math.sqrt(math.sqrt(x))
        return product

    def root(self, s):
        """k with k^p = s, by Newton's rule from above until k no longer falls."""
        if self.power == 1:
            return s
        k, times = s, 2
        while times <= self.power:
            k = math.sqrt(k)
            times *= 2
        while True:
            reached = self.raised(k)
            lower = k - (reached - s) * k / (self.power * reached)
            if not lower < k:
                return k
            k = lower

    def kappa(self, node, running):
        groups = {}
        for other in running:
            groups.setdefault(self.group(other), []).append(other)
        order = sorted(groups, key=self.first)
        s = 1.0
        for resource, part in self.parts(node).items():
            wanted = 0.0
            for group in order:
                wanted += float(len(groups[group])) * self.parts(groups[group][0]).get(resource, 0.0)
            eta = self.eta[resource]
            s += self.raised(part * max(1.0, wanted / eta)) \
                - self.raised(part * max(1.0, part / eta))
        return self.root(s)


def check_demands(graph):
    """A demand above a capacity is an error."""
    for node in graph.nodes:
        for name, demand in node.uses:
            if demand > graph.resources[name]:
                raise InputError(f'{node.name!r} wants more of {name!r} than there is',
                                 node.name, name)


class Progress:
    """The clocks: one for the nodes that always run at one speed, 0 whenever none of them runs."""

    def __init__(self, graph, family):
        self.graph, self.family = graph, family
        self.fitted = Fitted(graph) if family == 'measured' else None
        self.running = []    # nodes of non-zero length
        self.clock = {}      # group -> double
        self.speed = {}      # group -> double
        self.target = {}     # node index -> what its group's clock shows when it ends
        self.began = {}      # node index -> time
        self.since = 0       # when the set of running nodes last changed
        self.ends = {}       # node index -> time

    def group(self, node):
        if self.family == 'pairwise':
            return node.klass
        if self.family == 'share':
            return frozenset(name for name, _ in node.uses)
        return self.fitted.group(node) if self.fitted else None

    def grow(self, now):
        """Called before every change of the running set."""
        for group in {self.group(node) for node in self.running}:
            self.clock[group] += (now - self.since) * self.speed[group]
        self.since = now

    def start(self, node, now):
        self.grow(now)
        group = self.group(node)
        if group not in [self.group(other) for other in self.running]:
            self.clock[group] = 0.0
            self.speed[group] = 0.0    # set before time goes on
        self.running.append(node)
        self.target[node.index] = self.clock[group] + float(node.duration)
        self.began[node.index] = now

    def finish(self, node, now):
        self.grow(now)
        self.running.remove(node)
        del self.ends[node.index]

    def evaluate(self, now):
        """New speeds and ends for the set that runs now."""
        shares = {}
        if self.family == 'share':
            shares = share_speeds(self.graph.resources, self.running,
                                  {node.index: node.uses for node in self.running})
        elif self.fitted:
            shares = self.fitted.speeds(self.running)
        for node in self.running:
            group = self.group(node)
            if self.family == 'pairwise':
                self.speed[group] = 1.0 / pairwise_kappa(self.graph, node, self.running)
            elif shares:
                self.speed[group] = shares[node.index]
            else:
                self.speed[group] = 1.0
        for node in self.running:
            if self.family == 'none':    # whole nanoseconds: no clock, no rounding
                self.ends[node.index] = self.began[node.index] + node.duration
                continue
            group = self.group(node)
            left = (self.target[node.index] - self.clock[group]) / self.speed[group]
            # The sum `now + ...` is read as exact: only the quotient is a double.
            self.ends[node.index] = now + round_half_away(max(left, 0.0))


# ---------------------------------------------------------------- the run

class Simulation:
    def __init__(self, bound, family):
        self.bound, self.graph, self.family = bound, bound.graph, family
        self.started, self.finished = {}, {}    # node index -> time
        self.now = 0
        self.fates = Fates(self.graph, bound.off)
        self.progress = Progress(self.graph, family)
        self.changed = False                    # the running set, since the last evaluation
        self.curve = {name: [] for name in self.graph.domains}

    # ---- readiness

    def passes(self, index):
        """When an edge leaves a node whose guard is off: the time it would have been ready."""
        return self.ready(self.graph.nodes[index])

    def passed(self, index):
        """When a node that does not run lets its consumers go: its turn has come and that is settled.
        None while either is open."""
        ready = self.ready(self.graph.nodes[index])
        return None if ready is None else max(ready, self.fates.settled[index])

    def ready(self, node):
        """max(release, f_j + lag, s_j + lag from a start); None while a predecessor is open."""
        times = [0, node.release, self.bound.floor.get(node.index, 0)]
        if self.fates.of(node.index) == RUNS and node.index not in self.bound.off:
            times.append(self.fates.settled.get(node.index, 0))    # a fallback: not before it is needed
        for edge in self.bound.constraints:
            if edge.consumer != node.index:
                continue
            if edge.producer in self.bound.off:
                time = self.passes(edge.producer)
            elif self.fates.of(edge.producer) == SKIPPED:
                time = self.passed(edge.producer)
            elif edge.from_start:
                time = self.started.get(edge.producer)
            else:
                time = self.finished.get(edge.producer)
            if time is None:
                return None
            times.append(time + edge.lag)
        return max(times)

    def waiting(self):
        """(ready time, node) of all that have not started and have no open predecessor."""
        answer = []
        for node in self.graph.nodes:
            if node.index not in self.started and node.index not in self.bound.off \
                    and self.fates.of(node.index) == RUNS:
                ready = self.ready(node)
                if ready is not None:
                    answer.append((ready, node))
        return answer

    # ---- bytes

    def is_over(self, node):
        """It has finished, or let its consumers go without it."""
        if self.fates.of(node.index) != SKIPPED:
            return node.index in self.finished
        time = self.passed(node.index)
        return time is not None and time <= self.now

    def all_finished(self, nodes):
        return all(self.is_over(node) for node in nodes)

    def is_charged(self, copy):
        if copy.initial:
            begun = True
        elif copy.allocation is not None:
            begun = copy.allocation.index in self.started
        else:
            begun = any(node.index in self.started for node in copy.fillers)
        if copy.reclamation is not None:
            ended = copy.reclamation.index in self.finished
        elif copy.stays:
            ended = False
        else:
            # Nothing orders the mapping of an empty copy after its allocation: taken literally,
            # a copy whose only user came before it takes no bytes.
            ended = self.all_finished(copy.users + copy.holders)
        return begun and not ended

    def workspace(self, node, domain):
        default = self.graph.works_in(node)
        return sum(amount for amount, where in node.workspace if (where or default) == domain)

    def is_staged(self, node):
        """From the start until every node that uses the copy it filled has finished, else to its
        own finish."""
        if node.index not in self.started:
            return False
        users = [user for copy in self.bound.fills.get(node.index, []) for user in copy.users]
        return not self.all_finished(users + [node])

    def pressure(self, domain):
        total = sum(self.copy_bytes(copy) for copy in self.bound.copies
                    if copy.domain == domain and self.is_charged(copy))
        for node in self.graph.nodes:
            if node.index in self.started and node.index not in self.finished:
                total += self.workspace(node, domain)
            if node.staging and node.staging[1] == domain and self.is_staged(node):
                total += node.staging[0]
        return total

    def lasting(self, domain):
        """Bytes held now that are never given back; those of a reclamation that does not run are not."""
        return sum(self.copy_bytes(copy) for copy in self.bound.copies
                   if copy.domain == domain and self.is_charged(copy)
                   and (copy.stays or copy.reclamation is not None
                        and self.fates.of(copy.reclamation.index) == SKIPPED))

    def copy_bytes(self, copy):
        granule = self.graph.domains[copy.domain].granule
        return -(-self.graph.objects[copy.root].size // granule) * granule

    def limit(self, domain):
        return self.graph.domains[domain].capacity - self.graph.domains[domain].reserve

    def lacks(self, node):
        """Bytes over the limit by domain, were the node to start."""
        before = {name: self.pressure(name) for name in self.graph.domains}
        self.started[node.index] = None
        over = {}
        for name in self.graph.domains:
            after = self.pressure(name)
            if after > before[name] and after > self.limit(name):
                over[name] = after - self.limit(name)
        del self.started[node.index]
        return over

    def needs(self, node, domain):
        """The bytes that the node would take at its start."""
        before = self.pressure(domain)
        self.started[node.index] = None
        after = self.pressure(domain)
        del self.started[node.index]
        return after - before

    # ---- starting

    def has_slot(self, node):
        if node.engine is None:
            return True
        busy = [other for other in self.graph.nodes if other.engine == node.engine
                and other.index in self.started and other.index not in self.finished]
        return len(busy) < self.graph.engines[node.engine].slots

    def is_forbidden(self, node):
        if node.duration == 0:
            return False
        mine = {node.name, node.klass}
        for other in self.progress.running:
            theirs = {other.name, other.klass}
            for first, second, word in self.graph.overlaps:
                if word == 'forbidden' and (first in mine and second in theirs
                                            or first in theirs and second in mine):
                    return True
        return False

    def can_start(self, node):
        return self.has_slot(node) and not self.is_forbidden(node) and not self.lacks(node)

    def start(self, node, now):
        self.started[node.index] = now
        self.fates.one_less(node.index, now)
        if node.duration == 0:
            self.finished[node.index] = now
        else:
            self.progress.start(node, now)
            self.changed = True

    def start_what_fits(self, now):
        """The first in dispatch order that can start, starts; then again from the head."""
        while True:
            queue = sorted((-node.priority, ready, node.index, node)
                           for ready, node in self.waiting() if ready <= now)
            for _, ready, _, node in queue:
                if self.can_start(node):
                    self.spans[node.name] = ready
                    self.start(node, now)
                    break
            else:
                return

    def finish_what_ends(self, now):
        for node in list(self.progress.running):
            if self.progress.ends[node.index] <= now:
                self.progress.finish(node, now)
                self.finished[node.index] = now
                self.changed = True

    def settle(self, now):
        """One instant. The text does not say whether a node whose end comes to round to now ends
        before or after others start; here the running set settles before speeds are taken anew."""
        self.now = now
        while True:
            self.finish_what_ends(now)
            self.start_what_fits(now)
            while self.fates.close(now, self.started):
                self.start_what_fits(now)
            if not self.changed:
                return
            self.changed = False
            self.progress.evaluate(now)
            if all(end > now for end in self.progress.ends.values()):
                return

    def next_instant(self, now):
        times = list(self.progress.ends.values())
        times += [ready for ready, _ in self.waiting() if ready > now]
        times += self.fates.closes.values()
        times += [time for index in self.fates.settled if self.fates.of(index) == SKIPPED
                  and (time := self.passed(index)) is not None and time > now]
        return min(times, default=None)

    def note_pressure(self, now):
        for name, curve in self.curve.items():
            value = self.pressure(name)
            if not curve or curve[-1][1] != value:
                curve.append((now, value))

    def run(self):
        self.spans = {}
        now, status = 0, 'done'
        if any(self.pressure(name) > self.limit(name) for name in self.graph.domains):
            status = 'shortage'    # initial copies over capacity: at 0
            self.note_pressure(0)
        else:
            while now is not None:
                self.settle(now)
                self.note_pressure(now)
                now = self.next_instant(now)
        return self.result(status)

    def result(self, status):
        unfinished = [node for node in self.graph.nodes
                      if node.index not in self.finished and node.index not in self.bound.off
                      and self.fates.of(node.index) != SKIPPED]
        waiting = [node for _, node in self.waiting()]
        if unfinished and status == 'done':
            # "Bytes that can never fit": what a node takes at its start, beside the copies that
            # stay to the end. The text does not define the two words further.
            never = any(self.needs(node, name) > 0 and
                        self.needs(node, name) + self.lasting(name) > self.limit(name)
                        for node in waiting for name in self.graph.domains)
            status = 'shortage' if never else 'deadlock'
        spans = {}
        for node in self.graph.nodes:
            if node.index in self.started:
                spans[node.name] = (self.spans[node.name], self.started[node.index],
                                    self.finished[node.index])
        return Result(status, max(self.finished.values(), default=0), spans,
                      {name: max(value for _, value in curve)
                       for name, curve in self.curve.items()},
                      self.curve, [node.name for node in waiting],
                      [node.name for node in unfinished],
                      sorted({copy.root for copy in self.bound.copies if self.is_charged(copy)}))


def simulate(graph, family='none', bound=None):
    """Result of a run without a policy, or InputError for what can be found before it."""
    bound = bound or bind(graph)
    for node in graph.nodes:
        if node.index not in bound.off and node.duration == 'unknown':
            raise InputError(f'the duration of {node.name!r} is unknown', node.name)
    check_demands(graph)    # said of `share`, and taken to be an error whatever is simulated
    return Simulation(bound, family).run()
