"""Number words as whole answers: "three", "twenty-one", "one hundred". Never in a phrase.

Also words of scale after a number: 1.5 million, 3 dozen.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.formula import neutral
from omibench.answers.formulas.latex import tidy
from omibench.answers.formulas.samples import value_at_samples
from omibench.answers.multipart import is_numbered
from omibench.answers.prose import STOP_WORDS, is_guarded
from omibench.answers.units import Unit, parse_unit

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: i for i, word in enumerate(_SMALL)} | {
    word: 10 * i for i, word in enumerate(_TENS, 2)
}
_SCALES = {
    "hundreds?": 1e2, "dozens?": 12.0, "thousands?": 1e3, "millions?": 1e6, "billions?": 1e9,
    "trillions?": 1e12, "tausend": 1e3, "millionen": 1e6, "milliarden": 1e9, "milliards?": 1e9,
    "mill(?:ón|ones)": 1e6, "milh(?:ão|ões)": 1e6, "тысяч[аи]?": 1e3, "тыс": 1e3,
    "миллион(?:а|ов)?": 1e6, "млн": 1e6, "миллиард(?:а|ов)?": 1e9, "млрд": 1e9,
    "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8,
}  # fmt: skip
_SCALE = re.compile(
    r"\s*(?:{})(?!(?-i:[^\W_\u4e00-\u9fff])|-)"
    r"(?:\s+of(?=\s)|(?<=тыс)\.|(?<=млн)\.|(?<=млрд)\.)?".format(
        "|".join(f"(?P<s{i}>{word})" for i, word in enumerate(_SCALES))
    ),
    re.IGNORECASE,
)


def read_scale(text: str) -> tuple[float, str]:
    """Return the factor of leading scale words in `text`, and the rest of the text."""
    factor, values = 1.0, list(_SCALES.values())
    for _ in range(3):
        match = _SCALE.match(text)
        if match is None:
            break
        factor *= values[int(str(match.lastgroup)[1:])]
        text = text[match.end() :]
    return factor, text.strip()


def spelt_number(text: str) -> float | None:
    """Return the number spelled by the whole `text`, with an optional scale word: two million."""
    word = number_word(text)
    if word is not None:
        return float(word)
    head, _, last = text.strip().rpartition(" ")
    factor, unread = read_scale(last)
    word = None if unread else number_word(head)
    return None if word is None else word * factor


def number_word(text: str) -> int | None:
    """Return the number spelled by the whole `text`, up to 9,999; None for anything else."""
    parts = re.split(r"[\s-]+", text.strip().lower())
    if len(parts) > 8:
        return None
    total = group = 0
    for word in parts:
        unit = _VALUES.get(word)
        if word == "and" and (total or group):
            continue
        if word == "hundred" and 0 < group < 20:
            group *= 100
        elif word == "thousand" and 0 < group < 20 and not total:
            total, group = group * 1000, 0
        elif unit is not None and _fits(unit, group):
            group += unit
        else:
            return None
    return total + group


def _fits(unit: int, group: int) -> bool:
    """Return whether a word of value `unit` can follow words for `group`: 20 1, 300 20, not 3 2."""
    if unit == 0:
        return group == 0
    return group % 100 == 0 or (group % 10 == 0 and group % 100 >= 20 and unit < 10)


# Numbers with units: parsing and equality.

REL_TOLERANCE = 1e-6
ABS_TOLERANCE = 1e-4
ABS_FROM = 1e-2
"""The absolute tolerance applies to gold answers of at least this size, and never exceeds half a
unit of the gold answer's last printed decimal: 0.06115 and 0.06116 differ.
"""

_PLAIN = r"(?:[1-9]\d{0,2}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
_POWER = r"(?:\s*(?:×|\*|x|X)\s*10\s*\^\s*\{?\s*([+-]?\s*\d{1,4})\s*\}?|[eE]([+-]?\d{1,4}))"
_NUMBER = re.compile(rf"([+-]?)\s*({_PLAIN}){_POWER}?")
_TEN = re.compile(r"([+-]?)\s*10\s*\^\s*\{\s*([+-]?\s*\d{1,4})\s*\}")
_FRACTION = re.compile(
    rf"([+-]?)\s*(\d+)?\s*(?:\\frac\s*\{{\s*({_PLAIN})\s*\}}\s*\{{\s*({_PLAIN})\s*\}})"
    rf"|([+-]?)\s*({_PLAIN})\s*/\s*({_PLAIN})"
)
_ERROR = re.compile(rf"\s*(?:±|\+/-|\+-)\s*({_PLAIN})")
_DECIMAL_COMMA = re.compile(r"([^\d,]*(?:0,\d|\d+,(?!\d{3}(?!\d))\d)\d*)(?![\d.])[^,]*")
_APPROXIMATELY = re.compile(
    r"(?:≈|approximately|approx|about|around|roughly|nearly|circa|ca\b|约为|大约|约|примерно|около|ungefähr"
    r"|etwa|environ|aproximadamente|cerca de)[\s.]*(?=[-+.\d\\])",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]+)")
_COMPOUND = re.compile(rf"{_PIECE.pattern}(?:,?\s+{_PIECE.pattern}){{1,2}}")
_EXACT_TOLERANCE = 1e-12
_PERCENT = re.compile(r"%|percent|\bpct\b")
_ARC = re.compile(
    r"([+-]?)(?:(\d+(?:\.\d+)?)\s*°)?\s*(?:(\d+(?:\.\d+)?)\s*')?\s*(?:(\d+(?:\.\d+)?)\s*'')?"
)
_DEGREE = Unit(0.017453292519943295, (("rad", 1),))
_PERCENT_WORDS = re.compile(r"(?<=\d)\s*per\s?cent\b")
_PER_CENT = re.compile(r"([^\W\d]+(?:[\s-][^\W\d]+)*)\s+per\s?cent")
_MONEY_AFTER = re.compile(r"(?<=\d)\s*(?:€|£|¥|₹|USD|EUR|CNY|RMB|元)$")
_MONEY = re.compile(r"^(?:Rs\.?|US\s?\$?(?=\s*\d)|€|£|¥|₹|USD|EUR|CNY|RMB)\s*(?=[\d.-])")
_CHARGE = re.compile(r"(\d)\s*([+-])")
_KELVIN = (273.15, 273.0)
_CELSIUS, _ABSOLUTE = (("degC", 1),), (("K", 1),)
_MAX_DIGITS = 300
_DIGITS_ONLY = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_HALF_INTEGER_PLACE = 0.5
"""Half the last place of an integer; integers are compared exactly."""
_NOUN = re.compile(r"[^\W\d_]{2,20}")


class Quantity(NamedTuple):
    """A printed value, its unit (None if absent), its half last place and its uncertainty."""

    value: float
    unit: Unit | None
    percent: bool
    half_place: float
    error: float | None
    ratio: bool = False
    """Whether it is a fraction of two integers, which is exact."""


@lru_cache(maxsize=16_384)
def quantity(text: str) -> Quantity | None:
    """Parse the whole `text` as one number with an optional uncertainty and unit or noun.

    Accepts plain, grouped (1,000), scientific and mixed numbers, fractions, number words, and
    scale words after them (1.5 million, 3 dozen eggs, 2 万). Returns None if the rest is not a
    unit, and for numbers that overflow a float.
    """
    text = tidy(text).strip()
    if _DIGITS_ONLY.fullmatch(text):  # most texts, by the same rules as below
        decimals = len(text.partition(".")[2])
        return Quantity(float(text), None, False, 0.5 * 10.0**-decimals, None)
    return _read_quantity(text)


def _read_quantity(text: str) -> Quantity | None:
    text = text[prefix.end() :] if (prefix := _APPROXIMATELY.match(text)) else text
    text = _PERCENT_WORDS.sub(" %", text)
    text = _MONEY_AFTER.sub("", _MONEY.sub("", text, count=1))
    charge = _CHARGE.fullmatch(text)
    text = charge.group(2) + charge.group(1) if charge else text
    spelt = _PER_CENT.fullmatch(text)
    word = spelt_number(spelt[1] if spelt else text)
    if word is not None:
        return Quantity(word, None, spelt is not None, 0.5, None)
    if not re.search(r"\d", text[:400]) or len(text) > 400:
        return None
    bracketed = re.match(r"\(([^()]*(?:±|\+/-)[^()]*)\)(.*)", text)
    power = 1.0
    if bracketed:
        text, after = bracketed.groups()
        scale = re.match(r"\s*×\s*10\s*\^\s*\{\s*([+-]?\d{1,3})\s*\}", after)
        if scale:
            power, after = 10.0 ** int(scale.group(1)), after[scale.end() :]
        text = f"{text} {after}"
    number = _number(text)
    if number is None:
        return None
    if compound := _compound(text) or _read_arc(text):
        return compound
    value, half_place, unread = number
    error = None
    uncertainty = _ERROR.match(unread)
    if uncertainty:
        error = float(re.sub("[, ]", "", uncertainty.group(1))) * power
        unread = unread[uncertainty.end() :]
    factor, unread = read_scale(unread)
    power *= factor
    error = None if error is None else error * factor
    unit = (parse_unit(unread) or _read_counted_noun(unread)) if unread else None
    if (unread and unit is None) or not math.isfinite(value * power):
        return None
    fraction = _FRACTION.match(text)
    return Quantity(
        value * power, unit, _PERCENT.search(unread) is not None, half_place * power, error,
        fraction is not None and "." not in fraction[0],
    )  # fmt: skip


def _compound(text: str) -> Quantity | None:
    """Parse a quantity in two or three units of one kind, largest first: 1 h 20 min, 5 ft 3 in."""
    if not _COMPOUND.fullmatch(text):
        return None
    pieces = [(float(n), parse_unit(name)) for n, name in _PIECE.findall(text)]
    units = [unit for _, unit in pieces if unit]
    falling = all(a.factor > b.factor for a, b in pairwise(units))
    if len(units) < len(pieces) or len({u.dimensions for u in units}) > 1 or not falling:
        return None
    total = sum(number * unit.factor for number, unit in pieces if unit)
    return Quantity(total / units[0].factor, units[0], False, ABS_TOLERANCE, None)


def _read_arc(text: str) -> Quantity | None:
    """Parse an angle with minutes or seconds of arc, in degrees: 10°15', 45', 10°30'36''."""
    match = _ARC.fullmatch(text) if "'" in text else None
    if match is None:
        return None
    value = sum(float(part) / 60**i for i, part in enumerate(match.groups()[1:]) if part)
    return Quantity(-value if match[1] == "-" else value, _DEGREE, False, ABS_TOLERANCE, None)


