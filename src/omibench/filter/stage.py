"""The filter stage: problems in, survivors and rejects out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from omibench.filter.candidate import Candidate, Case, Kept
from omibench.filter.reasons import REASONS
from omibench.filter_params import FilterParams
from omibench.images import rebase_images
from omibench.problem import Problem
from omibench.tables import Reject, read_jsonl, write_jsonl, write_parquet


@dataclass(frozen=True)
class FilterSummary:
    """How many problems were kept, and how many were rejected for each reason."""

    kept: int
    rejected: dict[str, int]

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.rejected.items() if count)
        return f"{self.kept} problems kept, {sum(self.rejected.values())} rejected" + (
            f": {reasons}" if reasons else ""
        )


def filter_problems(problems: Path, out: Path, params: FilterParams) -> FilterSummary:
    """Filter the file `problems` into `out`/problems.jsonl and `out`/rejects.parquet.

    Order is kept. Raises MissingInputError or FileFormatError for a bad file or picture.
    """
    kept, rejects = sift(read_jsonl(problems, Problem), problems.parent, params)
    write_jsonl(out / "problems.jsonl", (rebase_images(p, problems.parent, out) for p in kept))
    write_parquet(out / "rejects.parquet", rejects, Reject)
    counts = Counter(reject.reason for reject in rejects)
    return FilterSummary(len(kept), {reason: counts[reason] for reason in REASONS})


def sift(
    problems: Iterable[Problem], folder: Path, params: FilterParams
) -> tuple[list[Problem], list[Reject]]:
    """Split problems into those kept and those rejected; image paths are relative to `folder`.

    A duplicate is looked for among the problems kept so far, so the first sound copy survives.
    """
    kept = Kept()
    rejects: list[Reject] = []
    for problem in problems:
        candidate = Candidate(problem, folder)
        found = first_reason(Case(candidate, kept, params))
        if found:
            rejects.append(_reject(problem, *found))
        else:
            kept.add(candidate)
    return [candidate.problem for candidate in kept.all], rejects


def first_reason(case: Case) -> tuple[str, str] | None:
    """The name and evidence of the first reason that applies, or None for a sound problem."""
    for name, reason in REASONS.items():
        if evidence := reason(case):
            return name, evidence
    return None


def _reject(problem: Problem, reason: str, evidence: str) -> Reject:
    return Reject(
        id=problem.id,
        reason=reason,
        evidence=evidence,
        stage="filter",
        source=problem.source,
        number=problem.number,
        question=problem.question,
    )
