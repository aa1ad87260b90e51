# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs, the first part: small draws, the machine, the objects."""

import random

import model
from bind import Walker
from quantity import SIZE_UNITS, TIME_UNITS
from statement import Statement
from words import quote, words_of

ROOMY = 10 ** 12    # bytes: a capacity that never binds


# how many graphs in a hundred have a feature at all
SHARES = {'alias': 50, 'granule': 30, 'reserve': 30, 'guard': 35, 'workspace': 50, 'staging': 45,
          'kappa': 60, 'resource': 50, 'overlap': 40, 'priority': 50, 'release': 35, 'mapping': 50,
          'elsewhere': 50, 'hold': 35, 'zero': 40, 'class': 50, 'odd names': 12, 'units': 30,
          'bytes': 40, 'distribution': 15, 'facts': 20, 'allocation': 50, 'reclamation': 70,
          'edges': 80, 'starts': 40, 'lags': 50, 'ready': 30, 'back': 8, 'none': 25, 'tight': 70,
          'mutate': 15, 'shuffle': 30, 'busy': 30, 'machine': 12, 'rare': 20, 'layout': 15,
          'bold': 10, 'views': 0, 'maps': 0}

# Each style draws much of what the mixed one seldom brings together: its own shares.
STYLES = {'mixed': {},
          'contention': {'busy': 100, 'class': 100, 'edges': 0, 'back': 0, 'kappa': 80,
                         'release': 100, 'resource': 60},
          'views': {'views': 100, 'busy': 0, 'release': 100},
          'maps': {'maps': 100, 'mapping': 100, 'reclamation': 100, 'busy': 0, 'bold': 40}}

TIMES = [[1, 2, 3, 4, 5, 6, 7], list(range(1, 60)), [10, 10, 20, 30],
         [1000, 2000, 5000, 7500, 12345], list(range(1, 10 ** 6, 977))]
# short and round: under contention their ends lie on half nanoseconds
CONTENDED_TIMES = [[1, 2, 3, 4, 5, 6, 7], list(range(1, 60)), [10, 30, 50, 70, 90, 100, 150],
                   [100, 300, 500]]
SIZES = [list(range(1, 13)), [8, 16, 24, 32, 48], [1000, 1500, 4096, 6000, 10000, 2 ** 20]]
POWERS = ['1', '1.25', '1.5', '1.75', '2', '2.5', '2.75', '3', '3.25', '4', '5.5', '8', '11.75', '16']
ETAS = ['0.5', '0.88', '0.93', '0.97', '1', '1.25', '2']
FACTORS = [['1.5'], ['1.5', '2.5'], ['1.1', '1.3', '1.7'], ['1.05', '1.15', '1.1', '1.3'],
           ['3', '1.5', '1'], ['1.5', '2', '1.25', '1.1', '3', '1', '1.7', '2.0', '1.33']]


class MachineMaker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.graph = model.Graph()
        self.out = []             # statements in the order they were drawn
        self.mutation = None
        self.mappings = []        # (object, domain) of every mapping node
        self.style = self.pick(['mixed'] * 11 + ['contention'] * 4 + ['views'] * 3 + ['maps'] * 2)
        self.has = {name: self.random.random() * 100 < share
                    for name, share in {**SHARES, **STYLES[self.style]}.items()}
        self.times = self.pick(CONTENDED_TIMES if self.style == 'contention' else TIMES)
        self.sizes = self.pick(SIZES)
        self.factors = self.pick(FACTORS)

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
        return self.render_quantity(value, SIZE_UNITS)

    def time(self, value=None):
        value = self.pick(self.times) if value is None else value
        return self.render_quantity(value, TIME_UNITS)

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
        model.read_statement(self.graph, words_of(statement.line()))

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
        self.fitted()
        if not self.has['kappa']:
            return
        share = self.pick([.3, .7, 1, 1])
        pairs = [(first, second) for first in self.classes for second in self.classes
                 if self.chance(share)]
        self.random.shuffle(pairs)
        for first, second in pairs:
            self.put(Statement('kappa', first, second, self.pick(self.factors)))

    def fitted(self):
        """What a calibration says: which family, and its numbers."""
        draw = random.Random(f'fitted {self.seed}')    # what else is drawn stays as it is
        if draw.random() < .4 or not self.graph.resources and draw.random() < .8:
            return
        families = draw.sample(['pairwise', 'share', 'roofline', 'roofline'], draw.randint(1, 3))
        for family in sorted(set(families)):
            self.put(Statement('param', 'measured', family, draw.choice(['0.01', '0.02', '0.005'])))
            if draw.random() < .4:
                self.put(Statement('param', 'measured.rank', family, draw.choice('123')))
        if 'roofline' in families or draw.random() < .5:
            self.put(Statement('param', 'roofline', 'p', draw.choice(POWERS)))
        for name, capacity in self.graph.resources.items():
            for family in ('share', 'roofline'):
                if draw.random() < .7:
                    self.put(Statement('param', family + '.eta', name, draw.choice(ETAS)))
                for klass in self.classes:
                    if draw.random() < .6:
                        self.put(Statement('param', f'{family}.demand.{name}', klass,
                                           str(draw.randint(0, capacity))))

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
