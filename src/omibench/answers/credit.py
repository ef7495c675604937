"""Partial credit: match the parts of an answer to the parts of a gold answer.

Computed only if the whole answer is wrong or an explanation is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.answers import prose
from omibench.answers.comparison import AnswerMatch, PartResult, share_right
from omibench.answers.formulas.latex import fold, tidy
from omibench.answers.match import decide_equality, match_answer, without_cue
from omibench.answers.parts import (
    SPLITTERS,
    AnswerPart,
    key_pieces,
    labelled_part,
    named_part,
    split_labelled,
)
from omibench.answers.tiers import same_key, same_truth
from omibench.answers.truth import is_letter_set, truths

MAX_PAIRS = 144
"""Maximum number of part pairs compared to locate a missing part; above it, by position."""

Compare = Callable[[str, str], tuple[str, bool]]


def compare_answer(gold: Sequence[str], pred: str) -> AnswerMatch:
    """Compare an answer with the whole gold answer and with each of its parts."""
    tier = match_answer(gold, pred)
    parts = compare_parts(gold, pred)
    if tier and not all(part.verdict for part in parts):
        parts = (PartResult("", ", ".join(gold), pred, True, tier),)
    return AnswerMatch(tier, parts)


def compare_letters(gold: str, pred: str) -> AnswerMatch:
    """Compare a set of option letters with the gold letters ("CD") individually."""
    if len(gold) == 1 and len(pred) == 1:
        return AnswerMatch("letters" if gold == pred else None, (_letter("", gold, pred),))
    results = [_letter(letter, letter, letter if letter in pred else None) for letter in gold]
    extra = [PartResult(x, None, x, False, "not asked for") for x in pred if x not in gold]
    return AnswerMatch("letters" if gold == pred else None, (*results, *extra))


def _letter(part: str, gold: str, pred: str | None) -> PartResult:
    return PartResult(part, gold, pred, gold == pred, "letters" if pred else "missing")


def compare_parts(gold: Sequence[str], pred: str) -> tuple[PartResult, ...]:
    """Return the parts of a gold answer with verdicts, for the split that gives most credit."""
    pred = without_cue(pred)
    entries = _entries([without_cue(entry) for entry in gold])
    joined = ", ".join(gold)
    if not entries:
        basis, equal = decide_equality(joined, pred)
        return (PartResult("", joined, pred, equal, basis),)
    answers = [parts for split in SPLITTERS if (parts := split(tidy(pred)))]
    answers += [[labelled_part(pred)], [named_part(tidy(pred))]]
    alignments = [_align_parts(g, p) for g in entries for p in answers]
    return max(alignments, key=share_right)


def _entries(gold: Sequence[str]) -> list[list[AnswerPart]]:
    """Yield the ways to split a gold answer into parts; none for one part or prose with commas."""
    if len(gold) > 1:
        texts = [tidy(entry) for entry in gold]
        named = key_pieces(texts)
        return [[labelled_part(entry) for entry in texts], *([named] if named else [])]
    text = tidy(gold[0])
    splits = [parts for split in SPLITTERS if (parts := split(text))]
    if prose.is_prose(text):
        splits = [s for s in splits if s == split_labelled(text) or all(part.key for part in s)]
    return splits


def _align_parts(gold: Sequence[AnswerPart], pred: Sequence[AnswerPart]) -> tuple[PartResult, ...]:
    """Return every gold part with its match in the answer, then the extra parts."""
    compare: Compare = _compare_truths if truths(gold) is not None else decide_equality
    if is_letter_set(gold) and is_letter_set(pred):
        pairs = _by_letter(gold, pred)
    elif all(part.key for part in (*gold, *pred)) and {p.key for p in gold} & {p.key for p in pred}:
        pairs = _by_key(gold, pred)
    elif len(gold) == len(pred) or len(gold) * len(pred) > MAX_PAIRS:
        pairs = {i: i for i in range(min(len(gold), len(pred)))}
    else:
        pairs = _in_order(gold, pred, compare)
    results = [
        _result(i, part, pred[pairs[i]] if i in pairs else None, compare)
        for i, part in enumerate(gold)
    ]
    extra = set(range(len(pred))) - set(pairs.values())
    surplus = [
        PartResult(pred[j].key, None, pred[j].text, False, "not asked for") for j in sorted(extra)
    ]
    return (*results, *surplus)


def _result(place: int, gold: AnswerPart, pred: AnswerPart | None, compare: Compare) -> PartResult:
    label = gold.key or str(place + 1)
    if pred is None:
        return PartResult(label, gold.text, None, False, "missing")
    if gold.key and pred.key and not same_key(gold.key, pred.key):
        return PartResult(label, gold.text, pred.text, False, "another label")
    basis, equal = compare(gold.text, pred.text)
    return PartResult(label, gold.text, pred.text, equal, basis)


def _compare_truths(gold: str, pred: str) -> tuple[str, bool]:
    return "truth value", same_truth(gold, pred)


def _by_letter(gold: Sequence[AnswerPart], pred: Sequence[AnswerPart]) -> dict[int, int]:
    places = {fold(part.text): j for j, part in enumerate(pred)}
    return {i: places[fold(part.text)] for i, part in enumerate(gold) if fold(part.text) in places}


def _by_key(gold: Sequence[AnswerPart], pred: Sequence[AnswerPart]) -> dict[int, int]:
    places = {part.key: j for j, part in enumerate(pred)}
    return {i: places[part.key] for i, part in enumerate(gold) if part.key in places}


def _in_order(
    gold: Sequence[AnswerPart], pred: Sequence[AnswerPart], compare: Compare
) -> dict[int, int]:
    """Return the longest run of equal parts in order: a longest common subsequence."""
    n, m = len(gold), len(pred)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    equal = [[compare(g.text, p.text)[1] for p in pred] for g in gold]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            paired = best[i + 1][j + 1] + equal[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
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
