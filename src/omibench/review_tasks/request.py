"""Input of `omibench review assign`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from omibench.params.study import Study
from omibench.review.settle import ReviewRule
from omibench.schemas.review import ReviewDecision, ReviewTask

DRAWS: Final = {"steps": 100, "disagreement": 100, "rating": 200}
"""The default number of responses of each model for review (OMIBench, B.2, C.3 and J)."""


@dataclass(frozen=True, kw_only=True)
class AssignOptions:
    """The user's options for new tasks.

    Attributes:
        only: Names of the annotators; all if empty.
        limit: The maximum number of new tasks; None for all.
        seed: Seed of draws; `study.seed` if None.
        problems: The file of problems, instead of the study's latest.
        photographs: The folder of photographs.
        draw: The number of responses of each model, instead of `DRAWS`.
        models: Restrict responses to these models; None for all.
        settings: Restrict responses to these settings; None for all.
    """

    only: Collection[str] = ()
    limit: int | None = None
    seed: int | None = None
    problems: Path | None = None
    photographs: Path | None = None
    draw: int | None = None
    models: Collection[str] | None = None
    settings: Collection[str] | None = None


@dataclass(frozen=True)
class TaskRequest(AssignOptions):
    """The request for tasks of one kind.

    Attributes:
        kind: The name of the kind.
        study: The study.
        results: The folder of its results.
        scratch: A folder for generated page images.
        present: Existing tasks.
        decisions: Existing decisions.
    """

    kind: str
    study: Study
    results: Path
    scratch: Path
    present: Sequence[ReviewTask] = ()
    decisions: Sequence[ReviewDecision] = ()

    @property
    def draw_seed(self) -> int:
        """The seed of draws."""
        return self.study.study.seed if self.seed is None else self.seed

    @property
    def per_model(self) -> int:
        """The number of responses to draw from each model."""
        return DRAWS[self.kind] if self.draw is None else self.draw

    @property
    def rule(self) -> ReviewRule:
        """The rule for settling tasks."""
        return ReviewRule(self.study.review.reviewers, tuple(self.study.review.kinds))

    def list_present_subjects(self) -> set[str]:
        """Return the subjects of the kind's existing tasks: their ids without the kind."""
        return {
            task.id.removeprefix(f"{self.kind}:")
            for task in self.present
            if task.kind == self.kind and task.of is None
        }

    def choose(self, subjects: Iterable[str]) -> set[str]:
        """Choose subjects: all with an existing task, and new ones up to the limit.

        Args:
            subjects: All candidate subjects. New ones are chosen by seed and id only.
        """
        present = self.list_present_subjects()
        every = list(subjects)
        new = sorted((s for s in every if s not in present), key=self._rank)
        return {s for s in every if s in present} | set(new[: self.limit])

    def _rank(self, subject: str) -> str:
        text = f"{self.draw_seed}\0{self.kind}\0{subject}"
        return hashlib.sha256(text.encode()).hexdigest()
