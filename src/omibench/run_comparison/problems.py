"""Comparison of the problems of two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from omibench.errors import ArgumentError
from omibench.run_comparison.report import LISTED, ItemComposition, SubjectCount
from omibench.run_comparison.run_files import RunFiles
from omibench.schemas.problem import Answer, Choice, Question


class ProblemChanges(NamedTuple):
    """Ids of common problems that differ, by type of difference."""

    common: frozenset[str]
    gold: frozenset[str]
    """Problems with a different gold answer."""
    data: frozenset[str]
    """Problems that are asked or scored differently: statement, pictures, choices."""
    edited: frozenset[str]
    """Problems whose model input differs."""


def compare_problems(a: RunFiles, b: RunFiles) -> ProblemChanges:
    """Find the common problems of two runs, and their differences.

    Raises:
        ArgumentError: The runs are about different datasets.
    """
    common = frozenset(a.answers.keys() & b.answers.keys())
    edited = frozenset(
        name for name in common if _view(a.questions.get(name)) != _view(b.questions.get(name))
    )
    names = (a.manifest.name, b.manifest.name)
    if not common or (names[0] != names[1] and edited == common):
        reason = "no problem" if common else "no problem's statement"
        raise ArgumentError(
            f"{a.folder} and {b.folder}: different datasets, {names[0]!r} and {names[1]!r}, which "
            f"share {reason}; compare two runs over the same problems"
        )
    scored = frozenset(
        name for name in common if _scored_view(a.answers[name]) != _scored_view(b.answers[name])
    )
    gold = frozenset(name for name in common if a.answers[name].answer != b.answers[name].answer)
    return ProblemChanges(common, gold, edited | scored, edited)


def describe_composition(a: RunFiles, b: RunFiles, changes: ProblemChanges) -> ItemComposition:
    """Count the common problems, and those of one run only."""
    only_a, only_b = a.answers.keys() - changes.common, b.answers.keys() - changes.common
    counts = [
        _count_subjects(a.answers, a.answers),
        _count_subjects(b.answers, b.answers),
        _count_subjects(a.answers, changes.common),
    ]
    return ItemComposition(
        common=len(changes.common),
        only_a=len(only_a),
        only_b=len(only_b),
        edited=len(changes.data),
        other_gold=len(changes.gold),
        only_a_ids=sorted(only_a)[:LISTED],
        only_b_ids=sorted(only_b)[:LISTED],
        edited_ids=sorted(changes.data)[:LISTED],
        other_gold_ids=sorted(changes.gold)[:LISTED],
        subjects=[
            SubjectCount(
                subject=subject, a=counts[0][subject], b=counts[1][subject],
                common=counts[2][subject],
            )
            for subject in sorted(counts[0].keys() | counts[1].keys())
        ],
    )  # fmt: skip


def _count_subjects(answers: Mapping[str, Answer], names: Collection[str]) -> Counter[str]:
    return Counter(answers[name].subject for name in names)


def _view(question: Question | None) -> tuple[str, list[str], list[Choice] | None] | None:
    """Return the model input of a problem."""
    if question is None:
        return None
    pictures = [figure.sha256 for figure in question.images]
    return question.question, pictures, question.choices


def _scored_view(answer: Answer) -> tuple[str, list[Choice] | None]:
    """Return the scorer's input from a problem, without gold answer."""
    return answer.answer_type, answer.choices
