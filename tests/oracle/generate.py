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
from collections import namedtuple

sys.dont_write_bytecode = True

import model
from bind import Walker, bind
from model import InputError, quote
from mutate import mutate
from simulate import Simulation, simulate

ROOMY = 10 ** 12    # bytes: a capacity that never binds


class Statement:
    """One line: keyword, names, fields (each a list of rendered items), flags."""

    def __init__(self, keyword, *names, flags=(), **fields):
        self.keyword, self.names, self.flags = keyword, list(names), list(flags)
        self.in_machine = False    # stands in the machine file
        self.layout = None         # how the line is written
        self.fields = {key.strip('_').replace('klass', 'class'):
                       [str(item) for item in (value if isinstance(value, list) else [value])]
                       for key, value in fields.items() if value not in (None, [])}

    def line(self):
        names = [quote(name) for name in self.names]
        if self.layout == 'quotes':
            names = [name if name.startswith('"') else f'"{name}"' for name in names]
        words = [self.keyword] + names
        words += [key + '=' + ','.join(items) for key, items in self.fields.items()] + self.flags
        if self.layout == 'blanks':
            return '\t' + ' \t  '.join(words) + ' '
        if self.layout == 'comment':
            return ' '.join(words) + ' #size=1 "'
        return ' '.join(words)

    def copy(self):
        other = Statement(self.keyword, *self.names, flags=self.flags)
        other.fields = {key: list(items) for key, items in self.fields.items()}
        other.in_machine, other.layout = self.in_machine, self.layout
        return other


# the text of a graph, and that of its machine file or None
Source = namedtuple('Source', 'graph machine')


