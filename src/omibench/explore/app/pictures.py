"""Images of paper pages with the boxes of items, drawn by `ocr` or `omibench review assign`.

The explorer shows existing page images; it does not read PDF files.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from omibench.errors import OmibenchError
from omibench.explore.app.settings import ExplorerSources
from omibench.explore.run import Items
from omibench.files.pictures import HEAD_BYTES, detect_form
from omibench.files.reading import Container, read_bytes
from omibench.params.review import TASKS
from omibench.results.paper_pages import PaperPages
from omibench.review.folder import read_tasks
from omibench.schemas.problem import BBox
from omibench.settings.pictures import locate_pictures, made_sha256
from omibench.store.store import ImageStore


@dataclass(frozen=True)
class ShownPage:
    """The picture of one page.

    Attributes:
        sha256: Hash of its bytes.
        label: Such as `Page 3`.
        boxes: Boxes of the item, (x0, y0, x1, y1) as shares of width and height.
    """

    sha256: str
    label: str
    boxes: Sequence[BBox]


def read_page_pictures(folder: Path) -> Mapping[str, Sequence[tuple[ShownPage, Path]]]:
    """Return the pages that a review shows of each item, in order, with their files.

    Args:
        folder: The review folder; without readable tasks there are no pages.
    """
    try:
        tasks = read_tasks(folder / TASKS).rows
    except OmibenchError:
        return {}
    pages: dict[str, list[tuple[ShownPage, Path]]] = {}
    for task in tasks:
        if task.kind == "page" and task.of is None:
            pages.setdefault(task.problem, []).extend(
                (ShownPage(p.sha256, p.label, p.boxes), folder / p.file)
                for p in task.pictures
                if p.part == "page"
            )
    return pages


# Pictures of the explorer, found by content hash, never by a path.

PICTURE_BYTES: Final = 64 * 2**20
"""The maximum size of a picture."""
_THUMBNAIL: Final = (144, 72)
"""Maximum width and height in pixels: twice the size in the list."""
_THUMBNAILS_KEPT: Final = 1_000
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class ServedPicture(NamedTuple):
    """The bytes of a picture, and the media type of their content."""

    data: bytes
    media_type: str


class PictureFinder:
    """The pictures of a dataset, derived pictures, pictures drawn by models, and pages."""

    def __init__(self, items: Items, sources: ExplorerSources) -> None:
        """Prepare the look-up; files are opened on demand.

        Args:
            items: The items of the pictures.
            sources: The folders of other pictures.
        """
        self._items = items
        self._sources = sources
        self._shrink = lru_cache(_THUMBNAILS_KEPT)(self._draw_thumbnail)

    def list_pages(self, name: str) -> Sequence[ShownPage]:
        """Return the pages of an item: as drawn by `ocr`, else from a review.

        Args:
            name: The id of the item.
        """
        drawn = self._papers.find_pages(self._items.questions[name]) if self._papers else []
        if drawn:
            return [ShownPage(page.sha256, page.label, page.boxes) for page in drawn]
        return [page for page, _ in self._review_pages.get(name, ())]

    def read(self, sha256: str) -> ServedPicture | None:
        """Return a picture by its SHA-256.

        Returns:
            None if the hash is unknown, or the file has other bytes or is not a picture.
        """
        if not _SHA256.fullmatch(sha256):
            return None
        for path in self._list_places(sha256):
            picture = read_served_picture(path, sha256)
            if picture is not None:
                return picture
        return None

    def make_thumbnail(self, sha256: str) -> bytes | None:
        """Return a picture as a small PNG; None if it is unknown or cannot be decoded.

        Args:
            sha256: Hash of its bytes.
        """
        return self._shrink(sha256)

    def has(self, sha256: str) -> bool:
        """Return whether a file exists for a picture; it is not read."""
        is_hash = _SHA256.fullmatch(sha256) is not None
        return is_hash and any(path.is_file() for path in self._list_places(sha256))

    def link(self, sha256: str) -> str | None:
        """Return the address at which a picture is served; None if the file is missing."""
        return f"/pictures/{sha256}" if self.has(sha256) else None

    def _draw_thumbnail(self, sha256: str) -> bytes | None:
        from omibench.settings.pictures import decode_picture

        picture = self.read(sha256)
        try:
            image = decode_picture(picture.data, sha256).image if picture else None
        except OmibenchError:
            return None
        if image is None:
            return None
        image.thumbnail(_THUMBNAIL)
        target = io.BytesIO()
        image.save(target, "PNG")
        return target.getvalue()

    def _list_places(self, sha256: str) -> list[Path]:
        places = [self._of_dataset.get(sha256), self._derived.get(sha256[:16])]
        places.append(self._of_papers.get(sha256))
        if self._sources.store is not None:
            places.append(ImageStore(self._sources.store / "images").path(sha256))
        return [path for path in places if path is not None]

    @cached_property
    def _papers(self) -> PaperPages | None:
        results = self._sources.results
        return PaperPages(results / "ocr") if results is not None else None

    @cached_property
    def _of_papers(self) -> dict[str, Path]:
        reviewed = (page for pages in self._review_pages.values() for page in pages)
        files = {page.sha256: path for page, path in reviewed}
        drawn = self._papers.pictures.values() if self._papers else []
        return files | {picture.sha256: path for picture, path in drawn}

    @cached_property
    def _review_pages(self) -> Mapping[str, Sequence[tuple[ShownPage, Path]]]:
        folder = self._sources.pages
        return read_page_pictures(folder) if folder is not None else {}

    @cached_property
    def _of_dataset(self) -> dict[str, Path]:
        """Reject paths outside the dataset's folder, since datasets may be external."""
        container = Container(self._items.folder)
        paths: dict[str, Path] = {}
        for question in self._items.questions.values():
            for figure in question.images:
                if figure.sha256 and figure.sha256 not in paths:
                    try:
                        paths[figure.sha256] = container.path(figure.file)
                    except OmibenchError:
                        continue
        return paths

    @cached_property
    def _derived(self) -> dict[str, Path]:
        if self._sources.results is None:
            return {}
        folder = locate_pictures(self._items.folder)
        files = folder.rglob("*") if folder.is_dir() else []
        return {sha: path for path in files if (sha := made_sha256(path.name))}


def read_served_picture(path: Path, sha256: str | None = None) -> ServedPicture | None:
    """Read a picture.

    Args:
        path: Its file.
        sha256: The expected hash of its bytes; None for any.

    Returns:
        None if it cannot be read, has other bytes, or is not a picture.
    """
    try:
        data = read_bytes(path, PICTURE_BYTES)
    except OmibenchError:
        return None
    form = detect_form(data[:HEAD_BYTES])
    if form is None or (sha256 is not None and hashlib.sha256(data).hexdigest() != sha256):
        return None
    return ServedPicture(data, f"image/{form}")
