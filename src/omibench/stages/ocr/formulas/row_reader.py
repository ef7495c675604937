"""Formulas of a row, grown from units that are certainly mathematics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from omibench.stages.ocr.formulas.operands import (
    RAISED,
    SIGNS,
    SPACE,
    THIN,
    TIGHT,
    RowOperands,
    find_seeds,
)
from omibench.stages.ocr.formulas.units import (
    FUNCTIONS,
    ORDINALS,
    UNITS,
    Role,
    is_chemical,
    is_hyphen,
    is_math_letter,
)

_MOST_ROUNDS = 60
_LABEL = 4
"""Maximum number of units in the label of a choice or part, with brackets: `(A)`, `(ii)`."""
_UNIT_GAP = 0.24
"""Maximum gap between a power of ten and its unit, in type sizes."""
_BEFORE_MODULUS = 1.3
"""Maximum gap between a congruence and its modulus, in type sizes."""
_IN_BRACKETS = 0.3
"""Maximum gap between brackets that are not round and their contents, in type sizes."""
_SHORT_NAME = 3
"""Maximum number of letters of a name in brackets after a variable."""
_PARTS = 0.02
"""Maximum gap between the parts of a long arrow, in type sizes: TeX's have no width or overlap."""
_POSTFIX = ("↑", "↓")
"""Arrows after the symbol that they describe."""
_SEPARATORS = (":", ",", ";")