def render(statements):
    def lines(in_machine):
        return ''.join(statement.line() + '\n' for statement in statements
                       if statement.in_machine == in_machine)
    return Source('weir 1\n' + lines(False), 'weir 1\n' + lines(True) if lines(True) else None)


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


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.graph = model.Graph()
        self.out = []             # statements in the order they were drawn
        self.mutation = None
        self.mappings = []        # (object, domain) of every mapping node
        chance = self.random.random
        self.has = {name: chance() < share for name, share in {
            'alias': .5, 'granule': .3, 'reserve': .3, 'guard': .35, 'workspace': .5,
            'staging': .45, 'kappa': .6, 'resource': .5, 'overlap': .4, 'priority': .5,
            'release': .35, 'mapping': .5, 'elsewhere': .5, 'hold': .35, 'zero': .4, 'class': .5,
            'odd names': .12, 'units': .3, 'bytes': .4, 'distribution': .15, 'facts': .2,
            'allocation': .5, 'reclamation': .7, 'edges': .8, 'starts': .4, 'lags': .5,
            'ready': .3, 'back': .08, 'none': .25, 'tight': .7, 'mutate': .15, 'shuffle': .3,
            'busy': .3, 'views': 0, 'maps': 0, 'machine': .12, 'rare': .2, 'layout': .15, 'bold': .1}.items()}
        style = self.pick(['mixed'] * 11 + ['contention'] * 4 + ['views'] * 3 + ['maps'] * 2)
        # each style draws much of what the mixed one seldom brings together
        self.has.update({'mixed': {},
                         'contention': {'busy': True, 'class': True, 'edges': False, 'back': False,
                                        'kappa': self.random.random() < .8, 'release': True,
                                        'resource': self.random.random() < .6},
                         'views': {'views': True, 'busy': False, 'release': True},
                         'maps': {'maps': True, 'mapping': True, 'reclamation': True,
                                  'busy': False, 'bold': self.random.random() < .4}}[style])
        self.style = style
        if style == 'contention':    # short and round times: ends that lie on half nanoseconds
            self.times = self.random.choice([[1, 2, 3, 4, 5, 6, 7], list(range(1, 60)),
                                             [10, 30, 50, 70, 90, 100, 150], [100, 300, 500]])
        self.factors = self.random.choice([
            ['1.5'], ['1.5', '2.5'], ['1.1', '1.3', '1.7'], ['1.05', '1.15', '1.1', '1.3'],
            ['3', '1.5', '1'], ['1.5', '2', '1.25', '1.1', '3', '1', '1.7', '2.0', '1.33']])
        self.times = self.random.choice([[1, 2, 3, 4, 5, 6, 7], list(range(1, 60)),
                                         [10, 10, 20, 30], [1000, 2000, 5000, 7500, 12345],
                                         list(range(1, 10 ** 6, 977))])
        self.sizes = self.random.choice([list(range(1, 13)), [8, 16, 24, 32, 48],
                                         [1000, 1500, 4096, 6000, 10000, 2 ** 20]])

    # ---- small draws

    def chance(self, share, feature=None):
        return (feature is None or self.has[feature]) and self.random.random() < share

    def pick(self, items):
        return self.random.choice(list(items))

    def some(self, items, most):
        items = list(items)
        return self.random.sample(items, min(len(items), self.random.randint(0, most)))

    def render_quantity(self, value, units):
        """A bare number, or the same in a unit that can say it."""
        if not self.has['units'] or self.chance(.4):
            return str(value)
        written = [f'{value}{unit}' for unit in units if units[unit] == 1]
        for unit, scale in units.items():
            if scale > 1 and scale <= 10 ** 9 and value % scale == 0:
                written.append(f'{value // scale}{unit}')
            if scale > 1 and scale <= 10 ** 9 and value * 4 % scale == 0 and value >= scale:
                written.append(f'{value / scale:.2f}{unit}')
        return self.pick(written)

    def size(self, value=None):
        value = self.pick(self.sizes) if value is None else value
        return self.render_quantity(value, model.SIZE_UNITS)

    def time(self, value=None):
        value = self.pick(self.times) if value is None else value
        return self.render_quantity(value, model.TIME_UNITS)

    def duration(self):
        if self.chance(.3, 'zero'):
            return '0'
        mean = self.pick(self.times)
        if self.chance(.4, 'distribution'):
            spread = self.random.randint(0, mean)
            return self.pick([f'normal({mean},{spread})', f'gamma({mean},{max(spread, 1)})',
                              f'lognormal({mean},{max(spread, 1)})',
                              f'uniform({mean - spread},{mean + spread})',
                              f'empirical({mean - spread},{mean},{mean + spread})'])
        return self.time(mean)

    def name(self, base):
        if self.has['odd names'] and self.chance(.5):
            return self.pick([f'{base} x', f'{base},y', f'{base}#2', f'{base}"q', f'{base}\\b',
                              f'#{base}', f'µ{base}', f'{base}:1', f'"{base}"', f" {base}'"])
        return base

    def put(self, statement):
        self.out.append(statement)
        model.read_statement(self.graph, model.words_of(statement.line()))

    # ---- machine and objects

    def machine(self):
        self.put(Statement('graph', self.name('random'),
                           scope=self.pick([None, 'cold', 'warm'])))
        for base in ['hbm', 'host', 'far'][:self.pick([1, 2, 2, 2, 3])]:
            self.put(Statement('domain', self.name(base), capacity=ROOMY,
                               granule=self.pick([2, 3, 8, 64]) if self.has['granule']
                               and self.chance(.7) else None))
        domains = list(self.graph.domains)
        for number in range(self.random.randint(1, 3)):
            self.put(Statement('engine', self.name(f'sm{number}'),
                               slots=self.pick([2, 3, 4, 6] if self.has['busy']
                                               else [None, 1, 2, 3]),
                               domain=quote(self.pick(domains)) if self.chance(.4) else None,
                               bandwidth=self.pick(['1GB/s', '300MB/s', '7B/s', None]),
                               latency=self.time() if self.chance(.3) else None))
        for number in range(self.random.randint(0, 3)):
            source, target = self.random.sample(domains, 2) if len(domains) > 1 else domains * 2
            self.put(Statement('engine', self.name(f'dma{number}'), slots=self.pick([None, 1, 2]),
                               bandwidth=self.pick(['2GB/s', '700MB/s']),
                               latency=self.time() if self.chance(.5) else None,
                               from_=quote(source), to=quote(target)))
        if self.has['resource']:
            for number in range(self.random.randint(1, 3)):
                self.put(Statement('resource', self.name(f'res{number}'),
                                   capacity=f'{self.random.randint(5, 20)}B/s'))
        if self.has['guard']:
            self.put(Statement('guard', 'off', 'off'))
            self.put(Statement('guard', 'on', 'on'))
        self.classes = list(self.graph.engines) + (['gemm', 'nccl'] if self.has['class'] else [])

    def contention(self):
        if not self.has['kappa']:
            return
        share = self.pick([.3, .7, 1, 1])
        pairs = [(first, second) for first in self.classes for second in self.classes
                 if self.chance(share)]
        self.random.shuffle(pairs)
        for first, second in pairs:
            self.put(Statement('kappa', first, second, self.pick(self.factors)))

    def objects(self):
        domains = list(self.graph.domains)
        for number in range(self.random.randint(1, 3 if self.has['views'] else 8)):
            initial = self.chance(.1 if self.has['views'] else .4)
            self.put(Statement('object', self.name(f'x{number}'), size=self.size(),
                               domain=quote(self.pick(domains)) if self.chance(.5) else None,
                               ready=self.time() if initial and self.chance(.5, 'ready')
                               else None, flags=['initial'] if initial else []))
        if self.has['alias'] or self.has['views']:
            for number in range(self.random.randint(1, 5)):
                base = self.pick(self.graph.objects.values())
                size = self.random.randint(1, base.size)
                offset = self.random.randint(0, base.size - size)
                if self.chance(.3):
                    offset = self.pick([0, base.size - size])
                self.alias(number, base, size, offset)
        if self.has['views']:
            for base in [obj for obj in self.graph.objects.values() if obj.alias is None][:2]:
                parts = self.random.randint(2, 4)
                for part in range(parts):
                    low, high = base.size * part // parts, base.size * (part + 1) // parts
                    if low < high:
                        self.alias(f'{base.name}.{part}', base, high - low, low)
        model.resolve_objects(self.graph)
        self.walker = Walker(self.graph)

    def alias(self, number, base, size, offset):
        plus = '' if offset == 0 and self.chance(.5) else '+' + self.size(offset)
        self.put(Statement('object', self.name(f'v{number}'), size=self.size(size),
                           alias=quote(base.name) + plus,
                           domain=quote(self.pick(self.graph.domains))
                           if self.chance(.3, 'rare') else None,
                           ready=self.time() if self.chance(.3, 'rare') else None))

    # ---- what can be done now

    def live(self, name, domain):
        return self.walker.live.get((self.walker.root(name), domain))

    def holds_valid(self, name, domain):
        copy = self.live(name, domain)
        return copy is not None and set(self.walker.pieces(name)) <= copy.valid

    def can_read(self, name, here, named=None):
        """In the words of the binder, without its effects."""
        if named is not None or self.live(name, here):
            return self.holds_valid(name, named or here)
        root = self.walker.root(name)
        return self.holds_valid(name, self.walker.home(name)) and all(
            (root, here, piece) in self.walker.mapped for piece in self.walker.pieces(name))

    def reads(self, here, most):
        names = self.some([name for name in self.graph.objects if self.can_read(name, here)],
                          most)
        items = [quote(name) for name in names]
        if self.has['elsewhere'] and self.chance(.4):
            far = [(name, domain) for name in self.graph.objects if name not in names
                   for domain in self.graph.domains if self.can_read(name, here, domain)]
            items += [f'{quote(name)}@{quote(domain)}' for name, domain in self.some(far, 1)]
        return items

    # ---- nodes

    def place(self):
        """(engine or None, domain or None, where the node would work)"""
        engine = self.pick(list(self.graph.engines) + [None])
        domain = self.pick(self.graph.domains) if self.chance(.3) else None
        probe = model.Node(0, '', 'compute', engine=engine, domain=domain)
        return engine, domain, self.graph.works_in(probe)

    def decorations(self, engine, is_free=False):
        """Fields that any node may have."""
        fields = {'engine': quote(engine) if engine else None}
        if self.chance(.4, 'priority'):
            fields['priority'] = self.random.randint(-2, 3)
        if self.chance(.3, 'release'):
            fields['release'] = self.time()
        if self.chance(.4, 'class'):
            fields['klass'] = quote(self.pick(self.classes))
        if self.chance(.5, 'workspace') and not is_free:
            where = self.some(self.graph.domains, len(self.graph.domains))
            fields['workspace'] = [f'{self.size()}@{quote(domain)}' for domain in where] \
                or [self.size()]
        if self.chance(.5, 'resource'):
            fields['uses'] = [f'{quote(name)}:{self.random.randint(1, limit)}B/s'
                              for name, limit in self.graph.resources.items()
                              if self.chance(.6)]
        if self.chance(.3, 'facts'):
            fields.update(self.pick([{'deadline': '3600s'}, {'group': 'g'}, {'origin': 'a.py:3'},
                                     {'evidence': 'measured', 'confidence': '0.5'}]))
        if self.chance(.15, 'guard'):
            fields['guard'] = 'on'
        return fields

    def staging(self):
        if not self.chance(.5, 'staging'):
            return None
        return f'{self.size()}@{quote(self.pick(self.graph.domains))}'

    def cost(self, engine):
        """duration= or bytes=, the latter only where the engine has a bandwidth"""
        if engine and self.graph.engines[engine].bandwidth and self.chance(.4, 'bytes'):
            return {'bytes': self.pick([self.size(), '0'])}
        return {'duration': self.duration()}

    def compute(self):
        engine, domain, here = self.place()
        writes = self.some(self.graph.objects, 2)
        if self.has['busy'] and self.chance(.9 if self.style == 'contention' else .6):
            return 'compute', dict(self.decorations(engine), **self.cost(engine),
                                   domain=quote(domain) if domain else None,
                                   reads=self.reads(here, 1))
        if self.has['views']:
            return 'compute', dict(self.decorations(engine), **self.cost(engine),
                                   domain=quote(domain) if domain else None,
                                   reads=self.reads(here, 1) if self.chance(.5) else None,
                                   writes=self.view())
        kind = self.pick(['compute'] * 6 + ['rematerialization'])
        return kind, dict(self.decorations(engine), **self.cost(engine),
                          domain=quote(domain) if domain else None,
                          reads=self.reads(here, 3), writes=[quote(name) for name in writes],
                          staging=self.staging() if self.chance(.2) else None)

    def view(self):
        """One object to write, mostly an alias: fillers of one copy that nothing orders."""
        views = [obj.name for obj in self.graph.objects.values() if obj.alias is not None]
        return quote(self.pick(views if views and self.chance(.8) else self.graph.objects))

    def copy_node(self):
        ways = [(name, source, target) for name in self.graph.objects
                for source in self.graph.domains for target in self.graph.domains
                if self.holds_valid(name, source)
                and (source != target or self.chance(.3, 'rare'))]
        if not ways:
            return None
        name, source, target = self.pick(ways)
        fitting = [engine.name for engine in self.graph.engines.values()
                   if (engine.source, engine.target) == (source, target)]
        engine = self.pick(fitting or [None])
        fields = self.decorations(engine)
        if engine is None or self.chance(.3):
            fields.update(from_=quote(source), to=quote(target))
        elif self.chance(.2):
            fields.update(to=quote(target))
        if engine is None or self.chance(.6):
            fields.update(self.cost(engine))
        if self.chance(.3, 'rare'):    # a copy node that works beside
            here = self.graph.works_in(model.Node(0, '', '', engine=engine))
            fields.update(reads=self.reads(here, 1),
                          writes=[quote(other) for other in self.some(self.graph.objects, 1)])
        return self.pick(model.COPY_KINDS), dict(fields, object=quote(name),
                                                 staging=self.staging())

    def timing_node(self):
        engine = self.pick(list(self.graph.engines) + [None])
        if self.chance(.3):
            return 'barrier', {'engine': quote(engine) if engine and self.chance(.3) else None}
        return 'transfer', dict(self.decorations(engine), **self.cost(engine),
                                staging=self.staging())

    def host_duration(self):
        return self.duration() if self.chance(.8 if self.has['views'] else .3) else None

    def allocate(self):
        free = [(obj.name, domain) for obj in self.graph.objects.values() if obj.alias is None
                for domain in self.graph.domains if self.live(obj.name, domain) is None]
        if not free:
            return None
        name, domain = self.pick(free)
        return 'allocation', dict(self.decorations(None, is_free=True), object=quote(name),
                                  domain=quote(domain), duration=self.host_duration())

    def reclaim(self):
        live = [(root, domain) for root, domain in self.walker.live]
        if not live:
            return None
        name, domain = self.pick(live)
        is_first = domain == next(iter(self.graph.domains))
        return 'reclamation', dict(self.decorations(None, is_free=True), object=quote(name),
                                   domain=None if is_first and self.chance(.5) else quote(domain),
                                   duration=self.host_duration())

    def map(self):
        ways = [(name, domain) for name in self.graph.objects for domain in self.graph.domains
                if domain != self.walker.home(name)
                and (copy := self.live(name, self.walker.home(name)))
                and (copy.initial or copy.fillers)]    # of an empty copy: the text is unclear
        if not ways:
            return None
        name, domain = self.pick(ways)
        self.mappings.append((name, domain))
        return 'mapping', dict(self.decorations(None, is_free=True), object=quote(name),
                               domain=quote(domain), duration=self.host_duration())

    def off_node(self):
        """Whatever it does, it does not run."""
        names = [quote(name) for name in self.graph.objects]
        kind = self.pick(['compute', 'compute', 'allocation', 'reclamation'])
        engine = self.pick(self.graph.engines)
        if kind == 'compute':
            fields = dict(self.decorations(engine), duration=self.duration(),
                          reads=self.some(names, 2), writes=self.some(names, 1))
        else:
            roots = [quote(obj.name) for obj in self.graph.objects.values() if not obj.alias]
            fields = dict(self.decorations(engine, is_free=True), object=self.pick(roots))
        return kind, dict(fields, guard='off')

    def nodes(self):
        makers = [self.compute] * 8 + [self.copy_node] * 3 + [self.timing_node]
        makers += [self.allocate] * 2 if self.has['allocation'] else []
        makers += [self.reclaim] * 2 if self.has['reclamation'] else []
        makers += [self.map] * 2 if self.has['mapping'] else []
        makers += [self.off_node] * 3 if self.has['guard'] else []
        makers += [self.allocate] * 3 + [self.reclaim] * 2 if self.has['views'] else []
        makers += [self.map] * 3 + [self.reclaim] * 3 if self.has['maps'] else []
        makers += [self.timing_node] * 6 if self.style == 'contention' else []
        wanted = self.random.randint(5, 12) if self.chance(.5) else self.random.randint(5, 40)
        if self.style == 'contention':
            wanted = self.random.randint(12, 40)
        while len(self.graph.nodes) < wanted:
            made = self.pick(makers)()
            if made is None:
                continue
            kind, fields = made
            self.put(Statement('node', self.name(f'n{len(self.graph.nodes)}'), kind, **fields))
            self.walker.step(self.graph.nodes[-1])
        if self.has['bold']:
            self.bold_read()

    def bold_read(self):
        """A last reader of bytes that may well be stale, missing or not mapped any more."""
        engine, domain, here = self.place()
        unmapped = [(name, where) for name, where in self.mappings
                    if not self.live(name, where) and not self.can_read(name, where)
                    and self.holds_valid(name, self.walker.home(name))]
        if unmapped and self.chance(.8):    # the mapping went with the home copy
            name, domain = self.pick(unmapped)
            self.put(Statement('node', 'last', 'compute', duration=self.duration(),
                               domain=quote(domain), reads=quote(name)))
            return
        states = [(name, where) for name in self.graph.objects for where in self.graph.domains
                  if self.live(name, where) and not self.holds_valid(name, where)]
        items = [f'{quote(name)}@{quote(where)}' for name, where in states]
        items += [quote(name) for name, where in states if where == here] * 2
        items += [quote(name) for name in self.graph.objects
                  if not self.live(name, here) and self.live(name, self.walker.home(name))]
        items += [quote(self.pick(self.graph.objects))] if not items else []
        self.put(Statement('node', 'last', 'compute', duration=self.duration(),
                           engine=quote(engine) if engine else None,
                           domain=quote(domain) if domain else None, reads=self.pick(items)))

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

    # ---- the whole

    def spell_out(self):
        """implied=none: the hazards as edges, some of those dropped that others cover, and now
        and then one that nothing covers."""
        try:
            hazards = sorted({(h.first, h.second) for h in bind(model.read(*render(self.out))).hazards})
        except InputError:
            return
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
        domain.fields['capacity'] = [self.size(max(1, int(least + (most - least) * share)) + reserve)]
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
        if self.has['none']:
            self.spell_out()
        self.tighten()
        self.shuffle()
        self.split()
        self.lay_out()
        if self.has['mutate'] and not self.has['machine']:
            self.mutation = mutate(self.out, self.random)
        return self


