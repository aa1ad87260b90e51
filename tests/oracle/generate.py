#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs for the comparison: generate.py SEED prints one, generate.py --statistics A:B
says how often each feature and each outcome occurs in a range of seeds.

The oracle's binder runs along while nodes are drawn, so that most reads are valid; then the
capacities are cut to a share of what the graph wants, and some graphs are made illegal by one
change. What is right is not decided here: the oracle reads the finished text like any other.
The same seed gives the same text.
"""

import random
import sys

sys.dont_write_bytecode = True

import model
from bind import bind
from draw_machine import ROOMY
from draw_nodes import NodeMaker
from mutate import mutate
from simulate import Simulation, simulate
from statement import Statement, render
from words import InputError, quote


class Roomy(Simulation):
    """A run that nothing stops notes what each node takes at its start."""

    def __init__(self, bound, family):
        super().__init__(bound, family)
        self.most = {name: 0 for name in self.graph.domains}

    def start(self, node, now):
        for name in self.most:
            self.most[name] = max(self.most[name], self.needs(node, name))
        super().start(node, now)

    def least(self, domain):
        """Below this the run cannot begin, or some node can hardly ever start."""
        granule = self.graph.domains[domain].granule
        there = sum(-(-obj.size // granule) * granule for obj in self.graph.objects.values()
                    if obj.initial and obj.domain == domain)
        return max(there, self.most[domain])


class Maker(NodeMaker):
    def tie_copies(self):
        """A prefetch or offload has a consumer; a copy that nothing uses is a mere transfer."""
        for statement in self.out:
            if statement.keyword == 'node' and statement.names[1] in ('prefetch', 'offload'):
                node = self.graph.node(statement.names[0])
                copies = self.walker.fills.get(node.index, [])
                if not any(user.index > node.index for copy in copies for user in copy.users):
                    statement.names[1] = node.kind = 'transfer'

    def retain(self):
        for statement in self.out:
            if statement.keyword == 'object':
                name = statement.names[0]
                obj = self.graph.objects[name]
                if self.chance(.3 if obj.alias is None else .1) \
                        and self.holds_valid(name, self.walker.home(name)):
                    statement.flags.append('retained')
                    obj.retained = True

    # ---- edges and overlaps

    def edge(self, first, second):
        """One given edge; a lag, a start, a type, an object at random."""
        both = {name for name, _ in first.reads} | set(first.writes)
        kind = self.pick(['ordering', 'ordering', 'data-ready', 'storage-ready', 'barrier']
                         + ['capacity-wait'] * self.has['rare'])
        obj = self.pick(sorted(both)) if both and kind != 'barrier' and self.chance(.3) else None
        self.put(Statement('edge', first.name, second.name, kind,
                           object=quote(obj) if obj and kind != 'ordering' else None,
                           from_='start' if self.chance(.4, 'starts') else None,
                           lag=self.time() if self.chance(.4, 'lags') else None))

    def edges(self):
        nodes = self.graph.nodes
        if self.has['edges']:
            for _ in range(self.random.randint(0, len(nodes) // (4 if self.has['busy'] else 1))):
                first, second = sorted(self.random.sample(range(len(nodes)), 2))
                self.edge(nodes[first], nodes[second])
        for node in nodes:
            if self.graph.is_off(node) and self.chance(.7):    # edges pass through it
                before, after = nodes[:node.index], nodes[node.index + 1:]
                if before and after:
                    self.edge(self.pick(before), node)
                    self.edge(node, self.pick(after))
        if self.has['hold']:
            for copy in self.some([copy for copy in self.walker.copies if copy.users], 3):
                self.hold(copy)
        if self.has['back']:
            first, second = sorted(self.random.sample(range(len(nodes)), 2))
            self.edge(nodes[second], nodes[first])    # against program order: legal or a cycle

    def hold(self, copy):
        """A consumer up to the reclamation holds every copy that the producer uses."""
        producer = self.pick(copy.users)
        last = len(self.graph.nodes) - 1
        for other in self.walker.copies:
            if other.root == copy.root and producer in other.users and other.reclamation:
                last = min(last, other.reclamation.index)
        later = self.graph.nodes[producer.index + 1:last + 1]
        if later:
            self.put(Statement('edge', producer.name, self.pick(later).name, 'lifetime-hold',
                               object=quote(copy.root),
                               lag=self.time() if self.chance(.2, 'lags') else None))

    def overlaps(self):
        if not self.has['overlap']:
            return
        names = [node.name for node in self.graph.nodes] + self.classes * 5
        for _ in range(self.random.randint(1, 5)):
            first, second = self.pick(names), self.pick(names)
            if self.chance(.25):
                first = second = self.pick(self.classes)
            self.put(Statement('overlap', first, second,
                               self.pick(['forbidden'] * 4 + ['allowed', 'unknown'])))

    # ---- fallbacks

    def fallbacks(self):
        """Some nodes give way to others, mostly later ones. Drawn apart: other seeds stay as they are."""
        draw = random.Random(f'fallback {self.seed}')
        nodes = [s for s in self.out if s.keyword == 'node']
        if draw.random() > .3 or len(nodes) < 3:
            return
        falls = {}    # from name to name
        for _ in range(draw.randint(1, max(1, len(nodes) // 4))):
            first = draw.randrange(len(nodes) - 1)
            second = draw.randrange(first + 1, min(len(nodes), first + 6))
            if draw.random() < .05:
                first, second = second, first
            node, at = nodes[first], nodes[second].names[0]
            name = at
            while at in falls:
                at = falls[at]
            if node.names[0] in falls or at == node.names[0]:
                continue
            if draw.random() < .1:
                node.fields['fallback'] = ['wait']
            else:
                falls[node.names[0]] = name
                node.fields['fallback'] = [quote(name)]
            if draw.random() < .9:
                node.fields['deadline'] = [str(sum(draw.choice(self.times)
                                                   for _ in range(draw.randint(0, len(nodes)))))]

    # ---- the whole

    def spell_out(self):
        """implied=none: the hazards as edges, some of those dropped that others cover, and now
        and then one that nothing covers."""
        try:
            bound = bind(model.read(*render(self.out)))
        except InputError:
            return
        hazards = sorted({(hazard.first, hazard.second) for hazard in bound.hazards})
        graph_line = next(s for s in self.out if s.keyword == 'graph')
        graph_line.fields['implied'] = ['none']
        nodes = self.graph.nodes
        spelt = [Statement('edge', nodes[first].name, nodes[second].name,
                           self.pick(['ordering', 'data-ready', 'storage-ready', 'barrier']))
                 for first, second in hazards]
        self.random.shuffle(spelt)
        given = self.out
        for statement in list(spelt):
            if not self.chance(.6):
                continue
            fewer = [other for other in spelt if other is not statement]
            self.out = given + fewer
            if self.chance(.05) or self.is_legal():
                spelt = fewer
        if spelt and self.chance(.12):
            self.pick(spelt).fields['from'] = ['start']    # does not leave the finish: a race,
        self.out = given + spelt                           # unless another path covers it

    def is_legal(self):
        try:
            bind(model.read(*render(self.out)))
            return True
        except InputError:
            return False

    def tighten(self):
        """Capacities from what a roomy run wants at its peak."""
        try:
            roomy = Roomy(bind(model.read(*render(self.out))), 'none')
            peak = roomy.run().peak
        except InputError:
            return
        for least_share in (0, 0, .3, .6, .9):
            for statement in self.out:
                if statement.keyword == 'domain':
                    self.cut(statement, roomy, peak, least_share)
            if simulate(model.read(*render(self.out))).status == 'done' or self.chance(.1):
                return

    def cut(self, domain, roomy, peak, least_share):
        most = peak[domain.names[0]]
        share = self.pick([.2, .4, .6, .8, .9, .95, 1, 1]) if self.has['tight'] else 1
        share = max(share, least_share)
        reserve = self.pick(self.sizes) if self.has['reserve'] and self.chance(.6) else 0
        least = 0 if self.chance(.03) else roomy.least(domain.names[0])
        usable = max(1, int(least + (most - least) * share))
        domain.fields['capacity'] = [self.size(usable + reserve)]
        domain.fields.pop('reserve', None)
        if reserve:
            domain.fields['reserve'] = [self.size(reserve)]

    def shuffle(self):
        """Statements come in any order; nodes, domains and kappa lines keep theirs."""
        if not self.has['shuffle']:
            return
        groups = {}
        for statement in self.out:
            groups.setdefault(statement.keyword, []).append(statement)
        mixed = []
        while groups:
            keyword = self.pick(sorted(groups))
            mixed.append(groups[keyword].pop(0))
            if not groups[keyword]:
                del groups[keyword]
        self.out = mixed

    def lay_out(self):
        for statement in self.out:
            if self.chance(.3, 'layout'):
                statement.layout = self.pick(['quotes', 'blanks', 'comment'])

    def wrong(self, keyword, field):
        """A value that the machine file replaces, legal where it stands."""
        if keyword == 'domain':
            return str(ROOMY if field == 'capacity' else 0 if field == 'reserve' else 1)
        return '1ns' if field == 'latency' else '1' if field == 'slots' else '1000B/s'

    def split(self):
        """Some of the machine moves to a machine file, which replaces single fields."""
        if not self.has['machine']:
            return
        for statement in [s for s in self.out if s.keyword in ('engine', 'resource', 'kappa',
                                                               'domain')]:
            if self.chance(.3) and statement.keyword == 'kappa':
                statement.in_machine = True
            elif self.chance(.5) and statement.fields:
                field = self.pick(sorted(statement.fields))
                other = statement.copy()
                other.in_machine = True
                other.fields = {field: statement.fields[field]}
                self.out.append(other)
                if field not in ('domain', 'from', 'to'):
                    statement.fields[field] = [self.wrong(statement.keyword, field)]
            elif self.chance(.5) and statement.keyword == 'kappa':
                other = statement.copy()
                other.in_machine = True
                self.out.append(other)
                statement.names[2] = '9'

    def make(self):
        self.machine()
        self.objects()
        self.nodes()
        self.tie_copies()
        self.retain()
        self.edges()
        self.overlaps()
        self.contention()
        self.fallbacks()
        if self.has['none']:
            self.spell_out()
        self.tighten()
        self.shuffle()
        self.split()
        self.lay_out()
        if self.has['mutate'] and not self.has['machine']:
            self.mutation = mutate(self.out, self.random)
        return self


def main(arguments):
    if arguments[:1] == ['--statistics']:
        low, high = arguments[1].split(':')
        from frequency import statistics
        statistics(range(int(low), int(high)))
    else:
        source = render(Maker(int(arguments[0])).make().out)
        sys.stdout.write(source.graph)
        if source.machine:
            sys.stdout.write('\n# the machine file:\n' + source.machine)


if __name__ == '__main__':
    main(sys.argv[1:])
