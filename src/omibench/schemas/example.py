"""Example: a solved problem shown before another is asked, one row of examples.jsonl.

It is the only file read by infer that contains answers, and only under settings that show
examples (design, section 6).
"""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import Noun, Question

Take = Literal["sampled", "window"]
"""Selection of examples from a dataset: drawn once and set aside, or the first of each subset."""


class Example(Noun):
    """A question with its answer, and its solution unless a simulated model wrote it."""

    take: Take
    """Settings that can show it. Those that are `sampled` are not asked under these settings."""
    question: Question
    answer: list[str]
    solution: str | None = None

    @property
    def id(self) -> str:
        """Id of the problem."""
        return self.question.id


def are_siblings(first: Question, second: Question) -> bool:
    """Return whether two are one problem, share a group, or show the same picture."""
    if first.id == second.id or (first.group and first.group == second.group):
        return True
    pictures = {figure.sha256 or figure.file for figure in first.images}
    return any((figure.sha256 or figure.file) in pictures for figure in second.images)
