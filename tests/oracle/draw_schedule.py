# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs of schedules that move bytes: prefetches, offloads, recomputations, reclamations,
guesses and barriers on a memory that is nearly too small, so that the mistakes of schedules happen.

What is always true: the graph is legal. Times are whole microseconds and add up to less than a
second, sizes are whole megabytes below a gigabyte: the messages of findings show them exactly.
"""


class Schedule:
    """Program order walked once: which objects are valid where, what each was made from."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.edges, self.names = [], [], []
        self.here, self.there = set(), set()    # objects valid in hbm, on the host
        self.made_from = {}                     # object -> the objects it was computed from
        self.n_barriers = 0

    def machine(self):
        rng = self.rng
        self.capacity = rng.choice((60, 80, 100, 140, 300))
        side = rng.choice((1, 1, 2))
        return [f'domain hbm capacity={self.capacity}MB',
                f'domain host capacity={rng.choice((100, 400, 900))}MB',
                f'domain stage capacity={rng.choice((30, 30, 60))}MB',
                'engine sm', f'engine side slots={side}',
                f'engine d2h from=hbm to=host bandwidth=10GB/s slots={rng.choice((1, 1, 2))}',
                f'engine h2d from=host to=hbm bandwidth={rng.choice((1, 10, 10))}GB/s'
                f' slots={rng.choice((1, 1, 1, 2))}',
                'kappa sm h2d 2 evidence=declared', 'kappa h2d sm 1 evidence=declared',
                'kappa side d2h 2 evidence=declared', 'kappa d2h side 1 evidence=declared']

    def objects(self):
        self.all = [f'x{i}' for i in range(self.rng.randint(3, 7))]
        lines = []
        for name in self.all:
            size = self.rng.choice((5, 10, 10, 20, 30))
            where = self.rng.choice(('hbm', 'host', 'host', 'none'))
            if where == 'host':
                lines.append(f'object {name} size={size}MB domain=host initial')
                self.there.add(name)
            else:
                lines.append(f'object {name} size={size}MB' + ' initial' * (where == 'hbm'))
                self.here |= {name} if where == 'hbm' else set()
        return lines

    def add(self, kind, what):
        name = f'{kind[0]}{len(self.names)}'
        extra = ''
        if self.rng.random() < 0.06:
            extra += f' release={self.rng.randint(1, 30)}ms'
        if self.rng.random() < 0.15:
            extra += f' priority={self.rng.randint(-2, 2)}'
        self.lines.append(f'node {name} {kind} {what}{extra}')
        if self.names and self.rng.random() < 0.25:
            self.edges.append(f'edge {self.rng.choice(self.names[-4:])} {name} ordering')
        self.names.append(name)
        return name

    def duration(self):
        return f'duration={self.rng.randint(2, 90) * 100}us'

    def some(self, names, most):
        names = sorted(names)
        return self.rng.sample(names, min(len(names), self.rng.randint(0, most)))

    def compute(self):
        reads = self.some(self.here, 2)
        writes = self.some(set(self.all) - set(reads), 1)
        fields = f'engine={self.rng.choice(("sm", "sm", "side"))} {self.duration()}'
        fields += f' reads={",".join(reads)}' if reads else ''
        fields += f' writes={writes[0]}' if writes else ''
        if self.rng.random() < 0.3:
            fields += f' workspace={self.rng.choice((5, 10, 20))}MB'
        self.add('compute', fields + ' pure' + ' speculative' * (self.rng.random() < 0.1))
        for name in writes:
            self.here.add(name)
            self.there.discard(name)
            self.made_from[name] = list(reads)

    def offload(self):
        for name in self.some(self.here, 1):
            staging = ' staging=20MB@stage' * (self.rng.random() < 0.4)
            self.add('offload', f'engine=d2h object={name}{staging}')
            self.there.add(name)

    def reclaim(self):
        for name in self.some(self.here & (self.there | set(self.made_from)), 1):
            self.add('reclamation', f'object={name}')
            if self.names and self.rng.random() < 0.3:
                self.edges.append(f'edge {self.rng.choice(self.names[:-1])} {self.names[-1]} '
                                  'ordering')
            self.here.discard(name)

    def prefetch(self):
        for name in self.some(self.there - self.here, 1):
            guess = self.rng.choice(('', '', '', ' speculative'))
            self.add('prefetch', f'engine=h2d object={name}{guess}')
            self.here.add(name)

    def recompute(self):
        for name in self.some(set(self.made_from) - self.here, 1):
            sources = self.made_from[name]
            if name not in sources and set(sources) <= self.here:
                fields = f'engine={self.rng.choice(("sm", "side"))} {self.duration()} writes={name}'
                fields += f' reads={",".join(sources)}' if sources else ''
                self.add('rematerialization', fields + ' pure')
                self.here.add(name)
                self.there.discard(name)

    def read_on_host(self):
        for name in self.some(self.there, 1):
            self.add('compute', f'engine=side {self.duration()} reads={name}@host')

    def trip(self):
        """Away and back, and somebody who reads it."""
        for name in self.some(self.here, 1):
            staging = ' staging=20MB@stage' * (self.rng.random() < 0.5)
            self.add('offload', f'engine=d2h object={name}{staging}')
            self.add('reclamation', f'object={name}')
            self.here.discard(name)
            self.there.add(name)
            for _ in range(self.rng.randint(0, 2)):
                self.compute()
            if name in self.there - self.here:
                self.add('prefetch', f'engine=h2d object={name}')
                self.here.add(name)
                self.add('compute', f'engine={self.rng.choice(("sm", "side"))} {self.duration()} '
                         f'reads={name}')

    def staged(self):
        """Two copies out with staging, the first of which somebody reads for long."""
        for name in self.rng.sample(sorted(self.here), min(len(self.here), 2)):
            self.add('offload', f'engine=d2h object={name} staging=20MB@stage')
            self.there.add(name)
            self.add('compute', f'engine=side {self.duration()} reads={name}@host')

    def early(self):
        """Brought in long before it is read."""
        for name in self.some(self.there - self.here, 1):
            self.add('prefetch', f'engine=h2d object={name}')
            self.here.add(name)
            for _ in range(self.rng.randint(2, 5)):
                last = self.names[-1]
                self.compute()
                if last[0] == 'c':
                    self.edges.append(f'edge {last} {self.names[-1]} ordering')
            if name in self.here:
                self.add('compute', f'engine=sm {self.duration()} reads={name}')
                self.edges.append(f'edge {self.names[-2]} {self.names[-1]} ordering')

    def late(self):
        """Given back long after its last use, and somebody who could do with the bytes."""
        for name in self.some(self.here & self.there, 1):
            self.add('compute', f'engine=sm {self.duration()} reads={name}')
            other = self.add('compute', f'engine=side duration={self.rng.randint(5, 30)}ms')
            giver = self.add('reclamation', f'object={name}')
            self.here.discard(name)
            self.edges.append(f'edge {other} {giver} ordering')
            self.add('compute', f'engine=sm {self.duration()} workspace={self.capacity - self.rng.choice((5, 10, 20, 40))}MB')

    def barrier(self):
        if len(self.names) < 3:
            return
        before = self.rng.sample(self.names[-6:], min(len(self.names), self.rng.randint(2, 3)))
        name = self.add('barrier', '')
        self.edges += [f'edge {one} {name} barrier' for one in before]
        for _ in range(self.rng.randint(2, 3)):
            self.compute()
            self.edges.append(f'edge {name} {self.names[-1]} barrier')

    def text(self):
        lines = ['weir 1', 'graph drawn'] + self.machine() + self.objects()
        steps = (self.compute, self.compute, self.compute, self.offload, self.reclaim,
                 self.reclaim, self.prefetch, self.prefetch, self.recompute, self.read_on_host,
                 self.trip, self.early, self.early, self.late, self.late, self.staged,
                 self.barrier)
        while len(self.names) < 30 and self.rng.random() > 0.03:
            self.rng.choice(steps)()
        self.compute()
        return '\n'.join(lines + self.lines + sorted(set(self.edges))) + '\n'


def draw(rng):
    return Schedule(rng).text()
