# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that give way to their fallback: who of them runs, as far as is known at an instant.

A node with `fallback=NODE` that has not started when its window closes (deadline - duration) gives way
to that node, which runs only then. One that is named by several runs when the first of them gives way,
and is not needed when none of them can any more: all have started, or are themselves not needed.
"""

OPEN, RUNS, SKIPPED = 'open', 'runs', 'skipped'


class Fates:
    def __init__(self, graph, off):
        self.nodes = graph.nodes
        self.fallback = {}    # node index -> index of the node that stands in for it
        self.left = {}        # index of one that stands in -> how many may still need it
        self.fate = {}        # the same -> OPEN, RUNS or SKIPPED; of any other node that gave way SKIPPED
        self.settled = {}     # index -> when it became SKIPPED, or a fallback was needed
        self.closes = {}      # index -> when its window closes, until it has
        self.closed = set()
        index_of = {node.name: node.index for node in graph.nodes}
        for node in graph.nodes:
            if node.fallback in (None, 'wait', 'fail'):
                continue
            stands_in = index_of[node.fallback]
            self.left.setdefault(stands_in, 0)
            self.fate[stands_in] = OPEN
            if node.index in off:
                continue
            self.fallback[node.index] = stands_in
            self.left[stands_in] += 1
            if node.deadline is not None:
                self.closes[node.index] = max(0, node.deadline - node.duration)
        for index in sorted(self.left):
            if self.left[index] == 0 and self.fate[index] == OPEN:
                self.not_needed(index, 0)

    def of(self, index):
        return self.fate.get(index, RUNS)

    def not_needed(self, index, now):
        """Nor is, perhaps, the one that would stand in for it, and so on."""
        self.fate[index] = SKIPPED
        self.settled[index] = now
        self.one_less(index, now)

    def one_less(self, index, now):
        """The node will not give way any more."""
        stands_in = self.fallback.get(index)
        if stands_in is None:
            return
        self.left[stands_in] -= 1
        if self.left[stands_in] == 0 and self.of(stands_in) == OPEN:
            self.not_needed(stands_in, now)

    def gives_way(self, index, now):
        """To the next that can still run."""
        while True:
            stands_in = self.fallback[index]
            self.fate[index] = SKIPPED
            self.settled[index] = now
            self.left[stands_in] -= 1
            if self.of(stands_in) != OPEN:
                return
            self.fate[stands_in] = RUNS
            self.settled[stands_in] = now
            if stands_in not in self.closed:
                return
            index = stands_in

    def close(self, now, started):
        """Whether any node gave way: of those whose windows close at this instant, the first first."""
        changed = False
        for time, index in sorted((time, index) for index, time in self.closes.items()):
            if time > now:
                break
            del self.closes[index]
            self.closed.add(index)
            if index not in started and self.of(index) == RUNS:
                self.gives_way(index, now)
                changed = True
        return changed
