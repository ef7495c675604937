"""How near a text that was read is to what is printed: characters, numbers, structure.

Both texts are compared without what engines and typists differ in though nothing was misread:
space, forms of punctuation and width, and the commands of LaTeX. The parts that can be told by
rule of the OCR accuracy of MathReal (appendix, "OCR Accuracy Evaluation").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

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
    """A text as it is compared: NFKC, one form of each mark, lower case, no space, no LaTeX."""
    plain = unicodedata.normalize("NFKC", text).translate(_MARKS)
    return _DROPPED.sub("", _COMMANDS.sub("", plain)).lower()


def similarity(text: str, reference: str) -> float:
    """One less the normalised Levenshtein distance of the bare texts, in [0, 1]."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(simplify_text(text), simplify_text(reference))


def best_window(text: str, reference: str) -> float:
    """The similarity of the best window: text around what was asked for costs nothing; [0, 1]."""
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
    """The share of numbers, with their units, on which two texts agree, in [0, 1].

    Each number counts as often as it stands there; numbers that only one of the two has count
    against it (the Dice coefficient of the two bags). 1 where neither has any.
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
    """How alike two texts are built, in [0, 1]: paragraphs, items of lists, rows of tables.

    The mean, over the kinds that the reference or the text has, of the smaller count over the
    larger one. 1 where neither has any.
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
    """The weighted mean of parts; None where one that counts is not known."""
    if any(part is None for part, weight in zip(parts, weights, strict=True) if weight):
        return None
    terms = [(p, w) for p, w in zip(parts, weights, strict=True) if p is not None and w]
    total = sum(w for _, w in terms)
    return sum(p * w for p, w in terms) / total if total else None
