"""Inputs of a log: the files of one cell and its frozen dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.cell import Cell
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    read_json,
    read_jsonl,
    read_parquet,
)

if TYPE_CHECKING:
    import polars as pl

Values = dict[str, Any]
_NAMED_CELLS: Final = 9
"""Maximum number of cells listed in an error message."""


@dataclass(frozen=True)
class FrozenItems:
    """Frozen dataset of a study.

    Attributes:
        folder: Output of `freeze`; paths of pictures are relative to it.
        manifest: Metadata of the dataset.
        questions: Model-visible part of each problem by id.
        answers: Gold answers by id.
    """

    folder: Path
    manifest: FrozenManifest
    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class CellFiles:
    """Responses and verdicts of one cell.

    Attributes:
        cell: The cell.
        responses: One row per response, by problem and sample.
        verdicts: One row per verdict; empty if the cell is not scored yet.
        written: Time at which the responses were written, in UTC.
    """

    cell: Cell
    responses: pl.DataFrame
    verdicts: pl.DataFrame
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


def read_frozen_items(folder: Path) -> FrozenItems:
    """Read a frozen dataset.

    Args:
        folder: Output of `freeze`.

    Raises:
        MissingInputError: If a file is missing.
        FileFormatError: If a file has other content.
    """
    return FrozenItems(
        folder=folder,
        manifest=read_json(folder / "manifest.json", FrozenManifest),
        questions={q.id: q for q in read_jsonl(folder / "questions.jsonl", Question)},
        answers={a.id: a for a in read_jsonl(folder / "answers.jsonl", Answer)},
    )


def read_cell_files(results: Path, cell: Cell, items: FrozenItems) -> CellFiles:
    """Read the files of one cell.

    Args:
        results: Folder with `infer/` and `score/`.
        cell: The cell.
        items: Frozen dataset of the cell.

    Raises:
        MissingInputError: If the study has no such cell; lists the existing ones.
        FileFormatError: If a file cannot be read or the problem of a response is unknown.
    """
    name = f"{cell.model}/{cell.setting}.parquet"
    file = results / "infer" / name
    if not file.is_file():
        cells = [f"{asked.model}/{asked.setting}" for asked in list_asked_cells(results)]
        more = [f"and {len(cells) - _NAMED_CELLS} more"] if len(cells) > _NAMED_CELLS else []
        raise MissingInputError(
            f"{cell.model}/{cell.setting}: {results} has no such cell; it has "
            f"{', '.join([*cells[:_NAMED_CELLS], *more])}"
        )
    responses = read_parquet(file, ResponseRow)
    for problem in responses["id"].unique(maintain_order=True):
        if problem not in items.questions or problem not in items.answers:
            raise FileFormatError(
                f"{file}: the response to {problem[:80]!r} belongs to no problem of "
                f"{items.folder}; run this cell again"
            )
    return CellFiles(
        cell=cell,
        responses=responses,
        verdicts=_read_verdicts(results / "score" / name),
        written=datetime.fromtimestamp(file.stat().st_mtime, UTC),
    )


def list_asked_cells(results: Path) -> list[Cell]:
    """Return the cells of a study that have responses, in alphabetical order.

    Args:
        results: Folder with `infer/`.
    """
    paths = sorted((results / "infer").glob("*/*.parquet"))
    visible = (p for p in paths if not p.name.startswith(".") and not p.parent.name.startswith("."))
    return [Cell(path.parent.name, path.stem) for path in visible]


def _read_verdicts(path: Path) -> pl.DataFrame:
    import polars as pl

    if path.is_file():
        return read_parquet(path, VerdictRow).sort("id", "index", "rules")
    # A cell that is still being scored gets a log without scores.
    types = {"index": pl.Int64(), "verdict": pl.Float64(), "simulated": pl.Boolean()}
    return pl.DataFrame(
        schema={name: types.get(name, pl.String()) for name in VerdictRow.model_fields}
    )
