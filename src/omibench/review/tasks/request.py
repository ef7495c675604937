"""Input of `omibench review assign`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from omibench.errors import MissingInputError
from omibench.files.parquet import read_frame
from omibench.params.study import Study
from omibench.review.apply import apply, load_decisions, rejections
from omibench.review.outcomes import ReviewIndex, ReviewRule, apply_earlier_kinds
from omibench.review.sampling.strata import rank_name
from omibench.schemas.problem import Problem
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.tables import read_jsonl

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
        suspected_keys: New tasks only for problems whose key the report suspects (`items`).
        photographs: The folder of photographs.
        draw: The number of responses of each model, instead of `DRAWS`.
        models: Restrict responses to these models; None for all.
        settings: Restrict responses to these settings; None for all.
    """

    only: Collection[str] = ()
    limit: int | None = None
    seed: int | None = None
    problems: Path | None = None
    suspected_keys: bool = False
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

    def choose(self, subjects: Iterable[str], fresh: Collection[str] | None = None) -> set[str]:
        """Choose subjects: all with an existing task, and new ones up to the limit.

        Args:
            subjects: All candidate subjects. New ones are chosen by seed and id only.
            fresh: Restrict new ones to these; None for all.
        """
        present = self.list_present_subjects()
        every = list(subjects)
        new = sorted(
            (s for s in every if s not in present and (fresh is None or s in fresh)),
            key=partial(rank_name, self.draw_seed, self.kind),
        )
        return {s for s in every if s in present} | set(new[: self.limit])


# Problems of a study as changed by decisions so far.

STAGES = ("rationale", "filter", "ocr")
"""The stages that write problems, last first."""


def find_problems(results: Path) -> Path:
    """Return the problems of the last stage, `RESULTS/rationale/problems.jsonl` first.

    Raises:
        MissingInputError: No stage has written problems.
    """
    for stage in STAGES:
        path = results / stage / "problems.jsonl"
        if path.is_file():
            return path
    raise MissingInputError(
        f"{results}: problems.jsonl not found; run `omibench run`, or pass the file with --problems"
    )


def read_suspected_keys(results: Path) -> set[str]:
    """Return the ids of the problems whose key the report suspects.

    Args:
        results: The folder of results, analysed.

    Raises:
        MissingInputError: There is no report, or the study has too few models for its table.
        FileFormatError: Its table is invalid.
    """
    path = results / "analyze" / "tables" / "items.parquet"
    if not path.is_file():
        raise MissingInputError(
            f"{path} not found, so no key is suspected; run `omibench run` with at least three "
            "models first"
        )
    rows = read_frame(path, columns=["id", "suspected_key"])
    return {name for name, key in rows.iter_rows() if name is not None and key is not None}


def read_current_problems(request: TaskRequest, path: Path) -> list[Problem]:
    """Return the problems that tasks of a kind are about.

    Args:
        request: The kind, the study, and the decisions so far.
        path: The file of problems.

    Returns:
        The remaining problems, as changed by `review.decisions` and the settled tasks of earlier
        kinds.

    Raises:
        FileFormatError: A file is invalid, or an edit does not fit its problem.
    """
    problems = read_jsonl(path, Problem)
    if request.study.review.decisions:
        ids = {problem.id for problem in problems}  # the file can list problems of later stages
        decisions = load_decisions(request.study.review.decisions)
        relevant = [decision for decision in decisions if decision.problem in ids]
        problems = apply(relevant, problems, partial(rejections, path))
    index = ReviewIndex(request.present, request.decisions)
    current = (apply_earlier_kinds(p, request.kind, index, request.rule) for p in problems)
    return [problem for problem in current if problem is not None]
