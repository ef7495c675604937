"""Parser for products and quotients of the units in `unit_table`.

A unit is (factor to SI, dimensions); two units of equal dimensions are convertible. Temperatures
in °C have a separate dimension because they shift instead of scaling.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from omibench.answers.quantities.unit_table import BASE, NAMED, PREFIXES, SPELLINGS

Dimensions = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """Factor to SI base units, and the powers of the base units, sorted by name."""

    factor: float
    dimensions: Dimensions


_TOKEN = re.compile(
    r"\s*(?:((?:[kMGmnpu]|\\mu )? ?\\Omega|\\[A-Za-z]+ ?[A-Za-z]*|°\s?[CF]?|%|[^\W\d_]+)"
    r"(?:\s*\^\s*([+-]?\d)|(-?\d))?|([/×()]))"
)


def _vector(text: str) -> tuple[float, Dimensions]:
    text, _, divisor = text.partition("/")
    powers = {m.group(1): int(m.group(2) or 1) for m in re.finditer(r"([A-Za-z]+)(-?\d)?", text)}
    return (1 / float(divisor) if divisor else 1.0), tuple(sorted(powers.items()))


@lru_cache(maxsize=1)
def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}

    for name, (factor, vector) in NAMED.items():
        scale, dimensions = _vector(vector)
        table.setdefault(name, Unit(factor * scale, dimensions))
    for name, vector in BASE.items():
        scale, dimensions = _vector(vector)
        for prefix, factor in PREFIXES.items():
            table.setdefault(prefix + name, Unit(factor * scale, dimensions))
    table["%"] = Unit(0.01, ())
    for name, spellings in SPELLINGS.items():
        for spelling in spellings.split():
            table[spelling] = table[name]
    return table


@lru_cache(maxsize=1)
def _list_spelled_units() -> dict[str, Unit]:
    """Full unit names in lower case; texts can write Metre or METRE."""
    full = [spelling for spellings in SPELLINGS.values() for spelling in spellings.split()]
    full += ["mol", "rad", "min", "bar", "atm", "torr", "ppm", "ppb", "rpm"]
    return {name.casefold(): _table()[name] for name in full if len(name) >= 3}


def is_symbol(text: str) -> bool:
    """Return whether a text is the symbol of a unit, whose case matters (mmol), not its name."""
    return text in _table() and text.casefold() not in _list_spelled_units()


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit | None:
    r"""Parse the unit in a tidied text, such as `kg × m^{2}`, `\frac{W}{K}` or `m/s`.

    Every factor after a slash divides. Returns None if the text is not a known unit.
    """
    if len(text) > 60:
        return None
    text = re.sub(r"\s*\^\s*\{\s*(-?)\s*(\d)\s*\}", r"^\1\2", text)
    text = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/(\2)", text)
    text = re.sub(r"[{}.]", " ", text).strip()
    if not text:
        return None
    factor, powers, sign, end = 1.0, dict[str, int](), 1, 0
    while end < len(text):
        token = _TOKEN.match(text, end)
        if token is None:
            return None if text[end:].strip() else _unit(factor, powers)
        end = token.end()
        name, raised, plain, mark = token.groups()
        power = raised or plain
        if mark:
            sign = -1 if mark == "/" else sign
            continue
        unit = (
            _table().get(name)
            or _table().get(name.strip())
            or _table().get(name.replace(" ", ""))
            or _list_spelled_units().get(name.casefold())
        )
        if unit is None:
            return None
        exponent = sign * int(power or 1)
        factor *= unit.factor**exponent
        for base, count in unit.dimensions:
            powers[base] = powers.get(base, 0) + count * exponent
    return _unit(factor, powers)


def _unit(factor: float, powers: dict[str, int]) -> Unit:
    return Unit(factor, tuple(sorted((k, v) for k, v in powers.items() if v)))
