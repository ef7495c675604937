"""The filter stage: problems in; survivors, rejects and what models said out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from omibench.filter.candidate import Candidate, Case, Kept
from omibench.filter.judging import REASONS as JUDGED_REASONS
from omibench.filter.judging import judge_problems
from omibench.filter.reasons import REASONS
from omibench.images import rebase_images
from omibench.params.filter import FilterParams
from omibench.problem import Problem
from omibench.rejects import FilterJudgement, Reject
from omibench.study import Study
from omibench.tables import read_jsonl, write_jsonl, write_parquet

ALL_REASONS = tuple(dict.fromkeys([*REASONS, *JUDGED_REASONS.values()]))
"""Every reason by name: those that are computed, then those for which models are asked."""


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


def filter_problems(problems: Path, out: Path, study: Study) -> FilterSummary:
    """Filter the file `problems` into `out`: problems.jsonl, rejects.parquet, judgements.parquet.

    Order is kept. Raises MissingInputError or FileFormatError for a bad file or picture, and
    ModelError when a model that `filter` names does not answer; nothing is written then, and what
    was answered is in the store.
    """
    folder = problems.parent
    sound, rejects = sift(read_jsonl(problems, Problem), folder, study.filter)
    kept, rejected, told = judge_problems(sound, folder, study)
    rejects += [_reject(*one) for one in rejected]
    write_jsonl(out / "problems.jsonl", (rebase_images(p, folder, out) for p in kept))
    write_parquet(out / "rejects.parquet", rejects, Reject)
    write_parquet(out / "judgements.parquet", told, FilterJudgement)
    counts = Counter(reject.reason for reject in rejects)
    return FilterSummary(len(kept), {reason: counts[reason] for reason in ALL_REASONS})


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
