"""`external_scores.csv`: reported scores of models on other benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from omibench.errors import FileFormatError
from omibench.stages.analyze.inputs.checked_rows import (
    BadLine,
    cite,
    read_checked_rows,
    warn_bad_lines,
)

KEY: Final = "analyze.external_scores"
REQUIRED: Final = ("model", "benchmark", "metric", "value")
"""The required columns; source and simulated are optional."""
Label = Annotated[str, Field(min_length=1, max_length=200)]


class ExternalScore(BaseModel):
    """One score of a model on another benchmark, on the scale of its metric."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    model: Label
    benchmark: Label
    metric: Label
    value: float
    source: Annotated[str, Field(max_length=2_000)] = ""
    """Its source: a paper and table, or a URL."""
    simulated: bool = False
    """Whether it is invented."""


def read_external_scores(path: str | Path) -> list[ExternalScore]:
    """Read scores on other benchmarks; unusable rows are listed in a warning.

    Args:
        path: CSV file with the columns model, benchmark, metric, value, source.

    Returns:
        The scores in file order, one per model, benchmark and metric.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file has another format, or no usable row.
    """
    entries, bad_lines = read_checked_rows(path, ExternalScore, KEY, REQUIRED)
    usable: list[ExternalScore] = []
    lines: dict[tuple[str, str, str], int] = {}
    for line, row in entries:
        first_line = lines.setdefault((row.model, row.benchmark, row.metric), line)
        if first_line == line:
            usable.append(row)
        else:
            reason = f"{cite(row.model)} has a value of this metric on line {first_line}"
            bad_lines.append(BadLine(line, "model", reason))
    if not usable:
        raise FileFormatError(f"{KEY}: {path}: no row is usable; {min(bad_lines)}")
    warn_bad_lines(path, KEY, bad_lines)
    return usable
