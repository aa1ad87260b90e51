# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes, times, rates, factors and durations as they are written in a graph."""

import math
import re
from fractions import Fraction

from words import InputError

SIZE_UNITS = {'B': 1}
for _power, _letter in enumerate('KMGT', 1):
    SIZE_UNITS[_letter + 'B'] = 1000 ** _power
    SIZE_UNITS[_letter + 'iB'] = 1024 ** _power
TIME_UNITS = {'ns': 1, 'us': 1000, 'ms': 1000 ** 2, 's': 1000 ** 3}
INT64_MAX = 2 ** 63 - 1


def quantity(string, units, what):
    """A whole number of bytes or nanoseconds; a bare number has unit 1."""
    match = re.fullmatch(r'([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)', string)
    if not match or (match.group(2) and match.group(2) not in units):
        raise InputError(f'{string!r}: expected a {what}', string)
    value = Fraction(match.group(1)) * units.get(match.group(2), 1)
    if value.denominator != 1:
        raise InputError(f'{string!r} is not a whole {what}', string)
    if value > INT64_MAX:
        raise InputError(f'{string!r} does not fit 64 bits', string)
    return int(value)


def size(string):
    return quantity(string, SIZE_UNITS, 'size')


def time(string):
    return quantity(string, TIME_UNITS, 'time')


def rate(string):
    # "SIZE/s"; a bare number is taken as bytes a second, which is how weir writes it
    if not string.endswith('/s') and not string.isdecimal():
        raise InputError(f'{string!r}: expected SIZE/s', string)
    return size(string.removesuffix('/s'))


def integer(string):
    if not re.fullmatch(r'-?[0-9]+', string):
        raise InputError(f'{string!r}: expected a whole number', string)
    return int(string)


def positive(string):
    value = integer(string)
    if value < 1:
        raise InputError(f'{string!r}: expected 1 or more', string)
    return value


def factor(string):
    if not re.fullmatch(r'[0-9]+(\.[0-9]+)?', string) or float(string) <= 0:
        raise InputError(f'{string!r}: expected a factor above 0', string)
    return float(string)


def round_half_away(value):
    """Nearest whole number of a value that is not negative, halves away from zero."""
    whole = math.floor(value)
    return whole + 1 if value - whole >= 0.5 else whole


def duration(string):
    """A time, or the mean of a distribution, or 'unknown'."""
    if string == 'unknown':
        return string
    match = re.fullmatch(r'(normal|lognormal|gamma|uniform|empirical)\((.*)\)', string)
    if not match:
        return time(string)
    numbers = [time(part) for part in match.group(2).split(',')]
    if match.group(1) == 'empirical':
        mean = Fraction(sum(numbers), len(numbers))
    elif len(numbers) != 2:
        raise InputError(f'{string!r}: expected two times', string)
    elif match.group(1) == 'uniform':
        if numbers[0] > numbers[1]:
            raise InputError(f'{string!r}: the range is empty', string)
        mean = Fraction(sum(numbers), 2)
    else:
        mean = Fraction(numbers[0])
    return round_half_away(mean)    # unclear in the text: what becomes of half a nanosecond
