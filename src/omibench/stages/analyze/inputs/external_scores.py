"""`external_scores.csv`: what models score on other benchmarks, as others report it."""

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
"""The columns that the file must have; source and simulated may be left out."""
Label = Annotated[str, Field(min_length=1, max_length=200)]


class ExternalScore(BaseModel):
    """One score of a model on another benchmark, on whatever scale its metric has."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    model: Label
    benchmark: Label
    metric: Label
    value: float
    source: Annotated[str, Field(max_length=2_000)] = ""
    """Where it is reported: a paper and table, an address."""
    simulated: bool = False
    """Whether it is invented."""


def read_external_scores(path: str | Path) -> list[ExternalScore]:
    """Read scores on other benchmarks; lines that cannot be used are named in a warning.

    Args:
        path: A CSV file with the columns model, benchmark, metric, value, source.

    Returns:
        The scores in the order of the file, one for each model, benchmark and metric.

    Raises:
        MissingInputError: The file is not there.
        FileFormatError: It is no such file, or no line of it can be used.
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
        raise FileFormatError(f"{KEY}: {path}: no line can be used; {min(bad_lines)}")
    warn_bad_lines(path, KEY, bad_lines)
    return usable