def _read_counted_noun(noun: str) -> Unit | None:
    """Return the counted noun as a separate unit: 42 cells, 3 red balls. Not "5 or less"."""
    words = noun.casefold().split()
    if not 0 < len(words) <= 2 or not all(_NOUN.fullmatch(word) for word in words):
        return None
    if any(is_guarded(word) or word in STOP_WORDS for word in words) or len(words[-1]) < 3:
        return None
    return Unit(1.0, ((" ".join(word.rstrip("s") for word in words), 1),))


def _number(text: str) -> tuple[float, float, str] | None:
    fraction = _FRACTION.match(text)
    if fraction:
        s1, integer, top, bottom, s2, top2, bottom2 = fraction.groups()
        numerator, denominator = _plain(top or top2), _plain(bottom or bottom2)
        if denominator == 0:
            return None
        value = numerator / denominator + (float(integer) if integer else 0.0)
        return (-value if "-" in (s1 or s2 or "") else value), ABS_TOLERANCE, text[fraction.end() :]
    ten = _TEN.match(text)
    if ten:
        sign, exponent = ten.groups()
        value = _power(1.0, exponent)
        return (-value if sign == "-" else value), value / 2, text[ten.end() :]
    number = _NUMBER.match(text)
    if number is None or len(number.group(2)) > _MAX_DIGITS:
        return None
    sign, digits, exponent, exponent2 = number.groups()
    decimals = len(digits.partition(".")[2])
    value, half = _plain(digits), 0.5 * 10.0**-decimals
    if exponent or exponent2:
        value, half = _power(value, exponent or exponent2), _power(half, exponent or exponent2)
    return (-value if sign == "-" else value), half, text[number.end() :]


