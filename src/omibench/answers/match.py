"""Matching of one extracted answer with its gold answer, part by part, under the `robust` rules.

A tier compares two texts and either decides (equal or not) or passes them on. Tiers run from the
cheapest to the most expensive; the first that can decide does. The gold answer determines the
kind of comparison.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from omibench.answers.extraction.cues import find_cued_answer
from omibench.answers.formulas.latex import same_text, tidy
from omibench.answers.formulas.operators import Equality
from omibench.answers.parts import SPLITTERS, key_pieces, labelled_part
from omibench.answers.tiers import TIERS, TRUTHLESS, same_parts
from omibench.answers.truth import is_symbol

MAX_CHARS = 4_000
MAX_DEPTH = 3
_BEFORE = re.compile(
    r"^\W{0,3}(?:answers?\s*:\s*|(?:thus|therefore|hence|so|in conclusion|finally),\s+"
    r"|(?:so |thus |hence )?(?:in total,? )?(?:we (?:get|obtain|find|have)|there (?:is|are))\s+)"
    r"(?=\S)",
    re.IGNORECASE,
)
_AROUND = re.compile(r"^(?:both|only)\s+(?=\S)|(?<=\S)\s+only(?=\W*$)", re.IGNORECASE)


def match_answer(gold: Sequence[str], pred: str) -> str | None:
    """Return the tier that finds `pred` equal to the whole gold answer; None if not equal.

    A gold answer of several entries is one answer in pieces: all of them are required. It is
    compared entry by entry, and also joined by commas, for lists that were split incorrectly. A
    gold answer that contains a derivation also matches by its stated answer.
    """
    # A timeout in one response must not affect another.
    decide_equality.cache_clear()
    gold, pred = [without_cue(entry) for entry in gold], without_cue(pred[:MAX_CHARS])
    if len(gold) == 1:
        stated = find_cued_answer(gold[0])
        return match_text(gold[0], pred) or (match_text(stated, pred) if stated else None)
    joined = ", ".join(gold)
    if same_text(joined, pred) or same_text("; ".join(gold), pred):
        return "same text"
    labelled = [labelled_part(tidy(entry)) for entry in gold]
    named = labelled if any(part.key for part in labelled) else key_pieces([tidy(g) for g in gold])
    for split in SPLITTERS:
        parts = split(tidy(pred))
        entries = named if all(part.key for part in parts) else labelled
        if len(parts) == len(entries) and same_parts(entries, parts, _one_deeper(0)):
            return "parts"
    return match_text(joined, pred)


def match_text(gold: str, pred: str, depth: int = 0) -> str | None:
    """Return the tier that finds one text equal to another, or None if they differ."""
    tier, equal = decide_equality(gold, pred, depth)
    return tier if equal else None


@lru_cache(maxsize=4096)
def decide_equality(gold: str, pred: str, depth: int = 0) -> tuple[str, bool]:
    """Return the tier that can decide whether two texts are equal, and its verdict."""
    if not pred.strip() or depth > MAX_DEPTH:
        return "missing", False
    if same_text(gold, pred):
        return "same text", True
    tiers = TRUTHLESS if is_symbol(gold) else TIERS
    gold, pred = tidy(gold), tidy(pred)
    for name, tier in tiers:
        equal = tier(gold, pred, _one_deeper(depth))
        if equal is not None:
            return name, equal
    return "same text", False


def without_cue(text: str) -> str:
    """Strip a leading "Answer:" or "Thus," and a surrounding "both" or "only"."""
    return _AROUND.sub("", _BEFORE.sub("", text))


def _one_deeper(depth: int) -> Equality:
    def same(gold: str, pred: str) -> bool:
        if not gold.strip() or not pred.strip():
            return gold.strip() == pred.strip()
        return match_text(gold, pred, depth + 1) is not None

    return same
