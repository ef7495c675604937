"""Formulas of a row: the role of each unit, its words and brackets, the operands of its operators,
and the growth of formulas from units that are certainly mathematics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from glyphtex.marks import (
    FUNCTIONS,
    NAMES,
    ORDINALS,
    STATES,
    UNITS,
    Role,
    is_chemical,
    is_hyphen,
    is_sign_font,
    role_of,
)
from glyphtex.tree.parts import Part

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

_RELATIONS = frozenset("=≈≤≥≠<>≪≫∝≡∼≅≃→⇌⟶↔⇒")
_OPERATORS = frozenset("×·⋅±∓÷+−∕")
SEEDS = _RELATIONS | _OPERATORS
"""Signs that make a formula of their neighbours."""

_UNIT_GAP = 0.24
"""Maximum gap between a power of ten and its unit, in type sizes."""
_BEFORE_MODULUS = 1.3
"""Maximum gap between a congruence and its modulus, in type sizes."""
_IN_BRACKETS = 0.3
"""Maximum gap between brackets that are not round and their contents, in type sizes."""
_PARTS = 0.02
"""Maximum gap between the parts of a long arrow, in type sizes: TeX's have no width or overlap."""
_EITHER_SIGN = frozenset("±∓")
_POSTFIX = ("↑", "↓")
"""Arrows after the symbol that they describe."""
_SEPARATORS = (":", ",", ";")
_DEGREES = frozenset("°◦∘º")
_LETTERS_OF_CHOICES = "ABCDEFGH"
_LABEL = 3
"""Maximum place of the bracket that closes the label of a choice or part: `(A)`, `(ii)`."""
_MOST_ROUNDS = 60

_ARROW_PARTS = ("operator", "relation")


