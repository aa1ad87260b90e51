# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs, the second part: nodes. The binder runs along, so that most reads are valid."""

import model
from draw_machine import MachineMaker
from statement import Statement
from words import quote


class NodeMaker(MachineMaker):
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
