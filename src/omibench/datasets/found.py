"""Pictures of a published benchmark: found by name in its folder, or embedded in its rows."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, model_validator

from omibench.errors import FileFormatError
from omibench.files.pictures import HEAD_BYTES, PICTURE_BYTES, detect_form
from omibench.files.pictures import SUFFIXES as FORM_SUFFIXES
from omibench.files.reading import Container, read_bytes
from omibench.schemas.problem import Figure

log = logging.getLogger("omibench.datasets")
PICTURE_COLUMNS = tuple(f"image_{n}" for n in range(1, 10))
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


class Embedded(BaseModel):
    """A picture embedded in a row, as in the hub's Parquet files."""

    bytes: bytes
    path: str | None = None


class NumberedRow(BaseModel):
    """A row with pictures in its columns `image_1`, `image_2` and so on, as in the hub's files."""

    pictures: dict[str, Embedded] = {}
    """The pictures by column."""

    @model_validator(mode="before")
    @classmethod
    def _collect_pictures(cls, row: dict[str, Any]) -> dict[str, Any]:
        columns = {name: row.get(name) for name in PICTURE_COLUMNS}
        return row | {"pictures": {name: p for name, p in columns.items() if p is not None}}


class Found:
    """Finds pictures below `folder`; embedded ones are written to `scratch`.

    A name matches the file at that path, otherwise a file in any subfolder whose path ends with
    it, or the first one of that name. A missing picture gives an absent Figure: everything that
    needs no pictures works. Links to folders elsewhere are not followed, since a downloaded
    benchmark could contain them, but named in a warning.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder, self._scratch = folder, scratch
        self._container = Container(folder)
        self._paths: dict[str, list[str]] | None = None
        self._figures: dict[str, Figure] = {}

    def figure(self, picture: str | Embedded) -> Figure:
        """Return the picture with its SHA-256 and its path, relative to the folder or absolute.

        Raises FileFormatError for a name that leads out of the folder, as a file from another
        source can contain, and for a file that is not a picture.
        """
        if isinstance(picture, Embedded):
            return self._write(picture)
        if picture not in self._figures:
            self._figures[picture] = self._look_up(picture)
        return self._figures[picture]

    def _look_up(self, name: str) -> Figure:
        path = self._container.path(name)
        if not path.exists():
            locations = self._by_name().get(name.rpartition("/")[2])
            if locations is None:
                return Figure(file=name, sha256="")
            ending = f"/{name.removeprefix('./')}"
            location = next((p for p in locations if f"/{p}".endswith(ending)), locations[0])
            path = self._container.path(location)
        content = read_bytes(path, PICTURE_BYTES)
        if detect_form(content[:HEAD_BYTES]) is None:
            raise FileFormatError(
                f"{path}: is not a picture by its first bytes; give one of {', '.join(SUFFIXES)}"
            )
        sha256 = hashlib.sha256(content).hexdigest()
        return Figure(file=os.path.relpath(path, self._folder).replace(os.sep, "/"), sha256=sha256)

    def _by_name(self) -> dict[str, list[str]]:
        """Return the pictures of each name by their paths in the folder, in order."""
        if self._paths is None:
            self._paths = {}
            for folder, folders, names in sorted(os.walk(self._folder)):
                self._name_links(Path(folder), folders)
                below = os.path.relpath(folder, self._folder)
                for name in sorted(names):
                    if name.lower().endswith(SUFFIXES):
                        path = os.path.normpath(os.path.join(below, name))  # noqa: PTH118
                        self._paths.setdefault(name, []).append(path.replace(os.sep, "/"))
        return self._paths

    def _name_links(self, folder: Path, folders: list[str]) -> None:
        root = self._folder.resolve()
        for link in (folder / name for name in sorted(folders) if (folder / name).is_symlink()):
            if not link.resolve().is_relative_to(root):
                log.warning(
                    "%s: is a link to the folder %s, which is not followed; move or copy the "
                    "pictures to %s",
                    link, link.resolve(), link,
                )  # fmt: skip

    def _write(self, picture: Embedded) -> Figure:
        form = detect_form(picture.bytes[:HEAD_BYTES])
        if form is None:
            name = f"picture {picture.path!r}" if picture.path else "a picture"
            raise FileFormatError(
                f"{name} in a row is not a picture by its first bytes; give one of "
                f"{', '.join(SUFFIXES)}"
            )
        sha256 = hashlib.sha256(picture.bytes).hexdigest()
        path = self._scratch / f"{sha256}.{FORM_SUFFIXES[form]}"
        if not path.is_file():
            path.write_bytes(picture.bytes)
        return Figure(file=str(path.absolute()), sha256=sha256)
