"""Units of measurement: a table of spellings and a parser of their products and quotients.

A unit is (factor to SI, dimensions); two units of equal dimensions convert into one another.
Temperatures in °C are a dimension of their own: they shift, they do not scale.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

Dimensions = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """Factor to SI base units, and the powers of the base units, sorted by name."""

    factor: float
    dimensions: Dimensions


_PREFIXES = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, r"\mu": 1e-6, r"\mu ": 1e-6, "m": 1e-3,
    "c": 1e-2, "d": 1e-1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "f": 1e-15,
}  # fmt: skip
_BASE = {
    "m": "m", "g": "kg/1000", "s": "s", "A": "A", "K": "K", "mol": "mol", "Hz": "s-1",
    "N": "kg m s-2", "Pa": "kg m-1 s-2", "J": "kg m2 s-2", "W": "kg m2 s-3", "C": "A s",
    "V": "kg m2 s-3 A-1", "F": "kg-1 m-2 s4 A2", r"\Omega": "kg m2 s-3 A-2", "T": "kg s-2 A-1",
    "H": "kg m2 s-2 A-2", "Wb": "kg m2 s-2 A-1", "S": "kg-1 m-2 s3 A2", "Bq": "s-1", "Gy": "m2 s-2",
    "L": "m3/1000", "lm": "lm", "lx": "lm m-2", "cd": "cd", "rad": "rad", "sr": "sr",
}  # fmt: skip
_NAMED: dict[str, tuple[float, str]] = {
    "min": (60, "s"), "h": (3600, "s"), "hr": (3600, "s"), "d": (86400, "s"), "t": (1e3, "kg"),
    "eV": (1.602176634e-19, "kg m2 s-2"), "keV": (1.602176634e-16, "kg m2 s-2"),
    "MeV": (1.602176634e-13, "kg m2 s-2"), "GeV": (1.602176634e-10, "kg m2 s-2"),
    "meV": (1.602176634e-22, "kg m2 s-2"), "TeV": (1.602176634e-7, "kg m2 s-2"),
    "cal": (4.184, "kg m2 s-2"), "kcal": (4184, "kg m2 s-2"), "kWh": (3.6e6, "kg m2 s-2"),
    "bar": (1e5, "kg m-1 s-2"), "atm": (101325, "kg m-1 s-2"), "mmHg": (133.322, "kg m-1 s-2"),
    "torr": (133.322, "kg m-1 s-2"), "Torr": (133.322, "kg m-1 s-2"),
    "°": (0.017453292519943295, "rad"), "°C": (1, "degC"), "° C": (1, "degC"),
    "ppm": (1, "ppm"), "ppb": (1e-3, "ppm"), "amu": (1.66053906660e-27, "kg"),
    "Da": (1.66053906660e-27, "kg"), "Å": (1e-10, "m"), "ly": (9.4607e15, "m"),
    "M": (1e3, "mol m-3"),
    "mM": (1, "mol m-3"), "rpm": (1 / 60, "s-1"), "cc": (1e-6, "m3"), "AU": (1.495978707e11, "m"),
    "ha": (1e4, "m2"),
}  # fmt: skip
_WORDS = {
    "m": "meter metre meters metres м", "cm": "centimeter centimetre centimeters centimetres",
    "mm": "millimeter millimetre millimeters millimetres",
    "km": "kilometer kilometre kilometers kilometres",
    "nm": "nanometer nanometers nanometre nanometres", "kg": "kilogram kilograms кг",
    "g": "gram grams", "s": "second seconds sec secs с", "min": "minute minutes mins",
    "h": "hour hours hrs", "d": "day days", "t": "ton tons tonne tonnes", "N": "newton newtons Н",
    "J": "joule joules Дж", "W": "watt watts Вт", "Pa": "pascal pascals Па", "V": "volt volts В",
    "A": "ampere amperes amp amps А", "K": "kelvin kelvins", "mol": "mole moles",
    "Hz": "hertz Гц", "C": "coulomb coulombs", "F": "farad farads",
    r"\Omega": "ohm ohms Ohm Ohms Ом",
    "T": "tesla teslas", "H": "henry henries", "L": "liter litre liters litres",
    "°": "deg degree degrees", "rad": "radian radians", "Å": "angstrom angstroms",
    "%": "percent per\u00a0cent",
}  # fmt: skip
_TOKEN = re.compile(r"\s*(?:(\\[A-Za-z]+ ?[A-Za-z]*|°\s?C?|%|[^\W\d_]+)(?:\^?(-?\d))?|([/×()]))")


def _vector(text: str) -> tuple[float, dict[str, int]]:
    text, _, divisor = text.partition("/")
    powers = {m.group(1): int(m.group(2) or 1) for m in re.finditer(r"([A-Za-z]+)(-?\d)?", text)}
    return (1 / float(divisor) if divisor else 1.0), powers


@lru_cache(maxsize=1)
def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}

    def add(name: str, factor: float, vector: str) -> None:
        own, powers = _vector(vector)
        table.setdefault(name, Unit(factor * own, tuple(sorted(powers.items()))))

    for name, (factor, vector) in _NAMED.items():
        add(name, factor, vector)
    for name, vector in _BASE.items():
        for prefix, factor in _PREFIXES.items():
            add(prefix + name, factor, vector)
    table["%"] = Unit(0.01, ())
    for name, spellings in _WORDS.items():
        for spelling in spellings.split():
            table[spelling] = table[name]
    return table


@lru_cache(maxsize=1)
def _spelled() -> dict[str, Unit]:
    """The units that are written out, in lower case: their names may be Metre or METRE."""
    full = [spelling for spellings in _WORDS.values() for spelling in spellings.split()]
    full += ["mol", "rad", "min", "bar", "atm", "torr", "ppm", "ppb", "rpm"]
    return {name.casefold(): _table()[name] for name in full if len(name) >= 3}


def is_symbol(text: str) -> bool:
    """Whether a text is the symbol of a unit, in which case counts (mmol), not its name."""
    return text in _table() and text.casefold() not in _spelled()


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit | None:
    r"""Read the unit that a tidied text spells, such as `kg × m^{2}`, `\frac{W}{K}` or `m/s`.

    After a stroke every factor divides. Returns None for a text that is no known unit.
    """
    if len(text) > 60:
        return None
    text = re.sub(r"\^\s*\{\s*(-?\d)\s*\}", r"^\1", text)
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
        name, power, mark = token.groups()
        if mark:
            sign = -1 if mark == "/" else sign
            continue
        unit = (
            _table().get(name)
            or _table().get(name.strip())
            or _table().get(name.replace(" ", ""))
            or _spelled().get(name.casefold())
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