class RowReader:
    """Row of units whose formulas grow from those that are certainly mathematics.

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
                return end + 1 if self.is_mathematics(k + 1, end) else None
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

    # Seeds: units that are certainly mathematics regardless of their neighbours.

    def _find_seeds(self) -> list[Interval]:
        """Return ranges of units that are formulas or parts of them."""
        return [
            self._with_operands(k) if self.roles[k] in _ARROW_PARTS else (k, k + 1)
            for k in range(len(self.units))
            if self._is_seed(k)
        ]

    def _with_operands(self, k: int) -> Interval:
        start, end = self.operand_before(k), self.operand_after(k + 1)
        return k if start is None else start, end or k + 1

    def _is_seed(self, k: int) -> bool:  # noqa: PLR0911 (a case for each role)
        role, sign = self.roles[k], self.sign(k)
        if self.units[k].scripts and not self._is_prose_script(k):
            return True
        match role:
            case "math":
                return not self._is_unit_sign(k)
            case "letter":
                return self._is_lone_italic(k)
            case "relation":
                return sign in _RELATIONS and self._joins_operands(k) and self._is_worth(k)
            case "operator":
                if sign in _OPERATORS and self._joins_operands(k):
                    return self._is_worth(k)
                is_signed = sign in _EITHER_SIGN and self.is_strong(k)
                return is_signed and self.operand_after(k) is not None
        return False

    def _is_worth(self, k: int) -> bool:
        """Return whether an operator and its neighbours are a formula.

        Sums of plain numbers and upright letters in the text font are as legible as text.
        """
        if self.is_strong(k) or (self.roles[k] == "relation" and not self.is_typed):
            return True
        start, end = self._with_operands(k)
        return any(u.is_block or u.scripts or u.glyphs[0].italic for u in self.units[start:end])

    def _is_prose_script(self, k: int) -> bool:
        """Return whether a script is an ordinal, a degree or a footnote mark."""
        unit, role = self.units[k], self.roles[k]
        marks = "".join(s.glyphs[0].text for s in unit.scripts if s.glyphs)
        is_ordinal = marks.lower() in ORDINALS
        if role in ("point", "other"):
            return True
        if role == "math" or not all(s.middle < unit.middle for s in unit.scripts):
            return False
        if role == "digit":
            return is_ordinal or (set(marks) <= _DEGREES and not self._is_angle(k))
        if role == "close":
            start = self.pairs.get(k)
            is_label = start == 0 and k <= _LABEL
            return start is None or is_label or not self.is_mathematics(start + 1, k)
        if role != "letter":
            return False
        word = self._word_of_script(k)
        is_footnote = len(word) >= 3 and word not in UNITS and not is_chemical(word)
        return is_footnote or (is_ordinal and len(marks) > 1)

    def _is_angle(self, k: int) -> bool:
        """Return whether a number directly follows a function name, as in tan 49°."""
        while self.joins_number(k):
            k -= 1
        return k > 0 and self.gaps[k] < SPACE and self.word(k - 1) in FUNCTIONS

    def _word_of_script(self, k: int) -> str:
        """Return the word before or after a script."""
        unit = self.units[k]
        if any(script.box.centre[0] > unit.box.x0 for script in unit.scripts):
            return self.word(k)
        return self.text(k, self._end_of_letters(k + 1))

    def _end_of_letters(self, end: int) -> int:
        while end < len(self.units) and self.gaps[end] < TIGHT and self.roles[end] == "letter":
            end += 1
        return end

    def _is_unit_sign(self, k: int) -> bool:
        """Return whether a Greek letter is in a unit after a plain number, as in 5 μm or 3 kΩ."""
        unit, start = self.units[k], k
        if unit.axis is not None or unit.scripts or self.is_strong(k):
            return False
        while start > 0 and self.gaps[start] < TIGHT and self.roles[start - 1] == "letter":
            start -= 1
        return self.text(start, self._end_of_letters(k + 1)) in UNITS and self.is_digit(start - 1)

    def _is_lone_italic(self, k: int) -> bool:
        """Return whether an italic letter is alone among upright words, and no label."""
        glyph = self.units[k].glyphs[0]
        start, end = self.words[k]
        if self.is_italic or not glyph.italic or not glyph.text.isascii() or end - start > 1:
            return False
        is_opened = start == 1 and self.roles[0] == "open"
        is_closed = start <= 1 and end < len(self.units) and self.roles[end] == "close"
        return not (is_opened or is_closed) and not any(
            0 <= near < len(self.units)
            and self.roles[near] == "letter"
            and len(self.word(near)) > 1
            and self.units[near].glyphs[0].italic
            for near in (start - 1, end)
        )

    def _joins_operands(self, k: int) -> bool:
        if k in (0, len(self.units) - 1) or is_hyphen(self.units[k]):
            return False
        if max(self.gaps[k : k + 2]) > SPACE:
            return False
        left, right = self.operand_before(k), self.operand_after(k + 1)
        if left is None or right is None:
            return False
        sides = (self.text(left, k), self.text(k + 1, right))
        # `1 = A` is an entry of a key.
        return not any(a.isdecimal() and b in _LETTERS_OF_CHOICES for a, b in (sides, sides[::-1]))

    # Growth: a formula takes its operands, operators and brackets.

    def find_intervals(self) -> list[Interval]:
        """Return the formulas of the row as half-open ranges of its units."""
        for start, end in self._find_seeds():
            self._take(start, end)
        grown: list[Interval] = []
        if any(self.taken):
            for _ in range(_MOST_ROUNDS):
                if not self._grow():
                    break
            grown += self._intervals()
        # A formula may hold an object that it overlaps.
        within = {k for start, end in grown for k in range(start, end)}
        objects = (k for k, unit in enumerate(self.units) if unit.is_object and k not in within)
        return sorted([*((k, k + 1) for k in objects), *grown])

    def _take_pair(self, first: int, last: int) -> None:
        """Include both brackets of a pair, unless they hold prose."""
        is_binomial = last == first + 1 and len(self.units[first].scripts) > 1
        if is_binomial or self.is_mathematics(first + 1, last):
            self._take(first, last + 1)

    def _grow(self) -> bool:
        before = list(self.taken)
        for start, end in self._intervals():
            if end < len(self.units):
                self._extend_right(end)
            if start > 0:
                self._extend_left(start)
        for k, role in enumerate(self.roles):
            if self.taken[k] and role in ("open", "close") and k in self.pairs:
                self._take_pair(*sorted((k, self.pairs[k])))
        for k, end in self.pairs.items():
            if (
                k < end
                and self.is_strong(k)
                and any(self.taken[k + 1 : end])
                and self.is_mathematics(k + 1, end)
            ):
                self._take(k, end + 1)
        for start, end in self._intervals():
            if self._is_enclosed(start, end):
                self._take(start - 1, end + 1)
        for k, (a, b) in enumerate(pairwise(self.units)):
            if self.taken[k] != self.taken[k + 1] and k + 1 not in self.breaks:
                narrow = max(0.5, min(a.box.width, b.box.width))
                if -a.box.gap_x(b.box) > 0.5 * narrow:
                    self._take(k, k + 2)
        return before != self.taken

    def _intervals(self) -> Iterator[Interval]:
        """Yield the ranges that are taken at the moment, parted at wide gaps."""
        start = None
        count = len(self.taken)
        for k in range(count + 1):
            if start is not None and (
                k == count or not self.taken[k] or (self.gaps[k] > SPACE and not self.is_modulus(k))
            ):
                yield start, k
                start = None
            if start is None and k < count and self.taken[k]:
                start = k

    def _take(self, start: int, end: int) -> None:
        for k in range(start, end):
            self.taken[k] = True

    def _is_enclosed(self, start: int, end: int) -> bool:
        """Return whether the brackets around a formula are part of it; round ones may be prose."""
        first = start - 1
        if self.pairs.get(first) != end:
            return False
        is_round = self.sign(first) == "("
        widest = THIN if is_round else _IN_BRACKETS
        if self.gaps[start] >= widest or self.gaps[end] >= widest:
            return False
        if not is_round or self.units[first].axis is not None:
            return True
        inside = set(self.roles[start:end])
        # An operator is in the brackets, or right before or after them.
        return "relation" not in inside and (
            not inside.isdisjoint(("operator", "point"))
            or any(
                0 <= k < len(self.units)
                and self.roles[k] == "operator"
                and self.gaps[max(k, first)] < THIN
                and not is_hyphen(self.units[k])
                for k in (first - 1, end + 1)
            )
        )

    def _extend_right(self, k: int) -> None:  # noqa: PLR0912 (a case for each role)
        """Include what belongs to a formula that ends before a place."""
        gap, sign = self.gaps[k], self.sign(k)
        match self.roles[k]:
            case "math":
                if gap < THIN:
                    self._take(k, k + 1)
            case "digit":
                if gap < THIN and (sign in RAISED or self.roles[k - 1] != "close"):
                    self._take(k, self.operand_after(k) or k + 1)
            case "letter":
                self._take_word(k)
            case "operator" | "relation":
                if gap < SPACE and not self._is_prose_hyphen(k):
                    self._take_operator(k)
            case "open":
                end = self.pairs.get(k, k)
                widest = _BEFORE_MODULUS if self.is_modulus(k) else THIN
                if gap < widest and self.is_mathematics(k + 1, end):
                    self._take(k, end + 1)
            case "bar" if gap < 0.4:
                after = self.operand_after(k)
                if after is not None:
                    self._take(k, after)
                elif any(self.roles[j] == "bar" and self.taken[j] for j in range(k)):
                    self._take(k, k + 1)
                elif self.is_strong(k):  # `m | n`
                    self._take(k, self.operand_after(k + 1) or k)
            case _:
                if sign in ("!", "%", "′") and gap < 0.12:
                    self._take(k, k + 1)
                elif sign in _SEPARATORS and self.is_strong(k):
                    after = self.operand_after(k + 1)
                    if after is not None and self.gaps[k + 1] < SPACE:
                        self._take(k, after)

    def _take_operator(self, k: int) -> None:
        """Include an operator or a relation after a formula, with the operand after it."""
        if self.sign(k) == "/" and self._take_unit_of_measure(k + 1):
            self._take(k, k + 1)
            return
        count, following = len(self.units), k + 1
        # An arrow may consist of overlapping glyphs.
        while (
            following < count
            and self.gaps[following] < _PARTS
            and self.roles[following] in _ARROW_PARTS
        ):
            following += 1
        end = self.operand_after(following)
        if end is not None and self.gaps[following] < SPACE:
            self._take(k, end)
        elif self.sign(k) in _POSTFIX or (k == count - 1 and not is_hyphen(self.units[k])):
            self._take(k, k + 1)

    def _take_unit_of_measure(self, k: int) -> bool:
        """Include the word at a place if it is a unit next to a slash, as in `kg/m^3`."""
        if not 0 <= k < len(self.units) or self.roles[k] != "letter":
            return False
        start, end = self.words[k]
        gap = self.gaps[start] if k == start else self.gaps[end]
        if self.text(start, end) not in UNITS or gap > THIN:
            return False
        self._take(start, end)
        return True

    def _take_word(self, k: int) -> None:
        """Include the word after a formula: a function, a unit, a factor, an element, a name."""
        start, end = self.words[k]
        word, gap, before = self.text(start, end), self.gaps[k], self.units[k - 1]
        is_number, length = self.is_digit(k - 1), end - start
        if word in FUNCTIONS and gap < 0.45:
            after = self.operand_after(end)
            if after is not None and self.gaps[end] < 0.45:
                self._take(start, after)
            return
        is_power = bool(before.scripts)
        is_factor = before.is_block and self.units[k].glyphs[0].italic
        is_near = gap < (THIN if is_factor else TIGHT) and word != "s"
        is_ordinal = word in ORDINALS and is_number
        is_unit = gap < (_UNIT_GAP if is_power else THIN) and (is_number or is_power)
        is_point = before.text in ("△", "∠") and gap < 0.3 and word.isupper()
        if (
            (is_near and not is_ordinal and length <= 2)
            or (is_unit and word in UNITS)
            or (gap < (THIN if is_number else TIGHT) and is_chemical(word))
            or (is_point and length <= 4)
        ):
            self._take(start, end)

    def _extend_left(self, k: int) -> None:  # noqa: PLR0912 (a case for each role)
        """Include what belongs to a formula that begins at a place."""
        last, gap = k - 1, self.gaps[k]
        start: int | None
        match self.roles[last]:
            case "digit":
                if gap < THIN:
                    start = self.operand_before(k)
                    self._take(last if start is None else start, k)
            case "letter":
                start, end = self.words[last]
                word = self.text(start, end)
                is_unit = word in UNITS and self.roles[k] in ("letter", "operator")
                if (word in FUNCTIONS and gap < 0.5) or (
                    gap < TIGHT and (end - start <= 1 or is_chemical(word) or is_unit)
                ):
                    self._take(start, end)
            case "operator" | "relation":
                if gap < SPACE and not self._is_prose_hyphen(last):
                    self._take_operator_before(k)
            case "close":
                start = self.pairs.get(last, last)
                is_label = start == 0 and k <= _LABEL + 1
                if gap < THIN and not is_label and self.is_mathematics(start + 1, last):
                    self._take(start, k)
            case "bar":
                end = next((end for start, end in self._intervals() if start == k), k)
                if self.roles[k:end].count("bar") % 2 == 1 and gap < THIN:
                    self._take(last, k)
                    return
                places = [j for j in range(k, len(self.roles)) if self.roles[j] == "bar"]
                is_free = gap < 0.3 and places and not any(self.taken[j] for j in places)
                if is_free and self.is_mathematics(k, places[0]):
                    self._take(last, places[0] + 1)
            case "point" if gap < THIN and self.units[k].glyphs[0].symbol.kind == "digit":
                if self.is_digit(last - 1):  # a number whose decimals have a brace
                    self._take(last - 1, k)
            case _:
                if self.sign(last) in _SEPARATORS and self.is_strong(last):
                    start = self.operand_before(last)
                    self._take(k if start is None else start, k)

    def _take_operator_before(self, k: int) -> None:
        """Include an operator or a relation before a formula, with the operand before it."""
        last = first = k - 1
        sign = self.sign(last)
        if sign == "/" and self.gaps[last] < THIN and self._take_unit_of_measure(last - 1):
            self._take(last, k)
            return
        while first > 0 and self.gaps[first] < _PARTS and self.roles[first - 1] in _ARROW_PARTS:
            first -= 1
        start = self.operand_before(first) if self.gaps[first] < SPACE else None
        is_sign = sign in SIGNS and self.gaps[k] < 0.2 and not is_hyphen(self.units[last])
        if start is not None:
            self._take(start, k)
        elif is_sign or (self.roles[last] == "relation" and last == 0):
            self._take(last, k)
