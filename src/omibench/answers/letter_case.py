"""Case folding: ordinary words lose their case; symbols, units, formulas and names keep it."""

from __future__ import annotations

import re
from functools import lru_cache

from omibench.answers.quantities.units import is_symbol

_TOKEN = re.compile(r"\\[A-Za-z]+|[^\W\d_]+")
_SHORT = frozenset((
    "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "my", "of", "on", "or",
    "so", "to", "up", "us", "we",
))  # fmt: skip
"""Two-letter words; alone they are elements (As, In) or symbols."""
_ALWAYS = frozenset(("no", "yes"))
_VOWEL = re.compile("[aeiouy]|[^\x00-\x7f]")
_BASES = re.compile("[ACGTU]{3,}|[acgtu]{3,}")
_ATOMS = re.compile("[HBCNOFPSKI]{3}")
_PAIRS = re.compile(r"(?:(\w)\1){2,}", re.IGNORECASE)
_WORD_LETTERS = 4


@lru_cache(maxsize=4096)
def fold_words(text: str) -> str:
    """Lower the ordinary words of a tidied text and keep everything else.

    An ordinary word has three or more letters with a vowel, is all lower, all upper or
    capitalised, touches no digit or index, and is not a unit, formula or genotype.
    """
    prose = any(
        len(m.group()) >= _WORD_LETTERS and _is_word(m.group()) for m in _TOKEN.finditer(text)
    )

    def fold(match: re.Match[str]) -> str:
        word, start, end = match.group(), match.start(), match.end()
        before, after = text[max(0, start - 3) : start], text[end : end + 3]
        if word.casefold() in _ALWAYS or (prose and word.casefold() in _SHORT):
            return word.casefold()
        if prose and word == "A" and start == 0 and after[:1] == " ":
            return "a"
        beside = re.search(r"[\d_^]$", before) or re.match(r"\s*[_^]|\d", after)
        counted = re.search(r"\d\s*$", before) and len(word) < _WORD_LETTERS
        return word if beside or counted or not _is_word(word) else word.casefold()

    return _TOKEN.sub(fold, text)


@lru_cache(maxsize=4096)
def _is_word(word: str) -> bool:
    if _BASES.fullmatch(word) and not _PAIRS.fullmatch(word):
        return True
    plain = word.islower() or word.isupper() or (word[0].isupper() and word[1:].islower())
    return (
        len(word) >= 3
        and plain
        and _VOWEL.search(word.casefold()) is not None
        and not (_PAIRS.fullmatch(word) or _ATOMS.fullmatch(word) or is_symbol(word))
    )
