#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The oracle's own test: it must give the answers that were worked out by hand.

cases.py [DIRECTORY...]: each NAME.weir there with a NAME.json (the command and what it must give).
Without arguments: the directory of shared cases beside the checkout (environment: WEIR_SHARED).
"""

import json
import os
import sys

sys.dont_write_bytecode = True    # leaves nothing in the source tree

import model
import simulate
from words import InputError

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get('WEIR_SHARED', os.path.join(os.path.dirname(TREE), 'shared'))


def option(command, name, default):
    words = command.split()
    return words[words.index(name) + 1] if name in words else default


def answer(path, family):
    """(exit status, Result or None, names that a message would hold)"""
    try:
        result = simulate.simulate(model.read_file(path), family)
    except InputError as error:
        return 3, None, error.names
    status = 0 if result.status == 'done' else 4
    return status, result, result.waiting + result.unfinished + result.holding


def differences(path, wanted):
    status, result, names = answer(path, option(wanted['command'], '--contention', 'none'))
    found = []
    if status != wanted['exit']:
        return [f'exit status {status}, expected {wanted["exit"]} ({names})']
    for name in wanted.get('message_names', []):
        if name not in names:
            found.append(f'{name} is not named, only {names}')
    if 'makespan_ns' in wanted and result.makespan != wanted['makespan_ns']:
        found.append(f'makespan {result.makespan}, expected {wanted["makespan_ns"]}')
    if 'peak_bytes' in wanted and result.peak != wanted['peak_bytes']:
        found.append(f'peak {result.peak}, expected {wanted["peak_bytes"]}')
    spans = {name: list(span) for name, span in result.spans.items()} if result else {}
    for name, span in wanted.get('spans', {}).items():
        if spans.get(name) != span:
            found.append(f'{name} {spans.get(name)}, expected {span}')
    return found


def main(places):
    cases = []
    for place in places:
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            base = os.path.join(place, name[:-len('.weir')])
            if name.endswith('.weir') and os.path.exists(base + '.json'):
                cases.append(base)
    if not cases:
        print('1..1\nok 1 # SKIP oracle: no cases beside the checkout (WEIR_SHARED/cases)')
        return 0
    print(f'1..{len(cases)}')
    failed = 0
    for number, base in enumerate(cases, 1):
        with open(base + '.json', encoding='utf-8') as stream:
            wanted = json.load(stream)
        found = differences(base + '.weir', wanted)
        failed += bool(found)
        print(f'{"not ok" if found else "ok"} {number} - oracle: {os.path.basename(base)}')
        for line in found:
            print(f'# {line}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:] or [os.path.join(SHARED, 'cases')]))
