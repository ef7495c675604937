"""Sets of numbers, inequalities, solutions and vectors: a second opinion on texts that differ.

The tiers of `omibench.answers.match` compare signs and parts as they are written. Where they find
two texts different, both are read here as mathematics, and only equality decides.
"""

from __future__ import annotations

from collections.abc import Callable

from glyphtex import lazy_re as re
from omibench.answers.families import same_family
from omibench.answers.formulas.formula import same_formula, symbols
from omibench.answers.formulas.latex import tidy
from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.multipart import by_comma, labelled_part
from omibench.answers.number_sets import MAX_CHARS, same_inequality, same_number_set
from omibench.answers.piecewise import same_piecewise
from omibench.answers.prose import is_prose
from omibench.answers.solutions import same_solutions
from omibench.text.pieces import split_outside_brackets

_MATHEMATICAL = re.compile(
    r"[\\,;|<>=(\[{∈∪±≤≥≠⩾⩽≦≧∅∞ℝ]|\d:\d|or\b|\b(?:no|all|empty)\b", re.IGNORECASE
)


def _write_tangent(match: re.Match[str]) -> str:
    return rf"\{match[1]}{'cot' if match[2] else 'tan'} "


_SPELT: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\(?:mathbb|Bbb|mathbf)\s*\{?\s*R\s*\}?|\\R(?![A-Za-z])|ℝ"), r" \\reals "),
    (re.compile(r">=|⩾|≧|≥"), r" \\geq "),
    (re.compile(r"(?<!<)<=(?!>)|⩽|≦|≤"), r" \\leq "),
    (re.compile(r"(?<=[\w})\]])\s+!=|\\not\s*="), r" \\neq "),
    (re.compile(r"(?<=[\d)])or(?=[A-Za-z(\d])"), " or "),
    (re.compile("ℤ"), " Z "),
    (re.compile(r"(?<=\))\s*(?:\\equiv(?![A-Za-z])|≡)(?!.*mod)"), " = "),
    (re.compile(r"(?<=[\d}])\s*\^\s*\{?\s*\\prime\s*\}?"), "'"),
    (
        re.compile(
            r"(\\pi.*?)\s*(?:\\(?:text|mathrm)\s*\{\s*)?(?<![A-Za-z\\])rad(?:ians?)?(?:\s*\})?(?![A-Za-z])"
        ),
        r"\1",
    ),
    (re.compile(r"\\?(?<![A-Za-z])(arc|)(c?)tg(?![A-Za-z])"), _write_tangent),
    (re.compile(r"\\?(?:operatorname\s*\{)?(?<![A-Za-z])ar(sinh|cosh|tanh)\s*\}?"), r"\\arc\1 "),
    (re.compile(r"(?<![\\A-Za-z])oo(?![A-Za-z])"), "∞"),
    (re.compile(r"(?<![\\A-Za-z])(sqrt)(?=\s*\()"), r"\\\1"),
    (
        re.compile(r"(?<![\\A-Za-z])(alpha|beta|gamma|theta|lambda|omega|sigma|pi)(?![A-Za-z])"),
        r"\\\1",
    ),
)
"""Spellings of the real numbers and of relations; after a space, != is not a factorial."""
_QUALIFIER = re.compile(
    r"(?<=\S),?\s*(?:\\text\s*\{\s*)?\(?"
    r"(?:(?:for (?:all|every|any|each)|where)\b|for\s*\}?\s*[a-z]\s*(?:[<>≥≤]|\\[lg]eq?)"
    r"|i\.e\.|that is,)[^=]{0,80}$"
)
"""What only one side says of its symbols: for all n ≥ 1, where k is an integer."""
_ANY_SPELT = re.compile("|".join(pattern.pattern for pattern, _ in _SPELT))
_UNDEFINED = re.compile(r"DNE|(?:it |the limit )?does not exist", re.IGNORECASE)
_INEQUALITY = re.compile(r"[<>]|\\(?:leq|geq|neq)(?![A-Za-z])")
_SCALED = re.compile(r"([^\[\]=,]+?)\s*×?\s*(\[\[.*\]\])", re.DOTALL)
_ENTRY = re.compile(r"[^\[\],]+")
_UNIT_VECTOR = re.compile(
    r"\\(?:vec|hat|overrightarrow)\s*(?:\{\s*\\?([ijk])(?:math)?\s*\}|\\?([ijk])(?:math)?\b)"
)
_VECTOR_NAME = re.compile(r"^\s*\\?(?:vec\s*)?\{?\s*[A-Za-z]\s*\}?\s*=\s*")
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?\s*(?:([ap])\.?\s?m\.?)?", re.IGNORECASE)
_CONCENTRATION = re.compile(r"\[\s*([A-Z](?:[A-Za-z\d\s(){}_]|\^\s*\{[\d+-]*\})*)\]")
_VECTOR = re.compile(r"\[\[([^\[\],]*(?:\]\s*,\s*\[[^\[\],]*)*|[^\[\]]*)\]\]")
"""A matrix of one row or one column, as `flatten_environments` writes it."""


