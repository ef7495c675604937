"""Comparison of two readings of one place."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final, NamedTuple

from omibench.latex import find_differences, find_formulas, find_missing, replace_formulas
from omibench.stages.ocr.engines.presets.loops import ends_in_loop
from omibench.stages.ocr.engines.presets.markdown import list_lines, wrap_formula
from omibench.text.negations import list_negations

UNKNOWN: Final = r"\square"
"""Placeholder for a glyph that no table identifies."""
_ARRANGEMENT: Final = "the arrangement differs"
_MOST_GROWTH: Final = 12
"""Maximum length of a reply, in characters per character of the first reading."""
_SHORT: Final = 200
"""Length that is always accepted."""
_SIMILAR: Final = 0.5
"""Minimum share of letters that two readings of one line have in common."""
_COMMAND: Final = re.compile(r"\\([A-Za-z]+)")
_SIGNS: Final = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "neq": "≠", "ne": "≠", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "approx": "≈", "div": "÷", "lt": "<", "gt": ">",
}  # fmt: skip
_DASHES: Final = str.maketrans("−–—‐‑", "-----")
_COMPARED: Final = frozenset("=+-<>×±∓≠≤≥≈÷")


class Agreement(NamedTuple):
    """Resulting text, whether it is settled, and the differences between the readings."""

    text: str
    is_settled: bool
    difference: str = ""


def compare_formulas(layer: str, reply: str) -> Agreement:
    """Combine the reading of a text layer with a reader's reply about one formula.

    If both have the same numbers, signs, negations and symbols, the reader's arrangement is used:
    the text layer was uncertain about it only. A glyph that no table identifies matches any symbol.
    Otherwise the reading of the text layer is kept, whose characters come from the document.

    Args:
        layer: LaTeX without dollar signs.
        reply: Reader's reply, in any delimiters.
    """
    latex = _extract_formula(reply)
    if not latex or _is_overlong(layer, latex):
        return Agreement(layer, False)
    has_gaps = UNKNOWN in layer or not layer.strip()
    differences = (
        find_missing(layer.replace(UNKNOWN, " "), latex)
        if has_gaps
        else find_differences(layer, latex)
    )
    if not differences:
        return Agreement(latex if has_gaps else layer, True)
    if all(line.startswith(_ARRANGEMENT) for line in differences):
        return Agreement(latex, True)
    detail = f"the layer has {_quote(layer)}, the reader {_quote(latex)}: {'; '.join(differences)}"
    return Agreement(layer, False, detail)


def compare_lines(line: str, reply: str) -> Agreement:
    """Combine a line from an engine that writes no formulas with a reader's reply.

    The reader's text is used if it is a reading of this line at all; differences in numbers, signs
    and words of negation are listed.

    Args:
        line: Text from the engine, scripts and fractions flattened.
        reply: Reader's reply, formulas between delimiters.
    """
    text = " ".join(part for part in list_lines(reply) if part)
    if not text or _is_overlong(line, text) or not _is_similar(line, text):
        return Agreement(line, False)
    first, second = _count_marks(line), _count_marks(text)
    if first == second:
        return Agreement(text, True)
    detail = (
        f"the engine has {_quote(line)}, the reader {_quote(text)}: "
        f"{_list(first - second)} and {_list(second - first)}"
    )
    return Agreement(text, True, detail)


def read_picture(reply: str) -> str:
    """Return the formula in a reply about a picture that has no other reading.

    Args:
        reply: Reader's reply, in any delimiters.

    Returns:
        LaTeX without dollar signs; empty if the reply is not one short formula that is legible.
    """
    latex = _extract_formula(reply)
    is_doubtful = UNKNOWN in latex or len(latex) > _SHORT or ends_in_loop(latex)
    prose = replace_formulas(reply, lambda span: "") if find_formulas(reply) else ""
    return "" if is_doubtful or any(c.isalnum() for c in prose) else latex


def _extract_formula(reply: str) -> str:
    """Return the source of the formula in a reply, or of its formulas in a row."""
    rows = [row for row in reply.splitlines() if not row.strip().startswith("```")]
    source = " ".join(" ".join(rows).split())
    spans = find_formulas(source) or find_formulas(wrap_formula(source))
    return r" \quad ".join(span.latex.strip() for span in spans)


def _is_overlong(first: str, second: str) -> bool:
    return ends_in_loop(second) or len(second) > max(_SHORT, _MOST_GROWTH * len(first))


def _is_similar(line: str, text: str) -> bool:
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(_list_letters(line), _list_letters(text)) >= _SIMILAR


def _list_letters(text: str) -> str:
    """Return the letters of a text, without Greek ones, which LaTeX writes as commands."""
    plain = unicodedata.normalize("NFKC", _COMMAND.sub(" ", text)).lower()
    return "".join(c for c in plain if c.isalnum() and not "\u0370" <= c <= "\u03ff")


def _count_marks(text: str) -> Counter[str]:
    """Return the digits, signs and negations of a text, LaTeX or not."""
    signs = _COMMAND.sub(lambda command: _SIGNS.get(command[1], " "), text)
    plain = unicodedata.normalize("NFKC", signs).translate(_DASHES)
    words = list_negations(replace_formulas(text, lambda span: " "))
    return Counter([*(c for c in plain if c.isdigit() or c in _COMPARED), *words])


def _list(marks: Counter[str]) -> str:
    return " ".join(sorted(marks.elements())[:6]) or "none"


def _quote(text: str) -> str:
    return f"`{text if len(text) <= 80 else text[:77] + '...'}`"