def _plain(digits: str) -> float:
    return float(re.sub("[, ]", "", digits))


def _power(value: float, exponent: str) -> float:
    try:
        return value * 10.0 ** int(exponent.replace(" ", ""))
    except OverflowError:
        return math.inf


def same_quantity(gold: str, pred: str) -> bool | None:
    """Return whether two numbers agree; None if either text is not a number.

    A gold answer without a unit accepts any unit, and a prediction can omit the unit; two units
    must be convertible. A percentage equals its fraction. A decimal comma is accepted on one
    side if the other has none: 1,5 and 1,50 could both be lists.
    """
    g, p = quantity(gold), quantity(pred)
    if g is None and p is not None and "," not in pred:
        g = _with_comma(gold)
    elif p is None and g is not None and "," not in gold:
        p = _with_comma(pred)
    return None if g is None or p is None else _same(g, p)


def has_number(text: str) -> bool:
    """Return whether `same_quantity` can find a number in a text."""
    return quantity(text) is not None or _with_comma(text) is not None


def same_constant(gold: str, pred: str) -> bool:
    """Compare a decimal with a formula of numbers, such as 1.4142 with the root of 2.

    The tolerances are those of two numbers.
    """
    g, p = quantity(gold), quantity(pred)
    if (g is None) == (p is None) or any(n and (n.unit or n.percent or n.error) for n in (g, p)):
        return False
    decimal, formula = (gold, pred) if g else (pred, gold)
    if "." not in decimal:
        return False
    value = None if is_numbered(formula) else value_at_samples(neutral(formula, {}))
    if value is None:
        return False
    return (
        _close(g.value, value, g.half_place)
        if g
        else _close(value, p.value, ABS_TOLERANCE)
        if p
        else False
    )


