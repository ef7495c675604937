"""Compare the answer of a key with the text of a choice, exactly or by value."""

from __future__ import annotations

import re

from omibench.latex import find_formulas, normalise, replace_formulas

_DRESS = re.compile(r"[\s.$。．]+")
_MARK = "\x00"


def name_text(text: str) -> str:
    """Normalise a text, so that all printings of it are equal.

    Case, spaces and full stops are ignored outside of formulas; formulas are normalised.
    """
    formulas: list[str] = []

    def keep_formula(latex: str) -> str:
        formulas.append(normalise(latex))
        return _MARK

    marked = replace_formulas(text, lambda span: keep_formula(span.latex))
    parts = _DRESS.sub("", marked).casefold().split(_MARK)
    return parts[0] + "".join(f + part for f, part in zip(formulas, parts[1:], strict=True))


def say_the_same(first: str, second: str) -> bool:
    """Return whether two texts are equal exactly or, if either has a formula, by value.

    For example, `0.5` equals `$\\frac{1}{2}$`; lengths in different units are converted.
    """
    if name_text(first) == name_text(second):
        return True
    if not (find_formulas(first) or find_formulas(second)):
        return False
    from omibench.answers.compare import compare_answers

    return bool(first.strip()) and compare_answers(first, second).equal
