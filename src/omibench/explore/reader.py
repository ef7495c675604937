"""Reading of cell files by model; unchanged files are not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import polars as pl

from omibench.errors import FileFormatError, MissingInputError
from omibench.explore.index import FileStamp, Index, name_part, stamp_file
from omibench.params.cell import Cell
from omibench.results.study_files import StudyFiles
from omibench.schemas.cells.files import read_cell

Load = Callable[[Path, Sequence[str]], "pl.DataFrame"]
_CELL = ("model", "setting")


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
        self._parts: dict[tuple[str, str], tuple[str, CellRows]] = {}

    def read(
        self,
        files: StudyFiles,
        stage: str,
        cells: Iterable[Cell],
        types: pl.Schema,
        load: Load = read_cell,
    ) -> CellRows:
        """Read columns of the files of cells.

        Args:
            files: The study.
            stage: The stage that wrote the files.
            cells: The cells; those of a model are adjacent.
            types: The columns with their types, after `model` and `setting`.
            load: Reads the columns of one file.

        Returns:
            Their rows; missing or unreadable files are in `errors`.
        """
        frames: list[pl.DataFrame] = []
        errors: dict[Cell, str] = {}
        for model, group in groupby(cells, key=lambda cell: cell.model):
            paths = {cell: files.locate(stage, cell) for cell in group}
            rows = self._read_model(stage, model, paths, types, load)
            frames += rows.frames
            errors |= rows.errors
        return CellRows(frames, errors)

    def list_parts(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Return what was read without an error: the name of each index part, and its rows."""
        for name, rows in self._parts.values():
            if rows.frames and not rows.errors:
                yield name, rows.frames[0]

    def _read_model(
        self, stage: str, model: str, paths: Mapping[Cell, Path], types: pl.Schema, load: Load
    ) -> CellRows:
        columns = [name for name in types if name not in _CELL]
        name = name_part(stage, stamp_cells(paths.values()), columns)
        remembered = self._parts.get((stage, model))
        if remembered is not None and remembered[0] == name:
            return remembered[1]
        frame = self._index.read(name) if self._index else None
        rows = CellRows([frame]) if frame is not None else _read(paths, columns, types, load)
        self._parts[stage, model] = (name, rows)
        return rows


def stamp_cells(paths: Iterable[Path]) -> list[FileStamp]:
    """Return the current state of files; missing ones have no size."""
    stamps = []
    for path in paths:
        try:
            stamps.append(stamp_file(path))
        except MissingInputError:
            stamps.append(FileStamp(str(path), 0, 0))
    return stamps


def _read(
    paths: Mapping[Cell, Path], columns: Sequence[str], types: pl.Schema, load: Load
) -> CellRows:
    frames: list[pl.DataFrame] = []
    errors: dict[Cell, str] = {}
    for cell, path in paths.items():
        try:
            frame = load(path, columns)
        except (FileFormatError, MissingInputError) as error:
            errors[cell] = str(error)
            continue
        names = pl.lit(cell.model).alias("model"), pl.lit(cell.setting).alias("setting")
        frames.append(frame.select(*names, *columns).cast(types))
    return CellRows([pl.concat(frames)] if frames else [], errors)
