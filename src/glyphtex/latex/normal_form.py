"""Normal form of a formula: spacing, redundant braces and synonyms are removed, nothing else.

`answers.formulas.latex.tidy` goes further to make answers of a model comparable: it equates `⇒`
with `→` and `∼` with `≈`. Here such signs remain distinct, as do letters of different fonts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from glyphtex import lazy_re as re
from glyphtex.latex.atoms import write_row
from glyphtex.latex.parser import LatexParser, unify_characters
from glyphtex.latex.signs import list_words

MAX_CHARS: Final = 10_000
MAX_DEPTH: Final = 40
_DELIMITERS: Final = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)


@lru_cache(maxsize=8192)
def normalise(latex: str) -> str:
    r"""Bring a formula to its normal form.

    `\dfrac12 \le x^2` and `\frac{1}{2}\leq x^{2}` become the same text. Sizes of brackets, the
    position of limits and the width of accents count as spacing. Names of functions become
    upright letters, and so do the substances of `\ce{...}`. Differences in a sign, digit, index,
    letter, font or nesting remain.

    Args:
        latex: LaTeX, with or without its delimiters.

    Returns:
        LaTeX that prints the same. In a formula of more than 10,000 characters, or with braces
        more than 40 deep, only spaces are normalised.
    """
    source = unify_characters(_strip_delimiters(latex.strip()))
    if len(source) > MAX_CHARS or _find_depth(source) > MAX_DEPTH:
        return " ".join(source.split())
    return write_row(LatexParser(source).read_formula())


def _strip_delimiters(latex: str) -> str:
    for opening, closing in _DELIMITERS:
        inner = latex[len(opening) : -len(closing)]
        whole = latex.startswith(opening) and latex.endswith(closing)
        if whole and len(latex) >= len(opening) + len(closing) and closing not in inner:
            return inner
    return latex


def _find_depth(latex: str) -> int:
    """Return the maximum nesting of braces, environments and arguments without braces."""
    depth = deepest = 0
    for token in re.findall(r"[{}]|\\begin|\\end", _ESCAPED.sub(_keep_command, latex)):
        depth += 1 if token in {"{", r"\begin"} else -1
        deepest = max(deepest, depth)
    return deepest


def _keep_command(match: re.Match[str]) -> str:
    return match.group() if match.group()[1].isalpha() else ""


# Differences between two readings of a formula, as text: mainly numbers, signs and negations.

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
        f"{noun}: {_quote(only_first)} and {_quote(only_second)}"
        for noun, only_first, only_second in _list_only(*forms)
        if only_first or only_second
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
    return [
        f"{noun}: {_quote(missing)} is missing"
        for noun, missing, _ in _list_only(normalise(first), normalise(second))
        if missing
    ]


def _list_only(first: str, second: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each kind of element with those that only one of two normal forms has."""
    kinds: dict[str, Callable[[str], list[str]]] = {
        "numbers": _NUMBER.findall,
        "signs": _list_signs,
        "negations": _NEGATED.findall,
        "symbols": _list_symbols,
    }
    for noun, find in kinds.items():
        a, b = Counter[str](find(first)), Counter[str](find(second))
        yield noun, [*(a - b).elements()], [*(b - a).elements()]


def _list_signs(form: str) -> list[str]:
    return [token for token in _TOKEN.findall(form) if token in _SIGNS]


def _list_symbols(form: str) -> list[str]:
    """Return letters and commands that are not a sign, digit or negation."""
    plain = _NEGATED.sub(" ", _NUMBER.sub(" ", form))
    passed = _SIGNS | _COMMANDS_WITHOUT_PRINT | set("^_&[]")
    return [token for token in _TOKEN.findall(plain) if token not in passed]


def _quote(items: list[str]) -> str:
    ellipsis = " ..." if len(items) > _MOST else ""
    return " ".join(items[:_MOST]) + ellipsis if items else "none"
