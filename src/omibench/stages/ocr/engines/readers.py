"""Readers of pages: stored readings of another engine, one JSON file per page, and local engines.

The process that reads a paper has no network access. Readings of mathpix or a model are requested
before it and stored in a folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from glyphtex.marks import Box
from omibench.errors import MissingInputError
from omibench.extras import require_extra
from omibench.params.plugins import PluginFile
from omibench.plugins.sources import SOURCES
from omibench.schemas.tables import read_typed_json
from omibench.stages.ocr.engines.engine import Engine, Pixels, Reading, quarter_turned
from omibench.stages.ocr.engines.registry import ENGINES
from omibench.stages.ocr.layout.regions import Region
from omibench.stages.ocr.layout.scans import Scanned, build_lines

if TYPE_CHECKING:
    import pymupdf


class ReadPage(BaseModel):
    """The reading of one page by another engine, whose picture was turned by `turn`.

    `figures` is None if the engine does not detect them.
    """

    engine: str
    width: float
    height: float
    lines: list[Reading]
    figures: list[tuple[float, float, float, float]] | None = None
    turn: Literal[0, 90, 180, 270] = 0
    """Degrees clockwise; width, height and all boxes refer to the turned picture."""
    incomplete: bool = False
    """Whether the reply lacks the text of a part of the page, or the position of a figure."""


def page_file(folder: Path, file: int, page: int) -> Path:
    """Return the path of the readings of a page of file number `file` of a source."""
    return folder / f"{file}-p{page:04d}.json"


def read_recorded(folder: Path, file: int, page: pymupdf.Page, number: int) -> Scanned:
    """Return the stored lines of a page in its own coordinates; empty without readings.

    Args:
        folder: Folder of readings.
        file: Number of the file of the source.
        page: The page, which is turned like its reading.
        number: Page number, from 1.
    """
    path = page_file(folder, file, number)
    if not path.is_file():
        return Scanned([], "none", regions=[])
    read = read_typed_json(path, ReadPage)
    if read.turn:
        page.set_rotation(read.turn)
        page.remove_rotation()
    scale = page.rect.width / max(read.width, 1.0)
    readings = [reading._replace(whole=True) for reading in read.lines]
    lines = build_lines(readings, number, scale, read.engine)
    regions = None
    if read.figures is not None:
        boxes = [Box(*(value * scale for value in figure)) for figure in read.figures]
        regions = [Region(box, raster=True) for box in boxes]
    codes = ("page_incomplete",) if read.incomplete else ()
    return Scanned(lines, read.engine, float(read.turn), regions, codes)


# An engine wrapper that reads each picture once, however often a paper is read.


class _KeptPicture(BaseModel):
    """The cached answers for one picture; None for missing ones."""

    turn: int | None = None
    readings: list[Reading] | None = None


class RememberingEngine:
    """Wraps another engine and caches its answers by the pixels of the picture."""

    def __init__(self, name: str, open_engine: Callable[[], Engine], folder: Path) -> None:
        self.name = name
        self._open, self._folder = open_engine, folder
        self._engine: Engine | None = None

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Turn the picture upright by quarters; return it and the degrees clockwise."""
        path = self._file(picture)
        kept = _read_kept(path)
        if kept.turn is not None:
            return quarter_turned(picture, kept.turn), kept.turn
        turned, turn = self._reader().upright(picture)
        self._keep(path, kept.model_copy(update={"turn": turn}))
        return turned, turn

    def read(self, picture: Pixels) -> list[Reading]:
        """Return every line of text in an upright picture."""
        path = self._file(picture)
        kept = _read_kept(path)
        if kept.readings is not None:
            return kept.readings
        readings = self._reader().read(picture)
        self._keep(path, kept.model_copy(update={"readings": readings}))
        return readings

    def _reader(self) -> Engine:
        if self._engine is None:
            self._engine = self._open()
        return self._engine

    def _file(self, picture: Pixels) -> Path:
        digest = hashlib.sha256(repr(picture.shape).encode())
        digest.update(picture.tobytes())
        return self._folder / f"{digest.hexdigest()}.json"

    def _keep(self, path: Path, kept: _KeptPicture) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path.write_text(kept.model_dump_json(), "utf-8")


def _read_kept(path: Path) -> _KeptPicture:
    # A file written by us: the reader of untrusted files needs more memory than this process has.
    return _KeptPicture.model_validate_json(path.read_bytes()) if path.is_file() else _KeptPicture()


# Check for and open local engines, and what opens papers.


def open_engine(name: str) -> Engine:
    """Open a local engine.

    Raises:
        MissingInputError: It is not installed, or cannot read images here.
        PluginError: It is a plug-in's engine and failed.
    """
    if name not in ENGINES:
        raise MissingInputError(f"engine {name}: cannot read images on this machine")
    entry = ENGINES.get(name)
    with ENGINES.calling(name):
        return entry.open()


def list_engine_plugins(name: str) -> list[PluginFile]:
    """Return the file that provides an engine, for a process that has to load it too."""
    source = SOURCES.get(ENGINES.origin(name))
    if source is None or source.is_installed:
        return []
    return [PluginFile(file=source.origin, meaning=source.meaning)]


def require(name: str) -> None:
    """Raise MissingInputError if the chosen engine is not installed.

    The default engine is optional: without it, pages without text are reported.
    """
    if name == "tesseract" and not is_installed(name):
        raise MissingInputError(
            "ocr.engine: the command `tesseract` was not found: install the package tesseract-ocr "
            "with its languages, or choose another engine"
        )


def require_pdf() -> None:
    """Raise MissingExtraError if PyMuPDF, which opens papers and photographs, is missing."""
    note = " (it is under the AGPL-3.0; see README.md, Licence)"
    require_extra("pdf", "ocr: reading papers", note=note)


def is_installed(name: str) -> bool:
    """Return whether a local engine can be opened, without loading it."""
    return name not in ENGINES or ENGINES.get(name).is_installed()
