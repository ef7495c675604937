"""`cutoffs.csv`: the share of participants below a score, by exam."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from omibench.errors import FileFormatError
from omibench.stages.analyze.inputs.checked_rows import read_checked_rows, warn_bad_lines

KEY: Final = "analyze.people_cutoffs"
REQUIRED: Final = ("year", "percentile", "score", "of")
"""The required columns; exam and simulated are optional."""


class Cutoff(BaseModel):
    """One published cut-off of an exam: `percentile` per cent scored less than `score` of `of`."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    exam: Annotated[str, Field(max_length=200)] = ""
    year: Annotated[int, Field(ge=1, le=9999)]
    percentile: Annotated[float, Field(gt=0, lt=100)]
    score: Annotated[float, Field(ge=0)]
    of: Annotated[float, Field(gt=0)]
    simulated: bool = False

    @model_validator(mode="after")
    def _check_score(self) -> Self:
        if self.score > self.of:
            raise ValueError(
                f"a score of {self.score:g} is more than the maximum of {self.of:g} points"
            )
        return self


def read_cutoffs(path: str | Path) -> Mapping[tuple[str, int], list[Cutoff]]:
    """Read cut-offs; unusable rows are listed in a warning.

    Args:
        path: CSV file with the columns exam, year, percentile, score, of.

    Returns:
        The cut-offs of each exam and year, in file order.

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: The file has another format, or no usable row.
    """
    entries, bad_lines = read_checked_rows(path, Cutoff, KEY, REQUIRED)
    if not entries:
        raise FileFormatError(f"{KEY}: {path}: no row is usable; {min(bad_lines)}")
    warn_bad_lines(path, KEY, bad_lines)
    by_exam: dict[tuple[str, int], list[Cutoff]] = {}
    for _, row in entries:
        by_exam.setdefault((row.exam, row.year), []).append(row)
    return by_exam
