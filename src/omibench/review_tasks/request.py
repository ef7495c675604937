"""What `omibench review assign` is asked for."""

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
"""Responses of each model that people read (OMIBench, B.2, C.3 and J)."""


@dataclass(frozen=True)
class TaskRequest:
    """Of what tasks are to be made.

    Attributes:
        kind: The name of the kind.
        study: The study.
        results: The folder of its results.
        present: The tasks that there are.
        decisions: The decisions that there are.
        limit: At most so many new tasks; all where it is None.
        seed: Of draws; `study.seed` where it is None.
        problems: The file of problems, in place of the last that the study has.
        photographs: The folder of photographs.
        draw: Responses of each model, in place of `DRAWS`.
        models: Whose responses; all where it is None.
        settings: Under which settings; all where it is None.
        scratch: A folder for pictures that are drawn.
    """

    kind: str
    study: Study
    results: Path
    scratch: Path
    present: Sequence[ReviewTask] = ()
    decisions: Sequence[ReviewDecision] = ()
    limit: int | None = None
    seed: int | None = None
    problems: Path | None = None
    photographs: Path | None = None
    draw: int | None = None
    models: Collection[str] | None = None
    settings: Collection[str] | None = None

    @property
    def draw_seed(self) -> int:
        """The seed of draws."""
        return self.study.study.seed if self.seed is None else self.seed

    @property
    def per_model(self) -> int:
        """How many responses of each model are drawn."""
        return DRAWS[self.kind] if self.draw is None else self.draw

    @property
    def rule(self) -> ReviewRule:
        """When a task is settled."""
        return ReviewRule(self.study.review.reviewers, tuple(self.study.review.kinds))

    def list_present_subjects(self) -> set[str]:
        """What the tasks of the kind that there are, are about: their ids without the kind."""
        return {
            task.id.removeprefix(f"{self.kind}:")
            for task in self.present
            if task.kind == self.kind and task.of is None
        }

    def choose(self, subjects: Iterable[str]) -> set[str]:
        """Choose what tasks are made of: all that have one, and new ones within the limit.

        Args:
            subjects: All ids in question. Which of those without a task are chosen depends on the
                seed and each id alone.
        """
        present = self.list_present_subjects()
        every = list(subjects)
        new = sorted((s for s in every if s not in present), key=self._rank)
        return {s for s in every if s in present} | set(new[: self.limit])

    def _rank(self, subject: str) -> str:
        text = f"{self.draw_seed}\0{self.kind}\0{subject}"
        return hashlib.sha256(text.encode()).hexdigest()
