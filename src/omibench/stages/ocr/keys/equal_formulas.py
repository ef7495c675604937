"""Whether the answer of a key and the text of a choice are one: to the letter, or by value."""

from __future__ import annotations

import re

from omibench.latex import find_formulas, normalise, replace_formulas

_DRESS = re.compile(r"[\s.$。．]+")
_MARK = "\x00"


def name_text(text: str) -> str:
    """Bring a text to a form that differs for no two printings of it.

    Case, spaces and full stops do not count outside of formulas; formulas are in their normal form.
    """
    formulas: list[str] = []

    def keep_formula(latex: str) -> str:
        formulas.append(normalise(latex))
        return _MARK

    marked = replace_formulas(text, lambda span: keep_formula(span.latex))
    parts = _DRESS.sub("", marked).casefold().split(_MARK)
    return parts[0] + "".join(f + part for f, part in zip(formulas, parts[1:], strict=True))


def say_the_same(first: str, second: str) -> bool:
    """Whether two texts are one to the letter or, where either has a formula, by value.

    A half is `0.5` and `$\\frac{1}{2}$`; lengths in other units are equal where they are as long.
    """
    if name_text(first) == name_text(second):
        return True
    if not (find_formulas(first) or find_formulas(second)):
        return False
    from omibench.answers import compare_answers

    return bool(first.strip()) and compare_answers(first, second).equal
