# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of a graph as it is written: what the generator draws and shrinking takes apart."""

from collections import namedtuple

from words import quote


class Statement:
    """One line: keyword, names, fields (each a list of rendered items), flags."""

    def __init__(self, keyword, *names, flags=(), **fields):
        self.keyword, self.names, self.flags = keyword, list(names), list(flags)
        self.in_machine = False    # stands in the machine file
        self.layout = None         # how the line is written
        self.fields = {key.strip('_').replace('klass', 'class'):
                       [str(item) for item in (value if isinstance(value, list) else [value])]
                       for key, value in fields.items() if value not in (None, [])}

    def line(self):
        names = [quote(name) for name in self.names]
        if self.layout == 'quotes':
            names = [name if name.startswith('"') else f'"{name}"' for name in names]
        words = [self.keyword] + names
        words += [key + '=' + ','.join(items) for key, items in self.fields.items()] + self.flags
        if self.layout == 'blanks':
            return '\t' + ' \t  '.join(words) + ' '
        if self.layout == 'comment':
            return ' '.join(words) + ' #size=1 "'
        return ' '.join(words)

    def copy(self):
        other = Statement(self.keyword, *self.names, flags=self.flags)
        other.fields = {key: list(items) for key, items in self.fields.items()}
        other.in_machine, other.layout = self.in_machine, self.layout
        return other


# the text of a graph, and that of its machine file or None
Source = namedtuple('Source', 'graph machine')


def render(statements):
    def lines(in_machine):
        return ''.join(statement.line() + '\n' for statement in statements
                       if statement.in_machine == in_machine)
    return Source('weir 1\n' + lines(False), 'weir 1\n' + lines(True) if lines(True) else None)
