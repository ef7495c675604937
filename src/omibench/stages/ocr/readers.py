"""Select the reader for pages of a file: a local engine, or stored answers of a remote one."""

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
    """The readers of one source's files; an engine's session is opened once, on first use."""

    def __init__(self, params: OcrParams, readings: Path) -> None:
        self.params, self.readings = params, readings
        self._engine: Engine | None = None

    def choose_reader(self, file: int) -> PageReader:
        """Return the reader for the pages of file number `file` of the source."""
        if self.params.is_remote:
            return RecordedReader(self.readings, file)
        return LocalReader(self.engine())

    def engine(self) -> Engine:
        """Return the local engine set in the parameters."""
        if self._engine is None and self.params.formula_reader:
            # The paper is read again after formulas have been requested.
            name = self.params.engine
            kept = self.readings / "engine"
            self._engine = RememberingEngine(name, lambda: open_engine(name), kept)
        if self._engine is None:
            self._engine = open_engine(self.params.engine)
        return self._engine


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
            "with "
            "its languages, or choose another engine"
        )


def require_pdf() -> None:
    """Raise MissingExtraError if PyMuPDF, which opens papers and photographs, is missing."""
    note = " (it is under the AGPL-3.0; see README.md, Licence)"
    require_extra("pdf", "ocr: reading papers", note=note)


def is_installed(name: str) -> bool:
    """Return whether a local engine can be opened, without loading it."""
    return name not in ENGINES or ENGINES.get(name).is_installed()
