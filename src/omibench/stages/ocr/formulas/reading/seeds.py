"""Units of a row that are certainly mathematics regardless of their neighbours."""

from __future__ import annotations

from omibench.stages.ocr.formulas.reading.kinds import is_hyphen
from omibench.stages.ocr.formulas.reading.operands import SPACE, TIGHT, RowOperands
from omibench.stages.ocr.formulas.reading.words import FUNCTIONS, ORDINALS, UNITS, is_chemical

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
