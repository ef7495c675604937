"""Units known to `units.parse_unit`: symbols, factors and dimensions, and full names."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from glyphtex import lazy_re as re

PREFIXES = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, r"\mu": 1e-6, r"\mu ": 1e-6, "m": 1e-3,
    "c": 1e-2, "d": 1e-1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "f": 1e-15,
}  # fmt: skip
BASE = {
    "m": "m", "g": "kg/1000", "s": "s", "A": "A", "K": "K", "mol": "mol", "Hz": "s-1",
    "N": "kg m s-2", "Pa": "kg m-1 s-2", "J": "kg m2 s-2", "W": "kg m2 s-3", "C": "A s",
    "V": "kg m2 s-3 A-1", "F": "kg-1 m-2 s4 A2", r"\Omega": "kg m2 s-3 A-2", "T": "kg s-2 A-1",
    "H": "kg m2 s-2 A-2", "Wb": "kg m2 s-2 A-1", "S": "kg-1 m-2 s3 A2", "Bq": "s-1", "Gy": "m2 s-2",
    "L": "m3/1000", "lm": "lm", "lx": "lm m-2", "cd": "cd", "rad": "rad", "sr": "sr",
    "eV": "kg m2 s-2/6241509074460762607.776",
}  # fmt: skip
"""Units that take prefixes; "/1000" divides the factor."""
NAMED: dict[str, tuple[float, str]] = {
    "min": (60, "s"), "h": (3600, "s"), "hr": (3600, "s"), "d": (86400, "s"), "t": (1e3, "kg"),
    "yr": (31557600, "s"), "cal": (4.184, "kg m2 s-2"), "kcal": (4184, "kg m2 s-2"),
    "kWh": (3.6e6, "kg m2 s-2"), "erg": (1e-7, "kg m2 s-2"), "hp": (745.69987158227, "kg m2 s-3"),
    "bar": (1e5, "kg m-1 s-2"), "atm": (101325, "kg m-1 s-2"), "mmHg": (133.322, "kg m-1 s-2"),
    "torr": (133.322, "kg m-1 s-2"), "Torr": (133.322, "kg m-1 s-2"),
    "psi": (6894.757293168, "kg m-1 s-2"), "dyn": (1e-5, "kg m s-2"),
    "°": (0.017453292519943295, "rad"), "arcmin": (2.908882086657216e-4, "rad"),
    "arcsec": (4.84813681109536e-6, "rad"), "rpm": (1 / 60, "s-1"),
    "°C": (1, "degC"), "° C": (1, "degC"), "°F": (1, "degF"), "° F": (1, "degF"),
    "ppm": (1, "ppm"), "ppb": (1e-3, "ppm"), "M": (1e3, "mol m-3"), "mM": (1, "mol m-3"),
    "amu": (1.66053906660e-27, "kg"), "u": (1.66053906660e-27, "kg"),
    "Da": (1.66053906660e-27, "kg"), "kDa": (1.66053906660e-24, "kg"), "D": (1, "debye"),
    "bp": (1, "bp"), "kb": (1e3, "bp"), "Å": (1e-10, "m"), "ly": (9.4607e15, "m"),
    "AU": (1.495978707e11, "m"), "pc": (3.0856775814913673e16, "m"), "dpt": (1, "m-1"),
    "ha": (1e4, "m2"), "cc": (1e-6, "m3"), "gal": (3.785411784e-3, "m3"),
    "in": (0.0254, "m"), "ft": (0.3048, "m"), "yd": (0.9144, "m"), "mi": (1609.344, "m"),
    "mph": (0.44704, "m s-1"), "kph": (1 / 3.6, "m s-1"), "lb": (0.45359237, "kg"),
    "lbs": (0.45359237, "kg"), "oz": (0.028349523125, "kg"),
}  # fmt: skip
SPELLINGS = {
    "m": "meter metre meters metres metro metros mètre mètres м 米",
    "cm": "centimeter centimetre centimeters centimetres см 厘米",
    "mm": "millimeter millimetre millimeters millimetres мм 毫米",
    "km": "kilometer kilometre kilometers kilometres км 千米 公里",
    "nm": "nanometer nanometers nanometre nanometres нм 纳米",
    r"\mu m": "micrometer micrometers micron microns мкм 微米",
    "kg": "kilogram kilograms kilogramm кг 千克 公斤",
    "g": "gram grams gramm г 克",
    "mg": "milligram milligrams мг 毫克",
    "t": "ton tons tonne tonnes 吨",
    "s": "second seconds sec secs segundo segundos seconde secondes sekunde sekunden с 秒",
    "ms": "millisecond milliseconds мс 毫秒",
    "min": "minute minutes mins мин 分钟 分",
    "h": "hour hours hrs ч 小时",
    "d": "day days tag tage día días jour jours 天",
    "yr": "year years",
    "N": "newton newtons Н 牛 牛顿",
    "kN": "кН 千牛",
    "J": "joule joules Дж 焦 焦耳",
    "kJ": "кДж 千焦",
    "W": "watt watts Вт 瓦 瓦特",
    "kW": "кВт 千瓦",
    "Pa": "pascal pascals Па 帕 帕斯卡",
    "kPa": "кПа 千帕",
    "V": "volt volts В 伏 伏特",
    "A": "ampere amperes amp amps А 安 安培",
    "mA": "мА 毫安",
    "K": "kelvin kelvins К 开",
    "mol": "mole moles моль 摩尔",
    "Hz": "hertz Гц 赫兹",
    "C": "coulomb coulombs Кл 库仑",
    "F": "farad farads Ф",
    r"\Omega": "ohm ohms Ohm Ohms Ом 欧 欧姆",
    "T": "tesla teslas Тл",
    "H": "henry henries Гн",
    "L": "liter litre liters litres л 升 l",
    "mL": "milliliter milliliters millilitre millilitres ml мл 毫升",
    "°": "deg degree degrees grad grados 度",
    "arcmin": "arcminute arcminutes",
    "arcsec": "arcsecond arcseconds",
    "rad": "radian radians рад",
    "Å": "angstrom angstroms",
    "ft": "foot feet",
    "in": "inch inches",
    "mi": "mile miles",
    "lb": "pound pounds",
    "%": "percent pct prozent",
}
"""Full names and symbols of other scripts, by unit."""


# Parser for products and quotients of the units in `unit_table`.
#
# A unit is (factor to SI, dimensions); two units of equal dimensions are convertible. Temperatures
# in °C have a separate dimension because they shift instead of scaling.

Dimensions = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """Factor to SI base units, and the powers of the base units, sorted by name."""

    factor: float
    dimensions: Dimensions


_TOKEN = re.compile(
    r"\s*(?:((?:[kMGmnpu]|\\mu )? ?\\Omega|\\[A-Za-z]+ ?[A-Za-z]*|°\s?[CF]?|%|[^\W\d_]+)"
    r"(?:\s*\^\s*([+-]?\d)|(-?\d))?|([/×()]))"
)


_SQUARE = re.compile(r"\b(square|sq\.?|cubic|cu\.?)\s+([a-z]+)")
_SQUARED = re.compile(r"(?<=[a-z])\s+(squared|cubed)\b")
_PER = re.compile(r"(?<=[a-z\d])\s+per\s+(?=[a-z])")


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
    text = _PER.sub(" / ", _SQUARED.sub(lambda m: "^2" if m[1] == "squared" else "^3", text))
    text = _SQUARE.sub(r"\2^\1", re.sub(r"[{}.]", " ", text).strip())
    text = re.sub(r"\^(sq|cu)(?:uare|bic|\.)?", lambda m: "^2" if m[1] == "sq" else "^3", text)
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
