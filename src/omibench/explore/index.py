"""Index of a large run: data of its files for fast starts, and its texts in lower case.

The index is disposable. The name of each part depends on the cell files that it was made from, so
that outdated parts are not found. It is in a user folder, never in the results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.outputs import replace_atomically
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles
from omibench.schemas.cells import read_cell

INDEX_FROM: Final = 300_000
"""The number of responses from which a run is indexed; smaller runs are fast without."""
VERSION: Final = 1
"""Version of the file contents."""
_SUFFIX: Final = ".arrow"


class FileStamp(NamedTuple):
    """The state of a file when it was read."""

    path: str
    mtime_ns: int
    size: int


def name_part(kind: str, stamps: Sequence[FileStamp], columns: Sequence[str] = ()) -> str:
    """Return the name of the index part for some files."""
    document = json.dumps([VERSION, kind, list(columns), [list(stamp) for stamp in stamps]])
    return f"{kind}-{hashlib.sha256(document.encode()).hexdigest()[:32]}"


class Index:
    """A folder of tables, each written atomically."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, which may be missing.

        Args:
            folder: A folder that only the user can write.
        """
        self.folder = folder

    def find(self, name: str) -> Path | None:
        """Return the file of a part, or None."""
        path = self.folder / f"{name}{_SUFFIX}"
        return path if path.is_file() else None

    def read(self, name: str) -> pl.DataFrame | None:
        """Return a part, or None if missing or unreadable."""
        path = self.find(name)
        if path is None:
            return None
        try:
            return pl.read_ipc(path)
        except (pl.exceptions.PolarsError, OSError):
            return None

    def write(self, name: str, frame: pl.DataFrame, *, is_packed: bool = False) -> None:
        """Write a part.

        Args:
            name: Its name.
            frame: Its rows.
            is_packed: Whether to optimize for size on disk rather than speed.

        Raises:
            OSError: The folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replace_atomically(self.folder / f"{name}{_SUFFIX}") as partial:
            frame.write_ipc(partial, compression="lz4" if is_packed else "uncompressed")

    def keep(self, names: Collection[str]) -> None:
        """Delete all other parts."""
        for path in self.folder.glob(f"*{_SUFFIX}"):
            if path.stem not in names:
                path.unlink(missing_ok=True)

    def measure(self) -> int:
        """Return its size in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob(f"*{_SUFFIX}"))


def locate_index(results: Path) -> Path:
    """Return the index folder of a results folder, in the user's cache."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(results.resolve()).encode()).hexdigest()[:16]
    return user_cache_path("omibench") / "explore" / name


# Reading of cell files by model; unchanged files are not read again.

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
        self._parts: dict[tuple[str, str, tuple[str, ...]], tuple[str, CellRows]] = {}

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
        place = stage, model, tuple(columns)
        remembered = self._parts.get(place)
        if remembered is not None and remembered[0] == name:
            return remembered[1]
        frame = self._index.read(name) if self._index else None
        rows = CellRows([frame]) if frame is not None else _read(paths, columns, types, load)
        self._parts[place] = (name, rows)
        return rows


def stamp_cells(paths: Iterable[Path]) -> list[FileStamp]:
    """Return the current state of files; missing ones have no size."""
    stamps = []
    for path in paths:
        try:
            status = path.stat()
            stamps.append(FileStamp(str(path), status.st_mtime_ns, status.st_size))
        except OSError:
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
