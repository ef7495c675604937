"""Scoring of one or many responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import overload

from omibench.answers.compare import check_choices, label_choices
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.api.arguments import check_kind, takes_scorer
from omibench.errors import ArgumentError
from omibench.schemas.problem import Answer, AnswerType
from omibench.schemas.request import Response
from omibench.schemas.validation import suggest_name
from omibench.schemas.verdict import ScoredItem, Verdict

Gold = str | Sequence[str] | Answer
Choices = Sequence[str] | Mapping[str, str]


@overload
def score(  # type: ignore[overload-overlap]  # a text is also a sequence of texts
    response: str | Response,
    gold: Gold,
    *,
    scorer: str = "robust",
    choices: Choices | None = None,
    answer_type: AnswerType | None = None,
) -> Verdict: ...


@overload
def score(
    response: Sequence[str | Response],
    gold: Sequence[Gold],
    *,
    scorer: str = "robust",
    choices: Choices | None = None,
    answer_type: AnswerType | None = None,
) -> list[Verdict]: ...


@takes_scorer
def score(
    response: str | Response | Sequence[str | Response],
    gold: Gold | Sequence[Gold],
    *,
    scorer: str = "robust",
    choices: Choices | None = None,
    answer_type: AnswerType | None = None,
) -> Verdict | list[Verdict]:
    r"""Score a response, or a list of responses.

    Examples:
        >>> omibench.score(r"So it is \boxed{0.5 m}.", "50 cm").verdict
        1.0
        >>> verdicts = omibench.score(["The answer is (B).", "I cannot say."], ["B", "C"],
        ...                           choices=["1 N", "2 N", "3 N"])
        >>> [verdict.outcome for verdict in verdicts]
        ['scored', 'refused']

    Args:
        response: Text of a response, or a Response with its outcome and finish reason. A list or
            tuple is scored item by item.
        gold: Gold answer, its parts (all of which are required), or an Answer of a release,
            which includes its choices. For several responses, a list of the same length, or one
            Answer for all.
        scorer: Built in or from a plug-in.
        choices: For multiple choice, the texts of A, B, C, ... or texts by label, shared by all
            responses.
        answer_type: `mcq` or `open`; by default `mcq` if there are choices.

    Returns:
        The verdict: `verdict` in [0, 1], `credit` (the share of correct parts), `strict` (of
            `mathreal`: 1 if all parts are correct), `ratio` (OMIBench's eq. 6), `outcome`, the
            `extracted` answer and its `method`. For a list, a list in its order.

    Raises:
        ArgumentError: If an argument has the wrong type, lists differ in length, the scorer does
            not exist, or a gold answer matches none of the choices.
        PluginError: If the scorer of a plug-in failed.
    """
    check_kind("scorer", scorer, str, "give the name of one scorer")
    if scorer not in SCORERS:
        hint = suggest_name(scorer, SCORERS.names)
        raise ArgumentError(f"scorer: {scorer!r} is not a scorer{hint}")
    if isinstance(response, str | Response):
        return score_item(_make_item(response, gold, choices, answer_type), scorer)
    check_kind("response", response, Sequence, "give text, a Response, or a list of them")
    golds = _list_golds(gold, len(response))
    items = [
        _make_item(text, entry, choices, answer_type, place)
        for place, (text, entry) in enumerate(zip(response, golds, strict=True))
    ]
    return [score_item(item, scorer) for item in items]


def _list_golds(gold: object, count: int) -> Sequence[object]:
    """Return the gold answer of each response: one Answer can apply to all of them."""
    if isinstance(gold, Answer):
        return list(repeat(gold, count))
    if isinstance(gold, str) or not isinstance(gold, Sequence) or len(gold) != count:
        size = len(gold) if isinstance(gold, Sequence) and not isinstance(gold, str) else 1
        raise ArgumentError(
            f"gold: has {size} entries for {count} responses; give a list with one for each"
        )
    return gold


def _make_item(
    response: object,
    gold: object,
    choices: Choices | None,
    answer_type: AnswerType | None,
    place: int | None = None,
) -> ScoredItem:
    suffix = "" if place is None else f"[{place}]"
    if not isinstance(response, str | Response):
        raise ArgumentError(
            f"response{suffix}: is {type(response).__name__}; give text, or a Response"
        )
    labelled = None if choices is None else label_choices(choices)
    entries = _list_entries(gold, f"gold{suffix}")
    name = str(place or 0)
    if isinstance(gold, Answer):
        name, labelled = gold.id, labelled or gold.choices
        answer_type = answer_type or gold.answer_type
    if answer_type not in (None, "mcq", "open"):
        raise ArgumentError(f"answer_type: is {answer_type!r}; give 'mcq' or 'open'")
    kind = answer_type or ("mcq" if labelled else "open")
    if choices is not None and labelled and kind == "mcq":
        check_choices(f"gold{suffix}", ", ".join(entries), labelled)
    reply = Response(text=response) if isinstance(response, str) else response
    return ScoredItem(
        id=name,
        prediction=reply.text,
        gold=entries,
        answer_type=kind,
        choices=labelled,
        finish_reason=reply.finish_reason,
        outcome=reply.outcome,
        published_verdict=reply.published_verdict,
    )


def _list_entries(gold: object, name: str) -> list[str]:
    if isinstance(gold, Answer):
        return gold.answer
    entries = [gold] if isinstance(gold, str) else gold
    if not isinstance(entries, Sequence) or not all(isinstance(entry, str) for entry in entries):
        raise ArgumentError(
            f"{name}: is {type(gold).__name__}; give text, a list of texts, or an Answer of a "
            "release (`release.answers[id]`)"
        )
    if not any(entry.strip() for entry in entries):
        raise ArgumentError(f"{name}: is empty; give the gold answer or a list of its parts")
    return list(entries)