# ---------------------------------------------------------------- statistics

def features(source, made):
    """The words that a graph has, as far as they matter to what is simulated."""
    found = set()
    try:
        graph = model.read(*source)
    except InputError:
        return found
    if source.machine:
        found.add('machine file')
    for statement in made.out:
        found |= {f'{statement.keyword} {field}=' for field in statement.fields}
        found |= {f'{statement.keyword} {flag}' for flag in statement.flags}
        if statement.keyword in ('node', 'edge', 'overlap'):
            kind = statement.names[1 if statement.keyword == 'node' else 2]
            found.add(f'{statement.keyword} {kind}')
        elif statement.keyword in ('kappa', 'resource', 'guard'):
            found.add(statement.keyword)
    if any(domain for node in graph.nodes for _, domain in node.reads):
        found.add('node reads=O@D')
    if any(obj.alias and graph.objects[obj.alias].alias for obj in graph.objects.values()):
        found.add('alias of an alias')
    if any(node.duration == 0 and node.kind not in model.FREE_KINDS for node in graph.nodes):
        found.add('node of length zero')
    if any(graph.is_off(node) for node in graph.nodes):
        found.add('guard that is off')
    found.add(f'implied={graph.implied}')
    return found


def outcome(source, family):
    try:
        return simulate(model.read(*source), family).status
    except InputError:
        return 'input'


