"""Photographs as a source: a folder of pictures, each of which shows one problem (MathReal, C)."""

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
"""The folder beside the photographs that holds clean pictures of the same problems."""
_SUFFIXES = frozenset({*SUFFIXES.values(), "jpeg"})


class Photographs(BaseModel):
    """A folder of photographs: each picture is one problem, by the name of its file.

    Paths are relative to the folder of the manifest. What stands above the photographs' folders,
    and in folders within them, is not read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str
    folder: str
    """Its photographs: PNG, JPEG, GIF, WebP or BMP, told apart by their content."""
    clean: str | None = None
    """A folder of clean pictures with the same names; `clean` in `folder` where it is left out and
    there."""
    pictures: Literal["real", "both"] = "real"
    """`both` makes a second item of each problem that has a clean picture, in one group with the
    first (MathReal, table 8)."""
    competition: str | None = None
    year: int | None = None
    subject: Subject | None = None
    """Of all; without it, what `filter.photographs` says of each."""
    language: str | None = None
    """ISO 639-1; read off the words of each photograph where it is not given."""
    licence: str | None = None
    redistribute: bool | None = None
    """Whether a release may give its texts and pictures on, or only says how to get them."""
    attributes: StatedAttributes = {}
    """What else is known of all, to slice results by."""

    @property
    def slug(self) -> str:
        """The name as a part of a path and of problem ids."""
        return slug(self.name)

    def resolve(self, folder: Path) -> Photographs:
        """The same with paths that do not depend on the manifest's folder."""
        clean = str(folder / self.clean) if self.clean else None
        return self.model_copy(update={"folder": str(folder / self.folder), "clean": clean})

    def list_pairs(self) -> list[tuple[Path, Path | None]]:
        """Each photograph by name, with its clean picture where there is one.

        Raises:
            MissingInputError: As `list_photographs` does, also for a `clean` folder that is named
                and not there.
        """
        if self.clean and not Path(self.clean).is_dir():
            raise MissingInputError(f"{self.clean}: the folder of clean pictures does not exist")
        clean = list_by_stem(Path(self.clean) if self.clean else Path(self.folder) / CLEAN)
        return [(path, clean.get(path.stem)) for path in list_photographs(Path(self.folder))]

    def list_files(self) -> list[Path]:
        """Every picture of it, the clean ones among them."""
        return [path for pair in self.list_pairs() for path in pair if path]


def list_photographs(folder: Path) -> list[Path]:
    """The pictures of a folder by name, those of folders in it left out.

    Raises:
        MissingInputError: It is no folder, holds no picture, or two pictures that differ in their
            suffix alone.
    """
    if not folder.is_dir():
        raise MissingInputError(f"{folder}: is no folder of photographs")
    files = _list_pictures(folder)
    if not files:
        raise MissingInputError(f"{folder}: holds no picture ({', '.join(sorted(_SUFFIXES))})")
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
    """The pictures of a folder by name without suffix; none where there is no folder."""
    return {path.stem: path for path in _list_pictures(folder)} if folder.is_dir() else {}


def _list_pictures(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix.lstrip(".").lower() in _SUFFIXES
    )
