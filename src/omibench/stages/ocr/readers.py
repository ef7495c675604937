"""Who reads the pages of a file: an engine of this machine, or readings that were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.errors import MissingInputError
from omibench.extras import require_extra
from omibench.params.plugins import PluginFile
from omibench.plugins.sources import SOURCES
from omibench.stages.ocr.engines.engine import Engine
from omibench.stages.ocr.engines.recorded import RecordedReader
from omibench.stages.ocr.engines.registry import ENGINES
from omibench.stages.ocr.engines.remembering import RememberingEngine
from omibench.stages.ocr.layout.scans import LocalReader, PageReader

if TYPE_CHECKING:
    from omibench.params.stages.ocr import OcrParams


class Readers:
    """The readers of one source's files; an engine's session is opened once, when first needed."""

    def __init__(self, params: OcrParams, readings: Path) -> None:
        self.params, self.readings = params, readings
        self._engine: Engine | None = None

    def choose_reader(self, file: int) -> PageReader:
        """The reader for the pages of file number `file` of the source."""
        if self.params.is_remote:
            return RecordedReader(self.readings, file)
        return LocalReader(self.engine())

    def engine(self) -> Engine:
        """The engine of this machine that the params name."""
        if self._engine is None and self.params.formula_reader:
            # The paper is put together again once formulas have been asked for.
            name = self.params.engine
            kept = self.readings / "engine"
            self._engine = RememberingEngine(name, lambda: open_engine(name), kept)
        if self._engine is None:
            self._engine = open_engine(self.params.engine)
        return self._engine


def open_engine(name: str) -> Engine:
    """Open an engine of this machine.

    Raises:
        MissingInputError: It is not installed, or reads no pixels on this machine.
        PluginError: It is a plug-in's, and raised.
    """
    if name not in ENGINES:
        raise MissingInputError(f"engine {name}: reads no pixels on this machine")
    entry = ENGINES.get(name)
    with ENGINES.calling(name):
        return entry.open()


def list_engine_plugins(name: str) -> list[PluginFile]:
    """The file that brings an engine, for a process that has to load it too."""
    source = SOURCES.get(ENGINES.origin(name))
    if source is None or source.is_installed:
        return []
    return [PluginFile(file=source.origin, meaning=source.meaning)]


def require(name: str) -> None:
    """Raise MissingInputError for an engine that was chosen and is not installed.

    The default is not required: where it is missing, pages without text are named.
    """
    if name == "tesseract" and not is_installed(name):
        raise MissingInputError(
            "ocr.engine: there is no command `tesseract`: install the package tesseract-ocr with "
            "its languages, or choose another engine"
        )


def require_pdf() -> None:
    """Raise MissingExtraError where PyMuPDF, which opens papers and photographs, is missing."""
    note = " (it is under the AGPL-3.0; see README.md, Licence)"
    require_extra("pdf", "ocr: reading papers", note=note)


def is_installed(name: str) -> bool:
    """Whether an engine of this machine can be opened; nothing is loaded."""
    return name not in ENGINES or ENGINES.get(name).is_installed()
