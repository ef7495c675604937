"""Similarity of an OCR text to the printed text: characters, numbers, structure.

Characters are compared literally, as MathReal's formula says, and in a normalized form that ignores
what is no reading error: space, forms of punctuation and width, and LaTeX commands. The former are
a rule-based part of MathReal's OCR accuracy (appendix, "OCR Accuracy Evaluation").
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.schemas.problem import IMAGE_MARK, Question

_COMMANDS = re.compile(
    r"\\(?:text|mathrm|mathbf|mathit|operatorname|left|right|begin|end|displaystyle|q?quad|[,;:! ])"
)
_DROPPED = re.compile(r"[\\${}\s_^]")
_MARKS = str.maketrans(
    {
        "。": ".", "、": ",", "．": ".", "，": ",", "；": ";", "：": ":", "？": "?", "！": "!",
        "（": "(", "）": ")", "“": '"', "”": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "-",
        "×": "x", "·": "·",
    }
)  # fmt: skip


def simplify_text(text: str) -> str:
    """Return the normalized text: NFKC, unified punctuation, lower case, no space, no LaTeX."""
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _DROPPED.sub("", _COMMANDS.sub("", plain)).lower()


def literal_similarity(text: str, reference: str) -> float:
    """Return one minus the normalized Levenshtein distance of two texts as they are, in [0, 1]."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(text.strip(), reference.strip())


def similarity(text: str, reference: str) -> float:
    """Return one minus the normalized Levenshtein distance of the normalized texts, in [0, 1]."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(simplify_text(text), simplify_text(reference))


def best_window(text: str, reference: str) -> float:
    """Return the similarity of the best window, in [0, 1]: additional text is not penalized."""
    from rapidfuzz import fuzz

    first, second = simplify_text(text), simplify_text(reference)
    return fuzz.partial_ratio(first, second) / 100 if first and second else float(first == second)


_NUMBER = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*)\s*(?P<unit>%|‰|°|(?:[kcdmµμn]?(?:m|g|s|l|n|j|w|v|a|hz|pa|mol))(?![a-z])"
    r"(?:[²³]|\^?\{?[23]\}?)?|(?:平方|立方)?(?:厘米|分米|毫米|千米|米|千克|克|吨|元|升|度))?",
    re.I,
)
_LIST = re.compile(r"\s*(?:[(（]?\d{1,2}[)）.、．]|[(（]?[A-Ha-h][)）.、．]|[①-⑳•·▪-])")
_CELLS = re.compile(r"\t| {2,}|\|")


def number_agreement(text: str, reference: str) -> float:
    """Return the share of numbers, with their units, on which two texts agree, in [0, 1].

    Numbers count with their multiplicity; numbers in only one text lower the share (the Dice
    coefficient of the two bags). 1 if neither text has any.
    """
    text_numbers, reference_numbers = _count_numbers(text), _count_numbers(reference)
    total = text_numbers.total() + reference_numbers.total()
    return 2 * (text_numbers & reference_numbers).total() / total if total else 1.0


def _count_numbers(text: str) -> Counter[tuple[str, str]]:
    plain = unicodedata.normalize("NFKC", _COMMANDS.sub("", text)).replace("$", "")
    matches = (
        (m["number"].replace(",", ""), (m["unit"] or "").lower()) for m in _NUMBER.finditer(plain)
    )
    return Counter((number, re.sub(r"[\^{}]", "", unit)) for number, unit in matches)


def structure_agreement(text: str, reference: str) -> float:
    """Return the structural similarity of two texts, in [0, 1]: paragraphs, list items, table rows.

    It is the mean, over the kinds that occur in either text, of the smaller count divided by the
    larger one. 1 if neither text has any.
    """
    pairs = list(zip(_count_structure(text), _count_structure(reference), strict=True))
    ratios = [min(pair) / max(pair) for pair in pairs if max(pair)]
    return sum(ratios) / len(ratios) if ratios else 1.0


def _count_structure(text: str) -> tuple[int, int, int]:
    lines = [line for line in unicodedata.normalize("NFC", text).splitlines() if line.strip()]
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    items = sum(_LIST.match(line) is not None for line in lines)
    rows = sum(len(_CELLS.split(line.strip())) > 2 for line in lines)
    return len(paragraphs), items, rows


def weighted_mean(parts: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean of parts, or None if a part with a weight is unknown."""
    if any(part is None for part, weight in zip(parts, weights, strict=True) if weight):
        return None
    terms = [(p, w) for p, w in zip(parts, weights, strict=True) if p is not None and w]
    total = sum(w for _, w in terms)
    return sum(p * w for p, w in terms) / total if total else None


# Parts of OCR accuracy, computed by rules or by a judge, and their mean.

PARTS = ("numbers", "terms", "semantics", "structure", "lexical")
"""The five parts of MathReal's OCR accuracy, in the paper's order."""
BY_RULE = ("numbers", "structure", "lexical")
"""Parts that need no judge."""
EQUAL_WEIGHTS = (1.0,) * len(PARTS)
"""Weights of the parts; the paper's formula is an image that our copy lacks."""


class RuleParts(NamedTuple):
    """How well a text preserves numbers, structure and characters of a printed one, in [0, 1]."""

    numbers: float
    structure: float
    lexical: float
    """Characters, literally: the part of AccOCR."""
    normalized: float
    """Characters of the normalized texts: a measure of our own, which is no part of AccOCR."""


def measure_rule_parts(text: str, reference: str) -> RuleParts:
    """Compute the parts that need no judge (MathReal, OCR accuracy evaluation).

    Args:
        text: The OCR text.
        reference: The printed text.
    """
    return RuleParts(
        number_agreement(text, reference),
        structure_agreement(text, reference),
        literal_similarity(text, reference),
        similarity(text, reference),
    )


def combine_parts(
    rules: RuleParts,
    terms: float | None,
    semantics: float | None,
    weights: Sequence[float] = EQUAL_WEIGHTS,
) -> float | None:
    """Return the OCR accuracy of a text: the weighted mean of its five parts, in [0, 1].

    Args:
        rules: The parts computed by rules.
        terms: The preserved share of key terms, by a judge; None if unknown.
        semantics: The preserved share of the meaning, by a judge.
        weights: Weights of the five parts, in the order of `PARTS`.

    Returns:
        The mean, or None if a part with a weight is unknown.
    """
    parts = (rules.numbers, terms, semantics, rules.structure, rules.lexical)
    return weighted_mean(parts, weights)


# The printed text of a problem, as reference for OCR of its pictures.


def print_text(question: Question) -> str:
    """Return the text of a problem that a transcript should contain (MathReal, D: OCR task).

    Args:
        question: The frozen problem.

    Returns:
        Its statement without marks of pictures, and its text options, one per line.
    """
    statement = IMAGE_MARK.sub("", question.question).strip()
    options = [f"{c.label}. {c.text}" for c in question.choices or () if c.text]
    return "\n".join([statement, *options])
