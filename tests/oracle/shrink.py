# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a failing graph small: takes away nodes, edges, objects, fields and items as long as the
difference stays of the same kind."""

import time

from words import split_last, text, words_of


def mentions(item, name):
    """Does a rendered item, with its @, + or : part, speak of this name?"""
    for word in words_of(item):
        for separator in '@+:':
            head, tail = split_last(word, separator)
            if text(head) == name or tail is not None and text(tail) == name:
                return True
    return False


def without_name(statements, name, keywords):
    """Without the statement that defines a name, and without every mention of it."""
    left = []
    for statement in statements:
        defines = statement.keyword in keywords and statement.names[0] == name
        speaks = (statement.keyword in ('edge', 'overlap', 'kappa') and name in statement.names[:2]
                  or statement.keyword == 'param' and name in (
                      statement.names[1], statement.names[0].split('.demand.')[-1]))
        if defines or speaks:
            continue
        statement = statement.copy()
        for field in list(statement.fields):
            if field == 'workspace' or field == 'duration':
                continue
            items = statement.fields[field]
            kept = [item for item in items if not mentions(item, name)]
            if kept:
                statement.fields[field] = kept
            elif items:
                del statement.fields[field]
        left.append(statement)
    return left


def smaller(statements):
    """Every graph that has a little less, the boldest cuts first."""
    for keyword in ('node', 'object', 'engine', 'resource', 'guard', 'domain'):
        for statement in reversed(statements):
            if statement.keyword == keyword:
                yield without_name(statements, statement.names[0], (keyword,))
    for at in reversed(range(len(statements))):
        yield statements[:at] + statements[at + 1:]
    for at, statement in enumerate(statements):
        for flag in statement.flags:
            changed = statement.copy()
            changed.flags.remove(flag)
            yield statements[:at] + [changed] + statements[at + 1:]
        for field, items in statement.fields.items():
            changed = statement.copy()
            del changed.fields[field]
            yield statements[:at] + [changed] + statements[at + 1:]
            for item in items if len(items) > 1 else []:
                changed = statement.copy()
                changed.fields[field].remove(item)
                yield statements[:at] + [changed] + statements[at + 1:]


def shrink(statements, persists, seconds):
    """The smallest graph found in so many seconds for which persists(statements) holds."""
    deadline = time.monotonic() + seconds
    while True:
        for candidate in smaller(statements):
            if time.monotonic() > deadline:
                return statements
            if persists(candidate):
                statements = candidate
                break
        else:
            return statements
