"""Differences between two readings of a formula, as text: mainly numbers, signs and negations."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from omibench.latex.normal_form import normalise
from omibench.latex.synonyms import list_words

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN: Final = re.compile(r"\\[A-Za-z]+|\\.|[^\s{}]")
_NEGATED: Final = re.compile(
    r"\\(?:not(?![A-Za-z])\\?[A-Za-z]*|neq|notin|nexists|neg|nmid|n[a-z]+eq)(?![A-Za-z])"
)
_SIGNS: Final = list_words(
    r"+ - \pm \mp \times \cdot / \div = < > \leq \geq \ll \gg \approx \sim \simeq \equiv \propto"
    r" \rightarrow \leftarrow \Rightarrow \leftrightarrow \rightleftharpoons \in \subset"
)
_COMMANDS_WITHOUT_PRINT: Final = list_words(
    r"\mathrm \mathbf \mathcal \mathbb \mathfrak \mathsf \mathtt \begin \end"
)
_MOST: Final = 4


def find_differences(first: str, second: str) -> list[str]:
    """List the differences between two readings of a formula.

    Args:
        first: LaTeX, with or without its delimiters.
        second: LaTeX, with or without its delimiters.

    Returns:
        A line for the numbers, the signs and the negations that only one of them has, then for
        other symbols, or for the arrangement if all symbols are the same; empty if the formulas
        have the same normal form.
    """
    forms = normalise(first), normalise(second)
    if forms[0] == forms[1]:
        return []
    lines = [
        *_describe("numbers", *(_NUMBER.findall(form) for form in forms)),
        *_describe("signs", *(_list_signs(form) for form in forms)),
        *_describe("negations", *(_NEGATED.findall(form) for form in forms)),
        *_describe("symbols", *(_list_symbols(form) for form in forms)),
    ]
    return lines or [f"the arrangement differs: {forms[0]} and {forms[1]}"]


def find_missing(first: str, second: str) -> list[str]:
    """List the elements of one reading of a formula that are missing in another.

    Args:
        first: LaTeX, with or without its delimiters.
        second: LaTeX, with or without its delimiters; it can contain more.

    Returns:
        One line each for numbers, signs, negations and other symbols; empty if none is missing.
    """
    forms = normalise(first), normalise(second)
    kinds = {
        "numbers": [_NUMBER.findall(form) for form in forms],
        "signs": [_list_signs(form) for form in forms],
        "negations": [_NEGATED.findall(form) for form in forms],
        "symbols": [_list_symbols(form) for form in forms],
    }
    missing = {noun: list((Counter(a) - Counter(b)).elements()) for noun, (a, b) in kinds.items()}
    return [f"{noun}: {_quote(items)} is missing" for noun, items in missing.items() if items]


def _list_signs(form: str) -> list[str]:
    return [token for token in _TOKEN.findall(form) if token in _SIGNS]


def _list_symbols(form: str) -> list[str]:
    """Return letters and commands that are not a sign, digit or negation."""
    plain = _NEGATED.sub(" ", _NUMBER.sub(" ", form))
    passed = _SIGNS | _COMMANDS_WITHOUT_PRINT | set("^_&[]")
    return [token for token in _TOKEN.findall(plain) if token not in passed]


def _describe(noun: str, first: list[str], second: list[str]) -> list[str]:
    only_first = list((Counter(first) - Counter(second)).elements())
    only_second = list((Counter(second) - Counter(first)).elements())
    if not only_first and not only_second:
        return []
    return [f"{noun}: {_quote(only_first)} and {_quote(only_second)}"]


def _quote(items: list[str]) -> str:
    ellipsis = " ..." if len(items) > _MOST else ""
    return " ".join(items[:_MOST]) + ellipsis if items else "none"
