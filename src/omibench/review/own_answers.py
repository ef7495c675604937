"""Own answers of reviewers, given before they saw the key, and their comparison with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from omibench.answers.extraction.letters import read_letters
from omibench.answers.scorers.robust import score
from omibench.results.statistics.intervals import wilson
from omibench.review.report import AgreementFigure
from omibench.schemas.problem import AnswerType, Choice
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.verdict import RIGHT, ScoredItem

FIELD: Final = "own answer"
COLUMNS: Final = (
    "person",
    "role",
    "task",
    "problem",
    "own_answer",
    "right",
    "seconds",
    "simulated",
)
"""Columns of the file of `omibench review export --own-answers`."""
_CHOICES: Final = TypeAdapter(list[Choice])


def compare_with_key(task: ReviewTask, answer: str) -> bool | None:
    """Return whether an answer is the official one, by the scorer `robust`.

    Args:
        task: A task with the problem.
        answer: The answer: letters of choices, or a final answer; empty for none.

    Returns:
        None if the task has no official answer, or it cannot be compared with it.
    """
    gold = task.content.get("answer")
    if not isinstance(gold, list) or not gold:
        return None
    try:
        choices = _CHOICES.validate_python(task.content.get("choices") or [])
    except ValidationError:
        return None
    return _compare(task.id, answer, tuple(map(str, gold)), tuple(choices))


@lru_cache(maxsize=4096)
def _compare(name: str, answer: str, gold: tuple[str, ...], choices: tuple[Choice, ...]) -> bool:
    kind: AnswerType = "mcq" if choices else "open"
    return score(make_person_item(name, answer, gold, kind, choices)).verdict >= RIGHT


def make_person_item(
    name: str,
    answer: str,
    gold: Sequence[str],
    answer_type: AnswerType,
    choices: Sequence[Choice] | None,
) -> ScoredItem:
    """Return a person's final answer in the form of a response for scorers.

    Args:
        name: Id of the problem, for messages.
        answer: The answer as typed; empty for none.
        gold: The official answer, part by part.
        answer_type: The type of the problem.
        choices: Its choices, if any.
    """
    is_mcq = bool(answer) and answer_type == "mcq"
    letters = read_letters(answer, choices) if is_mcq else None
    text = letters[0] if letters else answer
    is_boxed = r"\boxed" in text or text.count("{") != text.count("}")
    return ScoredItem(
        id=name,
        prediction=text if is_boxed or not text else rf"\boxed{{{text}}}",
        gold=list(gold),
        answer_type=answer_type,
        choices=list(choices) if choices else None,
        outcome="answered" if text else "empty",
    )


class OwnAnswer(NamedTuple):
    """The own answer of one decision, and whether it is the official one."""

    task: ReviewTask
    decision: ReviewDecision
    is_right: bool | None


def list_own_answers(
    tasks: Iterable[ReviewTask], decisions: Iterable[ReviewDecision]
) -> list[OwnAnswer]:
    """List the first own answer of each person to each task in its current form.

    Args:
        tasks: Tasks of every purpose.
        decisions: Decisions in any order.
    """
    by_id = {task.id: task for task in tasks}
    first: dict[tuple[str, str], OwnAnswer] = {}
    for decision in sorted(decisions, key=lambda d: (d.time, d.id)):
        task, answer = by_id.get(decision.task), decision.own_answer
        if task is None or answer is None or decision.content_hash != task.content_hash:
            continue
        row = OwnAnswer(task, decision, compare_with_key(task, answer))
        first.setdefault((task.id, decision.person), row)
    return list(first.values())


def list_rows(answers: Iterable[OwnAnswer]) -> list[dict[str, Any]]:
    """Return rows with `COLUMNS` by task and person; `right` is None without an official answer."""
    return [
        {
            "person": decision.person,
            "role": decision.role,
            "task": task.id,
            "problem": task.problem,
            "own_answer": decision.own_answer,
            "right": is_right,
            "seconds": decision.seconds,
            "simulated": decision.simulated,
        }
        for task, decision, is_right in sorted(
            answers, key=lambda row: (row.task.id, row.decision.person)
        )
    ]


def measure_own_answers(
    answers: Iterable[OwnAnswer], confidence: float = 0.95
) -> list[AgreementFigure]:
    """Return the share of own answers that are the official one, by kind; samples count too.

    An empty own answer (*I cannot answer it*) counts as not equal. The interval is Wilson's over
    tasks, each with the share of its readers.

    Args:
        answers: Own answers.
        confidence: Two-sided level of the intervals, in (0, 1).
    """
    kinds: dict[str, list[OwnAnswer]] = defaultdict(list)
    for row in answers:
        if row.is_right is not None:
            kinds[row.task.kind].append(row)
    figures = []
    for kind, rows in kinds.items():
        by_task: dict[str, list[bool]] = defaultdict(list)
        for row in rows:
            by_task[row.task.id].append(bool(row.is_right))
        total = sum(sum(marks) / len(marks) for marks in by_task.values())
        low, high = wilson(min(total, len(by_task)), len(by_task), confidence)
        figures.append(
            AgreementFigure(
                kind=kind,
                field=FIELD,
                measure="equal to the key",
                value=round(total / len(by_task), 6),
                low=round(low, 6),
                high=round(high, 6),
                tasks=len(by_task),
                people=len({row.decision.person for row in rows}),
                simulated=any(row.decision.simulated for row in rows),
                units=len(rows),
            )
        )
    return figures


def list_doubted_keys(answers: Iterable[OwnAnswer]) -> list[str]:
    """Return the tasks in which two or more people answered, and none as the key says.

    People who could not answer say nothing about the key.
    """
    by_task: dict[str, list[bool | None]] = defaultdict(list)
    for row in answers:
        if row.decision.own_answer:
            by_task[row.task.id].append(row.is_right)
    return [name for name, marks in by_task.items() if len(marks) > 1 and set(marks) == {False}]
