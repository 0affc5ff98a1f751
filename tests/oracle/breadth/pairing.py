"""Choices of several kinds in which each two values of different kinds meet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

Choice = dict[str, str]


def pairings(choices: dict[str, tuple[str, ...]]) -> Iterator[Choice]:
    """Yields the fewest choices that a greedy search finds.

    Args:
        choices: The values of each kind.
    """
    pairs = [
        frozenset(((one, a), (other, b)))
        for one, other in itertools.combinations(choices, 2)
        for a in choices[one]
        for b in choices[other]
    ]
    bits = {pair: 1 << place for place, pair in enumerate(pairs)}
    every = [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]
    met = [
        sum(bits[frozenset(pair)] for pair in itertools.combinations(choice.items(), 2))
        for choice in every
    ]
    left = (1 << len(pairs)) - 1
    while left:
        best = max(range(len(every)), key=lambda place: (left & met[place]).bit_count())
        left &= ~met[best]
        yield every[best]
