# SPDX-License-Identifier: GPL-3.0-or-later
"""Which copy each read, write, copy and reclamation means, and what order follows from that.

Walks the nodes in program order. The bytes of an object are cut at every border of an alias into
pieces, so that "for each byte range" becomes "for each piece". What is always true of the Bound
returned by bind(): nothing reads stale or missing bytes, nothing closes a cycle, and with
implied=none no hazard is left uncovered.
"""

from dataclasses import dataclass, field

from model import COPY_KINDS
from words import InputError


@dataclass(eq=False)
class Copy:
    """One lifetime of an object's bytes in one domain: a reclamation ends it, the next begins."""
    root: str
    domain: str
    initial: bool = False
    allocation: object = None            # the node that began it, if one did
    before: object = None                # the reclamation of the copy before it in this domain
    reclamation: object = None
    fillers: list = field(default_factory=list)   # writers and copy nodes into it
    users: list = field(default_factory=list)     # readers, writers, mappings, copy nodes
    holders: list = field(default_factory=list)   # consumers of lifetime-hold edges
    stays: bool = False                  # to the end of the run
    valid: set = field(default_factory=set)       # pieces
    changer: dict = field(default_factory=dict)   # piece -> the last node that changed it
    readers: dict = field(default_factory=dict)   # piece -> readers since that change


@dataclass(frozen=True)
class Hazard:
    """`first` must have finished before `second` starts."""
    first: int
    second: int
    type: str
    object: str


