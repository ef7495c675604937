"""Answers of the biology booklet, computed from the data of its figures."""

from __future__ import annotations

from typing import Any

from checks.page import Page
from checks.reading import bar, curve, height
from checks.values import Quantity, Value, letter

PROBLEM_7_CAPACITY = 200.0  # mL of oxygen in a litre of saturated blood
PROBLEM_10_CHROMOSOMES = 14  # in a diploid cell; each has two chromatids in the first metaphase
ABSENT, PRESENT = 0, 1


def problem_2(page: Page) -> list[Value]:
    nerve, screen = page.figures
    places = {electrode["name"]: electrode["at_mm"] for electrode in nerve["electrodes"]}
    times = {signal["name"]: signal["peak_ms"] for signal in screen["signals"]}
    first, second = sorted(places, key=places.__getitem__)
    speed = (places[second] - places[first]) / (times[second] - times[first])  # mm/ms = m/s
    return [Quantity(speed, "m/s", asked=True)]


def _changes(tree: Any, state: dict[str, int], above: int) -> int:
    """Return the fewest changes below a branch that starts in the state `above` (Sankoff 1975)."""
    options = (ABSENT, PRESENT) if isinstance(tree, list) else (state[tree],)
    return min(
        (here != above)
        + (sum(_changes(child, state, here) for child in tree) if isinstance(tree, list) else 0)
        for here in options
    )


def problem_5(page: Page) -> list[Value]:
    relationships, table = page.figures
    tree, species = relationships["tree"], table["species"]
    characters = range(len(next(iter(species.values()))))
    states = [{name: row[c] for name, row in species.items()} for c in characters]
    # the common ancestor had no character: the count starts in its two branches
    total = sum(_changes(branch, state, ABSENT) for state in states for branch in tree)
    return [Quantity(total, "changes", asked=True)]


def _unloaded(page: Page, bird: str, place: str) -> float:
    """Return the share of binding sites that release their oxygen on the way to the muscles."""
    saturation, pressures = page.figures
    lungs, muscles = (
        height(curve(saturation, bird), bar(pressures, place, organ))
        for organ in ("lungs", "muscles")
    )
    return (lungs - muscles) / 100


def problem_7(page: Page) -> list[Value]:
    more = _unloaded(page, "goose", "mountain lake") - _unloaded(page, "duck", "mountain lake")
    return [Quantity(more * PROBLEM_7_CAPACITY, "mL", asked=True)]


def problem_10(page: Page) -> list[Value]:
    return [letter(2 * PROBLEM_10_CHROMOSOMES, page.choices)]