def same_mathematics(gold: str, pred: str, is_same: Equality) -> bool:
    """Return whether two texts are the same set, inequality, solutions or vector.

    Args:
        gold: Gold answer, not tidied.
        pred: Answer, not tidied.
        is_same: Comparison of two values in them.
    """
    both = len(gold) <= MAX_CHARS and len(pred) <= MAX_CHARS
    if not both or not (_MATHEMATICAL.search(gold) or _MATHEMATICAL.search(pred)):
        return False
    cut = _drop_qualifier(gold), _drop_qualifier(pred)
    if (cut[0] != gold) != (cut[1] != pred) and all(cut) and is_same(*cut):
        return True
    spelt = _spell_signs(gold), _spell_signs(pred)
    if spelt != (gold, pred) and is_same(*spelt):
        return True
    gold, pred = map(tidy, spelt)
    return bool(
        same_family(gold, pred, is_same)
        or same_piecewise(gold, pred, is_same)
        or same_number_set(gold, pred)
        or same_inequality(gold, pred)
        or same_solutions(gold, pred, is_same)
        or _same_equations(gold, pred, is_same)
        or _same_conditions(gold, pred, is_same)
        or ("[[" in gold + pred and _same_vector(gold, pred, is_same))
        or ("[[" in gold + pred and _same_scaled(gold, pred, is_same))
        or _same_components(gold, pred, is_same)
        or _same_time(gold, pred)
        or _same_concentrations(gold, pred, is_same)
        or all(map(_UNDEFINED.fullmatch, (gold, pred)))
    )


def _drop_qualifier(text: str) -> str:
    words = ("for", "where", "i.e.", "that is")
    return _QUALIFIER.sub("", text) if any(word in text for word in words) else text


def _spell_signs(text: str) -> str:
    if _ANY_SPELT.search(text):
        for pattern, spelling in _SPELT:
            text = pattern.sub(spelling, text)
    if r"\mp" in text and r"\pm" not in text:  # the upper and the lower sign are alike
        text = text.replace(r"\mp", r"\pm")
    return text