class Walker:
    """The state of every copy after some nodes of the program."""

    def __init__(self, graph):
        self.graph = graph
        self.live = {}           # (root, domain) -> Copy
        self.copies = []         # all that ever were
        self.reclaimed = {}      # (root, domain) -> the last reclamation there
        self.mapped = {}         # (root, domain, piece) -> mapping of the home copy, visible there
        self.hazards = []
        self.floor = {}          # node index -> when the initial copies it reads are ready
        self.fills = {}          # node index -> copies it fills
        for obj in graph.objects.values():
            if obj.initial:
                copy = Copy(obj.root, obj.domain, initial=True)
                copy.valid = set(self.pieces(obj.name))
                self.begin(copy)

    def begin(self, copy):
        copy.before = self.reclaimed.get((copy.root, copy.domain))
        self.live[copy.root, copy.domain] = copy
        self.copies.append(copy)
        return copy

    def pieces(self, name):
        """The pieces that an object covers, as (low, high) of its root."""
        obj = self.graph.objects[name]
        borders = set()
        for other in self.graph.objects.values():
            if other.root == obj.root:
                borders |= {other.low, other.high}
        borders = sorted(border for border in borders if obj.low <= border <= obj.high)
        return list(zip(borders, borders[1:]))

    def root(self, name):
        return self.graph.objects[name].root

    def home(self, name):
        """An alias has its object's copies, so its object's home."""
        return self.graph.objects[self.root(name)].domain

    def hazard(self, first, second, kind, name):
        if first is not None and first is not second:
            self.hazards.append(Hazard(first.index, second.index, kind, name))

    # ---- the two things that happen to bytes

    def read(self, node, name, copy, must_be_valid=True):
        """A reader must follow the last node that changed what it reads."""
        for piece in self.pieces(name):
            if must_be_valid and piece not in copy.valid:
                raise InputError(f'{node.name!r} reads stale or missing bytes of {name!r} in '
                                 f'{copy.domain!r}', node.name, name)
            self.hazard(copy.changer.get(piece), node, 'data-ready', name)
            copy.readers.setdefault(piece, []).append(node)
        copy.users.append(node)
        if copy.initial:
            # Readers of an initial copy are ready no earlier than the object's `ready`. A mapping
            # "counts as a reader", a copy node "reads its object's copy": both are taken to wait.
            ready = self.graph.objects[copy.root].ready
            self.floor[node.index] = max(self.floor.get(node.index, 0), ready)

    def change(self, node, name, domain):
        """A node that changes bytes must follow the last change and every reader since."""
        copy = self.live.get((self.root(name), domain))
        if copy is None:
            copy = self.begin(Copy(self.root(name), domain))
        for piece in self.pieces(name):
            if piece not in copy.changer:
                # "every filler of bytes not changed since the copy began"
                self.hazard(copy.allocation, node, 'storage-ready', name)
                self.hazard(copy.before, node, 'storage-ready', name)
            self.hazard(copy.changer.get(piece), node, 'storage-ready', name)
            for reader in copy.readers.get(piece, []):
                self.hazard(reader, node, 'storage-ready', name)
            copy.changer[piece] = node
            copy.readers[piece] = []
            copy.valid.add(piece)
        copy.fillers.append(node)
        copy.users.append(node)
        self.fills.setdefault(node.index, []).append(copy)
        return copy

    # ---- what nodes do

    def do_read(self, node, name, named):
        root, here = self.root(name), self.graph.works_in(node)
        copy = self.live.get((root, named if named is not None else here))
        if copy is None and named is None:
            home = self.home(name)
            copy = self.live.get((root, home))
            if copy is not None:
                for piece in self.pieces(name):
                    mapping = self.mapped.get((root, here, piece))
                    if mapping is None:
                        raise InputError(f'{node.name!r} reads {name!r} through no mapping in '
                                         f'{here!r}', node.name, name)
                    self.hazard(mapping, node, 'data-ready', name)
        if copy is None:
            raise InputError(f'{node.name!r} reads missing bytes of {name!r}', node.name, name)
        self.read(node, name, copy)

    def do_write(self, node, name):
        copy = self.change(node, name, self.graph.works_in(node))
        for other in self.live.values():
            if other is not copy and other.root == copy.root:
                other.valid -= set(self.pieces(name))    # stale in every other copy

    def do_map(self, node):
        name, here = node.object, self.graph.works_in(node)
        copy = self.live.get((self.root(name), self.home(name)))
        if copy is None:
            raise InputError(f'{node.name!r} maps a missing copy of {name!r}', node.name, name)
        self.read(node, name, copy, must_be_valid=False)
        for piece in self.pieces(name):
            self.mapped[copy.root, here, piece] = node

    def copy_ends(self, node):
        """(from, to) of a copy node with an object"""
        engine = self.graph.engines.get(node.engine)
        source = node.source or (engine and engine.source) or self.home(node.object)
        target = node.target or (engine and engine.target)
        if target is None:
            raise InputError(f'{node.name!r} copies to no domain', node.name)
        return source, target

    def do_copy(self, node):
        source, target = self.copy_ends(node)
        copy = self.live.get((self.root(node.object), source))
        if copy is None:
            raise InputError(f'{node.name!r} copies missing bytes of {node.object!r}',
                             node.name, node.object)
        self.read(node, node.object, copy)
        self.change(node, node.object, target)

    def do_allocate(self, node):
        key = self.root(node.object), self.graph.works_in(node)
        if key in self.live:
            raise InputError(f'{node.name!r} allocates a live copy of {node.object!r}',
                             node.name, node.object)
        copy = self.begin(Copy(*key, allocation=node))
        self.hazard(copy.before, node, 'storage-ready', node.object)

    def do_reclaim(self, node):
        key = self.root(node.object), self.graph.works_in(node)
        copy = self.live.pop(key, None)
        if copy is None:
            raise InputError(f'{node.name!r} reclaims a missing copy of {node.object!r}',
                             node.name, node.object)
        copy.reclamation = node
        self.reclaimed[key] = node
        if copy.domain == self.home(node.object):
            for mapping in [at for at in self.mapped if at[0] == copy.root]:
                del self.mapped[mapping]    # a mapping ends with the home copy

    def step(self, node):
        """One node of the program. One whose guard is off touches no bytes."""
        if self.graph.is_off(node):
            return
        for name, named in node.reads:
            self.do_read(node, name, named)
        if node.kind in ('allocation', 'reclamation', 'mapping'):
            if node.object is None:
                raise InputError(f'{node.name!r} names no object', node.name)
            if node.kind != 'mapping' and self.graph.objects[node.object].alias is not None:
                raise InputError(f'{node.name!r} may not act on the alias {node.object!r}',
                                 node.name, node.object)
        if node.kind == 'mapping':
            self.do_map(node)
        elif node.kind in COPY_KINDS and node.object is not None:
            self.do_copy(node)
        elif node.kind == 'allocation':
            self.do_allocate(node)
        elif node.kind == 'reclamation':
            self.do_reclaim(node)
        for name in node.writes:
            self.do_write(node, name)

    # ---- after the last node

    def end(self):
        for obj in self.graph.objects.values():
            if obj.retained:
                copy = self.live.get((obj.root, self.home(obj.name)))
                if copy is None or not set(self.pieces(obj.name)) <= copy.valid:
                    raise InputError(f'{obj.name!r} is retained but its home copy is missing or '
                                     'stale at the end', obj.name)
                copy.stays = True
        self.hold()
        for copy in self.copies:
            if not copy.users:
                copy.stays = True    # a copy that nobody uses
            if copy.reclamation is not None:
                copy.stays = False
                for node in [copy.allocation] + copy.users + copy.holders:
                    self.hazard(node, copy.reclamation, 'lifetime-hold', copy.root)

    def hold(self):
        """lifetime-hold edges that name an object: the consumer holds what the producer uses."""
        for edge in self.graph.edges:
            if edge.type != 'lifetime-hold' or edge.object is None:
                continue
            producer, consumer = self.graph.node(edge.producer), self.graph.node(edge.consumer)
            if self.graph.is_off(producer) or self.graph.is_off(consumer):
                continue
            for copy in self.copies:
                if copy.root != self.root(edge.object) or producer not in copy.users:
                    continue
                if copy.reclamation is not None and consumer.index > copy.reclamation.index:
                    raise InputError(f'{consumer.name!r} holds {edge.object!r} past its '
                                     f'reclamation {copy.reclamation.name!r}',
                                     consumer.name, copy.reclamation.name, edge.object)
                copy.holders.append(consumer)


