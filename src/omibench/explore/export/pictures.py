"""Pictures of exported pages, each copied once, by content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from omibench.explore.app.pictures import PictureFinder, ServedPicture, read_served_picture
from omibench.files.atomic import write_atomically
from omibench.web.pictures import link_file

FOLDER: Final = "pictures"


class PictureCopies:
    """The pictures of a folder of pages."""

    def __init__(self, finder: PictureFinder, folder: Path) -> None:
        """Prepare the folder.

        Args:
            finder: Finds pictures by their SHA-256.
            folder: The folder of the pages.
        """
        self._finder = finder
        self._folder = folder / FOLDER
        self._paths: dict[str, Path | None] = {}

    def link(self, sha256: str, page: Path) -> str | None:
        """Copy a picture and return its address.

        Args:
            sha256: Hash of its bytes.
            page: The page that shows it.

        Returns:
            None if nothing with this hash is found, or it is not a picture.
        """
        if sha256 not in self._paths:
            picture = self._finder.read(sha256)
            self._paths[sha256] = self._copy(sha256, picture) if picture else None
        path = self._paths[sha256]
        return link_file(path, page) if path else None

    def link_file(self, source: Path, page: Path) -> str | None:
        """Copy the picture of a file and return its address; None if it is not a picture."""
        picture = read_served_picture(source)
        if picture is None:
            return None
        return link_file(self._copy(hashlib.sha256(picture.data).hexdigest(), picture), page)

    def _copy(self, sha256: str, picture: ServedPicture) -> Path:
        path = self._folder / f"{sha256}.{picture.media_type.removeprefix('image/')}"
        if not path.is_file():
            write_atomically(path, picture.data)
        return path
