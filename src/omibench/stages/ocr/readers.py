"""Check for and open local engines, and what opens papers."""

from __future__ import annotations

from omibench.errors import MissingInputError
from omibench.extras import require_extra
from omibench.params.plugins import PluginFile
from omibench.plugins.sources import SOURCES
from omibench.stages.ocr.engines.engine import Engine
from omibench.stages.ocr.engines.registry import ENGINES


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
