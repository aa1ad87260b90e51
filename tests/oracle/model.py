# SPDX-License-Identifier: GPL-3.0-or-later
"""The text form of a Weir graph, read into plain objects.

Part of the oracle: a second, deliberately naive implementation that shares no code with the
product. It was written from the specification's sentences alone and is meant to be read beside
them. Nothing here is fast.

What is always true of a Graph returned by read(): every name that a statement mentions is
defined, every quantity is a whole number of bytes or nanoseconds that fits 64 bits, aliases end
at an object that is no alias and lie within it, and every node has a duration (or the word
'unknown', which only a simulation refuses).
"""

from dataclasses import dataclass, field

from quantity import duration, factor, integer, positive, rate, size, time
from words import InputError, split, split_last, text, words_of

KINDS = ('compute', 'allocation', 'mapping', 'transfer', 'prefetch', 'offload',
         'rematerialization', 'barrier', 'reclamation')
COPY_KINDS = ('transfer', 'prefetch', 'offload')
FREE_KINDS = ('allocation', 'mapping', 'reclamation', 'barrier')
EDGE_TYPES = ('data-ready', 'storage-ready', 'ordering', 'lifetime-hold', 'barrier',
              'capacity-wait')


@dataclass
class Domain:
    name: str
    capacity: int = None
    reserve: int = 0
    granule: int = 1


@dataclass
class Engine:
    name: str
    slots: int = 1
    domain: str = None
    bandwidth: int = None
    latency: int = 0
    source: str = None
    target: str = None


@dataclass
class Object:
    name: str
    size: int = None
    domain: str = None   # the home of an object that is no alias, after resolve()
    alias: str = None
    offset: int = 0      # within the object named by alias
    initial: bool = False
    retained: bool = False
    ready: int = 0
    root: str = None     # the object at the end of the alias chain: itself without one
    low: int = 0         # covers [low, high) of the root
    high: int = 0


@dataclass
class Node:
    index: int           # its place in program order
    name: str
    kind: str
    engine: str = None
    duration: object = None   # ns, or 'unknown'
    bytes: int = None
    reads: list = field(default_factory=list)      # (object, domain or None)
    writes: list = field(default_factory=list)     # objects
    object: str = None
    source: str = None
    target: str = None
    domain: str = None
    workspace: list = field(default_factory=list)  # (bytes, domain or None)
    staging: tuple = None                          # (bytes, domain)
    uses: list = field(default_factory=list)       # (resource, rate)
    klass: str = None
    priority: int = 0
    release: int = 0
    guard: str = None
    deadline: int = None
    fallback: str = None


@dataclass
class Edge:
    producer: str
    consumer: str
    type: str
    object: str = None
    lag: int = 0
    from_start: bool = False


class Graph:
    def __init__(self):
        self.name = None
        self.implied = 'all'
        self.domains = {}
        self.engines = {}
        self.resources = {}
        self.kappa = {}           # (class, class) -> factor, in the order of the lines
        self.params = {}          # (family, name) -> value
        self.overlaps = []        # (name or class, name or class, word)
        self.objects = {}
        self.nodes = []           # in program order
        self.edges = []
        self.guards = {}          # name -> True when on
        self.given = {}           # (keyword, name) -> fields its line names

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        return None

    def is_off(self, node):
        return node.guard is not None and not self.guards[node.guard]

    def works_in(self, node):
        """A node works in its `domain`, else its engine's, else the first declared."""
        if node.domain is not None:
            return node.domain
        if node.engine is not None and self.engines[node.engine].domain is not None:
            return self.engines[node.engine].domain
        return next(iter(self.domains), None)


# ---------------------------------------------------------------- statements