@dataclass(frozen=True)
class Constraint:
    """An edge of the simulation, given or implied, between indices of nodes."""
    producer: int
    consumer: int
    lag: int
    from_start: bool


@dataclass
class Bound:
    graph: object
    copies: list
    fills: dict          # node index -> copies it fills
    floor: dict          # node index -> earliest ready time from initial copies
    hazards: list
    constraints: list    # what the simulation obeys
    off: set             # indices of nodes that do not run


def find_cycle(count, constraints):
    """Indices of nodes on a cycle: what is left when nodes without a predecessor are taken away,
    again and again, from the front and from the back."""
    left = set(range(count))
    while True:
        inner = [c for c in constraints if c.producer in left and c.consumer in left]
        keep = {c.consumer for c in inner} & {c.producer for c in inner}
        if keep == left:
            return sorted(left)
        left = keep


def covered(first, second, constraints):
    """Is there a path of edges whose first leaves the finish of `first`?"""
    reached = {c.consumer for c in constraints if c.producer == first and not c.from_start}
    while True:
        more = {c.consumer for c in constraints if c.producer in reached} - reached
        if second in reached:
            return True
        if not more:
            return False
        reached |= more


def bind(graph):
    walker = Walker(graph)
    for node in graph.nodes:
        walker.step(node)
    walker.end()
    hazards = sorted(set(walker.hazards), key=lambda h: (h.first, h.second, h.type, h.object))
    index = {node.name: node.index for node in graph.nodes}
    given = [Constraint(index[edge.producer], index[edge.consumer], edge.lag, edge.from_start)
             for edge in graph.edges]
    implied = [Constraint(first, second, 0, False)
               for first, second in sorted({(h.first, h.second) for h in hazards})]
    constraints = given + (implied if graph.implied == 'all' else [])
    cycle = find_cycle(len(graph.nodes), constraints)
    if cycle:
        names = [graph.nodes[at].name for at in cycle]
        raise InputError('a cycle among ' + ', '.join(names), *names)
    if graph.implied == 'none':
        for hazard in hazards:
            if not covered(hazard.first, hazard.second, given):
                first, second = graph.nodes[hazard.first].name, graph.nodes[hazard.second].name
                raise InputError(f'a race: {second!r} must follow {first!r} for {hazard.object!r}'
                                 f' ({hazard.type}), and no path of edges says so',
                                 first, second, hazard.object)
    off = {node.index for node in graph.nodes if graph.is_off(node)}
    return Bound(graph, walker.copies, walker.fills, walker.floor, hazards, constraints, off)
