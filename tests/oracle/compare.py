#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares weir with the oracle on random graphs. Prints TAP, one test a seed.

compare.py [WEIR] [--seeds A:B] [--keep DIR] [--shrink SECONDS] [--no-expand]

For each seed, for contention none, pairwise, share and measured: exit status, status of the stored run,
makespan, every span, the peak and the pressure curve of each domain; and that the links of the
critical chain are known and add up to the makespan; and that `weir verify` finds nothing wrong with the
run. `weir check --expand` must
refuse what the oracle refuses; else what it prints must give the same timeline in weir and in the
oracle, and itself when it is expanded again. Of each difference a small graph is printed, and kept
in DIR. WEIR is by default the environment's; with WEIR_BRIEF there are fewer seeds.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True    # leaves nothing in the source tree

import model
from generate import Maker
from shrink import shrink
from simulate import simulate
from statement import Source, render
from words import InputError

BRIEF = bool(os.environ.get('WEIR_BRIEF'))    # enough to see that all is there
FAMILIES = ('none', 'pairwise', 'share', 'measured')
TIMEOUT_S = 60
SPANS = """SELECT node.name, span.ready_ns, span.start_ns, span.finish_ns
             FROM span JOIN node ON node.run_id = span.run_id AND node.id = span.node_id
            WHERE span.run_id = ?"""


CHAIN = 'SELECT cause, start_ns, finish_ns FROM chain WHERE run_id = ? ORDER BY position'


class Answer:
    """What one of the two says of one graph and family: an exit status and, of a run, its parts."""

    def __init__(self, status, message=''):
        self.exit, self.message, self.parts = status, message, {}


def step_function(points):
    """Points of a curve, sorted, without those that change nothing."""
    kept = []
    for time, value in sorted(points):
        if kept and kept[-1][0] == time:
            kept.pop()
        if not kept or kept[-1][1] != value:
            kept.append((time, value))
    return kept


def flat(curve):
    """A curve of nothing but zero is as good as none."""
    return [] if all(value == 0 for _, value in curve) else curve


def wrong_chain(links, makespan):
    """What is wrong with a critical chain; None."""
    end = 0
    for position, (cause, start, finish) in enumerate(links):
        if cause == 'unknown' or start != end or finish < start:
            return f'link {position} of the chain: {cause} {start} {finish} after {end}'
        end = finish
    return None if end == makespan else f'the chain ends at {end}, the run at {makespan}'


def ask_oracle(source, family):
    try:
        result = simulate(model.read(*source), family)
    except InputError as error:
        return Answer(3, str(error))
    answer = Answer(0 if result.status == 'done' else 4,
                    f'{result.status} {result.waiting} wait' if result.status != 'done' else '')
    answer.parts = {'status': result.status, 'makespan': result.makespan, 'spans': result.spans,
                    'peak': result.peak,
                    'pressure': {name: flat(step_function(curve))
                                 for name, curve in result.pressure.items()}}
    return answer


