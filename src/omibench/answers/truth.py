"""Truth values and option letters: which lists are ordered, and which are sets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omibench.answers.formulas.latex import fold
from omibench.answers.parts import AnswerPart, without_label

_TRUE = frozenset((
    "t", "true", "verdadero", "verdadera", "verdadeiro", "verdadeira", "vrai", "wahr", "richtig",
    "vero", "верно", "правда", "да", "correct", "对", "正确", "✓", "✔",
))  # fmt: skip
_FALSE = frozenset((
    "f", "false", "falso", "falsa", "faux", "falsch", "неверно", "ложь", "нет", "incorrect", "错",
    "错误", "✗", "✘",
))  # fmt: skip


_IN_MATHEMATICS = re.compile(r"\s*(?:\$+|\\[(\[])\s*[TF]\s*(?:\$+|\\[)\]])[\s.]*")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def truth(text: str, in_list: bool = False) -> bool | None:
    """Return the truth value of a text, or None. A single t, f, V, √ or × counts only in a list."""
    plain = without_label(text).strip(" .;,()$*")
    word = plain.casefold()
    if not in_list and plain in ("t", "f"):
        return None
    if word in _TRUE or (in_list and word in ("v", "√")):
        return True
    return False if word in _FALSE or (in_list and word == "×") else None


def is_symbol(text: str) -> bool:
    """Return whether T or F in a raw text is a symbol: a tension, a force."""
    return _IN_MATHEMATICS.fullmatch(text) is not None


def truths(parts: Sequence[AnswerPart]) -> list[bool] | None:
    """Return the truth values of a list with only truth values; None for any other list."""
    values = [truth(part.text, in_list=True) for part in parts]
    readable = [value for value in values if value is not None]
    return readable if len(readable) == len(values) else None


def is_letter_set(parts: Sequence[AnswerPart]) -> bool:
    """Return whether parts are letters chosen from options in any order: A and C.

    Roman numerals in ascending order also count: I, III and IV. Letters under labels, repeated
    letters and truth values answer one question each, in order.
    """
    letters = [fold(part.text) for part in parts]
    if letters and all(letter in _ROMAN for letter in letters):
        return letters == sorted(set(letters), key=_ROMAN.index) and len(letters) > 1
    plain = all(len(x) == 1 and x.isalpha() for x in letters) and not any(p.key for p in parts)
    return plain and len(set(letters)) == len(letters) and truths(parts) is None
