"""LaTeX formulas in texts: positions, normal form, and differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from glyphtex import lazy_re as re
from glyphtex.latex.parser import LatexParser, unify_characters
from glyphtex.latex.signs import list_words, write_row

__all__ = [
    "FormulaSpan",
    "find_differences",
    "find_formulas",
    "find_missing",
    "normalise",
    "replace_formulas",
    "split_outside",
]

# Positions of formulas in a text: `$...$`, `$$...$$`, `\(...\)` and `\[...\]`.
#
# Pages use the same rules (`web/static/inline.js`): an escaped dollar is a dollar, a digit after
# the closing dollar makes both of them prices, and a formula with spaces at its ends must contain
# a LaTeX sign.

_OPENING: Final = re.compile(r"\\\$|\$\$|\$|\\\[|\\\(")
_CLOSING: Final = {"$$": "$$", "$": "$", r"\[": r"\]", r"\(": r"\)"}
_LATEX_SIGN: Final = re.compile(r"[\\^_={}]")


class FormulaSpan(NamedTuple):
    """A formula in a text. `text[start:end]` is the formula with its delimiters."""

    start: int
    end: int
    latex: str
    """Source between the delimiters."""
    display: bool
    """Whether it is a displayed formula: `$$...$$` or `\\[...\\]`."""


def find_formulas(text: str) -> list[FormulaSpan]:
    """List the formulas of a text in order; they never overlap.

    Args:
        text: Prose with formulas, such as a question. `$5 and $7` contains none.
    """
    spans: list[FormulaSpan] = []
    missing: set[str] = set()
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        span = _read_span(text, opening, missing)
        if span is None:
            position = opening.end()
        else:
            spans.append(span)
            position = span.end
    return spans


def replace_formulas(text: str, replace: Callable[[FormulaSpan], str]) -> str:
    """Replace each formula of a text, including its delimiters.

    Args:
        text: Prose with formulas.
        replace: Function that receives each span in order and returns its replacement.
    """
    pieces: list[str] = []
    end = 0
    for span in find_formulas(text):
        pieces += [text[end : span.start], replace(span)]
        end = span.end
    return "".join([*pieces, text[end:]])


def split_outside(pattern: re.Pattern[str], text: str) -> list[str]:
    """Split a text as `pattern.split` does, except at matches that touch a formula.

    Args:
        pattern: Pattern without groups.
        text: Prose with formulas.
    """
    spans = find_formulas(text)
    pieces: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        if not any(span.start < match.end() and match.start() < span.end for span in spans):
            pieces.append(text[end : match.start()])
            end = match.end()
    return [*pieces, text[end:]]


def _read_span(text: str, opening: re.Match[str], missing: set[str]) -> FormulaSpan | None:
    sign = opening.group()
    if sign == r"\$":
        return None
    closing = _CLOSING[sign]
    end = _find_closing(text, closing, opening.end(), missing)
    if end < 0:
        return None
    latex = text[opening.end() : end]
    if sign == "$" and not _is_formula(latex, text[end + 1 : end + 2]):
        return None
    return FormulaSpan(opening.start(), end + len(closing), latex, sign in ("$$", r"\["))


def _is_formula(latex: str, following: str) -> bool:
    """Return whether the text between two single dollars is a formula, not text between prices."""
    if not latex or following.isdigit():
        return False
    return latex == latex.strip() or _LATEX_SIGN.search(latex) is not None


def _find_closing(text: str, closing: str, start: int, missing: set[str]) -> int:
    """Return the position of the closing delimiter, or -1; `missing` caches failures."""
    if closing in missing:
        return -1
    end = text.find(closing, start)
    while closing[0] == "$" and end > 0 and text[end - 1] == "\\":
        end = text.find(closing, end + 1)
    if end < 0:
        missing.add(closing)
    return end


# Normal form of a formula: spacing, redundant braces and synonyms are removed, nothing else.
#
# `answers.formulas.latex.tidy` goes further to make answers of a model comparable: it equates `⇒`
# with `→` and `∼` with `≈`. Here such signs remain distinct, as do letters of different fonts.

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
