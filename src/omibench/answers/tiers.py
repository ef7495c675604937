"""Tiers of `match`: each returns whether two tidied texts are equal, or None if undecided.

`same` compares parts of the texts by all tiers again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from omibench.answers import prose
from omibench.answers.alternatives import same_alternatives
from omibench.answers.chemistry.chemistry import same_chemistry
from omibench.answers.formulas.formula import same_formula
from omibench.answers.formulas.intervals import same_intervals
from omibench.answers.formulas.latex import fold, same_text
from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.formulas.relation import same_bracketed, same_relation
from omibench.answers.parts import SPLITTERS, AnswerPart, by_comma, without_label
from omibench.answers.quantities.quantity import same_quantity
from omibench.answers.quantities.ratio import same_ratio
from omibench.answers.truth import is_letter_set, truth, truths

_CLAUSE_WORDS = 4
"""A comma-separated text whose parts are all shorter is a list."""

_LETTER = r"[(\[]?[A-Za-z][)\]]?"
_ENCLOSED = re.compile(r"(\(|\\\{)([^()\[\]\\]*(?:\\(?![{}])[^()\[\]\\]*)*)(?:\)|\\\})")
_NAMED_TUPLE = re.compile(r"\(([A-Za-z\s,_{}\\\d]+)\)\s*=\s*\(([^()=]+)\)")
_DEGREES = re.compile(r"[-+\d.]+\s*°")
_STATES = re.compile(
    r"([^=<>:;,]{2,80}?)\s(?:is|are|was|were|equals|will be|must be|ist|sind|est|sont|es|son|é|è)"
    r"(?:\s(?:equal to|exactly))?\s+(\S.{0,80})",
    re.IGNORECASE | re.DOTALL,
)
_LETTER_ALONE = re.compile(r"\b[A-Za-z]\b")
_RUN = re.compile(r"[A-J]{2,8}")
_IN_BRACES = re.compile(r"\\?\{([^{}]*?)\\?\}")
_LETTERS = re.compile(rf"{_LETTER}(?:(?:\s*(?:,|;|&|\band\b)\s*|\s+){_LETTER})+")


def _truth(gold: str, pred: str, is_same: Equality) -> bool | None:
    g, p = truth(gold), truth(pred)
    return None if g is None or p is None else g == p


def _chemistry(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_chemistry(without_label(gold), without_label(pred))


def _number(gold: str, pred: str, is_same: Equality) -> bool | None:
    equal = same_quantity(gold, pred)
    return same_quantity(without_label(gold), without_label(pred)) if equal is None else equal


def _ratio(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_ratio(without_label(gold), without_label(pred))


def _letters(gold: str, pred: str, is_same: Equality) -> bool | None:
    g, p = _letter_set(gold), _letter_set(pred)
    if g is None or p is None:  # ACD and A, C, D; two runs of letters are names
        g, p = g or (_letter_run(gold) if p else None), p or (_letter_run(pred) if g else None)
    return None if g is None or p is None else g == p


def _letter_run(text: str) -> frozenset[str] | None:
    """Return the letters of a run in alphabetical order (ACD); other orders have a meaning."""
    run = text.strip()
    return frozenset(run) if _RUN.fullmatch(run) and list(run) == sorted(set(run)) else None


def _letter_set(text: str) -> frozenset[str] | None:
    """Return the letters of "a c d", "A, C and D"; None for one letter, words, repeats, T and F."""
    text = _IN_BRACES.sub(r"\1", text)
    if not _LETTERS.fullmatch(text):
        return None
    letters = [letter.upper() for letter in _LETTER_ALONE.findall(text)]
    return (
        frozenset(letters)
        if is_letter_set([AnswerPart("", letter) for letter in letters])
        else None
    )


def _parts(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare part by part, for every split of both; None if the gold answer is a single part.

    A list never equals a single part, unless the gold answer is prose with a comma.
    """
    splits = [entries for split in SPLITTERS if (entries := split(gold))]
    if not splits:
        return False if by_comma(pred) and not prose.is_prose(gold) else None
    pred_splits = [parts for split in SPLITTERS if (parts := split(pred))]
    return any(
        len(entries) == len(parts) and same_parts(entries, parts, is_same)
        for entries in splits
        for parts in pred_splits
    ) or (_is_sentence(gold, splits) and prose.same_words(gold, pred))


def _is_sentence(gold: str, splits: Sequence[Sequence[AnswerPart]]) -> bool:
    """Return whether a gold answer is prose with commas rather than a list of names."""
    if not prose.is_prose(gold) or any(all(part.key for part in parts) for parts in splits):
        return False
    return max(len(part.text.split()) for part in splits[-1]) >= _CLAUSE_WORDS


