"""Fill the store with rationales and labels ahead of the job that writes them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from omibench.client.ask import strictly
from omibench.params.stage_params import RationaleStageParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.rationale.stage import write_rationales


def count_problems(problems: Path) -> int:
    """How many problems a file holds."""
    return len(read_jsonl(problems, Problem))


def fill_rationales(problems: Path, study: RationaleStageParams, shard: slice) -> int:
    """Do what the rationale stage does with one shard of problems; only the store keeps it.

    Returns how many problems it is. Raises as `write_rationales` does, and PassingError when
    requests failed in a way that may pass: what was answered is kept.
    """
    rows = read_jsonl(problems, Problem)[shard]
    # Beside the problems, where the paths of their figures are found.
    with TemporaryDirectory(prefix=".shard-", dir=problems.parent) as folder:
        part = problems.with_name(f"{Path(folder).name}.jsonl")
        try:
            write_jsonl(part, rows)
            with strictly():
                return write_rationales(part, Path(folder), study, whole=False)
        finally:
            part.unlink(missing_ok=True)
