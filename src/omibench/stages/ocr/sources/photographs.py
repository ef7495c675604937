"""Photographs as a source: a folder of pictures with one problem each (MathReal, C)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from omibench.errors import MissingInputError
from omibench.files.intake.picture import SUFFIXES
from omibench.schemas.attributes import StatedAttributes
from omibench.schemas.problem import Subject
from omibench.stages.ocr.sources.slugs import slug

CLEAN = "clean"
"""The folder next to the photographs with clean pictures of the same problems."""
_SUFFIXES = frozenset({*SUFFIXES.values(), "jpeg"})


class Photographs(BaseModel):
    """A folder of photographs: each picture is one problem, named by its file.

    Paths are relative to the folder of the manifest. Parent folders and subfolders are not read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    folder: str
    """Its photographs: PNG, JPEG, GIF, WebP or BMP, detected by content."""
    clean: str | None = None
    """The folder of clean pictures with the same names; by default `clean` in `folder`, if it
    exists."""
    pictures: Literal["real", "both"] = "real"
    """`both` adds a second item for each problem with a clean picture, in one group with the first
    (MathReal, table 8)."""
    competition: str | None = None
    year: int | None = None
    subject: Subject | None = None
    """The subject of all; without it, the answer of `filter.photographs` for each."""
    language: str | None = None
    """The ISO 639-1 code; detected from the words of each photograph if omitted."""
    licence: str | None = None
    redistribute: bool | None = None
    """Whether a release may include its texts and pictures, or only describes how to get them."""
    attributes: StatedAttributes = {}
    """Further attributes of all problems, to slice results by."""

    @property
    def slug(self) -> str:
        """The name for paths and problem ids."""
        return slug(self.name)

    def resolve(self, folder: Path) -> Photographs:
        """Return the same with absolute paths."""
        clean = str(folder / self.clean) if self.clean else None
        return self.model_copy(update={"folder": str(folder / self.folder), "clean": clean})

    def list_pairs(self) -> list[tuple[Path, Path | None]]:
        """Return each photograph by name, with its clean picture if any.

        Raises:
            MissingInputError: As `list_photographs` does, also for a `clean` folder that is named
                and not there.
        """
        if self.clean and not Path(self.clean).is_dir():
            raise MissingInputError(f"{self.clean}: the folder of clean pictures does not exist")
        clean = list_by_stem(Path(self.clean) if self.clean else Path(self.folder) / CLEAN)
        return [(path, clean.get(path.stem)) for path in list_photographs(Path(self.folder))]

    def list_files(self) -> list[Path]:
        """Return every picture of it, the clean ones among them."""
        return [path for pair in self.list_pairs() for path in pair if path]


def list_photographs(folder: Path) -> list[Path]:
    """Return the pictures of a folder by name, those of folders in it left out.

    Raises:
        MissingInputError: It is not a folder, contains no picture, or two pictures that differ in
            their suffix alone.
    """
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: is no folder of photographs")
    files = _list_pictures(folder)
    if not files:
        raise MissingInputError(f"{folder}: has no pictures ({', '.join(sorted(_SUFFIXES))})")
    stems: dict[str, Path] = {}
    for path in files:
        if path.stem in stems:
            raise MissingInputError(
                f"{folder}: {stems[path.stem].name} and {path.name} would be one problem: "
                "rename one"
            )
        stems[path.stem] = path
    return files


def list_by_stem(folder: Path) -> dict[str, Path]:
    """Return the pictures of a folder by name without suffix; none if there is no folder."""
    return {path.stem: path for path in _list_pictures(folder)} if folder.is_dir() else {}


def _list_pictures(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix.lstrip(".").lower() in _SUFFIXES
    )
