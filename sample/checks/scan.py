"""Answers of the scanned booklet, computed from the data of its figures."""

from __future__ import annotations

from itertools import pairwise
from math import lcm

from checks.page import Page
from checks.reading import Polyline, curve, height
from checks.values import Quantity, Value, letter


def _order(permutation: dict[int, int]) -> int:
    """Return the order of a permutation: the applications until it is the identity."""
    lengths = []
    for start, image in permutation.items():
        place, length = image, 1
        while place != start:
            place, length = permutation[place], length + 1
        lengths.append(length)
    return lcm(*lengths)


def problem_1(page: Page) -> list[Value]:
    arrows, table = page.figures
    outer = {int(edge["from"]): int(edge["to"]) for edge in arrows["edges"]}
    inner = {int(x): int(y) for x, y in table["rows"]}
    return [letter(_order({x: outer[y] for x, y in inner.items()}), page.choices)]


def _integral_of_product(first: Polyline, second: Polyline) -> float:
    """Return the integral of the product of two polylines, exact on each piece (Simpson's rule)."""
    total = 0.0
    inset = 1e-9  # a step belongs to the piece on whose side it is read
    for low, high in pairwise(sorted({x for x, _ in [*first, *second]})):
        ends_and_middle = (low + inset, (low + high) / 2, high - inset)
        a, b, c = (height(first, x) * height(second, x) for x in ends_and_middle)
        total += (high - low) * (a + 4 * b + c) / 6
    return total


def problem_2(page: Page) -> list[Value]:
    speed, force = page.figures
    return [Quantity(_integral_of_product(curve(speed), curve(force)), "J")]