# fields of each statement, beside `evidence` and `confidence`, which all take
FIELDS = {
    'graph': 'scope implied',
    'domain': 'capacity reserve granule',
    'engine': 'slots domain bandwidth latency from to flops',
    'resource': 'capacity',
    'kappa': '',
    'overlap': 'proof earliest latest',
    'param': '',
    'object': 'size domain align placements alias ready recompute offset origin',
    'node': 'engine duration bytes reads writes object from to domain workspace staging uses class'
            ' priority release deadline guard group fallback origin',
    'edge': 'from object lag',
    'guard': '',
}
FLAGS = {'object': ('initial', 'retained', 'offloadable'),
         'node': ('pure', 'impure', 'speculative')}
POSITIONS = {'graph': 1, 'domain': 1, 'engine': 1, 'resource': 1, 'kappa': 3, 'overlap': 3,
             'param': 3, 'object': 1, 'node': 2, 'edge': 3, 'guard': 2}


def statement(words):
    """(keyword, positional strings, {field: word}, set of flags)"""
    keyword = text(words[0])
    if keyword not in FIELDS:
        raise InputError(f'unknown statement {keyword!r}', keyword)
    count = POSITIONS[keyword]
    if len(words) < 1 + count:
        raise InputError(f'{keyword}: {count} words expected')
    positional = [text(word) for word in words[1:1 + count]]
    fields, flags = {}, set()
    for word in words[1 + count:]:
        name, *rest = split(word, '=')
        name = text(name)
        if not rest:
            if name not in FLAGS.get(keyword, ()) or name in flags:
                raise InputError(f'{keyword}: unexpected {name!r}', name)
            flags.add(name)
            continue
        if name not in FIELDS[keyword].split() + ['evidence', 'confidence'] or name in fields:
            raise InputError(f'{keyword}: unexpected field {name!r}', name)
        fields[name] = word[len(name) + 1:]
    return keyword, positional, fields, flags


def one_of(string, *allowed):
    if string not in allowed:
        raise InputError(f'{string!r}: expected one of {", ".join(allowed)}', string)
    return string


def add(table, name, value):
    if name in table:
        raise InputError(f'{name!r} is defined twice', name)
    table[name] = value


def take(fields, name, parse, default=None):
    return parse(text(fields[name])) if name in fields else default


def read_object(name, fields, flags):
    result = Object(name, size=take(fields, 'size', size), domain=take(fields, 'domain', str),
                    ready=take(fields, 'ready', time, 0),
                    initial='initial' in flags, retained='retained' in flags)
    take(fields, 'align', positive)
    if 'alias' in fields:
        base, offset = split_last(fields['alias'], '+')
        result.alias = text(base)
        result.offset = 0 if offset is None else size(text(offset))
    if result.size is None:
        raise InputError(f'object {name!r} has no size', name)
    return result


def read_node(index, name, kind, fields):
    node = Node(index, name, one_of(kind, *KINDS))
    for attribute, key, parse in (('engine', 'engine', str), ('duration', 'duration', duration),
                                  ('bytes', 'bytes', size), ('object', 'object', str),
                                  ('source', 'from', str), ('target', 'to', str),
                                  ('domain', 'domain', str), ('klass', 'class', str),
                                  ('priority', 'priority', integer), ('release', 'release', time),
                                  ('guard', 'guard', str), ('deadline', 'deadline', time),
                                  ('fallback', 'fallback', str)):
        if key in fields:
            setattr(node, attribute, parse(text(fields[key])))
    if 'reads' in fields:
        for item in split(fields['reads'], ','):
            what, where = split_last(item, '@')
            node.reads.append((text(what), None if where is None else text(where)))
    if 'writes' in fields:
        node.writes = [text(item) for item in split(fields['writes'], ',')]
    if 'workspace' in fields:
        for item in split(fields['workspace'], ','):
            what, where = split_last(item, '@')
            node.workspace.append((size(text(what)), None if where is None else text(where)))
    if 'staging' in fields:
        what, where = split_last(fields['staging'], '@')
        if where is None:
            raise InputError(f'node {name!r}: staging=SIZE@D expected', name)
        node.staging = (size(text(what)), text(where))
    if 'uses' in fields:
        for item in split(fields['uses'], ','):
            what, amount = split_last(item, ':')
            if amount is None:
                raise InputError(f'node {name!r}: uses=RES:RATE expected', name)
            node.uses.append((text(what), rate(text(amount))))
    return node


