"""Partial credit: which parts of a gold an answer has right, each beside what stands in its place.

Only asked where an answer as a whole is wrong, or where a person wants to see why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.answers import prose
from omibench.answers.comparison import Match, PartResult, share
from omibench.answers.formulas.latex import fold, tidy
from omibench.answers.match import match_answer, told, without_cue
from omibench.answers.parts import SPLITTERS, Part, keyed, labelled, labelled_part, named_part
from omibench.answers.tiers import same_key, same_truth
from omibench.answers.truth import is_letter_set, truths

MAX_PAIRS = 144
"""Up to so many pairs of parts are compared to find where one is missing; beyond, by place."""

Told = Callable[[str, str], tuple[str, bool]]


def compare_answer(gold: Sequence[str], pred: str) -> Match:
    """An answer against its whole gold, and each of its parts."""
    how = match_answer(gold, pred)
    parts = parts_of(gold, pred)
    if how and not all(part.verdict for part in parts):
        parts = (PartResult("", ", ".join(gold), pred, True, how),)
    return Match(how, parts)


def compare_letters(gold: str, pred: str) -> Match:
    """A set of option letters against the gold's ("CD"), letter by letter."""
    if len(gold) == 1 and len(pred) == 1:
        return Match("letters" if gold == pred else None, (_letter("", gold, pred),))
    asked = [_letter(letter, letter, letter if letter in pred else None) for letter in gold]
    more = [PartResult(x, None, x, False, "not asked for") for x in pred if x not in gold]
    return Match("letters" if gold == pred else None, (*asked, *more))


def _letter(part: str, gold: str, pred: str | None) -> PartResult:
    return PartResult(part, gold, pred, gold == pred, "letters" if pred else "missing")


def parts_of(gold: Sequence[str], pred: str) -> tuple[PartResult, ...]:
    """The parts of a gold, each with its verdict: of all ways to split, the one that gives most."""
    pred = without_cue(pred)
    entries = _entries([without_cue(entry) for entry in gold])
    whole = ", ".join(gold)
    if not entries:
        why, equal = told(whole, pred)
        return (PartResult("", whole, pred, equal, why),)
    answers = [parts for split in SPLITTERS if (parts := split(tidy(pred)))]
    answers += [[labelled_part(pred)], [named_part(tidy(pred))]]
    found = [_aligned(g, p) for g in entries for p in answers]
    return max(found, key=share)


def _entries(gold: Sequence[str]) -> list[list[Part]]:
    """The ways to split a gold into parts; none where it is one part, or prose that has commas."""
    if len(gold) > 1:
        given = [tidy(entry) for entry in gold]
        named = keyed(given)
        return [[labelled_part(entry) for entry in given], *([named] if named else [])]
    text = tidy(gold[0])
    splits = [parts for split in SPLITTERS if (parts := split(text))]
    if prose.is_prose(text):
        splits = [s for s in splits if s == labelled(text) or all(part.key for part in s)]
    return splits


def _aligned(gold: Sequence[Part], pred: Sequence[Part]) -> tuple[PartResult, ...]:
    """Every part of the gold beside a part of the answer, and then what was not asked for."""
    tell: Told = _tell_truth if truths(gold) is not None else told
    if is_letter_set(gold) and is_letter_set(pred):
        pairs = _by_letter(gold, pred)
    elif all(part.key for part in (*gold, *pred)) and {p.key for p in gold} & {p.key for p in pred}:
        pairs = _by_key(gold, pred)
    elif len(gold) == len(pred) or len(gold) * len(pred) > MAX_PAIRS:
        pairs = {i: i for i in range(min(len(gold), len(pred)))}
    else:
        pairs = _in_order(gold, pred, tell)
    found = [
        _result(i, part, pred[pairs[i]] if i in pairs else None, tell)
        for i, part in enumerate(gold)
    ]
    extra = set(range(len(pred))) - set(pairs.values())
    more = [
        PartResult(pred[j].key, None, pred[j].text, False, "not asked for") for j in sorted(extra)
    ]
    return (*found, *more)


def _result(place: int, gold: Part, pred: Part | None, tell: Told) -> PartResult:
    label = gold.key or str(place + 1)
    if pred is None:
        return PartResult(label, gold.text, None, False, "missing")
    if gold.key and pred.key and not same_key(gold.key, pred.key):
        return PartResult(label, gold.text, pred.text, False, "another label")
    why, equal = tell(gold.text, pred.text)
    return PartResult(label, gold.text, pred.text, equal, why)


def _tell_truth(gold: str, pred: str) -> tuple[str, bool]:
    return "truth value", same_truth(gold, pred)


def _by_letter(gold: Sequence[Part], pred: Sequence[Part]) -> dict[int, int]:
    places = {fold(part.text): j for j, part in enumerate(pred)}
    return {i: places[fold(part.text)] for i, part in enumerate(gold) if fold(part.text) in places}


def _by_key(gold: Sequence[Part], pred: Sequence[Part]) -> dict[int, int]:
    places = {part.key: j for j, part in enumerate(pred)}
    return {i: places[part.key] for i, part in enumerate(gold) if part.key in places}


def _in_order(gold: Sequence[Part], pred: Sequence[Part], tell: Told) -> dict[int, int]:
    """The longest run of equal parts in order (a longest common subsequence under `tell`)."""
    n, m = len(gold), len(pred)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    equal = [[tell(g.text, p.text)[1] for p in pred] for g in gold]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            taken = best[i + 1][j + 1] + equal[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], taken)
    pairs, i, j = dict[int, int](), 0, 0
    while i < n and j < m:
        if equal[i][j] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