def _same(g: Quantity, p: Quantity) -> bool:
    if g.error is not None and p.error is not None and not math.isclose(g.error, p.error):
        return False
    if g.percent or p.percent:
        return any(_close(a, b, g.half_place) for a, b in _percent_readings(g, p))
    if g.unit and p.unit:
        if {g.unit.dimensions, p.unit.dimensions} == {_CELSIUS, _ABSOLUTE}:
            return _same_temperature(g, p)
        if g.unit.dimensions != p.unit.dimensions:
            return False
    scale = p.unit.factor / g.unit.factor if g.unit and p.unit else 1.0
    integers = scale == 1.0 and g.half_place == p.half_place == _HALF_INTEGER_PLACE
    if integers or (g.ratio and p.ratio):
        return math.isclose(g.value, p.value * scale, rel_tol=0.0 if integers else _EXACT_TOLERANCE)
    return _close(g.value, p.value * scale, g.half_place)


def _same_temperature(g: Quantity, p: Quantity) -> bool:
    """Convert degrees Celsius to kelvins, by 273.15 or the 273 of textbooks."""
    celsius, kelvin = (g, p) if g.unit and g.unit.dimensions == _CELSIUS else (p, g)
    factor = kelvin.unit.factor if kelvin.unit else 1.0
    return any(_close(celsius.value + zero, kelvin.value * factor, 0.0) for zero in _KELVIN)


def _with_comma(text: str) -> Quantity | None:
    """Parse a number with one comma that can only be a decimal comma, not a list.

    A comma before exactly three digits separates thousands, unless a single 0 precedes it.
    """
    text = tidy(text)
    return quantity(text.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(text) else None


def _percent_readings(g: Quantity, p: Quantity) -> list[tuple[float, float]]:
    if g.percent and p.percent:
        return [(g.value, p.value)]
    if g.percent:
        return [(g.value, p.value), (g.value / 100, p.value)] if p.unit is None else []
    if g.unit is not None:
        return []
    return [(g.value, p.value / 100)] + ([(g.value, p.value)] if abs(g.value) > 1 else [])


def _close(gold: float, pred: float, half_place: float) -> bool:
    tolerance = REL_TOLERANCE * abs(gold)
    if abs(gold) >= ABS_FROM:
        tolerance = max(tolerance, min(ABS_TOLERANCE, half_place * 0.999))
    return abs(gold - pred) <= tolerance