class RowReader(RowOperands):
    """Row of units, with the ones that are formulas marked."""

    def find_intervals(self) -> list[tuple[int, int]]:
        """Return the formulas of the row as half-open ranges of its units."""
        grown = self._find_grown()
        taken = {k for start, end in grown for k in range(start, end)}
        objects = (k for k, unit in enumerate(self.units) if unit.is_object and k not in taken)
        return sorted([*((k, k + 1) for k in objects), *grown])

    def _find_grown(self) -> list[tuple[int, int]]:
        """Return the formulas that are not objects; one may hold an object that it overlaps."""
        for start, end in find_seeds(self):
            self._take(start, end)
        if not any(self.taken):
            return []
        for _ in range(_MOST_ROUNDS):
            if not self._grow():
                break
        return list(self._trim())

    def _grow(self) -> bool:
        before = list(self.taken)
        for start, end in self._intervals():
            if end < len(self.units):
                self._RIGHT.get(self.roles[end], RowReader._other_right)(self, end)
            if start > 0:
                self._LEFT.get(self.roles[start - 1], RowReader._other_left)(self, start)
        for k, role in enumerate(self.roles):
            if self.taken[k] and role in ("open", "close") and k in self.pairs:
                first, last = sorted((k, self.pairs[k]))
                if self._is_binomial(first, last) or self.is_mathematics(first + 1, last):
                    self._take(first, last + 1)
        self._take_strong_brackets()
        for start, end in self._intervals():
            if self._is_enclosed(start, end):
                self._take(start - 1, end + 1)
        self._take_overlapping()
        return before != self.taken

    def _is_binomial(self, first: int, last: int) -> bool:
        """Return whether brackets contain only scripts after the first unit."""
        return last == first + 1 and len(self.units[first].scripts) > 1

    def _is_enclosed(self, start: int, end: int) -> bool:
        """Return whether the brackets around a formula are part of it; round ones may be prose."""
        if not start > 0 or self.pairs.get(start - 1) != end:
            return False
        bracket = self.units[start - 1]
        widest = THIN if self.sign(start - 1) == "(" else _IN_BRACKETS
        if self.gaps[start] >= widest or self.gaps[end] >= widest:
            return False
        if self.sign(start - 1) != "(" or bracket.is_tall:
            return True
        inside = self.roles[start:end]
        has_operator = len({"operator", "point"} & set(inside)) > 0
        return "relation" not in inside and (has_operator or self._is_factor(start - 1, end))

    def _is_factor(self, first: int, last: int) -> bool:
        """Return whether an operator is right before or after a pair of brackets."""
        return any(
            0 <= k < len(self.units)
            and self.roles[k] == "operator"
            and self.gaps[max(k, first)] < THIN
            and not is_hyphen(self.units[k])
            for k in (first - 1, last + 1)
        )

    def _take_strong_brackets(self) -> None:
        """Include mathematical brackets around a formula."""
        for k, end in self.pairs.items():
            is_strong = k < end and self.is_strong(k) and self.is_strong(end)
            if is_strong and any(self.taken[k + 1 : end]) and self.is_mathematics(k + 1, end):
                self._take(k, end + 1)

    def _intervals(self) -> Iterator[tuple[int, int]]:
        start = None
        for k in range(len(self.taken) + 1):
            far = start is not None and k < len(self.gaps) and self.gaps[k] > SPACE
            far = far and not self.is_modulus(k)
            if k < len(self.taken) and self.taken[k] and not far:
                start = k if start is None else start
                continue
            if start is not None:
                yield start, k
            start = k if k < len(self.taken) and self.taken[k] else None

    def _take(self, start: int, end: int) -> None:
        for k in range(start, end):
            self.taken[k] = True

    # To the right: each method receives the place after a formula.

    def _digit_right(self, k: int) -> None:
        is_raised = self.sign(k) in RAISED
        if self.gaps[k] < THIN and (is_raised or self.roles[k - 1] != "close"):
            self._take(k, self.operand_after(k) or k + 1)

    def _operator_right(self, k: int) -> None:
        if self.gaps[k] >= SPACE or self.is_prose_hyphen(k):
            return
        if self.sign(k) == "/" and self._take_unit_of_measure(k + 1):
            self._take(k, k + 1)
            return
        following = self._after_long_arrow(k)
        end = self.operand_after(following)
        if end is not None and self.gaps[following] < SPACE:
            self._take(k, end)
        elif self.sign(k) in _POSTFIX or (
            k == len(self.units) - 1 and not is_hyphen(self.units[k])
        ):
            self._take(k, k + 1)

    def _take_unit_of_measure(self, k: int) -> bool:
        """Include the word at a place if it is a unit next to a slash, as in `kg/m^3`."""
        if not 0 <= k < len(self.units) or self.roles[k] != "letter":
            return False
        start, end = self.words[k]
        gap = max(self.gaps[start], 0.0) if k == start else self.gaps[end]
        if self.text(start, end) not in UNITS or gap > THIN:
            return False
        self._take(start, end)
        return True

    def _open_right(self, k: int) -> None:
        end = self.pairs.get(k, -1)
        if end < k:
            return
        is_part = self.is_mathematics(k + 1, end) or self._is_argument(k, end)
        widest = _BEFORE_MODULUS if self.is_modulus(k) else THIN
        if self.gaps[k] < widest and is_part:
            self._take(k, end + 1)

    def is_modulus(self, k: int) -> bool:
        """Return whether `(mod m)` begins at a place; TeX sets a wide gap before it."""
        return self.roles[k] == "open" and k + 1 < len(self.units) and self.word(k + 1) == "mod"

    def _is_argument(self, k: int, end: int) -> bool:
        """Return whether brackets right after a variable contain a short name, as in `c(HA)`."""
        before = self.units[k - 1]
        is_variable = not before.is_block and is_math_letter(before.glyphs[0])
        first, last = self.words[k + 1]
        is_word = first == k + 1 and last == end and self.roles[k + 1] == "letter"
        return is_variable and is_word and end - first <= _SHORT_NAME and self.gaps[k] < TIGHT

    def _bar_right(self, k: int) -> None:
        if self.gaps[k] >= 0.4:
            return
        end = self.operand_after(k)
        if end is not None:
            self._take(k, end)
        elif any(self.roles[j] == "bar" and self.taken[j] for j in range(k)):
            self._take(k, k + 1)
        elif self._is_relation(k) and k + 1 < len(self.units) and self.gaps[k + 1] < 0.4:
            # A relation, as in `m | n`.
            self._take(k, self.operand_after(k + 1) or k)

    def _is_relation(self, k: int) -> bool:
        """Whether a bar is one of mathematics: by its font, or the sign of divisibility."""
        glyph = self.units[k].glyph
        return self.is_strong(k) or (glyph is not None and glyph.symbol.kind == "relation")

    def _word_right(self, k: int) -> None:
        """Include letters right of a formula: a function, a unit, a differential, an element."""
        start, end = self.words[k]
        word, gap = self.text(start, end), self.gaps[k]
        if end - start == 1 and gap < THIN and self._is_vector(k):
            self._take(start, end)
            return
        if word in FUNCTIONS and gap < 0.45:
            after = self.operand_after(end)
            if after is not None and self.gaps[end] < 0.45:
                self._take(start, after)
            return
        if self.sign(k - 1) in ("△", "∠") and gap < 0.3 and word.isupper() and end - start <= 4:
            self._take(start, end)
            return
        is_ordinal = word in ORDINALS and self.is_digit(k - 1)
        is_factor = self.units[k - 1].is_block and self.units[k].glyphs[0].italic
        is_near = gap < (THIN if is_factor else TIGHT) and not is_ordinal and word != "s"
        is_power = bool(self.units[k - 1].scripts)
        is_unit = gap < (_UNIT_GAP if is_power else THIN) and (self.is_digit(k - 1) or is_power)
        if (
            (is_near and end - start <= 2)
            or (is_unit and word in UNITS)
            or (gap < (THIN if self.is_digit(k - 1) else TIGHT) and is_chemical(word))
        ):
            self._take(start, end)

    def _is_vector(self, k: int) -> bool:
        """Return whether a letter belongs to a bold alphabet, as vectors do."""
        glyph = self.units[k].glyph
        if glyph is None or glyph.symbol.kind != "letter":
            return False
        return glyph.bold or glyph.symbol.latex.startswith(("\\mathbf", "\\boldsymbol"))

    def _math_right(self, k: int) -> None:
        if self.gaps[k] < THIN:
            self._take(k, k + 1)

    def _other_right(self, k: int) -> None:
        sign = self.sign(k)
        if sign in ("!", "%", "′") and self.gaps[k] < 0.12:
            self._take(k, k + 1)
        elif sign in _SEPARATORS and self.is_strong(k):
            end = self.operand_after(k + 1)
            if end is not None and self.gaps[k + 1] < SPACE:
                self._take(k, end)

    _RIGHT: ClassVar[dict[Role, Callable[[RowReader, int], None]]] = {
        "digit": _digit_right,
        "operator": _operator_right,
        "relation": _operator_right,
        "open": _open_right,
        "bar": _bar_right,
        "letter": _word_right,
        "math": _math_right,
    }

    def _after_long_arrow(self, k: int) -> int:
        """Return the place after an operator or an arrow, possibly of overlapping glyphs."""
        end = k + 1
        while (
            end < len(self.units)
            and self.gaps[end] < _PARTS
            and self.roles[end] in ("operator", "relation")
        ):
            end += 1
        return end

    def _before_long_arrow(self, k: int) -> int:
        """Return the place where an operator or an arrow of overlapping glyphs begins."""
        while k > 0 and self.gaps[k] < _PARTS and self.roles[k - 1] in ("operator", "relation"):
            k -= 1
        return k

    # To the left: each method receives the place where a formula begins.

    def _digit_left(self, k: int) -> None:
        if self.gaps[k] < THIN:
            start = self.operand_before(k)
            self._take(k - 1 if start is None else start, k)

    def _operator_left(self, k: int) -> None:
        last = k - 1
        if self.gaps[k] >= SPACE or self.is_prose_hyphen(last):
            return
        if (
            self.sign(last) == "/"
            and self.gaps[last] < THIN
            and self._take_unit_of_measure(last - 1)
        ):
            self._take(last, k)
            return
        first = self._before_long_arrow(last)
        start = self.operand_before(first) if self.gaps[first] < SPACE else None
        is_sign = (
            self.sign(last) in SIGNS and self.gaps[k] < 0.2 and not is_hyphen(self.units[last])
        )
        if start is not None:
            self._take(start, k)
        elif is_sign or (self.roles[last] == "relation" and last == 0):
            self._take(last, k)

    def _close_left(self, k: int) -> None:
        start = self.pairs.get(k - 1, k)
        is_label = start == 0 and k - start <= _LABEL
        if self.gaps[k] < THIN and start < k and self.is_mathematics(start + 1, k - 1):
            self._take(k if is_label else start, k)

    def _bar_left(self, k: int) -> None:
        if self._closes(k) and self.gaps[k] < THIN:
            self._take(k - 1, k)
            return
        places = [j for j in range(k, len(self.roles)) if self.roles[j] == "bar"]
        if self.gaps[k] >= 0.3 or not places or any(self.taken[j] for j in places):
            return
        if self.is_mathematics(k, places[0]):
            self._take(k - 1, places[0] + 1)

    def _closes(self, k: int) -> bool:
        """Return whether a formula from a place has one bar more than it has pairs of them."""
        end = next((end for start, end in self._intervals() if start == k), k)
        return self.roles[k:end].count("bar") % 2 == 1

    def _word_left(self, k: int) -> None:
        start, end = self.words[k - 1]
        word, gap = self.text(start, end), self.gaps[k]
        is_unit = word in UNITS and self.roles[k] in ("letter", "operator")
        if (word in FUNCTIONS and gap < 0.5) or (
            gap < TIGHT and (end - start <= 1 or is_chemical(word) or is_unit)
        ):
            self._take(start, end)

    def _other_left(self, k: int) -> None:
        if self.sign(k - 1) in _SEPARATORS and self.is_strong(k - 1):
            start = self.operand_before(k - 1)
            if start is not None:
                self._take(start, k)

    _LEFT: ClassVar[dict[Role, Callable[[RowReader, int], None]]] = {
        "digit": _digit_left,
        "operator": _operator_left,
        "relation": _operator_left,
        "close": _close_left,
        "bar": _bar_left,
        "letter": _word_left,
    }

    # The ends.

    def _take_overlapping(self) -> None:
        for k in range(len(self.units) - 1):
            a, b = self.units[k], self.units[k + 1]
            if self.taken[k] != self.taken[k + 1] and k + 1 not in self.breaks:
                narrow = max(0.5, min(a.box.width, b.box.width))
                if -a.box.gap_x(b.box) > 0.5 * narrow:
                    self._take(k, k + 2)

    def _trim(self) -> Iterator[tuple[int, int]]:
        """Yield the formulas without loose brackets and punctuation at their ends."""
        for start, end in self._intervals():
            first, last = start, end
            while last > first and self._is_loose(last - 1, first, last):
                last -= 1
            while last > first and self._is_loose(first, first, last):
                first += 1
            if any(self._is_content(k) for k in range(first, last)):
                yield first, last

    def _is_loose(self, k: int, first: int, last: int) -> bool:
        if self.units[k].scripts:
            return False
        if self.roles[k] in ("open", "close"):
            return not first <= self.pairs.get(k, -1) < last
        return self.roles[k] == "point" or (
            self.roles[k] == "other" and self.sign(k) in _SEPARATORS
        )

    def _is_content(self, k: int) -> bool:
        return self.roles[k] != "digit" or bool(self.units[k].scripts)