def statistics(seeds):
    outcomes, seen, waits, faults = {}, {}, 0, {}
    for seed in seeds:
        made = Maker(seed).make()
        source = render(made.out)
        status = outcome(source, 'none')
        key = status + (' (mutated)' if made.mutation else '')
        outcomes[key] = outcomes.get(key, 0) + 1
        for feature in features(source, made):
            seen[feature] = seen.get(feature, 0) + 1
        if status == 'input':
            try:
                simulate(model.read(*source))
            except InputError as error:
                word = ' '.join(w for w in str(error).split() if "'" not in w)[:60]
                faults[word] = faults.get(word, 0) + 1
        else:
            spans = simulate(model.read(*source)).spans.values()
            waits += any(start > ready for ready, start, _ in spans)
    for title, table in (('outcome', outcomes), ('feature', seen), ('fault', faults)):
        for name, count in sorted(table.items(), key=lambda item: (-item[1], item[0])):
            print(f'{title}: {100 * count / len(seeds):5.1f} %  {name}')
    print(f'with waits: {100 * waits / len(seeds):5.1f} %')


def main(arguments):
    if arguments[:1] == ['--statistics']:
        low, high = arguments[1].split(':')
        statistics(range(int(low), int(high)))
    else:
        source = render(Maker(int(arguments[0])).make().out)
        sys.stdout.write(source.graph)
        if source.machine:
            sys.stdout.write('\n# the machine file:\n' + source.machine)


if __name__ == '__main__':
    main(sys.argv[1:])
