# SPDX-License-Identifier: GPL-3.0-or-later
"""How often each feature and each outcome occurs in a range of seeds."""

import model
from generate import Maker
from simulate import simulate
from statement import render
from words import InputError


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
