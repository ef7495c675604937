"""The files of cells, read model by model; what has not changed since is not read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.index import FileStamp, Index, name_part, stamp_file
from omibench.params.cell import Cell
from omibench.schemas.cells.files import read_cell

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class CellRows:
    """The rows of some cells.

    Attributes:
        frames: One table a model.
        errors: What is said of cells that cannot be read.
    """

    frames: Sequence[pl.DataFrame]
    errors: Mapping[Cell, str] = field(default_factory=dict)


class CellReader:
    """Reads files of cells, and remembers those of each model until one of them changes."""

    def __init__(self, index: Index | None = None) -> None:
        """Read from files alone, or from an index where it has them.

        Args:
            index: The index of the run.
        """
        self._index = index
        self._parts: dict[tuple[Path, str], tuple[str, CellRows]] = {}

    def read(
        self, folder: Path, cells: Iterable[Cell], columns: Sequence[str], types: pl.Schema
    ) -> CellRows:
        """Read columns of the files of cells, behind `model` and `setting`.

        Args:
            folder: That of the stage.
            cells: Those of a model stand together.
            columns: Which columns.
            types: Those of all columns.

        Returns:
            Their rows; a cell whose file is not there, or cannot be read, is in `errors`.
        """
        frames: list[pl.DataFrame] = []
        errors: dict[Cell, str] = {}
        for model, group in groupby(cells, key=lambda cell: cell.model):
            rows = self._read_model(folder, model, list(group), columns, types)
            frames += rows.frames
            errors |= rows.errors
        return CellRows(frames, errors)

    def list_parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """What was read without an error: the name of each part in an index, and its rows."""
        for name, rows in self._parts.values():
            if rows.frames and not rows.errors:
                yield name, rows.frames[0]

    def _read_model(
        self, folder: Path, model: str, cells: list[Cell], columns: Sequence[str], types: pl.Schema
    ) -> CellRows:
        name = name_part(folder.name, stamp_cells(folder, cells), columns)
        remembered = self._parts.get((folder, model))
        if remembered is not None and remembered[0] == name:
            return remembered[1]
        frame = self._index.read(name) if self._index else None
        rows = CellRows([frame]) if frame is not None else _read(folder, cells, columns, types)
        self._parts[folder, model] = (name, rows)
        return rows


def locate_cell(folder: Path, cell: Cell) -> Path:
    """The file of a cell in the folder of a stage."""
    return folder / cell.model / f"{cell.setting}.parquet"


def stamp_cells(folder: Path, cells: Sequence[Cell]) -> list[FileStamp]:
    """The files of cells as they are now; one that is not there has no size."""
    stamps = []
    for path in (locate_cell(folder, cell) for cell in cells):
        try:
            stamps.append(stamp_file(path))
        except MissingInputError:
            stamps.append(FileStamp(str(path), 0, 0))
    return stamps


def _read(
    folder: Path, cells: Sequence[Cell], columns: Sequence[str], types: pl.Schema
) -> CellRows:
    import polars as pl

    frames: list[pl.DataFrame] = []
    errors: dict[Cell, str] = {}
    for cell in cells:
        try:
            frame = read_cell(locate_cell(folder, cell), columns)
        except (FileFormatError, MissingInputError) as error:
            errors[cell] = str(error)
            continue
        names = pl.lit(cell.model).alias("model"), pl.lit(cell.setting).alias("setting")
        frames.append(frame.select(*names, *columns).cast(types))
    return CellRows([pl.concat(frames)] if frames else [], errors)