class Weir:
    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.path = os.path.join(folder, 'graph.weir')
        self.machine = os.path.join(folder, 'machine.weir')
        self.store = os.path.join(folder, 'runs.db')

    def run(self, source, *arguments):
        with open(self.path, 'w', encoding='utf-8') as stream:
            stream.write(source.graph)
        if source.machine is not None:
            with open(self.machine, 'w', encoding='utf-8') as stream:
                stream.write(source.machine)
            arguments += ('--machine', self.machine)
        return subprocess.run([self.program, *arguments], stdin=subprocess.DEVNULL,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8', errors='replace', timeout=TIMEOUT_S)

    def expand(self, source):
        return self.run(source, 'check', '--expand', self.path)

    def simulate(self, source, family):
        for suffix in ('', '-wal', '-shm'):
            if os.path.exists(self.store + suffix):
                os.remove(self.store + suffix)
        done = self.run(source, 'simulate', self.path, '--policy', 'retain', '--contention', family,
                        '--json', '--db', self.store)
        answer = Answer(done.returncode, done.stderr.strip())
        if done.returncode == 0:
            said = json.loads(done.stdout)
            answer.parts['makespan'] = said['makespan_ns']
            answer.parts['peak'] = said['peak_bytes']
        if done.returncode in (0, 4):
            answer.parts.update(self.stored())
            answer.parts['verified'] = self.verified()
        elif done.returncode == 3 and not answer.message:
            answer.exit = '3 without a message'
        return answer

    def verified(self):
        """What `weir verify` finds wrong with the run; None."""
        done = subprocess.run([self.program, 'verify', 'latest', '--quiet', '--db', self.store],
                              stdin=subprocess.DEVNULL, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', errors='replace',
                              timeout=TIMEOUT_S)
        return None if done.returncode == 0 else \
            f'weir verify gives {done.returncode}: {done.stdout}{done.stderr}'

    def stored(self):
        """The one run of the store."""
        with sqlite3.connect(self.store) as store:
            runs = store.execute('SELECT id, status, makespan_ns FROM run').fetchall()
            if len(runs) != 1:
                return {'status': f'{len(runs)} runs in the store'}
            run_id, status, makespan = runs[0]
            spans = {name: times for name, *times in store.execute(SPANS, (run_id,))}
            curves = {}
            for domain, time, value in store.execute(
                    'SELECT domain, t_ns, bytes FROM pressure WHERE run_id = ?', (run_id,)):
                curves.setdefault(domain, []).append((time, value))
            chain = wrong_chain(store.execute(CHAIN, (run_id,)).fetchall(), makespan)
        store.close()
        return {'status': status, 'stored makespan': makespan, 'wrong chain': chain,
                'spans': {name: tuple(times) for name, times in spans.items()
                          if None not in times},
                'pressure': {name: flat(step_function(curve)) for name, curve in curves.items()}}


def differing(name, expected, found):
    """Lines that say where two tables differ."""
    lines = []
    for key in sorted(set(expected) | set(found)):
        if expected.get(key) != found.get(key):
            lines.append(f'{name} {key}: oracle {expected.get(key)}, weir {found.get(key)}')
    return lines


def difference(oracle, weir, only=None):
    """None, or (kind, lines). `only` limits the spans to the nodes of these names."""
    if oracle.exit != weir.exit:
        return (f'exit {oracle.exit} {weir.exit}',
                [f'exit status: oracle {oracle.exit} ({oracle.message}), weir {weir.exit} '
                 f'({weir.message})'])
    if oracle.exit not in (0, 4):
        return None
    mine, theirs = dict(oracle.parts), dict(weir.parts)
    for parts in (mine, theirs):
        parts.setdefault('peak', {})
        if only is not None:
            parts['spans'] = {name: span for name, span in parts['spans'].items() if name in only}
        parts['pressure'] = {name: curve for name, curve in parts['pressure'].items() if curve}
    lines = differing('span', mine['spans'], theirs['spans'])
    if lines:
        return 'spans', lines
    if theirs['peak']:
        lines = differing('peak', mine['peak'], theirs['peak'])
    for name in ('makespan', 'stored makespan'):
        if oracle.exit == 0 and name in theirs and theirs[name] != mine['makespan']:
            lines.append(f'{name}: oracle {mine["makespan"]}, weir {theirs[name]}')
    lines += differing('pressure', mine['pressure'], theirs['pressure'])
    if lines:
        return 'bytes', lines
    if theirs.get('wrong chain') is not None:
        return 'chain', [theirs['wrong chain']]
    if theirs.get('verified') is not None:
        return 'verify', [theirs['verified']]
    # the text names the status of a run only when it failed
    if mine['status'] != 'done' and theirs['status'] != mine['status']:
        return 'status', [f'status: oracle {mine["status"]}, weir {theirs["status"]}']
    return None


class Comparison:
    def __init__(self, weir, expands):
        self.weir, self.expands = weir, expands
        self.counts = {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def family(self, source, family):
        return difference(ask_oracle(source, family), self.weir.simulate(source, family))

    def expanded(self, source):
        """The graph with everything implied written out."""
        original = ask_oracle(source, 'none')
        done = self.weir.expand(source)
        if original.exit == 3:
            if original.message.endswith('is unknown'):
                return None    # a duration: only a simulation refuses it
            if done.returncode not in (1, 3):
                return ('check passes', [f'check --expand gives {done.returncode}, the oracle '
                                         f'refuses: {original.message}'])
            return None
        if done.returncode != 0:
            return ('check refuses', [f'check --expand gives {done.returncode} '
                                      f'({done.stderr.strip()}), the oracle finds nothing'])
        names = set(original.parts['spans'])
        expanded = Source(done.stdout, source.machine)
        for who, answer in (('the oracle', ask_oracle(expanded, 'none')),
                            ('weir', self.weir.simulate(expanded, 'none'))):
            found = difference(original, answer, only=names)
            if found:
                return (f'expand, {who}, {found[0]}',
                        [f'read by {who}, in the place of weir: {line}' for line in found[1]])
        again = self.weir.expand(expanded)
        if again.stdout != done.stdout:
            return 'expand again', ['expanded again it is another graph']
        return None

    def tests_of(self, made):
        graph_has = {statement.keyword for statement in made.out}
        for family in FAMILIES:
            needs = {'none': None, 'pairwise': 'kappa', 'share': 'resource',
                     'measured': 'param'}[family]
            if needs in graph_has or needs is None or made.seed % 5 == 0:
                yield family, lambda source, family=family: self.family(source, family)
        if self.expands:
            yield 'expand', self.expanded

    def safely(self, test, source):
        try:
            return test(source)
        except subprocess.TimeoutExpired:
            return 'hang', [f'no answer after {TIMEOUT_S} s']
        except (sqlite3.Error, json.JSONDecodeError, KeyError) as error:
            return type(error).__name__, [f'the answer cannot be read: {error!r}']

    def seed(self, seed):
        """(name of the test, kind, lines, statements) of each difference"""
        made = Maker(seed).make()
        oracle = ask_oracle(render(made.out), 'none')
        self.count('refused' if oracle.exit == 3 else oracle.parts['status'])
        for name, test in self.tests_of(made):
            found = self.safely(test, render(made.out))
            if found:
                yield name, test, found, made.out


def report(comparison, seed, differences, options):
    shown = set()
    for name, test, (kind, lines), statements in differences:
        if kind in shown:
            continue    # most often the same fault in another family
        shown.add(kind)

        def persists(candidate):
            found = comparison.safely(test, render(candidate))
            return found is not None and found[0] == kind

        small = shrink(statements, persists, options.shrink)
        _, lines = comparison.safely(test, render(small)) or (kind, lines)
        comment = f'# seed {seed}, {name}: {kind}\n' + ''.join(
            f'# {part}\n' for line in lines[:20] for part in line.splitlines())
        print(comment, end='')
        for title, text in zip(render(small)._fields, render(small)):
            print(''.join(f'#   {title}: {line}\n' for line in (text or '').splitlines()), end='')
        if options.keep:
            base = os.path.join(options.keep, f'{seed}-{name}')
            for suffix, which in (('', statements), ('.min', small)):
                for ending, text in zip(('weir', 'machine'), render(which)):
                    if text is not None:
                        with open(f'{base}{suffix}.{ending}', 'w', encoding='utf-8') as stream:
                            stream.write(comment + text)


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('weir', nargs='?', default=os.environ.get('WEIR'))
    parser.add_argument('--seeds', default='0:24' if BRIEF else '0:300', metavar='A:B')
    parser.add_argument('--keep', metavar='DIR')
    parser.add_argument('--shrink', type=float, default=20, metavar='SECONDS')
    parser.add_argument('--no-expand', action='store_true')
    options = parser.parse_args(arguments)
    if not options.weir:
        parser.error('which weir? Name it, or set WEIR')
    return options


def main(arguments):
    options = options_of(arguments)
    low, high = (int(part) for part in options.seeds.split(':'))
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    print(f'1..{high - low}')
    failed = 0
    with tempfile.TemporaryDirectory(prefix='weir-oracle-') as folder:
        comparison = Comparison(Weir(options.weir, folder), not options.no_expand)
        for number, seed in enumerate(range(low, high), 1):
            differences = list(comparison.seed(seed))
            failed += bool(differences)
            what = ', '.join(f'{name}: {found[0]}' for name, _, found, _ in differences)
            print(f'{"not ok" if differences else "ok"} {number} - seed {seed}'
                  f'{" (" + what + ")" if what else ""}')
            report(comparison, seed, differences, options)
            sys.stdout.flush()
    print('# ' + ', '.join(f'{count} {what}' for what, count in sorted(comparison.counts.items())))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
