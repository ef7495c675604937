"""The words of a problem: its statement without pictures, and a form in which copies are equal."""

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
# A sign that changes what a formula says stays; what only dresses it goes.
_DRESS = re.compile(r"[^\w\s.+\-<>=≤≥≠/*^%°·×√π]|_")
_MINUS = str.maketrans({"−": "-", "–": "-", "—": "-", "‐": "-"})


def statement_text(problem: Problem) -> str:
    """The question without `[IMAGEi]` marks and captions, its white space single blanks."""
    text = IMAGE_MARK.sub(" ", problem.question)
    for figure in problem.images:
        if figure.caption:
            text = _without_caption(text, figure.caption)
    return " ".join(text.split())


def count_words(text: str) -> int:
    """Number of words; scripts without spaces count two characters as one word."""
    words = _WORD.findall(text)
    dense = sum(1 for word in words if re.match(f"[{_CJK}]", word))
    return len(words) - dense + (dense + 1) // 2


def normalise(text: str) -> str:
    """Text in which two printings of one problem are equal.

    Case, spacing, punctuation, typographic variants and the numbers of figures do not count
    (numbering runs through a paper); digits and the signs of formulas do, and formulas count in
    their normal form. A normalised text stays as it is.
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
    """What duplicates are compared by: the normalised statement, then the texts of choices."""
    choices = [choice.text or "" for choice in problem.choices or []]
    return " | ".join(normalise(text) for text in (statement_text(problem), *choices)).strip()


def shingles(text: str, size: int = 3) -> frozenset[tuple[str, ...]]:
    """Every run of `size` words; a text with fewer words is one run."""
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
    # A caption that OCR read differently the second time still opens its own line.
    line = re.compile(rf"^[ \t*]*{re.escape(number.group(0).strip(' *'))} ?[:.：].*$", re.M | re.I)
    return line.sub(" ", text)
