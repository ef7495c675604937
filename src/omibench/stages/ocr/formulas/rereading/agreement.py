"""What two readings of one place make together: settled, or different in what matters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final, NamedTuple

from omibench.latex import find_differences, find_formulas, find_missing
from omibench.stages.ocr.engines.presets.loops import ends_in_loop
from omibench.stages.ocr.engines.presets.markdown import list_lines, wrap_formula

UNKNOWN: Final = r"\square"
"""Stands in a formula for a glyph that no table names."""
_ARRANGEMENT: Final = "the arrangement differs"
_MOST_GROWTH: Final = 12
"""Characters of a reply for each of the first reading, at most."""
_SHORT: Final = 200
"""So many it may have in any case."""
_SIMILAR: Final = 0.5
"""Share of letters that two readings of one line have in common at least."""
_COMMAND: Final = re.compile(r"\\([A-Za-z]+)")
_SIGNS: Final = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "neq": "≠", "ne": "≠", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "approx": "≈", "div": "÷", "lt": "<", "gt": ">",
}  # fmt: skip
_DASHES: Final = str.maketrans("−–—‐‑", "-----")
_COMPARED: Final = frozenset("=+-<>×±∓≠≤≥≈÷")


class Agreement(NamedTuple):
    """The text that stands, whether that is settled, and in what the readings differ."""

    text: str
    is_settled: bool
    difference: str = ""


def compare_formulas(layer: str, reply: str) -> Agreement:
    """What the reading of a text layer and a reader's reply make of a formula.

    Where both hold the same numbers, signs, negations and symbols, the arrangement is the reader's:
    it is what the layer was not certain of. A glyph that no table names may be anything. Where they
    differ in more, the layer's reading stands, whose characters are the document's own.

    Args:
        layer: LaTeX without dollar signs.
        reply: The reader's, in any delimiters.
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
    """What an engine that writes no formulas and a reader make of one line.

    The reader's reading stands where it is one of this line at all; numbers and signs in which it
    differs are named.

    Args:
        line: As the engine read it, scripts and fractions flattened.
        reply: The reader's, formulas between delimiters.
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


def _extract_formula(reply: str) -> str:
    """The source of the formula that a reply holds, or of its formulas in a row."""
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
    """The letters of a text, Greek ones aside, which LaTeX writes as commands."""
    plain = unicodedata.normalize("NFKC", _COMMAND.sub(" ", text)).lower()
    return "".join(c for c in plain if c.isalnum() and not "\u0370" <= c <= "\u03ff")


def _count_marks(text: str) -> Counter[str]:
    """Digits and signs of a text, LaTeX or not."""
    signs = _COMMAND.sub(lambda command: _SIGNS.get(command[1], " "), text)
    plain = unicodedata.normalize("NFKC", signs).translate(_DASHES)
    return Counter(c for c in plain if c.isdigit() or c in _COMPARED)


def _list(marks: Counter[str]) -> str:
    return " ".join(sorted(marks.elements())[:6]) or "none"


def _quote(text: str) -> str:
    return f"`{text if len(text) <= 80 else text[:77] + '...'}`"
