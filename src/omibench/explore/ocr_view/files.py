"""The files of an inspection: papers, their pages, and the corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from omibench.stages.ocr.corrections.entry import collect_corrections
from omibench.stages.ocr.sources.manifest import Source


@dataclass(frozen=True)
class LookFiles:
    """The files of a served inspection.

    Attributes:
        pages: Folder of the inspection pages.
        corrections: corrections.yaml; it may be missing.
        manifest: Manifest of the sources, if any.
        papers: Papers read without a manifest.
        sources: Sources that were read.
    """

    pages: Path
    corrections: Path
    manifest: Path | None
    papers: Sequence[Path]
    sources: Sequence[Source]

    def list_pages(self) -> list[str]:
        """Return the names of the pages of the sources, in order, without those
        not written, or by an earlier version."""
        names = [f"{source.slug}.html" for source in self.sources]
        return [name for name in names if is_page(self.pages / name)]

    def check(self, path: Path) -> None:
        """Read a file of corrections as a run does. Raises FileFormatError."""
        collect_corrections(str(path), self.manifest, self.papers, self.sources)


VERSION: Final = '<meta name="omibench-look" content="2">'
"""The mark of pages that fit the present scripts; raise it when older pages no longer do."""
_HEAD_BYTES: Final = 2_000


def is_page(path: Path) -> bool:
    """Return whether a path is a page for the present scripts, and no link to another file."""
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return VERSION.encode() in file.read(_HEAD_BYTES)
