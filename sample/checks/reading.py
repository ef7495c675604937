"""Read graphs: a polyline is a list of [x, y] with rising x; a vertical step repeats its x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from checks.page import Data

Polyline = Sequence[Sequence[float]]


def curve(figure: Data, name: str | None = None) -> list[list[float]]:
    """Return the points of a plot's only series, or of the one called `name`."""
    series = figure["series"]
    found = [s for s in series if name is None or s.get("name") == name]
    if len(found) != 1:
        raise ValueError(f"{len(found)} series called {name!r} among {len(series)}")
    return list(found[0]["points"])


def bar(figure: Data, category: str, name: str | None = None) -> float:
    """Return the height of the bar over `category`, of the only series or of the one called
    `name`."""
    found = [s for s in figure["series"] if name is None or s["name"] == name]
    if len(found) != 1:
        raise ValueError(f"{len(found)} series called {name!r}")
    return float(found[0]["values"][figure["categories"].index(category)])


def height(points: Polyline, x: float) -> float:
    """Return the height of the polyline at `x`, at a step that of its left side; ValueError
    outside."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1 and x1 > x0:
            return float(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    raise ValueError(f"{x} lies outside the graph")


def places(points: Polyline, y: float) -> list[float]:
    """Return the distinct x, in rising order, at which the polyline has the height `y`.

    Raises ValueError if a level segment has that height.
    """
    found = set()
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 == y1 == y:
            raise ValueError(f"the graph is level at {y}")
        if min(y0, y1) <= y <= max(y0, y1):
            found.add(round(x0 + (x1 - x0) * (y - y0) / (y1 - y0), 9))
    return sorted(found)


def slope(points: Polyline) -> float:
    """Return the slope of a polyline that is one straight line; ValueError if it bends."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    rise = (y1 - y0) / (x1 - x0)
    if any(abs(y - y0 - rise * (x - x0)) > 1e-9 for x, y in points):
        raise ValueError(f"not a straight line: {points}")
    return float(rise)


def area(points: Polyline, until: float | None = None) -> float:
    """Return the signed area between the polyline and the x axis, from its start to `until` or its
    end."""
    end = points[-1][0] if until is None else until
    total = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        stop = min(x1, end)
        if stop > x0:
            total += (stop - x0) * (y0 + y0 + (y1 - y0) * (stop - x0) / (x1 - x0)) / 2
    return total


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a continuous function between `low` and `high`, by bisection."""
    sign = function(low) > 0
    if sign == (function(high) > 0):
        raise ValueError(f"no change of sign between {low} and {high}")
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return (low + high) / 2
