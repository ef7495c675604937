"""Compare an answer with a gold answer, part by part, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import NamedTuple

from omibench.answers import prose
from omibench.answers.extraction.letters import read_letters
from omibench.answers.formulas.latex import MAX_CHARS, fold, squash, tidy
from omibench.answers.formulas.symbolic import item_time
from omibench.answers.match import (
    decide_equality,
    is_letter_set,
    match_answer,
    same_key,
    same_truth,
    truths,
    without_cue,
)
from omibench.answers.multipart import (
    SPLITTERS,
    AnswerPart,
    key_pieces,
    labelled_part,
    named_part,
    split_labelled,
)
from omibench.answers.prose import fold_words
from omibench.answers.quantity import quantity
from omibench.errors import ArgumentError
from omibench.schemas.problem import AnswerType, Choice

# Results of a comparison: each part of a gold answer, its match in the answer, and the reason.
#
# `credit` is the share of correct parts. `tier` is the tier that accepted the whole answer
# (strict). Both are stored, so a study can report either.

_NOT_COMPARED = ("missing", "not asked for", "another label")


class PartResult(NamedTuple):
    """One part of a gold answer with its match in the answer.

    `part` is its label or position ("a", "2"), or "" if the gold answer has one part. `answer`
    is None if nothing matches it, `gold` is None for an extra part. `basis` is the tier that
    decided, such as `number`, or the reason: `missing`, `not asked for`.
    """

    part: str
    gold: str | None
    answer: str | None
    verdict: bool
    basis: str

    @property
    def reason(self) -> str:
        """Reason for the verdict as text: `equal as number`, `missing`."""
        if self.basis in _NOT_COMPARED:
            return self.basis
        return f"{'equal' if self.verdict else 'differs'} as {self.basis.removeprefix('same ')}"


class AnswerMatch(NamedTuple):
    """An answer compared with its gold: the tier that accepted it (None if wrong) and its parts."""

    tier: str | None
    parts: tuple[PartResult, ...]

    @property
    def credit(self) -> float:
        """Share of correct parts; 1 only if the answer is correct as a whole."""
        return 1.0 if self.tier else share_right(self.parts)


def share_right(parts: Sequence[PartResult]) -> float:
    """Return correct parts over the larger of gold and given parts; below 1."""
    right = sum(part.verdict for part in parts)
    if not right:
        return 0.0
    gold_count = sum(part.gold is not None for part in parts)
    answer_count = sum(part.answer is not None for part in parts)
    return right / max(gold_count, answer_count, right + 1)


# Partial credit: match the parts of an answer to the parts of a gold answer.
#
# Computed only if the whole answer is wrong or an explanation is requested.

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
        basis, equal = decide_equality(joined, pred, 0)  # known from `match_answer`
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


# Comparison of two answers, with a reason for the result.


@dataclass(frozen=True)
class AnswerComparison:
    """Result of a comparison; truthy if the answers are equal.

    Attributes:
        equal: Whether the answers are equal as a whole.
        reason: One-line reason: `equal as number`, `part 2: missing`.
        credit: Share of correct parts, in [0, 1]; 1 only if all parts are equal.
        parts: Each part of the gold answer with the part of the answer matched to it.
    """

    equal: bool
    reason: str
    credit: float
    parts: tuple[PartResult, ...]

    def __bool__(self) -> bool:
        return self.equal


def compare_answers(
    gold: str | Sequence[str],
    answer: str,
    *,
    choices: Sequence[str] | Mapping[str, str] | None = None,
) -> AnswerComparison:
    r"""Compare an answer with a gold answer by the rules of the scorer `robust`.

    The gold answer determines the comparison: numbers with units, formulas, sets, intervals,
    lists, reactions, words. Neither text is evaluated as code. A comparison takes at most about
    1.5 s of CPU time, after which the answers count as different.

    Examples:
        >>> compare_answers(r"\frac{1}{2}\ \text{m}", "50 cm").reason
        'equal as number'
        >>> compare_answers(["3", "x = 2"], "x = 2").reason
        'part 1: missing'

    Args:
        gold: Gold answer, or its parts, all of which are required.
        answer: Answer without the response around it; to score a whole response, use
            `omibench.score`.
        choices: For multiple choice, the texts of A, B, C, ... or texts by label. Both answers
            are then read as letters or as the text of a choice.

    Returns:
        Whether they are equal, the reason, and the credit of each part.

    Raises:
        ArgumentError: If the gold answer is empty or an argument is not text.
    """
    if not isinstance(gold, Sequence):
        raise ArgumentError(f"gold: is {type(gold).__name__}; give text or a list of texts")
    entries = [gold] if isinstance(gold, str) else list(gold)
    _check_texts("gold", entries)
    _check_texts("answer", [answer])
    if not any(entry.strip() for entry in entries):
        raise ArgumentError("gold: is empty; give the gold answer or a list of its parts")
    with item_time():
        if choices is not None:
            return _compare_choices(", ".join(entries), answer, label_choices(choices))
        match = compare_answer(entries, answer)
    return AnswerComparison(
        match.tier is not None,
        f"equal as {match.tier.removeprefix('same ')}" if match.tier else _explain(match.parts),
        match.credit,
        match.parts,
    )


def label_choices(choices: Sequence[str] | Mapping[str, str]) -> list[Choice]:
    """Add labels to choices.

    Args:
        choices: Texts of A, B, C, ..., or texts by label.

    Raises:
        ArgumentError: If there are no choices, more than 26, or one is not text.
    """
    if isinstance(choices, str) or not isinstance(choices, Mapping | Sequence):
        raise ArgumentError(
            f"choices: is {type(choices).__name__}; give a list of texts, or texts by label"
        )
    if isinstance(choices, Mapping):
        texts = dict(choices)
    else:
        texts = dict(zip(ascii_uppercase, choices, strict=False))
    if not texts or len(texts) < len(choices):
        raise ArgumentError(f"choices: has {len(choices)} entries; give 1 to 26")
    _check_texts("choices", [*texts, *texts.values()])
    return [Choice(label=label, text=text) for label, text in texts.items()]


def check_choices(name: str, gold: str, choices: Sequence[Choice]) -> str:
    """Parse a gold answer as choice letters.

    Args:
        name: Name of the gold answer in error messages.
        gold: Letters, or the text of a choice.
        choices: Choices of the problem.

    Returns:
        Letters of the matching choices.

    Raises:
        ArgumentError: If it matches no choice.
    """
    letters = read_letters(gold, choices)
    if letters is None:
        raise ArgumentError(f"{name}: {gold!r} matches none of the choices")
    return letters[0]


def _compare_choices(gold: str, answer: str, choices: Sequence[Choice]) -> AnswerComparison:
    gold_letters = check_choices("gold", gold, choices)
    answer_letters = read_letters(answer, choices)
    if answer_letters is None:
        return AnswerComparison(False, "matches none of the choices", 0.0, ())
    match = compare_letters(gold_letters, answer_letters[0])
    reason = "equal as letters" if match.tier else _explain(match.parts)
    return AnswerComparison(match.tier is not None, reason, match.credit, match.parts)


def _explain(parts: Sequence[PartResult]) -> str:
    """Return why answers differ: the first incorrect part."""
    wrong = next((part for part in parts if not part.verdict), None)
    if wrong is None:
        return "differs as a whole"
    return f"part {wrong.part}: {wrong.reason}" if wrong.part and len(parts) > 1 else wrong.reason


def _check_texts(name: str, values: Sequence[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise ArgumentError(f"{name}: is {value!r} ({type(value).__name__}); give text")


# Normal form of an answer: samples with equal normal forms give the same answer.

EXACT_DIGITS = 15
"""Decimal digits that a float represents exactly; a longer number is compared as text."""


def normalise_answer(
    answer: str, answer_type: AnswerType, choices: Sequence[Choice] | None = None
) -> str:
    r"""Return the normal form of an extracted answer, without a gold answer.

    For a choice, this is the sorted labels in the answer. For a number, with or without unit, it
    is the value in base units: 1/2, 0.50 and `\frac{1}{2}` are the same, and so are 50 cm and
    0.5 m; 1.5 and 1.6 differ, and so do 0.5 m and 0.5. Anything else is the text in one spelling
    of LaTeX and Unicode, without white space and with ordinary words in lower case; no digit,
    sign, symbol or order is dropped. A text longer than 4,000 characters only loses its white
    space.

    Args:
        answer: Answer extracted from a response.
        answer_type: `mcq` or `open`.
        choices: Choices of a multiple-choice problem.

    Returns:
        A text that is equal for equal answers; not meant for display.
    """
    if len(answer) > MAX_CHARS:
        return "".join(answer.split())
    if answer_type == "mcq":
        named = read_letters(answer, choices)
        return named[0] if named else squash(answer) or answer
    return _normalise_number(answer) or squash(fold_words(tidy(answer))) or answer


def _normalise_number(text: str) -> str | None:
    """Return the value of a number in base units with its unit; None if not an exact number."""
    measured = quantity(text) if sum(map(str.isdigit, text)) <= EXACT_DIGITS else None
    if measured is None or measured.error is not None:
        return None
    factor, dimensions = measured.unit or (1.0, ())
    unit = "·".join(f"{name}^{power}" for name, power in dimensions)
    percent = "%" if measured.percent else ""
    return f"{measured.value * factor + 0.0:.{EXACT_DIGITS}g} {unit}{percent}".strip()
