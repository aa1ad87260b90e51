# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of a line of a Weir graph: blanks, quotes, comments."""

import re


class InputError(Exception):
    """A graph that must be refused before it runs: exit status 3. `names`: whom it is about."""

    kind = 'input'

    def __init__(self, message, *names):
        super().__init__(message)
        self.names = list(names)


def words_of(line):
    """The words of one line. A word is a list of (character, quoted)."""
    words, word, quoted, at = [], None, False, 0
    while at < len(line):
        char = line[at]
        if quoted:
            if char == '\\':
                if line[at + 1:at + 2] not in ('"', '\\'):
                    raise InputError('only \\" and \\\\ may stand in quotes')
                word.append((line[at + 1], True))
                at += 1
            elif char == '"':
                quoted = False
            else:
                word.append((char, True))
        elif char in ' \t\r':
            if word is not None:
                words.append(word)
            word = None
        elif char == '#' and word is None:
            break
        else:
            word = [] if word is None else word
            if char == '"':
                quoted = True
            else:
                word.append((char, False))
        at += 1
    if quoted:
        raise InputError('a quote that does not end')
    if word is not None:
        words.append(word)
    return words


def text(word):
    return ''.join(char for char, _ in word)


def split(word, separator):
    """Parts of a word between separators that are not quoted."""
    parts = [[]]
    for char, quoted in word:
        if char == separator and not quoted:
            parts.append([])
        else:
            parts[-1].append((char, quoted))
    return parts


def split_last(word, separator):
    """(head, tail or None), at the last separator that is not quoted."""
    parts = split(word, separator)
    if len(parts) == 1:
        return word, None
    tail = parts[-1]
    return word[:len(word) - len(tail) - 1], tail


def quote(name):
    """A name as it must be written: in quotes when it has a character that means something."""
    if name and not re.search(r'[\s,#"\\@+:=()]', name):
        return name
    return '"' + name.replace('\\', '\\\\').replace('"', '\\"') + '"'
