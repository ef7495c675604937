"""Row of units: the role of each, its words and brackets, and the operands of its operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from glyphtex.tree.parts import Part
from glyphtex.units import (
    FUNCTIONS,
    NAMES,
    STATES,
    UNITS,
    Role,
    is_chemical,
    is_hyphen,
    is_sign_font,
    role_of,
)

TIGHT = 0.16
"""Type sizes: letters of one word are nearer."""
THIN = 0.22
"""Type sizes: smaller than a space between words."""
SPACE = 0.75
"""Maximum gap between an operator and its operands, in type sizes."""
BREAK = 0.25
"""Gap between two lines of a row, in type sizes, as around a relation."""
SIGNS = frozenset("+-−±∓")

_THIN_SPACE = 0.07
"""Minimum gap of a space between two units of LibreOffice, in type sizes."""
RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Exponents that are separate characters: they belong to the unit before them."""
_CENTRED_DOTS = frozenset("·⋅∙")
_DOTS = 3
_ELLIPSIS = "⋯"
_ALLOWED = frozenset(":;!%'′…")
"""Signs that formulas have in brackets besides letters, digits and operators."""
_DEEPEST = 4
_LONGEST_BARS = 30
Interval = tuple[int, int]
"""Half-open range of the units of a row."""


class RowOperands:
    """Row of units with the role of each, its words, brackets and operands.

    Args:
        row: Units from left to right.
        has_greek_prose: Whether Greek letters of the page are words.
        breaks: Places where its lines begin, after the first.
    """

    def __init__(
        self, row: list[Part], *, has_greek_prose: bool = False, breaks: Sequence[int] = ()
    ) -> None:
        self.units = row
        self.breaks = tuple(breaks)
        self.roles: list[Role] = [role_of(u, has_greek_prose=has_greek_prose) for u in row]
        self.gaps = self._measure_gaps()
        """Gap before each unit, in type sizes."""
        self.taken = [False] * len(row)
        """Units that are formulas, as far as known."""
        self.words = self._find_words()
        """Range of the word of each letter; (k, k + 1) for everything else."""
        self.pairs = self._find_pairs()
        """Places of matching brackets, in both directions."""
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
        return glyph is not None and is_sign_font(glyph.font)

    def is_modulus(self, k: int) -> bool:
        """Return whether `(mod m)` begins at a place; TeX sets a wide gap before it."""
        return self.roles[k] == "open" and k + 1 < len(self.units) and self.word(k + 1) == "mod"

    def _measure_gaps(self) -> list[float]:
        """Measure the gaps; a zero-width accent does not end a row."""
        gaps, end, size = [], -1e6, 1.0
        for k, unit in enumerate(self.units):
            box = unit.whole_box
            if k in self.breaks:
                end = box.x0 - BREAK * max(size, unit.size)
            gaps.append((box.x0 - end) / max(size, unit.size))
            end, size = max(end, box.x1), max(unit.size, 1.0)
        return gaps

    def _find_words(self) -> list[Interval]:
        ranges = [(k, k + 1) for k in range(len(self.units))]
        start = 0
        while start < len(self.units):
            end = start + 1
            while self._word_goes_on(start, end):
                end += 1
            ranges[start:end] = [(start, end)] * (end - start)
            start = end
        return ranges

    def _word_goes_on(self, start: int, end: int) -> bool:
        """Return whether a letter is next in a word: not the argument of a function, nor what
        follows a unit after a thin space."""
        if end == len(self.units) or not self.roles[start] == self.roles[end] == "letter":
            return False
        last, unit = self.units[end - 1], self.units[end]
        if self.gaps[end] >= TIGHT or last.scripts:
            return False
        text = self.text(start, end)
        if unit.glyphs[0].italic and not last.glyphs[0].italic and text in FUNCTIONS:
            return False
        is_after_number = self.is_digit(start - 1) and self.gaps[end] > _THIN_SPACE
        return not (is_after_number and text in UNITS)

    def _find_pairs(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        stack: list[int] = []
        for k, role in enumerate(self.roles):
            if role == "open":
                stack.append(k)
            elif role == "close" and stack:
                start = stack.pop()
                pairs[start], pairs[k] = k, start
        return pairs

    # Operands.

    def operand_after(self, k: int, depth: int = 0) -> int | None:  # noqa: PLR0911, PLR0912 (a case for each role)
        """Return the end of the operand that begins at a place, or None."""
        count, end = len(self.units), k + 1
        if k >= count or depth > _DEEPEST:
            return None
        if self.sign(k) == _ELLIPSIS:
            return end
        match self.roles[k]:
            case "operator":
                if self._is_dots(k):
                    return k + _DOTS
                if self.sign(k) in SIGNS and end < count and self.gaps[end] < 0.4:
                    return self.operand_after(end, depth + 1)
            case "math":
                return end
            case "digit":
                while self.joins_number(end):
                    end += 1
                return end
            case "letter":
                start, end = self.words[k]
                return end if self._may_be_operand(start, end) else None
            case "open":
                end = self.pairs.get(k, k)
                return end + 1 if end > k and self.is_mathematics(k + 1, end) else None
            case "bar":
                end = self._find_bar(range(end, min(k + _LONGEST_BARS, count)))
                return end + 1 if self.is_mathematics(k + 1, end) else None
            case "point":
                end = k
                while end < count and self.roles[end] == "point" and self.gaps[end] < SPACE:
                    end += 1
                return end if end - k >= _DOTS and self.is_strong(k) else None
        return None

    def operand_before(self, k: int) -> int | None:  # noqa: PLR0911 (a case for each role)
        """Return the start of the operand that ends before a place, or None."""
        start = last = k - 1
        if last < 0:
            return None
        if self.sign(last) == _ELLIPSIS:
            return last
        match self.roles[last]:
            case "operator":
                return k - _DOTS if self._is_dots(k - _DOTS) else None
            case "math":
                return last
            case "digit":
                if self.sign(last) in RAISED:
                    return self.operand_before(last)
                while self.joins_number(start):
                    start -= 1
                return start
            case "letter":
                start, end = self.words[last]
                return start if self._may_be_operand(start, end) else None
            case "close":
                start = self.pairs.get(last, last)
                is_label = start == 0 and last == 2 and self.roles[1] == "letter"
                return start if not is_label and self.is_mathematics(start + 1, last) else None
            case "bar":
                start = self._find_bar(range(last - 1, max(-1, last - _LONGEST_BARS), -1))
                return start if start >= 0 and self.is_mathematics(start + 1, last) else None
            case "point":
                while start > 0 and self.roles[start - 1] == "point" and self.gaps[start] < SPACE:
                    start -= 1
                return start if k - start >= _DOTS and self.is_strong(last) else None
        return None

    def _find_bar(self, places: Iterable[int]) -> int:
        return next((k for k in places if self.roles[k] == "bar"), -1)

    def _is_dots(self, start: int) -> bool:
        """Return whether three centred dots begin at a place, which LaTeX sets as `\\cdots`."""
        end = start + _DOTS
        return (
            start >= 0
            and end <= len(self.units)
            and all(
                self.sign(k) in _CENTRED_DOTS and (k == start or self.gaps[k] < SPACE)
                for k in range(start, end)
            )
        )

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

    def _may_be_operand(self, start: int, end: int) -> bool:
        """Return whether a word is a variable, a function name or a chemical formula."""
        word, units = self.text(start, end), self.units[start:end]
        if word in FUNCTIONS or word in NAMES:
            return True
        if len(units) == 1 and (word.isascii() or units[0].glyphs[0].italic):
            return True
        if len(units) <= 3 and all(u.glyphs[0].italic for u in units):
            return not self.is_italic
        if units[-1].scripts:
            return is_chemical(word) or word in UNITS
        return is_chemical(word) and any(
            self.taken[k]
            and unit.scripts
            and self.roles[k] == "letter"
            and is_chemical(self.word(k))
            for k, unit in enumerate(self.units)
        )

    def is_mathematics(self, start: int, end: int) -> bool:
        """Return whether a whole range can be mathematics: no words, no prose punctuation."""
        return start < end and all(map(self._may_be_inside, range(start, end)))

    def _may_be_inside(self, k: int) -> bool:
        if self.roles[k] == "other":
            return self.sign(k) in _ALLOWED
        if self.roles[k] != "letter":
            return True
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

    def _is_prose_hyphen(self, k: int) -> bool:
        """Return whether a unit is a hyphen rather than a minus sign, which is evenly spaced
        between operands."""
        if not is_hyphen(self.units[k]):
            return False
        if not 0 < k < len(self.units) - 1 or abs(self.gaps[k] - self.gaps[k + 1]) >= 0.15:
            return True
        return self.operand_before(k) is None or self.operand_after(k + 1) is None
