"""Requests that complete the store before the job that writes rationales and labels."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from omibench.models.client.ask import strictly
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.rationale.stage import write_rationales

if TYPE_CHECKING:
    from omibench.params.study import Study


def count_problems(problems: Path) -> int:
    """Return the number of problems in a file."""
    return len(read_jsonl(problems, Problem))


def fill_rationales(problems: Path, study: Study, shard: slice) -> int:
    """Run the rationale stage on one shard of problems; only the store keeps the result.

    Returns the number of problems. Raises as `write_rationales`, and PassingError if requests
    failed temporarily; completed replies are kept.
    """
    rows = read_jsonl(problems, Problem)[shard]
    # Next to the problems, because figure paths are relative to them.
    with TemporaryDirectory(prefix=".shard-", dir=problems.parent) as folder:
        part = problems.with_name(f"{Path(folder).name}.jsonl")
        try:
            write_jsonl(part, rows)
            with strictly():
                return write_rationales(part, Path(folder), study, whole=False)
        finally:
            part.unlink(missing_ok=True)
