"""Is it right? One extracted answer against its gold, part by part, under the `robust` rules.

A tier looks at two texts and either tells (equal or not) or passes them on; tiers run from the
cheapest to the dearest, and the first that can tell decides. The gold decides what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from omibench.score import prose
from omibench.score.chemistry import same_chemistry
from omibench.score.cues import after_cue
from omibench.score.formula import same_formula
from omibench.score.latex import fold, same_text, tidy
from omibench.score.parts import SPLITTERS, Part, by_comma, keyed, labelled_part, without_label
from omibench.score.quantity import same_quantity
from omibench.score.ratio import same_ratio
from omibench.score.relation import Same, same_bracketed, same_relation
from omibench.score.truth import is_letter_set, truth, truths

MAX_CHARS = 4_000
MAX_DEPTH = 3

_LETTER = r"[(\[]?[A-Za-z][)\]]?"
_LETTERS = re.compile(rf"{_LETTER}(?:(?:\s*(?:,|;|&|\band\b)\s*|\s+){_LETTER})+")


def match_answer(gold: Sequence[str], pred: str) -> str | None:
    """The tier that finds `pred` equal to the whole gold, or None where it is not equal.

    A gold of several entries is one answer cut in pieces: all of them are needed. It is compared
    entry by entry, and joined again by commas for the lists that were cut in the wrong place.
    A gold that holds a derivation is also reached by what it calls its answer.
    """
    gold, pred = [without_cue(entry) for entry in gold], without_cue(pred[:MAX_CHARS])
    if len(gold) == 1:
        stated = after_cue(gold[0])
        return match_text(gold[0], pred) or (match_text(stated, pred) if stated else None)
    joined = ", ".join(gold)
    if same_text(joined, pred) or same_text("; ".join(gold), pred):
        return "same text"
    labelled = [labelled_part(tidy(entry)) for entry in gold]
    named = labelled if any(part.key for part in labelled) else keyed([tidy(g) for g in gold])
    for split in SPLITTERS:
        parts = split(tidy(pred))
        entries = named if all(part.key for part in parts) else labelled
        if len(parts) == len(entries) and _same_parts(entries, parts, _one_deeper(0)):
            return "parts"
    return match_text(joined, pred)


def match_text(gold: str, pred: str, depth: int = 0) -> str | None:
    """The tier that finds one text equal to another, or None where they differ."""
    tier, equal = told(gold, pred, depth)
    return tier if equal else None


def told(gold: str, pred: str, depth: int = 0) -> tuple[str, bool]:
    """The tier that can tell whether two texts are equal, and what it says."""
    if not pred.strip() or depth > MAX_DEPTH:
        return "missing", False
    if same_text(gold, pred):
        return "same text", True
    gold, pred = tidy(gold), tidy(pred)
    for name, tier in TIERS:
        equal = tier(gold, pred, _one_deeper(depth))
        if equal is not None:
            return name, equal
    return "same text", False


def without_cue(text: str) -> str:
    return re.sub(r"^\W{0,3}answers?\s*:\s*(?=\S)", "", text, flags=re.IGNORECASE)


def _one_deeper(depth: int) -> Same:
    def same(gold: str, pred: str) -> bool:
        if not gold.strip() or not pred.strip():
            return gold.strip() == pred.strip()
        return match_text(gold, pred, depth + 1) is not None

    return same


def _truth(gold: str, pred: str, same: Same) -> bool | None:
    g, p = truth(gold), truth(pred)
    return None if g is None or p is None else g == p


def _chemistry(gold: str, pred: str, same: Same) -> bool | None:
    return same_chemistry(without_label(gold), without_label(pred))


def _number(gold: str, pred: str, same: Same) -> bool | None:
    told = same_quantity(gold, pred)
    return same_quantity(without_label(gold), without_label(pred)) if told is None else told


def _ratio(gold: str, pred: str, same: Same) -> bool | None:
    return same_ratio(without_label(gold), without_label(pred))


def _letters(gold: str, pred: str, same: Same) -> bool | None:
    g, p = _letter_set(gold), _letter_set(pred)
    return None if g is None or p is None else g == p


def _letter_set(text: str) -> frozenset[str] | None:
    """The letters of "a c d", "A, C and D"; None for one letter, a word, a repetition, T and F."""
    if not _LETTERS.fullmatch(text):
        return None
    found = [letter.upper() for letter in re.findall(r"\b[A-Za-z]\b", text)]
    return frozenset(found) if is_letter_set([Part("", letter) for letter in found]) else None


def _parts(gold: str, pred: str, same: Same) -> bool | None:
    """Every way to split both into as many parts; None when the gold is a single part.

    A list never equals a single part, unless the gold is prose that happens to hold a comma.
    """
    splits = [entries for split in SPLITTERS if (entries := split(gold))]
    if not splits:
        return False if by_comma(pred) and not prose.is_prose(gold) else None
    others = [parts for split in SPLITTERS if (parts := split(pred))]
    return any(
        len(entries) == len(parts) and _same_parts(entries, parts, same)
        for entries in splits
        for parts in others
    ) or (prose.is_prose(gold) and prose.same_words(gold, pred))


def _same_parts(gold: Sequence[Part], pred: Sequence[Part], same: Same) -> bool:
    """By key where both name the same parts, as a set for letters of options, else in order."""
    if truths(gold) is not None:
        same = same_truth
    keys = {part.key for part in pred}
    if "" not in keys and keys == {part.key for part in gold} and len(keys) == len(gold):
        by_key = {part.key: part.text for part in pred}
        return all(same(part.text, by_key[part.key]) for part in gold)
    if is_letter_set(gold) and not any(part.key for part in pred):
        return {fold(part.text) for part in gold} == {fold(part.text) for part in pred}
    return all(
        same(g.text, p.text) and (not (g.key and p.key) or same_key(g.key, p.key))
        for g, p in zip(gold, pred, strict=True)
    )


def same_truth(gold: str, pred: str) -> bool:
    return truth(gold, in_list=True) == truth(pred, in_list=True)


def same_key(gold: str, pred: str) -> bool:
    """Labels of another style (1 for a) are told by their order; those of one style must agree."""
    digits = re.sub(r"[^\d+]", "", gold), re.sub(r"[^\d+]", "", pred)
    if gold.isalnum() and pred.isalnum() and len(gold) <= 4 and len(pred) <= 4:
        return gold == pred or gold.isdigit() != pred.isdigit()
    return digits[0] == digits[1]


def _bracketed(gold: str, pred: str, same: Same) -> bool | None:
    return same_bracketed(without_label(gold), without_label(pred), same)


def _relation(gold: str, pred: str, same: Same) -> bool | None:
    return same_relation(without_label(gold), without_label(pred), same)


def _words(gold: str, pred: str, same: Same) -> bool | None:
    if prose.is_prose(gold) or prose.is_prose(pred):
        return prose.same_words(without_label(gold), without_label(pred))
    return None


def _formula(gold: str, pred: str, same: Same) -> bool | None:
    gold, pred = without_label(gold), without_label(pred)
    return same_text(gold, pred) or same_quantity(gold, pred) or same_formula(gold, pred)


TIERS: tuple[tuple[str, Callable[[str, str, Same], bool | None]], ...] = (
    ("truth value", _truth),
    ("chemistry", _chemistry),
    ("number", _number),
    ("ratio", _ratio),
    ("letter set", _letters),
    ("parts", _parts),
    ("tuple", _bracketed),
    ("relation", _relation),
    ("words", _words),
    ("formula", _formula),
)
