"""Reading of cell files by model; unchanged files are not read again."""

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
        frames: One table per model.
        errors: Errors of unreadable cells.
    """

    frames: Sequence[pl.DataFrame]
    errors: Mapping[Cell, str] = field(default_factory=dict)


class CellReader:
    """Reads cell files, and caches those of each model until one changes."""

    def __init__(self, index: Index | None = None) -> None:
        """Read from files, or from an index if it has them.

        Args:
            index: The index of the run.
        """
        self._index = index
        self._parts: dict[tuple[Path, str], tuple[str, CellRows]] = {}

    def read(
        self, folder: Path, cells: Iterable[Cell], columns: Sequence[str], types: pl.Schema
    ) -> CellRows:
        """Read columns of cell files, after `model` and `setting`.

        Args:
            folder: The folder of the stage.
            cells: The cells; those of a model are adjacent.
            columns: The columns.
            types: The types of all columns.

        Returns:
            Their rows; missing or unreadable files are in `errors`.
        """
        frames: list[pl.DataFrame] = []
        errors: dict[Cell, str] = {}
        for model, group in groupby(cells, key=lambda cell: cell.model):
            rows = self._read_model(folder, model, list(group), columns, types)
            frames += rows.frames
            errors |= rows.errors
        return CellRows(frames, errors)

    def list_parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Return what was read without an error: the name of each index part, and its rows."""
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
    """Return the file of a cell in the folder of a stage."""
    return folder / cell.model / f"{cell.setting}.parquet"


def stamp_cells(folder: Path, cells: Sequence[Cell]) -> list[FileStamp]:
    """Return the current state of cell files; missing ones have no size."""
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