def _same_equations(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare curves in any order: x - y = 1 or x + y = 5. ± gives two of them."""
    if "=" not in gold or "=" not in pred:
        return False
    if any(is_prose(text) or labelled_part(text).key for text in (gold, pred)):
        return False
    curves, others = (
        [
            piece.replace("±", sign)
            for piece in split_outside_brackets(text, {"or", "and", ",", ";"})
            for sign in ("+-" if "±" in piece else "+")
        ]
        for text in (gold, pred)
    )
    both = (*curves, *others)
    listed = min(len(curves), len(others)) > 1 and all("=" in piece for piece in both)
    plane = listed and any({"x", "y"} <= symbols(piece) for piece in both)
    return plane and same_set(curves, others, is_same)


def _same_conditions(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare inequalities that all hold, in any order: x > 0, y > 0."""
    if not (_INEQUALITY.search(gold) and _INEQUALITY.search(pred)):
        return False
    conditions, others = (split_outside_brackets(text, {"and", ",", ";"}) for text in (gold, pred))
    both = (*conditions, *others)
    written = len(conditions) > 1 and all(map(_bounds_a_value, both))
    return written and not any(map(is_prose, both)) and same_set(conditions, others, is_same)


def _bounds_a_value(text: str) -> bool:
    """Return whether a text is one inequality with a number on one side."""
    sides = _INEQUALITY.split(text)
    return len(sides) == 2 and all(map(str.strip, sides)) and not all(map(symbols, sides))


def _same_vector(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare a matrix of one row or one column with a tuple."""
    rows = [_VECTOR.fullmatch(text) for text in (gold, pred)]
    if (rows[0] is None) == (rows[1] is None):
        return False
    g, p = (
        re.sub(r"\]\s*,\s*\[", ", ", row[1]) if row else text.strip().strip("()")
        for row, text in zip(rows, (gold, pred), strict=True)
    )
    values = [[part.text for part in by_comma(text)] for text in (g, p)]
    return len(values[0]) > 1 and len(values[0]) == len(values[1]) and all(map(is_same, *values))


def _same_scaled(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare a multiple of a matrix with a matrix: 3 [[1], [2]] is [[3], [6]]."""
    matches = [_SCALED.fullmatch(text) for text in (gold, pred)]
    if not any(matches):
        return False
    g, p = (
        _ENTRY.sub(
            lambda m, f=match[1]: f"({f})({m[0].strip()})" if m[0].strip() else m[0], match[2]
        )
        if match
        else text
        for match, text in zip(matches, (gold, pred), strict=True)
    )
    return is_same(g, p)


def _same_time(gold: str, pred: str) -> bool:
    """Compare times of day: 5:30 p.m. is 17:30, and not 5:30 a.m."""
    times = [_CLOCK.fullmatch(text.strip()) for text in (gold, pred)]
    if not (times[0] and times[1] and (times[0][3] or times[1][3])):
        return False
    minutes = list[int]()
    for hour, minute, half in (time.groups() for time in times if time):
        if not half and (minute is None or int(hour) < 13):
            return False
        day_half = 12 * (half.casefold() == "p") + int(hour) % 12 if half else int(hour)
        minutes.append(60 * day_half + int(minute or 0))
    return minutes[0] == minutes[1]


def _same_concentrations(gold: str, pred: str, is_same: Equality) -> bool:
    """Compare expressions of concentrations, each of which is one symbol: [NH_3]^2 / [N_2]."""
    if "[" not in gold or "[" not in pred:
        return False
    found = [_CONCENTRATION.findall(text) for text in (gold, pred)]
    species = [[re.sub(r"[\s_{}]", "", name) for name in names] for names in found]
    if not species[0] or set(species[0]) != set(species[1]):
        return False
    places = {name: place for place, name in enumerate(dict.fromkeys(species[0]))}

    def write(match: re.Match[str]) -> str:
        return f" Q_{{{places[re.sub(r'[_{}]|[ ]', '', match[1])]}}} "

    named = [_CONCENTRATION.sub(write, text) for text in (gold, pred)]
    return named != [gold, pred] and is_same(*named)


def _same_components(gold: str, pred: str, is_same: Equality) -> bool:
    r"""Compare 2\hat{i} - 3\hat{j} with the same in other letters, or with (2, -3)."""
    if not any(unit in gold + pred for unit in "jk"):
        return False
    bare = [_VECTOR_NAME.sub("", text) for text in (gold, pred)]
    sums = [_UNIT_VECTOR.sub(lambda m: f" {m[1] or m[2]} ", text) for text in bare]
    units = [symbols(text) for text in sums]
    if not any(len(names) > 1 and names <= {"i", "j", "k"} for names in units):
        return False
    for at, text in enumerate(bare):
        vector = _VECTOR.fullmatch(text)
        inside = re.sub(r"\]\s*,\s*\[", ", ", vector[1]) if vector else text.strip()[1:-1]
        values = [part.text for part in by_comma(inside)]
        if not units[at] and len(values) in (2, 3):
            sums[at] = " + ".join(f"({v}) {unit}" for v, unit in zip(values, "ijk", strict=False))
    return is_same(*sums) or same_formula(*sums)
