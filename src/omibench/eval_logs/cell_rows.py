"""Input of a log: the responses and verdicts of one cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from omibench.errors import FileFormatError
from omibench.params.cell import Cell
from omibench.results.study_files import StudyFiles

Values = dict[str, Any]


@dataclass(frozen=True)
class CellRows:
    """Responses and verdicts of one cell.

    Attributes:
        cell: The cell.
        responses: One row per response, by problem and sample.
        verdicts: One row per verdict, with `counts`; empty if the cell is not scored yet.
        aggregate: How the setting chose the sample that counts: `first`, `majority`, ...; `mean`
            if every sample counts.
        written: Time at which the responses were written, in UTC.
    """

    cell: Cell
    responses: pl.DataFrame
    verdicts: pl.DataFrame
    aggregate: str
    written: datetime

    @property
    def simulated_responses(self) -> int:
        """Number of responses by a simulated model."""
        return int(self.responses["simulated"].sum())

    @property
    def simulated_verdicts(self) -> int:
        """Number of verdicts on simulated responses or by a simulated judge."""
        return int(self.verdicts["simulated"].sum())

    def join_rows(self) -> Iterator[tuple[Values, list[Values]]]:
        """Yield each response with its verdicts in the order of scorers."""
        by_sample: dict[tuple[str, int], list[Values]] = {}
        for verdict in self.verdicts.iter_rows(named=True):
            by_sample.setdefault((verdict["id"], verdict["index"]), []).append(verdict)
        for response in self.responses.iter_rows(named=True):
            yield response, by_sample.get((response["id"], response["index"]), [])


def read_cell_rows(files: StudyFiles, cell: Cell) -> CellRows:
    """Read the responses and verdicts of one cell.

    Args:
        files: The study.
        cell: The cell.

    Raises:
        MissingInputError: If the study has no such cell; lists the existing ones.
        FileFormatError: If a file cannot be read or the problem of a response is unknown.
        UntrustedError: If a file was edited or exchanged.
    """
    files.check_cell(cell)
    responses = files.read_responses(cell)
    path = files.locate("infer", cell)
    for problem in responses["id"].unique(maintain_order=True):
        if problem not in files.questions or problem not in files.answers:
            raise FileFormatError(
                f"{path}: the response to {problem[:80]!r} belongs to no problem of "
                f"{files.locate('freeze')}; run this cell again"
            )
    # A cell that is still being scored gets a log without scores.
    verdicts = files.read_verdicts(cell, responses) if files.is_scored(cell) else files.no_verdicts
    return CellRows(
        cell=cell,
        responses=responses,
        verdicts=verdicts.sort("id", "index", "rules"),
        aggregate=files.find_aggregate(cell),
        written=datetime.fromtimestamp(path.stat().st_mtime, UTC),
    )
