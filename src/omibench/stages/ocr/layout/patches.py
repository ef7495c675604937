"""Group nearby squares of a grid, such as ink or drawings on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Square = tuple[int, int]
"""Row and column."""


def patches(squares: Iterable[Square], near: int) -> Iterator[list[Square]]:
    """Group squares connected by steps of at most `near` rows and columns."""
    remaining = set(squares)
    steps = [(dy, dx) for dy in range(-near, near + 1) for dx in range(-near, near + 1) if dy or dx]
    while remaining:
        waiting = [remaining.pop()]
        patch_list = []
        while waiting:
            y, x = waiting.pop()
            patch_list.append((y, x))
            close = [(y + dy, x + dx) for dy, dx in steps if (y + dy, x + dx) in remaining]
            remaining.difference_update(close)
            waiting += close
        yield patch_list


def bounds(patch: Iterable[Square]) -> tuple[int, int, int, int]:
    """First column, first row, last column, last row."""
    rows, columns = zip(*patch, strict=True)
    return min(columns), min(rows), max(columns), max(rows)