def read_statement(graph, words):
    keyword, at, fields, flags = statement(words)
    graph.given[keyword, at[0]] = set(fields)
    if keyword == 'graph':
        if graph.name is not None:
            raise InputError('a second graph line', at[0])
        graph.name = at[0]
        graph.implied = one_of(take(fields, 'implied', str, 'all'), 'all', 'none')
        one_of(take(fields, 'scope', str, 'cold'), 'cold', 'warm')
    elif keyword == 'domain':
        add(graph.domains, at[0], Domain(at[0], take(fields, 'capacity', size),
                                         take(fields, 'reserve', size, 0),
                                         take(fields, 'granule', size, 1)))
    elif keyword == 'engine':
        add(graph.engines, at[0], Engine(at[0], take(fields, 'slots', positive, 1),
                                         take(fields, 'domain', str),
                                         take(fields, 'bandwidth', rate),
                                         take(fields, 'latency', time, 0),
                                         take(fields, 'from', str), take(fields, 'to', str)))
    elif keyword == 'resource':
        add(graph.resources, at[0], take(fields, 'capacity', rate))
    elif keyword == 'kappa':
        add(graph.kappa, (at[0], at[1]), factor(at[2]))    # a factor given twice is an error
    elif keyword == 'param':
        add(graph.params, (at[0], at[1]), float(at[2]))
    elif keyword == 'overlap':
        graph.overlaps.append((at[0], at[1], one_of(at[2], 'allowed', 'forbidden', 'unknown')))
    elif keyword == 'object':
        add(graph.objects, at[0], read_object(at[0], fields, flags))
    elif keyword == 'node':
        if graph.node(at[0]) is not None:
            raise InputError(f'node {at[0]!r} is defined twice', at[0])
        graph.nodes.append(read_node(len(graph.nodes), at[0], at[1], fields))
    elif keyword == 'edge':
        start = one_of(take(fields, 'from', str, 'finish'), 'finish', 'start') == 'start'
        graph.edges.append(Edge(at[0], at[1], one_of(at[2], *EDGE_TYPES),
                                take(fields, 'object', str), take(fields, 'lag', time, 0), start))
    elif keyword == 'guard':
        add(graph.guards, at[0], one_of(at[1], 'on', 'off') == 'on')


# ---------------------------------------------------------------- what must hold of the whole

def known(table, name, what, whose):
    if name is not None and name not in table:
        raise InputError(f'{whose}: unknown {what} {name!r}', name, whose)


def resolve_names(graph):
    names = {node.name for node in graph.nodes}
    for domain in graph.domains.values():
        if domain.capacity is None:
            raise InputError(f'domain {domain.name!r} has no capacity', domain.name)
        # the text is silent on these two; no graph is the worse for them
        if domain.capacity == 0 or domain.reserve > domain.capacity:
            raise InputError(f'domain {domain.name!r} has no room at all', domain.name)
    for name, capacity in graph.resources.items():
        if capacity is None:
            raise InputError(f'resource {name!r} has no capacity', name)
    for engine in graph.engines.values():
        for domain in (engine.domain, engine.source, engine.target):
            known(graph.domains, domain, 'domain', engine.name)
    for obj in graph.objects.values():
        known(graph.domains, obj.domain, 'domain', obj.name)
        known(graph.objects, obj.alias, 'object', obj.name)
    for node in graph.nodes:
        known(graph.engines, node.engine, 'engine', node.name)
        known(graph.objects, node.object, 'object', node.name)
        known(graph.guards, node.guard, 'guard', node.name)
        for domain in [node.source, node.target, node.domain] \
                + [where for _, where in node.reads] + [where for _, where in node.workspace] \
                + ([node.staging[1]] if node.staging else []):
            known(graph.domains, domain, 'domain', node.name)
        for what in [what for what, _ in node.reads] + node.writes:
            known(graph.objects, what, 'object', node.name)
        for what, _ in node.uses:
            known(graph.resources, what, 'resource', node.name)
        if node.fallback not in (None, 'wait', 'fail'):
            known(names, node.fallback, 'node', node.name)
    for edge in graph.edges:
        known(names, edge.producer, 'node', 'edge')
        known(names, edge.consumer, 'node', 'edge')
        known(graph.objects, edge.object, 'object', 'edge')


