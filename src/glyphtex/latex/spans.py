r"""Positions of formulas in a text: `$...$`, `$$...$$`, `\(...\)` and `\[...\]`.

Pages use the same rules (`web/static/inline.js`): an escaped dollar is a dollar, a digit after
the closing dollar makes both of them prices, and a formula with spaces at its ends must contain
a LaTeX sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from glyphtex import lazy_re as re

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
