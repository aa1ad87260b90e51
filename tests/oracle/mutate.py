# SPDX-License-Identifier: GPL-3.0-or-later
"""One change that may make a graph illegal. Whether it does, the oracle says."""

from words import quote


def of(out, keyword):
    return [statement for statement in out if statement.keyword == keyword]


def with_field(out, keyword, field):
    return [statement for statement in of(out, keyword) if field in statement.fields]


def set_field(field, value):
    def change(statement):
        statement.fields[field] = [value]
    return change


def on_one(keyword, change, needs=None):
    """A mutation that changes one statement of a kind (that has a field), where there is one."""
    def mutation(out, rng):
        candidates = with_field(out, keyword, needs) if needs else of(out, keyword)
        if not candidates:
            return False
        change(rng.choice(candidates))
        return True
    return mutation


def toggle(flag):
    def change(statement):
        if flag in statement.flags:
            statement.flags.remove(flag)
        else:
            statement.flags.append(flag)
    return change


def drop_field(field):
    def change(statement):
        del statement.fields[field]
    return change


def no_duration(out, rng):
    """Of a node that runs: the text does not say whether one that is off needs a cost."""
    nodes = [node for node in with_field(out, 'node', 'duration')
             if node.fields.get('guard') != ['off']]
    if nodes:
        del rng.choice(nodes).fields['duration']
    return bool(nodes)


def drop_node(out, rng):
    out.remove(rng.choice(of(out, 'node')))
    return True


def drop_unmentioned_node(out, rng):
    """One that no edge names: what it did for the bytes is missing then."""
    named = {name for edge in of(out, 'edge') for name in edge.names}
    free = [node for node in of(out, 'node') if node.names[0] not in named]
    if free:
        out.remove(rng.choice(free))
    return bool(free)


def double(out, rng):
    statement = rng.choice(out)
    out.insert(rng.randrange(len(out) + 1), statement.copy())
    return True


def reverse_edge(out, rng):
    edges = of(out, 'edge')
    if edges:
        edge = rng.choice(edges).copy()
        edge.names[0], edge.names[1] = edge.names[1], edge.names[0]
        edge.fields.pop('object', None)
        out.append(edge)
    return bool(edges)


def move_node(out, rng):
    node = rng.choice(of(out, 'node'))
    out.remove(node)
    out.insert(rng.randrange(len(out) + 1), node)
    return True


def insert(kind):
    def mutation(out, rng):
        obj = quote(rng.choice(of(out, 'object')).names[0])
        domain = quote(rng.choice(of(out, 'domain')).names[0])
        node = rng.choice(of(out, 'node')).copy()
        node.names = ['inserted', kind]
        node.fields = {'object': [obj], 'domain': [domain]}
        node.flags = []
        out.insert(rng.randrange(len(out) + 1), node)
        return True
    return mutation


def insert_access(field):
    def mutation(out, rng):
        obj = quote(rng.choice(of(out, 'object')).names[0])
        node = rng.choice(of(out, 'node'))
        items = node.fields.setdefault(field, [])
        if obj in items or node.names[1] not in ('compute', 'rematerialization'):
            return False
        items.append(obj)
        return True
    return mutation


def insert_hold(out, rng):
    nodes = of(out, 'node')
    obj = quote(rng.choice(of(out, 'object')).names[0])
    if len(nodes) < 2:
        return False
    low, high = sorted(rng.sample(range(len(nodes)), 2))
    edge = nodes[0].copy()
    edge.keyword, edge.flags = 'edge', []
    edge.names = [nodes[low].names[0], nodes[high].names[0], 'lifetime-hold']
    edge.fields = {'object': [obj]}
    out.append(edge)
    return True


def demand(out, rng):
    resources = of(out, 'resource')
    if resources:
        name = quote(rng.choice(resources).names[0])
        rng.choice(of(out, 'node')).fields['uses'] = [f'{name}:1000GB/s']
    return bool(resources)


def self_alias(out, rng):
    aliases = with_field(out, 'object', 'alias')
    if aliases:
        statement = rng.choice(aliases)
        statement.fields['alias'] = [quote(rng.choice(aliases).names[0])]
    return bool(aliases)


MUTATIONS = {
    'drop a node': drop_node,
    'drop a node that no edge names': drop_unmentioned_node,
    'double a statement': double,
    'reverse an edge': reverse_edge,
    'move a node': move_node,
    'move a node ': move_node,
    'toggle initial': on_one('object', toggle('initial')),
    'toggle retained': on_one('object', toggle('retained')),
    'insert an allocation': insert('allocation'),
    'insert a reclamation': insert('reclamation'),
    'insert a mapping': insert('mapping'),
    'insert a read': insert_access('reads'),
    'insert a write': insert_access('writes'),
    'insert a hold': insert_hold,
    'alias of itself or another': self_alias,
    'read of an unknown object': on_one('node', set_field('reads', 'nothing')),
    'unknown engine': on_one('node', set_field('engine', 'nothing')),
    'unknown domain': on_one('node', set_field('domain', 'nothing')),
    'unknown guard': on_one('node', set_field('guard', 'nothing')),
    'unknown resource': on_one('node', set_field('uses', 'nothing:1B/s')),
    'unknown field': on_one('node', set_field('colour', 'red')),
    'unknown duration': on_one('node', set_field('duration', 'unknown'), 'duration'),
    'no duration': no_duration,
    'half a byte': on_one('object', set_field('size', '2.5')),
    'half a nanosecond': on_one('node', set_field('release', '0.5ns')),
    'unknown unit': on_one('node', set_field('release', '5m')),
    'too large': on_one('object', set_field('size', '9300000TB')),
    'no size': on_one('object', drop_field('size'), 'size'),
    'alias past the end': on_one('object', set_field('size', '3MB'), 'alias'),
    'negative lag': on_one('edge', set_field('lag', '-1')),
    'from the middle': on_one('edge', set_field('from', 'middle')),
    'no capacity': on_one('domain', drop_field('capacity')),
    'no slots': on_one('engine', set_field('slots', '0')),
    'demand above a capacity': demand,
    'no room': on_one('domain', set_field('capacity', '1')),
}


def mutate(out, rng):
    """Changes the statements; returns the name of what was done."""
    while True:
        name = rng.choice(sorted(MUTATIONS))
        if MUTATIONS[name](out, rng):
            return name