def same_parts(gold: Sequence[AnswerPart], pred: Sequence[AnswerPart], is_same: Equality) -> bool:
    """Compare by key if both have the same keys, as a set for option letters, else in order."""
    if truths(gold) is not None:
        is_same = same_truth
    keys = {part.key for part in pred}
    if "" not in keys and keys == {part.key for part in gold} and len(keys) == len(gold):
        by_key = {part.key: part.text for part in pred}
        return all(is_same(part.text, by_key[part.key]) for part in gold)
    if is_letter_set(gold) and not any(part.key for part in pred):
        return {fold(part.text) for part in gold} == {fold(part.text) for part in pred}
    return all(
        is_same(g.text, p.text) and (not (g.key and p.key) or same_key(g.key, p.key))
        for g, p in zip(gold, pred, strict=True)
    )


def same_truth(gold: str, pred: str) -> bool:
    return truth(gold, in_list=True) == truth(pred, in_list=True)


def same_key(gold: str, pred: str) -> bool:
    """Compare labels of different styles (1 for a) by order; labels of one style must agree."""
    digits = re.sub(r"[^\d+]", "", gold), re.sub(r"[^\d+]", "", pred)
    if gold.isalnum() and pred.isalnum() and len(gold) <= 4 and len(pred) <= 4:
        return gold == pred or gold.isdigit() != pred.isdigit()
    return digits[0] == digits[1]


def _plain_list(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare a tuple or set with an unbracketed list; (x, y) = (1, 2) is x = 1, y = 2."""
    named = _named_tuple(gold), _named_tuple(pred)
    if any(named):
        return is_same(named[0] or gold, named[1] or pred) or None
    inner = [
        _ENCLOSED.fullmatch(gold.strip()),
        _ENCLOSED.fullmatch(_use_round_brackets(pred.strip())),
    ]
    if (inner[0] is None) == (inner[1] is None):
        return None
    texts = [m.group(2) if m else text for m, text in zip(inner, (gold, pred), strict=True)]
    g, p = ([part.text for part in by_comma(text)] for text in texts)
    if len(g) < 2 or len(g) != len(p):
        return None
    if any(m and m.group(1) == "\\{" for m in inner):
        return same_set(g, p, is_same)
    return all(is_same(a, b) for a, b in zip(g, p, strict=True))


def _use_round_brackets(text: str) -> str:
    """Rewrite a list in square brackets, as in programs, with round ones."""
    return f"({text[1:-1]})" if text[:1] == "[" and text[-1:] == "]" else text


def _named_tuple(text: str) -> str | None:
    match = _NAMED_TUPLE.fullmatch(text.strip())
    names, values = (group.split(",") for group in match.groups()) if match else ([], [])
    if len(names) != len(values) or len(names) < 2:
        return None
    return ", ".join(f"{n.strip()} = {v.strip()}" for n, v in zip(names, values, strict=True))


def _tuple(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_bracketed(without_label(gold), without_label(pred), is_same)


def _relation(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_relation(without_label(gold), without_label(pred), is_same)


def _angle(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare degrees with a multiple of pi: 60° is pi/3."""
    if ("°" in gold) == ("°" in pred) or (r"\pi" in gold) == (r"\pi" in pred):
        return None
    degrees, radians = (gold, pred) if "°" in gold else (pred, gold)
    if _DEGREES.fullmatch(degrees.strip()) is None:
        return None
    return same_formula(re.sub("°", r" × \\pi / 180", degrees), radians)


def _statement(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare a sentence that states a value with a gold answer that is not a sentence."""
    stated = None if _STATES.match(gold) else _STATES.match(pred)
    if stated is None or prose.denies(stated.group(1)):
        return None
    return is_same(gold, stated.group(2)) or None


def _words(gold: str, pred: str, is_same: Equality) -> bool | None:
    if prose.is_prose(gold) or prose.is_prose(pred):
        return prose.same_words(without_label(gold), without_label(pred))
    return None


def _formula(gold: str, pred: str, is_same: Equality) -> bool | None:
    gold, pred = without_label(gold), without_label(pred)
    return same_text(gold, pred) or same_quantity(gold, pred) or same_formula(gold, pred)


TIERS: tuple[tuple[str, Callable[[str, str, Equality], bool | None]], ...] = (
    ("truth value", _truth),
    ("chemistry", _chemistry),
    ("number", _number),
    ("angle", _angle),
    ("ratio", _ratio),
    ("letter set", _letters),
    ("alternatives", same_alternatives),
    ("interval", same_intervals),
    ("list", _plain_list),
    ("parts", _parts),
    ("tuple", _tuple),
    ("relation", _relation),
    ("statement", _statement),
    ("words", _words),
    ("formula", _formula),
)
TRUTHLESS = TIERS[1:]
"""Return the tiers for a gold answer in which T or F is a symbol."""