def resolve_objects(graph):
    """Roots and byte ranges. The home is the `domain`, by default the first declared."""
    first = next(iter(graph.domains), None)
    for obj in graph.objects.values():
        root, low, seen = obj, 0, {obj.name}
        while root.alias is not None:
            low += root.offset
            target = graph.objects[root.alias]
            if root.offset + root.size > target.size:
                raise InputError(f'{root.name!r} reaches past {target.name!r}', root.name)
            if target.name in seen:
                raise InputError(f'{obj.name!r} is an alias of itself', obj.name)
            seen.add(target.name)
            root = target
        if obj.alias is not None and obj.initial:
            raise InputError(f'the alias {obj.name!r} may not be initial', obj.name)
        obj.root, obj.low, obj.high = root.name, low, low + obj.size
    for obj in graph.objects.values():
        if obj.domain is None:
            obj.domain = first
        if obj.domain is None:
            raise InputError(f'no domain for {obj.name!r}', obj.name)


def resolve_costs(graph):
    for node in graph.nodes:
        if node.klass is None:
            node.klass = node.engine    # the class defaults to the engine's name
        if node.duration is not None:
            continue
        amount = node.bytes
        if amount is None and node.kind in COPY_KINDS and node.object is not None:
            amount = graph.objects[node.object].size
        if amount is not None:
            engine = graph.engines.get(node.engine)
            if engine is None or not engine.bandwidth:
                raise InputError(f'{node.name!r} has bytes but no bandwidth', node.name)
            # latency + bytes / bandwidth, rounded up
            node.duration = engine.latency + -(-amount * 10 ** 9 // engine.bandwidth)
        elif node.kind in FREE_KINDS:
            node.duration = 0
        else:
            raise InputError(f'{node.name!r} has no cost', node.name)


def read_statements(source):
    graph = Graph()
    seen_version = False
    for number, line in enumerate(source.split('\n'), 1):
        try:
            words = words_of(line)
            if not words:
                continue
            if text(words[0]) == 'weir':
                if seen_version or [text(word) for word in words] != ['weir', '1']:
                    raise InputError('expected one line "weir 1"')
                seen_version = True
                continue
            read_statement(graph, words)
        except InputError as error:
            raise InputError(f'line {number}: {error}', *error.names) from None
    if not seen_version:
        raise InputError('expected "weir 1"')
    return graph


ATTRIBUTES = {'from': 'source', 'to': 'target'}


def replace_fields(graph, machine):
    """What a machine file says stands in the place of the graph's: field by field. Only what
    describes a machine is looked at."""
    for keyword, mine, theirs in (('domain', graph.domains, machine.domains),
                                  ('engine', graph.engines, machine.engines)):
        for name, new in theirs.items():
            old = mine.setdefault(name, new)
            for field_name in machine.given[keyword, name] - {'flops', 'evidence', 'confidence'}:
                attribute = ATTRIBUTES.get(field_name, field_name)
                setattr(old, attribute, getattr(new, attribute))
    graph.resources.update(machine.resources)
    graph.kappa.update(machine.kappa)
    graph.params.update(machine.params)


def read(source, machine=None):
    """The graph in a text, with the machine file's text where there is one, or InputError."""
    graph = read_statements(source)
    if machine is not None:
        replace_fields(graph, read_statements(machine))
    resolve_names(graph)
    resolve_objects(graph)
    resolve_costs(graph)
    return graph


def read_file(path):
    with open(path, 'rb') as stream:
        data = stream.read()
    try:
        return read(data.decode('utf-8'))
    except UnicodeDecodeError:
        raise InputError('not UTF-8') from None
