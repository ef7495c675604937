"""Words of a problem: its statement without pictures, and a normalized form for duplicates."""

from __future__ import annotations

import re
import unicodedata

from omibench.latex import normalise as normalise_formula
from omibench.latex import replace_formulas
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Problem
from omibench.stages.filter.references import CAPTION_NUMBER, FIGURE_NUMBERS

_CJK = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
# Keep signs that change the meaning of a formula; remove formatting.
_DRESS = re.compile(r"[^\w\s.+\-<>=≤≥≠/*^%°·×√π]|_")
_MINUS = str.maketrans({"−": "-", "–": "-", "—": "-", "‐": "-"})


def statement_text(problem: Problem) -> str:
    """Return the question without `[IMAGEi]` marks and captions, with single blanks."""
    text = IMAGE_MARK.sub(" ", problem.question)
    for figure in problem.images:
        if figure.caption:
            text = _without_caption(text, figure.caption)
    return " ".join(text.split())


def count_words(text: str) -> int:
    """Return the number of words; scripts without spaces count two characters as one word."""
    words = _WORD.findall(text)
    dense = sum(1 for word in words if re.match(f"[{_CJK}]", word))
    return len(words) - dense + (dense + 1) // 2


def normalise(text: str) -> str:
    """Return text in a form in which two printings of one problem are equal.

    Case, spacing, punctuation, typographic variants and figure numbers (which count through a
    paper) are ignored. Digits and the signs of formulas count, in normalized formulas. The function
    is idempotent.
    """
    text = replace_formulas(text, lambda span: f" {normalise_formula(span.latex)} ")
    simpler = _simplify(text)
    while simpler != text:
        text, simpler = simpler, _simplify(simpler)
    return simpler


def _simplify(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).translate(_MINUS).casefold()
    unnumbered = FIGURE_NUMBERS.sub(" figure ", folded)
    bare = _DRESS.sub(" ", unnumbered)
    return " ".join(re.sub(r"(?<!\d)\.|\.(?!\d)", " ", bare).split())


def comparison_text(problem: Problem) -> str:
    """Return the text for comparing duplicates: the normalized statement, then texts of choices."""
    choices = [choice.text or "" for choice in problem.choices or []]
    return " | ".join(normalise(text) for text in (statement_text(problem), *choices)).strip()


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    """Return every run of `size` words; a text with fewer words is one run."""
    words = _WORD.findall(text)
    runs = max(len(words) - size + 1, 1)
    return frozenset(tuple(words[i : i + size]) for i in range(runs))


def _without_caption(text: str, caption: str) -> str:
    words = [re.escape(word) for word in caption.split()]
    caption_pattern = re.compile(r"\s+".join(words)) if words else None
    if caption_pattern and caption_pattern.search(text):
        return caption_pattern.sub(" ", text, count=1)
    number = CAPTION_NUMBER.match(caption)
    if not number:
        return text
    # A caption that OCR read differently the second time still begins a line.
    line = re.compile(rf"^[ \t*]*{re.escape(number.group(0).strip(' *'))} ?[:.：].*$", re.M | re.I)
    return line.sub(" ", text)
