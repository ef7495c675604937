"""Fill the store with what models say of problems ahead of the job that filters them."""

from __future__ import annotations

from pathlib import Path

from omibench.client.ask import strictly
from omibench.params.stage_params import FilterStageParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.judging import judge_problems
from omibench.stages.filter.stage import sift


def fill_filter(problems: Path, study: FilterStageParams, shard: slice) -> int:
    """Judge one shard of a file of problems as the filter stage does; only the store keeps it.

    Copies are looked for within the shard alone, so that a few may be asked about that the stage
    rejects unasked. Returns how many problems the shard has. Raises as `filter_problems` does, and
    PassingError when requests failed in a way that may pass: what was answered is kept.
    """
    rows = read_jsonl(problems, Problem)[shard]
    sound, _ = sift(rows, problems.parent, study.filter)
    with strictly():
        judge_problems(sound, problems.parent, study)
    return len(rows)
