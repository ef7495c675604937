"""Structure of a row of units, and operands: numbers, brackets, functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from omibench.stages.ocr.formulas.units import (
    FUNCTIONS,
    NAMES,
    ORDINALS,
    STATES,
    UNITS,
    Role,
    Row,
    is_chemical,
    is_hyphen,
    is_math_font,
    role_of,
)

TIGHT = 0.16
"""Type sizes: letters of one word are nearer."""
THIN = 0.22
"""Type sizes: smaller than a space between words."""
_THIN_SPACE = 0.07
"""Minimum gap of a space between two units of LibreOffice, in type sizes."""
_SYMBOLS = "OpenSymbol"
"""LibreOffice's font of operators and brackets in formulas, and of bullets."""
SPACE = 0.75
"""Maximum gap between an operator and its operands, in type sizes."""
BREAK = 0.25
"""Gap between two lines of a row, in type sizes, as around a relation."""
SIGNS = frozenset("+-−±∓")
RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Exponents that are separate characters: they belong to the unit before them."""
_DOTS = 3
_CENTRED_DOTS = frozenset("·⋅∙")
_DEEPEST = 4
_ELLIPSIS = "⋯"
_LONGEST_BARS = 30
_ALLOWED = frozenset(":;!%'′…")
"""Allowed roles between brackets besides letters, digits and operators."""


class RowOperands:
    """Row of units with the role of each, its words, brackets and operands."""

    def __init__(
        self, row: Row, *, has_greek_prose: bool = False, breaks: Sequence[int] = ()
    ) -> None:
        self.units = row
        self.breaks = tuple(breaks)
        """Places where its lines begin, after the first."""
        self.roles: list[Role] = [role_of(u, has_greek_prose=has_greek_prose) for u in row]
        self.gaps = _measure_gaps(row, self.breaks)
        self.taken = [False] * len(row)
        """Units that are formulas, as far as known."""
        self.words = self._find_words()
        self.pairs = self._find_pairs()
        self.is_typed = any(self.sign(k) in ("^", "_") for k in range(len(row)))
        """Whether its formulas are typed in plain characters, as `a^2`."""
        letters = [u for u, role in zip(row, self.roles, strict=True) if role == "letter"]
        self.is_italic = sum(u.glyphs[0].italic for u in letters) * 2 > len(letters) > 3

    def text(self, start: int, end: int) -> str:
        """Return the text of a range without scripts."""
        return "".join("\ufffc" if u.is_block else u.text for u in self.units[start:end])

    def sign(self, k: int) -> str:
        """Return the character at a place, or nothing for a block."""
        return self.units[k].text

    def word(self, k: int) -> str:
        """Return the word that a letter is part of."""
        return self.text(*self.words[k])

    def is_digit(self, k: int) -> bool:
        return 0 <= k < len(self.units) and self.roles[k] == "digit"

    def is_strong(self, k: int) -> bool:
        """Return whether a bracket, operator or comma is in a mathematical font."""
        glyph = self.units[k].glyph
        return glyph is not None and (is_math_font(glyph.font) or _SYMBOLS in glyph.font)

    def _find_words(self) -> list[tuple[int, int]]:
        """Range of the word of each letter; (k, k + 1) for everything else."""
        ranges = [(k, k + 1) for k in range(len(self.units))]
        start = 0
        while start < len(self.units):
            end = start + 1
            while (
                end < len(self.units)
                and self.roles[start] == self.roles[end] == "letter"
                and self.gaps[end] < TIGHT
                and not self.units[end - 1].scripts
                and not self._is_argument_of_function(start, end)
                and not self._ends_unit(start, end)
            ):
                end += 1
            for k in range(start, end):
                ranges[k] = (start, end)
            start = end
        return ranges

    def _is_argument_of_function(self, start: int, end: int) -> bool:
        """Return whether an italic letter directly follows a function name."""
        before, unit = self.units[end - 1].glyphs[0], self.units[end].glyphs[0]
        return unit.italic and not before.italic and self.text(start, end) in FUNCTIONS

    def _ends_unit(self, start: int, end: int) -> bool:
        """Return whether letters after a number are a unit followed by a thin space."""
        is_apart = start > 0 and self.roles[start - 1] == "digit" and self.gaps[end] > _THIN_SPACE
        return is_apart and self.text(start, end) in UNITS

    def _find_pairs(self) -> dict[int, int]:
        """Places of matching brackets, in both directions."""
        pairs: dict[int, int] = {}
        stack: list[int] = []
        for k, role in enumerate(self.roles):
            if role == "open":
                stack.append(k)
            elif role == "close" and stack:
                start = stack.pop()
                pairs[start], pairs[k] = k, start
        return pairs

    def joins_number(self, k: int) -> bool:
        """Return whether a point or a digit continues the number before it."""
        if not 0 < k < len(self.units) or self.gaps[k] >= THIN:
            return False
        if self.roles[k] == "digit":
            before = self.roles[k - 1]
            return before == "digit" or (before == "point" and self.is_digit(k - 2))
        return (
            self.roles[k] == "point"
            and self.is_digit(k - 1)
            and self.is_digit(k + 1)
            and self.gaps[k + 1] < THIN
        )

    # The operand after an operator.

    def operand_after(self, k: int, depth: int = 0) -> int | None:
        """Return the end of the operand that begins at a place, or None."""
        if k >= len(self.units) or depth > _DEEPEST:
            return None
        if self.sign(k) == _ELLIPSIS:
            return k + 1
        if self.roles[k] == "operator":
            if self._is_dots(k, k + 3):
                return k + 3
            signed = self.sign(k) in SIGNS and k + 1 < len(self.units) and self.gaps[k + 1] < 0.4
            return self.operand_after(k + 1, depth + 1) if signed else None
        read = self._AFTER.get(self.roles[k])
        return read(self, k) if read else None

    def _math_after(self, k: int) -> int | None:
        return k + 1

    def _number_after(self, k: int) -> int | None:
        end = k + 1
        while self.joins_number(end):
            end += 1
        return end

    def _word_after(self, k: int) -> int | None:
        start, end = self.words[k]
        return end if self._may_be_operand(start, end) else None

    def _bracket_after(self, k: int) -> int | None:
        end = self.pairs.get(k, -1)
        return end + 1 if end > k and self.is_mathematics(k + 1, end) else None

    def _bar_after(self, k: int) -> int | None:
        for end in range(k + 1, min(k + _LONGEST_BARS, len(self.units))):
            if self.roles[end] == "bar":
                return end + 1 if self.is_mathematics(k + 1, end) else None
        return None

    def _points_after(self, k: int) -> int | None:
        """Return the end of three dots in a mathematical font."""
        end = k
        while end < len(self.units) and self.roles[end] == "point" and self.gaps[end] < SPACE:
            end += 1
        return end if end - k >= 3 and self.is_strong(k) else None

    def _is_dots(self, start: int, end: int) -> bool:
        """Return whether a range is three centred dots, which LaTeX sets as `\\cdots`."""
        inside = range(max(start, 0), min(end, len(self.units)))
        return len(inside) == _DOTS and all(
            self.sign(k) in _CENTRED_DOTS and (k == start or self.gaps[k] < SPACE) for k in inside
        )

    _AFTER: ClassVar[dict[Role, Callable[[RowOperands, int], int | None]]] = {
        "math": _math_after,
        "digit": _number_after,
        "letter": _word_after,
        "open": _bracket_after,
        "bar": _bar_after,
        "point": _points_after,
    }

    # The operand before an operator.

    def operand_before(self, k: int) -> int | None:
        """Return the start of the operand that ends before a place, or None."""
        if k > 0 and self.sign(k - 1) == _ELLIPSIS:
            return k - 1
        read = self._BEFORE.get(self.roles[k - 1]) if k > 0 else None
        return read(self, k - 1) if read else None

    def _math_before(self, last: int) -> int | None:
        return last

    def _number_before(self, last: int) -> int | None:
        if self.sign(last) in RAISED:
            return self.operand_before(last)
        while self.joins_number(last):
            last -= 1
        return last

    def _word_before(self, last: int) -> int | None:
        start, end = self.words[last]
        return start if self._may_be_operand(start, end) else None

    def _bracket_before(self, last: int) -> int | None:
        start = self.pairs.get(last, last)
        if start == 0 and last == 2 and self.roles[1] == "letter":  # the label of a choice
            return None
        return start if start < last and self.is_mathematics(start + 1, last) else None

    def _bar_before(self, last: int) -> int | None:
        for start in range(last - 1, max(-1, last - _LONGEST_BARS), -1):
            if self.roles[start] == "bar":
                return start if self.is_mathematics(start + 1, last) else None
        return None

    def _points_before(self, last: int) -> int | None:
        start = last
        while start > 0 and self.roles[start - 1] == "point" and self.gaps[start] < SPACE:
            start -= 1
        return start if last - start >= 2 and self.is_strong(last) else None

    def _dots_before(self, last: int) -> int | None:
        return last - 2 if self._is_dots(last - 2, last + 1) else None

    _BEFORE: ClassVar[dict[Role, Callable[[RowOperands, int], int | None]]] = {
        "math": _math_before,
        "digit": _number_before,
        "letter": _word_before,
        "close": _bracket_before,
        "bar": _bar_before,
        "operator": _dots_before,
        "point": _points_before,
    }

    # Words and brackets.

    def _may_be_operand(self, start: int, end: int) -> bool:
        """Return whether a word is a variable, a function name or a chemical formula."""
        word, units = self.text(start, end), self.units[start:end]
        if (
            word in FUNCTIONS
            or word in NAMES
            or (end - start == 1 and (word.isascii() or units[0].glyphs[0].italic))
        ):
            return True
        if end - start <= 3 and all(u.glyphs[0].italic for u in units):
            return not self.is_italic
        if units[-1].scripts:
            return is_chemical(word) or word in UNITS
        return self._has_chemistry and is_chemical(word)

    @property
    def _has_chemistry(self) -> bool:
        return any(
            self.taken[k] and unit.scripts and self.roles[k] == "letter"
            and is_chemical(self.word(k))
            for k, unit in enumerate(self.units)
        )  # fmt: skip

    def is_mathematics(self, start: int, end: int) -> bool:
        """Return whether a whole range can be mathematics: no words, no prose punctuation."""
        return start < end and all(
            self._may_be_inside(k)
            for k in range(start, end)
            if self.roles[k] in ("letter", "other")
        )

    def _may_be_inside(self, k: int) -> bool:
        if self.roles[k] == "other":
            return self.sign(k) in _ALLOWED
        first, last = self.words[k]
        word = self.text(first, last)
        return (
            last - first == 1
            or word in FUNCTIONS
            or word in STATES
            or word in UNITS
            or is_chemical(word)
            or (last - first <= 3 and self.units[k].glyphs[0].italic)
        )

    def is_minus(self, k: int) -> bool:
        """Return whether a hyphen is used as a minus sign: evenly spaced between operands."""
        if not 0 < k < len(self.units) - 1 or abs(self.gaps[k] - self.gaps[k + 1]) >= 0.15:
            return False
        return self.operand_before(k) is not None and self.operand_after(k + 1) is not None

    def is_prose_hyphen(self, k: int) -> bool:
        """Return whether a unit is a hyphen rather than a minus sign."""
        return is_hyphen(self.units[k]) and not self.is_minus(k)


def _measure_gaps(row: Row, breaks: Sequence[int]) -> list[float]:
    """Gap before each unit, in type sizes; a zero-width accent does not end a row."""
    gaps, end, size = [], -1e6, 1.0
    for k, unit in enumerate(row):
        box = unit.whole_box
        if k in breaks:
            end = box.x0 - BREAK * max(size, unit.size)
        gaps.append((box.x0 - end) / max(size, unit.size))
        end, size = max(end, box.x1), max(unit.size, 1.0)
    return gaps


# Units of a row that are certainly mathematics regardless of their neighbours.

_RELATIONS = frozenset("=≈≤≥≠<>≪≫∝≡∼≅≃→⇌⟶↔⇒")
_OPERATORS = frozenset("×·⋅±∓÷+−∕")
_EITHER_SIGN = frozenset("±∓")
SEEDS = _RELATIONS | _OPERATORS
"""Signs that make a formula of their neighbours."""
_DEGREES = frozenset("°◦∘º")
_LABEL = 3
"""Maximum place of the bracket that closes the label of a choice or part."""
_LETTERS_OF_CHOICES = "ABCDEFGH"


def find_seeds(row: RowOperands) -> list[tuple[int, int]]:
    """Return ranges of units that are formulas or parts of them."""
    return [
        _with_operands(row, k) if row.roles[k] in ("operator", "relation") else (k, k + 1)
        for k in range(len(row.units))
        if _is_seed(row, k)
    ]


def _with_operands(row: RowOperands, k: int) -> tuple[int, int]:
    start, end = row.operand_before(k), row.operand_after(k + 1)
    return k if start is None else start, end or k + 1


def _is_seed(row: RowOperands, k: int) -> bool:
    role = row.roles[k]
    if row.units[k].scripts and not _is_prose_script(row, k):
        return True
    if role == "math":
        return not _is_unit_sign(row, k)
    if role == "letter":
        return _is_lone_italic(row, k)
    if role == "relation":
        return row.sign(k) in _RELATIONS and _joins_operands(row, k) and _is_worth(row, k)
    return role == "operator" and _is_seed_operator(row, k)


def _is_seed_operator(row: RowOperands, k: int) -> bool:
    if row.sign(k) in _OPERATORS and _joins_operands(row, k):
        return _is_worth(row, k)
    is_signed = row.sign(k) in _EITHER_SIGN and row.is_strong(k)
    return is_signed and row.operand_after(k) is not None


def _is_worth(row: RowOperands, k: int) -> bool:
    """Return whether an operator and its neighbours are a formula.

    Sums of plain numbers and upright letters in the text font are as legible as text.
    """
    if row.is_strong(k) or (row.roles[k] == "relation" and not row.is_typed):
        return True
    start, end = _with_operands(row, k)
    return any(u.is_block or u.scripts or u.glyphs[0].italic for u in row.units[start:end])


def _is_prose_script(row: RowOperands, k: int) -> bool:
    """Return whether a script is an ordinal, a degree or a footnote mark."""
    unit, role = row.units[k], row.roles[k]
    marks = "".join(s.glyphs[0].text for s in unit.scripts if s.glyphs)
    is_raised = all(s.axis < unit.axis for s in unit.scripts)
    if role in ("point", "other"):
        return True
    if role == "math" or not is_raised:
        return False
    if role == "digit":
        is_degree = set(marks) <= _DEGREES
        return marks.lower() in ORDINALS or (is_degree and not _is_angle(row, k))
    if role == "close":
        start = row.pairs.get(k)
        is_label = start == 0 and k <= _LABEL
        return start is None or is_label or not row.is_mathematics(start + 1, k)
    return role == "letter" and _is_footnote(_word_of_script(row, k), marks)


def _is_angle(row: RowOperands, k: int) -> bool:
    """Return whether a number directly follows a function name, as in tan 49°."""
    while row.joins_number(k):
        k -= 1
    return k > 0 and row.gaps[k] < SPACE and row.word(k - 1) in FUNCTIONS


def _word_of_script(row: RowOperands, k: int) -> str:
    """Return the word before or after a script."""
    unit, end = row.units[k], k + 1
    if any(script.box.centre[0] > unit.box.x0 for script in unit.scripts):
        return row.word(k)
    while end < len(row.units) and row.gaps[end] < TIGHT and row.roles[end] == "letter":
        end += 1
    return row.text(k, end)


def _is_footnote(word: str, marks: str) -> bool:
    if marks.lower() in ORDINALS and len(marks) > 1:
        return True
    return len(word) >= 3 and word not in UNITS and not is_chemical(word)


def _is_unit_sign(row: RowOperands, k: int) -> bool:
    """Return whether a Greek letter is in a unit after a plain number, as in 5 μm or 3 kΩ."""
    if row.units[k].has_axis or row.units[k].scripts or row.is_strong(k):
        return False
    start, end = k, k + 1
    while start > 0 and row.gaps[start] < TIGHT and row.roles[start - 1] == "letter":
        start -= 1
    while end < len(row.units) and row.gaps[end] < TIGHT and row.roles[end] == "letter":
        end += 1
    return row.text(start, end) in UNITS and row.is_digit(start - 1)


def _is_lone_italic(row: RowOperands, k: int) -> bool:
    """Return whether an italic letter is alone among upright words."""
    glyph = row.units[k].glyphs[0]
    start, end = row.words[k]
    if row.is_italic or not glyph.italic or not glyph.text.isascii() or end - start > 1:
        return False
    if start == 1 and row.roles[0] == "open":
        return False
    if end < len(row.units) and row.roles[end] == "close" and start in (0, 1):
        return False
    return not any(
        0 <= near < len(row.units)
        and row.roles[near] == "letter"
        and len(row.word(near)) > 1
        and row.units[near].glyphs[0].italic
        for near in (start - 1, end)
    )


def _joins_operands(row: RowOperands, k: int) -> bool:
    if k == 0 or k == len(row.units) - 1 or is_hyphen(row.units[k]):
        return False
    if row.gaps[k] > SPACE or row.gaps[k + 1] > SPACE:
        return False
    left, right = row.operand_before(k), row.operand_after(k + 1)
    if left is None or right is None:
        return False
    sides = (row.text(left, k), row.text(k + 1, right))
    # `1 = A` is an entry of a key.
    return not any(a.isdecimal() and b in _LETTERS_OF_CHOICES for a, b in (sides, sides[::-1]))
