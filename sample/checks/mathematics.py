"""Answers of the mathematics booklet, computed from the data of its figures."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import inf, sqrt

import sympy

from checks.page import Data, Page
from checks.reading import bar
from checks.values import Quantity, Value, letter

N = sympy.Symbol("n")
PROBLEM_3_WORD = "aabbaa"
PROBLEM_4_MOVES_PER_N = 2
PROBLEM_4_LARGEST_N = 40
PROBLEM_8_SUM = 28


def _shortest(roads: Data, speeds: Data, start: str, end: str) -> float:
    """Return the least time from town to town (Bellman and Ford's relaxation)."""
    pace = {s["line"]: s["points"][-1][0] / s["points"][-1][1] for s in speeds["series"]}
    legs = [(e["from"], e["to"], float(e["label"]) * pace[e["line"]]) for e in roads["edges"]]
    legs += [(b, a, time) for a, b, time in legs]
    best = {node["id"]: inf for node in roads["nodes"]} | {start: 0.0}
    for _ in roads["nodes"]:
        for a, b, time in legs:
            best[b] = min(best[b], best[a] + time)
    return best[end]


def problem_2(page: Page) -> list[Value]:
    roads, speeds = page.figures
    return [Quantity(_shortest(roads, speeds, "A", "F"), "min", asked=True)]


def _arrows(diagram: Data, points: Data) -> dict[tuple[str, str], tuple[str, float]]:
    """Map (vertex, letter) to (target of the arrow, collected points)."""
    return {
        (e["from"], e["label"].strip("$")): (e["to"], bar(points, f"${e['to']}$"))
        for e in diagram["edges"]
    }


def problem_3(page: Page) -> list[Value]:
    arrows = _arrows(*page.figures)
    vertex, total = "P", 0.0
    for mark in PROBLEM_3_WORD:
        vertex, gain = arrows[vertex, mark]
        total += gain
    return [Quantity(total, "points", asked=True)]


def problem_4(page: Page) -> list[Value]:
    """Return the best totals by dynamic programming; a line through the first two must meet all
    others."""
    arrows = _arrows(*page.figures)
    best, totals = {"P": 0.0}, []
    for move in range(1, PROBLEM_4_MOVES_PER_N * PROBLEM_4_LARGEST_N + 1):
        reached: dict[str, float] = {}
        for (vertex, _), (target, gain) in arrows.items():
            reached[target] = max(reached.get(target, -inf), best.get(vertex, -inf) + gain)
        best = reached
        if move % PROBLEM_4_MOVES_PER_N == 0:
            totals.append(sympy.Integer(round(max(best.values()))))
    line = sympy.expand(totals[0] + (totals[1] - totals[0]) * (N - 1))
    if any(line.subs(N, n) != total for n, total in enumerate(totals, start=1)):
        raise ValueError(f"the greatest totals are not linear in n: {totals}")
    return [line]


def problem_5(page: Page) -> list[Value]:
    """Interpolate the counts of both colours over the three drawn stages."""
    *stages, prices = page.figures
    counts = [
        Counter(
            "dark" if isinstance(cell, dict) and cell.get("fill") else "white" for cell in cells
        )
        for cells in ([cell for row in stage["rows"] for cell in row] for stage in stages)
    ]
    terms = [
        sympy.interpolate([count[colour] for count in counts], N) * round(bar(prices, colour))
        for colour in ("dark", "white")
    ]
    return [sympy.expand(sympy.Add(*terms))]


def _cone(page: Page) -> list[Value]:
    cone, sector = page.figures
    radius = cone["diameter"] / 2
    slant = radius * 360 / sector["degrees"]
    lengths = (slant, sqrt(slant**2 - radius**2))
    return [Quantity(length, cone["unit"], asked=True) for length in lengths]


def problem_6(page: Page) -> list[Value]:
    return _cone(page)


def problem_8(page: Page) -> list[Value]:
    first, second = (figure["sectors"] for figure in page.figures)
    share = sum(
        a["degrees"] / 360 * b["degrees"] / 360
        for a, b in product(first, second)
        if a["value"] + b["value"] == PROBLEM_8_SUM
    )
    return [letter(share, page.choices)]


def problem_9(page: Page) -> list[Value]:
    return problem_2(page)


def problem_10(page: Page) -> list[Value]:
    return _cone(page)
