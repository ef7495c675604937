"""Requests that complete the store before the job that filters the problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.models.client.ask import strictly
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.checks import judge_problems
from omibench.stages.filter.stage import sift

if TYPE_CHECKING:
    from omibench.params.study import Study


def fill_filter(problems: Path, study: Study, shard: slice) -> int:
    """Judge one shard of a file of problems as the filter stage does; only the store keeps the
    result.

    Duplicates are searched only within the shard, so that a few problems may be judged that the
    stage rejects without requests. Returns the number of problems in the shard. Raises as
    `filter_problems`, and PassingError if requests failed temporarily; completed replies are kept.
    """
    rows = read_jsonl(problems, Problem)[shard]
    sound, _ = sift(rows, problems.parent, study.filter)
    with strictly():
        judge_problems(sound, problems.parent, study)
    return len(rows)
